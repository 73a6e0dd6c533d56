//! The first rows of a join, in the order of the table that it begins with (`planner::early_sort`): sorted, and then joined.
//!
//! # Invariants
//! 1. Rows come in the order in which the sort of all of them has them: among equals, that in which the table was read.

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
use crate::query::plan::{EarlySort, SelectPlan, Source};

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
