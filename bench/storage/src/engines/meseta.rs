//! Meseta's storage engine.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use meseta_storage::{Durability, Lsn, RecoveryFigures, Store, StoreOptions, Tree};

use crate::dataset::{Dataset, Key};
use crate::engine::{Engine, Result, Settings, checksum};
use crate::rng::Rng;

/// A store with the rows in its first tree. As with RocksDB and fjall, a commit
/// returns when the operating system has its log; only `commit_durably` waits
/// for the device.
pub struct Meseta {
    store: Store,
    rows: Tree,
    durability: Durability,
}

impl Meseta {
    /// Opens or creates the store.
    pub fn open(dir: &Path, settings: &Settings) -> Result<Self> {
        let options = StoreOptions { memory_bytes: settings.memory_bytes as usize, ..StoreOptions::default() };
        let durability = if settings.meseta_lazy { Durability::Lazy } else { Durability::Write };
        Self::open_with(dir, options, durability)
    }

    fn open_with(dir: &Path, options: StoreOptions, durability: Durability) -> Result<Self> {
        let store = Store::open(dir, options)?;
        let rows = store.root_tree();
        Ok(Meseta { store, rows, durability })
    }

    fn commit(&self, lsn: Lsn, durability: Durability) -> Result<()> {
        Ok(self.store.commit(lsn, durability)?)
    }
}

impl Engine for Meseta {
    fn load(&self, data: &Dataset) -> Result<()> {
        self.rows.bulk_load((0..data.rows).map(|row| {
            let mut value = vec![0; data.value_bytes];
            data.fill_value(row, &mut value);
            (data.key(row), value)
        }))?;
        self.sync()
    }

    fn get(&self, key: &Key, value: &mut Vec<u8>) -> Result<bool> {
        Ok(self.rows.get_into(key, value)?)
    }

    fn scan(&self, from: &Key, n: usize) -> Result<u64> {
        let mut sum = 0;
        let mut left = n;
        self.rows.scan(from, |key, value| {
            sum += checksum(key, value);
            left -= 1;
            left > 0
        })?;
        Ok(sum)
    }

    fn update(&self, key: &Key, value: &[u8]) -> Result<()> {
        let lsn = self.rows.update(key, value)?.ok_or("the key to update is not there")?;
        self.commit(lsn, self.durability)
    }

    fn insert(&self, key: &Key, value: &[u8]) -> Result<()> {
        // Not `insert`, which refuses a key that is there: once in a while two
        // random inserts pick the same key, and the peers then replace the row.
        self.commit(self.rows.put(key, value)?, self.durability)
    }

    fn commit_durably(&self, key: &Key, value: &[u8]) -> Result<()> {
        self.commit(self.rows.put(key, value)?, Durability::Flush)
    }

    fn sync(&self) -> Result<()> {
        self.commit(self.store.log_end(), Durability::Flush)
    }

    /// Dirty pages stay where they are: writing them back is paced by the log
    /// and goes on in everybody's time, but little of it while nothing is changed.
    fn settle(&self) -> Result<()> {
        self.sync()
    }

    fn flushes(&self) -> Option<u64> {
        Some(self.store.figures().log.flushes)
    }
}

impl Drop for Meseta {
    fn drop(&mut self) {
        // In order, so that the next opening has nothing to recover.
        if let Err(error) = self.store.clone().close() {
            eprintln!("closing Meseta: {error}");
        }
    }
}

/// A log so large that the store has no reason to write pages back before this
/// much of it is to be redone: it does so for pages older than half the log.
fn recovery_options(memory_bytes: u64, redo_bytes: u64) -> StoreOptions {
    StoreOptions { memory_bytes: memory_bytes as usize, log_bytes: 4 * redo_bytes, ..StoreOptions::default() }
}

/// Loads a store, takes a checkpoint, and updates until killed: a store at rest
/// would begin to write its pages back. Calls `ready` once there is this much
/// log to redo.
pub fn write_log(dir: &Path, memory_bytes: u64, data: Dataset, redo_bytes: u64, ready: impl FnOnce()) -> Result<()> {
    let meseta = Meseta::open_with(dir, recovery_options(memory_bytes, redo_bytes), Durability::Lazy)?;
    meseta.load(&data)?;
    meseta.store.checkpoint()?;
    let start = meseta.store.log_end().0;
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for seed in 0..2 {
            let (meseta, stop) = (&meseta, &stop);
            scope.spawn(move || {
                let mut rng = Rng::new(seed);
                let mut value = vec![0; data.value_bytes];
                while !stop.load(Ordering::Relaxed) {
                    data.fill_value(rng.bits(), &mut value);
                    if let Err(error) = meseta.update(&data.random_key(&mut rng), &value) {
                        eprintln!("writing the log: {error}");
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
        while meseta.store.durable_lsn().0 - start < redo_bytes && !stop.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        if !stop.load(Ordering::Relaxed) {
            ready();
            // Should nobody kill this, it ends by itself.
            thread::sleep(Duration::from_secs(60));
            stop.store(true, Ordering::Relaxed);
        }
    });
    Err("not killed in time".into())
}

/// Opens what a kill has left and reads a row. Returns what was redone and how
/// long it took until the row was there.
pub fn reopen(dir: &Path, memory_bytes: u64, redo_bytes: u64) -> Result<(RecoveryFigures, Duration)> {
    let start = Instant::now();
    let meseta = Meseta::open_with(dir, recovery_options(memory_bytes, redo_bytes), Durability::Write)?;
    if !meseta.get(&[0; 8], &mut Vec::new())? {
        return Err("the first row is lost".into());
    }
    Ok((meseta.store.recovery(), start.elapsed()))
}
