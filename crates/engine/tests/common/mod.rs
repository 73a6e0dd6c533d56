//! What the tests of this folder share: a table of accounts with a secondary index, on a simulated disk.
//!
//! `create table accounts (number int unsigned primary key, balance bigint, padding varbinary, key by_balance (balance))`

#![allow(dead_code)] // each test program uses its own part

use std::collections::BTreeMap;
use std::sync::Arc;

use meseta_engine::ids::TableId;
use meseta_engine::lock::{Mode, TableMode};
use meseta_engine::row::{Column, ColumnType, IntegerWidth, KeyRange, Value};
use meseta_engine::rows::{Conflict, RowChange, RowCursor, RowRun};
use meseta_engine::table::{
    ColumnDefinition, ForeignKeyDefinition, IndexDefinition, PartDefinition, ReferentialAction, Table, TableDefinition,
};
use meseta_engine::{Direction, Engine, EngineOptions, Result, Session};
use meseta_sim::SimDisk;
use meseta_storage::{Store, StoreOptions};

/// The number of the index by balance.
pub const BY_BALANCE: usize = 1;

/// An engine on a simulated disk, with the table.
pub struct Bank {
    pub engine: Engine,
    pub accounts: Arc<Table>,
    /// Bytes of each account's padding.
    pub padding: usize,
}

/// A foreign key of one column, to its parent's first one.
pub fn foreign_key(
    name: &str,
    column: u16,
    parent: TableId,
    on_delete: ReferentialAction,
    on_update: ReferentialAction,
) -> ForeignKeyDefinition {
    let (name, columns) = (name.to_owned(), vec![column]);
    ForeignKeyDefinition { name, columns, parent, parent_columns: vec![0], on_delete, on_update }
}

pub fn options() -> StoreOptions {
    StoreOptions {
        memory_bytes: 8 << 20,
        log_bytes: 8 << 20,
        log_buffer_bytes: 512 << 10,
        max_data_bytes: 256 << 20,
        node_capacity: 2048,
        ..StoreOptions::default()
    }
}

pub fn engine_options() -> EngineOptions {
    EngineOptions { slots: 4, lock_shards: 8, ..EngineOptions::default() }
}

pub fn open_engine(disk: &SimDisk, options: StoreOptions) -> Result<Engine> {
    Engine::open(Store::open_on(Arc::new(disk.clone()), options)?, engine_options())
}

/// Inserts rows in runs: how many came before the first that another is in the way of, and that other.
pub fn insert_in_runs(
    session: &mut Session,
    table: &Table,
    rows: &[Vec<Value<'_>>],
) -> Result<(usize, Option<Conflict>)> {
    let mut run = RowRun::default();
    let done = gather_and_insert(session, table, rows, &mut run)?;
    assert!(run.is_empty(), "nothing is inserted twice");
    session.end_run(table, &mut run)?;
    Ok(done)
}

fn gather_and_insert(
    session: &mut Session,
    table: &Table,
    rows: &[Vec<Value<'_>>],
    run: &mut RowRun,
) -> Result<(usize, Option<Conflict>)> {
    let mut inserted = 0;
    for (at, row) in rows.iter().enumerate() {
        if !session.gather_row(table, row, run)? {
            if let Some((ahead, conflict)) = session.insert_run(table, run, Mode::Shared)? {
                return Ok((inserted + ahead, Some(conflict)));
            }
            inserted = at;
            assert!(session.gather_row(table, row, run)?, "there is room in an empty run");
        }
    }
    Ok(match session.insert_run(table, run, Mode::Shared)? {
        Some((ahead, conflict)) => (inserted + ahead, Some(conflict)),
        None => (rows.len(), None),
    })
}

fn definition() -> TableDefinition {
    let columns = vec![
        ColumnDefinition::new("number", Column::new(ColumnType::Unsigned(IntegerWidth::Four))),
        ColumnDefinition::new("balance", Column::new(ColumnType::Signed(IntegerWidth::Eight))),
        ColumnDefinition::new("padding", Column::new(ColumnType::Variable { max_len: 1 << 20 })),
    ];
    TableDefinition::new("bank", "accounts", columns).with_primary_key(&[0]).with_index(IndexDefinition::new(
        "by_balance",
        false,
        vec![PartDefinition::new(1)],
    ))
}

impl Bank {
    /// A new bank, or the one that is there, which must open.
    pub fn open(disk: &SimDisk, options: StoreOptions) -> Bank {
        Self::try_open(disk, options).unwrap()
    }

    pub fn try_open(disk: &SimDisk, options: StoreOptions) -> Result<Bank> {
        let engine = open_engine(disk, options)?;
        let mut session = engine.session()?;
        if !session.schema().databases.contains_key("bank") {
            session.create_database("bank", &[])?;
        }
        if session.schema().table_named("bank", "accounts").is_err() {
            session.create_table(definition())?;
        }
        let accounts = Arc::clone(session.schema().table_named("bank", "accounts").unwrap());
        drop(session);
        Ok(Bank { engine, accounts, padding: 20 })
    }

    /// Gives an account another balance, opens it, or closes it. Returns what it had; `None` if it was not there.
    pub fn set(
        &self,
        session: &mut Session,
        number: u32,
        decide: impl Fn(Option<i64>) -> Option<i64>,
    ) -> Result<Option<i64>> {
        let table = session.use_table(self.accounts.id(), TableMode::Write)?.unwrap();
        let padding = vec![b'.'; self.padding];
        loop {
            let found = session.find_row(&table, &number.to_be_bytes(), Mode::Exclusive)?;
            let before = match &found {
                None => None,
                Some(row) => {
                    let (mut buffers, mut values) = (Default::default(), Vec::new());
                    row.read(&table, &mut buffers, &mut values)?;
                    Some(account(&values).1)
                }
            };
            let after = decide(before);
            let values = |balance| [Value::Unsigned(number.into()), Value::Signed(balance), Value::Bytes(&padding)];
            let change = match (&found, after) {
                (None, None) => return Ok(None),
                (Some(_), Some(balance)) if before == Some(balance) => return Ok(before),
                (None, Some(balance)) => session.insert_row(&table, &values(balance), Mode::Shared)?,
                (Some(row), Some(balance)) => session.update_row(&table, row, &values(balance), Mode::Shared)?,
                (Some(row), None) => session.delete_row(&table, row)?,
            };
            if change == RowChange::Done {
                return Ok(before);
            }
        }
    }

    pub fn put(&self, session: &mut Session, number: u32, balance: i64) -> Result<Option<i64>> {
        self.set(session, number, |_| Some(balance))
    }

    pub fn close_account(&self, session: &mut Session, number: u32) -> Result<Option<i64>> {
        self.set(session, number, |_| None)
    }

    /// The balance that the statement's snapshot sees.
    pub fn balance(&self, session: &mut Session, number: u32) -> Option<i64> {
        let range = KeyRange::beginning_with(number.to_be_bytes().to_vec());
        self.select(session, 0, range).first().map(|&(_, balance)| balance)
    }

    /// What the statement's snapshot sees, in the order of an index.
    pub fn select(&self, session: &mut Session, index: usize, range: KeyRange) -> Vec<(u32, i64)> {
        let mut rows = Vec::new();
        let mut cursor = RowCursor::consistent(&self.accounts, index, range, Direction::Ascending, [0, 1].into_iter());
        while cursor.next(session).unwrap() {
            let (mut buffers, mut values) = (Default::default(), Vec::new());
            cursor.read(&mut buffers, &mut values).unwrap();
            rows.push(account(&values));
        }
        rows
    }

    /// All accounts that the statement's snapshot sees.
    pub fn all(&self, session: &mut Session) -> BTreeMap<u32, i64> {
        self.select(session, 0, KeyRange::ALL).into_iter().collect()
    }

    /// The same, from the secondary index alone.
    pub fn all_by_balance(&self, session: &mut Session) -> BTreeMap<u32, i64> {
        let rows = self.select(session, BY_BALANCE, KeyRange::ALL);
        let all: BTreeMap<u32, i64> = rows.iter().copied().collect();
        assert_eq!(all.len(), rows.len(), "an account is there twice: {rows:?}");
        all
    }

    /// Entries of both trees, tombstones too.
    pub fn entries(&self) -> [usize; 2] {
        [0, 1].map(|index| {
            let mut count = 0;
            let tree = &self.accounts.indexes[index].index.tree;
            tree.scan(&[], |_, _| {
                count += 1;
                true
            })
            .unwrap();
            count
        })
    }
}

/// The number and the balance of an account.
pub fn account(values: &[Value<'_>]) -> (u32, i64) {
    match *values {
        [Value::Unsigned(number), Value::Signed(balance), _] => (number as u32, balance),
        _ => panic!("{values:?} is no account"),
    }
}
