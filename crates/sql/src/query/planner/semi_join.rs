//! EXISTS of a query that looks at the row around it, as a join to that row.
//!
//! ```text
//!   FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE b.x = a.x AND b.y > a.y)
//!   FROM a ANTI JOIN b ON b.x = a.x AND b.y > a.y                              each row of a runs nothing: b is found by an index, or in memory
//!
//!   slots before    [ a: 0 1 ] aggregates: 2..        after    [ a: 0 1 ][ b: 2 3 ] 4..
//! ```
//! (What looks at that row by equalities alone is IN, and runs once: [`super::decorrelate`].)
//!
//! # Invariants
//! 1. A query that is joined shows rows of tables that meet conditions, whatever they show, with no group or LIMIT.
//!    (If its rows are locked, all are that are read, as without an index they would be in any case.)
//! 2. It looks at the row around it by an equality, too: an index finds what is equal, or memory does ([`crate::query::run::hash`]).
//! 3. No query inside of an expression names slots that have moved.
//!
//! # Source
//! The manual, "Optimizing IN and EXISTS Subquery Predicates with Semijoin and Antijoin Transformations".

use meseta_types::DataType;

use super::decorrelate::sides;
use super::merge::{Exchange, exchange, move_to};
use crate::expression::{Expr, ExprKind};
use crate::query::plan::Source;
use crate::query::plan::bound::{BoundSelect, name_columns};
use crate::query::plan::join_tree::{Shows, TABLES, Tree};

/// Joins to a SELECT those queries of which its WHERE asks whether they have a row; they have been kept as they were before they were planned,
/// with their numbers. Returns under which numbers the ranges of their own plans are known.
pub fn join_queries(query: &mut BoundSelect, kept: &mut Vec<(u32, BoundSelect)>) -> Vec<u32> {
    let mut blocks = Vec::new();
    if kept.is_empty() || query.tree.is_none() || !takes_joins(query) {
        return blocks;
    }
    let conditions = std::mem::take(&mut query.conditions).into_iter().flat_map(Expr::conjuncts);
    for condition in conditions.collect::<Vec<_>>() {
        match asked(&condition).and_then(|(number, shows)| Some((take(kept, number, query.sources.len())?, shows))) {
            Some((inner, shows)) => {
                blocks.push(inner.block);
                join(query, inner, shows);
            }
            None => query.conditions.push(condition),
        }
    }
    blocks
}

/// Whether [`join_queries`] would join some of these to a table of which these conditions are asked.
pub fn would_join(conditions: &[Expr], kept: &[(u32, BoundSelect)]) -> bool {
    let may_join = |number| kept.iter().any(|(own, inner)| *own == number && may_be_joined(inner, 1));
    conditions.iter().filter_map(asked).any(|(number, _)| may_join(number))
}

/// The number of the query of which a condition asks whether it has a row, and which rows it leaves.
fn asked(condition: &Expr) -> Option<(u32, Shows)> {
    match &condition.kind {
        ExprKind::Exists(query) => Some((query.number, Shows::Matched)),
        ExprKind::Not(operand) => match &operand.kind {
            ExprKind::Exists(query) => Some((query.number, Shows::Unmatched)),
            _ => None,
        },
        _ => None,
    }
}

/// The query of this number, if it may be joined to so many sources.
fn take(kept: &mut Vec<(u32, BoundSelect)>, number: u32, sources: usize) -> Option<BoundSelect> {
    let at = kept.iter().position(|(own, inner)| *own == number && may_be_joined(inner, sources))?;
    Some(kept.swap_remove(at).1)
}

/// Whether more may be joined to a query's rows: no query looks at its groups.
fn takes_joins(query: &BoundSelect) -> bool {
    let shown = query.items.iter().chain(&query.having).chain(query.order.iter().map(|key| &key.value));
    let mut of_groups = shown.chain(query.group.iter().flat_map(|group| group.expressions()));
    query.group.is_none() || !of_groups.any(Expr::has_correlated_subquery)
}

fn may_be_joined(inner: &BoundSelect, sources: usize) -> bool {
    let mut is_plain = inner.tree.is_some() && inner.group.is_none() && inner.having.is_empty();
    is_plain &= inner.limit.is_none() && !inner.keeps_order;
    is_plain &= !inner.sources.iter().any(Source::is_lateral);
    let mut ask = |condition: &Expr| is_plain &= condition.is_volatile_free() && !condition.has_correlated_subquery();
    inner.conditions.iter().for_each(&mut ask);
    inner.tree.iter().for_each(|tree| tree.conditions(&mut ask));
    let is_equality = |condition: &Expr| sides(condition).is_some_and(|(_, around, _)| is_of_nearest(&around));
    is_plain && inner.conditions.iter().any(is_equality) && sources + inner.sources.len() <= TABLES
}

/// Whether what a query inside names is of the row around it, and of none further out.
fn is_of_nearest(around: &Expr) -> bool {
    let (mut around, mut is_nearest) = (around.clone(), true);
    around.names_mut(&mut |name| is_nearest &= !matches!(name.kind, ExprKind::Outer { level: 1.., .. }));
    is_nearest
}

fn join(query: &mut BoundSelect, mut inner: BoundSelect, shows: Shows) {
    inner.items.clear();
    inner.order.clear();
    let first_slot = query.sources.last().map_or(0, |source| source.first_slot + source.width);
    let width = inner.sources.iter().map(|source| source.width).sum();
    let slots = (0..first_slot).map(|at| Expr::slot(at as u32, DataType::Null, true)).collect();
    exchange(query, &Exchange { slots, shift: width });
    move_to(&mut inner, first_slot, query.sources.len());
    query.sources.append(&mut inner.sources);
    query.names.append(&mut inner.names);
    let (Some(left), Some(right)) = (query.tree.take(), inner.tree) else { unreachable!("both read tables") };
    let tree = Tree::Left { left: Box::new(left), right: Box::new(right), on: inner.conditions, shows };
    tree.conditions(&mut |condition| name_columns(condition, &mut query.used));
    query.tree = Some(tree);
}
