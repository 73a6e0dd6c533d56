//! Undo: what was there before.
//!
//! Above: readers who look for an older version, rollback, purge. Below: trees of `storage`.
//!
//! ```text
//!   entry of a table's tree                       undo tree of slot 7
//!   header: writer 42, slot 7, number 1  ------>  42, 0      active | committed ...; first change
//!                                                 42, 1      [index 3, key, before], [index 4, key, nothing] ...
//!            before: header, delta  ----.         43, 0      ...
//!            writer 17, slot 2, ...      '----->  (slot 2)  17, 5
//! ```
//!
//! One record describes one change of one row: every entry that it touched, in the clustered tree and in others, and what
//! was there before. All of those entries name this record in their headers, so whoever has met one of them finds in the
//! record the version before it, which names the record of the one before that. Rows that are inserted in a run (`rows`)
//! share one, which lies whole in its tree's node; it may tell of some that were not inserted.
//!
//! What was there before is told as the difference from what the change left: the entry that names a record has the rest.
//!
//! # Words
//! *Slot*: an undo tree, which a session's transactions write to. *Number*: of a record, counted from 0 in each
//! transaction. *Fate*: what became of a transaction, as its record 0 says. *Tombstone*: an entry flagged as deleted.
//!
//! # Invariants
//! 1. A record is logged before the changes that it describes. So after a crash both are there, or the record alone: who
//!    undoes a change looks whether the entry names the record.
//! 2. Numbers are taken in order and never again, even if what they described is undone.
//! 3. The fate is decided by one patch of one byte of record 0; the log's order decides what survives.
//! 4. Undoing removes records from the last to the first, purge from the first to the last. So records without a record 0
//!    are those of a committed transaction.
//! 5. A record of an entry stands for the value whose header names it: a value does not change without its header.
//!
//! # When things fail
//! Whatever storage reports is handed on. A record that cannot be decoded is [`UndoError::Corrupt`], with its place: pages
//! have checksums, so it is a bug and not the disk.
//!
//! # Source
//! The manual, "InnoDB Multi-Versioning" and "Undo Logs". We differ: records are entries of trees, which brings recovery
//! and space management with them; and secondary entries have headers and records too, so that a covering read need not
//! visit the clustered tree.

mod cut_off;
mod delta;
mod record;
mod slots;
#[cfg(test)]
mod tests;

pub use cut_off::CutOff;
pub use delta::Delta;
pub use record::{Before, Changes, EntryChange, Fate, append_change, begin_record, read_record};
pub use slots::{Remains, Slots};

use crate::ids::{SlotNo, TransactionId};
use crate::row::Corrupt;

/// What can go wrong with undo.
#[derive(Clone, Debug, thiserror::Error)]
pub enum UndoError {
    /// The trees cannot be read or written.
    #[error(transparent)]
    Storage(#[from] meseta_storage::StorageError),
    /// A record is not what any version of the engine writes.
    #[error("undo record {number} of transaction {} in slot {} is damaged: {problem}", transaction.0, slot.0)]
    Corrupt {
        /// The slot.
        slot: SlotNo,
        /// The transaction.
        transaction: TransactionId,
        /// The record's number.
        number: u64,
        /// What is wrong with it.
        problem: Corrupt,
    },
}
