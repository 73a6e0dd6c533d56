//! How a measurement begins, goes on and ends.
//!
//! ```text
//! connect all | gate opens | warm-up | measured ................ | clients end their events, and close | result
//!                                    on_begin, on_second ...  on_end
//! ```
//!
//! What ends after the measured time is not counted; a transaction that began in the warm-up and ends in the measured
//! time is. So a rate is what ended divided by the time, without an edge. (A run bounded by a count is measured until
//! its last event.)
//!
//! When it fails: before the gate opens nothing was sent but logins and preparations, and the run is an error. After
//! that there is always a result; why it ended early is in [`Measured::ended`].

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::reactor::Waiting;
use super::recorder::{Recorder, Second};
use super::target::Target;
use super::worker::{Control, Message, Worker};
use super::{Kind, Workload};

/// How long clients may take to end their last events, beyond which they are left alone.
const DRAIN: Duration = Duration::from_secs(10);
/// How long all clients together may take to connect and prepare, at least.
const LOGIN: Duration = Duration::from_secs(60);

/// Which errors let an event be tried again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ignore {
    /// All that the server sends.
    All,
    /// These numbers.
    These(Vec<u16>),
}

/// How the load is to be.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Connections, each with one client.
    pub clients: usize,
    /// Threads of the generator's.
    pub workers: usize,
    /// Time before anything is counted.
    pub warm_up: Duration,
    /// How long to measure; `None` for no limit.
    pub time: Option<Duration>,
    /// How many events to do; `None` for no limit.
    pub events: Option<u64>,
    /// Events a second of an open loop; `None` for a closed loop.
    pub rate: Option<f64>,
    /// The least and the most time between two events of a client.
    pub think: Option<(Duration, Duration)>,
    /// Which errors let an event be tried again.
    pub ignore: Ignore,
    /// Whether statements are prepared.
    pub prepares: bool,
    /// Where chance begins.
    pub seed: u64,
    /// How sockets are waited for.
    pub waiting: Waiting,
}

/// Why a run ended before its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Somebody asked for it.
    Interrupted,
    /// A client failed: one line.
    Failed(String),
}

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    /// The kinds, by number.
    pub kinds: Vec<Kind>,
    /// The measured time.
    pub time: Duration,
    /// All counts.
    pub totals: Recorder,
    /// Second by second; the last one may be shorter.
    pub seconds: Vec<Second>,
    /// Why it ended early, if it did.
    pub ended: Option<Ended>,
}

/// Who watches a run, on the caller's thread.
pub trait Observer {
    /// The warm-up is over.
    fn on_begin(&mut self) {}
    /// A second is over.
    fn on_second(&mut self, _second: &Second, _kinds: &[Kind]) {}
    /// The measured time is over (clients may still be ending their last events).
    fn on_end(&mut self) {}
    /// Whether the run is to end now. Asked about ten times a second.
    fn wants_end(&mut self) -> bool {
        false
    }
}

/// Nobody watches.
impl Observer for () {}

/// Runs a workload.
///
/// # Errors
/// One line, if the clients cannot connect or prepare their statements.
pub fn run<W: Workload>(
    workload: Arc<W>,
    target: &Target,
    plan: &Plan,
    observer: &mut dyn Observer,
) -> Result<Measured, String> {
    let kinds = workload.kinds();
    let addresses = target.resolve_all()?;
    raise_descriptor_limit(plan.clients)?;
    let control = Arc::new(Control {
        events_left: plan.events.map(|events| AtomicI64::new(i64::try_from(events).unwrap_or(i64::MAX))),
        ..Control::default()
    });
    let plan = Arc::new(plan.clone());
    let target = Arc::new(target.clone());
    let workers = plan.workers.clamp(1, plan.clients.max(1));
    let (messages, inbox) = channel();
    let mut threads = Vec::new();
    for number in 0..workers {
        let worker = Worker {
            workload: workload.clone(),
            target: target.clone(),
            addresses: addresses.clone(),
            plan: plan.clone(),
            control: control.clone(),
            clients: plan.clients * number / workers..plan.clients * (number + 1) / workers,
            messages: messages.clone(),
        };
        let thread = std::thread::Builder::new().name(format!("load-{number}")).spawn(move || worker.run());
        threads.push(thread.map_err(|error| format!("a thread cannot be started: {error}"))?);
    }
    drop(messages);

    let mut state = State {
        kinds: &kinds,
        plan: &plan,
        control: &control,
        workers,
        ready: 0,
        done: 0,
        totals: Recorder::new(kinds.len(), 0),
        seconds: Vec::new(),
        told: 0,
        begun: None,
        ended: None,
        interrupted: false,
    };
    let patience = Instant::now() + LOGIN + Duration::from_millis(20) * plan.clients as u32;
    let mut leave_at = None;
    while state.done < workers {
        match inbox.recv_timeout(Duration::from_millis(100)) {
            Ok(message) => state.take(message),
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let now = Instant::now();
        state.tell(now, observer);
        if control.gate.get().is_none() && now > patience {
            control.abandon.store(true, Ordering::Relaxed);
            return Err(format!(
                "{}: {} of {} clients were logged in after {} s; ask for fewer --threads, or look at the server's log",
                target.place(),
                state.ready,
                plan.clients,
                LOGIN.as_secs()
            ));
        }
        if control.stop.load(Ordering::Relaxed) {
            let leave_at = *leave_at.get_or_insert(now + DRAIN);
            if now > leave_at {
                control.abandon.store(true, Ordering::Relaxed);
            }
        }
    }
    let now = Instant::now();
    for thread in threads {
        // A panic of a worker's has been printed by it.
        let _ = thread.join();
    }
    state.end(now, observer);
    let failure = control.failure.lock().ok().and_then(|mut failure| failure.take());
    let Some(begun) = state.begun else {
        return match failure {
            Some(failure) => Err(target.explain(&failure)),
            None if state.interrupted => Err("interrupted before the measurement began".to_owned()),
            None => Err("the run ended within its warm-up".to_owned()),
        };
    };
    let ended = match failure {
        Some(failure) => Some(Ended::Failed(target.explain(&failure))),
        None => state.interrupted.then_some(Ended::Interrupted),
    };
    // Until the last event's end, or the planned one's.
    let last = control.finished.lock().ok().and_then(|finished| finished.1).unwrap_or(now);
    let time = last.saturating_duration_since(begun);
    let time = plan
        .time
        .map_or(time, |planned| if plan.events.is_none() && ended.is_none() { planned } else { planned.min(time) });
    Ok(Measured { kinds: kinds.clone(), time, totals: state.totals, seconds: state.seconds, ended })
}

/// What the coordinator knows.
struct State<'a> {
    kinds: &'a [Kind],
    plan: &'a Plan,
    control: &'a Control,
    workers: usize,
    ready: usize,
    done: usize,
    totals: Recorder,
    /// Each with how many workers have told of it.
    seconds: Vec<Second>,
    told: usize,
    begun: Option<Instant>,
    ended: Option<Instant>,
    interrupted: bool,
}

impl State<'_> {
    fn take(&mut self, message: Message) {
        match message {
            Message::Ready(clients) => {
                self.ready += clients;
                if self.ready == self.plan.clients {
                    // Set once: nobody else does.
                    let _ = self.control.gate.set(Instant::now());
                }
            }
            Message::Second(second) => {
                let number = second.number as usize;
                while self.seconds.len() <= number {
                    self.seconds.push(Second::new(self.seconds.len() as u64, self.kinds.len()));
                }
                self.seconds[number].merge(&second);
            }
            Message::Done(recorder) => {
                self.done += 1;
                self.totals.merge(&recorder);
            }
        }
    }

    fn tell(&mut self, now: Instant, observer: &mut dyn Observer) {
        let begin = self.control.gate.get().map(|gate| *gate + self.plan.warm_up);
        if self.begun.is_none()
            && let Some(begin) = begin
            && now >= begin
        {
            self.begun = Some(begin);
            observer.on_begin();
        }
        // A second is whole when the next one has begun long enough ago for all workers to have told of it.
        if let Some(begun) = self.begun {
            while let Some(second) = self.seconds.get(self.told)
                && (now >= begun + Duration::from_millis(1000 * (self.told as u64 + 1) + 150)
                    || self.done == self.workers)
            {
                observer.on_second(second, self.kinds);
                self.told += 1;
            }
        }
        if observer.wants_end() {
            self.interrupted = true;
            self.control.stop.store(true, Ordering::Relaxed);
        }
        let is_over = self.plan.time.zip(begin).is_some_and(|(time, begin)| now >= begin + time)
            || self.control.finished.lock().is_ok_and(|finished| finished.0 == self.plan.clients)
            || self.control.stop.load(Ordering::Relaxed);
        if is_over {
            self.end(now, observer);
        }
    }

    fn end(&mut self, now: Instant, observer: &mut dyn Observer) {
        if self.ended.is_none() && self.begun.is_some() {
            self.ended = Some(now);
            observer.on_end();
        }
        self.control.looked.store(true, Ordering::Relaxed);
    }
}

/// A descriptor for each client, and some.
fn raise_descriptor_limit(clients: usize) -> Result<(), String> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let needed = clients as u64 + 64;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    let too_few = || format!("{clients} clients need {needed} open files: raise the limit with ulimit -n {needed}");
    if limit.maximum.is_some_and(|maximum| maximum < needed) {
        return Err(too_few());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum }).map_err(|_| too_few())
}
