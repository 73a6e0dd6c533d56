//! Values of system variables, and what SET is given.
//!
//! ```text
//! SET x = <expression>  -->  Input (borrowed)  --convert, check-->  Value (owned, shared)
//! ```
//!
//! # Invariants
//! 1. A value's text is UTF-8: bytes that are none become U+FFFD when they are stored.

use std::fmt;
use std::sync::Arc;

use meseta_parser::ast::{Expression, ExpressionKind, Literal, UnaryOperator};
use meseta_types::{Datum, Numeric};

/// What a system variable is.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// No value: only of texts.
    Null,
    /// A signed integer; a boolean is 0 or 1.
    Signed(i64),
    /// An unsigned integer.
    Unsigned(u64),
    /// A double.
    Double(f64),
    /// A text; the member of an enumeration; the members of a set, with commas.
    Text(Arc<str>),
}

impl Value {
    /// A text.
    pub fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    /// The text, or nothing.
    pub fn as_text(&self) -> &str {
        match self {
            Value::Text(text) => text,
            _ => "",
        }
    }

    /// Whether it is neither 0 nor without value.
    pub fn is_true(&self) -> bool {
        self.as_u64() != 0
    }

    /// As an unsigned integer; what is negative is 0.
    pub fn as_u64(&self) -> u64 {
        match *self {
            Value::Signed(number) => number.max(0) as u64,
            Value::Unsigned(number) => number,
            Value::Double(number) => number as u64,
            Value::Null | Value::Text(_) => 0,
        }
    }

    /// The value that a query sees.
    pub fn as_datum(&self) -> Datum<'_> {
        match self {
            Value::Null => Datum::Null,
            Value::Signed(number) => Datum::Signed(*number),
            Value::Unsigned(number) => Datum::Unsigned(*number),
            Value::Double(number) => Datum::Double(*number),
            Value::Text(text) => Datum::text(text),
        }
    }
}

/// What SET was given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Input<'a> {
    /// `DEFAULT`.
    Default,
    /// `NULL`.
    Null,
    /// An integer.
    Signed(i64),
    /// An integer above those of i64.
    Unsigned(u64),
    /// A number with a point or an exponent, or an integer that is too big.
    Fraction(f64),
    /// A string, a word, or anything else as its text.
    Text(&'a [u8]),
}

impl<'a> Input<'a> {
    /// What needs no evaluation: `DEFAULT`, a word (`SET x = on`), a literal. `None` for everything else, which the
    /// caller evaluates for [`Input::of_datum`].
    pub fn of_expression(expression: &Expression<'a>) -> Option<Input<'a>> {
        if let Some(integer) = expression.as_integer() {
            return Some(Self::of_integer(integer));
        }
        match expression.kind {
            ExpressionKind::Default => Some(Input::Default),
            ExpressionKind::Column(name) if name.table.is_none() => Some(Input::Text(name.column.text.0)),
            ExpressionKind::Literal(literal) => Self::of_literal(literal),
            ExpressionKind::Unary { operator: UnaryOperator::Minus, operand } => match operand.kind {
                ExpressionKind::Literal(Literal::Decimal(text) | Literal::Float(text)) => {
                    Some(Input::Fraction(-fraction(text.0)))
                }
                ExpressionKind::Literal(Literal::Integer(_)) => Some(Input::Fraction(f64::MIN)),
                _ => None,
            },
            _ => None,
        }
    }

    fn of_literal(literal: &Literal<'a>) -> Option<Input<'a>> {
        match *literal {
            Literal::Null => Some(Input::Null),
            Literal::True => Some(Input::Signed(1)),
            Literal::False => Some(Input::Signed(0)),
            Literal::Integer(text) | Literal::Decimal(text) | Literal::Float(text) => {
                Some(Input::Fraction(fraction(text.0)))
            }
            Literal::String(string) => Some(Input::Text(string.value.0)),
            Literal::Hexadecimal { bytes, .. } | Literal::Bit { bytes, .. } => Some(Input::Text(bytes.0)),
            Literal::Temporal { .. } => None,
        }
    }

    fn of_integer(integer: i128) -> Input<'a> {
        match (i64::try_from(integer), u64::try_from(integer)) {
            (Ok(signed), _) => Input::Signed(signed),
            (_, Ok(unsigned)) => Input::Unsigned(unsigned),
            _ => Input::Fraction(integer as f64),
        }
    }

    /// What an expression came to. `text` holds the text of what is neither number nor text.
    pub fn of_datum(datum: Datum<'a>, text: &'a mut Vec<u8>) -> Input<'a> {
        match datum {
            Datum::Null => Input::Null,
            Datum::Text(text, _) => Input::Text(text),
            Datum::Signed(number) => Input::Signed(number),
            Datum::Unsigned(number) => Self::of_integer(number.into()),
            Datum::Float(number) => Input::Fraction(number.into()),
            Datum::Double(number) => Input::Fraction(number),
            Datum::Decimal(_) => {
                datum.append_text(text);
                Input::Fraction(fraction(text))
            }
            _ => {
                datum.append_text(text);
                Input::Text(text)
            }
        }
    }

    /// The same of a number that was computed.
    pub fn of_numeric(number: Numeric) -> Input<'a> {
        match number {
            Numeric::Signed(number) => Input::Signed(number),
            Numeric::Unsigned(number) => Self::of_integer(number.into()),
            Numeric::Double(number) => Input::Fraction(number),
            Numeric::Decimal(number) => {
                let mut text = Vec::new();
                number.append_text(&mut text);
                Input::Fraction(fraction(&text))
            }
        }
    }
}

fn fraction(text: &[u8]) -> f64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

/// As the texts of errors show it.
impl fmt::Display for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Input::Default => f.write_str("DEFAULT"),
            Input::Null => f.write_str("NULL"),
            Input::Signed(number) => write!(f, "{number}"),
            Input::Unsigned(number) => write!(f, "{number}"),
            Input::Fraction(number) => write!(f, "{number}"),
            Input::Text(text) => f.write_str(&meseta_types::error::printable(text)),
        }
    }
}
