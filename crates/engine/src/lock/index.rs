//! An index as the lock table sees it: how many of its keys somebody cares about; and the name of one of them.
//!
//! Above: the engine keeps an [`IndexLocks`] with each open index; `rows` counts in it. Below: `sync`.
//!
//! ```text
//!   63          32 31           0
//!  +--------------+--------------+     with gaps: somebody holds a gap, or waits for one
//!  |  keys with   |  keys with   |     (once counted, a key counts until it has no entry at all)
//!  |    gaps      |   entries    |
//!  +--------------+--------------+
//! ```
//!
//! # Invariants
//! 1. The word is at least what is in the table (a span counts as a key; with gaps, as one with a gap): it is raised before an
//!    entry is there and lowered after the last one of its key has gone, under that key's shard's mutex.
//! 2. *Lock, then look*; *latch, then ask*. Whoever locks a row or a gap looks at the leaf afterwards (once more); whoever
//!    writes has the leaf's latch when it asks whether the index is quiet. Between the two steps of both is a sequentially
//!    consistent fence. So either the one who locks sees that the leaf is latched or has changed, or the writer sees
//!    that the index is not quiet. Looking under the leaf's shared latch, or locking under it, is enough, and so is an
//!    optimistic look.
//!
//! # Tests
//! The second is model-checked in `tests/loom_lock.rs`.

use std::hash::BuildHasher;
use std::sync::Arc;

use crossbeam_utils::CachePadded;
use smallvec::SmallVec;

use super::spans::Spans;
use super::sync::{AtomicU64, Ordering, fence};
use super::wait::{WaitCounter, WaitKind};
use crate::ids::{IndexId, TableId};

const ONE_ENTRY: u64 = 1;
const ONE_GAP: u64 = 1 << 32;

/// What the lock table has on one index.
pub struct IndexLocks {
    table: TableId,
    id: IndexId,
    /// On a line of its own: all writers of the index read it.
    word: CachePadded<AtomicU64>,
    pub(super) spans: Spans,
    waits: [WaitCounter; WaitKind::ALL.len()],
}

impl IndexLocks {
    /// Nothing is locked.
    pub fn new(table: TableId, id: IndexId) -> Arc<Self> {
        let waits = Default::default();
        let word = CachePadded::new(AtomicU64::new(0));
        Arc::new(Self { table, id, word, spans: Spans::default(), waits })
    }

    /// Which index.
    pub fn id(&self) -> IndexId {
        self.id
    }

    /// Of which table.
    pub fn table(&self) -> TableId {
        self.table
    }

    /// Whether nobody holds a lock in the table or waits for one, on any key. On entry: the leaf is latched.
    pub fn is_quiet(&self) -> bool {
        fence(Ordering::SeqCst);
        self.word.load(Ordering::Relaxed) == 0
    }

    /// Whether nobody holds a gap or waits for one. On entry: the leaf is latched.
    pub fn has_no_gaps(&self) -> bool {
        fence(Ordering::SeqCst);
        self.word.load(Ordering::Relaxed) < ONE_GAP
    }

    /// How many keys have entries, and how many spans there are.
    pub(super) fn entries(&self) -> u64 {
        self.word.load(Ordering::Relaxed) % ONE_GAP
    }

    /// A key gets its first entry.
    pub fn count_entry(&self) {
        self.word.fetch_add(ONE_ENTRY, Ordering::Relaxed);
    }

    /// A key with an entry gets its first gap.
    pub fn count_gap(&self) {
        self.word.fetch_add(ONE_GAP, Ordering::Relaxed);
    }

    /// A key's last entry has gone.
    pub fn uncount(&self, had_gap: bool) {
        let gone = if had_gap { ONE_ENTRY + ONE_GAP } else { ONE_ENTRY };
        let before = self.word.fetch_sub(gone, Ordering::Relaxed);
        debug_assert!(before >= gone, "every key was counted");
    }

    /// The second half of "lock, then look": after this, look, at the leaf or for spans.
    pub fn locked(&self) {
        fence(Ordering::SeqCst);
    }

    pub(super) fn waits(&self, kind: WaitKind) -> &WaitCounter {
        &self.waits[kind as usize]
    }

    /// How often and how long somebody waited for a lock of this index.
    pub fn wait_figures(&self) -> Vec<super::wait::WaitFigures> {
        super::wait::figures(&self.waits)
    }
}

/// A key of an index, or its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Key<'k> {
    /// A key as the tree compares it.
    Row(&'k [u8]),
    /// The end of the index, above all keys. There is a gap below it, and no row.
    Supremum,
}

/// A key on its way to its shard.
#[derive(Clone, Copy)]
pub(super) struct Spot<'k> {
    pub index: &'k Arc<IndexLocks>,
    pub key: Key<'k>,
    pub hash: u64,
}

impl<'k> Spot<'k> {
    pub fn new(hasher: &impl BuildHasher, index: &'k Arc<IndexLocks>, key: Key<'k>) -> Self {
        Self { index, key, hash: hasher.hash_one((index.id, key)) }
    }
}

/// The name of a key with entries, shared by its queue and by those who have to find it again.
pub struct Place {
    /// Of this index.
    pub index: Arc<IndexLocks>,
    /// None is the end.
    pub key: Option<SmallVec<[u8; 16]>>,
    hash: u64,
}

impl Place {
    pub(super) fn new(spot: &Spot<'_>) -> Arc<Self> {
        let key = match spot.key {
            Key::Row(bytes) => Some(SmallVec::from_slice(bytes)),
            Key::Supremum => None,
        };
        Arc::new(Self { index: Arc::clone(spot.index), key, hash: spot.hash })
    }

    pub(super) fn spot(&self) -> Spot<'_> {
        let key = self.key.as_deref().map_or(Key::Supremum, Key::Row);
        Spot { index: &self.index, key, hash: self.hash }
    }

    pub(super) fn is(&self, spot: &Spot<'_>) -> bool {
        self.hash == spot.hash && self.index.id == spot.index.id && self.spot().key == spot.key
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_quiet_until_a_key_is_counted_and_after_it_is_not() {
        let index = IndexLocks::new(TableId(1), IndexId(2));
        assert!(index.is_quiet() && index.has_no_gaps());
        index.count_entry();
        assert!(!index.is_quiet() && index.has_no_gaps());
        index.count_gap();
        assert!(!index.is_quiet() && !index.has_no_gaps());
        index.uncount(true);
        assert!(index.is_quiet() && index.has_no_gaps());
    }
}
