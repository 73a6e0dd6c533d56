//! Rows that are inserted side by side: one undo record for all, and a leaf at a time.
//!
//! ```text
//!   gather    row 1: key | header | payload    key | header | payload     one entry in each index
//!             row 2: ...
//!   insert    1. record      what all of them are going to be               (undo, invariant 1)
//!             2. clustered   in the order given, up to the first that is not simply put where nothing was
//!             3. unique      of the rows that came so far, in the order of their keys
//!             4. others      are put off
//!   end       entries that were put off, of many runs, in the order of their keys
//! ```
//!
//! Keys of an index that is not unique come in any order, and of few rows each in a leaf of its own. Of many more rows each leaf
//! has several, which then cost one descent, one latch and one log record.
//!
//! It is for many rows of one statement, that nobody is expected to be in the way of. What is in the way of one is met, and
//! waited for, as in [`Session::insert_row`], which takes that row and those behind it.
//!
//! # Invariants
//! 1. Rows are there, locked, and undone as if each had been inserted by itself, in order. But the record may tell of a row
//!    that was not: then no entry's header names it for that row, and nobody asks it.
//! 2. If an entry of a unique index is not simply put, the whole run is undone, and goes row by row.
//! 3. An entry that was put off is nobody's to change, since its row is locked, and only the inserter misses it: others who read
//!    the index meet no row that has committed without it. So it is there before the statement ends ([`Session::end_run`]).
//!    One that is not simply put has a record of its own.
//!
//! # When things fail
//! The caller undoes the statement, as after any change. What was put off has then never been there: no header names its record.

use std::ops::Range;

use super::write::{Conflict, RowChange};
use crate::error::Result;
use crate::lock::Mode;
use crate::row::{VERSION_HEADER_LEN, Value, VersionHeader};
use crate::session::Session;
use crate::table::{Entry, Table};
use crate::undo::{EntryChange, Fate, append_change, begin_record};

/// So many rows go together: beyond, what they share costs little any more.
const ROWS_MAX: usize = 128;

/// So many bytes of entries go together: what lies in a processor's own memory, and two leaves or so.
const BYTES_MAX: usize = 32 << 10;

/// Numbers for so many rows without a primary key are taken at a time: side by side, as those of no other session are.
const ROW_NUMBERS_AT_ONCE: u64 = 4096;

/// Entries that were put off are inserted when they take so many bytes: a statement of a dump is a megabyte.
const PUT_OFF_MAX: usize = 1 << 20;

/// Rows of one table on their way in, and the memory for them.
#[derive(Default)]
pub struct RowRun {
    /// So many rows are to come, in this run and in others.
    expected: u64,
    /// What rows without a primary key have in its place, for the next ones.
    row_numbers: Range<u64>,
    /// Their entries: row by row, and of each row in the order of the indexes; key, header and payload.
    bytes: Vec<u8>,
    places: Vec<Place>,
    /// For each row, the number that its column that counts by itself was given, if it was.
    numbers: Vec<Option<u64>>,
    /// Their undo record.
    record: Vec<u8>,
    entry: Entry,
    primary_key: Vec<u8>,
    put_off: PutOff,
}

/// Entries of rows that are there already.
#[derive(Default)]
struct PutOff {
    bytes: Vec<u8>,
    /// For each index, where its entries are.
    places: Vec<Vec<Place>>,
}

impl PutOff {
    fn push(&mut self, position: usize, (key, value): (&[u8], &[u8])) {
        if self.places.len() <= position {
            self.places.resize_with(position + 1, Vec::new);
        }
        let at = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.places[position].push(Place { key: at, value: at + key.len(), end: self.bytes.len() });
    }

    /// The entries of an index, in the order of their keys.
    fn sorted(&self, position: usize) -> Vec<(&[u8], &[u8])> {
        let of_place = |place: &Place| place.of(&self.bytes);
        let mut entries: Vec<_> = self.places[position].iter().map(of_place).collect();
        entries.sort_unstable();
        entries
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.iter_mut().for_each(Vec::clear);
    }
}

/// Where an entry lies in a run's bytes: up to `end`.
#[derive(Clone, Copy)]
struct Place {
    key: usize,
    value: usize,
    end: usize,
}

impl Place {
    /// Its key, and its value with the header.
    fn of(self, bytes: &[u8]) -> (&[u8], &[u8]) {
        (&bytes[self.key..self.value], &bytes[self.value..self.end])
    }
}

impl RowRun {
    /// So many rows more are to come, in this run and in others.
    pub fn expect(&mut self, rows: u64) {
        self.expected += rows;
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
        self.numbers.clear();
    }

    fn rows(&self) -> usize {
        self.numbers.len()
    }

    /// An entry's key, and its value with the header.
    fn entry(&self, row: usize, position: usize) -> (&[u8], &[u8]) {
        self.places[row * (self.places.len() / self.rows()) + position].of(&self.bytes)
    }

    fn set_header(&mut self, header: VersionHeader) {
        let header = header.to_bytes();
        for place in &self.places {
            self.bytes[place.value..][..VERSION_HEADER_LEN].copy_from_slice(&header);
        }
    }
}

impl Session {
    /// Whether new rows of a table may go together. Not those that a row before them may be the parent of, nor while an index
    /// is being built, whose duplicates are nobody's fault.
    pub fn takes_runs(&self, table: &Table) -> bool {
        let is_checked = self.checks_foreign_keys && !table.definition.foreign_keys.is_empty();
        !is_checked && table.indexes.iter().all(|index| index.build.is_none())
    }

    /// Takes a row into a run. False if there is no room for it beside the others: they are to be inserted first
    /// ([`Session::insert_run`]). On entry: the table takes runs.
    ///
    /// Errors: those of [`Session::insert_row`] that are about the values alone.
    pub fn gather_row(&mut self, table: &Table, values: &[Value<'_>], run: &mut RowRun) -> Result<bool> {
        if run.is_empty() {
            begin_record(Fate::Active, &mut run.record);
        }
        let (bytes, places, record) = (run.bytes.len(), run.places.len(), run.record.len());
        let added = self.row_number(table, run).and_then(|row_number| self.add_entries(table, values, row_number, run));
        let has_room = run.rows() < ROWS_MAX
            && run.bytes.len() <= BYTES_MAX
            && self.core.undo.may_be_first(self.slot, run.record.len());
        if added.is_err() || !has_room && !run.is_empty() {
            run.bytes.truncate(bytes);
            run.places.truncate(places);
            run.record.truncate(record);
            return added.map(|()| false);
        }
        run.numbers.push(table.number_given(values));
        Ok(true)
    }

    /// The next row's number; 0 if the table has a primary key.
    fn row_number(&self, table: &Table, run: &mut RowRun) -> Result<u64> {
        if table.definition.has_primary_key {
            return Ok(0);
        }
        if run.row_numbers.is_empty() {
            let count = run.expected.clamp(1, ROW_NUMBERS_AT_ONCE);
            run.expected -= count.min(run.expected);
            let first = self.take_row_numbers(count)?;
            run.row_numbers = first..first + count;
        }
        let number = run.row_numbers.start;
        run.row_numbers.start += 1;
        Ok(number)
    }

    fn add_entries(&self, table: &Table, values: &[Value<'_>], row_number: u64, run: &mut RowRun) -> Result<()> {
        let collations = &*self.core.collations;
        table.rows().layout.primary_key(values, row_number, collations, &mut run.primary_key)?;
        for index in &table.indexes {
            index.layout.entry(values, &run.primary_key, collations, &mut run.entry)?;
            let Entry { key, payload } = &run.entry;
            let at = run.bytes.len();
            let value = at + key.len();
            run.bytes.extend_from_slice(key);
            run.bytes.extend_from_slice(&[0; VERSION_HEADER_LEN]);
            run.bytes.extend_from_slice(payload);
            run.places.push(Place { key: at, value, end: run.bytes.len() });
            let change = EntryChange { index: index.index.id(), key, before: None, deletes: false };
            append_change(&change, &mut run.record);
        }
        Ok(())
    }

    /// Inserts the rows of a run, which is empty afterwards, but for entries that are put off: the statement does not end before
    /// [`Session::end_run`], unless it is undone. If another row is in the way of one: which of them, and the other,
    /// locked for `conflict_mode`; those before it are inserted, and those behind it forgotten.
    pub fn insert_run(
        &mut self,
        table: &Table,
        run: &mut RowRun,
        conflict_mode: Mode,
    ) -> Result<Option<(usize, Conflict)>> {
        let inserted = self.insert_rows(table, run, conflict_mode);
        run.clear();
        match &inserted {
            Ok(None) if run.put_off.bytes.len() > PUT_OFF_MAX => self.end_run(table, run)?,
            Ok(_) => {}
            // The statement is undone.
            Err(_) => run.put_off.clear(),
        }
        inserted
    }

    /// Inserts the entries that were put off.
    pub fn end_run(&mut self, table: &Table, run: &mut RowRun) -> Result<()> {
        for position in 0..run.put_off.places.len() {
            let (entries, index) = (run.put_off.sorted(position), &table.indexes[position]);
            let mut inserted = 0;
            while inserted < entries.len() {
                let locks = &index.index.locks;
                inserted += index.index.tree.insert_run(&entries[inserted..], || locks.has_no_gaps())?;
                if let Some((key, value)) = entries.get(inserted) {
                    self.insert_own_entry(index, key, &value[VERSION_HEADER_LEN..])?;
                    inserted += 1;
                }
            }
        }
        run.put_off.clear();
        Ok(())
    }

    fn insert_rows(
        &mut self,
        table: &Table,
        run: &mut RowRun,
        conflict_mode: Mode,
    ) -> Result<Option<(usize, Conflict)>> {
        // What one row would share with none is not worth looking at.
        let may_be_together = run.rows() > 1 && !self.expects_conflict;
        let together = if may_be_together { self.insert_together(table, run)? } else { 0 };
        for row in together..run.rows() {
            if let RowChange::Conflict(conflict) = self.insert_alone(table, run, row, conflict_mode)? {
                return Ok(Some((row, conflict)));
            }
        }
        Ok(None)
    }

    /// Inserts the rows in front that nobody is in the way of; returns how many.
    fn insert_together(&mut self, table: &Table, run: &mut RowRun) -> Result<usize> {
        let id = self.begin_writing()?;
        std::mem::swap(&mut self.record, &mut run.record);
        let number = self.append_record()?;
        run.set_header(VersionHeader { writer: id, deleted: false, slot: self.slot, number });
        let mut rows = run.rows();
        let is_put_off = |position: usize| position > 0 && !table.indexes[position].layout.is_unique;
        for (position, index) in table.indexes.iter().enumerate().filter(|(position, _)| !is_put_off(*position)) {
            let mut entries: Vec<_> = (0..rows).map(|row| run.entry(row, position)).collect();
            if position > 0 {
                entries.sort_unstable();
            }
            let (tree, locks) = (&index.index.tree, &index.index.locks);
            let inserted = tree.insert_run(&entries, || locks.has_no_gaps())?;
            if position == 0 {
                rows = inserted;
            } else if inserted < rows {
                self.undo_records(id, number..number + 1, false)?;
                return Ok(0);
            }
            if rows == 0 {
                self.core.undo.discard(self.slot, id, number)?;
                return Ok(0);
            }
        }
        let RowRun { bytes, places, put_off, .. } = &mut *run;
        for row in places.chunks(table.indexes.len()).take(rows) {
            for (position, place) in row.iter().enumerate().filter(|(position, _)| is_put_off(*position)) {
                put_off.push(position, place.of(bytes));
            }
        }
        self.count_rows(rows as u64);
        self.count_on(table, run.numbers[..rows].iter().copied().flatten().max())?;
        Ok(rows)
    }

    /// Inserts one row of a run by itself.
    fn insert_alone(&mut self, table: &Table, run: &RowRun, row: usize, conflict_mode: Mode) -> Result<RowChange> {
        self.with_scratch(table, |session, scratch| {
            for (position, entry) in scratch.new.iter_mut().take(table.indexes.len()).enumerate() {
                let (key, value) = run.entry(row, position);
                entry.key.clear();
                entry.key.extend_from_slice(key);
                entry.payload.clear();
                entry.payload.extend_from_slice(&value[VERSION_HEADER_LEN..]);
            }
            let change = session.insert_encoded(table, conflict_mode, scratch)?;
            if change == RowChange::Done {
                session.count_on(table, run.numbers[row])?;
            }
            Ok(change)
        })
    }
}
