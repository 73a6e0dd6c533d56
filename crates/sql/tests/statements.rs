//! Statements through parser, planner, executor and engine, on a simulated disk.

mod support;

use support::{Server, is, run};

#[test]
fn rows_come_and_go() {
    let server = Server::new();
    let mut s = server.session();
    let s = &mut s;
    is(
        s,
        "create table t (id int primary key auto_increment, k int not null default 7, c varchar(20), key (k))",
        "ok 0",
    );
    is(s, "insert into t (c) values ('a'), ('b')", "ok 2");
    is(s, "insert into t values (10, 3, 'x')", "ok 1");
    is(s, "select * from t", "[id|k|c]; 1|7|a; 2|7|b; 10|3|x");
    is(s, "select c, id + 1 from t where k = 3", "[c|id + 1]; x|11");
    is(s, "select id from t where id in (2, 10, 99) order by id desc", "[id]; 10; 2");
    is(s, "select id from t where id between 2 and 9", "[id]; 2");
    is(s, "update t set k = k + 1, c = concat(c, '!') where id > 1", "ok 2");
    is(s, "select * from t where id > 1 order by k", "[id|k|c]; 10|4|x!; 2|8|b!");
    is(s, "insert into t values (1, 1, 'no')", "1062 Duplicate entry '1' for key 't.PRIMARY'");
    is(s, "insert into t values (1, 1, 'yes') on duplicate key update c = values(c), k = k + 100", "ok 2");
    is(s, "select * from t where id = 1", "[id|k|c]; 1|107|yes");
    is(s, "replace into t values (1, 5, 'r')", "ok 2");
    is(s, "delete from t where k > 4 limit 1", "ok 1");
    is(s, "select id from t order by id limit 1 offset 0", "[id]; 2");
    is(s, "select x from t", "1054 Unknown column 'x' in 'field list'");
    is(s, "select * from nothing", "1146 Table 'test.nothing' doesn't exist");
    is(s, "insert into t (k) values (null)", "1048 Column 'k' cannot be null");
    is(s, "truncate t", "ok 0");
    is(s, "select * from t", "[id|k|c]");
}

#[test]
fn columns_go_come_and_move_and_rows_stay_where_they_are() {
    let server = Server::new();
    let mut s = server.session();
    let s = &mut s;
    run(s, "create table p (id int primary key, x int, y int, unique (y))");
    run(
        s,
        "create table t (a int not null, id int primary key, b varchar(9), c int, d int not null, p int, key (c), key bd (b, d),
         foreign key (p) references p (y) on update cascade)",
    );
    is(s, "insert into p values (1, 7, 10), (2, 8, 20)", "ok 2");
    is(s, "insert into t values (1, 1, 'one', 11, 111, 10), (2, 2, 'two', 22, 222, 20)", "ok 2");
    is(s, "alter table t drop column c, algorithm=instant", "ok 0");
    is(s, "alter table p drop column x, algorithm=instant", "ok 0");
    is(s, "select * from t", "[a|id|b|d|p]; 1|1|one|111|10; 2|2|two|222|20");
    // What referred to the third column of the parent refers to its second one.
    is(s, "update p set y = 30 where id = 2", "ok 1");
    is(s, "insert into t values (3, 3, 'three', 333, 30)", "ok 1");
    is(
        s,
        "alter table t add column e int not null default 5 after a, modify b varchar(20) first, algorithm=instant",
        "ok 0",
    );
    is(
        s,
        "insert into t values ('twenty letters and so', 4, 6, 4, 444, null)",
        "1406 Data too long for column 'b' at row 1",
    );
    is(s, "insert into t values ('eighteen letters..', 4, 6, 4, 444, null)", "ok 1");
    let all =
        "[b|a|e|id|d|p]; one|1|5|1|111|10; two|2|5|2|222|30; three|3|5|3|333|30; eighteen letters..|4|6|4|444|NULL";
    is(s, "select * from t", all);
    is(s, "select id, e from t where b = 'two' and d = 222", "[id|e]; 2|5");
    is(s, "alter table t drop column a, drop column e, add column e bigint, algorithm=instant", "ok 0");
    is(s, "update t set e = 9, b = 'ONE' where id = 1", "ok 1");
    is(s, "delete from t where id = 3", "ok 1");
    let all = "[b|id|d|p|e]; ONE|1|111|10|9; two|2|222|30|NULL; eighteen letters..|4|444|NULL|NULL";
    is(s, "select * from t", all);
    is(s, "select id from t where b = 'one'", "[id]; 1");
    is(s, "check table t", "[Table|Op|Msg_type|Msg_text]; test.t|check|status|OK");
    is(s, "create table u like t", "ok 0");
    is(s, "insert into u select * from t", "ok 3");
    is(s, "select * from u", all);
    is(s, "alter table t force", "ok 0");
    is(s, "select * from t", all);
    // Rows are written anew before too much of them is there in vain.
    for number in 0..70 {
        is(s, &format!("alter table t add column n{number} int not null default {number}"), "ok 0");
        is(s, &format!("update t set d = d + n{number} where id = 2"), if number == 0 { "ok 0" } else { "ok 1" });
        is(s, &format!("alter table t drop column n{number}"), "ok 0");
    }
    is(s, "select id, d from t where id = 2", "[id|d]; 2|2637");
}

#[test]
fn joins_and_subqueries() {
    let server = Server::new();
    let mut s = server.session();
    let s = &mut s;
    is(
        s,
        "create table a (id int primary key, x int); create table b (id int primary key, a_id int, y varchar(9), key (a_id))",
        "ok 0; ok 0",
    );
    is(
        s,
        "insert into a values (1, 10), (2, 20), (3, 30); insert into b values (1, 1, 'p'), (2, 1, 'q'), (3, 2, 'r')",
        "ok 3; ok 3",
    );
    is(s, "select a.id, y from a join b on b.a_id = a.id order by b.id", "[id|y]; 1|p; 1|q; 2|r");
    is(s, "select a.id, y from a left join b on b.a_id = a.id where a.id > 1 order by a.id", "[id|y]; 2|r; 3|NULL");
    is(s, "select y from b, a where a.id = a_id and x = 20", "[y]; r");
    is(s, "select id from a where id in (select a_id from b) order by id", "[id]; 1; 2");
    is(s, "select id from a where not exists (select 1 from b where a_id = a.id)", "[id]; 3");
    is(
        s,
        "select id, (select y from b where a_id = a.id limit 1) from a order by id",
        "[id|(select y from b where a_id = a.id limit 1)]; 1|p; 2|r; 3|NULL",
    );
    is(s, "select d.z from (select x * 2 as z from a where id < 3) d order by z desc", "[z]; 40; 20");
    is(s, "select id from a union select a_id from b order by id", "[id]; 1; 2; 3");
    is(s, "with w as (select id from a where x > 10) select * from w order by id", "[id]; 2; 3");
    is(s, "select distinct a_id from b order by a_id", "[a_id]; 1; 2");
    is(s, "update a set x = (select count(*) from b where a_id = a.id)", "ok 3");
    is(s, "select x from a order by id", "[x]; 2; 1; 0");
    is(s, "select a_id, count(*), max(y) from b group by a_id having count(*) > 1", "[a_id|count(*)|max(y)]; 1|2|q");
    is(s, "select count(*), sum(id) from b", "[count(*)|sum(id)]; 3|6");
}

#[test]
fn transactions_end_as_they_should() {
    let server = Server::new();
    let (mut one, mut two) = (server.session(), server.session());
    let (a, b) = (&mut one, &mut two);
    is(a, "create table t (id int primary key, v int)", "ok 0");
    is(a, "insert into t values (1, 1), (2, 2)", "ok 2");
    is(a, "begin; update t set v = 9 where id = 1", "ok 0; ok 1");
    is(b, "select v from t where id = 1", "[v]; 1");
    is(
        a,
        "savepoint s; delete from t; select * from t; rollback to s; select * from t",
        "ok 0; ok 2; [id|v]; ok 0; [id|v]; 1|9; 2|2",
    );
    is(a, "commit", "ok 0");
    is(b, "select v from t where id = 1", "[v]; 9");
    is(b, "set autocommit = 0; insert into t values (3, 3)", "ok 0; ok 1");
    is(a, "select count(*) from t", "[count(*)]; 2");
    is(b, "rollback; set autocommit = 1; select count(*) from t", "ok 0; ok 0; [count(*)]; 2");
    is(a, "set innodb_lock_wait_timeout = 1; begin; update t set v = 0 where id = 2", "ok 0; ok 0; ok 1");
    is(
        b,
        "select * from t where id = 2 for update nowait",
        "3572 Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.",
    );
    is(b, "select id from t for update skip locked", "[id]; 1");
    is(a, "rollback", "ok 0");
}

#[test]
fn plans_are_used_again_for_other_values_and_made_anew_for_other_tables() {
    let server = Server::new();
    let (mut one, mut other) = (server.session(), server.session());
    is(
        &mut one,
        "create table t (id int primary key, c varchar(9), d decimal(5,2), l varchar(9) charset latin1, key (l))",
        "ok 0",
    );
    is(&mut one, "insert into t values (1, 'a', 1.5, 'x'), (2, 'b''', 2.25, 'é'), (3, 'c', -3, null)", "ok 3");
    for s in [&mut one, &mut other] {
        is(s, "select c from t where id=1", "[c]; a");
        is(s, "select c from t where id=2", "[c]; b'");
        is(s, "select c from t where id=-2", "[c]");
        is(s, "select c from t where id='2'", "[c]; b'");
        is(s, "select c from t where id=1.0", "[c]; a");
        is(s, "select c from t where id=2e0", "[c]; b'");
        is(s, "select id from t where c='a'", "[id]; 1");
        is(s, "select id from t where c='b\\''", "[id]; 2");
        is(s, "select id from t where d=2.25", "[id]; 2");
        is(s, "select id from t where d=1.50", "[id]; 1");
        is(s, "select id from t where l='x'", "[id]; 1");
        is(s, "select id from t where l='é'", "[id]; 2");
        is(s, "select id from t order by id limit 1", "[id]; 1");
        is(s, "select id from t order by id limit 2", "[id]; 1; 2");
        is(s, "select id, 7 from t where id=1;", "[id|7]; 1|7");
        is(s, "select id, 8 from t where id=1 ; ", "[id|8]; 1|8");
    }
    is(&mut one, "alter table t add column e int default 5, rename column d to dd", "ok 0");
    is(&mut other, "select * from t where id=1", "[id|c|dd|l|e]; 1|a|1.50|x|5");
    is(&mut other, "select id from t where d=2.25", "1054 Unknown column 'd' in 'where clause'");
    is(&mut one, "drop table t", "ok 0");
    is(&mut other, "select c from t where id=1", "1146 Table 'test.t' doesn't exist");
    // The same text, another database, another SQL mode.
    is(
        &mut one,
        "create table t (id int); insert into t values (1); create database b; create table b.t (id int)",
        "ok 0; ok 1; ok 1; ok 0",
    );
    is(&mut one, "select id from t where id=1", "[id]; 1");
    is(&mut one, "use b; select id from t where id=1", "ok 0; [id]");
    is(&mut one, "use test; select id from t where \"id\"=1", "ok 0; [id]");
    is(&mut one, "set sql_mode='ANSI_QUOTES'; select id from t where \"id\"=1", "ok 0; [id]; 1");
}

#[test]
fn plans_do_not_outlive_the_types_of_variables() {
    let server = Server::new();
    let s = &mut server.session();
    is(s, "create table t (id int primary key, c varchar(9)); insert into t values (1, 'a'), (10, '10')", "ok 0; ok 2");
    is(s, "set @a = 10; select id from t where c > @a", "ok 0; [id]");
    is(s, "set @a = '10'; select id from t where c > @a", "ok 0; [id]; 1");
    is(s, "select @a", "[@a]; 10");
    is(s, "set @a = null; select id from t where c > @a", "ok 0; [id]");
}

#[test]
fn a_question_mark_is_for_what_is_prepared() {
    let server = Server::new();
    let s = &mut server.session();
    let answer = run(s, "select ?").join("; ");
    assert!(answer.starts_with("1064 ") && answer.contains("near '?'"), "{answer}");
    is(s, "create table t (id int primary key, c varchar(9)); insert into t values (1, 'a'), (2, null)", "ok 0; ok 2");
    is(s, "prepare p from 'select c from t where id = ? or c = ?'", "ok 0");
    is(s, "set @one = 1, @two = 2, @a = 'a'; execute p using @one, @a", "ok 0; [c]; a");
    is(s, "execute p using @two, @nothing", "[c]; NULL");
    is(s, "execute p using @one; select 1", "1210 Incorrect arguments to EXECUTE");
    is(s, "execute p using @two, @two; select 1", "[c]; NULL; [1]; 1");
    is(s, "deallocate prepare p; execute p", "ok 0; 1243 Unknown prepared statement handler (p) given to EXECUTE");
    is(s, "deallocate prepare p", "1243 Unknown prepared statement handler (p) given to DEALLOCATE PREPARE");
    is(
        s,
        "set @s = 'insert into t values (?, ?)'; prepare P from @s; execute p using @nothing, @a",
        "ok 0; ok 0; 1048 Column 'id' cannot be null",
    );
    is(s, "set @id = 7; execute p using @id, @a; select c from t where id = 7", "ok 0; ok 1; [c]; a");
    let answer = run(s, "prepare p from @nothing").join("; ");
    assert!(answer.starts_with("1064 ") && answer.contains("near 'NULL'"), "{answer}");
    is(s, "execute p", "1243 Unknown prepared statement handler (p) given to EXECUTE");
    is(s, "prepare p from 'execute p'", "1295 This command is not supported in the prepared statement protocol yet");
    is(s, "prepare p from 'create table u (a int)'; execute p; select * from u", "ok 0; ok 0; [a]");
}

#[test]
fn subqueries_may_stand_wherever_expressions_do() {
    let server = Server::new();
    let s = &mut server.session();
    is(s, "create table t (id int primary key, c int); insert into t values (1, 10), (2, 20)", "ok 0; ok 2");
    is(
        s,
        "create table u (id int primary key, c int); insert into u values ((select max(id) from t), (select min(c) from t))",
        "ok 0; ok 1",
    );
    is(s, "select * from u", "[id|c]; 2|10");
    is(s, "update u set c = (select c + (select count(*) from t) from t where t.id = u.id)", "ok 1");
    is(s, "insert into u values (2, 0) on duplicate key update c = c + (select sum(c) from t)", "ok 2");
    is(s, "select * from u", "[id|c]; 2|52");
    is(s, "delete from u where c > (select max(c) from t where id in (select id from t))", "ok 1");
}

/// Asked of MySQL 9.7.
#[test]
fn what_there_is_none_of_is_dropped_as_often_as_a_script_likes() {
    let server = Server::new();
    let s = &mut server.session();
    is(
        s,
        "drop procedure if exists p; show warnings",
        "ok 0; [Level|Code|Message]; Note|1305|PROCEDURE test.p does not exist",
    );
    is(s, "drop procedure p", "1305 PROCEDURE test.p does not exist");
    is(s, "drop function f", "1305 FUNCTION test.f does not exist");
    is(s, "drop trigger if exists t; show warnings", "ok 0; [Level|Code|Message]; Note|1360|Trigger does not exist");
    is(s, "drop event if exists e; show warnings", "ok 0; [Level|Code|Message]; Note|1305|Event e does not exist");
    is(s, "drop event e", "1539 Unknown event 'e'");
    is(
        s,
        "drop view if exists v, w; show warnings",
        "ok 0; [Level|Code|Message]; Note|1051|Unknown table 'test.v'; Note|1051|Unknown table 'test.w'",
    );
    is(s, "drop view v, w", "1051 Unknown table 'test.v,test.w'");
    is(s, "call other.p(1)", "1305 PROCEDURE other.p does not exist");
    is(s, "alter event e disable", "1539 Unknown event 'e'");
    is(s, "alter view v as select 1", "1146 Table 'test.v' doesn't exist");
    is(s, "create view v as select 1", "1235 This version of MySQL doesn't yet support 'CREATE VIEW'");
    is(s, "create procedure p() select 1", "1235 This version of MySQL doesn't yet support 'CREATE PROCEDURE'");
}

#[test]
fn an_aggregate_of_the_query_around_is_refused_and_not_taken_for_the_subquerys() {
    let server = Server::new();
    let mut session = server.session();
    is(&mut session, "create table a (id int primary key, x int)", "ok 0");
    is(&mut session, "insert into a values (1, 5), (2, 7)", "ok 2");
    is(&mut session, "create table b (id int primary key, a_id int)", "ok 0");
    is(&mut session, "insert into b values (1, 1), (2, 1)", "ok 2");
    for text in [
        "select (select max(a.id)) from a",
        "select (select max(a.id) from b) from a",
        "select x from a group by x having (select sum(a.x) from b) > 1",
        "select (select (select count(a.id) from b)) from a",
    ] {
        assert!(run(&mut session, text)[0].starts_with("1235"), "{text}");
    }
    // Where the query around may have none, it is the subquery's; and with a column of its own.
    assert_eq!(run(&mut session, "select id from a where x = (select max(a.x) from b) order by id")[1..], ["1", "2"]);
    assert_eq!(run(&mut session, "select (select sum(a.x + b.id) from b) from a order by id")[1..], ["13", "17"]);
}

#[test]
fn a_full_disk_costs_the_statement_that_met_it_and_says_so_with_mysqls_number() {
    let server = Server::new();
    let mut session = server.session();
    is(&mut session, "create table t (id int primary key auto_increment, v varchar(2000))", "ok 0");
    is(&mut session, "insert into t (v) values (repeat('x', 2000))", "ok 1");
    server.fill_disk(true);
    let refused = (0..20).find_map(|_| {
        let answer = run(&mut session, "insert into t (v) select a.v from t a").join("; ");
        (!answer.starts_with("ok")).then_some(answer)
    });
    let refused = refused.expect("the file has to grow");
    assert!(refused.starts_with("1114 no space left on the device: meseta.data"), "{refused}");
    let rows = run(&mut session, "select count(*) from t");
    server.fill_disk(false);
    assert!(run(&mut session, "insert into t (v) select a.v from t a")[0].starts_with("ok"), "there is room again");
    assert_eq!(run(&mut session, "select count(*) / 2 from t")[1].trim_end_matches(".0000"), rows[1]);
}
