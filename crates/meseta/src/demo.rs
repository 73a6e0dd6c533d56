//! `meseta demo`: the storage engine at work, in about ten seconds, with figures.
//!
//! It loads rows, reads and updates them, commits durably from several threads, has a process killed in the middle of
//! its commits ([`crash`]), and shows that all that was acknowledged is there. It leaves the store behind, closed, for
//! `meseta check`.
//!
//! The figures say how this program did on this machine just now. They are no benchmark: for that there is
//! `make bench-storage`.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use meseta_storage::{Change, Durability, Result as StorageResult, Store, StoreOptions, Tree, TreeId};

use crate::text::{count, rate, time, wait_table};
use crate::{Failure, check, crash};

/// How long each part that has no natural end goes on.
const PART: Duration = Duration::from_millis(1200);
/// Threads that commit at once, to show that they share syncs.
const COMMITTERS: u64 = 32;
/// Bytes of a row's value.
const VALUE_LEN: usize = 100;
/// Where the store's root tree says which trees are ours.
const TABLES_KEY: &[u8] = b"demo/tables";

/// What the demonstration opens its store with: small, for it is to leave little behind.
pub fn options() -> StoreOptions {
    StoreOptions { memory_bytes: 64 << 20, log_bytes: 64 << 20, ..StoreOptions::default() }
}

/// Runs the demonstration. Whether all was as it should be.
pub fn run(directory: &Path, rows: u64) -> Result<bool, Failure> {
    let began = Instant::now();
    println!("Meseta's storage engine, in {}", directory.display());
    let options = options();
    println!("memory for pages: {} MiB; log files: {} MiB", options.memory_bytes >> 20, options.log_bytes >> 20);
    let store = Store::open(directory, options)?;
    let tables = Tables::create(&store, rows)?;

    heading("Load", "rows in key order, each leaf built whole");
    load(&store, &tables)?;
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get() as u64).clamp(2, 16);
    heading("Read", "random rows");
    read(&tables, threads)?;
    heading("Update", "random rows; nobody waits for the disk");
    update(&store, &tables, threads)?;
    heading("Commit", "random rows; each waits until its log is synced");
    commit(&store, &tables, 1)?;
    commit(&store, &tables, COMMITTERS)?;
    heading("Waits", "where threads spent time so far, the largest first");
    for line in wait_table(store.wait_events(), 8) {
        println!("  {line}");
    }
    let before = store.figures();
    store.close()?;
    println!(
        "\nclosed: {} pages in the data file ({} free), {} written back, {} checkpoints",
        count(before.file_pages),
        count(before.free_pages),
        count(before.cleaner.pages_written),
        count(before.cleaner.checkpoints),
    );

    heading("Crash", "another process commits, reports each commit, and is killed with SIGKILL");
    let acknowledged = crash::crash(directory)?;
    println!("  killed after {} acknowledged commits", count(acknowledged.total()));
    let store = crash::reopen(directory, self::options())?;
    let tables = Tables::find(&store)?.ok_or("the store has lost the demonstration's tables")?;
    let kept = crash::verify(&tables.receipts, &acknowledged)? & rows_are_whole(&tables)?;
    heading("Check", "every page and every tree, read from disk");
    let sound = check::check(&store)?.problems.is_empty();
    store.close()?;
    println!();
    match (kept, sound) {
        (true, true) => {
            println!("All well, in {}. To look again: meseta check {}", time(began.elapsed()), directory.display())
        }
        (false, _) => println!("NOT well: what was promised is not there. This is a bug; please report it."),
        (_, false) => println!("NOT well: the check found problems. This is a bug; please report it."),
    }
    Ok(kept && sound)
}

fn heading(name: &str, what: &str) {
    println!("\n{name}: {what}");
}

// ---- the tables -----------------------------------------------------------------------------------------------------

/// The demonstration's trees.
pub struct Tables {
    /// Rows: an identifier, and a value that begins with a counter.
    pub accounts: Tree,
    /// One entry for each commit of the process that is killed.
    pub receipts: Tree,
    /// Rows in `accounts`.
    pub rows: u64,
}

impl Tables {
    /// Makes new tables; those of an earlier run are dropped.
    fn create(store: &Store, rows: u64) -> Result<Self, Failure> {
        if let Some(old) = Self::find(store)? {
            let (accounts, receipts) = (old.accounts.id(), old.receipts.id());
            store.root_tree().remove(TABLES_KEY)?;
            store.drop_tree(accounts)?;
            store.drop_tree(receipts)?;
            println!("dropped the tables of an earlier run");
        }
        let tables = Self { accounts: store.create_tree()?, receipts: store.create_tree()?, rows };
        let mut value = Vec::new();
        value.extend_from_slice(&tables.accounts.id().0.to_le_bytes());
        value.extend_from_slice(&tables.receipts.id().0.to_le_bytes());
        value.extend_from_slice(&rows.to_le_bytes());
        let end = store.root_tree().put(TABLES_KEY, &value)?;
        store.commit(end, Durability::Flush)?;
        Ok(tables)
    }

    /// The tables that an earlier run left.
    pub fn find(store: &Store) -> Result<Option<Self>, Failure> {
        let Some(value) = store.root_tree().get(TABLES_KEY, <[u8]>::to_vec)? else { return Ok(None) };
        let value: [u8; 16] = value.try_into().map_err(|_| "the entry demo/tables of the root tree is not ours")?;
        let number = |at: usize| u32::from_le_bytes(value[at..at + 4].try_into().expect("four bytes"));
        Ok(Some(Self {
            accounts: store.open_tree(TreeId(number(0)))?,
            receipts: store.open_tree(TreeId(number(4)))?,
            rows: u64::from_le_bytes(value[8..].try_into().expect("eight bytes")),
        }))
    }
}

/// A new row: a counter of zero, and bytes that follow from the identifier.
fn new_value(id: u64) -> [u8; VALUE_LEN] {
    let mut value = [(id % 251) as u8; VALUE_LEN];
    value[..8].fill(0);
    value
}

/// Adds one to a row's counter. Returns the position that makes it durable.
pub fn bump(accounts: &Tree, id: u64) -> StorageResult<meseta_storage::Lsn> {
    let changed = accounts.modify(&id.to_be_bytes(), &[], |value| {
        let value = value.expect("rows are never removed");
        let counter = u64::from_le_bytes(value[..8].try_into().expect("eight bytes"));
        Ok(Change::Patch { offset: 0, bytes: (counter + 1).to_le_bytes().to_vec().into() })
    })?;
    Ok(changed.expect("a patch changes something"))
}

/// Small, quick and seeded: xorshift.
pub struct Random(u64);

impl Random {
    /// A sequence of its own for each seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

// ---- the parts ------------------------------------------------------------------------------------------------------

fn load(store: &Store, tables: &Tables) -> Result<(), Failure> {
    let began = Instant::now();
    let entries = (0..tables.rows).map(|id| (id.to_be_bytes(), new_value(id)));
    let (loaded, end) = tables.accounts.bulk_load(entries)?;
    store.commit(end, Durability::Flush)?;
    let taken = began.elapsed();
    let figures = store.figures();
    println!(
        "  {} rows of {} bytes in {}: {} rows/s, durable",
        count(loaded),
        VALUE_LEN + 8,
        time(taken),
        rate(loaded, taken)
    );
    println!(
        "  {} pages of 16 KiB in the data file, {} free; {} levels; {:.1} MB of log",
        count(figures.file_pages),
        count(figures.free_pages),
        tables.accounts.height()? + 1,
        figures.log.bytes_written as f64 / 1e6,
    );
    Ok(())
}

/// Runs `work` in a loop on each of `threads` for a while. Returns how often it ran, and the time.
fn for_a_while(
    threads: u64,
    work: impl Fn(&mut Random) -> StorageResult<()> + Sync,
) -> Result<(u64, Duration), Failure> {
    let began = Instant::now();
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|thread| {
                let (work, done) = (&work, &done);
                scope.spawn(move || -> StorageResult<()> {
                    let mut random = Random::new(thread + 1);
                    let mut turns = 0;
                    while began.elapsed() < PART {
                        work(&mut random)?;
                        turns += 1;
                    }
                    done.fetch_add(turns, Ordering::Relaxed);
                    Ok(())
                })
            })
            .collect();
        handles.into_iter().try_for_each(|handle| handle.join().expect("a part of the demonstration does not panic"))
    })?;
    Ok((done.into_inner(), began.elapsed()))
}

fn read(tables: &Tables, threads: u64) -> Result<(), Failure> {
    let (reads, taken) = for_a_while(threads, |random| {
        let id = random.below(tables.rows);
        let found = tables.accounts.get(&id.to_be_bytes(), |value| value[VALUE_LEN - 1])?;
        assert_eq!(found, Some((id % 251) as u8), "row {id}");
        Ok(())
    })?;
    println!("  {threads} threads: {} reads/s", rate(reads, taken));
    Ok(())
}

fn update(store: &Store, tables: &Tables, threads: u64) -> Result<(), Failure> {
    let before = store.figures();
    let (updates, taken) = for_a_while(threads, |random| bump(&tables.accounts, random.below(tables.rows)).map(drop))?;
    let after = store.figures();
    println!(
        "  {threads} threads: {} updates/s; meanwhile {} pages written back, {:.1} MB of log",
        rate(updates, taken),
        count(after.cleaner.pages_written - before.cleaner.pages_written),
        (after.log.bytes_written - before.log.bytes_written) as f64 / 1e6,
    );
    Ok(())
}

fn commit(store: &Store, tables: &Tables, threads: u64) -> Result<(), Failure> {
    let before = store.figures().log;
    let (commits, taken) = for_a_while(threads, |random| {
        let end = bump(&tables.accounts, random.below(tables.rows))?;
        store.commit(end, Durability::Flush)
    })?;
    let after = store.figures().log;
    let flushes = (after.flushes - before.flushes).max(1);
    println!(
        "  {threads:>2} {}: {} commits/s, {} syncs/s, so {:.1} commits a sync; {} each",
        if threads == 1 { "thread " } else { "threads" },
        rate(commits, taken),
        rate(flushes, taken),
        commits as f64 / flushes as f64,
        time(taken * threads as u32 / u32::try_from(commits.max(1)).unwrap_or(u32::MAX)),
    );
    Ok(())
}

/// Whether every row is there and is what was written, whatever its counter.
fn rows_are_whole(tables: &Tables) -> Result<bool, Failure> {
    let began = Instant::now();
    let mut cursor = tables.accounts.cursor();
    let mut on = cursor.seek_first()?;
    let (mut rows, mut strange) = (0u64, 0u64);
    while on {
        let (key, value) = (cursor.key(), cursor.value());
        if key != rows.to_be_bytes() || value.len() != VALUE_LEN || value[8..] != new_value(rows)[8..] {
            strange += 1;
        }
        rows += 1;
        on = cursor.next()?;
    }
    println!(
        "  scanned {} rows in {}: {strange} damaged, {} missing",
        count(rows),
        time(began.elapsed()),
        tables.rows.saturating_sub(rows)
    );
    Ok(strange == 0 && rows == tables.rows)
}
