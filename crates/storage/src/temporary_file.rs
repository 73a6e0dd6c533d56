//! A temporary file: blocks that memory has no room for, until they are read again.
//!
//! ```text
//!   append(bytes) -> block         | block | block, padded to 4096 |  block | ...
//!   read(block)   -> bytes           ^ where it is, how long, its crc: with whoever appended it
//! ```
//!
//! It has no name: nothing is left of it when it is dropped, or after a crash. So what says where blocks are is in memory, and
//! no byte on disk needs to.
//!
//! # Invariants
//! 1. A block is what was appended, or its reading is an error.
//!
//! # When things fail
//! Nobody else's: the engine goes on, and the statement that needed the file has failed.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{ErrorKind, Result};
use crate::io::{AlignedBuffer, Disk, DiskFile};
use crate::page::crc32c;

/// A file of blocks, each of which is written once.
pub struct TemporaryFile {
    file: Arc<dyn DiskFile>,
    /// Where the next block goes.
    end: AtomicU64,
}

/// A block of a [`TemporaryFile`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TemporaryBlock {
    offset: u64,
    len: u32,
    crc: u32,
}

impl TemporaryBlock {
    /// Bytes.
    #[allow(clippy::len_without_is_empty)] // nobody asks
    pub fn len(&self) -> usize {
        self.len as usize
    }
}

impl TemporaryFile {
    /// An empty file. Errors: `TemporaryFile`.
    pub(crate) fn create(disk: &dyn Disk) -> Result<Self> {
        Ok(Self { file: disk.create_temporary().map_err(ErrorKind::TemporaryFile)?, end: AtomicU64::new(0) })
    }

    /// Writes a block of less than 4 GiB. Several threads may append at once. Errors: `TemporaryFile`.
    pub fn append(&self, bytes: &[u8]) -> Result<TemporaryBlock> {
        let len = u32::try_from(bytes.len()).expect("a block has less than 4 GiB");
        let mut aligned = AlignedBuffer::new(bytes.len());
        aligned[..bytes.len()].copy_from_slice(bytes);
        let offset = self.end.fetch_add(aligned.len() as u64, Ordering::Relaxed);
        self.file.write_all_at(&aligned, offset).map_err(ErrorKind::TemporaryFile)?;
        Ok(TemporaryBlock { offset, len, crc: crc32c(&aligned) })
    }

    /// The bytes of a block of this file, and zeroes behind them. Errors: `TemporaryFile`.
    pub fn read(&self, block: &TemporaryBlock) -> Result<AlignedBuffer> {
        let mut bytes = AlignedBuffer::new(block.len());
        self.file.read_exact_at(&mut bytes, block.offset).map_err(ErrorKind::TemporaryFile)?;
        if crc32c(&bytes) != block.crc {
            let problem = format!("{} bytes at {} are not what was written", block.len, block.offset);
            return Err(ErrorKind::TemporaryFile(io::Error::new(io::ErrorKind::InvalidData, problem)).into());
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Effect;
    use crate::io::{BatchEngine, RealDisk};

    #[test]
    fn blocks_are_what_was_appended_and_the_file_has_no_name() {
        let directory = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(directory.path(), BatchEngine::ThreadPool).unwrap();
        let file = TemporaryFile::create(&disk).unwrap();
        let appended: Vec<Vec<u8>> = [5000_usize, 1, 4096, 0, 70_000]
            .iter()
            .map(|&len| (0..len).map(|at| (at * 7 + len) as u8).collect())
            .collect();
        let blocks: Vec<TemporaryBlock> = appended.iter().map(|bytes| file.append(bytes).unwrap()).collect();
        for (block, bytes) in blocks.iter().zip(&appended).rev() {
            let read = file.read(block).unwrap();
            assert!(read[..block.len()] == bytes[..] && read[block.len()..].iter().all(|&byte| byte == 0));
        }
        assert_eq!(disk.list().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_block_that_is_another_is_an_error_of_the_statement() {
        let directory = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(directory.path(), BatchEngine::ThreadPool).unwrap();
        let file = TemporaryFile::create(&disk).unwrap();
        let (one, other) = (file.append(&[1; 100]).unwrap(), file.append(&[2; 100]).unwrap());
        let mixed = TemporaryBlock { offset: other.offset, ..one };
        let error = file.read(&mixed).map(drop).unwrap_err();
        assert_eq!(error.effect(), Effect::Statement);
        assert_eq!(error.to_string(), "a temporary file: 100 bytes at 4096 are not what was written");
        let beyond = TemporaryBlock { offset: 1 << 20, ..one };
        assert!(matches!(file.read(&beyond).map(drop).unwrap_err().kind(), ErrorKind::TemporaryFile(_)));
    }
}
