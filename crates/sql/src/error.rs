//! An error as a client sees it: MySQL's number and message.

use std::fmt::{self, Display};

use meseta_errors::{ER_NOT_SUPPORTED_YET, ErrorCode};
use meseta_parser::ParseError;
use meseta_types::SqlError;

/// The result of everything that a statement does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a statement ends with when it fails.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// MySQL's number.
    pub code: ErrorCode,
    /// MySQL's message, filled in.
    pub message: String,
}

impl Error {
    /// An error with MySQL's text for this number, filled in.
    pub fn new(code: ErrorCode, arguments: &[&dyn Display]) -> Self {
        Self { code, message: code.message(arguments) }
    }

    /// Something that is not there yet, by its name: error 1235.
    pub fn not_yet(what: &str) -> Self {
        Self::new(ER_NOT_SUPPORTED_YET, &[&what])
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code.0, self.code.sqlstate(), self.message)
    }
}

impl std::error::Error for Error {}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Self {
        Self { code: ErrorCode(error.number), message: error.message }
    }
}

impl From<ParseError> for Error {
    fn from(error: ParseError) -> Self {
        Self { code: ErrorCode(error.code()), message: error.to_string() }
    }
}
