//! Reading: one entry of an index, as a snapshot sees it, or the newest.
//!
//! # Invariants
//! 1. The session's snapshot is announced while this reads. (`time`)
//! 2. An entry that changed while older versions of it were looked for is read again; others are not.
//!
//! # What it costs
//! An entry whose newest version is seen costs a copy out of its leaf and a comparison. A long entry costs its pages.

use std::task::{Poll, Waker};

use meseta_storage::Portion;

use crate::error::{EngineError, Result};
use crate::index::Index;
use crate::row::{Corrupt, VERSION_HEADER_LEN};
use crate::session::Session;
use crate::table::{Table, TableIndex};
use crate::time::Snapshot;
use crate::version::{Seen, VersionReader, is_told_by};

impl Session {
    /// What this statement's snapshot sees of a row: its payload is copied to `out`, or the front of it, if these columns are all
    /// there: how much. `None` if it sees nothing. Where the statement `is_repeatable`, it may wait for a page without its thread: then
    /// this fails with [`EngineError::Suspended`], and is asked again when the session has been called back ([`Session::set_waker`]).
    pub fn get(
        &mut self,
        table: &Table,
        key: &[u8],
        columns: &[u16],
        out: &mut Vec<u8>,
        is_repeatable: bool,
    ) -> Result<Option<Portion>> {
        let snapshot = self.snapshot();
        let mut versions = VersionReader::new(&self.core.time, &self.core.undo);
        let waker = self.page_wait.waker(&self.owner, is_repeatable);
        let seen = row_seen_by(&mut versions, &snapshot, table, key, columns, out, waker);
        self.page_wait.note(&seen);
        seen
    }

    /// The newest version of an entry, header and all, whoever wrote it: for those who lock and change. False if there is
    /// no entry.
    pub fn get_newest(&mut self, index: &Index, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        self.get_newest_or_suspend(index, key, out, false)
    }

    /// As [`Session::get_newest`], for a statement that may wait without its thread as in [`Session::get`].
    pub(crate) fn get_newest_or_suspend(
        &mut self,
        index: &Index,
        key: &[u8],
        out: &mut Vec<u8>,
        is_repeatable: bool,
    ) -> Result<bool> {
        // So that a writer's fate can be told while it is looked at.
        self.announce_now();
        let found = get_into(index, key, out, |_| false, self.page_wait.waker(&self.owner, is_repeatable));
        self.page_wait.note(&found);
        Ok(found?.is_some())
    }
}

/// So often an entry that changes is read again.
const ATTEMPTS: usize = 100_000;

/// Copies an entry's newest version, header and all, to `out`, or its front, if that `is_enough`: how much. With a waker that is called
/// when a page that is missing has come, and this fails with [`EngineError::Suspended`].
pub(crate) fn get_into(
    index: &Index,
    key: &[u8],
    out: &mut Vec<u8>,
    is_enough: impl FnMut(&[u8]) -> bool,
    waker: Option<&Waker>,
) -> Result<Option<Portion>> {
    match waker {
        None => Ok(index.tree.get_front_into(key, out, is_enough)?),
        Some(waker) => match index.tree.poll_get_front_into(key, out, is_enough, waker)? {
            Poll::Ready(found) => Ok(found),
            Poll::Pending => Err(EngineError::Suspended),
        },
    }
}

/// Reads an entry, and reads it again as often as it has changed meanwhile.
pub(crate) fn seen_at(
    versions: &mut VersionReader<'_>,
    snapshot: &Snapshot,
    index: &Index,
    key: &[u8],
    out: &mut Vec<u8>,
) -> Result<bool> {
    Ok(seen_by(versions, snapshot, index, key, out, |_| false, None)?.is_some())
}

/// Reads a row, as [`seen_at`], or its front, if these columns are all there: how much. With a waker as [`get_into`].
pub(crate) fn row_seen_by(
    versions: &mut VersionReader<'_>,
    snapshot: &Snapshot,
    table: &Table,
    key: &[u8],
    columns: &[u16],
    out: &mut Vec<u8>,
    waker: Option<&Waker>,
) -> Result<Option<Portion>> {
    let TableIndex { index, layout, .. } = table.rows();
    seen_by(versions, snapshot, index, key, out, |payload| layout.has_in_front(columns, payload), waker)
}

/// As [`seen_at`], of which the front of the payload may have all that is wanted; with a waker as [`get_into`].
#[inline]
fn seen_by(
    versions: &mut VersionReader<'_>,
    snapshot: &Snapshot,
    index: &Index,
    key: &[u8],
    out: &mut Vec<u8>,
    has_in_front: impl Fn(&[u8]) -> bool,
    waker: Option<&Waker>,
) -> Result<Option<Portion>> {
    for _ in 0..ATTEMPTS {
        let is_enough = |front: &[u8]| is_told_by(front, versions.time(), snapshot, &has_in_front);
        let Some(portion) = get_into(index, key, out, is_enough, waker)? else { return Ok(None) };
        let older = match versions.seen(snapshot, index.id(), key, out)? {
            Seen::Nothing => return Ok(None),
            Seen::Changed => continue,
            // The newest version is what has just been read.
            Seen::Payload(payload) if payload.as_ptr_range().end == out.as_ptr_range().end => None,
            Seen::Payload(payload) => Some(payload.to_vec()),
        };
        match older {
            Some(older) => *out = older,
            None => drop(out.drain(..VERSION_HEADER_LEN)),
        }
        return Ok(Some(portion));
    }
    // Whatever changes does not change that often under one reader's eyes: the record is missing.
    Err(index.damaged(Corrupt::Record))
}
