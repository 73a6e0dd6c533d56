//! What the system tells of its processors: for how long a thread has waited for one, and for how long they have idled.
//!
//! When it fails: a system that does not count this, or has no `/proc`, tells nothing (`None`).
//!
//! Source: proc(5); `schedstat`: Documentation/scheduler/sched-stats.rst of the kernel.

use std::fs;
use std::time::Duration;

use rustix::process::Pid;

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

/// How a thread of this process has waited.
pub(crate) fn waits(thread: Pid) -> Option<Waits> {
    waits_of(&fs::read_to_string(format!("/proc/self/task/{}/schedstat", thread.as_raw_nonzero())).ok()?)
}

/// For how long these processors have idled, or waited for a device, since the system began: the sum.
pub(crate) fn idle(processors: &[usize]) -> Option<Duration> {
    Some(idle_of(&fs::read_to_string("/proc/stat").ok()?, processors))
}

/// Of "nanoseconds run, nanoseconds waited, times it ran".
fn waits_of(schedstat: &str) -> Option<Waits> {
    let mut numbers = schedstat.split_whitespace().skip(1).map(|number| number.parse::<u64>().ok());
    let (lasted, times) = (Duration::from_nanos(numbers.next()??), numbers.next()??);
    Some(Waits { lasted, times: times as u32 })
}

/// Of lines like "cpu3 user nice system idle iowait irq ...", in ticks.
fn idle_of(stat: &str, processors: &[usize]) -> Duration {
    let ticks: u64 = stat
        .lines()
        .filter_map(|line| {
            let (number, counts) = line.strip_prefix("cpu")?.split_once(' ')?;
            processors.contains(&number.parse().ok()?).then(|| counts.split_whitespace().skip(3).take(2))
        })
        .flatten()
        .filter_map(|count| count.parse::<u64>().ok())
        .sum();
    Duration::from_secs(ticks) / rustix::param::clock_ticks_per_second() as u32
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
        assert_eq!(idle_of(stat, &[0, 12]), ticks(457));
        assert_eq!(idle_of(stat, &[]), Duration::ZERO);
    }

    #[test]
    fn the_system_tells() {
        assert!(waits(rustix::thread::gettid()).is_some());
        assert!(idle(&[0]).is_some());
    }
}
