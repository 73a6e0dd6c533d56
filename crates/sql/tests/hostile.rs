//! Whatever a statement says, it is answered, and the session goes on.
//!
//! Statements are those that the other tests have recorded, whole and broken: cut short, parts of two put together, words and
//! figures exchanged. `MESETA_CORPUS=FOLDER` runs the statements of a folder's files (`*.sql`, with a byte 0 between them)
//! besides; `MESETA_HOSTILE=NUMBER` breaks so many.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use meseta_sim::SimDisk;
use meseta_sql::Result;
use meseta_sql::query::{OutputColumn, OutputColumns};
use meseta_sql::session::{Answer, Done, Identity, Instance, Session, Status, Undisturbed};
use meseta_storage::{Store, StoreOptions};
use meseta_types::Datum;

/// Turns rows into text, as a client's answer would, and counts answers.
#[derive(Default)]
struct Count {
    answers: usize,
    text: Vec<u8>,
}

impl Answer for Count {
    fn columns(&mut self, _: &OutputColumns, _: Status) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, columns: &[OutputColumn], row: &[Datum<'_>]) -> Result<()> {
        assert_eq!(columns.len(), row.len());
        for (column, &value) in columns.iter().zip(row) {
            self.text.clear();
            if !value.is_null() {
                column.data_type.append_text(value, &mut self.text);
            }
        }
        Ok(())
    }

    fn end(&mut self, _: Status) -> Result<()> {
        self.answers += 1;
        Ok(())
    }

    fn done(&mut self, _: &Done, _: Status) -> Result<()> {
        self.answers += 1;
        Ok(())
    }

    fn failed(&mut self, error: &meseta_sql::Error, _: Status) -> Result<()> {
        assert!(!error.message.is_empty());
        self.answers += 1;
        Ok(())
    }
}

fn instance() -> Arc<Instance> {
    let options = StoreOptions {
        memory_bytes: 64 << 20,
        log_bytes: 64 << 20,
        log_buffer_bytes: 1 << 20,
        max_data_bytes: 4 << 30,
        ..StoreOptions::default()
    };
    Instance::open(Store::open_on(Arc::new(SimDisk::new(1)), options).unwrap()).unwrap()
}

fn session(instance: &Arc<Instance>) -> Session {
    let connection = instance.next_connection();
    let identity = Identity { connection, user: "root@localhost".into(), account: "root@localhost".into() };
    let mut session = Session::new(instance, identity, Box::new(Undisturbed)).unwrap();
    for text in [
        "create database if not exists d",
        "use d",
        "create table if not exists t1 (a int primary key auto_increment, b varchar(20), c decimal(10, 3), d datetime, \
         e enum('x', 'y'), f json, g double, h bit(9), key (b), unique (c))",
        "insert ignore into t1 values (1, 'one', 1.5, '2026-01-01', 'x', '[1]', 1e9, 5), (2, null, null, null, null, null, \
         null, null), (3, 'three', -3, '0000-00-00', 'y', '{\"a\": 1}', -0.5, 0)",
        "create table if not exists t2 (a int, b varchar(20), key (a))",
        "insert into t2 values (1, 'x'), (2, 'y')",
        "set innodb_lock_wait_timeout = 1, max_execution_time = 2000, cte_max_recursion_depth = 100",
    ] {
        let mut count = Count::default();
        session.execute(text.as_bytes(), false, &mut count).unwrap();
    }
    session
}

/// Runs a statement; a session that panicked is done with.
fn run(session: &mut Session, text: &[u8]) -> std::result::Result<(), String> {
    let shown = || String::from_utf8_lossy(&text[..text.len().min(600)]).into_owned();
    let ran = std::panic::catch_unwind(AssertUnwindSafe(|| {
        let mut count = Count::default();
        session.execute(text, true, &mut count).map_err(|error| error.to_string())?;
        if count.answers == 0 { Err("no answer".to_owned()) } else { Ok(()) }
    }));
    match ran {
        Ok(Ok(())) => Ok(()),
        Ok(Err(problem)) => Err(format!("{problem}: {}", shown())),
        Err(panic) => {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(format!("panic: {}: {}", message.unwrap_or_default(), shown()))
        }
    }
}

/// Numbers without a pattern that anybody would miss.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// The statements that other tests have recorded.
fn recorded() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for text in [
        include_str!("definition/tables.test"),
        include_str!("definition/alter.test"),
        include_str!("definition/types.test"),
    ] {
        all.extend(text.lines().filter(|line| !line.starts_with('#')).map(|line| line.trim().as_bytes().to_vec()));
    }
    for line in include_str!("expression/cases.tsv").lines().step_by(7) {
        let expression = line.split('\t').next().unwrap_or(line);
        all.push(format!("select {expression} from t1").into_bytes());
    }
    all.retain(|statement| !statement.is_empty());
    all
}

const SPICE: &[&str] = &[
    "null",
    "-1",
    "0",
    "18446744073709551615",
    "-9223372036854775808",
    "1e308",
    "0.5",
    "'x'",
    "''",
    "'\\\\'",
    "x'ff'",
    "a",
    "b",
    "c",
    "d",
    "f",
    "t1",
    "t2",
    "*",
    "(select a from t2)",
    "(",
    ")",
    ",",
    "between",
    "is null",
    "order by 1",
    "limit 0",
    "union select 1",
    "group by a",
    "count(*)",
    "cast(",
    "as char)",
    "interval 1 day",
    "@x",
    "@@sql_mode",
    "\u{1f600}",
    "--",
    "/*",
];

/// A statement made of others.
fn broken(statements: &[Vec<u8>], numbers: &mut Numbers) -> Vec<u8> {
    let mut text = statements[numbers.below(statements.len())].clone();
    match numbers.below(4) {
        0 => text.truncate(numbers.below(text.len())),
        1 => {
            let other = &statements[numbers.below(statements.len())];
            text.truncate(numbers.below(text.len()));
            text.extend_from_slice(&other[numbers.below(other.len())..]);
        }
        2 => {
            if let Some(byte) = {
                let at = numbers.below(text.len());
                text.get_mut(at)
            } {
                *byte = numbers.below(256) as u8;
            }
        }
        _ => {
            let mut words: Vec<Vec<u8>> = text.split(|byte| *byte == b' ').map(<[u8]>::to_vec).collect();
            for _ in 0..=numbers.below(2) {
                let at = numbers.below(words.len());
                words[at] = SPICE[numbers.below(SPICE.len())].as_bytes().to_vec();
            }
            text = words.join(&b' ');
        }
    }
    text
}

#[test]
fn every_statement_is_answered() {
    let mut instance_now = instance();
    let mut session_now = session(&instance_now);
    let statements = recorded();
    let count = std::env::var("MESETA_HOSTILE").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15);
    let mut problems = Vec::new();
    let broken = (0..count).map(|_| broken(&statements, &mut numbers)).collect::<Vec<_>>();
    for (number, text) in statements.iter().chain(&broken).chain(&corpus()).enumerate() {
        if is_unwelcome(text) {
            continue;
        }
        if number % 200 == 199 {
            // Tables that were doubled again and again go.
            instance_now = instance();
            session_now = session(&instance_now);
        }
        if let Err(problem) = run(&mut session_now, text) {
            problems.push(problem);
            // What panicked is not used again, and is not to be dropped in a state that nobody knows.
            std::mem::forget(std::mem::replace(&mut session_now, session(&instance_now)));
        }
        if session_now.database().map(|name| &**name) != Some("d") {
            session_now = session(&instance_now);
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// What would only take time, or change what the test stands on.
fn is_unwelcome(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_ascii_lowercase();
    ["sleep", "benchmark", "get_lock", "max_execution_time", "lock_wait_timeout", "drop database", "drop schema"]
        .iter()
        .any(|word| text.contains(word))
}

/// Statements of the folder that `MESETA_CORPUS` names.
fn corpus() -> Vec<Vec<u8>> {
    let Ok(folder) = std::env::var("MESETA_CORPUS") else { return Vec::new() };
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("MESETA_CORPUS is a folder") {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "sql") {
            all.extend(std::fs::read(path).unwrap().split(|byte| *byte == 0).map(<[u8]>::to_vec));
        }
    }
    all.retain(|statement| !statement.is_empty());
    all
}

/// Statements that grow with a number, and the errors that they may end with.
#[test]
fn statements_as_deep_as_they_like_leave_the_stack_alone() {
    type Grow = fn(usize) -> String;
    let all: &[(&str, Grow)] = &[
        ("set operations", |n| vec!["select 1"; n].join(" union all ")),
        ("intersections", |n| vec!["select 1"; n].join(" intersect ")),
        ("joins", |n| {
            format!("select 1 from t1 {}", (0..n).map(|at| format!("join t2 as x{at} on 1 ")).collect::<String>())
        }),
        ("lists of tables", |n| {
            format!("select 1 from {} where 0", (0..n).map(|at| format!("t2 as x{at}")).collect::<Vec<_>>().join(","))
        }),
        ("parentheses", |n| format!("select {}1{}", "(".repeat(n), ")".repeat(n))),
        ("queries in parentheses", |n| format!("{}select 1{}", "(".repeat(n), ")".repeat(n))),
        ("derived tables", |n| format!("{}select 1{}", "select * from (".repeat(n), ") x".repeat(n))),
        ("subqueries", |n| format!("select {}1{}", "(select ".repeat(n), ")".repeat(n))),
        ("IN (SELECT)", |n| format!("select 1 {}", "from t1 where a in (select 1 ".repeat(n) + &")".repeat(n))),
        ("a sum", |n| format!("select {}", vec!["1"; n].join("+"))),
        ("a condition", |n| format!("select 1 from t1 where {}", vec!["a=1"; n].join(" or "))),
        ("minus", |n| format!("select {}1", "- ".repeat(n))),
        ("not", |n| format!("select {}1", "not ".repeat(n))),
        ("CASE", |n| format!("select {}1{}", "case when 1 then ".repeat(n), " end".repeat(n))),
        ("functions", |n| format!("select {}1{}", "abs(".repeat(n), ")".repeat(n))),
        ("WITH", |n| {
            let tables = (1..n).map(|at| format!("c{at} as (select * from c{})", at - 1)).collect::<Vec<_>>().join(",");
            format!("with c0 as (select 1), {tables} select * from c{}", n - 1)
        }),
        ("chains in chains", |n| {
            let chain = vec!["select 1"; 20 * n].join(" union all ");
            format!("{}{chain}{}", "select * from (select 1 union all (select * from (".repeat(n), ") x)) x".repeat(n))
        }),
        ("JSON", |n| format!("select cast('{}1{}' as json)", "[".repeat(n), "]".repeat(n))),
        ("a pattern", |n| format!("select '{}' like '{}'", "a".repeat(n), "%a".repeat(n))),
        ("values", |n| format!("insert into t2 values {}", vec!["(1, 'a')"; n].join(","))),
        ("IN list", |n| {
            format!("select a from t1 where a in ({})", (0..n).map(|at| at.to_string()).collect::<Vec<_>>().join(","))
        }),
        ("columns", |n| {
            format!("create table wide ({})", (0..n).map(|at| format!("c{at} int")).collect::<Vec<_>>().join(","))
        }),
    ];
    let instance = instance();
    let mut session = session(&instance);
    for (name, grow) in all {
        for number in [2, 30, 61, 62, 290, 310, 1000, 5000, 20_000] {
            // What is quadratic in MySQL too is not asked for here.
            if number > 1000 && matches!(*name, "WITH" | "a pattern") {
                continue;
            }
            run(&mut session, grow(number).as_bytes()).unwrap_or_else(|problem| panic!("{name}, {number}: {problem}"));
        }
    }
}
