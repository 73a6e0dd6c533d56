//! Cycles of two to ten transactions, while others work: each is found, one of them is the victim, and the others finish.
//!
//! Who is in a cycle changes rows of its own first, so that the cheapest transaction is known: it is to be the victim.

mod common;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::*;
use meseta_engine::lock::LockError;
use meseta_engine::{EngineError, Result, Session};
use meseta_sim::{SeededRandom, SimDisk};

/// The row that each member of a cycle has, and the next one wants.
const CORNERS: u32 = 100;
/// Rows that members change to weigh more.
const WEIGHTS: u32 = 1000;
/// Rows of those who are in no cycle.
const OTHERS: u32 = 10_000;
const BYSTANDERS: u32 = 3;

fn fill(bank: &Bank) {
    let mut session = bank.engine.session().unwrap();
    let weights = (0..10).flat_map(|member| (0..20).map(move |row| WEIGHTS + 100 * member + row));
    for number in (0..10).map(|corner| CORNERS + corner).chain(weights).chain(OTHERS..OTHERS + 30) {
        bank.put(&mut session, number, 0).unwrap();
    }
    session.commit().unwrap();
}

fn add_one(bank: &Bank, session: &mut Session, number: u32) -> Result<()> {
    bank.set(session, number, |had| had.map(|had| had + 1)).map(|_| ())
}

fn is_deadlock(error: &EngineError) -> bool {
    matches!(error, EngineError::Lock(LockError::Deadlock))
}

/// Changes rows that others change too, in order, so that nothing ends in a deadlock.
fn stand_by(bank: &Bank, number: u32, done: &AtomicBool) {
    let mut random = SeededRandom::new(u64::from(number));
    let mut session = bank.engine.session().unwrap();
    while !done.load(Ordering::Relaxed) {
        let first = OTHERS + random.below(15) as u32;
        add_one(bank, &mut session, first).unwrap();
        add_one(bank, &mut session, first + 1 + random.below(14) as u32).unwrap();
        session.commit().unwrap();
    }
}

/// Ends the bystanders, also when a test fails.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A member of a cycle: true if it was the victim.
fn take_part(bank: &Bank, member: u32, size: u32, cheapest: u32, all_have_theirs: &Barrier) -> bool {
    let mut session = bank.engine.session().unwrap();
    session.set_lock_wait(Duration::from_secs(60));
    let weight = if member == cheapest { 1 } else { 5 + member };
    for row in 0..weight {
        add_one(bank, &mut session, WEIGHTS + 100 * member + row).unwrap();
    }
    add_one(bank, &mut session, CORNERS + member).unwrap();
    all_have_theirs.wait();
    match add_one(bank, &mut session, CORNERS + (member + 1) % size) {
        Ok(()) => {
            session.commit().unwrap();
            false
        }
        Err(error) => {
            assert!(is_deadlock(&error), "{error}");
            session.roll_back().unwrap();
            true
        }
    }
}

#[test]
fn every_cycle_has_one_victim_and_it_is_the_cheapest() {
    let bank = Bank::open(&SimDisk::new(1), options());
    fill(&bank);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _ends = Ends(&done);
        for number in 0..BYSTANDERS {
            let (bank, done) = (&bank, &done);
            scope.spawn(move || stand_by(bank, number, done));
        }
        for round in 0..3 {
            for size in 2..=10 {
                let cheapest = (round * 7 + 3) % size;
                let all_have_theirs = Barrier::new(size as usize);
                let since = Instant::now();
                let victims: Vec<u32> = std::thread::scope(|scope| {
                    let members: Vec<_> = (0..size)
                        .map(|member| {
                            let (bank, barrier) = (&bank, &all_have_theirs);
                            scope.spawn(move || take_part(bank, member, size, cheapest, barrier))
                        })
                        .collect();
                    let victims = members.into_iter().map(|member| member.join().unwrap());
                    (0..size).zip(victims).filter(|&(_, is_victim)| is_victim).map(|(member, _)| member).collect()
                });
                assert_eq!(victims, [cheapest], "a cycle of {size}, after {:?}", since.elapsed());
                let told = bank.engine.last_deadlock().expect("it is remembered");
                assert_eq!(told.parties.len(), size as usize, "{told:?}");
            }
        }
    });
    let mut session = bank.engine.session().unwrap();
    let all = bank.all(&mut session);
    assert_eq!(all, bank.all_by_balance(&mut session));
    // In each cycle all but the victim have added one to their own corner and to the next.
    let corners: i64 = (0..10).map(|corner| all[&(CORNERS + corner)]).sum();
    let expected: i64 = 3 * (2..=10).map(|size| 2 * (size - 1)).sum::<i64>();
    assert_eq!(corners, expected);
}

/// One who waits for another to change the same row, anywhere in its indexes, is left with no lock but the row's.
#[test]
fn changes_of_one_row_wait_for_each_other_and_no_more() {
    let bank = Bank::open(&SimDisk::new(2), options());
    let mut session = bank.engine.session().unwrap();
    bank.put(&mut session, CORNERS, 0).unwrap();
    session.commit().unwrap();
    const CHANGES: i64 = 10_000;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut session = bank.engine.session().unwrap();
                for _ in 0..CHANGES {
                    add_one(&bank, &mut session, CORNERS).unwrap();
                    session.commit().unwrap();
                }
            });
        }
    });
    assert_eq!(bank.balance(&mut bank.engine.session().unwrap(), CORNERS), Some(4 * CHANGES));
}
