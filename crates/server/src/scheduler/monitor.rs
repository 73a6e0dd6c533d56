//! The monitor: a thread that looks, now and then, whether a worker is stuck behind a long turn, and whose deadline has
//! come.
//!
//! While there is work it looks every [`TICK`]; once all workers sleep it sleeps too, until the next deadline.
//!
//! **Long turns.** A turn that has run at two looks in a row computes for longer than a tick, or waits without having
//! said so. Its worker is taken and handed to another thread; the turn goes on, and the kernel shares the core out.
//!
//! **Processors.** While there is work it counts [windows](super::window), by which [`super::binding`] judges whether workers should
//! be bound to processors, and tells [`super::balance`] what others use of those.
//!
//! **Deadlines.** A task has one deadline, which it moves with each command by storing a number. The heap has an entry at
//! or before it, made when the task began; when that entry is due and the deadline has moved on, it is put back for the
//! new time, but no more than [`AHEAD`] later. So a time-out of hours costs the heap an entry a minute, not one a
//! command, and an entry names its task by token: a task that is over leaves nothing but that, for a minute.
//!
//! A task that has a turn is told as well, and has another turn after it. By then its deadline may have moved on: it looks
//! at it again.
//!
//! Invariants:
//! 1. A task whose deadline is not [`NEVER`] has an entry at or before it. (`TaskState::watched` is the earliest.)

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::Core;
use super::binding::Binding;
use super::task::{Events, TaskState, notify};
use super::threads::{hand_over, retry};
use super::window::Windows;
use super::worker::TAKEN;
use crate::clock::{Clock, NEVER};

/// How often it looks while there is work.
pub const TICK: Duration = Duration::from_millis(10);
/// When an entry is looked at again whose task was told, in milliseconds.
const AGAIN: u64 = 1000;
/// How far ahead entries are made, in milliseconds.
pub const AHEAD: u64 = 60_000;

/// What the monitor's thread shares with the others.
pub(crate) struct Monitor {
    deadlines: Mutex<BinaryHeap<Reverse<Entry>>>,
    /// Whether it sleeps until the next deadline.
    asleep: AtomicBool,
    told: Mutex<bool>,
    condition: Condvar,
}

/// A task of a worker, and when to look at it. Ordered by time.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: u64,
    worker: usize,
    token: u64,
}

impl Monitor {
    pub(crate) fn new() -> Monitor {
        Monitor {
            deadlines: Mutex::new(BinaryHeap::new()),
            asleep: AtomicBool::new(false),
            told: Mutex::new(false),
            condition: Condvar::new(),
        }
    }

    /// Starts the thread. It ends when the core is stopping.
    pub(crate) fn start<S: 'static>(core: &Arc<Core<S>>) -> std::io::Result<()> {
        let weak = Arc::downgrade(core);
        core.clock.on_change(move || {
            if let Some(core) = weak.upgrade() {
                core.monitor.wake();
            }
        });
        let core = core.clone();
        std::thread::Builder::new().name("meseta-monitor".to_owned()).spawn(move || watch(&core))?;
        Ok(())
    }

    /// Looks now.
    pub(crate) fn wake(&self) {
        *self.told.lock() = true;
        self.condition.notify_one();
    }

    /// A worker woke up.
    pub(crate) fn work_began(&self) {
        if self.asleep.load(Ordering::SeqCst) && self.asleep.swap(false, Ordering::SeqCst) {
            self.wake();
        }
    }

    /// Adds an entry for a task.
    pub(crate) fn watch<S: 'static>(&self, state: &TaskState<S>, at: u64) {
        let mut deadlines = self.deadlines.lock();
        state.set_watched(at);
        let first = deadlines.peek().is_none_or(|Reverse(entry)| at < entry.at);
        deadlines.push(Reverse(Entry { at, worker: state.worker(), token: state.token() }));
        drop(deadlines);
        if first {
            self.wake();
        }
    }

    /// Tells those whose deadline has come; returns when the next entry is due.
    fn expire<S: 'static>(&self, core: &Core<S>, now: u64) -> u64 {
        let mut due = Vec::new();
        let next = loop {
            let mut deadlines = self.deadlines.lock();
            match deadlines.peek() {
                None => break NEVER,
                Some(Reverse(entry)) if entry.at > now => break entry.at,
                Some(_) => {}
            }
            let Some(Reverse(mut entry)) = deadlines.pop() else { break NEVER };
            let Some(task) = core.workers[entry.worker].task(entry.token) else { continue };
            let state = task.state();
            let deadline = state.deadline();
            entry.at = match deadline {
                later if later > now => later.min(now + AHEAD),
                _ => {
                    due.push(task.clone());
                    now + AGAIN
                }
            };
            state.set_watched(entry.at);
            deadlines.push(Reverse(entry));
            drop(deadlines);
            // (The task may be dropped here, by the last who had it: not under the lock.)
            drop(task);
        };
        due.iter().for_each(|task| notify(task, Events::DEADLINE));
        next
    }
}

/// The thread's life.
fn watch<S: 'static>(core: &Arc<Core<S>>) {
    let monitor = &core.monitor;
    let mut seen = vec![0; core.workers.len()];
    let mut quiet = false;
    let (mut windows, mut binding) = (Windows::default(), Binding::new());
    // How many processors others use, lately.
    let mut others = 0.0;
    while !core.stopping.load(Ordering::SeqCst) {
        let mut awake = false;
        for (worker, seen) in core.workers.iter().zip(&mut seen) {
            let claim = worker.claim();
            let holder = worker.holder();
            if claim == *seen && claim != TAKEN && core.placement.release(holder, || worker.take(claim)) {
                hand_over(core, worker.clone());
            }
            if worker.queued() > 0 {
                core.wake_one();
            }
            *seen = claim;
            awake |= !worker.is_asleep();
        }
        core.placement.tick();
        if awake && !core.placement.processors().is_empty() {
            if let Some(window) = windows.look(core) {
                binding.judge(core, &window);
                others = (others + window.others()) / 2.0;
            }
            let tasks: Vec<usize> = core.workers.iter().map(|worker| worker.task_count()).collect();
            core.placement.balance.update(&tasks, others);
        }
        retry(core);
        let next = monitor.expire(core, core.clock.now());
        let deep = quiet && !awake;
        quiet = !awake;
        if deep {
            monitor.asleep.store(true, Ordering::SeqCst);
            // A worker that woke before it could see that is seen here.
            if core.workers.iter().any(|worker| !worker.is_asleep()) {
                monitor.asleep.store(false, Ordering::SeqCst);
                continue;
            }
        }
        let wait = if deep { patience(&core.clock, next) } else { Some(TICK) };
        let mut told = monitor.told.lock();
        if !*told {
            match wait {
                Some(wait) => drop(monitor.condition.wait_for(&mut told, wait)),
                None => monitor.condition.wait(&mut told),
            }
        }
        *told = false;
        drop(told);
        monitor.asleep.store(false, Ordering::SeqCst);
    }
}

/// How long to sleep until `next`: for ever if there is no deadline, or if the clock is set by hand and will tell.
fn patience(clock: &Clock, next: u64) -> Option<Duration> {
    match clock {
        Clock::Manual(_) => None,
        Clock::System if next == NEVER => None,
        // The coarse clock is late by some milliseconds; the next look sees the time past.
        Clock::System => Some(Duration::from_millis(next.saturating_sub(clock.now()) + 5)),
    }
}
