//! The ring of log files: a fixed number of files of a fixed size, made and filled with zeroes beforehand, so that
//! writing the log never allocates, never changes a file's length, and cannot run out of space.
//!
//! The log is written by direct I/O, which with its sync takes half of the processor time of a write through the operating
//! system's page cache. Only where a commit would have to wait for the device though it is to survive no more than a crash of the
//! process (the log's buffer does not outlive it: [`super::mapped`]) is it written through the page cache, for a copy.
//!
//! It is read past the page cache. After a sync that failed, Linux takes what it could not write for clean: the cache
//! goes on to show it, and the next sync succeeds without it. Recovery must not build on that.
//!
//! Block `n` of the log lives at byte `n * 512` modulo the ring's length.
//!
//! # Invariants
//! 1. What is read is what the device holds: files are opened for direct I/O, and kept so until the last block has been
//!    read. (`LogFiles::use_page_cache`, called by `Log::new`; recovery has files of its own)

use std::io;
use std::sync::Arc;

use super::block::{BLOCK_LEN, BLOCK_PAYLOAD};
use crate::error::{ErrorKind, Result};
use crate::io::{AlignedBuffer, Disk, DiskFile, IO_ALIGN};

/// Bytes that one step of filling writes at most.
pub(super) const FILL_LEN: u64 = 1 << 20;
/// Bytes of a new ring that are filled before it is used: more than the first start writes.
const FILLED_FIRST: u64 = 8 << 20;

/// The files of the ring.
pub struct LogFiles {
    files: Vec<Arc<dyn DiskFile>>,
    file_len: u64,
}

/// The name of a log file.
pub fn file_name(index: usize) -> String {
    format!("meseta.log.{index:02}")
}

impl LogFiles {
    /// Makes `count` files of `file_len` bytes (a multiple of [`IO_ALIGN`]), allocated and synced, the beginning of the first
    /// filled with zeroes.
    pub fn create(disk: &dyn Disk, count: usize, file_len: u64) -> Result<Self> {
        assert!(file_len.is_multiple_of(IO_ALIGN as u64));
        let mut files = Vec::with_capacity(count);
        for index in 0..count {
            let name = file_name(index);
            let setup = ErrorKind::setup(format!("creating {name}"));
            let file = disk.create(&name).map_err(&setup)?;
            file.allocate(file_len).map_err(|error| match error.kind() {
                io::ErrorKind::StorageFull => ErrorKind::DiskFull { file: name.clone(), bytes: file_len },
                _ => setup(error),
            })?;
            files.push(file);
        }
        let files = Self { files, file_len };
        // Overwriting space that is allocated but was never written makes each sync change file metadata: three times
        // slower. The beginning is written once here; the rest by `Log::fill_ahead`, before the log gets there.
        let mut at = 0;
        while at < file_len.min(FILLED_FIRST) {
            (at, _) = files.fill(at).map_err(ErrorKind::setup(format!("filling {}", file_name(0))))?;
        }
        files.sync_all().map_err(ErrorKind::setup("syncing the files meseta.log.*"))?;
        Ok(files)
    }

    /// Opens the files of an existing ring, for reading.
    pub fn open(disk: &dyn Disk, count: usize, file_len: u64) -> Result<Self> {
        let mut files = Vec::with_capacity(count);
        for index in 0..count {
            let name = file_name(index);
            let file = disk.open(&name).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => ErrorKind::MissingFile { directory: disk.describe(), file: name.clone() },
                _ => ErrorKind::Setup { what: format!("opening {name}"), error },
            })?;
            let found = file.len().map_err(ErrorKind::setup(format!("opening {name}")))?;
            if found < file_len {
                return Err(ErrorKind::Truncated { file: name, found, expected: file_len }.into());
            }
            files.push(file);
        }
        Ok(Self { files, file_len })
    }

    /// A ring of these files.
    #[cfg(test)]
    pub fn over(files: Vec<Arc<dyn DiskFile>>, file_len: u64) -> Self {
        Self { files, file_len }
    }

    /// From here on the files are only written (invariant 1).
    pub fn use_page_cache(&self) -> io::Result<()> {
        self.files.iter().try_for_each(|file| file.use_page_cache())
    }

    /// The first byte of the ring from `from` on that was never written, rounded down to what can be written. `None` where there
    /// is none before the ring's end.
    pub fn first_unwritten(&self, from: u64) -> io::Result<Option<u64>> {
        let first = (from / self.file_len) as usize;
        for (index, file) in self.files.iter().enumerate().skip(first) {
            let start = index as u64 * self.file_len;
            if let Some(hole) = file.first_unwritten(from.saturating_sub(start))?.filter(|&hole| hole < self.file_len) {
                return Ok(Some((start + hole / IO_ALIGN as u64 * IO_ALIGN as u64).max(from)));
            }
        }
        Ok(None)
    }

    /// Writes zeroes over the next stretch of the ring, which lies in one file and is to be synced ([`LogFiles::sync`]). Only for
    /// the first round through the ring, ahead of the log. Returns where to go on, and the file.
    pub fn fill(&self, from: u64) -> io::Result<(u64, usize)> {
        let (file, offset) = ((from / self.file_len) as usize, from % self.file_len);
        let len = FILL_LEN.min(self.file_len - offset);
        self.files[file].write_all_at(&AlignedBuffer::new(len as usize), offset)?;
        Ok((from + len, file))
    }

    /// Number of files.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Bytes in the ring.
    pub fn ring_len(&self) -> u64 {
        self.file_len * self.files.len() as u64
    }

    /// Payload bytes that the ring holds, less the stretch that one write may overlap.
    pub fn payload_capacity(&self) -> u64 {
        (self.ring_len() / BLOCK_LEN as u64 - 2 * (IO_ALIGN / BLOCK_LEN) as u64) * BLOCK_PAYLOAD as u64
    }

    /// The file and the offset in it where a block lives.
    pub fn place(&self, block: u64) -> (usize, u64) {
        let at = block * BLOCK_LEN as u64 % self.ring_len();
        ((at / self.file_len) as usize, at % self.file_len)
    }

    /// Writes whole blocks, the first of which is `block`; returns the files that were written to.
    pub fn write(&self, block: u64, bytes: &[u8]) -> io::Result<std::ops::RangeInclusive<usize>> {
        let (mut block, mut rest) = (block, bytes);
        let first = self.place(block).0;
        let mut last = first;
        while !rest.is_empty() {
            let (file, offset) = self.place(block);
            last = file;
            let len = rest.len().min((self.file_len - offset) as usize);
            self.files[file].write_all_at(&rest[..len], offset)?;
            block += (len / BLOCK_LEN) as u64;
            rest = &rest[len..];
        }
        // Around the ring's end the range would run backwards: then every file counts as written.
        Ok(if last >= first { first..=last } else { 0..=self.files.len() - 1 })
    }

    /// Reads whole blocks, the first of which is `block` (invariant 1).
    pub fn read(&self, block: u64, bytes: &mut [u8]) -> io::Result<()> {
        let (mut block, mut done) = (block, 0);
        while done < bytes.len() {
            let (file, offset) = self.place(block);
            let len = (bytes.len() - done).min((self.file_len - offset) as usize);
            self.files[file].read_exact_at(&mut bytes[done..done + len], offset)?;
            block += (len / BLOCK_LEN) as u64;
            done += len;
        }
        Ok(())
    }

    /// Syncs all files.
    pub fn sync_all(&self) -> io::Result<()> {
        self.files.iter().try_for_each(|file| file.sync())
    }

    /// Syncs one file.
    pub fn sync(&self, index: usize) -> io::Result<()> {
        self.files[index].sync()
    }
}
