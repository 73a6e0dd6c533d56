//! WITH ROLLUP, and GROUPING.
//!
//! ```text
//!   SELECT g + 1, GROUPING(g + 1), SUM(v) .. GROUP BY g + 1 WITH ROLLUP
//!            \__ over groups: the key's slot, NULL in the rows of all its values
//!                     \__ a slot of its own: a bit for each argument, set if the row is of all its values
//! ```

use meseta_errors::ER_FIELD_IN_GROUPING_NOT_GROUP_BY;

use super::full_group::Likeness;
use crate::error::{Error, Result};
use crate::expression::{Expr, ExprKind};
use crate::query::plan::{GroupPlan, RollupPlan, SortKey};

/// The expressions that are evaluated over groups.
pub struct OverGroups<'o> {
    /// What is shown.
    pub items: &'o mut Vec<Expr>,
    /// HAVING.
    pub having: &'o mut Vec<Expr>,
    /// ORDER BY.
    pub order: &'o mut Vec<SortKey>,
}

/// Puts slots in the place of keys and of GROUPING, where there is WITH ROLLUP. Returns how many slots a row has. Error 3602:
/// GROUPING asks for what is no key.
pub fn rewrite(
    group: &mut GroupPlan,
    rollup: bool,
    width: usize,
    likeness: &Likeness<'_>,
    over: &mut OverGroups<'_>,
) -> Result<usize> {
    let mut plan = RollupPlan { first_key: width, groupings: Vec::new() };
    let mut width = if rollup { width + group.keys.len() } else { width };
    let mut failed = None;
    let having = over.having.iter_mut();
    let all = over.items.iter_mut().chain(having).chain(over.order.iter_mut().map(|key| &mut key.value));
    for expr in all {
        replace(expr, &group.keys, rollup, likeness, &mut plan, &mut width, &mut failed);
    }
    if let Some(error) = failed {
        return Err(error);
    }
    group.rollup = rollup.then_some(plan);
    Ok(width)
}

fn replace(
    expr: &mut Expr,
    keys: &[Expr],
    rollup: bool,
    likeness: &Likeness<'_>,
    plan: &mut RollupPlan,
    width: &mut usize,
    failed: &mut Option<Error>,
) {
    if let ExprKind::Call(call) = &expr.kind
        && call.function.name == "grouping"
    {
        let mut asked = Vec::new();
        for (at, argument) in call.arguments.iter().enumerate() {
            match keys.iter().position(|key| likeness.same(key, argument)) {
                Some(key) => asked.push(key),
                None => {
                    failed.get_or_insert(Error::new(ER_FIELD_IN_GROUPING_NOT_GROUP_BY, &[&(at + 1)]));
                }
            }
        }
        if rollup {
            let slot = match plan.groupings.iter().find(|(other, _)| *other == asked) {
                Some((_, slot)) => *slot,
                None => {
                    *width += 1;
                    plan.groupings.push((asked, *width - 1));
                    *width - 1
                }
            };
            expr.kind = ExprKind::Column(slot as u32);
        }
        return;
    }
    if rollup && let Some(key) = keys.iter().position(|key| likeness.same(key, expr)) {
        expr.kind = ExprKind::Column((plan.first_key + key) as u32);
        expr.nullable = true;
        return;
    }
    expr.operands_mut(&mut |operand| replace(operand, keys, rollup, likeness, plan, width, failed));
}
