//! The shapes that all packets are made of: integers of fixed length, integers of which the first byte says the
//! length, strings to the end, to a zero byte, or with their length before them.
//!
//! ```text
//! length-encoded integer:  00..FA           itself
//!                          FB               NULL (in a text row only)
//!                          FC aa bb         two bytes, little end first
//!                          FD aa bb cc      three
//!                          FE aa .. hh      eight
//! ```
//!
//! [`Take`] reads: each method looks whether the bytes are there before it believes a length, so nothing here panics
//! or allocates on hostile input. The `put_` functions append to a `Vec<u8>`.
//!
//! Source: "Protocol Basics: Data Types" of the MySQL source documentation.

use crate::error::{ProtocolError, Result};

/// Reads a packet from its front. What is read is borrowed from the packet, not copied.
#[derive(Debug, Clone, Copy)]
pub struct Take<'a> {
    rest: &'a [u8],
}

impl<'a> Take<'a> {
    /// Reads `bytes` from their front.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Take<'a> {
        Take { rest: bytes }
    }

    /// What has not been read yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Whether all has been read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `length` bytes.
    #[inline]
    pub fn bytes(&mut self, length: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(length) {
            Some((bytes, rest)) => {
                self.rest = rest;
                Ok(bytes)
            }
            None => Err(ProtocolError::Malformed("it ends too early")),
        }
    }

    /// The next bytes, as many as the array has.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((array, rest)) => {
                self.rest = rest;
                Ok(*array)
            }
            None => Err(ProtocolError::Malformed("it ends too early")),
        }
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Two bytes, little end first.
    #[inline]
    pub fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    /// Three bytes, little end first.
    #[inline]
    pub fn u24(&mut self) -> Result<u32> {
        let [a, b, c] = self.array()?;
        Ok(u32::from_le_bytes([a, b, c, 0]))
    }

    /// Four bytes, little end first.
    #[inline]
    pub fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// Eight bytes, little end first.
    #[inline]
    pub fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A length-encoded integer. NULL and FF are not integers.
    #[inline]
    pub fn integer(&mut self) -> Result<u64> {
        match self.u8()? {
            small @ 0..=0xFA => Ok(u64::from(small)),
            0xFC => Ok(u64::from(self.u16()?)),
            0xFD => Ok(u64::from(self.u24()?)),
            0xFE => self.u64(),
            _ => Err(ProtocolError::Malformed("not a length-encoded integer")),
        }
    }

    /// Bytes with their length before them. No packet has 4 GiB: of a length in eight bytes the upper four are not looked at,
    /// as MySQL does not either. (mysql2, for Node.js, writes the lower ones there again.)
    #[inline]
    pub fn string(&mut self) -> Result<&'a [u8]> {
        let length = self.integer()? & u64::from(u32::MAX);
        match usize::try_from(length) {
            Ok(length) => self.bytes(length),
            Err(_) => Err(ProtocolError::Malformed("it ends too early")),
        }
    }

    /// Bytes with their length before them, or NULL: a value of a text row.
    #[inline]
    pub fn nullable_string(&mut self) -> Result<Option<&'a [u8]>> {
        if self.rest.first() == Some(&0xFB) {
            self.rest = &self.rest[1..];
            return Ok(None);
        }
        self.string().map(Some)
    }

    /// Bytes up to a zero byte, which is taken as well and not returned.
    pub fn zero_ended(&mut self) -> Result<&'a [u8]> {
        match self.rest.iter().position(|&byte| byte == 0) {
            Some(end) => {
                let bytes = &self.rest[..end];
                self.rest = &self.rest[end + 1..];
                Ok(bytes)
            }
            None => Err(ProtocolError::Malformed("a string has no end")),
        }
    }

    /// All that is left.
    pub fn to_end(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }
}

/// Appends a length-encoded integer.
#[inline]
pub fn put_integer(to: &mut Vec<u8>, value: u64) {
    match value {
        0..=0xFA => to.push(value as u8),
        0xFB..=0xFFFF => {
            let [a, b] = (value as u16).to_le_bytes();
            to.extend_from_slice(&[0xFC, a, b]);
        }
        0x1_0000..=0xFF_FFFF => {
            let [a, b, c, _] = (value as u32).to_le_bytes();
            to.extend_from_slice(&[0xFD, a, b, c]);
        }
        _ => {
            to.push(0xFE);
            to.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// Appends bytes with their length before them.
#[inline]
pub fn put_string(to: &mut Vec<u8>, bytes: &[u8]) {
    put_integer(to, bytes.len() as u64);
    to.extend_from_slice(bytes);
}

/// Appends bytes and a zero byte. A zero byte inside would end them early: the bytes are cut there.
pub fn put_zero_ended(to: &mut Vec<u8>, bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    to.extend_from_slice(&bytes[..end]);
    to.push(0);
}

/// How many bytes a length-encoded integer takes.
pub fn integer_length(value: u64) -> usize {
    match value {
        0..=0xFA => 1,
        0xFB..=0xFFFF => 3,
        0x1_0000..=0xFF_FFFF => 4,
        _ => 9,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_strings_length_four_bytes_count() {
        let bytes = [&[0xFE, 2, 0, 0, 0, 2, 0, 0, 0][..], b"ab"].concat();
        assert_eq!(Take::new(&bytes).string(), Ok(&b"ab"[..]));
        let bytes = [&[0xFE, 3, 0, 0, 0, 3, 0, 0, 0][..], b"ab"].concat();
        assert!(Take::new(&bytes).string().is_err());
    }

    #[test]
    fn integers_of_all_lengths_come_back() {
        for value in [0, 1, 0xFA, 0xFB, 0xFC, 0xFFFF, 0x1_0000, 0xFF_FFFF, 0x100_0000, u64::MAX] {
            let mut bytes = Vec::new();
            put_integer(&mut bytes, value);
            assert_eq!(bytes.len(), integer_length(value));
            let mut take = Take::new(&bytes);
            assert_eq!(take.integer(), Ok(value));
            assert!(take.is_empty());
            for cut in 0..bytes.len() {
                assert!(Take::new(&bytes[..cut]).integer().is_err());
            }
        }
        assert!(Take::new(&[0xFB]).integer().is_err());
        assert!(Take::new(&[0xFF, 1, 2, 3, 4, 5, 6, 7, 8]).integer().is_err());
    }

    #[test]
    fn a_length_is_looked_at_before_it_is_believed() {
        assert!(Take::new(b"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFabc").string().is_err());
        assert!(Take::new(b"\x04abc").string().is_err());
        assert_eq!(Take::new(b"\x03abcd").string(), Ok(&b"abc"[..]));
        assert_eq!(Take::new(b"\xFB").nullable_string(), Ok(None));
        assert!(Take::new(b"abc").zero_ended().is_err());
        let mut take = Take::new(b"abc\0de");
        assert_eq!(take.zero_ended(), Ok(&b"abc"[..]));
        assert_eq!((take.to_end(), take.to_end()), (&b"de"[..], &b""[..]));
    }
}
