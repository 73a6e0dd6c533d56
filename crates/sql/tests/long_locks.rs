//! Statements that lock many rows: what they lock is what they would lock row by row, and takes little room.

mod support;

use support::{Server, is, run};

const TIMEOUT: &str = "1205 Lock wait timeout exceeded; try restarting transaction";
const NOWAIT: &str = "3572 Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.";

/// Locks on rows, in entries; and how many rows that is.
const LOCKS: &str = "select count(*) < 400, (select trx_rows_locked from information_schema.innodb_trx) \
                     from performance_schema.data_locks where lock_type = 'RECORD'";

/// 3000 rows with even numbers.
fn with_rows() -> Server {
    let server = Server::new();
    let mut session = server.session();
    run(&mut session, "create table t (id int primary key, k int, v int, key (k))");
    run(
        &mut session,
        "set cte_max_recursion_depth = 5000; insert into t with recursive r (n) as (select 1 union all select n + 1 from r where n < 3000) \
         select 2 * n, n, 0 from r",
    );
    server
}

#[test]
fn all_rows_that_were_read_are_locked_and_the_gaps() {
    let server = with_rows();
    let (mut a, mut b) = (server.session(), server.session());
    run(&mut b, "set innodb_lock_wait_timeout = 1");
    for read in [
        "select count(*), max(v) from t for update",
        "select count(*), max(v) from t for share",
        "select count(*), max(v) from t where id between 1 and 7000 for update",
    ] {
        is(&mut a, "begin", "ok 0");
        is(&mut a, read, "[count(*)|max(v)]; 3000|0");
        is(&mut a, LOCKS, "[count(*) < 400|(select trx_rows_locked from information_schema.innodb_trx)]; 1|3001");
        let shares = read.ends_with("share");
        for id in [2, 510, 516, 3000, 5998, 6000] {
            let looked = format!("select v from t where id = {id} for update nowait");
            is(&mut b, &looked, NOWAIT);
            let shared = format!("select v from t where id = {id} for share nowait");
            is(&mut b, &shared, if shares { "[v]; 0" } else { NOWAIT });
        }
        is(&mut b, "select count(*) from t for update skip locked", "[count(*)]; 0");
        is(&mut b, "insert into t values (4001, 0, 0)", TIMEOUT);
        // Where there is no row there is nothing to wait for, but to insert.
        is(&mut b, "select * from t where id = 4001 for update nowait", "[id|k|v]");
        // Who has them may have them again, and change them, and insert between them.
        is(&mut a, read, "[count(*)|max(v)]; 3000|0");
        is(&mut a, "update t set v = 1 where id = 5000; insert into t values (4001, 0, 1)", "ok 1; ok 1");
        is(&mut b, "select * from t where id = 4001 for share nowait", NOWAIT);
        is(&mut a, "rollback", "ok 0");
        is(&mut b, "select count(*), max(v) from t for update nowait", "[count(*)|max(v)]; 3000|0");
        is(&mut b, "select count(*) from performance_schema.data_locks", "[count(*)]; 0");
    }
}

#[test]
fn a_row_that_somebody_has_is_waited_for() {
    let server = with_rows();
    let (mut a, mut b, mut c) = (server.session(), server.session(), server.session());
    run(&mut a, "set innodb_lock_wait_timeout = 1");
    for taken in ["update t set v = 5 where id = 3000", "select v from t where id = 3000 for update"] {
        run(&mut b, "begin");
        run(&mut b, taken);
        is(&mut a, "begin", "ok 0");
        is(&mut a, "select count(*) from t for update nowait", NOWAIT);
        is(&mut a, "rollback; begin; update t set v = v + 1", &format!("ok 0; ok 0; {TIMEOUT}"));
        // What was locked before the wait stays so; what is behind is free.
        is(&mut c, "select v from t where id = 2998 for update nowait", NOWAIT);
        is(&mut c, "select v from t where id = 3002 for update nowait", "[v]; 0");
        is(&mut a, "rollback; select count(*) from t for update skip locked", "ok 0; [count(*)]; 2999");
        run(&mut b, "rollback");
    }
    // It is seen as it is then.
    run(
        &mut b,
        "begin; update t set v = 5 where id = 3000; delete from t where id = 4000; insert into t values (4001, 0, 3)",
    );
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            run(&mut a, "set innodb_lock_wait_timeout = 50; update t set v = v + 1");
        });
        server.until_waiting(1);
        run(&mut b, "commit");
        waiter.join().unwrap();
    });
    is(&mut b, "select v, count(*) from t group by v order by v", "[v|count(*)]; 1|2998; 4|1; 6|1");
}

#[test]
fn two_who_read_all_share_and_a_deadlock_is_seen() {
    let server = with_rows();
    let (mut a, mut b) = (server.session(), server.session());
    run(&mut a, "begin; select count(*) from t for share");
    run(&mut b, "begin; select count(*) from t for share");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| is(&mut a, "update t set v = 1 where id = 4000; rollback", "ok 1; ok 0"));
        server.until_waiting(1);
        let deadlock = "1213 Deadlock found when trying to get lock; try restarting transaction";
        is(&mut b, "update t set v = 2 where id = 5000", deadlock);
        waiter.join().unwrap();
    });
    is(&mut b, "select sum(v) from t for update nowait", "[sum(v)]; 0");
}

#[test]
fn an_index_is_locked_so_too_and_its_rows() {
    let server = with_rows();
    let (mut a, mut b) = (server.session(), server.session());
    run(&mut b, "set innodb_lock_wait_timeout = 1");
    is(&mut a, "begin; select count(v) from t force index (k) where k > 1000 for update", "ok 0; [count(v)]; 2000");
    is(&mut b, "select v from t where id = 4000 for update nowait", NOWAIT);
    is(&mut b, "select v from t where id = 1998 for update nowait", "[v]; 0");
    is(&mut b, "insert into t values (1, 2500, 0)", TIMEOUT);
    is(&mut b, "insert into t values (1, 500, 0)", "ok 1");
    is(&mut a, "commit", "ok 0");
}

#[test]
fn no_more_is_locked_than_is_read() {
    let server = with_rows();
    let (mut a, mut b) = (server.session(), server.session());
    for read in [
        "select id from t limit 700 for update",
        "select id from t where id > 0 order by id limit 700 for update",
        "update t set v = 1 limit 700",
        "delete from t order by id limit 700",
        "select 1 from dual where exists (select * from t where id > 1398 for update)",
    ] {
        run(&mut a, "begin");
        run(&mut a, read);
        is(&mut b, "select id from t where id = 1400 for update nowait", NOWAIT);
        is(&mut b, "select id from t where id = 1402 for update nowait", "[id]; 1402");
        run(&mut a, "rollback");
    }
}

#[test]
fn rows_that_go_with_others_are_not_found_as_they_were() {
    let server = Server::new();
    let mut session = server.session();
    run(
        &mut session,
        "set cte_max_recursion_depth = 5000;
        create table n (id int primary key, parent int, foreign key (parent) references n (id) on delete cascade);
        insert into n with recursive r (n) as (select 1 union all select n + 1 from r where n < 2000)
        select n, if(n % 10 = 1, null, n - 1) from r",
    );
    // MySQL counts those that it finds itself, each first of ten.
    is(&mut session, "delete from n where id % 10 < 6; select count(*) from n", "ok 200; [count(*)]; 0");
}

#[test]
fn changes_of_all_rows_are_of_all_rows() {
    let server = with_rows();
    let mut a = server.session();
    for isolation in ["repeatable read", "read committed", "serializable"] {
        run(&mut a, &format!("set session transaction isolation level {isolation}"));
        is(&mut a, "begin; update t set v = v + 1", "ok 0; ok 3000");
        is(&mut a, "update t set v = v + 1 order by id desc; update t set id = id + 1, k = k + 1", "ok 3000; ok 3000");
        is(
            &mut a,
            "select count(*), sum(v), min(id), max(k) from t",
            "[count(*)|sum(v)|min(id)|max(k)]; 3000|6000|3|3001",
        );
        is(&mut a, "delete from t where id % 4 = 1; select count(*) from t", "ok 1500; [count(*)]; 1500");
        is(&mut a, "delete from t; select count(*) from t", "ok 1500; [count(*)]; 0");
        is(&mut a, "rollback; select count(*), sum(v) from t", "ok 0; [count(*)|sum(v)]; 3000|0");
    }
}

/// As MySQL 9.7 answers.
#[test]
fn an_update_that_does_not_want_what_others_have_passes_by_at_read_committed() {
    let server = with_rows();
    let (mut a, mut b) = (server.session(), server.session());
    run(&mut b, "set session transaction isolation level read committed; set innodb_lock_wait_timeout = 1");
    for held in [
        "update t set v = 50 where id = 3000",
        "select v from t where id = 3000 for update",
        "delete from t where id = 3000",
        "insert into t values (3001, 0, 99)",
        "select count(*) from t for update",
    ] {
        run(&mut a, "begin");
        run(&mut a, held);
        // As it was committed last, it is not wanted.
        is(&mut b, "update t set v = 7 where v = 99", "ok 0");
        is(&mut b, "update t set v = 7 where v = 50", "ok 0");
        is(&mut b, "update t join (select 99 as n) n on v = n set v = 1", "ok 0");
        is(&mut b, "update t set v = 7 where v = 99 order by v desc limit 3", "ok 0");
        is(&mut b, "select * from t where v = 99 for update nowait", NOWAIT);
        is(&mut a, "rollback", "ok 0");
    }
    run(&mut a, "begin; update t set v = 50 where id = 3000");
    is(&mut b, "delete from t where v = 99", TIMEOUT);
    is(&mut b, "update t set v = 7 where v = 0 and id > 2990", TIMEOUT);
    is(&mut a, "rollback", "ok 0");
}

#[test]
fn a_row_that_is_wanted_is_what_it_is_when_it_is_had() {
    let server = with_rows();
    let (mut a, mut b, mut c) = (server.session(), server.session(), server.session());
    for (end, changed, left) in [("commit", "ok 2999", "50|1; 7|2999"), ("rollback", "ok 3000", "7|3000")] {
        run(&mut a, "update t set v = 0; begin; update t set v = 50 where id = 3000");
        run(&mut b, "set session transaction isolation level read committed; begin");
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| is(&mut b, "update t set v = 7 where v = 0", changed));
            server.until_waiting(1);
            run(&mut a, end);
            waiter.join().unwrap();
        });
        let others = "select count(*) from t where id = 3000 for update skip locked";
        is(&mut c, others, if end == "commit" { "[count(*)]; 1" } else { "[count(*)]; 0" });
        is(&mut b, "commit", "ok 0");
        is(&mut c, "select v, count(*) from t group by v order by v desc", &format!("[v|count(*)]; {left}"));
    }
    // What was changed meanwhile behind the one that is waited for is seen.
    run(&mut a, "update t set v = 0; begin; select v from t where id = 2000 for update");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| is(&mut b, "update t set v = 8 where v = 0 and id >= 2000 or v = 9", "ok 2000"));
        server.until_waiting(1);
        is(&mut c, "update t set v = 9 where id = 2002; update t set v = 10 where id = 2004", "ok 1; ok 1");
        run(&mut a, "commit");
        waiter.join().unwrap();
    });
    is(&mut c, "select id, v from t where id between 1998 and 2006", "[id|v]; 1998|0; 2000|8; 2002|8; 2004|10; 2006|8");
}

#[test]
fn a_row_is_what_it_has_become_while_others_were_looked_at() {
    let server = Server::new();
    let (mut a, mut b, mut c) = (server.session(), server.session(), server.session());
    run(
        &mut a,
        "create table s (id int primary key, v int); insert into s values (1,0),(2,0),(3,0),(4,0),(5,0),(6,0),(7,0);
        create table u (id int primary key, n int); insert into u values (4, 0)",
    );
    let wanted = "v = 0 and ifnull((select n from u where u.id = s.id for update), 0) = 0";
    for (update, meanwhile) in [
        ("update s set v = 7", "rollback"),
        ("delete from s", "rollback"),
        ("update s set v = 7", "update s set v = 0 where id in (6, 7); commit"),
    ] {
        run(&mut a, "begin; update s set v = 50 where id in (6, 7)");
        run(&mut c, "begin; select * from u where id = 4 for update");
        run(&mut b, "set session transaction isolation level read committed; begin");
        // The rows behind the fourth have been read when it waits for its row of the other table.
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| is(&mut b, &format!("{update} where {wanted}"), "ok 7"));
            server.until_waiting(1);
            run(&mut a, meanwhile);
            run(&mut c, "commit");
            waiter.join().unwrap();
        });
        run(&mut b, "rollback");
    }
    // And what was committed before that, and is wanted since.
    run(&mut a, "update s set v = 1 where id = 7");
    run(&mut c, "begin; select * from u where id = 4 for update");
    std::thread::scope(|scope| {
        let waiter = scope.spawn(|| is(&mut b, &format!("update s set v = 7 where {wanted}"), "ok 7"));
        server.until_waiting(1);
        run(&mut a, "update s set v = 0 where id = 7");
        run(&mut c, "commit");
        waiter.join().unwrap();
    });
}

#[test]
fn read_committed_locks_what_is_wanted_and_no_gaps() {
    let server = with_rows();
    let (mut a, mut b) = (server.session(), server.session());
    run(&mut a, "set session transaction isolation level read committed");
    let modes = "select distinct lock_mode from performance_schema.data_locks where lock_type = 'RECORD'";
    for (read, rows) in [
        ("select count(v) from t for update", 3000),
        ("select count(v) from t where k % 2 = 0 for update", 1500),
        ("select count(v) from t where k % 1000 = 2 for update", 3),
    ] {
        is(&mut a, "begin", "ok 0");
        is(&mut a, read, &format!("[count(v)]; {rows}"));
        let told = "[count(*) < 400|(select trx_rows_locked from information_schema.innodb_trx)]";
        is(&mut a, LOCKS, &format!("{told}; 1|{rows}"));
        is(&mut b, modes, "[lock_mode]; X,REC_NOT_GAP");
        is(&mut b, "select v from t where id = 4004 for share nowait", NOWAIT);
        is(&mut b, "select count(*) from t for update skip locked", &format!("[count(*)]; {}", 3000 - rows));
        is(&mut b, "insert into t values (4001, 0, 0); delete from t where id = 4001", "ok 1; ok 1");
        is(&mut a, "insert into t values (4003, 0, 0); update t set v = 1 where id = 4004", "ok 1; ok 1");
        is(&mut a, "rollback", "ok 0");
        is(&mut b, "select count(*), max(v) from t for update nowait", "[count(*)|max(v)]; 3000|0");
    }
}
