//! The packets that end things: OK, ERR, EOF; and the answer to a prepare, and the request for a local file.
//!
//! ```text
//! OK    00 affected id status2 warnings2 [info] [session changes]      (header FE where it ends rows)
//! ERR   FF number2 '#' sqlstate5 text
//! EOF   FE warnings2 status2                                           (not with DEPRECATE_EOF, rows' end aside)
//! ```
//!
//! Source: "OK_Packet", "ERR_Packet", "EOF_Packet", "COM_STMT_PREPARE Response", "LOCAL INFILE Request" of the MySQL
//! source documentation.

use meseta_errors::ErrorCode;

use crate::error::{ProtocolError, Result};
use crate::flags::{Capabilities, StatusFlags};
use crate::send::PacketWriter;
use crate::wire::{Take, put_integer, put_string};

/// That something was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OkPacket<'a> {
    /// Rows that were changed (or found, with `FOUND_ROWS`).
    pub affected_rows: u64,
    /// The first value that AUTO_INCREMENT gave.
    pub last_insert_id: u64,
    /// The session's state.
    pub status: StatusFlags,
    /// Warnings that SHOW WARNINGS would show.
    pub warnings: u16,
    /// A sentence: `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub info: &'a [u8],
    /// Changes of the session's state, as [`SessionChanges`] encodes and [`SessionChange::iterate`] reads them. Sent
    /// if the client asked for them (`SESSION_TRACK`), and then `SESSION_STATE_CHANGED` is set by itself.
    pub session: &'a [u8],
}

impl<'a> OkPacket<'a> {
    /// Appends an OK packet: the answer to a statement without rows.
    #[inline]
    pub fn write(&self, writer: &mut PacketWriter, capabilities: Capabilities) {
        writer.packet(|to| self.encode(to, capabilities, 0x00));
    }

    /// Appends what ends the rows of a result: an OK packet with header FE, or an EOF packet for older clients.
    #[inline]
    pub fn write_end_of_rows(&self, writer: &mut PacketWriter, capabilities: Capabilities) {
        if capabilities.has(Capabilities::DEPRECATE_EOF) {
            writer.packet(|to| self.encode(to, capabilities, 0xFE));
        } else {
            EofPacket { status: self.status, warnings: self.warnings }.write(writer);
        }
    }

    #[inline]
    fn encode(&self, to: &mut Vec<u8>, capabilities: Capabilities, header: u8) {
        let tracked = capabilities.has(Capabilities::SESSION_TRACK);
        let changed = tracked && !self.session.is_empty();
        let status = self.status.set(StatusFlags::SESSION_STATE_CHANGED, changed);
        to.push(header);
        put_integer(to, self.affected_rows);
        put_integer(to, self.last_insert_id);
        let [status_low, status_high] = status.0.to_le_bytes();
        let [warnings_low, warnings_high] = self.warnings.to_le_bytes();
        to.extend_from_slice(&[status_low, status_high, warnings_low, warnings_high]);
        if changed {
            put_string(to, self.info);
            put_string(to, self.session);
        } else if !self.info.is_empty() {
            // With its length, whatever the client asked for: that is what MySQL does, and clients expect.
            put_string(to, self.info);
        }
    }

    /// Reads the payload of an OK packet, of either header.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<OkPacket<'a>> {
        let mut take = Take::new(payload);
        if !matches!(take.u8()?, 0x00 | 0xFE) {
            return Err(ProtocolError::Malformed("not an OK packet"));
        }
        let affected_rows = take.integer()?;
        let last_insert_id = take.integer()?;
        let status = StatusFlags(take.u16()?);
        let warnings = take.u16()?;
        let (mut info, mut session): (&[u8], &[u8]) = (b"", b"");
        if !take.is_empty() {
            info = take.string()?;
        }
        if capabilities.has(Capabilities::SESSION_TRACK) && status.has(StatusFlags::SESSION_STATE_CHANGED) {
            session = take.string()?;
        }
        Ok(OkPacket { affected_rows, last_insert_id, status, warnings, info, session })
    }
}

/// That column definitions, or the rows of an older client, are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EofPacket {
    /// The session's state.
    pub status: StatusFlags,
    /// Warnings that SHOW WARNINGS would show.
    pub warnings: u16,
}

impl EofPacket {
    /// Appends an EOF packet.
    #[inline]
    pub fn write(&self, writer: &mut PacketWriter) {
        let [status_low, status_high] = self.status.0.to_le_bytes();
        let [warnings_low, warnings_high] = self.warnings.to_le_bytes();
        writer.packet(|to| to.extend_from_slice(&[0xFE, warnings_low, warnings_high, status_low, status_high]));
    }

    /// Appends what ends column definitions: an EOF packet for older clients, nothing for the others.
    #[inline]
    pub fn write_end_of_columns(&self, writer: &mut PacketWriter, capabilities: Capabilities) {
        if !capabilities.has(Capabilities::DEPRECATE_EOF) {
            self.write(writer);
        }
    }

    /// Whether a payload is an EOF packet, and not a row that begins with a string of 16 MiB or more.
    pub fn is_eof(payload: &[u8]) -> bool {
        payload.len() < 9 && payload.first() == Some(&0xFE)
    }

    /// Reads its payload.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(payload: &[u8]) -> Result<EofPacket> {
        let mut take = Take::new(payload);
        if take.u8()? != 0xFE {
            return Err(ProtocolError::Malformed("not an EOF packet"));
        }
        let warnings = take.u16()?;
        Ok(EofPacket { status: StatusFlags(take.u16()?), warnings })
    }
}

/// That something was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrPacket<'a> {
    /// Its number.
    pub code: ErrorCode,
    /// Its SQLSTATE, five bytes. (`HY000` where the packet has none.)
    pub sqlstate: [u8; 5],
    /// What it says.
    pub message: &'a [u8],
}

impl<'a> ErrPacket<'a> {
    /// An error of the table, with its SQLSTATE.
    pub fn new(code: ErrorCode, message: &'a [u8]) -> ErrPacket<'a> {
        let mut sqlstate = *b"HY000";
        sqlstate.copy_from_slice(code.sqlstate().as_bytes());
        ErrPacket { code, sqlstate, message }
    }

    /// Appends an ERR packet. The text is cut at 512 bytes, as MySQL's buffer for it would, at the end of a character.
    pub fn write(&self, writer: &mut PacketWriter) {
        writer.packet(|to| {
            to.push(0xFF);
            to.extend_from_slice(&self.code.0.to_le_bytes());
            to.push(b'#');
            to.extend_from_slice(&self.sqlstate);
            let mut end = self.message.len().min(511);
            while end < self.message.len() && end > 0 && self.message[end] & 0xC0 == 0x80 {
                end -= 1;
            }
            to.extend_from_slice(&self.message[..end]);
        });
    }

    /// Whether a payload is an ERR packet. (No row begins with FF.)
    #[inline]
    pub fn is_err(payload: &[u8]) -> bool {
        payload.first() == Some(&0xFF)
    }

    /// Reads its payload. One that came before the handshake has no SQLSTATE.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(payload: &'a [u8]) -> Result<ErrPacket<'a>> {
        let mut take = Take::new(payload);
        if take.u8()? != 0xFF {
            return Err(ProtocolError::Malformed("not an ERR packet"));
        }
        let code = ErrorCode(take.u16()?);
        let mut sqlstate = *b"HY000";
        if take.rest().first() == Some(&b'#') {
            take.u8()?;
            sqlstate = take.array()?;
        }
        Ok(ErrPacket { code, sqlstate, message: take.to_end() })
    }
}

/// Appends the error of the table with its arguments: `write_error(writer, ER_BAD_DB_ERROR, &[&"shop"])`.
pub fn write_error(writer: &mut PacketWriter, code: ErrorCode, arguments: &[&dyn std::fmt::Display]) {
    ErrPacket::new(code, code.message(arguments).as_bytes()).write(writer);
}

/// A change of a session's state, as an OK packet tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionChange<'a> {
    /// A system variable has a new value.
    SystemVariable {
        /// Its name.
        name: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// The default database is another.
    Schema(&'a [u8]),
    /// Something of the session's state changed, or (`session_track_state_change`) nothing did.
    State(bool),
    /// Transactions' global identifiers, with the byte that says how they are encoded.
    Gtids(u8, &'a [u8]),
    /// The statements that would begin the transaction again elsewhere.
    TransactionCharacteristics(&'a [u8]),
    /// Eight characters, a place each: what the transaction has done.
    TransactionState(&'a [u8]),
    /// A kind that we do not know, and its data.
    Other(u8, &'a [u8]),
}

impl<'a> SessionChange<'a> {
    /// The changes in an OK packet's `session`.
    pub fn iterate(session: &'a [u8]) -> impl Iterator<Item = Result<SessionChange<'a>>> {
        let mut take = Take::new(session);
        std::iter::from_fn(move || {
            if take.is_empty() {
                return None;
            }
            let change = SessionChange::take(&mut take);
            if change.is_err() {
                take.to_end();
            }
            Some(change)
        })
    }

    fn take(take: &mut Take<'a>) -> Result<SessionChange<'a>> {
        let kind = take.u8()?;
        let all = take.string()?;
        let mut data = Take::new(all);
        Ok(match kind {
            0 => SessionChange::SystemVariable { name: data.string()?, value: data.string()? },
            1 => SessionChange::Schema(data.string()?),
            2 => SessionChange::State(data.string()? == b"1"),
            3 => {
                let encoding = data.u8()?;
                SessionChange::Gtids(encoding, data.string()?)
            }
            4 => SessionChange::TransactionCharacteristics(data.string()?),
            5 => SessionChange::TransactionState(data.string()?),
            kind => SessionChange::Other(kind, all),
        })
    }
}

/// Collects changes of a session's state for the next OK packet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionChanges {
    bytes: Vec<u8>,
}

impl SessionChanges {
    /// None yet.
    pub fn new() -> SessionChanges {
        SessionChanges::default()
    }

    /// Adds one.
    pub fn push(&mut self, change: SessionChange<'_>) {
        let mut data = Vec::new();
        let kind = match change {
            SessionChange::SystemVariable { name, value } => {
                put_string(&mut data, name);
                put_string(&mut data, value);
                0
            }
            SessionChange::Schema(name) => {
                put_string(&mut data, name);
                1
            }
            SessionChange::State(changed) => {
                put_string(&mut data, if changed { b"1" } else { b"0" });
                2
            }
            SessionChange::Gtids(encoding, text) => {
                data.push(encoding);
                put_string(&mut data, text);
                3
            }
            SessionChange::TransactionCharacteristics(text) => {
                put_string(&mut data, text);
                4
            }
            SessionChange::TransactionState(text) => {
                put_string(&mut data, text);
                5
            }
            SessionChange::Other(kind, bytes) => {
                data.extend_from_slice(bytes);
                kind
            }
        };
        self.bytes.push(kind);
        put_string(&mut self.bytes, &data);
    }

    /// For [`OkPacket::session`].
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets them: they were told.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// The answer to COM_STMT_PREPARE. Definitions of the parameters follow, then of the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PrepareOk {
    /// The number by which the statement is executed and closed.
    pub statement_id: u32,
    /// How many columns its rows will have; 0 if there are none.
    pub columns: u16,
    /// How many `?` it has.
    pub parameters: u16,
    /// Warnings.
    pub warnings: u16,
    /// Whether definitions follow (of meaning if the client can do without).
    pub with_definitions: bool,
}

impl PrepareOk {
    /// Appends its packet.
    pub fn write(&self, writer: &mut PacketWriter, capabilities: Capabilities) {
        writer.packet(|to| {
            to.push(0);
            to.extend_from_slice(&self.statement_id.to_le_bytes());
            to.extend_from_slice(&self.columns.to_le_bytes());
            to.extend_from_slice(&self.parameters.to_le_bytes());
            to.push(0);
            to.extend_from_slice(&self.warnings.to_le_bytes());
            if capabilities.has(Capabilities::OPTIONAL_RESULTSET_METADATA) {
                to.push(u8::from(self.with_definitions));
            }
        });
    }

    /// Reads its payload.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(payload: &[u8], capabilities: Capabilities) -> Result<PrepareOk> {
        let mut take = Take::new(payload);
        if take.u8()? != 0 {
            return Err(ProtocolError::Malformed("not an answer to a prepare"));
        }
        let (statement_id, columns, parameters) = (take.u32()?, take.u16()?, take.u16()?);
        take.u8()?;
        let warnings = if take.is_empty() { 0 } else { take.u16()? };
        let with_definitions = if capabilities.has(Capabilities::OPTIONAL_RESULTSET_METADATA) && !take.is_empty() {
            take.u8()? != 0
        } else {
            true
        };
        Ok(PrepareOk { statement_id, columns, parameters, warnings, with_definitions })
    }
}

/// Appends a request for a file of the client's: `LOAD DATA LOCAL INFILE`. The client answers with packets of the
/// file's bytes, and an empty one at its end.
pub fn write_local_infile_request(writer: &mut PacketWriter, file_name: &[u8]) {
    writer.packet(|to| {
        to.push(0xFB);
        to.extend_from_slice(file_name);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use meseta_errors::{ER_BAD_DB_ERROR, ER_DUP_ENTRY};

    #[test]
    fn ok_packets_come_back_with_what_the_client_asked_for() {
        let mut changes = SessionChanges::new();
        let all = [
            SessionChange::SystemVariable { name: b"autocommit", value: b"OFF" },
            SessionChange::Schema(b"shop"),
            SessionChange::State(true),
            SessionChange::Gtids(0, b"3e11fa47-71ca-11e1-9e33-c80aa9429562:23"),
            SessionChange::TransactionCharacteristics(b"START TRANSACTION;"),
            SessionChange::TransactionState(b"T_______"),
            SessionChange::Other(77, b"xyz"),
        ];
        all.into_iter().for_each(|change| changes.push(change));
        for capabilities in [Capabilities::NONE, Capabilities::SESSION_TRACK] {
            for (info, session) in
                [(&b""[..], &b""[..]), (b"Rows", b""), (b"", changes.bytes()), (b"x", changes.bytes())]
            {
                let ok = OkPacket {
                    affected_rows: 300,
                    last_insert_id: 1 << 40,
                    status: StatusFlags::AUTOCOMMIT,
                    warnings: 3,
                    info,
                    session,
                };
                let mut writer = PacketWriter::new();
                ok.write(&mut writer, capabilities);
                let got = OkPacket::parse(&writer.bytes()[4..], capabilities).unwrap();
                if capabilities == Capabilities::NONE {
                    assert_eq!(got, OkPacket { session: b"", ..ok });
                } else {
                    let changed = !session.is_empty();
                    assert_eq!(
                        got,
                        OkPacket { status: ok.status.set(StatusFlags::SESSION_STATE_CHANGED, changed), ..ok }
                    );
                }
            }
        }
        let got: Vec<_> = SessionChange::iterate(changes.bytes()).map(|change| change.unwrap()).collect();
        assert_eq!(got, all);
        for cut in 0..changes.bytes().len() {
            let _ = SessionChange::iterate(&changes.bytes()[..cut]).collect::<Vec<_>>();
        }
    }

    #[test]
    fn errors_have_their_number_state_and_text() {
        let mut writer = PacketWriter::new();
        write_error(&mut writer, ER_DUP_ENTRY, &[&7, &"t.PRIMARY"]);
        assert_eq!(&writer.bytes()[4..], b"\xFF\x26\x04#23000Duplicate entry '7' for key 't.PRIMARY'");
        let got = ErrPacket::parse(&writer.bytes()[4..]).unwrap();
        assert_eq!((got.code, &got.sqlstate), (ER_DUP_ENTRY, b"23000"));
        assert_eq!(ErrPacket::parse(b"\xFF\x10\x04Too many").unwrap().message, b"Too many");
        let long = "é".repeat(600);
        let mut writer = PacketWriter::new();
        write_error(&mut writer, ER_BAD_DB_ERROR, &[&long]);
        let got = ErrPacket::parse(&writer.bytes()[4..]).unwrap();
        assert!(std::str::from_utf8(got.message).is_ok() && got.message.len() > 500 && got.message.len() < 512);
    }

    #[test]
    fn ends_of_rows_are_what_the_client_knows() {
        let ok = OkPacket { status: StatusFlags::AUTOCOMMIT, warnings: 1, ..OkPacket::default() };
        let mut writer = PacketWriter::new();
        ok.write_end_of_rows(&mut writer, Capabilities::DEPRECATE_EOF);
        assert_eq!(&writer.bytes()[4..], b"\xFE\0\0\x02\0\x01\0");
        let mut writer = PacketWriter::new();
        ok.write_end_of_rows(&mut writer, Capabilities::NONE);
        assert_eq!(&writer.bytes()[4..], b"\xFE\x01\0\x02\0");
        let eof = EofPacket { status: StatusFlags::AUTOCOMMIT, warnings: 1 };
        assert_eq!(EofPacket::parse(&writer.bytes()[4..]), Ok(eof));
    }

    #[test]
    fn the_answer_to_a_prepare_comes_back() {
        for capabilities in [Capabilities::NONE, Capabilities::OPTIONAL_RESULTSET_METADATA] {
            let prepared =
                PrepareOk { statement_id: 9, columns: 2, parameters: 3, warnings: 1, with_definitions: true };
            let mut writer = PacketWriter::new();
            prepared.write(&mut writer, capabilities);
            assert_eq!(PrepareOk::parse(&writer.bytes()[4..], capabilities), Ok(prepared));
        }
    }
}
