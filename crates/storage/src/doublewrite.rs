//! The doublewrite area: what changes in pages on their way to the data file, so that a page torn by a power loss can be
//! repaired.
//!
//! A file of [`SEGMENTS`] segments, used in turn. Of a batch of pages the sectors that differ from the pages' places are
//! written to the next segment and synced before any page is written to its place.
//!
//! ```text
//!   0        4     8          16       20     512
//!  +--------+-----+----------+--------+------+---------+----------- - - -+---------+----------- - - -+- - -
//!  | crc32c | len | sequence | crc32c | (0)  | sectors | their bytes     | sectors | their bytes     |
//!  +--------+-----+----------+--------+------+---------+----------- - - -+---------+----------- - - -+- - -
//! ```
//!
//! The first crc covers the words behind it, the second the `len` bytes from 512 on. `sectors` is a set, 4 bytes
//! (`page::sectors`); the first sector is always in it, and says which page it is. The sequence tells which segments hold the
//! last batches.
//!
//! # Why the changed sectors do
//! A sector is written whole or not at all, and one whose bytes do not change stays as it is (docs/media.md). So of a page that
//! was being written each sector is as before or as it was to be; those that were to stay are right in any case, and the area
//! has all others. A page may have been written by several of the last batches before the data file was synced: then its
//! sectors may be of any of them, and the newest copy of each sector that any of these batches changed makes the newest page.
//! A page in which a row has changed is 1 to 2 KiB here, instead of 16.
//!
//! # Invariants
//! 1. A segment is overwritten only after the data file has been synced since that segment's pages were written to
//!    their places.
//! 2. The segments always hold the last [`SEGMENTS`] batches, or all but one of them and the remains of the next.
//! 3. A batch's sectors hold all that tells its pages from the pages in their places (`Frame::begin_flush`).
//! 4. So at any moment, of each page either the place holds a whole copy at least as new as what the checkpoint
//!    needs, or place and area together do.
//!
//! # When things fail
//! A segment that is not whole is passed over: its pages had not been touched. What does not make a whole page with what is
//! in the page's place is not written there: the place is damaged by more than a loss of power, and whoever reads it says so.

use std::collections::HashMap;
use std::sync::Arc;

use crate::buffer::DATA_FILE;
use crate::error::{ErrorKind, Result, StorageError};
use crate::ids::{Lsn, PageNo};
use crate::io::{AlignedBuffer, Disk, DiskFile, IO_ALIGN};
use crate::page::bytes::PageBuffer;
use crate::page::sectors::{SECTOR_LEN, Sectors};
use crate::page::{self, PAGE_SIZE};

/// The doublewrite file's name.
pub const DOUBLEWRITE_FILE: &str = "meseta.doublewrite";

/// Batches that the area holds.
pub const SEGMENTS: usize = 4;

/// Bytes before a segment's first page: one sector, which is written whole.
const HEADER_LEN: usize = SECTOR_LEN;
/// Bytes before a page's sectors.
const SET_LEN: usize = 4;

/// The open doublewrite file.
pub struct Doublewrite {
    file: Arc<dyn DiskFile>,
    segment_pages: usize,
    /// The last batch's number; batch `n` is in segment `n % SEGMENTS`.
    sequence: u64,
    /// Segments used since the data file was last synced.
    unsynced: usize,
    /// Here a batch is put together. None before the first: who only opens or looks needs none.
    segment: Option<AlignedBuffer>,
}

/// What a segment's header says.
#[derive(Clone, Copy)]
struct Header {
    len: u32,
    sequence: u64,
    /// Of the `len` bytes behind the header.
    crc: u32,
}

impl Header {
    fn encode(self, out: &mut [u8]) {
        out[..HEADER_LEN].fill(0);
        out[4..8].copy_from_slice(&self.len.to_le_bytes());
        out[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        out[16..20].copy_from_slice(&self.crc.to_le_bytes());
        let crc = page::crc32c(&out[4..20]);
        out[..4].copy_from_slice(&crc.to_le_bytes());
    }

    /// `None` for a segment never used, or torn: its batch had not been written to its places.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let sequence = u64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes"));
        let is_whole = word(0) == page::crc32c(&bytes[4..20]) && sequence > 0;
        is_whole.then(|| Self { len: word(4), sequence, crc: word(16) })
    }

    /// The sets and sectors in a segment, if they are those that the header was written with.
    fn pages(self, segment: &[u8]) -> Option<&[u8]> {
        let pages = segment[HEADER_LEN..].get(..self.len as usize)?;
        (page::crc32c(pages) == self.crc).then_some(pages)
    }
}

/// The first page of those in a segment: which sectors, their bytes, and what is behind them. `None` at the end.
fn split_page(pages: &[u8]) -> Option<(Sectors, &[u8], &[u8])> {
    let (set, bytes) = pages.split_first_chunk::<SET_LEN>()?;
    let sectors = Sectors::from_bits(u32::from_le_bytes(*set));
    let (changed, rest) = bytes.split_at_checked(sectors.byte_len())?;
    sectors.has_first().then_some((sectors, changed, rest))
}

fn segment_len(segment_pages: usize) -> usize {
    (HEADER_LEN + segment_pages * (SET_LEN + PAGE_SIZE)).next_multiple_of(IO_ALIGN)
}

fn read_failed(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> StorageError {
    let what = what.into();
    move |error| ErrorKind::Read { what, error }.into()
}

/// What the last batches changed in a page.
pub struct PageCopy {
    /// Right where `sectors` says so.
    bytes: Box<PageBuffer>,
    sectors: Sectors,
}

impl PageCopy {
    fn new() -> Self {
        Self { bytes: PageBuffer::boxed(), sectors: Sectors::NONE }
    }

    /// Takes over what a later batch changed: `sectors`, whose bytes are `changed`.
    fn add(&mut self, sectors: Sectors, mut changed: &[u8]) {
        for stretch in sectors.stretches() {
            let head;
            (head, changed) = changed.split_at(stretch.len());
            self.bytes.bytes_mut()[stretch].copy_from_slice(head);
        }
        self.sectors.add(sectors);
    }

    /// Makes a page, as its place holds it, what it was to be. Returns whether it was something else: torn, or older.
    /// Left as it is if that would not make it whole.
    pub fn mend(&self, number: PageNo, place: &mut [u8], log_end: Lsn) -> bool {
        let is_whole = page::check_sealed(place, number, log_end).is_ok();
        if is_whole && page::sealed_lsn(place) >= page::sealed_lsn(self.bytes.bytes()) {
            return false;
        }
        let before = place.to_vec();
        for stretch in self.sectors.stretches() {
            place[stretch.clone()].copy_from_slice(&self.bytes.bytes()[stretch]);
        }
        let mended = page::check_sealed(place, number, log_end).is_ok();
        if !mended {
            place.copy_from_slice(&before);
        }
        mended
    }
}

impl Doublewrite {
    /// Creates the file, for batches of at most `segment_pages`.
    pub fn create(disk: &dyn Disk, segment_pages: usize) -> Result<()> {
        let bytes = (SEGMENTS * segment_len(segment_pages)) as u64;
        let setup = ErrorKind::setup(format!("creating {DOUBLEWRITE_FILE}"));
        let file = disk.create(DOUBLEWRITE_FILE).map_err(&setup)?;
        file.allocate(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::StorageFull => ErrorKind::DiskFull { file: DOUBLEWRITE_FILE.into(), bytes },
            _ => setup(error),
        })?;
        file.sync().map_err(&setup)?;
        Ok(())
    }

    /// Opens the file, made for batches of as many pages as its length says.
    pub fn open_by_len(disk: &dyn Disk) -> Result<Self> {
        let len = disk.open(DOUBLEWRITE_FILE).and_then(|file| file.len()).unwrap_or(0) as usize;
        Self::open(disk, (len / SEGMENTS).saturating_sub(HEADER_LEN) / (SET_LEN + PAGE_SIZE))
    }

    /// Opens the file, made for batches of `segment_pages`.
    pub fn open(disk: &dyn Disk, segment_pages: usize) -> Result<Self> {
        let setup = ErrorKind::setup(format!("opening {DOUBLEWRITE_FILE}"));
        let file = disk.open(DOUBLEWRITE_FILE).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                ErrorKind::MissingFile { directory: disk.describe(), file: DOUBLEWRITE_FILE.into() }
            }
            _ => setup(error),
        })?;
        let found = file.len().map_err(&setup)?;
        let expected = (SEGMENTS * segment_len(segment_pages)) as u64;
        if found < expected {
            return Err(ErrorKind::Truncated { file: DOUBLEWRITE_FILE.into(), found, expected }.into());
        }
        let mut opened = Self { file, segment_pages, sequence: 0, unsynced: 0, segment: None };
        let mut header = AlignedBuffer::new(HEADER_LEN);
        for sequence in 0..SEGMENTS as u64 {
            opened.file.read_exact_at(&mut header, opened.offset(sequence)).map_err(read_failed(DOUBLEWRITE_FILE))?;
            if let Some(header) = Header::decode(&header) {
                opened.sequence = opened.sequence.max(header.sequence);
            }
        }
        Ok(opened)
    }

    /// Where the segment of a batch begins.
    fn offset(&self, sequence: u64) -> u64 {
        sequence % SEGMENTS as u64 * segment_len(self.segment_pages) as u64
    }

    /// Pages in a batch.
    pub fn segment_pages(&self) -> usize {
        self.segment_pages
    }

    /// Whether the data file has to be synced before the next [`Doublewrite::write`] (invariant 1).
    pub fn must_sync_data(&self) -> bool {
        self.unsynced == SEGMENTS
    }

    /// The data file has been synced, and no batch is under way.
    pub fn data_synced(&mut self) {
        self.unsynced = 0;
    }

    /// Writes a batch of sealed pages, and where each differs from what is in its place; durable after
    /// [`Doublewrite::sync`].
    pub fn write<'c>(&mut self, batch: impl Iterator<Item = (&'c [u8], Sectors)>) -> std::io::Result<()> {
        assert!(!self.must_sync_data());
        self.sequence += 1;
        self.unsynced += 1;
        let offset = self.offset(self.sequence);
        let segment = self.segment.get_or_insert_with(|| AlignedBuffer::new(segment_len(self.segment_pages)));
        let mut end = HEADER_LEN;
        let mut put = |bytes: &[u8]| {
            segment[end..end + bytes.len()].copy_from_slice(bytes);
            end += bytes.len();
        };
        for (page, mut changed) in batch {
            // Of every page the header: it says whose the sectors are, and sealing has changed the checksum.
            changed.add_stretch(0, page::HEADER_LEN);
            put(&changed.bits().to_le_bytes());
            changed.stretches().for_each(|stretch| put(&page[stretch]));
        }
        let crc = page::crc32c(&segment[HEADER_LEN..end]);
        Header { len: (end - HEADER_LEN) as u32, sequence: self.sequence, crc }.encode(segment);
        self.file.write_all_at(&segment[..end.next_multiple_of(IO_ALIGN)], offset)
    }

    /// Syncs what was written.
    pub fn sync(&self) -> std::io::Result<()> {
        self.file.sync()
    }

    /// What the last batches changed in pages of a data file of `data_len` bytes.
    ///
    /// Errors: reading failed.
    pub fn copies(&self, data_len: u64) -> Result<HashMap<PageNo, PageCopy>> {
        let mut copies = HashMap::new();
        let mut segment = AlignedBuffer::new(segment_len(self.segment_pages));
        // In the order in which they were written: the last one's sectors count.
        let oldest = (self.sequence + 1).saturating_sub(SEGMENTS as u64).max(1);
        for sequence in oldest..=self.sequence {
            self.file.read_exact_at(&mut segment, self.offset(sequence)).map_err(read_failed(DOUBLEWRITE_FILE))?;
            let Some(header) = Header::decode(&segment).filter(|header| header.sequence == sequence) else { continue };
            let Some(mut pages) = header.pages(&segment) else { continue };
            while let Some((sectors, changed, rest)) = split_page(pages) {
                let number = page::sealed_number(changed);
                if number.offset() + PAGE_SIZE as u64 <= data_len {
                    copies.entry(number).or_insert_with(PageCopy::new).add(sectors, changed);
                }
                pages = rest;
            }
        }
        Ok(copies)
    }

    /// After a crash: mends every page that is damaged or older than its copy. Returns how many.
    ///
    /// Errors: reading or writing failed.
    pub fn repair(&self, data: &dyn DiskFile, log_end: Lsn) -> Result<usize> {
        let copies = self.copies(data.len().map_err(read_failed(DATA_FILE))?)?;
        let mut repaired = 0;
        let mut place = AlignedBuffer::new(PAGE_SIZE);
        for (number, copy) in copies {
            data.read_exact_at(&mut place, number.offset()).map_err(read_failed(format!("{DATA_FILE}, {number}")))?;
            if copy.mend(number, &mut place, log_end) {
                data.write_all_at(&place, number.offset())
                    .map_err(ErrorKind::setup(format!("repairing {number} of {DATA_FILE}")))?;
                repaired += 1;
            }
        }
        Ok(repaired)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_are_taken_apart_without_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..3 * PAGE_SIZE), set: u32) {
            if let Some(first) = bytes.first_chunk_mut() {
                *first = set.to_le_bytes();
            }
            let (mut copy, mut pages, mut taken) = (PageCopy::new(), &bytes[..], 0);
            while let Some((sectors, changed, rest)) = split_page(pages) {
                prop_assert!(sectors.byte_len() == changed.len() && changed.len() >= page::HEADER_LEN);
                copy.add(sectors, changed);
                taken += SET_LEN + changed.len();
                pages = rest;
            }
            prop_assert_eq!(taken + pages.len(), bytes.len());
        }
    }
}
