//! ALTER TABLE: the shortest way to the table that is to be.
//!
//! ```text
//!   draft (alter_action) --> is it possible? --> way --> redefine | build_indexes | rebuild
//! ```

use std::sync::Arc;

use meseta_engine::EngineError;
use meseta_engine::catalog::CatalogError;
use meseta_engine::ids::TableId;
use meseta_engine::table::{IndexDefinition, Table as EngineTable, TableDefinition};
use meseta_errors::*;
use meseta_parser::ast::{self, AlterAction};

use super::alter_action::Draft;
use super::failure::{EngineFailure, constraint_text, engine_failure};
use super::foreign_key::are_compatible;
use super::rename::rename;
use super::rows::{Converter, entry_text};
use super::way::{Algorithm, Copied, Way, check_algorithm};
use super::{DefinitionContext, Outcome, name};
use crate::error::{Error, Result};
use crate::schema::{Index, Table};

impl DefinitionContext<'_> {
    pub(super) fn alter_table(&mut self, alter: &ast::AlterTable<'_>, text: &[u8]) -> Result<Outcome> {
        if alter.partitioning.is_some() {
            return Err(Error::not_yet("partitioning"));
        }
        let (old, engine) = self.table(&alter.name)?;
        let mut draft = self.draft(&old, alter.actions, text)?;
        self.rename_draft(&mut draft, alter.actions)?;
        self.check_references(&old, &draft)?;
        self.check_stored_status(&old, &draft)?;
        self.check_expressions(&draft.table)?;
        for action in alter.actions {
            match action {
                AlterAction::EnableKeys | AlterAction::DisableKeys => self.note(ER_ILLEGAL_HA, &[&old.name]),
                AlterAction::OrderBy(_) if draft.table.has_primary_key => {
                    let message = format!(
                        "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
                        old.name
                    );
                    self.context.warnings.warn(meseta_types::SqlError::new(ER_UNKNOWN_ERROR.0, message));
                }
                _ => {}
            }
        }
        let is_engine = |action: &AlterAction<'_>| matches!(action, AlterAction::Option(ast::TableOption::Engine(_)));
        let is_force = |action: &AlterAction<'_>| matches!(action, AlterAction::Force);
        let is_written_anew = draft.algorithm == Algorithm::Copy
            || alter.actions.iter().any(is_force)
            || (alter.actions.iter().any(is_engine) && alter.actions.iter().all(is_engine));
        let way = if is_written_anew { Way::Rebuild } else { self.way(&old, &engine, &mut draft)? };
        let copied = Copied::of(&old, &draft, self.foreign_key_checks);
        check_algorithm(draft.algorithm, way, copied)?;
        let counts = draft.algorithm == Algorithm::Copy || copied.is_some();
        let rows = match way {
            Way::Definition => self.redefine(&old, &draft).map(|()| 0)?,
            Way::Indexes => self.build_indexes(&old, &engine, &draft).map(|()| 0)?,
            Way::Rebuild => self.rebuild(&old, &mut draft).map(|rows| if counts { rows } else { 0 })?,
        };
        if let Some(next) = draft.given.auto_increment {
            self.set_next_number(old.id, next)?;
        }
        Ok(Outcome::Done { rows })
    }

    /// Writes a table's rows anew, as they are.
    pub(super) fn rebuild_table(&mut self, name: &ast::ObjectName<'_>) -> Result<()> {
        let (old, _) = self.table(name)?;
        let mut draft = self.draft(&old, &[], b"")?;
        self.rebuild(&old, &mut draft).map(|_| ())
    }

    /// RENAME among the actions. Errors: 1049, 1050.
    fn rename_draft(&mut self, draft: &mut Draft, actions: &[AlterAction<'_>]) -> Result<()> {
        for action in actions {
            let AlterAction::Rename(to) = action else { continue };
            let database = to.schema.map_or_else(|| draft.table.database.clone(), |schema| name::text(schema.text));
            let to = name::table(to.name)?;
            if (&database, &to) != (&draft.table.database, &draft.table.name) {
                self.check_new_table(&database, &to)?;
                rename(&mut draft.table, &database, &to);
            }
        }
        Ok(())
    }

    /// A column is virtual for ever, or never. Error 3106.
    fn check_stored_status(&self, old: &Table, draft: &Draft) -> Result<()> {
        let is_virtual = |column: &crate::schema::Column| column.generated.as_ref().is_some_and(|of| !of.stored);
        for (column, source) in draft.table.columns.iter().zip(&draft.sources) {
            if let Some(before) = source.map(|at| &old.columns[usize::from(at)])
                && is_virtual(before) != is_virtual(column)
            {
                return Err(Error::new(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, &[&"Changing the STORED status"]));
            }
        }
        Ok(())
    }

    /// Foreign keys of the table, and those that refer to it, must still find columns of their types, and indexes.
    /// Errors: 1553, 1829, 3780.
    fn check_references(&mut self, old: &Table, draft: &Draft) -> Result<()> {
        let needed = |index: Option<&Index>| {
            let index = index.map_or("PRIMARY", |index| index.name.as_str());
            Error::new(ER_DROP_INDEX_FK, &[&index])
        };
        let begins = |index: &Index, columns: &[u16]| {
            index.parts.len() >= columns.len()
                && index.parts.iter().zip(columns).all(|(part, &of)| part.column == of && part.prefix.is_none())
        };
        let schema = self.schema();
        for key in &draft.table.foreign_keys {
            if !draft.table.indexes.iter().any(|index| begins(index, &key.columns)) {
                let before = old.foreign_keys.iter().find(|before| before.name == key.name);
                let columns = before.map_or(&key.columns, |before| &before.columns);
                return Err(needed(old.indexes.iter().find(|index| begins(index, columns))));
            }
            let Some(parent) = key.parent.filter(|&parent| parent != old.id).and_then(|id| schema.table(id)) else {
                continue;
            };
            let parent = self.read(parent)?;
            for (&own, &other) in key.columns.iter().zip(&key.parent_numbers) {
                let (own, other) = (&draft.table.columns[usize::from(own)], &parent.columns[usize::from(other)]);
                if !are_compatible(&own.data_type, &other.data_type) {
                    return Err(Error::new(ER_FK_INCOMPATIBLE_COLUMNS, &[&own.name, &other.name, &key.name]));
                }
            }
        }
        for child in self.children_of(&[old.id])? {
            for key in child.foreign_keys.iter().filter(|key| key.parent == Some(old.id)) {
                let mut numbers = Vec::new();
                for (&own, &number) in key.columns.iter().zip(&key.parent_numbers) {
                    let Some(at) = draft.sources.iter().position(|source| *source == Some(number)) else {
                        let dropped = &old.columns[usize::from(number)].name;
                        return Err(Error::new(ER_FK_COLUMN_CANNOT_DROP_CHILD, &[dropped, &key.name, &child.name]));
                    };
                    let (own, other) = (&child.columns[usize::from(own)], &draft.table.columns[at]);
                    if !are_compatible(&own.data_type, &other.data_type) {
                        return Err(Error::new(ER_FK_INCOMPATIBLE_COLUMNS, &[&own.name, &other.name, &key.name]));
                    }
                    numbers.push(at as u16);
                }
                let is_it = |index: &Index| index.unique && begins(index, &numbers);
                if !draft.table.indexes.iter().any(is_it) {
                    let before = |index: &&Index| index.unique && begins(index, &key.parent_numbers);
                    return Err(needed(old.indexes.iter().find(before)));
                }
            }
        }
        Ok(())
    }

    /// Other tables whose foreign keys refer to columns that have other numbers now.
    fn related(&mut self, old: &Table, draft: &Draft) -> Result<Vec<TableDefinition>> {
        let mut related = Vec::new();
        for child in self.children_of(&[old.id])? {
            let mut changed = (*child).clone();
            for key in changed.foreign_keys.iter_mut().filter(|key| key.parent == Some(old.id)) {
                for number in &mut key.parent_numbers {
                    let at = draft.sources.iter().position(|source| *source == Some(*number));
                    *number = at.map_or(*number, |at| at as u16);
                }
            }
            if changed != *child {
                related.push(changed.definition());
            }
        }
        Ok(related)
    }

    /// Puts the draft's definition in the place of the old one.
    fn redefine(&mut self, old: &Table, draft: &Draft) -> Result<()> {
        let mut related = self.related(old, draft)?;
        related.extend(self.renamed_children(old, draft)?);
        related.insert(0, draft.table.definition());
        self.engine.change_tables(related, &[]).map_err(engine_failure)
    }

    /// Keys that wait for a table of the new name.
    fn renamed_children(&mut self, old: &Table, draft: &Draft) -> Result<Vec<TableDefinition>> {
        if (&old.database, &old.name) == (&draft.table.database, &draft.table.name) {
            return Ok(Vec::new());
        }
        Ok(self.waiting_for(&draft.table)?.iter().map(Table::definition).collect())
    }

    fn build_indexes(&mut self, old: &Table, engine: &Arc<EngineTable>, draft: &Draft) -> Result<()> {
        let definition = draft.table.definition();
        let new: Vec<&IndexDefinition> =
            definition.indexes.iter().filter(|index| index.id.0 == 0 && !index.parts.is_empty()).collect();
        for (at, index) in new.iter().enumerate() {
            if let Err(error) = self.engine.create_index(old.id, (*index).clone()) {
                for built in &new[..at] {
                    self.engine.drop_index(old.id, &built.name).map_err(engine_failure)?;
                }
                return Err(match error {
                    EngineError::Catalog(CatalogError::Duplicate(_)) => {
                        let index = draft.table.indexes.iter().find(|known| known.name == index.name);
                        let index = index.cloned().unwrap_or_else(|| Index::new("", true, Vec::new()));
                        self.duplicate(&draft.table, engine, &index)?
                    }
                    error => engine_failure(error),
                });
            }
        }
        Ok(())
    }

    /// Copies all rows into what the table is to be.
    fn rebuild(&mut self, old: &Table, draft: &mut Draft) -> Result<u64> {
        let mut related = self.related(old, draft)?;
        related.extend(self.renamed_children(old, draft)?);
        draft.table.stored = Vec::new();
        for column in &mut draft.table.columns {
            column.added_with = None;
        }
        let checked = if self.foreign_key_checks { draft.new_keys.clone() } else { Vec::new() };
        let mut converter = Converter {
            old,
            draft,
            context: self.context,
            expressions: match &mut self.expressions {
                Some(expressions) => Some(&mut **expressions),
                None => None,
            },
            now: self.now,
            rows: 0,
            last: Vec::new(),
        };
        let definition = converter.draft.table.definition();
        let done = self.engine.rebuild_table(definition, related, &checked, |row, out| {
            converter.convert(row, out).map_err(EngineFailure::from)
        });
        let (rows, last) = (converter.rows, std::mem::take(&mut converter.last));
        match done {
            Ok(()) => Ok(rows),
            Err(EngineFailure::Engine(EngineError::Catalog(CatalogError::Duplicate(index)))) => {
                let table = &draft.table;
                let entry = table
                    .indexes
                    .iter()
                    .find(|known| known.name == index)
                    .map_or_else(String::new, |known| entry_text(table, known, &last, &self.context.zone));
                Err(Error::new(ER_DUP_ENTRY, &[&entry, &format!("{}.{index}", table.name)]))
            }
            Err(EngineFailure::Engine(EngineError::NoParent { key, .. })) => {
                let found = draft.table.foreign_keys.iter().find(|known| known.name == key);
                let schema = self.schema();
                let text = found.map_or(key.clone(), |found| constraint_text(&draft.table, found, &schema));
                Err(Error::new(ER_NO_REFERENCED_ROW_2, &[&text]))
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// AUTO_INCREMENT = n: not below what rows have.
    fn set_next_number(&mut self, id: TableId, next: u64) -> Result<()> {
        let schema = self.schema();
        let Some(engine) = schema.table(id) else { return Ok(()) };
        let Some(column) = engine.definition.auto_increment else { return Ok(()) };
        let next = match engine.auto_increment.next() > next {
            true => next.max(self.largest(engine, column)?.saturating_add(1)),
            false => next,
        };
        self.engine.set_auto_increment(id, next.max(1)).map_err(engine_failure)
    }
}
