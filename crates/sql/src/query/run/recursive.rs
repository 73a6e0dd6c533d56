//! WITH RECURSIVE: rows to begin with, and what is made of those that came last, until nothing comes any more.
//!
//! ```text
//!   seeds --> rows 0 --steps--> rows 1 --steps--> rows 2 ... --> all of them
//!                (UNION DISTINCT: without those that have come before)
//! ```
//!
//! # Invariants
//! 1. There are at most `cte_max_recursion_depth` rounds, and the rows kept take at most the statement's memory.
//!
//! # Source
//! The manual, "Recursive Common Table Expressions": types are those of the first rows, and all columns may be NULL.

use std::sync::Arc;

use bumpalo::Bump;
use meseta_errors::{ER_CTE_MAX_RECURSION_DEPTH, ER_DATA_TOO_LONG};
use meseta_types::{DataType, Datum};

use super::inside::Running;
use super::limit::limit_of;
use super::row_numbers::RowNumbers;
use super::set_operation;
use super::{ENOUGH, Flow, MORE, Outer, Sink, run_query};
use crate::error::{Error, Result};
use crate::expression::{Expr, SystemVariable, Value};
use crate::query::plan::RecursivePlan;

/// Rows that are kept between two rounds.
pub type WorkingRows = Arc<Vec<Box<[Value]>>>;

/// What has come so far.
struct Made {
    rows: Vec<Box<[Value]>>,
    met: RowNumbers,
    bytes: usize,
    /// No more rows than these are wanted.
    most: usize,
}

impl Made {
    fn add(
        &mut self,
        plan: &RecursivePlan,
        row: &[Datum<'_>],
        running: &mut Running<'_>,
        arena: &Bump,
    ) -> Result<Flow> {
        let mut values = Vec::with_capacity(row.len());
        set_operation::meet(row, &plan.columns, running, arena, &mut values)?;
        let row = values;
        for (column, value) in plan.columns.iter().zip(&row) {
            check_length(column, *value, self.rows.len())?;
        }
        if !plan.all && !self.met.is_new(&row) {
            return Ok(MORE);
        }
        let kept: Box<[Value]> = row.iter().map(|&value| Value::new(value)).collect();
        self.bytes += 64 + size_of_val(&*kept) + row.iter().map(|value| bytes_of(value)).sum::<usize>();
        if self.bytes + self.met.bytes() > running.inside.memory_limit {
            return Err(Error::out_of_sort_memory());
        }
        self.rows.push(kept);
        Ok(if self.rows.len() >= self.most { ENOUGH } else { MORE })
    }
}

fn bytes_of(value: &Datum<'_>) -> usize {
    match value {
        Datum::Text(text, _) | Datum::Json(text) => text.len(),
        _ => 0,
    }
}

fn check_length(column: &Expr, value: Datum<'_>, before: usize) -> Result<()> {
    let (DataType::Varchar { length, collation } | DataType::Char { length, collation }) = &column.data_type else {
        return Ok(());
    };
    let Datum::Text(text, _) = value else { return Ok(()) };
    if text.len() as u64 > u64::from(*length) && collation.charset().char_count(text) as u64 > u64::from(*length) {
        return Err(Error::new(ER_DATA_TOO_LONG, &[&"", &(before + 1)]));
    }
    Ok(())
}

/// Makes all rows, then shows them.
pub fn run(plan: &RecursivePlan, outer: Outer<'_>, running: &mut Running<'_>, sink: &mut Sink<'_>) -> Result<()> {
    let (offset, count) = match &plan.limit {
        None => (0, u64::MAX),
        Some(limit) => limit_of(limit, outer, running)?,
    };
    if count == 0 {
        return Ok(());
    }
    let most = usize::try_from(offset.saturating_add(count)).unwrap_or(usize::MAX);
    let mut made = Made { rows: Vec::new(), met: RowNumbers::new(&plan.columns), bytes: 0, most };
    let mut arena = Bump::new();
    for seed in &plan.seeds {
        if made.rows.len() < most {
            run_query(seed, outer, running, &mut |running, row| {
                arena.reset();
                made.add(plan, row, running, &arena)
            })?;
        }
    }
    let deepest = depth_limit(running)?;
    let (mut begin, mut rounds) = (0, 0_u64);
    while begin < made.rows.len() && made.rows.len() < most {
        rounds += 1;
        if rounds > deepest {
            return Err(Error::new(ER_CTE_MAX_RECURSION_DEPTH, &[&rounds]));
        }
        let last: WorkingRows = Arc::new(made.rows[begin..].to_vec());
        begin = made.rows.len();
        let working = &mut running.inside.working;
        if working.len() <= plan.working {
            working.resize(plan.working + 1, WorkingRows::default());
        }
        let around = std::mem::replace(&mut working[plan.working], last);
        let mut done = Ok(());
        for step in &plan.steps {
            running.inside.facts.check_killed()?;
            if done.is_ok() && made.rows.len() < most {
                done = run_query(step, outer, running, &mut |running, row| {
                    arena.reset();
                    made.add(plan, row, running, &arena)
                });
            }
        }
        running.inside.working[plan.working] = around;
        done?;
    }
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let mut values = Vec::new();
    for row in made.rows.iter().skip(offset) {
        values.clear();
        values.extend(row.iter().map(Value::get));
        if sink(running, &values)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn depth_limit(running: &mut Running<'_>) -> Result<u64> {
    let variable = SystemVariable { name: "cte_max_recursion_depth".into(), global: None };
    let mut depth = 1000;
    running.inside.facts.system_variable(&variable, &mut |value| {
        depth = match value {
            Datum::Unsigned(number) => number,
            Datum::Signed(number) => number.max(0) as u64,
            _ => depth,
        }
    })?;
    Ok(depth)
}
