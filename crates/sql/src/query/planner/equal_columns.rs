//! What columns are equal to because others are.
//!
//! ```text
//!   o.tenant = 5 AND i.tenant = o.tenant AND i.order_id = o.id       i.tenant = 5     finds rows of i before there is one of o
//!   s.nation = c.nation AND n.id = s.nation                          n.id = c.nation  joins n to c before there is an s
//!   a.v = b.v AND b.v = a.w                                          a.v = a.w        leaves few rows of a before there is one of b
//! ```
//!
//! # Invariants
//! 1. Columns are put together only if what is equal to one of them is equal to the other: both are integers, or exact numbers, or days, or points
//!    in time, or texts in one collation, and they are compared so.
//! 2. What value a column has, and that it is equal to another one of its table, is asked of the table alone with which a join begins: elsewhere
//!    the equality that it follows from is asked anyway.
//!
//! # Source
//! The manual, "Constant-Folding Optimization" and "WHERE Clause Optimization": constant propagation.

use std::collections::HashSet;

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

/// The columns that are equal under some conditions, all of which hold.
pub struct Classes<'e> {
    classes: Vec<Class<'e>>,
    conditions: Vec<&'e Expr>,
}

/// Of so many equal columns each is linked to each; of more not the others.
const LINKED: usize = 8;

impl<'e> Classes<'e> {
    /// Those of these conditions.
    pub fn new(conditions: Vec<&'e Expr>) -> Self {
        let mut classes: Vec<Class<'_>> = Vec::new();
        for &condition in &conditions {
            if let Some((left, right)) = equal_columns(condition) {
                join(&mut classes, left, right);
            }
        }
        for &condition in &conditions {
            let column = equality(condition).and_then(column_and_value).map(|(column, _)| column.as_column());
            let of_column = |class: &&mut Class<'_>| class.columns.iter().any(|own| Some(own.as_column()) == column);
            if let Some(class) = classes.iter_mut().find(of_column) {
                class.known.push(condition);
            }
        }
        Self { classes, conditions }
    }

    /// `column = value` for columns of which no condition says so.
    pub fn values(&self) -> impl Iterator<Item = Expr> {
        self.classes.iter().flat_map(Class::follows)
    }

    /// The number of the class of which a condition says that two columns are equal.
    fn class_of(&self, condition: &Expr) -> Option<usize> {
        let (left, _) = equal_columns(condition)?;
        self.classes.iter().position(|class| class.has(left))
    }

    /// `column = column` for those of one source of which no condition says so.
    pub fn within_sources(&self, source_of: impl Fn(u32) -> Option<usize>) -> Vec<Expr> {
        let source_of = |column: &Expr| column.as_column().and_then(&source_of);
        let of_class = |(number, class): (usize, &Class<'_>)| {
            class.links(&self.said_of(number), |one, other| source_of(one) == source_of(other))
        };
        self.classes.iter().enumerate().flat_map(of_class).collect()
    }

    /// The classes that have columns of more than two sources.
    pub fn of_more_than_two(&self, source_of: impl Fn(u32) -> Option<usize>) -> Vec<Linked> {
        let source_of = |column: &Expr| column.as_column().and_then(&source_of);
        let linked = self.classes.iter().enumerate().filter_map(|(number, class)| {
            let sources: HashSet<Option<usize>> = class.columns.iter().map(|column| source_of(column)).collect();
            if sources.len() < 3 {
                return None;
            }
            let links = class.links(&self.said_of(number), |one, other| source_of(one) != source_of(other));
            Some(Linked { given: self.given_of(number).collect(), links })
        });
        linked.collect()
    }

    /// The places of the conditions that say of two columns of a class that they are equal.
    fn given_of(&self, class: usize) -> impl Iterator<Item = usize> {
        (0..self.conditions.len()).filter(move |at| self.class_of(self.conditions[*at]) == Some(class))
    }

    fn said_of(&self, class: usize) -> Vec<&'e Expr> {
        self.given_of(class).map(|at| self.conditions[at]).collect()
    }
}

/// Columns of more than two sources that are equal.
pub struct Linked {
    /// The places of the conditions that say so of two of them each.
    pub given: Vec<usize>,
    /// `column = column` for those of two sources of which no condition says so.
    pub links: Vec<Expr>,
}

/// The columns of which a condition says that they are equal, if what is equal to one of them is equal to the other.
fn equal_columns(condition: &Expr) -> Option<(&Expr, &Expr)> {
    let Compare { left, right, comparer, .. } = equality(condition)?;
    let (domain, other) = (of_column(left)?, of_column(right)?);
    (domain == other && domain.is_of(comparer)).then_some((left, right))
}

impl<'e> Class<'e> {
    fn has(&self, column: &Expr) -> bool {
        self.columns.iter().any(|own| own.as_column() == column.as_column())
    }

    /// That those of its columns are equal of which that is wanted, and none of these conditions says so.
    fn links(&self, said: &[&Expr], is_wanted: impl Fn(&Expr, &Expr) -> bool) -> Vec<Expr> {
        let mut comparers = said.iter().filter_map(|condition| Some(equality(condition)?.comparer));
        let Some(comparer) = comparers.next().filter(|first| comparers.all(|other| other == *first)) else {
            return Vec::new();
        };
        let is_said = |pair: [&Expr; 2]| {
            let slots = |pair: [&Expr; 2]| pair.map(Expr::as_column);
            let mut said = said.iter().filter_map(|condition| equal_columns(condition));
            said.any(|(left, right)| slots([left, right]) == slots(pair) || slots([right, left]) == slots(pair))
        };
        let columns = &self.columns[..self.columns.len().min(LINKED)];
        let pairs = (0..columns.len()).flat_map(|at| columns[at + 1..].iter().map(move |other| [columns[at], *other]));
        let linked = pairs.filter(|&[one, other]| is_wanted(one, other) && !is_said([one, other]));
        let link = |[left, right]: [&Expr; 2]| {
            let nullable = left.nullable || right.nullable;
            let (left, right) = (left.clone(), right.clone());
            let compare = Compare { operator: ComparisonOperator::Equal, comparer, left, right };
            Expr { kind: ExprKind::Compare(Box::new(compare)), nullable, ..said[0].clone() }
        };
        linked.map(link).collect()
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

/// The columns of which a condition says what they are equal to, if no two of their values are, and that.
pub fn columns_and_others(condition: &Expr) -> impl Iterator<Item = (u32, &Expr)> {
    let told = equality(condition).into_iter().flat_map(told_sides);
    told.filter_map(|(column, other)| Some((column.as_column()?, other)))
}

/// A column, and what it is said to be equal to, the same for all rows.
fn column_and_value(compare: &Compare) -> Option<(&Expr, &Expr)> {
    let is_value = |side: &Expr| !side.names_columns() && side.is_constant() && side.is_repeatable();
    told_sides(compare).find(|(_, value)| is_value(value))
}

/// Those sides of an equality that are columns and are compared as what they are, each with the other side.
fn told_sides(compare: &Compare) -> impl Iterator<Item = (&Expr, &Expr)> {
    let Compare { left, right, comparer, .. } = compare;
    let is_told = |(column, _): &(&Expr, &Expr)| of_column(column).is_some_and(|domain| domain.is_of(comparer));
    [(left, right), (right, left)].into_iter().filter(is_told)
}
