//! Queries inside of conditions: IN and EXISTS answer what MySQL 9.7 answers, however they are run.

mod support;

use support::{Server, counter, is, run};

/// What is looked for in a query, and what MySQL answers.
const IN: &[(&str, &str)] = &[
    ("select group_concat(id order by id) as ids from a where x in (select x from b)", "[ids]; 1,4,5,6"),
    ("select group_concat(id order by id) as ids from a where x not in (select x from b)", "[ids]; NULL"),
    ("select group_concat(id order by id) as ids from a where x not in (select k from b)", "[ids]; NULL"),
    ("select group_concat(id order by id) as ids from a where id not in (select k from b)", "[ids]; 6"),
    (
        "select id, x in (select x from b), x not in (select x from b), id in (select k from b), x in (select x from c) from a order by id",
        "[id|x in (select x from b)|x not in (select x from b)|id in (select k from b)|x in (select x from c)]; 1|1|0|1|1; 2|NULL|NULL|1|1; 3|NULL|NULL|1|NULL; 4|1|0|1|0; 5|1|0|1|0; 6|1|0|0|1",
    ),
    ("select group_concat(id order by id) as ids from a where (x in (select x from b)) is null", "[ids]; 2,3"),
    ("select group_concat(id order by id) as ids from a where not (x in (select x from b))", "[ids]; NULL"),
    ("select group_concat(id order by id) as ids from a where x in (select x from b) or id = 2", "[ids]; 1,2,4,5,6"),
    ("select group_concat(id order by id) as ids from a where y in (select y from b)", "[ids]; 5"),
    ("select group_concat(id order by id) as ids from a where n in (select n from b)", "[ids]; 1,2,5,6"),
    ("select group_concat(id order by id) as ids from a where x in (select x from b where k > 3)", "[ids]; 5"),
    (
        "select group_concat(id order by id) as ids from a where x in (select b.x from b join c on c.id = b.id)",
        "[ids]; 1,6",
    ),
    ("select group_concat(id order by id) as ids from a where x in (select x + 0 from b)", "[ids]; 1,4,5,6"),
    ("select x, count(*) from a group by x having x in (select x from b) order by x", "[x|count(*)]; 1|2; 4|1; 5|1"),
    (
        "select x, count(*) from a group by x with rollup having x in (select x from b) or x is null",
        "[x|count(*)]; NULL|1; 1|2; 4|1; 5|1; NULL|6",
    ),
    (
        "select a.id, c.id from a left join c on c.x = a.x and c.id in (select k from b) order by 1",
        "[id|id]; 1|1; 2|2; 3|NULL; 4|NULL; 5|NULL; 6|1",
    ),
    ("select group_concat(id order by id) as ids from a where x = any (select x from b)", "[ids]; 1,4,5,6"),
    ("select group_concat(id order by id) as ids from a where x <> all (select k from b)", "[ids]; NULL"),
    ("select group_concat(id order by id) as ids from a where (x, id) in (select x, k from b)", "[ids]; 1,5"),
    ("select group_concat(id order by id) as ids from a where '5' in (select x from b) and id > 4", "[ids]; 5,6"),
    ("select group_concat(id order by id) as ids from a where x in (select x from b where id = a.id)", "[ids]; 1,5"),
    ("select count(*) from big where id in (select x from big) and z = 1", "[count(*)]; 64"),
    ("select count(*) from big where id in (select x from big where z < 3)", "[count(*)]; 194"),
    ("select count(*), sum(id) from big where id < 20 and id in (select x from big)", "[count(*)|sum(id)]; 9|90"),
    (
        "select count(*), sum(id) from big where id < 200 and x not in (select id from big where z = 3)",
        "[count(*)|sum(id)]; 171|17114",
    ),
    ("select count(*), sum(id in (select x from big)) from big", "[count(*)|sum(id in (select x from big))]; 900|450"),
    ("select count(*) from (select id, x from big) t where t.id in (select x from big) and t.x > 5", "[count(*)]; 449"),
    (
        "select id, case when x in (select x from b) then 'y' else 'n' end from a order by id",
        "[id|case when x in (select x from b) then 'y' else 'n' end]; 1|y; 2|n; 3|n; 4|y; 5|y; 6|y",
    ),
    ("select group_concat(id order by id) as ids from a where x in (select distinct x from b)", "[ids]; 1,4,5,6"),
    ("select group_concat(id order by id) as ids from a where x in (select x from b group by x)", "[ids]; 1,4,5,6"),
    ("select group_concat(id order by id) as ids from a where x in (select max(x) from b)", "[ids]; 5"),
    (
        "select group_concat(id order by id) as ids from a where x in (select x from b union select 2)",
        "[ids]; 1,2,4,5,6",
    ),
    (
        "select group_concat(a.id order by a.id) as ids from a where a.id in (select t.k from (select k from b where k > 1) t)",
        "[ids]; 2,3,4,5",
    ),
    (
        "select (select group_concat(a.id order by a.id) as ids from a where a.x in (select x from b) and a.id > c.id) as g from c order by c.id",
        "[g]; 4,5,6; 4,5,6",
    ),
    (
        "select group_concat(id order by id) as ids from a where x in (select x from b where b.x is not null) and y in (select y from b)",
        "[ids]; 5",
    ),
    (
        "select group_concat(id order by id) as ids from a where exists (select 1 from c where c.x = a.x and c.id in (select k from b))",
        "[ids]; 1,2,6",
    ),
];

#[test]
fn values_are_looked_up_one_by_one_or_kept() {
    let server = Server::new();
    let mut s = server.session();
    let s = &mut s;
    run(s, "create table a (id int primary key, x int, y varchar(9), n decimal(6,2), key(x))");
    run(
        s,
        "create table b (id int primary key, x int, y varchar(9) collate utf8mb4_bin, k int not null, n double, key (x), key(k), key(y), key (n))",
    );
    run(
        s,
        "insert into a values (1,1,'a',1.5),(2,2,'B',2),(3,null,null,null),(4,4,'d',4.25),(5,5,'E',5),(6,1,'a',1.5)",
    );
    run(s, "insert into b values (1,1,'A',1,1.5),(2,null,'b',2,2),(3,4,null,3,null),(4,5,'e',4,5.0),(5,5,'E',5,5.5)");
    run(s, "create table c (id int primary key, x int, key(x))");
    run(s, "insert into c values (1,1),(2,2)");
    run(s, "create table big (id int primary key, x int not null, z int, key (x))");
    run(
        s,
        "insert into big with recursive n(i) as (select 1 union all select i+1 from n where i < 900) select i, i * 2, i % 7 from n",
    );
    for (query, answer) in IN {
        is(s, query, answer);
    }
    // By an index where few values are looked for; not what is known without the query by what the query finds.
    let told = run(s, "explain format = tree select * from big where id < 5 and id in (select x from big)").join("\n");
    assert!(told.contains("over (id < 5)"), "{told}");
    let told = run(
        s,
        "explain format = tree select z from big where exists (select 1 from a where a.x = big.id and a.id = 4 and a.y = 'd')",
    );
    assert!(told.join("\n").contains("over (id = (select"), "{told:?}");
    // Once for all where many are.
    is(s, "update a set y = 'in' where x in (select x from b)", "ok 4");
    is(s, "delete from a where id in (select k from b where k > 3)", "ok 2");
    is(s, "select id, y from a", "[id|y]; 1|in; 2|B; 3|NULL; 6|in");
}

#[test]
fn exists_is_in_where_it_compares_with_the_row_around_it() {
    let server = Server::new();
    let mut s = server.session();
    let s = &mut s;
    run(s, "create table a (id int primary key, x int, y varchar(9), d date, n decimal(6,2))");
    run(
        s,
        "create table b (id int primary key, x int, y varchar(9) collate utf8mb4_bin, d datetime, n double, k int, key (k))",
    );
    run(s, "create table c (id int, x int, z int)");
    run(s, "create table e (x int)");
    run(
        s,
        "insert into a values (1, 1, 'a', '2024-01-01', 1.5), (2, 2, 'B', '2024-01-02', 2), (3, null, null, null, null),
         (4, 4, 'd', '2024-01-04', 4.25), (5, 5, 'E', '2024-01-05', 5), (6, 1, 'a', '2024-01-01', 1.5)",
    );
    run(
        s,
        "insert into b values (1, 1, 'A', '2024-01-01', 1.5, 1), (2, null, 'b', null, null, 2),
         (3, 4, null, '2024-01-04 10:00', 4.25, 3), (4, 5, 'e', '2024-01-05', 5, 4), (5, 5, 'E', '2024-01-05', 5, 5)",
    );
    run(s, "insert into c values (1, 1, 1), (2, 4, 2), (3, null, 3)");
    // What MySQL answers.
    let cases = [
        ("exists (select 1 from b where b.x = a.x)", "1,4,5,6"),
        ("not exists (select 1 from b where b.x = a.x)", "2,3"),
        ("exists (select 1 from b where b.y = a.y)", "5"),
        ("exists (select 1 from b where b.x = a.x and b.y = a.y collate utf8mb4_bin)", "5"),
        ("exists (select * from b where b.d = a.d)", "1,5,6"),
        ("exists (select * from b where b.n = a.n and b.k > 2)", "4,5"),
        ("not exists (select * from b where b.n = a.n and b.k > 2)", "1,2,3,6"),
        ("exists (select 1 from b where b.x = a.x limit 1)", "1,4,5,6"),
        ("exists (select 1 from b where b.x = a.x limit 0)", "NULL"),
        ("exists (select 1 from b where b.x = a.x limit 1 offset 1)", "5"),
        ("exists (select 1 from b where b.x = a.x order by b.y)", "1,4,5,6"),
        ("exists (select distinct b.y from b where b.x = a.x)", "1,4,5,6"),
        ("exists (select count(*) from b where b.x = a.x)", "1,2,3,4,5,6"),
        ("exists (select 1 from b where b.x = a.x group by b.y having count(*) > 1)", "NULL"),
        ("exists (select 1 from e where e.x = a.x)", "NULL"),
        ("not exists (select 1 from e where e.x = a.x)", "1,2,3,4,5,6"),
        ("exists (select 1 from b join c on c.x = b.x where b.x = a.x)", "1,4,6"),
        ("exists (select 1 from b left join c on c.x = b.x where b.x = a.x and c.x is null)", "5"),
        ("exists (select 1 from b where b.x = a.x and exists (select 1 from c where c.x = b.x))", "1,4,6"),
        ("exists (select 1 from b where b.x = a.x and exists (select 1 from c where c.x = a.x))", "1,4,6"),
        (
            "exists (select 1 from b where b.x = a.x and not exists (select 1 from c where c.x = a.x and c.z = b.k))",
            "4,5",
        ),
        ("exists (select 1 from b where b.x + 1 = a.x + 1)", "1,4,5,6"),
        ("exists (select 1 from b where b.x <=> a.x)", "1,3,4,5,6"),
        ("exists (select 1 from b where b.x = a.x and a.id > 3)", "4,5,6"),
        ("exists (select 1 from b where b.x = a.x or b.k = a.id)", "1,2,3,4,5,6"),
        ("exists (select 1 from b where b.x = a.y)", "NULL"),
        ("exists (select 1 from b where b.y = a.x)", "NULL"),
        ("exists (select 1 from (select x from b where k > 1) t where t.x = a.x)", "4,5"),
        ("exists (select 1 from b where b.x = a.x and rand() < 2)", "1,4,5,6"),
        ("id in (select a2.id from a a2 where exists (select 1 from b where b.x = a2.x and a2.x = a.x))", "1,4,5,6"),
        ("exists (select 1 from b where (b.x, b.k) = (a.x, a.id))", "1,5"),
        ("exists (select 1 from b where b.x = a.x union select 1 from c where c.x = a.x)", "1,4,5,6"),
        ("exists (select 1 from b where b.x in (a.x, 5) and b.x = a.x)", "1,4,5,6"),
        ("exists (table e) or exists (select 1 from b where a.x = b.x)", "1,4,5,6"),
    ];
    for (condition, ids) in cases {
        let query = format!("select group_concat(id order by id) as ids from a where {condition}");
        is(s, &query, &format!("[ids]; {ids}"));
    }
    is(s, "select id, exists (select 1 from b where b.x = a.x) as e from a", "[id|e]; 1|1; 2|0; 3|0; 4|1; 5|1; 6|1");
    is(s, "select sum(exists (select 1 from b where b.x = a.x)) as n from a", "[n]; 4");
    is(s, "update a set y = 'upd' where exists (select 1 from b where b.x = a.x)", "ok 4");
    is(s, "delete from a where not exists (select 1 from b where b.x = a.x)", "ok 2");
    is(s, "select id, y from a", "[id|y]; 1|upd; 4|upd; 5|upd; 6|upd");
}

#[test]
fn a_query_with_one_row_is_run_once_for_all_rows_around_it() {
    let server = Server::new();
    let mut s = server.session();
    let s = &mut s;
    run(s, "create table a (x int)");
    run(s, "insert into a values (1), (2), (3), (4), (5), (6)");
    run(s, "create table b (y int)");
    run(s, "insert into b values (10), (30), (20)");
    // Rows of both tables and the look behind the last: as many as MySQL counts.
    for (query, answer, rows) in [
        ("select x + (select max(y) from b) as z from a where x < 3", "[z]; 31; 32", 11),
        ("select x from a where x * 10 > (select avg(y) from b)", "[x]; 3; 4; 5; 6", 11),
        ("select x from a where x * 10 = (select y from b where y > 25)", "[x]; 3", 11),
        // One row tells whether there are any.
        (
            "select sum(exists (select 1 from b)) as n, sum(not exists (select y from b where y > 99)) as o from a",
            "[n|o]; 6|6",
            12,
        ),
        // Without a row it is NULL each time.
        ("select x from a where x > (select y from b where y > 99)", "[x]", 11),
    ] {
        run(s, "flush status");
        is(s, query, answer);
        assert_eq!(counter(s, "Handler_read_rnd_next"), rows, "{query}");
    }
    is(s, "select x from a where x > (select y from b)", "1242 Subquery returns more than 1 row");
    // One that may have other rows each time is run for each row.
    let orders = "select count(distinct o) > 1 as several from \
                  (select (select group_concat(y order by rand()) from b) as o from a, a a2, a a3) t";
    is(s, orders, "[several]; 1");
}

/// One row is read for all that have the same values around it; and what differs in anything is run again.
#[test]
fn a_query_is_not_run_again_for_the_same_values_around_it() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(
        s,
        "create table h (id int primary key, name varchar(9), n decimal(4,2)); insert into h values (1, 'a', 1), (2, 'A', 2), (3, NULL, 3); \
         create table m (id int primary key, h int, v int, key (h, v)); \
         insert into m values (1, 1, 5), (2, 1, 6), (3, 1, 7), (4, 2, 5), (5, 2, 9), (6, NULL, 9)",
        "ok 0; ok 3; ok 0; ok 6",
    );
    let mut lookups = |query: &str, expected: &str| {
        let before = counter(s, "handler_read_key");
        is(s, query, expected);
        counter(s, "handler_read_key") - before
    };
    let greatest = "select id from m where v = (select max(x.v) from m x where x.h = m.h) order by id";
    assert!(lookups(greatest, "[id]; 3; 5") <= 4, "one for each of three values, and one for all rows");
    let mixed = "select v, (select count(*) from h where h.id > 9 - m.v or h.n > 9) x from m order by id";
    lookups(mixed, "[v|x]; 5|0; 6|0; 7|1; 5|0; 9|3; 9|3");
    let exists =
        "select id from m where v = 9 or exists (select 1 from m x where x.h = m.h and x.v > m.h + 5) order by v, id";
    assert!(lookups(exists, "[id]; 1; 4; 2; 3; 5; 6") <= 3, "one for each of two values, and one for all rows");
    lookups(
        "select m.id, (select concat(h.name, m.h) from h where h.id = m.h) as x from m order by m.id",
        "[id|x]; 1|a1; 2|a1; 3|a1; 4|A2; 5|A2; 6|NULL",
    );
    // Equal is not the same.
    lookups(
        "select id, (select concat(h.name, '!')) as x, (select concat(h.n, '!')) as y from h order by id",
        "[id|x|y]; 1|a!|1.00!; 2|A!|2.00!; 3|NULL|3.00!",
    );
    // A row further out is another one meanwhile.
    lookups(
        "select h.id, (select sum((select count(*) from m y where y.h = m.h and y.v > 4 + h.id)) from m where m.h = 1) as x from h order by h.id",
        "[id|x]; 1|6; 2|3; 3|0",
    );
    // A variable is, too.
    lookups(
        "select id, (select @n := coalesce(@n, 0) + 1 + 0 * m.h) as x from m where h = 1 order by id",
        "[id|x]; 1|1; 2|2; 3|3",
    );
    lookups("select id, (select v, h) = (7, 1) as x from m where h = 1 order by id", "[id|x]; 1|0; 2|0; 3|1");
    is(
        s,
        "select id, (select x.v from m x where x.h = m.h) as v from m where h = 1",
        "1242 Subquery returns more than 1 row",
    );
}

/// What a statement's own foreign keys change is read again.
#[test]
fn a_query_is_run_again_after_foreign_keys_have_changed_rows() {
    let server = Server::new();
    let mut session = server.session();
    let s = &mut session;
    is(
        s,
        "create table p (id int primary key, g char(1)); insert into p values (1, 'a'), (2, 'a'), (3, 'b'), (4, 'a'); \
         create table c (id int primary key, p int, g char(1), foreign key (p) references p (id) on delete cascade); \
         insert into c values (1, 1, 'a'), (2, 1, 'a'), (3, 1, 'a'), (4, 3, 'b')",
        "ok 0; ok 4; ok 0; ok 4",
    );
    // As in MySQL: the first goes, and what refers to it.
    is(s, "delete from p where (select count(*) from c where c.g = p.g) = 3", "ok 1");
    is(s, "select id from p order by id", "[id]; 2; 3; 4");
}
