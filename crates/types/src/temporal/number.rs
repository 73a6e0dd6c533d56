//! Dates and times in numbers: 20200131, 200131, 20200131123456, 123456.

use super::{Date, DateTime, SECOND, Time};
use crate::context::SqlMode;

/// A number as a date and time; `None` if it is none, or the mode refuses it. The flag: only a date was there.
pub fn datetime_from_number(number: i64, mode: SqlMode) -> Option<(DateTime, bool)> {
    let full = match number {
        0 => 0,
        ..101 => return None,
        // Years of two digits.
        101..=691_231 => (number + 20_000_000) * 1_000_000,
        691_232..700_101 => return None,
        700_101..=991_231 => (number + 19_000_000) * 1_000_000,
        991_232..10_000_101 if !(1_010_000..=9_999_999).contains(&number) => return None,
        991_232..=99_991_231 => number * 1_000_000,
        99_991_232..101_000_000 => return None,
        101_000_000..=691_231_235_959 => number + 20_000_000_000_000,
        691_231_235_960..700_101_000_000 => return None,
        700_101_000_000..=991_231_235_959 => number + 19_000_000_000_000,
        _ => number,
    };
    let (date, time) = (full / 1_000_000, full % 1_000_000);
    let year = u16::try_from(date / 10_000).ok()?;
    let date = Date::new(year, (date / 100 % 100) as u8, (date % 100) as u8)?;
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100);
    if hour > 23 || minute > 59 || second > 59 || !date.check(mode) {
        return None;
    }
    let value = DateTime { date, hour: hour as u8, minute: minute as u8, second: second as u8, micros: 0 };
    Some((value, number <= 99_991_231))
}

/// What a number is as a length of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberTime {
    /// A time.
    Time(Time),
    /// The time of this date and time.
    OfDateTime(DateTime),
    /// Beyond the limits: this is the limit.
    OutOfRange(Time),
    /// Minutes or seconds above 59.
    Invalid,
}

/// A number and microseconds (below a million, of the same sign) as a length of time: `hhmmss`.
pub fn time_from_number(number: i64, micros: u32, mode: SqlMode) -> NumberTime {
    let magnitude = number.unsigned_abs();
    let limit = if number < 0 { Time::MIN } else { Time::MAX };
    if magnitude > 8_385_959 {
        if number >= 10_000_000_000
            && let Some((value, _)) = datetime_from_number(number, mode)
        {
            return NumberTime::OfDateTime(DateTime { micros, ..value });
        }
        return NumberTime::OutOfRange(limit);
    }
    let (hours, minutes, seconds) = (magnitude / 10_000, magnitude / 100 % 100, magnitude % 100);
    if minutes > 59 || seconds > 59 {
        return NumberTime::Invalid;
    }
    let total = ((hours * 60 + minutes) * 60 + seconds) as i64 * SECOND + i64::from(micros);
    match Time::from_micros(if number < 0 { -total } else { total }) {
        (time, true) => NumberTime::Time(time),
        (time, false) => NumberTime::OutOfRange(time),
    }
}
