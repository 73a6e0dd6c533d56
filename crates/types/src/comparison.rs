//! Comparing values of different types.
//!
//! | left | right | compared as |
//! |---|---|---|
//! | text | text | text, in the collation that wins |
//! | integer | integer | integers, whatever their signs |
//! | exact number | integer, exact number | exact numbers |
//! | date, time, both | the same; a date, text that is one | points in time, lengths of time |
//! | column of times | text or date that was given | lengths of time, if it is one |
//! | time | text, number | texts, numbers: `10:00:00` is 100000 |
//! | column of integers or exact numbers | text that was given | exact numbers, if it is one |
//! | column of years | number, text or date that was given | years |
//! | column of years | date | points in time: a year is before all of its days |
//! | column of dates | number that was given | points in time, if it is written as one ([`number_as_point`]) |
//! | JSON | anything | JSON |
//! | anything else | | doubles |
//!
//! # Source
//! MySQL Reference Manual, "Type Conversion in Expression Evaluation".

use std::cmp::Ordering;

use crate::context::{Context, SqlMode};
use crate::datum::{Datum, Numeric};
use crate::decimal::Decimal;
use crate::error::SqlError;
use crate::json::{self, Element};
use crate::temporal::{Date, DateTime, NumberTime, Time, parse_datetime, parse_time, time_from_number};
use crate::text::Collation;

/// As what two values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComparisonType {
    /// Text, in the collation that the caller has found.
    Text,
    /// Integers.
    Integer,
    /// Exact numbers.
    Decimal,
    /// Doubles.
    Double,
    /// Points in time.
    DateTime,
    /// Lengths of time.
    Time,
    /// JSON.
    Json,
    /// A column of exact numbers and what was given: exactly, if that is a number, otherwise as doubles.
    Given,
    /// Years: numbers and text of one or two digits stand for 1970 to 2069.
    Year,
    /// Points in time, of which a number is a year, which is before its first day.
    YearBesideDate,
}

/// What kind a value is when it is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ComparisonKind {
    /// Text and bytes.
    Text,
    /// Integers, bits, years.
    Integer,
    /// Exact numbers.
    Decimal,
    /// FLOAT, DOUBLE.
    Double,
    /// DATE, DATETIME, TIMESTAMP.
    DateTime,
    /// TIME.
    Time,
    /// ENUM, SET: text beside text, numbers beside numbers.
    Member,
    /// JSON.
    Json,
}

impl ComparisonKind {
    /// The type in which two kinds are compared.
    pub fn with(self, other: ComparisonKind) -> ComparisonType {
        use ComparisonKind::*;
        match (self, other) {
            (Json, _) | (_, Json) => ComparisonType::Json,
            (DateTime, DateTime | Text | Time) | (Text | Time, DateTime) => ComparisonType::DateTime,
            (Time, Time | Text) | (Text, Time) => ComparisonType::Time,
            (Text | Member, Text | Member) | (Time, Member) | (Member, Time) => ComparisonType::Text,
            (Integer | Member, Integer | Member) => ComparisonType::Integer,
            (Decimal, Integer | Decimal | Member | Time) | (Integer | Member, Decimal) => ComparisonType::Decimal,
            (Time, Integer | Decimal) | (Integer, Time) => ComparisonType::Decimal,
            _ => ComparisonType::Double,
        }
    }
}

impl Datum<'_> {
    /// Its kind; `None` for NULL.
    pub fn comparison_kind(self) -> Option<ComparisonKind> {
        Some(match self {
            Datum::Null => return None,
            Datum::Signed(_) | Datum::Unsigned(_) | Datum::Bits { .. } => ComparisonKind::Integer,
            Datum::Float(_) | Datum::Double(_) => ComparisonKind::Double,
            Datum::Decimal(_) => ComparisonKind::Decimal,
            Datum::Text(..) => ComparisonKind::Text,
            Datum::Date(_) | Datum::DateTime(..) => ComparisonKind::DateTime,
            Datum::Time(..) => ComparisonKind::Time,
            Datum::Member { .. } => ComparisonKind::Member,
            Datum::Json(_) => ComparisonKind::Json,
        })
    }
}

/// The order of two values, text in this collation. `None` if one is NULL, or the order is not known.
///
/// Both texts are in the collation's character set.
pub fn compare(
    left: Datum<'_>,
    right: Datum<'_>,
    collation: Collation,
    context: &mut Context,
) -> Result<Option<Ordering>, SqlError> {
    // What rows mostly compare, at once.
    match (left, right) {
        (Datum::Signed(a), Datum::Signed(b)) => return Ok(Some(a.cmp(&b))),
        (Datum::Unsigned(a), Datum::Unsigned(b)) => return Ok(Some(a.cmp(&b))),
        (Datum::Text(a, _), Datum::Text(b, _)) => return Ok(Some(collation.compare(a, b))),
        (Datum::Date(a), Datum::Date(b)) => return Ok(Some(a.cmp(&b))),
        (Datum::DateTime(a, _), Datum::DateTime(b, _)) => return Ok(Some(a.cmp(&b))),
        _ => {}
    }
    let (Some(left_kind), Some(right_kind)) = (left.comparison_kind(), right.comparison_kind()) else {
        return Ok(None);
    };
    compare_as(left_kind.with(right_kind), left, right, collation, context)
}

/// The order of two values, compared as this type.
pub fn compare_as(
    comparison: ComparisonType,
    left: Datum<'_>,
    right: Datum<'_>,
    collation: Collation,
    context: &mut Context,
) -> Result<Option<Ordering>, SqlError> {
    if left.is_null() || right.is_null() {
        return Ok(None);
    }
    Ok(match comparison {
        ComparisonType::Integer => {
            let wide = |value: Datum<'_>, context: &mut Context| {
                value
                    .to_integer(context)
                    .map(|(bits, unsigned)| if unsigned { i128::from(bits as u64) } else { bits.into() })
            };
            wide(left, context).zip(wide(right, context)).map(|(a, b)| compare_integers(a, b))
        }
        ComparisonType::Decimal => left.to_decimal(context).zip(right.to_decimal(context)).map(|(a, b)| a.cmp(&b)),
        ComparisonType::Double => compare_doubles(left, right, context),
        ComparisonType::Text => {
            let (mut a, mut b) = (Vec::new(), Vec::new());
            Some(collation.compare(left.text_in(&mut a), right.text_in(&mut b)))
        }
        ComparisonType::DateTime => {
            let (a, b) = (point(left, right, context)?, point(right, left, context)?);
            match (a, b) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                // Not a date: as numbers.
                _ => compare_doubles(left, right, context),
            }
        }
        ComparisonType::Time if no_time(left, context) || no_time(right, context) => {
            return compare_as(ComparisonType::Text, left, right, collation, context);
        }
        ComparisonType::Time => match length(left, context).zip(length(right, context)) {
            Some((a, b)) => Some(a.cmp(&b)),
            // A number that is written as none: as numbers.
            None => compare_doubles(left, right, context),
        },
        ComparisonType::Given => match (exact_number(left, context), exact_number(right, context)) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => compare_doubles(left, right, context),
        },
        ComparisonType::Year => {
            given_year(left, context).zip(given_year(right, context)).and_then(|(a, b)| a.partial_cmp(&b))
        }
        ComparisonType::YearBesideDate => {
            let mut point = |value, other| match value {
                Datum::Signed(year) => Ok(Some(before_year(year as u64))),
                Datum::Unsigned(year) => Ok(Some(before_year(year))),
                _ => point(value, other, context),
            };
            let (a, b) = (point(left, right)?, point(right, left)?);
            a.zip(b).map(|(a, b)| a.cmp(&b))
        }
        ComparisonType::Json => {
            let document = |value: Datum<'_>| json::from_datum(value).to_document();
            let (a, b) = (document(left)?, document(right)?);
            Some(json::compare(&a, &b))
        }
    })
}

/// The order of two values as doubles.
fn compare_doubles(left: Datum<'_>, right: Datum<'_>, context: &mut Context) -> Option<Ordering> {
    left.to_double(context).zip(right.to_double(context)).and_then(|(a, b)| a.partial_cmp(&b))
}

/// The year that something stands for beside a column of years: of a point in time its own, of one or two digits one of 1970 to 2069, and
/// of all else what it is as a number, which may be no year.
pub fn given_year(value: Datum<'_>, context: &mut Context) -> Option<f64> {
    let number = match value {
        Datum::Date(date) => return Some(date.year.into()),
        Datum::DateTime(point, _) => return Some(point.date.year.into()),
        // (Four digits are the year that a number is.)
        Datum::Text(b"0" | b"00" | b"000", _) => return Some(2000.0),
        // (A day begins with its year.)
        Datum::Text(text, _) if text.first().is_some_and(u8::is_ascii_digit) => {
            value.to_double(&mut context.apart())?.round()
        }
        _ => value.to_double(context)?.round(),
    };
    let short = (1.0..100.0).contains(&number);
    Some(crate::cast::year_of(number as i64).filter(|_| short).map_or(number, |year| year as f64))
}

/// What is before the first day of a year, and behind all days of those before.
fn before_year(year: u64) -> DateTime {
    Date { year: u16::try_from(year).unwrap_or(u16::MAX), month: 0, day: 0 }.midnight()
}

/// A number, or a text that is one and nothing else, exactly.
pub fn exact_number(value: Datum<'_>, context: &mut Context) -> Option<Decimal> {
    match value {
        Datum::Text(text, _) => {
            let parsed = Decimal::parse(text);
            let complete = parsed.len == text.len() && parsed.len > 0 && !parsed.overflow && !parsed.truncated;
            complete.then_some(parsed.value)
        }
        Datum::Float(_) | Datum::Double(_) | Datum::Json(_) => None,
        other => other.to_decimal(context),
    }
}

/// The point in time that a text is beside a date; `None` if it is none.
pub fn text_as_point(text: &[u8], context: &Context) -> Option<DateTime> {
    point_of_text(text, context.mode, context)
}

/// The length of time that a text is beside another one; `None` if it is none, or not all of it.
pub fn text_as_length(text: &[u8], context: &Context) -> Option<Time> {
    let parsed = parse_time(text, context.mode);
    parsed.value.filter(|_| !parsed.truncated && !parsed.out_of_range)
}

/// The length of time that a value is beside a column of them; `None` if it is none, or not all of it.
pub fn as_length(value: Datum<'_>, context: &mut Context) -> Option<Time> {
    match value {
        Datum::Text(text, _) => text_as_length(text, context),
        _ => length(value, context),
    }
}

/// The point in time that a parameter's text is beside a date; `None` if it is none. In all modes the zero date is one, as are days of a month
/// that have no number, or that it does not have: as in `at < '2024-02-31'`.
pub fn parameter_as_point(text: &[u8], context: &Context) -> Option<DateTime> {
    let mode = SqlMode { no_zero_date: false, no_zero_in_date: false, allow_invalid_dates: true, ..context.mode };
    point_of_text(text, mode, context)
}

fn point_of_text(text: &[u8], mode: SqlMode, context: &Context) -> Option<DateTime> {
    let parsed = parse_datetime(text, mode);
    let value = parsed.value?;
    Some(match parsed.offset {
        Some(minutes) => value.in_zone(minutes, &context.zone).unwrap_or(value),
        None => value,
    })
}

/// The point in time that a number is written as, in a column that has so many digits of seconds; `None` if it is none. Days that a month
/// does not have count.
pub fn number_as_point(number: Datum<'_>, decimals: u8, context: &mut Context) -> Option<DateTime> {
    let (whole, micros) = number.whole_and_micros(context);
    let mode = SqlMode { allow_invalid_dates: true, ..SqlMode::NONE };
    let (point, is_date) = crate::temporal::datetime_from_number(whole?, mode)?;
    let micros = if is_date { 0 } else { micros.min(999_999) };
    DateTime { micros, ..point }.round(decimals, false)
}

/// The length of time that a number is written as; `None` if it is none.
fn number_as_length(number: Datum<'_>, context: &mut Context) -> Option<Time> {
    let (whole, micros) = number.whole_and_micros(context);
    match time_from_number(whole?, micros, context.mode) {
        NumberTime::Time(time) => Some(time),
        _ => None,
    }
}

/// A value as a point in time beside another one.
fn point(value: Datum<'_>, other: Datum<'_>, context: &mut Context) -> Result<Option<DateTime>, SqlError> {
    Ok(match value {
        Datum::Date(date) => Some(date.midnight()),
        Datum::DateTime(value, _) => Some(value),
        Datum::Time(time, _) => DateTime::from_total_micros(context.today.midnight().total_micros() + time.micros()),
        Datum::Text(text, _) => match text_as_point(text, context) {
            Some(point) => Some(point),
            None => {
                let kind = if matches!(other, Datum::Date(_)) { "DATE" } else { "DATETIME" };
                let shown = crate::error::printable(text);
                return Err(SqlError::new(1525, format!("Incorrect {kind} value: '{shown}'")));
            }
        },
        Datum::Signed(number) => crate::temporal::datetime_from_number(number, SqlMode::NONE).map(|(value, _)| value),
        _ => None,
    })
}

fn no_time(value: Datum<'_>, context: &Context) -> bool {
    match value {
        Datum::Text(text, _) => {
            let parsed = parse_time(text, context.mode);
            parsed.truncated || parsed.value.is_none()
        }
        _ => false,
    }
}

fn length(value: Datum<'_>, context: &mut Context) -> Option<Time> {
    match value {
        Datum::Time(time, _) => Some(time),
        Datum::Text(text, _) => {
            let parsed = parse_time(text, context.mode);
            if parsed.truncated || parsed.out_of_range {
                context.warnings.warn_with(|| SqlError::truncated_incorrect("time", text));
            }
            parsed.value
        }
        Datum::DateTime(value, _) => Some(value.time()),
        Datum::Date(date) => Some(date.midnight().time()),
        other => number_as_length(other, context),
    }
}

pub(crate) fn compare_integers(left: i128, right: i128) -> Ordering {
    left.cmp(&right)
}

/// The order of a double and an exact number.
pub(crate) fn compare_double_with_decimal(left: f64, right: &Decimal) -> Ordering {
    let (exact, fits) = Decimal::from_f64(left);
    if fits { exact.cmp(right) } else { left.total_cmp(&0.0) }
}

impl Numeric {
    /// As a double.
    pub fn to_f64(self) -> f64 {
        match self {
            Numeric::Signed(number) => number as f64,
            Numeric::Unsigned(number) => number as f64,
            Numeric::Decimal(number) => number.to_f64(),
            Numeric::Double(number) => number,
        }
    }
}

/// Whether a JSON document is true as a condition: all but the number zero is.
pub fn json_truth(document: &[u8]) -> bool {
    match Element::root(document) {
        Element::Signed(number) => number != 0,
        Element::Unsigned(number) => number != 0,
        Element::Double(number) => number != 0.0,
        Element::Decimal(number) => !number.is_zero(),
        _ => true,
    }
}
