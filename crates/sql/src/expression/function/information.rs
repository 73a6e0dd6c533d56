//! What a session is.
//!
//! Source: the manual's "Information Functions".

use meseta_types::{DataType, Datum};

use super::{Env, Function, Site, bind_integer, pure, statement, volatile};
use crate::error::Result;
use crate::expression::typing;

pub(super) static FUNCTIONS: &[Function] = &[
    statement(
        "version",
        0,
        0,
        |arguments| Ok(arguments.system_text(60).not_null()),
        |site, env| {
            let text = env.host.version().to_owned();
            Ok(site.made(text.as_bytes(), env))
        },
    ),
    statement("database", 0, 0, |arguments| Ok(arguments.system_text(64).nullable()), database),
    statement("schema", 0, 0, |arguments| Ok(arguments.system_text(64).nullable()), database),
    statement("user", 0, 0, |arguments| Ok(arguments.system_text(288).not_null()), user),
    statement("session_user", 0, 0, |arguments| Ok(arguments.system_text(288).not_null()), user),
    statement("system_user", 0, 0, |arguments| Ok(arguments.system_text(288).not_null()), user),
    statement(
        "current_user",
        0,
        0,
        |arguments| Ok(arguments.system_text(288).not_null()),
        |site, env| {
            let text = env.host.current_user().to_owned();
            Ok(site.made(text.as_bytes(), env))
        },
    ),
    statement(
        "current_role",
        0,
        0,
        |arguments| Ok(arguments.system_text(32_768).not_null()),
        |site, env| {
            let text = env.host.current_role().to_owned();
            Ok(site.made(text.as_bytes(), env))
        },
    ),
    statement(
        "connection_id",
        0,
        0,
        |arguments| Ok(arguments.typed(typing::unsigned(10)).not_null()),
        |_, env| Ok(Datum::Unsigned(env.host.connection_id())),
    ),
    volatile(
        "last_insert_id",
        0,
        1,
        |arguments| Ok(arguments.typed(typing::unsigned(21))),
        |site, env| {
            if site.count() == 0 {
                return Ok(Datum::Unsigned(env.host.last_insert_id()));
            }
            match site.integer(0, env)? {
                Some((number, _)) => {
                    env.host.set_last_insert_id(number as u64);
                    Ok(Datum::Unsigned(number as u64))
                }
                None => {
                    env.host.set_last_insert_id(0);
                    Ok(Datum::Null)
                }
            }
        },
    ),
    statement(
        "row_count",
        0,
        0,
        |arguments| Ok(arguments.typed(typing::integer(21)).not_null()),
        |_, env| Ok(Datum::Signed(env.host.row_count())),
    ),
    statement(
        "found_rows",
        0,
        0,
        |arguments| Ok(arguments.typed(typing::integer(21)).not_null()),
        |_, env| Ok(Datum::Signed(env.host.found_rows() as i64)),
    ),
    pure(
        "charset",
        1,
        1,
        |arguments| Ok(arguments.system_text(64).not_null()),
        |site, env| {
            let name = match site.argument(0) {
                Some(argument) if names_collation(&argument.data_type) => argument.collated.collation.charset().name(),
                _ => "binary",
            };
            Ok(site.made(name.as_bytes(), env))
        },
    ),
    pure(
        "collation",
        1,
        1,
        |arguments| Ok(arguments.system_text(64).not_null()),
        |site, env| {
            let name = match site.argument(0) {
                Some(argument) if names_collation(&argument.data_type) => argument.collated.collation.name(),
                _ => "binary",
            };
            Ok(site.made(name.as_bytes(), env))
        },
    ),
    pure(
        "coercibility",
        1,
        1,
        |arguments| Ok(arguments.typed(typing::integer(10)).not_null()),
        |site, _| Ok(Datum::Signed(site.argument(0).map_or(6, |argument| argument.collated.derivation as i64))),
    ),
    volatile("benchmark", 2, 2, bind_integer::<1>, |site, env| {
        let Some(count) = site.signed(0, env)? else { return Ok(Datum::Null) };
        if count < 0 {
            return Ok(Datum::Null);
        }
        for number in 0..count {
            site.value(1, env)?;
            if number % 1024 == 0 {
                env.host.check_killed()?;
            }
        }
        Ok(Datum::Signed(0))
    }),
    statement(
        "icu_version",
        0,
        0,
        |arguments| Ok(arguments.system_text(20).not_null()),
        |site, env| Ok(site.made(b"77.1", env)),
    ),
];

/// Whether CHARSET() names the collation: numbers and dates are binary.
fn names_collation(data_type: &DataType) -> bool {
    data_type.collation().is_some() || matches!(data_type, DataType::Json)
}

fn database<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let name = env.host.database().map(str::to_owned);
    Ok(match name {
        Some(name) => site.made(name.as_bytes(), env),
        None => Datum::Null,
    })
}

fn user<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let text = env.host.user().to_owned();
    Ok(site.made(text.as_bytes(), env))
}
