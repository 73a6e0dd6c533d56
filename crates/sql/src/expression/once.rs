//! What is the same for all rows of a statement is computed for the first of them.
//!
//! ```text
//!   at > NOW() - INTERVAL ? DAY      at > Once(NOW() - INTERVAL ? DAY)      a date is kept from row to row
//!   at IN ('2024-05-05', ..)         at IN (Once('2024-05-05'), ..)         a text is read as a date once
//!   n < '5x'                         n < Once('5x')                         and as a number once: one warning, not one a row
//!   DATEDIFF('2024-05-05', at)       DATEDIFF(Once('2024-05-05'), at)
//!   n IN (?, ?, ?, ..)               the list is looked at once (`in_list`)
//!   CASE n WHEN ? THEN .. ..         and so are the branches (`case`)
//! ```
//!
//! # Invariants
//! 1. It is computed where the first row asks for it, not before: an error in it is one only if there is a row.
//! 2. What is kept is a number, a date, a list, or keys: nothing that lies in a row's memory. Texts are made anew.
//! 3. It compares as the value itself does. As which type comparisons take it is known from [`Comparer`]; elsewhere it is as it is.
//!
//! # Source
//! The manual, "Type Conversion in Expression Evaluation": a constant that is compared with a column is converted before the
//! comparison is performed.

use meseta_types::comparison::{ComparisonType, exact_number, text_as_length, text_as_point};
use meseta_types::{CastType, DataType, Datum, cast};

use super::case::KeptCase;
use super::comparer::Comparer;
use super::in_list::KeptList;
use super::kind::ExprKind;
use super::value::without_memory;
use super::{Env, Expr, Value};
use crate::error::Result;

/// What is kept from row to row.
pub enum Kept {
    /// A value without memory of its own.
    Value(Datum<'static>),
    /// What IN looks for a value in.
    List(KeptList),
    /// By what CASE finds a branch.
    Case(KeptCase),
}

/// A value that is the same for all rows.
#[derive(Clone, Debug)]
pub struct Once {
    /// How it is computed.
    pub value: Expr,
    /// As what it is taken, where that is another type than its own.
    taken_as: Option<TakenAs>,
    /// By which number it is kept: no other of the statement has it.
    number: u32,
}

/// What a text is taken for.
#[derive(Clone, Copy, Debug)]
enum TakenAs {
    /// In a comparison of this type.
    Compared(ComparisonType),
    /// By a function: a point in time, where it is one and there is nothing to warn of.
    Point,
}

impl Once {
    pub(super) fn evaluate<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
        if let Some(Some(Kept::Value(kept))) = env.host.kept_value(self.number) {
            return Ok(*kept);
        }
        let value = self.value.evaluate(row, env)?;
        let value = match (self.taken_as, value) {
            (Some(taken_as), Datum::Text(text, _)) => match taken_as {
                // (What is no date is told by the comparison, or the function.)
                TakenAs::Compared(ComparisonType::DateTime) => {
                    text_as_point(text, env.context).map_or(value, |point| Datum::DateTime(point, 6))
                }
                TakenAs::Compared(ComparisonType::Time) => {
                    text_as_length(text, env.context).map_or(value, |length| Datum::Time(length, 6))
                }
                TakenAs::Compared(kind) => {
                    let is_exact = kind == ComparisonType::Given;
                    let exactly = if is_exact { exact_number(value, env.context) } else { None };
                    let number =
                        exactly.map(Datum::Decimal).or_else(|| value.to_double(env.context).map(Datum::Double));
                    number.unwrap_or(Datum::Null)
                }
                TakenAs::Point => {
                    let mut apart = env.context.apart();
                    let point = cast(value, CastType::DateTime(6), &mut apart, env.arena, &String::new);
                    point.ok().filter(|point| !point.is_null() && apart.warnings.count() == 0).unwrap_or(value)
                }
            },
            _ => value,
        };
        if let Some(alone) = without_memory(value)
            && let Some(place) = env.host.kept_value(self.number)
        {
            *place = Some(Kept::Value(alone));
        }
        Ok(value)
    }
}

impl Expr {
    /// Has all that is the same for all rows computed once. `next` is a number that the statement has not used for this.
    pub fn compute_constants_once(&mut self, next: &mut u32) {
        match &mut self.kind {
            ExprKind::Compare(compare) => {
                let [left, right] = [&compare.left, &compare.right].map(|side| taken_beside(side, &compare.comparer));
                compare.left.compute_once(right, next);
                compare.right.compute_once(left, next);
            }
            ExprKind::Between(between) => {
                let taken_as = taken_beside(&between.operand, &between.comparer);
                between.operand.compute_once(None, next);
                between.low.compute_once(taken_as, next);
                between.high.compute_once(taken_as, next);
            }
            ExprKind::In(list) => {
                list.keep_keys(next);
                list.operand.compute_once(None, next);
                for (element, comparers) in list.list.iter_mut().zip(list.comparers.chunks(list.operand.width().max(1)))
                {
                    let taken_as = match comparers {
                        [comparer] => taken_beside(&list.operand, comparer),
                        _ => None,
                    };
                    element.compute_once(taken_as, next);
                }
            }
            ExprKind::Case(case) => {
                case.keep_keys(next);
                self.operands_mut(&mut |operand| operand.compute_once(None, next));
            }
            ExprKind::Call(call) if call.function.takes_points => {
                call.arguments.iter_mut().for_each(|argument| argument.compute_once(Some(TakenAs::Point), next));
            }
            _ => self.operands_mut(&mut |operand| operand.compute_once(None, next)),
        }
    }

    /// Has what IN and CASE look for kept from row to row, and nothing else: whatever warns does so for each row.
    pub fn keep_keys(&mut self, next: &mut u32) {
        match &mut self.kind {
            ExprKind::In(list) => list.keep_keys(next),
            ExprKind::Case(case) => case.keep_keys(next),
            _ => {}
        }
        self.operands_mut(&mut |operand| operand.keep_keys(next));
    }

    /// As [`Expr::compute_constants_once`], itself too; `taken_as` is what it is taken for if it is a text.
    fn compute_once(&mut self, taken_as: Option<TakenAs>, next: &mut u32) {
        let is_constant = self.is_constant() && !self.names_outer_columns();
        let taken_as = taken_as.filter(|_| self.data_type.is_string());
        let is_computed = !matches!(
            self.kind,
            ExprKind::Constant(_) | ExprKind::Slot(_) | ExprKind::SystemVariable(_) | ExprKind::Row(_)
        );
        let keeps = taken_as.is_some() || is_computed && (self.data_type.is_numeric() || self.data_type.is_temporal());
        if !is_constant || !keeps {
            return self.compute_constants_once(next);
        }
        let (data_type, nullable, collated) = (self.data_type.clone(), self.nullable, self.collated);
        let nothing = Expr { kind: ExprKind::Constant(Value::NULL), data_type, nullable, collated };
        let value = std::mem::replace(self, nothing);
        self.kind = ExprKind::Once(Box::new(Once { value, taken_as, number: *next }));
        *next += 1;
    }
}

/// What a text is taken for that is compared with this.
fn taken_beside(other: &Expr, comparer: &Comparer) -> Option<TakenAs> {
    let other = &other.data_type;
    let is_taken = |kind: &ComparisonType| match kind {
        ComparisonType::DateTime => !matches!(other, DataType::Time { .. }) && other.is_temporal(),
        ComparisonType::Time => matches!(other, DataType::Time { .. }),
        ComparisonType::Double | ComparisonType::Given => other.is_numeric(),
        _ => false,
    };
    comparer.kind.filter(is_taken).map(TakenAs::Compared)
}
