//! Loading: tables are made and filled by many connections, as fast as the server takes it, and resumed after a stop.
//!
//! ```text
//! before (DDL) | pieces, by any thread in any order, each one transaction | after (indexes), by any thread
//!                    INSERT .. ; .. ; INSERT INTO lab_load (piece)
//! ```
//!
//! A piece and the note that it is loaded are one transaction, so a load that was cut off goes on where it was: the
//! same
//! command again loads what is missing. The table `lab_load` is dropped at the end. A row is a function of its number
//! and the seed, which is kept in `lab_load` too: a resumed load gives the same rows.
//!
//! When it fails: the first error stops all threads and is one line; what is loaded stays.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::admin::Admin;
use crate::generator::Failure;
use crate::generator::target::Target;
use crate::random::Random;

/// A statement is sent when it has become so long: what sysbench uses, and well within any `max_allowed_packet`.
const STATEMENT_BYTES: usize = 512 << 10;

/// Appends the values of row number `row`, in parentheses.
pub type RowMaker = Box<dyn Fn(&mut Random, u64, &mut Vec<u8>) + Send + Sync>;

/// A table, or a part of one, to fill.
pub struct Filling {
    /// All before the values: `INSERT INTO t (a, b) VALUES `.
    pub head: String,
    /// The numbers of its rows.
    pub rows: Range<u64>,
    /// Makes them.
    pub make: RowMaker,
    /// How many rows are loaded in one transaction.
    pub piece: u64,
}

impl std::fmt::Debug for Filling {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filling").field("head", &self.head).field("rows", &self.rows).finish_non_exhaustive()
    }
}

/// What is to be loaded.
#[derive(Debug, Default)]
pub struct LoadPlan {
    /// Where the random parts of rows begin.
    pub seed: u64,
    /// Statements before, in order.
    pub before: Vec<String>,
    /// What is filled.
    pub fillings: Vec<Filling>,
    /// Statements after, in any order.
    pub after: Vec<String>,
}

/// What a load did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loaded {
    /// Rows that were sent.
    pub rows: u64,
    /// Rows that were there from a load before.
    pub resumed: u64,
    /// How long it took, indexes too.
    pub time: Duration,
    /// How long the rows took.
    pub rows_time: Duration,
}

struct Piece {
    filling: usize,
    rows: Range<u64>,
}

fn pieces(plan: &LoadPlan) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (number, filling) in plan.fillings.iter().enumerate() {
        let mut from = filling.rows.start;
        while from < filling.rows.end {
            let to = (from + filling.piece.max(1)).min(filling.rows.end);
            pieces.push(Piece { filling: number, rows: from..to });
            from = to;
        }
    }
    pieces
}

/// What tells one plan from another: its tables, and how many rows they have.
pub fn signature(plan: &LoadPlan) -> String {
    let total: u64 = plan.fillings.iter().map(|filling| filling.rows.end.saturating_sub(filling.rows.start)).sum();
    let text = format!("{} {total} {}", plan.fillings.len(), plan.before.join(";"));
    format!("{:016x}", crate::text::hash(text.as_bytes()))
}

/// Loads, with `threads` connections. `progress` is told the share that is done, and the rows, a few times a second.
///
/// # Errors
/// One line.
pub fn load(
    target: &Target,
    mut plan: LoadPlan,
    threads: usize,
    interrupted: &AtomicBool,
    progress: &mut dyn FnMut(f64, u64),
) -> Result<Loaded, String> {
    let begun = Instant::now();
    let explain = |failure: Failure| target.explain(&failure);
    let mut admin = Admin::connect(target).map_err(explain)?;
    let pieces = pieces(&plan);
    let total: u64 = pieces.iter().map(|piece| piece.rows.end - piece.rows.start).sum();
    let signature = signature(&plan);
    let done = resume(&mut admin, &mut plan, &signature).map_err(explain)?;
    if done.is_none() {
        for statement in &plan.before {
            admin.execute(statement).map_err(|failure| already(failure, target))?;
        }
        admin
            .execute("CREATE TABLE lab_load (piece INT NOT NULL PRIMARY KEY, note VARCHAR(64) NOT NULL)")
            .map_err(explain)?;
        admin.execute(&format!("INSERT INTO lab_load VALUES (-1, '{} {signature}')", plan.seed)).map_err(explain)?;
    }
    let done = done.unwrap_or_default();
    let resumed =
        done.iter().filter_map(|piece| pieces.get(*piece)).map(|piece| piece.rows.end - piece.rows.start).sum();

    let (next, rows, failed) = (AtomicUsize::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let failure = Mutex::new(None);
    let finished = AtomicUsize::new(0);
    let threads = threads.clamp(1, 256);
    let mut rows_time = Duration::ZERO;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let work = || -> Result<(), Failure> {
                    let mut admin = Admin::connect(target)?;
                    admin.execute("SET unique_checks = 0, foreign_key_checks = 0")?;
                    let mut text = Vec::with_capacity(STATEMENT_BYTES + 4096);
                    while !failed.load(Ordering::Relaxed) && !interrupted.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(piece) = pieces.get(number) else { break };
                        if !done.contains(&number) {
                            send_piece(&mut admin, &plan, piece, number, &mut text, &rows)?;
                        }
                    }
                    Ok(())
                };
                if let Err(error) = work() {
                    failed.store(true, Ordering::Relaxed);
                    if let Ok(mut failure) = failure.lock() {
                        failure.get_or_insert(error);
                    }
                }
                finished.fetch_add(1, Ordering::Relaxed);
            });
        }
        while finished.load(Ordering::Relaxed) < threads {
            std::thread::sleep(Duration::from_millis(50));
            let rows = rows.load(Ordering::Relaxed);
            progress((rows + resumed) as f64 / total.max(1) as f64, rows);
        }
        rows_time = begun.elapsed();
    });
    if let Some(failure) = failure.into_inner().ok().flatten() {
        return Err(format!("{}; the same command again goes on from here", target.explain(&failure)));
    }
    if interrupted.load(Ordering::Relaxed) {
        return Err("interrupted; the same command again goes on from here".to_owned());
    }
    in_parallel(target, &plan.after, threads)?;
    admin.execute("DROP TABLE lab_load").map_err(explain)?;
    Ok(Loaded { rows: rows.into_inner(), resumed, time: begun.elapsed(), rows_time })
}

/// The pieces that an earlier, unfinished load of the same plan has loaded; its seed is taken over.
fn resume(admin: &mut Admin, plan: &mut LoadPlan, signature: &str) -> Result<Option<HashSet<usize>>, Failure> {
    let rows = match admin.query("SELECT piece, note FROM lab_load") {
        Ok(rows) => rows,
        Err(Failure::Server { code: 1146, .. }) => return Ok(None),
        Err(failure) => return Err(failure),
    };
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<i64>().ok());
    let note = rows.iter().find(|row| number(row.text(0)) == Some(-1)).and_then(|row| row.text(1).map(str::to_owned));
    let Some((seed, _)) = note.as_deref().and_then(|note| note.split_once(' ')).filter(|(_, of)| *of == signature)
    else {
        let other = "an unfinished load of other tables is there: finish it, or use the command cleanup first";
        return Err(Failure::Unexpected(other.to_owned()));
    };
    plan.seed = seed.parse().unwrap_or(plan.seed);
    Ok(Some(rows.iter().filter_map(|row| usize::try_from(number(row.text(0))?).ok()).collect()))
}

fn already(failure: Failure, target: &Target) -> String {
    match &failure {
        Failure::Server { code: 1050, message, .. } => format!("{message}: use the command cleanup first"),
        _ => target.explain(&failure),
    }
}

fn send_piece(
    admin: &mut Admin,
    plan: &LoadPlan,
    piece: &Piece,
    number: usize,
    text: &mut Vec<u8>,
    rows: &AtomicU64,
) -> Result<(), Failure> {
    let filling = &plan.fillings[piece.filling];
    let mut random = Random::new(plan.seed, number as u64);
    admin.execute("BEGIN")?;
    text.clear();
    let mut held = 0;
    for row in piece.rows.clone() {
        if text.is_empty() {
            text.extend_from_slice(filling.head.as_bytes());
        } else {
            text.push(b',');
        }
        (filling.make)(&mut random, row, text);
        held += 1;
        if text.len() >= STATEMENT_BYTES {
            admin.execute_bytes(text)?;
            rows.fetch_add(std::mem::take(&mut held), Ordering::Relaxed);
            text.clear();
        }
    }
    if !text.is_empty() {
        admin.execute_bytes(text)?;
        rows.fetch_add(held, Ordering::Relaxed);
    }
    admin.execute(&format!("INSERT INTO lab_load VALUES ({number}, '')"))?;
    admin.execute("COMMIT")
}

/// Executes statements that do not depend on each other, on many connections.
///
/// # Errors
/// The first error, in one line.
pub fn in_parallel(target: &Target, statements: &[String], threads: usize) -> Result<(), String> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, statements.len().max(1)) {
            scope.spawn(|| {
                let work = || -> Result<(), Failure> {
                    let mut admin = Admin::connect(target)?;
                    while let Some(statement) = statements.get(next.fetch_add(1, Ordering::Relaxed)) {
                        admin.execute(statement)?;
                    }
                    Ok(())
                };
                if let Err(error) = work()
                    && let Ok(mut failure) = failure.lock()
                {
                    failure.get_or_insert(error);
                }
            });
        }
    });
    match failure.into_inner().ok().flatten() {
        Some(failure) => Err(target.explain(&failure)),
        None => Ok(()),
    }
}
