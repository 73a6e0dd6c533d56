//! What the process has used: processor time and context switches; and which cores it may use.

use std::io;
use std::mem;
use std::time::Duration;

/// What all threads of this process have used so far, or between two moments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time, the kernel's on our behalf too.
    pub cpu: Duration,
    /// Switches because a thread waited.
    pub voluntary: u64,
    /// Switches because a thread's time was up.
    pub involuntary: u64,
}

impl Usage {
    /// Until now.
    pub fn now() -> Self {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: rusage is plain numbers, for which zeros are a value.
        let mut usage: libc::rusage = unsafe { mem::zeroed() };
        // SAFETY: both calls only write the struct that they are given, which is as large as they expect. Neither can
        // fail with these arguments.
        unsafe {
            // Not the times of getrusage, which the kernel may have counted in ticks.
            libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time);
            libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        }
        Self {
            cpu: Duration::new(time.tv_sec as u64, time.tv_nsec as u32),
            voluntary: usage.ru_nvcsw as u64,
            involuntary: usage.ru_nivcsw as u64,
        }
    }

    /// What was used after an earlier moment.
    pub fn since(self, before: Usage) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(before.cpu),
            voluntary: self.voluntary - before.voluntary,
            involuntary: self.involuntary - before.involuntary,
        }
    }
}

/// Keeps this thread, and all that it will start, to the first so many of the cores that it may use now.
pub fn pin_to_first_cores(cores: usize) -> io::Result<()> {
    const SIZE: usize = mem::size_of::<libc::cpu_set_t>();
    // SAFETY: a set of cores is plain bits, for which zeros are a value; the calls read and write no more than its size.
    unsafe {
        let mut allowed: libc::cpu_set_t = mem::zeroed();
        if libc::sched_getaffinity(0, SIZE, &mut allowed) != 0 {
            return Err(io::Error::last_os_error());
        }
        let mut chosen: libc::cpu_set_t = mem::zeroed();
        let first = (0..8 * SIZE).filter(|&core| libc::CPU_ISSET(core, &allowed)).take(cores);
        let found = first.inspect(|&core| libc::CPU_SET(core, &mut chosen)).count();
        if found < cores || cores == 0 {
            return Err(io::Error::other(format!("there are {found} cores to use, and not {cores}")));
        }
        if libc::sched_setaffinity(0, SIZE, &chosen) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_processor_time_and_sleep_is_a_switch() {
        let before = Usage::now();
        while Usage::now().since(before).cpu < Duration::from_millis(20) {}
        std::thread::sleep(Duration::from_millis(1));
        assert!(Usage::now().since(before).voluntary >= 1);
    }
}
