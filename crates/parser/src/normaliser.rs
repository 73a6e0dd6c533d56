//! A statement's shape: its text with the literals lifted out, for the plan cache.
//!
//! ```text
//!   SELECT c FROM t WHERE id = 12 AND name = 'x' LIMIT 5
//!   SELECT c FROM t WHERE id = ?i AND name = ?s LIMIT ?i      and   12, 'x', 5 with their spans
//! ```
//!
//! 1. Statements with equal shapes have equal trees apart from the values of the lifted literals, and the i-th lifted
//!    literal of one stands where the i-th of the other does. A literal node of the tree has the span that is listed
//!    here, which is how a plan finds its slot.
//! 2. A literal is lifted only where its value changes neither the meaning of what is around it, nor the name or type of
//!    a result's column. It stays in the shape:
//!    - in a list of SELECT (it names a column), in GROUP BY, ORDER BY, OVER, WINDOW (a number may be a position);
//!    - behind AS inside of parentheses and in CONVERT (lengths of types), behind `->`, ESCAPE, COLLATE, SEPARATOR,
//!      CHARSET, SET of CHARACTER SET, and in JSON_TABLE, JSON_VALUE, MATCH (the grammar takes them as they are);
//!    - as an argument of a function other than of comparisons (`ROUND(x, 2)` has another type than `ROUND(x, 3)`);
//!    - side by side with another string, behind an introducer, DATE, TIME, TIMESTAMP; hexadecimal and bit literals;
//!    - a pattern of LIKE that begins with a wildcard: no index finds what matches it;
//!    - numbers beyond BIGINT, since their type is another one; a decimal's scale is part of its mark, and whether a string
//!      is ASCII (then it fits any character set).
//! 3. `-5` is a minus that stays and a 5 that is lifted, as in the tree. NULL, TRUE, FALSE and `?` stay.
//! 4. Only SELECT, INSERT, REPLACE, UPDATE and DELETE have literals lifted; of other statements, and of texts with version
//!    comments or broken tokens, the shape is the text.
//! 5. The mark of a lifted literal has a byte 0, which no statement's token has, so shapes of different statements differ.
//!
//! Blanks, comments and the case of words stay as they are: programs repeat their texts byte for byte.

use crate::Arena;
use crate::ast::{Literal, StringLiteral, Text};
use crate::keyword::Keyword as K;
use crate::lexer::Lexer;
use crate::literal::decode_string;
use crate::options::Options;
use crate::span::Span;
use crate::token::{Token, TokenKind as T};

/// What kind of literal was lifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiftedKind {
    /// Digits that fit a BIGINT.
    Integer,
    /// With a point.
    Decimal,
    /// With an exponent.
    Float,
    /// In quotes, without introducer; all ASCII.
    String,
    /// The same, but not all ASCII.
    WideString,
}

/// A literal that was lifted out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifted {
    /// Which kind.
    pub kind: LiftedKind,
    /// Whether a string has escapes or doubled quotes to undo.
    pub escaped: bool,
    /// Where it was, quotes included: the span of its node in the tree.
    pub span: Span,
}

impl Lifted {
    /// The literal, as the tree of a parsed statement would have it. Digits and texts without escapes are borrowed from
    /// `text`, which is the one that the shape was made of.
    pub fn literal<'a>(&self, text: &'a [u8], arena: &'a Arena, options: Options) -> Literal<'a> {
        let source = self.span.of(text);
        match self.kind {
            LiftedKind::Integer => Literal::Integer(Text(source)),
            LiftedKind::Decimal => Literal::Decimal(Text(source)),
            LiftedKind::Float => Literal::Float(Text(source)),
            LiftedKind::String | LiftedKind::WideString => {
                let inner = source.get(1..source.len().saturating_sub(1)).unwrap_or_default();
                let value = match source.first() {
                    Some(&quote) if self.escaped => {
                        decode_string(arena, inner, quote, !options.sql_mode.no_backslash_escapes)
                    }
                    _ => inner,
                };
                Literal::String(StringLiteral {
                    character_set: None,
                    value: Text(value),
                    first_length: value.len() as u32,
                })
            }
        }
    }
}

/// The shape of a statement, borrowed from the normaliser until its next call.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'n> {
    /// The text with marks in place of literals.
    pub text: &'n [u8],
    /// The lifted literals in the order of the text.
    pub literals: &'n [Lifted],
    /// How many `?` there are.
    pub parameters: u32,
    /// Where the statement ends: at its `;`, or where the text does. `None` if the shape is the rest of the text.
    pub end: Option<usize>,
}

impl Shape<'_> {
    /// A hash of 128 bits. Give a `seed` that clients cannot know, or compare texts as well.
    pub fn hash(&self, seed: u64) -> u128 {
        let mut low = seed ^ 0x9E37_79B9_7F4A_7C15;
        let mut high = seed.rotate_left(32) ^ 0xD1B5_4A32_D192_ED03;
        let mut chunks = self.text.chunks_exact(16);
        let mut mix = |a: u64, b: u64| {
            let one = u128::from(a ^ low) * u128::from(b ^ 0xA076_1D64_78BD_642F | 1);
            let other = u128::from(b ^ high) * u128::from(a ^ 0xE703_7ED1_A0B4_28DB | 1);
            low = (low ^ one as u64).rotate_left(23) ^ (one >> 64) as u64;
            high = (high ^ other as u64).rotate_left(29) ^ (other >> 64) as u64;
        };
        for chunk in &mut chunks {
            let (a, b) = chunk.split_at(8);
            mix(
                u64::from_le_bytes(a.try_into().expect("half of 16 bytes")),
                u64::from_le_bytes(b.try_into().expect("half of 16 bytes")),
            );
        }
        let mut rest = [0u8; 16];
        let remainder = chunks.remainder();
        rest[..remainder.len()].copy_from_slice(remainder);
        let number = u128::from_le_bytes(rest);
        mix(number as u64, (number >> 64) as u64);
        mix(self.text.len() as u64, seed);
        u128::from(high) << 64 | u128::from(low)
    }
}

/// Makes shapes. Keeps its buffers, so that a session's normaliser stops allocating soon.
#[derive(Default)]
pub struct Normaliser {
    text: Vec<u8>,
    literals: Vec<Lifted>,
    levels: Vec<Level>,
}

/// What is known of a parenthesis: whether literals are kept in it and below, and until the next clause.
#[derive(Clone, Copy)]
struct Level {
    /// Nothing is lifted in here, nor deeper, apart from queries.
    closed: bool,
    /// The same until the clause ends.
    clause: bool,
    /// A query began in here: words of clauses count.
    query: bool,
}

const OUTERMOST: Level = Level { closed: false, clause: false, query: false };

impl Normaliser {
    /// One without memory yet.
    pub fn new() -> Normaliser {
        Normaliser::default()
    }

    /// The shape of the statement at `start` of `text`, up to its `;` or the end.
    pub fn shape(&mut self, text: &[u8], start: usize, options: Options) -> Shape<'_> {
        self.text.clear();
        self.literals.clear();
        let scanned = if text.len() < u32::MAX as usize { self.scan(text, start, options) } else { None };
        if scanned.is_none() {
            self.text.clear();
            self.literals.clear();
            self.text.extend_from_slice(text.get(start..).unwrap_or_default());
        }
        Shape {
            text: &self.text,
            literals: &self.literals,
            parameters: scanned.map_or(0, |(parameters, _)| parameters),
            end: scanned.map(|(_, end)| end),
        }
    }

    /// How many parameters there are, and where the statement ends. None if the shape must be the text.
    fn scan(&mut self, text: &[u8], start: usize, options: Options) -> Option<(u32, usize)> {
        let mut lexer = Lexer::new(text, start, options);
        let mut token = lexer.next_token();
        if !matches!(token.keyword, K::SELECT | K::INSERT | K::REPLACE | K::UPDATE | K::DELETE) {
            return None;
        }
        self.levels.clear();
        let mut level = OUTERMOST;
        let mut parameters = 0;
        let mut copied = start;
        let mut before = Token { kind: T::End, keyword: K::None, ..token };
        // The literal before `token`, which a string behind it would join.
        let mut pending: Option<Token> = None;
        loop {
            if let Some(literal) = pending.take()
                && token.kind != T::String
            {
                self.lift(text, literal, &mut copied);
            }
            match token.kind {
                T::End | T::Semicolon => {
                    let end = if token.kind == T::End { text.len() } else { token.start as usize };
                    self.text.extend_from_slice(&text[copied..end]);
                    return Some((parameters, end));
                }
                T::Invalid => return None,
                T::Parameter => parameters += 1,
                T::LeftParenthesis => {
                    self.levels.push(level);
                    let function = before.end == token.start && is_name(&before) && !is_list_word(before.keyword);
                    let closed = level.closed || level.clause || function || closes(before.keyword);
                    level = Level { closed, clause: false, query: false };
                }
                T::RightParenthesis => level = self.levels.pop()?,
                T::Word => enter_clause(&mut level, token.keyword),
                T::Integer | T::Decimal | T::Float | T::String
                    if !level.closed
                        && !level.clause
                        && !keeps(&before)
                        && fits(text, &token)
                        && !is_open_pattern(text, &before, &token) =>
                {
                    let joins = token.kind == T::String && before.kind == T::String;
                    if !joins {
                        pending = Some(token);
                    }
                }
                _ => {}
            }
            before = token;
            if matches!(token.keyword, K::SELECT | K::INSERT | K::REPLACE | K::UPDATE | K::DELETE) {
                lexer.allow_hints();
            }
            token = lexer.next_token();
            if lexer.is_in_version_comment() {
                return None;
            }
        }
    }

    fn lift(&mut self, text: &[u8], literal: Token, copied: &mut usize) {
        self.text.extend_from_slice(&text[*copied..literal.start as usize]);
        *copied = literal.end as usize;
        let (kind, mark) = match literal.kind {
            T::Integer => (LiftedKind::Integer, b'i'),
            T::Decimal => (LiftedKind::Decimal, b'd'),
            T::Float => (LiftedKind::Float, b'f'),
            T::String if !literal.span().of(text).is_ascii() => (LiftedKind::WideString, b'w'),
            _ => (LiftedKind::String, b's'),
        };
        self.text.extend_from_slice(&[0, mark]);
        if kind == LiftedKind::Decimal {
            let digits = literal.span().of(text);
            let scale = digits.iter().rev().take_while(|byte| **byte != b'.').count();
            self.text.push(b'0' + scale.min(200) as u8);
        }
        self.literals.push(Lifted { kind, escaped: literal.escaped, span: literal.span() });
    }
}

/// Whether a `(` directly behind is that of a call.
fn is_name(token: &Token) -> bool {
    matches!(token.kind, T::Word | T::QuotedIdentifier)
}

/// Words in front of `(` that are not functions.
fn is_list_word(keyword: K) -> bool {
    matches!(
        keyword,
        K::IN
            | K::VALUES
            | K::VALUE
            | K::AND
            | K::OR
            | K::XOR
            | K::NOT
            | K::WHERE
            | K::ON
            | K::SET
            | K::FROM
            | K::JOIN
            | K::EXISTS
            | K::ANY
            | K::ALL
            | K::SOME
            | K::HAVING
            | K::BETWEEN
            | K::LIKE
            | K::UNION
            | K::SELECT
    )
}

/// Words in front of `(`, with a blank between them or not, inside of which literals stay.
fn closes(keyword: K) -> bool {
    matches!(keyword, K::OVER | K::AS | K::PARTITION | K::JSON_TABLE | K::AGAINST | K::COLUMNS | K::ROWS)
        || keyword.is_function()
}

/// A word that begins or ends a clause in which literals stay.
fn enter_clause(level: &mut Level, keyword: K) {
    match keyword {
        K::SELECT => *level = Level { closed: false, clause: true, query: true },
        K::FROM | K::WHERE | K::HAVING | K::LIMIT | K::SET | K::VALUES | K::UNION | K::EXCEPT | K::INTERSECT
            if !level.closed =>
        {
            level.clause = false;
        }
        K::GROUP | K::ORDER | K::WINDOW | K::QUALIFY | K::AS | K::SEPARATOR | K::PROCEDURE | K::INTO
            if level.query || keyword != K::INTO =>
        {
            level.clause = keyword != K::AS || level.clause;
        }
        _ => {}
    }
}

/// Whether a literal behind this token stays.
fn keeps(before: &Token) -> bool {
    match before.kind {
        T::Introducer | T::String | T::NationalString | T::Arrow | T::DoubleArrow | T::AtAt | T::Word
            if before.kind != T::Word =>
        {
            true
        }
        T::Word => matches!(
            before.keyword,
            K::DATE
                | K::TIME
                | K::TIMESTAMP
                | K::ESCAPE
                | K::COLLATE
                | K::SEPARATOR
                | K::AS
                | K::CHARSET
                | K::OUTFILE
                | K::DUMPFILE
                | K::BY
                | K::TABLESAMPLE
                | K::None
        ),
        T::QuotedIdentifier | T::LeftBrace => true,
        _ => false,
    }
}

/// Whether it is a pattern of LIKE that begins with a wildcard.
fn is_open_pattern(text: &[u8], before: &Token, token: &Token) -> bool {
    before.keyword == K::LIKE && matches!(token.span().of(text), [_, b'%' | b'_', ..])
}

/// Whether an integer fits a BIGINT, and so has the type of other integers.
fn fits(text: &[u8], token: &Token) -> bool {
    if token.kind != T::Integer {
        return true;
    }
    let digits = token.span().of(text);
    digits.len() < 19 || (digits.len() == 19 && digits <= b"9223372036854775807".as_slice())
}

#[cfg(test)]
mod tests;
