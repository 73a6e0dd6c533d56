//! SET PERSIST: what is remembered in mysqld-auto.cnf, and heeded by the next start.

mod support;

use std::fs;

use support::{Serving, command};

#[test]
fn what_is_persisted_is_there_after_the_next_start() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mysqld-auto.cnf");
    let serving = Serving::start(directory.path());
    let mut root = serving.connect();
    let remembered = "select * from performance_schema.persisted_variables order by 1";
    assert_eq!(root.query(remembered), [""; 0]);
    let done = "set persist max_connections = 77, persist_only long_query_time = 2.5; set persist_only back_log = 99; \
                set persist_only innodb_buffer_pool_size = 33554432; set persist init_connect = 'set @a = \"x\\\\\"'";
    assert_eq!(root.query(done), ["ok 0"; 4]);
    let now = "select @@max_connections, @@long_query_time, @@back_log, @@innodb_buffer_pool_size, @@init_connect";
    assert_eq!(root.query(now), ["77|10.000000|10000|67108864|set @a = \"x\\\""]);
    let all = [
        "back_log|99",
        "init_connect|set @a = \"x\\\"",
        "innodb_buffer_pool_size|33554432",
        "long_query_time|2.500000",
        "max_connections|77",
    ];
    assert_eq!(root.query(remembered), all);
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with(
            r#"{"Version": 2, "mysql_dynamic_variables": {"init_connect": {"Value": "set @a = \"x\\\"", "#
        ),
        "{text}"
    );
    assert!(text.contains(r#""mysql_static_variables": {"back_log": {"Value": "99", "Metadata": {"Host": "localhost", "User": "root", "Timestamp": "#), "{text}");
    // What cannot be remembered, and for whom.
    for (text, error) in [
        ("set persist back_log = 1", "error 1238"),
        ("set persist_only port = 1", "error 1238"),
        ("set persist timestamp = 1", "error 1228"),
        ("set persist nothing = 1", "error 1193"),
        ("set persist innodb_buffer_pool_size = 5242880", "error 1235"),
        ("reset persist nothing", "error 3615"),
        ("create user u@localhost", "ok 0"),
    ] {
        assert_eq!(root.query(text), [error], "{text}");
    }
    let mut other = serving.login_as("u", "").unwrap();
    assert_eq!(other.query("set persist max_connections = 5"), ["error 1227"]);
    assert_eq!(other.query("set persist_only back_log = 5"), ["error 3630"]);
    assert_eq!(other.query("reset persist"), ["error 1227"]);
    // A killed server has it all the same.
    assert_eq!(serving.end("-KILL"), None);

    // It wins over the command line.
    let serving = Serving::start_with(directory.path(), &["--max-connections=500", "--back-log=44"], &[]);
    let mut root = serving.connect();
    assert_eq!(root.query(now), ["77|2.500000|99|33554432|set @a = \"x\\\""]);
    assert_eq!(root.query(remembered), all);
    assert_eq!(
        root.query("reset persist if exists nothing; show warnings"),
        ["ok 0", "Warning|3615|Variable nothing does not exist in persisted config file"]
    );
    assert_eq!(root.query("reset persist max_connections; select @@max_connections"), ["ok 0", "77"]);
    assert_eq!(root.query(remembered), all[..4]);
    // What SET said is undone by DEFAULT, which is what the start said.
    assert_eq!(root.query("set persist max_connections = default; select @@max_connections"), ["ok 0", "77"]);
    assert_eq!(root.query("reset persist"), ["ok 0"]);
    assert_eq!(root.query(remembered), [""; 0]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "{\"Version\": 2}\n");
    drop(root);
    assert_eq!(serving.end("-TERM"), Some(0));
    let serving = Serving::start_with(directory.path(), &["--max-connections=500"], &[]);
    assert_eq!(serving.connect().query("select @@max_connections"), ["500"]);
}

#[test]
fn a_damaged_file_ends_the_start_and_says_how_to_go_on() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("mysqld-auto.cnf");
    let value = |name: &str, value: &str| {
        format!("{{\"Version\": 2, \"mysql_dynamic_variables\": {{\"{name}\": {{\"Value\": \"{value}\"}}}}}}")
    };
    for (text, why) in [
        ("{\"Version\": 2, \"mysql_dyn".to_owned(), "no JSON"),
        ("".to_owned(), "no JSON"),
        ("{\"Version\": 9}".to_owned(), "its version is 9"),
        (value("max_connections", "many"), "max_connections"),
        (value("sql_mode", "NONSENSE"), "sql-mode"),
    ] {
        fs::write(&file, &text).unwrap();
        let ended = command(directory.path(), &[], &[]).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{told}");
        assert!(told.contains(why), "{text}: {told}");
    }
    fs::write(&file, "{\"Version\": 2, \"mysql_dyn").unwrap();
    let ended = command(directory.path(), &[], &[]).output().unwrap();
    assert!(String::from_utf8_lossy(&ended.stderr).contains("--persisted-globals-load=OFF starts without"));
    let serving = Serving::start_with(directory.path(), &["--persisted-globals-load=OFF"], &[]);
    assert!(serving.told().contains("no JSON"), "{}", serving.told());
    let mut root = serving.connect();
    assert_eq!(root.query("select @@persisted_globals_load; set persist max_connections = 33"), ["0", "ok 0"]);
    drop(root);
    assert_eq!(serving.end("-TERM"), Some(0));
    // What is not known here is told of, and kept.
    let text = fs::read_to_string(&file).unwrap().replace("\"max_connections\"", "\"of_another_server\"");
    fs::write(&file, text).unwrap();
    let serving = Serving::start(directory.path());
    assert!(serving.told().contains("of_another_server was set by SET PERSIST"), "{}", serving.told());
    let mut root = serving.connect();
    assert_eq!(
        root.query("set persist wait_timeout = 5; select count(*) from performance_schema.persisted_variables"),
        ["ok 0", "2"]
    );
    drop(root);
    // SHUTDOWN ends the server as SIGTERM does.
    let mut root = serving.connect();
    assert_eq!(root.query("shutdown").first().map(String::as_str), Some("ok 0"));
    assert_eq!(serving.ended(), Some(0));
}
