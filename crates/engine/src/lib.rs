//! Meseta's engine room: transactions with InnoDB's meaning, over trees of bytes.
//!
//! It knows rows, keys, versions, locks and transactions. It has never heard of SQL text or of sockets. What it is built
//! on is `meseta_storage`; why it is built so is in `docs/decisions/2026-11-21-transactions.md`.
//!
//! ```text
//!   engine       a store in which sessions run transactions: opening, housekeeping
//!   session      one transaction after the other: snapshot, savepoints, commit
//!   ddl          databases, tables, indexes come and go;  catalog: which there are;  system tables
//!   rows         read, inserted, updated, deleted; foreign keys
//!   table        what a table is, and how a row becomes entries
//!   change       a row's entries, changed as one undo record says;  undoing: and back
//!   locking      reading the newest rows, and locking them;
//!   read         entries as a snapshot sees them;  version: which of an entry's versions that is
//!   purge        what nobody can see any more goes;  thin: what lies between two versions that somebody sees
//!   lock         who waits for whom, and for which key;  writers: from a header's id to whom to wait for
//!   undo         what was there before
//!   time         ids, commit times, snapshots: which version does one see?
//!   row          values as bytes: keys that order as values do, rows, version headers
//!   xa           transactions that a coordinator decides
//!   core         what all sessions share;  root: what the engine finds first;  counter, index;  known_hash: maps by numbers;  leb128: short numbers
//! ```

pub mod catalog;
mod change;
mod core;
pub mod counter;
mod ddl;
mod engine;
mod error;
pub mod ids;
mod index;
pub mod known_hash;
mod leb128;
pub mod lock;
mod locking;
mod page_wait;
mod purge;
mod read;
mod root;
pub mod row;
pub mod rows;
mod session;
mod sorted_runs;
mod sync;
pub mod table;
mod thin;
pub mod time;
pub mod undo;
mod undoing;
pub mod version;
mod writers;
mod xa;

pub use ddl::SYSTEM_DATABASE;
pub use engine::{Engine, EngineOptions, EngineReport, LockWaits};
pub use error::{EngineError, Result};
pub use locking::{Direction, Locking, Taken};
pub use session::{Canceller, Isolation, Savepoint, Session};
pub use sorted_runs::SortedRuns;
