//! A batch: rows of a consistent read that lie copied side by side, and are read without a step for each.
//!
//! ```text
//!   copied   | entry | entry | tombstone | entry | entry, whose newest version is not seen | ...
//!              the cursor is here                  the next batch begins with it, or with what is seen in its place
//!              \_____________ a batch ____________/
//! ```
//!
//! Headers are looked at first, all in one go, and keys put together, if columns are read from them. Then rows are shown, whose
//! values are all there at the same time: so whoever reads them fills the same places again and again, and nothing is set up for a
//! row.
//!
//! # Invariants
//! 1. A batch has no row whose version had to be looked for, and none that is kept elsewhere, but for its first.
//! 2. The cursor stays on the first row until the batch is over, and then passes all that was looked at.

use bumpalo::Bump;
use meseta_storage::Copied;

use crate::error::Result;
use crate::row::{VERSION_HEADER_LEN, Value, VersionHeader};
use crate::table::{InPlace, TableIndex};
use crate::time::{Snapshot, Time};

/// So many entries are looked at together, the one that the cursor is on among them.
const ENTRIES_MAX: usize = u64::BITS as usize;

/// The entries that have been copied behind the one the cursor is on, as far as their newest versions are seen.
#[derive(Clone, Copy, Default)]
pub(super) struct Behind {
    /// How many.
    pub entries: usize,
    /// Those of them that are rows, and no tombstones: bit 1 is that of the next entry.
    rows: u64,
}

impl Behind {
    /// Looks how far the snapshot sees what has been copied, down to the lowest key if that is told. An entry that is damaged ends it:
    /// whoever steps there is told.
    pub fn look(copied: Copied<'_>, lowest: Option<&[u8]>, time: &Time, snapshot: &Snapshot) -> Self {
        let (mut entries, mut rows) = (0, 0);
        // Rows beside each other were often written together: the writer that was seen last.
        let mut seen = None;
        while entries + 1 < ENTRIES_MAX
            && let Some(value) = copied.value(entries + 1)
            && let Ok((header, _)) = VersionHeader::split_off(value)
            && (seen == Some(header.writer) || time.is_visible(header.writer, snapshot))
        {
            seen = Some(header.writer);
            entries += 1;
            rows |= u64::from(!header.deleted) << entries;
        }
        if let Some(lowest) = lowest {
            while entries > 0 && copied.key(entries) < lowest {
                rows &= !(1 << entries);
                entries -= 1;
            }
        }
        Self { entries, rows }
    }
}

/// Rows, one after the other; each is there as long as the cursor stays where it is.
pub struct RowBatch<'c> {
    index: &'c TableIndex,
    wanted: &'c Wanted<'c>,
    /// What is behind the header of the row that the cursor is on, until it has been shown.
    first: Option<&'c [u8]>,
    copied: Copied<'c>,
    /// Those behind it that are still to be shown.
    rows: u64,
}

/// What is read of each row.
pub(super) struct Wanted<'t> {
    pub how: InPlace<'t>,
    /// Whether keys are put together for it.
    pub gathers_keys: bool,
    /// Where values of a batch are that have to be put together of its keys.
    pub arena: Bump,
}

/// A row of a batch.
#[derive(Clone, Copy)]
pub struct BatchRow<'c> {
    index: &'c TableIndex,
    wanted: &'c Wanted<'c>,
    /// Its entry's key, if that is needed.
    key: &'c [u8],
    payload: &'c [u8],
}

impl<'c> RowBatch<'c> {
    /// The row that the cursor is on, of which this is behind the header, and those behind it.
    pub(super) fn new(
        index: &'c TableIndex,
        wanted: &'c Wanted<'c>,
        first: &'c [u8],
        copied: Copied<'c>,
        behind: Behind,
    ) -> Self {
        Self { index, wanted, first: Some(first), copied, rows: behind.rows }
    }

    #[inline(always)]
    fn row(&self, steps: usize, payload: &'c [u8]) -> BatchRow<'c> {
        let key = if self.wanted.how.needs_key() { self.copied.key(steps) } else { &[] };
        BatchRow { index: self.index, wanted: self.wanted, key, payload }
    }
}

impl<'c> Iterator for RowBatch<'c> {
    type Item = BatchRow<'c>;

    #[inline]
    fn next(&mut self) -> Option<BatchRow<'c>> {
        if let Some(payload) = self.first.take() {
            return Some(self.row(0, payload));
        }
        if self.rows == 0 {
            return None;
        }
        let steps = self.rows.trailing_zeros() as usize;
        self.rows &= self.rows - 1;
        self.copied.prefetch();
        // It has been looked at before: there is a value, and a header.
        let payload = self.copied.value(steps)?.get(VERSION_HEADER_LEN..)?;
        Some(self.row(steps, payload))
    }
}

impl<'c> BatchRow<'c> {
    /// Shows the columns that batches were asked for: the column, and its value.
    #[inline(always)]
    pub fn visit_columns(&self, visit: impl FnMut(usize, Value<'c>)) -> Result<()> {
        let Self { index, wanted, key, payload } = *self;
        let visited = index.layout.visit_in_place(&wanted.how, key, payload, &wanted.arena, visit);
        visited.map_err(|problem| index.index.damaged(problem))
    }
}
