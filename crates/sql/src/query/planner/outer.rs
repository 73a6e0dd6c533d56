//! Outer joins that are inner joins: where a condition asked of their rows is never true of those that the join adds; and those of which
//! it is true of no others.
//!
//! ```text
//!   a LEFT JOIN b ON b.a_id = a.id WHERE b.y = 'q'            b.y is NULL in rows without b: NULL = 'q' is not true
//!   a JOIN b          ON b.a_id = a.id WHERE b.y = 'q'        may begin with b
//!
//!   a LEFT JOIN b ON b.a_id = a.id WHERE b.id IS NULL         rows without b alone: the first b decides (`Shows::Unmatched`)
//! ```
//!
//! # Invariants
//! 1. The rows that the conditions leave are the same.
//!
//! # Source
//! The manual, "Outer Join Simplification"; "EXPLAIN Output Format", *Not exists*.

use std::collections::HashSet;

use crate::expression::{ComparisonOperator, Expr, ExprKind};
use crate::query::plan::join_tree::{Shows, Tree};
use crate::query::plan::{Source, SourceKind};

/// Makes an inner join of each outer one that can be, under the conditions of WHERE.
pub fn simplify(tree: &mut Tree, conditions: &[Expr], sources: &[Source]) {
    let conditions: Vec<&Expr> = conditions.iter().collect();
    simplify_under(tree, &conditions, sources);
}

/// The same, where these conditions are asked of the tree's rows.
fn simplify_under(tree: &mut Tree, conditions: &[&Expr], sources: &[Source]) {
    if let Tree::Left { left, right, on, shows } = tree {
        let added = NullRow { slots: right.slots(sources) };
        let is_outer = !conditions.iter().any(|condition| added.is_left_out_by(condition));
        if *shows != Shows::All || is_outer {
            if *shows == Shows::All && leave_out_matched(conditions, right, sources) {
                *shows = Shows::Unmatched;
            }
            simplify_under(left, conditions, sources);
            return simplify_under(right, &on.iter().collect::<Vec<_>>(), sources);
        }
        let take = |side: &mut Tree| std::mem::replace(side, Tree::Source(0));
        *tree =
            Tree::Inner { inputs: vec![take(left), take(right)], conditions: std::mem::take(on), keeps_order: false };
    }
    if let Tree::Inner { inputs, conditions: on, .. } = tree {
        let conditions: Vec<&Expr> = conditions.iter().copied().chain(on.iter()).collect();
        inputs.iter_mut().for_each(|input| simplify_under(input, &conditions, sources));
    }
}

/// Whether conditions leave of an outer join with this right side only the rows that it adds: they ask for NULL in a column of the right
/// side that never has it where something matches.
fn leave_out_matched(conditions: &[&Expr], right: &Tree, sources: &[Source]) -> bool {
    let mut matched = Vec::new();
    matched_sources(right, &mut matched);
    let is_never_null = |slot: u32| {
        matched.iter().map(|number| &sources[*number]).any(|source| match &source.kind {
            SourceKind::Table(table) if source.slots().contains(&slot) => {
                !table.table.columns[slot as usize - source.first_slot].nullable
            }
            _ => false,
        })
    };
    conditions.iter().any(|condition| match &condition.kind {
        ExprKind::IsNull { operand, negated: false } => operand.as_column().is_some_and(is_never_null),
        _ => false,
    })
}

/// The sources of a join that have a row in each of its rows.
fn matched_sources(tree: &Tree, out: &mut Vec<usize>) {
    match tree {
        Tree::Source(number) => out.push(*number),
        Tree::Inner { inputs, .. } => inputs.iter().for_each(|input| matched_sources(input, out)),
        Tree::Left { left, .. } => matched_sources(left, out),
    }
}

/// What an outer join adds for its right side: NULL in all of these slots.
struct NullRow {
    slots: HashSet<u32>,
}

impl NullRow {
    /// Whether a condition is not true of such a row, whatever else is in it; false if that is not known.
    fn is_left_out_by(&self, condition: &Expr) -> bool {
        match &condition.kind {
            ExprKind::And(operands) => operands.iter().any(|operand| self.is_left_out_by(operand)),
            ExprKind::Or(operands) => operands.iter().all(|operand| self.is_left_out_by(operand)),
            ExprKind::IsNull { operand, negated: true } => self.is_null(operand),
            ExprKind::IsTruth { operand, truth: true, negated: false } => self.is_left_out_by(operand),
            ExprKind::IsTruth { operand, truth: false, negated: false } => self.is_null(operand),
            // (Of a row one value is enough: it is equal to no other.)
            ExprKind::InSubquery(inside) if !inside.negated => self.is_any_null(inside.operands()),
            ExprKind::In(list) if !list.negated => {
                self.is_any_null(list.operand.as_row().unwrap_or(std::slice::from_ref(&list.operand)))
            }
            ExprKind::Quantified(any) if !any.all => self.is_null(&any.left),
            _ => self.is_null(condition),
        }
    }

    /// Whether an expression is NULL in such a row; false if that is not known.
    fn is_null(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Column(slot) => self.slots.contains(slot),
            ExprKind::Chain(chain) => {
                self.is_null(&chain.first) || chain.steps.iter().any(|step| self.is_null(&step.right))
            }
            ExprKind::Compare(compare) if compare.operator != ComparisonOperator::NullSafeEqual => {
                self.is_null(&compare.left) || self.is_null(&compare.right)
            }
            ExprKind::And(operands) | ExprKind::Or(operands) => operands.iter().all(|operand| self.is_null(operand)),
            ExprKind::Xor(operands) => operands.iter().any(|operand| self.is_null(operand)),
            ExprKind::Negate(operand, _)
            | ExprKind::BitNot(operand)
            | ExprKind::Not(operand)
            | ExprKind::NumberOf(operand)
            | ExprKind::Convert(operand) => self.is_null(operand),
            ExprKind::Between(between) => self.is_null(&between.operand),
            ExprKind::In(list) => self.is_null(&list.operand),
            ExprKind::Like(like) => self.is_null(&like.operand) || self.is_null(&like.pattern),
            ExprKind::Cast(cast) => self.is_null(&cast.operand),
            ExprKind::Call(call) if call.function.is_null_of_null() => self.is_any_null(&call.arguments),
            _ => false,
        }
    }

    fn is_any_null(&self, operands: &[Expr]) -> bool {
        operands.iter().any(|operand| self.is_null(operand))
    }
}
