//! Identifiers, addresses, locks, and what fits nowhere else.
//!
//! Source: the manual's "Miscellaneous Functions" and "Locking Functions".

use std::net::{Ipv4Addr, Ipv6Addr};

use meseta_types::{Collation, Datum, SqlError};

use super::string::append_hex;
use super::{Env, Function, Site, bind_integer, bind_maybe_integer, described, pure, volatile};
use crate::error::{Error, Result};
use crate::expression::typing;

pub(super) static FUNCTIONS: &[Function] = &[
    volatile(
        "sleep",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::integer(21)).not_null()),
        |site, env| {
            let seconds = site.double(0, env)?;
            let Some(seconds) = seconds.filter(|seconds| *seconds >= 0.0) else {
                return Err(Error::new(meseta_errors::ER_WRONG_ARGUMENTS, &[&"sleep."]));
            };
            Ok(Datum::Signed(env.host.sleep(seconds)?.into()))
        },
    ),
    volatile("get_lock", 2, 2, bind_maybe_integer::<1>, |site, env| {
        let name = lock_name(site, env)?;
        let seconds = site.double(1, env)?.unwrap_or(0.0);
        Ok(crate::expression::evaluate::truth(env.host.get_lock(&name, seconds)?))
    }),
    volatile("release_lock", 1, 1, bind_maybe_integer::<1>, |site, env| {
        let name = lock_name(site, env)?;
        Ok(crate::expression::evaluate::truth(env.host.release_lock(&name)?))
    }),
    volatile(
        "release_all_locks",
        0,
        0,
        |arguments| Ok(arguments.typed(typing::unsigned(21)).not_null()),
        |_, env| Ok(Datum::Unsigned(env.host.release_all_locks())),
    ),
    volatile("is_free_lock", 1, 1, bind_maybe_integer::<1>, |site, env| {
        let name = lock_name(site, env)?;
        Ok(Datum::Signed(env.host.lock_owner(&name).is_none().into()))
    }),
    volatile(
        "is_used_lock",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::unsigned(21)).nullable()),
        |site, env| {
            let name = lock_name(site, env)?;
            Ok(env.host.lock_owner(&name).map_or(Datum::Null, Datum::Unsigned))
        },
    ),
    volatile(
        "uuid",
        0,
        0,
        |arguments| {
            let mut typed = arguments.system_text(36).not_null();
            typed.collated.derivation = meseta_types::Derivation::Coercible;
            Ok(typed)
        },
        |site, env| {
            let bytes = env.host.uuid();
            let mut out = Vec::new();
            append_uuid(&bytes, &mut out);
            Ok(site.made(&out, env))
        },
    ),
    volatile(
        "uuid_short",
        0,
        0,
        |arguments| Ok(arguments.typed(typing::unsigned(21)).not_null()),
        |_, env| Ok(Datum::Unsigned(env.host.uuid_short())),
    ),
    pure(
        "is_uuid",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::integer(1))),
        |site, env| Ok(site.text(0, env)?.map_or(Datum::Null, |text| Datum::Signed(parse_uuid(text).is_some().into()))),
    ),
    pure(
        "uuid_to_bin",
        1,
        2,
        |arguments| Ok(arguments.bytes(16).nullable()),
        |site, env| {
            let text = site.text(0, env)?;
            let swap = site.count() > 1 && site.value(1, env)?.to_bool(env.context) == Some(true);
            let Some(text) = text else { return Ok(Datum::Null) };
            let Some(mut bytes) = parse_uuid(text) else { return Err(wrong_uuid(text, "uuid_to_bin")) };
            if swap {
                let own = bytes;
                bytes[..2].copy_from_slice(&own[6..8]);
                bytes[2..4].copy_from_slice(&own[4..6]);
                bytes[4..8].copy_from_slice(&own[..4]);
            }
            Ok(Datum::Text(env.arena.alloc_slice_copy(&bytes), Collation::Binary))
        },
    ),
    pure(
        "bin_to_uuid",
        1,
        2,
        |arguments| Ok(arguments.ascii(36).nullable()),
        |site, env| {
            let bytes = site.text(0, env)?;
            let swap = site.count() > 1 && site.value(1, env)?.to_bool(env.context) == Some(true);
            let Some(bytes) = bytes else { return Ok(Datum::Null) };
            let Ok(mut uuid) = <[u8; 16]>::try_from(bytes) else { return Err(wrong_uuid(bytes, "bin_to_uuid")) };
            if swap {
                let own = uuid;
                uuid[..4].copy_from_slice(&own[4..8]);
                uuid[4..6].copy_from_slice(&own[2..4]);
                uuid[6..8].copy_from_slice(&own[..2]);
            }
            let mut out = Vec::new();
            append_uuid(&uuid, &mut out);
            Ok(site.made(&out, env))
        },
    ),
    described(
        "inet_aton",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::unsigned(21)).nullable()),
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            match inet_aton(text) {
                Some(number) => Ok(Datum::Unsigned(number)),
                None => Ok(wrong_address(site, env)),
            }
        },
    ),
    described(
        "inet_ntoa",
        1,
        1,
        |arguments| {
            arguments.numbers();
            Ok(arguments.ascii(15).nullable())
        },
        |site, env| {
            let value = site.value(0, env)?;
            let Some((number, _)) = value.to_integer(env.context) else { return Ok(Datum::Null) };
            match u32::try_from(number as u64) {
                Ok(number) => Ok(site.made(Ipv4Addr::from(number).to_string().as_bytes(), env)),
                Err(_) => Ok(wrong_address(site, env)),
            }
        },
    ),
    described(
        "inet6_aton",
        1,
        1,
        |arguments| Ok(arguments.bytes(16).nullable()),
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            let shown = std::str::from_utf8(text).unwrap_or("");
            if let Some(address) = strict_v4(shown) {
                return Ok(site.made(&address.octets(), env));
            }
            match shown.parse::<Ipv6Addr>() {
                Ok(address) => Ok(site.made(&address.octets(), env)),
                Err(_) => Ok(wrong_address(site, env)),
            }
        },
    ),
    described(
        "inet6_ntoa",
        1,
        1,
        |arguments| Ok(arguments.ascii(39).nullable()),
        |site, env| {
            let value = site.value(0, env)?;
            let Some(bytes) = value.to_text(env.arena) else { return Ok(Datum::Null) };
            if let Datum::Text(_, Collation::Binary) = value {
                if let Ok(octets) = <[u8; 4]>::try_from(bytes) {
                    return Ok(site.made(Ipv4Addr::from(octets).to_string().as_bytes(), env));
                }
                if let Ok(octets) = <[u8; 16]>::try_from(bytes) {
                    return Ok(site.made(v6_text(&octets).as_bytes(), env));
                }
            }
            Ok(wrong_address(site, env))
        },
    ),
    pure(
        "is_ipv4",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::integer(1))),
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            let text = std::str::from_utf8(text);
            Ok(Datum::Signed(text.is_ok_and(|text| strict_v4(text).is_some()).into()))
        },
    ),
    pure(
        "is_ipv6",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::integer(1))),
        |site, env| {
            let Some(text) = site.text(0, env)? else { return Ok(Datum::Null) };
            let text = std::str::from_utf8(text);
            Ok(Datum::Signed(text.is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok()).into()))
        },
    ),
    pure(
        "is_ipv4_compat",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::integer(1)).not_null()),
        |site, env| {
            let octets = site.text(0, env)?.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
            Ok(Datum::Signed(
                octets
                    .is_some_and(|octets| {
                        octets[..12] == [0; 12]
                            && u32::from_be_bytes([octets[12], octets[13], octets[14], octets[15]]) > 1
                    })
                    .into(),
            ))
        },
    ),
    pure(
        "is_ipv4_mapped",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::integer(1)).not_null()),
        |site, env| {
            let octets = site.text(0, env)?.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());
            Ok(Datum::Signed(
                octets.is_some_and(|octets| octets[..10] == [0; 10] && octets[10..12] == [0xff; 2]).into(),
            ))
        },
    ),
    pure(
        "any_value",
        1,
        1,
        |arguments| {
            let (data_type, collated) = arguments.common_type(0)?;
            let nullable = arguments.list.iter().any(|argument| argument.nullable);
            Ok(super::Typed { data_type, nullable, collated })
        },
        |site, env| site.value(0, env),
    ),
    pure(
        "format_bytes",
        1,
        1,
        |arguments| {
            arguments.numbers();
            Ok(arguments.ascii(11))
        },
        |site, env| {
            let Some(bytes) = site.double(0, env)? else { return Ok(Datum::Null) };
            let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
            Ok(site.made(scaled(bytes, 1024.0, &units, "bytes").as_bytes(), env))
        },
    ),
    pure(
        "format_pico_time",
        1,
        1,
        |arguments| {
            arguments.numbers();
            Ok(arguments.ascii(11))
        },
        |site, env| {
            let Some(time) = site.double(0, env)? else { return Ok(Datum::Null) };
            let steps: [(f64, &str); 8] = [
                (86_400e12, "d"),
                (3600e12, "h"),
                (60e12, "min"),
                (1e12, "s"),
                (1e9, "ms"),
                (1e6, "us"),
                (1e3, "ns"),
                (1.0, "ps"),
            ];
            let (unit, name) = steps.into_iter().find(|(unit, _)| time.abs() >= *unit).unwrap_or((1.0, "ps"));
            let number = time / unit;
            let text = if name == "ps" {
                format!("{:3.0} ps", number)
            } else if number.abs() >= 100_000.0 {
                format!("{number:.2e} {name}")
            } else {
                format!("{number:4.2} {name}")
            };
            Ok(site.made(text.as_bytes(), env))
        },
    ),
    pure("grouping", 1, 64, bind_integer::<21>, |_, _| Ok(Datum::Signed(0))),
];

fn scaled(number: f64, step: f64, units: &[&str], smallest: &str) -> String {
    let mut number = number;
    let mut at = 0;
    while number.abs() >= step && at + 1 < units.len() {
        number /= step;
        at += 1;
    }
    if at == 0 {
        return format!("{number:4.0} {smallest}");
    }
    if number.abs() >= 100_000.0 {
        format!("{number:.2e} {}", units[at])
    } else {
        format!("{number:4.2} {}", units[at])
    }
}

fn lock_name<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<String> {
    let name = site.text(0, env)?.map(|name| String::from_utf8_lossy(name).to_lowercase());
    match name {
        Some(name) if !name.is_empty() && name.chars().count() <= 64 => Ok(name),
        Some(name) if name.is_empty() => Err(Error::new(meseta_errors::ER_USER_LOCK_WRONG_NAME, &[&name])),
        Some(name) => Err(Error::new(
            meseta_errors::ER_USER_LOCK_OVERLONG_NAME,
            &[&name.chars().take(64).collect::<String>(), &64],
        )),
        None => Err(Error::new(meseta_errors::ER_USER_LOCK_WRONG_NAME, &[&"NULL"])),
    }
}

fn append_uuid(bytes: &[u8; 16], out: &mut Vec<u8>) {
    for (number, range) in [0..4, 4..6, 6..8, 8..10, 10..16].into_iter().enumerate() {
        if number > 0 {
            out.push(b'-');
        }
        append_hex(&bytes[range], false, out);
    }
}

fn parse_uuid(text: &[u8]) -> Option<[u8; 16]> {
    let text = match text {
        [b'{', inner @ .., b'}'] if inner.len() == 36 => inner,
        other => other,
    };
    let digits: Vec<u8> = match text.len() {
        32 => text.to_vec(),
        36 if [8, 13, 18, 23].iter().all(|at| text[*at] == b'-') => {
            let kept = text.iter().enumerate().filter(|(at, _)| ![8, 13, 18, 23].contains(at));
            kept.map(|(_, byte)| *byte).collect()
        }
        _ => return None,
    };
    let mut out = [0; 16];
    for (byte, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = (char::from(pair[0]).to_digit(16)? << 4 | char::from(pair[1]).to_digit(16)?) as u8;
    }
    Some(out)
}

fn wrong_uuid(text: &[u8], name: &str) -> Error {
    let shown = meseta_types::error::printable(text);
    SqlError::new(1411, format!("Incorrect string value: '{shown}' for function {name}")).into()
}

/// NULL, and a warning that shows the argument as it was written.
fn wrong_address<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Datum<'v> {
    let name = site.call.function.name;
    let call = site.described();
    let shown = call.get(name.len() + 1..call.len().saturating_sub(1)).unwrap_or_default();
    let kind = if name == "inet_ntoa" { "integer" } else { "string" };
    env.context.warnings.warn(SqlError::new(1411, format!("Incorrect {kind} value: '{shown}' for function {name}")));
    Datum::Null
}

/// `a.b.c.d`, where parts in the middle may be missing.
fn inet_aton(text: &[u8]) -> Option<u64> {
    let mut parts = Vec::new();
    for part in text.split(|byte| *byte == b'.') {
        let number: u64 = if part.is_empty() { 0 } else { std::str::from_utf8(part).ok()?.parse().ok()? };
        if number > 255 || !part.iter().all(u8::is_ascii_digit) {
            return None;
        }
        parts.push(number);
    }
    if parts.len() > 4 || text.is_empty() || text.ends_with(b".") {
        return None;
    }
    let last = parts.pop()?;
    let front = parts.iter().enumerate().map(|(place, part)| part << (24 - 8 * place)).sum::<u64>();
    Some(front + last)
}

/// Four numbers of up to three digits.
fn strict_v4(text: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = text.split('.').collect();
    let [a, b, c, d] = parts[..] else { return None };
    let number = |part: &str| {
        let digits = (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
        if digits { part.parse::<u8>().ok() } else { None }
    };
    Some(Ipv4Addr::new(number(a)?, number(b)?, number(c)?, number(d)?))
}

fn v6_text(octets: &[u8; 16]) -> String {
    let address = Ipv6Addr::from(*octets);
    let segments = address.segments();
    let low = u32::from(segments[6]) << 16 | u32::from(segments[7]);
    if segments[..6] == [0; 6] && low > 0xffff {
        return format!("::{}", Ipv4Addr::from(low));
    }
    address.to_string()
}
