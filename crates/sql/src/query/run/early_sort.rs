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

use std::cell::Cell;

use bumpalo::Bump;
use meseta_types::Datum;

use super::inside::Running;
use super::member_places::MemberPlaces;
use super::projection::values_in;
use super::sort::{Kept, KeyPlaces};
use super::spare::{Spare, recycle};
use super::{Flow, MORE, Outer, Sink, evaluate_into};
use crate::error::Result;
use crate::query::plan::join_tree::Shows;
use crate::query::plan::{Join, SelectPlan, SortKey, Source, SourceKind};
use crate::query::planner::join::first_of;

/// Where not each of its rows is shown, so many times those that are wanted are joined, and no fewer than [`ROWS_MIN`].
const ROWS: u64 = 4;
/// See [`ROWS`].
const ROWS_MIN: u64 = 256;

/// What is sorted early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EarlySort {
    /// The source that the join begins with.
    pub source: usize,
    /// Whether each of its rows is shown, once or more: what is joined to it leaves none out.
    shows_each: bool,
}

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
        let number = first_of(join).filter(|number| has_order(&sources[*number], order))?;
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

    /// How many of the source's rows are joined first, if so many are wanted: `None` if none are, `Some(None)` if all are.
    pub fn rows(self, wanted: Option<u64>) -> Option<Option<u64>> {
        match (wanted, self.shows_each) {
            (_, true) => Some(wanted),
            (Some(wanted), false) => Some(Some(wanted.saturating_mul(ROWS).max(ROWS_MIN))),
            (None, false) => None,
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

/// The first rows of the source, in order.
pub struct FirstRows<'a> {
    /// The source.
    pub number: usize,
    source: &'a Source,
    /// Until they are shown.
    kept: Cell<Option<Kept<'a>>>,
    /// Whether it has no others.
    pub are_all: bool,
}

impl<'a> FirstRows<'a> {
    /// Reads the source, and keeps so many of the rows that come first, or all of them. `read` shows all of its rows.
    pub fn read(
        plan: &'a SelectPlan,
        early: EarlySort,
        most: Option<u64>,
        outer: Outer<'_>,
        running: &mut Running<'_>,
        arena: &'a Bump,
        read: impl FnOnce(&mut Running<'_>, &mut Sink<'_>) -> Result<Flow>,
    ) -> Result<Self> {
        let source = &plan.sources[early.source];
        let (mut rows, mut spare, slots) = (0, Spare::take(), slots_of(source));
        let place_of = |column: u32| (column as usize).checked_sub(slots.start).filter(|place| *place < slots.len());
        let kept = Kept::new(arena, &plan.order, running.inside.memory_limit, most);
        let kept = kept.with_members(MemberPlaces::in_columns(source));
        let mut kept = kept.with_keys(KeyPlaces::among(&plan.order, place_of));
        let _ = read(running, &mut |running, row| {
            rows += 1;
            spare.arena.reset();
            let mut keys = recycle(std::mem::take(&mut spare.keys));
            evaluate_into(&mut keys, values_in(&plan.order), row, outer, running, &spare.arena)?;
            kept.add(&keys, &row[slots.clone()], running)?;
            spare.keys = recycle(keys);
            Ok(MORE)
        })?;
        kept.sort(running)?;
        let kept = Cell::new(Some(kept));
        Ok(Self { number: early.source, source, kept, are_all: most.is_none_or(|most| rows <= most) })
    }

    /// Shows them, each an extension of `row`: once.
    pub fn show(&self, row: &[Datum<'_>], running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<Flow> {
        let (mut flow, mut spare) = (MORE, Vec::new());
        let Some(kept) = self.kept.take() else { return Ok(flow) };
        kept.show(running, &mut |running, values| {
            running.inside.facts.check_killed()?;
            let mut full = recycle(std::mem::take(&mut spare));
            full.extend_from_slice(row);
            full[slots_of(self.source)].copy_from_slice(values);
            flow = sink(running, &full)?;
            spare = recycle(full);
            Ok(flow)
        })?;
        Ok(flow)
    }
}

fn slots_of(source: &Source) -> std::ops::Range<usize> {
    source.first_slot..source.first_slot + source.width
}
