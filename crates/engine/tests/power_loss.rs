//! Losses of power under a workload of many indexes: what was acknowledged is there, nothing else is, every index has what
//! the table has, and what was prepared still is.
//!
//! Each worker has rows of its own, so it knows what they must be; values of the unique columns are anybody's, so workers
//! meet there. Sequences follow from a seed, from 1 on, or `MESETA_ENGINE_POWER_SEED`; there are 40, or
//! `MESETA_ENGINE_POWER_RUNS`. Threads take turns as they like, so a seed does not repeat all of what happened.

mod common;

use std::collections::BTreeMap;

use common::*;
use meseta_engine::catalog::TableHandle;
use meseta_engine::ids::TableId;
use meseta_engine::lock::{Mode, TableMode};
use meseta_engine::row::{Column, ColumnType, IntegerWidth, KeyRange, Value};
use meseta_engine::rows::{RowChange, RowCursor};
use meseta_engine::table::{ColumnDefinition, IndexDefinition, PartDefinition, TableDefinition};
use meseta_engine::{Direction, Engine, EngineError, Result, Session};
use meseta_sim::{SeededRandom, SimDisk};

const WORKERS: u32 = 3;
const ROWS_EACH: u32 = 12;

/// Two values that are unique or NULL, and a text.
type Row = (Option<i64>, i64, Vec<u8>);
/// A worker's rows by their numbers.
type Rows = BTreeMap<u32, Row>;

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

fn definition() -> TableDefinition {
    let number = Column::new(ColumnType::Signed(IntegerWidth::Eight));
    let columns = vec![
        ColumnDefinition::new("id", Column::new(ColumnType::Unsigned(IntegerWidth::Four))),
        ColumnDefinition::new("a", number.or_null()),
        ColumnDefinition::new("b", number),
        ColumnDefinition::new("text", Column::new(ColumnType::Variable { max_len: 9000 })),
    ];
    let part = PartDefinition::new;
    let falling = PartDefinition { descending: true, ..part(2) };
    let beginning = PartDefinition { prefix: Some(3), ..part(3) };
    TableDefinition::new("d", "t", columns)
        .with_primary_key(&[0])
        .with_index(IndexDefinition::new("a", true, vec![part(1)]))
        .with_index(IndexDefinition::new("falling", false, vec![falling, beginning]))
        .with_index(IndexDefinition::new("a_b", true, vec![part(1), part(2)]))
        .with_index(IndexDefinition::new("text", false, vec![beginning]))
}

fn values(number: u32, row: &Row) -> [Value<'_>; 4] {
    let a = row.0.map_or(Value::Null, Value::Signed);
    [Value::Unsigned(number.into()), a, Value::Signed(row.1), Value::Bytes(&row.2)]
}

fn read_row(values: &[Value<'_>]) -> (u32, Row) {
    match *values {
        [Value::Unsigned(number), Value::Null, Value::Signed(b), Value::Bytes(text)] => {
            (number as u32, (None, b, text.to_vec()))
        }
        [Value::Unsigned(number), Value::Signed(a), Value::Signed(b), Value::Bytes(text)] => {
            (number as u32, (Some(a), b, text.to_vec()))
        }
        _ => panic!("{values:?} is no row"),
    }
}

fn select(session: &mut Session, table: &TableHandle, index: usize) -> Vec<(u32, Row)> {
    let mut cursor = RowCursor::consistent(table, index, KeyRange::ALL, Direction::Ascending, 0..4);
    let mut rows = Vec::new();
    while cursor.next(session).unwrap() {
        let (mut buffers, mut values) = (Default::default(), Vec::new());
        cursor.read(&mut buffers, &mut values).unwrap();
        rows.push(read_row(&values));
    }
    rows
}

fn random_row(random: &mut SeededRandom) -> Row {
    let a = (random.below(3) > 0).then(|| random.below(60) as i64);
    let len = if random.below(20) == 0 { 8000 } else { random.below(40) };
    let text = (0..len).map(|_| b'a' + random.below(3) as u8).collect();
    (a, random.below(30) as i64, text)
}

/// Changes one row, in the database and in `rows`; a conflict leaves it as it is.
fn change(
    session: &mut Session,
    table: &TableHandle,
    number: u32,
    rows: &mut Rows,
    random: &mut SeededRandom,
) -> Result<()> {
    loop {
        let found = session.find_row(table, &number.to_be_bytes(), Mode::Exclusive)?;
        assert_eq!(found.is_some(), rows.contains_key(&number), "row {number}");
        let after = (random.below(4) > 0).then(|| random_row(random));
        let done = match (&found, &after) {
            (None, None) => return Ok(()),
            (None, Some(row)) => session.insert_row(table, &values(number, row), Mode::Shared)?,
            (Some(found), Some(row)) => session.update_row(table, found, &values(number, row), Mode::Shared)?,
            (Some(found), None) => session.delete_row(table, found)?,
        };
        match (done, after) {
            (RowChange::Done, Some(row)) => drop(rows.insert(number, row)),
            (RowChange::Done, None) => drop(rows.remove(&number)),
            (RowChange::Conflict(_), _) => {}
            (RowChange::Stale, _) => continue,
        }
        return Ok(());
    }
}

/// Inserts a worker's rows from this number on that are not there, in the database and in `rows`: up to the first that
/// another is in the way of.
fn insert_several(
    session: &mut Session,
    table: &TableHandle,
    from: u32,
    rows: &mut Rows,
    random: &mut SeededRandom,
) -> Result<()> {
    let numbers = (from..).take_while(|number| number / ROWS_EACH == from / ROWS_EACH);
    let absent: Vec<u32> = numbers.filter(|number| !rows.contains_key(number)).collect();
    let new: Vec<(u32, Row)> = absent.into_iter().map(|number| (number, random_row(random))).collect();
    let given: Vec<_> = new.iter().map(|(number, row)| values(*number, row).to_vec()).collect();
    let (inserted, _) = insert_in_runs(session, table, &given)?;
    rows.extend(new.into_iter().take(inserted));
    Ok(())
}

/// What a worker knows when the power has gone.
struct Knows {
    /// What its rows are, as was acknowledged.
    rows: Rows,
    /// What they are instead, if what was under way survived.
    or: Option<Rows>,
    /// The name of a transaction that it prepared, and what its rows are if that is committed; acknowledged or under way.
    prepared: Option<(Vec<u8>, Rows, bool)>,
}

fn work(engine: &Engine, disk: &SimDisk, table: TableId, worker: u32, seed: u64) -> Knows {
    let mut random = SeededRandom::new(seed * 100 + u64::from(worker));
    let mut session = engine.session().unwrap();
    // Others may have prepared, and then keep what they have.
    session.set_lock_wait(std::time::Duration::from_millis(20));
    session.set_table_wait(std::time::Duration::from_millis(20));
    let mut knows = Knows { rows: Rows::new(), or: None, prepared: None };
    for turn in 0..200 {
        let mut rows = knows.rows.clone();
        let changed: Result<()> = (0..1 + random.below(4)).try_for_each(|_| {
            let table = session.use_table(table, TableMode::Write)?.unwrap();
            let number = worker * ROWS_EACH + random.below(u64::from(ROWS_EACH)) as u32;
            match random.below(4) {
                0 => insert_several(&mut session, &table, number, &mut rows, &mut random),
                _ => change(&mut session, &table, number, &mut rows, &mut random),
            }
        });
        match changed {
            Ok(()) if random.below(8) == 0 => {
                if session.roll_back().is_err() {
                    break;
                }
            }
            Ok(()) if turn > 40 && random.below(30) == 0 && rows != knows.rows => {
                // What is prepared keeps its rows, so this worker has done its work.
                let name = format!("{worker}").into_bytes();
                let acknowledged = session.prepare(&name).is_ok();
                knows.prepared = Some((name, rows, acknowledged));
                break;
            }
            Ok(()) => match session.commit() {
                Ok(()) => knows.rows = rows,
                Err(_) => {
                    knows.or = Some(rows);
                    break;
                }
            },
            Err(error) => {
                if disk.is_off() || session.roll_back().is_err() {
                    break;
                }
                assert!(matches!(error, meseta_engine::EngineError::Lock(_)), "seed {seed}: {error}");
            }
        }
    }
    knows
}

/// The rows of one worker, through every index.
fn found(session: &mut Session, table: TableId, worker: u32) -> Rows {
    let table = session.use_table(table, TableMode::Read).unwrap().unwrap();
    let all: Rows = select(session, &table, 0).into_iter().collect();
    for index in 1..table.indexes.len() {
        let through = select(session, &table, index);
        assert_eq!(through.len(), all.len(), "index {index}");
        assert_eq!(through.into_iter().collect::<Rows>(), all, "index {index}");
    }
    all.into_iter().filter(|(number, _)| number / ROWS_EACH == worker).collect()
}

fn one_loss(seed: u64) -> (bool, bool) {
    let disk = SimDisk::new(seed);
    let engine = open_engine(&disk, options()).unwrap();
    let mut session = engine.session().unwrap();
    session.create_database("d", &[]).unwrap();
    let table = session.create_table(definition()).unwrap();
    drop(session);
    disk.power_off_after(SeededRandom::new(seed).below(500));
    let all: Vec<Knows> = std::thread::scope(|scope| {
        let (engine, disk) = (&engine, &disk);
        let workers: Vec<_> =
            (0..WORKERS).map(|worker| scope.spawn(move || work(engine, disk, table, worker, seed))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let was_cut = disk.is_off();
    drop(engine);
    disk.power_cycle(seed);
    let engine = open_engine(&disk, options()).unwrap();
    let prepared = engine.prepared();
    let mut session = engine.session().unwrap();
    session.set_lock_wait(std::time::Duration::ZERO);
    session.set_table_wait(std::time::Duration::ZERO);
    let mut decided = false;
    for (worker, knows) in (0..WORKERS).zip(all) {
        let rows = found(&mut session, table, worker);
        session.commit().unwrap();
        let is_expected = rows == knows.rows || knows.or.as_ref() == Some(&rows);
        assert!(is_expected, "seed {seed}, worker {worker}: {rows:?} and not {:?} or {:?}", knows.rows, knows.or);
        let Some((name, instead, acknowledged)) = knows.prepared else { continue };
        let is_prepared = prepared.contains(&name);
        assert!(is_prepared || !acknowledged, "seed {seed}, worker {worker}: what was prepared is not");
        if is_prepared {
            decided = true;
            let refused = session.drop_tables(&[table]).unwrap_err();
            assert!(matches!(refused, EngineError::Lock(_)), "seed {seed}: it is in use: {refused}");
            session.roll_back().unwrap();
            let commits = seed.is_multiple_of(2);
            if commits { engine.commit_prepared(&name) } else { engine.roll_back_prepared(&name) }.unwrap();
            let expected = if commits { &instead } else { &knows.rows };
            assert_eq!(&found(&mut session, table, worker), expected, "seed {seed}, worker {worker}: decided");
            session.commit().unwrap();
        }
    }
    engine.keep_house().unwrap();
    assert_eq!((engine.cut_off(), engine.unpurged()), (0, 0), "seed {seed}");
    let table = session.use_table(table, TableMode::Read).unwrap().unwrap();
    let rows = select(&mut session, &table, 0).len();
    for index in &table.indexes {
        let mut entries = 0;
        index
            .index
            .tree
            .scan(&[], |_, _| {
                entries += 1;
                true
            })
            .unwrap();
        assert_eq!(entries, rows, "seed {seed}: no tombstone is left");
    }
    session.commit().unwrap();
    let report = engine.check().unwrap();
    assert!(report.is_sound(), "seed {seed}: {report:?}");
    (was_cut, decided)
}

#[test]
fn every_index_has_what_the_table_has_after_the_power_was_lost() {
    let first = setting("MESETA_ENGINE_POWER_SEED", 1);
    let runs = setting("MESETA_ENGINE_POWER_RUNS", 40);
    let (mut cut, mut decided) = (0, 0);
    for seed in first..first + runs {
        println!("MESETA_ENGINE_POWER_SEED={seed} MESETA_ENGINE_POWER_RUNS=1");
        let (was_cut, has_decided) = one_loss(seed);
        cut += u64::from(was_cut);
        decided += u64::from(has_decided);
    }
    assert!(runs < 40 || cut >= runs / 3, "the power went {cut} times only");
    assert!(runs < 40 || decided > 0, "nothing was prepared");
}
