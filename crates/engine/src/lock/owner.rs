//! Who has locks: a session's transaction, whether it has changed anything or not.
//!
//! Above: the engine makes one for each session (and for each transaction found by recovery) and uses it for one
//! transaction after another. A transaction that only locks has no `TransactionId`, so owners have ids of their own.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use parking_lot::Mutex;

use super::LockError;
use super::index::{IndexLocks, Place};
use super::ledger::Ledger;
use super::row_wait::RowWait;
use super::seat::Seat;
use super::table::Hold;
use crate::ids::TransactionId;

/// How many threads have a number.
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// This thread's number.
    static THREAD: usize = THREADS.fetch_add(1, Ordering::Relaxed);
}

/// An owner's name. Never used again while the engine runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct OwnerId(pub u64);

/// One who asks for locks, holds them and gives them back, one thread at a time.
pub struct Owner {
    id: OwnerId,
    /// Where it enters tables.
    stripe: AtomicUsize,
    transaction: AtomicU64,
    weight: AtomicU64,
    keeps_gaps: AtomicBool,
    pub(super) seat: Seat,
    /// Who calls it back from a wait without a thread.
    waker: OnceLock<Waker>,
    /// That wait. Used by its own thread; a mutex for the compiler, and locked with nothing else.
    pub(super) suspended: Mutex<Option<Box<RowWait>>>,
    /// Where its entries at keys are. Some may be there no more.
    pub(super) rows: Ledger<Arc<Place>>,
    /// The indexes where it has spans, or had. Only its own thread adds to them.
    pub(super) spans: Ledger<Arc<IndexLocks>>,
    /// Its tables. Used by its own thread; a mutex for the compiler, and outermost of all.
    pub(super) tables: Mutex<Vec<Hold>>,
}

impl Owner {
    /// An owner without locks. `stripe` says where it enters tables, until that is [said anew](Owner::enter_from_here).
    pub fn new(id: OwnerId, stripe: usize) -> Arc<Self> {
        Arc::new(Self {
            id,
            stripe: AtomicUsize::new(stripe),
            transaction: AtomicU64::new(0),
            weight: AtomicU64::new(0),
            keeps_gaps: AtomicBool::new(true),
            seat: Seat::default(),
            waker: OnceLock::new(),
            suspended: Mutex::default(),
            rows: Ledger::default(),
            spans: Ledger::default(),
            tables: Mutex::default(),
        })
    }

    /// Its name.
    pub fn id(&self) -> OwnerId {
        self.id
    }

    /// Where it enters tables: a number for [`super::TableLock`]'s stripes.
    pub(super) fn stripe(&self) -> usize {
        self.stripe.load(Ordering::Relaxed)
    }

    /// From now on it enters tables where this thread does, and as few others as there are stripes for.
    pub fn enter_from_here(&self) {
        self.stripe.store(THREAD.with(|number| *number), Ordering::Relaxed);
    }

    pub(super) fn is(&self, other: &Owner) -> bool {
        std::ptr::eq(self, other)
    }

    /// The id of its transaction, once that has changed something.
    pub fn transaction(&self) -> Option<TransactionId> {
        Some(TransactionId(self.transaction.load(Ordering::Relaxed))).filter(|id| id.0 != 0)
    }

    /// Says which transaction's locks these are from now on: for reports only.
    pub fn set_transaction(&self, id: Option<TransactionId>) {
        self.transaction.store(id.map_or(0, |id| id.0), Ordering::Relaxed);
    }

    /// How much would be lost with it: rows changed. The least of a deadlock's members is its victim.
    pub fn weight(&self) -> u64 {
        self.weight.load(Ordering::Relaxed)
    }

    /// Says how much would be lost with it.
    pub fn set_weight(&self, rows_changed: u64) {
        self.weight.store(rows_changed, Ordering::Relaxed);
    }

    /// Whether a lock on a row becomes a lock on the gap that the row leaves when it is removed.
    pub fn keeps_gaps(&self) -> bool {
        self.keeps_gaps.load(Ordering::Relaxed)
    }

    /// Says so: false for READ COMMITTED and below, whose only gap locks are those asked for.
    pub fn set_keeps_gaps(&self, keeps: bool) {
        self.keeps_gaps.store(keeps, Ordering::Relaxed);
    }

    /// Who calls it back from waits without a thread; without one it has none.
    pub fn waker(&self) -> Option<&Waker> {
        self.waker.get()
    }

    /// Says so, once.
    pub fn set_waker(&self, waker: Waker) {
        let _ = self.waker.set(waker);
    }

    /// Whether it may have entries at keys, or spans: a look at each.
    pub fn holds_rows(&self) -> bool {
        !self.rows.is_empty() || !self.spans.is_empty()
    }

    /// How often it has begun to wait: who reads on beyond a wait knows by this that there was one.
    pub fn waits(&self) -> u64 {
        self.seat.begun()
    }

    /// Ends its wait, and keeps it from waiting again until [`Owner::pardon`]: KILL.
    pub fn kill(&self) {
        self.seat.kill();
    }

    /// For work that does not wait. Error: `Killed`.
    pub fn check_killed(&self) -> Result<(), LockError> {
        if self.seat.is_killed() { Err(LockError::Killed) } else { Ok(()) }
    }

    /// Forgets a kill: the statement that it was meant for has ended.
    pub fn pardon(&self) {
        self.seat.pardon();
    }
}

impl std::fmt::Debug for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.id)
    }
}
