//! What the pool knows of each page: its state word, whether and since when it is dirty, and where.
//!
//! The dirty word: zero when the page equals its copy on disk; else the *recovery LSN* (where redo would have to
//! start for it), with the top bit set while a copy of it is on its way to disk. The changed sectors: where the page differs
//! from the last copy that was taken of it for the disk.
//!
//! # Invariants
//! 1. The recovery LSN is set, under the exclusive latch, before the change's log record is reserved; so it is at
//!    or below that record's position, and a checkpoint that reads the log's end first and the dirty words after
//!    sees it (`cleaner::oldest_recovery_lsn`).
//! 2. A page leaves memory only while its dirty word is zero: not when newer than its copy on disk, and not when
//!    that copy is still being written.
//! 3. Sectors are added under the exclusive latch and taken under a shared one, so the latch orders these accesses; outside the
//!    set the page is, byte by byte, the copy taken last, or what was read from disk if there was none.

use super::memory::Zeroed;
use crate::ids::Lsn;
use crate::latch::Latch;
use crate::page::sectors::Sectors;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

const FLUSHING: u64 = 1 << 63;

/// One page's entry.
#[repr(C)]
pub struct Frame {
    /// The state word.
    pub latch: Latch,
    dirty: AtomicU64,
    changed: AtomicU32,
}

// SAFETY: a zero latch is evicted, a zero dirty word is clean, and zero stands for no sectors.
unsafe impl Zeroed for Frame {}

impl Frame {
    /// The entry of a page that is not in memory.
    #[cfg(any(test, loom))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { latch: Latch::new(), dirty: AtomicU64::new(0), changed: AtomicU32::new(0) }
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

    /// Notes where the page has changed.
    ///
    /// On entry: the page is latched exclusively, and dirty if it has changed.
    pub fn add_changed(&self, sectors: Sectors) {
        let mut changed = Sectors::from_bits(self.changed.load(Ordering::Relaxed));
        changed.add(sectors);
        self.changed.store(changed.bits(), Ordering::Relaxed);
    }

    /// A copy for the disk is being taken: from here on new changes count anew. Returns where the page differs from the
    /// copy before; `None` if it is clean.
    ///
    /// On entry: the page is latched shared, and no other copy is under way.
    pub fn begin_flush(&self) -> Option<Sectors> {
        let lsn = self.recovery_lsn()?;
        let before = self.dirty.swap(FLUSHING, Ordering::AcqRel);
        debug_assert_eq!(before, lsn.0, "two flushes of one page at once");
        let changed = self.changed.load(Ordering::Relaxed);
        self.changed.store(0, Ordering::Relaxed);
        Some(Sectors::from_bits(changed))
    }

    /// The copy is safe on disk.
    pub fn end_flush(&self) {
        self.dirty.fetch_and(!FLUSHING, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sectors(bits: u32) -> Sectors {
        Sectors::from_bits(bits)
    }

    #[test]
    fn a_change_during_a_flush_counts_anew() {
        let frame = Frame::new();
        frame.set_dirty(|| Lsn(10));
        frame.add_changed(sectors(0b001));
        frame.set_dirty(|| Lsn(20));
        frame.add_changed(sectors(0b100));
        assert_eq!(frame.recovery_lsn(), Some(Lsn(10)));
        assert_eq!(frame.begin_flush(), Some(sectors(0b101)));
        assert!(!frame.is_clean());
        frame.set_dirty(|| Lsn(30));
        frame.add_changed(sectors(0b010));
        frame.end_flush();
        assert_eq!(frame.recovery_lsn(), Some(Lsn(30)));
        assert_eq!(frame.begin_flush(), Some(sectors(0b010)));
    }
}
