//! What can go wrong with a transaction, sorted by consequence.

use meseta_storage::StorageError;

use crate::ids::{IndexId, TableId};
use crate::lock::LockError;
use crate::row::{Corrupt, KeyError, RowError};
use crate::table::{DefinitionError, EntryError};
use crate::time::TableFull;
use crate::undo::UndoError;
use crate::version::VersionError;

/// The result of everything that a transaction does.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// What went wrong. The statement did nothing, or has to be undone; [`EngineError::ends_transaction`] says whether the
/// transaction has, too.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EngineError {
    /// A lock was not had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A page is missing, and the statement waits for it without its thread.
    #[error("the statement waits for a page")]
    Suspended,
    /// No writer can begin.
    #[error(transparent)]
    TableFull(#[from] TableFull),
    /// There are as many sessions as there can be.
    #[error("too many sessions")]
    TooManySessions,
    /// The transaction was rolled back: a deadlock's victim. The caller says so to its user, and begins another.
    #[error("the transaction has been rolled back")]
    RolledBack,
    /// The system has no more threads.
    #[error("a thread cannot be made: error {errno}")]
    NoThread {
        /// The system's number.
        errno: i32,
    },
    /// A transaction of this XA name is prepared already.
    #[error("the XA name is in use")]
    DuplicateXid,
    /// No transaction of this XA name is prepared.
    #[error("no transaction of this XA name is prepared")]
    NoSuchXid,
    /// A row's values do not suit the table.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// A row refers to one that is not there.
    #[error("foreign key '{key}' of table {}: there is no row to refer to", table.0)]
    NoParent {
        /// The table of the row that refers.
        table: TableId,
        /// The foreign key.
        key: String,
    },
    /// Rows refer to one that is to go, or to change.
    #[error("foreign key '{key}' of table {}: rows refer to this one", table.0)]
    HasChildren {
        /// The table of the rows that refer.
        table: TableId,
        /// The foreign key.
        key: String,
    },
    /// Changes cascade too far.
    #[error("foreign keys cascade too deep")]
    CascadesTooDeep,
    /// A row that was to follow its parent would have the same unique values as another.
    #[error("a row of table {} that follows its parent would be a duplicate", table.0)]
    CascadeConflict {
        /// The table.
        table: TableId,
        /// The number of the unique index.
        index: usize,
    },
    /// A definition that the engine cannot keep.
    #[error(transparent)]
    Definition(#[from] DefinitionError),
    /// An index is younger than the snapshot: what it has is not what there was. The transaction begins anew.
    #[error("the table's definition has changed since the transaction's first read")]
    TableChanged,
    /// Something of the catalog is there already, or is not.
    #[error(transparent)]
    Catalog(#[from] crate::catalog::CatalogError),
    /// Pages, the log, the disk.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// What was there before cannot be told.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// An entry is not what any version of the engine writes.
    #[error("an entry of index {} is damaged: {problem}", index.0)]
    Corrupt {
        /// The index.
        index: IndexId,
        /// What is wrong.
        problem: Corrupt,
    },
}

impl EngineError {
    /// Whether the whole transaction has to be rolled back, and not the statement alone.
    pub fn ends_transaction(&self) -> bool {
        matches!(self, EngineError::Lock(LockError::Deadlock) | EngineError::RolledBack)
    }
}

impl From<KeyError> for EngineError {
    fn from(error: KeyError) -> Self {
        EngineError::Entry(error.into())
    }
}

impl From<RowError> for EngineError {
    fn from(error: RowError) -> Self {
        EngineError::Entry(error.into())
    }
}

impl From<VersionError> for EngineError {
    fn from(error: VersionError) -> Self {
        match error {
            VersionError::Undo(error) => EngineError::Undo(error),
            VersionError::Corrupt { index, problem } => EngineError::Corrupt { index, problem },
        }
    }
}
