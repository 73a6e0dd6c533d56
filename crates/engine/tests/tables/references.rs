//! Foreign keys: parents, children, and what follows from what.

use crate::*;

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
    staff.foreign_keys.push(foreign_key("boss", 1, TableId(0), Cascade, Cascade));
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
            child.foreign_keys.push(foreign_key(&format!("{}", 9 - at), at, parent, on_delete, Restrict));
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
