//! Reading rows: in the order of an index, as a snapshot sees them, or newest and locked.
//!
//! ```text
//!   index entries, in order  --->  does an entry tell all that is asked for?   yes: that is all
//!                                                                              no: the row, by its key
//! ```
//!
//! Where entries tell all, rows come in batches: those that lie copied side by side, and are seen as they are. What takes a moment for each row is then done once for some dozens ([`RowCursor::next_batch`]).
//!
//! # Invariants
//! 1. What a consistent read shows of an entry and of its row is of one version: they were changed together. Where a
//!    transaction has changed a row that was newer than its snapshot, it sees its own version of the row, and of the entries
//!    the one that this has, whoever wrote that: where an entry's newest version is not seen, the row decides, as in InnoDB.
//! 2. A locking read locks the entry, then the row; both are then what they are until the transaction ends.
//!
//! # What it costs
//! A consistent read of an entry costs its copy out of the leaf; the row besides, a descent. In a batch there is besides the copy
//! only the look at the header.

use bumpalo::Bump;
use meseta_storage::{Cursor, Portion};

use super::batch::{Behind, RowBatch, Wanted};
use super::fetched::FetchedRow;
use crate::change::Writer;
use crate::error::{EngineError, Result};
use crate::ids::TransactionId;
use crate::lock::{Key, Mode, Reach, Request};
use crate::locking::{Direction, Locking, LockingCursor, LookingCursor, Taken};
use crate::read::seen_at;
use crate::row::{KeyRange, VERSION_HEADER_LEN, Value, VersionHeader};
use crate::session::Session;
use crate::table::{Entry, EntryLayout, Payload, Table, TableIndex};
use crate::time::Snapshot;
use crate::version::{Seen, VersionReader, is_told_by};

/// A row in its newest version, as it was found: by a locking read, or by [`Session::find_row`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FoundRow {
    /// Its key.
    pub key: Vec<u8>,
    /// Its entry's value, with its header.
    pub value: Vec<u8>,
}

impl FoundRow {
    /// Whether it is a tombstone.
    pub(crate) fn is_deleted(&self, table: &Table) -> Result<bool> {
        let corrupt = |problem| table.rows().index.damaged(problem);
        Ok(VersionHeader::split_off(&self.value).map_err(corrupt)?.0.deleted)
    }

    /// Reads its values. What has to be put together is kept in the buffers.
    pub fn read<'r>(&'r self, table: &'r Table, buffers: &'r mut [Vec<u8>; 2], out: &mut Vec<Value<'r>>) -> Result<()> {
        let rows = table.rows();
        let corrupt = |problem| rows.index.damaged(problem);
        let (_, payload) = VersionHeader::split_off(&self.value).map_err(corrupt)?;
        rows.layout.read(&self.key, payload, buffers, out).map_err(corrupt)
    }
}

impl Session {
    /// Finds a row's newest version by its key, and waits for whoever is changing it. It is not locked: who changes it
    /// next learns whether it is still the same, and finds it again if not. That spares the lock table one who only wants
    /// to change one row by its key. `None` if it is not there.
    pub fn find_row(&mut self, table: &Table, key: &[u8], mode: Mode) -> Result<Option<FoundRow>> {
        let mut row = FoundRow { key: key.to_vec(), value: Vec::new() };
        Ok(self.find_row_into(table, &mut row, mode, false)?.then_some(row))
    }

    /// As [`Session::find_row`], of the row with the key that `row` has: its value is put there. False if it is not there. Where
    /// the statement `is_repeatable`, it may wait without its thread: then this fails with
    /// [`crate::lock::LockError::Suspended`] or [`EngineError::Suspended`], and is asked again when the session has been called back
    /// ([`Session::set_waker`]).
    pub fn find_row_into(
        &mut self,
        table: &Table,
        row: &mut FoundRow,
        mode: Mode,
        is_repeatable: bool,
    ) -> Result<bool> {
        let rows = &table.rows().index;
        let on_conflict = self.on_conflict();
        let on_conflict = if is_repeatable { on_conflict.suspending() } else { on_conflict };
        let FoundRow { key, value } = row;
        self.resume_wait()?;
        loop {
            if !self.get_newest_or_suspend(rows, key, value, is_repeatable)? {
                return Ok(false);
            }
            let (header, _) = VersionHeader::split_off(value).map_err(|problem| rows.damaged(problem))?;
            if self.wait_for_writer(rows, key, header.writer, mode, on_conflict)? == Writer::LookAgain {
                continue;
            }
            if mode == Mode::Exclusive && self.would_wait(rows, key) {
                // Others stand in line for it: behind them, rather than to find out when it is to be changed.
                let request = Request { index: &rows.locks, key: Key::Row(key), mode, reach: Reach::Record };
                self.core.locks.lock(&self.owner, &request, on_conflict)?;
                continue;
            }
            return Ok(!header.deleted);
        }
    }

    /// Locks a row that [`Session::find_row`] has found and that is to stay as it is. False if it is not what was found any more:
    /// then whoever wants it looks for it again.
    pub fn lock_found(&mut self, table: &Table, row: &FoundRow, mode: Mode) -> Result<bool> {
        let rows = &table.rows().index;
        let outcome = self.lock(rows, Key::Row(&row.key), mode, Reach::Record)?;
        Ok(outcome.is_granted() && self.is_as_seen(rows, &row.key, &row.value)?)
    }
}

/// Where a consistent read is.
struct Consistent<'t> {
    /// It knows where the range ends, on the way up.
    cursor: Cursor<'t>,
    range: KeyRange,
    direction: Direction,
    is_started: bool,
    older: Older,
    /// What was shown together with the entry the cursor is on.
    behind: Behind,
    /// The columns that are read; `None` if those may be any.
    columns: Option<&'t [u16]>,
    /// The row that belongs to the entry, if entries do not tell all that is asked for.
    fetched: Option<FetchedRow>,
}

/// The version that is seen of an entry whose newest is not. Its memory is kept from one to the next.
#[derive(Default)]
struct Older {
    /// Whether it is that of the entry the cursor is on.
    is_seen: bool,
    key: Vec<u8>,
    payload: Vec<u8>,
}

impl Older {
    /// What was read of the version that is seen: this, or the newest, which the cursor is on.
    #[inline]
    fn or_newest<'e>(&'e self, cursor: &'e Cursor<'_>) -> Payload<'e> {
        match self.is_seen {
            true => Payload::whole(&self.payload),
            false => Payload { bytes: &cursor.value()[VERSION_HEADER_LEN..], portion: cursor.portion() },
        }
    }
}

impl Consistent<'_> {
    /// What was read of the version that is seen.
    #[inline]
    fn payload(&self) -> Payload<'_> {
        self.older.or_newest(&self.cursor)
    }
}

#[expect(clippy::large_enum_variant, reason = "there is one for each source of a statement, on the stack")]
enum Source<'t> {
    Consistent(Consistent<'t>),
    Locking(LockingCursor<'t>),
    Looking(Box<LookingCursor<'t>>),
}

/// Reads a table's rows in the order of one of its indexes. It belongs to the session that it is shown, for one statement.
pub struct RowCursor<'t> {
    table: &'t Table,
    index: &'t TableIndex,
    source: Source<'t>,
    /// The row, of a locking read.
    row: FoundRow,
    /// What batches have of each row, if there are any.
    batches: Option<Wanted<'t>>,
}

impl<'t> RowCursor<'t> {
    /// A read of what the statement's snapshot sees. `columns` are those that will be asked for.
    pub fn consistent(
        table: &'t Table,
        index: usize,
        mut range: KeyRange,
        direction: Direction,
        columns: impl Iterator<Item = u16>,
    ) -> Self {
        let index = &table.indexes[index];
        let tells_all = index.layout.is_clustered || index.layout.covers(columns);
        let end = if direction == Direction::Ascending { range.to.take() } else { None };
        let cursor = index.index.tree.cursor().before(end);
        let source = Source::Consistent(Consistent {
            cursor,
            range,
            direction,
            is_started: false,
            older: Older::default(),
            behind: Behind::default(),
            columns: None,
            fetched: (!tells_all).then(FetchedRow::default),
        });
        Self { table, index, source, row: FoundRow::default(), batches: None }
    }

    /// For who reads these columns of each row, and asks for no keys: of long rows no more is read than they take, if that is in front,
    /// and rows come in batches, and no other way, if the index's entries tell the columns ([`RowCursor::has_batches`]).
    pub fn for_columns(mut self, columns: &'t [u16]) -> Self {
        let Source::Consistent(read) = &mut self.source else { return self };
        read.columns = Some(columns);
        if read.fetched.is_none()
            && let Some(how) = self.index.layout.in_place(columns)
        {
            let gathers_keys = how.needs_key() || read.lowest().is_some();
            if !gathers_keys {
                read.cursor.leave_out_keys();
            }
            self.batches = Some(Wanted { how, gathers_keys, arena: Bump::new() });
        }
        if self.index.layout.is_clustered {
            read.cursor.leave_out_rests();
        }
        self
    }

    /// A read of newest versions, which are locked.
    pub fn locking(table: &'t Table, index: usize, range: &KeyRange, direction: Direction, locking: Locking) -> Self {
        let index = &table.indexes[index];
        let cursor = LockingCursor::new(&index.index, &range.from, range.to.as_deref(), direction, locking);
        let source = Source::Locking(cursor);
        Self { table, index, source, row: FoundRow::default(), batches: None }
    }

    /// A read of the table's own order that shows rows before they are locked ([`RowCursor::lock`]): for READ COMMITTED. Where it
    /// `passes_by`, rows that others have are shown as they were committed last, as in InnoDB's UPDATE.
    pub fn looking(table: &'t Table, range: KeyRange, direction: Direction, locking: Locking, passes_by: bool) -> Self {
        let index = table.rows();
        let cursor = LookingCursor::new(&index.index, range, direction, locking, passes_by);
        let source = Source::Looking(Box::new(cursor));
        Self { table, index, source, row: FoundRow::default(), batches: None }
    }

    /// For who reads to the end, gives no locks back, and changes none of the rows but the one that it is shown: a locking read may
    /// lock some dozens at a time.
    pub fn taking_all(mut self) -> Self {
        if let Source::Locking(cursor) = self.source {
            self.source = Source::Locking(cursor.taking_all());
        }
        self
    }

    /// A locking read of one entry of a unique index, whose whole key is given.
    pub fn locking_at(table: &'t Table, index: usize, key: &[u8], locking: Locking) -> Self {
        let index = &table.indexes[index];
        let cursor = LockingCursor::at(&index.index, key, locking);
        let source = Source::Locking(cursor);
        Self { table, index, source, row: FoundRow::default(), batches: None }
    }

    /// Goes to the next row. False if there is none.
    pub fn next(&mut self, session: &mut Session) -> Result<bool> {
        match &mut self.source {
            Source::Consistent(consistent) => next_consistent(self.table, self.index, consistent, session),
            Source::Locking(cursor) => next_locking(self.table, self.index, cursor, &mut self.row, session),
            Source::Looking(cursor) => cursor.next(session),
        }
    }

    /// Locks the row, if that is to be done yet.
    pub fn lock(&mut self, session: &mut Session) -> Result<Taken> {
        let Source::Looking(cursor) = &mut self.source else { return Ok(Taken::AsShown) };
        let taken = cursor.lock(session)?;
        self.row.show(cursor);
        Ok(taken)
    }

    /// Whether it shows rows before they are locked.
    pub fn looks_first(&self) -> bool {
        matches!(self.source, Source::Looking(_))
    }

    /// Whether rows come in batches ([`RowCursor::next_batch`]).
    pub fn has_batches(&self) -> bool {
        self.batches.is_some()
    }

    /// The next rows: one that the cursor goes to, and of those that have been copied with it as many as are there to be read. `None`
    /// if there are no more. On entry: [`RowCursor::has_batches`].
    pub fn next_batch(&mut self, session: &mut Session) -> Result<Option<RowBatch<'_>>> {
        let (Source::Consistent(read), Some(wanted)) = (&mut self.source, &mut self.batches) else {
            debug_assert!(false, "there are no batches");
            return Ok(None);
        };
        let passed = std::mem::take(&mut read.behind);
        read.cursor.skip(passed.entries);
        if !next_consistent(self.table, self.index, read, session)? {
            return Ok(None);
        }
        wanted.how.set_portion(read.payload().portion);
        if wanted.gathers_keys {
            wanted.arena.reset();
            read.cursor.gather_keys();
        }
        let snapshot = session.snapshot();
        let copied = read.cursor.copied();
        read.behind = Behind::look(copied, read.lowest(), &session.core.time, &snapshot);
        Ok(Some(RowBatch::new(self.index, wanted, read.payload().bytes, copied, read.behind)))
    }

    /// Gives the row's lock back, if it was taken for this read: it did not match (READ COMMITTED). In an index that is
    /// not the clustered one the row's own lock stays until the transaction ends.
    pub fn unlock(&mut self, session: &Session) {
        match &mut self.source {
            Source::Locking(cursor) => cursor.unlock(session),
            Source::Looking(cursor) => cursor.unlock(session),
            Source::Consistent(_) => {}
        }
    }

    /// Where the entries are that are the same as the one it stands on in the index's first `parts` columns. Of a consistent read, with
    /// keys.
    pub fn range_of_same(&self, parts: usize) -> Result<KeyRange> {
        let key = match &self.source {
            Source::Consistent(consistent) => consistent.cursor.key(),
            Source::Locking(_) => &self.row.key,
            Source::Looking(cursor) => cursor.key(),
        };
        self.index.layout.range_of_same(key, parts).map_err(|problem| self.index.index.damaged(problem))
    }

    /// The row's key, of a read in the order of the primary key, or of one that fetches rows.
    pub(crate) fn key(&self) -> &[u8] {
        match &self.source {
            Source::Consistent(consistent) => match &consistent.fetched {
                Some(fetched) => &fetched.key,
                None => consistent.cursor.key(),
            },
            Source::Locking(_) => &self.row.key,
            Source::Looking(cursor) => cursor.key(),
        }
    }

    /// The row, of a locking read; of one that looks first, as it was locked.
    pub fn row(&self) -> &FoundRow {
        &self.row
    }

    /// Reads the columns that were asked for; others may be NULL. What has to be put together is kept in the buffers. Not after
    /// [`RowCursor::for_columns`].
    pub fn read<'c>(&'c self, buffers: &'c mut [Vec<u8>; 2], out: &mut Vec<Value<'c>>) -> Result<()> {
        let (index, key, payload) = self.entry()?;
        debug_assert_eq!(payload.portion, Portion::Whole, "all columns are to be there");
        index.layout.read(key, payload.bytes, buffers, out).map_err(|problem| index.index.damaged(problem))
    }

    /// As [`RowCursor::read`], some of the columns that were asked for; others are NULL.
    pub fn read_columns<'c>(
        &'c self,
        columns: &[u16],
        buffers: &'c mut [Vec<u8>; 2],
        out: &mut Vec<Value<'c>>,
    ) -> Result<()> {
        let (index, key, payload) = self.entry()?;
        index.layout.read_columns(columns, key, payload, buffers, out).map_err(|problem| index.index.damaged(problem))
    }

    /// Shows some of the columns that were asked for: the column, and its value.
    #[inline(always)]
    pub fn visit_columns<'c>(
        &'c self,
        columns: &[u16],
        buffers: &'c mut [Vec<u8>; 2],
        visit: impl FnMut(usize, Value<'c>),
    ) -> Result<()> {
        let (index, key, payload) = self.entry()?;
        index
            .layout
            .visit_columns(columns, key, payload, buffers, visit)
            .map_err(|problem| index.index.damaged(problem))
    }

    /// What it stands on, of the index that tells what was asked for: the key, and what is behind the version header, as far as it was
    /// read.
    #[inline]
    fn entry(&self) -> Result<(&TableIndex, &[u8], Payload<'_>)> {
        let rows = self.table.rows();
        let payload_of = |value| match VersionHeader::split_off(value) {
            Ok((_, payload)) => Ok(Payload::whole(payload)),
            Err(problem) => Err(rows.index.damaged(problem)),
        };
        Ok(match &self.source {
            Source::Consistent(consistent) => match &consistent.fetched {
                Some(fetched) => (rows, &fetched.key, fetched.payload()),
                None => {
                    let key = if consistent.cursor.has_keys() { consistent.cursor.key() } else { &[] };
                    (self.index, key, consistent.payload())
                }
            },
            Source::Locking(_) => (rows, &self.row.key, payload_of(&self.row.value)?),
            Source::Looking(cursor) => (rows, cursor.key(), payload_of(cursor.value())?),
        })
    }
}

fn next_consistent(table: &Table, index: &TableIndex, read: &mut Consistent, session: &mut Session) -> Result<bool> {
    let snapshot = session.snapshot();
    if !read.is_started && (index.build.is_some() || snapshot.time < index.usable_from) {
        return Err(EngineError::TableChanged);
    }
    while read.step()? {
        read.older.is_seen = false;
        if read.cursor.portion() == Portion::Front && !read.complete(&index.layout, &snapshot, session)? {
            break;
        }
        let (header, _) =
            VersionHeader::split_off(read.cursor.value()).map_err(|problem| index.index.damaged(problem))?;
        let is_there = match session.core.time.is_visible(header.writer, &snapshot) {
            true => !header.deleted,
            false => find_older(table, index, read, &snapshot, session)?,
        };
        if !is_there {
            continue;
        }
        let Consistent { cursor, older, columns, fetched: Some(row), .. } = read else { return Ok(true) };
        let primary_key = index.layout.primary_key_of(cursor.key(), older.or_newest(cursor).bytes);
        row.key.clear();
        row.key.extend_from_slice(primary_key.map_err(|problem| index.index.damaged(problem))?);
        if row.fetch(session, &snapshot, table, *columns)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Looks for the version that the snapshot sees of an entry whose newest it does not: whether there is one, which is kept.
#[cold]
fn find_older(
    table: &Table,
    index: &TableIndex,
    read: &mut Consistent,
    snapshot: &Snapshot,
    session: &Session,
) -> Result<bool> {
    let mut versions = VersionReader::new(&session.core.time, &session.core.undo);
    let Consistent { cursor, older: Older { is_seen, key, payload }, .. } = read;
    let newest = cursor.value();
    cursor.copy_key(key);
    payload.clear();
    *is_seen = match versions.seen(snapshot, index.index.id(), key, newest)? {
        Seen::Nothing => false,
        Seen::Payload(seen) => {
            payload.extend_from_slice(seen);
            true
        }
        Seen::Changed => seen_at(&mut versions, snapshot, &index.index, key, payload)?,
    };
    if snapshot.own != TransactionId::NOBODY && !index.layout.is_clustered {
        // The row may have a version of this transaction's own, made from a newer one than the entry's: it decides.
        let newest = &newest[VERSION_HEADER_LEN..];
        let mut of_row = payload_of_row(table, index, snapshot, &mut versions, key, newest, session)?;
        if of_row.is_none() && *is_seen {
            of_row = payload_of_row(table, index, snapshot, &mut versions, key, payload, session)?;
        }
        *is_seen = of_row.is_some();
        *payload = of_row.unwrap_or_default();
    }
    Ok(*is_seen)
}

/// Asks the row, as the snapshot sees it, whether this is its entry: its payload, if so. `payload` is that of some version of
/// the entry, and names the row.
fn payload_of_row(
    table: &Table,
    index: &TableIndex,
    snapshot: &Snapshot,
    versions: &mut VersionReader<'_>,
    key: &[u8],
    payload: &[u8],
    session: &Session,
) -> Result<Option<Vec<u8>>> {
    let corrupt = |problem| index.index.damaged(problem);
    let primary_key = index.layout.primary_key_of(key, payload).map_err(corrupt)?;
    let (rows, mut row) = (table.rows(), Vec::new());
    if !seen_at(versions, snapshot, &rows.index, primary_key, &mut row)? {
        return Ok(None);
    }
    let (mut buffers, mut values, mut entry) = (Default::default(), Vec::new(), Entry::default());
    let damaged = |problem| rows.index.damaged(problem);
    rows.layout.read(primary_key, &row, &mut buffers, &mut values).map_err(damaged)?;
    index.layout.entry(&values, primary_key, &*session.core.collations, &mut entry)?;
    Ok((entry.key == key).then_some(entry.payload))
}

impl Consistent<'_> {
    /// Goes to the next entry of the range.
    fn step(&mut self) -> Result<bool> {
        let is_on_entry = match (std::mem::replace(&mut self.is_started, true), self.direction) {
            (false, Direction::Ascending) => self.cursor.seek(&self.range.from)?,
            (false, Direction::Descending) => match &self.range.to {
                Some(to) => self.cursor.seek_below(to)?,
                None => self.cursor.seek_last()?,
            },
            (true, _) if !self.cursor.is_on_entry() => false,
            (true, Direction::Ascending) => self.cursor.next()?,
            (true, Direction::Descending) => self.cursor.prev()?,
        };
        Ok(is_on_entry && self.lowest().is_none_or(|lowest| self.cursor.key() >= lowest))
    }

    /// Reads the rest of the row that it is on, unless what is wanted of it is in front of that, if its newest version is seen at all.
    /// False if the row has gone, and there is none behind it.
    #[cold]
    fn complete(&mut self, layout: &EntryLayout, snapshot: &Snapshot, session: &Session) -> Result<bool> {
        let has_in_front = |front: &[u8]| self.columns.is_some_and(|columns| layout.has_in_front(columns, front));
        let is_enough = |front: &[u8]| is_told_by(front, &session.core.time, snapshot, has_in_front);
        while self.cursor.portion() == Portion::Front && !is_enough(self.cursor.value()) {
            if !self.cursor.read_rest()? {
                return Ok(false);
            }
        }
        Ok(self.lowest().is_none_or(|lowest| self.cursor.key() >= lowest))
    }

    /// The key that each entry is to be compared with on the way down, if there is an end.
    #[inline]
    fn lowest(&self) -> Option<&[u8]> {
        // (To compare with no bytes is not for nothing: a masked load from where there is no memory takes as long as the row.)
        let has_end = self.direction == Direction::Descending && !self.range.from.is_empty();
        has_end.then_some(&self.range.from)
    }
}

fn next_locking(
    table: &Table,
    index: &TableIndex,
    cursor: &mut LockingCursor<'_>,
    row: &mut FoundRow,
    session: &mut Session,
) -> Result<bool> {
    while cursor.next(session)? {
        if index.layout.is_clustered {
            row.take(cursor);
            return Ok(true);
        }
        let corrupt = |problem| index.index.damaged(problem);
        let (_, payload) = VersionHeader::split_off(cursor.value()).map_err(corrupt)?;
        let primary_key = index.layout.primary_key_of(cursor.key(), payload).map_err(corrupt)?;
        let mut at_row = LockingCursor::at(&table.rows().index, primary_key, cursor.locking().without_gaps());
        if at_row.next(session)? {
            row.take(&mut at_row);
            return Ok(true);
        }
        // Skipped: somebody has the row and not yet its entry.
    }
    Ok(false)
}

impl FoundRow {
    /// Becomes what is shown.
    fn show(&mut self, cursor: &LookingCursor<'_>) {
        self.key.clear();
        self.key.extend_from_slice(cursor.key());
        self.value.clear();
        self.value.extend_from_slice(cursor.value());
    }

    /// Becomes what the cursor stands on, and leaves it the key.
    fn take(&mut self, cursor: &mut LockingCursor<'_>) {
        self.key.clear();
        self.key.extend_from_slice(cursor.key());
        cursor.swap_value(&mut self.value);
    }
}
