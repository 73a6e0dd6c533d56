//! A server administered through its port: process list, KILL, user locks, status, reset, cursors, state tracking, options.

mod support;

use std::time::{Duration, Instant};

use meseta_protocol::flags::CursorFlags;
use meseta_protocol::value::Value;
use support::{Connection, Serving};

/// How long what must come is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// What these tests ask over and over.
trait Asking {
    /// The one value of a query.
    fn value(&mut self, text: &str) -> String;

    fn id(&mut self) -> String;

    /// Asks until the answer is this one.
    fn until(&mut self, text: &str, wanted: &str);
}

impl Asking for Connection {
    fn value(&mut self, text: &str) -> String {
        let answers = self.query(text);
        assert_eq!(answers.len(), 1, "{text}: {answers:?}");
        answers.into_iter().next().unwrap()
    }

    fn id(&mut self) -> String {
        self.value("select connection_id()")
    }

    #[track_caller]
    fn until(&mut self, text: &str, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answers = self.query(text);
            if answers == [wanted] {
                return;
            }
            assert!(Instant::now() < deadline, "{text}: {answers:?}, not {wanted}");
            std::thread::yield_now();
        }
    }
}

/// A value of a status variable.
fn status(admin: &mut Connection, name: &str) -> u64 {
    let value = admin.value(&format!("show global status like '{name}'"));
    value.rsplit('|').next().unwrap().parse().unwrap()
}

#[test]
fn a_hundred_changes_wait_for_one_row_without_a_hundred_threads() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut admin = serving.connect();
    admin.query("create database d; use d; create table t (id int primary key, v int); insert into t values (1, 0)");
    admin.query("set global slow_query_log = 0; begin; update t set v = v + 1 where id = 1");
    let mut waiting: Vec<Connection> = (0..100).map(|_| serving.connect()).collect();
    for connection in &mut waiting {
        connection.client.query(b"update d.t set v = v + 1 where id = 1");
        assert!(connection.send());
    }
    let waits = "select count(*) from performance_schema.data_locks where lock_status = 'WAITING'";
    admin.until(waits, "100");
    let shown = "select count(*) from information_schema.processlist where state = 'updating' \
        and info = 'update d.t set v = v + 1 where id = 1'";
    admin.until(shown, "100");
    assert_eq!(status(&mut admin, "Threads_running"), 101);
    assert!(status(&mut admin, "Threads_created") < 50);
    // Some go without an answer.
    waiting.truncate(60);
    admin.until(waits, "60");
    assert_eq!(admin.query("commit"), ["ok 0"]);
    for connection in &mut waiting {
        assert_eq!(connection.answers(), ["ok 1"]);
    }
    assert_eq!(admin.value("select v from t"), "61");
    assert_eq!(status(&mut admin, "Com_update"), 101);
    assert_eq!(status(&mut admin, "Innodb_row_lock_waits"), 100);
}

#[test]
fn kill_ends_statements_and_connections_wherever_they_wait() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut admin = serving.connect();
    admin.query("create database d; use d; create table t (id int primary key, v int); insert into t values (1, 1)");
    assert_eq!(admin.query("begin; update t set v = 2; select get_lock('l', 0)"), ["ok 0", "ok 1", "1"]);

    // Whoever waits for a row or a user lock, or sleeps between rows, ends with 1317; a lone SLEEP() says 1.
    let waits = [
        ("update d.t set v = 3", "error 1317"),
        // (No thread waits for this one.)
        ("update d.t set v = 3 where id = 1", "error 1317"),
        ("select get_lock('l', 1000)", "error 1317"),
        ("select sleep(1000)", "1"),
        ("select sleep(1000) from (select 1 union select 2) x", "1, error 1317"),
    ];
    let running = "select count(*) from information_schema.processlist where id = ";
    for (text, answer) in waits {
        let mut other = serving.connect();
        let id = other.id();
        let waiting = std::thread::spawn(move || {
            let answers = other.query(text);
            (answers, other.query("select 1"))
        });
        admin.until(&format!("{running}{id} and command = 'Query'"), "1");
        if !text.starts_with("update") {
            let state = if text.contains("sleep") { "User sleep" } else { "User lock" };
            admin.until(&format!("select state from information_schema.processlist where id = {id}"), state);
        } else {
            admin.until("select count(*) from performance_schema.data_locks where lock_status = 'WAITING'", "1");
            let waits = admin.value("select count(*) from performance_schema.data_lock_waits");
            assert_ne!(waits, "0");
            let blocked = "select trx_state from information_schema.innodb_trx where trx_mysql_thread_id = ";
            assert_eq!(admin.query(&format!("{blocked}{id}")), ["LOCK WAIT"]);
        }
        assert_eq!(admin.query(&format!("kill query {id}")), ["ok 0"]);
        let (answers, after) = waiting.join().unwrap();
        assert_eq!((answers.join(", "), after), (answer.to_owned(), vec!["1".to_owned()]), "{text}");
    }

    // KILL ends the connection.
    let mut other = serving.connect();
    let id = other.id();
    let waiting = std::thread::spawn(move || {
        let mut answers = other.query("update d.t set v = 3");
        answers.extend(other.query("select 1"));
        answers
    });
    admin.until("select count(*) from performance_schema.data_locks where lock_status = 'WAITING'", "1");
    assert_eq!(admin.query(&format!("kill {id}")), ["ok 0"]);
    let answers = waiting.join().unwrap();
    assert_eq!(answers.last().unwrap(), "gone", "{answers:?}");
    admin.until(&format!("{running}{id}"), "0");

    // COM_PROCESS_KILL of one that does nothing.
    let mut other = serving.connect();
    let id = other.id();
    admin.client.command(12, &id.parse::<u32>().unwrap().to_le_bytes());
    assert_eq!(admin.answers(), ["ok 0"]);
    admin.until(&format!("{running}{id}"), "0");
    assert_eq!(other.query("select 1").last().unwrap(), "gone");

    // What is not there; and oneself.
    assert_eq!(admin.query("kill 999999"), ["error 1094"]);
    assert_eq!(admin.query("kill query null"), ["error 1094"]);
    assert_eq!(admin.query("kill query connection_id()"), ["error 1317"]);
    assert_eq!(admin.query("select 1"), ["1"]);
    assert_eq!(admin.query("kill connection_id()").first().unwrap(), "error 1317");
    assert_eq!(admin.query("select 1").last().unwrap(), "gone");
}

#[test]
fn a_process_list_shows_who_does_what() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut one = serving.connect();
    let mut other = serving.connect();
    other.query("create database d; use d");
    let (one_id, other_id) = (one.id(), other.id());
    let rows = one.query("show full processlist");
    assert_eq!(rows.len(), 2, "{rows:?}");
    let fields: Vec<&str> = rows[0].split('|').collect();
    assert_eq!((fields[0], fields[1], fields[3], fields[4]), (&*one_id, "root", "NULL", "Query"));
    assert_eq!((fields[6], fields[7]), ("init", "show full processlist"));
    let fields: Vec<&str> = rows[1].split('|').collect();
    assert_eq!((fields[0], fields[3], fields[4], fields[7]), (&*other_id, "d", "Sleep", "NULL"));
    let of_threads = "select processlist_id, processlist_db, connection_type from performance_schema.threads";
    assert_eq!(one.query(of_threads), [format!("{one_id}|NULL|TCP/IP"), format!("{other_id}|d|TCP/IP")]);
    // A prepared statement's text is shown too.
    one.client.prepare(b"select info from performance_schema.processlist where id = connection_id()");
    assert_eq!(one.answers(), ["prepared 1"]);
    one.client.execute(1, CursorFlags(0), &[], true);
    assert_eq!(one.answers(), ["select info from performance_schema.processlist where id = connection_id()"]);
}

/// How queries read, as a server of 9.7 counts it.
#[test]
fn status_counts_how_queries_read() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    client.query("create database d; use d; create table t (id int primary key, k int, v int, key (k))");
    client.query("create table u (id int primary key, v int); insert into u values (1, 1), (2, 2), (3, 3)");
    client.query("insert into t values (1, 1, 1), (2, 1, 2), (3, 2, 3), (4, 3, 4); analyze table t, u");
    let names = "select variable_name, variable_value from performance_schema.session_status where variable_value <> '0' \
                 and (variable_name like 'Select\\_%' or variable_name like 'Sort\\_%' or variable_name like \
                 'Handler\\_read%' or variable_name = 'Created_tmp_tables')";
    for (text, counted) in [
        ("select v from t", "Handler_read_first=1 Handler_read_key=1 Handler_read_rnd_next=5 Select_scan=1"),
        ("select v from t where id = 2", "Handler_read_key=1"),
        ("select v from t where id between 2 and 3", "Handler_read_key=1 Handler_read_next=2 Select_range=1"),
        ("select v from t where k = 1", "Handler_read_key=1 Handler_read_next=2"),
        (
            "select v from t where id > 1 order by v",
            "Handler_read_key=1 Handler_read_next=3 Select_range=1 Sort_rows=3 Sort_scan=1",
        ),
        (
            "select v from t order by id desc",
            "Handler_read_key=1 Handler_read_last=1 Handler_read_prev=4 Select_scan=1",
        ),
        ("select k from t", "Handler_read_first=1 Handler_read_key=1 Handler_read_next=4 Select_scan=1"),
        ("select v from t limit 2", "Handler_read_first=1 Handler_read_key=1 Handler_read_rnd_next=2 Select_scan=1"),
        ("select v from t where id in (1, 3)", "Handler_read_key=2 Select_range=1"),
        ("update t set v = v + 1 where id = 1", "Handler_read_key=1"),
        ("update t set v = v + 1 where id = 99", "Handler_read_key=1"),
        ("delete from u where id = 99", "Handler_read_key=1"),
        ("delete from u where v = 99", "Handler_read_first=1 Handler_read_key=1 Handler_read_rnd_next=4"),
    ] {
        client.query("flush status");
        client.query(text);
        let mut answers: Vec<String> = client.query(names).iter().map(|row| row.replace('|', "=")).collect();
        answers.sort_unstable();
        // (What asking counts itself is counted once it has been answered, but for its own reading of one list.)
        answers.retain(|answer| answer != "Select_scan=0");
        let own = |answer: &String| match answer.strip_prefix("Select_scan=") {
            Some(count) => count.parse::<u64>().map_or(answer.clone(), |count| format!("Select_scan={}", count - 1)),
            None => answer.clone(),
        };
        let answers: Vec<String> = answers.iter().map(own).filter(|answer| answer != "Select_scan=0").collect();
        assert_eq!(answers.join(" "), counted, "{text}");
    }
    // Joins, groups, sets: which tables are read how.
    for (text, name, count) in [
        ("select t.v from t straight_join u on u.v = t.v + 0", "Select_full_join", 1),
        ("select v, count(*) from t group by v", "Created_tmp_tables", 1),
        ("select distinct v from t", "Created_tmp_tables", 1),
        ("select v from t union select v from u", "Select_scan", 3),
        ("select * from (select v from t limit 3) x", "Select_scan", 2),
        ("select v from t order by v desc", "Sort_rows", 4),
    ] {
        client.query("flush status");
        client.query(text);
        assert_eq!(client.query(&format!("show session status like '{name}'")), [format!("{name}|{count}")], "{text}");
    }
    // A connection has its own bytes.
    let bytes = |client: &mut Connection| -> u64 {
        let answers = client.query("show session status like 'Bytes_received'");
        answers[0].split('|').nth(1).unwrap().parse().unwrap()
    };
    let before = bytes(&mut client);
    let mut other = serving.connect();
    other.query(&format!("select '{}'", "x".repeat(100_000)));
    assert!(bytes(&mut other) > 100_000);
    assert!(bytes(&mut client) < before + 1_000);
}

#[test]
fn status_counts_what_is_done() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start_with(directory.path(), &["--max-connections=7"], &[]);
    let mut client = serving.connect();
    client.query("create database d; use d; create table t (id int primary key, v int)");
    let value = |client: &mut Connection, scope: &str, name: &str| -> u64 {
        let answers = client.query(&format!("show {scope} status like '{name}'"));
        assert_eq!(answers.len(), 1, "{name}: {answers:?}");
        answers[0].split('|').nth(1).unwrap().parse().unwrap_or_else(|_| panic!("{name}: {answers:?}"))
    };
    client.query("insert into t values (1, 1), (2, 2); select * from t; select * from t where id = 1");
    client.query("update t set v = 3 where id = 1; delete from t where id = 2");
    for (name, expected) in [
        ("Com_insert", 1),
        ("Com_select", 2),
        ("Com_update", 1),
        ("Com_delete", 1),
        ("Com_create_table", 1),
        ("Innodb_rows_inserted", 2),
        ("Innodb_rows_updated", 1),
        ("Innodb_rows_deleted", 1),
        ("Handler_write", 2),
    ] {
        assert_eq!(value(&mut client, "session", name), expected, "{name}");
        assert!(value(&mut client, "global", name) >= expected, "{name}");
    }
    assert!(value(&mut client, "global", "Innodb_rows_read") >= 5);
    assert!(value(&mut client, "", "Questions") > 10);
    assert!(value(&mut client, "global", "Queries") >= value(&mut client, "global", "Questions") - 1);
    for name in ["Connections", "Threads_connected", "Threads_running", "Max_used_connections", "Bytes_sent"] {
        assert!(value(&mut client, "global", name) > 0, "{name}");
    }
    for name in ["Innodb_os_log_written", "Innodb_log_writes", "Innodb_buffer_pool_pages_data", "Innodb_page_size"] {
        assert!(value(&mut client, "global", name) > 0, "{name}");
    }
    let table = "select variable_value from performance_schema.global_status where variable_name = 'Threads_connected'";
    assert_eq!(client.value(table), "1");

    // What a session counted stays when it ends, and FLUSH STATUS begins a session's own figures again.
    let before = value(&mut client, "global", "Com_do");
    let mut other = serving.connect();
    other.query("do 1; do 2");
    let id = other.id();
    drop(other);
    client.until(&format!("select count(*) from information_schema.processlist where id = {id}"), "0");
    assert_eq!(value(&mut client, "global", "Com_do"), before + 2);
    assert_eq!(client.query("flush status"), ["ok 0"]);
    assert_eq!(value(&mut client, "session", "Com_insert"), 0);
    assert_eq!(value(&mut client, "global", "Com_insert"), 1);

    client.client.statistics();
    let statistics = client.answers().concat();
    assert!(statistics.starts_with("Uptime: ") && statistics.contains("  Threads: 1  Questions: "), "{statistics}");
}

#[test]
fn waits_are_told_and_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    client.query("create database d; use d; create table t (id int primary key); insert into t values (1)");
    let syncs = "select count_star, sum_timer_wait > 0 from performance_schema.events_waits_summary_global_by_event_name \
                 where event_name = 'wait/io/file/innodb/innodb_log_file/sync'";
    let before: u64 = client.value(syncs).split('|').next().unwrap().parse().unwrap();
    assert!(before > 0);
    let truncated = client.query("truncate performance_schema.events_waits_summary_global_by_event_name");
    assert_eq!(truncated, ["ok 0"]);
    let after: u64 = client.value(syncs).split('|').next().unwrap().parse().unwrap();
    assert!(after < before, "{after} of {before}");
    assert_eq!(client.query("truncate performance_schema.threads"), ["error 1142"]);

    let status = client.query("show engine innodb status").concat();
    let sections = ["INNODB MONITOR OUTPUT", "TRANSACTIONS\n", "LOG\n---\nLog sequence number ", "Log flushed up to"];
    let more =
        ["BUFFER POOL AND MEMORY\n", "Buffer pool size   4096", "ROW OPERATIONS\n", "Number of rows inserted 1,"];
    for wanted in sections.into_iter().chain(more) {
        assert!(status.contains(wanted), "{wanted}: {status}");
    }
    assert_eq!(client.query("show engine foo status"), ["error 1286"]);
    assert_eq!(client.query("show binary logs"), ["error 1381"]);
    assert!(client.query("show replica status").is_empty());
    assert!(client.query("show engines").iter().any(|row| row.starts_with("InnoDB|DEFAULT|")));
}

#[test]
fn a_connection_that_is_reset_is_like_new() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    client.query("create database d; use d; create table t (id int primary key auto_increment)");
    client.query("insert into t values (null); set @a = 1, sql_mode = '', autocommit = 0; insert into t values (null)");
    client.query("select get_lock('l', 0)");
    client.client.prepare(b"select 1");
    assert_eq!(client.answers(), ["prepared 1"]);
    client.client.reset_connection();
    assert_eq!(client.answers(), ["ok 0"]);
    assert_eq!(client.query("select @a, @@autocommit, @@sql_mode <> '', last_insert_id()"), ["NULL|1|1|0"]);
    assert_eq!(client.query("select count(*) from t; select database(), is_free_lock('l')"), ["1", "d|1"]);
    client.client.execute(1, CursorFlags(0), &[], true);
    assert_eq!(client.answers(), ["error 1243"]);
    assert_eq!(client.query("select row_count()"), ["-1"]);
}

#[test]
fn a_cursors_rows_come_in_pieces() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    client.query("create database d; use d; create table t (id int primary key, c varchar(9))");
    client.query("insert into t values (1, 'a'), (2, null), (3, 'c'), (4, 'd'), (5, 'e')");
    client.client.prepare(b"select c, id from t where id > ?");
    assert_eq!(client.answers(), ["prepared 1"]);
    client.client.execute(1, CursorFlags::READ_ONLY, &[(b"", Value::Int(0))], true);
    assert_eq!(client.answers(), ["cursor"]);
    // Rows are those of the execution, whatever happens meanwhile.
    client.query("delete from t where id > 3");
    client.client.fetch(1, 2);
    assert_eq!(client.answers(), ["a|1", "NULL|2", "cursor"]);
    client.client.fetch(1, 2);
    assert_eq!(client.answers(), ["c|3", "d|4", "cursor"]);
    client.client.fetch(1, 2);
    assert_eq!(client.answers(), ["e|5", "last"]);
    client.client.fetch(1, 2);
    assert_eq!(client.answers(), ["error 1421"]);
    client.client.execute(1, CursorFlags::READ_ONLY, &[(b"", Value::Int(0))], true);
    assert_eq!(client.answers(), ["cursor"]);
    client.client.reset_statement(1);
    assert_eq!(client.answers(), ["ok 0"]);
    client.client.fetch(1, 1);
    assert_eq!(client.answers(), ["error 1421"]);
    client.client.fetch(7, 1);
    assert_eq!(client.answers(), ["error 1243"]);
    // A statement without rows needs none.
    client.client.prepare(b"insert into t values (9, 'z')");
    assert_eq!(client.answers(), ["prepared 2"]);
    client.client.execute(2, CursorFlags::READ_ONLY, &[], true);
    assert_eq!(client.answers(), ["ok 1"]);
}

#[test]
fn a_client_is_told_of_its_sessions_state() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    // As MySQL 9.7 tells it: the statement, and what comes with its answer.
    let recorded = [
        ("create database adm", ""),
        ("use adm", "use adm"),
        (
            "set names utf8mb4",
            "character_set_client=utf8mb4 character_set_connection=utf8mb4 character_set_results=utf8mb4",
        ),
        ("set autocommit=0", "autocommit=OFF"),
        ("set autocommit=1", "autocommit=ON"),
        ("set sql_mode=''", ""),
        ("create table t (id int primary key)", ""),
        ("set session_track_state_change=1", "State(true)"),
        ("set @a=1", "State(true)"),
        ("set session_track_state_change=0", ""),
        ("set session_track_transaction_info='STATE'", ""),
        ("begin", "T_______"),
        ("select 1", "T_____S_"),
        ("select * from t", "T_R___S_"),
        ("insert into t values (1)", "T_R_W_S_"),
        ("update t set id=2", ""),
        ("commit", "________"),
        ("set autocommit=0", "autocommit=OFF"),
        ("select * from t", "I_R___S_"),
        ("insert into t values (3)", "I_R_W_S_"),
        ("rollback", "________"),
        ("set autocommit=1", "autocommit=ON"),
        ("set session_track_transaction_info='CHARACTERISTICS'", "[]"),
        ("set transaction isolation level serializable", "[SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;]"),
        ("begin", "T_______ [SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; START TRANSACTION;]"),
        ("rollback", "________ []"),
        ("start transaction read only", "T_______ [START TRANSACTION READ ONLY;]"),
        ("commit", "________ []"),
        ("start transaction with consistent snapshot", "T_R_____ [START TRANSACTION WITH CONSISTENT SNAPSHOT;]"),
        ("commit", "________ []"),
        ("set session_track_transaction_info=off", ""),
        ("set session_track_system_variables='sql_mode'", ""),
        ("set sql_mode='ANSI_QUOTES'", "sql_mode=ANSI_QUOTES"),
        ("set session_track_system_variables=''", ""),
        ("set sql_mode=''", ""),
        ("set session_track_schema=0", ""),
        ("use adm", ""),
    ];
    for (text, expected) in recorded {
        let answers = client.query(text);
        assert!(!answers.iter().any(|answer| answer.starts_with("error")), "{text}: {answers:?}");
        assert_eq!(client.changes.join(" "), expected, "{text}");
    }
}

#[test]
fn options_are_what_variables_say_and_what_is_done() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("my.cnf");
    std::fs::write(
        &file,
        "[mysqld]\nsql-mode=ANSI_QUOTES\nlong_query_time=0.5\nsort_buffer_size=1M\nwait_timeout=77\n",
    )
    .unwrap();
    let data = directory.path().join("data");
    let defaults = format!("--defaults-file={}", file.display());
    let options =
        [&defaults, "--max-connections=3", "--default-time-zone=+02:00", "--transaction-isolation=READ-COMMITTED"];
    let serving = Serving::start_with(&data, &options, &[]);
    let mut client = serving.connect();
    let asked = "select @@sql_mode, @@long_query_time, @@sort_buffer_size, @@wait_timeout, @@max_connections, @@time_zone, \
                 @@transaction_isolation, @@innodb_buffer_pool_size";
    assert_eq!(client.query(asked), ["ANSI_QUOTES|0.500000|1048576|77|3|+02:00|READ-COMMITTED|67108864"]);
    let port = serving.port.to_string();
    let data = std::fs::canonicalize(&data).unwrap();
    assert_eq!(client.query("select @@port, @@datadir"), [format!("{port}|{}/", data.display())]);
    assert_eq!(client.query("select @@version = version(), length(@@server_uuid)"), ["1|36"]);
    assert_eq!(client.query("set global port = 1"), ["error 1238"]);

    // SET GLOBAL acts on those who come later.
    let (_one, _two) = (serving.connect(), serving.connect());
    assert_eq!(client.query("set global max_connections = 10"), ["ok 0"]);
    let (_three, mut four) = (serving.connect(), serving.connect());
    assert_eq!(four.query("select @@max_connections"), ["10"]);

    // A statement's time.
    assert_eq!(client.query("set max_execution_time = 50; select sleep(1000)"), ["ok 0", "1"]);
    assert_eq!(client.query("select sleep(1000) from (select 1 union select 2) x"), ["1", "error 3024"]);
    assert_eq!(client.query("do sleep(0.2)"), ["ok 0"]);
    let slow =
        client.query("set max_execution_time = 0, long_query_time = 0; select 1; show status like 'Slow_queries'");
    assert!(slow.last().unwrap().split('|').nth(1).unwrap().parse::<u64>().unwrap() > 0, "{slow:?}");

    // An idle connection is closed.
    assert_eq!(four.query("set wait_timeout = 1"), ["ok 0"]);
    let id = four.id();
    client.until(&format!("select count(*) from information_schema.processlist where id = {id}"), "0");
}

/// Memory that the server has, in MiB.
fn resident_mib(serving: &Serving) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", serving.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}

#[test]
fn pieces_of_parameters_of_statements_that_are_not_there_are_not_kept() {
    let directory = tempfile::tempdir().unwrap();
    let serving = Serving::start(directory.path());
    let mut client = serving.connect();
    let piece = vec![b'x'; 1 << 20];
    assert_eq!(client.query("select 1"), ["1"]);
    let before = resident_mib(&serving);
    for number in 1000..1200 {
        client.client.send_long_data(number, 0, &piece);
        client.answers();
    }
    assert_eq!(client.query("select 1"), ["1"]);
    let after = resident_mib(&serving);
    assert!(after < before + 100, "{before} MiB became {after}");
}
