//! What all sessions of a server share: the engine, variables, tables as they were read, counts of rows.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use meseta_engine::{Engine, EngineOptions};
use meseta_storage::Store;
use parking_lot::Mutex;

use super::connections::{Connections, Sessions};
use super::identifiers::first_short_identifier;
use super::lock::GlobalReadLock;
use super::logs::Logs;
use super::plan_cache::PlanCache;
use super::prepared::PreparedCount;
use super::user_lock::UserLocks;
use super::xa::XaNames;
use crate::account::{AccountStore, NoPlugins, PasswordHasher};
use crate::error::{Error, Result};
use crate::schema::information::VirtualTable;
use crate::schema::{MysqlCollations, StatisticsCache, TableCache};
use crate::variable::Globals;

/// What VERSION() says.
pub const VERSION: &str = "9.7.0-meseta";

/// Bytes that rows which a statement keeps may take in memory at least.
const ROW_MEMORY: usize = 256 << 20;

/// A server's SQL side.
pub struct Instance {
    /// The engine.
    pub engine: Arc<Engine>,
    /// System variables.
    pub globals: Arc<Globals>,
    /// Tables as they were read.
    pub tables: TableCache,
    /// What tables look like.
    pub statistics: StatisticsCache,
    /// Bytes that rows which a statement keeps may take in memory, if tmp_table_size is not more. (Tests have less.)
    pub row_memory: AtomicUsize,
    /// Names of XA branches.
    pub xa: XaNames,
    /// FLUSH TABLES WITH READ LOCK.
    pub read_lock: GlobalReadLock,
    /// User locks: GET_LOCK.
    pub user_locks: UserLocks,
    /// The sessions that there are.
    pub sessions: Sessions,
    /// What VERSION() says.
    pub version: String,
    server: OnceLock<Arc<dyn Connections>>,
    waits_before: Mutex<WaitsBefore>,
    status_flushed: Mutex<Option<Instant>>,
    /// Prepared statements of all sessions.
    pub prepared: PreparedCount,
    /// Plans of statements.
    pub plans: PlanCache,
    /// The general log and the slow log.
    pub logs: Logs,
    /// Who may log in, and what he may.
    pub accounts: AccountStore,
    hasher: OnceLock<Box<dyn PasswordHasher>>,
    connections: AtomicU64,
    short_identifiers: AtomicU64,
}

/// What wait events were when they were last set to zero.
#[derive(Clone, Default)]
pub struct WaitsBefore {
    /// Waits for locks, by kind.
    pub locks: Vec<(u64, Duration)>,
}

impl Instance {
    /// Opens the engine in a store.
    pub fn open(store: Store) -> Result<Arc<Instance>> {
        let options = EngineOptions { collations: Arc::new(MysqlCollations), ..EngineOptions::default() };
        let engine = Arc::new(Engine::open(store, options).map_err(Error::from_engine)?);
        let accounts = AccountStore::open(Arc::clone(&engine))?;
        Ok(Arc::new(Instance {
            engine,
            accounts,
            hasher: OnceLock::new(),
            globals: Arc::new(Globals::new()),
            tables: TableCache::default(),
            statistics: StatisticsCache::default(),
            row_memory: AtomicUsize::new(ROW_MEMORY),
            xa: XaNames::default(),
            read_lock: GlobalReadLock::default(),
            user_locks: UserLocks::default(),
            sessions: Sessions::default(),
            logs: Logs::default(),
            version: VERSION.to_owned(),
            server: OnceLock::new(),
            waits_before: Mutex::default(),
            status_flushed: Mutex::default(),
            prepared: PreparedCount::default(),
            plans: PlanCache::default(),
            connections: AtomicU64::new(0),
            short_identifiers: AtomicU64::new(first_short_identifier(1)),
        }))
    }

    /// Says who has the connections: once, before the first.
    pub fn set_server(&self, server: Arc<dyn Connections>) {
        let _ = self.server.set(server);
    }

    /// Who has the connections; nobody, if this is not a server.
    pub fn server(&self) -> Option<&dyn Connections> {
        self.server.get().map(|server| &**server)
    }

    /// Tells whoever has the connections that global variables have changed.
    pub fn globals_changed(&self) {
        self.tell(self.logs.apply(&self.globals.values()));
        if let Some(server) = self.server() {
            server.globals_changed(&self.globals.values());
        }
    }

    /// FLUSH LOGS, of those that are files.
    pub fn reopen_logs(&self) {
        self.tell(self.logs.reopen(&self.globals.values()));
    }

    /// Whoever runs the server hears of a log that cannot be written.
    pub(super) fn tell(&self, done: std::result::Result<(), String>) {
        if let (Err(why), Some(server)) = (done, self.server()) {
            server.log(&why);
        }
    }

    /// The next UUID_SHORT().
    pub fn next_short_identifier(&self) -> u64 {
        self.short_identifiers.fetch_add(1, Ordering::Relaxed)
    }

    /// What wait events were when they were last set to zero.
    pub fn waits_before(&self) -> WaitsBefore {
        self.waits_before.lock().clone()
    }

    /// Sets wait events to zero, as far as reports go.
    pub fn reset_waits(&self) {
        self.engine.store().reset_wait_events();
        let locks = self.engine.lock_wait_totals().iter().map(|figures| (figures.count, figures.total)).collect();
        *self.waits_before.lock() = WaitsBefore { locks };
    }

    /// FLUSH STATUS, for what is the server's.
    pub fn flush_status(&self) {
        *self.status_flushed.lock() = Some(Instant::now());
        if let Some(server) = self.server() {
            server.flush_status();
        }
    }

    /// Seconds since FLUSH STATUS, if there was one.
    pub fn seconds_since_flush(&self) -> Option<u64> {
        self.status_flushed.lock().map(|at| at.elapsed().as_secs())
    }

    /// The number of a session that no connection has: for those who are not one.
    pub fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A table of a database that is made up.
    pub fn system_table(&self, database: &str, name: &str) -> Option<&'static dyn VirtualTable> {
        crate::schema::information::system_table(database, name)
    }

    /// Lets passwords be set: before the first session. Without it, only accounts without a password can be made.
    pub fn set_password_hasher(&self, hasher: Box<dyn PasswordHasher>) {
        // A second one would make what the first one's plugins do not know.
        let _ = self.hasher.set(hasher);
    }

    /// Makes stored passwords.
    pub fn hasher(&self) -> &dyn PasswordHasher {
        self.hasher.get().map_or(&NoPlugins, |hasher| &**hasher)
    }
}
