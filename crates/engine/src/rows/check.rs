//! Checking a table: each of its indexes has what its rows say, and nothing else.
//!
//! One snapshot sees rows and entries, so that others may go on working. Every row's entry is looked for in every index;
//! if there are then as many entries as rows, there are no others.
//!
//! Above: CHECK TABLE, and [`Engine::check`](crate::Engine::check). Below: cursors.

use std::fmt;

use super::RowCursor;
use crate::error::{EngineError, Result};
use crate::locking::Direction;
use crate::read::seen_at;
use crate::row::KeyRange;
use crate::session::Session;
use crate::table::{Entry, Table};
use crate::version::VersionReader;

/// So many rows of an index are told about; of the others only their number.
const TOLD_MAX: usize = 10;

/// What was found in a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TableReport {
    /// Rows that the snapshot sees.
    pub rows: u64,
    /// What is wrong.
    pub problems: Vec<TableProblem>,
}

/// What is wrong with an index of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TableProblem {
    /// A row's entry is not there, or is not what the row says.
    NoEntry {
        /// The index.
        index: String,
        /// The row's key.
        row: Vec<u8>,
    },
    /// There are more entries, or fewer, than rows.
    Entries {
        /// The index.
        index: String,
        /// Entries that the snapshot sees.
        entries: u64,
        /// Rows that it sees.
        rows: u64,
    },
    /// Something cannot be read.
    Unreadable {
        /// The index.
        index: String,
        /// Why.
        error: String,
    },
}

impl fmt::Display for TableProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableProblem::NoEntry { index, row } => {
                write!(f, "index '{index}': the entry of the row with key ")?;
                row.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                write!(f, " is missing or differs")
            }
            TableProblem::Entries { index, entries, rows } => {
                write!(f, "index '{index}': {entries} entries for {rows} rows")
            }
            TableProblem::Unreadable { index, error } => write!(f, "index '{index}': {error}"),
        }
    }
}

impl Session {
    /// Checks a table, as the statement's snapshot sees it. Indexes that are being built, or are younger than the snapshot, are
    /// left out. Errors: those of the session; what is damaged is in the report.
    pub fn check_table(&mut self, table: &Table) -> Result<TableReport> {
        let snapshot = self.snapshot();
        let mut report = TableReport::default();
        let usable = |at: &usize| table.indexes[*at].build.is_none() && snapshot.time >= table.indexes[*at].usable_from;
        let secondary: Vec<usize> = (1..table.indexes.len()).filter(usable).collect();
        let name = |at: usize| table.definition.indexes[at].name.clone();
        let mut missing = vec![0; table.indexes.len()];
        let read = self.check_rows(table, &secondary, &mut report.rows, |at, row| {
            missing[at] += 1;
            if missing[at] <= TOLD_MAX {
                report.problems.push(TableProblem::NoEntry { index: name(at), row: row.to_vec() });
            }
        });
        if let Err(error) = read {
            report.problems.push(unreadable(name(0), error)?);
            return Ok(report);
        }
        for at in secondary {
            match self.count_entries(table, at) {
                Ok(entries) if entries == report.rows => {}
                Ok(entries) => {
                    report.problems.push(TableProblem::Entries { index: name(at), entries, rows: report.rows });
                }
                Err(error) => report.problems.push(unreadable(name(at), error)?),
            }
        }
        Ok(report)
    }

    /// Reads all rows, and looks for their entries in some indexes.
    fn check_rows(
        &mut self,
        table: &Table,
        secondary: &[usize],
        rows: &mut u64,
        mut missing: impl FnMut(usize, &[u8]),
    ) -> Result<()> {
        let columns = 0..table.definition.columns.len() as u16;
        let mut cursor = RowCursor::consistent(table, 0, KeyRange::ALL, Direction::Ascending, columns);
        let (mut entry, mut seen) = (Entry::default(), Vec::new());
        while cursor.next(self)? {
            *rows += 1;
            let (mut buffers, mut values) = (Default::default(), Vec::new());
            cursor.read(&mut buffers, &mut values)?;
            let snapshot = self.snapshot();
            for &at in secondary {
                let index = &table.indexes[at];
                index.layout.entry(&values, cursor.key(), &*self.core.collations, &mut entry)?;
                let mut versions = VersionReader::new(&self.core.time, &self.core.undo);
                let is_there = seen_at(&mut versions, &snapshot, &index.index, &entry.key, &mut seen)?;
                if !is_there || seen != entry.payload {
                    missing(at, cursor.key());
                }
            }
        }
        Ok(())
    }

    fn count_entries(&mut self, table: &Table, index: usize) -> Result<u64> {
        let nothing_else = std::iter::empty();
        let mut cursor = RowCursor::consistent(table, index, KeyRange::ALL, Direction::Ascending, nothing_else);
        let mut entries = 0;
        while cursor.next(self)? {
            entries += 1;
        }
        Ok(entries)
    }
}

/// What is to be reported of an error; others are the session's.
fn unreadable(index: String, error: EngineError) -> Result<TableProblem> {
    match error {
        EngineError::Corrupt { .. } | EngineError::Undo(_) | EngineError::Storage(_) => {
            Ok(TableProblem::Unreadable { index, error: error.to_string() })
        }
        other => Err(other),
    }
}
