//! What is kept: plans, statistics, and what is the same for all rows.

use meseta_sql::session::Session;

use crate::support::{Server, counter, is, run};
use crate::tables::{rows_read, with_ranges, with_tables};

#[test]
fn a_plan_is_used_for_ranges_of_the_size_it_was_made_for() {
    let (_server, mut session) = with_ranges();
    let s = &mut session;
    is(s, "prepare p from 'select sum(d) from t where k >= ?'", "ok 0");
    let scans = |s: &mut Session, from: u32, prepared: bool| {
        let before = counter(s, "select_scan");
        let rows = match prepared {
            true => {
                run(s, &format!("set @from = {from}"));
                run(s, "execute p using @from")
            }
            false => run(s, &format!("select sum(d) from t where k >= {from}")),
        };
        let sum: u32 = (from..2000).map(|i| i * 7 % 2000).sum();
        assert_eq!(rows[1], sum.to_string(), "{from}");
        counter(s, "select_scan") - before
    };
    for prepared in [false, true] {
        // Few by the index, many from the whole table, whatever came before.
        let found: Vec<u64> = [1990, 1985, 0, 100, 1995, 0].map(|from| scans(s, from, prepared)).into();
        assert_eq!(found, [0, 0, 1, 1, 0, 1], "{prepared}");
    }
    let kind = |s: &mut Session, rest: &str| {
        let explained = run(s, &format!("explain format=traditional select {rest}"));
        explained[1].split('|').nth(4).expect("it has a type").to_owned()
    };
    // What locks rows locks those that it finds; the first are soon found; an index that has all that is asked for is shorter.
    for rest in ["d from t where k >= 0 for update", "d from t where k >= 0 limit 3", "sum(k) from t where k >= 0"] {
        assert_eq!(kind(s, rest), "range", "{rest}");
    }
    assert_eq!(kind(s, "sum(d) from t where k >= 0"), "ALL");
    assert_eq!(kind(s, "sum(d) from t force index (k) where k >= 0"), "range");
    // Which of two, both ways.
    for (where_, read) in [("k >= 1000 and d < 20", 20), ("k >= 1990 and d < 1000", 10), ("k >= 1990 or d < 20", 30)] {
        assert_eq!(rows_read(s, &format!("select sum(v) from t where {where_}")).0, read, "{where_}");
    }
}

#[test]
fn what_is_the_same_for_all_rows_is_computed_once() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table o (id int primary key, at datetime, d date, n int, big bigint)", "ok 0");
    is(
        s,
        "insert into o values (1, '2024-05-05 10:00:00', '2024-05-05', 5, 9223372036854775807),
         (2, '2024-05-06', '2024-05-06', 6, 9223372036854775806), (3, null, null, null, null),
         (4, '2024-05-05', '2024-05-04', -1, 1)",
        "ok 4",
    );
    // As MySQL 9.7 answers.
    let truncated =
        |text: &str| format!("[Level|Code|Message]; Warning|1292|Truncated incorrect DOUBLE value: '{text}'");
    for (where_, ids, warnings) in [
        ("n < 'x' and id > 0", "4", truncated("x")),
        ("n = '5x'", "1", truncated("5x")),
        ("n = '5'", "1", "[Level|Code|Message]".to_owned()),
        ("big = '9223372036854775807'", "1", "[Level|Code|Message]".to_owned()),
    ] {
        is(s, &format!("select id from o where {where_}"), &format!("[id]; {ids}"));
        is(s, "show warnings", &warnings);
    }
    for (query, rows) in [
        ("select id, n < '5x' from o order by id", "1|0; 2|0; 3|NULL; 4|1"),
        ("select sum(n < '5x') s from o", "1"),
        ("select id from o order by n < '5x', id", "3; 1; 2; 4"),
        ("select d, max(n) m from o group by d having m < '5x'", "2024-05-04|-1"),
    ] {
        assert_eq!(run(s, query)[1..].join("; "), rows, "{query}");
        assert_eq!(run(s, "show warnings").join("; "), truncated("5x"), "{query}");
    }
    for (where_, ids) in [
        ("at = '2024-05-05'", "4"),
        ("d >= '20240505'", "1; 2"),
        ("at between '2024-05-05' and '2024-05-05 23:00'", "1; 4"),
        ("at > '2024-05-05' + interval 1 hour", "1; 2"),
        ("at > cast('2024-05-05' as date) - interval 1 day", "1; 2; 4"),
        ("not (at < '2024-05-06')", "2"),
        ("exists (select 1 from o y where y.at > '2024-05-05 12:00' and y.id = o.id + 1)", "1"),
        ("(select count(*) from o y where y.at > o.at - interval 1 + 1 hour) = 3", "4"),
        ("case when at > '2024-05-05 01:00' then n > 5 else d = '2024-05-04' end", "2; 4"),
        ("n > 5 % 3", "1; 2"),
    ] {
        is(s, &format!("select id from o where {where_} order by id"), &format!("[id]; {ids}"));
    }
    is(s, "prepare p from 'select id from o where at > ? - interval ? hour and n > ? order by id'", "ok 0");
    for (values, expected) in [
        ("'2024-05-05 01:00', 1, '1'", "[id]; 1; 2"),
        ("'2024-05-05 12:00', 1, '5x'", "[id]; 2"),
        ("null, 1, 1", "[id]"),
        ("20240101, 1, -5", "[id]; 1; 2; 4"),
    ] {
        for (name, value) in ["a", "b", "c"].into_iter().zip(values.split(", ")) {
            run(s, &format!("set @{name} = {value}"));
        }
        is(s, "execute p using @a, @b, @c", expected);
    }
    let explained = run(s, "explain format=tree select id from o where at > '2024-05-05' + interval 1 hour").concat();
    assert!(explained.contains("(o.at > date_add('2024-05-05',1))"), "{explained}");
    is(s, "update o set n = 7 where d = '2024-05-06 00:00' and n > '5'", "ok 1");
    is(s, "delete o from o join o y on y.id = o.id and o.at = '2024-05-05 00:00:00.0'", "ok 1");
    // It is an error where a row asks for it.
    assert!(run(s, "delete from o where at > 'garbage'")[0].contains("1525"));
    is(s, "delete from o where id > 100 and at > 'garbage'", "ok 0");
}

#[test]
fn what_changes_from_row_to_row_is_not_kept() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table r (id int primary key); insert into r values (1), (2), (3), (4)", "ok 0; ok 4");
    is(s, "set @n = 0", "ok 0");
    let numbers = run(s, "select (select @n := @n + 1) from r");
    assert_eq!(numbers[1..], ["1", "2", "3", "4"]);
    let random = run(s, "select count(distinct v) > 1 from (select (select rand()) v from r) x");
    assert_eq!(random[1], "1");
}

#[test]
fn what_a_table_looks_like_is_looked_at_again() {
    let server = Server::new();
    let mut session = server.session();
    is(&mut session, "create table t (id int primary key, a int, b int, key a (a), key b (b))", "ok 0");
    let key = |session: &mut Session| {
        let explained = run(session, "explain format=traditional select * from t where a = 1 and b = 1");
        explained[1].split('|').nth(6).unwrap().to_owned()
    };
    let fill = |session: &mut Session, from: u32, a: u32, b: u32| {
        let rows: Vec<String> = (from..from + 1000).map(|i| format!("({i}, {}, {})", i % a, i % b)).collect();
        is(session, &format!("insert into t values {}", rows.join(",")), "ok 1000");
    };
    fill(&mut session, 0, 10, 500);
    assert_eq!(key(&mut session), "b");
    is(&mut session, "delete from t", "ok 1000");
    fill(&mut session, 1000, 500, 10);
    run(&mut session, "analyze table t");
    assert_eq!(key(&mut session), "a");
    // An index that was not there.
    is(&mut session, "alter table t drop key a", "ok 0");
    assert_eq!(key(&mut session), "b");
}

#[test]
fn what_an_index_has_is_shown_as_of_now() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table t (id int primary key, a int, key a (a))", "ok 0");
    let shown = |s: &mut Session| {
        let of = "select index_name, cardinality from information_schema.statistics where table_name = 't' order by 1";
        let known = run(s, of);
        let mut of_show = |at: usize| run(s, "show index from t")[at].split('|').nth(6).unwrap().to_owned();
        // SHOW has the primary key first.
        assert_eq!([of_show(2), of_show(1)], [1, 2].map(|at| known[at].split('|').nth(1).unwrap().to_owned()));
        known
    };
    assert_eq!(shown(s), ["[INDEX_NAME|CARDINALITY]", "a|0", "PRIMARY|0"]);
    for (from, all) in [(0, 100), (100, 200)] {
        let rows: Vec<String> = (from..from + 100).map(|i| format!("({i}, {})", i % 10)).collect();
        is(s, &format!("insert into t values {}", rows.join(",")), "ok 100");
        // (Nobody has planned for it since, nor has ten seconds passed.)
        assert_eq!(shown(s), ["[INDEX_NAME|CARDINALITY]", "a|10", &format!("PRIMARY|{all}")]);
    }
}

#[test]
fn plans_are_kept_for_each_kind_of_transaction() {
    let (server, mut session) = with_tables();
    let text = "select count(*) from t where a = 3 for share";
    is(&mut session, "set transaction isolation level serializable", "ok 0");
    let expected = run(&mut session, text);
    // A read of a SERIALIZABLE transaction locks what it reads, with its plan kept or not; one of another does not.
    let mut other = server.session();
    is(&mut other, "set innodb_lock_wait_timeout = 1", "ok 0");
    for _ in 0..3 {
        is(&mut session, "set session transaction isolation level repeatable read", "ok 0");
        is(&mut session, "begin", "ok 0");
        run(&mut session, "select id from t where id = 7");
        is(&mut other, "update t set b = b where id = 7", "ok 0");
        is(&mut session, "commit", "ok 0");
        is(&mut session, "set session transaction isolation level serializable", "ok 0");
        is(&mut session, "begin", "ok 0");
        run(&mut session, "select id from t where id = 7");
        assert!(run(&mut other, "update t set b = b where id = 7 ")[0].starts_with("1205"), "it is locked");
        is(&mut session, "commit", "ok 0");
    }
    assert_eq!(run(&mut session, text), expected);
    // And one that may change nothing changes nothing, though the statement has a plan.
    is(&mut session, "update t set b = b where id = 7", "ok 0");
    is(&mut session, "start transaction read only", "ok 0");
    for _ in 0..2 {
        assert!(run(&mut session, "update t set b = b where id = 7")[0].starts_with("1792"));
        run(&mut session, "select id from t where id = 7");
    }
    is(&mut session, "commit", "ok 0");
}
