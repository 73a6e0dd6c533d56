//! Numbers for keys, in the order in which they were met: GROUP BY's groups, DISTINCT's rows, and what joins and IN find rows by.
//!
//! Keys have their hashes beside them, so that a table that grows need not look at them again; short ones, as of one or two numbers,
//! are in the table itself, where they cost no cache line of their own. They are made of values of users', so the hash begins with a
//! number that nobody knows.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// So many bytes a key has that is kept in the table: with its length as large as a reference and what tells the two apart.
const SHORT: usize = 22;

/// Long keys lie in pieces of memory of so many bytes, the first in few.
const PIECE: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 20;

/// A key that is kept.
enum Key {
    Short { len: u8, bytes: [u8; SHORT] },
    Long(Place),
}

/// Where a long key is.
#[derive(Clone, Copy)]
struct Place {
    piece: u32,
    start: u32,
    len: u32,
}

/// Keys that are not short.
#[derive(Default)]
struct LongKeys {
    pieces: Vec<Vec<u8>>,
    bytes: usize,
}

impl LongKeys {
    fn add(&mut self, key: &[u8]) -> Place {
        let fits = |piece: &Vec<u8>| piece.capacity() - piece.len() >= key.len();
        if !self.pieces.last().is_some_and(fits) {
            let bytes = (self.bytes).clamp(*PIECE.start(), *PIECE.end()).max(key.len());
            self.pieces.push(Vec::with_capacity(bytes));
            self.bytes += bytes;
        }
        let number = self.pieces.len() - 1;
        let piece = &mut self.pieces[number];
        let start = piece.len();
        piece.extend_from_slice(key);
        Place { piece: number as u32, start: start as u32, len: key.len() as u32 }
    }

    fn get(&self, place: Place) -> &[u8] {
        &self.pieces[place.piece as usize][place.start as usize..][..place.len as usize]
    }
}

impl Key {
    fn new(key: &[u8], long: &mut LongKeys) -> Self {
        let mut bytes = [0; SHORT];
        match bytes.get_mut(..key.len()) {
            Some(front) => {
                front.copy_from_slice(key);
                Self::Short { len: key.len() as u8, bytes }
            }
            None => Self::Long(long.add(key)),
        }
    }

    fn is(&self, key: &[u8], long: &LongKeys) -> bool {
        match self {
            Self::Short { len, bytes } => bytes[..usize::from(*len)] == *key,
            Self::Long(place) => place.len as usize == key.len() && long.get(*place) == key,
        }
    }
}

/// A key that has been met.
struct Known {
    hash: u64,
    number: usize,
    key: Key,
}

/// The numbers of keys.
#[derive(Default)]
pub struct KeyNumbers {
    hasher: RandomState,
    known: HashTable<Known>,
    long: LongKeys,
}

impl KeyNumbers {
    /// A key's number, and whether it is new.
    pub fn of(&mut self, key: &[u8]) -> (usize, bool) {
        let (hash, number) = (self.hasher.hash_one(key), self.known.len());
        let is_it = |known: &Known| known.hash == hash && known.key.is(key, &self.long);
        match self.known.entry(hash, is_it, |known| known.hash) {
            Entry::Occupied(known) => (known.get().number, false),
            Entry::Vacant(place) => {
                place.insert(Known { hash, number, key: Key::new(key, &mut self.long) });
                (number, true)
            }
        }
    }

    /// A key's number, if it has been met.
    pub fn get(&self, key: &[u8]) -> Option<usize> {
        let hash = self.hasher.hash_one(key);
        self.known.find(hash, |known| known.hash == hash && known.key.is(key, &self.long)).map(|known| known.number)
    }

    /// Memory that is taken.
    pub fn bytes(&self) -> usize {
        self.known.capacity() * size_of::<Known>() + self.long.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_numbered_in_the_order_in_which_they_are_met() {
        let mut numbers = KeyNumbers::default();
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
        let bytes = numbers.bytes();
        assert!(bytes >= 1001 * size_of::<Known>());
        // Many long ones, and one that is larger than a piece.
        let long = |number: usize| [&[1; 40][..], &number.to_be_bytes()].concat();
        let (first, many) = (1001 + 2 * SHORT, 3 * PIECE.end() / 48);
        (0..many).for_each(|number| assert_eq!(numbers.of(&long(number)), (first + number, true)));
        let large = vec![2; 2 * PIECE.end()];
        let (number, is_new) = numbers.of(&large);
        assert!(is_new && numbers.bytes() > bytes + many * 48 + large.len());
        assert_eq!(numbers.get(&large), Some(number));
        (0..many).for_each(|number| assert_eq!(numbers.get(&long(number)), Some(first + number)));
    }
}
