//! How often and how long somebody waited for a lock, by what it was and by index or table.
//!
//! As in `meseta_storage::wait`: who does not wait pays nothing, and a wait is counted when it ends, however it ends.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// What was waited for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WaitKind {
    /// A row.
    Record,
    /// A row and the gap below it.
    NextKey,
    /// To insert into a gap.
    InsertIntention,
    /// A table.
    Table,
}

impl WaitKind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [WaitKind; 4] = [WaitKind::Record, WaitKind::NextKey, WaitKind::InsertIntention, WaitKind::Table];

    /// The kind's name, as reports show it.
    pub fn name(self) -> &'static str {
        match self {
            WaitKind::Record => "lock/record",
            WaitKind::NextKey => "lock/next_key",
            WaitKind::InsertIntention => "lock/insert_intention",
            WaitKind::Table => "lock/table",
        }
    }
}

/// Waits of one kind at one index or table, or at all.
#[derive(Default)]
pub struct WaitCounter {
    count: AtomicU64,
    nanoseconds: AtomicU64,
    /// The longest, in nanoseconds.
    longest: AtomicU64,
}

impl WaitCounter {
    /// A wait has ended.
    pub fn add(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        self.longest.fetch_max(nanoseconds, Ordering::Relaxed);
    }

    pub(super) fn figures(&self, kind: WaitKind) -> WaitFigures {
        WaitFigures {
            kind,
            count: self.count.load(Ordering::Relaxed),
            total: Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed)),
            longest: Duration::from_nanos(self.longest.load(Ordering::Relaxed)),
        }
    }
}

/// One kind's figures at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitFigures {
    /// What was waited for.
    pub kind: WaitKind,
    /// Waits that have ended.
    pub count: u64,
    /// Their total time.
    pub total: Duration,
    /// The longest one's time.
    pub longest: Duration,
}

/// The figures of all kinds, in the order of [`WaitKind::ALL`].
pub(super) fn figures(counters: &[WaitCounter; WaitKind::ALL.len()]) -> Vec<WaitFigures> {
    WaitKind::ALL.iter().zip(counters).map(|(&kind, counter)| counter.figures(kind)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_counted_and_the_longest_is_kept() {
        let counter = WaitCounter::default();
        [30, 70, 50].map(Duration::from_millis).into_iter().for_each(|time| counter.add(time));
        let (kind, millis) = (WaitKind::Record, Duration::from_millis);
        let expected = WaitFigures { kind, count: 3, total: millis(150), longest: millis(70) };
        assert_eq!(counter.figures(kind), expected);
    }
}
