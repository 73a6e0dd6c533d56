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
//! | one without a name | what a statement has no room for in memory | by that statement |
//!
//! Creating one, opening one and running one have rooms of their own: `creation`, `opening`, `running`.

use std::path::Path;
use std::sync::Arc;

use crate::btree::{Tree, lifetime};
use crate::buffer::{DATA_FILE, PoolFigures};
use crate::cleaner::CleanerFigures;
use crate::control::CONTROL_FILE;
use crate::core::Core;
use crate::creation;
use crate::doublewrite::DOUBLEWRITE_FILE;
use crate::error::{ErrorKind, Result, StorageError};
use crate::ids::{Lsn, TreeId};
use crate::io::{DirectoryLock, Disk};
use crate::log::LogFigures;
use crate::log::files;
use crate::log::mapped::BUFFER_FILE;
use crate::mtr::Mtr;
use crate::opening::{self, Opened};
use crate::options::{Durability, StoreOptions};
use crate::recovery::RecoveryFigures;
use crate::temporary_file::TemporaryFile;
use crate::wait::{WaitFigures, WaitHook};

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
    inner: Arc<Opened>,
    disk: Arc<dyn Disk>,
}

impl Store {
    /// Opens a store that is there, with the lock held.
    pub(crate) fn open_locked(
        disk: Arc<dyn Disk>,
        lock: Box<dyn DirectoryLock>,
        options: StoreOptions,
    ) -> Result<Store> {
        Ok(Store { inner: Arc::new(opening::open(&*disk, lock, options)?), disk })
    }

    /// Opens the store in a directory, creating it if the directory is empty or missing, and recovering it if it was
    /// not closed. The effect of every error is [`Effect::Open`](crate::Effect::Open).
    pub fn open(directory: impl AsRef<Path>, options: StoreOptions) -> Result<Store> {
        Self::open_on(opening::real_disk(directory.as_ref(), &options)?, options)
    }

    /// Opens a store on any disk.
    pub fn open_on(disk: Arc<dyn Disk>, options: StoreOptions) -> Result<Store> {
        Self::try_open(disk, options).map_err(StorageError::of_opening)
    }

    fn try_open(disk: Arc<dyn Disk>, options: StoreOptions) -> Result<Store> {
        options.check()?;
        // Before the lock, which leaves a file: somebody else's directory stays as it is. Nobody creates a store in
        // such a directory, so the answer does not depend on who holds the lock.
        creation::refuse_foreign(&*disk, &opening::list(&*disk)?)?;
        let lock = opening::lock(&*disk)?;
        let names = opening::list(&*disk)?;
        if !names.iter().any(|name| name == CONTROL_FILE) {
            creation::create(&*disk, &names, &options)?;
        }
        Self::open_locked(disk, lock, options)
    }

    /// The tree that every store has from its creation on: the layer above keeps there what it must find first.
    pub fn root_tree(&self) -> Tree {
        Tree::new(Arc::clone(self.core()), self.inner.root_tree)
    }

    /// Creates an empty tree.
    pub fn create_tree(&self) -> Result<Tree> {
        lifetime::create_tree(self.core()).map(|id| Tree::new(Arc::clone(self.core()), id))
    }

    /// Opens a tree. Errors: `NoSuchTree`.
    pub fn open_tree(&self, id: TreeId) -> Result<Tree> {
        if !self.core().space.has_tree(id) {
            return Err(ErrorKind::NoSuchTree(id).into());
        }
        Ok(Tree::new(Arc::clone(self.core()), id))
    }

    /// Every tree.
    pub fn trees(&self) -> Vec<TreeId> {
        self.core().space.trees()
    }

    /// Drops a tree and gives its pages back. Nobody may use the tree meanwhile or afterwards. Errors: `NoSuchTree`,
    /// `RootTree`.
    ///
    /// The drop is decided by one small record; if a crash cuts off the rest, the next opening finishes it.
    pub fn drop_tree(&self, tree: TreeId) -> Result<()> {
        let core = self.core();
        if !core.space.has_tree(tree) {
            return Err(ErrorKind::NoSuchTree(tree).into());
        }
        if tree == self.inner.root_tree {
            return Err(ErrorKind::RootTree(tree).into());
        }
        lifetime::drop_tree(core, tree)
    }

    /// Creates a file for what memory has no room for, and nobody needs after a crash. Errors: `TemporaryFile`.
    pub fn create_temporary_file(&self) -> Result<TemporaryFile> {
        TemporaryFile::create(&*self.disk)
    }

    /// Waits until everything before `lsn` is as durable as asked.
    pub fn commit(&self, lsn: Lsn, durability: Durability) -> Result<()> {
        match durability {
            Durability::Flush => self.core().log.wait_durable(lsn),
            Durability::Write => self.core().log.wait_written(lsn),
            Durability::Lazy => self.core().health.check(),
        }
    }

    /// Calls `callback` once everything before `lsn` is durable, on another thread; no thread waits.
    pub fn on_durable(&self, lsn: Lsn, callback: impl FnOnce(Result<()>) + Send + 'static) {
        self.on_durable_gathered(lsn, callback);
        self.flush_gathered();
    }

    /// As [`Self::on_durable`], by a caller that has more to do, perhaps commit again, and then calls
    /// [`Self::flush_gathered`]: one sync for all that.
    pub fn on_durable_gathered(&self, lsn: Lsn, callback: impl FnOnce(Result<()>) + Send + 'static) {
        self.core().log.on_durable_gathered(lsn, Box::new(callback));
    }

    /// Has everything made durable before long for which [`Self::on_durable_gathered`] has been called. Cheap if there is
    /// nothing.
    pub fn flush_gathered(&self) {
        self.core().log.flush_gathered();
    }

    /// As [`Self::flush_gathered`], by a caller that has more to do, and then calls one of these two again: while there is other
    /// work, those who have gathered only now may wait for others, for about as long as three writes with their syncs take and a
    /// millisecond at most.
    pub fn flush_gathered_if_due(&self) {
        self.core().log.flush_gathered_if_due();
    }

    /// Ends reads of pages that the system has completed, for a caller who was told of some ([`WaitHook::bell`]): who waits for a page
    /// without a thread is called. Does not wait; cheap if there are none.
    pub fn reap_reads(&self) {
        self.core().pool.file().reap();
    }

    /// If nobody else is about to, makes everything before `lsn` durable on this thread; whether it is. (If not, somebody
    /// must still wait for it.)
    pub fn try_durable(&self, lsn: Lsn) -> Result<bool> {
        self.core().log.try_durable(lsn)
    }

    /// Everything before this position survives power loss.
    pub fn durable_lsn(&self) -> Lsn {
        self.core().log.durable()
    }

    /// The end of the log.
    pub fn log_end(&self) -> Lsn {
        self.core().log.reserved()
    }

    /// Where redo would begin.
    pub fn checkpoint_lsn(&self) -> Lsn {
        self.core().log.checkpoint()
    }

    /// How much log there can be between the checkpoint and the end, in bytes.
    pub fn log_capacity(&self) -> u64 {
        self.core().log.capacity()
    }

    /// Appends a note of the layer above to the log, alone.
    pub fn log_note(&self, note: &[u8]) -> Result<Lsn> {
        let core = self.core();
        core.check_note(note)?;
        core.admit()?;
        let mut mtr = Mtr::begin(&core.log);
        mtr.note(note);
        Ok(mtr.commit())
    }

    /// Writes all dirty pages and takes a checkpoint.
    pub fn checkpoint(&self) -> Result<()> {
        self.core().cleaner.flush_all(false)
    }

    /// One round of the cleaner, for [`Background::Inline`](crate::Background::Inline).
    pub fn clean(&self) -> Result<()> {
        self.core().cleaner.round().map(|_| ())
    }

    /// One turn of the log's writer, for [`Background::Inline`](crate::Background::Inline); with `flush`, one of those that come once a second.
    pub fn write_log(&self, flush: bool) -> Result<()> {
        self.core().log.step(flush).map(|_| ())
    }

    /// Closes the store in order: everything is in the data file, and the next opening has nothing to recover.
    pub fn close(self) -> Result<()> {
        self.inner.running.close()
    }

    /// Figures for reports.
    pub fn figures(&self) -> StoreFigures {
        let core = self.core();
        let (file_pages, free_pages) = core.space.page_counts();
        StoreFigures {
            pool: core.pool.figures(),
            log: core.log.figures(),
            cleaner: core.cleaner.figures(),
            file_pages,
            free_pages,
        }
    }

    /// Whether pages are read and written in batches by the system itself, and not by threads that wait.
    pub fn is_asynchronous(&self) -> bool {
        self.core().pool.file().is_asynchronous()
    }

    /// What is to be called around waits.
    pub fn wait_hook(&self) -> WaitHook {
        self.core().waits.hook()
    }

    /// Where threads have waited, how often and how long.
    pub fn wait_events(&self) -> Vec<WaitFigures> {
        self.core().waits.snapshot()
    }

    /// Sets the wait events back to zero.
    pub fn reset_wait_events(&self) {
        self.core().waits.reset();
    }

    /// What opening the store had to recover.
    pub fn recovery(&self) -> RecoveryFigures {
        self.inner.recovery
    }

    /// Fails once the engine has stopped itself, with the reason.
    pub fn health(&self) -> Result<()> {
        self.core().health.check()
    }

    pub(crate) fn core(&self) -> &Arc<Core> {
        &self.inner.running.core
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
