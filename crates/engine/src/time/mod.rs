//! Time: transaction ids, commit times and snapshots; which version does one see, and which versions does nobody see?
//!
//! Above: cursors ask whether a version is visible, writers whether a lock is held, purge how far it may go. Below:
//! words in memory. Nothing here is written to disk: recovery says which id is next and who was undecided.
//!
//! ```text
//!   session: announce --> Snapshot      begin_writer --> commit | rolled_back
//!               |                            |
//!   snapshots: a line a session         next: id      now: the last commit's time
//!               |                            |
//!            horizon  ----- freeze ----> commit table: a word a transaction --> stragglers
//!               |                            |
//!   purge: what ended at or below it    readers: ids below `frozen` need no look
//!
//!
//!   begin:      id = next.fetch_add(1)
//!               table[id] = active
//!
//!   commit:     table[id] = committing
//!               time = now.fetch_add(1) + 1
//!               table[id] = time                      readers who met "committing" wait for this store
//!
//!   roll back:  everything undone
//!               time = now.fetch_add(1) + 1
//!               table[id] = rolled back, time         the time says from which snapshot on nobody meets the id
//!
//!   snapshot:   now
//! ```
//!
//! # Words
//! *Snapshot*: a time; it sees what committed at or below it. *Announced*: purge knows of it. *Horizon*: no snapshot in
//! use or to come is below it. *Frozen*: ended, at or below the horizon. *Straggler*: older than the commit table, and
//! not frozen.
//!
//! # Invariants
//! 1. A snapshot sees a transaction exactly if it committed at or below the snapshot's time; whenever one asks while the
//!    snapshot is announced, the answer is the same. So it sees of each transaction all or nothing, and who sees more is
//!    the later. (`commit_table`, on memory order and on *frozen*; `snapshots`, invariant 3)
//! 2. A snapshot that sees a transaction finds all of its changes in the trees, and one that is at or above the time of
//!    a rollback finds none: changes and undoing come before the `fetch_add` (release), and the snapshot is a load
//!    (acquire) of that value or a later one. Later additions continue the release sequence.
//! 3. Nobody waits but for a committer between two of its own instructions. It may not be running, so one who waits
//!    gives its core away after a while.
//! 4. One thread at a time advances horizon and frozen id; others who come meanwhile go on with what there is.
//!
//! For the callers to keep:
//!
//! 5. Who reads ids from a tree to ask whether they are visible has announced the snapshot before.
//! 6. Nobody says that a transaction was rolled back before the last of its changes was undone.
//!
//! # What it costs
//! A transaction adds one to `next` and one to `now`, a snapshot loads `now`: neither depends on how many transactions
//! are open or how many sessions there are. To look at all sessions' lines does; it is done once in so many commits that
//! each pays for a few lines.
//!
//! # Who begins, unseen
//! Frozen ids could be told from announcements of each session's writer; then one about to take an id would have to
//! announce a lower bound first, and whoever looks at the lines would have to prove that it missed nobody. Instead the
//! commit table says it: an id that has been taken has a word, that word is zero until its owner says something, and a
//! zero is not passed. There is nothing to announce and nothing to miss. The price is a look at each word once in its
//! life.
//!
//! # When things fail
//! Under one snapshot held while as many transactions begin as the commit table has words, no other can begin
//! ([`TableFull`]). Times begin anew with each start of the engine: what was decided before is frozen.
//!
//! # Source and tests
//! The step "committing" is Hekaton's (Diaconu et al., SIGMOD 2013). Model-checked in `tests/loom_time.rs`, run hard in
//! `tests/bank.rs`.

mod commit_table;
mod snapshots;
mod stragglers;

use std::sync::Arc;

use crossbeam_utils::CachePadded;

use self::commit_table::CommitTable;
pub use self::commit_table::State;
use self::snapshots::Snapshots;
pub use self::snapshots::{InUse, Session, Snapshot};
use crate::ids::{CommitTime, TransactionId};
use crate::sync::{AtomicU64, Ordering, Waiter};

/// What the clock says at first; so that every snapshot differs from zero.
const FIRST: CommitTime = CommitTime(1);
/// The lines are looked at again after so many commits at least, ...
const ADVANCE_AFTER: u64 = 64;
/// ... and one commit more for so many lines: so a commit pays for looking at so many.
const LINES_A_COMMIT: u64 = 4;

/// How much there is room for. It is address space; memory is taken where it is used.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Transactions since the oldest snapshot in use, a power of two: eight bytes each.
    pub transactions: u64,
    /// An active writer leaves the commit table when so many have begun after it.
    pub straggles_after: u64,
    /// Threads that may begin a transaction at the same time.
    pub beginners: u64,
    /// Sessions at the same time.
    pub sessions: usize,
}

impl Sizes {
    /// Small enough for tests to go round often.
    pub const SMALL: Self = Self { transactions: 4096, straggles_after: 1024, beginners: 64, sessions: 1024 };
}

impl Default for Sizes {
    fn default() -> Self {
        Self { transactions: 1 << 30, straggles_after: 1 << 20, beginners: 1 << 16, sessions: 1 << 17 }
    }
}

/// No writer can begin: as many as the commit table holds have begun since the oldest snapshot in use was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a snapshot is so old that too many transactions have begun since: it has to end before another can write")]
pub struct TableFull;

/// Ids, times, what became of whom, and who uses which snapshot.
pub struct Time {
    /// The id that the next transaction gets.
    next: CachePadded<AtomicU64>,
    /// The time of the last that ended.
    now: CachePadded<AtomicU64>,
    table: CommitTable,
    snapshots: Snapshots,
    beginners: u64,
    /// 1 while somebody advances the horizon.
    advancing: CachePadded<AtomicU64>,
    /// What the clock said when somebody looked at the lines.
    advanced_at: CachePadded<AtomicU64>,
}

impl Time {
    /// Time after a start. The next transaction gets the id `next` (at least 1); those before have been decided, but for
    /// `undecided`: prepared, or active when the engine stopped. They are active until somebody ends them.
    ///
    /// Errors: the system refuses so much address space.
    pub fn open(next: TransactionId, undecided: &[TransactionId]) -> std::io::Result<Self> {
        Self::open_sized(next, undecided, Sizes::default())
    }

    /// As [`Time::open`], with other sizes.
    pub fn open_sized(next: TransactionId, undecided: &[TransactionId], sizes: Sizes) -> std::io::Result<Self> {
        let word = |value| CachePadded::new(AtomicU64::new(value));
        Ok(Self {
            next: word(next.0),
            now: word(FIRST.0),
            table: CommitTable::open(next, undecided, sizes.transactions, sizes.straggles_after)?,
            snapshots: Snapshots::new(sizes.sessions)?,
            beginners: sizes.beginners,
            advancing: word(0),
            advanced_at: word(0),
        })
    }

    /// A new session; `None` if there are too many.
    pub fn session(self: &Arc<Self>) -> Option<Session> {
        Session::register(Arc::clone(self))
    }

    // ---- transactions -----------------------------------------------------------------------------------------------

    /// A new transaction, active. If there is no room for it, this first looks whether there could be some.
    ///
    /// Errors: there is none, and nothing happened.
    pub fn begin_writer(&self) -> Result<TransactionId, TableFull> {
        // Looked at before, so that no id is taken in vain.
        if !self.has_room() {
            self.make_room()?;
        }
        let id = TransactionId(self.next.fetch_add(1, Ordering::Relaxed));
        self.table.begin(id);
        Ok(id)
    }

    /// Whether there is room for a transaction, and for those of others who look at the same time.
    fn has_room(&self) -> bool {
        self.table.has_room(self.next(), self.beginners)
    }

    /// Returns when there is room. Errors: all has been looked at, and there is none.
    #[cold]
    fn make_room(&self) -> Result<(), TableFull> {
        let mut waiter = Waiter::default();
        while !self.has_room() {
            if !self.try_advance() {
                waiter.wait();
            } else if !self.has_room() {
                return Err(TableFull);
            }
        }
        Ok(())
    }

    /// The id that the next transaction gets.
    pub fn next(&self) -> TransactionId {
        TransactionId(self.next.load(Ordering::Relaxed))
    }

    /// Lets everybody see an active transaction whose fate is in the log.
    pub fn commit(&self, id: TransactionId) -> CommitTime {
        self.table.commit(id, || self.tick())
    }

    /// Ends an active transaction after all that it did was undone: from here on nothing in any tree names it.
    pub fn rolled_back(&self, id: TransactionId) -> CommitTime {
        self.table.rolled_back(id, || self.tick())
    }

    fn tick(&self) -> CommitTime {
        CommitTime(self.now.fetch_add(1, Ordering::Release) + 1)
    }

    // ---- visibility -------------------------------------------------------------------------------------------------

    /// The time of the last that ended: what a snapshot taken at this moment would see.
    #[inline]
    pub fn now(&self) -> CommitTime {
        CommitTime(self.now.load(Ordering::Acquire))
    }

    /// Whether a snapshot sees what `writer` did. On entry: the snapshot is announced, and was when the writer's id was
    /// read from a tree.
    #[inline]
    pub fn is_visible(&self, writer: TransactionId, snapshot: &Snapshot) -> bool {
        if writer == snapshot.own {
            return true;
        }
        match self.state_of(writer) {
            State::Frozen => true,
            State::Committed(time) => time <= snapshot.time,
            State::Active | State::RolledBack(_) => snapshot.is_uncommitted(),
        }
    }

    /// What became of a transaction that was met in a tree: one that is active holds a lock on what it changed.
    ///
    /// *Frozen* means committed to whoever met the id under an announced snapshot, or holds the latch of the page in
    /// which it is: had it been rolled back, it would not be there. To others it means no more than ended.
    #[inline]
    pub fn state_of(&self, writer: TransactionId) -> State {
        let mut waiter = Waiter::default();
        loop {
            match self.table.state(writer) {
                Some(state) => return state,
                None => waiter.wait(),
            }
        }
    }

    // ---- what nobody needs any more ---------------------------------------------------------------------------------

    /// Every snapshot in use or to come is at or above this. It costs one load, and is as new as the last that advanced.
    #[inline]
    pub fn horizon(&self) -> CommitTime {
        self.snapshots.horizon()
    }

    /// All transactions below have ended; what they committed is in every snapshot in use or to come, and what they
    /// rolled back is in no tree. As new as the horizon.
    #[inline]
    pub fn frozen(&self) -> TransactionId {
        self.table.frozen()
    }

    /// Looks how far horizon and frozen id can go, and moves them there, unless somebody does so at this moment. Returns
    /// the horizon.
    pub fn advance(&self) -> CommitTime {
        self.try_advance();
        self.horizon()
    }

    /// As [`Time::advance`], if enough has been committed since the last time. For whoever has just committed.
    #[inline]
    pub fn advance_when_due(&self) {
        let since = self.now().0.saturating_sub(self.advanced_at.load(Ordering::Relaxed));
        if since >= ADVANCE_AFTER && since >= ADVANCE_AFTER + self.snapshots.used() / LINES_A_COMMIT {
            self.try_advance();
        }
    }

    /// Which snapshots are in use now; `None` if somebody else is just looking.
    pub fn snapshots_in_use(&self) -> Option<InUse> {
        let mut listed = Vec::new();
        let below = self.try_advance_showing(|snapshot| listed.push(snapshot))?;
        listed.sort_unstable();
        Some(InUse { below, listed })
    }

    /// False if somebody else was at it.
    fn try_advance(&self) -> bool {
        self.try_advance_showing(|_| {}).is_some()
    }

    /// Returns what the clock said; `None` if somebody else was at it.
    fn try_advance_showing(&self, show: impl FnMut(CommitTime)) -> Option<CommitTime> {
        if self.advancing.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return None;
        }
        let now = self.now();
        self.advanced_at.store(now.0, Ordering::Relaxed);
        let horizon = self.snapshots.advance(now, show);
        self.table.freeze(horizon, self.next());
        self.advancing.store(0, Ordering::Release);
        Some(now)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn time() -> Arc<Time> {
        Arc::new(Time::open_sized(TransactionId(1), &[], Sizes::SMALL).unwrap())
    }

    #[test]
    fn a_snapshot_sees_what_committed_before_it_and_itself() {
        let time = time();
        let [before, during, own, gone] = [(); 4].map(|()| time.begin_writer().unwrap());
        let sees = |snapshot: &Snapshot| [before, during, own, gone].map(|id| time.is_visible(id, snapshot));
        let [mut first, mut second] = [(); 2].map(|()| time.session().unwrap());
        time.commit(before);
        let snapshot = first.announce().with_own(own);
        time.commit(during);
        time.rolled_back(gone);
        assert_eq!(sees(&snapshot), [true, false, true, false]);
        assert_eq!(sees(&second.announce()), [true, true, false, false]);
        assert!(time.is_visible(TransactionId::NOBODY, &snapshot));
    }

    #[test]
    fn read_uncommitted_sees_whatever_is_there() {
        let time = time();
        let [active, committed, frozen] = [(); 3].map(|()| time.begin_writer().unwrap());
        time.commit(frozen);
        time.advance();
        time.commit(committed);
        assert!([active, committed, frozen].iter().all(|&id| time.is_visible(id, &Snapshot::UNCOMMITTED)));
    }

    #[test]
    fn who_waits_for_a_lock_learns_what_became_of_its_holder() {
        let time = time();
        let [first, second] = [(); 2].map(|()| time.begin_writer().unwrap());
        assert_eq!(time.state_of(first), State::Active);
        let committed = time.commit(first);
        assert_eq!(time.state_of(first), State::Committed(committed));
        let rolled_back = time.rolled_back(second);
        assert_eq!(time.state_of(second), State::RolledBack(rolled_back));
        time.advance();
        assert_eq!([first, second].map(|id| time.state_of(id)), [State::Frozen; 2]);
    }

    #[test]
    fn without_room_no_id_is_taken() {
        let time = time();
        let mut session = time.session().unwrap();
        session.announce();
        let mut begun = 0;
        while let Ok(id) = time.begin_writer() {
            time.commit(id);
            begun += 1;
        }
        let next = time.next();
        assert_eq!(begun, Sizes::SMALL.transactions - Sizes::SMALL.beginners - 1);
        assert_eq!((time.begin_writer(), time.next()), (Err(TableFull), next));
        session.withdraw();
        assert_eq!(time.begin_writer(), Ok(next));
    }
}
