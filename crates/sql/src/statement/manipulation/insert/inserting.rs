//! An INSERT at work: rows are made, one by one, and written, one by one or in runs.
//!
//! ```text
//!   for each row:   values --> defaults, numbers, generated columns, checks --> engine.insert_row
//!       another row is in the way:   error 1062 | IGNORE: a warning | REPLACE: it goes, and again | ON DUPLICATE KEY UPDATE
//!
//!   several rows, INSERT alone or IGNORE:            the same           --> engine.gather_row, ..., engine.insert_run
//! ```
//!
//! # Invariants
//! 1. Rows are refused in their order: those that are gathered are inserted before one behind them is refused.
//! 2. Numbers are reserved when those in front of them that were given have been counted. (`numbers`)

use bumpalo::Bump;
use meseta_engine::Locking;
use meseta_engine::catalog::TableHandle;
use meseta_engine::lock::{Mode, OnConflict, TableMode};
use meseta_engine::row::Value;
use meseta_engine::rows::{Conflict, RowChange, RowCursor, RowRun};
use meseta_types::{Datum, SqlError};

use super::super::row::{
    Given, complete, default_of, engine_row, implicit_default, next_numbers, put, refuse_generated,
};
use super::super::{Changes, Strictness, columns_of, duplicate, take_back, update, warn_or_fail};
use super::filling::Filling;
use super::{GivenValue, InsertPlan, Numbers, Rows};
use crate::error::{Error, Result};
use crate::query::{Body, Running, enter_table};
use crate::schema::ColumnDefault;

/// Rows that go together, and have not been inserted yet.
pub(super) struct Gathered<'g, 'v> {
    run: &'g mut RowRun,
    /// What they are, for whoever is refused.
    rows: Vec<&'v [Datum<'v>]>,
    /// Whether one of them was given a number of its own, from which the counting column is to count on.
    has_given_numbers: bool,
}

impl<'g> Gathered<'g, '_> {
    /// None yet.
    pub(super) fn new(run: &'g mut RowRun) -> Self {
        Self { run, rows: Vec::new(), has_given_numbers: false }
    }
}

/// Where rows go, and what has become of them.
pub(in super::super) struct Inserting<'g, 'v> {
    handle: &'g TableHandle,
    /// Whether what does not suit a column is made to.
    is_kind: bool,
    numbers: &'g mut Numbers,
    changes: &'g mut Changes,
    /// How many warnings there were before the row at hand.
    pub(super) warned: u64,
    /// Those that go together, if they do.
    pub(super) gathered: Option<Gathered<'g, 'v>>,
}

impl<'v> Inserting<'_, 'v> {
    /// Takes a row to those that go together. False if there is no room beside them: they are to be inserted first.
    fn gather(&mut self, row: &'v [Datum<'v>], values: &[Value<'_>], running: &mut Running<'_>) -> Result<bool> {
        let Some(gathered) = &mut self.gathered else { return Ok(false) };
        let has_room = running.inside.engine.gather_row(self.handle, values, gathered.run);
        let has_room = has_room.map_err(|error| running.inside.refusal(error))?;
        if has_room {
            gathered.rows.push(row);
        }
        Ok(has_room)
    }
}

impl<'g> Inserting<'g, '_> {
    /// One row after the other.
    pub(super) fn singly(
        handle: &'g TableHandle,
        is_kind: bool,
        numbers: &'g mut Numbers,
        changes: &'g mut Changes,
    ) -> Self {
        Self { handle, is_kind, numbers, changes, warned: 0, gathered: None }
    }

    /// How many rows of the statement there have been.
    pub(in super::super) fn found(&self) -> u64 {
        self.changes.found
    }

    /// A row has not come to be: the number that it took, if it did, is the next row's.
    fn put_back(&mut self, number: Option<u64>) {
        if let Some(number) = number {
            self.numbers.put_back(number);
        }
    }
}

/// What REPLACE finds in the way, where it need not go.
enum InPlace {
    /// It was the same, and stays.
    Same,
    /// It has the new values.
    Updated,
    /// It is not there any more.
    Gone,
}

impl InsertPlan {
    /// Inserts the rows.
    pub fn run(&self, running: &mut Running<'_>) -> Result<Changes> {
        let strictness = Strictness::new(self.ignores, running);
        let done = self.run_inside(running);
        strictness.end(running, done)
    }

    fn run_inside(&self, running: &mut Running<'_>) -> Result<Changes> {
        let handle = enter_table(&self.table, TableMode::Write, running)?;
        match &self.rows {
            Rows::Given(rows) => {
                let mut filling = Filling::new(self, &handle, Some(rows.len()), running);
                filling.insert(rows, running)?;
                let mut changes = filling.end(running)?;
                changes.tells_records = rows.len() > 1;
                Ok(changes)
            }
            Rows::Query { plan, reads_table } => {
                let mut filling = Filling::new(self, &handle, None, running);
                self.insert_found(plan, *reads_table, &mut filling, running)?;
                let mut changes = filling.end(running)?;
                changes.tells_records = !matches!(&plan.body, Body::Values(rows) if rows.len() == 1);
                if !self.on_duplicate.is_empty() {
                    changes.last_number = 0;
                }
                Ok(changes)
            }
        }
    }

    /// Inserts what has been gathered, if that is done. Whether others were in the way of one, which was passed over then.
    pub(in super::super) fn insert_gathered<'v, 'r: 'v>(
        &'v self,
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<bool> {
        let Some(gathered) = &mut inserting.gathered else { return Ok(false) };
        let inserted = running.inside.engine.insert_run(inserting.handle, gathered.run, Mode::Shared);
        let rows = std::mem::take(&mut gathered.rows);
        gathered.has_given_numbers = false;
        let Some((at, conflict)) = inserted.map_err(|error| running.inside.refusal(error))? else { return Ok(false) };
        // They were counted, and are counted once more.
        inserting.changes.affected -= (rows.len() - at) as u64;
        self.refuse(rows[at], &conflict, None, inserting, running)?;
        for row in &rows[at + 1..] {
            self.write(row, &[], None, inserting, running, arena)?;
        }
        Ok(true)
    }

    pub(super) fn given_row<'v, 'r: 'v>(
        &'v self,
        values: impl ExactSizeIterator<Item = GivenValue<'v>>,
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<()> {
        // A value sees those in front of it, if it looks.
        let width = if self.names_columns { self.table.columns.len() } else { 0 };
        let so_far: &mut [Datum<'_>] = arena.alloc_slice_fill_copy(width, Datum::Null);
        if self.names_columns {
            for column in (0..so_far.len()).filter(|&column| self.table.columns[column].default != ColumnDefault::None)
            {
                so_far[column] = default_of(&self.table, &self.rules, column, &[], running, arena)?;
            }
        }
        let given = arena.alloc_slice_fill_copy(values.len(), Given::Default);
        for ((value, &column), given) in values.zip(&self.columns).zip(given.iter_mut()) {
            let value = match value {
                GivenValue::Constant(value) => value,
                GivenValue::Computed(expression) => {
                    let row: &[Datum<'_>] = arena.alloc_slice_copy(so_far);
                    expression.evaluate(row, &mut running.env(arena, &[]))?
                }
                GivenValue::Default => continue,
            };
            if let Some(so_far) = so_far.get_mut(column) {
                *so_far = value;
            }
            *given = Given::Value(value);
        }
        self.one_row(given, &[], inserting, running, arena)
    }

    /// Inserts one row, or gathers it. `beside` is what a query has besides.
    pub(in super::super) fn one_row<'v, 'r: 'v>(
        &'v self,
        given: &[Given<'v>],
        beside: &[Datum<'v>],
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<()> {
        inserting.changes.found += 1;
        let row: &mut [Datum<'v>] = arena.alloc_slice_fill_copy(self.table.columns.len(), Datum::Null);
        let is_given: &mut [bool] = arena.alloc_slice_fill_copy(row.len(), false);
        let is_kind = inserting.is_kind || self.ignores;
        for (&given, &column) in given.iter().zip(&self.columns) {
            let value = match given {
                Given::Value(value) => value,
                Given::Ready(value) => {
                    (is_given[column], row[column]) = (true, value);
                    continue;
                }
                Given::Default => continue,
            };
            if self.table.columns[column].generated.is_some() {
                return Err(refuse_generated(&self.table, column));
            }
            is_given[column] = true;
            row[column] = match self.is_left_to_count(column, value) {
                true => value,
                false => put(&self.table, column, value, is_kind, running, arena)?,
            };
        }
        for column in (0..row.len()).filter(|&column| !is_given[column]) {
            if self.table.columns[column].generated.is_none() {
                let so_far: &[Datum<'v>] = arena.alloc_slice_copy(row);
                let value = default_of(&self.table, &self.rules, column, so_far, running, arena)?;
                row[column] = match self.table.columns[column].default {
                    ColumnDefault::Expression(_) | ColumnDefault::Now => {
                        put(&self.table, column, value, is_kind, running, arena)?
                    }
                    // It is of the column's type.
                    _ => value,
                };
            }
        }
        let number = match self.counting {
            Some(column) if self.generates(column, row, running) => {
                Some(self.generate(column, row, inserting, running, arena)?)
            }
            _ => None,
        };
        inserting.numbers.count_row();
        let completed = complete(&self.table, &self.rules, row, running, arena);
        // (What is warned of the rows in front of it comes first.)
        if self.ignores && (completed.is_err() || running.context.warnings.count() > inserting.warned) {
            let own = running.context.warnings.split_off(inserting.warned);
            self.insert_gathered(inserting, running, arena)?;
            running.context.warnings.append(own);
        }
        if let Err(error) = completed {
            return self.pass_over(error, number, inserting, running);
        }
        // (Should one not come to be that IGNORE passes over, its number is that of the next, which is not made before.)
        if inserting.gathered.is_none() || self.ignores && number.is_some() {
            self.insert_gathered(inserting, running, arena)?;
            return self.write(row, beside, number, inserting, running, arena);
        }
        let values = engine_row(&self.table, row, running, arena);
        let mut is_gathered = inserting.gather(row, values, running);
        if matches!(is_gathered, Ok(false)) {
            self.insert_gathered(inserting, running, arena)?;
            is_gathered = inserting.gather(row, values, running);
        }
        if let Err(error) = is_gathered {
            self.insert_gathered(inserting, running, arena)?;
            return self.pass_over(error, number, inserting, running);
        }
        if let Some(gathered) = &mut inserting.gathered {
            gathered.has_given_numbers |= self.counting.is_some() && number.is_none();
        }
        self.count_row(row, number, inserting);
        Ok(())
    }

    /// A row has come to be.
    fn count_row(&self, row: &[Datum<'_>], number: Option<u64>, inserting: &mut Inserting<'_, '_>) {
        let changes = &mut *inserting.changes;
        changes.affected += 1;
        if changes.insert_id == 0 {
            changes.insert_id = number.unwrap_or(0);
        }
        changes.last_number = self.counted(row);
        let is_negative = matches!(self.counting.map(|column| row[column]), Some(Datum::Signed(..0)));
        if number.is_none() && !is_negative {
            inserting.numbers.given(self.counted(row));
        }
    }

    /// Whether NULL is given for a column that counts by itself, which is no NULL in it.
    fn is_left_to_count(&self, column: usize, value: Datum<'_>) -> bool {
        value.is_null() && self.table.columns[column].auto_increment
    }

    /// Whether the counting column gets its next number: it is NULL or 0.
    fn generates(&self, column: usize, row: &[Datum<'_>], running: &Running<'_>) -> bool {
        match row[column] {
            Datum::Null => true,
            Datum::Signed(0) | Datum::Unsigned(0) => !running.inside.no_auto_value_on_zero,
            _ => false,
        }
    }

    /// Gives the counting column its next number.
    fn generate<'v, 'r: 'v>(
        &'v self,
        column: usize,
        row: &mut [Datum<'_>],
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<u64> {
        let is_first = inserting.numbers.is_first();
        if let Some(wanted) = inserting.numbers.wanted() {
            // Behind what those in front of it were given.
            if inserting.gathered.as_ref().is_some_and(|gathered| gathered.has_given_numbers) {
                self.insert_gathered(inserting, running, arena)?;
            }
            let (first, count) = match running.inside.facts.take_insert_id() {
                0 => next_numbers(&self.table, column, wanted, is_first, running)?,
                first => (first, u64::MAX),
            };
            inserting.numbers.reserved(first, count);
        }
        let number = inserting.numbers.take();
        let is_unsigned = self.table.columns[column].data_type.is_unsigned();
        row[column] = if is_unsigned { Datum::Unsigned(number) } else { Datum::Signed(number as i64) };
        Ok(number)
    }

    /// A row that cannot be: IGNORE passes it over.
    fn pass_over(
        &self,
        error: Error,
        number: Option<u64>,
        inserting: &mut Inserting<'_, '_>,
        running: &mut Running<'_>,
    ) -> Result<()> {
        warn_or_fail(error, self.ignores, running)?;
        inserting.changes.passed_over += 1;
        inserting.put_back(number);
        Ok(())
    }

    /// What the counting column has in a row.
    fn counted(&self, row: &[Datum<'_>]) -> u64 {
        match self.counting.map(|column| row[column]) {
            Some(Datum::Signed(number)) => number as u64,
            Some(Datum::Unsigned(number)) => number,
            _ => 0,
        }
    }

    fn write<'v, 'r: 'v>(
        &'v self,
        row: &[Datum<'v>],
        beside: &[Datum<'v>],
        number: Option<u64>,
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<()> {
        let handle = inserting.handle;
        let values = engine_row(&self.table, row, running, arena);
        let mode = if self.replaces || !self.on_duplicate.is_empty() { Mode::Exclusive } else { Mode::Shared };
        loop {
            let savepoint = self.ignores.then(|| running.inside.engine.savepoint());
            let inserted = running.inside.engine.insert_row(handle, values, mode);
            take_back(savepoint, &inserted, running)?;
            let conflict = match inserted.map_err(|error| running.inside.refusal(error)) {
                Ok(RowChange::Done) => {
                    self.count_row(row, number, inserting);
                    return Ok(());
                }
                Ok(RowChange::Stale) => continue,
                Ok(RowChange::Conflict(conflict)) => conflict,
                Err(error) => return self.pass_over(error, number, inserting, running),
            };
            if !self.on_duplicate.is_empty() {
                if self.update_instead(row, beside, &conflict, inserting, running, arena)? {
                    inserting.put_back(number);
                    return Ok(());
                }
            } else if self.replaces {
                if self.may_stay(&conflict) {
                    match self.replace_in_place(row, values, &conflict, handle, running, arena)? {
                        InPlace::Same => inserting.changes.affected += 1,
                        InPlace::Updated => {
                            self.count_row(row, number, inserting);
                            inserting.changes.affected += 1;
                            inserting.changes.removed += 1;
                            inserting.changes.duplicates += 1;
                        }
                        InPlace::Gone => continue,
                    }
                    return Ok(());
                }
                if self.remove(&conflict, values, handle, running)? {
                    inserting.changes.affected += 1;
                    inserting.changes.removed += 1;
                    inserting.changes.duplicates += 1;
                }
            } else {
                return self.refuse(row, &conflict, number, inserting, running);
            }
        }
    }

    /// Another row is in the way of one: error 1062, or with IGNORE a warning.
    fn refuse(
        &self,
        row: &[Datum<'_>],
        conflict: &Conflict,
        number: Option<u64>,
        inserting: &mut Inserting<'_, '_>,
        running: &mut Running<'_>,
    ) -> Result<()> {
        let error = duplicate(&self.table, row, conflict);
        if !self.ignores {
            return Err(error);
        }
        running.context.warnings.warn(SqlError::new(error.code.0, error.message));
        inserting.changes.duplicates += 1;
        inserting.changes.last_number = self.counted(row);
        inserting.put_back(number);
        Ok(())
    }

    /// The row that is in the way, locked.
    fn locking(running: &Running<'_>) -> Locking {
        Locking { mode: Mode::Exclusive, gaps: false, on_conflict: OnConflict::Wait(running.inside.lock_wait) }
    }

    /// REPLACE: whether a row in the way may stay and be given the new values: no other unique index behind, in MySQL's order, could have
    /// another row in the way, and no rows refer to it. If it is the same already, it is not counted as removed.
    fn may_stay(&self, conflict: &Conflict) -> bool {
        let engine_table = self.table.engine();
        let definition = &engine_table.definition;
        let rank = |index: usize| {
            let parts = &definition.indexes[index].parts;
            let has_null = parts.iter().any(|part| definition.columns[usize::from(part.column)].content.nullable);
            (index > 0, has_null, index)
        };
        let uniques = (0..definition.indexes.len()).filter(|&index| match index {
            0 => definition.has_primary_key,
            _ => definition.indexes[index].unique,
        });
        engine_table.referrers.is_empty() && uniques.map(rank).max() == Some(rank(conflict.index))
    }

    /// REPLACE: gives the row in the way the new values, if they are others.
    fn replace_in_place<'v, 'r: 'v>(
        &'v self,
        row: &[Datum<'v>],
        values: &[Value<'_>],
        conflict: &Conflict,
        handle: &TableHandle,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<InPlace> {
        let mut cursor = RowCursor::locking_at(handle, 0, &conflict.primary_key, Self::locking(running));
        if !cursor.next(running.inside.engine).map_err(Error::from_engine)? {
            return Ok(InPlace::Gone);
        }
        let before = columns_of(&self.table, cursor.row(), running, arena)?;
        if update::is_same_row(before, row) {
            return Ok(InPlace::Same);
        }
        let updated = running.inside.engine.update_row(handle, cursor.row(), values, Mode::Exclusive);
        Ok(match updated.map_err(|error| running.inside.refusal(error))? {
            RowChange::Done => InPlace::Updated,
            // What is in the way now is met by the next attempt to insert.
            RowChange::Stale | RowChange::Conflict(_) => InPlace::Gone,
        })
    }

    /// REPLACE: the row in the way goes, for one with these values.
    fn remove(
        &self,
        conflict: &Conflict,
        values: &[Value<'_>],
        handle: &TableHandle,
        running: &mut Running<'_>,
    ) -> Result<bool> {
        let mut cursor = RowCursor::locking_at(handle, 0, &conflict.primary_key, Self::locking(running));
        if !cursor.next(running.inside.engine).map_err(Error::from_engine)? {
            return Ok(false);
        }
        let deleted = running.inside.engine.delete_replaced_row(handle, cursor.row(), values);
        let deleted = deleted.map_err(|error| running.inside.refusal(error))?;
        Ok(deleted == RowChange::Done)
    }

    /// ON DUPLICATE KEY UPDATE. False if the row has gone meanwhile.
    fn update_instead<'v, 'r: 'v>(
        &'v self,
        new: &[Datum<'v>],
        beside: &[Datum<'v>],
        conflict: &Conflict,
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<bool> {
        let Inserting { handle, changes, .. } = inserting;
        let mut cursor = RowCursor::locking_at(handle, 0, &conflict.primary_key, Self::locking(running));
        if !cursor.next(running.inside.engine).map_err(Error::from_engine)? {
            return Ok(false);
        }
        let found = cursor.row();
        let before = columns_of(&self.table, found, running, arena)?;
        let mut both: Vec<Datum<'v>> = before.iter().chain(new).chain(beside).copied().collect();
        for (column, value) in &self.on_duplicate {
            let so_far: &'v [Datum<'v>] = arena.alloc_slice_copy(&both);
            let value = match value {
                Some(value) => value.evaluate(so_far, &mut running.env(arena, &[]))?,
                None => default_of(&self.table, &self.rules, *column, so_far, running, arena)?,
            };
            both[*column] = match self.is_left_to_count(*column, value) {
                // (MySQL says nothing of it here.)
                true => implicit_default(&self.table.columns[*column].data_type),
                false => put(&self.table, *column, value, self.ignores, running, arena)?,
            };
        }
        both.truncate(before.len());
        let is_changed = update::touch(&self.table, before, &mut both, running)?;
        if !is_changed {
            changes.unchanged += 1;
            return Ok(true);
        }
        if let Err(error) = complete(&self.table, &self.rules, &mut both, running, arena) {
            return warn_or_fail(error, self.ignores, running).map(|()| true);
        }
        let values = engine_row(&self.table, &both, running, arena);
        let savepoint = self.ignores.then(|| running.inside.engine.savepoint());
        let updated = running.inside.engine.update_row(handle, found, values, Mode::Shared);
        take_back(savepoint, &updated, running)?;
        match updated.map_err(|error| running.inside.refusal(error)) {
            Ok(RowChange::Done) => {
                changes.affected += 2;
                changes.duplicates += 1;
                changes.last_number = self.counted(&both);
                Ok(true)
            }
            Ok(RowChange::Stale) => Ok(false),
            Ok(RowChange::Conflict(conflict)) => {
                let error = duplicate(&self.table, &both, &conflict);
                warn_or_fail(error, self.ignores, running).map(|()| true)
            }
            Err(error) => warn_or_fail(error, self.ignores, running).map(|()| true),
        }
    }
}
