//! EXISTS of a query that compares its rows with the row around it, as IN of a query that does not.
//!
//! ```text
//!   EXISTS (SELECT 1 FROM b WHERE b.x = a.y AND b.z > 5)      a.y IN (SELECT b.x FROM b WHERE b.z > 5), and unknown is false
//!       runs for each row of a                                   runs once: its rows are kept, and looked for by their values
//! ```
//!
//! And the other way round, where few values are looked for and an index finds them: IN as EXISTS, for those few ([`for_value`]).
//!
//! # Invariants
//! 1. Only equalities with the row around it are taken out, and nothing that is left looks at that row: so what is left has the
//!    same rows for all of them.
//! 2. A query that locks its rows, and finds them by an index and values of the row around it, stays: it locks few of them.
//!
//! # Source
//! Kim, "On optimizing an SQL-like nested query" (TODS 7(3), 1982); the manual, "Optimizing IN and EXISTS Subquery Predicates with
//! Semijoin and Antijoin Transformations", for when MySQL does it.

use meseta_types::{DataType, Datum, IntegerSize};

use crate::expression::{Compare, Comparer, ComparisonOperator, Expr, ExprKind, InSubquery, Value};
use crate::query::plan::bound::{BoundSelect, name_columns};
use crate::query::plan::{LimitPlan, Lookup, SelectPlan, SourceKind};

/// Has a query show what it compared with the row around it, and compare it no more: the values of that row, as it sees them itself, and
/// how each compares with the query's column of the same number. `None` if it looks at that row otherwise too, or not at all;
/// then it is as it was.
pub fn decorrelate(query: &mut BoundSelect) -> Option<(Vec<Expr>, Vec<Comparer>)> {
    let mut is_plain = query.group.is_none() && query.having.is_empty() && !query.keeps_order;
    query.tree.as_ref()?.conditions(&mut |condition| is_plain = is_plain && !looks_around(condition));
    is_plain &= query.conditions.iter().all(Expr::is_volatile_free);
    if !is_plain {
        return None;
    }
    let around = query.conditions.iter().filter(|condition| looks_around(condition));
    let around = around.map(sides).collect::<Option<Vec<_>>>().filter(|around| !around.is_empty())?;
    query.conditions.retain(|condition| !looks_around(condition));
    query.items.clear();
    let (mut operands, mut comparers) = (Vec::new(), Vec::new());
    for (own, mut around, comparer) in around {
        around.names_mut(&mut as_around);
        name_columns(&own, &mut query.named_beside_where);
        query.items.push(own);
        operands.push(around);
        comparers.push(comparer);
    }
    query.order.clear();
    (query.distinct, query.limit) = (false, None);
    Some((operands, comparers))
}

/// A query for one value of what is looked for in it: `a.y IN (SELECT b.x FROM b WHERE b.z > 5)` as EXISTS (SELECT 1 FROM b WHERE b.z > 5
/// AND b.x = a.y), of which a.y is all of the row around it. Where NULLs may leave open what it is, a NULL is found as a value is
/// (b.x <=> a.y), so that they can be asked for. `None` if its rows are not those of its tables.
pub fn for_value(query: BoundSelect, inside: &InSubquery) -> Option<BoundSelect> {
    if !query.shows_rows_as_they_are() {
        return None;
    }
    let values = (0..).zip(inside.operands());
    let values = values.map(|(column, operand)| Expr { kind: ExprKind::Outer { level: 0, column }, ..operand.clone() });
    let mut equal = equalities(&query, values, inside);
    if inside.may_find_null() {
        for condition in &mut equal {
            if let ExprKind::Compare(compare) = &mut condition.kind {
                compare.operator = ComparisonOperator::NullSafeEqual;
            }
        }
    }
    Some(first_of(query, equal, inside))
}

/// What is true of the rows of a query that are what is looked for in it, by the row around it: of `a.y IN (SELECT b.x FROM b WHERE b.z > a.w)`
/// `b.x = a.y`. `None` if its rows are not those of its tables, or if what is looked for is more than values of rows around it.
pub fn equal_to(query: &BoundSelect, inside: &InSubquery) -> Option<Vec<Expr>> {
    let is_plain = |operand: &Expr| operand.is_volatile_free() && !operand.has_subquery();
    if !query.shows_rows_as_they_are() || !inside.query.is_repeatable || !inside.operands().iter().all(is_plain) {
        return None;
    }
    let values = inside.operands().iter().cloned().map(|mut operand| {
        operand.names_mut(&mut from_inside);
        operand
    });
    Some(equalities(query, values, inside))
}

/// A name for a column of the row around a query, or of one further out, as the query sees it.
fn from_inside(name: &mut Expr) {
    name.kind = match name.kind {
        ExprKind::Outer { level, column } => ExprKind::Outer { level: level + 1, column },
        ExprKind::Column(column) => ExprKind::Outer { level: 0, column },
        _ => return,
    };
}

/// Each column of a query as equal to what is looked for in it.
fn equalities(query: &BoundSelect, values: impl Iterator<Item = Expr>, inside: &InSubquery) -> Vec<Expr> {
    let pairs = query.items.iter().zip(values).zip(&inside.comparers);
    pairs.map(|((item, value), comparer)| Expr::equal_by(item.clone(), value, *comparer)).collect()
}

/// Has a query show that it has a row that meets conditions besides.
pub fn first_of(mut query: BoundSelect, conditions: Vec<Expr>, inside: &InSubquery) -> BoundSelect {
    query.conditions.extend(conditions);
    let truth = DataType::integer(IntegerSize::Int, false);
    let one = Expr::constant(Value::new(Datum::Signed(1)), truth, inside.operand.collation());
    query.items = vec![one.clone()];
    query.order.clear();
    query.limit = Some(LimitPlan::first(one));
    query.named_beside_where.clear();
    query.used.clear();
    if let Some(tree) = &query.tree {
        tree.conditions(&mut |condition| name_columns(condition, &mut query.used));
    }
    query.conditions.iter().for_each(|condition| name_columns(condition, &mut query.used));
    query
}

/// Whether an index finds rows of its tables by values of the row around it.
pub fn looks_up(select: &SelectPlan) -> bool {
    select.sources.iter().any(|source| {
        let SourceKind::Table(table) = &source.kind else { return false };
        table.access.lookups().filter_map(Lookup::value).any(Expr::names_outer_columns)
    })
}

/// Whether it looks at a row around the query, or a query inside may.
fn looks_around(expr: &Expr) -> bool {
    expr.names_outer_columns() || expr.has_correlated_subquery()
}

/// Of an equality between the query's rows and the row around it: the side of each, and how they compare.
pub fn sides(condition: &Expr) -> Option<(Expr, Expr, Comparer)> {
    let ExprKind::Compare(compare) = &condition.kind else { return None };
    let Compare { operator: ComparisonOperator::Equal, comparer, left, right } = &**compare else { return None };
    let is_own = |side: &Expr| side.names_columns() && !looks_around(side) && side.is_repeatable();
    let is_around = |side: &Expr| side.names_outer_columns() && !side.names_columns() && side.is_repeatable();
    match (left, right) {
        (own, around) | (around, own) if is_own(own) && is_around(around) => {
            Some((own.clone(), around.clone(), *comparer))
        }
        _ => None,
    }
}

/// A name that the query has for a column of the row around it, as that row sees it.
fn as_around(name: &mut Expr) {
    if let ExprKind::Outer { level, column } = name.kind {
        name.kind = match level {
            0 => ExprKind::Column(column),
            _ => ExprKind::Outer { level: level - 1, column },
        };
    }
}
