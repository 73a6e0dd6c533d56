//! The rows of INSERT ... SELECT, on their way from the query to the table.
//!
//! ```text
//!   query --row--> FoundRows: a part of them --full--> inserted                          if nothing that is read changes by that
//!                                            --no memory left--> a temporary file        if it may
//!                                                                  | the query has ended
//!                                            FoundRows: a part <---+ --full--> inserted
//! ```
//!
//! # Invariants
//! 1. The query does not see what is inserted: it has ended before that, or reads other tables only.

use bumpalo::Bump;
use meseta_types::Datum;

use super::super::row::Given;
use super::InsertPlan;
use super::filling::{Filling, NewRows};
use super::inserting::Inserting;
use crate::error::Result;
use crate::query::{MORE, MemberPlaces, QueryPlan, Running, SpilledRows, append_row, run_query, values};

/// Bytes of rows that are inserted at a time.
const PART_BYTES: usize = 64 << 10;

/// Rows of a query.
pub struct FoundRows<'m> {
    /// Their values, row by row.
    bytes: Vec<u8>,
    /// Where each row ends.
    ends: Vec<usize>,
    /// How many values a row has.
    width: usize,
    members: &'m MemberPlaces<'m>,
}

impl<'m> FoundRows<'m> {
    fn new(members: &'m MemberPlaces<'m>) -> Self {
        Self { bytes: Vec::new(), ends: Vec::new(), width: 0, members }
    }

    fn push(&mut self, row: &[Datum<'_>]) {
        self.width = row.len();
        append_row(row, &mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    fn bytes_of(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[row]]
    }

    /// A row.
    pub fn row<'v>(&'v self, row: usize, arena: &'v Bump) -> &'v [Datum<'v>] {
        let found = arena.alloc_slice_fill_copy(self.width, Datum::Null);
        let values = values(self.bytes_of(row), self.members);
        found.iter_mut().zip(values).for_each(|(place, value)| *place = value);
        found
    }
}

impl<'p> NewRows<'p> for &'p FoundRows<'p> {
    fn count(&self) -> Option<usize> {
        Some(self.len())
    }

    fn insert_next<'v, 'r: 'v>(
        &mut self,
        at: usize,
        plan: &'v InsertPlan,
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<bool>
    where
        'p: 'v,
    {
        if at == self.len() {
            return Ok(false);
        }
        let (values, beside) = self.row(at, arena).split_at(plan.given);
        let given = arena.alloc_slice_fill_iter(values.iter().map(|&value| Given::Value(value)));
        plan.one_row(given, beside, inserting, running, arena).map(|()| true)
    }
}

impl InsertPlan {
    /// Inserts the rows that a query finds, which may read the table that they go to.
    pub(super) fn insert_found(
        &self,
        plan: &QueryPlan,
        reads_table: bool,
        filling: &mut Filling<'_>,
        running: &mut Running<'_>,
    ) -> Result<()> {
        // (Behind the columns there may be more: what ON DUPLICATE KEY UPDATE names.)
        let members = MemberPlaces::in_types(plan.columns.iter().map(|column| &column.data_type));
        let mut rows = FoundRows::new(&members);
        // A row that goes, or gets another key, may take rows with it, or change them.
        let changes_others =
            (self.replaces || !self.on_duplicate.is_empty()) && !self.table.engine().referrers.is_empty();
        let is_at_once = !reads_table && !changes_others;
        let limit = if is_at_once { PART_BYTES } else { running.inside.memory_limit };
        let mut spilled: Option<SpilledRows> = None;
        run_query(plan, &[], running, &mut |running, row| {
            match &mut spilled {
                Some(spilled) => spilled.add(&[], row)?,
                None => rows.push(row),
            }
            if rows.bytes.len() < limit {
                return Ok(MORE);
            }
            if is_at_once {
                filling.insert(&rows, running)?;
            } else {
                let to = spilled.get_or_insert_with(|| SpilledRows::new(running));
                (0..rows.len()).try_for_each(|at| to.add_bytes(&[], rows.bytes_of(at)))?;
            }
            rows.clear();
            Ok(MORE)
        })?;
        if let Some(spilled) = spilled {
            spilled.show(usize::MAX, &members, running, &mut |running, row| {
                rows.push(row);
                if rows.bytes.len() >= PART_BYTES {
                    filling.insert(&rows, running)?;
                    rows.clear();
                }
                Ok(MORE)
            })?;
        }
        filling.insert(&rows, running)
    }
}
