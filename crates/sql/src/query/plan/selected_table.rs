//! The table of an UPDATE or DELETE, and which of its rows are changed.

use std::sync::Arc;

use super::table::KnownTable;
use super::{Source, SourceKind, TableSource};
use crate::expression::Expr;

/// A table, and which of its rows.
#[derive(Debug)]
pub struct SelectedTable {
    /// The table.
    pub table: Arc<KnownTable>,
    /// How its rows are found.
    pub source: Source,
    /// Conditions that name no column.
    pub constant: Vec<Expr>,
    /// WHERE, until it is planned.
    pub conditions: Vec<Expr>,
    /// Rows are found in the order in which they are wanted.
    pub is_ordered: bool,
    /// The first of them are enough.
    pub is_limited: bool,
}

impl SelectedTable {
    /// For UPDATE, which passes rows by that others have locked, at READ COMMITTED.
    pub fn passing_by(mut self) -> Self {
        if let Some(locking) = self.source.locking_mut() {
            locking.passes_by = true;
        }
        self
    }

    /// The table, if WHERE names one row of it by its primary key, and by nothing else, and no rows refer to it: those are changed
    /// before it, or locked.
    pub fn with_row_named_by_key(&self) -> Option<&TableSource> {
        let SourceKind::Table(table) = &self.source.kind else { return None };
        let access = &table.access;
        let is_named =
            access.index == 0 && access.is_one_point() && access.implied.has_first(self.source.conditions.len());
        let is_alone = self.constant.is_empty() && table.table.engine().referrers.is_empty();
        (is_named && is_alone).then_some(table)
    }

    /// Whether a row may be found once more when some columns have been changed, as `changes` says by their numbers.
    pub fn may_find_again(&self, changes: impl Fn(usize) -> bool) -> bool {
        let SourceKind::Table(table) = &self.source.kind else { return false };
        // Entries of every index end with the primary key: with another one they move among those of the same values.
        let definition = &self.table.engine().definition;
        let parts_of = |index: usize| &definition.indexes[index].parts;
        let mut parts = parts_of(table.access.index).iter().chain(parts_of(0));
        // What one operand has found may be what another finds.
        !table.access.union.is_empty() || parts.any(|part| changes(usize::from(part.column)))
    }
}
