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

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use bumpalo::Bump;
use meseta_errors::{
    ER_CTE_MAX_RECURSION_DEPTH, ER_CTE_RECURSIVE_NOT_UNION, ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST,
    ER_CTE_RECURSIVE_REQUIRES_UNION, ER_DATA_TOO_LONG, ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
};
use meseta_parser::ast::{self, QueryBody, SetOperator};
use meseta_types::{DataType, Datum};

use super::inside::Running;
use super::limit::limit_of;
use super::row_numbers::RowNumbers;
use super::set_operation;
use super::{ENOUGH, Flow, MORE, Outer, Sink, run_query};
use crate::error::{Error, Result};
use crate::expression::{Expr, SystemVariable, Value};
use crate::query::bind::{Binder, Recursion, text_of};
use crate::query::plan::{Body, OutputColumn, QueryPlan, RecursivePlan};

/// Rows that are kept between two rounds.
pub type WorkingRows = Arc<Vec<Box<[Value]>>>;

/// The parts of a UNION from left to right, and whether each is added with ALL.
fn parts<'a>(body: QueryBody<'a>, all: bool, out: &mut Vec<(QueryBody<'a>, bool, SetOperator)>) {
    match body {
        QueryBody::SetOperation(set) => {
            parts(set.left, all, out);
            out.push((set.right, set.all, set.operator));
        }
        body => out.push((body, all, SetOperator::Union)),
    }
}

impl<'a> Binder<'a, '_> {
    /// Binds a table of WITH RECURSIVE. On entry: it is the last of the tables in sight.
    pub(in crate::query) fn recursive_table(&mut self, at: usize) -> Result<QueryPlan> {
        let definition = self.common[at].definition;
        let query = definition.query;
        let name = text_of(definition.name.text.0);
        let mut all_parts = Vec::new();
        parts(query.body, true, &mut all_parts);
        self.common[at].recursion = Recursion::Seeds;
        let mut seeds: Vec<QueryPlan> = Vec::new();
        while let Some((body, ..)) = all_parts.get(seeds.len()) {
            match self.body(*body) {
                Ok(plan) => seeds.push(plan),
                Err(error) if error.code == ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST => break,
                Err(error) => {
                    self.common[at].recursion = Recursion::None;
                    return Err(error);
                }
            }
        }
        if seeds.len() == all_parts.len() {
            // It does not read itself.
            self.common[at].recursion = Recursion::None;
            self.common[at].is_recursive = false;
            let hidden = self.common.split_off(at);
            let plan = self.query(query);
            self.common.extend(hidden);
            self.common[at].is_recursive = true;
            return plan;
        }
        let plan = self.recursive_parts(at, query, &name, &all_parts, seeds);
        self.common[at].recursion = Recursion::None;
        plan
    }

    fn recursive_parts(
        &mut self,
        at: usize,
        query: &'a ast::Query<'a>,
        name: &str,
        all_parts: &[(QueryBody<'a>, bool, SetOperator)],
        seeds: Vec<QueryPlan>,
    ) -> Result<QueryPlan> {
        if all_parts.len() == 1 {
            return Err(Error::new(ER_CTE_RECURSIVE_REQUIRES_UNION, &[&name]));
        }
        if all_parts.iter().any(|(_, _, operator)| *operator != SetOperator::Union) {
            return Err(Error::new(ER_CTE_RECURSIVE_NOT_UNION, &[]));
        }
        let Some(first) = seeds.first() else {
            return Err(Error::new(ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, &[&name]));
        };
        if !query.order_by.is_empty() {
            return Err(Error::not_yet("ORDER BY over UNION in recursive Common Table Expression"));
        }
        let mut columns = first.columns.to_vec();
        for seed in &seeds[1..] {
            if seed.columns.len() != columns.len() {
                return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
            }
            columns = set_operation::columns(&columns, &seed.columns, SetOperator::Union)?;
        }
        let names = self.common[at].definition.columns;
        for (number, column) in columns.iter_mut().enumerate() {
            column.nullable = true;
            column.origin = None;
            if let Some(name) = names.get(number) {
                column.name = name.text.0.into();
            }
        }
        let working = self.workings.get();
        self.workings.set(working + 1);
        let shared: Arc<[OutputColumn]> = columns.clone().into();
        let mut steps = Vec::new();
        for (body, ..) in &all_parts[seeds.len()..] {
            let reads = Rc::new(Cell::new(0));
            let columns = Arc::clone(&shared);
            self.common[at].recursion = Recursion::Steps { working, columns, reads: Rc::clone(&reads) };
            let step = self.body(*body)?;
            if reads.get() == 0 {
                return Err(Error::new(ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, &[&name]));
            }
            if step.columns.len() != shared.len() {
                return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
            }
            if let Body::Select(select) = &step.body
                && (select.group.is_some() || select.distinct)
            {
                return Err(Error::new(meseta_errors::ER_CTE_RECURSIVE_FORBIDS_AGGREGATION, &[&name]));
            }
            steps.push(step);
        }
        let all = all_parts[1..].iter().all(|(_, all, _)| *all);
        let limit = self.limit_of(query)?;
        let slots = set_operation::slots(&columns);
        let plan = RecursivePlan { name: name.into(), seeds, steps, working, all, columns: slots, limit };
        Ok(QueryPlan::new(Body::Recursive(Box::new(plan)), columns))
    }
}

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
