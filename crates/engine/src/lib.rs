//! Meseta's engine room: transactions with InnoDB's meaning, over trees of bytes.
//!
//! It knows rows, keys, versions, locks and transactions. It has never heard of SQL text or of sockets. What it is built
//! on is `meseta_storage`; why it is built so is in `docs/decisions/2026-11-21-transactions.md`.
//!
//! ```text
//!   lock      who waits for whom, and for which key
//!   version   which of an entry's versions a snapshot sees
//!   undo      what was there before
//!   time      ids, commit times, snapshots: which version does one see?
//!   row       values as bytes: keys that order as values do, rows, version headers
//! ```

pub mod ids;
pub mod lock;
pub mod row;
mod sync;
pub mod time;
pub mod undo;
pub mod version;
