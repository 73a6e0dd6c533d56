//! Numbers for keys, in the order in which they were met: GROUP BY's groups, and DISTINCT's rows.
//!
//! Keys are kept in an arena, with their hashes beside them, so that a table that grows need not look at them again. They are
//! made of values of users', so the hash begins with a number that nobody knows.

use std::hash::BuildHasher;

use bumpalo::Bump;
use foldhash::quality::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// A key that has been met.
struct Known<'a> {
    hash: u64,
    number: usize,
    key: &'a [u8],
}

/// The numbers of keys.
pub struct KeyNumbers<'a> {
    arena: &'a Bump,
    hasher: RandomState,
    known: HashTable<Known<'a>>,
}

impl<'a> KeyNumbers<'a> {
    /// None yet.
    pub fn new(arena: &'a Bump) -> Self {
        Self { arena, hasher: RandomState::default(), known: HashTable::new() }
    }

    /// A key's number, and whether it is new.
    pub fn of(&mut self, key: &[u8]) -> (usize, bool) {
        let (hash, number) = (self.hasher.hash_one(key), self.known.len());
        match self.known.entry(hash, |known| known.hash == hash && known.key == key, |known| known.hash) {
            Entry::Occupied(known) => (known.get().number, false),
            Entry::Vacant(place) => {
                place.insert(Known { hash, number, key: self.arena.alloc_slice_copy(key) });
                (number, true)
            }
        }
    }

    /// Memory that is taken beside the arena's.
    pub fn bytes(&self) -> usize {
        self.known.capacity() * size_of::<Known<'_>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_in_the_order_in_which_they_are_met() {
        let arena = Bump::new();
        let mut numbers = KeyNumbers::new(&arena);
        for number in 0..1000_usize {
            assert_eq!(numbers.of(&number.to_be_bytes()), (number, true));
        }
        for number in (0..1000_usize).rev() {
            assert_eq!(numbers.of(&number.to_be_bytes()), (number, false));
        }
        assert_eq!(numbers.of(b""), (1000, true));
        assert!(numbers.bytes() >= 1001 * size_of::<Known<'_>>());
    }
}
