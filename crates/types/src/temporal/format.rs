//! DATE_FORMAT and TIME_FORMAT.
//!
//! # Source
//! MySQL Reference Manual, DATE_FORMAT and its table of specifiers. Names are those of `en_US`.

use super::{Date, DateTime, Time, WeekMode, append_digits};

/// Names of the days, Monday first.
pub const DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
/// Names of the months.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Appends a date and time as a format says. `None` where MySQL has NULL: a name of a month or a day that is zero.
pub fn append_date_format(value: DateTime, format: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let clock = Clock {
        hours: value.hour.into(),
        minute: value.minute.into(),
        second: value.second.into(),
        micros: value.micros,
    };
    append(value.date, clock, format, out)
}

/// Appends a time as a format says; `None` if the format asks for the name of a day or a month.
pub fn append_time_format(value: Time, format: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if value.is_negative() {
        out.push(b'-');
    }
    let clock =
        Clock { hours: value.hours(), minute: value.minute(), second: value.second(), micros: value.fraction() };
    append(Date::ZERO, clock, format, out)
}

#[derive(Clone, Copy)]
struct Clock {
    hours: u32,
    minute: u32,
    second: u32,
    micros: u32,
}

impl Clock {
    fn twelve(self) -> u32 {
        (self.hours % 24 + 11) % 12 + 1
    }

    fn half(self) -> &'static [u8] {
        if self.hours % 24 < 12 { b"AM" } else { b"PM" }
    }
}

fn append(date: Date, clock: Clock, format: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let mut bytes = format.iter().copied();
    let month = || MONTHS.get(usize::from(date.month).checked_sub(1)?).copied();
    let day = || if date.year == 0 && date.month == 0 { None } else { Some(DAYS[date.weekday() as usize]) };
    let week = |mode| date.week(WeekMode::new(mode));
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let Some(specifier) = bytes.next() else {
            out.push(b'%');
            break;
        };
        let mut digits = |number: u32, width| append_digits(number, width, out);
        match specifier {
            b'Y' => digits(date.year.into(), 4),
            b'y' => digits(u32::from(date.year) % 100, 2),
            b'm' => digits(date.month.into(), 2),
            b'c' => digits(date.month.into(), 1),
            b'd' => digits(date.day.into(), 2),
            b'e' => digits(date.day.into(), 1),
            b'H' => digits(clock.hours, 2),
            b'k' => digits(clock.hours, 1),
            b'h' | b'I' => digits(clock.twelve(), 2),
            b'l' => digits(clock.twelve(), 1),
            b'i' => digits(clock.minute, 2),
            b's' | b'S' => digits(clock.second, 2),
            b'f' => digits(clock.micros, 6),
            b'j' => {
                if date.is_zero() {
                    return None;
                }
                digits(date.day_of_year(), 3);
            }
            b'U' => digits(week(0).1, 2),
            b'u' => digits(week(1).1, 2),
            b'V' => digits(week(2).1, 2),
            b'v' => digits(week(3).1, 2),
            b'X' => digits(week(2).0, 4),
            b'x' => digits(week(3).0, 4),
            b'w' => {
                if date.year == 0 && date.month == 0 {
                    return None;
                }
                digits((date.weekday() + 1) % 7, 1);
            }
            b'M' => out.extend_from_slice(month()?.as_bytes()),
            b'b' => out.extend_from_slice(&month()?.as_bytes()[..3]),
            b'W' => out.extend_from_slice(day()?.as_bytes()),
            b'a' => out.extend_from_slice(&day()?.as_bytes()[..3]),
            b'D' => {
                digits(date.day.into(), 1);
                out.extend_from_slice(match date.day {
                    11..=13 => b"th",
                    day if day % 10 == 1 => b"st",
                    day if day % 10 == 2 => b"nd",
                    day if day % 10 == 3 => b"rd",
                    _ => b"th",
                });
            }
            b'p' => out.extend_from_slice(clock.half()),
            b'r' | b'T' => {
                digits(if specifier == b'r' { clock.twelve() } else { clock.hours }, 2);
                for part in [clock.minute, clock.second] {
                    out.push(b':');
                    append_digits(part, 2, out);
                }
                if specifier == b'r' {
                    out.push(b' ');
                    out.extend_from_slice(clock.half());
                }
            }
            other => out.push(other),
        }
    }
    Some(())
}
