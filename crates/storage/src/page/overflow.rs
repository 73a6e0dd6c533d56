//! Pieces of long values. A value that does not fit into its leaf is cut into pages, each naming the next.
//!
//! ```text
//!  24         28        32
//!  +---------+---------+--------------------- - - -
//!  | next    | len     | bytes of the value
//!  +---------+---------+--------------------- - - -
//! ```
//!
//! The leaf keeps the value's head, its first [`HEAD_LEN`] bytes or so, and behind it a [`Reference`] to the rest: first page, length,
//! and CRC-32C. Pieces never change once written; a reader that raced with their removal finds out by the checksum or the length.
//!
//! ```text
//!   in the leaf:   | head | first page | len | crc32c |        in the pages:   rest of the value
//! ```
//! So what changes in the head is written in the leaf alone. (Stores of version 2 and before had no heads: theirs are empty.)

use super::bytes::{PageBuffer, PageMut, PageRef};
use super::{PAGE_SIZE, PageKind};
use crate::ids::{PageNo, TreeId};

const NEXT: usize = 24;
const LEN: usize = 28;
const BYTES: usize = 32;

/// Bytes of a value that one page holds.
pub const PIECE_LEN_MAX: usize = PAGE_SIZE - BYTES;

/// Bytes of a long value that stay in the leaf, if there is room beside the key: what a row's columns of fixed length take, and the
/// ends of the others, as a rule.
pub const HEAD_LEN: usize = 512;

/// Bytes of an encoded [`Reference`].
pub const REFERENCE_LEN: usize = 12;

/// Bytes of the longest value.
pub const VALUE_LEN_MAX: usize = 1 << 30;

/// Where the rest of a long value is, as its leaf entry says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference {
    /// The first piece.
    pub first: PageNo,
    /// Bytes in all pieces.
    pub len: u32,
    /// CRC-32C of all of them.
    pub crc: u32,
}

impl Reference {
    /// The bytes that stand in the leaf.
    pub fn encode(self) -> [u8; REFERENCE_LEN] {
        let mut bytes = [0; REFERENCE_LEN];
        bytes[..4].copy_from_slice(&self.first.0.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.len.to_le_bytes());
        bytes[8..].copy_from_slice(&self.crc.to_le_bytes());
        bytes
    }

    /// Reads what stands in a leaf; `None` if it is not a reference's length.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; REFERENCE_LEN] = bytes.try_into().ok()?;
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        Some(Self { first: PageNo(word(0)), len: word(4), crc: word(8) })
    }

    /// What stands in a leaf for a long value: its head, and where the rest is. `None` if it is too short.
    pub fn split_off(stored: &[u8]) -> Option<(&[u8], Self)> {
        let (head, reference) = stored.split_at_checked(stored.len().checked_sub(REFERENCE_LEN)?)?;
        Some((head, Self::decode(reference)?))
    }

    /// What is to stand there.
    pub fn behind(self, head: &[u8]) -> Vec<u8> {
        [head, &self.encode()].concat()
    }

    /// Number of pages that hold it.
    pub fn page_count(self) -> usize {
        (self.len as usize).div_ceil(PIECE_LEN_MAX)
    }
}

/// Makes one piece.
pub fn build(page_no: PageNo, tree: TreeId, next: Option<PageNo>, piece: &[u8]) -> Box<PageBuffer> {
    let mut image = PageBuffer::boxed();
    let mut page = PageMut::of(&mut image);
    page.set_header(page_no, tree, PageKind::Overflow, 0);
    page.set_u32(NEXT, next.map_or(0, |next| next.0));
    page.set_u32(LEN, piece.len() as u32);
    page.write(BYTES, piece);
    image
}

/// The next piece's page.
pub fn next(page: PageRef<'_>) -> Option<PageNo> {
    let next = page.u32(NEXT);
    (next != 0).then_some(PageNo(next))
}

/// Appends a piece's bytes to `out`.
pub fn append_piece(page: PageRef<'_>, out: &mut Vec<u8>) {
    page.append_to(BYTES, (page.u32(LEN) as usize).min(PIECE_LEN_MAX), out);
}

/// The stretches of a piece that carry information.
pub fn occupied(page: PageRef<'_>) -> [(usize, usize); 2] {
    [(super::TREE, BYTES - super::TREE), (BYTES, (page.u32(LEN) as usize).min(PIECE_LEN_MAX))]
}

/// Checks what can be seen in one page.
pub fn check(page: PageRef<'_>) -> Result<(), String> {
    let len = page.u32(LEN) as usize;
    if len == 0 || len > PIECE_LEN_MAX {
        return Err(format!("overflow piece of {len} bytes, expected 1..={PIECE_LEN_MAX}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_and_its_reference_come_back() {
        let image = build(PageNo(9), TreeId(2), Some(PageNo(10)), b"long");
        let page = PageRef::of(&image);
        check(page).unwrap();
        assert_eq!((next(page), page.page_no()), (Some(PageNo(10)), PageNo(9)));
        let mut out = Vec::new();
        append_piece(page, &mut out);
        assert_eq!(out, b"long");
        let reference = Reference { first: PageNo(9), len: 40_000, crc: 77 };
        assert_eq!(Reference::decode(&reference.encode()), Some(reference));
        assert_eq!(reference.page_count(), 3);
        assert_eq!(Reference::decode(b"short"), None);
        for head in [&b""[..], b"head"] {
            assert_eq!(Reference::split_off(&reference.behind(head)), Some((head, reference)));
        }
        assert_eq!(Reference::split_off(b"short"), None);
    }
}
