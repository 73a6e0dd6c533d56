//! The system's own tables: what the catalog is made from at the start.
//!
//! ```text
//!   databases            name                          -> attributes
//!   tables               table                         -> database, name, ...
//!   columns              table, position               -> name, kind, length, ...; those that have gone as well
//!   indexes              table, position               -> index, tree, name, ...
//!   index_parts          table, index position, part   -> column, ...
//!   foreign_keys         table, position               -> name, parent, actions
//!   foreign_key_columns  table, key position, part     -> column, parent's column
//! ```
//!
//! They are tables like any other, with definitions that are written down here and trees that the root names.
//!
//! # Invariants
//! 1. A table's rows are written and removed together, in one transaction.
//! 2. Columns that a system's table has had since a later version are behind the others, and NULL in rows of before.
//! 3. What is read is checked: a row that makes no sense is [`CatalogError::Damaged`].

use meseta_storage::TreeId;

use crate::catalog::{CatalogError, SystemTables};
use crate::error::Result;
use crate::ids::{IndexId, TableId};
use crate::lock::Mode;
use crate::locking::{Direction, Locking};
use crate::row::{Column, ColumnType, IntegerWidth, KeyRange, Value};
use crate::rows::{RowChange, RowCursor};
use crate::session::Session;
use crate::table::{
    CollationId, ColumnDefinition, ForeignKeyDefinition, IndexDefinition, OwnedValue, PartDefinition,
    ReferentialAction, StoredColumn, Table, TableDefinition,
};

/// The database in which they are.
pub const SYSTEM_DATABASE: &str = "meseta";
/// The tables, in the order of their numbers, which begin with 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum System {
    Databases,
    Tables,
    Columns,
    Indexes,
    IndexParts,
    ForeignKeys,
    ForeignKeyColumns,
}

impl System {
    pub const ALL: [System; 7] = [
        System::Databases,
        System::Tables,
        System::Columns,
        System::Indexes,
        System::IndexParts,
        System::ForeignKeys,
        System::ForeignKeyColumns,
    ];

    fn name(self) -> &'static str {
        match self {
            System::Databases => "databases",
            System::Tables => "tables",
            System::Columns => "columns",
            System::Indexes => "indexes",
            System::IndexParts => "index_parts",
            System::ForeignKeys => "foreign_keys",
            System::ForeignKeyColumns => "foreign_key_columns",
        }
    }

    /// Its columns, and how many of them are the primary key.
    fn columns(self) -> (Vec<ColumnDefinition>, u16) {
        let number = |width| Column::new(ColumnType::Unsigned(width));
        let (tiny, small, int) = (number(IntegerWidth::One), number(IntegerWidth::Two), number(IntegerWidth::Four));
        let bytes = Column::new(ColumnType::Variable { max_len: 1 << 24 });
        let name = Column::new(ColumnType::Variable { max_len: 1024 });
        let (columns, key): (&[(&str, Column)], u16) = match self {
            System::Databases => (&[("name", name), ("attributes", bytes)], 1),
            System::Tables => (
                &[
                    ("table", int),
                    ("database", name),
                    ("name", name),
                    ("has_primary_key", tiny),
                    ("auto_increment", small.or_null()),
                    ("attributes", bytes),
                ],
                1,
            ),
            System::Columns => (
                &[
                    ("table", int),
                    ("position", small),
                    ("name", name),
                    ("kind", tiny),
                    ("length", int),
                    ("nullable", tiny),
                    ("collation", small.or_null()),
                    ("added_with", bytes.or_null()),
                    ("attributes", bytes),
                    ("place", small.or_null()),
                    ("is_gone", tiny.or_null()),
                ],
                2,
            ),
            System::Indexes => (
                &[
                    ("table", int),
                    ("position", small),
                    ("index", int),
                    ("tree", int),
                    ("name", name),
                    ("unique", tiny),
                    ("attributes", bytes),
                ],
                2,
            ),
            System::IndexParts => (
                &[
                    ("table", int),
                    ("position", small),
                    ("part", small),
                    ("column", small),
                    ("descending", tiny),
                    ("prefix", int.or_null()),
                ],
                3,
            ),
            System::ForeignKeys => (
                &[
                    ("table", int),
                    ("position", small),
                    ("name", name),
                    ("parent", int),
                    ("on_delete", tiny),
                    ("on_update", tiny),
                ],
                2,
            ),
            System::ForeignKeyColumns => (
                &[("table", int), ("position", small), ("part", small), ("column", small), ("parent_column", small)],
                3,
            ),
        };
        let mut columns: Vec<_> = columns.iter().map(|&(name, content)| ColumnDefinition::new(name, content)).collect();
        let first_came = columns.len() - self.columns_since();
        columns[first_came..].iter_mut().for_each(|column| column.added_with = Some(OwnedValue::Null));
        (columns, key)
    }

    /// How many of its columns have come since a store may have been made.
    fn columns_since(self) -> usize {
        match self {
            System::Columns => 2,
            _ => 0,
        }
    }

    /// Its definition, with its rows in this tree.
    pub fn definition(self, tree: TreeId) -> TableDefinition {
        let (columns, key) = self.columns();
        let key: Vec<u16> = (0..key).collect();
        let mut definition = TableDefinition::new(SYSTEM_DATABASE, self.name(), columns).with_primary_key(&key);
        let number = self as u32 + 1;
        definition.id = TableId(number);
        (definition.indexes[0].id, definition.indexes[0].tree) = (IndexId(number), tree);
        definition
    }
}

/// A row of a system's table.
type Row = (System, Vec<OwnedValue>);

fn text(text: &str) -> OwnedValue {
    OwnedValue::Bytes(text.as_bytes().to_vec())
}

fn number(number: impl Into<u64>) -> OwnedValue {
    OwnedValue::Unsigned(number.into())
}

fn or_null(value: Option<impl Into<u64>>) -> OwnedValue {
    value.map_or(OwnedValue::Null, number)
}

fn kind_and_length(column: ColumnType) -> (u64, u64) {
    match column {
        ColumnType::Signed(width) => (0, width.bytes() as u64),
        ColumnType::Unsigned(width) => (1, width.bytes() as u64),
        ColumnType::Float => (2, 4),
        ColumnType::Double => (3, 8),
        ColumnType::Fixed { len } => (4, len.into()),
        ColumnType::Variable { max_len } => (5, max_len.into()),
    }
}

fn column_type(kind: u64, length: u64) -> Option<ColumnType> {
    let width = || IntegerWidth::from_bytes(length as usize);
    Some(match kind {
        0 => ColumnType::Signed(width()?),
        1 => ColumnType::Unsigned(width()?),
        2 => ColumnType::Float,
        3 => ColumnType::Double,
        4 => ColumnType::Fixed { len: u16::try_from(length).ok()? },
        5 => ColumnType::Variable { max_len: u32::try_from(length).ok()? },
        _ => return None,
    })
}

/// A value as bytes: one for its kind, then the number, little-endian, or the bytes.
fn encode(value: &OwnedValue) -> Vec<u8> {
    let (kind, bytes): (u8, &[u8]) = match value {
        OwnedValue::Null => (0, &[]),
        OwnedValue::Signed(number) => (1, &number.to_le_bytes()),
        OwnedValue::Unsigned(number) => (2, &number.to_le_bytes()),
        OwnedValue::Float(number) => (3, &number.to_le_bytes()),
        OwnedValue::Double(number) => (4, &number.to_le_bytes()),
        OwnedValue::Bytes(bytes) => (5, bytes),
    };
    [&[kind], bytes].concat()
}

fn decode(bytes: &[u8]) -> Option<OwnedValue> {
    let (kind, bytes) = bytes.split_first()?;
    Some(match kind {
        0 => OwnedValue::Null,
        1 => OwnedValue::Signed(i64::from_le_bytes(bytes.try_into().ok()?)),
        2 => OwnedValue::Unsigned(u64::from_le_bytes(bytes.try_into().ok()?)),
        3 => OwnedValue::Float(f32::from_le_bytes(bytes.try_into().ok()?)),
        4 => OwnedValue::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
        5 => OwnedValue::Bytes(bytes.to_vec()),
        _ => return None,
    })
}

/// All rows that say what a table is.
fn rows_of(definition: &TableDefinition) -> Vec<Row> {
    let table = number(definition.id.0);
    let mut rows = vec![(
        System::Tables,
        vec![
            table.clone(),
            text(&definition.database),
            text(&definition.name),
            number(definition.has_primary_key),
            or_null(definition.auto_increment),
            OwnedValue::Bytes(definition.attributes.clone()),
        ],
    )];
    let mut gone = definition.columns.len()..;
    for (place, stored) in (0u16..).zip(definition.stored_columns()) {
        let blank;
        let (position, column, is_gone) = match stored {
            StoredColumn::Present(column) => (usize::from(column), &definition.columns[usize::from(column)], false),
            StoredColumn::Gone { content, was_added } => {
                let added_with = was_added.then_some(OwnedValue::Null);
                blank = ColumnDefinition { added_with, ..ColumnDefinition::new("", content) };
                (gone.next().expect("numbers do not end"), &blank, true)
            }
        };
        let (kind, length) = kind_and_length(column.content.column_type);
        let row = vec![
            table.clone(),
            number(position as u64),
            text(&column.name),
            number(kind),
            number(length),
            number(column.content.nullable),
            or_null(column.collation.map(|collation| collation.0)),
            column.added_with.as_ref().map_or(OwnedValue::Null, |value| OwnedValue::Bytes(encode(value))),
            OwnedValue::Bytes(column.attributes.clone()),
            or_null((!definition.stored.is_empty()).then_some(place)),
            or_null(is_gone.then_some(1u8)),
        ];
        rows.push((System::Columns, row));
    }
    for (position, index) in definition.indexes.iter().enumerate() {
        let position = number(position as u64);
        let row = vec![
            table.clone(),
            position.clone(),
            number(index.id.0),
            number(index.tree.0),
            text(&index.name),
            number(index.unique),
            OwnedValue::Bytes(index.attributes.clone()),
        ];
        rows.push((System::Indexes, row));
        for (at, part) in index.parts.iter().enumerate() {
            let (table, position) = (table.clone(), position.clone());
            let (column, descending) = (number(part.column), number(part.descending));
            let row = vec![table, position, number(at as u64), column, descending, or_null(part.prefix)];
            rows.push((System::IndexParts, row));
        }
    }
    for (position, key) in definition.foreign_keys.iter().enumerate() {
        let position = number(position as u64);
        let row = vec![
            table.clone(),
            position.clone(),
            text(&key.name),
            number(key.parent.0),
            number(key.on_delete as u8),
            number(key.on_update as u8),
        ];
        rows.push((System::ForeignKeys, row));
        for (at, (&column, &parent)) in key.columns.iter().zip(&key.parent_columns).enumerate() {
            let row = vec![table.clone(), position.clone(), number(at as u64), number(column), number(parent)];
            rows.push((System::ForeignKeyColumns, row));
        }
    }
    rows
}

impl SystemTables {
    fn table(&self, system: System) -> &Table {
        &self.tables[system as usize]
    }

    fn insert(&self, session: &mut Session, (system, row): &Row) -> Result<()> {
        let values: Vec<Value<'_>> = row.iter().map(OwnedValue::as_value).collect();
        match session.insert_row(self.table(*system), &values, Mode::Shared)? {
            RowChange::Done => Ok(()),
            RowChange::Conflict(_) | RowChange::Stale => {
                Err(damaged(*system, format!("{row:?} is there already")).into())
            }
        }
    }

    fn remove_range(&self, session: &mut Session, system: System, range: &KeyRange) -> Result<()> {
        let table = self.table(system);
        let locking = Locking { mode: Mode::Exclusive, gaps: false, on_conflict: session.on_conflict() };
        let mut rows = RowCursor::locking(table, 0, range, Direction::Ascending, locking);
        while rows.next(session)? {
            if session.delete_row(table, rows.row())? != RowChange::Done {
                return Err(damaged(system, "a locked row has changed".to_owned()).into());
            }
        }
        Ok(())
    }

    /// Writes a table's rows.
    pub fn add_table(&self, session: &mut Session, definition: &TableDefinition) -> Result<()> {
        rows_of(definition).iter().try_for_each(|row| self.insert(session, row))
    }

    /// Removes a table's rows.
    pub fn remove_table(&self, session: &mut Session, table: TableId) -> Result<()> {
        let beginning = table.0.to_be_bytes().to_vec();
        System::ALL[1..]
            .iter()
            .try_for_each(|&system| self.remove_range(session, system, &KeyRange::beginning_with(beginning.clone())))
    }

    /// Writes a database's row.
    pub fn add_database(&self, session: &mut Session, name: &str, attributes: &[u8]) -> Result<()> {
        self.insert(session, &(System::Databases, vec![text(name), OwnedValue::Bytes(attributes.to_vec())]))
    }

    /// Removes a database's row.
    pub fn remove_database(&self, session: &mut Session, name: &str) -> Result<()> {
        let mut key = Vec::new();
        let layout = &self.table(System::Databases).rows().layout;
        layout.beginning(&[Value::Bytes(name.as_bytes())], &*session.core.collations, &mut key)?;
        self.remove_range(session, System::Databases, &KeyRange::beginning_with(key))
    }

    /// All databases, with their attributes.
    pub fn databases(&self, session: &mut Session) -> Result<Vec<(String, Vec<u8>)>> {
        let mut databases = Vec::new();
        self.scan(session, System::Databases, |row| {
            databases.push((row.text(0)?, row.bytes(1)?));
            Ok(())
        })?;
        Ok(databases)
    }

    /// All tables of users.
    pub fn definitions(&self, session: &mut Session) -> Result<Vec<TableDefinition>> {
        let mut tables: Vec<TableDefinition> = Vec::new();
        self.scan(session, System::Tables, |row| {
            let mut table = TableDefinition::new(&row.text(1)?, &row.text(2)?, Vec::new());
            table.indexes.clear();
            table.id = TableId(row.number(0)? as u32);
            table.has_primary_key = row.number(3)? != 0;
            table.auto_increment = row.number_or_null(4)?.map(|column| column as u16);
            table.attributes = row.bytes(5)?;
            tables.push(table);
            Ok(())
        })?;
        let mut places: Vec<Vec<(u64, StoredColumn)>> = vec![Vec::new(); tables.len()];
        // All in the order of tables, so each row belongs to the table that has been found, or to a later one.
        self.scan(session, System::Columns, |row| {
            let content = Column {
                column_type: column_type(row.number(3)?, row.number(4)?).ok_or_else(|| row.nonsense(3))?,
                nullable: row.number(5)? != 0,
            };
            let mut column = ColumnDefinition::new(&row.text(2)?, content);
            column.collation = row.number_or_null(6)?.map(|collation| CollationId(collation as u16));
            column.added_with = match row.value(7)? {
                Value::Bytes(bytes) => Some(decode(bytes).ok_or_else(|| row.nonsense(7))?),
                _ => None,
            };
            column.attributes = row.bytes(8)?;
            let (at, place) = (row.table_among(&tables)?, row.number_or_null(9)?);
            let stored = if row.number_or_null(10)?.is_some() {
                place.ok_or_else(|| row.nonsense(9))?;
                StoredColumn::Gone { content, was_added: column.added_with.is_some() }
            } else {
                tables[at].columns.push(column);
                StoredColumn::Present((tables[at].columns.len() - 1) as u16)
            };
            places[at].extend(place.map(|place| (place, stored)));
            Ok(())
        })?;
        for (table, mut places) in tables.iter_mut().zip(places) {
            places.sort_unstable_by_key(|(place, _)| *place);
            if (0..).zip(&places).any(|(at, (place, _))| at != *place) {
                return Err(damaged(System::Columns, format!("table {}: {places:?}", table.id.0)).into());
            }
            table.stored = places.into_iter().map(|(_, stored)| stored).collect();
        }
        self.scan(session, System::Indexes, |row| {
            let mut index = IndexDefinition::new(&row.text(4)?, row.number(5)? != 0, Vec::new());
            index.id = IndexId(row.number(2)? as u32);
            index.tree = TreeId(row.number(3)? as u32);
            index.attributes = row.bytes(6)?;
            row.of(&mut tables)?.indexes.push(index);
            Ok(())
        })?;
        self.scan(session, System::IndexParts, |row| {
            let part = PartDefinition {
                column: row.number(3)? as u16,
                descending: row.number(4)? != 0,
                prefix: row.number_or_null(5)?.map(|prefix| prefix as u32),
            };
            let position = row.number(1)? as usize;
            let index = row.of(&mut tables)?.indexes.get_mut(position).ok_or_else(|| row.nonsense(1))?;
            index.parts.push(part);
            Ok(())
        })?;
        self.scan(session, System::ForeignKeys, |row| {
            let action = |at| -> Result<_, CatalogError> {
                ReferentialAction::from_number(row.number(at)?).ok_or_else(|| row.nonsense(at))
            };
            let key = ForeignKeyDefinition {
                name: row.text(2)?,
                columns: Vec::new(),
                parent: TableId(row.number(3)? as u32),
                parent_columns: Vec::new(),
                on_delete: action(4)?,
                on_update: action(5)?,
            };
            row.of(&mut tables)?.foreign_keys.push(key);
            Ok(())
        })?;
        self.scan(session, System::ForeignKeyColumns, |row| {
            let position = row.number(1)? as usize;
            let (column, parent) = (row.number(3)? as u16, row.number(4)? as u16);
            let key = row.of(&mut tables)?.foreign_keys.get_mut(position).ok_or_else(|| row.nonsense(1))?;
            key.columns.push(column);
            key.parent_columns.push(parent);
            Ok(())
        })?;
        for table in &tables {
            table.check().map_err(|error| damaged(System::Tables, format!("table {}: {error}", table.id.0)))?;
        }
        Ok(tables)
    }

    fn scan(
        &self,
        session: &mut Session,
        system: System,
        mut visit: impl FnMut(&SystemRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let table = self.table(system);
        let columns = 0..table.definition.columns.len() as u16;
        let mut cursor = RowCursor::consistent(table, 0, KeyRange::ALL, Direction::Ascending, columns);
        let mut buffers = Default::default();
        while cursor.next(session)? {
            let mut values = Vec::new();
            cursor.read(&mut buffers, &mut values)?;
            visit(&SystemRow { system, values: &values })?;
        }
        Ok(())
    }
}

/// A row, read with suspicion.
struct SystemRow<'r> {
    system: System,
    values: &'r [Value<'r>],
}

impl<'r> SystemRow<'r> {
    fn nonsense(&self, column: usize) -> CatalogError {
        damaged(self.system, format!("column {column} of {:?} makes no sense", self.values))
    }

    fn value(&self, column: usize) -> Result<Value<'r>, CatalogError> {
        self.values.get(column).copied().ok_or_else(|| self.nonsense(column))
    }

    fn number_or_null(&self, column: usize) -> Result<Option<u64>, CatalogError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Unsigned(number) => Ok(Some(number)),
            _ => Err(self.nonsense(column)),
        }
    }

    fn number(&self, column: usize) -> Result<u64, CatalogError> {
        self.number_or_null(column)?.ok_or_else(|| self.nonsense(column))
    }

    fn bytes(&self, column: usize) -> Result<Vec<u8>, CatalogError> {
        Ok(self.value(column)?.bytes().ok_or_else(|| self.nonsense(column))?.to_vec())
    }

    fn text(&self, column: usize) -> Result<String, CatalogError> {
        String::from_utf8(self.bytes(column)?).map_err(|_| self.nonsense(column))
    }

    /// The table that the row belongs to.
    fn of<'t>(&self, tables: &'t mut [TableDefinition]) -> Result<&'t mut TableDefinition, CatalogError> {
        let at = self.table_among(tables)?;
        Ok(&mut tables[at])
    }

    /// Where the table is that the row belongs to.
    fn table_among(&self, tables: &[TableDefinition]) -> Result<usize, CatalogError> {
        let id = TableId(self.number(0)? as u32);
        tables.binary_search_by_key(&id, |table| table.id).map_err(|_| self.nonsense(0))
    }
}

fn damaged(system: System, problem: String) -> CatalogError {
    CatalogError::Damaged { table: system.name(), problem }
}
