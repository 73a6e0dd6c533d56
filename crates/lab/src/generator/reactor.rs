//! Which future goes on when: a ring or an epoll set, a heap of timers, and the tasks of one thread.
//!
//! ```text
//! wait -> (task number, ...) -> poll each -> expired timers -> poll each -> woken by others -> poll each -> turn
//! ```
//!
//! Sockets are waited for by io_uring ([`Ring`]), and where the kernel has none for us, by epoll: there a socket is registered once, edge-triggered for both directions, with its task's number; a task that waits parks and
//! looks again when it is polled. So a poll may come for nothing, and every future here tolerates that. There are no
//! wakers: whatever a task waits for belongs to its thread.
//!
//! Invariants:
//! 1. A task is polled again after each edge on its sockets that came since it parked: an edge that comes between the
//!    last look and the parking stays in the epoll set.
//! 2. `now()` is read anew for each task that is polled, never older than the poll.
//!
//! Source: epoll(7), epoll_pwait2(2).

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::future::poll_fn;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use rustix::event::{Timespec, epoll};

use super::ring::Ring;

/// A task's number.
pub type TaskId = u32;

/// A task.
pub type Task = Pin<Box<dyn Future<Output = ()>>>;

/// What the loop is to do after a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Wait for what comes, until then at the latest.
    Until(Instant),
    /// Leave the loop, with tasks unfinished.
    Leave,
}

/// How sockets are waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Waiting {
    /// By io_uring, or, where there is none, by epoll.
    #[default]
    Best,
    /// By epoll.
    Epoll,
    /// By io_uring.
    Ring,
}

#[derive(Debug)]
enum Poller {
    Epoll(OwnedFd),
    Ring(Box<Ring>),
}

/// What the tasks of one thread share.
#[derive(Debug)]
pub struct Reactor {
    poller: Poller,
    timers: RefCell<BinaryHeap<Reverse<(Instant, TaskId)>>>,
    woken: RefCell<VecDeque<TaskId>>,
    current: Cell<TaskId>,
}

impl Reactor {
    /// A reactor for at most so many tasks, of the calling thread.
    ///
    /// # Errors
    /// What the kernel says: no descriptors left, or no io_uring where nothing else will do.
    pub fn new(tasks: usize, waiting: Waiting) -> std::io::Result<Reactor> {
        let ring = if waiting == Waiting::Epoll { None } else { Some(Ring::new(tasks)) };
        let poller = match ring {
            Some(Ok(ring)) => Poller::Ring(Box::new(ring)),
            Some(Err(error)) if waiting == Waiting::Ring => return Err(error),
            _ => Poller::Epoll(epoll::create(epoll::CreateFlags::CLOEXEC)?),
        };
        Ok(Reactor { poller, timers: RefCell::default(), woken: RefCell::default(), current: Cell::new(0) })
    }

    /// The task that is being polled.
    pub fn current(&self) -> TaskId {
        self.current.get()
    }

    /// The ring, if sockets are waited for by one.
    #[inline]
    pub fn ring(&self) -> Option<&Ring> {
        match &self.poller {
            Poller::Ring(ring) => Some(ring),
            Poller::Epoll(_) => None,
        }
    }

    /// Has the current task polled at whatever happens to a socket. (A ring is asked for each thing by itself.)
    ///
    /// # Errors
    /// What `epoll_ctl` says.
    pub fn register(&self, socket: impl AsFd) -> std::io::Result<()> {
        let Poller::Epoll(set) = &self.poller else { return Ok(()) };
        let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::RDHUP | epoll::EventFlags::ET;
        epoll::add(set, socket, epoll::EventData::new_u64(u64::from(self.current())), flags)?;
        Ok(())
    }

    /// Has a task polled soon.
    pub fn wake(&self, task: TaskId) {
        self.woken.borrow_mut().push_back(task);
    }

    /// Waits for whatever comes next for the current task.
    #[inline]
    pub fn park(&self) -> impl Future<Output = ()> + use<> {
        let mut parked = false;
        poll_fn(move |_| if std::mem::replace(&mut parked, true) { Poll::Ready(()) } else { Poll::Pending })
    }

    /// Waits until `deadline`.
    pub fn sleep_until(&self, deadline: Instant) -> impl Future<Output = ()> + '_ {
        let mut noted = false;
        poll_fn(move |_| {
            if Instant::now() >= deadline {
                return Poll::Ready(());
            }
            if !std::mem::replace(&mut noted, true) {
                self.timers.borrow_mut().push(Reverse((deadline, self.current())));
            }
            Poll::Pending
        })
    }

    /// Runs `tasks`, numbered from 0 on, until all are done or `turn` says so. `turn` is called after each round.
    ///
    /// # Errors
    /// What the kernel says, which is nothing in practice.
    pub fn run(&self, tasks: Vec<Task>, mut turn: impl FnMut(Instant) -> Turn) -> std::io::Result<()> {
        let mut tasks: Vec<Option<Task>> = tasks.into_iter().map(Some).collect();
        let mut left = tasks.len();
        let (mut events, mut due) = (Vec::with_capacity(256), Vec::with_capacity(256));
        for task in 0..tasks.len() {
            self.poll(&mut tasks, task as TaskId, &mut left);
        }
        while left > 0 {
            self.poll_woken(&mut tasks, &mut left);
            let now = Instant::now();
            let until = match turn(now) {
                Turn::Leave => return Ok(()),
                Turn::Until(until) => {
                    self.timers.borrow().peek().map_or(until, |Reverse((first, _))| until.min(*first))
                }
            };
            let patience =
                if self.woken.borrow().is_empty() { until.saturating_duration_since(now) } else { Duration::ZERO };
            due.clear();
            self.wait(patience, &mut events, &mut due)?;
            for task in &due {
                self.poll(&mut tasks, *task, &mut left);
            }
            self.poll_expired(&mut tasks, &mut left);
        }
        Ok(())
    }

    /// Waits for what comes, and appends whose it is.
    #[inline]
    fn wait(&self, patience: Duration, events: &mut Vec<epoll::Event>, due: &mut Vec<TaskId>) -> std::io::Result<()> {
        let set = match &self.poller {
            Poller::Ring(ring) => return ring.wait(patience, due),
            Poller::Epoll(set) => set,
        };
        let patience = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        events.clear();
        match epoll::wait(set, rustix::buffer::spare_capacity(events), Some(&patience)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => (),
            Err(error) => return Err(error.into()),
        }
        due.extend(events.iter().map(|event| event.data.u64() as TaskId));
        Ok(())
    }

    fn poll_expired(&self, tasks: &mut [Option<Task>], left: &mut usize) {
        if self.timers.borrow().is_empty() {
            return;
        }
        let now = Instant::now();
        loop {
            let mut timers = self.timers.borrow_mut();
            match timers.peek() {
                Some(&Reverse((deadline, task))) if deadline <= now => {
                    timers.pop();
                    drop(timers);
                    self.poll(tasks, task, left);
                }
                _ => return,
            }
        }
    }

    fn poll_woken(&self, tasks: &mut [Option<Task>], left: &mut usize) {
        // Those that are woken meanwhile have their turn after the sockets.
        let count = self.woken.borrow().len();
        for _ in 0..count {
            let Some(task) = self.woken.borrow_mut().pop_front() else { return };
            self.poll(tasks, task, left);
        }
    }

    #[inline]
    fn poll(&self, tasks: &mut [Option<Task>], task: TaskId, left: &mut usize) {
        let Some(slot) = tasks.get_mut(task as usize) else { return };
        let Some(future) = slot else { return };
        self.current.set(task);
        if future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            *slot = None;
            *left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::rc::Rc;

    #[test]
    fn tasks_wake_each_other_and_timers_come_in_order() {
        for waiting in [Waiting::Best, Waiting::Epoll] {
            let reactor = Rc::new(Reactor::new(4, waiting).unwrap());
            let log = Rc::new(RefCell::new(Vec::new()));
            let start = Instant::now();
            let mut tasks: Vec<Task> = Vec::new();
            for (number, milliseconds) in [(0, 3), (1, 1), (2, 2)] {
                let (reactor, log) = (reactor.clone(), log.clone());
                tasks.push(Box::pin(async move {
                    reactor.sleep_until(start + Duration::from_millis(milliseconds)).await;
                    log.borrow_mut().push(number);
                    reactor.wake(3);
                }));
            }
            let (parked, seen) = (reactor.clone(), log.clone());
            tasks.push(Box::pin(async move {
                while seen.borrow().len() < 3 {
                    parked.park().await;
                }
                seen.borrow_mut().push(9);
            }));
            reactor.run(tasks, |now| Turn::Until(now + Duration::from_secs(5))).unwrap();
            assert_eq!(*log.borrow(), [1, 2, 0, 9]);
        }
    }

    #[test]
    fn a_turn_can_leave() {
        let reactor = Reactor::new(1, Waiting::Best).unwrap();
        let parked = reactor.park();
        reactor.run(vec![Box::pin(parked)], |_| Turn::Leave).unwrap();
    }
}
