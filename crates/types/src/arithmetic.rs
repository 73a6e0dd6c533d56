//! `+ - * / DIV MOD` and the minus sign: result types, and results.
//!
//! ```text
//! one of them a double, a float or a text  ->  DOUBLE
//! one of them exact, or the operator is /  ->  DECIMAL
//! otherwise                                ->  BIGINT, unsigned if one of them is
//! ```
//!
//! # Source
//! MySQL Reference Manual, "Arithmetic Operators" and "Precision Math".

use crate::context::Context;
use crate::datatype::{DataType, Number};
use crate::datum::{Datum, Numeric};
use crate::decimal::Decimal;
use crate::error::{Result, SqlError};

/// An operator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegerDivide,
    Modulo,
}

impl Operator {
    /// As error texts print it.
    pub const fn symbol(self) -> &'static str {
        match self {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::Divide => "/",
            Operator::IntegerDivide => "DIV",
            Operator::Modulo => "%",
        }
    }
}

/// The number type that a type counts as in arithmetic: digits before the point, after it, unsigned; `None` is DOUBLE.
fn as_exact(data_type: &DataType) -> Option<(u8, u8, bool)> {
    Some(match data_type {
        DataType::Integer { size, .. } => {
            let digits = match size.bytes() {
                1 => 3,
                2 => 5,
                3 => 8,
                4 => 10,
                _ if data_type.is_unsigned() => 20,
                _ => 19,
            };
            (digits, 0, data_type.is_unsigned())
        }
        DataType::Decimal { precision, scale, .. } => {
            (precision - scale.min(precision), *scale, data_type.is_unsigned())
        }
        DataType::Bit { .. } => (20, 0, true),
        DataType::Year => (4, 0, true),
        DataType::Date => (8, 0, false),
        DataType::Time { decimals } => (7, *decimals, false),
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => (14, *decimals, false),
        _ => return None,
    })
}

/// The type of an operator's result.
pub fn result_type(operator: Operator, left: &DataType, right: &DataType, increment: u8) -> DataType {
    let (Some((left_whole, left_scale, left_unsigned)), Some((right_whole, right_scale, right_unsigned))) =
        (as_exact(left), as_exact(right))
    else {
        return match operator {
            Operator::IntegerDivide => DataType::BIGINT,
            _ => DataType::DOUBLE,
        };
    };
    let unsigned = match operator {
        Operator::Modulo => left_unsigned,
        _ => left_unsigned || right_unsigned,
    };
    let exact = |whole: u8, scale: u8, unsigned: bool| {
        let scale = scale.min(Decimal::MAX_SCALE);
        let precision = whole.saturating_add(scale).clamp(1, Decimal::MAX_DIGITS as u8);
        DataType::Decimal { precision, scale: scale.min(precision), number: Number { unsigned, zerofill: false } }
    };
    let integers =
        |data_type: &DataType| !matches!(data_type, DataType::Decimal { .. }) && data_type.decimals() == Some(0);
    let whole_numbers = integers(left) && integers(right);
    let bigint = if unsigned { DataType::BIGINT_UNSIGNED } else { DataType::BIGINT };
    match operator {
        Operator::IntegerDivide => bigint,
        Operator::Divide => exact(
            left_whole.saturating_add(right_scale),
            left_scale.saturating_add(increment),
            left_unsigned && right_unsigned,
        ),
        _ if whole_numbers => bigint,
        Operator::Add | Operator::Subtract => exact(
            left_whole.max(right_whole).saturating_add(1),
            left_scale.max(right_scale),
            left_unsigned && right_unsigned,
        ),
        Operator::Multiply => exact(
            left_whole.saturating_add(right_whole),
            left_scale.saturating_add(right_scale),
            left_unsigned && right_unsigned,
        ),
        Operator::Modulo => exact(left_whole.max(right_whole), left_scale.max(right_scale), left_unsigned),
    }
}

/// A sum, difference, product, quotient or rest of two integers with a sign, if it is one of the same kind.
#[inline]
fn of_integers(operator: Operator, left: i64, right: i64) -> Option<i64> {
    match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::IntegerDivide => left.checked_div(right),
        Operator::Modulo => left.checked_rem(right),
        Operator::Divide => None,
    }
}

/// What rows are mostly computed of, at once: of integers with a sign, and of exact numbers of few digits. `None` if it is not so
/// simple.
#[inline]
pub fn at_once(operator: Operator, left: &Datum<'_>, right: &Datum<'_>, increment: u8) -> Option<Datum<'static>> {
    match (left, right) {
        _ if operator == Operator::Divide => {}
        (Datum::Signed(a), Datum::Signed(b)) => return of_integers(operator, *a, *b).map(Datum::Signed),
        (Datum::Decimal(_), _) | (_, Datum::Decimal(_)) => {}
        _ => return None,
    }
    let (a, b) = (left.short()?, right.short()?);
    let result = match operator {
        Operator::Add => a.checked_add(b),
        Operator::Subtract => a.checked_sub(b),
        Operator::Multiply => a.checked_mul(b),
        Operator::Divide => a.checked_div(b, increment),
        Operator::IntegerDivide | Operator::Modulo => None,
    };
    result.map(Datum::Decimal)
}

/// The result of an operator. `describe` writes the expression for error 1690.
pub fn evaluate(
    operator: Operator,
    left: Datum<'_>,
    right: Datum<'_>,
    context: &mut Context,
    describe: &dyn Fn() -> String,
) -> Result<Datum<'static>> {
    let inexact = |value| matches!(value, Datum::Text(..) | Datum::Double(_) | Datum::Float(_));
    if operator == Operator::IntegerDivide && (inexact(left) || inexact(right)) {
        let (Some(a), Some(b)) = (left.to_decimal(context), right.to_decimal(context)) else { return Ok(Datum::Null) };
        let unsigned = |value: Datum<'_>| matches!(value, Datum::Unsigned(_) | Datum::Bits { .. });
        return divide_whole(&a, &b, unsigned(left) || unsigned(right), context, describe);
    }
    let (Some(a), Some(b)) = (left.to_numeric(context), right.to_numeric(context)) else { return Ok(Datum::Null) };
    match (a, b) {
        (Numeric::Double(_), _) | (_, Numeric::Double(_)) => {
            doubles(operator, a.to_f64(), b.to_f64(), context, describe)
        }
        (Numeric::Decimal(_), _) | (_, Numeric::Decimal(_)) => {
            decimals(operator, exact(a), exact(b), context, describe)
        }
        _ if operator == Operator::Divide => decimals(operator, exact(a), exact(b), context, describe),
        _ => integers(operator, a, b, context, describe),
    }
}

fn exact(number: Numeric) -> Decimal {
    match number {
        Numeric::Signed(number) => Decimal::from(number),
        Numeric::Unsigned(number) => Decimal::from(number),
        Numeric::Decimal(number) => number,
        Numeric::Double(number) => Decimal::from_f64(number).0,
    }
}

fn by_zero(context: &mut Context) -> Result<Datum<'static>> {
    if context.mode.error_for_division_by_zero {
        context.warnings.warn_with(SqlError::division_by_zero);
    }
    Ok(Datum::Null)
}

fn doubles(
    operator: Operator,
    a: f64,
    b: f64,
    context: &mut Context,
    describe: &dyn Fn() -> String,
) -> Result<Datum<'static>> {
    let result = match operator {
        Operator::Add => a + b,
        Operator::Subtract => a - b,
        Operator::Multiply => a * b,
        _ if b == 0.0 => return by_zero(context),
        Operator::Divide => a / b,
        _ => a % b,
    };
    if result.is_finite() {
        Ok(Datum::Double(result))
    } else {
        Err(SqlError::value_out_of_range("DOUBLE", &describe()))
    }
}

fn decimals(
    operator: Operator,
    a: Decimal,
    b: Decimal,
    context: &mut Context,
    describe: &dyn Fn() -> String,
) -> Result<Datum<'static>> {
    let result = match operator {
        Operator::Add => a.add(&b),
        Operator::Subtract => a.sub(&b),
        Operator::Multiply => a.mul(&b).and_then(|product| {
            if product.scale() > Decimal::MAX_SCALE { product.round(Decimal::MAX_SCALE.into()) } else { Ok(product) }
        }),
        Operator::Divide => match a.div(&b, context.div_precision_increment) {
            Ok(None) => return by_zero(context),
            Ok(Some(quotient)) => Ok(quotient),
            Err(overflow) => Err(overflow),
        },
        Operator::Modulo => match a.rem(&b) {
            None => return by_zero(context),
            Some(rest) => Ok(rest),
        },
        Operator::IntegerDivide => return divide_whole(&a, &b, false, context, describe),
    };
    result.map(Datum::Decimal).map_err(|_| SqlError::value_out_of_range("DECIMAL", &describe()))
}

fn divide_whole(
    a: &Decimal,
    b: &Decimal,
    unsigned: bool,
    context: &mut Context,
    describe: &dyn Fn() -> String,
) -> Result<Datum<'static>> {
    let overflow = || SqlError::value_out_of_range(if unsigned { "BIGINT UNSIGNED" } else { "BIGINT" }, &describe());
    match a.div_whole(b) {
        Ok(None) => by_zero(context),
        Ok(Some(quotient)) => whole(quotient.to_i128(), unsigned, overflow),
        Err(_) => Err(overflow()),
    }
}

fn whole(number: Option<i128>, unsigned: bool, overflow: impl Fn() -> SqlError) -> Result<Datum<'static>> {
    let number = number.ok_or_else(&overflow)?;
    if unsigned {
        u64::try_from(number).map(Datum::Unsigned).map_err(|_| overflow())
    } else {
        i64::try_from(number).map(Datum::Signed).map_err(|_| overflow())
    }
}

fn integers(
    operator: Operator,
    a: Numeric,
    b: Numeric,
    context: &mut Context,
    describe: &dyn Fn() -> String,
) -> Result<Datum<'static>> {
    let wide = |number| match number {
        Numeric::Unsigned(number) => (i128::from(number), true),
        Numeric::Signed(number) => (i128::from(number), false),
        _ => (0, false),
    };
    let ((a, a_unsigned), (b, b_unsigned)) = (wide(a), wide(b));
    let mut unsigned = a_unsigned || b_unsigned;
    let result = match operator {
        Operator::Add => a + b,
        Operator::Subtract => {
            unsigned &= !context.mode.no_unsigned_subtraction;
            a - b
        }
        Operator::Multiply => a.saturating_mul(b),
        _ if b == 0 => return by_zero(context),
        Operator::Modulo => {
            unsigned = a_unsigned;
            a % b
        }
        _ => a / b,
    };
    let overflow = || SqlError::value_out_of_range(if unsigned { "BIGINT UNSIGNED" } else { "BIGINT" }, &describe());
    whole(Some(result), unsigned, overflow)
}

/// The minus sign.
pub fn negate(value: Datum<'_>, context: &mut Context, describe: &dyn Fn() -> String) -> Result<Datum<'static>> {
    let overflow = || SqlError::value_out_of_range("BIGINT", &describe());
    Ok(match value.to_numeric(context) {
        None => Datum::Null,
        Some(Numeric::Signed(number)) => number.checked_neg().map(Datum::Signed).ok_or_else(overflow)?,
        Some(Numeric::Unsigned(number)) => whole(Some(-i128::from(number)), false, overflow)?,
        Some(Numeric::Decimal(number)) => Datum::Decimal(number.neg()),
        Some(Numeric::Double(number)) => Datum::Double(-number),
    })
}
