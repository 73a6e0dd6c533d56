//! Numbers, and words that begin with a digit.

use super::class::is_word_byte;
use super::{Lexer, TokenKind};
use crate::token::Token;

impl Lexer<'_> {
    fn digits_end(&self, mut position: usize) -> usize {
        while self.byte(position).is_ascii_digit() {
            position += 1;
        }
        position
    }

    /// At a digit: `0x4D`, `0b1`, `12`, `1.2`, `1e3`, or an identifier such as `1st`.
    pub(super) fn number(&mut self, start: usize) -> Token {
        if self.text[start] == b'0' {
            let (kind, is_digit): (_, fn(&u8) -> bool) = match self.byte(start + 1) {
                b'x' => (TokenKind::HexNumber, u8::is_ascii_hexdigit),
                b'b' => (TokenKind::BitNumber, |byte| matches!(byte, b'0' | b'1')),
                _ => (TokenKind::Integer, |_| false),
            };
            let mut end = start + 2;
            while self.text.get(end).is_some_and(is_digit) {
                end += 1;
            }
            if end > start + 2 && !is_word_byte(self.byte(end)) {
                return self.token(kind, start, end);
            }
        }
        let end = self.digits_end(start + 1);
        match self.byte(end) {
            b'.' => self.fraction(start, end + 1),
            b'e' | b'E' => {
                if let Some(end) = self.exponent_end(end) {
                    return self.token(TokenKind::Float, start, end);
                }
                self.numeric_word(start, end)
            }
            byte if is_word_byte(byte) => self.numeric_word(start, end),
            _ => self.token(TokenKind::Integer, start, end),
        }
    }

    fn numeric_word(&mut self, start: usize, end: usize) -> Token {
        let end = self.word_end(end);
        self.note_dot(end);
        self.token(TokenKind::Word, start, end)
    }

    /// At `e`: one behind the exponent's digits, if it has any.
    fn exponent_end(&self, e: usize) -> Option<usize> {
        let digits = e + 1 + usize::from(matches!(self.byte(e + 1), b'+' | b'-'));
        self.byte(digits).is_ascii_digit().then(|| self.digits_end(digits))
    }

    /// Behind the dot of a number that began at `start`.
    pub(super) fn fraction(&mut self, start: usize, position: usize) -> Token {
        let end = self.digits_end(position);
        if matches!(self.byte(end), b'e' | b'E') {
            return match self.exponent_end(end) {
                Some(end) => self.token(TokenKind::Float, start, end),
                None => self.token(TokenKind::Invalid, start, end + 1),
            };
        }
        self.token(TokenKind::Decimal, start, end)
    }

    /// `x'4D'`, `b'01'`: `start` is at the letter. MySQL wants whole bytes of hexadecimal digits.
    pub(super) fn digits_in_quotes(&mut self, start: usize, kind: TokenKind) -> Token {
        let is_hex = kind == TokenKind::HexString;
        let mut end = start + 2;
        while self
            .text
            .get(end)
            .is_some_and(|byte| if is_hex { byte.is_ascii_hexdigit() } else { matches!(byte, b'0' | b'1') })
        {
            end += 1;
        }
        if self.byte(end) != b'\'' || (is_hex && !(end - start).is_multiple_of(2)) {
            return self.token(TokenKind::Invalid, start, end.min(self.text.len()));
        }
        self.token(kind, start, end + 1)
    }
}
