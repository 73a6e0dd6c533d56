//! Meseta's reader of MySQL's SQL: from the bytes of a statement to a tree that a binder works from.
//!
//! ```text
//!   bytes --lexer (keyword, literal)--> tokens --parser--> ast::Statement, in the caller's arena
//!     \                                                \--> ParseError: MySQL's number and words
//!      \--normaliser--> shape (the text without literals) and the literals: the key of the plan cache
//! ```
//!
//! 1. Any bytes can be given. The answer is a statement or an error, never a panic, and the stack stays bounded
//!    ([`Options::depth_limit`]).
//! 2. What MySQL accepts is accepted, what it refuses with error 1064 is refused at the same token
//!    (`make conformance`); what it refuses for other reasons is left to the binder, apart from [`ErrorKind`].
//! 3. Operators group as MySQL groups them (`tests/grouping.rs`).
//! 4. It has never heard of tables that exist, types of columns, or sessions.
//!
//! Written by hand, from the reference manual and from what a server answers, since no library reads this language well
//! enough (docs/decisions/2026-11-21-parser.md).

pub mod ast;
mod error;
mod keyword;
mod lexer;
mod literal;
mod normaliser;
mod options;
mod parser;
mod print;
mod span;
mod token;

pub use bumpalo::Bump as Arena;
pub use error::{ErrorKind, ParseError};
pub use keyword::{Keyword, Reservedness};
pub use lexer::Lexer;
pub use normaliser::{Lifted, LiftedKind, Normaliser, Shape};
pub use options::{DEFAULT_DEPTH_LIMIT, Options, SqlMode};
pub use print::{Parenthesised, first_expression};
pub use span::Span;
pub use token::{Token, TokenKind};

/// A statement that was read.
#[derive(Clone, Copy, Debug)]
pub struct Parsed<'a> {
    /// The tree.
    pub statement: ast::Statement<'a>,
    /// How many `?` it has.
    pub parameters: u32,
    /// Where the next statement begins, behind the `;`; None if there is none.
    pub next: Option<usize>,
}

/// Reads the statement that begins at `start` of `text` (0, or `next` of the one before). Spans count from the
/// beginning of `text`.
///
/// ```
/// use meseta_parser::{Arena, Options, ast::Statement, parse};
/// let arena = Arena::new();
/// let parsed = parse(&arena, b"SELECT c FROM t WHERE id = ?", 0, Options::default()).unwrap();
/// assert_eq!(parsed.parameters, 1);
/// assert!(matches!(parsed.statement, Statement::Query(_)));
/// let error = parse(&arena, b"SELECT FROM t", 0, Options::default()).unwrap_err();
/// assert_eq!((error.code(), &error.near[..]), (1064, &b"FROM t"[..]));
/// ```
pub fn parse<'a>(arena: &'a Arena, text: &'a [u8], start: usize, options: Options) -> Result<Parsed<'a>, ParseError> {
    if text.len() >= u32::MAX as usize {
        let failure = error::Failure { kind: ErrorKind::TextTooLong, start: 0, end: 0 };
        return Err(ParseError::new(failure, &[]));
    }
    let mut parser = parser::Parser::new(arena, text, start.min(text.len()), options);
    match parser.whole() {
        Ok((statement, next)) => Ok(Parsed { statement, parameters: parser.parameters, next }),
        Err(failure) => Err(ParseError::new(failure, text)),
    }
}
