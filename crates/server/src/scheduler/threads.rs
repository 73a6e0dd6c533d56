//! The threads: those that have a worker, those in the middle of a turn without one, and the spares.
//!
//! ```text
//!            hand_over(worker)
//!  spare  ------------------------>  has a worker  --waits-->  finishes its turn without
//!    ^                                                                   |
//!    +-------------------------------------------------------------------+
//!    |  no work for a while
//!    v
//!  gone
//! ```
//!
//! The spare that came last is taken first, of those that had the same worker if there is one: its memory is warm, it is on
//! the right processor, and those at the bottom of the pile go away. Threads are made when a worker is to be handed over and
//! there is no spare.
//!
//! When it fails: the system gives no more threads. The worker is put aside, and whoever becomes free first takes it; the
//! monitor tries again as well. It is logged.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::Core;
use super::worker::Worker;

/// How long a spare waits before it goes away.
const IDLE: Duration = Duration::from_secs(10);
/// The stack of a thread: as much as statements may need, and touched only as far as they do.
const STACK_BYTES: usize = 4 << 20;

/// Who is there.
pub(crate) struct Threads {
    state: Mutex<State>,
    /// A thread has ended.
    ended: Condvar,
    workers: usize,
    limit: usize,
}

#[derive(Default)]
struct State {
    /// Each with the worker that it had last: its processor is where the thread still is.
    spares: Vec<(usize, Arc<Seat>)>,
    /// Numbers of workers that no thread holds.
    unheld: VecDeque<usize>,
    count: usize,
    stopping: bool,
}

/// Where a spare waits.
#[derive(Default)]
struct Seat {
    given: Mutex<Option<usize>>,
    told: Condvar,
}

impl Threads {
    pub(crate) fn new(workers: usize, limit: usize) -> Threads {
        Threads { state: Mutex::default(), ended: Condvar::new(), workers, limit }
    }

    pub(crate) fn count(&self) -> usize {
        self.state.lock().count
    }

    pub(crate) fn spare_count(&self) -> usize {
        self.state.lock().spares.len()
    }

    /// Sends the spares home and waits until all threads have ended; whether they have.
    pub(crate) fn stop(&self, deadline: Instant) -> bool {
        let mut state = self.state.lock();
        state.stopping = true;
        for (_, seat) in state.spares.drain(..) {
            let _given = seat.given.lock();
            seat.told.notify_one();
        }
        while state.count > 0 {
            if self.ended.wait_until(&mut state, deadline).timed_out() {
                break;
            }
        }
        state.count == 0
    }
}

/// Gives a worker to a spare thread, or to a new one.
pub(crate) fn hand_over<S: 'static>(core: &Arc<Core<S>>, worker: Arc<Worker<S>>) {
    let threads = &core.threads;
    let mut state = threads.state.lock();
    if state.stopping {
        return;
    }
    let suited = state.spares.iter().rposition(|&(last, _)| last == worker.index);
    let taken = suited.map(|place| state.spares.remove(place)).or_else(|| state.spares.pop());
    if let Some((_, seat)) = taken {
        drop(state);
        *seat.given.lock() = Some(worker.index);
        seat.told.notify_one();
        return;
    }
    if state.count >= threads.limit {
        state.unheld.push_back(worker.index);
        return;
    }
    state.count += 1;
    drop(state);
    start(core, worker.index);
}

/// Starts a thread, already counted, for a worker.
fn start<S: 'static>(core: &Arc<Core<S>>, worker: usize) {
    let mine = core.clone();
    let made = std::thread::Builder::new()
        .name("meseta-worker".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || live(&mine, worker));
    if let Err(error) = made {
        tracing::error!(%error, "no thread for a worker: its connections wait until another thread is free");
        let mut state = core.threads.state.lock();
        state.count -= 1;
        state.unheld.push_back(worker);
    }
}

/// Tries again for workers that no thread holds.
pub(crate) fn retry<S: 'static>(core: &Arc<Core<S>>) {
    let mut state = core.threads.state.lock();
    if state.stopping || state.count >= core.threads.limit {
        return;
    }
    let Some(worker) = state.unheld.pop_front() else { return };
    state.count += 1;
    drop(state);
    start(core, worker);
}

/// A thread's life.
fn live<S: 'static>(core: &Arc<Core<S>>, first: usize) {
    let counters = core.counters.join();
    let mut scratch = (core.make_scratch)(counters.clone());
    let mut worker = Some(first);
    while let Some(index) = worker {
        core.placement.settle(index);
        core.workers[index].run(core, &mut scratch);
        worker = next(core, index);
    }
    drop(scratch);
    core.counters.leave(counters);
    let mut state = core.threads.state.lock();
    state.count -= 1;
    core.threads.ended.notify_all();
}

/// The next worker that this thread gets, which had `last`; none if it is to end.
fn next<S: 'static>(core: &Core<S>, last: usize) -> Option<usize> {
    let threads = &core.threads;
    let seat = Arc::new(Seat::default());
    let mut deadline = Instant::now() + IDLE;
    {
        let mut state = threads.state.lock();
        if state.stopping {
            return None;
        }
        if let Some(worker) = state.unheld.pop_front() {
            return Some(worker);
        }
        state.spares.push((last, seat.clone()));
    }
    let mut given = seat.given.lock();
    loop {
        if let Some(worker) = given.take() {
            return Some(worker);
        }
        let late = seat.told.wait_until(&mut given, deadline).timed_out();
        if let Some(worker) = given.take() {
            return Some(worker);
        }
        // The order is state, then seat: let go of the seat first.
        drop(given);
        let mut state = threads.state.lock();
        let place = state.spares.iter().position(|(_, other)| Arc::ptr_eq(other, &seat));
        match place {
            Some(place) if late && state.spares.len() > threads.workers => {
                state.spares.remove(place);
                return None;
            }
            None if state.stopping => return None,
            // Somebody has just taken the seat from the pile, and is about to give; or it stays.
            _ => {}
        }
        drop(state);
        if late {
            deadline = Instant::now() + IDLE;
        }
        given = seat.given.lock();
    }
}
