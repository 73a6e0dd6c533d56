//! Queries: bound, planned, run.
//!
//! ```text
//!   ast::Query --bind (scope, merge)--> QueryPlan (plan; join the order of sources, access and order their indexes)
//!                                   |
//!                                 run   push: each source shows its rows to what comes behind it
//!                                       group, sort, distinct keep rows in between
//! ```
//!
//! Above: statements and sessions. Below: `expression`, `schema`, the engine's cursors.

mod access;
mod bind;
mod bound;
mod bounds;
mod columns;
mod condition;
mod decorrelate;
mod deduced;
mod early_sort;
mod equal_columns;
mod estimate;
mod execution;
pub mod explain;
mod facts;
mod filter;
mod first_match;
mod from;
mod full_group;
mod group;
mod hash;
mod inside;
mod join;
mod join_inputs;
mod join_tree;
mod joined;
mod kept_rows;
mod kept_slots;
mod last_point;
mod limit;
mod loose;
mod materialized;
mod measure;
mod member_places;
mod merge;
mod order;
mod outer;
mod parts;
mod plan;
mod projection;
mod push;
mod recursive;
mod rollup;
mod row_bytes;
mod row_groups;
mod row_numbers;
mod run;
mod sample;
mod scope;
mod selected;
mod semi_join;
mod set_operation;
mod shown_rows;
mod sizes;
mod sort;
mod source_rows;
mod spare;
mod spilled_rows;
mod start;
mod step;
mod table;
mod table_elimination;
mod table_rows;
mod top_rows;
mod usable;
mod wanted;

pub use bind::{Binder, Deprecated, FoundTable, Place, Tables, bind_alone, text_of};
pub use bounds::{loaded, stored};
pub use filter::bind_filter;
pub use inside::{Inside, Running};
pub use joined::JoinPlan;
pub use limit::limit_count;
pub use measure::{Measure, Measures};
pub use member_places::MemberPlaces;
pub use plan::{
    Access, Body, Join, LockingPlan, Lookup, Origin, OutputColumn, OutputColumns, QueryPlan, SelectPlan, SortKey,
    SourceKind, Subquery,
};
pub use row_bytes::{append_row, values};
pub use run::{ENOUGH, Flow, MORE, evaluate_all, holds, run_query};
pub use sample::Sampled;
pub use scope::shown as shown_name;
pub use selected::{
    SelectedTable, Shown, change_one_row, found_values, named_source, rows_to_change, rows_to_change_in_order,
    set_found,
};
pub use sizes::{Size, Sizes, are_known, fit, samples_now, sizes_now};
pub(crate) use spare::Spare;
pub use spilled_rows::SpilledRows;
pub use table::KnownTable;
pub use table_rows::enter_table;
