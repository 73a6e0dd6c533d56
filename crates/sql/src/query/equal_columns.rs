//! What columns are equal to because others are.
//!
//! ```text
//!   o.tenant = 5 AND i.tenant = o.tenant AND i.order_id = o.id       i.tenant = 5     finds rows of i before there is one of o
//! ```
//!
//! # Invariants
//! 1. Columns are put together only if what is equal to one of them is equal to the other: both are integers, or exact numbers, or days, or points
//!    in time, or texts in one collation, and they are compared so.
//! 2. What follows is asked of the table alone with which a join begins: elsewhere the equality that it follows from is asked anyway.
//!
//! # Source
//! The manual, "Constant-Folding Optimization" and "WHERE Clause Optimization": constant propagation.

use meseta_types::comparison::ComparisonType;
use meseta_types::{Collation, DataType};

use crate::expression::{Compare, Comparer, ComparisonOperator, Expr, ExprKind};

/// Columns that are equal, and the conditions that say of one of them what it is.
struct Class<'e> {
    columns: Vec<&'e Expr>,
    known: Vec<&'e Expr>,
}

/// What kind of values are equal to each other in both of two columns, or in none.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Domain {
    Integer,
    Decimal,
    Date,
    DateTime,
    Text(Collation),
}

impl Domain {
    fn of(column: &Expr) -> Option<Self> {
        Some(match &column.data_type {
            DataType::Integer { .. } => Self::Integer,
            DataType::Decimal { .. } => Self::Decimal,
            DataType::Date => Self::Date,
            DataType::DateTime { .. } => Self::DateTime,
            DataType::Char { collation, .. } | DataType::Varchar { collation, .. } => Self::Text(*collation),
            _ => return None,
        })
    }

    /// Whether values are compared as such.
    fn is_of(self, comparer: &Comparer) -> bool {
        use ComparisonType as Type;
        match (self, comparer.kind) {
            (Self::Integer, Some(Type::Integer | Type::Decimal | Type::Given)) => true,
            (Self::Decimal, Some(Type::Decimal | Type::Given)) => true,
            (Self::Date | Self::DateTime, Some(Type::DateTime)) => true,
            (Self::Text(collation), Some(Type::Text)) => collation == comparer.collation,
            _ => false,
        }
    }
}

/// What follows from these conditions, all of which hold: `column = value` for columns of which none of them says so.
pub fn follows(conditions: &[&Expr]) -> Vec<Expr> {
    let mut classes: Vec<Class<'_>> = Vec::new();
    for &condition in conditions {
        let Some(Compare { left, right, comparer, .. }) = equality(condition) else { continue };
        let (Some(domain), Some(other)) = (of_column(left), of_column(right)) else { continue };
        if domain == other && domain.is_of(comparer) {
            join(&mut classes, left, right);
        }
    }
    for &condition in conditions {
        let column = equality(condition).and_then(column_and_value).map(|(column, _)| column.as_column());
        let of_column = |class: &&mut Class<'_>| class.columns.iter().any(|own| Some(own.as_column()) == column);
        if let Some(class) = classes.iter_mut().find(of_column) {
            class.known.push(condition);
        }
    }
    classes.iter().flat_map(Class::follows).collect()
}

impl<'e> Class<'e> {
    fn has(&self, column: &Expr) -> bool {
        self.columns.iter().any(|own| own.as_column() == column.as_column())
    }

    fn follows(&self) -> impl Iterator<Item = Expr> {
        let column_of = |condition: &Expr| equality(condition).and_then(column_and_value)?.0.as_column();
        let is_known = move |column: &Expr| self.known.iter().any(|known| column_of(known) == column.as_column());
        let unknown = self.columns.iter().filter(move |column| !is_known(column));
        unknown.filter_map(|column| {
            let known = self.known.first()?;
            let Compare { operator, comparer, .. } = *equality(known)?;
            let (_, value) = column_and_value(equality(known)?)?;
            let compare = Compare { operator, comparer, left: (*column).clone(), right: value.clone() };
            Some(Expr { kind: ExprKind::Compare(Box::new(compare)), ..(*known).clone() })
        })
    }
}

/// Puts the classes of two columns together.
fn join<'e>(classes: &mut Vec<Class<'e>>, left: &'e Expr, right: &'e Expr) {
    let mut all = Class { columns: Vec::new(), known: Vec::new() };
    for column in [left, right] {
        match classes.iter().position(|class| class.has(column)) {
            Some(at) => all.columns.extend(classes.swap_remove(at).columns),
            None if !all.has(column) => all.columns.push(column),
            None => {}
        }
    }
    classes.push(all);
}

fn equality(condition: &Expr) -> Option<&Compare> {
    match &condition.kind {
        ExprKind::Compare(compare) if compare.operator == ComparisonOperator::Equal => Some(compare),
        _ => None,
    }
}

fn of_column(side: &Expr) -> Option<Domain> {
    side.as_column().and_then(|_| Domain::of(side))
}

/// A column that is said to be equal to something else, of which no two of its values are, and that.
pub fn column_and_other(condition: &Expr) -> Option<(u32, &Expr)> {
    let Compare { left, right, comparer, .. } = equality(condition)?;
    let is_told = |(column, _): &(&Expr, &Expr)| of_column(column).is_some_and(|domain| domain.is_of(comparer));
    let (column, other) = [(left, right), (right, left)].into_iter().find(is_told)?;
    Some((column.as_column()?, other))
}

/// A column, and what it is said to be equal to, the same for all rows.
fn column_and_value(compare: &Compare) -> Option<(&Expr, &Expr)> {
    let Compare { left, right, comparer, .. } = compare;
    let is_value = |side: &Expr| !side.names_columns() && side.is_constant() && side.is_repeatable();
    let sides = [(left, right), (right, left)];
    let is_told = |(column, value): &(&Expr, &Expr)| {
        of_column(column).is_some_and(|domain| domain.is_of(comparer)) && is_value(value)
    };
    sides.into_iter().find(is_told)
}
