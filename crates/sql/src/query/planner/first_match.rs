//! Of rows that count once, however often they come, the first is enough: what is joined to them and not shown is looked for once.
//!
//! ```text
//!   SELECT DISTINCT u.name FROM u JOIN o ON o.u = u.id JOIN p ON p.o = o.id WHERE p.x = 3
//!
//!   Inner [ u, o, p ]      each o, and each p of it, of each u: the same name again and again
//!   Inner [ u, First [ o, p ] ]                       of each u the first o that has such a p
//! ```
//! Rows count once for DISTINCT, for a group of which nothing is told but what is least, greatest, or different, for IN and EXISTS, and on
//! the sides of a UNION that shows each row once.
//!
//! # Invariants
//! 1. Sources are read in the order that was chosen without this: those behind the last one that is shown are looked for once.
//! 2. It does not matter how often a row comes, no expression has another value each time or sets a variable, and
//!    no row is locked or changed.
//!
//! # Source
//! The manual, "DISTINCT Optimization". MySQL stops at the first row of the last table alone.

use std::collections::HashSet;

use super::join::inner;
use crate::expression::aggregate::AggregateFunction;
use crate::query::plan::bound::BoundSelect;
use crate::query::plan::join_tree::Shows;
use crate::query::plan::{GroupPlan, Join, Source, SourceKind};

/// Whether it does not matter how often a row comes from a query's tables: no expression has another value each time.
pub fn counts_once(select: &BoundSelect) -> bool {
    let mut is_repeatable = true;
    select.expressions(&mut |expr| is_repeatable &= !expr.is_of_each_row());
    let takes_once = |function| {
        use AggregateFunction::{BitAnd, BitOr, Max, Min};
        matches!(function, Min | Max | BitAnd | BitOr)
    };
    is_repeatable
        && match &select.group {
            Some(group) => group.aggregates.iter().all(|call| call.distinct || takes_once(call.function)),
            None => select.distinct || select.is_set,
        }
}

/// The numbers of the sources that a query shows, which are all that is made of its rows; `None` if rows count more often than once.
pub fn shown_once(select: &BoundSelect) -> Option<HashSet<usize>> {
    let stays = |source: &Source| source.is_locked() || source.keeps_row.is_some();
    if select.sources.len() < 2 || !counts_once(select) || select.sources.iter().any(stays) {
        return None;
    }
    let mut shown = HashSet::new();
    let expressions = select.items.iter().chain(&select.having).chain(select.order.iter().map(|key| &key.value));
    for expr in expressions.chain(select.group.iter().flat_map(GroupPlan::expressions)) {
        expr.columns_looked_at(&mut |slot| shown.extend(Source::position_of(&select.sources, slot)));
    }
    Some(shown)
}

/// Has a join show the first of the rows that differ in nothing that is shown.
pub fn first_matches(join: Join, sources: &[Source], shown: &HashSet<usize>) -> Join {
    let split = Split { sources, shown };
    let (before, behind) = split.of(join);
    let behind = behind.map(|behind| if split.finds_more(&behind) { Join::First(Box::new(behind)) } else { behind });
    inner(before.into_iter().chain(behind).collect())
}

struct Split<'s> {
    sources: &'s [Source],
    shown: &'s HashSet<usize>,
}

impl Split<'_> {
    /// A join up to the last source that is shown, and what is behind that.
    fn of(&self, join: Join) -> (Option<Join>, Option<Join>) {
        match join {
            Join::Source(number) if !self.shown.contains(&number) => (None, Some(join)),
            Join::Source(_) | Join::First(_) => (Some(join), None),
            Join::Inner(joins) if joins.is_empty() => (Some(Join::Inner(joins)), None),
            Join::Inner(mut joins) => {
                let mut behind = Vec::new();
                while let Some(last) = joins.pop() {
                    let (shown, last_behind) = self.of(last);
                    behind.splice(0..0, last_behind);
                    if shown.is_some() {
                        joins.extend(shown);
                        break;
                    }
                }
                let some = |joins: Vec<Join>| (!joins.is_empty()).then(|| inner(joins));
                (some(joins), some(behind))
            }
            Join::Left { ref right, .. } if self.shows(right) => (Some(join), None),
            Join::Left { left, right, when, on, slots, shows } => {
                let (shown, behind) = self.of(*left);
                let join = |left| Join::Left { left: Box::new(left), right, when, on, slots, shows };
                match (shown, behind, shows) {
                    (Some(shown), None, Shows::Matched | Shows::Unmatched) => (Some(join(shown)), None),
                    // (What is behind begins with the row before it.)
                    (shown, behind, _) => (shown, Some(join(behind.unwrap_or(Join::Inner(Vec::new()))))),
                }
            }
            Join::Filter { input, conditions } => {
                let filter = |input| Join::Filter { input: Box::new(input), conditions };
                match self.of(*input) {
                    (shown, Some(behind)) => (shown, Some(filter(behind))),
                    (shown, None) => (shown.map(filter), None),
                }
            }
        }
    }

    /// Whether a source of a join is shown.
    fn shows(&self, join: &Join) -> bool {
        join.numbers().into_iter().any(|number| self.shown.contains(&number))
    }

    /// Whether a join may find more than one row.
    fn finds_more(&self, join: &Join) -> bool {
        let finds_more = |number: usize| match &self.sources[number].kind {
            SourceKind::Table(table) => !table.access.is_one_point(),
            SourceKind::Derived { .. } | SourceKind::Virtual(_) | SourceKind::Working(_) => true,
        };
        join.numbers().into_iter().any(finds_more)
    }
}
