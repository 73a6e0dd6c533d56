//! What plans know of a table's contents: about how many rows there are, and how many of them share a key.
//!
//! # Source
//! The manual, "Configuring Persistent Optimizer Statistics Parameters".

use meseta_engine::table::{IndexStatistics, SAMPLES, Table};

/// A table with fewer rows is planned for as if it had these: it may grow while its plan is in use, and an index costs
/// little where there are few rows.
const FEWEST_ROWS: u64 = 10;

/// Values are alike in how many rows they have, if a row picked at random shares its value with no more than so many times the average,
const EVEN: f64 = 4.0;
/// or with no more than so many.
const FEW_ALIKE: f64 = 100.0;

/// What a table looks like.
#[derive(Clone, Debug, Default)]
pub struct TableStatistics {
    /// About how many rows there are.
    pub rows: u64,
    /// Of each index; `None` where nothing is known.
    pub indexes: Vec<Option<IndexStatistics>>,
}

impl TableStatistics {
    /// Looks at a table: a few pages of each index.
    pub fn sample(table: &Table) -> Self {
        // If it cannot be read, whoever reads rows says so.
        let rows = table.estimate_rows().unwrap_or(0);
        Self { rows, indexes: (0..table.indexes.len()).map(|index| sample_index(table, index)).collect() }
    }

    /// The rows that a plan is made for.
    pub fn planned_rows(&self) -> f64 {
        self.rows.max(FEWEST_ROWS) as f64
    }

    /// Whether an index has been looked at, so that how many rows have the same values in it is more than a guess.
    pub fn is_sampled(&self, index: usize) -> bool {
        self.indexes.get(index).and_then(Option::as_ref).is_some_and(|known| known.entries > 0)
    }

    /// About how many rows are in a leaf; `None` where nothing is known, or there is but one.
    pub fn rows_per_leaf(&self) -> Option<f64> {
        let known = self.indexes.first()?.as_ref()?;
        (known.per_leaf > 0.0 && known.per_leaf < known.entries as f64).then_some(known.per_leaf)
    }

    /// About how many rows have the same values in an index's first `parts` columns.
    pub fn rows_per_key(&self, index: usize, parts: usize) -> f64 {
        let rows = self.planned_rows();
        if parts == 0 {
            return rows;
        }
        let known = self.indexes.get(index).and_then(Option::as_ref);
        match known.and_then(|known| Some((known.entries, *known.distinct.get(parts - 1)?))) {
            Some((entries, distinct)) if entries > 0 => (rows / distinct.max(1) as f64).max(1.0),
            // An empty table says nothing.
            _ => rows / 10_f64.powi(parts as i32),
        }
    }

    /// Whether about as many rows, or few, have each of the values that there are in an index's first `parts` columns: whichever is looked
    /// for, [`Self::rows_per_key`] is not far off.
    pub fn is_even(&self, index: usize, parts: usize) -> bool {
        let known = self.indexes.get(index).and_then(Option::as_ref);
        let alike = parts.checked_sub(1).and_then(|last| known?.alike.get(last));
        alike.is_none_or(|alike| *alike <= (EVEN * self.rows_per_key(index, parts)).max(FEW_ALIKE))
    }
}

/// Picks numbers below others at random: the same ones each time that it is made.
pub fn fixed_random() -> impl FnMut(usize) -> usize {
    let mut state = 1_u64;
    move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    }
}

/// Looks at one index. The same places each time, so that a table that does not change is planned for in the same way.
fn sample_index(table: &Table, index: usize) -> Option<IndexStatistics> {
    if table.indexes[index].build.is_some() {
        return None;
    }
    table.sample_index(index, SAMPLES, fixed_random()).ok()
}
