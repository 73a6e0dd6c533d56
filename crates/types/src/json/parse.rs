//! JSON text to a tree.
//!
//! # Invariants
//! 1. Nesting beyond [`MAX_DEPTH`] is an error, so that the stack is bounded.
//!
//! # Source
//! RFC 8259. The sentences and positions of errors are those that a MySQL server gives.

use std::borrow::Cow;

use super::{MAX_DEPTH, Tree};

/// What is wrong with a text, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// The sentence.
    pub message: &'static str,
    /// The byte, from 0.
    pub position: usize,
    /// It is nested too deep, which is an error of its own.
    pub too_deep: bool,
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

/// Reads a text in utf8mb4.
pub fn parse(text: &[u8]) -> Result<Tree<'_>, ParseError> {
    let mut parser = Parser { text, at: 0 };
    parser.skip_blanks();
    if parser.peek().is_none() {
        return Err(parser.error("The document is empty."));
    }
    let tree = parser.value(0)?;
    parser.skip_blanks();
    match parser.peek() {
        None => Ok(tree),
        Some(_) => Err(parser.error("The document root must not be followed by other values.")),
    }
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn error(&self, message: &'static str) -> ParseError {
        ParseError { message, position: self.at, too_deep: false }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Result<Tree<'a>, ParseError> {
        let opens = matches!(self.peek(), Some(b'[' | b'{'));
        if opens && depth >= MAX_DEPTH {
            return Err(ParseError { too_deep: true, ..self.error("The JSON document exceeds the maximum depth.") });
        }
        match self.peek() {
            Some(b'[') => self.array(depth + 1),
            Some(b'{') => self.object(depth + 1),
            Some(b'"') => self.string().map(Tree::Text),
            Some(b't') => self.word(b"true", Tree::Bool(true)),
            Some(b'f') => self.word(b"false", Tree::Bool(false)),
            Some(b'n') => self.word(b"null", Tree::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.error("Invalid value.")),
        }
    }

    fn word(&mut self, word: &[u8], tree: Tree<'a>) -> Result<Tree<'a>, ParseError> {
        for byte in word {
            if !self.take(*byte) {
                return Err(self.error("Invalid value."));
            }
        }
        Ok(tree)
    }

    fn array(&mut self, depth: usize) -> Result<Tree<'a>, ParseError> {
        self.at += 1;
        let mut elements = Vec::new();
        self.skip_blanks();
        if self.take(b']') {
            return Ok(Tree::Array(elements));
        }
        loop {
            self.skip_blanks();
            elements.push(self.value(depth)?);
            self.skip_blanks();
            if self.take(b']') {
                return Ok(Tree::Array(elements));
            }
            if !self.take(b',') {
                return Err(self.error("Missing a comma or ']' after an array element."));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Tree<'a>, ParseError> {
        self.at += 1;
        let mut members = Vec::new();
        self.skip_blanks();
        if self.take(b'}') {
            return Ok(Tree::Object(members));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Err(self.error("Missing a name for object member."));
            }
            let key = self.string()?;
            self.skip_blanks();
            if !self.take(b':') {
                return Err(self.error("Missing a colon after a name of object member."));
            }
            self.skip_blanks();
            members.push((key, self.value(depth)?));
            self.skip_blanks();
            if self.take(b'}') {
                return Ok(Tree::Object(members));
            }
            if !self.take(b',') {
                return Err(self.error("Missing a comma or '}' after an object member."));
            }
        }
    }

    fn hexadecimal(&mut self, start: usize) -> Result<u32, ParseError> {
        let digits = self.text.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let number = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match number.and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(number) => {
                self.at += 4;
                Ok(number)
            }
            None => {
                self.at = start;
                Err(self.error("Incorrect hex digit after \\u escape in string."))
            }
        }
    }

    /// A string; without escapes, as it lies in the text.
    fn string(&mut self) -> Result<Cow<'a, [u8]>, ParseError> {
        self.at += 1;
        let mut out = Cow::Borrowed(&self.text[..0]);
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.iter().take_while(|byte| **byte >= 0x20 && !matches!(**byte, b'"' | b'\\')).count();
            match &mut out {
                Cow::Borrowed(none) => *none = &rest[..plain],
                Cow::Owned(out) => out.extend_from_slice(&rest[..plain]),
            }
            self.at += plain;
            let start = self.at;
            match self.peek() {
                None => return Err(self.error("Missing a closing quotation mark in string.")),
                Some(b'"') => {
                    self.at += 1;
                    return match std::str::from_utf8(&out) {
                        Ok(_) => Ok(out),
                        Err(_) => Err(self.error("Invalid encoding in string.")),
                    };
                }
                Some(b'\\') => {
                    self.at += 2;
                    let character = match self.text.get(start + 1) {
                        Some(b'n') => '\n',
                        Some(b't') => '\t',
                        Some(b'r') => '\r',
                        Some(b'b') => '\x08',
                        Some(b'f') => '\x0c',
                        Some(b'u') => {
                            let first = self.hexadecimal(start)?;
                            let invalid = "The surrogate pair in string is invalid.";
                            let code_point = match first {
                                0xd800..0xdc00 if self.text.get(self.at..self.at + 2) == Some(b"\\u") => {
                                    self.at += 2;
                                    let second = self.hexadecimal(start)?;
                                    match second {
                                        0xdc00..0xe000 => 0x10000 + ((first - 0xd800) << 10 | (second - 0xdc00)),
                                        _ => first,
                                    }
                                }
                                other => other,
                            };
                            match char::from_u32(code_point) {
                                Some(character) => character,
                                None => {
                                    self.at = start;
                                    return Err(self.error(invalid));
                                }
                            }
                        }
                        Some(&other @ (b'"' | b'\\' | b'/')) => char::from(other),
                        _ => {
                            self.at = start;
                            return Err(self.error("Invalid escape character in string."));
                        }
                    };
                    out.to_mut().extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                Some(_) => return Err(self.error("Invalid encoding in string.")),
            }
        }
    }

    fn digits(&mut self) -> usize {
        let count = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn number(&mut self) -> Result<Tree<'a>, ParseError> {
        let start = self.at;
        let negative = self.take(b'-');
        let whole = self.at;
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else if self.digits() == 0 {
            return Err(self.error("Invalid value."));
        }
        let digits = &self.text[whole..self.at];
        let mut exact = true;
        if self.take(b'.') {
            exact = false;
            if self.digits() == 0 {
                return Err(self.error("Miss fraction part in number."));
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            exact = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(self.error("Miss exponent in number."));
            }
        }
        if exact && digits.len() <= 20 {
            let magnitude = digits.iter().fold(0i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
            let number = if negative { -magnitude } else { magnitude };
            if let Ok(number) = i64::try_from(number) {
                return Ok(Tree::Signed(number));
            }
            if let Ok(number) = u64::try_from(number) {
                return Ok(Tree::Unsigned(number));
            }
        }
        let number = std::str::from_utf8(&self.text[start..self.at]).ok().and_then(|text| text.parse::<f64>().ok());
        match number.filter(|number| number.is_finite()) {
            Some(number) => Ok(Tree::Double(number)),
            None => {
                self.at = start;
                Err(self.error("Number too big to be stored in double."))
            }
        }
    }
}
