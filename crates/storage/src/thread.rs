//! Threads of the engine's own: the log's writer, the cleaner, those that carry out I/O.
//!
//! Everybody else waits for them sooner or later, and they for nobody but the disk: a core is theirs as soon as they
//! have something to do, also when there are many more threads than cores. So they ask the operating system for a
//! higher priority. It grants that to root, and to a process with the capability `CAP_SYS_NICE` or a limit `nice`
//! (systemd: `LimitNICE=-10`); elsewhere it says no, and they run like all others.

use std::io;
use std::thread::{Builder, JoinHandle};

/// As a "nice" value: the others have 0, and lower goes first.
const PRIORITY: i32 = -10;

/// Starts a thread of the engine's own.
pub fn spawn(name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.into()).spawn(move || {
        // On Linux this is about the calling thread alone.
        let _ = rustix::process::setpriority_process(None, PRIORITY);
        body();
    })
}
