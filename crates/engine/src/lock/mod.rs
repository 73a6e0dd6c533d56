//! Row and table locks: who holds what, who waits for whom.
//!
//! Above: transactions and statements. Beside: trees, whose leaves are latched while the lock table is asked, and the
//! commit table, which knows who is active. Below: nothing of ours; the lock table never looks at a row.
//!
//! ```text
//!                 LockTable
//!      +-------+-------+-------+-----+                       Owner
//!      | shard | shard | shard | ... |                   seat   ledger   tables
//!      +-------+-------+-------+-----+                     |       |        |
//!          |  by hash of index and key                     |       |        |
//!        Queue of one key: granted | waiting  <--- where it sleeps |        |
//!          ^                                                       |        |
//!          +---------------------- its places ---------------------+        |
//!      IndexLocks: is anybody in there?   spans                             |
//!      TableLock: stripes | Queue of one table  <---------------------------+
//! ```
//!
//! A writer's lock is its id in the row's header, and is not in here. What is: locks asked for by readers, gaps, and all
//! who wait. So most writers ask an index whether it is *quiet*, one look at a word that hardly anybody writes, and are
//! done; and most transactions have nothing to give back, which is one look too.
//!
//! # How to
//! ```text
//!   read with a lock    latch leaf (shared), find K           header: active writer? unlatch, wait_for_writer(K), again
//!                       lock(K) without waiting             in vain? unlatch, lock(K) and wait, again
//!   and a long way      reach(far), look: keys, writers, is_free?   hold(those up to the first that somebody has)
//!   change a row        latch leaf (exclusively), find K      header: active writer? unlatch, wait_for_writer(K), again
//!                       would_wait(K, record)? unlatch, lock(K), again          write header and row, unlatch
//!   insert N            latch leaf (exclusively), find N's successor K
//!                       would_wait(K, insert intention)? unlatch, lock(K, insert intention), again
//!                       write N, inserted(N, K), unlatch
//!   remove N            latch leaf (exclusively), remove N, removed(N, K), unlatch
//!   undo in part        lock(K, exclusive, record) for each row whose header will name another again
//!   end                 become inactive in the commit table, release_all, release_tables
//! ```
//! *Again* means from the latch on, from the last key that one has. What was waited for is then found held, and asking for
//! it under the latch shows that its key has not been removed meanwhile.
//!
//! A lock that was granted while its leaf was not latched is *provisional* until its owner has looked at the row, which it
//! does next, before it waits for anything else: a writer may have come first whose header it has not seen. If it meets
//! an active writer, [`LockTable::wait_for_writer`] takes the lock back before it waits; if it meets another key than the
//! one that it asked for, it gives the lock back itself, if it is [fresh](Outcome::Granted), by [`LockTable::unlock`]. So
//! to undo in part one may have to wait, but only for those who are about to look: never for long, and in no deadlock.
//! (Whoever was killed is [pardoned](Owner::pardon) first.)
//!
//! Whose header is one's own needs no lock on the row but to undo in part, and asks for the gap at most.
//!
//! The successor may be on another leaf. Then that leaf is latched as well, so that the successor stays what it is; but only
//! an index with gaps has to be told, so only then it is looked for.
//!
//! # Invariants
//! 1. Conflicts are InnoDB's: `claim`. Waiters are served in order: `queue`.
//! 2. No two owners hold locks that conflict, provisional ones aside. A lock is held until its owner ends, but for
//!    [`LockTable::unlock`] and keys that are removed: `gaps`. Rolling back to a savepoint gives nothing back.
//! 3. Either a locker sees the writer, or the writer sees the lock: `index`. Either a transaction that ends sees that its
//!    implicit lock was made explicit, or whoever wanted to do that sees that it has ended: `ledger`.
//! 4. Of every cycle of waits exactly one member is told to give up: `detector`.
//! 5. No mutex in here is held across a wait. In order: an owner's tables; a table's queue, a stripe of it; two shards,
//!    ascending; an index's spans; a ledger; seats, by their owners' ids; the last deadlock. What does not wait may be called under a leaf's
//!    latch, and nothing that takes a latch is called under these.
//!
//! # Failing
//! A wait that fails leaves everything that was held before. Who is told [`LockError::Deadlock`] has to roll back whole,
//! or the cycle stays closed; whoever times out may go on (as in InnoDB, the statement is undone). There is no memory
//! limit in here: an owner that locks a million rows one by one has a million entries of about 200 bytes. Who reads them with
//! the gaps, in order, has a span.
//!
//! # Tests
//! `tests/lock_model.rs` compares with InnoDB's own formulation, `tests/lock_protocol.rs` follows the table above on a tree
//! of one leaf, `tests/lock_stress.rs` keeps a book of who has what, `tests/lock_deadlock.rs` makes cycles.
//!
//! # Sources
//! The MySQL manual, "InnoDB Locking" and "Locks Set by Different SQL Statements in InnoDB"; lock0lock.cc and
//! sql/mdl.cc of MySQL 8.4. We differ: no lock for what a row's header says until somebody waits for it (InnoDB does that
//! for inserts only), one claim an owner and key, first come first served instead of contention-aware scheduling,
//! and after a deadlock whoever is left of it inserts before others lock the gap (`claim`).

mod claim;
mod detector;
mod gaps;
mod index;
mod key_list;
#[cfg(not(loom))]
mod ledger;
#[cfg(loom)]
pub mod ledger;
mod owner;
mod queue;
mod report;
mod row_wait;
mod rows;
mod seat;
mod spans;
mod sync;
mod table;
mod wait;
mod waiters;

#[cfg(all(test, not(loom)))]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_utils::CachePadded;
use foldhash::quality::RandomState;
use meseta_storage::WaitHook;
use parking_lot::Mutex;

pub use self::claim::{Mode, Reach};
pub use self::detector::DeadlockDetector;
pub use self::index::{IndexLocks, Key};
pub use self::owner::{Owner, OwnerId};
pub use self::report::{Deadlock, LockDescription, Locked, Party};
pub use self::row_wait::Suspension;
pub use self::rows::Request;
pub use self::spans::Wanted;
pub use self::table::{TableLock, TableMode};
pub use self::wait::{WaitFigures, WaitKind};

use self::rows::Shard;
use self::seat::Ended;
use self::waiters::Waiters;

/// What to do if a lock cannot be had at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnConflict {
    /// Wait, but not longer than this.
    Wait(Duration),
    /// Wait for a row, but not longer than this, and without the thread: [`LockError::Suspended`]. As [`OnConflict::Wait`] for
    /// who has no [waker](Owner::set_waker).
    Suspend(Duration),
    /// Fail: NOWAIT.
    Fail,
    /// Do without: SKIP LOCKED.
    Skip,
}

/// What came of a request that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The owner has the lock.
    Granted {
        /// Whether it had to wait: then the row may be another.
        waited: bool,
        /// Whether it had no lock on the row itself before, and so may give this one back alone.
        fresh: bool,
    },
    /// It is held by others, and the owner does not want to wait.
    Skipped,
    /// While the owner waited, the key was removed from the index. The owner has no lock.
    KeyGone,
}

impl Outcome {
    /// Whether the owner has the lock.
    pub fn is_granted(self) -> bool {
        matches!(self, Outcome::Granted { .. })
    }
}

/// Why a lock was not had.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LockError {
    /// It is held by others, and the owner does not wait.
    #[error("the lock is held, and NOWAIT is set")]
    WouldWait,
    /// It took too long.
    #[error("lock wait timeout exceeded")]
    Timeout,
    /// The owner was chosen to break a deadlock, and has to roll back.
    #[error("deadlock found when trying to get a lock")]
    Deadlock,
    /// The owner was killed.
    #[error("the wait for a lock was interrupted")]
    Killed,
    /// The owner stands in line, and its thread is not to wait: [`LockTable::resume`].
    #[error("the statement waits for a lock without a thread")]
    Suspended,
}

impl LockError {
    fn of(ended: Ended) -> Option<Self> {
        match ended {
            Ended::Granted | Ended::KeyGone => None,
            Ended::TimedOut => Some(Self::Timeout),
            Ended::Deadlock => Some(Self::Deadlock),
            Ended::Killed => Some(Self::Killed),
        }
    }
}

/// All locks of an engine.
pub struct LockTable {
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    hasher: RandomState,
    waiters: Waiters,
    deadlocks: AtomicU64,
    last_deadlock: Mutex<Option<Arc<Deadlock>>>,
}

impl LockTable {
    /// An empty table. As many shards as a few times the cores.
    pub fn new(shards: usize) -> Self {
        assert!(shards > 0, "a lock table has at least one shard");
        Self {
            shards: (0..shards).map(|_| CachePadded::default()).collect(),
            hasher: RandomState::default(),
            waiters: Waiters::new(),
            deadlocks: AtomicU64::new(0),
            last_deadlock: Mutex::new(None),
        }
    }

    /// The same, with something to call around waits.
    pub fn with_wait_hook(mut self, hook: WaitHook) -> Self {
        self.waiters.hook = hook;
        self
    }

    /// How many owners wait now.
    pub fn waiting(&self) -> usize {
        self.waiters.number()
    }

    /// How often and how long anybody waited, by kind.
    pub fn wait_figures(&self) -> Vec<WaitFigures> {
        wait::figures(self.waiters.counters())
    }

    /// How many waits took too long.
    pub fn timeouts(&self) -> u64 {
        self.waiters.timeouts()
    }

    /// How many deadlocks were broken.
    pub fn deadlocks(&self) -> u64 {
        self.deadlocks.load(Ordering::Relaxed)
    }

    /// The deadlock that was broken last.
    pub fn last_deadlock(&self) -> Option<Arc<Deadlock>> {
        self.last_deadlock.lock().clone()
    }

    /// Panics if an invariant does not hold. Stops one shard after the other: for tests.
    pub fn check(&self) {
        self.shards.iter().for_each(|shard| shard.lock().check());
    }

    fn shard_no(&self, hash: u64) -> usize {
        // Not the bits by which the shard's map sorts.
        (hash >> 24) as u32 as usize % self.shards.len()
    }

    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        &self.shards[self.shard_no(hash)]
    }
}
