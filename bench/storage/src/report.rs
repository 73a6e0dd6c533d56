//! All that was measured, as tables and as JSON.

use std::fmt::Write;
use std::fs;
use std::thread::available_parallelism;

use serde::Serialize;

use crate::engines::Kind;
use crate::neighbours::DISTURBED;
use crate::options::Options;
use crate::recovery::Recovery;
use crate::runner::{Measurement, median};
use crate::table::{Table, rate, ratio};
use crate::workload::Workload;

/// Which part of the table a cell is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// The data fit in memory.
    InMemory,
    /// The cache holds one eighth of them.
    Eighth,
    /// Every commit is flushed.
    Durable,
}

impl Section {
    /// The name in the table.
    pub fn label(self) -> &'static str {
        match self {
            Section::InMemory => "in memory",
            Section::Eighth => "1/8 cached",
            Section::Durable => "flushed",
        }
    }
}

/// One number of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    section: Section,
    workload: Workload,
    threads: usize,
    engine: Kind,
    operations_per_second: f64,
    operations: u64,
    per_second: Vec<u64>,
    settling_seconds: f64,
    cores_used_by_others: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    commits_per_flush: Option<f64>,
}

impl Cell {
    /// What was measured there.
    pub fn new(
        section: Section,
        engine: Kind,
        workload: Workload,
        threads: usize,
        measured: Measurement,
        others: f64,
    ) -> Self {
        let flushes = measured.flushes.filter(|&n| n > 0 && section == Section::Durable);
        Cell {
            section,
            workload,
            threads,
            engine,
            operations_per_second: measured.rate(),
            operations: measured.operations,
            commits_per_flush: flushes.map(|n| measured.operations as f64 / n as f64),
            per_second: measured.per_second,
            settling_seconds: measured.settling.as_secs_f64(),
            cores_used_by_others: others,
        }
    }
}

/// Random lookups next to what the device gives threads that only read.
#[derive(Clone, Debug, Serialize)]
pub struct BesideDevice {
    /// The engine.
    pub engine: Kind,
    /// Threads that look up, and threads that only read.
    pub threads: usize,
    /// Blocks that the device gave in each round.
    pub reads_per_second: Vec<f64>,
    /// Lookups in each round.
    pub lookups_per_second: Vec<f64>,
}

impl BesideDevice {
    /// Lookups a block read, in the median round.
    fn share(&self) -> f64 {
        let rounds = self.lookups_per_second.iter().zip(&self.reads_per_second);
        median(rounds.map(|(lookups, reads)| lookups / reads).collect())
    }
}

/// Minutes of updates, second by second.
#[derive(Clone, Debug, Serialize)]
pub struct LongUpdates {
    /// The engine.
    pub engine: Kind,
    /// Threads that update.
    pub threads: usize,
    /// Updates in the worst second.
    pub worst_second: u64,
    /// Updates in the median second.
    pub median_second: u64,
    /// Updates in each.
    pub per_second: Vec<u64>,
    /// What a plain read of one block took meanwhile, in milliseconds: the
    /// median of each second.
    pub device_read_ms: Vec<f64>,
}

/// One engine and its version.
#[derive(Clone, Debug, Serialize)]
struct Version {
    engine: Kind,
    package: &'static str,
    version: &'static str,
}

/// Everything.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    machine: String,
    rows: u64,
    value_bytes: usize,
    seconds: f64,
    sync_every_seconds: f64,
    versions: Vec<Version>,
    /// The table's numbers.
    pub cells: Vec<Cell>,
    /// Bytes of each plain read.
    device_block: usize,
    /// Plain reads.
    pub device: Vec<BesideDevice>,
    /// Plain flushes per second of one thread, before each row of durable commits.
    pub device_flushes: Vec<f64>,
    /// Long updates.
    pub long_updates: Vec<LongUpdates>,
    /// Starts after a kill.
    pub recovery: Option<Recovery>,
    /// Engines that had all free memory as page cache in the rows of one eighth.
    pub unlimited: Vec<Kind>,
}

impl Report {
    /// A report of nothing yet.
    pub fn new(options: &Options) -> Self {
        let version = |&kind: &Kind| Version { engine: kind, package: kind.package(), version: kind.version() };
        Report {
            machine: machine(),
            rows: options.rows,
            value_bytes: options.value_bytes,
            seconds: options.seconds,
            sync_every_seconds: options.sync_every,
            versions: options.engines.iter().map(version).collect(),
            cells: Vec::new(),
            device_block: options.device_block,
            device: Vec::new(),
            device_flushes: Vec::new(),
            long_updates: Vec::new(),
            recovery: None,
            unlimited: Vec::new(),
        }
    }

    /// The tables, in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "{} rows of an 8-byte key and a {}-byte value, {} s for each number, {}. Operations per second",
            self.rows, self.value_bytes, self.seconds, self.machine
        );
        let versions: Vec<_> = self.versions.iter().map(|v| format!("{} {}", v.package, v.version)).collect();
        let _ = writeln!(text, " ({}):\n\n{}", versions.join(", "), self.comparison());
        for table in [self.device_table(), self.flush_table(), self.long_table()] {
            if !table.is_empty() {
                let _ = writeln!(text, "{table}");
            }
        }
        if !self.device_flushes.is_empty() {
            let rates: Vec<_> = self.device_flushes.iter().map(|&flushes| rate(flushes)).collect();
            let _ = writeln!(
                text,
                "One thread that only flushes did so {} times a second before these rows.\n",
                rates.join(", ")
            );
        }
        if let Some(recovery) = &self.recovery {
            let _ = writeln!(text, "{recovery}\n");
        }
        for kind in &self.unlimited {
            let _ = writeln!(text, "{} could use all free memory as page cache in the rows of 1/8.\n", kind.label());
        }
        let disturbed = self.cells.iter().filter(|cell| cell.cores_used_by_others > DISTURBED);
        match disturbed.count() {
            0 => {}
            n => {
                let _ = writeln!(text, "Other processes disturbed {n} of {} numbers.\n", self.cells.len());
            }
        }
        text
    }

    /// The one table: every engine's number, and what Meseta's is of it.
    fn comparison(&self) -> Table {
        let engines: Vec<Kind> = self.versions.iter().map(|version| version.engine).collect();
        let peers: Vec<Kind> = engines.iter().copied().filter(|kind| !kind.is_meseta()).collect();
        let compares = peers.len() < engines.len();
        let mut head = vec!["".to_owned(), "threads".to_owned()];
        head.extend(engines.iter().map(|kind| kind.label().to_owned()));
        if compares {
            head.extend(peers.iter().map(|kind| format!("/ {}", kind.label())));
            head.push("/ best".to_owned());
        }
        let mut table = Table::new(head);
        for (section, workload, threads) in self.keys() {
            let found = |kind: Kind| {
                self.cells
                    .iter()
                    .find(|cell| {
                        (cell.section, cell.workload, cell.threads, cell.engine) == (section, workload, threads, kind)
                    })
                    .map(|cell| cell.operations_per_second)
            };
            let mut row = vec![format!("{}, {}", workload.label(), section.label()), threads.to_string()];
            row.extend(engines.iter().map(|&kind| found(kind).map_or(String::new(), rate)));
            let meseta = engines.iter().copied().find(|kind| kind.is_meseta()).and_then(found);
            if let Some(meseta) = meseta {
                row.extend(peers.iter().map(|&peer| found(peer).map_or(String::new(), |r| ratio(meseta, r))));
                row.push(ratio(meseta, peers.iter().filter_map(|&peer| found(peer)).fold(0.0, f64::max)));
            }
            table.push(row);
        }
        table
    }

    /// The rows of the table, in the order they were measured in first.
    fn keys(&self) -> Vec<(Section, Workload, usize)> {
        let mut keys = Vec::new();
        for cell in &self.cells {
            let key = (cell.section, cell.workload, cell.threads);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// Random lookups as a part of what the device gives.
    fn device_table(&self) -> Table {
        let mut head = vec![format!("lookups / direct reads of {} bytes", self.device_block), "device".to_owned()];
        head.extend(self.versions.iter().map(|version| version.engine.label().to_owned()));
        let mut table = Table::new(head);
        let mut threads: Vec<_> = self.device.iter().map(|beside| beside.threads).collect();
        threads.sort_unstable();
        threads.dedup();
        for threads in threads {
            let row: Vec<_> = self.device.iter().filter(|beside| beside.threads == threads).collect();
            let reads = row.iter().flat_map(|beside| beside.reads_per_second.clone()).collect();
            let mut cells = vec![format!("{threads} threads"), rate(median(reads))];
            for version in &self.versions {
                let beside = row.iter().find(|beside| beside.engine == version.engine);
                cells.push(beside.map_or(String::new(), |beside| ratio(beside.share(), 1.0)));
            }
            table.push(cells);
        }
        table
    }

    /// How many commits share a flush, for the engines that tell.
    fn flush_table(&self) -> Table {
        let mut table = Table::new(["commits that share a flush", "threads", "commits"]);
        for cell in &self.cells {
            if let Some(shared) = cell.commits_per_flush {
                table.push([cell.engine.label().to_owned(), cell.threads.to_string(), format!("{shared:.1}")]);
            }
        }
        table
    }

    /// The worst second of the long updates.
    fn long_table(&self) -> Table {
        let mut table = Table::new([
            "updates, 1/8 cached",
            "seconds",
            "worst second",
            "median second",
            "ratio",
            "device's read, worst second",
            "device's read, median second",
        ]);
        for long in &self.long_updates {
            let worst = long.per_second.iter().position(|&updates| updates == long.worst_second);
            let then = worst.and_then(|second| long.device_read_ms.get(second)).copied().unwrap_or(f64::NAN);
            table.push([
                format!("{}, {} threads", long.engine.label(), long.threads),
                long.per_second.len().to_string(),
                rate(long.worst_second as f64),
                rate(long.median_second as f64),
                ratio(long.worst_second as f64, long.median_second as f64),
                format!("{then:.1} ms"),
                format!("{:.1} ms", median(long.device_read_ms.clone())),
            ]);
        }
        table
    }
}

/// The cores and the processor.
fn machine() -> String {
    let cores = available_parallelism().map_or(1, |cores| cores.get());
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    format!("{cores} cores of {}", model.unwrap_or("an unknown processor"))
}
