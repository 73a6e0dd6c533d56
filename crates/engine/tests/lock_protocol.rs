//! The protocol of `lock`'s header on a tree of one leaf: transactions that read with locks, change, insert, delete, purge,
//! undo statements and roll back, many at once.
//!
//! What must hold, whatever the order:
//! - what a transaction has read with locks stays as it is until it ends, but for its own changes: no row of it changes
//!   and none appears between them (REPEATABLE READ);
//! - no change is lost, and none is made over one that is not committed: the rows' sum is that of the committed changes;
//! - every wait ends, and nothing is left in the lock table.
//!
//! A failure names the seed; threads meet as they like, so the seed makes it likely again, not certain.
//! `MESETA_LOCK_SEED` sets it, and `MESETA_LOCK_ROUNDS` the number of transactions a thread.
#![cfg(not(loom))]

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use meseta_engine::ids::{IndexId, TableId, TransactionId};
use meseta_engine::lock::{
    IndexLocks, Key, LockError, LockTable, Mode, OnConflict, Outcome, Owner, OwnerId, Reach, Request, WaitKind, Wanted,
};
use meseta_sim::SeededRandom;
use parking_lot::{Mutex, RwLock};

const WAIT: OnConflict = OnConflict::Wait(Duration::from_secs(600));
/// Keys are 0 to 29.
const KEYS: u64 = 30;

fn number_from(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Row {
    /// The transaction that wrote it last; 0 is nobody.
    writer: u64,
    value: i64,
    deleted: bool,
}

type Leaf = BTreeMap<u8, Row>;

struct Engine {
    seed: u64,
    locks: Arc<LockTable>,
    index: Arc<IndexLocks>,
    /// The tree, and its latch.
    leaf: RwLock<Leaf>,
    /// The commit table: who is active.
    active: Mutex<HashMap<u64, Arc<Owner>>>,
    next_transaction: AtomicU64,
    committed_sum: AtomicI64,
    commits: AtomicUsize,
    victims: AtomicUsize,
    undone: AtomicUsize,
    keys_gone: AtomicUsize,
    skipped: AtomicUsize,
    locked_together: AtomicUsize,
    cut_short: AtomicUsize,
    listed: AtomicUsize,
}

/// A key and the one above it, as the lock table names them.
struct Names([u8; 1], Option<[u8; 1]>);

impl Names {
    fn new(leaf: &Leaf, key: u8) -> Self {
        Self([key], leaf.range((Excluded(key), Unbounded)).next().map(|(&next, _)| [next]))
    }

    fn key(&self) -> Key<'_> {
        Key::Row(&self.0)
    }

    fn successor(&self) -> Key<'_> {
        self.1.as_ref().map_or(Key::Supremum, |next| Key::Row(next))
    }
}

impl Engine {
    fn new(seed: u64) -> Self {
        let row = |key| (key as u8, Row { writer: 0, value: 0, deleted: false });
        Self {
            seed,
            locks: Arc::new(LockTable::new(4)),
            index: IndexLocks::new(TableId(1), IndexId(1)),
            leaf: RwLock::new((0..KEYS).step_by(3).map(row).collect()),
            active: Mutex::default(),
            next_transaction: AtomicU64::new(1),
            committed_sum: AtomicI64::new(0),
            commits: AtomicUsize::new(0),
            victims: AtomicUsize::new(0),
            undone: AtomicUsize::new(0),
            keys_gone: AtomicUsize::new(0),
            skipped: AtomicUsize::new(0),
            locked_together: AtomicUsize::new(0),
            cut_short: AtomicUsize::new(0),
            listed: AtomicUsize::new(0),
        }
    }

    fn writer(&self, row: &Row) -> Option<Arc<Owner>> {
        self.active.lock().get(&row.writer).cloned()
    }

    /// Removes a key that is flagged, and whose writer has ended.
    fn purge(&self, random: &mut SeededRandom) {
        let key = random.below(KEYS) as u8;
        let mut leaf = self.leaf.write();
        if leaf.get(&key).is_some_and(|row| row.deleted && self.writer(row).is_none()) {
            let names = Names::new(&leaf, key);
            leaf.remove(&key);
            self.locks.removed(&self.index, names.key(), names.successor());
        }
    }
}

/// What an open statement or transaction would put back: the row before, or that there was none.
type Undo = (u8, Option<Row>);

struct Transaction<'e> {
    engine: &'e Engine,
    owner: &'e Arc<Owner>,
    id: u64,
    undo: Vec<Undo>,
    /// What it has read with locks: each range, with the rows as it has left them.
    read: Vec<(RangeInclusive<u8>, BTreeMap<u8, i64>)>,
    change: i64,
    /// What it was given without the latch, until it has looked.
    unseen: Option<u8>,
}

impl<'e> Transaction<'e> {
    fn begin(engine: &'e Engine, owner: &'e Arc<Owner>) -> Self {
        let id = engine.next_transaction.fetch_add(1, Ordering::Relaxed);
        owner.set_transaction(Some(TransactionId(id)));
        owner.set_weight(0);
        engine.active.lock().insert(id, Arc::clone(owner));
        Self { engine, owner, id, undo: Vec::new(), read: Vec::new(), change: 0, unseen: None }
    }

    /// Asks without a latch. What comes of it is seen when one looks again.
    fn wait(&mut self, key: Key<'_>, mode: Mode, reach: Reach) -> Result<(), LockError> {
        let request = Request { index: &self.engine.index, key, mode, reach };
        let outcome = self.engine.locks.lock(self.owner, &request, WAIT)?;
        self.note(key, outcome);
        Ok(())
    }

    fn wait_for(&mut self, writer: u64, key: Key<'_>, mode: Mode, reach: Reach) -> Result<(), LockError> {
        let engine = self.engine;
        let Some(owner) = engine.active.lock().get(&writer).cloned() else { return Ok(()) };
        let request = Request { index: &engine.index, key, mode, reach };
        let is_active = || engine.active.lock().contains_key(&writer);
        let outcome = engine.locks.wait_for_writer(self.owner, &request, &owner, is_active, WAIT)?;
        self.note(key, outcome);
        Ok(())
    }

    fn note(&mut self, key: Key<'_>, outcome: Outcome) {
        if outcome == Outcome::KeyGone {
            self.engine.keys_gone.fetch_add(1, Ordering::Relaxed);
        }
        if let (Key::Row(name), Outcome::Granted { fresh: true, .. }) = (key, outcome) {
            self.unseen = Some(name[0]);
        }
    }

    /// Has the latch, and looks at `key`: what it was given of another row, it gives back.
    fn look_at(&mut self, key: Option<u8>) {
        if let Some(other) = self.unseen.take().filter(|&unseen| Some(unseen) != key) {
            self.engine.locks.unlock(self.owner, &self.engine.index, Key::Row(&[other]));
        }
    }

    fn try_lock(&self, key: Key<'_>, mode: Mode, reach: Reach, on_conflict: OnConflict) -> Option<Outcome> {
        let request = Request { index: &self.engine.index, key, mode, reach };
        self.engine.locks.lock(self.owner, &request, on_conflict).ok().filter(|outcome| outcome.is_granted())
    }

    fn has_active_writer(&self, row: &Row) -> bool {
        row.writer != self.id && self.engine.writer(row).is_some()
    }

    /// Locks what a read comes to next together, as far as it is to be had; returns what was there.
    fn lock_together(&mut self, behind: u8, last: u8, mode: Mode) -> Vec<(u8, Row)> {
        let engine = self.engine;
        let Some(others) = engine.locks.reach(self.owner, &engine.index, mode, Wanted::Stretch([&[behind], &[last]]))
        else {
            return Vec::new();
        };
        thread::yield_now();
        let rows: Vec<(u8, Row)> = {
            let leaf = engine.leaf.read();
            let rows = leaf.range((Excluded(behind), Included(last))).map(|(&key, &row)| (key, row));
            rows.take_while(|(_, row)| !self.has_active_writer(row)).collect()
        };
        thread::yield_now();
        let is_free = |name: &[u8]| {
            let request = Request { index: &engine.index, key: Key::Row(name), mode, reach: Reach::NextKey };
            !others || engine.locks.is_free(self.owner, &request)
        };
        let names: Vec<[u8; 1]> = rows.iter().map(|(key, _)| [*key]).take_while(|name| is_free(name)).collect();
        thread::yield_now();
        let held = engine.locks.hold(self.owner, &engine.index, names.iter().map(|name| name.as_slice()));
        engine.locked_together.fetch_add(held, Ordering::Relaxed);
        engine.cut_short.fetch_add(rows.len() - held, Ordering::Relaxed);
        rows[..held].to_vec()
    }

    /// SELECT ... FOR SHARE or FOR UPDATE of a range, under REPEATABLE READ. Half of the time the lock is asked for under
    /// the latch, and half of the time before looking; and some keys behind the first are locked together.
    fn scan(&mut self, range: RangeInclusive<u8>, mode: Mode, random: &mut SeededRandom) -> Result<(), LockError> {
        let mut rows = BTreeMap::new();
        let mut from = Included(*range.start());
        loop {
            if let Excluded(behind) = from
                && behind < *range.end()
                && self.unseen.is_none()
                && random.chance(50)
            {
                let last = random.range(u64::from(behind) + 1..u64::from(*range.end()) + 1) as u8;
                for (key, row) in self.lock_together(behind, last, mode) {
                    rows.extend((!row.deleted).then_some((key, row.value)));
                    from = Excluded(key);
                }
            }
            let leaf = self.engine.leaf.read();
            let found = leaf.range((from, Unbounded)).next().map(|(&key, &row)| (key, row));
            self.look_at(found.map(|(key, _)| key));
            let Some((key, row)) = found else {
                if self.try_lock(Key::Supremum, mode, Reach::NextKey, OnConflict::Fail).is_some() {
                    break;
                }
                unreachable!("nobody waits for the gap at the end");
            };
            let name = Key::Row(std::slice::from_ref(&key));
            if random.chance(50) {
                // As one who reads optimistically: lock, then look.
                drop(leaf);
                thread::yield_now();
                self.wait(name, mode, Reach::NextKey)?;
                let leaf = self.engine.leaf.read();
                let now = leaf.range((from, Unbounded)).next().map(|(&key, &row)| (key, row));
                self.look_at(now.map(|(key, _)| key));
                if now != Some((key, row)) || self.has_active_writer(&row) {
                    drop(leaf);
                    if let Some((_, row)) = now.filter(|&(other, row)| other == key && self.has_active_writer(&row)) {
                        self.wait_for(row.writer, name, mode, Reach::NextKey)?;
                    }
                    continue;
                }
            } else if self.has_active_writer(&row) {
                drop(leaf);
                self.wait_for(row.writer, name, mode, Reach::NextKey)?;
                continue;
            } else if self.try_lock(name, mode, Reach::NextKey, OnConflict::Fail).is_none() {
                drop(leaf);
                self.wait(name, mode, Reach::NextKey)?;
                continue;
            }
            if !range.contains(&key) {
                break;
            }
            if !row.deleted {
                rows.insert(key, row.value);
            }
            from = Excluded(key);
        }
        self.read.push((range, rows));
        Ok(())
    }

    /// SELECT ... FOR UPDATE of the rows with an even value, under READ COMMITTED, looking before it locks; what it would wait for it
    /// leaves out.
    fn pick_listed(&mut self, range: RangeInclusive<u8>) {
        let engine = self.engine;
        let look = |key: u8| engine.leaf.read().get(&key).copied().filter(|row| !self.has_active_writer(row));
        let (mut from, mut picked) = (*range.start(), Vec::new());
        while let Some((key, Some(row))) = {
            let next = engine.leaf.read().range(from..range.end() + 1).next().map(|(&key, _)| key);
            next.map(|key| (key, look(key)))
        } {
            from = key + 1;
            if row.deleted || row.value % 2 != 0 {
                continue;
            }
            let name = [key];
            let Some(others) = engine.locks.reach(self.owner, &engine.index, Mode::Exclusive, Wanted::Record(&name))
            else {
                continue;
            };
            thread::yield_now();
            let (mode, reach) = (Mode::Exclusive, Reach::Record);
            let request = Request { index: &engine.index, key: Key::Row(&name), mode, reach };
            let is_same = look(key) == Some(row);
            thread::yield_now();
            let is_free = is_same && (!others || engine.locks.is_free(self.owner, &request));
            let wanted = is_free.then_some(name.as_slice());
            if engine.locks.hold(self.owner, &engine.index, wanted.into_iter()) == 1 {
                picked.push((key..=key, BTreeMap::from([(key, row.value)])));
            }
        }
        engine.listed.fetch_add(picked.len(), Ordering::Relaxed);
        self.read.extend(picked);
    }

    /// SELECT ... FOR UPDATE SKIP LOCKED of the rows with an even value, under READ COMMITTED: others are given back.
    fn pick(&mut self, range: RangeInclusive<u8>) {
        let keys: Vec<u8> = self.engine.leaf.read().range(range).map(|(&key, _)| key).collect();
        for key in keys {
            let leaf = self.engine.leaf.read();
            let Some(row) = leaf.get(&key).copied() else { continue };
            let name = Key::Row(std::slice::from_ref(&key));
            let locked = !self.has_active_writer(&row)
                && match self.try_lock(name, Mode::Exclusive, Reach::Record, OnConflict::Skip) {
                    Some(Outcome::Granted { fresh: true, .. }) if row.deleted || row.value % 2 != 0 => {
                        self.engine.locks.unlock(self.owner, &self.engine.index, name);
                        false
                    }
                    outcome => outcome.is_some(),
                };
            if locked && !row.deleted {
                self.read.push((key..=key, BTreeMap::from([(key, row.value)])));
            }
            self.engine.skipped.fetch_add(usize::from(!locked), Ordering::Relaxed);
        }
    }

    /// Changes, deletes or inserts the row of `key`; `change` makes of what is there what shall be there.
    fn change(&mut self, key: u8, change: impl Fn(Option<i64>) -> Option<i64>) -> Result<(), LockError> {
        let engine = self.engine;
        let (index, locks) = (&engine.index, &engine.locks);
        loop {
            let mut leaf = engine.leaf.write();
            let names = Names::new(&leaf, key);
            let before = leaf.get(&key).copied();
            self.look_at(before.map(|_| key));
            if let Some(row) = before.filter(|row| self.has_active_writer(row)) {
                drop(leaf);
                self.wait_for(row.writer, names.key(), Mode::Exclusive, Reach::Record)?;
                continue;
            }
            let live = before.filter(|row| !row.deleted).map(|row| row.value);
            let after = change(live);
            if after == live {
                return Ok(());
            }
            // A row that is there is locked itself; for a new one, the gap is asked.
            let (asked, reach) = match before {
                Some(_) => (names.key(), Reach::Record),
                None => (names.successor(), Reach::InsertIntention),
            };
            let request = Request { index, key: asked, mode: Mode::Exclusive, reach };
            if locks.would_wait(self.owner, &request) {
                drop(leaf);
                self.wait(asked, Mode::Exclusive, reach)?;
                continue;
            }
            let value = after.or(live).expect("one of them is there, or nothing changes");
            leaf.insert(key, Row { writer: self.id, value, deleted: after.is_none() });
            if before.is_none() {
                locks.inserted(self.owner, index, names.key(), names.successor());
            }
            self.undo.push((key, before));
            self.owner.set_weight(self.undo.len() as u64);
            self.change += after.unwrap_or(0) - live.unwrap_or(0);
            self.remember(key, after);
            return Ok(());
        }
    }

    fn remember(&mut self, key: u8, value: Option<i64>) {
        for (_, rows) in self.read.iter_mut().filter(|(range, _)| range.contains(&key)) {
            match value {
                Some(value) => rows.insert(key, value),
                None => rows.remove(&key),
            };
        }
    }

    /// Undoes changes until `left` are left. If the transaction goes on, a row whose header will name another again is
    /// locked first: its lock was the header.
    fn undo(&mut self, left: usize) {
        let engine = self.engine;
        while self.undo.len() > left {
            let (key, before) = self.undo[self.undo.len() - 1];
            let name = [key];
            let mut leaf = engine.leaf.write();
            if left > 0
                && before.is_some()
                && self.try_lock(Key::Row(&name), Mode::Exclusive, Reach::Record, OnConflict::Fail).is_none()
            {
                drop(leaf);
                self.wait(Key::Row(&name), Mode::Exclusive, Reach::Record)
                    .expect("only for those who did not look yet");
                continue;
            }
            let live = |row: Option<Row>| row.filter(|row| !row.deleted).map(|row| row.value);
            let names = Names::new(&leaf, key);
            let undone = match before {
                Some(row) => leaf.insert(key, row),
                None => {
                    let undone = leaf.remove(&key);
                    engine.locks.removed(&engine.index, names.key(), names.successor());
                    undone
                }
            };
            drop(leaf);
            assert_eq!(undone.map(|row| row.writer), Some(self.id), "seed {}: somebody changed its row", engine.seed);
            self.undo.pop();
            self.change -= live(undone).unwrap_or(0) - live(before).unwrap_or(0);
            self.remember(key, live(before));
        }
    }

    /// What it has read with locks is as it was.
    fn check(&self) {
        let leaf = self.engine.leaf.read();
        for (range, expected) in &self.read {
            let rows = leaf.range(range.clone()).filter(|(_, row)| !row.deleted);
            let rows: BTreeMap<u8, i64> = rows.map(|(&key, row)| (key, row.value)).collect();
            assert_eq!(&rows, expected, "seed {}: {range:?} has changed for {}", self.engine.seed, self.id);
        }
    }

    fn end(mut self, commit: bool) {
        let engine = self.engine;
        self.check();
        if commit {
            engine.committed_sum.fetch_add(self.change, Ordering::Relaxed);
            engine.commits.fetch_add(1, Ordering::Relaxed);
        } else {
            self.undo(0);
            assert_eq!(self.change, 0);
        }
        engine.active.lock().remove(&self.id);
        engine.locks.release_all(self.owner);
    }

    fn run(&mut self, random: &mut SeededRandom) -> Result<(), LockError> {
        for _ in 0..random.range(1..5) {
            if random.chance(30) {
                thread::yield_now();
            }
            // Often where it has read before: that its own changes leave what it locked as it was is half of the matter.
            let read = self.read.last().filter(|_| random.chance(50)).map(|(range, _)| range.clone());
            let key = read.map_or(random.below(KEYS), |range| {
                random.range((*range.start()).into()..KEYS.min(u64::from(*range.end()) + 1))
            });
            let key = key as u8;
            let width = if random.chance(20) { 20 } else { 4 };
            let range = key..=key + random.below(width) as u8;
            match random.below(10) {
                0..3 => self.scan(range, Mode::Shared, random)?,
                3 => self.scan(range, Mode::Exclusive, random)?,
                4 if random.chance(50) => self.pick(range),
                4 => self.pick_listed(range),
                5 | 6 => self.change(key, |old| old.or(Some(7)))?,
                7 | 8 => self.change(key, |old| Some(old? + 1))?,
                _ => self.change(key, |_| None)?,
            }
            if self.undo.len() > 1 && random.chance(10) {
                self.undo(self.undo.len() - 1);
                self.engine.undone.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// Lets the others go on to their end if a session fails.
struct Leave<'e>(&'e Engine, &'e Owner);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let Self(engine, owner) = *self;
        engine.active.lock().retain(|_, other| other.id() != owner.id());
        engine.locks.release_all(owner);
    }
}

fn session(engine: &Engine, number: u64, rounds: u64) {
    let mut random = SeededRandom::new(engine.seed * 1000 + number);
    let owner = Owner::new(OwnerId(number), number as usize);
    let _leave = Leave(engine, &owner);
    for _ in 0..rounds {
        let mut transaction = Transaction::begin(engine, &owner);
        match transaction.run(&mut random) {
            Ok(()) => transaction.end(random.chance(80)),
            Err(LockError::Deadlock) => {
                engine.victims.fetch_add(1, Ordering::Relaxed);
                transaction.end(false);
            }
            Err(other) => panic!("seed {}: {other}\n{:#?}", engine.seed, engine.locks.row_locks()),
        }
        engine.purge(&mut random);
    }
}

#[test]
fn transactions_by_the_protocol_are_isolated_and_all_end() {
    let seed = number_from("MESETA_LOCK_SEED", 1);
    let rounds = number_from("MESETA_LOCK_ROUNDS", 400);
    let engine = Engine::new(seed);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let engine = &engine;
        let sessions: Vec<_> = (1..=12).map(|number| scope.spawn(move || session(engine, number, rounds))).collect();
        // A detector without patience: most of its pictures are blurred.
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                engine.locks.detect_once();
                engine.locks.check();
                thread::yield_now();
            }
        });
        let ended: Vec<_> = sessions.into_iter().map(|session| session.join()).collect();
        over.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|session| session.expect("a session failed"));
    });
    assert_eq!(engine.locks.row_locks(), []);
    assert!(engine.index.is_quiet());
    let leaf = engine.leaf.into_inner();
    let sum: i64 = leaf.values().filter(|row| !row.deleted).map(|row| row.value).sum();
    assert_eq!(sum, engine.committed_sum.into_inner(), "seed {seed}: a change was lost, or survived its transaction");
    // And it was not all in vain.
    assert_eq!(engine.victims.into_inner() as u64, engine.locks.deadlocks());
    assert!(engine.commits.into_inner() as u64 > rounds, "seed {seed}: next to nothing was committed");
    for kind in [WaitKind::Record, WaitKind::NextKey, WaitKind::InsertIntention] {
        assert!(engine.locks.wait_figures()[kind as usize].count > 0, "seed {seed}: nobody waited for {kind:?}");
    }
    for (what, count) in [
        ("a deadlock", engine.locks.deadlocks()),
        ("a statement undone", engine.undone.into_inner() as u64),
        ("a wait for a key that went away", engine.keys_gone.into_inner() as u64),
        ("a row skipped", engine.skipped.into_inner() as u64),
        ("a key locked together with others", engine.locked_together.into_inner() as u64),
        ("a span cut short", engine.cut_short.into_inner() as u64),
        ("a key listed", engine.listed.into_inner() as u64),
    ] {
        assert!(count > 0, "seed {seed}: there was not {what}");
    }
}
