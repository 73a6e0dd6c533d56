//! An engine: a store in which sessions run transactions.
//!
//! # Opening
//!
//! ```text
//!   store opened, log redone
//!   root: undo trees, ids          created if the store is new; as many slots as it was created with
//!   catalog                        read with a snapshot: what had been committed
//!   trees that nobody names        dropped
//!   remains of transactions        committed: to purge   prepared: keep their locks   active: rolled back behind
//! ```
//!
//! Transactions that a crash cut off are rolled back by the engine's own thread while sessions work: until then their rows
//! are locked, simply because the rows' headers say so.
//!
//! # Threads
//! Two: one breaks deadlocks (`lock`), one undoes what a crash cut off and then purges what commits leave over: what a
//! long snapshot held, and slots that nobody writes to any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use meseta_storage::{Durability, ErrorKind, Report, Store};
use parking_lot::{Condvar, Mutex};

use crate::core::{Core, Parts, TRANSACTIONS};
use crate::counter::Counter;
use crate::ddl;
use crate::error::{EngineError, Result};
use crate::ids::{CommitTime, SlotNo, TransactionId};
use crate::lock::{
    Deadlock, DeadlockDetector, LockDescription, LockTable, OnConflict, Owner, OwnerId, TableMode, WaitFigures,
};
use crate::purge::Ended;
use crate::root::Root;
use crate::rows::TableReport;
use crate::session::Session;
use crate::table::{BytesOnly, Collations, TableDefinition};
use crate::thin::{thin_slot, thin_slot_again};
use crate::time::Time;
use crate::undo::{Fate, Remains, Slots, UndoError, read_record};
use crate::undoing::undo_records;
use crate::xa::Prepared;

/// How long the purging thread rests when there is nothing to do.
const REST: Duration = Duration::from_millis(100);
/// As many transactions of a slot as it purges before it looks whether the engine closes.
const PURGED_A_TURN: usize = 256;

/// A snapshot is old when it has been held for so long: what it keeps is thinned. What younger ones keep is purged soon, and
/// then to have thinned it is work done twice.
const OLD_AFTER: Duration = Duration::from_millis(500);

/// How to open an engine.
#[derive(Clone)]
pub struct EngineOptions {
    /// How text compares.
    pub collations: Arc<dyn Collations>,
    /// Undo trees of a new engine: several times the cores, since whoever is interrupted at a tree's right edge keeps the
    /// others of its slot waiting; each takes an extent.
    pub slots: u16,
    /// Shards of the lock table: a few times the cores.
    pub lock_shards: usize,
}

impl Default for EngineOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from).clamp(1, 1024);
        let slots = (16 * cores).clamp(64, 1024) as u16;
        Self { collations: Arc::new(BytesOnly), slots, lock_shards: 16 * cores }
    }
}

/// Waits of one kind, for a table or in one of its indexes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockWaits {
    /// The database.
    pub database: String,
    /// The table.
    pub table: String,
    /// The index; `None` for the table itself.
    pub index: Option<String>,
    /// How often, how long, for what.
    pub figures: WaitFigures,
}

/// What a check of everything found.
#[derive(Clone, Debug)]
pub struct EngineReport {
    /// Pages and trees.
    pub store: Report,
    /// Tables: database, name, and what was found.
    pub tables: Vec<(String, String, TableReport)>,
}

impl EngineReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.store.problems.is_empty() && self.tables.iter().all(|(.., table)| table.problems.is_empty())
    }
}

/// A store in which sessions run transactions.
pub struct Engine {
    core: Arc<Core>,
    housekeeper: Housekeeper,
    _detector: DeadlockDetector,
}

impl Engine {
    /// Opens the engine in a store.
    pub fn open(store: Store, options: EngineOptions) -> Result<Engine> {
        let root = Root::new(store.root_tree());
        let undo = Slots::new(open_slots(&store, &root, options.slots)?);
        let transactions = Counter::open(&root, TRANSACTIONS, 1)?;
        let remains = undo.remains()?;
        let undecided: Vec<TransactionId> =
            remains.iter().filter(|left| left.fate != Fate::Committed).map(|left| left.transaction).collect();
        let failed = |what| move |error| EngineError::Storage(ErrorKind::setup(what)(error).into());
        let next = TransactionId(transactions.next());
        let time = Time::open(next, &undecided).map_err(failed("reserving memory for transactions"))?;
        let locks = Arc::new(LockTable::new(options.lock_shards).with_wait_hook(store.wait_hook()));
        let detector = DeadlockDetector::start(&locks).map_err(failed("starting a thread"))?;
        let system = ddl::open_system(&store, &root)?;
        let core = Arc::new(Core::new(Parts {
            store,
            root,
            time: Arc::new(time),
            undo,
            locks,
            transactions,
            collations: options.collations,
            system,
        })?);
        let schema = ddl::load(&core)?;
        ddl::drop_orphans(&core.store, &core.root, &schema)?;
        core.catalog.publish(schema);
        for left in remains {
            take_up(&core, left)?;
        }
        let housekeeper = Housekeeper::start(&core).map_err(failed("starting a thread"))?;
        Ok(Engine { core, housekeeper, _detector: detector })
    }

    /// Gives back what was reserved ahead, so that the next start skips no numbers. Without this nothing is lost. On entry:
    /// nobody uses the engine.
    pub fn settle(&self) -> Result<()> {
        let (_, schema) = self.core.catalog.schema();
        schema.tables().try_for_each(|table| table.auto_increment.settle(&self.core.root))?;
        Ok(self.core.store.commit(self.core.store.log_end(), Durability::Flush)?)
    }

    /// A new session.
    pub fn session(&self) -> Result<Session> {
        Session::new(&self.core)
    }

    /// The store below.
    pub fn store(&self) -> &Store {
        &self.core.store
    }

    /// The names of prepared transactions: XA RECOVER.
    pub fn prepared(&self) -> Vec<Vec<u8>> {
        self.core.prepared.names()
    }

    /// Commits a prepared transaction: XA COMMIT. Errors: `NoSuchXid`.
    pub fn commit_prepared(&self, name: &[u8]) -> Result<()> {
        self.core.commit_prepared(name)
    }

    /// Rolls a prepared transaction back: XA ROLLBACK. Errors: `NoSuchXid`.
    pub fn roll_back_prepared(&self, name: &[u8]) -> Result<()> {
        self.core.roll_back_prepared(name)
    }

    /// How often and how long anybody waited for a lock, by table, index and kind; those for which nobody waited are left
    /// out.
    pub fn lock_waits(&self) -> Vec<LockWaits> {
        let (_, schema) = self.core.catalog.schema();
        let mut waits = Vec::new();
        for table in schema.tables() {
            let mut add = |index: Option<&str>, figures: WaitFigures| {
                if figures.count > 0 {
                    let definition = &table.definition;
                    let (database, table) = (definition.database.clone(), definition.name.clone());
                    waits.push(LockWaits { database, table, index: index.map(str::to_owned), figures });
                }
            };
            add(None, table.lock.wait_figures());
            for (definition, index) in table.definition.indexes.iter().zip(&table.indexes) {
                index.index.locks.wait_figures().into_iter().for_each(|figures| add(Some(&definition.name), figures));
            }
        }
        waits
    }

    /// The deadlock that was broken last: who held what, and who waited for it.
    pub fn last_deadlock(&self) -> Option<Arc<Deadlock>> {
        self.core.locks.last_deadlock()
    }

    /// Every lock that is held or waited for: on rows, on gaps, on tables. Not all of one moment.
    pub fn locks(&self) -> Vec<LockDescription> {
        let mut all = self.core.locks.row_locks();
        let (_, schema) = self.core.catalog.schema();
        for table in schema.tables() {
            all.extend(table.lock.locks());
            all.extend(table.indexes.iter().flat_map(|index| index.index.locks.span_locks()));
        }
        all
    }

    /// Deadlocks that were broken, and waits for a lock that took too long.
    pub fn lock_failures(&self) -> (u64, u64) {
        (self.core.locks.deadlocks(), self.core.locks.timeouts())
    }

    /// Waits for locks that have ended, by kind, of all tables and indexes.
    pub fn lock_wait_totals(&self) -> Vec<WaitFigures> {
        self.core.locks.wait_figures()
    }

    /// The number that the next transaction that changes something may get, about.
    pub fn next_transaction(&self) -> u64 {
        self.core.next_transaction()
    }

    /// How many sessions wait for a lock now.
    pub fn waiting(&self) -> usize {
        self.core.locks.waiting()
    }

    /// Transactions whose undo records have not been purged.
    pub fn unpurged(&self) -> usize {
        self.core.purge.waiting()
    }

    /// Transactions that a crash cut off and that have not been rolled back yet.
    pub fn cut_off(&self) -> usize {
        self.core.cut_off.count()
    }

    /// Checks every page, every tree, and every index against its table. On entry: no session is at work. Purge waits.
    pub fn check(&self) -> Result<EngineReport> {
        let _no_purge = self.housekeeper.shared.turn.lock();
        let store = self.core.store.check()?;
        let mut session = self.session()?;
        let mut tables = Vec::new();
        let (_, schema) = self.core.catalog.schema();
        for table in schema.tables() {
            let TableDefinition { database, name, .. } = &table.definition;
            tables.push((database.clone(), name.clone(), session.check_table(table)?));
        }
        session.commit()?;
        Ok(EngineReport { store, tables })
    }

    /// Rolls back what a crash cut off and purges what can be: now, and not at leisure.
    pub fn keep_house(&self) -> Result<()> {
        self.housekeeper.shared.turn(&self.core, usize::MAX, Duration::ZERO).map(|_| ())
    }
}

/// The undo trees: those that the root names, or new ones.
fn open_slots(store: &Store, root: &Root, wanted: u16) -> Result<Vec<meseta_storage::Tree>> {
    let mut named = root.slots()?;
    for slot in named.len()..usize::from(wanted.max(1)) {
        // A crash in between leaves a tree that nobody names.
        let tree = store.create_tree()?;
        root.set_slot(SlotNo(slot as u16), tree.id())?;
        named.push(tree.id());
    }
    named.into_iter().map(|id| Ok(store.open_tree(id)?)).collect()
}

/// What becomes of what a transaction left when the engine stopped.
fn take_up(core: &Core, left: Remains) -> Result<()> {
    let (slot, id, last) = (left.slot, left.transaction, left.last);
    if left.fate == Fate::Committed {
        if left.name.is_some() {
            core.undo.forget_name(slot, id)?;
        }
        core.purge.add(slot, Ended { transaction: id, time: CommitTime(0), last });
        return Ok(());
    }
    let owner = Owner::new(OwnerId(core.next_owner()), 0);
    owner.set_transaction(Some(id));
    core.writers.add(id, Arc::clone(&owner));
    match (left.fate, &left.name) {
        (Fate::Prepared, Some(name)) => {
            enter_tables(core, &left, &owner)?;
            core.prepared.add(name, Prepared { slot, id, last, owner });
        }
        _ => core.cut_off.add(left),
    }
    Ok(())
}

/// A prepared transaction uses the tables that it changed, until it is decided.
fn enter_tables(core: &Core, left: &Remains, owner: &Arc<Owner>) -> Result<()> {
    let (_, schema) = core.catalog.schema();
    let mut record = Vec::new();
    for number in 0..=left.last {
        if !core.undo.read(left.slot, left.transaction, number, &mut record)? {
            continue;
        }
        let corrupt = |problem| UndoError::Corrupt { slot: left.slot, transaction: left.transaction, number, problem };
        for change in read_record(&record).map_err(corrupt)?.1 {
            let index = core.indexes.get(change.map_err(corrupt)?.index);
            if let Some(table) = index.and_then(|index| schema.table(index.locks.table())) {
                core.locks.lock_table(owner, &table.lock, TableMode::Write, OnConflict::Fail)?;
            }
        }
    }
    Ok(())
}

/// The thread that undoes what a crash cut off, and purges.
struct Housekeeper {
    shared: Arc<House>,
    thread: Option<JoinHandle<()>>,
}

/// What one turn leaves to the next.
#[derive(Default)]
struct Turn {
    /// What the horizon was.
    horizon: CommitTime,
    /// What the clock said when it was last noted, and when that was.
    noted: Option<(CommitTime, Instant)>,
    /// What the clock said the time before: a snapshot from before that is old.
    old: CommitTime,
    /// Whether what waits is thinned.
    thins: bool,
}

#[derive(Default)]
struct House {
    /// Held during a turn: two would undo the same.
    turn: Mutex<Turn>,
    closing: AtomicBool,
    bell: Condvar,
    rest: Mutex<()>,
}

impl Housekeeper {
    fn start(core: &Arc<Core>) -> std::io::Result<Self> {
        let shared = Arc::new(House::default());
        let (house, core) = (Arc::clone(&shared), Arc::clone(core));
        let run = move || {
            while !house.closing.load(Ordering::Acquire) {
                // A failure is tried again; if storage has stopped, sessions hear of it from storage.
                if matches!(house.turn(&core, PURGED_A_TURN, OLD_AFTER), Ok(0) | Err(_)) {
                    let mut rest = house.rest.lock();
                    if !house.closing.load(Ordering::Acquire) {
                        house.bell.wait_for(&mut rest, REST);
                    }
                }
            }
        };
        let thread = std::thread::Builder::new().name("meseta-purge".to_owned()).spawn(run)?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl House {
    /// Undoes what was cut off, then purges, or thins, so many transactions of each slot at the most. Returns how many.
    fn turn(&self, core: &Core, most: usize, old_after: Duration) -> Result<usize> {
        let mut turn = self.turn.lock();
        while let Some(left) = core.cut_off.one() {
            undo_records(core, left.slot, left.transaction, 0..left.last + 1, None)?;
            if left.name.is_some() {
                core.undo.forget_name(left.slot, left.transaction)?;
            }
            core.time.rolled_back(left.transaction);
            if let Some(owner) = core.writers.owner(left.transaction) {
                core.writers.remove(left.transaction);
                core.locks.release_all(&owner);
                core.locks.release_tables(&owner);
            }
            core.cut_off.done(&left);
        }
        let horizon = core.time.advance();
        let behind = std::mem::replace(&mut turn.horizon, horizon) < horizon;
        let mut purged = 0;
        for slot in (0..core.undo.count()).map(SlotNo) {
            purged += core.purge.purge(slot, most, horizon, &core.undo, &core.indexes, &core.locks)?;
            if behind {
                purged += core.purge.purge_kept(slot, horizon, &core.undo, &core.indexes, &core.locks)?;
            }
        }
        turn.look_for_old_snapshots(core, old_after);
        for slot in (0..core.undo.count()).map(SlotNo).filter(|_| turn.thins) {
            purged += thin_slot(core, slot, most)?;
            purged += thin_slot_again(core, slot)?;
        }
        Ok(purged)
    }
}

impl Turn {
    /// Tells those who commit, too, whether there are old snapshots for which to thin, and which ones there are.
    fn look_for_old_snapshots(&mut self, core: &Core, old_after: Duration) {
        let (noted, since) = *self.noted.get_or_insert_with(|| (core.time.now(), Instant::now()));
        if since.elapsed() >= old_after {
            (self.old, self.noted) = (noted, None);
        }
        let old = if old_after.is_zero() { core.time.now() } else { self.old };
        let thins = self.horizon < old && core.purge.is_long();
        if !thins && !self.thins {
            return;
        }
        let in_use = if thins { core.time.snapshots_in_use() } else { None };
        if thins && in_use.is_none() {
            return;
        }
        // What young ones keep waits: they go soon, or grow old.
        let in_use = in_use.map(|in_use| in_use.older_than(old));
        self.thins = thins;
        (0..core.undo.count()).for_each(|slot| core.purge.set_in_use(SlotNo(slot), in_use.clone()));
    }
}

impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.shared.closing.store(true, Ordering::Release);
        {
            let _rest = self.shared.rest.lock();
            self.shared.bell.notify_all();
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
