//! Tables as they were read, one for each definition of the engine's.

use std::collections::HashMap;
use std::sync::Arc;

use meseta_engine::ids::TableId;
use parking_lot::RwLock;

use super::Table;
use super::attributes::Damaged;

/// A definition of the engine's, and what was read from it.
type Known = (Arc<meseta_engine::table::Table>, Arc<Table>);

/// What has been read already. All sessions share it.
///
/// # Invariants
/// 1. An entry belongs to the very definition that it was read from: it holds on to it, so that no other can come to be in
///    its place in memory.
#[derive(Default)]
pub struct TableCache {
    tables: RwLock<HashMap<TableId, Known>>,
}

impl TableCache {
    /// How many tables have been read.
    pub fn len(&self) -> usize {
        self.tables.read().len()
    }

    /// Whether none has been read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The table of an engine's table.
    pub fn get(&self, table: &Arc<meseta_engine::table::Table>) -> Result<Arc<Table>, Damaged> {
        if let Some((of, found)) = self.tables.read().get(&table.id())
            && Arc::ptr_eq(of, table)
        {
            return Ok(Arc::clone(found));
        }
        let read = Arc::new(Table::read(&table.definition)?);
        self.tables.write().insert(table.id(), (Arc::clone(table), Arc::clone(&read)));
        Ok(read)
    }

    /// Forgets tables that are not there any more.
    pub fn keep(&self, is_there: impl Fn(TableId) -> bool) {
        self.tables.write().retain(|&id, _| is_there(id));
    }
}
