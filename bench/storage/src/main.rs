//! `make bench-storage`: Meseta's storage engine beside LMDB, RocksDB, redb and
//! fjall. The README repeats the table that this prints.

use std::fs::{self, File};
use std::process::ExitCode;

use engine::Result;
use options::{Memory, Options};
use session::Session;
use workload::Workload;

mod dataset;
mod device;
mod engine;
mod engines;
mod fresh_memory;
mod neighbours;
mod options;
mod page_cache;
mod recovery;
mod report;
mod rng;
mod runner;
mod session;
mod table;
mod workload;

fn main() -> ExitCode {
    let options = Options::read();
    let done = match options.write_log {
        Some(bytes) => recovery::write_log(&options, bytes),
        None => run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    fs::create_dir_all(&options.dir)?;
    // Two runs in one directory would remove each other's data.
    let lock = File::create(options.dir.join("lock"))?;
    lock.try_lock().map_err(|error| format!("another run uses {}: {error}", options.dir.display()))?;
    let has_meseta = options.engines.iter().any(|kind| kind.is_meseta());
    let mut session = Session::new(options);
    if options.memory != Memory::Eighth && !options.rows_of_table().is_empty() {
        session.in_memory()?;
    }
    if options.workloads.contains(&Workload::DurableCommits) && !options.commit_threads.is_empty() {
        session.durable()?;
    }
    if options.memory != Memory::In {
        if !options.rows_of_table().is_empty() {
            session.larger_than_memory()?;
        }
        if options.long_updates > 0 {
            session.long_updates()?;
        }
    }
    if options.recovery_gib > 0.0 && has_meseta {
        session.report().recovery = Some(recovery::measure(options)?);
    }
    for kind in &options.engines {
        session::remove(&options.dir.join(kind.directory()))?;
    }

    let report = session.report();
    let markdown = report.markdown();
    print!("{markdown}");
    if let Some(path) = &options.markdown {
        fs::write(path, &markdown)?;
    }
    if let Some(path) = &options.json {
        fs::write(path, serde_json::to_string_pretty(report)? + "\n")?;
    }
    Ok(())
}
