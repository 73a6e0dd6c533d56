//! Rows written anew: each value becomes one of its column's new type, and new columns get theirs.

use bumpalo::Bump;
use meseta_engine::Direction;
use meseta_engine::row::{KeyRange, Value};
use meseta_engine::rows::RowCursor;
use meseta_engine::table::{OwnedValue, Table as EngineTable};
use meseta_errors::*;
use meseta_types::{Collation, Context, DataType, Date, DateTime, Datum, Decimal, SqlError, assign};

use super::alter_action::Draft;
use super::default::owned;
use super::failure::engine_failure;
use super::{DefinitionContext, RowExpressions};
use crate::error::{Error, Result};
use crate::schema::{Column, ColumnDefault, Table, stored_to_datum};

/// Makes rows of a new definition from those of an old one.
pub struct Converter<'c> {
    pub old: &'c Table,
    pub draft: &'c Draft,
    pub context: &'c mut Context,
    pub expressions: Option<&'c mut dyn RowExpressions>,
    /// Seconds since 1970.
    pub now: u64,
    /// Rows so far.
    pub rows: u64,
    /// The row under way, for error texts.
    pub last: Vec<OwnedValue>,
}

impl Converter<'_> {
    /// The new row of an old one.
    pub fn convert(&mut self, row: &[Value<'_>], out: &mut Vec<OwnedValue>) -> Result<()> {
        self.rows += 1;
        self.context.row = self.rows;
        let mut computed = Vec::new();
        for (at, (column, source)) in self.draft.table.columns.iter().zip(&self.draft.sources).enumerate() {
            if column.generated.is_some() {
                computed.push(at);
                out.push(zero(column, self.context)?);
                continue;
            }
            let value = match source {
                Some(source) => {
                    let from = &self.old.columns[usize::from(*source)];
                    self.converted(from, column, row[usize::from(*source)])?
                }
                None if column.auto_increment => number(column, self.rows),
                None => match &column.default {
                    ColumnDefault::Expression(_) => {
                        computed.push(at);
                        zero(column, self.context)?
                    }
                    default => added_value(column, default, self.now, self.context)?,
                },
            };
            out.push(value);
        }
        for at in computed {
            let column = &self.draft.table.columns[at];
            let text = match (&column.generated, &column.default) {
                (Some(generated), _) => &generated.expression,
                (None, ColumnDefault::Expression(text)) => text,
                _ => continue,
            };
            let Some(expressions) = &mut self.expressions else {
                return Err(Error::not_yet("expressions over rows that are there"));
            };
            out[at] = expressions.evaluate(&self.draft.table, at, text, out, self.context)?;
        }
        for check in &self.draft.table.checks {
            if self.draft.new_checks.contains(&check.name)
                && let Some(expressions) = &mut self.expressions
                && !expressions.holds(&self.draft.table, &check.expression, out, self.context)?
            {
                return Err(Error::new(ER_CHECK_CONSTRAINT_VIOLATED, &[&check.name]));
            }
        }
        self.last.clone_from(out);
        Ok(())
    }

    fn converted(&mut self, from: &Column, to: &Column, value: Value<'_>) -> Result<OwnedValue> {
        if value == Value::Null {
            if to.nullable {
                return Ok(OwnedValue::Null);
            }
            if self.context.mode.strict {
                return Err(Error::new(ER_INVALID_USE_OF_NULL, &[]));
            }
            self.context.warnings.warn(SqlError::data_truncated(&to.name, self.rows));
            return zero(to, self.context);
        }
        if from.data_type == to.data_type {
            return Ok(value.into());
        }
        let arena = Bump::new();
        let zone = self.context.zone.clone();
        let datum = match (stored_to_datum(&from.data_type, value, &zone), &to.data_type) {
            (datum @ (Datum::Text(..) | Datum::Json(_)), _) => datum,
            // INSERT takes no number for a document; here its text is read as one.
            (datum, DataType::Json) => {
                let mut text = Vec::new();
                from.data_type.append_text(datum, &mut text);
                let is_binary = matches!(from.data_type, DataType::Bit { .. });
                let collation = if is_binary { Collation::Binary } else { Collation::Utf8mb4Bin };
                Datum::Text(arena.alloc_slice_copy(&text), collation)
            }
            (datum, _) => datum,
        };
        let fitted = assign(datum, &to.data_type, &to.name, self.context, &arena).map_err(|error| {
            // ALTER TABLE says so of what is too long, too.
            match ErrorCode(error.number) {
                ER_DATA_TOO_LONG => Error::from(SqlError::data_truncated(&to.name, self.rows)),
                _ => Error::from(error),
            }
        })?;
        let mut scratch = Vec::new();
        Ok(owned(to.data_type.store(fitted, &zone, &mut scratch)))
    }
}

fn number(column: &Column, number: u64) -> OwnedValue {
    if column.data_type.is_unsigned() { OwnedValue::Unsigned(number) } else { OwnedValue::Signed(number as i64) }
}

/// What a column has if it has nothing: 0, the empty text, the first member, the zero date.
pub(super) fn zero(column: &Column, context: &Context) -> Result<OwnedValue> {
    if column.nullable {
        return Ok(OwnedValue::Null);
    }
    let datum = match &column.data_type {
        DataType::Integer { .. } if column.data_type.is_unsigned() => Datum::Unsigned(0),
        DataType::Integer { .. } => Datum::Signed(0),
        DataType::Year => Datum::Unsigned(0),
        DataType::Decimal { .. } => Datum::Decimal(Decimal::from(0i64)),
        DataType::Float { .. } => Datum::Float(0.0),
        DataType::Double { .. } => Datum::Double(0.0),
        DataType::Bit { width } => Datum::Bits { bits: 0, width: *width },
        DataType::Date => Datum::Date(Date::ZERO),
        DataType::Time { decimals } => Datum::Time(meseta_types::Time::ZERO, *decimals),
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
            Datum::DateTime(DateTime::ZERO, *decimals)
        }
        DataType::Enum(members) => Datum::Member { number: 1, members, set: false },
        DataType::Set(members) => Datum::Member { number: 0, members, set: true },
        DataType::Char { collation, .. } | DataType::Varchar { collation, .. } | DataType::Text { collation, .. } => {
            Datum::Text(b"", *collation)
        }
        DataType::Json | DataType::Null => {
            let arena = Bump::new();
            let mut own = Context::new(context.mode);
            let null = Datum::Text(b"null", Collation::Utf8mb4Bin);
            let fitted = assign(null, &column.data_type, &column.name, &mut own, &arena)?;
            let mut scratch = Vec::new();
            return Ok(owned(column.data_type.store(fitted, &context.zone, &mut scratch)));
        }
    };
    let mut scratch = Vec::new();
    let stored = owned(column.data_type.store(datum, &context.zone, &mut scratch));
    // The zero TIMESTAMP is stored as zeros.
    Ok(match (&column.data_type, stored) {
        (DataType::Timestamp { decimals }, OwnedValue::Null) => {
            OwnedValue::Bytes(vec![0; 4 + usize::from(*decimals).div_ceil(2)])
        }
        (_, stored) => stored,
    })
}

/// What a new column has in a row that was there before it. Errors: 1292, if it is the zero date and that is refused.
pub(super) fn added_value(column: &Column, default: &ColumnDefault, now: u64, context: &Context) -> Result<OwnedValue> {
    match default {
        ColumnDefault::Literal(value) => Ok(value.clone()),
        ColumnDefault::Now => {
            let seconds = u32::try_from(now).unwrap_or(u32::MAX);
            let decimals = column.data_type.decimals().unwrap_or(0);
            let datum = Datum::DateTime(context.zone.read_timestamp(&seconds.to_be_bytes()), decimals);
            let mut scratch = Vec::new();
            Ok(owned(column.data_type.store(datum, &context.zone, &mut scratch)))
        }
        _ => {
            let kind = match &column.data_type {
                DataType::Date => Some(("date", "0000-00-00")),
                DataType::DateTime { .. } | DataType::Timestamp { .. } => Some(("datetime", "0000-00-00 00:00:00")),
                _ => None,
            };
            if let Some((kind, zero)) = kind
                && !column.nullable
                && context.mode.strict
                && context.mode.no_zero_date
            {
                return Err(SqlError::incorrect_temporal(kind, zero.as_bytes(), &column.name, 1).into());
            }
            zero(column, context)
        }
    }
}

impl DefinitionContext<'_> {
    /// Whether a table has rows.
    pub(super) fn has_rows(&mut self, table: &EngineTable) -> Result<bool> {
        let mut rows = RowCursor::consistent(table, 0, KeyRange::ALL, Direction::Ascending, std::iter::empty());
        let found = rows.next(self.engine).map_err(engine_failure)?;
        self.engine.commit().map_err(engine_failure)?;
        Ok(found)
    }

    /// The largest number that a column has.
    pub(super) fn largest(&mut self, table: &EngineTable, column: u16) -> Result<u64> {
        let mut largest = 0;
        let mut rows = RowCursor::consistent(table, 0, KeyRange::ALL, Direction::Ascending, std::iter::once(column));
        let mut buffers = Default::default();
        while rows.next(self.engine).map_err(engine_failure)? {
            let mut values = Vec::new();
            rows.read(&mut buffers, &mut values).map_err(engine_failure)?;
            largest = largest.max(match values.get(usize::from(column)) {
                Some(Value::Unsigned(number)) => *number,
                Some(Value::Signed(number)) => u64::try_from(*number).unwrap_or(0),
                _ => 0,
            });
        }
        self.engine.commit().map_err(engine_failure)?;
        Ok(largest)
    }

    /// 1062 for a unique index that cannot be built: the first values, in the order of rows, that are there twice.
    pub(super) fn duplicate(
        &mut self,
        table: &Table,
        engine: &EngineTable,
        index: &crate::schema::Index,
    ) -> Result<Error> {
        let mut seen = std::collections::HashSet::new();
        let mut rows = RowCursor::consistent(
            engine,
            0,
            KeyRange::ALL,
            Direction::Ascending,
            0..engine.definition.columns.len() as u16,
        );
        let mut buffers = Default::default();
        let mut found = String::new();
        while rows.next(self.engine).map_err(engine_failure)? {
            let mut values = Vec::new();
            rows.read(&mut buffers, &mut values).map_err(engine_failure)?;
            let Some(key) = weights(table, index, &values) else { continue };
            if !seen.insert(key) {
                let values: Vec<OwnedValue> = values.iter().map(|&value| value.into()).collect();
                found = entry_text(table, index, &values, &self.context.zone);
                break;
            }
        }
        self.engine.commit().map_err(engine_failure)?;
        Ok(Error::new(ER_DUP_ENTRY, &[&found, &format!("{}.{}", table.name, index.name)]))
    }
}

/// What an index compares of a row; `None` if one of its values is NULL.
fn weights(table: &Table, index: &crate::schema::Index, values: &[Value<'_>]) -> Option<Vec<u8>> {
    let mut key = Vec::new();
    for part in &index.parts {
        let column = &table.columns[usize::from(part.column)];
        let start = key.len();
        match values.get(usize::from(part.column))? {
            Value::Null => return None,
            Value::Bytes(bytes) => match column.data_type.collation() {
                Some(collation) => {
                    collation.append_sort_key(bytes, part.prefix.map(|prefix| prefix as usize), &mut key);
                }
                None => key.extend_from_slice(bytes),
            },
            other => key.extend_from_slice(format!("{other:?}").as_bytes()),
        }
        key.extend_from_slice(&(key.len() - start).to_le_bytes());
    }
    Some(key)
}

/// The values of an index as error 1062 shows them: with dashes between them.
pub(super) fn entry_text(
    table: &Table,
    index: &crate::schema::Index,
    row: &[OwnedValue],
    zone: &meseta_types::Zone,
) -> String {
    let mut texts = Vec::new();
    for part in &index.parts {
        let column = &table.columns[usize::from(part.column)];
        let Some(value) = row.get(usize::from(part.column)) else { continue };
        texts.push(match value {
            OwnedValue::Null => "NULL".to_owned(),
            value => {
                crate::schema::text_of(&column.data_type, stored_to_datum(&column.data_type, value.as_value(), zone))
            }
        });
    }
    texts.join("-")
}
