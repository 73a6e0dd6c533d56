//! What else the machine was doing while a number was measured.

use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Above this part of one core a number is called disturbed.
pub const DISTURBED: f64 = 0.2;

/// Processor time at one moment, to be compared with a later one.
pub struct Neighbours {
    since: Instant,
    busy: f64,
    own: f64,
}

impl Neighbours {
    /// From now on.
    pub fn watch() -> Self {
        Neighbours { since: Instant::now(), busy: busy_seconds(), own: own_seconds() }
    }

    /// The part of one core that other processes have used since. The kernel's
    /// own threads are among them, so that it is never quite nothing.
    pub fn cores_used(&self) -> f64 {
        let others = (busy_seconds() - self.busy) - (own_seconds() - self.own);
        (others / self.since.elapsed().as_secs_f64()).max(0.0)
    }
}

/// Time to wait for other processes to become quiet, for the whole of a run.
pub struct Patience(Duration);

impl Patience {
    /// No more than this, all waiting together.
    pub fn new(left: Duration) -> Self {
        Patience(left)
    }

    /// Waits until the others are quiet or patience is at an end.
    pub fn wait(&mut self) {
        let mut quiet = 0;
        while quiet < 2 && !self.is_over() {
            let (start, neighbours) = (Instant::now(), Neighbours::watch());
            sleep(Duration::from_millis(250));
            quiet = if neighbours.cores_used() > DISTURBED { 0 } else { quiet + 1 };
            self.spend(start.elapsed());
        }
    }

    /// Takes this off what is left.
    pub fn spend(&mut self, time: Duration) {
        self.0 = self.0.saturating_sub(time);
    }

    /// Whether nothing is left.
    pub fn is_over(&self) -> bool {
        self.0.is_zero()
    }
}

/// Seconds all cores together have worked since the machine started.
fn busy_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let first = stat.lines().next().unwrap_or("");
    let fields: Vec<f64> = first.split_whitespace().skip(1).filter_map(|n| n.parse().ok()).collect();
    // user, nice, system, then idle and iowait, then irq, softirq and steal:
    // time that a hypervisor gave to another machine is lost to us as well.
    let worked = [0, 1, 2, 5, 6, 7];
    worked.iter().filter_map(|&field| fields.get(field)).sum::<f64>() / ticks_per_second()
}

/// Seconds this process has worked.
fn own_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The program's name, in parentheses, may have spaces; what follows has not.
    let fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
    fields.skip(11).take(2).filter_map(|n| n.parse::<f64>().ok()).sum::<f64>() / ticks_per_second()
}

fn ticks_per_second() -> f64 {
    // SAFETY: sysconf only reads.
    unsafe { libc::sysconf(libc::_SC_CLK_TCK) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_work_is_not_a_neighbours() {
        let watch = Neighbours::watch();
        let own = own_seconds();
        while own_seconds() - own < 0.1 {}
        assert!(busy_seconds() - watch.busy >= 0.09);
        assert!(watch.cores_used() >= 0.0);
    }
}
