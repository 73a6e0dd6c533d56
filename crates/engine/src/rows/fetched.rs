//! A row that is fetched by its key, which an index's entry has named.

use meseta_storage::Portion;

use crate::error::Result;
use crate::read::{row_seen_by, seen_at};
use crate::row::Corrupt;
use crate::session::{Isolation, Session};
use crate::table::{Payload, Table};
use crate::time::Snapshot;
use crate::version::VersionReader;

/// The row's key, and what was read of it. Its memory is used again.
#[derive(Default)]
pub(super) struct FetchedRow {
    pub key: Vec<u8>,
    /// What is behind the version header, of the version that is seen: so much of it.
    pub payload: Vec<u8>,
    pub portion: Portion,
}

impl FetchedRow {
    pub fn payload(&self) -> Payload<'_> {
        Payload { bytes: &self.payload, portion: self.portion }
    }

    /// Bytes that it has memory for.
    pub fn capacity(&self) -> usize {
        self.key.capacity() + self.payload.capacity()
    }

    /// Reads what the snapshot sees of the row whose key this has, which an entry that it sees has named: all of it, or these columns.
    /// False if it is not there.
    pub fn fetch(
        &mut self,
        session: &Session,
        snapshot: &Snapshot,
        table: &Table,
        columns: Option<&[u16]>,
    ) -> Result<bool> {
        let rows = &table.rows().index;
        let Self { key, payload, portion } = self;
        let mut versions = VersionReader::new(&session.core.time, &session.core.undo);
        let seen = match columns {
            Some(columns) => row_seen_by(&mut versions, snapshot, table, key, columns, payload, None)?,
            None => seen_at(&mut versions, snapshot, rows, key, payload)?.then_some(Portion::Whole),
        };
        match seen {
            Some(seen) => {
                *portion = seen;
                Ok(true)
            }
            // Only who looks at what is there now may see an entry without its row.
            None if session.isolation() == Isolation::ReadUncommitted => Ok(false),
            None => Err(rows.damaged(Corrupt::Record)),
        }
    }
}
