//! Rows: read in the order of an index, inserted, updated, deleted, and checked.
//!
//! Above: statements. Below: `table`, which knows how a row's entries look; `change`, `locking` and `read`, which know
//! entries and nothing of columns.

mod batch;
mod check;
mod cursor;
mod fetched;
mod foreign_key;
mod point;
mod run;
mod write;

pub use batch::{BatchRow, RowBatch};
pub use check::{TableProblem, TableReport};
pub use cursor::{FoundRow, RowCursor};
pub(crate) use foreign_key::Cascade;
pub use point::{Point, PointRow};
pub use run::RowRun;
pub use write::{Conflict, RowChange};
