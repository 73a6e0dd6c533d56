//! What machine this is, and how busy all of it is.
//!
//! Source: proc_stat(5), proc_cpuinfo(5), proc_meminfo(5).

use std::fs;

use serde::{Deserialize, Serialize};

/// Facts about a machine that a result is worthless without.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Logical processors that this process may use.
    pub processors: usize,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// The kernel's version.
    pub kernel: String,
    /// The lab's version.
    pub lab: String,
}

/// This one.
pub fn machine() -> Machine {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes =
        meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok());
    Machine {
        processor: processor.map_or(String::new(), |(_, name)| name.trim().to_owned()),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        memory_bytes: kilobytes.unwrap_or(0) * 1024,
        kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
        lab: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Seconds of all processors: user, system, idle, waiting for disks, taken away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Busy {
    /// In user mode.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
    /// Doing nothing.
    pub idle: f64,
    /// Doing nothing, while a disk is waited for.
    pub waiting: f64,
    /// Taken away by the machine that this one is a guest of.
    #[serde(default)]
    pub stolen: f64,
}

impl Busy {
    /// What was between `before` and this.
    pub fn since(&self, before: &Busy) -> Busy {
        Busy {
            user: self.user - before.user,
            system: self.system - before.system,
            idle: self.idle - before.idle,
            waiting: self.waiting - before.waiting,
            stolen: self.stolen - before.stolen,
        }
    }

    /// The share that was taken away.
    pub fn stolen_share(&self) -> f64 {
        let all = self.user + self.system + self.idle + self.waiting + self.stolen;
        if all > 0.0 { self.stolen / all } else { 0.0 }
    }
}

/// How busy the machine has been since it began.
pub fn busy() -> Busy {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = rustix::param::clock_ticks_per_second().max(1) as f64;
    let fields: Vec<f64> = stat
        .lines()
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(1)
        .filter_map(|text| text.parse().ok())
        .collect();
    let seconds = |field: usize| fields.get(field).copied().unwrap_or(0.0) / ticks;
    Busy {
        user: seconds(0) + seconds(1),
        system: seconds(2) + seconds(5) + seconds(6),
        idle: seconds(3),
        waiting: seconds(4),
        stolen: seconds(7),
    }
}
