//! The catalog: which databases and tables there are, as everybody sees them now.
//!
//! ```text
//!   Catalog:  version 17 ------ a word that hardly anybody writes
//!             schema  --------> Schema 17:  names, Table, Table, ...      never changed, only replaced
//!   Session:  version 17, the schema of then, a handle of its own for each table that it uses
//! ```
//!
//! Above: sessions, which look a table up by one look at the version; `ddl`, which replaces the schema. Below: `table`.
//!
//! # Invariants
//! 1. A schema is published after its rows in the system's tables have been committed.
//! 2. Whoever replaces or removes a table has it exclusively (`lock`, table). So who has entered a table and then looks at
//!    the version has a definition that stays until it leaves.

use std::collections::{BTreeMap, HashMap};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::ids::TableId;
use crate::table::{Referrer, Table};

/// What is there already, or is not.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CatalogError {
    /// A database of this name is there.
    #[error("database '{0}' exists")]
    DatabaseExists(String),
    /// No database of this name is there.
    #[error("unknown database '{0}'")]
    NoSuchDatabase(String),
    /// A table of this name is there.
    #[error("table '{0}.{1}' exists")]
    TableExists(String, String),
    /// No table of this name is there.
    #[error("unknown table '{0}.{1}'")]
    NoSuchTable(String, String),
    /// The table has gone, or never was.
    #[error("table {} is not there", .0.0)]
    TableGone(TableId),
    /// No index of this name is there.
    #[error("no index '{0}'")]
    NoSuchIndex(String),
    /// Rows of other tables refer to the table.
    #[error("foreign key '{key}' of table '{table}' refers to this one")]
    Referenced {
        /// The table whose rows refer.
        table: String,
        /// The foreign key.
        key: String,
    },
    /// A new unique index would have two rows of the same values.
    #[error("duplicate values for unique index '{0}'")]
    Duplicate(String),
    /// A row in one of the system's tables makes no sense.
    #[error("the catalog's table '{table}' is damaged: {problem}")]
    Damaged {
        /// Which.
        table: &'static str,
        /// What is wrong.
        problem: String,
    },
}

/// A database.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Database {
    /// Its tables by name.
    pub tables: BTreeMap<String, TableId>,
    /// What the layer above knows of it.
    pub attributes: Vec<u8>,
}

/// All that there is, at one time.
#[derive(Clone, Default)]
pub struct Schema {
    /// Databases by name.
    pub databases: BTreeMap<String, Database>,
    tables: HashMap<TableId, Arc<Table>>,
}

impl Schema {
    /// The table of this name.
    pub fn table_named(&self, database: &str, name: &str) -> Result<&Arc<Table>, CatalogError> {
        let found = self
            .databases
            .get(database)
            .ok_or_else(|| CatalogError::NoSuchDatabase(database.to_owned()))?
            .tables
            .get(name);
        found
            .and_then(|id| self.tables.get(id))
            .ok_or_else(|| CatalogError::NoSuchTable(database.to_owned(), name.to_owned()))
    }

    /// The table of this number.
    pub fn table(&self, id: TableId) -> Option<&Arc<Table>> {
        self.tables.get(&id)
    }

    /// All tables.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.values()
    }

    /// Puts a table in the place of the one that had its number, if any, under its name.
    pub(crate) fn put(&mut self, table: Arc<Table>) {
        self.remove(table.id());
        let database = self.databases.entry(table.definition.database.clone()).or_default();
        database.tables.insert(table.definition.name.clone(), table.id());
        self.tables.insert(table.id(), table);
    }

    /// Removes a table.
    pub(crate) fn remove(&mut self, id: TableId) -> Option<Arc<Table>> {
        let table = self.tables.remove(&id)?;
        if let Some(database) = self.databases.get_mut(&table.definition.database) {
            database.tables.remove(&table.definition.name);
        }
        Some(table)
    }

    /// Who refers to a table, by all definitions.
    pub(crate) fn referrers(&self, parent: TableId) -> Vec<Referrer> {
        let mut referrers: Vec<Referrer> = self
            .tables
            .values()
            .flat_map(|table| {
                let keys = table.definition.foreign_keys.iter().enumerate();
                keys.filter(|(_, key)| key.parent == parent).map(|(key, _)| Referrer { table: table.id(), key })
            })
            .collect();
        referrers.sort_unstable_by_key(|referrer| (referrer.table, referrer.key));
        referrers
    }
}

/// The tables that say which tables there are. (`ddl`)
pub struct SystemTables {
    /// In the order of their numbers.
    pub tables: Box<[Arc<Table>]>,
}

/// The schema of now.
#[derive(Default)]
pub struct Catalog {
    version: AtomicU64,
    schema: RwLock<Arc<Schema>>,
    changing: Mutex<()>,
}

impl Catalog {
    /// Changes each time another schema is published.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// The schema, and its version or an earlier one.
    pub fn schema(&self) -> (u64, Arc<Schema>) {
        let version = self.version();
        (version, Arc::clone(&self.schema.read()))
    }

    /// One who changes the catalog keeps others from doing it meanwhile.
    pub fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock()
    }

    /// From here on this is the schema.
    pub fn publish(&self, schema: Schema) {
        *self.schema.write() = Arc::new(schema);
        self.version.fetch_add(1, Ordering::Release);
    }
}

/// A session's own hold on a table: to pass it on costs nothing that other sessions would notice.
#[derive(Clone)]
// Two counts: the inner one is shared by all sessions, the outer one is this session's.
#[allow(clippy::redundant_allocation)]
pub struct TableHandle(Arc<Arc<Table>>);

impl TableHandle {
    /// A hold of one's own.
    pub fn new(table: &Arc<Table>) -> Self {
        Self(Arc::new(Arc::clone(table)))
    }

    /// Whether it is this very definition.
    pub fn is(&self, table: &Arc<Table>) -> bool {
        Arc::ptr_eq(&*self.0, table)
    }
}

impl Deref for TableHandle {
    type Target = Table;

    fn deref(&self) -> &Table {
        &self.0
    }
}

/// So many of a session's holds fit the lines that [`TableHandles::prefetch`] asks for.
const PREFETCHED: usize = meseta_prefetch::BEGINNING_LEN / size_of::<(TableId, TableHandle)>();

/// A session's holds on the tables that it has used, by ascending number: of a few tables, one cache line.
#[derive(Default)]
pub struct TableHandles(Vec<(TableId, TableHandle)>);

impl TableHandles {
    /// Has the first of them brought near.
    pub fn prefetch(&self) {
        meseta_prefetch::beginning(&self.0);
    }

    /// Has the holds that were brought near bring near what they hold.
    pub fn prefetch_held(&self) {
        self.0.iter().take(PREFETCHED).for_each(|(_, handle)| meseta_prefetch::value(&*handle.0));
    }

    /// The hold on a table.
    pub fn get(&self, id: TableId) -> Option<&TableHandle> {
        self.place(id).ok().map(|place| &self.0[place].1)
    }

    /// The hold on a table: the one that is there, or a new one.
    pub fn get_or_add(&mut self, id: TableId, table: &Arc<Table>) -> &TableHandle {
        let place = self.place(id).unwrap_or_else(|place| {
            self.0.insert(place, (id, TableHandle::new(table)));
            place
        });
        &self.0[place].1
    }

    /// Forgets tables that are not, or not as they were, in a schema.
    pub fn keep_those_of(&mut self, schema: &Schema) {
        self.0.retain(|(id, handle)| schema.table(*id).is_some_and(|table| handle.is(table)));
    }

    /// Where a table is, or where it would be.
    fn place(&self, id: TableId) -> Result<usize, usize> {
        self.0.binary_search_by_key(&id, |(id, _)| *id)
    }
}
