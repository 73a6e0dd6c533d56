//! Control flow, and comparisons that are functions.
//!
//! Source: the manual's "Flow Control Functions" and "Comparison Functions and Operators".

use std::cmp::Ordering;

use meseta_types::comparison::ComparisonType;
use meseta_types::{DataType, DateTime, Datum};

use super::{Arguments, Env, Extra, Function, Site, Typed, pure};
use crate::error::Result;
use crate::expression::comparer::Comparer;
use crate::expression::evaluate::{of_year, operand};
use crate::expression::typing;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("if", 3, 3, bind_if, |site, env| {
        let chosen = if site.value(0, env)?.is_taken(env.context) { 1 } else { 2 };
        let value = site.value(chosen, env)?;
        // An integer among decimals stays as it is.
        match (site.data_type(), value) {
            (DataType::Decimal { .. }, Datum::Signed(_) | Datum::Unsigned(_)) => {
                Ok(value.to_decimal(env.context).map_or(Datum::Null, Datum::Decimal))
            }
            _ => site.expr.conform(&value, env),
        }
    }),
    pure("ifnull", 2, 2, bind_coalesce, coalesce),
    pure("coalesce", 1, 255, bind_coalesce, coalesce),
    pure("nullif", 2, 2, bind_nullif, |site, env| {
        let left = site.value(0, env)?;
        let right = site.value(1, env)?;
        let Extra::Comparer(comparer) = site.call.extra else { return Ok(left) };
        let equal = comparer.equal(left, right, env.context)? == Some(true);
        if equal { Ok(Datum::Null) } else { site.expr.conform(&left, env) }
    }),
    pure(
        "isnull",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::BOOLEAN).not_null()),
        |site, env| Ok(Datum::Signed(site.value(0, env)?.is_null().into())),
    ),
    pure("greatest", 2, 255, bind_extreme, |site, env| extreme(site, env, Ordering::Greater)),
    pure("least", 2, 255, bind_extreme, |site, env| extreme(site, env, Ordering::Less)),
    pure(
        "interval",
        2,
        255,
        |arguments| {
            arguments.numbers();
            Ok(arguments.typed(typing::integer(2)).not_null())
        },
        interval,
    ),
    pure(
        "strcmp",
        2,
        2,
        |arguments| {
            let collated = arguments.unify(0, 2)?;
            let mut comparer = arguments.comparer(0, 1, collated.collation);
            if comparer.kind != Some(ComparisonType::DateTime) {
                comparer.kind = Some(ComparisonType::Text);
            }
            arguments.extra = Extra::Comparer(comparer);
            Ok(arguments.typed(typing::integer(2)))
        },
        |site, env| {
            if let Extra::Comparer(comparer) = site.call.extra
                && comparer.kind != Some(ComparisonType::Text)
            {
                let (left, right) = (site.value(0, env)?, site.value(1, env)?);
                return Ok(comparer
                    .compare(left, right, env.context)?
                    .map_or(Datum::Null, |o| Datum::Signed(o as i64)));
            }
            let (left, right) = (site.text(0, env)?, site.text(1, env)?);
            let (Some(left), Some(right)) = (left, right) else { return Ok(Datum::Null) };
            Ok(Datum::Signed(site.comparison_collation().compare(left, right) as i64))
        },
    ),
];

fn bind_if(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.double(0);
    let (data_type, collated) = arguments.common_type(1)?;
    let nullable = arguments.list.iter().skip(1).any(|argument| argument.nullable);
    Ok(Typed { data_type, nullable, collated })
}

fn bind_coalesce(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.exact_parameters();
    let (data_type, collated) = arguments.common_type(0)?;
    let nullable = arguments.list.iter().all(|argument| argument.nullable);
    Ok(Typed { data_type, nullable, collated })
}

fn coalesce<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    for number in 0..site.count() {
        let argument = &site.call.arguments[number];
        operand!(value = argument, site.row, env);
        match (site.data_type(), value) {
            (_, Datum::Null) => {}
            // No column's bits any more: a number.
            (DataType::Bit { .. }, Datum::Bits { bits, .. }) => return Ok(Datum::Unsigned(*bits)),
            _ => return site.expr.conform(value, env),
        }
    }
    Ok(Datum::Null)
}

fn bind_nullif(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.point_beside_dates(1, 0);
    let collated = arguments.unify_compared(0, 2)?;
    let comparer = arguments.comparer(0, 1, collated.collation);
    arguments.extra = Extra::Comparer(comparer);
    let (data_type, own) = match arguments.argument(0) {
        Some(first) => (first.data_type.clone(), first.collated),
        None => (DataType::Null, collated),
    };
    let data_type = match data_type {
        DataType::Integer { .. } if data_type.is_unsigned() => typing::unsigned(data_type.shown_width()),
        DataType::Integer { .. } => typing::integer(data_type.shown_width()),
        DataType::Char { length, collation } => typing::string_type(length.into(), collation),
        other => other,
    };
    Ok(Typed { data_type, nullable: true, collated: own })
}

fn bind_extreme(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.exact_parameters();
    let has_text = arguments
        .list
        .iter()
        .any(|argument| argument.data_type.collation().is_some() || matches!(argument.data_type, DataType::Json));
    let has_time = arguments.list.iter().any(|argument| argument.data_type.is_temporal());
    let has_number = arguments.list.iter().any(|argument| argument.data_type.is_numeric());
    let nullable = arguments.list.iter().any(|argument| argument.nullable);
    let count = arguments.list.len();
    if has_text || has_time && has_number {
        let collated = arguments.unify(0, count)?;
        let has_date = arguments.list.iter().any(|argument| is_date(&argument.data_type));
        let kind = if has_date { Some(ComparisonType::DateTime) } else { Some(ComparisonType::Text) };
        arguments.extra = Extra::Comparer(Comparer { kind, ..Comparer::open(collated.collation) });
        let longest = (0..count).map(|number| arguments.characters(number)).max().unwrap_or(0);
        return Ok(Typed { nullable, ..arguments.text(longest, collated) });
    }
    let (data_type, collated) = arguments.common_type(0)?;
    let data_type = match data_type {
        DataType::Integer { .. } if data_type.is_unsigned() => typing::unsigned(data_type.shown_width()),
        DataType::Integer { .. } => typing::integer(data_type.shown_width()),
        other => other,
    };
    arguments.extra = Extra::Comparer(Comparer::new(&data_type, &data_type, collated.collation));
    Ok(Typed { data_type, nullable, collated })
}

fn is_date(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. })
}

/// The extreme of points in time, as text: with a date among the arguments the others are read as dates. What is none does
/// not count.
fn extreme_date<'v>(site: Site<'v>, env: &mut Env<'v, '_>, wanted: Ordering) -> Result<Datum<'v>> {
    let mut best: Option<DateTime> = None;
    let (mut decimals, mut only_dates) = (0, true);
    for argument in &site.call.arguments {
        let value = argument.evaluate(site.row, env)?;
        if value.is_null() {
            return Ok(Datum::Null);
        }
        if is_date(&argument.data_type) {
            decimals = decimals.max(argument.data_type.decimals().unwrap_or(0));
            only_dates &= matches!(argument.data_type, DataType::Date);
        }
        let found = super::temporal::as_datetime(of_year(argument, value), env)?;
        best = match (best, found) {
            (Some(before), Some(found)) if found.cmp(&before) != wanted => Some(before),
            (before, found) => found.or(before),
        };
    }
    let Some(best) = best else { return Ok(Datum::Null) };
    let mut out = Vec::new();
    match only_dates {
        true => best.date.append_text(&mut out),
        false => best.append_text(decimals, &mut out),
    }
    Ok(site.made(&out, env))
}

fn extreme<'v>(site: Site<'v>, env: &mut Env<'v, '_>, wanted: Ordering) -> Result<Datum<'v>> {
    let Extra::Comparer(comparer) = site.call.extra else { return Ok(Datum::Null) };
    if comparer.kind == Some(ComparisonType::DateTime) && site.data_type().is_string() {
        return extreme_date(site, env, wanted);
    }
    let mut best = Datum::Null;
    for number in 0..site.count() {
        let value = site.value(number, env)?;
        if value.is_null() {
            return Ok(Datum::Null);
        }
        let value = match comparer.kind {
            Some(ComparisonType::Text) => match site.text_of(number, value, env) {
                Some(text) => Datum::Text(text, comparer.collation),
                None => Datum::Null,
            },
            _ => value,
        };
        if number == 0 || comparer.compare(value, best, env.context)? == Some(wanted) {
            best = value;
        }
    }
    site.expr.conform(&best, env)
}

fn interval<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let first = site.value(0, env)?;
    if first.is_null() {
        return Ok(Datum::Signed(-1));
    }
    let comparer = Comparer::open(site.collation());
    let first_number = first.to_numeric(env.context).map(from_numeric).unwrap_or(Datum::Null);
    for number in 1..site.count() {
        let bound = site.value(number, env)?;
        let Some(bound) = bound.to_numeric(env.context).map(from_numeric) else { continue };
        if comparer.compare(first_number, bound, env.context)? == Some(Ordering::Less) {
            return Ok(Datum::Signed(number as i64 - 1));
        }
    }
    Ok(Datum::Signed(site.count() as i64 - 1))
}

/// A number as a value.
pub(super) fn from_numeric<'v>(number: meseta_types::Numeric) -> Datum<'v> {
    match number {
        meseta_types::Numeric::Signed(number) => Datum::Signed(number),
        meseta_types::Numeric::Unsigned(number) => Datum::Unsigned(number),
        meseta_types::Numeric::Decimal(number) => Datum::Decimal(number),
        meseta_types::Numeric::Double(number) => Datum::Double(number),
    }
}
