//! Commands: what a client asks once it is connected. The first byte of a packet with sequence number 0.
//!
//! Two commands have replies of no bytes: COM_STMT_SEND_LONG_DATA and COM_STMT_CLOSE.
//!
//! Source: "Command Phase" of the MySQL source documentation.

use crate::error::{ProtocolError, Result};
use crate::execute::{Execute, Query};
use crate::flags::Capabilities;
use crate::greeting::Attributes;
use crate::wire::{Take, put_string, put_zero_ended};

/// A command, borrowed from its packet.
#[derive(Debug, Clone)]
pub enum Command<'a> {
    /// The connection ends. No reply.
    Quit,
    /// Another default database.
    InitDb(&'a [u8]),
    /// Statements.
    Query(Query<'a>),
    /// The columns of a table whose names match. (Deprecated, and used by old clients.)
    FieldList {
        /// The table.
        table: &'a [u8],
        /// A pattern for LIKE; empty for all.
        pattern: &'a [u8],
    },
    /// A line of figures, as bare text.
    Statistics,
    /// End another connection.
    ProcessKill(u32),
    /// Write figures to the error log.
    Debug,
    /// Are you there?
    Ping,
    /// Another account, and a session like new.
    ChangeUser(ChangeUser<'a>),
    /// Prepare a statement.
    Prepare(&'a [u8]),
    /// Execute a prepared statement.
    Execute(Execute<'a>),
    /// A piece of a parameter, for the next execution. No reply.
    SendLongData {
        /// The statement's number.
        statement_id: u32,
        /// Which `?`, from 0 on.
        parameter: u16,
        /// To be appended.
        piece: &'a [u8],
    },
    /// Forget a prepared statement. No reply.
    CloseStatement(u32),
    /// Close its cursor and forget its long data.
    ResetStatement(u32),
    /// Multi-statements on (0) or off (1).
    SetOption(u16),
    /// Rows of a cursor.
    Fetch {
        /// The statement's number.
        statement_id: u32,
        /// How many rows at most.
        rows: u32,
    },
    /// A session like new, for the same account.
    ResetConnection,
}

/// COM_CHANGE_USER: a handshake response without the handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeUser<'a> {
    /// The account's name.
    pub user: &'a [u8],
    /// The answer to the scramble of the greeting.
    pub auth_response: &'a [u8],
    /// The default database; empty for none.
    pub database: &'a [u8],
    /// The collation of the connection; that of the handshake if it was not sent.
    pub collation: Option<u16>,
    /// The plugin that made the answer.
    pub plugin: &'a [u8],
    /// Connection attributes.
    pub attributes: Attributes<'a>,
}

impl<'a> Command<'a> {
    /// Reads a packet.
    ///
    /// # Errors
    /// [`ProtocolError::UnknownCommand`] for those that MySQL does not have (any more), an empty packet among them;
    /// [`ProtocolError::Malformed`].
    #[inline]
    pub fn parse(payload: &'a [u8], capabilities: Capabilities) -> Result<Command<'a>> {
        let Some((&byte, rest)) = payload.split_first() else {
            return Err(ProtocolError::UnknownCommand(0));
        };
        let mut take = Take::new(rest);
        Ok(match byte {
            0x01 => Command::Quit,
            0x02 => Command::InitDb(rest),
            0x03 => Command::Query(Query::parse(rest, capabilities)?),
            0x04 => Command::FieldList { table: take.zero_ended()?, pattern: take.to_end() },
            0x09 => Command::Statistics,
            0x0C => Command::ProcessKill(take.u32()?),
            0x0D => Command::Debug,
            0x0E => Command::Ping,
            0x11 => Command::ChangeUser(ChangeUser::parse(rest, capabilities)?),
            0x16 => Command::Prepare(rest),
            0x17 => Command::Execute(Execute::parse(rest)?),
            0x18 => Command::SendLongData { statement_id: take.u32()?, parameter: take.u16()?, piece: take.to_end() },
            0x19 => Command::CloseStatement(take.u32()?),
            0x1A => Command::ResetStatement(take.u32()?),
            0x1B => Command::SetOption(take.u16()?),
            0x1C => Command::Fetch { statement_id: take.u32()?, rows: take.u32()? },
            0x1F => Command::ResetConnection,
            byte => return Err(ProtocolError::UnknownCommand(byte)),
        })
    }

    /// Its name as `SHOW PROCESSLIST` has it.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Quit => "Quit",
            Command::InitDb(_) => "Init DB",
            Command::Query(_) => "Query",
            Command::FieldList { .. } => "Field List",
            Command::Statistics => "Statistics",
            Command::ProcessKill(_) => "Kill",
            Command::Debug => "Debug",
            Command::Ping => "Ping",
            Command::ChangeUser(_) => "Change user",
            Command::Prepare(_) => "Prepare",
            Command::Execute(_) => "Execute",
            Command::SendLongData { .. } => "Long Data",
            Command::CloseStatement(_) => "Close stmt",
            Command::ResetStatement(_) => "Reset stmt",
            Command::SetOption(_) => "Set option",
            Command::Fetch { .. } => "Fetch",
            Command::ResetConnection => "Reset Connection",
        }
    }
}

impl<'a> ChangeUser<'a> {
    /// Reads what follows the command byte. All after the database may be missing.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    pub fn parse(after_command: &'a [u8], capabilities: Capabilities) -> Result<ChangeUser<'a>> {
        let mut take = Take::new(after_command);
        let user = take.zero_ended()?;
        let length = take.u8()?;
        let auth_response = take.bytes(usize::from(length))?;
        let database = take.zero_ended()?;
        let mut change =
            ChangeUser { user, auth_response, database, collation: None, plugin: b"", attributes: Attributes::NONE };
        if !take.is_empty() {
            change.collation = Some(take.u16()?);
        }
        if !take.is_empty() && capabilities.has(Capabilities::PLUGIN_AUTH) {
            change.plugin = take.zero_ended()?;
        }
        if !take.is_empty() && capabilities.has(Capabilities::CONNECT_ATTRS) {
            change.attributes = Attributes::parse(take.string()?)?;
        }
        Ok(change)
    }

    /// Appends its packet's payload. An answer longer than 255 bytes is cut, and will not do.
    pub fn encode(&self, to: &mut Vec<u8>, capabilities: Capabilities) {
        to.push(0x11);
        put_zero_ended(to, self.user);
        let response = &self.auth_response[..self.auth_response.len().min(255)];
        to.push(response.len() as u8);
        to.extend_from_slice(response);
        put_zero_ended(to, self.database);
        to.extend_from_slice(&self.collation.unwrap_or(crate::collation::UTF8MB4_0900_AI_CI).to_le_bytes());
        if capabilities.has(Capabilities::PLUGIN_AUTH) {
            put_zero_ended(to, self.plugin);
            if capabilities.has(Capabilities::CONNECT_ATTRS) {
                put_string(to, self.attributes.encoded());
            }
        }
    }
}

/// Appends a command of one byte and what follows it as it is: INIT_DB, PREPARE, PING, QUIT and their like.
pub fn put_command(to: &mut Vec<u8>, byte: u8, rest: &[u8]) {
    to.push(byte);
    to.extend_from_slice(rest);
}

/// The bytes of commands.
pub mod byte {
    #![allow(missing_docs)]
    pub const QUIT: u8 = 0x01;
    pub const INIT_DB: u8 = 0x02;
    pub const QUERY: u8 = 0x03;
    pub const FIELD_LIST: u8 = 0x04;
    pub const STATISTICS: u8 = 0x09;
    pub const PROCESS_KILL: u8 = 0x0C;
    pub const DEBUG: u8 = 0x0D;
    pub const PING: u8 = 0x0E;
    pub const CHANGE_USER: u8 = 0x11;
    pub const STMT_PREPARE: u8 = 0x16;
    pub const STMT_EXECUTE: u8 = 0x17;
    pub const STMT_SEND_LONG_DATA: u8 = 0x18;
    pub const STMT_CLOSE: u8 = 0x19;
    pub const STMT_RESET: u8 = 0x1A;
    pub const SET_OPTION: u8 = 0x1B;
    pub const STMT_FETCH: u8 = 0x1C;
    pub const RESET_CONNECTION: u8 = 0x1F;
}

/// Appends a COM_STMT_SEND_LONG_DATA.
pub fn put_long_data(to: &mut Vec<u8>, statement_id: u32, parameter: u16, piece: &[u8]) {
    to.push(byte::STMT_SEND_LONG_DATA);
    to.extend_from_slice(&statement_id.to_le_bytes());
    to.extend_from_slice(&parameter.to_le_bytes());
    to.extend_from_slice(piece);
}

/// Appends a COM_STMT_FETCH.
pub fn put_fetch(to: &mut Vec<u8>, statement_id: u32, rows: u32) {
    to.push(byte::STMT_FETCH);
    to.extend_from_slice(&statement_id.to_le_bytes());
    to.extend_from_slice(&rows.to_le_bytes());
}

/// Appends a COM_FIELD_LIST.
pub fn put_field_list(to: &mut Vec<u8>, table: &[u8], pattern: &[u8]) {
    to.push(byte::FIELD_LIST);
    put_zero_ended(to, table);
    to.extend_from_slice(pattern);
}

/// Appends a command that consists of a number: STMT_CLOSE, STMT_RESET, PROCESS_KILL.
pub fn put_statement_command(to: &mut Vec<u8>, byte: u8, statement_id: u32) {
    to.push(byte);
    to.extend_from_slice(&statement_id.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::greeting::AttributesBuilder;

    fn parse(bytes: &[u8]) -> Command<'_> {
        Command::parse(bytes, Capabilities::NONE).unwrap()
    }

    #[test]
    fn commands_come_back() {
        assert!(matches!(parse(&[byte::PING]), Command::Ping));
        assert!(matches!(parse(&[byte::QUIT]), Command::Quit));
        assert!(matches!(parse(b"\x02shop"), Command::InitDb(b"shop")));
        assert!(matches!(parse(b"\x16SELECT ?"), Command::Prepare(b"SELECT ?")));
        let mut bytes = Vec::new();
        put_fetch(&mut bytes, 3, 100);
        assert!(matches!(parse(&bytes), Command::Fetch { statement_id: 3, rows: 100 }));
        let mut bytes = Vec::new();
        put_long_data(&mut bytes, 3, 1, b"xyz");
        assert!(matches!(parse(&bytes), Command::SendLongData { statement_id: 3, parameter: 1, piece: b"xyz" }));
        let mut bytes = Vec::new();
        put_field_list(&mut bytes, b"t", b"a%");
        assert!(matches!(parse(&bytes), Command::FieldList { table: b"t", pattern: b"a%" }));
        let mut bytes = Vec::new();
        put_statement_command(&mut bytes, byte::STMT_CLOSE, 7);
        assert!(matches!(parse(&bytes), Command::CloseStatement(7)));
        for (byte, name) in [(byte::STATISTICS, "Statistics"), (byte::RESET_CONNECTION, "Reset Connection")] {
            assert_eq!(parse(&[byte]).name(), name);
        }
    }

    #[test]
    fn unknown_commands_are_named() {
        for byte in [0, 5, 6, 7, 8, 10, 11, 15, 16, 18, 19, 20, 21, 29, 30, 32, 33, 255] {
            let refused = Command::parse(&[byte], Capabilities::NONE).unwrap_err();
            assert_eq!(refused, ProtocolError::UnknownCommand(byte));
            assert_eq!(refused.code().number(), 1047);
        }
        assert!(Command::parse(b"", Capabilities::NONE).is_err());
        assert!(Command::parse(b"\x0C\x01", Capabilities::NONE).is_err());
    }

    #[test]
    fn change_user_comes_back_whole_and_cut() {
        let both = Capabilities::PLUGIN_AUTH | Capabilities::CONNECT_ATTRS;
        let mut attributes = AttributesBuilder::new();
        attributes.push(b"_os", b"Linux");
        let change = ChangeUser {
            user: b"ann",
            auth_response: b"\0\x01\x02",
            database: b"shop",
            collation: Some(45),
            plugin: b"mysql_native_password",
            attributes: attributes.attributes(),
        };
        let mut bytes = Vec::new();
        change.encode(&mut bytes, both);
        assert_eq!(ChangeUser::parse(&bytes[1..], both), Ok(change));
        let short = b"ann\0\0shop\0";
        assert_eq!(ChangeUser::parse(short, both).unwrap().database, b"shop");
    }
}
