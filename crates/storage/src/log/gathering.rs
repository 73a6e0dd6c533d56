//! Commits that gather, so that one sync serves them all.
//!
//! ```text
//!   commit, commit, ..           begin or join those who gather                    add
//!   no more work?                the log is synced up to the last of them          all
//!   more work that is at hand?   only if they have waited for PATIENCE syncs,      are_due
//!                                or LONGEST
//! ```
//!
//! A sync costs the processors as much as several commits: two requests to the device, and an interrupt of each. While there is
//! other work that keeps all of them busy nobody is served sooner by a sync for a few; where there is none, each sync that
//! begins later is a loss.
//!
//! # Invariants
//! 1. Nothing here is more than advice on when to sync: whoever gathers sees to it that somebody asks for it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::ids::Lsn;

/// So many times the length of a sync, the write before it included, commits may wait for others. (Two brought less with 64 and
/// 512 clients that update an indexed column.)
const PATIENCE: u32 = 3;
/// No commit waits longer for others, in case that one sync took very long. One that always does takes little of the processors.
const LONGEST: Duration = Duration::from_millis(1);

/// Up to where commits have gathered. Times are since the log was opened.
#[derive(Default)]
pub(super) struct Gathering {
    /// The end of the last one.
    end: AtomicU64,
    /// When the first of them came, in nanoseconds.
    since: AtomicU64,
    /// How many nanoseconds the last sync took, with the writes that it made durable.
    sync_time: AtomicU64,
}

impl Gathering {
    /// A commit whose log ends there. `seen_to`: up to where the log is durable, or somebody has asked for it.
    pub(super) fn add(&self, end: Lsn, seen_to: Lsn, now: impl FnOnce() -> Duration) {
        let before = self.end.fetch_max(end.0, Ordering::Relaxed);
        if before <= seen_to.0 {
            self.since.store(now().as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// Where they end.
    pub(super) fn all(&self) -> Lsn {
        Lsn(self.end.load(Ordering::Relaxed))
    }

    /// Whether they have waited long enough.
    pub(super) fn are_due(&self, now: Duration) -> bool {
        let nanoseconds = |of: &AtomicU64| Duration::from_nanos(of.load(Ordering::Relaxed));
        let patience = nanoseconds(&self.sync_time).saturating_mul(PATIENCE).min(LONGEST);
        now.saturating_sub(nanoseconds(&self.since)) >= patience
    }

    /// A sync, with the writes that it made durable, has taken so long.
    pub(super) fn synced_in(&self, time: Duration) {
        self.sync_time.store(time.as_nanos() as u64, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_wait_for_as_long_as_three_syncs_take_and_not_longer_than_a_millisecond() {
        let micros = Duration::from_micros;
        let gathering = Gathering::default();
        gathering.synced_in(micros(100));
        gathering.add(Lsn(10), Lsn(0), || micros(1000));
        gathering.add(Lsn(20), Lsn(0), || unreachable!("it is not the first"));
        assert_eq!(gathering.all(), Lsn(20));
        assert!(!gathering.are_due(micros(1299)));
        assert!(gathering.are_due(micros(1300)));
        // Those have been seen to: the next is the first again.
        gathering.add(Lsn(30), Lsn(20), || micros(2000));
        assert!(!gathering.are_due(micros(2299)));
        gathering.synced_in(Duration::from_secs(5));
        assert!(!gathering.are_due(micros(2999)));
        assert!(gathering.are_due(micros(3000)));
    }
}
