//! UPDATE of one table.
//!
//! ```text
//!   rows found and locked --assignments, left to right, each seeing those before it--> engine.update_row
//! ```
//!
//! The one row that is named by its primary key is found without a lock: its change is one (`change_one_row`).
//! Rows are changed as they are found, unless they are wanted in another order, or could be found once more when they are
//! changed: then they are kept first.

use std::cmp::Ordering;
use std::sync::Arc;

use bumpalo::Bump;
use meseta_engine::catalog::TableHandle;
use meseta_engine::lock::Mode;
use meseta_engine::rows::{FoundRow, RowChange};
use meseta_parser::ast::{self, ExpressionKind, TableReference};
use meseta_types::{Datum, SqlError};

use super::row::{RowRules, complete, default_of, engine_row, now, put, refuse_generated};
use super::{Changes, Strictness, columns_of, duplicate, take_back, warn_or_fail};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::query::{
    Binder, ENOUGH, KnownTable, MORE, Place, Running, SelectedTable, Shown, SortKey, Spare, change_one_row,
    limit_count, rows_to_change, rows_to_change_in_order,
};

/// UPDATE, bound.
#[derive(Debug)]
pub struct UpdatePlan {
    selected: SelectedTable,
    rules: RowRules,
    /// Column and value (`None` for DEFAULT), in the order written.
    assignments: Vec<(usize, Option<Expr>)>,
    order: Vec<SortKey>,
    limit: Option<Expr>,
    ignores: bool,
    keeps_rows: bool,
    /// A row's new values may be made twice, and nobody notices.
    is_repeatable: bool,
}

impl UpdatePlan {
    /// Binds the statement.
    pub fn new<'a>(update: &'a ast::Update<'a>, binder: &mut Binder<'a, '_>) -> Result<Self> {
        let [TableReference::Table(table)] = update.tables else {
            return Err(Error::not_yet("UPDATE of several tables"));
        };
        if let Some(with) = update.with {
            binder.with(with)?;
        }
        let selected = binder.one_table(table, update.condition.as_ref(), "UPDATE")?.passing_by();
        let known = Arc::clone(&selected.table);
        let mut assignments = Vec::new();
        for assignment in update.assignments.iter() {
            let (_, number) = binder.column_of_source(&assignment.column)?;
            if known.columns[number].generated.is_some() && !matches!(assignment.value.kind, ExpressionKind::Default) {
                return Err(refuse_generated(&known, number));
            }
            assignments.push((
                number,
                match assignment.value.kind {
                    ExpressionKind::Default => None,
                    _ => {
                        let value = binder.expression(&assignment.value, Place::plain("field list"))?;
                        Some(value.for_column(&known.columns[number].data_type))
                    }
                },
            ));
        }
        let mut order = binder.order_keys(update.order_by)?;
        let limit = update.limit.as_ref().map(|limit| binder.expression(limit, Place::plain("LIMIT"))).transpose()?;
        let selected = binder.finish_one_table(selected, &mut order, limit.as_ref())?;
        let rules = RowRules::new(&known, binder.facts, binder.tables)?;
        let values = assignments.iter_mut().filter_map(|(_, value)| value.as_mut());
        values.for_each(|value| value.keep_keys(&mut binder.constants));
        let is_assigned = |column| assignments.iter().any(|(assigned, _)| *assigned == column);
        let keeps_rows = !order.is_empty() || selected.may_find_again(is_assigned);
        let is_repeatable = assignments.iter().filter_map(|(_, value)| value.as_ref()).all(Expr::is_repeatable);
        let ignores = update.ignore;
        Ok(Self { selected, rules, assignments, order, limit, ignores, keeps_rows, is_repeatable })
    }

    /// Its rows: for EXPLAIN.
    pub fn selected(&self) -> &SelectedTable {
        &self.selected
    }

    /// Whether they are put in order first: they are not found in it.
    pub fn is_sorted(&self) -> bool {
        !self.order.is_empty()
    }

    /// The table whose rows are changed.
    pub fn table(&self) -> &Arc<KnownTable> {
        &self.selected.table
    }

    /// Changes the rows.
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
        let mut spare = Spare::take();
        let arena = &mut spare.arena;
        if !self.keeps_rows {
            let may_repeat = self.is_repeatable && !self.ignores;
            let is_done = may_repeat
                && change_one_row(&self.selected, running, |running, handle, found| {
                    self.change(handle, found, running, &mut changes, arena)
                })?;
            if is_done {
                return Ok(changes);
            }
            changes = Changes::default();
            return rows_to_change(&self.selected, running, &mut |running, handle, found, _| {
                arena.reset();
                self.change(handle, found, running, &mut changes, arena)?;
                Ok(if changes.found == limit { ENOUGH } else { MORE })
            })
            .map(|()| changes);
        }
        rows_to_change_in_order(&self.selected, &self.order, limit, running, &mut |running, handle, found| {
            arena.reset();
            self.change(handle, found, running, &mut changes, arena).map(drop)
        })
        .map(|()| changes)
    }

    fn change(
        &self,
        handle: &TableHandle,
        found: &FoundRow,
        running: &mut Running<'_>,
        changes: &mut Changes,
        arena: &Bump,
    ) -> Result<Shown> {
        let table = &self.selected.table;
        changes.found += 1;
        running.context.row = changes.found;
        let before = columns_of(table, found, running, arena)?;
        let row = arena.alloc_slice_copy(before);
        for (column, value) in &self.assignments {
            // (What stays is not looked at: it may be a date that has come here in another mode.)
            if value.as_ref().and_then(Expr::as_column) == u32::try_from(*column).ok() {
                continue;
            }
            let so_far: &[Datum<'_>] = arena.alloc_slice_copy(row);
            let value = match value {
                Some(value) => value.evaluate(so_far, &mut running.env(arena, &[]))?,
                None => default_of(table, &self.rules, *column, so_far, running, arena)?,
            };
            let is_kind = self.ignores || !running.context.mode.strict;
            row[*column] = put(table, *column, value, is_kind, running, arena)?;
        }
        let updating = Updating { handle, table, rules: &self.rules, ignores: self.ignores };
        updating.update(found, before, row, running, changes, arena)
    }
}

/// A table whose rows get other values, by an UPDATE of one table or of several.
pub struct Updating<'p> {
    /// The table, entered.
    pub handle: &'p TableHandle,
    /// The same, as the language knows it.
    pub table: &'p KnownTable,
    /// What its rows must be.
    pub rules: &'p RowRules,
    /// IGNORE: errors of a row are warnings.
    pub ignores: bool,
}

impl<'p> Updating<'p> {
    /// Gives a row that was found its new values, if they are others than `before`.
    pub fn update<'v, 'r: 'v>(
        &self,
        found: &FoundRow,
        before: &[Datum<'v>],
        row: &mut [Datum<'v>],
        running: &mut Running<'r>,
        changes: &mut Changes,
        arena: &'v Bump,
    ) -> Result<Shown>
    where
        'p: 'v,
    {
        if !touch(self.table, before, row, running)? {
            return Ok(Shown::Kept);
        }
        if let Err(error) = complete(self.table, self.rules, row, running, arena) {
            return warn_or_fail(error, self.ignores, running).map(|()| Shown::Kept);
        }
        let values = engine_row(self.table, row, running, arena);
        let savepoint = self.ignores.then(|| running.inside.engine.savepoint());
        let updated = running.inside.engine.update_row(self.handle, found, values, Mode::Shared);
        take_back(savepoint, &updated, running)?;
        match updated.map_err(|error| running.inside.refusal(error)) {
            Ok(RowChange::Done) => {
                changes.affected += 1;
                return Ok(Shown::Changed);
            }
            Ok(RowChange::Stale) => return Ok(Shown::Stale),
            Err(error) => warn_or_fail(error, self.ignores, running)?,
            Ok(RowChange::Conflict(conflict)) => {
                let error = duplicate(self.table, row, &conflict);
                if !self.ignores {
                    return Err(error);
                }
                running.context.warnings.warn(SqlError::new(error.code.0, error.message));
            }
        }
        Ok(Shown::Kept)
    }
}

/// Whether two rows are the same.
pub fn is_same_row(one: &[Datum<'_>], other: &[Datum<'_>]) -> bool {
    one.iter().zip(other).all(|(one, other)| is_same(*one, *other))
}

/// Whether a row is another than it was; then columns that are ON UPDATE CURRENT_TIMESTAMP, and were not set, are set.
pub fn touch<'v>(
    table: &'v KnownTable,
    before: &[Datum<'v>],
    after: &mut [Datum<'v>],
    running: &mut Running<'_>,
) -> Result<bool> {
    let is_changed = before.iter().zip(after.iter()).any(|(before, after)| !is_same(*before, *after));
    if is_changed {
        for (number, column) in table.columns.iter().enumerate() {
            if column.on_update_now && is_same(before[number], after[number]) {
                after[number] = now(&column.data_type, running)?;
            }
        }
    }
    Ok(is_changed)
}

/// Whether two values of a column are the same, byte by byte.
fn is_same(one: Datum<'_>, other: Datum<'_>) -> bool {
    match (one, other) {
        (Datum::Null, Datum::Null) => true,
        (Datum::Null, _) | (_, Datum::Null) => false,
        (Datum::Text(one, _), Datum::Text(other, _)) | (Datum::Json(one), Datum::Json(other)) => one == other,
        (Datum::Double(one), Datum::Double(other)) => one == other,
        (Datum::Float(one), Datum::Float(other)) => one == other,
        (Datum::Signed(one), Datum::Signed(other)) => one == other,
        (Datum::Unsigned(one), Datum::Unsigned(other)) => one == other,
        (Datum::Member { number: one, .. }, Datum::Member { number: other, .. }) => one == other,
        (Datum::Bits { bits: one, .. }, Datum::Bits { bits: other, .. }) => one == other,
        (Datum::Date(one), Datum::Date(other)) => one == other,
        (Datum::Time(one, _), Datum::Time(other, _)) => one == other,
        (Datum::DateTime(one, _), Datum::DateTime(other, _)) => one == other,
        (Datum::Decimal(one), Datum::Decimal(other)) => one.cmp(&other) == Ordering::Equal,
        _ => false,
    }
}
