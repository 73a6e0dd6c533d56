//! Control flow, and comparisons that are functions.
//!
//! Source: the manual's "Flow Control Functions" and "Comparison Functions and Operators".

use std::cmp::Ordering;

use meseta_types::comparison::ComparisonType;
use meseta_types::{DataType, Datum};

use super::{Arguments, Env, Extra, Function, Site, Typed, pure};
use crate::error::Result;
use crate::expression::comparer::Comparer;
use crate::expression::typing;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("if", 3, 3, bind_if, |site, env| {
        let chosen = if site.value(0, env)?.to_bool(env.context) == Some(true) { 1 } else { 2 };
        let value = site.value(chosen, env)?;
        site.expr.conform(value, env)
    }),
    pure("ifnull", 2, 2, bind_coalesce, coalesce),
    pure("coalesce", 1, 255, bind_coalesce, coalesce),
    pure("nullif", 2, 2, bind_nullif, |site, env| {
        let left = site.value(0, env)?;
        let right = site.value(1, env)?;
        let Extra::Comparer(comparer) = site.call.extra else { return Ok(left) };
        let equal = comparer.equal(left, right, env.context)? == Some(true);
        if equal { Ok(Datum::Null) } else { site.expr.conform(left, env) }
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
            arguments.extra =
                Extra::Comparer(Comparer { kind: Some(ComparisonType::Text), ..Comparer::open(collated.collation) });
            Ok(arguments.typed(typing::integer(2)))
        },
        |site, env| {
            let (left, right) = (site.text(0, env)?, site.text(1, env)?);
            let (Some(left), Some(right)) = (left, right) else { return Ok(Datum::Null) };
            Ok(Datum::Signed(site.comparison_collation().compare(left, right) as i64))
        },
    ),
];

fn bind_if(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.number(0);
    let (data_type, collated) = arguments.common_type(1)?;
    let nullable = arguments.list.iter().skip(1).any(|argument| argument.nullable);
    Ok(Typed { data_type, nullable, collated })
}

fn bind_coalesce(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let (data_type, collated) = arguments.common_type(0)?;
    let nullable = arguments.list.iter().all(|argument| argument.nullable);
    Ok(Typed { data_type, nullable, collated })
}

fn coalesce<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    for number in 0..site.count() {
        let value = site.value(number, env)?;
        if !value.is_null() {
            return site.expr.conform(value, env);
        }
    }
    Ok(Datum::Null)
}

fn bind_nullif(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
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
        let all_text = !has_time;
        let kind = if all_text && !has_number {
            Some(ComparisonType::Text)
        } else if has_time && !has_number {
            let dates = arguments.list.iter().any(|argument| {
                matches!(argument.data_type, DataType::Date | DataType::DateTime { .. } | DataType::Timestamp { .. })
            });
            Some(if dates { ComparisonType::DateTime } else { ComparisonType::Time })
        } else {
            Some(ComparisonType::Text)
        };
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

fn extreme<'v>(site: Site<'v>, env: &mut Env<'v, '_>, wanted: Ordering) -> Result<Datum<'v>> {
    let Extra::Comparer(comparer) = site.call.extra else { return Ok(Datum::Null) };
    let mut best = Datum::Null;
    for number in 0..site.count() {
        let value = site.value(number, env)?;
        if value.is_null() {
            return Ok(Datum::Null);
        }
        let value = match comparer.kind {
            Some(ComparisonType::Text) => match value.to_text(env.arena) {
                Some(text) => Datum::Text(text, comparer.collation),
                None => Datum::Null,
            },
            _ => value,
        };
        if number == 0 || comparer.compare(value, best, env.context)? == Some(wanted) {
            best = value;
        }
    }
    site.expr.conform(best, env)
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
