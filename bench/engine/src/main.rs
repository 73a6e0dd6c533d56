//! `make bench-engine`: transactions in process, from one thread to a thousand, on one table of sysbench's shape.
//!
//! ```text
//!   options -> session -> for each workload and number of threads: runner (workers, usage, waits) -> report
//!                 |
//!              sbtest    the table, loaded leaf by leaf
//! ```
//!
//! Four small files are those of `bench/storage`, taken by their paths: they need the standard library and libc alone,
//! a copy would drift away, and a crate for them would be a third workspace.

use std::fs::{self, File};
use std::process::ExitCode;

use options::Options;
use session::Session;

#[path = "../../storage/src/fresh_memory.rs"]
mod fresh_memory;
mod long_reader;
#[path = "../../storage/src/neighbours.rs"]
mod neighbours;
mod options;
mod report;
#[path = "../../storage/src/rng.rs"]
mod rng;
mod runner;
mod sbtest;
mod session;
#[path = "../../storage/src/table.rs"]
mod table;
mod usage;
mod waits;
mod workload;

/// The result of anything that the benchmark does.
type Result<T, E = Box<dyn std::error::Error + Send + Sync>> = std::result::Result<T, E>;

fn main() -> ExitCode {
    match run(&Options::read()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    if let Some(cores) = options.cores {
        // Before any thread is there: those that come inherit it, and the engine sees as many cores as it has.
        usage::pin_to_first_cores(cores)?;
    }
    fs::create_dir_all(&options.dir)?;
    // Two runs in one directory would remove each other's data.
    let lock = File::create(options.dir.join("lock"))?;
    lock.try_lock().map_err(|error| format!("another run uses {}: {error}", options.dir.display()))?;
    let session = Session::load(options)?;
    if let Some(updates) = options.long_reader {
        print!("{}", session.measure_long_reader(updates)?);
        return Ok(());
    }
    let report = session.measure()?;

    let markdown = report.markdown();
    print!("{markdown}");
    if let Some(path) = &options.markdown {
        fs::write(path, &markdown)?;
    }
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_string_pretty(&report)? + "\n")?;
    }
    Ok(())
}
