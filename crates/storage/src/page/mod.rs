//! What a page's bytes mean. Only this folder knows offsets inside a page.
//!
//! ```text
//!   0        4          8          16      20     21      22      24
//!  +--------+----------+----------+-------+------+-------+-------+----------------- - - -
//!  | crc32c | page no  | page LSN | tree  | kind | level | (0)   | by kind: node, overflow, space map
//!  +--------+----------+----------+-------+------+-------+-------+----------------- - - -
//! ```
//!
//! # Invariants
//! 1. On disk, `crc32c` covers every byte after itself, and `page no` is the page's own. Both are written by
//!    [`seal`] on the copy that goes to disk, and checked by [`check_sealed`] on every read from disk; in memory
//!    the crc is stale.
//! 2. `page LSN` is the position of the last log record applied to the page; it never falls.

pub mod bytes;
pub mod node;
pub mod overflow;
pub mod sectors;
pub mod space_map;

use bytes::{PageMut, PageRef};

use crate::ids::{Lsn, PageNo, TreeId};

/// Bytes in a page. A compile-time constant: 16 KiB, because keys reach 3 KiB and a page holds at least two
/// entries beside its two fence keys (docs/decisions/2026-11-21-page-size.md has the figures).
pub const PAGE_SIZE: usize = 16 * 1024;

/// Bytes of the header that every page has.
pub const HEADER_LEN: usize = 24;

const CRC: usize = 0;
const PAGE_NO: usize = 4;
const PAGE_LSN: usize = 8;
const TREE: usize = 16;
const KIND: usize = 20;
const LEVEL: usize = 21;

const _: () = assert!(PAGE_SIZE.is_power_of_two() && PAGE_SIZE.is_multiple_of(crate::io::IO_ALIGN));
const _: () = assert!(PAGE_SIZE <= 32 * 1024, "offsets inside a page are u16");

/// What a page is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PageKind {
    /// Belonged to something once, and belongs to nothing now.
    Free = 1,
    /// A node of a tree; level 0 is a leaf.
    Node = 2,
    /// A piece of a long value.
    Overflow = 3,
    /// Says which pages are whose.
    SpaceMap = 4,
    /// The root of a tree that is being dropped.
    DroppedRoot = 5,
}

impl PageKind {
    /// The kind with this number.
    pub fn from_u8(value: u8) -> Option<PageKind> {
        [PageKind::Free, PageKind::Node, PageKind::Overflow, PageKind::SpaceMap, PageKind::DroppedRoot]
            .into_iter()
            .find(|&kind| kind as u8 == value)
    }
}

/// The header fields of a page, read one by one.
impl PageRef<'_> {
    /// The page's own number.
    pub fn page_no(self) -> PageNo {
        PageNo(self.u32(PAGE_NO))
    }

    /// The position of the last log record applied.
    pub fn page_lsn(self) -> Lsn {
        Lsn(self.u64(PAGE_LSN))
    }

    /// Whose page it is.
    pub fn tree(self) -> TreeId {
        TreeId(self.u32(TREE))
    }

    /// What the page is for; `None` for bytes that no version of this program wrote.
    pub fn kind(self) -> Option<PageKind> {
        PageKind::from_u8(self.u8(KIND))
    }

    /// Height above the leaves.
    #[inline(always)]
    pub fn level(self) -> u8 {
        self.u8(LEVEL)
    }
}

impl PageMut<'_> {
    /// Writes a header for a page whose content is about to be made; everything but the LSN.
    pub fn set_header(&mut self, page: PageNo, tree: TreeId, kind: PageKind, level: u8) {
        self.set_u32(PAGE_NO, page.0);
        self.set_u32(TREE, tree.0);
        self.set_u8(KIND, kind as u8);
        self.set_u8(LEVEL, level);
        self.set_u16(22, 0);
    }

    /// Writes the page's own number.
    pub fn set_number(&mut self, page: PageNo) {
        self.set_u32(PAGE_NO, page.0);
    }

    /// Changes what the page is for.
    pub fn set_kind(&mut self, kind: PageKind) {
        self.set_u8(KIND, kind as u8);
    }

    /// Notes the last log record applied.
    pub fn set_page_lsn(&mut self, lsn: Lsn) {
        self.set_u64(PAGE_LSN, lsn.0);
    }
}

/// The CRC-32C of `bytes`, by the processor's own instructions where it has them.
pub fn crc32c(bytes: &[u8]) -> u32 {
    crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32Iscsi, bytes) as u32
}

/// Writes the checksum into a private copy of a page that is about to go to disk.
pub fn seal(page: &mut [u8]) {
    let crc = crc32c(&page[CRC + 4..PAGE_SIZE]);
    page[CRC..CRC + 4].copy_from_slice(&crc.to_le_bytes());
}

/// Checks bytes that came from disk: checksum, identity, and an LSN that the log has reached.
///
/// Errors: a sentence with what was expected and what was found.
pub fn check_sealed(page: &[u8], expected: PageNo, log_end: Lsn) -> Result<(), String> {
    let word = |at: usize| u32::from_le_bytes(page[at..at + 4].try_into().expect("four bytes"));
    let (stored, computed) = (word(CRC), crc32c(&page[CRC + 4..PAGE_SIZE]));
    if stored != computed {
        if page.iter().all(|&byte| byte == 0) {
            return Err("expected a page, found only zeroes".into());
        }
        return Err(format!("checksum: the page says {stored:#010x}, its bytes give {computed:#010x}"));
    }
    let number = PageNo(word(PAGE_NO));
    if number != expected {
        return Err(format!("identity: expected {expected}, found {number}"));
    }
    let lsn = sealed_lsn(page);
    if lsn > log_end {
        return Err(format!("page LSN: the page is as of {lsn}, but the log ends at {log_end}"));
    }
    Ok(())
}

/// The number that bytes from disk say is their page's.
pub fn sealed_number(page: &[u8]) -> PageNo {
    PageNo(u32::from_le_bytes(page[PAGE_NO..PAGE_NO + 4].try_into().expect("four bytes")))
}

/// The LSN of a page's bytes that came from disk and were checked.
pub fn sealed_lsn(page: &[u8]) -> Lsn {
    Lsn(u64::from_le_bytes(page[PAGE_LSN..PAGE_LSN + 8].try_into().expect("eight bytes")))
}

/// Checks that a page's content can be walked without looking outside it, whatever its bytes are. Part of every
/// read from disk.
///
/// Errors: a sentence with what is wrong.
pub fn check_layout(page: PageRef<'_>) -> Result<(), String> {
    match page.kind() {
        Some(PageKind::Node | PageKind::DroppedRoot) => node::check_layout(page),
        _ => check_structure(page),
    }
}

/// Checks all that can be seen of a page's content in the page itself, whatever its bytes are.
///
/// Errors: a sentence with what is wrong.
pub fn check_structure(page: PageRef<'_>) -> Result<(), String> {
    match page.kind() {
        Some(PageKind::Free) => Ok(()),
        Some(PageKind::Node | PageKind::DroppedRoot) => node::check(page),
        Some(PageKind::Overflow) => overflow::check(page),
        Some(PageKind::SpaceMap) => space_map::check(page),
        None => Err(format!("page kind {} is unknown", page.u8(KIND))),
    }
}

#[cfg(test)]
mod tests {
    use super::bytes::PageBuffer;
    use super::*;

    #[test]
    fn every_flipped_bit_is_noticed() {
        let mut buffer = PageBuffer::boxed();
        PageMut::of(&mut buffer).set_header(PageNo(7), TreeId(3), PageKind::Free, 0);
        let bytes = buffer.bytes_mut();
        seal(bytes);
        check_sealed(bytes, PageNo(7), Lsn(0)).expect("sealed");
        for bit in (0..PAGE_SIZE * 8).step_by(97) {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(check_sealed(bytes, PageNo(7), Lsn(0)).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(check_sealed(bytes, PageNo(8), Lsn(0)).unwrap_err().contains("identity"));
    }

    #[test]
    fn a_page_from_the_future_is_refused() {
        let mut buffer = PageBuffer::boxed();
        let mut page = PageMut::of(&mut buffer);
        page.set_header(PageNo(1), TreeId(1), PageKind::Free, 0);
        page.set_page_lsn(Lsn(100));
        seal(buffer.bytes_mut());
        assert!(check_sealed(buffer.bytes(), PageNo(1), Lsn(100)).is_ok());
        assert!(check_sealed(buffer.bytes(), PageNo(1), Lsn(99)).unwrap_err().contains("LSN"));
    }
}
