//! Runs one workload on one engine with some number of threads.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use crate::dataset::Dataset;
use crate::engine::{Engine, Result};
use crate::workload::{Worker, Workload};

/// How often the flusher looks whether it is time, or over.
const TICK: Duration = Duration::from_millis(10);

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The rows it works on.
    pub data: Dataset,
    /// The kind of operation.
    pub workload: Workload,
    /// Threads that do it.
    pub threads: usize,
    /// How long they do it.
    pub duration: Duration,
    /// How often what has been written is flushed; never if zero.
    pub sync_every: Duration,
    /// Where its random numbers start: another for each run, so that no run
    /// finds in some cache just what the one before has touched.
    pub seed: u64,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Operations that were finished in time.
    pub operations: u64,
    /// The time they took.
    pub elapsed: Duration,
    /// Operations in each whole second.
    pub per_second: Vec<u64>,
    /// How long work was left over in the background afterwards.
    pub settling: Duration,
    /// Flushes of the log, where the engine tells.
    pub flushes: Option<u64>,
}

impl Measurement {
    /// Operations per second.
    pub fn rate(&self) -> f64 {
        self.operations as f64 / self.elapsed.as_secs_f64()
    }

    /// The worst second and the median second.
    pub fn worst_and_median(&self) -> Option<(u64, u64)> {
        let mut sorted = self.per_second.clone();
        sorted.sort_unstable();
        Some((*sorted.first()?, sorted[sorted.len() / 2]))
    }
}

/// Runs it.
pub fn measure(engine: &dyn Engine, rows: &AtomicU64, run: &Run) -> Result<Measurement> {
    let syncing = AtomicBool::new(run.workload.writes() && !run.sync_every.is_zero());
    let flushes_before = engine.flushes();
    let driven = thread::scope(|scope| {
        let syncer = scope.spawn(|| keep_syncing(engine, run.sync_every, &syncing));
        let driven = drive(run.threads, run.duration, |number| {
            let seed = (run.seed << 16) + number as u64;
            let mut worker = Worker::new(engine, run.data, run.workload, seed, rows);
            move || worker.step()
        });
        syncing.store(false, Ordering::Relaxed);
        syncer.join().expect("syncing doesn't panic").and(driven)
    })?;
    let flushes = engine.flushes().zip(flushes_before).map(|(after, before)| after - before);

    let settling = Instant::now();
    if run.workload.writes() {
        engine.settle()?;
    }
    Ok(Measurement { settling: settling.elapsed(), flushes, ..driven })
}

/// Has `threads` threads do steps for a time and counts them. Each thread
/// counts into a cache line of its own, which only the thread that samples once
/// a second reads: counting costs the others nothing.
pub fn drive<S>(threads: usize, duration: Duration, steps: impl Fn(usize) -> S + Sync) -> Result<Measurement>
where
    S: FnMut() -> Result<()>,
{
    let counts: Vec<_> = (0..threads).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
    let stop = AtomicBool::new(false);
    let start = Barrier::new(threads + 1);
    thread::scope(|scope| {
        let workers: Vec<_> = counts
            .iter()
            .enumerate()
            .map(|(number, count)| {
                let (start, stop, steps) = (&start, &stop, &steps);
                scope.spawn(move || -> Result<()> {
                    let mut step = steps(number);
                    let mut done = 0;
                    start.wait();
                    while !stop.load(Ordering::Relaxed) {
                        step().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                        done += 1;
                        count.store(done, Ordering::Relaxed);
                    }
                    Ok(())
                })
            })
            .collect();
        start.wait();
        let total = || counts.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        let measured = sample(duration, &stop, total);
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().try_for_each(|worker| worker.join().expect("workers don't panic"))?;
        Ok(measured)
    })
}

/// Reads the total once a second until the time is over.
fn sample(duration: Duration, stop: &AtomicBool, total: impl Fn() -> u64) -> Measurement {
    // With more threads than cores the others have been at it for a while when
    // this one first gets a core: what they did so far is not counted.
    let start = Instant::now();
    let first = total();
    let mut before = first;
    let mut per_second = Vec::new();
    let mut next = Duration::from_secs(1);
    while next <= duration && !stop.load(Ordering::Relaxed) {
        thread::sleep(next.saturating_sub(start.elapsed()));
        let now = total();
        per_second.push(now - before);
        before = now;
        next += Duration::from_secs(1);
    }
    thread::sleep(duration.saturating_sub(start.elapsed()));
    Measurement {
        operations: total() - first,
        elapsed: start.elapsed(),
        per_second,
        settling: Duration::ZERO,
        flushes: None,
    }
}

/// Flushes what the workers have written, as a server does that flushes its log
/// once a second.
fn keep_syncing(engine: &dyn Engine, every: Duration, on: &AtomicBool) -> Result<()> {
    let mut last = Instant::now();
    while on.load(Ordering::Relaxed) {
        thread::sleep(TICK.min(every));
        if last.elapsed() >= every {
            last = Instant::now();
            engine.sync()?;
        }
    }
    Ok(())
}

/// The middle one; not a number if there is none.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_second_is_found() {
        let measured = Measurement {
            operations: 60,
            elapsed: Duration::from_secs(3),
            per_second: vec![20, 10, 30],
            settling: Duration::ZERO,
            flushes: None,
        };
        assert_eq!(measured.rate(), 20.0);
        assert_eq!(measured.worst_and_median(), Some((10, 20)));
    }
}
