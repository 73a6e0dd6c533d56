//! Undoing: from a transaction's last record to its first, every entry gets back what was there before.
//!
//! Above: rollback of a statement, of a transaction, and at the start of those that a crash cut off. Below: `undo`, trees.
//!
//! # Invariants
//! 1. An entry is changed back only if its header names the record: a crash may have come between the two.
//! 2. A record is removed after its changes were undone, the last first; so a crash leaves the beginning of what is to be
//!    undone. While the transaction goes on, its record 0 stays, emptied: it tells the fate.
//! 3. A tombstone that everybody sees is not put back: nobody would remove it again. Its transaction may be purged while it
//!    is put back; so one looks once more afterwards.
//! 4. In a transaction that goes on, an entry whose header will name somebody else again is locked for its owner before. If
//!    its header does not name the record, there is nothing to undo and nothing to lock.
//! 5. A key that goes leaves its locks to the key that follows.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use meseta_storage::Change;

use crate::core::Core;
use crate::error::Result;
use crate::ids::{SlotNo, TransactionId};
use crate::index::Index;
use crate::lock::{Key, Mode, OnConflict, Owner, Reach, Request};
use crate::purge::remove_entry;
use crate::row::VersionHeader;
use crate::time::State;
use crate::undo::{EntryChange, UndoError, read_record};

/// As long as a machine may be paused in the middle of a few instructions, and longer.
const SOON: Duration = Duration::from_secs(3600);

/// Undoes what these records of a transaction describe. `goes_on` is its owner, if the transaction does not end with it.
pub fn undo_records(
    core: &Core,
    slot: SlotNo,
    id: TransactionId,
    numbers: Range<u64>,
    goes_on: Option<&Arc<Owner>>,
) -> Result<()> {
    let mut record = Vec::new();
    for number in numbers.rev() {
        if !core.undo.read(slot, id, number, &mut record)? {
            continue;
        }
        let corrupt = |problem| UndoError::Corrupt { slot, transaction: id, number, problem };
        let (_, changes) = read_record(&record).map_err(corrupt)?;
        let changes = changes.collect::<Result<Vec<_>, _>>().map_err(corrupt)?;
        for change in changes.iter().rev() {
            if let Some(index) = core.indexes.get(change.index) {
                undo_entry(core, &index, change, id, number, goes_on)?;
            }
        }
        match goes_on {
            Some(_) => core.undo.discard(slot, id, number)?,
            None => core.undo.remove(slot, id, number)?,
        }
    }
    Ok(())
}

fn undo_entry(
    core: &Core,
    index: &Index,
    change: &EntryChange<'_>,
    id: TransactionId,
    number: u64,
    goes_on: Option<&Arc<Owner>>,
) -> Result<()> {
    let is_ours = |header: VersionHeader| (header.writer, header.number) == (id, number);
    let corrupt = |problem| index.damaged(problem);
    let is_purged = |header: VersionHeader| header.deleted && is_seen_by_all(core, header.writer);
    let before = change.before.filter(|before| !is_purged(before.header));
    if let Some(owner) = goes_on {
        // A change that was never made may be one of an entry that somebody else has: that is not waited for.
        let is_made =
            index.tree.get(change.key, |value| VersionHeader::split_off(value).map(|(header, _)| is_ours(header)))?;
        if !is_made.transpose().map_err(corrupt)?.unwrap_or(false) {
            return Ok(());
        }
        let request =
            Request { index: &index.locks, key: Key::Row(change.key), mode: Mode::Exclusive, reach: Reach::Record };
        // It has the row already, by its header. Whoever was granted a lock before looking gives it back, and soon.
        core.locks.lock(owner, &request, OnConflict::Wait(SOON))?;
    }
    let Some(before) = before else {
        remove_entry(index, change.key, &core.locks, is_ours)?;
        return Ok(());
    };
    let value_before = |payload: &[u8]| {
        let mut value = before.header.to_bytes().to_vec();
        before.payload.apply(payload, &mut value)?;
        Ok(value)
    };
    let mut damaged = None;
    index.tree.modify(change.key, &[], |value| {
        let Some(value) = value else { return Ok(Change::Keep) };
        let value_before = VersionHeader::split_off(value).and_then(|(header, payload)| match is_ours(header) {
            true => value_before(payload).map(Some),
            false => Ok(None),
        });
        Ok(match value_before {
            Ok(Some(value)) => Change::Put(value.into()),
            Ok(None) => Change::Keep,
            Err(problem) => {
                damaged = Some(corrupt(problem));
                Change::Keep
            }
        })
    })?;
    if is_purged(before.header) {
        remove_entry(index, change.key, &core.locks, |header| header == before.header)?;
    }
    damaged.map_or(Ok(()), Err)
}

/// Whether what this writer did is in every snapshot in use or to come; then its own tombstones may have been purged.
fn is_seen_by_all(core: &Core, writer: TransactionId) -> bool {
    match core.time.state_of(writer) {
        State::Frozen => true,
        State::Committed(time) => time <= core.time.horizon(),
        State::Active | State::RolledBack(_) => false,
    }
}
