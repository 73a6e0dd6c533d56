//! What a client hears of a type: the numbers in a column's definition packet.
//!
//! # Source
//! MySQL Internals, "Column Definition"; the numbers are part of the protocol.

use super::{DataType, IntegerSize};
use crate::text::{Charset, Collation};

/// The protocol's numbers of types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)] // The names are the protocol's.
pub enum TypeCode {
    Tiny = 1,
    Short = 2,
    Long = 3,
    Float = 4,
    Double = 5,
    Null = 6,
    Timestamp = 7,
    LongLong = 8,
    Int24 = 9,
    Date = 10,
    Time = 11,
    DateTime = 12,
    Year = 13,
    Bit = 16,
    Json = 245,
    NewDecimal = 246,
    Blob = 252,
    VarString = 253,
    String = 254,
}

/// The protocol's flags of a column, as far as the type sets them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ColumnFlags;

#[allow(missing_docs)] // The names are the protocol's.
impl ColumnFlags {
    pub const NOT_NULL: u16 = 1;
    pub const PRIMARY_KEY: u16 = 2;
    pub const UNIQUE_KEY: u16 = 4;
    pub const MULTIPLE_KEY: u16 = 8;
    pub const BLOB: u16 = 16;
    pub const UNSIGNED: u16 = 32;
    pub const ZEROFILL: u16 = 64;
    pub const BINARY: u16 = 128;
    pub const ENUM: u16 = 256;
    pub const AUTO_INCREMENT: u16 = 512;
    pub const TIMESTAMP: u16 = 1024;
    pub const SET: u16 = 2048;
    pub const NUM: u16 = 32_768;
}

impl DataType {
    /// The type's number.
    pub fn type_code(&self) -> TypeCode {
        match self {
            DataType::Null => TypeCode::Null,
            DataType::Integer { size, .. } => match size {
                IntegerSize::Tiny => TypeCode::Tiny,
                IntegerSize::Small => TypeCode::Short,
                IntegerSize::Medium => TypeCode::Int24,
                IntegerSize::Int => TypeCode::Long,
                IntegerSize::Big => TypeCode::LongLong,
            },
            DataType::Decimal { .. } => TypeCode::NewDecimal,
            DataType::Float { .. } => TypeCode::Float,
            DataType::Double { .. } => TypeCode::Double,
            DataType::Bit { .. } => TypeCode::Bit,
            DataType::Year => TypeCode::Year,
            DataType::Date => TypeCode::Date,
            DataType::Time { .. } => TypeCode::Time,
            DataType::DateTime { .. } => TypeCode::DateTime,
            DataType::Timestamp { .. } => TypeCode::Timestamp,
            DataType::Char { .. } | DataType::Enum(_) | DataType::Set(_) => TypeCode::String,
            DataType::Varchar { .. } => TypeCode::VarString,
            DataType::Text { .. } => TypeCode::Blob,
            DataType::Json => TypeCode::Json,
        }
    }

    /// The flags that follow from the type.
    pub fn column_flags(&self) -> u16 {
        let mut flags = match self {
            DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. } | DataType::Double { .. } => {
                ColumnFlags::BINARY | ColumnFlags::NUM
            }
            DataType::Year => ColumnFlags::ZEROFILL | ColumnFlags::NUM,
            DataType::Bit { .. } => ColumnFlags::UNSIGNED,
            DataType::Date | DataType::Time { .. } | DataType::DateTime { .. } | DataType::Timestamp { .. } => {
                ColumnFlags::BINARY
            }
            DataType::Enum(_) => ColumnFlags::ENUM,
            DataType::Set(_) => ColumnFlags::SET,
            DataType::Text { .. } => ColumnFlags::BLOB,
            DataType::Json => ColumnFlags::BLOB | ColumnFlags::BINARY,
            DataType::Null => ColumnFlags::BINARY | ColumnFlags::NUM,
            _ => 0,
        };
        if self.is_unsigned() {
            flags |= ColumnFlags::UNSIGNED;
        }
        if let DataType::Integer { number, .. }
        | DataType::Decimal { number, .. }
        | DataType::Float { number, .. }
        | DataType::Double { number, .. } = self
            && number.zerofill
        {
            flags |= ColumnFlags::ZEROFILL;
        }
        if self.collation().is_some_and(Collation::is_binary) {
            flags |= ColumnFlags::BINARY;
        }
        flags
    }

    /// The collation's number that goes with it, for a client that wants its text in `client`.
    pub fn column_charset(&self, client: Collation) -> u16 {
        match self.collation() {
            None if *self == DataType::Json => Collation::Binary.id(),
            None | Some(Collation::Binary) => Collation::Binary.id(),
            Some(_) => client.id(),
        }
    }

    /// The longest value in bytes, for a client that wants its text in `client`.
    pub fn column_length(&self, client: Charset) -> u32 {
        let characters = |count: u64, collation: Collation| {
            let each = if collation == Collation::Binary { 1 } else { client.max_len() };
            u32::try_from(count.saturating_mul(each.into())).unwrap_or(u32::MAX)
        };
        let fraction = |decimals: u8| if decimals > 0 { u32::from(decimals) + 1 } else { 0 };
        match self {
            DataType::Null => 0,
            DataType::Integer { .. } => self.shown_width().into(),
            DataType::Decimal { precision, scale, .. } => {
                u32::from(*precision) + u32::from(*scale > 0) + u32::from(!self.is_unsigned())
            }
            DataType::Float { digits, .. } => digits.map_or(12, |(precision, _)| precision.into()),
            DataType::Double { digits, .. } => digits.map_or(22, |(precision, _)| precision.into()),
            DataType::Bit { width } => (*width).into(),
            DataType::Year => 4,
            DataType::Date => 10,
            DataType::Time { decimals } => 10 + fraction(*decimals),
            DataType::DateTime { decimals } | DataType::Timestamp { decimals } => 19 + fraction(*decimals),
            DataType::Json => u32::MAX,
            _ => characters(self.max_characters().unwrap_or(0), self.collation().unwrap_or(Collation::Binary)),
        }
    }

    /// The number of decimals; 31 where each value has its own.
    pub fn column_decimals(&self) -> u8 {
        match self {
            DataType::Float { digits: None, .. } | DataType::Double { digits: None, .. } => 31,
            _ => self.decimals().unwrap_or(0),
        }
    }
}
