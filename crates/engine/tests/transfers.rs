//! Money moves between accounts: by many sessions at once, and through losses of power.
//!
//! The sum of all balances never changes, in whatever snapshot, and both indexes tell the same. Each teller counts its
//! transfers in an account of its own, in the same transaction: so after a loss of power one sees which transfers are
//! there, and each acknowledged one must be.

mod common;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::*;
use meseta_engine::{EngineError, Isolation, Result, Session};
use meseta_sim::{SeededRandom, SimDisk};

const ACCOUNTS: u32 = 40;
const OPENING_BALANCE: i64 = 1000;
const TELLERS: u32 = 4;
/// The accounts in which tellers count have numbers from here on.
const COUNTERS: u32 = 1000;

fn fill(bank: &Bank) {
    let mut session = bank.engine.session().unwrap();
    for number in 0..ACCOUNTS {
        bank.put(&mut session, number, OPENING_BALANCE).unwrap();
    }
    for teller in 0..TELLERS {
        bank.put(&mut session, COUNTERS + teller, 0).unwrap();
    }
    session.commit().unwrap();
}

/// One transfer, and sometimes a closing or an opening on the way; not committed.
fn transfer(bank: &Bank, session: &mut Session, random: &mut SeededRandom, teller: u32) -> Result<()> {
    let [from, to] = [(); 2].map(|()| random.below(u64::from(ACCOUNTS)) as u32);
    if from != to {
        let amount = random.below(20) as i64;
        let start = session.savepoint();
        if random.below(4) == 0 {
            // Something that a statement does before it fails.
            bank.close_account(session, to)?;
            bank.put(session, ACCOUNTS + teller, 5)?;
            session.roll_back_to(start)?;
        }
        if random.below(8) == 0 {
            // Closed and opened again in one transaction.
            let had = bank.close_account(session, from)?.unwrap_or(0);
            bank.put(session, from, had - amount)?;
        } else {
            bank.set(session, from, |had| Some(had.unwrap_or(0) - amount))?;
        }
        bank.set(session, to, |had| Some(had.unwrap_or(0) + amount))?;
    }
    bank.set(session, COUNTERS + teller, |count| Some(count.unwrap_or(0) + 1))?;
    Ok(())
}

/// What a snapshot sees is a whole.
fn assert_whole(bank: &Bank, session: &mut Session, when: &str) {
    let all = bank.all(session);
    let sum: i64 = all.iter().filter(|&(&number, _)| number < COUNTERS).map(|(_, balance)| balance).sum();
    assert_eq!(sum, i64::from(ACCOUNTS) * OPENING_BALANCE, "{when}: {all:?}");
    assert_eq!(bank.all_by_balance(session), all, "{when}");
}

#[test]
fn many_sessions_move_money() {
    const TRANSFERS: u64 = 1500;
    let disk = SimDisk::new(7);
    let bank = Bank::open(&disk, options());
    fill(&bank);
    let (start, done, deadlocks) = (Barrier::new(TELLERS as usize + 2), AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let auditors: Vec<_> = [Isolation::RepeatableRead, Isolation::ReadCommitted]
            .map(|isolation| {
                let (bank, start, done) = (&bank, &start, &done);
                scope.spawn(move || {
                    let mut session = bank.engine.session().unwrap();
                    session.set_isolation(isolation);
                    start.wait();
                    let mut audits = 0;
                    while !done.load(Ordering::Relaxed) {
                        session.begin_statement();
                        assert_whole(bank, &mut session, "while tellers work");
                        audits += 1;
                        if audits % 5 == 0 {
                            session.commit().unwrap();
                        }
                    }
                    audits
                })
            })
            .into();
        let tellers: Vec<_> = (0..TELLERS)
            .map(|teller| {
                let (bank, start, deadlocks) = (&bank, &start, &deadlocks);
                scope.spawn(move || {
                    let mut random = SeededRandom::new(u64::from(teller));
                    let mut session = bank.engine.session().unwrap();
                    start.wait();
                    for _ in 0..TRANSFERS {
                        loop {
                            match transfer(bank, &mut session, &mut random, teller) {
                                Ok(()) => break session.commit().unwrap(),
                                Err(error) if error.ends_transaction() => {
                                    deadlocks.fetch_add(1, Ordering::Relaxed);
                                    session.roll_back().unwrap();
                                }
                                Err(error) => panic!("{error}"),
                            }
                        }
                    }
                })
            })
            .collect();
        tellers.into_iter().for_each(|teller| teller.join().unwrap());
        done.store(true, Ordering::Relaxed);
        for auditor in auditors {
            assert!(auditor.join().unwrap() > 0);
        }
    });
    println!("{} deadlocks", deadlocks.load(Ordering::Relaxed));
    let mut session = bank.engine.session().unwrap();
    assert_whole(&bank, &mut session, "in the end");
    for teller in 0..TELLERS {
        assert_eq!(bank.balance(&mut session, COUNTERS + teller), Some(TRANSFERS as i64));
    }
    session.commit().unwrap();
    bank.engine.keep_house().unwrap();
    assert_eq!(bank.engine.unpurged(), 0);
    assert_eq!(bank.entries(), [(ACCOUNTS + TELLERS) as usize; 2], "no tombstone is left");
}

#[test]
fn no_acknowledged_transfer_is_lost_with_the_power_and_none_is_there_by_half() {
    let (mut cut, mut acknowledged_in_all) = (0, 0);
    for seed in 0..30u64 {
        let disk = SimDisk::new(seed);
        let bank = Bank::open(&disk, options());
        fill(&bank);
        disk.power_off_after(SeededRandom::new(seed).below(400));
        let acknowledged: Vec<u64> = std::thread::scope(|scope| {
            let tellers: Vec<_> = (0..TELLERS)
                .map(|teller| {
                    let (bank, disk) = (&bank, &disk);
                    scope.spawn(move || work_until_the_power_goes(bank, disk, teller, seed))
                })
                .collect();
            tellers.into_iter().map(|teller| teller.join().unwrap()).collect()
        });
        cut += u64::from(disk.is_off());
        acknowledged_in_all += acknowledged.iter().sum::<u64>();
        drop(bank);
        // Twice: the power goes again while what was cut off is undone and purged.
        for again in 0..2 {
            disk.power_cycle(seed);
            if again == 0 {
                disk.power_off_after(SeededRandom::new(seed + 1000).below(200) + 60);
                if let Err(error) = Bank::try_open(&disk, options()) {
                    assert!(disk.is_off(), "seed {seed}: {error}");
                }
            }
        }
        let bank = Bank::open(&disk, options());
        let mut session = bank.engine.session().unwrap();
        assert_whole(&bank, &mut session, &format!("seed {seed}, before what was cut off is undone"));
        session.commit().unwrap();
        bank.engine.keep_house().unwrap();
        assert_eq!((bank.engine.cut_off(), bank.engine.unpurged()), (0, 0), "seed {seed}");
        assert_whole(&bank, &mut session, &format!("seed {seed}"));
        for (teller, &acknowledged) in (0..TELLERS).zip(&acknowledged) {
            let found = bank.balance(&mut session, COUNTERS + teller).unwrap() as u64;
            // One more may have been decided and not acknowledged.
            assert!(
                (acknowledged..=acknowledged + 1).contains(&found),
                "seed {seed}: teller {teller} was told of {acknowledged} transfers, {found} are there"
            );
        }
        session.commit().unwrap();
        let rows = bank.all(&mut session).len();
        session.commit().unwrap();
        bank.engine.keep_house().unwrap();
        assert_eq!(bank.entries(), [rows; 2], "seed {seed}: no tombstone is left");
        let report = bank.engine.store().check().unwrap();
        assert!(report.problems.is_empty(), "seed {seed}: {:?}", report.problems);
    }
    assert!(cut >= 15, "the power went {cut} times only");
    assert!(acknowledged_in_all > 300, "{acknowledged_in_all} transfers were acknowledged");
}

/// Returns how many transfers were acknowledged.
fn work_until_the_power_goes(bank: &Bank, disk: &SimDisk, teller: u32, seed: u64) -> u64 {
    let mut random = SeededRandom::new(seed * 10 + u64::from(teller));
    let mut session = bank.engine.session().unwrap();
    let mut acknowledged = 0;
    while acknowledged < 200 {
        let outcome = transfer(bank, &mut session, &mut random, teller).and_then(|()| session.commit());
        match outcome {
            Ok(()) => acknowledged += 1,
            Err(EngineError::Lock(_)) => match session.roll_back() {
                Ok(()) => {}
                Err(_) if disk.is_off() => break,
                Err(error) => panic!("seed {seed}: {error}"),
            },
            Err(_) if disk.is_off() => break,
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
    acknowledged
}
