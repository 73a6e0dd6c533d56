//! What the pool knows of each page: its state word, and whether and since when it is dirty.
//!
//! The dirty word: zero when the page equals its copy on disk; else the *recovery LSN* (where redo would have to
//! start for it), with the top bit set while a copy of it is on its way to disk.
//!
//! # Invariants
//! 1. The recovery LSN is set, under the exclusive latch, before the change's log record is reserved; so it is at
//!    or below that record's position, and a checkpoint that reads the log's end first and the dirty words after
//!    sees it (`cleaner::oldest_recovery_lsn`).
//! 2. A page leaves memory only while its dirty word is zero: not when newer than its copy on disk, and not when
//!    that copy is still being written.

use super::memory::Zeroed;
use crate::ids::Lsn;
use crate::latch::Latch;
use crate::sync::{AtomicU64, Ordering};

const FLUSHING: u64 = 1 << 63;

/// One page's entry.
#[repr(C)]
pub struct Frame {
    /// The state word.
    pub latch: Latch,
    dirty: AtomicU64,
}

// SAFETY: a zero latch is evicted, and a zero dirty word is clean.
unsafe impl Zeroed for Frame {}

impl Frame {
    /// The entry of a page that is not in memory.
    #[cfg(any(test, loom))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { latch: Latch::new(), dirty: AtomicU64::new(0) }
    }

    /// Notes that the page is about to change, and that redo would have to start at the log's end for it: `log_end`, which is
    /// asked only if the page is not dirty already.
    ///
    /// On entry: the page is latched exclusively.
    pub fn set_dirty(&self, log_end: impl FnOnce() -> Lsn) {
        let word = self.dirty.load(Ordering::Relaxed);
        if word & !FLUSHING == 0 {
            // The flusher may clear its bit at the same time, so this is an addition, not a store.
            self.dirty.fetch_or(log_end().0, Ordering::AcqRel);
        }
    }

    /// Where redo has to start for this page; `None` if its copy on disk is (or is about to be) as new.
    pub fn recovery_lsn(&self) -> Option<Lsn> {
        let lsn = self.dirty.load(Ordering::Acquire) & !FLUSHING;
        (lsn != 0).then_some(Lsn(lsn))
    }

    /// Whether the page may leave memory as far as its content is concerned.
    pub fn is_clean(&self) -> bool {
        self.dirty.load(Ordering::Acquire) == 0
    }

    /// A copy for the disk has been taken: from here on new changes count anew. Returns the recovery LSN that the
    /// copy answers for.
    ///
    /// On entry: the page is latched shared, and no other copy is under way.
    pub fn begin_flush(&self) -> Option<Lsn> {
        let lsn = self.recovery_lsn()?;
        let before = self.dirty.swap(FLUSHING, Ordering::AcqRel);
        debug_assert_eq!(before, lsn.0, "two flushes of one page at once");
        Some(lsn)
    }

    /// The copy is safe on disk.
    pub fn end_flush(&self) {
        self.dirty.fetch_and(!FLUSHING, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_during_a_flush_counts_anew() {
        let frame = Frame::new();
        frame.set_dirty(|| Lsn(10));
        frame.set_dirty(|| Lsn(20));
        assert_eq!(frame.recovery_lsn(), Some(Lsn(10)));
        assert_eq!(frame.begin_flush(), Some(Lsn(10)));
        assert!(!frame.is_clean());
        frame.set_dirty(|| Lsn(30));
        frame.end_flush();
        assert_eq!(frame.recovery_lsn(), Some(Lsn(30)));
    }
}
