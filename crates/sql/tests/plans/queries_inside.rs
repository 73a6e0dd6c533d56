//! Queries inside of conditions: where they are asked, and how often.

use crate::support::{counter, is, run};
use crate::tables::{counts, rows_read, with_edits, with_posts, with_visits};

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
fn changes_and_locks_join_such_a_query_too() {
    let (_server, mut session) = with_visits("user int not null, score int not null");
    let s = &mut session;
    run(s, "alter table visit add column seen int");
    is(s, "create table other (id int primary key, user int not null, score int not null)", "ok 0");
    is(s, "insert into other select id, user, score from visit", "ok 6000");
    let later = "select 1 from other w where w.user = v.user and w.score > v.score";
    for (statement, most) in [
        (format!("update visit v set seen = 1 where exists ({later})"), 2 * 6000),
        (format!("update visit v join user u on u.id = v.user set v.seen = 2 where not exists ({later})"), 3 * 6000),
        (format!("insert into other select id + 6000, user, 0 from visit v where not exists ({later})"), 2 * 6000),
        (format!("select count(*) from visit v where exists ({later}) for update"), 6000 + 8000),
        (format!("delete from visit v where exists ({later})"), 6000 + 8000),
    ] {
        let before = counter(s, "innodb_rows_read");
        run(s, &statement);
        let read = counter(s, "innodb_rows_read") - before;
        assert!(read <= most, "{statement}: {read}");
    }
    is(s, "select count(*), count(seen), sum(seen) from visit", "[count(*)|count(seen)|sum(seen)]; 2000|2000|4000");
    is(s, "select count(*) from other", "[count(*)]; 8000");
}
