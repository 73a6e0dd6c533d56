//! What a query is, once its names are bound and its accesses are chosen: shared by all executions, never changed.
//!
//! ```text
//!   QueryPlan: Body   select | set operation | VALUES      + ORDER BY, LIMIT, columns
//!
//!   SelectPlan:  join: Inner [ Source 0, Source 1, Left { Source 2 } ]     rows: one slot for each column of each source
//!                  |  conditions: evaluated as soon as what they name is there
//!                group?  ->  having  ->  items  ->  distinct?  ->  order  ->  limit
//! ```
//!
//! # Rows
//! A SELECT works on one row of slots: those of its sources, one source behind the other, and behind them the values of
//! its aggregates. Expressions name slots by their numbers. Slots of columns that nobody asks for stay NULL.

mod access;
pub mod bound;
pub mod columns;
mod join;
pub mod join_tree;
mod output;
mod query;
mod select;
pub mod selected_table;
mod source;
pub mod table;
pub mod usable;

pub use crate::expression::SortKey;
pub use access::{Access, ConditionSet, Lookup, LooseScan, Stretch, UnionOperand};
pub use join::{HashKey, HashPlan, Join};
pub use output::{Origin, OutputColumn, OutputColumns};
pub use query::{Body, LimitPlan, QueryPlan, RecursivePlan, SetPlan, Subquery};
pub use select::{EarlySort, GroupPlan, RollupPlan, SelectPlan, is_ordered_by_items};
pub use source::{LockingPlan, Source, SourceKind, SourceName, TableSource};
