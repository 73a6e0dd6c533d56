//! The command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use meseta_storage::Durability;
use serde::Serialize;

use crate::sbtest;
use crate::workload::Workload;

/// Measures Meseta's transactions in process: one table of sysbench's shape, from one thread to a thousand.
#[derive(Clone, Debug, Parser)]
pub struct Options {
    /// Rows loaded before anything is measured
    #[arg(long, default_value_t = 10_000_000, value_parser = clap::value_parser!(u32).range(1_000..=1_000_000_000))]
    pub rows: u32,
    /// How long each cell of the table is measured
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS")]
    pub seconds: f64,
    /// Numbers of threads
    #[arg(long, value_delimiter = ',', default_value = "1,2,8,64,1024")]
    pub threads: Vec<usize>,
    /// Rows of the table; all if none is named
    #[arg(long, value_delimiter = ',')]
    pub workloads: Vec<Workload>,
    /// Instead: hold a snapshot while the first number of threads make so many updates
    #[arg(long, value_name = "UPDATES")]
    pub long_reader: Option<u64>,
    /// How durable a commit is when it returns
    #[arg(long, default_value = "write")]
    pub durability: CommitDurability,
    /// Run on the first so many of the cores that this process may use
    #[arg(long)]
    pub cores: Option<usize>,
    /// Bytes of the log in MiB
    #[arg(long, default_value_t = 1024, value_name = "MIB")]
    pub log_mib: u64,
    /// On a machine shared with others, spend up to this long in all on waiting until they are quiet
    #[arg(long, default_value_t = 0.0, value_name = "SECONDS")]
    pub patience: f64,
    /// Where the data are written; what an earlier run left is removed
    #[arg(long, default_value = "bench-data")]
    pub dir: PathBuf,
    /// Write every number measured to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the tables to this file
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
}

/// When a commit returns: `innodb_flush_log_at_trx_commit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommitDurability {
    /// Once the operating system has its log (2)
    Write,
    /// Once its log is synced (1)
    Flush,
    /// At once (0)
    Lazy,
}

impl CommitDurability {
    /// What its commits wait for, as reports say it.
    pub fn label(self) -> &'static str {
        match self {
            CommitDurability::Write => "commits whose log the operating system has",
            CommitDurability::Flush => "commits whose log is synced",
            CommitDurability::Lazy => "commits that wait for nothing",
        }
    }

    /// As the store calls it.
    pub fn as_storage(self) -> Durability {
        match self {
            CommitDurability::Write => Durability::Write,
            CommitDurability::Flush => Durability::Flush,
            CommitDurability::Lazy => Durability::Lazy,
        }
    }
}

impl Options {
    /// What was asked for on the command line.
    pub fn read() -> Self {
        let mut options = Options::parse();
        if options.workloads.is_empty() {
            options.workloads = Workload::value_variants().to_vec();
        }
        options.threads.retain(|&threads| threads > 0);
        options
    }

    /// How long each cell is measured.
    pub fn duration(&self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }

    /// Memory for all that is loaded and all that is added, in pages that are half full. It is taken as it is needed.
    pub fn ample_bytes(&self) -> u64 {
        const CHANGES_PER_SECOND: f64 = 1e6;
        let cells = (self.threads.len() * self.workloads.iter().filter(|workload| workload.writes()).count()) as f64;
        let added = (self.seconds * cells * CHANGES_PER_SECOND) as u64;
        (1 << 30) + 2 * sbtest::ROW_BYTES * (u64::from(self.rows) + added)
    }
}
