//! The rows of a query inside of an expression that refers to no row around it: run once, asked for each row.
//!
//! ```text
//!   a > ALL (SELECT ..)     their greatest        is a greater than that?
//! ```
//!
//! # Invariants
//! 1. What is answered is what comparing with the rows one by one answers; where that is not known (`None`), they are to be compared.

use std::cell::OnceCell;
use std::cmp::Ordering;

use meseta_types::comparison::ComparisonType;
use meseta_types::{Context, Datum};

use crate::error::Result;
use crate::expression::{Comparer, ComparisonOperator, Quantified, Value};

/// Its rows.
#[derive(Default)]
pub struct KeptRows {
    /// The rows.
    pub rows: Vec<Box<[Value]>>,
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

impl KeptRows {
    /// These rows.
    pub fn new(rows: Vec<Box<[Value]>>) -> Self {
        Self { rows, ..Self::default() }
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
}
