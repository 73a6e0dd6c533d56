//! The floor: a server that answers each statement at once and does nothing. What a client measures against it is the
//! client, the kernel and the wire, the limit of every server on that machine.
//!
//! ```text
//! thread: an epoll set --> a connection with bytes --> packets --> the reply made at the start --> written
//! ```
//!
//! Every login is accepted. A SELECT has one row of 120 letters, one with `BETWEEN` and without `SUM` a hundred; INSERT,
//! UPDATE and DELETE change a row, and other statements none; by text and prepared alike. So workloads of sysbench's kind
//! run, and such as read what they are told (TPC-C) do not.
//!
//! Invariants:
//! 1. Nothing is kept of a statement: a prepared one's number says what its reply is.
//! 2. A connection stays with the thread that accepted it.
//!
//! When it fails: a connection that breaks, or says what is no command, is closed. A client that does not take its
//! replies holds up the others of its thread; clients of closed loops do not do that. Who cannot be accepted waits.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use meseta_protocol::auth::Plugin;
use meseta_protocol::auth::server::ServerHandshake;
use meseta_protocol::column::{ColumnDefinition, ColumnType, write_column_count};
use meseta_protocol::command::Command;
use meseta_protocol::flags::{Capabilities, StatusFlags};
use meseta_protocol::receive::Receiver;
use meseta_protocol::reply::{EofPacket, OkPacket, PrepareOk};
use meseta_protocol::row::{BinaryRow, TextRow};
use meseta_protocol::send::PacketWriter;
use rustix::event::epoll;

use crate::commands::Interrupt;
use crate::options::Options;

/// What the floor can do: no TLS, no compression, results that end with an EOF packet. (The rest of what is needed
/// belongs to every handshake.)
const CAPABILITIES: Capabilities =
    Capabilities(Capabilities::PROTOCOL_41.0 | Capabilities::CONNECT_WITH_DB.0 | Capabilities::TRANSACTIONS.0);
/// The token of the listener in an epoll set; connections have those above.
const LISTENER: u64 = 0;
/// How long a packet may be.
const PACKET_BYTES: usize = 64 << 20;
/// How long a value is: that of sysbench's column `c`.
const VALUE: [u8; 120] = [b'x'; 120];
/// How many rows a range has.
const RANGE_ROWS: usize = 100;

/// What a statement is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Done,
    /// A row was changed.
    Changed,
    OneRow,
    ManyRows,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Done, Kind::Changed, Kind::OneRow, Kind::ManyRows];

    fn of(statement: &[u8]) -> Kind {
        let contains = |word: &[u8]| statement.windows(word.len()).any(|part| part == word);
        let verb = statement.trim_ascii_start().get(..6).map(<[u8]>::to_ascii_lowercase);
        match verb.as_deref() {
            Some(b"select") if contains(b"BETWEEN") && !contains(b"SUM(") => Kind::ManyRows,
            Some(b"select") => Kind::OneRow,
            Some(b"insert" | b"update" | b"delete") => Kind::Changed,
            _ => Kind::Done,
        }
    }

    /// The kind in the number of a prepared statement.
    fn of_number(number: u32) -> Kind {
        Kind::ALL[number as usize % Kind::ALL.len()]
    }
}

/// All replies, by kind.
struct Replies {
    text: [Vec<u8>; 4],
    binary: [Vec<u8>; 4],
    next_number: AtomicU32,
}

impl Replies {
    fn new() -> Replies {
        Replies {
            text: Kind::ALL.map(|kind| reply(kind, false)),
            binary: Kind::ALL.map(|kind| reply(kind, true)),
            next_number: AtomicU32::new(1),
        }
    }

    /// The reply to COM_STMT_PREPARE.
    fn prepared(&self, statement: &[u8], writer: &mut PacketWriter) {
        let kind = Kind::of(statement);
        let statement_id = self.next_number.fetch_add(1, Ordering::Relaxed).wrapping_mul(4) | kind as u32;
        let parameters = statement.iter().filter(|byte| **byte == b'?').count() as u16;
        let columns = u16::from(matches!(kind, Kind::OneRow | Kind::ManyRows));
        PrepareOk { statement_id, columns, parameters, warnings: 0, with_definitions: true }
            .write(writer, CAPABILITIES);
        for count in [parameters, columns].into_iter().filter(|count| *count > 0) {
            (0..count).for_each(|_| column().write(writer));
            EofPacket::default().write_end_of_columns(writer, CAPABILITIES);
        }
    }
}

fn column() -> ColumnDefinition<'static> {
    ColumnDefinition { name: b"c", column_type: ColumnType::VarString, ..ColumnDefinition::default() }
}

/// The packets of a reply.
fn reply(kind: Kind, binary: bool) -> Vec<u8> {
    let mut writer = PacketWriter::new();
    writer.set_sequence(1);
    if matches!(kind, Kind::Done | Kind::Changed) {
        let affected_rows = u64::from(kind == Kind::Changed);
        OkPacket { affected_rows, ..OkPacket::default() }.write(&mut writer, CAPABILITIES);
        return writer.take();
    }
    write_column_count(&mut writer, CAPABILITIES, 1, true);
    column().write(&mut writer);
    EofPacket::default().write_end_of_columns(&mut writer, CAPABILITIES);
    for _ in 0..if kind == Kind::ManyRows { RANGE_ROWS } else { 1 } {
        if binary {
            let mut row = BinaryRow::new(&mut writer, 1);
            row.bytes(&VALUE);
            row.end();
        } else {
            let mut row = TextRow::new(&mut writer);
            row.bytes(&VALUE);
            row.end();
        }
    }
    OkPacket::default().write_end_of_rows(&mut writer, CAPABILITIES);
    writer.take()
}

/// A client.
struct Connection {
    stream: TcpStream,
    receiver: Receiver,
    is_logged_in: bool,
}

impl Connection {
    /// Greets.
    fn new(stream: TcpStream) -> io::Result<Connection> {
        stream.set_nodelay(true)?;
        let mut writer = PacketWriter::new();
        let plugin = Plugin::NativePassword;
        ServerHandshake::new(CAPABILITIES, false).greet(
            &mut writer,
            b"9.7.0-floor",
            1,
            255,
            StatusFlags::AUTOCOMMIT,
            plugin,
        );
        let mut connection = Connection { stream, receiver: Receiver::new(PACKET_BYTES), is_logged_in: false };
        connection.receiver.expect_sequence(writer.sequence());
        connection.stream.write_all(writer.bytes())?;
        Ok(connection)
    }

    /// Answers all that has come. `None` when the client is to be let go.
    fn answer(&mut self, replies: &Replies) -> Option<()> {
        // (The set says that there is something: this does not wait.)
        let count = self.stream.read(self.receiver.room()).ok().filter(|count| *count > 0)?;
        self.receiver.filled(count);
        while let Some(packet) = self.receiver.next_packet().ok()? {
            let sequence = packet.answer_sequence;
            let stream = &mut self.stream;
            let mut made = |make: &dyn Fn(&mut PacketWriter)| {
                let mut writer = PacketWriter::new();
                writer.set_sequence(sequence);
                make(&mut writer);
                stream.write_all(writer.bytes()).ok()
            };
            if !self.is_logged_in {
                made(&|writer| OkPacket::default().write(writer, CAPABILITIES))?;
                self.is_logged_in = true;
            } else {
                match Command::parse(packet.payload, CAPABILITIES).ok()? {
                    Command::Quit => return None,
                    Command::CloseStatement(_) | Command::SendLongData { .. } => (),
                    Command::Query(query) => stream.write_all(&replies.text[Kind::of(query.text) as usize]).ok()?,
                    Command::Execute(execute) => {
                        let kind = Kind::of_number(execute.statement_id);
                        stream.write_all(&replies.binary[kind as usize]).ok()?;
                    }
                    Command::Prepare(statement) => made(&|writer| replies.prepared(statement, writer))?,
                    _ => made(&|writer| OkPacket::default().write(writer, CAPABILITIES))?,
                }
            }
            self.receiver.expect_sequence(0);
        }
        Some(())
    }
}

/// What a thread does.
fn serve(listener: &TcpListener, replies: &Replies) -> io::Result<()> {
    let set = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    let register = |descriptor: &dyn AsFd, token, flags| {
        epoll::add(&set, descriptor.as_fd(), epoll::EventData::new_u64(token), flags)
    };
    register(&listener, LISTENER, epoll::EventFlags::IN | epoll::EventFlags::EXCLUSIVE)?;
    let mut connections: Vec<Option<Connection>> = vec![None];
    let mut free: Vec<usize> = Vec::new();
    let mut events = Vec::with_capacity(256);
    loop {
        match epoll::wait(&set, rustix::buffer::spare_capacity(&mut events), None) {
            Err(rustix::io::Errno::INTR) => (),
            waited => drop(waited?),
        }
        for event in events.drain(..) {
            let token = event.data.u64() as usize;
            if token == LISTENER as usize {
                let stream = match listener.accept() {
                    Ok((stream, _)) => stream,
                    // Another thread was faster.
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                    Err(error) => {
                        // Perhaps there are no descriptors: the set would say at once again that somebody waits.
                        eprintln!("the floor cannot accept: {error}");
                        std::thread::sleep(Duration::from_millis(100));
                        continue;
                    }
                };
                // (Who is gone need not be greeted.)
                let Ok(connection) = stream.set_nonblocking(false).and_then(|()| Connection::new(stream)) else {
                    continue;
                };
                let place = free.pop().unwrap_or_else(|| {
                    connections.push(None);
                    connections.len() - 1
                });
                register(&connection.stream, place as u64, epoll::EventFlags::IN)?;
                connections[place] = Some(connection);
            } else if connections[token].as_mut().is_some_and(|connection| connection.answer(replies).is_none()) {
                // (Closed, it is in the set no longer.)
                connections[token] = None;
                free.push(token);
            }
        }
    }
}

/// Serves with so many threads, for as long as the process lives. A thread ends only with an error.
///
/// # Errors
/// The listener cannot be made not to wait.
pub fn start(listener: TcpListener, threads: usize) -> io::Result<Vec<JoinHandle<io::Result<()>>>> {
    listener.set_nonblocking(true)?;
    let (listener, replies) = (Arc::new(listener), Arc::new(Replies::new()));
    let thread = |_| {
        let (listener, replies) = (listener.clone(), replies.clone());
        std::thread::spawn(move || serve(&listener, &replies))
    };
    Ok((0..threads).map(thread).collect())
}

/// Serves with as many threads as processors, or as `--workers` says, until Ctrl-C.
///
/// # Errors
/// One line.
pub fn run(options: &Options, interrupted: &Interrupt) -> Result<u8, String> {
    let place = format!("{}:{}", options.text("mysql-host"), options.text("mysql-port"));
    let count = match options.number("workers") as usize {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads.min(1024),
    };
    let threads = TcpListener::bind(&place)
        .and_then(|listener| start(listener, count))
        .map_err(|error| format!("{place}: {error}"))?;
    println!("the floor answers at {place}, with {count} threads; Ctrl-C ends it");
    while !interrupted.load(Ordering::Relaxed) {
        if threads.iter().any(JoinHandle::is_finished) {
            return Err(format!("{place}: a thread has ended: the process may have no more descriptors"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_their_kinds() {
        for (statement, kind) in [
            ("SELECT c FROM sbtest1 WHERE id=?", Kind::OneRow),
            (" select 1", Kind::OneRow),
            ("SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?", Kind::ManyRows),
            ("SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?", Kind::OneRow),
            ("UPDATE sbtest1 SET k=k+1 WHERE id=?", Kind::Changed),
            ("COMMIT", Kind::Done),
            ("", Kind::Done),
        ] {
            assert_eq!(Kind::of(statement.as_bytes()), kind, "{statement}");
            assert_eq!(Kind::of_number(28 | kind as u32), kind);
        }
    }
}
