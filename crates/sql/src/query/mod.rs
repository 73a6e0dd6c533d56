//! Queries: bound, planned, run.
//!
//! ```text
//!   ast::Query --bind--> BoundSelect --planner--> QueryPlan --run--> rows
//!               names     (plan::bound)  order,     (plan)    each source shows its rows to what comes behind it;
//!                                        indexes              group, sort, distinct keep rows in between
//! ```
//! They import downwards alone: `bind`, `explain`, `planner`, `run`, `plan`. (`planner` is above `run` since it looks at ranges and samples
//! rows.) `selected` is the table of an UPDATE or DELETE: all of this for one source.
//!
//! Above: statements and sessions. Below: `expression`, `schema`, the engine's cursors.

mod bind;
pub mod explain;
mod plan;
mod planner;
mod run;
mod selected;

pub use bind::filter::bind_filter;
pub use bind::joined::JoinPlan;
pub use bind::scope::shown as shown_name;
pub use bind::{Binder, Deprecated, FoundTable, Place, Tables, bind_alone, text_of};
pub use plan::table::KnownTable;
pub use plan::{
    Access, Body, Join, LockingPlan, Lookup, Origin, OutputColumn, OutputColumns, QueryPlan, SelectPlan, SortKey,
    SourceKind, Subquery,
};
pub use planner::sample::Sampled;
pub use planner::sizes::{Size, Sizes, are_known, fit, samples_now, sizes_now};
pub use run::bounds::{loaded, stored};
pub use run::inside::{Inside, Running};
pub use run::limit::limit_count;
pub use run::measure::{Measure, Measures};
pub use run::member_places::MemberPlaces;
pub use run::row_bytes::{append_row, values};
pub(crate) use run::spare::Spare;
pub use run::spilled_rows::SpilledRows;
pub use run::table_rows::enter_table;
pub use run::{ENOUGH, Flow, MORE, evaluate_all, holds, run_query};
pub use selected::{
    SelectedTable, Shown, change_one_row, found_values, named_source, rows_to_change, rows_to_change_in_order,
    set_found,
};
