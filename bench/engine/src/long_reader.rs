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

fn median(looks: &[Look]) -> f64 {
    let mut rates: Vec<f64> = looks.iter().map(|look| look.updates_per_second).collect();
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Look { updates, updates_per_second, unpurged, used_pages } = self;
        write!(f, "{updates} updates, {}/s; {unpurged} unpurged, {used_pages} pages", rate(*updates_per_second))
    }
}

impl Display for LongReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (alone, held) = (median(&self.alone), median(&self.held));
        let updates: u64 = self.held.iter().map(|look| look.updates).sum();
        writeln!(f, "| {} threads update an indexed column | updates/s | of alone | unpurged | pages |", self.threads)?;
        writeln!(f, "|---|--:|--:|--:|--:|")?;
        let mut line = |what: &str, per_second: f64, unpurged: usize, pages: u64| {
            writeln!(f, "| {what} | {} | {} | {unpurged} | {pages} |", rate(per_second), ratio(per_second, alone))
        };
        if let (Some(before), Some(first), Some(last)) = (self.alone.last(), self.held.first(), self.held.last()) {
            line("alone", alone, before.unpurged, before.used_pages)?;
            line("snapshot held, first slice", first.updates_per_second, first.unpurged, first.used_pages)?;
            line("snapshot held, median", held, last.unpurged, last.used_pages)?;
            line("snapshot held, last slice", last.updates_per_second, last.unpurged, last.used_pages)?;
        }
        let (seconds, pages) = (self.reclaimed_seconds, self.used_pages_after);
        writeln!(f, "\n{updates} updates while the snapshot was held; all was reclaimed {seconds:.2} s after it went: {pages} pages.")
    }
}
