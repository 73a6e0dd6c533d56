//! Histories of many sessions at once, judged as Elle judges them: what one saw of another must be what its isolation level
//! allows.
//!
//! ```text
//!   workload     sessions on threads read, write, delete, roll back, meet deadlocks   --->  history
//!   versions     history  --->  the order of each key's versions, and which of them each read saw
//!   graph        who depends on whom, and cycles                     checker   which phenomena that is
//!   levels       which of them a level forbids                       known     histories whose phenomena one knows
//! ```
//!
//! The number of histories is 30, or `MESETA_HISTORIES_RUNS`; the first seed is 1, or `MESETA_HISTORIES_SEED`. A failure
//! names its seed. It repeats what each session does, but not how the sessions meet: it may take a few tries.

#[path = "../common/mod.rs"]
mod common;

mod checker;
mod graph;
mod history;
mod known;
mod levels;
mod versions;
mod workload;

use std::sync::atomic::{AtomicU64, Ordering};

use meseta_engine::Isolation;
use meseta_engine::row::KeyRange;
use meseta_sim::{SeededRandom, SimDisk};

use common::{BY_BALANCE, Bank, options};

use checker::{Phenomenon, check};
use history::{Fate, History, Kind};
use levels::forbidden;
use workload::{Plan, record};

const LEVELS: [Isolation; 4] =
    [Isolation::ReadUncommitted, Isolation::ReadCommitted, Isolation::RepeatableRead, Isolation::Serializable];

fn number_from(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

/// Records one history and judges it. Every fifth is of sessions at several levels.
fn run(seed: u64) -> Result<(), String> {
    let mut random = SeededRandom::new(seed);
    let level = LEVELS.get(seed as usize % 5).copied();
    let plan = Plan::random(&mut random, level);
    let history = record(&plan, seed);
    // At READ COMMITTED nothing is locked where there is nothing. Of several levels the lowest counts.
    let lowest = plan.levels.iter().copied().min().expect("there are sessions");
    let locks_all = plan.locks_all && (plan.are_filled || lowest >= Isolation::RepeatableRead);
    let forbidden = forbidden(lowest, locks_all);
    let findings: Vec<String> = check(&history)
        .iter()
        .filter(|finding| forbidden.contains(&finding.phenomenon))
        .map(|finding| finding.to_string())
        .collect();
    if findings.is_empty() {
        return Ok(());
    }
    Err(format!("{plan:?}: {} findings\n{}", findings.len(), findings[..findings.len().min(5)].join("\n")))
}

/// Histories that are recorded at once. Sessions wait for each other most of the time, so more than there are cores.
const WORKERS: u64 = 8;

#[test]
fn no_history_shows_what_its_level_forbids() {
    let first = number_from("MESETA_HISTORIES_SEED", 1);
    let runs = number_from("MESETA_HISTORIES_RUNS", 30);
    let next = AtomicU64::new(first);
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= first + runs {
                return;
            }
            let repeat = format!("MESETA_HISTORIES_SEED={seed} MESETA_HISTORIES_RUNS=1 repeats it, mostly");
            match std::panic::catch_unwind(|| run(seed)) {
                Ok(Ok(())) => {}
                Ok(Err(what)) => panic!("{repeat}: {what}"),
                Err(_) => panic!("{repeat}: a panic"),
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS.min(runs)).map(|_| scope.spawn(work)).collect();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// Whether a few histories of sessions at this level show one of these.
fn shows(level: Isolation, kind: Kind, wanted: &[Phenomenon]) -> bool {
    let found = |history: &History| check(history).iter().any(|finding| wanted.contains(&finding.phenomenon));
    (1..40).any(|seed| {
        let mut plan = Plan::random(&mut SeededRandom::new(seed), Some(level));
        (plan.kind, plan.keys, plan.locks_all) = (kind, 6, false);
        found(&record(&plan, seed))
    })
}

/// Else the sessions would not meet, or the checker would be blind.
#[test]
fn histories_show_what_their_level_allows() {
    use Phenomenon::{G1a, G1b, G2Item, GSingle, LostUpdate};
    for kind in [Kind::Lists, Kind::Registers] {
        assert!(shows(Isolation::ReadUncommitted, kind, &[G1a, G1b]), "{kind:?}");
        assert!(shows(Isolation::ReadCommitted, kind, &[GSingle]), "{kind:?}");
        for wanted in [LostUpdate, G2Item] {
            assert!(shows(Isolation::RepeatableRead, kind, &[wanted]), "{kind:?} {wanted:?}");
        }
    }
}

/// A history at READ COMMITTED, called one at REPEATABLE READ: the checker must see that.
#[test]
fn views_that_are_not_one_are_found_out() {
    let is_found_out = |seed| {
        let mut plan = Plan::random(&mut SeededRandom::new(seed), Some(Isolation::ReadCommitted));
        (plan.keys, plan.locks_all) = (6, false);
        let mut history = record(&plan, seed);
        for transaction in &mut history.transactions {
            for operation in &mut transaction.operations {
                if let history::Operation::Read(read) = operation {
                    read.view = read.view.map(|_| 0);
                }
            }
        }
        check(&history).iter().any(|finding| finding.phenomenon == Phenomenon::View)
    };
    assert!((1..40).any(is_found_out));
}

/// The work is not done in vain: most transactions commit.
#[test]
fn most_transactions_commit() {
    for level in LEVELS {
        let plan = Plan::random(&mut SeededRandom::new(1), Some(level));
        let transactions = record(&plan, 1).transactions;
        let committed = transactions.iter().filter(|transaction| transaction.fate == Fate::Committed).count();
        println!("{level:?}: {committed} of {} committed", transactions.len());
        assert!(committed * 4 > transactions.len(), "{level:?}: {committed} of {}", transactions.len());
    }
}

/// A mistake of the engine's that histories found, told in a few lines: in a snapshot, an entry of a secondary index showed
/// the version from before another's commit, while the row had a version of the transaction's own. The row decides.
#[test]
fn a_row_that_its_own_transaction_moved_is_read_once_in_a_secondary_index() {
    let bank = Bank::open(&SimDisk::new(1), options());
    let mut session = bank.engine.session().unwrap();
    let mut other = bank.engine.session().unwrap();
    for (number, after) in [(1, Some(30)), (2, None)] {
        bank.put(&mut other, number, 10).unwrap();
        other.commit().unwrap();
        assert_eq!(bank.balance(&mut session, number), Some(10));
        bank.put(&mut other, number, 20).unwrap();
        other.commit().unwrap();
        bank.set(&mut session, number, |_| after).unwrap();
        let expected: Vec<_> = after.map(|balance| (number, balance)).into_iter().collect();
        assert_eq!(bank.select(&mut session, 0, KeyRange::ALL), expected, "the row");
        // Of the row that it changed: (1, 10) and (1, 30). Of the one that it deleted: (2, 10), or if a column is asked for
        // that the index has not, the error that the row's entry is damaged.
        assert_eq!(bank.select(&mut session, BY_BALANCE, KeyRange::ALL), expected, "its entries");
        session.roll_back().unwrap();
        bank.close_account(&mut other, number).unwrap();
        other.commit().unwrap();
    }
}
