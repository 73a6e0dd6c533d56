//! Which sources' rows are kept in memory, by which values: those of a join without an index.
//!
//! ```text
//!   a JOIN b ON a.x = b.y AND b.z > 5 AND a.u < b.v      keys: a.x = b.y     b asks: z > 5     asked of candidates: a.u < b.v
//! ```
//! [`crate::query::run::hash`] keeps and finds them.

use crate::expression::comparison_key::has_keys;
use crate::expression::{ComparisonOperator, Expr, ExprKind};
use crate::query::plan::{ConditionSet, HashKey, HashPlan, Source, SourceKind};

/// What an expression looks at.
#[derive(PartialEq, Eq)]
enum Looks {
    AtNothing,
    AtSource,
    Before,
    AtBoth,
}

fn looks(expr: &Expr, source: &Source) -> Looks {
    let own = source.slots();
    let (mut at_source, mut before) = (false, false);
    expr.columns(&mut |slot| if own.contains(&slot) { at_source = true } else { before = true });
    match (at_source, before) {
        (false, false) => Looks::AtNothing,
        (true, false) => Looks::AtSource,
        (false, true) => Looks::Before,
        (true, true) => Looks::AtBoth,
    }
}

/// How to keep the rows of a source that is read for each row of those before it; `None` if they are found better. If they
/// are kept, the plan has the source's conditions, and the source those that name nothing else.
pub fn plan(source: &mut Source) -> Option<HashPlan> {
    match &source.kind {
        SourceKind::Table(table) => {
            let access = &table.access;
            if access.is_by_row() || access.is_point || table.locking.is_some_and(|plan| plan.exclusive) {
                return None;
            }
        }
        SourceKind::Derived { is_lateral: true, .. } => return None,
        // Its rows are others in each round.
        SourceKind::Working(_) => return None,
        SourceKind::Derived { .. } | SourceKind::Virtual(_) => {}
    }
    let (mut keys, mut local, mut implied) = (Vec::new(), Vec::new(), ConditionSet::default());
    for (number, condition) in source.conditions.iter().enumerate() {
        // (There may be more candidates than rows: a query that runs once is asked of each row, too.)
        let is_asked_once_a_row = condition.is_volatile_free() && !condition.has_correlated_subquery();
        if is_asked_once_a_row && looks(condition, source) == Looks::AtSource {
            local.push(condition.clone());
        } else if let Some(key) = key(condition, source) {
            keys.push(key);
        } else {
            continue;
        }
        implied.insert(number);
    }
    // Without a key a table is read again, and what is made up is kept by `materialized`.
    if keys.is_empty() {
        return None;
    }
    let conditions = std::mem::replace(&mut source.conditions, local);
    if let SourceKind::Table(table) = &mut source.kind {
        // (Numbers of the conditions that were.)
        table.access.implied = ConditionSet::default();
    }
    Some(HashPlan { keys, conditions, implied })
}

/// Whether a condition finds a source's rows in memory by the values of others.
pub fn is_key(condition: &Expr, source: &Source) -> bool {
    key(condition, source).is_some()
}

/// A condition as a key, if it is an equality between a source and those before it.
fn key(condition: &Expr, source: &Source) -> Option<HashKey> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    let is_equality = compare.operator == ComparisonOperator::Equal && condition.is_repeatable();
    if !is_equality || !has_keys(&compare.comparer) {
        return None;
    }
    let (probe, build) = match (looks(&compare.left, source), looks(&compare.right, source)) {
        (Looks::Before, Looks::AtSource) => (&compare.left, &compare.right),
        (Looks::AtSource, Looks::Before) => (&compare.right, &compare.left),
        _ => return None,
    };
    Some(HashKey { probe: probe.clone(), build: build.clone(), comparer: compare.comparer })
}
