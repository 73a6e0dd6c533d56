//! FLOAT and DOUBLE as text.
//!
//! | | digits | exponent |
//! |---|---|---|
//! | DOUBLE | the fewest that name this double and no other | below 1e-15; from 1e15 on, unless there are decimals |
//! | FLOAT | six | the same |
//! | in text made by a conversion | the same | also where 22 (FLOAT: 12) characters are not enough |
//! | DOUBLE(m, d), FLOAT(m, d) | `d` decimals | never |
//! | in a column of fewer characters | as many as there is room for | where that shows more of them |
//!
//! # Source
//! MySQL Reference Manual, "Floating-Point Types (Approximate Value) - FLOAT, DOUBLE"; limits by experiment.

use std::io::Write;

use crate::integer::is_space;

/// Appends a DOUBLE as a client sees it.
pub fn append_double(number: f64, out: &mut Vec<u8>) {
    append_double_within(number, usize::MAX, out);
}

/// Appends a DOUBLE as a conversion to text writes it.
pub fn append_double_as_text(number: f64, out: &mut Vec<u8>) {
    append_double_within(number, 22, out);
}

fn append_double_within(number: f64, width: usize, out: &mut Vec<u8>) {
    // A whole number of moderate size is the usual case.
    if number.trunc() == number && number.abs() < 1e15 && (number != 0.0 || number.is_sign_positive()) {
        return crate::integer::append_signed(number as i64, out);
    }
    let mut text = [0u8; 40];
    append_arranged(written(&mut text, |mut to| write!(to, "{number:e}")), width, out);
}

/// Appends a FLOAT as a client sees it.
pub fn append_float(number: f32, out: &mut Vec<u8>) {
    let mut text = [0u8; 40];
    append_arranged(written(&mut text, |mut to| write!(to, "{number:.5e}")), usize::MAX, out);
}

/// Appends a FLOAT as a conversion to text writes it.
pub fn append_float_as_text(number: f32, out: &mut Vec<u8>) {
    let mut text = [0u8; 40];
    append_arranged(written(&mut text, |mut to| write!(to, "{number:.5e}")), 12, out);
}

/// Appends a number with so many decimals.
pub fn append_fixed(number: f64, decimals: u8, out: &mut Vec<u8>) {
    let decimals = usize::from(decimals.min(30));
    // Digits that are not known are zeros. (Writing to memory does not fail.)
    let start = out.len();
    let _ = write!(out, "{number}");
    let shortest = out[start..].iter().position(|byte| *byte == b'.').map_or(0, |at| out.len() - start - at - 1);
    if shortest > decimals {
        out.truncate(start);
        let _ = write!(out, "{number:.decimals$}");
        return;
    }
    if shortest == 0 && decimals > 0 {
        out.push(b'.');
    }
    out.extend(std::iter::repeat_n(b'0', decimals - shortest));
}

/// A number as a text of at most so many characters, with as many of its digits as there is room for, rounded; and whether there is room.
/// Otherwise it is one digit and its exponent, which may be longer.
pub fn text_within(number: f64, width: usize) -> (String, bool) {
    if number.is_sign_negative() {
        let (text, fits) = text_within(-number, width.saturating_sub(1));
        return if text == "0" { (text, fits) } else { (format!("-{text}"), fits) };
    }
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let significant = |text: &str| text.trim_start_matches(['0', '.']).bytes().filter(u8::is_ascii_digit).count();
    let mut plain = (0..width).rev().map(|decimals| trimmed(&format!("{number:.decimals$}")));
    let plain = plain.find(|text| text.len() <= width).filter(|text| text != "0" || number >= 1e-3);
    let shortest = format!("{number:e}");
    let Some((digits, exponent)) = shortest.split_once('e') else { return (shortest, false) };
    let all = digits.len().saturating_sub(usize::from(digits.len() > 1));
    let shown = width.saturating_sub(usize::from(all > 1) + "e".len() + exponent.len()).min(all);
    let with_exponent = format!("{number:.*e}", shown.max(1) - 1);
    let Some((digits, exponent)) = with_exponent.split_once('e') else { return (shortest, false) };
    let digits = trimmed(digits);
    match plain {
        Some(plain) if shown == 0 || significant(&plain) >= significant(&digits) => (plain, true),
        None if shown == 0 => {
            // (Rounded it may be shorter: 999.9 is 1e3.)
            let whole = number.round_ties_even();
            let rounded = (whole != number && whole > 0.0).then(|| text_within(whole, width));
            rounded.filter(|(_, fits)| *fits).unwrap_or_else(|| (format!("{digits}e{exponent}"), false))
        }
        _ => (format!("{digits}e{exponent}"), true),
    }
}

fn written(text: &mut [u8; 40], write: impl FnOnce(&mut [u8]) -> std::io::Result<()>) -> &[u8] {
    let _ = write(&mut text[..]);
    let len = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    &text[..len]
}

/// Whether a number is written without an exponent: if that is not too wide, and shows no digits that are not known.
fn fits_plain(exponent: i32, digits: usize, width: usize) -> bool {
    match exponent {
        ..-15 => false,
        -15..0 => 1 + (-exponent) as usize + digits <= width,
        0..15 => digits.max(exponent as usize + 1) + usize::from(digits > exponent as usize + 1) <= width,
        _ => digits > exponent as usize + 1 && digits < width,
    }
}

/// Puts `-1.2345e-3` into MySQL's form.
fn append_arranged(text: &[u8], width: usize, out: &mut Vec<u8>) {
    let (negative, text) = text.strip_prefix(b"-").map_or((false, text), |rest| (true, rest));
    let Some(at) = text.iter().position(|byte| *byte == b'e') else {
        // Infinities and "not a number" do not come to be in MySQL.
        out.push(b'0');
        return;
    };
    let exponent = std::str::from_utf8(&text[at + 1..]).ok().and_then(|text| text.parse::<i32>().ok()).unwrap_or(0);
    let mut digits = [0u8; 32];
    let mut count = 0;
    for digit in text[..at].iter().filter(|byte| **byte != b'.').take(32) {
        digits[count] = *digit;
        count += 1;
    }
    while count > 1 && digits[count - 1] == b'0' {
        count -= 1;
    }
    let digits = &digits[..count];
    if negative {
        out.push(b'-');
    }
    if digits == b"0" {
        out.push(b'0');
    } else if !fits_plain(exponent, count, width - usize::from(negative)) {
        out.push(digits[0]);
        if count > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        crate::integer::append_signed(exponent.into(), out);
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        out.extend_from_slice(digits);
    } else {
        let whole = exponent as usize + 1;
        out.extend_from_slice(&digits[..whole.min(count)]);
        out.extend(std::iter::repeat_n(b'0', whole.saturating_sub(count)));
        if count > whole {
            out.push(b'.');
            out.extend_from_slice(&digits[whole..]);
        }
    }
}

/// A number at the front of a text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParsedDouble {
    /// The number; if it was too large, the largest there is.
    pub value: f64,
    /// Bytes that belong to it, blanks before it included; 0 if there is no number.
    pub len: usize,
    /// It was too large.
    pub overflow: bool,
}

/// Reads blanks, a sign, digits with a point, an exponent.
pub fn parse_double(text: &[u8]) -> ParsedDouble {
    let start = text.iter().take_while(|byte| is_space(**byte)).count();
    let digits = |from: usize| text.get(from..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = start + usize::from(matches!(text.get(start), Some(b'-' | b'+')));
    let whole = digits(at);
    at += whole;
    let mut any = whole;
    if text.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        any += fraction;
        at += 1 + fraction;
    }
    if any == 0 {
        return ParsedDouble { value: 0.0, len: 0, overflow: false };
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
        let exponent = digits(at + 1 + sign);
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    let number = std::str::from_utf8(&text[start..at]).ok().and_then(|text| text.parse::<f64>().ok()).unwrap_or(0.0);
    if number.is_infinite() {
        return ParsedDouble { value: f64::MAX.copysign(number), len: at, overflow: true };
    }
    ParsedDouble { value: number, len: at, overflow: false }
}

/// Rounds to so many decimals; below zero: to tens, hundreds, ... Halves go to the even neighbour where they are exact,
/// as the processor rounds.
pub fn round_double(number: f64, decimals: i32, truncate: bool) -> f64 {
    if !number.is_finite() || decimals > 308 {
        return number;
    }
    let power = 10f64.powi(decimals.unsigned_abs().min(400) as i32);
    let step = |number: f64| if truncate { number.trunc() } else { number.round_ties_even() };
    if decimals < 0 {
        if power.is_infinite() { 0.0 } else { step(number / power) * power }
    } else {
        let scaled = number * power;
        if scaled.is_finite() { step(scaled) / power } else { number }
    }
}

/// The nearest signed integer, as the processor rounds; out of range: the bound, and false.
pub fn to_signed(number: f64) -> (i64, bool) {
    let rounded = number.round_ties_even();
    (rounded as i64, (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&rounded))
}

/// The nearest unsigned integer, as the processor rounds; out of range: the bound, and false.
pub fn to_unsigned(number: f64) -> (u64, bool) {
    let rounded = number.round_ties_even();
    (rounded as u64, (0.0..18_446_744_073_709_551_616.0).contains(&rounded))
}
