//! UNION, INTERSECT, EXCEPT: rows of two queries, as sets or as bags.

use std::collections::HashMap;

use bumpalo::Bump;
use meseta_parser::ast::SetOperator;
use meseta_types::{Collation, Datum};

use super::group::key_of;
use super::inside::Running;
use super::plan::{OutputColumn, SetPlan};
use super::run::{ENOUGH, Flow, MORE, Outer, Sink, run_query};
use crate::error::Result;
use crate::expression::merge_types;

/// The columns in which both sides meet: named by the left one.
pub fn columns(left: &[OutputColumn], right: &[OutputColumn]) -> Result<Vec<OutputColumn>> {
    let merged = left.iter().zip(right).map(|(left, right)| {
        let collation =
            left.data_type.collation().or(right.data_type.collation()).unwrap_or(Collation::Utf8mb4_0900AiCi);
        OutputColumn {
            name: left.name.clone(),
            origin: None,
            data_type: merge_types(&left.data_type, &right.data_type, collation),
            nullable: left.nullable || right.nullable,
        }
    });
    Ok(merged.collect())
}

/// Runs a set operation.
pub fn run(plan: &SetPlan, outer: Outer<'_>, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let [left, right] = &plan.sides;
    let arena = &mut Bump::new();
    // How often each row has been met: in the left side, or among those shown.
    let mut met: HashMap<Vec<u8>, u64> = HashMap::new();
    if plan.operator == SetOperator::Union {
        let flow = std::cell::Cell::new(MORE);
        let mut show = |running: &mut Running<'_>, row: &[Datum<'_>]| -> Result<Flow> {
            if !plan.all && met.insert(key_of(row), 1).is_some() {
                return Ok(MORE);
            }
            arena.reset();
            let row = meet(row, plan, running, arena)?;
            flow.set(sink(running, &row)?);
            Ok(flow.get())
        };
        run_query(left, outer, running, &mut show)?;
        if flow.get() == ENOUGH {
            return Ok(());
        }
        return run_query(right, outer, running, &mut show);
    }
    run_query(right, outer, running, &mut |_, row| {
        *met.entry(key_of(row)).or_default() += 1;
        Ok(MORE)
    })?;
    run_query(left, outer, running, &mut |running, row| {
        let count = met.get_mut(&key_of(row));
        let is_there = count.as_ref().is_some_and(|count| **count > 0);
        let is_shown = is_there == (plan.operator == SetOperator::Intersect);
        match (count, plan.all) {
            (Some(count), true) => *count = count.saturating_sub(1),
            // As a set: once.
            (Some(count), false) if is_shown => *count = 0,
            (None, false) if is_shown => drop(met.insert(key_of(row), 1)),
            _ => {}
        }
        if !is_shown {
            return Ok(MORE);
        }
        arena.reset();
        let row = meet(row, plan, running, arena)?;
        sink(running, &row)
    })
}

/// A row with its values in the types in which both sides meet.
fn meet<'v>(
    row: &[Datum<'v>],
    _plan: &SetPlan,
    _running: &mut Running<'_>,
    _arena: &'v Bump,
) -> Result<Vec<Datum<'v>>> {
    Ok(row.to_vec())
}
