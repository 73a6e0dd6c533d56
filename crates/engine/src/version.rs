//! Versions of an entry: which of them does a snapshot see?
//!
//! ```text
//!   entry in the tree          undo                        undo
//!   [writer 42 | row C]  --->  [writer 17 | row B]  --->   [writer 9 | row A]  --->  nothing was there
//!        seen?  no                  seen?  no                  seen?  yes: row A
//! ```
//!
//! Above: cursors and consistent reads. Below: `time`, which says whether a writer is seen, and `undo`.
//!
//! # Invariants
//! 1. The snapshot is announced for as long as this looks: what it needs is not purged meanwhile.
//! 2. A record that is not there, or does not speak of the entry, was undone or thinned: the entry has changed since it was
//!    read, or its records have, and the caller reads it again ([`Seen::Changed`]). It ends, since a rollback undoes each
//!    change once, and a version that a snapshot sees is not thinned.
//!
//! # What it costs
//! An entry whose newest version is seen costs a comparison, or a look at the commit table. Each step back costs a descent
//! in an undo tree.

use std::cell::Cell;

use meseta_storage::StorageError;

use crate::ids::IndexId;
use crate::row::{Corrupt, VersionHeader};
use crate::time::{Snapshot, Time};
use crate::undo::{Before, EntryChange, Slots, UndoError, read_record};

/// What a snapshot sees of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seen<'a> {
    /// Nothing: it was not there yet, or is deleted.
    Nothing,
    /// What follows the version header.
    Payload(&'a [u8]),
    /// The entry has changed since it was read: read it again.
    Changed,
}

/// What can go wrong with versions.
#[derive(Clone, Debug, thiserror::Error)]
pub enum VersionError {
    /// Undo cannot be read.
    #[error(transparent)]
    Undo(#[from] UndoError),
    /// An entry's value, or what undo says was there before, is not what any version of the engine writes.
    #[error("an entry of index {} is damaged: {problem}", index.0)]
    Corrupt {
        /// The index.
        index: IndexId,
        /// What is wrong.
        problem: Corrupt,
    },
}

impl From<StorageError> for VersionError {
    fn from(error: StorageError) -> Self {
        VersionError::Undo(error.into())
    }
}

/// What a look back needs memory for; the thread keeps it for the next.
#[derive(Default)]
struct Memory {
    /// The last record.
    record: Vec<u8>,
    /// What followed the header of the last version, and of the one above it.
    payloads: [Vec<u8>; 2],
}

impl Memory {
    /// Memory larger than this goes back to the system: bytes.
    const KEPT_BYTES: usize = 64 << 10;

    fn bytes(&self) -> usize {
        self.record.capacity() + self.payloads.iter().map(Vec::capacity).sum::<usize>()
    }
}

thread_local! {
    static SPARE: Cell<Option<Box<Memory>>> = const { Cell::new(None) };
}

/// Looks for versions. It has memory once it has had to look back.
pub struct VersionReader<'e> {
    time: &'e Time,
    undo: &'e Slots,
    memory: Option<Box<Memory>>,
}

impl Drop for VersionReader<'_> {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take_if(|memory| memory.bytes() <= Memory::KEPT_BYTES) {
            // A thread that ends has nowhere to keep it: then it goes.
            let _ = SPARE.try_with(|spare| spare.set(Some(memory)));
        }
    }
}

impl<'e> VersionReader<'e> {
    /// A reader with nothing in its memory.
    pub fn new(time: &'e Time, undo: &'e Slots) -> Self {
        Self { time, undo, memory: None }
    }

    /// What knows whether a writer is seen.
    pub fn time(&self) -> &'e Time {
        self.time
    }

    /// What a snapshot sees of the entry of `index` with this key and this value, as read from its tree.
    pub fn seen<'a>(
        &'a mut self,
        snapshot: &Snapshot,
        index: IndexId,
        key: &[u8],
        value: &'a [u8],
    ) -> Result<Seen<'a>, VersionError> {
        let corrupt = |problem| VersionError::Corrupt { index, problem };
        let (mut header, payload) = VersionHeader::split_off(value).map_err(corrupt)?;
        if self.time.is_visible(header.writer, snapshot) {
            return Ok(shown(header, payload));
        }
        let Memory { record, payloads: [older, newer] } =
            &mut **self.memory.get_or_insert_with(|| SPARE.take().unwrap_or_default());
        newer.clear();
        newer.extend_from_slice(payload);
        loop {
            if !self.undo.read(header.slot, header.writer, header.number, record)? {
                return Ok(Seen::Changed);
            }
            let before = match before(record, index, key).map_err(corrupt)? {
                None => return Ok(Seen::Changed),
                Some(None) => return Ok(Seen::Nothing),
                Some(Some(before)) => before,
            };
            older.clear();
            before.payload.apply(newer, older).map_err(corrupt)?;
            header = before.header;
            if self.time.is_visible(header.writer, snapshot) {
                return Ok(shown(header, older));
            }
            std::mem::swap(older, newer);
        }
    }
}

/// Whether this front of an entry's newest value tells all that is wanted of it, as the snapshot sees it.
pub fn is_told_by(front: &[u8], time: &Time, snapshot: &Snapshot, has_in_front: impl FnOnce(&[u8]) -> bool) -> bool {
    let Ok((header, payload)) = VersionHeader::split_off(front) else { return false };
    time.is_visible(header.writer, snapshot) && (header.deleted || has_in_front(payload))
}

fn shown(header: VersionHeader, payload: &[u8]) -> Seen<'_> {
    if header.deleted { Seen::Nothing } else { Seen::Payload(payload) }
}

/// What a record says was there before it in an entry: `Some(None)` if nothing was, `None` if it does not speak of it.
fn before<'r>(record: &'r [u8], index: IndexId, key: &[u8]) -> Result<Option<Option<Before<'r>>>, Corrupt> {
    let (_, changes) = read_record(record)?;
    for change in changes {
        let EntryChange { index: of, key: at, before, .. } = change?;
        if of == index && at == key {
            return Ok(Some(before));
        }
    }
    Ok(None)
}
