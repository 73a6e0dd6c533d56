//! What a session may do with its connection, from any thread.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

use super::Connection;
use super::interrupt::Interrupt;
use crate::scheduler::Events;
use crate::scheduler::task::notify;
use crate::server::ServerHandle;

/// A connection, as its session sees it. Cheap to clone.
#[derive(Clone)]
pub struct ConnectionHandle(pub(crate) Arc<Connection>);

impl std::fmt::Debug for ConnectionHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ConnectionHandle").field(&self.0.id).finish()
    }
}

impl ConnectionHandle {
    /// The number that `CONNECTION_ID()` gives and KILL takes.
    pub fn id(&self) -> u32 {
        self.0.id
    }

    /// Its kill flags.
    pub fn interrupt(&self) -> &Interrupt {
        &self.0.interrupt
    }

    /// The server: process list, KILL, counters, shutdown.
    pub fn server(&self) -> ServerHandle {
        ServerHandle(self.0.server.clone())
    }

    /// Whoever calls it has a suspended statement executed again (`Outcome::Suspended`). From any thread, briefly.
    pub fn waker(&self) -> Waker {
        Arc::new(CallBack(Arc::downgrade(&self.0))).into()
    }

    /// `wait_timeout`, in seconds. (That of an interactive client begins as `interactive_timeout`.)
    pub fn wait_timeout_seconds(&self) -> u32 {
        self.0.limits.wait_timeout_seconds.load(Ordering::Relaxed)
    }

    /// Sets `wait_timeout`, in seconds; it holds from the end of this command on.
    pub fn set_wait_timeout_seconds(&self, seconds: u32) {
        self.0.limits.wait_timeout_seconds.store(seconds, Ordering::Relaxed);
    }

    /// Sets `net_read_timeout`, in seconds.
    pub fn set_net_read_timeout_seconds(&self, seconds: u32) {
        self.0.limits.net_read_timeout_seconds.store(seconds, Ordering::Relaxed);
    }

    /// Sets `net_write_timeout`, in seconds.
    pub fn set_net_write_timeout_seconds(&self, seconds: u32) {
        self.0.limits.net_write_timeout_seconds.store(seconds, Ordering::Relaxed);
    }

    /// What the statement waits for, for SHOW PROCESSLIST; empty for nothing.
    pub fn set_state(&self, state: &'static str) {
        *self.0.facts.state.lock() = state;
    }

    /// The default database, for SHOW PROCESSLIST.
    pub fn set_database(&self, name: Option<&str>) {
        self.0.facts.names.lock().database = name.map(Box::from);
    }
}

/// Calls a connection back. Whoever keeps it does not keep the connection: locks may outlive it (XA).
struct CallBack(Weak<Connection>);

impl Wake for CallBack {
    fn wake(self: Arc<CallBack>) {
        if let Some(connection) = self.0.upgrade() {
            notify(&connection.as_task(), Events::WOKEN);
        }
    }
}
