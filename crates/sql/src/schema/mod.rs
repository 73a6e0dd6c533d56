//! What a table is, in MySQL's words and in the engine's.
//!
//! ```text
//!   engine::Table  --Table::read (attributes)-->  Table: Column, Index, ForeignKey, Check, TableOptions
//!                  <--Table::definition---------
//!                                                   |
//!          show_create: SHOW CREATE TABLE           information: information_schema     show: SHOW COLUMNS ...
//! ```
//!
//! Above: `statement::definition`, which makes and changes tables; `query`, which reads them. Below: the engine's
//! definitions, which carry what only MySQL knows as attributes (`attributes`).
//!
//! # Invariants
//! 1. A [`Table`] that was read does not change: a new definition of the engine's is a new one ([`TableCache`]).
//! 2. `Table::read(definition(t)) == t`.
//! 3. Column numbers here are the engine's. The engine's first index is the primary key, or hidden and not shown here.

pub mod attributes;
mod cache;
mod collations;
pub(crate) mod column;
mod database;
pub mod information;
mod literal;
pub mod performance;
mod show_create;
mod statistics;
mod statistics_cache;
mod table;

pub use cache::TableCache;
pub use collations::MysqlCollations;
pub use column::{Column, ColumnDefault, Generated, engine_column, stored_to_datum};
pub use database::Database;
pub use literal::{NameStyle, append_quoted, append_quoted_name, quoted_name};
pub(crate) use show_create::default_value as default_text;
pub(crate) use show_create::{foreign_key_line, text_of};
pub use show_create::{show_create_database, show_create_table};
pub use statistics::{TableStatistics, fixed_random};
pub use statistics_cache::StatisticsCache;
pub use table::{Check, ForeignKey, ForeignKeyAction, Index, IndexPart, Table, TableOptions};
