//! DDL: databases, tables and indexes come and go, whole or not at all.
//!
//! ```text
//!   1. enter the table, exclusively                 nobody else uses it (lock, table)
//!   2. make trees                                   a crash leaves trees that nobody names: the next start drops them
//!   3. write the system's rows, commit, flush       from here on it has happened
//!   4. publish the schema                           for all to see
//!   5. drop trees                                   a crash leaves ... as above
//! ```
//!
//! # Invariants
//! 1. The system's tables decide: what they say after a crash is what there is.
//! 2. Numbers of tables and indexes are never used again. So undo records of what has gone find nothing, and mean nothing.
//!
//! # When things fail
//! Before 3 nothing has happened, and the trees made are dropped. A flush that fails in 3 has stopped the engine.

mod build;
mod rebuild;
mod system;

use std::sync::Arc;

use meseta_storage::{Durability, Store, TreeId};

pub use self::system::SYSTEM_DATABASE;
use self::system::System;

use crate::catalog::{CatalogError, Database, Schema, SystemTables};
use crate::core::Core;
use crate::counter::Counter;
use crate::error::{EngineError, Result};
use crate::ids::{CommitTime, IndexId, TableId};
use crate::index::Index;
use crate::lock::{IndexLocks, TableLock, TableMode};
use crate::root::Root;
use crate::session::Session;
use crate::table::{
    ColumnDefinition, DefinitionError, EntryLayout, ForeignKeyDefinition, IndexDefinition, Table, TableDefinition,
    TableIndex,
};

/// Rows that are read from one look for a kill to the next.
const ROWS_BETWEEN_LOOKS: u64 = 256;

/// Opens a table: each index that `old` has, with its locks, and the others anew.
pub(crate) fn open_table(
    store: &Store,
    root: &Root,
    definition: TableDefinition,
    old: Option<&Table>,
) -> Result<Table> {
    let id = definition.id;
    let open_index = |position: usize, index: &IndexDefinition| -> Result<TableIndex> {
        let layout = EntryLayout::new(&definition, position)?;
        let known = old.and_then(|old| old.indexes.iter().find(|known| known.index.id() == index.id));
        if let Some(known) = known {
            return Ok(TableIndex { layout, ..known.clone() });
        }
        let index = Arc::new(Index { tree: store.open_tree(index.tree)?, locks: IndexLocks::new(id, index.id) });
        Ok(TableIndex { index, layout, build: None, usable_from: CommitTime(0) })
    };
    let indexes = definition.indexes.iter().enumerate().map(|(position, index)| open_index(position, index));
    let indexes = indexes.collect::<Result<_>>()?;
    let (lock, auto_increment) = match old {
        Some(old) => (Arc::clone(&old.lock), Arc::clone(&old.auto_increment)),
        None => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            // More than cores: whoever is interrupted in a stripe keeps all others of that stripe waiting.
            (TableLock::new(id, (4 * cores).clamp(32, 256)), Arc::new(Counter::open(root, &counter_name(id), 1)?))
        }
    };
    Ok(Table { definition, indexes, referrers: Box::default(), lock, auto_increment })
}

/// The name of the counter of a table's column that counts by itself.
fn counter_name(table: TableId) -> Vec<u8> {
    [b"auto_increment".as_slice(), &table.0.to_be_bytes()].concat()
}

/// Opens the system's tables, or creates them in a new store.
pub(crate) fn open_system(store: &Store, root: &Root) -> Result<SystemTables> {
    let mut trees = root.system_trees()?;
    for number in trees.len()..System::ALL.len() {
        let tree = store.create_tree()?.id();
        root.set_system_tree(number as u16, tree)?;
        trees.push(tree);
    }
    let mut tables = Vec::new();
    for (system, tree) in System::ALL.into_iter().zip(trees) {
        tables.push(Arc::new(open_table(store, root, system.definition(tree), None)?));
    }
    Ok(SystemTables { tables: tables.into() })
}

/// Reads the catalog, and opens all that it names. At the start, when nobody else is there.
pub(crate) fn load(core: &Arc<Core>) -> Result<Schema> {
    let system = &core.system;
    system.tables.iter().for_each(|table| add_indexes(core, table));
    let mut session = Session::new(core)?;
    let mut schema = Schema::default();
    for (name, attributes) in system.databases(&mut session)? {
        schema.databases.insert(name, Database { attributes, ..Database::default() });
    }
    let definitions = system.definitions(&mut session)?;
    session.commit()?;
    for definition in definitions {
        schema.put(Arc::new(open_table(&core.store, &core.root, definition, None)?));
    }
    let all: Vec<TableId> = schema.tables().map(|table| table.id()).collect();
    all.into_iter().for_each(|id| refresh_referrers(&mut schema, id));
    for table in schema.tables() {
        add_indexes(core, table);
    }
    Ok(schema)
}

/// Makes a table's indexes known to those who undo and purge.
fn add_indexes(core: &Core, table: &Table) {
    table.indexes.iter().for_each(|index| core.indexes.add(Arc::clone(&index.index)));
}

/// Sets who refers to a table, by what the definitions say now.
fn refresh_referrers(schema: &mut Schema, id: TableId) {
    let Some(table) = schema.table(id) else { return };
    let referrers = schema.referrers(id);
    if *table.referrers != *referrers {
        let referrers = referrers.into();
        let table = Arc::new(table.with_referrers(referrers));
        schema.put(table);
    }
}

/// A change of the catalog under way: the system's rows, and the schema that is to be.
struct Change<'c> {
    core: &'c Core,
    system: &'c SystemTables,
    session: Session,
    schema: Schema,
}

impl Change<'_> {
    /// Puts a definition in the place of the one that had its number.
    fn redefine(&mut self, definition: TableDefinition) -> Result<Arc<Table>> {
        let old = self.schema.table(definition.id).cloned();
        if old.is_some() {
            self.system.remove_table(&mut self.session, definition.id)?;
        }
        self.system.add_table(&mut self.session, &definition)?;
        let id = definition.id;
        let parents = parents_of(old.as_deref()).chain(definition.foreign_keys.iter().map(|key| key.parent));
        let affected: Vec<TableId> = parents.chain([id]).collect();
        let table = open_table(&self.core.store, &self.core.root, definition, old.as_deref())?;
        self.schema.put(Arc::new(table));
        affected.into_iter().for_each(|id| refresh_referrers(&mut self.schema, id));
        Ok(self.schema.table(id).cloned().ok_or(CatalogError::TableGone(id))?)
    }

    /// Removes a table.
    fn remove(&mut self, id: TableId) -> Result<()> {
        self.system.remove_table(&mut self.session, id)?;
        let old = self.schema.remove(id);
        let parents: Vec<TableId> = parents_of(old.as_deref()).collect();
        parents.into_iter().for_each(|id| refresh_referrers(&mut self.schema, id));
        Ok(())
    }
}

fn parents_of(table: Option<&Table>) -> impl Iterator<Item = TableId> {
    table.into_iter().flat_map(|table| table.definition.foreign_keys.iter().map(|key| key.parent))
}

impl Session {
    /// Changes the catalog: all of it, or nothing. One at a time; on entry the tables that change are the session's alone.
    fn change_catalog<T>(&mut self, change: impl FnOnce(&mut Change<'_>) -> Result<T>) -> Result<T> {
        let core = Arc::clone(&self.core);
        core.cut_off.wait_until_none(|| core.store.health())?;
        let _changing = core.catalog.change();
        let mut session = Session::new(&core)?;
        session.set_durability(Durability::Flush);
        let schema = (*core.catalog.schema().1).clone();
        let mut under_way = Change { core: &core, system: &core.system, session, schema };
        match change(&mut under_way) {
            Ok(done) => {
                under_way.session.commit()?;
                under_way.schema.tables().for_each(|table| add_indexes(&core, table));
                core.catalog.publish(under_way.schema);
                Ok(done)
            }
            Err(error) => {
                under_way.session.roll_back()?;
                Err(error)
            }
        }
    }

    /// Enters a table that is to be changed, and leaves nobody else in it: not even those whom a crash cut off.
    fn own_table(&mut self, id: TableId) -> Result<Arc<Table>> {
        self.core.cut_off.wait_until_none(|| self.core.store.health())?;
        self.use_table(id, TableMode::Exclusive)?;
        Ok(Arc::clone(self.schema().table(id).ok_or(CatalogError::TableGone(id))?))
    }

    /// One more row has been read. Error: `Killed`, which is asked with the first one, and then after some more each time.
    fn look_for_kill(&self, rows: &mut u64) -> Result<()> {
        if rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
            self.owner.check_killed()?;
        }
        *rows += 1;
        Ok(())
    }

    /// Ends a DDL statement: nothing is locked any more. On entry: the session has no transaction.
    fn end_ddl<T>(&mut self, done: Result<T>) -> Result<T> {
        debug_assert!(self.transaction().is_none(), "DDL commits what was before");
        self.commit()?;
        done
    }

    /// Creates a database. Errors: `DatabaseExists`.
    pub fn create_database(&mut self, name: &str, attributes: &[u8]) -> Result<()> {
        self.change_catalog(|change| {
            if change.schema.databases.contains_key(name) {
                return Err(CatalogError::DatabaseExists(name.to_owned()).into());
            }
            change.system.add_database(&mut change.session, name, attributes)?;
            let database = Database { attributes: attributes.to_vec(), ..Database::default() };
            change.schema.databases.insert(name.to_owned(), database);
            Ok(())
        })
    }

    /// Sets what the layer above knows of a database. Errors: `NoSuchDatabase`.
    pub fn alter_database(&mut self, name: &str, attributes: &[u8]) -> Result<()> {
        self.change_catalog(|change| {
            let database =
                change.schema.databases.get_mut(name).ok_or_else(|| CatalogError::NoSuchDatabase(name.to_owned()))?;
            database.attributes = attributes.to_vec();
            change.system.remove_database(&mut change.session, name)?;
            change.system.add_database(&mut change.session, name, attributes)
        })
    }

    /// Drops a database with all its tables. Errors: `NoSuchDatabase`, `Referenced`.
    pub fn drop_database(&mut self, name: &str) -> Result<()> {
        let dropped = self.drop_whole_database(name);
        self.end_ddl(dropped)
    }

    fn drop_whole_database(&mut self, name: &str) -> Result<()> {
        let no_such = || CatalogError::NoSuchDatabase(name.to_owned());
        loop {
            let tables: Vec<TableId> =
                self.schema().databases.get(name).ok_or_else(no_such)?.tables.values().copied().collect();
            let gone = self.own_all(&tables)?;
            let dropped = self.change_catalog(|change| {
                let database = change.schema.databases.get(name).ok_or_else(no_such)?;
                if database.tables.values().any(|id| !tables.contains(id)) {
                    // A table has come since.
                    return Ok(false);
                }
                change.system.remove_database(&mut change.session, name)?;
                tables.iter().try_for_each(|&id| change.remove(id))?;
                change.schema.databases.remove(name);
                Ok(true)
            })?;
            if dropped {
                return self.drop_trees(&gone);
            }
        }
    }

    /// Creates a table, and its indexes empty. A foreign key whose parent is 0 refers to the table itself. Errors:
    /// `NoSuchDatabase`, `TableExists`, `Definition`.
    pub fn create_table(&mut self, definition: TableDefinition) -> Result<TableId> {
        let created = self.create_whole_table(definition);
        self.end_ddl(created)
    }

    fn create_whole_table(&mut self, mut definition: TableDefinition) -> Result<TableId> {
        definition.check()?;
        let core = Arc::clone(&self.core);
        let id = TableId(core.table_numbers.take(&core.root, 1, 1)? as u32);
        definition.id = id;
        for key in &mut definition.foreign_keys {
            if key.parent == TableId(0) {
                key.parent = id;
            } else {
                self.own_table(key.parent)?;
            }
        }
        let mut trees = Vec::new();
        let created = self.create_indexes_of(&mut definition, &mut trees).and_then(|()| {
            self.change_catalog(|change| {
                check_name(&change.schema, &definition)?;
                check_foreign_keys(&change.schema, &definition)?;
                change.redefine(definition)
            })
        });
        if created.is_err() {
            drop_all(&core.store, &trees);
        }
        created.map(|_| id)
    }

    /// Gives each index a number and a tree.
    fn create_indexes_of(&self, definition: &mut TableDefinition, trees: &mut Vec<TreeId>) -> Result<()> {
        let core = &self.core;
        for index in &mut definition.indexes {
            index.id = IndexId(core.index_numbers.take(&core.root, 1, 1)? as u32);
            index.tree = core.store.create_tree()?.id();
            trees.push(index.tree);
        }
        Ok(())
    }

    /// Enters tables that are to go. Errors: `Referenced`, if a table that stays refers to one of them.
    fn own_all(&mut self, tables: &[TableId]) -> Result<Vec<Arc<Table>>> {
        let mut sorted = tables.to_vec();
        // In one order, so that two who drop the same do not wait for each other.
        sorted.sort_unstable();
        let gone = sorted.iter().map(|&id| self.own_table(id)).collect::<Result<Vec<_>>>()?;
        for table in &gone {
            for key in &table.definition.foreign_keys {
                if self.schema().table(key.parent).is_some() {
                    self.own_table(key.parent)?;
                }
            }
            let referrer = table.referrers.iter().find(|referrer| !tables.contains(&referrer.table));
            if let (Some(referrer), true) = (referrer, self.checks_foreign_keys) {
                return Err(self.referenced(referrer.table, referrer.key).into());
            }
        }
        Ok(gone)
    }

    fn referenced(&mut self, table: TableId, key: usize) -> CatalogError {
        let found = self.schema().table(table);
        let table = found.map(|table| table.definition.name.clone()).unwrap_or_default();
        let key = found.and_then(|table| table.definition.foreign_keys.get(key));
        CatalogError::Referenced { table, key: key.map(|key| key.name.clone()).unwrap_or_default() }
    }

    /// Drops tables, all or none. Errors: `TableGone`, `Referenced`.
    pub fn drop_tables(&mut self, tables: &[TableId]) -> Result<()> {
        let dropped = self.own_all(tables).and_then(|gone| {
            self.change_catalog(|change| tables.iter().try_for_each(|&id| change.remove(id)))?;
            self.drop_trees(&gone)
        });
        self.end_ddl(dropped)
    }

    /// What tables were kept in goes. They are in no schema any more.
    fn drop_trees(&self, tables: &[Arc<Table>]) -> Result<()> {
        for table in tables {
            self.core.root.forget_number(&counter_name(table.id()))?;
            self.drop_indexes(table.indexes.iter().map(|index| &index.index))?;
        }
        Ok(())
    }

    fn drop_indexes<'i>(&self, indexes: impl Iterator<Item = &'i Arc<Index>>) -> Result<()> {
        for index in indexes {
            self.core.indexes.remove(index.id());
            self.core.store.drop_tree(index.tree.id())?;
        }
        Ok(())
    }

    /// Empties a table: new trees, and it counts from 1 again. Errors: `TableGone`, `Referenced` by another table.
    pub fn truncate_table(&mut self, id: TableId) -> Result<()> {
        let truncated = self.truncate_whole_table(id);
        self.end_ddl(truncated)
    }

    fn truncate_whole_table(&mut self, id: TableId) -> Result<()> {
        let old = self.own_table(id)?;
        let referrer = old.referrers.iter().find(|referrer| referrer.table != id);
        if let (Some(referrer), true) = (referrer, self.checks_foreign_keys) {
            return Err(self.referenced(referrer.table, referrer.key).into());
        }
        let (mut definition, mut trees) = (old.definition.clone(), Vec::new());
        let truncated = self
            .create_indexes_of(&mut definition, &mut trees)
            .and_then(|()| self.change_catalog(|change| change.redefine(definition)));
        if let Err(error) = truncated {
            drop_all(&self.core.store, &trees);
            return Err(error);
        }
        old.auto_increment.restart(&self.core.root, 1)?;
        self.drop_indexes(old.indexes.iter().map(|index| &index.index))
    }

    /// Sets the number to which a table's column counts next. Errors: `TableGone`.
    pub fn set_auto_increment(&mut self, id: TableId, next: u64) -> Result<()> {
        let set = self.own_table(id).and_then(|table| table.auto_increment.restart(&self.core.root, next));
        self.end_ddl(set)
    }

    /// Gives a table another name, or moves it to another database. Errors: `TableGone`, `TableExists`, `NoSuchDatabase`.
    pub fn rename_table(&mut self, id: TableId, database: &str, name: &str) -> Result<()> {
        self.alter_table(id, |definition| {
            definition.database = database.to_owned();
            definition.name = name.to_owned();
            Ok(())
        })
    }

    /// Adds a column behind the others; rows that are there have this value in it, and are not touched. Errors:
    /// `Definition`, `Entry` if the value does not suit.
    pub fn add_column(&mut self, id: TableId, column: ColumnDefinition) -> Result<()> {
        assert!(column.added_with.is_some(), "rows that are there have some value in the new column");
        self.alter_table(id, |definition| {
            definition.columns.push(column);
            Ok(())
        })
    }

    /// Changes what can be changed without touching a row: names, attributes, foreign keys that go, columns that come.
    /// Indexes stay as they are.
    pub fn alter_table(&mut self, id: TableId, alter: impl FnOnce(&mut TableDefinition) -> Result<()>) -> Result<()> {
        let altered = self.alter_whole_table(id, alter);
        self.end_ddl(altered)
    }

    fn alter_whole_table(&mut self, id: TableId, alter: impl FnOnce(&mut TableDefinition) -> Result<()>) -> Result<()> {
        let old = self.own_table(id)?;
        let mut definition = old.definition.clone();
        alter(&mut definition)?;
        definition.check()?;
        for key in definition.foreign_keys.iter().chain(&old.definition.foreign_keys) {
            if key.parent != id && self.schema().table(key.parent).is_some() {
                self.own_table(key.parent)?;
            }
        }
        self.change_catalog(|change| {
            check_name(&change.schema, &definition)?;
            check_foreign_keys(&change.schema, &definition)?;
            change.redefine(definition).map(|_| ())
        })
    }

    /// Drops a secondary index. Errors: `TableGone`, `NoSuchIndex`, `Definition` if a foreign key needs it.
    pub fn drop_index(&mut self, id: TableId, name: &str) -> Result<()> {
        let dropped = self.drop_whole_index(id, name);
        self.end_ddl(dropped)
    }

    fn drop_whole_index(&mut self, id: TableId, name: &str) -> Result<()> {
        let old = self.own_table(id)?;
        let position = old
            .index_named(name)
            .filter(|&position| position > 0)
            .ok_or_else(|| CatalogError::NoSuchIndex(name.to_owned()))?;
        let mut definition = old.definition.clone();
        definition.indexes.remove(position);
        definition.check()?;
        self.change_catalog(|change| {
            let table = change.redefine(definition)?;
            // Others must still find what they refer to.
            let referrers = change.schema.referrers(id);
            let needed = referrers
                .iter()
                .filter_map(|referrer| change.schema.table(referrer.table)?.definition.foreign_keys.get(referrer.key));
            for key in needed {
                refers_to_an_index(key, &table.definition)?;
            }
            Ok(())
        })?;
        self.drop_indexes([&old.indexes[position].index].into_iter())
    }
}

/// The database has to be there, and no other table of this name in it.
fn check_name(schema: &Schema, definition: &TableDefinition) -> Result<(), CatalogError> {
    match schema.table_named(&definition.database, &definition.name) {
        Ok(found) if found.id() == definition.id => Ok(()),
        Ok(_) => Err(CatalogError::TableExists(definition.database.clone(), definition.name.clone())),
        Err(CatalogError::NoSuchTable(..)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// What a foreign key refers to has to be there, of the same type and in an index.
fn check_foreign_keys(schema: &Schema, definition: &TableDefinition) -> Result<()> {
    for key in &definition.foreign_keys {
        let refused = |problem| DefinitionError::ForeignKey { name: key.name.clone(), problem };
        let parent = if key.parent == definition.id {
            definition
        } else {
            let found = schema.table(key.parent).ok_or_else(|| refused("the table that it refers to is not there"))?;
            &found.definition
        };
        for (&own, &other) in key.columns.iter().zip(&key.parent_columns) {
            let (own, other) = (&definition.columns[usize::from(own)], parent.columns.get(usize::from(other)));
            let other = other.ok_or_else(|| refused("a column that it refers to is not there"))?;
            use crate::row::ColumnType::Variable;
            let (own_type, other_type) = (own.content.column_type, other.content.column_type);
            let are_strings = matches!((own_type, other_type), (Variable { .. }, Variable { .. }));
            if (own_type != other_type && !are_strings) || own.collation != other.collation {
                return Err(refused("a column that it refers to is of another type").into());
            }
        }
        refers_to_an_index(key, parent)?;
    }
    Ok(())
}

fn refers_to_an_index(key: &ForeignKeyDefinition, parent: &TableDefinition) -> Result<(), EngineError> {
    match parent.index_beginning_with(&key.parent_columns) {
        Some(_) => Ok(()),
        None => {
            let problem = "no index begins with the columns that it refers to";
            Err(DefinitionError::ForeignKey { name: key.name.clone(), problem }.into())
        }
    }
}

/// Trees that were made for nothing. What cannot be dropped now goes at the next start.
fn drop_all(store: &Store, trees: &[TreeId]) {
    for &tree in trees {
        let _ = store.drop_tree(tree);
    }
}

/// Drops the trees that nobody names.
pub(crate) fn drop_orphans(store: &Store, root: &Root, schema: &Schema) -> Result<()> {
    let mut named: std::collections::HashSet<TreeId> = root.slots()?.into_iter().collect();
    named.extend(root.system_trees()?);
    named.insert(store.root_tree().id());
    for table in schema.tables() {
        named.extend(table.definition.indexes.iter().map(|index| index.tree));
    }
    for tree in store.trees() {
        if !named.contains(&tree) {
            store.drop_tree(tree)?;
        }
    }
    Ok(())
}
