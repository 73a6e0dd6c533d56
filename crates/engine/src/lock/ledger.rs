//! Where an owner's entries are, so that it finds them when it ends; others may add to it while it does.
//!
//! Above: `owner` has one for its row locks. Below: `sync`. An owner that has nothing in the lock table finds that out
//! with one load: that is how every transaction without conflicts ends.
//!
//! # Who adds
//! ```text
//!   the owner itself                when it is granted something                                      add
//!   one who splits or joins a gap   while it sees, under a shard's mutex, an entry of the owner's     add
//!   one who meets the owner's id    in a row's header: the lock was implicit and is made explicit     add_while
//! ```
//!
//! # Invariants
//! 1. `any` is true while there are entries. It is written under the mutex only.
//! 2. Whoever ends first makes itself inactive for all to see, then calls [`Ledger::take`] until it gives nothing.
//!    After that, nothing is ever added for what it was before.
//!
//! # Why 2 holds
//! For `add_while`: the adder sets `any`, fences, asks whether the owner is active; the owner becomes inactive, fences,
//! looks at `any`. Both fences are sequentially consistent, so one comes first. If it is the adder's, the owner sees
//! `any` and goes to the mutex, which the adder holds from before it set `any` until the entry is in: the owner takes
//! it. If it is the owner's, the adder is told "inactive" and adds nothing.
//!
//! For the `add` of others: they saw an entry of the owner's under its shard's mutex and added before they left that
//! mutex. The owner has to come there to remove the entry, and looks at the ledger once more afterwards.
//!
//! # Tests
//! Model-checked in `tests/loom_lock.rs`, and there also without a fence, to see that it is noticed.

use super::sync::{AtomicBool, Mutex, Ordering, fence};

/// How far back [`Ledger::forget`] looks.
const RECENT: usize = 8;

/// A list of entries to which others may add.
pub struct Ledger<T> {
    any: AtomicBool,
    entries: Mutex<Vec<T>>,
}

impl<T> Default for Ledger<T> {
    fn default() -> Self {
        Self { any: AtomicBool::new(false), entries: Mutex::new(Vec::new()) }
    }
}

impl<T> Ledger<T> {
    /// Adds an entry. On entry: the caller is the owner, or sees another entry of its under that one's shard mutex.
    pub fn add(&self, entry: T) {
        let mut entries = self.entries.lock();
        self.any.store(true, Ordering::Relaxed);
        entries.push(entry);
    }

    /// Adds an entry for an owner that may be about to end; false, and nothing is added, if it is no longer active.
    ///
    /// `is_still_active` runs under a mutex: it may only look.
    pub fn add_while(&self, entry: T, is_still_active: impl FnOnce() -> bool) -> bool {
        let mut entries = self.entries.lock();
        self.any.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if is_still_active() {
            entries.push(entry);
            return true;
        }
        self.any.store(!entries.is_empty(), Ordering::Relaxed);
        false
    }

    /// Whether nothing is in it: as its owner sees it, what others are adding at this moment aside.
    pub fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Relaxed)
    }

    /// Takes everything out. Who ends has become inactive before, and calls this until it gives nothing.
    pub fn take(&self) -> Vec<T> {
        fence(Ordering::SeqCst);
        if !self.any.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let mut entries = self.entries.lock();
        self.any.store(false, Ordering::Relaxed);
        std::mem::take(&mut *entries)
    }

    /// Forgets one of the latest entries, if there is such a one: what was locked a moment ago is given back. An older
    /// one stays and is found to lead nowhere when the owner ends.
    pub fn forget(&self, is_it: impl Fn(&T) -> bool) {
        let mut entries = self.entries.lock();
        let recent = entries.len().saturating_sub(RECENT);
        if let Some(back) = entries[recent..].iter().rposition(is_it) {
            entries.remove(recent + back);
        }
        self.any.store(!entries.is_empty(), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_taken_once() {
        let ledger = Ledger::default();
        assert!(ledger.take().is_empty());
        ledger.add(1);
        assert!(ledger.add_while(2, || true));
        assert!(!ledger.add_while(3, || false));
        assert_eq!(ledger.take(), [1, 2]);
        assert!(ledger.take().is_empty());
    }

    #[test]
    fn the_latest_can_be_forgotten() {
        let ledger = Ledger::default();
        (0..20).for_each(|entry| ledger.add(entry));
        ledger.forget(|&entry| entry == 15);
        ledger.forget(|&entry| entry == 2);
        let entries = ledger.take();
        assert_eq!(entries.len(), 19);
        assert!(!entries.contains(&15) && entries.contains(&2));
    }
}
