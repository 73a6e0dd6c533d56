//! Which part of a table's rows meets conditions that no index tells of: as many of a few rows as do.
//!
//! ```text
//!   WHERE country = ? AND karma > ?        256 rows, 16 in each of 16 places     a bit of each row for each condition it meets
//!                                          country 37, karma 5, both 0           1/7, 1/50, 1/500
//! ```
//! A plan that depends on it is made once more when it is known, with the values at hand. It is then for all values: what one value says of
//! others is better than what nothing says.
//!
//! # Invariants
//! 1. Rows are looked at as they are, whoever wrote them: nothing is locked, and no snapshot is taken.
//! 2. A look changes nothing, and warns of nothing.
//! 3. The same rows are looked at each time, if the table does not change.
//!
//! # Cost
//! 16 paths to leaves, and 256 rows: some 40 µs, once for a plan.
//!
//! # Source
//! Selinger et al., "Access Path Selection in a Relational Database Management System", SIGMOD 1979, has the guesses that stand where this
//! does not; Lipton, Naughton and Schneider, "Practical Selectivity Estimation through Adaptive Sampling", SIGMOD 1990.

use std::sync::Arc;

use bumpalo::Bump;
use meseta_types::{DataType, Datum};

use super::estimate::share_of;
use super::sizes::TableName;
use crate::expression::Expr;
use crate::query::plan::ConditionSet;
use crate::query::plan::table::KnownTable;
use crate::query::run::bounds::load_into;
use crate::query::run::inside::Running;
use crate::schema::fixed_random;

/// In so many places rows are looked at,
const PLACES: usize = 16;
/// and so many in each.
const ROWS_A_PLACE: usize = 16;

/// A table of fewer rows is not looked at: there is little to choose.
pub const FEWEST: f64 = 500.0;

/// If no more rows of a sample meet some conditions, it does not tell what part of those meets others.
const TOO_FEW: usize = 16;

/// A table whose rows are looked at, and the conditions on it alone of which that may tell something.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// Which table.
    pub name: TableName,
    table: Arc<KnownTable>,
    conditions: Vec<Expr>,
}

impl Sampled {
    /// Of conditions on a table alone those of which rows tell something; `None` if there is none.
    pub fn new<'e>(
        name: TableName,
        table: &Arc<KnownTable>,
        conditions: impl Iterator<Item = &'e Expr>,
    ) -> Option<Self> {
        let told = conditions.filter(|condition| is_told(condition, name.first_slot, table)).take(u64::BITS as usize);
        let conditions: Vec<Expr> = told.cloned().collect();
        (!conditions.is_empty()).then(|| Self { name, table: Arc::clone(table), conditions })
    }

    /// Looks at rows, with the values at hand.
    pub fn look(&self, running: &mut Running<'_>) -> Sample {
        let (first_slot, table) = (self.name.first_slot, &self.table);
        let mut columns: Vec<u16> = Vec::new();
        let mut note = |slot: u32| columns.extend(u16::try_from(slot as usize - first_slot));
        self.conditions.iter().for_each(|condition| condition.columns(&mut note));
        columns.sort_unstable();
        columns.dedup();
        let mut rows = Vec::with_capacity(PLACES * ROWS_A_PLACE);
        let seen = table.engine().sample_rows(&columns, PLACES, ROWS_A_PLACE, fixed_random(), |values| {
            let arena = Bump::new();
            let mut row = vec![Datum::Null; first_slot + table.columns.len()];
            for &column in &columns {
                let column = usize::from(column);
                let data_type = &table.columns[column].data_type;
                load_into(values[column], data_type, running.context, &mut row[first_slot + column]);
            }
            let mut met = 0_u64;
            for (at, condition) in self.conditions.iter().enumerate() {
                let is_met = condition.is_true(&row, &mut running.env(&arena, &[])).unwrap_or(false);
                met |= u64::from(is_met) << at;
            }
            rows.push(met);
        });
        // (If it cannot be read, whoever reads rows says so.)
        if seen.is_err() {
            rows.clear();
        }
        Sample { rows: rows.into(), conditions: self.conditions.len() as u32 }
    }
}

/// Whether it depends on nothing but columns of this table, which stand in each row, and values that are known.
fn is_told(condition: &Expr, first_slot: usize, table: &KnownTable) -> bool {
    let (mut names_any, mut are_there) = (false, true);
    condition.columns(&mut |slot| {
        names_any = true;
        let column = (slot as usize).checked_sub(first_slot).and_then(|column| table.columns.get(column));
        let is_long = |data_type: &DataType| matches!(data_type, DataType::Text { .. } | DataType::Json);
        are_there &= column.is_some_and(|column| !is_long(&column.data_type));
    });
    names_any && are_there && condition.is_repeatable() && !condition.names_outer_columns()
}

/// Some rows of a table: for each a bit of each condition that it meets.
#[derive(Clone, Debug)]
pub struct Sample {
    rows: Arc<[u64]>,
    /// So many were asked.
    conditions: u32,
}

impl Sample {
    /// Which part of the rows that meet the conditions of one set meets those of another, too. (Half a row more of each kind: what no
    /// row of a few meets some of many may.)
    fn share(&self, given: u64, asked: u64) -> f64 {
        let meets = |conditions: u64| self.rows.iter().filter(|row| **row & conditions == conditions).count();
        let given = if meets(given) > TOO_FEW { given } else { 0 };
        (meets(given | asked) as f64 + 0.5) / (meets(given) as f64 + 1.0)
    }

    /// Which part of the rows of which some conditions on this table are said meets the others, about: of those of which rows tell nothing
    /// as many as a condition of its kind leaves.
    pub fn share_beside<'e>(
        &self,
        said: ConditionSet,
        conditions: impl Iterator<Item = (usize, &'e Expr)>,
        first_slot: usize,
        table: &KnownTable,
    ) -> f64 {
        let (mut share, mut given, mut asked, mut next) = (1.0, 0_u64, 0_u64, 0);
        for (number, condition) in conditions {
            let is_said = said.has(number);
            // (What is asked of the first table of a join alone stands behind all else, and may not have been asked of the rows.)
            if next < self.conditions && is_told(condition, first_slot, table) {
                *(if is_said { &mut given } else { &mut asked }) |= 1 << next;
                next += 1;
            } else if !is_said {
                share *= share_of(condition);
            }
        }
        if asked == 0 { share } else { share * self.share(given, asked) }
    }
}
