//! A server: started, running, stopped.
//!
//! ```text
//! Server::start(options, backend)          listeners, keys, scheduler
//!    |  .handle() -> ServerHandle          for whoever asks for figures, kills, or stops it
//!    v
//! Server::wait()   ...   ServerHandle::shutdown()
//!    |
//!    +-- no more connections; those without a command are closed
//!    +-- commands that run get some seconds to end
//!    +-- the rest is interrupted (error 1053)
//!    +-- threads stop
//! ```
//!
//! Invariants:
//! 1. A connection is in the table of all from before its first turn until its session is closed. When the table is
//!    empty, nothing of a session is left.
//! 2. At most `max_connections` + 1 connections are there: the one more is for an administrator to come in by.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use meseta_errors as errors;
use meseta_protocol::flags::Capabilities;
use meseta_protocol::reply::write_error;
use meseta_protocol::send::PacketWriter;
use parking_lot::{Condvar, Mutex, RwLock};
use rustix::net::SendFlags;

use crate::backend::{Backend, Peer};
use crate::clock::Clock;
use crate::connection::interrupt::Reason;
use crate::connection::{CONNECT, Connection, SLEEP, Scratch};
use crate::counters::{Counters, Totals};
use crate::listener::{Listener, Listening};
use crate::options::ServerOptions;
use crate::scheduler::placement::Placement;
use crate::scheduler::{Core, Events, Scheduler};
use crate::tls::{self, PasswordKey};

/// What the server can do, unless options say otherwise. (What it is not to offer: what needs more than 32 bits, more
/// than one factor; and what is of meaning for clients only.)
const OFFERED: Capabilities = Capabilities(
    !(Capabilities::CAPABILITY_EXTENSION.0
        | Capabilities::MULTI_FACTOR_AUTHENTICATION.0
        | Capabilities::SSL_VERIFY_SERVER_CERT.0
        | Capabilities::REMEMBER_OPTIONS.0),
);

/// What `max_connections` can be set to while the server runs.
const MOST_CONNECTIONS: u32 = 100_000;

/// Limits that hold for all connections: those that begin from now on, where a connection has its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// `max_connections`.
    pub max_connections: u32,
    /// `max_allowed_packet`, in bytes.
    pub max_allowed_packet: usize,
    /// `connect_timeout`.
    pub connect_timeout_seconds: u32,
    /// `wait_timeout`.
    pub wait_timeout_seconds: u32,
    /// `interactive_timeout`.
    pub interactive_timeout_seconds: u32,
    /// `net_read_timeout`.
    pub net_read_timeout_seconds: u32,
    /// `net_write_timeout`.
    pub net_write_timeout_seconds: u32,
    /// `require_secure_transport`.
    pub require_secure_transport: bool,
}

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) backend: Arc<dyn Backend>,
    limits: RwLock<Bounds>,
    pub(crate) offered: Capabilities,
    pub(crate) clock: Clock,
    pub(crate) counters: Arc<Counters>,
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
    pub(crate) key: Arc<PasswordKey>,
    /// Slow digests: as many at a time as there are cores.
    pub(crate) checks: Permits,
    scheduler: OnceLock<Scheduler<Scratch>>,
    connections: Mutex<HashMap<u32, Arc<Connection>>>,
    /// A connection has left.
    left: Condvar,
    last_id: AtomicU32,
    stopping: AtomicBool,
    stop: Mutex<bool>,
    stop_told: Condvar,
}

/// So many at a time.
pub(crate) struct Permits {
    free: Mutex<usize>,
    freed: Condvar,
}

/// One of them.
pub(crate) struct Permit<'a>(&'a Permits);

impl Permits {
    fn new(count: usize) -> Permits {
        Permits { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Waits until one is free.
    pub(crate) fn enter(&self) -> Permit<'_> {
        let mut free = self.free.lock();
        while *free == 0 {
            self.freed.wait(&mut free);
        }
        *free -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.freed.notify_one();
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It cannot listen there.
    #[error("cannot listen on {address}: {why}")]
    Listen {
        /// Where.
        address: String,
        /// Why not.
        why: String,
    },
    /// Certificate or keys.
    #[error("TLS: {0}")]
    Tls(String),
    /// The system gives no thread, no descriptor.
    #[error("the system refuses: {0}")]
    System(#[from] std::io::Error),
}

/// A server that runs. Stopped by [`ServerHandle::shutdown`] and [`Server::wait`]; its drop stops it as well.
pub struct Server {
    shared: Arc<Shared>,
    listener: Option<Listener>,
    grace: Duration,
    started: Instant,
}

/// A server, for whoever asks it for figures, kills a connection, or stops it. Cheap to clone.
#[derive(Clone)]
pub struct ServerHandle(pub(crate) Arc<Shared>);

impl std::fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerHandle").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("listener", &self.listener).finish_non_exhaustive()
    }
}

/// A row of SHOW PROCESSLIST.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The connection's number.
    pub id: u32,
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
}

impl Server {
    /// Listens, and serves what comes.
    ///
    /// # Errors
    /// It cannot listen, or has no certificate, or the system gives no threads. Nothing is left of it then.
    pub fn start(options: &ServerOptions, backend: Arc<dyn Backend>, clock: Clock) -> Result<Server, StartError> {
        let started = Instant::now();
        let counters = Counters::new(clock.clone());
        let tls = tls::configure(options).map_err(StartError::Tls)?;
        let key = PasswordKey::open(options).map_err(StartError::Tls)?;
        let workers = match options.worker_threads {
            0 => std::thread::available_parallelism().map_or(1, |count| count.get()),
            count => count as usize,
        };
        // Whether a file is asked for is for each LOAD DATA to see: local_infile can be set while the server runs.
        let mut offered = OFFERED.set(Capabilities::SSL, tls.is_some()).with(Capabilities::LOCAL_FILES);
        let algorithms = &options.protocol_compression_algorithms;
        let has = |name: &str| algorithms.split(',').any(|algorithm| algorithm.trim().eq_ignore_ascii_case(name));
        offered = offered.set(Capabilities::COMPRESS, has("zlib")).set(Capabilities::ZSTD_COMPRESSION, has("zstd"));
        let listening = Listening::bind(options)?;
        let told = backend.clone();
        let after_round = Box::new(move |goes_on| told.round_is_over(goes_on));
        let shared = Arc::new(Shared {
            backend,
            limits: RwLock::new(Bounds {
                max_connections: options.max_connections,
                max_allowed_packet: options.max_allowed_packet as usize,
                connect_timeout_seconds: options.connect_timeout,
                wait_timeout_seconds: options.wait_timeout,
                interactive_timeout_seconds: options.interactive_timeout,
                net_read_timeout_seconds: options.net_read_timeout,
                net_write_timeout_seconds: options.net_write_timeout,
                require_secure_transport: options.require_secure_transport,
            }),
            offered,
            clock: clock.clone(),
            counters: counters.clone(),
            tls,
            key: Arc::clone(&key),
            checks: Permits::new(workers),
            scheduler: OnceLock::new(),
            connections: Mutex::default(),
            left: Condvar::new(),
            last_id: AtomicU32::new(0),
            stopping: AtomicBool::new(false),
            stop: Mutex::new(false),
            stop_told: Condvar::new(),
        });
        let placement = if options.worker_affinity { Placement::new(workers) } else { Placement::default() };
        let tasks = MOST_CONNECTIONS as usize + 1;
        let scheduler =
            Scheduler::start(Core::new(workers, placement, tasks, clock, counters, Scratch::new, after_round)?)?;
        let _ = shared.scheduler.set(scheduler);
        let mut server = Server { shared: shared.clone(), listener: None, grace: options.shutdown_grace(), started };
        server.listener = Some(listening.start(shared)?);
        key.make_if_missing()?;
        Ok(server)
    }

    /// For whoever asks it for figures, kills, or stops it.
    pub fn handle(&self) -> ServerHandle {
        ServerHandle(self.shared.clone())
    }

    /// Where it listens by TCP: with `port` 0, the system chose.
    pub fn addresses(&self) -> &[SocketAddr] {
        self.listener.as_ref().map_or(&[], |listener| &listener.addresses)
    }

    /// Where its Unix socket is.
    pub fn socket_path(&self) -> Option<&PathBuf> {
        self.listener.as_ref()?.socket_path.as_ref()
    }

    /// How long the start took.
    pub fn start_time(&self) -> Duration {
        self.started.elapsed()
    }

    /// Waits for [`ServerHandle::shutdown`], then stops: see the header. Returns whether all sessions were closed and
    /// all threads had ended; if not, some statement did not look at its kill flags for longer than it should.
    pub fn wait(mut self) -> bool {
        {
            let mut stop = self.shared.stop.lock();
            while !*stop {
                self.shared.stop_told.wait(&mut stop);
            }
        }
        self.stop()
    }

    fn stop(&mut self) -> bool {
        let shared = self.shared.clone();
        shared.stopping.store(true, Ordering::SeqCst);
        // Its drop closes the listening sockets, and waits for its thread.
        if self.listener.take().is_none() {
            return true;
        }
        let running =
            |connection: &Connection| !matches!(connection.facts.command.load(Ordering::Relaxed), SLEEP | CONNECT);
        shared.all().iter().filter(|connection| !running(connection)).for_each(|connection| {
            connection.stop(Reason::Shutdown);
        });
        let deadline = Instant::now() + self.grace;
        while !shared.is_empty_by(deadline.min(Instant::now() + Duration::from_millis(50))) {
            if Instant::now() >= deadline {
                break;
            }
            // Those whose command has ended meanwhile.
            shared.all().iter().filter(|connection| !running(connection)).for_each(|connection| {
                connection.stop(Reason::Shutdown);
            });
        }
        shared.all().iter().for_each(|connection| connection.stop(Reason::Shutdown));
        let empty = shared.is_empty_by(Instant::now() + self.grace.max(Duration::from_secs(5)));
        if !empty {
            tracing::warn!(connections = shared.all().len(), "statements do not stop; the server stops without them");
        }
        let ended = shared.scheduler().is_none_or(|scheduler| scheduler.stop(Duration::from_secs(5)));
        empty && ended
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Shared {
    /// The limits of now.
    pub(crate) fn limits(&self) -> Bounds {
        self.limits.read().clone()
    }

    fn scheduler(&self) -> Option<&Scheduler<Scratch>> {
        self.scheduler.get()
    }

    fn all(&self) -> Vec<Arc<Connection>> {
        self.connections.lock().values().cloned().collect()
    }

    /// Waits until no connection is there; whether that came to be.
    fn is_empty_by(&self, deadline: Instant) -> bool {
        let mut connections = self.connections.lock();
        while !connections.is_empty() {
            if self.left.wait_until(&mut connections, deadline).timed_out() {
                break;
            }
        }
        connections.is_empty()
    }

    /// Whether only an administrator may stay.
    pub(crate) fn is_crowded(&self) -> bool {
        self.counters.connected.load(Ordering::Relaxed) > u64::from(self.limits().max_connections)
    }

    /// Takes a client in.
    pub(crate) fn admit(self: &Arc<Shared>, socket: OwnedFd, peer: Peer) {
        let counters = &self.counters;
        counters.connections.fetch_add(1, Ordering::Relaxed);
        let connected = counters.connected.fetch_add(1, Ordering::Relaxed) + 1;
        if connected > u64::from(self.limits().max_connections) + 1 || self.stopping.load(Ordering::SeqCst) {
            counters.connected.fetch_sub(1, Ordering::Relaxed);
            counters.refused_for_number.fetch_add(1, Ordering::Relaxed);
            counters.aborted_connects.fetch_add(1, Ordering::Relaxed);
            let mut writer = PacketWriter::new();
            write_error(&mut writer, errors::ER_CON_COUNT_ERROR, &[]);
            // A socket that is new takes these few bytes; if not, the client sees the end.
            let _ = rustix::net::send(&socket, writer.bytes(), SendFlags::NOSIGNAL);
            return;
        }
        counters.most_connected.fetch_max(connected, Ordering::Relaxed);
        let Some(scheduler) = self.scheduler() else { return };
        let id = self.next_id();
        let added = scheduler.add(Events::STARTED, |state| {
            let connection = Connection::new(self.clone(), id, socket, peer, state);
            self.connections.lock().insert(id, connection.clone());
            connection.as_task()
        });
        if let Err(error) = added {
            tracing::error!(%error, "a connection is not served");
            counters.aborted_connects.fetch_add(1, Ordering::Relaxed);
            self.forget(id);
        }
    }

    fn next_id(&self) -> u32 {
        let connections = self.connections.lock();
        loop {
            let id = self.last_id.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            if id != 0 && !connections.contains_key(&id) {
                return id;
            }
        }
    }

    /// A connection is over.
    pub(crate) fn forget(&self, id: u32) {
        let removed = self.connections.lock().remove(&id);
        if removed.is_some() {
            self.counters.connected.fetch_sub(1, Ordering::Relaxed);
            self.left.notify_all();
        }
    }

    /// Whether no more connections are taken.
    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }
}

impl ServerHandle {
    /// Has the server stop: [`Server::wait`] returns when it has. May be called more than once.
    pub fn shutdown(&self) {
        *self.0.stop.lock() = true;
        self.0.stop_told.notify_all();
    }

    /// KILL and KILL QUERY: whether there is such a connection. Of [`Reason::Query`] nothing comes if no command runs.
    pub fn kill(&self, connection_id: u32, reason: Reason) -> bool {
        let connection = self.0.connections.lock().get(&connection_id).cloned();
        let found = connection.is_some();
        if let Some(connection) = connection {
            connection.stop(reason);
        }
        found
    }

    /// The limits of connections.
    pub fn limits(&self) -> Bounds {
        self.0.limits()
    }

    /// Sets the limits of connections: SET GLOBAL.
    pub fn set_limits(&self, limits: Bounds) {
        let limits = Bounds { max_connections: limits.max_connections.min(MOST_CONNECTIONS), ..limits };
        *self.0.limits.write() = limits;
    }

    /// FLUSH STATUS: `Max_used_connections` begins again with those that are there.
    pub fn flush_status(&self) {
        let counters = &self.0.counters;
        counters.most_connected.store(counters.connected.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// What the server counted.
    pub fn totals(&self) -> Totals {
        self.0.counters.totals()
    }

    /// How many bytes a connection has received and sent, if it is there.
    pub fn traffic(&self, connection_id: u32) -> Option<(u64, u64)> {
        let connection = self.0.connections.lock().get(&connection_id).cloned()?;
        Some(connection.traffic.totals())
    }

    /// How many threads it has for statements, those that wait and spares among them.
    pub fn thread_count(&self) -> usize {
        self.0.scheduler().map_or(0, Scheduler::thread_count)
    }

    /// The user's name of a connection, for whoever must look whether it may be killed.
    pub fn user_of(&self, connection_id: u32) -> Option<String> {
        let connection = self.0.connections.lock().get(&connection_id).cloned()?;
        let user = connection.facts.names.lock().user.to_string();
        Some(user)
    }

    /// SHOW PROCESSLIST, by ascending number.
    pub fn processes(&self) -> Vec<Process> {
        let mut statements = HashMap::new();
        self.0.counters.each_shown(|shown| {
            if shown.connection_id != 0 {
                statements.insert(shown.connection_id, (shown.text.clone(), shown.state));
            }
        });
        let now = self.0.clock.now();
        let mut all: Vec<Process> = self
            .0
            .all()
            .iter()
            .map(|connection| {
                let facts = &connection.facts;
                let command = facts.command.load(Ordering::Relaxed);
                let names = facts.names.lock();
                let suspended = facts.suspended.lock().as_ref().map(|shown| (shown.text.clone(), shown.state));
                let running = suspended.or_else(|| statements.remove(&connection.id).filter(|_| command != SLEEP));
                let host = connection.peer.host();
                Process {
                    id: connection.id,
                    user: names.user.to_string(),
                    host: match connection.peer.port() {
                        Some(port) => format!("{host}:{port}"),
                        None => host,
                    },
                    database: names.database.as_ref().map(ToString::to_string),
                    command: command_name(command),
                    seconds: now.saturating_sub(facts.since.load(Ordering::Relaxed)) / 1000,
                    state: match (*facts.state.lock(), &running) {
                        ("", Some((_, ""))) => "executing",
                        ("", Some((_, state))) => state,
                        ("", None) => "",
                        (state, _) => state,
                    },
                    info: running.map(|(text, _)| text).filter(|text| !text.is_empty()),
                }
            })
            .collect();
        all.sort_unstable_by_key(|process| process.id);
        all
    }
}

/// A command byte as SHOW PROCESSLIST has it.
fn command_name(command: u8) -> &'static str {
    use meseta_protocol::command::byte;
    match command {
        SLEEP => "Sleep",
        CONNECT => "Connect",
        byte::QUIT => "Quit",
        byte::INIT_DB => "Init DB",
        byte::QUERY => "Query",
        byte::FIELD_LIST => "Field List",
        byte::STATISTICS => "Statistics",
        byte::PROCESS_KILL => "Kill",
        byte::DEBUG => "Debug",
        byte::PING => "Ping",
        byte::CHANGE_USER => "Change user",
        byte::STMT_PREPARE => "Prepare",
        byte::STMT_EXECUTE => "Execute",
        byte::STMT_SEND_LONG_DATA => "Long Data",
        byte::STMT_CLOSE => "Close stmt",
        byte::STMT_RESET => "Reset stmt",
        byte::SET_OPTION => "Set option",
        byte::STMT_FETCH => "Fetch",
        byte::RESET_CONNECTION => "Reset Connection",
        _ => "Error",
    }
}
