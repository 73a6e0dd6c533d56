//! What a SELECT shows of its rows: HAVING, the items, DISTINCT, ORDER BY.
//!
//! ```text
//!   row --having--> items --distinct--> without ORDER BY: to the client at once
//!                                       with it: kept, with what they are ordered by, until all rows have been met
//! ```
//!
//! Items and keys that are columns side by side in the row are not copied: they are a stretch of it.

use std::ops::Range;

use bumpalo::Bump;
use meseta_types::Datum;

use super::inside::Running;
use super::kept_slots::KeptSlots;
use super::limit::Limited;
use super::member_places::MemberPlaces;
use super::row_numbers::RowNumbers;
use super::sort::{Kept, KeyPlaces};
use super::spare::recycle;
use super::spilled_rows::SpilledRows;
use super::{Flow, MORE, Outer, Sink, evaluate_all, evaluate_into, holds};
use crate::error::Result;
use crate::expression::Expr;
use crate::query::plan::{SelectPlan, SortKey};

/// Up to so many rows of a DISTINCT that are put in order anyway are compared with their neighbours then, and not with all
/// that were shown: that takes less than half of the time where most are different, and more memory for so many rows at most.
const FEW_ROWS: usize = 1024;

/// Makes of rows what is shown of them.
pub struct Projection<'a, 'm> {
    plan: &'a SelectPlan,
    outer: Outer<'a>,
    /// Where in a row the items are.
    stretch: Option<Range<usize>>,
    /// If items are computed once rows are in order: of what.
    late: Option<KeptSlots>,
    /// Where rows go, if that passes some over: items are not made for these.
    limited: Option<&'a Limited>,
    items: &'m mut Vec<Datum<'static>>,
    /// What expressions make of one row.
    spare: &'m mut Bump,
    met: Met<'a, 'm>,
}

/// The rows that have been met so far, where some are not shown or all are shown later.
struct Met<'a, 'm> {
    plan: &'a SelectPlan,
    outer: Outer<'a>,
    distinct: Option<RowNumbers>,
    /// Rows of a DISTINCT that there is no memory for, behind what they are ordered by.
    spilled: Option<SpilledRows>,
    kept: Option<Kept<'a>>,
    /// Equal rows are looked for once all are in order.
    drops_equals_late: bool,
    /// Where in a row that is what it is ordered by.
    stretch: Option<Range<usize>>,
    keys: &'m mut Vec<Datum<'static>>,
}

/// Memory for one row after the other.
pub struct SpareMemory<'m> {
    /// Items that are made.
    pub items: &'m mut Vec<Datum<'static>>,
    /// What rows are ordered by.
    pub keys: &'m mut Vec<Datum<'static>>,
    /// What expressions make.
    pub arena: &'m mut Bump,
}

impl SpareMemory<'_> {
    /// The same, for a while.
    pub fn reborrow(&mut self) -> SpareMemory<'_> {
        SpareMemory { items: self.items, keys: self.keys, arena: self.arena }
    }
}

/// What rows are ordered by.
pub fn values_in(order: &[SortKey]) -> impl Iterator<Item = &Expr> {
    order.iter().map(|key| &key.value)
}

/// Where there are members of ENUMs and SETs in the rows that are kept to put them in order: items, or what those will be computed of.
fn members_in<'p>(plan: &'p SelectPlan, late: Option<&KeptSlots>) -> MemberPlaces<'p> {
    match late {
        Some(slots) => MemberPlaces::in_slots(&plan.sources).moved(|slot| slots.place_of(slot)),
        None => MemberPlaces::in_items(&plan.items),
    }
}

/// Where the values that rows are ordered by are in the rows that are kept to put them in order.
fn keys_in(plan: &SelectPlan, late: Option<&KeptSlots>) -> KeyPlaces {
    KeyPlaces::among(&plan.order, |column| match late {
        Some(slots) => slots.place_of(column as usize),
        None => plan.items.iter().position(|item| item.as_column() == Some(column)),
    })
}

/// Where in a row the values of some expressions lie, one behind the other, if all are columns that do.
fn stretch_of<'e>(mut expressions: impl Iterator<Item = &'e Expr>) -> Option<Range<usize>> {
    let first = expressions.next()?.as_column()? as usize;
    expressions.try_fold(first..first + 1, |stretch, expression| {
        let column = expression.as_column()? as usize;
        (column == stretch.end).then_some(stretch.start..column + 1)
    })
}

/// Where in a row lies what is shown of it, if that is so of each row when it comes: then there is nothing to project.
pub fn stretch_of_each(plan: &SelectPlan) -> Option<Range<usize>> {
    let is_each_shown = plan.group.is_none() && plan.having.is_empty() && !plan.distinct && plan.order.is_empty();
    if is_each_shown { stretch_of(plan.items.iter()) } else { None }
}

impl<'a, 'm> Projection<'a, 'm> {
    /// Nothing yet. What is kept goes to the arena, up to so many bytes; so many rows are wanted, if not all.
    pub fn new(
        plan: &'a SelectPlan,
        outer: Outer<'a>,
        arena: &'a Bump,
        memory_limit: usize,
        wanted: Option<u64>,
        spare: SpareMemory<'m>,
    ) -> Self {
        // (Of those that are equal one is wanted.)
        let wanted = wanted.filter(|_| !plan.is_ordered_by_items);
        let late = plan.late_items.then(|| KeptSlots::shown(plan));
        let kept = || {
            let kept = Kept::new(arena, &plan.order, memory_limit, wanted);
            kept.with_members(members_in(plan, late.as_ref())).with_keys(keys_in(plan, late.as_ref()))
        };
        let met = Met {
            plan,
            outer,
            distinct: plan.distinct.then(|| RowNumbers::new(&plan.items)),
            spilled: None,
            kept: (!plan.order.is_empty()).then(kept),
            drops_equals_late: plan.is_ordered_by_items,
            stretch: stretch_of(values_in(&plan.order)),
            keys: spare.keys,
        };
        let stretch = stretch_of(plan.items.iter());
        Self { plan, outer, stretch, late, limited: None, items: spare.items, spare: spare.arena, met }
    }

    /// The same, whose rows go there, and nowhere else before.
    pub fn passing_over(self, limited: Option<&'a Limited>) -> Self {
        Self { limited, ..self }
    }

    /// The same of rows that come in order: each is shown at once.
    pub fn of_sorted_rows(mut self) -> Self {
        self.met.kept = None;
        self
    }

    /// Takes a row, and shows what is to be shown of it now.
    #[inline]
    pub fn take(&mut self, running: &mut Running<'_>, row: &[Datum<'_>], sink: &mut Sink<'_>) -> Result<Flow> {
        self.spare.reset();
        if !holds(&self.plan.having, row, self.outer, running, self.spare)? {
            return Ok(MORE);
        }
        if let Some(items) = self.stretch.clone().and_then(|stretch| row.get(stretch)) {
            return self.met.take(running, row, items, self.spare, sink);
        }
        self.take_made(running, row, sink)
    }

    /// As [`Projection::take`], where items have to be made: now, or once rows are in order, or not at all.
    fn take_made(&mut self, running: &mut Running<'_>, row: &[Datum<'_>], sink: &mut Sink<'_>) -> Result<Flow> {
        let plan = self.plan;
        if !plan.distinct && self.met.kept.is_none() && self.limited.is_some_and(Limited::passes_over) {
            return Ok(MORE);
        }
        if plan.distinct || self.met.kept.is_none() {
            let mut items = recycle(std::mem::take(self.items));
            evaluate_into(&mut items, plan.items.iter(), row, self.outer, running, self.spare)?;
            let flow = self.met.take(running, row, &items, self.spare, sink)?;
            *self.items = recycle(items);
            return Ok(flow);
        }
        let mut keys = recycle(std::mem::take(self.met.keys));
        evaluate_into(&mut keys, values_in(&plan.order), row, self.outer, running, self.spare)?;
        if let Some(kept) = &mut self.met.kept
            && !kept.passes_by(&keys, running)?
        {
            let mut items = recycle(std::mem::take(self.items));
            match &self.late {
                Some(slots) => items.extend(slots.values(row)),
                None => evaluate_into(&mut items, plan.items.iter(), row, self.outer, running, self.spare)?,
            }
            kept.add(&keys, &items, running)?;
            *self.items = recycle(items);
        }
        *self.met.keys = recycle(keys);
        Ok(MORE)
    }

    /// Shows what was kept.
    pub fn end(self, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
        let (mut kept, keys) = (self.met.kept, self.plan.order.len());
        if let Some(mut spilled) = self.met.spilled {
            spilled.drop_equals();
            let members = MemberPlaces::in_items(&self.plan.items).behind(keys);
            spilled.show(usize::MAX, &members, running, &mut |running, row| {
                let (keys, items) = row.split_at(keys);
                match &mut kept {
                    Some(kept) => kept.add(keys, items, running).map(|()| MORE),
                    None => sink(running, items),
                }
            })?;
        }
        let Some(mut kept) = kept else { return Ok(()) };
        kept.sort(running)?;
        if self.met.drops_equals_late {
            kept.drop_equals(running)?;
        }
        let Some(slots) = self.late else { return kept.show(running, sink) };
        let spare = self.spare;
        kept.show(running, &mut |running, row| {
            if self.limited.is_some_and(Limited::passes_over) {
                return Ok(MORE);
            }
            spare.reset();
            let mut full = Vec::new();
            slots.restore(row.iter().copied(), self.plan.width, &mut full);
            let items = evaluate_all(self.plan.items.iter(), &full, self.outer, running, spare)?;
            sink(running, &items)
        })
    }
}

impl Met<'_, '_> {
    #[inline(always)]
    fn take(
        &mut self,
        running: &mut Running<'_>,
        row: &[Datum<'_>],
        items: &[Datum<'_>],
        spare: &Bump,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        if self.distinct.is_some() && !self.is_new(running, items) {
            return self.spill(running, row, items, spare);
        }
        let Some(kept) = &mut self.kept else { return sink(running, items) };
        if let Some(keys) = self.stretch.clone().and_then(|stretch| row.get(stretch)) {
            kept.add(keys, items, running)?;
            return Ok(MORE);
        }
        let mut keys = recycle(std::mem::take(self.keys));
        evaluate_into(&mut keys, values_in(&self.plan.order), row, self.outer, running, spare)?;
        kept.add(&keys, items, running)?;
        *self.keys = recycle(keys);
        Ok(MORE)
    }

    /// Whether a row of a DISTINCT has not been met yet, or is compared with others later.
    fn is_new(&mut self, running: &Running<'_>, items: &[Datum<'_>]) -> bool {
        let Some(distinct) = &mut self.distinct else { return true };
        if self.drops_equals_late
            && let Some(kept) = &mut self.kept
        {
            if kept.len() < FEW_ROWS {
                return true;
            }
            // Many: from here on those that are equal to others take no memory.
            kept.retain(|items| distinct.is_new(items));
            self.drops_equals_late = false;
        }
        if self.spilled.is_none() && distinct.bytes() > running.inside.memory_limit {
            self.spilled = Some(SpilledRows::new(running));
        }
        self.spilled.is_none() && distinct.is_new(items)
    }

    /// Keeps a row of a DISTINCT that has not been met among those that were in memory, if there is no memory for more.
    fn spill(
        &mut self,
        running: &mut Running<'_>,
        row: &[Datum<'_>],
        items: &[Datum<'_>],
        spare: &Bump,
    ) -> Result<Flow> {
        let (Some(spilled), Some(distinct)) = (&mut self.spilled, &mut self.distinct) else { return Ok(MORE) };
        if distinct.get(items).is_none() {
            let mut full = evaluate_all(values_in(&self.plan.order), row, self.outer, running, spare)?;
            full.extend_from_slice(items);
            spilled.add(distinct.key(), &full)?;
        }
        Ok(MORE)
    }
}
