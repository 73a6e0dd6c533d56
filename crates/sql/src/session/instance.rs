//! What all sessions of a server share: the engine, variables, tables as they were read, counts of rows.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use meseta_engine::ids::TableId;
use meseta_engine::{Engine, EngineOptions};
use meseta_storage::Store;
use parking_lot::RwLock;

use super::lock::GlobalReadLock;
use super::plan_cache::PlanCache;
use super::xa::XaNames;
use crate::account::{AccountStore, NoPlugins, PasswordHasher};
use crate::error::{Error, Result};
use crate::schema::information::VirtualTable;
use crate::schema::{MysqlCollations, TableCache};
use crate::variable::Globals;

/// A server's SQL side.
pub struct Instance {
    /// The engine.
    pub engine: Arc<Engine>,
    /// System variables.
    pub globals: Arc<Globals>,
    /// Tables as they were read.
    pub tables: TableCache,
    /// About how many rows tables have.
    pub row_counts: RowCounts,
    /// Names of XA branches.
    pub xa: XaNames,
    /// FLUSH TABLES WITH READ LOCK.
    pub read_lock: GlobalReadLock,
    /// Plans of statements.
    pub plans: PlanCache,
    /// Who may log in, and what he may.
    pub accounts: AccountStore,
    hasher: OnceLock<Box<dyn PasswordHasher>>,
    connections: AtomicU64,
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
            row_counts: RowCounts::default(),
            xa: XaNames::default(),
            read_lock: GlobalReadLock::default(),
            plans: PlanCache::default(),
            connections: AtomicU64::new(0),
        }))
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

/// About how many rows tables have: looked at again now and then.
#[derive(Default)]
pub struct RowCounts(RwLock<HashMap<TableId, (u64, Instant)>>);

/// So long a count is good enough for the choice of a plan.
const GOOD_FOR: Duration = Duration::from_secs(10);

impl RowCounts {
    /// About how many rows a table has.
    pub fn get(&self, table: &meseta_engine::table::Table) -> u64 {
        if let Some((rows, at)) = self.0.read().get(&table.id())
            && at.elapsed() < GOOD_FOR
        {
            return *rows;
        }
        // If it cannot be read, whoever reads rows says so.
        let rows = table.estimate_rows().unwrap_or(0);
        self.0.write().insert(table.id(), (rows, Instant::now()));
        rows
    }
}
