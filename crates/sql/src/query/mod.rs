//! Queries: bound, planned, run.
//!
//! ```text
//!   ast::Query --bind--> BoundSelect --planner--> QueryPlan --run--> rows
//!               names     (plan::bound)  order,     (plan)    each source shows its rows to what comes behind it;
//!                                        indexes              group, sort, distinct keep rows in between
//! ```
//! They import downwards alone: `bind`, `explain`, `planner`, `run`, `plan`. (`planner` is above `run` since it looks at ranges and samples
//! rows.)
//!
//! Above: statements and sessions. Below: `expression`, `schema`, the engine's cursors.

mod bind;
pub mod explain;
mod plan;
mod planner;
mod run;

pub use bind::filter::bind_filter;
pub use bind::joined::JoinPlan;
pub use bind::one_table::named_source;
pub use bind::{Binder, Deprecated, Place, bind_alone};
pub use plan::selected_table::SelectedTable;
pub use plan::table::KnownTable;
pub use plan::{
    Access, Body, Join, LockingPlan, Lookup, Origin, OutputColumn, OutputColumns, QueryPlan, SelectPlan, SortKey,
    SourceKind, Subquery,
};
pub use planner::sample::Sampled;
pub use planner::sizes::{Size, Sizes, are_known, fit, samples_now, sizes_now};
pub use planner::tables::{FoundTable, Tables};
pub use run::bounds::{loaded, stored};
pub use run::inside::{Inside, Running};
pub use run::limit::limit_count;
pub use run::measure::{Measure, Measures};
pub use run::member_places::MemberPlaces;
pub use run::row_bytes::{append_row, values};
pub use run::rows_to_change::{
    Shown, change_one_row, found_values, rows_to_change, rows_to_change_in_order, set_found,
};
pub(crate) use run::spare::Spare;
pub use run::spilled_rows::SpilledRows;
pub use run::table_rows::enter_table;
pub use run::{ENOUGH, Flow, MORE, evaluate_all, holds, run_query};
