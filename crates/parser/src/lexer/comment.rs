//! Comments: those that are blanks, those that are hints, and those that are part of the statement.

use super::Lexer;
use super::class::is_blank;
use crate::token::{Token, TokenKind};

impl Lexer<'_> {
    /// `# ...` and `-- ...`, up to the end of the line.
    pub(super) fn skip_line(&mut self) {
        let rest = &self.text[self.position..];
        self.position += rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |newline| newline + 1);
    }

    /// At `/*`. Gives a token for a hint, and for a comment without an end.
    pub(super) fn comment(&mut self, start: usize, hints_allowed: bool) -> Option<Token> {
        match self.byte(start + 2) {
            b'!' if !self.in_version_comment => return self.version_comment(start),
            b'+' if hints_allowed => {
                if let Some(end) = self.comment_end(start + 2) {
                    return Some(self.token(TokenKind::Hint, start, end));
                }
            }
            _ => {}
        }
        match self.comment_end(start + 2) {
            Some(end) => {
                self.position = end;
                None
            }
            None => Some(self.token(TokenKind::Invalid, start, self.text.len())),
        }
    }

    fn version_comment(&mut self, start: usize) -> Option<Token> {
        let digits = start + 3;
        let count = (digits..digits + 6).take_while(|place| self.byte(*place).is_ascii_digit()).count();
        // A sixth digit belongs to the version only if a blank follows; fewer than five are none.
        let length = match count {
            6 if self.text.get(digits + 6).is_some_and(|byte| is_blank(*byte)) => 6,
            5 | 6 => 5,
            _ => 0,
        };
        let end = digits + length;
        let version = self.text[digits..end].iter().fold(0, |version, digit| version * 10 + u32::from(digit - b'0'));
        if version <= self.options.version {
            self.in_version_comment = true;
            self.position = end;
            return None;
        }
        match self.nesting_comment_end(end) {
            Some(end) => {
                self.position = end;
                None
            }
            None => Some(self.token(TokenKind::Invalid, start, self.text.len())),
        }
    }

    /// One behind the next `*/`.
    fn comment_end(&self, from: usize) -> Option<usize> {
        let rest = self.text.get(from..)?;
        rest.windows(2).position(|pair| pair == b"*/").map(|found| from + found + 2)
    }

    /// The same, where one level of comments inside is skipped.
    fn nesting_comment_end(&self, mut from: usize) -> Option<usize> {
        loop {
            match (*self.text.get(from)?, self.byte(from + 1)) {
                (b'*', b'/') => return Some(from + 2),
                (b'/', b'*') => from = self.comment_end(from + 2)?,
                _ => from += 1,
            }
        }
    }
}
