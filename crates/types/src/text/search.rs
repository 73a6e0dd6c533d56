//! LIKE and LOCATE under a collation.
//!
//! # Invariants
//! 1. LIKE compares character by character: `'ß' LIKE 'ss'` is false where `'ß' = 'ss'` is true. LOCATE compares
//!    weights.
//! 2. LIKE goes back to the last `%` only: its time is at most the product of the lengths, and there is no recursion.
//!
//! # Source
//! MySQL Reference Manual, "String Comparison Functions and Operators".

use super::collation::{Collation, Method, Pad};
use super::compare::character_weights;
use super::table::Ascii;

/// What a text has where the part of a pattern behind a % can begin.
enum Front {
    /// This byte.
    Byte(u8),
    /// A character of ASCII with this weight, or one that is not of ASCII.
    Weight { weight: u16, ascii: &'static Ascii },
}

impl Front {
    /// How many bytes are in front of that.
    fn passed(&self, text: &[u8]) -> usize {
        let mut bytes = text.iter();
        match *self {
            Front::Byte(byte) => bytes.position(|&other| other == byte),
            Front::Weight { weight, ascii } => {
                bytes.position(|&byte| ascii.get(usize::from(byte)).is_none_or(|&other| other == weight))
            }
        }
        .unwrap_or(text.len())
    }
}

impl Collation {
    /// The length of the character at the front if it is equal to the one at the front of a pattern, and that one's.
    #[inline]
    fn same_character(self, text: &[u8], pattern: &[u8]) -> (bool, usize, usize) {
        let (charset, method) = (self.charset(), self.method());
        if method == Method::Bytes {
            let (a, a_len) = charset.decode(text);
            let (b, b_len) = charset.decode(pattern);
            return (a == b && (a.is_some() || text[0] == pattern[0]), a_len, b_len);
        }
        if let (Some(weights), true) = (method.ascii(), (text[0] | pattern[0]) < 0x80) {
            return (weights[usize::from(text[0])] == weights[usize::from(pattern[0])], 1, 1);
        }
        let (a, a_len) = character_weights(charset, method, text);
        let (b, b_len) = character_weights(charset, method, pattern);
        (a.as_slice() == b.as_slice(), a_len, b_len)
    }

    /// Where what a pattern goes on with can begin; `None` if that is a wildcard, or is not quickly said.
    fn front(self, pattern: &[u8]) -> Option<Front> {
        let first = pattern[0];
        if matches!(first, b'%' | b'_') {
            return None;
        }
        if self.method() == Method::Bytes {
            // (In UTF-8 the first byte of a character is inside of none.)
            return (!self.charset().is_unicode() || first & 0xc0 != 0x80).then_some(Front::Byte(first));
        }
        let ascii = self.method().ascii()?;
        let weight = match character_weights(self.charset(), self.method(), pattern).0.as_slice() {
            [] => 0,
            [weight] => *weight,
            // (Nothing of ASCII has this one.)
            _ => u16::MAX,
        };
        Some(Front::Weight { weight, ascii })
    }

    /// `text LIKE pattern ESCAPE escape`. Without an escape no character is special but `%` and `_`.
    pub fn like(self, text: &[u8], pattern: &[u8], escape: Option<u32>) -> bool {
        let charset = self.charset();
        let (mut at, mut place) = (0, 0);
        // Where to go on when what follows the last % does not fit: (pattern after it, text).
        let mut back: Option<(usize, usize)> = None;
        let mut front: Option<Front> = None;
        loop {
            let matched = if place >= pattern.len() {
                if at == text.len() {
                    return true;
                }
                false
            } else {
                let (special, len) = charset.decode(&pattern[place..]);
                if escape.is_some() && special == escape {
                    // At the end of the pattern the escape stands for itself.
                    let literal = if place + len < pattern.len() { place + len } else { place };
                    if at < text.len() {
                        let (same, text_len, pattern_len) = self.same_character(&text[at..], &pattern[literal..]);
                        if same {
                            at += text_len;
                            place = literal + pattern_len;
                        }
                        same
                    } else {
                        false
                    }
                } else if special == Some(u32::from(b'%')) {
                    place += len;
                    if place == pattern.len() {
                        return true;
                    }
                    back = Some((place, at));
                    let next = &pattern[place..];
                    front = self.front(next).filter(|_| escape.is_none() || charset.decode(next).0 != escape);
                    true
                } else if at >= text.len() {
                    return false;
                } else if special == Some(u32::from(b'_')) {
                    at += charset.decode(&text[at..]).1.max(1);
                    place += len;
                    true
                } else {
                    let (same, text_len, pattern_len) = self.same_character(&text[at..], &pattern[place..]);
                    if same {
                        at += text_len;
                        place += pattern_len;
                    }
                    same
                }
            };
            if !matched {
                let Some((pattern_at, text_at)) = back else { return false };
                if text_at >= text.len() {
                    return false;
                }
                let mut next = text_at + charset.decode(&text[text_at..]).1.max(1);
                if let Some(front) = &front {
                    next += front.passed(&text[next..]);
                }
                back = Some((pattern_at, next));
                (place, at) = (pattern_at, next);
            }
        }
    }

    /// Where a text is found in another: the number of the character (from 0) and the byte. Begins at a character.
    pub fn find(self, text: &[u8], wanted: &[u8], from: usize) -> Option<(usize, usize)> {
        let charset = self.charset();
        let mut at = charset.char_offset(text, from);
        if at >= text.len() && charset.char_count(text) < from {
            return None;
        }
        let mut number = from;
        loop {
            if self.begins_with(&text[at..], wanted) {
                return Some((number, at));
            }
            if at >= text.len() {
                return None;
            }
            at += charset.decode(&text[at..]).1.max(1);
            number += 1;
        }
    }

    /// Whether the weights of a text begin with those of another.
    fn begins_with(self, text: &[u8], wanted: &[u8]) -> bool {
        if wanted.is_empty() {
            return true;
        }
        if self.method() == Method::Bytes {
            return text.starts_with(wanted);
        }
        if text.is_empty() {
            return false;
        }
        let (charset, method) = (self.charset(), self.method());
        let (mut text, mut wanted) = (text, wanted);
        let (mut have, mut want) =
            (character_weights(charset, method, text), character_weights(charset, method, wanted));
        let (mut have_at, mut want_at) = (0, 0);
        loop {
            while want_at == want.0.as_slice().len() {
                wanted = &wanted[want.1..];
                if wanted.is_empty() {
                    return true;
                }
                want = character_weights(charset, method, wanted);
                want_at = 0;
            }
            while have_at == have.0.as_slice().len() {
                text = &text[have.1..];
                if text.is_empty() {
                    return false;
                }
                have = character_weights(charset, method, text);
                have_at = 0;
            }
            if have.0.as_slice()[have_at] != want.0.as_slice()[want_at] {
                return false;
            }
            have_at += 1;
            want_at += 1;
        }
    }

    /// Appends the bytes with which the sort keys begin of all texts that a pattern can match, or of so many characters at their
    /// beginning; others may begin so, too.
    pub fn append_like_range(self, pattern: &[u8], escape: Option<u32>, characters: Option<usize>, out: &mut Vec<u8>) {
        let mut prefix = Vec::new();
        like_prefix(self, pattern, escape, &mut prefix);
        if let Some(characters) = characters {
            prefix.truncate(self.charset().char_offset(&prefix, characters));
        }
        if self.pad() == Pad::Space {
            // A run of blanks is stored together with what follows, which is not known here.
            while prefix.last() == Some(&b' ') {
                prefix.pop();
            }
            let start = out.len();
            self.append_sort_key(&prefix, None, out);
            // Without the end, which is a blank and one byte.
            let mut end = Vec::new();
            self.append_sort_key(b"", None, &mut end);
            let len = out.len() - end.len();
            out.truncate(len.max(start));
        } else {
            self.append_sort_key(&prefix, None, out);
        }
    }
}

/// Appends the characters of a pattern before its first wildcard; true if there is no wildcard.
pub fn like_prefix(collation: Collation, pattern: &[u8], escape: Option<u32>, out: &mut Vec<u8>) -> bool {
    let charset = collation.charset();
    let mut at = 0;
    while at < pattern.len() {
        let (character, len) = charset.decode(&pattern[at..]);
        let len = len.max(1);
        if escape.is_some() && character == escape && at + len < pattern.len() {
            at += len;
        } else if matches!(character, Some(special) if special == u32::from(b'%') || special == u32::from(b'_')) {
            return false;
        }
        let len = charset.decode(&pattern[at..]).1.max(1);
        out.extend_from_slice(&pattern[at..at + len]);
        at += len;
    }
    true
}
