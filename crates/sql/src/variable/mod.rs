//! System variables: which there are, what they may be set to, and what they are now.
//!
//! ```text
//!   registry   each variable of MySQL 9.7: scope, type, range, default, what it does here
//!      |
//!   convert, check   a value that SET was given -> a value that the variable can have, or MySQL's error
//!      |
//!   Globals  --connect-->  SessionVariables { Settings: typed, for whoever runs statements }
//!      \                    /
//!       assign: SET's items, all checked before any is set;   show: rows;   status: SHOW STATUS
//!       persisted: SET PERSIST's file
//! ```
//!
//! # Invariants
//! 1. A value that is stored is one that the variable can have.
//! 2. `Settings` says what the stored values say: both change together.
//! 3. A SET of several variables sets all or none.
//!
//! # Source
//! The manual's "Server System Variables"; what a server of 9.7 says of itself (`data/variables.tsv`) and answers to
//! thousands of SETs (`tests/recorded/variables.txt`).

mod assign;
mod check;
mod convert;
mod globals;
mod persisted;
mod registry;
mod session;
mod settings;
mod show;
mod sql_mode;
mod status;
mod value;

pub use assign::{Assigned, Assignment, SetContext, check_names, check_set, check_transaction};
pub use globals::{GlobalValues, Globals};
pub use persisted::{Persisted, PersistedValue};
pub use registry::{Definition, Effect, Guard, Kind, ResultType, Scope, Variable};
pub use session::{ReadScope, SessionState, SessionVariables};
pub use settings::{Completion, Isolation, Settings, TransactionTracking};
pub use show::{like, show_status, show_variables};
pub use sql_mode::SqlModes;
pub use status::{NoStatus, StatusProvider, status_names};
pub use value::{Input, Value};
