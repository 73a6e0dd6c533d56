//! A worker: one thread, its clients, and what a client does between two events.
//!
//! ```text
//! client:  connect, start | gate | loop { wait for a turn; event, again after errors to be ignored; think }
//! closed loop:  a turn is always there                    response = end - begin
//! open loop:    a turn is an arrival (Poisson, its own    response = end - intended arrival
//!               stream a thread), or waits in a queue
//! ```
//!
//! The queue of an open loop has no limit: a server that is too slow shows as growing response times, which is what
//! was to be measured.
//!
//! Invariants:
//! 1. No client begins its first event before all clients of all workers are ready.
//! 2. A time in an open loop counts from when the event was to begin, whoever was late.
//!
//! When it fails: the first failure of a client that is not to be ignored stops the run; the other clients end their
//! events, and what was measured is kept.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::connection::Connection;
use super::reactor::{Reactor, Task, TaskId, Turn};
use super::recorder::{Recorder, Second};
use super::run::{Ignore, Plan};
use super::target::{Address, Target};
use super::{Failure, Session, Workload};
use crate::random::Random;

/// At most so many clients of a worker log in at the same time: a listener's queue is short, and a login costs.
const LOGINS_AT_ONCE: usize = 16;

/// What all workers of a run share.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// No event is to begin any more.
    pub stop: AtomicBool,
    /// Leave at once.
    pub abandon: AtomicBool,
    /// When the clients may begin: set once all are ready.
    pub gate: OnceLock<Instant>,
    /// Events that may still begin, if they are counted.
    pub events_left: Option<AtomicI64>,
    /// How many clients have ended their last event, and when the last of them did.
    pub finished: Mutex<(usize, Option<Instant>)>,
    /// The server has been looked at for the last time: connections may be closed.
    pub looked: AtomicBool,
    /// The first failure.
    pub failure: Mutex<Option<Failure>>,
}

impl Control {
    fn fail(&self, failure: Failure) {
        if let Ok(mut first) = self.failure.lock() {
            first.get_or_insert(failure);
        }
        self.stop.store(true, Ordering::Relaxed);
    }

    /// A client has ended its last event.
    fn finish(&self) {
        if let Ok(mut finished) = self.finished.lock() {
            *finished = (finished.0 + 1, Some(Instant::now()));
        }
    }

    fn may_begin(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
            && self.events_left.as_ref().is_none_or(|left| left.fetch_sub(1, Ordering::Relaxed) > 0)
    }
}

/// What a worker tells.
#[derive(Debug)]
pub(super) enum Message {
    /// So many more clients of its are ready.
    Ready(usize),
    /// A second is over.
    Second(Second),
    /// It is done.
    Done(Box<Recorder>),
}

/// What the clients of one worker share.
struct Shared {
    reactor: Rc<Reactor>,
    recorder: Rc<RefCell<Recorder>>,
    control: Arc<Control>,
    plan: Arc<Plan>,
    logins: Cell<usize>,
    waiting_for_login: RefCell<VecDeque<TaskId>>,
    ready: Cell<usize>,
    is_open: Cell<bool>,
    /// Arrivals of an open loop that no client has taken.
    arrivals: RefCell<VecDeque<Instant>>,
    /// Clients that wait for one.
    idle: RefCell<Vec<TaskId>>,
    active: Cell<u64>,
}

/// A worker's part of a run.
pub(super) struct Worker<W: Workload> {
    pub workload: Arc<W>,
    pub target: Arc<Target>,
    /// Client number i goes to the one at i modulo their number.
    pub addresses: Vec<Address>,
    pub plan: Arc<Plan>,
    pub control: Arc<Control>,
    /// The numbers of its clients.
    pub clients: std::ops::Range<usize>,
    pub messages: Sender<Message>,
}

impl<W: Workload> Worker<W> {
    /// Runs until all clients are done.
    pub fn run(self) {
        let kinds = self.workload.kinds().len();
        let recorder = Rc::new(RefCell::new(Recorder::new(kinds, self.clients.len())));
        match Reactor::new(self.clients.len() + 1, self.plan.waiting) {
            Ok(reactor) => {
                let shared = Rc::new(Shared {
                    reactor: Rc::new(reactor),
                    recorder: recorder.clone(),
                    control: self.control.clone(),
                    plan: self.plan.clone(),
                    logins: Cell::new(0),
                    waiting_for_login: RefCell::default(),
                    ready: Cell::new(0),
                    is_open: Cell::new(false),
                    arrivals: RefCell::default(),
                    idle: RefCell::default(),
                    active: Cell::new(0),
                });
                let mut pace = Pace { told_ready: 0, seconds: 0, closed: false };
                let result = shared.reactor.run(self.tasks(&shared), |now| self.turn(&shared, &mut pace, now));
                if let Err(error) = result {
                    self.control.fail(Failure::Lost(error.to_string()));
                }
                self.close(&shared, &mut pace);
            }
            Err(error) => self.control.fail(Failure::Lost(format!("nothing to wait with: {error}"))),
        }
        if let Ok(recorder) = Rc::try_unwrap(recorder) {
            // Whoever waited for it may have gone.
            let _ = self.messages.send(Message::Done(Box::new(recorder.into_inner())));
        }
    }

    fn tasks(&self, shared: &Rc<Shared>) -> Vec<Task> {
        let total = self.plan.clients;
        let mut tasks: Vec<Task> = Vec::with_capacity(self.clients.len() + 1);
        for (index, client) in self.clients.clone().enumerate() {
            let session = self.workload.session(client, total, Random::new(self.plan.seed, client as u64));
            let address = self.addresses[client % self.addresses.len()].clone();
            let (shared, target) = (shared.clone(), self.target.clone());
            tasks.push(Box::pin(async move {
                if let Err(failure) = serve(&shared, index, session, &target, &address).await {
                    shared.control.fail(failure);
                }
                for task in shared.idle.borrow_mut().drain(..) {
                    shared.reactor.wake(task);
                }
            }));
        }
        if let Some(rate) = self.plan.rate {
            let rate = rate * self.clients.len() as f64 / total as f64;
            let random = Random::new(self.plan.seed, (self.clients.start as u64) | 1 << 40);
            tasks.push(Box::pin(arrive(shared.clone(), rate, random)));
        }
        tasks
    }

    /// What is due after each round of the loop, and until when it may wait.
    fn turn(&self, shared: &Shared, pace: &mut Pace, now: Instant) -> Turn {
        let control = &self.control;
        if shared.ready.get() > pace.told_ready {
            let _ = self.messages.send(Message::Ready(shared.ready.get() - pace.told_ready));
            pace.told_ready = shared.ready.get();
        }
        if control.abandon.load(Ordering::Relaxed) {
            return Turn::Leave;
        }
        let Some(&gate) = control.gate.get() else {
            if control.stop.load(Ordering::Relaxed) {
                return Turn::Leave;
            }
            return Turn::Until(now + Duration::from_millis(2));
        };
        if !shared.is_open.replace(true) {
            // Without a warm-up the first event counts, however short: one without a statement ends in the first round.
            shared.recorder.borrow_mut().is_open = self.plan.warm_up.is_zero();
            for task in 0..self.clients.len() + 1 {
                shared.reactor.wake(task as TaskId);
            }
        }
        let begin = gate + self.plan.warm_up;
        if now < begin {
            return Turn::Until(begin);
        }
        let end = self.plan.time.map(|time| begin + time);
        if !pace.closed {
            shared.recorder.borrow_mut().is_open = true;
            let next = begin + Duration::from_secs(pace.seconds + 1);
            let last = end.is_some_and(|end| now >= end);
            if now >= next || last {
                self.tell_second(shared, pace);
            }
            if last {
                pace.closed = true;
                shared.recorder.borrow_mut().is_open = false;
                control.stop.store(true, Ordering::Relaxed);
                for task in shared.idle.borrow_mut().drain(..) {
                    shared.reactor.wake(task);
                }
            }
            let next = begin + Duration::from_secs(pace.seconds + 1);
            // (A stop by hand is looked for five times a second.)
            return Turn::Until(end.map_or(next, |end| next.min(end)).min(now + Duration::from_millis(200)));
        }
        Turn::Until(now + Duration::from_millis(200))
    }

    fn tell_second(&self, shared: &Shared, pace: &mut Pace) {
        let queued = shared.arrivals.borrow().len() as u64;
        let second = shared.recorder.borrow_mut().take_second(pace.seconds, queued, shared.active.get());
        pace.seconds += 1;
        let _ = self.messages.send(Message::Second(second));
    }

    /// The last, unfinished second of a run that was bounded by a count.
    fn close(&self, shared: &Shared, pace: &mut Pace) {
        if !pace.closed {
            self.tell_second(shared, pace);
        }
        shared.recorder.borrow_mut().is_open = false;
    }
}

/// How far a worker's clock has come.
struct Pace {
    told_ready: usize,
    seconds: u64,
    closed: bool,
}

/// The life of a client.
async fn serve<S: Session>(
    shared: &Shared,
    index: usize,
    mut session: S,
    target: &Target,
    address: &Address,
) -> super::Result<()> {
    while shared.logins.get() >= LOGINS_AT_ONCE {
        shared.waiting_for_login.borrow_mut().push_back(shared.reactor.current());
        shared.reactor.park().await;
    }
    shared.logins.set(shared.logins.get() + 1);
    let reactor = shared.reactor.clone();
    let opened = Connection::open(reactor, shared.recorder.clone(), target, address, shared.plan.prepares).await;
    let started = match opened {
        Ok(mut connection) => session.start(&mut connection).await.map(|()| connection),
        Err(failure) => Err(failure),
    };
    shared.logins.set(shared.logins.get() - 1);
    if let Some(next) = shared.waiting_for_login.borrow_mut().pop_front() {
        shared.reactor.wake(next);
    }
    let mut connection = started?;
    shared.ready.set(shared.ready.get() + 1);
    while !shared.is_open.get() {
        shared.reactor.park().await;
    }
    let is_open_loop = shared.plan.rate.is_some();
    let mut random = Random::new(shared.plan.seed, index as u64 | 1 << 41);
    loop {
        let intended = if is_open_loop {
            match next_arrival(shared).await {
                Some(intended) => intended,
                None => break,
            }
        } else {
            Instant::now()
        };
        if !shared.control.may_begin() {
            break;
        }
        let begun = if is_open_loop { Instant::now() } else { intended };
        shared.active.set(shared.active.get() + 1);
        let outcome = event(shared, &mut session, &mut connection).await;
        shared.active.set(shared.active.get() - 1);
        if outcome? {
            let end = Instant::now();
            let service = is_open_loop.then_some(end - begun);
            shared.recorder.borrow_mut().event(index, end - intended, service);
        }
        if let Some((least, most)) = shared.plan.think {
            let micros = random.between(least.as_micros() as i64, most.as_micros() as i64);
            connection.sleep(Duration::from_micros(micros as u64)).await;
        }
    }
    session.finish(&mut connection).await?;
    shared.control.finish();
    // A server's thread that ends takes its counters with it.
    while !shared.control.looked.load(Ordering::Relaxed) {
        connection.sleep(Duration::from_millis(5)).await;
    }
    connection.close();
    Ok(())
}

/// One event, tried again after errors that are to be ignored. Returns whether it succeeded.
async fn event<S: Session>(shared: &Shared, session: &mut S, connection: &mut Connection) -> super::Result<bool> {
    loop {
        match session.event(connection).await {
            Ok(()) => return Ok(true),
            Err(Failure::Server { code, .. }) if shared.plan.ignore.covers(code) => {
                if shared.control.stop.load(Ordering::Relaxed) {
                    return Ok(false);
                }
                session.before_retry(connection).await?;
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// The next arrival of an open loop; none when the run is over.
async fn next_arrival(shared: &Shared) -> Option<Instant> {
    loop {
        if shared.control.stop.load(Ordering::Relaxed) {
            return None;
        }
        if let Some(intended) = shared.arrivals.borrow_mut().pop_front() {
            return Some(intended);
        }
        shared.idle.borrow_mut().push(shared.reactor.current());
        shared.reactor.park().await;
    }
}

/// Lets events arrive at random, `rate` a second on average, on a schedule that nothing delays.
async fn arrive(shared: Rc<Shared>, rate: f64, mut random: Random) {
    while !shared.is_open.get() {
        shared.reactor.park().await;
    }
    let mean = 1.0 / rate.max(1e-9);
    let mut next = Instant::now();
    while !shared.control.stop.load(Ordering::Relaxed) {
        next += Duration::from_secs_f64(random.exponential(mean).min(3600.0));
        // In pieces, so that a stop is seen.
        while Instant::now() < next && !shared.control.stop.load(Ordering::Relaxed) {
            shared.reactor.sleep_until(next.min(Instant::now() + Duration::from_millis(200))).await;
        }
        shared.arrivals.borrow_mut().push_back(next);
        if let Some(task) = shared.idle.borrow_mut().pop() {
            shared.reactor.wake(task);
        }
    }
}

impl Ignore {
    /// Whether events that fail with `code` are tried again.
    pub fn covers(&self, code: u16) -> bool {
        match self {
            Ignore::All => true,
            Ignore::These(codes) => codes.contains(&code),
        }
    }
}
