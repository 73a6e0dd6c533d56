//! Literals.

use super::{K, Parser, Result, T};
use crate::ast::{ExpressionKind, Literal, StringLiteral, TemporalKind, Text};
use crate::literal::{decode_bits, decode_hex};
use crate::span::Span;

impl<'a> Parser<'a> {
    pub(super) fn literal_kind(&self, literal: Literal<'a>) -> ExpressionKind<'a> {
        ExpressionKind::Literal(self.alloc(literal))
    }

    /// A string where the grammar wants one (a path, a comment): no introducer, not joined.
    pub(super) fn string(&mut self) -> Result<Text<'a>> {
        if !self.at_kind(T::String) {
            return self.fail();
        }
        let text = self.text_of(&self.token, 0);
        self.advance();
        Ok(text)
    }

    /// The same, with an introducer allowed, which says nothing about paths.
    pub(super) fn introduced_string(&mut self) -> Result<Text<'a>> {
        if self.at_kind(T::Introducer) {
            self.advance();
        }
        self.string_or_digits()
    }

    /// A string, or its hexadecimal or binary digits.
    pub(super) fn string_or_digits(&mut self) -> Result<Text<'a>> {
        match self.token.kind {
            T::HexNumber | T::HexString | T::BitNumber | T::BitString => Ok(Text(self.digits_literal().0)),
            _ => self.string(),
        }
    }

    /// An unsigned integer, as written.
    pub(super) fn integer(&mut self) -> Result<Text<'a>> {
        self.number_of(&[T::Integer])
    }

    /// An unsigned integer, in digits or hexadecimal digits.
    pub(super) fn unsigned(&mut self) -> Result<Text<'a>> {
        self.number_of(&[T::Integer, T::HexNumber, T::HexString])
    }

    /// Any number that MySQL rounds to an integer.
    pub(super) fn rounded(&mut self) -> Result<Text<'a>> {
        self.number_of(&[T::Integer, T::HexNumber, T::HexString, T::Decimal, T::Float])
    }

    fn number_of(&mut self, kinds: &[T]) -> Result<Text<'a>> {
        if !kinds.contains(&self.token.kind) {
            return self.fail();
        }
        let text = self.source(self.token.span());
        self.advance();
        Ok(text)
    }

    /// The bytes of `x'4D'`, `0x4D`, `b'01'`, `0b01`; and whether they were hexadecimal.
    fn digits_literal(&mut self) -> (&'a [u8], bool) {
        let token = self.token;
        let source = token.span().of(self.text);
        self.advance();
        match token.kind {
            T::HexNumber => (decode_hex(self.arena, &source[2..]), true),
            T::HexString => (decode_hex(self.arena, &source[2..source.len() - 1]), true),
            T::BitNumber => (decode_bits(self.arena, &source[2..]), false),
            _ => (decode_bits(self.arena, &source[2..source.len() - 1]), false),
        }
    }

    /// A literal that begins with the current token, which is one of the kinds that `simple` sends here.
    pub(super) fn literal(&mut self) -> Result<ExpressionKind<'a>> {
        let literal = match self.token.kind {
            T::Integer | T::Decimal | T::Float => {
                let text = self.source(self.token.span());
                let kind = self.token.kind;
                self.advance();
                match kind {
                    T::Integer => Literal::Integer(text),
                    T::Decimal => Literal::Decimal(text),
                    _ => Literal::Float(text),
                }
            }
            T::String => self.string_literal(None, 0),
            T::NationalString => self.string_literal(Some(Text(b"utf8mb3")), 1),
            T::Introducer => {
                let span = self.token.span();
                let name = Text(Span::new(span.start + 1, span.end).of(self.text));
                self.advance();
                match self.token.kind {
                    T::String => self.string_literal(Some(name), 0),
                    T::HexNumber | T::HexString | T::BitNumber | T::BitString => self.bytes_literal(Some(name)),
                    _ => return self.fail(),
                }
            }
            _ => self.bytes_literal(None),
        };
        Ok(self.literal_kind(literal))
    }

    fn bytes_literal(&mut self, character_set: Option<Text<'a>>) -> Literal<'a> {
        let (bytes, is_hex) = self.digits_literal();
        let bytes = Text(bytes);
        if is_hex { Literal::Hexadecimal { character_set, bytes } } else { Literal::Bit { character_set, bytes } }
    }

    /// One or more strings side by side.
    fn string_literal(&mut self, character_set: Option<Text<'a>>, skip: u32) -> Literal<'a> {
        let mut value = self.text_of(&self.token, skip);
        let first_length = value.len() as u32;
        self.advance();
        if self.at_kind(T::String) {
            let mut joined = self.new_list();
            joined.extend_from_slice(value.0);
            while self.at_kind(T::String) {
                let next = self.text_of(&self.token, 0);
                joined.extend_from_slice(next.0);
                self.advance();
            }
            value = Text(joined.into_bump_slice());
        }
        Literal::String(StringLiteral { character_set, value, first_length })
    }

    /// `DATE 'x'`, `TIME 'x'`, `TIMESTAMP 'x'`: at the word, if a string follows.
    pub(super) fn accept_temporal(&mut self) -> Option<ExpressionKind<'a>> {
        let kind = match self.token.keyword {
            K::DATE => TemporalKind::Date,
            K::TIME => TemporalKind::Time,
            K::TIMESTAMP => TemporalKind::Timestamp,
            _ => return None,
        };
        if self.peek().kind != T::String {
            return None;
        }
        self.advance();
        let value = self.text_of(&self.token, 0);
        self.advance();
        Some(self.literal_kind(Literal::Temporal { kind, value }))
    }
}
