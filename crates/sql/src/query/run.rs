//! Running a plan: each source shows its rows to what comes behind it.
//!
//! ```text
//!   source 0 --row--> source 1 --row--> filter --row--> group | sort | items --row--> the client's reply
//!             for each row of 0, the matching rows of 1
//! ```
//!
//! Rows are pushed, so that a row's values may be borrowed from what the cursors that stand on it have copied: between a
//! cursor and the reply nothing is copied again. What has to keep rows (`group`, `sort`) copies them into an arena.
//!
//! # Invariants
//! 1. A row that is shown is valid until the call returns.
//! 2. A kill is noticed between two rows; where they come from a table, before the first, and then after a few more each time.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::rc::Rc;
use std::sync::Arc;

use bumpalo::Bump;
use meseta_engine::catalog::TableHandle;
use meseta_engine::lock::{Mode, OnConflict, TableMode};
use meseta_engine::row::{KeyRange, Value};
use meseta_engine::rows::{FoundRow, RowCursor};
use meseta_engine::{Direction, EngineError, Isolation, Locking};
use meseta_parser::ast::LockWait;
use meseta_types::Datum;

use super::access::{Bounds, bounds, load_into};
use super::hash::Built;
use super::inside::Running;
use super::plan::{
    Access, Body, ConditionSet, Join, LimitPlan, LockingPlan, QueryPlan, SelectPlan, Source, SourceKind, TableSource,
};
use super::projection::{Projection, SpareMemory, values_in};
use super::sort::Kept;
use super::spare::{Memory, Spare, recycle};
use super::table::KnownTable;
use super::wanted::wanted_names;
use super::{group, materialized, recursive, set_operation};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::schema::information::{Cell, View, VirtualTable, Wanted};
use crate::session::{Counter, SessionShared};

/// Whether more rows are wanted: `Break` if not, and then whoever shows rows returns.
pub type Flow = ControlFlow<()>;
/// More rows are wanted.
pub const MORE: Flow = ControlFlow::Continue(());
/// No more rows are wanted.
pub const ENOUGH: Flow = ControlFlow::Break(());

/// Where rows go.
pub type Sink<'s> = dyn FnMut(&mut Running<'_>, &[Datum<'_>]) -> Result<Flow> + 's;

/// Rows of the queries around one, the next one out last.
pub type Outer<'o> = &'o [&'o [Datum<'o>]];

/// Runs a query, and shows its rows.
pub fn run_query(plan: &QueryPlan, outer: Outer<'_>, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let Some(limit) = &plan.limit else { return run_ordered(plan, outer, running, sink) };
    let (offset, count) = limit_of(limit, outer, running)?;
    if limit.counts_all {
        return run_counted(plan, offset, count, outer, running, sink);
    }
    if count == 0 {
        return Ok(());
    }
    let mut limited = Limited { offset, count, passed: 0, shown: 0 };
    run_ordered(plan, outer, running, &mut |running, row| limited.show(running, row, sink))
}

/// SQL_CALC_FOUND_ROWS: all rows are made, but only some are shown.
fn run_counted(
    plan: &QueryPlan,
    offset: u64,
    count: u64,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let (mut made, mut flow) = (0_u64, MORE);
    run_ordered(plan, outer, running, &mut |running, row| {
        made += 1;
        if made > offset && made - offset <= count && flow.is_continue() {
            flow = sink(running, row)?;
        }
        Ok(MORE)
    })?;
    running.inside.rows_without_limit = Some(made);
    Ok(())
}

/// Runs a query without its LIMIT: all of its rows, in their order, until no more are wanted.
fn run_ordered(plan: &QueryPlan, outer: Outer<'_>, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
    if plan.order.is_empty() {
        return run_body(plan, outer, running, sink);
    }
    let arena = Bump::new();
    let mut kept = Kept::new(&arena, &plan.order, running.inside.memory_limit);
    let mut of_row = Spare::take();
    run_body(plan, outer, running, &mut |running, row| {
        of_row.arena.reset();
        let keys = evaluate_all(values_in(&plan.order), row, outer, running, &of_row.arena)?;
        kept.add(&keys, row).ok_or_else(Error::out_of_sort_memory)?;
        Ok(MORE)
    })?;
    kept.sort(&plan.order, running)?;
    kept.show(running, sink)
}

fn run_body(plan: &QueryPlan, outer: Outer<'_>, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
    crate::stack::check()?;
    match &plan.body {
        Body::Select(select) => run_select(select, outer, running, sink),
        Body::SetOperation(set) => set_operation::run(set, outer, running, sink),
        Body::Nested(query) => run_query(query, outer, running, sink),
        Body::Recursive(recursive) => recursive::run(recursive, outer, running, sink),
        Body::Values(rows) => {
            let mut arena = Bump::new();
            for row in rows {
                let values = evaluate_all(row.iter(), &[], outer, running, &arena)?;
                if sink(running, &values)?.is_break() {
                    return Ok(());
                }
                arena.reset();
            }
            Ok(())
        }
    }
}

/// Passes rows on from `offset` on, until `count` of them have been.
struct Limited {
    offset: u64,
    count: u64,
    passed: u64,
    shown: u64,
}

impl Limited {
    fn show(&mut self, running: &mut Running<'_>, row: &[Datum<'_>], sink: &mut Sink<'_>) -> Result<Flow> {
        if self.passed < self.offset {
            self.passed += 1;
            return Ok(MORE);
        }
        self.shown += 1;
        let flow = sink(running, row)?;
        Ok(if self.shown == self.count { ENOUGH } else { flow })
    }
}

/// How many rows are passed over, and how many are shown.
pub fn limit_of(limit: &LimitPlan, outer: Outer<'_>, running: &mut Running<'_>) -> Result<(u64, u64)> {
    let arena = Bump::new();
    let mut number = |expr: &Expr| -> Result<u64> {
        let value = expr.evaluate(&[], &mut running.env(&arena, outer))?;
        Ok(match value {
            Datum::Unsigned(number) => number,
            Datum::Signed(number) => u64::try_from(number).unwrap_or(0),
            other => other.to_integer(running.context).map_or(0, |(number, _)| u64::try_from(number).unwrap_or(0)),
        })
    };
    let offset = limit.offset.as_ref().map_or(Ok(0), &mut number)?;
    Ok((offset, number(&limit.count)?))
}

/// The values of some expressions.
pub fn evaluate_all<'v, 'e>(
    expressions: impl Iterator<Item = &'v Expr>,
    row: &'v [Datum<'v>],
    outer: Outer<'v>,
    running: &mut Running<'e>,
    arena: &'v Bump,
) -> Result<Vec<Datum<'v>>>
where
    'e: 'v,
{
    let mut values = Vec::with_capacity(expressions.size_hint().0);
    evaluate_into(&mut values, expressions, row, outer, running, arena)?;
    Ok(values)
}

/// Appends the values of some expressions.
#[inline]
pub fn evaluate_into<'v, 'e>(
    values: &mut Vec<Datum<'v>>,
    expressions: impl Iterator<Item = &'v Expr>,
    row: &'v [Datum<'v>],
    outer: Outer<'v>,
    running: &mut Running<'e>,
    arena: &'v Bump,
) -> Result<()>
where
    'e: 'v,
{
    for expression in expressions {
        match expression.slot_value(row) {
            Some(value) => values.push(value),
            None => values.push(expression.evaluate(row, &mut running.env(arena, outer))?),
        }
    }
    Ok(())
}

/// Whether all conditions are true of a row.
#[inline]
pub fn holds(
    conditions: &[Expr],
    row: &[Datum<'_>],
    outer: Outer<'_>,
    running: &mut Running<'_>,
    arena: &Bump,
) -> Result<bool> {
    holds_but(ConditionSet::default(), conditions, row, outer, running, arena)
}

/// Whether all conditions are true of a row, but those that are known to be. Of most rows nothing is left to ask.
#[inline]
fn holds_but(
    known: ConditionSet,
    conditions: &[Expr],
    row: &[Datum<'_>],
    outer: Outer<'_>,
    running: &mut Running<'_>,
    arena: &Bump,
) -> Result<bool> {
    Ok(known.has_first(conditions.len()) || unknown_hold(known, conditions, row, outer, running, arena)?)
}

/// As [`holds_but`], where there are such.
fn unknown_hold(
    known: ConditionSet,
    conditions: &[Expr],
    row: &[Datum<'_>],
    outer: Outer<'_>,
    running: &mut Running<'_>,
    arena: &Bump,
) -> Result<bool> {
    for (number, condition) in conditions.iter().enumerate() {
        if !known.has(number) && !condition.is_true(row, &mut running.env(arena, outer))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Runs a SELECT.
fn run_select(plan: &SelectPlan, outer: Outer<'_>, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let mut memory = Spare::take();
    let Memory { row, items: spare_items, keys: spare_keys, arena: spare, kept: arena, .. } = &mut *memory;
    let arena: &Bump = arena;
    let built = RefCell::new(Vec::new());
    let execution = Execution { plan, arena, built: &built };
    row.clear();
    row.resize(plan.width, Datum::Null);
    let row: &[Datum<'_>] = row;
    let is_possible = holds(&plan.constant, row, outer, running, arena)?;
    let mut rows = |running: &mut Running<'_>, sink: &mut Sink<'_>| -> Result<()> {
        let around = std::mem::take(&mut running.materialized);
        match &plan.join {
            _ if !is_possible => {}
            None => drop(sink(running, row)?),
            Some(node) => drop(join(node, &execution, outer, row, running, sink)?),
        }
        running.materialized = around;
        Ok(())
    };
    let spare = SpareMemory { items: spare_items, keys: spare_keys, arena: spare };
    let mut projection = Projection::new(plan, outer, arena, running.inside.memory_limit, spare);
    let mut show = |running: &mut Running<'_>, row: &[Datum<'_>]| projection.take(running, row, sink);
    match &plan.group {
        None => rows(running, &mut show)?,
        Some(grouping) => group::run(grouping, plan, outer, running, &mut rows, &mut show)?,
    }
    projection.end(running, sink)
}

/// A SELECT that runs: what it keeps of its sources.
struct Execution<'a> {
    plan: &'a SelectPlan,
    arena: &'a Bump,
    /// For each source that is kept in memory, once it has been asked for: its rows, or that they are too many.
    built: &'a RefCell<Vec<Option<Option<Rc<Built<'a>>>>>>,
}

/// Shows the rows of one source, from memory if they are kept there.
fn one_source<'a>(
    number: usize,
    execution: &Execution<'a>,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let source: &'a Source = &execution.plan.sources[number];
    if let Some(measures) = running.inside.measures.clone() {
        return measures.measure(source, running, sink, |running, sink| {
            kept_or_read(source, number, execution, outer, row, running, sink)
        });
    }
    kept_or_read(source, number, execution, outer, row, running, sink)
}

fn kept_or_read<'a>(
    source: &'a Source,
    number: usize,
    execution: &Execution<'a>,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let Some(Some(hash)) = execution.plan.hashes.get(number) else {
        return source_rows(source, outer, row, running, sink);
    };
    let known = execution.built.borrow().get(number).cloned().flatten();
    let built = match known {
        Some(built) => built,
        None => {
            let built = Built::new(source, hash, outer, running, execution.arena, &mut |running, sink| {
                source_rows(source, outer, row, running, sink).map(drop)
            })?;
            let built = built.map(Rc::new);
            let mut all = execution.built.borrow_mut();
            if all.is_empty() {
                all.resize(execution.plan.sources.len(), None);
            }
            all[number] = Some(built.clone());
            built
        }
    };
    match built {
        Some(built) => built.probe(source, hash, outer, row, running, sink),
        // Too many: they are read again.
        None => {
            let mut spare = Bump::new();
            source_rows(source, outer, row, running, &mut |running, row| {
                spare.reset();
                if holds(&hash.conditions, row, outer, running, &spare)? { sink(running, row) } else { Ok(MORE) }
            })
        }
    }
}

/// Shows the rows of a join, each an extension of `row`.
fn join(
    node: &Join,
    execution: &Execution<'_>,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    match node {
        Join::Source(number) => one_source(*number, execution, outer, row, running, sink),
        Join::Inner(nodes) => match nodes.split_first() {
            None => sink(running, row),
            Some((first, [])) => join(first, execution, outer, row, running, sink),
            Some((first, rest)) => inner(first, rest, execution, outer, row, running, sink),
        },
        Join::Left { left, right, on, slots } => join(left, execution, outer, row, running, &mut |running, row| {
            let (mut is_matched, arena) = (false, Bump::new());
            let flow = join(right, execution, outer, row, running, &mut |running, row| {
                if !holds(on, row, outer, running, &arena)? {
                    return Ok(MORE);
                }
                is_matched = true;
                sink(running, row)
            })?;
            if is_matched || flow.is_break() {
                return Ok(flow);
            }
            let mut alone = row.to_vec();
            slots.iter().for_each(|slots| alone[slots.clone()].fill(Datum::Null));
            sink(running, &alone)
        }),
        Join::Filter { input, conditions } => {
            let mut arena = Bump::new();
            join(input, execution, outer, row, running, &mut |running, row| {
                arena.reset();
                if holds(conditions, row, outer, running, &arena)? { sink(running, row) } else { Ok(MORE) }
            })
        }
    }
}

fn inner(
    first: &Join,
    rest: &[Join],
    execution: &Execution<'_>,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    join(first, execution, outer, row, running, &mut |running, row| match rest {
        [] => sink(running, row),
        [next] => join(next, execution, outer, row, running, sink),
        [next, rest @ ..] => inner(next, rest, execution, outer, row, running, sink),
    })
}

fn source_rows(
    source: &Source,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let mut spare = Spare::take();
    match &source.kind {
        SourceKind::Table(table) => table_rows(source, table, outer, row, running, &mut spare, sink),
        SourceKind::Derived { plan, is_lateral } => {
            let mut flow = MORE;
            let mut with_row = outer.to_vec();
            with_row.push(row);
            let mut make = |running: &mut Running<'_>, sink: &mut Sink<'_>| run_query(plan, &with_row, running, sink);
            let mut show = |running: &mut Running<'_>, derived: &[Datum<'_>]| {
                flow = extended(source, row, derived, outer, running, &mut spare, sink)?;
                Ok(flow)
            };
            let shown = match is_lateral {
                true => make(running, &mut show),
                false => materialized::show(source, outer, row, running, &mut make, &mut show),
            };
            shown.map(|()| flow)
        }
        SourceKind::Virtual(table) => {
            let mut flow = MORE;
            let mut make =
                |running: &mut Running<'_>, sink: &mut Sink<'_>| virtual_rows(source, *table, outer, running, sink);
            let shown = materialized::show(source, outer, row, running, &mut make, &mut |running, made| {
                flow = extended(source, row, made, outer, running, &mut spare, sink)?;
                Ok(flow)
            });
            shown.map(|()| flow)
        }
        SourceKind::Working(number) => working_rows(source, *number, outer, row, running, &mut spare, sink),
    }
}

/// Rows of a table that is made up.
fn virtual_rows(
    source: &Source,
    table: &dyn VirtualTable,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let names = wanted_names(source, table, outer, running)?;
    let wanted = Wanted { database: names.database.as_deref(), table: names.table.as_deref() };
    let schema = Arc::clone(running.inside.engine.schema());
    let session = running.inside.facts.session();
    let view = View { schema: &schema, tables: running.inside.tables, zone: &running.context.zone, session };
    let mut rows = table.rows(&view, wanted);
    if let Some(session) = session {
        let names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
        session.account.grants().keep_visible(&names, &mut rows);
    }
    for made in rows {
        let values: Vec<Datum<'_>> = made.iter().map(Cell::datum).collect();
        if sink(running, &values)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// The rows that came last of a recursive table.
fn working_rows(
    source: &Source,
    number: usize,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    spare: &mut Memory,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let rows = running.inside.working.get(number).cloned().unwrap_or_default();
    for made in rows.iter() {
        let values: Vec<Datum<'_>> = made.iter().map(crate::expression::Value::get).collect();
        if extended(source, row, &values, outer, running, spare, sink)?.is_break() {
            return Ok(ENOUGH);
        }
    }
    Ok(MORE)
}

/// Shows a row with the values of a source behind it.
fn extended(
    source: &Source,
    row: &[Datum<'_>],
    values: &[Datum<'_>],
    outer: Outer<'_>,
    running: &mut Running<'_>,
    spare: &mut Memory,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    running.inside.facts.check_killed()?;
    spare.arena.reset();
    let mut full = recycle(std::mem::take(&mut spare.row));
    full.extend_from_slice(row);
    full[source.first_slot..source.first_slot + values.len()].copy_from_slice(values);
    let flow = match holds(&source.conditions, &full, outer, running, &spare.arena)? {
        true => sink(running, &full)?,
        false => MORE,
    };
    spare.row = recycle(full);
    Ok(flow)
}

/// Enters a table for this statement. Error: it has changed since the statement was planned.
pub fn enter(table: &TableSource, mode: TableMode, running: &mut Running<'_>) -> Result<TableHandle> {
    enter_table(&table.table, mode, running)
}

/// Enters a table that a statement changes.
pub fn enter_table(table: &KnownTable, mode: TableMode, running: &mut Running<'_>) -> Result<TableHandle> {
    let engine_table = table.engine();
    let handle = running.inside.engine.use_table(engine_table.id(), mode).map_err(Error::from_engine)?;
    match handle {
        Some(handle) if handle.is(engine_table) => Ok(handle),
        _ => Err(Error::from_engine(EngineError::TableChanged)),
    }
}

/// How the engine is to lock what a plan locks.
pub fn locking_of(plan: LockingPlan, running: &Running<'_>) -> Locking {
    Locking {
        mode: if plan.exclusive { Mode::Exclusive } else { Mode::Shared },
        gaps: running.inside.engine.isolation() >= Isolation::RepeatableRead,
        on_conflict: match plan.wait {
            LockWait::Wait => OnConflict::Wait(running.inside.lock_wait),
            LockWait::NoWait => OnConflict::Fail,
            LockWait::SkipLocked => OnConflict::Skip,
        },
    }
}

fn table_rows(
    source: &Source,
    table: &TableSource,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    spare: &mut Memory,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let is_exclusive = table.locking.is_some_and(|plan| plan.exclusive);
    let mode = if is_exclusive { TableMode::Write } else { TableMode::Read };
    let handle = enter(table, mode, running)?;
    let locking = table.locking.map(|plan| locking_of(plan, running));
    let flow = bounds_rows(source, table, &handle, locking, outer, row, running, spare, sink);
    if let Some(kept) = source.keeps_row {
        // An outer join has none behind the last.
        running.inside.found[kept] = None;
    }
    flow
}

#[allow(clippy::too_many_arguments)]
fn bounds_rows(
    source: &Source,
    table: &TableSource,
    handle: &TableHandle,
    locking: Option<Locking>,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    spare: &mut Memory,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let (stretches, implied) = bounds(table, row, outer, running)?;
    for bounds in stretches {
        // The first that is locked, if anything.
        let may_suspend = std::mem::take(&mut running.inside.may_suspend) && matches!(bounds, Bounds::Point(_));
        let locking = if may_suspend { locking.map(Locking::suspending) } else { locking };
        let flow = match bounds {
            Bounds::Point(key) if locking.is_none() && table.access.index == 0 => {
                one_row(source, table, handle, &key, implied, outer, row, running, spare, sink)?
            }
            bounds => {
                let Some(cursor) = cursor_of(table, handle, bounds, locking, implied) else { continue };
                if cursor.has_batches() {
                    batch_rows(source, table, cursor, implied, outer, row, running, spare, sink)?
                } else {
                    cursor_rows(source, table, cursor, implied, outer, row, running, spare, |running, found, row| {
                        // What is to be changed is kept while it is shown.
                        if let Some(kept) = source.keeps_row {
                            running.inside.found[kept] = Some(found.clone());
                        }
                        sink(running, row)
                    })?
                }
            }
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(MORE)
}

/// A cursor over what lies within these bounds: locking, or over what the statement's snapshot sees.
fn cursor_of<'t>(
    table: &TableSource,
    handle: &'t TableHandle,
    bounds: Bounds,
    locking: Option<Locking>,
    implied: ConditionSet,
) -> Option<RowCursor<'t>> {
    let (index, direction) = (table.access.index, table.access.direction);
    let consistent = |range| {
        let cursor = RowCursor::consistent(handle, index, range, direction, table.columns.iter().copied());
        cursor.without_keys(table.columns_where(implied).iter().copied())
    };
    Some(match (bounds, locking) {
        (Bounds::Empty, _) => return None,
        (Bounds::Point(key), Some(locking)) => RowCursor::locking_at(handle, index, &key, locking),
        (Bounds::Range(range), Some(locking)) => RowCursor::locking(handle, index, &range, direction, locking),
        (Bounds::Point(key), None) => consistent(KeyRange::beginning_with(key)),
        (Bounds::Range(range), None) => consistent(range),
    })
}

/// One row by its primary key.
#[allow(clippy::too_many_arguments)]
fn one_row(
    source: &Source,
    table: &TableSource,
    handle: &TableHandle,
    key: &[u8],
    implied: ConditionSet,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    spare: &mut Memory,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let rows = handle.rows();
    if !running.inside.engine.get(&rows.index, key, &mut spare.payload).map_err(Error::from_engine)? {
        running.inside.facts.count(Counter::HandlerReadKey, 1);
        return Ok(MORE);
    }
    running.inside.facts.count(Counter::HandlerReadKey, 1);
    running.inside.facts.count(Counter::InnodbRowsRead, 1);
    let damaged = |problem| Error::from_engine(EngineError::Corrupt { index: rows.index.id(), problem });
    let mut full = recycle(std::mem::take(&mut spare.row));
    full.extend_from_slice(row);
    let load = load_columns(source, table, running, &mut full);
    let columns = table.columns_where(implied);
    rows.layout.visit_columns(columns, key, &spare.payload, &mut spare.buffers, load).map_err(damaged)?;
    let flow = match holds_but(implied, &source.conditions, &full, outer, running, &spare.arena)? {
        true => sink(running, &full)?,
        false => MORE,
    };
    spare.row = recycle(full);
    Ok(flow)
}

/// Puts a table's columns, as the engine has them, in their slots of a row.
#[inline]
fn load_columns<'v>(
    source: &Source,
    table: &'v TableSource,
    running: &Running<'_>,
    row: &mut [Datum<'v>],
) -> impl FnMut(usize, Value<'v>) {
    let (slots, columns, context) = (&mut row[source.first_slot..], &table.table.columns, &*running.context);
    move |column, value| load_into(value, &columns[column].data_type, context, &mut slots[column])
}

/// Rows that a cursor reads from one look for a kill to the next.
const ROWS_BETWEEN_LOOKS: u64 = 16;

/// Rows that a cursor has read: counted when it goes.
struct ReadRows {
    facts: Option<Arc<SessionShared>>,
    rows: u64,
    /// The cursor has come to its end, and there could have been more: MySQL counts the look behind the last row.
    has_ended: bool,
    /// How it began, and what its rows are counted as.
    as_what: [Counter; 2],
}

impl ReadRows {
    fn new(access: &Access, running: &Running<'_>) -> Self {
        use Counter as C;
        let is_all =
            access.equal.is_empty() && access.low.is_none() && access.high.is_none() && access.any_of.is_empty();
        let as_what = match (is_all, access.direction) {
            (true, Direction::Ascending) if access.index == 0 => [C::HandlerReadFirst, C::HandlerReadRndNext],
            (true, Direction::Ascending) => [C::HandlerReadFirst, C::HandlerReadNext],
            (true, Direction::Descending) => [C::HandlerReadLast, C::HandlerReadPrev],
            (false, Direction::Ascending) => [C::HandlerReadKey, C::HandlerReadNext],
            (false, Direction::Descending) => [C::HandlerReadKey, C::HandlerReadPrev],
        };
        let facts = running.inside.facts.session().map(|facts| Arc::clone(&facts.shared));
        ReadRows { facts, rows: 0, has_ended: false, as_what }
    }

    /// One more has been read. Error: the statement was killed, which is asked with the first row, and then after some more each
    /// time.
    #[inline]
    fn count(&mut self, running: &mut Running<'_>) -> Result<()> {
        if self.rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
            running.inside.facts.check_killed()?;
        }
        self.rows += 1;
        Ok(())
    }
}

impl Drop for ReadRows {
    fn drop(&mut self) {
        if let Some(shared) = &self.facts {
            let [began, went_on] = self.as_what;
            let is_by_key = began == Counter::HandlerReadKey;
            shared.counters.add(Counter::HandlerReadKey, 1);
            if !is_by_key {
                shared.counters.add(began, 1);
            }
            // The first row by a key is not one that came next; of a scan it is.
            let steps = (self.rows + u64::from(self.has_ended))
                .saturating_sub(u64::from(went_on != Counter::HandlerReadRndNext));
            shared.counters.add(went_on, steps);
            shared.counters.add(Counter::InnodbRowsRead, self.rows);
        }
    }
}

/// What a cursor finds and the conditions hold for. `show` gets the row as the engine has it (of a locking read), and the
/// slots that conditions name.
#[allow(clippy::too_many_arguments)]
fn cursor_rows(
    source: &Source,
    table: &TableSource,
    mut cursor: RowCursor<'_>,
    implied: ConditionSet,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    spare: &mut Memory,
    mut show: impl FnMut(&mut Running<'_>, &FoundRow, &[Datum<'_>]) -> Result<Flow>,
) -> Result<Flow> {
    let unlocks = running.inside.engine.isolation() <= Isolation::ReadCommitted;
    let mut read = ReadRows::new(&table.access, running);
    let columns = table.columns_where(implied);
    let asks = !implied.has_first(source.conditions.len());
    while cursor.next(running.inside.engine).map_err(Error::from_engine)? {
        read.count(running)?;
        let (is_match, flow) = {
            let mut full = recycle(std::mem::take(&mut spare.row));
            full.extend_from_slice(row);
            let load = load_columns(source, table, running, &mut full);
            cursor.visit_columns(columns, &mut spare.buffers, load).map_err(Error::from_engine)?;
            let is_match = !asks || {
                spare.arena.reset();
                unknown_hold(implied, &source.conditions, &full, outer, running, &spare.arena)?
            };
            let flow = if is_match { show(running, cursor.row(), &full)? } else { MORE };
            spare.row = recycle(full);
            (is_match, flow)
        };
        if !is_match && unlocks {
            cursor.unlock(running.inside.engine);
        }
        if flow.is_break() {
            return Ok(flow);
        }
    }
    read.has_ended = !table.access.is_point;
    Ok(MORE)
}

/// As [`cursor_rows`], where the cursor has batches: their rows are there side by side, and are shown in the same slots, one
/// after the other.
#[allow(clippy::too_many_arguments)]
fn batch_rows(
    source: &Source,
    table: &TableSource,
    mut cursor: RowCursor<'_>,
    implied: ConditionSet,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    spare: &mut Memory,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    debug_assert!(source.keeps_row.is_none(), "rows that are to be changed are locked");
    let mut read = ReadRows::new(&table.access, running);
    let columns = table.columns_where(implied);
    let asks = !implied.has_first(source.conditions.len());
    let mut flow = MORE;
    while flow.is_continue()
        && let Some(batch) = cursor.next_batch(running.inside.engine).map_err(Error::from_engine)?
    {
        let mut full = recycle(std::mem::take(&mut spare.row));
        full.extend_from_slice(row);
        for stored in batch {
            read.count(running)?;
            let load = load_columns(source, table, running, &mut full);
            stored.visit_columns(columns, load).map_err(Error::from_engine)?;
            if asks {
                spare.arena.reset();
                if !unknown_hold(implied, &source.conditions, &full, outer, running, &spare.arena)? {
                    continue;
                }
            }
            flow = sink(running, &full)?;
            if flow.is_break() {
                break;
            }
        }
        spare.row = recycle(full);
    }
    read.has_ended = flow.is_continue() && !table.access.is_point;
    Ok(flow)
}

/// Gets a row as the engine has it, and the slots that conditions name.
pub type ShowFound<'s> = dyn FnMut(&mut Running<'_>, &FoundRow, &[Datum<'_>]) -> Result<Flow> + 's;

/// Rows of one table that are to be changed: found and locked, in the order in which they are found. `show` gets the row as
/// the engine has it, and the slots that conditions name.
pub fn rows_of_table(
    source: &Source,
    table: &TableSource,
    handle: &TableHandle,
    empty: &[Datum<'_>],
    running: &mut Running<'_>,
    show: &mut ShowFound<'_>,
) -> Result<()> {
    debug_assert!(table.locking.is_some(), "rows that are to be changed are locked");
    let locking = table.locking.map(|plan| locking_of(plan, running));
    let mut spare = Spare::take();
    let (stretches, implied) = bounds(table, empty, &[], running)?;
    for bounds in stretches {
        let Some(cursor) = cursor_of(table, handle, bounds, locking, implied) else { continue };
        if cursor_rows(source, table, cursor, implied, &[], empty, running, &mut spare, &mut *show)?.is_break() {
            break;
        }
    }
    Ok(())
}
