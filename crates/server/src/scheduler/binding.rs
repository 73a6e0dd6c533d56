//! Whether workers are bound to their processors for now: measured, since it depends on where the clients are.
//!
//! ```text
//!   processor 0                                  processor 1
//!   a client of this machine, always busy        worker 1 has answered all of its own and sleeps:
//!   worker 0 waits for it half of the time       nobody else may run here
//! ```
//!
//! A bound worker's answers wake nobody on another processor ([`super::placement`]). But a program that has one processor to
//! itself and never sleeps, as one that has hundreds of connections, takes half of a bound worker's time, and that worker
//! half of its time, while another processor idles. Where no client sleeps, none need be woken either, and
//! the system places threads better.
//!
//! The monitor looks each [`WINDOW`]. If two in a row show a worker that waits for its processor while one of the processors
//! idles, then the workers are let go. They stay so for [`STAY`], and are bound again earlier in two cases: one is starved all
//! the same, and then it is not tried again for [`STAY`]; or there is less to do, by how the processors idle. So the question
//! costs half a second in ten. (How many turns they have would be a simpler answer; on a machine that others share it is one
//! of chance.)
//!
//! # Invariants
//! 1. Workers are let go only after two windows that showed one starved, and bound again at the latest with the first window
//!    that ends [`STAY`] later.
//!
//! When it fails: a system that does not tell how long threads wait shows no starved worker, and they stay bound.

use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::Core;
use super::processors::{self, Waits};

/// How long it counts before it judges.
pub const WINDOW: Duration = Duration::from_millis(250);
/// How long a judgement holds.
pub const STAY: Duration = Duration::from_secs(10);
/// A worker that waits for its processor for this part of a window is starved...
const WAITS: f64 = 0.15;
/// ... if that is long each time: whoever has the processor does not sleep by itself, as a client does that has asked...
const LONG: Duration = Duration::from_micros(100);
/// ... and all processors together idle for at least this part of one.
const IDLES: f64 = 0.18;
/// Where they idle for so many times as long as when the workers were let go, there is less to do.
const LESS_TO_DO: f64 = 1.5;

/// What was counted from one moment to another.
#[derive(Clone, Copy, Debug)]
struct Window {
    end: Instant,
    /// The part of the time that the thread of a worker waited for its processor, long each time: the most of all workers.
    waited: f64,
    /// The part of the time that a processor idled: the sum of all processors.
    idle: f64,
}

impl Window {
    fn shows_starved_worker(&self) -> bool {
        self.waited >= WAITS && self.idle >= IDLES
    }
}

/// What has been judged, and by what.
#[derive(Clone, Copy, Debug)]
enum Judgement {
    /// `starved`: what the processors idled in the last window, if that showed a starved worker.
    Bound { ask_after: Option<Instant>, starved: Option<f64> },
    /// `idle`: what the processors idled while the workers were bound. `in_vain`: the last window showed no reason to stay so.
    LetGo { idle: f64, until: Instant, in_vain: bool },
}

impl Judgement {
    const FIRST: Judgement = Judgement::Bound { ask_after: None, starved: None };

    fn is_bound(&self) -> bool {
        matches!(self, Judgement::Bound { .. })
    }

    /// What to do after another window.
    fn after(self, window: Window) -> Judgement {
        let bound = |ask_after| Judgement::Bound { ask_after, starved: None };
        match self {
            Judgement::Bound { ask_after: Some(time), .. } if window.end < time => self,
            Judgement::Bound { .. } if !window.shows_starved_worker() => bound(None),
            Judgement::Bound { starved: None, .. } => Judgement::Bound { ask_after: None, starved: Some(window.idle) },
            Judgement::Bound { starved: Some(idle), .. } => {
                let idle = (idle + window.idle) / 2.0;
                Judgement::LetGo { idle, until: window.end + STAY, in_vain: false }
            }
            Judgement::LetGo { until, .. } if window.end >= until => bound(None),
            Judgement::LetGo { idle, until, in_vain: was_in_vain } => {
                let is_starved = window.shows_starved_worker();
                let in_vain = is_starved || window.idle > idle * LESS_TO_DO;
                if in_vain && was_in_vain {
                    return bound(is_starved.then(|| window.end + STAY));
                }
                Judgement::LetGo { idle, until, in_vain }
            }
        }
    }
}

/// What the system has counted by one moment.
#[derive(Debug)]
struct Sample {
    at: Instant,
    /// By worker: its thread, and how that has waited for a processor.
    waits: Vec<(Pid, Waits)>,
    idle: Duration,
}

impl Sample {
    fn take<S: 'static>(core: &Core<S>) -> Option<Sample> {
        let waits = core.workers.iter().map(|worker| {
            let thread = worker.holder()?;
            Some((thread, processors::waits(thread)?))
        });
        Some(Sample {
            at: Instant::now(),
            waits: waits.collect::<Option<_>>()?,
            idle: processors::idle(core.placement.processors())?,
        })
    }

    fn until(&self, later: &Sample) -> Window {
        let length = later.at.duration_since(self.at).as_secs_f64();
        // A worker that has passed to another thread has waited for something else.
        let same = self.waits.iter().zip(&later.waits).filter(|(before, after)| before.0 == after.0);
        let waited = same.map(|((_, before), (_, after))| {
            let lasted = after.lasted.saturating_sub(before.lasted);
            let times = after.times.wrapping_sub(before.times);
            if lasted >= LONG * times.max(1) { lasted.as_secs_f64() } else { 0.0 }
        });
        Window {
            end: later.at,
            waited: waited.fold(0.0, f64::max) / length,
            idle: later.idle.saturating_sub(self.idle).as_secs_f64() / length,
        }
    }
}

/// The monitor's part of it.
#[derive(Debug)]
pub(crate) struct Binding {
    judgement: Judgement,
    /// When the window began.
    begin: Option<Sample>,
}

impl Binding {
    pub(crate) fn new() -> Binding {
        Binding { judgement: Judgement::FIRST, begin: None }
    }

    /// A moment while there is work: at the end of a window, judges and has the workers bound or let go.
    pub(crate) fn look<S: 'static>(&mut self, core: &Core<S>) {
        if core.placement.processors().is_empty() {
            return;
        }
        let age = self.begin.as_ref().map(|begin| begin.at.elapsed());
        if age.is_some_and(|age| age < WINDOW) {
            return;
        }
        let now = Sample::take(core);
        // In one that is twice as long all have slept, and nobody has looked.
        if let (Some(begin), Some(now), Some(age)) = (&self.begin, &now, age)
            && age < 2 * WINDOW
        {
            self.judge(core, begin.until(now));
        }
        self.begin = now;
    }

    fn judge<S: 'static>(&mut self, core: &Core<S>, window: Window) {
        self.judgement = self.judgement.after(window);
        let is_bound = self.judgement.is_bound();
        if core.placement.bind(is_bound) != is_bound {
            tracing::debug!(is_bound, ?window, "workers are bound to their processors, or are not any more");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Told {
        judgement: Judgement,
        now: Instant,
    }

    impl Told {
        fn new() -> Told {
            Told { judgement: Judgement::FIRST, now: Instant::now() }
        }

        /// Another window; whether workers are bound now.
        fn window(&mut self, waited: f64, idle: f64) -> bool {
            self.now += WINDOW;
            self.judgement = self.judgement.after(Window { end: self.now, waited, idle });
            self.judgement.is_bound()
        }
    }

    fn windows_of_a_stay() -> u32 {
        (STAY.as_millis() / WINDOW.as_millis()) as u32
    }

    #[test]
    fn two_windows_with_a_starved_worker_let_go() {
        let mut told = Told::new();
        assert!(told.window(0.5, 0.2));
        assert!(told.window(0.5, 0.05), "all processors are busy");
        assert!(told.window(0.5, 0.2));
        assert!(told.window(0.1, 1.0), "nobody waits");
        assert!(told.window(0.5, 0.2));
        assert!(!told.window(0.5, 0.2));
    }

    #[test]
    fn where_none_is_starved_they_stay_let_go_until_it_is_asked_anew() {
        let mut told = Told::new();
        told.window(0.5, 0.3);
        told.window(0.5, 0.3);
        for window in 1..windows_of_a_stay() {
            // One window is chance; a worker may wait while all are busy, and where there are many processors some idle.
            let (waited, idle) = [(0.5, 0.2), (0.5, 0.0), (0.0, 0.3)][window as usize % 3];
            assert!(!told.window(waited, idle), "window {window}");
        }
        assert!(told.window(0.0, 0.0));
        assert!(told.window(0.5, 0.3), "asked anew at once");
        assert!(!told.window(0.5, 0.3));
    }

    #[test]
    fn where_one_is_starved_all_the_same_they_are_bound_and_it_is_not_tried_for_a_while() {
        let mut told = Told::new();
        told.window(0.5, 0.4);
        assert!(!told.window(0.5, 0.4));
        assert!(!told.window(0.4, 0.3));
        assert!(told.window(0.4, 0.3));
        for window in 1..=windows_of_a_stay() {
            assert!(told.window(0.5, 0.4), "window {window}");
        }
        assert!(!told.window(0.5, 0.4));
    }

    #[test]
    fn when_there_is_less_to_do_they_are_bound_and_asked_when_there_is_more() {
        let mut told = Told::new();
        told.window(0.5, 0.4);
        assert!(!told.window(0.5, 0.4));
        assert!(!told.window(0.5, 0.0));
        assert!(!told.window(0.1, 1.0));
        assert!(told.window(0.1, 1.0));
        assert!(told.window(0.5, 0.4));
        assert!(!told.window(0.5, 0.4));
    }
}
