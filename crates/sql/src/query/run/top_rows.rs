//! The first rows of many, as they come: `LIMIT 10` behind ORDER BY.
//!
//! ```text
//!   | those that are wanted, in order | those that came and are before the last of them | --sort--> | wanted, in order |
//! ```
//!
//! Rows own what they have, so a row that is dropped gives its memory to the next: whatever order rows come in, as many are in memory
//! as are wanted, twice.

use std::cmp::Ordering;

use meseta_types::Datum;

use super::Flow;
use super::spare::recycle;
use crate::error::Result;
use crate::expression::Value;

/// So many rows may be there before those are dropped that are not wanted.
const FEW_ROWS: usize = 64;

/// Whether there are so many rows, if so many are wanted, that they are to be put in order and the others dropped.
pub fn are_many(rows: usize, wanted: usize) -> bool {
    rows >= wanted.saturating_mul(2).max(FEW_ROWS)
}

struct Row {
    abbreviation: u128,
    values: Box<[Value]>,
}

/// The rows.
pub struct TopRows {
    rows: Vec<Row>,
    /// So many are wanted: they are in front, in order.
    wanted: usize,
    /// Memory of rows that were dropped.
    spare: Vec<Box<[Value]>>,
    /// What rows have outside of these.
    bytes: usize,
}

impl TopRows {
    /// These, in order: as many as are wanted.
    pub fn new<'v>(rows: impl Iterator<Item = (u128, &'v [Datum<'v>])>) -> Self {
        let mut top = Self { rows: Vec::new(), wanted: usize::MAX, spare: Vec::new(), bytes: 0 };
        rows.for_each(|(abbreviation, values)| top.add(abbreviation, values.iter().copied()));
        top.wanted = top.rows.len();
        top
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Memory that is taken.
    pub fn bytes(&self) -> usize {
        self.bytes + size_of_val(&*self.rows)
    }

    /// The last of those that are wanted, of all that were there when they were put in order: its abbreviation, and its values.
    pub fn last(&self) -> (u128, &[Value]) {
        let Row { abbreviation, values } = &self.rows[self.wanted - 1];
        (*abbreviation, values)
    }

    /// Adds one that comes before the last.
    pub fn add<'v>(&mut self, abbreviation: u128, row: impl Iterator<Item = Datum<'v>>) {
        let values = match self.spare.pop() {
            Some(mut values) => {
                values.iter_mut().zip(row).for_each(|(own, value)| own.keep(value));
                values
            }
            None => row.map(Value::kept).collect(),
        };
        self.bytes += bytes_of(&values);
        self.rows.push(Row { abbreviation, values });
    }

    /// Whether there are so many that they are to be put in order.
    pub fn is_due(&self) -> bool {
        are_many(self.rows.len(), self.wanted)
    }

    /// Puts them in order, by their abbreviations and values, and drops those that are not wanted. Those that are equal stay in the order
    /// in which they came.
    pub fn sort(&mut self, mut compare: impl FnMut([u128; 2], [&[Value]; 2]) -> Ordering) {
        self.rows.sort_by(|one, other| compare([one.abbreviation, other.abbreviation], [&one.values, &other.values]));
        for row in self.rows.drain(self.wanted..) {
            self.bytes -= bytes_of(&row.values);
            self.spare.push(row.values);
        }
    }

    /// Shows their values, from this place on, until no more are wanted.
    pub fn show(&self, from: usize, mut show: impl FnMut(&[Datum<'_>]) -> Result<Flow>) -> Result<()> {
        let mut spare = Vec::new();
        for row in &self.rows {
            let mut values = recycle(std::mem::take(&mut spare));
            values.extend(row.values[from..].iter().map(Value::get));
            if show(&values)?.is_break() {
                break;
            }
            spare = recycle(values);
        }
        Ok(())
    }
}

fn bytes_of(values: &[Value]) -> usize {
    size_of_val(values) + values.iter().map(Value::bytes).sum::<usize>()
}
