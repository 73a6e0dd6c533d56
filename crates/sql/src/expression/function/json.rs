//! JSON: making documents, and looking into them.
//!
//! Source: the manual's "JSON Functions".

use std::borrow::Cow;

use meseta_types::json::{self, Change, Element, Path, Tree};
use meseta_types::{CastType, Charset, Collated, Collation, DataType, Datum, Derivation, SqlError, cast};

use super::{Arguments, Env, Extra, Function, Site, Typed, bind_integer, bind_maybe_integer, pure};
use crate::error::{Error, Result};
use crate::expression::kind::JsonFallback;
use crate::expression::typing;

pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "json_array",
        0,
        255,
        |arguments| Ok(arguments.typed(DataType::Json).not_null()),
        |site, env| {
            let mut elements = Vec::with_capacity(site.count());
            for number in 0..site.count() {
                elements.push(tree(site, number, env)?);
            }
            document(&Tree::Array(elements), env)
        },
    ),
    pure(
        "json_object",
        0,
        255,
        |arguments| {
            if arguments.list.len() % 2 == 1 {
                return Err(Error::new(meseta_errors::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, &[&"JSON_OBJECT"]));
            }
            Ok(arguments.typed(DataType::Json).not_null())
        },
        |site, env| {
            let mut members = Vec::with_capacity(site.count() / 2);
            for number in (0..site.count()).step_by(2) {
                let key = site.value(number, env)?;
                if key.is_null() {
                    return Err(SqlError::new(3158, "JSON documents may not contain NULL member names.").into());
                }
                let key = utf8(key, env)?;
                members.push((key, tree(site, number + 1, env)?));
            }
            document(&Tree::Object(members), env)
        },
    ),
    pure(
        "json_quote",
        1,
        1,
        |arguments| {
            let collated =
                Collated { collation: Collation::Utf8mb4_0900AiCi, derivation: Derivation::Implicit, ascii: false };
            Ok(arguments.text(arguments.characters(0).saturating_mul(6).saturating_add(2), collated).nullable())
        },
        |site, env| {
            let value = site.value(0, env)?;
            if value.is_null() {
                return Ok(Datum::Null);
            }
            if !matches!(value, Datum::Text(..) | Datum::Member { .. }) {
                return Err(Error::new(meseta_errors::ER_INCORRECT_TYPE, &[&"1", &"json_quote"]));
            }
            let text = utf8(value, env)?;
            let mut out = Vec::new();
            json::append_quoted(&text, &mut out);
            Ok(site.made(&out, env))
        },
    ),
    pure(
        "json_unquote",
        1,
        1,
        |arguments| {
            let collated =
                Collated { collation: Collation::Utf8mb4Bin, derivation: Derivation::Implicit, ascii: false };
            let length = arguments.characters(0);
            Ok(arguments.text(length, collated).nullable())
        },
        |site, env| {
            let value = site.value(0, env)?;
            let mut out = Vec::new();
            match value {
                Datum::Null => return Ok(Datum::Null),
                Datum::Json(bytes) => json::unquote(bytes, &mut out),
                Datum::Signed(_) | Datum::Unsigned(_) | Datum::Double(_) | Datum::Decimal(_) => {
                    return Err(Error::new(meseta_errors::ER_INCORRECT_TYPE, &[&"1", &"json_unquote"]));
                }
                other => {
                    let text = utf8(other, env)?;
                    let is_quoted = text.len() >= 2 && text.starts_with(b"\"") && text.ends_with(b"\"");
                    let inner = match is_quoted.then(|| json::parse(&text)).transpose() {
                        Ok(Some(Tree::Text(inner))) => Some(inner.into_owned()),
                        Ok(_) => None,
                        Err(error) => return Err(invalid_text(1, "json_unquote", &error)),
                    };
                    out = inner.unwrap_or_else(|| text.into_owned());
                }
            }
            Ok(site.made(&out, env))
        },
    ),
    pure("json_valid", 1, 1, bind_maybe_integer::<1>, |site, env| {
        Ok(match site.value(0, env)? {
            Datum::Null => Datum::Null,
            Datum::Json(_) => Datum::Signed(1),
            Datum::Text(text, collation) if collation.charset() != Charset::Binary => {
                Datum::Signed(json::parse(text).is_ok().into())
            }
            _ => Datum::Signed(0),
        })
    }),
    pure(
        "json_type",
        1,
        1,
        |arguments| {
            let collated =
                Collated { collation: Collation::Utf8mb4_0900AiCi, derivation: Derivation::Implicit, ascii: true };
            Ok(arguments.text(51, collated).nullable())
        },
        |site, env| {
            let Some(bytes) = read(site, 0, env)? else { return Ok(Datum::Null) };
            Ok(site.made(Element::root(bytes).kind().name().as_bytes(), env))
        },
    ),
    pure("json_depth", 1, 1, bind_maybe_integer::<21>, |site, env| {
        Ok(read(site, 0, env)?.map_or(Datum::Null, |bytes| Datum::Signed(Element::root(bytes).depth() as i64)))
    }),
    pure(
        "json_length",
        1,
        2,
        |arguments| {
            arguments.constant_paths(1, 1);
            Ok(arguments.typed(typing::integer(21)).nullable())
        },
        |site, env| {
            // With a path it is the length of what JSON_EXTRACT finds.
            let reader = if site.count() == 2 { "json_extract" } else { "json_length" };
            let Some(bytes) = read_for(site, 0, reader, env)? else { return Ok(Datum::Null) };
            let Some(paths) = paths(site, 1, env)? else { return Ok(Datum::Null) };
            if paths.is_empty() {
                return Ok(Datum::Signed(Element::root(bytes).len() as i64));
            }
            let Some(found) = json::extract(bytes, &paths) else { return Ok(Datum::Null) };
            let found = found.to_document()?;
            Ok(Datum::Signed(Element::root(&found).len() as i64))
        },
    ),
    pure(
        "json_keys",
        1,
        2,
        |arguments| {
            arguments.constant_paths(1, 1);
            Ok(arguments.typed(DataType::Json).nullable())
        },
        |site, env| {
            let Some(bytes) = read(site, 0, env)? else { return Ok(Datum::Null) };
            let Some(paths) = paths(site, 1, env)? else { return Ok(Datum::Null) };
            refuse_wildcards(&paths)?;
            let found = match paths.first() {
                Some(path) => first(path, bytes),
                None => Some(Element::root(bytes)),
            };
            let Some(Element::Object(members)) = found else { return Ok(Datum::Null) };
            let keys = members.members().map(|(key, _)| Tree::Text(key.into())).collect();
            document(&Tree::Array(keys), env)
        },
    ),
    pure(
        "json_extract",
        2,
        255,
        |arguments| {
            arguments.constant_paths(1, 1);
            Ok(arguments.typed(DataType::Json).nullable())
        },
        |site, env| {
            let Some(bytes) = read(site, 0, env)? else { return Ok(Datum::Null) };
            let Some(paths) = paths(site, 1, env)? else { return Ok(Datum::Null) };
            match json::extract(bytes, &paths) {
                Some(tree) => document(&tree, env),
                None => Ok(Datum::Null),
            }
        },
    ),
    pure("json_contains_path", 3, 255, bind_maybe_integer::<1>, |site, env| {
        let Some(bytes) = read(site, 0, env)? else { return Ok(Datum::Null) };
        let Some(all) = one_or_all(site, env, "json_contains_path")? else { return Ok(Datum::Null) };
        let Some(paths) = paths(site, 2, env)? else { return Ok(Datum::Null) };
        let exists = |path: &Path| {
            let mut found = false;
            path.find(bytes, &mut |_| found = true);
            found
        };
        let holds = if all { paths.iter().all(exists) } else { paths.iter().any(exists) };
        Ok(Datum::Signed(holds.into()))
    }),
    pure("json_contains", 2, 3, bind_maybe_integer::<1>, |site, env| {
        let Some(bytes) = read(site, 0, env)? else { return Ok(Datum::Null) };
        let Some(wanted) = read(site, 1, env)? else { return Ok(Datum::Null) };
        let target = if site.count() == 3 {
            let Some(found) = paths(site, 2, env)? else { return Ok(Datum::Null) };
            refuse_wildcards(&found)?;
            match found.first().and_then(|path| first(path, bytes)) {
                Some(element) => element,
                None => return Ok(Datum::Null),
            }
        } else {
            Element::root(bytes)
        };
        Ok(Datum::Signed(contains(target, Element::root(wanted), 0).into()))
    }),
    pure("json_overlaps", 2, 2, bind_maybe_integer::<1>, |site, env| {
        let Some(left) = read(site, 0, env)? else { return Ok(Datum::Null) };
        let Some(right) = read(site, 1, env)? else { return Ok(Datum::Null) };
        Ok(Datum::Signed(overlaps(Element::root(left), Element::root(right)).into()))
    }),
    pure("member of", 2, 2, bind_maybe_integer::<1>, |site, env| {
        let value = site.value(0, env)?;
        let bytes = read(site, 1, env)?;
        let (false, Some(bytes)) = (value.is_null(), bytes) else { return Ok(Datum::Null) };
        let wanted = tree(site, 0, env)?;
        let found = match Element::root(bytes) {
            Element::Array(elements) => elements.values().any(|element| equal(&element.to_tree(), &wanted)),
            other => equal(&other.to_tree(), &wanted),
        };
        Ok(Datum::Signed(found.into()))
    }),
    pure(
        "json_pretty",
        1,
        1,
        |arguments| {
            let collated =
                Collated { collation: Collation::Utf8mb4_0900AiCi, derivation: Derivation::Implicit, ascii: false };
            Ok(arguments.text(u64::from(u32::MAX), collated).nullable())
        },
        |site, env| {
            let Some(bytes) = read(site, 0, env)? else { return Ok(Datum::Null) };
            let mut out = Vec::new();
            pretty(Element::root(bytes), 0, &mut out);
            Ok(site.made(&out, env))
        },
    ),
    pure("json_storage_size", 1, 1, bind_integer::<21>, |site, env| {
        Ok(read(site, 0, env)?.map_or(Datum::Null, |bytes| Datum::Signed(bytes.len() as i64)))
    }),
    pure("json_storage_free", 1, 1, bind_integer::<21>, |site, env| {
        Ok(read(site, 0, env)?.map_or(Datum::Null, |_| Datum::Signed(0)))
    }),
    pure("json_merge_patch", 2, 255, bind_json, |site, env| {
        let mut result: Option<Tree<'_>> = None;
        for number in 0..site.count() {
            let next = read(site, number, env)?.map(|bytes| Element::root(bytes).to_tree());
            result = match (number, result, next) {
                (0, _, next) => next,
                (_, _, None) => None,
                (_, _, Some(next)) if !matches!(next, Tree::Object(_)) => Some(next),
                (_, None, Some(_)) => None,
                (_, Some(before), Some(next)) => Some(merge_patch(before, next)),
            };
        }
        result.map_or(Ok(Datum::Null), |tree| document(&tree, env))
    }),
    pure("json_merge_preserve", 2, 255, bind_json, merged),
    pure("json_merge", 2, 255, bind_json, |site, env| {
        env.context.warnings.warn(SqlError::new(
            1287,
            "'JSON_MERGE' is deprecated and will be removed in a future release. Please use \
             JSON_MERGE_PRESERVE/JSON_MERGE_PATCH instead",
        ));
        merged(site, env)
    }),
    pure("json_search", 3, 255, bind_json, search),
    pure("json_value", 1, 1, bind_json, json_value),
    pure("json_set", 3, 255, bind_changes, |site, env| changed(site, Change::Set, env)),
    pure("json_insert", 3, 255, bind_changes, |site, env| changed(site, Change::Insert, env)),
    pure("json_replace", 3, 255, bind_changes, |site, env| changed(site, Change::Replace, env)),
    pure("json_array_append", 3, 255, bind_changes, |site, env| changed(site, Change::Append, env)),
    pure("json_array_insert", 3, 255, bind_changes, |site, env| changed(site, Change::InsertBetween, env)),
    pure("json_remove", 2, 255, bind_removal, |site, env| changed(site, Change::Remove, env)),
];

/// A document, and pairs of paths and values.
fn bind_changes(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    if arguments.list.len().is_multiple_of(2) {
        return Err(Error::new(meseta_errors::ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, &[&arguments.name]));
    }
    arguments.constant_paths(1, 2);
    bind_json(arguments)
}

/// A document, and paths.
fn bind_removal(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    arguments.constant_paths(1, 1);
    bind_json(arguments)
}

/// A document with changes at paths, from left to right. NULL if it or a path is. Errors: 3149 (wildcards), 3153 (`$`), 3165.
fn changed<'v>(site: Site<'v>, how: Change, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Some(given) = given(site, 0, site.call.function.name, env)? else { return Ok(Datum::Null) };
    let mut result = given.into_tree();
    let (step, mut is_null) = (if how == Change::Remove { 1 } else { 2 }, false);
    for (place, number) in (1..site.count()).step_by(step).enumerate() {
        let Some(path) = path(site, number, place, env)? else {
            is_null = true;
            continue;
        };
        if path.has_wildcard() {
            return Err(Error::new(meseta_errors::ER_INVALID_JSON_PATH_WILDCARD, &[]));
        }
        if how == Change::Remove && path.is_root() {
            return Err(Error::new(meseta_errors::ER_JSON_VACUOUS_PATH, &[]));
        }
        if how == Change::InsertBetween && !path.is_cell() {
            return Err(Error::new(meseta_errors::ER_INVALID_JSON_PATH_ARRAY_CELL, &[]));
        }
        let value = if how == Change::Remove { Tree::Null } else { tree(site, number + 1, env)? };
        if !is_null {
            json::change(&mut result, &path, how, value);
        }
    }
    if is_null { Ok(Datum::Null) } else { document(&result, env) }
}

fn bind_json(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    Ok(arguments.typed(DataType::Json).nullable())
}

/// JSON_MERGE_PRESERVE.
fn merged<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let mut result: Option<Tree<'_>> = None;
    for number in 0..site.count() {
        let Some(bytes) = read_for(site, number, "json_merge_preserve", env)? else { return Ok(Datum::Null) };
        let next = Element::root(bytes).to_tree();
        result = Some(match result {
            None => next,
            Some(before) => merge_preserve(before, next),
        });
    }
    result.map_or(Ok(Datum::Null), |tree| document(&tree, env))
}

/// The path, or the paths, of the strings of a document that are LIKE a text.
fn search<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Some(bytes) = read(site, 0, env)? else { return Ok(Datum::Null) };
    let all = match site.text(1, env)?.map(<[u8]>::to_ascii_lowercase).as_deref() {
        None => return Ok(Datum::Null),
        Some(b"one") => false,
        Some(b"all") => true,
        Some(_) => {
            let message = "The oneOrAll argument to json_search may take these values: 'one' or 'all'.";
            return Err(SqlError::new(3154, message).into());
        }
    };
    let pattern = site.value(2, env)?;
    if pattern.is_null() {
        return Ok(Datum::Null);
    }
    let pattern = utf8(pattern, env)?;
    let escape = match site.value(3, env)? {
        Datum::Null => Some(u32::from(b'\\')),
        escape => {
            let escape = utf8(escape, env)?;
            let mut characters = std::str::from_utf8(&escape).unwrap_or_default().chars();
            match (characters.next(), characters.next()) {
                (one, None) => one.map(u32::from).or(Some(u32::from(b'\\'))),
                _ => return Err(Error::new(meseta_errors::ER_WRONG_ARGUMENTS, &[&"ESCAPE"])),
            }
        }
    };
    for number in 4..site.count() {
        match site.text(number, env)? {
            None => return Ok(Datum::Null),
            Some(text) if Path::parse(text)?.is_root() => {}
            Some(_) => return Err(Error::not_yet("JSON_SEARCH at paths")),
        }
    }
    let is_it = |text: &[u8]| Collation::Utf8mb4Bin.like(text, &pattern, escape);
    let (mut at, mut found) = (String::from("$"), Vec::new());
    search_in(Element::root(bytes), &is_it, all, &mut at, 0, &mut found);
    match found.len() {
        0 => Ok(Datum::Null),
        1 => document(&found.remove(0), env),
        _ => document(&Tree::Array(found), env),
    }
}

/// Notes the path of each string for which something holds, or of the first.
fn search_in(
    element: Element<'_>,
    is_it: &dyn Fn(&[u8]) -> bool,
    all: bool,
    at: &mut String,
    depth: usize,
    found: &mut Vec<Tree<'static>>,
) {
    if depth > json::MAX_DEPTH || !all && !found.is_empty() {
        return;
    }
    let length = at.len();
    match element {
        Element::Text(text) if is_it(text) => found.push(Tree::Text(at.clone().into_bytes().into())),
        Element::Array(elements) => {
            for (number, value) in elements.values().enumerate() {
                at.push_str(&format!("[{number}]"));
                search_in(value, is_it, all, at, depth + 1, found);
                at.truncate(length);
            }
        }
        Element::Object(members) => {
            for (key, value) in members.members() {
                let name = String::from_utf8_lossy(key);
                let is_plain = name.chars().next().is_some_and(|first| first.is_alphabetic() || "_$".contains(first))
                    && name.chars().all(|character| character.is_alphanumeric() || "_$".contains(character));
                if is_plain {
                    at.push('.');
                    at.push_str(&name);
                } else {
                    let mut quoted = Vec::new();
                    json::append_quoted(key, &mut quoted);
                    at.push('.');
                    at.push_str(&String::from_utf8_lossy(&quoted));
                }
                search_in(value, is_it, all, at, depth + 1, found);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

fn invalid_text(argument: usize, name: &str, error: &json::ParseError) -> Error {
    if error.too_deep {
        return SqlError::new(3157, error.message).into();
    }
    let message = format!(
        "Invalid JSON text in argument {argument} to function {name}: \"{}\" at position {}.",
        error.message, error.position
    );
    SqlError::new(3141, message).into()
}

fn utf8<'v>(value: Datum<'v>, env: &mut Env<'v, '_>) -> Result<Cow<'v, [u8]>> {
    let text = value.to_text(env.arena).unwrap_or_default();
    let charset = match value {
        Datum::Text(..) | Datum::Member { .. } => value.collation().charset(),
        _ => Charset::Utf8mb4,
    };
    if charset == Charset::Binary {
        return Err(SqlError::new(3144, "Cannot create a JSON value from a string with CHARACTER SET 'binary'.").into());
    }
    Ok(charset.converted(text, Charset::Utf8mb4))
}

/// An argument as a document: text is parsed. Errors: 3140 and 3141 (no JSON), 3146 (of another type).
fn read<'v>(site: Site<'v>, number: usize, env: &mut Env<'v, '_>) -> Result<Option<&'v [u8]>> {
    read_for(site, number, site.call.function.name, env)
}

/// The same for a function that errors give another name.
fn read_for<'v>(site: Site<'v>, number: usize, name: &str, env: &mut Env<'v, '_>) -> Result<Option<&'v [u8]>> {
    Ok(match given(site, number, name, env)? {
        None => None,
        Some(Given::Document(bytes)) => Some(bytes),
        Some(Given::Text(tree)) => Some(env.arena.alloc_slice_copy(&tree.to_document()?)),
    })
}

/// What an argument gives that is a document, or the text of one.
enum Given<'v> {
    Document(&'v [u8]),
    /// What the text says.
    Text(Tree<'v>),
}

impl<'v> Given<'v> {
    fn into_tree(self) -> Tree<'v> {
        match self {
            Given::Document(bytes) => Element::root(bytes).to_tree(),
            Given::Text(tree) => tree,
        }
    }
}

/// An argument that is to be a document; `None` for NULL. Errors: as [`read`].
fn given<'v>(site: Site<'v>, number: usize, name: &str, env: &mut Env<'v, '_>) -> Result<Option<Given<'v>>> {
    match site.value(number, env)? {
        Datum::Null => Ok(None),
        Datum::Json(bytes) => Ok(Some(Given::Document(bytes))),
        value @ (Datum::Text(..) | Datum::Member { .. }) => {
            let text = match utf8(value, env)? {
                Cow::Borrowed(text) => text,
                Cow::Owned(text) => env.arena.alloc_slice_copy(&text),
            };
            json::parse(text)
                .map(|tree| Some(Given::Text(tree)))
                .map_err(|error| invalid_text(number + 1, name, &error))
        }
        _ => {
            let message = format!(
                "Invalid data type for JSON data in argument {} to function {}; a JSON string or JSON type is required.",
                number + 1,
                name
            );
            Err(SqlError::new(3146, message).into())
        }
    }
}

/// An argument as a value of a document: text is a text.
fn tree<'v>(site: Site<'v>, number: usize, env: &mut Env<'v, '_>) -> Result<Tree<'v>> {
    let value = site.value(number, env)?;
    Ok(crate::expression::aggregate::tree_of(value, site.argument(number)))
}

fn document<'v>(tree: &Tree<'_>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    Ok(Datum::Json(env.arena.alloc_slice_copy(&tree.to_document()?)))
}

/// The path that an argument is, which is the one at that place of the call's paths; `None` if it is NULL.
fn path<'v>(site: Site<'v>, number: usize, place: usize, env: &mut Env<'v, '_>) -> Result<Option<Cow<'v, Path>>> {
    if let Extra::Paths(constant) = &site.call.extra {
        return Ok(Some(Cow::Borrowed(&constant[place])));
    }
    Ok(site.text(number, env)?.map(Path::parse).transpose()?.map(Cow::Owned))
}

/// The paths from an argument on; `None` if one is NULL.
fn paths<'v>(site: Site<'v>, from: usize, env: &mut Env<'v, '_>) -> Result<Option<Cow<'v, [Path]>>> {
    if let Extra::Paths(constant) = &site.call.extra {
        return Ok(Some(Cow::Borrowed(constant)));
    }
    let mut out = Vec::new();
    for number in from..site.count() {
        match site.text(number, env)? {
            Some(text) => out.push(Path::parse(text)?),
            None => return Ok(None),
        }
    }
    Ok(Some(Cow::Owned(out)))
}

fn first<'d>(path: &Path, bytes: &'d [u8]) -> Option<Element<'d>> {
    let mut found = None;
    path.find(bytes, &mut |element| found = found.or(Some(element)));
    found
}

/// Error 3149 where a path may name several elements.
fn refuse_wildcards(paths: &[Path]) -> Result<()> {
    match paths.iter().any(Path::has_wildcard) {
        true => Err(Error::new(meseta_errors::ER_INVALID_JSON_PATH_WILDCARD, &[])),
        false => Ok(()),
    }
}

fn one_or_all<'v>(site: Site<'v>, env: &mut Env<'v, '_>, name: &str) -> Result<Option<bool>> {
    let Some(text) = site.text(1, env)? else { return Ok(None) };
    match text.to_ascii_lowercase().as_slice() {
        b"one" => Ok(Some(false)),
        b"all" => Ok(Some(true)),
        _ => {
            Err(SqlError::new(3150, format!("The oneOrAll argument to {name} may take these values: 'one' or 'all'."))
                .into())
        }
    }
}

fn equal(left: &Tree<'_>, right: &Tree<'_>) -> bool {
    match (left.to_document(), right.to_document()) {
        (Ok(left), Ok(right)) => json::compare(&left, &right) == std::cmp::Ordering::Equal,
        _ => false,
    }
}

fn contains(target: Element<'_>, wanted: Element<'_>, depth: usize) -> bool {
    if depth > json::MAX_DEPTH {
        return false;
    }
    match (target, wanted) {
        (Element::Array(elements), Element::Array(all)) => {
            all.values().all(|wanted| elements.values().any(|element| contains(element, wanted, depth + 1)))
        }
        (Element::Array(elements), _) => elements.values().any(|element| contains(element, wanted, depth + 1)),
        (Element::Object(members), Element::Object(all)) => all
            .members()
            .all(|(key, wanted)| members.get(key).is_some_and(|member| contains(member, wanted, depth + 1))),
        _ => equal(&target.to_tree(), &wanted.to_tree()),
    }
}

fn overlaps(left: Element<'_>, right: Element<'_>) -> bool {
    match (left, right) {
        (Element::Array(left), Element::Array(right)) => {
            left.values().any(|a| right.values().any(|b| equal(&a.to_tree(), &b.to_tree())))
        }
        (Element::Array(elements), other) | (other, Element::Array(elements)) => {
            elements.values().any(|element| equal(&element.to_tree(), &other.to_tree()))
        }
        (Element::Object(left), Element::Object(right)) => left
            .members()
            .any(|(key, value)| right.get(key).is_some_and(|other| equal(&value.to_tree(), &other.to_tree()))),
        _ => equal(&left.to_tree(), &right.to_tree()),
    }
}

fn merge_patch<'v>(target: Tree<'v>, patch: Tree<'v>) -> Tree<'v> {
    let Tree::Object(changes) = patch else { return patch };
    let mut members = match target {
        Tree::Object(members) => members,
        _ => Vec::new(),
    };
    for (key, change) in changes {
        let at = members.iter().position(|(own, _)| *own == key);
        match (at, change) {
            (Some(at), Tree::Null) => {
                members.remove(at);
            }
            (None, Tree::Null) => {}
            (Some(at), change) => {
                let before = std::mem::replace(&mut members[at].1, Tree::Null);
                members[at].1 = merge_patch(before, change);
            }
            (None, change) => members.push((key, merge_patch(Tree::Null, change))),
        }
    }
    Tree::Object(members)
}

fn merge_preserve<'v>(left: Tree<'v>, right: Tree<'v>) -> Tree<'v> {
    match (left, right) {
        (Tree::Object(mut members), Tree::Object(others)) => {
            for (key, value) in others {
                match members.iter().position(|(own, _)| *own == key) {
                    Some(at) => {
                        let before = std::mem::replace(&mut members[at].1, Tree::Null);
                        members[at].1 = merge_preserve(before, value);
                    }
                    None => members.push((key, value)),
                }
            }
            Tree::Object(members)
        }
        (left, right) => {
            let elements = |tree: Tree<'v>| match tree {
                Tree::Array(elements) => elements,
                other => vec![other],
            };
            let mut all = elements(left);
            all.extend(elements(right));
            Tree::Array(all)
        }
    }
}

fn pretty(element: Element<'_>, depth: usize, out: &mut Vec<u8>) {
    let indent = |depth: usize, out: &mut Vec<u8>| {
        out.push(b'\n');
        out.extend(std::iter::repeat_n(b' ', 2 * depth));
    };
    match element {
        Element::Array(elements) if !elements.is_empty() && depth <= json::MAX_DEPTH => {
            out.push(b'[');
            for (number, value) in elements.values().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                indent(depth + 1, out);
                pretty(value, depth + 1, out);
            }
            indent(depth, out);
            out.push(b']');
        }
        Element::Object(members) if !members.is_empty() && depth <= json::MAX_DEPTH => {
            out.push(b'{');
            for (number, (key, value)) in members.members().enumerate() {
                if number > 0 {
                    out.push(b',');
                }
                indent(depth + 1, out);
                json::append_quoted(key, out);
                out.extend_from_slice(b": ");
                pretty(value, depth + 1, out);
            }
            indent(depth, out);
            out.push(b'}');
        }
        other => other.append_text(out),
    }
}

fn json_value<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Extra::JsonValue(call) = &site.call.extra else { return Ok(Datum::Null) };
    let fallback = |given: &'v JsonFallback, error: Error, env: &mut Env<'v, '_>| match given {
        JsonFallback::Null => Ok(Datum::Null),
        JsonFallback::Error => Err(error),
        JsonFallback::Default(value) => value.evaluate(site.row, env),
    };
    let bytes = match read(site, 0, env) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Ok(Datum::Null),
        Err(error) if error.code.0 == 3141 => return fallback(&call.on_error, error, env),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    call.path.find(bytes, &mut |element| found.push(element));
    let element = match found[..] {
        [] => {
            let error = SqlError::new(3966, "No value was found by 'json_value' on the specified path.");
            return fallback(&call.on_empty, error.into(), env);
        }
        [element]
            if !matches!(element, Element::Array(_) | Element::Object(_))
                || matches!(call.target, CastType::Json | CastType::Char(..)) =>
        {
            element
        }
        _ => {
            let error = SqlError::new(3967, "More than one value was found by 'json_value' on the specified path.");
            return fallback(&call.on_error, error.into(), env);
        }
    };
    if matches!(element, Element::Null) && call.target != CastType::Json {
        return Ok(Datum::Null);
    }
    let before = env.context.warnings.clone();
    let made: &'v [u8] = env.arena.alloc_slice_copy(&element.to_tree().to_document()?);
    let value = match call.target {
        CastType::Char(..) | CastType::Binary(_) => {
            let mut text = Vec::new();
            json::unquote(made, &mut text);
            Datum::Text(env.arena.alloc_slice_copy(&text), Collation::Utf8mb4_0900AiCi)
        }
        _ => Datum::Json(made),
    };
    let cast = cast(value, call.target, env.context, env.arena, &|| "json_value".to_owned());
    match cast {
        Ok(value) if env.context.warnings.count() == before.count() => Ok(value),
        _ => {
            env.context.warnings = before;
            let error = SqlError::new(3903, "Invalid JSON value for CAST for expression json_value");
            fallback(&call.on_error, error.into(), env)
        }
    }
}
