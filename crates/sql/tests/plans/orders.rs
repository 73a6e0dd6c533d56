//! Rows that are wanted in an order, or the first of them.

use crate::support::{Server, is, run};
use crate::tables::{rows_read, with_edits, with_groups, with_orders, with_posts, with_ranges, with_tables};

#[test]
fn the_first_rows_in_the_order_of_an_index_are_those_of_a_sort() {
    let (_server, mut session) = with_tables();
    let s = &mut session;
    // T: with indexes, and then without.
    for query in [
        "select id, c from T where b = 4 order by c, id limit 5",
        "select id, c from T where b = 4 order by c desc, id desc limit 7",
        "select id, c from T where b = 4 order by b, c, id limit 3",
        "select id, c from T where b = 4 and d > 3 order by c, id limit 3, 4",
        "select id, c from T where b = 4 and c > 'x' and a < 30 order by c, id limit 6",
        "select id from T where b is null order by c, id limit 40",
        "select id from T where b is null and c is null order by id desc limit 40",
        "select id from T where b > 3 order by b, c, id limit 30",
        "select id from T where b in (2, 5) order by b, c, id limit 60",
        "select id from T where b = 4 or b = 6 order by id limit 9",
        "select id from T where a = 3 order by id desc limit 2",
        "select id, a from T order by a, id limit 5, 30",
        "select id, a from T order by a desc, id desc limit 400",
        "select id, e from T where d > 5 order by e desc, id desc limit 12",
        "select id from T where b = 4 order by c, id desc limit 9",
        "select id from T where b = 4 order by c desc, id limit 9",
        "select id from T where id > 100 and b = 4 order by c, id limit 9",
        "select id from T where b = 4 and id in (select id from U where a > 7) order by c, id limit 5",
        "select id from T where b = 4 order by c, id limit 0",
        "select id from T where b = 4 order by c, id",
        // The table by which rows are ordered is read first.
        "select T.id, U.id from T join U on U.id = T.a order by T.e desc, T.id desc limit 9",
        "select T.id, U.id from T join U on U.id = T.a order by U.id desc, T.id limit 9",
        "select T.id, U.id from U join T on U.id = T.a where T.b = 4 order by T.c, T.id limit 4, 9",
        "select T.id, U.id from T join U on U.d = T.a where T.b = 4 order by T.c, T.id, U.id limit 19",
        "select T.id, U.id from T join U on U.id = T.a and U.b = 3 order by T.a, T.id limit 9",
        "select T.id, U.id from T join U on U.id = T.a where U.b > 3 and T.b = 4 order by T.c, T.id limit 9",
        "select T.id, U.id from T left join U on U.id = T.a and U.b > 3 order by T.a, T.id limit 30",
        "select T.id, U.id from T left join U on U.id = T.a where U.id is null order by T.a desc, T.id desc limit 50",
        "select T.id, U.id from U right join T on U.id = T.a order by T.id desc limit 7",
        "select T.id, U.id from T left join U on U.id = T.a order by U.id, T.id limit 7",
        "select T.id, U.id from T left join U on U.id = T.a order by T.id",
        "select T.id, v.n from T join (select a, count(*) n from U group by a) v on v.a = T.b order by T.e, T.id limit 5",
        "select T.id, U.id, w.id from T join U on U.id = T.a join T w on w.a = U.b order by T.e, T.id, w.id limit 30",
        "select T.id, U.id from T join U on U.id = T.a where T.id in (select b from U) order by T.a, T.id limit 5",
        "select distinct T.a from T join U on U.id = T.a order by T.a limit 5",
        // Groups come one after the other.
        "select b, c, count(*), max(d) from T group by b, c order by b, c limit 5",
        "select b, c, count(*), max(d) from T group by c, b order by b, c limit 5, 9",
        "select b, count(*) from T group by b order by b desc limit 3",
        "select b, count(*) n from T group by b order by n, b limit 4",
        "select b, c, count(*) from T group by b, c order by c, b limit 5",
        "select b, c, count(*) from T group by b, c order by b, c desc limit 5",
        "select a, count(*), min(id) from T group by a having count(*) > 9 order by a limit 3",
        "select b, group_concat(distinct c order by c), count(distinct d) from T group by b order by b limit 4",
        "select c, sum(d) from T where b = 4 group by c order by c",
        "select b, avg(d) from T where b > 3 group by b order by b limit 2",
        "select a + 1, count(*) from T group by a + 1 order by 1 limit 3",
        "select b, count(*) from T group by b with rollup order by b limit 4",
        "select distinct b from T group by b, c order by b limit 3",
        "select T.a, count(*), max(U.d) from T join U on U.b = T.b group by T.a order by T.a limit 4",
        "select T.a, U.b, count(*) from T left join U on U.id = T.a group by T.a, U.b order by T.a, U.b limit 9",
        "select a, (select count(*) from U where U.a = T.a) n from T group by a order by a limit 6",
        "select count(*) from (select a from T group by a limit 7) v",
        "select a, count(*) from T where id > 1000 group by a order by a",
        "select straight_join T.id, U.id from U join T on U.id = T.a order by T.a, T.id limit 5",
        // Stretches of an index come one behind the other, either way.
        "select id, a from T where a in (9, 3, 7) order by a, id",
        "select id, a from T where a in (9, 3, 7) order by a desc, id desc limit 12",
        "select id from T where id in (30, 3, 70, 8) or id between 100 and 110 order by id desc limit 9",
        "select id, b, c from T where b in (2, 5) and c > 'x1' order by b desc, c desc, id desc",
        "select a, count(*) from T where a in (9, 3, 7) or a > 30 group by a order by a desc",
        // Rows that are compared with a row.
        "select id, b, c from T where (b, c) > (4, 'x2') order by b, c, id limit 9",
        "select id, b, c from T where (b, c) <= (4, 'x2') order by b desc, c desc, id desc limit 9",
        "select id, a from T where (a, id) < (7, 200) order by a desc, id desc limit 5",
        "select id, a from T where (7, 200) <= (a, id) order by a, id limit 5",
        "select id from T where b = 4 and (c, id) > ('x2', 100) order by c, id limit 5",
        "select id from T where (a, b, d) >= (7, 3, 10) order by a, b, d, id",
        "select id from T where (a, b) > (7, null) order by id",
        "select id from T where (a, b) > (null, 7) order by id",
        "select T.id, U.id from T join U on (T.a, T.b) < (U.b, U.a) where U.id < 40 order by T.id, U.id",
        // The first of rows that have to be put in order.
        "select id, d from T order by d, id limit 3",
        "select id, d from T order by d desc, id limit 70, 5",
        "select id, c, d from T order by concat(c, d) desc, id limit 40, 40",
        "select id from T order by d, id limit 1000",
        "select d from T order by d desc limit 300, 300",
        "select b, sum(d) from T group by b order by sum(d) desc, b limit 2",
        "select distinct d from T order by d desc limit 4",
        "select distinct b, d from T order by d desc, b limit 90, 7",
        "select sql_calc_found_rows id, d from T order by d, id limit 3",
        "select id from T union all select id + 1000 from U order by 1 desc limit 75, 3",
        "select id, (@n := coalesce(@n, 0) + 1) * 0 from T order by d, id limit 5",
        // Rows are those of several indexes.
        "select id from T where a = 3 or b = 4 order by id",
        "select id from T where a = 3 or b = 4 order by id limit 7",
        "select id from T where (a = 3 or b = 4 or e < '2020-01-04') and d > 7 order by id",
        "select T.id, U.id from T join U on T.a = U.id or T.b = U.d order by T.id, U.id",
        "select U.id, T.id from U left join T on T.a = U.id or T.e = U.e where U.id < 30 order by 1, 2",
    ] {
        let named = |query: &str, t: &str, u: &str| {
            let (t_alias, u_alias) = (format!("{t} T"), format!("{u} U"));
            let mut named = query.to_owned();
            for before in ["from ", "join "] {
                named = named.replace(&format!("{before}T w"), &format!("{before}{t} w"));
                named = named.replace(&format!("{before}T "), &format!("{before}{t_alias} "));
                named = named.replace(&format!("{before}U"), &format!("{before}{u_alias}"));
            }
            named
        };
        let (with, without) = (named(query, "t", "u"), named(query, "tp", "up"));
        let rows = run(s, &with);
        assert!(rows[0].starts_with('['), "{with}: {rows:?}");
        assert_eq!(rows, run(s, &without), "{with}");
    }
    for change in [
        "update T set d = d + 100 where b = 4 order by c, id limit 5",
        "update T set c = 'zz' where b = 4 order by c, id limit 3",
        "update T set b = b + 1 where b = 4 order by c desc, id desc limit 6",
        "update T set e = '2021-01-01', a = 77 where e > '2020-01-15' order by e, id limit 9",
        "update T set a = a + 1 where b = 6 and d < 20 order by c, id limit 11",
        "update T set id = id + 1 order by id desc",
        "delete from T where a = 3 order by id desc limit 2",
        "delete from T where b = 5 order by c, id limit 4",
        "delete from T where b = 6 and d > 9 order by c desc, id desc limit 3",
        "update T set d = d + 1 where a in (select b from U where id < 20)",
        "update T set a = a + 1 where a in (select b from U where id < 20) order by e, id limit 4",
        "update T set b = 3 where id = (select max(a) from U)",
        "delete from T where a in (select b from U where id between 20 and 30)",
        "delete from T where id in (select a from U where b = 2)",
        "delete from T order by a, id limit 40",
        "delete from T order by e desc, id desc limit 7",
        "update T set d = d + 1 where a = 9 or b = 8",
        "update T set a = a + 1, b = b + 1 where a = 9 or b = 8",
        "update T set a = 10, b = 8 where a = 9 or b = 7 or a = 10",
        "update T set a = a + 1 where a = 12 or b = 2 order by id limit 9",
        "update T set d = 0 where id in (9, 200, 30) order by id desc limit 2",
        "delete from T where a = 20 or b = 1 or e = '2020-01-11 10:00:00'",
        "delete from T where a = 21 or b = 0 order by id desc limit 5",
    ] {
        let named = |t: &str, u: &str| change.replace('T', t).replace('U', u);
        let changed = run(s, &named("t", "u"));
        assert!(changed[0].starts_with("ok "), "{change}: {changed:?}");
        assert_eq!(changed, run(s, &named("tp", "up")), "{change}");
        let all = |table: &str| format!("select * from {table} order by id");
        assert_eq!(run(s, &all("t")), run(s, &all("tp")), "{change}");
        is(s, "check table t", "[Table|Op|Msg_type|Msg_text]; test.t|check|status|OK");
    }
}

#[test]
fn rows_that_are_equal_stay_in_their_order_where_the_first_are_wanted() {
    let (_server, mut session) = with_groups();
    let s = &mut session;
    // (What is read in the order of the primary key.)
    for (order, wanted) in [("q % 3", 10), ("q % 3 desc", 40), ("r is null", 100), ("s", 7), ("p, q % 2", 33)] {
        let all = run(s, &format!("select id from gp order by {order}"));
        let first = run(s, &format!("select id from gp order by {order} limit {wanted}"));
        assert_eq!(first, all[..=wanted], "{order}");
        let behind = run(s, &format!("select id from gp order by {order} limit {wanted}, 50"));
        assert_eq!(behind[1..], all[wanted + 1..wanted + 51], "{order}");
    }
    // Each row goes before all that came before it.
    let first = run(s, "select id from gp order by id desc limit 100");
    assert_eq!(first[1..], (800..900).rev().map(|id| id.to_string()).collect::<Vec<_>>());
    is(s, "flush status; select count(*) from (select id from gp order by q, id limit 5) v", "ok 0; [count(*)]; 5");
    is(s, "show session status like 'Sort_rows'", "[Variable_name|Value]; Sort_rows|5");
}

#[test]
fn the_first_rows_in_order_are_read_in_order_if_many_are_shown() {
    let (_server, mut session) = with_ranges();
    let s = &mut session;
    // Half of all rows: the first five are soon there.
    let (read, rows) = rows_read(s, "select id from t where d between 0 and 999 order by k limit 5");
    assert_eq!(rows.len(), 6);
    assert!(read < 20, "{read}");
    // A hundredth: they are sorted.
    let (read, _) = rows_read(s, "select id from t where d between 0 and 19 order by k limit 5");
    assert_eq!(read, 20);
}

#[test]
fn a_join_begins_with_the_table_whose_order_is_wanted_if_the_first_rows_come_soon() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table page (id int primary key, space int, title varchar(20), key s (space))", "ok 0");
    is(s, "create table change_of (id int primary key, page int, at int, key p (page), key t (at))", "ok 0");
    let pages: Vec<String> = (0..3000).map(|i| format!("({i}, {}, 'x')", if i < 6 { 7 } else { i % 2 })).collect();
    let changes: Vec<String> = (0..9000).map(|i| format!("({i}, {}, {})", i * 7 % 3000, i * 31 % 9000)).collect();
    is(s, &format!("insert into page values {}", pages.join(",")), "ok 3000");
    is(s, &format!("insert into change_of values {}", changes.join(",")), "ok 9000");
    run(s, "analyze table page, change_of");
    let query = |space: u32, beside: &str| {
        let from = format!("page p join change_of c on c.page = p.id{beside}");
        format!("select c.at, p.id from {from} where p.space = {space} order by c.at desc limit 5")
    };
    // Half of all pages: of the latest changes every other one is shown.
    let (read, rows) = rows_read(s, &query(0, ""));
    assert!(read < 40, "{read}");
    assert_eq!(rows, rows_read(s, &query(0, " + 0")).1);
    // Nor are they sorted if no index finds the pages of the changes: those are kept.
    let uses = run(s, &format!("explain format=tree {}", query(0, " + 0"))).concat();
    assert!(uses.contains("hash join") && !uses.contains("ort:"), "{uses}");
    // Six pages: their eighteen changes are sorted.
    is(
        s,
        "create table few like page; insert into few select * from page where space = 7 or id > 2900",
        "ok 0; ok 105",
    );
    run(s, "analyze table few");
    let (read, _) = rows_read(s, &query(7, "").replace("page p", "few p"));
    assert!(read <= 24, "{read}");
}

#[test]
fn the_first_rows_of_a_join_are_read_in_order_if_what_is_said_is_of_one_table() {
    let (_server, mut session) = with_edits();
    for condition in ["", " and minor = 1", " and size > 100", " and minor = 1 and at > '000100'"] {
        let query = |page: &str| {
            let from = format!("edit join user on user.id = user where {page}{condition}");
            format!("select edit.id, name from {from} order by at desc, edit.id desc limit 5")
        };
        let (read, rows) = rows_read(&mut session, &query("page = 4"));
        assert_eq!((read <= 40, rows.len()), (true, 6), "{condition}: {read}");
        assert_eq!(rows, rows_read(&mut session, &query("page + 0 = 4")).1);
    }
}

#[test]
fn what_a_query_finds_is_asked_of_the_first_rows_if_these_are_enough() {
    let (_server, mut session) = with_orders();
    let exists = |condition: &str| {
        format!(
            "select id from user where exists (select 1 from orders where user = user.id and {condition}) and gone is null"
        )
    };
    // A tenth of all orders: of the first users enough have one; none has a status of 77, which is not looked up for all users.
    for (query, most, found) in [
        (format!("{} limit 5", exists("orders.status = 3")), 1_000, 5),
        (format!("{} limit 5", exists("orders.status = 77")), 16_000, 0),
        (exists("orders.status = 3"), 16_000, 600),
    ] {
        let (read, rows) = rows_read(&mut session, &query);
        assert!(read <= most, "{query}: {read}");
        assert_eq!(rows.len(), found + 1, "{query}");
    }
    // One user has more orders than are worth reading to find none.
    let query = "select id from user where id in (select user from orders where n = 2) order by gone, id limit 3";
    let (read, rows) = rows_read(&mut session, query);
    assert!(read <= 6_000 + 6_000 + 6_000 / 2 && rows.len() == 1, "{read}");
}

#[test]
fn how_many_rows_are_wanted_decides_in_which_order_they_are_read() {
    let (_server, mut session) = with_ranges();
    let s = &mut session;
    is(s, "prepare p from 'select id from t where d between 0 and 399 order by k limit ?'", "ok 0");
    for prepared in [false, true] {
        // A fifth of all rows: the first one is soon there, and all of them are better sorted, whatever came before.
        for (limit, most) in [(1, 20), (300, 400), (2, 20), (300, 400)] {
            let query = match prepared {
                true => {
                    run(s, &format!("set @limit = {limit}"));
                    "execute p using @limit".to_owned()
                }
                false => format!("select id from t where d between 0 and 399 order by k limit {limit}"),
            };
            let (read, rows) = rows_read(s, &query);
            assert_eq!(rows.len(), 1 + limit, "{query}");
            assert!(read <= most, "{query}: {read}");
        }
    }
    // Of an offset all rows in front of it are wanted.
    let (read, rows) = rows_read(s, "select id from t where d between 0 and 399 order by k limit 1 offset 299");
    assert_eq!((read, rows.len()), (400, 2));
}

#[test]
fn of_those_who_write_the_first_by_name_are_shown_once() {
    let (_server, mut session) = with_posts();
    let s = &mut session;
    let query = |order: &str| {
        let from = "post p join user u on u.id = p.user";
        format!("select distinct u.id, u.name from {from} where p.score < 3000 order by {order} limit 5")
    };
    let (read, rows) = rows_read(s, &query("u.name"));
    assert!(read < 100, "{read}");
    assert_eq!(rows, rows_read(s, &query("concat(u.name, '')")).1);
}

#[test]
fn the_first_rows_in_the_order_of_an_index_are_locked_and_no_others() {
    let server = Server::new();
    let [a, b, c] = &mut [server.session(), server.session(), server.session()];
    is(
        a,
        "create table jobs (id int primary key, state int not null, prio int not null, key sp (state, prio))",
        "ok 0",
    );
    let rows: Vec<String> = (0..200).map(|i| format!("({i}, 0, {})", i * 7 % 200)).collect();
    is(a, &format!("insert into jobs values {}", rows.join(",")), "ok 200");
    for session in [&mut *a, b, c] {
        is(session, "set transaction_isolation = 'read-committed'; begin", "ok 0; ok 0");
    }
    is(a, "delete from jobs where state = 0 order by prio limit 2", "ok 2");
    is(b, "select prio from jobs where state = 0 order by prio limit 2 for update skip locked", "[prio]; 2; 3");
    is(c, "select prio from jobs where state = 0 order by prio limit 1 for update skip locked", "[prio]; 4");
    is(c, "update jobs set state = 1 where state = 0 order by prio desc limit 1", "ok 1");
    is(b, "select prio from jobs where state = 0 order by prio desc limit 1 for update skip locked", "[prio]; 198");
    is(b, "select prio from jobs where prio = 100 and state = 0 for update nowait", "[prio]; 100");
    is(c, "delete from jobs where id in (select 10 union select 20)", "ok 2");
    is(b, "select id from jobs where id = 30 for update nowait", "[id]; 30");
    for session in [&mut *a, b, c] {
        is(session, "commit", "ok 0");
    }
    is(a, "select count(*), sum(state) from jobs", "[count(*)|sum(state)]; 196|1");
}

#[test]
fn rows_are_ordered_by_the_numbers_of_members() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    let columns = "id int primary key, f enum('b', 'a', 'c') not null, s set('z', 'y', 'x'), v int";
    for (name, keys) in [("m", ""), ("k", ", key f (f), key s (s)")] {
        is(s, &format!("create table {name} ({columns}{keys})"), "ok 0");
        let rows = "(1, 1, 'x', 1), (2, 2, 'z,y', 2), (3, 3, 'y', 3), (5, 1, '', 5)";
        is(s, &format!("insert into {name} values {rows}"), "ok 4");
        // As MySQL 9.7 has them. What is computed of a member, and a UNION's, is a text.
        for (query, expected) in [
            ("id from T order by f, id desc", "[id]; 5; 1; 2; 3"),
            ("id from T order by s desc limit 2", "[id]; 1; 2"),
            ("id from T order by s", "[id]; 5; 3; 2; 1"),
            (
                "group_concat(f order by f), group_concat(id order by s, id) from T",
                "[group_concat(f order by f)|group_concat(id order by s, id)]; b,b,a,c|5,3,2,1",
            ),
            ("f, count(*) from T group by f order by f desc", "[f|count(*)]; c|1; a|1; b|2"),
            ("distinct f from T order by 1", "[f]; b; a; c"),
            ("f from (select f from T where id > 1) x order by f", "[f]; b; a; c"),
            ("f, sum(v) from T group by f with rollup", "[f|sum(v)]; b|6; a|2; c|3; NULL|11"),
            ("f from T where f > 'a' order by f", "[f]; b; b; c"),
            ("f from T order by concat(f)", "[f]; a; b; b; c"),
            ("coalesce(f, 'x') q from T order by q", "[q]; a; b; b; c"),
            ("f from T union all select f from T order by f", "[f]; a; a; b; b; b; b; c; c"),
            ("(select f from T y where y.id = x.id) q from T x order by q", "[q]; a; b; b; c"),
        ] {
            let query = query.replace('T', name);
            is(s, &format!("select {query}"), expected);
        }
        is(s, &format!("update {name} set v = 100 order by f desc limit 1"), "ok 1");
        is(s, &format!("select id from {name} where v = 100"), "[id]; 3");
    }
}
