//! Keys: values one behind the other, as bytes that order as the values do.
//!
//! ```text
//!   part:   tag, if the part may be NULL     00 NULL: nothing follows    01 a value follows
//!           value    signed                  its width, big-endian, the sign bit flipped
//!                    unsigned                its width, big-endian
//!                    float, double           big-endian; negative: all bits flipped, else the sign bit
//!                    fixed                   its bytes
//!                    variable, weights       escaped, with an end (see `escape`)
//!           descending: all bytes of the part, its tag too, inverted
//!
//!   secondary key:   part | part | ...  ||  primary key: part | part | ...
//! ```
//!
//! NULL comes before all values; in a descending part it comes behind them. The two zeros of floating point are equal,
//! so both are written as the positive one. NaN is refused: MySQL has none, and it would have no place.
//!
//! A part's bytes follow from the index's definition alone, not from what is beside it: so a secondary key ends with
//! the primary key as it is, and [`primary_key_in`] only has to look where it begins. (InnoDB leaves out of it what the
//! secondary index has already; that saves bytes, and costs a part-by-part copy at each step from one to the other.)
//!
//! # Invariants
//! 1. The order of keys of the same parts is the order of their values.
//! 2. No part's bytes are a beginning of other bytes of that part. So the keys that begin with certain values are those
//!    that begin with these values' bytes, which are below all of them; [`first_above`](super::first_above) is what
//!    lies above all of them. For descending parts as well.
//! 3. Equal values have equal bytes, and bytes that decode are those that encoding writes.
//! 4. What is appended to is left as it was when something does not suit.
//!
//! # Sources
//! FoundationDB's tuple layer (`design/tuple.md`) for self-delimiting parts that order as bytes.

use std::ops::Bound;

use bumpalo::Bump;

use super::error::{Corrupt, KeyError};
use super::escape;
use super::value::{Column, ColumnType, IntegerWidth, Value};

const NULL_TAG: u8 = 0;
const VALUE_TAG: u8 = 1;

/// One part of a key: a column, and how it is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeyPart {
    column: u16,
    content: Column,
    descending: bool,
    reversible: bool,
}

impl KeyPart {
    /// A whole column, ascending: its position in the table, and what it holds.
    pub const fn new(column: u16, content: Column) -> Self {
        // A zero loses its sign.
        let reversible = !matches!(content.column_type, ColumnType::Float | ColumnType::Double);
        Self { column, content, descending: false, reversible }
    }

    /// The same part, descending.
    pub const fn descending(self) -> Self {
        Self { descending: true, ..self }
    }

    /// The same part, of so many bytes at the beginning. The values handed in have been cut, by whoever knows where a
    /// character ends. Only bytes have a beginning.
    pub const fn prefix(self, len: u32) -> Self {
        let column_type = match self.content.column_type {
            ColumnType::Fixed { len: whole } if len < whole as u32 => ColumnType::Fixed { len: len as u16 },
            ColumnType::Variable { max_len } if len < max_len => ColumnType::Variable { max_len: len },
            ColumnType::Fixed { .. } | ColumnType::Variable { .. } => return self,
            _ => panic!("a number has no beginning that orders as it does"),
        };
        Self { content: Column { column_type, ..self.content }, reversible: false, ..self }
    }

    /// The same part, of which the weights of a collation are handed in: as many bytes as there are, in the order of
    /// `memcmp`.
    pub const fn weights(self) -> Self {
        let content = Column { column_type: ColumnType::Variable { max_len: u32::MAX }, ..self.content };
        Self { content, reversible: false, ..self }
    }

    /// The column's position in its table.
    pub const fn column(&self) -> u16 {
        self.column
    }

    /// What is written: the column, or its beginning, or weights.
    pub const fn content(&self) -> Column {
        self.content
    }

    /// Whether large values come first.
    pub const fn is_descending(&self) -> bool {
        self.descending
    }

    /// Whether what [`KeyReader::read`] returns is the column's value: not for weights, nor for beginnings, nor for
    /// floating point, where a zero has lost its sign.
    pub const fn is_reversible(&self) -> bool {
        self.reversible
    }

    /// A string as a bound, cut to what values may have: those below it are those up to what it begins with, and those above it are
    /// above that. `is_upper` says which bound it is.
    pub(super) fn bound_within<'v>(&self, bound: Bound<Value<'v>>, is_upper: bool) -> Bound<Value<'v>> {
        let (Bound::Included(Value::Bytes(bytes)) | Bound::Excluded(Value::Bytes(bytes))) = bound else { return bound };
        match self.content.column_type {
            ColumnType::Variable { max_len } if bytes.len() > max_len as usize => {
                let front = Value::Bytes(&bytes[..max_len as usize]);
                if is_upper { Bound::Included(front) } else { Bound::Excluded(front) }
            }
            _ => bound,
        }
    }

    const fn mask(&self) -> u8 {
        if self.descending { 0xff } else { 0 }
    }

    /// Appends a value. With it the whole of `out` must not be longer than the limit.
    #[inline]
    pub fn append(&self, value: Value<'_>, limit: usize, out: &mut Vec<u8>) -> Result<(), KeyError> {
        self.append_with_end(value, true, limit, out)
    }

    /// Appends a string that values may begin with: all keys, and only those, whose part begins with it begin with what
    /// is then in `out`. Only parts that vary in length have this.
    pub fn append_beginning(&self, bytes: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), KeyError> {
        assert!(matches!(self.content.column_type, ColumnType::Variable { .. }), "only a string has a beginning");
        self.append_with_end(Value::Bytes(bytes), false, limit, out)
    }

    #[inline]
    fn append_with_end(
        &self,
        value: Value<'_>,
        with_end: bool,
        limit: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), KeyError> {
        self.content.check(value).map_err(|error| KeyError::Value { column: self.column, error })?;
        let start = out.len();
        // Before a long value is copied for nothing.
        if value.bytes().is_some_and(|bytes| bytes.len() > limit.saturating_sub(start)) {
            return Err(KeyError::TooLong { limit });
        }
        if self.content.nullable {
            out.push(if value == Value::Null { NULL_TAG } else { VALUE_TAG });
        }
        match (self.content.column_type, value) {
            (_, Value::Null) => {}
            (ColumnType::Signed(width), Value::Signed(number)) => {
                width.append_big_endian(number as u64 ^ width.sign_bit(), out);
            }
            (ColumnType::Unsigned(width), Value::Unsigned(number)) => width.append_big_endian(number, out),
            (ColumnType::Float, Value::Float(number)) => {
                let bits = if number == 0.0 { 0 } else { number.to_bits() };
                let flip = if bits >> 31 == 1 { u32::MAX } else { 1 << 31 };
                out.extend_from_slice(&(bits ^ flip).to_be_bytes());
            }
            (ColumnType::Double, Value::Double(number)) => {
                let bits = if number == 0.0 { 0 } else { number.to_bits() };
                let flip = if bits >> 63 == 1 { u64::MAX } else { 1 << 63 };
                out.extend_from_slice(&(bits ^ flip).to_be_bytes());
            }
            (ColumnType::Fixed { .. }, Value::Bytes(bytes)) => out.extend_from_slice(bytes),
            (ColumnType::Variable { .. }, Value::Bytes(bytes)) => {
                escape::append(bytes, out);
                if with_end {
                    out.push(escape::END);
                }
            }
            _ => unreachable!("the check above compares the kinds"),
        }
        if out.len() > limit {
            out.truncate(start);
            return Err(KeyError::TooLong { limit });
        }
        if self.descending {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(())
    }

    /// What follows this part at the front of a key. Finds the part's end and looks no closer.
    #[inline]
    pub fn skip<'k>(&self, key: &'k [u8]) -> Result<&'k [u8], Corrupt> {
        let (is_null, key) = self.split_tag(key)?;
        if is_null {
            return Ok(key);
        }
        match self.content.column_type.fixed_len() {
            Some(len) => key.get(len..).ok_or(Corrupt::Truncated),
            None => escape::split(key, self.mask()).map(|(_, rest)| rest),
        }
    }

    /// Whether the part at the front of a key is NULL, and what follows the tag.
    #[inline]
    fn split_tag<'k>(&self, key: &'k [u8]) -> Result<(bool, &'k [u8]), Corrupt> {
        if !self.content.nullable {
            return Ok((false, key));
        }
        let (tag, rest) = key.split_first().ok_or(Corrupt::Truncated)?;
        match tag ^ self.mask() {
            NULL_TAG => Ok((true, rest)),
            VALUE_TAG => Ok((false, rest)),
            _ => Err(Corrupt::NullTag),
        }
    }
}

/// Appends the values of the parts in turn; fewer values than parts make the beginning of a key. The whole of `out` must
/// not become longer than the limit; what was in it before, for instance another part of the same key, stays in front.
pub fn append_key<'v>(
    parts: &[KeyPart],
    values: impl IntoIterator<Item = Value<'v>>,
    limit: usize,
    out: &mut Vec<u8>,
) -> Result<(), KeyError> {
    let start = out.len();
    let mut parts = parts.iter();
    for value in values {
        let part = parts.next().expect("a key is made of no more values than it has parts");
        if let Err(error) = part.append(value, limit, out) {
            out.truncate(start);
            return Err(error);
        }
    }
    Ok(())
}

/// The primary key in a secondary key: what follows the secondary index's own parts.
#[inline]
pub fn primary_key_in<'k>(parts: &[KeyPart], secondary_key: &'k [u8]) -> Result<&'k [u8], Corrupt> {
    parts.iter().try_fold(secondary_key, |key, part| part.skip(key))
}

/// Reads a key part by part. All values may be held at once: strings that are not in the key as they are are put together elsewhere.
#[derive(Debug)]
pub struct KeyReader<'a> {
    rest: &'a [u8],
    room: Room<'a>,
}

/// Where strings are put together.
#[derive(Debug)]
enum Room<'a> {
    /// A buffer that is used again for the next key, and never longer than the longest of them. It is at least as long as what has not
    /// been read, and no value is longer than what it was made from.
    Buffer(&'a mut [u8]),
    /// An arena: those of many keys may be held at once.
    Arena(&'a Bump),
}

impl<'a> KeyReader<'a> {
    /// At the key's first part.
    pub fn new(key: &'a [u8], buffer: &'a mut Vec<u8>) -> Self {
        if buffer.len() < key.len() {
            buffer.resize(key.len(), 0);
        }
        Self { rest: key, room: Room::Buffer(buffer) }
    }

    /// The same, of one of many keys whose values are held at once.
    #[inline]
    pub fn in_arena(key: &'a [u8], arena: &'a Bump) -> Self {
        Self { rest: key, room: Room::Arena(arena) }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Passes over a part.
    #[inline]
    pub fn skip(&mut self, part: &KeyPart) -> Result<(), Corrupt> {
        self.rest = part.skip(self.rest)?;
        Ok(())
    }

    /// The key has been read to its end.
    pub fn finish(self) -> Result<(), Corrupt> {
        self.rest.is_empty().then_some(()).ok_or(Corrupt::Trailing)
    }

    /// Reads a part: what was handed in when the key was made, save for the sign of a zero. After an error the reader is
    /// somewhere inside the part.
    #[inline(always)]
    pub fn read(&mut self, part: &KeyPart) -> Result<Value<'a>, Corrupt> {
        let is_null;
        (is_null, self.rest) = part.split_tag(self.rest)?;
        if is_null {
            return Ok(Value::Null);
        }
        let mask = part.mask();
        Ok(match part.content.column_type {
            ColumnType::Signed(width) => {
                Value::Signed(width.extend_sign(self.integer(width, part.descending)? ^ width.sign_bit()))
            }
            ColumnType::Unsigned(width) => Value::Unsigned(self.integer(width, part.descending)?),
            ColumnType::Float => {
                let bits = self.integer(IntegerWidth::Four, part.descending)? as u32;
                let flip = if bits >> 31 == 1 { 1 << 31 } else { u32::MAX };
                let number = f32::from_bits(bits ^ flip);
                if number.is_nan() || number.to_bits() == (-0.0_f32).to_bits() {
                    return Err(Corrupt::Float);
                }
                Value::Float(number)
            }
            ColumnType::Double => {
                let bits = self.integer(IntegerWidth::Eight, part.descending)?;
                let flip = if bits >> 63 == 1 { 1 << 63 } else { u64::MAX };
                let number = f64::from_bits(bits ^ flip);
                if number.is_nan() || number.to_bits() == (-0.0_f64).to_bits() {
                    return Err(Corrupt::Float);
                }
                Value::Double(number)
            }
            ColumnType::Fixed { len } => {
                let bytes = self.take(usize::from(len))?;
                if mask == 0 {
                    return Ok(Value::Bytes(bytes));
                }
                let room = self.room(bytes.len());
                room.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte ^ mask);
                Value::Bytes(room)
            }
            ColumnType::Variable { max_len } => {
                let (escaped, rest) = escape::split(self.rest, mask)?;
                let bytes = if escape::is_plain(escaped, mask) {
                    escaped
                } else {
                    let room = self.room(escaped.len());
                    let len = escape::unescape(escaped, mask, room)?;
                    &room[..len]
                };
                if bytes.len() > max_len as usize {
                    return Err(Corrupt::TooLong);
                }
                self.rest = rest;
                Value::Bytes(bytes)
            }
        })
    }

    #[inline]
    fn take(&mut self, len: usize) -> Result<&'a [u8], Corrupt> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or(Corrupt::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }

    #[inline]
    fn integer(&mut self, width: IntegerWidth, inverted: bool) -> Result<u64, Corrupt> {
        let number = width.read_big_endian(self.take(width.bytes())?);
        Ok(if inverted { number ^ width.unsigned_max() } else { number })
    }

    fn room(&mut self, len: usize) -> &'a mut [u8] {
        match &mut self.room {
            Room::Buffer(free) => free.split_off_mut(..len).expect("it is as long as what has not been read"),
            Room::Arena(arena) => arena.alloc_slice_fill_copy(len, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::ValueError;

    const LIMIT: usize = 3072;

    fn string() -> Column {
        Column::new(ColumnType::Variable { max_len: 20 })
    }

    fn key(part: KeyPart, value: Value<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        part.append(value, LIMIT, &mut out).expect("the value suits");
        out
    }

    /// The values in ascending order, as keys of one part: compared with each other, read back and skipped.
    fn assert_ordered(column: Column, values: &[Value<'_>]) {
        for part in [KeyPart::new(0, column), KeyPart::new(0, column).descending()] {
            let mut keys: Vec<_> = values.iter().map(|&value| key(part, value)).collect();
            let mut buffer = Vec::new();
            for (key, &value) in keys.iter().zip(values) {
                let mut reader = KeyReader::new(key, &mut buffer);
                assert_eq!(reader.read(&part), Ok(value));
                assert_eq!(reader.finish(), Ok(()));
                assert_eq!(part.skip(key), Ok(&[][..]));
            }
            if part.is_descending() {
                keys.reverse();
            }
            assert!(keys.is_sorted_by(|a, b| a < b), "{part:?}");
        }
    }

    #[test]
    fn integers_of_every_width_are_in_order() {
        for width in IntegerWidth::ALL {
            let (min, max) = (width.signed_min(), width.signed_max());
            let signed = [min, min + 1, -2, -1, 0, 1, 2, max - 1, max].map(Value::Signed);
            let signed: Vec<_> = [Value::Null].into_iter().chain(signed).collect();
            assert_ordered(Column::new(ColumnType::Signed(width)).or_null(), &signed);
            let max = width.unsigned_max();
            let unsigned = [0, 1, 2, max / 2, max / 2 + 1, max - 1, max].map(Value::Unsigned);
            assert_ordered(Column::new(ColumnType::Unsigned(width)), &unsigned);
        }
    }

    #[test]
    fn floating_point_is_in_order_and_has_one_zero() {
        let doubles = [f64::NEG_INFINITY, f64::MIN, -1.5, -5e-324, 0.0, 5e-324, 1.0, 1.5, f64::MAX, f64::INFINITY];
        assert_ordered(Column::new(ColumnType::Double).or_null(), &doubles.map(Value::Double));
        let floats = [f32::NEG_INFINITY, f32::MIN, -1.5, -1e-45, 0.0, 1e-45, 1.5, f32::MAX, f32::INFINITY];
        assert_ordered(Column::new(ColumnType::Float), &floats.map(Value::Float));

        let part = KeyPart::new(0, Column::new(ColumnType::Double));
        assert_eq!(key(part, Value::Double(-0.0)), key(part, Value::Double(0.0)));
        assert!(!part.is_reversible());
        let mut out = Vec::new();
        assert_eq!(
            part.append(Value::Double(f64::NAN), LIMIT, &mut out),
            Err(KeyError::Value { column: 0, error: ValueError::NotANumber })
        );
        // The bytes that a NaN or a zero with a sign would have.
        for bits in [f64::NAN.to_bits() ^ 1 << 63, !(-0.0_f64).to_bits(), !(-f64::NAN).to_bits()] {
            let mut buffer = Vec::new();
            assert_eq!(KeyReader::new(&bits.to_be_bytes(), &mut buffer).read(&part), Err(Corrupt::Float));
        }
    }

    #[test]
    fn bytes_are_in_order() {
        let strings: [&[u8]; 9] = [b"", b"\0", b"\0\0", b"\0a", b"\x01", b"\x02", b"a", b"a\0", b"b"];
        let strings: Vec<_> = [Value::Null].into_iter().chain(strings.map(Value::Bytes)).collect();
        assert_ordered(string().or_null(), &strings);
        let fixed: [&[u8]; 4] = [&[0, 0], &[0, 1], &[1, 0], &[255, 255]];
        assert_ordered(Column::new(ColumnType::Fixed { len: 2 }), &fixed.map(Value::Bytes));
    }

    #[test]
    fn a_secondary_key_gives_back_the_primary_key() {
        let parts = [KeyPart::new(1, string().or_null()).weights(), KeyPart::new(2, string()).descending()];
        let primary = KeyPart::new(0, Column::new(ColumnType::Unsigned(IntegerWidth::Four)));
        let primary_key = key(primary, Value::Unsigned(7));
        let mut out = Vec::new();
        append_key(&parts, [Value::Bytes(b"\0w"), Value::Bytes(b"s")], LIMIT, &mut out).expect("the values suit");
        out.extend_from_slice(&primary_key);
        assert_eq!(out, [1, 1, 1, b'w', 0, !b's', 0xff, 0, 0, 0, 7]);
        assert_eq!(primary_key_in(&parts, &out), Ok(&primary_key[..]));

        // All values are there at once, and the buffer serves again.
        let mut buffer = Vec::new();
        for _ in 0..2 {
            let mut reader = KeyReader::new(&out, &mut buffer);
            let values = [&parts[0], &parts[1], &primary].map(|part| reader.read(part));
            assert_eq!(values, [Ok(Value::Bytes(b"\0w")), Ok(Value::Bytes(b"s")), Ok(Value::Unsigned(7))]);
            assert_eq!(reader.finish(), Ok(()));
        }
        assert!(!parts[0].is_reversible() && parts[1].is_reversible());
    }

    #[test]
    fn a_part_of_a_column_is_never_longer_than_it_says() {
        let part = KeyPart::new(3, string()).prefix(4);
        assert_eq!(part.content().column_type, ColumnType::Variable { max_len: 4 });
        assert!(!part.is_reversible());
        let mut out = vec![9];
        assert!(matches!(part.append(Value::Bytes(b"abcde"), LIMIT, &mut out), Err(KeyError::Value { column: 3, .. })));
        assert_eq!(out, [9]);
        // A prefix as long as the column is the column.
        assert!(KeyPart::new(3, string()).prefix(20).is_reversible());
    }

    #[test]
    fn a_key_beyond_the_limit_leaves_nothing() {
        let parts = [KeyPart::new(0, string()), KeyPart::new(1, string())];
        let mut out = vec![9];
        let values = [Value::Bytes(b"abc"), Value::Bytes(b"de\0")];
        assert_eq!(append_key(&parts, values, 9, &mut out), Err(KeyError::TooLong { limit: 9 }));
        assert_eq!(out, [9]);
        assert_eq!(append_key(&parts, values, 10, &mut out), Ok(()));
        assert_eq!(out.len(), 10);
        // The beginning of a key needs no value for each part.
        let mut beginning = vec![9];
        append_key(&parts, values[..1].iter().copied(), 10, &mut beginning).expect("it suits");
        assert!(out.starts_with(&beginning));
    }

    #[test]
    fn damage_is_named() {
        let nullable = KeyPart::new(0, string().or_null());
        let read = |part: &KeyPart, key: &[u8]| {
            let mut buffer = Vec::new();
            KeyReader::new(key, &mut buffer).read(part).map(drop)
        };
        assert_eq!(read(&nullable, &[]), Err(Corrupt::Truncated));
        assert_eq!(read(&nullable, &[2, 0]), Err(Corrupt::NullTag));
        assert_eq!(read(&nullable, &[1, b'a']), Err(Corrupt::Truncated));
        assert_eq!(read(&nullable, &[1, b'a', 1, 3, 0]), Err(Corrupt::Escape));
        assert_eq!(read(&nullable.prefix(2), b"\x01abc\0"), Err(Corrupt::TooLong));
        let integer = KeyPart::new(0, Column::new(ColumnType::Signed(IntegerWidth::Three)));
        assert_eq!(read(&integer, &[1, 2]), Err(Corrupt::Truncated));
        let mut buffer = Vec::new();
        let mut reader = KeyReader::new(&[0, 0, 0, 0], &mut buffer);
        assert_eq!(reader.skip(&integer), Ok(()));
        assert_eq!(reader.rest(), [0]);
        assert_eq!(reader.finish(), Err(Corrupt::Trailing));
    }
}
