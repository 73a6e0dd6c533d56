//! LMDB: a copy-on-write B+-tree read through a memory map, one writer at a time.

use std::mem::transmute;
use std::ops::Bound;
use std::path::Path;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, PutFlags};

use crate::dataset::{Dataset, Key};
use crate::engine::{Engine, Result, Settings, checksum};

/// Address space for the map. It is reserved, not used: the file grows to what
/// the data needs.
const MAP_BYTES: usize = 256 << 30;

type Rows<'env> = Database<'env, Bytes, Bytes>;

/// LMDB in one directory.
///
/// Opened for ordinary rows it runs with `MDB_NOSYNC`, and the runner syncs it
/// once a second. That gives a little less than the others: a power failure may
/// leave the file unreadable, where a log would lose the last second only.
/// There is no transaction reuse: heed offers no `mdb_txn_renew`, so that each
/// lookup begins a read transaction, in the thread's own reader slot.
pub struct Lmdb {
    /// A handle into `env`, which is why it is never handed out.
    database: Rows<'static>,
    env: Env,
    memory_bytes: u64,
    durable: bool,
}

impl Lmdb {
    /// Opens or creates the environment.
    pub fn open(dir: &Path, settings: &Settings) -> Result<Self> {
        let mut flags = EnvFlags::NO_MEM_INIT;
        if !settings.durable {
            flags |= EnvFlags::NO_SYNC | EnvFlags::NO_META_SYNC;
        }
        if settings.larger_than_memory {
            flags |= EnvFlags::NO_READ_AHEAD;
        }
        if settings.lmdb_write_map {
            flags |= EnvFlags::WRITE_MAP | EnvFlags::MAP_ASYNC;
        }
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP_BYTES).max_readers(512);
        // SAFETY: the directory is the benchmark's own, no other process opens
        // it, and losing what was not synced is what NO_SYNC is asked for.
        let env = unsafe {
            options.flags(flags);
            options.open(dir)?
        };
        let txn = env.write_txn()?;
        let rows: Rows = env
            .create_databases_and_commit(txn, |opener, txn| {
                opener.create_database(txn, None).map(CommitOrAbort::<_, ()>::Commit)
            })?
            .unwrap_commit();
        // SAFETY: only the lifetime changes; it stands for the environment,
        // which lives in the same structure and as long as the handle is used.
        let database = unsafe { transmute::<Rows<'_>, Rows<'static>>(rows) };
        Ok(Lmdb { database, env, memory_bytes: settings.memory_bytes, durable: settings.durable })
    }

    fn put(&self, key: &Key, value: &[u8]) -> Result<()> {
        let mut txn = self.env.write_txn()?;
        self.database.put(&mut txn, key, value)?;
        Ok(txn.commit()?)
    }
}

impl Engine for Lmdb {
    fn load(&self, data: &Dataset) -> Result<()> {
        let mut txn = self.env.write_txn()?;
        data.each_row(|key, value| self.database.put_with_flags(&mut txn, PutFlags::APPEND, key, value))?;
        txn.commit()?;
        self.sync()
    }

    fn get(&self, key: &Key, value: &mut Vec<u8>) -> Result<bool> {
        let txn = self.env.read_txn()?;
        let Some(found) = self.database.get(&txn, key)? else { return Ok(false) };
        value.clear();
        value.extend_from_slice(found);
        Ok(true)
    }

    fn scan(&self, from: &Key, n: usize) -> Result<u64> {
        let txn = self.env.read_txn()?;
        let mut sum = 0;
        for entry in self.database.range(&txn, &(Bound::Included(from.as_slice()), Bound::Unbounded))?.take(n) {
            let (key, value) = entry?;
            sum += checksum(key, value);
        }
        Ok(sum)
    }

    fn update(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.put(key, value)
    }

    fn insert(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.put(key, value)
    }

    fn commit_durably(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.put(key, value)?;
        if self.durable { Ok(()) } else { self.sync() }
    }

    fn sync(&self) -> Result<()> {
        Ok(self.env.force_sync()?)
    }

    fn page_cache_bytes(&self) -> Option<u64> {
        Some(self.memory_bytes)
    }
}
