//! The lock table as transactions use it. Threads meet by looking who waits, never by sleeping.

use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::task::Wake;
use std::thread::{self, ScopedJoinHandle};

use super::*;
use crate::ids::{IndexId, TableId};

const LONG: OnConflict = OnConflict::Wait(Duration::from_secs(600));
const SHORT: OnConflict = OnConflict::Wait(Duration::from_millis(5));
const GRANTED: Outcome = Outcome::Granted { waited: false, fresh: true };
const HELD: Outcome = Outcome::Granted { waited: false, fresh: false };
const WAITED: Outcome = Outcome::Granted { waited: true, fresh: true };

type Answer = Result<Outcome, LockError>;

struct World {
    locks: LockTable,
    index: Arc<IndexLocks>,
    table: Arc<TableLock>,
}

impl World {
    fn new() -> Self {
        let table = TableId(1);
        Self { locks: LockTable::new(8), index: IndexLocks::new(table, IndexId(2)), table: TableLock::new(table, 4) }
    }

    fn owner(&self, id: u64) -> Arc<Owner> {
        Owner::new(OwnerId(id), id as usize)
    }

    fn request<'r>(&'r self, key: &'r str, mode: Mode, reach: Reach) -> Request<'r> {
        Request { index: &self.index, key: self.key(key), mode, reach }
    }

    /// `~` is the end.
    fn key<'k>(&self, key: &'k str) -> Key<'k> {
        if key == "~" { Key::Supremum } else { Key::Row(key.as_bytes()) }
    }

    fn try_lock(&self, owner: &Arc<Owner>, key: &str, mode: Mode, reach: Reach) -> Answer {
        self.locks.lock(owner, &self.request(key, mode, reach), OnConflict::Fail)
    }

    fn lock(&self, owner: &Arc<Owner>, key: &str, mode: Mode, reach: Reach) -> Answer {
        self.locks.lock(owner, &self.request(key, mode, reach), LONG)
    }

    fn may_insert(&self, owner: &Owner, successor: &'static str) -> bool {
        !self.locks.would_wait(owner, &self.request(successor, Mode::Exclusive, Reach::InsertIntention))
    }

    fn use_table(&self, owner: &Arc<Owner>, mode: TableMode, on_conflict: OnConflict) -> Answer {
        self.locks.lock_table(owner, &self.table, mode, on_conflict)
    }

    fn end(&self, owner: &Owner) {
        self.locks.release_all(owner);
        self.locks.release_tables(owner);
    }

    fn await_waiting(&self, number: usize) {
        while self.locks.waiting() != number {
            thread::yield_now();
        }
    }

    fn assert_empty(&self) {
        assert_eq!(self.locks.row_locks(), []);
        assert_eq!(self.table.locks(), []);
        assert!(self.index.is_quiet());
    }
}

/// Begins a wait on a thread of its own, and returns when that waits, as the `number`th.
fn begin<'s, 'e>(
    scope: &'s thread::Scope<'s, 'e>,
    world: &'e World,
    number: usize,
    wait: impl FnOnce() -> Answer + Send + 's,
) -> ScopedJoinHandle<'s, Answer> {
    let thread = scope.spawn(wait);
    world.await_waiting(number);
    thread
}

use Mode::{Exclusive, Shared};
use Reach::{Gap, InsertIntention, NextKey, Record};

#[test]
fn what_is_asked_for_is_granted_covered_refused_or_skipped() {
    let world = World::new();
    let [one, two] = [world.owner(1), world.owner(2)];
    assert_eq!(world.try_lock(&one, "k", Shared, Record), Ok(GRANTED));
    assert_eq!(world.try_lock(&one, "k", Shared, Record), Ok(HELD));
    assert_eq!(world.try_lock(&one, "k", Shared, NextKey), Ok(HELD), "the gap is new, the row's lock is not");
    assert_eq!(world.try_lock(&two, "k", Shared, Record), Ok(GRANTED));
    assert_eq!(world.try_lock(&two, "k", Exclusive, Record), Err(LockError::WouldWait));
    let skip = world.locks.lock(&two, &world.request("k", Exclusive, Record), OnConflict::Skip);
    assert_eq!(skip, Ok(Outcome::Skipped));
    world.end(&one);
    assert_eq!(world.try_lock(&two, "k", Exclusive, Record), Ok(HELD), "an upgrade is no lock that may be given back");
    world.end(&two);
    world.assert_empty();
}

#[test]
fn keys_and_indexes_are_told_apart() {
    let world = World::new();
    let other = IndexLocks::new(TableId(1), IndexId(3));
    let [one, two] = [world.owner(1), world.owner(2)];
    world.try_lock(&one, "k", Exclusive, NextKey).unwrap();
    assert_eq!(world.try_lock(&two, "j", Exclusive, NextKey), Ok(GRANTED));
    assert_eq!(world.try_lock(&two, "~", Exclusive, NextKey), Ok(HELD), "there is no row at the end");
    let elsewhere = Request { index: &other, ..world.request("k", Exclusive, Record) };
    assert_eq!(world.locks.lock(&two, &elsewhere, OnConflict::Fail), Ok(GRANTED));
    assert!(!other.is_quiet() && other.has_no_gaps());
    world.end(&two);
    assert!(other.is_quiet());
}

#[test]
fn a_wait_ends_with_the_lock() {
    let world = World::new();
    let [one, two] = [world.owner(1), world.owner(2)];
    world.lock(&one, "k", Exclusive, Record).unwrap();
    thread::scope(|scope| {
        let waits = begin(scope, &world, 1, || world.lock(&two, "k", Shared, NextKey));
        world.end(&one);
        assert_eq!(waits.join().unwrap(), Ok(WAITED));
    });
    let figures = world.locks.wait_figures();
    assert_eq!(figures[WaitKind::NextKey as usize].count, 1);
    assert_eq!(world.index.wait_figures()[WaitKind::NextKey as usize], figures[WaitKind::NextKey as usize]);
    world.end(&two);
    world.assert_empty();
}

#[test]
fn a_wait_ends_with_its_time_and_lets_those_behind_through() {
    let world = World::new();
    let [one, two, three] = [world.owner(1), world.owner(2), world.owner(3)];
    world.lock(&one, "k", Shared, Record).unwrap();
    thread::scope(|scope| {
        let writer = begin(scope, &world, 1, || world.lock(&two, "k", Exclusive, Record));
        let reader = begin(scope, &world, 2, || world.lock(&three, "k", Shared, Record));
        two.kill();
        assert_eq!(writer.join().unwrap(), Err(LockError::Killed));
        assert_eq!(reader.join().unwrap(), Ok(WAITED));
    });
    two.pardon();
    assert_eq!(world.locks.lock(&two, &world.request("k", Exclusive, Record), SHORT), Err(LockError::Timeout));
    assert_eq!(world.locks.timeouts(), 1);
    world.end(&one);
    world.end(&three);
    world.assert_empty();
}

#[test]
fn a_gap_is_split_by_an_insert_and_joined_by_a_removal() {
    let world = World::new();
    let [reader, writer] = [world.owner(1), world.owner(2)];
    world.lock(&reader, "k", Shared, NextKey).unwrap();
    assert!(!world.may_insert(&writer, "k"));
    assert!(world.may_insert(&writer, "m"));
    assert!(world.may_insert(&reader, "k"));
    world.locks.inserted(&writer, &world.index, world.key("f"), world.key("k"));
    assert!(!world.may_insert(&writer, "f"), "below the new key");
    assert!(!world.may_insert(&writer, "k"), "and above it");
    assert_eq!(world.try_lock(&writer, "f", Exclusive, NextKey), Ok(GRANTED), "the new row itself is not the reader's");
    world.locks.release_all(&writer);
    world.locks.removed(&world.index, world.key("k"), world.key("~"));
    assert!(!world.may_insert(&writer, "~"), "the row's lock is now the gap's");
    assert!(!world.may_insert(&writer, "f"));
    world.end(&reader);
    world.assert_empty();
}

#[test]
fn read_committed_keeps_of_a_removed_row_only_gaps_asked_for() {
    let world = World::new();
    let [reader, checker, writer] = [world.owner(1), world.owner(2), world.owner(3)];
    reader.set_keeps_gaps(false);
    checker.set_keeps_gaps(false);
    world.lock(&reader, "k", Exclusive, Record).unwrap();
    world.lock(&checker, "j", Shared, NextKey).unwrap();
    world.locks.removed(&world.index, world.key("k"), world.key("m"));
    assert!(world.may_insert(&writer, "m"));
    world.locks.removed(&world.index, world.key("j"), world.key("m"));
    assert!(!world.may_insert(&writer, "m"));
    world.end(&checker);
    world.end(&reader);
    world.assert_empty();
}

#[test]
fn who_waits_for_a_row_that_is_removed_is_told() {
    let world = World::new();
    let [one, two] = [world.owner(1), world.owner(2)];
    world.lock(&one, "k", Exclusive, Record).unwrap();
    thread::scope(|scope| {
        let waits = begin(scope, &world, 1, || world.lock(&two, "k", Shared, NextKey));
        world.locks.removed(&world.index, world.key("k"), world.key("~"));
        assert_eq!(waits.join().unwrap(), Ok(Outcome::KeyGone));
    });
    world.end(&two);
    assert!(!world.may_insert(&two, "~"), "who had the row has the gap");
    world.end(&one);
    world.assert_empty();
}

#[test]
fn an_insertion_waits_for_gaps_and_leaves_nothing_behind() {
    let world = World::new();
    let [reader, writer] = [world.owner(1), world.owner(2)];
    world.lock(&reader, "~", Shared, NextKey).unwrap();
    thread::scope(|scope| {
        let waits = begin(scope, &world, 1, || world.lock(&writer, "~", Exclusive, InsertIntention));
        world.end(&reader);
        assert_eq!(waits.join().unwrap(), Ok(Outcome::Granted { waited: true, fresh: false }));
    });
    world.assert_empty();
    world.end(&writer);
}

#[test]
fn a_row_that_does_not_match_is_given_back_and_its_gap_kept() {
    let world = World::new();
    let [one, two] = [world.owner(1), world.owner(2)];
    world.lock(&one, "k", Exclusive, Record).unwrap();
    world.lock(&one, "l", Exclusive, Gap).unwrap();
    world.lock(&one, "l", Exclusive, Record).unwrap();
    thread::scope(|scope| {
        let waits = begin(scope, &world, 1, || world.lock(&two, "k", Exclusive, Record));
        world.locks.unlock(&one, &world.index, world.key("k"));
        assert_eq!(waits.join().unwrap(), Ok(WAITED));
    });
    world.locks.unlock(&one, &world.index, world.key("l"));
    assert_eq!(world.try_lock(&two, "l", Exclusive, Record), Ok(GRANTED));
    assert!(!world.may_insert(&two, "l"));
    world.end(&one);
    world.end(&two);
    world.assert_empty();
}

#[test]
fn a_writers_implicit_lock_is_waited_for() {
    let world = World::new();
    let [writer, reader, late] = [world.owner(1), world.owner(2), world.owner(3)];
    let active = AtomicBool::new(true);
    let is_active = || active.load(Ordering::SeqCst);
    let request = world.request("k", Shared, Record);
    // Asked before looking, and granted since the header was not looked at.
    assert_eq!(world.try_lock(&reader, "k", Shared, Record), Ok(GRANTED));
    thread::scope(|scope| {
        let waits =
            begin(scope, &world, 1, || world.locks.wait_for_writer(&reader, &request, &writer, is_active, LONG));
        assert_eq!(
            world.locks.wait_for_writer(&late, &request, &writer, is_active, OnConflict::Fail),
            Err(LockError::WouldWait)
        );
        assert!(!world.locks.would_wait(&writer, &world.request("k", Exclusive, Record)));
        active.store(false, Ordering::SeqCst);
        world.end(&writer);
        assert_eq!(waits.join().unwrap(), Ok(WAITED));
    });
    // The writer has ended: an ordinary request.
    assert_eq!(world.locks.wait_for_writer(&late, &request, &writer, is_active, OnConflict::Fail), Ok(GRANTED));
    world.end(&writer);
    world.end(&late);
    world.end(&reader);
    world.assert_empty();
}

#[test]
fn ddl_waits_for_dml_and_dml_that_comes_later_for_ddl() {
    let world = World::new();
    let [reader, writer, ddl, late] = [world.owner(1), world.owner(2), world.owner(3), world.owner(4)];
    assert_eq!(world.use_table(&reader, TableMode::Read, LONG), Ok(GRANTED));
    assert_eq!(world.use_table(&writer, TableMode::Write, LONG), Ok(GRANTED));
    assert_eq!(world.use_table(&ddl, TableMode::Upgradable, LONG), Ok(GRANTED));
    assert_eq!(world.use_table(&ddl, TableMode::Exclusive, OnConflict::Fail), Err(LockError::WouldWait));
    assert_eq!(world.use_table(&late, TableMode::Read, OnConflict::Fail), Ok(GRANTED), "DDL gave up: open again");
    world.end(&late);
    thread::scope(|scope| {
        let changes = begin(scope, &world, 1, || world.use_table(&ddl, TableMode::Exclusive, LONG));
        let comes_late = begin(scope, &world, 2, || world.use_table(&late, TableMode::Read, LONG));
        assert_eq!(world.use_table(&reader, TableMode::Write, OnConflict::Fail), Ok(HELD), "who is inside may go on");
        world.end(&reader);
        assert_eq!(world.locks.waiting(), 2);
        world.end(&writer);
        assert_eq!(changes.join().unwrap(), Ok(Outcome::Granted { waited: true, fresh: false }));
        assert_eq!(world.locks.waiting(), 1);
        world.end(&ddl);
        assert_eq!(comes_late.join().unwrap(), Ok(WAITED));
    });
    assert_eq!(world.table.wait_figures().count, 2);
    world.end(&late);
    world.assert_empty();
}

#[test]
fn who_was_brought_into_the_queue_and_enters_again_leaves_altogether() {
    let world = World::new();
    let [one, two] = [world.owner(1), world.owner(2)];
    world.use_table(&one, TableMode::Read, LONG).unwrap();
    // Moves `one`, and gives up.
    world.use_table(&two, TableMode::Exclusive, OnConflict::Fail).unwrap_err();
    world.use_table(&one, TableMode::Write, LONG).unwrap();
    assert_eq!(world.use_table(&two, TableMode::ReadOnly, OnConflict::Fail), Err(LockError::WouldWait));
    world.end(&one);
    assert_eq!(world.use_table(&two, TableMode::ReadOnly, OnConflict::Fail), Ok(GRANTED));
    world.end(&two);
    world.assert_empty();
}

#[test]
fn exclusive_can_be_lowered() {
    let world = World::new();
    let [ddl, writer, other] = [world.owner(1), world.owner(2), world.owner(3)];
    world.use_table(&ddl, TableMode::Exclusive, LONG).unwrap();
    thread::scope(|scope| {
        let writes = begin(scope, &world, 1, || world.use_table(&writer, TableMode::Write, LONG));
        world.locks.release_table(&ddl, &world.table, Some(TableMode::Upgradable));
        assert_eq!(writes.join().unwrap(), Ok(WAITED));
    });
    assert_eq!(world.use_table(&other, TableMode::Upgradable, OnConflict::Fail), Err(LockError::WouldWait));
    world.locks.release_table(&ddl, &world.table, None);
    assert_eq!(world.use_table(&other, TableMode::Upgradable, OnConflict::Fail), Ok(GRANTED));
    world.end(&other);
    world.end(&writer);
    world.assert_empty();
}

#[test]
fn tables_modes_conflict_as_the_manual_says() {
    const MATRIX: [&str; 6] = ["-----w", "---www", "--w-ww", "-w---w", "-ww-ww", "wwwwww"];
    for (row, wanted) in TableMode::ALL.into_iter().enumerate() {
        for (column, held) in TableMode::ALL.into_iter().enumerate() {
            let world = World::new();
            let [one, two] = [world.owner(1), world.owner(2)];
            world.use_table(&one, held, LONG).unwrap();
            let refused = world.use_table(&two, wanted, OnConflict::Fail).is_err();
            assert_eq!(refused, MATRIX[row].as_bytes()[column] == b'w', "{wanted:?} against {held:?}");
            world.end(&one);
            world.end(&two);
            world.assert_empty();
        }
    }
}

/// Whoever ends gives back, too, what it inherits while it ends.
#[test]
fn nothing_is_inherited_behind_the_back_of_one_who_ends() {
    const KEYS: [&str; 4] = ["a", "b", "c", "d"];
    let world = World::new();
    let [reader, writer] = [world.owner(1), world.owner(2)];
    let mut met = 0;
    let others: Vec<String> = (0..100).map(|number| format!("x{number}")).collect();
    for _ in 0..500 {
        // What it gives back first takes a while.
        for key in others.iter().map(String::as_str).chain(["k"]) {
            world.lock(&reader, key, Shared, NextKey).unwrap();
        }
        let start = std::sync::Barrier::new(2);
        met += thread::scope(|scope| {
            let inserts = scope.spawn(|| {
                start.wait();
                let before_the_end = |key: &&str| {
                    world.locks.inserted(&writer, &world.index, world.key(key), world.key("k"));
                    !world.may_insert(&writer, "k")
                };
                KEYS.iter().take_while(|key| before_the_end(key)).count()
            });
            start.wait();
            world.end(&reader);
            inserts.join().unwrap()
        });
        world.assert_empty();
    }
    assert!(met > 0, "the two never met");
}

// ---- waits without a thread -----------------------------------------------------------------------------------------

const SUSPEND: OnConflict = OnConflict::Suspend(Duration::from_secs(600));

/// Counts how often it was called.
#[derive(Default)]
pub(super) struct Called(pub AtomicUsize);

impl Wake for Called {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl World {
    /// An owner that can be called back, and how often it was.
    fn callable(&self, id: u64) -> (Arc<Owner>, Arc<Called>) {
        let (owner, called) = (self.owner(id), Arc::new(Called::default()));
        owner.set_waker(Arc::clone(&called).into());
        (owner, called)
    }

    fn suspend(&self, owner: &Arc<Owner>, key: &str) -> Answer {
        self.locks.lock(owner, &self.request(key, Exclusive, Record), SUSPEND)
    }
}

#[test]
fn who_is_suspended_is_called_when_it_has_the_lock() {
    let world = World::new();
    let (one, (two, called)) = (world.owner(1), world.callable(2));
    assert_eq!(world.locks.resume(&two), Suspension::None);
    world.lock(&one, "k", Exclusive, Record).unwrap();
    assert_eq!(world.suspend(&two, "k"), Err(LockError::Suspended));
    assert_eq!((world.locks.waiting(), called.0.load(Ordering::SeqCst)), (1, 0));
    assert!(matches!(world.locks.resume(&two), Suspension::Waits(left) if left > Duration::from_secs(500)));
    assert!(world.locks.suspended_for(&two).is_some());
    world.end(&one);
    assert_eq!(called.0.load(Ordering::SeqCst), 1);
    assert_eq!(world.locks.suspended_for(&two), None);
    assert_eq!(world.locks.resume(&two), Suspension::Over(Ok(WAITED)));
    assert_eq!((world.locks.resume(&two), world.locks.waiting()), (Suspension::None, 0));
    // As the statement that is executed again will find.
    assert_eq!(world.suspend(&two, "k"), Ok(HELD));
    assert_eq!(world.locks.wait_figures()[WaitKind::Record as usize].count, 1);
    world.end(&two);
    world.assert_empty();
}

#[test]
fn who_is_suspended_may_be_killed_or_run_out_of_time() {
    let world = World::new();
    let (one, (two, called)) = (world.owner(1), world.callable(2));
    world.lock(&one, "k", Exclusive, Record).unwrap();
    assert_eq!(world.suspend(&two, "k"), Err(LockError::Suspended));
    two.kill();
    assert_eq!(called.0.load(Ordering::SeqCst), 1);
    assert_eq!(world.locks.resume(&two), Suspension::Over(Err(LockError::Killed)));
    two.pardon();
    let request = world.request("k", Exclusive, Record);
    let no_time = OnConflict::Suspend(Duration::ZERO);
    assert_eq!(world.locks.lock(&two, &request, no_time), Err(LockError::Suspended));
    assert_eq!(world.locks.suspended_for(&two), None, "nobody calls it, but it may come");
    assert_eq!(world.locks.resume(&two), Suspension::Over(Err(LockError::Timeout)));
    assert_eq!((world.locks.timeouts(), called.0.load(Ordering::SeqCst)), (1, 1));
    world.end(&one);
    world.assert_empty();
}

#[test]
fn a_deadlock_of_the_suspended_is_found() {
    let world = World::new();
    let ((one, called_one), (two, called_two)) = (world.callable(1), world.callable(2));
    one.set_weight(5);
    world.lock(&one, "a", Exclusive, Record).unwrap();
    world.lock(&two, "b", Exclusive, Record).unwrap();
    assert_eq!(world.suspend(&one, "b"), Err(LockError::Suspended));
    assert_eq!(world.suspend(&two, "a"), Err(LockError::Suspended));
    assert_eq!(world.locks.detect_once(), 1);
    assert_eq!((called_one.0.load(Ordering::SeqCst), called_two.0.load(Ordering::SeqCst)), (0, 1));
    assert_eq!(world.locks.resume(&two), Suspension::Over(Err(LockError::Deadlock)));
    world.end(&two);
    assert_eq!(world.locks.resume(&one), Suspension::Over(Ok(WAITED)));
    world.end(&one);
    world.assert_empty();
}

#[test]
fn a_wait_that_is_given_up_leaves_nothing() {
    let world = World::new();
    let (one, (two, _), three) = (world.owner(1), world.callable(2), world.owner(3));
    for was_granted in [false, true] {
        world.lock(&one, "k", Exclusive, Record).unwrap();
        assert_eq!(world.suspend(&two, "k"), Err(LockError::Suspended));
        if was_granted {
            world.end(&one);
        }
        world.locks.give_up(&two);
        world.locks.give_up(&two);
        assert_eq!((world.locks.resume(&two), world.locks.waiting()), (Suspension::None, 0));
        world.end(&one);
        assert_eq!(world.try_lock(&three, "k", Exclusive, Record), Ok(GRANTED));
        world.end(&three);
        world.end(&two);
        world.assert_empty();
    }
}

#[test]
fn a_key_that_goes_calls_who_is_suspended() {
    let world = World::new();
    let (one, (two, called)) = (world.owner(1), world.callable(2));
    world.lock(&one, "k", Exclusive, Record).unwrap();
    assert_eq!(world.suspend(&two, "k"), Err(LockError::Suspended));
    world.locks.removed(&world.index, world.key("k"), world.key("~"));
    assert_eq!(called.0.load(Ordering::SeqCst), 1);
    assert_eq!(world.locks.resume(&two), Suspension::Over(Ok(Outcome::KeyGone)));
    world.end(&one);
    world.end(&two);
    world.assert_empty();
}

#[test]
fn who_cannot_be_called_waits_on_its_thread() {
    let world = World::new();
    let [one, two] = [world.owner(1), world.owner(2)];
    world.lock(&one, "k", Exclusive, Record).unwrap();
    thread::scope(|scope| {
        let waits = begin(scope, &world, 1, || world.suspend(&two, "k"));
        world.end(&one);
        assert_eq!(waits.join().unwrap(), Ok(WAITED));
    });
    world.end(&two);
}
