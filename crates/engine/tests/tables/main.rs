//! Tables as a layer above sees them: unique indexes, foreign keys, numbers that count by themselves, definitions that
//! come and go, and what all of that looks like after the power was lost.

#[path = "../common/mod.rs"]
mod common;
mod definitions;
mod references;
mod rows;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::*;
use meseta_engine::catalog::{CatalogError, TableHandle};
use meseta_engine::counter::Series;
use meseta_engine::ids::TableId;
use meseta_engine::lock::{LockError, Mode, OnConflict, TableMode};
use meseta_engine::row::{Column, ColumnType, IntegerWidth, KeyRange, Value};
use meseta_engine::rows::{FoundRow, RowChange, RowCursor, TableProblem};
use meseta_engine::table::{
    ColumnDefinition, IndexDefinition, OwnedValue, PartDefinition, ReferentialAction, TableDefinition,
};
use meseta_engine::{Direction, Engine, EngineError, Isolation, Locking, Result, Session};
use meseta_sim::{SeededRandom, SimDisk};

const INT: Column = Column::new(ColumnType::Signed(IntegerWidth::Four));
const TEXT: Column = Column::new(ColumnType::Variable { max_len: 200 });

fn engine(disk: &SimDisk) -> (Engine, Session) {
    let engine = open_engine(disk, options()).unwrap();
    let mut session = engine.session().unwrap();
    if !session.schema().databases.contains_key("d") {
        session.create_database("d", &[]).unwrap();
    }
    (engine, session)
}

fn column(name: &str, content: Column) -> ColumnDefinition {
    ColumnDefinition::new(name, content)
}

fn index(name: &str, unique: bool, columns: &[u16]) -> IndexDefinition {
    IndexDefinition::new(name, unique, columns.iter().map(|&column| PartDefinition::new(column)).collect())
}

/// `t (id int primary key, u int null unique, s varchar(200))`
fn t() -> TableDefinition {
    let columns = vec![column("id", INT), column("u", INT.or_null()), column("s", TEXT)];
    TableDefinition::new("d", "t", columns).with_primary_key(&[0]).with_index(index("u", true, &[1]))
}

/// `parent (id primary key)`, `child (id primary key, parent_id null -> parent)`
fn family(session: &mut Session, on_delete: ReferentialAction, on_update: ReferentialAction) -> (TableId, TableId) {
    let parent = TableDefinition::new("d", "parent", vec![column("id", INT)]).with_primary_key(&[0]);
    let parent = session.create_table(parent).unwrap();
    let columns = vec![column("id", INT), column("parent_id", INT.or_null())];
    let mut child =
        TableDefinition::new("d", "child", columns).with_primary_key(&[0]).with_index(index("p", false, &[1]));
    child.foreign_keys.push(foreign_key("fk", 1, parent, on_delete, on_update));
    let child = session.create_table(child).unwrap();
    (parent, child)
}

fn used(session: &mut Session, id: TableId) -> TableHandle {
    session.use_table(id, TableMode::Write).unwrap().unwrap()
}

fn number(value: impl Into<Option<i64>>) -> Value<'static> {
    value.into().map_or(Value::Null, Value::Signed)
}

fn insert(session: &mut Session, table: TableId, row: &[Value<'_>]) -> Result<RowChange> {
    let table = used(session, table);
    session.insert_row(&table, row, Mode::Shared)
}

#[track_caller]
fn inserts(session: &mut Session, table: TableId, row: &[Value<'_>]) {
    assert_eq!(insert(session, table, row).unwrap(), RowChange::Done);
}

fn locking(session: &Session) -> Locking {
    let gaps = session.isolation() >= Isolation::RepeatableRead;
    Locking { mode: Mode::Exclusive, gaps, on_conflict: OnConflict::wait_seconds(10) }
}

/// All rows for which `matches` says so, locked.
fn find(session: &mut Session, table: &TableHandle, matches: impl Fn(&[Value<'_>]) -> bool) -> Vec<FoundRow> {
    let mut cursor = RowCursor::locking(table, 0, &KeyRange::ALL, Direction::Ascending, locking(session));
    let mut found = Vec::new();
    while cursor.next(session).unwrap() {
        let (mut buffers, mut values) = (Default::default(), Vec::new());
        cursor.read(&mut buffers, &mut values).unwrap();
        if matches(&values) {
            found.push(cursor.row().clone());
        }
    }
    found
}

fn delete(session: &mut Session, table: TableId, id: i64) -> Result<()> {
    let table = used(session, table);
    for row in find(session, &table, |values| values[0] == number(id)) {
        assert_eq!(session.delete_row(&table, &row)?, RowChange::Done);
    }
    Ok(())
}

fn update(session: &mut Session, table: TableId, id: i64, row: &[Value<'_>]) -> Result<RowChange> {
    let table = used(session, table);
    let found = find(session, &table, |values| values[0] == number(id));
    session.update_row(&table, &found[0], row, Mode::Shared)
}

/// All rows in the order of an index, as text.
fn rows_by(session: &mut Session, table: TableId, index: usize, direction: Direction) -> Vec<String> {
    let table = session.use_table(table, TableMode::Read).unwrap().unwrap();
    let columns = 0..table.definition.columns.len() as u16;
    let mut cursor = RowCursor::consistent(&table, index, KeyRange::ALL, direction, columns);
    let mut rows = Vec::new();
    while cursor.next(session).unwrap() {
        let (mut buffers, mut values) = (Default::default(), Vec::new());
        cursor.read(&mut buffers, &mut values).unwrap();
        let text = values.iter().map(|value| match value {
            Value::Null => "-".to_owned(),
            Value::Signed(number) => number.to_string(),
            Value::Unsigned(number) => number.to_string(),
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => format!("{other:?}"),
        });
        rows.push(text.collect::<Vec<_>>().join(" "));
    }
    rows
}

fn rows(session: &mut Session, table: TableId) -> Vec<String> {
    rows_by(session, table, 0, Direction::Ascending)
}

/// Every index of every table has the same rows, and storage finds nothing wrong.
#[track_caller]
fn assert_sound(engine: &Engine) {
    let mut session = engine.session().unwrap();
    let tables: Vec<_> = session.schema().tables().cloned().collect();
    for table in tables {
        let mut all = rows(&mut session, table.id());
        all.sort_unstable();
        for index in 1..table.indexes.len() {
            let through = rows_by(&mut session, table.id(), index, Direction::Ascending);
            let mut backwards = rows_by(&mut session, table.id(), index, Direction::Descending);
            backwards.reverse();
            assert_eq!(through, backwards, "{} both ways", table.definition.indexes[index].name);
            let mut through = through;
            through.sort_unstable();
            assert_eq!(through, all, "{}", table.definition.indexes[index].name);
        }
    }
    session.commit().unwrap();
    engine.keep_house().unwrap();
    let report = engine.check().unwrap();
    assert!(report.is_sound(), "{report:?}");
}
