//! Statements that wait for a row without their thread: what is answered, counted and left when they are executed again.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;

use meseta_sql::session::{Counter, Parameters, Session};
use meseta_types::Datum;
use support::{Server, Text, is, run};

/// Counts how often a session was called back.
#[derive(Default)]
struct Called(AtomicUsize);

impl Wake for Called {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A session that is called back, and how often it was.
fn callable(server: &Server) -> (Session, Arc<Called>) {
    let (mut session, called) = (server.session(), Arc::new(Called::default()));
    session.suspend_with(Arc::clone(&called).into());
    (session, called)
}

fn with_table() -> Server {
    let server = Server::new();
    run(
        &mut server.session(),
        "create table t (id int primary key, v int, at timestamp(6) null, key (v)); insert into t (id, v) values (1,1),(2,2),(3,3)",
    );
    server
}

/// Executes a statement that is suspended.
#[track_caller]
fn suspends(session: &mut Session, text: &str) {
    assert_eq!(run(session, text), Vec::<String>::new(), "{text}");
    assert!(session.is_suspended() && session.suspended_for().is_some(), "{text}");
}

/// Waits until the time of a wait is over.
fn wait_for_its_time(session: &Session) {
    while session.suspended_for().is_some() {
        std::thread::yield_now();
    }
}

#[test]
fn a_change_of_one_row_is_suspended_and_executed_again() {
    let server = with_table();
    let (mut a, (mut b, called)) = (server.session(), callable(&server));
    let figures = |session: &Session| {
        [Counter::ComUpdate, Counter::Questions, Counter::HandlerReadKey]
            .map(|counter| session.shared().counters.get(counter))
    };
    is(&mut a, "begin; update t set v = v + 10 where id = 1", "ok 0; ok 1");
    let before = figures(&b);
    let change = "update t set v = v * 2, at = now(6) where id = 1";
    suspends(&mut b, change);
    // Nobody has called: too early.
    suspends(&mut b, change);
    let later = run(&mut a, "select now(6)").remove(1);
    assert_eq!(called.0.load(Ordering::SeqCst), 0);
    is(&mut a, "commit", "ok 0");
    assert_eq!(called.0.load(Ordering::SeqCst), 1);
    assert_eq!((b.is_suspended(), b.suspended_for()), (true, None));
    is(&mut b, change, "ok 1");
    assert!(!b.is_suspended());
    // It is one statement, of the time when it began.
    assert_eq!(figures(&b), [before[0] + 1, before[1] + 1, before[2] + 1]);
    is(&mut b, &format!("select v, at <= '{later}' early from t where id = 1"), "[v|early]; 22|1");
    // And it has been committed.
    is(&mut a, "delete from t where id = 1", "ok 1");
}

#[test]
fn what_was_waited_for_may_be_gone_or_another() {
    let server = with_table();
    let (mut a, (mut b, _), (mut c, called)) = (server.session(), callable(&server), callable(&server));
    is(&mut a, "begin; delete from t where id = 1", "ok 0; ok 1");
    suspends(&mut b, "delete from t where id = 1");
    suspends(&mut c, "update t set v = 7 where id = 1");
    is(&mut a, "insert into t (id, v) values (1, 5); commit", "ok 1; ok 0");
    assert_eq!(called.0.load(Ordering::SeqCst), 0, "it is the second in line");
    is(&mut b, "delete from t where id = 1", "ok 1");
    assert_eq!(called.0.load(Ordering::SeqCst), 1);
    is(&mut c, "update t set v = 7 where id = 1", "ok 0");
    is(&mut a, "select id from t", "[id]; 2; 3");
}

#[test]
fn prepared_statements_are_suspended_too() {
    let server = with_table();
    let (mut a, (mut b, _)) = (server.session(), callable(&server));
    let (mut prepared, _) = b.prepare(b"update t set v = ? where id = ?").unwrap();
    let values = [Datum::Signed(40), Datum::Signed(2)];
    let types = [meseta_types::DataType::BIGINT; 2];
    is(&mut a, "begin; update t set v = 4 where id = 2", "ok 0; ok 1");
    is(&mut b, "begin", "ok 0");
    for expected in ["", "ok 1"] {
        let mut answer = Text::default();
        b.execute_prepared(&mut prepared, Parameters { values: &values, types: &types }, &mut answer).unwrap();
        assert_eq!((answer.0.join("; "), b.is_suspended()), (expected.to_owned(), expected.is_empty()));
        if b.is_suspended() {
            is(&mut a, "commit", "ok 0");
        }
    }
    is(&mut b, "rollback; select v from t where id = 2", "ok 0; [v]; 4");
}

#[test]
fn a_locking_read_of_one_row_is_suspended_and_executed_again() {
    let server = with_table();
    let (mut a, (mut b, called)) = (server.session(), callable(&server));
    is(&mut b, "begin", "ok 0");
    for (number, lock) in ["for update", "for share"].into_iter().enumerate() {
        is(&mut a, "begin; update t set v = v + 10 where id = 1", "ok 0; ok 1");
        let read = format!("select v, rand() < 2 from t where id = 1 and v > 0 limit 1 {lock}");
        suspends(&mut b, &read);
        suspends(&mut b, &read);
        assert_eq!(b.suspended_state(), Some("statistics"));
        is(&mut a, "commit", "ok 0");
        assert_eq!(called.0.load(Ordering::SeqCst), number + 1);
        is(&mut b, &read, &format!("[v|rand() < 2]; {}|1", 11 + 10 * number));
        assert!(b.holds_locks());
        is(&mut a, "set innodb_lock_wait_timeout = 1", "ok 0");
        is(&mut a, "update t set v = 0 where id = 1", "1205 Lock wait timeout exceeded; try restarting transaction");
        is(&mut b, "commit; begin", "ok 0; ok 0");
    }
    // A row that is not there any more.
    is(&mut a, "begin; delete from t where id = 1", "ok 0; ok 1");
    suspends(&mut b, "select v from t where id = 1 for update");
    is(&mut a, "commit", "ok 0");
    is(&mut b, "select v from t where id = 1 for update", "[v]");
    is(&mut b, "select v from t where id = 2 for update nowait", "[v]; 2");
}

/// READ COMMITTED keeps no lock on a row that does not match, and none that it waited for either.
#[test]
fn a_locking_read_gives_back_what_does_not_match() {
    let server = with_table();
    let (mut a, (mut b, _)) = (server.session(), callable(&server));
    is(&mut b, "set transaction_isolation = 'READ-COMMITTED'; begin", "ok 0; ok 0");
    is(&mut a, "begin; update t set v = 50 where id = 1", "ok 0; ok 1");
    let read = "select v from t where id = 1 and v = 1 for update";
    suspends(&mut b, read);
    is(&mut a, "commit", "ok 0");
    is(&mut b, read, "[v]");
    is(&mut a, "select id from t where id = 1 for update nowait", "[id]; 1");
}

#[test]
fn a_wait_that_fails_is_the_statements_error() {
    let server = with_table();
    let ((mut a, called), (mut b, _)) = (callable(&server), callable(&server));
    is(&mut a, "begin; update t set v = 4 where id = 2", "ok 0; ok 1");
    is(&mut b, "set innodb_lock_wait_timeout = 1; begin; update t set v = 5 where id in (1, 3)", "ok 0; ok 0; ok 2");
    // Its time is over.
    suspends(&mut b, "update t set v = 5 where id = 2");
    wait_for_its_time(&b);
    is(&mut b, "update t set v = 5 where id = 2", "1205 Lock wait timeout exceeded; try restarting transaction");
    // It is killed, and what it did before stays.
    suspends(&mut b, "delete from t where id = 2");
    b.shared().cancel();
    is(&mut b, "delete from t where id = 2", "1317 Query execution was interrupted");
    is(&mut b, "select v from t where id = 1", "[v]; 5");
    // A deadlock: the one that has changed less is rolled back, also where both wait without a thread.
    suspends(&mut b, "update t set v = 6 where id = 2");
    suspends(&mut a, "update t set v = 7 where id = 3");
    while called.0.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    is(
        &mut a,
        "update t set v = 7 where id = 3",
        "1213 Deadlock found when trying to get lock; try restarting transaction",
    );
    is(&mut b, "update t set v = 6 where id = 2; commit; select v from t", "ok 1; ok 0; [v]; 5; 5; 6");
}

/// MAX_EXECUTION_TIME goes on while a read is suspended, and is what it ends with.
#[test]
fn a_read_may_run_out_of_its_own_time() {
    let server = with_table();
    let (mut a, (mut b, _)) = (server.session(), callable(&server));
    is(&mut a, "begin; update t set v = 4 where id = 2", "ok 0; ok 1");
    let read = "select v from t where id = 2 for update";
    is(&mut b, "set max_execution_time = 500", "ok 0");
    suspends(&mut b, read);
    wait_for_its_time(&b);
    is(&mut b, read, "3024 Query execution was interrupted, maximum statement execution time exceeded");
    is(&mut b, "set max_execution_time = 0", "ok 0");
    suspends(&mut b, read);
    assert!(b.suspended_for() > Some(std::time::Duration::from_secs(10)), "it has its usual time again");
    is(&mut a, "commit", "ok 0");
    is(&mut b, read, "[v]; 4");
}

#[test]
fn a_session_that_ends_while_it_is_suspended_leaves_nothing() {
    let server = with_table();
    let (mut a, mut c) = (server.session(), server.session());
    for was_granted in [false, true] {
        let (mut b, _) = callable(&server);
        is(&mut a, "begin; update t set v = 4 where id = 2", "ok 0; ok 1");
        is(&mut b, "begin; update t set v = 9 where id = 3", "ok 0; ok 1");
        suspends(&mut b, "update t set v = 5 where id = 2");
        if was_granted {
            is(&mut a, "commit", "ok 0");
        }
        b.close();
        assert_eq!(server.instance.engine.waiting(), 0);
        is(&mut a, "commit", "ok 0");
        is(&mut c, "update t set v = 8; select v from t where id = 2", "ok 3; [v]; 8");
        is(&mut c, "update t set v = 1", "ok 3");
    }
}

/// What cannot be executed again unnoticed waits on its thread, and so does what is not alone in its text.
#[test]
fn others_wait_on_their_threads() {
    let server = with_table();
    let mut a = server.session();
    for (text, expected) in [
        ("update t set v = (@x := v + 1) where id = 1", "ok 1"),
        ("update t set v = 6 where id = (select 1)", "ok 1"),
        ("select 1; update t set v = 7 where id = 1", "[1]; 1; ok 1"),
        ("update t set v = 8 where id = 1; select 1", "ok 1; [1]; 1"),
        ("update t set v = 9 where id < 2", "ok 1"),
        ("select 1 from t where id < 2 for update", "[1]; 1"),
        ("select 1 from t where id = 1 and @@autocommit = 1 for update", "[1]; 1"),
        ("select (select 1 from t where id = 1 for update)", "[(select 1 from t where id = 1 for update)]; 1"),
        ("select x.v from t x, t y where x.id = 1 and y.id = 2 for update", "[v]; 0"),
        ("select 1 from t where v = 0 for update", "[1]; 1"),
        ("prepare p from 'update t set v = 10 where id = 1'; execute p", "ok 0; ok 1"),
    ] {
        let (mut b, called) = callable(&server);
        run(&mut a, "update t set v = 1 where id = 1");
        is(&mut a, "begin; update t set v = 0 where id = 1", "ok 0; ok 1");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| run(&mut b, text).join("; "));
            server.until_waiting(1);
            is(&mut a, "commit", "ok 0");
            assert_eq!(waits.join().unwrap(), expected, "{text}");
        });
        assert_eq!(called.0.load(Ordering::SeqCst), 0, "{text}");
    }
}

/// A server whose table is three times as large as memory; its first rows are on disk, of which one is missing: 777.
fn with_table_on_disk() -> Server {
    let server = Server::with_memory(2 << 20);
    let mut session = server.session();
    run(&mut session, "create table t (id int primary key, v int, pad varchar(4000))");
    for from in (0..3000).step_by(100) {
        let rows: Vec<String> =
            (from..from + 100).filter(|&id| id != 777).map(|id| format!("({id}, {id}, repeat('p', 2000))")).collect();
        run(&mut session, &format!("insert into t values {}", rows.join(", ")));
    }
    server
}

/// Executes a statement until it is answered; how often it was suspended.
fn until_answered(session: &mut Session, text: &str) -> (usize, String) {
    for times in 0.. {
        let answer = run(session, text);
        if !session.is_suspended() {
            return (times, answer.join("; "));
        }
        assert!(answer.is_empty() && session.suspended_for().is_some());
    }
    unreachable!("it is answered some time")
}

#[test]
fn who_needs_a_page_is_suspended_until_it_has_come() {
    let server = with_table_on_disk();
    let (mut b, called) = callable(&server);
    let figures = |session: &Session| {
        [Counter::ComSelect, Counter::Questions, Counter::HandlerReadKey]
            .map(|counter| session.shared().counters.get(counter))
    };
    let before = figures(&b);
    let read = "select v, rand() < 2 from t where id = 40";
    assert_eq!(until_answered(&mut b, read), (1, "[v|rand() < 2]; 40|1".to_owned()));
    assert_eq!(called.0.load(Ordering::SeqCst), 1);
    assert_eq!(figures(&b), before.map(|count| count + 1), "it is one statement");
    assert_eq!(until_answered(&mut b, read).0, 0, "it is there");
    // A change; and what is not there is not, once its leaf has come.
    assert_eq!(until_answered(&mut b, "update t set v = 0 where id = 80"), (1, "ok 1".to_owned()));
    assert_eq!(until_answered(&mut b, "delete from t where id = 777"), (1, "ok 0".to_owned()));
    // A session that nobody calls back, and a statement that is not alone, wait for theirs.
    is(&mut server.session(), "select v from t where id = 120", "[v]; 120");
    is(&mut b, "select v from t where id = 160; select v from t where id = 200", "[v]; 160; [v]; 200");
    assert!(!b.is_suspended());
}

#[test]
fn a_session_that_ends_while_a_page_comes_leaves_nothing() {
    let server = with_table_on_disk();
    let (mut b, _) = callable(&server);
    suspends(&mut b, "update t set v = 0 where id = 40");
    b.close();
    let (mut c, _) = callable(&server);
    suspends(&mut c, "select v from t where id = 80");
    drop(c);
    let mut d = server.session();
    is(&mut d, "alter table t add w int", "ok 0");
    is(&mut d, "update t set v = v + 1; select sum(v) from t", "ok 2999; [sum(v)]; 4500722");
}
