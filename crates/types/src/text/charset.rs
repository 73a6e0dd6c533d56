//! Character sets: how characters are bytes.
//!
//! | | bytes of a character | characters |
//! |---|---|---|
//! | utf8mb4 | 1 to 4 | all of Unicode |
//! | utf8mb3 | 1 to 3 | the Basic Multilingual Plane |
//! | latin1 | 1 | cp1252 (with control characters in its holes) |
//! | ascii | 1 | 0 to 127 |
//! | binary | 1 | none: bytes |
//!
//! # Invariants
//! 1. Any bytes can be asked about. A byte that begins no character counts as one.
//!
//! # Source
//! MySQL Reference Manual, "Character Sets, Collations, Unicode".

use std::borrow::Cow;

use super::collation::Collation;
use super::table::LATIN1_UNICODE;
use crate::error::{SqlError, number};

/// A character set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum Charset {
    Utf8mb4,
    Utf8mb3,
    Latin1,
    Ascii,
    Binary,
}

/// What a conversion between character sets came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Converted {
    /// Characters that the target does not have, or bytes that were no character: each became a question mark.
    pub replaced: usize,
    /// Where in the source the first of them was.
    pub first: usize,
}

impl Charset {
    /// All there are.
    pub const ALL: [Charset; 5] =
        [Charset::Utf8mb4, Charset::Utf8mb3, Charset::Latin1, Charset::Ascii, Charset::Binary];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Charset::Utf8mb4 => "utf8mb4",
            Charset::Utf8mb3 => "utf8mb3",
            Charset::Latin1 => "latin1",
            Charset::Ascii => "ascii",
            Charset::Binary => "binary",
        }
    }

    /// The one with this name (`utf8` is utf8mb3, still); error 1115 if there is none.
    pub fn parse(name: &str) -> Result<Charset, SqlError> {
        if name.eq_ignore_ascii_case("utf8") {
            return Ok(Charset::Utf8mb3);
        }
        Self::ALL
            .into_iter()
            .find(|charset| charset.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| SqlError::new(number::UNKNOWN_CHARACTER_SET, format!("Unknown character set: '{name}'")))
    }

    /// The collation it has if none is named.
    pub const fn default_collation(self) -> Collation {
        match self {
            Charset::Utf8mb4 => Collation::Utf8mb4_0900AiCi,
            Charset::Utf8mb3 => Collation::Utf8mb3GeneralCi,
            Charset::Latin1 => Collation::Latin1SwedishCi,
            Charset::Ascii => Collation::AsciiGeneralCi,
            Charset::Binary => Collation::Binary,
        }
    }

    /// The collation of its code points.
    pub const fn binary_collation(self) -> Collation {
        match self {
            Charset::Utf8mb4 => Collation::Utf8mb4Bin,
            Charset::Utf8mb3 => Collation::Utf8mb3Bin,
            Charset::Latin1 => Collation::Latin1Bin,
            Charset::Ascii => Collation::AsciiBin,
            Charset::Binary => Collation::Binary,
        }
    }

    /// The most bytes that a character has.
    pub const fn max_len(self) -> u32 {
        match self {
            Charset::Utf8mb4 => 4,
            Charset::Utf8mb3 => 3,
            _ => 1,
        }
    }

    /// Whether it is an encoding of Unicode.
    pub const fn is_unicode(self) -> bool {
        matches!(self, Charset::Utf8mb4 | Charset::Utf8mb3)
    }

    /// The character at the front, and its length; `None` if there is none. Text is not empty.
    #[inline]
    pub fn decode(self, text: &[u8]) -> (Option<u32>, usize) {
        let Some(&first) = text.first() else { return (None, 0) };
        match self {
            Charset::Binary => (Some(first.into()), 1),
            Charset::Latin1 => (Some(LATIN1_UNICODE[usize::from(first)].into()), 1),
            _ if first < 0x80 => (Some(first.into()), 1),
            Charset::Ascii => (None, 1),
            Charset::Utf8mb4 => decode_utf8(text),
            Charset::Utf8mb3 => match decode_utf8(text) {
                (Some(_), 4) => (None, 1),
                decoded => decoded,
            },
        }
    }

    /// Appends a character; false if the character set does not have it.
    pub fn encode(self, code_point: u32, out: &mut Vec<u8>) -> bool {
        match self {
            Charset::Binary => u8::try_from(code_point).map(|byte| out.push(byte)).is_ok(),
            Charset::Ascii if code_point < 0x80 => {
                out.push(code_point as u8);
                true
            }
            Charset::Ascii => false,
            Charset::Latin1 => {
                let byte = if code_point < 0x80 {
                    Some(code_point as u8)
                } else {
                    (128..=255u8).find(|byte| u32::from(LATIN1_UNICODE[usize::from(*byte)]) == code_point)
                };
                byte.map(|byte| out.push(byte)).is_some()
            }
            Charset::Utf8mb3 if code_point > 0xffff => false,
            Charset::Utf8mb3 | Charset::Utf8mb4 => match char::from_u32(code_point) {
                Some(character) => {
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    true
                }
                None => false,
            },
        }
    }

    /// Bytes at the front that are whole characters; all of them if the text is well formed.
    pub fn valid_len(self, text: &[u8]) -> usize {
        match self {
            Charset::Binary | Charset::Latin1 => text.len(),
            Charset::Ascii => text.iter().position(|byte| !byte.is_ascii()).unwrap_or(text.len()),
            Charset::Utf8mb4 | Charset::Utf8mb3 => {
                let valid = match std::str::from_utf8(text) {
                    Ok(_) => text.len(),
                    Err(error) => error.valid_up_to(),
                };
                if self == Charset::Utf8mb4 {
                    return valid;
                }
                text[..valid].iter().position(|byte| *byte >= 0xf0).unwrap_or(valid)
            }
        }
    }

    /// How many characters.
    pub fn char_count(self, text: &[u8]) -> usize {
        match self {
            Charset::Utf8mb4 | Charset::Utf8mb3 => {
                // Bytes that do not continue a character: right for well-formed text, which is what there is.
                text.iter().filter(|byte| (**byte as i8) >= -64).count()
            }
            _ => text.len(),
        }
    }

    /// Where the character with this number (from 0) begins; the length of the text if there are not so many.
    pub fn char_offset(self, text: &[u8], number: usize) -> usize {
        if self.max_len() == 1 {
            return number.min(text.len());
        }
        if number >= text.len() {
            return text.len();
        }
        let mut at = 0;
        for _ in 0..number {
            if at >= text.len() {
                break;
            }
            at += if text[at] < 0x80 { 1 } else { self.decode(&text[at..]).1 };
        }
        at
    }

    /// Some characters of a text: from one (from 0), so many.
    pub fn substring(self, text: &[u8], from: usize, count: usize) -> &[u8] {
        let start = self.char_offset(text, from);
        let end = start + self.char_offset(&text[start..], count);
        &text[start..end]
    }

    /// The characters of a text, backwards.
    pub fn append_reversed(self, text: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let mut at = 0;
        while at < text.len() {
            let len = self.decode(&text[at..]).1.max(1);
            out.extend(text[at..at + len].iter().rev());
            at += len;
        }
        out[start..].reverse();
    }

    /// Whether bytes mean the same in another character set, so that nothing has to be converted.
    pub fn is_same_in(self, to: Charset, text: &[u8]) -> bool {
        match (self, to) {
            (from, to) if from == to => true,
            (Charset::Utf8mb3, Charset::Utf8mb4) | (_, Charset::Binary) => true,
            _ => text.is_ascii(),
        }
    }

    /// A text in another character set, as [`Charset::convert`] makes it: the same bytes where nothing has to be converted.
    pub fn converted(self, text: &[u8], to: Charset) -> Cow<'_, [u8]> {
        if self == Charset::Binary || self.is_same_in(to, text) {
            return Cow::Borrowed(text);
        }
        let mut out = Vec::with_capacity(text.len());
        self.convert(text, to, &mut out);
        Cow::Owned(out)
    }

    /// Appends a text in another character set; what the other does not have becomes a question mark.
    ///
    /// From binary, bytes are taken as they are.
    pub fn convert(self, text: &[u8], to: Charset, out: &mut Vec<u8>) -> Converted {
        let mut result = Converted::default();
        if self == Charset::Binary || self.is_same_in(to, text) {
            out.extend_from_slice(text);
            return result;
        }
        let mut at = 0;
        while at < text.len() {
            let (code_point, len) = self.decode(&text[at..]);
            if !code_point.is_some_and(|code_point| to.encode(code_point, out)) {
                out.push(b'?');
                if result.replaced == 0 {
                    result.first = at;
                }
                result.replaced += 1;
            }
            at += len.max(1);
        }
        result
    }

    /// The error if a text is not well formed: 1300.
    pub fn check(self, text: &[u8]) -> Result<(), SqlError> {
        let valid = self.valid_len(text);
        if valid == text.len() {
            return Ok(());
        }
        let bytes: String = text[valid..].iter().take(6).map(|byte| format!("{byte:02X}")).collect();
        let name = self.name();
        Err(SqlError::new(number::INVALID_CHARACTER_STRING, format!("Invalid {name} character string: '{bytes}'")))
    }
}

fn decode_utf8(text: &[u8]) -> (Option<u32>, usize) {
    let continued = |at: usize| text.get(at).filter(|byte| **byte & 0xc0 == 0x80).map(|byte| u32::from(byte & 0x3f));
    let first = u32::from(text[0]);
    let decoded = match text[0] {
        0xc2..=0xdf => continued(1).map(|b| ((first & 0x1f) << 6 | b, 2)),
        0xe0..=0xef => continued(1)
            .zip(continued(2))
            .map(|(b, c)| ((first & 0x0f) << 12 | b << 6 | c, 3))
            .filter(|(code_point, _)| *code_point >= 0x800 && !(0xd800..0xe000).contains(code_point)),
        0xf0..=0xf4 => continued(1)
            .zip(continued(2))
            .zip(continued(3))
            .map(|((b, c), d)| ((first & 7) << 18 | b << 12 | c << 6 | d, 4))
            .filter(|(code_point, _)| (0x10000..0x110000).contains(code_point)),
        _ => None,
    };
    decoded.map_or((None, 1), |(code_point, len)| (Some(code_point), len))
}
