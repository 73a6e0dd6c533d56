//! Tables that several of these tests have, and what is asked of them.

use std::fmt::Write as _;

use meseta_sql::session::Session;

use crate::support::{Server, counter, is, run};

/// Two tables with NULLs and duplicates, one with indexes, and copies of both without.
pub fn with_tables() -> (Server, Session) {
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
pub fn rows(session: &mut Session, query: &str) -> Vec<String> {
    let mut rows = run(session, query);
    assert!(rows[0].starts_with('['), "{query}: {rows:?}");
    rows.remove(0);
    rows.sort();
    rows
}

/// Two tables of the same rows, some dozens for each of a few values; one has indexes.
pub fn with_groups() -> (Server, Session) {
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
pub fn rows_read(session: &mut Session, query: &str) -> (u64, Vec<String>) {
    let before = counter(session, "innodb_rows_read");
    let rows = run(session, query);
    assert!(rows[0].starts_with('['), "{query}: {rows:?}");
    (counter(session, "innodb_rows_read") - before, rows)
}

/// The answer to a query, for which no more rows are read.
pub fn reads_at_most(session: &mut Session, query: &str, most: u64) -> Vec<String> {
    let (read, rows) = rows_read(session, query);
    assert!(read <= most, "{query}: {read} {rows:?}");
    rows
}

/// Counts the rows of some FROM: so many, of which no more are read.
pub fn counts(session: &mut Session, from: &str, count: &str, most: u64) {
    let rows = reads_at_most(session, &format!("select count(*) from {from}"), most);
    assert_eq!(rows, ["[count(*)]", count], "{from}");
}

/// Items of parts that suppliers have sold, of nations in regions.
pub fn with_items() -> (Server, Session) {
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

/// A table of 2,000 rows: `k` is the number of the row, `d` the same in another order, `v` has ten values.
pub fn with_ranges() -> (Server, Session) {
    let server = Server::new();
    let mut session = server.session();
    let columns = "id int primary key, k int not null, d int not null, v int not null, key k (k), key d (d), key v (v)";
    is(&mut session, &format!("create table t ({columns})"), "ok 0");
    let rows: Vec<String> = (0..2000).map(|i| format!("({i}, {i}, {}, {})", i * 7 % 2000, i % 10)).collect();
    is(&mut session, &format!("insert into t values {}", rows.join(", ")), "ok 2000");
    (server, session)
}

/// Edits of pages by users: half of all are of page 4.
pub fn with_edits() -> (Server, Session) {
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

/// Orders of users: three of these, the last, have a thousand each, half of the others one.
pub fn with_orders() -> (Server, Session) {
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

/// Users, a few of whom are well known, and what they write, with tags.
pub fn with_posts() -> (Server, Session) {
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
pub fn with_visits(columns: &str) -> (Server, Session) {
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
