//! Rows that are kept and put in order: ORDER BY.

use std::cmp::Ordering;

use bumpalo::Bump;
use meseta_types::{Collation, Datum, compare};

use super::inside::Running;
use super::plan::SortKey;
use super::run::Sink;
use crate::error::{Error, Result};
use crate::expression::copy_into;
use crate::session::Counter;

/// Rows in an arena, each with the values that it is ordered by in front.
pub struct Kept<'a> {
    arena: &'a Bump,
    rows: Vec<&'a [Datum<'a>]>,
    keys: usize,
    bytes_left: usize,
}

impl<'a> Kept<'a> {
    /// No rows, in so many bytes of memory at the most.
    pub fn new(arena: &'a Bump, keys: usize, memory_limit: usize) -> Self {
        Self { arena, rows: Vec::new(), keys, bytes_left: memory_limit }
    }

    /// Keeps a row; `None` if there is no memory for it.
    pub fn add(&mut self, keys: &[Datum<'_>], row: &[Datum<'_>]) -> Option<()> {
        let before = self.arena.allocated_bytes();
        let copies = keys.iter().chain(row).map(|&value| copy_into(value, None, self.arena));
        let copies: Vec<Datum<'a>> = copies.collect();
        self.rows.push(self.arena.alloc_slice_copy(&copies));
        let taken = self.arena.allocated_bytes() - before + size_of::<&[Datum<'_>]>();
        self.bytes_left = self.bytes_left.checked_sub(taken)?;
        Some(())
    }

    /// Puts them in order; rows that are equal stay in the order in which they came.
    pub fn sort(&mut self, order: &[SortKey], running: &mut Running<'_>) -> Result<()> {
        let mut failed = None;
        running.inside.facts.count(Counter::SortRows, self.rows.len() as u64);
        self.rows.sort_by(|one, other| sorted_by(order, one, other, running, &mut failed));
        failed.map_or(Ok(()), Err)
    }

    /// Shows them.
    pub fn show(&self, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
        for row in &self.rows {
            if sink(running, &row[self.keys..])?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

/// How two rows compare whose first values are those of ORDER BY. The first error is kept; what fails counts as equal.
pub fn sorted_by(
    order: &[SortKey],
    one: &[Datum<'_>],
    other: &[Datum<'_>],
    running: &mut Running<'_>,
    failed: &mut Option<Error>,
) -> Ordering {
    for (at, key) in order.iter().enumerate() {
        let collation = key.value.data_type.collation().unwrap_or(key.value.collated.collation);
        let ordering = ordered(one[at], other[at], collation, running).unwrap_or_else(|error| {
            failed.get_or_insert(error);
            Ordering::Equal
        });
        let ordering = if key.descending { ordering.reverse() } else { ordering };
        if ordering != Ordering::Equal {
            return ordering;
        }
    }
    Ordering::Equal
}

/// NULL comes before all values.
pub fn ordered(one: Datum<'_>, other: Datum<'_>, collation: Collation, running: &mut Running<'_>) -> Result<Ordering> {
    match (one.is_null(), other.is_null()) {
        (false, false) => Ok(compare(one, other, collation, running.context)?.unwrap_or(Ordering::Equal)),
        (one, other) => Ok(other.cmp(&one)),
    }
}
