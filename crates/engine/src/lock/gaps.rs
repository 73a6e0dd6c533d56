//! What becomes of gap locks when a key appears in a gap or disappears from it.
//!
//! Above: whoever inserts an entry into a tree or removes one physically, with the leaf latched exclusively. Below:
//! `rows`. The lock table has no ordered view of keys, so it is told which key comes next.
//!
//! ```text
//!   before:      ... A <------------- gap of K -------------> K
//!   inserted N:  ... A <-- gap of N --> N <-- gap of K ------> K     whoever holds the gap of K holds that of N too
//!   removed N:   ... A <------------- gap of K -------------> K     whoever held N, or its gap, holds the gap of K
//! ```
//!
//! # Invariants
//! 1. What nobody could insert before because of somebody's gap, nobody can insert afterwards.
//! 2. Who waits for a key that is removed waits no longer, and is told so. Who waits for a gap to be free keeps its place;
//!    if that gap is split, what it waits for is the upper half.
//! 3. Who was favoured (`claim`) is so until it has inserted: then those who waited for that are served.
//!
//! # Sources
//! lock0lock.cc: `lock_update_insert`, `lock_update_delete`, `lock_rec_inherit_to_gap`. We differ: a READ COMMITTED owner
//! keeps, of a removed row, exactly the gaps that it asked for.

use std::sync::Arc;

use parking_lot::MutexGuard;
use smallvec::SmallVec;

use super::LockTable;
use super::claim::RowClaim;
use super::index::{IndexLocks, Key, Spot};
use super::owner::Owner;
use super::rows::Shard;
use super::seat::Ended;

type Heirs = SmallVec<[(Arc<Owner>, RowClaim); 4]>;

impl LockTable {
    /// `owner` has inserted `key`, and `successor` is the next key above it. On entry: the leaf is latched exclusively since
    /// before it asked whether it would have to wait.
    pub fn inserted(&self, owner: &Owner, index: &Arc<IndexLocks>, key: Key<'_>, successor: Key<'_>) {
        if index.has_no_gaps() {
            return;
        }
        let (from, to) = (self.spot(index, successor), self.spot(index, key));
        let mut shards = self.two_shards(from.hash, to.hash);
        index.split_in_spans(key, successor, |owner, gap| inherit(shards.of(to.hash), [(Arc::clone(owner), gap)], &to));
        let Some(row) = shards.of(from.hash).find(&from) else { return };
        let heirs: Heirs = row
            .queue
            .granted()
            .iter()
            .filter_map(|granted| Some((Arc::clone(&granted.owner), RowClaim::gap(granted.claim.gap?))))
            .collect();
        inherit(shards.of(to.hash), heirs, &to);
        // (The index has gaps: whoever is favoured had the gap, and so had others.)
        let shard = shards.of(from.hash);
        if let Some(row) = shard.find(&from)
            && row.queue.held_by(owner).is_some_and(|held| held.insertion.is_some())
        {
            row.queue.change(owner, RowClaim::having_inserted);
            shard.tidy(&from);
        }
    }

    /// `key` has been removed, not just flagged, and `successor` is the next key above it. On entry: the leaf is latched
    /// exclusively.
    pub fn removed(&self, index: &Arc<IndexLocks>, key: Key<'_>, successor: Key<'_>) {
        if index.is_quiet() {
            return;
        }
        let (from, to) = (self.spot(index, key), self.spot(index, successor));
        let mut shards = self.two_shards(from.hash, to.hash);
        index.removed_from_spans(key, successor, |owner, gap| {
            inherit(shards.of(to.hash), [(Arc::clone(owner), gap)], &to)
        });
        let Some(mut row) = shards.of(from.hash).take(&from) else { return };
        let heirs: Heirs = std::mem::take(&mut row.queue)
            .dissolve(Ended::KeyGone)
            .into_iter()
            .filter_map(|granted| {
                let of_row = granted.claim.record.filter(|_| granted.owner.keeps_gaps());
                let gap = granted.claim.gap.max(of_row)?;
                Some((granted.owner, RowClaim::gap(gap)))
            })
            .collect();
        inherit(shards.of(to.hash), heirs, &to);
        // Last: meanwhile nobody finds the index without gaps.
        row.uncount();
    }

    fn two_shards(&self, one: u64, other: u64) -> TwoShards<'_> {
        let (one, other) = (self.shard_no(one), self.shard_no(other));
        let low = self.shards[one.min(other)].lock();
        let high = (one != other).then(|| self.shards[one.max(other)].lock());
        TwoShards { table: self, low: (one.min(other), low), high }
    }
}

fn inherit(shard: &mut Shard, heirs: impl IntoIterator<Item = (Arc<Owner>, RowClaim)>, to: &Spot<'_>) {
    let mut heirs = heirs.into_iter().peekable();
    if heirs.peek().is_none() {
        return;
    }
    let row = shard.find_or_make(to);
    for (owner, claim) in heirs {
        // The owner's entry in the other queue, or its span, is, or was, seen under a mutex that is still held: `ledger`.
        row.grant(&owner, claim);
    }
    // One of them may stand in this line itself, and go before others with what it has now.
    row.queue.serve();
}

/// Two shards, or one twice, locked in ascending order.
struct TwoShards<'t> {
    table: &'t LockTable,
    low: (usize, MutexGuard<'t, Shard>),
    high: Option<MutexGuard<'t, Shard>>,
}

impl TwoShards<'_> {
    fn of(&mut self, hash: u64) -> &mut Shard {
        match &mut self.high {
            Some(high) if self.table.shard_no(hash) != self.low.0 => high,
            _ => &mut self.low.1,
        }
    }
}
