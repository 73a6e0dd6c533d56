//! Types of columns and expressions, with all their attributes.
//!
//! | module | what it answers |
//! |---|---|
//! | `print` | How do SHOW CREATE TABLE and `COLUMN_TYPE` write it? |
//! | `storage` | In which form is a value stored, and read? |
//! | `protocol` | What does a client hear of it? |
//!
//! BINARY, VARBINARY and the BLOBs are CHAR, VARCHAR and the TEXTs with the collation `binary`, as in MySQL.
//!
//! # Source
//! MySQL Reference Manual, "Data Types".

mod print;
mod protocol;
mod storage;

use std::sync::Arc;

pub use protocol::{ColumnFlags, TypeCode};
pub use storage::{Storage, Stored};

use crate::member::Members;
use crate::text::Collation;

/// How many bytes an integer has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum IntegerSize {
    Tiny = 1,
    Small = 2,
    Medium = 3,
    Int = 4,
    Big = 8,
}

impl IntegerSize {
    /// Bytes.
    pub const fn bytes(self) -> u32 {
        self as u32
    }

    /// The smallest signed number.
    pub const fn signed_min(self) -> i64 {
        i64::MIN >> (64 - 8 * self.bytes())
    }

    /// The largest signed number.
    pub const fn signed_max(self) -> i64 {
        i64::MAX >> (64 - 8 * self.bytes())
    }

    /// The largest unsigned number.
    pub const fn unsigned_max(self) -> u64 {
        u64::MAX >> (64 - 8 * self.bytes())
    }
}

/// How long a TEXT or BLOB can be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum TextSize {
    Tiny,
    Normal,
    Medium,
    Long,
}

impl TextSize {
    /// The most bytes.
    pub const fn max_bytes(self) -> u32 {
        match self {
            TextSize::Tiny => 255,
            TextSize::Normal => 65_535,
            TextSize::Medium => 16_777_215,
            TextSize::Long => u32::MAX,
        }
    }

    /// The smallest that holds so many bytes: `TEXT(n)`.
    pub const fn for_bytes(bytes: u64) -> TextSize {
        match bytes {
            0..=255 => TextSize::Tiny,
            256..=65_535 => TextSize::Normal,
            65_536..=16_777_215 => TextSize::Medium,
            _ => TextSize::Long,
        }
    }
}

/// What numbers may be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Number {
    /// Not below zero.
    pub unsigned: bool,
    /// Printed with zeros in front; implies unsigned.
    pub zerofill: bool,
}

impl Number {
    /// The same, printed as it is.
    pub fn unfilled(self) -> Self {
        Self { zerofill: false, ..self }
    }
}

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum DataType {
    /// That of NULL.
    Null,
    /// TINYINT to BIGINT.
    Integer {
        /// How many bytes.
        size: IntegerSize,
        /// Signed, unsigned, zerofill.
        number: Number,
        /// The `n` of INT(n), if it was given.
        display_width: Option<u8>,
    },
    /// DECIMAL(precision, scale).
    Decimal {
        /// Digits, 1 to 65.
        precision: u8,
        /// Digits after the point, 0 to 30.
        scale: u8,
        /// Signed, unsigned, zerofill.
        number: Number,
    },
    /// FLOAT, FLOAT(m, d).
    Float {
        /// Digits, and digits after the point, if they were given.
        digits: Option<(u8, u8)>,
        /// Signed, unsigned, zerofill.
        number: Number,
    },
    /// DOUBLE, DOUBLE(m, d).
    Double {
        /// Digits, and digits after the point, if they were given.
        digits: Option<(u8, u8)>,
        /// Signed, unsigned, zerofill.
        number: Number,
    },
    /// BIT(n), 1 to 64.
    Bit {
        /// Bits.
        width: u8,
    },
    /// YEAR.
    Year,
    /// DATE.
    Date,
    /// TIME(f).
    Time {
        /// Digits of the fraction, 0 to 6.
        decimals: u8,
    },
    /// DATETIME(f).
    DateTime {
        /// Digits of the fraction, 0 to 6.
        decimals: u8,
    },
    /// TIMESTAMP(f).
    Timestamp {
        /// Digits of the fraction, 0 to 6.
        decimals: u8,
    },
    /// CHAR(n), BINARY(n).
    Char {
        /// Characters, 0 to 255.
        length: u32,
        /// How it compares, and its character set.
        collation: Collation,
    },
    /// VARCHAR(n), VARBINARY(n).
    Varchar {
        /// Characters; at most 65535 bytes.
        length: u32,
        /// How it compares, and its character set.
        collation: Collation,
    },
    /// TINYTEXT to LONGTEXT, TINYBLOB to LONGBLOB.
    Text {
        /// How long.
        size: TextSize,
        /// How it compares, and its character set.
        collation: Collation,
    },
    /// ENUM('a', 'b').
    Enum(Arc<Members>),
    /// SET('a', 'b').
    Set(Arc<Members>),
    /// JSON.
    Json,
}

impl DataType {
    /// BIGINT.
    pub const BIGINT: DataType = DataType::integer(IntegerSize::Big, false);
    /// BIGINT UNSIGNED.
    pub const BIGINT_UNSIGNED: DataType = DataType::integer(IntegerSize::Big, true);
    /// DOUBLE.
    pub const DOUBLE: DataType = DataType::Double { digits: None, number: Number { unsigned: false, zerofill: false } };

    /// The longest row, in bytes, TEXT and BLOB and the like counted with a pointer only.
    pub const MAX_ROW_BYTES: u32 = 65_535;

    /// An integer type without display width.
    pub const fn integer(size: IntegerSize, unsigned: bool) -> DataType {
        DataType::Integer { size, number: Number { unsigned, zerofill: false }, display_width: None }
    }

    /// DECIMAL(precision, scale), signed.
    pub const fn decimal(precision: u8, scale: u8) -> DataType {
        DataType::Decimal { precision, scale, number: Number { unsigned: false, zerofill: false } }
    }

    /// VARCHAR(length).
    pub const fn varchar(length: u32, collation: Collation) -> DataType {
        DataType::Varchar { length, collation }
    }

    /// The collation of a type that is text or bytes.
    pub fn collation(&self) -> Option<Collation> {
        match self {
            DataType::Char { collation, .. }
            | DataType::Varchar { collation, .. }
            | DataType::Text { collation, .. } => Some(*collation),
            DataType::Enum(members) | DataType::Set(members) => Some(members.collation()),
            _ => None,
        }
    }

    /// Whether numbers below zero have no place in it.
    pub fn is_unsigned(&self) -> bool {
        match self {
            DataType::Integer { number, .. }
            | DataType::Decimal { number, .. }
            | DataType::Float { number, .. }
            | DataType::Double { number, .. } => number.unsigned || number.zerofill,
            DataType::Bit { .. } | DataType::Year => true,
            _ => false,
        }
    }

    /// Whether it is an integer, a decimal, a float, a double, a bit or a year.
    pub fn is_numeric(&self) -> bool {
        matches!(
            self,
            DataType::Integer { .. }
                | DataType::Decimal { .. }
                | DataType::Float { .. }
                | DataType::Double { .. }
                | DataType::Bit { .. }
                | DataType::Year
        )
    }

    /// Whether it is a date, a time, or both.
    pub fn is_temporal(&self) -> bool {
        matches!(self, DataType::Date | DataType::Time { .. } | DataType::DateTime { .. } | DataType::Timestamp { .. })
    }

    /// Whether it is text or bytes.
    pub fn is_string(&self) -> bool {
        matches!(self, DataType::Char { .. } | DataType::Varchar { .. } | DataType::Text { .. })
    }

    /// Digits after the point that its values are shown with; `None` where each value has its own.
    pub fn decimals(&self) -> Option<u8> {
        match self {
            DataType::Decimal { scale, .. } => Some(*scale),
            DataType::Float { digits, .. } | DataType::Double { digits, .. } => digits.map(|(_, decimals)| decimals),
            DataType::Time { decimals } | DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
                Some(*decimals)
            }
            DataType::Integer { .. } | DataType::Bit { .. } | DataType::Year | DataType::Date => Some(0),
            _ => None,
        }
    }

    /// Characters of its longest text; `None` for numbers and the like.
    pub fn max_characters(&self) -> Option<u64> {
        Some(match self {
            DataType::Char { length, .. } | DataType::Varchar { length, .. } => u64::from(*length),
            DataType::Text { size, .. } => u64::from(size.max_bytes()),
            DataType::Enum(members) => members.longest(),
            DataType::Set(members) => members.all_characters(),
            _ => return None,
        })
    }

    /// Bytes that a row counts for it, for the limit of 65535.
    pub fn row_bytes(&self) -> u32 {
        match self {
            DataType::Varchar { length, collation } => {
                let bytes = length.saturating_mul(collation.charset().max_len());
                bytes.saturating_add(if bytes > 255 { 2 } else { 1 })
            }
            DataType::Char { length, collation } => length.saturating_mul(collation.charset().max_len()),
            DataType::Text { size, .. } => 9 + *size as u32,
            DataType::Json => 12,
            DataType::Null => 0,
            other => match other.storage() {
                Storage::Signed(bytes) | Storage::Unsigned(bytes) => bytes.into(),
                Storage::Float => 4,
                Storage::Double => 8,
                Storage::Fixed(bytes) => bytes.into(),
                Storage::Variable(bytes) => bytes,
            },
        }
    }
}
