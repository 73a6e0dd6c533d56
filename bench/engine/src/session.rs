//! One run of the benchmark: the table is loaded, then cell after cell is measured.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use meseta_storage::StoreOptions;

use crate::Result;
use crate::fresh_memory;
use crate::long_reader::{self, LongReader};
use crate::neighbours::{Neighbours, Patience};
use crate::options::Options;
use crate::report::{Cell, Report};
use crate::runner::{Run, measure};
use crate::sbtest::Sbtest;
use crate::workload::Workload;

/// A table that is loaded, and what was measured with it.
pub struct Session<'a> {
    options: &'a Options,
    data: PathBuf,
    sbtest: Sbtest,
    report: Report,
    patience: Patience,
    runs: u64,
}

impl<'a> Session<'a> {
    /// Loads the table.
    pub fn load(options: &'a Options) -> Result<Self> {
        let data = options.dir.join("meseta");
        remove(&data)?;
        let start = Instant::now();
        let store_options = StoreOptions {
            memory_bytes: options.ample_bytes() as usize,
            log_bytes: options.log_mib << 20,
            ..StoreOptions::default()
        };
        let sbtest = Sbtest::load(&data, options.rows, store_options)?;
        let seconds = start.elapsed().as_secs_f64();
        eprintln!("{} rows are loaded after {seconds:.1} s", options.rows);
        let patience = Patience::new(Duration::from_secs_f64(options.patience));
        Ok(Session { options, data, sbtest, report: Report::new(options, seconds), patience, runs: 0 })
    }

    /// Measures everything that was asked for.
    pub fn measure(mut self) -> Result<Report> {
        let options = self.options;
        let (writing, reading): (Vec<Workload>, Vec<Workload>) =
            options.workloads.iter().partition(|workload| workload.writes());
        // Reads beside lookups: their ratio is not to be that of two different minutes of the machine.
        for &threads in &options.threads {
            for &workload in &reading {
                self.cell(workload, threads)?;
            }
        }
        for &workload in &writing {
            for &threads in &options.threads {
                self.cell(workload, threads)?;
            }
        }
        self.sbtest.close()?;
        remove(&self.data)?;
        Ok(self.report)
    }

    /// Measures what a snapshot costs that is held while others make so many updates.
    pub fn measure_long_reader(self, updates: u64) -> Result<LongReader> {
        fresh_memory::bring_back();
        let measured = long_reader::run(&self.sbtest, self.options, updates)?;
        self.sbtest.close()?;
        remove(&self.data)?;
        Ok(measured)
    }

    fn cell(&mut self, workload: Workload, threads: usize) -> Result<()> {
        self.patience.wait();
        if workload.writes() {
            fresh_memory::bring_back();
        }
        self.runs += 1;
        let run = Run {
            workload,
            threads,
            duration: self.options.duration(),
            durability: self.options.durability.as_storage(),
            seed: self.runs,
        };
        let neighbours = Neighbours::watch();
        let measured = measure(&self.sbtest, &run)?;
        let others = neighbours.cores_used();
        let unpurged = self.sbtest.engine.unpurged();
        let settling = Instant::now();
        if workload.writes() {
            self.sbtest.settle()?;
        }
        let cell = Cell::new(workload, threads, measured, others, unpurged, settling.elapsed());
        eprint!("{cell}");
        self.report.cells.push(cell);
        Ok(())
    }
}

/// Removes a directory if it is there.
fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
