//! The control file: what has to be known before anything else can be read.
//!
//! Two slots of 4 KiB, written in turn, each with a sequence number and a checksum; the newest whole one counts.
//! So a torn write costs at most the last checkpoint, never the file. A new epoch is written to both before anything
//! is logged in it: whichever slot survives knows of every block.
//!
//! ```text
//!   0       8         12       16      20      24      28      32          36      40         48
//!  +-------+---------+--------+-------+-------+-------+-------+-----------+-------+----------+
//!  | magic | format  | page   | node  | ckpt  | epoch | clean | log files | batch | log file |
//!  |       | version | size   | cap.  | epoch |       |       | count     | pages | len u64  |
//!  +-------+---------+--------+-------+-------+-------+-------+-----------+-------+----------+
//!   48            56         64         80            88           92      4092
//!  +-------------+----------+----------+-------------+------------+ - - - +--------+
//!  | checkpoint  | sequence | store id | epoch start | data pages |  (0)  | crc32c |
//!  +-------------+----------+----------+-------------+------------+ - - - +--------+
//! ```

use std::io;
use std::sync::Arc;

use crate::error::{ErrorKind, Result, StorageError};
use crate::ids::Lsn;
use crate::io::{AlignedBuffer, Disk, DiskFile, IO_ALIGN};
use crate::page::{PAGE_SIZE, crc32c};

/// The control file's name.
pub const CONTROL_FILE: &str = "meseta.control";
/// The epoch of a store that was created and never opened.
pub(crate) const FIRST_EPOCH: u32 = 1;
/// The version of everything on disk that this program writes.
pub const FORMAT_VERSION: u32 = 3;
/// The oldest one that it reads (2: no byte of a long value stayed in its leaf),
const OLDEST_VERSION: u32 = 2;
/// or, of a store that was closed (1: the doublewrite area held whole pages, which is needed after a crash alone).
const OLDEST_CLOSED_VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"MESETA\r\n";
const SLOT_LEN: usize = IO_ALIGN;
const CRC: usize = SLOT_LEN - 4;

/// What a slot says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Control {
    /// The version of what is on disk.
    pub format_version: u32,
    /// Bytes of a node that its heap may use.
    pub node_capacity: u32,
    /// Counts the openings of the store.
    pub epoch: u32,
    /// The store was closed in order: everything is in the data file, and the log ends at the checkpoint.
    pub clean: bool,
    /// Number of log files.
    pub log_files: u32,
    /// Bytes in each.
    pub log_file_len: u64,
    /// Pages in a segment of the doublewrite area.
    pub batch_pages: u32,
    /// Pages that the data file had at the last checkpoint; it never shrinks.
    pub data_pages: u32,
    /// Where redo starts.
    pub checkpoint: Lsn,
    /// The oldest epoch that the log block at the checkpoint may have. Once the checkpoint has reached the log of the
    /// current opening, older blocks from there on are remains of a crash.
    pub checkpoint_epoch: u32,
    /// Where the log of the current opening begins.
    pub epoch_start: Lsn,
    /// Grows with every write of the control file.
    pub sequence: u64,
    /// Tells this store from all others.
    pub store_id: [u8; 16],
}

impl Control {
    /// Moves the checkpoint.
    pub fn set_checkpoint(&mut self, lsn: Lsn) {
        self.checkpoint = lsn;
        if lsn >= self.epoch_start {
            self.checkpoint_epoch = self.epoch;
        }
    }

    /// Begins another opening of the store, whose log begins at `start`.
    fn begin_epoch(&mut self, start: Lsn) {
        self.epoch += 1;
        self.epoch_start = start;
        self.clean = false;
        self.set_checkpoint(self.checkpoint);
    }

    fn encode(&self, slot: &mut [u8]) {
        slot.fill(0);
        slot[..8].copy_from_slice(MAGIC);
        for (at, word) in [
            (8, self.format_version),
            (12, PAGE_SIZE as u32),
            (16, self.node_capacity),
            (20, self.checkpoint_epoch),
            (24, self.epoch),
            (28, u32::from(self.clean)),
            (32, self.log_files),
            (36, self.batch_pages),
            (88, self.data_pages),
        ] {
            slot[at..at + 4].copy_from_slice(&word.to_le_bytes());
        }
        for (at, word) in
            [(40, self.log_file_len), (48, self.checkpoint.0), (56, self.sequence), (80, self.epoch_start.0)]
        {
            slot[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        slot[64..80].copy_from_slice(&self.store_id);
        let crc = crc32c(&slot[..CRC]);
        slot[CRC..].copy_from_slice(&crc.to_le_bytes());
    }

    /// Reads one slot, whatever its bytes are. Errors: not whole; or whole, but of another format.
    pub fn decode(slot: &[u8]) -> Result<Option<Self>> {
        let word = |at: usize| u32::from_le_bytes(slot[at..at + 4].try_into().expect("four bytes"));
        let long = |at: usize| u64::from_le_bytes(slot[at..at + 8].try_into().expect("eight bytes"));
        if slot.len() != SLOT_LEN || slot[..8] != *MAGIC || word(CRC) != crc32c(&slot[..CRC]) {
            return Ok(None);
        }
        if !(OLDEST_CLOSED_VERSION..=FORMAT_VERSION).contains(&word(8)) {
            return Err(wrong_format("format version", word(8), FORMAT_VERSION));
        }
        if word(12) != PAGE_SIZE as u32 {
            return Err(wrong_format("page size", word(12), PAGE_SIZE as u32));
        }
        Ok(Some(Self {
            format_version: word(8),
            node_capacity: word(16),
            checkpoint_epoch: word(20),
            epoch_start: Lsn(long(80)),
            epoch: word(24),
            clean: word(28) != 0,
            log_files: word(32),
            log_file_len: long(40),
            batch_pages: word(36),
            data_pages: word(88),
            checkpoint: Lsn(long(48)),
            sequence: long(56),
            store_id: slot[64..80].try_into().expect("sixteen bytes"),
        }))
    }
}

fn wrong_format(what: &'static str, found: u32, expected: u32) -> StorageError {
    ErrorKind::WrongFormat { file: CONTROL_FILE.into(), what, found: found.into(), expected: expected.into() }.into()
}

/// The open control file.
pub struct ControlFile {
    file: Arc<dyn DiskFile>,
    current: Control,
    /// The slot that was not whole when the file was opened.
    damaged: Option<usize>,
}

impl ControlFile {
    /// Creates the file under a temporary name and renames it into place: it is the last file of a new store, and
    /// its presence says that all others are complete.
    pub fn create(disk: &dyn Disk, control: Control) -> Result<Self> {
        const TEMPORARY: &str = "meseta.control.new";
        let make = || -> io::Result<Arc<dyn DiskFile>> {
            let file = disk.create(TEMPORARY)?;
            file.allocate(2 * SLOT_LEN as u64)?;
            let mut slots = AlignedBuffer::new(2 * SLOT_LEN);
            control.encode(&mut slots[..SLOT_LEN]);
            file.write_all_at(&slots, 0)?;
            file.sync()?;
            disk.sync_directory()?;
            disk.rename(TEMPORARY, CONTROL_FILE)?;
            disk.sync_directory()?;
            Ok(file)
        };
        let file = make().map_err(ErrorKind::setup(format!("creating {CONTROL_FILE}")))?;
        Ok(Self { file, current: control, damaged: None })
    }

    /// Opens the file and finds the newest whole slot.
    pub fn open(disk: &dyn Disk) -> Result<Self> {
        let failed = ErrorKind::setup(format!("reading {CONTROL_FILE}"));
        let file = disk.open(CONTROL_FILE).map_err(&failed)?;
        let found = file.len().map_err(&failed)?;
        if found < 2 * SLOT_LEN as u64 {
            let expected = 2 * SLOT_LEN as u64;
            return Err(ErrorKind::Truncated { file: CONTROL_FILE.into(), found, expected }.into());
        }
        let mut slots = AlignedBuffer::new(2 * SLOT_LEN);
        file.read_exact_at(&mut slots, 0).map_err(&failed)?;
        let first = Control::decode(&slots[..SLOT_LEN])?;
        let second = Control::decode(&slots[SLOT_LEN..2 * SLOT_LEN])?;
        let damaged = [first, second].iter().position(Option::is_none);
        let newest = first.into_iter().chain(second).max_by_key(|control| control.sequence);
        let Some(current) = newest else {
            let problem = "neither of its two slots is whole (magic and checksum expected)".into();
            return Err(ErrorKind::CorruptFile { file: CONTROL_FILE.into(), problem }.into());
        };
        if current.format_version < OLDEST_VERSION && !current.clean {
            let what = "the format version of a store that was not closed";
            return Err(wrong_format(what, current.format_version, FORMAT_VERSION));
        }
        Ok(Self { file, current, damaged })
    }

    /// What the newest slot says.
    pub fn current(&self) -> &Control {
        &self.current
    }

    /// A sentence about the slot that was not whole when the file was opened: the remains of a write that a loss of power
    /// cut off, or damage.
    pub fn damaged_slot(&self) -> Option<String> {
        // A store that was created and never opened has written one slot only.
        let slot = self.damaged.filter(|_| self.current.sequence > 0)?;
        let (at, other) = (slot * SLOT_LEN, 1 - slot);
        Some(format!(
            "{CONTROL_FILE}, slot {slot} (byte {at}): not whole (magic and checksum expected); slot {other} is"
        ))
    }

    /// Writes and syncs a changed control block into the older slot.
    pub fn write(&mut self, change: impl FnOnce(&mut Control)) -> io::Result<()> {
        let mut next = self.current;
        change(&mut next);
        next.format_version = FORMAT_VERSION;
        next.sequence += 1;
        let mut slot = AlignedBuffer::new(SLOT_LEN);
        next.encode(&mut slot);
        self.file.write_all_at(&slot, (next.sequence % 2) * SLOT_LEN as u64)?;
        self.file.sync()?;
        self.current = next;
        Ok(())
    }

    /// Begins another opening of the store in both slots.
    pub fn begin_epoch(&mut self, start: Lsn) -> io::Result<()> {
        self.write(|control| control.begin_epoch(start))?;
        self.write(|_| {})
    }
}
