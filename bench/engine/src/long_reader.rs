//! A snapshot that is held while others update: what it costs them, what it keeps, and how soon that goes afterwards.
//!
//! ```text
//!   updates alone, in slices     a snapshot is taken     the same updates, in slices     it goes: until all is purged
//!   \_ their median is 1.00 _/                           \_ their median, and the last _/
//! ```

use std::fmt::{self, Display};
use std::thread;
use std::time::{Duration, Instant};

use meseta_engine::Engine;
use serde::Serialize;

use crate::Result;
use crate::options::Options;
use crate::runner::{Run, measure};
use crate::sbtest::Sbtest;
use crate::table::{rate, ratio};
use crate::workload::Workload;

/// How long updates run between two looks.
const SLICE: Duration = Duration::from_secs(5);
/// So many slices alone: enough for a median.
const SLICES_ALONE: usize = 5;

/// A look at the store between two slices.
#[derive(Clone, Copy, Debug, Serialize)]
struct Look {
    updates: u64,
    updates_per_second: f64,
    /// All threads of the process together, of CPU for each update.
    cpu_microseconds: f64,
    /// Transactions with undo records.
    unpurged: usize,
    /// Pages of the data file that are in use.
    used_pages: u64,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct LongReader {
    threads: usize,
    alone: Vec<Look>,
    held: Vec<Look>,
    /// Until nothing was left to purge.
    reclaimed_seconds: f64,
    /// Pages in use then.
    used_pages_after: u64,
}

/// Runs the updates alone, and then `updates` of them while a snapshot is held.
pub fn run(sbtest: &Sbtest, options: &Options, updates: u64) -> Result<LongReader> {
    let threads = options.threads.first().copied().unwrap_or(1);
    let mut seed = 0;
    let mut slice = || -> Result<Look> {
        seed += 1;
        let durability = options.durability.as_storage();
        let run = Run { workload: Workload::UpdateIndex, threads, duration: SLICE, durability, seed };
        let measured = measure(sbtest, &run)?;
        let look = Look {
            updates: measured.transactions,
            updates_per_second: measured.transactions as f64 / measured.elapsed.as_secs_f64(),
            cpu_microseconds: measured.usage.cpu.as_secs_f64() * 1e6 / measured.transactions.max(1) as f64,
            unpurged: sbtest.engine.unpurged(),
            used_pages: used_pages(&sbtest.engine),
        };
        eprintln!("{look}");
        Ok(look)
    };
    let alone = (0..SLICES_ALONE).map(|_| slice()).collect::<Result<Vec<_>>>()?;
    let mut reader = sbtest.engine.session()?;
    reader.snapshot();
    eprintln!("a snapshot is held");
    let (mut held, mut done) = (Vec::new(), 0);
    while done < updates {
        let look = slice()?;
        done += look.updates;
        held.push(look);
    }
    reader.commit()?;
    let since = Instant::now();
    while sbtest.engine.unpurged() > 0 {
        thread::sleep(Duration::from_millis(10));
    }
    let reclaimed_seconds = since.elapsed().as_secs_f64();
    Ok(LongReader { threads, alone, held, reclaimed_seconds, used_pages_after: used_pages(&sbtest.engine) })
}

fn used_pages(engine: &Engine) -> u64 {
    let figures = engine.store().figures();
    figures.file_pages - figures.free_pages
}

fn median(looks: &[Look], of: impl Fn(&Look) -> f64) -> f64 {
    let mut all: Vec<f64> = looks.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Look { updates, updates_per_second, cpu_microseconds, unpurged, used_pages } = self;
        let rate = rate(*updates_per_second);
        write!(f, "{updates} updates, {rate}/s, {cpu_microseconds:.2} µs; {unpurged} unpurged, {used_pages} pages")
    }
}

impl Display for LongReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [alone, held] = [&self.alone, &self.held].map(|looks| median(looks, |look| look.updates_per_second));
        let [alone_cpu, held_cpu] = [&self.alone, &self.held].map(|looks| median(looks, |look| look.cpu_microseconds));
        let updates: u64 = self.held.iter().map(|look| look.updates).sum();
        let threads = self.threads;
        writeln!(
            f,
            "| {threads} threads update an indexed column | updates/s | of alone | µs of CPU | unpurged | pages |"
        )?;
        writeln!(f, "|---|--:|--:|--:|--:|--:|")?;
        let mut line = |what: &str, per_second: f64, cpu: f64, look: &Look| {
            let (rate, of_alone) = (rate(per_second), ratio(per_second, alone));
            writeln!(f, "| {what} | {rate} | {of_alone} | {cpu:.2} | {} | {} |", look.unpurged, look.used_pages)
        };
        if let (Some(before), Some(last)) = (self.alone.last(), self.held.last()) {
            line("alone, median", alone, alone_cpu, before)?;
            line("snapshot held, median", held, held_cpu, last)?;
            line("snapshot held, last slice", last.updates_per_second, last.cpu_microseconds, last)?;
        }
        let (seconds, pages) = (self.reclaimed_seconds, self.used_pages_after);
        writeln!(
            f,
            "\n{updates} updates while it was held; all was reclaimed {seconds:.2} s after it went: {pages} pages."
        )
    }
}
