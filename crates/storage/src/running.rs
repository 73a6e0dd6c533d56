//! An engine that runs: everything that an open store consists of, and the threads that work for it.
//!
//! # Threads
//! Two: the log's writer and the cleaner. With [`Background::Inline`](crate::Background::Inline) there are none, and
//! whoever waits for their work does it: slower, and the same every time, for tests.
//!
//! # Invariants
//! 1. The store is marked clean only after everything is in the data file and synced. (`Cleaner::flush_all`)
//! 2. When this is dropped, no thread of it is left, and whoever waited for the log has been told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::core::Core;
use crate::error::{ErrorKind, Result};
use crate::ids::Lsn;
use crate::io::DirectoryLock;
use crate::thread;

pub(crate) struct Running {
    pub(crate) core: Arc<Core>,
    closing: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    closed: AtomicBool,
    // Last: the directory is free for others when everything above has gone.
    _lock: Box<dyn DirectoryLock>,
}

impl Running {
    /// Starts the threads, unless everything is to be done `inline`.
    pub(crate) fn start(core: Arc<Core>, lock: Box<dyn DirectoryLock>, inline: bool) -> Running {
        // A cycle of ownership, cut by `stop_threads`.
        core.pool.set_relief(Some(Arc::clone(&core.cleaner) as _));
        let closing = Arc::new(AtomicBool::new(false));
        let threads = if inline { Vec::new() } else { spawn(&core, &closing) };
        Running { core, closing, threads: Mutex::new(threads), closed: AtomicBool::new(false), _lock: lock }
    }

    /// Writes everything to the data file, says so in the control file, and stops.
    pub(crate) fn close(&self) -> Result<()> {
        if self.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let flushed = self.core.cleaner.flush_all(true);
        self.stop_threads();
        self.core.health.stop("the store was closed");
        flushed
    }

    fn stop_threads(&self) {
        self.closing.store(true, Ordering::Release);
        self.core.cleaner.ring();
        self.core.log.ring_loudly();
        for thread in self.threads.lock().drain(..) {
            let _ = thread.join();
        }
        self.core.pool.set_relief(None);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop_threads();
        self.core.log.abandon(&ErrorKind::Closed.into());
    }
}

fn spawn(core: &Arc<Core>, closing: &Arc<AtomicBool>) -> Vec<JoinHandle<()>> {
    let writer = {
        let (core, closing) = (Arc::clone(core), Arc::clone(closing));
        move || write_log(&core, &closing)
    };
    let cleaner = {
        let (core, closing) = (Arc::clone(core), Arc::clone(closing));
        move || core.cleaner.run(&closing)
    };
    vec![
        thread::spawn("meseta-log", writer).expect("a thread can be started"),
        thread::spawn("meseta-cleaner", cleaner).expect("a thread can be started"),
    ]
}

/// The log writer's thread: writes when somebody waits or when a good deal has gathered, syncs when somebody waits, and
/// does both at least once a second; and when there has been nothing to sync for a second, lets the log vouch for its
/// last sync.
///
/// It must never ask the cleaner for anything: who holds the cleaner's mutex may be waiting for the log.
fn write_log(core: &Core, closing: &AtomicBool) {
    const SECOND: Duration = Duration::from_secs(1);
    let mut last_flush = Instant::now();
    let mut filling = Some(Filling::new(core));
    while !closing.load(Ordering::Acquire) {
        let flush = last_flush.elapsed() >= SECOND;
        if flush {
            last_flush = Instant::now();
        }
        if !flush && !core.log.has_work() {
            let pause = filling.as_ref().map_or(SECOND, Filling::pause);
            if !pause.is_zero() {
                let left = SECOND.saturating_sub(last_flush.elapsed()).min(pause);
                core.log.wait_for_bell(left.max(Duration::from_millis(1)));
            } else if let Some(filling_ring) = &mut filling {
                match filling_ring.step(core) {
                    Ok(true) => {}
                    Ok(false) => filling = None,
                    Err(_) => return,
                }
            }
            continue;
        }
        match core.log.step(flush) {
            Ok(true) => {}
            // What is wanted is still being copied in, by a thread that may not be running.
            Ok(false) => std::thread::yield_now(),
            // The engine has stopped, and everybody who waits has been told.
            Err(_) => return,
        }
    }
}

/// A new ring of the log is allocated but not written yet (`LogFiles::create`): it is filled with zeroes while there is
/// nothing else to do. While others commit it stands back: each of its syncs is in the way of theirs. What was not filled
/// when the store was closed is after it has been opened again.
struct Filling {
    /// A byte of the ring: what is before it has been filled, or is the log's to write.
    filled: u64,
    /// What was logged when the last step was made.
    logged: Lsn,
    /// When the next step is to be made.
    next: Instant,
}

impl Filling {
    /// Between two steps, while others log.
    const PAUSE: Duration = Duration::from_millis(20);
    /// With no more bytes than this between the log and what is not filled, it is done without a pause: else the log is soon
    /// there.
    const NEAR: u64 = 6 << 20;

    fn new(core: &Core) -> Self {
        Self { filled: 0, logged: core.log.reserved(), next: Instant::now() }
    }

    /// How long it is until the next step.
    fn pause(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Fills the next stretch; whether there is more.
    fn step(&mut self, core: &Core) -> Result<bool> {
        let Some(ahead) = core.log.fill_ahead(&mut self.filled)? else { return Ok(false) };
        let logged = std::mem::replace(&mut self.logged, core.log.reserved());
        let stands_back = logged != self.logged && ahead > Self::NEAR;
        self.next = Instant::now() + if stands_back { Self::PAUSE } else { Duration::ZERO };
        Ok(true)
    }
}
