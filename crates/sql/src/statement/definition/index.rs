//! Keys: their parts, names and limits; CREATE INDEX and DROP INDEX.

use meseta_errors::*;
use meseta_parser::ast::{self, IndexKind, IndexOption, KeyPart};
use meseta_types::{Charset, DataType, SqlError};

use super::data_type::number;
use super::{DefinitionContext, Outcome, name};
use crate::error::{Error, Result};
use crate::name::same_name;
use crate::schema::{Index, IndexPart, Table};

/// Parts of a key at most.
const PARTS_MAX: usize = 16;
/// Keys of a table at most.
const KEYS_MAX: usize = 64;
/// Bytes of a key at most, and of each of its parts.
const KEY_BYTES_MAX: u64 = 3072;

/// Bytes that a column counts in a key.
fn key_bytes(data_type: &DataType, characters: Option<u64>) -> u64 {
    let each = data_type.collation().map_or(1, |collation| u64::from(collation.charset().max_len()));
    match (data_type, characters) {
        (_, Some(characters)) => characters * each,
        (DataType::Char { length, .. } | DataType::Varchar { length, .. }, None) => u64::from(*length) * each,
        (other, None) => u64::from(other.row_bytes()),
    }
}

/// Error 1071: the parts of a key have more bytes than it may.
fn check_bytes(bytes: u64) -> Result<()> {
    if bytes > KEY_BYTES_MAX { Err(Error::new(ER_TOO_LONG_KEY, &[&KEY_BYTES_MAX])) } else { Ok(()) }
}

impl DefinitionContext<'_> {
    /// A key of a table whose columns are known. A primary key's columns become NOT NULL; `is_null` says of which of them
    /// NULL was written. Names that are missing are made by [`DefinitionContext::add_index`].
    pub(super) fn bind_index(
        &mut self,
        table: &mut Table,
        given: &ast::IndexDefinition<'_>,
        is_null: impl Fn(u16) -> bool,
    ) -> Result<Index> {
        match given.kind {
            IndexKind::Fulltext => return Err(Error::not_yet("FULLTEXT keys")),
            IndexKind::Spatial => return Err(Error::not_yet("SPATIAL keys")),
            IndexKind::Plain | IndexKind::Unique | IndexKind::Primary => {}
        }
        let is_primary = given.kind == IndexKind::Primary;
        let index_name = match (is_primary, given.name.or(given.constraint)) {
            (true, _) => "PRIMARY".to_owned(),
            (false, Some(given)) => name::index(given)?,
            (false, None) => String::new(),
        };
        let unique = given.kind != IndexKind::Plain;
        let mut index = Index::new(&index_name, unique, Vec::new());
        self.index_options(&mut index, given.options)?;
        if given.parts.len() > PARTS_MAX {
            return Err(Error::new(ER_TOO_MANY_KEY_PARTS, &[&PARTS_MAX]));
        }
        let mut bytes = 0;
        for part in given.parts {
            let (column, length, descending) = match part {
                KeyPart::Column { name, length, descending } => (name, length, descending),
                KeyPart::Expression { expression, .. } if matches!(expression.kind, ast::ExpressionKind::Column(_)) => {
                    return Err(Error::new(ER_FUNCTIONAL_INDEX_ON_FIELD, &[]));
                }
                KeyPart::Expression { .. } => return Err(Error::not_yet("functional key parts")),
            };
            let column_name = name::text(column.text);
            let Some(at) = table.column(&column_name) else {
                return Err(Error::new(ER_KEY_COLUMN_DOES_NOT_EXITS, &[&column_name]));
            };
            if index.parts.iter().any(|part| part.column == at) {
                return Err(Error::new(ER_DUP_FIELDNAME, &[&column_name]));
            }
            let column = &mut table.columns[usize::from(at)];
            if is_primary {
                if is_null(at) {
                    return Err(Error::new(ER_PRIMARY_CANT_HAVE_NULL, &[]));
                }
                if column.generated.as_ref().is_some_and(|generated| !generated.stored) {
                    let what = "Defining a virtual generated column as primary key";
                    return Err(Error::new(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, &[&what]));
                }
                make_not_null(column);
            }
            let prefix = match length.map(number) {
                None => None,
                Some(0) => return Err(Error::new(ER_KEY_PART_0, &[&column_name])),
                Some(length) => Some(length),
            };
            let (prefix, part_bytes) = self.key_part(column, prefix, unique)?;
            bytes += part_bytes;
            index.parts.push(IndexPart { column: at, prefix, descending: *descending });
        }
        check_bytes(bytes)?;
        Ok(index)
    }

    /// Whether a key that was there can stay now that its columns are these. Errors: those of the key if it were new.
    pub(super) fn check_index(&mut self, index: &mut Index, columns: &[crate::schema::Column]) -> Result<()> {
        let mut bytes = 0;
        for part in &mut index.parts {
            let column = &columns[usize::from(part.column)];
            let (prefix, part_bytes) = self.key_part(column, part.prefix.map(u64::from), index.unique)?;
            part.prefix = prefix;
            bytes += part_bytes;
        }
        check_bytes(bytes)
    }

    /// The key of one column that was written behind it.
    pub(super) fn bind_inline_index(
        &mut self,
        table: &mut Table,
        kind: IndexKind,
        column: ast::Identifier<'_>,
        is_null: impl Fn(u16) -> bool,
    ) -> Result<Index> {
        let parts = [KeyPart::Column { name: column, length: None, descending: false }];
        let given = ast::IndexDefinition { kind, constraint: None, name: None, parts: &parts, options: &[] };
        self.bind_index(table, &given, is_null)
    }

    /// The prefix and the bytes of a part.
    fn key_part(
        &mut self,
        column: &crate::schema::Column,
        prefix: Option<u64>,
        unique: bool,
    ) -> Result<(Option<u32>, u64)> {
        let data_type = &column.data_type;
        let wrong_prefix = || Err(Error::new(ER_WRONG_SUB_KEY, &[]));
        let own = match data_type {
            DataType::Json => return Err(Error::new(ER_JSON_USED_AS_KEY, &[&column.name])),
            DataType::Text { size, collation } => {
                let Some(prefix) = prefix else {
                    return Err(Error::new(ER_BLOB_KEY_WITHOUT_LENGTH, &[&column.name]));
                };
                if prefix * u64::from(collation.charset().max_len()) > u64::from(size.max_bytes()) {
                    return Err(Error::new(ER_TOO_LONG_KEY, &[&size.max_bytes()]));
                }
                None
            }
            DataType::Char { length, .. } | DataType::Varchar { length, .. } => Some(u64::from(*length)),
            _ if prefix.is_some() => return wrong_prefix(),
            _ => None,
        };
        if let (Some(own), Some(prefix)) = (own, prefix)
            && prefix > own
        {
            return wrong_prefix();
        }
        let prefix = prefix.filter(|&prefix| own != Some(prefix));
        let bytes = key_bytes(data_type, prefix);
        if bytes > KEY_BYTES_MAX {
            if unique || self.context.mode.strict || !data_type.is_string() {
                return Err(Error::new(ER_TOO_LONG_KEY, &[&KEY_BYTES_MAX]));
            }
            self.warn(ER_TOO_LONG_KEY, &[&KEY_BYTES_MAX]);
            let charset = data_type.collation().map_or(Charset::Binary, |collation| collation.charset());
            let fits = KEY_BYTES_MAX / u64::from(charset.max_len());
            return Ok((Some(fits as u32), fits * u64::from(charset.max_len())));
        }
        Ok((prefix.map(|prefix| prefix as u32), bytes))
    }

    fn index_options(&mut self, index: &mut Index, options: &[IndexOption<'_>]) -> Result<()> {
        for option in options {
            match option {
                IndexOption::Using(ast::IndexAlgorithm::Btree) => index.using_btree = true,
                IndexOption::Using(ast::IndexAlgorithm::Hash) => {
                    index.using_btree = false;
                    self.note(ER_UNSUPPORTED_INDEX_ALGORITHM, &[&"HASH"]);
                }
                IndexOption::Using(ast::IndexAlgorithm::Rtree) => {
                    let message = "A SPATIAL index may only contain a geometrical type column";
                    return Err(SqlError::new(1687, message).into());
                }
                IndexOption::KeyBlockSize(_) => {}
                IndexOption::Comment(comment) => {
                    index.comment = name::text(*comment);
                    if index.comment.chars().count() > 1024 {
                        return Err(Error::new(ER_TOO_LONG_INDEX_COMMENT, &[&index.name, &1024]));
                    }
                }
                IndexOption::Visible => index.invisible = false,
                IndexOption::Invisible => index.invisible = true,
                IndexOption::Parser(_) => return Err(Error::not_yet("parsers of FULLTEXT keys")),
                IndexOption::EngineAttribute(_) | IndexOption::SecondaryEngineAttribute(_) => {}
            }
        }
        if index.is_primary() && index.invisible {
            return Err(Error::new(ER_PK_INDEX_CANT_BE_INVISIBLE, &[]));
        }
        Ok(())
    }

    /// Adds a key to a table, with a name if it has none. Errors: 1068, 1061, 1069.
    pub(super) fn add_index(&mut self, table: &mut Table, mut index: Index) -> Result<()> {
        if index.is_primary() {
            if table.has_primary_key {
                return Err(Error::new(ER_MULTIPLE_PRI_KEY, &[]));
            }
            table.has_primary_key = true;
            table.indexes.insert(0, index);
            return Ok(());
        }
        if index.name.is_empty() {
            let first = index.parts.first().and_then(|part| table.columns.get(usize::from(part.column)));
            index.name = free_name(table, first.map_or("", |column| &column.name));
        } else if table.index(&index.name).is_some() {
            return Err(Error::new(ER_DUP_KEYNAME, &[&index.name]));
        }
        if table.indexes.len() >= KEYS_MAX {
            return Err(Error::new(ER_TOO_MANY_KEYS, &[&KEYS_MAX]));
        }
        table.indexes.push(index);
        Ok(())
    }

    /// Looks at a table's keys as a whole, and brings them into MySQL's order. `is_old` says which ones were there.
    pub(super) fn finish_indexes(&mut self, table: &mut Table, is_old: impl Fn(&Index) -> bool) -> Result<()> {
        for at in 0..table.indexes.len() {
            let (before, index) = (&table.indexes[..at], &table.indexes[at]);
            let is_same = |other: &&Index| other.unique == index.unique && other.parts == index.parts;
            if !is_old(index)
                && !index.is_primary()
                && before.iter().any(|other| is_same(&other) && !other.is_primary())
            {
                let (name, database, of) = (index.name.clone(), table.database.clone(), table.name.clone());
                self.warn(ER_DUP_INDEX, &[&name, &database, &of]);
            }
        }
        table.sort_indexes();
        let columns = &table.columns;
        let has_null = |index: &Index| index.parts.iter().any(|part| columns[usize::from(part.column)].nullable);
        if !table.has_primary_key
            && let Some(first) = table.indexes.first()
            && first.unique
            && first.invisible
            && !has_null(first)
        {
            return Err(Error::new(ER_PK_INDEX_CANT_BE_INVISIBLE, &[]));
        }
        let counting = table.columns.iter().filter(|column| column.auto_increment).count();
        let is_key = table.auto_increment().is_none_or(|column| {
            table.indexes.iter().any(|index| index.parts.first().is_some_and(|part| part.column == column))
        });
        if counting > 1 || !is_key {
            return Err(Error::new(ER_WRONG_AUTO_KEY, &[]));
        }
        Ok(())
    }

    /// CREATE INDEX is an ALTER TABLE.
    pub(super) fn create_index(&mut self, create: &ast::CreateIndex<'_>, text: &[u8]) -> Result<Outcome> {
        let constraint = ast::TableConstraint::Index(create.index);
        let actions = [ast::AlterAction::AddConstraint(&constraint)];
        self.alter_table(&ast::AlterTable { name: create.table, actions: &actions, partitioning: None }, text)
    }

    /// DROP INDEX is one, too.
    pub(super) fn drop_index(&mut self, drop: &ast::DropIndex<'_>) -> Result<Outcome> {
        let is_primary = drop.name.text.eq_ignore_ascii_case(b"PRIMARY");
        let action = if is_primary { ast::AlterAction::DropPrimaryKey } else { ast::AlterAction::DropIndex(drop.name) };
        self.alter_table(&ast::AlterTable { name: drop.table, actions: &[action], partitioning: None }, b"")
    }
}

/// A column of a primary key is never NULL.
pub(super) fn make_not_null(column: &mut crate::schema::Column) {
    column.nullable = false;
    if column.default == crate::schema::ColumnDefault::Null {
        column.default = crate::schema::ColumnDefault::None;
    }
}

/// A name for a key: its first column's, or that with a number behind.
fn free_name(table: &Table, column: &str) -> String {
    let is_taken = |name: &str| table.index(name).is_some();
    if !is_taken(column) && !same_name(column, "PRIMARY") {
        return column.to_owned();
    }
    (2..).map(|number| format!("{column}_{number}")).find(|name| !is_taken(name)).unwrap_or_default()
}
