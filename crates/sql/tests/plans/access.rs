//! By which index rows are found, and how many are read for it.

use meseta_sql::session::Session;

use crate::support::{Server, is, run};
use crate::tables::{counts, rows_read, with_groups, with_items, with_orders, with_posts, with_ranges, with_visits};

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
