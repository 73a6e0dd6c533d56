//! Keys in ascending order, side by side: what a span has that is locked key by key, without the gaps.
//!
//! ```text
//!   bytes   |apple|banana|cherry|
//!   ends          5      11     17
//! ```
//!
//! Above: `spans`. A key is added at the end, and found by halves; four bytes and the key's own for each.
//!
//! # Invariants
//! 1. Keys are ascending, and none is there twice.

/// Not more bytes of keys than this in one list.
const BYTES_MAX: usize = u32::MAX as usize;

/// A list of keys.
#[derive(Default)]
pub(super) struct KeyList {
    bytes: Vec<u8>,
    /// Where each key ends.
    ends: Vec<u32>,
}

impl KeyList {
    /// How many keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    fn key(&self, at: usize) -> &[u8] {
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[from as usize..self.ends[at] as usize]
    }

    /// The first key and the last, if there are any.
    pub fn ends(&self) -> Option<[&[u8]; 2]> {
        let last = self.len().checked_sub(1)?;
        Some([self.key(0), self.key(last)])
    }

    /// Where the first key is that is not below this one.
    fn lower_bound(&self, key: &[u8]) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.key(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Whether any of its keys is from the first of these to the last.
    pub fn has_within(&self, [first, last]: [&[u8]; 2]) -> bool {
        let at = self.lower_bound(first);
        at < self.len() && self.key(at) <= last
    }

    /// Puts a key at the end; false if there is no room. On entry: it is above all others.
    pub fn push(&mut self, key: &[u8]) -> bool {
        debug_assert!(self.ends().is_none_or(|[_, last]| last < key), "1: keys are ascending");
        if self.bytes.len() + key.len() > BYTES_MAX {
            return false;
        }
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len() as u32);
        true
    }

    /// Takes a key out; false if it is not there.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        let at = self.lower_bound(key);
        if at == self.len() || self.key(at) != key {
            return false;
        }
        let end = self.ends.remove(at) as usize;
        self.bytes.drain(end - key.len()..end);
        self.ends[at..].iter_mut().for_each(|later| *later -= key.len() as u32);
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_between_others_and_taken_out() {
        let mut list = KeyList::default();
        assert!(!list.has_within([b"", b"zzz"]) && list.ends().is_none());
        for key in [&b"b"[..], b"bb", b"d", b"ddd", b"f"] {
            assert!(list.push(key));
        }
        assert_eq!(list.ends(), Some([&b"b"[..], b"f"]));
        let is_in = |list: &KeyList, key: &[u8]| list.has_within([key, key]);
        assert!(is_in(&list, b"b") && is_in(&list, b"f") && !is_in(&list, b"a") && !is_in(&list, b"c"));
        assert!(list.has_within([b"c", b"d"]) && !list.has_within([b"c", b"cz"]) && !list.has_within([b"g", b"z"]));
        let removed = [&b"d"[..], b"x", b"b", b"d"].map(|key| list.remove(key));
        assert_eq!(removed, [true, false, true, false]);
        assert_eq!((list.len(), list.ends()), (3, Some([&b"bb"[..], b"f"])));
        assert!(is_in(&list, b"ddd") && is_in(&list, b"f") && !is_in(&list, b"d") && !is_in(&list, b"b"));
    }
}
