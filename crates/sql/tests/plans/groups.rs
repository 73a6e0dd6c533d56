//! Groups, and rows that count once.

use std::collections::HashSet;

use crate::support::{Server, is, run};
use crate::tables::{reads_at_most, rows_read, with_groups, with_visits};

#[test]
fn of_groups_of_which_little_is_wanted_little_is_read() {
    let (_server, mut session) = with_groups();
    let s = &mut session;
    // And how many rows are read.
    for (query, expected) in [
        ("select distinct p from G", 4),
        ("select distinct p from G order by p desc", 4),
        ("select distinct p from G order by p limit 2", 2),
        ("select distinct p from G where p > 1 order by p", 2),
        ("select distinct p from G where p in (3, 1, 9) order by p", 2),
        ("select distinct p from G where p = 2", 1),
        ("select distinct p from G where p = 9", 0),
        ("select distinct r from G order by r", 6),
        ("select distinct r from G where r > 1 or r is null order by r", 4),
        ("select distinct lower(v.s) from (select distinct s from G) v order by 1", 5),
        ("select distinct p, r from G order by p, r", 24),
        ("select distinct r, p from G where p < 2 order by p, r", 12),
        ("select p from G group by p order by p", 4),
        ("select p, min(q) from G group by p order by p", 4),
        ("select p, min(q) from G group by p order by p desc", 8),
        ("select p, max(q) from G group by p order by p", 8),
        ("select p, max(q) from G group by p order by p desc", 4),
        ("select p, max(q), min(q) - 1 from G group by p having max(q) > 3 order by p", 8),
        ("select p, r, max(q) from G group by p, r order by p, r", 48),
        ("select r, p, min(q) from G where p = 3 group by r, p order by r", 12),
        ("select r, max(q) from G group by r order by r", 12),
        ("select max(q) from G where p = 3", 1),
        ("select min(q), max(q) from G where p = 3", 2),
        ("select min(p), max(p) from G", 2),
        ("select min(q), max(q) from G where p = 9", 0),
        ("select count(distinct p) from G", 4),
        ("select count(distinct p), sum(distinct p), max(p) from G where p > 1", 2),
        ("select p, count(distinct r) from G group by p order by p", 24),
        ("select count(distinct p, r), count(distinct r) from G", 24),
        ("select count(*) from (select distinct s from G) v", 5),
        ("select p, (select max(q) from G v where v.p = 2) n from G group by p order by p", 5),
        // Of each `p` the rows within the bounds.
        ("select p, max(q) from G where q < 50 group by p order by p", 446),
        // All of it is wanted.
        ("select p, count(*) from G group by p order by p", 900),
        ("select p, min(q), max(r) from G group by p order by p", 900),
        ("select p, min(r) from G group by p order by p", 900),
        ("select p, max(f) from G group by p order by p", 900),
        ("select distinct p, f from G where id >= 0 order by p, f", 900),
        ("select p, max(q) from G where rand() < 2 group by p order by p", 900),
        ("select p, max(q) from G group by p with rollup", 900),
        ("select p, sum(distinct q) from G group by p order by p", 900),
    ] {
        let (read, rows) = rows_read(s, &query.replace('G', "g"));
        assert_eq!(rows, run(s, &query.replace('G', "gp")), "{query}");
        assert_eq!(read, expected, "{query}");
    }
}

#[test]
fn of_groups_that_are_those_of_a_tables_rows_the_first_are_made() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table c (id int primary key, name varchar(9) not null, unique key name (name))", "ok 0");
    is(s, "create table o (id int primary key, c int not null, at int not null, n int, key at (at))", "ok 0");
    is(s, "create table i (id int primary key, o int not null, n int, key o (o))", "ok 0");
    let mut fill = |table: &str, count: u32, row: &dyn Fn(u32) -> String| {
        let rows: Vec<String> = (0..count).map(|i| format!("({i}, {})", row(i))).collect();
        is(s, &format!("insert into {table} values {}", rows.join(", ")), &format!("ok {count}"));
    };
    fill("c", 50, &|i| format!("'c{}'", i * 7 % 50));
    fill("o", 2000, &|i| format!("{}, {}, {}", i % 50, i * 7 % 1000, i * 3 % 101));
    // Three of each order but every fifth.
    fill("i", 4800, &|i| format!("{}, {}", i / 3 / 4 * 5 + i / 3 % 4, i * 11 % 13));
    // A query, what its groups are ordered by, and how many rows it may read for ten of them.
    for (query, order, at_most) in [
        ("select o.id, count(*), sum(i.n) from o join i on i.o = o.id group by o.id", "o.id desc", 60),
        ("select o.id, count(*), sum(i.n) from o join i on i.o = o.id group by o.id", "o.at desc, o.id desc", 60),
        ("select o.id, count(i.id) from o left join i on i.o = o.id group by o.id", "o.at, o.id", 60),
        (
            "select o.id, count(i.id) from o left join i on i.o = o.id group by o.id having count(i.id) > 2",
            "o.at, o.id",
            1500,
        ),
        // Not in the order of an index: all orders, and the items of some.
        ("select o.id, count(i.id) from o left join i on i.o = o.id group by o.id", "o.n desc, o.id", 2100),
        ("select o.id, max(i.n), o.n from o join i on i.o = o.id where o.n > 50 group by o.id", "o.n, o.id", 2900),
        // What is joined by a key is the same for each row.
        (
            "select o.id, c.name, sum(i.n) from o join c on c.id = o.c join i on i.o = o.id group by o.id, c.name",
            "o.id desc",
            80,
        ),
        ("select c.name, count(*), min(o.at) from c join o on o.c = c.id group by c.name", "c.name", 6000),
        // Those that come last have none, and so all are joined.
        ("select o.id, sum(i.n) from o join i on i.o = o.id and i.n > 11 group by o.id", "o.n, o.id desc", 12000),
        // No order of one table's, or no groups of its rows.
        ("select o.id, sum(i.n) as x from o join i on i.o = o.id group by o.id", "x desc, o.id", 12000),
        ("select o.id, i.n from o join i on i.o = o.id group by o.id, i.n", "o.id, i.n desc", 12000),
        ("select o.id, i.id from i join o on i.o = o.id group by i.id", "i.n, i.id", 12000),
        ("select o.at, count(i.id) from o left join i on i.o = o.id group by o.at", "o.at desc", 12000),
    ] {
        let all = run(s, &format!("{query} order by {order}"));
        for (limit, range) in [("10", 0..10), ("10 offset 25", 25..35), ("100000", 0..usize::MAX)] {
            let (read, rows) = rows_read(s, &format!("{query} order by {order} limit {limit}"));
            let expected: Vec<&String> = all[1..].iter().skip(range.start).take(range.len()).collect();
            assert_eq!(rows[1..].iter().collect::<Vec<_>>(), expected, "{query} order by {order} limit {limit}");
            assert!(limit != "10" || read <= at_most, "{query} order by {order}: {read}");
        }
        // And the same through a table that is made of all groups.
        let without_order: HashSet<String> = run(s, query).into_iter().collect();
        assert_eq!(without_order, all.into_iter().collect(), "{query}");
    }
    // In any order, if none is wanted.
    let (read, rows) = rows_read(s, "select o.id, count(*) from o join i on i.o = o.id group by o.id limit 10");
    assert_eq!((rows.len(), read <= 60), (11, true), "{read}");
    // All of them are counted, if that is asked.
    let counted = "select sql_calc_found_rows o.id from o join i on i.o = o.id group by o.id order by o.at limit 3";
    assert_eq!(run(s, counted).len(), 4);
    is(s, "select found_rows()", "[found_rows()]; 1600");
}

#[test]
fn what_is_joined_to_rows_that_count_once_is_looked_for_once() {
    let (_server, mut session) = with_visits("user int not null, score int not null");
    let s = &mut session;
    let from = "user u join post p on p.user = u.id";
    for (query, count, most) in [
        // (Each has three posts.)
        (format!("select count(*) from (select distinct u.id, u.name from {from}) t"), "2000", 4000),
        (format!("select count(*) from (select u.id from {from} group by u.id) t"), "2000", 4000),
        (format!("select count(distinct u.karma) from {from}"), "101", 4000),
        (format!("select max(u.karma) from {from}"), "5000", 4000),
        // All that is behind the last one that is shown: of a user the first post, and of that the first tag.
        (
            format!("select count(*) from (select distinct u.id from {from} join tagged t on t.post = p.id) t"),
            "2000",
            6000,
        ),
        // Of what is not shown, nor asked for, there is a row of NULLs at the least.
        (
            "select count(*) from (select distinct u.id from user u left join post p on p.user = u.id) t".into(),
            "2000",
            2000,
        ),
        (
            "select count(*) from (select distinct u.id from user u left join post p on p.user = u.id \
             where u.karma < 5 or p.score > 0) t"
                .into(),
            "2000",
            4001,
        ),
        // Without an index.
        ("select count(distinct u.id) from user u join visit v on v.user = u.id".into(), "2000", 2000 + 6000),
        // What a query of IN shows, and a side of UNION.
        (format!("select count(*) from user where karma in (select u.karma from {from})"), "2000", 2000 + 4000),
        (format!("select count(*) from (select u.id from {from} union select u.karma from {from}) t"), "2001", 8000),
    ] {
        assert_eq!(reads_at_most(s, &query, most)[1], count, "{query}");
    }
    // How often a row comes is asked for, or what is not shown.
    for (query, count) in [
        (format!("select count(*) from {from}"), "6000"),
        (format!("select count(*) from (select u.id from {from}) t"), "6000"),
        (format!("select count(*) from (select distinct u.id, p.id i from {from}) t"), "6000"),
        (format!("select count(*) from (select u.id from {from} union all select u.id from {from}) t"), "12000"),
        (format!("select count(*) from (select u.id from {from} group by u.id having count(*) = 3) t"), "2000"),
    ] {
        assert_eq!(rows_read(s, &query).1[1], count, "{query}");
    }
}

#[test]
fn a_transaction_sees_its_own_groups_and_those_of_its_snapshot() {
    let (server, mut session) = with_groups();
    let s = &mut session;
    let mut other = server.session();
    is(s, "begin; select distinct p from g order by p", "ok 0; [p]; 0; 1; 2; 3");
    is(&mut other, "delete from g where p = 1; insert into g values (1000, 7, 0, 0, '', 'a')", "ok 225; ok 1");
    is(&mut other, "select distinct p from g order by p", "[p]; 0; 2; 3; 7");
    is(s, "select distinct p from g order by p", "[p]; 0; 1; 2; 3");
    is(
        s,
        "insert into g values (1001, 5, 3, 0, '', 'a'), (1002, 5, 9, 0, '', 'a'); delete from g where p = 2",
        "ok 2; ok 225",
    );
    is(s, "select p, max(q) from g group by p order by p desc", "[p|max(q)]; 5|9; 3|100; 1|100; 0|100");
    is(s, "commit; select p, min(q) from g group by p order by p", "ok 0; [p|min(q)]; 0|0; 3|0; 5|3; 7|0");
}
