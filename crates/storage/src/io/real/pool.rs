//! Batches by threads: each takes one transfer at a time from a shared queue and blocks in `pread` or `pwrite`.
//!
//! The fallback where asynchronous I/O is not to be had. How it compares, and what both promise: `real/mod.rs`.
//!
//! # Invariants
//! 1. A queued transfer is taken by exactly one thread, which ends it. (`work`)
//! 2. Threads leave only when the pool is closed *and* the queue is empty, so everything submitted ends.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use parking_lot::{Condvar, Mutex};

use super::{AbortOnPanic, Transfer};

/// The threads and their queue. Dropping it waits until all that was submitted has ended.
pub(super) struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    /// Innermost of all locks; no I/O and no completion under it.
    queue: Mutex<Queue>,
    /// Signalled when a transfer was queued, or the pool closed.
    changed: Condvar,
}

struct Queue {
    waiting: VecDeque<Transfer>,
    closed: bool,
}

impl Pool {
    /// Starts so many threads, with this name and a number.
    pub(super) fn start(name: &str, threads: usize) -> io::Result<Pool> {
        let queue = Mutex::new(Queue { waiting: VecDeque::new(), closed: false });
        let shared = Arc::new(Shared { queue, changed: Condvar::new() });
        // Threads are added one by one, so that those already running are stopped, by `drop`, if one fails to start.
        let mut pool = Pool { shared, threads: Vec::with_capacity(threads) };
        for index in 0..threads {
            let shared = Arc::clone(&pool.shared);
            pool.threads.push(crate::thread::spawn(format!("{name}-{index}"), move || work(&shared))?);
        }
        Ok(pool)
    }

    pub(super) fn submit(&self, transfers: impl Iterator<Item = Transfer>) {
        let mut queue = self.shared.queue.lock();
        let before = queue.waiting.len();
        queue.waiting.extend(transfers);
        let added = queue.waiting.len() - before;
        drop(queue);
        for _ in 0..added.min(self.threads.len()) {
            if !self.shared.changed.notify_one() {
                break; // nobody is asleep: those at work will look again before they sleep
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.queue.lock().closed = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A completion may drop the last handle, and its thread cannot wait for itself.
            if thread.thread().id() != thread::current().id() {
                let _ = thread.join(); // it cannot have panicked: that would have aborted the process
            }
        }
    }
}

/// A thread's life.
fn work(shared: &Shared) {
    let _abort = AbortOnPanic;
    let mut queue = shared.queue.lock();
    loop {
        if let Some(transfer) = queue.waiting.pop_front() {
            drop(queue);
            transfer.finish_blocking(0);
            queue = shared.queue.lock();
        } else if queue.closed {
            return;
        } else {
            shared.changed.wait(&mut queue);
        }
    }
}
