//! Entries of an index in the order of their keys, however many: sorted in memory as far as that goes, then merged.
//!
//! ```text
//!   push --> a run in memory --full--> sorted, into a tree of its own
//!                  |                         |
//!                  +-----> merged <----------+        shown in order
//! ```
//!
//! A run that memory has no more room for becomes a tree, loaded leaf by leaf and read leaf by leaf: no other file, and the
//! pool keeps of it what fits.
//!
//! # Invariants
//! 1. Entries are shown in the order of their keys; those of one key one after the other, but for [`SortedRuns::twice`],
//!    which comes last.
//!
//! # When things fail
//! The trees are dropped with the runs; a crash leaves trees that nobody names.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use meseta_storage::{Cursor, Store, Tree};

use crate::error::Result;

/// An entry in a run's memory: its key, then its payload.
#[derive(Clone, Copy)]
struct Place {
    head: u128,
    at: u32,
    key_len: u32,
    payload_len: u32,
}

impl Place {
    fn key(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.at as usize..][..self.key_len as usize]
    }

    fn payload(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.at as usize + self.key_len as usize..][..self.payload_len as usize]
    }
}

/// The first sixteen bytes of a key as a number that orders as they do: most comparisons end there. (Heads that are equal
/// say nothing: a short key is filled with zeroes.)
fn head_of(key: &[u8]) -> u128 {
    let mut head = [0; 16];
    let len = key.len().min(16);
    head[..len].copy_from_slice(&key[..len]);
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
        let place = Place {
            head: head_of(key),
            at: self.bytes.len() as u32,
            key_len: key.len() as u32,
            payload_len: payload.len() as u32,
        };
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(payload);
        self.places.push(place);
    }

    fn len_in_memory(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<Place>()
    }

    fn sort(&mut self) {
        let Self { bytes, places } = self;
        places.sort_unstable_by(|one, other| {
            one.head.cmp(&other.head).then_with(|| one.key(bytes).cmp(other.key(bytes)))
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

/// Entries that are to be sorted.
pub struct SortedRuns {
    store: Store,
    run: Run,
    /// Bytes of a run in memory.
    limit: usize,
    trees: Vec<Tree>,
    /// Entries whose key the same run has already: a tree has each key once.
    twice: Run,
}

impl SortedRuns {
    /// None yet; `limit` is how many bytes of them are kept in memory.
    pub fn new(store: &Store, limit: usize) -> Self {
        Self { store: store.clone(), run: Run::default(), limit, trees: Vec::new(), twice: Run::default() }
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

    /// The run goes into a tree.
    fn spill(&mut self) -> Result<()> {
        self.run.sort();
        let tree = self.store.create_tree()?;
        self.trees.push(tree.clone());
        let (run, twice) = (&self.run, &mut self.twice);
        let mut last = None;
        tree.bulk_load(run.entries().filter(|&(key, payload)| {
            let is_new = last != Some(key);
            if !is_new {
                twice.push(key, payload);
            }
            last = Some(key);
            is_new
        }))?;
        self.run.clear();
        Ok(())
    }

    /// Shows all entries, in the order of their keys.
    pub fn for_each(mut self, mut show: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        if self.trees.is_empty() {
            self.run.sort();
            return self.run.entries().try_for_each(|(key, payload)| show(key, payload));
        }
        self.spill()?;
        let mut cursors: Vec<Cursor> = self.trees.iter().map(Tree::cursor).collect();
        let mut first = BinaryHeap::new();
        for (number, cursor) in cursors.iter_mut().enumerate() {
            if cursor.seek_first()? {
                first.push(Reverse((head_of(cursor.key()), cursor.key().to_vec(), number)));
            }
        }
        while let Some(Reverse((_, mut key, number))) = first.pop() {
            let cursor = &mut cursors[number];
            show(&key, cursor.value())?;
            if cursor.next()? {
                key.clear();
                key.extend_from_slice(cursor.key());
                first.push(Reverse((head_of(&key), key, number)));
            }
        }
        self.twice.entries().try_for_each(|(key, payload)| show(key, payload))
    }
}

impl Drop for SortedRuns {
    fn drop(&mut self) {
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
