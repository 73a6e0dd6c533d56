//! redb: a copy-on-write B-tree in Rust, one writer at a time.

use std::path::Path;

use redb::{Database, Durability, ReadableDatabase, TableDefinition};

use crate::dataset::{Dataset, Key};
use crate::engine::{Engine, Result, Settings, checksum};

const TABLE: TableDefinition<&Key, &[u8]> = TableDefinition::new("rows");

/// redb in one file.
///
/// `Durability::None` keeps a commit in the process until the next durable one,
/// which the runner asks for once a second. That is less than the engines with a
/// log give: the death of the process alone loses that second.
pub struct Redb {
    database: Database,
    /// When larger than memory: what is left of the memory for the page cache,
    /// which redb reads through.
    page_cache_bytes: Option<u64>,
}

impl Redb {
    /// Opens or creates the database.
    pub fn open(dir: &Path, settings: &Settings) -> Result<Self> {
        // Its own cache, which saves the system call, gets the larger part.
        let page_cache_bytes = settings.larger_than_memory.then_some(settings.memory_bytes / 4);
        let cache_bytes = settings.memory_bytes - page_cache_bytes.unwrap_or(0);
        let database = Database::builder().set_cache_size(cache_bytes as usize).create(dir.join("data.redb"))?;
        Ok(Redb { database, page_cache_bytes })
    }

    fn put(&self, key: &Key, value: &[u8], durability: Durability) -> Result<()> {
        let mut txn = self.database.begin_write()?;
        txn.set_durability(durability)?;
        txn.open_table(TABLE)?.insert(key, value)?;
        Ok(txn.commit()?)
    }
}

impl Engine for Redb {
    fn load(&self, data: &Dataset) -> Result<()> {
        let txn = self.database.begin_write()?;
        {
            let mut table = txn.open_table(TABLE)?;
            data.each_row(|key, value| table.insert(key, value).map(drop))?;
        }
        Ok(txn.commit()?)
    }

    fn get(&self, key: &Key, value: &mut Vec<u8>) -> Result<bool> {
        let table = self.database.begin_read()?.open_table(TABLE)?;
        let Some(found) = table.get(key)? else { return Ok(false) };
        value.clear();
        value.extend_from_slice(found.value());
        Ok(true)
    }

    fn scan(&self, from: &Key, n: usize) -> Result<u64> {
        let table = self.database.begin_read()?.open_table(TABLE)?;
        let mut sum = 0;
        for entry in table.range::<&Key>(from..)?.take(n) {
            let (key, value) = entry?;
            sum += checksum(key.value(), value.value());
        }
        Ok(sum)
    }

    fn update(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.put(key, value, Durability::None)
    }

    fn insert(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.put(key, value, Durability::None)
    }

    fn commit_durably(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.put(key, value, Durability::Immediate)
    }

    fn sync(&self) -> Result<()> {
        let mut txn = self.database.begin_write()?;
        txn.set_durability(Durability::Immediate)?;
        Ok(txn.commit()?)
    }

    fn page_cache_bytes(&self) -> Option<u64> {
        self.page_cache_bytes
    }
}
