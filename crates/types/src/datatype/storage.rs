//! Stored forms: what a column's values are to the storage engine.
//!
//! | type | stored as |
//! |---|---|
//! | TINYINT ... BIGINT | signed or unsigned integer of so many bytes |
//! | YEAR | unsigned, 1 byte: 0 is 0000, else the year less 1900 |
//! | ENUM, SET | unsigned, as many bytes as the members need |
//! | FLOAT, DOUBLE | as such |
//! | DECIMAL, temporal types | fixed: packed so that bytes order as values ([`crate::decimal`], [`crate::temporal`]) |
//! | BIT(n) | fixed: big-endian |
//! | BINARY(n) | fixed: filled up with zeros |
//! | CHAR(n) | variable: without the blanks at its end |
//! | VARCHAR, VARBINARY, TEXT, BLOB | variable: its bytes |
//! | JSON | variable: MySQL's binary form ([`crate::json`]) |
//!
//! # Invariants
//! 1. `load(store(x)) == x` for what [`crate::assign()`] returned.
//! 2. Loading any bytes at all yields some value.

use super::DataType;
use crate::datum::Datum;
use crate::decimal;
use crate::temporal::{self, Date, DateTime, Time, Zone};
use crate::text::Collation;

/// The form in which a type's values are stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Storage {
    /// A signed integer of so many bytes: 1, 2, 3, 4 or 8.
    Signed(u8),
    /// An unsigned integer of so many bytes: 1, 2, 3, 4 or 8.
    Unsigned(u8),
    /// Four bytes of floating point.
    Float,
    /// Eight bytes of floating point.
    Double,
    /// Always so many bytes; they order as `memcmp` does.
    Fixed(u16),
    /// Up to so many bytes.
    Variable(u32),
}

/// A stored value.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum Stored<'a> {
    Null,
    Signed(i64),
    Unsigned(u64),
    Float(f32),
    Double(f64),
    Bytes(&'a [u8]),
}

impl DataType {
    /// The form in which its values are stored.
    pub fn storage(&self) -> Storage {
        match self {
            DataType::Null => Storage::Fixed(0),
            DataType::Integer { size, .. } if self.is_unsigned() => Storage::Unsigned(size.bytes() as u8),
            DataType::Integer { size, .. } => Storage::Signed(size.bytes() as u8),
            DataType::Decimal { precision, .. } => Storage::Fixed(decimal::packed_len(*precision) as u16),
            DataType::Float { .. } => Storage::Float,
            DataType::Double { .. } => Storage::Double,
            DataType::Bit { width } => Storage::Fixed(u16::from(*width).div_ceil(8)),
            DataType::Year => Storage::Unsigned(1),
            DataType::Date => Storage::Fixed(3),
            DataType::Time { decimals } => Storage::Fixed(temporal::time_len(*decimals) as u16),
            DataType::DateTime { decimals } => Storage::Fixed(temporal::datetime_len(*decimals) as u16),
            DataType::Timestamp { decimals } => Storage::Fixed(temporal::timestamp_len(*decimals) as u16),
            DataType::Char { length, collation: Collation::Binary } => Storage::Fixed((*length).min(255) as u16),
            DataType::Char { length, collation } | DataType::Varchar { length, collation } => {
                Storage::Variable(length.saturating_mul(collation.charset().max_len()))
            }
            DataType::Text { size, .. } => Storage::Variable(size.max_bytes()),
            DataType::Enum(members) => Storage::Unsigned(if members.len() > 255 { 2 } else { 1 }),
            DataType::Set(members) => Storage::Unsigned(match members.len() {
                0..=8 => 1,
                9..=16 => 2,
                17..=24 => 3,
                25..=32 => 4,
                _ => 8,
            }),
            DataType::Json => Storage::Variable(u32::MAX),
        }
    }

    /// The stored form of a value that [`crate::assign()`] has fitted into this type. `scratch` is emptied and used where
    /// bytes have to be made. A value of another type is stored as NULL.
    pub fn store<'a>(&self, value: Datum<'a>, zone: &Zone, scratch: &'a mut Vec<u8>) -> Stored<'a> {
        scratch.clear();
        match (self, value) {
            (DataType::Integer { .. }, Datum::Signed(number)) => return Stored::Signed(number),
            (DataType::Integer { .. }, Datum::Unsigned(number)) => return Stored::Unsigned(number),
            (DataType::Float { .. }, Datum::Float(number)) => return Stored::Float(number),
            (DataType::Double { .. }, Datum::Double(number)) => return Stored::Double(number),
            (DataType::Year, Datum::Unsigned(year)) => return Stored::Unsigned(year.saturating_sub(1900)),
            (DataType::Enum(_) | DataType::Set(_), Datum::Member { number, .. }) => return Stored::Unsigned(number),
            (DataType::Decimal { precision, .. }, Datum::Decimal(number)) => number.append_packed(*precision, scratch),
            (DataType::Bit { width }, Datum::Bits { bits, .. }) => {
                let len = usize::from(*width).div_ceil(8).min(8);
                scratch.extend_from_slice(&bits.to_be_bytes()[8 - len..]);
            }
            (DataType::Date, Datum::Date(date)) => date.append_packed(scratch),
            (DataType::Time { decimals }, Datum::Time(time, _)) => time.append_packed(*decimals, scratch),
            (DataType::DateTime { decimals }, Datum::DateTime(value, _)) => value.append_packed(*decimals, scratch),
            (DataType::Timestamp { decimals }, Datum::DateTime(value, _)) => {
                if zone.append_timestamp(value, *decimals, scratch).is_none() {
                    return Stored::Null;
                }
            }
            (DataType::Char { length, collation: Collation::Binary }, Datum::Text(bytes, _)) => {
                if bytes.len() == *length as usize {
                    return Stored::Bytes(bytes);
                }
                scratch.extend_from_slice(bytes);
                scratch.resize(*length as usize, 0);
            }
            (DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text { .. }, Datum::Text(bytes, _)) => {
                return Stored::Bytes(bytes);
            }
            (DataType::Json, Datum::Json(document)) => return Stored::Bytes(document),
            _ => return Stored::Null,
        }
        Stored::Bytes(scratch)
    }

    /// The value of a stored form. Text is borrowed from it.
    #[inline]
    pub fn load<'a>(&'a self, stored: Stored<'a>, zone: &Zone) -> Datum<'a> {
        match (self, stored) {
            (DataType::Integer { .. }, Stored::Signed(number)) => Datum::Signed(number),
            (DataType::Integer { .. }, Stored::Unsigned(number)) => Datum::Unsigned(number),
            (DataType::Year, Stored::Unsigned(0)) => Datum::Unsigned(0),
            (DataType::Year, Stored::Unsigned(year)) => Datum::Unsigned(1900 + year.min(255)),
            (DataType::Float { .. }, Stored::Float(number)) => Datum::Float(number),
            (DataType::Double { .. }, Stored::Double(number)) => Datum::Double(number),
            (DataType::Enum(members), Stored::Unsigned(number)) => Datum::Member { number, members, set: false },
            (DataType::Set(members), Stored::Unsigned(number)) => Datum::Member { number, members, set: true },
            (DataType::Decimal { scale, .. }, Stored::Bytes(bytes)) => Datum::Decimal(decimal::unpack(bytes, *scale)),
            (DataType::Bit { width }, Stored::Bytes(bytes)) => {
                let bits = bytes.iter().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte));
                Datum::Bits { bits, width: *width }
            }
            (DataType::Date, Stored::Bytes(bytes)) => Datum::Date(Date::unpack(bytes)),
            (DataType::Time { decimals }, Stored::Bytes(bytes)) => Datum::Time(Time::unpack(bytes), *decimals),
            (DataType::DateTime { decimals }, Stored::Bytes(bytes)) => {
                Datum::DateTime(DateTime::unpack(bytes), *decimals)
            }
            (DataType::Timestamp { decimals }, Stored::Bytes(bytes)) => {
                Datum::DateTime(zone.read_timestamp(bytes), *decimals)
            }
            (
                DataType::Char { collation, .. }
                | DataType::Varchar { collation, .. }
                | DataType::Text { collation, .. },
                Stored::Bytes(bytes),
            ) => Datum::Text(bytes, *collation),
            (DataType::Json, Stored::Bytes(document)) => Datum::Json(document),
            _ => Datum::Null,
        }
    }
}
