//! How a connection begins, and how it becomes another user's: the handshake, carried out.
//!
//! The machine is [`ServerHandshake`]; here are the account that it asks for, the slow digest that it wants computed, TLS,
//! and the session at its end.

use meseta_errors as errors;
use meseta_protocol::auth::server::{ServerHandshake, ServerStep};
use meseta_protocol::command::ChangeUser;
use meseta_protocol::compress::Algorithm;
use meseta_protocol::error::Result;
use meseta_protocol::flags::{Capabilities, StatusFlags};
use meseta_protocol::reply::{ErrPacket, OkPacket};
use meseta_protocol::send::PacketWriter;
use std::sync::atomic::Ordering;

use super::handle::ConnectionHandle;
use super::transport::Transport;
use super::{Connection, Inner, Names, Open, Phase, SLEEP, Scratch, Served};
use crate::backend::{Claim, End, Opening, Refusal};
use crate::blocking;
use crate::server::Shared;

/// A handshake that goes on.
pub(super) struct Handshake(ServerHandshake);

impl Handshake {
    pub(super) fn new(server: &Shared, secure: bool) -> Handshake {
        Handshake(ServerHandshake::new(server.offered, secure))
    }

    pub(super) fn greet(&self, connection: &Connection, writer: &mut PacketWriter) {
        let backend = &connection.server.backend;
        self.0.greet(
            writer,
            backend.version().as_bytes(),
            connection.id,
            backend.collation(),
            StatusFlags::AUTOCOMMIT,
            backend.default_plugin(),
        );
    }

    /// Takes the client's next packet.
    pub(super) fn on_packet(
        &mut self,
        connection: &Connection,
        payload: &[u8],
        transport: &Transport,
        scratch: &mut Scratch,
    ) -> Result<Served> {
        let server = &connection.server;
        let key = if self.0.needs_key() { server.key.get() } else { None };
        let mut step = self.0.on_packet(payload, key.as_deref(), &mut scratch.writer)?;
        loop {
            step = match step {
                ServerStep::Continue => return Ok(Served::Done),
                ServerStep::StartTls => {
                    self.0.tls_started();
                    return Ok(Served::StartTls);
                }
                ServerStep::LookUp if server.limits().require_secure_transport && !self.0.is_secure() => {
                    let refusal = Refusal::new(errors::ER_SECURE_TRANSPORT_REQUIRED, &[]);
                    return Ok(refuse(&refusal, scratch));
                }
                ServerStep::LookUp => {
                    let account = server.backend.account(&self.claim(connection, transport));
                    self.0.account(account, &mut scratch.writer)
                }
                ServerStep::Check(check) => {
                    let outcome = {
                        let _blocking = blocking::enter();
                        let _permit = server.checks.enter();
                        check.run()
                    };
                    self.0.checked(outcome)
                }
                ServerStep::Accepted { cache } => {
                    if let Some(digest) = cache {
                        server.backend.proved(&self.claim(connection, transport), digest);
                    }
                    return Ok(Served::Opened);
                }
                ServerStep::Denied { using_password } => {
                    if let Some(refusal) = server.backend.denied(&self.claim(connection, transport)) {
                        return Ok(refuse(&refusal, scratch));
                    }
                    let user = String::from_utf8_lossy(&self.0.client().user);
                    let answer = if using_password { "YES" } else { "NO" };
                    let refusal =
                        Refusal::new(errors::ER_ACCESS_DENIED_ERROR, &[&user, &connection.peer.host(), &answer]);
                    return Ok(refuse(&refusal, scratch));
                }
            };
        }
    }

    fn claim<'a>(&'a self, connection: &'a Connection, transport: &Transport) -> Claim<'a> {
        Claim { user: &self.0.client().user, peer: &connection.peer, tls: transport.tls().is_some() }
    }
}

/// Writes why not, and ends.
fn refuse(refusal: &Refusal, scratch: &mut Scratch) -> Served {
    ErrPacket::new(refusal.code, refusal.message.as_bytes()).write(&mut scratch.writer);
    Served::End(End::Closed)
}

fn names(client: &meseta_protocol::auth::server::ClientFacts) -> Names {
    Names {
        user: String::from_utf8_lossy(&client.user).into(),
        database: (!client.database.is_empty()).then(|| String::from_utf8_lossy(&client.database).into()),
    }
}

impl Connection {
    /// The client has proved who it is: opens the session, and writes OK. Nothing: it was refused.
    pub(super) fn begin_session(&self, inner: &mut Inner, scratch: &mut Scratch) -> Option<()> {
        let Phase::Opening(handshake) = std::mem::replace(&mut inner.phase, Phase::Over) else { return None };
        let client = handshake.0.into_client();
        *self.facts.names.lock() = names(&client);
        if client.capabilities.has(Capabilities::INTERACTIVE) {
            let seconds = self.server.limits().interactive_timeout_seconds;
            self.limits.wait_timeout_seconds.store(seconds, Ordering::Relaxed);
        }
        let opening = Opening {
            connection: ConnectionHandle(self.me.upgrade()?),
            peer: self.peer,
            client: &client,
            tls: inner.transport.tls(),
            certificate: inner.transport.certificate(),
        };
        let session = match self.server.backend.open(opening) {
            Ok(session) => session,
            Err(refusal) => {
                refuse(&refusal, scratch);
                self.send(inner, scratch);
                return None;
            }
        };
        // From here on it is an open session that is closed as one, whatever happens.
        let (status, administrator) = (session.status(), session.is_administrator());
        self.session_is.note(&*session);
        inner.phase = Phase::Open(Open {
            session: Some(session),
            capabilities: client.capabilities,
            collation: client.collation,
            zstd_level: client.zstd_level,
            change: None,
        });
        if self.server.is_crowded() && !administrator {
            self.server.counters.refused_for_number.fetch_add(1, Ordering::Relaxed);
            refuse(&Refusal::new(errors::ER_CON_COUNT_ERROR, &[]), scratch);
            self.send(inner, scratch);
            return None;
        }
        OkPacket { status, ..OkPacket::default() }.write(&mut scratch.writer, client.capabilities);
        self.send(inner, scratch);
        let algorithm = if client.capabilities.has(Capabilities::COMPRESS) {
            Some(Algorithm::Zlib)
        } else if client.capabilities.has(Capabilities::ZSTD_COMPRESSION) {
            Some(Algorithm::Zstd(client.zstd_level.clamp(1, 22)))
        } else {
            None
        };
        if let Some(algorithm) = algorithm {
            inner.receiver.set_sequence_checked(false);
            inner.transport.start_compression(algorithm);
        }
        self.command_is_over(inner);
        Some(())
    }

    /// COM_CHANGE_USER: the client is asked for a new proof.
    pub(super) fn change_user(
        &self,
        open: &mut Open,
        change: &ChangeUser<'_>,
        transport: &Transport,
        scratch: &mut Scratch,
    ) -> Result<Served> {
        let before = meseta_protocol::auth::server::ClientFacts {
            capabilities: open.capabilities,
            collation: open.collation,
            zstd_level: open.zstd_level,
            ..Default::default()
        };
        let secure = transport.tls().is_some() || matches!(self.peer, crate::backend::Peer::Unix { .. });
        let mut handshake = Handshake(ServerHandshake::change_user(change, &before, secure));
        let account = self.server.backend.account(&handshake.claim(self, transport));
        // A client whose plugins have no names cannot be asked, and is denied.
        match handshake.0.account(account, &mut scratch.writer) {
            ServerStep::Continue => {
                open.change = Some(Box::new(handshake));
                Ok(Served::Done)
            }
            _ => {
                let user = String::from_utf8_lossy(change.user);
                let arguments: [&dyn std::fmt::Display; 3] = [&user, &self.peer.host(), &"YES"];
                Ok(refuse(&Refusal::new(errors::ER_ACCESS_DENIED_ERROR, &arguments), scratch))
            }
        }
    }

    /// A packet of COM_CHANGE_USER's handshake.
    pub(super) fn on_change_packet(
        &self,
        open: &mut Open,
        payload: &[u8],
        transport: &Transport,
        scratch: &mut Scratch,
    ) -> Result<Served> {
        let Some(mut handshake) = open.change.take() else { return Ok(Served::End(End::Lost)) };
        match handshake.on_packet(self, payload, transport, scratch)? {
            Served::Opened => {}
            Served::Done => {
                open.change = Some(handshake);
                return Ok(Served::Done);
            }
            other => return Ok(other),
        }
        let client = handshake.0.into_client();
        let Some(me) = self.me.upgrade() else { return Ok(Served::End(End::Lost)) };
        let opening = Opening {
            connection: ConnectionHandle(me),
            peer: self.peer,
            client: &client,
            tls: transport.tls(),
            certificate: transport.certificate(),
        };
        let Some(session) = &mut open.session else { return Ok(Served::End(End::Lost)) };
        if let Err(refusal) = session.change_user(opening) {
            return Ok(refuse(&refusal, scratch));
        }
        let status = session.status();
        *self.facts.names.lock() = names(&client);
        self.facts.command.store(SLEEP, Ordering::Relaxed);
        open.collation = client.collation;
        let ok = OkPacket { status, ..OkPacket::default() };
        ok.write(&mut scratch.writer, open.capabilities);
        Ok(Served::Done)
    }
}
