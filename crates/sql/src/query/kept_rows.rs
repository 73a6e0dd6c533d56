//! The rows of a query inside of an expression that refers to no row around it: run once, asked for each row.
//!
//! ```text
//!   a IN (SELECT ..)        keys of all rows      is the key of a there?
//!   a > ALL (SELECT ..)     their greatest        is a greater than that?
//! ```
//!
//! # Invariants
//! 1. What is answered is what comparing with the rows one by one answers; where that is not known (`None`), they are to be compared.

use std::cell::{Cell, OnceCell};
use std::cmp::Ordering;
use std::collections::HashSet;

use foldhash::quality::RandomState;
use meseta_types::comparison::ComparisonType;
use meseta_types::{Context, Datum};

use super::hash::{Keyed, append_comparison_key};
use crate::error::Result;
use crate::expression::{Comparer, ComparisonOperator, Quantified, Value};

/// Its rows.
#[derive(Default)]
pub struct KeptRows {
    /// The rows.
    pub rows: Vec<Box<[Value]>>,
    /// Keys of rows, once somebody has asked for one. `None`: they have no keys.
    keys: OnceCell<Option<RowKeys>>,
    /// Memory for a key that is asked for.
    key: Cell<Vec<u8>>,
    /// The least and the greatest, once somebody has asked. `None`: they have no order.
    ends: OnceCell<Option<Ends>>,
}

/// The ends of rows of one column in order.
struct Ends {
    /// The places of the least and the greatest; `None` if all are NULL, or there are none.
    least_and_greatest: Option<[usize; 2]>,
    /// Whether one is NULL.
    has_null: bool,
}

/// The keys of rows.
struct RowKeys {
    all: HashSet<Vec<u8>, RandomState>,
    /// Whether a row has a NULL.
    has_null: bool,
}

impl KeptRows {
    /// These rows.
    pub fn new(rows: Vec<Box<[Value]>>) -> Self {
        Self { rows, ..Self::default() }
    }

    /// Whether a row with these values is there: `Some(None)` if that is unknown, `None` if they have to be compared.
    pub fn contains(
        &self,
        values: &[Datum<'_>],
        comparers: &[Comparer],
        context: &mut Context,
    ) -> Option<Option<bool>> {
        let mut key = self.key.take();
        let found = self.contains_by(values, comparers, context, &mut key);
        self.key.set(key);
        found
    }

    /// Whether a comparison of a value with all rows, or with any, holds: `Some(None)` if that is unknown, `None` if they have to be
    /// compared.
    pub fn all_or_any(&self, left: Datum<'_>, by: &Quantified, context: &mut Context) -> Result<Option<Option<bool>>> {
        use ComparisonOperator as Operator;
        let greatest = match by.operator {
            Operator::Less | Operator::LessOrEqual => !by.all,
            Operator::Greater | Operator::GreaterOrEqual => by.all,
            _ => return Ok(None),
        };
        if self.ends.get().is_none() {
            let _ = self.ends.set(self.find_ends(&by.comparer, context)?);
        }
        let Some(Some(ends)) = self.ends.get() else { return Ok(None) };
        let Some(place) = ends.least_and_greatest else {
            return Ok(Some(if ends.has_null { None } else { Some(by.all) }));
        };
        let end = self.rows[place[usize::from(greatest)]][0].get();
        let holds = by.comparer.holds(by.operator, left, end, context)?;
        // One that does not hold decides ALL, one that does decides ANY, whatever is NULL.
        let is_decided = holds.is_some_and(|holds| holds != by.all);
        Ok(Some(if ends.has_null && !is_decided { None } else { holds }))
    }

    fn find_ends(&self, comparer: &Comparer, context: &mut Context) -> Result<Option<Ends>> {
        // As such types values are in the same order among each other as beside another value.
        let has_order = |value: &Datum<'_>| {
            use ComparisonType as As;
            matches!(
                (comparer.kind, value),
                (_, Datum::Null)
                    | (Some(As::Integer | As::Decimal), Datum::Signed(_) | Datum::Unsigned(_))
                    | (Some(As::Decimal), Datum::Decimal(_))
                    | (Some(As::Double), Datum::Double(_))
                    | (Some(As::DateTime), Datum::Date(_) | Datum::DateTime(..))
                    | (Some(As::Text), Datum::Text(..))
            )
        };
        let mut ends = Ends { least_and_greatest: None, has_null: false };
        for (at, row) in self.rows.iter().enumerate() {
            let Some(value) = row.first().map(Value::get).filter(has_order) else { return Ok(None) };
            if value.is_null() {
                ends.has_null = true;
                continue;
            }
            let [least, greatest] = ends.least_and_greatest.get_or_insert([at, at]);
            let other = |place: usize| self.rows[place][0].get();
            if comparer.compare(value, other(*least), context)? == Some(Ordering::Less) {
                *least = at;
            }
            if comparer.compare(value, other(*greatest), context)? == Some(Ordering::Greater) {
                *greatest = at;
            }
        }
        Ok(Some(ends))
    }

    /// As [`KeptRows::contains`], with memory for keys.
    fn contains_by(
        &self,
        values: &[Datum<'_>],
        comparers: &[Comparer],
        context: &mut Context,
        key: &mut Vec<u8>,
    ) -> Option<Option<bool>> {
        let keyed = |row: &[Datum<'_>], context: &mut Context, key: &mut Vec<u8>| {
            key.clear();
            let mut all = Keyed::Yes;
            for (value, comparer) in row.iter().zip(comparers) {
                match append_comparison_key(*value, comparer, context, key) {
                    Keyed::Yes => {}
                    Keyed::Null if all == Keyed::No => {}
                    other => all = other,
                }
            }
            all
        };
        let keys = self.keys.get_or_init(|| {
            let mut keys = RowKeys { all: HashSet::default(), has_null: false };
            for row in &self.rows {
                let row: Vec<Datum<'_>> = row.iter().map(Value::get).collect();
                match keyed(&row, context, key) {
                    Keyed::Yes => drop(keys.all.insert(key.clone())),
                    Keyed::Null => keys.has_null = true,
                    Keyed::No => return None,
                }
            }
            Some(keys)
        });
        let RowKeys { all, has_null } = keys.as_ref()?;
        // With NULLs in rows of several columns some column may still decide.
        if values.len() > 1 && *has_null {
            return None;
        }
        match keyed(values, context, key) {
            Keyed::Yes if all.contains(key) => Some(Some(true)),
            Keyed::Yes if *has_null => Some(None),
            Keyed::Yes => Some(Some(false)),
            Keyed::Null if self.rows.is_empty() => Some(Some(false)),
            Keyed::Null if values.len() == 1 => Some(None),
            _ => None,
        }
    }
}
