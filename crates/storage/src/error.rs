//! What can go wrong below the rows, sorted by consequence.
//!
//! Three families never mix. The *caller* asked for something impossible ([`Effect::Statement`]); the *world*
//! failed (the disk, the space on it, somebody else's bytes); *we* have a bug, which is a panic with a sentence
//! and never a value of this type.

use std::fmt::Display;
use std::io;
use std::sync::Arc;

use crate::ids::{Lsn, PageNo};

/// The result of every storage operation that can fail.
pub type Result<T, E = StorageError> = std::result::Result<T, E>;

/// What an error means for whoever meets it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// This operation did nothing; everything else goes on.
    Statement,
    /// The store could not be opened. What recovery had done by then may stay done: it is no change of the content,
    /// and the next opening goes on from there.
    Open,
    /// The engine has stopped itself: nothing more is accepted, and opening the store again recovers it.
    Engine,
}

/// An error of the storage engine. Cheap to move and to clone: many waiters may receive the same one.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.kind())]
pub struct StorageError {
    met: Arc<Met>,
}

/// Where an error was met: the same damaged page costs an open store one operation, and keeps another from opening.
#[derive(Debug)]
enum Met {
    /// By the operation that was asked for.
    Operation(ErrorKind),
    /// By the opening of a store, which failed.
    Opening(StorageError),
}

/// The cases of [`StorageError`].
#[derive(Debug, thiserror::Error)]
pub enum ErrorKind {
    /// An insert met an entry with the same key.
    #[error("the key exists already")]
    KeyExists,
    /// A key is longer than the page format allows.
    #[error("a key of {len} bytes is longer than the limit of {limit}")]
    KeyTooLong {
        /// Bytes in the key.
        len: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// A value is longer than the format allows.
    #[error("a value of {len} bytes is longer than the limit of {limit}")]
    ValueTooLong {
        /// Bytes in the value.
        len: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// A bulk load met a key that does not follow the one before it.
    #[error("a bulk load needs ascending keys, each above all that the tree holds: entry {entry} is not")]
    NotSorted {
        /// Position in the load, counted from zero.
        entry: u64,
    },
    /// No tree has this name.
    #[error("there is no {0}")]
    NoSuchTree(crate::ids::TreeId),
    /// The tree that every store has cannot be dropped.
    #[error("{0} is the store's root tree and cannot be dropped")]
    RootTree(crate::ids::TreeId),
    /// The device is full; the operation did nothing and may be tried again after space has been freed.
    #[error("no space left on the device: {file} could not grow to {bytes} bytes")]
    DiskFull {
        /// The file that had to grow.
        file: String,
        /// The size it had to reach.
        bytes: u64,
    },
    /// Every page in memory is latched or waits to be written, and the memory limit forbids one more.
    #[error(
        "the memory limit of {limit_pages} pages is too small: all {latched_pages} pages in memory are in use at once"
    )]
    MemoryExhausted {
        /// The limit, in pages.
        limit_pages: usize,
        /// Pages that could not be evicted.
        latched_pages: usize,
    },
    /// An option's value makes no sense.
    #[error("option {option}: {problem}")]
    BadOption {
        /// The option's name.
        option: &'static str,
        /// What is wrong with its value.
        problem: String,
    },
    /// The data directory is held by another process.
    #[error("the data directory {directory} is in use: {holder}")]
    InUse {
        /// The directory.
        directory: String,
        /// Who holds it, as far as known.
        holder: String,
    },
    /// The directory holds something, but not a store.
    #[error("{directory} is not empty and is not a Meseta data directory: it has no file {missing}")]
    NotAStore {
        /// The directory.
        directory: String,
        /// The file that should be there.
        missing: &'static str,
    },
    /// A store of another format.
    #[error("{file}: {what} is {found}, but this program reads {expected}")]
    WrongFormat {
        /// The file that tells.
        file: String,
        /// Format version, page size ...
        what: &'static str,
        /// What the file says.
        found: u64,
        /// What we need.
        expected: u64,
    },
    /// A file that must be there is missing.
    #[error("{directory}: the file {file} is missing")]
    MissingFile {
        /// The directory.
        directory: String,
        /// The file's name.
        file: String,
    },
    /// A file is shorter than its content says.
    #[error("{file} is truncated: {found} bytes long, expected at least {expected}")]
    Truncated {
        /// The file's name.
        file: String,
        /// Its length in bytes.
        found: u64,
        /// The length it must have.
        expected: u64,
    },
    /// A page's bytes are not what was written.
    #[error("{file}, {page} (byte {}): {problem}", page.offset())]
    CorruptPage {
        /// The file's name.
        file: String,
        /// The page.
        page: PageNo,
        /// Expected and found.
        problem: String,
    },
    /// The log's bytes are not what was written.
    #[error("{file}, byte {offset} ({lsn}): {problem}")]
    CorruptLog {
        /// The file's name.
        file: String,
        /// Byte offset in the file.
        offset: u64,
        /// The position it holds.
        lsn: Lsn,
        /// Expected and found.
        problem: String,
    },
    /// A file other than pages and log is damaged.
    #[error("{file}: {problem}")]
    CorruptFile {
        /// The file's name.
        file: String,
        /// Expected and found.
        problem: String,
    },
    /// A read failed; what is on disk is unchanged.
    #[error("reading {what}: {error}")]
    Read {
        /// File and page.
        what: String,
        /// The system's answer.
        error: io::Error,
    },
    /// A temporary file could not be made, written or read; nothing else has happened.
    #[error("a temporary file: {0}")]
    TemporaryFile(io::Error),
    /// Setting up or listing files failed.
    #[error("{what}: {error}")]
    Setup {
        /// What was tried.
        what: String,
        /// The system's answer.
        error: io::Error,
    },
    /// The engine has stopped, for this reason.
    #[error("the storage engine has stopped: {reason}")]
    Stopped {
        /// The first failure.
        reason: String,
    },
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
}

impl StorageError {
    /// The case.
    pub fn kind(&self) -> &ErrorKind {
        match &*self.met {
            Met::Operation(kind) => kind,
            Met::Opening(error) => error.kind(),
        }
    }

    /// The same error, as that of an opening that failed.
    pub(crate) fn of_opening(self) -> Self {
        Self { met: Arc::new(Met::Opening(self)) }
    }

    /// What the error means for whoever meets it.
    pub fn effect(&self) -> Effect {
        let kind = match &*self.met {
            Met::Operation(kind) => kind,
            Met::Opening(_) => return Effect::Open,
        };
        match kind {
            ErrorKind::KeyExists
            | ErrorKind::KeyTooLong { .. }
            | ErrorKind::ValueTooLong { .. }
            | ErrorKind::NotSorted { .. }
            | ErrorKind::NoSuchTree(_)
            | ErrorKind::RootTree(_)
            | ErrorKind::DiskFull { .. }
            | ErrorKind::MemoryExhausted { .. }
            | ErrorKind::CorruptPage { .. }
            | ErrorKind::Read { .. }
            | ErrorKind::TemporaryFile(_) => Effect::Statement,
            ErrorKind::BadOption { .. }
            | ErrorKind::InUse { .. }
            | ErrorKind::NotAStore { .. }
            | ErrorKind::WrongFormat { .. }
            | ErrorKind::MissingFile { .. }
            | ErrorKind::Truncated { .. }
            | ErrorKind::CorruptLog { .. }
            | ErrorKind::CorruptFile { .. }
            | ErrorKind::Setup { .. } => Effect::Open,
            ErrorKind::Stopped { .. } | ErrorKind::Closed => Effect::Engine,
        }
    }
}

impl ErrorKind {
    /// For `map_err`: this could not be set up.
    pub fn setup(what: impl Display) -> impl Fn(io::Error) -> ErrorKind {
        move |error| ErrorKind::Setup { what: what.to_string(), error }
    }
}

impl From<ErrorKind> for StorageError {
    fn from(kind: ErrorKind) -> Self {
        Self { met: Arc::new(Met::Operation(kind)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_error_means_depends_on_who_meets_it() {
        let damaged = || ErrorKind::CorruptPage { file: "meseta.data".into(), page: PageNo(8), problem: "bad".into() };
        let error = StorageError::from(damaged());
        assert_eq!(error.effect(), Effect::Statement);
        let (sentence, opening) = (error.to_string(), error.of_opening());
        assert_eq!(opening.effect(), Effect::Open);
        assert_eq!(opening.to_string(), sentence);
        assert!(matches!(opening.kind(), ErrorKind::CorruptPage { page: PageNo(8), .. }));
        assert_eq!(StorageError::from(ErrorKind::Closed).of_opening().effect(), Effect::Open);
    }
}
