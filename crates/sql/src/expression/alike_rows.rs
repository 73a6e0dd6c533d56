//! Rows whose abbreviations are equal, put in order by keys.
//!
//! ```text
//!   keys                Anna 5TK Meier | Anna 2X Smith | Anna 5TJ jones     made once for each row
//!   what is in common   Anna                                                looked at once
//!   heads               5TK M..        | 2X Sm..       | 5TJ j..            eight bytes as a number; behind them, keys decide
//! ```
//! Many rows are alike where the first of what they are ordered by has few values, or where texts begin alike. To compare their values is
//! to go to two rows for each comparison; heads lie side by side.
//!
//! # Invariants
//! 1. Rows that are equal stay in the order in which they came.
//! 2. No more memory is taken than is given.

/// So many rows are worth keys.
const MANY: usize = 128;
/// So many rows before it is looked at, a row is asked for: they are all over the memory.
const AHEAD: usize = 8;

/// Memory for keys.
#[derive(Default)]
pub struct AlikeRows {
    /// One behind the other.
    keys: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
    heads: Vec<Head>,
}

/// What a row's key has behind what is in common.
struct Head {
    number: u64,
    row: usize,
}

impl AlikeRows {
    /// Puts rows in the order of their keys. `prefetch` asks for what a key is made of. False, and they are as they were, if they are
    /// few, if one has no key, or if that took more memory, in bytes.
    pub fn sort<R: Copy>(
        &mut self,
        rows: &mut [R],
        memory: usize,
        prefetch: impl Fn(R),
        mut append_key: impl FnMut(R, &mut Vec<u8>) -> bool,
    ) -> bool {
        let beside_keys = rows.len() * (size_of::<usize>() + size_of::<Head>() + size_of::<R>());
        let Some(memory) = memory.checked_sub(beside_keys).filter(|_| rows.len() >= MANY) else { return false };
        let Self { keys, ends, heads } = self;
        keys.clear();
        ends.clear();
        for (at, row) in rows.iter().enumerate() {
            if let Some(soon) = rows.get(at + AHEAD) {
                prefetch(*soon);
            }
            if !append_key(*row, keys) || keys.len() > memory {
                return false;
            }
            ends.push(keys.len());
        }
        let key = |row: usize| &keys[row.checked_sub(1).map_or(0, |before| ends[before])..ends[row]];
        let in_common = (1..rows.len()).fold(key(0).len(), |common, row| {
            key(0)[..common].iter().zip(key(row)).take_while(|(one, other)| one == other).count()
        });
        let behind = |row: usize| &key(row)[in_common..];
        heads.clear();
        heads.extend((0..rows.len()).map(|row| Head { number: first_eight(behind(row)), row }));
        heads.sort_unstable_by(|one, other| {
            let by_keys = || behind(one.row).cmp(behind(other.row));
            one.number.cmp(&other.number).then_with(by_keys).then(one.row.cmp(&other.row))
        });
        let before = rows.to_vec();
        rows.iter_mut().zip(heads).for_each(|(row, head)| *row = before[head.row]);
        true
    }
}

/// The first eight bytes, with zeros behind fewer: not greater than that of bytes behind these.
fn first_eight(bytes: &[u8]) -> u64 {
    let mut first = [0; 8];
    let len = bytes.len().min(first.len());
    first[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn append(key: &str, out: &mut Vec<u8>) -> bool {
        out.extend_from_slice(key.as_bytes());
        true
    }

    proptest! {
        #[test]
        fn rows_are_in_order_and_equal_ones_as_they_came(keys in proptest::collection::vec("xyz[ab\0]{0,12}", 128..200)) {
            let mut rows: Vec<(&str, usize)> = keys.iter().map(String::as_str).zip(0..).collect();
            let mut expected = rows.clone();
            expected.sort();
            let is_sorted = AlikeRows::default().sort(&mut rows, usize::MAX, drop, |(key, _), out| append(key, out));
            prop_assert!(is_sorted);
            prop_assert_eq!(rows, expected);
        }
    }

    #[test]
    fn rows_without_keys_and_without_memory_are_left_as_they_are() {
        let came: Vec<&str> = (0..MANY).map(|row| ["b", "a"][row % 2]).collect();
        let mut rows = came.clone();
        assert!(!AlikeRows::default().sort(&mut rows, usize::MAX, drop, |key, out| append(key, out) && key != "a"));
        // (A row, 16 bytes; its end and head, 24; its key, one.)
        assert!(!AlikeRows::default().sort(&mut rows, 41 * MANY - 1, drop, append));
        assert_eq!(rows, came);
        assert!(AlikeRows::default().sort(&mut rows, 41 * MANY, drop, append));
        assert_eq!(rows, [["a"; MANY / 2], ["b"; MANY / 2]].concat());
    }
}
