//! A secondary index is built while writers write.
//!
//! ```text
//!   alone in the table:   a new definition, in which the index is "being built"      from here on writers keep it
//!   beside writers:       a snapshot; its rows, sorted; each entry is put where
//!                         there is none, at the end in whole leaves                   newer ones are there already
//!   alone in the table:   did it work? then the system's rows say so, and readers may use it
//! ```
//!
//! # Invariants
//! 1. The snapshot is taken after all who use the table have the new definition. So a row is in the snapshot, or whoever
//!    wrote it has written its entry.
//! 2. Whoever deletes or moves an entry that has not been built yet leaves a tombstone, and undo says that the entry was
//!    there: undoing puts it. The snapshot keeps tombstones from being purged until the build is over.
//! 3. What is built has a header that everybody sees, so the index is no use to snapshots that are older than the build
//!    ([`EngineError::TableChanged`], as in MySQL).
//! 4. A duplicate found by a writer is not the writer's fault: the build fails, and the writer goes on.
//!
//! # When things fail
//! The definition without the index is published, and its tree dropped. If the statement was killed, or has waited too long, while
//! others are in the table, the tree stays: they may be writing to it. So it is one that nobody names, as a crash leaves, and the
//! next start drops it.

use std::sync::Arc;

use meseta_storage::Change as TreeChange;

use super::open_table;
use crate::catalog::CatalogError;
use crate::error::{EngineError, Result};
use crate::ids::{IndexId, TableId};
use crate::lock::TableMode;
use crate::locking::Direction;
use crate::row::{KeyRange, VERSION_HEADER_LEN, VersionHeader, recycle_values};
use crate::rows::{FoundRow, RowCursor};
use crate::session::{Isolation, Session};
use crate::sorted_runs::SortedRuns;
use crate::table::{Build, Entry, IndexDefinition, Table};

/// Entries take so much memory before a run of them goes to a file.
const RUN_BYTES: usize = 64 << 20;

impl Session {
    /// Creates a secondary index. Others read and write meanwhile. Errors: `TableGone`, `Definition`; `Duplicate`, if the
    /// index is unique and the rows are not.
    pub fn create_index(&mut self, id: TableId, index: IndexDefinition) -> Result<()> {
        let created = self.build_index(id, index);
        self.end_ddl(created)
    }

    fn build_index(&mut self, id: TableId, mut index: IndexDefinition) -> Result<()> {
        let core = Arc::clone(&self.core);
        let old = self.own_table(id)?;
        let name = index.name.clone();
        let mut definition = old.definition.clone();
        index.id = IndexId(core.index_numbers.take(&core.root, 1, 1)? as u32);
        definition.indexes.push(index.clone());
        definition.check()?;
        let tree = core.store.create_tree()?.id();
        let at = definition.indexes.len() - 1;
        definition.indexes[at].tree = tree;
        let build = Arc::new(Build::default());
        let mut is_alone = true;
        let built = self.publish_building(&old, definition, &build).and_then(|table| {
            is_alone = false;
            self.leave_table(&table, Some(TableMode::Upgradable));
            let filled = self.fill(&table, at, &build);
            // Whatever came of it, alone again: nobody goes on writing to an index that is not there.
            let alone = self.own_table(id)?;
            is_alone = true;
            filled.and_then(|()| self.adopt(&alone, &build))
        });
        if built.is_err() {
            self.abandon(id, index.id)?;
            core.indexes.remove(index.id);
            // Who is in the table may be at the index, and its pages must not be another's.
            if is_alone {
                core.store.drop_tree(tree)?;
            }
        }
        match built {
            Err(EngineError::Catalog(CatalogError::Duplicate(_))) => Err(CatalogError::Duplicate(name).into()),
            other => other,
        }
    }

    /// From here on writers keep the index. It is in the schema, and not in the system's tables.
    fn publish_building(
        &mut self,
        old: &Table,
        definition: crate::table::TableDefinition,
        build: &Arc<Build>,
    ) -> Result<Arc<Table>> {
        let core = &self.core;
        let mut table =
            open_table(&core.store, &core.root, definition, Some(old))?.with_referrers(old.referrers.clone());
        if let Some(index) = table.indexes.last_mut() {
            index.build = Some(Arc::clone(build));
            core.indexes.add(Arc::clone(&index.index));
        }
        let table = Arc::new(table);
        self.publish_table(&table);
        Ok(table)
    }

    fn publish_table(&self, table: &Arc<Table>) {
        let _changing = self.core.catalog.change();
        let mut schema = (*self.core.catalog.schema().1).clone();
        schema.put(Arc::clone(table));
        self.core.catalog.publish(schema);
    }

    /// Puts an entry for each row of a snapshot, where there is none.
    fn fill(&mut self, table: &Table, at: usize, build: &Build) -> Result<()> {
        let mut reader = Session::new(&self.core)?;
        reader.set_isolation(Isolation::RepeatableRead);
        let layout = &table.indexes[at].layout;
        let columns = layout.columns();
        let mut rows = RowCursor::consistent(table, 0, KeyRange::ALL, Direction::Ascending, columns.iter().copied());
        let mut sorted = SortedRuns::new(&self.core.store, RUN_BYTES);
        let (mut buffers, mut entry, mut memory) = (Default::default(), Entry::default(), Vec::new());
        let mut rows_read = 0;
        while rows.next(&mut reader)? {
            self.look_for_kill(&mut rows_read)?;
            let mut values = recycle_values(memory);
            rows.read_columns(&columns, &mut buffers, &mut values)?;
            layout.entry(&values, rows.key(), &*self.core.collations, &mut entry)?;
            memory = recycle_values(values);
            sorted.push(&entry.key, &entry.payload)?;
            if build.has_failed() {
                return Err(CatalogError::Duplicate(String::new()).into());
            }
        }
        drop(rows);
        self.put_sorted(table, at, build, sorted)?;
        reader.commit()
    }

    /// Puts entries in their order: behind all that are there leaf by leaf, the others one by one.
    fn put_sorted(&mut self, table: &Table, at: usize, build: &Build, sorted: SortedRuns) -> Result<()> {
        let mut loader = table.indexes[at].index.tree.loader()?;
        let (mut value, mut entries_put) = (Vec::new(), 0);
        sorted.for_each(|key, payload| -> Result<()> {
            self.look_for_kill(&mut entries_put)?;
            if build.has_failed() {
                return Err(CatalogError::Duplicate(String::new()).into());
            }
            value.clear();
            value.extend_from_slice(&VersionHeader::BUILT.to_bytes());
            value.extend_from_slice(payload);
            loader.add(key, &value, |key, value| self.put_absent(table, at, key, value))
        })?;
        loader.finish(|key, value| self.put_absent(table, at, key, value))
    }

    /// Puts an entry, if there is none of its key.
    fn put_absent(&mut self, table: &Table, at: usize, key: &[u8], value: &[u8]) -> Result<()> {
        let mut found = None;
        table.indexes[at].index.tree.modify(key, &[], |current| {
            Ok(match current {
                None => TreeChange::Put(value.into()),
                Some(current) => {
                    found = Some(current.to_vec());
                    TreeChange::Keep
                }
            })
        })?;
        found.map_or(Ok(()), |found| self.check_found(table, at, key, &value[VERSION_HEADER_LEN..], &found))
    }

    /// There is an entry already: it is this row's, or of one that has these values now, or a duplicate.
    fn check_found(&mut self, table: &Table, at: usize, key: &[u8], payload: &[u8], found: &[u8]) -> Result<()> {
        let index = &table.indexes[at];
        let corrupt = |problem| index.index.damaged(problem);
        let (header, found) = VersionHeader::split_off(found).map_err(corrupt)?;
        let own = index.layout.primary_key_of(key, payload).map_err(corrupt)?;
        let other = index.layout.primary_key_of(key, found).map_err(corrupt)?;
        if header.deleted || own == other {
            return Ok(());
        }
        // The row may have left these values to the other one since the snapshot; and if not for good, the other one would
        // have had to wait.
        let mut row = FoundRow { key: own.to_vec(), ..FoundRow::default() };
        if self.get_newest(&table.rows().index, &row.key, &mut row.value)? && !row.is_deleted(table)? {
            let (mut buffers, mut values, mut newest) = (Default::default(), Vec::new(), Entry::default());
            row.read(table, &mut buffers, &mut values)?;
            index.layout.entry(&values, own, &*self.core.collations, &mut newest)?;
            if newest.key == key {
                return Err(CatalogError::Duplicate(String::new()).into());
            }
        }
        Ok(())
    }

    /// The index is whole: it is in the system's tables, and readers may use it. On entry: nobody else is in the table.
    fn adopt(&mut self, table: &Table, build: &Build) -> Result<()> {
        if build.has_failed() {
            return Err(CatalogError::Duplicate(String::new()).into());
        }
        let usable_from = self.core.time.now();
        self.change_catalog(|change| {
            let mut adopted = Table::clone(&*change.redefine(table.definition.clone())?);
            if let Some(index) = adopted.indexes.last_mut() {
                (index.build, index.usable_from) = (None, usable_from);
            }
            change.schema.put(Arc::new(adopted));
            Ok(())
        })
    }

    /// The index is not to be: the definition without it. On entry: nobody else is in the table, or it could not be entered.
    fn abandon(&mut self, id: TableId, index: IndexId) -> Result<()> {
        let Some(table) = self.schema().table(id).cloned() else { return Ok(()) };
        let mut definition = table.definition.clone();
        definition.indexes.retain(|other| other.id != index);
        if definition.indexes.len() < table.definition.indexes.len() {
            let core = &self.core;
            let without = open_table(&core.store, &core.root, definition, Some(&table))?;
            self.publish_table(&Arc::new(without.with_referrers(table.referrers.clone())));
        }
        Ok(())
    }
}
