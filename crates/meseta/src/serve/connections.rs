//! The server of connections, as the language sees it: the process list, KILL, figures, limits that SET GLOBAL changes.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use meseta_server::ServerHandle;
use meseta_server::backend::Reason;
use meseta_server::server::Bounds;
use meseta_sql::session::{Connections, Process, ServerFigures};
use meseta_sql::variable::{GlobalValues, Variable};

/// The server, once it runs.
#[derive(Default)]
pub struct ServerConnections {
    server: OnceLock<ServerHandle>,
    /// Sessions that began over TLS.
    pub tls_accepts: AtomicU64,
}

impl ServerConnections {
    /// The server runs.
    pub fn set(&self, server: ServerHandle) {
        let _ = self.server.set(server);
    }
}

/// A global variable's number.
pub fn number(globals: &GlobalValues, name: &str) -> u64 {
    Variable::find(name).map_or(0, |variable| globals.get(variable).as_u64())
}

impl Connections for ServerConnections {
    fn processes(&self) -> Vec<Process> {
        let Some(server) = self.server.get() else { return Vec::new() };
        let process = |process: meseta_server::server::Process| Process {
            id: process.id.into(),
            transport: if process.host == "localhost" { "Socket" } else { "TCP/IP" },
            user: process.user,
            host: process.host,
            database: process.database,
            command: process.command,
            seconds: process.seconds,
            state: process.state,
            info: process.info,
        };
        server.processes().into_iter().map(process).collect()
    }

    fn kill(&self, connection: u64, only_statement: bool) -> bool {
        let reason = if only_statement { Reason::Query } else { Reason::Connection };
        let server = self.server.get();
        u32::try_from(connection).is_ok_and(|id| server.is_some_and(|server| server.kill(id, reason)))
    }

    fn shut_down(&self) {
        if let Some(server) = self.server.get() {
            tracing::info!("stopping, as SHUTDOWN says");
            meseta_server::notify::stopping();
            server.shutdown();
        }
    }

    fn traffic(&self, connection: u64) -> Option<(u64, u64)> {
        self.server.get()?.traffic(u32::try_from(connection).ok()?)
    }

    fn figures(&self) -> ServerFigures {
        let Some(server) = self.server.get() else { return ServerFigures::default() };
        let totals = server.totals();
        let threads = server.thread_count() as u64;
        ServerFigures {
            connections: totals.connections,
            threads_connected: totals.threads_connected,
            threads_running: totals.threads_running,
            threads_created: threads,
            threads_cached: threads.saturating_sub(totals.threads_running),
            max_used_connections: totals.max_used_connections,
            max_used_connections_time: 0,
            aborted_connects: totals.aborted_connects,
            aborted_clients: totals.aborted_clients,
            connection_errors_max_connections: totals.connection_errors_max_connections,
            bytes_received: totals.bytes_received,
            bytes_sent: totals.bytes_sent,
            ssl_accepts: self.tls_accepts.load(Ordering::Relaxed),
            uptime_seconds: totals.uptime_seconds,
        }
    }

    fn flush_status(&self) {
        if let Some(server) = self.server.get() {
            server.flush_status();
        }
    }

    fn globals_changed(&self, globals: &GlobalValues) {
        let Some(server) = self.server.get() else { return };
        let seconds = |name: &str| number(globals, name).min(u32::MAX.into()) as u32;
        server.set_limits(Bounds {
            max_connections: seconds("max_connections"),
            max_allowed_packet: number(globals, "max_allowed_packet") as usize,
            connect_timeout_seconds: seconds("connect_timeout"),
            wait_timeout_seconds: seconds("wait_timeout"),
            interactive_timeout_seconds: seconds("interactive_timeout"),
            net_read_timeout_seconds: seconds("net_read_timeout"),
            net_write_timeout_seconds: seconds("net_write_timeout"),
            require_secure_transport: Variable::find("require_secure_transport")
                .is_some_and(|variable| globals.get(variable).is_true()),
        });
    }

    fn log(&self, line: &str) {
        tracing::warn!("{line}");
    }
}
