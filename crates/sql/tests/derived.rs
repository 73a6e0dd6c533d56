//! Derived tables and tables of WITH: what is read of them is what MySQL 9.7 reads, whether they become a part of the query around
//! them or not.

mod support;

use meseta_sql::session::Session;
use support::{Server, is, run};

/// A query, and what MySQL answers.
const CASES: &[(&str, &str)] = &[
    ("select t.* from (select * from a) t where t.id = 4", "[id|x|y|n]; 4|4|d|4.25"),
    (
        "select t.* from (select id, x * 2 as d, upper(y) u from a where x > 1) t where d > 4 order by u desc",
        "[id|d|u]; 5|10|E; 4|8|D",
    ),
    (
        "select count(*), sum(d), max(u) from (select id, x * 2 as d, upper(y) u from a) t",
        "[count(*)|sum(d)|max(u)]; 6|26|E",
    ),
    (
        "select d, count(*) from (select id, x * 2 as d from a) t group by d order by d",
        "[d|count(*)]; NULL|1; 2|2; 4|1; 8|1; 10|1",
    ),
    (
        "select d, count(*), grouping(d) from (select id, x * 2 as d from a) t group by d with rollup",
        "[d|count(*)|grouping(d)]; NULL|1|0; 2|2|0; 4|1|0; 8|1|0; 10|1|0; NULL|6|1",
    ),
    (
        "select a.id, t.k from a left join (select x, k from b where k > 2) t on t.x = a.x order by a.id, t.k",
        "[id|k]; 1|NULL; 2|NULL; 3|NULL; 4|3; 5|4; 5|5; 6|NULL",
    ),
    (
        "select a.id, t.k, t.one from a left join (select x, k, 1 as one from b where k > 2) t on t.x = a.x order by a.id, t.k",
        "[id|k|one]; 1|NULL|NULL; 2|NULL|NULL; 3|NULL|NULL; 4|3|1; 5|4|1; 5|5|1; 6|NULL|NULL",
    ),
    (
        "select a.id, t.k, t.y from a left join (select b.x, b.k, c.y from b join a c on c.id = b.k) t on t.x = a.x order by a.id, t.k",
        "[id|k|y]; 1|1|a; 2|NULL|NULL; 3|NULL|NULL; 4|3|NULL; 5|4|d; 5|5|E; 6|1|a",
    ),
    (
        "select t.id, u.id from (select id, x from a) t join (select id, x from b) u on t.x = u.x order by 1, 1",
        "[id|id]; 1|1; 4|3; 5|4; 5|5; 6|1",
    ),
    (
        "select t.id, u.id from (select id, x from a) t join (select id, x from b) u using (x) order by 1, 1",
        "[id|id]; 1|1; 4|3; 5|4; 5|5; 6|1",
    ),
    (
        "select t.* from (select id, x from a) t natural join (select k as id, x from b) u order by 1",
        "[id|x]; 1|1; 5|5",
    ),
    ("select id from (select id from a order by id desc) t", "[id]; 6; 5; 4; 3; 2; 1"),
    // What is not the same each time is made once, whatever comes before it.
    (
        "select count(*), count(distinct r) from a straight_join (select rand() r) t",
        "[count(*)|count(distinct r)]; 6|1",
    ),
    (
        "select count(*), count(distinct t.r) from a left join (select uuid() r, x from b) t on t.x = a.x where t.x = 1",
        "[count(*)|count(distinct t.r)]; 2|1",
    ),
    (
        "select cast(@n := @n + x as signed) s from a straight_join (select @n := 0) t where x is not null order by id",
        "[s]; 1; 3; 7; 12; 13",
    ),
    ("select count(distinct r) from a straight_join (select @i := ifnull(@i, 0) + 1 r) t", "[count(distinct r)]; 1"),
    ("select id from (select id from a order by id desc) t order by id", "[id]; 1; 2; 3; 4; 5; 6"),
    (
        "select id from (select id, x from (select id, x, y from a where y is not null) s where x < 5) t where id > 1 order by id",
        "[id]; 2; 4; 6",
    ),
    (
        "with t as (select id, x from a where x is not null) select p.id, q.id from t p join t q on p.x = q.x and p.id < q.id order by 1",
        "[id|id]; 1|6",
    ),
    (
        "select id, (select max(k) from b where b.x = t.x) m from (select id, x from a) t order by id",
        "[id|m]; 1|1; 2|NULL; 3|NULL; 4|3; 5|5; 6|1",
    ),
    (
        "select id, (select max(q.k) from (select x, k from b where k < 5) q where q.x = a.x) m from a order by id",
        "[id|m]; 1|1; 2|NULL; 3|NULL; 4|3; 5|4; 6|1",
    ),
    (
        "select id from a where exists (select 1 from (select x xx from b) q where q.xx = a.x) order by id",
        "[id]; 1; 4; 5; 6",
    ),
    ("select id from a where x in (select xx from (select x xx, k from b) q where k > 1) order by id", "[id]; 4; 5"),
    ("select id from (select id, x from a where x = (select max(x) from a)) t", "[id]; 5"),
    ("select id, r from (select id, 5 as r from a) t where r = 5 and id < 3 order by id", "[id|r]; 1|5; 2|5"),
    (
        "select group_concat(d order by id desc) from (select id, concat(y, '!') d from a) t",
        "[group_concat(d order by id desc)]; a!,E!,d!,B!,a!",
    ),
    (
        "select distinct_x from (select distinct x as distinct_x from a) t where distinct_x > 1 order by 1",
        "[distinct_x]; 2; 4; 5",
    ),
    ("select t.id from (select id from a limit 3) t where t.id > 1", "[id]; 3; 6"),
    (
        "select t.id, a2.id from (select id, x from a) t left join a a2 on a2.id = t.x where a2.id is null order by 1",
        "[id|id]; 3|NULL",
    ),
    (
        "select a2.id, t.id from a a2 right join (select id, x from a) t on a2.id = t.x order by 2",
        "[id|id]; 1|1; 2|2; NULL|3; 4|4; 5|5; 1|6",
    ),
    ("select max(x) over_all from (select x from a union select k from b) t", "[over_all]; 5"),
    ("select t.y = 'A' c, t.y from (select y from b) t order by t.y", "[c|y]; NULL|NULL; 1|A; 0|E; 0|b; 0|e"),
    (
        "select t.y = 'A' c, t.z from (select y, concat('x', y) z from a) t order by t.z",
        "[c|z]; NULL|NULL; 1|xa; 1|xa; 0|xB; 0|xd; 0|xE",
    ),
    (
        "select case when t.b then 1 else 2 end from (select x > 1 as b from a) t order by 1",
        "[case when t.b then 1 else 2 end]; 1; 1; 1; 2; 2; 2",
    ),
    (
        "select t.n + 1, t.n from (select n from a) t where n > 1.5 order by n",
        "[t.n + 1|n]; 3.00|2.00; 5.25|4.25; 6.00|5.00",
    ),
    ("select id from (select id from a for update) t where id = 2", "[id]; 2"),
    ("select id from (select * from a) t where t.x = 1 order by id for update", "[id]; 1; 6"),
    (
        "select t.id from (select a.id, b.k from a left join b on b.x = a.x) t where t.k is null order by t.id",
        "[id]; 2; 3",
    ),
    (
        "select t.id from a left join (select b.id, b.x, s.y from b left join a s on s.id = b.id) t on t.x = a.x and t.y is not null order by t.id",
        "[id]; NULL; NULL; NULL; 1; 1; 4; 5",
    ),
    ("select sum(z) from (select id z from a where id in (select k from b)) t", "[sum(z)]; 15"),
    ("select z from (select id z from a) t having z > 4 order by z", "[z]; 5; 6"),
    ("select z zz, count(*) c from (select x z from a) t group by zz having c > 1", "[zz|c]; 1|2"),
    (
        "select t.id from (select id from a) t, (select id from b) u where t.id = u.id + 1 order by 1",
        "[id]; 2; 3; 4; 5; 6",
    ),
    (
        "select s.id from (select t.id from (select id from a where id > 2) t join b on b.id = t.id) s order by s.id",
        "[id]; 3; 4; 5",
    ),
    (
        "select any_value(t.y), x from (select * from a) t group by x order by x",
        "[any_value(t.y)|x]; NULL|NULL; a|1; B|2; d|4; E|5",
    ),
    (
        "select t.id, t.x, t.y from (select * from a) t group by t.id order by t.id",
        "[id|x|y]; 1|1|a; 2|2|B; 3|NULL|NULL; 4|4|d; 5|5|E; 6|1|a",
    ),
    ("select id from (table a) t where id = 3", "[id]; 3"),
    (
        "select id, ifnull(t.k, 'none') from a left join (select k, x from b) t on a.x = t.x and t.k > 100 order by id, 2",
        "[id|ifnull(t.k, 'none')]; 1|none; 2|none; 3|none; 4|none; 5|none; 6|none",
    ),
    ("select t.c from (select count(*) c from a) t", "[c]; 6"),
    (
        "select a.id, t.id from a left join (select id from a where 1 = 0) t on t.id = a.id order by 1 limit 2",
        "[id|id]; 1|NULL; 2|NULL",
    ),
    (
        "select a.id, t.id from a left join (select id, x from a where x > 4) t on 1 = 1 order by 1, 1 limit 3",
        "[id|id]; 1|5; 2|5; 3|5",
    ),
    (
        "select (select t.id from (select id from a where id = o.id) t) from a o order by 1",
        "[(select t.id from (select id from a where id = o.id) t)]; 1; 2; 3; 4; 5; 6",
    ),
    (
        "select x, (select count(*) from (select id from b where b.x = a.x) t) from a order by id",
        "[x|(select count(*) from (select id from b where b.x = a.x) t)]; 1|1; 2|0; NULL|0; 4|1; 5|2; 1|1",
    ),
    // Conditions that are asked inside.
    ("select t.* from (select x, count(*) c from a group by x) t where x = 1", "[x|c]; 1|2"),
    ("select t.* from (select x, count(*) c from a group by x) t where c > 1", "[x|c]; 1|2"),
    (
        "select t.* from (select x, count(*) c from a group by x) t where x > 1 and c = 1 order by x",
        "[x|c]; 2|1; 4|1; 5|1",
    ),
    ("select t.* from (select x * 2 as d, count(*) c from a group by d) t where d = 2", "[d|c]; 2|2"),
    (
        "select t.* from (select x, y, max(n) m from a group by x, y having m > 1) t where y = 'A' order by 1",
        "[x|y|m]; 1|a|1.50",
    ),
    ("select t.* from (select x, count(*) c from a group by x with rollup) t where x is null", "[x|c]; NULL|1; NULL|6"),
    ("select t.* from (select x, count(*) c from a group by x with rollup) t where x = 1", "[x|c]; 1|2"),
    ("select t.* from (select distinct x, y from a) t where x = 1", "[x|y]; 1|a"),
    ("select t.* from (select distinct x + 1 as z from a) t where z = 2", "[z]; 2"),
    ("select t.* from (select count(*) c from a) t where c = 6", "[c]; 6"),
    ("select t.* from (select count(*) c from a) t where 1 = 0", "[c]"),
    ("select u.* from (select id, x from a union all select id, k from b) u where id = 3", "[id|x]; 3|NULL; 3|3"),
    ("select u.* from (select id, x from a union select id, k from b) u where id = 1 order by 2", "[id|x]; 1|1"),
    (
        "select u.* from (select id, y from a union all select id, y from b) u where y = 'a' order by 1",
        "[id|y]; 1|a; 6|a",
    ),
    ("select u.* from (select id, x z from a union all select id, y from b) u where z = '5' order by 1", "[id|z]; 5|5"),
    ("select u.* from (select id from a except select k from b) u where id > 2", "[id]; 6"),
    ("select u.* from (select id from a intersect select k from b) u where id > 2 order by 1", "[id]; 3; 4; 5"),
    (
        "select u.* from (select id from a union all (select k from b order by k desc limit 2)) u where id > 3 order by 1",
        "[id]; 4; 4; 5; 5; 6",
    ),
    ("select u.* from (select id from a union all select k from b limit 3) u where id > 1 order by 1", "[id]; 3; 6"),
    (
        "select u.* from (select 1 as one, id from a union all select 2, k from b) u where one = 2 and id < 3 order by 2",
        "[one|id]; 2|1; 2|2",
    ),
    (
        "select t.* from (select x, count(*) c from a where id > 1 group by x) t join b on b.x = t.x where t.x = 5",
        "[x|c]; 5|1; 5|1",
    ),
    (
        "select b.id, t.c from b left join (select x, count(*) c from a group by x) t on t.x = b.x and t.x > 1 order by b.id",
        "[id|c]; 1|NULL; 2|NULL; 3|1; 4|1; 5|1",
    ),
    (
        "select b.id, t.c from b left join (select x, count(*) c from a group by x) t on t.x = b.x where t.x > 1 order by b.id",
        "[id|c]; 3|1; 4|1; 5|1",
    ),
    (
        "select b.id, t.c from b left join (select x, count(*) c from a group by x) t on t.x = b.x where t.x is null order by b.id",
        "[id|c]; 2|NULL",
    ),
    (
        "with t as (select x, count(*) c from a group by x) select p.x, q.c from t p join t q on p.x = q.x where p.x = 1",
        "[x|c]; 1|2",
    ),
    (
        "select s.* from (select t.* from (select x, count(*) c from a group by x) t where c > 0) s where s.x = 4",
        "[x|c]; 4|1",
    ),
    (
        "select id, (select t.c from (select x, count(*) c from a group by x) t where t.x = o.x) from a o order by id",
        "[id|(select t.c from (select x, count(*) c from a group by x) t where t.x = o.x)]; 1|2; 2|1; 3|NULL; 4|1; 5|1; 6|2",
    ),
    (
        "select id from a o where exists (select 1 from (select x, count(*) c from b group by x) t where t.x = o.x and t.x > 3) order by id",
        "[id]; 4; 5",
    ),
    (
        "select t.* from (select x, group_concat(id order by id) g from a group by x) t where x in (1, 4) order by x",
        "[x|g]; 1|1,6; 4|4",
    ),
    (
        "select t.* from (select x, sum(n) s from a group by x) t where x between 2 and 4 or x = 5 order by x",
        "[x|s]; 2|2.00; 4|4.25; 5|5.00",
    ),
    ("select t.* from (select y, count(*) c from a group by y) t where y like 'a%'", "[y|c]; a|2"),
    ("select t.* from (select max(y) y, x from a group by x) t where y = 'a'", "[y|x]; a|1"),
    ("select t.* from (select any_value(id) i, x from a group by x) t where i > 3 order by 1", "[i|x]; 4|4; 5|5"),
    ("select count(*) from (select x from a group by x) t where x is not null", "[count(*)]; 4"),
    ("select t.* from (select x, count(*) c from a group by x order by x limit 2) t where x = 1", "[x|c]; 1|2"),
    ("select sum(v) from (select id v from a union all select k from b) u where v > 2", "[sum(v)]; 30"),
];

fn filled(s: &mut Session) {
    run(s, "create table a (id int primary key, x int, y varchar(9), n decimal(6,2), key(x))");
    run(s, "create table b (id int primary key, x int, y varchar(9) collate utf8mb4_bin, k int, key (k))");
    run(
        s,
        "insert into a values (1,1,'a',1.5),(2,2,'B',2),(3,null,null,null),(4,4,'d',4.25),(5,5,'E',5),(6,1,'a',1.5)",
    );
    run(s, "insert into b values (1,1,'A',1),(2,null,'b',2),(3,4,null,3),(4,5,'e',4),(5,5,'E',5)");
}

#[test]
fn derived_tables_are_read_as_in_mysql() {
    let server = Server::new();
    let mut s = server.session();
    filled(&mut s);
    for (query, answer) in CASES {
        is(&mut s, query, answer);
    }
}

#[test]
fn a_derived_table_that_is_part_of_the_query_is_read_by_its_indexes() {
    let server = Server::new();
    let mut s = server.session();
    filled(&mut s);
    let s = &mut s;
    // EXPLAIN, as a tree: a lookup in the table, and nothing that is kept in between.
    let tree = |s: &mut Session, query: &str| run(s, &format!("explain format = tree {query}")).join("\n");
    for query in [
        "select * from (select * from a) t where t.id = 4",
        "with t as (select * from a where n > 1) select y from t where id = 4",
        "select t.y from (select s.* from (select * from a) s) t where t.id = 4",
        "select b.k, t.y from b join (select id, y from a) t on t.id = b.x",
        "select b.k, t.y from b left join (select id, y from a) t on t.id = b.x",
    ] {
        let told = tree(s, query);
        assert!(told.contains("using PRIMARY") && !told.contains("aterialize"), "{query}: {told}");
    }
    let told = tree(s, "select id from (select * from a) t order by id desc limit 2");
    assert!(told.contains("reverse") && !told.contains("Sort"), "{told}");
    // A group beside it is asked inside.
    let told = tree(
        s,
        "select g.c from (select id from a) t join (select x, count(*) c from a group by x) g on g.x = t.id where g.x = 1",
    );
    assert!(told.contains("using x (x = 1)"), "{told}");
    let told = tree(s, "select * from (select id from a union all select k from b) u where id = 3");
    assert!(told.contains("using PRIMARY (id = 3)") && told.contains("using k (k = 3)"), "{told}");
    let told = tree(s, "select * from (select x, count(*) from a group by x) t where x = 1");
    assert!(told.contains("Materialize"), "{told}");
}
