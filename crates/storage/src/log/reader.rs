//! Reads the log back after a crash: from the checkpoint to the last whole record.
//!
//! # Where the log ends
//! At the first block that is not whole, or not the one expected, or older than its predecessor (a lower epoch), or
//! at a block that is not full and is not followed by a later epoch. A record cut off there never happened. A voucher
//! (see `voucher`) is such a block: it has no payload, and nothing of its epoch comes after it.
//!
//! # Torn tail or corruption
//! Blocks that were written but not synced may be missing, torn, or there in any combination: that is how a crash
//! looks, and nobody was told that they are durable. A damaged block that *was* durable is another matter, and
//! must not silently cost committed work: later blocks say how far the log was durable when they were written.
//! If any of them vouches for the place where the log seems to end, reading fails with [`ErrorKind::CorruptLog`].
//!
//! # Invariants
//! 1. A record is handed out whole or not at all.
//! 2. Every byte handed out was covered by a block's checksum.

use super::block::{self, BLOCK_HEADER_LEN, BLOCK_LEN, BLOCK_PAYLOAD, BlockHeader, block_of, block_start};
use super::buffer::{RECORD_HEADER_LEN, body_len, record_len};
use super::files::{LogFiles, file_name};
use crate::error::{ErrorKind, Result};
use crate::ids::Lsn;
use crate::io::{AlignedBuffer, IO_ALIGN};

/// Bytes read from the files at once: enough for the device to work on several pieces of it at a time.
const READ_LEN: usize = 4 << 20;

/// A record as it was appended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Where its header begins.
    pub start: Lsn,
    /// The position behind it: the page LSN of the pages that it changed.
    pub end: Lsn,
    /// Where its body lies in the reader's bytes.
    body_at: usize,
    body_len: usize,
}

/// A stretch of the log, as many records as fit into a given number of bytes.
#[derive(Default)]
pub struct Stretch {
    bytes: Vec<u8>,
    /// The records, in order.
    pub records: Vec<Record>,
}

impl Stretch {
    /// A record's body.
    pub fn body(&self, record: Record) -> &[u8] {
        &self.bytes[record.body_at..record.body_at + record.body_len]
    }
}

/// What is wrong with a block, for the one who decides whether it matters.
struct End {
    block: u64,
    problem: &'static str,
}

/// Reads records from a position on.
pub struct LogReader<'f> {
    files: &'f LogFiles,
    /// The newest epoch that may appear.
    epoch_max: u32,
    /// The epoch of the last block read.
    epoch: u32,
    /// No block has been read yet.
    first: bool,
    next_block: u64,
    chunk: AlignedBuffer,
    chunk_first: u64,
    chunk_blocks: u64,
    /// The position of the first byte in `pending`.
    position: Lsn,
    /// Payload not yet cut into records.
    pending: Vec<u8>,
    /// Bytes of the first block that lie before the first record asked for.
    skip: usize,
    /// The last block was not full: only a later epoch may follow.
    partial: bool,
    end: Option<End>,
    blocks_left: u64,
}

impl<'f> LogReader<'f> {
    /// Reads from `start`, which begins a record, blocks of these epochs: the first block has at least the lowest.
    pub fn new(files: &'f LogFiles, start: Lsn, epochs: std::ops::RangeInclusive<u32>) -> Self {
        Self {
            files,
            epoch_max: *epochs.end(),
            epoch: *epochs.start(),
            first: true,
            next_block: block_of(start),
            chunk: AlignedBuffer::new(READ_LEN),
            chunk_first: 0,
            chunk_blocks: 0,
            position: start,
            pending: Vec::new(),
            skip: (start.0 - block_start(block_of(start)).0) as usize,
            partial: false,
            end: None,
            blocks_left: files.ring_len() / BLOCK_LEN as u64,
        }
    }

    /// The position behind the last whole record handed out so far.
    pub fn position(&self) -> Lsn {
        self.position
    }

    /// The first block that may be written after recovery: behind everything that was readable.
    pub fn next_free_block(&self) -> u64 {
        self.next_block
    }

    /// Reads the next records, about `len` bytes of them; none at the end of the log.
    pub fn next_stretch(&mut self, len: usize) -> Result<Stretch> {
        let mut stretch = Stretch { bytes: std::mem::take(&mut self.pending), records: Vec::new() };
        let mut at = 0; // where in the stretch's bytes the next record begins
        loop {
            while let Some(body_len) = self.whole_record(&stretch.bytes[at..]) {
                let end = Lsn(self.position.0 + record_len(body_len) as u64);
                let body_at = at + RECORD_HEADER_LEN;
                stretch.records.push(Record { start: self.position, end, body_at, body_len });
                self.position = end;
                at += record_len(body_len);
            }
            if at >= len || self.end.is_some() {
                break;
            }
            match self.next_payload()? {
                Some((header, payload)) => {
                    if header.epoch > self.epoch {
                        // The store was opened here: whatever is unfinished was cut off by a crash.
                        stretch.bytes.truncate(at);
                        self.position = self.position.max(block_start(header.number));
                        self.epoch = header.epoch;
                    }
                    let payload = self.chunk_payload(payload, header.len);
                    stretch.bytes.extend_from_slice(payload);
                    self.skip = 0;
                }
                None => break,
            }
        }
        self.pending = stretch.bytes.split_off(at);
        Ok(stretch)
    }

    /// The length of the record's body at the start of `bytes`, if all of the record is there.
    fn whole_record(&self, bytes: &[u8]) -> Option<usize> {
        let header = bytes.first_chunk::<RECORD_HEADER_LEN>()?;
        let body_len = body_len(u64::from_le_bytes(*header))?;
        (record_len(body_len) <= bytes.len()).then_some(body_len)
    }

    fn chunk_payload(&self, block: u64, len: usize) -> &[u8] {
        let at = (block - self.chunk_first) as usize * BLOCK_LEN + BLOCK_HEADER_LEN;
        &self.chunk[at + self.skip.min(len)..at + len]
    }

    /// Checks the next block and returns its number, or notes why the log ends here.
    fn next_payload(&mut self) -> Result<Option<(BlockHeader, u64)>> {
        let number = self.next_block;
        let stop = |reader: &mut Self, problem| {
            reader.end = Some(End { block: number, problem });
            Ok(None)
        };
        if self.blocks_left == 0 {
            return stop(self, "the ring has been read once round");
        }
        let Some(header) = self.read_block(number)? else { return stop(self, "checksum or number is wrong") };
        if header.epoch < self.epoch || header.epoch > self.epoch_max {
            return stop(self, "the block belongs to an earlier opening of the store");
        }
        if self.partial && header.epoch == self.epoch {
            return stop(self, "the block before it is not full");
        }
        if self.first && header.len < self.skip {
            return stop(self, "the block ends before the checkpoint");
        }
        if std::mem::take(&mut self.first) {
            self.epoch = header.epoch;
        }
        self.partial = header.len < BLOCK_PAYLOAD;
        self.next_block += 1;
        self.blocks_left -= 1;
        Ok(Some((header, number)))
    }

    fn read_block(&mut self, number: u64) -> Result<Option<BlockHeader>> {
        Ok(self.read_any(number)?.filter(|header| header.number == number))
    }

    /// The block in the place of `number`, of whatever round of the ring, if it is whole.
    fn read_any(&mut self, number: u64) -> Result<Option<BlockHeader>> {
        if number < self.chunk_first || number >= self.chunk_first + self.chunk_blocks {
            let first = number / (IO_ALIGN / BLOCK_LEN) as u64 * (IO_ALIGN / BLOCK_LEN) as u64;
            let (file, offset) = self.files.place(first);
            self.files
                .read(first, &mut self.chunk)
                .map_err(|error| ErrorKind::Read { what: format!("{}, byte {offset}", file_name(file)), error })?;
            self.chunk_first = first;
            self.chunk_blocks = (self.chunk.len() / BLOCK_LEN) as u64;
        }
        let at = (number - self.chunk_first) as usize * BLOCK_LEN;
        Ok(block::open(&self.chunk[at..at + BLOCK_LEN]))
    }

    /// At the end of the log: fails if the place where it ends was durable once, so that something is missing.
    /// Looks through `window` bytes of blocks behind it, more than were ever written without a sync between.
    ///
    /// `checkpoint` is where reading began: everything before it was durable.
    pub fn check_end(&mut self, checkpoint: Lsn, window: usize) -> Result<()> {
        let Some(End { block: end, problem }) = self.end else { return Ok(()) };
        let ended_at = self.position;
        if ended_at == checkpoint && checkpoint > block_start(block_of(checkpoint)) && end == block_of(checkpoint) {
            return Err(self.corrupt(end, checkpoint, problem, checkpoint));
        }
        let last = end + (window / BLOCK_LEN) as u64;
        let last = last.min(end + self.files.ring_len() / BLOCK_LEN as u64 - 1);
        let start = if self.partial && end > 0 { end } else { end + 1 };
        for number in end..last {
            let Some(header) = self.read_any(number)? else { continue };
            let later_round = header.number > number && header.epoch >= self.epoch;
            if later_round || header.epoch > self.epoch_max {
                let problem = "the log goes on beyond what the control file knows of";
                return Err(self.corrupt(number, ended_at, problem, header.durable));
            }
            let follows = header.number == number && number >= start && header.epoch >= self.epoch;
            if follows && header.durable > ended_at {
                return Err(self.corrupt(end, ended_at, problem, header.durable));
            }
        }
        Ok(())
    }

    fn corrupt(&self, block: u64, lsn: Lsn, problem: &str, durable: Lsn) -> crate::error::StorageError {
        let (file, offset) = self.files.place(block);
        let problem = format!("{problem}, yet the log was durable up to {durable}");
        ErrorKind::CorruptLog { file: file_name(file), offset, lsn, problem }.into()
    }
}
