//! Statements that change rows.

mod delete;
mod fields;
mod insert;
mod load;
mod row;
mod several;
mod update;

pub use delete::DeletePlan;
pub use fields::{Format, PieceSource, append_field};
pub use insert::InsertPlan;
pub use load::LoadPlan;
pub use row::RowRules;
pub use several::SeveralPlan;
pub use update::UpdatePlan;

use bumpalo::Bump;
use meseta_engine::row::{Value, recycle_values};
use meseta_engine::rows::{Conflict, FoundRow, RowChange};
use meseta_engine::{EngineError, Savepoint};
use meseta_errors::{
    ER_BAD_NULL_ERROR, ER_CHECK_CONSTRAINT_VIOLATED, ER_DUP_ENTRY, ER_NO_REFERENCED_ROW_2, ER_ROW_IS_REFERENCED_2,
};
use meseta_types::{Collation, Datum, SqlError};

use crate::error::{Error, Result};
use crate::query::{KnownTable, Running, Spare, loaded};

/// What a statement did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Changes {
    /// Rows that were found, or given.
    pub found: u64,
    /// Those of them that IGNORE passed over, but not for another row.
    pub passed_over: u64,
    /// Rows that were changed: what the client is told, unless it asks for those that were found.
    pub affected: u64,
    /// Rows that ON DUPLICATE KEY UPDATE found as they were to be.
    pub unchanged: u64,
    /// Rows that were in the way, and were changed or removed, or made IGNORE pass over one.
    pub duplicates: u64,
    /// Rows that were removed for others.
    pub removed: u64,
    /// The first number that was generated; 0 if none was.
    pub insert_id: u64,
    /// The last number that was given to a counting column or generated.
    pub last_number: u64,
    /// Whether a client is told how many rows were given: of several, or of a query.
    pub tells_records: bool,
}

/// How strict a statement is while it changes rows: in strict mode what expressions warn of is an error, with IGNORE bad
/// values are warnings.
struct Strictness {
    was_strict: bool,
}

impl Strictness {
    fn new(ignores: bool, running: &mut Running<'_>) -> Self {
        let was_strict = running.context.mode.strict;
        running.context.ignores = was_strict && ignores;
        running.context.mode.strict &= !ignores;
        running.context.warnings.set_refuses(running.context.mode.strict);
        Self { was_strict }
    }

    fn end<T>(self, running: &mut Running<'_>, done: Result<T>) -> Result<T> {
        let refused = running.context.warnings.check();
        running.context.warnings.set_refuses(false);
        running.context.mode.strict = self.was_strict;
        running.context.ignores = false;
        running.context.row = 1;
        let done = done?;
        refused?;
        Ok(done)
    }
}

/// With IGNORE: what was done of a change that did not come to be is undone.
fn take_back(
    savepoint: Option<Savepoint>,
    outcome: &meseta_engine::Result<RowChange>,
    running: &mut Running<'_>,
) -> Result<()> {
    match (savepoint, outcome) {
        (Some(_), Err(EngineError::Lock(_) | EngineError::RolledBack)) | (None, _) => Ok(()),
        (Some(_), Ok(RowChange::Done | RowChange::Stale)) => Ok(()),
        (Some(savepoint), _) => running.inside.engine.roll_back_to(savepoint).map_err(Error::from_engine),
    }
}

/// With IGNORE what a row violates is a warning, and the row stays as it is.
fn warn_or_fail(error: Error, ignores: bool, running: &mut Running<'_>) -> Result<()> {
    let is_ignorable =
        [ER_DUP_ENTRY, ER_BAD_NULL_ERROR, ER_ROW_IS_REFERENCED_2, ER_NO_REFERENCED_ROW_2, ER_CHECK_CONSTRAINT_VIOLATED];
    if !ignores || !is_ignorable.contains(&error.code) {
        return Err(error);
    }
    running.context.warnings.warn(SqlError::new(error.code.0, error.message));
    Ok(())
}

/// Error 1062 for a row that another is in the way of.
fn duplicate(table: &KnownTable, row: &[Datum<'_>], conflict: &Conflict) -> Error {
    let definition = &table.engine().definition.indexes[conflict.index];
    let mut entry = Vec::new();
    for (at, part) in definition.parts.iter().enumerate() {
        if at > 0 {
            entry.push(b'-');
        }
        match row[usize::from(part.column)] {
            Datum::Null => entry.extend_from_slice(b"NULL"),
            value => {
                let start = entry.len();
                let data_type = &table.columns[usize::from(part.column)].data_type;
                data_type.append_text(value, &mut entry);
                if data_type.collation() == Some(Collation::Binary) {
                    let shown = meseta_types::error::printable(&entry[start..]);
                    entry.truncate(start);
                    entry.extend_from_slice(shown.as_bytes());
                } else if let (Some(prefix), Some(collation)) = (part.prefix, data_type.collation()) {
                    let end = start + collation.charset().char_offset(&entry[start..], prefix as usize);
                    entry.truncate(end);
                }
            }
        }
    }
    let entry = String::from_utf8_lossy(&entry).into_owned();
    Error::new(ER_DUP_ENTRY, &[&entry, &format!("{}.{}", table.name, definition.name)])
}

/// A row's columns, as the engine found it: copied into an arena.
fn columns_of<'v>(
    table: &'v KnownTable,
    row: &FoundRow,
    running: &Running<'_>,
    arena: &'v Bump,
) -> Result<&'v [Datum<'v>]> {
    let mut lent = Spare::take();
    let spare = &mut *lent;
    let mut values = recycle_values(std::mem::take(&mut spare.values));
    row.read(table.engine(), &mut spare.buffers, &mut values).map_err(Error::from_engine)?;
    let columns = &mut *arena.alloc_slice_fill_copy(table.columns.len(), Datum::Null);
    for ((place, column), &value) in columns.iter_mut().zip(&table.columns).zip(&values) {
        let value = match value {
            Value::Bytes(bytes) => Value::Bytes(arena.alloc_slice_copy(bytes)),
            Value::Null => Value::Null,
            Value::Signed(number) => Value::Signed(number),
            Value::Unsigned(number) => Value::Unsigned(number),
            Value::Float(number) => Value::Float(number),
            Value::Double(number) => Value::Double(number),
        };
        *place = loaded(value, &column.data_type, running.context);
    }
    spare.values = recycle_values(values);
    Ok(columns)
}
