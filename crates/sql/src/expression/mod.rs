//! Expressions: bound once for a plan, evaluated for each row.
//!
//! ```text
//!   ast::Expression --bind (Scope: what do names mean?)--> Expr --evaluate (row, Env)--> Datum
//! ```
//!
//! | module | what it answers |
//! |---|---|
//! | `bind` | What does a piece of text mean, and of which type is it? |
//! | `fold` | Which parts are the same whatever the row is? |
//! | `evaluate` | Which value has it for this row? |
//! | `function` | Which functions are there? |
//! | `comparer`, `pattern`, `in_list` | How do two values compare? Does a text match? Is a value in a list? |
//! | `inspect`, `index_key` | What can a planner make of it? What is an index asked for? |
//! | `aggregate`, `group` | What comes of the rows of a group? Which rows are one group? |
//! | `sort_key`, `abbreviation`, `alike_rows` | Which bytes are in the order of values? Which rows come first? |
//! | `comparison_key`, `kept_keys`, `key_numbers` | Which bytes are equal for values that are? Is such a row among those that were met? |
//! | `typing`, `value` | Types of results; values that own what they have |
//!
//! Above: `query` and `statement`, which give a scope and rows. Below: `types`, which knows how values behave.
//!
//! # Invariants
//! 1. A bound expression owns all that it needs: it lives in a plan that many executions share, and does not change.
//! 2. What an evaluation makes lives in the arena of the environment, or is borrowed from the row or the expression.
//! 3. Its type is known before it is evaluated, and does not depend on a parameter's value. (But see `Slot`.)
//! 4. Neither binding nor evaluating goes deeper into the stack than [`MAX_DEPTH`] expressions: chains of operators, which
//!    are as long as a statement, are lists and loops.

pub mod abbreviation;
pub mod aggregate;
pub mod alike_rows;
mod bind;
mod case;
mod comparer;
pub mod comparison_key;
mod evaluate;
mod fold;
pub mod function;

pub mod group;
mod group_concat;
mod host;
mod in_list;
mod index_key;
mod inspect;
pub mod kept_keys;
pub mod key_numbers;
mod kind;
mod once;
mod pattern;
pub mod random;
pub mod sort_key;
mod typing;
mod value;

use std::ops::Range;
use std::sync::Arc;

use bumpalo::Bump;
use meseta_parser::ast;
use meseta_types::{Collated, Context, DataType, Datum};

pub use bind::{BindFacts, WholeTexts, bind, literal_value};
pub use comparer::{Comparer, ComparisonOperator};
pub use host::{Host, NoHost};
pub use index_key::{Key, finds_equal, key_value, orders_like};
pub use inspect::Comparison;
pub use kind::{
    Between, BitOperator, Call, Case, Cast, Chain, ChainOperator, Compare, ExprKind, Extra, InList, InSubquery, Like,
    LookUps, Quantified, RowCompare, Step, SystemVariable,
};
pub use once::Kept;
pub use sort_key::SortKey;
pub use typing::{merge_types, string_type};
pub use value::{Value, copy_into};

use crate::error::Result;

/// How deep expressions may nest.
pub const MAX_DEPTH: usize = 400;

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

/// What a name stands for.
#[derive(Clone, Debug)]
pub struct ResolvedColumn {
    /// `ExprKind::Column` or `ExprKind::Outer`.
    pub kind: ExprKind,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL, joins considered.
    pub nullable: bool,
    /// How it holds its collation, if not as a column of a table does.
    pub collated: Option<Collated>,
}

/// What an expression may name where it stands.
pub trait Scope {
    /// What a column's name means. Errors: 1054 (unknown), 1052 (ambiguous).
    fn column(&mut self, name: &ast::ColumnName<'_>) -> Result<ResolvedColumn>;

    /// A column's name as errors print it: `` `schema`.`table`.`column` ``. As it was written, if there is none.
    fn column_text(&self, _name: &ast::ColumnName<'_>) -> Option<String> {
        None
    }

    /// The value of an aggregate in the row of its group. Errors: 1111, where none may stand.
    fn aggregate(&mut self, aggregate: &ast::Aggregate<'_>) -> Result<Expr>;

    /// A query inside: bound and planned by the scope; run by [`Host::subquery`].
    fn subquery(&mut self, query: &ast::Query<'_>) -> Result<BoundSubquery>;

    /// A query inside in which the values of an operand are looked for.
    fn query_of_values(&mut self, query: &ast::Query<'_>) -> Result<BoundSubquery> {
        self.subquery(query)
    }

    /// IN of the last such query.
    fn in_query(&mut self, inside: InSubquery) -> Result<ExprKind> {
        Ok(ExprKind::InSubquery(Box::new(inside)))
    }

    /// EXISTS of a query inside.
    fn exists(&mut self, query: &ast::Query<'_>) -> Result<ExprKind> {
        self.subquery(query).map(ExprKind::Exists)
    }

    /// `DEFAULT(column)`, and `DEFAULT` where a value is assigned (`None`).
    fn default_value(&mut self, column: Option<&ast::ColumnName<'_>>) -> Result<Expr>;

    /// `VALUES(column)`.
    fn inserted_value(&mut self, column: &ast::ColumnName<'_>) -> Result<Expr>;

    /// The value of a window function in its row. Error 3593 where none may stand.
    fn window(&mut self, _call: &ast::WindowCall<'_>) -> Result<Expr> {
        Err(crate::Error::not_yet("window functions"))
    }

    /// `MATCH (...) AGAINST (...)`.
    fn full_text(&mut self, _call: &ast::Match<'_>) -> Result<Expr> {
        Err(crate::Error::not_yet("MATCH ... AGAINST"))
    }

    /// A stored function's call, its arguments bound. Error 1305 if there is none.
    fn stored_function(&mut self, name: &ast::ObjectName<'_>, _arguments: Vec<Expr>) -> Result<Expr> {
        let written = match &name.schema {
            Some(schema) => {
                format!("{}.{}", String::from_utf8_lossy(schema.text.0), String::from_utf8_lossy(name.name.text.0))
            }
            None => String::from_utf8_lossy(name.name.text.0).into_owned(),
        };
        Err(crate::Error::new(meseta_errors::ER_SP_DOES_NOT_EXIST, &[&"FUNCTION", &written]))
    }

    /// The type of a user variable, if it has a value yet. (Its value may have another one when it is read.)
    fn user_variable(&mut self, _name: &str) -> Option<DataType> {
        None
    }

    /// The type of a system variable, by its name in lower case, and whether it may be NULL. Error 1193 if there is none;
    /// 1238 if it has no such scope.
    fn system_variable(&mut self, variable: &SystemVariable) -> Result<(DataType, bool)> {
        Err(crate::Error::new(meseta_errors::ER_UNKNOWN_SYSTEM_VARIABLE, &[&variable.name]))
    }
}

/// A query inside an expression.
#[derive(Clone, Debug)]
pub struct BoundSubquery {
    /// Its number in the plan.
    pub number: u32,
    /// Whether it refers to rows of queries around it; or runs for each row as if it did, since it may have others each time.
    pub is_correlated: bool,
    /// The columns of the row around it that it looks at, and queries inside of it: some more than once.
    pub looks_at: Arc<[u32]>,
    /// Whether it has the same rows whenever it is run for the same rows around it.
    pub is_repeatable: bool,
    /// Whether it looks at the row around it, and at none further out.
    pub is_of_nearest_row: bool,
    /// Whether it never has two rows: its value is never error 1242.
    pub has_one_row_at_most: bool,
    /// Its columns.
    pub columns: Vec<QueryColumn>,
}

impl BoundSubquery {
    /// Whether its rows are known, once and for all, before there are values for these columns of the row around it.
    pub fn is_known_without(&self, columns: &Range<u32>) -> bool {
        !self.is_correlated || self.is_repeatable && !self.looks_at.iter().any(|column| columns.contains(column))
    }
}

/// A column of a query inside of an expression.
#[derive(Clone, Debug)]
pub struct QueryColumn {
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How it holds its collation, if not as a column of a table does.
    pub collated: Option<Collated>,
}

/// What an evaluation works with.
pub struct Env<'v, 'h> {
    /// Where it puts what it makes.
    pub arena: &'v Bump,
    /// SQL mode, time zone, warnings.
    pub context: &'h mut Context,
    /// Values of parameters and literals that were lifted out of the plan.
    pub slots: &'v [Datum<'v>],
    /// Rows of the queries around this one, the next one out last.
    pub outer: &'h [&'v [Datum<'v>]],
    /// Session and executor.
    pub host: &'h mut dyn Host,
}
