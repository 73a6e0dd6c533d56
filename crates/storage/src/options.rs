//! How a store is opened, and how durable a commit is to be.

use std::sync::Arc;

use crate::error::{ErrorKind, Result};
use crate::io::BatchEngine;
use crate::page::{PAGE_SIZE, node};
use crate::recovery::LogParticipant;
use crate::wait::WaitHook;

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
    /// The data file cannot grow beyond this: address space for an entry for each of its pages is reserved.
    pub max_data_bytes: u64,
    /// Bytes of a page that a node may use: less than a page makes splits frequent, for tests. Used at creation.
    pub node_capacity: usize,
    /// Pages that the cleaner writes at once. Used at creation.
    pub batch_pages: usize,
    /// Threads that redo the log.
    pub recovery_threads: usize,
    /// Threads of the store's own, or none.
    pub background: Background,
    /// Asynchronous I/O or a thread pool; for stores on a real disk.
    pub batch_engine: BatchEngine,
    /// Called around waits, of the layer above too.
    pub wait_hook: WaitHook,
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
            wait_hook: WaitHook::default(),
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
