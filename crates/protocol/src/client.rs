//! A client's connection without a socket: commands go in, events come out.
//!
//! ```text
//! query(..) --> output() --> [socket] --> room(), filled(n) --> next_event() ...
//! ```
//!
//! One command at a time: the next may begin when [`Client::is_idle`]. For each packet that came there is one event;
//! those that tell nothing are [`Event::Nothing`]. A row is borrowed from the receive buffer and decoded as far as it
//! is looked at. Enough for a load generator and for tests; no pool, no types of its own for values, no TLS inside.
//!
//! Invariants:
//! 1. Between two commands no memory grows but the buffers', and those shrink back.
//! 2. After an error ([`ProtocolError`], not [`Event::Error`]) the connection is of no use.
//!
//! Source: "Command Phase" of the MySQL source documentation.

use crate::auth::client::{ClientHandshake, ClientOptions, ClientStep, ServerFacts};
use crate::column::{ColumnDefinition, parse_column_count};
use crate::command::{self, byte};
use crate::compress::{Algorithm, Codec, CompressedReceiver, CompressedSender};
use crate::error::{ProtocolError, Result};
use crate::execute::{put_execute, put_query};
use crate::flags::{Capabilities, CursorFlags, StatusFlags};
use crate::receive::Receiver;
use crate::reply::{EofPacket, ErrPacket, OkPacket, PrepareOk};
use crate::row::{ColumnKind, Row};
use crate::send::PacketWriter;
use crate::value::Value;

/// What a packet of the server's says.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Nothing that matters. There may be something to send.
    Nothing,
    /// Send [`Client::output`], begin TLS, and say [`Client::tls_started`].
    StartTls,
    /// Connected (or another user).
    Connected(OkPacket<'a>),
    /// Done. If `MORE_RESULTS` is in its status, the next result follows.
    Ok(OkPacket<'a>),
    /// Not done. No further result follows.
    Error(ErrPacket<'a>),
    /// A result begins, of so many columns.
    Columns(usize),
    /// A column of it.
    Column(ColumnDefinition<'a>),
    /// A row of it.
    Row(Row<'a>),
    /// It is over. With `MORE_RESULTS` the next result follows; with `CURSOR_EXISTS` its rows are to be fetched.
    EndOfRows(OkPacket<'a>),
    /// A statement is prepared. Its parameters and columns follow; it may be executed when the client is idle.
    Prepared(PrepareOk),
    /// A parameter of it.
    Parameter(ColumnDefinition<'a>),
    /// The server wants a file of that name: [`Client::send_file`], and [`Client::end_file`].
    LocalInfile(&'a [u8]),
    /// Bare text: the answer to [`Client::statistics`].
    Text(&'a [u8]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Handshake,
    Idle,
    Ok,
    Text,
    Result { binary: bool },
    Columns { left: usize, binary: bool },
    EndOfColumns { binary: bool },
    Rows { binary: bool },
    Prepare,
    Parameters { left: u16, columns: u16 },
    EndOfParameters { columns: u16 },
    PreparedColumns { left: u16 },
    EndOfPrepared,
    FieldList,
    File { binary: bool },
}

/// What a packet of the handshake has led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Nothing,
    StartTls,
    Connected,
    Refused,
}

/// The compressed protocol's part, once it has begun.
#[derive(Debug)]
struct Compressed {
    codec: Codec,
    sender: CompressedSender,
    receiver: CompressedReceiver,
    /// What came and is not unwrapped yet.
    raw: Vec<u8>,
    out: Vec<u8>,
    out_sent: usize,
    failed: Option<ProtocolError>,
}

/// A connection.
#[derive(Debug)]
pub struct Client {
    receiver: Receiver,
    writer: PacketWriter,
    handshake: Option<Box<ClientHandshake>>,
    /// The handshake's last packet.
    handshake_packet: Vec<u8>,
    server: ServerFacts,
    zstd_level: u8,
    phase: Phase,
    columns: Vec<ColumnKind>,
    compressed: Option<Box<Compressed>>,
    /// The sequence number of a packet that goes on with an exchange.
    answer_sequence: u8,
}

impl Client {
    /// Waits for the server's greeting. `max_allowed_packet` is of the packets that come.
    pub fn connect(options: ClientOptions, max_allowed_packet: usize) -> Client {
        Client {
            receiver: Receiver::new(max_allowed_packet),
            writer: PacketWriter::new(),
            zstd_level: options.zstd_level,
            handshake: Some(Box::new(ClientHandshake::new(options))),
            handshake_packet: Vec::new(),
            server: ServerFacts::default(),
            phase: Phase::Handshake,
            columns: Vec::new(),
            compressed: None,
            answer_sequence: 0,
        }
    }

    /// What the server said of itself. Of meaning once connected.
    pub fn server(&self) -> &ServerFacts {
        &self.server
    }

    /// Whether the next command may begin.
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Where to read to.
    pub fn room(&mut self) -> &mut [u8] {
        match &mut self.compressed {
            Some(compressed) => {
                compressed.raw.resize(crate::receive::FIRST_BYTES, 0);
                &mut compressed.raw
            }
            None => self.receiver.room(),
        }
    }

    /// Says that `bytes` bytes were read into [`Client::room`].
    pub fn filled(&mut self, bytes: usize) {
        let Some(compressed) = &mut self.compressed else { return self.receiver.filled(bytes) };
        let raw = &compressed.raw[..bytes.min(compressed.raw.len())];
        if let Err(error) = compressed.receiver.feed(raw, &mut compressed.codec, &mut self.receiver) {
            compressed.failed = Some(error);
        }
    }

    /// What is to be sent.
    pub fn output(&self) -> &[u8] {
        match &self.compressed {
            Some(compressed) => &compressed.out[compressed.out_sent..],
            None => self.writer.bytes(),
        }
    }

    /// Says that `bytes` bytes of [`Client::output`] were sent.
    pub fn sent(&mut self, bytes: usize) {
        let Some(compressed) = &mut self.compressed else { return self.writer.sent(bytes) };
        compressed.out_sent = (compressed.out_sent + bytes).min(compressed.out.len());
        if compressed.out_sent == compressed.out.len() {
            compressed.out.clear();
            compressed.out_sent = 0;
        }
    }

    /// TLS has begun.
    pub fn tls_started(&mut self) {
        if let Some(handshake) = &mut self.handshake {
            handshake.tls_started(&mut self.writer);
            self.receiver.expect_sequence(self.writer.sequence());
        }
    }

    /// Begins the compressed protocol, after the handshake, if both ends want it.
    fn begin_compression(&mut self) {
        let capabilities = self.server.capabilities;
        let algorithm = if capabilities.has(Capabilities::COMPRESS) {
            Algorithm::Zlib
        } else if capabilities.has(Capabilities::ZSTD_COMPRESSION) {
            Algorithm::Zstd(self.zstd_level)
        } else {
            return;
        };
        self.receiver.set_sequence_checked(false);
        self.compressed = Some(Box::new(Compressed {
            codec: Codec::new(),
            sender: CompressedSender::new(algorithm),
            receiver: CompressedReceiver::new(algorithm),
            raw: Vec::new(),
            out: Vec::new(),
            out_sent: 0,
            failed: None,
        }));
    }

    /// Appends a command's packet, or one that goes on with an exchange (`sequence` other than 0).
    #[inline]
    fn send(&mut self, sequence: u8, phase: Phase, payload: impl FnOnce(&mut Vec<u8>)) {
        self.writer.set_sequence(sequence);
        self.writer.packet(payload);
        self.receiver.expect_sequence(self.writer.sequence());
        self.answer_sequence = self.writer.sequence();
        self.phase = phase;
        self.pack(sequence == 0);
    }

    fn pack(&mut self, new_command: bool) {
        let Some(compressed) = &mut self.compressed else { return };
        if new_command {
            compressed.sender.set_sequence(0);
        } else {
            compressed.sender.set_sequence(compressed.receiver.sequence());
        }
        compressed.sender.compress(self.writer.bytes(), &mut compressed.codec, &mut compressed.out);
        self.writer.sent(usize::MAX);
        compressed.receiver.expect_sequence(compressed.sender.sequence());
    }

    /// Sends statements.
    pub fn query(&mut self, text: &[u8]) {
        self.query_with_attributes(text, &[]);
    }

    /// Sends statements with attributes: names and values. They are left out if the server does not know them.
    pub fn query_with_attributes(&mut self, text: &[u8], attributes: &[(&[u8], Value<'_>)]) {
        let capabilities = self.server.capabilities;
        self.send(0, Phase::Result { binary: false }, |to| put_query(to, capabilities, text, attributes));
    }

    /// Prepares a statement.
    pub fn prepare(&mut self, text: &[u8]) {
        self.send(0, Phase::Prepare, |to| command::put_command(to, byte::STMT_PREPARE, text));
    }

    /// Executes a prepared statement. `parameters` have empty names; attributes with names may follow them.
    /// `with_types` may be false if the last execution had parameters of the same types.
    pub fn execute(
        &mut self,
        statement_id: u32,
        cursor: CursorFlags,
        parameters: &[(&[u8], Value<'_>)],
        with_types: bool,
    ) {
        let capabilities = self.server.capabilities;
        self.send(0, Phase::Result { binary: true }, |to| {
            put_execute(to, capabilities, statement_id, cursor, parameters, with_types);
        });
    }

    /// Fetches rows of the cursor of the statement that was executed last.
    pub fn fetch(&mut self, statement_id: u32, rows: u32) {
        self.send(0, Phase::Rows { binary: true }, |to| command::put_fetch(to, statement_id, rows));
    }

    /// Sends a piece of a parameter. There is no answer.
    pub fn send_long_data(&mut self, statement_id: u32, parameter: u16, piece: &[u8]) {
        self.send(0, Phase::Idle, |to| command::put_long_data(to, statement_id, parameter, piece));
    }

    /// Closes a prepared statement. There is no answer.
    pub fn close_statement(&mut self, statement_id: u32) {
        self.send(0, Phase::Idle, |to| command::put_statement_command(to, byte::STMT_CLOSE, statement_id));
    }

    /// Closes a statement's cursor and forgets its long data.
    pub fn reset_statement(&mut self, statement_id: u32) {
        self.send(0, Phase::Ok, |to| command::put_statement_command(to, byte::STMT_RESET, statement_id));
    }

    /// Changes the default database.
    pub fn init_db(&mut self, name: &[u8]) {
        self.send(0, Phase::Ok, |to| command::put_command(to, byte::INIT_DB, name));
    }

    /// Asks whether the server is there.
    pub fn ping(&mut self) {
        self.send(0, Phase::Ok, |to| to.push(byte::PING));
    }

    /// Makes the session like new.
    pub fn reset_connection(&mut self) {
        self.send(0, Phase::Ok, |to| to.push(byte::RESET_CONNECTION));
    }

    /// Allows many statements in one query, or forbids them.
    pub fn set_multi_statements(&mut self, on: bool) {
        self.send(0, Phase::Ok, |to| to.extend_from_slice(&[byte::SET_OPTION, u8::from(!on), 0]));
    }

    /// Asks for a line of figures.
    pub fn statistics(&mut self) {
        self.send(0, Phase::Text, |to| to.push(byte::STATISTICS));
    }

    /// Asks for a table's columns. (Deprecated.)
    pub fn field_list(&mut self, table: &[u8], pattern: &[u8]) {
        self.send(0, Phase::FieldList, |to| command::put_field_list(to, table, pattern));
    }

    /// Sends a command of any bytes, and waits for an OK.
    pub fn command(&mut self, byte: u8, rest: &[u8]) {
        self.send(0, Phase::Ok, |to| command::put_command(to, byte, rest));
    }

    /// Becomes another user, with a session like new.
    pub fn change_user(&mut self, options: ClientOptions) {
        self.handshake = Some(Box::new(ClientHandshake::change_user(options, &self.server, &mut self.writer)));
        self.receiver.expect_sequence(self.writer.sequence());
        self.phase = Phase::Handshake;
        self.pack(true);
    }

    /// Ends the connection. There is no answer.
    pub fn quit(&mut self) {
        self.send(0, Phase::Idle, |to| to.push(byte::QUIT));
    }

    /// Sends a piece of the file that the server asked for.
    pub fn send_file(&mut self, piece: &[u8]) {
        if !piece.is_empty() {
            self.send(self.answer_sequence, self.phase, |to| to.extend_from_slice(piece));
        }
    }

    /// Says that the file is over (or that there is none).
    pub fn end_file(&mut self) {
        if let Phase::File { binary } = self.phase {
            self.send(self.answer_sequence, Phase::Result { binary }, |_| ());
        }
    }

    /// What the next packet says, if one is whole.
    ///
    /// # Errors
    /// What is wrong with it; the connection is of no use afterwards.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>> {
        if let Some(error) = self.compressed.as_mut().and_then(|compressed| compressed.failed.take()) {
            return Err(error);
        }
        if self.phase == Phase::Handshake {
            return self.next_of_handshake();
        }
        let capabilities = self.server.capabilities;
        let Some(packet) = self.receiver.next_packet()? else { return Ok(None) };
        self.answer_sequence = packet.answer_sequence;
        let payload = packet.payload;
        if self.phase == Phase::Idle {
            return Err(ProtocolError::Malformed("a packet that nobody asked for"));
        }
        if ErrPacket::is_err(payload) {
            self.phase = Phase::Idle;
            return Ok(Some(Event::Error(ErrPacket::parse(payload)?)));
        }
        let deprecate_eof = capabilities.has(Capabilities::DEPRECATE_EOF);
        let event = match self.phase {
            Phase::Handshake | Phase::Idle => Event::Nothing,
            Phase::Rows { binary } => {
                // The largest row that could be taken for the end of rows is longer than a part of a packet.
                if payload.first() == Some(&0xFE) && payload.len() < crate::receive::PART_BYTES {
                    let ok = end_of_rows(payload, capabilities)?;
                    self.phase = after(ok.status, binary);
                    Event::EndOfRows(ok)
                } else if binary {
                    Event::Row(Row::binary(payload, &self.columns))
                } else {
                    Event::Row(Row::text(payload, &self.columns))
                }
            }
            Phase::Ok => {
                let ok = if EofPacket::is_eof(payload) {
                    end_of_rows(payload, capabilities)?
                } else {
                    OkPacket::parse(payload, capabilities)?
                };
                self.phase = Phase::Idle;
                Event::Ok(ok)
            }
            Phase::Text => {
                self.phase = Phase::Idle;
                Event::Text(payload)
            }
            Phase::Result { binary } => match payload.first() {
                Some(0x00) => {
                    let ok = OkPacket::parse(payload, capabilities)?;
                    self.phase = after(ok.status, binary);
                    Event::Ok(ok)
                }
                Some(0xFB) if capabilities.has(Capabilities::LOCAL_FILES) => {
                    self.phase = Phase::File { binary };
                    Event::LocalInfile(&payload[1..])
                }
                _ => {
                    let (count, with_definitions) = parse_column_count(payload, capabilities)?;
                    self.columns.clear();
                    self.phase = match (with_definitions, deprecate_eof) {
                        (true, _) if count > 0 => Phase::Columns { left: count, binary },
                        (_, true) => Phase::Rows { binary },
                        (_, false) => Phase::EndOfColumns { binary },
                    };
                    Event::Columns(count)
                }
            },
            Phase::Columns { left, binary } => {
                let column = ColumnDefinition::parse(payload)?;
                self.columns.push(ColumnKind { column_type: column.column_type, flags: column.flags });
                self.phase = match (left, deprecate_eof) {
                    (2.., _) => Phase::Columns { left: left - 1, binary },
                    (_, true) => Phase::Rows { binary },
                    (_, false) => Phase::EndOfColumns { binary },
                };
                Event::Column(column)
            }
            Phase::EndOfColumns { binary } => {
                let eof = EofPacket::parse(payload)?;
                if eof.status.has(StatusFlags::CURSOR_EXISTS) {
                    self.phase = Phase::Idle;
                    Event::EndOfRows(OkPacket { status: eof.status, warnings: eof.warnings, ..OkPacket::default() })
                } else {
                    self.phase = Phase::Rows { binary };
                    Event::Nothing
                }
            }
            Phase::Prepare => {
                let prepared = PrepareOk::parse(payload, capabilities)?;
                let (parameters, columns) =
                    if prepared.with_definitions { (prepared.parameters, prepared.columns) } else { (0, 0) };
                self.phase = match (parameters, columns) {
                    (0, 0) => Phase::Idle,
                    (0, columns) => Phase::PreparedColumns { left: columns },
                    (parameters, columns) => Phase::Parameters { left: parameters, columns },
                };
                Event::Prepared(prepared)
            }
            Phase::Parameters { left, columns } => {
                self.phase = match (left, deprecate_eof) {
                    (2.., _) => Phase::Parameters { left: left - 1, columns },
                    (_, false) => Phase::EndOfParameters { columns },
                    (_, true) => after_parameters(columns),
                };
                Event::Parameter(ColumnDefinition::parse(payload)?)
            }
            Phase::EndOfParameters { columns } => {
                EofPacket::parse(payload)?;
                self.phase = after_parameters(columns);
                Event::Nothing
            }
            Phase::PreparedColumns { left } => {
                self.phase = match (left, deprecate_eof) {
                    (2.., _) => Phase::PreparedColumns { left: left - 1 },
                    (_, false) => Phase::EndOfPrepared,
                    (_, true) => Phase::Idle,
                };
                Event::Column(ColumnDefinition::parse(payload)?)
            }
            Phase::EndOfPrepared => {
                EofPacket::parse(payload)?;
                self.phase = Phase::Idle;
                Event::Nothing
            }
            Phase::FieldList => {
                if payload.first() == Some(&0xFE) {
                    self.phase = Phase::Idle;
                    Event::EndOfRows(end_of_rows(payload, capabilities)?)
                } else {
                    Event::Column(ColumnDefinition::parse(payload)?)
                }
            }
            Phase::File { .. } => return Err(ProtocolError::Malformed("a packet before the file's end")),
        };
        Ok(Some(event))
    }

    fn next_of_handshake(&mut self) -> Result<Option<Event<'_>>> {
        let Some(progress) = self.advance_handshake()? else { return Ok(None) };
        let payload = &self.handshake_packet[..];
        Ok(Some(match progress {
            Progress::Nothing => Event::Nothing,
            Progress::StartTls => Event::StartTls,
            Progress::Connected => Event::Connected(OkPacket::parse(payload, self.server.capabilities)?),
            Progress::Refused => Event::Error(ErrPacket::parse(payload)?),
        }))
    }

    /// Takes a packet of the handshake, which is copied: what is in it is told after the machine has moved on.
    fn advance_handshake(&mut self) -> Result<Option<Progress>> {
        let Some(packet) = self.receiver.next_packet()? else { return Ok(None) };
        let Some(handshake) = &mut self.handshake else {
            return Err(ProtocolError::Malformed("a packet that nobody asked for"));
        };
        self.handshake_packet.clear();
        self.handshake_packet.extend_from_slice(packet.payload);
        self.writer.set_sequence(packet.answer_sequence);
        let progress = match handshake.on_packet(&self.handshake_packet, &mut self.writer)? {
            ClientStep::Connected(_) => {
                self.server = handshake.server().clone();
                Progress::Connected
            }
            ClientStep::Refused(_) => Progress::Refused,
            ClientStep::Continue => Progress::Nothing,
            ClientStep::StartTls => Progress::StartTls,
        };
        if matches!(progress, Progress::Connected | Progress::Refused) {
            self.handshake = None;
            self.phase = Phase::Idle;
        } else {
            self.receiver.expect_sequence(self.writer.sequence());
            if !self.writer.is_empty() {
                self.pack(false);
            }
        }
        if progress == Progress::Connected && self.compressed.is_none() {
            self.begin_compression();
        }
        Ok(Some(progress))
    }
}

/// What follows the end of a result.
fn after(status: StatusFlags, binary: bool) -> Phase {
    if status.has(StatusFlags::MORE_RESULTS) { Phase::Result { binary } } else { Phase::Idle }
}

fn after_parameters(columns: u16) -> Phase {
    if columns > 0 { Phase::PreparedColumns { left: columns } } else { Phase::Idle }
}

/// Reads an EOF packet, or the OK packet with header FE that has taken its place.
fn end_of_rows(payload: &[u8], capabilities: Capabilities) -> Result<OkPacket<'_>> {
    if capabilities.has(Capabilities::DEPRECATE_EOF) && payload.len() >= 7 {
        OkPacket::parse(payload, capabilities)
    } else {
        let eof = EofPacket::parse(payload)?;
        Ok(OkPacket { status: eof.status, warnings: eof.warnings, ..OkPacket::default() })
    }
}
