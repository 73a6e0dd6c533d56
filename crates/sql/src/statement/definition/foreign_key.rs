//! Foreign keys: what they refer to, and the keys that they need.

use std::sync::Arc;

use meseta_engine::ids::TableId;
use meseta_errors::*;
use meseta_parser::ast::{self, KeyPart, ReferenceAction};
use meseta_types::{Charset, DataType, SqlError};

use super::{DefinitionContext, name};
use crate::error::{Error, Result};
use crate::name::same_name;
use crate::schema::{ForeignKey, ForeignKeyAction, Index, IndexPart, Table};

/// A foreign key as it was written.
pub struct Given<'g> {
    pub constraint: Option<ast::Identifier<'g>>,
    pub name: Option<ast::Identifier<'g>>,
    pub columns: Vec<ast::Identifier<'g>>,
    pub references: ast::References<'g>,
}

impl<'g> Given<'g> {
    /// A constraint beside the columns.
    pub fn new(
        constraint: Option<ast::Identifier<'g>>,
        name: Option<ast::Identifier<'g>>,
        columns: &[KeyPart<'g>],
        references: ast::References<'g>,
    ) -> Result<Self> {
        let column = |part: &KeyPart<'g>| match part {
            KeyPart::Column { name, .. } => Ok(*name),
            KeyPart::Expression { .. } => Err(Error::not_yet("expressions in a foreign key")),
        };
        let columns = columns.iter().map(column).collect::<Result<_>>()?;
        Ok(Self { constraint, name, columns, references })
    }

    /// The name that its key is given, if any.
    pub fn key_name(&self) -> Option<ast::Identifier<'g>> {
        self.constraint.or(self.name)
    }
}

/// An index that serves a foreign key: it begins with these columns.
fn serves(index: &Index, columns: &[u16]) -> bool {
    index.parts.len() >= columns.len()
        && index.parts.iter().zip(columns).all(|(part, &column)| part.column == column && part.prefix.is_none())
}

impl DefinitionContext<'_> {
    /// Adds the index that a foreign key needs, if none of the table's serves it. `later` are keys of the statement that
    /// come behind it.
    pub(super) fn index_for(&mut self, table: &mut Table, given: &Given<'_>, later: &[Index]) -> Result<()> {
        let mut columns = Vec::new();
        for column in &given.columns {
            let column_name = name::text(column.text);
            let Some(at) = table.column(&column_name) else {
                return Err(Error::new(ER_KEY_COLUMN_DOES_NOT_EXITS, &[&column_name]));
            };
            match table.columns[usize::from(at)].data_type {
                DataType::Text { .. } => return Err(Error::new(ER_BLOB_KEY_WITHOUT_LENGTH, &[&column_name])),
                DataType::Json => return Err(Error::new(ER_JSON_USED_AS_KEY, &[&column_name])),
                _ => {}
            }
            columns.push(at);
        }
        if table.indexes.iter().chain(later).any(|index| serves(index, &columns)) {
            return Ok(());
        }
        let parts = columns.iter().map(|&column| IndexPart { column, prefix: None, descending: false }).collect();
        let index_name = given.key_name().map(name::index).transpose()?.unwrap_or_default();
        let mut index = Index::new(&index_name, false, parts);
        index.implicit = true;
        self.add_index(table, index)
    }

    /// Adds a foreign key. `number` is that of the last one without a name. Errors: 1239, 1826, 1824, 3734, 1830, 3780,
    /// 6125, 3733.
    pub(super) fn add_foreign_key(&mut self, table: &mut Table, given: &Given<'_>, number: &mut u64) -> Result<()> {
        let key_name = match given.constraint {
            Some(given) => name::constraint(given)?,
            None => {
                *number += 1;
                format!("{}_ibfk_{number}", table.name)
            }
        };
        let references = &given.references;
        let mut columns = Vec::new();
        for column in &given.columns {
            let column_name = name::text(column.text);
            let at = table.column(&column_name);
            columns.push(at.ok_or_else(|| Error::new(ER_KEY_COLUMN_DOES_NOT_EXITS, &[&column_name]))?);
        }
        if !references.columns.is_empty() && references.columns.len() != columns.len() {
            let called = given.constraint.map_or_else(|| "foreign key without name".to_owned(), |_| key_name.clone());
            return Err(Error::new(ER_WRONG_FK_DEF, &[&called, &"Key reference and table reference don't match"]));
        }
        if table.foreign_keys.iter().any(|key| same_name(&key.name, &key_name))
            || self.has_foreign_key(table, &key_name)?
        {
            return Err(Error::new(ER_FK_DUP_NAME, &[&key_name]));
        }
        for &column in &columns {
            let column = &table.columns[usize::from(column)];
            if column.generated.as_ref().is_some_and(|generated| !generated.stored) {
                return Err(Error::new(ER_FK_CANNOT_USE_VIRTUAL_COLUMN, &[&key_name, &column.name]));
            }
        }
        let parent_database = references.table.schema.map_or_else(|| table.database.clone(), |s| name::text(s.text));
        let mut key = ForeignKey {
            name: key_name,
            columns,
            parent: None,
            parent_numbers: Vec::new(),
            parent_database,
            parent_table: name::text(references.table.name.text),
            parent_columns: references.columns.iter().map(|column| name::text(column.text)).collect(),
            on_delete: action(references.on_delete),
            on_update: action(references.on_update),
        };
        let sets_null = [key.on_delete, key.on_update].contains(&ForeignKeyAction::SetNull);
        if let Some(column) = key.columns.iter().map(|&at| &table.columns[usize::from(at)]).find(|c| !c.nullable)
            && sets_null
        {
            return Err(Error::new(ER_FK_COLUMN_NOT_NULL, &[&column.name, &key.name]));
        }
        self.attach(table, &mut key)?;
        table.foreign_keys.push(key);
        Ok(())
    }

    /// Lets a key refer to its parent, if that is there.
    fn attach(&mut self, table: &Table, key: &mut ForeignKey) -> Result<()> {
        if key.parent_database == table.database && key.parent_table == table.name {
            let parent = table.clone();
            return refer_to(table, key, &parent);
        }
        match self.parent_of(key)? {
            Some(parent) => refer_to(table, key, &parent),
            None if self.foreign_key_checks => Err(Error::new(ER_FK_CANNOT_OPEN_PARENT, &[&key.parent_table])),
            None => Ok(()),
        }
    }

    fn parent_of(&mut self, key: &ForeignKey) -> Result<Option<Arc<Table>>> {
        let schema = self.schema();
        let found = schema.table_named(&key.parent_database, &key.parent_table).ok();
        found.map(|found| self.read(found)).transpose()
    }

    /// Tables with keys that wait for a table to come: with those keys referring to it. Errors: 3780, 3734, 6125.
    pub(super) fn waiting_for(&mut self, parent: &Table) -> Result<Vec<Table>> {
        let schema = self.schema();
        let mut waiting = Vec::new();
        for child in schema.tables() {
            let child = self.read(child)?;
            let waits = |key: &ForeignKey| {
                key.parent.is_none() && key.parent_database == parent.database && key.parent_table == parent.name
            };
            if child.id != parent.id && child.foreign_keys.iter().any(waits) {
                let mut changed = (*child).clone();
                for key in changed.foreign_keys.iter_mut().filter(|key| waits(key)) {
                    refer_to(&child, key, parent)?;
                }
                waiting.push(changed);
            }
        }
        Ok(waiting)
    }

    /// Whether another table of the database has a foreign key of this name.
    fn has_foreign_key(&mut self, table: &Table, key_name: &str) -> Result<bool> {
        let schema = self.schema();
        for other in schema.tables() {
            if other.definition.database == table.database
                && other.id() != table.id
                && self.read(other)?.foreign_keys.iter().any(|key| same_name(&key.name, key_name))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Tables, others than these, whose keys refer to one of them.
    pub(super) fn children_of(&mut self, parents: &[TableId]) -> Result<Vec<Arc<Table>>> {
        let schema = self.schema();
        let mut children = Vec::new();
        for table in schema.tables().filter(|table| !parents.contains(&table.id())) {
            if table.definition.foreign_keys.iter().any(|key| parents.contains(&key.parent)) {
                children.push(self.read(table)?);
            }
        }
        children.sort_by(|one, other| (&one.database, &one.name).cmp(&(&other.database, &other.name)));
        Ok(children)
    }
}

fn action(given: Option<ReferenceAction>) -> ForeignKeyAction {
    match given {
        None | Some(ReferenceAction::NoAction) => ForeignKeyAction::NoAction,
        Some(ReferenceAction::Restrict) => ForeignKeyAction::Restrict,
        Some(ReferenceAction::Cascade) => ForeignKeyAction::Cascade,
        Some(ReferenceAction::SetNull) => ForeignKeyAction::SetNull,
        Some(ReferenceAction::SetDefault) => ForeignKeyAction::SetDefault,
    }
}

/// Lets a key refer to a parent: its columns have to be there, of the same types, and a unique key.
pub(super) fn refer_to(table: &Table, key: &mut ForeignKey, parent: &Table) -> Result<()> {
    if key.parent_columns.is_empty() {
        if let Some(primary) = parent.indexes.first().filter(|_| parent.has_primary_key) {
            let name = |part: &IndexPart| parent.columns[usize::from(part.column)].name.clone();
            key.parent_columns = primary.parts.iter().map(name).collect();
        }
        if key.parent_columns.len() != key.columns.len() {
            return Err(no_unique_key(key, parent));
        }
    }
    let mut numbers = Vec::new();
    for (&own, other) in key.columns.iter().zip(&key.parent_columns) {
        let Some(at) = parent.column(other) else {
            return Err(Error::new(ER_FK_NO_COLUMN_PARENT, &[other, &key.name, &parent.name]));
        };
        let (own, other) = (&table.columns[usize::from(own)], &parent.columns[usize::from(at)]);
        if other.generated.as_ref().is_some_and(|generated| !generated.stored) {
            return Err(Error::new(ER_FK_CANNOT_USE_VIRTUAL_COLUMN, &[&key.name, &other.name]));
        }
        if !are_compatible(&own.data_type, &other.data_type) {
            return Err(Error::new(ER_FK_INCOMPATIBLE_COLUMNS, &[&own.name, &other.name, &key.name]));
        }
        numbers.push(at);
    }
    let is_it = |index: &Index| index.unique && index.parts.len() == numbers.len() && serves(index, &numbers);
    if !parent.indexes.iter().any(is_it) {
        return Err(no_unique_key(key, parent));
    }
    key.parent = Some(parent.id);
    key.parent_numbers = numbers;
    Ok(())
}

/// `ER_FK_NO_UNIQUE_INDEX_PARENT`.
fn no_unique_key(key: &ForeignKey, parent: &Table) -> Error {
    let (key, parent) = (&key.name, &parent.name);
    let message = format!(
        "Failed to add the foreign key constraint. Missing unique key for constraint '{key}' in the referenced table '{parent}'"
    );
    SqlError::new(6125, message).into()
}

/// Whether a column can refer to one of another type.
pub(super) fn are_compatible(own: &DataType, other: &DataType) -> bool {
    match (own, other) {
        (DataType::Integer { size, .. }, DataType::Integer { size: other_size, .. }) => {
            size == other_size && own.is_unsigned() == other.is_unsigned()
        }
        (
            DataType::Char { collation, .. } | DataType::Varchar { collation, .. },
            DataType::Char { collation: other, .. } | DataType::Varchar { collation: other, .. },
        ) if collation.charset() != Charset::Binary => collation == other,
        (DataType::Enum(_), DataType::Enum(_)) | (DataType::Set(_), DataType::Set(_)) => {
            own.storage() == other.storage()
        }
        _ => own == other,
    }
}
