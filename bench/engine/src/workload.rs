//! The transactions that are measured.

use std::collections::BTreeSet;
use std::error::Error;
use std::hint::black_box;
use std::iter::once;
use std::ops::AddAssign;

use clap::ValueEnum;
use meseta_engine::catalog::TableHandle;
use meseta_engine::counter::Series;
use meseta_engine::lock::{LockError, Mode, TableMode};
use meseta_engine::row::Value;
use meseta_engine::rows::{FoundRow, RowChange, RowCursor};
use meseta_engine::table::Table;
use meseta_engine::{Direction, EngineError, Session};
use meseta_storage::Durability;
use serde::Serialize;

use crate::Result;
use crate::rng::Rng;
use crate::sbtest::{C, K, Sbtest, Texts, range_from, set_key};

/// Rows that all threads update in `hot`. They are neighbours, as rows of small tables of counters are.
const HOT_ROWS: u64 = 10;
/// Point selects of a read/write transaction.
const POINT_SELECTS: usize = 10;
/// Rows of each of its ranges.
const RANGE: i32 = 100;

/// One kind of transaction, a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[value(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    /// The tree below: one row by its key, no transaction
    Lookups,
    /// One row by its key
    Reads,
    /// One row by its key gets another number, which is indexed
    UpdateIndex,
    /// One row by its key gets another text, which is not indexed
    UpdateNonIndex,
    /// sysbench's oltp_read_write
    ReadWrite,
    /// One of ten rows gets another text
    Hot,
    /// A new row behind all others
    Inserts,
}

impl Workload {
    /// The name in the table.
    pub fn label(self) -> &'static str {
        match self {
            Workload::Lookups => "lookups",
            Workload::Reads => "reads",
            Workload::UpdateIndex => "update_index",
            Workload::UpdateNonIndex => "update_non_index",
            Workload::ReadWrite => "read_write",
            Workload::Hot => "hot",
            Workload::Inserts => "inserts",
        }
    }

    /// Whether it changes anything.
    pub fn writes(self) -> bool {
        !matches!(self, Workload::Lookups | Workload::Reads)
    }
}

/// What was done more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retries {
    /// Transactions that were a deadlock's victim.
    pub deadlocks: u64,
    /// Transactions that waited too long for a lock.
    pub timeouts: u64,
    /// Rows that had changed between being found and being changed.
    pub stale: u64,
}

impl AddAssign for Retries {
    fn add_assign(&mut self, other: Self) {
        self.deadlocks += other.deadlocks;
        self.timeouts += other.timeouts;
        self.stale += other.stale;
    }
}

/// What an update sets.
#[derive(Clone, Copy)]
enum Assignment {
    /// `k = k + 1`
    Number,
    /// `c = '...'`
    Text,
}

/// What a range's rows are read for.
#[derive(Clone, Copy)]
enum Range {
    /// `select c`
    Simple,
    /// `select sum(k)`
    Sum,
    /// `select c ... order by c`
    Order,
    /// `select distinct c ... order by c`
    Distinct,
}

/// One thread's side of a workload: a session, random numbers, buffers.
pub struct Worker<'a> {
    sbtest: &'a Sbtest,
    workload: Workload,
    session: Session,
    rng: Rng,
    texts: Texts,
    key: Vec<u8>,
    value: Vec<u8>,
    retries: Retries,
}

impl<'a> Worker<'a> {
    /// A worker with a session and random numbers of its own.
    pub fn new(sbtest: &'a Sbtest, workload: Workload, durability: Durability, seed: u64) -> Result<Self> {
        let mut session = sbtest.engine.session()?;
        session.set_durability(durability);
        let mut rng = Rng::new(seed);
        let texts = Texts::new(&mut rng);
        let retries = Retries::default();
        Ok(Self { sbtest, workload, session, rng, texts, key: Vec::new(), value: Vec::new(), retries })
    }

    /// What it did more than once.
    pub fn retries(&self) -> Retries {
        self.retries
    }

    /// Does one transaction, as often as it takes.
    pub fn step(&mut self) -> Result<()> {
        while let Err(error) = self.attempt() {
            self.session.roll_back()?;
            match error.downcast_ref() {
                Some(EngineError::Lock(LockError::Deadlock) | EngineError::RolledBack) => self.retries.deadlocks += 1,
                Some(EngineError::Lock(LockError::Timeout)) => self.retries.timeouts += 1,
                _ => return Err(error),
            }
        }
        Ok(())
    }

    fn attempt(&mut self) -> Result<()> {
        let id = self.sbtest.random_id(&mut self.rng);
        match self.workload {
            Workload::Lookups => return self.look_up(id),
            Workload::Reads => self.select(id, false)?,
            Workload::UpdateIndex => self.update(id, Assignment::Number)?,
            Workload::UpdateNonIndex => self.update(id, Assignment::Text)?,
            Workload::ReadWrite => self.read_and_write()?,
            Workload::Hot => {
                let id = self.rng.below(HOT_ROWS) as i32 + 1;
                self.update(id, Assignment::Text)?;
            }
            Workload::Inserts => self.insert_at_end()?,
        }
        Ok(self.session.commit()?)
    }

    /// What a read costs without a transaction: the same bytes out of the same tree.
    fn look_up(&mut self, id: i32) -> Result<()> {
        set_key(id, &mut self.key);
        let is_there = self.sbtest.table.rows().index.tree.get_into(&self.key, &mut self.value)?;
        black_box(&self.value);
        if is_there { Ok(()) } else { Err(missing(id)) }
    }

    /// `select c from sbtest where id = ?`. The column is taken out of the row only if it is `shown`: so that a read is
    /// compared with a lookup, which does not do that.
    fn select(&mut self, id: i32, shown: bool) -> Result<()> {
        let table = enter(&mut self.session, &self.sbtest.table, TableMode::Read)?;
        set_key(id, &mut self.key);
        if self.session.get(&table, &self.key, &[C], &mut self.value, false)?.is_none() {
            return Err(missing(id));
        }
        if shown {
            let (mut buffers, mut values) = (Default::default(), Vec::new());
            let layout = &table.rows().layout;
            layout.read(&self.key, &self.value, &mut buffers, &mut values).map_err(|problem| problem.to_string())?;
            black_box(values[usize::from(C)]);
        }
        black_box(&self.value);
        Ok(())
    }

    /// `select ... from sbtest where id between ? and ? + 99`
    fn select_range(&mut self, from: i32, range: Range) -> Result<()> {
        let table = enter(&mut self.session, &self.sbtest.table, TableMode::Read)?;
        let column = if matches!(range, Range::Sum) { K } else { C };
        let keys = range_from(from, RANGE);
        let mut cursor = RowCursor::consistent(&table, 0, keys, Direction::Ascending, once(column));
        let (mut count, mut sum, mut texts) = (0, 0, Vec::new());
        while cursor.next(&mut self.session)? {
            let (mut buffers, mut values) = (Default::default(), Vec::new());
            cursor.read(&mut buffers, &mut values)?;
            match (range, values[usize::from(column)]) {
                (Range::Sum, Value::Signed(k)) => sum += k,
                (_, Value::Bytes(c)) => texts.push(c.to_vec()),
                (_, other) => return Err(format!("{other:?} is not what the column holds").into()),
            }
            count += 1;
        }
        match range {
            Range::Simple | Range::Sum => {}
            Range::Order => texts.sort_unstable(),
            Range::Distinct => texts = texts.into_iter().collect::<BTreeSet<_>>().into_iter().collect(),
        }
        black_box((sum, texts));
        if count == RANGE { Ok(()) } else { Err(format!("{count} rows from {from} on, and not {RANGE}").into()) }
    }

    /// `update sbtest set ... where id = ?`
    fn update(&mut self, id: i32, assignment: Assignment) -> Result<()> {
        let table = enter(&mut self.session, &self.sbtest.table, TableMode::Write)?;
        self.texts.renew(&mut self.rng);
        loop {
            let row = self.find(&table, id)?;
            let (mut buffers, mut values) = (Default::default(), Vec::new());
            row.read(&table, &mut buffers, &mut values)?;
            match assignment {
                Assignment::Number => {
                    if let Value::Signed(k) = &mut values[usize::from(K)] {
                        *k = (*k as i32).wrapping_add(1).into();
                    }
                }
                Assignment::Text => values[usize::from(C)] = Value::Bytes(self.texts.c()),
            }
            let change = self.session.update_row(&table, &row, &values, Mode::Shared)?;
            if self.is_done(id, change)? {
                return Ok(());
            }
        }
    }

    /// `delete from sbtest where id = ?`
    fn delete(&mut self, id: i32) -> Result<()> {
        let table = enter(&mut self.session, &self.sbtest.table, TableMode::Write)?;
        loop {
            let row = self.find(&table, id)?;
            let change = self.session.delete_row(&table, &row)?;
            if self.is_done(id, change)? {
                return Ok(());
            }
        }
    }

    /// `insert into sbtest values (?, ...)`
    fn insert(&mut self, id: i32) -> Result<()> {
        let table = enter(&mut self.session, &self.sbtest.table, TableMode::Write)?;
        self.insert_into(&table, id)
    }

    fn insert_into(&mut self, table: &Table, id: i32) -> Result<()> {
        self.texts.renew(&mut self.rng);
        let k = self.sbtest.random_id(&mut self.rng);
        match self.session.insert_row(table, &self.texts.row(id, k), Mode::Shared)? {
            RowChange::Done => Ok(()),
            other => Err(format!("row {id} is not inserted: {other:?}").into()),
        }
    }

    fn insert_at_end(&mut self) -> Result<()> {
        let table = enter(&mut self.session, &self.sbtest.table, TableMode::Write)?;
        let series = Series { offset: 1, step: 1, max: i32::MAX as u64 };
        let id = self.session.take_auto_increment(&table, series, 1)?.ok_or("all ids are used up")?;
        self.insert_into(&table, id as i32)
    }

    /// sysbench's oltp_read_write, with the numbers of each statement that it has by default.
    fn read_and_write(&mut self) -> Result<()> {
        for _ in 0..POINT_SELECTS {
            let id = self.sbtest.random_id(&mut self.rng);
            self.select(id, true)?;
        }
        for range in [Range::Simple, Range::Sum, Range::Order, Range::Distinct] {
            let last = self.sbtest.rows - RANGE as u32;
            let from = self.rng.below(last.into()) as i32 + 1;
            self.select_range(from, range)?;
        }
        let [number, text, anew] = [(); 3].map(|()| self.sbtest.random_id(&mut self.rng));
        self.update(number, Assignment::Number)?;
        self.update(text, Assignment::Text)?;
        self.delete(anew)?;
        self.insert(anew)
    }

    fn find(&mut self, table: &Table, id: i32) -> Result<FoundRow> {
        set_key(id, &mut self.key);
        self.session.find_row(table, &self.key, Mode::Exclusive)?.ok_or_else(|| missing(id))
    }

    /// Whether a row was changed. If not, it was not what it had been found to be any more: it is looked for again.
    fn is_done(&mut self, id: i32, change: RowChange) -> Result<bool> {
        match change {
            RowChange::Done => Ok(true),
            RowChange::Stale => {
                self.retries.stale += 1;
                Ok(false)
            }
            RowChange::Conflict(conflict) => Err(format!("row {id} is not changed: {conflict:?}").into()),
        }
    }
}

/// A statement begins.
fn enter(session: &mut Session, table: &Table, mode: TableMode) -> Result<TableHandle> {
    session.begin_statement();
    session.use_table(table.id(), mode)?.ok_or_else(|| "the table is gone".into())
}

fn missing(id: i32) -> Box<dyn Error + Send + Sync> {
    format!("row {id} was loaded and is not found").into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::{env, fs, process};

    use meseta_engine::row::KeyRange;
    use meseta_storage::StoreOptions;

    use super::*;
    use crate::sbtest::ID;

    /// Ids and numbers, as one of the indexes tells them.
    fn all(sbtest: &Sbtest, index: u16) -> BTreeMap<i64, i64> {
        let mut session = sbtest.engine.session().unwrap();
        let columns = [ID, K].into_iter();
        let mut cursor =
            RowCursor::consistent(&sbtest.table, usize::from(index), KeyRange::ALL, Direction::Ascending, columns);
        let mut all = BTreeMap::new();
        while cursor.next(&mut session).unwrap() {
            let (mut buffers, mut values) = (Default::default(), Vec::new());
            cursor.read(&mut buffers, &mut values).unwrap();
            let (Value::Signed(id), Value::Signed(k)) = (values[0], values[1]) else { panic!("{values:?}") };
            assert_eq!(all.insert(id, k), None, "row {id} is there twice");
        }
        all
    }

    #[test]
    fn all_workloads_leave_a_table_whose_indexes_agree() {
        let dir = env::temp_dir().join(format!("meseta-bench-engine-{}", process::id()));
        let sbtest = Sbtest::load(&dir, 1000, StoreOptions::default()).unwrap();
        assert_eq!(all(&sbtest, 0), all(&sbtest, K), "as it was loaded");
        assert!(all(&sbtest, 0).keys().copied().eq(1..=1000));
        for &workload in Workload::value_variants() {
            let mut worker = Worker::new(&sbtest, workload, Durability::Lazy, 1).unwrap();
            (0..50).for_each(|_| worker.step().unwrap());
            assert_eq!(worker.retries(), Retries::default(), "nobody is in its way");
        }
        assert_eq!(all(&sbtest, 0), all(&sbtest, K), "as the workloads have left it");
        assert!(all(&sbtest, 0).keys().copied().eq(1..=1050), "the inserts come behind the last row");
        sbtest.close().unwrap();
        fs::remove_dir_all(&dir).unwrap();
    }
}
