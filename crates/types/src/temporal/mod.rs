//! Dates and times as MySQL has them: days that do not exist, hours beyond 24, no zone.
//!
//! ```text
//! Date      0000-00-00 .. 9999-12-31, zero months and days included
//! DateTime  a date and a time of day, to the microsecond
//! Time      -838:59:59.000000 .. 838:59:59.000000, a length of time as well as a time of day
//! ```
//!
//! A TIMESTAMP is a [`DateTime`] in the session's zone while it is computed with; [`Zone`] turns it into seconds.
//!
//! # Invariants
//! 1. Fields are in range one by one (month 0..=12, day 0..=31, hour 0..=23, ...). Whether a date exists, or may be
//!    zero, is a question of its own: [`Date::check`].
//! 2. Comparing the values is comparing the points in time.
//!
//! # Source
//! MySQL Reference Manual, "Date and Time Data Types", "Date and Time Literals", "Date and Time Functions".

mod calendar;
mod format;
mod interval;
mod number;
mod pack;
mod parse;
mod scan;
mod zone;

pub use calendar::{WeekMode, day_number, days_in_month, from_day_number, is_leap_year};
pub use format::{DAYS, MONTHS, append_date_format, append_time_format};
pub use interval::{Interval, IntervalUnit, add_months, datediff, extract, period_add, period_diff, timestampdiff};
pub use number::{NumberTime, datetime_from_number, time_from_number};
pub use pack::{datetime_len, time_len, timestamp_len};
pub use parse::{Deprecated, ParsedDateTime, ParsedTime, parse_datetime, parse_time};
pub use scan::{Scanned, parts_of, scan_date};
pub use zone::{Instant, Zone};

use crate::context::SqlMode;
use crate::decimal::Decimal;

/// A day, perhaps one that does not exist.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
}

/// A day and a time of day.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct DateTime {
    /// The day.
    pub date: Date,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// Microseconds, 0 to 999999.
    pub micros: u32,
}

/// A length of time in microseconds, within 838:59:59 of zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Time {
    micros: i64,
}

/// Microseconds of a second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds of a day.
pub const DAY: i64 = 86_400 * SECOND;

impl Date {
    /// `0000-00-00`.
    pub const ZERO: Date = Date { year: 0, month: 0, day: 0 };

    /// A date, if its fields are in range.
    pub const fn new(year: u16, month: u8, day: u8) -> Option<Date> {
        if year <= 9999 && month <= 12 && day <= 31 { Some(Date { year, month, day }) } else { None }
    }

    /// Whether it is `0000-00-00`.
    pub fn is_zero(self) -> bool {
        self == Date::ZERO
    }

    /// Whether a mode accepts it: zero dates, zero months and days, days that their month does not have.
    pub fn check(self, mode: SqlMode) -> bool {
        if self.is_zero() {
            return !mode.no_zero_date;
        }
        if self.month == 0 || self.day == 0 {
            return !mode.no_zero_in_date;
        }
        mode.allow_invalid_dates || self.day <= days_in_month(self.year, self.month)
    }

    /// Whether it is a day of the calendar.
    pub fn exists(self) -> bool {
        self.month != 0 && self.day != 0 && self.day <= days_in_month(self.year, self.month)
    }

    /// Appends `YYYY-MM-DD`.
    pub fn append_text(self, out: &mut Vec<u8>) {
        append_digits(self.year.into(), 4, out);
        out.push(b'-');
        append_digits(self.month.into(), 2, out);
        out.push(b'-');
        append_digits(self.day.into(), 2, out);
    }

    /// `YYYYMMDD`.
    pub fn to_number(self) -> u64 {
        (u64::from(self.year) * 100 + u64::from(self.month)) * 100 + u64::from(self.day)
    }

    /// Midnight of that day.
    pub const fn midnight(self) -> DateTime {
        DateTime { date: self, hour: 0, minute: 0, second: 0, micros: 0 }
    }
}

impl DateTime {
    /// Whether a mode accepts it. A zero date with a time is one that has zeros, not the zero date.
    pub fn check(self, mode: SqlMode) -> bool {
        match self.date.is_zero() && self.time_micros() != 0 {
            true => !mode.no_zero_in_date,
            false => self.date.check(mode),
        }
    }

    /// `0000-00-00 00:00:00`.
    pub const ZERO: DateTime = Date::ZERO.midnight();

    /// Microseconds since midnight.
    pub fn time_micros(self) -> i64 {
        (i64::from(self.hour) * 3600 + i64::from(self.minute) * 60 + i64::from(self.second)) * SECOND
            + i64::from(self.micros)
    }

    /// Microseconds since the beginning of day number 0.
    pub fn total_micros(self) -> i64 {
        i64::from(day_number(self.date)) * DAY + self.time_micros()
    }

    /// The point so many microseconds after the beginning of day number 0; `None` outside of the years 0 to 9999.
    pub fn from_total_micros(total: i64) -> Option<DateTime> {
        let date = from_day_number(u32::try_from(total.div_euclid(DAY)).ok()?)?;
        Some(date.at(total.rem_euclid(DAY)))
    }

    /// The time of that day.
    pub fn time(self) -> Time {
        Time { micros: self.time_micros() }
    }

    /// Appends `YYYY-MM-DD hh:mm:ss`, with so many digits (0 to 6) of the fraction.
    pub fn append_text(self, decimals: u8, out: &mut Vec<u8>) {
        self.date.append_text(out);
        out.push(b' ');
        append_clock(self.hour.into(), self.minute.into(), self.second.into(), self.micros, decimals, out);
    }

    /// `YYYYMMDDhhmmss`.
    pub fn to_number(self) -> u64 {
        self.date.to_number() * 1_000_000
            + (u64::from(self.hour) * 100 + u64::from(self.minute)) * 100
            + u64::from(self.second)
    }

    /// `YYYYMMDDhhmmss.ffffff`, with so many decimals.
    pub fn to_decimal(self, decimals: u8) -> Decimal {
        let all = i128::from(self.to_number()) * 1_000_000 + i128::from(self.micros);
        let decimals = decimals.min(6);
        Decimal::from_parts(all / 10i128.pow(6 - u32::from(decimals)), decimals)
    }

    /// Rounded to so many digits of the fraction, or cut off. `None` beyond the year 9999.
    pub fn round(self, decimals: u8, truncate: bool) -> Option<DateTime> {
        let micros = i64::from(self.micros);
        let rounded = round_micros(micros, decimals, truncate);
        if rounded < SECOND {
            return Some(DateTime { micros: rounded as u32, ..self });
        }
        if self.date.exists() {
            return DateTime::from_total_micros(self.total_micros() - micros + rounded);
        }
        // A second more on a day that does not exist: within the day it can be done.
        let time = self.time_micros() - micros + rounded;
        (time < DAY).then(|| self.date.at(time))
    }
}

impl Date {
    /// So many microseconds after midnight, below a day's.
    fn at(self, micros: i64) -> DateTime {
        let seconds = micros / SECOND;
        DateTime {
            date: self,
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            micros: (micros % SECOND) as u32,
        }
    }
}

impl Time {
    /// Nothing.
    pub const ZERO: Time = Time { micros: 0 };
    /// 838:59:59.
    pub const MAX: Time = Time { micros: (838 * 3600 + 59 * 60 + 59) * SECOND };
    /// -838:59:59.
    pub const MIN: Time = Time { micros: -Time::MAX.micros };

    /// A length in microseconds; beyond the limits: the limit, and false.
    pub const fn from_micros(micros: i64) -> (Time, bool) {
        if micros > Time::MAX.micros {
            (Time::MAX, false)
        } else if micros < Time::MIN.micros {
            (Time::MIN, false)
        } else {
            (Time { micros }, true)
        }
    }

    /// Its length in microseconds.
    pub const fn micros(self) -> i64 {
        self.micros
    }

    /// Whether it is below zero.
    pub const fn is_negative(self) -> bool {
        self.micros < 0
    }

    /// Hours, 0 to 838.
    pub const fn hours(self) -> u32 {
        (self.micros.unsigned_abs() / (3600 * SECOND as u64)) as u32
    }

    /// Minutes, 0 to 59.
    pub const fn minute(self) -> u32 {
        (self.micros.unsigned_abs() / (60 * SECOND as u64) % 60) as u32
    }

    /// Seconds, 0 to 59.
    pub const fn second(self) -> u32 {
        (self.micros.unsigned_abs() / SECOND as u64 % 60) as u32
    }

    /// Microseconds, 0 to 999999.
    pub const fn fraction(self) -> u32 {
        (self.micros.unsigned_abs() % SECOND as u64) as u32
    }

    /// Appends `[-]hh:mm:ss`, with so many digits (0 to 6) of the fraction.
    pub fn append_text(self, decimals: u8, out: &mut Vec<u8>) {
        if self.is_negative() {
            out.push(b'-');
        }
        append_clock(self.hours(), self.minute(), self.second(), self.fraction(), decimals, out);
    }

    /// `hhmmss`.
    pub fn to_number(self) -> i64 {
        let number = i64::from((self.hours() * 100 + self.minute()) * 100 + self.second());
        if self.is_negative() { -number } else { number }
    }

    /// `hhmmss.ffffff`, with so many decimals.
    pub fn to_decimal(self, decimals: u8) -> Decimal {
        let fraction = i128::from(self.fraction());
        let all = i128::from(self.to_number()) * 1_000_000 + if self.is_negative() { -fraction } else { fraction };
        let decimals = decimals.min(6);
        Decimal::from_parts(all / 10i128.pow(6 - u32::from(decimals)), decimals)
    }

    /// Rounded to so many digits of the fraction, or cut off; beyond the limits: the limit, and false.
    pub fn round(self, decimals: u8, truncate: bool) -> (Time, bool) {
        let magnitude = round_micros(self.micros.unsigned_abs() as i64, decimals, truncate);
        Time::from_micros(if self.is_negative() { -magnitude } else { magnitude })
    }
}

fn round_micros(micros: i64, decimals: u8, truncate: bool) -> i64 {
    let unit = 10i64.pow(6 - u32::from(decimals.min(6)));
    let add = if truncate { 0 } else { unit / 2 };
    (micros + add) / unit * unit
}

fn append_digits(number: u32, width: usize, out: &mut Vec<u8>) {
    crate::integer::append_unsigned(number.into(), width, out);
}

fn append_clock(hours: u32, minute: u32, second: u32, micros: u32, decimals: u8, out: &mut Vec<u8>) {
    append_digits(hours, 2, out);
    out.push(b':');
    append_digits(minute, 2, out);
    out.push(b':');
    append_digits(second, 2, out);
    let decimals = decimals.min(6);
    if decimals > 0 {
        out.push(b'.');
        append_digits(micros / 10u32.pow(6 - u32::from(decimals)), decimals.into(), out);
    }
}
