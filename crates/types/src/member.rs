//! The members of an ENUM or SET.
//!
//! An ENUM's value is the number of its member, from 1; 0 is the empty text that stands for a bad value. A SET's value
//! has one bit for each member, the first one the lowest.
//!
//! # Source
//! MySQL Reference Manual, "The ENUM Type" and "The SET Type".

use std::fmt;

use crate::integer::parse_integer;
use crate::text::Collation;

/// The members, in the order of their declaration, without blanks at their ends.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Members {
    names: Box<[Box<[u8]>]>,
    collation: Collation,
}

impl Members {
    /// Members with these names, in the collation's character set.
    pub fn new<'n>(names: impl IntoIterator<Item = &'n [u8]>, collation: Collation) -> Members {
        let trim = |name: &'n [u8]| {
            let len = name.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1);
            if collation == Collation::Binary { name.into() } else { name[..len].into() }
        };
        Members { names: names.into_iter().map(trim).collect(), collation }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// How their names compare.
    pub fn collation(&self) -> Collation {
        self.collation
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }

    /// The name of a member of an ENUM; empty for 0 and for numbers without a member.
    pub fn get(&self, number: u64) -> &[u8] {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        at.and_then(|at| self.names.get(at)).map_or(&[], |name| name)
    }

    /// The number of the member with this name, in the members' character set.
    pub fn find(&self, name: &[u8]) -> Option<u64> {
        let at = self.names.iter().position(|member| self.collation.equal(member, trim_end(name, self.collation)))?;
        Some(at as u64 + 1)
    }

    /// The number of a member of an ENUM that a text names: a name, or else digits.
    pub fn parse_enum(&self, text: &[u8]) -> Option<u64> {
        if let Some(number) = self.find(text) {
            return Some(number);
        }
        let parsed = parse_integer(text);
        let whole = parsed.len == text.len() && parsed.len > 0 && !parsed.negative && !parsed.overflow;
        (whole && (0..=self.len() as u64).contains(&parsed.magnitude)).then_some(parsed.magnitude)
    }

    /// The bits of a SET that a text names, and whether all of it did: names with commas between them, or else digits.
    pub fn parse_set(&self, text: &[u8]) -> (u64, bool) {
        let mut bits = 0;
        let mut complete = true;
        if text.is_empty() {
            return (0, true);
        }
        let text = trim_end(text, self.collation);
        for name in text.split(|byte| *byte == b',') {
            match self.find(name) {
                Some(number) => bits |= 1 << (number - 1).min(63),
                None => complete = false,
            }
        }
        if !complete && bits == 0 {
            let parsed = parse_integer(text);
            if parsed.len == text.len() && parsed.len > 0 && !parsed.negative && parsed.magnitude <= self.mask() {
                return (parsed.magnitude, true);
            }
        }
        (bits, complete)
    }

    /// All bits of a SET.
    pub fn mask(&self) -> u64 {
        match self.len() {
            0 => 0,
            len => u64::MAX >> (64 - len.min(64)),
        }
    }

    /// Appends the text of a SET: the names of its members with commas between them.
    pub fn append_set(&self, bits: u64, out: &mut Vec<u8>) {
        let mut first = true;
        for (_, name) in self.names.iter().take(64).enumerate().filter(|(at, _)| bits >> at & 1 == 1) {
            if !first {
                out.push(b',');
            }
            first = false;
            out.extend_from_slice(name);
        }
    }

    /// Characters of the longest name.
    pub fn longest(&self) -> u64 {
        self.names().map(|name| self.collation.charset().char_count(name) as u64).max().unwrap_or(0)
    }

    /// Characters of all names, commas included.
    pub fn all_characters(&self) -> u64 {
        let names: u64 = self.names().map(|name| self.collation.charset().char_count(name) as u64).sum();
        names + (self.len() as u64).saturating_sub(1)
    }
}

fn trim_end(text: &[u8], collation: Collation) -> &[u8] {
    if collation == Collation::Binary {
        return text;
    }
    &text[..text.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1)]
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, name) in self.names().enumerate() {
            let mut shown = Vec::new();
            self.collation.charset().convert(name, crate::text::Charset::Utf8mb4, &mut shown);
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}'{}'", String::from_utf8_lossy(&shown).replace('\'', "''"))?;
        }
        Ok(())
    }
}
