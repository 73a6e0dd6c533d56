//! How much of a corpus of statements is read as a MySQL server reads it.
//!
//! The folder `MESETA_CORPUS` (or the first argument) has files of statements with a byte 0 between them. Those whose
//! names begin with `valid` or contain `_valid` must be read; those of `syntax_error*` must be refused with 1064.
//! `--failures FILE` writes what went wrong: one line each, kind and statement. `--limit N` shows N failures a file.
//!
//! The exit status is 1 when less than 99% of the valid statements are read, or less than 98% of the others refused.

use meseta_parser::{Arena, Options, parse};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

#[derive(Default, Clone, Copy)]
struct Count {
    all: usize,
    right: usize,
}

impl Count {
    fn percent(self) -> f64 {
        100.0 * self.right as f64 / self.all.max(1) as f64
    }
}

/// The first one or two words, in upper case.
fn kind(statement: &[u8]) -> String {
    let text = String::from_utf8_lossy(statement);
    let mut words =
        text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty()).map(str::to_uppercase);
    let first = words.next().unwrap_or_default();
    match first.as_str() {
        "CREATE" | "ALTER" | "DROP" | "SHOW" | "LOAD" | "RENAME" => {
            format!("{first} {}", words.next().unwrap_or_default())
        }
        _ => first,
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut folder, mut failures, mut limit) = (std::env::var("MESETA_CORPUS").ok(), None, 0);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--failures" => failures = arguments.next(),
            "--limit" => limit = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0),
            _ => folder = Some(argument),
        }
    }
    let Some(folder) = folder else {
        eprintln!("usage: conformance FOLDER [--failures FILE] [--limit N]");
        std::process::exit(2);
    };
    let mut report = failures.map(|path| std::fs::File::create(path).expect("the file of failures can be made"));
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).expect("the folder is there").map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut totals = [Count::default(); 2];
    let mut kinds: BTreeMap<String, Count> = BTreeMap::new();
    for path in &paths {
        let count = file(path, &mut totals, &mut kinds, &mut report, limit);
        println!(
            "{:40} {:7} {:7} {:6.2}%",
            path.file_name().unwrap().to_string_lossy(),
            count.all,
            count.right,
            count.percent()
        );
    }
    println!();
    let mut kinds: Vec<_> = kinds.into_iter().filter(|(_, count)| count.right < count.all).collect();
    kinds.sort_by_key(|(_, count)| count.right as isize - count.all as isize);
    for (kind, count) in kinds.iter().take(30) {
        println!("{kind:40} {:7} {:7} {:6.2}%", count.all, count.right, count.percent());
    }
    println!("\nvalid and read:     {:6.2}% of {}", totals[0].percent(), totals[0].all);
    println!("wrong and refused:  {:6.2}% of {}", totals[1].percent(), totals[1].all);
    if totals[0].percent() < 99.0 || (totals[1].all > 0 && totals[1].percent() < 98.0) {
        std::process::exit(1);
    }
}

fn file(
    path: &Path,
    totals: &mut [Count; 2],
    kinds: &mut BTreeMap<String, Count>,
    report: &mut Option<std::fs::File>,
    limit: usize,
) -> Count {
    let bytes = std::fs::read(path).expect("the file can be read");
    let must_fail = path.file_name().unwrap().to_string_lossy().starts_with("syntax_error");
    let mut arena = Arena::new();
    let mut count = Count::default();
    let mut shown = 0;
    for statement in bytes.split(|byte| *byte == 0).filter(|statement| !statement.is_empty()) {
        arena.reset();
        let result = parse(&arena, statement, 0, Options::default());
        let refused = matches!(&result, Err(error) if error.code() == 1064);
        let right = if must_fail { refused } else { !refused };
        count.all += 1;
        count.right += usize::from(right);
        if !must_fail {
            let of_kind = kinds.entry(kind(statement)).or_default();
            of_kind.all += 1;
            of_kind.right += usize::from(right);
        }
        if right {
            continue;
        }
        let text = String::from_utf8_lossy(statement).replace(['\n', '\r'], " ");
        let near = result.err().map(|error| String::from_utf8_lossy(&error.near).replace('\n', " "));
        if shown < limit {
            println!("  {text}\n    near {near:?}");
            shown += 1;
        }
        if let Some(report) = report {
            let near = near.unwrap_or_else(|| "READ".to_string());
            let near: String = near.chars().take(40).collect();
            writeln!(report, "{}\t{near}\t{text}", kind(statement)).expect("the report can be written");
        }
    }
    let total = &mut totals[usize::from(must_fail)];
    total.all += count.all;
    total.right += count.right;
    count
}
