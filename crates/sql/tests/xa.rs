//! XA, as MySQL 9.7 answered it.

mod support;

use support::{Server, all, is, run};

const NONE: &str =
    "1399 XAER_RMFAIL: The command cannot be executed when global transaction is in the  NON-EXISTING state";
const ACTIVE: &str = "1399 XAER_RMFAIL: The command cannot be executed when global transaction is in the  ACTIVE state";
const IDLE: &str = "1399 XAER_RMFAIL: The command cannot be executed when global transaction is in the  IDLE state";
const ROLLBACK_ONLY: &str =
    "1399 XAER_RMFAIL: The command cannot be executed when global transaction is in the  ROLLBACK ONLY state";
const UNKNOWN: &str = "1397 XAER_NOTA: Unknown XID";
const OUTSIDE: &str = "1400 XAER_OUTSIDE: Some work is done outside global transaction";
const DUPLICATE: &str = "1440 XAER_DUPID: The XID already exists";
const INVALID: &str = "1398 XAER_INVAL: Invalid arguments (or unsupported command)";
const DEADLOCK: &str = "1614 XA_RBDEADLOCK: Transaction branch was rolled back: deadlock was detected";
const RECOVER: &str = "[formatID|gtrid_length|bqual_length|data]";

fn with_table() -> Server {
    let server = Server::new();
    run(&mut server.session(), "create table t (id int primary key, v int); insert into t values (1,1),(2,2)");
    server
}

#[test]
fn a_branch_goes_from_state_to_state() {
    let server = with_table();
    let mut a = server.session();
    all(
        &mut a,
        &[
            ("xa end 'x'", NONE),
            ("xa prepare 'x'", NONE),
            ("xa commit 'x'", UNKNOWN),
            ("xa rollback 'x'", UNKNOWN),
            ("xa commit 'x' one phase", UNKNOWN),
            ("xa recover", RECOVER),
            ("xa start 'x'", "ok 0"),
            ("xa start 'y'", ACTIVE),
            ("begin", ACTIVE),
            ("commit", ACTIVE),
            ("rollback", ACTIVE),
            ("savepoint s", "ok 0"),
            ("select * from t", "[id|v]; 1|1; 2|2"),
            ("insert into t values (10,10)", "ok 1"),
            ("create table u (i int)", ACTIVE),
            ("lock tables t read", ACTIVE),
            ("xa prepare 'x'", ACTIVE),
            ("xa commit 'x'", ACTIVE),
            ("xa rollback 'x'", ACTIVE),
            ("xa commit 'x' one phase", ACTIVE),
            (
                "set transaction read only",
                "1568 Transaction characteristics can't be changed while a transaction is in progress",
            ),
            ("truncate t", ACTIVE),
            ("xa end 'z'", UNKNOWN),
            ("flush tables", ACTIVE),
            ("xa end 'x' suspend", INVALID),
            ("xa end 'x'", "ok 0"),
            ("xa end 'x'", IDLE),
            ("select * from t", IDLE),
            ("insert into t values (11,1)", IDLE),
            ("savepoint r", IDLE),
            ("begin", IDLE),
            ("xa start 'x'", IDLE),
            ("xa start 'x' resume", "ok 0"),
            ("do 1", "ok 0"),
            ("xa start 'x' join", INVALID),
            ("insert into t values (12,1)", "ok 1"),
            ("xa end 'x'", "ok 0"),
            ("xa prepare 'x'", "ok 0"),
            ("rollback", "ok 0"),
            ("xa commit 'nope'", UNKNOWN),
            ("xa commit 'x' one phase", "ok 0"),
            ("select id from t", "[id]; 1; 2; 10; 12"),
            ("xa start 'o'", "ok 0"),
            ("insert into t values (30,1)", "ok 1"),
            ("xa end 'o'", "ok 0"),
            ("xa commit 'o' one phase", "ok 0"),
            ("xa start 'w'", "ok 0"),
            ("insert into t values (1,1)", "1062 Duplicate entry '1' for key 't.PRIMARY'"),
            ("insert into t values (31,1)", "ok 1"),
            ("xa end 'w'", "ok 0"),
            ("xa rollback 'w'", "ok 0"),
            ("select id from t where id > 29", "[id]; 30"),
        ],
    );
}

#[test]
fn work_outside_keeps_branches_away() {
    let server = with_table();
    let mut a = server.session();
    all(
        &mut a,
        &[
            ("begin", "ok 0"),
            ("xa start 'k'", OUTSIDE),
            ("xa commit 'k'", NONE),
            ("commit", "ok 0"),
            ("set autocommit=0", "ok 0"),
            ("select 1", "[1]; 1"),
            ("xa start 'k'", "ok 0"),
            ("set autocommit=1", ACTIVE),
            ("xa end 'k'", "ok 0"),
            ("xa rollback 'k'", "ok 0"),
            ("set autocommit=1", "ok 0"),
            ("lock tables t write", "ok 0"),
            ("xa start 'l'", OUTSIDE),
            ("unlock tables", "ok 0"),
            ("set transaction read only", "ok 0"),
            ("xa start 'r'", "ok 0"),
            ("insert into t values (90,1)", "1792 Cannot execute statement in a READ ONLY transaction."),
            ("xa end 'r'", "ok 0"),
            ("xa rollback 'r'", "ok 0"),
            ("insert into t values (90,1)", "ok 1"),
        ],
    );
}

#[test]
fn what_is_prepared_is_anybodys() {
    let server = with_table();
    let (mut a, mut b) = (server.session(), server.session());
    all(
        &mut a,
        &[
            ("xa start x'414243', 0x0102, 7", "ok 0"),
            ("insert into t values (50,1)", "ok 1"),
            ("xa end x'414243', 0x0102, 7", "ok 0"),
            ("xa prepare x'414243', 0x0102, 7", "ok 0"),
            ("xa recover convert xid", "[formatID|gtrid_length|bqual_length|data]; 7|3|2|0x4142430102"),
            ("xa start 'ABC', x'0102', 7", DUPLICATE),
            ("select id from t", "[id]; 1; 2"),
            ("begin", "ok 0"),
            ("xa commit x'414243', 0x0102, 7", NONE),
            ("rollback", "ok 0"),
        ],
    );
    all(
        &mut b,
        &[
            ("set innodb_lock_wait_timeout = 1", "ok 0"),
            ("insert into t values (50,2)", "1205 Lock wait timeout exceeded; try restarting transaction"),
            ("xa start 'ABC', x'0102', 7", DUPLICATE),
            ("xa rollback 'ABC', x'0102', 7", "ok 0"),
            ("xa rollback 'ABC', x'0102', 7", UNKNOWN),
            ("insert into t values (50,2)", "ok 1"),
            // One that has changed nothing is prepared in name.
            ("xa start 'e'", "ok 0"),
            ("select id from t where id = 1", "[id]; 1"),
            ("xa end 'e'", "ok 0"),
            ("xa prepare 'e'", "ok 0"),
            ("xa recover", "[formatID|gtrid_length|bqual_length|data]; 1|1|0|e"),
            ("xa start 'e'", DUPLICATE),
            ("xa commit 'e'", "ok 0"),
            ("xa commit 'e'", UNKNOWN),
        ],
    );
    is(&mut a, "xa start 'same'", "ok 0");
    is(&mut b, "xa start 'same'", DUPLICATE);
    a.close();
    is(&mut b, "xa start 'same'", "ok 0");
}

#[test]
fn what_is_prepared_outlives_the_server() {
    let server = with_table();
    let mut a = server.session();
    all(
        &mut a,
        &[
            ("xa start 'one', 'b', 3", "ok 0"),
            ("insert into t values (20,1)", "ok 1"),
            ("xa end 'one', 'b', 3", "ok 0"),
            ("xa prepare 'one', 'b', 3", "ok 0"),
            ("xa start 'two'", "ok 0"),
            ("update t set v = 9 where id = 1", "ok 1"),
            ("xa end 'two'", "ok 0"),
            ("xa prepare 'two'", "ok 0"),
            ("xa start 'lost'", "ok 0"),
            ("insert into t values (21,1)", "ok 1"),
            ("xa end 'lost'", "ok 0"),
        ],
    );
    drop(a);
    let server = server.again();
    let mut a = server.session();
    let mut prepared = run(&mut a, "xa recover");
    prepared.sort();
    assert_eq!(prepared, ["1|3|0|two", "3|3|1|oneb", RECOVER]);
    all(
        &mut a,
        &[
            ("xa start 'two'", DUPLICATE),
            ("xa commit 'lost'", UNKNOWN),
            ("select id, v from t", "[id|v]; 1|1; 2|2"),
            ("set innodb_lock_wait_timeout = 1", "ok 0"),
            ("update t set v = 5 where id = 1", "1205 Lock wait timeout exceeded; try restarting transaction"),
            ("xa commit 'one', 'b', 3", "ok 0"),
            ("xa rollback 'two'", "ok 0"),
            ("update t set v = 5 where id = 1", "ok 1"),
            ("select id, v from t", "[id|v]; 1|5; 2|2; 20|1"),
            ("xa recover", RECOVER),
        ],
    );
}

#[test]
fn a_deadlock_leaves_nothing_but_to_roll_back() {
    let server = with_table();
    let (mut a, mut b) = (server.session(), server.session());
    is(&mut a, "begin; update t set v = 0 where id = 1; insert into t values (60,1),(61,1)", "ok 0; ok 1; ok 2");
    is(&mut b, "xa start 'dl'; update t set v = 0 where id = 2", "ok 0; ok 1");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| run(&mut a, "update t set v = 0 where id = 2"));
        server.until_waiting(1);
        is(
            &mut b,
            "update t set v = 0 where id = 1",
            "1213 Deadlock found when trying to get lock; try restarting transaction",
        );
        assert_eq!(waiter.join().unwrap(), ["ok 1"]);
    });
    is(&mut a, "rollback", "ok 0");
    all(
        &mut b,
        &[
            ("select 1", "[1]; 1"),
            ("select * from t", DEADLOCK),
            ("insert into t values (70,1)", DEADLOCK),
            ("commit", ROLLBACK_ONLY),
            ("xa end 'dl'", DEADLOCK),
            ("xa prepare 'dl'", ROLLBACK_ONLY),
            ("xa rollback 'dl'", "ok 0"),
            ("select * from t", "[id|v]; 1|1; 2|2"),
        ],
    );
}
