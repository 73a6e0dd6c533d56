//! Where a join begins, and how it goes on.

use meseta_sql::session::Session;

use crate::support::{Server, counter, is, run};
use crate::tables::{counts, reads_at_most, rows_read, with_items, with_posts, with_visits};

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
fn what_a_tree_has_below_a_row_is_looked_up() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(s, "create table c (id int primary key, parent int, key (parent))", "ok 0");
    is(s, "create table p (id int primary key, c int not null, price int not null, key (c))", "ok 0");
    let rows: Vec<String> = (1..=100).map(|i| format!("({i}, nullif({}, 0))", i / 3)).collect();
    is(s, &format!("insert into c values {}", rows.join(", ")), "ok 100");
    let rows: Vec<String> = (0..2000).map(|i| format!("({i}, {}, {})", i % 100 + 1, i * 7 % 100)).collect();
    is(s, &format!("insert into p values {}", rows.join(", ")), "ok 2000");
    // Row 20 has 60, 61 and 62 below it, and these have none.
    let tree =
        "with recursive t as (select id from c where id = 20 union all select c.id from c join t on c.parent = t.id)";
    let (read, rows) =
        rows_read(s, &format!("{tree} select p.id from t join p on p.c = t.id order by p.price, p.id limit 3"));
    assert_eq!((rows.len(), read), (4, 84), "1 and 3 of c, 20 of p for each");
    // Numbers that are made of nothing may be many.
    let numbers = "with recursive n as (select 1 i union all select i + 1 from n where i < 500)";
    let (read, _) = rows_read(s, &format!("{numbers} select count(price) from n join p on p.c = n.i"));
    assert_eq!(read, 2000);
}
