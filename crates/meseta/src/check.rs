//! `meseta check`: opens a store, checks every page and every tree, and says what is wrong and where.
//!
//! The check itself is `Store::check`. Opening recovers a store that was not closed, and closing leaves it closed in
//! order: so the directory is written to, though no entry is changed.
//!
//! # Deliberately absent
//! Repair. And creation: a directory that holds no store is refused, whereas [`Store::open`] would make one there.

use std::fs;
use std::path::Path;
use std::time::Instant;

use meseta_storage::{CONTROL_FILE, Report, Store, StoreOptions};

use crate::Failure;
use crate::text::{count, recovery, time};

/// Checks the store in `directory`. Whether it is sound. Errors: it could not be opened or read.
pub fn run(directory: &Path, memory_bytes: usize) -> Result<bool, Failure> {
    must_hold_a_store(directory)?;
    let store = Store::open(directory, StoreOptions { memory_bytes, ..StoreOptions::default() })?;
    println!("{}: {}", directory.display(), recovery(&store.recovery()));
    let report = check(&store)?;
    store.close()?;
    Ok(report.problems.is_empty())
}

/// Checks an open store and prints what was seen.
pub fn check(store: &Store) -> Result<Report, Failure> {
    let began = Instant::now();
    let report = store.check()?;
    println!(
        "checked {} pages, {} trees, {} entries, {} long values in {}",
        count(report.pages),
        count(report.trees),
        count(report.entries),
        count(report.long_values),
        time(began.elapsed()),
    );
    for problem in &report.problems {
        println!("{problem}");
    }
    match report.problems.len() as u64 {
        0 => println!("sound: no problems found"),
        1 => println!("1 problem found"),
        many => println!("{} problems found", count(many)),
    }
    Ok(report)
}

fn must_hold_a_store(directory: &Path) -> Result<(), Failure> {
    let shown = directory.display();
    let names = fs::read_dir(directory).map_err(|error| format!("{shown}: {error}"))?;
    let mut ours = false;
    for name in names {
        let name = name.map_err(|error| format!("{shown}: {error}"))?.file_name();
        if name == CONTROL_FILE {
            return Ok(());
        }
        ours |= name.to_string_lossy().starts_with("meseta.");
    }
    let what = if ours { "a damaged or half-created Meseta data directory" } else { "not a Meseta data directory" };
    Err(format!("{shown} is {what}: it has no file {CONTROL_FILE}").into())
}
