//! The lock table's races under every interleaving that loom can find: an index that is asked whether it is quiet, an owner that
//! ends while its implicit lock is made explicit, and a span that reaches for a key while others write or lock it.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p meseta-engine --release --test loom_lock
//! ```
//!
//! The first two were tried without each of their fences, and noticed: a phantom, and an entry that nobody takes back; the third
//! without the fence behind the reach, without that before who locks asks for spans, and without being disturbed: each time a key was
//! had twice.
#![cfg(loom)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;
use meseta_engine::ids::{IndexId, TableId};
use meseta_engine::lock::ledger::Ledger;
use meseta_engine::lock::{IndexLocks, LockTable, Mode, Owner, OwnerId, Wanted};

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

const KEY: [u8; 1] = [5];

/// Reaches for the key, looks, and takes it if it may; whether it has it.
fn lock_in_span(locks: &LockTable, index: &std::sync::Arc<IndexLocks>, may: impl FnOnce(bool) -> bool) -> bool {
    let owner = Owner::new(OwnerId(1), 0);
    let others =
        locks.reach(&owner, index, Mode::Exclusive, Wanted::Stretch([&[], &KEY])).expect("there is no other span");
    let keys = may(others).then_some(KEY.as_slice());
    locks.hold(&owner, index, keys.into_iter()) == 1
}

#[test]
fn a_writer_sees_the_span_or_disturbs_it_or_is_seen() {
    loom::model(|| {
        let (locks, index) = (LockTable::new(1), IndexLocks::new(TableId(1), IndexId(1)));
        let latched = Arc::new(AtomicBool::new(false));
        let writer = {
            let (index, latched) = (std::sync::Arc::clone(&index), Arc::clone(&latched));
            thread::spawn(move || {
                // (What is written stays as the latch is left: whoever looks later sees that too.)
                latched.store(true, Ordering::Relaxed);
                let is_blocked = !index.is_quiet() && index.asks_spans(&Owner::new(OwnerId(2), 0), &KEY);
                if is_blocked {
                    latched.store(false, Ordering::Relaxed);
                }
                !is_blocked
            })
        };
        let has = lock_in_span(&locks, &index, |_| !latched.load(Ordering::Relaxed));
        let wrote = writer.join().unwrap();
        assert!(!(has && wrote), "a row was changed under a lock");
    });
}

#[test]
fn a_locker_sees_the_span_or_disturbs_it_or_is_seen() {
    loom::model(|| {
        let (locks, index) = (LockTable::new(1), IndexLocks::new(TableId(1), IndexId(1)));
        let is_locked = Arc::new(loom::sync::Mutex::new(false));
        let locker = {
            let (index, is_locked) = (std::sync::Arc::clone(&index), Arc::clone(&is_locked));
            thread::spawn(move || {
                let mut is_locked = is_locked.lock().unwrap();
                index.count_entry();
                *is_locked = !index.asks_spans(&Owner::new(OwnerId(2), 0), &KEY);
                *is_locked
            })
        };
        let has = lock_in_span(&locks, &index, |others| !others || !*is_locked.lock().unwrap());
        assert!(!(has && locker.join().unwrap()), "a key was locked twice");
    });
}
