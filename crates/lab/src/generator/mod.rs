//! The generator: many connections on a few threads, each at its workload, and what they measured.
//!
//! ```text
//!  run (the caller's thread)            worker threads, each:
//!    start, stop, seconds  --Control-->   reactor --polls--> client futures --> connection --> socket
//!    merges                <--channel--   a Second each second, a Recorder at the end
//! ```
//!
//! | module | what it answers |
//! |---|---|
//! | [`run`] | How does a measurement begin, go on and end? |
//! | [`worker`] | What does a thread do? What does a client do between two events? |
//! | [`connection`] | How is a statement sent, and its answer taken? |
//! | [`statement`] | What is a statement, prepared or as text? |
//! | [`socket`] | How are bytes sent and received? |
//! | [`tls`] | And how is it done with TLS? |
//! | [`reactor`] | Which future goes on when? |
//! | [`ring`] | How does one system call do the work of many? |
//! | [`recorder`] | What is counted? |
//! | [`target`] | Which server, and how is it reached? |
//!
//! A client is a future: a workload is written as if it had a thread, and costs a few hundred bytes. There are no
//! wakers and no queues between threads: a thread owns its clients from beginning to end.
//!
//! Invariants:
//! 1. Between two statements of a client nothing is allocated.
//! 2. A statement costs a share of one system call (`io_uring_enter`); where there is no io_uring two (send, receive)
//!    and a share of one (`epoll_wait`).

pub mod connection;
pub mod reactor;
pub mod recorder;
pub mod ring;
pub mod run;
pub mod socket;
pub mod statement;
pub mod target;
pub mod tls;
pub mod worker;

use crate::generator::connection::Connection;
use crate::random::Random;

/// What a kind of thing that is timed is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Span {
    /// One statement.
    Statement,
    /// Many, timed as one.
    Transaction,
}

/// A kind of statement or transaction that has a histogram of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kind {
    /// Its name in reports.
    pub name: String,
    /// What it is.
    pub span: Span,
}

impl Kind {
    /// A kind of statement.
    pub fn statement(name: &str) -> Kind {
        Kind { name: name.to_owned(), span: Span::Statement }
    }

    /// A kind of transaction.
    pub fn transaction(name: &str) -> Kind {
        Kind { name: name.to_owned(), span: Span::Transaction }
    }
}

/// Why a statement, or what consists of statements, did not succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The server said so.
    Server {
        /// The error's number.
        code: u16,
        /// Its SQLSTATE.
        sqlstate: String,
        /// Its text.
        message: String,
    },
    /// The connection is no more.
    Lost(String),
    /// What came was not what the workload needs: an empty table, say.
    Unexpected(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Server { code, sqlstate, message } => write!(f, "error {code} ({sqlstate}): {message}"),
            Failure::Lost(why) => write!(f, "the connection was lost: {why}"),
            Failure::Unexpected(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}

/// A result of the generator's.
pub type Result<T> = std::result::Result<T, Failure>;

/// What clients do, seen from all of them.
pub trait Workload: Send + Sync + 'static {
    /// What one client does.
    type Session: Session;

    /// The kinds of what is timed, by number.
    fn kinds(&self) -> Vec<Kind>;

    /// The session of client number `client` of `clients`, with its stream of random numbers.
    fn session(&self, client: usize, clients: usize, random: Random) -> Self::Session;

    /// How many statements each client keeps prepared, for a check before they connect. 0 for none.
    fn prepared_statements(&self) -> usize;
}

/// What one client does.
pub trait Session {
    /// Prepares what is executed later. Not timed.
    fn start(&mut self, connection: &mut Connection) -> impl Future<Output = Result<()>>;

    /// One event: what a transaction is in the workload's own report.
    fn event(&mut self, connection: &mut Connection) -> impl Future<Output = Result<()>>;

    /// What is left to do after the last event. Not timed as an event.
    fn finish(&mut self, _connection: &mut Connection) -> impl Future<Output = Result<()>> {
        async { Ok(()) }
    }

    /// Called before an event is tried again after an error that is to be ignored.
    fn before_retry(&mut self, _connection: &mut Connection) -> impl Future<Output = Result<()>> {
        async { Ok(()) }
    }
}
