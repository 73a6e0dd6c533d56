//! Rows of one table that are to be changed: what UPDATE and DELETE share.

use std::sync::Arc;

use bumpalo::Bump;
use meseta_engine::catalog::TableHandle;
use meseta_engine::lock::{Mode, TableMode};
use meseta_engine::rows::FoundRow;
use meseta_errors::ER_NON_UPDATABLE_TABLE;
use meseta_parser::ast::{self, LockWait};
use meseta_types::{Collation, Datum};
use smallvec::SmallVec;

use super::explain::{self, ExplainRow};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::query::bind::from::source_columns;
use crate::query::bind::scope::{Block, NamedSource};
use crate::query::bind::{Binder, FoundTable, Place, text_of};
use crate::query::plan::join_tree::Tree;
use crate::query::plan::table::KnownTable;
use crate::query::plan::usable::UsableIndexes;
use crate::query::plan::{LimitPlan, LockingPlan, SortKey, Source, SourceKind, TableSource};
use crate::query::planner::join::Planner;
use crate::query::run::bounds::{Bounds, bounds};
use crate::query::run::inside::Running;
use crate::query::run::sort::Kept;
use crate::query::run::spare::Spare;
use crate::query::run::table_rows::{enter, rows_of_table};
use crate::query::run::{ENOUGH, Flow, MORE, evaluate_all, holds};
use crate::session::Counter;

/// A table, and which of its rows.
#[derive(Debug)]
pub struct SelectedTable {
    table: Arc<KnownTable>,
    source: Source,
    constant: Vec<Expr>,
    conditions: Vec<Expr>,
    /// Rows are found in the order in which they are wanted.
    is_ordered: bool,
    /// The first of them are enough.
    is_limited: bool,
}

impl SelectedTable {
    /// For UPDATE, which passes rows by that others have locked, at READ COMMITTED.
    pub fn passing_by(mut self) -> Self {
        if let Some(locking) = self.source.locking_mut() {
            locking.passes_by = true;
        }
        self
    }

    /// The table.
    pub fn table(&self) -> &Arc<KnownTable> {
        &self.table
    }

    /// How the rows are found, as EXPLAIN tells it.
    pub fn explain(&self, verb: &str, running: &mut Running<'_>) -> Result<ExplainRow> {
        let SourceKind::Table(table) = &self.source.kind else { return Ok(ExplainRow::default()) };
        let is_all = self.source.conditions.is_empty() && !self.is_limited;
        explain::row_of_change(verb, &self.source, table, self.is_ordered, is_all, running)
    }

    /// The table, if WHERE names one row of it by its primary key, and by nothing else, and no rows refer to it: those are changed
    /// before it, or locked.
    fn with_row_named_by_key(&self) -> Option<&TableSource> {
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

/// A table as names see it, its columns in slots from `first_slot` on.
pub fn named_source(table: &KnownTable, alias: &str, first_slot: usize) -> NamedSource {
    NamedSource {
        database: table.database.as_str().into(),
        alias: alias.into(),
        first_slot,
        columns: source_columns(table, alias),
        is_outer: false,
        merged: Vec::new(),
    }
}

impl<'a> Binder<'a, '_> {
    /// Names mean this source from here on, and those of blocks around.
    pub fn push_source(&mut self, source: NamedSource) {
        self.blocks.push(Block { sources: vec![source], ..Block::default() });
    }

    /// Names mean this source as well.
    pub fn push_beside(&mut self, source: NamedSource) {
        if let Some(block) = self.blocks.last_mut() {
            block.sources.push(source);
        }
    }

    /// Binds the table of UPDATE or DELETE and its WHERE. What follows is bound with the table's names; in the end comes
    /// [`Binder::finish_one_table`].
    pub fn one_table(
        &mut self,
        table: &'a ast::Table<'a>,
        condition: Option<&'a ast::Expression<'a>>,
        what: &'static str,
    ) -> Result<SelectedTable> {
        let name = text_of(table.name.name.text.0);
        let database = table.name.schema.map(|schema| text_of(schema.text.0));
        if database.is_none() && self.common.iter().any(|common| common.definition.name.text.0 == name.as_bytes()) {
            return Err(Error::new(ER_NON_UPDATABLE_TABLE, &[&name, &what]));
        }
        let FoundTable::Table(known) = self.tables.table(database.as_deref(), &name)? else {
            return Err(Error::not_yet("changing a table that is made up"));
        };
        if !table.partitions.is_empty() {
            return Err(Error::not_yet("partitions"));
        }
        let alias = table.alias.map_or_else(|| name.clone(), |alias| text_of(alias.text.0));
        let usable = UsableIndexes::new(table.index_hints, &known, &alias)?;
        self.tables.permit(&known, &alias, true)?;
        self.push_source(named_source(&known, &alias, 0));
        self.changed.push((known.engine().id(), alias));
        let conditions = match condition {
            None => Vec::new(),
            Some(condition) => self.condition(condition, Place::plain("where clause"))?,
        };
        let locking = Some(LockingPlan { exclusive: true, wait: LockWait::Wait, takes_all: false, passes_by: false });
        let kind = SourceKind::Table(Box::new(TableSource::new(Arc::clone(&known), usable, locking)));
        let source = Source { kind, first_slot: 0, width: known.columns.len(), ..Source::nothing() };
        let (constant, is_ordered, is_limited) = (Vec::new(), false, false);
        Ok(SelectedTable { table: known, source, constant, conditions, is_ordered, is_limited })
    }

    /// ORDER BY over the table's columns.
    pub fn order_keys(&mut self, order_by: &'a [ast::OrderItem<'a>]) -> Result<Vec<SortKey>> {
        let key = |item: &'a ast::OrderItem<'a>| {
            let value = self.expression(&item.expression, Place::plain("order clause"))?;
            Ok(SortKey { value, descending: item.descending })
        };
        order_by.iter().map(key).collect()
    }

    /// Chooses how the rows are found, and whether in `order`: then that is empty afterwards. On entry: everything that names
    /// the table's columns has been bound.
    pub fn finish_one_table(
        &mut self,
        mut selected: SelectedTable,
        order: &mut Vec<SortKey>,
        limit: Option<&Expr>,
    ) -> Result<SelectedTable> {
        let used = self.blocks.pop().unwrap_or_default().used;
        let mut sources = [selected.source];
        let conditions = std::mem::take(&mut selected.conditions);
        let mut planner = Planner::new(&mut sources, self.tables, &used);
        let planned = planner.plan(Some(Tree::Source(0)), conditions, false)?;
        let is_sorted = !order.is_empty();
        let limit = limit.cloned().map(LimitPlan::first);
        planner.limit = limit.as_ref();
        planner.use_order(&planned.join, order, limit.is_some());
        let [mut source] = sources;
        source.compute_constants_once(&mut self.constants);
        source.takes_all(limit.is_none() || !order.is_empty());
        Ok(SelectedTable {
            source,
            constant: planned.constant,
            is_ordered: is_sorted && order.is_empty(),
            is_limited: limit.is_some(),
            ..SelectedTable { source: Source::nothing(), ..selected }
        })
    }
}

/// What is done with a row that is found: the engine's handle of the table, the row, and its columns that conditions name.
pub type Change<'c> = dyn FnMut(&mut Running<'_>, &TableHandle, &FoundRow, &[Datum<'_>]) -> Result<Flow> + 'c;

/// What became of a row that was shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// It is changed, and by that locked.
    Changed,
    /// It is not to be changed.
    Kept,
    /// It is not what was shown any more, and nothing was done.
    Stale,
}

/// Changes the one row that WHERE names by its primary key, and by nothing else. It is not locked first: its change does that,
/// and so the lock table, which all share, is spared. Nor is the gap locked where there is no such row, if the statement
/// is a transaction of its own: nobody could be kept out of it. True if that was all. Otherwise nothing was done, and [`rows_to_change`]
/// is to find and lock the row, or what is in its place.
///
/// On entry: what `change` evaluates is repeatable. So the statement may wait for the row without its thread: then this fails
/// ([`Error::suspended`]), and nothing was done.
pub fn change_one_row(
    selected: &SelectedTable,
    running: &mut Running<'_>,
    change: impl FnOnce(&mut Running<'_>, &TableHandle, &FoundRow) -> Result<Shown>,
) -> Result<bool> {
    let Some(table) = selected.with_row_named_by_key() else { return Ok(false) };
    let warnings = running.context.warnings.clone();
    let is_done = change_found(selected, table, running, change)?;
    if !is_done {
        running.context.warnings = warnings;
    }
    Ok(is_done)
}

/// As [`change_one_row`], of a table that it may be; what was warned of stays.
fn change_found(
    selected: &SelectedTable,
    table: &TableSource,
    running: &mut Running<'_>,
    change: impl FnOnce(&mut Running<'_>, &TableHandle, &FoundRow) -> Result<Shown>,
) -> Result<bool> {
    let handle = enter(table, TableMode::Write, running)?;
    let mut spare = Spare::take();
    let (mut stretches, implied) = bounds(table, &table.access, &[], &[], running, &mut spare)?;
    let (Some(Bounds::Point(key)), true) = (stretches.pop(), stretches.is_empty()) else { return Ok(false) };
    // Not if the value had to be changed to become one of the column's.
    if !implied.has_first(selected.source.conditions.len()) {
        return Ok(false);
    }
    running.inside.facts.check_killed()?;
    let mut found = FoundRow { key, value: std::mem::take(&mut spare.payload) };
    // A query inside may do what can be seen.
    let is_repeatable = std::mem::take(&mut running.inside.may_suspend) && running.inside.subqueries.is_empty();
    let is_there = running
        .inside
        .engine
        .find_row_into(&handle, &mut found, Mode::Exclusive, is_repeatable)
        .map_err(Error::from_engine)?;
    let is_done = match is_there {
        false => running.inside.is_own_transaction,
        true => match change(running, &handle, &found)? {
            Shown::Changed => true,
            Shown::Kept => {
                running.inside.engine.lock_found(&handle, &found, Mode::Exclusive).map_err(Error::from_engine)?
            }
            Shown::Stale => false,
        },
    };
    if is_done {
        running.inside.facts.count(Counter::HandlerReadKey, 1);
        running.inside.facts.count(Counter::InnodbRowsRead, u64::from(is_there));
    }
    (spare.key, spare.payload) = (found.key, found.value);
    Ok(is_done)
}

/// Finds and locks the rows, and shows them one by one.
pub fn rows_to_change(selected: &SelectedTable, running: &mut Running<'_>, show: &mut Change<'_>) -> Result<()> {
    let SourceKind::Table(table) = &selected.source.kind else { return Ok(()) };
    let handle = enter(table, TableMode::Write, running)?;
    let empty: SmallVec<[Datum<'_>; 16]> = SmallVec::from_elem(Datum::Null, selected.source.width);
    if !holds(&selected.constant, &empty, &[], running, &Bump::new())? {
        return Ok(());
    }
    rows_of_table(&selected.source, table, &handle, &empty, running, &mut |running, found, row| {
        show(running, &handle, found, row)
    })
}

/// Finds and locks the rows, and then shows the first `limit` of them, in order: those that are shown may be changed, since none is
/// found any more.
pub fn rows_to_change_in_order(
    selected: &SelectedTable,
    order: &[SortKey],
    limit: u64,
    running: &mut Running<'_>,
    show: &mut dyn FnMut(&mut Running<'_>, &TableHandle, &FoundRow) -> Result<()>,
) -> Result<()> {
    let (arena, mut spare, mut table) = (Bump::new(), Bump::new(), None);
    let mut kept = Kept::new(&arena, order, running.inside.memory_limit, Some(limit));
    let mut count = 0;
    rows_to_change(selected, running, &mut |running, handle, found, row| {
        table.get_or_insert_with(|| handle.clone());
        spare.reset();
        let keys = evaluate_all(order.iter().map(|key| &key.value), row, &[], running, &spare)?;
        kept.add(&keys, &found_values(found), running)?;
        count += 1;
        Ok(if order.is_empty() && count == limit { ENOUGH } else { MORE })
    })?;
    let Some(handle) = table else { return Ok(()) };
    kept.sort(running)?;
    let mut found = FoundRow::default();
    kept.show(running, &mut |running, row| {
        set_found(&mut found, row);
        show(running, &handle, &found).map(|()| MORE)
    })
}

/// A row that was found, as values that are kept.
pub fn found_values(found: &FoundRow) -> [Datum<'_>; 2] {
    [Datum::Text(&found.key, Collation::Binary), Datum::Text(&found.value, Collation::Binary)]
}

/// The row that was kept as these values, and those kept behind it.
pub fn set_found<'r, 'v>(found: &mut FoundRow, row: &'r [Datum<'v>]) -> &'r [Datum<'v>] {
    let [Datum::Text(key, _), Datum::Text(value, _), behind @ ..] = row else { unreachable!("it was kept so") };
    found.key.clear();
    found.key.extend_from_slice(key);
    found.value.clear();
    found.value.extend_from_slice(value);
    behind
}
