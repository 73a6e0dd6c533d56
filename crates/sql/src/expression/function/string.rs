//! Texts.
//!
//! Source: the manual's "String Functions and Operators".

use memchr::memmem;
use meseta_types::comparison::ComparisonType;
use meseta_types::{Charset, Collated, Datum, Decimal, Derivation, Numeric};

use super::{Arguments, Env, Extra, Function, Site, Typed, bind_integer, bind_maybe_integer, pure, statement};
use crate::error::Result;
use crate::expression::comparer::Comparer;
use crate::expression::typing;

pub(super) static FUNCTIONS: &[Function] = &[
    pure("length", 1, 1, bind_integer::<10>, |site, env| {
        Ok(site.text(0, env)?.map_or(Datum::Null, |text| Datum::Signed(text.len() as i64)))
    }),
    pure("octet_length", 1, 1, bind_integer::<10>, |site, env| {
        Ok(site.text(0, env)?.map_or(Datum::Null, |text| Datum::Signed(text.len() as i64)))
    }),
    pure("bit_length", 1, 1, bind_integer::<11>, |site, env| {
        Ok(site.text(0, env)?.map_or(Datum::Null, |text| Datum::Signed(text.len() as i64 * 8)))
    }),
    pure("char_length", 1, 1, bind_integer::<10>, char_length),
    pure("character_length", 1, 1, bind_integer::<10>, char_length),
    pure("ascii", 1, 1, bind_integer::<3>, |site, env| {
        Ok(site.text(0, env)?.map_or(Datum::Null, |text| Datum::Signed(text.first().copied().unwrap_or(0).into())))
    }),
    pure("ord", 1, 1, bind_integer::<21>, |site, env| {
        let value = site.value(0, env)?;
        let Some(text) = site.text_of(0, value, env) else { return Ok(Datum::Null) };
        let charset = value_charset(value);
        let len = if text.is_empty() { 0 } else { charset.decode(text).1.min(text.len()) };
        Ok(Datum::Signed(text[..len].iter().fold(0, |number, byte| number << 8 | i64::from(*byte))))
    }),
    pure(
        "char",
        1,
        255,
        |arguments| {
            arguments.numbers();
            let length = arguments.list.len() as u64 * 4;
            match arguments.extra {
                Extra::Charset(charset) if charset != Charset::Binary => {
                    let connection = arguments.facts.collation;
                    let collation =
                        if charset == connection.charset() { connection } else { charset.default_collation() };
                    let collated = Collated { collation, derivation: Derivation::Implicit, ascii: false };
                    Ok(arguments.text(length, collated).nullable())
                }
                _ => Ok(arguments.bytes(length).not_null()),
            }
        },
        char_function,
    ),
    pure(
        "concat",
        1,
        255,
        |arguments| {
            let count = arguments.list.len();
            let collated = arguments.unify(0, count)?;
            let total = (0..count).map(|number| arguments.characters(number)).fold(0, u64::saturating_add);
            Ok(arguments.text(total, collated))
        },
        concat,
    ),
    pure(
        "concat_ws",
        2,
        255,
        |arguments| {
            let count = arguments.list.len();
            let collated = arguments.unify(0, count)?;
            let parts = (1..count).map(|number| arguments.characters(number)).fold(0, u64::saturating_add);
            let total = parts.saturating_add(arguments.characters(0).saturating_mul(count as u64 - 2));
            let nullable = arguments.list.first().is_some_and(|first| first.nullable);
            Ok(Typed { nullable, ..arguments.text(total, collated) })
        },
        concat_ws,
    ),
    pure(
        "elt",
        2,
        255,
        |arguments| {
            let count = arguments.list.len();
            let collated = arguments.unify(1, count)?;
            let longest = (1..count).map(|number| arguments.characters(number)).max().unwrap_or(0);
            Ok(arguments.text(longest, collated).nullable())
        },
        |site, env| {
            let Some(chosen) = site.signed(0, env)? else { return Ok(Datum::Null) };
            if chosen < 1 || chosen as usize >= site.count() {
                return Ok(Datum::Null);
            }
            Ok(match site.text(chosen as usize, env)? {
                Some(text) => Datum::Text(text, site.collation()),
                None => Datum::Null,
            })
        },
    ),
    pure(
        "field",
        2,
        255,
        |arguments| {
            let count = arguments.list.len();
            // (Points and lengths of time are texts here.)
            let mut types = arguments.list.iter().map(|argument| &argument.data_type);
            let all_text = types.all(|data_type| data_type.collation().is_some() || data_type.is_temporal());
            let all_exact = arguments.list.iter().all(|argument| typing::exact_digits(&argument.data_type).is_some());
            let all_integers = arguments.list.iter().all(|argument| typing::is_integral(&argument.data_type));
            let collated = if all_text {
                arguments.unify_compared(0, count)?
            } else {
                typing::numeric_collated(arguments.facts.collation)
            };
            let kind = match (all_text, all_integers, all_exact) {
                (true, ..) => ComparisonType::Text,
                (_, true, _) => ComparisonType::Integer,
                (_, _, true) => ComparisonType::Decimal,
                _ => ComparisonType::Double,
            };
            arguments.extra = Extra::Comparer(Comparer { kind: Some(kind), ..Comparer::open(collated.collation) });
            Ok(arguments.typed(typing::integer(3)).not_null())
        },
        |site, env| {
            let Extra::Comparer(comparer) = site.call.extra else { return Ok(Datum::Signed(0)) };
            let wanted = site.value(0, env)?;
            if wanted.is_null() {
                return Ok(Datum::Signed(0));
            }
            for number in 1..site.count() {
                let value = site.value(number, env)?;
                if comparer.equal(wanted, value, env.context)? == Some(true) {
                    return Ok(Datum::Signed(number as i64));
                }
            }
            Ok(Datum::Signed(0))
        },
    ),
    pure(
        "find_in_set",
        2,
        2,
        |arguments| {
            let collated = arguments.unify_compared(0, 2)?;
            arguments.extra =
                Extra::Comparer(Comparer { kind: Some(ComparisonType::Text), ..Comparer::open(collated.collation) });
            Ok(arguments.typed(typing::integer(3)))
        },
        |site, env| {
            let (wanted, set) = (site.text(0, env)?, site.text(1, env)?);
            let (Some(wanted), Some(set)) = (wanted, set) else { return Ok(Datum::Null) };
            if set.is_empty() || wanted.contains(&b',') {
                return Ok(Datum::Signed(0));
            }
            let collation = site.comparison_collation();
            let place = set.split(|byte| *byte == b',').position(|name| collation.equal(name, wanted));
            Ok(Datum::Signed(place.map_or(0, |place| place as i64 + 1)))
        },
    ),
    pure(
        "make_set",
        2,
        255,
        |arguments| {
            let count = arguments.list.len();
            let collated = arguments.unify(1, count)?;
            let total = (1..count).map(|number| arguments.characters(number) + 1).fold(0, u64::saturating_add);
            let nullable = arguments.list.first().is_some_and(|first| first.nullable);
            Ok(Typed { nullable, ..arguments.text(total - 1, collated) })
        },
        |site, env| {
            let Some((bits, _)) = site.integer(0, env)? else { return Ok(Datum::Null) };
            let mut out = Vec::new();
            let mut any = false;
            for number in 1..site.count().min(65) {
                if bits >> (number - 1) & 1 == 1
                    && let Some(text) = site.text(number, env)?
                {
                    if any {
                        out.push(b',');
                    }
                    any = true;
                    out.extend_from_slice(text);
                }
            }
            Ok(site.made(&out, env))
        },
    ),
    pure(
        "export_set",
        3,
        5,
        |arguments| {
            let count = arguments.list.len();
            let collated = arguments.unify(1, count.min(4))?;
            let each = arguments.characters(1).max(arguments.characters(2))
                + if count > 3 { arguments.characters(3) } else { 1 };
            Ok(arguments.text(each.saturating_mul(64), collated))
        },
        export_set,
    ),
    pure("lower", 1, 1, bind_first, |site, env| change_case(site, env, false)),
    pure("lcase", 1, 1, bind_first, |site, env| change_case(site, env, false)),
    pure("upper", 1, 1, bind_first, |site, env| change_case(site, env, true)),
    pure("ucase", 1, 1, bind_first, |site, env| change_case(site, env, true)),
    pure("left", 2, 2, bind_part, |site, env| side(site, env, true)),
    pure("right", 2, 2, bind_part, |site, env| side(site, env, false)),
    pure("substring", 2, 3, bind_part, substring),
    pure("substr", 2, 3, bind_part, substring),
    pure("mid", 2, 3, bind_part, substring),
    pure(
        "substring_index",
        3,
        3,
        |arguments| {
            let collated = arguments.unify(0, 2)?;
            Ok(arguments.text(arguments.characters(0), collated))
        },
        substring_index,
    ),
    pure("trim", 1, 2, bind_trim, |site, env| match site.call.extra {
        Extra::Sides(leading, trailing) => trim(site, env, leading, trailing),
        _ => trim(site, env, true, true),
    }),
    pure("ltrim", 1, 1, bind_trim, |site, env| trim(site, env, true, false)),
    pure("rtrim", 1, 1, bind_trim, |site, env| trim(site, env, false, true)),
    pure("lpad", 3, 3, bind_pad, |site, env| pad(site, env, true)),
    pure("rpad", 3, 3, bind_pad, |site, env| pad(site, env, false)),
    pure(
        "repeat",
        2,
        2,
        |arguments| {
            let collated = arguments.unify(0, 1)?;
            let times = arguments.constant_integer(1).map(|times| times.max(0) as u64);
            let total = match times {
                Some(times) => arguments.characters(0).saturating_mul(times),
                None => u64::from(u32::MAX),
            };
            Ok(arguments.text(total, collated).nullable())
        },
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            let Some((times, is_unsigned)) = site.integer(1, env)? else { return Ok(Datum::Null) };
            let times = if !is_unsigned && times <= 0 { 0 } else { (times as u64).min(1 << 31) as usize };
            let Some(total) = text.len().checked_mul(times) else { return Ok(Datum::Null) };
            if site.too_long(total, env) {
                return Ok(Datum::Null);
            }
            Ok(site.made(&text.repeat(times), env))
        },
    ),
    pure(
        "space",
        1,
        1,
        |arguments| {
            let count = arguments.constant_integer(0).map_or(u64::from(u32::MAX), |count| count.max(0) as u64);
            Ok(arguments.ascii(count).nullable())
        },
        |site, env| {
            let Some((count, is_unsigned)) = site.integer(0, env)? else { return Ok(Datum::Null) };
            let count = if !is_unsigned && count <= 0 { 0 } else { (count as u64).min(1 << 31) as usize };
            if site.too_long(count, env) {
                return Ok(Datum::Null);
            }
            Ok(site.made(&vec![b' '; count], env))
        },
    ),
    pure(
        "replace",
        3,
        3,
        |arguments| {
            let collated = arguments.unify(0, 3)?;
            let (own, new) = (arguments.characters(0), arguments.characters(2));
            Ok(arguments.text(own.saturating_mul(new.max(1)), collated))
        },
        |site, env| {
            let (text, from) = (site.text(0, env)?, site.text(1, env)?);
            let to = site.text(2, env)?;
            let (Some(text), Some(from), Some(to)) = (text, from, to) else { return Ok(Datum::Null) };
            if from.is_empty() || text.len() < from.len() {
                return Ok(Datum::Text(text, site.collation()));
            }
            // (Byte by byte: in none of the character sets does a character begin within another.)
            let (mut out, mut rest) = (Vec::with_capacity(text.len()), 0);
            for at in memmem::find_iter(text, from) {
                out.extend_from_slice(&text[rest..at]);
                out.extend_from_slice(to);
                rest = at + from.len();
            }
            out.extend_from_slice(&text[rest..]);
            if site.too_long(out.len(), env) {
                return Ok(Datum::Null);
            }
            Ok(site.made(&out, env))
        },
    ),
    pure("reverse", 1, 1, bind_first, |site, env| {
        let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
        let mut out = Vec::with_capacity(text.len());
        site.collation().charset().append_reversed(text, &mut out);
        Ok(site.made(&out, env))
    }),
    pure(
        "insert",
        4,
        4,
        |arguments| {
            arguments.list.swap(1, 3);
            let collated = arguments.unify(0, 2);
            arguments.list.swap(1, 3);
            let collated = collated?;
            Ok(arguments.text(arguments.characters(0).saturating_add(arguments.characters(3)), collated))
        },
        |site, env| {
            let text = site.text(0, env)?;
            let (position, length) = (site.signed(1, env)?, site.signed(2, env)?);
            let new = site.text(3, env)?;
            let (Some(text), Some(position), Some(length), Some(new)) = (text, position, length, new) else {
                return Ok(Datum::Null);
            };
            let charset = site.collation().charset();
            let count = charset.char_count(text) as i64;
            if position < 1 || position > count {
                return Ok(Datum::Text(text, site.collation()));
            }
            let from = position - 1;
            let length = if length < 0 || length > count - from { count - from } else { length };
            let start = charset.char_offset(text, from as usize);
            let end = start + charset.char_offset(&text[start..], length as usize);
            let mut out = text[..start].to_vec();
            out.extend_from_slice(new);
            out.extend_from_slice(&text[end..]);
            if site.too_long(out.len(), env) {
                return Ok(Datum::Null);
            }
            Ok(site.made(&out, env))
        },
    ),
    pure("locate", 2, 3, |arguments| bind_locate(arguments, 0), |site, env| locate(site, env, 0, 1)),
    pure("position", 2, 2, |arguments| bind_locate(arguments, 0), |site, env| locate(site, env, 0, 1)),
    pure("instr", 2, 2, |arguments| bind_locate(arguments, 0), |site, env| locate(site, env, 1, 0)),
    pure(
        "hex",
        1,
        1,
        |arguments| {
            let length = match arguments.type_of(0) {
                data_type if data_type.is_numeric() => 16,
                data_type if data_type.is_temporal() => arguments.characters(0) * 2,
                data_type => {
                    let each = data_type.collation().map_or(1, |collation| collation.charset().max_len());
                    arguments.characters(0).saturating_mul(u64::from(each) * 2)
                }
            };
            Ok(arguments.ascii(length))
        },
        hex,
    ),
    pure(
        "unhex",
        1,
        1,
        |arguments| {
            let each = arguments.type_of(0).collation().map_or(1, |collation| collation.charset().max_len());
            Ok(arguments.bytes(arguments.characters(0).saturating_mul(each.into()).div_ceil(2)).nullable())
        },
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            let digits = text.iter().map(|byte| char::from(*byte).to_digit(16)).collect::<Option<Vec<u32>>>();
            let Some(digits) = digits else {
                let shown = meseta_types::error::printable(text);
                let message = format!("Incorrect string value: '{shown}' for function unhex");
                env.context.warnings.warn(meseta_types::SqlError::new(1411, message));
                return Ok(Datum::Null);
            };
            let mut out = Vec::with_capacity(digits.len().div_ceil(2));
            let (odd, pairs) = digits.split_at(digits.len() % 2);
            out.extend(odd.iter().map(|digit| *digit as u8));
            out.extend(pairs.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8));
            Ok(site.made(&out, env))
        },
    ),
    pure(
        "to_base64",
        1,
        1,
        |arguments| {
            let each = arguments.type_of(0).collation().map_or(1, |collation| collation.charset().max_len());
            let bytes = arguments.characters(0).saturating_mul(each.into());
            let plain = bytes.div_ceil(3).saturating_mul(4);
            Ok(arguments.ascii(plain + plain.saturating_sub(1) / 76))
        },
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            let mut out = Vec::with_capacity(text.len() * 4 / 3 + 4);
            append_base64(text, &mut out);
            if site.too_long(out.len(), env) {
                return Ok(Datum::Null);
            }
            Ok(site.made(&out, env))
        },
    ),
    pure(
        "from_base64",
        1,
        1,
        |arguments| {
            let each = arguments.type_of(0).collation().map_or(1, |collation| collation.charset().max_len());
            Ok(arguments.bytes(arguments.characters(0).saturating_mul(each.into()) * 3 / 4).nullable())
        },
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            match parse_base64(text) {
                Some(bytes) => Ok(site.made(&bytes, env)),
                None => Ok(Datum::Null),
            }
        },
    ),
    pure(
        "quote",
        1,
        1,
        |arguments| {
            let collated = arguments.unify(0, 1)?;
            Ok(arguments.text(arguments.characters(0).saturating_mul(2) + 2, collated).not_null())
        },
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(site.made(b"NULL", env)) };
            let mut out = vec![b'\''];
            for byte in text {
                match byte {
                    0 => out.extend_from_slice(b"\\0"),
                    26 => out.extend_from_slice(b"\\Z"),
                    b'\'' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
                    other => out.push(*other),
                }
            }
            out.push(b'\'');
            Ok(site.made(&out, env))
        },
    ),
    pure(
        "soundex",
        1,
        1,
        |arguments| {
            let collated = arguments.unify(0, 1)?;
            Ok(arguments.text(arguments.characters(0).max(4), collated))
        },
        soundex,
    ),
    statement(
        "format",
        2,
        3,
        |arguments| {
            arguments.number(0);
            let length = arguments.characters(0);
            Ok(arguments.ascii(length + length / 3 + 32).nullable())
        },
        format_number,
    ),
    pure(
        "weight_string",
        1,
        1,
        |arguments| {
            let length = match arguments.extra {
                Extra::Weight(_, Some(length)) => u64::from(length),
                _ => arguments.characters(0),
            };
            Ok(arguments.bytes(length.saturating_mul(16)).nullable())
        },
        |site, env| {
            let value = site.value(0, env)?;
            if !matches!(value, Datum::Text(..)) && !matches!(site.call.extra, Extra::Weight(_, Some(_))) {
                return Ok(Datum::Null);
            }
            let Some(text) = value.to_text(env.arena) else { return Ok(Datum::Null) };
            let mut out = Vec::new();
            match site.call.extra {
                Extra::Weight(true, length) => {
                    let length = length.unwrap_or(0) as usize;
                    out.extend_from_slice(&text[..text.len().min(length)]);
                    out.resize(length, 0);
                }
                Extra::Weight(false, length) => {
                    site.collation_of(0).append_weight_string(text, length.map(|length| length as usize), &mut out);
                }
                _ => site.collation_of(0).append_weight_string(text, None, &mut out),
            }
            Ok(site.made(&out, env))
        },
    ),
    pure("uncompressed_length", 1, 1, bind_maybe_integer::<10>, |site, env| {
        let Some(bytes) = site.text(0, env)? else { return Ok(Datum::Null) };
        Ok(match bytes {
            [] => Datum::Signed(0),
            [a, b, c, d, _, ..] => Datum::Signed(i64::from(u32::from_le_bytes([*a, *b, *c, *d]) & 0x3fff_ffff)),
            _ => {
                env.context.warnings.warn(meseta_types::SqlError::new(1259, "ZLIB: Input data corrupted"));
                Datum::Signed(0)
            }
        })
    }),
];

/// The character set of a value's text.
fn value_charset(value: Datum<'_>) -> Charset {
    match value {
        Datum::Text(..) | Datum::Member { .. } | Datum::Bits { .. } | Datum::Json(_) => value.collation().charset(),
        _ => Charset::Utf8mb4,
    }
}

fn char_length<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let value = site.value(0, env)?;
    let charset = value_charset(value);
    let text = site.text_of(0, value, env);
    Ok(text.map_or(Datum::Null, |text| Datum::Signed(charset.char_count(text) as i64)))
}

/// A text as long as the first argument, with its collation.
fn bind_first(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let collated = arguments.unify(0, 1)?;
    Ok(arguments.text(arguments.characters(0), collated))
}

fn bind_part(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let collated = arguments.unify(0, 1)?;
    let mut length = arguments.characters(0);
    let last = arguments.list.len() - 1;
    if (arguments.name == "left" || arguments.name == "right" || last == 2)
        && let Some(most) = arguments.constant_integer(last)
    {
        length = length.min(most.max(0) as u64);
    }
    if arguments.name != "left" && arguments.name != "right" {
        match arguments.constant_integer(1) {
            Some(start) if start > 0 => length = length.min(arguments.characters(0).saturating_sub(start as u64 - 1)),
            Some(start) if start < 0 => length = length.min(start.unsigned_abs()),
            Some(_) => length = 0,
            None => {}
        }
    }
    Ok(arguments.text(length, collated))
}

fn bind_trim(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let count = arguments.list.len();
    let collated = arguments.unify(0, count)?;
    Ok(arguments.text(arguments.characters(0), collated))
}

fn bind_pad(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.list.swap(1, 2);
    let collated = arguments.unify(0, 2);
    arguments.list.swap(1, 2);
    let collated = collated?;
    let length = arguments.constant_integer(1).map_or(u64::from(u32::MAX), |length| length.max(0) as u64);
    Ok(arguments.text(length, collated).nullable())
}

fn bind_locate(arguments: &mut Arguments<'_, '_>, _first: usize) -> Result<Typed> {
    let collated = arguments.unify_compared(0, 2)?;
    arguments.extra =
        Extra::Comparer(Comparer { kind: Some(ComparisonType::Text), ..Comparer::open(collated.collation) });
    Ok(arguments.typed(typing::integer(11)))
}

fn locate<'v>(site: Site<'v>, env: &mut Env<'v, '_>, wanted: usize, within: usize) -> Result<Datum<'v>> {
    let (wanted, text) = (site.text(wanted, env)?, site.text(within, env)?);
    let (Some(wanted), Some(text)) = (wanted, text) else { return Ok(Datum::Null) };
    let from = match site.count() {
        3 => match site.signed(2, env)? {
            Some(from) if from >= 1 => from as usize - 1,
            Some(_) => return Ok(Datum::Signed(0)),
            None => return Ok(Datum::Null),
        },
        _ => 0,
    };
    let found = site.comparison_collation().find(text, wanted, from);
    Ok(Datum::Signed(found.map_or(0, |(number, _)| number as i64 + 1)))
}

fn char_function<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let mut out = Vec::new();
    for number in 0..site.count() {
        let Some((bits, _)) = site.integer(number, env)? else { continue };
        let bytes = (bits as u32).to_be_bytes();
        let skip = bytes.iter().take(3).take_while(|byte| **byte == 0).count();
        out.extend_from_slice(&bytes[skip..]);
    }
    let charset = site.collation().charset();
    if charset != Charset::Binary
        && let Err(error) = charset.check(&out)
    {
        env.context.warnings.warn(error);
        return Ok(Datum::Null);
    }
    Ok(site.made(&out, env))
}

fn concat<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let mut out = Vec::new();
    for number in 0..site.count() {
        match site.text(number, env)? {
            Some(text) => out.extend_from_slice(text),
            None => return Ok(Datum::Null),
        }
    }
    if site.too_long(out.len(), env) {
        return Ok(Datum::Null);
    }
    Ok(site.made(&out, env))
}

fn concat_ws<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Some(separator) = site.text(0, env)? else { return Ok(Datum::Null) };
    let mut out = Vec::new();
    let mut any = false;
    for number in 1..site.count() {
        if let Some(text) = site.text(number, env)? {
            if any {
                out.extend_from_slice(separator);
            }
            any = true;
            out.extend_from_slice(text);
        }
    }
    if site.too_long(out.len(), env) {
        return Ok(Datum::Null);
    }
    Ok(site.made(&out, env))
}

fn export_set<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Some((bits, _)) = site.integer(0, env)? else { return Ok(Datum::Null) };
    let (on, off) = (site.text(1, env)?, site.text(2, env)?);
    let separator = if site.count() > 3 { site.text(3, env)? } else { Some(&b","[..]) };
    let (Some(on), Some(off), Some(separator)) = (on, off, separator) else { return Ok(Datum::Null) };
    let count = match site.count() {
        5 => match site.integer(4, env)? {
            Some((count, _)) => (count as u64).min(64),
            None => return Ok(Datum::Null),
        },
        _ => 64,
    };
    let mut out = Vec::new();
    for bit in 0..count {
        if bit > 0 {
            out.extend_from_slice(separator);
        }
        out.extend_from_slice(if bits as u64 >> bit & 1 == 1 { on } else { off });
    }
    Ok(site.made(&out, env))
}

fn change_case<'v>(site: Site<'v>, env: &mut Env<'v, '_>, upper: bool) -> Result<Datum<'v>> {
    let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
    let mut out = Vec::with_capacity(text.len());
    if upper {
        site.collation().append_upper(text, &mut out);
    } else {
        site.collation().append_lower(text, &mut out);
    }
    Ok(site.made(&out, env))
}

fn side<'v>(site: Site<'v>, env: &mut Env<'v, '_>, left: bool) -> Result<Datum<'v>> {
    let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
    let Some(count) = site.signed(1, env)? else { return Ok(Datum::Null) };
    let charset = site.collation().charset();
    let count = usize::try_from(count).unwrap_or(0);
    let part = if left {
        charset.substring(text, 0, count)
    } else {
        let total = charset.char_count(text);
        &text[charset.char_offset(text, total.saturating_sub(count))..]
    };
    Ok(Datum::Text(part, site.collation()))
}

fn substring<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let text = site.text(0, env)?;
    let start = site.signed(1, env)?;
    let length = if site.count() > 2 { site.signed(2, env)? } else { Some(i64::MAX) };
    let (Some(text), Some(start), Some(length)) = (text, start, length) else { return Ok(Datum::Null) };
    let charset = site.collation().charset();
    let empty = Datum::Text(b"", site.collation());
    if length <= 0 || start == 0 {
        return Ok(empty);
    }
    let from = if start > 0 {
        start - 1
    } else {
        let count = charset.char_count(text) as i64;
        match count.checked_add(start) {
            Some(from) if from >= 0 => from,
            _ => return Ok(empty),
        }
    };
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    Ok(Datum::Text(charset.substring(text, from as usize, length), site.collation()))
}

fn substring_index<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let (text, delimiter) = (site.text(0, env)?, site.text(1, env)?);
    let count = site.signed(2, env)?;
    let (Some(text), Some(delimiter), Some(count)) = (text, delimiter, count) else { return Ok(Datum::Null) };
    let collation = site.collation();
    if text.is_empty() || delimiter.is_empty() || count == 0 {
        return Ok(Datum::Text(b"", collation));
    }
    // (Byte by byte: in none of the character sets does a character begin within another. From the end, backwards.)
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX) - 1;
    let part = match count > 0 {
        true => memmem::find_iter(text, delimiter).nth(wanted).map_or(text, |at| &text[..at]),
        false => memmem::rfind_iter(text, delimiter).nth(wanted).map_or(text, |at| &text[at + delimiter.len()..]),
    };
    Ok(Datum::Text(part, collation))
}

fn trim<'v>(site: Site<'v>, env: &mut Env<'v, '_>, leading: bool, trailing: bool) -> Result<Datum<'v>> {
    let Some(mut text) = site.text(0, env)? else { return Ok(Datum::Null) };
    let cut = match site.count() {
        2 => match site.text(1, env)? {
            Some(cut) => cut,
            None => return Ok(Datum::Null),
        },
        _ => b" ",
    };
    if !cut.is_empty() {
        while leading && let Some(rest) = text.strip_prefix(cut) {
            text = rest;
        }
        while trailing && let Some(rest) = text.strip_suffix(cut) {
            text = rest;
        }
    }
    Ok(Datum::Text(text, site.collation()))
}

fn pad<'v>(site: Site<'v>, env: &mut Env<'v, '_>, left: bool) -> Result<Datum<'v>> {
    let text = site.text(0, env)?;
    let length = site.signed(1, env)?;
    let fill = site.text(2, env)?;
    let (Some(text), Some(length), Some(fill)) = (text, length, fill) else { return Ok(Datum::Null) };
    let Ok(length) = usize::try_from(length) else { return Ok(Datum::Null) };
    let charset = site.collation().charset();
    let count = charset.char_count(text);
    if count >= length {
        return Ok(Datum::Text(charset.substring(text, 0, length), site.collation()));
    }
    let missing = length - count;
    if site.too_long(missing.saturating_mul(charset.max_len() as usize), env) {
        return Ok(Datum::Null);
    }
    let fill_count = charset.char_count(fill);
    if fill_count == 0 {
        return Ok(Datum::Text(b"", site.collation()));
    }
    let mut filling = fill.repeat(missing / fill_count);
    filling.extend_from_slice(charset.substring(fill, 0, missing % fill_count));
    let mut out = Vec::with_capacity(text.len() + filling.len());
    if left {
        out.extend_from_slice(&filling);
        out.extend_from_slice(text);
    } else {
        out.extend_from_slice(text);
        out.extend_from_slice(&filling);
    }
    Ok(site.made(&out, env))
}

pub(super) fn append_hex(bytes: &[u8], upper: bool, out: &mut Vec<u8>) {
    let digits: &[u8; 16] = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let start = out.len();
    out.resize(start + 2 * bytes.len(), 0);
    for (pair, byte) in out[start..].chunks_exact_mut(2).zip(bytes) {
        pair[0] = digits[usize::from(byte >> 4)];
        pair[1] = digits[usize::from(byte & 15)];
    }
}

fn hex<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let value = site.value(0, env)?;
    let number = match value {
        Datum::Null => return Ok(Datum::Null),
        Datum::Signed(number) => number as u64,
        Datum::Unsigned(number) => number,
        Datum::Bits { bits, .. } => bits,
        Datum::Decimal(number) => match number.is_negative() {
            true => number.to_i64().0 as u64,
            false => number.to_u64().0,
        },
        Datum::Double(_) | Datum::Float(_) => {
            let number = value.to_double(env.context).unwrap_or(0.0).round_ties_even();
            if number <= -9.3e18 || number >= 1.9e19 {
                u64::MAX
            } else if number < 0.0 {
                number as i64 as u64
            } else {
                number as u64
            }
        }
        _ => {
            let mut out = Vec::new();
            append_hex(value.to_text(env.arena).unwrap_or_default(), true, &mut out);
            return Ok(site.made(&out, env));
        }
    };
    Ok(site.made(format!("{number:X}").as_bytes(), env))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn append_base64(bytes: &[u8], out: &mut Vec<u8>) {
    for (number, chunk) in bytes.chunks(3).enumerate() {
        // Lines have 76 characters.
        if number > 0 && number % 19 == 0 {
            out.push(b'\n');
        }
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            out.push(match place <= chunk.len() {
                true => BASE64[(word >> (18 - 6 * place) & 63) as usize],
                false => b'=',
            });
        }
    }
}

fn parse_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut word = 0u32;
    let (mut count, mut padding) = (0, 0);
    for byte in text.iter().filter(|byte| !meseta_types::integer::is_space(**byte)) {
        let value = match byte {
            b'=' => {
                padding += 1;
                0
            }
            _ if padding > 0 => return None,
            byte => BASE64.iter().position(|digit| digit == byte)? as u32,
        };
        word = word << 6 | value;
        count += 1;
        if count % 4 == 0 {
            if padding > 2 {
                return None;
            }
            out.extend_from_slice(&word.to_be_bytes()[1..4 - padding]);
            word = 0;
            if padding > 0 {
                padding = 3;
            }
        }
    }
    (count % 4 == 0).then_some(out)
}

fn soundex<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
    let collation = site.collation();
    let charset = collation.charset();
    let code = |letter: u32| match char::from_u32(letter).unwrap_or(' ').to_ascii_uppercase() {
        'B' | 'F' | 'P' | 'V' => Some(b'1'),
        'C' | 'G' | 'J' | 'K' | 'Q' | 'S' | 'X' | 'Z' => Some(b'2'),
        'D' | 'T' => Some(b'3'),
        'L' => Some(b'4'),
        'M' | 'N' => Some(b'5'),
        'R' => Some(b'6'),
        _ => None,
    };
    let mut out = Vec::new();
    let mut last = None;
    let mut at = 0;
    let mut count = 0;
    while at < text.len() {
        let (letter, len) = charset.decode(&text[at..]);
        let len = len.max(1).min(text.len() - at);
        let character = letter.and_then(char::from_u32).unwrap_or(' ');
        let is_letter = character.is_ascii_alphabetic() || (!character.is_ascii() && character.is_alphabetic());
        if is_letter {
            let digit = code(letter.unwrap_or(0));
            if count == 0 {
                collation.append_upper(&text[at..at + len], &mut out);
                count = 1;
                last = Some(digit);
            } else if let Some(digit) = digit
                && last != Some(Some(digit))
            {
                // Vowels do not part equal codes.
                out.push(digit);
                count += 1;
                last = Some(Some(digit));
            }
        }
        at += len;
    }
    while count > 0 && count < 4 {
        out.push(b'0');
        count += 1;
    }
    Ok(site.made(&out, env))
}

fn format_number<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let value = site.value(0, env)?;
    let Some(places) = site.signed(1, env)? else { return Ok(Datum::Null) };
    let places = places.clamp(0, 30) as i32;
    let locale = if site.count() > 2 { site.text(2, env)?.unwrap_or(b"en_US") } else { b"en_US" };
    let exact = match value.to_numeric(env.context) {
        None => return Ok(Datum::Null),
        Some(Numeric::Signed(number)) => Some(Decimal::from(number)),
        Some(Numeric::Unsigned(number)) => Some(Decimal::from(number)),
        Some(Numeric::Decimal(number)) => Some(number),
        Some(Numeric::Double(_)) => None,
    };
    let mut plain = Vec::new();
    match exact {
        Some(number) => number.round(places).unwrap_or(number).append_text(&mut plain),
        None => {
            let number = value.to_double(env.context).unwrap_or(0.0);
            let rounded = meseta_types::double::round_double(number, places, false);
            meseta_types::double::append_fixed(rounded, places as u8, &mut plain);
        }
    }
    let (group, point): (&[u8], u8) = match locale.to_ascii_lowercase().as_slice() {
        b"de_de" | b"es_es" | b"da_dk" | b"nl_be" | b"id_id" | b"tr_tr" | b"el_gr" => (b".", b','),
        b"it_it" | b"pt_br" | b"pt_pt" | b"nl_nl" | b"fr_fr" | b"de_at" | b"pl_pl" => (b"", b','),
        b"de_ch" => (b"'", b'.'),
        b"ru_ru" | b"uk_ua" => (b".", b','),
        b"sv_se" | b"fi_fi" | b"nb_no" | b"cs_cz" | b"sk_sk" => (b" ", b','),
        _ => (b",", b'.'),
    };
    let negative = plain.first() == Some(&b'-');
    let digits = &plain[usize::from(negative)..];
    let whole_len = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let mut out = Vec::with_capacity(plain.len() * 2);
    if negative {
        out.push(b'-');
    }
    for (number, digit) in digits[..whole_len].iter().enumerate() {
        if number > 0 && (whole_len - number) % 3 == 0 {
            out.extend_from_slice(group);
        }
        out.push(*digit);
    }
    if places > 0 {
        out.push(point);
        out.extend_from_slice(digits.get(whole_len + 1..).unwrap_or_default());
    }
    Ok(site.made(&out, env))
}
