//! The log buffer's memory in a file: what has been published survives a crash of the process, with no system call.
//!
//! ```text
//!   0       8      16        32         40           4096
//!  +-------+------+---------+----------+---- - - ----+---------------- - - -
//!  | magic | epoch| boot id | consumed |     (0)     | the ring
//!  +-------+------+---------+----------+---- - - ----+---------------- - - -
//! ```
//!
//! MySQL's commit level 2 promises that a commit survives a crash of the server but not of the machine. Handing each
//! commit to the operating system with a `write` costs a microsecond or two; here the log buffer *is* memory of the
//! operating system, and a commit is there as soon as it is published.
//!
//! # Invariants
//! 1. The ring is believed only if the machine has not been restarted since (the boot id) and it belongs to the last
//!    opening of the store (the epoch): then the memory is exactly as the process left it. After a power loss it is
//!    ignored, and nobody was promised more.
//! 2. The epoch is written last when a ring is made ready, and cleared first when it is made anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{ErrorKind, Result};
use crate::ids::Lsn;
use crate::io::{Disk, DiskFile, IO_ALIGN, SharedMemory};

/// The file's name.
pub const BUFFER_FILE: &str = "meseta.log.buffer";

const MAGIC: u64 = u64::from_le_bytes(*b"MESETALB");
const HEADER_WORDS: usize = IO_ALIGN / 8;
const CONSUMED: usize = 4;

/// A ring in a file.
pub struct MappedRing {
    memory: SharedMemory,
    boot_id: [u8; 16],
    _file: Arc<dyn DiskFile>,
}

impl MappedRing {
    /// Opens the ring of an existing store, if there is one.
    pub fn open(disk: &dyn Disk) -> Result<Option<Self>> {
        let Some(boot_id) = disk.boot_id() else { return Ok(None) };
        let Ok(file) = disk.open(BUFFER_FILE) else { return Ok(None) };
        let len = file.len().map_err(setup)? as usize;
        if len <= IO_ALIGN || !(len - IO_ALIGN).is_power_of_two() {
            return Ok(None);
        }
        let memory = file.map(len).map_err(setup)?;
        Ok(memory.map(|memory| Self { memory, boot_id, _file: file }))
    }

    /// Makes an empty ring of `len` bytes; `None` where memory cannot be shared.
    pub fn create(disk: &dyn Disk, len: usize) -> Result<Option<Self>> {
        let Some(boot_id) = disk.boot_id() else { return Ok(None) };
        if disk.list().map_err(setup)?.iter().any(|name| name == BUFFER_FILE) {
            disk.remove(BUFFER_FILE).map_err(setup)?;
        }
        let bytes = (IO_ALIGN + len) as u64;
        let file = disk.create(BUFFER_FILE).map_err(setup)?;
        // Space on the device first: a store to a mapped page that cannot be kept would end the process.
        file.allocate(bytes).map_err(|error| match error.kind() {
            std::io::ErrorKind::StorageFull => ErrorKind::DiskFull { file: BUFFER_FILE.into(), bytes }.into(),
            _ => setup(error),
        })?;
        let memory = file.map(bytes as usize).map_err(setup)?;
        Ok(memory.map(|memory| Self { memory, boot_id, _file: file }))
    }

    /// Whether the ring is as the last opening of the store left it (invariant 1).
    pub fn is_of(&self, epoch: u32) -> bool {
        let word = |index: usize| self.memory.words()[index].load(Ordering::Acquire);
        word(0) == MAGIC && word(1) == u64::from(epoch) && [word(2), word(3)] == self.boot_words()
    }

    /// Belongs to this opening from here on. The ring is empty.
    pub fn begin(&self, epoch: u32, start: Lsn) {
        self.set_consumed(start);
        let words = self.memory.words();
        let [low, high] = self.boot_words();
        for (index, word) in [(0, MAGIC), (2, low), (3, high), (1, u64::from(epoch))] {
            words[index].store(word, Ordering::Release);
        }
    }

    /// Notes how far the ring has been emptied: everything before is zero.
    pub fn set_consumed(&self, lsn: Lsn) {
        self.memory.words()[CONSUMED].store(lsn.0, Ordering::Release);
    }

    /// How far the ring has been emptied: nothing was published a ring's length beyond that.
    pub fn consumed(&self) -> Lsn {
        Lsn(self.memory.words()[CONSUMED].load(Ordering::Acquire))
    }

    fn boot_words(&self) -> [u64; 2] {
        let boot = u128::from_le_bytes(self.boot_id);
        [boot as u64, (boot >> 64) as u64]
    }

    /// The ring's words.
    #[inline(always)]
    pub fn ring(&self) -> &[AtomicU64] {
        &self.memory.words()[HEADER_WORDS..]
    }
}

fn setup(error: std::io::Error) -> crate::error::StorageError {
    ErrorKind::Setup { what: format!("setting up {BUFFER_FILE}"), error }.into()
}
