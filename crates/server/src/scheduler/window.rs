//! A window: what the system has counted of threads and processors in a quarter of a second, for what the monitor judges by that.
//!
//! When it fails: a system that does not tell these times has no windows, and nothing is judged.

use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::Core;
use super::processors::{self, ProcessorTimes, Waits};

/// How long the monitor counts before it judges.
pub const WINDOW: Duration = Duration::from_millis(250);

/// What was counted from one moment to another.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) end: Instant,
    length: Duration,
    /// How the threads of workers waited; those of workers that passed to another thread meanwhile are not among them.
    waits: Vec<Waits>,
    processors: ProcessorTimes,
    /// For how long this process had processors.
    own: Duration,
}

impl Window {
    fn part(&self, time: Duration) -> f64 {
        time.as_secs_f64() / self.length.as_secs_f64()
    }

    /// The part of the time that a worker's thread waited for its processor, if that was at least so long each time: the most of
    /// all workers.
    pub(crate) fn waited(&self, at_least: Duration) -> f64 {
        let long = self.waits.iter().filter(|waits| waits.lasted >= at_least * waits.times.max(1));
        long.map(|waits| self.part(waits.lasted)).fold(0.0, f64::max)
    }

    /// The part of the time that a processor idled: the sum of all.
    pub(crate) fn idle(&self) -> f64 {
        self.part(self.processors.idle)
    }

    /// The part of the time that a processor was used by other processes, or by the system for what they sent: the sum of all.
    pub(crate) fn others(&self) -> f64 {
        self.part(self.processors.busy.saturating_sub(self.own))
    }
}

/// What has been counted by one moment.
#[derive(Debug)]
struct Sample {
    at: Instant,
    /// By worker: its thread, and how that has waited for a processor.
    waits: Vec<(Pid, Waits)>,
    processors: ProcessorTimes,
    own: Duration,
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
            processors: processors::times(core.placement.processors())?,
            own: processors::own_time(),
        })
    }

    fn until(&self, later: &Sample) -> Window {
        // A worker that has passed to another thread has waited for something else.
        let same = self.waits.iter().zip(&later.waits).filter(|(before, after)| before.0 == after.0);
        Window {
            end: later.at,
            length: later.at.duration_since(self.at),
            waits: same.map(|((_, before), (_, after))| after.since(before)).collect(),
            processors: later.processors.since(&self.processors),
            own: later.own.saturating_sub(self.own),
        }
    }
}

/// The windows, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Windows {
    begin: Option<Sample>,
}

impl Windows {
    /// A moment while there is work: the window, if one is over.
    pub(crate) fn look<S: 'static>(&mut self, core: &Core<S>) -> Option<Window> {
        let age = self.begin.as_ref().map(|begin| begin.at.elapsed());
        if age.is_some_and(|age| age < WINDOW) {
            return None;
        }
        let now = Sample::take(core);
        let window = match (&self.begin, &now) {
            // In one that is twice as long all have slept, and nobody has looked.
            (Some(begin), Some(now)) if age < Some(2 * WINDOW) => Some(begin.until(now)),
            _ => None,
        };
        self.begin = now;
        window
    }
}
