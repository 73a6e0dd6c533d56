//! Purge: what nobody can see any more goes.
//!
//! ```text
//!   slot's queue:   17, time 40   21, time 44   30, time 61        horizon 50
//!                   \________________________/
//!                    every snapshot sees these: tombstones go, then the records
//! ```
//!
//! Above: whoever commits takes a few from its slot's queue, so that writers never produce faster than they clean; and a
//! thread of the engine's own takes what is left. What a snapshot keeps in the queue for long is thinned (`thin`), and what
//! is left of it then is *kept* beside the queue until the snapshot goes. Below: `undo`, and the trees.
//!
//! # Invariants
//! 1. A transaction is purged when its commit is at or below the horizon: no snapshot needs what was before it.
//! 2. A tombstone goes only if it is that transaction's own: its header still names the record.
//! 3. One purger at a time works on a queue; records go from the first to the last (`undo`, invariant 4).
//! 4. A key that goes leaves its locks to the key that follows, under the leaf's latch.
//!
//! # When things fail
//! The transaction stays at the head of its queue, and is tried again.

use std::collections::{BTreeMap, VecDeque};

use crossbeam_utils::CachePadded;
use meseta_storage::Change;
use parking_lot::Mutex;

use crate::error::Result;
use crate::ids::{CommitTime, SlotNo, TransactionId};
use crate::index::{Index, Indexes};
use crate::lock::{Key, LockTable};
use crate::row::VersionHeader;
use crate::undo::{Slots, UndoError, read_record};

/// A transaction whose undo records are still there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Which.
    pub transaction: TransactionId,
    /// When it committed; 0 if that was before the engine's start.
    pub time: CommitTime,
    /// The highest number of its records.
    pub last: u64,
}

/// Committed transactions, in a queue for each slot.
pub struct Purge {
    queues: Box<[CachePadded<Queue>]>,
}

/// A transaction that has been thinned.
#[derive(Clone, Copy)]
struct Kept {
    ended: Ended,
    /// Records that are left.
    records: u64,
}

#[derive(Default)]
struct Queue {
    /// The oldest first.
    ended: Mutex<VecDeque<Ended>>,
    /// What thinning has left.
    kept: Mutex<BTreeMap<TransactionId, Kept>>,
    /// Held by whoever purges; nobody waits for it.
    purging: Mutex<()>,
}

impl Purge {
    /// Nothing to purge.
    pub fn new(slots: u16) -> Self {
        Self { queues: (0..slots).map(|_| CachePadded::default()).collect() }
    }

    /// A transaction has committed.
    pub fn add(&self, slot: SlotNo, ended: Ended) {
        self.queues[usize::from(slot.0)].ended.lock().push_back(ended);
    }

    /// How many transactions wait.
    pub fn waiting(&self) -> usize {
        self.queues.iter().map(|queue| queue.ended.lock().len() + queue.kept.lock().len()).sum()
    }

    /// The oldest of a slot's queue, if so many wait there.
    pub fn oldest_of(&self, slot: SlotNo, many: usize) -> Option<Ended> {
        let ended = self.queues[usize::from(slot.0)].ended.lock();
        if ended.len() < many { None } else { ended.front().copied() }
    }

    /// Takes the oldest of a slot's queue, if it is still this one, and does not let others purge there meanwhile: `thin` says
    /// how many of its records are left. False if others are purging there, or have taken it.
    pub fn thin_oldest(&self, slot: SlotNo, oldest: &Ended, thin: impl FnOnce() -> Result<u64>) -> Result<bool> {
        let queue = &self.queues[usize::from(slot.0)];
        let Some(_purging) = queue.purging.try_lock() else { return Ok(false) };
        if queue.ended.lock().front() != Some(oldest) {
            return Ok(false);
        }
        let records = thin()?;
        queue.ended.lock().pop_front();
        if records > 0 {
            queue.kept.lock().insert(oldest.transaction, Kept { ended: *oldest, records });
        }
        Ok(true)
    }

    /// Thinning has taken a record of a transaction's.
    pub fn one_record_less(&self, slot: SlotNo, id: TransactionId) {
        let mut kept = self.queues[usize::from(slot.0)].kept.lock();
        if let Some(transaction) = kept.get_mut(&id) {
            transaction.records -= 1;
            if transaction.records == 0 {
                kept.remove(&id);
            }
        }
    }

    /// Purges what was kept of transactions at or below the horizon. Returns how many.
    pub fn purge_kept(
        &self,
        slot: SlotNo,
        horizon: CommitTime,
        undo: &Slots,
        indexes: &Indexes,
        locks: &LockTable,
    ) -> Result<usize> {
        let queue = &self.queues[usize::from(slot.0)];
        let behind: Vec<Ended> = {
            let kept = queue.kept.lock();
            kept.values().map(|kept| kept.ended).filter(|ended| ended.time <= horizon).collect()
        };
        let mut record = Vec::new();
        for ended in &behind {
            purge_transaction(slot, ended, undo, indexes, locks, &mut record)?;
            queue.kept.lock().remove(&ended.transaction);
        }
        Ok(behind.len())
    }

    /// Purges at most so many transactions of a slot. Returns how many; none if somebody else is at it.
    pub fn purge(
        &self,
        slot: SlotNo,
        most: usize,
        horizon: CommitTime,
        undo: &Slots,
        indexes: &Indexes,
        locks: &LockTable,
    ) -> Result<usize> {
        let queue = &self.queues[usize::from(slot.0)];
        let Some(_purging) = queue.purging.try_lock() else { return Ok(0) };
        let (mut purged, mut record) = (0, Vec::new());
        while purged < most {
            let oldest = queue.ended.lock().front().copied();
            let Some(ended) = oldest.filter(|ended| ended.time <= horizon) else { break };
            purge_transaction(slot, &ended, undo, indexes, locks, &mut record)?;
            queue.ended.lock().pop_front();
            purged += 1;
        }
        Ok(purged)
    }
}

/// Purges a transaction's records, from the first to the last.
fn purge_transaction(
    slot: SlotNo,
    ended: &Ended,
    undo: &Slots,
    indexes: &Indexes,
    locks: &LockTable,
    record: &mut Vec<u8>,
) -> Result<()> {
    (0..=ended.last).try_for_each(|number| purge_record(slot, ended.transaction, number, undo, indexes, locks, record))
}

/// Removes a record's tombstones, then the record.
fn purge_record(
    slot: SlotNo,
    id: TransactionId,
    number: u64,
    undo: &Slots,
    indexes: &Indexes,
    locks: &LockTable,
    record: &mut Vec<u8>,
) -> Result<()> {
    if !undo.read(slot, id, number, record)? {
        return Ok(());
    }
    let corrupt = |problem| UndoError::Corrupt { slot, transaction: id, number, problem };
    for change in read_record(record).map_err(corrupt)?.1 {
        let change = change.map_err(corrupt)?;
        if change.deletes
            && let Some(index) = indexes.get(change.index)
        {
            remove_entry(&index, change.key, locks, |header| {
                header.deleted && (header.writer, header.number) == (id, number)
            })?;
        }
    }
    Ok(undo.remove(slot, id, number)?)
}

/// Removes an entry if its header is as wanted, and hands its locks on.
pub fn remove_entry(
    index: &Index,
    key: &[u8],
    locks: &LockTable,
    is_wanted: impl Fn(VersionHeader) -> bool,
) -> Result<()> {
    let mut damaged = None;
    let mut decide = |value: Option<&[u8]>| {
        let Some(value) = value else { return Change::Keep };
        match VersionHeader::split_off(value) {
            Ok((header, _)) if is_wanted(header) => Change::Remove,
            Ok(_) => Change::Keep,
            Err(problem) => {
                damaged = Some(index.damaged(problem));
                Change::Keep
            }
        }
    };
    // Most indexes have no locks at all, and then the next key need not be looked for.
    let mut has_locks = false;
    index.tree.modify(key, &[], |value| {
        has_locks = !index.locks.is_quiet();
        Ok(if has_locks { Change::Keep } else { decide(value) })
    })?;
    if has_locks {
        index.tree.modify_beside(key, &[], |value, successor| {
            let change = decide(value);
            if matches!(change, Change::Remove) {
                locks.removed(&index.locks, Key::Row(key), successor.map_or(Key::Supremum, Key::Row));
            }
            Ok(change)
        })?;
    }
    damaged.map_or(Ok(()), Err)
}
