//! As many running threads as cores, for any number of connections.
//!
//! ```text
//!   worker 0                worker 1               (one for each core)
//!   epoll set, run queue    epoll set, run queue
//!        |                       |
//!   thread A                thread B               threads that have a worker run tasks' turns
//!
//!   thread C  waits for a row lock, in the middle of a turn: its worker went to A
//!   thread D  spare: waits for a worker
//! ```
//!
//! A *task* is something that has turns, in practice a connection: it is on the epoll set of one worker, until it moves to
//! that of another. A *turn* runs on one thread from its beginning to its end, one command as a rule.
//!
//! - [`task`]: what is to happen to a task, in one word; who may run it.
//! - [`worker`]: the loop: run what is ready, poll, take from others, sleep.
//! - [`queue`]: the tasks that are to have a turn.
//! - [`watch`]: whether a worker is late with polling, and another does it for it.
//! - [`lull`]: whether a worker that has nothing to do looks for a moment before it sleeps.
//! - [`outbox`]: the answers that turns leave, which are sent for many turns at once.
//! - [`placement`]: on which processors workers run, and at which worker a task is.
//! - [`binding`]: whether they are bound to those for now.
//! - [`balance`]: how many tasks each worker has at most.
//! - [`window`]: what was counted in a quarter of a second, for those two.
//! - [`processors`]: what the system tells of its processors.
//! - [`threads`]: the spare threads, and how a worker passes from one to another.
//! - [`monitor`]: takes the worker from a turn that runs long, and keeps the deadlines.
//!
//! Invariants:
//! 1. A worker is held by one thread at most. One that is held by none is in the list of those without thread, and
//!    the next thread that is free takes it.
//! 2. A task has one turn at a time (`task`).
//! 3. What is ready is run, whatever others do: a turn that waits has given its worker away ([`crate::blocking`]); one
//!    that computes for longer than a tick has it taken ([`monitor`]).
//! 4. There are at most `limit` threads. `limit` is workers + tasks, so that the last task that could end a wait always
//!    finds one.
//! 5. Of what turns have put off is told after each round (`after_round`): by the thread that ran them, or, if one of them waits
//!    or computes for long, by the one that has the worker next; and as of what is to be done now before their worker sleeps, and
//!    when a turn says that it takes long (`blocking::takes_long`).
//! 6. An answer that a turn has left is sent before its worker sleeps, and behind seven others at most: at the end of the round,
//!    or earlier, when a turn says that it takes long, or by the thread that has the worker next.
//! 7. One task cannot starve others: after each turn it goes to the end of the queue, and the epoll set is polled
//!    after every round of the queue, or by another worker after a round of its own, if that is long (`watch`). Nor can urgent
//!    ones starve others (`queue`).
//!
//! Source: the shape is that of the Go scheduler (workers are its P, threads its M), with an epoll set in each worker
//! in place of one for all.

pub mod balance;
pub mod binding;
pub mod lull;
pub mod monitor;
pub mod outbox;
pub mod placement;
pub mod processors;
pub mod queue;
pub mod slab;
pub mod task;
pub mod threads;
#[cfg(test)]
mod unrun;
pub mod watch;
pub mod window;
pub mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use crate::clock::Clock;
use crate::counters::{Counters, ThreadCounters};
use monitor::Monitor;
use placement::Placement;
pub use task::{Events, Soon, Task, TaskState, Turn};
use threads::Threads;
pub(crate) use worker::Holding;
use worker::Worker;

/// What makes the buffers that a thread lends to the turns that it runs.
pub type ScratchMaker<S> = fn(Arc<ThreadCounters>) -> S;

/// What is called when a worker's round is over: its turns may have put off what is better done for all of them at once. It is
/// told whether all workers are busy, and this one goes on at once: then that may be put off further, since it is called again.
pub type AfterRound = Box<dyn Fn(bool) + Send + Sync>;

/// Workers, threads and the monitor. `S` is what each thread has for the turns that it runs: buffers.
pub struct Scheduler<S: 'static> {
    core: Arc<Core<S>>,
}

/// What all threads share, and read in each turn. (Aligned as what is padded in it: not beside the count of those who hold it, which
/// changes with each task that is told something from outside.)
pub(crate) struct Core<S: 'static> {
    pub(crate) workers: Vec<Arc<Worker<S>>>,
    pub(crate) threads: Threads,
    pub(crate) monitor: Monitor,
    pub(crate) placement: Placement,
    pub(crate) clock: Clock,
    pub(crate) counters: Arc<Counters>,
    pub(crate) make_scratch: ScratchMaker<S>,
    pub(crate) after_round: AfterRound,
    /// How many workers have nothing to do: they sleep in their epoll set, or are about to.
    pub(crate) idle: CachePadded<AtomicUsize>,
    pub(crate) stopping: AtomicBool,
}

impl<S: 'static> Core<S> {
    /// With so many workers, which no thread holds yet. At most `tasks` tasks will be there at a time.
    ///
    /// # Errors
    /// The system gives no epoll set.
    pub(crate) fn new(
        workers: usize,
        placement: Placement,
        tasks: usize,
        clock: Clock,
        counters: Arc<Counters>,
        make_scratch: ScratchMaker<S>,
        after_round: AfterRound,
    ) -> std::io::Result<Core<S>> {
        let workers = workers.max(1);
        let made: std::io::Result<Vec<_>> =
            (0..workers).map(|index| Ok(Arc::new(Worker::new(index, counters.join())?))).collect();
        Ok(Core {
            workers: made?,
            threads: Threads::new(workers, workers + tasks + 1),
            monitor: Monitor::new(),
            placement,
            clock,
            counters,
            make_scratch,
            after_round,
            idle: CachePadded::default(),
            stopping: AtomicBool::new(false),
        })
    }
}

#[cfg(test)]
impl Core<()> {
    /// Workers that no thread holds, for tests that do what their threads would.
    fn without_threads(workers: usize) -> Core<()> {
        let clock = Clock::default();
        let counters = Counters::new(clock.clone());
        Core::new(workers, Placement::default(), 0, clock, counters, |_| (), Box::new(|_| ())).unwrap()
    }
}

impl<S> std::fmt::Debug for Scheduler<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scheduler").field("workers", &self.core.workers.len()).finish_non_exhaustive()
    }
}

impl<S> Clone for Scheduler<S> {
    fn clone(&self) -> Scheduler<S> {
        Scheduler { core: self.core.clone() }
    }
}

impl<S: 'static> Scheduler<S> {
    /// Starts a thread for each worker, and the monitor.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(core: Core<S>) -> std::io::Result<Scheduler<S>> {
        let core = Arc::new(core);
        let scheduler = Scheduler { core: core.clone() };
        Monitor::start(&core)?;
        for worker in &core.workers {
            threads::hand_over(&core, worker.clone());
        }
        if core.threads.count() < core.workers.len() {
            scheduler.stop(Duration::from_secs(1));
            return Err(std::io::Error::other("no threads for the workers"));
        }
        Ok(scheduler)
    }

    /// Adds a task, on the worker that has the fewest, with a first turn for `events`. `make` is told the task's state.
    ///
    /// # Errors
    /// The system does not take the descriptor into the epoll set.
    pub fn add(&self, events: Events, make: impl FnOnce(TaskState<S>) -> Arc<dyn Task<S>>) -> std::io::Result<()> {
        let worker = self.core.workers.iter().min_by_key(|worker| worker.task_count()).expect("there is a worker");
        let task = make(TaskState::new(Arc::downgrade(&self.core), worker.index));
        let token = worker.add(task.clone());
        task.state().set_token(token);
        if let Err(error) = worker.register(task.descriptor(), token) {
            worker.remove(token);
            return Err(error);
        }
        task::notify(&task, events);
        Ok(())
    }

    /// How many threads there are, the monitor aside.
    pub fn thread_count(&self) -> usize {
        self.core.threads.count()
    }

    /// How many of them wait for work as spares.
    pub fn spare_count(&self) -> usize {
        self.core.threads.spare_count()
    }

    /// The time.
    pub fn clock(&self) -> &Clock {
        &self.core.clock
    }

    /// Stops the threads, each when its turn is over; returns whether all had ended within `patience`. Tasks that are
    /// left have no more turns.
    pub fn stop(&self, patience: Duration) -> bool {
        self.core.stopping.store(true, Ordering::SeqCst);
        self.core.monitor.wake();
        self.core.workers.iter().for_each(|worker| worker.wake());
        self.core.threads.stop(Instant::now() + patience)
    }
}
