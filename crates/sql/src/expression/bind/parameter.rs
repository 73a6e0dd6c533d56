//! Parameters that are texts: what they are beside something else. Drivers send numbers and dates as texts, so as MySQL does it the other
//! operand decides.
//!
//! ```text
//!   at > ?          the point in time that the text is written as; NULL, with a warning, if it is none    point_beside_dates
//!   n + ?           beside an integer the integer that it is written as, or else a decimal                exact_beside
//!   COALESCE(n, ?)  the same
//!   s = ?           the text
//! ```
//!
//! (A literal that is a text stays one: beside a number both are DOUBLEs, and beside a date it must be one.)
//!
//! # Invariants
//! 1. What an expression is depends on a parameter's value in one thing, whether that is written as a whole number; who asks leaves word
//!    ([`WholeTexts`]), and the plan is for such values alone.
//!
//! Source: "PREPARE Statement" of the manual, on the types of parameters.

use std::cell::Cell;

use meseta_types::{CastType, DataType, Derivation};

use super::BindFacts;
use super::operator::cast_of;
use crate::expression::Expr;
use crate::expression::function::{NUMBER_AS_POINT, TEXT_AS_POINT};
use crate::expression::kind::{Call, ExprKind, Extra};
use crate::expression::typing::{collated_of, exact_digits, is_integral};

/// Which parameters are texts of whole numbers, this time: a bit for each of the first 64.
#[derive(Clone, Copy, Default, Debug)]
pub struct WholeTexts<'f> {
    /// Which are.
    pub bits: u64,
    /// Of which somebody has asked it: what is made is for others of which the same is true.
    pub asked: Option<&'f Cell<u64>>,
}

impl WholeTexts<'_> {
    /// Whether that parameter is one.
    fn has(&self, parameter: u32) -> bool {
        let bit = 1_u64.checked_shl(parameter).unwrap_or(0);
        if let Some(asked) = self.asked {
            asked.set(asked.get() | bit);
        }
        self.bits & bit != 0
    }
}

/// The number of the parameter that it is.
pub(super) fn parameter_of(expr: &Expr, facts: &BindFacts<'_>) -> Option<u32> {
    match expr.kind {
        ExprKind::Slot(number) if number < facts.first_lifted => Some(number),
        _ => None,
    }
}

/// The number of the parameter that it is, if that is a text.
pub(super) fn text_parameter_of(expr: &Expr, facts: &BindFacts<'_>) -> Option<u32> {
    parameter_of(expr, facts).filter(|_| expr.data_type.is_string())
}

/// What is calculated with an exact number, or is one value with it: of a parameter's text, a decimal, or beside an integer the one that it
/// is. All other texts make DOUBLEs, or texts, of both.
pub(super) fn exact_beside(other: &DataType, given: Expr, facts: &BindFacts<'_>) -> Expr {
    let Some(number) = text_parameter_of(&given, facts) else { return given };
    if !other.is_numeric() || exact_digits(other).is_none() {
        return given;
    }
    let is_whole = is_integral(other) && facts.whole_texts.has(number);
    let target = if is_whole { CastType::Signed } else { CastType::Decimal(65, 30) };
    cast_of(given, target, "?".into(), facts.collation)
}

/// What is given beside dates, as the point in time that it is written as: a number that is the same for all rows, beside a column; a
/// parameter, beside whatever is a date. All else as it is.
pub(super) fn point_beside_dates(dates: &Expr, given: Expr, facts: &BindFacts<'_>) -> Expr {
    let has_dates = matches!(dates.data_type, DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. });
    let is_parameter = parameter_of(&given, facts).is_some();
    let is_column = matches!(dates.kind, ExprKind::Column(_) | ExprKind::Outer { .. });
    let is_number = exact_digits(&given.data_type).is_some() && given.data_type.is_numeric()
        || matches!(given.data_type, DataType::Double { .. } | DataType::Float { .. });
    let (function, data_type) = match () {
        () if !has_dates || !given.is_constant() => return given,
        () if is_number && (is_column || is_parameter) => (&NUMBER_AS_POINT, dates.data_type.clone()),
        // (Beside a day, too, it may be a time of one.)
        () if is_parameter && given.data_type.is_string() => (&TEXT_AS_POINT, DataType::DateTime { decimals: 6 }),
        () => return given,
    };
    let collated = collated_of(&data_type, Derivation::Coercible, given.collated.collation);
    let call = Call { function, arguments: vec![given], extra: Extra::None };
    Expr { kind: ExprKind::Call(Box::new(call)), data_type, nullable: true, collated }
}
