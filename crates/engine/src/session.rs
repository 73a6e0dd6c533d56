//! A session: one who reads and changes rows, one transaction after the other.
//!
//! ```text
//!   begin -> read, change, savepoint, roll back to -> commit | roll back
//!              |      |
//!       snapshot      id, undo records, locks: from the first change on
//! ```
//!
//! # Isolation
//! A consistent read sees a snapshot: READ COMMITTED takes one for each statement, REPEATABLE READ with the first read of
//! the transaction, READ UNCOMMITTED looks at what is there. Locking reads and changes look at the newest committed row.
//!
//! # Invariants
//! 1. A transaction that has changed nothing has no id, writes nothing, and ends with one store.
//! 2. The order of a commit: its fate in undo, its time, its locks, purge, and last the wait until it is durable. Others
//!    may see it before it is durable; but what they commit comes behind it in the log.
//! 3. Whatever fails, the records that say how to undo what was done are there first. (`undo`)
//!
//! # When things fail
//! A statement that fails is undone by its caller ([`Session::roll_back_to`]), a deadlock's victim whole. If undoing fails,
//! for storage has stopped, the next start undoes.

use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use meseta_storage::{Durability, Lsn};

use crate::catalog::{Schema, TableHandle, TableHandles};
use crate::core::Core;
use crate::error::{EngineError, Result};
use crate::ids::{SlotNo, TableId, TransactionId};
use crate::lock::{LockError, OnConflict, Outcome, Owner, OwnerId, Suspension, TableMode};
use crate::page_wait::PageWait;
use crate::purge::Ended;
use crate::rows::Cascade;
use crate::sorted_runs::SortedRuns;
use crate::table::{Scratch, Table};
use crate::thin::thin_slot;
use crate::time::{self, Snapshot};
use crate::undo::{Fate, Remains, begin_record};

/// A commit purges until so many records have gone, once enough transactions wait: those of many small ones, or of one large.
const PURGED_A_COMMIT: usize = 512;

/// As many transactions as each commit thins: one more than it adds.
const THINNED_A_COMMIT: usize = 2;

/// What a consistent read sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Isolation {
    /// Whatever is there.
    ReadUncommitted,
    /// What had been committed when the statement began.
    ReadCommitted,
    /// What had been committed at the transaction's first read.
    #[default]
    RepeatableRead,
    /// As REPEATABLE READ; the layer above makes each read a locking one.
    Serializable,
}

/// A place in a transaction to which it can be rolled back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Savepoint {
    /// The number that the next undo record had.
    pub(crate) number: u64,
}

/// What a transaction that changes something has.
pub(crate) struct Writing {
    pub id: TransactionId,
    /// The number of the next undo record.
    pub next: u64,
    /// Rows changed, for the choice of a deadlock's victim.
    pub rows: u64,
    /// Rows have been deleted: the ones that are inserted may come into their places.
    pub has_deleted: bool,
}

/// Ends a session's waits, from any thread, and tells what it has: for KILL and for lists of transactions.
#[derive(Clone, Debug)]
pub struct Canceller(Arc<Owner>);

impl Canceller {
    /// Ends the wait for a lock that is under way, if there is one, and refuses others until [`Canceller::pardon`].
    pub fn cancel(&self) {
        self.0.kill();
    }

    /// Forgets that: the statement it was meant for has ended.
    pub fn pardon(&self) {
        self.0.pardon();
    }

    /// Whose locks the session's are, in reports.
    pub fn owner(&self) -> OwnerId {
        self.0.id()
    }

    /// The transaction's id, once it has changed something.
    pub fn transaction(&self) -> Option<TransactionId> {
        self.0.transaction()
    }

    /// Rows that the transaction has changed.
    pub fn rows_changed(&self) -> u64 {
        self.0.weight()
    }
}

/// One who reads and changes rows.
pub struct Session {
    pub(crate) core: Arc<Core>,
    pub(crate) owner: Arc<Owner>,
    pub(crate) page_wait: PageWait,
    pub(crate) slot: SlotNo,
    pub(crate) writing: Option<Writing>,
    /// An undo record under way.
    pub(crate) record: Vec<u8>,
    /// A delta that goes into it.
    pub(crate) delta: Vec<u8>,
    /// An entry's value under way.
    pub(crate) value: Vec<u8>,
    /// An entry's value, looked at again.
    pub(crate) again: Vec<u8>,
    pub(crate) scratch: Scratch,
    /// Whether foreign keys are checked: foreign_key_checks.
    pub(crate) checks_foreign_keys: bool,
    /// The rows whose changes cascade now, one because of the one before it.
    pub(crate) cascades: Vec<Cascade>,
    /// How many rows foreign keys have changed.
    pub(crate) rows_followed: u64,
    /// Whether another row is expected to be in the way of the next that is inserted.
    pub(crate) expects_conflict: bool,
    /// The schema as last seen, and its version.
    schema: (u64, Arc<Schema>),
    handles: TableHandles,
    line: time::Session,
    snapshot: Option<Snapshot>,
    announcements: u64,
    isolation: Isolation,
    durability: Durability,
    lock_wait: Duration,
    table_wait: Duration,
}

impl Session {
    pub(crate) fn new(core: &Arc<Core>) -> Result<Self> {
        let line = core.time.session().ok_or(EngineError::TooManySessions)?;
        let number = core.next_owner();
        Ok(Self {
            owner: Owner::new(OwnerId(number), number as usize),
            page_wait: PageWait::default(),
            slot: core.next_slot(),
            core: Arc::clone(core),
            line,
            writing: None,
            record: Vec::new(),
            delta: Vec::new(),
            value: Vec::new(),
            again: Vec::new(),
            scratch: Scratch::default(),
            checks_foreign_keys: true,
            cascades: Vec::new(),
            rows_followed: 0,
            expects_conflict: false,
            schema: core.catalog.schema(),
            handles: TableHandles::default(),
            snapshot: None,
            announcements: 0,
            isolation: Isolation::default(),
            durability: Durability::default(),
            lock_wait: Duration::from_secs(50),
            table_wait: Duration::from_secs(50),
        })
    }

    /// Sets what consistent reads see from the next statement on. Between transactions, or the snapshot stays.
    pub fn set_isolation(&mut self, isolation: Isolation) {
        self.isolation = isolation;
        self.owner.set_keeps_gaps(isolation >= Isolation::RepeatableRead);
    }

    /// What consistent reads see.
    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Sets how durable a commit is to be when it returns.
    pub fn set_durability(&mut self, durability: Durability) {
        self.durability = durability;
    }

    /// Sets how long this session waits for a table.
    pub fn set_table_wait(&mut self, limit: Duration) {
        self.table_wait = limit;
    }

    /// Whether anything has been read, changed or locked since the last transaction ended.
    pub fn is_in_use(&self) -> bool {
        self.snapshot.is_some() || self.writing.is_some() || self.core.locks.has_tables(&self.owner)
    }

    /// Sets how long this session waits for a row.
    pub fn set_lock_wait(&mut self, limit: Duration) {
        self.lock_wait = limit;
    }

    /// Sets whether foreign keys are checked.
    pub fn set_checks_foreign_keys(&mut self, checks: bool) {
        self.checks_foreign_keys = checks;
    }

    /// Who ends this session's waits from other threads.
    pub fn canceller(&self) -> Canceller {
        Canceller(Arc::clone(&self.owner))
    }

    pub(crate) fn on_conflict(&self) -> OnConflict {
        OnConflict::Wait(self.lock_wait)
    }

    /// Whether the transaction has changed or locked rows, or gaps between them.
    pub fn holds_rows(&self) -> bool {
        self.writing.is_some() || self.owner.holds_rows()
    }

    /// How many rows foreign keys have changed since the session began, because those that they refer to were changed.
    pub fn rows_followed(&self) -> u64 {
        self.rows_followed
    }

    // ---- waits without a thread -------------------------------------------------------------------------------------

    /// Who calls back from waits without a thread ([`OnConflict::Suspend`], [`Session::find_row_into`]). Said once; without it
    /// there are none.
    pub fn set_waker(&mut self, waker: Waker) {
        self.owner.set_waker(waker);
    }

    /// For how long the session will wait at most, if its statement is suspended and nothing has called it back.
    pub fn suspended_for(&self) -> Option<Duration> {
        self.page_wait.suspended_for().or_else(|| self.core.locks.suspended_for(&self.owner))
    }

    /// Comes back to the wait of a statement that was suspended, and says what became of it, if there is one.
    ///
    /// # Errors
    /// It goes on ([`LockError::Suspended`]), or has failed.
    pub(crate) fn resume_wait(&mut self) -> Result<Option<Outcome>, LockError> {
        match self.core.locks.resume(&self.owner) {
            Suspension::None => Ok(None),
            Suspension::Waits(_) => Err(LockError::Suspended),
            Suspension::Over(ended) => ended.map(Some),
        }
    }

    /// A statement that was suspended is not executed again, or came to its end without a look at what it waited for.
    pub fn give_up_wait(&mut self) {
        self.page_wait = PageWait::default();
        self.core.locks.give_up(&self.owner);
    }

    /// The transaction's id, once it has changed something.
    pub fn transaction(&self) -> Option<TransactionId> {
        self.writing.as_ref().map(|writing| writing.id)
    }

    // ---- snapshots --------------------------------------------------------------------------------------------------

    /// A statement begins: READ COMMITTED reads anew.
    pub fn begin_statement(&mut self) {
        if self.isolation <= Isolation::ReadCommitted {
            self.snapshot = None;
        }
    }

    /// What a consistent read of this statement sees; taken now, if it has not been yet (WITH CONSISTENT SNAPSHOT).
    pub fn snapshot(&mut self) -> Snapshot {
        let own = self.transaction().unwrap_or(TransactionId::NOBODY);
        if self.isolation == Isolation::ReadUncommitted {
            return Snapshot::UNCOMMITTED.with_own(own);
        }
        let snapshot = self.snapshot.unwrap_or_else(|| self.announce());
        self.snapshot.insert(snapshot).with_own(own)
    }

    fn announce(&mut self) -> Snapshot {
        self.announcements += 1;
        self.line.announce()
    }

    /// How often a time has been announced: what was read before the last is not to be looked at any more, but by a snapshot.
    pub(crate) fn announcements(&self) -> u64 {
        self.announcements
    }

    /// What has been committed so far, if the transaction has no snapshot that is to be kept.
    pub(crate) fn snapshot_of_now(&mut self) -> Option<Snapshot> {
        let own = self.transaction().unwrap_or(TransactionId::NOBODY);
        self.snapshot.is_none().then(|| self.announce().with_own(own))
    }

    /// For those who look at newest versions: from here on, an id that they meet and that is frozen has committed. (`time`;
    /// this is not the transaction's snapshot, which is taken with its first consistent read, as in InnoDB.)
    pub(crate) fn announce_now(&mut self) {
        if self.snapshot.is_none() {
            self.announce();
        }
    }

    /// Whether another row is to be expected in the way of the next that is inserted; from there on, what was the case with the last one is.
    /// Who expects none, and meets one, has written an undo record for nothing, and commits it.
    pub fn expect_conflict(&mut self, is_expected: bool) {
        self.expects_conflict = is_expected;
    }

    /// A statement may be about to come: what most of them begin with is brought near.
    pub fn prefetch(&self) {
        meseta_prefetch::value(&*self.owner);
        self.handles.prefetch();
        self.line.prefetch();
    }

    /// A statement is there: of what [`Session::prefetch`] asked for, what that refers to.
    pub fn prefetch_tables(&self) {
        self.handles.prefetch_held();
    }

    // ---- tables -----------------------------------------------------------------------------------------------------

    /// All that there is now.
    pub fn schema(&mut self) -> &Arc<Schema> {
        if self.schema.0 != self.core.catalog.version() {
            self.schema = self.core.catalog.schema();
            self.handles.keep_those_of(&self.schema.1);
        }
        &self.schema.1
    }

    /// Entries of the caller's that are to be sorted, with so many bytes of them in memory: what there is beyond goes to a temporary file
    /// of the store.
    pub fn sorted_runs(&self, memory: usize) -> SortedRuns {
        SortedRuns::new(&self.core.store, memory)
    }

    /// Another number whenever something is defined anew.
    pub fn schema_version(&self) -> u64 {
        self.core.catalog.version()
    }

    /// Enters a table: its definition stays what it is until the transaction ends. `None` if it is not there.
    pub fn use_table(&mut self, id: TableId, mode: TableMode) -> Result<Option<TableHandle>> {
        self.owner.enter_from_here();
        // The usual way: in no word that other threads write.
        if let Some(handle) = self.handles.get(id).cloned() {
            self.core.locks.lock_table(&self.owner, &handle.lock, mode, OnConflict::Wait(self.table_wait))?;
            if self.schema.0 == self.core.catalog.version() {
                return Ok(Some(handle));
            }
        }
        let Some(lock) = self.schema().table(id).map(|table| Arc::clone(&table.lock)) else { return Ok(None) };
        self.core.locks.lock_table(&self.owner, &lock, mode, OnConflict::Wait(self.table_wait))?;
        let Some(table) = self.schema().table(id).cloned() else {
            self.core.locks.release_table(&self.owner, &lock, None);
            return Ok(None);
        };
        Ok(Some(self.handles.get_or_add(id, &table).clone()))
    }

    /// Leaves a table before the transaction ends, or keeps of it what `mode` allows.
    pub(crate) fn leave_table(&self, table: &Table, mode: Option<TableMode>) {
        self.core.locks.release_table(&self.owner, &table.lock, mode);
    }

    /// The transaction has ended, and the tables that the session has entered for it stay its own from one transaction to the
    /// next: LOCK TABLES. [`Session::release_tables`] gives them back.
    ///
    /// An error means that a table could not be had; then the session has none.
    pub fn keep_tables(&mut self, tables: &[(TableId, TableMode)]) -> Result<bool> {
        // In one order, so that two who lock the same do not wait for each other.
        let mut sorted = tables.to_vec();
        sorted.sort_unstable_by_key(|(id, mode)| (*id, *mode != TableMode::Exclusive));
        for (id, mode) in sorted {
            match self.use_table(id, mode) {
                Ok(Some(_)) => {}
                failed => {
                    self.commit()?;
                    return failed.map(|_| false);
                }
            }
        }
        self.core.locks.keep_tables(&self.owner);
        Ok(true)
    }

    /// Gives back the tables that were kept. On entry: no transaction is under way.
    pub fn release_tables(&mut self) {
        self.core.locks.release_kept_tables(&self.owner);
        self.core.locks.release_tables(&self.owner);
    }

    // ---- savepoints -------------------------------------------------------------------------------------------------

    /// A place to which the transaction can be rolled back.
    pub fn savepoint(&self) -> Savepoint {
        Savepoint { number: self.writing.as_ref().map_or(0, |writing| writing.next) }
    }

    /// Undoes all changes made since. Locks are kept, as in InnoDB.
    pub fn roll_back_to(&mut self, savepoint: Savepoint) -> Result<()> {
        self.give_up_wait();
        let Some(writing) = &self.writing else { return Ok(()) };
        let (id, numbers) = (writing.id, savepoint.number..writing.next);
        self.owner.pardon();
        self.undo_records(id, numbers, false)
    }

    // ---- ends -------------------------------------------------------------------------------------------------------

    /// Commits. When this returns, the commit is as durable as was asked for.
    ///
    /// An error after the decision is the engine's stop: whether the commit survives is for the next start to see.
    pub fn commit(&mut self) -> Result<()> {
        match self.commit_without_waiting()? {
            None => Ok(()),
            Some(end) => Ok(self.core.store.commit(end, self.durability)?),
        }
    }

    /// Commits, and waits for nothing that is to be flushed: the answer is then the end of what must be durable before
    /// anybody is told of the commit (`Store::on_durable`). `None`: it is as durable as was asked for.
    pub fn commit_deferred(&mut self) -> Result<Option<Lsn>> {
        let Some(end) = self.commit_without_waiting()? else { return Ok(None) };
        if self.durability == Durability::Flush {
            return Ok(Some(end));
        }
        self.core.store.commit(end, self.durability)?;
        Ok(None)
    }

    /// The end of what must be durable, if the transaction has changed something.
    fn commit_without_waiting(&mut self) -> Result<Option<Lsn>> {
        let durable = match self.writing.take() {
            None => None,
            // It never came to write: nothing names its id.
            Some(Writing { id, next: 0, .. }) => {
                self.forget(id);
                None
            }
            Some(writing) => Some(self.decide(writing)?),
        };
        self.end();
        let Some(end) = durable else { return Ok(None) };
        self.core.time.advance_when_due();
        let core = &*self.core;
        if !core.purge.is_due(self.slot) {
            return Ok(Some(end));
        }
        // What cannot be purged now is tried again; the commit does not fail for it.
        let horizon = core.time.horizon();
        let purged = core.purge.purge(self.slot, PURGED_A_COMMIT, horizon, &core.undo, &core.indexes, &core.locks);
        if matches!(purged, Ok(0)) {
            let _ = thin_slot(core, self.slot, THINNED_A_COMMIT);
        }
        Ok(Some(end))
    }

    /// From here on the transaction is committed, for all to see. Returns what must be durable.
    fn decide(&mut self, writing: Writing) -> Result<Lsn> {
        let core = &*self.core;
        let end = match core.undo.decide(self.slot, writing.id, Fate::Committed) {
            Ok(end) => end,
            Err(error) => {
                self.writing = Some(writing);
                return Err(error.into());
            }
        };
        let time = core.time.commit(writing.id);
        core.writers.remove(writing.id);
        core.purge.add(self.slot, Ended { transaction: writing.id, time, last: writing.next - 1 });
        Ok(end)
    }

    /// Undoes everything.
    pub fn roll_back(&mut self) -> Result<()> {
        self.give_up_wait();
        if let Some(writing) = &self.writing {
            let (id, numbers) = (writing.id, 0..writing.next);
            self.undo_records(id, numbers, true)?;
            self.forget(id);
            self.writing = None;
        }
        self.end();
        Ok(())
    }

    /// Nothing names this id any more.
    fn forget(&self, id: TransactionId) {
        self.core.time.rolled_back(id);
        self.core.writers.remove(id);
    }

    /// Gives back what a transaction has, once it is not active any more.
    fn end(&mut self) {
        self.core.locks.release_all(&self.owner);
        self.core.locks.release_tables(&self.owner);
        self.owner.set_transaction(None);
        self.owner.set_weight(0);
        self.owner.pardon();
        self.snapshot = None;
        self.line.withdraw();
    }

    /// Hands the transaction over, with its locks: the session goes on as if it had ended. Returns whose the locks are.
    pub(crate) fn give_away(&mut self) -> Arc<Owner> {
        let number = self.core.next_owner();
        let owner = std::mem::replace(&mut self.owner, Owner::new(OwnerId(number), number as usize));
        if let Some(waker) = owner.waker() {
            self.owner.set_waker(waker.clone());
        }
        self.owner.set_keeps_gaps(owner.keeps_gaps());
        self.writing = None;
        self.end();
        owner
    }

    // ---- the first change -------------------------------------------------------------------------------------------

    /// The transaction's id; it gets one if it has none.
    pub(crate) fn begin_writing(&mut self) -> Result<TransactionId> {
        if let Some(writing) = &self.writing {
            return Ok(writing.id);
        }
        let id = self.core.begin_writer()?;
        self.core.writers.add(id, Arc::clone(&self.owner));
        self.owner.set_transaction(Some(id));
        self.writing = Some(Writing { id, next: 0, rows: 0, has_deleted: false });
        Ok(id)
    }

    /// Writes `self.record` as the transaction's next undo record; returns its number.
    pub(crate) fn append_record(&mut self) -> Result<u64> {
        let Some(writing) = &mut self.writing else { unreachable!("a transaction that writes has begun to") };
        let core = &*self.core;
        if writing.next == 0 && !core.undo.may_be_first(self.slot, self.record.len()) {
            let mut first = Vec::new();
            begin_record(Fate::Active, &mut first);
            core.undo.append(self.slot, writing.id, 0, &first)?;
            writing.next = 1;
        }
        let number = writing.next;
        core.undo.append(self.slot, writing.id, number, &self.record)?;
        writing.next = number + 1;
        Ok(number)
    }
}

impl Drop for Session {
    /// A session that goes in the middle of a transaction rolls it back; if that fails, the engine tries again.
    fn drop(&mut self) {
        self.core.locks.release_kept_tables(&self.owner);
        if self.roll_back().is_ok() {
            return;
        }
        let core = &self.core;
        if let Some(Writing { id, next, .. }) = self.writing.take() {
            let last = next.saturating_sub(1);
            core.cut_off.add(Remains { slot: self.slot, transaction: id, fate: Fate::Active, last, name: None });
            if core.store.health().is_ok() {
                // Its rows are locked until then, and its tables.
                return;
            }
            // Storage has stopped, and the next start undoes. Those who wait for it hear that from storage.
            core.writers.remove(id);
        }
        core.locks.release_all(&self.owner);
        core.locks.release_tables(&self.owner);
    }
}
