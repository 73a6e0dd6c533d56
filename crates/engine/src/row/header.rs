//! The version header: the first sixteen bytes of each entry of a table's trees.
//!
//! ```text
//!   0                 8            13       15      16
//!  +-----------------+------------+--------+-------+- - - - - - - - - - - - - -
//!  | writer          | number     | slot   | flags | row, or what a key cannot give back
//!  +-----------------+------------+--------+-------+- - - - - - - - - - - - - -
//!                     \____________________/         all little-endian
//!                      which record of the writer's undo tells what was here before
//! ```
//!
//! The writer comes first, since whether its change is visible is the only question for most entries. The header's
//! length never changes, so a header is replaced by patching the entry, without its row.
//!
//! # Invariants
//! 1. A header that decodes encodes to the same bytes: flags that mean nothing are [`Corrupt`], so that they can be
//!    given a meaning.

use super::error::Corrupt;
use crate::ids::{SlotNo, TransactionId};

/// Bytes of a header.
pub const VERSION_HEADER_LEN: usize = 16;
/// The highest number of an undo record: a million changes a second for twelve days, in one transaction.
pub const NUMBER_MAX: u64 = (1 << NUMBER_BITS) - 1;

const NUMBER_BITS: u32 = 40;
const FLAGS_SHIFT: u32 = NUMBER_BITS + 16;
const DELETED: u8 = 1;

/// Who wrote an entry, and where it says what was there before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VersionHeader {
    /// The transaction.
    pub writer: TransactionId,
    /// The row is deleted: the entry is there for those who may still see what was before.
    pub deleted: bool,
    /// The undo tree that the writer writes to.
    pub slot: SlotNo,
    /// The undo record's number, of the writer's; at most [`NUMBER_MAX`].
    pub number: u64,
}

impl VersionHeader {
    /// Of an entry that nobody's change made: everybody sees it.
    pub const BUILT: Self = Self { writer: TransactionId::NOBODY, deleted: false, slot: SlotNo(0), number: 0 };

    /// As the first bytes of an entry.
    pub fn to_bytes(self) -> [u8; VERSION_HEADER_LEN] {
        assert!(self.number <= NUMBER_MAX, "a transaction has fewer undo records than a number has room for");
        let flags = if self.deleted { DELETED } else { 0 };
        let word = u64::from(flags) << FLAGS_SHIFT | u64::from(self.slot.0) << NUMBER_BITS | self.number;
        let mut bytes = [0; VERSION_HEADER_LEN];
        bytes[..8].copy_from_slice(&self.writer.0.to_le_bytes());
        bytes[8..].copy_from_slice(&word.to_le_bytes());
        bytes
    }

    /// From the first bytes of an entry.
    #[inline]
    pub fn from_bytes(bytes: &[u8; VERSION_HEADER_LEN]) -> Result<Self, Corrupt> {
        let number = u128::from_le_bytes(*bytes);
        let (writer, word) = (number as u64, (number >> 64) as u64);
        let flags = (word >> FLAGS_SHIFT) as u8;
        if flags & !DELETED != 0 {
            return Err(Corrupt::Flags);
        }
        Ok(Self {
            writer: TransactionId(writer),
            deleted: flags & DELETED != 0,
            slot: SlotNo((word >> NUMBER_BITS) as u16),
            number: word & NUMBER_MAX,
        })
    }

    /// Takes the header off an entry's value, and hands out what follows.
    #[inline]
    pub fn split_off(value: &[u8]) -> Result<(Self, &[u8]), Corrupt> {
        let (header, rest) = value.split_first_chunk().ok_or(Corrupt::Truncated)?;
        Ok((Self::from_bytes(header)?, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back() {
        for (writer, slot, number) in [(0, 0, 0), (1, 2, 3), (u64::MAX, u16::MAX, NUMBER_MAX)] {
            for deleted in [false, true] {
                let header = VersionHeader { writer: TransactionId(writer), deleted, slot: SlotNo(slot), number };
                let mut value = header.to_bytes().to_vec();
                value.extend_from_slice(b"row");
                assert_eq!(VersionHeader::split_off(&value), Ok((header, &b"row"[..])));
                assert_eq!(VersionHeader::split_off(&value[..16]), Ok((header, &b""[..])));
                assert_eq!(VersionHeader::split_off(&value[..15]), Err(Corrupt::Truncated));
            }
        }
    }

    #[test]
    fn each_field_is_where_the_picture_says() {
        let header = VersionHeader {
            writer: TransactionId(0x0102),
            deleted: true,
            slot: SlotNo(0x0304),
            number: 0x05_0607_0809,
        };
        assert_eq!(header.to_bytes(), [2, 1, 0, 0, 0, 0, 0, 0, 9, 8, 7, 6, 5, 4, 3, 1]);
    }

    #[test]
    fn flags_that_mean_nothing_are_refused() {
        for flags in 2..=u8::MAX {
            let mut bytes = [0; VERSION_HEADER_LEN];
            bytes[15] = flags;
            assert_eq!(VersionHeader::from_bytes(&bytes), Err(Corrupt::Flags));
        }
    }

    #[test]
    #[should_panic(expected = "fewer undo records")]
    fn a_number_that_has_no_room_is_a_bug() {
        let _ = VersionHeader { writer: TransactionId(1), deleted: false, slot: SlotNo(0), number: NUMBER_MAX + 1 }
            .to_bytes();
    }
}
