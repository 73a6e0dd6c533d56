//! Several tables change at once, and a table's rows are written anew.
//!
//! ```text
//!   change_tables     definitions in the place of others, tables that go: one change of the catalog
//!   rebuild_table     alone in the table:  new trees; each row, converted, goes there; the definition that names them
//! ```
//!
//! # Invariants
//! 1. A table that is rebuilt keeps its number, its lock and its counter: who refers to it goes on doing so.
//! 2. Until the catalog changes nobody else sees the new trees. A crash leaves trees that nobody names.
//!
//! # When things fail
//! Nothing has changed, and the new trees are dropped.

use std::sync::Arc;

use super::{add_indexes, check_foreign_keys, check_name, drop_all, open_table, parents_of, refresh_referrers};
use crate::catalog::{CatalogError, Schema};
use crate::error::{EngineError, Result};
use crate::ids::TableId;
use crate::lock::Mode;
use crate::locking::Direction;
use crate::row::{KeyRange, Value};
use crate::rows::{RowChange, RowCursor};
use crate::session::{Isolation, Session};
use crate::table::{OwnedValue, Table, TableDefinition};

/// Rows that are copied in one transaction.
const ROWS_A_TRANSACTION: u64 = 10_000;

impl Session {
    /// Puts definitions in the place of those that have their numbers, and drops tables: all of it, or nothing. Names may
    /// be exchanged. An index that a definition does not name any more goes; none may come. Errors: `TableGone`,
    /// `TableExists`, `NoSuchDatabase`, `Definition`; `Referenced`, if a table that stays refers to one that goes.
    pub fn change_tables(&mut self, redefined: Vec<TableDefinition>, dropped: &[TableId]) -> Result<()> {
        let done = self.change_whole_tables(redefined, dropped, None);
        self.end_ddl(done)
    }

    fn change_whole_tables(
        &mut self,
        redefined: Vec<TableDefinition>,
        dropped: &[TableId],
        built: Option<TableId>,
    ) -> Result<()> {
        let mut affected: Vec<TableId> =
            redefined.iter().map(|table| table.id).chain(dropped.iter().copied()).collect();
        for &id in &affected.clone() {
            affected.extend(parents_of(self.schema().table(id).map(|table| &**table)));
        }
        affected.extend(redefined.iter().flat_map(|table| table.foreign_keys.iter().map(|key| key.parent)));
        affected.sort_unstable();
        affected.dedup();
        let changed: Vec<TableId> = redefined.iter().map(|table| table.id).chain(dropped.iter().copied()).collect();
        let mut before = Vec::new();
        for &id in &affected {
            if changed.contains(&id) {
                before.push(self.own_table(id)?);
            } else if self.schema().table(id).is_some() {
                self.own_table(id)?;
            }
        }
        for definition in &redefined {
            definition.check()?;
            let old = before.iter().find(|table| table.id() == definition.id);
            let is_known = |id| old.is_some_and(|old| old.definition.indexes.iter().any(|index| index.id == id));
            if built != Some(definition.id)
                && let Some(index) = definition.indexes.iter().find(|index| !is_known(index.id))
            {
                return Err(CatalogError::NoSuchIndex(index.name.clone()).into());
            }
        }
        let checks = self.checks_foreign_keys;
        self.change_catalog(|change| {
            for &id in &changed {
                change.system.remove_table(&mut change.session, id)?;
                change.schema.remove(id);
            }
            for definition in &redefined {
                check_name(&change.schema, definition)?;
                change.system.add_table(&mut change.session, definition)?;
                let old = before.iter().find(|table| table.id() == definition.id).map(|table| &**table);
                let table = open_table(&change.core.store, &change.core.root, definition.clone(), old)?;
                change.schema.put(Arc::new(table));
            }
            affected.iter().for_each(|&id| refresh_referrers(&mut change.schema, id));
            check_references(&change.schema, &redefined, dropped, checks)
        })?;
        for table in &before {
            match redefined.iter().find(|definition| definition.id == table.id()) {
                None => self.drop_trees(std::slice::from_ref(table))?,
                Some(definition) => {
                    let stays = |id| definition.indexes.iter().any(|index| index.id == id);
                    let gone = table.indexes.iter().map(|index| &index.index).filter(|index| !stays(index.id()));
                    self.drop_indexes(gone)?;
                }
            }
        }
        Ok(())
    }

    /// Gives a table another definition, and writes all its rows anew: `convert` is shown a row's values and makes those of
    /// the new row. Readers and writers wait. `related` are other tables whose definitions change with it. Of the foreign
    /// keys, those named in `checked` are checked for each row. Errors: those of `convert` and of
    /// [`Session::change_tables`]; `Duplicate`, by the index's name; `NoParent`.
    pub fn rebuild_table<E: From<EngineError>>(
        &mut self,
        definition: TableDefinition,
        related: Vec<TableDefinition>,
        checked: &[String],
        convert: impl FnMut(&[Value<'_>], &mut Vec<OwnedValue>) -> Result<(), E>,
    ) -> Result<(), E> {
        let done = self.rebuild_whole_table(definition, related, checked, convert);
        let ended = self.end_ddl(Ok(()));
        done.and_then(|()| Ok(ended?))
    }

    fn rebuild_whole_table<E: From<EngineError>>(
        &mut self,
        mut definition: TableDefinition,
        related: Vec<TableDefinition>,
        checked: &[String],
        convert: impl FnMut(&[Value<'_>], &mut Vec<OwnedValue>) -> Result<(), E>,
    ) -> Result<(), E> {
        definition.check().map_err(EngineError::from)?;
        let core = Arc::clone(&self.core);
        let old = self.own_table(definition.id)?;
        let mut trees = Vec::new();
        let id = definition.id;
        let rebuilt = (|| {
            self.create_indexes_of(&mut definition, &mut trees)?;
            let mut new = open_table(&core.store, &core.root, definition.clone(), Some(&old))?;
            add_indexes(&core, &new);
            new.definition.foreign_keys.retain(|key| checked.contains(&key.name));
            self.copy_rows(&old, &new, convert)?;
            let redefined = std::iter::once(definition.clone()).chain(related).collect();
            Ok(self.change_whole_tables(redefined, &[], Some(id))?)
        })();
        if rebuilt.is_err() {
            definition.indexes.iter().for_each(|index| core.indexes.remove(index.id));
            drop_all(&core.store, &trees);
        }
        rebuilt
    }

    /// Fills a new table with the rows of an old one.
    fn copy_rows<E: From<EngineError>>(
        &mut self,
        old: &Table,
        new: &Table,
        mut convert: impl FnMut(&[Value<'_>], &mut Vec<OwnedValue>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (own_keys, other_keys): (Vec<_>, Vec<_>) =
            new.definition.foreign_keys.iter().cloned().partition(|key| key.parent == new.id());
        let mut target = new.clone();
        target.definition.foreign_keys = other_keys;
        let mut reader = Session::new(&self.core)?;
        reader.set_isolation(Isolation::RepeatableRead);
        let mut writer = Session::new(&self.core)?;
        let copied = (|| {
            let columns = 0..old.definition.columns.len() as u16;
            let mut rows = RowCursor::consistent(old, 0, KeyRange::ALL, Direction::Ascending, columns);
            let (mut buffers, mut made, mut rows_read) = (Default::default(), Vec::new(), 0);
            while rows.next(&mut reader)? {
                self.look_for_kill(&mut rows_read)?;
                let mut values = Vec::new();
                rows.read(&mut buffers, &mut values)?;
                made.clear();
                convert(&values, &mut made)?;
                let values: Vec<Value<'_>> = made.iter().map(OwnedValue::as_value).collect();
                match writer.insert_row(&target, &values, Mode::Shared)? {
                    RowChange::Done => {}
                    RowChange::Conflict(conflict) => {
                        let index = new.definition.indexes.get(conflict.index);
                        let name = index.map(|index| index.name.clone()).unwrap_or_default();
                        return Err(EngineError::from(CatalogError::Duplicate(name)).into());
                    }
                    RowChange::Stale => return Err(EngineError::TableChanged.into()),
                }
                if rows_read % ROWS_A_TRANSACTION == 0 {
                    writer.commit()?;
                }
            }
            Ok(())
        })();
        reader.commit()?;
        if let Err(error) = copied {
            writer.roll_back()?;
            return Err(error);
        }
        writer.commit()?;
        for key in &own_keys {
            writer.check_own_references(new, key)?;
        }
        Ok(writer.commit()?)
    }
}

/// What the definitions refer to has to be there, and what others refer to in them.
fn check_references(schema: &Schema, redefined: &[TableDefinition], dropped: &[TableId], checks: bool) -> Result<()> {
    for table in schema.tables() {
        let key = table.definition.foreign_keys.iter().find(|key| dropped.contains(&key.parent));
        if let (Some(key), true) = (key, checks) {
            let (table, key) = (table.definition.name.clone(), key.name.clone());
            return Err(CatalogError::Referenced { table, key }.into());
        }
    }
    for definition in redefined {
        check_foreign_keys(schema, definition)?;
        for referrer in schema.referrers(definition.id) {
            if let Some(child) = schema.table(referrer.table) {
                check_foreign_keys(schema, &child.definition)?;
            }
        }
    }
    Ok(())
}
