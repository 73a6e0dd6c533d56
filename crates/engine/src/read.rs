//! Reading: one entry or a range of an index, as a snapshot sees it.
//!
//! # Invariants
//! 1. The session's snapshot is announced while this reads. (`time`)
//! 2. An entry that changed while older versions of it were looked for is read again; others are not.
//!
//! # What it costs
//! An entry whose newest version is seen costs a copy out of its leaf and a comparison. A long entry costs its pages.

use meseta_storage::Cursor;

use crate::error::{EngineError, Result};
use crate::index::Index;
use crate::row::Corrupt;
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

    /// Shows what this statement's snapshot sees of a range, in ascending order from `from` on: each entry's key and
    /// payload, until `visit` returns false. `visit` may do what it likes: nothing is latched.
    pub fn scan(
        &mut self,
        index: &Index,
        from: &[u8],
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<bool>,
    ) -> Result<()> {
        let snapshot = self.snapshot();
        let mut versions = VersionReader::new(&self.core.time, &self.core.undo);
        let mut cursor: Cursor = index.tree.cursor();
        let mut again = Vec::new();
        let mut is_on_entry = cursor.seek(from)?;
        while is_on_entry {
            let goes_on = match versions.seen(&snapshot, index.id(), cursor.key(), cursor.value())? {
                Seen::Nothing => true,
                Seen::Payload(payload) => visit(cursor.key(), payload)?,
                Seen::Changed => {
                    !seen_at(&mut versions, &snapshot, index, cursor.key(), &mut again)? || visit(cursor.key(), &again)?
                }
            };
            if !goes_on {
                return Ok(());
            }
            is_on_entry = cursor.next()?;
        }
        Ok(())
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
    let mut value = Vec::new();
    for _ in 0..ATTEMPTS {
        if !index.tree.get_into(key, &mut value)? {
            return Ok(false);
        }
        match versions.seen(snapshot, index.id(), key, &value)? {
            Seen::Nothing => return Ok(false),
            Seen::Payload(payload) => {
                out.clear();
                out.extend_from_slice(payload);
                return Ok(true);
            }
            Seen::Changed => {}
        }
    }
    // Whatever changes does not change that often under one reader's eyes: the record is missing.
    Err(EngineError::Corrupt { index: index.id(), problem: Corrupt::Record })
}
