//! Functions of dates and times. `argument` reads what they are given, `arithmetic` adds and subtracts.
//!
//! Source: the manual's "Date and Time Functions".

mod argument;
mod arithmetic;

pub(super) use argument::as_datetime;
use argument::{
    Moment, as_time, date, date_in_number, date_of, datetime, moment, real_date, temporal_decimals, temporal_value,
    time,
};
use arithmetic::{add_time, bind_add_time, bind_date_add, date_add, looks_like_datetime, time_diff, with_day};
use meseta_types::comparison::{number_as_point, parameter_as_point};
use meseta_types::temporal::{
    self, Instant, SECOND, WeekMode, day_number, extract, from_day_number, period_add, period_diff, timestampdiff,
};
use meseta_types::{
    DataType, Date, DateTime, Datum, Decimal, Interval, IntervalUnit, Numeric, SqlError, SqlMode, Time, Zone,
};

use super::{
    Arguments, Env, Extra, Function, Site, Typed, bind_integer, bind_maybe_integer, described, pure, statement,
    volatile,
};
use crate::error::{Error, Result};
use crate::expression::typing::{self, exact_digits};

/// A number that is compared with a column of dates, as the point in time that it is written as, or as it is. Nobody can call it.
pub(in crate::expression) static NUMBER_AS_POINT: Function = pure("", 1, 1, bind_date, |site, env| {
    let number = site.value(0, env)?;
    let (decimals, has_time) = match *site.data_type() {
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => (decimals, true),
        _ => (0, false),
    };
    Ok(match number_as_point(number, decimals, env.context) {
        Some(point) if has_time => Datum::DateTime(point, decimals),
        Some(point) => Datum::Date(point.date),
        None => number,
    })
});

/// A parameter's text that is compared with dates, as the point in time that it is written as; NULL, with a warning, if it is none.
pub(in crate::expression) static TEXT_AS_POINT: Function = pure("", 1, 1, bind_date, |site, env| {
    let Datum::Text(text, _) = site.value(0, env)? else { return Ok(Datum::Null) };
    let point = parameter_as_point(text, env.context);
    if point.is_none() {
        env.context.warnings.warn_with(|| SqlError::incorrect("datetime", text));
    }
    Ok(point.map_or(Datum::Null, |point| Datum::DateTime(point, 6)))
});

pub(super) static FUNCTIONS: &[Function] = &[
    statement("now", 0, 1, bind_now, |site, env| now(site, env, env_start(env))),
    statement("current_timestamp", 0, 1, bind_now, |site, env| now(site, env, env_start(env))),
    statement("localtime", 0, 1, bind_now, |site, env| now(site, env, env_start(env))),
    statement("localtimestamp", 0, 1, bind_now, |site, env| now(site, env, env_start(env))),
    volatile("sysdate", 0, 1, bind_now, |site, env| {
        let time = env.host.clock();
        now(site, env, time)
    }),
    statement("curdate", 0, 0, bind_date, |_, env| Ok(local(env).map_or(Datum::Null, |now| Datum::Date(now.date)))),
    statement(
        "current_date",
        0,
        0,
        bind_date,
        |_, env| Ok(local(env).map_or(Datum::Null, |now| Datum::Date(now.date))),
    ),
    statement("curtime", 0, 1, bind_clock, current_time),
    statement("current_time", 0, 1, bind_clock, current_time),
    statement("utc_date", 0, 0, bind_date, |_, env| Ok(utc(env).map_or(Datum::Null, |now| Datum::Date(now.date)))),
    statement("utc_time", 0, 1, bind_clock, |site, env| {
        let decimals = decimals_of(site);
        Ok(utc(env).map_or(Datum::Null, |now| Datum::Time(now.time().round(decimals, true).0, decimals)))
    }),
    statement("utc_timestamp", 0, 1, bind_now, |site, env| {
        let decimals = decimals_of(site);
        Ok(utc(env).and_then(|now| now.round(decimals, true)).map_or(Datum::Null, |now| Datum::DateTime(now, decimals)))
    }),
    statement(
        "unix_timestamp",
        0,
        1,
        |arguments| {
            if arguments.list.is_empty() {
                return Ok(arguments.typed(typing::integer(21)).not_null());
            }
            let decimals = match arguments.argument(0).and_then(|argument| argument.as_constant()) {
                Some(Datum::Text(text, _)) if temporal::parse_datetime(text, SqlMode::NONE).value.is_none() => 6,
                _ => temporal_decimals(arguments, 0),
            };
            let data_type =
                if decimals == 0 { typing::integer(21) } else { typing::decimal(11, decimals.into(), false) };
            Ok(arguments.typed(data_type))
        },
        unix_timestamp,
    ),
    statement(
        "from_unixtime",
        1,
        2,
        |arguments| {
            if arguments.list.len() == 2 {
                return Ok(arguments.ascii(format_length(arguments, 1)).nullable());
            }
            let decimals = match exact_digits(arguments.type_of(0)) {
                Some((_, scale, _)) => scale.min(6) as u8,
                None => 6,
            };
            Ok(arguments.typed(DataType::DateTime { decimals }).nullable())
        },
        from_unixtime,
    ),
    pure("date", 1, 1, bind_date, |site, env| match date_of(site, 0, env)? {
        Some(date) if date.check(env.context.mode) => Ok(Datum::Date(date)),
        _ => Ok(Datum::Null),
    }),
    pure(
        "time",
        1,
        1,
        |arguments| {
            let decimals = temporal_decimals(arguments, 0);
            Ok(arguments.typed(DataType::Time { decimals }).nullable())
        },
        |site, env| {
            let decimals = decimals_of(site);
            Ok(time(site, 0, env)?.map_or(Datum::Null, |value| Datum::Time(value, decimals)))
        },
    ),
    statement(
        "timestamp",
        1,
        2,
        |arguments| {
            let mut decimals = temporal_decimals(arguments, 0);
            if arguments.list.len() > 1 {
                decimals = decimals.max(temporal_decimals(arguments, 1));
            }
            Ok(arguments.typed(DataType::DateTime { decimals }).nullable())
        },
        |site, env| {
            let decimals = decimals_of(site);
            let Some(mut value) = datetime(site, 0, env)?.filter(|point| point.check(env.context.mode)) else {
                return Ok(Datum::Null);
            };
            if site.count() > 1 {
                let Some(time) = time(site, 1, env)? else { return Ok(Datum::Null) };
                match value.plus(Interval { months: 0, micros: time.micros().into() }) {
                    Some(sum) => value = sum,
                    None => return Ok(Datum::Null),
                }
            }
            Ok(Datum::DateTime(value, decimals))
        },
    ),
    pure(
        "year",
        1,
        1,
        |arguments| Ok(arguments.typed(DataType::Year).nullable()),
        |site, env| of_date(site, env, |date| date.year.into()),
    ),
    pure("month", 1, 1, bind_maybe_integer::<3>, |site, env| of_date(site, env, |date| date.month.into())),
    pure("day", 1, 1, bind_maybe_integer::<3>, |site, env| of_date(site, env, |date| date.day.into())),
    pure("dayofmonth", 1, 1, bind_maybe_integer::<3>, |site, env| of_date(site, env, |date| date.day.into())),
    pure("quarter", 1, 1, bind_maybe_integer::<2>, |site, env| of_date(site, env, |date| date.quarter().into())),
    pure("dayofyear", 1, 1, bind_maybe_integer::<4>, |site, env| {
        of_real_date(site, env, |date| date.day_of_year().into())
    }),
    pure("dayofweek", 1, 1, bind_maybe_integer::<2>, |site, env| {
        of_real_date(site, env, |date| i64::from((date.weekday() + 1) % 7) + 1)
    }),
    pure("weekday", 1, 1, bind_maybe_integer::<2>, |site, env| of_real_date(site, env, |date| date.weekday().into())),
    statement("week", 1, 2, bind_maybe_integer::<3>, |site, env| {
        let mode = match site.count() {
            2 => match site.signed(1, env)? {
                Some(mode) => mode as u64,
                None => return Ok(Datum::Null),
            },
            _ => env.host.default_week_format(),
        };
        of_real_date(site, env, move_week(mode))
    }),
    pure("weekofyear", 1, 1, bind_maybe_integer::<3>, |site, env| {
        of_real_date(site, env, |date| date.week(WeekMode::new(3)).1.into())
    }),
    pure("yearweek", 1, 2, bind_maybe_integer::<7>, |site, env| {
        let mode = match site.count() {
            2 => match site.signed(1, env)? {
                Some(mode) => mode as u64,
                None => return Ok(Datum::Null),
            },
            _ => 0,
        };
        let Some(date) = real_date(site, env)? else { return Ok(Datum::Null) };
        let (year, week) = date.week(WeekMode::new(mode | 2));
        Ok(Datum::Signed(i64::from(year) * 100 + i64::from(week)))
    }),
    pure(
        "dayname",
        1,
        1,
        |arguments| Ok(arguments.ascii(9).nullable()),
        |site, env| {
            let Some(date) = real_date(site, env)? else { return Ok(Datum::Null) };
            Ok(site.made(temporal::DAYS[(date.weekday() % 7) as usize].as_bytes(), env))
        },
    ),
    pure(
        "monthname",
        1,
        1,
        |arguments| Ok(arguments.ascii(9).nullable()),
        |site, env| {
            let Some(date) = date(site, env)? else { return Ok(Datum::Null) };
            match usize::from(date.month).checked_sub(1).and_then(|month| temporal::MONTHS.get(month)) {
                Some(name) => Ok(site.made(name.as_bytes(), env)),
                None => Ok(Datum::Null),
            }
        },
    ),
    pure("last_day", 1, 1, bind_date, |site, env| {
        let Some(date) = date(site, env)? else { return Ok(Datum::Null) };
        if date.month == 0 || date.day == 0 {
            env.context.warnings.warn_with(|| {
                let mut shown = Vec::new();
                date.append_text(&mut shown);
                SqlError::truncated_incorrect("date", &shown)
            });
            return Ok(Datum::Null);
        }
        Ok(date.last_day().map_or(Datum::Null, Datum::Date))
    }),
    pure("to_days", 1, 1, bind_maybe_integer::<8>, |site, env| {
        of_whole_date(site, env, |date| day_number(date).into())
    }),
    pure("to_seconds", 1, 1, bind_maybe_integer::<12>, |site, env| {
        let Some(value) = datetime(site, 0, env)? else { return Ok(Datum::Null) };
        if value.date.month == 0 || value.date.day == 0 {
            return Ok(Datum::Null);
        }
        Ok(Datum::Signed(value.total_micros() / SECOND))
    }),
    described("from_days", 1, 1, bind_date, |site, env| {
        let Some(number) = site.signed(0, env)? else { return Ok(Datum::Null) };
        // The year 0, which no other function knows, has 365 days.
        let date = match u32::try_from(number) {
            Ok(0) | Err(_) => None,
            Ok(day @ 1..=365) => from_day_number(day + 365).map(|date| Date { year: 0, ..date }),
            Ok(day) => from_day_number(day),
        };
        Ok(date.map_or_else(|| beyond("DATE", site, env), Datum::Date))
    }),
    pure("hour", 1, 1, bind_maybe_integer::<4>, |site, env| of_time(site, env, |time| time.hours().into())),
    pure("minute", 1, 1, bind_maybe_integer::<3>, |site, env| of_time(site, env, |time| time.minute().into())),
    pure("second", 1, 1, bind_maybe_integer::<3>, |site, env| of_time(site, env, |time| time.second().into())),
    pure("microsecond", 1, 1, bind_maybe_integer::<7>, |site, env| of_time(site, env, |time| time.fraction().into())),
    pure("time_to_sec", 1, 1, bind_maybe_integer::<10>, |site, env| of_time(site, env, |time| time.micros() / SECOND)),
    pure(
        "sec_to_time",
        1,
        1,
        |arguments| {
            let decimals = match exact_digits(arguments.type_of(0)) {
                Some((_, scale, _)) => scale.min(6) as u8,
                None => 6,
            };
            Ok(arguments.typed(DataType::Time { decimals }))
        },
        |site, env| {
            let value = site.value(0, env)?;
            let decimals = decimals_of(site);
            let Some(micros) = micros_of(value, env) else { return Ok(Datum::Null) };
            let clamped = i64::try_from(micros).unwrap_or(if micros < 0 { i64::MIN } else { i64::MAX });
            let (time, fits) = Time::from_micros(clamped);
            if !fits {
                env.context.warnings.warn_with(|| {
                    let mut shown = Vec::new();
                    value.append_text(&mut shown);
                    SqlError::truncated_incorrect("time", &shown)
                });
            }
            Ok(Datum::Time(time.round(decimals, false).0, decimals))
        },
    ),
    pure(
        "maketime",
        3,
        3,
        |arguments| {
            let decimals = match exact_digits(arguments.type_of(2)) {
                Some((_, scale, _)) => scale.min(6) as u8,
                None => 6,
            };
            Ok(arguments.typed(DataType::Time { decimals }).nullable())
        },
        make_time,
    ),
    pure("makedate", 2, 2, bind_date, |site, env| {
        let (year, day) = (site.signed(0, env)?, site.signed(1, env)?);
        let (Some(mut year), Some(day)) = (year, day) else { return Ok(Datum::Null) };
        if !(0..=9999).contains(&year) || !(1..=i64::from(u32::MAX)).contains(&day) {
            return Ok(Datum::Null);
        }
        if year < 70 {
            year += 2000;
        } else if year < 100 {
            year += 1900;
        }
        let first = day_number(Date { year: year as u16, month: 1, day: 1 });
        let number = i64::from(first) + day - 1;
        Ok(u32::try_from(number).ok().and_then(from_day_number).map_or(Datum::Null, Datum::Date))
    }),
    statement("date_add", 2, 2, bind_date_add, date_add),
    statement(
        "adddate",
        2,
        2,
        |arguments| {
            arguments.extra = Extra::Interval(IntervalUnit::Day, false);
            bind_date_add(arguments)
        },
        date_add,
    ),
    statement(
        "subdate",
        2,
        2,
        |arguments| {
            arguments.extra = Extra::Interval(IntervalUnit::Day, true);
            bind_date_add(arguments)
        },
        date_add,
    ),
    statement(
        "timestampadd",
        2,
        2,
        |arguments| {
            if let Extra::Unit(unit) = arguments.extra {
                arguments.list.swap(0, 1);
                arguments.extra = Extra::Interval(unit, false);
            }
            bind_date_add(arguments)
        },
        date_add,
    ),
    pure("timestampdiff", 2, 2, bind_maybe_integer::<21>, |site, env| {
        let (from, to) = (datetime(site, 0, env)?, datetime(site, 1, env)?);
        let (Some(from), Some(to), Extra::Unit(unit)) = (from, to, &site.call.extra) else { return Ok(Datum::Null) };
        let real = |value: DateTime| value.date.month != 0 && value.date.day != 0;
        if !real(from) || !real(to) {
            return Ok(Datum::Null);
        }
        Ok(Datum::Signed(timestampdiff(*unit, from, to)))
    })
    .of_points(),
    pure("datediff", 2, 2, bind_maybe_integer::<7>, |site, env| {
        let (to, from) = (date_of(site, 0, env)?, date_of(site, 1, env)?);
        let (Some(to), Some(from)) = (to, from) else { return Ok(Datum::Null) };
        let real = |date: Date| date.month != 0 && date.day != 0;
        if !real(from) || !real(to) {
            return Ok(Datum::Null);
        }
        Ok(Datum::Signed(temporal::datediff(to, from)))
    })
    .of_points(),
    statement(
        "timediff",
        2,
        2,
        |arguments| {
            let decimals = temporal_decimals(arguments, 0).max(temporal_decimals(arguments, 1));
            Ok(arguments.typed(DataType::Time { decimals }).nullable())
        },
        time_diff,
    ),
    Function { describes: true, ..statement("addtime", 2, 2, bind_add_time, |site, env| add_time(site, env, 1)) },
    Function { describes: true, ..statement("subtime", 2, 2, bind_add_time, |site, env| add_time(site, env, -1)) },
    pure("period_add", 2, 2, bind_integer::<6>, |site, env| {
        let (period, months) = (site.signed(0, env)?, site.signed(1, env)?);
        let (Some(period), Some(months)) = (period, months) else { return Ok(Datum::Null) };
        let period = checked_period(period, "period_add")?;
        Ok(Datum::Signed(period_add(period, months) as i64))
    }),
    pure("period_diff", 2, 2, bind_integer::<6>, |site, env| {
        let (left, right) = (site.signed(0, env)?, site.signed(1, env)?);
        let (Some(left), Some(right)) = (left, right) else { return Ok(Datum::Null) };
        let (left, right) = (checked_period(left, "period_diff")?, checked_period(right, "period_diff")?);
        Ok(Datum::Signed(period_diff(left, right)))
    }),
    pure("extract", 1, 1, bind_extract, |site, env| {
        let Extra::Unit(unit) = site.call.extra else { return Ok(Datum::Null) };
        let value = site.value(0, env)?;
        let of_date = matches!(
            unit,
            IntervalUnit::Year
                | IntervalUnit::YearMonth
                | IntervalUnit::Quarter
                | IntervalUnit::Month
                | IntervalUnit::Week
                | IntervalUnit::Day
        );
        let with_day = with_day(unit);
        if of_date {
            let Some(value) = as_datetime(value, env)? else { return Ok(Datum::Null) };
            return Ok(Datum::Signed(extract(unit, value.date, Time::ZERO)));
        }
        if with_day && !matches!(value, Datum::Time(..)) {
            let text = matches!(value, Datum::Text(..) | Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_));
            if !text || looks_like_datetime(value, env) {
                let Some(value) = as_datetime(value, env)? else { return Ok(Datum::Null) };
                return Ok(Datum::Signed(extract(unit, value.date, value.time())));
            }
        }
        if let Some(value) = date_in_number(value, env) {
            let date = if with_day { value.date } else { Date::ZERO };
            return Ok(Datum::Signed(extract(unit, date, value.time())));
        }
        let Some(time) = as_time(value, env)? else { return Ok(Datum::Null) };
        Ok(Datum::Signed(extract(unit, Date::ZERO, time)))
    }),
    pure(
        "date_format",
        2,
        2,
        |arguments| {
            let collated = arguments.unify(1, 2)?;
            let length = format_length(arguments, 1);
            Ok(arguments.text(length, collated).nullable())
        },
        |site, env| {
            let value = site.value(0, env)?;
            let mode = env.context.mode;
            env.context.mode.no_zero_in_date = false;
            let value = match value {
                Datum::Signed(0) | Datum::Unsigned(0) => Ok(Some(DateTime::ZERO)),
                value => as_datetime(value, env),
            };
            env.context.mode = mode;
            let format = site.text(1, env)?;
            let (Some(value), Some(format)) = (value?, format) else { return Ok(Datum::Null) };
            let mut out = Vec::new();
            if format.is_empty() || temporal::append_date_format(value, format, &mut out).is_none() {
                return Ok(Datum::Null);
            }
            Ok(site.made(&out, env))
        },
    ),
    pure(
        "time_format",
        2,
        2,
        |arguments| {
            let collated = arguments.unify(1, 2)?;
            let length = format_length(arguments, 1);
            Ok(arguments.text(length, collated).nullable())
        },
        |site, env| {
            let value = site.value(0, env)?;
            let value = moment(value, false, env)?;
            let format = site.text(1, env)?;
            let (Some(value), Some(format)) = (value, format) else { return Ok(Datum::Null) };
            let mut out = Vec::new();
            let made = match value {
                _ if format.is_empty() => None,
                Moment::Point(value) => temporal::append_date_format(value, format, &mut out),
                Moment::Length(value) => temporal::append_time_format(value, format, &mut out),
            };
            if made.is_none() {
                return Ok(Datum::Null);
            }
            Ok(site.made(&out, env))
        },
    ),
    pure(
        "str_to_date",
        2,
        2,
        |arguments| {
            let format = match arguments.argument(1).and_then(|format| format.as_constant()) {
                Some(Datum::Text(format, _)) => Some(temporal::parts_of(format)),
                _ => None,
            };
            let data_type = match format {
                Some((true, false, _)) => DataType::Date,
                Some((false, true, fraction)) => DataType::Time { decimals: if fraction { 6 } else { 0 } },
                Some((_, _, false)) if format.is_some() => DataType::DateTime { decimals: 0 },
                _ => DataType::DateTime { decimals: 6 },
            };
            Ok(arguments.typed(data_type).nullable())
        },
        str_to_date,
    ),
    pure("get_format", 1, 1, |arguments| Ok(arguments.ascii(17).nullable()), get_format),
    statement(
        "convert_tz",
        3,
        3,
        |arguments| {
            let decimals = temporal_decimals(arguments, 0);
            Ok(arguments.typed(DataType::DateTime { decimals }).nullable())
        },
        |site, env| {
            let value = datetime(site, 0, env)?;
            let (from, to) = (site.text(1, env)?, site.text(2, env)?);
            let (Some(value), Some(from), Some(to)) = (value, from, to) else { return Ok(Datum::Null) };
            let zone = |name: &[u8]| std::str::from_utf8(name).ok().and_then(|name| Zone::parse(name).ok());
            let (Some(from), Some(to)) = (zone(from), zone(to)) else { return Ok(Datum::Null) };
            let decimals = decimals_of(site);
            let converted = match from.to_utc(value) {
                Some(Instant::At(seconds) | Instant::InGap(seconds)) => {
                    if (0..=32_536_771_199).contains(&seconds) {
                        to.from_utc(seconds, value.micros)
                    } else {
                        Some(value)
                    }
                }
                None => None,
            };
            Ok(converted.map_or(Datum::Null, |value| Datum::DateTime(value, decimals)))
        },
    ),
];

fn env_start(env: &Env<'_, '_>) -> i64 {
    env.host.statement_time()
}

fn at(zone: &Zone, micros: i64) -> Option<DateTime> {
    zone.from_utc(micros.div_euclid(SECOND), micros.rem_euclid(SECOND) as u32)
}

fn local(env: &Env<'_, '_>) -> Option<DateTime> {
    at(&env.context.zone, env_start(env))
}

fn utc(env: &Env<'_, '_>) -> Option<DateTime> {
    at(&Zone::UTC, env_start(env))
}

fn decimals_of(site: Site<'_>) -> u8 {
    site.data_type().decimals().unwrap_or(0).min(6)
}

/// The digits of the fraction that a call asks for. Error 1426.
fn precision(arguments: &Arguments<'_, '_>) -> Result<u8> {
    let wanted = arguments.constant_integer(0).unwrap_or(0);
    if !(0..=6).contains(&wanted) {
        return Err(Error::new(meseta_errors::ER_TOO_BIG_PRECISION, &[&wanted, &arguments.name, &6]));
    }
    Ok(wanted as u8)
}

fn bind_now(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let decimals = precision(arguments)?;
    Ok(arguments.typed(DataType::DateTime { decimals }).not_null())
}

fn bind_clock(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let decimals = precision(arguments)?;
    Ok(arguments.typed(DataType::Time { decimals }).not_null())
}

fn bind_date(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let typed = arguments.typed(DataType::Date);
    Ok(if arguments.list.is_empty() { typed } else { typed.nullable() })
}

fn now<'v>(site: Site<'v>, env: &mut Env<'v, '_>, micros: i64) -> Result<Datum<'v>> {
    let decimals = decimals_of(site);
    let now = at(&env.context.zone, micros).and_then(|now| now.round(decimals, true));
    Ok(now.map_or(Datum::Null, |now| Datum::DateTime(now, decimals)))
}

fn current_time<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let decimals = decimals_of(site);
    Ok(local(env).map_or(Datum::Null, |now| Datum::Time(now.time().round(decimals, true).0, decimals)))
}

/// Characters of the longest text that a format makes.
fn format_length(arguments: &Arguments<'_, '_>, number: usize) -> u64 {
    let Some(Datum::Text(format, _)) = arguments.argument(number).and_then(|format| format.as_constant()) else {
        return arguments.characters(number).saturating_mul(10).min(16383);
    };
    let mut length = 0;
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'%' {
            length += 1;
            continue;
        }
        length += match bytes.next() {
            Some(b'M' | b'W') => 64,
            Some(b'D' | b'Y' | b'x' | b'X') => 4,
            Some(b'a' | b'b') => 32,
            Some(b'j') => 3,
            Some(
                b'u' | b'U' | b'v' | b'V' | b'y' | b'm' | b'd' | b'h' | b'i' | b'I' | b'l' | b'p' | b'S' | b's' | b'c'
                | b'e',
            ) => 2,
            Some(b'k' | b'H') => 7,
            Some(b'r') => 11,
            Some(b'T') => 8,
            Some(b'f') => 6,
            _ => 1,
        };
    }
    length
}

/// NULL, and warning 6527: a result that its type does not have.
fn beyond<'v>(kind: &str, site: Site<'v>, env: &mut Env<'v, '_>) -> Datum<'v> {
    let message = || format!("{kind} value is out of range in '{}'", site.described());
    env.context.warnings.warn_with(|| SqlError::new(6527, message()));
    Datum::Null
}

fn of_date<'v>(site: Site<'v>, env: &mut Env<'v, '_>, f: fn(Date) -> i64) -> Result<Datum<'v>> {
    match date(site, env)? {
        Some(date) => Ok(Datum::Signed(f(date))),
        None => Ok(Datum::Null),
    }
}

fn of_real_date<'v>(site: Site<'v>, env: &mut Env<'v, '_>, f: impl Fn(Date) -> i64) -> Result<Datum<'v>> {
    match real_date(site, env)? {
        Some(date) => Ok(Datum::Signed(f(date))),
        None => Ok(Datum::Null),
    }
}

fn of_whole_date<'v>(site: Site<'v>, env: &mut Env<'v, '_>, f: fn(Date) -> i64) -> Result<Datum<'v>> {
    of_real_date(site, env, f)
}

fn of_time<'v>(site: Site<'v>, env: &mut Env<'v, '_>, f: fn(Time) -> i64) -> Result<Datum<'v>> {
    Ok(time(site, 0, env)?.map_or(Datum::Null, |time| Datum::Signed(f(time))))
}

fn move_week(mode: u64) -> impl Fn(Date) -> i64 {
    move |date| date.week(WeekMode::new(mode)).1.into()
}

fn unix_timestamp<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    if site.count() == 0 {
        return Ok(Datum::Signed((env_start(env) / SECOND).max(0)));
    }
    let value = temporal_value(site, 0, env)?;
    if value.is_null() {
        return Ok(Datum::Null);
    }
    // What is no date is 0.
    let value = as_datetime(value, env)?.unwrap_or(DateTime::ZERO);
    let (seconds, micros) = match env.context.zone.to_utc(value) {
        Some(Instant::At(seconds)) => (seconds, value.micros),
        Some(Instant::InGap(seconds)) => (seconds, 0),
        None => (0, 0),
    };
    let (seconds, micros) = if (0..=32_536_771_199).contains(&seconds) { (seconds, micros) } else { (0, 0) };
    match site.data_type() {
        DataType::Decimal { scale, .. } => {
            let scale = u32::from(*scale).min(6);
            let number = i128::from(seconds) * 10i128.pow(scale) + i128::from(micros / 10u32.pow(6 - scale));
            Ok(Datum::Decimal(Decimal::from_parts(number, scale as u8)))
        }
        _ => Ok(Datum::Signed(seconds)),
    }
}

/// A number of seconds in microseconds, rounded.
fn micros_of<'v>(value: Datum<'v>, env: &mut Env<'v, '_>) -> Option<i128> {
    let exact = match value.to_numeric(env.context)? {
        Numeric::Signed(number) => return Some(i128::from(number) * i128::from(SECOND)),
        Numeric::Unsigned(number) => return Some(i128::from(number) * i128::from(SECOND)),
        Numeric::Decimal(number) => number,
        Numeric::Double(number) => Decimal::from_f64(number).0,
    };
    let micros = exact.mul(&Decimal::from(SECOND)).ok().and_then(|micros| micros.to_i128());
    Some(micros.unwrap_or(if exact.is_negative() { i128::from(i64::MIN) } else { i128::from(i64::MAX) }))
}

fn from_unixtime<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let value = site.value(0, env)?;
    let Some(micros) = micros_of(value, env) else { return Ok(Datum::Null) };
    let limit = 32_536_771_199 * i128::from(SECOND) + 999_999;
    if !(0..=limit).contains(&micros) {
        return Ok(Datum::Null);
    }
    let Some(found) = at(&env.context.zone, micros as i64) else { return Ok(Datum::Null) };
    if site.count() == 2 {
        let Some(format) = site.text(1, env)? else { return Ok(Datum::Null) };
        let mut out = Vec::new();
        if format.is_empty() || temporal::append_date_format(found, format, &mut out).is_none() {
            return Ok(Datum::Null);
        }
        return Ok(site.made(&out, env));
    }
    let decimals = decimals_of(site);
    Ok(found.round(decimals, false).map_or(Datum::Null, |found| Datum::DateTime(found, decimals)))
}

fn make_time<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let hour = site.integer(0, env)?;
    let minute = site.signed(1, env)?;
    let second = site.value(2, env)?;
    let micros = micros_of(second, env);
    let (Some((hour, is_unsigned)), Some(minute), Some(micros)) = (hour, minute, micros) else {
        return Ok(Datum::Null);
    };
    if !(0..60).contains(&minute) || !(0..60 * i128::from(SECOND)).contains(&micros) {
        return Ok(Datum::Null);
    }
    let negative = !is_unsigned && hour < 0;
    let hours = hour.unsigned_abs();
    let decimals = decimals_of(site);
    let total = i128::from(hours) * 3600 * i128::from(SECOND) + i128::from(minute) * 60 * i128::from(SECOND) + micros;
    let total = i64::try_from(total).unwrap_or(i64::MAX);
    let (time, fits) = Time::from_micros(if negative { -total } else { total });
    if !fits {
        env.context.warnings.warn_with(|| {
            let sign = if negative { "-" } else { "" };
            let shown = format!("{sign}{hours}:{minute:02}:{:02}", micros / i128::from(SECOND));
            SqlError::truncated_incorrect("time", shown.as_bytes())
        });
    }
    Ok(Datum::Time(time.round(decimals, true).0, decimals))
}

fn checked_period(period: i64, name: &str) -> Result<u64> {
    let month = period % 100;
    if period <= 0 || !(1..=12).contains(&month) {
        return Err(Error::new(meseta_errors::ER_WRONG_ARGUMENTS, &[&name]));
    }
    Ok(period as u64)
}

fn bind_extract(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    use IntervalUnit as U;
    let Extra::Unit(unit) = arguments.extra else { return Err(Error::not_yet("EXTRACT of this")) };
    let width = match unit {
        U::Year => 5,
        U::YearMonth => 7,
        U::Quarter => 2,
        U::Month | U::Week | U::Day | U::Minute | U::Second => 3,
        U::Hour => 4,
        U::DayHour => 5,
        U::DayMinute => 7,
        U::DaySecond => 9,
        U::HourMinute => 6,
        U::HourSecond => 8,
        U::MinuteSecond => 5,
        U::Microsecond => 7,
        U::DayMicrosecond => 15,
        U::HourMicrosecond => 14,
        U::MinuteMicrosecond => 11,
        U::SecondMicrosecond => 9,
    };
    Ok(arguments.typed(typing::integer(width)).nullable())
}

fn str_to_date<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let (text, format) = (site.text(0, env)?, site.text(1, env)?);
    let (Some(text), Some(format)) = (text, format) else { return Ok(Datum::Null) };
    let kind = match site.data_type() {
        DataType::Date => "date",
        DataType::Time { .. } => "time",
        _ => "datetime",
    };
    let refuse = |env: &mut Env<'v, '_>| {
        env.context.warnings.warn_with(|| {
            let shown = meseta_types::error::printable(text);
            let refused = if kind == "time" { "time" } else { "datetime" };
            SqlError::new(1411, format!("Incorrect {refused} value: '{shown}' for function str_to_date"))
        });
        Ok(Datum::Null)
    };
    let Some(scanned) = temporal::scan_date(text, format) else { return refuse(env) };
    let found = match site.data_type() {
        DataType::Time { decimals } => Datum::Time(scanned.time, *decimals),
        DataType::Date => {
            let zeros = scanned.date.month == 0 || scanned.date.day == 0;
            if !scanned.date.check(env.context.mode) || zeros && env.context.mode.no_zero_date {
                return refuse(env);
            }
            Datum::Date(scanned.date)
        }
        _ => {
            let Some(value) = scanned.datetime() else { return refuse(env) };
            if !value.check(env.context.mode) {
                return refuse(env);
            }
            Datum::DateTime(value, decimals_of(site))
        }
    };
    if scanned.truncated {
        env.context.warnings.warn_with(|| SqlError::truncated_incorrect(kind, text));
    }
    Ok(found)
}

fn get_format<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Some(name) = site.text(0, env)? else { return Ok(Datum::Null) };
    let Extra::Text(kind) = &site.call.extra else { return Ok(Datum::Null) };
    let format = match (&**kind, name.to_ascii_uppercase().as_slice()) {
        ("date", b"USA") => "%m.%d.%Y",
        ("date", b"JIS" | b"ISO") => "%Y-%m-%d",
        ("date", b"EUR") => "%d.%m.%Y",
        ("date", b"INTERNAL") => "%Y%m%d",
        ("time", b"USA") => "%h:%i:%s %p",
        ("time", b"JIS" | b"ISO") => "%H:%i:%s",
        ("time", b"EUR") => "%H.%i.%s",
        ("time", b"INTERNAL") => "%H%i%s",
        ("datetime", b"USA" | b"EUR") => "%Y-%m-%d %H.%i.%s",
        ("datetime", b"JIS" | b"ISO") => "%Y-%m-%d %H:%i:%s",
        ("datetime", b"INTERNAL") => "%Y%m%d%H%i%s",
        _ => return Ok(Datum::Null),
    };
    Ok(site.made(format.as_bytes(), env))
}
