//! Decimals as text.
//!
//! # Source
//! MySQL Reference Manual, "Numeric Literals".

use std::fmt;

use super::Decimal;
use super::wide::Wide;

/// What reading a decimal found.
#[derive(Clone, Copy, Debug)]
pub struct ParsedDecimal {
    /// The number at the front of the text; zero if there is none.
    pub value: Decimal,
    /// Bytes that belong to it, blanks before it included; 0 if there is no number.
    pub len: usize,
    /// It was too large; the value is the largest there is.
    pub overflow: bool,
    /// It had more decimals than a value keeps.
    pub truncated: bool,
}

impl Decimal {
    /// Reads the number at the front of a text: blanks, a sign, digits with a point, an exponent.
    pub fn parse(text: &[u8]) -> ParsedDecimal {
        let blanks = text.iter().take_while(|byte| crate::integer::is_space(**byte)).count();
        let mut at = blanks;
        let negative = text.get(at) == Some(&b'-');
        if matches!(text.get(at), Some(b'-' | b'+')) {
            at += 1;
        }
        let whole = digits_at(text, at);
        at += whole.len();
        let fraction = if text.get(at) == Some(&b'.') {
            let fraction = digits_at(text, at + 1);
            if whole.is_empty() && fraction.is_empty() {
                &[]
            } else {
                at += 1 + fraction.len();
                fraction
            }
        } else {
            &[]
        };
        if whole.is_empty() && fraction.is_empty() {
            return ParsedDecimal { value: Decimal::ZERO, len: 0, overflow: false, truncated: false };
        }
        let mut exponent = 0i64;
        if matches!(text.get(at), Some(b'e' | b'E')) {
            let signed = matches!(text.get(at + 1), Some(b'-' | b'+'));
            let digits = digits_at(text, at + 1 + usize::from(signed));
            if !digits.is_empty() {
                let size = digits.iter().fold(0i64, |size, digit| (size * 10 + i64::from(digit - b'0')).min(100_000));
                exponent = if text[at + 1] == b'-' { -size } else { size };
                at += 1 + usize::from(signed) + digits.len();
            }
        }
        let (value, overflow, truncated) = assemble(whole, fraction, exponent, negative);
        ParsedDecimal { value, len: at, overflow, truncated }
    }

    /// Reads a text that is a number and nothing else.
    pub fn parse_exact(text: &str) -> Option<Decimal> {
        let parsed = Decimal::parse(text.as_bytes());
        (parsed.len == text.len() && parsed.len > 0 && !parsed.overflow).then_some(parsed.value)
    }
}

fn digits_at(text: &[u8], at: usize) -> &[u8] {
    let rest = text.get(at..).unwrap_or_default();
    &rest[..rest.iter().take_while(|byte| byte.is_ascii_digit()).count()]
}

fn assemble(whole: &[u8], fraction: &[u8], exponent: i64, negative: bool) -> (Decimal, bool, bool) {
    let whole_start = whole.iter().take_while(|digit| **digit == b'0').count();
    let whole = &whole[whole_start..];
    if exponent == 0 && whole.len() + fraction.len() <= 38 {
        let magnitude = whole.iter().chain(fraction).fold(0u128, |sum, digit| sum * 10 + u128::from(digit - b'0'));
        return (Decimal::small(magnitude, fraction.len() as u8, negative), false, false);
    }
    let mut magnitude = Wide::ZERO;
    let mut taken = 0u32;
    let mut scale = -exponent;
    let mut truncated = false;
    for (place, digit) in whole.iter().chain(fraction).enumerate() {
        let is_fraction = place >= whole.len();
        // Digits that cannot matter: more than a value has.
        if taken >= Decimal::VALUE_DIGITS {
            truncated |= *digit != b'0';
            scale -= i64::from(!is_fraction);
            continue;
        }
        magnitude.mul_add_small(10, u64::from(digit - b'0'));
        taken += u32::from(taken > 0 || *digit != b'0');
        scale += i64::from(is_fraction);
    }
    if magnitude.is_zero() {
        return (Decimal::small(0, scale.clamp(0, 30) as u8, false), false, truncated);
    }
    if scale < 0 {
        let missing = -scale;
        if i64::from(taken) + missing > i64::from(Decimal::MAX_DIGITS) + 1 {
            return (Decimal::limit(65, 0, negative), true, false);
        }
        magnitude.scale_up(missing as u32);
        scale = 0;
    }
    if i64::from(magnitude.digits()) - scale > i64::from(Decimal::MAX_DIGITS) {
        return (Decimal::limit(65, 0, negative), true, false);
    }
    let room = i64::from(Decimal::VALUE_SCALE);
    if scale > room {
        truncated = true;
        magnitude.scale_down((scale - room).min(153) as u32);
        scale = room;
    }
    match Decimal::from_wide(magnitude, scale as u32, negative) {
        Ok(value) => (value, false, truncated),
        Err(_) => (Decimal::limit(65, 0, negative), true, false),
    }
}

impl Decimal {
    /// Appends the text: a sign, digits, and as many decimals as the scale says.
    pub fn append_text(&self, out: &mut Vec<u8>) {
        let mut digits = [b'0'; 160];
        let mut at = digits.len();
        let scale = usize::from(self.scale);
        let mut write = |digit: u8, count: &mut usize, at: &mut usize| {
            if *count == scale && scale > 0 {
                *at -= 1;
                digits[*at] = b'.';
            }
            *at -= 1;
            digits[*at] = b'0' + digit;
            *count += 1;
        };
        let mut count = 0;
        let mut wide = self.wide();
        loop {
            // Nineteen digits at a time: divisions of 64 bits are cheap.
            let mut part = match (wide.0[1..].iter().all(|&limb| limb == 0), wide.0[0]) {
                (true, low) if low < 10_000_000_000_000_000_000 => {
                    wide = Wide::ZERO;
                    low
                }
                _ => wide.div_small(10_000_000_000_000_000_000),
            };
            let last = wide.is_zero();
            let mut left = 19;
            while if last { part > 0 } else { left > 0 } {
                write((part % 10) as u8, &mut count, &mut at);
                part /= 10;
                left -= 1;
            }
            if last {
                break;
            }
        }
        while count <= scale {
            write(0, &mut count, &mut at);
        }
        if self.is_negative() {
            at -= 1;
            digits[at] = b'-';
        }
        out.extend_from_slice(&digits[at..]);
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = Vec::with_capacity(40);
        self.append_text(&mut out);
        f.write_str(std::str::from_utf8(&out).unwrap_or_default())
    }
}
