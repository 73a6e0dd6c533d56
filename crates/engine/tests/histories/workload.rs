//! Sessions on threads of their own that read and change the same few rows, and write down what they did and saw.
//!
//! A key is a row of `accounts`: what it holds is in `padding`, eight bytes a value; `balance` is the last of the values,
//! so that every change moves an entry of the secondary index.
//!
//! A seed decides what each thread does, but not how they meet: a failure repeats often, and not always.

use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use meseta_engine::lock::{LockError, Mode, OnConflict, TableMode};
use meseta_engine::row::{KeyRange, Value as Field};
use meseta_engine::rows::{RowChange, RowCursor};
use meseta_engine::table::Table;
use meseta_engine::{Direction, EngineError, Isolation, Locking, Result, Session};
use meseta_sim::{SeededRandom, SimDisk};
use meseta_storage::Durability;

use crate::common::{BY_BALANCE, Bank, options};
use crate::history::{Fate, History, Key, Kind, Operation, Read, Transaction, Value, Write};

/// Nobody waits so long, unless for somebody who will never go on. (Deadlocks are broken within milliseconds.)
const LOCK_WAIT: Duration = Duration::from_secs(20);

/// What is to be done.
#[derive(Clone, Debug)]
pub struct Plan {
    pub kind: Kind,
    /// The level of each session.
    pub levels: Vec<Isolation>,
    pub keys: u32,
    /// Of each session.
    pub transactions: u32,
    /// Whether all keys have a value before the sessions begin, and none is deleted.
    pub are_filled: bool,
    /// Whether each read locks.
    pub locks_all: bool,
}

impl Plan {
    /// Any, of sessions at this level; or each at one from READ COMMITTED on, if none is given.
    pub fn random(random: &mut SeededRandom, level: Option<Isolation>) -> Plan {
        let any = [Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];
        let sessions = random.range(4..9);
        Plan {
            kind: *random.pick(&[Kind::Lists, Kind::Registers]),
            levels: (0..sessions).map(|_| level.unwrap_or_else(|| *random.pick(&any))).collect(),
            keys: random.range(4..40) as u32,
            transactions: random.range(30..80) as u32,
            are_filled: random.chance(30),
            locks_all: random.chance(20),
        }
    }
}

/// Does it, and tells what happened.
pub fn record(plan: &Plan, seed: u64) -> History {
    let bank = Bank::open(&SimDisk::new(seed), options());
    let shared = Shared { bank: &bank, plan, clock: AtomicU64::new(1), values: AtomicU64::new(1) };
    let mut transactions = Vec::new();
    if plan.are_filled {
        let mut filler = Worker::new(&shared, Isolation::default(), seed, "filler");
        (0..plan.keys).try_for_each(|key| filler.write(key, false)).expect("nobody is in the way");
        filler.end(true);
        transactions.append(&mut filler.done);
    }
    let start = Barrier::new(plan.levels.len());
    std::thread::scope(|scope| {
        let threads: Vec<_> = plan
            .levels
            .iter()
            .zip(1u64..)
            .map(|(&level, number)| {
                let (shared, start) = (&shared, &start);
                scope.spawn(move || {
                    let mut worker = Worker::new(shared, level, seed << 8 | number, &format!("S{number}"));
                    start.wait();
                    (0..shared.plan.transactions).for_each(|_| worker.transaction());
                    worker.done
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| transactions.append(&mut thread.join().unwrap()));
    });
    let mut reader = Worker::new(&shared, Isolation::RepeatableRead, seed, "reader");
    let last = reader.rows(&KeyRange::ALL, 0, None, Direction::Ascending).expect("nobody is in the way");
    drop(reader);
    bank.engine.keep_house().unwrap();
    assert_eq!((bank.engine.unpurged(), bank.entries()), (0, [last.len(); 2]), "no tombstone is left");
    let report = bank.engine.store().check().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
    History { kind: plan.kind, transactions, last: Some(last) }
}

/// What all sessions use.
struct Shared<'a> {
    bank: &'a Bank,
    plan: &'a Plan,
    /// What comes later has a greater time.
    clock: AtomicU64,
    /// The next value that nobody has written.
    values: AtomicU64,
}

/// A session, and the history of what it does.
struct Worker<'a> {
    shared: &'a Shared<'a>,
    session: Session,
    random: SeededRandom,
    name: String,
    now: Transaction,
    /// How many views the transaction has had, and since when it has the one of REPEATABLE READ.
    views: u32,
    view_since: Option<u64>,
    done: Vec<Transaction>,
}

impl<'a> Worker<'a> {
    fn new(shared: &'a Shared<'a>, level: Isolation, seed: u64, name: &str) -> Self {
        let mut session = shared.bank.engine.session().unwrap();
        session.set_isolation(level);
        // What survives a loss of power is another test's question.
        session.set_durability(Durability::Lazy);
        session.set_lock_wait(LOCK_WAIT);
        session.set_table_wait(LOCK_WAIT);
        let now = Transaction { name: format!("{name}.1"), operations: Vec::new(), fate: Fate::Unknown, ended: 0 };
        let (views, view_since, done) = Default::default();
        let (random, name) = (SeededRandom::new(seed), name.to_owned());
        Self { shared, session, random, name, now, views, view_since, done }
    }

    fn tick(&self) -> u64 {
        self.shared.clock.fetch_add(1, Ordering::SeqCst)
    }

    // ---- transactions -----------------------------------------------------------------------------------------------

    /// One transaction, whatever becomes of it.
    fn transaction(&mut self) {
        let only_reads = self.random.chance(25);
        let steps = self.random.range(1..7);
        for _ in 0..steps {
            let outcome = self.step(only_reads);
            if self.statement_failed(outcome) {
                return self.end(false);
            }
        }
        let commits = self.random.chance(88);
        self.end(commits);
    }

    /// Whether the transaction is over. Other than a deadlock, only NOWAIT may fail here.
    fn statement_failed(&self, outcome: Result<()>) -> bool {
        match outcome {
            Ok(()) | Err(EngineError::Lock(LockError::WouldWait)) => false,
            Err(error) if error.ends_transaction() => true,
            Err(error) => panic!("{}: {error}", self.now.name),
        }
    }

    fn end(&mut self, commits: bool) {
        if commits {
            self.session.commit().unwrap();
            self.now.fate = Fate::Committed;
        } else {
            let at = self.tick();
            self.now.undo_from(0, at);
            self.session.roll_back().unwrap();
            self.now.fate = Fate::Aborted;
        }
        self.now.ended = self.tick();
        let next = format!("{}.{}", self.name, self.done.len() + 2);
        let next = Transaction { name: next, operations: Vec::new(), fate: Fate::Unknown, ended: 0 };
        self.done.push(std::mem::replace(&mut self.now, next));
        (self.views, self.view_since) = (0, None);
    }

    /// One statement or a few.
    fn step(&mut self, only_reads: bool) -> Result<()> {
        let key = self.random.below(self.shared.plan.keys.into()) as Key;
        if self.random.chance(20) {
            std::thread::yield_now();
        }
        let choice = if only_reads { self.random.below(50) } else { self.random.below(100) };
        match choice {
            0..38 => self.read(Some(key), None),
            38..42 => self.read(None, None),
            42..48 if !only_reads => self.read_locking(key),
            48..50 if !only_reads => self.read(None, Some(Mode::Shared)),
            42..50 => self.read(Some(key), None),
            50..65 => {
                // The client computes what it writes from what it has read, with a lock or without.
                if self.random.chance(50) {
                    self.read_locking(key)?
                } else {
                    self.read(Some(key), None)?
                }
                self.write(key, false)
            }
            65..84 => self.write(key, false),
            84..92 => self.write(key, true),
            _ => self.savepoint(),
        }
    }

    /// A savepoint, a few steps, and mostly back.
    fn savepoint(&mut self) -> Result<()> {
        let (savepoint, first) = (self.session.savepoint(), self.now.operations.len());
        for _ in 0..self.random.range(1..4) {
            self.step(false)?;
        }
        if self.random.chance(70) {
            let at = self.tick();
            self.now.undo_from(first, at);
            self.session.roll_back_to(savepoint)?;
        }
        Ok(())
    }

    // ---- reads ------------------------------------------------------------------------------------------------------

    fn read_locking(&mut self, key: Key) -> Result<()> {
        let mode = *self.random.pick(&[Mode::Shared, Mode::Exclusive]);
        self.read(Some(key), Some(mode))
    }

    /// Reads a key, or all of them, in one statement; plainly or with a lock.
    fn read(&mut self, key: Option<Key>, mode: Option<Mode>) -> Result<()> {
        self.session.begin_statement();
        let level = self.session.isolation();
        let locks_each = level == Isolation::Serializable || self.shared.plan.locks_all;
        let mode = mode.or(locks_each.then_some(Mode::Shared));
        let begun = self.tick();
        let since = match mode {
            None if level == Isolation::RepeatableRead => *self.view_since.get_or_insert(begun),
            _ => begun,
        };
        let range = key.map_or(KeyRange::ALL, |key| KeyRange::beginning_with(key.to_be_bytes().to_vec()));
        // Entries of an index move. Who reads what is there, and nothing locks the gaps, may meet a row twice or never.
        let stands_still = match (mode, level) {
            (None, Isolation::ReadUncommitted) => false,
            (None, _) => true,
            (Some(_), _) => level >= Isolation::RepeatableRead,
        };
        let index = if key.is_none() && stands_still && self.random.chance(50) { BY_BALANCE } else { 0 };
        let direction = *self.random.pick(&[Direction::Ascending, Direction::Descending]);
        let mut found = match (key, mode) {
            (Some(key), Some(mode)) if self.random.chance(50) => self.row_at(key, mode)?,
            _ => self.rows(&range, index, mode, direction)?,
        };
        let at = self.tick();
        // In the order in which it came by them: then its views are in order as well.
        let mut keys: Vec<Key> = key.map_or(0..self.shared.plan.keys, |key| key..key + 1).collect();
        if direction == Direction::Descending {
            keys.reverse();
        }
        if level <= Isolation::ReadCommitted {
            self.views += 1;
        }
        for key in keys {
            let content = found.remove(&key);
            let view = match mode {
                None => Some(self.views),
                // Nothing is locked where there is nothing: it was so at a moment of its own.
                Some(_) if content.is_none() && level <= Isolation::ReadCommitted => {
                    self.views += 1;
                    Some(self.views)
                }
                Some(_) => None,
            };
            let found = content.unwrap_or_default();
            self.now.operations.push(Operation::Read(Read { key, found, view, since, at }));
        }
        assert!(found.is_empty(), "{}: rows that nobody inserted: {found:?}", self.now.name);
        Ok(())
    }

    fn locking(&mut self, mode: Mode) -> Locking {
        let on_conflict = if self.random.chance(5) { OnConflict::Fail } else { OnConflict::Wait(LOCK_WAIT) };
        Locking { mode, gaps: self.session.isolation() >= Isolation::RepeatableRead, on_conflict }
    }

    fn rows(
        &mut self,
        range: &KeyRange,
        index: usize,
        mode: Option<Mode>,
        direction: Direction,
    ) -> Result<BTreeMap<Key, Vec<Value>>> {
        let table = self.session.use_table(self.shared.bank.accounts.id(), TableMode::Read)?.unwrap();
        let cursor = match mode {
            None => RowCursor::consistent(&table, index, range.clone(), direction, [0, 1, 2].into_iter()),
            Some(mode) => RowCursor::locking(&table, index, range, direction, self.locking(mode)),
        };
        self.collect(cursor)
    }

    fn row_at(&mut self, key: Key, mode: Mode) -> Result<BTreeMap<Key, Vec<Value>>> {
        let table = self.session.use_table(self.shared.bank.accounts.id(), TableMode::Read)?.unwrap();
        let locking = self.locking(mode);
        self.collect(RowCursor::locking_at(&table, 0, &key.to_be_bytes(), locking))
    }

    fn collect(&mut self, mut cursor: RowCursor<'_>) -> Result<BTreeMap<Key, Vec<Value>>> {
        let mut rows = BTreeMap::new();
        while cursor.next(&mut self.session)? {
            let (mut buffers, mut fields) = (Default::default(), Vec::new());
            cursor.read(&mut buffers, &mut fields)?;
            let (key, content) = content_of(&fields);
            assert!(rows.insert(key, content).is_none(), "{}: {key} is there twice", self.now.name);
        }
        Ok(rows)
    }

    // ---- writes -----------------------------------------------------------------------------------------------------

    /// Appends to a list; gives a register a value, or deletes it.
    fn write(&mut self, key: Key, deletes: bool) -> Result<()> {
        self.session.begin_statement();
        let deletes = deletes && self.shared.plan.kind == Kind::Registers && !self.shared.plan.are_filled;
        let value = (!deletes).then(|| self.shared.values.fetch_add(1, Ordering::SeqCst));
        // How a row that is in an insert's way is locked: as INSERT does, or as INSERT ... ON DUPLICATE KEY UPDATE.
        let conflict_mode = *self.random.pick(&[Mode::Shared, Mode::Exclusive]);
        let table = self.session.use_table(self.shared.bank.accounts.id(), TableMode::Write)?.unwrap();
        let Some(replaced) = self.change(&table, key, value, conflict_mode)? else { return Ok(()) };
        let at = self.tick();
        self.now.operations.push(Operation::Write(Write { key, value, replaced, at, undone_at: None }));
        Ok(())
    }

    /// Returns what was there; `None` if it was to be deleted and is not there.
    fn change(
        &mut self,
        table: &Table,
        key: Key,
        value: Option<Value>,
        conflict_mode: Mode,
    ) -> Result<Option<Vec<Value>>> {
        loop {
            let found = self.session.find_row(table, &key.to_be_bytes(), Mode::Exclusive)?;
            let before = match &found {
                None => Vec::new(),
                Some(row) => {
                    let (mut buffers, mut fields) = (Default::default(), Vec::new());
                    row.read(table, &mut buffers, &mut fields)?;
                    content_of(&fields).1
                }
            };
            let mut after = if self.shared.plan.kind == Kind::Lists { before.clone() } else { Vec::new() };
            after.extend(value);
            let bytes: Vec<u8> = after.iter().flat_map(|value| value.to_be_bytes()).collect();
            let balance = after.last().map_or(0, |&last| last as i64);
            let fields = [Field::Unsigned(key.into()), Field::Signed(balance), Field::Bytes(&bytes)];
            let change = match (&found, value) {
                (None, None) => return Ok(None),
                (None, Some(_)) => self.session.insert_row(table, &fields, conflict_mode)?,
                (Some(row), Some(_)) => self.session.update_row(table, row, &fields, conflict_mode)?,
                (Some(row), None) => self.session.delete_row(table, row)?,
            };
            if change == RowChange::Done {
                return Ok(Some(before));
            }
        }
    }
}

/// A key, and what it holds.
fn content_of(fields: &[Field<'_>]) -> (Key, Vec<Value>) {
    match *fields {
        [Field::Unsigned(key), Field::Signed(balance), Field::Bytes(bytes)] => {
            let content: Vec<Value> =
                bytes.chunks(8).map(|value| Value::from_be_bytes(value.try_into().expect("eight bytes"))).collect();
            assert_eq!(content.last().copied(), Some(balance as u64), "{key}: two parts of one row do not suit");
            (key as Key, content)
        }
        _ => panic!("{fields:?} is no row"),
    }
}
