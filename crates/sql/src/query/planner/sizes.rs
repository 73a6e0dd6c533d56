//! How many rows ranges are taken to have, and LIMIT to show, when a statement is planned, and do when it runs.
//!
//! ```text
//!   plan   WHERE k BETWEEN ? AND ?      no values yet: a twentieth of the table        Size { k: .., rows: 50,000 }
//!   run    k BETWEEN 7 AND 9            the index is asked: 3                          far from it: planned again, with 3
//!          k BETWEEN 20 AND 29                              10                         not far: it fits
//!   plan   ORDER BY c LIMIT ?       100                                                       Size { limit, rows: 100 }
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

use super::sample::{Sample, Sampled};
use crate::error::Result;
use crate::expression::Expr;
use crate::query::plan::table::KnownTable;
use crate::query::plan::{Access, LimitPlan, Lookup, TableSource};
use crate::query::run::bounds::{Bounds, bounds};
use crate::query::run::inside::Running;
use crate::query::run::limit::limit_of;
use crate::query::run::spare::Spare;

/// Ranges of fewer rows are all the same,
pub const FEW: f64 = 100.0;
/// and so are smaller numbers of rows that are wanted.
const FEW_WANTED: f64 = 10.0;

/// LIMIT is planned for as if it were this, if its number is not known.
const WANTED: f64 = 100.0;

/// By so much a range must have more or fewer rows than a plan was made for;
const FAR: f64 = 4.0;
/// and by so much where only the first rows are wanted: they come the later the fewer there are.
const FAR_IF_LIMITED: f64 = 2.0;

/// Which table, whatever the values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TableName {
    /// The number of its FROM in the statement.
    pub block: u32,
    /// Its first slot.
    pub first_slot: usize,
}

/// Which range, whatever the values: the same each time that a statement is planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RangeName {
    /// Its table.
    pub table: TableName,
    /// Of an OR of several indexes, which operand, from 1 on; 0 elsewhere.
    pub operand: usize,
    /// The index.
    pub index: usize,
    /// So many of its columns have one value.
    pub equal: usize,
}

/// What has a size.
#[derive(Debug)]
enum Sized {
    /// A range: the table, with the access whose range it is.
    Range(RangeName, Box<TableSource>),
    /// LIMIT of the FROM with this number.
    Limit(u32, LimitPlan),
}

/// Which one, as [`RangeName`] has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Name {
    Range(RangeName),
    Limit(u32),
}

impl Sized {
    fn name(&self) -> Name {
        match self {
            Sized::Range(name, _) => Name::Range(*name),
            Sized::Limit(block, _) => Name::Limit(*block),
        }
    }
}

/// A range or LIMIT, and the rows that a plan takes it to have.
#[derive(Debug)]
pub struct Size {
    of: Sized,
    rows: f64,
    /// They were counted, not guessed.
    is_known: bool,
}

/// A size with the values at hand.
#[derive(Clone, Copy, Debug)]
pub struct SizeNow {
    name: Name,
    rows: f64,
}

/// What is known of sizes while a statement is planned, and what is taken for granted.
#[derive(Debug, Default)]
pub struct Sizes {
    known: Vec<SizeNow>,
    taken: Vec<Size>,
    samples: Vec<(TableName, Sample)>,
    unsampled: Vec<Sampled>,
    blocks: u32,
}

impl Sizes {
    /// With those that have been looked at, and rows.
    pub fn new(known: Vec<SizeNow>, samples: Vec<(TableName, Sample)>) -> Self {
        Self { known, samples, ..Self::default() }
    }

    /// A number for the next FROM.
    pub fn next_block(&mut self) -> u32 {
        self.blocks += 1;
        self.blocks
    }

    /// The rows of a range, and whether that is known; or else it is `guess`. The plan is for that.
    pub fn rows(&mut self, name: RangeName, source: &TableSource, access: &Access, guess: f64) -> (f64, bool) {
        let of = || {
            let table = TableSource::new(Arc::clone(&source.table), source.usable, None);
            Sized::Range(name, Box::new(TableSource { access: access.clone(), ..table }))
        };
        self.take(Name::Range(name), of, guess)
    }

    /// How many rows LIMIT of a FROM lets through, with those that it passes over. The plan is for that.
    pub fn wanted(&mut self, block: u32, limit: &LimitPlan) -> f64 {
        self.take(Name::Limit(block), || Sized::Limit(block, limit.clone()), WANTED).0
    }

    /// Rows of a table, by which of the conditions on it alone they meet; `None` if they are not known yet, or tell nothing.
    pub fn sample<'e>(
        &mut self,
        name: TableName,
        table: &Arc<KnownTable>,
        conditions: impl Iterator<Item = &'e Expr>,
    ) -> Option<Sample> {
        let known = self.samples.iter().find(|(known, _)| *known == name);
        if known.is_none() && !self.unsampled.iter().any(|sampled| sampled.name == name) {
            self.unsampled.extend(Sampled::new(name, table, conditions));
        }
        known.map(|(_, sample)| sample.clone())
    }

    fn take(&mut self, name: Name, of: impl FnOnce() -> Sized, guess: f64) -> (f64, bool) {
        if let Some(taken) = self.taken.iter().find(|taken| taken.of.name() == name) {
            return (taken.rows, taken.is_known);
        }
        let known = self.known.iter().find(|known| known.name == name);
        let (rows, is_known) = known.map_or((guess, false), |known| (known.rows, true));
        self.taken.push(Size { of: of(), rows, is_known });
        (rows, is_known)
    }

    /// What was taken for granted for a FROM is not: there is another plan.
    pub fn forget(&mut self, block: u32) {
        self.taken.retain(|taken| match taken.of {
            Sized::Range(RangeName { table: TableName { block: own, .. }, .. }, _) | Sized::Limit(own, _) => {
                own != block
            }
        });
        self.unsampled.retain(|sampled| sampled.name.block != block);
    }

    /// Nothing that was taken for granted is: the statement is planned anew.
    pub fn forget_all(&mut self) {
        self.taken.clear();
        self.unsampled.clear();
    }

    /// What the plan was made for, and tables whose rows would tell more.
    pub fn into_taken(self) -> (Vec<Size>, Vec<Sampled>) {
        (self.taken, self.unsampled)
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
    for stretch in bounds(source, access, &[], &[], running, &mut Spare::take())?.0 {
        rows += match stretch {
            Bounds::Empty => 0.0,
            Bounds::Point(_) | Bounds::EachOf(_) => 1.0,
            Bounds::Range(range) => table.estimate_range(access.index, &range).map_or(1.0, |rows| rows as f64),
        };
    }
    Ok(rows)
}

/// What a look yields, without its warnings.
fn unnoticed<T>(running: &mut Running<'_>, look: impl FnOnce(&mut Running<'_>) -> T) -> T {
    let warnings = std::mem::replace(&mut running.context.warnings, Warnings::new(0));
    let found = look(running);
    running.context.warnings = warnings;
    found
}

/// Rows of tables, with the values at hand.
pub fn samples_now(tables: &[Sampled], running: &mut Running<'_>) -> Vec<(TableName, Sample)> {
    unnoticed(running, |running| tables.iter().map(|sampled| (sampled.name, sampled.look(running))).collect())
}

/// Sizes with the values at hand.
pub fn sizes_now(sizes: &[Size], running: &mut Running<'_>) -> Vec<SizeNow> {
    let now = |size: &Size, running: &mut Running<'_>| {
        let rows = match &size.of {
            Sized::Range(_, source) => rows_of(source, &source.access, running),
            Sized::Limit(_, limit) => limit_of(limit, &[], running).map(|(offset, count)| offset as f64 + count as f64),
        };
        SizeNow { name: size.of.name(), rows: rows.unwrap_or(size.rows) }
    };
    unnoticed(running, |running| sizes.iter().map(|size| now(size, running)).collect())
}

/// Whether all that a plan was made for was counted.
pub fn are_known(taken: &[Size]) -> bool {
    taken.iter().all(|size| size.is_known)
}

/// Whether a plan was made for these sizes, or such as are not far from them.
pub fn fit(taken: &[Size], now: &[SizeNow]) -> bool {
    let is_limited = taken.iter().any(|size| matches!(size.of, Sized::Limit(..)));
    let far = if is_limited { FAR_IF_LIMITED } else { FAR };
    let is_near = |(size, now): (&Size, &SizeNow)| {
        let few = if matches!(size.of, Sized::Limit(..)) { FEW_WANTED } else { FEW };
        let (taken, found) = (size.rows.max(few), now.rows.max(few));
        found <= taken * far && taken <= found * far
    };
    taken.iter().zip(now).all(is_near)
}
