//! LOCK TABLES and FLUSH TABLES, as MySQL 9.7 answered them.

mod support;

use support::{Server, all, is, run};

const TIMEOUT: &str = "1205 Lock wait timeout exceeded; try restarting transaction";

fn not_locked(name: &str) -> String {
    format!("1100 Table '{name}' was not locked with LOCK TABLES")
}

fn to_read(name: &str) -> String {
    format!("1099 Table '{name}' was locked with a READ lock and can't be updated")
}

fn with_tables() -> Server {
    let server = Server::new();
    run(
        &mut server.session(),
        "create table t (id int primary key, v int); insert into t values (1,1),(2,2);
        create table u (id int primary key); create table w (id int)",
    );
    server
}

#[test]
fn what_is_not_locked_cannot_be_used() {
    let server = with_tables();
    let mut a = server.session();
    all(
        &mut a,
        &[
            ("lock tables t read, u write", "ok 0"),
            ("select * from t", "[id|v]; 1|1; 2|2"),
            ("select * from t x", &not_locked("x")),
            ("insert into t values (3,3)", &to_read("t")),
            ("update t set v=1", &to_read("t")),
            ("delete from t", &to_read("t")),
            ("replace into t values (1,1)", &to_read("t")),
            ("insert into u values (1)", "ok 1"),
            ("select * from w", &not_locked("w")),
            ("insert into w values (1)", &not_locked("w")),
            ("insert into u select id from w", &not_locked("w")),
            ("select (select 1 from w)", &not_locked("w")),
            ("create table z (i int)", &not_locked("z")),
            ("drop table w", &not_locked("w")),
            ("drop table u", "ok 0"),
            ("alter table t add x int", &to_read("t")),
            ("truncate t", &to_read("t")),
            ("rename table t to tt", &to_read("t")),
            ("create index i on t(v)", &to_read("t")),
            ("lock tables nope read", "1146 Table 'test.nope' doesn't exist"),
            // The locks before have gone all the same.
            ("select * from w", "[id]"),
            ("lock tables t as a read, t as b write", "ok 0"),
            ("select * from t", &not_locked("t")),
            ("select count(*) from t as a, t as b", "[count(*)]; 4"),
            ("insert into t values (4,4)", &not_locked("t")),
            ("update t as b set v=2", "ok 1"),
            ("update t as a set v=2", &to_read("a")),
            ("lock tables t read, t write", "1066 Not unique table/alias: 't'"),
            ("lock tables t write", "ok 0"),
            ("alter table t add x int", "ok 0"),
            ("insert into t values (3,3,3)", "ok 1"),
            ("alter table t comment 'x'", "ok 0"),
            ("truncate t", "ok 0"),
            ("drop table t", "ok 0"),
            ("unlock tables", "ok 0"),
        ],
    );
}

#[test]
fn others_wait() {
    let server = with_tables();
    let (mut a, mut b) = (server.session(), server.session());
    is(&mut b, "set lock_wait_timeout = 1, innodb_lock_wait_timeout = 50", "ok 0");
    is(&mut a, "lock tables t write, u read", "ok 0");
    all(
        &mut b,
        &[
            ("select * from t", TIMEOUT),
            ("insert into u values (9)", TIMEOUT),
            ("select * from u", "[id]"),
            ("drop table u", TIMEOUT),
            ("lock tables u read", "ok 0"),
            ("unlock tables", "ok 0"),
            ("lock tables t read", TIMEOUT),
            ("lock tables u write", TIMEOUT),
            ("lock tables u read local", "ok 0"),
            ("unlock tables", "ok 0"),
            ("select * from u for update", TIMEOUT),
        ],
    );
    // A commit keeps the locks, a definition too.
    is(&mut a, "insert into t values (3,3); commit; alter table t add x int", "ok 1; ok 0; ok 0");
    is(&mut b, "select * from t", TIMEOUT);
    is(&mut a, "begin", "ok 0");
    is(&mut b, "select count(*) from t", "[count(*)]; 3");
    is(&mut a, "lock tables t write", "ok 0");
    a.close();
    is(&mut b, "select count(*) from t; begin; select count(*) from t", "[count(*)]; 3; ok 0; [count(*)]; 3");
    let mut a = server.session();
    // A transaction that has read a table keeps writers of definitions out, and not readers.
    is(&mut a, "set lock_wait_timeout = 1; lock tables t read; unlock tables", "ok 0; ok 0; ok 0");
    is(&mut a, "lock tables t low_priority write", TIMEOUT);
    is(&mut b, "insert into t values (7,7,7)", "ok 1");
    is(&mut a, "lock tables t read", TIMEOUT);
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| run(&mut a, "set lock_wait_timeout = 50; lock tables t write"));
        server.until_waiting(1);
        is(&mut b, "commit", "ok 0");
        assert_eq!(waiter.join().unwrap(), ["ok 0", "ok 0"]);
    });
}

#[test]
fn locks_and_transactions() {
    let server = with_tables();
    let mut a = server.session();
    all(
        &mut a,
        &[
            ("set autocommit=0", "ok 0"),
            ("insert into t values (6,6)", "ok 1"),
            ("lock tables t write", "ok 0"),
            ("insert into t values (7,7)", "ok 1"),
            ("rollback", "ok 0"),
            ("select id from t", "[id]; 1; 2; 6"),
            ("commit", "ok 0"),
            ("select * from u", &not_locked("u")),
            ("begin", "ok 0"),
            ("select * from u", "[id]"),
            ("set autocommit=1", "ok 0"),
            ("begin", "ok 0"),
            ("insert into t values (9,9)", "ok 1"),
            ("unlock tables", "ok 0"),
            ("rollback", "ok 0"),
            ("select id from t", "[id]; 1; 2; 6"),
            ("set autocommit=0", "ok 0"),
            ("lock tables t write", "ok 0"),
            ("insert into t values (9,9)", "ok 1"),
            ("unlock tables", "ok 0"),
            ("rollback", "ok 0"),
            ("select id from t", "[id]; 1; 2; 6; 9"),
        ],
    );
}

#[test]
fn a_read_lock_on_everything() {
    const CONFLICT: &str = "1223 Can't execute the query because you have a conflicting read lock";
    let server = with_tables();
    let (mut a, mut b) = (server.session(), server.session());
    is(&mut b, "set lock_wait_timeout = 1", "ok 0");
    all(
        &mut a,
        &[
            ("flush tables with read lock", "ok 0"),
            ("flush tables with read lock", "ok 0"),
            ("insert into t values (30,1)", CONFLICT),
            ("create table z (i int)", CONFLICT),
            ("lock tables t write", CONFLICT),
            ("select * from t where id = 1", "[id|v]; 1|1"),
            ("start transaction with consistent snapshot", "ok 0"),
        ],
    );
    all(
        &mut b,
        &[
            ("insert into t values (31,1)", TIMEOUT),
            ("create table z (i int)", TIMEOUT),
            ("select * from t where id = 1", "[id|v]; 1|1"),
        ],
    );
    is(&mut a, "unlock tables", "ok 0");
    is(&mut b, "insert into t values (31,1); create table z (i int)", "ok 1; ok 0");
    all(
        &mut a,
        &[
            ("flush tables t with read lock", "ok 0"),
            ("insert into t values (32,1)", &to_read("t")),
            ("select * from u", &not_locked("u")),
            ("unlock tables", "ok 0"),
            ("flush tables", "ok 0"),
            ("flush local tables t, u", "ok 0"),
        ],
    );
}
