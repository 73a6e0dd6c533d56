//! Entries of an index in the order of their keys, however many: sorted in memory as far as that goes, then merged.
//!
//! ```text
//!   caller       push --> a run in memory --full--+                                       +--> shown in order
//!   a thread                                      +--> sorted, into a tree of its own     |
//!   a thread                                           trees --> merged, in batches ------+
//! ```
//!
//! A run that memory has no more room for becomes a tree, loaded leaf by leaf and read leaf by leaf: no other file, and the
//! pool keeps of it what fits. A thread does that while the next run is gathered, and another merges while the caller does
//! something with what has been merged.
//!
//! # Invariants
//! 1. Entries are shown in the order of their keys; those of one key one after the other, but for [`SortedRuns::twice`],
//!    which comes last.
//! 2. One thread is at work at the most, so there are two runs in memory; none is when trees are dropped.
//!
//! # When things fail
//! An error of the thread is that of the next call. The trees are dropped with the runs; a crash leaves trees that nobody
//! names.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::panic::resume_unwind;
use std::sync::mpsc::{self, SyncSender};
use std::thread::{self, JoinHandle};

use meseta_storage::{Cursor, Store, Tree};

use crate::error::{EngineError, Result};

/// Bytes of entries that are merged before they are handed on.
const BATCH_BYTES: usize = 64 << 10;
/// So many batches may wait.
const BATCHES: usize = 4;

/// Bytes of a key that lie beside its place: most comparisons end there.
const HEAD_LEN: usize = 16;

/// An entry in a run's memory. A key that is no longer than its head is nowhere else: a run of such, as most indexes have,
/// is sorted and shown without a look at what lies elsewhere.
#[derive(Clone, Copy)]
struct Place {
    head: [u8; HEAD_LEN],
    /// Where the rest lies: the key, if it is longer, and the payload.
    at: u32,
    key_len: u32,
    payload_len: u32,
}

impl Place {
    fn key<'r>(&'r self, bytes: &'r [u8]) -> &'r [u8] {
        let len = self.key_len as usize;
        self.head.get(..len).unwrap_or_else(|| &bytes[self.at as usize..][..len])
    }

    fn payload<'r>(&self, bytes: &'r [u8]) -> &'r [u8] {
        let key_len = if self.key_len as usize > HEAD_LEN { self.key_len } else { 0 };
        &bytes[(self.at + key_len) as usize..][..self.payload_len as usize]
    }
}

/// The beginning of a key.
fn head_of(key: &[u8]) -> [u8; HEAD_LEN] {
    let mut head = [0; HEAD_LEN];
    let len = key.len().min(HEAD_LEN);
    head[..len].copy_from_slice(&key[..len]);
    head
}

/// A head as a number that orders as keys do. Heads that are equal say nothing: a short key is filled with zeroes.
fn order_of(head: [u8; HEAD_LEN]) -> u128 {
    u128::from_be_bytes(head)
}

/// Entries in memory: less than 4 GiB of them.
#[derive(Default)]
struct Run {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

impl Run {
    fn push(&mut self, key: &[u8], payload: &[u8]) {
        self.places.push(Place {
            head: head_of(key),
            at: self.bytes.len() as u32,
            key_len: key.len() as u32,
            payload_len: payload.len() as u32,
        });
        if key.len() > HEAD_LEN {
            self.bytes.extend_from_slice(key);
        }
        self.bytes.extend_from_slice(payload);
    }

    fn len_in_memory(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<Place>()
    }

    fn sort(&mut self) {
        let Self { bytes, places } = self;
        places.sort_unstable_by(|one, other| {
            order_of(one.head).cmp(&order_of(other.head)).then_with(|| one.key(bytes).cmp(other.key(bytes)))
        });
    }

    fn entries(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.places.iter().map(|place| (place.key(&self.bytes), place.payload(&self.bytes)))
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }
}

/// A run that has become a tree: its memory, for the next one, and the entries whose key it had already.
struct Spilled {
    empty: Run,
    twice: Run,
}

/// Sorts a run and loads it into a tree, which has nothing yet.
fn spill(mut run: Run, tree: &Tree) -> Result<Spilled> {
    run.sort();
    let mut twice = Run::default();
    let mut last = None;
    tree.bulk_load(run.entries().filter(|&(key, payload)| {
        let is_new = last != Some(key);
        if !is_new {
            twice.push(key, payload);
        }
        last = Some(key);
        is_new
    }))?;
    run.clear();
    Ok(Spilled { empty: run, twice })
}

/// Entries that are to be sorted.
pub struct SortedRuns {
    store: Store,
    run: Run,
    /// Bytes of a run in memory.
    limit: usize,
    /// The last of the trees is being loaded.
    spilling: Option<JoinHandle<Result<Spilled>>>,
    trees: Vec<Tree>,
    /// Entries whose key the same run has already: a tree has each key once.
    twice: Run,
}

impl SortedRuns {
    /// None yet; `limit` is how many bytes of them are kept in memory.
    pub fn new(store: &Store, limit: usize) -> Self {
        let (run, twice) = Default::default();
        Self { store: store.clone(), run, limit: limit / 2, spilling: None, trees: Vec::new(), twice }
    }

    /// Adds an entry.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) -> Result<()> {
        self.run.push(key, payload);
        if self.run.len_in_memory() >= self.limit { self.spill() } else { Ok(()) }
    }

    /// Whether more entries have keys of others than are worth remembering.
    pub fn has_too_many_twice(&self) -> bool {
        self.twice.len_in_memory() >= self.limit
    }

    /// The run goes into a tree, and another begins.
    fn spill(&mut self) -> Result<()> {
        let empty = self.settle()?;
        let tree = self.store.create_tree()?;
        self.trees.push(tree.clone());
        let run = std::mem::replace(&mut self.run, empty);
        let sorter = thread::Builder::new().name("meseta-sorter".to_owned());
        self.spilling = Some(sorter.spawn(move || spill(run, &tree)).map_err(no_thread)?);
        Ok(())
    }

    /// Waits for the run that is on its way into a tree. Returns one without entries.
    fn settle(&mut self) -> Result<Run> {
        let Some(thread) = self.spilling.take() else { return Ok(Run::default()) };
        let spilled = thread.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        spilled.twice.entries().for_each(|(key, payload)| self.twice.push(key, payload));
        Ok(spilled.empty)
    }

    /// Shows all entries, in the order of their keys.
    pub fn for_each(mut self, mut show: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        if self.trees.is_empty() {
            self.run.sort();
            return self.run.entries().try_for_each(|(key, payload)| show(key, payload));
        }
        self.spill()?;
        self.settle()?;
        thread::scope(|scope| {
            let (merged, batches) = mpsc::sync_channel(BATCHES);
            let trees = &self.trees;
            let merger = thread::Builder::new().name("meseta-merger".to_owned());
            let merger = merger.spawn_scoped(scope, move || merge(trees, &merged)).map_err(no_thread)?;
            for batch in batches {
                batch.entries().try_for_each(|(key, payload)| show(key, payload))?;
            }
            merger.join().unwrap_or_else(|panic| resume_unwind(panic))
        })?;
        self.twice.entries().try_for_each(|(key, payload)| show(key, payload))
    }
}

/// Gives the entries of all trees in the order of their keys, until nobody wants more.
fn merge(trees: &[Tree], merged: &SyncSender<Run>) -> Result<()> {
    let mut cursors: Vec<Cursor<'_>> = trees.iter().map(Tree::cursor).collect();
    let mut next = BinaryHeap::new();
    for (number, cursor) in cursors.iter_mut().enumerate() {
        if cursor.seek_first()? {
            next.push(Reverse((order_of(head_of(cursor.key())), cursor.key().to_vec(), number)));
        }
    }
    let mut batch = Run::default();
    while let Some(mut first) = next.peek_mut() {
        let Reverse((head, key, number)) = &mut *first;
        let cursor = &mut cursors[*number];
        batch.push(key, cursor.value());
        if batch.len_in_memory() >= BATCH_BYTES && merged.send(std::mem::take(&mut batch)).is_err() {
            return Ok(());
        }
        if cursor.next()? {
            key.clear();
            key.extend_from_slice(cursor.key());
            *head = order_of(head_of(key));
        } else {
            PeekMut::pop(first);
        }
    }
    // If nobody wants it, he has an error of his own.
    let _ = merged.send(batch);
    Ok(())
}

fn no_thread(error: std::io::Error) -> EngineError {
    EngineError::NoThread { errno: error.raw_os_error().unwrap_or(0) }
}

impl Drop for SortedRuns {
    fn drop(&mut self) {
        if let Some(thread) = self.spilling.take() {
            // What it has to say is about a tree that goes.
            let _ = thread.join();
        }
        for tree in self.trees.drain(..) {
            // If the store has stopped, nobody names it: as after a crash.
            let _ = self.store.drop_tree(tree.id());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use meseta_sim::{SeededRandom, SimDisk};
    use meseta_storage::{Background, StoreOptions};

    use super::*;

    /// What `limit` bytes of memory make of these entries.
    fn sorted(limit: usize, entries: &[(Vec<u8>, Vec<u8>)]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let options = StoreOptions {
            memory_bytes: 4 << 20,
            log_bytes: 4 << 20,
            log_buffer_bytes: 256 << 10,
            background: Background::Inline,
            ..StoreOptions::default()
        };
        let store = Store::open_on(Arc::new(SimDisk::new(1)), options).unwrap();
        let trees = store.trees().len();
        let mut runs = SortedRuns::new(&store, limit);
        entries.iter().for_each(|(key, payload)| runs.push(key, payload).unwrap());
        let mut shown = Vec::new();
        runs.for_each(|key, payload| {
            shown.push((key.to_vec(), payload.to_vec()));
            Ok(())
        })
        .unwrap();
        assert_eq!(store.trees().len(), trees, "nothing is left");
        shown
    }

    #[test]
    fn they_come_in_order_however_little_memory_there_is() {
        let mut random = SeededRandom::new(1);
        let entries: Vec<(Vec<u8>, Vec<u8>)> = (0..5000_u32)
            .map(|number| {
                // Keys that are beginnings of others, and such as differ behind the sixteenth byte.
                let mut key = vec![random.below(3) as u8; random.below(20) as usize];
                key.extend_from_slice(&number.to_be_bytes());
                (key, number.to_le_bytes().to_vec())
            })
            .collect();
        let mut expected = entries.clone();
        expected.sort();
        for limit in [usize::MAX, 64 << 10, 9 << 10] {
            assert!(sorted(limit, &entries) == expected, "limit {limit}");
        }
    }

    #[test]
    fn entries_of_one_key_are_all_shown() {
        let entries: Vec<(Vec<u8>, Vec<u8>)> =
            (0..900_u32).map(|number| ((number % 7).to_be_bytes().to_vec(), number.to_le_bytes().to_vec())).collect();
        for limit in [usize::MAX, 4 << 10] {
            let mut shown = sorted(limit, &entries);
            assert_eq!(shown[0].0, [0, 0, 0, 0]);
            shown.sort();
            let mut expected = entries.clone();
            expected.sort();
            assert!(shown == expected, "limit {limit}");
        }
    }
}
