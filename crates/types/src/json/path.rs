//! Paths into documents: `$.a[0].**."b c"[last-1]`.
//!
//! # Source
//! MySQL Reference Manual, "JSON Path Syntax".

use super::{Element, MAX_DEPTH, Tree, parse};
use crate::error::{SqlError, number};

/// A path, read once and used often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    legs: Vec<Leg>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Leg {
    Member(Vec<u8>),
    AnyMember,
    Element(Index),
    Range(Index, Index),
    AnyElement,
    /// `**`: here and everywhere below.
    Below,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Index {
    from_last: bool,
    number: usize,
}

impl Index {
    /// The place in an array of so many elements; below zero: before it.
    pub(super) fn resolve(self, len: usize) -> i64 {
        if self.from_last { len as i64 - 1 - self.number as i64 } else { self.number as i64 }
    }
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Path {
    /// Reads a path; error 3143 with the place where it is wrong.
    pub fn parse(text: &[u8]) -> Result<Path, SqlError> {
        let mut reader = Reader { text, at: 0 };
        reader.path().ok_or_else(|| {
            let at = crate::text::Charset::Utf8mb4.char_count(&text[..reader.at.min(text.len())]);
            let message = format!("Invalid JSON path expression. The error is around character position {at}.");
            SqlError::new(number::INVALID_JSON_PATH, message)
        })
    }

    /// Its steps.
    pub(super) fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Whether it can find more than one element.
    pub fn has_wildcard(&self) -> bool {
        self.legs.iter().any(|leg| matches!(leg, Leg::AnyMember | Leg::AnyElement | Leg::Below | Leg::Range(..)))
    }

    /// Calls with each element that the path finds, in order.
    pub fn find<'a>(&self, document: &'a [u8], found: &mut dyn FnMut(Element<'a>)) {
        walk(&self.legs, Element::root(document), 0, found);
    }
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn path(&mut self) -> Option<Path> {
        self.blanks();
        if self.peek() != Some(b'$') {
            self.at += usize::from(self.at < self.text.len());
            return None;
        }
        self.at += 1;
        let mut legs = Vec::new();
        loop {
            self.blanks();
            let Some(next) = self.peek() else { break };
            match next {
                b'.' => {
                    self.at += 1;
                    self.blanks();
                    legs.push(self.member()?);
                }
                b'[' => {
                    self.at += 1;
                    self.blanks();
                    legs.push(self.element()?);
                    self.blanks();
                    if self.peek() != Some(b']') {
                        return None;
                    }
                    self.at += 1;
                }
                b'*' => {
                    self.at += 1;
                    if self.peek() != Some(b'*') {
                        return None;
                    }
                    self.at += 1;
                    if self.peek() == Some(b'*') {
                        return None;
                    }
                    legs.push(Leg::Below);
                }
                _ => return None,
            }
        }
        if legs.last() == Some(&Leg::Below) {
            return None;
        }
        Some(Path { legs })
    }

    fn member(&mut self) -> Option<Leg> {
        match self.peek()? {
            b'*' => {
                self.at += 1;
                Some(Leg::AnyMember)
            }
            b'"' => {
                let start = self.at;
                let mut end = start + 1;
                while *self.text.get(end)? != b'"' {
                    end += if self.text[end] == b'\\' { 2 } else { 1 };
                }
                let Ok(Tree::Text(key)) = parse(&self.text[start..=end]) else { return None };
                self.at = end + 1;
                Some(Leg::Member(key.into_owned()))
            }
            _ => {
                let start = self.at;
                let is_end = |byte: &u8| matches!(byte, b'.' | b'[' | b'*' | b' ' | b'\t' | b'\n' | b'\r');
                self.at += self.text[start..].iter().take_while(|byte| !is_end(byte)).count();
                let name = std::str::from_utf8(&self.text[start..self.at]).ok()?;
                let mut characters = name.chars();
                let letter = |character: char| character.is_alphabetic() || matches!(character, '_' | '$');
                let follows = |character: char| {
                    letter(character) || character.is_numeric() || "\u{200c}\u{200d}".contains(character)
                };
                (characters.next().is_some_and(letter) && characters.all(follows)).then(|| Leg::Member(name.into()))
            }
        }
    }

    fn number(&mut self) -> Option<usize> {
        let start = self.at;
        self.at += self.text[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number: u32 = std::str::from_utf8(&self.text[start..self.at]).ok()?.parse().ok()?;
        Some(number as usize)
    }

    fn index(&mut self) -> Option<Index> {
        if !self.text[self.at..].starts_with(b"last") {
            return Some(Index { from_last: false, number: self.number()? });
        }
        self.at += 4;
        self.blanks();
        let mut number = 0;
        if self.peek() == Some(b'-') {
            self.at += 1;
            self.blanks();
            number = self.number()?;
        }
        Some(Index { from_last: true, number })
    }

    fn element(&mut self) -> Option<Leg> {
        if self.peek() == Some(b'*') {
            self.at += 1;
            return Some(Leg::AnyElement);
        }
        let first = self.index()?;
        let end = self.at;
        self.blanks();
        if self.at > end && self.text[self.at..].starts_with(b"to") {
            self.at += 2;
            let blank = self.at;
            self.blanks();
            if self.at == blank {
                return None;
            }
            return Some(Leg::Range(first, self.index()?));
        }
        Some(Leg::Element(first))
    }
}

fn walk<'a>(legs: &[Leg], element: Element<'a>, depth: usize, found: &mut dyn FnMut(Element<'a>)) {
    if depth > 2 * MAX_DEPTH {
        return;
    }
    let Some((leg, rest)) = legs.split_first() else { return found(element) };
    match (leg, element) {
        (Leg::Member(key), Element::Object(members)) => {
            if let Some(value) = members.get(key) {
                walk(rest, value, depth + 1, found);
            }
        }
        (Leg::AnyMember, Element::Object(members)) => {
            members.values().for_each(|value| walk(rest, value, depth + 1, found));
        }
        (Leg::AnyElement, Element::Array(elements)) => {
            elements.values().for_each(|value| walk(rest, value, depth + 1, found));
        }
        (Leg::Element(index), Element::Array(elements)) => {
            let at = index.resolve(elements.len());
            if let Some(value) = usize::try_from(at).ok().and_then(|at| elements.value(at)) {
                walk(rest, value, depth + 1, found);
            }
        }
        (Leg::Range(first, last), Element::Array(elements)) => {
            let len = elements.len();
            let (first, last) = (first.resolve(len).max(0), last.resolve(len).min(len as i64 - 1));
            for at in first..=last {
                if let Some(value) = elements.value(at as usize) {
                    walk(rest, value, depth + 1, found);
                }
            }
        }
        // What is no array is taken for an array of itself.
        (Leg::Element(index), _) if index.resolve(1) == 0 => walk(rest, element, depth + 1, found),
        (Leg::Range(first, last), _) if first.resolve(1) <= 0 && last.resolve(1) >= 0 => {
            walk(rest, element, depth + 1, found);
        }
        (Leg::Below, _) => {
            walk(rest, element, depth + 1, found);
            walk_below(legs, element, depth + 1, found);
        }
        _ => {}
    }
}

/// What `**` finds below an element.
fn walk_below<'a>(legs: &[Leg], element: Element<'a>, depth: usize, found: &mut dyn FnMut(Element<'a>)) {
    match element {
        Element::Array(elements) => {
            for (number, value) in elements.values().enumerate() {
                // `$**[0]` has found the first element already; taken for an array of itself it would be found again.
                let here = |index: &Index| index.resolve(elements.len()) == number as i64;
                let is_array = matches!(value, Element::Array(_));
                let again = !is_array && matches!(legs.get(1), Some(Leg::Element(index)) if here(index));
                if !again {
                    walk(legs, value, depth, found);
                } else if depth <= 2 * MAX_DEPTH {
                    walk_below(legs, value, depth + 1, found);
                }
            }
        }
        Element::Object(members) => members.values().for_each(|value| walk(legs, value, depth, found)),
        _ => {}
    }
}

/// JSON_EXTRACT: what the paths find; an array of it if there are several paths or wildcards. `None` if nothing is
/// found.
pub fn extract<'d>(document: &'d [u8], paths: &[Path]) -> Option<Tree<'d>> {
    let mut found = Vec::new();
    for path in paths {
        path.find(document, &mut |element| found.push(element.to_tree()));
    }
    if paths.len() == 1 && !paths[0].has_wildcard() {
        return found.pop();
    }
    (!found.is_empty()).then_some(Tree::Array(found))
}
