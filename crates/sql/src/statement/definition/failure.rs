//! What the engine refuses, in MySQL's words.

use std::fmt::Display;

use meseta_engine::EngineError;
use meseta_engine::catalog::{CatalogError, Schema};
use meseta_engine::ids::TableId;
use meseta_errors::*;

use crate::error::Error;
use crate::schema::attributes::Damaged;
use crate::schema::{ForeignKey, NameStyle, Table, TableCache, foreign_key_line, quoted_name};

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
        error => Error::from_engine(error),
    }
}

/// An error of the engine while rows change, in MySQL's words: those of foreign keys name the constraint.
pub fn change_failure(error: EngineError, schema: &Schema, tables: &TableCache) -> Error {
    let (code, child, key) = match &error {
        EngineError::NoParent { table, key } => (ER_NO_REFERENCED_ROW_2, *table, key),
        EngineError::HasChildren { table, key } => (ER_ROW_IS_REFERENCED_2, *table, key),
        EngineError::CascadeConflict { table, index } => return cascade_conflict(*table, *index, schema),
        _ => return engine_failure(error),
    };
    let found = schema.table(child).and_then(|engine| tables.get(engine).ok());
    let text = found.and_then(|table| {
        let key = table.foreign_keys.iter().find(|known| known.name == *key)?;
        Some(constraint_text(&table, key, schema))
    });
    // Another definition has come meanwhile: what is left is the name.
    let text = text.unwrap_or_else(|| format!(" (CONSTRAINT {})", quoted_name(key)));
    Error::new(code, &[&text])
}

/// `` (`test`.`child`, CONSTRAINT `name` FOREIGN KEY ...)``, with a blank in front.
pub(super) fn constraint_text(table: &Table, key: &ForeignKey, schema: &Schema) -> String {
    let line = foreign_key_line(key, table, schema, NameStyle::USUAL);
    format!(" ({}.{}, {})", quoted_name(&table.database), quoted_name(&table.name), line.trim_start())
}

/// 1761: a row that was to follow its parent is in the way of another.
fn cascade_conflict(table: TableId, index: usize, schema: &Schema) -> Error {
    let Some(table) = schema.table(table) else { return Error::new(ER_TABLE_DEF_CHANGED, &[]) };
    let index = table.definition.indexes.get(index).map_or("", |index| index.name.as_str());
    let name = &table.definition.name;
    Error::new(ER_FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO, &[name, &"", name, &index])
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
