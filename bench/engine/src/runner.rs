//! Runs one workload with some number of threads: a cell of the table.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use meseta_storage::Durability;

use crate::Result;
use crate::sbtest::Sbtest;
use crate::usage::Usage;
use crate::waits::{Wait, Waits};
use crate::workload::{Retries, Worker, Workload};

/// Enough for a transaction; a thousand of the usual ones would be address space for nothing.
const STACK_BYTES: usize = 512 << 10;

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// The kind of transaction.
    pub workload: Workload,
    /// Threads that run it.
    pub threads: usize,
    /// How long they do.
    pub duration: Duration,
    /// How durable their commits are.
    pub durability: Durability,
    /// Where its random numbers start: another for each run, so that no run finds in some cache just what the one
    /// before has touched.
    pub seed: u64,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Transactions that were finished in time.
    pub transactions: u64,
    /// The time they took.
    pub elapsed: Duration,
    /// What the process used meanwhile.
    pub usage: Usage,
    /// Transactions in each whole second.
    pub per_second: Vec<u64>,
    /// What was done more than once.
    pub retries: Retries,
    /// Where threads waited, until the last one had ended.
    pub waits: Vec<Wait>,
}

/// Runs it. Sessions are made before the clock starts. Each thread counts into a cache line of its own, which only the
/// thread that samples once a second reads: counting costs the others nothing.
pub fn measure(sbtest: &Sbtest, run: &Run) -> Result<Measurement> {
    let Run { workload, threads, duration, durability, seed } = *run;
    let workers = (0..threads).map(|number| Worker::new(sbtest, workload, durability, (seed << 16) + number as u64));
    let workers: Vec<_> = workers.collect::<Result<_>>()?;
    let counts: Vec<_> = (0..threads).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
    let stop = AtomicBool::new(false);
    // Closed while this thread has it for itself. A barrier would wait for ever if not all threads could be started.
    let gate = RwLock::new(());
    let mut closed = Some(gate.write().expect("nobody panicked with it"));
    thread::scope(|scope| {
        let mut handles = Vec::new();
        for (mut worker, count) in workers.into_iter().zip(&counts) {
            let (gate, stop) = (&gate, &stop);
            let work = move || -> Result<(Retries, Duration)> {
                drop(gate.read());
                let since = Instant::now();
                let mut done = 0;
                while !stop.load(Ordering::Relaxed) {
                    worker.step().inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
                    done += 1;
                    count.store(done, Ordering::Relaxed);
                }
                Ok((worker.retries(), since.elapsed()))
            };
            let started = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work);
            handles.push(started.inspect_err(|_| {
                stop.store(true, Ordering::Relaxed);
                closed = None;
            })?);
        }
        let before = Waits::of(&sbtest.engine);
        drop(closed);
        let total = || counts.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        let mut measured = sample(duration, &stop, total);
        stop.store(true, Ordering::Relaxed);
        let mut thread_time = Duration::ZERO;
        for handle in handles {
            let (retries, time) = handle.join().expect("workers don't panic")?;
            measured.retries += retries;
            thread_time += time;
        }
        measured.waits = Waits::of(&sbtest.engine).since(&before, thread_time);
        Ok(measured)
    })
}

/// Reads the total once a second until the time is over.
fn sample(duration: Duration, stop: &AtomicBool, total: impl Fn() -> u64) -> Measurement {
    // With more threads than cores the others have been at it for a while when this one first gets a core: what they did
    // so far is not counted.
    let (start, used, first) = (Instant::now(), Usage::now(), total());
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
        transactions: total() - first,
        elapsed: start.elapsed(),
        usage: Usage::now().since(used),
        per_second,
        retries: Retries::default(),
        waits: Vec::new(),
    }
}
