//! Rows of one table that are to be changed: found, locked and shown, what UPDATE and DELETE share.

use bumpalo::Bump;
use meseta_engine::catalog::TableHandle;
use meseta_engine::lock::{Mode, TableMode};
use meseta_engine::rows::FoundRow;
use meseta_types::{Collation, Datum};
use smallvec::SmallVec;

use super::bounds::{Bounds, bounds};
use super::inside::Running;
use super::sort::Kept;
use super::spare::Spare;
use super::table_rows::{enter, rows_of_table};
use super::{ENOUGH, Flow, MORE, evaluate_all, holds};
use crate::error::{Error, Result};
use crate::query::plan::selected_table::SelectedTable;
use crate::query::plan::{SortKey, SourceKind, TableSource};
use crate::session::Counter;

/// What is done with a row that is found: the engine's handle of the table, the row, and its columns that conditions name.
pub type Change<'c> = dyn FnMut(&mut Running<'_>, &TableHandle, &FoundRow, &[Datum<'_>]) -> Result<Flow> + 'c;

/// What became of a row that was shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shown {
    /// It is changed, and by that locked.
    Changed,
    /// It is not to be changed.
    Kept,
    /// It is not what was shown any more, and nothing was done.
    Stale,
}

/// Changes the one row that WHERE names by its primary key, and by nothing else. It is not locked first: its change does that,
/// and so the lock table, which all share, is spared. Nor is the gap locked where there is no such row, if the statement
/// is a transaction of its own: nobody could be kept out of it. True if that was all. Otherwise nothing was done, and [`rows_to_change`]
/// is to find and lock the row, or what is in its place.
///
/// On entry: what `change` evaluates is repeatable. So the statement may wait for the row without its thread: then this fails
/// ([`Error::suspended`]), and nothing was done.
pub fn change_one_row(
    selected: &SelectedTable,
    running: &mut Running<'_>,
    change: impl FnOnce(&mut Running<'_>, &TableHandle, &FoundRow) -> Result<Shown>,
) -> Result<bool> {
    let Some(table) = selected.with_row_named_by_key() else { return Ok(false) };
    let warnings = running.context.warnings.clone();
    let is_done = change_found(selected, table, running, change)?;
    if !is_done {
        running.context.warnings = warnings;
    }
    Ok(is_done)
}

/// As [`change_one_row`], of a table that it may be; what was warned of stays.
fn change_found(
    selected: &SelectedTable,
    table: &TableSource,
    running: &mut Running<'_>,
    change: impl FnOnce(&mut Running<'_>, &TableHandle, &FoundRow) -> Result<Shown>,
) -> Result<bool> {
    let handle = enter(table, TableMode::Write, running)?;
    let mut spare = Spare::take();
    let (mut stretches, implied) = bounds(table, &table.access, &[], &[], running, &mut spare)?;
    let (Some(Bounds::Point(key)), true) = (stretches.pop(), stretches.is_empty()) else { return Ok(false) };
    // Not if the value had to be changed to become one of the column's.
    if !implied.has_first(selected.source.conditions.len()) {
        return Ok(false);
    }
    running.inside.facts.check_killed()?;
    let mut found = FoundRow { key, value: std::mem::take(&mut spare.payload) };
    // A query inside may do what can be seen.
    let is_repeatable = std::mem::take(&mut running.inside.may_suspend) && running.inside.subqueries.is_empty();
    let is_there = running
        .inside
        .engine
        .find_row_into(&handle, &mut found, Mode::Exclusive, is_repeatable)
        .map_err(Error::from_engine)?;
    let is_done = match is_there {
        false => running.inside.is_own_transaction,
        true => match change(running, &handle, &found)? {
            Shown::Changed => true,
            Shown::Kept => {
                running.inside.engine.lock_found(&handle, &found, Mode::Exclusive).map_err(Error::from_engine)?
            }
            Shown::Stale => false,
        },
    };
    if is_done {
        running.inside.facts.count(Counter::HandlerReadKey, 1);
        running.inside.facts.count(Counter::InnodbRowsRead, u64::from(is_there));
    }
    (spare.key, spare.payload) = (found.key, found.value);
    Ok(is_done)
}

/// Finds and locks the rows, and shows them one by one.
pub fn rows_to_change(selected: &SelectedTable, running: &mut Running<'_>, show: &mut Change<'_>) -> Result<()> {
    let SourceKind::Table(table) = &selected.source.kind else { return Ok(()) };
    let handle = enter(table, TableMode::Write, running)?;
    let empty: SmallVec<[Datum<'_>; 16]> = SmallVec::from_elem(Datum::Null, selected.source.width);
    if !holds(&selected.constant, &empty, &[], running, &Bump::new())? {
        return Ok(());
    }
    rows_of_table(&selected.source, table, &handle, &empty, running, &mut |running, found, row| {
        show(running, &handle, found, row)
    })
}

/// Finds and locks the rows, and then shows the first `limit` of them, in order: those that are shown may be changed, since none is
/// found any more.
pub fn rows_to_change_in_order(
    selected: &SelectedTable,
    order: &[SortKey],
    limit: u64,
    running: &mut Running<'_>,
    show: &mut dyn FnMut(&mut Running<'_>, &TableHandle, &FoundRow) -> Result<()>,
) -> Result<()> {
    let (arena, mut spare, mut table) = (Bump::new(), Bump::new(), None);
    let mut kept = Kept::new(&arena, order, running.inside.memory_limit, Some(limit));
    let mut count = 0;
    rows_to_change(selected, running, &mut |running, handle, found, row| {
        table.get_or_insert_with(|| handle.clone());
        spare.reset();
        let keys = evaluate_all(order.iter().map(|key| &key.value), row, &[], running, &spare)?;
        kept.add(&keys, &found_values(found), running)?;
        count += 1;
        Ok(if order.is_empty() && count == limit { ENOUGH } else { MORE })
    })?;
    let Some(handle) = table else { return Ok(()) };
    kept.sort(running)?;
    let mut found = FoundRow::default();
    kept.show(running, &mut |running, row| {
        set_found(&mut found, row);
        show(running, &handle, &found).map(|()| MORE)
    })
}

/// A row that was found, as values that are kept.
pub fn found_values(found: &FoundRow) -> [Datum<'_>; 2] {
    [Datum::Text(&found.key, Collation::Binary), Datum::Text(&found.value, Collation::Binary)]
}

/// The row that was kept as these values, and those kept behind it.
pub fn set_found<'r, 'v>(found: &mut FoundRow, row: &'r [Datum<'v>]) -> &'r [Datum<'v>] {
    let [Datum::Text(key, _), Datum::Text(value, _), behind @ ..] = row else { unreachable!("it was kept so") };
    found.key.clear();
    found.key.extend_from_slice(key);
    found.value.clear();
    found.value.extend_from_slice(value);
    behind
}
