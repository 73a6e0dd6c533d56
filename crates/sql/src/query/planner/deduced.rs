//! What follows from an OR over several sources: conditions that may be asked, or find rows, before all of these are there.
//!
//! ```text
//!   (a.x = b.x AND a.p = 1 AND b.q > 2) OR (a.x = b.x AND a.p = 3)     a.x = b.x     joins them
//!                                                                    a.p = 1 OR a.p = 3     is asked of a alone
//! ```
//!
//! # Invariants
//! 1. The OR stays, and is asked too: what follows may be true where it is not, and is never false or unknown where it is true.
//! 2. Nothing follows that has another value each time, or runs a query.

use std::collections::BTreeSet;

use crate::expression::{ComparisonOperator, Expr, ExprKind};

/// What follows from a condition; `source_of` tells whose a slot is.
pub fn deduced(condition: &Expr, source_of: impl Fn(u32) -> Option<usize>) -> Vec<Expr> {
    let Some([first, others @ ..]) = condition.as_or() else { return Vec::new() };
    let sources_of = |expr: &Expr| {
        let mut sources = BTreeSet::new();
        expr.columns(&mut |slot| sources.extend(source_of(slot)));
        sources
    };
    let sources = sources_of(condition);
    if sources.len() < 2 || !condition.is_repeatable() {
        return Vec::new();
    }
    let says = |operand: &Expr, pair| operand.as_conjuncts().iter().any(|conjunct| equated(conjunct) == Some(pair));
    let of_all =
        |conjunct: &&Expr| equated(conjunct).is_some_and(|pair| others.iter().all(|operand| says(operand, pair)));
    let joined = first.as_conjuncts().iter().filter(of_all).cloned();
    let of_one = sources.iter().filter_map(|source| {
        let alone = BTreeSet::from([*source]);
        let of_operand = |operand: &Expr| {
            let own: Vec<Expr> =
                operand.as_conjuncts().iter().filter(|conjunct| sources_of(conjunct) == alone).cloned().collect();
            match own.len() {
                0 => None,
                1 => own.into_iter().next(),
                _ => Some(truth(ExprKind::And(own), condition)),
            }
        };
        let operands = condition.as_or()?.iter().map(of_operand).collect::<Option<Vec<_>>>()?;
        Some(truth(ExprKind::Or(operands), condition))
    });
    joined.chain(of_one).collect()
}

/// The two columns that a condition says are equal.
fn equated(condition: &Expr) -> Option<(u32, u32)> {
    let comparison = condition.as_comparisons().next().filter(|found| found.operator == ComparisonOperator::Equal)?;
    let other = comparison.value.as_column()?;
    Some((comparison.column.min(other), comparison.column.max(other)))
}

/// An expression of the same type as another one.
fn truth(kind: ExprKind, like: &Expr) -> Expr {
    Expr { kind, data_type: like.data_type.clone(), nullable: true, collated: like.collated }
}
