//! Purge: what nobody can see any more goes.
//!
//! ```text
//!   slot's queue:   17, time 40   21, time 44   30, time 61        horizon 50
//!                   \________________________/
//!                    every snapshot sees these: tombstones go, then the records
//! ```
//!
//! Above: whoever commits takes a few from its slot's queue, so that writers never produce faster than they clean; and a
//! thread of the engine's own takes what is left. What a snapshot keeps in the queue for long is thinned (`thin`), by both as
//! well, and what is left of it then is *kept* beside the queue until the snapshot goes. Below: `undo`, and the trees.
//!
//! # Invariants
//! 1. A transaction is purged when its commit is at or below the horizon: no snapshot needs what was before it.
//! 2. A tombstone goes only if it is that transaction's own: its header still names the record.
//! 3. One thread at a time purges or thins a queue; records go from the first to the last (`undo`, invariant 4).
//! 4. A key that goes leaves its locks to the key that follows, under the leaf's latch.
//!
//! # When things fail
//! The transaction stays at the head of its queue, and is tried again.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

use crossbeam_utils::CachePadded;
use meseta_storage::Change;
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;

use crate::error::Result;
use crate::ids::{CommitTime, IndexId, SlotNo, TransactionId};
use crate::index::{Index, Indexes};
use crate::known_hash::KnownMap;
use crate::lock::{Key, LockTable};
use crate::row::{Corrupt, VersionHeader};
use crate::time::InUse;
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
    /// Held while the versions of an entry are thinned; nobody waits for it.
    entries: Box<[Mutex<()>]>,
}

/// A transaction that has been thinned.
#[derive(Clone, Copy)]
struct Kept {
    ended: Ended,
    /// Records that are left.
    records: u64,
}

/// Transactions that have been thinned.
#[derive(Default)]
struct KeptList {
    transactions: KnownMap<TransactionId, Kept>,
    /// How many were left when they were last thinned again.
    left: usize,
    /// An old snapshot has gone since, and another has not.
    is_stale: bool,
}

#[derive(Default)]
struct Queue {
    /// The oldest first.
    ended: Mutex<VecDeque<Ended>>,
    /// What thinning has left.
    kept: Mutex<KeptList>,
    /// Held by whoever purges or thins; nobody who commits waits for it. What it guards is there while old snapshots are in use: which
    /// snapshots there are, as was last looked.
    working: Mutex<Option<InUse>>,
}

/// So many of a slot's transactions wait before a commit purges them, and at most so many go in one step.
const PURGED_TOGETHER: usize = 16;

/// So many of a slot's transactions wait to be purged before it is worth thinning them.
const THINNED_ABOVE: usize = 64;

/// So many of a slot's thinned transactions are kept before they are thinned again; then twice as many as were left.
const KEPT_AT_FIRST: usize = 512;

/// So many entries are looked at again before their records go, and are tried again if something fails meanwhile.
const TOMBSTONES_AT_ONCE: usize = 256;

/// Stripes of the locks, of a byte each, that are held while an entry's versions are thinned. So many that one is rarely
/// met: with more threads than cores whoever holds it may not be running, and others of its slot wait for him to.
const ENTRY_STRIPES: usize = 1 << 16;

impl Purge {
    /// Nothing to purge.
    pub fn new(slots: u16) -> Self {
        Self {
            queues: (0..slots).map(|_| CachePadded::default()).collect(),
            entries: (0..ENTRY_STRIPES).map(|_| Mutex::default()).collect(),
        }
    }

    /// A transaction has committed.
    pub fn add(&self, slot: SlotNo, ended: Ended) {
        self.queues[usize::from(slot.0)].ended.lock().push_back(ended);
    }

    /// How many transactions wait.
    pub fn waiting(&self) -> usize {
        self.queues.iter().map(|queue| queue.ended.lock().len() + queue.kept.lock().transactions.len()).sum()
    }

    /// Whether so many of a slot's transactions wait that it is worth purging them: records that lie side by side go in one step.
    pub fn is_due(&self, slot: SlotNo) -> bool {
        self.queues[usize::from(slot.0)].ended.lock().len() >= PURGED_TOGETHER
    }

    /// Whether in some slot so many wait that it is worth thinning them.
    pub fn is_long(&self) -> bool {
        self.queues.iter().any(|queue| queue.ended.lock().len() >= THINNED_ABOVE)
    }

    /// From now on what waits in this slot is thinned with regard to these snapshots, or not any more. Left as it is if
    /// others work on the slot.
    pub fn set_in_use(&self, slot: SlotNo, in_use: Option<InUse>) {
        let queue = &self.queues[usize::from(slot.0)];
        let Some(mut working) = queue.working.try_lock() else { return };
        if let (Some(before), Some(now)) = (&*working, &in_use)
            && before.listed.iter().any(|snapshot| now.listed.binary_search(snapshot).is_err())
        {
            queue.kept.lock().is_stale = true;
        }
        *working = in_use;
    }

    /// Thins at most so many transactions of a slot, the oldest first, of those that cannot be purged. `thin` says how many of
    /// a transaction's records are left, or that somebody else is thinning one of its entries. Returns how many; none if
    /// somebody else is working on the slot.
    pub fn thin(
        &self,
        slot: SlotNo,
        most: usize,
        horizon: CommitTime,
        mut thin: impl FnMut(&Ended, &InUse) -> Result<Option<u64>>,
    ) -> Result<usize> {
        let queue = &self.queues[usize::from(slot.0)];
        let Some(working) = queue.working.try_lock() else { return Ok(0) };
        let Some(in_use) = &*working else { return Ok(0) };
        let oldest = || {
            let ended = queue.ended.lock();
            ended
                .front()
                .copied()
                .filter(|oldest| ended.len() >= THINNED_ABOVE && oldest.time > horizon && oldest.time <= in_use.below)
        };
        for thinned in 0..most {
            let Some(oldest) = oldest() else { return Ok(thinned) };
            let Some(records) = thin(&oldest, in_use)? else { return Ok(thinned) };
            queue.ended.lock().pop_front();
            if records > 0 {
                queue.kept.lock().transactions.insert(oldest.transaction, Kept { ended: oldest, records });
            }
        }
        Ok(most)
    }

    /// Thins what a slot keeps once more, if that has become much and a snapshot has gone for which some of it may have been
    /// kept, while an older one has not. `thin` is as for [`Purge::thin`].
    pub fn thin_again(
        &self,
        slot: SlotNo,
        mut thin: impl FnMut(&Ended, &InUse) -> Result<Option<u64>>,
    ) -> Result<usize> {
        let queue = &self.queues[usize::from(slot.0)];
        let all: Vec<Ended> = {
            let mut kept = queue.kept.lock();
            if !kept.is_stale || kept.transactions.len() < KEPT_AT_FIRST.max(2 * kept.left) {
                return Ok(0);
            }
            kept.is_stale = false;
            kept.transactions.values().map(|kept| kept.ended).collect()
        };
        for ended in &all {
            // For an instant each: those who commit purge and thin in between.
            let working = queue.working.lock();
            let Some(in_use) = &*working else { break };
            if ended.time <= in_use.below
                && let Some(records) = thin(ended, in_use)?
                && let Entry::Occupied(mut kept) = queue.kept.lock().transactions.entry(ended.transaction)
            {
                kept.get_mut().records = records;
                if records == 0 {
                    kept.remove();
                }
            }
        }
        let mut kept = queue.kept.lock();
        kept.left = kept.transactions.len();
        Ok(all.len())
    }

    /// The right to thin the versions of these entries, unless somebody else has that of one of them, or of another entry of the
    /// same stripe.
    pub fn try_lock_entries<'k>(
        &self,
        entries: impl Iterator<Item = (IndexId, &'k [u8])>,
    ) -> Option<SmallVec<[MutexGuard<'_, ()>; 4]>> {
        let mut stripes: SmallVec<[usize; 4]> = entries
            .map(|(index, key)| {
                let mut hasher = DefaultHasher::new();
                (index.0, key).hash(&mut hasher);
                hasher.finish() as usize % ENTRY_STRIPES
            })
            .collect();
        stripes.sort_unstable();
        stripes.dedup();
        stripes.into_iter().map(|stripe| self.entries[stripe].try_lock()).collect()
    }

    /// Thinning has taken a record of a transaction's.
    pub fn one_record_less(&self, slot: SlotNo, id: TransactionId) {
        let mut kept = self.queues[usize::from(slot.0)].kept.lock();
        if let Some(transaction) = kept.transactions.get_mut(&id) {
            transaction.records -= 1;
            if transaction.records == 0 {
                kept.transactions.remove(&id);
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
        let mut behind: Vec<Ended> = {
            let kept = queue.kept.lock();
            kept.transactions.values().map(|kept| kept.ended).filter(|ended| ended.time <= horizon).collect()
        };
        // In the order of their records.
        behind.sort_unstable_by_key(|ended| ended.transaction);
        let mut stretch = Stretch::default();
        for ended in &behind {
            purge_records(slot, std::slice::from_ref(ended), undo, indexes, locks, &mut stretch)?;
            queue.kept.lock().transactions.remove(&ended.transaction);
        }
        Ok(behind.len())
    }

    /// Purges transactions of a slot until so many records have gone. Returns how many transactions; none if somebody else is
    /// at it.
    pub fn purge(
        &self,
        slot: SlotNo,
        records: usize,
        horizon: CommitTime,
        undo: &Slots,
        indexes: &Indexes,
        locks: &LockTable,
    ) -> Result<usize> {
        let queue = &self.queues[usize::from(slot.0)];
        let Some(_working) = queue.working.try_lock() else { return Ok(0) };
        let (mut purged, mut gone, mut stretch) = (0, 0, Stretch::default());
        while gone < records {
            let oldest = queue.oldest(horizon);
            if oldest.is_empty() {
                break;
            }
            purge_records(slot, &oldest, undo, indexes, locks, &mut stretch)?;
            queue.ended.lock().drain(..oldest.len());
            purged += oldest.len();
            gone += oldest.iter().map(|ended| ended.last as usize + 1).sum::<usize>();
        }
        Ok(purged)
    }
}

impl Queue {
    /// The oldest transactions that can be purged together: at or below the horizon, and in the order of their ids, which is
    /// that of their records.
    fn oldest(&self, horizon: CommitTime) -> SmallVec<[Ended; PURGED_TOGETHER]> {
        let mut oldest: SmallVec<[Ended; PURGED_TOGETHER]> = SmallVec::new();
        for ended in self.ended.lock().iter().take(PURGED_TOGETHER) {
            if ended.time > horizon || oldest.last().is_some_and(|last| last.transaction > ended.transaction) {
                break;
            }
            oldest.push(*ended);
        }
        oldest
    }
}

/// What is to be done for a stretch of records before they go.
#[derive(Default)]
struct Stretch {
    /// Entries that those records left as tombstones: the record, the index, and where the key ends in `keys`.
    tombstones: Vec<((TransactionId, u64), IndexId, usize)>,
    keys: Vec<u8>,
}

impl Stretch {
    /// Notes what a record asks for.
    fn add(&mut self, id: TransactionId, number: u64, record: &[u8]) -> std::result::Result<(), Corrupt> {
        for change in read_record(record)?.1 {
            let change = change?;
            if change.deletes {
                self.keys.extend_from_slice(change.key);
                self.tombstones.push(((id, number), change.index, self.keys.len()));
            }
        }
        Ok(())
    }
}

/// Purges the records of transactions, which are in the order of their ids, from the first to the last, a stretch of them at
/// a time: their tombstones, then they. Records of others may lie between theirs.
fn purge_records(
    slot: SlotNo,
    all: &[Ended],
    undo: &Slots,
    indexes: &Indexes,
    locks: &LockTable,
    stretch: &mut Stretch,
) -> Result<()> {
    let (Some(first), Some(last)) = (all.first(), all.last()) else { return Ok(()) };
    let is_theirs = |id: TransactionId, number: u64| {
        let found = all.binary_search_by_key(&id, |ended| ended.transaction);
        found.is_ok_and(|at| number <= all[at].last)
    };
    let behind = (last.transaction, last.last + 1);
    let mut from = (first.transaction, 0);
    while from < behind {
        stretch.tombstones.clear();
        stretch.keys.clear();
        let (mut end, mut damaged) = (behind, None);
        undo.scan(slot, from, |id, number, record| {
            if (id, number) >= behind {
                return false;
            }
            if !is_theirs(id, number) {
                return true;
            }
            if let Err(problem) = stretch.add(id, number, record) {
                damaged = Some(UndoError::Corrupt { slot, transaction: id, number, problem });
                return false;
            }
            if stretch.tombstones.len() < TOMBSTONES_AT_ONCE {
                return true;
            }
            end = (id, number + 1);
            false
        })?;
        if let Some(damaged) = damaged {
            return Err(damaged.into());
        }
        let mut key_start = 0;
        for &(record, index, key_end) in &stretch.tombstones {
            if let Some(index) = indexes.get(index) {
                let is_own = |header: VersionHeader| header.deleted && (header.writer, header.number) == record;
                remove_entry(&index, &stretch.keys[key_start..key_end], locks, is_own)?;
            }
            key_start = key_end;
        }
        undo.remove_range(slot, from..end, is_theirs)?;
        from = end;
    }
    Ok(())
}

/// Removes an entry if its header is as wanted, and hands its locks on. Returns whether it did.
pub fn remove_entry(
    index: &Index,
    key: &[u8],
    locks: &LockTable,
    is_wanted: impl Fn(VersionHeader) -> bool,
) -> Result<bool> {
    let mut damaged = None;
    let mut removed = false;
    let mut decide = |value: Option<&[u8]>| {
        removed = false;
        let Some(value) = value else { return Change::Keep };
        match VersionHeader::split_off(value) {
            Ok((header, _)) if is_wanted(header) => {
                removed = true;
                Change::Remove
            }
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
    damaged.map_or(Ok(removed), Err)
}
