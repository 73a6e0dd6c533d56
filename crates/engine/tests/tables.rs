//! Tables as a layer above sees them: unique indexes, foreign keys, numbers that count by themselves, definitions that
//! come and go, and what all of that looks like after the power was lost.

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::*;
use meseta_engine::catalog::{CatalogError, TableHandle};
use meseta_engine::counter::Series;
use meseta_engine::ids::TableId;
use meseta_engine::lock::{LockError, Mode, OnConflict, TableMode};
use meseta_engine::row::{Column, ColumnType, IntegerWidth, KeyRange, Value};
use meseta_engine::rows::{FoundRow, RowChange, RowCursor, TableProblem};
use meseta_engine::table::{
    ColumnDefinition, ForeignKeyDefinition, IndexDefinition, OwnedValue, PartDefinition, ReferentialAction,
    TableDefinition,
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

#[test]
fn a_unique_index_holds_a_value_once_and_null_any_number_of_times() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let t = session.create_table(t()).unwrap();
    let text = Value::Bytes(b"x");
    inserts(&mut session, t, &[number(1), number(10), text]);
    inserts(&mut session, t, &[number(2), number(None), text]);
    inserts(&mut session, t, &[number(3), number(None), text]);
    for row in [[number(4), number(10), text], [number(1), number(11), text]] {
        let Ok(RowChange::Conflict(conflict)) = insert(&mut session, t, &row) else { panic!("{row:?} was inserted") };
        let index = if row[0] == number(1) { 0 } else { 1 };
        assert_eq!(conflict.index, index);
        assert_eq!(conflict.primary_key, [0x80, 0, 0, 1], "row 1 is in the way");
    }
    assert!(matches!(update(&mut session, t, 2, &[number(2), number(10), text]), Ok(RowChange::Conflict(_))));
    assert_eq!(rows(&mut session, t), ["1 10 x", "2 - x", "3 - x"], "a conflict changes nothing");
    // The value moves to another row, and back.
    delete(&mut session, t, 1).unwrap();
    inserts(&mut session, t, &[number(4), number(10), text]);
    assert_eq!(update(&mut session, t, 4, &[number(4), number(12), text]).unwrap(), RowChange::Done);
    inserts(&mut session, t, &[number(1), number(10), text]);
    session.commit().unwrap();
    assert_eq!(rows_by(&mut session, t, 1, Direction::Ascending), ["2 - x", "3 - x", "1 10 x", "4 12 x"]);
    // Another primary key is another row.
    assert_eq!(update(&mut session, t, 1, &[number(9), number(10), text]).unwrap(), RowChange::Done);
    session.commit().unwrap();
    engine.keep_house().unwrap();
    assert_sound(&engine);
    assert_eq!(rows(&mut session, t), ["2 - x", "3 - x", "4 12 x", "9 10 x"]);
}

#[test]
fn a_unique_value_under_way_is_waited_for() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let t = session.create_table(t()).unwrap();
    for (decides_to_commit, expected) in [(true, "1 10 first"), (false, "2 10 second")] {
        inserts(&mut session, t, &[number(1), number(10), Value::Bytes(b"first")]);
        let waiting = engine.waiting();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let mut session = engine.session().unwrap();
                let change = insert(&mut session, t, &[number(2), number(10), Value::Bytes(b"second")]).unwrap();
                session.commit().unwrap();
                change
            });
            while engine.waiting() == waiting {
                std::thread::yield_now();
            }
            if decides_to_commit {
                session.commit().unwrap()
            } else {
                session.roll_back().unwrap()
            }
            assert_eq!(second.join().unwrap() == RowChange::Done, !decides_to_commit);
        });
        assert_eq!(rows(&mut session, t), [expected]);
        session.commit().unwrap();
        delete(&mut session, t, if decides_to_commit { 1 } else { 2 }).unwrap();
        session.commit().unwrap();
    }
    engine.keep_house().unwrap();
    assert_sound(&engine);
}

#[test]
fn an_old_snapshot_sees_whose_a_unique_value_was() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let t = session.create_table(t()).unwrap();
    inserts(&mut session, t, &[number(1), number(10), Value::Bytes(b"a")]);
    session.commit().unwrap();
    let mut old = engine.session().unwrap();
    let by_u = |session: &mut Session| rows_by(session, t, 1, Direction::Ascending);
    assert_eq!(by_u(&mut old), ["1 10 a"]);
    delete(&mut session, t, 1).unwrap();
    session.commit().unwrap();
    inserts(&mut session, t, &[number(2), number(10), Value::Bytes(b"b")]);
    session.commit().unwrap();
    let mut middle = engine.session().unwrap();
    assert_eq!(by_u(&mut middle), ["2 10 b"]);
    delete(&mut session, t, 2).unwrap();
    inserts(&mut session, t, &[number(3), number(10), Value::Bytes(b"c")]);
    engine.keep_house().unwrap();
    assert_eq!((by_u(&mut old), by_u(&mut middle)), (vec!["1 10 a".to_owned()], vec!["2 10 b".to_owned()]));
    session.roll_back().unwrap();
    assert_eq!(by_u(&mut middle), ["2 10 b"]);
    old.commit().unwrap();
    middle.commit().unwrap();
    engine.keep_house().unwrap();
    assert_sound(&engine);
}

/// All rows in the order of the primary key, read in batches: what is behind the key.
fn rows_in_batches(session: &mut Session, table: TableId) -> Vec<String> {
    let table = session.use_table(table, TableMode::Read).unwrap().unwrap();
    let columns = [1, 2];
    let cursor = RowCursor::consistent(&table, 0, KeyRange::ALL, Direction::Ascending, columns.into_iter());
    let mut cursor = cursor.without_keys(columns.into_iter());
    assert!(cursor.has_batches());
    let mut rows = Vec::new();
    while let Some(batch) = cursor.next_batch(session).unwrap() {
        for row in batch {
            let mut shown = [const { String::new() }; 2];
            row.visit_columns(&columns, |column, value| {
                shown[column - 1] = match value {
                    Value::Signed(number) => number.to_string(),
                    Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                    other => format!("{other:?}"),
                }
            })
            .unwrap();
            rows.push(shown.join(" "));
        }
    }
    rows
}

/// Rows of several ages, tombstones and rows of others among them, long ones too: a snapshot sees in batches what it sees row by
/// row.
#[test]
fn batches_show_what_is_seen_row_by_row() {
    let (engine, mut writer) = engine(&SimDisk::new(1));
    let columns =
        vec![column("id", INT), column("u", INT), column("s", Column::new(ColumnType::Variable { max_len: 9_000 }))];
    let t = writer.create_table(TableDefinition::new("d", "t", columns).with_primary_key(&[0])).unwrap();
    let text = |id: i64, len: usize| format!("{id}-").repeat(len / 4).into_bytes();
    for id in 0..600 {
        let len = if id % 97 == 0 { 9_000 } else { 100 };
        inserts(&mut writer, t, &[number(id), number(id), Value::Bytes(&text(id, len))]);
    }
    writer.commit().unwrap();
    let mut old = engine.session().unwrap();
    assert_eq!(rows(&mut old, t).len(), 600);
    // Committed after the old snapshot; then what is not committed.
    for (from, commits) in [(3, true), (8, false)] {
        for id in (from..600).step_by(11) {
            let changed = update(&mut writer, t, id, &[number(id), number(-id), Value::Bytes(&text(-id, 50))]);
            assert_eq!(changed.unwrap(), RowChange::Done);
            // Of tombstones there are several side by side.
            (id + 1..id + 4).for_each(|id| delete(&mut writer, t, id).unwrap());
            inserts(&mut writer, t, &[number(1_000 * from + id), number(id), Value::Bytes(b"new")]);
        }
        if commits {
            writer.commit().unwrap();
        }
    }
    let (mut new, mut dirty) = (engine.session().unwrap(), engine.session().unwrap());
    dirty.set_isolation(Isolation::ReadUncommitted);
    let mut seen = Vec::new();
    for session in [&mut old, &mut new, &mut writer, &mut dirty] {
        let by_row: Vec<String> =
            rows(session, t).iter().map(|row| row.split_once(' ').unwrap().1.to_owned()).collect();
        assert_eq!(rows_in_batches(session, t), by_row);
        seen.push(by_row.len());
    }
    assert!(seen[0] == 600 && seen[1] < 600 && seen[2] < seen[1] && seen[3] == seen[2], "{seen:?}");
    for mut session in [old, new, writer, dirty] {
        session.commit().unwrap();
    }
    assert_sound(&engine);
}

/// The row has moved to another place in the index since the snapshot, and this transaction has changed it there: it sees
/// its own version of the row, and through the index too, once, where the row is now.
#[test]
fn a_row_that_was_moved_and_then_changed_by_oneself_is_seen_where_it_is() {
    let (engine, mut other) = engine(&SimDisk::new(1));
    for unique in [false, true] {
        let columns = vec![column("id", INT), column("k", INT), column("s", TEXT)];
        let name = if unique { "unique" } else { "plain" };
        let t = TableDefinition::new("d", name, columns).with_primary_key(&[0]).with_index(index("k", unique, &[1]));
        let t = other.create_table(t).unwrap();
        inserts(&mut other, t, &[number(1), number(10), Value::Bytes(b"first")]);
        other.commit().unwrap();
        let mut session = engine.session().unwrap();
        assert_eq!(rows(&mut session, t), ["1 10 first"]);
        assert_eq!(
            update(&mut other, t, 1, &[number(1), number(20), Value::Bytes(b"moved")]).unwrap(),
            RowChange::Done
        );
        other.commit().unwrap();
        assert_eq!(rows_by(&mut session, t, 1, Direction::Ascending), ["1 10 first"]);
        // Its entry in the index stays as the other transaction wrote it.
        assert_eq!(
            update(&mut session, t, 1, &[number(1), number(20), Value::Bytes(b"own")]).unwrap(),
            RowChange::Done
        );
        assert_eq!(rows(&mut session, t), ["1 20 own"]);
        for direction in [Direction::Ascending, Direction::Descending] {
            assert_eq!(rows_by(&mut session, t, 1, direction), ["1 20 own"], "{name}");
        }
        session.roll_back().unwrap();
    }
    assert_sound(&engine);
}

#[test]
fn rows_without_a_primary_key_come_in_the_order_of_their_insertion() {
    let disk = SimDisk::new(1);
    let (engine_1, mut session) = engine(&disk);
    let heap = TableDefinition::new("d", "heap", vec![column("a", INT)]).with_index(index("a", false, &[0]));
    let heap = session.create_table(heap).unwrap();
    for a in [3, 1, 3] {
        inserts(&mut session, heap, &[number(a)]);
    }
    session.commit().unwrap();
    assert_eq!(rows(&mut session, heap), ["3", "1", "3"]);
    assert_eq!(rows_by(&mut session, heap, 1, Direction::Descending), ["3", "3", "1"]);
    drop((session, engine_1));
    disk.power_cycle(1);
    let (engine, mut session) = engine(&disk);
    inserts(&mut session, heap, &[number(2)]);
    session.commit().unwrap();
    assert_eq!(rows(&mut session, heap), ["3", "1", "3", "2"], "numbers are not given again");
    assert_sound(&engine);
}

#[test]
fn a_column_counts_by_itself_and_never_gives_a_number_again() {
    let disk = SimDisk::new(1);
    let (engine_1, mut session) = engine(&disk);
    let mut definition = t();
    definition.auto_increment = Some(0);
    let id = session.create_table(definition).unwrap();
    let plain = Series { offset: 1, step: 1, max: i32::MAX as u64 };
    let table = used(&mut session, id);
    assert_eq!(session.take_auto_increment(&table, plain, 1).unwrap(), Some(1));
    assert_eq!(session.take_auto_increment(&table, plain, 3).unwrap(), Some(2));
    let every_tenth = Series { offset: 5, step: 10, ..plain };
    assert_eq!(session.take_auto_increment(&table, every_tenth, 2).unwrap(), Some(5));
    assert_eq!(
        session.take_auto_increment(&table, plain, 1).unwrap(),
        Some(25),
        "the next of the series, as in InnoDB"
    );
    inserts(&mut session, id, &[number(100), number(1), Value::Bytes(b"")]);
    assert_eq!(session.take_auto_increment(&table, plain, 1).unwrap(), Some(101));
    session.roll_back().unwrap();
    drop(table);
    engine_1.settle().unwrap();
    drop((session, engine_1));
    disk.power_cycle(1);

    let (engine_2, mut session) = engine(&disk);
    let table = used(&mut session, id);
    assert_eq!(session.take_auto_increment(&table, plain, 1).unwrap(), Some(102), "after an orderly end");
    // What a number was given for is durable; so the number is.
    inserts(&mut session, id, &[number(102), number(1), Value::Bytes(b"")]);
    session.commit().unwrap();
    drop(table);
    drop((session, engine_2));
    disk.power_cycle(2);

    let (_engine, mut session) = engine(&disk);
    let table = used(&mut session, id);
    let after = session.take_auto_increment(&table, plain, 1).unwrap().unwrap();
    assert!((103..103 + 1024).contains(&after), "{after} after a crash");
    let tiny = Series { max: 127, ..plain };
    assert_eq!(session.take_auto_increment(&table, tiny, 1).unwrap(), None, "a small type is used up");
    let next = Series { step: 1000, max: after + 1500, ..plain };
    session.take_auto_increment(&table, Series { offset: after % 1000, ..next }, 1).unwrap().unwrap();
    assert_eq!(session.take_auto_increment(&table, Series { step: 1, ..next }, 1).unwrap(), Some(next.max));
    drop(table);
    session.commit().unwrap();
    session.truncate_table(id).unwrap();
    let table = used(&mut session, id);
    assert_eq!(session.take_auto_increment(&table, plain, 1).unwrap(), Some(1), "an emptied table begins again");
}

/// `parent (id primary key)`, `child (id primary key, parent_id null -> parent)`
fn family(session: &mut Session, on_delete: ReferentialAction, on_update: ReferentialAction) -> (TableId, TableId) {
    let parent = TableDefinition::new("d", "parent", vec![column("id", INT)]).with_primary_key(&[0]);
    let parent = session.create_table(parent).unwrap();
    let columns = vec![column("id", INT), column("parent_id", INT.or_null())];
    let mut child =
        TableDefinition::new("d", "child", columns).with_primary_key(&[0]).with_index(index("p", false, &[1]));
    child.foreign_keys.push(ForeignKeyDefinition {
        name: "fk".to_owned(),
        columns: vec![1],
        parent,
        parent_columns: vec![0],
        on_delete,
        on_update,
    });
    let child = session.create_table(child).unwrap();
    (parent, child)
}

fn some_family(
    session: &mut Session,
    on_delete: ReferentialAction,
    on_update: ReferentialAction,
) -> (TableId, TableId) {
    let (parent, child) = family(session, on_delete, on_update);
    for id in [1, 2] {
        inserts(session, parent, &[number(id)]);
    }
    for (id, of) in [(10, Some(1)), (11, Some(1)), (20, Some(2)), (30, None)] {
        inserts(session, child, &[number(id), number(of)]);
    }
    session.commit().unwrap();
    (parent, child)
}

#[test]
fn a_child_has_a_parent_and_a_parent_with_children_stays() {
    use ReferentialAction::Restrict;
    let (engine, mut session) = engine(&SimDisk::new(1));
    let (parent, child) = some_family(&mut session, Restrict, Restrict);
    let orphan = insert(&mut session, child, &[number(40), number(3)]).unwrap_err();
    assert!(matches!(orphan, EngineError::NoParent { table, .. } if table == child), "{orphan}");
    let orphan = update(&mut session, child, 30, &[number(30), number(3)]).unwrap_err();
    assert!(matches!(orphan, EngineError::NoParent { .. }), "{orphan}");
    let refused = delete(&mut session, parent, 1).unwrap_err();
    assert!(matches!(refused, EngineError::HasChildren { table, .. } if table == child), "{refused}");
    let refused = update(&mut session, parent, 1, &[number(5)]).unwrap_err();
    assert!(matches!(refused, EngineError::HasChildren { .. }), "{refused}");
    delete(&mut session, child, 20).unwrap();
    delete(&mut session, parent, 2).unwrap();
    session.commit().unwrap();
    assert_eq!(rows(&mut session, child), ["10 1", "11 1", "30 -"]);
    assert_eq!(rows(&mut session, parent), ["1"]);
    let refused = session.drop_tables(&[parent]).unwrap_err();
    assert!(
        matches!(&refused, EngineError::Catalog(CatalogError::Referenced { table, .. }) if table == "child"),
        "{refused}"
    );
    let refused = session.truncate_table(parent).unwrap_err();
    assert!(matches!(refused, EngineError::Catalog(CatalogError::Referenced { .. })), "{refused}");
    session.set_checks_foreign_keys(false);
    inserts(&mut session, child, &[number(50), number(77)]);
    session.commit().unwrap();
    session.set_checks_foreign_keys(true);
    session.drop_tables(&[parent, child]).unwrap();
    assert!(session.schema().tables().next().is_none());
    assert_sound(&engine);
}

#[test]
fn children_follow_their_parent() {
    use ReferentialAction::{Cascade, SetNull};
    for (on_delete, expected) in [(Cascade, ["20 9", "30 -"].as_slice()), (SetNull, &["10 -", "11 -", "20 9", "30 -"])]
    {
        let (engine, mut session) = engine(&SimDisk::new(1));
        let (parent, child) = some_family(&mut session, on_delete, Cascade);
        delete(&mut session, parent, 1).unwrap();
        assert_eq!(update(&mut session, parent, 2, &[number(9)]).unwrap(), RowChange::Done);
        assert_eq!(rows(&mut session, child), expected);
        session.roll_back().unwrap();
        assert_eq!(rows(&mut session, child), ["10 1", "11 1", "20 2", "30 -"]);
        session.commit().unwrap();
        engine.keep_house().unwrap();
        assert_sound(&engine);
    }
}

/// A table whose rows name a boss among themselves, with CASCADE.
fn staff() -> TableDefinition {
    use ReferentialAction::Cascade;
    let columns = vec![column("id", INT), column("boss", INT.or_null())];
    let mut staff =
        TableDefinition::new("d", "staff", columns).with_primary_key(&[0]).with_index(index("b", false, &[1]));
    staff.foreign_keys.push(ForeignKeyDefinition {
        name: "boss".to_owned(),
        columns: vec![1],
        parent: TableId(0),
        parent_columns: vec![0],
        on_delete: Cascade,
        on_update: Cascade,
    });
    staff
}

#[test]
fn a_table_may_refer_to_itself() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let staff = session.create_table(staff()).unwrap();
    inserts(&mut session, staff, &[number(1), number(1)]);
    for (id, boss) in [(2, 1), (3, 2), (4, 2), (5, 1)] {
        inserts(&mut session, staff, &[number(id), number(boss)]);
    }
    assert!(insert(&mut session, staff, &[number(6), number(7)]).is_err());
    delete(&mut session, staff, 2).unwrap();
    assert_eq!(rows(&mut session, staff), ["1 1", "5 1"]);
    delete(&mut session, staff, 1).unwrap();
    assert_eq!(rows(&mut session, staff), [""; 0]);
    // Sixteen levels are one too many.
    for id in 1..=17 {
        inserts(&mut session, staff, &[number(id), number((id > 1).then_some(id - 1))]);
    }
    session.commit().unwrap();
    let start = session.savepoint();
    let refused = delete(&mut session, staff, 1).unwrap_err();
    assert!(matches!(refused, EngineError::CascadesTooDeep), "{refused}");
    session.roll_back_to(start).unwrap();
    delete(&mut session, staff, 3).unwrap();
    session.commit().unwrap();
    assert_eq!(rows(&mut session, staff), ["1 -", "2 1"]);
    engine.keep_house().unwrap();
    assert_sound(&engine);
}

#[test]
fn a_check_finds_what_an_index_lacks_and_what_it_has_too_much() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let id = session.create_table(t()).unwrap();
    for row in 1..=3 {
        let values = [number(row), number(10 * row), Value::Bytes(b"text")];
        inserts(&mut session, id, &values);
    }
    session.commit().unwrap();
    assert!(engine.check().unwrap().is_sound());
    let table = used(&mut session, id);
    let tree = &table.indexes[1].index.tree;
    let (mut key, mut value) = (Vec::new(), Vec::new());
    tree.scan(&[], |at, entry| {
        (key, value) = (at.to_vec(), entry.to_vec());
        false
    })
    .unwrap();
    let problems = || engine.check().unwrap().tables[0].2.problems.clone();
    tree.remove(&key).unwrap();
    let name = || table.definition.indexes[1].name.clone();
    let too_few = TableProblem::Entries { index: name(), entries: 2, rows: 3 };
    let found = problems();
    assert!(found.contains(&too_few), "{found:?}");
    assert!(matches!(&found[0], TableProblem::NoEntry { index, .. } if *index == name()), "{found:?}");
    tree.put(&key, &value).unwrap();
    assert_eq!(problems(), []);
    *key.last_mut().unwrap() ^= 0x40;
    tree.put(&key, &value).unwrap();
    assert_eq!(problems(), [TableProblem::Entries { index: name(), entries: 4, rows: 3 }]);
}

/// Asked of MySQL 9.7.
#[test]
fn a_row_may_be_its_own_parent_when_it_comes_and_when_it_goes() {
    let (_engine, mut session) = engine(&SimDisk::new(1));
    let staff = session.create_table(staff()).unwrap();
    let refusal = |session: &mut Session, id: i64, row: [Value<'_>; 2]| {
        let start = session.savepoint();
        let error = update(session, staff, id, &row).unwrap_err();
        session.roll_back_to(start).unwrap();
        match error {
            EngineError::HasChildren { .. } => 1451,
            EngineError::NoParent { .. } => 1452,
            other => panic!("{other}"),
        }
    };
    inserts(&mut session, staff, &[number(1), number(1)]);
    inserts(&mut session, staff, &[number(4), number(None)]);
    assert_eq!(refusal(&mut session, 1, [number(5), number(5)]), 1451, "it refers to what it was");
    assert_eq!(refusal(&mut session, 1, [number(6), number(1)]), 1451);
    assert_eq!(refusal(&mut session, 4, [number(12), number(12)]), 1452, "it is not there yet");
    let done = |session: &mut Session, id, row: [Value<'_>; 2]| {
        assert_eq!(update(session, staff, id, &row).unwrap(), RowChange::Done);
    };
    done(&mut session, 4, [number(9), number(None)]);
    done(&mut session, 9, [number(9), number(9)]);
    delete(&mut session, staff, 9).unwrap();
    assert_eq!(rows(&mut session, staff), ["1 1"]);
}

/// Asked of MySQL 9.7: `(1,1,1), (2,1,2), (3,2,1)`, and parent 1 goes.
#[test]
fn keys_of_one_child_act_in_the_order_in_which_they_were_defined() {
    use ReferentialAction::{Cascade, Restrict, SetNull};
    let outcome = |actions: [ReferentialAction; 2], children: &[(i64, i64, i64)]| {
        let (_engine, mut session) = engine(&SimDisk::new(1));
        let parent = TableDefinition::new("d", "parent", vec![column("id", INT)]).with_primary_key(&[0]);
        let parent = session.create_table(parent).unwrap();
        let columns = vec![column("id", INT), column("x", INT.or_null()), column("y", INT.or_null())];
        let mut child = TableDefinition::new("d", "child", columns)
            .with_primary_key(&[0])
            .with_index(index("x", false, &[1]))
            .with_index(index("y", false, &[2]));
        for (at, on_delete) in [1, 2].into_iter().zip(actions) {
            child.foreign_keys.push(ForeignKeyDefinition {
                name: format!("{}", 9 - at),
                columns: vec![at],
                parent,
                parent_columns: vec![0],
                on_delete,
                on_update: Restrict,
            });
        }
        let child = session.create_table(child).unwrap();
        [1, 2].into_iter().for_each(|id| inserts(&mut session, parent, &[number(id)]));
        for &(id, x, y) in children {
            inserts(&mut session, child, &[number(id), number(x), number(y)]);
        }
        match delete(&mut session, parent, 1) {
            Ok(()) => rows(&mut session, child).join(", "),
            Err(EngineError::HasChildren { key, .. }) => format!("kept by {key}"),
            Err(other) => panic!("{other}"),
        }
    };
    let all = [(1, 1, 1), (2, 1, 2), (3, 2, 1)];
    assert_eq!(outcome([Restrict, Cascade], &all), "kept by 8");
    assert_eq!(outcome([Cascade, Restrict], &all), "kept by 7");
    assert_eq!(outcome([Cascade, Restrict], &all[..2]), "", "those that would have kept it are gone by then");
    assert_eq!(outcome([SetNull, Cascade], &all), "2 - 2");
    assert_eq!(outcome([Cascade, SetNull], &all), "3 2 -");
    assert_eq!(outcome([Restrict, SetNull], &all), "kept by 8");
}

#[test]
fn a_column_is_added_without_touching_a_row() {
    let disk = SimDisk::new(1);
    let (engine_1, mut session) = engine(&disk);
    let t = session.create_table(t()).unwrap();
    inserts(&mut session, t, &[number(1), number(10), Value::Bytes(b"old")]);
    session.commit().unwrap();
    let mut old = engine_1.session().unwrap();
    assert_eq!(rows(&mut old, t), ["1 10 old"]);
    old.commit().unwrap();
    let before = session.schema().table(t).unwrap().rows().index.tree.get(&[0x80, 0, 0, 1], <[u8]>::to_vec).unwrap();
    let mut added = column("n", INT);
    added.added_with = Some(OwnedValue::Signed(7));
    session.add_column(t, added).unwrap();
    inserts(&mut session, t, &[number(2), number(20), Value::Bytes(b"new"), number(8)]);
    session.commit().unwrap();
    for _ in 0..2 {
        assert_eq!(rows(&mut session, t), ["1 10 old 7", "2 20 new 8"]);
        session.commit().unwrap();
    }
    let after = session.schema().table(t).unwrap().rows().index.tree.get(&[0x80, 0, 0, 1], <[u8]>::to_vec).unwrap();
    assert_eq!(before, after);
    drop((session, old, engine_1));
    disk.power_cycle(3);
    let (engine, mut session) = engine(&disk);
    assert_eq!(rows(&mut session, t), ["1 10 old 7", "2 20 new 8"]);
    session.commit().unwrap();
    assert_eq!(
        update(&mut session, t, 1, &[number(1), number(10), Value::Bytes(b"old"), number(9)]).unwrap(),
        RowChange::Done
    );
    session.commit().unwrap();
    assert_eq!(rows(&mut session, t), ["1 10 old 9", "2 20 new 8"]);
    session.commit().unwrap();
    assert_sound(&engine);
}

#[test]
fn definitions_come_back() {
    let disk = SimDisk::new(1);
    let (engine_1, mut session) = engine(&disk);
    session.alter_database("d", b"utf8mb4").unwrap();
    let mut definition = t();
    definition.attributes = b"comment".to_vec();
    definition.columns[2].attributes = b"VARCHAR(50)".to_vec();
    let descending = PartDefinition { descending: true, ..PartDefinition::new(0) };
    let prefix = PartDefinition { prefix: Some(3), ..PartDefinition::new(2) };
    definition.indexes.push(IndexDefinition::new("both", false, vec![prefix, descending]));
    let t = session.create_table(definition).unwrap();
    let (_, child) = family(&mut session, ReferentialAction::SetNull, ReferentialAction::Cascade);
    session.rename_table(child, "d", "renamed").unwrap();
    let taken = session.rename_table(child, "d", "t").unwrap_err();
    assert!(matches!(taken, EngineError::Catalog(CatalogError::TableExists(..))), "{taken}");
    let before: Vec<_> = [t, child].map(|id| session.schema().table(id).unwrap().definition.clone()).into();
    drop((session, engine_1));
    disk.power_cycle(3);
    let (engine, mut session) = engine(&disk);
    let after: Vec<_> = [t, child].map(|id| session.schema().table(id).unwrap().definition.clone()).into();
    assert_eq!(before, after);
    assert_eq!(session.schema().databases["d"].attributes, b"utf8mb4");
    for (id, s) in [(1, "bbbx"), (2, "bbby"), (3, "aaa")] {
        inserts(&mut session, t, &[number(id), number(None), Value::Bytes(s.as_bytes())]);
    }
    session.commit().unwrap();
    assert_eq!(rows_by(&mut session, t, 2, Direction::Ascending), ["3 - aaa", "2 - bbby", "1 - bbbx"]);
    session.commit().unwrap();
    session.drop_index(t, "both").unwrap();
    session.drop_database("d").unwrap();
    assert!(session.schema().databases.is_empty());
    assert_sound(&engine);
}

#[test]
fn ddl_waits_for_those_who_use_the_table() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let t = session.create_table(t()).unwrap();
    inserts(&mut session, t, &[number(1), number(10), Value::Bytes(b"x")]);
    let waiting = engine.waiting();
    std::thread::scope(|scope| {
        let dropping = scope.spawn(|| engine.session().unwrap().drop_tables(&[t]));
        while engine.waiting() == waiting {
            std::thread::yield_now();
        }
        assert_eq!(rows(&mut session, t), ["1 10 x"]);
        session.commit().unwrap();
        dropping.join().unwrap().unwrap();
    });
    assert!(session.use_table(t, TableMode::Read).unwrap().is_none());
    assert_sound(&engine);
}

#[test]
fn an_index_is_built_while_writers_write() {
    const ROWS: i64 = 3000;
    let (engine, mut session) = engine(&SimDisk::new(1));
    let columns = vec![column("id", INT), column("a", INT), column("b", INT.or_null())];
    let t = session.create_table(TableDefinition::new("d", "t", columns).with_primary_key(&[0])).unwrap();
    for id in 0..ROWS {
        inserts(&mut session, t, &[number(id), number(id % 7), number(id)]);
    }
    session.commit().unwrap();
    let mut old = engine.session().unwrap();
    rows(&mut old, t);
    // An old reader would keep the DDL waiting.
    old.commit().unwrap();
    let (done, changes) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for writer in 0..2u64 {
            let (engine, done, changes) = (&engine, &done, &changes);
            scope.spawn(move || {
                let mut random = SeededRandom::new(writer);
                let mut session = engine.session().unwrap();
                while !done.load(Ordering::Relaxed) {
                    let id = (random.below(ROWS as u64) * 2 + writer) as i64;
                    let table = used(&mut session, t);
                    let key = (id as i32 ^ i32::MIN).to_be_bytes();
                    let row =
                        [number(id), number(random.below(7) as i64), number(id + ROWS * random.below(3) as i64 * 2)];
                    let found = session.find_row(&table, &key, Mode::Exclusive).unwrap();
                    let change = match found {
                        None => session.insert_row(&table, &row, Mode::Shared),
                        Some(found) if random.below(3) == 0 => session.delete_row(&table, &found),
                        Some(found) => session.update_row(&table, &found, &row, Mode::Shared),
                    };
                    drop(table);
                    match change.unwrap() {
                        RowChange::Done if random.below(4) == 0 => session.roll_back().unwrap(),
                        RowChange::Done => session.commit().unwrap(),
                        _ => session.roll_back().unwrap(),
                    }
                    changes.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for round in 0..10 {
            let start = changes.load(Ordering::Relaxed);
            session.create_index(t, index(&format!("a{round}"), false, &[1])).unwrap();
            session.create_index(t, index(&format!("b{round}"), true, &[2, 0])).unwrap();
            while changes.load(Ordering::Relaxed) == start {
                std::thread::yield_now();
            }
            if round > 2 {
                session.drop_index(t, &format!("a{}", round - 2)).unwrap();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    engine.keep_house().unwrap();
    assert_sound(&engine);
}

#[test]
fn a_row_that_was_found_is_locked_if_it_is_still_the_same() {
    let (engine, mut one) = engine(&SimDisk::new(19));
    let t = one.create_table(t()).unwrap();
    inserts(&mut one, t, &[number(1), number(1), Value::Bytes(b"a")]);
    one.commit().unwrap();
    let mut other = engine.session().unwrap();
    other.set_lock_wait(std::time::Duration::ZERO);
    let (table, key) = (used(&mut one, t), (1_i32 ^ i32::MIN).to_be_bytes());
    let found = one.find_row(&table, &key, Mode::Exclusive).unwrap().unwrap();
    let row = [number(1), number(2), Value::Bytes(b"a")];
    let others = used(&mut other, t);
    assert_eq!(other.update_row(&others, &found, &row, Mode::Shared).unwrap(), RowChange::Done);
    drop(others);
    other.commit().unwrap();
    assert!(!one.lock_found(&table, &found, Mode::Exclusive).unwrap());
    let found = one.find_row(&table, &key, Mode::Exclusive).unwrap().unwrap();
    assert!(one.lock_found(&table, &found, Mode::Exclusive).unwrap());
    let table = used(&mut other, t);
    assert!(matches!(other.find_row(&table, &key, Mode::Exclusive), Err(EngineError::Lock(_))));
    one.commit().unwrap();
    assert_eq!(other.find_row(&table, &key, Mode::Exclusive).unwrap(), Some(found));
}

#[test]
fn a_unique_index_over_duplicates_is_not_built_and_leaves_nothing() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let columns = vec![column("id", INT), column("a", INT)];
    let t = session.create_table(TableDefinition::new("d", "t", columns).with_primary_key(&[0])).unwrap();
    for (id, a) in [(1, 1), (2, 2), (3, 1)] {
        inserts(&mut session, t, &[number(id), number(a)]);
    }
    session.commit().unwrap();
    let trees = engine.store().trees().len();
    let refused = session.create_index(t, index("a", true, &[1])).unwrap_err();
    assert!(matches!(&refused, EngineError::Catalog(CatalogError::Duplicate(name)) if name == "a"), "{refused}");
    assert_eq!(engine.store().trees().len(), trees);
    assert_eq!(session.schema().table(t).unwrap().indexes.len(), 1);
    delete(&mut session, t, 3).unwrap();
    session.commit().unwrap();
    session.create_index(t, index("a", true, &[1])).unwrap();
    assert!(matches!(insert(&mut session, t, &[number(3), number(1)]), Ok(RowChange::Conflict(_))));
    session.roll_back().unwrap();
    assert_sound(&engine);
}

#[test]
fn an_index_younger_than_the_snapshot_is_refused() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let (t, other) = (session.create_table(t()).unwrap(), {
        let columns = vec![column("id", INT)];
        session.create_table(TableDefinition::new("d", "other", columns).with_primary_key(&[0])).unwrap()
    });
    inserts(&mut session, t, &[number(1), number(10), Value::Bytes(b"x")]);
    session.commit().unwrap();
    let mut old = engine.session().unwrap();
    rows(&mut old, other);
    inserts(&mut session, t, &[number(2), number(20), Value::Bytes(b"y")]);
    session.commit().unwrap();
    session.create_index(t, index("s", false, &[2])).unwrap();
    assert_eq!(rows(&mut old, t), ["1 10 x"], "its rows are what they were");
    let table = old.use_table(t, TableMode::Read).unwrap().unwrap();
    let mut cursor = RowCursor::consistent(&table, 2, KeyRange::ALL, Direction::Ascending, 0..3);
    let refused = cursor.next(&mut old).unwrap_err();
    assert!(matches!(refused, EngineError::TableChanged), "{refused}");
    drop(cursor);
    old.commit().unwrap();
    assert_eq!(rows_by(&mut old, t, 2, Direction::Ascending), ["1 10 x", "2 20 y"]);
}

type DdlStep<'s> = &'s dyn Fn(&mut Session) -> Result<()>;

#[test]
fn ddl_is_there_whole_or_not_at_all_after_the_power_was_lost() {
    let mut cut = 0;
    for seed in 0..60u64 {
        let disk = SimDisk::new(seed);
        let (engine_1, mut session) = engine(&disk);
        let table = session.create_table(t()).unwrap();
        for id in 0..50 {
            inserts(&mut session, table, &[number(id), number(id), Value::Bytes(b"row")]);
        }
        session.commit().unwrap();
        disk.power_off_after(SeededRandom::new(seed).below(25));
        let mut acknowledged = 0;
        let steps: [DdlStep<'_>; 6] = [
            &|session| session.create_index(table, index("s", false, &[2])),
            &|session| session.drop_index(table, "u"),
            &|session| {
                let added = ColumnDefinition { added_with: Some(OwnedValue::Signed(1)), ..column("n", INT) };
                session.add_column(table, added)
            },
            &|session| session.rename_table(table, "d", "renamed"),
            &|session| session.truncate_table(table),
            &|session| session.drop_tables(&[table]),
        ];
        for step in steps {
            if step(&mut session).is_err() {
                assert!(disk.is_off(), "seed {seed}");
                break;
            }
            acknowledged += 1;
        }
        cut += u64::from(disk.is_off());
        drop((session, engine_1));
        disk.power_cycle(seed);
        let (engine, mut session) = engine(&disk);
        let found = session.schema().table(table).cloned();
        let done = match &found {
            None => 6,
            Some(found) => {
                let rows = rows(&mut session, table).len();
                let definition = &found.definition;
                let state = (
                    definition.index_beginning_with(&[2]).is_some(),
                    definition.indexes.iter().all(|index| index.name != "u"),
                    definition.columns.len() == 4,
                    definition.name == "renamed",
                    rows == 0,
                );
                assert!(rows == 0 || rows == 50, "seed {seed}: {rows} rows");
                match state {
                    (false, false, false, false, false) => 0,
                    (true, false, false, false, false) => 1,
                    (true, true, false, false, false) => 2,
                    (true, true, true, false, false) => 3,
                    (true, true, true, true, false) => 4,
                    (true, true, true, true, true) => 5,
                    state => panic!("seed {seed}: {state:?}"),
                }
            }
        };
        assert!(
            (acknowledged..=acknowledged + 1).contains(&done),
            "seed {seed}: {acknowledged} acknowledged, {done} done"
        );
        let named = 1 + 4 + 7 + found.map_or(0, |found| found.indexes.len());
        assert_eq!(engine.store().trees().len(), named, "seed {seed}: the root, slots, the system's, and the table's");
        assert_sound(&engine);
    }
    assert!(cut >= 30, "the power went {cut} times only");
}

#[test]
fn a_table_is_rebuilt_with_other_columns_and_keeps_those_who_refer_to_it() {
    let disk = SimDisk::new(7);
    let (engine, mut session) = engine(&disk);
    let parent = session.create_table(t()).unwrap();
    let mut child =
        TableDefinition::new("d", "c", vec![column("p", INT.or_null())]).with_index(index("p", false, &[0]));
    child.foreign_keys.push(ForeignKeyDefinition {
        name: "fk".into(),
        columns: vec![0],
        parent,
        parent_columns: vec![0],
        on_delete: ReferentialAction::Restrict,
        on_update: ReferentialAction::Restrict,
    });
    let child = session.create_table(child).unwrap();
    inserts(&mut session, parent, &[number(1), number(10), Value::Bytes(b"one")]);
    inserts(&mut session, parent, &[number(2), number(20), Value::Bytes(b"two")]);
    inserts(&mut session, child, &[number(2)]);
    session.commit().unwrap();

    // The second column goes, another comes in front; what refers to the first one refers to the second one now.
    let mut definition = session.schema().table(parent).unwrap().definition.clone();
    definition.columns = vec![column("new", INT), column("id", INT), column("s", TEXT)];
    definition.indexes.truncate(1);
    definition.indexes[0].parts[0].column = 1;
    let mut related = session.schema().table(child).unwrap().definition.clone();
    related.foreign_keys[0].parent_columns = vec![1];
    let convert = |row: &[Value<'_>], out: &mut Vec<OwnedValue>| {
        out.extend([OwnedValue::Signed(7), row[0].into(), row[2].into()]);
        Ok::<(), EngineError>(())
    };
    session.rebuild_table(definition.clone(), vec![related.clone()], &[], convert).unwrap();
    let rows = |session: &mut Session| {
        let table = used(session, parent);
        let found = find(session, &table, |values| values[0] == number(7));
        session.commit().unwrap();
        found.len()
    };
    assert_eq!(rows(&mut session), 2);
    assert!(insert(&mut session, child, &[number(3)]).is_err(), "there is no such parent");
    session.roll_back().unwrap();
    inserts(&mut session, child, &[number(1)]);
    session.commit().unwrap();

    // One that comes to a duplicate changes nothing, and one whose rows have no parents neither.
    let duplicate = |_: &[Value<'_>], out: &mut Vec<OwnedValue>| {
        out.extend([OwnedValue::Signed(7), OwnedValue::Signed(1), OwnedValue::Bytes(Vec::new())]);
        Ok::<(), EngineError>(())
    };
    let definition = session.schema().table(parent).unwrap().definition.clone();
    let error = session.rebuild_table(definition, vec![], &[], duplicate).unwrap_err();
    assert!(matches!(error, EngineError::Catalog(CatalogError::Duplicate(name)) if name == "PRIMARY"));
    let orphan = |_: &[Value<'_>], out: &mut Vec<OwnedValue>| {
        out.push(OwnedValue::Signed(9));
        Ok::<(), EngineError>(())
    };
    let definition = session.schema().table(child).unwrap().definition.clone();
    let error = session.rebuild_table(definition, vec![], &["fk".into()], orphan).unwrap_err();
    assert!(matches!(error, EngineError::NoParent { .. }));
    assert_eq!(rows(&mut session), 2);
    assert!(engine.check().unwrap().is_sound());
}

#[test]
fn names_are_exchanged_and_tables_go_with_one_change() {
    let disk = SimDisk::new(8);
    let (engine, mut session) = engine(&disk);
    let one = session.create_table(TableDefinition::new("d", "one", vec![column("a", INT)])).unwrap();
    let two = session.create_table(TableDefinition::new("d", "two", vec![column("b", INT)])).unwrap();
    let three = session.create_table(TableDefinition::new("d", "three", vec![column("c", INT)])).unwrap();
    let mut definitions = [one, two].map(|id| session.schema().table(id).unwrap().definition.clone());
    (definitions[0].name, definitions[1].name) = ("two".into(), "one".into());
    session.change_tables(definitions.to_vec(), &[three]).unwrap();
    let named =
        |session: &mut Session, name: &str| session.schema().table_named("d", name).map(|table| table.id()).ok();
    assert_eq!(["one", "two", "three"].map(|name| named(&mut session, name)), [Some(two), Some(one), None]);
    let mut clash = session.schema().table(one).unwrap().definition.clone();
    clash.name = "one".into();
    let error = session.change_tables(vec![clash], &[]).unwrap_err();
    assert!(matches!(error, EngineError::Catalog(CatalogError::TableExists(..))), "{error}");
    session.set_auto_increment(one, 50).unwrap();
    drop((session, engine));
    disk.power_cycle(9);
    let (engine, mut session) = self::engine(&disk);
    assert_eq!(["one", "two", "three"].map(|name| named(&mut session, name)), [Some(two), Some(one), None]);
    assert!(engine.check().unwrap().is_sound());
}

#[test]
fn a_build_that_is_killed_leaves_nothing() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let columns = vec![column("id", INT), column("a", INT)];
    let t = session.create_table(TableDefinition::new("d", "t", columns).with_primary_key(&[0])).unwrap();
    for id in 0..10 {
        inserts(&mut session, t, &[number(id), number(id % 3)]);
    }
    session.commit().unwrap();
    let trees = engine.store().trees().len();
    session.canceller().cancel();
    let killed = |outcome: Result<()>| assert!(matches!(outcome, Err(EngineError::Lock(LockError::Killed))));
    killed(session.create_index(t, index("a", false, &[1])));
    let definition = session.schema().table(t).unwrap().definition.clone();
    session.canceller().cancel();
    killed(session.rebuild_table(definition.clone(), vec![], &[], |_, _| unreachable!("no row is converted")));
    assert_eq!((engine.store().trees().len(), definition.indexes.len()), (trees, 1));
    session.create_index(t, index("a", false, &[1])).unwrap();
    assert_sound(&engine);
}

#[test]
fn who_is_in_the_table_when_a_build_is_killed_goes_on_writing() {
    const ROWS: i64 = 3000;
    let disk = SimDisk::new(1);
    let (engine, mut session) = engine(&disk);
    let columns = vec![column("id", INT), column("a", INT)];
    let t = session.create_table(TableDefinition::new("d", "t", columns).with_primary_key(&[0])).unwrap();
    for id in 0..ROWS {
        inserts(&mut session, t, &[number(id), number(id % 7)]);
    }
    session.commit().unwrap();
    let trees = engine.store().trees().len();
    let mut writer = engine.session().unwrap();
    let canceller = session.canceller();
    let table = loop {
        let built = std::thread::scope(|scope| {
            let building = scope.spawn(|| session.create_index(t, index("a", false, &[1])));
            let table = loop {
                let table = used(&mut writer, t);
                if table.indexes.len() == 2 {
                    break table;
                }
                drop(table);
                writer.commit().unwrap();
            };
            canceller.cancel();
            match building.join().unwrap() {
                Ok(()) => None,
                Err(killed) => {
                    assert!(matches!(killed, EngineError::Lock(LockError::Killed)), "{killed}");
                    Some(table)
                }
            }
        });
        match built {
            Some(table) => break table,
            // It had been built before anybody came.
            None => {
                writer.commit().unwrap();
                session.drop_index(t, "a").unwrap();
            }
        }
    };
    // New pages for others: those of the index must not be among them.
    let columns = vec![column("id", INT), column("text", TEXT)];
    let other = session.create_table(TableDefinition::new("d", "other", columns).with_primary_key(&[0])).unwrap();
    for id in 0..ROWS {
        inserts(&mut session, other, &[number(id), Value::Bytes(&[b'x'; 150])]);
        let row = [number(ROWS + id), number(id)];
        assert_eq!(writer.insert_row(&table, &row, Mode::Shared).unwrap(), RowChange::Done);
    }
    session.commit().unwrap();
    drop(table);
    writer.commit().unwrap();
    assert_eq!(rows(&mut session, t).len(), 2 * ROWS as usize);
    session.commit().unwrap();
    assert_sound(&engine);
    drop((session, writer, engine));
    let (engine, _session) = self::engine(&disk);
    assert_eq!(engine.store().trees().len(), trees + 1, "the tree of the index goes with the next start");
    assert_sound(&engine);
}
