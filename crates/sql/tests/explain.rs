//! EXPLAIN: what MySQL 9.7 printed for the same tables, where we do the same.

mod support;

use std::fmt::Write as _;

use meseta_sql::session::Session;
use support::{Server, all, is, run};

/// The tables of sysbench and of TPC-C's shape, and one without an index.
fn with_tables() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(
        s,
        "create table sbtest1 (id int primary key auto_increment, k int not null default 0, c char(120) not null default '',
         pad char(60) not null default '', key k_1 (k));
         create table c (w int, d int, id int, last varchar(16), first varchar(16), bal int, primary key (w, d, id),
         key name (w, d, last, first));
         create table o (w int, d int, id int, c_id int, carrier int, primary key (w, d, id), unique key oc (w, d, c_id, id));
         create table d (id int, x int, y varchar(10)); insert into d values (1, 1, 'a'), (2, 2, 'b'), (3, 3, null)",
        "ok 0; ok 0; ok 0; ok 0; ok 3",
    );
    let mut rows = [String::new(), String::new(), String::new()];
    for i in 0..2000 {
        let comma = if i == 0 { "" } else { "," };
        let (w, d, id) = (1 + i % 2, 1 + i / 2 % 10, i / 20);
        let _ = write!(rows[0], "{comma}({}, {}, 'c{}', 'p')", i + 1, (i + 1) % 100, i + 1);
        let _ = write!(rows[1], "{comma}({w}, {d}, {id}, 'L{}', 'F{i}', {i})", i % 50);
        let _ = write!(rows[2], "{comma}({w}, {d}, {id}, {id}, {})", i % 7);
    }
    for (table, rows) in ["sbtest1 (id, k, c, pad)", "c", "o"].iter().zip(rows) {
        is(s, &format!("insert into {table} values {rows}"), "ok 2000");
    }
    (server, session)
}

/// The rows of FORMAT=TRADITIONAL, without numbers of rows and shares.
fn explained(session: &mut Session, query: &str) -> Vec<String> {
    let lines = run(session, &format!("explain format=traditional {query}"));
    assert_eq!(
        lines[0], "[id|select_type|table|partitions|type|possible_keys|key|key_len|ref|rows|filtered|Extra]",
        "{query}"
    );
    let short = |line: &String| {
        let parts: Vec<&str> = line.split('|').collect();
        let kept = parts.iter().enumerate().filter(|(at, _)| ![3, 9, 10].contains(at));
        kept.map(|(_, part)| *part).collect::<Vec<_>>().join("|")
    };
    lines[1..].iter().map(short).collect()
}

#[test]
fn what_is_read_and_how() {
    let (_server, mut session) = with_tables();
    for (query, expected) in [
        ("select c from sbtest1 where id = 5", &["1|SIMPLE|sbtest1|const|PRIMARY|PRIMARY|4|const|NULL"][..]),
        (
            "select c from sbtest1 where id between 10 and 20",
            &["1|SIMPLE|sbtest1|range|PRIMARY|PRIMARY|4|NULL|Using where"],
        ),
        (
            "select sum(k) from sbtest1 where id between 10 and 20",
            &["1|SIMPLE|sbtest1|range|PRIMARY|PRIMARY|4|NULL|Using where"],
        ),
        (
            "select c from sbtest1 where id between 10 and 20 order by c",
            &["1|SIMPLE|sbtest1|range|PRIMARY|PRIMARY|4|NULL|Using where; Using filesort"],
        ),
        (
            "select distinct c from sbtest1 where id between 10 and 20 order by c",
            &["1|SIMPLE|sbtest1|range|PRIMARY|PRIMARY|4|NULL|Using where; Using temporary; Using filesort"],
        ),
        ("select * from sbtest1", &["1|SIMPLE|sbtest1|ALL|NULL|NULL|NULL|NULL|NULL"]),
        ("select id from sbtest1", &["1|SIMPLE|sbtest1|index|NULL|k_1|4|NULL|Using index"]),
        ("select k from sbtest1", &["1|SIMPLE|sbtest1|index|NULL|k_1|4|NULL|Using index"]),
        ("select count(*) from sbtest1", &["1|SIMPLE|sbtest1|index|NULL|k_1|4|NULL|Using index"]),
        ("select max(id) from sbtest1", &["1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|Select tables optimized away"]),
        ("select min(k) from sbtest1", &["1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|Select tables optimized away"]),
        (
            "select max(id), min(k) from sbtest1",
            &["1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|Select tables optimized away"],
        ),
        (
            "select max(id) from sbtest1 where id < 100",
            &["1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|Select tables optimized away"],
        ),
        ("select min(c) from sbtest1", &["1|SIMPLE|sbtest1|ALL|NULL|NULL|NULL|NULL|NULL"]),
        ("select * from sbtest1 where k = 5", &["1|SIMPLE|sbtest1|ref|k_1|k_1|4|const|NULL"]),
        ("select id from sbtest1 where k = 5", &["1|SIMPLE|sbtest1|ref|k_1|k_1|4|const|Using index"]),
        ("select * from sbtest1 where k = 5 and pad = 'p'", &["1|SIMPLE|sbtest1|ref|k_1|k_1|4|const|Using where"]),
        ("select * from sbtest1 where pad = 'p'", &["1|SIMPLE|sbtest1|ALL|NULL|NULL|NULL|NULL|Using where"]),
        // MySQL asks the index for it: "Using index condition".
        ("select * from sbtest1 where k in (1, 2)", &["1|SIMPLE|sbtest1|range|k_1|k_1|4|NULL|Using where"]),
        (
            "select * from sbtest1 order by id desc limit 5",
            &["1|SIMPLE|sbtest1|index|NULL|PRIMARY|4|NULL|Backward index scan"],
        ),
        ("select * from sbtest1 order by k limit 5", &["1|SIMPLE|sbtest1|index|NULL|k_1|4|NULL|NULL"]),
        ("select * from sbtest1 order by k", &["1|SIMPLE|sbtest1|ALL|NULL|NULL|NULL|NULL|Using filesort"]),
        (
            "select pad, count(*) from sbtest1 group by pad",
            &["1|SIMPLE|sbtest1|ALL|NULL|NULL|NULL|NULL|Using temporary"],
        ),
        (
            "select * from sbtest1 where id = 1 or id = 5",
            &["1|SIMPLE|sbtest1|range|PRIMARY|PRIMARY|4|NULL|Using where"],
        ),
        (
            "select * from sbtest1 where id < 3 or id > 1990",
            &["1|SIMPLE|sbtest1|range|PRIMARY|PRIMARY|4|NULL|Using where"],
        ),
        ("select * from sbtest1 where 1 = 0", &["1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|Impossible WHERE"]),
        ("select 1", &["1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|No tables used"]),
        ("select 1 where 0", &["1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|Impossible WHERE"]),
        ("select * from sbtest1 where id = 5 for update", &["1|SIMPLE|sbtest1|const|PRIMARY|PRIMARY|4|const|NULL"]),
        (
            "select * from c where w = 1 and d = 2 and id = 3",
            &["1|SIMPLE|c|const|PRIMARY,name|PRIMARY|12|const,const,const|NULL"],
        ),
        (
            "select id from c where w = 1 and d = 2 and last = 'L3' order by first",
            &["1|SIMPLE|c|ref|PRIMARY,name|name|75|const,const,const|Using index"],
        ),
        (
            "select max(id) from o where w = 1 and d = 2",
            &["1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|Select tables optimized away"],
        ),
        (
            "select id from o where w = 1 and d = 2 and c_id = 5 order by id desc limit 1",
            &["1|SIMPLE|o|ref|PRIMARY,oc|oc|13|const,const,const|Backward index scan; Using index"],
        ),
        (
            "select * from o where w = 1 and d = 2 and id > 90",
            &["1|SIMPLE|o|range|PRIMARY,oc|PRIMARY|12|NULL|Using where"],
        ),
        (
            "select * from o where w = 1 and d in (1, 2) and id = 5",
            &["1|SIMPLE|o|range|PRIMARY,oc|PRIMARY|12|NULL|Using where"],
        ),
    ] {
        assert_eq!(explained(&mut session, query), expected, "{query}");
    }
}

#[test]
fn joins_and_queries_inside() {
    let (_server, mut session) = with_tables();
    for (query, expected) in [
        (
            "select * from d join sbtest1 s on s.id = d.x",
            &["1|SIMPLE|d|ALL|NULL|NULL|NULL|NULL|NULL", "1|SIMPLE|s|eq_ref|PRIMARY|PRIMARY|4|test.d.x|NULL"][..],
        ),
        (
            "select * from d join sbtest1 s on s.k = d.x where d.id = 1",
            &["1|SIMPLE|d|ALL|NULL|NULL|NULL|NULL|Using where", "1|SIMPLE|s|ref|k_1|k_1|4|test.d.x|NULL"],
        ),
        (
            "select * from d d1 join d d2 on d1.x = d2.x",
            &[
                "1|SIMPLE|d1|ALL|NULL|NULL|NULL|NULL|NULL",
                "1|SIMPLE|d2|ALL|NULL|NULL|NULL|NULL|Using where; Using join buffer (hash join)",
            ],
        ),
        (
            "select * from d left join sbtest1 s on s.id = d.x",
            &["1|SIMPLE|d|ALL|NULL|NULL|NULL|NULL|NULL", "1|SIMPLE|s|eq_ref|PRIMARY|PRIMARY|4|test.d.x|NULL"],
        ),
        (
            "select c.id, o.id from c join o on o.w = c.w and o.d = c.d and o.c_id = c.id where c.w = 1 and c.d = 1
             and c.last = 'L1'",
            &[
                "1|SIMPLE|c|ref|PRIMARY,name|name|75|const,const,const|Using index",
                "1|SIMPLE|o|ref|PRIMARY,oc|oc|13|test.c.w,test.c.d,test.c.id|Using index",
            ],
        ),
        (
            "select * from d where x = (select max(x) from d)",
            &["1|PRIMARY|d|ALL|NULL|NULL|NULL|NULL|Using where", "2|SUBQUERY|d|ALL|NULL|NULL|NULL|NULL|NULL"],
        ),
        (
            "select (select count(*) from sbtest1 where k = d.x) from d",
            &[
                "1|PRIMARY|d|ALL|NULL|NULL|NULL|NULL|NULL",
                "2|DEPENDENT SUBQUERY|sbtest1|ref|k_1|k_1|4|test.d.x|Using index",
            ],
        ),
        (
            "select id from d union select x from d",
            &[
                "1|PRIMARY|d|ALL|NULL|NULL|NULL|NULL|NULL",
                "2|UNION|d|ALL|NULL|NULL|NULL|NULL|NULL",
                "3|UNION RESULT|<union1,2>|ALL|NULL|NULL|NULL|NULL|Using temporary",
            ],
        ),
        ("insert into d values (1, 2, 3)", &["1|INSERT|d|ALL|NULL|NULL|NULL|NULL|NULL"]),
        (
            "insert into d select id, k, pad from sbtest1 where id < 3",
            &["1|INSERT|d|ALL|NULL|NULL|NULL|NULL|NULL", "1|SIMPLE|sbtest1|range|PRIMARY|PRIMARY|4|NULL|Using where"],
        ),
        ("replace into d values (1, 2, 3)", &["1|REPLACE|d|ALL|NULL|NULL|NULL|NULL|NULL"]),
        ("update sbtest1 set c = 'x' where id = 5", &["1|UPDATE|sbtest1|range|PRIMARY|PRIMARY|4|const|Using where"]),
        ("update sbtest1 set c = 'x' where k = 5", &["1|UPDATE|sbtest1|range|k_1|k_1|4|const|Using where"]),
        ("update d set x = 1", &["1|UPDATE|d|ALL|NULL|NULL|NULL|NULL|NULL"]),
        ("update d set x = 1 order by id limit 1", &["1|UPDATE|d|ALL|NULL|NULL|NULL|NULL|Using filesort"]),
        ("delete from sbtest1 where k = 3", &["1|DELETE|sbtest1|range|k_1|k_1|4|const|Using where"]),
        ("delete from d", &["1|DELETE|d|ALL|NULL|NULL|NULL|NULL|Deleting all rows"]),
        ("delete from d where x = 1", &["1|DELETE|d|ALL|NULL|NULL|NULL|NULL|Using where"]),
    ] {
        assert_eq!(explained(&mut session, query), expected, "{query}");
    }
    is(&mut session, "select count(*) from d", "[count(*)]; 3");
}

/// Who wants the first rows in the order of an index reads no others.
#[test]
fn the_first_rows_in_order() {
    let server = Server::new();
    let s = &mut server.session();
    let columns = "id int primary key auto_increment, state int not null, prio int not null, body varchar(20)";
    is(s, &format!("create table jobs ({columns}, key sp (state, prio))"), "ok 0");
    let rows: Vec<String> = (1..=900).map(|i| format!("({}, {}, 'b{}')", i % 2, i * 7 % 100, i % 10)).collect();
    is(s, &format!("insert into jobs (state, prio, body) values {}", rows.join(",")), "ok 900");
    for (query, expected) in [
        (
            "select * from jobs where state = 0 order by prio limit 1 for update skip locked",
            "1|SIMPLE|jobs|ref|sp|sp|4|const|NULL",
        ),
        ("select id from jobs where state = 0 order by prio limit 1", "1|SIMPLE|jobs|ref|sp|sp|4|const|Using index"),
        ("delete from jobs where state = 0 order by prio limit 1", "1|DELETE|jobs|range|sp|sp|4|const|Using where"),
        // For MySQL also "Using temporary": it keeps the rows of every ordered UPDATE first.
        (
            "update jobs set body = 'x' where state = 0 order by prio limit 1",
            "1|UPDATE|jobs|range|sp|sp|4|const|Using where",
        ),
        (
            "update jobs set state = 1 where state = 0 order by prio limit 1",
            "1|UPDATE|jobs|range|sp|sp|4|const|Using where",
        ),
        ("delete from jobs order by id limit 10", "1|DELETE|jobs|index|NULL|PRIMARY|4|NULL|NULL"),
        ("delete from jobs limit 5", "1|DELETE|jobs|ALL|NULL|NULL|NULL|NULL|NULL"),
        ("delete from jobs order by body limit 5", "1|DELETE|jobs|ALL|NULL|NULL|NULL|NULL|Using filesort"),
        (
            "select * from jobs where state = 0 order by prio desc, id desc limit 2",
            "1|SIMPLE|jobs|ref|sp|sp|4|const|Backward index scan",
        ),
        (
            "select * from jobs where state = 0 order by prio, id desc limit 2",
            "1|SIMPLE|jobs|ref|sp|sp|4|const|Using filesort",
        ),
        (
            "select * from jobs where state = 0 and body = 'b3' order by prio limit 3",
            "1|SIMPLE|jobs|ref|sp|sp|4|const|Using where",
        ),
        // Entries with the same values are in the order of the primary key.
        (
            "select * from jobs where state = 1 and prio = 5 order by id desc limit 2",
            "1|SIMPLE|jobs|ref|sp|sp|8|const,const|Backward index scan",
        ),
        (
            "select * from jobs where prio > 5 order by id limit 5",
            "1|SIMPLE|jobs|index|NULL|PRIMARY|4|NULL|Using where",
        ),
    ] {
        assert_eq!(explained(s, query), [expected], "{query}");
    }
    for (query, expected) in [
        ("select state, count(*) from jobs group by state", "1|SIMPLE|jobs|index|sp|sp|8|NULL|Using index"),
        (
            "select state, max(body) from jobs group by state order by state desc limit 1",
            "1|SIMPLE|jobs|index|sp|sp|8|NULL|Backward index scan",
        ),
        (
            "select prio, count(*) from jobs where state = 1 group by prio order by prio",
            "1|SIMPLE|jobs|ref|sp|sp|4|const|Using index",
        ),
    ] {
        // (MySQL counts an index that groups among the possible ones.)
        assert_eq!(explained(s, query), [expected.replace("index|sp|sp", "index|NULL|sp")], "{query}");
    }
    is(s, "create table owners (id int primary key, name varchar(20))", "ok 0");
    is(s, "insert into owners values (1, 'a'), (2, 'b'), (5, 'c'), (9, 'd')", "ok 4");
    for (query, first) in [
        (
            "select j.id, o.name from jobs j join owners o on o.id = j.prio order by j.id desc limit 3",
            "1|SIMPLE|j|index|NULL|PRIMARY|4|NULL|Backward index scan",
        ),
        (
            "select j.id, o.name from jobs j left join owners o on o.id = j.prio order by j.id limit 3",
            "1|SIMPLE|j|index|NULL|PRIMARY|4|NULL|NULL",
        ),
    ] {
        let second = "1|SIMPLE|o|eq_ref|PRIMARY|PRIMARY|4|test.j.prio|NULL";
        assert_eq!(explained(s, query), [first, second], "{query}");
    }
}

/// A tree without what it costs.
fn tree(session: &mut Session, query: &str) -> String {
    let lines = run(session, query);
    assert_eq!(lines[0], "[EXPLAIN]", "{lines:?}");
    let operation = |line: &str| line.split("  (cost=").next().unwrap_or_default().trim_end().to_owned();
    lines[1].lines().map(operation).collect::<Vec<_>>().join("\n")
}

#[test]
fn rows_of_several_indexes_and_groups_of_which_little_is_wanted() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(
        s,
        "create table t (id int primary key, a int not null, b int, c int not null, d int not null, s varchar(20), \
         key ka (a), key kb (b), key kcd (c, d), key ks (s)); set cte_max_recursion_depth = 10000; \
         insert into t with recursive n (i) as (select 0 union all select i + 1 from n where i < 7999) select i, i * 7 % 2003, \
         if(i % 11 = 0, null, i * 5 % 1999), i % 10, i * 3 % 997, concat('s', i % 6) from n",
        "ok 0; ok 0; ok 8000",
    );
    // As MySQL 9.7 has it.
    for (query, expected) in [
        ("select * from t where a = 5 or b = 7", "index_merge|ka,kb|ka,kb|4,5|NULL|Using union(ka,kb); Using where"),
        (
            "select * from t where a = 5 or b < 7",
            "index_merge|ka,kb|ka,kb|4,5|NULL|Using sort_union(ka,kb); Using where",
        ),
        ("select id from t where a = 5 or b = 7", "index_merge|ka,kb|ka,kb|4,5|NULL|Using union(ka,kb); Using where"),
        (
            "select * from t where a in (5, 6) or b = 7",
            "index_merge|ka,kb|ka,kb|4,5|NULL|Using sort_union(ka,kb); Using where",
        ),
        (
            "select * from t where id < 3 or a = 5",
            "index_merge|PRIMARY,ka|PRIMARY,ka|4,4|NULL|Using union(PRIMARY,ka); Using where",
        ),
        (
            "select * from t where c = 5 and (a = 5 or b = 7)",
            "index_merge|ka,kb,kcd|ka,kb|4,5|NULL|Using union(ka,kb); Using where",
        ),
        (
            "select * from t where (a = 5 and c = 3) or (b = 7 and d = 3) or s = 'x9'",
            "index_merge|ka,kb,kcd,ks|ka,kb,ks|4,5,83|NULL|Using union(ka,kb,ks); Using where",
        ),
        (
            "select * from t where a = 5 or (c = 3 and d < 4)",
            "index_merge|ka,kcd|ka,kcd|4,8|NULL|Using sort_union(ka,kcd); Using where",
        ),
        (
            "select * from t where a = 5 or b = 7 order by id limit 5",
            "index_merge|ka,kb|ka,kb|4,5|NULL|Using union(ka,kb); Using where; Using filesort",
        ),
        ("select * from t where a = 5 or b = 7 or pow(c, 2) = 4", "ALL|ka,kb|NULL|NULL|NULL|Using where"),
        ("select distinct c from t", "range|kcd|kcd|4|NULL|Using index for group-by"),
        ("select c from t group by c", "range|kcd|kcd|4|NULL|Using index for group-by"),
        ("select c, min(d), max(d) from t group by c order by c", "range|kcd|kcd|4|NULL|Using index for group-by"),
        ("select c, max(d) from t group by c having max(d) > 3", "range|kcd|kcd|4|NULL|Using index for group-by"),
        ("select count(distinct c) from t", "range|kcd|kcd|4|NULL|Using index for group-by"),
        ("select distinct s from t order by s", "range|ks|ks|83|NULL|Using index for group-by"),
        ("select distinct s from t where s > 's3'", "range|ks|ks|83|NULL|Using where; Using index for group-by"),
        ("select max(d) from t where c > 3 group by c", "range|kcd|kcd|4|NULL|Using where; Using index for group-by"),
        (
            "select max(d), c from t where c in (3, 4) group by c",
            "range|kcd|kcd|4|NULL|Using where; Using index for group-by",
        ),
        ("select * from t use index (kb) where a = 5 and b = 7", "ref|kb|kb|5|const|Using where"),
        ("select * from t use index () where a = 5 and b = 7", "ALL|NULL|NULL|NULL|NULL|Using where"),
        ("select * from t force index (kcd) where a = 5 and c = 3", "ref|kcd|kcd|4|const|Using where"),
        ("select * from t force index (ka) order by a", "index|NULL|ka|4|NULL|NULL"),
        ("select * from t ignore index for order by (ka) order by a limit 5", "ALL|NULL|NULL|NULL|NULL|Using filesort"),
        ("select * from t where id in (3, 7, 900) order by id", "range|PRIMARY|PRIMARY|4|NULL|Using where"),
        (
            "select * from t where id in (3, 7, 900) order by id desc limit 2",
            "range|PRIMARY|PRIMARY|4|NULL|Using where; Backward index scan",
        ),
    ] {
        assert_eq!(explained(s, query), [format!("1|SIMPLE|t|{expected}")], "{query}");
    }
    for query in [
        "select min(c), max(c) from t",
        "select min(d), max(d) from t where c = 3",
        "select min(b), max(b) from t",
        "select min(b), max(b) from t where b > 3",
        "select min(id), max(id) from t where id < 500",
    ] {
        let expected = "1|SIMPLE|NULL|NULL|NULL|NULL|NULL|NULL|Select tables optimized away";
        assert_eq!(explained(s, query), [expected], "{query}");
    }
    let change = |verb: &str| format!("1|{verb}|t|index_merge|ka,kb|ka,kb|4,5|NULL|Using union(ka,kb); Using where");
    assert_eq!(explained(s, "update t set d = 1 where a = 5 or b = 7"), [change("UPDATE")]);
    assert_eq!(explained(s, "delete from t where a = 5 or b = 7"), [change("DELETE")]);
    for (query, expected) in [
        (
            "select * from t where a = 5 or b = 7",
            "-> Filter: ((t.a = 5) or (t.b = 7))\n    -> Deduplicate rows sorted by row ID\n        \
             -> Index range scan on t using ka over (a = 5)\n        -> Index range scan on t using kb over (b = 7)",
        ),
        (
            "select count(distinct c) from t",
            "-> Aggregate: count(distinct t.c)\n    -> Covering index skip scan for deduplication on t using kcd",
        ),
        (
            "select distinct s from t where s > 's3'",
            "-> Filter: (t.s > 's3')\n    -> Covering index skip scan for deduplication on t using ks over ('s3' < s)",
        ),
        // MySQL's scan makes the groups itself.
        (
            "select c, max(d) from t group by c",
            "-> Group aggregate: max(t.d)\n    -> Covering index skip scan for grouping on t using kcd",
        ),
    ] {
        assert_eq!(tree(s, &format!("explain format=tree {query}")), expected, "{query}");
    }
}

/// Customers, their orders, items of those.
fn with_orders() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    is(
        &mut session,
        "create table c (id int primary key, city int not null, name varchar(9) not null, key (city)); \
         create table o (id int primary key, c_id int not null, total int not null, key (c_id)); \
         create table i (id int primary key, o_id int not null, price int not null, key (o_id)); \
         set cte_max_recursion_depth = 10000; \
         insert into i with recursive n (i) as (select 0 union all select i + 1 from n where i < 7999) \
         select i, i * 7 % 4000, i * 5 % 1999 from n; insert into o select id, id % 500, price from i where id < 4000; \
         insert into c select id, id % 50, id from i where id < 500",
        "ok 0; ok 0; ok 0; ok 0; ok 8000; ok 4000; ok 500",
    );
    (server, session)
}

#[test]
fn where_joins_begin() {
    let (_server, mut session) = with_orders();
    let s = &mut session;
    let order = |s: &mut Session, query: &str| -> Vec<String> {
        explained(s, query).iter().map(|row| row.split('|').nth(2).unwrap_or_default().to_owned()).collect()
    };
    // As MySQL 9.7 has it.
    for (query, expected) in [
        // Rows without a customer are not wanted: they may come first.
        ("select * from o left join c on c.id = o.c_id where c.city = 7", ["c", "o"]),
        ("select * from o left join c on c.id = o.c_id where c.city = 7 or c.name > 'x'", ["c", "o"]),
        ("select * from o left join c on c.id = o.c_id where c.city = 7 or o.total = 5", ["o", "c"]),
        ("select * from o left join c on c.id = o.c_id where c.city is null", ["o", "c"]),
        ("select * from o left join c on c.id = o.c_id and c.city = 7", ["o", "c"]),
        // What a condition without an index leaves decides.
        ("select distinct o.c_id from o join i on i.o_id = o.id where i.price > 1900", ["i", "o"]),
        ("select distinct c.city from c join o on o.c_id = c.id where o.total = 1900", ["o", "c"]),
    ] {
        assert_eq!(order(s, query), expected, "{query}");
    }
}

/// Of an index's first columns, of which nothing is said, each value is gone to, if they are few; as MySQL 9.7 has it, but for the rows.
#[test]
fn the_first_columns_of_an_index_are_skipped() {
    let server = Server::new();
    let s = &mut server.session();
    is(s, "create table t (id int primary key, a int not null, b int not null, c int not null, key ab (a, b))", "ok 0");
    let rows: Vec<String> = (0..4000).map(|id| format!("({id}, {}, {}, {id})", id % 4, id % 997)).collect();
    is(s, &format!("insert into t values {}", rows.join(",")), "ok 4000");
    let skips = "1|SIMPLE|t|range|ab|ab|8|NULL|Using where; Using index for skip scan";
    for (query, expected) in [
        ("select a, b from t where b = 7", skips),
        ("select count(*) from t where b > 990", skips),
        ("select a, b, id from t where b between 3 and 5", skips),
        ("select a, b from t where b < 2 order by a, b", skips),
        // Not all that is asked for is in the index; or its first columns are too many; or rows are locked.
        ("select * from t where b = 7", "1|SIMPLE|t|ALL|NULL|NULL|NULL|NULL|Using where"),
        ("select id, c from t where c = 7", "1|SIMPLE|t|ALL|NULL|NULL|NULL|NULL|Using where"),
        ("select a, b from t where b = 7 for update", "1|SIMPLE|t|ALL|NULL|NULL|NULL|NULL|Using where"),
        ("select a, b from t where a = 1 and b = 7", "1|SIMPLE|t|ref|ab|ab|8|const,const|Using index"),
    ] {
        assert_eq!(explained(s, query), [expected], "{query}");
    }
    assert_eq!(
        tree(s, "explain format=tree select a from t where b > 990"),
        "-> Filter: (t.b > 990)\n    -> Covering index skip scan on t using ab over (990 < b)"
    );
    is(s, "alter table t add key cb (c, b), drop key ab", "ok 0");
    assert_eq!(explained(s, "select c from t where b = 7"), ["1|SIMPLE|t|index|cb|cb|8|NULL|Using where; Using index"]);
}

/// Where no index joins two tables the rows of the smaller one are kept, and found for those of the larger one; unless the order of
/// the smaller one is wanted, or STRAIGHT_JOIN says otherwise.
#[test]
fn the_smaller_table_is_kept() {
    let (_server, mut session) = with_orders();
    let s = &mut session;
    for (query, expected) in [
        ("select * from i join o on o.total = i.price", ["i", "o"].as_slice()),
        ("select * from o join i on o.total = i.price", &["i", "o"]),
        // 1,000 of one, of the other 360 (nothing but rows tells), or 3,600.
        ("select * from o, i where o.total = i.price and i.price < 90 and o.id < 1000", &["o", "i"]),
        ("select * from o, i where o.total = i.price and i.price < 900 and o.id < 1000", &["i", "o"]),
        ("select * from i join c on c.name = i.price limit 5", &["i", "c"]),
        ("select * from o join i on o.total = i.price where i.id < 100", &["o", "i"]),
        ("select straight_join * from o join i on o.total = i.price", &["o", "i"]),
        ("select * from o join i on o.total = i.price order by o.total limit 5", &["o", "i"]),
        ("select * from o left join i on o.total = i.price", &["o", "i"]),
    ] {
        let explained = explained(s, query);
        let order: Vec<&str> = explained.iter().map(|row| row.split('|').nth(2).unwrap_or_default()).collect();
        assert_eq!(order, expected, "{query}");
        let is_kept = |row: &String| row.ends_with("Using join buffer (hash join)");
        assert!(is_kept(&explained[1]) && !is_kept(&explained[0]), "{query}");
    }
    is(
        s,
        "select count(*), sum(o.id), sum(i.id) from o join i on o.total = i.price",
        "[count(*)|sum(o.id)|sum(i.id)]; 16010|32008005|64031985",
    );
}

#[test]
fn where_joins_are_sorted() {
    let (_server, mut session) = with_orders();
    let s = &mut session;
    let sorts = |s: &mut Session, query: &str| -> (String, String) {
        let first = explained(s, query).swap_remove(0);
        let columns: Vec<&str> = first.split('|').collect();
        (columns[2].to_owned(), columns.last().copied().unwrap_or_default().to_owned())
    };
    let (early, late) = ("Using filesort", "Using temporary; Using filesort");
    // As MySQL 9.7 has it, but where noted.
    for (query, table, extra) in [
        ("select * from o left join c on c.id = o.c_id order by o.total desc limit 5", "o", early),
        ("select * from o left join c on c.id = o.c_id order by o.total + 1 limit 5", "o", early),
        ("select * from o left join c on c.id = o.c_id order by o.total", "o", early),
        ("select * from o join c on c.id = o.c_id order by o.total limit 5", "o", early),
        ("select * from c join o on o.c_id = c.id order by c.name limit 5", "c", early),
        ("select straight_join * from o join c on c.id = o.c_id order by o.total, c.name limit 5", "o", late),
        ("select * from o left join c on c.id = o.c_id order by c.name limit 5", "o", late),
        // (MySQL sorts the first table there, too.)
        ("select * from o join c on c.id = o.c_id where rand() < 0.5 order by o.total limit 5", "o", late),
        (
            "select straight_join * from o join (select id, rand() as r from c group by id) c on c.id = o.c_id order by o.total limit 5",
            "o",
            late,
        ),
        ("select * from c join o on o.c_id = c.id where c.city = 7 order by c.name", "c", late),
        (
            "select * from o where not exists (select 1 from c where c.id = o.c_id) order by o.total limit 5",
            "o",
            "Using where; Using filesort",
        ),
    ] {
        assert_eq!(sorts(s, query), (table.to_owned(), extra.to_owned()), "{query}");
    }
}

#[test]
fn trees() {
    let (_server, mut session) = with_tables();
    for (query, expected) in [
        (
            "select c from sbtest1 where id between 10 and 20 order by c",
            "-> Sort: sbtest1.c\n    -> Filter: (sbtest1.id between 10 and 20)\n        \
             -> Index range scan on sbtest1 using PRIMARY over (10 <= id AND id <= 20)",
        ),
        (
            "select id from sbtest1 where id not in (select x from d where x is not null) and k > 3 order by pad limit 5",
            "-> Limit: 5 row(s)\n    -> Filter: (sbtest1.id not in (select ...))\n        -> Sort: sbtest1.pad\n            \
             -> Filter: (sbtest1.k > 3)\n                -> Index range scan on sbtest1 using k_1 over (3 < k)\n        \
             -> Select #2 (subquery in condition; run only once)\n            -> Filter: (d.x is not null)\n                \
             -> Table scan on d",
        ),
        ("select * from sbtest1 where k = 5", "-> Index lookup on sbtest1 using k_1 (k = 5)"),
        ("select id from sbtest1 where k = 5", "-> Covering index lookup on sbtest1 using k_1 (k = 5)"),
        (
            "select * from sbtest1 order by k desc limit 5",
            "-> Limit: 5 row(s)\n    -> Index scan on sbtest1 using k_1 (reverse)",
        ),
        (
            "select * from d left join d e on e.x = d.x where e.id is null",
            "-> Filter: (e.id is null)\n    -> Left hash join (e.x = d.x)\n        -> Table scan on d\n        -> Hash\n            \
             -> Table scan on e",
        ),
        (
            "select * from d join sbtest1 s on s.id = d.x",
            "-> Nested loop inner join\n    -> Table scan on d\n    \
             -> Single-row index lookup on s using PRIMARY (id = d.x)",
        ),
        ("select 1 where 0", "-> Zero rows (Impossible WHERE)"),
        ("update d set x = 1", "-> <not executable by iterator executor>"),
    ] {
        let expected = expected.replace("(10 <= id AND id <= 20)", "(10 <= id <= 20)");
        assert_eq!(tree(&mut session, &format!("explain {query}")), expected, "{query}");
    }
    let analyzed =
        run(&mut session, "explain analyze select * from d join sbtest1 s on s.k = d.x where d.id > 1 limit 3");
    assert!(analyzed[1].contains("rows=3 loops=1)"), "{analyzed:?}");
    assert!(analyzed[1].contains("-> Index lookup on s using k_1 (k = d.x)"), "{analyzed:?}");
    let json =
        run(&mut session, "explain format=json select c from sbtest1 where k between 1 and 3 order by c limit 4");
    for part in [
        "\"query_plan\": {",
        "\"operation\": \"Index range scan on sbtest1 using k_1 over (1 <= k <= 3)\"",
        "\"index_name\": \"k_1\"",
        "\"schema_name\": \"test\"",
        "\"json_schema_version\": \"2.0\"",
    ] {
        assert!(json[1].contains(part), "{part}: {}", json[1]);
    }
}

#[test]
fn what_else_is_said() {
    let (_server, mut session) = with_tables();
    all(
        &mut session,
        &[
            ("explain format=nope select 1", "1791 Unknown EXPLAIN format name: 'nope'"),
            ("explain select * from nope", "1146 Table 'test.nope' doesn't exist"),
            ("explain for connection 9999999", "1094 Unknown thread id: 9999999"),
            (
                "explain analyze format=traditional select 1",
                "1235 This version of MySQL doesn't yet support 'EXPLAIN ANALYZE with TRADITIONAL format'",
            ),
            ("explain format=tree into @x select 1", "6007 EXPLAIN INTO does not support FORMAT=TREE."),
            ("explain format=json into @x select 1", "ok 0"),
            ("select @x like '%\"query_plan\"%'", "[@x like '%\"query_plan\"%']; 1"),
        ],
    );
    run(&mut session, "explain format=traditional select x from d where id > 1 order by y limit 2");
    is(
        &mut session,
        "show warnings",
        "[Level|Code|Message]; Note|1003|/* select#1 */ select `test`.`d`.`x` AS `x` from `test`.`d` where \
         (`test`.`d`.`id` > 1) order by `test`.`d`.`y` limit 2",
    );
    for (from, text) in [
        (
            "d a left join d b on b.id = a.x and b.y > 2",
            "`test`.`d` `a` left join `test`.`d` `b` on(((`test`.`b`.`id` = `test`.`a`.`x`) and (`test`.`b`.`y` > 2))) \
             where true",
        ),
        (
            "d a left join (d b join d c on c.id = b.x) on b.id = a.x where a.id < 5",
            "`test`.`d` `a` left join (`test`.`d` `b` join `test`.`d` `c`) on(((`test`.`b`.`id` = `test`.`a`.`x`) and \
             (`test`.`c`.`id` = `test`.`b`.`x`))) where (`test`.`a`.`id` < 5)",
        ),
        (
            "d a where not exists (select 1 from d b where b.x = a.x and b.id > a.id)",
            "`test`.`d` `a` anti join (`test`.`d` `b`) on(((`test`.`b`.`x` = `test`.`a`.`x`) and (`test`.`b`.`id` > \
             `test`.`a`.`id`))) where true",
        ),
        (
            "d a where exists (select 1 from d b where b.x = a.x and b.id > a.id)",
            "`test`.`d` `a` semi join (`test`.`d` `b`) where ((`test`.`b`.`x` = `test`.`a`.`x`) and (`test`.`b`.`id` > \
             `test`.`a`.`id`))",
        ),
    ] {
        run(&mut session, &format!("explain format=traditional select a.x from {from}"));
        let note = format!("[Level|Code|Message]; Note|1003|/* select#1 */ select `test`.`a`.`x` AS `x` from {text}");
        is(&mut session, "show warnings", &note);
    }
    is(&mut session, "set explain_format = 'traditional'", "ok 0");
    assert!(run(&mut session, "explain select 1")[0].starts_with("[id|select_type"));
}

/// The lines of a query's tree, without what they cost.
fn operations(session: &mut Session, query: &str) -> Vec<String> {
    let rows = run(session, &format!("explain format=tree {query}"));
    rows[1].lines().map(|line| line.split("  (").next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn rows_that_are_kept_are_asked_what_a_query_says_before() {
    let server = Server::new();
    let mut session = server.session();
    is(&mut session, "create table l (id int primary key, x int, y int)", "ok 0");
    let query = "select * from l a straight_join l b on b.x = a.x where b.y in (select c.y from l c where c.x = 3)";
    let lines = operations(&mut session, query);
    assert_eq!(
        lines[..5],
        [
            "-> Inner hash join (b.x = a.x)",
            "    -> Table scan on a",
            "    -> Hash",
            "        -> Filter: (b.y in (select ...))",
            "            -> Table scan on b",
        ]
    );
}

#[test]
fn what_is_looked_for_once_is_told() {
    let server = Server::new();
    let mut session = server.session();
    let table = "(id int primary key, x int, y int, key (x))";
    is(&mut session, &format!("create table l {table}; create table r {table}"), "ok 0; ok 0");
    let query = "select distinct l.id, l.y from l straight_join r on r.x = l.id where r.y > 3";
    let rows = run(&mut session, &format!("explain format=traditional {query}"));
    assert!(rows[1].ends_with("Using temporary"), "{rows:?}");
    assert!(rows[2].ends_with("Using where; Distinct"), "{rows:?}");
    is(
        &mut session,
        "show warnings",
        "[Level|Code|Message]; Note|1003|/* select#1 */ select distinct `test`.`l`.`id` AS `id`,`test`.`l`.`y` AS `y` from \
         `test`.`l` join `test`.`r` where ((`test`.`r`.`y` > 3) and (`test`.`r`.`x` = `test`.`l`.`id`))",
    );
    assert_eq!(
        operations(&mut session, query),
        [
            "-> Table scan on <temporary>",
            "    -> Temporary table with deduplication",
            "        -> Nested loop inner join",
            "            -> Table scan on l",
            "            -> Limit: 1 row(s)",
            "                -> Filter: (r.y > 3)",
            "                    -> Index lookup on r using x (x = l.id)",
        ]
    );
    // The row of NULLs, too, belongs to what is looked for.
    let query = "select distinct l.id, l.y from l left join r on r.x = l.id where l.y = 1 or r.y = 2";
    let rows = run(&mut session, &format!("explain format=tree {query}"));
    assert!(rows[1].contains("Nested loop left join") && rows[1].contains("-> Row before"), "{rows:?}");
    run(&mut session, &format!("explain format=traditional {query}"));
    is(
        &mut session,
        "show warnings",
        "[Level|Code|Message]; Note|1003|/* select#1 */ select distinct `test`.`l`.`id` AS `id`,`test`.`l`.`y` AS `y` from \
         `test`.`l` left join `test`.`r` on((`test`.`r`.`x` = `test`.`l`.`id`)) where ((`test`.`l`.`y` = 1) or \
         (`test`.`r`.`y` = 2))",
    );
}
