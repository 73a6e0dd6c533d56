//! A condition on a derived table, asked by its query itself.
//!
//! ```text
//!   SELECT * FROM (SELECT x, SUM(n) FROM a GROUP BY x) t WHERE t.x = 7             GROUP BY x  <-  WHERE x = 7
//!   SELECT * FROM (SELECT id FROM a UNION ALL SELECT k FROM b) t WHERE t.id = 7    each side   <-  WHERE id = 7, WHERE k = 7
//! ```
//! So an index finds its rows, where otherwise all would be made first. The query around it asks once more: this changes no answer.
//!
//! # Invariants
//! 1. What is asked inside names only columns that are the same for all rows of which a row is made: keys of groups.
//! 2. A query with LIMIT is not asked: other rows would be the first.
//!
//! # Source
//! The manual, "Derived Condition Pushdown Optimization".

use crate::expression::Expr;
use crate::query::plan::bound::{BoundSelect, name_columns};
use crate::query::plan::{Body, GroupPlan, QueryPlan, SelectPlan, Source};

/// The SELECTs of a derived table with what can be asked of them beside the rest; `None` if that is nothing. On entry: the source has
/// its conditions.
pub fn pushed(source: &mut Source) -> Option<Vec<BoundSelect>> {
    let mut selects = std::mem::take(&mut source.unplanned);
    let own = source.slots();
    let is_asked_alone = |condition: &&Expr| {
        let mut is_own = condition.names_columns();
        condition.columns(&mut |slot| is_own = is_own && own.contains(&slot));
        is_own && condition.is_repeatable() && !condition.names_outer_columns()
    };
    let mut is_any = false;
    for condition in source.conditions.iter().filter(is_asked_alone) {
        let inside: Option<Vec<Expr>> =
            selects.iter().map(|select| as_inside(condition, select, source.first_slot)).collect();
        for (select, condition) in selects.iter_mut().zip(inside.into_iter().flatten()) {
            is_any = true;
            name_columns(&condition, &mut select.used);
            select.conditions.push(condition);
        }
    }
    is_any.then_some(selects)
}

/// A condition on what a SELECT shows, as one of its own; `None` if it cannot be.
fn as_inside(condition: &Expr, select: &BoundSelect, first_slot: usize) -> Option<Expr> {
    let mut condition = condition.clone();
    let mut can_be = select.tree.is_some() && select.group.as_ref().is_none_or(|group| group.rollup.is_none());
    condition.names_mut(&mut |name| {
        let item = name.as_column().and_then(|column| select.items.get(column as usize - first_slot));
        let Some(item) = item.filter(|item| is_asked_as(item, name, select.group.as_ref())) else {
            can_be = false;
            return;
        };
        *name = item.clone();
    });
    can_be.then_some(condition)
}

/// Whether what is shown under a name may be asked before groups are made: it is of the same type, and the same for all of a group.
fn is_asked_as(item: &Expr, name: &Expr, group: Option<&GroupPlan>) -> bool {
    let is_key = |group: &GroupPlan| {
        item.as_column().is_some() && group.keys.iter().any(|key| key.as_column() == item.as_column())
    };
    item.data_type == name.data_type
        && item.collation() == name.collation()
        && item.is_repeatable()
        && group.is_none_or(is_key)
}

/// How many SELECTs a query is made of, one behind the other: itself, or the sides of set operations; `None` if there is something else.
pub fn selects_of(plan: &QueryPlan) -> Option<usize> {
    if plan.limit.is_some() {
        return None;
    }
    match &plan.body {
        Body::Select(_) => Some(1),
        Body::SetOperation(set) => Some(selects_of(&set.sides[0])? + selects_of(&set.sides[1])?),
        _ => None,
    }
}

/// Puts others in their place, in the same order.
pub fn replace_selects(plan: &mut QueryPlan, others: &mut dyn Iterator<Item = SelectPlan>) {
    match &mut plan.body {
        Body::Select(select) => {
            if let Some(other) = others.next() {
                **select = other;
            }
        }
        Body::SetOperation(set) => set.sides.iter_mut().for_each(|side| replace_selects(side, others)),
        _ => {}
    }
}
