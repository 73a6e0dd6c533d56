//! Where workers run, and which connections are theirs: each worker on a processor of its own, with the connections that
//! come in there.
//!
//! ```text
//!   processor 0                               processor 1
//!   the network's interrupts for some,        for the others,
//!   or clients of this machine                or clients of this machine
//!        |                                         |
//!   worker 0: connections that come in here   worker 1
//! ```
//!
//! What a connection sends is handled by one processor: where its packets' interrupts go, or, of a client on this machine,
//! where that runs. If its worker runs there too, then the bytes are in the cache, and an answer wakes nobody on another
//! processor: that takes an interrupt between processors, and on a virtual machine an exit from it. So connections are
//! looked at now and then, and move: so far as that worker has room for them ([`super::balance`]).
//!
//! Only where there are as many workers as processors: fewer threads are the system's to place. So is a thread that goes on
//! with its turn without a worker for longer than a tick, at work or asleep: two would share that processor, whatever the
//! others do. Most have waited for a page and have little left to do; those stay, since being sent away and put back are
//! two system calls, of which one interrupts another processor.
//!
//! And so is the thread of a task that is alone and waits for the disk in each turn, as one client does that commits each of
//! its statements. A device may interrupt one processor whoever asked, and a thread that is bound to another sleeps until it
//! is interrupted from there. Where the system wakes it, next to the device or to the client, it is better off.
//!
//! And so are all for as long as processors would idle otherwise ([`super::binding`]).
//!
//! # Invariants
//! 1. A thread that has a worker is on that one's processor, or its task is alone and has waited in each of its last turns, or
//!    all are let go; of the last it takes notice after its turn.
//! 2. A thread that goes on without its worker is in `loose`, from before the next one has it until its turn ends; who
//!    releases it holds the lock, so that none is released after it has a worker again.
//! 3. Moving keeps the workers balanced: none gets more tasks than it may have, nor, for being near, one from a worker that has
//!    fewer; who has more gives them away.
//!
//! When it fails: a thread that cannot be put somewhere runs anywhere; a task that cannot be moved stays.
//!
//! Source: SO_INCOMING_CPU, socket(7); a thread and its connections on each processor is the way of Seastar.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rustix::process::Pid;
use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

use super::Core;
use super::balance::Balance;
use super::monitor::AHEAD;
use super::worker::TaskRef;

/// Turns of a task after which it is looked at, at first,
pub(crate) const LOOK_AFTER: u32 = 4;
/// and in the end: each look that changes nothing doubles them.
pub(crate) const LOOK_AFTER_MAX: u32 = 32;

thread_local! {
    /// The processor that this thread was put on.
    static PUT_ON: Cell<Option<usize>> = const { Cell::new(None) };
}

/// The processors of the workers.
#[derive(Debug, Default)]
pub struct Placement {
    /// By worker; empty if the system decides.
    processors: Vec<usize>,
    /// All workers may run anywhere for now.
    let_go: AtomicBool,
    pub(crate) balance: Balance,
    loose: Mutex<Vec<Loose>>,
}

/// A thread in the middle of a turn that has no worker any more.
#[derive(Debug)]
struct Loose {
    thread: Pid,
    /// The monitor has looked since.
    seen: bool,
    released: bool,
}

fn set_of(processors: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    processors.iter().for_each(|&processor| set.set(processor));
    set
}

impl Placement {
    /// A processor for each of so many workers, if that is how many this process may use.
    pub fn new(workers: usize) -> Placement {
        let Ok(allowed) = sched_getaffinity(None) else { return Placement::default() };
        let processors: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor)).collect();
        if workers < 2 || processors.len() != workers {
            return Placement::default();
        }
        Placement { balance: Balance::new(workers), processors, ..Placement::default() }
    }

    /// The processors of the workers; none if the system decides.
    pub(crate) fn processors(&self) -> &[usize] {
        &self.processors
    }

    /// Whether threads that have a worker are put on processors now.
    pub(crate) fn is_binding(&self) -> bool {
        !self.let_go.load(Ordering::Relaxed)
    }

    /// From now on they are, or are not; returns what was before.
    pub(crate) fn bind(&self, on: bool) -> bool {
        !self.let_go.swap(!on, Ordering::Relaxed)
    }

    /// This thread has a worker now: puts it on that one's processor, if workers are bound.
    pub(crate) fn settle(&self, worker: usize) {
        if !self.is_binding() {
            return self.unsettle();
        }
        let Some(&processor) = self.processors.get(worker) else { return };
        if PUT_ON.get() == Some(processor) {
            return;
        }
        match sched_setaffinity(None, &set_of(&[processor])) {
            Ok(()) => PUT_ON.set(Some(processor)),
            Err(error) => tracing::debug!(%error, processor, "a worker is not put on its processor"),
        }
    }

    /// This thread, which has a worker, may run anywhere, until it is settled again.
    pub(crate) fn unsettle(&self) {
        if PUT_ON.take().is_some() {
            self.let_run_anywhere(gettid());
        }
    }

    /// Whether this thread has been put on a processor.
    pub(crate) fn is_settled() -> bool {
        PUT_ON.get().is_some()
    }

    /// This thread has given its worker away and goes on with its turn, until [`Self::end_turn`].
    pub(crate) fn go_on_without(&self) {
        if !self.processors.is_empty() {
            self.loose.lock().push(Loose { thread: gettid(), seen: false, released: false });
        }
    }

    /// `take` takes the worker from another thread, which goes on with its turn, if it says so: that one may run anywhere.
    pub(crate) fn release(&self, thread: Option<Pid>, take: impl FnOnce() -> bool) -> bool {
        // Under the lock: a thread whose turn ends just now waits until it is in the list.
        let mut loose = self.loose.lock();
        let taken = take();
        if let Some(thread) = thread.filter(|_| taken && !self.processors.is_empty()) {
            self.let_run_anywhere(thread);
            loose.push(Loose { thread, seen: true, released: true });
        }
        taken
    }

    /// Another tick is over: who was there at the last one already may run anywhere.
    pub(crate) fn tick(&self) {
        for loose in &mut *self.loose.lock() {
            if loose.seen && !loose.released {
                self.let_run_anywhere(loose.thread);
                loose.released = true;
            }
            loose.seen = true;
        }
    }

    /// The turn that this thread went on with is over.
    pub(crate) fn end_turn(&self) {
        if self.processors.is_empty() {
            return;
        }
        let own = gettid();
        let mut loose = self.loose.lock();
        let place = loose.iter().position(|loose| loose.thread == own);
        if place.is_some_and(|place| loose.swap_remove(place).released) {
            PUT_ON.set(None);
        }
    }

    fn let_run_anywhere(&self, thread: Pid) {
        if let Err(error) = sched_setaffinity(Some(thread), &set_of(&self.processors)) {
            tracing::debug!(%error, "a thread stays on its processor");
        }
    }

    /// The worker of a processor.
    fn worker_on(&self, processor: u32) -> Option<usize> {
        self.processors.iter().position(|&other| other == processor as usize)
    }
}

impl<S: 'static> Core<S> {
    /// After a turn of a task, by who had it: moves the task to the worker of the processor where it comes in, if that is
    /// another, was the same the last time, and has room; or to one that has, if its own has too many. Not by one who is on no
    /// processor himself.
    pub(crate) fn move_near(&self, task: &TaskRef<S>) {
        let state = task.state();
        if !Placement::is_settled() || !state.is_look_due() {
            return;
        }
        let own = state.worker();
        let seen = task.comes_in_on();
        let seen_again = seen.filter(|&processor| state.is_seen_again_on(processor));
        let near = seen_again.and_then(|processor| self.placement.worker_on(processor));
        if near.is_some() {
            self.placement.balance.note(state, near);
        }
        let count = |worker: usize| self.workers[worker].task_count();
        let has_room = |worker: usize| self.placement.balance.has_room(worker, count(worker));
        let is_welcome = |&near: &usize| near != own && count(near) <= count(own) && has_room(near);
        let gives_to = || self.placement.balance.gives_to(own, count(own)).filter(|&other| has_room(other));
        let goes_to = near.filter(is_welcome).or_else(gives_to);
        state.looked(goes_to.is_none() && seen == seen_again);
        if let Some(worker) = goes_to {
            self.move_to(task, worker);
        }
    }

    /// Moves a task to another worker. By who had its turn.
    fn move_to(&self, task: &TaskRef<S>, worker: usize) {
        let state = task.state();
        let (from, to) = (&self.workers[state.worker()], &self.workers[worker]);
        // On both epoll sets for a moment: what happens is told twice, and not missed.
        let (old, new) = (state.token(), to.add(task.clone()));
        if let Err(error) = to.register(task.descriptor(), new) {
            tracing::debug!(%error, "a connection stays at its worker");
            return to.remove(new);
        }
        state.move_to(worker, new);
        from.forget(task.descriptor());
        from.remove(old);
        // What the monitor has of it names the old place.
        self.monitor.watch(state, state.deadline().min(self.clock.now().saturating_add(AHEAD)));
        self.counters.moved.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_have_processors_if_there_are_as_many() {
        let count = std::thread::available_parallelism().unwrap().get();
        let allowed = sched_getaffinity(None).unwrap().count() as usize;
        assert_eq!(Placement::new(allowed).processors.len(), if allowed > 1 { allowed } else { 0 });
        assert!(count <= allowed);
        assert!(Placement::new(allowed + 1).processors.is_empty());
        assert!(Placement::new(1).processors.is_empty());
    }

    #[test]
    fn a_processor_has_its_worker() {
        let placement = Placement { processors: vec![2, 5], ..Placement::default() };
        assert_eq!([0, 2, 5, 1000].map(|processor| placement.worker_on(processor)), [None, Some(0), Some(1), None]);
    }

    /// The processors that this thread may run on.
    fn allowed() -> u32 {
        sched_getaffinity(None).unwrap().count()
    }

    #[test]
    fn a_thread_is_put_there_and_let_go_and_put_there_again() {
        let all = allowed();
        let placement = Placement::new(all as usize);
        if all < 2 {
            return;
        }
        for _ in 0..2 {
            placement.settle(0);
            assert_eq!((allowed(), Placement::is_settled()), (1, true));
            placement.unsettle();
            assert_eq!((allowed(), Placement::is_settled()), (all, false));
        }
    }

    #[test]
    fn while_workers_are_let_go_none_is_put_anywhere() {
        let all = allowed();
        let placement = Placement::new(all as usize);
        if all < 2 {
            return;
        }
        placement.settle(0);
        assert!(placement.bind(false), "they were bound");
        assert!(!placement.is_binding());
        placement.settle(0);
        assert_eq!((allowed(), Placement::is_settled()), (all, false));
        assert!(!placement.bind(true));
        placement.settle(0);
        assert_eq!((allowed(), Placement::is_settled()), (1, true));
    }

    #[test]
    fn a_thread_without_worker_stays_for_a_tick_and_may_then_run_anywhere() {
        let all = allowed();
        let placement = Placement::new(all as usize);
        if all < 2 {
            return;
        }
        placement.settle(1);
        placement.go_on_without();
        placement.tick();
        assert_eq!(allowed(), 1);
        placement.tick();
        assert_eq!(allowed(), all);
        placement.end_turn();
        // Being released was remembered: it is put there anew.
        placement.settle(1);
        assert_eq!(allowed(), 1);
        // A turn that is over within a tick leaves it there, and nobody releases it later.
        placement.go_on_without();
        placement.end_turn();
        placement.tick();
        placement.tick();
        assert_eq!(allowed(), 1);
        // Taken by the monitor; or not, since the turn was over.
        assert!(!placement.release(Some(gettid()), || false));
        assert_eq!(allowed(), 1);
        assert!(placement.release(Some(gettid()), || true));
        assert_eq!(allowed(), all);
        placement.end_turn();
        assert!(placement.loose.lock().is_empty());
    }
}
