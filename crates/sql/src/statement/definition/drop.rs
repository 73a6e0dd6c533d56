//! DROP TABLE and TRUNCATE.

use std::sync::Arc;

use meseta_engine::ids::TableId;
use meseta_errors::*;
use meseta_parser::ast;

use super::failure::engine_failure;
use super::{DefinitionContext, Outcome};
use crate::error::{Error, Result};
use crate::schema::{Table, quoted_name};

impl DefinitionContext<'_> {
    pub(super) fn drop_tables(&mut self, drop: &ast::DropTables<'_>) -> Result<Outcome> {
        let mut tables: Vec<TableId> = Vec::new();
        let mut missing: Vec<String> = Vec::new();
        let mut named = Vec::new();
        for given in drop.tables {
            let (database, name) = self.object(given)?;
            if named.contains(&(database.clone(), name.clone())) {
                return Err(Error::new(ER_NONUNIQ_TABLE, &[&name]));
            }
            let schema = self.schema();
            match schema.table_named(&database, &name) {
                Ok(table) if !drop.temporary => tables.push(table.id()),
                _ => missing.push(format!("{database}.{name}")),
            }
            named.push((database, name));
        }
        if !missing.is_empty() && !drop.if_exists {
            return Err(Error::new(ER_BAD_TABLE_ERROR, &[&missing.join(",")]));
        }
        if !tables.is_empty() {
            self.check_no_children(&tables)?;
            let children = self.detached(&tables)?;
            let children = children.iter().map(Table::definition).collect();
            self.engine.change_tables(children, &tables).map_err(engine_failure)?;
            let schema = self.schema();
            self.tables.keep(|id| schema.table(id).is_some());
        }
        for name in missing {
            self.note(ER_BAD_TABLE_ERROR, &[&name]);
        }
        Ok(Outcome::DONE)
    }

    /// 3730, if another table's key refers to one of these, and that is checked.
    fn check_no_children(&mut self, tables: &[TableId]) -> Result<()> {
        if !self.foreign_key_checks {
            return Ok(());
        }
        let schema = self.schema();
        for child in self.children_of(tables)? {
            for key in &child.foreign_keys {
                if let Some(parent) = key.parent.filter(|parent| tables.contains(parent))
                    && let Some(parent) = schema.table(parent)
                {
                    let names = [&parent.definition.name, &key.name, &child.name];
                    return Err(Error::new(ER_FK_CANNOT_DROP_PARENT, &[names[0], names[1], names[2]]));
                }
            }
        }
        Ok(())
    }

    /// Tables whose keys refer to tables that are about to go: with those keys waiting for others of these names.
    fn detached(&mut self, tables: &[TableId]) -> Result<Vec<Table>> {
        let schema = self.schema();
        let detach = |child: &Arc<Table>| {
            let mut child = (**child).clone();
            for key in &mut child.foreign_keys {
                if key.parent.is_some_and(|parent| tables.contains(&parent)) {
                    (key.parent_database, key.parent_table, key.parent_columns) = key.references(&schema);
                    key.parent = None;
                    key.parent_numbers.clear();
                }
            }
            child
        };
        Ok(self.children_of(tables)?.iter().map(detach).collect())
    }

    /// Before a database goes: tables of others must not refer to its own, or no longer do.
    pub(super) fn leave_children(&mut self, tables: &[TableId]) -> Result<()> {
        self.check_no_children(tables)?;
        let children: Vec<_> = self.detached(tables)?.iter().map(Table::definition).collect();
        if !children.is_empty() {
            self.engine.change_tables(children, &[]).map_err(engine_failure)?;
        }
        Ok(())
    }

    pub(super) fn truncate(&mut self, given: &ast::ObjectName<'_>) -> Result<Outcome> {
        let (table, _) = self.table(given)?;
        if self.foreign_key_checks {
            for child in self.children_of(&[table.id])? {
                if let Some(key) = child.foreign_keys.iter().find(|key| key.parent == Some(table.id)) {
                    let what = format!(
                        "{}.{}, CONSTRAINT {}",
                        quoted_name(&child.database),
                        quoted_name(&child.name),
                        quoted_name(&key.name)
                    );
                    return Err(Error::new(ER_TRUNCATE_ILLEGAL_FK, &[&what]));
                }
            }
        }
        self.engine.truncate_table(table.id).map_err(engine_failure)?;
        Ok(Outcome::DONE)
    }
}
