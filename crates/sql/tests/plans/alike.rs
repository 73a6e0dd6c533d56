//! Plans yield what a plain evaluation yields: queries that use an index, a hash or an index's end, beside the same queries written so that
//! nothing of that can be used.

use crate::support::{Server, is, run};
use crate::tables::{rows, with_tables};

/// The same condition, so that it has to be evaluated for each pair of rows.
fn plainly(query: &str) -> String {
    let Some((head, on)) = query.split_once(" on ") else { return query.to_owned() };
    if on.contains(" on ") || on.contains("select") {
        return query.to_owned();
    }
    let (on, rest) = on.split_once(" where ").map_or((on, String::new()), |(on, rest)| (on, format!(" where {rest}")));
    format!("{head} on case when {on} then 1 else 0 end = 1{rest}")
}

#[test]
fn plans_yield_what_plain_evaluation_yields() {
    let (_server, mut session) = with_tables();
    // T and U: with indexes, and then without. `+0` and `concat` keep what can be used from being seen.
    for query in [
        "select t.id, u.id from T t join U u on t.a = u.b",
        "select t.id, u.id from T t join U u on t.a = u.b and t.c = u.c",
        "select t.id, u.id from T t join U u on t.c = u.c where t.b > u.b",
        "select t.id, u.id from T t left join U u on t.a = u.a and u.b > 4",
        "select t.id, u.id from T t left join U u on t.d = u.d where u.id is null",
        "select t.id, u.id from T t right join U u on t.e = u.e and t.a = 3",
        "select t.id, u.id from T t join U u on t.d = u.a",
        "select t.id, u.id from T t join U u on t.a = u.d where u.d > 3",
        "select t.id, v.n from T t join (select a, count(*) n from U group by a) v on v.a = t.a",
        "select t.id, v.n from T t left join (select a, count(*) n from U group by a) v on v.a = t.b",
        "select x.id, y.id, z.id from T x join U y on x.a = y.a join T z on z.b = y.b and z.c = x.c",
        "select x.id, y.id from T x, U y where x.a = y.a and x.b = 3 and y.b in (1, 2, 3)",
        "select x.id, y.id from T x join U y on y.d = (select max(z.a) from T z where z.b = x.b)",
        "select x.id, y.id from U x join T y on y.a = (select max(z.a) from U z where z.b = x.b) and y.b = x.b",
        "select x.id, y.id from U x join T y on y.a = x.b + (select min(z.a) from U z where z.b = x.b)",
        "select x.id, y.id from U x left join T y on y.id = (select z.id from T z where z.a = x.a order by z.id desc limit 1)",
        "select x.id, y.id from U x join T y on y.a < (select min(z.a) from U z where z.b = x.b and z.a > 3)",
        "select x.id, y.id from U x join T y on y.a between x.b and (select min(z.a) from U z where z.b = x.b and z.a > 3)",
        "select x.id, y.id from U x join T y on y.a in (x.a, (select max(z.a) from U z where z.b = x.b)) where x.id < 50",
        "select x.id, y.id from U x join T y on y.id = x.a or y.a = (select max(z.a) from U z where z.b = x.b) where x.id < 50",
        "select x.id, y.id from U x join T y on y.b = 4 and y.c = (select max(z.c) from U z where z.b = x.b) where x.id < 50",
        "select x.id, y.id from U x join T y on y.a = (select max(z.a) from U z where z.b = y.b) where x.id < 50",
        "select x.id, y.id from U x join T y on y.a = (select max(z.a) from U z where z.b = x.b and z.id > y.id) where x.id < 50",
        "select x.id, z.id from U x join T y on y.a = x.a join T z on z.a = (select max(w.a) from U w where w.b = y.b) where x.id < 60",
        "select id from T where exists (select 1 from U y join T z on z.a = (select max(w.a) from U w where w.b = y.b and w.id <> T.id) where y.a = T.a and y.b = z.b)",
        "select x.id, (select count(*) from T y where y.a = (select max(w.a) from U w where w.b = x.b)) from U x",
        "select x.id, (select count(*) from T y where y.a = (select max(w.a) from U w where w.b = x.b + y.b)) from U x where x.id < 50",
        "select x.id, y.id from T x straight_join U y on y.id = x.id div 7",
        "select x.id, y.id from T x straight_join U y on y.id = x.id div 7 and y.b > x.b",
        "select x.id, y.id from T x left join U y on y.id = x.id div 7 * 9",
        "select x.id, y.id, z.id from T x straight_join U y on y.id = x.id div 7 straight_join T z on z.id = y.a",
        "select x.id, y.id, z.id from T x left join U y on y.id = x.id div 7 * 9 left join T z on z.id = y.id and z.b = x.b",
        "select x.id, (select max(y.c) from U y where y.id = x.id div 7) from T x",
        "select id from U where id in (1, 2, 3, 5) and a in (select x.a from T x where exists (select 1 from U y where y.b > x.b))",
        "select id from U where id in (1, 2, 3, 5) and a not in (select x.a from T x where exists (select 1 from U y where y.b > x.b))",
        "select id from U where id < 9 and a in (select x.a from T x where x.d > (select min(y.d) from U y where y.b = x.b))",
        "select id from T where a in (select b from U)",
        "select id from T where a not in (select b from U)",
        "select id from T where a not in (select b from U where b is not null)",
        "select id from T where (a, c) in (select a, c from U)",
        "select id from T where (a, c) not in (select a, c from U)",
        "select id from T where c in (select c from U where id < 50)",
        "select id from T where d in (select a from U)",
        "select id from T where e in (select e from U where id < 9)",
        "select id, a in (select b from U where id < 40) from T",
        "select id, a in (select b from U where id < 0) from T",
        "select id from T where exists (select 1 from U where U.a = T.a and U.b = 3)",
        "select id, (select max(d) from U) from T",
        "select id from T where a = (select max(a) from U where b = 2)",
        "select id from T where a = 3 or a = 5 or a is null",
        "select id from T where a < 3 or a > 35",
        "select id from T where b = 4 and c in ('x1', 'y2', null)",
        "select id from T where (b = 4 and c = 'x1') or (b = 5 and c = 'Y2')",
        "select id from T where b = 4 and c > 'x'",
        "select id from T where a between 5 and 7 and b = 2",
        "select min(a) from T",
        "select max(a) from T",
        "select min(a) from T where a > 5",
        "select max(a) from T where a < 30 and b = 3",
        "select min(e) from T",
        "select max(e) from T where e < '2020-01-09'",
        "select max(c) from T where b = 4",
        "select min(c) from T where b = 4 and c > 'x'",
        "select min(a) from T where a > 1000",
        "select min(a), max(a), min(b), max(id) from T",
        "select max(e), min(e), min(c), max(c) from T",
        "select min(a), max(b) from T where 1 = 0",
        "select max(id), min(a) from T where a > 5",
        "select min(b), max(id) + 1, count(*) from T",
        "select id, (select max(a) + min(b) from U) from T where id < 5",
        "select count(*) from T",
        "select count(a) from T",
        "select b, c from T",
        "select distinct b from T",
        "select a, count(*), sum(d) from T group by a",
        "select id from T where b in (select a from U where id < 30) and c = 'x1'",
        "select id from T where b = 4 and c in (select c from U where id < 30)",
        "select id from T where id in (select a from U)",
        "select id from T where id in (select a from U where id > 1000)",
        "select id from T where id in (select c from U)",
        "select id from T where d in (select d from U where b = 3) and a < 20",
        "select id from T where e in (select e from U where b = 3 order by id limit 2)",
        "select id from T where a in (select U.a from U where U.b = T.b)",
        "select id from T where a = any (select b from U where id < 20)",
        "select id from T where a > (select min(b) from U) and a < (select max(b) from U)",
        "select id from T where id = (select max(a) from U)",
        "select id from T where id = (select a from U where id > 1000)",
        "select id from T where id in (select a from U union select b from U)",
        "select t.id, u.id from T t join U u on t.a = u.b where t.id in (select b from U)",
        "select t.id, u.id from T t left join U u on t.a = u.b where u.id in (select b from U)",
        "select id from T where a <=> 3",
        "select id from T where a <=> null and b > 3",
        "select id from T where b <=> 4 and c <=> 'x1'",
        "select id from T where b <=> null and c <=> null",
        "select id from T where id <=> 17",
        "select id from T where id <=> null",
        "select id from T where a <=> 3.5 or a <=> '4'",
        "select t.id, u.id from T t join U u on t.a <=> u.b",
        "select t.id, u.id from T t left join U u on t.a <=> u.a and u.id < 50",
        "select id, c from T where b = 4 and c like 'x%'",
        "select id, c from T where b = 4 and c like 'X1'",
        "select id, c from T where b = 4 and c like 'y_'",
        "select id, c from T where b = 4 and c like '%1'",
        "select id, c from T where b = 4 and c like concat('Y', '%')",
        "select id, c from T where b = 4 and c like null",
        "select id, c from T where b = 4 and c like ''",
        "select id, c from T where b = 4 and c not like 'x%'",
        "select id, c from T where b = 4 and (c like 'x%' or c like 'y2%')",
        "select id, c from T where b in (2, 4) and c like 'x%' and c > 'x1'",
        "select id, c from T where b = 4 and c like 'x%' and c = 'x2'",
    ] {
        let with = query.replace("T ", "t ").replace("U ", "u ").replace("T.", "t.").replace("U.", "u.");
        let with = with.replace("from U)", "from u)").replace("from T", "from t").replace("from U", "from u");
        let without = query.replace("T.", "tp.").replace("U.", "up.");
        let without = without.replace("from T t", "from tp t").replace("join U u", "join up u");
        let without = without.replace("from T", "from tp").replace("from U", "from up").replace(", U y", ", up y");
        let without = without.replace("join U", "join up").replace("join T", "join tp");
        let (one, other) = (rows(&mut session, &with), rows(&mut session, &without));
        assert_eq!(one, other, "{with}\n{without}");
        // Each of them plainly: no equality that a hash could use, no value that an index could.
        let plain = plainly(&without);
        assert_eq!(one, rows(&mut session, &plain), "{with}\n{plain}");
    }
}

#[test]
fn a_large_join_without_an_index_is_quick() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table p (id int primary key, x int); create table q (id int primary key, y int)", "ok 0; ok 0");
    for table in ["p", "q"] {
        for chunk in 0..5 {
            let rows: Vec<String> = (0..4000).map(|i| chunk * 4000 + i).map(|i| format!("({i}, {})", i * 7)).collect();
            is(s, &format!("insert into {table} values {}", rows.join(",")), "ok 4000");
        }
    }
    // Pair by pair these would be 400 million comparisons each.
    is(s, "select count(*) from p join q on p.x = q.y", "[count(*)]; 20000");
    is(s, "select count(*) from p left join q on p.x = q.id", "[count(*)]; 20000");
    is(s, "select count(*) from p where x in (select y from q)", "[count(*)]; 20000");
    // As many values as rows, and some.
    is(s, "select count(*) from p where id in (select id from q)", "[count(*)]; 20000");
    is(s, "select count(*) from p where id in (select id from q where id < 1500)", "[count(*)]; 1500");
    is(s, "select count(*) from p where x not in (select y from q where id > 10)", "[count(*)]; 11");
    is(s, "select count(*) from p join (select y, count(*) n from q group by y) d on d.y = p.x", "[count(*)]; 20000");
}

#[test]
fn members_of_enums_go_by_their_texts() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table m (id int primary key, e enum('z','a','m'), key e (e))", "ok 0");
    is(s, "insert into m values (1,'z'), (2,'a'), (3,'m'), (4,null)", "ok 4");
    is(s, "select min(e), max(e) from m", "[min(e)|max(e)]; a|z");
    is(s, "select min(e) from m", "[min(e)]; a");
    is(s, "select x.id, y.id from m x join m y on x.e = y.e order by x.id", "[id|id]; 1|1; 2|2; 3|3");
    is(
        s,
        "select x.id, y.e from m x, m y where concat(x.e, '') = concat(y.e, '') order by x.id",
        "[id|e]; 1|z; 2|a; 3|m",
    );
}

#[test]
fn all_and_any_go_by_the_least_and_the_greatest() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    let columns =
        "n int, u bigint unsigned, m decimal(8,2), f double, d date, e datetime, c varchar(9), g enum('z', 'a')";
    for (table, rows, nulls) in [("t", 40_u32, 7), ("q", 9, 100), ("r", 9, 4), ("o", 3, 1), ("x", 0, 1)] {
        is(s, &format!("create table {table} (id int primary key, {columns})"), "ok 0");
        for i in 0..rows {
            let row = format!(
                "{}, {}, {}.5, {}e-1, '2024-01-{:02}', '2024-01-{:02} 05:00', '{}{}', {}",
                i as i32 * 7 % 23 - 9,
                i * 5 % 21,
                i * 3 % 17,
                i * 11 % 190,
                1 + i * 13 % 28,
                1 + i * 9 % 28,
                ["a", "B", "\u{e4}"][i as usize % 3],
                i % 5,
                1 + i % 2
            );
            let is_null = (i + 1).is_multiple_of(nulls);
            let row = if is_null { "null, null, null, null, null, null, null, null".to_owned() } else { row };
            is(s, &format!("insert into {table} values ({i}, {row})"), "ok 1");
        }
    }
    for table in ["q", "r", "o", "x"] {
        for operator in ["<", "<=", ">", ">=", "=", "<>"] {
            for (left, right) in [
                ("n", "n"),
                ("n", "u"),
                ("u", "n"),
                ("n", "m"),
                ("m", "f"),
                ("f", "n"),
                ("d", "d"),
                ("d", "e"),
                ("e", "d"),
                ("c", "c"),
                ("c", "n"),
                ("n", "c"),
                ("g", "g"),
                ("g", "c"),
                ("'2024-01-09'", "e"),
                ("t.n", "n + 1"),
            ] {
                for quantifier in ["all", "any"] {
                    let query = |more: &str| {
                        let inside = format!("select {right} from {table} {more}");
                        format!("select id, {left} {operator} {quantifier} ({inside}) v from t order by id")
                    };
                    // The second is run for each row, which it names.
                    let (kept, plain) = (run(s, &query("")), run(s, &query("where t.id = t.id")));
                    assert_eq!(kept, plain, "{}", query(""));
                }
            }
        }
    }
}
