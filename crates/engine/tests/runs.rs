//! Rows that are inserted in runs, against the same rows inserted one by one: the same conflicts, the same rows, the same
//! numbers that count by themselves, and the same that is left of them when a statement or a transaction is rolled back.
//!
//! Sequences follow from seeds, from 1 on; there are 60, or `MESETA_RUNS_RUNS`.

mod common;

use common::*;
use meseta_engine::catalog::TableHandle;
use meseta_engine::counter::Series;
use meseta_engine::ids::TableId;
use meseta_engine::lock::{Mode, OnConflict, TableMode};
use meseta_engine::row::{Column, ColumnType, IntegerWidth, KeyRange, Value};
use meseta_engine::rows::{Conflict, RowChange, RowCursor, RowRun};
use meseta_engine::table::{ColumnDefinition, IndexDefinition, PartDefinition, ReferentialAction, TableDefinition};
use meseta_engine::{Direction, Engine, Locking, Session};
use meseta_sim::{SeededRandom, SimDisk};

/// `(id int auto_increment primary key, u int null unique, k int, text varchar, key (k))`
fn definition(name: &str) -> TableDefinition {
    let number = Column::new(ColumnType::Signed(IntegerWidth::Four));
    let columns = vec![
        ColumnDefinition::new("id", number),
        ColumnDefinition::new("u", number.or_null()),
        ColumnDefinition::new("k", number),
        ColumnDefinition::new("text", Column::new(ColumnType::Variable { max_len: 9000 })),
    ];
    let mut definition = TableDefinition::new("d", name, columns)
        .with_primary_key(&[0])
        .with_index(IndexDefinition::new("u", true, vec![PartDefinition::new(1)]))
        .with_index(IndexDefinition::new("k", false, vec![PartDefinition::new(2)]));
    definition.auto_increment = Some(0);
    definition
}

fn open() -> (Engine, Session) {
    let engine = open_engine(&SimDisk::new(1), options()).unwrap();
    let mut session = engine.session().unwrap();
    session.create_database("d", &[]).unwrap();
    (engine, session)
}

fn used(session: &mut Session, table: TableId) -> TableHandle {
    session.use_table(table, TableMode::Write).unwrap().unwrap()
}

/// A row: its number, a value that is unique or NULL, one that is not, and the length of its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Row(i64, Option<i64>, i64, usize);

static TEXT: [u8; 9000] = [b'x'; 9000];

impl Row {
    fn values(self) -> Vec<Value<'static>> {
        let Row(id, u, k, len) = self;
        vec![Value::Signed(id), u.map_or(Value::Null, Value::Signed), Value::Signed(k), Value::Bytes(&TEXT[..len])]
    }

    fn random(random: &mut SeededRandom, id: i64) -> Self {
        let u = (random.below(3) == 0).then(|| random.below(5000) as i64);
        let len = if random.below(300) == 0 { 8000 } else { random.below(60) as usize };
        Row(id, u, random.below(50) as i64, len)
    }
}

fn select(session: &mut Session, table: TableId, index: usize) -> Vec<Row> {
    let table = session.use_table(table, TableMode::Read).unwrap().unwrap();
    let mut cursor = RowCursor::consistent(&table, index, KeyRange::ALL, Direction::Ascending, 0..4);
    let mut rows = Vec::new();
    while cursor.next(session).unwrap() {
        let (mut buffers, mut values) = (Default::default(), Vec::new());
        cursor.read(&mut buffers, &mut values).unwrap();
        rows.push(match values[..] {
            [Value::Signed(id), u, Value::Signed(k), Value::Bytes(text)] => {
                Row(id, if let Value::Signed(u) = u { Some(u) } else { None }, k, text.len())
            }
            _ => panic!("{values:?} is no row"),
        });
    }
    rows
}

/// Locks all entries of an index, and the gaps between them.
fn lock_all(session: &mut Session, table: TableId, index: usize) {
    let table = used(session, table);
    let locking = Locking { mode: Mode::Exclusive, gaps: true, on_conflict: OnConflict::wait_seconds(10) };
    let mut cursor = RowCursor::locking(&table, index, &KeyRange::ALL, Direction::Ascending, locking);
    while cursor.next(session).unwrap() {}
}

fn insert_one_by_one(session: &mut Session, table: TableId, rows: &[Vec<Value<'_>>]) -> (usize, Option<Conflict>) {
    let table = used(session, table);
    for (at, row) in rows.iter().enumerate() {
        match session.insert_row(&table, row, Mode::Shared).unwrap() {
            RowChange::Done => {}
            RowChange::Conflict(conflict) => return (at, Some(conflict)),
            RowChange::Stale => panic!("an insert is never stale"),
        }
    }
    (rows.len(), None)
}

fn delete(session: &mut Session, table: TableId, id: i64) {
    let table = used(session, table);
    let key = (id as i32 ^ i32::MIN).to_be_bytes();
    if let Some(found) = session.find_row(&table, &key, Mode::Exclusive).unwrap() {
        assert_eq!(session.delete_row(&table, &found).unwrap(), RowChange::Done);
    }
}

/// The next number that the table's column gives.
fn next_number(session: &mut Session, table: TableId) -> Option<u64> {
    let table = used(session, table);
    session.take_auto_increment(&table, Series { offset: 1, step: 1, max: 1 << 30 }, 1).unwrap()
}

fn compare(engine: &Engine, session: &mut Session, [runs, singly]: [TableId; 2]) {
    for session in [session, &mut engine.session().unwrap()] {
        let rows = select(session, singly, 0);
        assert_eq!(select(session, runs, 0), rows);
        for table in [runs, singly] {
            for index in [1, 2] {
                let mut through = select(session, table, index);
                through.sort_unstable_by_key(|row| row.0);
                assert_eq!(through, rows, "through index {index}");
            }
        }
    }
}

fn compare_a_sequence(seed: u64) {
    let mut random = SeededRandom::new(seed);
    let (engine, mut session) = open();
    let tables = ["runs", "singly"].map(|name| session.create_table(definition(name)).unwrap());
    for _ in 0..40 {
        match random.below(10) {
            0..6 => {
                let from = random.below(1500) as i64;
                let mut rows: Vec<Row> =
                    (from..).take(random.below(200) as usize).map(|id| Row::random(&mut random, id)).collect();
                match random.below(6) {
                    0 => rows.reverse(),
                    1 if !rows.is_empty() => rows.push(*random.pick(&rows)),
                    _ => {}
                }
                let before = session.savepoint();
                let given: Vec<_> = rows.iter().map(|row| row.values()).collect();
                let singly = insert_one_by_one(&mut session, tables[1], &given);
                let table = used(&mut session, tables[0]);
                let in_runs = insert_in_runs(&mut session, &table, &given).unwrap();
                assert_eq!(in_runs, singly);
                let number = next_number(&mut session, tables[1]);
                assert_eq!(next_number(&mut session, tables[0]), number, "the column counts on from the same number");
                compare(&engine, &mut session, tables);
                if singly.1.is_some() && random.below(4) > 0 || random.below(8) == 0 {
                    session.roll_back_to(before).unwrap();
                }
            }
            6..8 => {
                for _ in 0..random.below(80) {
                    let id = random.below(1600) as i64;
                    tables.iter().for_each(|&table| delete(&mut session, table, id));
                }
            }
            8 => session.commit().unwrap(),
            _ => session.roll_back().unwrap(),
        }
        compare(&engine, &mut session, tables);
    }
    session.commit().unwrap();
    drop(session);
    engine.keep_house().unwrap();
    compare(&engine, &mut engine.session().unwrap(), tables);
    assert!(engine.check().unwrap().is_sound());
}

#[test]
fn rows_in_runs_are_as_if_inserted_one_by_one() {
    let runs = std::env::var("MESETA_RUNS_RUNS").ok().and_then(|value| value.parse().ok()).unwrap_or(60);
    (1..=runs).for_each(compare_a_sequence);
}

#[test]
fn a_snapshot_does_not_see_a_run_and_sees_what_was_under_it() {
    let (engine, mut session) = open();
    let t = session.create_table(definition("t")).unwrap();
    let rows: Vec<_> = (1..300).map(|id| Row(id, None, id % 7, 10).values()).collect();
    let table = used(&mut session, t);
    assert_eq!(insert_in_runs(&mut session, &table, &rows[..20]).unwrap(), (20, None));
    session.commit().unwrap();
    for id in 5..15 {
        delete(&mut session, t, id);
    }
    session.commit().unwrap();
    let mut reader = engine.session().unwrap();
    let before = select(&mut reader, t, 0);
    assert_eq!(before.len(), 10);
    // Where tombstones are, rows go in one by one; behind them together.
    let table = used(&mut session, t);
    assert_eq!(insert_in_runs(&mut session, &table, &rows[4..14]).unwrap(), (10, None));
    assert_eq!(insert_in_runs(&mut session, &table, &rows[20..]).unwrap(), (279, None));
    for index in 0..3 {
        assert_eq!(select(&mut reader, t, index).len(), before.len());
    }
    session.commit().unwrap();
    engine.keep_house().unwrap();
    assert_eq!(select(&mut reader, t, 0), before, "nor once it is committed");
    reader.commit().unwrap();
    assert_eq!(select(&mut reader, t, 2).len(), 299);
}

#[test]
fn a_run_waits_for_a_gap_that_somebody_holds() {
    let (engine, mut session) = open();
    let t = session.create_table(definition("t")).unwrap();
    let rows: Vec<_> = (1..60).map(|id| Row(id, None, id, 10).values()).collect();
    let table = used(&mut session, t);
    assert_eq!(insert_in_runs(&mut session, &table, &rows[..10]).unwrap(), (10, None));
    session.commit().unwrap();
    let mut holder = engine.session().unwrap();
    lock_all(&mut holder, t, 0);
    session.set_lock_wait(std::time::Duration::from_millis(1));
    let table = used(&mut session, t);
    let refused = insert_in_runs(&mut session, &table, &rows[10..]).unwrap_err();
    assert!(refused.to_string().contains("wait"), "{refused}");
    session.roll_back().unwrap();
    holder.commit().unwrap();
    let table = used(&mut session, t);
    assert_eq!(insert_in_runs(&mut session, &table, &rows[10..]).unwrap(), (49, None));
    assert_eq!(select(&mut session, t, 1).len(), 59);
}

#[test]
fn an_entry_that_was_put_off_waits_for_a_gap_that_somebody_holds() {
    let (engine, mut session) = open();
    let t = session.create_table(definition("t")).unwrap();
    let rows: Vec<_> = (1..400).map(|id| Row(id, None, id % 7, 10).values()).collect();
    let table = used(&mut session, t);
    assert_eq!(insert_in_runs(&mut session, &table, &rows[..10]).unwrap(), (10, None));
    session.commit().unwrap();
    // All entries of the index, and the gaps between them: no row whose entry would come there.
    let mut holder = engine.session().unwrap();
    lock_all(&mut holder, t, 2);
    session.set_lock_wait(std::time::Duration::from_millis(1));
    let table = used(&mut session, t);
    let mut run = RowRun::default();
    for row in &rows[10..14] {
        assert!(session.gather_row(&table, row, &mut run).unwrap());
    }
    assert_eq!(
        session.insert_run(&table, &mut run, Mode::Shared).unwrap(),
        None,
        "rows are there before their entries"
    );
    let refused = session.end_run(&table, &mut run).unwrap_err();
    assert!(refused.to_string().contains("wait"), "{refused}");
    session.roll_back().unwrap();
    assert!(engine.check().unwrap().is_sound());
    // Its own locks are in nobody's way: each entry goes by itself.
    holder.commit().unwrap();
    lock_all(&mut session, t, 2);
    let table = used(&mut session, t);
    assert_eq!(insert_in_runs(&mut session, &table, &rows[10..]).unwrap(), (389, None));
    let before = session.savepoint();
    let more: Vec<_> = (400..600).map(|id| Row(id, None, id % 7, 10).values()).collect();
    assert_eq!(insert_in_runs(&mut session, &table, &more).unwrap(), (200, None));
    assert_eq!(select(&mut session, t, 2).len(), 599);
    session.roll_back_to(before).unwrap();
    session.commit().unwrap();
    assert_eq!(select(&mut session, t, 2).len(), 399);
    assert_eq!(select(&mut session, t, 0).len(), 399);
    drop(session);
    engine.keep_house().unwrap();
    assert!(engine.check().unwrap().is_sound());
}

#[test]
fn what_was_put_off_is_forgotten_when_a_run_fails() {
    let (engine, mut session) = open();
    let t = session.create_table(definition("t")).unwrap();
    let mut holder = engine.session().unwrap();
    let held = used(&mut holder, t);
    assert_eq!(insert_in_runs(&mut holder, &held, &[Row(9, None, 1, 10).values()]).unwrap(), (1, None));
    session.set_lock_wait(std::time::Duration::from_millis(1));
    let table = used(&mut session, t);
    let mut run = RowRun::default();
    for id in [1, 2] {
        assert!(session.gather_row(&table, &Row(id, None, 1, 10).values(), &mut run).unwrap());
    }
    assert_eq!(session.insert_run(&table, &mut run, Mode::Shared).unwrap(), None);
    assert!(session.gather_row(&table, &Row(9, None, 1, 10).values(), &mut run).unwrap());
    assert!(session.insert_run(&table, &mut run, Mode::Shared).is_err(), "the row is another's");
    session.end_run(&table, &mut run).unwrap();
    assert_eq!(select(&mut session, t, 2), [], "the caller undoes the rows");
    session.roll_back().unwrap();
    holder.commit().unwrap();
    assert!(engine.check().unwrap().is_sound());
}

#[test]
fn an_entry_that_was_put_off_replaces_a_tombstone() {
    let (engine, mut session) = open();
    let t = session.create_table(definition("t")).unwrap();
    let rows: Vec<_> = (1..20).map(|id| Row(id, None, id % 7, 10).values()).collect();
    let table = used(&mut session, t);
    assert_eq!(insert_in_runs(&mut session, &table, &rows).unwrap(), (19, None));
    session.commit().unwrap();
    let mut reader = engine.session().unwrap();
    let before = select(&mut reader, t, 2);
    (1..20).for_each(|id| delete(&mut session, t, id));
    session.commit().unwrap();
    // As if purge had come as far as this: rows first, then what leads to them.
    let table = used(&mut session, t);
    for id in 1..20_i32 {
        table.rows().index.tree.remove(&(id ^ i32::MIN).to_be_bytes()).unwrap();
    }
    assert_eq!(insert_in_runs(&mut session, &table, &rows).unwrap(), (19, None));
    assert_eq!(select(&mut session, t, 2).len(), 19);
    session.roll_back().unwrap();
    assert_eq!(select(&mut session, t, 2).len(), 0, "the tombstones are back");
    let table = used(&mut session, t);
    assert_eq!(insert_in_runs(&mut session, &table, &rows).unwrap(), (19, None));
    session.commit().unwrap();
    assert_eq!(before.len(), 19);
    reader.commit().unwrap();
    drop((session, reader));
    engine.keep_house().unwrap();
    assert_eq!(select(&mut engine.session().unwrap(), t, 2).len(), 19);
    assert!(engine.check().unwrap().is_sound());
}

#[test]
fn a_run_is_not_for_rows_that_may_be_each_others_parents_nor_for_an_error_in_it() {
    let (_engine, mut session) = open();
    let parent = session.create_table(definition("parent")).unwrap();
    let mut child = definition("child");
    child.foreign_keys.push(foreign_key("fk", 2, parent, ReferentialAction::Restrict, ReferentialAction::Restrict));
    let child = session.create_table(child).unwrap();
    let table = used(&mut session, child);
    assert!(!session.takes_runs(&table));
    session.set_checks_foreign_keys(false);
    assert!(session.takes_runs(&table));
    // A text that is too long for its column is refused, and what was gathered before it is not lost.
    let mut run = RowRun::default();
    assert!(session.gather_row(&table, &Row(1, None, 1, 10).values(), &mut run).unwrap());
    let long = vec![b'x'; 9001];
    let values = [Value::Signed(2), Value::Null, Value::Signed(1), Value::Bytes(&long)];
    assert!(session.gather_row(&table, &values, &mut run).is_err());
    assert!(session.gather_row(&table, &Row(3, None, 1, 10).values(), &mut run).unwrap());
    assert_eq!(session.insert_run(&table, &mut run, Mode::Shared).unwrap(), None);
    assert!(run.is_empty());
    session.end_run(&table, &mut run).unwrap();
    assert_eq!(select(&mut session, child, 2).iter().map(|row| row.0).collect::<Vec<_>>(), [1, 3]);
}
