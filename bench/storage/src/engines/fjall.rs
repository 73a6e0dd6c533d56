//! fjall: an LSM tree in Rust with a journal that writers take turns at.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fjall::config::HashRatioPolicy;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use crate::dataset::{Dataset, Key};
use crate::engine::{Engine, Result, Settings, checksum};

/// How long no compaction must have run for the tree to count as settled:
/// fjall's workers pick up the next one within milliseconds.
const QUIET: Duration = Duration::from_millis(200);

/// How long to wait for that.
const PATIENCE: Duration = Duration::from_secs(60);

/// fjall in one directory. Each commit is written to the operating system, its
/// default; only `commit_durably` flushes.
pub struct Fjall {
    database: Database,
    keyspace: Keyspace,
    /// When larger than memory: what is left of the memory for the page cache,
    /// which fjall reads through.
    page_cache_bytes: Option<u64>,
}

impl Fjall {
    /// Opens or creates the database.
    pub fn open(dir: &Path, settings: &Settings) -> Result<Self> {
        let memory = settings.memory_bytes;
        // Four memtables may wait for their flush besides the one being filled.
        let memtable_bytes = (memory / 16).clamp(4 << 20, 64 << 20);
        let page_cache_bytes = settings.larger_than_memory.then_some(memory / 4);
        let cache_bytes = if settings.larger_than_memory { memory / 2 } else { memory };
        let database = Database::builder(dir).cache_size(cache_bytes).open()?;
        let keyspace = database.keyspace("rows", || {
            KeyspaceCreateOptions::default()
                .max_memtable_size(memtable_bytes)
                // Every lookup here finds its key: the last level needs no filter.
                .expect_point_read_hits(true)
                .data_block_hash_ratio_policy(HashRatioPolicy::all(0.75))
        })?;
        Ok(Fjall { database, keyspace, page_cache_bytes })
    }

    fn is_busy(&self) -> bool {
        self.database.outstanding_flushes() > 0 || self.database.active_compactions() > 0
    }
}

impl Engine for Fjall {
    fn load(&self, data: &Dataset) -> Result<()> {
        let mut ingestion = self.keyspace.start_ingestion()?;
        data.each_row(|key, value| ingestion.write(key.as_slice(), value))?;
        ingestion.finish()?;
        self.settle()
    }

    fn get(&self, key: &Key, value: &mut Vec<u8>) -> Result<bool> {
        let Some(found) = self.keyspace.get(key)? else { return Ok(false) };
        value.clear();
        value.extend_from_slice(&found);
        Ok(true)
    }

    fn scan(&self, from: &Key, n: usize) -> Result<u64> {
        let mut sum = 0;
        for entry in self.keyspace.range(from.as_slice()..).take(n) {
            let (key, value) = entry.into_inner()?;
            sum += checksum(&key, &value);
        }
        Ok(sum)
    }

    fn update(&self, key: &Key, value: &[u8]) -> Result<()> {
        Ok(self.keyspace.insert(key.as_slice(), value)?)
    }

    fn insert(&self, key: &Key, value: &[u8]) -> Result<()> {
        Ok(self.keyspace.insert(key.as_slice(), value)?)
    }

    fn commit_durably(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.keyspace.insert(key.as_slice(), value)?;
        self.sync()
    }

    fn sync(&self) -> Result<()> {
        Ok(self.database.persist(PersistMode::SyncData)?)
    }

    fn settle(&self) -> Result<()> {
        self.sync()?;
        let start = Instant::now();
        let mut quiet_since = Instant::now();
        while quiet_since.elapsed() < QUIET && start.elapsed() < PATIENCE {
            if self.is_busy() {
                quiet_since = Instant::now();
            }
            sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    fn page_cache_bytes(&self) -> Option<u64> {
        self.page_cache_bytes
    }
}
