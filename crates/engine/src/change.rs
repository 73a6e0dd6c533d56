//! Changing a row: its entries in all indexes, as one undo record says.
//!
//! ```text
//!   1. look        what is there, in each index: the caller has              no latch held afterwards
//!   2. record      what was there goes into undo                             (undo, invariant 1)
//!   3. clustered   latch the leaf; is it still what it was? may I?  write    the header is the lock from here on
//!   4. others      latch, write: nobody else touches this row's entries
//! ```
//!
//! # Invariants
//! 1. The clustered entry is changed first: whoever changes other entries of a row has the row's lock. (The entry of a
//!    unique index may be another row's, deleted; then that entry's header is what one waits for.)
//! 2. What steps 3 and 4 find is what the record says, down to the header, or nothing is changed: a header is never the
//!    same twice. Then the record goes: those of a committed transaction tell changes that were made, but for what they say
//!    of new rows, below which there is nothing. (`thin`; `rows`, runs)
//! 3. Nothing is latched while anybody waits for a lock. After a wait the caller looks again.
//! 4. An inserter asks for the gap under the latch of the leaf, and of the next if the next key is there.
//!
//! # When things fail
//! In step 4 the row is changed by half, and the statement fails: its caller undoes it.
//!
//! # Source
//! The manual, "Locks Set by Different SQL Statements in InnoDB".

use meseta_storage::Change;

use crate::error::Result;
use crate::ids::TransactionId;
use crate::index::Index;
use crate::lock::{Key, Mode, OnConflict, Outcome, Reach, Request};
use crate::row::{Corrupt, VERSION_HEADER_LEN, VersionHeader};
use crate::session::Session;
use crate::time::State;
use crate::undo::{Before, Delta, EntryChange, Fate, append_change, begin_record};

/// What an entry is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum New<'a> {
    /// An entry with this behind its header.
    Payload(&'a [u8]),
    /// A tombstone: what was there, flagged.
    Deleted,
}

/// One entry of a row, and what it is to be.
#[derive(Clone, Copy)]
pub struct Write<'a> {
    /// In this index.
    pub index: &'a Index,
    /// With this key.
    pub key: &'a [u8],
    /// The entry's value as the caller saw it, header and all; `None` if there was no entry.
    pub before: Option<&'a [u8]>,
    /// What it is to be.
    pub new: New<'a>,
}

impl<'a> Write<'a> {
    /// What is to follow the entry's header.
    fn payload(&self) -> &'a [u8] {
        match self.new {
            New::Payload(payload) => payload,
            New::Deleted => self.before.and_then(|value| value.get(VERSION_HEADER_LEN..)).unwrap_or_default(),
        }
    }
}

/// How an attempt to change a row ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Changed {
    /// The row is changed.
    Yes,
    /// Nothing is: the row is not what the caller saw, or the caller had to wait. It looks again.
    LookAgain,
}

/// Whether a row's writer is in the way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Writer {
    /// No: it has committed, or is the session's own transaction.
    Gone,
    /// It was, or may have been: look again.
    LookAgain,
    /// It is, and one is not to wait.
    Skipped,
}

/// What was found under a leaf's latch.
enum Found {
    Written,
    Different,
    /// Somebody has a lock on the row.
    Locked,
    /// Somebody has a lock on the gap below this key; `None` is the end of the index.
    GapLocked(Option<Vec<u8>>),
    /// There are gap locks in the index: the next key has to be known.
    NeedsSuccessor,
    Damaged(Corrupt),
}

impl Session {
    /// Changes a row: `row[0]` is the clustered entry. The caller has seen that no other transaction that is active has
    /// written any of these entries.
    pub fn change_row(&mut self, row: &[Write<'_>]) -> Result<Changed> {
        let id = self.begin_writing()?;
        begin_record(Fate::Active, &mut self.record);
        for write in row {
            let before = match write.before {
                Some(value) => {
                    let (header, payload) =
                        VersionHeader::split_off(value).map_err(|problem| write.index.damaged(problem))?;
                    Some(Before { header, payload: Delta::between(write.payload(), payload, &mut self.delta) })
                }
                None => None,
            };
            let deletes = write.new == New::Deleted;
            append_change(&EntryChange { index: write.index.id(), key: write.key, before, deletes }, &mut self.record);
        }
        let number = self.append_record()?;
        for (position, write) in row.iter().enumerate() {
            let header = VersionHeader { writer: id, deleted: write.new == New::Deleted, slot: self.slot, number };
            let mut value = std::mem::take(&mut self.value);
            value.clear();
            value.extend_from_slice(&header.to_bytes());
            value.extend_from_slice(write.payload());
            let changed = self.change_entry(write, &value, position == 0);
            self.value = value;
            if changed? == Changed::LookAgain {
                match position {
                    0 => self.core.undo.discard(self.slot, id, number)?,
                    _ => self.undo_records(id, number..number + 1, false)?,
                }
                return Ok(Changed::LookAgain);
            }
        }
        self.count_rows(1);
        Ok(Changed::Yes)
    }

    /// The transaction has changed so many rows more.
    pub(crate) fn count_rows(&mut self, rows: u64) {
        if let Some(writing) = &mut self.writing {
            writing.rows += rows;
            self.owner.set_weight(writing.rows);
        }
    }

    /// Changes one of a row's entries. Having waited, it tries again if the row is its own already.
    fn change_entry(&mut self, write: &Write<'_>, value: &[u8], is_clustered: bool) -> Result<Changed> {
        loop {
            match self.write_entry(write, value, is_clustered)? {
                Found::Written => return Ok(Changed::Yes),
                Found::Different => return Ok(Changed::LookAgain),
                Found::Locked => {
                    self.lock(write.index, Key::Row(write.key), Mode::Exclusive, Reach::Record)?;
                }
                Found::GapLocked(successor) => {
                    let key = successor.as_deref().map_or(Key::Supremum, Key::Row);
                    self.lock(write.index, key, Mode::Exclusive, Reach::InsertIntention)?;
                }
                Found::NeedsSuccessor => unreachable!("write_entry looks for it"),
                Found::Damaged(problem) => return Err(write.index.damaged(problem)),
            }
            if is_clustered {
                return Ok(Changed::LookAgain);
            }
        }
    }

    /// Steps 3 and 4, for one entry.
    fn write_entry(&self, write: &Write<'_>, value: &[u8], is_clustered: bool) -> Result<Found> {
        let found = self.write_entry_beside(write, value, is_clustered, false)?;
        if matches!(found, Found::NeedsSuccessor) {
            return self.write_entry_beside(write, value, is_clustered, true);
        }
        Ok(found)
    }

    fn write_entry_beside(
        &self,
        write: &Write<'_>,
        value: &[u8],
        is_clustered: bool,
        knows_successor: bool,
    ) -> Result<Found> {
        let (locks, index) = (&self.core.locks, &write.index.locks);
        let mut found = Found::Different;
        let mut decide = |current: Option<&[u8]>, successor: Option<&[u8]>| {
            let keep = |why| (why, Change::Keep);
            let put = || (Found::Written, Change::Put(value.into()));
            let (why, change) = match (current, write.before) {
                (Some(current), Some(before)) if same_header(current, before) => {
                    let request =
                        Request { index, key: Key::Row(write.key), mode: Mode::Exclusive, reach: Reach::Record };
                    // Other entries are locked with the row, or by readers of the index itself.
                    if locks.would_wait(&self.owner, &request) { keep(Found::Locked) } else { put() }
                }
                (Some(current), _) => match VersionHeader::split_off(current) {
                    Ok(_) => keep(Found::Different),
                    Err(problem) => keep(Found::Damaged(problem)),
                },
                // A tombstone that was purged meanwhile: undoing puts it back, and sees that it may go.
                (None, Some(_)) if is_clustered => keep(Found::Different),
                (None, _) if index.has_no_gaps() => put(),
                (None, _) if !knows_successor => keep(Found::NeedsSuccessor),
                (None, _) => {
                    let key = successor.map_or(Key::Supremum, Key::Row);
                    let request = Request { index, key, mode: Mode::Exclusive, reach: Reach::InsertIntention };
                    if locks.would_wait(&self.owner, &request) {
                        keep(Found::GapLocked(successor.map(<[u8]>::to_vec)))
                    } else {
                        locks.inserted(&self.owner, index, Key::Row(write.key), key);
                        put()
                    }
                }
            };
            found = why;
            Ok(change)
        };
        if knows_successor {
            write.index.tree.modify_beside(write.key, &[], decide)?;
        } else {
            write.index.tree.modify(write.key, &[], |current| decide(current, None))?;
        }
        Ok(found)
    }

    // ---- locks ------------------------------------------------------------------------------------------------------

    /// Asks for a lock, and waits for it. Afterwards the caller looks again.
    pub fn lock(&mut self, index: &Index, key: Key<'_>, mode: Mode, reach: Reach) -> Result<Outcome> {
        let request = Request { index: &index.locks, key, mode, reach };
        Ok(self.core.locks.lock(&self.owner, &request, self.on_conflict())?)
    }

    /// Whether somebody else has a lock on a row, or stands in line for one.
    pub fn would_wait(&self, index: &Index, key: &[u8]) -> bool {
        let (key, mode, reach) = (Key::Row(key), Mode::Exclusive, Reach::Record);
        self.core.locks.would_wait(&self.owner, &Request { index: &index.locks, key, mode, reach })
    }

    /// The writer of a row that the caller has just read ([`Session::get_newest`]), if it is another transaction and active,
    /// has the row locked. Waits for its end, as `on_conflict` says.
    pub fn wait_for_writer(
        &mut self,
        index: &Index,
        key: &[u8],
        writer: TransactionId,
        mode: Mode,
        on_conflict: OnConflict,
    ) -> Result<Writer> {
        if self.transaction() == Some(writer) {
            return Ok(Writer::Gone);
        }
        match self.core.time.state_of(writer) {
            State::Active => {}
            // What was read has been undone since.
            State::RolledBack(_) => return Ok(Writer::LookAgain),
            State::Committed(_) | State::Frozen => return Ok(Writer::Gone),
        }
        let Some(holder) = self.core.writers.owner(writer) else {
            // It has ended meanwhile; or it never will, since storage has stopped.
            self.core.store.health()?;
            return Ok(Writer::LookAgain);
        };
        let request = Request { index: &index.locks, key: Key::Row(key), mode, reach: Reach::Record };
        let core = &self.core;
        let is_active = || core.time.state_of(writer) == State::Active;
        match core.locks.wait_for_writer(&self.owner, &request, &holder, is_active, on_conflict)? {
            Outcome::Skipped => Ok(Writer::Skipped),
            Outcome::Granted { .. } | Outcome::KeyGone => Ok(Writer::LookAgain),
        }
    }

    // ---- undoing ----------------------------------------------------------------------------------------------------

    /// Undoes what these records describe, the last first. With `ends`, the transaction ends with it: nothing is locked,
    /// and no record stays.
    pub(crate) fn undo_records(&mut self, id: TransactionId, numbers: std::ops::Range<u64>, ends: bool) -> Result<()> {
        crate::undoing::undo_records(&self.core, self.slot, id, numbers.clone(), (!ends).then_some(&self.owner))?;
        if let Some(writing) = &mut self.writing
            && ends
        {
            writing.next = numbers.start;
        }
        Ok(())
    }
}

fn same_header(one: &[u8], other: &[u8]) -> bool {
    one.len() >= VERSION_HEADER_LEN && one.get(..VERSION_HEADER_LEN) == other.get(..VERSION_HEADER_LEN)
}
