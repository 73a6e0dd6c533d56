//! The client's end of a connection's beginning, and of COM_CHANGE_USER.
//!
//! Takes the server's packets one after another, appends answers, and says what is next. See [`super`] for the dance.
//!
//! Source: "Connection Phase" of the MySQL source documentation.

use super::digest::{native_proof, sha2_proof};
use super::rsa::encrypt;
use super::{Password, Plugin};
use crate::collation::UTF8MB4_0900_AI_CI;
use crate::command::ChangeUser;
use crate::error::{ProtocolError, Result};
use crate::flags::Capabilities;
use crate::greeting::{AttributesBuilder, Greeting, HandshakeResponse, Scramble, SslRequest, parse_auth_switch};
use crate::reply::{ErrPacket, OkPacket};
use crate::send::PacketWriter;

/// What a client wants.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The account's name.
    pub user: Vec<u8>,
    /// Its password; empty for none.
    pub password: Password,
    /// The default database; empty for none.
    pub database: Vec<u8>,
    /// The collation of the connection, of which one byte is sent.
    pub collation: u16,
    /// What to ask for, beyond what the handshake itself needs. What the server does not offer is left out.
    pub capabilities: Capabilities,
    /// Connection attributes.
    pub attributes: AttributesBuilder,
    /// The largest packet, as it is told to the server.
    pub max_packet: u32,
    /// Begin TLS. If the server has none the connection fails.
    pub tls: bool,
    /// Nobody can listen even without TLS: a socket of the same machine.
    pub secure: bool,
    /// The server may be asked for its public key, to send the password encrypted where there is no TLS.
    pub allow_public_key: bool,
    /// The level for zstd, if that is asked for.
    pub zstd_level: u8,
}

impl Default for ClientOptions {
    fn default() -> ClientOptions {
        ClientOptions {
            user: Vec::new(),
            password: Password::default(),
            database: Vec::new(),
            collation: UTF8MB4_0900_AI_CI,
            capabilities: Capabilities::LONG_PASSWORD
                | Capabilities::LONG_FLAG
                | Capabilities::TRANSACTIONS
                | Capabilities::MULTI_RESULTS
                | Capabilities::PS_MULTI_RESULTS
                | Capabilities::SESSION_TRACK
                | Capabilities::DEPRECATE_EOF,
            attributes: AttributesBuilder::new(),
            max_packet: 64 << 20,
            tls: false,
            secure: false,
            allow_public_key: false,
            zstd_level: 3,
        }
    }
}

/// What a client is to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientStep<'p> {
    /// Send what was written, and wait for the server's next packet.
    Continue,
    /// Send what was written, begin TLS, and say [`ClientHandshake::tls_started`].
    StartTls,
    /// Connected.
    Connected(OkPacket<'p>),
    /// Refused.
    Refused(ErrPacket<'p>),
}

/// What the server is to send next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Greeting,
    Tls,
    Verdict,
    Key,
}

/// What the server said of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// Its version.
    pub version: Vec<u8>,
    /// The connection's number.
    pub connection_id: u32,
    /// What both ends can do.
    pub capabilities: Capabilities,
}

/// The machine.
#[derive(Debug)]
pub struct ClientHandshake {
    options: ClientOptions,
    state: State,
    scramble: Scramble,
    plugin: Plugin,
    server: ServerFacts,
}

impl ClientHandshake {
    /// Waits for the greeting.
    pub fn new(options: ClientOptions) -> ClientHandshake {
        ClientHandshake {
            options,
            state: State::Greeting,
            scramble: [0; 20],
            plugin: Plugin::CachingSha2Password,
            server: ServerFacts::default(),
        }
    }

    /// For COM_CHANGE_USER, whose packet this appends: `options` name the account; the server is the one of `before`.
    pub fn change_user(options: ClientOptions, before: &ServerFacts, writer: &mut PacketWriter) -> ClientHandshake {
        let capabilities = before.capabilities;
        let change = ChangeUser {
            user: &options.user,
            // The scramble of the greeting is not kept: the server asks again, with a new one.
            auth_response: b"",
            database: &options.database,
            collation: Some(options.collation),
            plugin: Plugin::CachingSha2Password.name(),
            attributes: options.attributes.attributes(),
        };
        writer.set_sequence(0);
        writer.packet(|to| change.encode(to, capabilities));
        let mut handshake = ClientHandshake::new(options);
        handshake.server = before.clone();
        handshake.state = State::Verdict;
        handshake
    }

    /// What the server said of itself.
    pub fn server(&self) -> &ServerFacts {
        &self.server
    }

    /// Takes the server's next packet.
    ///
    /// # Errors
    /// [`ProtocolError::UnknownPlugin`], [`ProtocolError::InsecureTransport`], [`ProtocolError::OldProtocol`],
    /// [`ProtocolError::Malformed`].
    pub fn on_packet<'p>(&mut self, payload: &'p [u8], writer: &mut PacketWriter) -> Result<ClientStep<'p>> {
        if ErrPacket::is_err(payload) {
            return Ok(ClientStep::Refused(ErrPacket::parse(payload)?));
        }
        match self.state {
            State::Greeting => self.on_greeting(payload, writer),
            State::Tls => Err(ProtocolError::Malformed("a packet before TLS")),
            State::Verdict | State::Key => self.on_verdict(payload, writer),
        }
    }

    fn on_greeting<'p>(&mut self, payload: &'p [u8], writer: &mut PacketWriter) -> Result<ClientStep<'p>> {
        let greeting = Greeting::parse(payload)?;
        let options = &self.options;
        let needed = Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION | Capabilities::PLUGIN_AUTH;
        let wanted = options
            .capabilities
            .with(needed | Capabilities::PLUGIN_AUTH_LENENC | Capabilities::CONNECT_ATTRS)
            .set(Capabilities::CONNECT_WITH_DB, !options.database.is_empty())
            .set(Capabilities::SSL, options.tls);
        self.server = ServerFacts {
            version: greeting.version.to_vec(),
            connection_id: greeting.connection_id,
            capabilities: greeting.capabilities.both(wanted),
        };
        self.scramble = greeting.scramble;
        // A server whose plugin we do not have may still have an account with one that we have: it will ask again.
        self.plugin = Plugin::by_name(greeting.plugin).unwrap_or(Plugin::CachingSha2Password);
        if options.tls {
            if !self.server.capabilities.has(Capabilities::SSL) {
                return Err(ProtocolError::InsecureTransport);
            }
            let (capabilities, max_packet) = (self.server.capabilities, options.max_packet);
            SslRequest { capabilities, max_packet, collation: options.collation }.write(writer);
            self.state = State::Tls;
            return Ok(ClientStep::StartTls);
        }
        self.respond(writer);
        Ok(ClientStep::Continue)
    }

    /// TLS has begun: appends the response.
    pub fn tls_started(&mut self, writer: &mut PacketWriter) {
        self.options.secure = true;
        self.respond(writer);
    }

    fn respond(&mut self, writer: &mut PacketWriter) {
        let options = &self.options;
        HandshakeResponse {
            capabilities: self.server.capabilities,
            max_packet: options.max_packet,
            collation: options.collation,
            user: &options.user,
            auth_response: &self.proof(),
            database: &options.database,
            plugin: self.plugin.name(),
            attributes: options.attributes.attributes(),
            zstd_level: options.zstd_level,
        }
        .write(writer);
        self.state = State::Verdict;
    }

    fn proof(&self) -> Vec<u8> {
        let password = self.options.password.bytes();
        match self.plugin {
            _ if password.is_empty() => Vec::new(),
            Plugin::NativePassword => native_proof(password, &self.scramble).to_vec(),
            Plugin::CachingSha2Password => sha2_proof(password, &self.scramble).to_vec(),
        }
    }

    fn on_verdict<'p>(&mut self, payload: &'p [u8], writer: &mut PacketWriter) -> Result<ClientStep<'p>> {
        match payload {
            [0x00, ..] => Ok(ClientStep::Connected(OkPacket::parse(payload, self.server.capabilities)?)),
            [0xFE, ..] => {
                let (plugin, data) = parse_auth_switch(payload)?;
                self.plugin = Plugin::by_name(plugin).ok_or(ProtocolError::UnknownPlugin)?;
                self.scramble = data.try_into().map_err(|_| ProtocolError::Malformed("scramble"))?;
                let proof = self.proof();
                writer.packet(|to| to.extend_from_slice(&proof));
                self.state = State::Verdict;
                Ok(ClientStep::Continue)
            }
            [0x01, key @ ..] if self.state == State::Key => {
                let encrypted = encrypt(self.options.password.bytes(), &self.scramble, key)?;
                writer.packet(|to| to.extend_from_slice(&encrypted));
                self.state = State::Verdict;
                Ok(ClientStep::Continue)
            }
            [0x01, 3] => Ok(ClientStep::Continue),
            [0x01, 4] if self.plugin == Plugin::CachingSha2Password => {
                if self.options.secure {
                    let password = self.options.password.bytes();
                    writer.packet(|to| {
                        to.extend_from_slice(password);
                        to.push(0);
                    });
                } else if self.options.allow_public_key {
                    writer.packet(|to| to.push(2));
                    self.state = State::Key;
                } else {
                    return Err(ProtocolError::InsecureTransport);
                }
                Ok(ClientStep::Continue)
            }
            _ => Err(ProtocolError::Malformed("not a step of a handshake")),
        }
    }
}
