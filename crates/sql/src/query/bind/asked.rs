//! Queries inside of expressions that are asked whether they have a row: EXISTS, and IN.
//!
//! ```text
//!   EXISTS, looks at the row around it by equalities alone    IN: runs once                       (exists_as_in)
//!   EXISTS, looks at it by an equality and otherwise          is joined to it, in WHERE           (query::semi_join)
//!   IN, looks at the row around it                            EXISTS of what is equal, and so on  (in_as_exists)
//!   IN, looks at no row around it                             runs once; few values are looked up by an index
//! ```
//!
//! # Invariants
//! 1. IN is NULL where it is not known, and EXISTS never is: one becomes the other where nothing that is compared may be NULL, or where what
//!    is not known is false, in a condition ([`Binder::condition`]).
//!
//! # Source
//! The manual, "Optimizing Subqueries with the EXISTS Strategy".

use std::sync::Arc;

use meseta_parser::ast;
use meseta_types::{Collation, DataType, IntegerSize};

use super::Binder;
use super::standing::Place;
use crate::error::Result;
use crate::expression::{BoundSubquery, Expr, ExprKind, InSubquery};
use crate::query::plan::bound::BoundSelect;
use crate::query::plan::{Body, OutputColumn, QueryPlan, Source, Subquery};
use crate::query::planner::decorrelate::{self, decorrelate};
use crate::query::planner::estimate::rows_read;
use crate::query::planner::push;

/// To look a value up by an index costs as much as so many rows of a query that is run for all of them and kept (measured: 0.7 µs and
/// 0.05 to 0.1),
const ROWS_A_LOOK_UP: f64 = 10.0;
/// and each row that is read for it as much as so many (0.05 to 0.2 µs).
const ROWS_A_ROW: f64 = 2.0;
/// Those of one value that has very many lie anywhere: each as much as so many (0.3 to 0.8 µs beside 0.1 to 0.2).
const ROWS_A_SCATTERED_ROW: f64 = 4.0;

/// So many values are looked up in any case.
const LOOK_UPS_MIN: u32 = 4;

/// What is true or false.
fn truth(kind: ExprKind) -> Expr {
    Expr::new(kind, DataType::integer(IntegerSize::Int, false), false, Collation::Binary)
}

fn not(kind: ExprKind) -> ExprKind {
    ExprKind::Not(Box::new(truth(kind)))
}

impl<'a> Binder<'a, '_> {
    /// Binds a condition: its parts, all of which are to be true.
    pub fn condition(&mut self, condition: &'a ast::Expression<'a>, place: Place<'_>) -> Result<Vec<Expr>> {
        // (What HAVING calls by an alias is a value elsewhere, too: its queries stay.)
        let others = std::mem::take(&mut self.in_queries);
        let mut parts = self.expression(condition, place)?.conjuncts();
        parts.iter_mut().try_for_each(|part| self.ask_for_truth(part))?;
        self.in_queries = others;
        Ok(parts)
    }
}

impl Binder<'_, '_> {
    /// Of a part of a condition nobody asks whether it is NULL or false.
    fn ask_for_truth(&mut self, part: &mut Expr) -> Result<()> {
        match &mut part.kind {
            ExprKind::And(parts) | ExprKind::Or(parts) => {
                parts.iter_mut().try_for_each(|part| self.ask_for_truth(part))
            }
            ExprKind::InSubquery(inside) => {
                inside.unknown_is_false |= !inside.negated;
                let of_it = |(number, _): &(u32, BoundSelect)| *number == inside.query.number;
                let Some(at) = self.in_queries.iter().position(of_it) else { return Ok(()) };
                let (_, bound) = self.in_queries.swap_remove(at);
                if let Some(kind) = self.in_as_exists(inside, bound)? {
                    part.kind = kind;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// EXISTS of the query that has just been bound.
    pub(super) fn exists(&mut self, query: BoundSubquery) -> Result<ExprKind> {
        let bound = std::mem::take(&mut self.unplanned).pop();
        let plan = &self.subqueries[query.number as usize].plan;
        let limit = match &plan.limit {
            Some(limit) if limit.offset.is_some() || limit.count.names_outer_columns() => {
                return Ok(ExprKind::Exists(query));
            }
            limit => limit.as_ref().map(|limit| limit.count.clone()),
        };
        let mut bound = bound.filter(|_| matches!(plan.body, Body::Select(_)));
        let Some(inside) = self.exists_as_in(&query, &mut bound)? else {
            self.exists_queries.extend(bound.map(|bound| (query.number, bound)));
            return Ok(ExprKind::Exists(query));
        };
        let inside = ExprKind::InSubquery(Box::new(inside));
        let Some(limit) = limit else { return Ok(inside) };
        // (It must not be 0.)
        let is_some = truth(ExprKind::IsTruth { operand: Box::new(limit), truth: true, negated: false });
        Ok(ExprKind::And(vec![is_some, truth(inside)]))
    }

    /// EXISTS of a query as IN. `None` if it looks at the row around it otherwise than by equalities: then it stays where it is.
    fn exists_as_in(&mut self, query: &BoundSubquery, kept: &mut Option<BoundSelect>) -> Result<Option<InSubquery>> {
        let Some((mut operands, comparers)) = kept.as_mut().and_then(decorrelate) else { return Ok(None) };
        let Some(bound) = kept.take() else { return Ok(None) };
        let operand = match operands.len() {
            1 => operands.remove(0),
            _ => Expr::new(ExprKind::Row(operands), DataType::Null, true, self.facts.collation),
        };
        let columns = bound.items.iter().map(|item| OutputColumn::of(item, Box::default()).of_query()).collect();
        let query = BoundSubquery {
            is_correlated: false,
            looks_at: Arc::default(),
            is_of_nearest_row: false,
            columns,
            ..*query
        };
        let mut inside = InSubquery { unknown_is_false: true, ..InSubquery::new(operand, query, comparers) };
        let is_locked = bound.sources.iter().any(Source::is_locked);
        let copy = bound.copy();
        let by_value = self.plan_for_value(copy, &inside)?;
        if is_locked && by_value.is_some() {
            return Ok(None);
        }
        self.tables.sizes().forget(bound.block);
        let (plan, _) = self.plan_of(bound)?;
        self.subqueries[inside.query.number as usize] = Subquery { plan, is_correlated: false, by_value: None };
        self.expect_look_ups(&mut inside, by_value);
        Ok(Some(inside))
    }

    /// IN of the query that has just been bound.
    pub(super) fn in_query(&mut self, mut inside: InSubquery) -> Result<ExprKind> {
        let bound = std::mem::take(&mut self.unplanned).pop();
        let Subquery { plan, is_correlated, .. } = &self.subqueries[inside.query.number as usize];
        let (is_correlated, bound) = (*is_correlated, bound.filter(|_| push::selects_of(plan) == Some(1)));
        if !is_correlated {
            let by_value = self.plan_for_value(bound, &inside)?;
            self.expect_look_ups(&mut inside, by_value);
        } else if let Some(bound) = bound {
            let mut may_be_null = inside.operands().iter().any(|operand| operand.nullable);
            may_be_null |= inside.query.columns.iter().any(|column| column.nullable);
            if may_be_null {
                self.in_queries.push((inside.query.number, bound));
            } else if let Some(kind) = self.in_as_exists(&inside, bound)? {
                return Ok(kind);
            }
        }
        Ok(ExprKind::InSubquery(Box::new(inside)))
    }

    /// IN of a query that looks at the row around it, where nothing is NULL or what is not known is false: whether the query has a row of
    /// what is looked for. NOT IN is true if it has none, and none of NULL, and none at all if what is looked for is NULL. `None` if it stays.
    fn in_as_exists(&mut self, inside: &InSubquery, bound: BoundSelect) -> Result<Option<ExprKind>> {
        let Some(equal) = decorrelate::equal_to(&bound, inside) else { return Ok(None) };
        if !inside.negated {
            return self.asked(inside, bound, equal);
        }
        let may_be_null = inside.operands().iter().chain(&bound.items).any(|value| value.nullable);
        if may_be_null && inside.operands().len() > 1 {
            return Ok(None);
        }
        let mut besides = Vec::new();
        if let Some(item) = bound.items.iter().find(|item| item.nullable) {
            let is_null = ExprKind::IsNull { operand: Box::new(item.clone()), negated: false };
            let Some(found) = self.asked_beside(inside, bound.copy(), vec![truth(is_null)])? else { return Ok(None) };
            besides.push(truth(not(found)));
        }
        if inside.operand.nullable {
            let Some(found) = self.asked_beside(inside, bound.copy(), Vec::new())? else { return Ok(None) };
            let is_value = ExprKind::IsNull { operand: Box::new(inside.operand.clone()), negated: true };
            besides.push(truth(ExprKind::Or(vec![truth(is_value), truth(not(found))])));
        }
        let Some(found) = self.asked(inside, bound, equal)? else { return Ok(None) };
        besides.insert(0, truth(not(found)));
        Ok(Some(if besides.len() == 1 { besides.remove(0).kind } else { ExprKind::And(besides) }))
    }

    /// Whether a query has a row that meets conditions besides, as a query of another number.
    fn asked_beside(
        &mut self,
        inside: &InSubquery,
        rows: Option<BoundSelect>,
        conditions: Vec<Expr>,
    ) -> Result<Option<ExprKind>> {
        let Some(rows) = rows else { return Ok(None) };
        let nothing = QueryPlan::new(Body::Values(Vec::new()), Vec::new());
        self.subqueries.push(Subquery { plan: nothing, is_correlated: true, by_value: None });
        let query = BoundSubquery { number: self.subqueries.len() as u32 - 1, ..inside.query.clone() };
        let beside = InSubquery { query, ..inside.clone() };
        self.asked(&beside, rows, conditions)
    }

    /// Whether the query has a row that meets conditions besides. `None` if that cannot be planned.
    fn asked(&mut self, inside: &InSubquery, rows: BoundSelect, conditions: Vec<Expr>) -> Result<Option<ExprKind>> {
        let rows = decorrelate::first_of(rows, conditions, inside);
        let mut copy = rows.copy();
        if copy.is_none() {
            return Ok(None);
        }
        if let Some(found) = self.exists_as_in(&inside.query, &mut copy)? {
            return Ok(Some(ExprKind::InSubquery(Box::new(found))));
        }
        let mut looks_at = inside.query.looks_at.to_vec();
        inside.operand.columns(&mut |column| looks_at.push(column));
        let query = BoundSubquery {
            looks_at: looks_at.into(),
            is_of_nearest_row: inside.query.is_of_nearest_row && !inside.operand.names_outer_columns(),
            ..inside.query.clone()
        };
        self.tables.sizes().forget(rows.block);
        let (plan, block) = self.plan_of(rows)?;
        self.exists_queries.extend(copy.map(|copy| (query.number, BoundSelect { block, limit: None, ..copy })));
        self.subqueries[query.number as usize] = Subquery { plan, is_correlated: true, by_value: None };
        Ok(Some(ExprKind::Exists(query)))
    }

    /// The plan of a query for one value; `None` if no index finds that.
    fn plan_for_value(&mut self, bound: Option<BoundSelect>, inside: &InSubquery) -> Result<Option<QueryPlan>> {
        let Some(bound) = bound.and_then(|bound| decorrelate::for_value(bound, inside)) else { return Ok(None) };
        let (plan, block) = self.plan_of(bound)?;
        if !matches!(&plan.body, Body::Select(select) if decorrelate::looks_up(select)) {
            self.tables.sizes().forget(block);
            return Ok(None);
        }
        Ok(Some(plan))
    }

    /// The plan of a SELECT, as a query; and the number under which its ranges are known.
    fn plan_of(&mut self, bound: BoundSelect) -> Result<(QueryPlan, u32)> {
        let shown = bound.items.iter().map(|item| OutputColumn::of(item, Box::default())).collect::<Vec<_>>();
        let (select, block) = self.planner().select(bound)?;
        Ok((QueryPlan::new(Body::Select(Box::new(select)), shown), block))
    }

    /// Notes what a query costs, and how often its values are looked up before it is run.
    fn expect_look_ups(&mut self, inside: &mut InSubquery, by_value: Option<QueryPlan>) {
        let subquery = &mut self.subqueries[inside.query.number as usize];
        inside.rows = rows_read(&subquery.plan, self.tables);
        inside.can_look_up = by_value.is_some();
        let read = by_value.as_ref().map_or(0.0, |plan| rows_read(plan, self.tables));
        inside.look_ups.values = (inside.rows / (ROWS_A_LOOK_UP + read * ROWS_A_ROW)) as u32 + LOOK_UPS_MIN;
        inside.look_ups.rows = (inside.rows / ROWS_A_SCATTERED_ROW) as u64;
        subquery.by_value = by_value;
    }
}
