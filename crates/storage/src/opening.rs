//! Opens a store that is there: looks at its files, finds the end of the log, repairs torn pages, starts the threads,
//! redoes the log, and finishes what was cut off.
//!
//! ```text
//!   control file   log files   data file          nothing is written before these were found whole
//!        |
//!   salvage        what the log buffer still holds, after a crash of the process alone, goes to the log files
//!   scan           where the log ends
//!   repair         torn pages, from the doublewrite area
//!   new epoch      from here on the store is in use
//!   redo           the log, in parallel
//!   space, drops   whose pages are whose; drops that were cut off are finished
//! ```
//!
//! # Invariants
//! 1. The store is marked unclean before the first change. (`ControlFile::begin_epoch`)
//! 2. Whatever was read is on the device before anything is built on it.
//!
//! # When it fails
//! With an error that names the file and what was expected there. What had been written was what any opening writes: the
//! next one can begin again.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use crate::btree::lifetime;
use crate::buffer::{DATA_FILE, Pool};
use crate::cleaner::Cleaner;
use crate::control::{Control, ControlFile, FIRST_EPOCH};
use crate::core::Core;
use crate::doublewrite::Doublewrite;
use crate::error::{ErrorKind, Result, StorageError};
use crate::health::Health;
use crate::ids::TreeId;
use crate::io::{DirectoryLock, Disk, DiskFile, RealDisk};
use crate::log::block::{block_of, block_start, round_up};
use crate::log::buffer::LogBuffer;
use crate::log::files::LogFiles;
use crate::log::mapped::MappedRing;
use crate::log::{Log, Resume};
use crate::options::{Background, StoreOptions};
use crate::page::{PAGE_SIZE, PageKind};
use crate::rank::Rank;
use crate::recovery::{self, RecoveryFigures};
use crate::running::Running;
use crate::space::Space;
use crate::wait::WaitEvents;

/// The tree that a new store gets: the first extent behind the map's.
const FIRST_TREE: TreeId = TreeId(crate::page::space_map::EXTENT_PAGES);

/// A directory of a real file system.
pub(crate) fn real_disk(directory: &Path, options: &StoreOptions) -> Result<Arc<dyn Disk>> {
    let failed = ErrorKind::setup(format!("opening the directory {}", directory.display()));
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
    Ok(disk.list().map_err(ErrorKind::setup(format!("listing {}", disk.describe())))?)
}

/// Opens the data file; returns its length too.
pub(crate) fn open_data(disk: &dyn Disk) -> Result<(Arc<dyn DiskFile>, u64)> {
    let data = disk.open(DATA_FILE).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ErrorKind::MissingFile { directory: disk.describe(), file: DATA_FILE.into() },
        _ => ErrorKind::Setup { what: format!("opening {DATA_FILE}"), error },
    })?;
    let len = data.len().map_err(ErrorKind::setup(format!("reading the length of {DATA_FILE}")))?;
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

/// A store that is open.
pub(crate) struct Opened {
    pub(crate) running: Running,
    pub(crate) root_tree: TreeId,
    pub(crate) recovery: RecoveryFigures,
}

/// Opens a store that is there, with the lock held.
pub(crate) fn open(disk: &dyn Disk, lock: Box<dyn DirectoryLock>, options: StoreOptions) -> Result<Opened> {
    let began = Instant::now();
    let mut control_file = ControlFile::open(disk)?;
    let control = *control_file.current();
    let log_files = LogFiles::open(disk, control.log_files as usize, control.log_file_len)?;
    let doublewrite = Doublewrite::open(disk, control.batch_pages as usize)?;
    let (data, data_len) = open_data(disk)?;
    check_data_len(&control, data_len)?;
    let inline = options.background == Background::Inline;

    if !control.clean {
        // After a crash of the process alone, what will be read may not be on the device yet.
        log_files.sync_all().map_err(ErrorKind::setup("syncing the files meseta.log.*"))?;
        salvage(disk, &control)?;
    }
    let end = if control.clean {
        let end = round_up(control.checkpoint);
        recovery::LogEnd { end: control.checkpoint, next_block: block_of(end) }
    } else {
        recovery::scan(&log_files, &control, options.log_buffer_bytes)?
    };
    let start = block_start(end.next_block);
    let mut repaired = 0;
    if !control.clean {
        repaired = doublewrite.repair(&*data, start)?;
        data.sync().map_err(ErrorKind::setup("syncing repaired pages of meseta.data"))?;
    }
    // From here on the store is in use: blocks of this opening are newer than all before.
    let epoch = control.epoch + 1;
    control_file.begin_epoch(start).map_err(ErrorKind::setup("writing meseta.control"))?;

    let health = Arc::new(Health::default());
    let waits = Arc::new(WaitEvents::new(options.wait_hook));
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
    // From here on an early return stops the threads: `Running` does, when dropped.
    let running = Running::start(Arc::clone(&core), lock, inline);
    let mut recovery = recovery::redo(
        &core.pool,
        &redo_files,
        &control,
        end,
        if inline { 1 } else { options.recovery_threads },
        options.participant.as_deref(),
    )?;
    core.cleaner.end_recovery();
    recovery.was_closed = control.clean || control.epoch == FIRST_EPOCH;
    recovery.repaired_pages = repaired as u64;
    core.space.load(control.data_pages == 0)?;
    for tree in core.space.trees() {
        let dropped = {
            let root = core.pool.shared(tree.root(), Rank::TreePage)?;
            root.view().kind() == Some(PageKind::DroppedRoot)
        };
        if dropped {
            lifetime::finish_drop(&core, tree)?;
            recovery.finished_drops += 1;
        }
    }
    let root_tree = match core.space.trees().first() {
        Some(&first) if first == FIRST_TREE => first,
        Some(&first) => {
            let problem = format!("the first tree is {first}, expected {FIRST_TREE}");
            return Err(ErrorKind::CorruptFile { file: DATA_FILE.into(), problem }.into());
        }
        None => lifetime::create_tree(&core)?,
    };
    debug_assert_eq!(root_tree, FIRST_TREE);
    recovery.elapsed = began.elapsed();
    Ok(Opened { running, root_tree, recovery })
}
