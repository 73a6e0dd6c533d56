//! A run: entries of an index, in memory to be sorted, or in a file once they are.
//!
//! ```text
//!   in memory      places  | head of the key, where the rest is | ...       sorted by heads, and by what is behind them
//!                  bytes   | rest of the key  payload | ...
//!   in the file    blocks  | length of the key  length of the payload  key  payload | ...        lengths in LEB128
//! ```
//!
//! # Invariants
//! 1. An entry lies in one block.

use std::ops::Range;
use std::sync::Arc;

use meseta_storage::io::AlignedBuffer;
use meseta_storage::{TemporaryBlock, TemporaryFile};

use crate::error::Result;
use crate::leb128;
use crate::row::Corrupt;

/// Bytes of entries that a block has at least, but the last.
const BLOCK_BYTES: usize = 64 << 10;

/// Bytes of a key that lie beside its place: most comparisons end there.
const HEAD_LEN: usize = 16;

/// An entry in a run's memory. A key that is no longer than its head is nowhere else: a run of such, as most indexes have,
/// is sorted and shown without a look at what lies elsewhere.
#[derive(Clone, Copy)]
struct Place {
    head: [u8; HEAD_LEN],
    /// Where the rest lies: the key, if it is longer, and the payload.
    at: u32,
    key_len: u32,
    payload_len: u32,
}

impl Place {
    fn key<'r>(&'r self, bytes: &'r [u8]) -> &'r [u8] {
        let len = self.key_len as usize;
        self.head.get(..len).unwrap_or_else(|| &bytes[self.at as usize..][..len])
    }

    fn payload<'r>(&self, bytes: &'r [u8]) -> &'r [u8] {
        let key_len = if self.key_len as usize > HEAD_LEN { self.key_len } else { 0 };
        &bytes[(self.at + key_len) as usize..][..self.payload_len as usize]
    }
}

/// The beginning of a key.
pub(super) fn head_of(key: &[u8]) -> [u8; HEAD_LEN] {
    let mut head = [0; HEAD_LEN];
    let len = key.len().min(HEAD_LEN);
    head[..len].copy_from_slice(&key[..len]);
    head
}

/// A head as a number that orders as keys do. Heads that are equal say nothing: a short key is filled with zeroes.
pub(super) fn order_of(head: [u8; HEAD_LEN]) -> u128 {
    u128::from_be_bytes(head)
}

/// Entries in memory: less than 4 GiB of them.
#[derive(Default)]
pub(super) struct Run {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

impl Run {
    /// Adds an entry.
    pub fn push(&mut self, key: &[u8], payload: &[u8]) {
        self.places.push(Place {
            head: head_of(key),
            at: self.bytes.len() as u32,
            key_len: key.len() as u32,
            payload_len: payload.len() as u32,
        });
        if key.len() > HEAD_LEN {
            self.bytes.extend_from_slice(key);
        }
        self.bytes.extend_from_slice(payload);
    }

    /// Bytes that it takes.
    pub fn len_in_memory(&self) -> usize {
        self.bytes.len() + self.places.len() * size_of::<Place>()
    }

    /// Puts the entries in the order of their keys.
    pub fn sort(&mut self) {
        let Self { bytes, places } = self;
        places.sort_unstable_by(|one, other| {
            order_of(one.head).cmp(&order_of(other.head)).then_with(|| one.key(bytes).cmp(other.key(bytes)))
        });
    }

    /// Keys and payloads, in the order in which they are.
    pub fn entries(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.places.iter().map(|place| (place.key(&self.bytes), place.payload(&self.bytes)))
    }

    /// Forgets the entries, and keeps their memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
    }
}

/// A sorted run in a file.
pub(super) struct SpilledRun {
    file: Arc<TemporaryFile>,
    blocks: Vec<TemporaryBlock>,
}

impl SpilledRun {
    /// Writes a run that has been sorted.
    pub fn write(run: &Run, file: Arc<TemporaryFile>) -> Result<Self> {
        let (mut blocks, mut bytes) = (Vec::new(), Vec::with_capacity(BLOCK_BYTES + 1024));
        for (key, payload) in run.entries() {
            leb128::append(key.len(), &mut bytes);
            leb128::append(payload.len(), &mut bytes);
            bytes.extend_from_slice(key);
            bytes.extend_from_slice(payload);
            if bytes.len() >= BLOCK_BYTES {
                blocks.push(file.append(&bytes)?);
                bytes.clear();
            }
        }
        if !bytes.is_empty() {
            blocks.push(file.append(&bytes)?);
        }
        Ok(Self { file, blocks })
    }

    /// Reads the run from its beginning.
    pub fn reader(&self) -> SpilledReader<'_> {
        SpilledReader {
            file: &self.file,
            blocks: &self.blocks,
            bytes: AlignedBuffer::new(0),
            rest: 0..0,
            entry: Entry::default(),
        }
    }
}

/// Stands on an entry of a run in a file; on none at first.
pub(super) struct SpilledReader<'r> {
    file: &'r TemporaryFile,
    /// Blocks that have not been read.
    blocks: &'r [TemporaryBlock],
    /// The block that is read, and what of it comes behind the entry.
    bytes: AlignedBuffer,
    rest: Range<usize>,
    entry: Entry,
}

/// Where an entry is in its block.
#[derive(Clone, Default)]
struct Entry {
    key: Range<usize>,
    payload: Range<usize>,
}

impl SpilledReader<'_> {
    /// The key of the entry.
    pub fn key(&self) -> &[u8] {
        &self.bytes[self.entry.key.clone()]
    }

    /// Its payload.
    pub fn payload(&self) -> &[u8] {
        &self.bytes[self.entry.payload.clone()]
    }

    /// Goes on to the next one; `false` behind the last.
    pub fn next(&mut self) -> Result<bool> {
        if self.rest.is_empty() {
            let Some((block, blocks)) = self.blocks.split_first() else { return Ok(false) };
            self.bytes = self.file.read(block)?;
            (self.blocks, self.rest) = (blocks, 0..block.len());
        }
        let mut rest = &self.bytes[self.rest.clone()];
        let mut len = || leb128::take(&mut rest, Corrupt::TooLong).expect("a block is what was written, or not read");
        let (key_len, payload_len) = (len(), len());
        let key_at = self.rest.end - rest.len();
        let key = key_at..key_at + key_len;
        self.entry = Entry { payload: key.end..key.end + payload_len, key };
        self.rest.start = self.entry.payload.end;
        Ok(true)
    }
}
