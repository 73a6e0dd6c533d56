//! The doublewrite area: copies of pages on their way to the data file, so that a page torn by a power loss can be
//! repaired.
//!
//! A file of [`SEGMENTS`] segments. A batch of pages is written to the next segment and synced before any of them
//! is written to its place. The copies need no directory: each page knows its own number and is checked by its own
//! checksum.
//!
//! # Invariants
//! 1. A segment is overwritten only after the data file has been synced since that segment's pages were written to
//!    their places.
//! 2. So at any moment, of each page either the place holds a whole copy at least as new as what the checkpoint
//!    needs, or the area does.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::{ErrorKind, Result};
use crate::ids::{Lsn, PageNo};
use crate::io::{AlignedBuffer, Disk, DiskFile};
use crate::page::bytes::{PageBuffer, PageRef};
use crate::page::{self, PAGE_SIZE};

/// The doublewrite file's name.
pub const DOUBLEWRITE_FILE: &str = "meseta.doublewrite";

/// Batches that the area holds.
pub const SEGMENTS: usize = 4;

/// The open doublewrite file.
pub struct Doublewrite {
    file: Arc<dyn DiskFile>,
    segment_pages: usize,
    next: usize,
    /// Segments used since the data file was last synced.
    unsynced: usize,
}

impl Doublewrite {
    /// Creates the file, for batches of at most `segment_pages`.
    pub fn create(disk: &dyn Disk, segment_pages: usize) -> Result<()> {
        let bytes = (SEGMENTS * segment_pages * PAGE_SIZE) as u64;
        let setup = |error| ErrorKind::Setup { what: format!("creating {DOUBLEWRITE_FILE}"), error };
        let file = disk.create(DOUBLEWRITE_FILE).map_err(setup)?;
        file.allocate(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::StorageFull => ErrorKind::DiskFull { file: DOUBLEWRITE_FILE.into(), bytes },
            _ => setup(error),
        })?;
        file.sync().map_err(setup)?;
        Ok(())
    }

    /// Opens the file.
    pub fn open(disk: &dyn Disk) -> Result<Self> {
        let setup = |error| ErrorKind::Setup { what: format!("opening {DOUBLEWRITE_FILE}"), error };
        let file = disk.open(DOUBLEWRITE_FILE).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => {
                ErrorKind::MissingFile { directory: disk.describe(), file: DOUBLEWRITE_FILE.into() }
            }
            _ => setup(error),
        })?;
        let found = file.len().map_err(setup)?;
        let segment_pages = found as usize / PAGE_SIZE / SEGMENTS;
        if segment_pages == 0 {
            let expected = (SEGMENTS * PAGE_SIZE) as u64;
            return Err(ErrorKind::Truncated { file: DOUBLEWRITE_FILE.into(), found, expected }.into());
        }
        // A crash may have left pages of any segment unsynced in the data file; recovery syncs it.
        Ok(Self { file, segment_pages, next: 0, unsynced: 0 })
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

    /// Writes a batch of sealed pages, one behind the other; durable after [`Doublewrite::sync`].
    pub fn write(&mut self, pages: &[u8]) -> std::io::Result<()> {
        assert!(pages.len() <= self.segment_pages * PAGE_SIZE && !self.must_sync_data());
        let offset = (self.next * self.segment_pages * PAGE_SIZE) as u64;
        self.next = (self.next + 1) % SEGMENTS;
        self.unsynced += 1;
        self.file.write_all_at(pages, offset)
    }

    /// Syncs what was written.
    pub fn sync(&self) -> std::io::Result<()> {
        self.file.sync()
    }

    /// After a crash: writes every copy that is newer than a damaged or older page in its place. Returns how many.
    ///
    /// Errors: reading or writing failed. Copies that are themselves torn are passed over: their pages had not been
    /// touched yet.
    pub fn repair(&self, data: &dyn DiskFile, log_end: Lsn) -> Result<usize> {
        let read_failed = |what: String| move |error| ErrorKind::Read { what, error };
        let data_len = data.len().map_err(read_failed(crate::buffer::DATA_FILE.into()))?;
        let mut newest: HashMap<PageNo, Box<PageBuffer>> = HashMap::new();
        let mut segment = AlignedBuffer::new(self.segment_pages * PAGE_SIZE);
        for index in 0..SEGMENTS {
            let offset = (index * segment.len()) as u64;
            self.file.read_exact_at(&mut segment, offset).map_err(read_failed(DOUBLEWRITE_FILE.into()))?;
            for copy in segment.chunks_exact(PAGE_SIZE) {
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
        let mut repaired = 0;
        let mut place = AlignedBuffer::new(PAGE_SIZE);
        for (number, copy) in newest {
            data.read_exact_at(&mut place, number.offset())
                .map_err(read_failed(format!("{}, {number}", crate::buffer::DATA_FILE)))?;
            let copy_lsn = PageRef::of(&copy).page_lsn();
            let in_place = page::check_sealed(&place, number, log_end).is_ok() && {
                let lsn = u64::from_le_bytes(place[8..16].try_into().expect("eight bytes"));
                Lsn(lsn) >= copy_lsn
            };
            if !in_place {
                place.copy_from_slice(copy.bytes());
                data.write_all_at(&place, number.offset()).map_err(|error| ErrorKind::Setup {
                    what: format!("repairing {number} of {}", crate::buffer::DATA_FILE),
                    error,
                })?;
                repaired += 1;
            }
        }
        Ok(repaired)
    }
}
