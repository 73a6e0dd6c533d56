//! `meseta check`: opens a store, checks every page and every tree, and says what is wrong and where.
//!
//! The check itself is `Store::check`; of a server's data directory, whose store is in `meseta` in it, the engine is opened
//! besides, and every index compared with its table (`Engine::check`). Opening recovers a store that was not closed, and closing leaves it closed in
//! order: so the directory is written to, though no entry is changed.
//!
//! Where damage keeps the store from opening, it is left as it is, and `Store::open_or_inspect` looks at all pages from
//! outside: that finds every damaged page, but cannot follow links.
//!
//! # Deliberately absent
//! Repair. And creation: a directory that holds no store is refused, whereas [`Store::open`] would make one there.

use std::fs;
use std::path::Path;
use std::time::Instant;

use meseta_sql::session::Instance;
use meseta_storage::{CONTROL_FILE, Inspection, Report, Store, StoreOptions};

use crate::Failure;
use crate::serve::STORE as STORE_OF_SERVER;
use crate::text::{count, recovery, time};

/// Checks the store in `directory`, or that of the server whose data directory it is. Whether it is sound. Errors: it could
/// not be opened or read.
pub fn run(directory: &Path, memory_bytes: usize) -> Result<bool, Failure> {
    let of_server = directory.join(STORE_OF_SERVER);
    let is_of_server = of_server.join(CONTROL_FILE).exists();
    let directory = if is_of_server { &of_server } else { directory };
    must_hold_a_store(directory)?;
    let options = StoreOptions { memory_bytes, ..StoreOptions::default() };
    let began = Instant::now();
    let mut found = |finding| println!("{finding}");
    let store = match Store::open_or_inspect(directory, options, &mut found)? {
        Ok(store) => store,
        Err(inspection) => {
            println!("{}", looked_at(&inspection, began));
            return Err(format!("{} cannot be opened: {}", directory.display(), inspection.reason).into());
        }
    };
    println!("{}: {}", directory.display(), recovery(&store.recovery()));
    let mut is_sound = check(&store)?.problems.is_empty();
    if is_of_server && is_sound {
        is_sound = check_tables(store.clone())?;
    }
    store.close()?;
    Ok(is_sound)
}

/// Compares each table with its indexes, and prints what was seen. Whether they agree.
fn check_tables(store: Store) -> Result<bool, Failure> {
    let began = Instant::now();
    let instance = Instance::open(store)?;
    let report = instance.engine.check()?;
    let (mut rows, mut found) = (0, 0);
    for (database, name, table) in &report.tables {
        rows += table.rows;
        found += table.problems.len() as u64;
        table.problems.iter().for_each(|problem| println!("table `{database}`.`{name}`: {problem}"));
    }
    let (tables, rows, took) = (count(report.tables.len() as u64), count(rows), time(began.elapsed()));
    println!("compared {tables} tables, {rows} rows, with their indexes in {took}");
    match found {
        0 => println!("sound: indexes have what tables have"),
        many => println!("{} found", problems(many)),
    }
    instance.engine.settle()?;
    Ok(found == 0)
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
        many => println!("{} found", problems(many)),
    }
    Ok(report)
}

/// What has been looked at of a store that does not open, as a sentence.
fn looked_at(inspection: &Inspection, began: Instant) -> String {
    format!(
        "looked at {} pages from outside in {}: {} found; {}",
        count(inspection.pages),
        time(began.elapsed()),
        problems(inspection.findings),
        if inspection.untouched {
            "nothing was written; links between pages were not checked"
        } else {
            "links between pages were not checked; opening was tried, and may have written"
        },
    )
}

fn problems(number: u64) -> String {
    if number == 1 { "1 problem".into() } else { format!("{} problems", count(number)) }
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
