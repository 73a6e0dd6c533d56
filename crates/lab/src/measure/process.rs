//! What a process has used so far, as the kernel counts it in `/proc`.
//!
//! CPU is in ticks of 10 ms, of all threads, those that ended too. Context switches are of the threads that are there
//! now. When it fails (another user's process, no such process, no Linux): `None`, and a report says that it is not
//! known.
//!
//! Source: proc_pid_stat(5), proc_pid_io(5), proc_pid_status(5), proc_net(5).

use std::fs;
use std::net::IpAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

use crate::generator::target::{Address, Target};

/// What a process has used since it began, or between two looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Seconds of CPU in user mode.
    pub user: f64,
    /// Seconds of CPU in the kernel.
    pub system: f64,
    /// Times that a thread waited.
    pub voluntary_switches: u64,
    /// Times that a thread was made to wait.
    pub involuntary_switches: u64,
    /// Bytes read from disks.
    pub read_bytes: u64,
    /// Bytes written to disks.
    pub written_bytes: u64,
    /// System calls that read and write.
    pub io_calls: u64,
}

impl Usage {
    /// What was used since `before`.
    pub fn since(&self, before: &Usage) -> Usage {
        Usage {
            user: (self.user - before.user).max(0.0),
            system: (self.system - before.system).max(0.0),
            voluntary_switches: self.voluntary_switches.saturating_sub(before.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(before.involuntary_switches),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(before.written_bytes),
            io_calls: self.io_calls.saturating_sub(before.io_calls),
        }
    }

    /// Seconds of CPU.
    pub fn cpu(&self) -> f64 {
        self.user + self.system
    }
}

/// What process `pid` has used.
pub fn usage(pid: u32) -> Option<Usage> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let tick = 1.0 / rustix::param::clock_ticks_per_second().max(1) as f64;
    let ticks = |field: usize| fields.get(field).and_then(|text| text.parse::<f64>().ok()).map(|ticks| ticks * tick);
    let mut usage = Usage { user: ticks(11)?, system: ticks(12)?, ..Usage::default() };
    for task in fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten() {
        let status = fs::read_to_string(task.path().join("status")).unwrap_or_default();
        usage.voluntary_switches += field(&status, "voluntary_ctxt_switches:");
        usage.involuntary_switches += field(&status, "nonvoluntary_ctxt_switches:");
    }
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    usage.read_bytes = field(&io, "read_bytes:");
    usage.written_bytes = field(&io, "write_bytes:");
    usage.io_calls = field(&io, "syscr:") + field(&io, "syscw:");
    Some(usage)
}

fn field(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// What this process has used.
pub fn own_usage() -> Usage {
    usage(std::process::id()).unwrap_or_default()
}

/// The process behind a server of this machine, if it can be found.
pub fn server_process(target: &Target) -> Option<u32> {
    let inodes = match target.resolve().ok()? {
        Address::Internet(address) if is_here(address.ip()) => listeners(address.port()),
        Address::Internet(_) => return None,
        Address::Unix(path) => {
            let table = fs::read_to_string("/proc/net/unix").ok()?;
            let path = path.to_str()?;
            table
                .lines()
                .filter(|line| line.ends_with(path))
                .filter_map(|line| line.split_whitespace().nth(6)?.parse().ok())
                .collect()
        }
    };
    owner(&inodes)
}

fn is_here(address: IpAddr) -> bool {
    address.is_loopback()
}

/// The inodes of sockets that listen on a port.
fn listeners(port: u16) -> Vec<u64> {
    let mut inodes = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(table).unwrap_or_default().lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let (Some(local), Some(&"0A"), Some(inode)) = (fields.get(1), fields.get(3), fields.get(9)) else {
                continue;
            };
            let at = local.rsplit_once(':').and_then(|(_, port)| u16::from_str_radix(port, 16).ok());
            if at == Some(port)
                && let Ok(inode) = inode.parse()
            {
                inodes.push(inode);
            }
        }
    }
    inodes
}

fn owner(inodes: &[u64]) -> Option<u32> {
    let names: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        for descriptor in fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten() {
            let link = fs::read_link(descriptor.path()).unwrap_or_default();
            if link.to_str().is_some_and(|link| names.iter().any(|name| name == link)) {
                return Some(pid);
            }
        }
    }
    None
}

/// Counts a process's system calls: `perf`, where it is installed and allowed to.
#[derive(Debug)]
pub struct CallCounter {
    perf: Child,
}

impl CallCounter {
    /// Starts to count.
    pub fn start(pid: u32) -> Option<CallCounter> {
        let mut perf = Command::new("perf");
        perf.args(["stat", "-x", ",", "-e", "raw_syscalls:sys_enter", "-p", &pid.to_string()]);
        // (Ctrl-C at the terminal is the lab's.)
        perf.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        perf.spawn().ok().map(|perf| CallCounter { perf })
    }

    /// How many there were.
    pub fn finish(self) -> Option<u64> {
        let pid = i32::try_from(self.perf.id()).ok().and_then(Pid::from_raw)?;
        kill_process(pid, Signal::INT).ok()?;
        let said = self.perf.wait_with_output().ok()?;
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        let line = said.lines().find(|line| line.contains("raw_syscalls"))?;
        line.split(',').next()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_listens_and_works() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let target = Target { host: "127.0.0.1".to_owned(), port, ..Target::default() };
        assert_eq!(server_process(&target), Some(std::process::id()));
        let before = own_usage();
        let mut sum = 0u64;
        while own_usage().since(&before).cpu() < 0.02 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(usage(u32::MAX).is_none());
    }
}
