//! What all sessions of a server share: the engine, variables, tables as they were read, counts of rows.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use meseta_engine::ids::TableId;
use meseta_engine::{Engine, EngineOptions};
use meseta_storage::Store;
use parking_lot::RwLock;

use super::plan_cache::PlanCache;
use crate::error::{Error, Result};
use crate::schema::information::VirtualTable;
use crate::schema::{MysqlCollations, TableCache};
use crate::variable::Globals;

/// A server's SQL side.
pub struct Instance {
    /// The engine.
    pub engine: Engine,
    /// System variables.
    pub globals: Arc<Globals>,
    /// Tables as they were read.
    pub tables: TableCache,
    /// About how many rows tables have.
    pub row_counts: RowCounts,
    /// Plans of statements.
    pub plans: PlanCache,
    connections: AtomicU64,
}

impl Instance {
    /// Opens the engine in a store.
    pub fn open(store: Store) -> Result<Arc<Instance>> {
        let options = EngineOptions { collations: Arc::new(MysqlCollations), ..EngineOptions::default() };
        let engine = Engine::open(store, options).map_err(Error::from_engine)?;
        Ok(Arc::new(Instance {
            engine,
            globals: Arc::new(Globals::new()),
            tables: TableCache::default(),
            row_counts: RowCounts::default(),
            plans: PlanCache::default(),
            connections: AtomicU64::new(0),
        }))
    }

    /// The number of a session that no connection has: for those who are not one.
    pub fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A table of information_schema.
    pub fn information_table(&self, name: &str) -> Option<&'static dyn VirtualTable> {
        crate::schema::information::virtual_table(name)
    }
}

/// About how many rows tables have: looked at again now and then.
#[derive(Default)]
pub struct RowCounts(RwLock<HashMap<TableId, (u64, Instant)>>);

/// So long a count is good enough for the choice of a plan.
const GOOD_FOR: Duration = Duration::from_secs(10);

impl RowCounts {
    /// The next one who asks gets a new count.
    pub fn forget(&self, table: TableId) {
        self.0.write().remove(&table);
    }

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
