//! An error as a client sees it: MySQL's number and message.

use std::fmt::{self, Display};

use meseta_engine::EngineError;
use meseta_engine::lock::LockError;
use meseta_engine::row::{KeyError, RowError};
use meseta_engine::table::EntryError;
use meseta_engine::undo::UndoError;
use meseta_errors::{
    ER_CANT_CREATE_THREAD, ER_CON_COUNT_ERROR, ER_FK_DEPTH_EXCEEDED, ER_LOCK_DEADLOCK, ER_LOCK_NOWAIT,
    ER_LOCK_WAIT_TIMEOUT, ER_NO_REFERENCED_ROW_2, ER_NOT_SUPPORTED_YET, ER_QUERY_INTERRUPTED, ER_RECORD_FILE_FULL,
    ER_ROW_IS_REFERENCED_2, ER_TABLE_DEF_CHANGED, ER_TEMP_FILE_WRITE_FAILURE, ER_TOO_BIG_ROWSIZE, ER_TOO_LONG_KEY,
    ER_UNKNOWN_ERROR, ErrorCode,
};
use meseta_parser::ParseError;
use meseta_storage::ErrorKind as StorageErrorKind;
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

/// What no error has.
const NO_ERROR: ErrorCode = ErrorCode(0);

impl Error {
    /// An error with MySQL's text for this number, filled in.
    pub fn new(code: ErrorCode, arguments: &[&dyn Display]) -> Self {
        Self { code, message: code.message(arguments) }
    }

    /// A statement keeps more in between than it may.
    pub fn out_of_sort_memory() -> Self {
        Self::new(meseta_errors::ER_OUT_OF_SORTMEMORY, &[])
    }

    /// No error: the statement waits for a lock without its thread, has done nothing, and is to be executed again. No client
    /// sees this.
    pub fn suspended() -> Self {
        Self { code: NO_ERROR, message: String::new() }
    }

    /// Whether it is [`Error::suspended`].
    pub fn is_suspended(&self) -> bool {
        self.code == NO_ERROR
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

impl Error {
    /// The engine's error. (Those of foreign keys are told in full by whoever knows the tables.)
    pub fn from_engine(error: EngineError) -> Self {
        match &error {
            EngineError::Lock(LockError::WouldWait) => Self::new(ER_LOCK_NOWAIT, &[]),
            EngineError::Lock(LockError::Timeout) => Self::new(ER_LOCK_WAIT_TIMEOUT, &[]),
            EngineError::Lock(LockError::Deadlock) | EngineError::RolledBack => Self::new(ER_LOCK_DEADLOCK, &[]),
            EngineError::Lock(LockError::Suspended) | EngineError::Suspended => Self::suspended(),
            EngineError::Lock(LockError::Killed) => Self::new(ER_QUERY_INTERRUPTED, &[]),
            EngineError::TableChanged => Self::new(ER_TABLE_DEF_CHANGED, &[]),
            EngineError::CascadesTooDeep => Self::new(ER_FK_DEPTH_EXCEEDED, &[&15]),
            EngineError::NoParent { .. } => Self::new(ER_NO_REFERENCED_ROW_2, &[&error]),
            EngineError::HasChildren { .. } => Self::new(ER_ROW_IS_REFERENCED_2, &[&error]),
            EngineError::Entry(EntryError::Row(RowError::TooLong { .. })) => {
                Self::new(ER_TOO_BIG_ROWSIZE, &[&meseta_types::DataType::MAX_ROW_BYTES])
            }
            EngineError::Entry(EntryError::Key(KeyError::TooLong { .. })) => Self::new(ER_TOO_LONG_KEY, &[&3072]),
            EngineError::TooManySessions => Self::new(ER_CON_COUNT_ERROR, &[]),
            EngineError::NoThread { errno } => Self::new(ER_CANT_CREATE_THREAD, &[errno]),
            EngineError::Storage(storage) | EngineError::Undo(UndoError::Storage(storage)) => {
                let code = match storage.kind() {
                    StorageErrorKind::DiskFull { .. } => ER_RECORD_FILE_FULL,
                    StorageErrorKind::TemporaryFile(_) => ER_TEMP_FILE_WRITE_FAILURE,
                    _ => ER_UNKNOWN_ERROR,
                };
                // MySQL's sentences do not say which file, and why.
                Self { code, message: error.to_string() }
            }
            _ => Self { code: ER_UNKNOWN_ERROR, message: error.to_string() },
        }
    }

    /// What the catalog keeps of a table cannot be read.
    pub fn damaged(problem: impl Display) -> Self {
        Self { code: ER_UNKNOWN_ERROR, message: problem.to_string() }
    }

    /// Whether the whole transaction is to be rolled back, and not the statement alone.
    pub fn ends_transaction(&self) -> bool {
        self.code == ER_LOCK_DEADLOCK
    }
}
