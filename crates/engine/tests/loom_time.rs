//! Ids, commit times and snapshots under every interleaving that loom can find, with every value that the memory model
//! lets a load return.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p meseta-engine --release --test loom_time
//! ```
//!
//! Threads are preempted at most [`PREEMPTIONS`] times an execution, or `LOOM_MAX_PREEMPTIONS` times. A row that names
//! its writer is a relaxed atomic here, so that nothing but the clock orders it; a version that purge removes is a loom
//! cell, which reports any access that is not ordered.
//!
//! What loom cannot show, beside what `meseta-storage` says at its models: memory that the system takes back is a
//! store of zeroes here.
//!
//! The models were tried on broken engines: without a fence, with a weaker order, without the step "committing", with the
//! horizon a tick too far, and so on, some forty in all. What no model notices are orders that another one makes up for,
//! and the release with which one who advanced lets the next in.
#![cfg(loom)]

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use meseta_engine::ids::{CommitTime, TransactionId};
use meseta_engine::time::{Session, Sizes, Snapshot, State, Time};

/// Enough for every known mistake in these protocols; each step more costs about ten times the time.
const PREEMPTIONS: usize = 2;

/// What one thread does.
type Step = Arc<dyn Fn(&World) + Send + Sync>;

fn step(does: impl Fn(&World) + Send + Sync + 'static) -> Step {
    Arc::new(does)
}

/// Runs the steps at the same time, each on a thread of its own; each is the main thread's once (why is said at the
/// function of this name in `meseta-storage`).
fn check(make: impl Fn() -> World + Clone + Send + Sync + 'static, mut steps: Vec<Step>) {
    for _ in 0..steps.len() {
        steps.rotate_left(1);
        let (make, steps) = (make.clone(), steps.clone());
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound.get_or_insert(PREEMPTIONS);
        builder.max_branches = 20_000;
        builder.check(move || {
            let world = loom::sync::Arc::new(make());
            let (last, others) = steps.split_last().expect("at least one step");
            let threads: Vec<_> = others
                .iter()
                .map(|step| {
                    let (step, world) = (Arc::clone(step), world.clone());
                    thread::spawn(move || step(&world))
                })
                .collect();
            last(&world);
            for thread in threads {
                thread.join().unwrap();
            }
        });
    }
}

/// Time, two rows and the version behind one of them.
struct World {
    time: Arc<Time>,
    /// Who has read before; taken by the step that reads.
    session: std::sync::Mutex<Option<Session>>,
    /// Each names its writer.
    rows: [AtomicU64; 2],
    /// The latch of the page in which the rows are, for the models that use it.
    latch: Mutex<()>,
    /// What snapshots below [`World::NEW`] read.
    version: UnsafeCell<u64>,
}

// SAFETY: the version is reached by those only whom the horizon allows, and loom checks that this is true.
unsafe impl Send for World {}
// SAFETY: as above.
unsafe impl Sync for World {}

impl World {
    /// The time of the first that ends.
    const NEW: CommitTime = CommitTime(2);

    /// `words` in the commit table; the ids from 1 on have begun, and those said have committed.
    fn begun(words: u64, straggles_after: u64, begun: u64, committed: &[u64]) -> Self {
        let sizes = Sizes { transactions: words, straggles_after, beginners: 1, sessions: 2 };
        let time = Arc::new(Time::open_sized(TransactionId(1), &[], sizes).unwrap());
        for id in 1..=begun {
            assert_eq!(time.begin_writer(), Ok(TransactionId(id)));
        }
        for &id in committed {
            time.commit(TransactionId(id));
        }
        let session = std::sync::Mutex::new(time.session());
        let rows = [AtomicU64::new(0), AtomicU64::new(0)];
        Self { time, session, rows, latch: Mutex::new(()), version: UnsafeCell::new(0) }
    }

    fn session(&self) -> Session {
        self.session.lock().unwrap().take().expect("one step reads")
    }

    /// What a snapshot that is taken now sees. It is not announced: for where nothing is frozen or purged.
    fn now(&self) -> Snapshot {
        Snapshot { time: self.time.now(), own: TransactionId::NOBODY }
    }

    fn sees(&self, id: u64, snapshot: &Snapshot) -> bool {
        self.time.is_visible(TransactionId(id), snapshot)
    }

    fn commit(&self, id: u64) -> CommitTime {
        self.time.commit(TransactionId(id))
    }

    fn write(&self, id: u64) {
        self.rows.iter().for_each(|row| row.store(id, Ordering::Relaxed));
    }

    fn row(&self, row: usize) -> u64 {
        self.rows[row].load(Ordering::Relaxed)
    }

    /// As a cursor: a snapshot that does not see the first that ended reads what was there before it.
    fn read_version(&self, snapshot: &Snapshot) {
        if snapshot.time < Self::NEW {
            // SAFETY: the snapshot is announced; loom's cell panics if that does not suffice.
            self.version.with(|version| unsafe { *version });
        }
    }

    /// As purge: removes the version that nobody sees.
    fn purge_version(&self) {
        self.purge_version_below(self.time.advance());
    }

    fn purge_version_below(&self, horizon: CommitTime) {
        if horizon >= Self::NEW {
            // SAFETY: nobody reads it; loom's cell panics if that is not so.
            self.version.with_mut(|version| unsafe { *version += 1 });
        }
    }
}

// ---- the clock ------------------------------------------------------------------------------------------------------

#[test]
fn a_snapshot_at_or_after_a_commit_sees_all_of_it_and_one_before_sees_nothing() {
    let write = step(|world| {
        world.write(1);
        assert_eq!(world.commit(1), World::NEW);
    });
    let read = step(|world| {
        let snapshot = world.now();
        let committed = snapshot.time >= World::NEW;
        for row in [0, 1] {
            let writer = world.row(row);
            assert!(writer == 1 || !committed, "the snapshot sees the commit, but not what it did");
            assert_eq!(world.sees(1, &snapshot), committed, "row {row}");
        }
    });
    check(|| World::begun(8, 7, 1, &[]), vec![write, read]);
}

#[test]
fn snapshots_are_ordered_and_see_as_many_as_their_time_says() {
    let read = step(|world| {
        let mut before = [false; 2];
        for _ in 0..2 {
            let snapshot = world.now();
            let seen = [world.sees(1, &snapshot), world.sees(2, &snapshot)];
            assert_eq!(1 + seen.iter().filter(|&&seen| seen).count() as u64, snapshot.time.0);
            assert!(before.iter().zip(seen).all(|(&before, now)| now || !before));
            before = seen;
        }
    });
    let commit = |id| step(move |world| _ = world.commit(id));
    check(|| World::begun(8, 7, 2, &[]), vec![commit(1), commit(2), read]);
}

#[test]
fn who_begins_is_active_for_whoever_meets_it() {
    let write = step(|world| {
        let id = world.time.begin_writer().unwrap();
        world.write(id.0);
        world.commit(id.0);
    });
    let read = step(|world| {
        let snapshot = world.now();
        let id = world.row(0);
        if id != 0 {
            assert_eq!(world.sees(id, &snapshot), snapshot.time >= World::NEW);
            let state = world.time.state_of(TransactionId(id));
            assert!(matches!(state, State::Active | State::Committed(World::NEW)));
        }
    });
    check(|| World::begun(8, 7, 0, &[]), vec![write, read]);
}

// ---- snapshots and the horizon --------------------------------------------------------------------------------------

#[test]
fn what_an_announced_snapshot_reads_is_not_purged() {
    let read = step(|world| {
        let mut session = world.session();
        world.read_version(&session.announce());
        session.withdraw();
    });
    let commit = step(|world| _ = world.commit(1));
    check(|| World::begun(8, 7, 1, &[]), vec![read, commit, step(World::purge_version)]);
}

#[test]
fn what_one_snapshot_reads_is_not_purged_because_another_is_newer() {
    let read = step(|world| {
        let mut session = world.session();
        world.read_version(&session.announce());
        session.withdraw();
    });
    let commit_and_read = step(|world| {
        let mut session = world.time.session().unwrap();
        world.commit(1);
        world.read_version(&session.announce());
    });
    check(|| World::begun(8, 7, 1, &[]), vec![read, commit_and_read, step(World::purge_version)]);
}

#[test]
fn what_a_snapshot_reads_is_not_purged_by_one_who_only_looks_at_the_horizon() {
    let read = step(|world| {
        let mut session = world.session();
        world.read_version(&session.announce());
        session.withdraw();
    });
    let commit_and_advance = step(|world| {
        world.commit(1);
        world.time.advance();
    });
    let purge = step(|world| world.purge_version_below(world.time.horizon()));
    check(|| World::begun(8, 7, 1, &[]), vec![read, commit_and_advance, purge]);
}

#[test]
fn what_each_statement_s_snapshot_reads_is_not_purged() {
    let read_twice = step(|world| {
        let mut session = world.session();
        world.read_version(&session.announce());
        world.read_version(&session.announce());
        session.withdraw();
        world.read_version(&session.announce());
    });
    let commit_and_purge = step(|world| {
        world.commit(1);
        world.purge_version();
    });
    check(|| World::begun(8, 7, 1, &[]), vec![read_twice, commit_and_purge]);
}

#[test]
fn a_session_that_registers_while_purge_looks_is_not_overlooked() {
    let come_and_read = step(|world| {
        let mut session = world.time.session().unwrap();
        world.read_version(&session.announce());
    });
    let commit_and_purge = step(|world| {
        world.commit(1);
        world.purge_version();
    });
    let leave = step(|world| drop(world.session()));
    check(|| World::begun(8, 7, 1, &[]), vec![come_and_read, commit_and_purge, leave]);
}

#[test]
fn the_horizon_does_not_go_back_nor_beyond_a_snapshot() {
    let read = step(|world| {
        let mut session = world.session();
        let snapshot = session.announce();
        assert!(world.time.horizon() <= snapshot.time);
        assert!(world.time.advance() <= snapshot.time);
    });
    let commit_and_look = step(|world| {
        let mut before = world.time.horizon();
        for id in 1..=2 {
            world.commit(id);
            let horizon = world.time.advance();
            assert!(before <= horizon);
            before = horizon;
        }
    });
    check(|| World::begun(8, 7, 2, &[]), vec![read, commit_and_look]);
}

// ---- the frozen id --------------------------------------------------------------------------------------------------

#[test]
fn nobody_takes_a_commit_for_frozen_that_it_must_not_see() {
    let read = step(|world| {
        let mut session = world.session();
        let snapshot = session.announce();
        for _ in 0..2 {
            assert_eq!(world.sees(1, &snapshot), snapshot.time >= World::NEW);
        }
    });
    let commit = step(|world| _ = world.commit(1));
    let advance = step(|world| _ = world.time.advance());
    check(|| World::begun(8, 7, 1, &[]), vec![read, commit, advance]);
}

#[test]
fn nobody_takes_what_was_rolled_back_for_visible() {
    let make = || {
        let world = World::begun(8, 7, 1, &[]);
        world.write(1);
        world
    };
    let read = step(|world| {
        let mut session = world.session();
        let snapshot = session.announce();
        for row in [0, 1] {
            let writer = world.row(row);
            assert!(writer == 0 || !world.sees(writer, &snapshot));
        }
    });
    let undo = step(|world| {
        world.write(0);
        world.time.rolled_back(TransactionId(1));
    });
    let advance = step(|world| _ = world.time.advance());
    check(make, vec![read, undo, advance]);
}

#[test]
fn under_the_page_s_latch_nobody_takes_what_was_rolled_back_for_committed() {
    let make = || {
        let world = World::begun(4, 3, 2, &[2]);
        world.write(1);
        drop(world.session());
        world
    };
    let change = step(|world| {
        let _held = world.latch.lock().unwrap();
        if world.row(0) == 1 {
            assert_eq!(world.time.state_of(TransactionId(1)), State::Active);
        }
    });
    let undo = step(|world| {
        let held = world.latch.lock().unwrap();
        world.write(0);
        drop(held);
        world.time.rolled_back(TransactionId(1));
        // The word of 5 is that of 1.
        for id in 3..=5 {
            assert_eq!(world.time.begin_writer(), Ok(TransactionId(id)));
            world.commit(id);
        }
    });
    check(make, vec![change, undo]);
}

#[test]
fn who_begins_is_not_passed() {
    let begin = step(|world| {
        let id = world.time.begin_writer().unwrap();
        assert!(world.time.frozen() <= id);
        assert_eq!(world.time.state_of(id), State::Active);
        let time = world.commit(id.0);
        assert!([State::Committed(time), State::Frozen].contains(&world.time.state_of(id)));
    });
    let overtake_and_advance = step(|world| {
        let id = world.time.begin_writer().unwrap();
        world.commit(id.0);
        world.time.advance();
    });
    check(|| World::begun(8, 7, 0, &[]), vec![begin, overtake_and_advance]);
}

// ---- round and round ------------------------------------------------------------------------------------------------

#[test]
fn a_word_s_next_life_is_not_taken_for_this_one() {
    let go_on = step(|world| {
        for id in 3..=6 {
            // The word of 5 is that of 1, the word of 6 that of 2; the horizon may be in the way.
            if world.time.begin_writer() == Ok(TransactionId(id)) {
                world.commit(id);
            }
        }
    });
    let read = step(|world| {
        let mut session = world.session();
        let snapshot = session.announce();
        assert!(world.sees(1, &snapshot) && world.sees(2, &snapshot));
    });
    check(|| World::begun(4, 3, 2, &[1, 2]), vec![go_on, read]);
}

#[test]
fn nor_if_another_made_room_for_it() {
    let advance = step(|world| _ = world.time.advance());
    let begin = step(|world| {
        // The word of 5 is that of 1.
        for id in 4..=5 {
            if world.time.begin_writer() == Ok(TransactionId(id)) {
                world.commit(id);
            }
        }
    });
    let read = step(|world| {
        let mut session = world.session();
        let snapshot = session.announce();
        assert!(world.sees(1, &snapshot));
    });
    check(|| World::begun(4, 3, 3, &[1, 2, 3]), vec![advance, begin, read]);
}

#[test]
fn two_that_begin_in_the_last_words_have_one_each() {
    let begin = step(|world| {
        for _ in 0..2 {
            if let Ok(id) = world.time.begin_writer() {
                world.commit(id.0);
            }
        }
    });
    check(|| World::begun(4, 3, 3, &[1, 2, 3]), vec![begin.clone(), begin]);
}

// ---- stragglers -----------------------------------------------------------------------------------------------------

/// What 1 commits at, after 2 and 3.
const LATE: CommitTime = CommitTime(4);

fn read_straggler(world: &World) {
    let mut session = world.session();
    let snapshot = session.announce();
    assert_eq!(world.sees(1, &snapshot), snapshot.time >= LATE);
}

#[test]
fn a_straggler_is_seen_as_any_other_while_it_leaves_the_table() {
    let commit = step(|world| assert_eq!(world.commit(1), LATE));
    let advance = step(|world| _ = world.time.advance());
    check(|| World::begun(8, 1, 3, &[2, 3]), vec![commit, advance, step(read_straggler)]);
}

#[test]
fn a_straggler_is_seen_as_any_other_while_it_freezes() {
    let make = || {
        let world = World::begun(8, 1, 3, &[2, 3]);
        world.time.advance();
        world
    };
    let commit_and_advance = step(|world| {
        assert_eq!(world.commit(1), LATE);
        world.time.advance();
    });
    check(make, vec![commit_and_advance, step(read_straggler)]);
}

#[test]
fn a_straggler_does_not_touch_the_word_s_next_life() {
    let commit = step(|world| _ = world.commit(1));
    let go_on = step(|world| {
        // The word of 5 is that of 1.
        for id in 4..=5 {
            if world.time.begin_writer() == Ok(TransactionId(id)) {
                assert_eq!(world.time.state_of(TransactionId(id)), State::Active);
                let time = world.commit(id);
                assert_eq!(world.time.state_of(TransactionId(id)), State::Committed(time));
            }
        }
    });
    let make = || {
        let world = World::begun(4, 1, 3, &[2, 3]);
        drop(world.session());
        world
    };
    check(make, vec![commit, go_on]);
}

#[test]
fn a_straggler_that_is_rolled_back_is_seen_by_nobody() {
    let make = || {
        let world = World::begun(8, 1, 3, &[2, 3]);
        world.write(1);
        world
    };
    let undo = step(|world| {
        world.write(0);
        world.time.rolled_back(TransactionId(1));
    });
    let advance = step(|world| _ = world.time.advance());
    let read = step(|world| {
        let mut session = world.session();
        let snapshot = session.announce();
        let writer = world.row(0);
        assert!(writer == 0 || !world.sees(writer, &snapshot));
    });
    check(make, vec![undo, advance, read]);
}
