//! What a table is: columns, indexes, constraints. Plain data, as the catalog keeps it.
//!
//! The layer above knows more of a table than the engine has to: MySQL's names of types, character sets, comments,
//! generated columns. It hands that in as *attributes*, bytes of its own, and gets them back as they were.
//!
//! # Invariants
//! 1. [`TableDefinition::check`] accepts only what the engine can keep: the numbers of columns that parts name are there,
//!    names are not repeated, and a primary key's columns are never NULL.
//! 2. What a stored row has is each column once, those that have been added behind the others, and columns that have gone.

use std::collections::HashSet;

use meseta_storage::TreeId;

use crate::ids::{IndexId, TableId};
use crate::row::{COLUMN_COUNT_MAX, Column, ColumnType, Value};

/// Columns of an index at most, as in InnoDB.
pub const INDEX_PARTS_MAX: usize = 16;
/// Secondary indexes of a table at most, as in InnoDB.
pub const SECONDARY_INDEXES_MAX: usize = 64;

/// A collation's number: the layer above knows what it means.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CollationId(pub u16);

/// A value that owns its bytes.
#[derive(Clone, PartialEq, Debug)]
pub enum OwnedValue {
    /// No value.
    Null,
    /// An integer of a signed type.
    Signed(i64),
    /// An integer of an unsigned type.
    Unsigned(u64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// Everything else.
    Bytes(Vec<u8>),
}

impl OwnedValue {
    /// The value.
    pub fn as_value(&self) -> Value<'_> {
        match self {
            OwnedValue::Null => Value::Null,
            OwnedValue::Signed(number) => Value::Signed(*number),
            OwnedValue::Unsigned(number) => Value::Unsigned(*number),
            OwnedValue::Float(number) => Value::Float(*number),
            OwnedValue::Double(number) => Value::Double(*number),
            OwnedValue::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

impl From<Value<'_>> for OwnedValue {
    fn from(value: Value<'_>) -> Self {
        match value {
            Value::Null => OwnedValue::Null,
            Value::Signed(number) => OwnedValue::Signed(number),
            Value::Unsigned(number) => OwnedValue::Unsigned(number),
            Value::Float(number) => OwnedValue::Float(number),
            Value::Double(number) => OwnedValue::Double(number),
            Value::Bytes(bytes) => OwnedValue::Bytes(bytes.to_vec()),
        }
    }
}

/// A column.
#[derive(Clone, PartialEq, Debug)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub content: Column,
    /// How it is compared; `None` if its values compare as bytes, or are no bytes.
    pub collation: Option<CollationId>,
    /// If the column was added to a table that had rows: the value that it has in them.
    pub added_with: Option<OwnedValue>,
    /// What the layer above knows of it.
    pub attributes: Vec<u8>,
}

impl ColumnDefinition {
    /// A column of a new table, compared as bytes.
    pub fn new(name: &str, content: Column) -> Self {
        Self { name: name.to_owned(), content, collation: None, added_with: None, attributes: Vec::new() }
    }

    /// The same column, compared so.
    pub fn collated(self, collation: CollationId) -> Self {
        Self { collation: Some(collation), ..self }
    }
}

/// What a stored row has at one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StoredColumn {
    /// The table's column of this number.
    Present(u16),
    /// A column that the table does not have any more.
    Gone {
        /// What it held.
        content: Column,
        /// Whether there may be rows that are older than it.
        was_added: bool,
    },
}

/// A column of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartDefinition {
    /// The column's number in its table.
    pub column: u16,
    /// Whether large values come first.
    pub descending: bool,
    /// If only the beginning is in the index: how long. Bytes; characters, if the column has a collation.
    pub prefix: Option<u32>,
}

impl PartDefinition {
    /// A whole column, ascending.
    pub fn new(column: u16) -> Self {
        Self { column, descending: false, prefix: None }
    }
}

/// An index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IndexDefinition {
    /// Its number; the catalog gives it.
    pub id: IndexId,
    /// Where its entries are; the catalog creates it.
    pub tree: TreeId,
    /// Its name.
    pub name: String,
    /// Whether no two rows have the same values in it, NULLs aside.
    pub unique: bool,
    /// Its columns.
    pub parts: Vec<PartDefinition>,
    /// What the layer above knows of it.
    pub attributes: Vec<u8>,
}

impl IndexDefinition {
    /// An index that the catalog has not seen yet.
    pub fn new(name: &str, unique: bool, parts: Vec<PartDefinition>) -> Self {
        let (id, tree) = (IndexId(0), TreeId(0));
        Self { id, tree, name: name.to_owned(), unique, parts, attributes: Vec::new() }
    }
}

/// What happens to rows that refer to one that goes, or whose key changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ReferentialAction {
    /// It must not, while they are there. (NO ACTION is the same, as in InnoDB.)
    Restrict = 0,
    /// They go too, or follow.
    Cascade = 1,
    /// They refer to nothing any more.
    SetNull = 2,
}

impl ReferentialAction {
    /// The action of this number.
    pub fn from_number(number: u64) -> Option<Self> {
        [Self::Restrict, Self::Cascade, Self::SetNull].into_iter().find(|&action| action as u64 == number)
    }
}

/// A foreign key: rows of a table refer to rows of another, or of the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignKeyDefinition {
    /// Its name.
    pub name: String,
    /// The columns that refer.
    pub columns: Vec<u16>,
    /// The table to which they refer.
    pub parent: TableId,
    /// The columns to which they refer, in the same order.
    pub parent_columns: Vec<u16>,
    /// What happens when a row that is referred to goes.
    pub on_delete: ReferentialAction,
    /// What happens when its columns change.
    pub on_update: ReferentialAction,
}

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct TableDefinition {
    /// Its number; the catalog gives it.
    pub id: TableId,
    /// The database that it is in.
    pub database: String,
    /// Its name.
    pub name: String,
    /// Its columns, in their order.
    pub columns: Vec<ColumnDefinition>,
    /// What stored rows have, in the order in which they have it. Nothing, if that is the columns in their order.
    pub stored: Vec<StoredColumn>,
    /// Whether the first index is the primary key. If not, it has no parts, and rows have hidden numbers.
    pub has_primary_key: bool,
    /// Its indexes; the first one holds the rows.
    pub indexes: Vec<IndexDefinition>,
    /// The column that counts by itself.
    pub auto_increment: Option<u16>,
    /// To which rows of other tables its rows refer.
    pub foreign_keys: Vec<ForeignKeyDefinition>,
    /// What the layer above knows of it.
    pub attributes: Vec<u8>,
}

/// Why a definition is refused.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DefinitionError {
    /// No columns, or too many.
    #[error("a table has 1 to {COLUMN_COUNT_MAX} columns, and not {0}")]
    ColumnCount(usize),
    /// Two columns, or two indexes, have one name.
    #[error("duplicate name '{0}'")]
    DuplicateName(String),
    /// An index has no columns, or too many.
    #[error("index '{0}' has no columns, or more than {INDEX_PARTS_MAX}")]
    PartCount(String),
    /// Too many indexes.
    #[error("a table has at most {SECONDARY_INDEXES_MAX} secondary indexes")]
    IndexCount,
    /// A column is not there.
    #[error("'{0}' names a column that is not there")]
    NoSuchColumn(String),
    /// A column is twice in an index.
    #[error("index '{0}' has a column twice")]
    ColumnTwice(String),
    /// A primary key's column may be NULL.
    #[error("column '{0}' is part of the primary key and may be NULL")]
    NullablePrimaryKey(String),
    /// A number's beginning is to be indexed.
    #[error("index '{0}' has the beginning of a column that has none")]
    NoBeginning(String),
    /// A stored row has not every column once, or one that has been added is not behind the others.
    #[error("a stored row does not have each column once, and those that were added last")]
    StoredOrder,
    /// A column that counts by itself is no integer, or the first of no index.
    #[error("column '{0}' cannot count by itself: it is no integer, or not the first column of an index")]
    AutoIncrement(String),
    /// A foreign key refers to nothing that it could refer to.
    #[error("foreign key '{name}' is not possible: {problem}")]
    ForeignKey {
        /// Its name.
        name: String,
        /// Why.
        problem: &'static str,
    },
}

impl TableDefinition {
    /// A table without rows, indexes or constraints: the catalog has not seen it yet.
    pub fn new(database: &str, name: &str, columns: Vec<ColumnDefinition>) -> Self {
        Self {
            id: TableId(0),
            database: database.to_owned(),
            name: name.to_owned(),
            columns,
            stored: Vec::new(),
            has_primary_key: false,
            indexes: vec![IndexDefinition::new("", true, Vec::new())],
            auto_increment: None,
            foreign_keys: Vec::new(),
            attributes: Vec::new(),
        }
    }

    /// The same table with these columns for a primary key.
    pub fn with_primary_key(mut self, columns: &[u16]) -> Self {
        let parts = columns.iter().map(|&column| PartDefinition::new(column)).collect();
        self.indexes[0] = IndexDefinition::new("PRIMARY", true, parts);
        self.has_primary_key = true;
        self
    }

    /// The same table with one index more.
    pub fn with_index(mut self, index: IndexDefinition) -> Self {
        self.indexes.push(index);
        self
    }

    /// The number of the column of this name. Names of columns are compared without regard to ASCII case.
    pub fn column(&self, name: &str) -> Option<u16> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name)).map(|at| at as u16)
    }

    /// What stored rows have, in the order in which they have it.
    pub fn stored_columns(&self) -> impl Iterator<Item = StoredColumn> {
        let in_order = if self.stored.is_empty() { self.columns.len() as u16 } else { 0 };
        (0..in_order).map(StoredColumn::Present).chain(self.stored.iter().copied())
    }

    /// What stored rows have once the columns are others, without having been touched: `sources` tells of each new column
    /// which one it was, if any. Those that were none go behind all that is there. For [`TableDefinition::stored`].
    pub fn stored_columns_after(&self, sources: &[Option<u16>]) -> Vec<StoredColumn> {
        let stays = |stored| match stored {
            StoredColumn::Gone { .. } => stored,
            StoredColumn::Present(column) => match sources.iter().position(|&source| source == Some(column)) {
                Some(now) => StoredColumn::Present(now as u16),
                None => {
                    let ColumnDefinition { content, added_with, .. } = &self.columns[usize::from(column)];
                    StoredColumn::Gone { content: *content, was_added: added_with.is_some() }
                }
            },
        };
        let come = (0..).zip(sources).filter(|(_, source)| source.is_none());
        let stored: Vec<_> =
            self.stored_columns().map(stays).chain(come.map(|(column, _)| StoredColumn::Present(column))).collect();
        let is_in_order = (0..).zip(&stored).all(|(at, &stored)| stored == StoredColumn::Present(at));
        if is_in_order { Vec::new() } else { stored }
    }

    /// Whether the engine can keep such a table.
    pub fn check(&self) -> Result<(), DefinitionError> {
        if !(1..=COLUMN_COUNT_MAX).contains(&self.columns.len()) {
            return Err(DefinitionError::ColumnCount(self.columns.len()));
        }
        if self.stored.len() > COLUMN_COUNT_MAX {
            return Err(DefinitionError::ColumnCount(self.stored.len()));
        }
        self.check_stored()?;
        if self.indexes.len() > SECONDARY_INDEXES_MAX + 1 {
            return Err(DefinitionError::IndexCount);
        }
        all_different(self.columns.iter().map(|column| column.name.as_str()))?;
        all_different(self.indexes.iter().map(|index| index.name.as_str()))?;
        all_different(self.foreign_keys.iter().map(|key| key.name.as_str()))?;
        for (position, index) in self.indexes.iter().enumerate() {
            let is_primary = position == 0 && self.has_primary_key;
            self.check_index(index, is_primary, position == 0 && !is_primary)?;
        }
        if let Some(column) = self.auto_increment {
            let name = || self.columns.get(usize::from(column)).map_or_else(String::new, |column| column.name.clone());
            let is_integer = self.columns.get(usize::from(column)).is_some_and(|column| {
                matches!(column.content.column_type, ColumnType::Signed(_) | ColumnType::Unsigned(_))
            });
            let is_first =
                self.indexes.iter().any(|index| index.parts.first().is_some_and(|part| part.column == column));
            if !is_integer || !is_first {
                return Err(DefinitionError::AutoIncrement(name()));
            }
        }
        self.foreign_keys.iter().try_for_each(|key| self.check_foreign_key(key))
    }

    fn check_stored(&self) -> Result<(), DefinitionError> {
        let mut is_seen = vec![false; self.columns.len()];
        let mut added_before = false;
        for stored in self.stored_columns() {
            let was_added = match stored {
                StoredColumn::Gone { was_added, .. } => was_added,
                StoredColumn::Present(column) => {
                    let is_seen = is_seen.get_mut(usize::from(column)).ok_or(DefinitionError::StoredOrder)?;
                    if std::mem::replace(is_seen, true) {
                        return Err(DefinitionError::StoredOrder);
                    }
                    self.columns[usize::from(column)].added_with.is_some()
                }
            };
            if added_before && !was_added {
                return Err(DefinitionError::StoredOrder);
            }
            added_before = was_added;
        }
        is_seen.into_iter().all(|is_seen| is_seen).then_some(()).ok_or(DefinitionError::StoredOrder)
    }

    fn check_index(&self, index: &IndexDefinition, is_primary: bool, is_hidden: bool) -> Result<(), DefinitionError> {
        let allowed = if is_hidden { 0..=0 } else { 1..=INDEX_PARTS_MAX };
        if !allowed.contains(&index.parts.len()) {
            return Err(DefinitionError::PartCount(index.name.clone()));
        }
        let mut seen = HashSet::new();
        for part in &index.parts {
            let column = self
                .columns
                .get(usize::from(part.column))
                .ok_or_else(|| DefinitionError::NoSuchColumn(index.name.clone()))?;
            if !seen.insert(part.column) {
                return Err(DefinitionError::ColumnTwice(index.name.clone()));
            }
            if is_primary && column.content.nullable {
                return Err(DefinitionError::NullablePrimaryKey(column.name.clone()));
            }
            let has_beginning =
                matches!(column.content.column_type, ColumnType::Fixed { .. } | ColumnType::Variable { .. });
            if part.prefix.is_some_and(|len| len == 0 || !has_beginning) {
                return Err(DefinitionError::NoBeginning(index.name.clone()));
            }
        }
        Ok(())
    }

    /// What can be seen from this table alone.
    fn check_foreign_key(&self, key: &ForeignKeyDefinition) -> Result<(), DefinitionError> {
        let refused = |problem| Err(DefinitionError::ForeignKey { name: key.name.clone(), problem });
        if key.columns.is_empty() || key.columns.len() != key.parent_columns.len() {
            return refused("as many columns refer as are referred to");
        }
        if key.columns.iter().any(|&column| usize::from(column) >= self.columns.len()) {
            return Err(DefinitionError::NoSuchColumn(key.name.clone()));
        }
        let sets_null = [key.on_delete, key.on_update].contains(&ReferentialAction::SetNull);
        if sets_null && key.columns.iter().any(|&column| !self.columns[usize::from(column)].content.nullable) {
            return refused("SET NULL, and a column that is never NULL");
        }
        if self.index_beginning_with(&key.columns).is_none() {
            return refused("no index begins with the columns that refer");
        }
        Ok(())
    }

    /// The first index that begins with these columns, whole ones, in this order.
    pub fn index_beginning_with(&self, columns: &[u16]) -> Option<usize> {
        self.indexes.iter().position(|index| {
            index.parts.len() >= columns.len()
                && index.parts.iter().zip(columns).all(|(part, &column)| part.column == column && part.prefix.is_none())
        })
    }
}

fn all_different<'n>(names: impl Iterator<Item = &'n str>) -> Result<(), DefinitionError> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name.to_ascii_lowercase()) {
            return Err(DefinitionError::DuplicateName(name.to_owned()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::IntegerWidth;

    fn table() -> TableDefinition {
        let number = Column::new(ColumnType::Unsigned(IntegerWidth::Four));
        let text = Column::new(ColumnType::Variable { max_len: 100 }).or_null();
        let columns = vec![
            ColumnDefinition::new("id", number),
            ColumnDefinition::new("name", text),
            ColumnDefinition::new("boss", number.or_null()),
        ];
        TableDefinition::new("d", "t", columns).with_primary_key(&[0])
    }

    fn refusal(change: impl FnOnce(&mut TableDefinition)) -> String {
        let mut table = table();
        change(&mut table);
        table.check().expect_err("refused").to_string()
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        assert_eq!(table().check(), Ok(()));
        let part = PartDefinition::new;
        assert_eq!(refusal(|t| t.columns.clear()), "a table has 1 to 32767 columns, and not 0");
        assert_eq!(refusal(|t| t.columns[2].name = "ID".into()), "duplicate name 'ID'");
        let disorder = "a stored row does not have each column once, and those that were added last";
        let present = StoredColumn::Present;
        assert_eq!(refusal(|t| t.stored = vec![present(0), present(1)]), disorder);
        assert_eq!(refusal(|t| t.stored = vec![present(0), present(1), present(1), present(2)]), disorder);
        assert_eq!(refusal(|t| t.stored = vec![present(0), present(1), present(3)]), disorder);
        assert_eq!(refusal(|t| t.columns[1].added_with = Some(OwnedValue::Null)), disorder);
        assert_eq!(
            refusal(|t| t.indexes[0].parts = vec![part(1)]),
            "column 'name' is part of the primary key and may be NULL"
        );
        let index = |parts| IndexDefinition::new("i", false, parts);
        assert_eq!(refusal(|t| t.indexes.push(index(vec![]))), "index 'i' has no columns, or more than 16");
        assert_eq!(refusal(|t| t.indexes.push(index(vec![part(3)]))), "'i' names a column that is not there");
        assert_eq!(refusal(|t| t.indexes.push(index(vec![part(1), part(1)]))), "index 'i' has a column twice");
        let beginning = PartDefinition { prefix: Some(3), ..part(2) };
        assert_eq!(
            refusal(|t| t.indexes.push(index(vec![beginning]))),
            "index 'i' has the beginning of a column that has none"
        );
        assert_eq!(
            refusal(|t| t.auto_increment = Some(2)),
            "column 'boss' cannot count by itself: it is no integer, or not the first column of an index"
        );
    }

    #[test]
    fn a_foreign_key_needs_an_index_and_columns_that_may_be_null_for_set_null() {
        let key = ForeignKeyDefinition {
            name: "fk".into(),
            columns: vec![2],
            parent: TableId(1),
            parent_columns: vec![0],
            on_delete: ReferentialAction::SetNull,
            on_update: ReferentialAction::Restrict,
        };
        let mut with_index = table().with_index(IndexDefinition::new("boss", false, vec![PartDefinition::new(2)]));
        with_index.foreign_keys.push(key.clone());
        assert_eq!(with_index.check(), Ok(()));
        assert_eq!(
            refusal(|t| t.foreign_keys.push(key.clone())),
            "foreign key 'fk' is not possible: no index begins with the columns that refer"
        );
        let never_null = ForeignKeyDefinition { columns: vec![0], ..key };
        assert_eq!(
            refusal(|t| t.foreign_keys.push(never_null.clone())),
            "foreign key 'fk' is not possible: SET NULL, and a column that is never NULL"
        );
    }
}
