//! A worker: an epoll set, a run queue, and the loop of the thread that holds it.
//!
//! ```text
//! loop:   run as many turns as are queued now, or fewer if some are urgent (queue): a round; then send their answers
//!         poll the epoll set (without waiting if something is queued); then what they put off
//!         was it a long one? poll the set of another worker, if that is late (watch)
//!         nothing? take half of what another worker has queued
//!         nothing? look for a moment (lull), then sleep in the epoll set
//! ```
//!
//! Descriptors are registered once, edge-triggered: what is ready is told once, and a turn that does not read all must
//! remember that. So a statement costs a share of an `epoll_wait`, a read and a share of a call that sends (`outbox`), and no
//! other system call.
//!
//! **Waking.** Who pushes onto the queue of a worker that sleeps wakes it, by an eventfd. Who pushes a second task onto
//! the queue of one that is busy wakes another worker, if one sleeps, to take it. A single task is left where it is: it
//! is run next, and moving it would cost more than it waits; should the turn before it be long, the monitor sees to it.
//!
//! **Prefetching.** Who takes a task asks for the memory of the two behind it ([`Task::prefetch`]): with many connections a turn
//! would wait for each of its first dozen cache lines, one after the other (docs/decisions/2026-11-23-prefetch.md).
//!
//! Invariants:
//! 1. `asleep` is set before the queue is looked at for the last time, and looked at after the queue was pushed onto.
//!    So whoever pushes either is seen, or sees that it must wake.
//! 2. `claim` is 0 between turns, the turn's number during one, and `TAKEN` once the worker was taken from the thread.
//!    Only by changing it from the turn's number does anybody take the worker, or the thread go on with it.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;
use rustix::event::epoll;
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::fd::BorrowedFd;
use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::gettid;

use super::Core;
use super::lull::{LOOK, Lulls};
use super::outbox::Outbox;
use super::queue::RunQueue;
use super::slab::Slab;
use super::task::{Events, Task, Turn, mark};
use super::threads::hand_over;
use super::watch::{LONG_ROUND, Watch};
use crate::blocking;
use crate::counters::ThreadCounters;

/// How many events a poll takes.
const EVENTS: usize = 128;
/// Turns of one task, with none of another between them, after which it counts as alone.
pub(crate) const ALONE_AFTER: u32 = 16;
/// Turns in a row in which a task that is alone waits, after which its thread is no longer bound to a processor.
const WAITS: u32 = 16;
/// The claim of a worker that was taken from a thread's turn.
pub(crate) const TAKEN: u64 = u64::MAX;
/// The token of the eventfd.
const WAKE: u64 = 0;

pub(crate) type TaskRef<S> = Arc<dyn Task<S>>;

/// An epoll set and a run queue. The thread that has it writes in each turn: what others look at or write has lines of its own, and
/// so has the whole (it is aligned as what is padded), beside other workers and the count of those who hold it.
pub struct Worker<S: 'static> {
    pub(crate) index: usize,
    epoll: OwnedFd,
    wake: OwnedFd,
    asleep: CachePadded<AtomicBool>,
    queue: CachePadded<RunQueue<S>>,
    tasks: Mutex<Slab<TaskRef<S>>>,
    /// Changes when a task comes or goes; all workers look where there is room.
    task_count: CachePadded<AtomicUsize>,
    claim: AtomicU64,
    /// The thread that holds it.
    holder: AtomicI32,
    /// The number of the last turn; changed by the thread that holds the worker. Never used twice, so that a thread that
    /// lost the worker cannot take another's turn for its own.
    turns: AtomicU64,
    /// How often the epoll set was polled; others look at it (`watch`).
    polls: CachePadded<AtomicU64>,
    /// Locked before a task's own locks, and before a queue.
    outbox: Mutex<Outbox<S>>,
}

/// That a thread has a worker, in the middle of a turn.
pub(crate) trait Holding: Send + Sync {
    /// Gives the worker to a spare thread, unless the monitor has.
    fn hand_over(&self);

    /// What is to be done when the round is over is done now, for the turns before this one.
    fn end_round(&self);

    /// The eventfd that wakes the worker.
    fn bell(&self) -> RawFd;
}

struct Held<S: 'static> {
    worker: Arc<Worker<S>>,
    core: Weak<Core<S>>,
    /// The number of the turn.
    claim: AtomicU64,
}

impl<S: 'static> Holding for Held<S> {
    fn hand_over(&self) {
        if self.worker.take(self.claim.load(Ordering::Relaxed))
            && let Some(core) = self.core.upgrade()
        {
            core.placement.go_on_without();
            hand_over(&core, self.worker.clone());
        }
    }

    fn end_round(&self) {
        if let Some(core) = self.core.upgrade() {
            self.worker.end_round(&core);
        }
    }

    fn bell(&self) -> RawFd {
        self.worker.wake.as_raw_fd()
    }
}

impl<S: 'static> Worker<S> {
    pub(crate) fn new(index: usize, counters: Arc<ThreadCounters>) -> io::Result<Worker<S>> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        // Edge-triggered: each write is told once, and nobody need read.
        epoll::add(&epoll, &wake, epoll::EventData::new_u64(WAKE), epoll::EventFlags::IN | epoll::EventFlags::ET)?;
        Ok(Worker {
            index,
            epoll,
            wake,
            asleep: CachePadded::default(),
            queue: CachePadded::new(RunQueue::new()),
            tasks: Mutex::new(Slab::default()),
            task_count: CachePadded::default(),
            claim: AtomicU64::new(0),
            holder: AtomicI32::new(0),
            turns: AtomicU64::new(0),
            polls: CachePadded::default(),
            outbox: Mutex::new(Outbox::new(counters)),
        })
    }

    pub(crate) fn task_count(&self) -> usize {
        self.task_count.load(Ordering::Relaxed)
    }

    /// Gives a task a place; it must be told.
    pub(crate) fn add(&self, task: TaskRef<S>) -> u64 {
        self.task_count.fetch_add(1, Ordering::Relaxed);
        self.tasks.lock().insert(task)
    }

    pub(crate) fn remove(&self, token: u64) {
        let removed = self.tasks.lock().remove(token);
        if removed.is_some() {
            self.task_count.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn register(&self, descriptor: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, descriptor, epoll::EventData::new_u64(token), flags(false))?)
    }

    /// Has the epoll set tell nothing more of a descriptor.
    pub(crate) fn forget(&self, descriptor: BorrowedFd<'_>) {
        // It fails if it is not there; then there is nothing to forget.
        let _ = epoll::delete(&self.epoll, descriptor);
    }

    pub(crate) fn watch_writable(&self, descriptor: BorrowedFd<'_>, token: u64, on: bool) -> io::Result<()> {
        Ok(epoll::modify(&self.epoll, descriptor, epoll::EventData::new_u64(token), flags(on))?)
    }

    pub(crate) fn task(&self, token: u64) -> Option<TaskRef<S>> {
        self.tasks.lock().get(token).cloned()
    }

    /// The number of the turn that runs; 0 for none.
    pub(crate) fn claim(&self) -> u64 {
        self.claim.load(Ordering::Acquire)
    }

    /// Another turn begins, on the thread that holds it; its number.
    pub(crate) fn begin_turn(&self) -> u64 {
        let number = self.turns.load(Ordering::Relaxed) + 1;
        self.turns.store(number, Ordering::Relaxed);
        self.claim.store(number, Ordering::Release);
        number
    }

    /// Takes the worker from the thread that runs turn `claim`; whether that was still so.
    pub(crate) fn take(&self, claim: u64) -> bool {
        claim != 0 && self.claim.compare_exchange(claim, TAKEN, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// How often its epoll set was polled, by whomever.
    pub(crate) fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// The thread that holds it, or did when it was taken.
    pub(crate) fn holder(&self) -> Option<Pid> {
        Pid::from_raw(self.holder.load(Ordering::Relaxed))
    }

    pub(crate) fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::SeqCst)
    }

    pub(crate) fn queued(&self) -> usize {
        self.queue.len()
    }

    /// Wakes the thread that holds it from its sleep, or keeps it from the next.
    pub(crate) fn wake(&self) {
        // Fails only if the count is full: then it is awake.
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    /// Whether it sleeps, and is to be woken by who asks: it does not count as asleep any more.
    fn rouse(&self) -> bool {
        // (A load, as long as it is awake: its line stays where it is.)
        self.asleep.load(Ordering::SeqCst) && self.asleep.swap(false, Ordering::SeqCst)
    }

    /// Puts a task at the end of the queue, and sees to it that somebody runs it.
    pub(crate) fn push(&self, core: &Core<S>, task: TaskRef<S>) {
        let queued = self.queue.push(task);
        if self.rouse() {
            self.wake();
        } else if queued > 1 {
            core.wake_one();
        }
    }

    /// The loop. Returns when the thread does not have the worker any more, or all is to stop.
    pub(crate) fn run(self: &Arc<Self>, core: &Arc<Core<S>>, scratch: &mut S) {
        self.claim.store(0, Ordering::Release);
        self.holder.store(gettid().as_raw_nonzero().get(), Ordering::Relaxed);
        let mut events = Vec::with_capacity(EVENTS);
        let held = Arc::new(Held { worker: self.clone(), core: Arc::downgrade(core), claim: AtomicU64::new(0) });
        // The one who had it may be in the middle of a turn.
        self.end_round(core);
        // Whose turn was the last, and how many were his in a row. (An address that is used again makes one that is new
        // look alone: he is.)
        let (mut last, mut in_a_row) = (std::ptr::null(), 0_u32);
        // In how many turns in a row a task that is alone has waited; whether the thread has been let go, for it or for all.
        let (mut waits_in_a_row, mut is_unsettled) = (0_u32, false);
        let (mut lulls, mut watch) = (Lulls::default(), Watch::default());
        while !core.stopping.load(Ordering::Relaxed) {
            let round = self.queue.round();
            for _ in 0..round {
                let Some(task) = self.queue.pop() else { break };
                let number = self.begin_turn();
                held.claim.store(number, Ordering::Relaxed);
                let own = Arc::as_ptr(&task).cast::<()>();
                in_a_row = if own == last { in_a_row.saturating_add(1) } else { 0 };
                last = own;
                blocking::hold(held.clone(), in_a_row >= ALONE_AFTER);
                let turn = task.turn(task.state().begin(), scratch);
                let has_worker = blocking::release();
                waits_in_a_row = if blocking::has_kept() { waits_in_a_row.saturating_add(1) } else { 0 };
                let kept = self.claim.compare_exchange(number, 0, Ordering::AcqRel, Ordering::Relaxed).is_ok();
                debug_assert!(has_worker || !kept, "a worker that was given away is not here");
                let unsettle = waits_in_a_row >= WAITS || !core.placement.is_binding();
                if kept && unsettle != is_unsettled {
                    if unsettle {
                        core.placement.unsettle()
                    } else {
                        core.placement.settle(self.index)
                    }
                    is_unsettled = unsettle;
                }
                if turn != Turn::Finished {
                    core.move_near(&task);
                }
                let answer = task.answer(scratch);
                if answer.is_empty() {
                    self.end_turn(core, task, turn, kept);
                } else {
                    let fits = self.outbox.lock().add(task, turn, answer);
                    if !fits || !kept {
                        self.send_answers(core);
                    }
                }
                if !kept {
                    (core.after_round)(false);
                    core.placement.end_turn();
                    return;
                }
            }
            self.send_answers(core);
            // (Who is alone is on this processor as a rule: it and this thread take turns, and sleeping is how.)
            self.poll(core, &mut events, round, in_a_row < ALONE_AFTER, &mut lulls);
            if round >= LONG_ROUND {
                self.poll_for_another(core, &mut events, &mut watch);
            }
        }
        (core.after_round)(false);
    }

    /// A turn is over. `is_held`: the worker is this thread's, which looks at the queue itself.
    fn end_turn(&self, core: &Core<S>, task: TaskRef<S>, turn: Turn, is_held: bool) {
        match turn {
            Turn::Wait if task.state().rest() => {}
            Turn::Wait | Turn::Again if is_held => _ = self.queue.push(task),
            Turn::Wait | Turn::Again => core.workers[task.state().worker()].push(core, task),
            Turn::Finished => {
                core.placement.balance.note(task.state(), None);
                core.workers[task.state().worker()].remove(task.state().token());
            }
        }
    }

    /// Does what is to be done when a round is over, for the turns that have been run of it.
    fn end_round(&self, core: &Core<S>) {
        (core.after_round)(false);
        self.send_answers(core);
    }

    /// Sends the answers that turns have left.
    fn send_answers(&self, core: &Core<S>) {
        // (Who sends need not be who has the worker.)
        self.outbox.lock().send(|task, turn| self.end_turn(core, task, turn, false));
    }

    /// Polls, and queues what is ready; `round` turns were run since the last time. The round is over then. Sleeps if there is
    /// nothing to do anywhere, but `looks` for a moment if that is worth it.
    fn poll(&self, core: &Core<S>, events: &mut Vec<epoll::Event>, round: usize, looks: bool, lulls: &mut Lulls) {
        // After a round of one turn the next is probably not here yet: one system call, that waits for it. After a round
        // of many some of their clients have probably asked again: a look first, and nobody sees this worker asleep.
        if self.queued() > 0 || round > 1 {
            let found = self.take_events(core, events, &self.queue, false);
            if found || self.queued() > 0 {
                (core.after_round)(core.idle.load(Ordering::Relaxed) == 0);
                return;
            }
        }
        (core.after_round)(false);
        // (What was to be done after the round may have brought something.)
        if self.queued() > 0 || self.steal(core) {
            return;
        }
        core.idle.fetch_add(1, Ordering::SeqCst);
        let begin = Instant::now();
        if !(looks && lulls.are_short() && self.look(core, events, begin)) {
            self.sleep(core, events);
        }
        lulls.ended_after(begin.elapsed());
        core.idle.fetch_sub(1, Ordering::SeqCst);
        core.monitor.work_began();
        if self.queued() == 0 {
            self.steal(core);
        }
    }

    /// Polls the epoll set of the worker that is watched, and queues what is ready there, if that one is late.
    fn poll_for_another(&self, core: &Core<S>, events: &mut Vec<epoll::Event>, watch: &mut Watch) {
        if let Some(late) = watch.late(core, self.index) {
            late.take_events(core, events, &self.queue, false);
        }
    }

    /// Looks for something to do, for a moment that began then, and lets others run meanwhile; whether there is something.
    fn look(&self, core: &Core<S>, events: &mut Vec<epoll::Event>, begin: Instant) -> bool {
        let count = core.workers.len();
        let mut step = 0;
        loop {
            rustix::thread::sched_yield();
            // One of the others each time: each look takes a line from who works with it, and there may be many who look.
            step = step % (count - 1).max(1) + 1;
            let other = &core.workers[(self.index + step) % count];
            if self.queued() > 0 || self.take_events(core, events, &self.queue, false) || self.steal_from(other) {
                return true;
            }
            if begin.elapsed() >= LOOK {
                return false;
            }
        }
    }

    /// Sleeps until there is something to do.
    fn sleep(&self, core: &Core<S>, events: &mut Vec<epoll::Event>) {
        self.asleep.store(true, Ordering::SeqCst);
        let sleep = self.queued() == 0 && !core.stopping.load(Ordering::SeqCst);
        self.take_events(core, events, &self.queue, sleep);
        self.asleep.store(false, Ordering::SeqCst);
    }

    /// Takes what the epoll set tells into that queue, which is its own or that of a worker that polls for it; whether it told anything.
    pub(crate) fn take_events(
        &self,
        core: &Core<S>,
        events: &mut Vec<epoll::Event>,
        queue: &RunQueue<S>,
        sleep: bool,
    ) -> bool {
        self.polls.fetch_add(1, Ordering::Relaxed);
        events.clear();
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        let limit = if sleep { None } else { Some(&at_once) };
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(events), limit) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => tracing::error!(%error, "epoll_wait failed"),
        }
        if events.is_empty() {
            return false;
        }
        // (Invariant 3.)
        if !std::ptr::eq(queue, &*self.queue) && events.iter().any(|event| event.data.u64() == WAKE) {
            self.wake();
        }
        let mut hung_up = Vec::new();
        let queued = {
            let tasks = self.tasks.lock();
            queue.extend(events.iter().filter_map(|event| {
                let data = event.data;
                let task = tasks.get(data.u64())?;
                let events = events_of(event.flags);
                if mark(task, events) {
                    return Some(task.clone());
                }
                if events.has(Events::HANGUP) {
                    hung_up.push(task.clone());
                }
                None
            }))
        };
        // Not under the locks: whoever is told may do as it likes.
        hung_up.iter().for_each(|task| task.hung_up());
        if queued > 2 {
            core.wake_one();
        }
        true
    }

    /// Takes half of what one of the others has queued; whether there was something.
    fn steal(&self, core: &Core<S>) -> bool {
        let count = core.workers.len();
        (1..count).any(|step| self.steal_from(&core.workers[(self.index + step) % count]))
    }

    /// Takes half of what that one has queued; whether there was something.
    fn steal_from(&self, other: &Worker<S>) -> bool {
        if other.queued() == 0 || other.index == self.index {
            return false;
        }
        // One alone is left to a worker that is between two turns: it is about to run it.
        let stolen = other.queue.try_take_half(if other.claim() == 0 { 2 } else { 1 });
        let any = !stolen.is_empty();
        if any {
            self.queue.extend(stolen);
        }
        any
    }
}

impl<S: 'static> Core<S> {
    /// Wakes one of the workers that sleep, if there is one: it will look for what it can take.
    pub(crate) fn wake_one(&self) {
        if self.idle.load(Ordering::SeqCst) == 0 {
            return;
        }
        if let Some(worker) = self.workers.iter().find(|worker| worker.rouse()) {
            worker.wake();
        }
    }
}

fn flags(writable: bool) -> epoll::EventFlags {
    let usual = epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
    if writable { usual | epoll::EventFlags::OUT } else { usual }
}

fn events_of(flags: epoll::EventFlags) -> Events {
    let mut events = Events::NONE;
    if flags.intersects(epoll::EventFlags::IN | epoll::EventFlags::RDHUP | epoll::EventFlags::HUP) {
        events = events.with(Events::READABLE);
    }
    if flags.intersects(epoll::EventFlags::OUT | epoll::EventFlags::ERR | epoll::EventFlags::HUP) {
        events = events.with(Events::WRITABLE);
    }
    if flags.intersects(epoll::EventFlags::RDHUP | epoll::EventFlags::HUP | epoll::EventFlags::ERR) {
        events = events.with(Events::HANGUP).with(Events::READABLE);
    }
    events
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use super::super::unrun::Unrun;
    use super::*;

    /// A task at that worker, and the other end of what it reads.
    fn reader(core: &Core<()>, worker: usize) -> (TaskRef<()>, UnixStream) {
        let (task, other) = Unrun::new(worker);
        let worker = &core.workers[worker];
        let token = worker.add(task.clone());
        task.state.set_token(token);
        worker.register(task.descriptor(), token).unwrap();
        (task, other)
    }

    /// One of two workers polls for the other, which is in a turn that lasts two rounds of the first.
    fn poll_for_the_other(core: &Core<()>) {
        let (first, second) = (&core.workers[0], &core.workers[1]);
        second.begin_turn();
        let mut watch = Watch::default();
        for _ in 0..3 {
            first.poll_for_another(core, &mut Vec::with_capacity(EVENTS), &mut watch);
        }
    }

    #[test]
    fn what_comes_in_for_one_that_is_late_is_queued_by_who_polls_for_it() {
        let core = Core::without_threads(2);
        let (task, mut other) = reader(&core, 1);
        other.write_all(b"question").unwrap();
        poll_for_the_other(&core);
        let queued: Vec<_> = core.workers.iter().map(|worker| worker.queued()).collect();
        assert_eq!(queued, [1, 0]);
        // It is in a queue now, and in no other for what comes meanwhile.
        other.write_all(b"and another").unwrap();
        core.workers[1].take_events(&core, &mut Vec::with_capacity(EVENTS), &core.workers[1].queue, false);
        assert_eq!(core.workers[1].queued(), 0);
        let first = core.workers[0].queue.pop().unwrap();
        assert!(Arc::ptr_eq(&first, &task));
        assert!(first.state().begin().has(Events::READABLE));
    }

    #[test]
    fn one_that_is_rung_hears_it_though_another_has_polled() {
        let core = Core::without_threads(2);
        core.workers[1].wake();
        poll_for_the_other(&core);
        let (mut events, rung) = (Vec::with_capacity(EVENTS), &core.workers[1]);
        assert!(rung.take_events(&core, &mut events, &rung.queue, false));
        assert_eq!(events.iter().map(|event| event.data.u64()).collect::<Vec<_>>(), [WAKE]);
        assert!(!rung.take_events(&core, &mut events, &rung.queue, false));
    }
}
