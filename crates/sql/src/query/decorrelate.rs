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
//! 2. A query that locks its rows, and finds them by an index and values of the row around it, stays: it locks few of them.
//!
//! # Source
//! Kim, "On optimizing an SQL-like nested query" (TODS 7(3), 1982); the manual, "Optimizing IN and EXISTS Subquery Predicates with
//! Semijoin and Antijoin Transformations", for when MySQL does it.

use std::collections::HashSet;

use meseta_types::{DataType, Datum, IntegerSize};

use super::bind::Tables;
use super::bound::{BoundSelect, name_columns};
use super::join::Planner;
use super::plan::{Body, Lookup, OutputColumn, QueryPlan, SelectPlan, Source, SourceKind, UnionOperand};
use crate::error::Result;
use crate::expression::{Compare, Comparer, ComparisonOperator, Expr, ExprKind, InSubquery, Value};

/// Has a query show what it compared with the row around it, and compare it no more: the values of that row, as it sees them itself, and
/// how each compares with the query's column of the same number. `None` if it looks at that row otherwise too; then it is of no more
/// use.
pub fn decorrelate(query: &mut BoundSelect) -> Option<(Vec<Expr>, Vec<Comparer>)> {
    let mut is_plain = query.group.is_none() && query.having.is_empty() && !query.keeps_order;
    query.tree.as_ref()?.conditions(&mut |condition| is_plain = is_plain && !looks_around(condition));
    is_plain &= query.conditions.iter().all(Expr::is_volatile_free);
    if !is_plain {
        return None;
    }
    let (around, own) = std::mem::take(&mut query.conditions).into_iter().partition(looks_around);
    let around: Vec<Expr> = around;
    query.conditions = own;
    query.items.clear();
    let (mut operands, mut comparers) = (Vec::new(), Vec::new());
    for condition in &around {
        let (own, mut around, comparer) = sides(condition)?;
        as_around(&mut around);
        name_columns(&own, &mut query.named_beside_where);
        query.items.push(own);
        operands.push(around);
        comparers.push(comparer);
    }
    query.order.clear();
    (query.distinct, query.is_limited) = (false, false);
    (!operands.is_empty()).then_some((operands, comparers))
}

/// A query for one value of what is looked for in it: `a.y IN (SELECT b.x FROM b WHERE b.z > 5)` as EXISTS (SELECT 1 FROM b WHERE b.z > 5
/// AND b.x = a.y); `None` if no index finds its rows by that.
pub fn by_value(query: BoundSelect, inside: &InSubquery, tables: &mut dyn Tables) -> Result<Option<QueryPlan>> {
    if !query.shows_rows_as_they_are() {
        return Ok(None);
    }
    let BoundSelect { mut sources, tree, mut conditions, items, width, .. } = query;
    let Some(tree) = tree else { return Ok(None) };
    let operands = inside.operand.as_row().unwrap_or(std::slice::from_ref(&inside.operand));
    let (truth, collation) = (DataType::integer(IntegerSize::Int, false), inside.operand.collation());
    // The row around it is the values alone.
    for (column, ((left, operand), comparer)) in (0..).zip(items.into_iter().zip(operands).zip(&inside.comparers)) {
        let right = Expr { kind: ExprKind::Outer { level: 0, column }, ..operand.clone() };
        let compare = Compare { operator: ComparisonOperator::Equal, comparer: *comparer, left, right };
        conditions.push(Expr::new(ExprKind::Compare(Box::new(compare)), truth.clone(), true, collation));
    }
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
    let column = OutputColumn::unnamed(&one);
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
