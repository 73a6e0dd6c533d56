//! Copies of many entries of a node, as they lie in its heap.
//!
//! ```text
//!   the node's heap    ...| entry 7 | entry 6 | entry 5 | entry 4 | entry 3 |...      (filled downwards)
//!                                   \_________ one piece __________/
//!   copied             bytes:       | entry 6 | entry 5 | entry 4 |
//!                      places:      4, 5, 6: where each is in the bytes
//! ```
//!
//! Entries whose keys follow each other lie beside each other where rows came in the order of their keys, and in any order where
//! they did not. The first are copied in one piece; the others one by one, each asked for some time before. Bytes in between are
//! copied with a piece, if they are not more than the entries themselves.
//!
//! # Invariants
//! 1. Copying is safe on bytes that a writer is changing. What was copied is looked at only once the node is known not to have
//!    changed meanwhile; then each place is that of a whole entry.

use std::ops::Range;

use super::{Node, OVERFLOW_FLAG, VALUE_HEADER_LEN};

/// So many entries are on their way to the processor's caches while one is copied.
const PREFETCH_DISTANCE: usize = 8;

/// Where an entry is: in its node, and then in what was copied.
#[derive(Clone, Copy)]
struct Place {
    at: u32,
    suffix_len: u16,
    /// Its value's header, once it has been copied.
    value_header: u16,
}

impl Place {
    const LOWEST: Place = Place { at: 0, suffix_len: 0, value_header: 0 };
    const HIGHEST: Place = Place { at: u32::MAX, suffix_len: 0, value_header: 0 };

    /// The bytes of the entry there in its node, its value's header among them.
    #[inline(always)]
    fn len(self, node: Node<'_>) -> usize {
        let header = node.0.u16(self.at as usize);
        VALUE_HEADER_LEN + usize::from(self.suffix_len) + usize::from(header & !OVERFLOW_FLAG)
    }

    /// Where its key's suffix is in what was copied.
    #[inline(always)]
    fn suffix(self) -> Range<usize> {
        let start = self.at as usize + VALUE_HEADER_LEN;
        start..start + usize::from(self.suffix_len)
    }
}

/// Entries that were copied. The memory is kept from one copying to the next.
#[derive(Default)]
pub struct EntryCopies {
    prefix: Vec<u8>,
    bytes: Vec<u8>,
    places: Vec<Place>,
    /// Whole keys of some of the entries, one behind the other, and where each ends.
    keys: Vec<u8>,
    key_ends: Vec<u32>,
}

impl EntryCopies {
    /// No entries.
    pub fn clear(&mut self) {
        self.places.clear();
    }

    /// How many there are.
    #[inline(always)]
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Copies entries in place of those that were there; from the last to the first, if they are to be `reversed`.
    pub fn copy(&mut self, node: Node<'_>, range: Range<usize>, reversed: bool) {
        self.prefix.clear();
        self.bytes.clear();
        self.places.clear();
        node.append_prefix(&mut self.prefix);
        self.places.extend(range.map(|index| {
            let slot = node.slot(index);
            Place { at: slot.offset as u32, suffix_len: slot.suffix_len as u16, value_header: 0 }
        }));
        let (lowest, highest) =
            self.places.iter().fold((Place::HIGHEST, Place::LOWEST), |(lowest, highest), &place| {
                (
                    if place.at < lowest.at { place } else { lowest },
                    if place.at >= highest.at { place } else { highest },
                )
            });
        let len = node.mean_entry_len();
        // (Of no entries the lowest is above the highest.)
        if (highest.at.saturating_sub(lowest.at) as usize) < 2 * len * self.places.len().max(1) {
            self.copy_piece(node, lowest, highest);
        } else {
            self.copy_each(node, len);
        }
        for place in &mut self.places {
            // (All are there, unless the node has been changing: invariant 1.)
            let at = place.at as usize;
            let header = self.bytes.get(at..at + VALUE_HEADER_LEN);
            place.value_header = header.map_or(0, |header| u16::from_le_bytes([header[0], header[1]]));
        }
        if reversed {
            self.places.reverse();
        }
    }

    /// Copies all from the first byte of the lowest entry to the last one of the highest.
    fn copy_piece(&mut self, node: Node<'_>, lowest: Place, highest: Place) {
        let len = highest.at.saturating_sub(lowest.at) as usize + highest.len(node);
        if !self.places.is_empty() {
            node.0.append_to(lowest.at as usize, len, &mut self.bytes);
        }
        self.places.iter_mut().for_each(|place| place.at -= lowest.at);
    }

    fn copy_each(&mut self, node: Node<'_>, mean_len: usize) {
        for index in 0..self.places.len() {
            if let Some(ahead) = self.places.get(index + PREFETCH_DISTANCE) {
                node.prefetch(ahead.at as usize, mean_len);
            }
            let place = &mut self.places[index];
            let (from, len) = (place.at as usize, place.len(node));
            place.at = self.bytes.len() as u32;
            node.0.append_to(from, len, &mut self.bytes);
        }
    }

    /// Replaces `key` by an entry's whole key.
    #[inline]
    pub fn key_into(&self, index: usize, key: &mut Vec<u8>) {
        key.clear();
        key.extend_from_slice(&self.prefix);
        key.extend_from_slice(&self.bytes[self.places[index].suffix()]);
    }

    /// Puts the keys of all entries from this one on together, so that they are there at the same time.
    pub fn gather_keys(&mut self, from: usize) {
        self.keys.clear();
        self.key_ends.clear();
        for place in &self.places[from..] {
            self.keys.extend_from_slice(&self.prefix);
            self.keys.extend_from_slice(&self.bytes[place.suffix()]);
            self.key_ends.push(self.keys.len() as u32);
        }
    }

    /// One of the keys that were put together, counted from the first of them.
    #[inline(always)]
    pub fn gathered_key(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).map_or(0, |before| self.key_ends[before] as usize);
        &self.keys[start..self.key_ends[number] as usize]
    }

    /// Where an entry's value is, for [`EntryCopies::bytes`]; and whether that is no more than what says where the value is kept.
    #[inline]
    pub fn value_at(&self, index: usize) -> (Range<usize>, bool) {
        let place = self.places[index];
        let start = place.suffix().end;
        let len = usize::from(place.value_header & !OVERFLOW_FLAG);
        (start..start + len, place.value_header & OVERFLOW_FLAG != 0)
    }

    /// Some of what was copied.
    #[inline]
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        &self.bytes[range]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PAGE_SIZE;
    use crate::page::bytes::{PageBuffer, PageMut, PageRef};
    use crate::page::node::{NodeBuilder, NodeMut};

    fn key(number: usize) -> Vec<u8> {
        format!("key{number:05}").into_bytes()
    }

    fn value(number: usize) -> Vec<u8> {
        vec![number as u8; 20 + number % 50]
    }

    /// Copies each range of so many entries, forward and backward, and compares them with what is there.
    fn compare(image: &PageBuffer, numbers: &[usize]) {
        let (node, mut copies, mut copied_key) = (Node(PageRef::of(image)), EntryCopies::default(), Vec::new());
        for len in [0, 1, 3, numbers.len()] {
            for from in (0..=numbers.len() - len).step_by(5) {
                for reversed in [false, true] {
                    copies.copy(node, from..from + len, reversed);
                    assert_eq!(copies.count(), len);
                    let mut expected = numbers[from..from + len].to_vec();
                    if reversed {
                        expected.reverse();
                    }
                    for (at, &number) in expected.iter().enumerate() {
                        copies.key_into(at, &mut copied_key);
                        let (copied, overflow) = copies.value_at(at);
                        assert_eq!((&copied_key, copies.bytes(copied)), (&key(number), &*value(number)));
                        assert_eq!(overflow, number % 7 == 0);
                    }
                    for first in 0..len {
                        copies.gather_keys(first);
                        let gathered = (0..len - first).map(|at| copies.gathered_key(at).to_vec());
                        assert!(gathered.eq(expected[first..].iter().map(|&number| key(number))));
                    }
                }
            }
        }
    }

    #[test]
    fn entries_are_copied_as_they_are_however_they_lie() {
        let numbers: Vec<usize> = (0..100).collect();
        let mut builder = NodeBuilder::new(0, PAGE_SIZE, b"key", Some(b"kez"));
        for &number in &numbers {
            builder.push(&key(number), &value(number), number % 7 == 0);
        }
        compare(&builder.finish(), &numbers);
        // In no order in the heap.
        let mut image = NodeBuilder::new(0, PAGE_SIZE, b"key", Some(b"kez")).finish();
        for step in 0..100 {
            let number = step * 37 % 100;
            let at = Node(PageRef::of(&image)).search(&key(number)).index;
            NodeMut(&mut PageMut::of(&mut image)).insert(at, &key(number)[2..], &value(number), number % 7 == 0);
        }
        compare(&image, &numbers);
    }
}
