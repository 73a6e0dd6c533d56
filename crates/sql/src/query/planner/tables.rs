//! Where the binder's and the planner's tables come from: what a session knows of them.

use std::sync::Arc;

use meseta_types::DataType;

use super::sizes::Sizes;
use crate::error::Result;
use crate::expression::SystemVariable;
use crate::query::plan::LockingPlan;
use crate::query::plan::table::KnownTable;
use crate::schema::TableStatistics;
use crate::schema::information::VirtualTable;

/// A table that a name means.
pub enum FoundTable {
    /// A table with rows.
    Table(Arc<KnownTable>),
    /// One that is made up.
    Virtual(&'static dyn VirtualTable),
}

/// Where tables come from.
pub trait Tables {
    /// The table of this name. Errors: 1046 (no database), 1049, 1146.
    fn table(&mut self, database: Option<&str>, name: &str) -> Result<FoundTable>;

    /// Whether the session may use a table under this name: to change it, or to lock its rows as if it did. Errors: 1099,
    /// 1100, 1223 (LOCK TABLES), 1399, 1614 (XA), 1792.
    fn permit(&mut self, _table: &KnownTable, _alias: &str, _changes: bool) -> Result<()> {
        Ok(())
    }

    /// How rows are locked that a statement does not say to lock.
    fn default_locking(&self) -> Option<LockingPlan> {
        None
    }

    /// What a table looks like.
    fn statistics(&mut self, table: &KnownTable) -> Arc<TableStatistics>;

    /// What is known of ranges.
    fn sizes(&mut self) -> &mut Sizes;

    /// The database of tables that are named without one.
    fn database(&self) -> Option<&str>;

    /// The type of a user variable, if it has a value.
    fn user_variable(&mut self, name: &str) -> Option<DataType>;

    /// The type of a system variable, and whether it is NULL. Errors: 1193, 1238.
    fn system_variable(&mut self, variable: &SystemVariable) -> Result<(DataType, bool)>;
}
