//! A table as a plan knows it: what it is in MySQL's words, and the engine's table that this was read from.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::schema::Table;

/// A table, as of one definition. It is the schema's table, with the engine's beside it.
#[derive(Clone)]
pub struct KnownTable {
    schema: Arc<Table>,
    engine: Arc<meseta_engine::table::Table>,
}

impl KnownTable {
    /// On entry: the one was read from the other.
    pub fn new(schema: Arc<Table>, engine: Arc<meseta_engine::table::Table>) -> Self {
        Self { schema, engine }
    }

    /// The engine's table.
    pub fn engine(&self) -> &Arc<meseta_engine::table::Table> {
        &self.engine
    }
}

impl Deref for KnownTable {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.schema
    }
}

impl fmt::Debug for KnownTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.schema.database, self.schema.name)
    }
}
