//! Assigning a value to a column, as INSERT and UPDATE do.
//!
//! A value that does not fit is an error in strict mode; otherwise it is bent until it fits, with a warning.
//!
//! # Invariants
//! 1. What is returned is NULL or of the column's type: [`DataType::store`] stores it, and all of it.
//!
//! # Source
//! MySQL Reference Manual, "Server SQL Modes", "Out-of-Range and Overflow Handling"; texts and numbers by experiment.

use bumpalo::Bump;

use crate::cast::{self, LENIENT, invalid_json_cast, to_datetime, year_of};
use crate::context::{Context, SqlMode};
use crate::datatype::{DataType, IntegerSize};
use crate::datum::{Datum, Numeric};
use crate::decimal::{Decimal, Fit};
use crate::double;
use crate::error::{Result, SqlError, number};
use crate::integer::only_spaces;
use crate::json::{self, Element};
use crate::member::Members;
use crate::temporal::{Date, DateTime, Time, parse_datetime, parse_time};
use crate::text::{Charset, Collation};

/// The value that a column gets. `column` is its name in texts.
pub fn assign<'a>(
    value: Datum<'a>,
    to: &'a DataType,
    column: &str,
    context: &mut Context,
    arena: &'a Bump,
) -> Result<Datum<'a>> {
    // What fits as it is, at once.
    match (to, value) {
        (_, Datum::Null) => return Ok(Datum::Null),
        (DataType::Integer { size, .. }, Datum::Signed(given))
            if !to.is_unsigned() && (size.signed_min()..=size.signed_max()).contains(&given) =>
        {
            return Ok(value);
        }
        (DataType::Double { digits: None, .. }, Datum::Double(_)) if !to.is_unsigned() => return Ok(value),
        (DataType::Date, Datum::Date(date)) if date.check(context.mode) => return Ok(value),
        (DataType::Json, Datum::Json(_)) => return Ok(value),
        _ => {}
    }
    let target = Target { column, value, arena };
    match to {
        DataType::Null => Ok(Datum::Null),
        DataType::Integer { size, .. } => target.integer(*size, to.is_unsigned(), context),
        DataType::Decimal { precision, scale, .. } => target.decimal(*precision, *scale, to.is_unsigned(), context),
        DataType::Float { digits, .. } => {
            let number = target.double(*digits, to.is_unsigned(), "FLOAT", f64::from(f32::MAX), context)?;
            Ok(Datum::Float(number as f32))
        }
        DataType::Double { digits, .. } => {
            target.double(*digits, to.is_unsigned(), "DOUBLE", f64::MAX, context).map(Datum::Double)
        }
        DataType::Bit { width } => target.bits(*width, context),
        DataType::Year => target.year(context),
        DataType::Date => target.date(context),
        DataType::Time { decimals } => target.time(*decimals, context),
        DataType::DateTime { decimals } => target.datetime(*decimals, false, context),
        DataType::Timestamp { decimals } => target.datetime(*decimals, true, context),
        DataType::Char { length, collation } => target.text(*length, u32::MAX, *collation, true, context),
        DataType::Varchar { length, collation } => target.text(*length, u32::MAX, *collation, false, context),
        DataType::Text { size, collation } => target.text(u32::MAX, size.max_bytes(), *collation, false, context),
        DataType::Enum(members) => target.member(members, false, context),
        DataType::Set(members) => target.member(members, true, context),
        DataType::Json => target.json(context),
    }
}

struct Target<'a, 'c> {
    column: &'c str,
    value: Datum<'a>,
    arena: &'a Bump,
}

impl<'a> Target<'a, '_> {
    fn out_of_range(&self, context: &mut Context) -> Result<()> {
        context.complain(SqlError::out_of_range(self.column, context.row))
    }

    fn truncated(&self, context: &mut Context) -> Result<()> {
        context.complain(SqlError::data_truncated(self.column, context.row))
    }

    fn incorrect(&self, kind: &str, context: &mut Context) -> Result<()> {
        let shown = self.value.shown(self.arena);
        context.complain(SqlError::incorrect_value(kind, &shown, self.column, context.row))
    }

    /// A document as a number.
    fn json_numeric(&self, document: &[u8], kind: &str, context: &mut Context) -> Result<Numeric> {
        Ok(match Element::root(document) {
            Element::Signed(number) => Numeric::Signed(number),
            Element::Unsigned(number) => Numeric::Unsigned(number),
            Element::Double(number) => Numeric::Double(number),
            Element::Decimal(number) => Numeric::Decimal(number),
            Element::Bool(truth) => Numeric::Signed(truth.into()),
            other => {
                let parsed = if let Element::Text(text) = other { Some((Decimal::parse(text), text)) } else { None };
                match parsed {
                    Some((parsed, text)) if parsed.len == text.len() && parsed.len > 0 => {
                        Numeric::Decimal(parsed.value)
                    }
                    parsed => {
                        context.complain(invalid_json_cast(kind, context.row))?;
                        Numeric::Decimal(parsed.map_or(Decimal::ZERO, |(parsed, _)| parsed.value))
                    }
                }
            }
        })
    }

    fn integer(&self, size: IntegerSize, unsigned: bool, context: &mut Context) -> Result<Datum<'a>> {
        let mut garbage = false;
        let numeric = match self.value {
            Datum::Text(text, _) => {
                let parsed = Decimal::parse(text);
                if parsed.len == 0 {
                    self.incorrect("integer", context)?;
                }
                garbage = parsed.len > 0 && !only_spaces(text, parsed.len + exponent_len(text, parsed.len));
                Numeric::Decimal(parsed.value)
            }
            Datum::Json(document) => self.json_numeric(document, "INTEGER", context)?,
            other => other.rounded_temporal(context).to_numeric(context).unwrap_or(Numeric::Signed(0)),
        };
        let wide = match numeric {
            Numeric::Signed(number) => i128::from(number),
            Numeric::Unsigned(number) => i128::from(number),
            Numeric::Decimal(number) => {
                number.to_i128().unwrap_or(if number.is_negative() { i128::MIN } else { i128::MAX })
            }
            Numeric::Double(number) => number.round_ties_even() as i128,
        };
        let (low, high) = if unsigned {
            (0, i128::from(size.unsigned_max()))
        } else {
            (i128::from(size.signed_min()), i128::from(size.signed_max()))
        };
        let fitted = wide.clamp(low, high);
        let below = unsigned && matches!(numeric, Numeric::Decimal(number) if number.is_negative());
        if fitted != wide || below {
            self.out_of_range(context)?;
        } else if garbage {
            self.truncated(context)?;
        }
        Ok(if unsigned { Datum::Unsigned(fitted as u64) } else { Datum::Signed(fitted as i64) })
    }

    fn decimal(&self, precision: u8, scale: u8, unsigned: bool, context: &mut Context) -> Result<Datum<'a>> {
        let exact = match self.value {
            Datum::Text(text, _) => {
                let parsed = Decimal::parse(text);
                let complete = only_spaces(text, parsed.len);
                let exponent = parsed.overflow && text.iter().any(|byte| byte.eq_ignore_ascii_case(&b'e'));
                let underflow = parsed.value.is_zero() && parsed.truncated;
                if parsed.len == 0 || context.mode.strict && (!complete || exponent || underflow) {
                    self.incorrect("decimal", context)?;
                } else if !complete || underflow {
                    context.warnings.note(SqlError::data_truncated(self.column, context.row));
                }
                parsed.value
            }
            Datum::Json(document) => numeric_decimal(self.json_numeric(document, "DECIMAL", context)?),
            other => other.to_decimal(context).unwrap_or(Decimal::ZERO),
        };
        if unsigned && exact.is_negative() {
            self.out_of_range(context)?;
            return Ok(Datum::Decimal(Decimal::ZERO.round(scale.into()).unwrap_or(Decimal::ZERO)));
        }
        let (fitted, fit) = exact.fit(precision, scale);
        match fit {
            Fit::OutOfRange => self.out_of_range(context)?,
            Fit::Rounded => context.warnings.note(SqlError::data_truncated(self.column, context.row)),
            Fit::Exact => {}
        }
        Ok(Datum::Decimal(fitted))
    }

    fn double(
        &self,
        digits: Option<(u8, u8)>,
        unsigned: bool,
        kind: &str,
        mut limit: f64,
        context: &mut Context,
    ) -> Result<f64> {
        let mut number = match self.value {
            Datum::Text(text, _) => {
                let parsed = double::parse_double(text);
                if parsed.len == 0 || !only_spaces(text, parsed.len) {
                    self.incorrect(kind, context)?;
                }
                if parsed.overflow { f64::INFINITY.copysign(parsed.value) } else { parsed.value }
            }
            Datum::Json(document) => self.json_numeric(document, "DOUBLE", context)?.to_f64(),
            other => other.to_double(context).unwrap_or(0.0),
        };
        if unsigned && number < 0.0 {
            self.out_of_range(context)?;
            return Ok(0.0);
        }
        if let Some((precision, decimals)) = digits {
            let whole = i32::from(precision) - i32::from(decimals);
            limit = limit.min(10f64.powi(whole) - 10f64.powi(-i32::from(decimals)));
            number = double::round_double(number, decimals.into(), false);
        }
        if number.abs() > limit {
            self.out_of_range(context)?;
            return Ok(limit.copysign(number));
        }
        Ok(number)
    }

    fn bits(&self, width: u8, context: &mut Context) -> Result<Datum<'a>> {
        let mask = u64::MAX >> (64 - u32::from(width.clamp(1, 64)));
        let bits = match self.value {
            Datum::Text(text, _) => {
                let start = text.iter().take_while(|byte| **byte == 0).count();
                let digits = &text[start..];
                (digits.len() <= 8).then(|| digits.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
            }
            Datum::Date(_) | Datum::Time(..) | Datum::DateTime(..) | Datum::Json(_) => {
                let text = self.value.to_text(self.arena).unwrap_or_default();
                (text.len() <= 8).then(|| text.iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte)))
            }
            Datum::Decimal(exact) => {
                let (number, fits) = exact.to_u64();
                if !fits {
                    self.out_of_range(context)?;
                    return Ok(Datum::Bits { bits: if exact.is_negative() { 0 } else { mask }, width });
                }
                Some(number)
            }
            other => match other.to_numeric(context) {
                Some(Numeric::Double(number)) => Some(number.trunc() as i64 as u64),
                Some(Numeric::Signed(number)) => Some(number as u64),
                Some(Numeric::Unsigned(number)) => Some(number),
                _ => Some(0),
            },
        };
        if let Some(bits) = bits.filter(|bits| bits & !mask == 0) {
            return Ok(Datum::Bits { bits, width });
        }
        if context.mode.strict {
            return Err(SqlError::data_too_long(self.column, context.row));
        }
        if context.ignores {
            context.warnings.warn(SqlError::data_too_long(self.column, context.row));
        } else {
            self.out_of_range(context)?;
        }
        Ok(Datum::Bits { bits: mask, width })
    }

    fn year(&self, context: &mut Context) -> Result<Datum<'a>> {
        let mut garbage = false;
        let number = match self.value {
            Datum::Text(text, _) => {
                let parsed = Decimal::parse(text);
                if parsed.len == 0 {
                    self.incorrect("integer", context)?;
                    return Ok(Datum::Unsigned(0));
                }
                garbage = !only_spaces(text, parsed.len + exponent_len(text, parsed.len));
                let number = parsed.value.to_i64().0;
                // Zero in text is the year 2000, but with four digits.
                if number == 0 && parsed.len != 4 { 2000 } else { number }
            }
            Datum::Date(date) => date.year.into(),
            Datum::DateTime(value, _) => value.date.year.into(),
            Datum::Time(..) => context.today.year.into(),
            Datum::Json(document) => numeric_decimal(self.json_numeric(document, "INTEGER", context)?).to_i64().0,
            other => match other.to_numeric(context) {
                Some(Numeric::Signed(number)) => number,
                Some(Numeric::Unsigned(number)) => i64::try_from(number).unwrap_or(i64::MAX),
                Some(Numeric::Double(number)) if number < 0.0 => -1,
                Some(Numeric::Double(number)) => number.trunc() as i64,
                Some(Numeric::Decimal(number)) => number.to_i64().0,
                None => 0,
            },
        };
        match year_of(number) {
            Some(year) => {
                if garbage {
                    self.truncated(context)?;
                }
                Ok(Datum::Unsigned(year))
            }
            None => {
                self.out_of_range(context)?;
                Ok(Datum::Unsigned(0))
            }
        }
    }

    /// The point in time of a value that is not NULL.
    fn point(&self, context: &mut Context) -> std::result::Result<Point, Refusal> {
        let whole = |value| Ok(Point { value, garbage: false });
        match self.value {
            Datum::Text(text, _) => {
                let parsed = parse_datetime(text, context.mode);
                let Some(value) = parsed.value else {
                    if parsed.overflow {
                        return Err(Refusal::Overflow);
                    }
                    // Months and days that no month has do not read as a date at all.
                    let any = SqlMode { allow_invalid_dates: true, ..SqlMode::NONE };
                    return Err(Refusal::of(parse_datetime(text, any).value.is_some()));
                };
                if let Some(deprecated) = parsed.deprecated {
                    deprecated.warn(text, context.row, &mut context.warnings);
                }
                let value = match parsed.offset {
                    Some(minutes) => value.in_zone(minutes, &context.zone).ok_or(Refusal::Invalid)?,
                    None => value,
                };
                Ok(Point { value, garbage: parsed.truncated })
            }
            Datum::DateTime(value, _) => whole(value),
            Datum::Date(date) => Ok(Point { value: date.midnight(), garbage: false }),
            Datum::Signed(0) | Datum::Unsigned(0) => Ok(Point { value: DateTime::ZERO, garbage: false }),
            other => {
                // Decimals belong to a time: a number that is a date alone has none.
                if let Datum::Decimal(number) = other
                    && !number.is_negative()
                    && number < Decimal::from(100_000_000i64)
                    && number.truncate(0) != Ok(number)
                {
                    return Err(Refusal::NoDate);
                }
                let mut quiet = quiet(context, LENIENT);
                match to_datetime(other, "datetime", &mut quiet) {
                    Ok(Some(value)) if value.check(context.mode) => whole(value),
                    Ok(Some(_)) => Err(Refusal::Invalid),
                    _ => {
                        let largest = Decimal::from(99_991_231_235_959i64);
                        let number = other.to_decimal(&mut quiet).unwrap_or(Decimal::ZERO);
                        Err(Refusal::of(number.is_negative() || number > largest))
                    }
                }
            }
        }
    }

    /// What becomes of a value that is no date: an error, or a warning and zero.
    fn no_point(&self, kind: &str, refusal: Refusal, context: &mut Context) -> Result<()> {
        if refusal == Refusal::Overflow {
            context.complain(SqlError::new(
                number::DATETIME_FUNCTION_OVERFLOW,
                "Datetime function: datetime field overflow",
            ))?;
            return self.out_of_range(context);
        }
        if let Datum::Json(_) = self.value {
            let kind = if kind == "date" { "DATE" } else { "DATETIME/TIMESTAMP" };
            return context.complain(invalid_json_cast(kind, context.row));
        }
        if context.mode.strict {
            let shown = self.value.shown(self.arena);
            return Err(SqlError::incorrect_temporal(kind, &shown, self.column, context.row));
        }
        if refusal == Refusal::Invalid { self.out_of_range(context) } else { self.truncated(context) }
    }

    fn lost(&self, kind: &str, context: &mut Context) {
        if !context.mode.strict {
            return context.warnings.note(SqlError::data_truncated(self.column, context.row));
        }
        let shown = self.value.shown(self.arena);
        context.warnings.note(SqlError::incorrect_temporal(kind, &shown, self.column, context.row));
    }

    fn date(&self, context: &mut Context) -> Result<Datum<'a>> {
        match self.point(context) {
            Ok(point) if point.value.check(context.mode) => {
                // (Half a second before midnight it is the next day.)
                let rounded = point.value.round(0, context.mode.time_truncate_fractional).unwrap_or(point.value);
                if point.garbage {
                    self.no_point("date", Refusal::NoDate, context)?;
                } else if rounded.time() != Time::ZERO {
                    self.lost("date", context);
                }
                Ok(Datum::Date(rounded.date))
            }
            other => {
                self.no_point("date", other.map_or_else(|refusal| refusal, |_| Refusal::Invalid), context)?;
                Ok(if matches!(self.value, Datum::Json(_)) { Datum::Null } else { Datum::Date(Date::ZERO) })
            }
        }
    }

    fn datetime(&self, decimals: u8, timestamp: bool, context: &mut Context) -> Result<Datum<'a>> {
        let truncate = context.mode.time_truncate_fractional;
        // A document's text must be a date and a time.
        if let Datum::Json(document) = self.value
            && let Element::Text(text) = Element::root(document)
            && parse_datetime(text, context.mode).date_only
        {
            let text = Datum::Text(text, Collation::Utf8mb4Bin);
            Target { value: text, ..*self }.no_point("datetime", Refusal::NoDate, context)?;
            return Ok(Datum::DateTime(DateTime::ZERO, decimals));
        }
        let zero = match self.value {
            Datum::Json(_) => Datum::Null,
            _ => Datum::DateTime(DateTime::ZERO, decimals),
        };
        let point = match self.point(context) {
            Ok(point) if point.value.check(context.mode) => point,
            other => {
                self.no_point("datetime", other.map_or_else(|refusal| refusal, |_| Refusal::Invalid), context)?;
                return Ok(zero);
            }
        };
        if point.garbage {
            self.no_point("datetime", Refusal::NoDate, context)?;
        }
        let Some(rounded) = point.value.round(decimals, truncate) else {
            self.no_point("datetime", Refusal::Overflow, context)?;
            return Ok(zero);
        };
        if timestamp {
            let fits = context.zone.append_timestamp(rounded, decimals, &mut Vec::new());
            match fits {
                Some(false) => {}
                // It becomes the first one after the gap.
                Some(true) if !context.mode.strict => {
                    let message = format!("Invalid TIMESTAMP value in column '{}' at row {}", self.column, context.row);
                    context.warnings.warn(SqlError::new(number::INVALID_TIMESTAMP, message));
                }
                Some(true) | None => {
                    self.no_point("datetime", Refusal::Invalid, context)?;
                    return Ok(zero);
                }
            }
        }
        Ok(Datum::DateTime(rounded, decimals))
    }

    fn time(&self, decimals: u8, context: &mut Context) -> Result<Datum<'a>> {
        let truncate = context.mode.time_truncate_fractional;
        let done = |time: Time| Ok(Datum::Time(time.round(decimals, truncate).0, decimals));
        if let Datum::Text(text, _) = self.value {
            if only_spaces(text, 0) {
                return done(Time::ZERO);
            }
            let parsed = parse_time(text, context.mode);
            if let Some(deprecated) = parsed.deprecated {
                deprecated.warn(text, context.row, &mut context.warnings);
            }
            if let Some(time) = parsed.value {
                if parsed.out_of_range {
                    self.no_point("time", Refusal::Invalid, context)?;
                } else if parsed.truncated {
                    self.no_point("time", Refusal::NoDate, context)?;
                } else if parsed.date.is_some() {
                    self.lost("time", context);
                }
                return done(time);
            }
            // (MySQL stores 0, and says nothing.)
            if parsed.has_exponent {
                return done(Time::ZERO);
            }
            // With digits in front it reads as a time, but there is none such.
            let digits = text.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(u8::is_ascii_digit);
            self.no_point("time", Refusal::of(digits), context)?;
            return done(Time::ZERO);
        }
        match self.value {
            Datum::Time(time, _) => done(time),
            Datum::DateTime(value, _) => done(value.time()),
            Datum::Date(_) => done(Time::ZERO),
            Datum::Json(_) => {
                let mut quiet = quiet(context, context.mode);
                match cast::to_time(self.value, &mut quiet) {
                    Some(time) => done(time),
                    None => {
                        context.complain(invalid_json_cast("TIME", context.row))?;
                        Ok(Datum::Null)
                    }
                }
            }
            other => {
                let mut quiet = quiet(context, context.mode);
                match cast::to_time(other, &mut quiet) {
                    Some(time) => {
                        if other.to_decimal(&mut quiet).is_some_and(|number| number > Decimal::from(8_385_959i64)) {
                            self.lost("time", context);
                        }
                        done(time)
                    }
                    None => {
                        let number = other.to_decimal(&mut quiet).unwrap_or(Decimal::ZERO);
                        let beyond = number.abs() > Decimal::from(8_385_959i64);
                        self.no_point("time", Refusal::Invalid, context)?;
                        done(match (beyond, number.is_negative()) {
                            (false, _) => Time::ZERO,
                            (true, false) => Time::MAX,
                            (true, true) => Time::MIN,
                        })
                    }
                }
            }
        }
    }

    fn text(
        &self,
        characters: u32,
        max_bytes: u32,
        collation: Collation,
        fixed: bool,
        context: &mut Context,
    ) -> Result<Datum<'a>> {
        let charset = collation.charset();
        let source = self.value.to_text(self.arena).unwrap_or_default();
        let from = match self.value {
            Datum::Text(..) | Datum::Member { .. } | Datum::Bits { .. } => self.value.collation().charset(),
            _ => Charset::Utf8mb4,
        };
        let mut bytes = source;
        if source.len() > characters as usize
            && let Datum::Double(_) | Datum::Float(_) = self.value
        {
            let (text, fits) = double::text_within(double::parse_double(source).value, characters as usize);
            bytes = self.arena.alloc_slice_copy(text.as_bytes());
            if !fits && bytes.len() <= characters as usize {
                if context.mode.strict {
                    return Err(SqlError::data_too_long(self.column, context.row));
                }
                self.truncated(context)?;
            }
        }
        let source = bytes;
        let mut wrong = None;
        if from == Charset::Binary || from == charset {
            let valid = charset.valid_len(source);
            if valid < source.len() {
                wrong = Some(valid);
                bytes = &source[..valid];
            }
        } else if !from.is_same_in(charset, source) {
            let mut out = Vec::new();
            let converted = from.convert(source, charset, &mut out);
            wrong = (converted.replaced > 0).then_some(converted.first);
            bytes = self.arena.alloc_slice_copy(&out);
        }
        if let Some(at) = wrong {
            let mut shown = String::new();
            for byte in source[at..].iter().take(6) {
                match byte {
                    0x20..=0x7e => shown.push(char::from(*byte)),
                    _ => shown.push_str(&format!("\\x{byte:02X}")),
                }
            }
            if source.len() - at > 6 {
                shown.push_str("...");
            }
            let condition = SqlError::incorrect_value("string", shown.as_bytes(), self.column, context.row);
            context.complain(condition)?;
        }
        let end = charset.char_offset(bytes, characters as usize).min(max_bytes as usize);
        let end = if end < bytes.len() && charset.is_unicode() {
            (0..=end).rev().find(|at| bytes[*at] & 0xc0 != 0x80).unwrap_or(0)
        } else {
            end
        };
        if end < bytes.len() {
            let only_blanks = collation != Collation::Binary && bytes[end..].iter().all(|byte| *byte == b' ');
            if !only_blanks {
                if context.mode.strict {
                    return Err(SqlError::data_too_long(self.column, context.row));
                }
                // One condition is enough.
                if wrong.is_none() {
                    self.truncated(context)?;
                }
            } else if !fixed {
                context.warnings.note(SqlError::data_truncated(self.column, context.row));
            }
            bytes = &bytes[..end];
        }
        if fixed {
            if collation == Collation::Binary {
                let length = characters as usize;
                if bytes.len() < length {
                    let filled = self.arena.alloc_slice_fill_copy(length, 0u8);
                    filled[..bytes.len()].copy_from_slice(bytes);
                    bytes = filled;
                }
            } else {
                bytes = &bytes[..bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1)];
            }
        }
        Ok(Datum::Text(bytes, collation))
    }

    fn member(&self, members: &'a Members, set: bool, context: &mut Context) -> Result<Datum<'a>> {
        let made = |number: u64| Datum::Member { number, members, set };
        // (What stands for a bad value is copied as it is.)
        if let (Datum::Member { number: 0, set: false, .. }, false) = (self.value, set) {
            return Ok(made(0));
        }
        let numeric = match self.value {
            Datum::Signed(number) => Some(i128::from(number)),
            Datum::Unsigned(number) | Datum::Bits { bits: number, .. } => Some(i128::from(number)),
            Datum::Double(number) => Some(number.trunc() as i128),
            Datum::Float(number) => Some(number.trunc() as i128),
            Datum::Decimal(number) => Some(match number.truncate(0).ok().and_then(|number| number.to_i128()) {
                Some(0) if number.is_negative() && !set => -1,
                Some(number) => number,
                None => -1,
            }),
            _ => None,
        };
        if let Some(given) = numeric {
            let largest = if set { i128::from(members.mask()) } else { members.len() as i128 };
            let smallest = if set { 0 } else { 1 };
            if (smallest..=largest).contains(&given) {
                return Ok(made(given as u64));
            }
            self.truncated(context)?;
            return Ok(made(if set { given as u64 & members.mask() } else { 0 }));
        }
        let source = self.value.to_text(self.arena).unwrap_or_default();
        let mut text = source;
        let (from, charset) = (self.value.collation().charset(), members.collation().charset());
        if from != Charset::Binary && !from.is_same_in(charset, source) {
            let mut out = Vec::new();
            from.convert(source, charset, &mut out);
            text = self.arena.alloc_slice_copy(&out);
        }
        if set {
            let (bits, complete) = members.parse_set(text);
            if !complete {
                self.truncated(context)?;
            }
            return Ok(made(bits));
        }
        match members.parse_enum(text) {
            Some(number) => Ok(made(number)),
            None => {
                self.truncated(context)?;
                Ok(made(0))
            }
        }
    }

    fn json(&self, context: &mut Context) -> Result<Datum<'a>> {
        let invalid = |sentence: &str, position: usize| {
            let column = self.column;
            let message =
                format!("Invalid JSON text: \"{sentence}\" at position {position} in value for column '{column}'.");
            SqlError::new(number::INVALID_JSON_TEXT, message)
        };
        let _ = context;
        match self.value {
            Datum::Json(document) => Ok(Datum::Json(document)),
            Datum::Text(text, collation) => {
                let charset = collation.charset();
                if charset == Charset::Binary {
                    return Err(SqlError::new(
                        number::INVALID_JSON_CHARACTER_SET,
                        "Cannot create a JSON value from a string with CHARACTER SET 'binary'.",
                    ));
                }
                let text = charset.converted(text, Charset::Utf8mb4);
                let tree = json::parse(&text).map_err(|error| match error.too_deep {
                    true => SqlError::new(number::JSON_DOCUMENT_TOO_DEEP, error.message),
                    false => invalid(error.message, error.position),
                })?;
                Ok(Datum::Json(self.arena.alloc_slice_copy(&tree.to_document()?)))
            }
            _ => Err(invalid("not a JSON text, may need CAST", 0)),
        }
    }
}

/// The same session without its warnings.
fn quiet(context: &Context, mode: SqlMode) -> Context {
    Context { mode, zone: context.zone.clone(), today: context.today, ..Context::new(mode) }
}

/// Why a value is no point in time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// It does not read as one.
    NoDate,
    /// It reads as one, but there is none such, or the mode refuses it.
    Invalid,
    /// Rounding it leads out of range.
    Overflow,
}

impl Refusal {
    fn of(invalid: bool) -> Refusal {
        if invalid { Refusal::Invalid } else { Refusal::NoDate }
    }
}

/// The length of an exponent without digits, which MySQL passes over where an integer is wanted.
fn exponent_len(text: &[u8], at: usize) -> usize {
    usize::from(matches!(text.get(at), Some(b'e' | b'E')))
}

struct Point {
    value: DateTime,
    garbage: bool,
}

fn numeric_decimal(number: Numeric) -> Decimal {
    match number {
        Numeric::Signed(number) => Decimal::from(number),
        Numeric::Unsigned(number) => Decimal::from(number),
        Numeric::Decimal(number) => number,
        Numeric::Double(number) => Decimal::from_f64(number).0,
    }
}
