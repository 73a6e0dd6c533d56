//! The first rows of a join, in the order of the table that it begins with: that table is sorted before others are joined to it.
//!
//! ```text
//!   a LEFT JOIN b .. ORDER BY a.x LIMIT 20     a's first 20 rows by x; those joined with b: no more are wanted
//!   a JOIN b      .. ORDER BY a.x LIMIT 20     some more of a's rows, since not each may have a b; were they too few, all is joined
//!                                              and sorted, and what has been shown is passed over
//!   a LEFT JOIN b .. ORDER BY a.x              all of a's rows: fewer, and narrower, than those of the join
//!   a WHERE NOT EXISTS (SELECT ..)             as a join: the query is asked of some more of a's first rows than are wanted
//!     ORDER BY a.x LIMIT 20
//! ```
//! Otherwise all rows would be joined and kept, or asked a query, of which a few are shown.
//!
//! # Invariants
//! 1. Rows come in the order in which the sort of all of them has them: among equals, that in which the table was read.
//! 2. A table that locks its rows is read once: what a second read finds may be more. So is a join of which not the same is shown each
//!    time: RAND() in a condition.
//!
//! # Source
//! The manual, "LIMIT Query Optimization", "ORDER BY Optimization" (a sort of the first table that is not constant).

use crate::query::plan::join_tree::Shows;
use crate::query::plan::{EarlySort, Join, SortKey, Source, SourceKind};

impl EarlySort {
    /// For a join whose first rows are wanted in this order, before it is known whether its rows are shown as they come (no groups, no
    /// DISTINCT). `None` if the order is not one of the table that it begins with. It may be joined twice if few rows are wanted, and its
    /// conditions are true of the same ones again; it `filters_more` if not all joined rows are shown.
    pub fn new(
        sources: &[Source],
        join: &Option<Join>,
        order: &[SortKey],
        may_be_joined_twice: bool,
        filters_more: bool,
    ) -> Option<Self> {
        let join = join.as_ref().filter(|join| !matches!(join, Join::Source(_)))?;
        let number = join.first().filter(|number| has_order(&sources[*number], order))?;
        let shows_each = !filters_more && leaves_none_out(join);
        let may_be_too_few = may_be_joined_twice && may_be_read_twice(sources, number);
        (shows_each || may_be_too_few).then_some(Self { source: number, shows_each })
    }

    /// Has queries inside of conditions asked of the first rows only, where they would be asked of all rows of the table that a join
    /// begins with: behind the sort. On entry: the first rows are wanted in this order, and the rows may be joined twice.
    pub fn ask_queries_behind(sources: &mut [Source], join: &mut Option<Join>, order: &[SortKey]) {
        let Some(first) = join.as_mut().and_then(first_in) else { return };
        let &mut Join::Source(number) = first else { return };
        if !has_order(&sources[number], order) || !may_be_read_twice(sources, number) {
            return;
        }
        let behind = sources[number].take_conditions(|condition| condition.has_subquery());
        if !behind.is_empty() {
            let input = Box::new(Join::Source(number));
            *first = Join::Filter { input, conditions: behind };
        }
    }
}

/// Whether an order is one of this table's.
fn has_order(source: &Source, order: &[SortKey]) -> bool {
    let slots = source.slots();
    let is_own = |key: &SortKey| {
        let mut own = key.value.is_repeatable();
        key.value.columns(&mut |slot| own &= slots.contains(&slot));
        own
    };
    matches!(source.kind, SourceKind::Table(_)) && !order.is_empty() && order.iter().all(is_own)
}

/// Whether a join that begins with this source may be made twice.
fn may_be_read_twice(sources: &[Source], first: usize) -> bool {
    !sources[first].is_locked() && sources.iter().all(Source::is_repeatable)
}

/// The part of a join that is its first source.
fn first_in(join: &mut Join) -> Option<&mut Join> {
    match join {
        Join::Source(_) => Some(join),
        Join::Inner(joins) => joins.first_mut().and_then(first_in),
        Join::Left { left, .. } => first_in(left),
        Join::Filter { input, .. } | Join::First(input) => first_in(input),
    }
}

/// Whether a join shows each row of the source that it begins with.
fn leaves_none_out(join: &Join) -> bool {
    match join {
        Join::Source(_) => true,
        Join::Left { left, shows, .. } => *shows == Shows::All && leaves_none_out(left),
        Join::Inner(_) | Join::Filter { .. } | Join::First(_) => false,
    }
}
