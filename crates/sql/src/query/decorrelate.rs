//! EXISTS of a query that compares its rows with the row around it, as IN of a query that does not.
//!
//! ```text
//!   EXISTS (SELECT 1 FROM b WHERE b.x = a.y AND b.z > 5)      a.y IN (SELECT b.x FROM b WHERE b.z > 5), and unknown is false
//!       runs for each row of a                                   runs once: its rows are kept, and looked for by their values
//! ```
//!
//! And the other way round, where few values are looked for and an index finds them: IN as EXISTS, for those few ([`by_value`]).
//!
//! # Invariants
//! 1. Only equalities with the row around it are taken out, and nothing that is left looks at that row: so what is left has the
//!    same rows for all of them.
//! 2. A query that finds its rows by an index and values of the row around it stays: it looks at few of them.
//!
//! # Source
//! Kim, "On optimizing an SQL-like nested query" (TODS 7(3), 1982); the manual, "Optimizing IN and EXISTS Subquery Predicates with
//! Semijoin and Antijoin Transformations", for when MySQL does it.

use std::collections::HashSet;

use meseta_types::{DataType, Datum, IntegerSize};

use super::bind::Tables;
use super::bound::{BoundSelect, name_columns};
use super::join::Planner;
use super::plan::{Body, Join, Lookup, OutputColumn, QueryPlan, SelectPlan, Source, SourceKind, UnionOperand};
use crate::error::Result;
use crate::expression::{Compare, Comparer, ComparisonOperator, Expr, ExprKind, InSubquery, Value};

/// What was compared with the row around a query.
pub struct Decorrelated {
    /// Values of that row, as it sees them itself.
    pub operands: Vec<Expr>,
    /// How each compares with the query's column of the same number.
    pub comparers: Vec<Comparer>,
    /// LIMIT: there is no row if it is 0.
    pub limit: Option<Expr>,
}

/// Has a query show what it compared with the row around it, and compare it no more. `None`, and the query is as it was, if it looks
/// at that row otherwise too.
pub fn decorrelate(plan: &mut QueryPlan) -> Option<Decorrelated> {
    let Body::Select(select) = &mut plan.body else { return None };
    let limit = match &plan.limit {
        Some(limit) if limit.offset.is_some() || limit.count.names_outer_columns() => return None,
        limit => limit.as_ref().map(|limit| limit.count.clone()),
    };
    let joined = inner_joined(select)?;
    let is_plain = select.group.is_none()
        && select.having.is_empty()
        && !select.constant.iter().any(looks_around)
        && !select.hashes.iter().flatten().flat_map(|hash| &hash.conditions).any(looks_around)
        && select.sources.iter().all(|source| joined.contains(&source.first_slot) && is_found_alone(source));
    if !is_plain {
        return None;
    }
    let around = |source: &Source| -> Vec<usize> {
        let conditions = source.conditions.iter().enumerate();
        conditions.filter(|(_, condition)| looks_around(condition)).map(|(at, _)| at).collect()
    };
    let taken: Vec<Vec<usize>> = select.sources.iter().map(around).collect();
    let are_equalities = select
        .sources
        .iter()
        .zip(&taken)
        .all(|(source, taken)| taken.iter().all(|&at| sides(&source.conditions[at]).is_some()));
    if !are_equalities || taken.iter().all(Vec::is_empty) {
        return None;
    }
    let mut found = Decorrelated { operands: Vec::new(), comparers: Vec::new(), limit };
    let mut items = Vec::new();
    for (source, taken) in select.sources.iter_mut().zip(taken) {
        for at in taken.into_iter().rev() {
            let (own, mut around, comparer) = sides(&source.take_out_condition(at))?;
            as_around(&mut around);
            items.push(own);
            found.operands.push(around);
            found.comparers.push(comparer);
        }
    }
    let column = |item: &Expr| OutputColumn {
        name: Box::default(),
        origin: None,
        data_type: item.data_type.clone(),
        nullable: item.nullable,
    };
    plan.columns = items.iter().map(column).collect::<Vec<_>>().into();
    plan.limit = None;
    select.items = items;
    (select.distinct, select.is_ordered_by_items, select.late_items) = (false, false, false);
    select.order.clear();
    Some(found)
}

/// A query for one value of what is looked for in it: `a.y IN (SELECT b.x FROM b WHERE b.z > 5)` as EXISTS (SELECT 1 FROM b WHERE b.z > 5
/// AND b.x = a.y); `None` if no index finds its rows by that.
pub fn by_value(query: BoundSelect, inside: &InSubquery, tables: &mut dyn Tables) -> Result<Option<QueryPlan>> {
    if !query.shows_rows_as_they_are() {
        return Ok(None);
    }
    let BoundSelect { mut sources, tree, mut conditions, mut items, width, .. } = query;
    let ([comparer], Some(tree)) = (&*inside.comparers, tree) else { return Ok(None) };
    // The row around it is the value alone.
    let value = Expr { kind: ExprKind::Outer { level: 0, column: 0 }, ..inside.operand.clone() };
    let compare =
        Compare { operator: ComparisonOperator::Equal, comparer: *comparer, left: items.remove(0), right: value };
    let truth = DataType::integer(IntegerSize::Int, false);
    let collation = inside.operand.collation();
    conditions.push(Expr::new(ExprKind::Compare(Box::new(compare)), truth.clone(), true, collation));
    let mut used = HashSet::new();
    tree.conditions(&mut |condition| name_columns(condition, &mut used));
    conditions.iter().for_each(|condition| name_columns(condition, &mut used));
    let mut planner = Planner::new(&mut sources, tables, &used);
    planner.choice.wants_all = false;
    let block = planner.choice.block;
    let planned = planner.plan(Some(tree), conditions, false)?;
    if sources.iter().all(is_found_alone) {
        tables.sizes().forget(block);
        return Ok(None);
    }
    let one = Expr::constant(Value::new(Datum::Signed(1)), truth, collation);
    let column = OutputColumn { name: Box::default(), origin: None, data_type: one.data_type.clone(), nullable: false };
    let select = SelectPlan {
        sources,
        hashes: planned.hashes,
        join: planned.join,
        constant: planned.constant,
        width,
        items: vec![one],
        ..SelectPlan::nothing()
    };
    Ok(Some(QueryPlan::new(Body::Select(Box::new(select)), vec![column])))
}

/// The first slots of the sources, if they are joined without outer joins, and nothing is asked of the whole that looks around.
fn inner_joined(select: &SelectPlan) -> Option<Vec<usize>> {
    let first_slot = |join: &Join| match join {
        Join::Source(number) => Some(select.sources[*number].first_slot),
        _ => None,
    };
    match select.join.as_ref()? {
        Join::Inner(joins) => joins.iter().map(first_slot).collect(),
        join => Some(vec![first_slot(join)?]),
    }
}

/// Whether a source's rows are found without the row around the query.
fn is_found_alone(source: &Source) -> bool {
    match &source.kind {
        SourceKind::Table(table) => {
            let looks_by = |lookup: &Lookup| match lookup {
                Lookup::EachOf(inside) => looks_around(&inside.operand),
                lookup => lookup.value().is_some_and(looks_around),
            };
            let looks_operand = |operand: &UnionOperand| looks_around(&operand.condition);
            table.access.loose.is_none()
                && !table.access.lookups().any(looks_by)
                && !table.access.union.iter().any(looks_operand)
        }
        SourceKind::Derived { plan, is_lateral } => {
            let mut looks = *is_lateral;
            plan.expressions(&mut |expr| looks = looks || looks_around(expr));
            !looks
        }
        SourceKind::Virtual(_) => true,
        SourceKind::Working(_) => false,
    }
}

/// Whether it looks at a row around the query, or a query inside may.
fn looks_around(expr: &Expr) -> bool {
    expr.names_outer_columns() || expr.has_correlated_subquery()
}

/// Of an equality between the query's rows and the row around it: the side of each, and how they compare.
fn sides(condition: &Expr) -> Option<(Expr, Expr, Comparer)> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    let Compare { operator: ComparisonOperator::Equal, comparer, left, right } = &**compare else { return None };
    let is_own = |side: &Expr| side.names_columns() && !looks_around(side) && side.is_repeatable();
    let is_around = |side: &Expr| side.names_outer_columns() && !side.names_columns() && side.is_repeatable();
    match (left, right) {
        (own, around) | (around, own) if is_own(own) && is_around(around) => {
            Some((own.clone(), around.clone(), *comparer))
        }
        _ => None,
    }
}

/// An expression of the query, as the row around it sees it.
fn as_around(expr: &mut Expr) {
    if let ExprKind::Outer { level, column } = expr.kind {
        expr.kind = match level {
            0 => ExprKind::Column(column),
            _ => ExprKind::Outer { level: level - 1, column },
        };
    }
    expr.operands_mut(&mut as_around);
}
