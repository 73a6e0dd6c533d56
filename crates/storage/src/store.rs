//! A store: one data directory, open.
//!
//! # Files
//!
//! | file | what | when it is written |
//! |---|---|---|
//! | `meseta.lock` | held by the process that has the store open | open |
//! | `meseta.control` | format, checkpoint | checkpoint; last when created |
//! | `meseta.data` | the pages | by the cleaner |
//! | `meseta.doublewrite` | pages on their way to `meseta.data` | by the cleaner, before |
//! | `meseta.log.NN` | the ring of log files | by the log's writer |
//! | `meseta.log.buffer` | the log buffer, shared with the operating system | by every change |
//!
//! # Threads
//! Two of its own: the log's writer and the cleaner. With [`Background::Inline`] there are none, and whoever waits
//! for their work does it: slower, and the same every time, for tests.
//!
//! # Invariants
//! 1. The control file is created last; a directory without one holds no store, at most the remains of a creation
//!    that was cut off.
//! 2. The store is marked clean only after everything is in the data file and synced, and marked unclean before
//!    the first change.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::btree::Tree;
use crate::buffer::{DATA_FILE, Pool, PoolFigures};
use crate::cleaner::{Cleaner, CleanerFigures};
use crate::control::{CONTROL_FILE, Control, ControlFile};
use crate::core::Core;
use crate::doublewrite::{DOUBLEWRITE_FILE, Doublewrite};
use crate::error::{ErrorKind, Result, StorageError};
use crate::health::Health;
use crate::ids::{Lsn, TreeId};
use crate::io::{BatchEngine, DirectoryLock, Disk, DiskFile, RealDisk};
use crate::log::block::{block_of, block_start, round_up};
use crate::log::buffer::LogBuffer;
use crate::log::files::{self, LogFiles};
use crate::log::mapped::{BUFFER_FILE, MappedRing};
use crate::log::{Log, LogFigures, Resume};
use crate::mtr::Mtr;
use crate::page::PAGE_SIZE;
use crate::page::PageKind;
use crate::page::node;
use crate::rank::Rank;
use crate::recovery::{self, LogParticipant, RecoveryFigures};
use crate::redo::Op;
use crate::space::Space;
use crate::thread;
use crate::wait::{WaitEvents, WaitFigures};

/// Who writes the log and the pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Background {
    /// Threads of the store's own.
    #[default]
    Threads,
    /// Whoever waits for it; nothing happens that was not called for.
    Inline,
}

/// When a commit is acknowledged: `innodb_flush_log_at_trx_commit` in MySQL's words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Durability {
    /// 1: its log is synced. Survives power loss.
    #[default]
    Flush,
    /// 2: its log is handed to the operating system, which syncs it within about a second. Survives a crash of the
    /// process.
    Write,
    /// 0: at once; its log is written and synced within about a second.
    Lazy,
}

/// How to open a store.
#[derive(Clone)]
pub struct StoreOptions {
    /// Memory for pages, in bytes; a hard limit.
    pub memory_bytes: usize,
    /// Bytes of all log files together. Used when the store is created; later openings keep its size.
    pub log_bytes: u64,
    /// Bytes of log that may be in memory; a power of two.
    pub log_buffer_bytes: usize,
    /// The data file cannot grow beyond this: address space for it is reserved.
    pub max_data_bytes: u64,
    /// Bytes of a page that a node may use: less than a page makes splits frequent, for tests. Used at creation.
    pub node_capacity: usize,
    /// Pages that the cleaner writes at once. Used at creation.
    pub batch_pages: usize,
    /// Threads that redo the log.
    pub recovery_threads: usize,
    /// Threads of the store's own, or none.
    pub background: Background,
    /// io_uring or a thread pool; for stores on a real disk.
    pub batch_engine: BatchEngine,
    /// The layer above, to hear of its notes during recovery.
    pub participant: Option<Arc<dyn LogParticipant>>,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            memory_bytes: 128 << 20,
            log_bytes: 1 << 30,
            log_buffer_bytes: 16 << 20,
            max_data_bytes: 8 << 40,
            node_capacity: PAGE_SIZE,
            batch_pages: 128,
            recovery_threads: 16,
            background: Background::Threads,
            batch_engine: BatchEngine::Auto,
            participant: None,
        }
    }
}

impl StoreOptions {
    /// Errors: `BadOption`.
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |option, problem: String| Err(ErrorKind::BadOption { option, problem }.into());
        const PAGES_MIN: usize = 16;
        if self.memory_bytes < PAGES_MIN * PAGE_SIZE {
            return bad("memory_bytes", format!("{} is less than {PAGES_MIN} pages", self.memory_bytes));
        }
        if !self.log_buffer_bytes.is_power_of_two() || self.log_buffer_bytes < 256 << 10 {
            return bad("log_buffer_bytes", format!("{} is no power of two from 256 KiB on", self.log_buffer_bytes));
        }
        if self.log_bytes < 4 * self.log_buffer_bytes as u64 {
            return bad("log_bytes", format!("{} is less than four log buffers", self.log_bytes));
        }
        if !(node::CAPACITY_MIN..=PAGE_SIZE).contains(&self.node_capacity) {
            return bad(
                "node_capacity",
                format!("{} is not in {}..={PAGE_SIZE}", self.node_capacity, node::CAPACITY_MIN),
            );
        }
        if self.batch_pages == 0 || self.batch_pages > 1024 {
            return bad("batch_pages", format!("{} is not in 1..=1024", self.batch_pages));
        }
        if self.max_data_bytes < (1 << 20) || self.max_data_bytes / PAGE_SIZE as u64 > u64::from(u32::MAX) {
            return bad("max_data_bytes", format!("{} is not in 1 MiB..64 TiB", self.max_data_bytes));
        }
        Ok(())
    }
}

/// Figures for reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct StoreFigures {
    /// Pages in memory.
    pub pool: PoolFigures,
    /// The log.
    pub log: LogFigures,
    /// Pages written back.
    pub cleaner: CleanerFigures,
    /// Pages in the data file.
    pub file_pages: u64,
    /// Those of them that belong to nobody.
    pub free_pages: u64,
}

/// An open store. Cheap to clone; the store is given up when the last clone goes.
///
/// Giving it up without [`Store::close`] is safe and leaves work for the next opening: it recovers.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    core: Arc<Core>,
    root_tree: TreeId,
    recovery: RecoveryFigures,
    closing: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    closed: AtomicBool,
    // Last: the directory is free for others when everything above has gone.
    _lock: Box<dyn DirectoryLock>,
}

impl Store {
    /// Opens the store in a directory, creating it if the directory is empty or missing, and recovering it if it was
    /// not closed. The effect of every error is [`Effect::Open`](crate::Effect::Open).
    pub fn open(directory: impl AsRef<Path>, options: StoreOptions) -> Result<Store> {
        Self::open_on(real_disk(directory.as_ref(), &options)?, options)
    }

    /// Opens a store on any disk.
    pub fn open_on(disk: Arc<dyn Disk>, options: StoreOptions) -> Result<Store> {
        Self::try_open(&*disk, options).map_err(StorageError::of_opening)
    }

    fn try_open(disk: &dyn Disk, options: StoreOptions) -> Result<Store> {
        options.check()?;
        // Before the lock, which leaves a file: somebody else's directory stays as it is. Nobody creates a store in
        // such a directory, so the answer does not depend on who holds the lock.
        refuse_foreign(disk, &list(disk)?)?;
        let lock = lock(disk)?;
        let names = list(disk)?;
        if !names.iter().any(|name| name == CONTROL_FILE) {
            create(disk, &names, &options)?;
        }
        open_locked(disk, lock, options)
    }

    /// The tree that every store has from its creation on: the layer above keeps there what it must find first.
    pub fn root_tree(&self) -> Tree {
        Tree::new(Arc::clone(&self.inner.core), self.inner.root_tree)
    }

    /// Creates an empty tree.
    pub fn create_tree(&self) -> Result<Tree> {
        create_tree(&self.inner.core).map(|id| Tree::new(Arc::clone(&self.inner.core), id))
    }

    /// Opens a tree. Errors: `NoSuchTree`.
    pub fn open_tree(&self, id: TreeId) -> Result<Tree> {
        if !self.inner.core.space.has_tree(id) {
            return Err(ErrorKind::NoSuchTree(id).into());
        }
        Ok(Tree::new(Arc::clone(&self.inner.core), id))
    }

    /// Every tree.
    pub fn trees(&self) -> Vec<TreeId> {
        self.inner.core.space.trees()
    }

    /// Drops a tree and gives its pages back. Nobody may use the tree meanwhile or afterwards. Errors: `NoSuchTree`,
    /// `RootTree`.
    ///
    /// The drop is decided by one small record; if a crash cuts off the rest, the next opening finishes it.
    pub fn drop_tree(&self, tree: TreeId) -> Result<()> {
        let core = &*self.inner.core;
        if !core.space.has_tree(tree) {
            return Err(ErrorKind::NoSuchTree(tree).into());
        }
        if tree == self.inner.root_tree {
            return Err(ErrorKind::RootTree(tree).into());
        }
        core.admit()?;
        {
            let root = core.pool.exclusive(tree.root(), Rank::TreePage)?;
            let mut mtr = Mtr::begin(&core.log);
            let slot = mtr.add(root);
            mtr.apply(slot, Op::SetKind { kind: PageKind::DroppedRoot });
            mtr.commit();
        }
        finish_drop(core, tree)
    }

    /// Waits until everything before `lsn` is as durable as asked.
    pub fn commit(&self, lsn: Lsn, durability: Durability) -> Result<()> {
        match durability {
            Durability::Flush => self.inner.core.log.wait_durable(lsn),
            Durability::Write => self.inner.core.log.wait_written(lsn),
            Durability::Lazy => self.inner.core.health.check(),
        }
    }

    /// Calls `callback` once everything before `lsn` is durable, on another thread; no thread waits.
    pub fn on_durable(&self, lsn: Lsn, callback: impl FnOnce(Result<()>) + Send + 'static) {
        self.inner.core.log.on_durable(lsn, Box::new(callback));
    }

    /// Everything before this position survives power loss.
    pub fn durable_lsn(&self) -> Lsn {
        self.inner.core.log.durable()
    }

    /// The end of the log.
    pub fn log_end(&self) -> Lsn {
        self.inner.core.log.reserved()
    }

    /// Appends a note of the layer above to the log, alone.
    pub fn log_note(&self, note: &[u8]) -> Result<Lsn> {
        let core = &*self.inner.core;
        core.check_note(note)?;
        core.admit()?;
        let mut mtr = Mtr::begin(&core.log);
        mtr.note(note);
        Ok(mtr.commit())
    }

    /// Writes all dirty pages and takes a checkpoint.
    pub fn checkpoint(&self) -> Result<()> {
        self.inner.core.cleaner.flush_all(false)
    }

    /// One round of the cleaner, for [`Background::Inline`].
    pub fn clean(&self) -> Result<()> {
        self.inner.core.cleaner.round().map(|_| ())
    }

    /// One turn of the log's writer, for [`Background::Inline`]; with `flush`, one of those that come once a second.
    pub fn write_log(&self, flush: bool) -> Result<()> {
        self.inner.core.log.step(flush).map(|_| ())
    }

    /// Closes the store in order: everything is in the data file, and the next opening has nothing to recover.
    pub fn close(self) -> Result<()> {
        self.inner.close()
    }

    /// Figures for reports.
    pub fn figures(&self) -> StoreFigures {
        let core = &self.inner.core;
        let (file_pages, free_pages) = core.space.page_counts();
        StoreFigures {
            pool: core.pool.figures(),
            log: core.log.figures(),
            cleaner: core.cleaner.figures(),
            file_pages,
            free_pages,
        }
    }

    /// Where threads have waited, how often and how long.
    pub fn wait_events(&self) -> Vec<WaitFigures> {
        self.inner.core.waits.snapshot()
    }

    /// Sets the wait events back to zero.
    pub fn reset_wait_events(&self) {
        self.inner.core.waits.reset();
    }

    /// What opening the store had to recover.
    pub fn recovery(&self) -> RecoveryFigures {
        self.inner.recovery
    }

    /// Fails once the engine has stopped itself, with the reason.
    pub fn health(&self) -> Result<()> {
        self.inner.core.health.check()
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.inner.core
    }
}

/// The epoch of a store that was created and never opened.
const FIRST_EPOCH: u32 = 1;

/// A directory of a real file system.
pub(crate) fn real_disk(directory: &Path, options: &StoreOptions) -> Result<Arc<dyn Disk>> {
    let failed = |error| ErrorKind::Setup { what: format!("opening the directory {}", directory.display()), error };
    match RealDisk::new(directory, options.batch_engine) {
        Ok(disk) => Ok(Arc::new(disk)),
        Err(error) => Err(StorageError::from(failed(error)).of_opening()),
    }
}

/// Takes the directory for this process.
pub(crate) fn lock(disk: &dyn Disk) -> Result<Box<dyn DirectoryLock>> {
    disk.lock().map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => {
            ErrorKind::InUse { directory: disk.describe(), holder: error.to_string() }.into()
        }
        _ => ErrorKind::Setup { what: format!("locking {}", disk.describe()), error }.into(),
    })
}

/// Names of the files in the directory.
pub(crate) fn list(disk: &dyn Disk) -> Result<Vec<String>> {
    disk.list().map_err(|error| ErrorKind::Setup { what: format!("listing {}", disk.describe()), error }.into())
}

/// Fails if the directory holds files, but neither a store nor only what is left of one.
fn refuse_foreign(disk: &dyn Disk, names: &[String]) -> Result<()> {
    let is_store = names.iter().any(|name| name == CONTROL_FILE);
    if !is_store && names.iter().any(|name| !name.starts_with("meseta.")) {
        return Err(ErrorKind::NotAStore { directory: disk.describe(), missing: CONTROL_FILE }.into());
    }
    Ok(())
}

/// Opens a store that is there, with the lock held.
pub(crate) fn open_locked(disk: &dyn Disk, lock: Box<dyn DirectoryLock>, options: StoreOptions) -> Result<Store> {
    Inner::open(disk, lock, options)
}

/// Opens the data file; returns its length too.
pub(crate) fn open_data(disk: &dyn Disk) -> Result<(Arc<dyn DiskFile>, u64)> {
    let data = disk.open(DATA_FILE).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ErrorKind::MissingFile { directory: disk.describe(), file: DATA_FILE.into() },
        _ => ErrorKind::Setup { what: format!("opening {DATA_FILE}"), error },
    })?;
    let len =
        data.len().map_err(|error| ErrorKind::Setup { what: format!("reading the length of {DATA_FILE}"), error })?;
    Ok((data, len))
}

/// Fails if the data file is shorter than it was at the last checkpoint.
pub(crate) fn check_data_len(control: &Control, found: u64) -> Result<()> {
    let expected = u64::from(control.data_pages) * PAGE_SIZE as u64;
    if found < expected {
        return Err(ErrorKind::Truncated { file: DATA_FILE.into(), found, expected }.into());
    }
    Ok(())
}

/// Makes the files of a new store. Remains of a creation that was cut off are removed first.
fn create(disk: &dyn Disk, names: &[String], options: &StoreOptions) -> Result<()> {
    // Once more, now that nobody else can have put it there meanwhile.
    refuse_foreign(disk, names)?;
    let setup = |what: &str| {
        let what = what.to_owned();
        move |error| ErrorKind::Setup { what, error }
    };
    if names.iter().any(|name| name == DATA_FILE) {
        // The data file is created empty and grows only once the store is open. If it has grown, this was a store.
        let len = disk.open(DATA_FILE).and_then(|file| file.len()).map_err(setup("opening meseta.data"))?;
        if len > 0 {
            return Err(ErrorKind::MissingFile { directory: disk.describe(), file: CONTROL_FILE.into() }.into());
        }
    }
    for name in names {
        disk.remove(name).map_err(setup("removing the remains of a creation that was cut off"))?;
    }
    let (log_files, log_file_len) = log_shape(options.log_bytes);
    let result = (|| {
        disk.create(DATA_FILE).map_err(setup("creating meseta.data"))?;
        Doublewrite::create(disk, options.batch_pages)?;
        LogFiles::create(disk, log_files, log_file_len)?;
        let control = Control {
            node_capacity: options.node_capacity as u32,
            epoch: FIRST_EPOCH,
            clean: false,
            log_files: log_files as u32,
            log_file_len,
            batch_pages: options.batch_pages as u32,
            data_pages: 0,
            checkpoint: block_start(1),
            checkpoint_epoch: FIRST_EPOCH,
            epoch_start: block_start(1),
            sequence: 0,
            store_id: store_id(),
        };
        ControlFile::create(disk, control).map(|_| ())
    })();
    if result.is_err() {
        // Not enough space, say: leave the directory as it was found.
        for name in disk.list().unwrap_or_default() {
            let _ = disk.remove(&name);
        }
    }
    result
}

/// After a crash of the process alone: what was in the log buffer, and not in the files yet, is written to them as if
/// the process had lived a little longer.
fn salvage(disk: &dyn Disk, control: &Control) -> Result<()> {
    let Some(ring) = MappedRing::open(disk)?.filter(|ring| ring.is_of(control.epoch)) else { return Ok(()) };
    let files = LogFiles::open(disk, control.log_files as usize, control.log_file_len)?;
    let len = ring.ring().len() * 8;
    let recovered = recovery::scan(&files, control, len)?.end;
    // The opening that crashed may not have written a block of its own yet.
    let end = recovered.max(control.epoch_start);
    if end < ring.consumed() {
        // What was between has left the ring and is lost: its sync had failed, and the process ended then. What comes
        // after it is of no use; and from `end` on the ring holds zeroes, or records of its next round.
        return Ok(());
    }
    let (health, waits) = (Arc::<Health>::default(), Arc::<WaitEvents>::default());
    let buffer = LogBuffer::left_behind(ring, end);
    let resume = Resume { start: end, recovered, checkpoint: control.checkpoint, epoch: control.epoch, inline: true };
    Log::new(files, buffer, resume, health, waits)?.step(true)?;
    Ok(())
}

/// Number and length of the log files for a total: at most sixteen, so that there are files to fill ahead.
fn log_shape(total: u64) -> (usize, u64) {
    let count = (total >> 20).clamp(2, 16);
    let len = (total / count).next_multiple_of(crate::io::IO_ALIGN as u64);
    (count as usize, len)
}

fn store_id() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    // The standard library's per-process random keys: unique is enough, secret is not needed.
    let (a, b) = (RandomState::new().hash_one(1), RandomState::new().hash_one(2));
    (u128::from(a) << 64 | u128::from(b)).to_le_bytes()
}

fn create_tree(core: &Core) -> Result<TreeId> {
    core.admit()?;
    core.retry(|| {
        let reserved = core.space.reserve_root()?;
        let page = reserved.page_no();
        let id = TreeId(page.0);
        let permit = core.pool.take_permit()?;
        let fresh = core.pool.fresh(page, permit, Rank::TreePage);
        let mut maps = core.space.latch_maps(&core.pool, [page])?;
        let mut mtr = Mtr::begin(&core.log);
        let slot = mtr.add(fresh);
        mtr.apply_image(slot, &node::empty_root(id, core.node_capacity));
        core.space.publish(&mut mtr, &mut maps, vec![reserved]);
        mtr.commit();
        Ok(id)
    })
}

/// Frees all pages of a tree whose root is marked as dropped; the root's own extent goes last.
fn finish_drop(core: &Core, tree: TreeId) -> Result<()> {
    /// Extents freed in one step.
    const STEP: usize = 256;
    let mut extents = core.space.extents_of(tree);
    let root = crate::page::space_map::ExtentNo::of(tree.root());
    extents.sort_by_key(|&(extent, _)| (extent == root, extent));
    let (others, last) = extents.split_at(extents.len() - 1);
    for step in others.chunks(STEP).chain([last]) {
        let pages: Vec<_> = step
            .iter()
            .flat_map(|&(extent, used)| {
                (0..8).filter(move |bit| used & (1 << bit) != 0).map(move |bit| extent.page(bit))
            })
            .collect();
        core.admit()?;
        core.retry(|| {
            let mut maps = core.space.latch_maps(&core.pool, pages.iter().copied())?;
            let mut mtr = Mtr::begin(&core.log);
            core.space.unpublish(&mut mtr, &mut maps, &pages);
            mtr.commit();
            Ok(())
        })?;
        core.space.forget(&pages);
    }
    Ok(())
}

impl Inner {
    fn open(disk: &dyn Disk, lock: Box<dyn DirectoryLock>, options: StoreOptions) -> Result<Store> {
        let began = Instant::now();
        let mut control_file = ControlFile::open(disk)?;
        let control = *control_file.current();
        let log_files = LogFiles::open(disk, control.log_files as usize, control.log_file_len)?;
        let doublewrite = Doublewrite::open(disk, control.batch_pages as usize)?;
        let (data, data_len) = open_data(disk)?;
        check_data_len(&control, data_len)?;
        let setup = |what: &'static str| move |error| ErrorKind::Setup { what: what.into(), error };
        let inline = options.background == Background::Inline;

        if !control.clean {
            // After a crash of the process alone, what will be read may not be on the device yet.
            log_files.sync_all().map_err(setup("syncing the files meseta.log.*"))?;
            salvage(disk, &control)?;
        }
        let end = if control.clean {
            let end = round_up(control.checkpoint);
            recovery::LogEnd { end: control.checkpoint, next_block: block_of(end) }
        } else {
            recovery::scan(&log_files, &control, options.log_buffer_bytes)?
        };
        let mut repaired = 0;
        if !control.clean {
            repaired = doublewrite.repair(&*data, end.end)?;
            data.sync().map_err(setup("syncing repaired pages of meseta.data"))?;
        }
        // From here on the store is in use: blocks of this opening are newer than all before.
        let epoch = control.epoch + 1;
        control_file.begin_epoch(block_start(end.next_block)).map_err(setup("writing meseta.control"))?;

        let health = Arc::new(Health::default());
        let waits = Arc::new(WaitEvents::default());
        let start = block_start(end.next_block);
        let buffer = match MappedRing::create(disk, options.log_buffer_bytes)? {
            Some(ring) => {
                ring.begin(epoch, start);
                LogBuffer::over_mapped(ring, start)
            }
            None => LogBuffer::new(options.log_buffer_bytes, start),
        };
        let redo_files = LogFiles::open(disk, control.log_files as usize, control.log_file_len)?;
        let log = Arc::new(Log::new(
            log_files,
            buffer,
            Resume { start, recovered: end.end, checkpoint: control.checkpoint, epoch, inline },
            Arc::clone(&health),
            Arc::clone(&waits),
        )?);
        let limit = options.memory_bytes / PAGE_SIZE;
        let log_end = {
            let log = Arc::clone(&log);
            Arc::new(move || log.reserved())
        };
        let pool = Arc::new(Pool::new(
            data,
            data_len as usize / PAGE_SIZE,
            (options.max_data_bytes / PAGE_SIZE as u64) as usize,
            limit,
            log_end,
            Arc::clone(&health),
            Arc::clone(&waits),
        )?);
        let cleaner = Arc::new(Cleaner::new(
            Arc::clone(&pool),
            Arc::clone(&log),
            control_file,
            doublewrite,
            inline,
            Arc::clone(&health),
            Arc::clone(&waits),
        ));
        let space = Space::new(Arc::clone(&pool), Arc::clone(&log), Arc::clone(&health), Arc::clone(&waits));
        let node_capacity = control.node_capacity as usize;
        let core = Arc::new(Core { pool, log, space, cleaner, health, waits, node_capacity });
        // A cycle of ownership, cut by `stop_threads`.
        core.pool.set_relief(Some(Arc::clone(&core.cleaner) as _));
        let closing = Arc::new(AtomicBool::new(false));
        let is_new = control.epoch == FIRST_EPOCH;
        let threads = if inline { Vec::new() } else { spawn(&core, &closing, is_new) };
        // From here on an early return has to stop the threads: `Inner` does, when dropped.
        let mut inner = Inner {
            core,
            root_tree: TreeId(0),
            recovery: RecoveryFigures::default(),
            closing,
            threads: Mutex::new(threads),
            closed: AtomicBool::new(false),
            _lock: lock,
        };
        let core = Arc::clone(&inner.core);
        inner.recovery = recovery::redo(
            &core.pool,
            &redo_files,
            &control,
            end,
            if inline { 1 } else { options.recovery_threads },
            options.participant.as_deref(),
        )?;
        core.cleaner.end_recovery();
        inner.recovery.was_closed = control.clean || is_new;
        inner.recovery.repaired_pages = repaired as u64;
        core.space.load(control.data_pages == 0)?;
        for tree in core.space.trees() {
            let dropped = {
                let root = core.pool.shared(tree.root(), Rank::TreePage)?;
                root.view().kind() == Some(PageKind::DroppedRoot)
            };
            if dropped {
                finish_drop(&core, tree)?;
                inner.recovery.finished_drops += 1;
            }
        }
        inner.root_tree = match core.space.trees().first() {
            Some(&first) if first == FIRST_TREE => first,
            Some(&first) => {
                let problem = format!("the first tree is {first}, expected {FIRST_TREE}");
                return Err(ErrorKind::CorruptFile { file: DATA_FILE.into(), problem }.into());
            }
            None => create_tree(&core)?,
        };
        debug_assert_eq!(inner.root_tree, FIRST_TREE);
        inner.recovery.elapsed = began.elapsed();
        let store = Store { inner: Arc::new(inner) };
        if let Some(participant) = &options.participant {
            participant.redo_done(&store)?;
        }
        Ok(store)
    }

    fn close(&self) -> Result<()> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let flushed = self.core.cleaner.flush_all(true);
        self.stop_threads();
        self.core.health.stop("the store was closed");
        flushed
    }

    fn stop_threads(&self) {
        self.closing.store(true, Ordering::Release);
        self.core.cleaner.ring();
        self.core.log.ring_loudly();
        for thread in self.threads.lock().drain(..) {
            let _ = thread.join();
        }
        self.core.pool.set_relief(None);
    }
}

/// The tree that a new store gets: the first extent behind the map's.
const FIRST_TREE: TreeId = TreeId(crate::page::space_map::EXTENT_PAGES);

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop_threads();
        self.core.log.abandon(&ErrorKind::Closed.into());
    }
}

fn spawn(core: &Arc<Core>, closing: &Arc<AtomicBool>, is_new: bool) -> Vec<JoinHandle<()>> {
    let writer = {
        let (core, closing) = (Arc::clone(core), Arc::clone(closing));
        move || write_log(&core, &closing, is_new)
    };
    let cleaner = {
        let (core, closing) = (Arc::clone(core), Arc::clone(closing));
        move || core.cleaner.run(&closing)
    };
    vec![
        thread::spawn("meseta-log", writer).expect("a thread can be started"),
        thread::spawn("meseta-cleaner", cleaner).expect("a thread can be started"),
    ]
}

/// The log writer's thread: writes when somebody waits or when a good deal has gathered, syncs when somebody waits, and
/// does both at least once a second; and when there has been nothing to sync for a second, lets the log vouch for its
/// last sync.
///
/// It must never ask the cleaner for anything: who holds the cleaner's mutex may be waiting for the log.
fn write_log(core: &Core, closing: &AtomicBool, is_new: bool) {
    const SECOND: Duration = Duration::from_secs(1);
    let mut last_flush = Instant::now();
    // A new ring is allocated but not written yet: see `LogFiles::create`.
    let mut filling = is_new;
    let mut filled = core.log.files().first_unfilled();
    while !closing.load(Ordering::Acquire) {
        let flush = last_flush.elapsed() >= SECOND;
        if flush {
            last_flush = Instant::now();
        }
        if !flush && !core.log.has_work() {
            if filling {
                match core.log.fill_ahead(&mut filled) {
                    Ok(more) => filling = more,
                    Err(_) => return,
                }
            } else {
                core.log.wait_for_bell(SECOND.saturating_sub(last_flush.elapsed()).max(Duration::from_millis(1)));
            }
            continue;
        }
        match core.log.step(flush) {
            Ok(true) => {}
            // What is wanted is still being copied in, by a thread that may not be running.
            Ok(false) => std::thread::yield_now(),
            // The engine has stopped, and everybody who waits has been told.
            Err(_) => return,
        }
    }
}

/// Names that a data directory may hold, for messages.
pub fn file_names(log_files: usize) -> Vec<String> {
    [CONTROL_FILE, DATA_FILE, DOUBLEWRITE_FILE, BUFFER_FILE]
        .into_iter()
        .map(String::from)
        .chain((0..log_files).map(files::file_name))
        .collect()
}
