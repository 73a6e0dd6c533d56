//! A SELECT that runs: its sources, joined, and what is kept of each until the last row has been shown.
//!
//! ```text
//!   source 0 --row--> source 1 --row--> filter --row--> what comes behind the join
//!                        |
//!                        +-- kept: its rows by the values that they are joined on ([`super::hash`]),
//!                                  or the last row that was found by a whole key ([`super::last_point`])
//! ```
//!
//! # Invariants
//! 1. What is kept of a source is of one run of the join: where rows are too many for memory, each part has its own.
//!
//! # When things fail
//! Rows that are too many to be kept, and cannot be joined in parts, are read again for each row before them.

use std::cell::RefCell;
use std::rc::Rc;

use bumpalo::Bump;
use meseta_types::Datum;
use smallvec::SmallVec;

use super::first_rows::FirstRows;
use super::hash::Built;
use super::inside::Running;
use super::parts::{Parts, may_have_parts};
use super::source_rows::{measured, source_rows};
use super::spare::Spare;
use super::table_rows::table_rows;
use super::{ENOUGH, Flow, MORE, Outer, Sink, holds};
use crate::error::Result;
use crate::query::plan::join_tree::Shows;
use crate::query::plan::{HashPlan, Join, SelectPlan, SourceKind, TableSource};

/// What is kept of a source.
enum KeptOfSource<'a> {
    /// Nothing, or nothing yet.
    Nothing,
    /// Its rows.
    Rows(Rc<Built<'a>>),
    /// Not its rows: they are too many.
    TooMany,
    /// Memory for one row, with the last that was looked for.
    Point(Spare),
}

/// One run of a SELECT's join.
pub struct Execution<'e, 'a, 'f> {
    plan: &'a SelectPlan,
    /// Rows of the queries around it.
    outer: Outer<'e>,
    arena: &'a Bump,
    /// What is kept of each source.
    kept: RefCell<SmallVec<[KeptOfSource<'a>; 4]>>,
    /// Which part of a source whose rows are too many is joined.
    parts: &'e Parts,
    /// The rows of the source that the join begins with, if they have been read.
    first_rows: Option<&'e FirstRows<'f>>,
}

impl<'e, 'a, 'f> Execution<'e, 'a, 'f> {
    /// Nothing is kept yet; rows are to be kept in the arena.
    pub fn new(
        plan: &'a SelectPlan,
        outer: Outer<'e>,
        arena: &'a Bump,
        parts: &'e Parts,
        first_rows: Option<&'e FirstRows<'f>>,
    ) -> Self {
        let kept = plan.sources.iter().map(|_| KeptOfSource::Nothing).collect();
        Self { plan, outer, arena, kept: RefCell::new(kept), parts, first_rows }
    }

    /// Shows the rows of a join, each an extension of `row`.
    pub fn join(&self, node: &Join, row: &[Datum<'_>], running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<Flow> {
        match node {
            Join::Source(number) => self.source(*number, row, running, sink),
            Join::Inner(nodes) => match nodes.split_first() {
                None => sink(running, row),
                Some((first, [])) => self.join(first, row, running, sink),
                Some((first, rest)) => self.inner(first, rest, row, running, sink),
            },
            Join::Left { left, right, when, on, slots, shows } => self.join(left, row, running, &mut |running, row| {
                let (mut is_matched, arena) = (false, Bump::new());
                let may_match = holds(when, row, self.outer, running, &arena)?;
                let mut match_row = |running: &mut Running<'_>, row: &[Datum<'_>]| {
                    if !holds(on, row, self.outer, running, &arena)? {
                        return Ok(MORE);
                    }
                    is_matched = true;
                    if *shows == Shows::All { sink(running, row) } else { Ok(ENOUGH) }
                };
                let flow = if may_match { self.join(right, row, running, &mut match_row)? } else { MORE };
                match (shows, is_matched) {
                    (Shows::Matched, true) => return sink(running, row),
                    (Shows::Matched, false) | (Shows::Unmatched, true) => return Ok(MORE),
                    (Shows::All, true) => return Ok(flow),
                    (Shows::All | Shows::Unmatched, false) => {}
                }
                // (Nobody has filled them yet, as a rule.)
                if slots.iter().all(|slots| row[slots.clone()].iter().all(|value| value.is_null())) {
                    return sink(running, row);
                }
                let mut alone = row.to_vec();
                slots.iter().for_each(|slots| alone[slots.clone()].fill(Datum::Null));
                sink(running, &alone)
            }),
            Join::Filter { input, conditions } => {
                let mut arena = Bump::new();
                self.join(input, row, running, &mut |running, row| {
                    arena.reset();
                    if holds(conditions, row, self.outer, running, &arena)? { sink(running, row) } else { Ok(MORE) }
                })
            }
            Join::First(input) => {
                let mut flow = MORE;
                let joined = self.join(input, row, running, &mut |running, row| {
                    flow = sink(running, row)?;
                    Ok(ENOUGH)
                });
                joined.map(|_| flow)
            }
        }
    }

    fn inner(
        &self,
        first: &Join,
        rest: &[Join],
        row: &[Datum<'_>],
        running: &mut Running<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        self.join(first, row, running, &mut |running, row| match rest {
            [] => sink(running, row),
            [next] => self.join(next, row, running, sink),
            [next, rest @ ..] => self.inner(next, rest, row, running, sink),
        })
    }

    /// Shows the rows of one source, from memory if they are kept there.
    fn source(&self, number: usize, row: &[Datum<'_>], running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<Flow> {
        if let Some(first_rows) = self.first_rows
            && first_rows.number == number
        {
            return first_rows.show(row, running, sink);
        }
        let source = &self.plan.sources[number];
        measured(source, running, sink, |running, sink| match (self.plan.hashes.get(number), &source.kind) {
            (Some(Some(hash)), _) => self.hashed(number, hash, row, running, sink),
            (_, SourceKind::Table(table)) if table.access.is_one_point() && self.plan.sources.len() > 1 => {
                self.point(number, table, row, running, sink)
            }
            _ => source_rows(source, self.outer, row, running, sink),
        })
    }

    /// Shows the rows of a source that are found by the values that they are joined on.
    fn hashed(
        &self,
        number: usize,
        hash: &HashPlan,
        row: &[Datum<'_>],
        running: &mut Running<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        let source = &self.plan.sources[number];
        let known = match &self.kept.borrow()[number] {
            KeptOfSource::Rows(built) => Some(Some(Rc::clone(built))),
            KeptOfSource::TooMany => Some(None),
            KeptOfSource::Nothing | KeptOfSource::Point(_) => None,
        };
        let built = match known {
            Some(built) => built,
            None => self.build(number, hash, row, running)?,
        };
        if let Some(built) = built {
            return built.probe(source, hash, self.outer, row, running, sink);
        }
        // Too many: they are read again.
        let mut spare = Bump::new();
        source_rows(source, self.outer, row, running, &mut |running, row| {
            spare.reset();
            if holds(&hash.conditions, row, self.outer, running, &spare)? { sink(running, row) } else { Ok(MORE) }
        })
    }

    /// Reads the rows of a source that are to be kept; `None` if they are too many, which is noted.
    fn build(
        &self,
        number: usize,
        hash: &HashPlan,
        row: &[Datum<'_>],
        running: &mut Running<'_>,
    ) -> Result<Option<Rc<Built<'a>>>> {
        let (source, passed) = (&self.plan.sources[number], self.parts.passed(number));
        let built = Built::new(source, hash, passed, self.outer, running, self.arena, &mut |running, sink| {
            source_rows(source, self.outer, row, running, sink).map(drop)
        })?;
        let may_be_part = || self.first_rows.is_none() && may_have_parts(self.plan);
        let is_kept = !built.is_part || may_be_part() && self.parts.ends_at(number, built.read);
        let built = is_kept.then(|| Rc::new(built));
        self.kept.borrow_mut()[number] = match &built {
            Some(built) => KeptOfSource::Rows(Rc::clone(built)),
            None => KeptOfSource::TooMany,
        };
        Ok(built)
    }

    /// Shows the row of a table that has the key that is looked for: from memory, if it was the last one.
    fn point(
        &self,
        number: usize,
        table: &TableSource,
        row: &[Datum<'_>],
        running: &mut Running<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        // (No source comes behind itself: nobody asks for it while it is lent.)
        let lent = std::mem::replace(&mut self.kept.borrow_mut()[number], KeptOfSource::Nothing);
        let mut spare = match lent {
            KeptOfSource::Point(spare) => spare,
            _ => {
                let mut spare = Spare::take();
                spare.last.note_values(&table.access);
                spare
            }
        };
        let source = &self.plan.sources[number];
        let flow = table_rows(source, table, &table.access, self.outer, row, running, &mut spare, sink);
        self.kept.borrow_mut()[number] = KeptOfSource::Point(spare);
        flow
    }
}
