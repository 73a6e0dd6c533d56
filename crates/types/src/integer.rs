//! Integers at the front of a text.

/// What CAST(... AS SIGNED) and AS UNSIGNED see of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParsedInteger {
    /// Its digits; `u64::MAX` if there are too many.
    pub magnitude: u64,
    /// Whether there was a minus.
    pub negative: bool,
    /// Bytes that belong to it, blanks before it included; 0 if there is no number.
    pub len: usize,
    /// It has more than 64 bits.
    pub overflow: bool,
}

/// What MySQL skips around numbers.
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// How many blanks there are from here.
pub fn blanks_at(text: &[u8], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|byte| is_space(**byte)).count()
}

/// Whether only blanks are left from here.
pub fn only_spaces(text: &[u8], from: usize) -> bool {
    text.get(from..).unwrap_or_default().iter().all(|byte| is_space(*byte))
}

/// Reads blanks, a sign, digits.
pub fn parse_integer(text: &[u8]) -> ParsedInteger {
    let blanks = blanks_at(text, 0);
    let mut at = blanks;
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let start = at;
    let mut magnitude = 0u64;
    let mut overflow = false;
    while let Some(digit) = text.get(at).filter(|byte| byte.is_ascii_digit()) {
        match magnitude.checked_mul(10).and_then(|number| number.checked_add(u64::from(digit - b'0'))) {
            Some(number) if !overflow => magnitude = number,
            _ => {
                overflow = true;
                magnitude = u64::MAX;
            }
        }
        at += 1;
    }
    ParsedInteger { magnitude, negative, len: if at == start { 0 } else { at }, overflow }
}

/// A number's text.
#[derive(Clone, Copy, Debug)]
pub struct IntegerText {
    /// At its end: there is no longer one than `u64::MAX` and `i64::MIN`.
    bytes: [u8; 20],
    at: usize,
}

impl IntegerText {
    /// The text of a number without a sign.
    pub fn of_unsigned(mut number: u64) -> Self {
        let mut text = Self { bytes: [b'0'; 20], at: 20 };
        loop {
            text.at -= 1;
            text.bytes[text.at] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return text;
            }
        }
    }

    /// The text of a number with a sign.
    pub fn of_signed(number: i64) -> Self {
        let mut text = Self::of_unsigned(number.unsigned_abs());
        if number < 0 {
            text.at -= 1;
            text.bytes[text.at] = b'-';
        }
        text
    }

    /// It.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.at..]
    }
}

/// Appends a number's digits, with at least `width` of them (ZEROFILL).
pub fn append_unsigned(number: u64, width: usize, out: &mut Vec<u8>) {
    let text = IntegerText::of_unsigned(number);
    out.extend(std::iter::repeat_n(b'0', width.saturating_sub(text.as_bytes().len())));
    out.extend_from_slice(text.as_bytes());
}

/// Appends a number's text.
pub fn append_signed(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(IntegerText::of_signed(number).as_bytes());
}

impl ParsedInteger {
    /// The bits of the 64-bit number, and whether it is a positive one beyond the signed range. Too small: the
    /// smallest.
    pub fn signed(&self) -> (i64, bool) {
        match self.negative {
            false => (self.magnitude as i64, self.magnitude > i64::MAX as u64),
            true if self.magnitude > 1 << 63 => (i64::MIN, false),
            true => ((self.magnitude as i64).wrapping_neg(), false),
        }
    }
}
