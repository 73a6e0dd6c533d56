//! What a source has found last by the whole key of a unique index.
//!
//! ```text
//!   values of the rows before    the same as last?   its row once more
//!             | no
//!            key                 the same as last?   its row once more
//!             | no
//!           index
//! ```
//! A join whose rows come in the order of that key looks for most of them several times. A value that is looked at costs a tenth of a
//! key that is made; but other values may make the same key.
//!
//! # Invariants
//! 1. It is of one source in one run of a SELECT: what is looked for besides, the rows of queries around it and the snapshot are the same.

use meseta_engine::catalog::TableHandle;
use meseta_engine::rows::PointRow;
use meseta_types::{Collation, Datum};
use smallvec::SmallVec;

use crate::expression::group::append_group_key;
use crate::query::plan::{Access, ConditionSet};

/// The last key, and its row.
#[derive(Default)]
pub struct LastPoint {
    /// The key.
    pub key: Vec<u8>,
    /// The row,
    pub row: PointRow,
    /// and whether there is one; `None` if no key has been looked for.
    pub is_there: Option<bool>,
    /// The columns of the rows before by which it is looked for, if their values are noted.
    columns: Option<SmallVec<[u32; 4]>>,
    /// Their values, in bytes,
    values: Vec<u8>,
    /// and those of the rows before that are at hand now.
    values_now: Vec<u8>,
    /// The table, and the conditions that hold within the bounds that the values make.
    found_in: Option<(TableHandle, ConditionSet)>,
}

impl LastPoint {
    /// From now on notes by which values of the rows before an access looks for its row, if they tell.
    pub fn note_values(&mut self, access: &Access) {
        let mut columns = SmallVec::new();
        let values = || access.lookups().filter_map(|lookup| lookup.value());
        values().for_each(|value| value.columns(&mut |column| columns.push(column)));
        self.columns = values().all(|value| value.is_repeatable()).then_some(columns);
    }

    /// Where the row is that these rows before look for, if it is the last one, as it was found.
    pub fn found_by(&mut self, before: &[Datum<'_>]) -> Option<(TableHandle, ConditionSet)> {
        let columns = self.columns.as_ref()?.iter().map(|&column| before[column as usize]);
        self.values_now.clear();
        for value in columns {
            // (Documents that are equal need not be the same.)
            if matches!(value, Datum::Json(_)) {
                self.clear();
                return None;
            }
            append_group_key(value, Collation::Binary, &mut self.values_now);
        }
        self.found_in.as_ref().filter(|_| self.values_now == self.values).cloned()
    }

    /// What was looked for has been found, or not, by the rows at hand.
    pub fn note(&mut self, table: &TableHandle, implied: ConditionSet) {
        if self.columns.is_some() {
            std::mem::swap(&mut self.values, &mut self.values_now);
            self.found_in = Some((table.clone(), implied));
        }
    }

    /// Forgets what was found.
    pub fn forget(&mut self) {
        (self.is_there, self.found_in) = (None, None);
    }

    /// Has nothing noted any more.
    pub fn clear(&mut self) {
        self.forget();
        self.columns = None;
    }

    /// Bytes that it has memory for.
    pub fn capacity(&self) -> usize {
        self.key.capacity() + self.row.capacity() + self.values.capacity() + self.values_now.capacity()
    }
}
