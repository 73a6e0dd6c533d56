//! Rows of one table, as the engine has them: found, loaded into their slots of a row, and shown.
//!
//! ```text
//!   bounds --a point of a unique index------> one row, without a cursor
//!          --what an index's entries tell---> a cursor, batch by batch
//!          --all else, and what is locked---> a cursor, row by row
//! ```
//!
//! # Invariants
//! 1. A kill is noticed before the first row, and then after some more each time.
//! 2. Conditions that the bounds imply are not asked again, and columns that only they name are not loaded.
//!
//! # When things fail
//! Errors are the engine's in MySQL's words. Rows that were read before are counted.

use std::sync::Arc;

use bumpalo::Bump;
use meseta_engine::catalog::TableHandle;
use meseta_engine::lock::{Mode, OnConflict, TableMode};
use meseta_engine::row::{KeyRange, Value};
use meseta_engine::rows::{FoundRow, Point, RowCursor};
use meseta_engine::{Direction, EngineError, Isolation, Locking, Taken};
use meseta_parser::ast::LockWait;
use meseta_types::Datum;

use super::bounds::{Bounds, Groups, Stretches, bounds, load_into};
use super::inside::Running;
use super::spare::{Memory, Spare, recycle};
use super::{ENOUGH, Flow, MORE, Outer, Sink, others_hold};
use crate::error::{Error, Result};
use crate::query::plan::table::KnownTable;
use crate::query::plan::{Access, ConditionSet, LockingPlan, LooseScan, Source, TableSource, UnionOperand};
use crate::session::{Counter, SessionShared};

/// Enters a table for this statement. Error: it has changed since the statement was planned.
pub fn enter(table: &TableSource, mode: TableMode, running: &mut Running<'_>) -> Result<TableHandle> {
    enter_table(&table.table, mode, running)
}

/// Enters a table that a statement changes.
pub fn enter_table(table: &KnownTable, mode: TableMode, running: &mut Running<'_>) -> Result<TableHandle> {
    let engine_table = table.engine();
    let handle = running.inside.engine.use_table(engine_table.id(), mode).map_err(Error::from_engine)?;
    match handle {
        Some(handle) if handle.is(engine_table) => Ok(handle),
        _ => Err(Error::from_engine(EngineError::TableChanged)),
    }
}

/// How the engine is to lock what a plan locks.
pub fn locking_of(plan: LockingPlan, running: &Running<'_>) -> Locking {
    Locking {
        mode: if plan.exclusive { Mode::Exclusive } else { Mode::Shared },
        gaps: running.inside.engine.isolation() >= Isolation::RepeatableRead,
        on_conflict: match plan.wait {
            LockWait::Wait => OnConflict::Wait(running.inside.lock_wait),
            LockWait::NoWait => OnConflict::Fail,
            LockWait::SkipLocked => OnConflict::Skip,
        },
    }
}

/// Shows the rows of a table that are wanted beside those of the sources before it, found by an access: the table's own, as a rule.
#[expect(clippy::too_many_arguments, reason = "what is read, how, beside what, and for whom")]
pub fn table_rows(
    source: &Source,
    table: &TableSource,
    access: &Access,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    spare: &mut Memory,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    if let Some((handle, implied)) = spare.last.found_by(row) {
        let rows = TableRows { source, table, access, operands: &[], handle: &handle, implied, outer, before: row };
        return rows.show_last_point(running, spare, sink);
    }
    let is_exclusive = table.locking.is_some_and(|plan| plan.exclusive);
    let mode = if is_exclusive { TableMode::Write } else { TableMode::Read };
    let handle = enter(table, mode, running)?;
    let mut flow = Ok(MORE);
    for (access, operands) in access.steps() {
        if !operands.is_empty() {
            // (What another operand has found.)
            spare.last.forget();
        }
        let (stretches, implied) = bounds(table, access, row, outer, running, spare)?;
        let rows = TableRows { source, table, access, operands, handle: &handle, implied, outer, before: row };
        flow = rows.show(stretches, running, spare, sink);
        if !flow.as_ref().is_ok_and(|flow| flow.is_continue()) {
            break;
        }
    }
    if let Some(kept) = source.keeps_row {
        // An outer join has none behind the last.
        running.inside.found[kept] = None;
    }
    flow
}

/// Rows of one table, and what they are read beside.
struct TableRows<'r> {
    source: &'r Source,
    table: &'r TableSource,
    /// How they are found: not by a union.
    access: &'r Access,
    /// If it is one of a union: the operand whose rows these are, the last, and those whose rows have been shown.
    operands: &'r [UnionOperand],
    handle: &'r TableHandle,
    /// Conditions that hold for all that is within the bounds.
    implied: ConditionSet,
    outer: Outer<'r>,
    /// The row as far as the sources before this one have filled it.
    before: &'r [Datum<'r>],
}

impl<'r> TableRows<'r> {
    /// Shows what is within these bounds.
    fn show(
        &self,
        stretches: Stretches,
        running: &mut Running<'_>,
        spare: &mut Memory,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        let locking = self.table.locking.map(|plan| locking_of(plan, running));
        for bounds in stretches {
            // The first that is looked for, if anything.
            let may_suspend = std::mem::take(&mut running.inside.may_suspend) && matches!(bounds, Bounds::Point(_));
            let locking = if may_suspend { locking.map(Locking::suspending) } else { locking };
            let flow = match (bounds, self.access.loose) {
                (Bounds::Range(range), Some(scan)) if self.implied == self.access.implied || !scan.trusts_bounds => {
                    self.show_ends(scan, range, running, spare, sink)?
                }
                (Bounds::Point(key), _) if locking.is_none() => {
                    self.show_point(key, may_suspend, running, spare, sink)?
                }
                (Bounds::EachOf(groups), _) => self.show_groups(&groups, running, spare, sink)?,
                (bounds, _) => match self.cursor(bounds, locking) {
                    Some(cursor) => self.show_cursor(cursor, running, spare, sink)?,
                    None => MORE,
                },
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(MORE)
    }

    /// Shows what a cursor finds.
    fn show_cursor(
        &self,
        cursor: RowCursor<'_>,
        running: &mut Running<'_>,
        spare: &mut Memory,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        if cursor.has_batches() {
            return self.show_batches(cursor, running, spare, sink);
        }
        self.show_each(cursor, running, spare, |running, found, row| {
            // What is to be changed is kept while it is shown.
            if let Some(kept) = self.source.keeps_row {
                running.inside.found[kept] = Some(found.clone());
            }
            sink(running, row)
        })
    }

    /// A cursor over what the statement's snapshot sees of a range.
    fn consistent(&self, range: KeyRange, direction: Direction) -> RowCursor<'r> {
        RowCursor::consistent(self.handle, self.access.index, range, direction, self.table.columns.iter().copied())
    }

    /// A cursor over what lies within these bounds: locking, or over what the statement's snapshot sees.
    fn cursor(&self, bounds: Bounds, locking: Option<Locking>) -> Option<RowCursor<'r>> {
        let (handle, index, direction) = (self.handle, self.access.index, self.access.direction);
        let consistent = |range| self.consistent(range, direction).for_columns(self.columns());
        Some(match (bounds, locking) {
            (Bounds::Empty | Bounds::EachOf(_), _) => return None,
            (Bounds::Point(key), Some(locking)) => RowCursor::locking_at(handle, index, &key, locking),
            (Bounds::Range(range), Some(locking)) => {
                // (Where rows refer to each other, those that come next may be changed with one that is shown.)
                let plan = self.table.locking.filter(|_| handle.referrers.is_empty());
                let locks_all_found = locking.gaps || !self.has_conditions();
                match plan {
                    Some(plan) if !locks_all_found && index == 0 => {
                        RowCursor::looking(handle, range, direction, locking, plan.passes_by)
                    }
                    Some(LockingPlan { takes_all: true, .. }) if locks_all_found => {
                        RowCursor::locking(handle, index, &range, direction, locking).taking_all()
                    }
                    _ => RowCursor::locking(handle, index, &range, direction, locking),
                }
            }
            (Bounds::Point(key), None) => consistent(KeyRange::beginning_with(key)),
            (Bounds::Range(range), None) => consistent(range),
        })
    }

    /// The columns that are loaded.
    fn columns(&self) -> &'r [u16] {
        self.table.columns_where(self.implied)
    }

    /// Whether there are conditions that do not hold for all.
    fn has_conditions(&self) -> bool {
        !self.implied.has_first(self.source.conditions.len()) || !self.operands.is_empty()
    }

    /// Whether these hold for a row; of a union, whether it is the operand's, and none's before it.
    fn holds(&self, row: &[Datum<'_>], running: &mut Running<'_>, arena: &Bump) -> Result<bool> {
        for (number, operand) in self.operands.iter().enumerate() {
            let is_last = number + 1 == self.operands.len();
            if operand.condition.is_true(row, &mut running.env(arena, self.outer))? != is_last {
                return Ok(false);
            }
        }
        others_hold(self.implied, &self.source.conditions, row, self.outer, running, arena)
    }

    /// Puts the table's columns, as the engine has them, in their slots of a row.
    #[inline]
    fn load<'v>(&self, running: &Running<'_>, row: &mut [Datum<'v>]) -> impl FnMut(usize, Value<'v>)
    where
        'r: 'v,
    {
        let slots = &mut row[self.source.first_slot..];
        let (columns, context) = (&self.table.table.columns, &*running.context);
        #[inline(always)]
        move |column, value| load_into(value, &columns[column].data_type, context, &mut slots[column])
    }

    /// Shows the row that has this key in a unique index, which is not looked for again if it is the last one.
    fn show_point(
        &self,
        mut key: Vec<u8>,
        may_suspend: bool,
        running: &mut Running<'_>,
        spare: &mut Memory,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        let (index, columns, last) = (self.access.index, self.columns(), &mut spare.last);
        if last.is_there.is_none() || last.key != key {
            last.forget();
            let engine = &mut *running.inside.engine;
            let point = engine.find_point(self.handle, index, &key, columns, &mut last.row, may_suspend);
            let point = point.map_err(Error::from_engine)?;
            if point == Point::Unsure {
                let cursor = self.consistent(KeyRange::beginning_with(key), Direction::Ascending);
                return self.show_cursor(cursor.for_columns(columns), running, spare, sink);
            }
            last.is_there = Some(point == Point::Found);
            std::mem::swap(&mut last.key, &mut key);
            running.inside.facts.count(Counter::HandlerReadKey, 1);
            running.inside.facts.count(Counter::InnodbRowsRead, u64::from(point == Point::Found));
        }
        spare.key = key;
        last.note(self.handle, self.implied);
        self.show_last_point(running, spare, sink)
    }

    /// Shows the row that was found last by a whole key, if there is one.
    fn show_last_point(&self, running: &mut Running<'_>, spare: &mut Memory, sink: &mut Sink<'_>) -> Result<Flow> {
        let (index, columns, last) = (self.access.index, self.columns(), &spare.last);
        if last.is_there != Some(true) {
            return Ok(MORE);
        }
        let mut full = recycle(std::mem::take(&mut spare.row));
        full.extend_from_slice(self.before);
        let load = self.load(running, &mut full);
        let shown = last.row.visit_columns(self.handle, (index, &last.key), columns, &mut spare.buffers, load);
        shown.map_err(Error::from_engine)?;
        spare.arena.reset();
        let is_match = !self.has_conditions() || self.holds(&full, running, &spare.arena)?;
        let flow = if is_match { sink(running, &full)? } else { MORE };
        spare.row = recycle(full);
        Ok(flow)
    }

    /// What a cursor finds and the conditions hold for. `show` gets the row as the engine has it (of a locking read), and
    /// the slots that conditions name.
    fn show_each(
        &self,
        mut cursor: RowCursor<'_>,
        running: &mut Running<'_>,
        spare: &mut Memory,
        mut show: impl FnMut(&mut Running<'_>, &FoundRow, &[Datum<'_>]) -> Result<Flow>,
    ) -> Result<Flow> {
        let unlocks = running.inside.engine.isolation() <= Isolation::ReadCommitted;
        let mut read = ReadRows::new(self.access, running);
        let (columns, asks) = (self.columns(), self.has_conditions());
        while cursor.next(running.inside.engine).map_err(Error::from_engine)? {
            read.count(running)?;
            let mut asks = asks;
            if cursor.looks_first() {
                let mut is_wanted = |_: &mut Running<'_>, _: &FoundRow, _: &[Datum<'_>]| Ok(MORE);
                if asks && self.show_found(&cursor, columns, true, running, spare, &mut is_wanted)?.is_none() {
                    cursor.unlock(running.inside.engine);
                    continue;
                }
                match cursor.lock(running.inside.engine).map_err(Error::from_engine)? {
                    Taken::AsShown => asks = false,
                    Taken::Changed => {}
                    Taken::Gone => continue,
                }
            }
            let shown = self.show_found(&cursor, columns, asks, running, spare, &mut show)?;
            if shown.is_none() && unlocks {
                cursor.unlock(running.inside.engine);
            }
            if shown.is_some_and(|flow| flow.is_break()) {
                return Ok(ENOUGH);
            }
        }
        read.has_ended = !self.access.is_point;
        Ok(MORE)
    }

    /// Shows the row that a cursor stands on; `None` if the conditions do not hold for it.
    #[inline(always)]
    fn show_found(
        &self,
        cursor: &RowCursor<'_>,
        columns: &[u16],
        asks: bool,
        running: &mut Running<'_>,
        spare: &mut Memory,
        show: &mut impl FnMut(&mut Running<'_>, &FoundRow, &[Datum<'_>]) -> Result<Flow>,
    ) -> Result<Option<Flow>> {
        let mut full = recycle(std::mem::take(&mut spare.row));
        full.extend_from_slice(self.before);
        let load = self.load(running, &mut full);
        cursor.visit_columns(columns, &mut spare.buffers, load).map_err(Error::from_engine)?;
        let is_match = !asks || {
            spare.arena.reset();
            self.holds(&full, running, &spare.arena)?
        };
        let shown = if is_match { Some(show(running, cursor.row(), &full)?) } else { None };
        spare.row = recycle(full);
        Ok(shown)
    }

    /// Shows of all entries in a range that are the same in the index's first columns the first, or the first and the last.
    fn show_ends(
        &self,
        scan: LooseScan,
        mut rest: KeyRange,
        running: &mut Running<'_>,
        spare: &mut Memory,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        let forwards = self.access.direction;
        let mut read = ReadRows::new(self.access, running);
        let (columns, asks) = (self.columns(), self.has_conditions());
        let passed = scan.passes_null.map(|column| self.source.first_slot + usize::from(column));
        // Shows the first of a range; whether to go on, and the range of those that are the same.
        let mut show_first = |range: &KeyRange, direction, running: &mut Running<'_>| {
            let mut cursor = self.consistent(range.clone(), direction);
            if !cursor.next(running.inside.engine).map_err(Error::from_engine)? {
                return Ok(None);
            }
            read.count(running)?;
            let mut is_null = false;
            let flow = self.show_found(&cursor, columns, asks, running, spare, &mut |running, _, row| {
                is_null = passed.is_some_and(|slot| row[slot].is_null());
                sink(running, row)
            })?;
            let same = cursor.range_of_same(scan.parts + usize::from(is_null)).map_err(Error::from_engine)?;
            Ok::<_, Error>(Some((flow.unwrap_or(MORE), same, is_null)))
        };
        while !rest.is_empty()
            && let Some((mut flow, same, is_null)) = show_first(&rest, forwards, running)?
        {
            if scan.shows_both_ends && !is_null && flow.is_continue() {
                let last = show_first(&same.within(&rest), forwards.reversed(), running)?;
                flow = last.map_or(MORE, |(flow, ..)| flow);
            }
            if flow.is_break() {
                return Ok(ENOUGH);
            }
            if !pass(same, &mut rest, forwards) {
                break;
            }
        }
        Ok(MORE)
    }

    /// Shows of all entries that are the same in the index's first columns those that are wanted, for each of the values that they have
    /// there; if those are very many, unlike what was expected, all of the rest is read.
    fn show_groups(
        &self,
        groups: &Groups,
        running: &mut Running<'_>,
        spare: &mut Memory,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        let direction = self.access.direction;
        let (mut rest, mut gone_to) = (KeyRange::ALL, 0);
        while !rest.is_empty() {
            if gone_to == GROUPS_MAX {
                let rows = TableRows { implied: ConditionSet::default(), ..*self };
                let cursor = rows.consistent(rest, direction).for_columns(rows.columns());
                return rows.show_cursor(cursor, running, spare, sink);
            }
            gone_to += 1;
            let mut first = self.consistent(rest.clone(), direction);
            if !first.next(running.inside.engine).map_err(Error::from_engine)? {
                break;
            }
            running.inside.facts.count(Counter::HandlerReadKey, 1);
            let group = first.range_of_same(groups.columns).map_err(Error::from_engine)?;
            let wanted = groups.wanted_in(&group);
            let cursor = self.consistent(wanted, direction).for_columns(self.columns());
            if self.show_cursor(cursor, running, spare, sink)?.is_break() {
                return Ok(ENOUGH);
            }
            if !pass(group, &mut rest, direction) {
                break;
            }
        }
        Ok(MORE)
    }

    /// As [`TableRows::show_each`], where the cursor has batches: their rows are there side by side, and are shown in the same
    /// slots, one after the other.
    fn show_batches(
        &self,
        mut cursor: RowCursor<'_>,
        running: &mut Running<'_>,
        spare: &mut Memory,
        sink: &mut Sink<'_>,
    ) -> Result<Flow> {
        debug_assert!(self.source.keeps_row.is_none(), "rows that are to be changed are locked");
        let mut read = ReadRows::new(self.access, running);
        let asks = self.has_conditions();
        let mut flow = MORE;
        while flow.is_continue()
            && let Some(batch) = cursor.next_batch(running.inside.engine).map_err(Error::from_engine)?
        {
            let mut full = recycle(std::mem::take(&mut spare.row));
            full.extend_from_slice(self.before);
            running.inside.facts.check_killed()?;
            for found in batch {
                read.rows += 1;
                let load = self.load(running, &mut full);
                found.visit_columns(load).map_err(Error::from_engine)?;
                if asks {
                    spare.arena.reset();
                    if !self.holds(&full, running, &spare.arena)? {
                        continue;
                    }
                }
                flow = sink(running, &full)?;
                if flow.is_break() {
                    break;
                }
            }
            spare.row = recycle(full);
        }
        read.has_ended = flow.is_continue() && !self.access.is_point;
        Ok(flow)
    }
}

/// Leaves out of a range the keys that it begins with, the way that it is read. False if there are none behind them.
fn pass(keys: KeyRange, rest: &mut KeyRange, direction: Direction) -> bool {
    match (direction, keys.to) {
        (Direction::Descending, _) => rest.to = Some(keys.from),
        (Direction::Ascending, Some(above)) => rest.from = above,
        (Direction::Ascending, None) => return false,
    }
    true
}

/// So many values of an index's first columns are gone to one by one.
const GROUPS_MAX: usize = 4096;

/// Rows that a cursor reads from one look for a kill to the next.
const ROWS_BETWEEN_LOOKS: u64 = 16;

/// Rows that a cursor has read: counted when it goes.
struct ReadRows {
    facts: Option<Arc<SessionShared>>,
    rows: u64,
    /// The cursor has come to its end, and there could have been more: MySQL counts the look behind the last row.
    has_ended: bool,
    /// How it began, and what its rows are counted as.
    as_what: [Counter; 2],
}

impl ReadRows {
    fn new(access: &Access, running: &Running<'_>) -> Self {
        use Counter as C;
        let as_what = match (access.is_whole(), access.direction) {
            (true, Direction::Ascending) if access.index == 0 => [C::HandlerReadFirst, C::HandlerReadRndNext],
            (true, Direction::Ascending) => [C::HandlerReadFirst, C::HandlerReadNext],
            (true, Direction::Descending) => [C::HandlerReadLast, C::HandlerReadPrev],
            (false, Direction::Ascending) => [C::HandlerReadKey, C::HandlerReadNext],
            (false, Direction::Descending) => [C::HandlerReadKey, C::HandlerReadPrev],
        };
        let facts = running.inside.facts.session().map(|facts| Arc::clone(&facts.shared));
        ReadRows { facts, rows: 0, has_ended: false, as_what }
    }

    /// One more has been read. Error: the statement was killed, which is asked with the first row, and then after some more each
    /// time.
    #[inline]
    fn count(&mut self, running: &mut Running<'_>) -> Result<()> {
        if self.rows.is_multiple_of(ROWS_BETWEEN_LOOKS) {
            running.inside.facts.check_killed()?;
        }
        self.rows += 1;
        Ok(())
    }
}

impl Drop for ReadRows {
    fn drop(&mut self) {
        if let Some(shared) = &self.facts {
            let [began, went_on] = self.as_what;
            let is_by_key = began == Counter::HandlerReadKey;
            shared.counters.add(Counter::HandlerReadKey, 1);
            if !is_by_key {
                shared.counters.add(began, 1);
            }
            // The first row by a key is not one that came next; of a scan it is.
            let steps = (self.rows + u64::from(self.has_ended))
                .saturating_sub(u64::from(went_on != Counter::HandlerReadRndNext));
            shared.counters.add(went_on, steps);
            shared.counters.add(Counter::InnodbRowsRead, self.rows);
        }
    }
}

/// Gets a row as the engine has it, and the slots that conditions name.
pub type ShowFound<'s> = dyn FnMut(&mut Running<'_>, &FoundRow, &[Datum<'_>]) -> Result<Flow> + 's;

/// Rows of one table that are to be changed: found and locked, in the order in which they are found. `show` gets the row as
/// the engine has it, and the slots that conditions name.
pub fn rows_of_table(
    source: &Source,
    table: &TableSource,
    handle: &TableHandle,
    empty: &[Datum<'_>],
    running: &mut Running<'_>,
    show: &mut ShowFound<'_>,
) -> Result<()> {
    debug_assert!(table.locking.is_some(), "rows that are to be changed are locked");
    let locking = table.locking.map(|plan| locking_of(plan, running));
    let mut spare = Spare::take();
    for (access, operands) in table.access.steps() {
        let (stretches, implied) = bounds(table, access, empty, &[], running, &mut spare)?;
        let rows = TableRows { source, table, access, operands, handle, implied, outer: &[], before: empty };
        for bounds in stretches {
            let Some(cursor) = rows.cursor(bounds, locking) else { continue };
            if rows.show_each(cursor, running, &mut spare, &mut *show)?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}
