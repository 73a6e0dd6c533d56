//! The Hermitage catalogue: which anomalies each isolation level lets through, told as scripts of two and three sessions.
//!
//! The table is Hermitage's: `test (id int primary key, value int)` with the rows (1, 10) and (2, 20). The outcomes are those
//! that MySQL with InnoDB has (Martin Kleppmann, "Hermitage: Testing the I in ACID", 2014, `mysql.md`).
//!
//! A session is a thread that does what it is told, one thing at a time. A step that has to wait for a lock is told with
//! [`Actor::begins`], which returns once it waits, and its outcome comes with [`Actor::ends`].

mod common;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use common::*;
use meseta_engine::lock::{LockError, Mode, OnConflict, TableMode};
use meseta_engine::row::KeyRange;
use meseta_engine::rows::RowCursor;
use meseta_engine::{Direction, EngineError, Isolation, Locking, Result, Session};
use meseta_sim::SimDisk;

use Isolation::{ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};

/// What a step came to: the rows that it read or changed, (number, value) in order.
type Outcome = Result<Vec<(u32, i64)>>;
type Step = Box<dyn FnOnce(&Bank, &mut Session) -> Outcome + Send>;

/// A session on a thread of its own.
struct Actor {
    bank: Arc<Bank>,
    isolation: Isolation,
    steps: Option<Sender<Step>>,
    outcomes: Receiver<Outcome>,
    thread: Option<JoinHandle<()>>,
}

impl Actor {
    fn new(bank: &Arc<Bank>, isolation: Isolation) -> Actor {
        let (steps, told) = channel::<Step>();
        let (tell, outcomes) = channel();
        let its = Arc::clone(bank);
        let thread = std::thread::spawn(move || {
            let mut session = its.engine.session().unwrap();
            session.set_isolation(isolation);
            for step in told {
                session.begin_statement();
                let start = session.savepoint();
                let outcome = step(&its, &mut session);
                match &outcome {
                    Err(error) if error.ends_transaction() => session.roll_back().unwrap(),
                    Err(_) => session.roll_back_to(start).unwrap(),
                    Ok(_) => {}
                }
                tell.send(outcome).unwrap();
            }
        });
        Actor { bank: Arc::clone(bank), isolation, steps: Some(steps), outcomes, thread: Some(thread) }
    }

    fn tell(&self, step: impl FnOnce(&Bank, &mut Session) -> Outcome + Send + 'static) {
        self.steps.as_ref().unwrap().send(Box::new(step)).unwrap();
    }

    /// Does a step that waits for nobody.
    #[track_caller]
    fn does(&self, step: impl FnOnce(&Bank, &mut Session) -> Outcome + Send + 'static) -> Vec<(u32, i64)> {
        self.tell(step);
        self.outcomes.recv().unwrap().unwrap()
    }

    /// Begins a step that has to wait, and returns when it does.
    #[track_caller]
    fn begins(&self, step: impl FnOnce(&Bank, &mut Session) -> Outcome + Send + 'static) {
        let waiting = self.bank.engine.waiting();
        self.tell(step);
        while self.bank.engine.waiting() == waiting {
            if let Ok(outcome) = self.outcomes.try_recv() {
                panic!("it did not have to wait: {outcome:?}");
            }
            std::thread::yield_now();
        }
    }

    /// How the step that had to wait ended.
    fn ends(&self) -> Outcome {
        self.outcomes.recv().unwrap()
    }

    fn commits(&self) {
        self.does(|_, session| session.commit().map(|()| Vec::new()));
    }

    fn rolls_back(&self) {
        self.does(|_, session| session.roll_back().map(|()| Vec::new()));
    }

    /// `select * from test where ...`; under SERIALIZABLE with shared locks.
    fn select<F: Fn(u32, i64) -> bool + Send + 'static>(
        &self,
        matches: F,
    ) -> impl FnOnce(&Bank, &mut Session) -> Outcome + use<F> {
        let serializable = self.isolation == Serializable;
        move |bank, session| {
            if serializable {
                return read(bank, session, Mode::Shared, matches);
            }
            Ok(bank.all(session).into_iter().filter(|&(number, value)| matches(number, value)).collect())
        }
    }

    /// `select * from test`
    #[track_caller]
    fn sees(&self, expected: &[(u32, i64)]) {
        assert_eq!(self.does(self.select(|_, _| true)), expected);
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.steps = None;
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
            && !std::thread::panicking()
        {
            panic!("a session panicked");
        }
    }
}

fn gaps(session: &Session) -> bool {
    session.isolation() >= RepeatableRead
}

/// Reads the newest rows with locks: the whole table, for want of an index on the value.
fn read(bank: &Bank, session: &mut Session, mode: Mode, matches: impl Fn(u32, i64) -> bool) -> Outcome {
    let locking = Locking { mode, gaps: gaps(session), on_conflict: OnConflict::wait_seconds(50) };
    let table = session.use_table(bank.accounts.id(), TableMode::Read)?.unwrap();
    let mut found = Vec::new();
    let mut rows = RowCursor::locking(&table, 0, &KeyRange::ALL, Direction::Ascending, locking);
    while rows.next(session)? {
        let (mut buffers, mut values) = (Default::default(), Vec::new());
        rows.read(&mut buffers, &mut values)?;
        let row = account(&values);
        if matches(row.0, row.1) {
            found.push(row);
        } else if !gaps(session) {
            rows.unlock(session);
        }
    }
    Ok(found)
}

/// `update test set value = ... where ...`; a row that is to have no value is deleted.
fn update(
    matches: impl Fn(u32, i64) -> bool,
    value: impl Fn(i64) -> Option<i64>,
) -> impl FnOnce(&Bank, &mut Session) -> Outcome {
    move |bank, session| {
        let rows = read(bank, session, Mode::Exclusive, matches)?;
        for &(number, _) in &rows {
            bank.set(session, number, |had| had.and_then(&value))?;
        }
        Ok(rows)
    }
}

/// `update test set value = ... where id = ...`: locks that row alone.
fn set(number: u32, value: i64) -> impl FnOnce(&Bank, &mut Session) -> Outcome {
    move |bank, session| {
        bank.put(session, number, value)?;
        Ok(Vec::new())
    }
}

/// `insert into test values (...)`
fn insert(number: u32, value: i64) -> impl FnOnce(&Bank, &mut Session) -> Outcome {
    set(number, value)
}

fn no(_: u32, _: i64) -> bool {
    true
}

/// The table, and sessions at this level.
fn stage<const N: usize>(isolation: Isolation) -> [Actor; N] {
    let bank = Arc::new(Bank::open(&SimDisk::new(1), options()));
    let mut session = bank.engine.session().unwrap();
    bank.put(&mut session, 1, 10).unwrap();
    bank.put(&mut session, 2, 20).unwrap();
    session.commit().unwrap();
    std::array::from_fn(|_| Actor::new(&bank, isolation))
}

#[track_caller]
fn assert_deadlock(outcome: Outcome) {
    assert!(matches!(outcome, Err(EngineError::Lock(LockError::Deadlock))), "{outcome:?}");
}

const ALL: [Isolation; 4] = [ReadUncommitted, ReadCommitted, RepeatableRead, Serializable];

/// G0, write cycles: no level lets them through.
#[test]
fn g0() {
    for level in ALL {
        let [one, two] = stage(level);
        one.does(set(1, 11));
        two.begins(set(1, 12));
        one.does(set(2, 21));
        one.commits();
        two.ends().unwrap();
        if level != Serializable {
            one.sees(if level == ReadUncommitted { &[(1, 12), (2, 21)] } else { &[(1, 11), (2, 21)] });
            one.commits();
        }
        two.does(set(2, 22));
        two.commits();
        one.sees(&[(1, 12), (2, 22)]);
        two.sees(&[(1, 12), (2, 22)]);
    }
}

/// G1a, aborted reads: READ UNCOMMITTED lets them through.
#[test]
fn g1a() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let [one, two] = stage(level);
        one.does(set(1, 101));
        two.sees(if level == ReadUncommitted { &[(1, 101), (2, 20)] } else { &[(1, 10), (2, 20)] });
        one.rolls_back();
        two.sees(&[(1, 10), (2, 20)]);
        two.commits();
    }
    let [one, two] = stage(Serializable);
    one.does(set(1, 101));
    two.begins(two.select(no));
    one.rolls_back();
    assert_eq!(two.ends().unwrap(), [(1, 10), (2, 20)]);
}

/// G1b, intermediate reads: READ UNCOMMITTED lets them through.
#[test]
fn g1b() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let [one, two] = stage(level);
        one.does(set(1, 101));
        two.sees(if level == ReadUncommitted { &[(1, 101), (2, 20)] } else { &[(1, 10), (2, 20)] });
        one.does(set(1, 11));
        one.commits();
        two.sees(if level == RepeatableRead { &[(1, 10), (2, 20)] } else { &[(1, 11), (2, 20)] });
        two.commits();
    }
    let [one, two] = stage(Serializable);
    one.does(set(1, 101));
    two.begins(two.select(no));
    one.does(set(1, 11));
    one.commits();
    assert_eq!(two.ends().unwrap(), [(1, 11), (2, 20)]);
}

/// G1c, circular information flow: READ UNCOMMITTED lets it through; SERIALIZABLE breaks it as a deadlock.
#[test]
fn g1c() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let [one, two] = stage(level);
        one.does(set(1, 11));
        two.does(set(2, 22));
        let [seen_by_one, seen_by_two] = if level == ReadUncommitted { [22, 11] } else { [20, 10] };
        assert_eq!(one.does(one.select(|number, _| number == 2)), [(2, seen_by_one)]);
        assert_eq!(two.does(two.select(|number, _| number == 1)), [(1, seen_by_two)]);
        one.commits();
        two.commits();
    }
    let [one, two] = stage(Serializable);
    one.does(set(1, 11));
    two.does(set(2, 22));
    one.begins(one.select(no));
    two.tell(two.select(no));
    let outcomes = [one.ends(), two.ends()];
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 1, "{outcomes:?}");
    outcomes.into_iter().filter(|outcome| outcome.is_err()).for_each(assert_deadlock);
}

/// OTV, an observed transaction vanishes: READ UNCOMMITTED lets that through.
#[test]
fn otv() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let [one, two, three] = stage(level);
        one.does(set(1, 11));
        one.does(set(2, 19));
        two.begins(set(1, 12));
        one.commits();
        two.ends().unwrap();
        let (vanishing, whole) = ([(1, 12), (2, 19)], [(1, 11), (2, 19)]);
        three.sees(if level == ReadUncommitted { &vanishing } else { &whole });
        two.does(set(2, 18));
        three.sees(if level == ReadUncommitted { &[(1, 12), (2, 18)] } else { &whole });
        two.commits();
        three.sees(if level == RepeatableRead { &whole } else { &[(1, 12), (2, 18)] });
        three.commits();
    }
}

/// PMP, predicate-many-preceders, of a read: REPEATABLE READ does not let it through.
#[test]
fn pmp() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let [one, two] = stage(level);
        assert_eq!(one.does(one.select(|_, value| value == 30)), []);
        two.does(insert(3, 30));
        two.commits();
        let expected: &[_] = if level == RepeatableRead { &[] } else { &[(3, 30)] };
        assert_eq!(one.does(one.select(|_, value| value % 3 == 0)), expected);
        one.commits();
    }
    let [one, two] = stage(Serializable);
    assert_eq!(one.does(one.select(|_, value| value == 30)), []);
    two.begins(insert(3, 30));
    assert_eq!(one.does(one.select(|_, value| value % 3 == 0)), []);
    one.commits();
    two.ends().unwrap();
}

/// PMP of a write: REPEATABLE READ lets it through, for a locking read sees the newest rows.
#[test]
fn pmp_write() {
    for level in [ReadCommitted, RepeatableRead] {
        let [one, two] = stage(level);
        one.does(update(no, |value| Some(value + 10)));
        two.sees(&[(1, 10), (2, 20)]);
        two.begins(update(|_, value| value == 20, |_| None));
        one.commits();
        assert_eq!(two.ends().unwrap(), [(1, 20)]);
        two.sees(if level == RepeatableRead { &[(2, 20)] } else { &[(2, 30)] });
        two.commits();
        one.sees(&[(2, 30)]);
    }
}

/// P4, lost update: only SERIALIZABLE does not let it through.
#[test]
fn p4() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let [one, two] = stage(level);
        one.sees(&[(1, 10), (2, 20)]);
        two.sees(&[(1, 10), (2, 20)]);
        one.does(set(1, 11));
        two.begins(set(1, 12));
        one.commits();
        two.ends().unwrap();
        two.commits();
        one.sees(&[(1, 12), (2, 20)]);
    }
    let [one, two] = stage(Serializable);
    one.sees(&[(1, 10), (2, 20)]);
    two.sees(&[(1, 10), (2, 20)]);
    one.begins(set(1, 11));
    two.tell(set(1, 12));
    let outcomes = [one.ends(), two.ends()];
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 1, "{outcomes:?}");
}

/// G-single, read skew: REPEATABLE READ does not let it through.
#[test]
fn g_single() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let [one, two] = stage(level);
        assert_eq!(one.does(one.select(|number, _| number == 1)), [(1, 10)]);
        two.sees(&[(1, 10), (2, 20)]);
        two.does(set(1, 12));
        two.does(set(2, 18));
        two.commits();
        let expected = if level == RepeatableRead { 20 } else { 18 };
        assert_eq!(one.does(one.select(|number, _| number == 2)), [(2, expected)]);
        one.commits();
    }
}

/// G-single through a write: REPEATABLE READ lets it through.
#[test]
fn g_single_write() {
    let [one, two] = stage(RepeatableRead);
    assert_eq!(one.does(one.select(|number, _| number == 1)), [(1, 10)]);
    two.sees(&[(1, 10), (2, 20)]);
    two.does(set(1, 12));
    two.does(set(2, 18));
    two.commits();
    // The snapshot has such a row, the newest rows have none.
    assert_eq!(one.does(update(|_, value| value == 20, |_| None)), []);
    one.sees(&[(1, 10), (2, 20)]);
    one.commits();
    one.sees(&[(1, 12), (2, 18)]);
}

/// G2-item, write skew: only SERIALIZABLE does not let it through.
#[test]
fn g2_item() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let [one, two] = stage(level);
        one.sees(&[(1, 10), (2, 20)]);
        two.sees(&[(1, 10), (2, 20)]);
        one.does(set(1, 11));
        two.does(set(2, 21));
        one.commits();
        two.commits();
        one.sees(&[(1, 11), (2, 21)]);
    }
    let [one, two] = stage(Serializable);
    one.sees(&[(1, 10), (2, 20)]);
    two.sees(&[(1, 10), (2, 20)]);
    one.begins(set(1, 11));
    two.tell(set(2, 21));
    let outcomes = [one.ends(), two.ends()];
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 1, "{outcomes:?}");
}

/// G2, anti-dependency cycles: only SERIALIZABLE does not let them through.
#[test]
fn g2() {
    for level in [ReadUncommitted, ReadCommitted, RepeatableRead] {
        let [one, two] = stage(level);
        assert_eq!(one.does(one.select(|_, value| value % 3 == 0)), []);
        assert_eq!(two.does(two.select(|_, value| value % 3 == 0)), []);
        one.does(insert(3, 30));
        two.does(insert(4, 42));
        one.commits();
        two.commits();
        assert_eq!(one.does(one.select(|_, value| value % 3 == 0)), [(3, 30), (4, 42)]);
    }
    let [one, two] = stage(Serializable);
    assert_eq!(one.does(one.select(|_, value| value % 3 == 0)), []);
    assert_eq!(two.does(two.select(|_, value| value % 3 == 0)), []);
    one.begins(insert(3, 30));
    two.tell(insert(4, 42));
    let outcomes = [one.ends(), two.ends()];
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_err()).count(), 1, "{outcomes:?}");
}
