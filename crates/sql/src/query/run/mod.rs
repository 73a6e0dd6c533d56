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
//! 2. A kill is noticed between two rows. (`table_rows`: between some and the next.)

pub mod bounds;
pub mod execution;
pub mod first_rows;
pub mod group;
pub mod hash;
pub mod inside;
pub mod kept_rows;
pub mod kept_slots;
pub mod last_point;
pub mod limit;
pub mod materialized;
pub mod measure;
pub mod member_places;
pub mod parts;
pub mod projection;
pub mod recursive;
pub mod row_bytes;
pub mod row_numbers;
pub mod rows_to_change;
pub mod seen_rows;
pub mod set_operation;
pub mod sort;
pub mod source_rows;
pub mod spare;
pub mod spilled_rows;
pub mod table_rows;
pub mod top_rows;
pub mod wanted;

use std::ops::{ControlFlow, Range};

use bumpalo::Bump;
use meseta_types::Datum;

use self::execution::Execution;
use self::first_rows::FirstRows;
use self::inside::Running;
use self::limit::{Limited, limit_of};
use self::parts::Parts;
use self::projection::{Projection, SpareMemory, stretch_of_each, values_in};
use self::sort::Kept;
use self::source_rows::{measured, source_rows};
use self::spare::{Memory, Spare};
use self::table_rows::table_rows;
use crate::error::Result;
use crate::expression::Expr;
use crate::query::plan::{Access, Body, ConditionSet, Join, QueryPlan, SelectPlan, Source, SourceKind};

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
    let Some(limit) = &plan.limit else { return run_ordered(plan, None, outer, running, sink) };
    let (offset, count) = limit_of(limit, outer, running)?;
    if limit.counts_all {
        return run_counted(plan, offset, count, outer, running, sink);
    }
    if count == 0 {
        return Ok(());
    }
    let limited = Limited::new(offset, count);
    run_ordered(plan, Some(&limited), outer, running, &mut |running, row| limited.show(running, row, sink))
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
    run_ordered(plan, None, outer, running, &mut |running, row| {
        made += 1;
        if made > offset && made - offset <= count && flow.is_continue() {
            flow = sink(running, row)?;
        }
        Ok(MORE)
    })?;
    running.inside.rows_without_limit = Some(made);
    Ok(())
}

/// Runs a query without its LIMIT: its rows in their order, until no more are wanted; those that the LIMIT does not pass over, if they
/// go there.
fn run_ordered(
    plan: &QueryPlan,
    limited: Option<&Limited>,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    if plan.order.is_empty() {
        return run_body(plan, limited, outer, running, sink);
    }
    let arena = Bump::new();
    let mut kept = Kept::new(&arena, &plan.order, running.inside.memory_limit, limited.map(Limited::wanted));
    let mut of_row = Spare::take();
    run_body(plan, None, outer, running, &mut |running, row| {
        of_row.arena.reset();
        let keys = evaluate_all(values_in(&plan.order), row, outer, running, &of_row.arena)?;
        kept.add(&keys, row, running)?;
        Ok(MORE)
    })?;
    kept.sort(running)?;
    kept.show(running, sink)
}

fn run_body(
    plan: &QueryPlan,
    limited: Option<&Limited>,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    crate::stack::check()?;
    match &plan.body {
        Body::Select(select) => run_select(select, limited, outer, running, sink),
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
    Ok(conditions.is_empty() || others_hold(ConditionSet::default(), conditions, row, outer, running, arena)?)
}

/// Whether all conditions are true of a row, but those that are known to be.
pub fn others_hold(
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

/// A row as it is before a source has been read; wider ones are made.
static EMPTY_ROW: [Datum<'static>; 64] = [const { Datum::Null }; 64];

/// The table of a SELECT that shows nothing but columns of it, as they lie in a row, if nothing is done about its rows but to find
/// them; and where these columns are.
fn only_table(plan: &SelectPlan) -> Option<(&Source, Range<usize>)> {
    let (Some(Join::Source(0)), [source]) = (&plan.join, &plan.sources[..]) else { return None };
    let is_alone = matches!(source.kind, SourceKind::Table(_)) && plan.hashes.iter().all(Option::is_none);
    if is_alone && plan.constant.is_empty() && plan.width <= EMPTY_ROW.len() {
        stretch_of_each(plan).map(|stretch| (source, stretch))
    } else {
        None
    }
}

/// Runs a SELECT: its rows, or those that a LIMIT wants.
fn run_select(
    plan: &SelectPlan,
    limited: Option<&Limited>,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    if let Some((source, stretch)) = only_table(plan) {
        let mut show = |running: &mut Running<'_>, row: &[Datum<'_>]| sink(running, &row[stretch.clone()]);
        return measured(source, running, &mut show, |running, sink| {
            source_rows(source, outer, &EMPTY_ROW[..plan.width], running, sink)
        })
        .map(drop);
    }
    let mut memory = Spare::take();
    let Memory { row, items: spare_items, keys: spare_keys, arena: spare, kept: arena, .. } = &mut *memory;
    let arena: &Bump = arena;
    row.clear();
    row.resize(plan.width, Datum::Null);
    let row: &[Datum<'_>] = row;
    let is_possible = holds(&plan.constant, row, outer, running, arena)?;
    let rows = |first_rows: Option<&FirstRows<'_>>, running: &mut Running<'_>, sink: &mut Sink<'_>| -> Result<()> {
        let around = std::mem::take(&mut running.materialized);
        match &plan.join {
            _ if !is_possible => {}
            None => drop(sink(running, row)?),
            Some(node) => {
                let parts = Parts::default();
                loop {
                    let arena = Bump::new();
                    let execution = Execution::new(plan, outer, &arena, &parts, first_rows);
                    if execution.join(node, row, running, sink)?.is_break() || !parts.go_on() {
                        break;
                    }
                }
            }
        }
        running.materialized = around;
        Ok(())
    };
    if let Some(stretch) = stretch_of_each(plan) {
        return rows(None, running, &mut |running, row| sink(running, &row[stretch.clone()]));
    }
    let mut spare = SpareMemory { items: spare_items, keys: spare_keys, arena: spare };
    let memory_limit = running.inside.memory_limit;
    let (mut shown, wanted) = (0_u64, limited.map(Limited::wanted));
    // The first rows of the table that has the order, joined; all rows only if those have been too few.
    let early = plan.early_sort.filter(|_| is_possible).and_then(|early| Some((early, early.rows(wanted)?)));
    if let Some((early, most)) = early {
        let first_rows = FirstRows::read(plan, early, most, outer, running, arena, |running, sink| {
            let source = &plan.sources[early.source];
            measured(source, running, sink, |running, sink| source_rows(source, outer, row, running, sink))
        })?;
        let mut projection = Projection::new(plan, outer, arena, memory_limit, None, spare.reborrow()).of_sorted_rows();
        let mut is_enough = false;
        let mut take = |running: &mut Running<'_>, row: &[Datum<'_>]| {
            let flow = projection.take(running, row, &mut |running, items| {
                shown += 1;
                sink(running, items)
            })?;
            is_enough |= flow.is_break();
            Ok(flow)
        };
        let mut rows = |running: &mut Running<'_>, sink: &mut Sink<'_>| rows(Some(&first_rows), running, sink);
        match &plan.group {
            None => rows(running, &mut take)?,
            // (They are those of one row each.)
            Some(grouping) => group::run_sorted(grouping, plan, outer, running, &mut rows, &mut take)?,
        }
        if is_enough || first_rows.are_all {
            return Ok(());
        }
    }
    // (What has been shown comes first again.)
    let mut sink = |running: &mut Running<'_>, items: &[Datum<'_>]| match shown {
        0 => sink(running, items),
        _ => {
            shown -= 1;
            Ok(MORE)
        }
    };
    // (Rows that were shown before are made once more.)
    let limited = limited.filter(|_| early.is_none());
    let projection = Projection::new(plan, outer, arena, memory_limit, wanted, spare.reborrow());
    let mut projection = projection.passing_over(limited);
    let mut show = |running: &mut Running<'_>, row: &[Datum<'_>]| projection.take(running, row, &mut sink);
    let mut rows = |running: &mut Running<'_>, sink: &mut Sink<'_>| rows(None, running, sink);
    match &plan.group {
        None => rows(running, &mut show)?,
        Some(grouping) if is_possible && !grouping.ends.is_empty() => {
            let mut rows_by = |access: &Access, running: &mut Running<'_>, sink: &mut Sink<'_>| {
                rows_of_only_table(plan, access, outer, row, running, sink)
            };
            group::run_ends(grouping, plan, outer, running, &mut rows_by, &mut show)?;
        }
        Some(grouping) => group::run(grouping, plan, outer, running, &mut rows, &mut show)?,
    }
    projection.end(running, &mut sink)
}

/// Shows the rows of the only table of a SELECT, found by an access that is not the table's own.
fn rows_of_only_table(
    plan: &SelectPlan,
    access: &Access,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let Some(Join::Source(number)) = &plan.join else { return Ok(()) };
    let source = &plan.sources[*number];
    let SourceKind::Table(table) = &source.kind else { return Ok(()) };
    let mut spare = Spare::take();
    let read = |running: &mut Running<'_>, sink: &mut Sink<'_>| {
        table_rows(source, table, access, outer, row, running, &mut spare, sink)
    };
    measured(source, running, sink, read).map(drop)
}
