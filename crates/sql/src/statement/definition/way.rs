//! The way of ALTER TABLE: how much of a table has to be touched so that it becomes what it is to be.
//!
//! ```text
//!   Definition   change_tables   no row is touched: names, defaults, columns that go, come with a constant, change places
//!   Indexes      create_index    new ones are built beside what is there, while others write
//!   Rebuild      rebuild_table   all rows are written anew
//! ```
//!
//! MySQL has ways of its own, and ALGORITHM names them. What it would copy ([`Copied`]) is refused to who asks for INPLACE or
//! INSTANT, though there may be a shorter way here; what it would not, but has to be written anew here, is refused to who asks
//! for INSTANT.
//!
//! # Invariants
//! 1. The way is Definition only if each row, and each entry of an index that stays, means by the new definition what it meant
//!    by the old one.
//!
//! Source: the manual's "Online DDL Operations"; which error comes of what by experiment (tests/definition/alter.test).

use meseta_engine::table::{StoredColumn, Table as EngineTable};
use meseta_errors::*;
use meseta_types::DataType;

use super::DefinitionContext;
use super::alter_action::Draft;
use super::rows::added_value;
use crate::error::{Error, Result};
use crate::schema::{Column, ColumnDefault, Index, IndexPart, Table};

/// Columns that a stored row may have in vain before all are written anew: as many as InnoDB has versions of a row.
const COLUMNS_GONE_MAX: usize = 64;

/// What ALGORITHM says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Algorithm {
    /// Nothing, or DEFAULT.
    Any,
    /// INSTANT: without touching a row, or not at all.
    Instant,
    /// INPLACE: without what MySQL copies, or not at all.
    InPlace,
    /// COPY: all rows written anew.
    Copy,
}

/// How a table becomes what it is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// No row is touched.
    Definition,
    /// New indexes are built beside what is there.
    Indexes,
    /// All rows are written anew.
    Rebuild,
}

/// Why MySQL copies the rows, and tells how many there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Copied {
    /// They are checked.
    Checks,
    /// They refer to those of another table, which is checked.
    ForeignKeys,
    /// A primary key goes, and none comes.
    PrimaryKey,
    /// Values have other types.
    Types,
    /// Values are computed.
    Computed,
}

impl Copied {
    /// What MySQL would copy them for.
    pub fn of(old: &Table, draft: &Draft, checks_foreign_keys: bool) -> Option<Self> {
        let table = &draft.table;
        let before = |source: &Option<u16>| source.map(|source| &old.columns[usize::from(source)]);
        let columns = || table.columns.iter().zip(draft.sources.iter().map(before));
        let has_other_type = |(column, before): (&Column, Option<&Column>)| {
            before.is_some_and(|before| !takes_values_of(&column.data_type, &before.data_type))
        };
        let is_computed = |(column, before): (&Column, Option<&Column>)| match before {
            None => {
                column.generated.as_ref().is_some_and(|generated| generated.stored)
                    || matches!(column.default, ColumnDefault::Expression(_))
            }
            Some(before) => before.generated.is_some() && column.generated != before.generated,
        };
        if !draft.new_checks.is_empty() {
            Some(Self::Checks)
        } else if checks_foreign_keys && !draft.new_keys.is_empty() {
            Some(Self::ForeignKeys)
        } else if old.has_primary_key && !table.has_primary_key {
            Some(Self::PrimaryKey)
        } else if columns().any(has_other_type) {
            Some(Self::Types)
        } else {
            columns().any(is_computed).then_some(Self::Computed)
        }
    }
}

/// Whether the algorithm that is asked for does it. Errors: 1845, 1846.
pub fn check_algorithm(algorithm: Algorithm, way: Way, copied: Option<Copied>) -> Result<()> {
    let (given, others) = match algorithm {
        Algorithm::InPlace => ("ALGORITHM=INPLACE", "ALGORITHM=COPY"),
        Algorithm::Instant if copied == Some(Copied::Checks) => ("ALGORITHM=INSTANT", "ALGORITHM=COPY"),
        Algorithm::Instant => ("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE"),
        Algorithm::Any | Algorithm::Copy => return Ok(()),
    };
    let reason = match copied {
        Some(Copied::PrimaryKey) => Some(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOPK.message(&[])),
        Some(Copied::ForeignKeys) => Some(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_CHECK.message(&[])),
        Some(Copied::Types) if algorithm == Algorithm::InPlace => {
            Some(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COLUMN_TYPE.message(&[]))
        }
        Some(Copied::Types) => Some("Need to rebuild the table to change column type".to_owned()),
        Some(Copied::Checks | Copied::Computed) => None,
        None if algorithm == Algorithm::Instant && way != Way::Definition => None,
        None => return Ok(()),
    };
    Err(match reason {
        Some(reason) => Error::new(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, &[&given, &reason, &others]),
        None => Error::new(ER_ALTER_OPERATION_NOT_SUPPORTED, &[&given, &others]),
    })
}

/// Whether stored values of one type are those of another as they are: it is the same, or a longer text whose length takes as
/// many bytes in MySQL, or has more members behind those that it had.
fn takes_values_of(after: &DataType, before: &DataType) -> bool {
    if before == after {
        return true;
    }
    match (before, after) {
        (
            DataType::Varchar { length: before, collation },
            DataType::Varchar { length: after, collation: after_collation },
        ) => {
            let is_long = |length: u32| u64::from(length) * u64::from(collation.charset().max_len()) > 255;
            collation == after_collation && before <= after && is_long(*before) == is_long(*after)
        }
        (DataType::Enum(members), DataType::Enum(more)) | (DataType::Set(members), DataType::Set(more)) => {
            members.collation() == more.collation()
                && before.storage() == after.storage()
                && members.len() <= more.len()
                && members.names().eq(more.names().take(members.len()))
        }
        _ => false,
    }
}

/// Whether a column's values are in old rows what they are to be in new ones.
fn has_same_values(before: &Column, after: &Column) -> bool {
    fn expression(column: &Column) -> Option<&str> {
        column.generated.as_ref().map(|generated| generated.expression.as_str())
    }
    takes_values_of(&after.data_type, &before.data_type)
        && before.nullable == after.nullable
        && expression(before) == expression(after)
        && (before.auto_increment || !after.auto_increment)
}

/// Whether the entries of the indexes that stay are what they are to be: of the same columns.
fn are_same_indexes(old: &Table, draft: &Draft) -> bool {
    draft.table.indexes.iter().filter(|index| index.engine != (0, 0)).all(|index| {
        let before = old.indexes.iter().find(|before| before.engine == index.engine);
        let was = |part: &IndexPart| Some(IndexPart { column: draft.sources[usize::from(part.column)]?, ..*part });
        let parts: Option<Vec<IndexPart>> = index.parts.iter().map(was).collect();
        parts.is_some() && parts.as_ref() == before.map(|before| &before.parts)
    })
}

impl DefinitionContext<'_> {
    /// The shortest way to what the draft says.
    pub(super) fn way(&mut self, old: &Table, engine: &EngineTable, draft: &mut Draft) -> Result<Way> {
        let is_new = |index: &Index| index.engine == (0, 0);
        let has_new_keys = draft.table.indexes.iter().any(is_new);
        let checks_keys = self.foreign_key_checks && !draft.new_keys.is_empty();
        let rows_stay = self.rows_stay(old, engine, draft)?;
        let checks_rows = (checks_keys || !draft.new_checks.is_empty() || !rows_stay) && self.has_rows(engine)?;
        if !rows_stay || checks_rows {
            return Ok(Way::Rebuild);
        }
        if !has_new_keys {
            return Ok(Way::Definition);
        }
        // New keys, and nothing else?
        let mut before = draft.table.clone();
        before.indexes.retain(|index| !is_new(index));
        let mut known = old.clone();
        known.indexes.iter_mut().chain(&mut before.indexes).for_each(|index| index.position = 0);
        Ok(if before == known { Way::Indexes } else { Way::Rebuild })
    }

    /// Whether rows and entries that are there are right as they are: columns go, change places, and come with constant
    /// values. Those values are set here, and what stored rows have then.
    fn rows_stay(&mut self, old: &Table, engine: &EngineTable, draft: &mut Draft) -> Result<bool> {
        if old.has_primary_key != draft.table.has_primary_key || !are_same_indexes(old, draft) {
            return Ok(false);
        }
        let mut values = Vec::new();
        for (at, (column, source)) in draft.table.columns.iter().zip(&draft.sources).enumerate() {
            if let Some(source) = source {
                if !has_same_values(&old.columns[usize::from(*source)], column) {
                    return Ok(false);
                }
                continue;
            }
            let is_constant = !matches!(column.default, ColumnDefault::Expression(_));
            if column.auto_increment || column.generated.is_some() || !is_constant {
                return Ok(false);
            }
            // An error, the zero date, is one only if there are rows: copying finds out.
            match added_value(column, &column.default, self.now, self.context) {
                Ok(value) => values.push((at, value)),
                Err(_) => return Ok(false),
            }
        }
        let stored = engine.definition.stored_columns_after(&draft.sources);
        let is_gone = |stored: &&StoredColumn| matches!(stored, StoredColumn::Gone { .. });
        if stored.iter().filter(is_gone).count() > COLUMNS_GONE_MAX {
            return Ok(false);
        }
        for (at, value) in values {
            draft.table.columns[at].added_with = Some(value);
        }
        draft.table.stored = stored;
        Ok(true)
    }
}
