//! Which statements an account may run, as `recorded/privileges.txt` recorded it from a MySQL server; and what it sees.
//!
//! An error about privileges must be the same, text and all. Where the server recorded anything else, ours must not be such an
//! error: whether the statement itself is there, and right, is for other tests. What a SHOW or information_schema shows is
//! compared where it depends on privileges. `recorded/privileges.known.txt` lists what is answered otherwise, and why.

mod recorded;

use std::sync::Arc;

use meseta_errors::ErrorCode;
use meseta_sim::SimDisk;
use meseta_sql::account::{AccountId, AccountSettings, SessionAccount};
use meseta_sql::query::{OutputColumn, OutputColumns};
use meseta_sql::session::{Answer, Done, Identity, Instance, Session, Status, Undisturbed};
use meseta_sql::{Error, Result};
use meseta_storage::{Store, StoreOptions};
use meseta_types::Datum;
use recorded::cases;

/// Rows as text, and the error.
#[derive(Default)]
struct Text {
    rows: Vec<Vec<String>>,
    error: Option<(u16, String)>,
}

impl Answer for Text {
    fn columns(&mut self, _: &OutputColumns, _: Status) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, columns: &[OutputColumn], row: &[Datum<'_>]) -> Result<()> {
        let values = columns.iter().zip(row).map(|(column, &value)| {
            let mut text = Vec::new();
            match value.is_null() {
                true => text.extend_from_slice(b"NULL"),
                false => column.data_type.append_text(value, &mut text),
            }
            String::from_utf8_lossy(&text).into_owned()
        });
        self.rows.push(values.collect());
        Ok(())
    }

    fn end(&mut self, _: Status) -> Result<()> {
        Ok(())
    }

    fn done(&mut self, _: &Done, _: Status) -> Result<()> {
        Ok(())
    }

    fn failed(&mut self, error: &Error, _: Status) -> Result<()> {
        self.error = Some((error.code.0, error.message.clone()));
        Ok(())
    }
}

fn server() -> Arc<Instance> {
    let options = StoreOptions {
        memory_bytes: 16 << 20,
        log_bytes: 8 << 20,
        log_buffer_bytes: 512 << 10,
        max_data_bytes: 256 << 20,
        ..StoreOptions::default()
    };
    Instance::open(Store::open_on(Arc::new(SimDisk::new(1)), options).unwrap()).unwrap()
}

fn session(instance: &Arc<Instance>, user: &str, host: &str) -> Session {
    let id = AccountId::new(user, host);
    let connection = instance.next_connection();
    let identity = Identity { connection, user: format!("{user}@localhost"), account: id.to_string() };
    let mut session = Session::new(instance, identity, Box::new(Undisturbed)).unwrap();
    let settings = AccountSettings::default();
    // As the recorder's: u has a password.
    let using_password = user != "root";
    session.set_account(SessionAccount::new(&instance.accounts, &id, "localhost", using_password, &settings).unwrap());
    session
}

fn run(session: &mut Session, statement: &str) -> Text {
    let mut answer = Text::default();
    session.execute(statement.as_bytes(), false, &mut answer).unwrap();
    answer
}

#[track_caller]
fn ok(session: &mut Session, statement: &str) -> Vec<Vec<String>> {
    let answer = run(session, statement);
    assert_eq!(answer.error, None, "{statement}");
    answer.rows
}

#[track_caller]
fn denied(session: &mut Session, statement: &str, expected: &str) {
    let (code, message) = run(session, statement).error.unwrap_or_else(|| panic!("it may: {statement}"));
    assert_eq!(format!("{code} {message}"), expected, "{statement}");
}

const SETUP: &[&str] = &[
    "create database d1",
    "create database d2",
    "create table d1.t (a int primary key, b int, c int)",
    "create table d1.t2 (a int primary key, x int)",
    "create table d2.t (a int primary key)",
    "create user u",
];

fn is_about_privileges(error: &(u16, String)) -> bool {
    matches!(error.0, 1044 | 1045 | 1142 | 1143 | 1227 | 1370 | 1401 | 1698 | 3552 | 3554 | 3630)
}

/// Whether what it shows depends on privileges and on nothing else.
fn shows(statement: &str) -> bool {
    [
        "show tables",
        "show full tables",
        "show databases",
        "show columns",
        "desc ",
        "select table_name",
        "select schema_name",
    ]
    .iter()
    .chain(&["select * from information_schema.", "show grants"])
    .any(|start| statement.starts_with(start))
}

/// Grants have no order of their own.
fn same(mut theirs: Vec<Vec<String>>, mut ours: Vec<Vec<String>>, statement: &str) -> bool {
    if statement.starts_with("show grants") {
        theirs.sort();
        ours.sort();
    }
    theirs == ours
}

#[test]
fn statements_are_denied_as_recorded() {
    let known: Vec<&str> = include_str!("recorded/privileges.known.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    let cases = cases(include_str!("recorded/privileges.txt"));
    let (mut right, mut wrong) = (0, vec![]);
    for case in &cases {
        let instance = server();
        let mut root = session(&instance, "root", "localhost");
        SETUP.iter().for_each(|statement| drop(ok(&mut root, statement)));
        let grants: Vec<_> = case.iter().take_while(|step| step.who.is_empty()).map(|step| &*step.statement).collect();
        grants.iter().for_each(|grant| drop(ok(&mut root, grant)));
        let mut user = session(&instance, "u", "%");
        for step in case.iter().filter(|step| !step.who.is_empty()) {
            let ours = run(&mut user, &step.statement);
            let theirs = &step.answer;
            let ours_denied = ours.error.clone().filter(is_about_privileges);
            let theirs_denied = theirs.error.clone().filter(is_about_privileges);
            // Rows are recorded with their kinds in front.
            let shown = |rows: &[Vec<String>]| -> Vec<Vec<String>> {
                let cell = |cell: &String| if cell == "N" { "NULL".to_owned() } else { cell[1..].to_owned() };
                rows.iter().map(|row| row.iter().map(cell).collect()).collect()
            };
            let same_rows = !shows(&step.statement)
                || theirs.error.is_some()
                || ours.error.is_some()
                || same(shown(&theirs.rows), ours.rows.clone(), &step.statement);
            if ours_denied == theirs_denied && same_rows {
                right += 1;
                continue;
            }
            let line = format!("{} | {}", grants.join("; "), step.statement);
            wrong.push((line, format!("theirs {theirs:?}\n   ours {:?} {:?}", ours.error, ours.rows)));
        }
    }
    println!("{right} answers as recorded, {} not", wrong.len());
    if std::env::var_os("MESETA_SHOW_DIFFERENCES").is_some() {
        wrong.iter().for_each(|(line, difference)| println!("{line}\n   {difference}"));
    }
    let new: Vec<_> = wrong.iter().filter(|(line, _)| !known.contains(&line.as_str())).take(8).collect();
    assert!(new.is_empty(), "what did not differ: {new:#?}");
    let healed: Vec<_> = known.iter().filter(|line| !wrong.iter().any(|(other, _)| other == *line)).collect();
    assert!(healed.is_empty(), "right now, and still on the list: {healed:#?}");
}

#[test]
fn a_plan_is_shared_and_each_execution_is_checked() {
    let instance = server();
    let mut root = session(&instance, "root", "localhost");
    SETUP.iter().for_each(|statement| drop(ok(&mut root, statement)));
    ok(&mut root, "insert into d1.t values (1, 2, 3)");
    let query = "select b from d1.t where a = 1";
    let no = "1142 SELECT command denied to user 'u'@'localhost' for table 't'";
    let mut user = session(&instance, "u", "%");
    for _ in 0..3 {
        assert_eq!(ok(&mut root, query), [["2"]]);
        denied(&mut user, query, no);
    }
    // What is granted and revoked counts from the next statement on.
    ok(&mut root, "grant select on d1.t to u");
    assert_eq!(ok(&mut user, query), [["2"]]);
    ok(&mut root, "revoke select on d1.t from u");
    denied(&mut user, query, no);
    ok(&mut root, "grant select (a) on d1.t to u");
    denied(&mut user, query, "1143 SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'");
    ok(&mut root, "create role r; ".trim_end_matches("; "));
    ok(&mut root, "grant select on d1.* to r");
    ok(&mut root, "grant r to u");
    denied(&mut user, query, "1143 SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'");
    ok(&mut user, "set role r");
    assert_eq!(ok(&mut user, "select current_role(), current_user(), user()"), [["`r`@`%`", "u@%", "u@localhost"]]);
    assert_eq!(ok(&mut user, query), [["2"]]);
    // Prepared once, checked whenever it runs.
    let (mut prepared, _) = user.prepare(query.as_bytes()).unwrap();
    ok(&mut user, "set role none");
    let mut answer = Text::default();
    user.execute_prepared(&mut prepared, Default::default(), &mut answer).unwrap();
    assert_eq!(answer.error.map(|error| error.0), Some(1143));
    let error = user.prepare(query.as_bytes()).err().unwrap();
    assert_eq!(error.code, ErrorCode(1143));
    ok(&mut root, "drop user u");
    denied(&mut user, query, no);
}

#[test]
fn queries_are_looked_at_wherever_they_stand() {
    let instance = server();
    let mut root = session(&instance, "root", "localhost");
    SETUP.iter().for_each(|statement| drop(ok(&mut root, statement)));
    ok(&mut root, "grant select (a) on d1.t to u");
    let mut user = session(&instance, "u", "%");
    let (table, column) = (
        "1142 SELECT command denied to user 'u'@'localhost' for table 't2'",
        "1143 SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'",
    );
    for (statement, expected) in [
        ("select 1 union select 2 order by (select max(x) from d1.t2)", table),
        ("(select a from d1.t) order by b", column),
        ("(select a from d1.t) union (select a from d1.t) order by (select max(b) from d1.t)", column),
        ("select 1 from d1.t, lateral (select t.b) d", column),
        ("select x from (select 1 as x) d where x in (select x from d1.t2)", table),
        ("select a from d1.t where exists (select 1 from (select 1 as y) d where t.b = d.y)", column),
        ("select a from d1.t where exists (select 1 from (select 1 as y) d where b = y)", column),
        ("with t2 as (select a from d1.t) select * from d1.t2", table),
        ("with w as (select a from d1.t) select * from w, (select * from d1.t2) d", table),
        ("select a from d1.t window w as (order by b)", column),
        ("select count(*) from d1.t group by b", column),
        ("select a as b from d1.t group by b", column),
        ("set @x = (select x from d1.t2 limit 1)", table),
        ("set session sort_buffer_size = (select x from d1.t2 limit 1)", table),
        ("kill (select x from d1.t2 limit 1)", table),
        ("show tables from d1 where (select max(x) from d1.t2) is null", table),
        (
            "insert into d1.t (a) select 1 on duplicate key update a = (select 1 from d1.t2)",
            "1142 INSERT, UPDATE command \
          denied to user 'u'@'localhost' for table 't'",
        ),
        ("values row((select max(x) from d1.t2))", table),
    ] {
        denied(&mut user, statement, expected);
    }
    // And no more is asked than is used.
    for statement in [
        "select x from d1.t, (select 1 as x) d",
        "select y from (select a as y from d1.t) d order by y",
        "select a as q from d1.t having q > 1 order by q",
        "select a as q, count(*) from d1.t group by q",
        "with d2 as (select a from d1.t) select a from d2",
        "select a from d1.t where a in (select y from (select 1 as y) d where y = a)",
    ] {
        ok(&mut user, statement);
    }
    ok(&mut root, "use d1");
    ok(&mut root, "grant select on d1.t2 to u");
    let mut user = session(&instance, "u", "%");
    ok(&mut user, "use d1");
    // A name of WITH is no table; what is written is one.
    ok(&mut user, "with nowhere as (select a from t) select * from nowhere");
    denied(
        &mut user,
        "with t2 as (select a from t) delete from t2",
        "1142 DELETE command denied to user 'u'@'localhost' for \
           table 't2'",
    );
}

#[test]
fn nobody_reaches_the_rows_of_accounts() {
    let instance = server();
    let mut root = session(&instance, "root", "localhost");
    let no = "1044 Access denied for user 'root'@'localhost' to database '#accounts'";
    for statement in [
        "use `#accounts`",
        "select * from `#accounts`.accounts",
        "update `#accounts`.accounts set number = 1",
        "drop database `#accounts`",
        "show tables from `#accounts`",
        "create table `#accounts`.t (a int)",
    ] {
        denied(&mut root, statement, no);
    }
    let rows = ok(&mut root, "show databases");
    assert_eq!(rows, [["information_schema"], ["mysql"], ["performance_schema"]]);
    assert!(ok(&mut root, "select * from information_schema.tables where table_schema like '#%'").is_empty());
    assert_eq!(
        ok(&mut root, "select user, host, plugin, account_locked from mysql.user"),
        [["root", "localhost", "caching_sha2_password", "N"]]
    );
    denied(
        &mut root,
        "insert into mysql.user (user) values ('x')",
        "3554 Access to system table 'mysql.user' is rejected.",
    );
    denied(&mut root, "drop database mysql", "3552 Access to system schema 'mysql' is rejected.");
    denied(&mut root, "create database mysql", "1007 Can't create database 'mysql'; database exists");
    denied(
        &mut root,
        "insert into information_schema.tables values (1)",
        "1044 Access denied for user 'root'@'localhost' to database 'information_schema'",
    );
}

#[test]
fn account_statements_commit_and_an_expired_password_is_changed_first() {
    let instance = server();
    let mut root = session(&instance, "root", "localhost");
    SETUP.iter().for_each(|statement| drop(ok(&mut root, statement)));
    ok(&mut root, "begin");
    ok(&mut root, "insert into d1.t values (1, 2, 3)");
    ok(&mut root, "grant select on d1.* to u");
    ok(&mut root, "rollback");
    assert_eq!(ok(&mut root, "select a from d1.t"), [["1"]]);
    ok(&mut root, "alter user u password expire");
    let mut user = session(&instance, "u", "%");
    let mut account = user.account().clone();
    account.must_change_password = true;
    user.set_account(account);
    let no = "1820 You must reset your password using ALTER USER statement before executing this statement.";
    for statement in ["select 1", "set names utf8mb4", "show grants", "begin", "select a from d1.t"] {
        denied(&mut user, statement, no);
    }
    // Without plugins no password can be set here; without a password the account stays expired.
    ok(&mut user, "alter user u identified by ''");
    assert_eq!(ok(&mut user, "select a from d1.t"), [["1"]]);
}
