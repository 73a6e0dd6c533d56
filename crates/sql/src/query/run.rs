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

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::rc::Rc;
use std::sync::Arc;

use bumpalo::Bump;
use meseta_types::Datum;
use smallvec::SmallVec;

use super::early_sort::FirstRows;
use super::hash::Built;
use super::inside::{Inside, Running};
use super::limit::{Limited, limit_of};
use super::parts::{Parts, may_have_parts};
use super::plan::{Access, Body, ConditionSet, Join, QueryPlan, SelectPlan, Source, SourceKind, TableSource};
use super::projection::{Projection, SpareMemory, stretch_of_each, values_in};
use super::sort::Kept;
use super::spare::{Memory, Spare, recycle};
use super::table_rows::table_rows;
use super::wanted::wanted_names;
use super::{group, materialized, recursive, set_operation};
use crate::error::Result;
use crate::expression::Expr;
use crate::schema::information::{Cell, View, VirtualTable, Wanted};

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
                    let (arena, built, points) = (Bump::new(), RefCell::default(), RefCell::default());
                    let execution =
                        Execution { plan, arena: &arena, built: &built, points: &points, parts: &parts, first_rows };
                    if join(node, &execution, outer, row, running, sink)?.is_break() || !parts.go_on() {
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

/// A SELECT that runs: what it keeps of its sources.
struct Execution<'e, 'a, 'f> {
    plan: &'a SelectPlan,
    arena: &'a Bump,
    /// For each source that is kept in memory, once it has been asked for: its rows, or that they are too many.
    built: &'e RefCell<Vec<Option<Option<Rc<Built<'a>>>>>>,
    /// For each source of which one row is looked for at a time, once it has been asked for: its memory, with the last row.
    points: &'e RefCell<SmallVec<[Option<Spare>; 4]>>,
    /// Which part of one whose rows are too many is joined.
    parts: &'e Parts,
    /// The rows of the source that the join begins with, if they have been read.
    first_rows: Option<&'e FirstRows<'f>>,
}

/// Shows the rows of one source, from memory if they are kept there.
fn one_source<'a>(
    number: usize,
    execution: &Execution<'_, 'a, '_>,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let source: &'a Source = &execution.plan.sources[number];
    if let Some(first_rows) = execution.first_rows
        && first_rows.number == number
    {
        return first_rows.show(row, running, sink);
    }
    measured(source, running, sink, |running, sink| kept_or_read(source, number, execution, outer, row, running, sink))
}

/// Shows what `read` shows of a source, and measures it for EXPLAIN ANALYZE.
fn measured(
    source: &Source,
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
    read: impl FnOnce(&mut Running<'_>, &mut Sink<'_>) -> Result<Flow>,
) -> Result<Flow> {
    match running.inside.measures.clone() {
        Some(measures) => measures.measure(source, running, sink, read),
        None => read(running, sink),
    }
}

fn kept_or_read<'a>(
    source: &'a Source,
    number: usize,
    execution: &Execution<'_, 'a, '_>,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let Some(Some(hash)) = execution.plan.hashes.get(number) else {
        return match &source.kind {
            SourceKind::Table(table) if table.access.is_one_point() && execution.plan.sources.len() > 1 => {
                one_point(source, number, table, execution, outer, row, running, sink)
            }
            _ => source_rows(source, outer, row, running, sink),
        };
    };
    let known = execution.built.borrow().get(number).cloned().flatten();
    let built = match known {
        Some(built) => built,
        None => {
            let passed = execution.parts.passed(number);
            let built = Built::new(source, hash, passed, outer, running, execution.arena, &mut |running, sink| {
                source_rows(source, outer, row, running, sink).map(drop)
            })?;
            let may_be_part = || execution.first_rows.is_none() && may_have_parts(execution.plan);
            let is_kept = !built.is_part || may_be_part() && execution.parts.ends_at(number, built.read);
            let built = is_kept.then(|| Rc::new(built));
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

/// Shows the row of a table that has the key that is looked for: from memory, if it was the last one.
#[expect(clippy::too_many_arguments, reason = "what is read, beside what, and for whom")]
fn one_point(
    source: &Source,
    number: usize,
    table: &TableSource,
    execution: &Execution<'_, '_, '_>,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let lent = execution.points.borrow_mut().get_mut(number).and_then(Option::take);
    let mut spare = lent.unwrap_or_else(|| {
        let mut spare = Spare::take();
        spare.last.note_values(&table.access);
        spare
    });
    let flow = table_rows(source, table, &table.access, outer, row, running, &mut spare, sink);
    let mut points = execution.points.borrow_mut();
    if points.len() <= number {
        points.resize_with(number + 1, || None);
    }
    points[number] = Some(spare);
    flow
}

/// Shows the rows of a join, each an extension of `row`.
fn join(
    node: &Join,
    execution: &Execution<'_, '_, '_>,
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
        Join::Left { left, right, on, slots, is_anti } => {
            join(left, execution, outer, row, running, &mut |running, row| {
                let (mut is_matched, arena) = (false, Bump::new());
                let flow = join(right, execution, outer, row, running, &mut |running, row| {
                    if !holds(on, row, outer, running, &arena)? {
                        return Ok(MORE);
                    }
                    is_matched = true;
                    if *is_anti { Ok(ENOUGH) } else { sink(running, row) }
                })?;
                if is_matched && *is_anti {
                    return Ok(MORE);
                }
                if is_matched || flow.is_break() {
                    return Ok(flow);
                }
                // (Nobody has filled them yet, as a rule.)
                if slots.iter().all(|slots| row[slots.clone()].iter().all(|value| value.is_null())) {
                    return sink(running, row);
                }
                let mut alone = row.to_vec();
                slots.iter().for_each(|slots| alone[slots.clone()].fill(Datum::Null));
                sink(running, &alone)
            })
        }
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
    execution: &Execution<'_, '_, '_>,
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
        SourceKind::Table(table) => table_rows(source, table, &table.access, outer, row, running, &mut spare, sink),
        SourceKind::Derived { plan, is_lateral, .. } => {
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
    let Inside { tables, statistics, .. } = running.inside;
    let view = View { schema: &schema, tables, statistics, zone: &running.context.zone, session };
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
