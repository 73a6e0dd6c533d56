//! Rows and their indexes: what is unique, what is seen, who comes where.

use std::ops::Bound;

use meseta_engine::Direction::{Ascending, Descending};
use meseta_engine::rows::{Point, PointRow};
use meseta_engine::table::{BytesOnly, CollationId, Payload};
use meseta_storage::Portion;

use crate::*;

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

/// The two zeros are equal, but not the same.
#[test]
fn an_index_tells_which_zero_its_row_has() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let columns = vec![column("id", INT), column("d", Column::new(ColumnType::Double))];
    let table = TableDefinition::new("d", "zeros", columns).with_primary_key(&[0]).with_index(index("d", false, &[1]));
    let zeros = session.create_table(table).unwrap();
    inserts(&mut session, zeros, &[number(1), Value::Double(0.0)]);
    assert_eq!(update(&mut session, zeros, 1, &[number(1), Value::Double(-0.0)]).unwrap(), RowChange::Done);
    session.commit().unwrap();
    assert_eq!(rows_by(&mut session, zeros, 1, Ascending), ["1 Double(-0.0)"]);
    assert_eq!(rows(&mut session, zeros), ["1 Double(-0.0)"]);
    assert_sound(&engine);
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

/// Who expects another row in the way has written nothing when it is; and whoever meets one expects another.
#[test]
fn a_conflict_that_is_expected_leaves_nothing_to_commit() {
    let (engine, mut session) = engine(&SimDisk::new(1));
    let t = session.create_table(t()).unwrap();
    let row = |id: i64, u: i64| [number(id), number(u), Value::Bytes(b"x")];
    inserts(&mut session, t, &row(1, 10));
    session.commit().unwrap();
    let meets = |session: &mut Session, row: &[Value<'_>]| {
        let change = insert(session, t, row).unwrap();
        let has_written = session.transaction().is_some();
        session.commit().unwrap();
        (matches!(change, RowChange::Conflict(_)), has_written)
    };
    for (is_expected, row, expected) in [
        (Some(false), row(1, 11), (true, true)),
        (None, row(1, 12), (true, false)),
        (None, row(2, 10), (true, false)),
        (None, row(2, 20), (false, true)),
        (None, row(2, 21), (true, true)),
        (Some(true), row(3, 20), (true, false)),
        (Some(true), row(3, 30), (false, true)),
    ] {
        is_expected.into_iter().for_each(|is_expected| session.expect_conflict(is_expected));
        assert_eq!(meets(&mut session, &row), expected, "{is_expected:?} {row:?}");
    }
    assert_eq!(rows(&mut session, t), ["1 10 x", "2 20 x", "3 30 x"]);
    session.commit().unwrap();
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

/// What a read is for.
struct Wanted {
    index: usize,
    direction: Direction,
    range: KeyRange,
    columns: Vec<u16>,
}

/// A row of some columns as text.
fn shown(columns: &[u16], visit: impl FnOnce(&mut dyn FnMut(usize, Value<'_>)) -> Result<()>) -> String {
    let mut row = vec![String::new(); columns.len()];
    visit(&mut |column, value| {
        let Some(at) = columns.iter().position(|&wanted| usize::from(wanted) == column) else { return };
        row[at] = match value {
            Value::Null => "-".to_owned(),
            Value::Signed(number) => number.to_string(),
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => format!("{other:?}"),
        };
    })
    .unwrap();
    row.join(" ")
}

/// Its rows, read in batches; `None` if there are none.
fn rows_in_batches(session: &mut Session, table: &TableHandle, wanted: &Wanted) -> Option<Vec<String>> {
    let Wanted { index, direction, range, columns } = wanted;
    let cursor = RowCursor::consistent(table, *index, range.clone(), *direction, columns.iter().copied());
    let mut cursor = cursor.for_columns(columns);
    let mut rows = Vec::new();
    while cursor.has_batches()
        && let Some(batch) = cursor.next_batch(session).unwrap()
    {
        rows.extend(batch.map(|row| shown(columns, |visit| row.visit_columns(visit))));
    }
    cursor.has_batches().then_some(rows)
}

/// Its rows, each read whole or as far as is needed.
fn rows_one_by_one(session: &mut Session, table: &TableHandle, wanted: &Wanted, whole: bool) -> Vec<String> {
    let Wanted { index, direction, range, columns } = wanted;
    let mut cursor = RowCursor::consistent(table, *index, range.clone(), *direction, columns.iter().copied());
    if !whole {
        cursor = cursor.for_columns(columns);
    }
    let (mut rows, mut buffers) = (Vec::new(), Default::default());
    while cursor.next(session).unwrap() {
        rows.push(shown(columns, |visit| cursor.visit_columns(columns, &mut buffers, visit)));
    }
    rows
}

/// Rows of several ages, tombstones and rows of others among them, long ones too; and those who look at them: with an old snapshot, with a
/// new one, the one who has changed some that are not committed, and one who sees those.
struct Ages {
    engine: Engine,
    t: TableId,
    sessions: [Session; 4],
}

impl Ages {
    fn new() -> Self {
        let (engine, mut writer) = engine(&SimDisk::new(1));
        let columns = vec![
            column("id", INT),
            column("u", INT.or_null()),
            column("s", Column::new(ColumnType::Variable { max_len: 9_000 })),
            column("c", TEXT).collated(CollationId(1)),
            column("b", TEXT),
        ];
        let downwards = |column| PartDefinition { descending: true, ..PartDefinition::new(column) };
        let t = TableDefinition::new("d", "t", columns)
            .with_primary_key(&[0])
            .with_index(index("u", true, &[1]))
            .with_index(index("uc", true, &[1, 3]))
            .with_index(index("cu", false, &[3, 1]))
            .with_index(IndexDefinition::new("down", false, vec![downwards(1), downwards(4)]));
        let t = writer.create_table(t).unwrap();
        let text = |id: i64, len: usize| format!("{id}-").repeat(len / 4).into_bytes();
        let row = |session: &mut Session, id: i64, u: i64, s: &[u8]| {
            let c = format!("c{}", u % 7);
            let u = if u % 5 == 4 { Value::Null } else { number(u) };
            inserts(session, t, &[number(id), u, Value::Bytes(s), Value::Bytes(c.as_bytes()), Value::Bytes(b"b\0b")]);
        };
        for id in 0..600 {
            row(&mut writer, id, id, &text(id, if id % 97 == 0 { 9_000 } else { 100 }));
        }
        writer.commit().unwrap();
        let mut old = engine.session().unwrap();
        assert_eq!(rows(&mut old, t).len(), 600);
        // Committed after the old snapshot; then what is not committed.
        for (from, commits) in [(3, true), (8, false)] {
            for id in (from..600).step_by(11) {
                let (s, c) = (text(-id, 50), Value::Bytes(b"c"));
                let changed = update(&mut writer, t, id, &[number(id), number(-id), Value::Bytes(&s), c, c]);
                assert_eq!(changed.unwrap(), RowChange::Done);
                // Of tombstones there are several side by side.
                (id + 1..id + 4).for_each(|id| delete(&mut writer, t, id).unwrap());
                row(&mut writer, 1_000 * from + id, id, b"new");
            }
            if commits {
                writer.commit().unwrap();
            }
        }
        let (new, mut dirty) = (engine.session().unwrap(), engine.session().unwrap());
        dirty.set_isolation(Isolation::ReadUncommitted);
        Self { engine, t, sessions: [old, new, writer, dirty] }
    }

    fn end(self) {
        for mut session in self.sessions {
            session.commit().unwrap();
        }
        assert_sound(&self.engine);
    }
}

/// A snapshot sees in batches what it sees row by row, in every index, both ways; and of long rows' fronts what it sees of the whole.
#[test]
fn batches_and_fronts_show_what_is_seen_row_by_row() {
    let mut ages = Ages::new();
    let t = ages.t;
    let (mut seen, mut with_batches) = (Vec::new(), 0);
    for session in &mut ages.sessions {
        seen.push(rows(session, t).len());
        let table = session.use_table(t, TableMode::Read).unwrap().unwrap();
        for (index, direction) in (0..5).flat_map(|index| [(index, Ascending), (index, Descending)]) {
            let layout = &table.indexes[index].layout;
            let (low, high) =
                if index == 3 { (Value::Bytes(b"c1"), Value::Bytes(b"c5")) } else { (number(100), number(400)) };
            let between = layout.range(&[], Bound::Included(low), Bound::Excluded(high), &BytesOnly).unwrap();
            for (range, columns) in [KeyRange::ALL, between].iter().flat_map(|range| {
                let columns: [&[u16]; 10] =
                    [&[], &[0], &[1], &[3], &[4], &[0, 1], &[1, 2], &[1, 4], &[0, 1, 3], &[0, 1, 2, 3, 4]];
                columns.map(|columns| (range.clone(), columns.to_vec()))
            }) {
                let wanted = Wanted { index, direction, range, columns };
                let whole = rows_one_by_one(session, &table, &wanted, true);
                let in_batches = rows_in_batches(session, &table, &wanted);
                with_batches += usize::from(in_batches.is_some());
                let rows = in_batches.unwrap_or_else(|| rows_one_by_one(session, &table, &wanted, false));
                assert_eq!(rows, whole);
            }
        }
    }
    assert!(seen[0] == 600 && seen[1] < 600 && seen[2] < seen[1] && seen[3] == seen[2], "{seen:?}");
    // In each index those sets of columns that its entries tell.
    assert_eq!(with_batches, 4 * 2 * 2 * (10 + 4 + 6 + 6 + 6));
    ages.end();
}

#[test]
fn a_whole_key_finds_the_row_that_a_cursor_does() {
    let mut ages = Ages::new();
    let (t, mut points) = (ages.t, PointRow::default());
    for (number_of, session) in ages.sessions.iter_mut().enumerate() {
        let table = session.use_table(t, TableMode::Read).unwrap().unwrap();
        let (mut key, mut buffers, mut counts) = (Vec::new(), Default::default(), [0; 3]);
        for (index, u) in (0..3).flat_map(|index| (-620..9_000).step_by(3).map(move |u| (index, u))) {
            let c = if u < 0 { "c".to_owned() } else { format!("c{}", u % 7) };
            let values = [number(u), Value::Bytes(c.as_bytes())];
            let values = if index == 2 { &values[..] } else { &values[..1] };
            table.indexes[index].layout.beginning(values, &BytesOnly, &mut key).unwrap();
            for columns in [&[][..], &[0], &[1, 3], &[0, 1, 2, 3, 4]] {
                let range = KeyRange::beginning_with(key.clone());
                let wanted = Wanted { index, direction: Ascending, range, columns: columns.to_vec() };
                let by_cursor = rows_one_by_one(session, &table, &wanted, true);
                let point = session.find_point(&table, index, &key, columns, &mut points, false).unwrap();
                let by_key: Vec<String> = match point {
                    Point::Found => {
                        let visit = |visit: &mut dyn FnMut(usize, Value<'_>)| {
                            points.visit_columns(&table, (index, &key), columns, &mut buffers, visit)
                        };
                        vec![shown(columns, visit)]
                    }
                    Point::Missing => Vec::new(),
                    Point::Unsure => by_cursor.clone(),
                };
                assert_eq!(by_key, by_cursor, "{index} {u} {columns:?}");
                counts[point as usize] += 1;
            }
        }
        let [found, missing, unsure] = counts;
        assert!(found > 1_000 && missing > 1_000, "{counts:?}");
        // Who sees what is there now is always told.
        assert_eq!(unsure > 0, [true, true, false, false][number_of], "{counts:?}");
    }
    ages.end();
}

/// Of a long row no more is read than what is wanted takes, if that is in front; of an older version all of it.
#[test]
fn of_a_long_row_the_front_is_read_if_that_is_enough() {
    let (engine, mut writer) = engine(&SimDisk::new(1));
    let long = Column::new(ColumnType::Variable { max_len: 100_000 });
    let columns = vec![column("id", INT), column("u", INT.or_null()), column("s", long), column("n", INT)];
    let t = TableDefinition::new("d", "t", columns).with_primary_key(&[0]);
    let t = writer.create_table(t).unwrap();
    let row = |u: i64, len: usize| (u, vec![b's'; len]);
    for (id, (u, s)) in [row(10, 50_000), row(20, 50)].iter().enumerate() {
        inserts(&mut writer, t, &[number(id as i64), number(*u), Value::Bytes(s), number(7)]);
    }
    writer.commit().unwrap();
    let read = |session: &mut Session, id: i64, columns: &[u16]| {
        let table = session.use_table(t, TableMode::Read).unwrap().unwrap();
        let (mut key, mut payload, mut buffers) = (Vec::new(), Vec::new(), Default::default());
        table.rows().layout.beginning(&[number(id)], &BytesOnly, &mut key).unwrap();
        let portion = session.get(&table, &key, columns, &mut payload, false).unwrap()?;
        let layout = &table.rows().layout;
        let row = shown(columns, |mut visit| {
            layout
                .visit_columns(columns, &key, Payload { bytes: &payload, portion }, &mut buffers, &mut visit)
                .map_err(|_| panic!())
        });
        assert_eq!(portion == Portion::Front, payload.len() < 2_000 && id == 0);
        Some((portion, row))
    };
    let mut reader = engine.session().unwrap();
    let seen = |portion, row: &str| Some((portion, row.to_owned()));
    for columns in [&[][..], &[0], &[1, 3], &[0, 1, 3]] {
        assert_eq!(read(&mut reader, 0, columns).unwrap().0, Portion::Front, "{columns:?}");
        assert_eq!(read(&mut reader, 1, columns).unwrap().0, Portion::Whole, "{columns:?}");
    }
    assert_eq!(read(&mut reader, 0, &[0, 1, 3]), seen(Portion::Front, "0 10 7"));
    assert_eq!(read(&mut reader, 0, &[2]), seen(Portion::Whole, &"s".repeat(50_000)));
    let changed = [number(0), number(11), Value::Bytes(&[b's'; 50_000]), number(8)];
    assert_eq!(update(&mut writer, t, 0, &changed).unwrap(), RowChange::Done);
    assert_eq!(read(&mut reader, 0, &[1, 3]), seen(Portion::Whole, "10 7"));
    assert_eq!(read(&mut writer, 0, &[1, 3]), seen(Portion::Front, "11 8"));
    delete(&mut writer, t, 0).unwrap();
    assert_eq!(read(&mut writer, 0, &[1, 3]), None);
    assert_eq!(read(&mut reader, 0, &[1, 3]), seen(Portion::Whole, "10 7"));
    for mut session in [reader, writer] {
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
