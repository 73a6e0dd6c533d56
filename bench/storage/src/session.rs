//! One run of the benchmark: which engine is open when, and what is measured.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::device::Device;
use crate::engine::{Engine, Result, Settings};
use crate::engines::Kind;
use crate::fresh_memory;
use crate::neighbours::{DISTURBED, Neighbours, Patience};
use crate::options::Options;
use crate::page_cache::{self, PageCacheLimit};
use crate::report::{BesideDevice, Cell, LongUpdates, Report, Section};
use crate::runner::{Measurement, Run, measure, median};
use crate::table::rate;
use crate::workload::Workload;

/// Threads that warm up a cache and that update for long.
const MANY: usize = 8;

/// An engine with its data.
struct Subject {
    kind: Kind,
    dir: PathBuf,
    /// Before the engine, so that it ends before the files are closed.
    limit: Option<PageCacheLimit>,
    engine: Box<dyn Engine>,
    rows: AtomicU64,
}

/// What a run has so far.
pub struct Session<'a> {
    options: &'a Options,
    report: Report,
    /// Engines whose directories hold the data.
    loaded: Vec<Kind>,
    runs: u64,
    patience: Patience,
}

impl<'a> Session<'a> {
    /// A session that has measured nothing yet.
    pub fn new(options: &'a Options) -> Self {
        let patience = Patience::new(Duration::from_secs_f64(options.patience));
        Session { options, report: Report::new(options), loaded: Vec::new(), runs: 0, patience }
    }

    /// What has been measured.
    pub fn report(&mut self) -> &mut Report {
        &mut self.report
    }

    /// The rows in memory. All engines are open at once and take turns in each
    /// row, so that a machine whose speed drifts is the same for all of them.
    pub fn in_memory(&mut self) -> Result<()> {
        let mut subjects = self.load_all()?;
        let mut threads = self.options.threads.clone();
        if self.options.oversubscribed > 0 {
            threads.push(self.options.oversubscribed);
        }
        for workload in self.options.rows_of_table() {
            if workload.inserts() {
                // What one workload has inserted is not the next one's to
                // keep in memory.
                subjects.clear();
                subjects = self.load_all()?;
            }
            for &threads in &threads {
                // Another engine goes first in each row: none always follows
                // the same neighbour.
                subjects.rotate_left(1);
                for subject in &subjects {
                    self.cell(Section::InMemory, subject, workload, threads)?;
                }
            }
        }
        Ok(())
    }

    /// All engines with fresh data in memory.
    fn load_all(&mut self) -> Result<Vec<Subject>> {
        let settings = self.settings(self.options.ample_bytes());
        let mut subjects = Vec::new();
        for &kind in &self.options.engines {
            let subject = self.load(kind, &settings)?;
            self.read_through(&subject)?;
            subjects.push(subject);
        }
        Ok(subjects)
    }

    /// Touches every row once, so that what can be cached is.
    fn read_through(&self, subject: &Subject) -> Result<()> {
        let start = Instant::now();
        subject.engine.scan(&self.options.data().key(0), usize::MAX)?;
        say(&format!("{} read through in {:.1?}", subject.kind.label(), start.elapsed()));
        Ok(())
    }

    /// The durable commits, on what the rows in memory have left.
    pub fn durable(&mut self) -> Result<()> {
        let settings = Settings { durable: true, ..self.settings(self.options.ample_bytes()) };
        let mut subjects = Vec::new();
        for &kind in &self.options.engines {
            let loaded = self.loaded.contains(&kind);
            let subject = if loaded { self.open(kind, &settings)? } else { self.load(kind, &settings)? };
            self.read_through(&subject)?;
            subjects.push(subject);
        }
        let device = Device::create(&self.options.dir, 1 << 20, self.options.device_block)?;
        for &threads in &self.options.commit_threads {
            // Flushes are what a shared machine varies in most, so what they
            // cost is measured anew for each row.
            write_back(&self.options.dir)?;
            let per_second = device.flushes(Duration::from_secs(1))?;
            say(&format!("device: {} flushes/s", rate(per_second)));
            self.report.device_flushes.push(per_second);
            for subject in &subjects {
                self.cell(Section::Durable, subject, Workload::DurableCommits, threads)?;
            }
        }
        Ok(())
    }

    /// The rows with a cache of one eighth of the data, one engine at a time:
    /// each has the machine's memory and its device for itself.
    pub fn larger_than_memory(&mut self) -> Result<()> {
        let device = self.big_device()?;
        for &kind in &self.options.engines {
            let subject = self.open_cold(kind)?;
            for workload in self.options.rows_of_table() {
                for &threads in &self.options.threads {
                    self.cell(Section::Eighth, &subject, workload, threads)?;
                    if workload == Workload::Lookups {
                        self.beside_device(&device, &subject, threads)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A file as large as the data, to be read past every cache.
    fn big_device(&self) -> Result<Device> {
        Device::create(&self.options.dir, self.options.data().bytes(), self.options.device_block)
    }

    /// Random lookups and plain direct reads by turns: a shared device's speed
    /// changes within seconds, so only neighbours are compared.
    fn beside_device(&mut self, device: &Device, subject: &Subject, threads: usize) -> Result<()> {
        const ROUNDS: u32 = 7;
        let duration = self.options.duration() / 3;
        let (mut reads_per_second, mut lookups_per_second) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            reads_per_second.push(device.random_reads(threads, duration)?);
            lookups_per_second.push(self.measure(subject, Workload::Lookups, threads, duration)?.rate());
        }
        say(&format!("device: {threads} threads read {}/s", rate(median(reads_per_second.clone()))));
        self.report.device.push(BesideDevice { engine: subject.kind, threads, reads_per_second, lookups_per_second });
        Ok(())
    }

    /// Updates for minutes with data larger than memory: whoever defers work
    /// has to do it within that time.
    pub fn long_updates(&mut self) -> Result<()> {
        let chosen = &self.options.long_updates_engines;
        let meseta = self.options.engines.iter().copied().filter(|kind| kind.is_meseta());
        let engines = if chosen.is_empty() { meseta.collect() } else { chosen.clone() };
        let device = self.big_device()?;
        for kind in engines {
            let subject = self.open_cold(kind)?;
            let duration = Duration::from_secs(self.options.long_updates);
            let stop = AtomicBool::new(false);
            let (measured, device_read_ms) = thread::scope(|scope| {
                let probe = scope.spawn(|| device.probe(&stop));
                let measured = self.measure(&subject, Workload::Updates, MANY, duration);
                stop.store(true, Ordering::Relaxed);
                let probed = probe.join().expect("probing doesn't panic");
                measured.and_then(|measured| Ok((measured, probed?)))
            })?;
            let Some((worst, median)) = measured.worst_and_median() else { continue };
            say(&format!("{}: worst second {worst}, median second {median}", kind.label()));
            self.report.long_updates.push(LongUpdates {
                engine: kind,
                threads: MANY,
                worst_second: worst,
                median_second: median,
                per_second: measured.per_second,
                device_read_ms,
            });
        }
        Ok(())
    }

    fn settings(&self, memory_bytes: u64) -> Settings {
        Settings {
            memory_bytes,
            larger_than_memory: false,
            durable: false,
            lmdb_write_map: self.options.lmdb_write_map,
            meseta_lazy: self.options.meseta_lazy,
        }
    }

    fn open(&self, kind: Kind, settings: &Settings) -> Result<Subject> {
        let dir = self.options.dir.join(kind.directory());
        let engine = kind.open(&dir, settings)?;
        Ok(Subject { kind, dir, limit: None, engine, rows: AtomicU64::new(self.options.rows) })
    }

    /// An engine with fresh data.
    fn load(&mut self, kind: Kind, settings: &Settings) -> Result<Subject> {
        remove(&self.options.dir.join(kind.directory()))?;
        let subject = self.open(kind, settings)?;
        let start = Instant::now();
        subject.engine.load(&self.options.data())?;
        subject.engine.settle()?;
        say(&format!("{} loaded in {:.1?}", kind.label(), start.elapsed()));
        self.loaded.push(kind);
        Ok(subject)
    }

    /// An engine with fresh data and a cache of one eighth of them, which the
    /// engine has filled itself by random lookups.
    fn open_cold(&mut self, kind: Kind) -> Result<Subject> {
        let settings = Settings { larger_than_memory: true, ..self.settings(self.options.eighth_bytes()) };
        drop(self.load(kind, &settings)?);
        let mut subject = self.open(kind, &settings)?;
        page_cache::drop_all(&subject.dir);
        if let Some(bytes) = subject.engine.page_cache_bytes() {
            subject.limit = PageCacheLimit::hold(&subject.dir, bytes);
            if subject.limit.is_none() {
                self.report.unlimited.push(kind);
            }
        }
        let warming = self.options.duration().max(Duration::from_secs(1));
        self.measure(&subject, Workload::Lookups, MANY, warming)?;
        Ok(subject)
    }

    fn measure(
        &mut self,
        subject: &Subject,
        workload: Workload,
        threads: usize,
        duration: Duration,
    ) -> Result<Measurement> {
        self.runs += 1;
        let run = Run {
            data: self.options.data(),
            workload,
            threads,
            duration,
            sync_every: match workload {
                Workload::DurableCommits => Duration::ZERO,
                _ => Duration::from_secs_f64(self.options.sync_every),
            },
            seed: self.runs,
        };
        measure(&*subject.engine, &subject.rows, &run)
            .map_err(|error| format!("{}, {}: {error}", subject.kind.label(), workload.label()).into())
    }

    fn cell(&mut self, section: Section, subject: &Subject, workload: Workload, threads: usize) -> Result<()> {
        let (measured, others) = loop {
            write_back(&self.options.dir)?;
            self.patience.wait();
            if section == Section::InMemory && workload.writes() {
                fresh_memory::bring_back();
            }
            let (start, neighbours) = (Instant::now(), Neighbours::watch());
            let measured = self.measure(subject, workload, threads, self.options.duration())?;
            let others = neighbours.cores_used();
            if others <= DISTURBED || self.patience.is_over() {
                break (measured, others);
            }
            self.patience.spend(start.elapsed());
        };
        say(&format!(
            "{}, {}, {threads} threads, {}: {}/s, {:.1?} to settle, {others:.2} cores used by others",
            section.label(),
            workload.label(),
            subject.kind.label(),
            rate(measured.rate()),
            measured.settling,
        ));
        self.report.cells.push(Cell::new(section, subject.kind, workload, threads, measured, others));
        Ok(())
    }
}

/// Waits until the file system has nothing to write: what one engine has left in
/// the page cache is not written while the next is measured.
fn write_back(dir: &Path) -> Result<()> {
    let dir = File::open(dir)?;
    // SAFETY: the descriptor is open.
    match unsafe { libc::syncfs(dir.as_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error().into()),
    }
}

/// Removes one engine's directory, which may not be there.
pub fn remove(dir: &Path) -> Result<()> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Progress goes where it does not mix with the table.
pub fn say(line: &str) {
    eprintln!("{line}");
}
