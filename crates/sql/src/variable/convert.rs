//! From what SET was given to a value of the variable's type.
//!
//! Numbers that are out of range are cut to it, with warning 1292; what is of the wrong type is error 1232, what the
//! type does not have is error 1231.

use meseta_errors::{ER_TRUNCATED_WRONG_VALUE, ER_WRONG_TYPE_FOR_VAR, ER_WRONG_VALUE_FOR_VAR};
use meseta_types::{SqlError, Warnings};

use super::registry::{Definition, Kind};
use super::value::{Input, Value};
use crate::error::{Error, Result};

/// 1231.
pub(super) fn wrong_value(definition: &Definition, value: &dyn std::fmt::Display) -> Error {
    Error::new(ER_WRONG_VALUE_FOR_VAR, &[&definition.name, value])
}

/// 1232.
pub(super) fn wrong_type(definition: &Definition) -> Error {
    Error::new(ER_WRONG_TYPE_FOR_VAR, &[&definition.name])
}

/// The text of a text.
pub(super) fn text_of(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// A value of the variable's type. `current` is what flags that are not named keep; `input` is not DEFAULT.
pub(super) fn convert(
    definition: &Definition,
    input: Input<'_>,
    current: &Value,
    warnings: &mut Warnings,
) -> Result<Value> {
    match &definition.kind {
        Kind::Boolean => match input {
            Input::Signed(number @ 0..=1) => Ok(Value::Signed(number)),
            Input::Text(text) if text.eq_ignore_ascii_case(b"ON") => Ok(Value::Signed(1)),
            Input::Text(text) if text.eq_ignore_ascii_case(b"OFF") => Ok(Value::Signed(0)),
            Input::Fraction(_) => Err(wrong_type(definition)),
            other => Err(wrong_value(definition, &other)),
        },
        &Kind::Integer { signed, low, high, block } => {
            let given = match input {
                Input::Signed(number) => i128::from(number),
                Input::Unsigned(number) => i128::from(number),
                _ => return Err(wrong_type(definition)),
            };
            let cut = given.clamp(low, high.max(low));
            let cut = cut - cut.rem_euclid(i128::from(block.max(1)));
            if cut != given {
                truncated(definition, &input, warnings);
            }
            // The ranges of the table fit their types.
            Ok(if signed { Value::Signed(cut as i64) } else { Value::Unsigned(cut as u64) })
        }
        &Kind::Double { low, high } => {
            let given = match input {
                Input::Signed(number) => number as f64,
                Input::Unsigned(number) => number as f64,
                Input::Fraction(number) => number,
                _ => return Err(wrong_type(definition)),
            };
            let cut = if high > low { given.clamp(low, high) } else { given };
            if cut != given {
                truncated(definition, &input, warnings);
            }
            let rounded = (cut * 1e6).round() / 1e6;
            Ok(Value::Double(if rounded.is_finite() { rounded } else { cut }))
        }
        Kind::Enumeration(members) => {
            let member = match input {
                Input::Signed(number) => usize::try_from(number).ok().and_then(|at| members.get(at)),
                Input::Text(text) => members.iter().find(|member| text.eq_ignore_ascii_case(member.as_bytes())),
                Input::Fraction(_) => return Err(wrong_type(definition)),
                _ => None,
            };
            member.map(|member| Value::text(member)).ok_or_else(|| wrong_value(definition, &input))
        }
        Kind::Set(members) => {
            let mut bits = 0_u64;
            match input {
                Input::Signed(number) if number >= 0 && (number as u64) < 1 << members.len().min(63) => {
                    bits = number as u64;
                }
                Input::Text(text) => {
                    for name in text_of(text).split(',').filter(|name| !name.is_empty()) {
                        let end = name.trim_end_matches(' ');
                        let at = members.iter().position(|member| member.eq_ignore_ascii_case(end));
                        bits |= 1
                            << at
                                .ok_or_else(|| Error::new(ER_WRONG_VALUE_FOR_VAR, &[&definition.new_name(), &name]))?;
                    }
                }
                Input::Fraction(_) => return Err(wrong_type(definition)),
                _ => return Err(wrong_value(definition, &input)),
            }
            let named = members.iter().enumerate().filter(|(at, _)| bits >> at & 1 != 0).map(|(_, name)| *name);
            Ok(Value::Text(named.collect::<Vec<_>>().join(",").into()))
        }
        Kind::Flags(members) => flags(definition, members, input, current),
        Kind::Text => match input {
            Input::Null => Ok(Value::Null),
            Input::Text(text) => Ok(Value::text(&text_of(text))),
            _ => Err(wrong_type(definition)),
        },
    }
}

fn truncated(definition: &Definition, input: &Input<'_>, warnings: &mut Warnings) {
    let text = ER_TRUNCATED_WRONG_VALUE.message(&[&definition.new_name(), input]);
    warnings.warn(SqlError::new(ER_TRUNCATED_WRONG_VALUE.0, text));
}

/// `name=on|off|default`, or `default` alone, with commas; each name at most once. What is not named stays.
fn flags(definition: &Definition, members: &[&'static str], input: Input<'_>, current: &Value) -> Result<Value> {
    let read = |value: &Value| {
        let mut bits = 0_u64;
        for (at, pair) in value.as_text().split(',').take(members.len().min(64)).enumerate() {
            bits |= u64::from(pair.ends_with("=on")) << at;
        }
        bits
    };
    let defaults = read(&definition.default);
    let mut bits = match input {
        Input::Text(text) => {
            let text = text_of(text);
            let mut bits = read(current);
            let (mut named, mut all) = (0_u64, false);
            for item in text.split(',').filter(|item| !item.is_empty()) {
                let wrong = || wrong_value(definition, &item);
                if item.eq_ignore_ascii_case("default") {
                    if all {
                        return Err(wrong());
                    }
                    all = true;
                    bits = (bits & named) | (defaults & !named);
                    continue;
                }
                let (name, word) = item.split_once('=').ok_or_else(wrong)?;
                let at = members.iter().position(|member| member.eq_ignore_ascii_case(name)).ok_or_else(wrong)?;
                let bit = 1 << at;
                let is = |full: &str| {
                    !word.is_empty() && full.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word))
                };
                let on = match () {
                    () if is("off") => false,
                    () if is("on") => true,
                    () if is("default") => defaults & bit != 0,
                    () => return Err(wrong()),
                };
                if named & bit != 0 {
                    return Err(wrong());
                }
                named |= bit;
                bits = if on { bits | bit } else { bits & !bit };
            }
            bits
        }
        Input::Signed(number) if number >= 0 && (number as u64) < 1 << members.len().min(63) => number as u64,
        Input::Fraction(_) => return Err(wrong_type(definition)),
        _ => return Err(wrong_value(definition, &input)),
    };
    let mut text = String::new();
    for member in members {
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(member);
        text.push_str(if bits & 1 != 0 { "=on" } else { "=off" });
        bits >>= 1;
    }
    Ok(Value::Text(text.into()))
}
