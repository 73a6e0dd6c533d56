//! Locking reads: the newest version of each entry in a range, locked so that it stays.
//!
//! ```text
//!          position      K                 with gaps: (position, K] is locked, next-key by next-key
//!   ---------|===========|------------     without:   K alone
//!
//!   1. find K, the next key behind the position          no latch held afterwards
//!   2. lock K                                            may wait
//!   3. look again: is K still next? what does it hold?   a writer that is active is waited for; then again from 1
//! ```
//!
//! Backwards it is the same, with the key below the position for K; there the gap above the first K is locked before. A read of
//! one key knows K: it begins with 2, and goes the whole way only if K turns out not to be there. Who reads a long way, forwards,
//! and takes all that there is, locks some dozens of keys together (`span`). Who wants some of the rows, and no gaps, looks at
//! them before it locks them (`look`).
//!
//! # Invariants
//! 1. *Lock, then look* (`lock`, index): whoever inserted before the lock is seen, whoever comes later waits for it.
//! 2. A lock on a key that turns out not to be the next is given back, if it is this read's own.
//! 3. The range's end is locked too: the gap below the first key beyond, or below the end of the index.
//!
//! # Source
//! The manual, "Locks Set by Different SQL Statements in InnoDB". We differ at the end of a range: InnoDB takes a next-key
//! lock on the first key beyond in some cases, we always lock the gap alone.

mod look;
mod span;

pub use self::look::{LookingCursor, Taken};

use self::span::SpanReader;
use crate::change::Writer;
use crate::error::Result;
use crate::index::Index;
use crate::lock::{Key, Mode, OnConflict, Outcome, Reach, Request};
use crate::row::VersionHeader;
use crate::session::Session;

/// How rows are to be locked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Locking {
    /// To share (FOR SHARE), or alone (FOR UPDATE, and every statement that changes rows).
    pub mode: Mode,
    /// The gaps between them too: REPEATABLE READ and SERIALIZABLE.
    pub gaps: bool,
    /// What to do about rows that others have locked.
    pub on_conflict: OnConflict,
}

impl Locking {
    /// The same, without the thread where it waits.
    pub fn suspending(self) -> Self {
        Self { on_conflict: self.on_conflict.suspending(), ..self }
    }

    /// The same, of rows alone.
    pub fn without_gaps(self) -> Self {
        Self { gaps: false, ..self }
    }
}

/// So many entries are locked one by one before others are locked together, and again where that failed.
const SINGLES: u32 = 256;

/// Which way a read goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Direction {
    /// From small keys to large ones.
    #[default]
    Ascending,
    /// From large keys to small ones.
    Descending,
}

impl Direction {
    /// The other way.
    pub fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

/// How far a read has come.
enum Position {
    /// Nowhere yet.
    Start,
    /// The key in `passed` has been shown, or passed over.
    Behind,
    /// All that there was has been shown.
    End,
}

/// What one attempt came to.
enum Attempt {
    /// An entry is locked and can be shown.
    Shown,
    /// On to the next one, or the same once more.
    Again,
    /// There are no more.
    End,
}

/// Shows the newest version of each entry in a range, locked. Tombstones are locked and not shown.
pub struct LockingCursor<'i> {
    index: &'i Index,
    from: Vec<u8>,
    to: Option<Vec<u8>>,
    /// The range is the key `from`, and no two entries have it.
    is_point: bool,
    /// The next key is that one, and is locked before it has been found.
    is_known: bool,
    direction: Direction,
    locking: Locking,
    position: Position,
    passed: Vec<u8>,
    /// The key that is tried.
    next: Vec<u8>,
    key: Vec<u8>,
    value: Vec<u8>,
    /// Whether the lock on this entry was taken for this read.
    fresh: bool,
    /// Whether that was done before the statement was suspended, or, at one key, before a writer was waited for.
    was_fresh: bool,
    /// So many entries are locked one by one before some are locked together; `None` if they all are.
    singles: Option<u32>,
    /// What reads them then.
    span: Option<Box<SpanReader<'i>>>,
}

impl<'i> LockingCursor<'i> {
    /// A read of `from <= key`, `key < to`.
    pub fn new(index: &'i Index, from: &[u8], to: Option<&[u8]>, direction: Direction, locking: Locking) -> Self {
        Self {
            index,
            from: from.to_vec(),
            to: to.map(<[u8]>::to_vec),
            is_point: false,
            is_known: false,
            direction,
            locking,
            position: Position::Start,
            passed: Vec::new(),
            next: Vec::new(),
            key: Vec::new(),
            value: Vec::new(),
            fresh: false,
            was_fresh: false,
            singles: None,
            span: None,
        }
    }

    /// For who reads on to the end of the range, gives none of its locks back, and changes none of its rows but the one that it is
    /// shown: keys may be locked some dozens at a time.
    pub fn taking_all(mut self) -> Self {
        if self.direction == Direction::Ascending {
            self.singles = Some(SINGLES);
        }
        self
    }

    /// A read of one entry, whose whole key is given. If it is there, no gap is locked. It may wait without its thread
    /// ([`OnConflict::Suspend`]), if it is what its statement begins with: then the statement is executed again.
    pub fn at(index: &'i Index, key: &[u8], locking: Locking) -> Self {
        Self { is_point: true, is_known: true, ..Self::new(index, key, None, Direction::Ascending, locking) }
    }

    /// How it locks.
    pub fn locking(&self) -> Locking {
        self.locking
    }

    /// The entry's key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The entry's value, with its header.
    pub fn value(&self) -> &[u8] {
        &self.value
    }

    /// Hands the value over, and takes memory for the next one.
    pub fn swap_value(&mut self, value: &mut Vec<u8>) {
        std::mem::swap(&mut self.value, value);
    }

    /// Goes to the next entry. False if there is none.
    pub fn next(&mut self, session: &mut Session) -> Result<bool> {
        session.announce_now();
        if matches!(self.locking.on_conflict, OnConflict::Suspend(_)) {
            let waited = session.resume_wait()?;
            self.was_fresh = matches!(waited, Some(Outcome::Granted { fresh: true, .. }));
        }
        loop {
            if self.show_of_span(session)? {
                return Ok(true);
            }
            match self.attempt(session)? {
                Attempt::Shown => return Ok(true),
                Attempt::Again => {}
                Attempt::End => {
                    self.position = Position::End;
                    return Ok(false);
                }
            }
        }
    }

    /// Shows the next of those entries that have been locked together, or locks some; false if there are none.
    fn show_of_span(&mut self, session: &Session) -> Result<bool> {
        let (Some(singles), Position::Behind) = (&mut self.singles, &self.position) else { return Ok(false) };
        if *singles > 0 {
            *singles -= 1;
            return Ok(false);
        }
        let span = self.span.get_or_insert_with(|| Box::new(SpanReader::new(self.index, self.to.as_deref())));
        while span.has_entries() || span.lock_behind(&self.passed, self.locking, session)? {
            let is_row = span.take(&mut self.key, &mut self.value);
            self.passed.clone_from(&self.key);
            if is_row {
                self.fresh = false;
                return Ok(true);
            }
        }
        *singles = SINGLES;
        Ok(false)
    }

    /// Gives this entry's lock back, if it was taken for this read: the row did not match (READ COMMITTED).
    pub fn unlock(&mut self, session: &Session) {
        if std::mem::take(&mut self.fresh) {
            session.core.locks.unlock(&session.owner, &self.index.locks, Key::Row(&self.key));
        }
    }

    /// Shows the next entry, as it is now. False if there is none.
    fn find(&self, show: impl FnOnce(&[u8], &[u8])) -> Result<bool> {
        let mut cursor = self.index.tree.cursor().for_one();
        let found = match (&self.position, self.direction) {
            (Position::Start, Direction::Ascending) => cursor.seek(&self.from)?,
            (Position::Behind, Direction::Ascending) => cursor.seek_above(&self.passed)?,
            (Position::Start, Direction::Descending) => match &self.to {
                Some(to) => cursor.seek_below(to)?,
                None => cursor.seek_last()?,
            },
            (Position::Behind, Direction::Descending) => cursor.seek_below(&self.passed)?,
            (Position::End, _) => false,
        };
        if found {
            show(cursor.key(), cursor.value());
        }
        Ok(found)
    }

    fn is_inside(&self, key: &[u8]) -> bool {
        match self.direction {
            _ if self.is_point => key == self.from,
            Direction::Ascending => self.to.as_deref().is_none_or(|to| key < to),
            Direction::Descending => key >= self.from.as_slice(),
        }
    }

    fn lock(&self, session: &Session, key: Key<'_>, reach: Reach) -> Result<Outcome> {
        let request = Request { index: &self.index.locks, key, mode: self.locking.mode, reach };
        Ok(session.core.locks.lock(&session.owner, &request, self.locking.on_conflict)?)
    }

    /// One attempt to lock and show the next entry.
    fn attempt(&mut self, session: &mut Session) -> Result<Attempt> {
        let mut next = std::mem::take(&mut self.next);
        let attempt = self.attempt_at(session, &mut next);
        self.next = next;
        attempt
    }

    /// `next` is memory for a key.
    fn attempt_at(&mut self, session: &mut Session, next: &mut Vec<u8>) -> Result<Attempt> {
        if matches!(self.position, Position::End) || self.is_point && matches!(self.position, Position::Behind) {
            return Ok(Attempt::End);
        }
        if matches!((&self.position, self.direction), (Position::Start, Direction::Descending)) && self.locking.gaps {
            self.lock_above(session)?;
        }
        next.clear();
        // (A span has the places of keys that are not there, and who looks for one is not to wait for that.)
        let is_known = std::mem::take(&mut self.is_known) && !self.index.locks.has_spans();
        let is_there = match is_known {
            true => {
                next.extend_from_slice(&self.from);
                true
            }
            false => self.find(|key, _| next.extend_from_slice(key))?,
        };
        let inside = is_there && self.is_inside(next);
        let reach = match (inside, self.locking.gaps, self.direction) {
            (true, true, _) if !self.is_point => Reach::NextKey,
            (true, ..) => Reach::Record,
            // The gap above `from`, in which nothing was found.
            (false, true, Direction::Ascending) => Reach::Gap,
            // Locked with the last key that was shown, or above the range.
            (false, ..) => return Ok(Attempt::End),
        };
        let key = if is_there { Key::Row(next) } else { Key::Supremum };
        let fresh = match self.lock(session, key, reach)? {
            Outcome::Granted { fresh, .. } => std::mem::take(&mut self.was_fresh) && inside || fresh,
            Outcome::KeyGone => return Ok(Attempt::Again),
            Outcome::Skipped => {
                if is_there {
                    self.pass(next);
                }
                return Ok(Attempt::Again);
            }
        };
        let (mut value, mut is_same) = (std::mem::take(&mut self.value), !is_there);
        if is_known {
            is_same = self.index.tree.get_into(next, &mut value)?;
        } else {
            self.find(|key, its_value| {
                is_same = is_there && key == next.as_slice();
                value.clear();
                value.extend_from_slice(its_value);
            })?;
        }
        self.value = value;
        if !is_same {
            if let (true, Key::Row(_)) = (fresh, key) {
                session.core.locks.unlock(&session.owner, &self.index.locks, key);
            }
            return Ok(Attempt::Again);
        }
        if !inside {
            return Ok(Attempt::End);
        }
        let (header, _) = VersionHeader::split_off(&self.value).map_err(|problem| self.index.damaged(problem))?;
        let Locking { mode, on_conflict, .. } = self.locking;
        match session.wait_for_writer(self.index, next, header.writer, mode, on_conflict)? {
            Writer::Gone => {}
            Writer::LookAgain => {
                self.was_fresh = fresh && self.is_point;
                return Ok(Attempt::Again);
            }
            Writer::Skipped => {
                self.pass(next);
                return Ok(Attempt::Again);
            }
        }
        self.pass(next);
        if header.deleted {
            return Ok(Attempt::Again);
        }
        std::mem::swap(&mut self.key, next);
        self.fresh = fresh;
        Ok(Attempt::Shown)
    }

    fn pass(&mut self, key: &[u8]) {
        self.position = Position::Behind;
        if self.is_point {
            return;
        }
        self.passed.clear();
        self.passed.extend_from_slice(key);
    }

    /// Locks the gap above the last key of the range.
    fn lock_above(&self, session: &Session) -> Result<()> {
        let Some(to) = &self.to else {
            self.lock(session, Key::Supremum, Reach::Gap)?;
            return Ok(());
        };
        loop {
            let above = |index: &Index| -> Result<Option<Vec<u8>>> {
                let mut cursor = index.tree.cursor().for_one();
                Ok(cursor.seek(to)?.then(|| cursor.key().to_vec()))
            };
            let key = above(self.index)?;
            let outcome = self.lock(session, key.as_deref().map_or(Key::Supremum, Key::Row), Reach::Gap)?;
            if outcome.is_granted() && above(self.index)? == key {
                return Ok(());
            }
        }
    }
}
