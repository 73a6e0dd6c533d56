//! All that was measured, as tables and as JSON.

use std::fmt::{self, Display, Write};
use std::fs;
use std::thread::available_parallelism;
use std::time::Duration;

use serde::Serialize;

use crate::neighbours::DISTURBED;
use crate::options::{CommitDurability, Options};
use crate::runner::Measurement;
use crate::table::{Table, rate, ratio};
use crate::waits::{Side, TOO_MUCH, Wait};
use crate::workload::{Retries, Workload};

/// Waits of a cell that are shown at most; all of them are in the JSON.
const WAITS_SHOWN: usize = 5;
/// The smallest part of a cell's time that the last table shows.
const SHARE_SHOWN: f64 = 0.01;
/// The smallest part that is shown when a cell has been measured.
const SHARE_TOLD: f64 = 0.001;

/// One number of the table, and what is behind it.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    workload: Workload,
    threads: usize,
    transactions_per_second: f64,
    transactions: u64,
    per_second: Vec<u64>,
    cpu_microseconds: f64,
    voluntary_switches: f64,
    involuntary_switches: f64,
    retries: Retries,
    /// Transactions that were not purged yet when it ended.
    unpurged: usize,
    /// How long it took to purge them, and to flush the log.
    settling_seconds: f64,
    cores_used_by_others: f64,
    waits: Vec<Wait>,
}

impl Cell {
    /// What was measured there.
    pub fn new(
        workload: Workload,
        threads: usize,
        measured: Measurement,
        others: f64,
        unpurged: usize,
        settling: Duration,
    ) -> Self {
        let each = |all: f64| all / measured.transactions.max(1) as f64;
        Cell {
            workload,
            threads,
            transactions_per_second: measured.transactions as f64 / measured.elapsed.as_secs_f64(),
            transactions: measured.transactions,
            cpu_microseconds: each(measured.usage.cpu.as_secs_f64() * 1e6),
            voluntary_switches: each(measured.usage.voluntary as f64),
            involuntary_switches: each(measured.usage.involuntary as f64),
            per_second: measured.per_second,
            retries: measured.retries,
            unpurged,
            settling_seconds: settling.as_secs_f64(),
            cores_used_by_others: others,
            waits: measured.waits,
        }
    }

    /// Its longest waits, as far as they are worth showing.
    fn top_waits(&self, share: f64) -> impl Iterator<Item = &Wait> {
        self.waits.iter().take(WAITS_SHOWN).filter(move |wait| wait.share >= share)
    }

    /// Waits that there should not be.
    fn too_much(&self) -> impl Iterator<Item = &Wait> {
        self.waits.iter().filter(|wait| wait.is_too_much(self.workload))
    }
}

/// What is said when it has been measured.
impl Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<16} {:>4} threads: {:>6}/s, {:.2} µs of CPU, {:.3} + {:.3} switches",
            self.workload.label(),
            self.threads,
            rate(self.transactions_per_second),
            self.cpu_microseconds,
            self.voluntary_switches,
            self.involuntary_switches
        )?;
        for wait in self.top_waits(SHARE_TOLD) {
            let mark = if wait.is_too_much(self.workload) { "  <-- too much" } else { "" };
            writeln!(f, "    {:>6.2}% {} ({} times){mark}", 100.0 * wait.share, name(wait), wait.count)?;
        }
        Ok(())
    }
}

/// Everything.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    machine: String,
    cores: usize,
    rows: u32,
    seconds: f64,
    durability: CommitDurability,
    log_mib: u64,
    loading_seconds: f64,
    threads: Vec<usize>,
    /// The table's numbers.
    pub cells: Vec<Cell>,
}

impl Report {
    /// A report of nothing yet.
    pub fn new(options: &Options, loading_seconds: f64) -> Self {
        Report {
            machine: processor(),
            cores: available_parallelism().map_or(1, usize::from),
            rows: options.rows,
            seconds: options.seconds,
            durability: options.durability,
            log_mib: options.log_mib,
            loading_seconds,
            threads: options.threads.clone(),
            cells: Vec::new(),
        }
    }

    /// The tables, in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "{} rows of sysbench's sbtest in memory, {} s for each number, {}, {} cores of {}.\n\n",
            self.rows,
            self.seconds,
            self.durability.label(),
            self.cores,
            self.machine
        );
        let mut add = |title: &str, table: Table| {
            if !table.is_empty() {
                let _ = writeln!(text, "{title}:\n\n{table}");
            }
        };
        add("Transactions per second, and their part of the row's best", self.rates());
        add("Microseconds of CPU a transaction, all threads of the process together", self.costs());
        add("Context switches a transaction, voluntary + involuntary", self.switches());
        add("Done more than once, and left over", self.retries());
        add("Waits as a share of thread time (\\*: too much)", self.contention());
        let too_much: Vec<_> = self
            .cells
            .iter()
            .flat_map(|cell| {
                cell.too_much().map(move |wait| {
                    let share = 100.0 * wait.share;
                    format!("{} in {} with {} threads ({share:.1}%)", wait.name, cell.workload.label(), cell.threads)
                })
            })
            .collect();
        let limit = 100.0 * TOO_MUCH;
        let found = if too_much.is_empty() { "none".to_owned() } else { too_much.join(", ") };
        let _ = writeln!(
            text,
            "Waits above {limit}% of thread time, those for hot rows, those for the log to be written or flushed, and \
             those of the store's own threads aside: {found}.\n"
        );
        let disturbed = self.cells.iter().filter(|cell| cell.cores_used_by_others > DISTURBED).count();
        if disturbed > 0 {
            let _ = writeln!(text, "Other processes disturbed {disturbed} of {} numbers.\n", self.cells.len());
        }
        text
    }

    /// A table with a row for each workload and a column for each number of threads.
    fn by_threads(&self, show: impl Fn(&Cell) -> String) -> Table {
        let mut table = Table::new(
            std::iter::once("threads".to_owned()).chain(self.threads.iter().map(|threads| threads.to_string())),
        );
        for workload in self.workloads() {
            let mut row = vec![workload.label().to_owned()];
            row.extend(self.threads.iter().map(|&threads| self.cell(workload, threads).map_or(String::new(), &show)));
            table.push(row);
        }
        table
    }

    fn rates(&self) -> Table {
        self.by_threads(|cell| {
            let row = self.cells.iter().filter(|other| other.workload == cell.workload);
            let best = row.map(|other| other.transactions_per_second).fold(0.0, f64::max);
            format!("{} ({})", rate(cell.transactions_per_second), ratio(cell.transactions_per_second, best))
        })
    }

    fn costs(&self) -> Table {
        let mut table = self.by_threads(|cell| format!("{:.2}", cell.cpu_microseconds));
        let ratios: Vec<_> = self
            .threads
            .iter()
            .map(|&threads| {
                let cost = |workload| self.cell(workload, threads).map_or(0.0, |cell| cell.cpu_microseconds);
                match cost(Workload::Reads) {
                    0.0 => String::new(),
                    reads => ratio(reads, cost(Workload::Lookups)),
                }
            })
            .collect();
        if ratios.iter().any(|ratio| !ratio.is_empty()) {
            table.push(std::iter::once("reads / lookups".to_owned()).chain(ratios));
        }
        table
    }

    fn switches(&self) -> Table {
        self.by_threads(|cell| format!("{:.3} + {:.3}", cell.voluntary_switches, cell.involuntary_switches))
    }

    fn retries(&self) -> Table {
        let mut table =
            Table::new(["workload", "threads", "deadlocks", "timeouts", "stale", "unpurged", "seconds to settle"]);
        for cell in &self.cells {
            if cell.retries == Retries::default() && cell.unpurged == 0 {
                continue;
            }
            let Retries { deadlocks, timeouts, stale } = cell.retries;
            let mut row = vec![cell.workload.label().to_owned()];
            row.extend([cell.threads as u64, deadlocks, timeouts, stale].map(|number| number.to_string()));
            row.extend([cell.unpurged.to_string(), format!("{:.2}", cell.settling_seconds)]);
            table.push(row);
        }
        table
    }

    fn contention(&self) -> Table {
        let mut table = Table::new(["wait", "workload", "threads", "share", "waits a transaction", "mean"]);
        for cell in &self.cells {
            for wait in cell.top_waits(SHARE_SHOWN) {
                let mark = if wait.is_too_much(cell.workload) { " \\*" } else { "" };
                table.push([
                    name(wait),
                    cell.workload.label().to_owned(),
                    cell.threads.to_string(),
                    format!("{:.1}%{mark}", 100.0 * wait.share),
                    format!("{:.4}", wait.count as f64 / cell.transactions.max(1) as f64),
                    format!("{:.1} µs", wait.seconds * 1e6 / wait.count as f64),
                ]);
            }
        }
        table
    }

    /// Those that were measured, in the order in which they were.
    fn workloads(&self) -> Vec<Workload> {
        let mut workloads = Vec::new();
        for cell in &self.cells {
            if !workloads.contains(&cell.workload) {
                workloads.push(cell.workload);
            }
        }
        workloads
    }

    fn cell(&self, workload: Workload, threads: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| (cell.workload, cell.threads) == (workload, threads))
    }
}

/// A wait's name, and whose it is if it is not a worker's.
fn name(wait: &Wait) -> String {
    if wait.side == Side::Background { format!("{} (store's own)", wait.name) } else { wait.name.clone() }
}

/// The processor's name.
fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split(": ").nth(1));
    model.unwrap_or("an unknown processor").to_owned()
}
