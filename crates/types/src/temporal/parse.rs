//! Dates and times in text.
//!
//! ```text
//! 2020-01-31 12:34:56.789 +02:00       fields with delimiters; the last ones may be missing
//! 20200131123456.789, 200131           digits alone
//! [-][days ]hh:mm[:ss[.fraction]]      a length of time; days hh; hhmmss; ss
//! ```
//!
//! # Invariants
//! 1. Any punctuation delimits; what the standard would not have is remembered ([`Deprecated`]) and, as MySQL does,
//!    said.
//! 2. Fields are in range afterwards; whether the date exists is asked by [`Date::check`].
//! 3. A seventh digit of the fraction rounds; those behind it do not matter.
//!
//! # Source
//! MySQL Reference Manual, "Date and Time Literals"; details by experiment.

use super::{Date, DateTime, SECOND, Time};
use crate::context::{SqlMode, Warnings};
use crate::error::{SqlError, number, printable};
use crate::integer::{blanks_at, is_space};

/// A delimiter that will not be accepted some day.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Deprecated {
    /// Where, from 0.
    pub position: usize,
    /// What stands there.
    pub found: u8,
    /// What should; `None` if nothing should.
    pub preferred: Option<u8>,
}

impl Deprecated {
    /// What stands there should not.
    fn superfluous(text: &[u8], position: usize) -> Self {
        Self { position, found: text[position], preferred: None }
    }

    /// Says so.
    pub fn warn(&self, text: &[u8], row: u64, warnings: &mut Warnings) {
        let (found, position, text) = (char::from(self.found), self.position, printable(text));
        let begin = format!("Delimiter '{found}' in position {position} in datetime value '{text}' at row {row} is ");
        warnings.warn(match self.preferred {
            Some(preferred) => SqlError::new(
                number::DEPRECATED_DELIMITER,
                format!("{begin}deprecated. Prefer the standard '{}'.", char::from(preferred)),
            ),
            None => SqlError::new(
                number::DEPRECATED_SUPERFLUOUS_DELIMITER,
                format!("{begin}superfluous and is deprecated. Please remove."),
            ),
        });
    }
}

/// What reading a date found.
#[derive(Clone, Copy, Debug)]
pub struct ParsedDateTime {
    /// The date and time; `None` if there is none, or it is refused.
    pub value: Option<DateTime>,
    /// Only a date was there.
    pub date_only: bool,
    /// Minutes east of Greenwich, if the text says.
    pub offset: Option<i32>,
    /// Something else followed.
    pub truncated: bool,
    /// It reads as a date, but its fields are out of range or the mode refuses it.
    pub refused: bool,
    /// Rounding its fraction led beyond the year 9999.
    pub overflow: bool,
    /// The first delimiter to be given up.
    pub deprecated: Option<Deprecated>,
    /// Digits of the fraction, at most 6.
    pub decimals: u8,
}

impl ParsedDateTime {
    const NOTHING: ParsedDateTime = ParsedDateTime {
        value: None,
        date_only: false,
        offset: None,
        truncated: true,
        refused: false,
        overflow: false,
        deprecated: None,
        decimals: 0,
    };
}

fn digits_at(text: &[u8], at: usize, most: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take(most).take_while(|byte| byte.is_ascii_digit()).count()
}

fn value_of(digits: &[u8]) -> u32 {
    digits.iter().fold(0u32, |sum, digit| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0')))
}

/// The fraction at some digits: microseconds (perhaps a million, by rounding), and how many digits there are.
fn fraction_at(text: &[u8], at: usize, round: bool) -> (u32, usize) {
    let len = digits_at(text, at, usize::MAX);
    let used = len.min(6);
    let micros = value_of(&text[at..at + used]) * 10u32.pow(6 - used as u32);
    (micros + u32::from(round && len > 6 && text[at + 6] >= b'5'), len)
}

/// Reads a date, with a time or without.
pub fn parse_datetime(text: &[u8], mode: SqlMode) -> ParsedDateTime {
    match plain(text) {
        Some(value) => {
            let date_only = text.len() == PLAIN_DATE;
            ParsedDateTime { value: Some(value), date_only, truncated: false, ..ParsedDateTime::NOTHING }
        }
        None => parse(text, mode, false),
    }
}

/// The length of `2024-05-05`.
const PLAIN_DATE: usize = 10;
/// The length of `2024-05-05 10:20:30`.
const PLAIN_DATETIME: usize = 19;

/// `2024-05-05` or `2024-05-05 10:20:30`, of a day that each month has, as most are written: it is the same in all modes.
fn plain(text: &[u8]) -> Option<DateTime> {
    let is = |at: usize, byte: u8| text[at] == byte;
    if !matches!(text.len(), PLAIN_DATE | PLAIN_DATETIME) || !is(4, b'-') || !is(7, b'-') {
        return None;
    }
    let two = |at: usize| {
        let digits = [text[at].wrapping_sub(b'0'), text[at + 1].wrapping_sub(b'0')];
        (digits[0] <= 9 && digits[1] <= 9).then(|| digits[0] * 10 + digits[1])
    };
    let date = Date { year: u16::from(two(0)?) * 100 + u16::from(two(2)?), month: two(5)?, day: two(8)? };
    if date.year == 0 || !(1..=12).contains(&date.month) || !(1..=28).contains(&date.day) {
        return None;
    }
    if text.len() == PLAIN_DATE {
        return Some(date.midnight());
    }
    let (hour, minute, second) = (two(11)?, two(14)?, two(17)?);
    let is_plain = is(10, b' ') && is(13, b':') && is(16, b':') && hour <= 23 && minute <= 59 && second <= 59;
    is_plain.then_some(DateTime { date, hour, minute, second, micros: 0 })
}

/// As [`parse_datetime`], however it is written. `spaced`: where delimiters are written, a space must be among them; else the
/// text is a time (`12:34:56.1234`, and not the month 34).
fn parse(text: &[u8], mode: SqlMode, spaced: bool) -> ParsedDateTime {
    let mut result = ParsedDateTime::NOTHING;
    let (mut has_delimiter, mut has_space) = (false, false);
    let mut at = blanks_at(text, 0);
    if at > 0 && at < text.len() {
        result.deprecated = Some(Deprecated::superfluous(text, 0));
    }
    let run = digits_at(text, at, usize::MAX);
    if run == 0 {
        return result;
    }
    let after = text.get(at + run).copied();
    let packed = after.is_none_or(|byte| byte == b'.' || byte == b'T' && run >= 6 || byte == b' ' && run > 4);
    let mut fields = [0u32; 6];
    let mut count = 0;
    let mut year_digits = 2;
    if packed {
        year_digits = if run == 4 || run == 8 || run >= 14 { 4 } else { 2 };
    }
    let end = text.len() - text.iter().rev().take_while(|byte| is_space(**byte)).count();
    // Fields, up to seconds.
    while count < 6 {
        let most = if count == 0 { if packed { year_digits } else { 4 } } else { 2 };
        let len = digits_at(text, at, most);
        if len == 0 {
            break;
        }
        fields[count] = value_of(&text[at..at + len]);
        if count == 0 && !packed {
            year_digits = len;
            // A year of five digits.
            if text.get(at + len).is_some_and(u8::is_ascii_digit) {
                return result;
            }
        }
        at += len;
        count += 1;
        if count == 6 {
            break;
        }
        let Some(&next) = text.get(at) else { break };
        if at >= end {
            break;
        }
        if next.is_ascii_digit() && packed {
            continue;
        }
        if next.is_ascii_digit() && count >= 3 {
            break;
        }
        let standard = match count {
            1 | 2 => b'-',
            3 => b' ',
            _ => b':',
        };
        if count == 3 && next == b'T' && text.get(at + 1).is_some_and(u8::is_ascii_digit) {
            at += 1;
            continue;
        }
        let is_delimiter = |byte: u8| byte.is_ascii_punctuation() || count == 3 && is_space(byte);
        if !is_delimiter(next) {
            break;
        }
        // Only if digits follow does it belong to the value.
        let len = text[at..].iter().take_while(|byte| is_delimiter(**byte)).count();
        if count >= 3 && !text.get(at + len).is_some_and(u8::is_ascii_digit) {
            break;
        }
        if next != standard && !(packed && count == 3 && next == b'.') {
            let deprecated = Deprecated { position: at, found: next, preferred: Some(standard) };
            result.deprecated.get_or_insert(deprecated);
        }
        if len > 1 {
            result.deprecated.get_or_insert(Deprecated::superfluous(text, at + 1));
        }
        has_delimiter = true;
        has_space |= text[at..at + len].iter().any(|byte| is_space(*byte));
        at += len;
    }
    if count < 3 || spaced && has_delimiter && !has_space {
        return ParsedDateTime { deprecated: result.deprecated, ..ParsedDateTime::NOTHING };
    }
    result.date_only = count == 3;
    let mut micros = 0;
    if count == 6 && text.get(at) == Some(&b'.') {
        let (fraction, len) = fraction_at(text, at + 1, !mode.time_truncate_fractional);
        micros = fraction;
        result.decimals = len.min(6) as u8;
        at += 1 + len;
    }
    let mut refused = false;
    if count >= 5
        && matches!(text.get(at), Some(b'+' | b'-'))
        && digits_at(text, at + 1, 3) == 2
        && text.get(at + 3) == Some(&b':')
        && digits_at(text, at + 4, 3) == 2
    {
        let minutes = (value_of(&text[at + 1..at + 3]) * 60 + value_of(&text[at + 4..at + 6])) as i32;
        let negative = text[at] == b'-';
        let offset = if negative { -minutes } else { minutes };
        refused = !(-839..=840).contains(&offset) || value_of(&text[at + 4..at + 6]) > 59 || negative && minutes == 0;
        result.offset = Some(offset);
        at += 6;
    }
    result.truncated = at < end;
    let [mut year, month, day, hour, minute, second] = fields;
    if year_digits == 2 && fields[..3] != [0; 3] {
        year += if year < 70 { 2000 } else { 1900 };
    }
    let date = Date::new(year as u16, month.min(255) as u8, day.min(255) as u8).filter(|_| year <= 9999);
    let in_range = hour <= 23 && minute <= 59 && second <= 59 && !refused;
    let whole = date.filter(|_| in_range).map(|date| DateTime {
        date,
        hour: hour as u8,
        minute: minute as u8,
        second: second as u8,
        micros: 0,
    });
    match whole.filter(|whole| DateTime { micros: micros.min(999_999), ..*whole }.check(mode)) {
        Some(whole) => {
            result.value = if micros < SECOND as u32 {
                Some(DateTime { micros, ..whole })
            } else {
                DateTime { micros: 999_999, ..whole }.round(0, false)
            };
            result.refused = result.value.is_none();
            result.overflow = result.refused;
        }
        _ => result.refused = true,
    }
    result
}

/// What reading a time found.
#[derive(Clone, Copy, Debug)]
pub struct ParsedTime {
    /// The time; `None` if there is none, or its fields are out of range.
    pub value: Option<Time>,
    /// Something else followed.
    pub truncated: bool,
    /// It was beyond the limits; the value is the limit.
    pub out_of_range: bool,
    /// The text was a date and a time; this is its date.
    pub date: Option<Date>,
    /// The first delimiter to be given up.
    pub deprecated: Option<Deprecated>,
    /// Digits of the fraction, at most 6.
    pub decimals: u8,
    /// The text is a number with an exponent, and no time.
    pub has_exponent: bool,
}

/// Reads a length of time, or the time of a date and time.
pub fn parse_time(text: &[u8], mode: SqlMode) -> ParsedTime {
    let mut result = ParsedTime {
        value: None,
        truncated: true,
        out_of_range: false,
        date: None,
        deprecated: None,
        decimals: 0,
        has_exponent: false,
    };
    let mut at = blanks_at(text, 0);
    if at > 0 {
        result.found_blank(text, 0);
    }
    let end = text.len() - text.iter().rev().take_while(|byte| is_space(**byte)).count();
    // A long text may be a date and a time.
    if end.saturating_sub(at) >= 12 {
        let parsed = parse(text, mode, true);
        if let Some(value) = parsed.value.filter(|_| !parsed.date_only) {
            result.value = Some(value.time());
            result.date = Some(value.date);
            result.truncated = parsed.truncated;
            result.deprecated = parsed.deprecated;
            result.decimals = parsed.decimals;
            return result;
        }
        if parsed.refused && !parsed.date_only {
            return result;
        }
    }
    let negative = text.get(at) == Some(&b'-');
    if negative {
        at += 1;
    }
    let is_digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    let is_colon = |at: usize| text.get(at) == Some(&b':') && is_digit(at + 1);
    let is_point = |at: usize| text.get(at) == Some(&b'.') && (is_digit(at + 1) || at + 1 == text.len());
    let len = digits_at(text, at, usize::MAX);
    if len == 0 && !is_colon(at) && !is_point(at) {
        return result;
    }
    let first = value_of(&text[at..at + len]);
    let (first_blank, blanks) = (at + len, blanks_at(text, at + len));
    at = first_blank + blanks;
    let mut parts = [0u64; 4]; // days, hours, minutes, seconds
    // (Behind days there is more than a digit.)
    let has_days = blanks > 0 && is_digit(at) && at + 1 < text.len();
    if has_days || is_colon(at) {
        if blanks > 1 {
            result.found_blank(text, first_blank);
        }
        if has_days {
            parts[0] = first.into();
            let len = digits_at(text, at, usize::MAX);
            parts[1] = value_of(&text[at..at + len]).into();
            at += len;
        } else {
            parts[1] = first.into();
        }
        at = more_parts(text, at, &mut parts[2..]);
    } else {
        if blanks > 0 && at == text.len() {
            result.found_blank(text, first_blank);
        }
        // hhmmss
        let number = if len <= 9 { u64::from(first) } else { 99_999_999 };
        parts = [0, number / 10_000, number / 100 % 100, number % 100];
    }
    let mut micros = 0;
    if is_point(at) {
        let (fraction, len) = fraction_at(text, at + 1, !mode.time_truncate_fractional);
        micros = fraction;
        result.decimals = len.min(6) as u8;
        at += 1 + len;
    }
    if is_exponent(text, at) {
        result.has_exponent = true;
        return result;
    }
    let blanks = blanks_at(text, at);
    if blanks > 0 {
        result.found_blank(text, at);
    }
    result.truncated = at + blanks < text.len();
    let [days, hours, minutes, seconds] = parts;
    if minutes > 59 || seconds > 59 || days == u64::from(u32::MAX) {
        result.truncated = true;
        return result;
    }
    let hours = (days * 24 + hours).min(10_000);
    let total = ((hours * 60 + minutes) * 60 + seconds) as i64 * SECOND + i64::from(micros);
    let (time, fits) = Time::from_micros(if negative { -total } else { total });
    result.value = Some(time);
    result.out_of_range = !fits;
    result
}

impl ParsedTime {
    /// Notes a blank that will not be accepted some day, if it is the first.
    fn found_blank(&mut self, text: &[u8], position: usize) {
        self.deprecated.get_or_insert(Deprecated::superfluous(text, position));
    }
}

/// Whether the exponent of a number is there: what it belongs to is no time.
fn is_exponent(text: &[u8], at: usize) -> bool {
    match text.get(at..).unwrap_or_default() {
        [b'e' | b'E', b'+' | b'-', digit, ..] | [b'e' | b'E', digit, ..] => digit.is_ascii_digit(),
        _ => false,
    }
}

/// Reads `:mm` and `:ss`.
fn more_parts(text: &[u8], mut at: usize, parts: &mut [u64]) -> usize {
    for part in parts {
        if text.get(at) != Some(&b':') {
            break;
        }
        let len = digits_at(text, at + 1, usize::MAX);
        if len == 0 {
            break;
        }
        *part = value_of(&text[at + 1..at + 1 + len]).into();
        at += 1 + len;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_plainly_is_read_as_everything_is() {
        let date = |year, month, day| format!("{year:04}-{month:02}-{day:02}");
        let mut texts =
            vec![date(0, 0, 0), date(0, 1, 1), date(9999, 12, 31), date(2023, 2, 29), "2024-0a-01".to_owned()];
        for number in 0..4000_u32 {
            let day = date(number * 7 % 10_000, number % 14, number % 33);
            let time = format!("{:02}:{:02}:{:02}", number % 25, number * 3 % 61, number * 7 % 61);
            texts.extend([day.clone(), format!("{day} {time}"), format!("{day}T{time}"), format!("{day} {time}.5")]);
        }
        texts.extend(
            ["2024-05-05 10-20-30", "2024-05-05 1a:20:30", "2024-05-05 10:20:3", "2024-05-5", "20240505 1"]
                .map(String::from),
        );
        for mode in [SqlMode::DEFAULT, SqlMode::NONE] {
            for text in &texts {
                let (one, other) = (parse_datetime(text.as_bytes(), mode), parse(text.as_bytes(), mode, false));
                assert_eq!(format!("{one:?}"), format!("{other:?}"), "{text}");
            }
        }
        assert!(plain(b"2024-05-05").is_some() && plain(b"2024-05-05 10:20:30").is_some());
    }

    /// What MySQL 9.7 answers to CAST(.. AS TIME(6)).
    #[test]
    fn a_long_text_is_a_date_and_a_time_only_with_a_space_among_its_delimiters() {
        for (text, expected) in [
            ("23:59:59.999999", Some("23:59:59.999999")),
            ("12:34:56.1234", Some("12:34:56.123400")),
            ("100:12:13.45678", Some("100:12:13.456780")),
            ("123456.123456", Some("12:34:56.123456")),
            ("10:11:12.131415 16", Some("10:11:12.131415")),
            ("23-59-59-999999", Some("00:00:23.000000")),
            ("2024-01-01T10:20:30", Some("00:20:24.000000")),
            ("20240101T102030", Some("10:20:30.000000")),
            ("2024.01.01 10.20.30", Some("10:20:30.000000")),
            ("10 11:12:13.45", Some("251:12:13.450000")),
            ("99-13-40 10:20:30", None),
        ] {
            let parsed = parse_time(text.as_bytes(), SqlMode::DEFAULT);
            let time = parsed.value.map(|time| {
                format!("{:02}:{:02}:{:02}.{:06}", time.hours(), time.minute(), time.second(), time.fraction())
            });
            assert_eq!(time.as_deref(), expected, "{text}");
        }
    }
}
