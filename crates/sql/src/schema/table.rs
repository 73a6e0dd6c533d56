//! Tables: columns, indexes, foreign keys, checks, options; read from the engine's definition, and made into one.
//!
//! # Foreign keys
//! The engine knows those whose parent is there. With `foreign_key_checks = 0` a key can refer to a table that is yet to
//! come, or has gone: then only the attributes have it, by the parent's name, and it is given to the engine when the
//! parent comes ([`ForeignKey::parent`]).

use meseta_engine::catalog::Schema;
use meseta_engine::ids::TableId;
use meseta_engine::table::{
    ForeignKeyDefinition, IndexDefinition, PartDefinition, ReferentialAction, StoredColumn, TableDefinition,
};
use meseta_types::Collation;

use super::attributes::{Damaged, Field, Writer, fields};
use super::column::Column;
use crate::name::same_name;

/// A column of an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexPart {
    /// The column's number.
    pub column: u16,
    /// If only its beginning is in the index: characters, or bytes of a binary type.
    pub prefix: Option<u32>,
    /// DESC.
    pub descending: bool,
}

/// An index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Index {
    /// Its name; `PRIMARY` of the primary key.
    pub name: String,
    /// Whether values do not repeat, NULLs aside.
    pub unique: bool,
    /// Its columns.
    pub parts: Vec<IndexPart>,
    /// COMMENT.
    pub comment: String,
    /// INVISIBLE.
    pub invisible: bool,
    /// USING BTREE was written.
    pub using_btree: bool,
    /// KEY_BLOCK_SIZE; it means nothing.
    pub key_block_size: u64,
    /// Made for a foreign key: it goes when an index comes that serves the key as well.
    pub implicit: bool,
    /// The engine's number and tree; zero of one that the engine has not seen.
    pub engine: (u32, u32),
    /// Its place among the engine's indexes of the table.
    pub position: usize,
}

/// What happens to rows that refer to one that goes, or changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
#[allow(missing_docs)] // The names are SQL's.
pub enum ForeignKeyAction {
    NoAction = 0,
    Restrict = 1,
    Cascade = 2,
    SetNull = 3,
    SetDefault = 4,
}

impl ForeignKeyAction {
    const ALL: [Self; 5] = [Self::NoAction, Self::Restrict, Self::Cascade, Self::SetNull, Self::SetDefault];

    /// As SQL writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoAction => "NO ACTION",
            Self::Restrict => "RESTRICT",
            Self::Cascade => "CASCADE",
            Self::SetNull => "SET NULL",
            Self::SetDefault => "SET DEFAULT",
        }
    }

    /// SET DEFAULT restricts, as in InnoDB.
    fn engine(self) -> ReferentialAction {
        match self {
            Self::Cascade => ReferentialAction::Cascade,
            Self::SetNull => ReferentialAction::SetNull,
            _ => ReferentialAction::Restrict,
        }
    }
}

/// A foreign key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignKey {
    /// Its name.
    pub name: String,
    /// The columns that refer.
    pub columns: Vec<u16>,
    /// The table to which they refer, if it is there and the engine knows: zero for the table itself, before it is there.
    pub parent: Option<TableId>,
    /// The numbers of the columns to which they refer, if `parent` is there.
    pub parent_numbers: Vec<u16>,
    /// The name of the parent's database, when the key was made.
    pub parent_database: String,
    /// The parent's name then.
    pub parent_table: String,
    /// The names of its columns then.
    pub parent_columns: Vec<String>,
    /// When a row that is referred to goes.
    pub on_delete: ForeignKeyAction,
    /// When its columns change.
    pub on_update: ForeignKeyAction,
}

impl ForeignKey {
    /// To what it refers now: database, table, columns.
    pub fn references(&self, schema: &Schema) -> (String, String, Vec<String>) {
        if let Some(parent) = self.parent.and_then(|id| schema.table(id)) {
            let parent = &parent.definition;
            let name = |&number: &u16| parent.columns.get(usize::from(number)).map(|column| column.name.clone());
            let columns = self.parent_numbers.iter().filter_map(name).collect();
            return (parent.database.clone(), parent.name.clone(), columns);
        }
        (self.parent_database.clone(), self.parent_table.clone(), self.parent_columns.clone())
    }
}

/// A CHECK.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// Its text, as SHOW CREATE TABLE prints it.
    pub expression: String,
    /// Whether rows must satisfy it.
    pub enforced: bool,
}

/// Options behind the columns.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The names are the options'.
pub struct TableOptions {
    pub collation: Collation,
    pub comment: String,
    /// `DYNAMIC`, ..., or nothing.
    pub row_format: String,
    pub key_block_size: u64,
    pub max_rows: u64,
    pub min_rows: u64,
    pub average_row_length: u64,
    pub pack_keys: Option<bool>,
    pub checksum: bool,
    pub delay_key_write: bool,
    pub stats_persistent: Option<bool>,
    pub stats_auto_recalc: Option<bool>,
    pub stats_sample_pages: u64,
    pub compression: String,
    pub connection: String,
    /// Seconds since 1970 when the table was created.
    pub created: u64,
}

impl TableOptions {
    /// The defaults, with this collation.
    pub fn new(collation: Collation) -> Self {
        Self {
            collation,
            comment: String::new(),
            row_format: String::new(),
            key_block_size: 0,
            max_rows: 0,
            min_rows: 0,
            average_row_length: 0,
            pack_keys: None,
            checksum: false,
            delay_key_write: false,
            stats_persistent: None,
            stats_auto_recalc: None,
            stats_sample_pages: 0,
            compression: String::new(),
            connection: String::new(),
            created: 0,
        }
    }
}

/// A table.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// The engine's number; zero if it has not seen the table.
    pub id: TableId,
    /// The database that it is in.
    pub database: String,
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Whether the first index is the primary key.
    pub has_primary_key: bool,
    /// Its indexes in the order of SHOW CREATE TABLE; the primary key, if there is one, is the first.
    pub indexes: Vec<Index>,
    /// Its foreign keys, in the order in which they came.
    pub foreign_keys: Vec<ForeignKey>,
    /// Its checks, in the order in which they came.
    pub checks: Vec<Check>,
    /// Its options.
    pub options: TableOptions,
    /// What stored rows have, if that is not the columns in their order.
    pub stored: Vec<StoredColumn>,
    /// The engine's hidden index of a table without primary key.
    pub hidden_index: Option<IndexDefinition>,
}

mod tag {
    // Of a table.
    pub const COLLATION: u8 = 1;
    pub const COMMENT: u8 = 2;
    pub const ROW_FORMAT: u8 = 3;
    pub const KEY_BLOCK_SIZE: u8 = 4;
    pub const MAX_ROWS: u8 = 5;
    pub const MIN_ROWS: u8 = 6;
    pub const AVERAGE_ROW_LENGTH: u8 = 7;
    pub const PACK_KEYS: u8 = 8;
    pub const CHECKSUM: u8 = 9;
    pub const DELAY_KEY_WRITE: u8 = 10;
    pub const STATS_PERSISTENT: u8 = 11;
    pub const STATS_AUTO_RECALC: u8 = 12;
    pub const STATS_SAMPLE_PAGES: u8 = 13;
    pub const COMPRESSION: u8 = 14;
    pub const CONNECTION: u8 = 15;
    pub const CREATED: u8 = 16;
    pub const CHECK: u8 = 17;
    pub const FOREIGN_KEY: u8 = 18;
    // Of a check and of a foreign key.
    pub const NAME: u8 = 1;
    pub const EXPRESSION: u8 = 2;
    pub const NOT_ENFORCED: u8 = 3;
    pub const COLUMNS: u8 = 4;
    pub const PARENT_DATABASE: u8 = 5;
    pub const PARENT_TABLE: u8 = 6;
    pub const PARENT_COLUMN: u8 = 7;
    pub const ON_DELETE: u8 = 8;
    pub const ON_UPDATE: u8 = 9;
    // Of an index.
    pub const INDEX_COMMENT: u8 = 1;
    pub const INVISIBLE: u8 = 2;
    pub const USING_BTREE: u8 = 3;
    pub const INDEX_KEY_BLOCK_SIZE: u8 = 4;
    pub const IMPLICIT: u8 = 5;
}

impl Index {
    /// An index without anything special.
    pub fn new(name: &str, unique: bool, parts: Vec<IndexPart>) -> Self {
        Self {
            name: name.to_owned(),
            unique,
            parts,
            comment: String::new(),
            invisible: false,
            using_btree: false,
            key_block_size: 0,
            implicit: false,
            engine: (0, 0),
            position: 0,
        }
    }

    /// Whether it is the primary key.
    pub fn is_primary(&self) -> bool {
        self.name == "PRIMARY"
    }

    fn definition(&self) -> IndexDefinition {
        let part =
            |part: &IndexPart| PartDefinition { column: part.column, descending: part.descending, prefix: part.prefix };
        let mut definition = IndexDefinition::new(&self.name, self.unique, self.parts.iter().map(part).collect());
        definition.id.0 = self.engine.0;
        definition.tree.0 = self.engine.1;
        let mut out = Writer::default();
        out.some_bytes(tag::INDEX_COMMENT, self.comment.as_bytes())
            .some_number(tag::INVISIBLE, self.invisible.into())
            .some_number(tag::USING_BTREE, self.using_btree.into())
            .some_number(tag::INDEX_KEY_BLOCK_SIZE, self.key_block_size)
            .some_number(tag::IMPLICIT, self.implicit.into());
        definition.attributes = out.finish();
        definition
    }

    fn read(definition: &IndexDefinition) -> Result<Self, Damaged> {
        let part =
            |part: &PartDefinition| IndexPart { column: part.column, prefix: part.prefix, descending: part.descending };
        let parts = definition.parts.iter().map(part).collect();
        let mut index = Index::new(&definition.name, definition.unique, parts);
        index.engine = (definition.id.0, definition.tree.0);
        for field in fields(&definition.attributes)? {
            match field.tag {
                tag::INDEX_COMMENT => index.comment = field.text()?,
                tag::INVISIBLE => index.invisible = field.number()? != 0,
                tag::USING_BTREE => index.using_btree = field.number()? != 0,
                tag::INDEX_KEY_BLOCK_SIZE => index.key_block_size = field.number()?,
                tag::IMPLICIT => index.implicit = field.number()? != 0,
                _ => {}
            }
        }
        Ok(index)
    }
}

fn read_check(field: Field<'_>) -> Result<Check, Damaged> {
    let mut check = Check { name: String::new(), expression: String::new(), enforced: true };
    for field in fields(field.bytes)? {
        match field.tag {
            tag::NAME => check.name = field.text()?,
            tag::EXPRESSION => check.expression = field.text()?,
            tag::NOT_ENFORCED => check.enforced = field.number()? == 0,
            _ => {}
        }
    }
    Ok(check)
}

fn read_foreign_key(field: Field<'_>) -> Result<ForeignKey, Damaged> {
    let mut key = ForeignKey {
        name: String::new(),
        columns: Vec::new(),
        parent: None,
        parent_numbers: Vec::new(),
        parent_database: String::new(),
        parent_table: String::new(),
        parent_columns: Vec::new(),
        on_delete: ForeignKeyAction::NoAction,
        on_update: ForeignKeyAction::NoAction,
    };
    let action = |field: Field<'_>| {
        let number: usize = field.small()?;
        ForeignKeyAction::ALL.get(number).copied().ok_or(Damaged("no such action"))
    };
    for field in fields(field.bytes)? {
        match field.tag {
            tag::NAME => key.name = field.text()?,
            tag::COLUMNS => {
                let numbers = field.numbers()?.into_iter().map(u16::try_from).collect::<Result<_, _>>();
                key.columns = numbers.map_err(|_| Damaged("a column's number is out of range"))?;
            }
            tag::PARENT_DATABASE => key.parent_database = field.text()?,
            tag::PARENT_TABLE => key.parent_table = field.text()?,
            tag::PARENT_COLUMN => key.parent_columns.push(field.text()?),
            tag::ON_DELETE => key.on_delete = action(field)?,
            tag::ON_UPDATE => key.on_update = action(field)?,
            _ => {}
        }
    }
    Ok(key)
}

fn tristate(value: Option<bool>) -> u64 {
    value.map_or(0, |value| 1 + u64::from(value))
}

fn read_tristate(field: Field<'_>) -> Result<Option<bool>, Damaged> {
    Ok(field.number()?.checked_sub(1).map(|value| value != 0))
}

impl Table {
    /// A table without anything.
    pub fn new(database: &str, name: &str, collation: Collation) -> Self {
        Self {
            id: TableId(0),
            database: database.to_owned(),
            name: name.to_owned(),
            columns: Vec::new(),
            has_primary_key: false,
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            options: TableOptions::new(collation),
            stored: Vec::new(),
            hidden_index: None,
        }
    }

    /// The number of the column of this name.
    pub fn column(&self, name: &str) -> Option<u16> {
        self.columns.iter().position(|column| same_name(&column.name, name)).map(|at| at as u16)
    }

    /// The number of the index of this name.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| same_name(&index.name, name))
    }

    /// Brings the indexes into MySQL's order: the primary key, unique ones without NULLs, other unique ones, others.
    pub(crate) fn sort_indexes(&mut self) {
        let columns = &self.columns;
        let has_null = |index: &Index| index.parts.iter().any(|part| columns[usize::from(part.column)].nullable);
        let has_prefix = |index: &Index| index.parts.iter().any(|part| part.prefix.is_some());
        self.indexes.sort_by_key(|index| {
            (!index.is_primary(), !index.unique, index.unique && has_null(index), index.unique && has_prefix(index))
        });
    }

    /// The column that counts by itself.
    pub fn auto_increment(&self) -> Option<u16> {
        self.columns.iter().position(|column| column.auto_increment).map(|at| at as u16)
    }

    /// The engine's definition.
    pub fn definition(&self) -> TableDefinition {
        let columns = self.columns.iter().map(Column::definition).collect();
        let mut definition = TableDefinition::new(&self.database, &self.name, columns);
        definition.id = self.id;
        definition.stored = self.stored.clone();
        definition.has_primary_key = self.has_primary_key;
        definition.indexes = self.indexes.iter().map(Index::definition).collect();
        if !self.has_primary_key {
            let hidden = self.hidden_index.clone().unwrap_or_else(|| IndexDefinition::new("", true, Vec::new()));
            definition.indexes.insert(0, hidden);
        }
        definition.auto_increment = self.auto_increment();
        let mut out = Writer::default();
        let options = &self.options;
        out.number(tag::COLLATION, options.collation.id().into())
            .some_bytes(tag::COMMENT, options.comment.as_bytes())
            .some_bytes(tag::ROW_FORMAT, options.row_format.as_bytes())
            .some_number(tag::KEY_BLOCK_SIZE, options.key_block_size)
            .some_number(tag::MAX_ROWS, options.max_rows)
            .some_number(tag::MIN_ROWS, options.min_rows)
            .some_number(tag::AVERAGE_ROW_LENGTH, options.average_row_length)
            .some_number(tag::PACK_KEYS, tristate(options.pack_keys))
            .some_number(tag::CHECKSUM, options.checksum.into())
            .some_number(tag::DELAY_KEY_WRITE, options.delay_key_write.into())
            .some_number(tag::STATS_PERSISTENT, tristate(options.stats_persistent))
            .some_number(tag::STATS_AUTO_RECALC, tristate(options.stats_auto_recalc))
            .some_number(tag::STATS_SAMPLE_PAGES, options.stats_sample_pages)
            .some_bytes(tag::COMPRESSION, options.compression.as_bytes())
            .some_bytes(tag::CONNECTION, options.connection.as_bytes())
            .some_number(tag::CREATED, options.created);
        for check in &self.checks {
            let mut inner = Writer::default();
            inner.bytes(tag::NAME, check.name.as_bytes()).bytes(tag::EXPRESSION, check.expression.as_bytes());
            inner.some_number(tag::NOT_ENFORCED, (!check.enforced).into());
            out.bytes(tag::CHECK, &inner.finish());
        }
        for key in &self.foreign_keys {
            let mut inner = Writer::default();
            inner
                .bytes(tag::NAME, key.name.as_bytes())
                .numbers(tag::COLUMNS, key.columns.iter().map(|&column| column.into()))
                .bytes(tag::PARENT_DATABASE, key.parent_database.as_bytes())
                .bytes(tag::PARENT_TABLE, key.parent_table.as_bytes())
                .some_number(tag::ON_DELETE, key.on_delete as u64)
                .some_number(tag::ON_UPDATE, key.on_update as u64);
            for name in &key.parent_columns {
                inner.bytes(tag::PARENT_COLUMN, name.as_bytes());
            }
            out.bytes(tag::FOREIGN_KEY, &inner.finish());
            if let Some(parent) = key.parent {
                definition.foreign_keys.push(ForeignKeyDefinition {
                    name: key.name.clone(),
                    columns: key.columns.clone(),
                    parent,
                    parent_columns: key.parent_numbers.clone(),
                    on_delete: key.on_delete.engine(),
                    on_update: key.on_update.engine(),
                });
            }
        }
        definition.attributes = out.finish();
        definition
    }

    /// From the engine's definition.
    pub fn read(definition: &TableDefinition) -> Result<Self, Damaged> {
        let mut table = Table::new(&definition.database, &definition.name, Collation::Utf8mb4_0900AiCi);
        table.id = definition.id;
        table.stored = definition.stored.clone();
        table.columns = definition.columns.iter().map(Column::read).collect::<Result<_, _>>()?;
        if let Some(column) = definition.auto_increment {
            let column = table.columns.get_mut(usize::from(column)).ok_or(Damaged("no such column counts"))?;
            column.auto_increment = true;
        }
        table.has_primary_key = definition.has_primary_key;
        let shown = usize::from(!definition.has_primary_key);
        let indexes = definition.indexes.iter().skip(shown).map(Index::read);
        table.indexes = indexes.collect::<Result<_, _>>()?;
        for (at, index) in table.indexes.iter_mut().enumerate() {
            index.position = at + shown;
            if index.parts.iter().any(|part| usize::from(part.column) >= table.columns.len()) {
                return Err(Damaged("an index names a column that is not there"));
            }
        }
        table.sort_indexes();
        table.hidden_index = definition.indexes.first().filter(|_| shown == 1).cloned();
        let options = &mut table.options;
        for field in fields(&definition.attributes)? {
            match field.tag {
                tag::COLLATION => {
                    options.collation = Collation::from_id(field.small()?).ok_or(Damaged("no such collation"))?;
                }
                tag::COMMENT => options.comment = field.text()?,
                tag::ROW_FORMAT => options.row_format = field.text()?,
                tag::KEY_BLOCK_SIZE => options.key_block_size = field.number()?,
                tag::MAX_ROWS => options.max_rows = field.number()?,
                tag::MIN_ROWS => options.min_rows = field.number()?,
                tag::AVERAGE_ROW_LENGTH => options.average_row_length = field.number()?,
                tag::PACK_KEYS => options.pack_keys = read_tristate(field)?,
                tag::CHECKSUM => options.checksum = field.number()? != 0,
                tag::DELAY_KEY_WRITE => options.delay_key_write = field.number()? != 0,
                tag::STATS_PERSISTENT => options.stats_persistent = read_tristate(field)?,
                tag::STATS_AUTO_RECALC => options.stats_auto_recalc = read_tristate(field)?,
                tag::STATS_SAMPLE_PAGES => options.stats_sample_pages = field.number()?,
                tag::COMPRESSION => options.compression = field.text()?,
                tag::CONNECTION => options.connection = field.text()?,
                tag::CREATED => options.created = field.number()?,
                tag::CHECK => table.checks.push(read_check(field)?),
                tag::FOREIGN_KEY => table.foreign_keys.push(read_foreign_key(field)?),
                _ => {}
            }
        }
        for key in &mut table.foreign_keys {
            if key.columns.iter().any(|&column| usize::from(column) >= table.columns.len()) {
                return Err(Damaged("a foreign key names a column that is not there"));
            }
            if let Some(known) = definition.foreign_keys.iter().find(|known| known.name == key.name) {
                key.parent = Some(known.parent);
                key.parent_numbers = known.parent_columns.clone();
            }
        }
        Ok(table)
    }
}
