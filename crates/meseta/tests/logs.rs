//! The general log and the slow log, as files; FLUSH LOGS and SIGHUP.

mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use meseta_protocol::value::Value;
use support::Serving;

const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a file until it has this.
#[track_caller]
fn until_in(path: &Path, wanted: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if text.contains(wanted) {
            return text;
        }
        assert!(Instant::now() < deadline, "{wanted} is not in {}: {text}", path.display());
        std::thread::yield_now();
    }
}

/// `Id Command<tab>Argument` of each entry, without times and numbers.
fn entries(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|line| line.split_once('\t')?.1.trim_start().split_once(' '));
    lines.map(|(_, entry)| entry.replace('\t', ": ")).collect()
}

#[test]
fn the_general_log_has_each_command_and_no_password() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("all.log");
    let serving = Serving::start_with(directory.path(), &["--general-log", "--general-log-file=all.log"], &[]);
    let mut root = serving.connect();
    assert_eq!(root.query("select @@general_log, @@general_log_file, @@log_output"), ["1|all.log|FILE"]);
    root.query("create database d; select 1; create user u identified by 'se''cret'");
    root.query("select 2 from");
    root.query("set password for u = 'other'; prepare s from 'alter user u identified by ''third'''");
    root.client.prepare(b"select ?, ?");
    assert_eq!(root.answers(), ["prepared 1"]);
    root.client.execute(
        1,
        meseta_protocol::flags::CursorFlags(0),
        &[(b"", Value::Int(7)), (b"", Value::Bytes(b"it's"))],
        true,
    );
    assert_eq!(root.answers(), ["7|it's"]);
    root.client.close_statement(1);
    root.client.init_db(b"d");
    assert_eq!(root.answers(), ["ok 0"]);
    for _ in 0..2 {
        root.query("select 3");
    }
    root.client.quit();
    root.answers();
    let text = until_in(&file, "Quit");
    assert!(text.lines().next().unwrap().contains("meseta, Version: 9.7.0-meseta"), "{text}");
    assert_eq!(text.lines().nth(2), Some("Time                 Id Command    Argument"));
    let wanted = [
        "Connect: root@localhost on  using TCP/IP",
        "Query: select @@general_log, @@general_log_file, @@log_output",
        "Query: create database d",
        "Query: select 1",
        "Query: create user u identified by <secret>",
        // What cannot be read may have a password in it.
        "Query: set password for u = <secret>",
        "Query: prepare s from <secret>",
        "Prepare: select ?, ?",
        "Execute: select 7, 'it\\'s'",
        "Close stmt: ",
        "Init DB: d",
        "Query: select 3",
        "Query: select 3",
        "Quit: ",
    ];
    assert_eq!(entries(&text), wanted);
    let time = text.lines().nth(3).and_then(|line| line.split('\t').next()).unwrap();
    assert!(time.len() == 27 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");

    // Off, elsewhere, and where no file can be.
    let mut root = serving.connect();
    root.query("set global general_log = off; select 4; set global general_log_file = 'more.log', global general_log = on; select 5");
    let more = until_in(&directory.path().join("more.log"), "select 5");
    assert!(!more.contains("select 4") && !fs::read_to_string(&file).unwrap().contains("select 4"));
    for nowhere in ["/nowhere/at/all.log", "", "my.cnf", "."] {
        assert_eq!(root.query(&format!("set global general_log_file = '{nowhere}'")), ["error 1231"], "{nowhere}");
    }
    assert_eq!(root.query("set global log_output = 'TABLE'"), ["error 1235"]);
    assert_eq!(
        root.query("set global log_output = 'NONE'; select 6; set global log_output = 'FILE'; select 7")
            .last()
            .unwrap(),
        "7"
    );
    assert!(!until_in(&directory.path().join("more.log"), "select 7").contains("select 6"));
}

#[test]
fn slow_statements_are_told_as_mysql_tells_them() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("slow.log");
    let options = ["--slow-query-log", "--slow-query-log-file=slow.log", "--long-query-time=5"];
    let serving = Serving::start_with(directory.path(), &options, &[]);
    let mut root = serving.connect();
    root.query("create database d; use d; create table t (a int); insert into t values (1), (2), (3)");
    root.query("set long_query_time = 0; select a from t where a > 1; update t set a = 9 where a = 3; create user u identified by 'x'");
    let text = until_in(&file, "create user");
    let slow: Vec<&str> = text.split("# Time: ").skip(1).collect();
    assert_eq!(slow.len(), 4, "{text}");
    let lines: Vec<&str> = slow[1].lines().collect();
    assert_eq!(lines[1].split("Id:").next(), Some("# User@Host: root[root] @ localhost []  "));
    assert!(
        lines[2].starts_with("# Query_time: 0.0")
            && lines[2].ends_with("  Lock_time: 0.000000 Rows_sent: 2  Rows_examined: 3"),
        "{text}"
    );
    assert_eq!((lines[3], lines[5]), ("use d;", "select a from t where a > 1;"));
    assert!(lines[4].starts_with("SET timestamp=") && lines[4].ends_with(';'));
    assert!(slow[2].contains("Rows_sent: 0  Rows_examined: 3\n"), "{text}");
    assert!(slow[3].contains("create user u identified by <secret>;\n"), "{text}");
    assert_eq!(root.query("set min_examined_row_limit = 1; select 123; select count(*) from t"), ["ok 0", "123", "3"]);
    assert!(!until_in(&file, "select count(*)").contains("select 123"));
    assert_ne!(root.query("show global status like 'Slow_queries'"), ["Slow_queries|0"]);

    // A file that was moved away is made anew: by FLUSH LOGS, and by SIGHUP.
    let moved = directory.path().join("slow.1");
    for again in 0..2 {
        fs::rename(&file, &moved).unwrap();
        if again == 0 {
            assert_eq!(root.query("flush slow logs"), ["ok 0"]);
        } else {
            serving.signal("-HUP");
            until_in(&file, "Time ");
        }
        root.query("select a as again from t");
        assert!(until_in(&file, "select a as again").starts_with('/') || again < 2);
        assert!(!fs::read_to_string(&moved).unwrap().contains("as again") || again == 1);
    }
    drop(root);
    assert_eq!(serving.end("-TERM"), Some(0));
    // A log that cannot be written is told of, and the server starts.
    let serving =
        Serving::start_with(directory.path(), &["--general-log", "--general-log-file=/nowhere/at/all.log"], &[]);
    assert!(serving.told().contains("general_log is off: /nowhere/at/all.log"), "{}", serving.told());
    assert_eq!(serving.connect().query("select 1"), ["1"]);
}
