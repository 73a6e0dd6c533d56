//! DELETE from one table.

use std::sync::Arc;

use meseta_engine::catalog::TableHandle;
use meseta_engine::rows::{FoundRow, RowChange};
use meseta_parser::ast::{self, DeleteTarget};

use super::{Changes, Strictness, warn_or_fail};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::query::{
    Binder, ENOUGH, KnownTable, MORE, Place, Running, SelectedTable, Shown, SortKey, change_one_row, limit_count,
    rows_to_change, rows_to_change_in_order,
};

/// DELETE, bound.
#[derive(Debug)]
pub struct DeletePlan {
    selected: SelectedTable,
    order: Vec<SortKey>,
    limit: Option<Expr>,
    ignores: bool,
}

impl DeletePlan {
    /// Binds the statement.
    pub fn new<'a>(delete: &'a ast::Delete<'a>, binder: &mut Binder<'a, '_>) -> Result<Self> {
        let DeleteTarget::Single(table) = delete.target else {
            return Err(Error::not_yet("DELETE from several tables"));
        };
        if let Some(with) = delete.with {
            binder.with(with)?;
        }
        let selected = binder.one_table(table, delete.condition.as_ref(), "DELETE")?;
        let mut order = binder.order_keys(delete.order_by)?;
        let limit = delete.limit.as_ref().map(|limit| binder.expression(limit, Place::plain("LIMIT"))).transpose()?;
        let selected = binder.finish_one_table(selected, &mut order, limit.as_ref())?;
        Ok(Self { selected, order, limit, ignores: delete.ignore })
    }

    /// Its rows: for EXPLAIN.
    pub fn selected(&self) -> &SelectedTable {
        &self.selected
    }

    /// Whether they are put in order first: they are not found in it.
    pub fn is_sorted(&self) -> bool {
        !self.order.is_empty()
    }

    /// The table whose rows go.
    pub fn table(&self) -> &Arc<KnownTable> {
        &self.selected.table
    }

    /// Deletes the rows.
    pub fn run(&self, running: &mut Running<'_>) -> Result<Changes> {
        let strictness = Strictness::new(self.ignores, running);
        let done = self.run_inside(running);
        strictness.end(running, done)
    }

    fn run_inside(&self, running: &mut Running<'_>) -> Result<Changes> {
        let limit = limit_count(self.limit.as_ref(), running)?;
        let mut changes = Changes::default();
        if limit == 0 {
            return Ok(changes);
        }
        let mut delete = |running: &mut Running<'_>, handle: &TableHandle, found: &FoundRow| -> Result<Shown> {
            let deleted = running.inside.engine.delete_row(handle, found);
            let shown = match deleted.map_err(|error| running.inside.refusal(error)) {
                Ok(RowChange::Done) => {
                    changes.affected += 1;
                    Shown::Changed
                }
                Ok(_) => return Ok(Shown::Stale),
                Err(error) => {
                    warn_or_fail(error, self.ignores, running)?;
                    Shown::Kept
                }
            };
            changes.found += 1;
            Ok(shown)
        };
        let mut count = 0;
        if self.order.is_empty() {
            let is_done = !self.ignores && change_one_row(&self.selected, running, &mut delete)?;
            if is_done {
                return Ok(changes);
            }
            rows_to_change(&self.selected, running, &mut |running, handle, found, _| {
                delete(running, handle, found)?;
                count += 1;
                Ok(if count == limit { ENOUGH } else { MORE })
            })?;
        } else {
            rows_to_change_in_order(&self.selected, &self.order, limit, running, &mut |running, handle, found| {
                delete(running, handle, found).map(drop)
            })?;
        }
        Ok(changes)
    }
}
