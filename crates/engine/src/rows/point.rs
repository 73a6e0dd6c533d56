//! One row, by the whole key of a unique index.
//!
//! ```text
//!   the rows themselves   key --> row
//!   another index         key --> entry      if that tells all that is asked for
//!                         key --> entry --> primary key --> row
//! ```
//!
//! # Invariants
//! 1. As of a cursor ([`super::cursor`]): what is shown of an entry and of its row is of one version. Where an entry's newest version is
//!    not seen this does not tell, and the row is for a cursor to find.
//!
//! # What it costs
//! A descent, or two. A cursor copies what lies around the entry, too, and knows where to go on.

use meseta_storage::Portion;

use super::fetched::FetchedRow;
use crate::error::{EngineError, Result};
use crate::read::get_into;
use crate::row::{VERSION_HEADER_LEN, Value, VersionHeader};
use crate::session::Session;
use crate::table::Table;

/// What was found by a key: the row, or the index's entry. Its memory is used again.
#[derive(Default)]
pub struct PointRow {
    /// Which index it is of.
    index: usize,
    /// What was read; with the key, if another index has named the row.
    row: FetchedRow,
}

impl PointRow {
    /// Bytes that it has memory for.
    pub fn capacity(&self) -> usize {
        self.row.capacity()
    }

    /// Shows some of the columns that were asked for: the column, and its value. `sought` is the index, and the key in it, by which this
    /// was found. What has to be put together is kept in the buffers.
    #[inline(always)]
    pub fn visit_columns<'p>(
        &'p self,
        table: &'p Table,
        sought: (usize, &'p [u8]),
        columns: &[u16],
        buffers: &'p mut [Vec<u8>; 2],
        visit: impl FnMut(usize, Value<'p>),
    ) -> Result<()> {
        if columns.is_empty() {
            return Ok(());
        }
        let key = if sought.0 == self.index { sought.1 } else { &self.row.key };
        let index = &table.indexes[self.index];
        index
            .layout
            .visit_columns(columns, key, self.row.payload(), buffers, visit)
            .map_err(|problem| index.index.damaged(problem))
    }
}

/// Whether there is a row that has a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Point {
    /// It is there.
    Found,
    /// The statement's snapshot sees none.
    Missing,
    /// Only a cursor tells.
    Unsure,
}

impl Session {
    /// Looks for what this statement's snapshot sees of the row that has this key in a unique index, a value for each part: these columns
    /// of it. May wait as [`Session::get`] does.
    pub fn find_point(
        &mut self,
        table: &Table,
        index: usize,
        key: &[u8],
        columns: &[u16],
        found: &mut PointRow,
        is_repeatable: bool,
    ) -> Result<Point> {
        if index > 0 {
            return self.find_by_entry(table, index, key, columns, found);
        }
        found.index = 0;
        Ok(match self.get(table, key, columns, &mut found.row.payload, is_repeatable)? {
            Some(portion) => {
                found.row.portion = portion;
                Point::Found
            }
            None => Point::Missing,
        })
    }

    fn find_by_entry(
        &mut self,
        table: &Table,
        number: usize,
        key: &[u8],
        columns: &[u16],
        found: &mut PointRow,
    ) -> Result<Point> {
        let (index, snapshot) = (&table.indexes[number], self.snapshot());
        if index.build.is_some() || snapshot.time < index.usable_from {
            return Err(EngineError::TableChanged);
        }
        let damaged = |problem| index.index.damaged(problem);
        let FetchedRow { key: primary_key, payload, portion } = &mut found.row;
        if get_into(&index.index, key, payload, |_| false, None)?.is_none() {
            return Ok(Point::Missing);
        }
        let (header, entry) = VersionHeader::split_off(payload).map_err(damaged)?;
        if !self.core.time.is_visible(header.writer, &snapshot) {
            return Ok(Point::Unsure);
        }
        if header.deleted {
            return Ok(Point::Missing);
        }
        if index.layout.covers(columns.iter().copied()) {
            payload.drain(..VERSION_HEADER_LEN);
            (found.index, *portion) = (number, Portion::Whole);
            return Ok(Point::Found);
        }
        primary_key.clear();
        primary_key.extend_from_slice(index.layout.primary_key_of(key, entry).map_err(damaged)?);
        found.index = 0;
        Ok(if found.row.fetch(self, &snapshot, table, Some(columns))? { Point::Found } else { Point::Missing })
    }
}
