//! A table of WITH RECURSIVE: which parts of its UNION read it, and which are there to begin with.
//!
//! # Source
//! The manual, "Recursive Common Table Expressions": types are those of the first rows, and all columns may be NULL.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use meseta_errors::{
    ER_CTE_RECURSIVE_NOT_UNION, ER_CTE_RECURSIVE_REQUIRES_NONRECURSIVE_FIRST, ER_CTE_RECURSIVE_REQUIRES_UNION,
    ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
};
use meseta_parser::ast::{self, QueryBody, SetOperator};

use super::{Binder, Recursion, set_operation};
use crate::error::{Error, Result};
use crate::name::text_of;
use crate::query::plan::{Body, OutputColumn, QueryPlan, RecursivePlan};
use crate::query::planner::shown_rows::rows_of_recursion;

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
    pub(super) fn recursive_table(&mut self, at: usize) -> Result<QueryPlan> {
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
        let rows = rows_of_recursion(&seeds, &steps);
        let plan = RecursivePlan { name: name.into(), seeds, steps, working, all, columns: slots, limit, rows };
        Ok(QueryPlan::new(Body::Recursive(Box::new(plan)), columns))
    }
}
