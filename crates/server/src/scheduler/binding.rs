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
//! The monitor judges by each [window](super::window). If two in a row show a worker that waits for its processor while one of the processors
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

use super::Core;
use super::window::Window;

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

/// What a window shows.
#[derive(Clone, Copy, Debug)]
struct Signs {
    end: Instant,
    /// The part of the time that the thread of a worker waited for its processor, long each time: the most of all workers.
    waited: f64,
    /// The part of the time that a processor idled: the sum of all processors.
    idle: f64,
}

impl Signs {
    fn of(window: &Window) -> Signs {
        Signs { end: window.end, waited: window.waited(LONG), idle: window.idle() }
    }

    fn show_starved_worker(&self) -> bool {
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

    /// What to do after another window, which shows this.
    fn after(self, signs: Signs) -> Judgement {
        let bound = |ask_after| Judgement::Bound { ask_after, starved: None };
        match self {
            Judgement::Bound { ask_after: Some(time), .. } if signs.end < time => self,
            Judgement::Bound { .. } if !signs.show_starved_worker() => bound(None),
            Judgement::Bound { starved: None, .. } => Judgement::Bound { ask_after: None, starved: Some(signs.idle) },
            Judgement::Bound { starved: Some(idle), .. } => {
                let idle = (idle + signs.idle) / 2.0;
                Judgement::LetGo { idle, until: signs.end + STAY, in_vain: false }
            }
            Judgement::LetGo { until, .. } if signs.end >= until => bound(None),
            Judgement::LetGo { idle, until, in_vain: was_in_vain } => {
                let is_starved = signs.show_starved_worker();
                let in_vain = is_starved || signs.idle > idle * LESS_TO_DO;
                if in_vain && was_in_vain {
                    return bound(is_starved.then(|| signs.end + STAY));
                }
                Judgement::LetGo { idle, until, in_vain }
            }
        }
    }
}

/// The monitor's part of it.
#[derive(Debug)]
pub(crate) struct Binding {
    judgement: Judgement,
}

impl Binding {
    pub(crate) fn new() -> Binding {
        Binding { judgement: Judgement::FIRST }
    }

    /// A window is over: judges, and has the workers bound or let go.
    pub(crate) fn judge<S: 'static>(&mut self, core: &Core<S>, window: &Window) {
        let signs = Signs::of(window);
        self.judgement = self.judgement.after(signs);
        let is_bound = self.judgement.is_bound();
        if core.placement.bind(is_bound) != is_bound {
            tracing::debug!(is_bound, ?signs, "workers are bound to their processors, or are not any more");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::WINDOW;
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
            self.judgement = self.judgement.after(Signs { end: self.now, waited, idle });
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
