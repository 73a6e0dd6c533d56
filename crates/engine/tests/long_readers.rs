//! Snapshots that are held while others write: they see what they saw, they keep no more than that, and what they kept
//! goes when they go.

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::*;
use meseta_engine::Session;
use meseta_sim::{SeededRandom, SimDisk};

const ACCOUNTS: u32 = 60;
/// So many transactions wait in each of four slots before the engine looks what of them nobody sees.
const UNTHINNED: usize = 4 * 64;

fn fill(bank: &Bank) {
    let mut session = bank.engine.session().unwrap();
    for number in 0..ACCOUNTS {
        bank.put(&mut session, number, i64::from(number)).unwrap();
    }
    session.commit().unwrap();
    bank.engine.keep_house().unwrap();
}

/// What a snapshot sees through both indexes.
fn seen(bank: &Bank, session: &mut Session) -> BTreeMap<u32, i64> {
    let all = bank.all(session);
    assert_eq!(bank.all_by_balance(session), all);
    all
}

/// Some change of one account.
fn change(bank: &Bank, session: &mut Session, random: &mut SeededRandom) {
    let number = random.below(u64::from(ACCOUNTS)) as u32;
    let balance = random.below(1 << 40) as i64;
    let closes = random.below(8) == 0;
    bank.set(session, number, |_| (!closes).then_some(balance)).unwrap();
}

#[test]
fn an_old_snapshot_keeps_what_it_sees_and_no_more() {
    let bank = Bank::open(&SimDisk::new(1), options());
    fill(&bank);
    let mut old = bank.engine.session().unwrap();
    let before = seen(&bank, &mut old);
    let mut random = SeededRandom::new(1);
    let mut sessions: Vec<Session> = (0..4).map(|_| bank.engine.session().unwrap()).collect();
    let mut most = [0, 0];
    for round in 0..40 {
        for turn in 0..200 {
            let session = &mut sessions[turn % 4];
            change(&bank, session, &mut random);
            session.commit().unwrap();
        }
        bank.engine.keep_house().unwrap();
        assert_eq!(seen(&bank, &mut old), before, "round {round}");
        let entries = bank.entries();
        most = [0, 1].map(|at| most[at].max(entries[at]));
        // One transaction for what the snapshot sees of an account, and one for what it sees of its old index entry.
        let kept = bank.engine.unpurged();
        assert!(kept <= UNTHINNED + 2 * ACCOUNTS as usize, "round {round}: {kept}");
    }
    // Of each account what the snapshot sees, what is there now, and what was not worth thinning.
    assert!(most[0] <= ACCOUNTS as usize, "{most:?} entries");
    assert!(most[1] <= 2 * ACCOUNTS as usize + UNTHINNED, "{most:?} entries");
    old.commit().unwrap();
    bank.engine.keep_house().unwrap();
    assert_eq!(bank.engine.unpurged(), 0);
    let left = seen(&bank, &mut old).len();
    assert_eq!(bank.entries(), [left, left], "no tombstone is left");
}

#[test]
fn snapshots_of_many_ages_see_what_they_saw_while_others_write() {
    const COMMITS: u64 = 6000;
    /// And so many looks at what others have changed since: however the threads are scheduled, the readers look.
    const LOOKS: u64 = 20;
    let bank = Bank::open(&SimDisk::new(2), options());
    fill(&bank);
    let (commits, looks, done) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (bank, commits, looks, done) = (&bank, &commits, &looks, &done);
        let writers: Vec<_> = (0..2u64)
            .map(|writer| {
                scope.spawn(move || {
                    let mut random = SeededRandom::new(writer);
                    let mut session = bank.engine.session().unwrap();
                    while commits.load(Ordering::Relaxed) < COMMITS || looks.load(Ordering::Relaxed) < LOOKS {
                        // One account at a time: no deadlock.
                        change(bank, &mut session, &mut random);
                        if random.below(10) == 0 {
                            session.roll_back().unwrap();
                        } else {
                            session.commit().unwrap();
                            commits.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            })
            .collect();
        let housekeeper = scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                bank.engine.keep_house().unwrap();
            }
        });
        let readers: Vec<_> = (0..3u64)
            .map(|reader| {
                scope.spawn(move || {
                    let mut random = SeededRandom::new(100 + reader);
                    let mut session = bank.engine.session().unwrap();
                    while !done.load(Ordering::Relaxed) {
                        let before = seen(bank, &mut session);
                        // For as long as so many others commit.
                        let until = commits.load(Ordering::Relaxed) + random.below(1500);
                        while commits.load(Ordering::Relaxed) < until && !done.load(Ordering::Relaxed) {
                            assert_eq!(seen(bank, &mut session), before);
                            looks.fetch_add(1, Ordering::Relaxed);
                        }
                        session.commit().unwrap();
                    }
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::Relaxed);
        housekeeper.join().unwrap();
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
    bank.engine.keep_house().unwrap();
    assert_eq!(bank.engine.unpurged(), 0);
    let mut session = bank.engine.session().unwrap();
    let left = seen(&bank, &mut session).len();
    assert_eq!(bank.entries(), [left, left], "no tombstone is left");
    let report = bank.engine.store().check().unwrap();
    assert!(report.problems.is_empty(), "{:?}", report.problems);
}
