//! Adding to dates and times, and what lies between two of them.
//!
//! Source: the manual's "Date and Time Functions", DATE_ADD(), ADDTIME(), TIMEDIFF(), and "Temporal Intervals".

use meseta_types::temporal::{self, SECOND};
use meseta_types::{DataType, Datum, Interval, IntervalUnit, SqlError, SqlMode, Time};

use super::super::{Arguments, Env, Extra, Site, Typed};
use super::argument::{Moment, as_datetime, as_time, moment, temporal_decimals, temporal_value};
use super::{beyond, decimals_of};
use crate::error::{Error, Result};
use crate::expression::typing::exact_digits;

pub(super) fn bind_date_add(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let Extra::Interval(unit, _) = arguments.extra else { return Err(Error::not_yet("an interval here")) };
    let of_amount = match unit {
        IntervalUnit::Microsecond
        | IntervalUnit::SecondMicrosecond
        | IntervalUnit::MinuteMicrosecond
        | IntervalUnit::HourMicrosecond
        | IntervalUnit::DayMicrosecond => 6,
        IntervalUnit::Second => match exact_digits(arguments.type_of(1)) {
            Some((_, scale, _)) => scale.min(6) as u8,
            None => 6,
        },
        _ => 0,
    };
    let data_type = match arguments.type_of(0) {
        DataType::Date if !unit.has_time() => DataType::Date,
        DataType::Date => DataType::DateTime { decimals: of_amount },
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
            DataType::DateTime { decimals: (*decimals).max(of_amount) }
        }
        DataType::Time { decimals } if unit.has_time() && !with_day(unit) => {
            DataType::Time { decimals: (*decimals).max(of_amount) }
        }
        DataType::Time { decimals } => DataType::DateTime { decimals: (*decimals).max(of_amount) },
        _ => return Ok(arguments.ascii_char(29).nullable()),
    };
    Ok(arguments.typed(data_type).nullable())
}

pub(super) fn with_day(unit: IntervalUnit) -> bool {
    use IntervalUnit as U;
    matches!(unit, U::DayHour | U::DayMinute | U::DaySecond | U::DayMicrosecond)
}

/// The interval that an amount stands for; `None` is NULL.
fn interval_of<'v>(value: Datum<'v>, unit: IntervalUnit, env: &mut Env<'v, '_>) -> Option<Interval> {
    match value {
        Datum::Null => return None,
        Datum::Signed(number) if unit.is_simple() => return Some(Interval::of(number, unit)),
        _ => {}
    }
    if unit == IntervalUnit::Second {
        return Some(Interval::of_seconds(&value.to_decimal(env.context)?));
    }
    if unit.is_simple() {
        let (number, is_unsigned) = value.to_integer(env.context)?;
        let number = if is_unsigned { i64::try_from(number as u64).unwrap_or(i64::MAX) } else { number };
        return Some(Interval::of(number, unit));
    }
    Interval::parse(value.to_text(env.arena)?, unit)
}

fn overflow<'v>(env: &mut Env<'v, '_>) -> Datum<'v> {
    env.context.warnings.warn_with(|| SqlError::new(1441, "Datetime function: datetime field overflow"));
    Datum::Null
}

pub(super) fn date_add<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Extra::Interval(unit, subtract) = site.call.extra else { return Ok(Datum::Null) };
    let value = temporal_value(site, 0, env)?;
    if value.is_null() {
        return Ok(Datum::Null);
    }
    if let (Datum::Time(time, _), DataType::Time { decimals }) = (value, site.data_type()) {
        let amount = site.value(1, env)?;
        let Some(interval) = interval_of(amount, unit, env) else { return Ok(Datum::Null) };
        let micros = if subtract { -interval.micros } else { interval.micros };
        let total = i128::from(time.micros()) + micros;
        return Ok(match i64::try_from(total).map(Time::from_micros) {
            Ok((time, true)) => Datum::Time(time, *decimals),
            _ => {
                env.context.warnings.warn_with(|| SqlError::new(1441, "Datetime function: time field overflow"));
                Datum::Null
            }
        });
    }
    // Text, and numbers: what they read as decides what is printed.
    let date_only = match value {
        Datum::Date(_) => true,
        Datum::Text(text, _) => temporal::parse_datetime(text, env.context.mode).date_only,
        Datum::Signed(number) => {
            temporal::datetime_from_number(number, env.context.mode).is_some_and(|(_, date_only)| date_only)
        }
        _ => false,
    };
    // One counts from days of the calendar only, whatever the mode is.
    let mode = env.context.mode;
    env.context.mode = SqlMode { no_zero_date: true, no_zero_in_date: true, allow_invalid_dates: false, ..mode };
    let start = as_datetime(value, env);
    env.context.mode = mode;
    let Some(start) = start? else { return Ok(Datum::Null) };
    if start.date.month == 0 || start.date.day == 0 {
        return Ok(Datum::Null);
    }
    let amount = site.value(1, env)?;
    let Some(interval) = interval_of(amount, unit, env) else { return Ok(Datum::Null) };
    let interval = if subtract { interval.negated() } else { interval };
    let Some(sum) = start.plus(interval) else { return Ok(overflow(env)) };
    Ok(match site.data_type() {
        DataType::Date => Datum::Date(sum.date),
        DataType::DateTime { decimals } => Datum::DateTime(sum, *decimals),
        _ => {
            let mut out = Vec::new();
            if date_only && !unit.has_time() {
                sum.date.append_text(&mut out);
            } else {
                sum.append_text(if sum.micros == 0 { 0 } else { 6 }, &mut out);
            }
            site.made(&out, env)
        }
    })
}

pub(super) fn time_diff<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let (left, right) = (site.value(0, env)?, site.value(1, env)?);
    if left.is_null() || right.is_null() {
        return Ok(Datum::Null);
    }
    let decimals = decimals_of(site);
    let Some(left) = moment(left, false, env)? else { return Ok(Datum::Null) };
    let Some(right) = moment(right, false, env)? else { return Ok(Datum::Null) };
    let micros = match (left, right) {
        (Moment::Point(left), Moment::Point(right)) => left.total_micros() - right.total_micros(),
        (Moment::Length(left), Moment::Length(right)) => left.micros() - right.micros(),
        _ => return Ok(Datum::Null),
    };
    let (found, fits) = Time::from_micros(micros);
    if !fits {
        env.context.warnings.warn_with(|| {
            let negative = if micros < 0 { "-" } else { "" };
            let seconds = micros.unsigned_abs() / SECOND as u64;
            let shown = format!("{negative}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
            SqlError::truncated_incorrect("time", shown.as_bytes())
        });
    }
    Ok(Datum::Time(found, decimals))
}

/// Whether a text or number is a date and time rather than a time.
pub(super) fn looks_like_datetime<'v>(value: Datum<'v>, env: &mut Env<'v, '_>) -> bool {
    match value {
        Datum::Text(text, _) => {
            let parsed = temporal::parse_time(text, env.context.mode);
            parsed.date.is_some()
        }
        Datum::Date(_) | Datum::DateTime(..) => true,
        Datum::Time(..) | Datum::Null => false,
        other => other.to_double(env.context).unwrap_or(0.0).abs() >= 1e10,
    }
}

pub(super) fn bind_add_time(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let decimals = temporal_decimals(arguments, 0).max(temporal_decimals(arguments, 1));
    Ok(match arguments.type_of(0) {
        DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. } => {
            arguments.typed(DataType::DateTime { decimals }).nullable()
        }
        DataType::Time { .. } => arguments.typed(DataType::Time { decimals }).nullable(),
        _ => arguments.ascii_char(29).nullable(),
    })
}

pub(super) fn add_time<'v>(site: Site<'v>, env: &mut Env<'v, '_>, sign: i64) -> Result<Datum<'v>> {
    let (left, right) = (site.value(0, env)?, site.value(1, env)?);
    if left.is_null() || right.is_null() {
        return Ok(Datum::Null);
    }
    let Some(left) = moment(left, true, env)? else { return Ok(Datum::Null) };
    let Some(by) = as_time(right, env)? else { return Ok(Datum::Null) };
    let by_micros = sign * by.micros();
    let as_text = site.data_type().is_string();
    if let Moment::Point(start) = left {
        let Some(sum) = start.plus(Interval { months: 0, micros: by_micros.into() }) else { return Ok(Datum::Null) };
        if as_text {
            let mut out = Vec::new();
            sum.append_text(if sum.micros == 0 { 0 } else { 6 }, &mut out);
            return Ok(site.made(&out, env));
        }
        return Ok(Datum::DateTime(sum, decimals_of(site)));
    }
    let Moment::Length(start) = left else { return Ok(Datum::Null) };
    let micros = start.micros() + by_micros;
    let (sum, fits) = Time::from_micros(micros);
    if !fits {
        let null = beyond("TIME", site, env);
        return Ok(if as_text { site.made(time_text(sum).as_bytes(), env) } else { null });
    }
    if as_text {
        let mut out = Vec::new();
        sum.append_text(if sum.fraction() == 0 { 0 } else { 6 }, &mut out);
        return Ok(site.made(&out, env));
    }
    Ok(match site.data_type() {
        DataType::DateTime { decimals } => {
            let today = env.context.today.midnight();
            match today.plus(Interval { months: 0, micros: micros.into() }) {
                Some(sum) => Datum::DateTime(sum, *decimals),
                None => Datum::Null,
            }
        }
        _ => Datum::Time(sum, decimals_of(site)),
    })
}

fn time_text(time: Time) -> String {
    let mut out = Vec::new();
    time.append_text(if time.fraction() == 0 { 0 } else { 6 }, &mut out);
    String::from_utf8(out).unwrap_or_default()
}
