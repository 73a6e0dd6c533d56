//! A client and a server in memory: every command, its reply, and what the client makes of it; plain and compressed.

use meseta_errors::ER_UNKNOWN_COM_ERROR;
use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::auth::digest::sha2_cached;
use meseta_protocol::auth::server::{Account, ServerHandshake, ServerStep};
use meseta_protocol::auth::verifier::Verifier;
use meseta_protocol::auth::{Password, Plugin};
use meseta_protocol::client::{Client, Event};
use meseta_protocol::column::{ColumnDefinition, ColumnType, write_column_count};
use meseta_protocol::command::Command;
use meseta_protocol::compress::{Algorithm, Codec, CompressedReceiver, CompressedSender};
use meseta_protocol::execute::{LongData, ParameterTypes};
use meseta_protocol::flags::{Capabilities, CursorFlags, StatusFlags};
use meseta_protocol::receive::Receiver;
use meseta_protocol::reply::{EofPacket, OkPacket, PrepareOk, write_error, write_local_infile_request};
use meseta_protocol::row::{BinaryRow, TextRow};
use meseta_protocol::send::PacketWriter;
use meseta_protocol::value::Value;

/// A server that knows one account and four statements.
struct Server {
    receiver: Receiver,
    writer: PacketWriter,
    handshake: Option<ServerHandshake>,
    capabilities: Capabilities,
    compressed: Option<(CompressedSender, CompressedReceiver, Codec)>,
    out: Vec<u8>,
    types: ParameterTypes,
    long: LongData,
    file: Option<Vec<u8>>,
    seen: Vec<String>,
}

fn account() -> Account {
    let verifier = Verifier::of_password(Plugin::CachingSha2Password, b"pw", [b's'; 20], 1000);
    Account { plugin: Plugin::CachingSha2Password, verifier, cached: Some(sha2_cached(b"pw")) }
}

impl Server {
    fn new() -> Server {
        let handshake = ServerHandshake::new(Capabilities(!0), false);
        let mut writer = PacketWriter::new();
        handshake.greet(&mut writer, b"9.7.0", 1, 255, StatusFlags::AUTOCOMMIT, Plugin::CachingSha2Password);
        let mut server = Server {
            receiver: Receiver::new(32 << 20),
            writer,
            handshake: Some(handshake),
            capabilities: Capabilities::NONE,
            compressed: None,
            out: Vec::new(),
            types: ParameterTypes::default(),
            long: LongData::default(),
            file: None,
            seen: Vec::new(),
        };
        server.receiver.expect_sequence(server.writer.sequence());
        server.flush();
        server
    }

    /// Moves what was written to `out`, compressed if it is time.
    fn flush(&mut self) {
        match &mut self.compressed {
            Some((sender, receiver, codec)) => {
                sender.set_sequence(receiver.sequence());
                sender.compress(self.writer.bytes(), codec, &mut self.out);
                receiver.expect_sequence(sender.sequence());
            }
            None => self.out.extend_from_slice(self.writer.bytes()),
        }
        self.writer.sent(usize::MAX);
    }

    fn take(&mut self, bytes: &[u8]) {
        match &mut self.compressed {
            Some((_, receiver, codec)) => {
                if bytes.get(3) == Some(&0) {
                    receiver.expect_sequence(0);
                }
                receiver.feed(bytes, codec, &mut self.receiver).unwrap();
            }
            None => self.receiver.feed(bytes),
        }
        while let Some(packet) = self.receiver.next_packet().unwrap() {
            self.writer.set_sequence(packet.answer_sequence);
            let payload = packet.payload.to_vec();
            if self.handshake.is_some() {
                self.log_in(&payload);
            } else if let Some(file) = &mut self.file {
                file.extend_from_slice(&payload);
                if payload.is_empty() {
                    let affected_rows = file.len() as u64;
                    self.file = None;
                    OkPacket { affected_rows, ..OkPacket::default() }.write(&mut self.writer, self.capabilities);
                    self.receiver.expect_sequence(0);
                }
            } else {
                self.answer(&payload);
                let goes_on = self.file.is_some() || self.handshake.is_some();
                self.receiver.expect_sequence(if goes_on { self.writer.sequence() } else { 0 });
            }
            if !self.writer.is_empty() {
                self.flush();
            }
        }
    }

    fn log_in(&mut self, payload: &[u8]) {
        let handshake = self.handshake.as_mut().unwrap();
        let mut step = handshake.on_packet(payload, None, &mut self.writer).unwrap();
        if let ServerStep::LookUp = step {
            assert_eq!(handshake.client().user, b"ann");
            step = handshake.account(Some(account()), &mut self.writer);
        }
        match step {
            ServerStep::Continue => self.receiver.expect_sequence(self.writer.sequence()),
            ServerStep::Accepted { .. } => {
                let client = self.handshake.take().unwrap().into_client();
                self.capabilities = client.capabilities;
                OkPacket::default().write(&mut self.writer, self.capabilities);
                self.flush();
                self.receiver.expect_sequence(0);
                let algorithm = if self.capabilities.has(Capabilities::COMPRESS) {
                    Algorithm::Zlib
                } else if self.capabilities.has(Capabilities::ZSTD_COMPRESSION) {
                    Algorithm::Zstd(client.zstd_level)
                } else {
                    return;
                };
                self.receiver.set_sequence_checked(false);
                let receiver = CompressedReceiver::new(algorithm);
                self.compressed = Some((CompressedSender::new(algorithm), receiver, Codec::new()));
            }
            other => panic!("{other:?}"),
        }
    }

    fn answer(&mut self, payload: &[u8]) {
        let (writer, capabilities) = (&mut self.writer, self.capabilities);
        let done = OkPacket { status: StatusFlags::AUTOCOMMIT, ..OkPacket::default() };
        let column = ColumnDefinition { name: b"x", column_type: ColumnType::VarString, ..ColumnDefinition::default() };
        let number = ColumnDefinition { column_type: ColumnType::LongLong, ..column };
        let command = match Command::parse(payload, capabilities) {
            Ok(command) => command,
            Err(error) => return write_error(writer, error.code(), &[]),
        };
        self.seen.push(command.name().into());
        match command {
            Command::Query(query) if query.text == b"LOAD" => {
                write_local_infile_request(writer, b"numbers.txt");
                self.file = Some(Vec::new());
            }
            Command::Query(query) if query.text == b"ROWS" => {
                for more in [true, false] {
                    let status = done.status.set(StatusFlags::MORE_RESULTS, more);
                    write_column_count(writer, capabilities, 1, true);
                    column.write(writer);
                    EofPacket { status, warnings: 0 }.write_end_of_columns(writer, capabilities);
                    for length in [0usize, 1, 250, 251, 70_000] {
                        let mut row = TextRow::new(writer);
                        row.bytes(&vec![b'r'; length]);
                        row.end();
                    }
                    OkPacket { status, ..done }.write_end_of_rows(writer, capabilities);
                }
            }
            Command::Query(query) => {
                let attributes: Vec<_> = query.attributes.map(|attribute| attribute.unwrap().name.to_vec()).collect();
                OkPacket { info: &attributes.concat(), ..done }.write(writer, capabilities);
            }
            Command::Prepare(_) => {
                let prepared =
                    PrepareOk { statement_id: 3, columns: 1, parameters: 2, warnings: 0, with_definitions: true };
                prepared.write(writer, capabilities);
                [column, column].iter().for_each(|column| column.write(writer));
                EofPacket::default().write_end_of_columns(writer, capabilities);
                number.write(writer);
                EofPacket::default().write_end_of_columns(writer, capabilities);
            }
            Command::Execute(execute) => {
                assert_eq!(execute.statement_id, 3);
                let parameters = execute.parameters(capabilities, 2, &mut self.types, Some(&self.long)).unwrap();
                let values: Vec<Value<'_>> = parameters.map(|parameter| parameter.unwrap().value).collect();
                write_column_count(writer, capabilities, 1, true);
                number.write(writer);
                EofPacket { status: done.status, warnings: 0 }.write_end_of_columns(writer, capabilities);
                for value in values {
                    let mut row = BinaryRow::new(writer, 1);
                    match value {
                        Value::Int(value) => row.int(ColumnType::LongLong, value),
                        Value::Bytes(bytes) => row.int(ColumnType::LongLong, bytes.len() as i64),
                        _ => row.null(),
                    }
                    row.end();
                }
                done.write_end_of_rows(writer, capabilities);
                self.long.clear();
            }
            Command::SendLongData { parameter, piece, .. } => {
                assert!(self.long.append(parameter, piece, 1 << 20));
            }
            Command::Fetch { rows, .. } => {
                for value in 0..rows {
                    let mut row = BinaryRow::new(writer, 1);
                    row.int(ColumnType::LongLong, i64::from(value));
                    row.end();
                }
                OkPacket { status: StatusFlags::LAST_ROW_SENT, ..done }.write_end_of_rows(writer, capabilities);
            }
            Command::Statistics => writer.packet(|to| to.extend_from_slice(b"Uptime: 1")),
            Command::FieldList { .. } => {
                column.write_with_default(writer, Some(b"d"));
                done.write_end_of_rows(writer, capabilities);
            }
            Command::CloseStatement(_) | Command::Quit => {}
            Command::ChangeUser(change) => {
                let before = meseta_protocol::auth::server::ClientFacts { capabilities, ..Default::default() };
                let mut handshake = ServerHandshake::change_user(&change, &before, false);
                assert!(matches!(handshake.account(Some(account()), writer), ServerStep::Continue));
                self.receiver.expect_sequence(writer.sequence());
                self.handshake = Some(handshake);
            }
            Command::Debug | Command::SetOption(_) => EofPacket::default().write(writer),
            Command::InitDb(_)
            | Command::ProcessKill(_)
            | Command::Ping
            | Command::ResetStatement(_)
            | Command::ResetConnection => done.write(writer, capabilities),
        }
    }
}

struct Pair {
    client: Client,
    server: Server,
}

impl Pair {
    /// Lets the two talk until the client is idle; events as text.
    fn run(&mut self) -> Vec<String> {
        let mut events = Vec::new();
        for _ in 0..100 {
            let bytes = self.client.output().to_vec();
            self.client.sent(bytes.len());
            self.server.take(&bytes);
            let mut out = std::mem::take(&mut self.server.out);
            while !out.is_empty() {
                let room = self.client.room();
                let count = room.len().min(out.len()).min(997);
                room[..count].copy_from_slice(&out[..count]);
                self.client.filled(count);
                out.drain(..count);
                let mut file = false;
                while let Some(event) = self.client.next_event().unwrap() {
                    events.push(match event {
                        Event::Nothing => continue,
                        Event::Row(row) => match row.values().next().unwrap().unwrap() {
                            Value::Bytes(bytes) => format!("row of {}", bytes.len()),
                            value => format!("row {value:?}"),
                        },
                        Event::Ok(ok) => format!("ok {} {}", ok.affected_rows, String::from_utf8_lossy(ok.info)),
                        Event::EndOfRows(ok) => format!("end {:#x}", ok.status.0),
                        Event::Error(error) => format!("error {}", error.code.number()),
                        Event::Columns(count) => format!("{count} columns"),
                        Event::Column(column) => format!("column {}", String::from_utf8_lossy(column.name)),
                        Event::Parameter(_) => "parameter".into(),
                        Event::Prepared(prepared) => format!("prepared {}", prepared.statement_id),
                        Event::Text(text) => String::from_utf8_lossy(text).into_owned(),
                        Event::Connected(_) => "connected".into(),
                        Event::StartTls => "tls".into(),
                        Event::LocalInfile(name) => {
                            file = true;
                            format!("file {}", String::from_utf8_lossy(name))
                        }
                    });
                }
                if file {
                    self.client.send_file(&[b'f'; 1000]);
                    self.client.send_file(b"g");
                    self.client.end_file();
                }
            }
            if self.client.is_idle() && self.client.output().is_empty() {
                return events;
            }
        }
        panic!("they would talk for ever: {events:?}");
    }
}

fn options(capabilities: Capabilities) -> ClientOptions {
    ClientOptions {
        user: b"ann".to_vec(),
        password: Password::new(b"pw".to_vec()),
        capabilities,
        ..ClientOptions::default()
    }
}

fn every_command(capabilities: Capabilities) {
    let mut pair = Pair { client: Client::connect(options(capabilities), 32 << 20), server: Server::new() };
    assert_eq!(pair.run(), ["connected"]);
    pair.client.query_with_attributes(b"DO 0", &[(b"trace", Value::Int(1))]);
    let name = if capabilities.has(Capabilities::QUERY_ATTRIBUTES) { "trace" } else { "" };
    assert_eq!(pair.run(), [format!("ok 0 {name}")]);
    pair.client.query(b"ROWS");
    let one = ["1 columns", "column x", "row of 0", "row of 1", "row of 250", "row of 251", "row of 70000"];
    assert_eq!(pair.run(), [&one[..], &["end 0xa"], &one[..], &["end 0x2"]].concat());
    if capabilities.has(Capabilities::LOCAL_FILES) {
        pair.client.query(b"LOAD");
        assert_eq!(pair.run(), ["file numbers.txt", "ok 1001 "]);
    }
    pair.client.prepare(b"SELECT ?, ?");
    assert_eq!(pair.run(), ["prepared 3", "parameter", "parameter", "column x"]);
    for with_types in [true, false] {
        pair.client.execute(3, CursorFlags::NONE, &[(b"", Value::Int(-7)), (b"", Value::Int(8))], with_types);
        let rows = ["1 columns", "column x", "row Int(-7)", "row Int(8)", "end 0x2"];
        assert_eq!(pair.run(), rows);
    }
    pair.client.send_long_data(3, 1, &[b'l'; 300]);
    assert!(pair.run().is_empty());
    pair.client.execute(3, CursorFlags::NONE, &[(b"", Value::Null), (b"", Value::Null)], true);
    assert_eq!(pair.run(), ["1 columns", "column x", "row Null", "row Int(300)", "end 0x2"]);
    pair.client.fetch(3, 2);
    assert_eq!(pair.run(), ["row Int(0)", "row Int(1)", "end 0x80"]);
    pair.client.reset_statement(3);
    assert_eq!(pair.run(), ["ok 0 "]);
    pair.client.close_statement(3);
    assert!(pair.run().is_empty());
    pair.client.statistics();
    assert_eq!(pair.run(), ["Uptime: 1"]);
    pair.client.field_list(b"t", b"");
    assert_eq!(pair.run(), ["column x", "end 0x2"]);
    for (byte, rest) in [(0x0D, &b""[..]), (0x0C, b"\x01\0\0\0"), (0x02, b"shop"), (0x0E, b""), (0x1F, b"")] {
        pair.client.command(byte, rest);
        assert_eq!(pair.run(), ["ok 0 "]);
    }
    pair.client.command(0x30, b"");
    assert_eq!(pair.run(), [format!("error {}", ER_UNKNOWN_COM_ERROR.number())]);
    pair.client.change_user(options(capabilities));
    assert_eq!(pair.run(), ["connected"]);
    pair.client.query(&vec![b'q'; 17 << 20]);
    assert_eq!(pair.run(), ["ok 0 "]);
    pair.client.quit();
    assert!(pair.run().is_empty());
    assert_eq!(pair.server.seen.last().unwrap(), "Quit");
    assert!(pair.server.receiver.reclaim().is_none_or(|buffer| buffer.len() <= 64 << 10));
}

#[test]
fn every_command_is_understood() {
    let all = Capabilities(!0).without(Capabilities::SSL | Capabilities::COMPRESS | Capabilities::ZSTD_COMPRESSION);
    every_command(Capabilities::NONE);
    every_command(ClientOptions::default().capabilities);
    every_command(all);
    every_command(all.without(Capabilities::DEPRECATE_EOF));
    every_command(all.with(Capabilities::COMPRESS));
    every_command(all.with(Capabilities::ZSTD_COMPRESSION));
}
