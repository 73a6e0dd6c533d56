//! The tree of a statement: what a binder works from.
//!
//! ```text
//!   Statement
//!     Query ---- QueryBody ---- Select ---- SelectItem, TableReference, Expression, Window
//!     Insert, Update, Delete, Load                  |
//!     CreateTable, AlterTable ... ---- DataType, ColumnDefinition, TableOption, Partitioning
//!     Set, Show, Explain, Prepare, accounts, transactions
//!     StoredProgram, Administration: recognised, kept as kind, names and span
//! ```
//!
//! 1. All nodes are `Copy`; they live in the caller's arena, and borrow from it or from the statement's text.
//! 2. An expression, an identifier and a literal know their span: the bytes they were read from.
//! 3. Nothing is folded or resolved: `1 + 1` is an operator with two literals, a name is a name. The exceptions are
//!    spellings that mean the same (`<>` and `!=`, `IN` with `= ANY` excepted) and parentheses, which only group.
//! 4. Chains of binary operators lean to the left and can be as long as the text. Walk down `left` with a loop, not by
//!    recursion; everything else is at most `Options::depth_limit` deep.
//!
//! The words are the manual's. Where a field says no more than its name, it has no comment.
#![allow(missing_docs)]

mod account;
mod administration;
mod alter_table;
mod column;
mod create_table;
mod data_type;
mod definition;
mod display;
mod expression;
mod function;
mod literal;
mod manipulation;
mod name;
mod partition;
mod prepare;
mod query;
mod select_name;
mod set;
mod show;
mod statement;
mod table_reference;
mod transaction;

pub use account::*;
pub use administration::*;
pub use alter_table::*;
pub use column::*;
pub use create_table::*;
pub use data_type::*;
pub use definition::*;
pub use expression::*;
pub use function::*;
pub use literal::*;
pub use manipulation::*;
pub use name::*;
pub use partition::*;
pub use prepare::*;
pub use query::*;
pub use set::*;
pub use show::*;
pub use statement::*;
pub use table_reference::*;
pub use transaction::*;

/// Nodes side by side, in the order of the text.
pub type List<'a, T> = &'a [T];
