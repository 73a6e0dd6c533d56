//! Plans yield what a plain evaluation yields: queries that use an index, a hash or an index's end, beside the same queries
//! written so that nothing of that can be used.

mod support;

use std::collections::HashSet;
use std::fmt::Write as _;

use meseta_sql::session::Session;
use support::{Server, counter, is, run};

/// Two tables with NULLs and duplicates, one with indexes, and copies of both without.
fn with_tables() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    let columns = "a int, b int, c varchar(10), d decimal(8,2), e datetime";
    for (name, keys) in [("t", ", key a (a), key bc (b, c), key e (e)"), ("u", ", key d (d)"), ("tp", ""), ("up", "")] {
        is(&mut session, &format!("create table {name} (id int primary key, {columns}{keys})"), "ok 0");
    }
    let mut rows = [String::new(), String::new()];
    for i in 0..400_u32 {
        let number = |every: u32, value: u32| if i % every == 0 { "null".to_owned() } else { value.to_string() };
        for (which, rows) in rows.iter_mut().enumerate() {
            let j = i * 7 + which as u32 * 3;
            let comma = if i == 0 { "" } else { "," };
            let _ = write!(
                rows,
                "{comma}({i}, {}, {}, {}, {}.{:02}, {})",
                number(11, j % 40),
                number(13, j % 9),
                if i % 17 == 0 { "null".to_owned() } else { format!("'{}{}'", ["x", "X", "y"][j as usize % 3], j % 5) },
                j % 30,
                (j % 4) * 25,
                if i % 19 == 0 { "null".to_owned() } else { format!("'2020-01-{:02} 10:00:00'", 1 + j % 28) },
            );
        }
    }
    for (table, which) in [("t", 0), ("u", 1), ("tp", 0), ("up", 1)] {
        is(&mut session, &format!("insert into {table} values {}", rows[which]), "ok 400");
    }
    (server, session)
}

/// Rows without their order.
fn rows(session: &mut Session, query: &str) -> Vec<String> {
    let mut rows = run(session, query);
    assert!(rows[0].starts_with('['), "{query}: {rows:?}");
    rows.remove(0);
    rows.sort();
    rows
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

/// Makes tables of texts of each kind, of which an index has `c`, and returns their names.
fn with_texts(s: &mut Session) -> Vec<&'static str> {
    let words = [
        "", "a", "A", "ab", "\u{e4}b", "Abc", "abc ", "ab c", "a_c", "a%c", "a\\\\c", "ss", "\u{df}x", "b", "zz",
        "abcdefgh",
    ];
    let tables = [
        ("n", "varchar(20) collate utf8mb4_0900_ai_ci", "c"),
        ("g", "varchar(20) collate utf8mb4_general_ci", "c desc"),
        ("u", "char(20) collate utf8mb4_unicode_ci", "c"),
        ("b", "varchar(20) collate utf8mb4_bin", "c"),
        ("l", "varchar(20) character set latin1", "c"),
        ("p", "text", "c(2)"),
        ("v", "varbinary(20)", "c"),
        ("d", "varbinary(20)", "c desc"),
        ("o", "blob", "c(2)"),
        ("w", "varchar(20) collate utf8mb4_unicode_520_ci", "c(3)"),
        ("f", "binary(20)", "c"),
    ];
    for (name, column, key) in tables {
        is(s, &format!("create table {name} (id int primary key, c {column}, key c ({key}))"), "ok 0");
        let rows: Vec<String> = (0..320)
            .map(|i| format!("({i}, {})", if i % 20 > 15 { "null".into() } else { format!("'{}'", words[i % 20]) }))
            .collect();
        is(s, &format!("insert into {name} values {}", rows.join(",")), "ok 320");
    }
    tables.map(|(name, ..)| name).into()
}

#[test]
fn an_index_finds_what_matches_a_pattern() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    for name in with_texts(s) {
        for pattern in [
            "a%",
            "A%",
            "ab%",
            "\u{e4}%",
            "abc%",
            "abc _",
            "ab c",
            "a\\_%",
            "a\\%%",
            "a\\\\%",
            "s%",
            "ss%",
            "\u{df}%",
            "abcd%",
            "a|_%' escape '|",
            "zz",
            "zzz%",
            " %",
            "abc  %",
        ] {
            let query = |column: &str| format!("select id from {name} where {column} like '{pattern}' order by id");
            let found = run(s, &query("c"));
            assert!(found[0].starts_with('['), "{found:?}");
            assert_eq!(found, run(s, &query("concat(c)")), "{}", query("c"));
        }
        let uses =
            run(s, &format!("explain format=tree select * from {name} force index (c) where c like 'a%'")).concat();
        assert_eq!(uses.contains("ndex range scan"), name != "f", "{name}: {uses}");
        let uses = run(s, &format!("explain format=tree select * from {name} where c like '%a'")).concat();
        assert!(!uses.contains("range"), "{name}: {uses}");
    }
    is(
        s,
        "create table e (id int primary key, c enum('ab', 'b'), key c (c)); insert into e values (1, 'b'), (2, 'ab')",
        "ok 0; ok 2",
    );
    is(s, "select id from e where c like 'a%'", "[id]; 2");
    // Where it is known only later that it begins with a wildcard, too.
    is(s, "prepare p from 'select count(*) from n where c like ?'", "ok 0");
    for (pattern, count) in [("'%c'", 80), ("'ab%'", 96), ("null", 0)] {
        is(s, &format!("set @p = {pattern}"), "ok 0");
        is(s, "execute p using @p", &format!("[count(*)]; {count}"));
    }
}

#[test]
fn an_index_tells_all_of_what_a_text_is_compared_with() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    for name in with_texts(s) {
        for condition in [
            "c = 'A'",
            "c = 'abc'",
            "c = 'abc  '",
            "c <=> null",
            "c <=> 'SS'",
            "c < 'ab'",
            "c <= 'ab'",
            "c > 'ab c'",
            "c >= 'ab\t'",
            "c between 'A' and '\u{e4}b'",
            "c in ('a', 'B', '\u{df}x', '')",
            "c = 'a' or c like 'b%' or c > 'y'",
            "c like 'a%c' and c < 'abd'",
            "c > 'a' and c like 'ab_'",
            "c < 'abcdefghijklmnopqrstuvwxyz'",
            "c >= repeat('b', 700)",
            "c between 'b' and repeat('zz', 700)",
            "c in (select w.c from T w where id < 3)",
        ] {
            let condition = condition.replace(" T ", &format!(" {name} "));
            let found = |s: &mut Session, hint: &str| {
                run(s, &format!("select id from {name} {hint} index (c) where {condition} order by id"))
            };
            let expected = found(s, "ignore");
            assert!(expected[0].starts_with('['), "{expected:?}");
            assert_eq!(found(s, "force"), expected, "{name}: {condition}");
            let count = run(s, &format!("select count(*) from {name} force index (c) where {condition}"));
            assert_eq!(count[1], (expected.len() - 1).to_string(), "{name}: {condition}");
        }
        // Nothing is asked again of what is found so, but where an index has less than the column. (No BINARY(20) is as short.)
        let plan = format!("explain format=tree select * from {name} force index (c) where c = 'abc'");
        assert_eq!(run(s, &plan).concat().contains("ilter"), ["p", "o", "w"].contains(&name), "{name}");
    }
}

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

/// Two tables of the same rows, some dozens for each of a few values; one has indexes.
fn with_groups() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    let columns =
        "id int primary key, p int not null, q int not null, r int, s varchar(9), f enum('b', 'a', 'c') not null";
    let keys = "key pq (p, q), key prq (p, r desc, q), key r_q (r desc, q desc), key s (s), key pf (p, f)";
    is(&mut session, &format!("create table g ({columns}, {keys})"), "ok 0");
    is(&mut session, &format!("create table gp ({columns})"), "ok 0");
    let row = |i: u32| {
        let r = if i.is_multiple_of(7) { "null".to_owned() } else { (i % 5).to_string() };
        let s = if i.is_multiple_of(9) {
            "null".to_owned()
        } else {
            format!("'{}'", ["x", "X", "y", "", "ä", "a"][i as usize % 6])
        };
        format!("({i}, {}, {}, {r}, {s}, {})", i % 4, i * 37 % 101, 1 + i % 3)
    };
    let all: Vec<String> = (0..900).map(row).collect();
    for table in ["g", "gp"] {
        is(&mut session, &format!("insert into {table} values {}", all.join(", ")), "ok 900");
    }
    (server, session)
}

/// Rows that a query has had read, and what it yields.
fn rows_read(session: &mut Session, query: &str) -> (u64, Vec<String>) {
    let before = counter(session, "innodb_rows_read");
    let rows = run(session, query);
    assert!(rows[0].starts_with('['), "{query}: {rows:?}");
    (counter(session, "innodb_rows_read") - before, rows)
}

/// The answer to a query, for which no more rows are read.
fn reads_at_most(session: &mut Session, query: &str, most: u64) -> Vec<String> {
    let (read, rows) = rows_read(session, query);
    assert!(read <= most, "{query}: {read} {rows:?}");
    rows
}

/// Counts the rows of some FROM: so many, of which no more are read.
fn counts(session: &mut Session, from: &str, count: &str, most: u64) {
    let rows = reads_at_most(session, &format!("select count(*) from {from}"), most);
    assert_eq!(rows, ["[count(*)]", count], "{from}");
}

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
fn a_row_behind_another_is_looked_for_in_an_index() {
    let (_server, mut session) = with_groups();
    let s = &mut session;
    // How many rows are read.
    for (query, expected) in [
        ("select id from g where (p, q) > (2, 50) order by p, q, id limit 5", 5),
        ("select id from g where (p, q) < (2, 50) order by p desc, q desc, id desc limit 5", 5),
        ("select id from g where (p, q, id) > (2, 50, 300) order by p, q, id limit 5", 5),
        ("select id, s from g where p = 2 and (q, id) >= (50, 0) order by q, id limit 3", 3),
        ("select id, s from g where (2, 50) < (p, q) order by p, q, id limit 3", 3),
    ] {
        let (read, rows) = rows_read(s, query);
        assert_eq!(rows, run(s, &query.replace("from g ", "from gp ")), "{query}");
        assert_eq!(read, expected, "{query}");
    }
}

#[test]
fn a_join_begins_where_it_reads_the_fewest_rows_in_all() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table c (id int primary key, city int not null)", "ok 0");
    is(
        s,
        "create table o (id int primary key, c int not null, at int not null, n int, key c (c), key at (at))",
        "ok 0",
    );
    let rows: Vec<String> = (0..100).map(|i| format!("({i}, {})", i % 9)).collect();
    is(s, &format!("insert into c values {}", rows.join(", ")), "ok 100");
    let rows: Vec<String> = (0..2000).map(|i| format!("({i}, {}, {i}, 1)", i * 7 % 100)).collect();
    is(s, &format!("insert into o values {}", rows.join(", ")), "ok 2000");
    // Not with the smaller table: it has 20 rows of the other for each of its own.
    for from in ["c join o on o.c = c.id", "o join c on o.c = c.id"] {
        let (read, rows) =
            rows_read(s, &format!("select count(n), min(city) from {from} where at between 500 and 509"));
        assert_eq!((read, &*rows[1]), (20, "10|0"), "{from}");
    }
    let (read, _) = rows_read(s, "select count(n) from o join c on o.c = c.id where c.id = 7 and at > 5");
    assert_eq!(read, 21);
    // Where no equality tells which rows belong together, not with the table of which each row would be compared with each.
    for from in ["o join o p on p.id between o.id and o.id + 3", "o p join o on p.id >= o.id and p.id <= o.id + 3"] {
        let (read, rows) = rows_read(s, &format!("select count(p.n), sum(o.n) from {from} where o.id < 100"));
        assert_eq!((read, &*rows[1]), (500, "400|400"), "{from}");
    }
    // As it is written, if that is said.
    let (read, _) = rows_read(s, "select count(n) from c straight_join o on o.c = c.id where at between 500 and 509");
    assert!(read > 100, "{read}");
}

#[test]
fn a_join_whose_rows_are_all_changed_looks_them_up() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table a (id int primary key, n int); create table c (id int primary key, n int)", "ok 0; ok 0");
    let rows: Vec<String> = (0..3000).map(|i| format!("({}, 1)", i + 10_000)).collect();
    is(s, &format!("insert into a values {}", rows.join(", ")), "ok 3000");
    let rows: Vec<String> = (0..1000).map(|i| format!("({i}, 1)")).collect();
    is(s, &format!("insert into c values {}", rows.join(", ")), "ok 1000");
    // The smaller table has no use of an index of the other, whose rows are not kept in memory.
    for (change, done) in [
        ("update a join c on c.id = a.id - 10000 set a.n = 2, c.n = 3", "ok 2000"),
        ("delete a, c from c join a on c.id = a.id - 10000", "ok 2000"),
    ] {
        let before = counter(s, "innodb_rows_read");
        is(s, change, done);
        let read = counter(s, "innodb_rows_read") - before;
        assert!(read < 10_000, "{change}: {read}");
    }
}

#[test]
fn the_beginning_of_a_text_finds_rows_that_nearly_all_have_it() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table p (id int primary key, kind int not null, at int not null, key k (kind, at))", "ok 0");
    is(s, "create table m (id int primary key, p int, name varchar(40), key p (p), key name (name(10)))", "ok 0");
    let rows: Vec<String> = (0..1500).map(|i| format!("({i}, {}, {})", i % 2, i * 7 % 1000)).collect();
    is(s, &format!("insert into p values {}", rows.join(", ")), "ok 1500");
    let rows: Vec<String> = (0..6000).map(|i| format!("({i}, {}, 'name {} of this')", i % 1500, i / 1500)).collect();
    is(s, &format!("insert into m values {}", rows.join(", ")), "ok 6000");
    is(s, "analyze table p, m", "[Table|Op|Msg_type|Msg_text]; test.p|analyze|status|OK; test.m|analyze|status|OK");
    // One row in four has it, not one in forty: the first few in the order of the other table come soon.
    let query = "select p.id, p.at from p join m on m.p = p.id and m.name = 'name 2 of this' where p.kind = 1 order by p.at desc, p.id desc";
    let all = run(s, query);
    let (read, rows) = rows_read(s, &format!("{query} limit 5"));
    assert_eq!((&rows[..], read < 100), (&all[..6], true), "{read}");
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

/// Items of parts that suppliers have sold, of nations in regions.
fn with_items() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table nation (id int primary key, region int, name varchar(9), key r (region))", "ok 0");
    is(s, "create table seller (id int primary key, nation int, key n (nation))", "ok 0");
    is(s, "create table buyer (id int primary key, nation int, key n (nation))", "ok 0");
    is(s, "create table part (id int primary key, kind int, name varchar(9))", "ok 0");
    is(
        s,
        "create table item (id int primary key, part int, seller int, buyer int, n int,
         key p (part), key s (seller), key b (buyer))",
        "ok 0",
    );
    let mut fill = |table: &str, count: u32, row: &dyn Fn(u32) -> String| {
        let rows: Vec<String> = (0..count).map(|i| format!("({i}, {})", row(i))).collect();
        is(s, &format!("insert into {table} values {}", rows.join(", ")), &format!("ok {count}"));
    };
    fill("nation", 25, &|i| format!("{}, 'n{i}'", i % 5));
    fill("seller", 100, &|i| format!("{}", i % 25));
    fill("buyer", 500, &|i| format!("{}", i % 25));
    fill("part", 1000, &|i| format!("{}, 'p{i}'", i % 100));
    fill("item", 8000, &|i| format!("{}, {}, {}, {}", i * 7 % 1000, i * 3 % 100, i * 11 % 500, i % 10));
    run(s, "analyze table nation, seller, buyer, part, item");
    (server, session)
}

#[test]
fn a_join_goes_on_with_what_is_joined() {
    let (_server, mut session) = with_items();
    let s = &mut session;
    // The two nations are the smallest tables, but nothing joins them to each other.
    let from = "item i, seller, nation n1, buyer, nation n2, part where i.seller = seller.id and seller.nation = n1.id
                and i.buyer = buyer.id and buyer.nation = n2.id and i.part = part.id";
    let (read, rows) = rows_read(s, &format!("select count(*), sum(n) from {from} and part.kind = 7"));
    assert_eq!(rows, run(s, "select count(*), sum(n) from item where part % 100 = 7"));
    assert!(read < 1600, "{read}");
    // What is asked of one table leaves out rows once, not with each table behind it.
    let (read, rows) = rows_read(s, &format!("select count(*), sum(n) from {from} and part.name like '%p99%'"));
    assert_eq!(rows, run(s, "select count(*), sum(n) from item where part = 99 or part >= 990"));
    assert!(read < 1700, "{read}");
}

#[test]
fn what_follows_from_an_or_finds_rows() {
    let (_server, mut session) = with_items();
    let s = &mut session;
    let of = |read_at_most: u64, query: &str, or: &str, s: &mut Session| {
        let (read, rows) = rows_read(s, &format!("{query} where {or}"));
        assert_eq!(rows, run(s, &format!("{query} where ({or}) is true")), "{or}");
        assert!(rows[1] != "0" && read <= read_at_most, "{read} {rows:?}: {or}");
    };
    let from = "select count(*) from item i, part p";
    let joined = "(i.part = p.id and p.kind = 1 and i.n < 4) or (p.kind = 2 and i.n > 4 and p.id = i.part)";
    of(1200, from, joined, s);
    of(
        8100,
        from,
        "(i.part = p.id and p.id = 5 and i.n < 3 or p.id = 6 and i.n > 7 and i.id < 100) and i.id < 8000",
        s,
    );
    let nations = "select count(*) from nation a, nation b";
    of(80, nations, "(a.name = 'n1' and b.name = 'n2') or (b.name = 'n1' and a.name = 'n3')", s);
    of(14, nations, "(a.id = 1 and b.id = 2) or (b.id = 1 and a.id = 3 and a.region <> b.region)", s);
    // NULL is no truth; of an operand that says nothing of a table nothing follows.
    of(700, nations, "(a.id = 1 and b.id = 2) or (b.id is not null and a.region = null) or b.id + a.id = 3", s);
    let outer =
        "select count(*) from nation a left join nation b on (a.id = 1 and b.id = 2) or (a.id = 3 and b.id < 2)";
    let (_, rows) = rows_read(s, outer);
    assert_eq!(rows[1], "26");
}

/// What MySQL answers of outer joins whose rows without a match are asked for.
const WITHOUT_MATCH: &[(&str, &str)] = &[
    ("select count(*), sum(a.id) from a left join b on b.k = a.id where b.id is null", "100|10000"),
    ("select count(*), sum(a.id) from b right join a on b.k = a.id where b.k is null and a.x > 2", "57|5743"),
    // (NULL where something matches, too.)
    ("select count(*), sum(a.id) from a left join b on b.k = a.id where b.n is null", "400|40300"),
    ("select count(*), sum(a.id) from a left join b on b.k = a.id and b.n is not null where b.id is null", "100|10000"),
    ("select count(*), sum(a.id) from a left join b on b.k = a.id where b.id is null or a.x = 3", "226|22726"),
    (
        "select count(*), sum(a.id) from a left join (b join c on c.b = b.id) on b.k = a.id where c.id is null",
        "100|10000",
    ),
    (
        "select count(*), sum(a.id) from a left join (b left join c on c.b = b.id) on b.k = a.id where c.id is null",
        "700|70600",
    ),
    (
        "select count(*), sum(a.id) from a left join (b left join c on c.b = b.id) on b.k = a.id and c.id is null
         where b.id is null",
        "100|10000",
    ),
    (
        "select count(*), sum(a.id), sum(c.id) from a left join b on b.k = a.id left join c on c.b = a.id
         where b.id is null and c.id > 5",
        "30|3240|1080",
    ),
    (
        "select count(*), sum(a.id) from a left join b on b.k = a.id left join c on c.b = b.id where c.id is null",
        "700|70600",
    ),
    ("select a.id from a left join b on b.k = a.id where b.id is null order by a.id desc limit 3", "199; 197; 195"),
    ("select a.id from a left join b on b.n = a.id where b.id is null order by a.x, a.id limit 3", "21; 42; 63"),
    (
        "select count(*) from a join (select a.id from a left join b on b.k = a.id where b.id is null) t
         on t.id = a.id + 1",
        "99",
    ),
];

#[test]
fn of_rows_that_nothing_is_to_match_no_more_than_one_match_is_read() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    run(s, "create table a (id int primary key, x int)");
    run(s, "create table b (id int primary key, k int not null, n int, key k (k))");
    run(s, "create table c (id int primary key, b int not null, key b (b))");
    let rows = |count: i32, row: &dyn Fn(i32) -> String| (1..=count).map(row).collect::<Vec<_>>().join(", ");
    run(s, &format!("insert into a values {}", rows(200, &|i| format!("({i}, {})", i % 7))));
    let n = |i: i32| if i % 3 == 0 { "null".to_owned() } else { i.to_string() };
    run(s, &format!("insert into b values {}", rows(900, &|i| format!("({i}, {}, {})", 2 * (1 + i % 100), n(i)))));
    run(s, &format!("insert into c values {}", rows(300, &|i| format!("({i}, {})", 3 * i))));
    for (query, answer) in WITHOUT_MATCH {
        assert_eq!(run(s, query)[1..].join("; "), *answer, "{query}");
    }
    // Of each hundred of rows that have nine matches the first, where all 900 were read.
    let (read, _) = rows_read(s, WITHOUT_MATCH[0].0);
    assert_eq!(read, 200 + 100);
    let told = run(s, &format!("explain format = tree {}", WITHOUT_MATCH[0].0)).join("\n");
    assert!(told.contains("-> Nested loop antijoin"), "{told}");
    let told = run(s, &format!("explain format = traditional {}", WITHOUT_MATCH[0].0)).join("\n");
    assert!(told.contains("|Using where; Not exists; Using index"), "{told}");
    is(s, "delete a from a left join b on b.k = a.id where b.id is null", "ok 100");
}

/// A table of 2,000 rows: `k` is the number of the row, `d` the same in another order, `v` has ten values.
fn with_ranges() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    let columns = "id int primary key, k int not null, d int not null, v int not null, key k (k), key d (d), key v (v)";
    is(&mut session, &format!("create table t ({columns})"), "ok 0");
    let rows: Vec<String> = (0..2000).map(|i| format!("({i}, {i}, {}, {})", i * 7 % 2000, i % 10)).collect();
    is(&mut session, &format!("insert into t values {}", rows.join(", ")), "ok 2000");
    (server, session)
}

#[test]
fn a_text_beside_a_number_is_looked_for_as_the_number_that_it_begins_with() {
    let (_server, mut session) = with_ranges();
    let s = &mut session;
    for (condition, expected) in [
        ("id = '77-title'", 1),
        ("id in ('77-title', '78-title')", 2),
        ("k = 'no number'", 1),
        ("k > '1997.5 km'", 2),
        ("id = ' 77 '", 1),
    ] {
        let (read, rows) = rows_read(s, &format!("select id from t where {condition}"));
        assert_eq!((read, rows.len()), (expected, expected as usize + 1), "{condition}");
    }
    is(s, "create table meta (n int primary key, v varchar(20))", "ok 0");
    is(s, "insert into meta values (1, '5'), (2, '6 of them'), (3, 'none'), (4, '')", "ok 4");
    let (read, _) = rows_read(s, "select t.id from meta straight_join t on t.id = meta.v");
    // (The last two are 0, which is looked for once.)
    assert_eq!(read, 4 + 3);
}

/// The more room rows take, the less is saved by reading them side by side.
#[test]
fn of_wide_rows_more_are_fetched_by_an_index_than_of_narrow_ones() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    for (table, width) in [("narrow", 10), ("wide", 3000)] {
        let columns = "id int primary key, k int not null, v int not null, s varchar(4000) not null, key k (k)";
        is(s, &format!("create table {table} ({columns})"), "ok 0");
        let row = |i: u32| format!("({i}, {}, {i}, repeat('x', {width}))", i * 7 % 1000);
        let rows: Vec<String> = (0..1000).map(row).collect();
        is(s, &format!("insert into {table} values {}", rows.join(", ")), "ok 1000");
    }
    let kinds = |s: &mut Session, to: u32| {
        ["narrow", "wide"].map(|table| {
            let query = format!("explain format=traditional select sum(v) from {table} where k < {to}");
            run(s, &query)[1].split('|').nth(4).expect("it has a type").to_owned()
        })
    };
    assert_eq!(kinds(s, 50), ["range", "range"]);
    assert_eq!(kinds(s, 300), ["ALL", "range"]);
    assert_eq!(kinds(s, 900), ["ALL", "ALL"]);
}

#[test]
fn the_ends_of_several_indexes_are_read_and_nothing_between() {
    let (_server, mut session) = with_ranges();
    let s = &mut session;
    let (read, rows) = rows_read(s, "select min(id), max(k), min(d) + max(d), max(v) from t");
    assert_eq!((read, &*rows[1]), (5, "0|1999|1999|9"));
    // Not where each would be looked for among rows that a condition leaves out, or something else is wanted of all.
    for query in ["select min(id), max(k) from t where v <> 3", "select min(id), max(k), count(*) from t"] {
        assert_eq!(rows_read(s, query).0, 2000, "{query}");
    }
    is(s, "create table n (a int, b int, key a (a), key b (b))", "ok 0");
    is(s, "select min(a), max(b) from n", "[min(a)|max(b)]; NULL|NULL");
    is(s, "insert into n values (null, null), (null, 3), (2, null)", "ok 3");
    is(s, "select min(a), max(b), min(b) from n", "[min(a)|max(b)|min(b)]; 2|3|3");
}

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

/// Edits of pages by users: half of all are of page 4.
fn with_edits() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table user (id int primary key, name varchar(20))", "ok 0");
    let columns = "id int primary key, page int, user int, at binary(6) not null, minor int, size int";
    let keys = "key pa (page, at), key pua (page, user, at), key ua (user, at)";
    is(s, &format!("create table edit ({columns}, {keys})"), "ok 0");
    let users: Vec<String> = (0..300).map(|i| format!("({i}, 'u{i}')")).collect();
    let edit = |i| {
        let page = if i % 2 == 0 { 4 } else { i % 50 };
        format!("({i}, {page}, {}, '{:06}', {}, {i})", i * 7 % 300, i / 2, i / 2 % 3)
    };
    let edits: Vec<String> = (0..9000).map(edit).collect();
    is(s, &format!("insert into user values {}", users.join(",")), "ok 300");
    is(s, &format!("insert into edit values {}", edits.join(",")), "ok 9000");
    run(s, "analyze table user, edit");
    (server, session)
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
fn what_a_query_says_of_the_rows_before_is_looked_up() {
    let (_server, mut session) = with_edits();
    let s = &mut session;
    for query in [
        "select u.id, e.id from user u join edit e on e.at = (select max(x.at) from edit x where x.user = u.id) and e.user = u.id",
        "select u.id, e.id from user u left join edit e on e.id = (select x.id from edit x where x.user = u.id order by at limit 1)",
        "select u.id, count(e.id) from user u join edit e on e.user = u.id and e.at > (select max(x.at) from edit x where x.page = u.id) group by u.id",
        "select u.id, (select count(*) from edit e where e.user = u.id and e.at = (select min(x.at) from edit x where x.user = u.id)) from user u",
    ] {
        let (read, rows) = rows_read(s, query);
        assert!(read <= 1_500, "{query}: {read}");
        let plainly = query
            .replace("e.at =", "concat(e.at) =")
            .replace("e.at >", "concat(e.at) >")
            .replace("e.id =", "e.id + 0 =");
        assert!(rows[1..] == rows_read(s, &plainly).1[1..], "{query}");
    }
}

/// Orders of users: three of these, the last, have a thousand each, half of the others one.
fn with_orders() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table user (id int primary key, gone int)", "ok 0");
    is(s, "create table orders (id int primary key, user int not null, status int, n int, key u (user))", "ok 0");
    let users: Vec<String> = (0..6000).map(|i| format!("({i}, null)")).collect();
    let user = |i| if i % 2 == 0 { 5997 + i / 2 % 3 } else { i };
    let orders: Vec<String> = (0..6000).map(|i| format!("({i}, {}, {}, 1)", user(i), i % 10)).collect();
    is(s, &format!("insert into user values {}", users.join(",")), "ok 6000");
    is(s, &format!("insert into orders values {}", orders.join(",")), "ok 6000");
    run(s, "analyze table user, orders");
    (server, session)
}

#[test]
fn the_last_row_of_each_of_a_few_values_is_read_and_no_other() {
    let (_server, mut session) = with_orders();
    for (query, most) in [
        ("select user, max(id) from orders where user in (5997, 5998, 5999, 77) group by user order by user", 8),
        (
            "select user, min(id), max(id) from orders where user in (5997, 5998, 5999, 77) group by user order by user",
            8,
        ),
        ("select max(id), user from orders where user in (5999, 5998) group by user order by user desc", 4),
    ] {
        let (read, rows) = rows_read(&mut session, query);
        assert!(read <= most, "{query}: {read}");
        assert_eq!(rows, rows_read(&mut session, &query.replace("from orders", "from orders ignore index (u)")).1);
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
fn a_value_that_many_rows_have_is_looked_at() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table t (id int primary key, k int, v int, w int, key k (k), key v (v))", "ok 0");
    let rows: Vec<String> = (0..4000).map(|i| format!("({i}, {}, {i}, 0)", if i % 2 == 0 { 7 } else { i })).collect();
    is(s, &format!("insert into t values {}", rows.join(",")), "ok 4000");
    for (where_, most) in [
        ("k = 7 and v between 100 and 139", 40),
        ("k = 1001 and v between 0 and 3000", 1),
        ("k in (7, 11) and v < 30", 30),
        ("k in (9, 11) and v < 30", 2),
    ] {
        let (read, _) = rows_read(s, &format!("select sum(w) from t where {where_}"));
        assert_eq!(read, most, "{where_}");
    }
}

/// Users, a few of whom are well known, and what they write, with tags.
fn with_posts() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(
        s,
        "create table user (id int primary key, name varchar(20) not null, karma int not null, key n (name)); \
         create table post (id int primary key, user int not null, score int not null, key u (user), key s (score)); \
         create table tagged (post int, tag int, primary key (post, tag), key t (tag, post)); \
         set cte_max_recursion_depth = 10000; \
         insert into user with recursive n (i) as (select 0 union all select i + 1 from n where i < 1999) \
         select i, concat('u', lpad(i * 7 % 2000, 4, '0')), if(i % 1000 = 500, 5000, i % 100) from n; \
         insert into post with recursive n (i) as (select 0 union all select i + 1 from n where i < 5999) \
         select i, i * 11 % 2000, i * 31 % 6000 from n; \
         insert into tagged select id, 1 from post where id % 2 = 0 union all select id, 2 from post where id % 100 = 0 \
         union all select id, 10 + id % 1000 from post; \
         analyze table user, post, tagged",
        "ok 0; ok 0; ok 0; ok 0; ok 2000; ok 6000; ok 9060; [Table|Op|Msg_type|Msg_text]; \
         test.user|analyze|status|OK; test.post|analyze|status|OK; test.tagged|analyze|status|OK",
    );
    (server, session)
}

/// Those, and the posts once more without an index.
fn with_visits(columns: &str) -> (Server, Session) {
    let (server, mut session) = with_posts();
    is(
        &mut session,
        &format!(
            "create table visit (id int primary key, {columns}); insert into visit select * from post; analyze table visit"
        ),
        "ok 0; ok 6000; [Table|Op|Msg_type|Msg_text]; test.visit|analyze|status|OK",
    );
    (server, session)
}

#[test]
fn rows_tell_what_no_index_does() {
    let (_server, mut session) = with_posts();
    let s = &mut session;
    let query = |karma: u32| {
        let from = "post p join user u on u.id = p.user";
        format!("select p.id, u.name from {from} where u.karma > {karma} order by p.score desc limit 5")
    };
    // Two users: all of these are read, and their six posts. In the order of scores it would be all posts.
    let (read, rows) = rows_read(s, &query(1000));
    assert_eq!(rows.len(), 6);
    assert!(read <= 2006, "{read}");
    // Half of all users: the first posts are theirs. (For a session of its own: the plan above is kept.)
    let (_server, mut session) = with_posts();
    let (read, _) = rows_read(&mut session, &query(50));
    assert!(read < 100, "{read}");
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
fn a_row_that_is_there_for_few_is_looked_up_first() {
    let (_server, mut session) = with_posts();
    let s = &mut session;
    let from = "post p join tagged a on a.post = p.id join tagged b on b.post = p.id";
    let (read, rows) =
        rows_read(s, &format!("select count(*), sum(p.score) from {from} where a.tag = 1 and b.tag = 2"));
    assert_eq!(rows, ["[count(*)|sum(p.score)]", "60|177000"]);
    // Sixty have the second tag, and the first one, too.
    assert!(read <= 180, "{read}");
}

#[test]
fn a_query_is_asked_where_all_else_holds() {
    let (_server, mut session) = with_posts();
    let s = &mut session;
    // Of 51 users that are looked at one is well known: for that one a post is looked for.
    let query =
        "select id from user where id in (select user from post) and karma > 1000 and id >= 450 order by id limit 1";
    let (read, rows) = rows_read(s, query);
    assert_eq!(rows, ["[id]", "500"]);
    assert!(read <= 53, "{read}");
}

#[test]
fn a_query_that_compares_its_rows_with_the_row_around_it_runs_once() {
    let (_server, mut session) = with_posts();
    let s = &mut session;
    is(
        s,
        "create table seen (id int primary key, user int, karma int, kind int); \
         insert into seen select id, nullif(id % 40, 7), id % 3, nullif(id % 5, 4) from user; analyze table seen",
        "ok 0; ok 2000; [Table|Op|Msg_type|Msg_text]; test.seen|analyze|status|OK",
    );
    let all = "user + 0 in (select t.user + 0 from seen t where t.karma = s.karma and t.kind = s.kind and t.id < 500)";
    let none =
        "user + 0 not in (select t.user + 0 from seen t where t.karma = s.karma and t.kind = s.kind and t.id < 500)";
    let either = format!("(id = 7 or {all})");
    for (condition, count) in [(all, "1550"), (none, "400"), (&either, "1551")] {
        let (read, rows) = rows_read(s, &format!("select count(*) from seen s where {condition}"));
        assert_eq!(rows, ["[count(*)]", count], "{condition}");
        // (2000, and those of the query: for NOT IN three times.)
        assert!(read <= 4 * 2000, "{condition}: {read}");
    }
}

#[test]
fn a_join_begins_with_a_derived_table_that_has_few_rows() {
    let (_server, mut session) = with_posts();
    let s = &mut session;
    is(
        s,
        "create table club (id int primary key, user int, kind int, key (user)); \
         insert into club select id, id * 5, id % 10 from user where id < 400; analyze table club",
        "ok 0; ok 400; [Table|Op|Msg_type|Msg_text]; test.club|analyze|status|OK",
    );
    let join = |derived: &str, on: &str| format!("post p join club c on c.user = p.user join ({derived}) d on {on}");
    for (query, count, most) in [
        // A hundred groups: the users, and so many posts with the clubs of theirs.
        (join("select karma, max(id) q from user group by karma", "d.q = p.id"), "21", 2000 + 2 * 101),
        (join("select distinct karma from user", "d.karma = p.id"), "21", 2000 + 2 * 101),
        (join("select max(id) - 19 q from user", "d.q = p.id"), "1", 10),
        (join("select score from post order by score desc limit 5", "d.score = p.id"), "1", 20),
        (join("select 5 q union all select 10", "d.q = p.id"), "2", 10),
        // As many as there are posts: it begins with the clubs.
        (join("select score, count(*) from post group by score", "d.score = p.id"), "1200", 6000 + 400 + 1200),
    ] {
        counts(s, &query, count, most);
    }
}

#[test]
fn outer_joins_wait_for_what_they_name_and_no_more() {
    let (_server, mut session) = with_posts();
    let s = &mut session;
    let from = "user u left join post p on p.id = u.karma + 1";
    for (query, count, most) in [
        // Ten users, a post for each, and what another one is tagged: not all tags, each with its user.
        (format!("{from} join tagged g on g.post = u.id where u.id < 10"), "16", 10 + 10 + 16),
        (
            format!("{from} join tagged g on g.post = u.id left join post q on q.id = g.tag where u.id < 10"),
            "16",
            10 + 10 + 16 + 16,
        ),
        // The same behind what is added.
        (format!("{from} join tagged g on g.post = coalesce(p.user, 0) where u.id < 10"), "15", 10 + 10 + 15),
        (format!("{from} join tagged g on g.post = u.id and g.tag > ifnull(p.user, 0) - 10 where u.id < 10"), "2", 40),
        // What leaves rows out goes before what adds some.
        (
            "user u left join post p on p.id = u.karma + 5995 join tagged g on g.post = u.id \
             where u.id < 10 and p.id is null"
                .to_owned(),
            "7",
            10 + 5 + 7,
        ),
        // Nothing is looked for where the row of the left says that nothing matches.
        (
            "user u left join post p on u.karma = 5000 and p.id = u.id where p.id is not null or 1".to_owned(),
            "2000",
            2002,
        ),
        ("user u left join post p on u.karma = 5000 and p.user + 0 = u.id".to_owned(), "2004", 2000 + 6000),
        ("user u left join post p on 0 and p.id = u.id".to_owned(), "2000", 2000),
        (
            "user u where not exists (select 1 from post p where u.karma < 50 and p.id = u.id)".to_owned(),
            "1002",
            2000 + 998,
        ),
        // The right side is a join.
        (
            "user u left join (post p join user v on v.id = p.user) on p.id = u.karma \
             join tagged g on g.post = u.id where u.id < 10"
                .to_owned(),
            "16",
            10 + 20 + 16,
        ),
        // The left side begins with another table than the first.
        (
            "post p join user u on u.id = p.user left join tagged g on g.post = p.id and g.tag = 1 \
             join user v on v.karma = u.karma + 4000 where u.name = 'u0007'"
                .to_owned(),
            "0",
            1 + 3 + 3 + 2000,
        ),
    ] {
        counts(s, &query, count, most);
    }
}

#[test]
fn a_query_that_runs_for_each_row_waits_for_what_leaves_few() {
    let (_server, mut session) = with_visits("user int, score int");
    let s = &mut session;
    // (By an inequality: it is run for each visit that is asked, and reads three posts.)
    let newer = "(select count(*) from post q where q.user = v.user and q.id > v.id) < 2";
    for (query, count, most) in [
        (format!("visit v join user u on u.id = v.user where {newer}"), "4000", 2000 + 6000 + 3 * 6000),
        // Two users have so much, and each three visits.
        (format!("visit v join user u on u.id = v.user where {newer} and u.karma = 5000"), "4", 2000 + 6000 + 3 * 6),
        // In the order of the text.
        (
            format!("visit v straight_join user u on u.id = v.user where {newer} and u.karma = 5000"),
            "4",
            6000 + 6000 + 3 * 6,
        ),
        // Behind an outer join.
        (
            format!(
                "visit v left join tagged g on g.post = v.id and g.tag = 2 join user u on u.id = v.user \
                 where {newer} and u.karma = 5000 and ifnull(g.tag, 2) = 2"
            ),
            "4",
            2000 + 6000 + 3 * 6 + 6,
        ),
    ] {
        counts(s, &query, count, most);
    }
}

#[test]
fn rows_with_the_same_key_are_less_than_all_that_are_greater() {
    let (_server, mut session) = with_visits("user int, score int");
    let s = &mut session;
    for (on, count, most) in [
        ("p.user + 0 = v.user and p.score > v.score", "6000", 2 * 6000),
        ("p.user + 0 = v.user and p.score > v.score and p.id < 100", "35", 100 + 6000),
        // (Few of all rows.)
        ("p.user + 0 = v.user and p.score between v.score and v.score + 2", "6000", 6000 + 3 * 6000),
    ] {
        counts(s, &format!("visit v straight_join post p on {on}"), count, most);
    }
}

#[test]
fn a_query_that_compares_its_rows_with_the_row_around_it_is_joined_to_that() {
    let (_server, mut session) = with_visits("user int not null, score int not null");
    let s = &mut session;
    let later = "select 1 from visit w where w.user = v.user and w.score > v.score";
    for (condition, count, most) in [
        // No index finds them: they are read once.
        (format!("exists ({later})"), "4000", 2 * 6000),
        (format!("not exists ({later})"), "2000", 2 * 6000),
        (format!("not exists ({later}) and v.id between 4000 and 4099"), "65", 100 + 6000),
        (format!("exists ({later} and exists (select 1 from user u where u.id = w.user))"), "4000", 2 * 6000 + 2000),
        ("v.score in (select w.score from visit w where w.user = v.user and w.id >= v.id)".to_owned(), "6000", 12_000),
        ("v.score not in (select w.score from visit w where w.user > v.user)".to_owned(), "6000", 2 * 6000),
        // An index finds three, or the first of them that will do.
        (
            "exists (select 1 from post w where w.user = v.user and w.score >= v.score)".to_owned(),
            "6000",
            6000 + 12_000,
        ),
        // The others of a few are looked for when the few are there.
        (format!("exists ({later}) and v.user in (select id from user where karma = 5000)"), "4", 2000 + 2 * 6000),
    ] {
        counts(s, &format!("visit v where {condition}"), count, most);
    }
}

#[test]
fn a_right_side_that_nothing_asks_for_is_not_read() {
    let (_server, mut session) = with_visits("user int not null, score int not null");
    let s = &mut session;
    let from = "post p left join user u on u.id = p.user";
    for (query, count, most) in [
        (format!("select count(*) from {from}"), "6000", 6000),
        (format!("select count(*) from {from} and u.karma > 5"), "6000", 6000),
        ("select count(*) from post p left join user u on p.user = u.id".to_owned(), "6000", 6000),
        (format!("select count(*) from {from} where p.id < 100"), "100", 100),
        (format!("select count(*) from {from} left join user o on o.id = u.karma"), "6000", 6000),
        (format!("select count(*) from (select p.*, u.name from {from}) t"), "6000", 6000),
        ("select count(*) from post p left join tagged t on t.post = p.id and t.tag = 1".to_owned(), "6000", 6000),
        (format!("select count(*) from {from} join visit v on v.id = p.id"), "6000", 2 * 6000),
    ] {
        assert_eq!(reads_at_most(s, &query, most)[1], count, "{query}");
    }
    // More than one row may match, or something is asked for.
    for (query, count, least) in [
        ("select count(*) from user u left join post p on p.user = u.id", "6000", 2000 + 6000),
        ("select count(*) from post p left join tagged t on t.post = p.id", "9060", 6000 + 9060),
        ("select count(u.id) from post p left join user u on u.id = p.user and u.karma < 50", "2994", 6000 + 2000),
        ("select count(*) from post p left join user u on u.id = p.user where u.name is null", "0", 6000 + 2000),
    ] {
        let (read, rows) = rows_read(s, query);
        assert_eq!(rows[1], count, "{query}");
        assert!(read >= least, "{query}: {read}");
    }
    // ON DUPLICATE KEY UPDATE may name what is not shown.
    is(
        s,
        "insert into visit select p.id, 0, 0 from post p left join user u on u.id = p.user where p.id < 3 \
         on duplicate key update visit.score = u.karma; select id, score from visit where id < 3",
        "ok 4; [id|score]; 0|0; 1|11; 2|22",
    );
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
fn tables_are_joined_by_what_follows_from_two_equalities() {
    let (_server, mut session) = with_posts();
    // Of a hundred posts one has such a user: the tags of that one are read, not of all.
    let user = "u.id = t.post and u.karma > 1000";
    for tagged in ["t.post = p.id", "p.id = t.post"] {
        let from = format!("post p join tagged t on {tagged} join user u on {user} where p.id between 450 and 549");
        counts(&mut session, &from, "3", 250);
        let from =
            format!("post p straight_join tagged t straight_join user u where {tagged} and {user} and p.id = 500");
        counts(&mut session, &from, "3", 7);
    }
}

#[test]
fn what_one_table_is_equal_to_the_other_is_too() {
    let (_server, mut session) = with_posts();
    let s = &mut session;
    is(
        s,
        "create table purchase (tenant int, id int, at int, primary key (tenant, id)); \
         create table line (tenant int, purchase int, n int, product int, primary key (tenant, purchase, n), \
         key p (tenant, product)); \
         insert into purchase select id % 10, id, id from user; \
         insert into line select tenant, id, n, (id * 7 + n) % 400 from purchase, (values row(1), row(2), row(3)) v (n); \
         analyze table purchase, line",
        "ok 0; ok 0; ok 2000; ok 6000; [Table|Op|Msg_type|Msg_text]; test.purchase|analyze|status|OK; test.line|analyze|status|OK",
    );
    // The lines of a product, of the tenant whose purchases are asked for: and not all of his purchases.
    for tenant in ["5", "'5'", "5.0"] {
        let from = "purchase p join line l on l.tenant = p.tenant and l.purchase = p.id";
        let query = format!("select p.id, l.n from {from} where p.tenant = {tenant} and l.product = 37 order by p.id");
        let (read, rows) = rows_read(s, &query);
        assert_eq!(rows, ["[id|n]", "5|2", "405|2", "805|2", "1205|2", "1605|2"], "{tenant}");
        assert!(read <= 10, "{tenant}: {read}");
    }
    // The latest posts of one user, in the order of an index of posts.
    is(
        s,
        "alter table post drop key u, add key us (user, score); insert into post select 10000 + id, 77, id from user",
        "ok 0; ok 2000",
    );
    let tree = |s: &mut Session, query: &str| run(s, &format!("explain format=tree {query}")).concat();
    let of_user =
        "select p.id, u.name from user u join post p on p.user = u.id where u.id = 77 order by p.score desc limit 2";
    assert!(!tree(s, of_user).contains("Sort"), "{}", tree(s, of_user));
    // Not where another order is of the text, nor of what a LEFT JOIN adds.
    let straight = of_user.replacen("select", "select straight_join", 1);
    assert!(tree(s, &straight).contains("Sort"), "{}", tree(s, &straight));
    assert_eq!(rows_read(s, of_user).1, rows_read(s, &straight).1);
    let all = "select p.id from user u straight_join post p on p.user = u.id order by p.score desc limit 2";
    assert!(tree(s, all).contains("Sort"), "{}", tree(s, all));
    assert!(!tree(s, &all.replace("straight_join", "join")).contains("Sort"));
    is(
        s,
        "select u.id, p.id from user u left join post p on p.user = u.id and p.id = 5 where u.id = 77",
        "[id|id]; 77|NULL",
    );
    // What is equal in one collation is not in another, nor a number beside a text.
    is(
        s,
        "create table a (x varchar(9) collate utf8mb4_0900_ai_ci, key (x)); create table b (y varchar(9) collate utf8mb4_bin, key (y)); \
         insert into a values ('A'), ('a'), ('1'), ('01'); insert into b values ('A'), ('a'), ('1'), ('01')",
        "ok 0; ok 0; ok 4; ok 4",
    );
    is(s, "select x, y from a, b where x = y and x = 'a' order by x, y", "[x|y]; A|A; a|a");
    is(s, "select x, y from a, b where x = y and y = 'a' order by x, y", "[x|y]; a|a");
    is(s, "select x, y from a, b where x = y and x = 1 order by x, y", "[x|y]; 01|01; 1|1");
}

#[test]
fn members_and_flags_are_found_by_their_indexes() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(
        s,
        "create table t (id int primary key, e enum('new', 'done'), b bit(1), f float, v int, key e (e), key b (b), key f (f)); \
         set cte_max_recursion_depth = 10000; \
         insert into t with recursive n (i) as (select 0 union all select i + 1 from n where i < 1999) \
         select i, if(i % 100 = 0, 1, 2), i % 200 = 0, i / 8, 1 from n",
        "ok 0; ok 0; ok 2000",
    );
    for (where_, expected) in [
        ("e = 'new'", 20),
        ("e = 1", 20),
        ("e < 2", 20),
        ("e in ('new', 'other')", 20),
        ("e = 'other'", 0),
        ("b = 1", 10),
        ("b", 2000),
        ("f = 2.5", 1),
        ("f between 1 and 2", 9),
        // Texts have another order than members.
        ("e > 'done'", 2000),
    ] {
        let (read, _) = rows_read(s, &format!("select sum(v) from t where {where_}"));
        assert_eq!(read, expected, "{where_}");
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

#[test]
fn the_rows_of_several_indexes_are_read_and_locked_and_no_others() {
    let (server, mut session) = with_groups();
    let s = &mut session;
    is(s, "create table o (id int primary key, a int not null, b int not null, c int, key a (a), key b (b))", "ok 0");
    let rows: Vec<String> = (0..900).map(|i| format!("({i}, {}, {}, 0)", i % 300, i % 299)).collect();
    is(s, &format!("insert into o values {}", rows.join(", ")), "ok 900");
    // Each row is shown once, though some are found twice; and no index is read from end to end.
    let (read, rows) = rows_read(s, "select id from o where a = 5 or b = 5 order by id");
    assert_eq!((read, rows.join(" ")), (6, "[id] 5 304 305 603 605".to_owned()));
    let (read, rows) = rows_read(s, "select count(*) from o where (a = 5 or b in (5, 6)) and id < 400");
    assert_eq!((read, rows.join(" ")), (9, "[count(*)] 4".to_owned()));
    // A user variable may be another for each row, and what is random is.
    assert_eq!(rows_read(s, "select count(*) from o where a = 5 or b = 5 + floor(rand() * 1)").0, 900);
    // Other rows are free.
    let mut other = server.session();
    is(s, "begin; update o set c = 1 where a = 5 or b = 5", "ok 0; ok 5");
    is(&mut other, "update o set c = 2 where id in (4, 6, 300, 600)", "ok 4");
    is(&mut other, "select id from o where id = 604 for update nowait", "[id]; 604");
    for id in [5, 304, 305, 603, 605] {
        let failed = run(&mut other, &format!("select id from o where id = {id} for update nowait"));
        assert!(failed[0].contains("3572"), "{id}: {failed:?}");
    }
    is(s, "rollback", "ok 0");
    is(s, "delete from o where a = 5 or b = 5", "ok 5");
}

#[test]
fn index_hints_are_heeded() {
    let (_server, mut session) = with_groups();
    let s = &mut session;
    is(s, "create table o (id int primary key, a int not null, b int not null, c int, key a (a), key b (b))", "ok 0");
    let rows: Vec<String> = (0..900).map(|i| format!("({i}, {}, {}, 0)", i % 300, i % 20)).collect();
    is(s, &format!("insert into o values {}", rows.join(", ")), "ok 900");
    // And how many rows are read.
    for (query, expected) in [
        ("select c from o where a = 5 and b = 5", 3),
        ("select c from o use index (b) where a = 5 and b = 5", 45),
        ("select c from o ignore index (a) where a = 5 and b = 5", 45),
        ("select c from o use index (b, a) ignore index (a) where a = 5 and b = 5", 45),
        ("select c from o force index (b) where a = 5 and b = 5", 45),
        ("select c from o use index () where a = 5 and b = 5", 900),
        ("select c from o ignore index (a, b) where a = 5 and b = 5", 900),
        ("select c from o use index (b) where a = 5", 900),
        ("select c from o use index (b) where a = 5 or b = 5", 900),
        ("select c from o use index for order by (b) where a = 5 and b = 5", 3),
        ("select x.c from o x ignore index (a) where x.a = 5 and x.b = 5", 45),
        ("select c from o ignore index (primary) where id = 5", 900),
        ("select c from o where b in (B)", 900),
        ("select c from o force index (b) where b in (B)", 855),
        ("select c from o order by a limit 5", 5),
        ("select c from o ignore index (a) order by a limit 5", 900),
        ("select c from o ignore index for order by (a) order by a limit 5", 900),
        ("select c from o ignore index for group by (a) order by a limit 5", 5),
        ("select distinct p from g ignore index for group by (pq, prq, pf)", 900),
        ("select y.c from o x join o y ignore index (a) on y.a = x.a where x.id = 5", 901),
    ] {
        // Most of the values.
        let query = query.replace('B', "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19");
        assert_eq!(rows_read(s, &query).0, expected, "{query}");
    }
    let sorts = |s: &mut Session, hint: &str| {
        let row = run(s, &format!("explain format=traditional select c from o {hint} order by a")).remove(1);
        row.ends_with("Using filesort")
    };
    assert!(sorts(s, "") && sorts(s, "use index (a)") && sorts(s, "force index for group by (a)"));
    assert!(!sorts(s, "force index (a)") && !sorts(s, "force index for order by (a)"));
    is(s, "update o use index (b) set c = 1 where a = 5 and b = 5", "ok 3");
    // An index that is invisible is as if it were not there.
    is(s, "alter table o alter index a invisible", "ok 0");
    assert_eq!(rows_read(s, "select c from o where a = 5 and b = 5").0, 45);
    let failed = run(s, "select c from o force index (a) where a = 5");
    assert!(failed[0].contains("1176"), "{failed:?}");
    is(s, "alter table o alter index a visible", "ok 0");
    assert_eq!(rows_read(s, "select c from o where a = 5 and b = 5").0, 3);
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
fn the_index_whose_values_are_shared_by_the_fewest_rows_is_used() {
    let server = Server::new();
    let mut session = server.session();
    for (name, keys) in [("t", "key s (state), key c (customer)"), ("u", "key c (customer), key s (state)")] {
        is(&mut session, &format!("create table {name} (id int primary key, state int, customer int, {keys})"), "ok 0");
        let rows: Vec<String> = (0..2000).map(|i| format!("({i}, {}, {})", i % 2, i % 500)).collect();
        is(&mut session, &format!("insert into {name} values {}", rows.join(",")), "ok 2000");
        let explained = run(
            &mut session,
            &format!("explain format=traditional select * from {name} where state = 1 and customer = 7"),
        );
        assert!(explained[1].contains("|ref|s,c|c|") || explained[1].contains("|ref|c,s|c|"), "{explained:?}");
        // Of two tables, the one of which few rows are found is read first.
        let text = format!(
            "explain format=traditional select * from {name} a join {name} b on a.id = b.customer where b.state = 1"
        );
        assert!(run(&mut session, &text)[1].contains("|b|"), "{name}");
    }
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
