//! INSERT and REPLACE.
//!
//! ```text
//!   for each row given:  values, defaults, numbers --> engine.insert_row
//!       another row is in the way:   error 1062 | IGNORE: a warning | REPLACE: it goes, and again | ON DUPLICATE KEY UPDATE
//! ```
//!
//! # Slots
//! Expressions of VALUES see the row so far: the table's columns, from slot 0 on. Those of ON DUPLICATE KEY UPDATE see the row
//! that is there, and behind it the one that was given: `VALUES(column)`, or the alias's columns.

use std::sync::Arc;

use bumpalo::Bump;
use meseta_engine::catalog::TableHandle;
use meseta_engine::lock::{Mode, OnConflict, TableMode};
use meseta_engine::rows::{Conflict, RowChange, RowCursor};
use meseta_engine::{EngineError, Locking};
use meseta_errors::{ER_BAD_FIELD_ERROR, ER_FIELD_SPECIFIED_TWICE, ER_WRONG_VALUE_COUNT_ON_ROW};
use meseta_parser::ast::{self, ExpressionKind, InsertSource};
use meseta_types::{Datum, SqlError};

use super::row::{Given, RowRules, complete, default_of, engine_row, next_number, put, refuse_generated};
use super::{Changes, columns_of, duplicate, passed_over};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::query::{Binder, FoundTable, KnownTable, MORE, Place, QueryPlan, Running, named_source, run_query, text_of};

/// A value in VALUES.
#[derive(Debug)]
enum Source {
    Value(Expr),
    Default,
}

#[derive(Debug)]
enum Rows {
    Given(Vec<Vec<Source>>),
    Query(Box<QueryPlan>),
}

/// INSERT or REPLACE, bound.
#[derive(Debug)]
pub struct InsertPlan {
    table: Arc<KnownTable>,
    rules: RowRules,
    /// The columns that values are given for.
    columns: Vec<usize>,
    rows: Rows,
    replaces: bool,
    ignores: bool,
    /// ON DUPLICATE KEY UPDATE: column and value (`None` for DEFAULT).
    on_duplicate: Vec<(usize, Option<Expr>)>,
    /// The column that counts by itself.
    counting: Option<usize>,
}

/// The column of a table that a name means.
pub fn column_named(table: &KnownTable, name: &ast::ColumnName<'_>) -> Result<usize> {
    let text = text_of(name.column.text.0);
    let found = table.columns.iter().position(|column| column.name.eq_ignore_ascii_case(&text));
    found.ok_or_else(|| Error::new(ER_BAD_FIELD_ERROR, &[&text, &"field list"]))
}

impl InsertPlan {
    /// Binds the statement.
    pub fn new<'a>(insert: &'a ast::Insert<'a>, binder: &mut Binder<'a, '_>) -> Result<Self> {
        let database = insert.table.schema.map(|schema| text_of(schema.text.0));
        let FoundTable::Table(table) = binder.tables.table(database.as_deref(), &text_of(insert.table.name.text.0))?
        else {
            return Err(Error::not_yet("INSERT into a table that is made up"));
        };
        binder.tables.permit(&table, &text_of(insert.table.name.text.0), true)?;
        let rules = RowRules::new(&table, binder.facts, binder.tables)?;
        let columns = match insert.columns {
            None => (0..table.columns.len()).filter(|&number| !table.columns[number].invisible).collect(),
            Some(names) => {
                let mut columns = Vec::new();
                for name in names.iter() {
                    let number = column_named(&table, name)?;
                    if columns.contains(&number) {
                        return Err(Error::new(ER_FIELD_SPECIFIED_TWICE, &[&table.columns[number].name]));
                    }
                    columns.push(number);
                }
                columns
            }
        };
        let alias = insert.row_alias.map(|(alias, names)| (text_of(alias.text.0), names));
        let rows = match insert.source {
            InsertSource::Query(query) => {
                let plan = binder.query(query)?;
                if plan.columns.len() != columns.len() {
                    return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&1]));
                }
                binder.push_source(named_source(&table, &table.name, 0));
                Rows::Query(Box::new(plan))
            }
            InsertSource::Rows(rows) => {
                binder.push_source(named_source(&table, &table.name, 0));
                let mut given = Vec::new();
                for (at, row) in rows.iter().enumerate() {
                    if row.len() != columns.len()
                        && !(row.is_empty() && insert.columns.is_none_or(|names| names.is_empty()))
                    {
                        return Err(Error::new(ER_WRONG_VALUE_COUNT_ON_ROW, &[&(at + 1)]));
                    }
                    let values = row.iter().map(|value| match value.kind {
                        ExpressionKind::Default => Ok(Source::Default),
                        _ => binder.expression(value, Place::plain("field list")).map(Source::Value),
                    });
                    given.push(values.collect::<Result<_>>()?);
                }
                Rows::Given(given)
            }
        };
        let mut on_duplicate = Vec::new();
        if !insert.on_duplicate.is_empty() {
            let width = table.columns.len();
            let mut new = named_source(&table, alias.as_ref().map_or("", |(alias, _)| alias), width);
            match alias {
                Some((_, names)) => {
                    for (column, name) in columns.iter().zip(names.iter()) {
                        new.columns[*column].name = text_of(name.text.0).into();
                    }
                }
                // A row without a name is reached by VALUES() alone.
                None => new.merged = (0..width).collect(),
            }
            binder.push_beside(new);
            binder.inserted_from = Some(width as u32);
            for assignment in insert.on_duplicate.iter() {
                let number = column_named(&table, &assignment.column)?;
                if table.columns[number].generated.is_some() {
                    return Err(refuse_generated(&table, number));
                }
                on_duplicate.push((
                    number,
                    match assignment.value.kind {
                        ExpressionKind::Default => None,
                        _ => Some(binder.expression(&assignment.value, Place::plain("field list"))?),
                    },
                ));
            }
        }
        let counting = table.columns.iter().position(|column| column.auto_increment);
        Ok(Self {
            rules,
            columns,
            rows,
            replaces: insert.replace,
            ignores: insert.ignore,
            on_duplicate,
            counting,
            table,
        })
    }

    /// The table that gets rows.
    pub fn table(&self) -> &Arc<KnownTable> {
        &self.table
    }

    /// Whether it is REPLACE.
    pub fn replaces(&self) -> bool {
        self.replaces
    }

    /// The query that it has its rows from.
    pub fn query(&self) -> Option<&QueryPlan> {
        match &self.rows {
            Rows::Query(query) => Some(query),
            Rows::Given(_) => None,
        }
    }

    /// Inserts the rows.
    pub fn run(&self, running: &mut Running<'_>) -> Result<Changes> {
        let engine_table = self.table.engine();
        let handle =
            running.inside.engine.use_table(engine_table.id(), TableMode::Write).map_err(Error::from_engine)?;
        let Some(handle) = handle.filter(|handle| handle.is(engine_table)) else {
            return Err(Error::from_engine(EngineError::TableChanged));
        };
        let mut changes = Changes::default();
        let mut arena = Bump::new();
        match &self.rows {
            Rows::Given(rows) => {
                let is_kind = rows.len() > 1 && !running.context.mode.strict;
                for (at, row) in rows.iter().enumerate() {
                    running.context.row = at as u64 + 1;
                    running.inside.facts.check_killed()?;
                    arena.reset();
                    self.given_row(row, &handle, is_kind, running, &mut changes, &arena)?;
                }
            }
            Rows::Query(plan) => {
                // What is read is not to see what is written: if it reads this table, its rows are kept in between.
                let keep = Bump::new();
                let mut kept: Vec<&[Datum<'_>]> = Vec::new();
                let is_kind = !running.context.mode.strict;
                run_query(plan, &[], running, &mut |_, row| {
                    let copies: Vec<Datum<'_>> =
                        row.iter().map(|&value| crate::expression::copy_into(value, None, &keep)).collect();
                    kept.push(keep.alloc_slice_copy(&copies));
                    Ok(MORE)
                })?;
                for (at, values) in kept.into_iter().enumerate() {
                    running.context.row = at as u64 + 1;
                    arena.reset();
                    let given = values.iter().map(|&value| Given::Value(value));
                    self.one_row(given.collect(), &handle, is_kind, running, &mut changes, &arena)?;
                }
            }
        }
        running.context.row = 1;
        Ok(changes)
    }

    fn given_row(
        &self,
        sources: &[Source],
        handle: &TableHandle,
        is_kind: bool,
        running: &mut Running<'_>,
        changes: &mut Changes,
        arena: &Bump,
    ) -> Result<()> {
        // A value sees those in front of it.
        let mut so_far = vec![Datum::Null; self.table.columns.len()];
        let mut given = Vec::with_capacity(sources.len());
        for (source, &column) in sources.iter().zip(&self.columns) {
            given.push(match source {
                Source::Default => Given::Default,
                Source::Value(expression) => {
                    let row: &[Datum<'_>] = arena.alloc_slice_copy(&so_far);
                    let value = expression.evaluate(row, &mut running.env(arena, &[]))?;
                    so_far[column] = value;
                    Given::Value(value)
                }
            });
        }
        self.one_row(given, handle, is_kind, running, changes, arena)
    }

    fn one_row<'v, 'r: 'v>(
        &'v self,
        given: Vec<Given<'v>>,
        handle: &TableHandle,
        is_kind: bool,
        running: &mut Running<'r>,
        changes: &mut Changes,
        arena: &'v Bump,
    ) -> Result<()> {
        changes.found += 1;
        let mut row = vec![Datum::Null; self.table.columns.len()];
        let mut is_given = vec![false; row.len()];
        let is_kind = is_kind || self.ignores;
        for (given, &column) in given.into_iter().zip(&self.columns) {
            let Given::Value(value) = given else { continue };
            if self.table.columns[column].generated.is_some() {
                return Err(refuse_generated(&self.table, column));
            }
            is_given[column] = true;
            row[column] = put(&self.table, column, value, is_kind, running, arena)?;
        }
        for column in (0..row.len()).filter(|&column| !is_given[column]) {
            if self.table.columns[column].generated.is_none() {
                let so_far: &[Datum<'v>] = arena.alloc_slice_copy(&row);
                let value = default_of(&self.table, &self.rules, column, so_far, running, arena)?;
                row[column] = put(&self.table, column, value, is_kind, running, arena)?;
            }
        }
        if let Some(column) = self.counting {
            self.count(column, &mut row, running, changes)?;
        }
        let before = self.ignores.then(|| running.inside.engine.savepoint());
        let written = complete(&self.table, &self.rules, &mut row, running, arena)
            .and_then(|()| self.write(&row, handle, running, changes, arena));
        match (written, before) {
            (Err(error), Some(before)) => {
                passed_over(error, running)?;
                running.inside.engine.roll_back_to(before).map_err(Error::from_engine)
            }
            (written, _) => written,
        }
    }

    /// NULL and 0 in the counting column become its next number.
    fn count(
        &self,
        column: usize,
        row: &mut [Datum<'_>],
        running: &mut Running<'_>,
        changes: &mut Changes,
    ) -> Result<()> {
        let generates = match row[column] {
            Datum::Null => true,
            Datum::Signed(0) | Datum::Unsigned(0) => !running.inside.no_auto_value_on_zero,
            _ => false,
        };
        if generates {
            let number = next_number(&self.table, column, running)?;
            let is_unsigned = self.table.columns[column].data_type.is_unsigned();
            row[column] = if is_unsigned { Datum::Unsigned(number) } else { Datum::Signed(number as i64) };
            if changes.insert_id == 0 {
                changes.insert_id = number;
            }
            changes.last_number = number;
        } else if let Datum::Signed(number) = row[column]
            && number > 0
        {
            changes.last_number = number as u64;
        } else if let Datum::Unsigned(number) = row[column] {
            changes.last_number = number;
        }
        Ok(())
    }

    fn write<'v, 'r: 'v>(
        &'v self,
        row: &[Datum<'v>],
        handle: &TableHandle,
        running: &mut Running<'r>,
        changes: &mut Changes,
        arena: &'v Bump,
    ) -> Result<()> {
        let values = engine_row(&self.table, row, running, arena);
        let mode = if self.replaces || !self.on_duplicate.is_empty() { Mode::Exclusive } else { Mode::Shared };
        loop {
            let inserted = running
                .inside
                .engine
                .insert_row(handle, &values, mode)
                .map_err(|error| running.inside.refusal(error))?;
            let conflict = match inserted {
                RowChange::Done => {
                    changes.affected += 1;
                    return Ok(());
                }
                RowChange::Stale => continue,
                RowChange::Conflict(conflict) => conflict,
            };
            changes.duplicates += 1;
            if !self.on_duplicate.is_empty() {
                if self.update_instead(row, &conflict, handle, running, changes, arena)? {
                    return Ok(());
                }
            } else if self.replaces {
                if self.remove(&conflict, handle, running)? {
                    changes.affected += 1;
                }
            } else if self.ignores {
                let error = duplicate(&self.table, row, &conflict);
                running.context.warnings.warn(SqlError::new(error.code.0, error.message));
                return Ok(());
            } else {
                return Err(duplicate(&self.table, row, &conflict));
            }
        }
    }

    /// The row that is in the way, locked.
    fn locking(running: &Running<'_>) -> Locking {
        Locking { mode: Mode::Exclusive, gaps: false, on_conflict: OnConflict::Wait(running.inside.lock_wait) }
    }

    fn remove(&self, conflict: &Conflict, handle: &TableHandle, running: &mut Running<'_>) -> Result<bool> {
        let mut cursor = RowCursor::locking_at(handle, 0, &conflict.primary_key, Self::locking(running));
        if !cursor.next(running.inside.engine).map_err(Error::from_engine)? {
            return Ok(false);
        }
        let deleted =
            running.inside.engine.delete_row(handle, cursor.row()).map_err(|error| running.inside.refusal(error))?;
        Ok(deleted == RowChange::Done)
    }

    /// ON DUPLICATE KEY UPDATE. False if the row has gone meanwhile.
    fn update_instead<'v, 'r: 'v>(
        &'v self,
        new: &[Datum<'v>],
        conflict: &Conflict,
        handle: &TableHandle,
        running: &mut Running<'r>,
        changes: &mut Changes,
        arena: &'v Bump,
    ) -> Result<bool> {
        let mut cursor = RowCursor::locking_at(handle, 0, &conflict.primary_key, Self::locking(running));
        if !cursor.next(running.inside.engine).map_err(Error::from_engine)? {
            return Ok(false);
        }
        let found = cursor.row();
        let before = columns_of(&self.table, found, running, arena)?;
        let mut both: Vec<Datum<'v>> = before.iter().chain(new).copied().collect();
        for (column, value) in &self.on_duplicate {
            let so_far: &'v [Datum<'v>] = arena.alloc_slice_copy(&both);
            let value = match value {
                Some(value) => value.evaluate(so_far, &mut running.env(arena, &[]))?,
                None => default_of(&self.table, &self.rules, *column, so_far, running, arena)?,
            };
            both[*column] = put(&self.table, *column, value, self.ignores, running, arena)?;
        }
        both.truncate(before.len());
        let is_changed = super::update::touch(&self.table, &before, &mut both, running)?;
        if !is_changed {
            return Ok(true);
        }
        complete(&self.table, &self.rules, &mut both, running, arena)?;
        let values = engine_row(&self.table, &both, running, arena);
        match running
            .inside
            .engine
            .update_row(handle, found, &values, Mode::Shared)
            .map_err(|error| running.inside.refusal(error))?
        {
            RowChange::Done => {
                changes.affected += 2;
                Ok(true)
            }
            RowChange::Stale => Ok(false),
            RowChange::Conflict(conflict) => Err(duplicate(&self.table, &both, &conflict)),
        }
    }
}
