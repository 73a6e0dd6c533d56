//! Entries that are locked together: what a long locking read comes to next, some dozens at a time.
//!
//! Above: `LockingCursor`, which shows them one by one. Below: the lock table's spans (`lock`, spans), which say in what order
//! to look and to lock, and a cursor of storage, which keeps what was read.
//!
//! ```text
//!   passed   next ........................ last
//!   ---|======|======|======|======|========|-----
//!       1. where is the last of the next batch    2. reach for it    3. read the batch: it is what it is
//!       4. hold those whose writers have ended, and nobody else has locked    5. they are shown
//! ```
//!
//! # Invariants
//! 1. What is shown was read after others could find the span, and nobody else can have changed it since: only who holds the
//!    span can, and is asked not to ([`LockingCursor::taking_all`](super::LockingCursor::taking_all)).
//! 2. A read begins key by key ([`SINGLES`](super::SINGLES)): a short one leaves no span, which all who lock in the index would
//!    look at.
//!
//! # What it costs
//! Two descents and two copies a batch. Key by key it is three descents, and an entry in the lock table, a key.

use meseta_storage::Cursor;

use super::Locking;
use crate::error::Result;
use crate::ids::TransactionId;
use crate::index::Index;
use crate::lock::{Key, Reach, Request, Wanted};
use crate::row::VersionHeader;
use crate::session::Session;
use crate::time::State;

/// Reads on in a range, locking.
pub(super) struct SpanReader<'i> {
    index: &'i Index,
    /// On the first entry that is to be shown, if there are any.
    cursor: Cursor<'i>,
    /// How many there are.
    entries: usize,
}

impl<'i> SpanReader<'i> {
    /// A reader of what is below `to`.
    pub fn new(index: &'i Index, to: Option<&[u8]>) -> Self {
        let cursor = index.tree.cursor().for_many().before(to.map(<[u8]>::to_vec));
        Self { index, cursor, entries: 0 }
    }

    /// Whether there are entries to be shown.
    pub fn has_entries(&self) -> bool {
        self.entries > 0
    }

    /// Locks entries behind the key that the read has come to; false if the next one is to be locked alone.
    pub fn lock_behind(&mut self, passed: &[u8], locking: Locking, session: &Session) -> Result<bool> {
        if self.cursor.go_on_above(passed)?
            && let Some(last) = self.last_copied()
        {
            let (locks, owner, index) = (&session.core.locks, &session.owner, &self.index.locks);
            let wanted = [passed, &last];
            let wanted = if locking.gaps { Wanted::Stretch(wanted) } else { Wanted::Records(wanted) };
            if let Some(others) = locks.reach(owner, index, locking.mode, wanted) {
                let read = self.cursor.go_on_above(passed);
                let found = if read.is_ok() { self.lockable(&last, locking, others, session) } else { Vec::new() };
                // Tombstones are locked for the sake of their gaps.
                let to_hold: Vec<usize> = (0..found.len()).filter(|&at| found[at] || locking.gaps).collect();
                let copied = self.cursor.copied();
                let held = locks.hold(owner, index, to_hold.iter().map(|&at| copied.key(at)));
                self.entries = to_hold.get(held).copied().unwrap_or(found.len());
                read?;
            }
        }
        Ok(self.has_entries())
    }

    /// The key of the last entry that was copied, up to the first whose value lies elsewhere.
    fn last_copied(&mut self) -> Option<Vec<u8>> {
        self.cursor.gather_keys();
        let copied = self.cursor.copied();
        let count = (0..).take_while(|&at| copied.value(at).is_some()).count();
        Some(copied.key(count.checked_sub(1)?).to_vec())
    }

    /// The entries that were copied, up to a last one, and to the first that somebody else is writing, or, if others have locks in the
    /// index, has locked: whether each is a row, and no tombstone.
    fn lockable(&mut self, last: &[u8], locking: Locking, others: bool, session: &Session) -> Vec<bool> {
        if !self.cursor.is_on_entry() {
            return Vec::new();
        }
        self.cursor.gather_keys();
        let copied = self.cursor.copied();
        // Rows beside each other were often written together: the writer that was looked for last.
        let mut gone = session.transaction();
        let mut has_gone = |writer: TransactionId| {
            let ended = gone == Some(writer)
                || matches!(session.core.time.state_of(writer), State::Committed(_) | State::Frozen);
            gone = if ended { Some(writer) } else { gone };
            ended
        };
        let reach = if locking.gaps { Reach::NextKey } else { Reach::Record };
        let is_row = |at| {
            let (header, _) = VersionHeader::split_off(copied.value(at)?).ok()?;
            let key = copied.key(at);
            let request = Request { index: &self.index.locks, key: Key::Row(key), mode: locking.mode, reach };
            let is_lockable = key <= last
                && has_gone(header.writer)
                && (!others || session.core.locks.is_free(&session.owner, &request));
            is_lockable.then_some(!header.deleted)
        };
        (0..).map_while(is_row).collect()
    }

    /// Takes the first of the entries to be shown; false if it is a tombstone. On entry: there is one.
    pub fn take(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> bool {
        key.clear();
        key.extend_from_slice(self.cursor.key());
        value.clear();
        value.extend_from_slice(self.cursor.value());
        self.entries -= 1;
        if self.has_entries() {
            self.cursor.skip(1);
        }
        VersionHeader::split_off(value).is_ok_and(|(header, _)| !header.deleted)
    }
}
