//! What a server counts of itself: SHOW STATUS, COM_STATISTICS, the admin page.
//!
//! ```text
//! thread 0: [questions, bytes, commands ..]   written by that thread only, no locked instruction
//! thread 1: [ .. ]                            sum on read
//! all:      connections, aborted, most        touched when a connection comes or goes
//! ```
//!
//! Invariants:
//! 1. On the way of a statement no thread writes where another does.
//! 2. What a thread counted stays when it ends: its row is handed to the next that starts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use crate::clock::Clock;

/// Kinds of commands that are counted apart: the command bytes of the protocol.
pub const COMMANDS: usize = 32;

/// What one thread counts. Only that thread writes, and not beside another's.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct ThreadCounters {
    bytes_received: AtomicU64,
    bytes_sent: AtomicU64,
    commands: [AtomicU64; COMMANDS],
    /// Turns in which a command runs: 0 or 1.
    running: AtomicU64,
    /// The statement that the thread runs, for SHOW PROCESSLIST.
    pub(crate) shown: Mutex<Shown>,
}

/// A statement that runs.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The connection's number; 0 for none.
    pub(crate) connection_id: u32,
    /// The beginning of its text.
    pub(crate) text: Vec<u8>,
    /// What it is doing.
    pub(crate) state: &'static str,
}

impl ThreadCounters {
    fn add(counter: &AtomicU64, amount: u64) {
        counter.store(counter.load(Ordering::Relaxed).wrapping_add(amount), Ordering::Relaxed);
    }

    pub(crate) fn received(&self, bytes: usize) {
        ThreadCounters::add(&self.bytes_received, bytes as u64);
    }

    pub(crate) fn sent(&self, bytes: usize) {
        ThreadCounters::add(&self.bytes_sent, bytes as u64);
    }

    pub(crate) fn command_begins(&self, byte: u8) {
        ThreadCounters::add(&self.commands[usize::from(byte) % COMMANDS], 1);
        self.command_goes_on();
    }

    /// A command that was counted runs.
    pub(crate) fn command_goes_on(&self) {
        self.running.store(1, Ordering::Relaxed);
    }

    pub(crate) fn command_ends(&self) {
        self.running.store(0, Ordering::Relaxed);
    }
}

/// All counters of a server.
#[derive(Debug)]
pub struct Counters {
    threads: Mutex<Rows>,
    pub(crate) connections: CachePadded<AtomicU64>,
    pub(crate) connected: AtomicU64,
    pub(crate) most_connected: AtomicU64,
    pub(crate) aborted_connects: AtomicU64,
    pub(crate) aborted_clients: AtomicU64,
    pub(crate) refused_for_number: AtomicU64,
    pub(crate) defects: AtomicU64,
    pub(crate) moved: AtomicU64,
    /// Commands that wait without a thread.
    pub(crate) suspended: AtomicU64,
    clock: Clock,
    started: u64,
}

#[derive(Debug, Default)]
struct Rows {
    all: Vec<Arc<ThreadCounters>>,
    free: Vec<Arc<ThreadCounters>>,
}

/// What was counted, summed up, by MySQL's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// `Connections`: attempts to connect, successful or not.
    pub connections: u64,
    /// `Threads_connected`.
    pub threads_connected: u64,
    /// `Threads_running`: commands that run now, or wait.
    pub threads_running: u64,
    /// `Max_used_connections`.
    pub max_used_connections: u64,
    /// `Aborted_connects`: attempts that did not lead to a session.
    pub aborted_connects: u64,
    /// `Aborted_clients`: sessions that ended without COM_QUIT.
    pub aborted_clients: u64,
    /// `Connection_errors_max_connections`.
    pub connection_errors_max_connections: u64,
    /// `Bytes_received`.
    pub bytes_received: u64,
    /// `Bytes_sent`.
    pub bytes_sent: u64,
    /// `Questions`: commands that clients sent, without COM_PING, COM_STATISTICS, COM_STMT_PREPARE, COM_STMT_CLOSE,
    /// COM_STMT_RESET.
    pub questions: u64,
    /// Commands by command byte (`Com_stmt_execute`, and so on; what kinds of statements the queries were, the backend
    /// counts).
    pub commands: [u64; COMMANDS],
    /// Panics that were contained.
    pub defects: u64,
    /// How often a connection moved to another worker.
    pub moved: u64,
    /// `Uptime`, in seconds.
    pub uptime_seconds: u64,
}

impl Counters {
    /// All zero, from now on.
    pub fn new(clock: Clock) -> Arc<Counters> {
        Arc::new(Counters {
            threads: Mutex::default(),
            connections: CachePadded::default(),
            connected: AtomicU64::new(0),
            most_connected: AtomicU64::new(0),
            aborted_connects: AtomicU64::new(0),
            aborted_clients: AtomicU64::new(0),
            refused_for_number: AtomicU64::new(0),
            defects: AtomicU64::new(0),
            moved: AtomicU64::new(0),
            suspended: AtomicU64::new(0),
            started: clock.now(),
            clock,
        })
    }

    /// A row for a thread that starts.
    pub(crate) fn join(&self) -> Arc<ThreadCounters> {
        let mut rows = self.threads.lock();
        rows.free.pop().unwrap_or_else(|| {
            let row = Arc::new(ThreadCounters::default());
            rows.all.push(row.clone());
            row
        })
    }

    /// A thread ends.
    pub(crate) fn leave(&self, row: Arc<ThreadCounters>) {
        row.command_ends();
        *row.shown.lock() = Shown::default();
        self.threads.lock().free.push(row);
    }

    /// Calls `look` with the statement that runs in each thread.
    pub(crate) fn each_shown(&self, mut look: impl FnMut(&Shown)) {
        let rows: Vec<_> = self.threads.lock().all.clone();
        rows.iter().for_each(|row| look(&row.shown.lock()));
    }

    /// The sums.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals {
            connections: self.connections.load(Ordering::Relaxed),
            threads_running: self.suspended.load(Ordering::Relaxed),
            threads_connected: self.connected.load(Ordering::Relaxed),
            max_used_connections: self.most_connected.load(Ordering::Relaxed),
            aborted_connects: self.aborted_connects.load(Ordering::Relaxed),
            aborted_clients: self.aborted_clients.load(Ordering::Relaxed),
            connection_errors_max_connections: self.refused_for_number.load(Ordering::Relaxed),
            defects: self.defects.load(Ordering::Relaxed),
            moved: self.moved.load(Ordering::Relaxed),
            uptime_seconds: self.clock.now().saturating_sub(self.started) / 1000,
            ..Totals::default()
        };
        for row in &self.threads.lock().all {
            totals.bytes_received += row.bytes_received.load(Ordering::Relaxed);
            totals.bytes_sent += row.bytes_sent.load(Ordering::Relaxed);
            totals.threads_running += row.running.load(Ordering::Relaxed);
            for (sum, count) in totals.commands.iter_mut().zip(&row.commands) {
                *sum += count.load(Ordering::Relaxed);
            }
        }
        use meseta_protocol::command::byte;
        let not_asked = [byte::PING, byte::STATISTICS, byte::STMT_PREPARE, byte::STMT_CLOSE, byte::STMT_RESET];
        totals.questions = totals.commands.iter().sum::<u64>()
            - not_asked.iter().map(|&byte| totals.commands[usize::from(byte)]).sum::<u64>();
        totals
    }

    /// The part of COM_STATISTICS' line that is known here.
    pub fn statistics_line(&self) -> String {
        let totals = self.totals();
        let per_second = totals.questions as f64 / totals.uptime_seconds.max(1) as f64;
        format!(
            "Uptime: {}  Threads: {}  Questions: {}  Slow queries: 0  Opens: 0  Flush tables: 0  Open tables: 0  \
             Queries per second avg: {per_second:.3}",
            totals.uptime_seconds, totals.threads_connected, totals.questions
        )
    }
}
