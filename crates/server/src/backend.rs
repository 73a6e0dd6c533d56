//! The seam: what a server of connections asks of whoever knows SQL.
//!
//! ```text
//! Backend  one for the server: finds accounts, opens sessions
//! Session  one for each connection: a call for each command, answered into a Reply
//!
//! turn of a connection --> session.query(&query, &mut reply) --> Outcome
//!                                                |
//!       reply.writer()       rows and OK, straight into the buffer that is sent
//!       reply.flush_if_full()  after each row: a large result leaves as it is made
//!       reply.request_file(..) LOCAL INFILE, in the middle of a statement
//!       reply.park()         the reply is ready, and leaves when somebody says so (the log is durable)
//!       Outcome::Suspended   the statement has done nothing yet, waits (for a row lock, or a page), and is to be executed again
//!       reply.interrupt()    KILL, the client has gone, the server stops: looked at now and then
//! ```
//!
//! Calls are synchronous: a statement runs to its end on the thread that read it. Whatever is about to wait (for a row
//! lock, a page, a file) calls [`crate::blocking`] first, and other connections go on meanwhile. A statement that can be executed
//! again may be suspended instead: then no thread waits.
//!
//! Invariants:
//! 1. Calls on one [`Session`] never overlap, and come from any thread. Its last call is [`Session::close`].
//! 2. A call writes exactly what the protocol wants as the answer to its command: errors are written into the reply
//!    (see [`Reply::error`]), not returned. Commands without an answer have no reply to write to.
//! 3. A panic in a call costs the connection: it is logged as a defect, the client gets error 1105 and is
//!    disconnected, and the session is dropped without another call.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use meseta_errors::ErrorCode;
use meseta_protocol::auth::Plugin;
use meseta_protocol::auth::server::{Account, ClientFacts};
use meseta_protocol::execute::{Execute, Query};
use meseta_protocol::flags::StatusFlags;
use meseta_protocol::reply::OkPacket;

pub use crate::certificate::Certificate;
pub use crate::connection::handle::ConnectionHandle;
pub use crate::connection::interrupt::{Interrupt, Reason, Watch};
pub use crate::connection::reply::{Disconnected, LocalFile, Parked, Reply};

/// Where a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// It came by TCP, from there.
    Tcp(SocketAddr),
    /// It came by the Unix socket, and its user has that number, if the system told.
    Unix {
        /// The user's number.
        user_id: Option<u32>,
    },
}

impl Peer {
    /// As accounts and SHOW PROCESSLIST name it, without a port: an address, or `localhost` for this machine, by the Unix
    /// socket or by TCP (as MySQL has it, which looks names up). No other name is looked up. (An IPv4 address that came
    /// over an IPv6 socket is shown as IPv4.)
    pub fn host(&self) -> String {
        match self.address() {
            Some(address) if !address.is_loopback() => address.to_string(),
            _ => "localhost".to_owned(),
        }
    }

    /// The port it comes from, if it came by TCP.
    pub fn port(&self) -> Option<u16> {
        match self {
            Peer::Tcp(address) => Some(address.port()),
            Peer::Unix { .. } => None,
        }
    }

    /// Its address, if it came by TCP.
    pub fn address(&self) -> Option<IpAddr> {
        match self {
            Peer::Tcp(address) => Some(address.ip().to_canonical()),
            Peer::Unix { .. } => None,
        }
    }

    /// Whether it is on this machine: `localhost` may mean it.
    pub fn is_local(&self) -> bool {
        self.address().is_none_or(|address| address.is_loopback())
    }
}

/// Who somebody says to be, not proved yet.
#[derive(Debug, Clone, Copy)]
pub struct Claim<'a> {
    /// The account's name, as sent.
    pub user: &'a [u8],
    /// Where from.
    pub peer: &'a Peer,
    /// Whether TLS has begun.
    pub tls: bool,
}

/// What a session begins with.
#[derive(Debug)]
pub struct Opening<'a> {
    /// The connection: its number, its kill flags, its time-outs. To be kept.
    pub connection: ConnectionHandle,
    /// Where the client is.
    pub peer: Peer,
    /// What the client said: its name (proved now), collation, default database, attributes, capabilities.
    pub client: &'a ClientFacts,
    /// TLS, if it has begun.
    pub tls: Option<TlsFacts>,
    /// Whose the client's certificate is, if it sent one. It was verified against `ssl_ca`.
    pub certificate: Option<Certificate>,
}

/// What is known of a connection's TLS (`Ssl_version`, `Ssl_cipher`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlsFacts {
    /// `TLSv1.3`.
    pub version: &'static str,
    /// `TLS_AES_256_GCM_SHA384`.
    pub cipher: &'static str,
}

/// Why a session is not opened. The client gets it as an ERR packet and is disconnected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its number.
    pub code: ErrorCode,
    /// Its text.
    pub message: String,
}

impl Refusal {
    /// An error of the table with its arguments.
    pub fn new(code: ErrorCode, arguments: &[&dyn std::fmt::Display]) -> Refusal {
        Refusal { code, message: code.message(arguments) }
    }
}

/// What came of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The answer is written.
    Done,
    /// The answer is written, and leaves when the [`Parked`] that [`Reply::park`] gave is completed. Until then the
    /// connection takes no other command, and no thread waits.
    Parked,
    /// Nothing is written, and nothing was done: the same call is to be made again once the connection's
    /// [waker](ConnectionHandle::waker) was called, or this time is over. Until then the connection takes no other command, and no
    /// thread waits. For [`Session::query`] and [`Session::execute`] only.
    Suspended(Duration),
    /// The answer, if any, is written; the connection is to be closed once it has left.
    Close,
}

/// Why a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The client said COM_QUIT.
    Quit,
    /// The client went away, or the connection broke, or it sent what is no protocol.
    Lost,
    /// It was idle for `wait_timeout`, or did not read or write for its time-out.
    TimedOut,
    /// KILL.
    Killed,
    /// The server stops.
    Shutdown,
    /// The backend asked for it ([`Outcome::Close`]), or refused it.
    Closed,
}

/// What the server needs to know about accounts, and where sessions come from.
pub trait Backend: Send + Sync + 'static {
    /// What the greeting says: `9.7.0-meseta`. Clients look at the figures.
    fn version(&self) -> String;

    /// The collation of the greeting (`collation_server`).
    fn collation(&self) -> u16 {
        meseta_protocol::collation::UTF8MB4_0900_AI_CI
    }

    /// The plugin of the greeting: that of most accounts.
    fn default_plugin(&self) -> Plugin {
        Plugin::CachingSha2Password
    }

    /// The account that a claim is about, and the digest that is in the cache for it. `None` if there is none: the
    /// client is asked for a password all the same, and denied. May wait.
    fn account(&self, claim: &Claim<'_>) -> Option<Account>;

    /// The password was proved the slow way: to be kept in the cache of digests until the account's password changes.
    fn proved(&self, claim: &Claim<'_>, digest: [u8; 32]);

    /// A login failed. What the client is told, if it is not error 1045.
    fn denied(&self, _claim: &Claim<'_>) -> Option<Refusal> {
        None
    }

    /// Opens a session for who has proved to be `opening.client.user`. Looks whether the account is locked, and
    /// whether the default database is there and may be used.
    ///
    /// # Errors
    /// What the client is told before it is disconnected.
    fn open(&self, opening: Opening<'_>) -> Result<Box<dyn Session>, Refusal>;

    /// A thread has run all the commands that had come to its worker, or is going to do without the worker: what they put
    /// off, to do it once for all of them, is to be done or begun now; or soon, if all workers are busy and this one `goes_on`
    /// at once: then this is called again. So is what they have been told of, by the worker's eventfd, to be seen to. Often called; must
    /// not wait.
    fn round_is_over(&self, goes_on: bool) {
        let _ = goes_on;
    }

    /// The line that COM_STATISTICS gives, of what the server counts ([`crate::counters::Counters`]) and more.
    fn statistics(&self, counters: &crate::counters::Counters) -> String {
        counters.statistics_line()
    }
}

/// A session: what a connection is to the language.
pub trait Session: Send {
    /// The state that OK packets tell.
    fn status(&self) -> StatusFlags;

    /// Whether others may have to wait until its transaction ends: then its commands are served before those of others.
    fn holds_locks(&self) -> bool {
        false
    }

    /// A command may be about to come: what most of them begin with may be brought near.
    fn prefetch(&self) {}

    /// Whether it may have the connection beyond `max_connections` (CONNECTION_ADMIN or SUPER).
    fn is_administrator(&self) -> bool {
        false
    }

    /// COM_QUERY: one statement or many.
    fn query(&mut self, query: &Query<'_>, reply: &mut Reply<'_>) -> Outcome;

    /// COM_STMT_PREPARE.
    fn prepare(&mut self, text: &[u8], reply: &mut Reply<'_>) -> Outcome;

    /// COM_STMT_EXECUTE. The values are in `execute`, to be read when the statement's types are known.
    fn execute(&mut self, execute: Execute<'_>, reply: &mut Reply<'_>) -> Outcome;

    /// COM_STMT_FETCH.
    fn fetch(&mut self, statement_id: u32, rows: u32, reply: &mut Reply<'_>) -> Outcome;

    /// COM_STMT_SEND_LONG_DATA: no answer; what is wrong is told at the next execution.
    fn send_long_data(&mut self, statement_id: u32, parameter: u16, piece: &[u8]);

    /// COM_STMT_CLOSE: no answer.
    fn close_statement(&mut self, statement_id: u32);

    /// COM_STMT_RESET.
    fn reset_statement(&mut self, statement_id: u32, reply: &mut Reply<'_>) -> Outcome;

    /// COM_INIT_DB.
    fn init_db(&mut self, name: &[u8], reply: &mut Reply<'_>) -> Outcome;

    /// COM_FIELD_LIST.
    fn field_list(&mut self, table: &[u8], pattern: &[u8], reply: &mut Reply<'_>) -> Outcome;

    /// COM_SET_OPTION: whether a query may have many statements. (Answered with an EOF packet, or OK where there are
    /// none any more; the server does that.)
    fn set_multi_statements(&mut self, on: bool);

    /// COM_RESET_CONNECTION.
    fn reset_connection(&mut self, reply: &mut Reply<'_>) -> Outcome;

    /// COM_CHANGE_USER, after the proof: another account, and a session like new. The server writes the OK.
    ///
    /// # Errors
    /// What the client is told before it is disconnected.
    fn change_user(&mut self, opening: Opening<'_>) -> Result<(), Refusal>;

    /// COM_PROCESS_KILL: looks whether this account may, and calls [`crate::server::ServerHandle::kill`].
    fn kill(&mut self, connection_id: u32, reply: &mut Reply<'_>) -> Outcome;

    /// COM_PING.
    fn ping(&mut self, reply: &mut Reply<'_>) -> Outcome {
        let ok = OkPacket { status: self.status(), ..OkPacket::default() };
        reply.ok(&ok);
        Outcome::Done
    }

    /// The connection is over: transactions are rolled back, locks given up. The client hears nothing any more.
    fn close(self: Box<Self>, end: End);
}
