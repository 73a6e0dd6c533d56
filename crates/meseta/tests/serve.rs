//! `meseta serve` as a process: a client connects, statements are answered, SIGKILL loses nothing, SIGTERM ends it cleanly.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::client::{Client, Event};
use meseta_protocol::flags::{Capabilities, CursorFlags};
use meseta_protocol::value::Value;

struct Serving {
    process: Child,
    address: String,
}

impl Serving {
    fn start(directory: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_meseta"))
            .args(["serve", "--port=0", "--innodb-buffer-pool-size=64M", "--datadir"])
            .arg(directory)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(process.stderr.take().expect("it was piped")).lines();
        let mut told = String::new();
        let address = loop {
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {told}")).expect("text");
            if let Some((_, rest)) = line.split_once("listening on ") {
                break rest.split([' ', ':']).take(2).collect::<Vec<_>>().join(":");
            }
            told += &line;
        };
        // What it says later is read, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Serving { process, address }
    }

    fn connect(&self) -> Connection {
        let usual = ClientOptions::default();
        let options = ClientOptions {
            user: b"root".to_vec(),
            capabilities: usual.capabilities.with(Capabilities::MULTI_STATEMENTS).without(Capabilities::SSL),
            ..usual
        };
        let stream = TcpStream::connect(&self.address).expect("it listens");
        let mut connection = Connection { stream, client: Client::connect(options, 64 << 20) };
        assert_eq!(connection.answers(), ["connected"]);
        connection
    }

    /// Ends it, by this signal; its status.
    fn end(mut self, signal: &str) -> Option<i32> {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        self.process.wait().unwrap().code()
    }
}

struct Connection {
    stream: TcpStream,
    client: Client,
}

impl Connection {
    /// What is answered until nothing more is to come: `a|b` a row, `ok 1` rows changed, `error 1062`.
    fn answers(&mut self) -> Vec<String> {
        let mut answers = Vec::new();
        loop {
            while !self.client.output().is_empty() {
                let count = self.stream.write(self.client.output()).unwrap();
                self.client.sent(count);
            }
            let mut moved = false;
            while let Some(event) = self.client.next_event().unwrap() {
                moved = true;
                match event {
                    Event::Connected(_) => answers.push("connected".to_owned()),
                    Event::Ok(ok) => answers.push(format!("ok {}", ok.affected_rows)),
                    Event::Error(error) => answers.push(format!("error {}", error.code.0)),
                    Event::Prepared(statement) => answers.push(format!("prepared {}", statement.statement_id)),
                    Event::Row(row) => {
                        let values = row.values().map(|value| match value.unwrap() {
                            Value::Null => "NULL".to_owned(),
                            Value::Int(number) => number.to_string(),
                            Value::UInt(number) => number.to_string(),
                            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                            other => format!("{other:?}"),
                        });
                        answers.push(values.collect::<Vec<_>>().join("|"));
                    }
                    _ => {}
                }
            }
            if self.client.is_idle() && self.client.output().is_empty() {
                return answers;
            }
            if !moved {
                let count = self.stream.read(self.client.room()).unwrap();
                assert!(count > 0, "the server hung up after {answers:?}");
                self.client.filled(count);
            }
        }
    }

    fn query(&mut self, text: &str) -> Vec<String> {
        self.client.query(text.as_bytes());
        self.answers()
    }
}

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
}

#[test]
fn an_option_that_is_misspelt_is_told_with_the_nearest() {
    let run = Command::new(env!("CARGO_BIN_EXE_meseta")).args(["serve", "--portt=1"]).output().unwrap();
    let told = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(2), "{told}");
    assert!(told.contains("port"), "{told}");
}
