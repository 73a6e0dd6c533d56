//! Transactions one step at a time: what each of a few sessions sees, what rolling back restores, what purge leaves.

mod common;

use std::collections::BTreeMap;

use common::*;
use meseta_engine::{Isolation, Session};
use meseta_sim::SimDisk;

fn bank() -> (SimDisk, Bank) {
    let disk = SimDisk::new(1);
    let bank = Bank::open(&disk, options());
    (disk, bank)
}

fn begun(bank: &Bank, isolation: Isolation) -> Session {
    let mut session = bank.engine.session().unwrap();
    session.set_isolation(isolation);
    session
}

/// Both indexes, as a fresh snapshot sees them.
fn now(bank: &Bank) -> BTreeMap<u32, i64> {
    let mut session = bank.engine.session().unwrap();
    let all = bank.all(&mut session);
    assert_eq!(bank.all_by_balance(&mut session), all, "the indexes agree");
    session.commit().unwrap();
    all
}

fn fill(bank: &Bank, accounts: impl IntoIterator<Item = (u32, i64)>) {
    let mut session = bank.engine.session().unwrap();
    for (number, balance) in accounts {
        bank.put(&mut session, number, balance).unwrap();
    }
    session.commit().unwrap();
}

#[test]
fn a_change_is_seen_by_its_maker_at_once_and_by_others_when_it_commits() {
    let (_disk, bank) = bank();
    let mut writer = begun(&bank, Isolation::RepeatableRead);
    let mut dirty = begun(&bank, Isolation::ReadUncommitted);
    let mut committed = begun(&bank, Isolation::ReadCommitted);
    let mut repeatable = begun(&bank, Isolation::RepeatableRead);
    assert_eq!(bank.balance(&mut repeatable, 1), None);
    bank.put(&mut writer, 1, 100).unwrap();
    assert_eq!(bank.balance(&mut writer, 1), Some(100));
    assert_eq!(bank.balance(&mut dirty, 1), Some(100));
    assert_eq!(bank.balance(&mut committed, 1), None);
    writer.commit().unwrap();
    assert_eq!(bank.balance(&mut committed, 1), None, "the same statement");
    committed.begin_statement();
    assert_eq!(bank.balance(&mut committed, 1), Some(100), "the next one");
    repeatable.begin_statement();
    assert_eq!(bank.balance(&mut repeatable, 1), None);
    repeatable.commit().unwrap();
    assert_eq!(bank.balance(&mut repeatable, 1), Some(100));
}

#[test]
fn an_old_snapshot_sees_what_was_there_through_any_number_of_changes() {
    let (_disk, bank) = bank();
    fill(&bank, (0..50).map(|number| (number, i64::from(number))));
    let mut old = begun(&bank, Isolation::RepeatableRead);
    let before = bank.all(&mut old);
    for round in 1..20 {
        let mut session = bank.engine.session().unwrap();
        for number in 0..60 {
            match (number + round) % 5 {
                0 => bank.close_account(&mut session, number).unwrap(),
                _ => bank.put(&mut session, number, i64::from(number * round)).unwrap(),
            };
        }
        if round % 3 == 0 {
            session.roll_back().unwrap()
        } else {
            session.commit().unwrap()
        }
        bank.engine.keep_house().unwrap();
        assert_eq!(bank.all(&mut old), before);
        assert_eq!(bank.all_by_balance(&mut old), before);
    }
    assert!(bank.engine.unpurged() > 0, "the snapshot holds them");
    old.commit().unwrap();
    bank.engine.keep_house().unwrap();
    assert_eq!(bank.engine.unpurged(), 0);
    let left = now(&bank).len();
    assert_eq!(bank.entries(), [left, left], "no tombstone is left");
}

#[test]
fn rolling_back_restores_every_entry() {
    let (_disk, bank) = bank();
    fill(&bank, (0..100).map(|number| (number, 7)));
    let before = now(&bank);
    bank.engine.keep_house().unwrap();
    let entries = bank.entries();
    let mut session = bank.engine.session().unwrap();
    for number in 50..150 {
        bank.set(&mut session, number, |balance| if number % 3 == 0 { None } else { Some(balance.unwrap_or(1) * 2) })
            .unwrap();
        // The same row again: its versions form a chain within one transaction.
        bank.put(&mut session, number, 5).unwrap();
        bank.close_account(&mut session, number).unwrap();
    }
    session.roll_back().unwrap();
    assert_eq!(now(&bank), before);
    assert_eq!(bank.entries(), entries);
}

#[test]
fn rolling_back_to_a_savepoint_keeps_what_came_before() {
    let (_disk, bank) = bank();
    fill(&bank, [(1, 10), (2, 20), (3, 30)]);
    let mut session = bank.engine.session().unwrap();
    let start = session.savepoint();
    bank.put(&mut session, 1, 11).unwrap();
    let middle = session.savepoint();
    bank.put(&mut session, 1, 12).unwrap();
    bank.close_account(&mut session, 2).unwrap();
    bank.put(&mut session, 4, 40).unwrap();
    session.roll_back_to(middle).unwrap();
    assert_eq!(bank.all(&mut session), [(1, 11), (2, 20), (3, 30)].into());
    bank.put(&mut session, 5, 50).unwrap();
    session.roll_back_to(start).unwrap();
    assert_eq!(bank.all(&mut session), [(1, 10), (2, 20), (3, 30)].into());
    bank.put(&mut session, 6, 60).unwrap();
    session.commit().unwrap();
    assert_eq!(now(&bank), [(1, 10), (2, 20), (3, 30), (6, 60)].into());
}

#[test]
fn what_was_rolled_back_to_a_savepoint_stays_locked() {
    let (_disk, bank) = bank();
    fill(&bank, [(1, 10)]);
    let mut first = bank.engine.session().unwrap();
    let start = first.savepoint();
    bank.put(&mut first, 1, 11).unwrap();
    first.roll_back_to(start).unwrap();
    let mut second = bank.engine.session().unwrap();
    second.set_lock_wait(std::time::Duration::ZERO);
    second.set_table_wait(std::time::Duration::ZERO);
    let refused = bank.put(&mut second, 1, 12).unwrap_err();
    assert!(refused.to_string().contains("timeout"), "{refused}");
    first.commit().unwrap();
    second.roll_back().unwrap();
    bank.put(&mut second, 1, 12).unwrap();
    second.commit().unwrap();
    assert_eq!(now(&bank), [(1, 12)].into());
}

#[test]
fn a_tombstone_that_was_purged_is_not_put_back() {
    let (_disk, bank) = bank();
    fill(&bank, [(1, 10)]);
    let mut reader = begun(&bank, Isolation::RepeatableRead);
    bank.balance(&mut reader, 1);
    let mut session = bank.engine.session().unwrap();
    bank.close_account(&mut session, 1).unwrap();
    session.commit().unwrap();
    // Over the tombstone, which the reader keeps from being purged ...
    let mut late = bank.engine.session().unwrap();
    bank.put(&mut late, 1, 20).unwrap();
    // ... until now: but it is not on top, so purge leaves it.
    reader.commit().unwrap();
    bank.engine.keep_house().unwrap();
    late.roll_back().unwrap();
    bank.engine.keep_house().unwrap();
    assert_eq!(bank.entries(), [0, 0]);
}

#[test]
fn a_session_that_goes_away_rolls_back() {
    let (_disk, bank) = bank();
    {
        let mut session = bank.engine.session().unwrap();
        bank.put(&mut session, 1, 1).unwrap();
    }
    assert_eq!(now(&bank), BTreeMap::new());
    assert_eq!(bank.entries(), [0, 0]);
}

#[test]
fn long_rows_have_versions_too() {
    let (_disk, mut bank) = bank();
    bank.padding = 100_000;
    fill(&bank, [(1, 1), (2, 2)]);
    let mut old = begun(&bank, Isolation::RepeatableRead);
    let before = bank.all(&mut old);
    fill(&bank, [(1, 100), (3, 3)]);
    assert_eq!(bank.all(&mut old), before);
    let mut session = bank.engine.session().unwrap();
    bank.put(&mut session, 1, 1000).unwrap();
    session.roll_back().unwrap();
    assert_eq!(now(&bank), [(1, 100), (2, 2), (3, 3)].into());
}

#[test]
fn a_prepared_transaction_waits_for_its_coordinator() {
    let (disk, bank) = bank();
    fill(&bank, [(1, 10), (2, 20), (3, 30)]);
    let mut session = bank.engine.session().unwrap();
    for (number, name) in [(1, &b"first"[..]), (2, b"second"), (3, b"third")] {
        bank.put(&mut session, number, 100 + i64::from(number)).unwrap();
        assert!(session.prepare(name).unwrap());
    }
    assert!(!session.prepare(b"nothing").unwrap(), "what changed nothing ends with its preparation");
    bank.put(&mut session, 4, 40).unwrap();
    assert!(session.prepare(b"first").is_err());
    session.commit().unwrap();
    assert_eq!(bank.engine.prepared(), [&b"first"[..], b"second", b"third"]);
    session.set_lock_wait(std::time::Duration::ZERO);
    session.set_table_wait(std::time::Duration::ZERO);
    assert!(bank.put(&mut session, 1, 0).is_err(), "its rows are locked");
    session.roll_back().unwrap();
    bank.engine.commit_prepared(b"third").unwrap();
    assert!(bank.engine.commit_prepared(b"third").is_err());
    assert_eq!(now(&bank), [(1, 10), (2, 20), (3, 103), (4, 40)].into());
    drop((session, bank));
    disk.power_cycle(5);

    let bank = Bank::open(&disk, options());
    bank.engine.keep_house().unwrap();
    assert_eq!(bank.engine.prepared(), [&b"first"[..], b"second"]);
    let mut session = bank.engine.session().unwrap();
    session.set_lock_wait(std::time::Duration::ZERO);
    session.set_table_wait(std::time::Duration::ZERO);
    assert!(bank.put(&mut session, 1, 0).is_err(), "they still are");
    session.roll_back().unwrap();
    bank.engine.commit_prepared(b"first").unwrap();
    bank.engine.roll_back_prepared(b"second").unwrap();
    assert_eq!(now(&bank), [(1, 101), (2, 20), (3, 103), (4, 40)].into());
    drop((session, bank));
    disk.power_cycle(6);

    let bank = Bank::open(&disk, options());
    assert!(bank.engine.prepared().is_empty());
    bank.engine.keep_house().unwrap();
    assert_eq!((bank.engine.cut_off(), bank.engine.unpurged()), (0, 0));
    assert_eq!(now(&bank), [(1, 101), (2, 20), (3, 103), (4, 40)].into());
}
