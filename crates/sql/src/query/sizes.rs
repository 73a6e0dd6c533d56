//! How many rows ranges are taken to have when a statement is planned, and have when it runs.
//!
//! ```text
//!   plan   WHERE k BETWEEN ? AND ?      no values yet: a twentieth of the table        RangeSize { k: .., rows: 50,000 }
//!   run    k BETWEEN 7 AND 9            the index is asked: 3                          far from it: planned again, with 3
//!          k BETWEEN 20 AND 29                              10                         not far: it fits
//! ```
//! A plan is for all values. Where another would be better for some of them, it says for how many rows it was made; who is to run
//! it looks first whether it fits.
//!
//! # Invariants
//! 1. A range is looked at only if something depends on how many rows it has ([`super::estimate`]): a plan without a choice has no
//!    range here, and is run without a look.
//! 2. A look changes nothing, and warns of nothing. Where it fails the plan fits, and whoever reads the rows says so.
//!
//! # Cost
//! Two paths from an index's root to its leaves for each range.
//!
//! # Source
//! The manual, "Equality Range Optimization of Many-Valued Comparisons": index dives.

use std::sync::Arc;

use meseta_types::Warnings;

use super::bounds::{Bounds, bounds};
use super::inside::Running;
use super::plan::{Access, Lookup, TableSource};
use crate::error::Result;
use crate::expression::Expr;

/// Sizes below this are all the same: rows.
pub const FEW: f64 = 100.0;

/// By so much a range must have more or fewer rows than a plan was made for.
const FAR: f64 = 4.0;

/// Which range, whatever the values: the same each time that a statement is planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RangeName {
    /// The number of its FROM in the statement.
    pub block: u32,
    /// The first slot of its table.
    pub first_slot: usize,
    /// Of an OR of several indexes, which operand, from 1 on; 0 elsewhere.
    pub operand: usize,
    /// The index.
    pub index: usize,
    /// So many of its columns have one value.
    pub equal: usize,
}

/// A range, and the rows that a plan takes it to have.
#[derive(Debug)]
pub struct RangeSize {
    name: RangeName,
    /// The table, with the access whose range it is.
    source: TableSource,
    rows: f64,
    /// They were counted, not guessed.
    is_known: bool,
}

/// What is known of ranges while a statement is planned, and what is taken for granted.
#[derive(Debug, Default)]
pub struct RangeSizes {
    known: Vec<(RangeName, f64)>,
    taken: Vec<RangeSize>,
    blocks: u32,
}

impl RangeSizes {
    /// With those that have been looked at.
    pub fn new(known: Vec<(RangeName, f64)>) -> Self {
        Self { known, ..Self::default() }
    }

    /// A number for the next FROM.
    pub fn next_block(&mut self) -> u32 {
        self.blocks += 1;
        self.blocks
    }

    /// The rows of a range, and whether that is known; or else it is `guess`. The plan is for that.
    pub fn rows(&mut self, name: RangeName, source: &TableSource, access: &Access, guess: f64) -> (f64, bool) {
        if let Some(taken) = self.taken.iter().find(|taken| taken.name == name) {
            return (taken.rows, taken.is_known);
        }
        let known = self.known.iter().find(|(known, _)| *known == name);
        let (rows, is_known) = known.map_or((guess, false), |(_, rows)| (*rows, true));
        let table = TableSource::new(Arc::clone(&source.table), source.usable, None);
        let source = TableSource { access: access.clone(), ..table };
        self.taken.push(RangeSize { name, source, rows, is_known });
        (rows, is_known)
    }

    /// What was taken for granted for a FROM is not: there is another plan.
    pub fn forget(&mut self, block: u32) {
        self.taken.retain(|taken| taken.name.block != block);
    }

    /// What the plan was made for.
    pub fn into_taken(self) -> Vec<RangeSize> {
        self.taken
    }
}

/// Whether the values of an access are known before any row is.
pub fn is_known(access: &Access) -> bool {
    let is_known = |value: &Expr| value.is_constant() && !value.names_columns() && !value.names_outer_columns();
    access.lookups().filter_map(Lookup::value).all(is_known)
}

/// About how many rows an access finds by its index, whose values [`is_known`] says are known; few are counted exactly.
pub fn rows_of(source: &TableSource, access: &Access, running: &mut Running<'_>) -> Result<f64> {
    let table = source.table.engine();
    let mut rows = 0.0;
    for stretch in bounds(source, access, &[], &[], running, &mut Vec::new())?.0 {
        rows += match stretch {
            Bounds::Empty => 0.0,
            Bounds::Point(_) | Bounds::EachOf(_) => 1.0,
            Bounds::Range(range) => table.estimate_range(access.index, &range).map_or(1.0, |rows| rows as f64),
        };
    }
    Ok(rows)
}

/// The sizes of ranges with the values at hand.
pub fn sizes_now(sizes: &[RangeSize], running: &mut Running<'_>) -> Vec<(RangeName, f64)> {
    let warnings = std::mem::replace(&mut running.context.warnings, Warnings::new(0));
    let now = |size: &RangeSize| (size.name, rows_of(&size.source, &size.source.access, running).unwrap_or(size.rows));
    let found = sizes.iter().map(now).collect();
    running.context.warnings = warnings;
    found
}

/// Whether all that a plan was made for was counted.
pub fn are_known(taken: &[RangeSize]) -> bool {
    taken.iter().all(|size| size.is_known)
}

/// Whether a plan was made for ranges of these sizes, or such as are not far from them.
pub fn fit(taken: &[RangeSize], now: &[(RangeName, f64)]) -> bool {
    let is_near = |(size, (_, rows)): (&RangeSize, &(RangeName, f64))| {
        let (taken, found) = (size.rows.max(FEW), rows.max(FEW));
        found <= taken * FAR && taken <= found * FAR
    };
    taken.iter().zip(now).all(is_near)
}
