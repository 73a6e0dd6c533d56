//! A query: a SELECT, or several, and what is done with all of its rows.

use super::{Lookup, OutputColumns, SelectPlan, SortKey, Source, SourceKind};
use crate::expression::Expr;

/// A query.
#[derive(Debug)]
pub struct QueryPlan {
    /// What makes its rows.
    pub body: Body,
    /// Its columns.
    pub columns: OutputColumns,
    /// Of a set operation, by its columns; a SELECT sorts itself.
    pub order: Vec<SortKey>,
    /// How many rows, and how many are passed over before.
    pub limit: Option<LimitPlan>,
}

impl QueryPlan {
    /// One with these columns, all of its rows as they come.
    pub fn new(body: Body, columns: impl Into<OutputColumns>) -> Self {
        Self { body, columns: columns.into(), order: Vec::new(), limit: None }
    }

    /// Has a SELECT show these too, behind its columns. False if it is another query.
    pub fn show_also(&mut self, slots: impl Iterator<Item = Expr>) -> bool {
        let Body::Select(select) = &mut self.body else { return false };
        select.items.extend(slots);
        true
    }

    /// Whether it begins by looking for a row of its only table by the primary key, before anything is evaluated that could not be
    /// evaluated again.
    pub fn begins_with_a_row(&self) -> bool {
        let Body::Select(select) = &self.body else { return false };
        let [Source { kind: SourceKind::Table(table), .. }] = &select.sources[..] else { return false };
        table.access.is_point
            && table.access.index == 0
            && select.constant.is_empty()
            && !table.access.lookups().any(Lookup::runs_query)
    }

    /// Whether it has the same rows when it is run again for the same row around it: no RAND(), and no variable is set or read.
    pub fn is_repeatable(&self) -> bool {
        let mut is_repeatable = true;
        self.expressions(&mut |expr| is_repeatable &= expr.is_volatile_free() && !expr.is_of_each_row());
        is_repeatable
    }

    /// Whether it has one row at the most: a group of all rows, or what is found by whole keys that no two rows have.
    pub fn has_one_row_at_most(&self) -> bool {
        let Body::Select(select) = &self.body else { return false };
        let finds_one = |source: &Source| match &source.kind {
            SourceKind::Table(table) => table.access.is_one_point(),
            _ => false,
        };
        select.group.as_ref().is_some_and(|group| group.keys.is_empty()) || select.sources.iter().all(finds_one)
    }

    /// Calls with each expression of it, but for those of queries inside of expressions.
    pub fn expressions<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        self.order.iter().for_each(|key| f(&key.value));
        match &self.body {
            Body::Select(select) => select.expressions(f),
            Body::Values(rows) => rows.iter().flatten().for_each(f),
            Body::SetOperation(set) => set.sides.iter().for_each(|side| side.expressions(f)),
            Body::Nested(query) => query.expressions(f),
            Body::Recursive(recursive) => {
                recursive.seeds.iter().chain(&recursive.steps).for_each(|part| part.expressions(f));
            }
        }
    }
}

/// What makes a query's rows.
#[derive(Debug)]
pub enum Body {
    /// SELECT.
    Select(Box<SelectPlan>),
    /// `VALUES ROW(..), ..`.
    Values(Vec<Vec<Expr>>),
    /// UNION and its like.
    SetOperation(Box<SetPlan>),
    /// One in parentheses, with ORDER BY or LIMIT of its own.
    Nested(Box<QueryPlan>),
    /// A table of WITH RECURSIVE that reads itself.
    Recursive(Box<RecursivePlan>),
}

/// UNION, INTERSECT, EXCEPT.
#[derive(Debug)]
pub struct SetPlan {
    /// Which.
    pub operator: meseta_parser::ast::SetOperator,
    /// Whether rows that are there twice stay twice.
    pub all: bool,
    /// Both sides, with as many columns.
    pub sides: [QueryPlan; 2],
    /// The columns in which they meet: slots of a row, in their types.
    pub columns: Vec<Expr>,
}

/// The recursive part of WITH RECURSIVE.
#[derive(Debug)]
pub struct RecursivePlan {
    /// Its name.
    pub name: Box<str>,
    /// The rows to begin with.
    pub seeds: Vec<QueryPlan>,
    /// What is made of the rows that came last.
    pub steps: Vec<QueryPlan>,
    /// By which number the steps read those rows.
    pub working: usize,
    /// Whether rows that are there already count again.
    pub all: bool,
    /// The columns: slots of a row, in the types of the rows to begin with.
    pub columns: Vec<Expr>,
    /// LIMIT: with so many rows it ends.
    pub limit: Option<LimitPlan>,
    /// About how many rows it comes to.
    pub rows: f64,
}

/// LIMIT.
#[derive(Clone, Debug)]
pub struct LimitPlan {
    /// So many rows at the most.
    pub count: Expr,
    /// So many are passed over.
    pub offset: Option<Expr>,
    /// SQL_CALC_FOUND_ROWS: the rows behind are made too, and counted.
    pub counts_all: bool,
}

impl LimitPlan {
    /// The first so many.
    pub fn first(count: Expr) -> Self {
        Self { count, offset: None, counts_all: false }
    }
}

/// A query inside an expression. A statement has one list of them, in which expressions name them by their numbers.
#[derive(Debug)]
pub struct Subquery {
    /// What it runs.
    pub plan: QueryPlan,
    /// Whether it refers to rows around it. If not, it is run once.
    pub is_correlated: bool,
    /// The same, of the rows alone that have the value which is looked for beside the row around it: by an index.
    pub by_value: Option<QueryPlan>,
}
