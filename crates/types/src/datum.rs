//! A value while it is computed with.
//!
//! ```text
//! Datum<'a>: 32 bytes, Copy; text and JSON borrow from a page, a statement or an arena
//! ```
//!
//! A datum knows enough to be printed and converted alone: text its collation, times the digits of their fraction. What
//! belongs to a column only (ZEROFILL, the d of DOUBLE(m, d)) is in [`DataType`], see [`DataType::append_text`].
//!
//! # Invariants
//! 1. A double is never infinite and never "not a number".
//! 2. The bytes of `Json` are a document in MySQL's binary form, or hostile; reading them is safe in both cases.

use bumpalo::Bump;

use crate::cast::shown_text;
use crate::context::Context;
use crate::datatype::DataType;
use crate::decimal::{Decimal, Short};
use crate::double::{self, append_double, append_float};
use crate::error::{SqlError, number};
use crate::integer::{IntegerText, append_signed, append_unsigned, only_spaces, parse_integer};
use crate::json;
use crate::member::Members;
use crate::temporal::{Date, DateTime, Time};
use crate::text::Collation;

/// A value.
#[derive(Clone, Copy, Debug)]
pub enum Datum<'a> {
    /// No value.
    Null,
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A value of a FLOAT column.
    Float(f32),
    /// A double.
    Double(f64),
    /// An exact number.
    Decimal(Decimal),
    /// Text; with the collation `binary`, bytes.
    Text(&'a [u8], Collation),
    /// A day.
    Date(Date),
    /// A length of time, and how many digits of its fraction are shown.
    Time(Time, u8),
    /// A point in time (of a DATETIME or TIMESTAMP), and how many digits of its fraction are shown.
    DateTime(DateTime, u8),
    /// Bits of a BIT column: a number where numbers are wanted, bytes elsewhere.
    Bits {
        /// The bits.
        bits: u64,
        /// How many.
        width: u8,
    },
    /// A member of an ENUM, or several of a SET: a number where numbers are wanted, text elsewhere.
    Member {
        /// The ENUM's number, the SET's bits.
        number: u64,
        /// All members there are.
        members: &'a Members,
        /// Whether it is a SET's.
        set: bool,
    },
    /// A JSON document.
    Json(&'a [u8]),
}

const _: () = assert!(size_of::<Datum<'_>>() <= 32, "a datum is small");

/// 3986.
const JSON_IN_BOOLEAN_CONTEXT: &str = "Evaluating a JSON value in SQL boolean context does an implicit comparison \
     against JSON integer 0; if this is not what you want, consider converting JSON to a SQL numeric type with \
     JSON_VALUE RETURNING";

/// What a value counts as among numbers.
#[derive(Clone, Copy, Debug)]
pub enum Numeric {
    /// A signed integer.
    Signed(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// An exact number.
    Decimal(Decimal),
    /// A double.
    Double(f64),
}

impl<'a> Datum<'a> {
    /// Whether it is NULL.
    #[inline]
    pub const fn is_null(self) -> bool {
        matches!(self, Datum::Null)
    }

    /// Text of utf8mb4 with the default collation.
    pub const fn text(text: &'a str) -> Datum<'a> {
        Datum::Text(text.as_bytes(), Collation::Utf8mb4_0900AiCi)
    }

    /// Appends its text as a client sees it. Numbers and dates are ASCII; text is in its own character set; NULL is
    /// nothing.
    pub fn append_text(self, out: &mut Vec<u8>) {
        match self {
            Datum::Null => {}
            Datum::Signed(number) => append_signed(number, out),
            Datum::Unsigned(number) => append_unsigned(number, 0, out),
            Datum::Float(number) => append_float(number, out),
            Datum::Double(number) => append_double(number, out),
            Datum::Decimal(number) => number.append_text(out),
            Datum::Text(text, _) => out.extend_from_slice(text),
            Datum::Member { number, members, set: false } => out.extend_from_slice(members.get(number)),
            Datum::Member { number, members, set: true } => members.append_set(number, out),
            Datum::Date(date) => date.append_text(out),
            Datum::Time(time, decimals) => time.append_text(decimals, out),
            Datum::DateTime(value, decimals) => value.append_text(decimals, out),
            Datum::Bits { bits, width } => {
                let len = usize::from(width).div_ceil(8).clamp(1, 8);
                out.extend_from_slice(&bits.to_be_bytes()[8 - len..]);
            }
            Datum::Json(document) => json::append_text(document, out),
        }
    }

    /// Its text, as [`Datum::append_text`] has it: borrowed where there is one, otherwise put into an empty buffer.
    pub fn text_in<'b>(self, buffer: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Datum::Text(text, _) => text,
            Datum::Member { number, members, set: false } => members.get(number),
            other => {
                other.append_text(buffer);
                buffer
            }
        }
    }

    /// Its text as a conversion makes it: borrowed where there is one, otherwise put into the arena. `None` for NULL.
    pub fn to_text(self, arena: &'a Bump) -> Option<&'a [u8]> {
        match self {
            Datum::Null => None,
            Datum::Text(text, _) => Some(text),
            Datum::Member { number, members, set: false } => Some(members.get(number)),
            Datum::Signed(number) => Some(arena.alloc_slice_copy(IntegerText::of_signed(number).as_bytes())),
            other => {
                let mut out =
                    Vec::with_capacity(if let Datum::Json(document) = other { 2 * document.len() } else { 32 });
                match other {
                    Datum::Double(number) => double::append_double_as_text(number, &mut out),
                    Datum::Float(number) => double::append_float_as_text(number, &mut out),
                    other => other.append_text(&mut out),
                }
                Some(arena.alloc_slice_copy(&out))
            }
        }
    }

    /// The collation of its text.
    pub fn collation(self) -> Collation {
        match self {
            Datum::Text(_, collation) => collation,
            Datum::Member { members, .. } => members.collation(),
            Datum::Bits { .. } | Datum::Null => Collation::Binary,
            Datum::Json(_) => Collation::Utf8mb4Bin,
            _ => Collation::Utf8mb4_0900AiCi,
        }
    }

    /// As a double, as MySQL's arithmetic sees it: the number at the front of a text, with a warning if that is not
    /// all. `None` for NULL.
    pub fn to_double(self, context: &mut Context) -> Option<f64> {
        Some(match self {
            Datum::Null => return None,
            Datum::Text(text, collation) => {
                let parsed = double::parse_double(text);
                if parsed.overflow
                    || (parsed.len == 0 && !text.is_empty() && !only_spaces(text, 0))
                    || !only_spaces(text, parsed.len)
                {
                    context
                        .warnings
                        .warn_with(|| SqlError::truncated_incorrect("DOUBLE", &shown_text(text, collation)));
                }
                parsed.value
            }
            Datum::Float(number) => number.into(),
            Datum::Double(number) => number,
            other => match other.to_numeric(context)? {
                Numeric::Signed(number) => number as f64,
                Numeric::Unsigned(number) => number as f64,
                Numeric::Decimal(number) => number.to_f64(),
                Numeric::Double(number) => number,
            },
        })
    }

    /// As a number of its own kind: text is a double, dates and times are integers or exact numbers. `None` for NULL.
    pub fn to_numeric(self, context: &mut Context) -> Option<Numeric> {
        Some(match self {
            Datum::Null => return None,
            Datum::Signed(number) => Numeric::Signed(number),
            Datum::Unsigned(number) => Numeric::Unsigned(number),
            Datum::Float(number) => Numeric::Double(number.into()),
            Datum::Double(number) => Numeric::Double(number),
            Datum::Decimal(number) => Numeric::Decimal(number),
            Datum::Text(..) => Numeric::Double(self.to_double(context)?),
            Datum::Date(date) => Numeric::Signed(date.to_number() as i64),
            Datum::Time(time, 0) => Numeric::Signed(time.to_number()),
            Datum::Time(time, decimals) => Numeric::Decimal(time.to_decimal(decimals)),
            Datum::DateTime(value, 0) => Numeric::Signed(value.to_number() as i64),
            Datum::DateTime(value, decimals) => Numeric::Decimal(value.to_decimal(decimals)),
            Datum::Bits { bits, .. } => Numeric::Unsigned(bits),
            Datum::Member { number, .. } => Numeric::Unsigned(number),
            Datum::Json(document) => json::to_numeric(document, context),
        })
    }

    /// As an exact number, if it is one of few digits.
    #[inline]
    pub fn short(&self) -> Option<Short> {
        match self {
            Datum::Signed(number) => Some(Short::whole(*number)),
            Datum::Unsigned(number) => i64::try_from(*number).ok().map(Short::whole),
            Datum::Decimal(number) => number.short(),
            _ => None,
        }
    }

    /// As an exact number. `None` for NULL.
    pub fn to_decimal(self, context: &mut Context) -> Option<Decimal> {
        if let Datum::Text(text, collation) = self {
            let parsed = Decimal::parse(text);
            let underflow = parsed.truncated && parsed.value.is_zero();
            if parsed.overflow || underflow || !only_spaces(text, parsed.len) || parsed.len == 0 {
                context.warnings.warn_with(|| SqlError::truncated_incorrect("DECIMAL", &shown_text(text, collation)));
            }
            return Some(parsed.value);
        }
        Some(match self.to_numeric(context)? {
            Numeric::Signed(number) => Decimal::from(number),
            Numeric::Unsigned(number) => Decimal::from(number),
            Numeric::Decimal(number) => number,
            Numeric::Double(number) => Decimal::from_f64(number).0,
        })
    }

    /// As an integer and whether that is unsigned, as the bit operators and LIMIT see it. `None` for NULL.
    #[inline]
    pub fn to_integer(self, context: &mut Context) -> Option<(i64, bool)> {
        match self {
            Datum::Signed(number) => Some((number, false)),
            Datum::Unsigned(number) => Some((number as i64, true)),
            other => other.made_integer(context),
        }
    }

    /// As [`Datum::to_integer`], of what is none.
    fn made_integer(self, context: &mut Context) -> Option<(i64, bool)> {
        if let Datum::Json(document) = self {
            let number = json::to_numeric_as(document, "INTEGER", context);
            return Some(match number {
                Numeric::Unsigned(number) => (number as i64, true),
                Numeric::Signed(number) => (number, false),
                other => (double::to_signed(other.to_f64()).0, false),
            });
        }
        if let Datum::Text(text, collation) = self {
            let parsed = parse_integer(text);
            if parsed.overflow || parsed.len == 0 || !only_spaces(text, parsed.len) {
                context.warnings.warn_with(|| SqlError::truncated_incorrect("INTEGER", &shown_text(text, collation)));
            }
            return Some(match parsed.negative {
                false => (parsed.magnitude as i64, parsed.magnitude > i64::MAX as u64),
                true if parsed.magnitude > 1 << 63 => (i64::MIN, false),
                true => ((parsed.magnitude as i64).wrapping_neg(), false),
            });
        }
        Some(match self.rounded_temporal(context).to_numeric(context)? {
            Numeric::Signed(number) => (number, false),
            Numeric::Unsigned(number) => (number as i64, true),
            Numeric::Double(number) => (double::to_signed(number).0, false),
            Numeric::Decimal(number) => match number.to_i64() {
                (number, true) => (number, false),
                (bound, false) => match number.to_u64() {
                    (number, true) => (number as i64, true),
                    _ => (bound, false),
                },
            },
        })
    }

    /// As what IF and CASE decide by: for them, a document is the number that it holds.
    pub fn is_taken(self, context: &mut Context) -> bool {
        match self {
            Datum::Json(_) => self.to_double(context).is_some_and(|number| number != 0.0),
            other => other.to_bool(context) == Some(true),
        }
    }

    /// As a condition: whether it is a number other than zero. `None` for NULL.
    pub fn to_bool(self, context: &mut Context) -> Option<bool> {
        Some(match self {
            Datum::Null => return None,
            Datum::Signed(number) => number != 0,
            Datum::Unsigned(number) => number != 0,
            Datum::Decimal(number) => !number.is_zero(),
            Datum::Time(time, _) => time != Time::ZERO,
            Datum::Date(date) => !date.is_zero(),
            Datum::DateTime(value, _) => value != DateTime::ZERO,
            Datum::Json(document) => {
                context.warnings.warn_with(|| SqlError::new(number::JSON_IN_BOOLEAN_CONTEXT, JSON_IN_BOOLEAN_CONTEXT));
                crate::comparison::json_truth(document)
            }
            other => other.to_double(context)? != 0.0,
        })
    }
}

impl DataType {
    /// Whether a column's value is shown otherwise than it would be by itself ([`DataType::append_text`]).
    pub fn is_shown_apart(&self) -> bool {
        match self {
            DataType::Integer { number, .. } | DataType::Decimal { number, .. } => number.zerofill,
            DataType::Float { digits, number } | DataType::Double { digits, number } => {
                digits.is_some() || number.zerofill
            }
            DataType::Year => true,
            _ => false,
        }
    }

    /// Appends a column's value as a client sees it: with ZEROFILL's zeros, the decimals of DOUBLE(m, d), four digits
    /// of a YEAR.
    pub fn append_text(&self, value: Datum<'_>, out: &mut Vec<u8>) {
        let start = out.len();
        match (self, value) {
            (DataType::Integer { number, .. }, Datum::Unsigned(value)) if number.zerofill => {
                return append_unsigned(value, self.shown_width().into(), out);
            }
            (DataType::Year, Datum::Unsigned(year)) => return append_unsigned(year, 4, out),
            (DataType::Float { digits: Some((_, decimals)), .. }, Datum::Float(value)) => {
                double::append_fixed(value.into(), *decimals, out);
            }
            (DataType::Double { digits: Some((_, decimals)), .. }, Datum::Double(value)) => {
                double::append_fixed(value, *decimals, out);
            }
            (DataType::Decimal { scale, .. }, Datum::Decimal(value)) => {
                let value = if value.scale() > *scale { value.round((*scale).into()).unwrap_or(value) } else { value };
                value.append_text(out);
            }
            _ => value.append_text(out),
        }
        let zeros = match self {
            DataType::Decimal { precision, scale, number } if number.zerofill => {
                usize::from(*precision) + usize::from(*scale > 0)
            }
            DataType::Float { digits, number } if number.zerofill => digits.map_or(12, |(m, _)| m.into()),
            DataType::Double { digits, number } if number.zerofill => digits.map_or(22, |(m, _)| m.into()),
            _ => return,
        };
        let missing = zeros.saturating_sub(out.len() - start);
        out.splice(start..start, std::iter::repeat_n(b'0', missing));
    }
}
