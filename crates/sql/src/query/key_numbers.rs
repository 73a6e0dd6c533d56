//! Numbers for keys, in the order in which they were met: GROUP BY's groups, DISTINCT's rows, and what joins find rows by.
//!
//! Keys are kept in an arena, with their hashes beside them, so that a table that grows need not look at them again; short ones, as
//! of one or two numbers, are in the table itself, where they cost no cache line of their own. They are made of values of users', so
//! the hash begins with a number that nobody knows.

use std::hash::BuildHasher;

use bumpalo::Bump;
use foldhash::quality::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// So many bytes a key has that is kept in the table: with its length as large as a reference and what tells the two apart.
const SHORT: usize = 22;

/// A key that is kept.
enum Key<'a> {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(&'a [u8]),
}

impl<'a> Key<'a> {
    fn new(key: &[u8], arena: &'a Bump) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..key.len()) {
            Some(front) => {
                front.copy_from_slice(key);
                Self::Short { len: key.len() as u8, bytes }
            }
            None => Self::Long(arena.alloc_slice_copy(key)),
        }
    }

    fn is(&self, key: &[u8]) -> bool {
        match self {
            Self::Short { len, bytes } => bytes[..usize::from(*len)] == *key,
            Self::Long(own) => *own == key,
        }
    }
}

/// A key that has been met.
struct Known<'a> {
    hash: u64,
    number: usize,
    key: Key<'a>,
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
        match self.known.entry(hash, |known| known.hash == hash && known.key.is(key), |known| known.hash) {
            Entry::Occupied(known) => (known.get().number, false),
            Entry::Vacant(place) => {
                place.insert(Known { hash, number, key: Key::new(key, self.arena) });
                (number, true)
            }
        }
    }

    /// A key's number, if it has been met.
    pub fn get(&self, key: &[u8]) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        self.known.find(hash, |known| known.hash == hash && known.key.is(key)).map(|known| known.number)
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
            assert_eq!(numbers.get(&number.to_be_bytes()), Some(number));
        }
        assert_eq!(numbers.get(b""), None);
        assert_eq!(numbers.of(b""), (1000, true));
        for len in 0..=2 * SHORT {
            let key = vec![7; len];
            let known = numbers.get(&key);
            assert_eq!(known.is_some(), len == 0, "{len} bytes");
            let (number, is_new) = numbers.of(&key);
            assert_eq!((is_new, numbers.get(&key)), (known.is_none(), Some(number)));
        }
        assert!(numbers.bytes() >= 1001 * size_of::<Known<'_>>());
    }
}
