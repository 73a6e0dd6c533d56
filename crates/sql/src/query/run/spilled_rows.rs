//! Rows that are too many for memory and come back in the order of their keys: sorted ones, and those of groups.
//!
//! ```text
//!   row --> key: bytes that the caller gives, and its number     --> sorted runs in a temporary file, merged
//!           payload: its values                                      (meseta_engine::SortedRuns)
//! ```
//!
//! # Invariants
//! 1. Rows with equal keys come in the order in which they were added: their numbers are the ends of their keys.
//!
//! # When things fail
//! What cannot be written or read is an error of the statement. The file is gone with the rows.

use meseta_engine::{EngineError, SortedRuns};
use meseta_types::Datum;

use super::Sink;
use super::inside::Running;
use super::member_places::MemberPlaces;
use super::row_bytes::{append_row, values};
use super::spare::recycle;
use crate::error::{Error, Result};

/// Of the memory for rows, what those have that are on their way into a file: one part of so many.
const PART: usize = 4;
/// And no more bytes than these: sorted runs have less than 4 GiB in memory, with a row that may have one.
const MOST: usize = 1 << 30;

/// Bytes of a row's number.
const NUMBER: usize = size_of::<u64>();

/// The rows.
pub struct SpilledRows {
    runs: SortedRuns,
    /// How many there are.
    rows: u64,
    /// Of those that are equal, one is to be shown.
    drops_equals: bool,
    key: Vec<u8>,
    payload: Vec<u8>,
}

/// Why no more rows are shown.
enum Stop {
    Enough,
    Failed(Error),
}

impl From<EngineError> for Stop {
    fn from(error: EngineError) -> Self {
        Self::Failed(Error::from_engine(error))
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl SpilledRows {
    /// None yet, of a statement that has filled its memory.
    pub fn new(running: &Running<'_>) -> Self {
        Self {
            runs: running.inside.engine.sorted_runs((running.inside.memory_limit / PART).min(MOST)),
            rows: 0,
            drops_equals: false,
            key: Vec::new(),
            payload: Vec::new(),
        }
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.rows as usize
    }

    /// Of rows with equal keys, the first alone is to be shown.
    pub fn drop_equals(&mut self) {
        self.drops_equals = true;
    }

    /// Adds a row.
    pub fn add(&mut self, key: &[u8], row: &[Datum<'_>]) -> Result<()> {
        let mut payload = std::mem::take(&mut self.payload);
        payload.clear();
        append_row(row, &mut payload);
        let added = self.add_bytes(key, &payload);
        self.payload = payload;
        added
    }

    /// Adds a row that is bytes already ([`append_row`]).
    pub fn add_bytes(&mut self, key: &[u8], row: &[u8]) -> Result<()> {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.key.extend_from_slice(&self.rows.to_be_bytes());
        self.rows += 1;
        self.runs.push(&self.key, row).map_err(Error::from_engine)
    }

    /// Shows the first so many of them in their order, until no more are wanted; with members of ENUMs and SETs in these places.
    pub fn show(
        self,
        wanted: usize,
        members: &MemberPlaces<'_>,
        running: &mut Running<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let (mut last, mut shown, mut spare): (Option<Vec<u8>>, usize, Vec<Datum<'static>>) = (None, 0, Vec::new());
        let drops_equals = self.drops_equals;
        let done = self.runs.for_each(|key, payload| {
            running.inside.facts.check_killed()?;
            if drops_equals {
                let key = &key[..key.len() - NUMBER];
                if last.as_deref() == Some(key) {
                    return Ok(());
                }
                last.get_or_insert_default().clear();
                last.get_or_insert_default().extend_from_slice(key);
            }
            let mut row = recycle(std::mem::take(&mut spare));
            row.extend(values(payload, members));
            // (Rows that were kept in memory first have texts there.)
            members.restore(&mut row);
            shown += 1;
            let flow = sink(running, &row)?;
            spare = recycle(row);
            if flow.is_break() || shown == wanted { Err(Stop::Enough) } else { Ok(()) }
        });
        match done {
            Ok(()) | Err(Stop::Enough) => Ok(()),
            Err(Stop::Failed(error)) => Err(error),
        }
    }
}
