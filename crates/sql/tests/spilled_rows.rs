//! Rows that are to be put in order, or changed, and are too many for memory come as they do from memory.

mod support;

use std::sync::atomic::Ordering;

use meseta_sql::session::Session;
use support::{Server, run};

/// Of 6,000 rows, in memory for a few hundred.
const QUERIES: &[&str] = &[
    "select id from t order by n, id",
    "select id, n from t order by n desc, id desc",
    "select id, d from t order by d, id limit 3000",
    "select id from t order by d desc, f, id limit 3000 offset 2500",
    "select id, s from t order by s, id",
    "select id, s, b from t order by b desc, s desc, id",
    "select * from t order by at, day desc, clock, id",
    "select id, kind, bits from t order by kind, bits desc, id",
    // Among equals, as they are read.
    "select id from t order by n % 3",
    "select id, s from t order by s desc limit 4000",
    "select id, if(n % 2 = 0, n, d) as x from t order by x, id",
    "select id, document from t order by concat(s, n), id desc",
    "select distinct n, s from t order by n, s",
    "select distinct s, d, n from t order by d desc, s, n",
    "select t.id, o.id from t left join t o on o.id = t.n order by t.d, t.id",
    "select t.id, o.id from t left join t o on o.id = t.n order by t.d desc, t.id limit 2500",
    "select t.id, o.id from t join t o on o.id = t.n order by o.s, t.f, t.id",
    "select id, n from t union all select n, id from t order by 1, 2",
    "select id, (select count(*) from t o where o.id = t.n) as c from t order by c desc, s, id limit 2000",
    "select count(*), sum(x) from (select id, n as x from t order by s, id limit 5000) q",
    "select count(*), sum(id), max(s) from (select distinct id, s from t) q",
    "select distinct n, s, d from t order by s, d + n, n, d limit 4000",
    "select count(*), sum(d) from (select n, d from t union select n + 1, d from t) q",
    "select s, n from t union select b, n from t order by n desc, s",
    "select count(*), sum(kind + 0) from (select kind, s from t order by s, id limit 4000) q",
    "select sum(k), sum(kind + 0) from (select kind, sum(kind + 0) as k from t group by kind, s, n) q",
    "select t.id, t.kind + 0, o.id from t left join t o on o.id = t.n order by t.d, t.id",
    "select count(*), sum(kind + 0), sum(bits + 0) from (select distinct kind, bits, id from t) q",
    "select count(*), sum(t.id), sum(o.id) from t join t o on o.d = t.d",
    "select t.id, o.id from t join t o on o.s = t.s and o.n > t.n + 1500 order by 1, 2",
    "select count(*), sum(p.id) from t join t o on o.d = t.f join t p on p.n = o.n and p.kind = t.kind where t.id < 500",
    "select t.id, o.id from t left join t o on o.f = t.d and o.id > 5000 where t.id < 40 order by 1, 2",
    "select t.kind, count(*) from t join t o on o.f = t.d group by t.kind order by 1",
    "select count(*) from (select t.id from t join t o on o.f = t.f limit 5000) q",
    "select count(*), sum(id) from (select distinct t.id from t join t o on o.d = t.f) q",
    "select count(distinct t.n), max(t.d), min(t.f) from t join t o on o.d = t.f and o.n > t.n",
    "select count(*), sum(id) from (select distinct t.id from t left join t o on o.f = t.d where t.id < 40 and (o.n > 900 or t.n < 100)) q",
    "select s, count(*), max(d), group_concat(id) from t group by s, n order by s, n",
    "select n, kind, count(distinct s), avg(f) from t group by n, kind having count(*) > 1 order by n, kind desc",
    "select sum(c), count(*) from (select document, count(*) as c from t group by document, s) q",
    "select day, min(clock), max(at) from t group by day, id % 100 order by max(at), day, min(clock) limit 3000",
];

/// Changes of so many rows that they are kept in a file; each is followed by a look at what there is.
const CHANGES: &[&str] = &[
    "insert into copy select * from t",
    "insert into copy select id + 6000, n, d, f, s, b, at, day, clock, kind, bits, document, blank from copy",
    "insert into copy (id, n, kind) select id + 20000, n, kind from copy where id > 3000 order by s, id limit 4000",
    "insert into copy select * from t on duplicate key update copy.n = copy.n + 1, copy.kind = t.kind",
    "replace into copy select id, n + 1, d, f, s, b, at, day, clock, kind, bits, document, blank from copy where id % 2",
    "insert ignore into copy select id + 1, n, d, f, s, b, at, day, clock, kind, bits, document, blank from copy",
    "update copy set id = id + 100000",
    "update copy set n = n + 1 order by n desc, id",
    "update copy set id = id + 200000 where id < 110000 order by id desc limit 3000",
    "delete from copy order by s, d, id limit 2500",
    "update copy join t on t.n = copy.n set copy.d = t.d, copy.kind = t.kind, copy.at = t.at, copy.document = t.document, copy.blank = t.blank",
    "update copy join t on t.id + 100000 = copy.id set copy.s = 'x', t.s = copy.b, t.bits = 7",
    "update copy set s = concat(s, '!') where id in (select id from (select id from copy where n % 2 = 0) q)",
    "delete copy, t from copy join t on t.id + 100000 = copy.id where t.n > 0",
    "update ignore copy join t on t.id + 100001 = copy.id set copy.id = t.id + 100000",
    "create table made as select id, kind, blank, s, d from copy",
    "insert into made select * from made union all select id, kind, blank, s, d from copy",
];

#[test]
fn changes_of_rows_in_a_file_are_those_of_rows_in_memory() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    let changed = |s: &mut Session, memory: usize, statements: &str| -> Vec<Vec<String>> {
        create(s);
        // One of its members looks like none.
        run(s, "alter table t add blank enum('', 'y'); set sql_mode = ''; update t set blank = if(id % 3, 'none', '')");
        run(s, "set sql_mode = default; create table copy like t; alter table copy add key (n)");
        let memory_before = server.instance.row_memory.swap(memory, Ordering::Relaxed);
        run(s, statements);
        let mut seen = Vec::new();
        for change in CHANGES {
            let done = run(s, change);
            assert!(done.iter().all(|line| line.starts_with("ok ") && line != "ok 0"), "{change}: {done:?}");
            seen.push(done);
            seen.push(run(s, "select count(*), sum(n), sum(kind + 0), sum(bits + 0), sum(blank + 0), sum(crc32(concat_ws(',', id, n, d, f, s, b, at, day, clock, kind, document))) from copy"));
            seen.push(run(s, "select count(*), sum(crc32(concat_ws(',', id, n, d, s, bits + 0))) from t"));
        }
        seen.push(run(
            s,
            "select count(*), sum(kind + 0), sum(blank + 0), sum(crc32(concat_ws(',', id, s, d))) from made",
        ));
        server.instance.row_memory.store(memory_before, Ordering::Relaxed);
        run(s, "set tmp_table_size = default; drop table t, copy, made");
        seen
    };
    let in_memory = changed(s, 256 << 20, "");
    for (at, (expected, found)) in in_memory.iter().zip(changed(s, 16 << 10, "set tmp_table_size = 1024")).enumerate() {
        assert_eq!(*expected, found, "{}", CHANGES.get(at / 3).unwrap_or(&"made"));
    }
}

/// 6,000 rows in a table `t`.
fn create(s: &mut Session) {
    run(
        s,
        "create table t (id int primary key, n int, d decimal(12,3), f double, s varchar(20), b varchar(20) collate utf8mb4_bin, \
         at datetime(3), day date, clock time, kind enum('x','a','m'), bits bit(5), document json); \
         set cte_max_recursion_depth = 10000; \
         insert into t with recursive i (i) as (select 1 union all select i + 1 from i where i < 6000) \
         select i, if(i % 11 = 0, null, i * 7919 % 2003 - 900), if(i % 13 = 0, null, (i * 31 % 4001 - 2000) / 8), (i * 17 % 501 - 250) / 4, \
         if(i % 17 = 0, null, concat(char(97 + i % 26), if(i % 2, 'B', 'b'), i % 90)), concat(char(65 + i % 50), i % 7), \
         '2024-01-01' + interval i * 7919 % 100003 * 1000000 microsecond, '2024-01-01' + interval i * 13 % 900 day, \
         sec_to_time(i * 37 % 90000 - 40000), 1 + i % 3, i % 32, json_object('i', i) from i",
    );
}

#[test]
fn rows_come_in_order_from_a_file() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    create(s);
    let answers = |s: &mut Session| -> Vec<Vec<String>> { QUERIES.iter().map(|query| run(s, query)).collect() };
    let in_memory = answers(s);
    let spilled_before = server.instance.row_memory.swap(16 << 10, Ordering::Relaxed);
    assert!(spilled_before > 1 << 20);
    run(s, "set tmp_table_size = 1024");
    for ((query, expected), found) in QUERIES.iter().zip(in_memory).zip(answers(s)) {
        assert!(expected.len() > 1 && expected == found, "{query}: {} and {} rows", expected.len(), found.len());
    }
    // What has no order as bytes, and what else keeps rows.
    for query in ["select id from t order by document", "select id from t intersect select id from t"] {
        let answer = run(s, query);
        assert!(answer.iter().any(|line| line.contains("1038")), "{query}: {answer:?}");
    }
    // An error comes through, and the session goes on.
    let failed = run(s, "select id, (select n from t o where o.id <= t.id) from t order by s limit 5000");
    assert!(failed.iter().any(|line| line.contains("1242")), "{failed:?}");
    assert_eq!(run(s, "select count(*) from t").last().map(String::as_str), Some("6000"));
}

/// However rows come: those that were dropped take no memory. (Those that are in a file have an order as bytes; JSON has none.)
#[test]
fn the_first_rows_take_as_much_memory_as_they_have() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    create(s);
    for order in
        ["id", "id desc", "s, id", "kind desc, n, id desc", "-n, s desc, id", "b, document", "d desc, kind, id"]
    {
        let query = format!("select id, s, kind, n, at, concat(b, '-', id) c, document from t order by {order}");
        let all = run(s, &query);
        let memory_before = server.instance.row_memory.swap(256 << 10, Ordering::Relaxed);
        run(s, "set tmp_table_size = 1024");
        for (limit, offset) in [(1, 0), (20, 0), (70, 5), (20, 30)] {
            let found = run(s, &format!("{query} limit {limit} offset {offset}"));
            assert_eq!(found[0], all[0], "{order}");
            assert_eq!(found[1..], all[1 + offset..][..limit], "{order} limit {limit} offset {offset}");
        }
        server.instance.row_memory.store(memory_before, Ordering::Relaxed);
        run(s, "set tmp_table_size = default");
    }
    let memory_before = server.instance.row_memory.swap(256 << 10, Ordering::Relaxed);
    run(s, "set tmp_table_size = 1024");
    for order in ["document", "document desc"] {
        let found = run(s, &format!("select id from t order by {order} limit 20"));
        assert_eq!(found.len(), 21, "{order}: {found:?}");
    }
    // What is shown of rows that are not wanted is not computed, as in MySQL: here it would be out of range.
    let found = run(
        s,
        "select 9223372036854775806 + (id > 5000) + (id > 5000) x, concat(id) from t order by n + 0, id limit 2 offset 1",
    );
    assert_eq!(found, ["[x|concat(id)]", "9223372036854775806|22", "9223372036854775806|33"]);
    server.instance.row_memory.store(memory_before, Ordering::Relaxed);
}
