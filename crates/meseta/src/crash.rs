//! The crash in the demonstration: a process of its own that commits, says so, and is killed while it does.
//!
//! ```text
//!   demo                                 demo-worker
//!    |  starts, reads a pipe               | each thread: change a row, insert a receipt, commit durably,
//!    |<------------ "thread number" -------|              and only then write its line to the pipe
//!    |  SIGKILL -------------------------->x
//!    |  opens the store: every line that was read must have its receipt there
//! ```
//!
//! A line is written with one `write` and is far shorter than what a pipe takes whole, so none arrives in part.
//!
//! SIGKILL ends the process between any two instructions, but the operating system lives on and keeps what it was
//! given. What a loss of power does is tested on a simulated disk: `crates/storage/tests/power_loss.rs`.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use meseta_storage::{Durability, Result as StorageResult, Store, StoreOptions, Tree};

use crate::Failure;
use crate::demo::{self, Random, Tables};
use crate::text::{count, recovery};

/// Threads that commit in the worker.
const THREADS: u32 = 8;
/// How long the worker lives.
const LIFE: Duration = Duration::from_millis(1500);
/// Acknowledged commits that the worker must have before it is killed, however slow the machine is.
const COMMITS_MIN: u64 = 100;
/// A worker that nobody kills ends itself.
const LIFE_MAX: Duration = Duration::from_secs(60);

/// A receipt's key: thread, then number.
fn key_of(thread: u32, number: u64) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&thread.to_be_bytes());
    key[4..].copy_from_slice(&number.to_be_bytes());
    key
}

fn receipt(thread: u32, number: u64) -> String {
    format!("{:<80}", format!("commit {number} of thread {thread}"))
}

// ---- the one that is killed -----------------------------------------------------------------------------------------

/// The worker's whole life: commits until it is killed.
pub fn work(directory: &Path) -> Result<(), Failure> {
    let store = Store::open(directory, demo::options())?;
    let tables = Tables::find(&store)?.ok_or("this store has no tables of the demonstration")?;
    let rows = tables.rows;
    let began = Instant::now();
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (store, tables) = (&store, &tables);
                scope.spawn(move || -> StorageResult<()> {
                    let mut random = Random::new(u64::from(thread) + 1);
                    for number in 1.. {
                        demo::bump(&tables.accounts, random.below(rows))?;
                        let end =
                            tables.receipts.insert(&key_of(thread, number), receipt(thread, number).as_bytes())?;
                        store.commit(end, Durability::Flush)?;
                        // Nobody reads any more, or nobody has killed us: then there is no point in going on.
                        if writeln!(std::io::stdout(), "{thread} {number}").is_err() || began.elapsed() > LIFE_MAX {
                            break;
                        }
                    }
                    Ok(())
                })
            })
            .collect();
        handles.into_iter().try_for_each(|handle| handle.join().expect("a worker's thread does not panic"))
    })?;
    Ok(())
}

// ---- the one that kills ---------------------------------------------------------------------------------------------

/// The last number that each thread was told is durable.
pub struct Acknowledged(BTreeMap<u32, u64>);

impl Acknowledged {
    /// Commits.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

/// The worker, killed and waited for however this ends.
struct Worker(Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the worker, kills it in the middle, and returns what it had acknowledged.
pub fn crash(directory: &Path) -> Result<Acknowledged, Failure> {
    let program = std::env::current_exe().map_err(|error| format!("finding this program: {error}"))?;
    let child = Command::new(program)
        .arg("demo-worker")
        .arg("--dir")
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("starting the worker: {error}"))?;
    let mut worker = Worker(child);
    let mut lines = BufReader::new(worker.0.stdout.take().expect("standard output is a pipe"));
    let mut acknowledged = Acknowledged(BTreeMap::new());
    let mut began = None;
    let mut killed = false;
    let mut line = String::new();
    let mut total = 0;
    // After the kill the pipe still holds what was acknowledged before it: read to the end.
    while lines.read_line(&mut line).map_err(|error| format!("reading from the worker: {error}"))? > 0 {
        let (thread, number) = parse(&line).ok_or_else(|| format!("the worker wrote {line:?}"))?;
        let last = acknowledged.0.entry(thread).or_insert(0);
        if number != *last + 1 {
            return Err(format!("thread {thread} of the worker acknowledged {number} after {last}").into());
        }
        *last = number;
        total += 1;
        line.clear();
        if !killed && began.get_or_insert_with(Instant::now).elapsed() >= LIFE && total >= COMMITS_MIN {
            worker.0.kill().map_err(|error| format!("killing the worker: {error}"))?;
            killed = true;
        }
    }
    let status = worker.0.wait().map_err(|error| format!("waiting for the worker: {error}"))?;
    if !killed {
        return Err(format!("the worker ended by itself ({status})").into());
    }
    Ok(acknowledged)
}

fn parse(line: &str) -> Option<(u32, u64)> {
    let (thread, number) = line.strip_suffix('\n')?.split_once(' ')?;
    Some((thread.parse().ok()?, number.parse().ok()?))
}

/// Opens the store that the worker left, and says what that took.
pub fn reopen(directory: &Path, options: StoreOptions) -> Result<Store, Failure> {
    let store = Store::open(directory, options)?;
    println!("  the store {}", recovery(&store.recovery()));
    Ok(store)
}

/// Looks for every acknowledged commit, and for anything that is there and should not be. Whether all is well.
pub fn verify(receipts: &Tree, acknowledged: &Acknowledged) -> Result<bool, Failure> {
    let mut found: BTreeMap<u32, u64> = BTreeMap::new();
    let mut strange = 0;
    let mut cursor = receipts.cursor();
    let mut on = cursor.seek_first()?;
    while on {
        let key: [u8; 12] = cursor.key().try_into().map_err(|_| "a receipt has a key of another length")?;
        let thread = u32::from_be_bytes(key[..4].try_into().expect("four bytes"));
        let number = u64::from_be_bytes(key[4..].try_into().expect("eight bytes"));
        let last = found.entry(thread).or_insert(0);
        // Each thread's receipts are there without a gap, and whole.
        if number != *last + 1 || cursor.value() != receipt(thread, number).as_bytes() {
            strange += 1;
        }
        *last = number;
        on = cursor.next()?;
    }
    let lost: u64 =
        acknowledged.0.iter().map(|(thread, &last)| last.saturating_sub(*found.get(thread).unwrap_or(&0))).sum();
    let total: u64 = found.values().sum();
    let unacknowledged = total + lost - acknowledged.total();
    println!(
        "  acknowledged before the kill: {}; of these {} are there, {} lost",
        count(acknowledged.total()),
        count(acknowledged.total() - lost),
        count(lost),
    );
    println!(
        "  there besides: {} whose acknowledgement the kill cut off (at most one for each of {THREADS} threads)",
        count(unacknowledged)
    );
    if strange > 0 {
        println!("  receipts out of sequence or damaged: {}", count(strange));
    }
    Ok(lost == 0 && strange == 0 && unacknowledged <= u64::from(THREADS))
}
