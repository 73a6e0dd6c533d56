//! What the engine refuses, in MySQL's words.

use std::fmt::Display;

use meseta_engine::EngineError;
use meseta_engine::catalog::CatalogError;
use meseta_engine::lock::LockError;
use meseta_errors::*;

use crate::error::Error;
use crate::schema::attributes::Damaged;

/// 1146.
pub fn no_such_table(database: &str, name: &str) -> Error {
    Error::new(ER_NO_SUCH_TABLE, &[&database, &name])
}

/// 1049.
pub fn no_such_database(name: &str) -> Error {
    Error::new(ER_BAD_DB_ERROR, &[&name])
}

/// Attributes that make no sense: the catalog is damaged.
pub fn damaged(error: Damaged) -> Error {
    other(&error)
}

fn other(error: &dyn Display) -> Error {
    Error { code: ER_UNKNOWN_ERROR, message: error.to_string() }
}

/// An error of the engine, in MySQL's words. What was checked before it was asked comes here only if somebody else was
/// faster.
pub fn engine_failure(error: EngineError) -> Error {
    match error {
        EngineError::Catalog(error) => match error {
            CatalogError::DatabaseExists(name) => Error::new(ER_DB_CREATE_EXISTS, &[&name]),
            CatalogError::NoSuchDatabase(name) => no_such_database(&name),
            CatalogError::TableExists(_, name) => Error::new(ER_TABLE_EXISTS_ERROR, &[&name]),
            CatalogError::NoSuchTable(database, name) => no_such_table(&database, &name),
            CatalogError::TableGone(_) => Error::new(ER_TABLE_DEF_CHANGED, &[]),
            CatalogError::NoSuchIndex(name) => Error::new(ER_CANT_DROP_FIELD_OR_KEY, &[&name]),
            CatalogError::Duplicate(name) => Error::new(ER_DUP_ENTRY, &[&"", &name]),
            error @ (CatalogError::Referenced { .. } | CatalogError::Damaged { .. }) => other(&error),
        },
        EngineError::Lock(LockError::Deadlock) | EngineError::RolledBack => Error::new(ER_LOCK_DEADLOCK, &[]),
        EngineError::Lock(_) => Error::new(ER_LOCK_WAIT_TIMEOUT, &[]),
        EngineError::TableChanged => Error::new(ER_TABLE_DEF_CHANGED, &[]),
        EngineError::NoParent { key, .. } => {
            Error::new(ER_NO_REFERENCED_ROW_2, &[&format!("CONSTRAINT `{}`", key.replace('`', "``"))])
        }
        EngineError::HasChildren { .. } => Error::new(ER_ROW_IS_REFERENCED, &[]),
        error => other(&error),
    }
}

impl From<EngineFailure> for Error {
    fn from(failure: EngineFailure) -> Self {
        match failure {
            EngineFailure::Engine(error) => engine_failure(error),
            EngineFailure::Statement(error) => error,
        }
    }
}

/// What can go wrong while rows are converted: in the engine, or here.
pub enum EngineFailure {
    /// There.
    Engine(EngineError),
    /// Here.
    Statement(Error),
}

impl From<EngineError> for EngineFailure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<Error> for EngineFailure {
    fn from(error: Error) -> Self {
        Self::Statement(error)
    }
}
