//! Reading: one entry of an index, as a snapshot sees it, or the newest.
//!
//! # Invariants
//! 1. The session's snapshot is announced while this reads. (`time`)
//! 2. An entry that changed while older versions of it were looked for is read again; others are not.
//!
//! # What it costs
//! An entry whose newest version is seen costs a copy out of its leaf and a comparison. A long entry costs its pages.

use crate::error::Result;
use crate::index::Index;
use crate::row::{Corrupt, VERSION_HEADER_LEN};
use crate::session::Session;
use crate::time::Snapshot;
use crate::version::{Seen, VersionReader};

impl Session {
    /// What this statement's snapshot sees of an entry: its payload is copied to `out`. False if it sees nothing.
    pub fn get(&mut self, index: &Index, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        let snapshot = self.snapshot();
        let mut versions = VersionReader::new(&self.core.time, &self.core.undo);
        seen_at(&mut versions, &snapshot, index, key, out)
    }

    /// The newest version of an entry, header and all, whoever wrote it: for those who lock and change. False if there is
    /// no entry.
    pub fn get_newest(&mut self, index: &Index, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        // So that a writer's fate can be told while it is looked at.
        self.announce_now();
        Ok(index.tree.get_into(key, out)?)
    }
}

/// So often an entry that changes is read again.
const ATTEMPTS: usize = 100_000;

/// Reads an entry, and reads it again as often as it has changed meanwhile.
pub(crate) fn seen_at(
    versions: &mut VersionReader<'_>,
    snapshot: &Snapshot,
    index: &Index,
    key: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool> {
    for _ in 0..ATTEMPTS {
        if !index.tree.get_into(key, out)? {
            return Ok(false);
        }
        let older = match versions.seen(snapshot, index.id(), key, out)? {
            Seen::Nothing => return Ok(false),
            Seen::Changed => continue,
            // The newest version is what has just been read.
            Seen::Payload(payload) if payload.as_ptr_range().end == out.as_ptr_range().end => None,
            Seen::Payload(payload) => Some(payload.to_vec()),
        };
        match older {
            Some(older) => *out = older,
            None => drop(out.drain(..VERSION_HEADER_LEN)),
        }
        return Ok(true);
    }
    // Whatever changes does not change that often under one reader's eyes: the record is missing.
    Err(index.damaged(Corrupt::Record))
}
