//! A counter that never gives a number twice, not even after a crash.
//!
//! ```text
//!   given ............ next ......... bound                    the root tree has the bound
//!                        ^ fetch_max / compare and swap
//! ```
//!
//! Numbers are reserved in the root tree some way ahead, so that most are given without writing anything. A crash skips
//! what was reserved and not given; an orderly end skips nothing ([`Counter::settle`]).
//!
//! # Invariants
//! 1. A number is below the bound in the log before it is given.
//! 2. Whatever carries a number is logged after the bound, so if it survives a crash, the bound does.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::error::Result;
use crate::root::Root;

/// A counter.
pub struct Counter {
    name: Box<[u8]>,
    next: AtomicU64,
    /// Numbers below are reserved.
    bound: AtomicU64,
    reserving: Mutex<()>,
}

impl Counter {
    /// The counter of this name in the root tree; a new one begins at `first`.
    pub fn open(root: &Root, name: &[u8], first: u64) -> Result<Self> {
        let next = root.number(name)?.unwrap_or(first);
        Ok(Self {
            name: name.into(),
            next: AtomicU64::new(next),
            bound: AtomicU64::new(next),
            reserving: Mutex::new(()),
        })
    }

    /// The number that would be given next.
    pub fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Gives so many numbers, of which there is at least one, side by side; returns the first. `ahead` are reserved at a time.
    pub fn take(&self, root: &Root, count: u64, ahead: u64) -> Result<u64> {
        let first = self.next.fetch_add(count, Ordering::Relaxed);
        self.reserve(root, first + (count - 1), ahead)?;
        Ok(first)
    }

    /// Gives `count` numbers of the series `offset`, `offset + step`, ... up to `max`; returns the first. `None` if there
    /// are not so many any more.
    pub fn take_series(&self, root: &Root, series: Series, count: u64) -> Result<Option<u64>> {
        loop {
            let next = self.next.load(Ordering::Relaxed);
            let Some((first, last)) = series.from(next).and_then(|first| Some((first, series.last(first, count)?)))
            else {
                return Ok(None);
            };
            // As in InnoDB, the next of the series, though others may want the next of theirs; but not beyond the largest
            // number. Above that there is none: then `next` stays just above it.
            let after = last.saturating_add(series.step).min(series.max).max(last.saturating_add(1));
            if self.next.compare_exchange_weak(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                self.reserve(root, last, series.ahead(last))?;
                return Ok(Some(first));
            }
        }
    }

    /// A number was given by somebody else: this counter goes on above it.
    pub fn raise(&self, root: &Root, number: u64, ahead: u64) -> Result<()> {
        if number < self.next.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.next.fetch_max(number.saturating_add(1), Ordering::Relaxed);
        self.reserve(root, number, ahead)
    }

    /// Begins again, here: nobody may be using the counter.
    pub fn restart(&self, root: &Root, next: u64) -> Result<()> {
        let _reserving = self.reserving.lock();
        root.set_number(&self.name, next)?;
        self.bound.store(next, Ordering::Release);
        self.next.store(next, Ordering::Relaxed);
        Ok(())
    }

    /// Gives back what is reserved and was not given, at an orderly end.
    pub fn settle(&self, root: &Root) -> Result<()> {
        let (next, bound) = (self.next.load(Ordering::Relaxed), self.bound.load(Ordering::Relaxed));
        if next < bound { self.restart(root, next) } else { Ok(()) }
    }

    /// Sees to it that this number is below the bound: for whoever gives it, and has seen to it that nobody else does.
    pub fn reserve(&self, root: &Root, number: u64, ahead: u64) -> Result<()> {
        if number < self.bound.load(Ordering::Acquire) {
            return Ok(());
        }
        self.reserve_slowly(root, number, ahead)
    }

    #[cold]
    fn reserve_slowly(&self, root: &Root, number: u64, ahead: u64) -> Result<()> {
        let _reserving = self.reserving.lock();
        if number < self.bound.load(Ordering::Acquire) {
            return Ok(());
        }
        let bound = number.saturating_add(ahead.max(1));
        root.set_number(&self.name, bound)?;
        self.bound.store(bound, Ordering::Release);
        Ok(())
    }
}

/// The numbers that a column may come to: `offset`, `offset + step`, ..., at most `max`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Series {
    /// The first one: auto_increment_offset.
    pub offset: u64,
    /// From one to the next: auto_increment_increment.
    pub step: u64,
    /// The largest number of the column's type.
    pub max: u64,
}

impl Series {
    /// The first one at or above a number.
    fn from(&self, number: u64) -> Option<u64> {
        let step = self.step.max(1);
        // As MySQL does: an offset above the step means nothing.
        let offset = if self.offset > step { 1 } else { self.offset.max(1) };
        let steps = number.saturating_sub(offset).div_ceil(step);
        steps.checked_mul(step)?.checked_add(offset).filter(|&first| first <= self.max)
    }

    /// The last of `count`, beginning with `first`.
    fn last(&self, first: u64, count: u64) -> Option<u64> {
        let last = self.step.max(1).checked_mul(count.saturating_sub(1))?.checked_add(first)?;
        (last <= self.max).then_some(last)
    }

    /// How many to reserve: a column of a small type is not to lose most of its numbers in a crash.
    pub fn ahead(&self, number: u64) -> u64 {
        (self.max.saturating_sub(number) / 4096).clamp(1, 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_mysqls() {
        let series = |offset, step, max| Series { offset, step, max };
        assert_eq!(series(1, 1, 127).from(0), Some(1));
        assert_eq!(series(1, 1, 127).from(5), Some(5));
        assert_eq!(series(5, 10, 1000).from(1), Some(5));
        assert_eq!(series(5, 10, 1000).from(6), Some(15));
        assert_eq!(series(5, 10, 1000).from(15), Some(15));
        assert_eq!(series(10, 3, 1000).from(2), Some(4), "the offset is ignored if it is above the step");
        assert_eq!(series(1, 1, 127).from(128), None);
        assert_eq!(series(5, 10, 30).last(5, 3), Some(25));
        assert_eq!(series(5, 10, 30).last(5, 4), None);
        assert_eq!(series(1, 1, u64::MAX).last(u64::MAX, 2), None);
    }

    #[test]
    fn few_are_reserved_of_a_small_type() {
        let series = |max| Series { offset: 1, step: 1, max };
        assert_eq!(series(127).ahead(1), 1);
        assert_eq!(series(u64::from(u32::MAX)).ahead(1), 1024);
    }
}
