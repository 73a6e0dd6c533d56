//! What is the same for all rows of a statement is computed for the first of them.
//!
//! ```text
//!   at > NOW() - INTERVAL ? DAY      at > Once(NOW() - INTERVAL ? DAY)      a date is kept from row to row
//!   at = '2024-05-05'                at = Once('2024-05-05')                the text is read as a date once
//!   n < '5x'                         n < Once('5x')                         and as a number once: one warning, not one a row
//! ```
//!
//! # Invariants
//! 1. It is computed where the first row asks for it, not before: an error in it is one only if there is a row.
//! 2. What is kept has no memory of its own: a number, a date. Texts are made anew.
//! 3. It compares as the value itself does. As which type comparisons take it is known from [`Comparer`]; elsewhere it is as it is.
//!
//! # Source
//! The manual, "Type Conversion in Expression Evaluation": a constant that is compared with a column is converted before the
//! comparison is performed.

use meseta_types::comparison::{ComparisonType, exact_number, text_as_point};
use meseta_types::{DataType, Datum};

use super::comparer::Comparer;
use super::kind::ExprKind;
use super::value::without_memory;
use super::{Env, Expr, Value};
use crate::error::Result;

/// A value that is the same for all rows.
#[derive(Clone, Debug)]
pub struct Once {
    /// How it is computed.
    pub value: Expr,
    /// As what it is compared, where that is another type than its own.
    compared_as: Option<ComparisonType>,
    /// By which number it is kept: no other of the statement has it.
    number: u32,
}

impl Once {
    pub(super) fn evaluate<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        if let Some(Some(kept)) = env.host.kept_value(self.number) {
            return Ok(*kept);
        }
        let value = self.value.evaluate(row, env)?;
        let is_exact = self.compared_as == Some(ComparisonType::Given);
        let value = match (self.compared_as, value) {
            // (What is no date is told by the comparison.)
            (Some(ComparisonType::DateTime), Datum::Text(text, _)) => {
                text_as_point(text, env.context).map_or(value, |point| Datum::DateTime(point, 6))
            }
            (Some(ComparisonType::Double | ComparisonType::Given), Datum::Text(..)) => {
                let exactly = if is_exact { exact_number(value, env.context) } else { None };
                let number = exactly.map(Datum::Decimal).or_else(|| value.to_double(env.context).map(Datum::Double));
                number.unwrap_or(Datum::Null)
            }
            _ => value,
        };
        if let Some(alone) = without_memory(value)
            && let Some(place) = env.host.kept_value(self.number)
        {
            *place = Some(alone);
        }
        Ok(value)
    }
}

impl Expr {
    /// Has all that is the same for all rows computed once. `next` is a number that the statement has not used for this.
    pub fn compute_constants_once(&mut self, next: &mut u32) {
        match &mut self.kind {
            ExprKind::Compare(compare) => {
                let comparer = compare.comparer;
                let [left, right] = [&compare.left, &compare.right].map(|side| side.data_type.clone());
                compare.left.compute_once(Some((&comparer, &right)), next);
                compare.right.compute_once(Some((&comparer, &left)), next);
            }
            ExprKind::Between(between) => {
                let (comparer, of) = (between.comparer, between.operand.data_type.clone());
                between.operand.compute_once(None, next);
                between.low.compute_once(Some((&comparer, &of)), next);
                between.high.compute_once(Some((&comparer, &of)), next);
            }
            _ => self.operands_mut(&mut |operand| operand.compute_once(None, next)),
        }
    }

    /// The same, itself too; `beside` is how it is compared, and with what.
    fn compute_once(&mut self, beside: Option<(&Comparer, &DataType)>, next: &mut u32) {
        let is_constant = self.is_constant() && !self.names_outer_columns();
        let compared_as = beside.filter(|_| self.data_type.is_string()).and_then(|(comparer, other)| {
            comparer.kind.filter(|kind| match kind {
                ComparisonType::DateTime => !matches!(other, DataType::Time { .. }) && other.is_temporal(),
                ComparisonType::Double | ComparisonType::Given => other.is_numeric(),
                _ => false,
            })
        });
        let is_computed = !matches!(
            self.kind,
            ExprKind::Constant(_) | ExprKind::Slot(_) | ExprKind::SystemVariable(_) | ExprKind::Row(_)
        );
        let keeps =
            compared_as.is_some() || is_computed && (self.data_type.is_numeric() || self.data_type.is_temporal());
        if !is_constant || !keeps {
            return self.compute_constants_once(next);
        }
        let (data_type, nullable, collated) = (self.data_type.clone(), self.nullable, self.collated);
        let nothing = Expr { kind: ExprKind::Constant(Value::NULL), data_type, nullable, collated };
        let value = std::mem::replace(self, nothing);
        self.kind = ExprKind::Once(Box::new(Once { value, compared_as, number: *next }));
        *next += 1;
    }
}
