//! What a plan is counted as at each of its executions: Select_scan and its relatives, Sort_scan, Created_tmp_tables.
//!
//! ```text
//! first table of a SELECT   all rows, or all of an index: Select_scan        a part of an index: Select_range
//! each one behind it        the same: Select_full_join                       the same: Select_full_range_join
//! ```
//! Tables of which at most one row is read, by constants, are none of these; nor is a row by the values of an index.
//! It follows from the plan alone, so it is found once and kept with it.
//!
//! Source: the manual's "Server Status Variables"; what a server of 9.7 counts.

use super::counters::Counter;
use crate::query::{Access, Body, Join, QueryPlan, SelectPlan, SourceKind, Subquery};

/// How a table is read, as far as it is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    All,
    Range,
    /// By values of an index, or a table of one row.
    Other,
}

/// The counters of a query, and of those in its expressions, with what is added to each.
pub(super) fn counters_of_query(plan: &QueryPlan, subqueries: &[Subquery]) -> Box<[(Counter, u64)]> {
    let mut counts = Vec::new();
    query(plan, &mut counts);
    subqueries.iter().for_each(|subquery| query(&subquery.plan, &mut counts));
    counts.into()
}

/// Those of queries in the expressions of a statement that is none.
pub(super) fn counters_of_subqueries(subqueries: &[Subquery]) -> Box<[(Counter, u64)]> {
    let mut counts = Vec::new();
    subqueries.iter().for_each(|subquery| query(&subquery.plan, &mut counts));
    counts.into()
}

fn add(counter: Counter, counts: &mut Vec<(Counter, u64)>) {
    match counts.iter_mut().find(|(known, _)| *known == counter) {
        Some((_, count)) => *count += 1,
        None => counts.push((counter, 1)),
    }
}

fn query(plan: &QueryPlan, counts: &mut Vec<(Counter, u64)>) {
    match &plan.body {
        Body::Select(plan) => select(plan, counts),
        Body::Values(_) => {}
        Body::Nested(plan) => query(plan, counts),
        Body::SetOperation(set) => {
            set.sides.iter().for_each(|side| query(side, counts));
            let is_kept = !set.all || set.operator != meseta_parser::ast::SetOperator::Union;
            if is_kept || !plan.order.is_empty() {
                add(Counter::CreatedTmpTables, counts);
                // What was kept is read.
                add(Counter::SelectScan, counts);
            }
            if !plan.order.is_empty() {
                add(Counter::SortScan, counts);
            }
        }
        Body::Recursive(recursive) => {
            recursive.seeds.iter().chain(&recursive.steps).for_each(|part| query(part, counts));
            add(Counter::CreatedTmpTables, counts);
        }
    }
}

fn select(plan: &SelectPlan, counts: &mut Vec<(Counter, u64)>) {
    let mut is_first = true;
    for number in plan.join.iter().flat_map(Join::numbers) {
        let Some(source) = plan.sources.get(number) else { continue };
        let read = match &source.kind {
            SourceKind::Table(table) => read_of(&table.access),
            SourceKind::Derived { plan, .. } => {
                query(plan, counts);
                add(Counter::CreatedTmpTables, counts);
                Read::All
            }
            SourceKind::Virtual(_) | SourceKind::Working(_) => Read::All,
        };
        let is_constant = matches!(&source.kind, SourceKind::Table(table) if is_constant(&table.access));
        if is_constant {
            continue;
        }
        match (read, is_first) {
            (Read::All, true) => add(Counter::SelectScan, counts),
            (Read::All, false) => add(Counter::SelectFullJoin, counts),
            (Read::Range, true) => add(Counter::SelectRange, counts),
            (Read::Range, false) => add(Counter::SelectFullRangeJoin, counts),
            (Read::Other, _) => {}
        }
        is_first = false;
    }
    if plan.group.as_ref().is_some_and(|group| !group.keys.is_empty() && !group.is_sorted) || plan.distinct {
        add(Counter::CreatedTmpTables, counts);
    }
    if !plan.order.is_empty() {
        // (9.7 counts no Sort_range any more: its sort does not look at what is below.)
        add(Counter::SortScan, counts);
    }
}

fn read_of(access: &Access) -> Read {
    let has_bounds = access.low.is_some() || access.high.is_some();
    let is_range = has_bounds || !access.is_one_stretch() || access.loose.is_some();
    match (is_range, access.equal.is_empty()) {
        (true, _) => Read::Range,
        (false, true) => Read::All,
        (false, false) => Read::Other,
    }
}

/// Whether at most one row is read, by values that are known before.
fn is_constant(access: &Access) -> bool {
    let is_known = |lookup: &crate::query::Lookup| lookup.value().is_none_or(|value| value.is_constant());
    access.is_one_point() && access.equal.iter().all(is_known)
}
