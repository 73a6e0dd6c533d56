//! Joins without an index: one side's rows are kept in memory by the values that they are joined on.
//!
//! ```text
//!   a JOIN b ON a.x = b.y, no index on b.y       b's rows, read once:  key of y -> rows
//!                                                each row of a:        key of x -> candidates -> the other conditions
//! ```
//!
//! # Invariants
//! 1. Rows come as a nested loop would show them: for each row of what is before, in the order in which they were read.
//! 2. Values have equal keys if and only if they compare as equal: the equalities that are keys are asked of no candidate, all
//!    else is. Where some value has no key, every row is a candidate, and everything is asked.
//!
//! # When things fail
//! If the rows take more memory than a statement may keep, a part of them is joined with all that is before, then the next part
//! ([`super::parts`]); or, where rows are to come in an order or an outer join asks for all of them at once, the source is read again for
//! each row, as without this.

use std::cell::Cell;
use std::num::NonZeroU32;

use bumpalo::Bump;
use meseta_types::Datum;
use smallvec::SmallVec;

use super::inside::Running;
use super::{MORE, Outer, Sink, others_hold};
use crate::error::Result;
use crate::expression::comparison_key::{Keyed, append_comparison_key};
use crate::expression::key_numbers::KeyNumbers;
use crate::expression::{Comparer, Expr, copy_into};
use crate::query::plan::{ConditionSet, HashPlan, Source};

/// A source's rows in memory.
pub struct Built<'a> {
    /// For each row, the next one that has the same key.
    next: Vec<Option<NonZeroU32>>,
    /// The values of each row, one row behind the other.
    values: Vec<Datum<'a>>,
    /// Which columns a row has: those that are read.
    columns: Vec<usize>,
    /// A number for each key, and by that the first and the last row that has it.
    keys: KeyNumbers,
    ends: Vec<[u32; 2]>,
    /// Whether each row that could match is found by its key.
    is_keyed: bool,
    /// How many rows of the source have been read.
    pub read: usize,
    /// Whether there is no memory for the others.
    pub is_part: bool,
    /// Memory for who looks for a row.
    spare: Cell<Option<Box<Spare>>>,
}

/// Memory that is used again.
#[derive(Default)]
struct Spare {
    of_keys: Bump,
    of_conditions: Bump,
    key: Vec<u8>,
}

/// The values of keys as bytes.
fn key_of<'e>(
    values: impl Iterator<Item = (&'e Expr, &'e Comparer)>,
    row: &[Datum<'_>],
    outer: Outer<'_>,
    running: &mut Running<'_>,
    arena: &Bump,
    out: &mut Vec<u8>,
) -> Result<Keyed> {
    out.clear();
    for (value, comparer) in values {
        let value = value.evaluate(row, &mut running.env(arena, outer))?;
        match append_comparison_key(value, comparer, running.context, out) {
            Keyed::Yes => {}
            other => return Ok(other),
        }
    }
    Ok(Keyed::Yes)
}

/// Shows the rows of a source, of which conditions have not been asked.
pub type Read<'r> = dyn FnMut(&mut Running<'_>, &mut Sink<'_>) -> Result<()> + 'r;

impl<'a> Built<'a> {
    /// Reads all rows behind the first `passed`, or as many of them as there is memory for.
    pub fn new(
        source: &'a Source,
        plan: &HashPlan,
        passed: usize,
        outer: Outer<'_>,
        running: &mut Running<'_>,
        arena: &'a Bump,
        read: &mut Read<'_>,
    ) -> Result<Built<'a>> {
        let mut built = Built {
            next: Vec::new(),
            values: Vec::new(),
            keys: KeyNumbers::default(),
            ends: Vec::new(),
            columns: source.columns_read(),
            is_keyed: true,
            read: 0,
            is_part: false,
            spare: Cell::default(),
        };
        let (mut spare, mut key) = (Bump::new(), Vec::new());
        let before = arena.allocated_bytes();
        read(running, &mut |running, row| {
            built.read += 1;
            if built.read <= passed {
                return Ok(MORE);
            }
            spare.reset();
            if built.is_keyed {
                let values = plan.keys.iter().map(|key| (&key.build, &key.comparer));
                match key_of(values, row, outer, running, &spare, &mut key)? {
                    Keyed::Yes => built.chain(&key),
                    // It matches nothing.
                    Keyed::Null => return Ok(MORE),
                    Keyed::No => built.is_keyed = false,
                }
            }
            let copies = built
                .columns
                .iter()
                .map(|&column| copy_into(row[source.first_slot + column], source.type_of(column), arena));
            built.values.extend(copies);
            built.next.push(None);
            built.is_part = arena.allocated_bytes() - before + built.bytes() > running.inside.memory_limit;
            Ok(if built.is_part { super::ENOUGH } else { MORE })
        })?;
        Ok(built)
    }

    /// What rows take beside what their texts do.
    fn bytes(&self) -> usize {
        self.keys.bytes() + size_of_val(&*self.values) + size_of_val(&*self.next) + size_of_val(&*self.ends)
    }

    /// The values of a row.
    #[inline]
    fn row(&self, number: u32) -> &[Datum<'a>] {
        &self.values[number as usize * self.columns.len()..][..self.columns.len()]
    }

    /// The row that comes next has this key.
    fn chain(&mut self, key: &[u8]) {
        let row = self.next.len() as u32;
        match self.keys.of(key) {
            (_, true) => self.ends.push([row, row]),
            (number, false) => {
                let last = std::mem::replace(&mut self.ends[number][1], row);
                // (Not the first row: that one follows none.)
                self.next[last as usize] = NonZeroU32::new(row);
            }
        }
    }

    /// Shows candidates for a row: the row, with the source's values.
    pub fn probe(
        &self,
        source: &Source,
        plan: &HashPlan,
        outer: Outer<'_>,
        row: &[Datum<'_>],
        running: &mut Running<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<super::Flow> {
        let mut spare = self.spare.take().unwrap_or_default();
        let Spare { of_keys, of_conditions, key } = &mut *spare;
        of_keys.reset();
        let keyed = match self.is_keyed {
            true => {
                let values = plan.keys.iter().map(|key| (&key.probe, &key.comparer));
                key_of(values, row, outer, running, of_keys, key)?
            }
            false => Keyed::No,
        };
        let known = if keyed == Keyed::Yes { plan.implied } else { ConditionSet::default() };
        let mut candidate = match keyed {
            Keyed::Yes => self.keys.get(key).map(|number| self.ends[number][0]),
            Keyed::Null => None,
            Keyed::No => (!self.next.is_empty()).then_some(0),
        };
        let (mut full, mut flow) = (SmallVec::<[Datum<'_>; 16]>::new(), MORE);
        while let Some(number) = candidate {
            running.inside.facts.check_killed()?;
            if full.is_empty() {
                full.extend_from_slice(row);
            }
            for (&column, &value) in self.columns.iter().zip(self.row(number)) {
                full[source.first_slot + column] = value;
            }
            of_conditions.reset();
            if others_hold(known, &plan.conditions, &full, outer, running, of_conditions)? {
                flow = sink(running, &full)?;
                if flow.is_break() {
                    break;
                }
            }
            candidate = match keyed {
                Keyed::Yes => self.next[number as usize].map(NonZeroU32::get),
                _ => Some(number + 1).filter(|&next| (next as usize) < self.next.len()),
            };
        }
        self.spare.set(Some(spare));
        Ok(flow)
    }
}
