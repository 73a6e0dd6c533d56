//! What the system tells of its processors: for how long a thread has waited for one, and how they have spent their time.
//!
//! When it fails: a system that does not count this, or has no `/proc`, tells nothing (`None`).
//!
//! Source: proc(5); `schedstat`: Documentation/scheduler/sched-stats.rst of the kernel.

use std::fs;
use std::time::Duration;

use rustix::process::Pid;
use rustix::time::{ClockId, clock_gettime};

/// How a thread that was ready to run has waited for a processor, since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waits {
    /// All waits that are over, together.
    pub(crate) lasted: Duration,
    /// How often it got a processor.
    pub(crate) times: u32,
}

impl Waits {
    /// How it has waited since `before`.
    pub(crate) fn since(&self, before: &Waits) -> Waits {
        // (Where the number begins anew, the difference is right all the same.)
        Waits { lasted: self.lasted.saturating_sub(before.lasted), times: self.times.wrapping_sub(before.times) }
    }
}

/// How processors have spent their time since the system began: sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ProcessorTimes {
    /// They ran something: what a host took of a virtual processor's time is not part of it.
    pub(crate) busy: Duration,
    /// They idled, or waited for a device.
    pub(crate) idle: Duration,
}

impl ProcessorTimes {
    /// How they have spent their time since `before`.
    pub(crate) fn since(&self, before: &ProcessorTimes) -> ProcessorTimes {
        ProcessorTimes { busy: self.busy.saturating_sub(before.busy), idle: self.idle.saturating_sub(before.idle) }
    }
}

/// How a thread of this process has waited.
pub(crate) fn waits(thread: Pid) -> Option<Waits> {
    waits_of(&fs::read_to_string(format!("/proc/self/task/{}/schedstat", thread.as_raw_nonzero())).ok()?)
}

/// How these processors have spent their time.
pub(crate) fn times(processors: &[usize]) -> Option<ProcessorTimes> {
    Some(times_of(&fs::read_to_string("/proc/stat").ok()?, processors))
}

/// For how long this process has had processors.
pub(crate) fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Of "nanoseconds run, nanoseconds waited, times it ran".
fn waits_of(schedstat: &str) -> Option<Waits> {
    let mut numbers = schedstat.split_whitespace().skip(1).map(|number| number.parse::<u64>().ok());
    let (lasted, times) = (Duration::from_nanos(numbers.next()??), numbers.next()??);
    Some(Waits { lasted, times: times as u32 })
}

/// Of lines like "cpu3 user nice system idle iowait irq softirq ...", in ticks.
fn times_of(stat: &str, processors: &[usize]) -> ProcessorTimes {
    let (mut busy, mut idle) = (0, 0);
    for line in stat.lines() {
        let Some((number, counts)) = line.strip_prefix("cpu").and_then(|line| line.split_once(' ')) else { continue };
        if number.parse().is_ok_and(|number| processors.contains(&number)) {
            let counts: Vec<u64> = counts.split_whitespace().map_while(|count| count.parse().ok()).take(7).collect();
            let waits: u64 = counts.iter().skip(3).take(2).sum();
            idle += waits;
            busy += counts.iter().sum::<u64>() - waits;
        }
    }
    let time = |ticks| Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second() as u32;
    ProcessorTimes { busy: time(busy), idle: time(idle) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_tells_is_read() {
        assert_eq!(waits_of("100 250 7\n"), Some(Waits { lasted: Duration::from_nanos(250), times: 7 }));
        assert_eq!(["", "100 250", "a b c"].map(waits_of), [None; 3]);
        let stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 400 50 6 7 8 0 0\ncpu1 1 1 1 1000 1 1 1 1 0 0\ncpu12 0 0 0 7 0 0\nintr 5\n";
        let ticks = |count| Duration::from_secs(count) / rustix::param::clock_ticks_per_second() as u32;
        assert_eq!(times_of(stat, &[0, 12]), ProcessorTimes { busy: ticks(19), idle: ticks(457) });
        assert_eq!(times_of(stat, &[]), ProcessorTimes::default());
    }

    #[test]
    fn the_system_tells() {
        assert!(waits(rustix::thread::gettid()).is_some());
        assert!(times(&[0]).is_some_and(|times| times.busy + times.idle > Duration::ZERO));
    }
}
