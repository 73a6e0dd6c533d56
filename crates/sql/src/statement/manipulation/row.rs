//! Rows that are about to be written: values given, defaults, what counts by itself, what is computed, what is checked.
//!
//! ```text
//!   values given --assign--> columns' values     none given: the default     NULL or 0 in a counting column: the next number
//!        generated columns, then CHECKs                                        --store--> the engine's row
//! ```

use bumpalo::Bump;
use meseta_engine::counter::Series;
use meseta_engine::row::Value;
use meseta_errors::{
    ER_AUTOINC_READ_FAILED, ER_BAD_NULL_ERROR, ER_CHECK_CONSTRAINT_VIOLATED, ER_NO_DEFAULT_FOR_FIELD,
    ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN,
};
use meseta_types::{DataType, Datum, SqlError, assign};

use crate::error::{Error, Result};
use crate::expression::{BindFacts, Expr};
use crate::query::{KnownTable, Running, Tables, stored};
use crate::schema::ColumnDefault;
use crate::statement::definition::bind_definition;

/// What a table's columns are if nothing is given, and what must hold of its rows: bound once for a plan.
#[derive(Debug)]
pub struct RowRules {
    /// DEFAULT (expression), by column.
    defaults: Vec<Option<Expr>>,
    /// Generated columns: number and expression, over the row's slots.
    generated: Vec<(usize, Expr)>,
    /// Enforced CHECKs: name and condition.
    checks: Vec<(String, Expr)>,
}

impl RowRules {
    /// Binds a table's expressions.
    pub fn new(table: &KnownTable, facts: BindFacts<'_>, _: &mut dyn Tables) -> Result<Self> {
        let bind = |text: &str| bind_definition(table, text, "expression", facts);
        let mut rules = Self { defaults: Vec::new(), generated: Vec::new(), checks: Vec::new() };
        for (number, column) in table.columns.iter().enumerate() {
            rules.defaults.push(match &column.default {
                ColumnDefault::Expression(text) => Some(bind(text)?),
                _ => None,
            });
            if let Some(generated) = &column.generated {
                rules.generated.push((number, bind(&generated.expression)?));
            }
        }
        for check in table.checks.iter().filter(|check| check.enforced) {
            rules.checks.push((check.name.clone(), bind(&check.expression)?));
        }
        Ok(rules)
    }
}

/// What is given for a column.
#[derive(Clone, Copy, Debug)]
pub enum Given<'v> {
    /// A value.
    Value(Datum<'v>),
    /// A value that is of the column's type already.
    Ready(Datum<'v>),
    /// Nothing, or DEFAULT.
    Default,
}

/// The value of a column for which nothing is given.
pub fn default_of<'v, 'r: 'v>(
    table: &'v KnownTable,
    rules: &'v RowRules,
    number: usize,
    row: &'v [Datum<'v>],
    running: &mut Running<'r>,
    arena: &'v Bump,
) -> Result<Datum<'v>> {
    let column = &table.columns[number];
    match &column.default {
        ColumnDefault::Null => Ok(Datum::Null),
        ColumnDefault::Literal(value) => Ok(crate::query::loaded(value.as_value(), &column.data_type, running.context)),
        ColumnDefault::Now => now(&column.data_type, running),
        ColumnDefault::Expression(_) => match &rules.defaults[number] {
            Some(expression) => expression.evaluate(row, &mut running.env(arena, &[])),
            None => Ok(Datum::Null),
        },
        ColumnDefault::None if column.nullable => Ok(Datum::Null),
        ColumnDefault::None if column.auto_increment => Ok(Datum::Null),
        // The first of an ENUM is its default.
        ColumnDefault::None if matches!(column.data_type, DataType::Enum(_)) => match &column.data_type {
            DataType::Enum(members) => Ok(Datum::Member { number: 1, members, set: false }),
            _ => Ok(Datum::Null),
        },
        ColumnDefault::None => {
            let error = Error::new(ER_NO_DEFAULT_FOR_FIELD, &[&column.name]);
            if running.context.mode.strict {
                return Err(error);
            }
            // Said once, however many rows there are.
            if running.context.row <= 1 {
                running.context.warnings.warn(SqlError::new(error.code.0, error.message));
            }
            Ok(implicit_default(&column.data_type))
        }
    }
}

/// CURRENT_TIMESTAMP for a column.
pub fn now(data_type: &DataType, running: &mut Running<'_>) -> Result<Datum<'static>> {
    let micros = running.inside.facts.statement_time();
    let decimals = match data_type {
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } | DataType::Time { decimals } => *decimals,
        _ => 0,
    };
    let local = running.context.zone.from_utc(micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000) as u32);
    let local = local.and_then(|local| local.round(decimals, true));
    Ok(local.map_or(Datum::Null, |local| Datum::DateTime(local, decimals)))
}

/// What a NOT NULL column gets without strict mode.
pub fn implicit_default(data_type: &DataType) -> Datum<'_> {
    match data_type {
        DataType::Integer { .. } if data_type.is_unsigned() => Datum::Unsigned(0),
        DataType::Integer { .. } => Datum::Signed(0),
        DataType::Year => Datum::Unsigned(0),
        DataType::Float { .. } => Datum::Float(0.0),
        DataType::Double { .. } => Datum::Double(0.0),
        DataType::Decimal { .. } => Datum::Decimal(meseta_types::Decimal::ZERO),
        DataType::Bit { width } => Datum::Bits { bits: 0, width: *width },
        DataType::Date => Datum::Date(meseta_types::Date::default()),
        DataType::Time { decimals } => Datum::Time(meseta_types::Time::default(), *decimals),
        DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
            Datum::DateTime(meseta_types::DateTime::default(), *decimals)
        }
        DataType::Enum(members) => Datum::Member { number: 0, members, set: false },
        DataType::Set(members) => Datum::Member { number: 0, members, set: true },
        DataType::Json => Datum::Json(meseta_types::json::NULL),
        DataType::Null => Datum::Null,
        DataType::Char { collation, .. } | DataType::Varchar { collation, .. } | DataType::Text { collation, .. } => {
            Datum::Text(b"", *collation)
        }
    }
}

/// Puts a value into a column of a row: bent to its type, checked for NULL. With `is_kind`, NULL in a column that takes none
/// becomes the implicit default, with a warning.
pub fn put<'v>(
    table: &'v KnownTable,
    number: usize,
    value: Datum<'v>,
    is_kind: bool,
    running: &mut Running<'_>,
    arena: &'v Bump,
) -> Result<Datum<'v>> {
    let column = &table.columns[number];
    let value = assign(value, &column.data_type, &column.name, running.context, arena)
        .map_err(|error| of_table(error, table))?;
    running.context.warnings.check()?;
    if !value.is_null() || column.nullable {
        return Ok(value);
    }
    let error = Error::new(ER_BAD_NULL_ERROR, &[&column.name]);
    if !is_kind {
        return Err(error);
    }
    running.context.warnings.warn(SqlError::new(error.code.0, error.message));
    Ok(implicit_default(&column.data_type))
}

/// Errors of documents name the table, too.
fn of_table(error: SqlError, table: &KnownTable) -> SqlError {
    match error.message.split_once(" in value for column '") {
        Some((front, column)) => {
            SqlError::new(error.number, format!("{front} in value for column '{}.{column}", table.name))
        }
        None => error,
    }
}

/// Computes generated columns, and asks CHECKs.
pub fn complete<'v, 'r: 'v>(
    table: &'v KnownTable,
    rules: &'v RowRules,
    row: &mut [Datum<'v>],
    running: &mut Running<'r>,
    arena: &'v Bump,
) -> Result<()> {
    for (number, expression) in &rules.generated {
        let so_far = arena.alloc_slice_copy(row);
        let value = expression.evaluate(so_far, &mut running.env(arena, &[]))?;
        row[*number] = put(table, *number, value, false, running, arena)?;
    }
    for (name, condition) in &rules.checks {
        let so_far = arena.alloc_slice_copy(row);
        let value = condition.evaluate(so_far, &mut running.env(arena, &[]))?;
        if !value.is_null() && !value.to_bool(running.context).unwrap_or(true) {
            return Err(Error::new(ER_CHECK_CONSTRAINT_VIOLATED, &[name]));
        }
    }
    Ok(())
}

/// The row in the engine's form.
pub fn engine_row<'v>(
    table: &KnownTable,
    row: &[Datum<'v>],
    running: &Running<'_>,
    arena: &'v Bump,
) -> &'v [Value<'v>] {
    let values = arena.alloc_slice_fill_copy(row.len(), Value::Null);
    for ((value, column), &datum) in values.iter_mut().zip(&table.columns).zip(row) {
        *value = stored(datum, &column.data_type, running.context, arena);
    }
    values
}

/// The next numbers of a counting column: the first, and how many. Not so many as are wanted, if there are fewer left. Error:
/// there is none left, but the first row of a statement gets the last one again.
pub fn next_numbers(
    table: &KnownTable,
    number: usize,
    wanted: u64,
    is_first: bool,
    running: &mut Running<'_>,
) -> Result<(u64, u64)> {
    let column = &table.columns[number];
    let max = match &column.data_type {
        DataType::Integer { size, .. } if column.data_type.is_unsigned() => size.unsigned_max().min(u64::MAX - 1),
        DataType::Integer { size, .. } => size.signed_max() as u64,
        _ => 1 << 53,
    };
    let (step, offset) = running.inside.auto_increment;
    let series = Series { offset, step, max };
    for count in [wanted, 1] {
        let taken = running.inside.engine.take_auto_increment(table.engine(), series, count);
        if let Some(first) = taken.map_err(Error::from_engine)? {
            return Ok((first, count));
        }
    }
    if is_first && max < u64::MAX - 1 { Ok((max, 1)) } else { Err(Error::new(ER_AUTOINC_READ_FAILED, &[])) }
}

/// Refuses a value for a generated column.
pub fn refuse_generated(table: &KnownTable, number: usize) -> Error {
    let column = &table.columns[number].name;
    Error::new(ER_NON_DEFAULT_VALUE_FOR_GENERATED_COLUMN, &[column, &table.name])
}
