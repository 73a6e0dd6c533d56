//! UNION, INTERSECT, EXCEPT: rows of two queries, as sets or as bags.

use std::collections::HashMap;

use bumpalo::Bump;
use meseta_parser::ast::SetOperator;
use meseta_types::{Charset, Collation, DataType, DateTime, Datum, Decimal};

use super::group::key_of;
use super::inside::Running;
use super::plan::{Origin, OutputColumn, SetPlan};
use super::run::{ENOUGH, Flow, MORE, Outer, Sink, run_query};
use super::scope::slot as slot_of;
use crate::error::Result;
use crate::expression::{Env, Expr, merge_types};

/// The columns in which both sides meet: named by the left one.
pub fn columns(left: &[OutputColumn], right: &[OutputColumn], operator: SetOperator) -> Result<Vec<OutputColumn>> {
    let merged = left.iter().zip(right).map(|(left, right)| {
        let collation = common_collation(left.data_type.collation(), right.data_type.collation());
        let data_type = match merge_types(&left.data_type, &right.data_type, collation) {
            DataType::Null => DataType::Varchar { length: 0, collation: Collation::Binary },
            data_type => data_type,
        };
        // It is like a column of a table.
        let mut origin = Origin { name: own_name(left), ..Origin::nowhere() };
        let nullable = match operator {
            SetOperator::Union => left.nullable || right.nullable,
            SetOperator::Intersect => left.nullable && right.nullable,
            SetOperator::Except => left.nullable,
        };
        if data_type.is_temporal() && !nullable {
            origin.flags = super::columns::NO_DEFAULT;
        }
        OutputColumn { name: left.name.clone(), origin: Some(origin), data_type, nullable }
    });
    Ok(merged.collect())
}

/// What a column of a result is called, as a table's would be: by something.
fn own_name(column: &OutputColumn) -> Box<str> {
    match &*column.name {
        [] => Box::from("?"),
        name => String::from_utf8_lossy(name).into(),
    }
}

/// The collation of two columns that become one.
fn common_collation(left: Option<Collation>, right: Option<Collation>) -> Collation {
    match (left, right) {
        (Some(left), Some(right)) if left == right => left,
        (Some(left), Some(right)) => {
            if left == Collation::Binary || right == Collation::Binary {
                return Collation::Binary;
            }
            // Of one character set the binary order wins, of two the one that has all characters.
            let prefers_right = match left.charset() == right.charset() {
                true => right.is_binary(),
                false => right.charset() == Charset::Utf8mb4,
            };
            if prefers_right { right } else { left }
        }
        (one, other) => one.or(other).unwrap_or(Collation::Utf8mb4_0900AiCi),
    }
}

/// Columns as slots of a row.
pub fn slots(columns: &[OutputColumn]) -> Vec<Expr> {
    let slots = columns.iter().enumerate();
    slots.map(|(at, column)| slot_of(at as u32, column.data_type.clone(), column.nullable)).collect()
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
            arena.reset();
            let row = meet(row, &plan.columns, running, arena)?;
            if !plan.all && met.insert(key_of(&row), 1).is_some() {
                return Ok(MORE);
            }
            flow.set(sink(running, &row)?);
            Ok(flow.get())
        };
        run_query(left, outer, running, &mut show)?;
        if flow.get() == ENOUGH {
            return Ok(());
        }
        return run_query(right, outer, running, &mut show);
    }
    run_query(right, outer, running, &mut |running, row| {
        arena.reset();
        let row = meet(row, &plan.columns, running, arena)?;
        *met.entry(key_of(&row)).or_default() += 1;
        Ok(MORE)
    })?;
    run_query(left, outer, running, &mut |running, row| {
        arena.reset();
        let row = meet(row, &plan.columns, running, arena)?;
        let key = key_of(&row);
        let count = met.get_mut(&key);
        let is_there = count.as_ref().is_some_and(|count| **count > 0);
        let is_shown = is_there == (plan.operator == SetOperator::Intersect);
        match (count, plan.all) {
            (Some(count), true) => *count = count.saturating_sub(1),
            // As a set: once.
            (Some(count), false) if is_shown && plan.operator == SetOperator::Intersect => *count = 0,
            (None, false) if is_shown => drop(met.insert(key, 1)),
            _ => {}
        }
        if is_shown { sink(running, &row) } else { Ok(MORE) }
    })
}

/// A row with its values in the types of these columns.
pub fn meet<'v>(
    row: &[Datum<'v>],
    columns: &'v [Expr],
    running: &mut Running<'_>,
    arena: &'v Bump,
) -> Result<Vec<Datum<'v>>> {
    let mut values = Vec::with_capacity(row.len());
    for (&value, column) in row.iter().zip(columns) {
        values.push(match (&column.data_type, value) {
            (_, Datum::Null) => Datum::Null,
            (DataType::Decimal { scale, .. }, value) => {
                let number = value.to_decimal(running.context).unwrap_or(Decimal::ZERO);
                Datum::Decimal(number.round(i32::from(*scale)).unwrap_or(number))
            }
            (DataType::DateTime { decimals }, Datum::Time(time, _)) => {
                let micros = running.context.today.midnight().total_micros() + time.micros();
                DateTime::from_total_micros(micros).map_or(Datum::Null, |moment| Datum::DateTime(moment, *decimals))
            }
            (_, value) => conformed(column, value, running, arena)?,
        });
    }
    Ok(values)
}

fn conformed<'v>(column: &'v Expr, value: Datum<'v>, running: &mut Running<'_>, arena: &'v Bump) -> Result<Datum<'v>> {
    let mut env = Env { arena, context: running.context, slots: &[], outer: &[], host: &mut running.inside };
    column.conform(&value, &mut env)
}
