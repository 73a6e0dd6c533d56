//! What the benchmark asks of an engine.

use std::error::Error;

use crate::dataset::{Dataset, Key};

/// A result whose error says what went wrong in some engine's own words.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// How an engine is opened.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// All the memory the engine may use: its cache and its write buffers and,
    /// where it reads through the page cache, its part of that.
    pub memory_bytes: u64,
    /// The data is larger than `memory_bytes`: read from the device directly
    /// where the engine can, and don't read ahead.
    pub larger_than_memory: bool,
    /// `commit_durably` is what will be measured; engines that choose their
    /// durability when they are opened choose the flushed one.
    pub durable: bool,
    /// Let LMDB write through its memory map (its faster, less guarded mode).
    pub lmdb_write_map: bool,
    /// Let Meseta's commits return before the operating system has their log.
    #[cfg_attr(not(feature = "meseta"), expect(dead_code))]
    pub meseta_lazy: bool,
}

/// One engine with its data open.
///
/// All engines give the same durability. `update` and `insert` are transactions
/// of their own, visible to every thread when they return and lost by no death
/// of the process, while the runner calls `sync` once a second: what MySQL calls
/// `innodb_flush_log_at_trx_commit = 2`. Where an engine gives less than that
/// (LMDB and redb), its file says so.
pub trait Engine: Send + Sync {
    /// Loads an empty engine with the data set, in key order, in whatever way
    /// is fastest for it.
    fn load(&self, data: &Dataset) -> Result<()>;

    /// Copies the value of `key` out; false if there is none.
    fn get(&self, key: &Key, value: &mut Vec<u8>) -> Result<bool>;

    /// Visits `n` entries from `from` on, in one view of the data, and returns a
    /// sum over them, so that each is really looked at.
    fn scan(&self, from: &Key, n: usize) -> Result<u64>;

    /// Replaces the value of an existing key.
    fn update(&self, key: &Key, value: &[u8]) -> Result<()>;

    /// Adds a key.
    fn insert(&self, key: &Key, value: &[u8]) -> Result<()>;

    /// Writes one row and returns when the device has it.
    fn commit_durably(&self, key: &Key, value: &[u8]) -> Result<()>;

    /// Makes everything committed so far durable.
    fn sync(&self) -> Result<()>;

    /// Waits until no background work is left over from earlier calls, so that
    /// none of it is charged to whoever is measured next.
    fn settle(&self) -> Result<()> {
        self.sync()
    }

    /// How often the log has been flushed to the device, where the engine tells.
    fn flushes(&self) -> Option<u64> {
        None
    }

    /// The part of `memory_bytes` that is page cache, when the engine reads
    /// through it and the data is larger than memory. The operating system would
    /// give such an engine all free memory; the runner holds it to this.
    fn page_cache_bytes(&self) -> Option<u64> {
        None
    }
}

/// What a scan adds up for one entry: enough to touch key and value.
pub fn checksum(key: &[u8], value: &[u8]) -> u64 {
    let first = |bytes: &[u8]| bytes.first().map_or(0, |&byte| u64::from(byte));
    let last = |bytes: &[u8]| bytes.last().map_or(0, |&byte| u64::from(byte));
    last(key) + first(value) + last(value) + value.len() as u64
}
