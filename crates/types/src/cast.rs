//! CAST and CONVERT: a value as one of another type, with warnings and never for want of strictness an error.
//!
//! # Source
//! MySQL Reference Manual, "Cast Functions and Operators"; texts and numbers of warnings by experiment.

use std::borrow::Cow;

use bumpalo::Bump;

use crate::context::{Context, SqlMode};
use crate::datum::{Datum, Numeric};
use crate::decimal::{Decimal, Fit};
use crate::double;
use crate::error::{Result, SqlError, number};
use crate::json::{self, Element};
use crate::temporal::{DateTime, NumberTime, Time, datetime_from_number, parse_datetime, parse_time, time_from_number};
use crate::text::{Charset, Collation};

/// What a value is cast to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CastType {
    /// SIGNED.
    Signed,
    /// UNSIGNED.
    Unsigned,
    /// FLOAT.
    Float,
    /// DOUBLE.
    Double,
    /// DECIMAL(precision, scale).
    Decimal(u8, u8),
    /// CHAR(n), with the collation of the result.
    Char(Option<u32>, Collation),
    /// BINARY(n).
    Binary(Option<u32>),
    /// DATE.
    Date,
    /// TIME(f).
    Time(u8),
    /// DATETIME(f).
    DateTime(u8),
    /// YEAR.
    Year,
    /// JSON.
    Json,
}

/// Casts a value. `describe` writes the expression, which some texts name.
pub fn cast<'a>(
    value: Datum<'a>,
    to: CastType,
    context: &mut Context,
    arena: &'a Bump,
    describe: &dyn Fn() -> String,
) -> Result<Datum<'a>> {
    if value.is_null() {
        return Ok(Datum::Null);
    }
    let null = |value: Option<Datum<'a>>| value.unwrap_or(Datum::Null);
    Ok(match to {
        CastType::Signed | CastType::Unsigned => integer(value, to == CastType::Unsigned, context, describe)?,
        CastType::Float => {
            let number = double_of(value, context);
            if number.abs() > f64::from(f32::MAX) {
                return Err(SqlError::value_out_of_range("FLOAT", &describe()));
            }
            Datum::Float(number as f32)
        }
        CastType::Double => Datum::Double(double_of(value, context)),
        CastType::Decimal(precision, scale) => {
            if let Datum::Json(document) = value {
                json_number(document, "DECIMAL", context);
            }
            let number = match value {
                Datum::Json(document) => json_decimal(document),
                other => other.to_decimal(context).unwrap_or(Decimal::ZERO),
            };
            let (fitted, fit) = number.fit(precision, scale);
            if fit == Fit::OutOfRange {
                context.warnings.warn_with(|| SqlError::out_of_range(&describe(), context.row));
            }
            Datum::Decimal(fitted)
        }
        CastType::Char(length, collation) => text(value, length, collation, context, arena)?,
        CastType::Binary(length) => binary(value, length, context, arena),
        // A time's date is today, whatever the time is.
        CastType::Date if matches!(value, Datum::Time(..)) => Datum::Date(context.today),
        // (A column may have what this mode has no days for.)
        CastType::Date => {
            let point = to_datetime(value, "date", context)?.filter(|point| point.check(context.mode));
            null(point.map(|point| Datum::Date(point.date)))
        }
        CastType::DateTime(decimals) => {
            let truncate = context.mode.time_truncate_fractional;
            match to_datetime(value, "datetime", context)?.filter(|point| point.check(context.mode)) {
                None => Datum::Null,
                Some(whole) => match whole.round(decimals, truncate) {
                    Some(rounded) => Datum::DateTime(rounded, decimals),
                    None => {
                        context.warnings.warn(SqlError::new(
                            number::DATETIME_FUNCTION_OVERFLOW,
                            "Datetime function: datetime field overflow",
                        ));
                        Datum::Null
                    }
                },
            }
        }
        CastType::Time(decimals) => {
            let truncate = context.mode.time_truncate_fractional;
            null(to_time(value, context).map(|time| Datum::Time(time.round(decimals, truncate).0, decimals)))
        }
        // A number: only columns show years in four digits.
        CastType::Year => match year(value, context, describe)? {
            Datum::Unsigned(year) => Datum::Signed(year as i64),
            other => other,
        },
        CastType::Json => {
            let document = match value {
                Datum::Json(document) => return Ok(Datum::Json(document)),
                Datum::Text(bytes, collation) if collation.charset() != Charset::Binary => {
                    let bytes = utf8(bytes, collation, arena);
                    json::parse(bytes).map_err(|error| {
                        if error.too_deep {
                            return SqlError::new(number::JSON_DOCUMENT_TOO_DEEP, error.message);
                        }
                        SqlError::new(
                            number::INVALID_JSON_TEXT_IN_PARAMETER,
                            format!(
                                "Invalid JSON text in argument 1 to function cast_as_json: \"{}\" at position {}.",
                                error.message, error.position
                            ),
                        )
                    })?
                }
                other => json::from_datum(other),
            };
            Datum::Json(arena.alloc_slice_copy(&document.to_document()?))
        }
    })
}

fn utf8<'a>(bytes: &'a [u8], collation: Collation, arena: &'a Bump) -> &'a [u8] {
    match collation.charset().converted(bytes, Charset::Utf8mb4) {
        Cow::Borrowed(same) => same,
        Cow::Owned(converted) => arena.alloc_slice_copy(&converted),
    }
}

/// Warns if a document is no number.
fn json_number(document: &[u8], kind: &str, context: &mut Context) {
    let fine = match Element::root(document) {
        Element::Signed(_) | Element::Unsigned(_) | Element::Double(_) | Element::Decimal(_) | Element::Bool(_) => true,
        Element::Text(text) => {
            let len = double::parse_double(text).len;
            len > 0 && len == text.len()
        }
        _ => false,
    };
    if !fine {
        context.warnings.warn(invalid_json_cast(kind, context.row));
    }
}

/// 3156.
pub(crate) fn invalid_json_cast(kind: &str, row: u64) -> SqlError {
    let message = format!("Invalid JSON value for CAST to {kind} from column cast_as_json at row {row}");
    SqlError::new(number::INVALID_JSON_VALUE_FOR_CAST, message)
}

fn json_decimal(document: &[u8]) -> Decimal {
    match Element::root(document) {
        Element::Signed(number) => Decimal::from(number),
        Element::Unsigned(number) => Decimal::from(number),
        Element::Double(number) => Decimal::from_f64(number).0,
        Element::Decimal(number) => number,
        Element::Bool(truth) => Decimal::from(i64::from(truth)),
        Element::Text(text) => Decimal::parse(text).value,
        _ => Decimal::ZERO,
    }
}

fn double_of(value: Datum<'_>, context: &mut Context) -> f64 {
    match value {
        Datum::Json(document) => {
            json_number(document, "DOUBLE", context);
            json_decimal_or_double(document)
        }
        other => other.to_double(context).unwrap_or(0.0),
    }
}

fn json_decimal_or_double(document: &[u8]) -> f64 {
    match Element::root(document) {
        Element::Double(number) => number,
        Element::Text(text) => double::parse_double(text).value,
        _ => json_decimal(document).to_f64(),
    }
}

fn integer<'a>(
    value: Datum<'a>,
    unsigned: bool,
    context: &mut Context,
    describe: &dyn Fn() -> String,
) -> Result<Datum<'a>> {
    let made = |bits: i64| if unsigned { Datum::Unsigned(bits as u64) } else { Datum::Signed(bits) };
    if let Datum::Json(document) = value {
        json_number(document, "INTEGER", context);
        let number = match Element::root(document) {
            Element::Text(text) => crate::integer::parse_integer(text).signed().0,
            Element::Unsigned(number) => number as i64,
            _ => json_decimal(document).to_i64().0,
        };
        return Ok(made(number));
    }
    if let Datum::Text(text, collation) = value {
        let parsed = crate::integer::parse_integer(text);
        if parsed.overflow || parsed.len == 0 || !crate::integer::only_spaces(text, parsed.len) {
            context.warnings.warn_with(|| SqlError::truncated_incorrect("INTEGER", &shown_text(text, collation)));
        }
        let complement = |kind: &str, sign: &str, to: &str| {
            SqlError::new(number::UNKNOWN, format!("Cast to {kind} converted {sign} integer to its {to} complement"))
        };
        let (bits, positive_overflow) = parsed.signed();
        if !unsigned && positive_overflow && !parsed.overflow {
            context.warnings.warn(complement("signed", "positive out-of-range", "negative"));
        }
        if unsigned && parsed.negative {
            context.warnings.warn(complement("unsigned", "negative", "positive"));
        }
        return Ok(made(bits));
    }
    let bits = match value.rounded_temporal(context).to_numeric(context).unwrap_or(Numeric::Signed(0)) {
        Numeric::Signed(number) => number,
        Numeric::Unsigned(number) => number as i64,
        Numeric::Double(number) => {
            let fits =
                if unsigned && number >= 0.0 { double::to_unsigned(number).1 } else { double::to_signed(number).1 };
            if !fits {
                return Err(SqlError::value_out_of_range("BIGINT", &describe()));
            }
            if unsigned && number >= 0.0 { double::to_unsigned(number).0 as i64 } else { double::to_signed(number).0 }
        }
        Numeric::Decimal(exact) => {
            let bits = match (unsigned && !exact.is_negative(), exact.to_i64(), exact.to_u64()) {
                (true, _, (number, fits)) => (number as i64, fits),
                (false, (number, fits), _) => (number, fits),
            };
            if !bits.1 {
                context.warnings.warn_with(|| SqlError::truncated_incorrect("DECIMAL", exact.to_string().as_bytes()));
            }
            bits.0
        }
    };
    Ok(made(bits))
}

fn text<'a>(
    value: Datum<'a>,
    length: Option<u32>,
    collation: Collation,
    context: &mut Context,
    arena: &'a Bump,
) -> Result<Datum<'a>> {
    let charset = collation.charset();
    let source = value.to_text(arena).unwrap_or_default();
    let from = match value {
        Datum::Text(..) | Datum::Member { .. } | Datum::Bits { .. } => value.collation().charset(),
        _ => Charset::Utf8mb4,
    };
    let mut bytes = source;
    if from == Charset::Binary {
        if let Err(error) = charset.check(source) {
            context.warnings.warn(error);
            return Ok(Datum::Null);
        }
    } else if !from.is_same_in(charset, source) {
        let mut out = Vec::new();
        from.convert(source, charset, &mut out);
        bytes = arena.alloc_slice_copy(&out);
    }
    if let Some(length) = length {
        let end = charset.char_offset(bytes, length as usize);
        if end < bytes.len() {
            context.warnings.warn_with(|| SqlError::truncated_incorrect(&format!("CHAR({length})"), source));
            bytes = &bytes[..end];
        }
    }
    Ok(Datum::Text(bytes, collation))
}

fn binary<'a>(value: Datum<'a>, length: Option<u32>, context: &mut Context, arena: &'a Bump) -> Datum<'a> {
    let source = value.to_text(arena).unwrap_or_default();
    let Some(length) = length else { return Datum::Text(source, Collation::Binary) };
    let length = length as usize;
    let bytes = if source.len() > length {
        context.warnings.warn_with(|| {
            SqlError::truncated_incorrect(&format!("BINARY({length})"), &shown_text(source, Collation::Binary))
        });
        &source[..length]
    } else if source.len() < length && length <= 1 << 24 {
        let filled = arena.alloc_slice_fill_copy(length, 0u8);
        filled[..source.len()].copy_from_slice(source);
        filled
    } else {
        source
    };
    Datum::Text(bytes, Collation::Binary)
}

/// As a point in time; a warning and `None` if it is none.
pub(crate) fn to_datetime(value: Datum<'_>, kind: &str, context: &mut Context) -> Result<Option<DateTime>> {
    let refused = |kind: &str, shown: &[u8]| match kind {
        "date" => SqlError::truncated_incorrect("date", shown),
        _ => SqlError::incorrect("datetime", shown),
    };
    Ok(match value {
        Datum::Date(date) => Some(date.midnight()),
        Datum::DateTime(value, _) => Some(value),
        Datum::Time(time, _) => DateTime::from_total_micros(context.today.midnight().total_micros() + time.micros()),
        Datum::Text(text, collation) => {
            let parsed = parse_datetime(text, context.mode);
            match parsed.value {
                None if parsed.overflow => {
                    context.warnings.warn(SqlError::new(
                        number::DATETIME_FUNCTION_OVERFLOW,
                        "Datetime function: datetime field overflow",
                    ));
                    context.warnings.warn_with(|| SqlError::truncated_incorrect(kind, text));
                    None
                }
                None => {
                    context.warnings.warn_with(|| refused(kind, &shown_text(text, collation)));
                    None
                }
                Some(found) => {
                    if parsed.truncated {
                        context.warnings.warn_with(|| SqlError::truncated_incorrect("date", text));
                    }
                    if let Some(deprecated) = parsed.deprecated {
                        deprecated.warn(text, context.row, &mut context.warnings);
                    }
                    match parsed.offset {
                        Some(minutes) => found.in_zone(minutes, &context.zone),
                        None => Some(found),
                    }
                }
            }
        }
        Datum::Json(document) => match Element::root(document) {
            Element::Date(date) => Some(date.midnight()),
            Element::DateTime(value) => Some(value),
            Element::Text(text) if parse_datetime(text, context.mode).value.is_some() => {
                parse_datetime(text, context.mode).value
            }
            _ => {
                let kind = if kind == "date" { "DATE" } else { "DATETIME/TIMESTAMP" };
                context.warnings.warn(invalid_json_cast(kind, context.row));
                None
            }
        },
        other => {
            let (whole, micros) = other.whole_and_micros(context);
            match whole.and_then(|whole| datetime_from_number(whole, context.mode)) {
                // Decimals belong to a time: a number that is a date alone has none.
                Some((found, true)) => Some(found),
                Some((found, false)) => found.add_micros(micros),
                None => {
                    let exact = matches!(other, Datum::Decimal(_));
                    let kind = if kind == "date" && (exact || whole.is_none()) { "date" } else { "datetime" };
                    context.warnings.warn_with(|| {
                        let mut shown = Vec::new();
                        other.append_text(&mut shown);
                        refused(kind, &shown)
                    });
                    None
                }
            }
        }
    })
}

/// As a length of time; a warning and `None` if it is none.
pub(crate) fn to_time(value: Datum<'_>, context: &mut Context) -> Option<Time> {
    match value {
        Datum::Time(time, _) => Some(time),
        Datum::DateTime(value, _) => Some(value.time()),
        Datum::Date(_) => Some(Time::ZERO),
        Datum::Text(text, collation) => {
            let parsed = parse_time(text, context.mode);
            if parsed.truncated || parsed.out_of_range || parsed.value.is_none() {
                context.warnings.warn_with(|| SqlError::truncated_incorrect("time", &shown_text(text, collation)));
            }
            if let Some(deprecated) = parsed.deprecated {
                deprecated.warn(text, context.row, &mut context.warnings);
            }
            parsed.value
        }
        Datum::Member { .. } | Datum::Bits { .. } => {
            let mut text = Vec::new();
            value.append_text(&mut text);
            to_time(Datum::Text(&text, value.collation()), context)
        }
        Datum::Json(document) => match Element::root(document) {
            Element::Time(time) => Some(time),
            Element::DateTime(value) => Some(value.time()),
            Element::Text(text) if !parse_time(text, context.mode).truncated => parse_time(text, context.mode).value,
            _ => {
                context.warnings.warn(invalid_json_cast("TIME", context.row));
                None
            }
        },
        other => {
            let (whole, micros) = other.whole_and_micros(context);
            if whole == Some(0) {
                let negative = other.to_double(context).is_some_and(|number| number < 0.0);
                return Some(Time::from_micros(if negative { -i64::from(micros) } else { i64::from(micros) }).0);
            }
            match whole.map(|whole| time_from_number(whole, micros.min(999_999), context.mode)) {
                Some(NumberTime::Time(time)) => {
                    Some(Time::from_micros(time.micros() + i64::from(micros / 1_000_000)).0)
                }
                Some(NumberTime::OfDateTime(value)) => Some(value.time()),
                _ => {
                    let mut shown = Vec::new();
                    other.append_text(&mut shown);
                    context.warnings.warn_with(|| SqlError::truncated_incorrect("time", &shown));
                    None
                }
            }
        }
    }
}

fn year<'a>(value: Datum<'a>, context: &mut Context, describe: &dyn Fn() -> String) -> Result<Datum<'a>> {
    let refused = |value: &[u8], context: &mut Context| {
        context.warnings.warn_with(|| SqlError::truncated_incorrect("YEAR", value));
        Ok(Datum::Null)
    };
    let number = match value {
        Datum::Date(date) => i64::from(date.year),
        Datum::DateTime(value, _) => i64::from(value.date.year),
        Datum::Time(..) => i64::from(context.today.year),
        Datum::Text(text, collation) => {
            let parsed = crate::integer::parse_integer(text);
            if parsed.len == 0 {
                let shown = crate::error::printable(&shown_text(text, collation));
                context.warnings.warn_with(|| SqlError::new(1525, format!("Incorrect YEAR value: '{shown}'")));
                return Ok(Datum::Null);
            }
            if !crate::integer::only_spaces(text, parsed.len) {
                context.warnings.warn_with(|| SqlError::truncated_incorrect("YEAR", text));
            }
            // Zero in text is the year 2000, but with four digits.
            if parsed.magnitude == 0 && parsed.len < 4 { 2000 } else { parsed.signed().0 }
        }
        other => match integer(other, false, context, describe)? {
            Datum::Signed(number) => number,
            _ => 0,
        },
    };
    match year_of(number) {
        Some(year) => Ok(Datum::Unsigned(year)),
        None => {
            let mut shown = Vec::new();
            match value {
                Datum::Text(text, _) => shown.extend_from_slice(text),
                _ => crate::integer::append_signed(number, &mut shown),
            }
            refused(&shown, context)
        }
    }
}

/// A number as a YEAR: two digits are 1970 to 2069.
pub(crate) fn year_of(number: i64) -> Option<u64> {
    match number {
        0 => Some(0),
        1..=69 => Some(2000 + number as u64),
        70..=99 => Some(1900 + number as u64),
        1901..=2155 => Some(number as u64),
        _ => None,
    }
}

/// A text as error texts show it: bytes that are no text in hexadecimal.
pub(crate) fn shown_text(text: &[u8], collation: Collation) -> Vec<u8> {
    if collation.charset() != Charset::Binary {
        return text.to_vec();
    }
    let mut out = Vec::new();
    for byte in text.iter().take(128) {
        match byte {
            0x20..=0x7e => out.push(*byte),
            _ => out.extend_from_slice(format!("\\x{byte:02X}").as_bytes()),
        }
    }
    out
}

impl<'a> Datum<'a> {
    /// As error texts show it.
    pub(crate) fn shown(self, arena: &'a Bump) -> Vec<u8> {
        match self {
            Datum::Text(text, collation) => shown_text(text, collation),
            other => other.to_text(arena).unwrap_or_default().to_vec(),
        }
    }

    /// A date or time without its fraction, rounded.
    pub(crate) fn rounded_temporal(self, context: &Context) -> Datum<'a> {
        let truncate = context.mode.time_truncate_fractional;
        match self {
            Datum::DateTime(value, 1..) => {
                Datum::DateTime(value.round(0, truncate).unwrap_or(DateTime { micros: 0, ..value }), 0)
            }
            Datum::Time(time, 1..) => Datum::Time(time.round(0, truncate).0, 0),
            other => other,
        }
    }

    /// The whole part of a number, if it has 64 bits, and its decimals as microseconds, rounded.
    pub(crate) fn whole_and_micros(self, context: &mut Context) -> (Option<i64>, u32) {
        match self.to_numeric(context) {
            Some(Numeric::Signed(number)) => (Some(number), 0),
            Some(Numeric::Unsigned(number)) => (i64::try_from(number).ok(), 0),
            Some(other) => {
                let exact = match other {
                    Numeric::Decimal(number) => number,
                    other => Decimal::from_f64(other.to_f64()).0,
                };
                let Ok(whole) = exact.truncate(0) else { return (None, 0) };
                let (number, fits) = whole.to_i64();
                let micros = exact.abs().sub(&whole.abs()).and_then(|rest| rest.mul(&Decimal::from(1_000_000i64)));
                let micros = micros.ok().and_then(|micros| micros.to_i128()).unwrap_or(0) as u32;
                (fits.then_some(number), micros)
            }
            None => (None, 0),
        }
    }
}

impl DateTime {
    /// So many microseconds (up to a second) later.
    fn add_micros(self, micros: u32) -> Option<DateTime> {
        if micros < 1_000_000 {
            return Some(DateTime { micros, ..self });
        }
        DateTime { micros: 999_999, ..self }.round(0, false)
    }

    /// The local time in a zone of a point that was given with an offset in minutes.
    pub fn in_zone(self, minutes: i32, zone: &crate::temporal::Zone) -> Option<DateTime> {
        match crate::temporal::Zone::fixed(minutes).to_utc(self)? {
            crate::temporal::Instant::At(seconds) | crate::temporal::Instant::InGap(seconds) => {
                zone.from_utc(seconds, self.micros)
            }
        }
    }
}

/// The mode in which everything that has the form of a date is one.
pub(crate) const LENIENT: SqlMode = SqlMode { allow_invalid_dates: false, ..SqlMode::NONE };
