//! `meseta serve` as a process, and a client of it whose answers are text: what tests of the running server share.

#![allow(dead_code)] // Each test uses a part of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use meseta_protocol::auth::Password;
use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::client::{Client, Event};
use meseta_protocol::flags::{Capabilities, StatusFlags};
use meseta_protocol::reply::SessionChange;
use meseta_protocol::row::Row;
use meseta_protocol::value::Value;

/// A server, killed at its drop.
pub struct Serving {
    process: Child,
    pub port: u16,
    /// Its Unix socket, if it has one.
    pub socket_path: Option<PathBuf>,
    /// What it has said so far.
    told: Arc<Mutex<String>>,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `meseta serve` on a free port, with its messages to be read.
pub fn command(directory: &Path, options: &[&str], environment: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meseta"));
    command.args(["serve", "--no-defaults", "--port=0", "--innodb-buffer-pool-size=64M"]);
    // A log of a GiB each, for as many servers as tests run at a time, is more than a small disk has.
    command.arg("--innodb-redo-log-capacity=64M");
    command.arg("--datadir").arg(directory).args(options).envs(environment.iter().copied()).stderr(Stdio::piped());
    command
}

impl Serving {
    pub fn start(directory: &Path) -> Self {
        Self::start_with(directory, &[], &[])
    }

    /// Starts it, and waits until it listens.
    pub fn start_with(directory: &Path, options: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut process = command(directory, options, environment).spawn().expect("the program starts");
        let mut lines = BufReader::new(process.stderr.take().expect("it was piped")).lines();
        let (told, mut port, mut socket_path) = (Arc::new(Mutex::new(String::new())), 0, None);
        loop {
            let so_far = || told.lock().unwrap().clone();
            let line = lines.next().unwrap_or_else(|| panic!("it ended: {}", so_far())).expect("text");
            if let Some((_, rest)) = line.split_once("listening on ") {
                let place = rest.split(": ").next().unwrap_or_default();
                match place.starts_with('/') {
                    true => socket_path = Some(PathBuf::from(place)),
                    false => port = place.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("a port"),
                }
            }
            *told.lock().unwrap() += &format!("{line}\n");
            if line.contains("ready after ") {
                break;
            }
        }
        // What it says later is read, so that it never waits for a reader.
        let more = Arc::clone(&told);
        std::thread::spawn(move || {
            lines.map_while(Result::ok).for_each(|line| *more.lock().unwrap() += &(line + "\n"))
        });
        Serving { process, port, socket_path, told }
    }

    /// What it has said so far.
    pub fn told(&self) -> String {
        self.told.lock().unwrap().clone()
    }

    /// A socket to it.
    pub fn socket(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).expect("it listens")
    }

    /// A client that is logged in as root.
    pub fn connect(&self) -> Connection {
        self.login_as("root", "").expect("root gets in")
    }

    /// A client that is logged in, by the Unix socket if there is one; or what it was answered.
    pub fn login_as(&self, user: &str, password: &str) -> Result<Connection, String> {
        self.connect_with(self.options(user, password))
    }

    /// What a client logs in with.
    pub fn options(&self, user: &str, password: &str) -> ClientOptions {
        let usual = ClientOptions::default();
        let capabilities = usual.capabilities.with(Capabilities::MULTI_STATEMENTS).with(Capabilities::SESSION_TRACK);
        let capabilities = capabilities.with(Capabilities::LOCAL_FILES).without(Capabilities::SSL);
        ClientOptions {
            user: user.as_bytes().to_vec(),
            password: Password::new(password.as_bytes().to_vec()),
            allow_public_key: true,
            secure: self.socket_path.is_some(),
            capabilities,
            ..usual
        }
    }

    /// A client with these options.
    pub fn connect_with(&self, options: ClientOptions) -> Result<Connection, String> {
        let stream: Box<dyn Stream> = match &self.socket_path {
            Some(path) => Box::new(UnixStream::connect(path).expect("it listens")),
            None => Box::new(self.socket()),
        };
        let mut connection = Connection { stream, client: Client::connect(options, 64 << 20), changes: Vec::new() };
        match connection.answers().last().map(String::as_str) {
            Some("connected") => Ok(connection),
            last => Err(last.unwrap_or_default().to_owned()),
        }
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// It ends by itself; its status.
    pub fn ended(mut self) -> Option<i32> {
        self.process.wait().unwrap().code()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.id().to_string()]).status().unwrap().success());
    }

    /// Ends it, by this signal; its status.
    pub fn end(mut self, signal: &str) -> Option<i32> {
        self.signal(signal);
        self.process.wait().unwrap().code()
    }
}

/// Bytes both ways.
trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

/// What the client sends when it is asked for a file.
const FILE: &[u8] = b"5,five\n6,six\n6,again\n";

/// A client, in plain text.
pub struct Connection {
    stream: Box<dyn Stream>,
    pub client: Client,
    /// What was told of the session's state with the last answers.
    pub changes: Vec<String>,
}

/// Values of a row, with `|` between them.
pub fn row_text(row: &Row<'_>) -> String {
    let values = row.values().map(|value| match value.unwrap() {
        Value::Null => "NULL".to_owned(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => format!("{other:?}"),
    });
    values.collect::<Vec<_>>().join("|")
}

fn told(session: &[u8]) -> impl Iterator<Item = String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    SessionChange::iterate(session).map(move |change| match change.unwrap() {
        SessionChange::SystemVariable { name, value } => format!("{}={}", text(name), text(value)),
        SessionChange::Schema(name) => format!("use {}", text(name)),
        SessionChange::TransactionState(state) => text(state),
        SessionChange::TransactionCharacteristics(characteristics) => format!("[{}]", text(characteristics)),
        other => format!("{other:?}"),
    })
}

impl Connection {
    /// Sends what the client has to say; whether the server is there.
    pub fn send(&mut self) -> bool {
        while !self.client.output().is_empty() {
            match self.stream.write(self.client.output()) {
                Ok(count) => self.client.sent(count),
                Err(_) => return false,
            }
        }
        true
    }

    /// What is answered until nothing more is to come: `a|b` a row, `ok 1` rows changed, `error 1062`, `file name` asked for
    /// and sent, `gone`.
    pub fn answers(&mut self) -> Vec<String> {
        let mut answers = Vec::new();
        self.changes.clear();
        loop {
            if !self.send() {
                return vec!["gone".to_owned()];
            }
            let (mut moved, mut is_asked_for_file) = (false, false);
            while let Some(event) = self.client.next_event().unwrap() {
                moved = true;
                match event {
                    Event::Connected(_) => answers.push("connected".to_owned()),
                    Event::Ok(ok) => {
                        self.changes.extend(told(ok.session));
                        answers.push(format!("ok {}", ok.affected_rows));
                    }
                    Event::EndOfRows(ok) => {
                        self.changes.extend(told(ok.session));
                        for (flag, name) in
                            [(StatusFlags::CURSOR_EXISTS, "cursor"), (StatusFlags::LAST_ROW_SENT, "last")]
                        {
                            if ok.status.has(flag) {
                                answers.push(name.to_owned());
                            }
                        }
                    }
                    Event::Error(error) => answers.push(format!("error {}", error.code.0)),
                    Event::Prepared(statement) => answers.push(format!("prepared {}", statement.statement_id)),
                    Event::Text(text) => answers.push(String::from_utf8_lossy(text).into_owned()),
                    Event::LocalInfile(name) => {
                        answers.push(format!("file {}", String::from_utf8_lossy(name)));
                        is_asked_for_file = true;
                    }
                    Event::Row(row) => answers.push(row_text(&row)),
                    _ => {}
                }
            }
            if is_asked_for_file {
                self.client.send_file(FILE);
                self.client.end_file();
                continue;
            }
            if self.client.is_idle() && self.client.output().is_empty() {
                return answers;
            }
            if !moved {
                match self.stream.read(self.client.room()) {
                    Ok(count) if count > 0 => self.client.filled(count),
                    _ => {
                        answers.push("gone".to_owned());
                        return answers;
                    }
                }
            }
        }
    }

    pub fn query(&mut self, text: &str) -> Vec<String> {
        self.client.query(text.as_bytes());
        self.answers()
    }
}
