//! What a planner looks for in a bound expression.
//!
//! A comparison can use an index only if the index orders its column as the comparison does, or finds equal values:
//! [`Comparison::is_found_by_index`].

use std::ops::Range;

use meseta_types::{Collation, DataType, Datum};

use super::comparer::{Comparer, ComparisonOperator};
use super::index_key::{finds_equal, orders_like};
use super::kind::{Between, ExprKind, InList, InSubquery, RowCompare};
use super::{BoundSubquery, Env, Expr};
use crate::error::Result;

/// `column operator value`.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'e> {
    /// The column's number in the row.
    pub column: u32,
    /// Its type.
    pub column_type: &'e DataType,
    /// With the column at its left side.
    pub operator: ComparisonOperator,
    /// The other side. It may have columns, too.
    pub value: &'e Expr,
    /// How they compare.
    pub comparer: Comparer,
}

impl Comparison<'_> {
    /// Whether an index on the column, in the column's own order, finds what this comparison is true for.
    pub fn is_found_by_index(&self) -> bool {
        let finds = match self.operator {
            ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual => finds_equal,
            _ => orders_like,
        };
        finds(&self.comparer, self.column_type, &self.value.data_type)
    }
}

/// To keep a query's rows costs less than to run it so many times.
const OFTEN: u32 = 2;

impl Expr {
    /// The parts of a condition that are all to be true: `a AND (b AND c)` is a, b, c.
    pub fn conjuncts(self) -> Vec<Expr> {
        let mut out: Vec<Expr> = Vec::new();
        let mut todo = vec![self];
        while let Some(expr) = todo.pop() {
            match expr.kind {
                ExprKind::And(parts) => todo.extend(parts.into_iter().rev()),
                _ => out.push(expr),
            }
        }
        for part in &mut out {
            if let ExprKind::InSubquery(inside) = &mut part.kind {
                inside.unknown_is_false |= !inside.negated;
            }
        }
        out
    }

    /// Has a query of values run for all of them at once if it is to be asked for more than it would look up.
    pub fn expect_rows(&mut self, rows: f64) {
        match &mut self.kind {
            ExprKind::Not(operand) => operand.expect_rows(rows),
            ExprKind::InSubquery(inside) if rows > f64::from(inside.look_ups.values.max(OFTEN)) => {
                (inside.look_ups.values, inside.is_asked_often) = (0, true);
            }
            _ => {}
        }
    }

    /// `column operator value`, however it was written; of two columns, both ways.
    pub fn as_comparisons(&self) -> impl Iterator<Item = Comparison<'_>> {
        let compare = if let ExprKind::Compare(compare) = &self.kind { Some(compare) } else { None };
        compare.into_iter().flat_map(|compare| {
            let (left, right, operator) = (&compare.left, &compare.right, compare.operator);
            [(left, right, operator), (right, left, operator.mirrored())].into_iter().filter_map(
                |(side, value, operator)| {
                    let ExprKind::Column(column) = side.kind else { return None };
                    Some(Comparison {
                        column,
                        column_type: &side.data_type,
                        operator,
                        value,
                        comparer: compare.comparer,
                    })
                },
            )
        })
    }

    /// `value IN (values)`, without NOT; perhaps of rows.
    pub fn as_in(&self) -> Option<&InList> {
        match &self.kind {
            ExprKind::In(list) if !list.negated => Some(list),
            _ => None,
        }
    }

    /// What all holds if this does: the operands of AND, or it alone.
    pub fn as_conjuncts(&self) -> &[Expr] {
        if let ExprKind::And(operands) = &self.kind { operands } else { std::slice::from_ref(self) }
    }

    /// The operands of OR.
    pub fn as_or(&self) -> Option<&[Expr]> {
        if let ExprKind::Or(operands) = &self.kind { Some(operands) } else { None }
    }

    /// `(a, b) < (c, d)`, or another comparison of the order of rows.
    pub fn as_row_compare(&self) -> Option<&RowCompare> {
        if let ExprKind::RowCompare(compare) = &self.kind { Some(compare) } else { None }
    }

    /// The values of a row.
    pub fn as_row(&self) -> Option<&[Expr]> {
        if let ExprKind::Row(values) = &self.kind { Some(values) } else { None }
    }

    /// `column BETWEEN low AND high`, without NOT.
    pub fn as_between(&self) -> Option<(u32, &Between)> {
        match &self.kind {
            ExprKind::Between(between) if !between.negated => match between.operand.kind {
                ExprKind::Column(column) => Some((column, between)),
                _ => None,
            },
            _ => None,
        }
    }

    /// `column IS NULL`.
    pub fn as_is_null(&self) -> Option<u32> {
        match &self.kind {
            ExprKind::IsNull { operand, negated: false } => match operand.kind {
                ExprKind::Column(column) => Some(column),
                _ => None,
            },
            _ => None,
        }
    }

    /// The column that it is.
    #[inline]
    pub fn as_column(&self) -> Option<u32> {
        match self.kind {
            ExprKind::Column(column) => Some(column),
            _ => None,
        }
    }

    /// The value of the column that it is: copied from its slot at once, where a result of [`Expr::evaluate`] goes through
    /// memory first.
    #[inline]
    pub fn slot_value<'v>(&self, row: &[Datum<'v>]) -> Option<Datum<'v>> {
        self.as_column().and_then(|column| row.get(column as usize)).copied()
    }

    /// The slot that it is, conversions of its character set aside.
    pub fn as_slot(&self) -> Option<u32> {
        match &self.kind {
            ExprKind::Slot(slot) => Some(*slot),
            ExprKind::Convert(inner) => inner.as_slot(),
            _ => None,
        }
    }

    /// The constant that it is.
    pub fn as_constant(&self) -> Option<Datum<'_>> {
        match &self.kind {
            ExprKind::Constant(value) => Some(value.get()),
            _ => None,
        }
    }

    /// Whether it has the same value for all rows of an execution: no columns of the row, no subqueries that look at it,
    /// nothing that changes while rows are read.
    pub fn is_constant(&self) -> bool {
        let own = match &self.kind {
            ExprKind::Column(_) | ExprKind::UserVariable(_) | ExprKind::SetUserVariable(..) => false,
            ExprKind::Call(call) => call.function.is_stable(),
            ExprKind::Subquery(query) | ExprKind::Exists(query) => !query.is_correlated,
            ExprKind::InSubquery(inside) => !inside.query.is_correlated,
            ExprKind::Quantified(inside) => !inside.query.is_correlated,
            _ => true,
        };
        if !own {
            return false;
        }
        let mut constant = true;
        self.operands(&mut |operand| constant = constant && operand.is_constant());
        constant
    }

    /// Whether its value is known, once and for all, before there are values for these columns.
    pub fn is_known_without(&self, columns: &Range<u32>) -> bool {
        let own = match &self.kind {
            ExprKind::Column(column) => !columns.contains(column),
            ExprKind::SetUserVariable(..) => false,
            ExprKind::Call(call) => call.function.is_stable(),
            _ => true,
        };
        let mut known = own && self.query_inside().is_none_or(|query| query.is_known_without(columns));
        self.operands(&mut |operand| known = known && operand.is_known_without(columns));
        known
    }

    /// The same of what its queries find.
    pub fn has_queries_known_without(&self, columns: &Range<u32>) -> bool {
        let mut known = self.query_inside().is_none_or(|query| query.is_known_without(columns));
        self.operands(&mut |operand| known = known && operand.has_queries_known_without(columns));
        known
    }

    /// Whether it may be evaluated once more, or once less, and nobody notices.
    pub fn is_repeatable(&self) -> bool {
        !self.has_subquery() && self.is_volatile_free()
    }

    /// Whether all its functions have the same value for all rows of a statement, and no variable is set or read; queries inside
    /// aside.
    pub fn is_volatile_free(&self) -> bool {
        let mut stable = match &self.kind {
            ExprKind::Call(call) => call.function.is_stable(),
            ExprKind::UserVariable(_) | ExprKind::SetUserVariable(..) => false,
            _ => true,
        };
        self.operands(&mut |operand| stable = stable && operand.is_volatile_free());
        stable
    }

    /// Whether it reads a user variable, which the statement may set while rows are read.
    pub fn reads_user_variable(&self) -> bool {
        let mut found = matches!(self.kind, ExprKind::UserVariable(_));
        self.operands(&mut |operand| found = found || operand.reads_user_variable());
        found
    }

    /// The query that it runs, its operands' aside.
    fn query_inside(&self) -> Option<&BoundSubquery> {
        match &self.kind {
            ExprKind::Subquery(query) | ExprKind::Exists(query) => Some(query),
            ExprKind::InSubquery(inside) => Some(&inside.query),
            ExprKind::Quantified(inside) => Some(&inside.query),
            _ => None,
        }
    }

    /// Whether it takes one row of a query that looks at rows around it and may have more, which is error 1242.
    pub fn may_find_too_many_rows(&self) -> bool {
        let takes_one = match &self.kind {
            ExprKind::Subquery(_) => true,
            ExprKind::InSubquery(inside) => inside.is_one_row,
            _ => false,
        };
        let may_have_more = |query: &BoundSubquery| query.is_correlated && !query.has_one_row_at_most;
        let mut found = takes_one && self.query_inside().is_some_and(may_have_more);
        self.operands(&mut |operand| found = found || operand.may_find_too_many_rows());
        found
    }

    /// Whether it has a query inside.
    pub fn has_subquery(&self) -> bool {
        let mut found = self.query_inside().is_some();
        self.operands(&mut |operand| found = found || operand.has_subquery());
        found
    }

    /// Whether one of them looks at the row, or at those around.
    pub fn has_correlated_subquery(&self) -> bool {
        let mut found = self.query_inside().is_some_and(|query| query.is_correlated);
        self.operands(&mut |operand| found = found || operand.has_correlated_subquery());
        found
    }

    /// `column IN (query)`, without NOT, of a query that looks at no row around it.
    pub fn as_in_query(&self) -> Option<(u32, &InSubquery)> {
        match &self.kind {
            ExprKind::InSubquery(inside) if !inside.negated && !inside.is_one_row && !inside.query.is_correlated => {
                Some((inside.operand.as_column()?, inside))
            }
            _ => None,
        }
    }

    /// Calls with the number of each column of the row that it looks at, those of outer rows aside. (A correlated query
    /// inside may look at more.)
    pub fn columns(&self, f: &mut dyn FnMut(u32)) {
        if let ExprKind::Column(column) = self.kind {
            f(column);
        }
        self.operands(&mut |operand| operand.columns(f));
    }

    /// The same, with those that queries inside look at.
    pub fn columns_looked_at(&self, f: &mut dyn FnMut(u32)) {
        if let ExprKind::Column(column) = self.kind {
            f(column);
        }
        self.query_inside().iter().flat_map(|query| &*query.looks_at).for_each(|&column| f(column));
        self.operands(&mut |operand| operand.columns_looked_at(f));
    }

    /// Whether it is to be asked of each row anew, whatever it names: it may have another value each time, or sets a variable.
    pub fn is_of_each_row(&self) -> bool {
        let mut found = match &self.kind {
            ExprKind::Call(call) => !call.function.is_stable(),
            ExprKind::SetUserVariable(..) => true,
            _ => self.query_inside().is_some_and(|query| !query.is_repeatable),
        };
        self.operands(&mut |operand| found = found || operand.is_of_each_row());
        found
    }

    /// Whether it looks at a column of the row, as [`Expr::columns`] has them.
    pub fn names_columns(&self) -> bool {
        let mut names = false;
        self.columns(&mut |_| names = true);
        names
    }

    /// The same, as [`Expr::columns_looked_at`] has them.
    pub fn looks_at_columns(&self) -> bool {
        let mut looks = false;
        self.columns_looked_at(&mut |_| looks = true);
        looks
    }

    /// Whether it looks at a column of a row around the query that it is in.
    pub fn names_outer_columns(&self) -> bool {
        let mut names = matches!(self.kind, ExprKind::Outer { .. });
        self.operands(&mut |operand| names = names || operand.names_outer_columns());
        names
    }

    /// Whether rows that are ordered by it go by the numbers of members, of an ENUM or a SET, though their texts are compared elsewhere
    /// (the manual, "The ENUM Type").
    pub fn orders_by_number(&self) -> bool {
        matches!(self.data_type, DataType::Enum(_) | DataType::Set(_)) && self.as_column().is_some()
    }

    /// What rows are ordered by, for a value of it.
    pub fn sort_value<'v>(&self, value: Datum<'v>) -> Datum<'v> {
        if !self.orders_by_number() {
            return value;
        }
        match (&self.data_type, value) {
            (_, Datum::Member { number, .. }) => Datum::Unsigned(number),
            // (A row that was kept has the text.)
            (DataType::Enum(members), Datum::Text(text, _)) => Datum::Unsigned(members.find(text).unwrap_or(0)),
            (DataType::Set(members), Datum::Text(text, _)) => Datum::Unsigned(members.parse_set(text).0),
            (_, value) => value,
        }
    }

    /// Calls with each name of a column, of its row or of one around, to change it: to another name, or to what stands for it.
    pub fn names_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self.kind {
            ExprKind::Column(_) | ExprKind::Outer { .. } => f(self),
            _ => self.operands_mut(&mut |operand| operand.names_mut(f)),
        }
    }

    /// Calls with each operand, in the order of evaluation.
    pub fn operands<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        match &self.kind {
            ExprKind::Constant(_)
            | ExprKind::Slot(_)
            | ExprKind::Column(_)
            | ExprKind::Outer { .. }
            | ExprKind::Subquery(_)
            | ExprKind::Exists(_)
            | ExprKind::UserVariable(_)
            | ExprKind::SystemVariable(_) => {}
            ExprKind::Chain(chain) => {
                f(&chain.first);
                chain.steps.iter().for_each(|step| f(&step.right));
            }
            ExprKind::Negate(operand, _)
            | ExprKind::BitNot(operand)
            | ExprKind::Not(operand)
            | ExprKind::IsNull { operand, .. }
            | ExprKind::IsTruth { operand, .. }
            | ExprKind::Convert(operand)
            | ExprKind::SetUserVariable(_, operand) => f(operand),
            ExprKind::Compare(compare) => {
                f(&compare.left);
                f(&compare.right);
            }
            ExprKind::RowCompare(compare) => compare.columns.iter().for_each(|(left, right, _)| {
                f(left);
                f(right);
            }),
            ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::Xor(parts) | ExprKind::Row(parts) => {
                parts.iter().for_each(f);
            }
            ExprKind::Between(between) => [&between.operand, &between.low, &between.high].into_iter().for_each(f),
            ExprKind::In(list) => {
                f(&list.operand);
                list.list.iter().for_each(f);
            }
            ExprKind::Like(like) => {
                f(&like.operand);
                f(&like.pattern);
            }
            ExprKind::InSubquery(inside) => f(&inside.operand),
            ExprKind::Quantified(inside) => f(&inside.left),
            ExprKind::Case(case) => {
                case.operand.iter().for_each(&mut *f);
                for (condition, _, result) in &case.branches {
                    f(condition);
                    f(result);
                }
                case.otherwise.iter().for_each(f);
            }
            ExprKind::Cast(cast) => f(&cast.operand),
            ExprKind::NumberOf(operand) => f(operand),
            ExprKind::Once(once) => f(&once.value),
            ExprKind::Call(call) => call.arguments.iter().for_each(f),
        }
    }

    /// The same, to change them.
    pub fn operands_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match &mut self.kind {
            ExprKind::Constant(_)
            | ExprKind::Slot(_)
            | ExprKind::Column(_)
            | ExprKind::Outer { .. }
            | ExprKind::Subquery(_)
            | ExprKind::Exists(_)
            | ExprKind::UserVariable(_)
            | ExprKind::SystemVariable(_) => {}
            ExprKind::Chain(chain) => {
                f(&mut chain.first);
                chain.steps.iter_mut().for_each(|step| f(&mut step.right));
            }
            ExprKind::Negate(operand, _)
            | ExprKind::BitNot(operand)
            | ExprKind::Not(operand)
            | ExprKind::IsNull { operand, .. }
            | ExprKind::IsTruth { operand, .. }
            | ExprKind::Convert(operand)
            | ExprKind::SetUserVariable(_, operand) => f(operand),
            ExprKind::Compare(compare) => {
                f(&mut compare.left);
                f(&mut compare.right);
            }
            ExprKind::RowCompare(compare) => compare.columns.iter_mut().for_each(|(left, right, _)| {
                f(left);
                f(right);
            }),
            ExprKind::And(parts) | ExprKind::Or(parts) | ExprKind::Xor(parts) | ExprKind::Row(parts) => {
                parts.iter_mut().for_each(f);
            }
            ExprKind::Between(between) => {
                f(&mut between.operand);
                f(&mut between.low);
                f(&mut between.high);
            }
            ExprKind::In(list) => {
                f(&mut list.operand);
                list.list.iter_mut().for_each(f);
            }
            ExprKind::Like(like) => {
                f(&mut like.operand);
                f(&mut like.pattern);
            }
            ExprKind::InSubquery(inside) => f(&mut inside.operand),
            ExprKind::Quantified(inside) => f(&mut inside.left),
            ExprKind::Case(case) => {
                case.operand.iter_mut().for_each(&mut *f);
                for (condition, _, result) in &mut case.branches {
                    f(condition);
                    f(result);
                }
                case.otherwise.iter_mut().for_each(f);
            }
            ExprKind::Cast(cast) => f(&mut cast.operand),
            ExprKind::NumberOf(operand) => f(operand),
            ExprKind::Once(once) => f(&mut once.value),
            ExprKind::Call(call) => call.arguments.iter_mut().for_each(f),
        }
    }

    /// Whether it holds of a row: not zero, not NULL.
    pub fn is_true<'v>(&'v self, row: &'v [Datum<'v>], env: &mut Env<'v, '_>) -> Result<bool> {
        Ok(self.condition(row, env)? == Some(true))
    }

    /// The collation under which it is grouped and ordered.
    pub fn collation(&self) -> Collation {
        self.collated.collation
    }
}
