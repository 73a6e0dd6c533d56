//! The server's end of a connection's beginning, and of COM_CHANGE_USER.
//!
//! ```text
//! greet --> Greeted --SslRequest--> [TLS] --> Greeted
//!              |response
//!              v                account(..)                     proof
//!           Named  ------------------------> AwaitProof  ------------+
//!              |  (the proof in the response will do)                |
//!              +------------------------> judged <-------------------+
//!                                           |  not in the cache
//!                                           v
//!                                        AwaitPassword --> Check (slow, elsewhere) --> checked(..)
//! ```
//!
//! The machine owns no account: at [`ServerStep::LookUp`] the caller finds the one of that name, and hands it over
//! ([`ServerHandshake::account`]). It does not run the slow digest either: [`ServerStep::Check`] is a job that may run
//! on any thread, whose outcome comes back by [`ServerHandshake::checked`].
//!
//! What is left to the caller: to send the OK packet, or error 1045, after the last step; to look whether the account
//! is locked or its password expired; to keep the cache of digests.

use super::digest::{native_proves, sha2_cached, sha2_proves};
use super::rsa::KeyPair;
use super::verifier::{Sha2Verifier, Verifier};
use super::{Password, Plugin, fresh_scramble};
use crate::command::ChangeUser;
use crate::error::{ProtocolError, Result};
use crate::flags::{Capabilities, StatusFlags};
use crate::greeting::{ClientAnswer, Greeting, Scramble, write_auth_more, write_auth_switch};
use crate::send::PacketWriter;

/// The longest password that is looked at.
const PASSWORD_BYTES: usize = 256;

/// What a client has said of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientFacts {
    /// What both ends can do.
    pub capabilities: Capabilities,
    /// The connection's collation, of one byte.
    pub collation: u16,
    /// The account's name.
    pub user: Vec<u8>,
    /// The default database; empty for none.
    pub database: Vec<u8>,
    /// Connection attributes, encoded: [`crate::greeting::Attributes::parse`] reads them.
    pub attributes: Vec<u8>,
    /// The level for zstd; 0 if it was not said.
    pub zstd_level: u8,
}

/// How an account proves itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// By which plugin.
    pub plugin: Plugin,
    /// Against what.
    pub verifier: Verifier,
    /// The digest that is in the cache since the last full authentication, if it is.
    pub cached: Option<[u8; 32]>,
}

/// What the caller is to do next.
#[derive(Debug)]
pub enum ServerStep {
    /// Send what was written, and wait for the client's next packet.
    Continue,
    /// Begin TLS on the connection, with the bytes that the receiver has already
    /// ([`crate::receive::Receiver::take_rest`]), then say [`ServerHandshake::tls_started`].
    StartTls,
    /// Find the account of [`ServerHandshake::client`], and say [`ServerHandshake::account`].
    LookUp,
    /// Run the job, here or elsewhere, and say [`ServerHandshake::checked`].
    Check(PasswordCheck),
    /// The client is who it says. `cache` is to be kept for the account, if it is there.
    Accepted {
        /// What the cache is to have.
        cache: Option<[u8; 32]>,
    },
    /// It is not: answer with error 1045 and close. `using_password` is for its text.
    Denied {
        /// Whether the client gave a password.
        using_password: bool,
    },
}

/// A slow comparison: owns all that it needs.
#[derive(Debug)]
pub struct PasswordCheck {
    password: Password,
    verifier: Sha2Verifier,
}

/// What a [`PasswordCheck`] found.
#[derive(Debug, Clone, Copy)]
pub struct CheckOutcome {
    cached: Option<[u8; 32]>,
}

impl PasswordCheck {
    /// Some milliseconds.
    pub fn run(self) -> CheckOutcome {
        let matches = self.verifier.matches(self.password.bytes());
        CheckOutcome { cached: matches.then(|| sha2_cached(self.password.bytes())) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Greeted,
    /// The client has said who it is; the account is being looked up.
    Named,
    AwaitProof,
    AwaitPassword,
    Checking,
    Done,
}

/// The machine.
#[derive(Debug)]
pub struct ServerHandshake {
    state: State,
    offered: Capabilities,
    scramble: Scramble,
    secure: bool,
    client: ClientFacts,
    /// The plugin that made the proof in hand, and the proof.
    plugin: Option<Plugin>,
    proof: Vec<u8>,
    account: Option<Account>,
    using_password: bool,
    must_switch: bool,
}

impl ServerHandshake {
    /// Before the greeting. `offered` is what the server can do; leave out `SSL` if it has no certificate. `secure`
    /// says that nobody can listen: a socket of the same machine.
    pub fn new(offered: Capabilities, secure: bool) -> ServerHandshake {
        let needed = Capabilities::PROTOCOL_41 | Capabilities::SECURE_CONNECTION | Capabilities::PLUGIN_AUTH;
        ServerHandshake {
            state: State::Greeted,
            offered: offered.with(needed).without(Capabilities::MULTI_FACTOR_AUTHENTICATION),
            scramble: fresh_scramble(),
            secure,
            client: ClientFacts::default(),
            plugin: None,
            proof: Vec::new(),
            account: None,
            using_password: false,
            must_switch: false,
        }
    }

    /// Appends the greeting.
    pub fn greet(
        &self,
        writer: &mut PacketWriter,
        version: &[u8],
        connection_id: u32,
        collation: u16,
        status: StatusFlags,
        plugin: Plugin,
    ) {
        let scramble = self.scramble;
        let (capabilities, plugin) = (self.offered, plugin.name());
        Greeting { version, connection_id, scramble, capabilities, collation, status, plugin }.write(writer);
    }

    /// For COM_CHANGE_USER on a connection whose first handshake ended with `before`. The next step is
    /// [`ServerStep::LookUp`]. The proof in the command is not used: the client is asked for one with a new scramble,
    /// so that no connection keeps its old one.
    pub fn change_user(change: &ChangeUser<'_>, before: &ClientFacts, secure: bool) -> ServerHandshake {
        let mut handshake = ServerHandshake::new(before.capabilities, secure);
        handshake.client = ClientFacts {
            capabilities: before.capabilities,
            collation: change.collation.unwrap_or(before.collation),
            user: change.user.to_vec(),
            database: change.database.to_vec(),
            attributes: change.attributes.encoded().to_vec(),
            zstd_level: before.zstd_level,
        };
        handshake.must_switch = true;
        handshake.using_password = !change.auth_response.is_empty();
        handshake.state = State::Named;
        handshake
    }

    /// What the client has said of itself. Of meaning from [`ServerStep::LookUp`] on.
    pub fn client(&self) -> &ClientFacts {
        &self.client
    }

    /// The same, to keep.
    pub fn into_client(self) -> ClientFacts {
        self.client
    }

    /// Whether nobody can listen.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Whether the next packet may need the key.
    pub fn needs_key(&self) -> bool {
        self.state == State::AwaitPassword && !self.secure
    }

    /// TLS has begun.
    pub fn tls_started(&mut self) {
        self.secure = true;
    }

    /// Takes the client's next packet. `key` is for clients without TLS; without it they cannot log in unless their
    /// digest is in the cache.
    ///
    /// # Errors
    /// [`ProtocolError::OldProtocol`], [`ProtocolError::Malformed`]; the connection is to be closed.
    pub fn on_packet(
        &mut self,
        payload: &[u8],
        key: Option<&KeyPair>,
        writer: &mut PacketWriter,
    ) -> Result<ServerStep> {
        match self.state {
            State::Greeted => match ClientAnswer::parse(payload, self.offered)? {
                ClientAnswer::SslRequest(_) if self.client.capabilities != Capabilities::NONE => {
                    Err(ProtocolError::Malformed("TLS was begun already"))
                }
                ClientAnswer::SslRequest(request) => {
                    self.client.capabilities = request.capabilities;
                    Ok(ServerStep::StartTls)
                }
                ClientAnswer::Response(response) => {
                    self.client = ClientFacts {
                        capabilities: response.capabilities,
                        collation: response.collation,
                        user: response.user.to_vec(),
                        database: response.database.to_vec(),
                        attributes: response.attributes.encoded().to_vec(),
                        zstd_level: response.zstd_level,
                    };
                    self.proof = response.auth_response.to_vec();
                    self.plugin = match response.plugin {
                        b"" => Some(Plugin::NativePassword),
                        name => Plugin::by_name(name),
                    };
                    self.using_password = !is_no_password(&self.proof);
                    self.state = State::Named;
                    Ok(ServerStep::LookUp)
                }
            },
            State::AwaitProof => {
                self.proof = payload.to_vec();
                self.using_password |= !is_no_password(payload);
                Ok(self.judge(writer))
            }
            State::AwaitPassword => self.on_password(payload, key, writer),
            State::Named | State::Checking | State::Done => {
                Err(ProtocolError::Malformed("a packet while none was due"))
            }
        }
    }

    /// Takes the account, or `None` if there is none of that name: the client is asked all the same, and denied.
    pub fn account(&mut self, account: Option<Account>, writer: &mut PacketWriter) -> ServerStep {
        if self.state != State::Named {
            return self.deny();
        }
        let wanted = match &account {
            // Whatever the client speaks will do.
            Some(Account { verifier: Verifier::Anything, plugin, .. }) => self.plugin.unwrap_or(*plugin),
            Some(account) => account.plugin,
            None => Plugin::CachingSha2Password,
        };
        self.account = account;
        if self.must_switch || self.plugin != Some(wanted) {
            if !self.client.capabilities.has(Capabilities::PLUGIN_AUTH) {
                return self.deny();
            }
            self.scramble = fresh_scramble();
            write_auth_switch(writer, wanted.name(), &self.scramble);
            self.plugin = Some(wanted);
            self.state = State::AwaitProof;
            return ServerStep::Continue;
        }
        self.judge(writer)
    }

    /// Takes the outcome of a [`PasswordCheck`].
    pub fn checked(&mut self, outcome: CheckOutcome) -> ServerStep {
        match outcome.cached {
            Some(cached) if self.state == State::Checking && self.account.is_some() => {
                self.state = State::Done;
                ServerStep::Accepted { cache: Some(cached) }
            }
            _ => self.deny(),
        }
    }

    fn deny(&mut self) -> ServerStep {
        self.state = State::Done;
        ServerStep::Denied { using_password: self.using_password }
    }

    fn accept(&mut self) -> ServerStep {
        self.state = State::Done;
        ServerStep::Accepted { cache: None }
    }

    /// Looks at the proof.
    fn judge(&mut self, writer: &mut PacketWriter) -> ServerStep {
        let proof = &self.proof[..];
        let none = is_no_password(proof);
        let accepted = match &self.account {
            Some(Account { verifier: Verifier::Empty, .. }) => none,
            Some(Account { verifier: Verifier::Anything, .. }) => {
                if self.plugin == Some(Plugin::CachingSha2Password) && !none {
                    write_auth_more(writer, &[3]);
                }
                true
            }
            _ if none => false,
            Some(Account { verifier: Verifier::Native(stored), .. }) => native_proves(proof, &self.scramble, stored),
            Some(Account { verifier: Verifier::Sha2(_), cached: Some(cached), .. })
                if sha2_proves(proof, &self.scramble, cached) =>
            {
                write_auth_more(writer, &[3]);
                true
            }
            // Not in the cache, or changed since, or no such account.
            _ => {
                write_auth_more(writer, &[4]);
                self.state = State::AwaitPassword;
                return ServerStep::Continue;
            }
        };
        if accepted { self.accept() } else { self.deny() }
    }

    /// Takes the password itself, or the request for the key, or the encrypted password.
    fn on_password(&mut self, payload: &[u8], key: Option<&KeyPair>, writer: &mut PacketWriter) -> Result<ServerStep> {
        let password = if self.secure {
            payload.strip_suffix(b"\0").map(|password| Password::new(password.to_vec()))
        } else {
            let Some(key) = key else { return Err(ProtocolError::InsecureTransport) };
            if payload == [2] {
                write_auth_more(writer, key.public_pem());
                return Ok(ServerStep::Continue);
            }
            key.decrypt(payload, &self.scramble)
        };
        let Some(password) = password.filter(|password| password.bytes().len() <= PASSWORD_BYTES) else {
            return Ok(self.deny());
        };
        let verifier = match &self.account {
            Some(Account { verifier: Verifier::Sha2(verifier), .. }) => *verifier,
            _ => Sha2Verifier::decoy(),
        };
        self.state = State::Checking;
        Ok(ServerStep::Check(PasswordCheck { password, verifier }))
    }
}

/// An empty proof, or (of caching_sha2_password) a lone zero byte.
fn is_no_password(proof: &[u8]) -> bool {
    matches!(proof, [] | [0])
}
