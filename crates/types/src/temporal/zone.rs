//! Time zones: what makes a point in time of a TIMESTAMP.
//!
//! ```text
//! SYSTEM          the zone of the machine
//! '+02:00'        a fixed offset, -13:59 .. +14:00
//! 'Europe/Rome'   a zone of the tz database, which is part of the program
//! ```
//!
//! # Invariants
//! 1. A local time that a change to summer time skips is the first instant after the gap; one that there is twice is
//!    the earlier one.
//! 2. A TIMESTAMP is 1970-01-01 00:00:01 to 2038-01-19 03:14:07 in UTC; 0 stands for `0000-00-00 00:00:00`.
//!
//! # Source
//! MySQL Reference Manual, "MySQL Server Time Zone Support".

use std::borrow::Cow;

use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use super::pack::{append_packed_timestamp, unpack_timestamp};
use super::{Date, DateTime};
use crate::error::{SqlError, number};

/// A session's time zone.
#[derive(Clone, Debug)]
pub struct Zone {
    name: Cow<'static, str>,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
    /// Seconds east.
    Fixed(i32),
    Named(TimeZone),
}

/// What a local time is in UTC.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Instant {
    /// Seconds since 1970.
    At(i64),
    /// There is no such local time: seconds at the end of the gap.
    InGap(i64),
}

impl Default for Zone {
    fn default() -> Self {
        Self::UTC
    }
}

impl Zone {
    /// Universal time.
    pub const UTC: Zone = Zone { name: Cow::Borrowed("+00:00"), rule: Rule::Fixed(0) };

    /// The zone with this name, as `time_zone` takes it; error 1298 if there is none.
    pub fn parse(name: &str) -> Result<Zone, SqlError> {
        let unknown = || SqlError::new(number::UNKNOWN_TIME_ZONE, format!("Unknown or incorrect time zone: '{name}'"));
        if name.eq_ignore_ascii_case("SYSTEM") {
            return Ok(Zone { name: Cow::Borrowed("SYSTEM"), rule: Rule::Named(TimeZone::system()) });
        }
        if let Some(seconds) = parse_offset(name.as_bytes()) {
            return Ok(Zone { name: name.to_owned().into(), rule: Rule::Fixed(seconds) });
        }
        let zone = TimeZone::get(name).map_err(|_| unknown())?;
        Ok(Zone { name: zone.iana_name().unwrap_or(name).to_owned().into(), rule: Rule::Named(zone) })
    }

    /// A fixed offset in minutes east of Greenwich.
    pub fn fixed(minutes: i32) -> Zone {
        let minutes = minutes.clamp(-14 * 60, 14 * 60);
        let sign = if minutes < 0 { '-' } else { '+' };
        let (hours, rest) = (minutes.abs() / 60, minutes.abs() % 60);
        Zone { name: format!("{sign}{hours:02}:{rest:02}").into(), rule: Rule::Fixed(minutes * 60) }
    }

    /// Its name, as `@@time_zone` shows it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The instant of a local time; `None` if the date does not exist.
    pub fn to_utc(&self, local: DateTime) -> Option<Instant> {
        if !local.date.exists() {
            return None;
        }
        // Days since 1970-01-01, which is day 719528.
        let day = i64::from(super::day_number(local.date)) - 719_528;
        let seconds = day * 86_400 + local.time_micros() / super::SECOND;
        let zone = match &self.rule {
            Rule::Fixed(offset) => return Some(Instant::At(seconds - i64::from(*offset))),
            Rule::Named(zone) => zone,
        };
        let civil = civil::DateTime::new(
            local.date.year as i16,
            local.date.month as i8,
            local.date.day as i8,
            local.hour as i8,
            local.minute as i8,
            local.second as i8,
            0,
        )
        .ok()?;
        let at = |offset: Offset| seconds - i64::from(offset.seconds());
        Some(match zone.to_ambiguous_timestamp(civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => Instant::At(at(offset)),
            AmbiguousOffset::Fold { before, .. } => Instant::At(at(before)),
            AmbiguousOffset::Gap { before, after } => Instant::InGap(gap_end(zone, at(after), at(before))),
        })
    }

    /// The local time of an instant (seconds since 1970, microseconds); `None` outside of the years 0 to 9999.
    pub fn from_utc(&self, seconds: i64, micros: u32) -> Option<DateTime> {
        let offset = match &self.rule {
            Rule::Fixed(offset) => i64::from(*offset),
            Rule::Named(zone) => i64::from(zone.to_offset(jiff::Timestamp::from_second(seconds).ok()?).seconds()),
        };
        let total = seconds.checked_add(offset)?.checked_add(719_528 * 86_400)?.checked_mul(super::SECOND)?;
        DateTime::from_total_micros(total + i64::from(micros))
    }

    /// Appends the bytes of a TIMESTAMP column. `None`: outside of what a TIMESTAMP holds. `Some(true)`: the local time
    /// fell into a gap.
    pub fn append_timestamp(&self, local: DateTime, decimals: u8, out: &mut Vec<u8>) -> Option<bool> {
        if local.date.is_zero() {
            append_packed_timestamp(0, 0, decimals, out);
            return Some(false);
        }
        let (seconds, gap) = match self.to_utc(local)? {
            Instant::At(seconds) => (seconds, false),
            Instant::InGap(seconds) => (seconds, true),
        };
        if !(1..=i64::from(i32::MAX)).contains(&seconds) {
            return None;
        }
        append_packed_timestamp(seconds as u32, local.micros, decimals, out);
        Some(gap)
    }

    /// Reads the bytes of a TIMESTAMP column.
    pub fn read_timestamp(&self, bytes: &[u8]) -> DateTime {
        match unpack_timestamp(bytes) {
            (0, _) => Date::ZERO.midnight(),
            (seconds, micros) => self.from_utc(seconds.into(), micros).unwrap_or(DateTime::ZERO),
        }
    }
}

/// The first instant after the change of offset between two instants.
fn gap_end(zone: &TimeZone, mut low: i64, mut high: i64) -> i64 {
    let offset = |seconds: i64| jiff::Timestamp::from_second(seconds).map(|at| zone.to_offset(at));
    let Ok(before) = offset(low) else { return high };
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        if offset(middle).is_ok_and(|at| at == before) { low = middle } else { high = middle }
    }
    high
}

/// `+hh:mm` in seconds.
fn parse_offset(text: &[u8]) -> Option<i32> {
    let (sign, rest) = text.split_first()?;
    let colon = rest.iter().position(|byte| *byte == b':')?;
    let (hours, minutes) = (&rest[..colon], &rest[colon + 1..]);
    if !matches!(sign, b'+' | b'-') || !(1..=2).contains(&hours.len()) || minutes.len() != 2 {
        return None;
    }
    let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse::<i32>().ok().filter(|number| *number >= 0);
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let total = hours * 60 + minutes;
    let total = if *sign == b'-' { -total } else { total };
    (minutes < 60 && (-839..=840).contains(&total)).then_some(total * 60)
}
