//! Who reads at which snapshot: what purge has to know, and nobody else.
//!
//! Above: sessions announce, and `time`, which has the clock, asks for the horizon.
//!
//! ```text
//!   lines, one a session:  | 17 | 0 | 21 | 21 | 0 | 18 |    0: no snapshot in use
//!
//!   reader                               purge
//!     time = now                           limit = now
//!     line = time                          fence
//!     fence                                horizon = min(limit, all lines in use)
//!     limit <= time?  else again
//! ```
//!
//! *Horizon*: every snapshot in use or to come is at or above it. What is older than what a snapshot at the horizon sees,
//! nobody sees.
//!
//! # Invariants
//! 1. A session's line is its own: who announces has `&mut Session`. What it had read under the snapshot before, it does
//!    not use under the next.
//! 2. `limit` is never above the clock. Neither it nor the horizon goes back; only one thread at a time moves them.
//! 3. An announced snapshot is at or above the horizon until it is withdrawn.
//!
//! # Why (the third)
//! Take a reader that announced `time` and found `limit` at or below it, and any move of the horizon. The two fences are
//! sequentially consistent, so one comes first.
//!
//! - The reader's: then the look at the lines, after the other fence, finds `time` or what the line held later; and the
//!   horizon does not go beyond what it finds. If it is something later, the reader has done with `time`: its reads
//!   came before the next store to the line (release), which was seen (acquire), so what purge does comes after them.
//! - The mover's: then the reader's look at `limit`, after its own fence, finds this `limit` or a later one. It is at or
//!   below `time`, and the horizon of this move is at or below the limit.
//!
//! In both cases this move's horizon is at or below `time`, if the snapshot is in use after it. A session that registers
//! raises `used` before it announces anything, so the same two cases hold for whether its line is looked at.
//!
//! A reader that found a higher limit tries again: the limit was read from the clock and stored (release), so the clock
//! it reads next is at the limit at least, and does not pass the time that is still in the line for announced. It fails
//! again only if the limit was moved again.
//!
//! # What it costs
//! A store to one's own line, a fence, and two loads of words that few write; nothing but two loads if nothing committed
//! since the last. To look at all lines costs a few nanoseconds for each: `time` does it once in so many commits.
//!
//! # Source and tests
//! The handshake is that of hazard pointers (Michael, 2004) and epochs (Fraser, 2004), with times in the place of both.
//! Model-checked in `tests/loom_time.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use super::Time;
use crate::ids::{CommitTime, TransactionId};
use crate::sync::{AtomicU64, Mutex, Ordering, Words, fence};

/// Words from one line to the next: two cache lines, since processors fetch pairs.
const LINE: usize = if cfg!(loom) { 1 } else { 16 };
const NONE: u64 = 0;

/// A state of the database: what had been committed at a time, and what one transaction has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// Commits at or below this are in it.
    pub time: CommitTime,
    /// The reader's own transaction, or nobody: its changes are in it.
    pub own: TransactionId,
}

impl Snapshot {
    /// Sees whatever is there, ended or not: READ UNCOMMITTED. Who uses it reads the newest versions only, so there is
    /// nothing to announce.
    pub const UNCOMMITTED: Self = Self { time: CommitTime(u64::MAX), own: TransactionId::NOBODY };

    /// The same with the changes of the reader's own transaction.
    pub fn with_own(self, own: TransactionId) -> Self {
        Self { own, ..self }
    }

    pub(super) fn is_uncommitted(&self) -> bool {
        self.time == Self::UNCOMMITTED.time
    }
}

/// The lines of all sessions.
pub struct Snapshots {
    lines: Words,
    /// Sessions have lines below this.
    used: CachePadded<AtomicU64>,
    /// Lines below `used` that no session has. The lowest is given first, so that there is little to look at.
    free: Mutex<BTreeSet<usize>>,
    edges: CachePadded<Edges>,
}

/// Read with each announcement; written once in so many commits.
struct Edges {
    limit: AtomicU64,
    horizon: AtomicU64,
}

impl Snapshots {
    /// No sessions, and room for `max_sessions`. Errors: the system refuses that much address space.
    pub fn new(max_sessions: usize) -> std::io::Result<Self> {
        Ok(Self {
            lines: Words::reserve(max_sessions * LINE)?,
            used: CachePadded::new(AtomicU64::new(0)),
            free: Mutex::new(BTreeSet::new()),
            edges: CachePadded::new(Edges { limit: AtomicU64::new(0), horizon: AtomicU64::new(0) }),
        })
    }

    fn line(&self, line: usize) -> &AtomicU64 {
        self.lines.get(line * LINE)
    }

    /// How many lines there are to look at.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Acquire)
    }

    /// A line for a new session, if there is room for it.
    fn register(&self) -> Option<usize> {
        let mut free = self.free.lock();
        if let Some(line) = free.pop_first() {
            return Some(line);
        }
        let line = self.used() as usize;
        if (line + 1) * LINE > self.lines.len() {
            return None;
        }
        self.used.store(line as u64 + 1, Ordering::Release);
        Some(line)
    }

    /// Takes a line back. No snapshot is announced in it.
    fn unregister(&self, line: usize) {
        let mut free = self.free.lock();
        free.insert(line);
        let mut used = self.used() as usize;
        while free.last().is_some_and(|&last| last + 1 == used) {
            free.pop_last();
            used -= 1;
        }
        self.used.store(used as u64, Ordering::Release);
    }

    /// Announces what `now` says. Returns it.
    fn announce(&self, line: usize, now: impl Fn() -> CommitTime) -> CommitTime {
        let line = self.line(line);
        loop {
            let time = now();
            if line.load(Ordering::Relaxed) == time.0 {
                // It is announced already, and since.
                return time;
            }
            line.store(time.0, Ordering::Release);
            fence(Ordering::SeqCst);
            if self.edges.limit.load(Ordering::Acquire) <= time.0 {
                return time;
            }
        }
    }

    fn withdraw(&self, line: usize) {
        self.line(line).store(NONE, Ordering::Release);
    }

    /// The horizon, as far as somebody has looked.
    #[inline]
    pub fn horizon(&self) -> CommitTime {
        CommitTime(self.edges.horizon.load(Ordering::Acquire))
    }

    /// Looks at all lines, and moves the horizon as far as `limit` at most, which the clock has said. On entry: nobody
    /// else is in here.
    ///
    /// Shows each snapshot that is announced. Every snapshot in use or to come is one of these, or at or above `limit`: the
    /// third invariant's two cases hold for each of them.
    pub fn advance(&self, CommitTime(limit): CommitTime, mut show: impl FnMut(CommitTime)) -> CommitTime {
        debug_assert!(limit >= self.edges.limit.load(Ordering::Relaxed), "the clock does not go back");
        self.edges.limit.store(limit, Ordering::Release);
        fence(Ordering::SeqCst);
        let announced = (0..self.used() as usize).map(|line| self.line(line).load(Ordering::Acquire));
        let announced = announced.filter(|&time| time != NONE).inspect(|&time| show(CommitTime(time)));
        let oldest = announced.min().unwrap_or(limit).min(limit);
        let before = self.edges.horizon.load(Ordering::Relaxed);
        if oldest > before {
            self.edges.horizon.store(oldest, Ordering::Release);
        }
        CommitTime(oldest.max(before))
    }
}

/// Which snapshots are in use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InUse {
    /// Those that are not listed are at or above this, now and later.
    pub below: CommitTime,
    /// The others, ascending.
    pub listed: Vec<CommitTime>,
}

impl InUse {
    /// Those of them that are below a time: `below` is the first of the others.
    pub fn older_than(mut self, time: CommitTime) -> Self {
        let older = self.listed.partition_point(|&snapshot| snapshot < time);
        self.below = self.listed.get(older).copied().unwrap_or(self.below);
        self.listed.truncate(older);
        self
    }

    /// Whether a snapshot may see what was committed at one time and replaced by a commit at another.
    pub fn is_seen(&self, from: CommitTime, until: CommitTime) -> bool {
        let first = self.listed.partition_point(|&snapshot| snapshot < from);
        until > self.below || self.listed.get(first).is_some_and(|&snapshot| snapshot < until)
    }
}

/// One who reads: a line to announce snapshots in.
pub struct Session {
    time: Arc<Time>,
    line: usize,
}

impl Session {
    /// A new session; `None` if there are too many.
    pub(super) fn register(time: Arc<Time>) -> Option<Self> {
        let line = time.snapshots.register()?;
        Some(Self { time, line })
    }

    /// Has its line brought near.
    pub fn prefetch(&self) {
        meseta_prefetch::value(self.time.snapshots.line(self.line));
    }

    /// Announces what is committed now, in the place of the snapshot announced before: nothing that a snapshot at or
    /// above this one sees will be purged. Never waits for a lock.
    ///
    /// READ COMMITTED does this with each statement, REPEATABLE READ with the first consistent read. The snapshot, and
    /// what was read under it, may be used until the next announcement or until it is withdrawn.
    #[inline]
    pub fn announce(&mut self) -> Snapshot {
        let time = self.time.snapshots.announce(self.line, || self.time.now());
        Snapshot { time, own: TransactionId::NOBODY }
    }

    /// The announced snapshot is not used any more.
    pub fn withdraw(&mut self) {
        self.time.snapshots.withdraw(self.line);
    }

    /// The time of the announced snapshot.
    pub fn announced(&self) -> Option<CommitTime> {
        let time = self.time.snapshots.line(self.line).load(Ordering::Relaxed);
        (time != NONE).then_some(CommitTime(time))
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.withdraw();
        self.time.snapshots.unregister(self.line);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::Sizes;
    use super::*;

    fn time(sessions: usize) -> Arc<Time> {
        Arc::new(Time::open_sized(TransactionId(1), &[], Sizes { sessions, ..Sizes::SMALL }).unwrap())
    }

    fn commit_one(time: &Time) -> CommitTime {
        time.commit(time.begin_writer().unwrap())
    }

    #[test]
    fn the_horizon_is_the_oldest_snapshot_in_use() {
        let time = time(8);
        let [mut first, mut second] = [(); 2].map(|()| time.session().unwrap());
        let early = first.announce().time;
        let late = commit_one(&time);
        assert_eq!(second.announce().time, late);
        commit_one(&time);
        assert_eq!(time.advance(), early);
        first.withdraw();
        assert_eq!(time.horizon(), early, "nobody has looked");
        assert_eq!(time.advance(), late);
        let now = second.announce().time;
        assert!(now > late && second.announced() == Some(now));
        assert_eq!(time.advance(), now);
        drop(second);
        let last = commit_one(&time);
        assert_eq!((time.advance(), time.horizon()), (last, last));
    }

    #[test]
    fn a_version_is_seen_by_a_snapshot_between_its_commit_and_the_next() {
        let in_use = InUse { below: CommitTime(90), listed: [17, 40, 40].map(CommitTime).into() };
        let is_seen = |from, until| in_use.is_seen(CommitTime(from), CommitTime(until));
        assert!(is_seen(9, 30) && is_seen(17, 18) && is_seen(30, 41) && is_seen(40, 88));
        assert!(!is_seen(18, 40) && !is_seen(41, 90) && !is_seen(9, 17));
        assert!(is_seen(88, 91), "a snapshot to come may be at 90");
        let older = in_use.clone().older_than(CommitTime(40));
        assert_eq!(older, InUse { below: CommitTime(40), listed: [17].map(CommitTime).into() });
        assert_eq!(in_use.clone().older_than(CommitTime(41)), in_use);
    }

    #[test]
    fn lines_are_used_again_and_the_last_ones_are_not_looked_at() {
        let time = time(3);
        let mut sessions: Vec<_> = (0..3).map(|_| time.session().unwrap()).collect();
        assert!(time.session().is_none());
        sessions.remove(0);
        assert_eq!(time.snapshots.used(), 3);
        assert_eq!(time.session().unwrap().line, 0);
        sessions.remove(0);
        assert_eq!(time.snapshots.used(), 3);
        sessions.clear();
        assert_eq!(time.snapshots.used(), 0);
    }

    #[test]
    fn a_session_that_ends_leaves_no_snapshot_behind() {
        let time = time(2);
        let mut session = time.session().unwrap();
        session.announce();
        drop(session);
        let last = commit_one(&time);
        assert_eq!(time.advance(), last);
    }
}
