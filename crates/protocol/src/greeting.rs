//! How a connection begins: the server's greeting, the client's answer, and the packets of authentication.
//!
//! ```text
//! server                                client
//! Greeting (handshake v10)  ------>
//!                           <------     [SslRequest, then TLS]
//!                           <------     HandshakeResponse
//! [AuthSwitch | AuthMore]   ------>     as often as the plugin wants
//!                           <------     [bare bytes]
//! OK or ERR                 ------>
//! ```
//!
//! The packets only; who sends which when is in [`crate::auth`].
//!
//! Source: "Connection Phase" of the MySQL source documentation.

use crate::error::{ProtocolError, Result};
use crate::flags::{Capabilities, StatusFlags};
use crate::send::PacketWriter;
use crate::wire::{Take, put_string, put_zero_ended};

/// The random bytes that a password's proof is made with. None of them is zero.
pub type Scramble = [u8; 20];

/// How many bytes of connection attributes are read. (MySQL's own limit.)
const ATTRIBUTE_BYTES: usize = 64 << 10;

/// What the server says first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Greeting<'a> {
    /// `9.7.4` and what else; clients read the figures.
    pub version: &'a [u8],
    /// The connection's number, for KILL.
    pub connection_id: u32,
    /// What proofs of passwords are made with.
    pub scramble: Scramble,
    /// What the server can do.
    pub capabilities: Capabilities,
    /// The server's collation.
    pub collation: u16,
    /// The state of the session to come.
    pub status: StatusFlags,
    /// The plugin that most accounts have.
    pub plugin: &'a [u8],
}

impl<'a> Greeting<'a> {
    /// Appends its packet.
    pub fn write(&self, writer: &mut PacketWriter) {
        writer.packet(|to| {
            to.push(10);
            put_zero_ended(to, self.version);
            to.extend_from_slice(&self.connection_id.to_le_bytes());
            to.extend_from_slice(&self.scramble[..8]);
            to.push(0);
            let [c0, c1, c2, c3] = self.capabilities.0.to_le_bytes();
            let [status_low, status_high] = self.status.0.to_le_bytes();
            to.extend_from_slice(&[c0, c1, self.collation as u8, status_low, status_high, c2, c3]);
            to.push(self.scramble.len() as u8 + 1);
            to.extend_from_slice(&[0; 10]);
            to.extend_from_slice(&self.scramble[8..]);
            to.push(0);
            put_zero_ended(to, self.plugin);
        });
    }

    /// Reads its payload.
    ///
    /// # Errors
    /// [`ProtocolError::OldProtocol`] if it is not version 10 with 4.1's capabilities; [`ProtocolError::Malformed`].
    pub fn parse(payload: &'a [u8]) -> Result<Greeting<'a>> {
        let mut take = Take::new(payload);
        if take.u8()? != 10 {
            return Err(ProtocolError::OldProtocol);
        }
        let version = take.zero_ended()?;
        let connection_id = take.u32()?;
        let mut scramble = [0; 20];
        scramble[..8].copy_from_slice(take.bytes(8)?);
        take.u8()?;
        let low = take.u16()?;
        let collation = u16::from(take.u8()?);
        let status = StatusFlags(take.u16()?);
        let high = take.u16()?;
        let capabilities = Capabilities(u32::from(low) | u32::from(high) << 16);
        if !capabilities.has(Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION) {
            return Err(ProtocolError::OldProtocol);
        }
        let length = usize::from(take.u8()?);
        take.bytes(10)?;
        let second = take.bytes(length.saturating_sub(8).max(13))?;
        scramble[8..].copy_from_slice(&second[..12]);
        let plugin = if capabilities.has(Capabilities::PLUGIN_AUTH) {
            // Some old servers leave out the zero at the end.
            let rest = take.to_end();
            rest.split(|&byte| byte == 0).next().unwrap_or(b"")
        } else {
            b"mysql_native_password"
        };
        Ok(Greeting { version, connection_id, scramble, capabilities, collation, status, plugin })
    }
}

/// What the client says first, or asks before it: to begin TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientAnswer<'a> {
    /// TLS begins with the next byte; a handshake response follows within it.
    SslRequest(SslRequest),
    /// Who it is.
    Response(HandshakeResponse<'a>),
}

/// The beginning of a handshake response, sent in the clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SslRequest {
    /// What the client can do.
    pub capabilities: Capabilities,
    /// The largest packet it takes.
    pub max_packet: u32,
    /// Its collation.
    pub collation: u16,
}

/// Who the client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandshakeResponse<'a> {
    /// What the client can do.
    pub capabilities: Capabilities,
    /// The largest packet it takes. (MySQL does not look.)
    pub max_packet: u32,
    /// Its collation, of which one byte was sent.
    pub collation: u16,
    /// The account's name.
    pub user: &'a [u8],
    /// The proof of the password.
    pub auth_response: &'a [u8],
    /// The default database; empty for none.
    pub database: &'a [u8],
    /// The plugin that made the proof; empty if it was not said.
    pub plugin: &'a [u8],
    /// Connection attributes.
    pub attributes: Attributes<'a>,
    /// The level for zstd, 1 to 22; 0 if it was not said.
    pub zstd_level: u8,
}

impl<'a> ClientAnswer<'a> {
    /// Reads a client's first packet, or its second after TLS has begun. `offered` are the greeting's capabilities: of
    /// what the client says, only those count.
    ///
    /// # Errors
    /// [`ProtocolError::OldProtocol`] without 4.1's capability; [`ProtocolError::Malformed`].
    pub fn parse(payload: &'a [u8], offered: Capabilities) -> Result<ClientAnswer<'a>> {
        let mut take = Take::new(payload);
        let low = take.u16()?;
        if !Capabilities(u32::from(low)).has(Capabilities::PROTOCOL_41) {
            return Err(ProtocolError::OldProtocol);
        }
        let capabilities = Capabilities(u32::from(low) | u32::from(take.u16()?) << 16).both(offered);
        let max_packet = take.u32()?;
        let collation = u16::from(take.u8()?);
        take.bytes(23)?;
        if take.is_empty() && capabilities.has(Capabilities::SSL) {
            return Ok(ClientAnswer::SslRequest(SslRequest { capabilities, max_packet, collation }));
        }
        let user = take.zero_ended()?;
        let auth_response = if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
            take.string()?
        } else if capabilities.has(Capabilities::SECURE_CONNECTION) {
            let length = take.u8()?;
            take.bytes(usize::from(length))?
        } else {
            take.zero_ended()?
        };
        let database =
            if capabilities.has(Capabilities::CONNECT_WITH_DB) { take_last_zero_ended(&mut take) } else { b"" };
        let plugin = if capabilities.has(Capabilities::PLUGIN_AUTH) { take_last_zero_ended(&mut take) } else { b"" };
        let attributes = if capabilities.has(Capabilities::CONNECT_ATTRS) && !take.is_empty() {
            Attributes::parse(take.string()?)?
        } else {
            Attributes::NONE
        };
        let zstd_level =
            if capabilities.has(Capabilities::ZSTD_COMPRESSION) && !take.is_empty() { take.u8()? } else { 0 };
        Ok(ClientAnswer::Response(HandshakeResponse {
            capabilities,
            max_packet,
            collation,
            user,
            auth_response,
            database,
            plugin,
            attributes,
            zstd_level,
        }))
    }
}

/// A string up to a zero byte, or to the end: some clients leave out the last zero.
fn take_last_zero_ended<'a>(take: &mut Take<'a>) -> &'a [u8] {
    match take.zero_ended() {
        Ok(string) => string,
        Err(_) => take.to_end(),
    }
}

impl SslRequest {
    /// Appends its packet.
    pub fn write(&self, writer: &mut PacketWriter) {
        writer.packet(|to| self.encode(to));
    }

    fn encode(&self, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.capabilities.0.to_le_bytes());
        to.extend_from_slice(&self.max_packet.to_le_bytes());
        to.push(self.collation as u8);
        to.extend_from_slice(&[0; 23]);
    }
}

impl HandshakeResponse<'_> {
    /// Appends its packet. An answer longer than 255 bytes needs `PLUGIN_AUTH_LENENC`, and is cut without.
    pub fn write(&self, writer: &mut PacketWriter) {
        let capabilities = self.capabilities;
        writer.packet(|to| {
            SslRequest { capabilities, max_packet: self.max_packet, collation: self.collation }.encode(to);
            put_zero_ended(to, self.user);
            if capabilities.has(Capabilities::PLUGIN_AUTH_LENENC) {
                put_string(to, self.auth_response);
            } else if capabilities.has(Capabilities::SECURE_CONNECTION) {
                let response = &self.auth_response[..self.auth_response.len().min(255)];
                to.push(response.len() as u8);
                to.extend_from_slice(response);
            } else {
                put_zero_ended(to, self.auth_response);
            }
            if capabilities.has(Capabilities::CONNECT_WITH_DB) {
                put_zero_ended(to, self.database);
            }
            if capabilities.has(Capabilities::PLUGIN_AUTH) {
                put_zero_ended(to, self.plugin);
            }
            if capabilities.has(Capabilities::CONNECT_ATTRS) {
                put_string(to, self.attributes.encoded());
            }
            if capabilities.has(Capabilities::ZSTD_COMPRESSION) {
                to.push(self.zstd_level);
            }
        });
    }
}

/// Connection attributes: names and values that a client tells about itself. Checked when they were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attributes<'a> {
    encoded: &'a [u8],
}

impl<'a> Attributes<'a> {
    /// None.
    pub const NONE: Attributes<'static> = Attributes { encoded: &[] };

    /// Looks through them.
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`], also for more than 64 KiB of them.
    pub fn parse(encoded: &'a [u8]) -> Result<Attributes<'a>> {
        if encoded.len() > ATTRIBUTE_BYTES {
            return Err(ProtocolError::Malformed("too many connection attributes"));
        }
        let mut take = Take::new(encoded);
        while !take.is_empty() {
            take.string()?;
            take.string()?;
        }
        Ok(Attributes { encoded })
    }

    /// As they are on the wire, without the length before them.
    pub fn encoded(&self) -> &'a [u8] {
        self.encoded
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut take = Take::new(self.encoded);
        std::iter::from_fn(move || Some((take.string().ok()?, take.string().ok()?)))
    }
}

/// Collects connection attributes.
#[derive(Debug, Clone, Default)]
pub struct AttributesBuilder {
    encoded: Vec<u8>,
}

impl AttributesBuilder {
    /// None yet.
    pub fn new() -> AttributesBuilder {
        AttributesBuilder::default()
    }

    /// Adds one.
    pub fn push(&mut self, name: &[u8], value: &[u8]) {
        put_string(&mut self.encoded, name);
        put_string(&mut self.encoded, value);
    }

    /// Those so far.
    pub fn attributes(&self) -> Attributes<'_> {
        Attributes { encoded: &self.encoded }
    }
}

/// Appends a request to authenticate with another plugin, or with a new scramble.
pub fn write_auth_switch(writer: &mut PacketWriter, plugin: &[u8], scramble: &Scramble) {
    writer.packet(|to| {
        to.push(0xFE);
        put_zero_ended(to, plugin);
        to.extend_from_slice(scramble);
        to.push(0);
    });
}

/// Appends data of a plugin's.
pub fn write_auth_more(writer: &mut PacketWriter, data: &[u8]) {
    writer.packet(|to| {
        to.push(0x01);
        to.extend_from_slice(data);
    });
}

/// Reads a request to authenticate with another plugin: its name and its data, without a zero byte at the end.
///
/// # Errors
/// [`ProtocolError::OldProtocol`] for the request for a password of before 4.1, which is a lone byte;
/// [`ProtocolError::Malformed`].
pub fn parse_auth_switch(payload: &[u8]) -> Result<(&[u8], &[u8])> {
    let mut take = Take::new(payload);
    if take.u8()? != 0xFE {
        return Err(ProtocolError::Malformed("not a switch of plugins"));
    }
    if take.is_empty() {
        return Err(ProtocolError::OldProtocol);
    }
    let plugin = take.zero_ended()?;
    let data = take.to_end();
    Ok((plugin, data.strip_suffix(b"\0").unwrap_or(data)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(write: impl FnOnce(&mut PacketWriter)) -> Vec<u8> {
        let mut writer = PacketWriter::new();
        write(&mut writer);
        writer.bytes()[4..].to_vec()
    }

    #[test]
    fn greetings_come_back() {
        let greeting = Greeting {
            version: b"9.7.0-meseta",
            connection_id: 77,
            scramble: *b"abcdefghijklmnopqrst",
            capabilities: Capabilities(0xDFFF_FFFF),
            collation: 255,
            status: StatusFlags::AUTOCOMMIT,
            plugin: b"caching_sha2_password",
        };
        let payload = payload(|writer| greeting.write(writer));
        assert_eq!(Greeting::parse(&payload), Ok(greeting));
        for cut in 0..payload.len() - 22 {
            assert!(Greeting::parse(&payload[..cut]).is_err());
        }
        assert_eq!(Greeting::parse(b"\x095.0\0"), Err(ProtocolError::OldProtocol));
    }

    #[test]
    fn responses_come_back_in_every_form() {
        let mut builder = AttributesBuilder::new();
        builder.push(b"_client_name", b"meseta");
        builder.push(b"empty", b"");
        assert_eq!(builder.attributes().iter().count(), 2);
        let forms = [
            Capabilities::CONNECT_WITH_DB,
            Capabilities::PLUGIN_AUTH,
            Capabilities::CONNECT_ATTRS,
            Capabilities::PLUGIN_AUTH_LENENC,
            Capabilities::SECURE_CONNECTION,
            Capabilities::ZSTD_COMPRESSION,
            Capabilities::SSL,
        ];
        for set in 0..1 << forms.len() {
            let mut capabilities = Capabilities::PROTOCOL_41;
            for (bit, &form) in forms.iter().enumerate() {
                capabilities = capabilities.set(form, set & 1 << bit != 0);
            }
            let when = |form, value: &'static [u8]| if capabilities.has(form) { value } else { b"" };
            let attributes = builder.attributes();
            let response = HandshakeResponse {
                capabilities,
                max_packet: 1 << 24,
                collation: 255,
                user: b"ann",
                auth_response: b"proof",
                database: when(Capabilities::CONNECT_WITH_DB, b"shop"),
                plugin: when(Capabilities::PLUGIN_AUTH, b"mysql_native_password"),
                attributes: if capabilities.has(Capabilities::CONNECT_ATTRS) { attributes } else { Attributes::NONE },
                zstd_level: if capabilities.has(Capabilities::ZSTD_COMPRESSION) { 3 } else { 0 },
            };
            let payload = payload(|writer| response.write(writer));
            assert_eq!(ClientAnswer::parse(&payload, Capabilities(!0)), Ok(ClientAnswer::Response(response)));
            for cut in 0..payload.len() {
                let _ = ClientAnswer::parse(&payload[..cut], Capabilities(!0));
            }
        }
    }

    #[test]
    fn a_request_for_tls_is_a_response_cut_short() {
        let request =
            SslRequest { capabilities: Capabilities::PROTOCOL_41 | Capabilities::SSL, max_packet: 5, collation: 45 };
        let payload = payload(|writer| request.write(writer));
        assert_eq!(payload.len(), 32);
        assert_eq!(ClientAnswer::parse(&payload, Capabilities(!0)), Ok(ClientAnswer::SslRequest(request)));
        assert!(ClientAnswer::parse(&payload, Capabilities::PROTOCOL_41).is_err(), "TLS was not offered");
    }

    #[test]
    fn clients_from_before_4_1_are_refused() {
        let old = b"\x85\x24\0\0\0ann\0abcdefgh";
        assert_eq!(ClientAnswer::parse(old, Capabilities(!0)), Err(ProtocolError::OldProtocol));
        assert_eq!(parse_auth_switch(b"\xFE"), Err(ProtocolError::OldProtocol));
    }

    #[test]
    fn switches_come_back() {
        let payload = payload(|writer| write_auth_switch(writer, b"plugin", b"abcdefghijklmnopqrst"));
        assert_eq!(parse_auth_switch(&payload), Ok((&b"plugin"[..], &b"abcdefghijklmnopqrst"[..])));
    }
}
