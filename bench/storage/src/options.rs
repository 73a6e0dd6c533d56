//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};

use crate::dataset::Dataset;
use crate::engines::Kind;
use crate::workload::Workload;

/// Compares Meseta's storage engine with LMDB, RocksDB, redb and fjall: the same
/// data, the same durability, one table.
#[derive(Clone, Debug, Parser)]
pub struct Options {
    /// Rows loaded before anything is measured
    #[arg(long, default_value_t = 10_000_000)]
    pub rows: u64,
    /// Bytes in each value
    #[arg(long, default_value_t = 100)]
    pub value_bytes: usize,
    /// How long each cell of the table is measured
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2,8")]
    pub threads: Vec<usize>,
    /// More threads than cores, for the rows in memory; 0 for none
    #[arg(long, default_value_t = 64, value_name = "THREADS")]
    pub oversubscribed: usize,
    /// Numbers of threads that commit durably
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    pub commit_threads: Vec<usize>,
    /// Engines to compare; all if none is named
    #[arg(long, value_delimiter = ',')]
    pub engines: Vec<Kind>,
    /// Rows of the table; all if none is named
    #[arg(long, value_delimiter = ',')]
    pub workloads: Vec<Workload>,
    /// Whether the data fit in memory
    #[arg(long, default_value = "both")]
    pub memory: Memory,
    /// How often what is not committed durably is flushed; 0 for never
    #[arg(long, default_value_t = 1.0, value_name = "SECONDS")]
    pub sync_every: f64,
    /// Open LMDB with a writable memory map: faster, but a stray write of the
    /// program then lands in the data
    #[arg(long)]
    pub lmdb_write_map: bool,
    /// On a machine shared with others, spend up to this long in all on waiting
    /// until they are quiet and on measuring again what they disturbed
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS")]
    pub patience: f64,
    /// Let Meseta's commits return before the operating system has their log:
    /// less than the other logs give
    #[arg(long)]
    pub meseta_lazy: bool,
    /// Bytes of the plain direct reads that random reads are compared with:
    /// Meseta's page
    #[arg(long, default_value_t = 16384, value_name = "BYTES")]
    pub device_block: usize,
    /// Update for this long with data larger than memory and report the worst
    /// second; 0 to leave it out
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    pub long_updates: u64,
    /// Engines that do so; Meseta if none is named
    #[arg(long, value_delimiter = ',')]
    pub long_updates_engines: Vec<Kind>,
    /// Kill Meseta with this much log to redo and time its next start; 0 to
    /// leave it out
    #[arg(long, default_value_t = 1.0, value_name = "GIB")]
    pub recovery_gib: f64,
    /// Where the data are written; what an earlier run left is removed
    #[arg(long, default_value = "bench-data")]
    pub dir: PathBuf,
    /// Write every number measured to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the table to this file
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Only write this many bytes of log, say so, and go on until killed
    #[arg(long, hide = true, value_name = "BYTES")]
    pub write_log: Option<u64>,
}

/// How much memory the engines get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Memory {
    /// More than the data need.
    In,
    /// One eighth of the data.
    Eighth,
    /// One after the other.
    Both,
}

impl Options {
    /// What was asked for on the command line.
    pub fn read() -> Self {
        let mut options = Options::parse();
        if options.engines.is_empty() {
            options.engines = Kind::value_variants().to_vec();
        }
        if options.workloads.is_empty() {
            options.workloads = Workload::value_variants().to_vec();
        }
        options
    }

    /// The rows to load.
    pub fn data(&self) -> Dataset {
        Dataset { rows: self.rows, value_bytes: self.value_bytes }
    }

    /// How long each cell is measured.
    pub fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// Memory that leaves every engine room for its overhead and for what one
    /// workload's inserts add, in pages that are half full.
    pub fn ample_bytes(&self) -> u64 {
        const INSERTS_PER_SECOND: f64 = 1.5e6;
        let cells = (self.threads.len() + 1) as f64;
        let inserted = Dataset { rows: (self.seconds * cells * INSERTS_PER_SECOND) as u64, ..self.data() };
        3 * self.data().bytes() + (256 << 20) + 2 * inserted.bytes()
    }

    /// One eighth of the data.
    pub fn eighth_bytes(&self) -> u64 {
        self.data().bytes() / 8
    }

    /// The workloads asked for, less the durable commits, in the order in which
    /// they can run on the same data.
    pub fn rows_of_table(&self) -> Vec<Workload> {
        Workload::ROWS.into_iter().filter(|row| self.workloads.contains(row)).collect()
    }
}
