//! Changing rows: the entries of all indexes, made from values.
//!
//! ```text
//!   insert:  every entry: is there one?   a writer under way: wait, look again      live, and unique: conflict
//!            change them all
//!   update:  entries before | entries after:   the same: nothing    payload: replaced    key: a tombstone and a new one
//!            (another primary key: the row is deleted and inserted)
//!   delete:  tombstones
//! ```
//!
//! # Invariants
//! 1. Who updates or deletes has locked the row by a locking read, or has found it and seen no writer under way: then the
//!    first change takes it, if it is still what it was. So a row's entries are those that its values say.
//! 2. What comes to a conflict or a stale row has changed nothing, but where a primary key changes or a foreign key
//!    cascades: then the caller undoes the statement, as it does after an error.
//! 3. Who meets a conflict has locked the entry that it met, so that it stays.
//! 4. Who changes a row that another is changing waits for it at its primary key. A lock on another of its entries would
//!    stay behind, and in the way of the next one, who has the row and changes that entry: a deadlock for nothing.

use smallvec::SmallVec;

use super::FoundRow;
use super::foreign_key::{Becomes, Pass};
use crate::change::{Changed, New, Write, Writer};
use crate::counter::Series;
use crate::error::Result;
use crate::ids::TransactionId;
use crate::index::Index;
use crate::lock::{Key, Mode, Reach};
use crate::row::{Corrupt, Value, VersionHeader, recycle_values};
use crate::session::Session;
use crate::table::{ColumnMemory, Entry, Scratch, Seen, Table, TableIndex};
use crate::time::State;

/// Ids of rows without a primary key are reserved so many at a time.
const ROW_NUMBERS_AHEAD: u64 = 1 << 16;

/// So often an entry of a row that is not there is looked at again before it is called damaged.
const ODDITIES_MAX: u32 = 1000;

/// Another row has the same values in a unique index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// The number of the index.
    pub index: usize,
    /// The key of the other row.
    pub primary_key: Vec<u8>,
}

/// What came of a change of a row.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub enum RowChange {
    /// It is made.
    Done,
    /// It is not: another row is in the way.
    Conflict(Conflict),
    /// It is not: the row is not as it was found. Never, if it was locked; who found it without a lock looks again.
    Stale,
}

/// What is where an entry is to be.
enum Room {
    /// Nothing, or a tombstone.
    Free,
    /// An entry that another transaction is changing.
    UnderWay(TransactionId),
    /// What was seen has changed: look at everything again.
    LookAgain,
    /// The entry of another row.
    Taken,
    /// This row's own, which is not to be there: the row is not what it was thought to be.
    Odd,
}

type Writes<'w> = SmallVec<[Write<'w>; 8]>;

impl Session {
    /// Gives `count` numbers of a series to a column that counts by itself; returns the first. They are this caller's
    /// whatever becomes of the transaction, and others take theirs meanwhile (innodb_autoinc_lock_mode 2). `None` if there
    /// are not so many any more.
    pub fn take_auto_increment(&self, table: &Table, series: Series, count: u64) -> Result<Option<u64>> {
        table.auto_increment.take_series(&self.core.root, series, count)
    }

    /// A row has been given a number of its own, if it has: the column counts on from there.
    pub(super) fn count_on(&self, table: &Table, number: Option<u64>) -> Result<()> {
        let (Some(number), Some(max)) = (number, table.number_max()) else { return Ok(()) };
        let series = Series { offset: 1, step: 1, max };
        table.auto_increment.raise(&self.core.root, number, series.ahead(number))
    }

    /// Inserts a row. `conflict_mode` is how the row is locked that may be in the way: to share, or alone, for one who is
    /// about to change it.
    pub fn insert_row(&mut self, table: &Table, values: &[Value<'_>], conflict_mode: Mode) -> Result<RowChange> {
        self.check_parents(table, None, values)?;
        let row_number = if table.definition.has_primary_key { 0 } else { self.take_row_numbers(1)? };
        self.insert_entries(table, values, row_number, conflict_mode)
    }

    /// Takes so many numbers for rows that have no primary key; returns the first.
    pub(super) fn take_row_numbers(&self, count: u64) -> Result<u64> {
        self.core.row_numbers.take(&self.core.root, count, ROW_NUMBERS_AHEAD)
    }

    fn insert_entries(
        &mut self,
        table: &Table,
        values: &[Value<'_>],
        row_number: u64,
        conflict_mode: Mode,
    ) -> Result<RowChange> {
        self.with_scratch(table, |session, scratch| {
            let collations = &*session.core.collations;
            table.rows().layout.primary_key(values, row_number, collations, &mut scratch.primary_key)?;
            for (index, entry) in table.indexes.iter().zip(&mut scratch.new) {
                index.layout.entry(values, &scratch.primary_key, collations, entry)?;
            }
            let change = session.insert_encoded(table, conflict_mode, scratch)?;
            if change == RowChange::Done {
                session.count_on(table, table.number_given(values))?;
            }
            Ok(change)
        })
    }

    /// Inserts the row whose entries are in `scratch.new`.
    pub(super) fn insert_encoded(
        &mut self,
        table: &Table,
        conflict_mode: Mode,
        scratch: &mut Scratch,
    ) -> Result<RowChange> {
        // Nearly always nothing is where a new row is to be: so that is what is tried first, and looked for only if it is not so;
        // but who has deleted a row may be putting it back, over its tombstone, and where the last row met another this one may, too.
        scratch.seen_new.iter_mut().for_each(|seen| seen.is_there = false);
        let has_deleted = self.writing.as_ref().is_some_and(|writing| writing.has_deleted);
        let (expects_conflict, mut looks_at_all) = (std::mem::take(&mut self.expects_conflict), false);
        let mut oddities = 0;
        'again: loop {
            for (position, index) in table.indexes.iter().enumerate() {
                let may_conflict = has_deleted && position == 0 || expects_conflict && index.layout.is_unique;
                if !looks_at_all && !may_conflict {
                    continue;
                }
                let (entry, seen) = (&scratch.new[position], &mut scratch.seen_new[position]);
                match self.find_room(index, entry, seen, conflict_mode)? {
                    Room::Free => {}
                    // Its primary key, which the other has written first, is what to wait for (invariant 4).
                    Room::UnderWay(_) if is_rows_own(index, &entry.key)? => continue 'again,
                    Room::UnderWay(writer) => {
                        self.wait_for_change(index, &entry.key, writer, conflict_mode)?;
                        continue 'again;
                    }
                    Room::LookAgain => continue 'again,
                    Room::Taken if fails_build(index) => {}
                    Room::Taken => {
                        self.expects_conflict = true;
                        return conflict(table, position, &entry.key, seen);
                    }
                    // Inserted by somebody meanwhile; and if the row is not there now, deleted and purged since, or damaged.
                    Room::Odd if oddities == ODDITIES_MAX => return Err(index.index.damaged(Corrupt::Record)),
                    Room::Odd => {
                        oddities += 1;
                        continue 'again;
                    }
                }
            }
            let entries = table.indexes.iter().zip(&scratch.new).zip(&scratch.seen_new);
            let writes: Writes<'_> = entries
                .filter(|((index, _), _)| is_kept(index))
                .map(|((index, entry), seen)| Write {
                    index: &index.index,
                    key: &entry.key,
                    before: seen.before(),
                    new: New::Payload(&entry.payload),
                })
                .collect();
            if self.change_row(&writes)? == Changed::Yes {
                return Ok(RowChange::Done);
            }
            looks_at_all = true;
        }
    }

    /// Inserts an entry of a row that this transaction has inserted, in an index that is not unique: what may be there is a
    /// tombstone of the same key, or somebody's lock on the gap.
    pub(super) fn insert_own_entry(&mut self, index: &TableIndex, key: &[u8], payload: &[u8]) -> Result<()> {
        let entry = Entry { key: key.to_vec(), payload: payload.to_vec() };
        let mut seen = Seen::default();
        loop {
            match self.find_room(index, &entry, &mut seen, Mode::Exclusive)? {
                Room::Free => {}
                Room::LookAgain => continue,
                Room::UnderWay(_) | Room::Taken | Room::Odd => return Err(index.index.damaged(Corrupt::Record)),
            }
            let new = New::Payload(&entry.payload);
            let write = Write { index: &index.index, key: &entry.key, before: seen.before(), new };
            if self.change_row(&[write])? == Changed::Yes {
                return Ok(());
            }
        }
    }

    /// Gives a row other values.
    pub fn update_row(
        &mut self,
        table: &Table,
        row: &FoundRow,
        values: &[Value<'_>],
        conflict_mode: Mode,
    ) -> Result<RowChange> {
        self.with_columns(table, row, |session, before| {
            session.follow(Pass::Restrict, table, row, before, Becomes::Changed(values))?;
            session.check_parents(table, Some(before), values)?;
            let change = session.update_entries(table, row, before, values, conflict_mode)?;
            if change == RowChange::Done {
                session.follow(Pass::Follow, table, row, before, Becomes::Changed(values))?;
            }
            Ok(change)
        })
    }

    fn update_entries(
        &mut self,
        table: &Table,
        row: &FoundRow,
        before: &[Value<'_>],
        values: &[Value<'_>],
        conflict_mode: Mode,
    ) -> Result<RowChange> {
        if table.definition.has_primary_key {
            let Self { core, scratch, .. } = self;
            table.rows().layout.primary_key(values, 0, &*core.collations, &mut scratch.primary_key)?;
            if scratch.primary_key != row.key {
                return match self.delete_entries(table, row, before)? {
                    RowChange::Done => self.insert_entries(table, values, 0, conflict_mode),
                    not_done => Ok(not_done),
                };
            }
        }
        self.with_scratch(table, |session, scratch| {
            session.update_with(table, row, [before, values], conflict_mode, scratch)
        })
    }

    fn update_with(
        &mut self,
        table: &Table,
        row: &FoundRow,
        [before, after]: [&[Value<'_>]; 2],
        conflict_mode: Mode,
        scratch: &mut Scratch,
    ) -> Result<RowChange> {
        let collations = &*self.core.collations;
        table.rows().layout.entry(after, &row.key, collations, &mut scratch.new[0])?;
        // Those besides the rows whose entry becomes another.
        let mut others: SmallVec<[usize; 8]> = SmallVec::new();
        for (position, index) in table.indexes.iter().enumerate().skip(1) {
            if !is_kept(index) || index.layout.makes_same(before, after) {
                continue;
            }
            let (old, new) = (&mut scratch.old[position], &mut scratch.new[position]);
            index.layout.entry(before, &row.key, collations, old)?;
            index.layout.entry(after, &row.key, collations, new)?;
            if old != new {
                others.push(position);
            }
        }
        'again: loop {
            let kept = others.iter().map(|&position| (position, &table.indexes[position]));
            let kept = kept.filter(|(_, index)| is_kept(index));
            for (position, index) in kept.clone() {
                let (old, new) = (&scratch.old[position], &scratch.new[position]);
                if !self.find_own(index, old, &mut scratch.seen_old[position])? {
                    return self.stale(table, row, index, old);
                }
                if old.key == new.key {
                    continue;
                }
                match self.find_room(index, new, &mut scratch.seen_new[position], conflict_mode)? {
                    Room::Free => {}
                    Room::UnderWay(_) if !self.is_as_seen(&table.rows().index, &row.key, &row.value)? => {
                        return Ok(RowChange::Stale);
                    }
                    Room::UnderWay(writer) => {
                        self.wait_for_change(index, &new.key, writer, conflict_mode)?;
                        continue 'again;
                    }
                    Room::LookAgain => continue 'again,
                    Room::Taken if fails_build(index) => {}
                    Room::Taken => return conflict(table, position, &new.key, &scratch.seen_new[position]),
                    Room::Odd if self.is_as_seen(&table.rows().index, &row.key, &row.value)? => {
                        return Err(index.index.damaged(Corrupt::Record));
                    }
                    Room::Odd => return Ok(RowChange::Stale),
                }
            }
            let mut writes = Writes::new();
            let payload = New::Payload(&scratch.new[0].payload);
            writes.push(Write { index: &table.rows().index, key: &row.key, before: Some(&row.value), new: payload });
            for (position, index) in kept {
                let (old, new, index) = (&scratch.old[position], &scratch.new[position], &*index.index);
                let mut before = scratch.seen_old[position].before();
                if old.key != new.key {
                    writes.push(Write { index, key: &old.key, before, new: New::Deleted });
                    before = scratch.seen_new[position].before();
                }
                writes.push(Write { index, key: &new.key, before, new: New::Payload(&new.payload) });
            }
            if self.change_row(&writes)? == Changed::Yes {
                self.count_on(table, table.number_given(after))?;
                return Ok(RowChange::Done);
            }
            if !self.is_as_seen(&table.rows().index, &row.key, &row.value)? {
                return Ok(RowChange::Stale);
            }
        }
    }

    /// Deletes a row. Nothing is ever in the way.
    pub fn delete_row(&mut self, table: &Table, row: &FoundRow) -> Result<RowChange> {
        self.delete_followed(table, row, Becomes::Nothing)
    }

    /// Deletes a row that is in the way of one with these values, which the caller inserts next: what refers to values that
    /// both have refers to the new row then.
    pub fn delete_replaced_row(
        &mut self,
        table: &Table,
        row: &FoundRow,
        new_values: &[Value<'_>],
    ) -> Result<RowChange> {
        self.delete_followed(table, row, Becomes::Replaced(new_values))
    }

    fn delete_followed(&mut self, table: &Table, row: &FoundRow, becomes: Becomes<'_>) -> Result<RowChange> {
        self.with_columns(table, row, |session, values| {
            session.follow(Pass::All, table, row, values, becomes)?;
            session.delete_entries(table, row, values)
        })
    }

    fn delete_entries(&mut self, table: &Table, row: &FoundRow, values: &[Value<'_>]) -> Result<RowChange> {
        self.with_scratch(table, |session, scratch| session.delete_with(table, row, values, scratch))
    }

    fn delete_with(
        &mut self,
        table: &Table,
        row: &FoundRow,
        values: &[Value<'_>],
        scratch: &mut Scratch,
    ) -> Result<RowChange> {
        let collations = &*self.core.collations;
        for (index, entry) in table.indexes.iter().zip(&mut scratch.old) {
            index.layout.entry(values, &row.key, collations, entry)?;
        }
        loop {
            let kept = table.indexes.iter().enumerate().filter(|(_, index)| is_kept(index));
            for (position, index) in kept.clone().skip(1) {
                let entry = &scratch.old[position];
                if !self.find_own(index, entry, &mut scratch.seen_old[position])? {
                    return self.stale(table, row, index, entry);
                }
            }
            let mut writes = Writes::new();
            for (position, index) in kept {
                let before = if position == 0 { Some(&*row.value) } else { scratch.seen_old[position].before() };
                let key = &scratch.old[position].key;
                writes.push(Write { index: &index.index, key, before, new: New::Deleted });
            }
            if self.change_row(&writes)? == Changed::Yes {
                if let Some(writing) = &mut self.writing {
                    writing.has_deleted = true;
                }
                return Ok(RowChange::Done);
            }
            if !self.is_as_seen(&table.rows().index, &row.key, &row.value)? {
                return Ok(RowChange::Stale);
            }
        }
    }

    /// Looks where a new entry is to be.
    fn find_room(&mut self, index: &TableIndex, entry: &Entry, seen: &mut Seen, conflict_mode: Mode) -> Result<Room> {
        let corrupt = |problem| index.index.damaged(problem);
        seen.is_there = self.get_newest(&index.index, &entry.key, &mut seen.value)?;
        if !seen.is_there {
            return Ok(Room::Free);
        }
        let (header, _) = VersionHeader::split_off(&seen.value).map_err(corrupt)?;
        if self.transaction() != Some(header.writer) {
            match self.core.time.state_of(header.writer) {
                State::Active => return Ok(Room::UnderWay(header.writer)),
                State::RolledBack(_) => return Ok(Room::LookAgain),
                State::Committed(_) | State::Frozen => {}
            }
        }
        if header.deleted {
            return Ok(Room::Free);
        }
        if is_rows_own(index, &entry.key)? {
            return Ok(Room::Odd);
        }
        // Lock, then look: it is to stay. In READ COMMITTED too the gap is locked, as in InnoDB.
        let outcome = self.lock(&index.index, Key::Row(&entry.key), conflict_mode, Reach::NextKey)?;
        let is_same = self.is_as_seen(&index.index, &entry.key, &seen.value)?;
        Ok(if outcome.is_granted() && is_same { Room::Taken } else { Room::LookAgain })
    }

    /// Waits for the end of who changes an entry that is to be another one's; then everything is to be looked at again.
    fn wait_for_change(&mut self, index: &TableIndex, key: &[u8], writer: TransactionId, mode: Mode) -> Result<()> {
        match self.wait_for_writer(&index.index, key, writer, mode, self.on_conflict())? {
            Writer::Gone | Writer::LookAgain => Ok(()),
            Writer::Skipped => unreachable!("who changes a row waits, or fails"),
        }
    }

    /// Looks at an entry that the row has. False if it has not.
    fn find_own(&mut self, index: &TableIndex, entry: &Entry, seen: &mut Seen) -> Result<bool> {
        seen.is_there = self.get_newest(&index.index, &entry.key, &mut seen.value)?;
        if seen.is_there {
            let (header, _) = VersionHeader::split_off(&seen.value).map_err(|problem| index.index.damaged(problem))?;
            return Ok(!header.deleted);
        }
        if index.build.is_some() {
            // It has not been built yet: as if it had been, so that undoing puts it there. (`ddl`, build)
            seen.is_there = true;
            seen.value.clear();
            seen.value.extend_from_slice(&VersionHeader::BUILT.to_bytes());
            seen.value.extend_from_slice(&entry.payload);
        }
        Ok(seen.is_there)
    }

    /// The row has not the entry that it should have: it has been changed since it was found, or is being changed, or the
    /// index is damaged.
    fn stale(&mut self, table: &Table, row: &FoundRow, index: &TableIndex, entry: &Entry) -> Result<RowChange> {
        let mut seen = Seen::default();
        let is_there = self.find_own(index, entry, &mut seen)?;
        let is_under_way = seen.is_there && {
            let header = VersionHeader::split_off(&seen.value).map_err(|problem| index.index.damaged(problem))?.0;
            matches!(self.core.time.state_of(header.writer), State::Active | State::RolledBack(_))
        };
        // A committed change of the entry is one of the row too.
        if !is_there && !is_under_way && self.is_as_seen(&table.rows().index, &row.key, &row.value)? {
            return Err(index.index.damaged(Corrupt::Record));
        }
        Ok(RowChange::Stale)
    }

    /// Whether the newest version of an entry is still this one.
    pub(super) fn is_as_seen(&mut self, index: &Index, key: &[u8], seen: &[u8]) -> Result<bool> {
        let mut again = std::mem::take(&mut self.again);
        let is_there = self.get_newest(index, key, &mut again);
        let is_same = again == seen;
        self.again = again;
        Ok(is_there? && is_same)
    }

    /// Does something with a row's columns, read into memory that is used for one row after the other.
    fn with_columns<T>(
        &mut self,
        table: &Table,
        row: &FoundRow,
        act: impl FnOnce(&mut Self, &[Value<'_>]) -> Result<T>,
    ) -> Result<T> {
        let ColumnMemory { values, mut buffers } = std::mem::take(&mut self.scratch.columns);
        let mut values = recycle_values(values);
        row.read(table, &mut buffers, &mut values)?;
        let done = act(self, &values);
        self.scratch.columns = ColumnMemory { values: recycle_values(values), buffers };
        done
    }

    /// Does something with the memory that is used for one row after the other.
    pub(super) fn with_scratch<T>(&mut self, table: &Table, act: impl FnOnce(&mut Self, &mut Scratch) -> T) -> T {
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.make_room(table.indexes.len());
        let done = act(self, &mut scratch);
        self.scratch = scratch;
        done
    }
}

/// Whether no other row can have this key.
fn is_rows_own(index: &TableIndex, key: &[u8]) -> Result<bool> {
    index.layout.is_rows_own(key).map_err(|problem| index.index.damaged(problem))
}

/// Whether entries are to be written: an index whose build has failed is not kept.
fn is_kept(index: &TableIndex) -> bool {
    index.build.as_ref().is_none_or(|build| !build.has_failed())
}

/// In an index that is being built a duplicate is not the writer's fault.
fn fails_build(index: &TableIndex) -> bool {
    index.build.as_ref().inspect(|build| build.fail()).is_some()
}

fn conflict(table: &Table, position: usize, key: &[u8], seen: &Seen) -> Result<RowChange> {
    let index = &table.indexes[position];
    let corrupt = |problem| index.index.damaged(problem);
    let (_, payload) = VersionHeader::split_off(&seen.value).map_err(corrupt)?;
    let primary_key = index.layout.primary_key_of(key, payload).map_err(corrupt)?.to_vec();
    Ok(RowChange::Conflict(Conflict { index: position, primary_key }))
}
