//! Numbers.
//!
//! Source: the manual's "Mathematical Functions" and "Bit Functions and Operators".

use crc_fast::CrcAlgorithm;
use meseta_errors::{ER_DATA_OUT_OF_RANGE, ER_INVALID_ARGUMENT_FOR_LOGARITHM};
use meseta_types::{DataType, Datum, Decimal, Numeric, arithmetic, double};

use super::control::from_numeric;
use super::{Arguments, Env, Function, Site, Typed, bind_double, bind_maybe_double, described, pure, volatile};
use crate::error::{Error, Result};
use crate::expression::random::Random;
use crate::expression::typing::{self, exact_digits, is_integral};

pub(super) static FUNCTIONS: &[Function] = &[
    described("abs", 1, 1, bind_absolute, |site, env| {
        let value = site.value(0, env)?;
        Ok(match value.to_numeric(env.context) {
            None => Datum::Null,
            Some(Numeric::Signed(number)) => {
                Datum::Signed(number.checked_abs().ok_or_else(|| out_of_range("BIGINT", site))?)
            }
            Some(Numeric::Decimal(number)) => Datum::Decimal(number.abs()),
            Some(Numeric::Double(number)) => Datum::Double(number.abs()),
            Some(other) => from_numeric(other),
        })
    }),
    pure(
        "sign",
        1,
        1,
        |arguments| {
            arguments.numbers();
            Ok(arguments.typed(typing::integer(21)))
        },
        |site, env| {
            let value = site.value(0, env)?;
            Ok(match value.to_numeric(env.context) {
                None => Datum::Null,
                Some(Numeric::Signed(number)) => Datum::Signed(number.signum()),
                Some(Numeric::Unsigned(number)) => Datum::Signed((number > 0).into()),
                Some(Numeric::Decimal(number)) if number.is_zero() => Datum::Signed(0),
                Some(Numeric::Decimal(number)) => Datum::Signed(if number.is_negative() { -1 } else { 1 }),
                Some(Numeric::Double(0.0)) => Datum::Signed(0),
                Some(Numeric::Double(number)) => Datum::Signed(number.signum() as i64),
            })
        },
    ),
    described("ceiling", 1, 1, bind_whole, |site, env| whole(site, env, true)),
    described("ceil", 1, 1, bind_whole, |site, env| whole(site, env, true)),
    described("floor", 1, 1, bind_whole, |site, env| whole(site, env, false)),
    described("round", 1, 2, bind_round, |site, env| round(site, env, false)),
    described("truncate", 2, 2, bind_round, |site, env| round(site, env, true)),
    described(
        "mod",
        2,
        2,
        |arguments| {
            arguments.numbers();
            let data_type = crate::expression::bind::call::modulo_type(arguments.type_of(0), arguments.type_of(1));
            Ok(arguments.typed(data_type).nullable())
        },
        |site, env| {
            let (left, right) = (site.value(0, env)?, site.value(1, env)?);
            Ok(arithmetic::evaluate(arithmetic::Operator::Modulo, left, right, env.context, &|| site.described())?)
        },
    ),
    described("pow", 2, 2, bind_double, power),
    described("power", 2, 2, bind_double, power),
    described("sqrt", 1, 1, bind_maybe_double, |site, env| {
        one(site, env, |number| if number < 0.0 { f64::NAN } else { number.sqrt() }, true)
    }),
    described("exp", 1, 1, bind_double, |site, env| one(site, env, f64::exp, false)),
    pure("ln", 1, 1, bind_maybe_double, |site, env| logarithm(site, env, f64::ln)),
    pure("log2", 1, 1, bind_maybe_double, |site, env| logarithm(site, env, f64::log2)),
    pure("log10", 1, 1, bind_maybe_double, |site, env| logarithm(site, env, f64::log10)),
    pure("log", 1, 2, bind_maybe_double, |site, env| {
        if site.count() == 1 {
            return logarithm(site, env, f64::ln);
        }
        let (base, number) = (site.double(0, env)?, site.double(1, env)?);
        let (Some(base), Some(number)) = (base, number) else { return Ok(Datum::Null) };
        if base <= 0.0 || number <= 0.0 || base == 1.0 {
            return Ok(refuse_logarithm(env));
        }
        Ok(Datum::Double(number.ln() / base.ln()))
    }),
    described("sin", 1, 1, bind_double, |site, env| one(site, env, f64::sin, false)),
    described("cos", 1, 1, bind_double, |site, env| one(site, env, f64::cos, false)),
    described("tan", 1, 1, bind_double, |site, env| one(site, env, f64::tan, false)),
    described("cot", 1, 1, bind_double, |site, env| one(site, env, |number| 1.0 / number.tan(), false)),
    described("asin", 1, 1, bind_maybe_double, |site, env| {
        one(site, env, |number| if number.abs() > 1.0 { f64::NAN } else { number.asin() }, true)
    }),
    described("acos", 1, 1, bind_maybe_double, |site, env| {
        one(site, env, |number| if number.abs() > 1.0 { f64::NAN } else { number.acos() }, true)
    }),
    described("atan", 1, 2, bind_double, arc_tangent),
    described("atan2", 1, 2, bind_double, arc_tangent),
    described("degrees", 1, 1, bind_double, |site, env| one(site, env, f64::to_degrees, false)),
    described("radians", 1, 1, bind_double, |site, env| one(site, env, f64::to_radians, false)),
    pure(
        "pi",
        0,
        0,
        |arguments| {
            let number = meseta_types::datatype::Number::default();
            Ok(arguments.typed(DataType::Double { digits: Some((8, 6)), number }))
        },
        |_, _| Ok(Datum::Double(std::f64::consts::PI)),
    ),
    volatile("rand", 0, 1, |arguments| Ok(arguments.typed(DataType::DOUBLE).not_null()), rand),
    pure(
        "crc32",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::unsigned(10))),
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            Ok(Datum::Unsigned(crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, text)))
        },
    ),
    pure("bit_count", 1, 1, bind_bits, |site, env| {
        let value = site.value(0, env)?;
        if let (Datum::Text(bytes, _), Some(argument)) = (value, site.argument(0))
            && crate::expression::evaluate::is_bytes(argument)
        {
            return Ok(Datum::Signed(bytes.iter().map(|byte| i64::from(byte.count_ones())).sum()));
        }
        Ok(match value.to_integer(env.context) {
            Some((bits, _)) => Datum::Signed(bits.count_ones().into()),
            None => Datum::Null,
        })
    }),
    pure("conv", 3, 3, |arguments| Ok(arguments.ascii(65).nullable()), conv),
    pure("bin", 1, 1, bind_in_base, |site, env| in_base(site, env, 2)),
    pure("oct", 1, 1, bind_in_base, |site, env| in_base(site, env, 8)),
];

fn out_of_range(kind: &str, site: Site<'_>) -> Error {
    Error::new(ER_DATA_OUT_OF_RANGE, &[&kind, &site.described()])
}

/// A double as result. `null`: what is no number is NULL, otherwise an error.
fn double_result<'v>(number: f64, null: bool, site: Site<'v>) -> Result<Datum<'v>> {
    match number {
        number if number.is_finite() => Ok(Datum::Double(number)),
        number if null && number.is_nan() => Ok(Datum::Null),
        _ => Err(out_of_range("DOUBLE", site)),
    }
}

fn one<'v>(site: Site<'v>, env: &mut Env<'v, '_>, f: fn(f64) -> f64, null: bool) -> Result<Datum<'v>> {
    match site.double(0, env)? {
        Some(number) => double_result(f(number), null, site),
        None => Ok(Datum::Null),
    }
}

fn power<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let (base, exponent) = (site.double(0, env)?, site.double(1, env)?);
    let (Some(base), Some(exponent)) = (base, exponent) else { return Ok(Datum::Null) };
    double_result(base.powf(exponent), false, site)
}

fn arc_tangent<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    if site.count() == 1 {
        return one(site, env, f64::atan, false);
    }
    let (y, x) = (site.double(0, env)?, site.double(1, env)?);
    let (Some(y), Some(x)) = (y, x) else { return Ok(Datum::Null) };
    double_result(y.atan2(x), false, site)
}

fn refuse_logarithm<'v>(env: &mut Env<'v, '_>) -> Datum<'v> {
    env.context.warnings.warn_with(|| super::warning(Error::new(ER_INVALID_ARGUMENT_FOR_LOGARITHM, &[])));
    Datum::Null
}

fn logarithm<'v>(site: Site<'v>, env: &mut Env<'v, '_>, f: fn(f64) -> f64) -> Result<Datum<'v>> {
    let Some(number) = site.double(0, env)? else { return Ok(Datum::Null) };
    if number <= 0.0 {
        return Ok(refuse_logarithm(env));
    }
    Ok(Datum::Double(f(number)))
}

/// The type of an argument, as arithmetic sees it.
fn bind_same(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.numbers();
    let data_type = match arguments.type_of(0) {
        DataType::Null | DataType::Float { .. } => DataType::DOUBLE,
        DataType::Integer { .. } if arguments.type_of(0).is_unsigned() => {
            typing::unsigned(arguments.type_of(0).shown_width())
        }
        DataType::Integer { .. } => typing::integer(arguments.type_of(0).shown_width()),
        other => match exact_digits(other) {
            None => DataType::DOUBLE,
            Some((whole, _, is_unsigned)) if is_integral(other) => {
                if is_unsigned {
                    typing::unsigned(whole as u8)
                } else {
                    typing::integer(whole as u8 + 1)
                }
            }
            Some((whole, scale, is_unsigned)) => typing::decimal(whole, scale, is_unsigned),
        },
    };
    Ok(arguments.typed(data_type))
}

/// As [`bind_same`], and a double has the argument's decimals.
fn bind_absolute(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let typed = bind_same(arguments)?;
    let data_type = match typed.data_type {
        DataType::Double { .. } => typing::double_like(arguments.type_of(0), 0),
        other => other,
    };
    Ok(Typed { data_type, ..typed })
}

fn bind_whole(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let typed = bind_same(arguments)?;
    let data_type = match typed.data_type {
        DataType::Decimal { precision, scale, .. } => {
            let whole = u32::from(precision - scale);
            let is_unsigned = typed.data_type.is_unsigned();
            if whole + 1 < 19 {
                let width = (whole + 1 + u32::from(!is_unsigned)) as u8;
                if is_unsigned { typing::unsigned(width) } else { typing::integer(width) }
            } else {
                typing::decimal(whole + 1, 0, is_unsigned)
            }
        }
        other => other,
    };
    Ok(Typed { data_type, ..typed })
}

fn whole<'v>(site: Site<'v>, env: &mut Env<'v, '_>, up: bool) -> Result<Datum<'v>> {
    let value = site.value(0, env)?;
    Ok(match value.to_numeric(env.context) {
        None => Datum::Null,
        Some(Numeric::Double(number)) => Datum::Double(if up { number.ceil() } else { number.floor() }),
        Some(Numeric::Decimal(number)) => {
            let found = if up { number.ceiling() } else { number.floor() };
            let found = found.map_err(|_| out_of_range("DECIMAL", site))?;
            match site.data_type() {
                DataType::Integer { .. } if site.data_type().is_unsigned() => Datum::Unsigned(found.to_u64().0),
                DataType::Integer { .. } => Datum::Signed(found.to_i64().0),
                _ => Datum::Decimal(found),
            }
        }
        Some(other) => from_numeric(other),
    })
}

fn bind_round(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let truncates = arguments.name == "truncate";
    let typed = bind_same(arguments)?;
    let places = if arguments.list.len() < 2 { Some(0) } else { arguments.constant_integer(1) };
    let data_type = match (&typed.data_type, places) {
        (DataType::Decimal { precision, scale, .. }, Some(places)) => {
            let is_unsigned = typed.data_type.is_unsigned();
            let new_scale = places.clamp(0, i64::from(*scale)) as u32;
            let shortened = new_scale < u32::from(*scale) && !truncates;
            typing::decimal(u32::from(precision - scale) + u32::from(shortened), new_scale, is_unsigned)
        }
        (DataType::Integer { .. }, Some(places)) if places < 0 && !truncates => {
            let width = typed.data_type.shown_width() + 1;
            if typed.data_type.is_unsigned() { typing::unsigned(width) } else { typing::integer(width) }
        }
        (other, _) => (*other).clone(),
    };
    Ok(Typed { data_type, ..typed })
}

fn round<'v>(site: Site<'v>, env: &mut Env<'v, '_>, truncates: bool) -> Result<Datum<'v>> {
    let value = site.value(0, env)?;
    let places = match site.count() {
        1 => 0,
        _ => match site.signed(1, env)? {
            Some(places) => places,
            None => return Ok(Datum::Null),
        },
    };
    let places = places.clamp(-400, 400) as i32;
    let integer = |number: i128, is_unsigned: bool| -> Result<Datum<'v>> {
        let Some(power) = 10i128.checked_pow(places.unsigned_abs()) else { return Ok(Datum::Signed(0)) };
        let rest = number % power;
        let mut found = number - rest;
        if !truncates && rest.abs() * 2 >= power {
            found += if number < 0 { -power } else { power };
        }
        if is_unsigned {
            u64::try_from(found).map(Datum::Unsigned).map_err(|_| out_of_range("BIGINT UNSIGNED", site))
        } else {
            i64::try_from(found).map(Datum::Signed).map_err(|_| out_of_range("BIGINT", site))
        }
    };
    Ok(match value.to_numeric(env.context) {
        None => Datum::Null,
        Some(Numeric::Signed(number)) if places >= 0 => Datum::Signed(number),
        Some(Numeric::Unsigned(number)) if places >= 0 => Datum::Unsigned(number),
        Some(Numeric::Signed(number)) => integer(number.into(), false)?,
        Some(Numeric::Unsigned(number)) => integer(number.into(), true)?,
        Some(Numeric::Double(number)) => double_result(double::round_double(number, places, truncates), false, site)?,
        Some(Numeric::Decimal(number)) => {
            let most = match site.data_type() {
                DataType::Decimal { scale, .. } => i32::from(*scale),
                _ => 30,
            };
            let places = places.min(most);
            let found = if truncates { number.truncate(places) } else { number.round(places) };
            let found = found.map_err(|_| out_of_range("DECIMAL", site))?;
            Datum::Decimal(found.round(most.max(0)).unwrap_or(found))
        }
    })
}

fn rand<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    if site.count() == 0 {
        return Ok(Datum::Double(env.host.random().map_or(0.5, Random::next_double)));
    }
    let constant = site.argument(0).is_some_and(|argument| argument.is_constant());
    let seed = site.signed(0, env)?.unwrap_or(0) as u32;
    if !constant {
        return Ok(Datum::Double(Random::from_seed(seed).next_double()));
    }
    // One sequence for each call in a statement.
    let place = std::ptr::from_ref(site.call).addr();
    Ok(Datum::Double(match env.host.seeded_random(place) {
        Some(state) => state.get_or_insert_with(|| Random::from_seed(seed)).next_double(),
        None => Random::from_seed(seed).next_double(),
    }))
}

/// A hexadecimal literal's bits are counted as those of a number.
fn bind_bits(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.numbers();
    Ok(arguments.typed(typing::integer(2)))
}

fn bind_in_base(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.numbers();
    Ok(arguments.ascii(65).nullable())
}

fn in_base<'v>(site: Site<'v>, env: &mut Env<'v, '_>, base: u32) -> Result<Datum<'v>> {
    let value = site.value(0, env)?;
    let number = match value {
        Datum::Null => return Ok(Datum::Null),
        Datum::Text(text, _) => {
            if text.is_empty() {
                return Ok(Datum::Null);
            }
            parse_in_base(text, 10).0
        }
        // The number at the front of its text.
        Datum::Date(_) | Datum::Time(..) | Datum::DateTime(..) => {
            parse_in_base(value.to_text(env.arena).unwrap_or_default(), 10).0
        }
        Datum::Double(number) => double_bits(number),
        other => match other.to_decimal(env.context).and_then(|number| number.truncate(0).ok()) {
            Some(number) => decimal_bits(&number),
            None => return Ok(Datum::Null),
        },
    };
    let mut out = Vec::new();
    append_in_base(number, base, &mut out);
    Ok(site.made(&out, env))
}

fn double_bits(number: f64) -> u64 {
    if number < 0.0 { number as i64 as u64 } else { number as u64 }
}

fn decimal_bits(number: &Decimal) -> u64 {
    if number.is_negative() { number.to_i64().0 as u64 } else { number.to_u64().0 }
}

fn append_in_base(mut number: u64, base: u32, out: &mut Vec<u8>) {
    let start = out.len();
    loop {
        let digit = char::from_digit((number % u64::from(base)) as u32, base).unwrap_or('0');
        out.push(digit.to_ascii_uppercase() as u8);
        number /= u64::from(base);
        if number == 0 {
            break;
        }
    }
    out[start..].reverse();
}

/// The number at the front of a text, its bits, and whether it had a minus; too large: all ones.
fn parse_in_base(text: &[u8], base: u32) -> (u64, bool) {
    let blanks = text.iter().take_while(|byte| meseta_types::integer::is_space(**byte)).count();
    let mut rest = &text[blanks..];
    let negative = rest.first() == Some(&b'-');
    if matches!(rest.first(), Some(b'-' | b'+')) {
        rest = &rest[1..];
    }
    let mut number = 0u64;
    for byte in rest {
        let Some(digit) = char::from(*byte).to_digit(base) else { break };
        number = match number.checked_mul(base.into()).and_then(|number| number.checked_add(digit.into())) {
            Some(number) => number,
            None => return (u64::MAX, negative),
        };
    }
    (if negative { number.wrapping_neg() } else { number }, negative)
}

fn conv<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let text = site.text(0, env)?;
    let (from, to) = (site.signed(1, env)?, site.signed(2, env)?);
    let (Some(text), Some(from), Some(to)) = (text, from, to) else { return Ok(Datum::Null) };
    let fits = |base: i64| (2..=36).contains(&base.unsigned_abs());
    if !fits(from) || !fits(to) || text.is_empty() {
        return Ok(Datum::Null);
    }
    let (bits, _) = parse_in_base(text, from.unsigned_abs() as u32);
    let mut out = Vec::new();
    if to < 0 && (bits as i64) < 0 {
        out.push(b'-');
        append_in_base((bits as i64).unsigned_abs(), to.unsigned_abs() as u32, &mut out);
    } else {
        append_in_base(bits, to.unsigned_abs() as u32, &mut out);
    }
    Ok(site.made(&out, env))
}
