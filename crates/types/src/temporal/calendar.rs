//! Days of the Gregorian calendar, carried back to the year 0; weeks.
//!
//! Day 1 is `0000-01-01`, as TO_DAYS counts.
//!
//! # Invariants
//! 1. `from_day_number(day_number(d)) == d` for each day of the years 0 to 9999, with MySQL's calendar, in which the
//!    year 0 has a February of 28 days for TO_DAYS.
//!
//! # Source
//! MySQL Reference Manual, "Date and Time Functions": TO_DAYS, FROM_DAYS, WEEK and its table of modes.
//! H. Hinnant, "chrono-Compatible Low-Level Date Algorithms" (the day with a number).

use super::Date;

/// Whether February has 29 days.
pub const fn is_leap_year(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || (year.is_multiple_of(400) && year != 0))
}

/// Days of a month; 31 for "month 0".
pub const fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

const fn days_before_month(year: u16, month: u8) -> u32 {
    const BEFORE: [u32; 13] = [0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let month = if month > 12 { 12 } else { month };
    BEFORE[month as usize] + if month > 2 && is_leap_year(year) { 1 } else { 0 }
}

const fn days_before_year(year: u16) -> u32 {
    if year == 0 {
        return 0;
    }
    let before = year as u32 - 1;
    // The year 0 has 365 days.
    365 * year as u32 + before / 4 - before / 100 + before / 400
}

/// The number of a day, as TO_DAYS has it; 0 for `0000-00-00`. Zero months and days count backwards from the first.
pub fn day_number(date: Date) -> u32 {
    if date.year == 0 && date.month == 0 {
        return 0;
    }
    let months = if date.month == 0 {
        // A month before January.
        return (days_before_year(date.year) + u32::from(date.day)).saturating_sub(31);
    } else {
        days_before_month(date.year, date.month)
    };
    days_before_year(date.year) + months + u32::from(date.day)
}

/// The number of `0000-03-01`.
const MARCH_OF_YEAR_0: u32 = 60;
/// 400 years.
const DAYS_OF_ERA: u32 = 146_097;

/// The day with this number, as FROM_DAYS has it: `0000-00-00` for 0; `None` beyond 9999-12-31.
pub fn from_day_number(number: u32) -> Option<Date> {
    if number == 0 {
        return Some(Date::ZERO);
    }
    if number > days_before_year(9999) + 365 {
        return None;
    }
    // Years that begin with March end with the day that some of them have more, and come in equal eras of 400.
    let Some(day) = number.checked_sub(MARCH_OF_YEAR_0) else {
        let month = if number > 31 { 2 } else { 1 };
        return Some(Date { year: 0, month, day: (number - days_before_month(0, month)) as u8 });
    };
    let (era, day) = (day / DAYS_OF_ERA, day % DAYS_OF_ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    Some(Date { year: (year + era * 400 + next) as u16, month: month as u8, day: day as u8 })
}

impl Date {
    /// 0 is Monday.
    pub fn weekday(self) -> u32 {
        (day_number(self) + 5) % 7
    }

    /// 1 to 366.
    pub fn day_of_year(self) -> u32 {
        day_number(self) + 1 - day_number(Date { month: 1, day: 1, ..self })
    }

    /// The last day of its month; `None` in month 0.
    pub fn last_day(self) -> Option<Date> {
        (self.month != 0).then(|| Date { day: days_in_month(self.year, self.month), ..self })
    }

    /// 1 to 4; 0 in month 0.
    pub fn quarter(self) -> u32 {
        u32::from(self.month).div_ceil(3)
    }

    /// The year and the number of its week.
    pub fn week(self, mode: WeekMode) -> (u32, u32) {
        let number = day_number(self);
        let mut year = u32::from(self.year);
        let mut first = day_number(Date { month: 1, day: 1, ..self });
        // Days since the week's first day.
        let start_of = |day: u32| if mode.monday_first { (day + 5) % 7 } else { (day + 6) % 7 };
        let mut weekday = start_of(first);
        let mut week_year = mode.range_from_one;
        let begins_later = |weekday: u32| {
            if mode.first_weekday { weekday != 0 } else { weekday >= 4 }
        };
        if self.month == 1 && u32::from(self.day) <= 7 - weekday {
            if !week_year && begins_later(weekday) {
                return (year, 0);
            }
            if begins_later(weekday) {
                week_year = true;
                year = year.saturating_sub(1);
                let days = if is_leap_year(year as u16) { 366 } else { 365 };
                first = first.saturating_sub(days);
                weekday = (weekday + 53 * 7 - days) % 7;
            }
        }
        let days =
            if begins_later(weekday) { number.saturating_sub(first + 7 - weekday) } else { number + weekday - first };
        if week_year && days >= 52 * 7 {
            let length = if is_leap_year(year as u16) { 366 } else { 365 };
            let next = (weekday + length) % 7;
            if !begins_later(next) {
                return (year + 1, 1);
            }
        }
        (year, days / 7 + 1)
    }
}

/// How weeks are counted: the second argument of WEEK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WeekMode {
    /// Weeks begin on Monday rather than on Sunday.
    pub monday_first: bool,
    /// Weeks are 1 to 53, the first days of January perhaps in the last week of the year before; otherwise 0 to 53.
    pub range_from_one: bool,
    /// Week 1 is the first with that weekday in this year; otherwise the first with four days or more.
    pub first_weekday: bool,
}

impl WeekMode {
    /// The modes 0 to 7 of the manual's table.
    pub const fn new(mode: u64) -> WeekMode {
        let monday_first = mode & 1 != 0;
        // Bit 2 means "with the first weekday" when weeks begin on Monday, and the opposite when on Sunday.
        WeekMode { monday_first, range_from_one: mode & 2 != 0, first_weekday: (mode & 4 != 0) == monday_first }
    }
}
