//! The latch order, written once and walked by debug builds.
//!
//! # Invariant
//! 1. A thread that *waits* for a latch or mutex asks only for a rank after every rank it holds. A `try_`
//!    acquisition cannot wait and may step out of order, but counts as held. Why this order:
//!    docs/latch-order.md.
//!
//! Tree pages are peers: several may be held, and all but the first are taken with `try_`, so that no cycle can
//! form (`btree::structure`).

use std::sync::Arc;

use crate::wait::{WaitEvent, WaitEvents};

/// Ranks, outermost first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rank {
    /// The mutex under which the data file grows.
    Extend,
    /// The mutex of the one who writes pages back and moves the checkpoint.
    Cleaner,
    /// A page of a tree or of an overflow chain.
    TreePage,
    /// A page of the space map.
    SpaceMapPage,
    /// The mutex over the allocator's memory.
    Space,
    /// The mutex of the one who syncs the log.
    LogFlusher,
    /// The mutex of the one who writes the log.
    LogWriter,
    /// The mutex of the one who fills a new log with zeroes.
    LogFilling,
    /// The mutex over those who wait for the log.
    LogWaiters,
}

#[cfg(debug_assertions)]
thread_local! {
    static HELD: std::cell::RefCell<Vec<Rank>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// Asserts that this thread may wait for `rank`.
pub fn may_wait(rank: Rank) {
    #[cfg(debug_assertions)]
    HELD.with_borrow(|held| {
        if let Some(&inner) = held.iter().max() {
            assert!(inner < rank, "latch order: holding {inner:?}, about to wait for {rank:?}");
        }
    });
    #[cfg(not(debug_assertions))]
    let _ = rank;
}

/// Asserts that this thread holds nothing: it is about to wait for the disk or for another thread's progress.
pub fn holds_nothing_from(rank: Rank) {
    #[cfg(debug_assertions)]
    HELD.with_borrow(|held| {
        if let Some(&inner) = held.iter().max() {
            assert!(inner < rank, "latch order: holding {inner:?} across a long wait");
        }
    });
    #[cfg(not(debug_assertions))]
    let _ = rank;
}

/// Records that this thread now holds `rank`.
pub fn acquired(rank: Rank) {
    #[cfg(debug_assertions)]
    HELD.with_borrow_mut(|held| held.push(rank));
    #[cfg(not(debug_assertions))]
    let _ = rank;
}

/// Records that this thread no longer holds one `rank`.
pub fn released(rank: Rank) {
    #[cfg(debug_assertions)]
    HELD.with_borrow_mut(|held| {
        let at = held.iter().rposition(|&r| r == rank).expect("released a rank that was not held");
        held.swap_remove(at);
    });
    #[cfg(not(debug_assertions))]
    let _ = rank;
}

/// A mutex with a place in the latch order.
pub struct RankedMutex<T> {
    rank: Rank,
    /// Where waits for it are counted.
    counted: Option<(Arc<WaitEvents>, WaitEvent)>,
    inner: parking_lot::Mutex<T>,
}

/// Holds a [`RankedMutex`].
pub struct RankedGuard<'m, T> {
    rank: Rank,
    inner: parking_lot::MutexGuard<'m, T>,
}

impl<T> RankedMutex<T> {
    /// A mutex of this rank.
    pub fn new(rank: Rank, value: T) -> Self {
        Self { rank, counted: None, inner: parking_lot::Mutex::new(value) }
    }

    /// Counts waits for the mutex as `event`.
    pub fn counted(self, waits: &Arc<WaitEvents>, event: WaitEvent) -> Self {
        Self { counted: Some((Arc::clone(waits), event)), ..self }
    }

    /// Waits for the mutex.
    pub fn lock(&self) -> RankedGuard<'_, T> {
        may_wait(self.rank);
        let inner = self.inner.try_lock().unwrap_or_else(|| {
            let _waiting = self.counted.as_ref().map(|(waits, event)| waits.begin(*event));
            self.inner.lock()
        });
        acquired(self.rank);
        RankedGuard { rank: self.rank, inner }
    }

    /// Takes the mutex if nobody holds it.
    pub fn try_lock(&self) -> Option<RankedGuard<'_, T>> {
        let inner = self.inner.try_lock()?;
        acquired(self.rank);
        Some(RankedGuard { rank: self.rank, inner })
    }
}

impl<T> std::ops::Deref for RankedGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.inner
    }
}

impl<T> std::ops::DerefMut for RankedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<T> Drop for RankedGuard<'_, T> {
    fn drop(&mut self) {
        released(self.rank);
    }
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn out_of_order_is_caught() {
        let space = RankedMutex::new(Rank::Space, ());
        let extend = RankedMutex::new(Rank::Extend, ());
        {
            let _outer = extend.lock();
            let _inner = space.lock();
        }
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _outer = space.lock();
            let _inner = extend.lock();
        }));
        assert!(caught.is_err());
    }

    #[test]
    fn trying_may_step_out_of_order() {
        let space = RankedMutex::new(Rank::Space, ());
        let _outer = space.lock();
        // What a `try_` does on success.
        acquired(Rank::Extend);
        released(Rank::Extend);
    }
}
