//! Rows of one source, whatever it is, each beside the row of those before it.
//!
//! ```text
//!   a table, a query in FROM, a table that is made up, the last rows of a recursive query  --row--> what comes behind it
//! ```
//!
//! # Invariants
//! 1. A row that is shown has the source's values in the source's slots, and its conditions hold.

use std::sync::Arc;

use meseta_types::Datum;

use super::inside::{Inside, Running};
use super::materialized;
use super::spare::{Memory, Spare, recycle};
use super::table_rows::table_rows;
use super::wanted::wanted_names;
use super::{ENOUGH, Flow, MORE, Outer, Sink, holds, run_query};
use crate::error::Result;
use crate::query::plan::{Source, SourceKind};
use crate::schema::information::{Cell, View, VirtualTable, Wanted};

/// Shows what `read` shows of a source, and measures it for EXPLAIN ANALYZE.
pub fn measured(
    source: &Source,
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
    read: impl FnOnce(&mut Running<'_>, &mut Sink<'_>) -> Result<Flow>,
) -> Result<Flow> {
    match running.inside.measures.clone() {
        Some(measures) => measures.measure(source, running, sink, read),
        None => read(running, sink),
    }
}

/// Shows the rows of a source.
pub fn source_rows(
    source: &Source,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let mut spare = Spare::take();
    match &source.kind {
        SourceKind::Table(table) => table_rows(source, table, &table.access, outer, row, running, &mut spare, sink),
        SourceKind::Derived { plan, is_lateral, .. } => {
            let mut flow = MORE;
            let mut with_row = outer.to_vec();
            with_row.push(row);
            let mut make = |running: &mut Running<'_>, sink: &mut Sink<'_>| run_query(plan, &with_row, running, sink);
            let mut show = |running: &mut Running<'_>, derived: &[Datum<'_>]| {
                flow = extended(source, row, derived, outer, running, &mut spare, sink)?;
                Ok(flow)
            };
            let shown = match is_lateral {
                true => make(running, &mut show),
                false => materialized::show(source, outer, row, running, &mut make, &mut show),
            };
            shown.map(|()| flow)
        }
        SourceKind::Virtual(table) => {
            let mut flow = MORE;
            let mut make =
                |running: &mut Running<'_>, sink: &mut Sink<'_>| virtual_rows(source, *table, outer, running, sink);
            let shown = materialized::show(source, outer, row, running, &mut make, &mut |running, made| {
                flow = extended(source, row, made, outer, running, &mut spare, sink)?;
                Ok(flow)
            });
            shown.map(|()| flow)
        }
        SourceKind::Working(number) => working_rows(source, *number, outer, row, running, &mut spare, sink),
    }
}

/// Rows of a table that is made up.
fn virtual_rows(
    source: &Source,
    table: &dyn VirtualTable,
    outer: Outer<'_>,
    running: &mut Running<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let names = wanted_names(source, table, outer, running)?;
    let wanted = Wanted { database: names.database.as_deref(), table: names.table.as_deref() };
    let schema = Arc::clone(running.inside.engine.schema());
    let session = running.inside.facts.session();
    let Inside { tables, statistics, .. } = running.inside;
    let view = View { schema: &schema, tables, statistics, zone: &running.context.zone, session };
    let mut rows = table.rows(&view, wanted);
    if let Some(session) = session {
        let names: Vec<_> = table.columns().iter().map(|column| column.name).collect();
        session.account.grants().keep_visible(&names, &mut rows);
    }
    for made in rows {
        let values: Vec<Datum<'_>> = made.iter().map(Cell::datum).collect();
        if sink(running, &values)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// The rows that came last of a recursive table.
fn working_rows(
    source: &Source,
    number: usize,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    spare: &mut Memory,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    let rows = running.inside.working.get(number).cloned().unwrap_or_default();
    for made in rows.iter() {
        let values: Vec<Datum<'_>> = made.iter().map(crate::expression::Value::get).collect();
        if extended(source, row, &values, outer, running, spare, sink)?.is_break() {
            return Ok(ENOUGH);
        }
    }
    Ok(MORE)
}

/// Shows a row with the values of a source behind it.
fn extended(
    source: &Source,
    row: &[Datum<'_>],
    values: &[Datum<'_>],
    outer: Outer<'_>,
    running: &mut Running<'_>,
    spare: &mut Memory,
    sink: &mut Sink<'_>,
) -> Result<Flow> {
    running.inside.facts.check_killed()?;
    spare.arena.reset();
    let mut full = recycle(std::mem::take(&mut spare.row));
    full.extend_from_slice(row);
    full[source.first_slot..source.first_slot + values.len()].copy_from_slice(values);
    let flow = match holds(&source.conditions, &full, outer, running, &spare.arena)? {
        true => sink(running, &full)?,
        false => MORE,
    };
    spare.row = recycle(full);
    Ok(flow)
}
