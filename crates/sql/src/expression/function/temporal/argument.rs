//! What an argument is, read as a date, a time, or both.
//!
//! Source: the manual's "Conversion Between Date and Time Types" and "Date and Time Literals".

use meseta_types::temporal;
use meseta_types::{CastType, Context, Date, DateTime, Datum, SqlMode, Time, cast};

use super::super::{Arguments, Env, Site};
use crate::error::Result;
use crate::expression::evaluate::of_year;
use crate::expression::typing::exact_digits;

/// Digits of the fraction that an argument's values have as times.
pub(super) fn temporal_decimals(arguments: &Arguments<'_, '_>, number: usize) -> u8 {
    let Some(argument) = arguments.argument(number) else { return 0 };
    if let Some(Datum::Text(text, _)) = argument.as_constant() {
        let parsed = temporal::parse_datetime(text, arguments.facts.mode);
        return match parsed.value {
            Some(_) => parsed.decimals,
            None => temporal::parse_time(text, arguments.facts.mode).decimals,
        };
    }
    match exact_digits(&argument.data_type) {
        Some((_, scale, _)) => scale.min(6) as u8,
        None => 6,
    }
}

/// A value as a date and time; a date is its midnight.
pub(in super::super) fn as_datetime<'v>(value: Datum<'v>, env: &mut Env<'v, '_>) -> Result<Option<DateTime>> {
    match value {
        Datum::Null => return Ok(None),
        Datum::DateTime(value, _) => return Ok(Some(value)),
        Datum::Date(date) => return Ok(Some(date.midnight())),
        _ => {}
    }
    Ok(match cast(value, CastType::DateTime(6), env.context, env.arena, &String::new)? {
        Datum::DateTime(value, _) => Some(value),
        _ => None,
    })
}

/// A value as a time.
pub(super) fn as_time<'v>(value: Datum<'v>, env: &mut Env<'v, '_>) -> Result<Option<Time>> {
    match value {
        Datum::Null => return Ok(None),
        Datum::Time(time, _) => return Ok(Some(time)),
        Datum::DateTime(value, _) => return Ok(Some(value.time())),
        _ => {}
    }
    Ok(match cast(value, CastType::Time(6), env.context, env.arena, &String::new)? {
        Datum::Time(value, _) => Some(value),
        _ => None,
    })
}

/// An argument's value; a year is its first day.
pub(super) fn temporal_value<'v>(site: Site<'v>, number: usize, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let value = site.value(number, env)?;
    Ok(site.argument(number).map_or(value, |argument| of_year(argument, value)))
}

pub(super) fn datetime<'v>(site: Site<'v>, number: usize, env: &mut Env<'v, '_>) -> Result<Option<DateTime>> {
    let value = temporal_value(site, number, env)?;
    as_datetime(value, env)
}

pub(super) fn time<'v>(site: Site<'v>, number: usize, env: &mut Env<'v, '_>) -> Result<Option<Time>> {
    let value = temporal_value(site, number, env)?;
    as_time(value, env)
}

/// The date of an argument.
pub(super) fn date_of<'v>(site: Site<'v>, number: usize, env: &mut Env<'v, '_>) -> Result<Option<Date>> {
    if let Some(date) = site.place(number, env).and_then(existing_date) {
        return Ok(Some(date));
    }
    let value = temporal_value(site, number, env)?;
    as_date(value, env)
}

/// The date of a value that has one, of the calendar.
fn existing_date(value: &Datum<'_>) -> Option<Date> {
    match value {
        Datum::Date(date) | Datum::DateTime(DateTime { date, .. }, _) => date.exists().then_some(*date),
        _ => None,
    }
}

fn as_date<'v>(value: Datum<'v>, env: &mut Env<'v, '_>) -> Result<Option<Date>> {
    if let Datum::Date(date) | Datum::DateTime(DateTime { date, .. }, _) = value {
        return Ok(Some(date));
    }
    Ok(match cast(value, CastType::Date, env.context, env.arena, &String::new)? {
        Datum::Date(date) => Some(date),
        _ => None,
    })
}

/// The date of the first argument, which may have zeros. Numbers up to 100 are a day without a month.
pub(super) fn date<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Option<Date>> {
    if let Some(date) = site.place(0, env).and_then(existing_date) {
        return Ok(Some(date));
    }
    let value = temporal_value(site, 0, env)?;
    let is_number =
        matches!(value, Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_) | Datum::Double(_) | Datum::Float(_));
    if is_number
        && let Some(number) = value.to_double(&mut Context::default())
        && (0.0..=100.0).contains(&number.trunc())
        && !number.is_sign_negative()
    {
        return Ok(Some(Date { year: 2000, month: 0, day: number as u8 }));
    }
    let mode = env.context.mode;
    env.context.mode.no_zero_in_date = false;
    let found = as_date(value, env);
    env.context.mode = mode;
    found
}

/// A day of the calendar; zero dates and zeros in dates are none.
pub(super) fn real_date<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Option<Date>> {
    Ok(date_of(site, 0, env)?.filter(|date| date.month != 0 && date.day != 0))
}

/// What may be a time or a date and time, by its value.
pub(super) enum Moment {
    Point(DateTime),
    Length(Time),
}

/// A value as what it reads as: a time if that is all it is, otherwise a date and time if it has the form of one. `checks`:
/// a date that there is not is NULL.
pub(super) fn moment<'v>(value: Datum<'v>, checks: bool, env: &mut Env<'v, '_>) -> Result<Option<Moment>> {
    let is_point = match value {
        Datum::Date(_) | Datum::DateTime(..) => true,
        Datum::Text(text, _) => {
            let parsed = temporal::parse_time(text, env.context.mode);
            let is_time = parsed.value.is_some() && !parsed.truncated && !parsed.out_of_range;
            let form = SqlMode { allow_invalid_dates: true, ..SqlMode::NONE };
            let is_date = temporal::parse_datetime(text, form).value.is_some();
            if is_time { parsed.date.is_some() } else { is_date || parsed.value.is_none() }
        }
        _ => date_in_number(value, env).is_some(),
    };
    if !is_point {
        return Ok(as_time(value, env)?.map(Moment::Length));
    }
    let mode = env.context.mode;
    if !checks {
        env.context.mode.no_zero_date = false;
        env.context.mode.no_zero_in_date = false;
    }
    let found = as_datetime(value, env);
    env.context.mode = mode;
    Ok(found?.map(Moment::Point))
}

/// The date and time that a number is which is too large for a time.
pub(super) fn date_in_number<'v>(value: Datum<'v>, env: &mut Env<'v, '_>) -> Option<DateTime> {
    let (Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_) | Datum::Double(_)) = value else { return None };
    let number = value.to_decimal(env.context)?.truncate(0).ok()?.to_i64().0;
    if number <= 8_385_959 {
        return None;
    }
    temporal::datetime_from_number(number, env.context.mode)?;
    as_datetime(value, env).ok().flatten()
}
