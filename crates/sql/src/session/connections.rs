//! The server as statements see it: who is connected, KILL, figures; and the sessions that there are.
//!
//! ```text
//! sql --Connections--> whoever has the sockets        (nobody has, in tests of this crate)
//! sessions: connection -> SessionShared               counters, locks' owner, attributes: read by others' SHOW
//! ```
//!
//! # Invariants
//! 1. A session is in the list from its beginning to its end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use meseta_engine::Canceller;
use parking_lot::Mutex;

use super::counters::{COUNTERS, SessionCounters};
use crate::variable::GlobalValues;

/// A connection, as SHOW PROCESSLIST has it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Process {
    /// Its number.
    pub id: u64,
    /// The account's name.
    pub user: String,
    /// Where it is: `address:port`, or `localhost`.
    pub host: String,
    /// The default database.
    pub database: Option<String>,
    /// `Query`, `Sleep`, ..
    pub command: &'static str,
    /// Since how many seconds.
    pub seconds: u64,
    /// What it is doing.
    pub state: &'static str,
    /// The statement's text, as sent.
    pub info: Option<Vec<u8>>,
    /// How it came: `TCP/IP`, `SSL/TLS`, `Socket`.
    pub transport: &'static str,
}

/// What a server of connections counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)] // Each is the status variable of its name.
pub struct ServerFigures {
    pub connections: u64,
    pub threads_connected: u64,
    pub threads_running: u64,
    pub threads_created: u64,
    pub threads_cached: u64,
    pub max_used_connections: u64,
    /// Seconds since 1970.
    pub max_used_connections_time: u64,
    pub aborted_connects: u64,
    pub aborted_clients: u64,
    pub connection_errors_max_connections: u64,
    pub bytes_received: u64,
    pub bytes_sent: u64,
    pub ssl_accepts: u64,
    pub uptime_seconds: u64,
}

/// Who has the connections.
pub trait Connections: Send + Sync {
    /// All that there are, by their numbers.
    fn processes(&self) -> Vec<Process>;

    /// Has a connection end, or only its statement; whether there is such a connection.
    fn kill(&self, connection: u64, only_statement: bool) -> bool;

    /// Has the server stop, in order. It goes on until its sessions have ended.
    fn shut_down(&self) {}

    /// How many bytes a connection has received and sent, if it is there.
    fn traffic(&self, _connection: u64) -> Option<(u64, u64)> {
        None
    }

    /// What is counted.
    fn figures(&self) -> ServerFigures;

    /// FLUSH STATUS: what is counted begins again where MySQL has it begin again.
    fn flush_status(&self) {}

    /// Global variables have changed.
    fn globals_changed(&self, _globals: &GlobalValues) {}

    /// A line for whoever runs the server.
    fn log(&self, _line: &str) {}
}

/// What others see of a session.
pub struct SessionShared {
    /// The connection's number.
    pub connection: u64,
    /// What it counts.
    pub counters: SessionCounters,
    /// Its side in the lock table.
    pub canceller: Canceller,
    /// Its waits for locks are cancelled.
    cancelled: AtomicBool,
    /// What the client said of itself: names and values.
    pub attributes: Mutex<Vec<(String, String)>>,
    /// Of its TLS: version, cipher.
    pub tls: Mutex<Option<(&'static str, &'static str)>>,
    /// What it had counted at the last FLUSH STATUS; empty if there was none.
    flushed: Mutex<Vec<u64>>,
}

impl SessionShared {
    /// Of a session that begins.
    pub fn new(connection: u64, canceller: Canceller) -> Arc<Self> {
        Arc::new(Self {
            connection,
            counters: SessionCounters::default(),
            canceller,
            cancelled: AtomicBool::new(false),
            attributes: Mutex::default(),
            tls: Mutex::default(),
            flushed: Mutex::default(),
        })
    }

    /// Has what each statement looks at brought near.
    pub fn prefetch(&self) {
        meseta_prefetch::value(&self.cancelled);
    }

    /// What it has counted since the last FLUSH STATUS.
    pub fn counted(&self) -> Vec<u64> {
        let mut sums = vec![0; COUNTERS];
        self.counters.add_to(&mut sums);
        for (sum, flushed) in sums.iter_mut().zip(self.flushed.lock().iter()) {
            *sum = sum.wrapping_sub(*flushed);
        }
        sums
    }

    /// Ends its wait for a lock, and those that its statement would begin.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::SeqCst);
        self.canceller.cancel();
    }

    /// A statement begins: it may wait. `is_killed` says whether somebody has killed this one meanwhile.
    #[inline]
    pub fn begin_statement(&self, is_killed: impl FnOnce() -> bool) {
        if self.cancelled.load(Ordering::Relaxed) {
            self.pardon(is_killed);
        }
    }

    #[cold]
    fn pardon(&self, is_killed: impl FnOnce() -> bool) {
        self.cancelled.store(false, Ordering::SeqCst);
        self.canceller.pardon();
        // Whoever kills raises the flag before it cancels: so one of us sees the other.
        if is_killed() {
            self.cancel();
        }
    }
}

/// The sessions that there are, and what those counted that are no more.
#[derive(Default)]
pub struct Sessions(Mutex<Listed>);

#[derive(Default)]
struct Listed {
    all: BTreeMap<u64, Arc<SessionShared>>,
    ended: Vec<u64>,
}

impl Sessions {
    /// A session begins.
    pub fn add(&self, session: Arc<SessionShared>) {
        self.0.lock().all.insert(session.connection, session);
    }

    /// A session ends.
    pub fn remove(&self, session: &Arc<SessionShared>) {
        let mut listed = self.0.lock();
        listed.ended.resize(COUNTERS, 0);
        session.counters.add_to(&mut listed.ended);
        if listed.all.get(&session.connection).is_some_and(|other| Arc::ptr_eq(other, session)) {
            listed.all.remove(&session.connection);
        }
    }

    /// All that there are.
    pub fn all(&self) -> Vec<Arc<SessionShared>> {
        self.0.lock().all.values().cloned().collect()
    }

    /// The one of this connection.
    pub fn get(&self, connection: u64) -> Option<Arc<SessionShared>> {
        self.0.lock().all.get(&connection).cloned()
    }

    /// FLUSH STATUS: what each session shows begins again; the sums stay.
    pub fn flush(&self) {
        for session in self.all() {
            let mut sums = vec![0; COUNTERS];
            session.counters.add_to(&mut sums);
            *session.flushed.lock() = sums;
        }
    }

    /// What all have counted.
    pub fn sums(&self) -> Vec<u64> {
        let listed = self.0.lock();
        let mut sums = listed.ended.clone();
        sums.resize(COUNTERS, 0);
        listed.all.values().for_each(|session| session.counters.add_to(&mut sums));
        sums
    }
}
