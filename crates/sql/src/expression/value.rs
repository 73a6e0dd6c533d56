//! A value that owns what it has: a constant of a plan, the best row of MIN so far.

use std::sync::Arc;

use bumpalo::Bump;
use meseta_types::{Collation, DataType, Datum, Members};

/// A value without a lifetime.
#[derive(Clone, Debug)]
pub enum Value {
    /// NULL, a number, a date: nothing outside of the datum.
    Plain(Datum<'static>),
    /// Text, or bytes.
    Text(Box<[u8]>, Collation),
    /// A hexadecimal or bit literal: bytes, but a number where numbers are wanted.
    Hexadecimal(Box<[u8]>),
    /// A JSON document.
    Json(Box<[u8]>),
    /// Of an ENUM or SET.
    Member {
        /// The ENUM's number, the SET's bits.
        number: u64,
        /// All members.
        members: Arc<Members>,
        /// Whether it is a SET's.
        set: bool,
    },
}

/// A value that borrows nothing, for as long as anyone likes; `None` of one that does.
pub(super) fn without_memory(value: Datum<'_>) -> Option<Datum<'static>> {
    Some(match value {
        Datum::Null => Datum::Null,
        Datum::Signed(number) => Datum::Signed(number),
        Datum::Unsigned(number) => Datum::Unsigned(number),
        Datum::Float(number) => Datum::Float(number),
        Datum::Double(number) => Datum::Double(number),
        Datum::Decimal(number) => Datum::Decimal(number),
        Datum::Date(date) => Datum::Date(date),
        Datum::Time(time, decimals) => Datum::Time(time, decimals),
        Datum::DateTime(time, decimals) => Datum::DateTime(time, decimals),
        Datum::Bits { bits, width } => Datum::Bits { bits, width },
        Datum::Text(..) | Datum::Member { .. } | Datum::Json(_) => return None,
    })
}

impl Value {
    /// NULL.
    pub const NULL: Value = Value::Plain(Datum::Null);

    /// A copy of a value.
    pub fn new(value: Datum<'_>) -> Value {
        match value {
            Datum::Text(text, collation) => Value::Text(text.into(), collation),
            Datum::Json(document) => Value::Json(document.into()),
            Datum::Member { number, members, set } => Value::Member { number, members: Arc::new(members.clone()), set },
            plain => Value::Plain(without_memory(plain).unwrap_or(Datum::Null)),
        }
    }

    /// A copy of a value as one that is kept in an arena ([`copy_into`]): of a member of an ENUM or SET, that of its text.
    pub fn kept(value: Datum<'_>) -> Value {
        let Datum::Member { number, members, set } = value else { return Self::new(value) };
        let mut text = Vec::new();
        value.append_text(&mut text);
        Value::Text(text.into(), collation_of_kept(number, members, set))
    }

    /// Becomes what [`Value::kept`] makes, with the memory that it has if it is as long as what comes.
    pub fn keep(&mut self, value: Datum<'_>) {
        match (&mut *self, value) {
            (Value::Text(own, own_collation), Datum::Text(text, collation)) if own.len() == text.len() => {
                own.copy_from_slice(text);
                *own_collation = collation;
            }
            (Value::Plain(own), value) => match without_memory(value) {
                Some(plain) => *own = plain,
                None => *self = Self::kept(value),
            },
            _ => *self = Self::kept(value),
        }
    }

    /// The value, borrowed.
    #[inline]
    pub fn get(&self) -> Datum<'_> {
        match self {
            Value::Plain(value) => *value,
            Value::Text(text, collation) => Datum::Text(text, *collation),
            Value::Hexadecimal(bytes) => Datum::Text(bytes, Collation::Binary),
            Value::Json(document) => Datum::Json(document),
            Value::Member { number, members, set } => Datum::Member { number: *number, members, set: *set },
        }
    }

    /// Bytes that it has outside of itself.
    pub fn bytes(&self) -> usize {
        match self {
            Value::Text(bytes, _) | Value::Hexadecimal(bytes) | Value::Json(bytes) => bytes.len(),
            _ => 0,
        }
    }
}

/// The collation of the text that a member is kept as. The one that is none (0) tells itself so apart from one that is called ''.
fn collation_of_kept(number: u64, members: &Members, set: bool) -> Collation {
    if number == 0 && !set { Collation::Binary } else { members.collation() }
}

/// A copy of a value in an arena. A member of an ENUM or SET becomes one of `data_type`, or else text.
pub fn copy_into<'v>(value: Datum<'_>, data_type: Option<&'v DataType>, arena: &'v Bump) -> Datum<'v> {
    match value {
        Datum::Text(text, collation) => Datum::Text(arena.alloc_slice_copy(text), collation),
        Datum::Json(document) => Datum::Json(arena.alloc_slice_copy(document)),
        Datum::Member { number, members, set } => match data_type {
            Some(DataType::Enum(own) | DataType::Set(own)) if own.len() == members.len() => {
                Datum::Member { number, members: own, set }
            }
            _ => {
                let mut text = Vec::new();
                value.append_text(&mut text);
                Datum::Text(arena.alloc_slice_copy(&text), collation_of_kept(number, members, set))
            }
        },
        plain => without_memory(plain).unwrap_or(Datum::Null),
    }
}
