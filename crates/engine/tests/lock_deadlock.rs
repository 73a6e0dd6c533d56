//! Deadlocks: cycles of every size with one victim each, mixed ones, and many threads that make them by chance.
#![cfg(not(loom))]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use meseta_engine::ids::{IndexId, TableId, TransactionId};
use meseta_engine::lock::{
    DeadlockDetector, IndexLocks, Key, LockError, LockTable, Mode, OnConflict, Outcome, Owner, OwnerId, Reach, Request,
    TableLock, TableMode,
};
use meseta_sim::SeededRandom;

const LONG: OnConflict = OnConflict::Wait(Duration::from_secs(600));

fn index() -> Arc<IndexLocks> {
    IndexLocks::new(TableId(1), IndexId(1))
}

fn ask(
    locks: &LockTable,
    owner: &Arc<Owner>,
    index: &Arc<IndexLocks>,
    key: u64,
    mode: Mode,
) -> Result<Outcome, LockError> {
    let request = Request { index, key: Key::Row(&key.to_be_bytes()), mode, reach: Reach::Record };
    locks.lock(owner, &request, LONG)
}

fn await_waiting(locks: &LockTable, number: usize) {
    while locks.waiting() != number {
        thread::yield_now();
    }
}

/// Member `at` holds key `at` and waits for key `at + 1`. Returns who was told to give up.
fn cycle(locks: &LockTable, weights: &[u64]) -> usize {
    let index = index();
    let size = weights.len();
    let owners: Vec<_> = (0..size).map(|at| Owner::new(OwnerId(at as u64 + 1), at)).collect();
    for (at, owner) in owners.iter().enumerate() {
        owner.set_weight(weights[at]);
        owner.set_transaction(Some(TransactionId(100 + at as u64)));
        ask(locks, owner, &index, at as u64, Mode::Exclusive).unwrap();
    }
    let told = thread::scope(|scope| {
        let mut threads = Vec::new();
        for (at, owner) in owners.iter().enumerate() {
            let index = &index;
            threads.push(scope.spawn(move || {
                let answer = ask(locks, owner, index, (at as u64 + 1) % size as u64, Mode::Exclusive);
                locks.release_all(owner);
                answer
            }));
            // One after the other, so that the last is the last to have begun.
            await_waiting(locks, at + 1);
        }
        assert_eq!(locks.detect_once(), 1);
        let answers: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        let told: Vec<_> = (0..size).filter(|&at| answers[at] == Err(LockError::Deadlock)).collect();
        let others = answers.iter().filter(|answer| answer.is_ok_and(Outcome::is_granted)).count();
        assert_eq!((told.len(), others), (1, size - 1));
        told[0]
    });
    assert_eq!(locks.detect_once(), 0);
    assert!(index.is_quiet());
    told
}

#[test]
fn a_cycle_of_each_size_has_one_victim_the_lightest() {
    let locks = LockTable::new(4);
    for size in 2..=10 {
        for lightest in 0..size {
            let weights: Vec<_> = (0..size).map(|at| if at == lightest { 5 } else { 6 + at as u64 }).collect();
            assert_eq!(cycle(&locks, &weights), lightest);
            let report = locks.last_deadlock().unwrap();
            assert_eq!(report.parties.len(), size);
            assert_eq!(report.victim().owner, OwnerId(lightest as u64 + 1));
        }
    }
}

/// Loosely, for the machine may be busy: of several cycles of each size, one is broken in time.
#[test]
fn a_cycle_is_broken_within_50_ms() {
    let locks = Arc::new(LockTable::new(4));
    let _detector = DeadlockDetector::start(&locks).unwrap();
    for size in 2..=10_usize {
        let quickest = (0..10).map(|_| time_to_break(&locks, size)).min().expect("ten attempts");
        assert!(quickest < Duration::from_millis(50), "a cycle of {size} took {quickest:?} at best");
    }
    assert_eq!(locks.deadlocks(), 9 * 10, "one victim each");
}

/// From when the cycle is closed until everybody has been answered.
fn time_to_break(locks: &LockTable, size: usize) -> Duration {
    let index = index();
    let owners: Vec<_> = (0..size).map(|at| Owner::new(OwnerId(at as u64), at)).collect();
    for (at, owner) in owners.iter().enumerate() {
        ask(locks, owner, &index, at as u64, Mode::Exclusive).unwrap();
    }
    let wait = |at: usize| {
        let answer = ask(locks, &owners[at], &index, ((at + 1) % size) as u64, Mode::Exclusive);
        locks.release_all(&owners[at]);
        usize::from(answer == Err(LockError::Deadlock))
    };
    thread::scope(|scope| {
        let wait = &wait;
        let others: Vec<_> = (0..size - 1).map(|at| scope.spawn(move || wait(at))).collect();
        await_waiting(locks, size - 1);
        let closed = Instant::now();
        let victims = wait(size - 1) + others.into_iter().map(|other| other.join().unwrap()).sum::<usize>();
        assert_eq!(victims, 1);
        closed.elapsed()
    })
}

#[test]
fn among_equals_the_last_to_wait_is_the_victim() {
    let locks = LockTable::new(4);
    for size in 2..=10 {
        assert_eq!(cycle(&locks, &vec![3; size]), size - 1);
    }
}

#[test]
fn the_last_deadlock_can_be_read() {
    let locks = LockTable::new(4);
    cycle(&locks, &[7, 1]);
    let text = locks.last_deadlock().unwrap().to_string();
    for line in [
        "LATEST DETECTED DEADLOCK",
        "TRANSACTION 101, owner 2, 1 rows changed",
        "HOLDS THE LOCK(S):",
        "RECORD LOCKS index 1 of table 1 trx id 100 lock_mode X locks rec but not gap waiting",
        "Record lock, key 0000000000000001",
    ] {
        assert!(text.contains(line), "{line:?} is not in\n{text}");
    }
    let report = locks.last_deadlock().unwrap();
    let victim = format!("*** WE ROLL BACK TRANSACTION ({})", report.victim + 1);
    assert!(text.contains(&victim), "{text}");
}

#[test]
fn two_who_share_and_both_want_more() {
    let locks = LockTable::new(4);
    let index = index();
    let owners = [1, 2].map(|id| Owner::new(OwnerId(id), 0));
    for owner in &owners {
        ask(&locks, owner, &index, 1, Mode::Shared).unwrap();
    }
    thread::scope(|scope| {
        let threads = owners.each_ref().map(|owner| {
            let (locks, index) = (&locks, &index);
            scope.spawn(move || {
                let answer = ask(locks, owner, index, 1, Mode::Exclusive);
                locks.release_all(owner);
                answer
            })
        });
        await_waiting(&locks, 2);
        assert_eq!(locks.detect_once(), 1);
        let answers = threads.map(|thread| thread.join().unwrap());
        assert_eq!(answers.iter().filter(|answer| **answer == Err(LockError::Deadlock)).count(), 1);
    });
    assert!(index.is_quiet());
}

/// Two have a gap and want to insert there. Whoever comes after the deadlock may not take the gap before the survivor has
/// inserted: while some always came, nobody ever did.
#[test]
fn the_survivor_of_a_deadlock_inserts_before_others_take_the_gap() {
    within(Duration::from_secs(60), || {
        let locks = LockTable::new(4);
        let index = index();
        let [survivor, victim, late] = [1, 2, 3].map(|id| Owner::new(OwnerId(id), id as usize));
        survivor.set_weight(2);
        victim.set_weight(1);
        let request = |reach| Request { index: &index, key: Key::Row(b"k"), mode: Mode::Exclusive, reach };
        let (gap, insertion) = (request(Reach::Gap), request(Reach::InsertIntention));
        let is_kept_out = || locks.lock(&late, &gap, OnConflict::Wait(Duration::ZERO)) == Err(LockError::Timeout);
        locks.lock(&survivor, &gap, LONG).unwrap();
        locks.lock(&victim, &gap, LONG).unwrap();
        thread::scope(|scope| {
            let inserts = scope.spawn(|| locks.lock(&survivor, &insertion, LONG));
            await_waiting(&locks, 1);
            let dies = scope.spawn(|| locks.lock(&victim, &insertion, LONG));
            await_waiting(&locks, 2);
            assert_eq!(locks.detect_once(), 1);
            assert_eq!(dies.join().unwrap(), Err(LockError::Deadlock));
            assert!(is_kept_out(), "the survivor stands in line");
            for at_once in [OnConflict::Fail, OnConflict::Skip] {
                assert!(locks.lock(&late, &gap, at_once).is_ok_and(Outcome::is_granted), "who does not wait has it");
                locks.release_all(&late);
            }
            locks.release_all(&victim);
            assert!(inserts.join().unwrap().is_ok_and(Outcome::is_granted));
            assert!(is_kept_out(), "it has not inserted yet");
            let waits = scope.spawn(|| locks.lock(&late, &gap, LONG));
            await_waiting(&locks, 1);
            assert!(!locks.would_wait(&survivor, &insertion), "not for one who waits for it");
            locks.inserted(&survivor, &index, Key::Row(b"j"), Key::Row(b"k"));
            assert!(waits.join().unwrap().is_ok_and(Outcome::is_granted));
        });
        assert!(locks.would_wait(&survivor, &insertion), "it is favoured once");
        locks.release_all(&late);
        locks.release_all(&survivor);
        locks.check();
        assert!(index.is_quiet());
    });
}

/// It may end without having inserted.
#[test]
fn the_survivor_of_a_deadlock_leaves_nothing_behind() {
    within(Duration::from_secs(60), || {
        let locks = LockTable::new(4);
        let index = index();
        let [survivor, victim, late] = [1, 2, 3].map(|id| Owner::new(OwnerId(id), id as usize));
        survivor.set_weight(2);
        let request = |reach| Request { index: &index, key: Key::Supremum, mode: Mode::Exclusive, reach };
        let (gap, insertion) = (request(Reach::Gap), request(Reach::InsertIntention));
        locks.lock(&survivor, &gap, LONG).unwrap();
        locks.lock(&victim, &gap, LONG).unwrap();
        thread::scope(|scope| {
            let inserts = scope.spawn(|| locks.lock(&survivor, &insertion, LONG));
            let dies = scope.spawn(|| locks.lock(&victim, &insertion, LONG));
            await_waiting(&locks, 2);
            assert_eq!(locks.detect_once(), 1);
            assert_eq!(dies.join().unwrap(), Err(LockError::Deadlock));
            locks.release_all(&victim);
            assert!(inserts.join().unwrap().is_ok_and(Outcome::is_granted));
            let waits = scope.spawn(|| locks.lock(&late, &gap, LONG));
            await_waiting(&locks, 1);
            locks.release_all(&survivor);
            assert!(waits.join().unwrap().is_ok_and(Outcome::is_granted));
        });
        locks.release_all(&late);
        locks.check();
        assert!(index.is_quiet());
    });
}

#[test]
fn a_cycle_through_a_table_and_a_row() {
    let locks = LockTable::new(4);
    let index = index();
    let table = TableLock::new(TableId(1), 2);
    let [ddl, writer, reader] = [1, 2, 3].map(|id| Owner::new(OwnerId(id), id as usize));
    ddl.set_weight(100);
    writer.set_weight(50);
    // The reader is in the table, DDL waits for it, the writer's next statement waits for DDL, the reader for a row.
    locks.lock_table(&reader, &table, TableMode::Read, LONG).unwrap();
    ask(&locks, &writer, &index, 1, Mode::Exclusive).unwrap();
    thread::scope(|scope| {
        let changes = scope.spawn(|| locks.lock_table(&ddl, &table, TableMode::Exclusive, LONG));
        await_waiting(&locks, 1);
        let writes = scope.spawn(|| locks.lock_table(&writer, &table, TableMode::Write, LONG));
        await_waiting(&locks, 2);
        assert_eq!(locks.detect_once(), 0, "no cycle yet");
        let reads = scope.spawn(|| ask(&locks, &reader, &index, 1, Mode::Shared));
        await_waiting(&locks, 3);
        assert_eq!(locks.detect_once(), 1);
        assert_eq!(reads.join().unwrap(), Err(LockError::Deadlock));
        let text = locks.last_deadlock().unwrap().to_string();
        assert!(text.contains("WAITS AHEAD FOR") && text.contains("TABLE LOCK table 1 modes [Exclusive] waiting"));
        locks.release_all(&reader);
        locks.release_tables(&reader);
        changes.join().unwrap().unwrap();
        locks.release_tables(&ddl);
        writes.join().unwrap().unwrap();
    });
    locks.release_all(&writer);
    locks.release_tables(&writer);
    assert!(index.is_quiet() && table.locks().is_empty());
}

#[test]
fn waiting_in_line_is_no_deadlock() {
    let locks = LockTable::new(4);
    let index = index();
    let owners: Vec<_> = (0..12).map(|id| Owner::new(OwnerId(id), 0)).collect();
    ask(&locks, &owners[0], &index, 1, Mode::Exclusive).unwrap();
    thread::scope(|scope| {
        for owner in &owners[1..] {
            let (locks, index) = (&locks, &index);
            scope.spawn(move || {
                let mode = if owner.id().0 % 3 == 0 { Mode::Shared } else { Mode::Exclusive };
                ask(locks, owner, index, 1, mode).unwrap();
                locks.release_all(owner);
            });
        }
        await_waiting(&locks, 11);
        assert_eq!(locks.detect_once(), 0);
        locks.release_all(&owners[0]);
    });
    assert!(index.is_quiet());
}

/// Runs `work` and fails if it takes longer than `limit`: something hangs.
fn within(limit: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, finished) = mpsc::channel();
    let worker = thread::spawn(move || {
        work();
        let _ = done.send(());
    });
    match finished.recv_timeout(limit) {
        Ok(()) => worker.join().unwrap(),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("not finished after {limit:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => worker.join().unwrap(),
    }
}

#[test]
fn random_orders_on_many_threads_all_end() {
    const THREADS: u64 = 16;
    const KEYS: u64 = 12;
    const ROUNDS: u64 = 100;
    within(Duration::from_secs(600), || {
        let locks = Arc::new(LockTable::new(4));
        let _detector = DeadlockDetector::start(&locks).unwrap();
        let index = index();
        let table = TableLock::new(TableId(1), 4);
        let (victims, ended) = (AtomicU64::new(0), AtomicU64::new(0));
        // Who shares adds nothing; who is alone with a key counts there, not atomically.
        let counted: Vec<AtomicU64> = (0..KEYS).map(|_| AtomicU64::new(0)).collect();
        let expected = AtomicU64::new(0);
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (locks, index, table) = (&locks, &index, &table);
                let (victims, ended, counted, expected) = (&victims, &ended, &counted, &expected);
                scope.spawn(move || {
                    let mut random = SeededRandom::new(thread);
                    let owner = Owner::new(OwnerId(thread), thread as usize);
                    for _ in 0..ROUNDS {
                        let mut weight = 0;
                        let outcome = (0..4).try_for_each(|_| {
                            let ddl = random.below(40) == 0;
                            let table_mode = if ddl { TableMode::Exclusive } else { TableMode::Write };
                            locks.lock_table(&owner, table, table_mode, LONG)?;
                            let key = random.below(KEYS);
                            if random.below(3) == 0 {
                                ask(locks, &owner, index, key, Mode::Shared)?;
                                return Ok(());
                            }
                            ask(locks, &owner, index, key, Mode::Exclusive)?;
                            weight += 1;
                            owner.set_weight(weight);
                            let count = &counted[key as usize];
                            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                            expected.fetch_add(1, Ordering::Relaxed);
                            Ok(())
                        });
                        match outcome {
                            Ok(()) => ended.fetch_add(1, Ordering::Relaxed),
                            Err(LockError::Deadlock) => victims.fetch_add(1, Ordering::Relaxed),
                            Err(other) => panic!("{other}"),
                        };
                        locks.release_all(&owner);
                        locks.release_tables(&owner);
                    }
                });
            }
        });
        assert_eq!(victims.into_inner(), locks.deadlocks());
        let total: u64 = counted.into_iter().map(AtomicU64::into_inner).sum();
        assert_eq!(total, expected.into_inner(), "two were alone with a key at once");
        assert!(ended.into_inner() > 0);
        assert_eq!(locks.row_locks(), []);
        assert!(index.is_quiet() && table.locks().is_empty());
    });
}

#[test]
fn no_writer_ends_without_waking_those_who_found_it_in_a_row() {
    const ROUNDS: u64 = 20_000;
    within(Duration::from_secs(600), || {
        let locks = LockTable::new(2);
        let index = index();
        let writer = Owner::new(OwnerId(1), 0);
        let waiters = [2, 3].map(|id| Owner::new(OwnerId(id), 0));
        // The writer's transactions, one after the other: the one that is active, or 0. Its row names the last one.
        let (active, header) = (AtomicU64::new(0), AtomicU64::new(0));
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            for waiter in &waiters {
                let (locks, index, writer) = (&locks, &index, &writer);
                let (active, header, over) = (&active, &header, &over);
                scope.spawn(move || {
                    while !over.load(Ordering::Relaxed) {
                        let found = header.load(Ordering::Acquire);
                        let request = Request { index, key: Key::Row(b"k"), mode: Mode::Shared, reach: Reach::Record };
                        let is_active = || active.load(Ordering::Relaxed) == found && found != 0;
                        let begun = Instant::now();
                        locks.wait_for_writer(waiter, &request, writer, is_active, LONG).unwrap();
                        assert!(begun.elapsed() < Duration::from_secs(60));
                        locks.release_all(waiter);
                    }
                });
            }
            for transaction in 1..=ROUNDS {
                active.store(transaction, Ordering::Relaxed);
                header.store(transaction, Ordering::Release);
                active.store(0, Ordering::Relaxed);
                locks.release_all(&writer);
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(locks.row_locks(), []);
        assert!(index.is_quiet());
    });
}
