//! A server without a network, and its sessions' answers as text: what tests of statements share.

#![allow(dead_code)] // Each test uses a part of it.

use std::sync::Arc;

use meseta_sim::SimDisk;
use meseta_sql::query::{OutputColumn, OutputColumns};
use meseta_sql::session::{Answer, Done, Identity, Instance, Session, Status, Undisturbed};
use meseta_sql::{Error, Result};
use meseta_storage::{Store, StoreOptions};
use meseta_types::Datum;

/// What was answered, as text: `a|b` a row, `ok 1` rows changed, `1062 ...` an error.
#[derive(Default)]
pub struct Text(pub Vec<String>);

impl Answer for Text {
    fn columns(&mut self, columns: &OutputColumns, _: Status) -> Result<()> {
        let names = columns.iter().map(|column| String::from_utf8_lossy(&column.name).into_owned());
        self.0.push(format!("[{}]", names.collect::<Vec<_>>().join("|")));
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

/// Memory for pages.
const MEMORY_BYTES: usize = 32 << 20;

/// A server without a network, whose disk outlives it.
pub struct Server {
    pub instance: Arc<Instance>,
    disk: SimDisk,
}

impl Server {
    pub fn new() -> Self {
        Self::on(SimDisk::new(1), MEMORY_BYTES)
    }

    /// One with so much memory for pages.
    pub fn with_memory(bytes: usize) -> Self {
        Self::on(SimDisk::new(1), bytes)
    }

    fn on(disk: SimDisk, memory_bytes: usize) -> Self {
        let options = StoreOptions {
            memory_bytes,
            log_bytes: 16 << 20,
            log_buffer_bytes: 1 << 20,
            max_data_bytes: 512 << 20,
            ..StoreOptions::default()
        };
        let store = Store::open_on(Arc::new(disk.clone()), options).unwrap();
        Server { instance: Instance::open(store).unwrap(), disk }
    }

    /// Stops it, and starts it again. On entry: there are no sessions.
    pub fn again(self) -> Self {
        let Server { instance, disk } = self;
        drop(instance);
        Self::on(disk, MEMORY_BYTES)
    }

    /// From here on the disk has no room for a longer file, or has again.
    pub fn fill_disk(&self, is_full: bool) {
        self.disk.set_capacity(if is_full { 0 } else { u64::MAX });
    }

    /// Waits until so many sessions wait for a lock.
    pub fn until_waiting(&self, sessions: usize) {
        while self.instance.engine.waiting() != sessions {
            std::thread::yield_now();
        }
    }

    pub fn session(&self) -> Session {
        let connection = self.instance.next_connection();
        let identity = Identity { connection, user: "root@localhost".into(), account: "root@localhost".into() };
        let mut session = Session::new(&self.instance, identity, Box::new(Undisturbed)).unwrap();
        run(&mut session, "create database if not exists test");
        assert_eq!(run(&mut session, "use test"), ["ok 0"]);
        session
    }
}

pub fn run(session: &mut Session, text: &str) -> Vec<String> {
    let mut answer = Text::default();
    session.execute(text.as_bytes(), true, &mut answer).unwrap();
    answer.0
}

/// Runs a text and compares what is answered, lines joined by `; `.
#[track_caller]
pub fn is(session: &mut Session, text: &str, expected: &str) {
    assert_eq!(run(session, text).join("; "), expected, "{text}");
}

/// Runs statements one by one, and compares with the answers that MySQL 9.7 gave.
#[track_caller]
pub fn all(session: &mut Session, dialogue: &[(&str, &str)]) {
    for (text, expected) in dialogue {
        assert_eq!(run(session, text).join("; "), *expected, "{text}");
    }
}

/// A counter of SHOW STATUS.
pub fn counter(session: &mut Session, name: &str) -> u64 {
    let counted = run(session, &format!("show status like '{name}'"));
    counted[1].rsplit('|').next().and_then(|number| number.parse().ok()).expect("it is a number")
}
