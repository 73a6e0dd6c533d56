//! What a session tells of itself and of the engine, without a server of connections: status, waits, locks, user locks.

use std::sync::Arc;

use meseta_sim::SimDisk;
use meseta_sql::query::{OutputColumn, OutputColumns};
use meseta_sql::session::{Answer, Done, Identity, Instance, Session, Status, Undisturbed};
use meseta_sql::{Error, Result};
use meseta_storage::{Store, StoreOptions};
use meseta_types::Datum;

/// What was answered: `a|b` a row, `ok 1` rows changed, `1062 ...` an error.
#[derive(Default)]
struct Text(Vec<String>);

impl Answer for Text {
    fn columns(&mut self, _: &OutputColumns, _: Status) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, columns: &[OutputColumn], row: &[Datum<'_>]) -> Result<()> {
        let values = columns.iter().zip(row).map(|(column, &value)| {
            if value.is_null() {
                return "NULL".to_owned();
            }
            let mut text = Vec::new();
            column.data_type.append_text(value, &mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        self.0.push(values.collect::<Vec<_>>().join("|"));
        Ok(())
    }

    fn end(&mut self, _: Status) -> Result<()> {
        Ok(())
    }

    fn done(&mut self, done: &Done, _: Status) -> Result<()> {
        self.0.push(format!("ok {}", done.affected));
        Ok(())
    }

    fn failed(&mut self, error: &Error, _: Status) -> Result<()> {
        self.0.push(format!("{} {}", error.code.0, error.message));
        Ok(())
    }
}

fn instance() -> Arc<Instance> {
    let options = StoreOptions {
        memory_bytes: 32 << 20,
        log_bytes: 16 << 20,
        log_buffer_bytes: 1 << 20,
        max_data_bytes: 512 << 20,
        ..StoreOptions::default()
    };
    Instance::open(Store::open_on(Arc::new(SimDisk::new(1)), options).unwrap()).unwrap()
}

fn session(instance: &Arc<Instance>) -> Session {
    let connection = instance.next_connection();
    let identity = Identity { connection, user: "root@localhost".into(), account: "root@localhost".into() };
    Session::new(instance, identity, Box::new(Undisturbed)).unwrap()
}

fn run(session: &mut Session, text: &str) -> String {
    let mut answer = Text::default();
    session.execute(text.as_bytes(), true, &mut answer).unwrap();
    answer.0.join("; ")
}

#[track_caller]
fn is(session: &mut Session, text: &str, expected: &str) {
    assert_eq!(run(session, text), expected, "{text}");
}

#[test]
fn user_locks_are_as_recorded() {
    let instance = instance();
    let (mut one, mut other) = (session(&instance), session(&instance));
    // Answers of MySQL 9.7.
    is(&mut one, "select get_lock('A', 0), is_used_lock('a') = connection_id(), is_free_lock('a')", "1|1|0");
    is(
        &mut other,
        "select get_lock('a', 0), release_lock('a'), release_lock('nosuch'), is_free_lock('b')",
        "0|0|NULL|1",
    );
    is(&mut one, "select get_lock('a', 0), get_lock('b', null), release_all_locks()", "1|1|3");
    is(&mut other, "select get_lock('a', 0), is_used_lock('b')", "1|NULL");
    let wrong = "The name is empty, NULL, or can not be expressed in the current character-set.";
    is(&mut one, "select get_lock(null, 1)", &format!("3057 Incorrect user-level lock name 'NULL'. {wrong}"));
    is(&mut one, "select get_lock('', 1)", &format!("3057 Incorrect user-level lock name ''. {wrong}"));
    let long = "a".repeat(64);
    let message = format!("4163 User-level lock name '{long}' should not exceed 64 characters.");
    is(&mut one, "select get_lock(repeat('a', 65), 1)", &message);
    // They go with their session, or when it is reset.
    drop(other);
    is(&mut one, "select get_lock('a', 0)", "1");
    one.reset();
    is(&mut one, "select is_free_lock('a')", "1");
    is(&mut one, "select sleep(0), length(uuid()), uuid() = uuid(), uuid_short() < uuid_short()", "0|36|0|1");
    is(&mut one, "select random_bytes(8) = random_bytes(8)", "0");
}

#[test]
fn a_session_counts_and_all_are_summed() {
    let instance = instance();
    let (mut one, mut other) = (session(&instance), session(&instance));
    run(&mut one, "create database d; use d; create table t (id int primary key); insert into t values (1), (2)");
    run(&mut other, "use d; select * from t; select * from t where id = 1; show tables; select 1 from nowhere");
    is(&mut other, "show session status like 'Com_select'", "Com_select|2");
    is(&mut one, "show session status like 'Com_select'", "Com_select|0");
    is(&mut one, "show global status like 'Com_select'", "Com_select|2");
    is(&mut one, "show global status like 'Com_show_tables'", "Com_show_tables|1");
    is(&mut one, "show global status like 'Innodb_rows_inserted'", "Innodb_rows_inserted|2");
    is(&mut one, "show global status like 'Innodb_rows_read'", "Innodb_rows_read|3");
    drop(other);
    is(&mut one, "show global status like 'Com_select'", "Com_select|2");
    is(&mut one, "show status like 'Innodb_page_size'", "Innodb_page_size|16384");
    let rows = "select count(*) > 200 from performance_schema.global_status";
    is(&mut one, rows, "1");
    is(
        &mut one,
        "select * from performance_schema.session_variables where variable_name = 'autocommit'",
        "autocommit|ON",
    );
    is(&mut one, "flush status; show status like 'Com_insert'", "ok 0; Com_insert|0");
    is(&mut one, "show global status like 'Com_insert'", "Com_insert|1");
}

#[test]
fn locks_and_transactions_are_told() {
    let instance = instance();
    let (mut one, mut other) = (session(&instance), session(&instance));
    run(&mut one, "create database d; use d; create table t (id int primary key); insert into t values (1), (5)");
    run(&mut one, "begin; select * from t where id = 1 for update; select * from t where id > 4 for share");
    let locks = "select object_schema, object_name, index_name, lock_type, lock_mode, lock_status \
                 from performance_schema.data_locks where lock_type = 'RECORD' order by lock_mode, lock_data";
    let expected =
        "d|t|PRIMARY|RECORD|S|GRANTED; d|t|PRIMARY|RECORD|S|GRANTED; d|t|PRIMARY|RECORD|X,REC_NOT_GAP|GRANTED";
    is(&mut other, locks, expected);
    is(&mut other, "select trx_state, trx_rows_locked from information_schema.innodb_trx", "RUNNING|3");
    is(&mut one, "insert into t values (9); select trx_rows_modified from information_schema.innodb_trx", "ok 1; 1");
    run(&mut one, "rollback");
    is(&mut other, "select count(*) from performance_schema.data_locks", "0");
    is(&mut other, "select count(*) from information_schema.innodb_trx", "0");
}

#[test]
fn performance_schema_is_a_database() {
    let instance = instance();
    let mut one = session(&instance);
    is(&mut one, "show databases like 'perf%'", "performance_schema");
    is(&mut one, "show tables from performance_schema like 'data_lock%'", "data_lock_waits; data_locks");
    is(
        &mut one,
        "use performance_schema; select count(*) from setup_actors; select database()",
        "ok 0; 0; performance_schema",
    );
    is(&mut one, "select * from nosuch", "1146 Table 'performance_schema.nosuch' doesn't exist");
    let engine = "select engine from information_schema.tables where table_name = 'threads'";
    is(&mut one, engine, "PERFORMANCE_SCHEMA");
    is(&mut one, "truncate events_waits_summary_global_by_event_name", "ok 0");
    is(&mut one, "truncate threads", "1142 DROP command denied to user 'root'@'localhost' for table 'threads'");
    let status = run(&mut one, "show engine innodb status");
    assert!(status.contains("LOG\n---\nLog sequence number "), "{status}");
    is(&mut one, "show engine nosuch status", "1286 Unknown storage engine 'nosuch'");
    is(&mut one, "show binary logs", "1381 You are not using binary logging");
    is(&mut one, "show binary log status; show replicas; show profiles", "");
    is(
        &mut one,
        "set global innodb_buffer_pool_size = 1 << 30",
        "1235 This version of MySQL doesn't yet support \
        'SET GLOBAL innodb_buffer_pool_size while the server runs'",
    );
}
