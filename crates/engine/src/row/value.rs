//! What a value is, and which ones a column takes.
//!
//! The engine has few kinds of values, since it does only two things with them: it stores them, and it puts them in
//! order. Everything that orders as its bytes do is bytes.
//!
//! | in MySQL | here |
//! |---|---|
//! | TINYINT ... BIGINT | `Signed`, `Unsigned` of 1, 2, 3, 4 or 8 bytes |
//! | YEAR, ENUM, SET | `Unsigned` |
//! | FLOAT, DOUBLE | `Float`, `Double` |
//! | DECIMAL as `decimal2bin` packs it, packed temporal types, BIT, BINARY | `Fixed` |
//! | CHAR, VARCHAR, VARBINARY, TEXT, BLOB, JSON, GEOMETRY | `Variable` |
//!
//! # Invariants
//! 1. What [`Column::check`] accepts, keys and rows can hold.
//! 2. There is no NaN. Infinities are let through: they have a place in the order, and MySQL refuses them earlier.
//!
//! # Sources
//! MySQL 8.0, `strings/decimal.cc` (`decimal2bin`) and `mysys/my_time.cc` (`my_datetime_packed_to_binary`), for forms
//! that compare as bytes.

use std::fmt;

use super::error::{Corrupt, ValueError};

/// One value, borrowed from wherever it is. Compares as numbers do: the two zeros are equal.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value<'a> {
    /// No value.
    Null,
    /// An integer of a signed type.
    Signed(i64),
    /// An integer of an unsigned type.
    Unsigned(u64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// Everything else.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    /// The bytes, if it has any of its own.
    pub fn bytes(self) -> Option<&'a [u8]> {
        if let Value::Bytes(bytes) = self { Some(bytes) } else { None }
    }

    fn kind(self) -> &'static str {
        match self {
            Value::Null => "NULL",
            Value::Signed(_) => "a signed integer",
            Value::Unsigned(_) => "an unsigned integer",
            Value::Float(_) => "a float",
            Value::Double(_) => "a double",
            Value::Bytes(_) => "bytes",
        }
    }
}

/// How many bytes an integer type has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum IntegerWidth {
    /// TINYINT.
    One = 1,
    /// SMALLINT.
    Two = 2,
    /// MEDIUMINT.
    Three = 3,
    /// INT.
    Four = 4,
    /// BIGINT.
    Eight = 8,
}

impl IntegerWidth {
    /// All there are.
    pub const ALL: [IntegerWidth; 5] = [Self::One, Self::Two, Self::Three, Self::Four, Self::Eight];

    /// The width of so many bytes, if there is one.
    pub fn from_bytes(bytes: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|width| width.bytes() == bytes)
    }

    /// Bytes.
    #[inline]
    pub const fn bytes(self) -> usize {
        self as usize
    }

    const fn unused_bits(self) -> u32 {
        64 - 8 * self as u32
    }

    /// The smallest signed integer.
    pub const fn signed_min(self) -> i64 {
        i64::MIN >> self.unused_bits()
    }

    /// The largest signed integer.
    pub const fn signed_max(self) -> i64 {
        i64::MAX >> self.unused_bits()
    }

    /// The largest unsigned integer.
    pub const fn unsigned_max(self) -> u64 {
        u64::MAX >> self.unused_bits()
    }

    /// The bit that says whether a signed integer is negative.
    pub(super) const fn sign_bit(self) -> u64 {
        1 << (8 * self as u32 - 1)
    }

    /// The little-endian integer at the front of some bytes, of which there are enough. (Not a copy of so many bytes to eight
    /// zeroes: that is a call, and what was stored in parts is not there yet when it is read as a whole.)
    #[inline(always)]
    pub(super) fn read(self, bytes: &[u8]) -> u64 {
        fn first<const LEN: usize>(bytes: &[u8]) -> [u8; LEN] {
            *bytes.first_chunk().expect("there are enough bytes")
        }
        match self {
            Self::One => bytes[0].into(),
            Self::Two => u16::from_le_bytes(first(bytes)).into(),
            Self::Three => {
                let [low, middle, high] = first(bytes);
                u32::from_le_bytes([low, middle, high, 0]).into()
            }
            Self::Four => u32::from_le_bytes(first(bytes)).into(),
            Self::Eight => u64::from_le_bytes(first(bytes)),
        }
    }

    /// As [`IntegerWidth::read`], of a signed integer.
    #[inline(always)]
    pub(super) fn read_signed(self, bytes: &[u8]) -> i64 {
        self.extend_sign(self.read(bytes))
    }

    /// Writes an integer to the front of some bytes, little-endian.
    #[inline(always)]
    pub(super) fn write(self, number: u64, to: &mut [u8]) {
        match self {
            Self::One => to[0] = number as u8,
            Self::Two => to[..2].copy_from_slice(&(number as u16).to_le_bytes()),
            Self::Three => to[..3].copy_from_slice(&(number as u32).to_le_bytes()[..3]),
            Self::Four => to[..4].copy_from_slice(&(number as u32).to_le_bytes()),
            Self::Eight => to[..8].copy_from_slice(&number.to_le_bytes()),
        }
    }

    /// The big-endian integer at the front of some bytes.
    #[inline(always)]
    pub(super) fn read_big_endian(self, bytes: &[u8]) -> u64 {
        self.read(bytes).swap_bytes() >> self.unused_bits()
    }

    /// Appends an integer, big-endian.
    #[inline(always)]
    pub(super) fn append_big_endian(self, number: u64, out: &mut Vec<u8>) {
        let number = number.to_be_bytes();
        match self {
            Self::One => out.push(number[7]),
            Self::Two => out.extend_from_slice(&number[6..]),
            Self::Three => out.extend_from_slice(&number[5..]),
            Self::Four => out.extend_from_slice(&number[4..]),
            Self::Eight => out.extend_from_slice(&number),
        }
    }

    /// A signed integer of which only this many bytes are known.
    #[inline]
    pub(super) const fn extend_sign(self, number: u64) -> i64 {
        (number << self.unused_bits()) as i64 >> self.unused_bits()
    }
}

/// What a column holds, NULL aside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ColumnType {
    /// Signed integers.
    Signed(IntegerWidth),
    /// Unsigned integers.
    Unsigned(IntegerWidth),
    /// Floating-point numbers of four bytes.
    Float,
    /// Floating-point numbers of eight bytes.
    Double,
    /// Bytes, always as many; they order as `memcmp` does.
    Fixed {
        /// How many.
        len: u16,
    },
    /// Bytes, up to a limit; they order as `memcmp` does, a beginning before what it is the beginning of.
    Variable {
        /// The limit.
        max_len: u32,
    },
}

impl ColumnType {
    /// Bytes that each value takes; `None` if it varies.
    #[inline]
    pub const fn fixed_len(self) -> Option<usize> {
        match self {
            ColumnType::Signed(width) | ColumnType::Unsigned(width) => Some(width.bytes()),
            ColumnType::Float => Some(4),
            ColumnType::Double => Some(8),
            ColumnType::Fixed { len } => Some(len as usize),
            ColumnType::Variable { .. } => None,
        }
    }

    /// The value of fixed width at the front of some bytes, of which there are enough.
    #[inline(always)]
    pub(super) fn read(self, bytes: &[u8]) -> Result<Value<'_>, Corrupt> {
        Ok(match self {
            Self::Signed(width) => Value::Signed(width.read_signed(bytes)),
            Self::Unsigned(width) => Value::Unsigned(width.read(bytes)),
            Self::Float => {
                let number = f32::from_bits(IntegerWidth::Four.read(bytes) as u32);
                if number.is_nan() {
                    return Err(Corrupt::Float);
                }
                Value::Float(number)
            }
            Self::Double => {
                let number = f64::from_bits(IntegerWidth::Eight.read(bytes));
                if number.is_nan() {
                    return Err(Corrupt::Float);
                }
                Value::Double(number)
            }
            Self::Fixed { len } => Value::Bytes(&bytes[..usize::from(len)]),
            Self::Variable { .. } => unreachable!("its width is not fixed"),
        })
    }
}

impl fmt::Display for ColumnType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnType::Signed(width) => write!(f, "a signed {}-byte integer", width.bytes()),
            ColumnType::Unsigned(width) => write!(f, "an unsigned {}-byte integer", width.bytes()),
            ColumnType::Float => f.write_str("a float"),
            ColumnType::Double => f.write_str("a double"),
            ColumnType::Fixed { len } => write!(f, "a column of exactly {len} bytes"),
            ColumnType::Variable { max_len } => write!(f, "a column of at most {max_len} bytes"),
        }
    }
}

/// Which values a column takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Column {
    /// What it holds.
    pub column_type: ColumnType,
    /// Whether NULL is one of its values.
    pub nullable: bool,
}

impl Column {
    /// A column that is never NULL.
    pub const fn new(column_type: ColumnType) -> Self {
        Self { column_type, nullable: false }
    }

    /// The same column, or NULL.
    pub const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    /// Whether the column takes this value.
    #[inline]
    pub fn check(&self, value: Value<'_>) -> Result<(), ValueError> {
        let expected = self.column_type;
        match (expected, value) {
            (_, Value::Null) => self.nullable.then_some(()).ok_or(ValueError::Null),
            (ColumnType::Signed(width), Value::Signed(number)) => (width.signed_min()..=width.signed_max())
                .contains(&number)
                .then_some(())
                .ok_or(ValueError::OutOfRange { number: number.into(), expected }),
            (ColumnType::Unsigned(width), Value::Unsigned(number)) => (number <= width.unsigned_max())
                .then_some(())
                .ok_or(ValueError::OutOfRange { number: number.into(), expected }),
            (ColumnType::Float, Value::Float(number)) => (!number.is_nan()).then_some(()).ok_or(ValueError::NotANumber),
            (ColumnType::Double, Value::Double(number)) => {
                (!number.is_nan()).then_some(()).ok_or(ValueError::NotANumber)
            }
            (ColumnType::Fixed { len }, Value::Bytes(bytes)) => {
                (bytes.len() == usize::from(len)).then_some(()).ok_or(ValueError::Length { len: bytes.len(), expected })
            }
            (ColumnType::Variable { max_len }, Value::Bytes(bytes)) => {
                (bytes.len() <= max_len as usize).then_some(()).ok_or(ValueError::Length { len: bytes.len(), expected })
            }
            _ => Err(ValueError::WrongKind { expected, found: value.kind() }),
        }
    }
}

/// The memory of a vector, for values with another lifetime: those of the next row.
pub fn recycle_values<'a, 'b>(mut values: Vec<Value<'a>>) -> Vec<Value<'b>> {
    values.clear();
    values.into_iter().map(|_| Value::Null).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranges_are_those_of_mysql() {
        let ranges = IntegerWidth::ALL.map(|width| (width.signed_min(), width.signed_max(), width.unsigned_max()));
        assert_eq!(ranges[0], (-128, 127, 255));
        assert_eq!(ranges[1], (-32768, 32767, 65535));
        assert_eq!(ranges[2], (-8388608, 8388607, 16777215));
        assert_eq!(ranges[3], (-2147483648, 2147483647, 4294967295));
        assert_eq!(ranges[4], (i64::MIN, i64::MAX, u64::MAX));
        assert_eq!(IntegerWidth::from_bytes(3), Some(IntegerWidth::Three));
        assert_eq!(IntegerWidth::from_bytes(5), None);
    }

    #[test]
    fn a_column_says_what_it_does_not_take() {
        let sentence = |column: Column, value| column.check(value).expect_err("refused").to_string();
        let medium = Column::new(ColumnType::Signed(IntegerWidth::Three));
        assert_eq!(medium.check(Value::Signed(-8388608)), Ok(()));
        assert_eq!(sentence(medium, Value::Signed(8388608)), "8388608 is out of range for a signed 3-byte integer");
        assert_eq!(sentence(medium, Value::Null), "NULL is not allowed");
        assert_eq!(medium.or_null().check(Value::Null), Ok(()));
        assert_eq!(sentence(medium, Value::Unsigned(1)), "a signed 3-byte integer cannot hold an unsigned integer");
        assert_eq!(
            sentence(Column::new(ColumnType::Unsigned(IntegerWidth::One)), Value::Unsigned(256)),
            "256 is out of range for an unsigned 1-byte integer"
        );
        let fixed = Column::new(ColumnType::Fixed { len: 3 });
        assert_eq!(fixed.check(Value::Bytes(b"abc")), Ok(()));
        assert_eq!(sentence(fixed, Value::Bytes(b"ab")), "a column of exactly 3 bytes cannot hold 2 bytes");
        let variable = Column::new(ColumnType::Variable { max_len: 3 });
        assert_eq!(variable.check(Value::Bytes(b"")), Ok(()));
        assert_eq!(sentence(variable, Value::Bytes(b"abcd")), "a column of at most 3 bytes cannot hold 4 bytes");
        assert_eq!(Column::new(ColumnType::Float).check(Value::Float(f32::NAN)), Err(ValueError::NotANumber));
        assert_eq!(Column::new(ColumnType::Double).check(Value::Double(f64::NAN)), Err(ValueError::NotANumber));
        assert_eq!(Column::new(ColumnType::Double).check(Value::Double(f64::INFINITY)), Ok(()));
    }
}
