//! One open file: blocking transfers, length, space.
//!
//! Both engines and the single-shot calls meet here, so alignment, short transfers and the names in errors are
//! dealt with once.
//!
//! # Short transfers
//! The kernel may move fewer bytes than asked, and for direct I/O the rest must start at an aligned place. So a
//! count that is not a multiple of [`IO_ALIGN`] is rounded down, unless the file ends there; the bytes beyond are
//! simply moved again.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileExt;

use parking_lot::Mutex;
use rustix::fs::{FallocateFlags, SeekFrom};
use rustix::io::Errno;

use super::named;
use crate::io::{AlignedBuffer, IO_ALIGN, Operation, SharedMemory};

/// Zeros are written this many bytes at a time where the file system cannot reserve space.
const ZEROS_LEN: usize = 1 << 20;

/// An open file and its name.
pub(super) struct OpenFile {
    file: File,
    name: String,
    /// Held while the length changes: a failed extension is cut off again, and must not cut off another's. File
    /// I/O happens under it (that is its purpose); no other lock is taken.
    growing: Mutex<()>,
}

impl OpenFile {
    pub(super) fn new(file: File, name: &str) -> Self {
        Self { file, name: name.to_owned(), growing: Mutex::new(()) }
    }

    /// Reads once. Fewer bytes than asked: the file ends there, or the device had enough for now.
    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if let Err(error) = self.check_aligned(buffer.as_ptr(), buffer.len(), offset) {
            // Who reads on after a file that ends at an odd place is at the end, and not mistaken.
            return if offset >= self.len()? { Ok(0) } else { Err(error) };
        }
        let count = self.file.read_at(buffer, offset).map_err(|error| self.named(error))?;
        self.whole_blocks(count, buffer.len(), offset)
    }

    /// Gives up direct I/O.
    pub(super) fn use_page_cache(&self) -> io::Result<()> {
        let clear = || -> rustix::io::Result<()> {
            let flags = rustix::fs::fcntl_getfl(&self.file)?;
            rustix::fs::fcntl_setfl(&self.file, flags - rustix::fs::OFlags::DIRECT)
        };
        clear().map_err(|error| self.named(io::Error::from(error)))
    }

    /// Maps the file's beginning.
    pub(super) fn map(&self, len: usize) -> io::Result<SharedMemory> {
        SharedMemory::map(&self.file, len).map_err(|error| self.named(io::Error::from(error)))
    }

    /// Writes once.
    pub(super) fn write_at(&self, buffer: &[u8], offset: u64) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.check_aligned(buffer.as_ptr(), buffer.len(), offset)?;
        let count = self.file.write_at(buffer, offset).map_err(|error| self.named(error))?;
        Ok(count - count % IO_ALIGN)
    }

    /// Fills `buffer` but for its first `done` bytes, which are there already.
    pub(super) fn read_rest(&self, buffer: &mut [u8], offset: u64, done: usize) -> io::Result<()> {
        self.repeat(Operation::Read, buffer.len(), offset, done, |done, at| self.read_at(&mut buffer[done..], at))
    }

    /// Writes `buffer` but for its first `done` bytes, which are there already.
    pub(super) fn write_rest(&self, buffer: &[u8], offset: u64, done: usize) -> io::Result<()> {
        self.repeat(Operation::Write, buffer.len(), offset, done, |done, at| self.write_at(&buffer[done..], at))
    }

    /// Calls `once` until `len` bytes have been moved; it gets the bytes moved so far, and where in the file to go on.
    fn repeat(
        &self,
        operation: Operation,
        len: usize,
        offset: u64,
        done: usize,
        mut once: impl FnMut(usize, u64) -> io::Result<usize>,
    ) -> io::Result<()> {
        let mut done = done - done % IO_ALIGN;
        while done < len {
            let at = offset + done as u64;
            match once(done, at) {
                Ok(0) => return Err(self.named(nothing_moved(operation, at))),
                Ok(count) => done += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Makes completed writes durable, and the length with them.
    pub(super) fn sync(&self) -> io::Result<()> {
        rustix::fs::fdatasync(&self.file).map_err(|error| self.named(error))
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        // Not `File::metadata`, which asks for far more.
        let stat = rustix::fs::fstat(&self.file).map_err(|error| self.named(error))?;
        Ok(stat.st_size as u64)
    }

    /// The first byte from `from` on that was never written: a hole, as the file system has it. (One that does not tell says
    /// that the only hole is behind the end.)
    pub(super) fn first_unwritten(&self, from: u64) -> io::Result<Option<u64>> {
        match rustix::fs::seek(&self.file, SeekFrom::Hole(from)) {
            Ok(hole) => Ok((hole < self.len()?).then_some(hole)),
            // Nothing is there; or holes are not asked for here.
            Err(Errno::NXIO | Errno::INVAL) => Ok(None),
            Err(error) => Err(self.named(error)),
        }
    }

    /// Reserves space up to `len`. On failure the file is as long as before.
    ///
    /// Space below the present length is taken to be reserved: nobody but this function makes a file longer.
    pub(super) fn allocate(&self, len: u64) -> io::Result<()> {
        let _growing = self.growing.lock();
        let old_len = self.len()?;
        if len <= old_len {
            return Ok(());
        }
        let outcome = match rustix::fs::fallocate(&self.file, FallocateFlags::empty(), old_len, len - old_len) {
            Err(Errno::OPNOTSUPP) => self.write_zeros(old_len, len),
            outcome => outcome.map_err(io::Error::from),
        };
        outcome.map_err(|error| {
            // A file system may have extended the file by a part of what we asked for.
            if let Err(also) = self.file.set_len(old_len) {
                return self.named(io::Error::new(error.kind(), format!("{error}; and cutting it back: {also}")));
            }
            match Errno::from_io_error(&error) {
                Some(Errno::NOSPC | Errno::DQUOT) => {
                    self.named(io::Error::new(ErrorKind::StorageFull, format!("{len} bytes: {error}")))
                }
                _ => self.named(error),
            }
        })
    }

    /// Reserves space the slow way.
    pub(super) fn write_zeros(&self, old_len: u64, len: u64) -> io::Result<()> {
        let zeros = AlignedBuffer::new(ZEROS_LEN);
        let end = len.next_multiple_of(IO_ALIGN as u64);
        let mut offset = old_len.next_multiple_of(IO_ALIGN as u64);
        if offset != old_len {
            // The last block is there already; its unused rest becomes part of the file, as zeros.
            self.file.set_len(offset)?;
        }
        while offset < end {
            let count = (end - offset).min(ZEROS_LEN as u64) as usize;
            match self.file.write_at(&zeros[..count], offset) {
                Ok(written) if written < IO_ALIGN => return Err(nothing_moved(Operation::Write, offset)),
                Ok(written) => offset += (written - written % IO_ALIGN) as u64,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The same error with the file's name.
    pub(super) fn named(&self, error: impl Into<io::Error>) -> io::Error {
        named(&self.name, error)
    }

    /// Direct I/O takes multiples of [`IO_ALIGN`]. Anything else is a mistake of ours, and said in words.
    pub(super) fn check_aligned(&self, pointer: *const u8, len: usize, offset: u64) -> io::Result<()> {
        let aligned = (pointer as usize).is_multiple_of(IO_ALIGN)
            && len.is_multiple_of(IO_ALIGN)
            && offset.is_multiple_of(IO_ALIGN as u64);
        if aligned {
            return Ok(());
        }
        let message =
            format!("{}: {len} bytes at {offset}, memory at {pointer:?}: not multiples of {IO_ALIGN} bytes", self.name);
        Err(io::Error::new(ErrorKind::InvalidInput, message))
    }

    /// What to report for a read of `count` of `len` bytes: see "Short transfers" above.
    fn whole_blocks(&self, count: usize, len: usize, offset: u64) -> io::Result<usize> {
        let rest = count % IO_ALIGN;
        if rest == 0 || offset + count as u64 >= self.len()? {
            return Ok(count);
        }
        if rest == count {
            // Zero would mean the end of the file, which this is not.
            let message = format!("{}: the device gave {count} of {len} bytes at {offset}", self.name);
            return Err(io::Error::other(message));
        }
        Ok(count - rest)
    }
}

impl AsRawFd for OpenFile {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// What it means that a transfer makes no progress.
fn nothing_moved(operation: Operation, offset: u64) -> io::Error {
    match operation {
        Operation::Read => io::Error::new(ErrorKind::UnexpectedEof, format!("the file ends at byte {offset}")),
        Operation::Write => io::Error::new(ErrorKind::WriteZero, format!("the device took no bytes at byte {offset}")),
    }
}
