//! A delta: how one value is made from another, where the two have much in common.
//!
//! ```text
//!   source   0123456789abcdef          target   0123XYZ89abcdef!
//!
//!   pieces   skip 0, copy 4, own "XYZ"          then   skip 4, copy 8, own "!"
//!            (0123)         (XYZ)                      (89abcdef)     (!)
//!
//!   piece:   skipped | copied | own length | own bytes         the numbers in LEB128
//! ```
//!
//! What undo keeps of a row is what it was before, as a delta of what it became: an UPDATE of one column keeps that column,
//! a DELETE nothing, since a tombstone has the row still.
//!
//! # Invariants
//! 1. What is copied lies in the source in the order in which it is copied. So deltas of deltas are made in one pass.
//! 2. Decoding never panics, whatever the bytes; and a piece makes no more than the source and its own bytes have.
//!
//! # Source
//! RFC 3284 (VCDIFF) has such instructions. An undo record of InnoDB lists the columns that an update changed; this does not
//! know of columns, and so has one form for the entries of all indexes.

use std::ops::Range;

use smallvec::SmallVec;

use crate::leb128;
use crate::row::Corrupt;

/// How a value is made from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delta<'a>(&'a [u8]);

/// Bytes that are compared at once.
const WORD_LEN: usize = 8;
/// Equal words in a row that are worth a piece: another one costs three bytes, and the look at it.
const WORDS_SHARED: usize = 2;
/// Bytes of the shortest shared end that is worth a piece: as long as most that tell of one.
const END_SHARED: usize = 4;

impl<'a> Delta<'a> {
    /// These bytes as a delta. They are looked at when it is applied.
    pub fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What it is written as.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// The delta that makes `target` from `source`; it is written to `memory`.
    pub fn between(source: &[u8], target: &[u8], memory: &'a mut Vec<u8>) -> Self {
        memory.clear();
        if source.len() == target.len() {
            append_stretches(source, target, memory);
        } else {
            let start = common_prefix_len(source, target);
            let shared = common_suffix_len(&source[start..], &target[start..]);
            let end = if shared < END_SHARED { 0 } else { shared };
            append_piece(0, start, &target[start..target.len() - end], memory);
            if end > 0 {
                append_piece(source.len() - start - end, end, &[], memory);
            }
        }
        Self(memory)
    }

    /// Appends to `out` what it makes from a source.
    pub fn apply(self, source: &[u8], out: &mut Vec<u8>) -> Result<(), Corrupt> {
        let mut rest = source;
        for piece in self.pieces() {
            let piece = piece?;
            let (_, behind) = rest.split_at_checked(piece.skipped).ok_or(Corrupt::Delta)?;
            let (copied, behind) = behind.split_at_checked(piece.copied).ok_or(Corrupt::Delta)?;
            out.extend_from_slice(copied);
            out.extend_from_slice(piece.own);
            rest = behind;
        }
        Ok(())
    }

    /// Appends to `out` the delta that makes at once what this makes from what `first` makes.
    pub fn append_behind(self, first: Delta<'_>, out: &mut Vec<u8>) -> Result<(), Corrupt> {
        let mut between = Made { pieces: first.pieces(), passed: 0, copied: 0..0, own: &[] };
        let mut composed = Composed { out, passed: 0, copied: 0..0, own: SmallVec::new() };
        for piece in self.pieces() {
            let piece = piece?;
            between.pass(piece.skipped, |_| {})?;
            between.pass(piece.copied, |part| composed.add(part))?;
            composed.add(Part::Own(piece.own));
        }
        composed.end();
        Ok(())
    }

    fn pieces(self) -> Pieces<'a> {
        Pieces { rest: self.0 }
    }
}

/// So much of the source is left out, so much behind it copied; then come bytes of the target's own.
struct Piece<'a> {
    skipped: usize,
    copied: usize,
    own: &'a [u8],
}

/// The pieces of a delta. After an error there are no more.
struct Pieces<'a> {
    rest: &'a [u8],
}

impl<'a> Pieces<'a> {
    fn number(&mut self) -> Result<usize, Corrupt> {
        leb128::take(&mut self.rest, Corrupt::Delta)
    }

    fn read(&mut self) -> Result<Piece<'a>, Corrupt> {
        let (skipped, copied, own_len) = (self.number()?, self.number()?, self.number()?);
        let (own, rest) = self.rest.split_at_checked(own_len).ok_or(Corrupt::Truncated)?;
        self.rest = rest;
        Ok(Piece { skipped, copied, own })
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>, Corrupt>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let piece = self.read();
        if piece.is_err() {
            self.rest = &[];
        }
        Some(piece)
    }
}

/// A part of what a delta makes.
enum Part<'a> {
    /// Bytes of its source.
    Copied(Range<usize>),
    /// Bytes of its own.
    Own(&'a [u8]),
}

/// What a delta makes, passed from its beginning to its end.
struct Made<'a> {
    pieces: Pieces<'a>,
    /// Bytes of the source up to the end of the piece that is being passed.
    passed: usize,
    /// What is left of that piece.
    copied: Range<usize>,
    own: &'a [u8],
}

impl<'a> Made<'a> {
    /// Passes so many bytes, and shows what they are.
    fn pass(&mut self, len: usize, mut show: impl FnMut(Part<'a>)) -> Result<(), Corrupt> {
        let mut left = len;
        while left > 0 {
            if !self.copied.is_empty() {
                let until = self.copied.start + left.min(self.copied.len());
                left -= until - self.copied.start;
                show(Part::Copied(self.copied.start..until));
                self.copied.start = until;
            } else if !self.own.is_empty() {
                let (own, rest) = self.own.split_at(left.min(self.own.len()));
                left -= own.len();
                show(Part::Own(own));
                self.own = rest;
            } else {
                let piece = self.pieces.next().ok_or(Corrupt::Delta)??;
                let start = self.passed.checked_add(piece.skipped).ok_or(Corrupt::Delta)?;
                self.passed = start.checked_add(piece.copied).ok_or(Corrupt::Delta)?;
                (self.copied, self.own) = (start..self.passed, piece.own);
            }
        }
        Ok(())
    }
}

/// A delta that is put together of parts: neighbours become one.
struct Composed<'o> {
    out: &'o mut Vec<u8>,
    /// Bytes of the source up to the end of what was copied last in what has been written.
    passed: usize,
    /// The piece that has not been written yet.
    copied: Range<usize>,
    own: SmallVec<[u8; 256]>,
}

impl Composed<'_> {
    fn add(&mut self, part: Part<'_>) {
        match part {
            Part::Own(bytes) => self.own.extend_from_slice(bytes),
            Part::Copied(range) if self.own.is_empty() && range.start == self.copied.end => self.copied.end = range.end,
            Part::Copied(range) => {
                self.end();
                self.copied = range;
            }
        }
    }

    fn end(&mut self) {
        if !self.copied.is_empty() || !self.own.is_empty() {
            append_piece(self.copied.start - self.passed, self.copied.len(), &self.own, self.out);
            self.passed = self.copied.end;
            self.own.clear();
        }
    }
}

/// The delta between values of one length, each byte of which is compared with the one in the same place.
fn append_stretches(source: &[u8], target: &[u8], out: &mut Vec<u8>) {
    let (mut at, mut skipped) = (0, 0);
    while at < target.len() {
        let copied = common_prefix_len(&source[at..], &target[at..]);
        let start = at + copied;
        at = start + differing_len(&source[start..], &target[start..]);
        append_piece(skipped, copied, &target[start..at], out);
        skipped = at - start;
    }
}

/// Bytes up to where so much is shared again that it is worth a piece.
fn differing_len(source: &[u8], target: &[u8]) -> usize {
    let mut shared = 0;
    for (word, (one, other)) in source.chunks_exact(WORD_LEN).zip(target.chunks_exact(WORD_LEN)).enumerate() {
        shared = if one == other { shared + 1 } else { 0 };
        if shared == WORDS_SHARED {
            return (word + 1 - WORDS_SHARED) * WORD_LEN;
        }
    }
    target.len()
}

fn common_prefix_len(one: &[u8], other: &[u8]) -> usize {
    let words = one.chunks_exact(WORD_LEN).zip(other.chunks_exact(WORD_LEN)).take_while(|(one, other)| one == other);
    let at = WORD_LEN * words.count();
    at + one[at..].iter().zip(&other[at..]).take_while(|(one, other)| one == other).count()
}

fn common_suffix_len(one: &[u8], other: &[u8]) -> usize {
    let words = one.rchunks_exact(WORD_LEN).zip(other.rchunks_exact(WORD_LEN)).take_while(|(one, other)| one == other);
    let len = WORD_LEN * words.count();
    let (one, other) = (&one[..one.len() - len], &other[..other.len() - len]);
    len + one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count()
}

fn append_piece(skipped: usize, copied: usize, own: &[u8], out: &mut Vec<u8>) {
    for number in [skipped, copied, own.len()] {
        leb128::append(number, out);
    }
    out.extend_from_slice(own);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn made(delta: Delta<'_>, source: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        delta.apply(source, &mut out).unwrap();
        out
    }

    fn len_between(source: &[u8], target: &[u8]) -> usize {
        Delta::between(source, target, &mut Vec::new()).as_bytes().len()
    }

    /// A value, and what a few changes make of it: stretches that are replaced by others, which may be longer or shorter.
    fn changed() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Vec<u8>)> {
        let bytes = |most| proptest::collection::vec(0u8..3, 0..most);
        let changes =
            proptest::collection::vec((any::<prop::sample::Index>(), 0usize..40, bytes(40), any::<bool>()), 0..4);
        (bytes(200), changes.clone(), changes).prop_map(|(first, changes, more)| {
            let change = |value: &[u8], changes: Vec<(prop::sample::Index, usize, Vec<u8>, bool)>| {
                let mut value = value.to_vec();
                for (at, len, mut new, keeps_len) in changes {
                    let start = at.index(value.len() + 1);
                    let end = value.len().min(start + len);
                    if keeps_len {
                        new.resize(end - start, 9);
                    }
                    value.splice(start..end, new);
                }
                value
            };
            let second = change(&first, changes);
            let third = change(&second, more);
            (first, second, third)
        })
    }

    #[test]
    fn a_short_end_that_is_shared_is_no_piece() {
        let source = [[0; 145].as_slice(), b"\x01\x02"].concat();
        let target = [b"\x01".as_slice(), &[0; 146], b"\x02"].concat();
        assert_eq!(len_between(&source, &target), 4 + target.len());
        let longer = |value: &[u8]| [value, b"345"].concat();
        assert_eq!(len_between(&longer(&source), &longer(&target)), 4 + target.len() - 1 + 4);
    }

    proptest! {
        #[test]
        fn a_delta_makes_the_target((source, target, _) in changed()) {
            let mut memory = vec![7];
            let delta = Delta::between(&source, &target, &mut memory);
            prop_assert_eq!(made(delta, &source), &target[..]);
            // What is shared costs less than it would by itself; what tells where it is, a few bytes.
            prop_assert!(delta.as_bytes().len() <= target.len() + 6, "{} for {}", delta.as_bytes().len(), target.len());
        }

        #[test]
        fn two_deltas_are_one((first, second, third) in changed()) {
            let (mut one, mut other, mut both) = (Vec::new(), Vec::new(), Vec::new());
            let one = Delta::between(&first, &second, &mut one);
            let other = Delta::between(&second, &third, &mut other);
            other.append_behind(one, &mut both).unwrap();
            prop_assert_eq!(made(Delta::of(&both), &first), third);
        }

        #[test]
        fn any_bytes_are_applied_without_a_panic(
            bytes in proptest::collection::vec(prop_oneof![0u8..4, any::<u8>()], 0..40),
            others in proptest::collection::vec(0u8..4, 0..40),
            source in proptest::collection::vec(any::<u8>(), 0..8),
        ) {
            let (one, other, mut both) = (Delta::of(&bytes), Delta::of(&others), Vec::new());
            let (mut first, mut second, mut at_once) = (Vec::new(), Vec::new(), Vec::new());
            let in_turn = one.apply(&source, &mut first).and_then(|()| other.apply(&first, &mut second));
            if in_turn.is_ok() && other.append_behind(one, &mut both).is_ok() {
                prop_assert_eq!(Delta::of(&both).apply(&source, &mut at_once), Ok(()));
                prop_assert_eq!(at_once, second);
            }
        }
    }

    #[test]
    fn what_is_shared_costs_a_few_bytes() {
        let row: Vec<u8> = (0..=255).collect();
        let mut other = row.clone();
        assert_eq!(len_between(&row, &row), 4, "one piece, its length in two bytes");
        assert_eq!(len_between(b"", b""), 0);
        other[100..104].copy_from_slice(b"\0\0\0\0");
        assert!(len_between(&row, &other) < 20);
        other[200] = 0;
        assert!(len_between(&row, &other) < 35, "two stretches");
        other.splice(50..52, *b"longer");
        assert!(len_between(&row[..100], &other[..104]) < 15, "another length");
        assert_eq!(len_between(b"", b"all its own"), 3 + 11);
        assert_eq!(len_between(b"all that goes", b""), 3);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let source = b"source";
        let apply = |bytes: &[u8]| Delta::of(bytes).apply(source, &mut Vec::new());
        assert_eq!(apply(&[0, 7, 0]), Err(Corrupt::Delta), "more than the source has");
        assert_eq!(apply(&[7, 0, 0]), Err(Corrupt::Delta));
        assert_eq!(apply(&[0, 6, 0, 0, 1, 0]), Err(Corrupt::Delta), "the source is passed once");
        assert_eq!(apply(&[0, 0, 2, 1]), Err(Corrupt::Truncated));
        assert_eq!(apply(&[0, 0x80]), Err(Corrupt::Truncated));
        assert_eq!(apply(&[0xFF; 20]), Err(Corrupt::Delta), "a number without an end");
        let (one, other) = (Delta::of(&[0, 3, 0]), Delta::of(&[0, 4, 0]));
        assert_eq!(other.append_behind(one, &mut Vec::new()), Err(Corrupt::Delta));
    }
}
