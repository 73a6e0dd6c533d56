//! The doublewrite area: copies of pages on their way to the data file, so that a page torn by a power loss can be
//! repaired.
//!
//! A file of [`SEGMENTS`] segments, used in turn. A batch of pages is written to the next segment and synced before any
//! of them is written to its place.
//!
//! ```text
//!   0        4       8          16                          4096
//!  +--------+-------+----------+--------------------------+--------+--------+- - -
//!  | crc32c | count | sequence |   (0)                    | page   | page   |
//!  +--------+-------+----------+--------------------------+--------+--------+- - -
//! ```
//!
//! The crc covers count and sequence; a page knows its own number and has its own checksum. The sequence tells which
//! segments hold the last batches: a copy from an earlier one would be out of date.
//!
//! # Invariants
//! 1. A segment is overwritten only after the data file has been synced since that segment's pages were written to
//!    their places.
//! 2. The segments always hold the last [`SEGMENTS`] batches, or all but one of them and the remains of the next.
//! 3. So at any moment, of each page either the place holds a whole copy at least as new as what the checkpoint
//!    needs, or the area does.

use std::collections::HashMap;
use std::sync::Arc;

use crate::buffer::DATA_FILE;
use crate::error::{ErrorKind, Result, StorageError};
use crate::ids::{Lsn, PageNo};
use crate::io::{AlignedBuffer, Disk, DiskFile, IO_ALIGN};
use crate::page::bytes::{PageBuffer, PageRef};
use crate::page::{self, PAGE_SIZE};

/// The doublewrite file's name.
pub const DOUBLEWRITE_FILE: &str = "meseta.doublewrite";

/// Batches that the area holds.
pub const SEGMENTS: usize = 4;

/// Bytes before a segment's first page.
pub const SEGMENT_HEADER_LEN: usize = IO_ALIGN;

/// The open doublewrite file.
pub struct Doublewrite {
    file: Arc<dyn DiskFile>,
    segment_pages: usize,
    /// The last batch's number; batch `n` is in segment `n % SEGMENTS`.
    sequence: u64,
    /// Segments used since the data file was last synced.
    unsynced: usize,
}

/// What a segment's header says.
#[derive(Clone, Copy)]
struct Header {
    count: u32,
    sequence: u64,
}

impl Header {
    fn encode(self, out: &mut [u8]) {
        out[..SEGMENT_HEADER_LEN].fill(0);
        out[4..8].copy_from_slice(&self.count.to_le_bytes());
        out[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        let crc = page::crc32c(&out[4..16]);
        out[..4].copy_from_slice(&crc.to_le_bytes());
    }

    /// `None` for a segment never used, or torn: its batch had not been written to its places.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let sequence = u64::from_le_bytes(bytes[8..16].try_into().expect("eight bytes"));
        (word(0) == page::crc32c(&bytes[4..16]) && sequence > 0).then_some(Self { count: word(4), sequence })
    }
}

fn segment_len(segment_pages: usize) -> usize {
    SEGMENT_HEADER_LEN + segment_pages * PAGE_SIZE
}

fn read_failed(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> StorageError {
    let what = what.into();
    move |error| ErrorKind::Read { what, error }.into()
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
        Self::open(disk, (len / SEGMENTS).saturating_sub(SEGMENT_HEADER_LEN) / PAGE_SIZE)
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
        let mut opened = Self { file, segment_pages, sequence: 0, unsynced: 0 };
        let mut header = AlignedBuffer::new(SEGMENT_HEADER_LEN);
        for index in 0..SEGMENTS {
            let offset = opened.offset(index);
            opened.file.read_exact_at(&mut header, offset).map_err(read_failed(DOUBLEWRITE_FILE))?;
            if let Some(header) = Header::decode(&header) {
                opened.sequence = opened.sequence.max(header.sequence);
            }
        }
        Ok(opened)
    }

    fn offset(&self, segment: usize) -> u64 {
        (segment * segment_len(self.segment_pages)) as u64
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

    /// Writes a batch of `count` sealed pages; durable after [`Doublewrite::sync`]. `batch` begins with
    /// [`SEGMENT_HEADER_LEN`] bytes for the header.
    pub fn write(&mut self, batch: &mut [u8], count: usize) -> std::io::Result<()> {
        assert!(count <= self.segment_pages && !self.must_sync_data());
        self.sequence += 1;
        self.unsynced += 1;
        Header { count: count as u32, sequence: self.sequence }.encode(batch);
        let segment = (self.sequence % SEGMENTS as u64) as usize;
        self.file.write_all_at(&batch[..segment_len(count)], self.offset(segment))
    }

    /// Syncs what was written.
    pub fn sync(&self) -> std::io::Result<()> {
        self.file.sync()
    }

    /// The newest copy of each page in a data file of `data_len` bytes.
    ///
    /// Errors: reading failed. Copies that are themselves torn are passed over: their pages had not been touched yet.
    pub fn copies(&self, data_len: u64, log_end: Lsn) -> Result<HashMap<PageNo, Box<PageBuffer>>> {
        let mut newest: HashMap<PageNo, Box<PageBuffer>> = HashMap::new();
        let mut segment = AlignedBuffer::new(segment_len(self.segment_pages));
        for index in 0..SEGMENTS {
            self.file.read_exact_at(&mut segment, self.offset(index)).map_err(read_failed(DOUBLEWRITE_FILE))?;
            let header = Header::decode(&segment).filter(|h| h.sequence + SEGMENTS as u64 > self.sequence);
            let Some(header) = header else { continue };
            for copy in segment[SEGMENT_HEADER_LEN..].chunks_exact(PAGE_SIZE).take(header.count as usize) {
                let mut buffer = PageBuffer::boxed();
                buffer.bytes_mut().copy_from_slice(copy);
                let (number, lsn) = (PageRef::of(&buffer).page_no(), PageRef::of(&buffer).page_lsn());
                let whole = page::check_sealed(copy, number, log_end).is_ok();
                let beaten = newest.get(&number).is_some_and(|other| PageRef::of(other).page_lsn() >= lsn);
                if whole && !beaten && number.offset() + PAGE_SIZE as u64 <= data_len {
                    newest.insert(number, buffer);
                }
            }
        }
        Ok(newest)
    }

    /// After a crash: writes every copy that is newer than a damaged or older page in its place. Returns how many.
    ///
    /// Errors: reading or writing failed.
    pub fn repair(&self, data: &dyn DiskFile, log_end: Lsn) -> Result<usize> {
        let newest = self.copies(data.len().map_err(read_failed(DATA_FILE))?, log_end)?;
        let mut repaired = 0;
        let mut place = AlignedBuffer::new(PAGE_SIZE);
        for (number, copy) in newest {
            data.read_exact_at(&mut place, number.offset()).map_err(read_failed(format!("{DATA_FILE}, {number}")))?;
            let copy_lsn = PageRef::of(&copy).page_lsn();
            let in_place = page::check_sealed(&place, number, log_end).is_ok() && page::sealed_lsn(&place) >= copy_lsn;
            if !in_place {
                place.copy_from_slice(copy.bytes());
                data.write_all_at(&place, number.offset())
                    .map_err(ErrorKind::setup(format!("repairing {number} of {DATA_FILE}")))?;
                repaired += 1;
            }
        }
        Ok(repaired)
    }
}
