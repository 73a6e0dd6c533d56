//! Literals.

use super::Text;

/// A constant, as it was written. The span of its expression is where the normaliser finds it.
#[derive(Clone, Copy, Debug)]
pub enum Literal<'a> {
    /// `NULL`, `\N`.
    Null,
    True,
    False,
    /// Digits. `-5` is a minus in front of `5`; see [`Expression::as_integer`](super::Expression::as_integer).
    Integer(Text<'a>),
    /// Digits with a point: DECIMAL.
    Decimal(Text<'a>),
    /// With an exponent: DOUBLE.
    Float(Text<'a>),
    String(StringLiteral<'a>),
    /// `x'4D'`, `0x4D`: the bytes; with a character set if an introducer is in front.
    Hexadecimal {
        character_set: Option<Text<'a>>,
        bytes: Text<'a>,
    },
    /// `b'01'`, `0b01`: the bytes, most significant first.
    Bit {
        character_set: Option<Text<'a>>,
        bytes: Text<'a>,
    },
    /// `DATE '2026-01-01'`, `{d '2026-01-01'}`.
    Temporal {
        kind: TemporalKind,
        value: Text<'a>,
    },
}

/// `'it''s'`.
#[derive(Clone, Copy, Debug)]
pub struct StringLiteral<'a> {
    /// From the introducer `_utf8mb4`, or `utf8mb3` for `N'...'`.
    pub character_set: Option<Text<'a>>,
    /// Adjacent strings joined, escapes undone.
    pub value: Text<'a>,
    /// The length of the first of adjacent strings: an unaliased column is named by that one alone.
    pub first_length: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporalKind {
    Date,
    Time,
    Timestamp,
}
