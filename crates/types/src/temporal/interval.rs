//! Intervals: `INTERVAL '1:30' HOUR_MINUTE`, and what can be done with them.
//!
//! # Source
//! MySQL Reference Manual, "Temporal Intervals", and DATE_ADD, EXTRACT, TIMESTAMPDIFF, PERIOD_ADD.

use super::{DAY, Date, DateTime, SECOND, Time, WeekMode, day_number, days_in_month};
use crate::decimal::Decimal;

macro_rules! units {
    ($($variant:ident $name:literal),* $(,)?) => {
        /// A unit of time, or several.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[allow(missing_docs)] // The names say it.
        pub enum IntervalUnit { $($variant),* }

        impl IntervalUnit {
            /// All there are.
            pub const ALL: &'static [IntervalUnit] = &[$(Self::$variant),*];

            /// As MySQL writes it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }
        }
    };
}

units! {
    Microsecond "MICROSECOND", Second "SECOND", Minute "MINUTE", Hour "HOUR", Day "DAY", Week "WEEK", Month "MONTH",
    Quarter "QUARTER", Year "YEAR", SecondMicrosecond "SECOND_MICROSECOND", MinuteMicrosecond "MINUTE_MICROSECOND",
    MinuteSecond "MINUTE_SECOND", HourMicrosecond "HOUR_MICROSECOND", HourSecond "HOUR_SECOND",
    HourMinute "HOUR_MINUTE", DayMicrosecond "DAY_MICROSECOND", DaySecond "DAY_SECOND", DayMinute "DAY_MINUTE",
    DayHour "DAY_HOUR", YearMonth "YEAR_MONTH",
}

/// A length of time: months, whose length varies, and microseconds, whose does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Interval {
    /// Months and years.
    pub months: i64,
    /// Everything else.
    pub micros: i128,
}

impl IntervalUnit {
    /// The unit with this name, however it is written.
    pub fn parse(name: &str) -> Option<IntervalUnit> {
        let name = name.strip_prefix("SQL_TSI_").unwrap_or(name);
        Self::ALL.iter().copied().find(|unit| unit.name().eq_ignore_ascii_case(name))
    }

    /// Whether adding it to a date yields a date and time.
    pub const fn has_time(self) -> bool {
        !matches!(self, Self::Day | Self::Week | Self::Month | Self::Quarter | Self::Year | Self::YearMonth)
    }

    /// Whether it is written as one number.
    pub const fn is_simple(self) -> bool {
        (self as u8) < (Self::SecondMicrosecond as u8)
    }

    /// The units that it is made of, as microseconds (0: months), largest first.
    const fn parts(self) -> &'static [i64] {
        const S: i64 = SECOND;
        const M: i64 = 60 * SECOND;
        const H: i64 = 3600 * SECOND;
        match self {
            Self::SecondMicrosecond => &[S, 1],
            Self::MinuteMicrosecond => &[M, S, 1],
            Self::MinuteSecond => &[M, S],
            Self::HourMicrosecond => &[H, M, S, 1],
            Self::HourSecond => &[H, M, S],
            Self::HourMinute => &[H, M],
            Self::DayMicrosecond => &[DAY, H, M, S, 1],
            Self::DaySecond => &[DAY, H, M, S],
            Self::DayMinute => &[DAY, H, M],
            Self::DayHour => &[DAY, H],
            _ => &[],
        }
    }
}

impl Interval {
    /// So many of a simple unit.
    pub fn of(number: i64, unit: IntervalUnit) -> Interval {
        let micros = |each: i64| Interval { months: 0, micros: i128::from(number) * i128::from(each) };
        let months = |each: i64| Interval { months: number.saturating_mul(each), micros: 0 };
        match unit {
            IntervalUnit::Microsecond => micros(1),
            IntervalUnit::Second => micros(SECOND),
            IntervalUnit::Minute => micros(60 * SECOND),
            IntervalUnit::Hour => micros(3600 * SECOND),
            IntervalUnit::Day => micros(DAY),
            IntervalUnit::Week => micros(7 * DAY),
            IntervalUnit::Month | IntervalUnit::YearMonth => months(1),
            IntervalUnit::Quarter => months(3),
            IntervalUnit::Year => months(12),
            _ => micros(0),
        }
    }

    /// So many seconds, with a fraction.
    pub fn of_seconds(seconds: &Decimal) -> Interval {
        let micros = seconds.mul(&Decimal::from(SECOND)).ok().and_then(|micros| micros.to_i128());
        Interval { months: 0, micros: micros.unwrap_or(i128::from(i64::MAX)) }
    }

    /// Reads the text of a unit made of several: numbers with anything between them. If there are fewer than the unit
    /// has, the first ones are missing. `None` if there are more.
    pub fn parse(text: &[u8], unit: IntervalUnit) -> Option<Interval> {
        let blanks = crate::integer::blanks_at(text, 0);
        let mut rest = &text[blanks..];
        let negative = rest.first() == Some(&b'-');
        if negative {
            rest = &rest[1..];
        }
        let wanted = if unit == IntervalUnit::YearMonth { 2 } else { unit.parts().len() };
        let mut numbers = [0i128; 5];
        let mut last_len = 0;
        let mut count = 0;
        loop {
            let skip = rest.iter().take_while(|byte| !byte.is_ascii_digit()).count();
            rest = &rest[skip..];
            let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if len == 0 {
                break;
            }
            if count == wanted {
                return None;
            }
            numbers[count] = rest[..len]
                .iter()
                .fold(0i128, |sum, digit| (sum * 10 + i128::from(digit - b'0')).min(i128::from(i64::MAX)));
            last_len = len;
            count += 1;
            rest = &rest[len..];
        }
        numbers[..wanted].rotate_right(wanted - count);
        let sign = if negative { -1 } else { 1 };
        if unit == IntervalUnit::YearMonth {
            let months = numbers[0].saturating_mul(12).saturating_add(numbers[1]).min(i128::from(i64::MAX));
            return Some(Interval { months: sign * months as i64, micros: 0 });
        }
        let parts = unit.parts();
        // Digits of microseconds are a fraction: '1.5' is half a second more.
        if parts.last() == Some(&1) && (1..6).contains(&last_len) {
            numbers[wanted - 1] *= 10i128.pow(6 - last_len as u32);
        }
        let micros: i128 = parts.iter().zip(numbers).map(|(part, number)| i128::from(*part) * number).sum();
        Some(Interval { months: 0, micros: i128::from(sign) * micros })
    }

    /// The opposite.
    pub fn negated(self) -> Interval {
        Interval { months: self.months.saturating_neg(), micros: -self.micros }
    }
}

impl DateTime {
    /// So much later; `None` outside of the years 0 to 9999, or if the date does not exist.
    pub fn plus(self, interval: Interval) -> Option<DateTime> {
        let moved = if interval.months == 0 {
            self
        } else {
            DateTime { date: add_months(self.date, interval.months)?, ..self }
        };
        if interval.micros == 0 {
            return Some(moved);
        }
        if moved.date.month == 0 || moved.date.day == 0 {
            return None;
        }
        let total = i128::from(moved.total_micros()) + interval.micros;
        let total = i64::try_from(total).ok().filter(|total| *total >= DAY)?;
        DateTime::from_total_micros(total)
    }
}

/// So many months later; a day that the month does not have becomes its last.
pub fn add_months(date: Date, months: i64) -> Option<Date> {
    let month = if date.month == 0 { return None } else { i64::from(date.month) - 1 };
    let total = (i64::from(date.year) * 12 + month).checked_add(months)?;
    let year = u16::try_from(total.div_euclid(12)).ok().filter(|year| *year <= 9999)?;
    let month = total.rem_euclid(12) as u8 + 1;
    Date::new(year, month, date.day.min(days_in_month(year, month)))
}

/// Days from `from` to `to`.
pub fn datediff(to: Date, from: Date) -> i64 {
    i64::from(day_number(to)) - i64::from(day_number(from))
}

/// Whole units from `from` to `to`.
pub fn timestampdiff(unit: IntervalUnit, from: DateTime, to: DateTime) -> i64 {
    let micros = to.total_micros() - from.total_micros();
    let months = || {
        let (first, last, sign) = if to < from { (to, from, -1) } else { (from, to, 1) };
        let count = |date: Date| i64::from(date.year) * 12 + i64::from(date.month);
        let incomplete = (last.date.day, last.time_micros()) < (first.date.day, first.time_micros());
        sign * (count(last.date) - count(first.date) - i64::from(incomplete))
    };
    match unit {
        IntervalUnit::Microsecond => micros,
        IntervalUnit::Second => micros / SECOND,
        IntervalUnit::Minute => micros / (60 * SECOND),
        IntervalUnit::Hour => micros / (3600 * SECOND),
        IntervalUnit::Day => micros / DAY,
        IntervalUnit::Week => micros / (7 * DAY),
        IntervalUnit::Quarter => months() / 3,
        IntervalUnit::Year => months() / 12,
        _ => months(),
    }
}

/// EXTRACT from a date and time; of a time the date is zero and `time` has the clock.
pub fn extract(unit: IntervalUnit, date: Date, time: Time) -> i64 {
    let (hours, minute, second) = (i64::from(time.hours()), i64::from(time.minute()), i64::from(time.second()));
    let micros = i64::from(time.fraction());
    let sign = if time.is_negative() { -1 } else { 1 };
    let day = i64::from(date.day);
    let of_time = match unit {
        IntervalUnit::Year => return date.year.into(),
        IntervalUnit::YearMonth => return i64::from(date.year) * 100 + i64::from(date.month),
        IntervalUnit::Quarter => return date.quarter().into(),
        IntervalUnit::Month => return date.month.into(),
        IntervalUnit::Week => return date.week(WeekMode::new(0)).1.into(),
        IntervalUnit::Day => return day,
        IntervalUnit::DayHour => day * 100 + hours,
        IntervalUnit::DayMinute => (day * 100 + hours) * 100 + minute,
        IntervalUnit::DaySecond => ((day * 100 + hours) * 100 + minute) * 100 + second,
        IntervalUnit::DayMicrosecond => (((day * 100 + hours) * 100 + minute) * 100 + second) * SECOND + micros,
        IntervalUnit::Hour => hours,
        IntervalUnit::HourMinute => hours * 100 + minute,
        IntervalUnit::HourSecond => (hours * 100 + minute) * 100 + second,
        IntervalUnit::HourMicrosecond => ((hours * 100 + minute) * 100 + second) * SECOND + micros,
        IntervalUnit::Minute => minute,
        IntervalUnit::MinuteSecond => minute * 100 + second,
        IntervalUnit::MinuteMicrosecond => (minute * 100 + second) * SECOND + micros,
        IntervalUnit::Second => second,
        IntervalUnit::SecondMicrosecond => second * SECOND + micros,
        IntervalUnit::Microsecond => micros,
    };
    sign * of_time
}

/// Months of a period (`YYMM` or `YYYYMM`).
fn period_months(period: u64) -> u64 {
    let (year, month) = (period / 100, period % 100);
    let year = if year < 70 {
        year + 2000
    } else if year < 100 {
        year + 1900
    } else {
        year
    };
    (year.saturating_mul(12) + month).saturating_sub(1)
}

/// PERIOD_ADD. Numbers that no period has wrap around, as in MySQL.
pub fn period_add(period: u64, months: i64) -> u64 {
    let total = period_months(period).saturating_add_signed(months);
    let year = total / 12;
    let year = if year < 70 {
        year + 2000
    } else if year < 100 {
        year + 1900
    } else {
        year
    };
    year.wrapping_mul(100).wrapping_add(total % 12 + 1)
}

/// PERIOD_DIFF.
pub fn period_diff(left: u64, right: u64) -> i64 {
    period_months(left) as i64 - period_months(right) as i64
}
