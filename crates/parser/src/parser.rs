//! From tokens to a tree: by recursive descent, with one token of look-ahead.
//!
//! ```text
//!   statement --> query, insert, update, delete, load
//!             --> create_table, column, partition, alter_table, definition
//!             --> set, show, transaction, account, prepare, administration
//!             --> program --> statement            (bodies of routines)
//!   all of them --> expression --> function, query --> table_reference
//! ```
//!
//! 1. `token` is the first token that is not consumed. A rule that cannot go on fails there, and that is the place that
//!    MySQL's message shows.
//! 2. Looking further ahead copies the lexer (`peek`); the few rules that need it say why.
//! 3. Each rule that can contain itself goes through `enter`, which counts the depth.
//! 4. A rule that sees a parenthesis does not guess: `group` reads what is inside, be it query, row or expression, once.
//!
//! Source: the manual's chapter "SQL Statements", and what the server accepts where the manual is silent.

mod account;
mod administration;
mod alter_table;
mod column;
mod create_table;
mod data_type;
mod definition;
mod delete;
mod expression;
mod function;
mod insert;
mod list;
mod literal;
mod load;
mod name;
mod partition;
mod prepare;
mod program;
mod query;
mod replication;
mod select;
mod set;
mod show;
mod statement;
mod table_reference;
mod transaction;
mod update;
mod window;

use crate::ast::{Expression, Statement, Text};
use crate::error::{ErrorKind, Failure};
use crate::keyword::Keyword as K;
use crate::lexer::Lexer;
use crate::options::Options;
use crate::span::Span;
use crate::token::{Token, TokenKind as T};
use bumpalo::Bump;

pub(crate) type Result<V> = std::result::Result<V, Failure>;

/// The state of one parse.
pub(crate) struct Parser<'a> {
    lexer: Lexer<'a>,
    pub(crate) text: &'a [u8],
    arena: &'a Bump,
    options: Options,
    /// The first token that is not consumed.
    token: Token,
    /// Where the last consumed token ended.
    previous_end: u32,
    /// Parameters seen.
    pub(crate) parameters: u32,
    depth: u32,
    /// An operand that was read already (in parentheses), and where it began: see `expression`.
    seed: Option<(Expression<'a>, u32)>,
    /// Inside the body of a stored program.
    in_program: bool,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(arena: &'a Bump, text: &'a [u8], start: usize, options: Options) -> Parser<'a> {
        let mut lexer = Lexer::new(text, start, options);
        let token = lexer.next_token();
        Parser {
            lexer,
            text,
            arena,
            options,
            token,
            previous_end: start as u32,
            parameters: 0,
            depth: 0,
            seed: None,
            in_program: false,
        }
    }

    // ---- tokens ----

    fn advance(&mut self) {
        self.previous_end = self.token.end;
        self.token = self.lexer.next_token();
    }

    /// The same, where a hint may come next.
    fn advance_to_hint(&mut self) -> Option<Text<'a>> {
        self.lexer.allow_hints();
        self.advance();
        if self.token.kind != T::Hint {
            return None;
        }
        let hint = self.source(self.token.span());
        self.advance();
        Some(hint)
    }

    /// The token behind the current one.
    fn peek(&self) -> Token {
        let mut lexer = self.lexer;
        lexer.next_token()
    }

    fn at(&self, keyword: K) -> bool {
        self.token.keyword == keyword
    }

    fn at_any(&self, keywords: &[K]) -> bool {
        keywords.contains(&self.token.keyword)
    }

    fn at_kind(&self, kind: T) -> bool {
        self.token.kind == kind
    }

    fn accept(&mut self, keyword: K) -> bool {
        let found = self.at(keyword);
        if found {
            self.advance();
        }
        found
    }

    fn accept_kind(&mut self, kind: T) -> bool {
        let found = self.at_kind(kind);
        if found {
            self.advance();
        }
        found
    }

    /// All of the words, if the first is there; then the others must follow.
    fn accept_words(&mut self, words: &[K]) -> Result<bool> {
        if !self.accept(words[0]) {
            return Ok(false);
        }
        self.expect_words(&words[1..])?;
        Ok(true)
    }

    fn expect(&mut self, keyword: K) -> Result<()> {
        if self.accept(keyword) { Ok(()) } else { self.fail() }
    }

    fn expect_words(&mut self, words: &[K]) -> Result<()> {
        words.iter().try_for_each(|word| self.expect(*word))
    }

    fn expect_any(&mut self, words: &[K]) -> Result<K> {
        let keyword = self.token.keyword;
        if keyword != K::None && words.contains(&keyword) {
            self.advance();
            Ok(keyword)
        } else {
            self.fail()
        }
    }

    fn expect_kind(&mut self, kind: T) -> Result<()> {
        if self.accept_kind(kind) { Ok(()) } else { self.fail() }
    }

    fn open(&mut self) -> Result<()> {
        self.expect_kind(T::LeftParenthesis)
    }

    fn close(&mut self) -> Result<()> {
        self.expect_kind(T::RightParenthesis)
    }

    /// A word that the language has no keyword for: of `DOT_PRODUCT(`, of options of components.
    fn at_word(&self, word: &str) -> bool {
        self.token.kind == T::Word && self.token.span().of(self.text).eq_ignore_ascii_case(word.as_bytes())
    }

    // ---- errors ----

    fn failure(&self, kind: ErrorKind) -> Failure {
        Failure { kind, start: self.token.start, end: self.token.end }
    }

    /// A syntax error at the current token.
    fn fail<V>(&self) -> Result<V> {
        Err(self.failure(ErrorKind::Syntax))
    }

    fn fail_at<V>(&self, kind: ErrorKind, span: Span) -> Result<V> {
        Err(Failure { kind, start: span.start, end: span.end })
    }

    // ---- depth ----

    /// One level deeper; `leave` goes back. After a failure nobody cares for the count.
    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > self.options.depth_limit {
            return Err(self.failure(ErrorKind::TooDeep));
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    // ---- text and arena ----

    fn source(&self, span: Span) -> Text<'a> {
        Text(span.of(self.text))
    }

    /// From `start` to the end of the last consumed token.
    fn span_from(&self, start: u32) -> Span {
        Span::new(start, self.previous_end.max(start))
    }

    fn alloc<V: Copy>(&self, value: V) -> &'a V {
        self.arena.alloc(value)
    }

    // ---- the whole ----

    /// One statement up to `;` or the end. Gives also where the next one would begin, if there is one.
    pub(crate) fn whole(&mut self) -> Result<(Statement<'a>, Option<usize>)> {
        if self.at_kind(T::End) {
            let blank = self.text.get(self.previous_end as usize..).unwrap_or_default().iter();
            return if blank.clone().all(u8::is_ascii_whitespace) {
                Err(self.failure(ErrorKind::EmptyQuery))
            } else {
                Ok((Statement::Empty, None))
            };
        }
        if self.at_kind(T::Semicolon) {
            return Err(self.failure(ErrorKind::EmptyQuery));
        }
        let statement = self.statement()?;
        if self.at_kind(T::End) {
            return Ok((statement, None));
        }
        if !self.at_kind(T::Semicolon) || self.lexer.is_in_version_comment() {
            return self.fail();
        }
        let behind = self.token.end as usize;
        self.advance();
        while self.at_kind(T::Semicolon) && !self.options.multi_statements {
            self.advance();
        }
        match (self.at_kind(T::End), self.options.multi_statements) {
            (true, _) => Ok((statement, None)),
            (false, true) => Ok((statement, Some(behind))),
            (false, false) => self.fail(),
        }
    }
}
