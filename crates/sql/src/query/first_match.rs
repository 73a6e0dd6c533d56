//! Of rows that count once, however often they come, the first is enough: what is joined to them and not shown is looked for once.
//!
//! ```text
//!   SELECT DISTINCT u.name FROM u JOIN o ON o.u = u.id JOIN p ON p.o = o.id WHERE p.x = 3
//!
//!   Inner [ u, o, p ]      each o, and each p of it, of each u: the same name again and again
//!   Inner [ u, First [ o, p ] ]                       of each u the first o that has such a p
//!
//!   SELECT u.id FROM u LEFT JOIN o ON .. GROUP BY u.id               no o is looked for: there is a row in any case
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
use super::join_tree::Shows;
use super::plan::{GroupPlan, Join, Source, SourceKind};
use crate::expression::Expr;
use crate::expression::aggregate::AggregateFunction;

/// Whether a group's rows count once, or rows do that are in none.
fn count_once(do_rows: bool, group: Option<&GroupPlan>) -> bool {
    let takes_once = |function| {
        use AggregateFunction::{BitAnd, BitOr, Max, Min};
        matches!(function, Min | Max | BitAnd | BitOr)
    };
    group.map_or(do_rows, |group| group.aggregates.iter().all(|call| call.distinct || takes_once(call.function)))
}

/// The numbers of the sources that expressions show, which are all that is made of a join's rows; `None` if these are not looked for once.
pub fn shown_once<'e>(
    sources: &[Source],
    do_rows: bool,
    group: Option<&GroupPlan>,
    expressions: impl Iterator<Item = &'e Expr>,
) -> Option<HashSet<usize>> {
    let stays_alone = |source: &Source| source.is_locked() || source.keeps_row.is_some();
    if sources.len() < 2 || !count_once(do_rows, group) || sources.iter().any(stays_alone) {
        return None;
    }
    let (mut shown, mut is_repeatable) = (HashSet::new(), true);
    for expr in expressions {
        is_repeatable &= !expr.is_of_each_row();
        expr.columns_looked_at(&mut |slot| shown.extend(Source::position_of(sources, slot)));
    }
    is_repeatable.then_some(shown)
}

/// Has a join show the first of the rows that differ in nothing that is shown.
pub fn first_matches(join: Join, sources: &[Source], shown: &HashSet<usize>) -> Join {
    let split = Split { sources, shown };
    let (before, behind) = split.of(join, false);
    let behind = behind.map(|behind| if split.finds_more(&behind) { Join::First(Box::new(behind)) } else { behind });
    inner(before.into_iter().chain(behind).collect())
}

struct Split<'s> {
    sources: &'s [Source],
    shown: &'s HashSet<usize>,
}

impl Split<'_> {
    /// A join up to the last source that is shown, and what is behind that. Something is asked of its rows, or not.
    fn of(&self, join: Join, is_asked: bool) -> (Option<Join>, Option<Join>) {
        match join {
            Join::Source(number) if !self.shown.contains(&number) => (None, Some(join)),
            Join::Source(_) | Join::First(_) => (Some(join), None),
            Join::Inner(joins) if joins.is_empty() => (Some(Join::Inner(joins)), None),
            Join::Inner(mut joins) => {
                let mut behind = Vec::new();
                while let Some(last) = joins.pop() {
                    let (shown, last_behind) = self.of(last, is_asked || !behind.is_empty());
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
            // (A row of the left is there in any case.)
            Join::Left { left, shows: Shows::All, .. } if !is_asked => self.of(*left, false),
            Join::Left { left, right, when, on, slots, shows } => {
                let (shown, behind) = self.of(*left, true);
                let join = |left| Join::Left { left: Box::new(left), right, when, on, slots, shows };
                match (shown, behind, shows) {
                    (Some(shown), None, Shows::Matched | Shows::Unmatched) => (Some(join(shown)), None),
                    // (What is behind begins with the row before it.)
                    (shown, behind, _) => (shown, Some(join(behind.unwrap_or(Join::Inner(Vec::new()))))),
                }
            }
            Join::Filter { input, conditions } => {
                let filter = |input| Join::Filter { input: Box::new(input), conditions };
                match self.of(*input, true) {
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
