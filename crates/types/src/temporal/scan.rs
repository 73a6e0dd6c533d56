//! STR_TO_DATE: a text read as a format says.
//!
//! # Source
//! MySQL Reference Manual, STR_TO_DATE and DATE_FORMAT.

use super::{DAYS, Date, DateTime, MONTHS, SECOND, Time, WeekMode, day_number, from_day_number};

/// What was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scanned {
    /// The date, zero where the format has none.
    pub date: Date,
    /// The clock.
    pub time: Time,
    /// Something followed what the format asked for.
    pub truncated: bool,
}

impl Scanned {
    /// Both as one value.
    pub fn datetime(&self) -> Option<DateTime> {
        let micros = self.time.micros();
        (0..super::DAY).contains(&micros).then(|| self.date.at(micros))
    }
}

/// What a format can yield: date, time of day, fraction of a second.
pub fn parts_of(format: &[u8]) -> (bool, bool, bool) {
    let specifiers = || format.windows(2).filter(|pair| pair[0] == b'%').map(|pair| pair[1]);
    let any = |set: &[u8]| specifiers().any(|specifier| set.contains(&specifier));
    (any(b"YymcdeDjUuVvXxMbWaw"), any(b"HhIklisSrTpf"), any(b"f"))
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn skip_spaces(&mut self) {
        while self.text.get(self.at).is_some_and(|byte| crate::integer::is_space(*byte)) {
            self.at += 1;
        }
    }

    fn number(&mut self, most: usize) -> Option<u32> {
        let rest = &self.text[self.at..];
        let len = rest.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
        self.at += len;
        (len > 0).then(|| rest[..len].iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0')))
    }

    fn name(&mut self, names: &[&str], len: Option<usize>) -> Option<u32> {
        let rest = &self.text[self.at..];
        let found = names.iter().position(|name| {
            let name = &name.as_bytes()[..len.unwrap_or(name.len())];
            rest.get(..name.len()).is_some_and(|text| text.eq_ignore_ascii_case(name))
        })?;
        self.at += len.unwrap_or(names[found].len());
        Some(found as u32)
    }
}

/// Reads a text by a format; `None` where MySQL has NULL. Whether the date may be is up to [`Date::check`].
pub fn scan_date(text: &[u8], format: &[u8]) -> Option<Scanned> {
    let mut reader = Reader { text, at: 0 };
    let (mut year, mut month, mut day) = (0u32, 0u32, 0u32);
    let (mut hour, mut minute, mut second, mut micros) = (0u32, 0u32, 0u32, 0u32);
    let (mut day_of_year, mut weekday, mut week) = (None, None, None);
    let mut week_year = None;
    let mut half = None;
    let mut twelve = false;
    let mut specifiers = format.iter().copied();
    while let Some(byte) = specifiers.next() {
        if crate::integer::is_space(byte) {
            reader.skip_spaces();
            continue;
        }
        if byte != b'%' {
            if reader.text.get(reader.at) != Some(&byte) {
                if reader.at >= text.len() {
                    break;
                }
                return None;
            }
            reader.at += 1;
            continue;
        }
        let specifier = specifiers.next()?;
        if specifier != b'%' {
            reader.skip_spaces();
        }
        if reader.at >= text.len() {
            break;
        }
        match specifier {
            b'Y' => {
                let start = reader.at;
                year = reader.number(4)?;
                if reader.at - start == 2 {
                    year += if year < 70 { 2000 } else { 1900 };
                }
            }
            b'y' => {
                year = reader.number(2)?;
                year += if year < 70 { 2000 } else { 1900 };
            }
            b'm' | b'c' => month = reader.number(2)?,
            b'd' | b'e' => day = reader.number(2)?,
            b'D' => {
                day = reader.number(2)?;
                reader.at = (reader.at + 2).min(text.len());
            }
            b'M' => month = reader.name(&MONTHS, None)? + 1,
            b'b' => month = reader.name(&MONTHS, Some(3))? + 1,
            b'W' => weekday = Some(reader.name(&DAYS, None)?),
            b'a' => weekday = Some(reader.name(&DAYS, Some(3))?),
            b'w' => weekday = Some((reader.number(1).filter(|day| *day < 7)? + 6) % 7),
            b'j' => day_of_year = Some(reader.number(3)?),
            b'U' | b'u' | b'V' | b'v' => {
                let monday = specifier.is_ascii_lowercase();
                week = Some((reader.number(2).filter(|week| *week <= 53)?, monday, matches!(specifier, b'V' | b'v')));
            }
            b'X' | b'x' => week_year = Some(reader.number(4)?),
            b'H' | b'k' => hour = reader.number(2)?,
            b'h' | b'I' | b'l' => {
                hour = reader.number(2)?;
                twelve = true;
            }
            b'i' => minute = reader.number(2)?,
            b's' | b'S' => second = reader.number(2)?,
            b'f' => {
                let start = reader.at;
                micros = reader.number(6)? * 10u32.pow(6 - (reader.at - start).min(6) as u32);
            }
            b'p' => half = Some(reader.name(&["AM", "PM"], None)?),
            b'r' | b'T' => {
                for (index, part) in [&mut hour, &mut minute, &mut second].into_iter().enumerate() {
                    if index > 0 {
                        if reader.text.get(reader.at) != Some(&b':') {
                            return None;
                        }
                        reader.at += 1;
                    }
                    *part = reader.number(2)?;
                }
                if specifier == b'r' {
                    reader.skip_spaces();
                    half = Some(reader.name(&["AM", "PM"], None)?);
                    twelve = true;
                }
            }
            b'%' => {
                if reader.text.get(reader.at) != Some(&b'%') {
                    return None;
                }
                reader.at += 1;
            }
            b'.' => skip(&mut reader, |byte| byte.is_ascii_punctuation()),
            b'@' => skip(&mut reader, |byte| byte.is_ascii_alphabetic()),
            b'#' => skip(&mut reader, |byte| byte.is_ascii_digit()),
            _ => return None,
        }
    }
    if twelve || half.is_some() {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + 12 * half.unwrap_or(0);
    }
    let mut date = Date::new(u16::try_from(year).ok()?, month.min(255) as u8, day.min(255) as u8)?;
    if let Some(days) = day_of_year.filter(|days| *days > 0) {
        date = from_day_number(day_number(Date { month: 1, day: 1, ..date }) + days - 1)?;
    }
    if let (Some((week, monday, strict)), Some(weekday)) = (week, weekday) {
        let year = if strict { week_year? } else { year };
        date = day_of_week(year, week, weekday, monday, strict)?;
    }
    if minute > 59 || second > 59 || hour > 23 {
        return None;
    }
    let total = i64::from((hour * 60 + minute) * 60 + second) * SECOND + i64::from(micros);
    reader.skip_spaces();
    Some(Scanned { date, time: Time::from_micros(total).0, truncated: reader.at < text.len() })
}

fn skip(reader: &mut Reader<'_>, is: impl Fn(&u8) -> bool) {
    reader.at += reader.text[reader.at..].iter().take_while(|byte| is(byte)).count();
}

/// The day of a week of a year.
fn day_of_week(year: u32, week: u32, weekday: u32, monday: bool, strict: bool) -> Option<Date> {
    let mode = match (monday, strict) {
        (false, false) => 0,
        (true, false) => 1,
        (false, true) => 2,
        (true, true) => 3,
    };
    let first_weekday = WeekMode::new(mode).first_weekday;
    let first = day_number(Date::new(u16::try_from(year).ok()?, 1, 1)?);
    // Days from the beginning of the week to 1 January.
    let lead = if monday { (first + 5) % 7 } else { (first + 6) % 7 };
    let begins_later = if first_weekday { lead != 0 } else { lead >= 4 };
    let start = if begins_later { first + 7 - lead } else { first - lead.min(first) };
    let offset = if monday { weekday } else { (weekday + 1) % 7 };
    let number = i64::from(start) + (i64::from(week) - 1) * 7 + i64::from(offset);
    from_day_number(u32::try_from(number).ok().filter(|number| *number > 0)?)
}
