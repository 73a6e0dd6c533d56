//! A task: what is to happen to it, and who may run it, in one word.
//!
//! ```text
//! word = events | BUSY
//!
//! notify(events):  word |= events | BUSY;   who made it BUSY puts it into the run queue
//! a turn:          events = word, word = BUSY;  run;  then
//!                     wait      BUSY -> 0, or if there are new events: back into the queue
//!                     again     back into the queue
//!                     finished  stays BUSY for ever: nobody runs it again
//! ```
//!
//! Invariants:
//! 1. A task that is BUSY is in one run queue, or has a turn on one thread, or is finished. One that is not is in none.
//! 2. No event is lost: one that comes during a turn leads to another.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use rustix::fd::BorrowedFd;

use super::Core;
use super::monitor::AHEAD;
use super::placement::{LOOK_AFTER, LOOK_AFTER_MAX};
use crate::clock::NEVER;

/// What has happened to a task: a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Events(pub(crate) u32);

impl Events {
    /// Nothing.
    pub const NONE: Events = Events(0);
    /// There may be something to read.
    pub const READABLE: Events = Events(1);
    /// There may be room to write.
    pub const WRITABLE: Events = Events(2);
    /// The other end has gone, or will write no more.
    pub const HANGUP: Events = Events(4);
    /// What the task was waiting for is durable.
    pub const DURABLE: Events = Events(8);
    /// Somebody wants it to stop.
    pub const INTERRUPTED: Events = Events(16);
    /// Its deadline has come; or had come while it had a turn that may have set another.
    pub const DEADLINE: Events = Events(32);
    /// It is new.
    pub const STARTED: Events = Events(64);
    /// A wait in which it had no thread is over.
    pub const WOKEN: Events = Events(128);

    /// These and those.
    pub const fn with(self, others: Events) -> Events {
        Events(self.0 | others.0)
    }

    /// Whether all of those are among them.
    pub const fn has(self, others: Events) -> bool {
        self.0 & others.0 == others.0
    }
}

const BUSY: u32 = 1 << 31;

/// What a task says after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Nothing to do until something happens.
    Wait,
    /// There is more to do, after the others.
    Again,
    /// It is over.
    Finished,
}

/// When a task has its turn. What it has is brought near in two steps, since the second is found by what the first brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Soon {
    /// Behind the next: time to ask for the task's own memory.
    AfterNext,
    /// Next: time to ask for what it refers to.
    Next,
}

/// Something that has turns.
pub trait Task<S: 'static>: Send + Sync {
    /// Its state, which the scheduler keeps.
    fn state(&self) -> &TaskState<S>;

    /// What it is waiting at, for as long as it lives.
    fn descriptor(&self) -> BorrowedFd<'_>;

    /// The processor that handles what comes in, if that is known.
    fn comes_in_on(&self) -> Option<u32> {
        None
    }

    /// The other end has gone, and this may be in the middle of a turn: told at once, from another thread, besides the
    /// event. Must not wait.
    fn hung_up(&self) {}

    /// Its turn comes behind the next, or is the next: what it begins with may be brought near. Must not wait, nor lock
    /// what a turn locks.
    fn prefetch(&self, _soon: Soon) {}

    /// Its turn: `events` have happened since the last. Must not panic.
    fn turn(&self, events: Events, scratch: &mut S) -> Turn;

    /// What its turn has left in the scratch, to be sent to its descriptor together with what others leave; not if it is
    /// finished. The turn is over once [`Task::sent`] was called.
    fn answer<'a>(&self, scratch: &'a mut S) -> &'a mut Vec<u8>;

    /// So many bytes of its answer were sent, or none for that reason; whether there is more to do. Must not wait.
    fn sent(&self, answer: &[u8], sent: std::io::Result<usize>) -> bool;
}

/// The scheduler's part of a task.
pub struct TaskState<S: 'static> {
    word: AtomicU32,
    core: Weak<Core<S>>,
    /// The number of its worker.
    worker: AtomicUsize,
    /// Where in the worker's slab it is: set before the task is known to anybody, and when it moves.
    token: AtomicU64,
    /// Turns until it is looked at where it comes in, as many as there were when that began, and the processor that was seen last.
    turns_left: AtomicU32,
    look_after: AtomicU32,
    came_in_on: AtomicU32,
    /// The worker at which it is counted as coming in; `usize::MAX` for none (`balance`).
    comes_in_at: AtomicUsize,
    /// The epoll set tells of room to write.
    watches_writable: AtomicBool,
    is_urgent: AtomicBool,
    deadline: AtomicU64,
    /// The time of its earliest entry among the deadlines.
    watched: AtomicU64,
}

impl<S: 'static> TaskState<S> {
    pub(crate) fn new(core: Weak<Core<S>>, worker: usize) -> TaskState<S> {
        TaskState {
            word: AtomicU32::new(0),
            core,
            worker: AtomicUsize::new(worker),
            token: AtomicU64::new(0),
            turns_left: AtomicU32::new(LOOK_AFTER),
            look_after: AtomicU32::new(LOOK_AFTER),
            came_in_on: AtomicU32::new(u32::MAX),
            comes_in_at: AtomicUsize::new(usize::MAX),
            watches_writable: AtomicBool::new(false),
            is_urgent: AtomicBool::new(false),
            deadline: AtomicU64::new(NEVER),
            watched: AtomicU64::new(NEVER),
        }
    }

    pub(crate) fn token(&self) -> u64 {
        self.token.load(Ordering::Relaxed)
    }

    pub(crate) fn set_token(&self, token: u64) {
        self.token.store(token, Ordering::Relaxed);
    }

    /// The number of its worker.
    pub(crate) fn worker(&self) -> usize {
        self.worker.load(Ordering::Acquire)
    }

    /// It has another worker, and a place there. For who has its turn.
    pub(crate) fn move_to(&self, worker: usize, token: u64) {
        self.token.store(token, Ordering::Relaxed);
        self.worker.store(worker, Ordering::Release);
    }

    /// A turn of it is over; whether it is to be looked at where it comes in.
    pub(crate) fn is_look_due(&self) -> bool {
        let left = self.turns_left.load(Ordering::Relaxed).saturating_sub(1);
        self.turns_left.store(left, Ordering::Relaxed);
        // One that waits to write is in the middle of something.
        left == 0 && !self.watches_writable()
    }

    /// It was looked at, and all `is_as_before`, or not: then the next look comes soon.
    pub(crate) fn looked(&self, is_as_before: bool) {
        let before = self.look_after.load(Ordering::Relaxed);
        let after = if is_as_before { (before * 2).min(LOOK_AFTER_MAX) } else { LOOK_AFTER };
        self.look_after.store(after, Ordering::Relaxed);
        self.turns_left.store(after, Ordering::Relaxed);
    }

    /// It was seen to come in on this processor; whether that was so the last time.
    pub(crate) fn is_seen_again_on(&self, processor: u32) -> bool {
        self.came_in_on.swap(processor, Ordering::Relaxed) == processor
    }

    /// It is counted as coming in at this worker, or at none; returns where it was before. For who has its turn.
    pub(crate) fn comes_in_at(&self, worker: Option<usize>) -> Option<usize> {
        let before = self.comes_in_at.load(Ordering::Relaxed);
        let now = worker.unwrap_or(usize::MAX);
        if before != now {
            self.comes_in_at.store(now, Ordering::Relaxed);
        }
        (before != usize::MAX).then_some(before)
    }

    /// What has happened since the last turn began.
    pub fn events(&self) -> Events {
        Events(self.word.load(Ordering::Acquire) & !BUSY)
    }

    /// A turn begins: takes the events.
    pub(crate) fn begin(&self) -> Events {
        Events(self.word.swap(BUSY, Ordering::AcqRel) & !BUSY)
    }

    /// A turn ends with nothing to do; whether nothing has happened meanwhile.
    pub(crate) fn rest(&self) -> bool {
        self.word.compare_exchange(BUSY, 0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// When [`Events::DEADLINE`] is to happen; [`NEVER`] for never. Cheap unless it is earlier than what was said before.
    /// For a task that was added: one that is being made has no place yet that a deadline could name.
    pub fn set_deadline(&self, milliseconds: u64) {
        self.deadline.store(milliseconds, Ordering::Release);
        if milliseconds < self.watched.load(Ordering::Acquire)
            && let Some(core) = self.core.upgrade()
        {
            core.monitor.watch(self, milliseconds.min(core.clock.now() + AHEAD));
        }
    }

    pub(crate) fn is_urgent(&self) -> bool {
        self.is_urgent.load(Ordering::Relaxed)
    }

    /// Whether others wait for the end of what it has begun: then its turns come first (`queue`). For who has its turn.
    pub fn set_urgent(&self, is_urgent: bool) {
        self.is_urgent.store(is_urgent, Ordering::Relaxed);
    }

    pub(crate) fn deadline(&self) -> u64 {
        self.deadline.load(Ordering::Acquire)
    }

    pub(crate) fn set_watched(&self, milliseconds: u64) {
        self.watched.store(milliseconds, Ordering::Release);
    }

    /// Whether the epoll set was asked to tell of room to write.
    pub fn watches_writable(&self) -> bool {
        self.watches_writable.load(Ordering::Relaxed)
    }

    /// Whether the epoll set is to tell of room to write. It does not by default: on a Unix socket each read of the other
    /// end would be told.
    ///
    /// # Errors
    /// The system refuses.
    pub fn watch_writable(&self, descriptor: BorrowedFd<'_>, on: bool) -> std::io::Result<()> {
        self.watches_writable.store(on, Ordering::Relaxed);
        match self.core.upgrade() {
            Some(core) => core.workers[self.worker()].watch_writable(descriptor, self.token(), on),
            None => Ok(()),
        }
    }
}

/// Tells a task that `events` have happened. From any thread.
pub fn notify<S: 'static>(task: &Arc<dyn Task<S>>, events: Events) {
    let state = task.state();
    if state.word.fetch_or(events.0 | BUSY, Ordering::AcqRel) & BUSY == 0
        && let Some(core) = state.core.upgrade()
    {
        core.workers[state.worker()].push(&core, task.clone());
    }
}

/// As [`notify`], for who has polled and queues it itself, at its own worker: whether it is to.
pub(crate) fn mark<S: 'static>(task: &Arc<dyn Task<S>>, events: Events) -> bool {
    task.state().word.fetch_or(events.0 | BUSY, Ordering::AcqRel) & BUSY == 0
}
