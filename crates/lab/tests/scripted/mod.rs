//! A server in this process that answers by rule and remembers what it was asked: the other end of the client loop.
//!
//! A SELECT has one row, another statement changes one row, BEGIN and COMMIT none; BEGIN cannot be prepared, as with
//! MySQL 9.7. A rule may answer a statement with an error or a row of its own, or close the connection.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use meseta_errors::ErrorCode;
use meseta_protocol::auth::Plugin;
use meseta_protocol::auth::digest::sha2_cached;
use meseta_protocol::auth::server::{Account, ServerHandshake, ServerStep};
use meseta_protocol::auth::verifier::Verifier;
use meseta_protocol::column::{ColumnDefinition, ColumnType, write_column_count};
use meseta_protocol::command::Command;
use meseta_protocol::flags::{Capabilities, StatusFlags};
use meseta_protocol::receive::Receiver;
use meseta_protocol::reply::{EofPacket, ErrPacket, OkPacket, PrepareOk};
use meseta_protocol::row::{BinaryRow, TextRow};
use meseta_protocol::send::PacketWriter;

/// What a rule says of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(dead_code)] // Each test uses a part of it.
pub enum Answer {
    /// As usual.
    Usual,
    /// An error.
    Error(u16),
    /// The connection is closed.
    Close,
    /// A row of two texts.
    Pair(&'static str, &'static str),
}

type Rule = Arc<dyn Fn(usize, &str) -> Answer + Send + Sync>;

/// The server.
pub struct Server {
    pub port: u16,
    /// `prepare TEXT` and `run TEXT`, of all connections, in the order in which they came.
    pub seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts it. `rule` is asked for each statement that is run, with how many came before.
    pub fn start(rule: impl Fn(usize, &str) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let (rule, log): (Rule, _) = (Arc::new(rule), seen.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (rule, log) = (rule.clone(), log.clone());
                std::thread::spawn(move || Peer::new(stream, rule, log).serve());
            }
        });
        Server { port, seen }
    }

    /// What was run.
    #[allow(dead_code)]
    pub fn runs(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter_map(|line| line.strip_prefix("run ").map(str::to_owned)).collect()
    }

    /// What was prepared.
    #[allow(dead_code)]
    pub fn prepared(&self) -> Vec<String> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter_map(|line| line.strip_prefix("prepare ").map(str::to_owned)).collect()
    }
}

struct Peer {
    stream: TcpStream,
    receiver: Receiver,
    writer: PacketWriter,
    rule: Rule,
    seen: Arc<Mutex<Vec<String>>>,
    statements: Vec<String>,
    capabilities: Capabilities,
}

impl Peer {
    fn new(stream: TcpStream, rule: Rule, seen: Arc<Mutex<Vec<String>>>) -> Peer {
        stream.set_nodelay(true).unwrap();
        Peer {
            stream,
            receiver: Receiver::new(32 << 20),
            writer: PacketWriter::new(),
            rule,
            seen,
            statements: Vec::new(),
            capabilities: Capabilities::NONE,
        }
    }

    fn flush(&mut self) -> bool {
        let written = self.stream.write_all(self.writer.bytes()).is_ok();
        self.writer.sent(usize::MAX);
        written
    }

    /// The next packet's payload; `None` when the client has gone.
    fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(packet) = self.receiver.next_packet().ok()? {
                self.writer.set_sequence(packet.answer_sequence);
                return Some(packet.payload.to_vec());
            }
            let count = self.stream.read(self.receiver.room()).ok().filter(|count| *count > 0)?;
            self.receiver.filled(count);
        }
    }

    fn log_in(&mut self) -> Option<()> {
        let mut handshake = ServerHandshake::new(Capabilities(!0), false);
        handshake.greet(&mut self.writer, b"9.7.0", 1, 255, StatusFlags::AUTOCOMMIT, Plugin::CachingSha2Password);
        self.receiver.expect_sequence(self.writer.sequence());
        self.flush();
        loop {
            let payload = self.next()?;
            // Without TLS and without a key, a password that is not in the cache is refused.
            let refused = ServerStep::Denied { using_password: true };
            let mut step = handshake.on_packet(&payload, None, &mut self.writer).unwrap_or(refused);
            if let ServerStep::LookUp = step {
                let verifier = Verifier::of_password(Plugin::CachingSha2Password, b"pw", [b's'; 20], 1000);
                let account =
                    Account { plugin: Plugin::CachingSha2Password, verifier, cached: Some(sha2_cached(b"pw")) };
                step = handshake.account(Some(account), &mut self.writer);
            }
            match step {
                ServerStep::Continue => self.receiver.expect_sequence(self.writer.sequence()),
                ServerStep::Accepted { .. } => {
                    self.capabilities = handshake.into_client().capabilities;
                    OkPacket::default().write(&mut self.writer, self.capabilities);
                    self.flush();
                    return Some(());
                }
                _ => {
                    let error = ErrPacket::new(ErrorCode(1045), b"Access denied for user 'ann'");
                    error.write(&mut self.writer);
                    self.flush();
                    return None;
                }
            }
            self.flush();
        }
    }

    fn serve(mut self) -> Option<()> {
        self.log_in()?;
        loop {
            self.receiver.expect_sequence(0);
            let payload = self.next()?;
            let command = Command::parse(&payload, self.capabilities).ok()?;
            match command {
                Command::Prepare(text) => {
                    let text = String::from_utf8_lossy(text).into_owned();
                    self.prepare(text);
                }
                Command::Execute(execute) => {
                    let text = self.statements[execute.statement_id as usize - 1].clone();
                    self.answer(&text, true)?;
                }
                Command::Query(query) => {
                    let text = String::from_utf8_lossy(query.text).into_owned();
                    self.answer(&text, false)?;
                }
                Command::Quit => return None,
                _ => {}
            }
            if !self.flush() {
                return None;
            }
        }
    }

    fn prepare(&mut self, text: String) {
        self.seen.lock().unwrap().push(format!("prepare {text}"));
        if text == "BEGIN" {
            let error = ErrPacket::new(
                ErrorCode(1295),
                b"This command is not supported in the prepared statement protocol yet",
            );
            return error.write(&mut self.writer);
        }
        let parameters = text.matches('?').count() as u16;
        let columns = u16::from(is_select(&text));
        self.statements.push(text);
        let statement_id = self.statements.len() as u32;
        PrepareOk { statement_id, columns, parameters, warnings: 0, with_definitions: true }
            .write(&mut self.writer, self.capabilities);
        let column = ColumnDefinition { name: b"c", column_type: ColumnType::VarString, ..ColumnDefinition::default() };
        for count in [parameters, columns].into_iter().filter(|count| *count > 0) {
            (0..count).for_each(|_| column.write(&mut self.writer));
            EofPacket::default().write_end_of_columns(&mut self.writer, self.capabilities);
        }
    }

    fn answer(&mut self, text: &str, binary: bool) -> Option<()> {
        let number = {
            let mut seen = self.seen.lock().unwrap();
            let number = seen.iter().filter(|line| line.starts_with("run ")).count();
            seen.push(format!("run {text}"));
            number
        };
        let (writer, capabilities) = (&mut self.writer, self.capabilities);
        match (self.rule)(number, text) {
            Answer::Close => return None,
            Answer::Error(code) => ErrPacket::new(ErrorCode(code), b"as the rule says").write(writer),
            Answer::Pair(name, value) => {
                let column =
                    ColumnDefinition { name: b"c", column_type: ColumnType::VarString, ..ColumnDefinition::default() };
                write_column_count(writer, capabilities, 2, true);
                (0..2).for_each(|_| column.write(writer));
                EofPacket::default().write_end_of_columns(writer, capabilities);
                let mut row = TextRow::new(writer);
                row.bytes(name.as_bytes());
                row.bytes(value.as_bytes());
                row.end();
                OkPacket::default().write_end_of_rows(writer, capabilities);
            }
            Answer::Usual if is_select(text) => {
                let column =
                    ColumnDefinition { name: b"c", column_type: ColumnType::VarString, ..ColumnDefinition::default() };
                write_column_count(writer, capabilities, 1, true);
                column.write(writer);
                EofPacket::default().write_end_of_columns(writer, capabilities);
                if binary {
                    let mut row = BinaryRow::new(writer, 1);
                    row.bytes(b"value");
                    row.end();
                } else {
                    let mut row = TextRow::new(writer);
                    row.bytes(b"value");
                    row.end();
                }
                OkPacket::default().write_end_of_rows(writer, capabilities);
            }
            Answer::Usual => {
                let is_change = ["INSERT", "UPDATE", "DELETE"].iter().any(|verb| text.starts_with(verb));
                OkPacket { affected_rows: u64::from(is_change), ..OkPacket::default() }.write(writer, capabilities);
            }
        }
        Some(())
    }
}

fn is_select(text: &str) -> bool {
    text.trim_start().starts_with("SELECT")
}
