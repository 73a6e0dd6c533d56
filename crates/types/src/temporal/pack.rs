//! How temporal columns are stored: bytes that `memcmp` orders as the values are ordered.
//!
//! ```text
//! DATE          3   year * 512 + month * 32 + day
//! DATETIME(f)   5+  ((year * 13 + month) * 32 + day, hour, minute, second) in 40 bits, the highest one set
//! TIMESTAMP(f)  4+  seconds since 1970 in UTC; 0 is 0000-00-00 00:00:00
//! TIME(f)       3+  one sign bit, then hours, minutes, seconds
//!               +   the fraction: 1 byte for f = 1, 2; 2 for 3, 4; 3 for 5, 6
//! ```
//!
//! All big-endian. A negative TIME is the whole number (fraction included) negated, so that order holds.
//!
//! # Source
//! MySQL Internals Manual, "Date and Time Data Type Representation": the same layouts, DATE aside.

use super::{Date, DateTime, SECOND, Time};

const fn fraction_len(decimals: u8) -> usize {
    (if decimals > 6 { 6 } else { decimals } as usize).div_ceil(2)
}

/// Bytes of a DATETIME(`decimals`).
pub const fn datetime_len(decimals: u8) -> usize {
    5 + fraction_len(decimals)
}

/// Bytes of a TIMESTAMP(`decimals`).
pub const fn timestamp_len(decimals: u8) -> usize {
    4 + fraction_len(decimals)
}

/// Bytes of a TIME(`decimals`).
pub const fn time_len(decimals: u8) -> usize {
    3 + fraction_len(decimals)
}

/// Microseconds in the unit of the stored fraction.
const fn unit(len: usize) -> u32 {
    match len {
        0 => 1_000_000,
        1 => 10_000,
        2 => 100,
        _ => 1,
    }
}

fn append_low(number: u64, len: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_be_bytes()[8 - len.min(8)..]);
}

fn read(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Splits off `whole` bytes; the rest is a fraction, in microseconds.
fn split(bytes: &[u8], whole: usize) -> (u64, u32) {
    let (first, fraction) = bytes.split_at(whole.min(bytes.len()));
    let fraction = &fraction[..fraction.len().min(3)];
    (
        read(first),
        (read(fraction) as u32).saturating_mul(unit(fraction.len())).min(999_999) * u32::from(!fraction.is_empty()),
    )
}

impl Date {
    /// Appends the three bytes of a DATE column.
    pub fn append_packed(self, out: &mut Vec<u8>) {
        append_low(u64::from(self.year) << 9 | u64::from(self.month) << 5 | u64::from(self.day), 3, out);
    }

    /// Reads them. Bytes that are no date give the zero date.
    pub fn unpack(bytes: &[u8]) -> Date {
        let number = match *bytes {
            [a, b, c] => u32::from_be_bytes([0, a, b, c]).into(),
            _ => read(&bytes[..bytes.len().min(3)]),
        };
        Date::new((number >> 9) as u16, (number >> 5 & 15) as u8, (number & 31) as u8).unwrap_or(Date::ZERO)
    }
}

impl DateTime {
    /// Appends the bytes of a DATETIME column with so many decimals, to which the value was rounded.
    pub fn append_packed(self, decimals: u8, out: &mut Vec<u8>) {
        let days = (u64::from(self.date.year) * 13 + u64::from(self.date.month)) << 5 | u64::from(self.date.day);
        let clock = u64::from(self.hour) << 12 | u64::from(self.minute) << 6 | u64::from(self.second);
        append_low(1 << 39 | days << 17 | clock, 5, out);
        let len = fraction_len(decimals);
        append_low((self.micros / unit(len)).into(), len, out);
    }

    /// Reads them. Bytes that are no date and time give the zero date.
    pub fn unpack(bytes: &[u8]) -> DateTime {
        let (whole, micros) = match *bytes {
            // Whole seconds, as most are.
            [first, a, b, c, d] => (u64::from(first) << 32 | u64::from(u32::from_be_bytes([a, b, c, d])), 0),
            _ => split(bytes, 5),
        };
        let days = (whole & !(1 << 39)) >> 17;
        let (hour, minute, second) = ((whole >> 12 & 31) as u8, (whole >> 6 & 63) as u8, (whole & 63) as u8);
        let months = days >> 5;
        match Date::new((months / 13) as u16, (months % 13) as u8, (days & 31) as u8) {
            Some(date) if hour <= 23 && minute <= 59 && second <= 59 => DateTime { date, hour, minute, second, micros },
            _ => DateTime::ZERO,
        }
    }
}

/// Appends the bytes of a TIMESTAMP column: seconds since 1970 in UTC, and microseconds.
pub(crate) fn append_packed_timestamp(seconds: u32, micros: u32, decimals: u8, out: &mut Vec<u8>) {
    append_low(seconds.into(), 4, out);
    let len = fraction_len(decimals);
    append_low((micros / unit(len)).into(), len, out);
}

/// Reads them.
pub(crate) fn unpack_timestamp(bytes: &[u8]) -> (u32, u32) {
    let (seconds, micros) = split(bytes, 4);
    (seconds as u32, micros)
}

impl Time {
    /// Appends the bytes of a TIME column with so many decimals, to which the value was rounded.
    pub fn append_packed(self, decimals: u8, out: &mut Vec<u8>) {
        let len = fraction_len(decimals);
        let clock = u64::from(self.hours()) << 12 | u64::from(self.minute()) << 6 | u64::from(self.second());
        let magnitude = clock << (8 * len) | u64::from(self.fraction() / unit(len));
        let middle = 1u64 << (8 * len + 23);
        append_low(if self.is_negative() { middle - magnitude } else { middle + magnitude }, 3 + len, out);
    }

    /// Reads them. Bytes that are no time give zero.
    pub fn unpack(bytes: &[u8]) -> Time {
        let bytes = &bytes[..bytes.len().min(6)];
        let len = bytes.len().saturating_sub(3);
        let middle = 1i64 << (8 * len + 23);
        let number = read(bytes) as i64 - middle;
        let magnitude = number.unsigned_abs();
        let clock = magnitude >> (8 * len);
        let fraction = if len == 0 { 0 } else { (magnitude & ((1 << (8 * len)) - 1)) as i64 * i64::from(unit(len)) };
        let seconds = ((clock >> 12 & 1023) * 3600 + (clock >> 6 & 63) * 60 + (clock & 63)) as i64;
        let micros = seconds * SECOND + fraction.min(SECOND - 1);
        Time::from_micros(if number < 0 { -micros } else { micros }).0
    }
}
