//! `meseta serve` as a process: a client connects, statements are answered, SIGKILL loses nothing, SIGTERM ends it cleanly.

mod support;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::flags::{Capabilities, CursorFlags};
use meseta_protocol::value::Value;
use support::Serving;

#[test]
fn a_client_is_answered_and_what_it_committed_survives() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    assert_eq!(
        client.query("create database d; use d; create table t (id int primary key, c varchar(9))"),
        ["ok 1", "ok 0", "ok 0"]
    );
    assert_eq!(client.query("insert into t values (1, 'a'), (2, null)"), ["ok 2"]);
    assert_eq!(client.query("select * from t"), ["1|a", "2|NULL"]);
    assert_eq!(client.query("insert into t values (1, 'b')"), ["error 1062"]);
    assert_eq!(client.query("select 1 from nowhere; select 2"), ["error 1146"]);

    client.client.prepare(b"select c, id from t where id = ?");
    assert_eq!(client.answers(), ["prepared 1"]);
    for (id, row) in [(1, "a|1"), (2, "NULL|2")] {
        client.client.execute(1, CursorFlags(0), &[(b"", Value::Int(id))], true);
        assert_eq!(client.answers(), [row]);
    }

    // What is not committed goes, what is stays: whatever happens to the process.
    let mut other = serving.connect();
    assert_eq!(other.query("use d; begin; delete from t"), ["ok 0", "ok 0", "ok 2"]);
    assert_eq!(serving.end("-KILL"), None);
    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    assert_eq!(client.query("use d; select * from t"), ["ok 0", "1|a", "2|NULL"]);
    assert_eq!(serving.end("-TERM"), Some(0));

    let check = Command::new(env!("CARGO_BIN_EXE_meseta")).arg("check").arg(directory.path()).output().unwrap();
    let told = String::from_utf8_lossy(&check.stdout);
    assert_eq!(check.status.code(), Some(0), "{told}");
    assert!(told.contains("compared") && told.contains("indexes have what tables have"), "{told}");
}

/// What MySQL 9.7 answers: with CLIENT_FOUND_ROWS, as Connector/J and ActiveRecord log in, the rows that were found.
#[test]
fn a_client_that_asks_for_found_rows_is_told_of_them() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let usual = serving.options("root", "");
    let wants_found =
        ClientOptions { capabilities: usual.capabilities.with(Capabilities::FOUND_ROWS), ..usual.clone() };
    let mut clients = [usual, wants_found].map(|options| serving.connect_with(options).unwrap());
    for (number, client) in clients.iter_mut().enumerate() {
        client.query(&format!("create database d{number}; use d{number}"));
        client.query("create table t (id int primary key, a int, b int, key (a))");
        client.query("insert into t values (1, 1, 1), (2, 1, 2), (3, 2, 3)");
        for (query, changed, found) in [
            ("update t set b = 1 where a = 1", 1, 2),
            ("update t set b = 1 where a = 1", 0, 2),
            ("update t set b = 9 where a = 7", 0, 0),
            ("insert into t values (1, 1, 1) on duplicate key update b = 1", 0, 1),
            ("insert into t values (1, 1, 1) on duplicate key update b = b + 1", 2, 2),
            ("insert into t values (4, 4, 4), (1, 1, 2), (2, 1, 5) on duplicate key update b = values(b)", 3, 4),
            ("update t x join t y on x.a = y.a and y.id = 1 set x.b = 2", 1, 2),
            ("replace into t values (1, 1, 2)", 1, 1),
            ("delete from t where a = 4", 1, 1),
            ("update t set b = b order by id limit 2", 0, 2),
        ] {
            let expected = [changed, found][number];
            assert_eq!(client.query(query), [format!("ok {expected}")], "{query}");
            assert_eq!(client.query("select row_count()"), [expected.to_string()], "{query}");
        }
    }
}

#[test]
fn threads_read_and_write_where_asynchronous_io_is_not_wanted() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(directory.path(), &["--innodb-use-native-aio=OFF"], &[]);
    let mut client = serving.connect();
    assert_eq!(client.query("select @@innodb_use_native_aio"), ["0"]);
    client.query("create database d; create table d.t (id int primary key); insert into d.t values (1), (2)");
    assert_eq!(serving.end("-TERM"), Some(0));

    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    assert_eq!(client.query("select count(*) from d.t"), ["2"]);
    // Whether it is to be had here or not, the variable and the log agree.
    let is_used = client.query("select @@innodb_use_native_aio") == ["1"];
    assert_ne!(is_used, serving.told().contains("read and written by threads"));
    assert_eq!(client.query("set global innodb_use_native_aio = 0"), ["error 1238"]);
    assert_eq!(serving.end("-TERM"), Some(0));
}

#[test]
fn a_client_sends_a_file_when_the_server_may_ask_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    client.query("create database d; use d; create table t (id int primary key, c varchar(9))");
    let load = "load data local infile 'here.csv' into table t fields terminated by ','";
    assert_eq!(client.query(load), ["error 3948"]);
    assert_eq!(client.query("set global local_infile = 1"), ["ok 0"]);
    assert_eq!(client.query(load), ["file here.csv", "ok 2"]);
    assert_eq!(client.query("show warnings"), ["Warning|1062|Duplicate entry '6' for key 't.PRIMARY'"]);
    assert_eq!(client.query("select * from t"), ["5|five", "6|six"]);
    assert_eq!(client.query("load data local infile 'x' into table nothing"), ["error 1146"]);
    assert_eq!(client.query("select count(*) from t"), ["2"]);
    assert_eq!(serving.end("-TERM"), Some(0));
}

#[test]
fn an_option_that_is_misspelt_is_told_with_the_nearest() {
    let run = Command::new(env!("CARGO_BIN_EXE_meseta")).args(["serve", "--portt=1"]).output().unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{told}");
    assert!(told.contains("port"), "{told}");
}

/// Runs `meseta serve` with options that keep it from starting: its status and what it said.
fn refused(options: &[&str]) -> (Option<i32>, String) {
    // Without it, what is said of addresses beyond loopback is that root has no password.
    let mut command = Command::new(env!("CARGO_BIN_EXE_meseta"));
    let run = command.arg("serve").args(options).env("MYSQL_ALLOW_EMPTY_PASSWORD", "yes").output().unwrap();
    (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
}

#[track_caller]
fn says(options: &[&str], parts: &[&str]) {
    let (status, told) = refused(options);
    assert_eq!(status, Some(2), "{told}");
    let last = told.lines().last().unwrap_or_default();
    assert!(last.starts_with("meseta: "), "{told}");
    parts.iter().for_each(|part| assert!(last.contains(part), "{part:?} is not in: {told}"));
}

#[test]
fn what_keeps_it_from_starting_is_said_with_what_to_do() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap();
    let serving = Serving::start(directory.path());
    let port = format!("--port={}", serving.port);
    // Another one has the directory, or the port.
    says(&["--datadir", place, "--port=0"], &[place]);
    let other = tempfile::tempdir().unwrap();
    let elsewhere = other.path().to_str().unwrap();
    says(&["--datadir", elsewhere, &port], &["another program has this port", "--port"]);
    assert_eq!(serving.end("-TERM"), Some(0));
    // What was begun for the server that did not come to be was ended in order.
    assert_eq!(Serving::start(other.path()).end("-INT"), Some(0));

    says(&["--datadir", elsewhere, "--bind-address=203.0.113.1", "--port=0"], &["no such address"]);
    says(&["--datadir", elsewhere, "--port"], &["--port needs a value"]);
    says(&["--datadir", elsewhere, "--port=many"], &["port", "many"]);
    says(&["--datadir=/dev/null/x"], &["the data directory /dev/null/x"]);
    says(&["--defaults-file=/does/not/exist"], &["/does/not/exist"]);
    let theirs = tempfile::tempdir().unwrap();
    std::fs::write(theirs.path().join("ibdata1"), "").unwrap();
    says(&["--datadir", theirs.path().to_str().unwrap()], &["ibdata1", "dump"]);
    assert_eq!(std::fs::read_dir(theirs.path()).unwrap().count(), 1, "nothing was made there");
}

#[test]
fn help_is_printed_and_nothing_is_started() {
    for (options, part) in [(&["--help"][..], "--datadir"), (&["--verbose", "--help"], "innodb-thread-concurrency")] {
        let run = Command::new(env!("CARGO_BIN_EXE_meseta")).arg("serve").args(options).output().unwrap();
        let told = String::from_utf8_lossy(&run.stdout);
        assert_eq!((run.status.code(), run.stderr.len()), (Some(0), 0));
        assert!(told.contains(part), "{told}");
    }
}

#[test]
fn a_configuration_of_2011_starts_it() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("my.cnf");
    let socket = directory.path().join("mysql.sock");
    let data = directory.path().join("data");
    let text = format!(
        "[client]\nport=3306\n[mysqld_safe]\nnice=0\n[mysqld]\nuser=mysql\nport=0\nsocket={}\ndatadir={}\n\
         basedir=/usr\ntmpdir=/tmp\nskip-external-locking\nskip-name-resolve\nbind-address=127.0.0.1\n\
         key_buffer_size=16M\nmax_allowed_packet=16M\nthread_stack=192K\nthread_cache_size=8\nmyisam-recover-options=BACKUP\n\
         max_connections=500\ntable_open_cache=4096\nquery_cache_limit=1M\nquery_cache_size=16M\nlog_error=/var/log/e.log\n\
         expire_logs_days=10\nmax_binlog_size=100M\ninnodb_file_per_table\ninnodb_buffer_pool_size=64M\n\
         innodb_buffer_pool_instances=8\ninnodb_log_file_size=64M\ninnodb_log_files_in_group=2\n\
         innodb_log_buffer_size=8M\ninnodb_flush_log_at_trx_commit=2\ninnodb_flush_method=O_DIRECT\n\
         innodb_thread_concurrency=16\ninnodb_additional_mem_pool_size=20M\ninnodb_read_io_threads=8\n\
         innodb_write_io_threads=8\ninnodb_io_capacity=2000\ninnodb_data_file_path=ibdata1:12M:autoextend\n\
         sql_mode=STRICT_TRANS_TABLES\ncharacter-set-server=utf8mb4\ncollation-server=utf8mb4_general_ci\n",
        socket.display(),
        data.display()
    );
    std::fs::write(&file, text).unwrap();
    let mut process = Command::new(env!("CARGO_BIN_EXE_meseta"))
        .arg("serve")
        .arg(format!("--defaults-file={}", file.display()))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = Vec::new();
    for line in BufReader::new(process.stderr.as_mut().unwrap()).lines() {
        told.push(line.unwrap());
        if told.last().is_some_and(|line| line.contains("ready after")) {
            break;
        }
    }
    let all = told.join("\n");
    assert!(all.contains("ready after"), "{all}");
    assert!(socket.exists());
    for name in ["innodb_thread_concurrency", "query_cache_size", "innodb_additional_mem_pool_size", "table_open_cache"]
    {
        let lines = told.iter().filter(|line| line.contains(name)).count();
        assert_eq!(lines, 1, "{name}: {all}");
    }
    let id = process.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(process.wait().unwrap().code(), Some(0));
    assert!(!socket.exists());
}
