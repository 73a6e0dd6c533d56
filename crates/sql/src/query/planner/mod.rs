//! Chooses how a bound SELECT is run: in which order its sources are read, by which index each, and where each condition is asked.
//!
//! ```text
//!   a SELECT                       select: all of the below, one after the other
//!   it is changed first               merge, semi_join, table_elimination, outer, decorrelate, push
//!   what is said of columns          condition, deduced, equal_columns, facts
//!   how many rows there are          estimate, sizes, sample, shown_rows
//!   one source                       access, loose
//!   the join                         join: start, step, join_inputs, first_match, hash
//!   rows in an order                 order, row_groups, early_sort
//! ```
//!
//! Above: `bind`, which has a SELECT planned as soon as it is bound. Below: `plan`, what is made; and `run`, by which ranges are looked at
//! and rows are sampled.

pub mod access;
pub mod condition;
pub mod decorrelate;
mod deduced;
mod early_sort;
mod equal_columns;
pub mod estimate;
mod facts;
pub mod first_match;
mod hash;
pub mod join;
mod join_inputs;
mod loose;
pub mod merge;
mod order;
pub mod outer;
pub mod push;
pub mod row_groups;
pub mod sample;
pub mod select;
pub mod semi_join;
pub mod shown_rows;
pub mod sizes;
mod start;
mod step;
pub mod table_elimination;
pub mod tables;
