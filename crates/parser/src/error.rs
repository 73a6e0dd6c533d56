//! Why a statement could not be read, with MySQL's number and words.
//!
//! 1. The near text begins at the first token that no valid statement could have there, and is cut at 80 bytes.
//! 2. An error is small while it travels through the parser (`Failure`); its text is made once, at the end.
//!
//! Source: the manual's "Server Error Message Reference".

use std::fmt;

/// What went wrong, on its way out of the parser.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failure {
    pub kind: ErrorKind,
    /// Where the offending token begins and ends.
    pub start: u32,
    pub end: u32,
}

/// The errors that reading can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// 1064: the token cannot be there.
    Syntax,
    /// 1065: nothing but blanks and comments.
    EmptyQuery,
    /// 1059: an identifier of more than 64 characters.
    IdentifierTooLong,
    /// 1149: a number or clause is not one that is allowed here.
    SyntaxMisuse,
    /// 1221: two clauses that do not go together.
    WrongUsage(&'static str, &'static str),
    /// 1234 and others of variables are the binder's; 1115: a character set that there is not.
    UnknownCharacterSet,
    /// 1102, 1103, 1166: an identifier that ends in a blank or is empty.
    WrongDatabaseName,
    /// 1103, the same for a table.
    WrongTableName,
    /// 1166, the same for a column.
    WrongColumnName,
    /// 1113: a table without columns.
    NoColumns,
    /// 1310, 1308, 1309: labels of compound statements.
    LabelMismatch,
    /// 1436: nested deeper than [`Options::depth_limit`](crate::Options::depth_limit).
    TooDeep,
    /// 1116: a join of more tables than there may be.
    TooManyTables,
    /// 1153 in spirit: a text of 4 GiB or more.
    TextTooLong,
}

/// A statement that could not be read.
#[derive(Clone, PartialEq, Eq)]
pub struct ParseError {
    /// What it is.
    pub kind: ErrorKind,
    /// Where the offending token begins, in bytes.
    pub position: u32,
    /// From 1.
    pub line: u32,
    /// The text from the offending token on, at most 80 bytes of it; for an identifier that is wrong, the identifier.
    pub near: Vec<u8>,
}

/// The longest near text, in bytes.
const NEAR_LIMIT: usize = 80;

impl ParseError {
    pub(crate) fn new(failure: Failure, text: &[u8]) -> ParseError {
        let (start, end) = (failure.start as usize, failure.end as usize);
        let behind = text.get(start.min(text.len())..).unwrap_or_default();
        let near = match failure.kind {
            ErrorKind::Syntax => &behind[..near_length(behind)],
            _ => text.get(start..end.min(text.len())).unwrap_or_default(),
        };
        let line = 1 + text[..end.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
        ParseError { kind: failure.kind, position: failure.start, line: line as u32, near: near.to_vec() }
    }

    /// MySQL's error number.
    pub fn code(&self) -> u16 {
        match self.kind {
            ErrorKind::Syntax => 1064,
            ErrorKind::EmptyQuery => 1065,
            ErrorKind::IdentifierTooLong => 1059,
            ErrorKind::SyntaxMisuse => 1149,
            ErrorKind::WrongUsage(..) => 1221,
            ErrorKind::UnknownCharacterSet => 1115,
            ErrorKind::WrongDatabaseName => 1102,
            ErrorKind::WrongTableName => 1103,
            ErrorKind::WrongColumnName => 1166,
            ErrorKind::NoColumns => 1113,
            ErrorKind::LabelMismatch => 1310,
            ErrorKind::TooDeep => 1436,
            ErrorKind::TooManyTables => 1116,
            ErrorKind::TextTooLong => 1153,
        }
    }

    /// The SQLSTATE that goes with [`code`](ParseError::code).
    pub fn sqlstate(&self) -> &'static str {
        match self.kind {
            ErrorKind::TooDeep | ErrorKind::TooManyTables => "HY000",
            ErrorKind::TextTooLong => "08S01",
            _ => "42000",
        }
    }
}

/// At most 80 bytes, without half a character of UTF-8 at the end.
fn near_length(text: &[u8]) -> usize {
    if text.len() <= NEAR_LIMIT {
        return text.len();
    }
    let mut length = NEAR_LIMIT;
    while length > NEAR_LIMIT - 4 && text[length] & 0xC0 == 0x80 {
        length -= 1;
    }
    length
}

/// MySQL's text. Bytes that are not UTF-8 are replaced.
impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let near = String::from_utf8_lossy(&self.near);
        match self.kind {
            ErrorKind::Syntax => write!(
                f,
                "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version \
                 for the right syntax to use near '{near}' at line {}",
                self.line
            ),
            ErrorKind::EmptyQuery => write!(f, "Query was empty"),
            ErrorKind::IdentifierTooLong => write!(f, "Identifier name '{near}' is too long"),
            ErrorKind::SyntaxMisuse => write!(
                f,
                "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version \
                 for the right syntax to use"
            ),
            ErrorKind::WrongUsage(one, other) => write!(f, "Incorrect usage of {one} and {other}"),
            ErrorKind::UnknownCharacterSet => write!(f, "Unknown character set: '{near}'"),
            ErrorKind::WrongDatabaseName => write!(f, "Incorrect database name '{near}'"),
            ErrorKind::WrongTableName => write!(f, "Incorrect table name '{near}'"),
            ErrorKind::WrongColumnName => write!(f, "Incorrect column name '{near}'"),
            ErrorKind::NoColumns => write!(f, "A table must have at least 1 column"),
            ErrorKind::LabelMismatch => write!(f, "End-label {near} without match"),
            ErrorKind::TooDeep => write!(f, "Thread stack overrun: the statement is nested too deeply"),
            ErrorKind::TooManyTables => write!(f, "Too many tables; MySQL can only use 61 tables in a join"),
            ErrorKind::TextTooLong => write!(f, "Got a packet bigger than 'max_allowed_packet' bytes"),
        }
    }
}

impl fmt::Debug for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}: {self}", self.code(), self.position)
    }
}

impl std::error::Error for ParseError {}
