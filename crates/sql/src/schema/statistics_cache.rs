//! What tables look like, for all sessions: sampled by whoever plans for a table first, and again when it has changed.
//!
//! # Invariants
//! 1. A plan is made with statistics that are no older than [`GOOD_FOR`], as far as the number of rows goes. Indexes are
//!    looked at again once that number has changed by a tenth, or the table has other indexes: InnoDB's rule.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use meseta_engine::ids::{IndexId, TableId};
use meseta_engine::table::Table;
use parking_lot::RwLock;

use super::TableStatistics;

/// So long nobody looks whether a table has changed.
const GOOD_FOR: Duration = Duration::from_secs(10);

/// So many tables are remembered.
const MOST: usize = 10_000;

/// Statistics by table.
#[derive(Default)]
pub struct StatisticsCache(RwLock<HashMap<TableId, Known>>);

#[derive(Clone)]
struct Known {
    statistics: Arc<TableStatistics>,
    /// The rows that there were when indexes were looked at.
    sampled_rows: u64,
    /// The indexes that were.
    indexes: Arc<[IndexId]>,
    looked: Instant,
}

impl Known {
    fn sample(table: &Table) -> Self {
        let statistics = TableStatistics::sample(table);
        let indexes = table.indexes.iter().map(|index| index.index.id()).collect();
        Self { sampled_rows: statistics.rows, indexes, statistics: Arc::new(statistics), looked: Instant::now() }
    }

    /// Whether a table has the indexes that were looked at.
    fn has_indexes_of(&self, table: &Table) -> bool {
        self.indexes.iter().copied().eq(table.indexes.iter().map(|index| index.index.id()))
    }

    /// With another number of rows, if it is about the same table still.
    fn with_rows(&self, rows: u64, table: &Table) -> Option<Self> {
        let is_like = rows.abs_diff(self.sampled_rows) <= self.sampled_rows / 10;
        let indexes = &self.statistics.indexes;
        let is_same = self.has_indexes_of(table) && indexes.iter().all(Option::is_some) && is_like;
        is_same.then(|| Self {
            statistics: Arc::new(TableStatistics { rows, indexes: indexes.clone() }),
            sampled_rows: self.sampled_rows,
            indexes: Arc::clone(&self.indexes),
            looked: Instant::now(),
        })
    }
}

impl StatisticsCache {
    /// The next one who asks has the table looked at: ANALYZE TABLE.
    pub fn forget(&self, table: TableId) {
        self.0.write().remove(&table);
    }

    /// What a table looks like, to plan for it.
    pub fn get(&self, table: &Table) -> Arc<TableStatistics> {
        let old = self.0.read().get(&table.id()).cloned();
        if let Some(known) = &old
            && known.looked.elapsed() < GOOD_FOR
            && known.has_indexes_of(table)
        {
            return Arc::clone(&known.statistics);
        }
        self.look(old, table)
    }

    /// What a table looks like now, to be shown: how many rows there are is looked at in any case.
    pub fn now(&self, table: &Table) -> Arc<TableStatistics> {
        let old = self.0.read().get(&table.id()).cloned();
        self.look(old, table)
    }

    fn look(&self, old: Option<Known>, table: &Table) -> Arc<TableStatistics> {
        // Not under the lock: pages may have to be read.
        let same = old.and_then(|known| known.with_rows(table.estimate_rows().ok()?, table));
        let known = same.unwrap_or_else(|| Known::sample(table));
        let statistics = Arc::clone(&known.statistics);
        let mut all = self.0.write();
        if all.len() >= MOST {
            // Most are of tables that have been dropped.
            all.clear();
        }
        all.insert(table.id(), known);
        statistics
    }
}
