//! A look before the lock: READ COMMITTED locks the rows that it wants, so it looks first whether it wants them.
//!
//! ```text
//!   the next row:   nobody is in the way   somebody is, and is passed by        somebody is, and is waited for
//!                           |                          |                                     |
//!   shown:            as it is            as it was committed last               locked, as it is then
//!                           |                          |                                     |
//!   it is wanted:   lock(): locked, and as it is then: the same, another, or not there any more
//!   it is not:      nothing                                                       unlock()
//! ```
//!
//! InnoDB locks each row, asks the conditions, and unlocks what they do not hold for: to who looks at it afterwards that is the
//! same, but the lock table is spared, and no descent is made for a row that is not wanted. It passes rows by that others have in
//! UPDATE alone, in the order of the primary key ("semi-consistent read").
//!
//! # Invariants
//! 1. What is shown without a lock was committed, or is the session's own, at a moment of this statement; what comes after a wait
//!    for a lock, here or elsewhere, is looked at after the wait.
//! 2. A row is looked at once, in its place; whatever is there once it is locked is what it is then.
//! 3. What was copied is looked at while the time before it was copied is announced: an id in it that is frozen has committed
//!    (`time`). Where a later time has been announced, by whatever the statement did, what comes is copied anew.
//!
//! # Source
//! The manual, "Transaction Isolation Levels", READ COMMITTED; MySQL 8.4, row0sel.cc: `row_search_mvcc`, ROW_READ_TRY_SEMI_CONSISTENT.

use meseta_storage::Cursor;

use super::{Direction, Locking, LockingCursor, SINGLES};
use crate::error::Result;
use crate::index::Index;
use crate::lock::{Key, Reach, Request, Wanted};
use crate::row::{KeyRange, VERSION_HEADER_LEN, VersionHeader};
use crate::session::Session;
use crate::time::State;
use crate::version::{Seen, VersionReader};

/// So many rows are looked at before a later time is announced, which lets purge go on.
const ROWS_A_TIME: u32 = 1024;

/// So often an entry is looked at that is changed and undone meanwhile; then it is locked.
const ATTEMPTS: usize = 100;

/// What has become of a row since it was shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum Taken {
    /// It is locked, and as it was shown.
    AsShown,
    /// It is locked, and another: it is shown anew.
    Changed,
    /// It is not there any more, or others have it and it is skipped.
    Gone,
}

/// How the row that is shown is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    /// Not at all.
    No,
    /// By a lock; `fresh` if it was taken for this read.
    Locked { fresh: bool },
}

/// What an entry is to one who does not lock it.
enum Look {
    Shown,
    Passed,
    /// It is to be locked first.
    Busy,
    /// What was read has been undone since.
    Again,
}

/// Shows the rows of a range, and locks those that are wanted.
pub struct LookingCursor<'i> {
    index: &'i Index,
    cursor: Cursor<'i>,
    range: KeyRange,
    direction: Direction,
    locking: Locking,
    /// Whether rows that others have are passed by, if they are not wanted as they were committed last.
    passes_by: bool,
    is_started: bool,
    /// How often the session had waited, and announced a time, when what comes next was copied.
    moment: [u64; 2],
    /// So many rows may come before a later time is announced.
    rows_left: u32,
    held: Held,
    key: Vec<u8>,
    value: Vec<u8>,
    /// So many rows are locked one by one before they are listed.
    singles: u32,
    /// Memory for what is there when a row is locked.
    now: Vec<u8>,
}

impl<'i> LookingCursor<'i> {
    /// A read of a clustered index.
    pub fn new(index: &'i Index, mut range: KeyRange, direction: Direction, locking: Locking, passes_by: bool) -> Self {
        let end = if direction == Direction::Ascending { range.to.take() } else { None };
        Self {
            index,
            cursor: index.tree.cursor().before(end),
            range,
            direction,
            locking,
            passes_by,
            is_started: false,
            moment: [0; 2],
            rows_left: 0,
            held: Held::No,
            key: Vec::new(),
            value: Vec::new(),
            singles: SINGLES,
            now: Vec::new(),
        }
    }

    /// The row's key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The row's value, with a header; of one that was passed by so far that is not the header of what is shown.
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// Goes to the next row. False if there is none.
    pub fn next(&mut self, session: &mut Session) -> Result<bool> {
        while self.step(session)? {
            self.key.clear();
            self.key.extend_from_slice(self.cursor.key());
            self.value.clear();
            self.value.extend_from_slice(self.cursor.value());
            self.held = Held::No;
            let is_shown = match self.look_as_often_as_it_changes(session)? {
                Look::Shown => true,
                Look::Passed => false,
                Look::Busy | Look::Again => self.lock(session)? != Taken::Gone,
            };
            if is_shown {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Looks at the entry that has been read, and reads it again as often as that has been undone meanwhile.
    fn look_as_often_as_it_changes(&mut self, session: &mut Session) -> Result<Look> {
        for _ in 0..ATTEMPTS {
            match self.look(session)? {
                Look::Again if self.index.tree.get_into(&self.key, &mut self.value)? => {}
                Look::Again => return Ok(Look::Passed),
                look => return Ok(look),
            }
        }
        Ok(Look::Again)
    }

    /// Moves the cursor on to the next entry, as it was at this moment of the session.
    fn step(&mut self, session: &mut Session) -> Result<bool> {
        let moment = |session: &Session| [session.owner.waits(), session.announcements()];
        let is_old = self.moment != moment(session) || self.rows_left == 0;
        if is_old {
            session.announce_now();
            (self.moment, self.rows_left) = (moment(session), ROWS_A_TIME);
        }
        self.rows_left -= 1;
        let is_there = match (std::mem::replace(&mut self.is_started, true), self.direction) {
            (false, Direction::Ascending) => self.cursor.seek(&self.range.from)?,
            (false, Direction::Descending) => match &self.range.to {
                Some(to) => self.cursor.seek_below(to)?,
                None => self.cursor.seek_last()?,
            },
            (true, Direction::Ascending) if is_old => self.cursor.seek_above(&self.key)?,
            (true, Direction::Descending) if is_old => self.cursor.seek_below(&self.key)?,
            (true, Direction::Ascending) => self.cursor.next()?,
            (true, Direction::Descending) => self.cursor.prev()?,
        };
        Ok(is_there && (self.direction == Direction::Ascending || self.cursor.key() >= self.range.from.as_slice()))
    }

    /// Looks at the entry as it was read.
    fn look(&mut self, session: &mut Session) -> Result<Look> {
        let (header, _) = VersionHeader::split_off(&self.value).map_err(|problem| self.index.damaged(problem))?;
        let state = match session.transaction() == Some(header.writer) {
            true => State::Frozen,
            false => session.core.time.state_of(header.writer),
        };
        match state {
            State::Committed(_) | State::Frozen => {
                if header.deleted {
                    return Ok(Look::Passed);
                }
                let is_busy = !self.passes_by && session.core.locks.would_wait(&session.owner, &self.request());
                Ok(if is_busy { Look::Busy } else { Look::Shown })
            }
            State::RolledBack(_) => Ok(Look::Again),
            State::Active if !self.passes_by => Ok(Look::Busy),
            State::Active => {
                // What was committed last, if the statement has no snapshot that is older.
                let Some(snapshot) = session.snapshot_of_now() else { return Ok(Look::Busy) };
                if !self.index.tree.get_into(&self.key, &mut self.value)? {
                    return Ok(Look::Passed);
                }
                let mut versions = VersionReader::new(&session.core.time, &session.core.undo);
                let older = match versions.seen(&snapshot, self.index.id(), &self.key, &self.value)? {
                    Seen::Nothing => return Ok(Look::Passed),
                    Seen::Changed => return Ok(Look::Again),
                    Seen::Payload(payload) => payload.to_vec(),
                };
                self.value.clear();
                self.value.resize(VERSION_HEADER_LEN, 0);
                self.value.extend_from_slice(&older);
                Ok(Look::Shown)
            }
        }
    }

    fn request(&self) -> Request<'_> {
        let (key, mode) = (Key::Row(&self.key), self.locking.mode);
        Request { index: &self.index.locks, key, mode, reach: Reach::Record }
    }

    /// Locks the row that is shown, as it is then.
    pub fn lock(&mut self, session: &mut Session) -> Result<Taken> {
        if self.held != Held::No {
            return Ok(Taken::AsShown);
        }
        if self.singles > 0 {
            self.singles -= 1;
        } else if self.lock_listed(session)? {
            self.held = Held::Locked { fresh: false };
            return Ok(Taken::AsShown);
        } else {
            self.singles = SINGLES;
        }
        let mut row = LockingCursor::at(self.index, &self.key, self.locking);
        let is_there = row.next(session)?;
        if !is_there {
            return Ok(Taken::Gone);
        }
        self.held = Held::Locked { fresh: row.fresh };
        if row.value == self.value {
            return Ok(Taken::AsShown);
        }
        row.swap_value(&mut self.value);
        Ok(Taken::Changed)
    }

    /// Locks the row with those before it, if it is as it was shown, and nobody else has it.
    fn lock_listed(&mut self, session: &Session) -> Result<bool> {
        let (locks, owner, index) = (&session.core.locks, &session.owner, &self.index.locks);
        if self.direction == Direction::Descending {
            return Ok(false);
        }
        let Some(others) = locks.reach(owner, index, self.locking.mode, Wanted::Record(&self.key)) else {
            return Ok(false);
        };
        let read = self.index.tree.get_into(&self.key, &mut self.now);
        let is_same = matches!(read, Ok(true)) && self.now == self.value;
        let is_free = is_same && (!others || locks.is_free(owner, &self.request()));
        let held = locks.hold(owner, index, is_free.then_some(self.key.as_slice()).into_iter());
        read?;
        Ok(held == 1)
    }

    /// Gives the row's lock back, if it was taken for this read: it is not wanted.
    pub fn unlock(&mut self, session: &Session) {
        if std::mem::replace(&mut self.held, Held::No) == (Held::Locked { fresh: true }) {
            session.core.locks.unlock(&session.owner, &self.index.locks, Key::Row(&self.key));
        }
    }
}
