//! Transactions of sessions, as MySQL 9.7 ended them.

mod support;

use support::{Server, all, counter, is, run};

const TIMEOUT: &str = "1205 Lock wait timeout exceeded; try restarting transaction";
const READ_ONLY: &str = "1792 Cannot execute statement in a READ ONLY transaction.";
const IN_PROGRESS: &str = "1568 Transaction characteristics can't be changed while a transaction is in progress";

fn with_tables() -> Server {
    let server = Server::new();
    run(
        &mut server.session(),
        "create table t (id int primary key, v int); insert into t values (1,1),(2,2);
        create table u (id int primary key)",
    );
    server
}

#[test]
fn serializable_reads_lock() {
    let server = with_tables();
    let (mut a, mut b) = (server.session(), server.session());
    is(&mut b, "set innodb_lock_wait_timeout = 1", "ok 0");
    is(&mut a, "set session transaction isolation level serializable; begin", "ok 0; ok 0");
    is(&mut a, "select * from t where id = 1", "[id|v]; 1|1");
    is(&mut b, "update t set v = 5 where id = 1", TIMEOUT);
    is(&mut b, "select v from t where id = 1", "[v]; 1");
    is(&mut a, "commit; select * from t where id = 1", "ok 0; [id|v]; 1|1");
    is(&mut b, "update t set v = 6 where id = 1", "ok 1");
    is(&mut a, "set autocommit = 0; select * from t where id = 1", "ok 0; [id|v]; 1|6");
    is(&mut b, "update t set v = 7 where id = 1", TIMEOUT);
    is(
        &mut a,
        "commit; set autocommit = 1; begin; select (select v from t where id = 2)",
        "ok 0; ok 0; ok 0; [(select v from t where id = 2)]; 2",
    );
    is(&mut b, "update t set v = 7 where id = 2", TIMEOUT);
    is(&mut a, "rollback", "ok 0");
    // Three waits of a second each.
    is(
        &mut b,
        "select variable_name, variable_value between 900 and 2000 as a_second from performance_schema.global_status \
         where variable_name in ('Innodb_row_lock_time_avg', 'Innodb_row_lock_time_max')",
        "[variable_name|a_second]; Innodb_row_lock_time_avg|1; Innodb_row_lock_time_max|1",
    );
}

#[test]
fn read_only_transactions_change_nothing() {
    let server = with_tables();
    let mut a = server.session();
    all(
        &mut a,
        &[
            ("start transaction read only", "ok 0"),
            ("insert into t values (9,9)", READ_ONLY),
            ("update t set v=1 where 0", READ_ONLY),
            ("delete from t", READ_ONLY),
            ("replace into t values (1,1)", READ_ONLY),
            ("insert into nope values (1)", "1146 Table 'test.nope' doesn't exist"),
            ("select * from t where id=1 for update", READ_ONLY),
            ("select * from t where id=1 for share", "[id|v]; 1|1"),
            ("commit and chain", "ok 0"),
            ("insert into t values (9,9)", READ_ONLY),
            ("create table x (i int)", "ok 0"),
            ("insert into t values (9,9)", "ok 1"),
            ("delete from t where id = 9", "ok 1"),
            ("start transaction read only", "ok 0"),
            ("lock tables t write", "ok 0"),
            ("unlock tables", "ok 0"),
            ("set session transaction read only", "ok 0"),
            ("insert into t values (9,9)", READ_ONLY),
            ("start transaction read write", "ok 0"),
            ("insert into t values (9,9)", "ok 1"),
            ("rollback", "ok 0"),
            ("begin", "ok 0"),
            ("insert into t values (9,9)", READ_ONLY),
            ("rollback", "ok 0"),
            ("create table y (i int)", READ_ONLY),
            ("truncate u", READ_ONLY),
            ("set session transaction read write", "ok 0"),
            ("set transaction read only", "ok 0"),
            ("insert into t values (9,9)", READ_ONLY),
            ("insert into t values (9,9)", READ_ONLY),
            ("begin", "ok 0"),
            ("set transaction read write", IN_PROGRESS),
            ("set transaction isolation level read committed", IN_PROGRESS),
            ("set @@transaction_isolation = 'READ-COMMITTED'", IN_PROGRESS),
            ("set session transaction read write", "ok 0"),
            ("commit", "ok 0"),
            ("begin", "ok 0"),
            ("insert into t values (9,9)", "ok 1"),
            ("rollback", "ok 0"),
        ],
    );
}

#[test]
fn chains_and_completion_types() {
    let server = with_tables();
    let (mut a, mut b) = (server.session(), server.session());
    is(&mut b, "set innodb_lock_wait_timeout = 1", "ok 0");
    is(
        &mut a,
        "set transaction isolation level serializable; begin; commit and chain; select * from t where id = 1",
        "ok 0; ok 0; ok 0; [id|v]; 1|1",
    );
    is(&mut b, "update t set v = 8 where id = 1", TIMEOUT);
    is(&mut a, "rollback and chain", "ok 0");
    is(&mut b, "update t set v = 8 where id = 1", "ok 1");
    is(&mut a, "select * from t where id = 2", "[id|v]; 2|2");
    is(&mut b, "update t set v = 8 where id = 2", TIMEOUT);
    is(&mut a, "rollback; select * from t where id = 2", "ok 0; [id|v]; 2|2");
    is(&mut b, "update t set v = 8 where id = 2", "ok 1");
    all(
        &mut a,
        &[
            ("set completion_type = 1", "ok 0"),
            ("begin", "ok 0"),
            ("commit", "ok 0"),
            ("insert into t values (10,10)", "ok 1"),
            ("rollback", "ok 0"),
            ("select count(*) from t where id = 10", "[count(*)]; 0"),
            ("commit and no chain", "ok 0"),
            ("set completion_type = 2", "ok 0"),
            ("commit no release", "ok 0"),
        ],
    );
    assert!(!a.is_released());
    is(&mut a, "commit", "ok 0");
    assert!(a.is_released());
    is(&mut b, "rollback release", "ok 0");
    assert!(b.is_released());
}

#[test]
fn savepoints() {
    let no_such = |name: &str| format!("1305 SAVEPOINT {name} does not exist");
    let server = with_tables();
    all(
        &mut server.session(),
        &[
            ("savepoint a", "ok 0"),
            ("rollback to a", &no_such("a")),
            ("release savepoint a", &no_such("a")),
            ("begin", "ok 0"),
            ("savepoint a", "ok 0"),
            ("insert into t values (11,1)", "ok 1"),
            ("savepoint A", "ok 0"),
            ("insert into t values (12,1)", "ok 1"),
            ("rollback to savepoint a", "ok 0"),
            ("select id from t where id > 10", "[id]; 11"),
            ("release savepoint a", "ok 0"),
            ("rollback to a", &no_such("a")),
            ("savepoint x", "ok 0"),
            ("savepoint y", "ok 0"),
            ("savepoint z", "ok 0"),
            ("release savepoint y", "ok 0"),
            ("rollback to z", &no_such("z")),
            ("rollback to x", "ok 0"),
            ("commit", "ok 0"),
            ("rollback to x", &no_such("x")),
            ("set autocommit=0", "ok 0"),
            ("savepoint a", "ok 0"),
            ("insert into t values (20,1)", "ok 1"),
            ("rollback to a", "ok 0"),
            ("select count(*) from t where id=20", "[count(*)]; 0"),
            ("commit", "ok 0"),
            ("rollback to a", &no_such("a")),
        ],
    );
}

#[test]
fn autocommit_commits_when_it_is_switched_on() {
    let server = with_tables();
    all(
        &mut server.session(),
        &[
            ("begin", "ok 0"),
            ("insert into t values (30,1)", "ok 1"),
            ("set autocommit=1", "ok 0"),
            ("rollback", "ok 0"),
            ("select count(*) from t where id=30", "[count(*)]; 0"),
            ("set autocommit=0", "ok 0"),
            ("insert into t values (31,1)", "ok 1"),
            ("set autocommit=0", "ok 0"),
            ("rollback", "ok 0"),
            ("select count(*) from t where id=31", "[count(*)]; 0"),
            ("insert into t values (32,1)", "ok 1"),
            ("set autocommit=1", "ok 0"),
            ("rollback", "ok 0"),
            ("select count(*) from t where id=32", "[count(*)]; 1"),
            ("begin", "ok 0"),
            ("insert into t values (33,1)", "ok 1"),
            ("set autocommit=0", "ok 0"),
            ("set autocommit=1", "ok 0"),
            ("rollback", "ok 0"),
            ("select count(*) from t where id=33", "[count(*)]; 1"),
        ],
    );
}

#[test]
fn what_commits_on_its_own() {
    let server = with_tables();
    let mut a = server.session();
    for (statement, commits) in [
        ("create table x1 (i int)", true),
        ("drop table x1", true),
        ("create database d1", true),
        ("drop database d1", true),
        ("flush tables", true),
        ("lock tables t write", true),
        ("unlock tables", false),
        ("begin", true),
        ("start transaction read only", true),
        ("set autocommit=1", false),
        ("show tables", false),
        ("use test", false),
        ("set @x=1", false),
        ("do 1", false),
        ("alter table t comment 'x'", true),
        ("rename table t to t9, t9 to t", true),
        ("drop table nope", true),
        ("create table t (i int)", true),
        ("truncate nope", true),
        ("create index zz on t (v)", true),
        ("drop index zz on t", true),
        ("xa recover", false),
        ("selekt", false),
    ] {
        run(&mut a, "begin; delete from u; insert into u values (1)");
        run(&mut a, statement);
        run(&mut a, "rollback");
        run(&mut a, "unlock tables");
        let rows = if commits { "1" } else { "0" };
        is(&mut a, "select count(*) from u", &format!("[count(*)]; {rows}"));
        run(&mut a, "delete from u");
    }
}

#[test]
fn a_lock_that_is_not_had() {
    let server = with_tables();
    let (mut a, mut b) = (server.session(), server.session());
    const NOWAIT: &str = "3572 Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";
    is(&mut b, "set innodb_lock_wait_timeout = 1", "ok 0");
    is(&mut a, "begin; insert into t values (50,1)", "ok 0; ok 1");
    // The statement alone is undone.
    is(
        &mut b,
        "begin; insert into t values (51,1); update t set v = 1 where id = 50",
        &format!("ok 0; ok 1; {TIMEOUT}"),
    );
    is(&mut b, "select count(*) from t where id = 51; rollback", "[count(*)]; 1; ok 0");
    is(&mut a, "rollback; begin; select * from t where id = 1 for update", "ok 0; ok 0; [id|v]; 1|1");
    all(
        &mut b,
        &[
            ("select * from t where id=1 for update nowait", NOWAIT),
            ("select * from t where id=1 for share nowait", NOWAIT),
            ("select id from t for share skip locked", "[id]; 2"),
            ("select id from t for update of t", TIMEOUT),
            ("select id from t for update of x", "3568 Unresolved table name `x` in locking clause."),
            ("select id from t x for update of t", "3568 Unresolved table name `t` in locking clause."),
            ("select t.id from t join u for update of u nowait", "[id]"),
            ("select 1 for update", "[1]; 1"),
            (
                "select t.id from t for share of t for update of t",
                "3569 Table `t` appears in multiple locking clauses.",
            ),
            ("select t.id from t lock in share mode", TIMEOUT),
        ],
    );
    is(&mut a, "rollback", "ok 0");
}

/// Who changes a row by its primary key alone asks for no lock before: the change is the lock, or what stands for it.
#[test]
fn a_row_named_by_its_key_is_locked_whatever_becomes_of_it() {
    const NOWAIT: &str = "3572 Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";
    let server = with_tables();
    let (mut a, mut b) = (server.session(), server.session());
    for (statement, told) in [
        ("update t set v = 9 where id = 1", "ok 1"),
        // As it was: the client is told of no row.
        ("update t set v = 1 where id = 1", "ok 0"),
        ("update t set v = 9 where id = 1 and v = 7", "ok 0"),
        ("update t set v = (@v := 9) where id = 1", "ok 1"),
        ("delete from t where id = 1", "ok 1"),
        ("delete from t where id = 1 limit 1", "ok 1"),
    ] {
        is(&mut a, "begin", "ok 0");
        is(&mut a, statement, told);
        is(&mut b, "select * from t where id = 1 for update nowait", NOWAIT);
        is(&mut b, "select * from t where id = 2 for update nowait", "[id|v]; 2|2");
        is(&mut a, "rollback", "ok 0");
        is(&mut b, "select * from t where id = 1 for update nowait", "[id|v]; 1|1");
    }
    // What is not there is locked as a gap; and a null is nowhere.
    let gaps = "select lock_mode from performance_schema.data_locks where lock_type = 'RECORD'";
    for statement in ["update t set v = 9 where id = -5", "delete from t where id = -5"] {
        is(&mut a, "begin", "ok 0");
        is(&mut a, statement, "ok 0");
        is(&mut b, gaps, "[lock_mode]; X,GAP");
        is(&mut a, "rollback", "ok 0");
        // Nor is it free before the transaction ends where that was not begun by a statement of its own.
        is(&mut a, "set autocommit = 0", "ok 0");
        is(&mut a, statement, "ok 0");
        is(&mut b, gaps, "[lock_mode]; X,GAP");
        is(&mut a, "set autocommit = 1", "ok 0");
        is(&mut a, statement, "ok 0");
        is(&mut b, gaps, "[lock_mode]");
    }
    is(&mut a, "update t set v = 9 where id = null; delete from t where id = null", "ok 0; ok 0");
}

#[test]
fn changes_of_one_row_at_the_same_time_are_all_made() {
    const EACH: usize = 200;
    let server = with_tables();
    // What is evaluated again, since the row has become another, warns once.
    run(&mut server.session(), "create table w (id int primary key, n int, d int); insert into w values (1, 0, 0)");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut session = server.session();
                run(&mut session, "set sql_mode = ''");
                for _ in 0..EACH {
                    is(&mut session, "update w set n = n + 1, d = '1x' where id = 1", "ok 1");
                    assert_eq!(session.status().warnings, 1);
                }
            });
        }
    });
    is(&mut server.session(), "select n, d from w", &format!("[n|d]; {}|1", 4 * EACH));
}

#[test]
fn a_deadlock_rolls_back_all() {
    let server = with_tables();
    let (mut a, mut b) = (server.session(), server.session());
    is(&mut a, "begin; update t set v = 3 where id = 1; insert into u values (1), (2)", "ok 0; ok 1; ok 2");
    is(&mut b, "begin; update t set v = 3 where id = 2", "ok 0; ok 1");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| run(&mut a, "update t set v = 4 where id = 2"));
        server.until_waiting(1);
        is(
            &mut b,
            "update t set v = 4 where id = 1",
            "1213 Deadlock found when trying to get lock; try restarting transaction",
        );
        assert_eq!(waiter.join().unwrap(), ["ok 1"]);
    });
    assert!(!b.status().in_transaction);
    is(&mut b, "select id, v from t", "[id|v]; 1|1; 2|2");
    is(&mut a, "rollback", "ok 0");
}

/// Clients count on from LAST_INSERT_ID().
#[test]
fn rows_of_one_statement_have_numbers_side_by_side() {
    let server = with_tables();
    let (mut a, mut b) = (server.session(), server.session());
    run(&mut a, "create table c (id int primary key auto_increment, v int)");
    is(&mut b, "begin; select v from t where id = 2 for update", "ok 0; [v]; 2");
    std::thread::scope(|scope| {
        let insert = "insert into c (v) values (1), ((select v from t where id = 2 for update)), (3)";
        let waiter = scope.spawn(|| run(&mut a, insert));
        server.until_waiting(1);
        is(&mut b, "insert into c (v) values (9); commit", "ok 1; ok 0");
        assert_eq!(waiter.join().unwrap(), ["ok 3"]);
    });
    is(&mut b, "select * from c order by id", "[id|v]; 1|1; 2|2; 3|3; 4|9");
}

#[test]
fn a_snapshot_from_the_start() {
    let server = with_tables();
    let (mut a, mut b) = (server.session(), server.session());
    is(&mut a, "start transaction with consistent snapshot", "ok 0");
    is(&mut b, "insert into t values (60,1)", "ok 1");
    is(&mut a, "select count(*) from t where id = 60; commit", "[count(*)]; 0; ok 0");
    is(
        &mut a,
        "set session transaction isolation level read committed; start transaction with consistent snapshot",
        "ok 0; ok 0",
    );
    assert_eq!(a.status().warnings, 1);
    is(&mut a, "select count(*) from t where id = 60", "[count(*)]; 1");
}

#[test]
fn a_session_tells_whether_others_may_wait_for_it() {
    let server = with_tables();
    let mut a = server.session();
    for (text, holds_locks) in [
        ("begin", false),
        ("select * from t", false),
        ("update t set v = 2 where id = 99", true),
        ("rollback", false),
        ("begin; update t set v = 2 where id = 1", true),
        ("commit", false),
        ("begin; select * from t where id = 1 for update", true),
        ("commit", false),
        ("update t set v = 3", false),
        ("lock tables t read", true),
        ("unlock tables", false),
    ] {
        run(&mut a, text);
        assert_eq!(a.holds_locks(), holds_locks, "{text}");
    }
}

#[test]
fn how_durable_commits_are_is_heeded_by_sessions_that_are_there_already() {
    let server = with_tables();
    let (mut a, mut administrator) = (server.session(), server.session());
    a.defer_commits();
    let mut waits_for_the_log = |statements: &str| {
        run(&mut a, statements);
        a.take_pending().is_some()
    };
    assert!(waits_for_the_log("update t set v = 10 where id = 1"));
    for (flush, waits) in [(2, false), (0, false), (1, true)] {
        is(&mut administrator, &format!("set global innodb_flush_log_at_trx_commit = {flush}"), "ok 0");
        assert_eq!(waits_for_the_log("update t set v = v + 1 where id = 1"), waits, "{flush}, a statement");
        assert_eq!(
            waits_for_the_log("begin; update t set v = v + 1 where id = 1; commit"),
            waits,
            "{flush}, a transaction"
        );
    }
    // In the middle of a transaction, and by the session itself.
    assert!(!waits_for_the_log("begin; update t set v = v + 1 where id = 1"));
    is(&mut administrator, "set global innodb_flush_log_at_trx_commit = 2", "ok 0");
    assert!(!waits_for_the_log("commit"));
    assert!(waits_for_the_log("set global innodb_flush_log_at_trx_commit = 1; update t set v = v + 1 where id = 1"));
}

/// Rows that are longer than their leaves hold: `n` and `s` are in the part that is there, `b` is not.
#[test]
fn of_long_rows_what_is_asked_for_is_seen_as_the_snapshot_has_it() {
    let server = Server::with_memory(4 << 20);
    let s = &mut server.session();
    is(s, "create table l (id int primary key, n int, s varchar(20), b longtext, e varchar(20))", "ok 0");
    for id in 1..=20 {
        let row = format!("({id}, {id}, 's{id}', repeat(char(64 + {id}), 20000 * {id}), 'e{id}')");
        is(s, &format!("insert into l values {row}"), "ok 1");
    }
    is(s, "insert into l values (0, 0, 'short', '', null), (30, 30, null, 'short', '')", "ok 2");
    // What is read of the disk for it: the leaves, and not the rest of four megabytes.
    let (mut a, mut b) = (server.session(), server.session());
    let before = counter(&mut a, "innodb_pages_read");
    is(
        &mut a,
        "select count(*), sum(id), sum(n), count(s) from l",
        "[count(*)|sum(id)|sum(n)|count(s)]; 22|240|240|21",
    );
    let read = counter(&mut a, "innodb_pages_read") - before;
    assert!(read < 20, "{read} pages for what is in the leaves");
    is(&mut a, "select sum(length(b)) from l", "[sum(length(b))]; 4200005");
    let read = counter(&mut a, "innodb_pages_read") - before;
    assert!(read > 100, "{read} pages for four megabytes");

    let [front, whole] = ["id, n, s", "id, n, s, length(b), left(b, 1), e"];
    let query = |columns: &str, order: &str| format!("select {columns} from l where id > -1 order by id {order}");
    let queries: Vec<String> =
        [front, whole].iter().flat_map(|columns| ["", "desc"].map(|order| query(columns, order))).collect();
    is(&mut a, "start transaction with consistent snapshot", "ok 0");
    let then: Vec<_> = queries.iter().map(|query| run(&mut a, query)).collect();
    is(&mut b, "update l set n = n + 100", "ok 22");
    is(&mut b, "update l set s = concat(s, '-', id) where id between 3 and 8", "ok 6");
    is(&mut b, "update l set b = reverse(concat('end', b)), e = 'new' where id between 5 and 10", "ok 6");
    is(&mut b, "update l set b = 'short now' where id between 11 and 13", "ok 3");
    is(&mut b, "delete from l where id in (2, 6, 12, 14, 20)", "ok 5");
    is(&mut b, "insert into l values (2, 2, 'again', repeat('x', 9000), 'e')", "ok 1");
    for (query, then) in queries.iter().zip(&then) {
        assert_eq!(run(&mut a, query), *then, "{query}");
    }
    is(&mut a, "commit", "ok 0");
    let now = run(&mut a, &queries[0]);
    assert_eq!(now[1..5], ["0|100|short", "1|101|s1", "2|2|again", "3|103|s3-3"]);
    assert_eq!(now.len(), 1 + 18);
    is(&mut a, "select sum(n), sum(length(b)) from l", "[sum(n)|sum(length(b))]; 1888|2649038");
    is(&mut a, "check table l", "[Table|Op|Msg_type|Msg_text]; test.l|check|status|OK");
}
