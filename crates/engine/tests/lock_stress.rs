//! Many threads ask for locks of every kind at random, and a book is kept beside the lock table: no two conflicting locks
//! are ever held at once.
//!
//! An owner enters a lock in the book after it has it and strikes it out before it gives it back. So if two locks that
//! conflict ever stand there together, both were granted. Some kill another now and then, some wait without their thread (it is
//! unparked when it is called back) and some give that up; and one thread checks the lock table's own invariants.
//!
//! `MESETA_LOCK_SEED` sets the seed, which a failure names, and `MESETA_LOCK_ROUNDS` the transactions a thread.
#![cfg(not(loom))]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::Wake;
use std::thread::{self, Thread};
use std::time::Duration;

use meseta_engine::ids::{IndexId, TableId};
use meseta_engine::lock::{
    DeadlockDetector, IndexLocks, Key, LockError, LockTable, Mode, OnConflict, Outcome, Owner, OwnerId, Reach, Request,
    Suspension, TableLock, TableMode, WaitKind, Wanted,
};
use meseta_sim::SeededRandom;
use parking_lot::Mutex;

const THREADS: u64 = 12;
const KEYS: u64 = 6;
const TABLES: u64 = 2;

fn number_from(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entry {
    Row(Mode),
    Table(TableMode),
}

/// Which modes of tables exclude each other, once more: MySQL's matrix.
fn tables_conflict(one: TableMode, other: TableMode) -> bool {
    use TableMode::{Exclusive, NoWrite, Read, ReadOnly, Upgradable, Write};
    matches!(
        (one, other),
        (Exclusive, _)
            | (_, Exclusive)
            | (Write, ReadOnly | NoWrite)
            | (ReadOnly | NoWrite, Write)
            | (Upgradable | NoWrite, Upgradable | NoWrite)
    ) && (one, other) != (Read, Read)
}

fn conflict(one: Entry, other: Entry) -> bool {
    match (one, other) {
        (Entry::Row(one), Entry::Row(other)) => one == Mode::Exclusive || other == Mode::Exclusive,
        (Entry::Table(one), Entry::Table(other)) => tables_conflict(one, other),
        _ => unreachable!("a page of the book is about one thing"),
    }
}

/// A page of the book: who has what of one row or one table.
#[derive(Default)]
struct Page(Mutex<Vec<(u64, Entry)>>);

impl Page {
    fn enter(&self, owner: u64, entry: Entry, seed: u64) {
        let mut page = self.0.lock();
        for &(other, held) in page.iter().filter(|(other, _)| *other != owner) {
            assert!(!conflict(entry, held), "seed {seed}: {owner} has {entry:?} while {other} has {held:?}");
        }
        if !page.contains(&(owner, entry)) {
            page.push((owner, entry));
        }
    }

    fn strike(&self, owner: u64) {
        self.0.lock().retain(|(other, _)| *other != owner);
    }
}

struct World {
    seed: u64,
    locks: Arc<LockTable>,
    index: Arc<IndexLocks>,
    tables: Vec<Arc<TableLock>>,
    row_pages: Vec<Page>,
    table_pages: Vec<Page>,
    granted: AtomicU64,
    counts: [AtomicU64; 6],
    suspended: AtomicU64,
    together: AtomicU64,
}

const ENDINGS: [&str; 6] = ["skipped", "refused", "timed out", "a victim", "killed", "given up"];

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

impl World {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            locks: Arc::new(LockTable::new(3)),
            index: IndexLocks::new(TableId(1), IndexId(1)),
            tables: (0..TABLES).map(|id| TableLock::new(TableId(id as u32), 3)).collect(),
            row_pages: (0..KEYS).map(|_| Page::default()).collect(),
            table_pages: (0..TABLES).map(|_| Page::default()).collect(),
            granted: AtomicU64::new(0),
            counts: Default::default(),
            suspended: AtomicU64::new(0),
            together: AtomicU64::new(0),
        }
    }

    fn on_conflict(random: &mut SeededRandom) -> OnConflict {
        match random.below(8) {
            0 => OnConflict::Fail,
            1 => OnConflict::Skip,
            2 => OnConflict::Wait(Duration::from_micros(random.below(500))),
            3 => OnConflict::Suspend(Duration::from_micros(random.below(500))),
            4 => OnConflict::Suspend(Duration::from_secs(600)),
            _ => OnConflict::Wait(Duration::from_secs(600)),
        }
    }

    /// What becomes of a request that may have been suspended: its thread comes back as it is called, or gives up.
    fn after_suspension(
        &self,
        owner: &Arc<Owner>,
        random: &mut SeededRandom,
        asked: Result<Outcome, LockError>,
    ) -> Result<Outcome, LockError> {
        if asked != Err(LockError::Suspended) {
            return asked;
        }
        self.suspended.fetch_add(1, Ordering::Relaxed);
        if random.chance(10) {
            self.locks.give_up(owner);
            return asked;
        }
        loop {
            match self.locks.resume(owner) {
                Suspension::None => unreachable!("seed {}: nobody else resumes it", self.seed),
                Suspension::Waits(left) => thread::park_timeout(left),
                Suspension::Over(outcome) => return outcome,
            }
        }
    }

    fn row(&self, owner: &Arc<Owner>, random: &mut SeededRandom) -> Result<Outcome, LockError> {
        let number = random.below(KEYS);
        let name = number.to_be_bytes();
        let mode = if random.chance(50) { Mode::Shared } else { Mode::Exclusive };
        let reach = [Reach::Record, Reach::Record, Reach::NextKey, Reach::Gap, Reach::InsertIntention];
        let reach = reach[random.below(5) as usize];
        let request = Request { index: &self.index, key: Key::Row(&name), mode, reach };
        let asked = self.locks.lock(owner, &request, Self::on_conflict(random));
        let outcome = self.after_suspension(owner, random, asked)?;
        if let Outcome::Granted { fresh, .. } = outcome
            && matches!(reach, Reach::Record | Reach::NextKey)
        {
            let page = &self.row_pages[number as usize];
            page.enter(owner.id().0, Entry::Row(mode), self.seed);
            if fresh && random.chance(20) {
                page.strike(owner.id().0);
                self.locks.unlock(owner, &self.index, Key::Row(&name));
            }
        }
        Ok(outcome)
    }

    /// Keys locked together, as far as they are to be had.
    fn rows_together(&self, owner: &Arc<Owner>, random: &mut SeededRandom) {
        let mode = if random.chance(70) { Mode::Shared } else { Mode::Exclusive };
        let from = random.below(KEYS - 1);
        let names: Vec<[u8; 8]> = (from + 1..random.range(from + 1..KEYS) + 1).map(u64::to_be_bytes).collect();
        let Some(last) = names.last() else { return };
        let from_name = from.to_be_bytes();
        let span = Wanted::Stretch([&from_name, last]);
        let Some(others) = self.locks.reach(owner, &self.index, mode, span) else { return };
        let is_free = |name: &&[u8]| {
            let request = Request { index: &self.index, key: Key::Row(name), mode, reach: Reach::NextKey };
            !others || self.locks.is_free(owner, &request)
        };
        let free: Vec<&[u8]> = names.iter().map(|name| name.as_slice()).take_while(is_free).collect();
        let held = self.locks.hold(owner, &self.index, free.into_iter());
        for page in &self.row_pages[from as usize + 1..][..held] {
            page.enter(owner.id().0, Entry::Row(mode), self.seed);
        }
        self.together.fetch_add(held as u64, Ordering::Relaxed);
    }

    fn table(&self, owner: &Arc<Owner>, random: &mut SeededRandom) -> Result<Outcome, LockError> {
        let number = random.below(TABLES) as usize;
        let mode = if random.chance(80) { TableMode::Write } else { TableMode::ALL[random.below(6) as usize] };
        let outcome = self.locks.lock_table(owner, &self.tables[number], mode, Self::on_conflict(random))?;
        let page = &self.table_pages[number];
        if outcome.is_granted() {
            page.enter(owner.id().0, Entry::Table(mode), self.seed);
            if random.chance(10) {
                page.strike(owner.id().0);
                // Read is in whatever one has.
                let but_for = random.chance(50).then_some(TableMode::Read);
                if let Some(mode) = but_for {
                    page.enter(owner.id().0, Entry::Table(mode), self.seed);
                }
                self.locks.release_table(owner, &self.tables[number], but_for);
            }
        }
        Ok(outcome)
    }

    fn end(&self, owner: &Owner) {
        self.row_pages.iter().chain(&self.table_pages).for_each(|page| page.strike(owner.id().0));
        self.locks.release_all(owner);
        self.locks.release_tables(owner);
    }

    fn count(&self, outcome: Result<Outcome, LockError>) {
        let count = match outcome {
            Ok(Outcome::Granted { .. }) => &self.granted,
            Ok(Outcome::Skipped) => &self.counts[0],
            Ok(Outcome::KeyGone) => unreachable!("no key is removed"),
            Err(LockError::WouldWait) => &self.counts[1],
            Err(LockError::Timeout) => &self.counts[2],
            Err(LockError::Deadlock) => &self.counts[3],
            Err(LockError::Killed) => &self.counts[4],
            Err(LockError::Suspended) => &self.counts[5],
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    fn session(&self, owner: &Arc<Owner>, owners: &[Arc<Owner>], rounds: u64) {
        let _leave = Leave(self, owner);
        owner.set_waker(Arc::new(Unpark(thread::current())).into());
        let mut random = SeededRandom::new(self.seed * 1000 + owner.id().0);
        for _ in 0..rounds {
            if random.chance(3) {
                owners[random.below(THREADS) as usize].kill();
            }
            for _ in 0..random.range(1..6) {
                if random.chance(15) {
                    self.rows_together(owner, &mut random);
                }
                let asks_for_row = random.chance(75);
                let outcome = if asks_for_row { self.row(owner, &mut random) } else { self.table(owner, &mut random) };
                self.count(outcome);
                if matches!(outcome, Err(LockError::Deadlock | LockError::Killed)) {
                    break;
                }
                if random.chance(20) {
                    thread::yield_now();
                }
            }
            self.end(owner);
            owner.pardon();
        }
    }
}

/// Lets the others go on to their end if a session fails.
struct Leave<'w>(&'w World, &'w Owner);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.end(self.1);
    }
}

#[test]
fn no_two_conflicting_locks_are_ever_held() {
    let seed = number_from("MESETA_LOCK_SEED", 1);
    let rounds = number_from("MESETA_LOCK_ROUNDS", 400);
    let world = World::new(seed);
    let detector = DeadlockDetector::start(&world.locks).unwrap();
    let owners: Vec<_> = (1..=THREADS).map(|id| Owner::new(OwnerId(id), id as usize)).collect();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let sessions: Vec<_> =
            owners.iter().map(|owner| scope.spawn(|| world.session(owner, &owners, rounds))).collect();
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                world.locks.check();
                world.tables.iter().for_each(|table| table.check());
                thread::yield_now();
            }
        });
        let ended: Vec<_> = sessions.into_iter().map(|session| session.join()).collect();
        over.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|session| session.expect("a session failed"));
    });
    drop(detector);
    assert_eq!(world.locks.row_locks(), []);
    assert!(world.index.is_quiet());
    assert!(world.tables.iter().all(|table| table.locks().is_empty()));
    assert_eq!(world.locks.waiting(), 0);
    // And it was not all in vain.
    assert!(world.suspended.into_inner() > THREADS, "seed {seed}: hardly anybody was suspended");
    assert!(world.together.into_inner() > THREADS, "seed {seed}: hardly anything was locked together");
    assert!(world.granted.into_inner() > THREADS * rounds, "seed {seed}: next to nothing was granted");
    for (what, count) in ENDINGS.iter().zip(world.counts) {
        assert!(count.into_inner() > 0, "seed {seed}: no request was {what}");
    }
    for kind in WaitKind::ALL {
        assert!(world.locks.wait_figures()[kind as usize].count > 0, "seed {seed}: nobody waited for {kind:?}");
    }
}
