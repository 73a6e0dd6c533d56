//! Regular expressions.
//!
//! Patterns are run by the `regex` crate: the time of a search grows with the text's length times the pattern's, whatever
//! the pattern is. What that costs is look-around and references to groups inside of a pattern: error 1235.
//!
//! Source: the manual's "Regular Expressions"; docs/decisions.

use std::cell::RefCell;
use std::rc::Rc;

use meseta_errors::{
    ER_REGEXP_BAD_ESCAPE_SEQUENCE, ER_REGEXP_BAD_INTERVAL, ER_REGEXP_ILLEGAL_ARGUMENT,
    ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR, ER_REGEXP_INVALID_RANGE, ER_REGEXP_MAX_LT_MIN, ER_REGEXP_MISMATCHED_PAREN,
    ER_REGEXP_MISSING_CLOSE_BRACKET, ER_REGEXP_PATTERN_TOO_BIG, ER_REGEXP_RULE_SYNTAX, ER_WRONG_ARGUMENTS,
};
use meseta_types::comparison::ComparisonType;
use meseta_types::{Charset, Collated, Datum};
use regex::{Regex, RegexBuilder};

use super::{Arguments, Env, Extra, Function, Site, Typed, pure};
use crate::error::{Error, Result};
use crate::expression::comparer::Comparer;
use crate::expression::typing;

/// Bytes that a compiled pattern may take.
const SIZE_LIMIT: usize = 4 << 20;
/// How deep groups may nest.
const NEST_LIMIT: u32 = 200;
/// Compiled patterns that a thread keeps.
const KEPT: usize = 16;

/// Options of a pattern: `match_type`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
struct Options {
    ignores_case: bool,
    many_lines: bool,
    dot_is_newline: bool,
}

/// Pattern, options, and what was made of them.
type Compiled = (Box<str>, Options, Rc<Regex>);

thread_local! {
    /// The patterns that were used last, the last one first.
    static PATTERNS: RefCell<Vec<Compiled>> = const { RefCell::new(Vec::new()) };
}

pub(super) static FUNCTIONS: &[Function] = &[
    pure(
        "regexp_like",
        2,
        3,
        |arguments| {
            bind_patterns(arguments, 2)?;
            Ok(arguments.typed(typing::integer(1)))
        },
        |site, env| {
            let Some(search) = Search::new(site, None, None, 2, env)? else { return Ok(Datum::Null) };
            Ok(Datum::Signed(search.regex.is_match(&search.text).into()))
        },
    ),
    pure(
        "regexp_instr",
        2,
        6,
        |arguments| {
            bind_patterns(arguments, 2)?;
            Ok(arguments.typed(typing::integer(21)))
        },
        |site, env| {
            let Some(search) = Search::new(site, Some(2), Some(3), 5, env)? else { return Ok(Datum::Null) };
            let is_end = match site.count() > 4 {
                true => match site.value(4, env)?.to_integer(env.context) {
                    None => return Ok(Datum::Null),
                    Some((0, _)) => false,
                    Some((1, _)) => true,
                    Some(_) => {
                        return Err(Error::new(ER_WRONG_ARGUMENTS, &[&"regexp_instr: return_option must be 1 or 0."]));
                    }
                },
                false => false,
            };
            let place = search.found().map_or(0, |found| {
                let at = if is_end { found.end() } else { found.start() };
                search.text[..at].chars().count() as i64 + 1
            });
            Ok(Datum::Signed(place))
        },
    ),
    pure("regexp_substr", 2, 5, bind_part, |site, env| {
        let Some(search) = Search::new(site, Some(2), Some(3), 4, env)? else { return Ok(Datum::Null) };
        match search.found() {
            Some(found) => Ok(made(site, found.as_str(), env)),
            None => Ok(Datum::Null),
        }
    }),
    pure(
        "regexp_replace",
        3,
        6,
        |arguments| {
            let collated = bind_patterns(arguments, 3)?;
            Ok(arguments.text(16_777_216, collated).nullable())
        },
        regexp_replace,
    ),
];

/// Puts the first arguments into one character set; their collation says whether case counts.
fn bind_patterns(arguments: &mut Arguments<'_, '_>, count: usize) -> Result<Collated> {
    let collated = arguments.unify(0, count)?;
    let comparer = Comparer { kind: Some(ComparisonType::Text), ..Comparer::open(collated.collation) };
    arguments.extra = Extra::Comparer(comparer);
    Ok(collated)
}

fn bind_part(arguments: &mut Arguments<'_, '_>) -> Result<Typed> {
    let collated = bind_patterns(arguments, 2)?;
    let length = arguments.characters(0);
    Ok(arguments.text(length, collated).nullable())
}

/// A text that is searched.
struct Search {
    text: String,
    regex: Rc<Regex>,
    /// Where the search begins, in bytes.
    from: usize,
    /// Which match is wanted: 1 is the first.
    occurrence: i64,
}

impl Search {
    /// Reads the arguments; `None` if one is NULL.
    fn new<'v>(
        site: Site<'v>,
        position: Option<usize>,
        occurrence: Option<usize>,
        match_type: usize,
        env: &mut Env<'v, '_>,
    ) -> Result<Option<Search>> {
        let Some(pattern) = utf8(site, 1, env)? else { return Ok(None) };
        // A pattern that is none is an error, whatever it is compared with.
        if pattern.is_empty() {
            return Err(Error::new(ER_REGEXP_ILLEGAL_ARGUMENT, &[]));
        }
        let Some(text) = utf8(site, 0, env)? else {
            compiled(&pattern, Options::default())?;
            return Ok(None);
        };
        let mut number = |argument: Option<usize>| -> Result<Option<i64>> {
            let Some(argument) = argument.filter(|&argument| argument < site.count()) else { return Ok(Some(1)) };
            let value = site.value(argument, env)?;
            let found = value.to_integer(env.context).map(|(number, _)| number);
            Ok(found.filter(|_| !value.is_null()))
        };
        let (Some(position), Some(occurrence)) = (number(position)?, number(occurrence)?) else { return Ok(None) };
        let collation = site.comparison_collation();
        let mut options =
            Options { ignores_case: collation.name().ends_with("_ci"), many_lines: false, dot_is_newline: false };
        if match_type < site.count() {
            let Some(letters) = site.text(match_type, env)? else { return Ok(None) };
            for letter in letters {
                match letter {
                    b'c' => options.ignores_case = false,
                    b'i' => options.ignores_case = true,
                    b'm' => options.many_lines = true,
                    b'n' => options.dot_is_newline = true,
                    b'u' => {}
                    _ => return Err(Error::new(ER_WRONG_ARGUMENTS, &[&site.call.function.name])),
                }
            }
        }
        let out_of_bounds = || Error::new(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR, &[]);
        let skipped = usize::try_from(position).ok().and_then(|at| at.checked_sub(1)).ok_or_else(out_of_bounds)?;
        let from = match text.char_indices().nth(skipped) {
            Some((at, _)) => at,
            None if text.chars().count() == skipped => text.len(),
            None => return Err(out_of_bounds()),
        };
        let regex = compiled(&pattern, options)?;
        Ok(Some(Search { text, regex, from, occurrence }))
    }

    /// The match that is wanted.
    fn found(&self) -> Option<regex::Match<'_>> {
        let skipped = usize::try_from(self.occurrence.max(1) - 1).unwrap_or(usize::MAX);
        // Anchors and boundaries look at the text from its beginning.
        let mut at = self.from;
        let mut found = self.regex.find_at(&self.text, at)?;
        for _ in 0..skipped {
            at = if found.end() > found.start() {
                found.end()
            } else {
                found.end() + self.text[found.end()..].chars().next()?.len_utf8()
            };
            found = self.regex.find_at(&self.text, at)?;
        }
        Some(found)
    }
}

/// An argument in UTF-8.
fn utf8<'v>(site: Site<'v>, number: usize, env: &mut Env<'v, '_>) -> Result<Option<String>> {
    let value = site.value(number, env)?;
    let Some(text) = site.text_of(number, value, env) else { return Ok(None) };
    let charset = match value {
        Datum::Text(..) | Datum::Member { .. } => value.collation().charset(),
        _ => Charset::Utf8mb4,
    };
    let mut out = Vec::with_capacity(text.len());
    match charset {
        Charset::Binary => out.extend_from_slice(text),
        charset => drop(charset.convert(text, Charset::Utf8mb4, &mut out)),
    }
    Ok(Some(String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())))
}

/// A result in the character set of the whole.
fn made<'v>(site: Site<'v>, text: &str, env: &mut Env<'v, '_>) -> Datum<'v> {
    let charset = site.expr.collated.collation.charset();
    if matches!(charset, Charset::Utf8mb4 | Charset::Binary) {
        return site.made(text.as_bytes(), env);
    }
    let mut out = Vec::with_capacity(text.len());
    Charset::Utf8mb4.convert(text.as_bytes(), charset, &mut out);
    site.made(&out, env)
}

fn compiled(pattern: &str, options: Options) -> Result<Rc<Regex>> {
    let kept = PATTERNS.with_borrow_mut(|patterns| {
        let at = patterns.iter().position(|(other, of, _)| **other == *pattern && *of == options)?;
        patterns[..=at].rotate_right(1);
        Some(Rc::clone(&patterns[0].2))
    });
    if let Some(regex) = kept {
        return Ok(regex);
    }
    let made = RegexBuilder::new(&of_unicode(pattern))
        .case_insensitive(options.ignores_case)
        .multi_line(options.many_lines)
        .dot_matches_new_line(options.dot_is_newline)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(SIZE_LIMIT)
        .nest_limit(NEST_LIMIT)
        .build();
    let regex = Rc::new(made.map_err(|error| refused(&error))?);
    PATTERNS.with_borrow_mut(|patterns| {
        patterns.truncate(KEPT - 1);
        patterns.insert(0, (pattern.into(), options, Rc::clone(&regex)));
    });
    Ok(regex)
}

/// A pattern with classes like `[:alpha:]`, which are of all of Unicode, in the library's words.
fn of_unicode(pattern: &str) -> std::borrow::Cow<'_, str> {
    const CLASSES: [(&str, &str); 7] = [
        ("[:alpha:]", r"\p{Alphabetic}"),
        ("[:digit:]", r"\p{Nd}"),
        ("[:alnum:]", r"\p{Alphabetic}\p{Nd}"),
        ("[:upper:]", r"\p{Uppercase}"),
        ("[:lower:]", r"\p{Lowercase}"),
        ("[:space:]", r"\p{White_Space}"),
        ("[:punct:]", r"\p{Punctuation}"),
    ];
    if !pattern.contains("[:") {
        return pattern.into();
    }
    CLASSES.iter().fold(pattern.to_owned(), |pattern, (class, meaning)| pattern.replace(class, meaning)).into()
}

/// MySQL's error for a pattern that is none.
fn refused(error: &regex::Error) -> Error {
    let text = match error {
        regex::Error::CompiledTooBig(_) => return Error::new(ER_REGEXP_PATTERN_TOO_BIG, &[]),
        error => error.to_string(),
    };
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if has(&["look-around", "backreferences"]) {
        return Error::not_yet("look-around and back references in regular expressions");
    }
    let code = if has(&["unclosed group", "unopened group"]) {
        ER_REGEXP_MISMATCHED_PAREN
    } else if has(&["unclosed character class"]) {
        ER_REGEXP_MISSING_CLOSE_BRACKET
    } else if has(&["invalid repetition count range"]) {
        ER_REGEXP_MAX_LT_MIN
    } else if has(&["repetition quantifier expects", "unclosed counted repetition"]) {
        ER_REGEXP_BAD_INTERVAL
    } else if has(&["escape"]) {
        ER_REGEXP_BAD_ESCAPE_SEQUENCE
    } else if has(&["invalid character class range"]) {
        ER_REGEXP_INVALID_RANGE
    } else {
        return Error::new(ER_REGEXP_RULE_SYNTAX, &[&1, &1]);
    };
    Error::new(code, &[])
}

fn regexp_replace<'v>(site: Site<'v>, env: &mut Env<'v, '_>) -> Result<Datum<'v>> {
    let Some(replacement) = utf8(site, 2, env)? else { return Ok(Datum::Null) };
    let all = match site.count() > 4 {
        true => match site.value(4, env)? {
            Datum::Null => return Ok(Datum::Null),
            value => value.to_integer(env.context).is_none_or(|(number, _)| number <= 0),
        },
        false => true,
    };
    let Some(search) = Search::new(site, Some(3), Some(4), 5, env)? else { return Ok(Datum::Null) };
    let mut out = String::with_capacity(search.text.len());
    let limit = env.host.max_allowed_packet();
    let (mut done, mut at, mut number) = (0, search.from, 0);
    while let Some(groups) = search.regex.captures_at(&search.text, at) {
        let Some(found) = groups.get(0) else { break };
        number += 1;
        if all || number == search.occurrence {
            out.push_str(&search.text[done..found.start()]);
            append_replacement(&replacement, &groups, &mut out)?;
            done = found.end();
        }
        if (!all && number >= search.occurrence) || out.len() > limit {
            break;
        }
        at = match (found.end() > found.start(), search.text[found.end()..].chars().next()) {
            (true, _) => found.end(),
            (false, Some(next)) => found.end() + next.len_utf8(),
            (false, None) => break,
        };
    }
    out.push_str(&search.text[done..]);
    Ok(made(site, &out, env))
}

/// `$1` is a group, `\x` is x itself.
fn append_replacement(replacement: &str, groups: &regex::Captures<'_>, out: &mut String) -> Result<()> {
    let mut characters = replacement.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.extend(characters.next()),
            '$' => {
                let Some(first) = characters.next().and_then(|digit| digit.to_digit(10)) else {
                    return Err(Error::new(ER_REGEXP_ILLEGAL_ARGUMENT, &[]));
                };
                let mut number = first as usize;
                if number >= groups.len() {
                    return Err(Error::new(ER_REGEXP_INDEX_OUTOFBOUNDS_ERROR, &[]));
                }
                // As many digits as there are groups for.
                while let Some(digit) = characters.peek().and_then(|digit| digit.to_digit(10)) {
                    let longer = number * 10 + digit as usize;
                    if longer >= groups.len() {
                        break;
                    }
                    number = longer;
                    characters.next();
                }
                out.push_str(groups.get(number).map_or("", |group| group.as_str()));
            }
            other => out.push(other),
        }
    }
    Ok(())
}
