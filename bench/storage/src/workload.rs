//! The operations that are measured.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use clap::ValueEnum;
use serde::Serialize;

use crate::dataset::{Dataset, Key};
use crate::engine::{Engine, Result};
use crate::rng::Rng;

/// Entries a short scan visits.
const SCAN_LENGTH: usize = 100;

/// One kind of work, a row of the table for each number of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// Random lookups of existing keys.
    Lookups,
    /// Scans of 100 entries from random keys.
    Scans,
    /// New values for random existing keys.
    Updates,
    /// Half lookups, half updates.
    Mix,
    /// Inserts past the last key.
    SequentialInserts,
    /// Inserts between existing keys.
    RandomInserts,
    /// Updates, each flushed to the device before the next.
    DurableCommits,
}

impl Workload {
    /// All of them except the durable commits, which have threads of their own.
    /// The inserts come last, since they change what the others would find.
    pub const ROWS: [Workload; 6] = [
        Workload::Lookups,
        Workload::Scans,
        Workload::Updates,
        Workload::Mix,
        Workload::SequentialInserts,
        Workload::RandomInserts,
    ];

    /// The name in the table.
    pub fn label(self) -> &'static str {
        match self {
            Workload::Lookups => "random lookups",
            Workload::Scans => "scans of 100",
            Workload::Updates => "random updates",
            Workload::Mix => "50/50 mix",
            Workload::SequentialInserts => "sequential inserts",
            Workload::RandomInserts => "random inserts",
            Workload::DurableCommits => "durable commits",
        }
    }

    /// Whether it makes the table larger.
    pub fn inserts(self) -> bool {
        matches!(self, Workload::SequentialInserts | Workload::RandomInserts)
    }

    /// Whether it writes, so that the runner has to wait for leftover work
    /// afterwards.
    pub fn writes(self) -> bool {
        !matches!(self, Workload::Lookups | Workload::Scans)
    }
}

/// One thread's side of a workload: its random numbers and its buffers.
pub struct Worker<'a> {
    engine: &'a dyn Engine,
    data: Dataset,
    workload: Workload,
    rng: Rng,
    value: Vec<u8>,
    read: Vec<u8>,
    /// Rows in the table, the next sequential insert's number; shared by the
    /// threads as an AUTO_INCREMENT counter is.
    rows: &'a AtomicU64,
}

impl<'a> Worker<'a> {
    /// A worker with random numbers of its own.
    pub fn new(engine: &'a dyn Engine, data: Dataset, workload: Workload, seed: u64, rows: &'a AtomicU64) -> Self {
        let mut value = vec![0; data.value_bytes];
        data.fill_value(seed, &mut value);
        Worker { engine, data, workload, rng: Rng::new(seed), value, read: Vec::with_capacity(data.value_bytes), rows }
    }

    /// Does one operation.
    pub fn step(&mut self) -> Result<()> {
        match self.workload {
            Workload::Lookups => self.look_up(),
            Workload::Scans => {
                let from = self.data.random_key(&mut self.rng);
                black_box(self.engine.scan(&from, SCAN_LENGTH)?);
                Ok(())
            }
            Workload::Updates => self.update(),
            Workload::Mix if self.rng.bits() >> 63 == 0 => self.look_up(),
            Workload::Mix => self.update(),
            Workload::SequentialInserts => {
                let key = self.data.key(self.rows.fetch_add(1, Ordering::Relaxed));
                self.renew_value();
                self.engine.insert(&key, &self.value)
            }
            Workload::RandomInserts => {
                let key = self.data.random_gap(&mut self.rng);
                self.renew_value();
                self.engine.insert(&key, &self.value)
            }
            Workload::DurableCommits => {
                let key = self.data.random_key(&mut self.rng);
                self.renew_value();
                self.engine.commit_durably(&key, &self.value)
            }
        }
    }

    fn look_up(&mut self) -> Result<()> {
        let key: Key = self.data.random_key(&mut self.rng);
        let found = self.engine.get(&key, &mut self.read)?;
        if !found || black_box(&self.read).len() != self.data.value_bytes {
            return Err(format!("key {key:02x?} was loaded and is not found").into());
        }
        Ok(())
    }

    fn update(&mut self) -> Result<()> {
        let key = self.data.random_key(&mut self.rng);
        self.renew_value();
        self.engine.update(&key, &self.value)
    }

    /// Makes the value one not written before: an engine that compared old and
    /// new would find them different.
    fn renew_value(&mut self) {
        let stamp = self.rng.bits().to_le_bytes();
        let n = self.value.len().min(stamp.len());
        self.value[..n].copy_from_slice(&stamp[..n]);
    }
}
