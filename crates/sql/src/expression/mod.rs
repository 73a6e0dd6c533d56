//! Expressions: bound once for a plan, evaluated for each row.
//!
//! ```text
//!   ast::Expression --bind (Scope: what do names mean?)--> Expr --evaluate (row, Env)--> Datum
//! ```
//!
//! Above: `query` and `statement`, which give a scope and rows. Below: `types`, which knows how values behave.
//!
//! # Invariants
//! 1. A bound expression owns all that it needs: it lives in a plan that many executions share, and does not change.
//! 2. What an evaluation makes lives in the arena of the environment, or is borrowed from the row or the expression.
//! 3. Its type is known before it is evaluated, and does not depend on a parameter's value. (But see `Slot`.)

use bumpalo::Bump;
use meseta_parser::ast;
use meseta_types::{Collated, Context, DataType, Datum};

use crate::error::Result;

/// What an expression is.
#[derive(Clone, Debug)]
pub struct Expr {
    /// How it is computed.
    pub kind: ExprKind,
    /// What it yields.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// The collation of its text, and how firmly it holds it.
    pub collated: Collated,
}

/// How an expression is computed.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A column of the row, by its number there. Aggregates of a group are columns too.
    Column(u32),
    /// A column of a row of a query around this one: 0 is the next one out.
    Outer {
        /// How far out.
        level: u32,
        /// Its number there.
        column: u32,
    },
}

/// What a name stands for.
#[derive(Clone, Debug)]
pub struct ResolvedColumn {
    /// `ExprKind::Column` or `ExprKind::Outer`.
    pub kind: ExprKind,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL, joins considered.
    pub nullable: bool,
}

/// What an expression may name where it stands.
pub trait Scope {
    /// What a column's name means. Errors: 1054 (unknown), 1052 (ambiguous).
    fn column(&mut self, name: &ast::ColumnName<'_>) -> Result<ResolvedColumn>;

    /// The value of an aggregate in the row of its group. Errors: 1111, where none may stand.
    fn aggregate(&mut self, aggregate: &ast::Aggregate<'_>) -> Result<Expr>;

    /// A query inside: bound and planned by the scope; run by [`Host::subquery`].
    fn subquery(&mut self, query: &ast::Query<'_>) -> Result<BoundSubquery>;

    /// `DEFAULT(column)`, and `DEFAULT` where a value is assigned (`None`).
    fn default_value(&mut self, column: Option<&ast::ColumnName<'_>>) -> Result<Expr>;

    /// `VALUES(column)`.
    fn inserted_value(&mut self, column: &ast::ColumnName<'_>) -> Result<Expr>;
}

/// A query inside an expression.
#[derive(Clone, Debug)]
pub struct BoundSubquery {
    /// Its number in the plan.
    pub number: u32,
    /// Whether it refers to rows of queries around it.
    pub is_correlated: bool,
    /// Its columns.
    pub columns: Vec<(DataType, bool)>,
}

/// What an evaluation asks its session and its executor.
pub trait Host {
    /// Runs a query inside: shows its rows, one by one, until `show` says that it has seen enough. `rows` are the rows of
    /// the queries around it, the next one out last.
    fn subquery(
        &mut self,
        number: u32,
        rows: &[&[Datum<'_>]],
        context: &mut Context,
        show: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()>;
}

/// What an evaluation works with.
pub struct Env<'v, 'h> {
    /// Where it puts what it makes.
    pub arena: &'v Bump,
    /// SQL mode, time zone, warnings.
    pub context: &'h mut Context,
    /// Values of literals and parameters that were lifted out of the plan.
    pub slots: &'v [Datum<'v>],
    /// Rows of the queries around this one, the next one out last.
    pub outer: &'h [&'v [Datum<'v>]],
    /// Session and executor.
    pub host: &'h mut dyn Host,
}
