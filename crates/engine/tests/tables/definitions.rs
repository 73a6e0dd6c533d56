//! Tables and indexes that are made, built, altered, renamed and dropped.

use crate::*;

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

/// A table's definition with other columns, in whose rows nothing changes.
fn with_columns(definition: &mut TableDefinition, sources: &[Option<u16>], new: &[ColumnDefinition]) {
    definition.stored = definition.stored_columns_after(sources);
    let mut new = new.iter();
    let columns = sources.iter().map(|source| match source {
        Some(source) => definition.columns[usize::from(*source)].clone(),
        None => new.next().unwrap().clone(),
    });
    definition.columns = columns.collect();
}

#[test]
fn columns_go_come_and_change_places_without_touching_a_row() {
    let disk = SimDisk::new(1);
    let (engine_1, mut session) = engine(&disk);
    let t = session.create_table(t()).unwrap();
    inserts(&mut session, t, &[number(1), number(10), Value::Bytes(b"old")]);
    session.commit().unwrap();
    let mut old = engine_1.session().unwrap();
    assert_eq!(rows(&mut old, t), ["1 10 old"]);
    old.commit().unwrap();
    let stored = |session: &mut Session| {
        session.schema().table(t).unwrap().rows().index.tree.get(&[0x80, 0, 0, 1], <[u8]>::to_vec).unwrap()
    };
    let before = stored(&mut session);
    let new = |name, value| ColumnDefinition { added_with: Some(OwnedValue::Signed(value)), ..column(name, INT) };

    // `u`, and its index, go; others come in front and behind, and one of them goes again.
    let alter = |session: &mut Session, sources: &[Option<u16>], columns: &[ColumnDefinition], key: u16| {
        session.alter_table(t, |definition| {
            definition.indexes[0].parts[0].column = key;
            with_columns(definition, sources, columns);
            Ok(())
        })
    };
    session.drop_index(t, "u").unwrap();
    alter(&mut session, &[None, Some(0), Some(2), None], &[new("n", 7), new("m", 8)], 1).unwrap();
    inserts(&mut session, t, &[number(70), number(2), Value::Bytes(b"new"), number(80)]);
    session.commit().unwrap();
    assert_eq!(rows(&mut session, t), ["7 1 old 8", "70 2 new 80"]);
    session.commit().unwrap();
    alter(&mut session, &[Some(1), Some(3), Some(2), None], &[new("l", 9)], 0).unwrap();
    inserts(&mut session, t, &[number(3), number(800), Value::Bytes(b"newest"), number(90)]);
    session.commit().unwrap();
    let wanted = ["1 8 old 9", "2 80 new 9", "3 800 newest 90"];
    assert_eq!(rows(&mut session, t), wanted);
    session.commit().unwrap();
    assert_eq!(before, stored(&mut session));
    let definition = session.schema().table(t).unwrap().definition.clone();

    drop((session, old, engine_1));
    disk.power_cycle(3);
    let (engine, mut session) = engine(&disk);
    assert_eq!(session.schema().table(t).unwrap().definition, definition);
    assert_eq!(rows(&mut session, t), wanted);
    session.commit().unwrap();
    // What an old row has of columns that have gone does not stay when it is written again.
    let changed = [number(1), number(8), Value::Bytes(b"old"), number(91)];
    assert_eq!(update(&mut session, t, 1, &changed).unwrap(), RowChange::Done);
    session.roll_back().unwrap();
    assert_eq!(rows(&mut session, t), wanted);
    session.commit().unwrap();
    assert_eq!(update(&mut session, t, 1, &changed).unwrap(), RowChange::Done);
    session.commit().unwrap();
    session.create_index(t, index("m", false, &[1])).unwrap();
    assert_eq!(rows(&mut session, t), ["1 8 old 91", "2 80 new 9", "3 800 newest 90"]);
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
        let steps: [DdlStep<'_>; 7] = [
            &|session| session.create_index(table, index("s", false, &[2])),
            &|session| session.drop_index(table, "u"),
            &|session| {
                let added = ColumnDefinition { added_with: Some(OwnedValue::Signed(1)), ..column("n", INT) };
                session.add_column(table, added)
            },
            &|session| {
                session.alter_table(table, |definition| {
                    with_columns(definition, &[Some(0), Some(1), Some(2)], &[]);
                    Ok(())
                })
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
            None => 7,
            Some(found) => {
                let rows = rows(&mut session, table).len();
                let definition = &found.definition;
                let state = (
                    definition.index_beginning_with(&[2]).is_some(),
                    definition.indexes.iter().all(|index| index.name != "u"),
                    (definition.columns.len() == 4) || !definition.stored.is_empty(),
                    !definition.stored.is_empty(),
                    definition.name == "renamed",
                    rows == 0,
                );
                assert!(rows == 0 || rows == 50, "seed {seed}: {rows} rows");
                match state {
                    (false, false, false, false, false, false) => 0,
                    (true, false, false, false, false, false) => 1,
                    (true, true, false, false, false, false) => 2,
                    (true, true, true, false, false, false) => 3,
                    (true, true, true, true, false, false) => 4,
                    (true, true, true, true, true, false) => 5,
                    (true, true, true, true, true, true) => 6,
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
    child.foreign_keys.push(foreign_key("fk", 0, parent, ReferentialAction::Restrict, ReferentialAction::Restrict));
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
