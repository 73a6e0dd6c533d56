//! About how many rows a query shows: what a derived table counts for where it is decided which source of a join is read first.
//!
//! ```text
//!   join           as its steps have it ([`super::step`])
//!   GROUP BY k     as many as k has values: an index tells, or else the square root of the table's rows
//!   HAVING         a share of them
//!   LIMIT n        n of them
//!   RECURSIVE      what it begins with, what is found from that, and what from that; what is made of nothing but itself is unknown
//! ```
//!
//! The square root is a guess: to take too few rows for a derived table costs a join more than to take too many. So are two steps of a recursion:
//! below most rows of a tree there is little, below a few of them nearly all.

use meseta_engine::table::IndexDefinition;

use super::estimate::{UNKNOWN, share_of};
use super::tables::Tables;
use crate::expression::Expr;
use crate::query::plan::{Body, GroupPlan, QueryPlan, Source, SourceKind};

/// For so many rows that came last a step of a recursion is planned.
pub const WORKING: f64 = 10.0;

/// About how many rows a query shows.
pub fn shown_rows(plan: &QueryPlan) -> f64 {
    match &plan.body {
        Body::Select(select) => select.shown_rows,
        Body::Values(rows) => rows.len() as f64,
        Body::SetOperation(set) => set.sides.iter().map(shown_rows).sum(),
        Body::Nested(plan) => shown_rows(plan),
        Body::Recursive(recursive) => recursive.rows,
    }
}

/// About how many rows a recursion comes to that begins with these.
pub fn rows_of_recursion(seeds: &[QueryPlan], steps: &[QueryPlan]) -> f64 {
    let seeds: f64 = seeds.iter().map(shown_rows).sum();
    let finds_rows = |step: &QueryPlan| match &step.body {
        Body::Select(select) => select.sources.iter().any(|source| !matches!(source.kind, SourceKind::Working(_))),
        _ => false,
    };
    let most = UNKNOWN.max(seeds);
    if !steps.iter().all(finds_rows) {
        return most;
    }
    let each = steps.iter().map(shown_rows).sum::<f64>() / WORKING;
    (seeds * (1.0 + each + each * each)).min(most)
}

/// About how many rows a SELECT shows whose join has so many.
pub fn rows_of_groups(
    joined: f64,
    group: Option<&GroupPlan>,
    shown_once: Option<&[Expr]>,
    having: &[Expr],
    sources: &[Source],
    tables: &mut dyn Tables,
) -> f64 {
    let mut rows = joined;
    if let Some(group) = group {
        rows = values_of(&group.keys, rows, sources, tables);
    }
    rows *= having.iter().map(share_of).product::<f64>();
    shown_once.map_or(rows, |items| values_of(items, rows, sources, tables)).max(1.0)
}

/// How many different values some expressions have together in so many rows.
fn values_of(keys: &[Expr], rows: f64, sources: &[Source], tables: &mut dyn Tables) -> f64 {
    let values = |key: &Expr| match key.as_column() {
        Some(slot) => values_of_column(slot, sources, tables),
        None if key.names_columns() => rows.sqrt(),
        None => 1.0,
    };
    keys.iter().map(values).product::<f64>().min(rows)
}

fn values_of_column(slot: u32, sources: &[Source], tables: &mut dyn Tables) -> f64 {
    let Some(source) = Source::position_of(sources, slot).map(|number| &sources[number]) else { return UNKNOWN };
    match &source.kind {
        SourceKind::Table(table) => {
            let statistics = tables.statistics(&table.table);
            let column = slot as usize - source.first_slot;
            let begins =
                |index: &IndexDefinition| index.parts.first().is_some_and(|part| usize::from(part.column) == column);
            let index = table.table.engine().definition.indexes.iter().position(begins);
            match index.filter(|&index| statistics.is_sampled(index)) {
                Some(index) => statistics.planned_rows() / statistics.rows_per_key(index, 1),
                None => statistics.planned_rows().sqrt(),
            }
        }
        SourceKind::Derived { plan, .. } => shown_rows(plan).sqrt(),
        SourceKind::Virtual(_) | SourceKind::Working(_) => UNKNOWN.sqrt(),
    }
}
