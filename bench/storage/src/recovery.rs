//! How long Meseta takes to start after it was killed.

use std::fmt::{self, Display};

use serde::Serialize;

use crate::engine::Result;
use crate::fresh_memory;
use crate::options::Options;

/// One start after a kill.
#[derive(Clone, Debug, Serialize)]
pub struct Recovery {
    /// Log to redo.
    pub log_bytes: u64,
    /// How long opening took.
    pub seconds: f64,
}

impl Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gib = self.log_bytes as f64 / (1u64 << 30) as f64;
        write!(f, "Meseta, killed with {gib:.2} GiB of log to redo, was open again after {:.2} s.", self.seconds)
    }
}

/// What the process to be killed prints when its log is long enough.
#[cfg(feature = "meseta")]
const READY: &str = "log written";

/// Kills a process of our own that has written the log, and opens what it left.
/// Another process, since only its death loses what was in memory only.
#[cfg(feature = "meseta")]
pub fn measure(options: &Options) -> Result<Recovery> {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use crate::engines::meseta;

    let log_bytes = (options.recovery_gib * (1u64 << 30) as f64) as u64;
    let dir = options.dir.join("recovery");
    crate::session::remove(&dir)?;
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--write-log", &log_bytes.to_string(), "--rows", &options.rows.to_string()])
        .args(["--value-bytes", &options.value_bytes.to_string()])
        .arg("--dir")
        .arg(&options.dir)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut said = String::new();
    if let Some(output) = child.stdout.take() {
        BufReader::new(output).read_line(&mut said)?;
    }
    child.kill()?;
    child.wait()?;
    if said.trim() != READY {
        return Err("the process that writes the log failed".into());
    }
    fresh_memory::bring_back();
    let (redone, took) = meseta::reopen(&dir, options.ample_bytes(), log_bytes)?;
    crate::session::remove(&dir)?;
    Ok(Recovery { log_bytes: redone.end.0 - redone.checkpoint.0, seconds: took.as_secs_f64() })
}

/// The process to be killed: writes the log, says so, and goes on.
#[cfg(feature = "meseta")]
pub fn write_log(options: &Options, log_bytes: u64) -> Result<()> {
    let dir = options.dir.join("recovery");
    crate::engines::meseta::write_log(&dir, options.ample_bytes(), options.data(), log_bytes, || println!("{READY}"))
}

/// Built without Meseta there is nothing to start.
#[cfg(not(feature = "meseta"))]
pub fn measure(_: &Options) -> Result<Recovery> {
    Err("built without Meseta".into())
}

/// Built without Meseta there is no log.
#[cfg(not(feature = "meseta"))]
pub fn write_log(_: &Options, _: u64) -> Result<()> {
    Err("built without Meseta".into())
}
