//! The lock table's two races under every interleaving that loom can find: an index that is asked whether it is quiet,
//! and an owner that ends while its implicit lock is made explicit.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p meseta-engine --release --test loom_lock
//! ```
//!
//! Both were tried without each of their fences, and both noticed: a phantom, and an entry that nobody takes back.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use meseta_engine::ids::{IndexId, TableId};
use meseta_engine::lock::IndexLocks;
use meseta_engine::lock::ledger::Ledger;

#[test]
fn a_locker_sees_the_writer_or_the_writer_sees_the_lock() {
    loom::model(|| {
        let index = IndexLocks::new(TableId(1), IndexId(1));
        let latched = Arc::new(AtomicBool::new(false));
        let locker = {
            let (index, latched) = (std::sync::Arc::clone(&index), Arc::clone(&latched));
            thread::spawn(move || {
                index.count_entry();
                index.locked();
                latched.load(Ordering::Relaxed)
            })
        };
        latched.store(true, Ordering::Relaxed);
        let writer_saw = !index.is_quiet();
        let locker_saw = locker.join().unwrap();
        assert!(writer_saw || locker_saw, "a row was changed under a lock");
    });
}

struct Transaction {
    active: AtomicBool,
    ledger: Ledger<u32>,
}

impl Transaction {
    fn new() -> Arc<Self> {
        Arc::new(Self { active: AtomicBool::new(true), ledger: Ledger::default() })
    }

    fn end(&self) -> usize {
        self.active.store(false, Ordering::Relaxed);
        let mut taken = 0;
        loop {
            let batch = self.ledger.take();
            if batch.is_empty() {
                return taken;
            }
            taken += batch.len();
        }
    }

    fn convert(&self, entry: u32) -> bool {
        self.ledger.add_while(entry, || self.active.load(Ordering::Relaxed))
    }
}

#[test]
fn an_owner_that_ends_takes_all_that_was_added_for_it() {
    loom::model(|| {
        let transaction = Transaction::new();
        let converters: Vec<_> = (0..2)
            .map(|entry| {
                let transaction = Arc::clone(&transaction);
                thread::spawn(move || transaction.convert(entry))
            })
            .collect();
        let taken = transaction.end();
        let added = converters.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum::<usize>();
        assert_eq!(taken, added, "an entry stayed behind");
        assert!(transaction.ledger.take().is_empty());
    });
}

#[test]
fn an_owner_that_gives_something_back_meanwhile_still_takes_the_rest() {
    loom::model(|| {
        let transaction = Transaction::new();
        transaction.ledger.add(7);
        let converter = {
            let transaction = Arc::clone(&transaction);
            thread::spawn(move || transaction.convert(1))
        };
        transaction.ledger.forget(|&entry| entry == 7);
        let taken = transaction.end();
        assert_eq!(taken, usize::from(converter.join().unwrap()));
    });
}
