//! From where to where a scan goes: conditions on values as a stretch of keys.
//!
//! ```text
//!   keys in order     ... | a = 1 ......................... | a = 2 ...
//!                           b: NULL | 3 | 4 | 4 | 5 | 6 | 7
//!   a = 1                   [----------------------------- )
//!   a = 1 and b <= 5                [-------------- )             NULL < b, since no comparison is true for NULL
//!   a = 1 and b > 4                            [---------- )
//! ```
//!
//! Every range is half open, and every bound is one of two: the bytes of some values, which are at or below all keys
//! that begin with these values, or [`first_above`] them. The bytes of a descending part go the other way, so what is
//! the lower bound of its values is the upper bound of its keys; nothing else changes.
//!
//! A part that is only the beginning of a column, or weights, knows less than a condition says: whoever asks for such a
//! range widens it first (`>` becomes `>=` of the beginning) and looks at the rows again.
//!
//! # Invariants
//! 1. A key lies in a range exactly if its values satisfy the condition.

use std::ops::Bound;

use super::error::KeyError;
use super::key::KeyPart;
use super::value::Value;

/// The first string of bytes above all that begin with these; `None` if there is nothing above them.
pub fn first_above(mut beginning: Vec<u8>) -> Option<Vec<u8>> {
    while beginning.last() == Some(&u8::MAX) {
        beginning.pop();
    }
    *beginning.last_mut()? += 1;
    Some(beginning)
}

/// A stretch of keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyRange {
    /// The first key that may be in it.
    pub from: Vec<u8>,
    /// The first key above that is not; `None` for the end of the index.
    pub to: Option<Vec<u8>>,
}

impl KeyRange {
    /// All keys.
    pub const ALL: KeyRange = KeyRange { from: Vec::new(), to: None };

    /// The keys that begin with these bytes: with certain values ([`append_key`](super::append_key)), or with the
    /// beginning of a string ([`KeyPart::append_beginning`]).
    pub fn beginning_with(bytes: Vec<u8>) -> Self {
        Self { to: first_above(bytes.clone()), from: bytes }
    }

    /// The keys that are in both.
    pub fn within(&self, other: &Self) -> Self {
        let to = match (&self.to, &other.to) {
            (Some(own), Some(other)) => Some(own.min(other)),
            (own, other) => own.as_ref().or(other.as_ref()),
        };
        Self { from: self.from.clone().max(other.from.clone()), to: to.cloned() }
    }

    /// The keys that begin with `front`, the bytes of the parts before, and whose next part lies between two values.
    ///
    /// NULL is below all values, so *at most 5* is above NULL, excluded, and up to 5, included. Unbounded means NULL too. A string may be
    /// longer than any value, or make a longer key than there is: it still has a place among them.
    pub fn between(
        front: &[u8],
        part: &KeyPart,
        lower: Bound<Value<'_>>,
        upper: Bound<Value<'_>>,
    ) -> Result<Self, KeyError> {
        let (lower, upper) = (part.bound_within(lower, false), part.bound_within(upper, true));
        let key = |value| {
            let mut key = front.to_vec();
            part.append(value, usize::MAX, &mut key).map(|()| key)
        };
        let (first, last) = if part.is_descending() { (upper, lower) } else { (lower, upper) };
        let from = match first {
            Bound::Unbounded => Some(front.to_vec()),
            Bound::Included(value) => Some(key(value)?),
            Bound::Excluded(value) => first_above(key(value)?),
        };
        let to = match last {
            Bound::Unbounded => first_above(front.to_vec()),
            Bound::Included(value) => first_above(key(value)?),
            Bound::Excluded(value) => Some(key(value)?),
        };
        // Nothing is above all that there is.
        Ok(from.map_or(Self { from: Vec::new(), to: Some(Vec::new()) }, |from| Self { from, to }))
    }

    /// Whether a key is in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= &self.from[..] && self.to.as_deref().is_none_or(|to| key < to)
    }

    /// Whether no key at all can be in the range.
    pub fn is_empty(&self) -> bool {
        self.to.as_ref().is_some_and(|to| self.from >= *to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Column, ColumnType, IntegerWidth, append_key};

    const LIMIT: usize = 3072;

    #[test]
    fn what_lies_above_a_beginning() {
        assert_eq!(first_above(vec![1, 2]), Some(vec![1, 3]));
        assert_eq!(first_above(vec![1, 0xff, 0xff]), Some(vec![2]));
        assert_eq!(first_above(vec![0xff, 0xff]), None);
        assert_eq!(first_above(vec![]), None);
    }

    #[test]
    fn what_is_longer_than_any_value_has_a_place_among_them() {
        use Bound::{Excluded, Included, Unbounded};
        let text = Column::new(ColumnType::Variable { max_len: 2 });
        for part in [KeyPart::new(0, text), KeyPart::new(0, text).descending()] {
            let members = |lower, upper| {
                let range = KeyRange::between(&[], &part, lower, upper).expect("the values suit");
                let is_in = |value: &&&[u8]| {
                    let mut key = Vec::new();
                    part.append(Value::Bytes(value), LIMIT, &mut key).expect("it suits");
                    range.contains(&key)
                };
                [&b""[..], b"b", b"bb", b"bc", b"c"]
                    .iter()
                    .filter(is_in)
                    .map(|value| value.to_vec())
                    .collect::<Vec<_>>()
            };
            for long in [&b"bb\0"[..], b"bba", &[b'b'; 5000]] {
                let long = Value::Bytes(long);
                assert_eq!(members(Unbounded, Excluded(long)), [&b""[..], b"b", b"bb"]);
                assert_eq!(members(Unbounded, Included(long)), [&b""[..], b"b", b"bb"]);
                assert_eq!(members(Excluded(long), Unbounded), [b"bc", &b"c"[..]]);
                assert_eq!(members(Included(long), Unbounded), [b"bc", &b"c"[..]]);
                assert!(members(Included(long), Included(long)).is_empty());
            }
        }
    }

    #[test]
    fn a_range_has_the_values_that_are_asked_for() {
        let number = Column::new(ColumnType::Signed(IntegerWidth::One)).or_null();
        for part in [KeyPart::new(1, number), KeyPart::new(1, number).descending()] {
            let parts = [KeyPart::new(0, number), part];
            let members = |lower, upper| {
                let front = {
                    let mut front = Vec::new();
                    parts[0].append(Value::Signed(1), LIMIT, &mut front).expect("it suits");
                    front
                };
                let range = KeyRange::between(&front, &parts[1], lower, upper).expect("the values suit");
                let mut members = Vec::new();
                for first in [0, 1, 2] {
                    for second in [Value::Null, Value::Signed(3), Value::Signed(4), Value::Signed(5)] {
                        let mut key = Vec::new();
                        append_key(&parts, [Value::Signed(first), second], LIMIT, &mut key).expect("they suit");
                        if range.contains(&key) {
                            assert_eq!(first, 1);
                            members.push(second);
                        }
                    }
                }
                members
            };
            let [three, four, five] = [3, 4, 5].map(Value::Signed);
            use Bound::{Excluded, Included, Unbounded};
            assert_eq!(members(Unbounded, Unbounded), [Value::Null, three, four, five]);
            assert_eq!(members(Excluded(Value::Null), Included(four)), [three, four]);
            assert_eq!(members(Excluded(three), Unbounded), [four, five]);
            assert_eq!(members(Included(three), Excluded(four)), [three]);
            assert_eq!(members(Excluded(three), Excluded(four)), []);
            assert_eq!(members(Included(Value::Null), Included(Value::Null)), [Value::Null]);
        }
    }

    #[test]
    fn nothing_is_above_the_end() {
        // NULL of a descending part is all there can be at the end.
        let part = KeyPart::new(0, Column::new(ColumnType::Double).or_null()).descending();
        let range = KeyRange::between(&[], &part, Bound::Unbounded, Bound::Excluded(Value::Null));
        assert!(range.expect("it suits").is_empty());
        assert!(!KeyRange::ALL.is_empty());
        let null = KeyRange::beginning_with(vec![0xff]);
        assert_eq!(null, KeyRange { from: vec![0xff], to: None });
    }

    #[test]
    fn strings_that_begin_alike_are_a_range() {
        let column = Column::new(ColumnType::Variable { max_len: 9 }).or_null();
        for part in [KeyPart::new(0, column), KeyPart::new(0, column).descending()] {
            let mut beginning = Vec::new();
            part.append_beginning(b"a\0", LIMIT, &mut beginning).expect("it suits");
            let range = KeyRange::beginning_with(beginning);
            for (string, inside) in [
                (&b"a\0"[..], true),
                (b"a\0\0", true),
                (b"a\0\xff", true),
                (b"a", false),
                (b"a\x01", false),
                (b"", false),
            ] {
                let mut key = Vec::new();
                part.append(Value::Bytes(string), LIMIT, &mut key).expect("it suits");
                assert_eq!(range.contains(&key), inside, "{string:?}");
            }
        }
    }
}
