//! MySQL's language over the engine: from a statement's text to rows.
//!
//! ```text
//!   session      a client's state: variables, transaction, prepared statements; takes a statement's text
//!     |  \
//!     |   statement     one module a family: queries, changes of rows, definitions, SET, SHOW, accounts
//!     |      |
//!     |    query        bind names, plan accesses and joins, run them row by row
//!     |      |
//!   schema  expression  what a table is, in MySQL's words and in the engine's; values of expressions
//!        \   /
//!      error, name
//! ```
//!
//! # Invariants
//! 1. Any text, any parameter: rows, or an error with MySQL's number. No panic, no unbounded memory.
//! 2. A statement that fails has changed nothing.
//! 3. What is not there yet is error 1235, which names it.

pub mod account;
pub mod error;
pub mod expression;
mod name;
pub mod query;
pub mod schema;
pub mod session;
mod stack;
pub mod statement;
pub mod variable;

pub use error::{Error, Result};
