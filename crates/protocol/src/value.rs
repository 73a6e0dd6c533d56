//! Values as the binary protocol has them: in rows of prepared statements, and as parameters.
//!
//! ```text
//! TINY 1 byte   SHORT, YEAR 2   LONG, INT24 4   LONGLONG 8   FLOAT 4   DOUBLE 8      little end first
//! DATE, DATETIME, TIMESTAMP   length 0, 4, 7 or 11: year2 month day [hour minute second [microsecond4]]
//! TIME                        length 0, 8 or 12:    negative days4 hour minute second [microsecond4]
//! all else                    a string with its length before it
//! ```
//!
//! Nothing here looks whether there is a 31st of June: that is the business of whoever knows `sql_mode`.
//!
//! Source: "Binary Protocol Resultset: Binary Protocol Value" of the MySQL source documentation.

use crate::column::ColumnType;
use crate::error::{ProtocolError, Result};
use crate::wire::{Take, put_string};

/// A date and a time of day. All zero is MySQL's zero date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct DateTime {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 999,999.
    pub microsecond: u32,
}

/// A TIME: a span, of either sign, up to 838:59:59.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Time {
    /// Whether it is below zero.
    pub negative: bool,
    /// Whole days.
    pub days: u32,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// 0 to 999,999.
    pub microsecond: u32,
}

/// A value. Text and all that is sent as text (DECIMAL, JSON, BIT) is bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// NULL.
    Null,
    /// A signed integer.
    Int(i64),
    /// An unsigned integer.
    UInt(u64),
    /// A FLOAT.
    Float(f32),
    /// A DOUBLE.
    Double(f64),
    /// Bytes.
    Bytes(&'a [u8]),
    /// A DATE, DATETIME or TIMESTAMP.
    DateTime(DateTime),
    /// A TIME.
    Time(Time),
}

impl<'a> Value<'a> {
    /// Reads a value of type `column_type`. (NULLs are in a bitmap, not here.)
    ///
    /// # Errors
    /// [`ProtocolError::Malformed`].
    #[inline]
    pub fn take(take: &mut Take<'a>, column_type: ColumnType, unsigned: bool) -> Result<Value<'a>> {
        Ok(match column_type {
            ColumnType::Long | ColumnType::Int24 if unsigned => Value::UInt(u64::from(take.u32()?)),
            ColumnType::Long | ColumnType::Int24 => Value::Int(i64::from(i32::from_le_bytes(take.array()?))),
            ColumnType::LongLong if unsigned => Value::UInt(take.u64()?),
            ColumnType::LongLong => Value::Int(i64::from_le_bytes(take.array()?)),
            ColumnType::Tiny | ColumnType::Bool if unsigned => Value::UInt(u64::from(take.u8()?)),
            ColumnType::Tiny | ColumnType::Bool => Value::Int(i64::from(i8::from_le_bytes(take.array()?))),
            ColumnType::Short | ColumnType::Year if unsigned => Value::UInt(u64::from(take.u16()?)),
            ColumnType::Short | ColumnType::Year => Value::Int(i64::from(i16::from_le_bytes(take.array()?))),
            ColumnType::Float => Value::Float(f32::from_le_bytes(take.array()?)),
            ColumnType::Double => Value::Double(f64::from_le_bytes(take.array()?)),
            ColumnType::Null => Value::Null,
            ColumnType::Date
            | ColumnType::NewDate
            | ColumnType::DateTime
            | ColumnType::DateTime2
            | ColumnType::Timestamp
            | ColumnType::Timestamp2 => Value::DateTime(DateTime::take(take)?),
            ColumnType::Time | ColumnType::Time2 => Value::Time(Time::take(take)?),
            _ => Value::Bytes(take.string()?),
        })
    }

    /// Appends the value in the form that a parameter of [`Value::parameter_type`] has. NULL appends nothing.
    pub fn put(&self, to: &mut Vec<u8>) {
        match self {
            Value::Null => {}
            Value::Int(value) => to.extend_from_slice(&value.to_le_bytes()),
            Value::UInt(value) => to.extend_from_slice(&value.to_le_bytes()),
            Value::Float(value) => to.extend_from_slice(&value.to_le_bytes()),
            Value::Double(value) => to.extend_from_slice(&value.to_le_bytes()),
            Value::Bytes(bytes) => put_string(to, bytes),
            Value::DateTime(value) => value.put(to),
            Value::Time(value) => value.put(to),
        }
    }

    /// The type that a parameter with this value is sent as.
    pub fn parameter_type(&self) -> (ColumnType, bool) {
        match self {
            Value::Null => (ColumnType::Null, false),
            Value::Int(_) => (ColumnType::LongLong, false),
            Value::UInt(_) => (ColumnType::LongLong, true),
            Value::Float(_) => (ColumnType::Float, false),
            Value::Double(_) => (ColumnType::Double, false),
            Value::Bytes(_) => (ColumnType::VarString, false),
            Value::DateTime(_) => (ColumnType::DateTime, false),
            Value::Time(_) => (ColumnType::Time, false),
        }
    }
}

impl DateTime {
    /// A date without a time of day.
    pub fn date(year: u16, month: u8, day: u8) -> DateTime {
        DateTime { year, month, day, ..DateTime::default() }
    }

    /// Appends it with its length, in the shortest form.
    pub fn put(&self, to: &mut Vec<u8>) {
        let [year_low, year_high] = self.year.to_le_bytes();
        let [a, b, c, d] = self.microsecond.to_le_bytes();
        let all = [0, year_low, year_high, self.month, self.day, self.hour, self.minute, self.second, a, b, c, d];
        let length = if self.microsecond != 0 {
            11
        } else if (self.hour, self.minute, self.second) != (0, 0, 0) {
            7
        } else if (self.year, self.month, self.day) != (0, 0, 0) {
            4
        } else {
            0
        };
        let at = to.len();
        to.extend_from_slice(&all[..=length]);
        to[at] = length as u8;
    }

    fn take(take: &mut Take<'_>) -> Result<DateTime> {
        let length = take.u8()?;
        let mut value = DateTime::default();
        if !matches!(length, 0 | 4 | 7 | 11) {
            return Err(ProtocolError::Malformed("length of a date"));
        }
        if length >= 4 {
            value.year = take.u16()?;
            [value.month, value.day] = take.array()?;
        }
        if length >= 7 {
            [value.hour, value.minute, value.second] = take.array()?;
        }
        if length == 11 {
            value.microsecond = take.u32()?;
        }
        Ok(value)
    }
}

impl Time {
    /// Appends it with its length, in the shortest form.
    pub fn put(&self, to: &mut Vec<u8>) {
        let [d0, d1, d2, d3] = self.days.to_le_bytes();
        let [a, b, c, d] = self.microsecond.to_le_bytes();
        let all = [0, u8::from(self.negative), d0, d1, d2, d3, self.hour, self.minute, self.second, a, b, c, d];
        let length = if self.microsecond != 0 {
            12
        } else if (self.days, self.hour, self.minute, self.second) != (0, 0, 0, 0) {
            8
        } else {
            0
        };
        let at = to.len();
        to.extend_from_slice(&all[..=length]);
        to[at] = length as u8;
    }

    fn take(take: &mut Take<'_>) -> Result<Time> {
        let length = take.u8()?;
        let mut value = Time::default();
        if !matches!(length, 0 | 8 | 12) {
            return Err(ProtocolError::Malformed("length of a time"));
        }
        if length >= 8 {
            value.negative = take.u8()? != 0;
            value.days = take.u32()?;
            [value.hour, value.minute, value.second] = take.array()?;
        }
        if length == 12 {
            value.microsecond = take.u32()?;
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_take_their_shortest_form() {
        let day = DateTime::date(2026, 11, 21);
        let noon = DateTime { hour: 12, ..day };
        let precise = DateTime { microsecond: 7, ..day };
        for (value, length) in [(DateTime::default(), 0), (day, 4), (noon, 7), (precise, 11)] {
            let mut bytes = Vec::new();
            value.put(&mut bytes);
            assert_eq!((bytes.len(), bytes[0]), (length + 1, length as u8));
            assert_eq!(DateTime::take(&mut Take::new(&bytes)), Ok(value));
        }
        let hour = Time { negative: true, days: 34, hour: 22, ..Time::default() };
        for (value, length) in [(Time::default(), 0), (hour, 8), (Time { microsecond: 1, ..hour }, 12)] {
            let mut bytes = Vec::new();
            value.put(&mut bytes);
            assert_eq!((bytes.len(), bytes[0]), (length + 1, length as u8));
            assert_eq!(Time::take(&mut Take::new(&bytes)), Ok(value));
        }
        assert!(DateTime::take(&mut Take::new(&[5, 0, 0, 0, 0, 0])).is_err());
        assert!(Time::take(&mut Take::new(&[8, 0])).is_err());
    }
}
