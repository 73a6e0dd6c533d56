//! LIKE and LOCATE under a collation.
//!
//! # Invariants
//! 1. LIKE compares character by character: `'ß' LIKE 'ss'` is false where `'ß' = 'ss'` is true. LOCATE compares
//!    weights.
//! 2. LIKE goes back to the last `%` only: its time is at most the product of the lengths, and there is no recursion.
//!
//! # Source
//! MySQL Reference Manual, "String Comparison Functions and Operators".

use memchr::{memchr, memmem};

use super::collation::{Collation, Method, Pad};
use super::compare::character_weights;
use super::table::{Ascii, ByteTable};

/// What a text has where a part of a pattern, or what is looked for, can begin.
enum Front {
    /// This byte.
    Byte(u8),
    /// A byte of this weight.
    ByteWeight { weight: u8, weights: &'static ByteTable },
    /// A character of ASCII with this weight or without one, or a character that is not of ASCII.
    Weight { weight: u16, ascii: &'static Ascii },
}

impl Front {
    /// That of a text's beginning, not of one without weight; `None` if it is not quickly said.
    fn of(collation: Collation, wanted: &[u8]) -> Option<Front> {
        let (first, charset) = (*wanted.first()?, collation.charset());
        match collation.method() {
            // (In UTF-8 the first byte of a character is inside of none.)
            Method::Bytes => (!charset.is_unicode() || first & 0xc0 != 0x80).then_some(Front::Byte(first)),
            Method::ByteTable(weights) => Some(Front::ByteWeight { weight: weights[usize::from(first)], weights }),
            method @ (Method::General | Method::Uca(_)) => {
                let weight = *character_weights(charset, method, wanted).0.as_slice().first()?;
                Some(Front::Weight { weight, ascii: method.ascii()? })
            }
        }
    }

    /// How many bytes are in front of that.
    fn passed(&self, text: &[u8]) -> usize {
        let found = match *self {
            Front::Byte(byte) => memchr(byte, text),
            Front::ByteWeight { weight, weights } => text.iter().position(|&byte| weights[usize::from(byte)] == weight),
            Front::Weight { weight, ascii } => text
                .iter()
                .position(|&byte| ascii.get(usize::from(byte)).is_none_or(|&other| other == weight || other == 0)),
        };
        found.unwrap_or(text.len())
    }
}

/// The beginning of what is behind a % of a pattern, where bytes alone say whether a text has it.
struct Run<'p> {
    bytes: &'p [u8],
    alike: Alike,
}

/// Which bytes are alike.
enum Alike {
    /// The same ones,
    Same,
    /// those of one weight,
    Bytes(&'static ByteTable),
    /// those of one weight in texts of ASCII.
    Ascii(&'static Ascii),
}

impl<'p> Run<'p> {
    /// That of a pattern, to be looked for in this text.
    fn of(collation: Collation, pattern: &'p [u8], escape: Option<u32>, text: &[u8]) -> Option<Self> {
        let escape = match escape {
            Some(escape) => Some(u8::try_from(escape).ok().filter(u8::is_ascii)?),
            None => None,
        };
        let is_special = |byte: &u8| matches!(byte, b'%' | b'_') || Some(*byte) == escape;
        let bytes = &pattern[..pattern.iter().position(is_special).unwrap_or(pattern.len())];
        let (method, charset) = (collation.method(), collation.charset());
        let alike = match (method, method.ascii()) {
            // (In UTF-8 what begins as a character does is inside of none.)
            (Method::Bytes, _) if charset.check(bytes).is_ok() => Alike::Same,
            (Method::ByteTable(weights), _) => Alike::Bytes(weights),
            (_, Some(weights)) if bytes.is_ascii() && text.is_ascii() => Alike::Ascii(weights),
            _ => return None,
        };
        (!bytes.is_empty()).then_some(Self { bytes, alike })
    }

    /// Where it begins.
    fn find(&self, text: &[u8]) -> Option<usize> {
        match self.alike {
            Alike::Same => memmem::find(text, self.bytes),
            Alike::Bytes(weights) => self.find_by(text, |byte| weights[usize::from(byte)]),
            Alike::Ascii(weights) => self.find_by(text, |byte| weights[usize::from(byte & 0x7f)]),
        }
    }

    fn find_by<W: PartialEq>(&self, text: &[u8], weight: impl Fn(u8) -> W) -> Option<usize> {
        let (first, rest) = self.bytes.split_first()?;
        let (first, last) = (weight(*first), text.len().checked_sub(rest.len())?);
        let mut from = 0;
        loop {
            from += text[from..last].iter().position(|byte| weight(*byte) == first)? + 1;
            let mut pairs = rest.iter().zip(&text[from..]);
            if pairs.all(|(wanted, byte)| weight(*wanted) == weight(*byte)) {
                return Some(from - 1);
            }
        }
    }
}

/// What a text must have behind a %.
enum Next<'p> {
    /// These characters, which have then been compared.
    Run(Run<'p>),
    /// A character that begins so.
    Front(Front),
    /// Anything, as far as is quickly said.
    Any,
}

impl<'p> Next<'p> {
    fn of(collation: Collation, pattern: &'p [u8], escape: Option<u32>, text: &[u8]) -> Self {
        if let Some(run) = Run::of(collation, pattern, escape, text) {
            return Self::Run(run);
        }
        let is_literal = escape.is_none() || collation.charset().decode(pattern).0 != escape;
        let front = Front::of(collation, pattern).filter(|_| is_literal && !matches!(pattern[0], b'%' | b'_'));
        front.map_or(Self::Any, Self::Front)
    }

    /// How many bytes are in front of that, and how many of it have been compared; `None` if it is not there.
    fn passed(&self, text: &[u8]) -> Option<(usize, usize)> {
        match self {
            Self::Run(run) => run.find(text).map(|passed| (passed, run.bytes.len())),
            Self::Front(front) => Some((front.passed(text), 0)),
            Self::Any => Some((0, 0)),
        }
    }
}

/// Where a comparison with a pattern goes on that has failed: behind the last %.
struct Back<'p> {
    /// In the pattern.
    place: usize,
    /// In the text, where what is behind the % was taken to begin.
    at: usize,
    next: Next<'p>,
}

impl Collation {
    /// Whether the characters at the fronts of a text and of a pattern are equal, and their lengths.
    #[inline]
    fn same_character(self, text: &[u8], pattern: &[u8]) -> (bool, usize, usize) {
        let (charset, method) = (self.charset(), self.method());
        let (a, b) = (text[0], pattern[0]);
        let are_bytes = charset.max_len() == 1 || (a | b) < 0x80;
        match method {
            Method::Bytes if are_bytes => (a == b, 1, 1),
            Method::Bytes => {
                let ((x, x_len), (y, y_len)) = (charset.decode(text), charset.decode(pattern));
                (x == y && (x.is_some() || a == b), x_len, y_len)
            }
            Method::ByteTable(weights) => (weights[usize::from(a)] == weights[usize::from(b)], 1, 1),
            Method::General | Method::Uca(_) => {
                if let (Some(weights), true) = (method.ascii(), are_bytes) {
                    return (weights[usize::from(a)] == weights[usize::from(b)], 1, 1);
                }
                let (x, x_len) = character_weights(charset, method, text);
                let (y, y_len) = character_weights(charset, method, pattern);
                (x.as_slice() == y.as_slice(), x_len, y_len)
            }
        }
    }

    /// `text LIKE pattern ESCAPE escape`. Without an escape no character is special but `%` and `_`.
    pub fn like(self, text: &[u8], pattern: &[u8], escape: Option<u32>) -> bool {
        let charset = self.charset();
        let (mut at, mut place) = (0, 0);
        // Where to go on when what follows the last % does not fit.
        let mut back: Option<Back<'_>> = None;
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
                    let next = Next::of(self, &pattern[place..], escape, text);
                    let Some((passed, fitting)) = next.passed(&text[at..]) else { return false };
                    at += passed;
                    back = Some(Back { place, at, next });
                    at += fitting;
                    place += fitting;
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
                let Some(back) = back.as_mut().filter(|back| back.at < text.len()) else { return false };
                back.at += charset.decode(&text[back.at..]).1.max(1);
                let Some((passed, fitting)) = back.next.passed(&text[back.at..]) else { return false };
                back.at += passed;
                at = back.at + fitting;
                place = back.place + fitting;
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
        let front = Front::of(self, wanted);
        let mut number = from;
        loop {
            if let Some(front) = &front {
                let passed = front.passed(&text[at..]);
                number += charset.char_count(&text[at..at + passed]);
                at += passed;
            }
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
        if let Some(weights) = self.method().bytes() {
            let weight = |byte: &u8| weights[usize::from(*byte)];
            return text.get(..wanted.len()).is_some_and(|text| text.iter().map(weight).eq(wanted.iter().map(weight)));
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
