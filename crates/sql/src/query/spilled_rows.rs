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
use meseta_types::{Collation, Date, DateTime, Datum, Decimal, Time};

use super::inside::Running;
use super::member_places::MemberPlaces;
use super::run::Sink;
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
    pub fn len(&self) -> usize {
        self.rows as usize
    }

    /// Of rows with equal keys, the first alone is to be shown.
    pub fn drop_equals(&mut self) {
        self.drops_equals = true;
    }

    /// Adds a row.
    pub fn add(&mut self, key: &[u8], row: &[Datum<'_>]) -> Result<()> {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.key.extend_from_slice(&self.rows.to_be_bytes());
        self.rows += 1;
        self.payload.clear();
        row.iter().for_each(|value| append(*value, &mut self.payload));
        self.runs.push(&self.key, &self.payload).map_err(Error::from_engine)
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
            let mut rest = payload;
            while !rest.is_empty() {
                let (value, behind) =
                    first_of(rest).expect("a row is read as it was written: its block has a checksum");
                row.push(value);
                rest = behind;
            }
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

/// Appends a value: a byte for its kind, and what there is to it.
fn append(value: Datum<'_>, out: &mut Vec<u8>) {
    let mut put = |kind: u8, parts: &[&[u8]]| {
        out.push(kind);
        parts.iter().for_each(|part| out.extend_from_slice(part));
    };
    let day = |date: Date| [&date.year.to_le_bytes()[..], &[date.month, date.day]].concat();
    match value {
        Datum::Null => put(0, &[]),
        Datum::Signed(number) => put(1, &[&number.to_le_bytes()]),
        Datum::Unsigned(number) => put(2, &[&number.to_le_bytes()]),
        Datum::Float(number) => put(3, &[&number.to_le_bytes()]),
        Datum::Double(number) => put(4, &[&number.to_le_bytes()]),
        Datum::Decimal(number) => {
            let mut text = Vec::new();
            number.append_text(&mut text);
            put(5, &[&[text.len() as u8], &text]);
        }
        Datum::Text(text, collation) => {
            put(6, &[&collation.id().to_le_bytes(), &(text.len() as u32).to_le_bytes(), text]);
        }
        Datum::Date(date) => put(7, &[&day(date)]),
        Datum::Time(time, decimals) => put(8, &[&time.micros().to_le_bytes(), &[decimals]]),
        Datum::DateTime(time, decimals) => {
            let clock = [time.hour, time.minute, time.second];
            put(9, &[&day(time.date), &clock, &time.micros.to_le_bytes(), &[decimals]]);
        }
        Datum::Bits { bits, width } => put(10, &[&bits.to_le_bytes(), &[width]]),
        Datum::Json(document) => put(11, &[&(document.len() as u32).to_le_bytes(), document]),
        // As where rows are kept in memory.
        Datum::Member { members, .. } => {
            let mut text = Vec::new();
            value.append_text(&mut text);
            put(6, &[&members.collation().id().to_le_bytes(), &(text.len() as u32).to_le_bytes(), &text]);
        }
    }
}

/// The first value, and what is behind it; `None` if there is none.
fn first_of(bytes: &[u8]) -> Option<(Datum<'_>, &[u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let day = |[year, more, month, day]: [u8; 4]| Date { year: u16::from_le_bytes([year, more]), month, day };
    let long = |rest: &'_ [u8]| {
        let (len, _) = rest.split_first_chunk()?;
        Some(4 + u32::from_le_bytes(*len) as usize)
    };
    Some(match kind {
        0 => (Datum::Null, rest),
        1 => rest.split_first_chunk().map(|(number, rest)| (Datum::Signed(i64::from_le_bytes(*number)), rest))?,
        2 => rest.split_first_chunk().map(|(number, rest)| (Datum::Unsigned(u64::from_le_bytes(*number)), rest))?,
        3 => rest.split_first_chunk().map(|(number, rest)| (Datum::Float(f32::from_le_bytes(*number)), rest))?,
        4 => rest.split_first_chunk().map(|(number, rest)| (Datum::Double(f64::from_le_bytes(*number)), rest))?,
        5 => {
            let (&len, rest) = rest.split_first()?;
            let (text, rest) = rest.split_at_checked(len.into())?;
            (Datum::Decimal(Decimal::parse(text).value), rest)
        }
        6 => {
            let (id, rest) = rest.split_first_chunk()?;
            let (text, rest) = rest.split_at_checked(long(rest)?)?;
            (Datum::Text(&text[4..], Collation::from_id(u16::from_le_bytes(*id))?), rest)
        }
        7 => rest.split_first_chunk().map(|(date, rest)| (Datum::Date(day(*date)), rest))?,
        8 => {
            let (micros, rest) = rest.split_first_chunk()?;
            let (&decimals, rest) = rest.split_first()?;
            (Datum::Time(Time::from_micros(i64::from_le_bytes(*micros)).0, decimals), rest)
        }
        9 => {
            let (date, rest) = rest.split_first_chunk()?;
            let (&[hour, minute, second], rest) = rest.split_first_chunk()?;
            let (micros, rest) = rest.split_first_chunk()?;
            let (&decimals, rest) = rest.split_first()?;
            let time = DateTime { date: day(*date), hour, minute, second, micros: u32::from_le_bytes(*micros) };
            (Datum::DateTime(time, decimals), rest)
        }
        10 => {
            let (bits, rest) = rest.split_first_chunk()?;
            let (&width, rest) = rest.split_first()?;
            (Datum::Bits { bits: u64::from_le_bytes(*bits), width }, rest)
        }
        11 => {
            let (document, rest) = rest.split_at_checked(long(rest)?)?;
            (Datum::Json(&document[4..]), rest)
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        let date = Date { year: 2024, month: 2, day: 29 };
        let time = DateTime { date, hour: 23, minute: 59, second: 58, micros: 123_456 };
        let values = [
            Datum::Null,
            Datum::Signed(-7),
            Datum::Unsigned(u64::MAX),
            Datum::Float(1.5),
            Datum::Double(-2.25),
            Datum::Decimal(Decimal::parse_exact("-12345678901234567890.5000").unwrap()),
            Datum::Text("größer".as_bytes(), Collation::Utf8mb4_0900AiCi),
            Datum::Text(b"", Collation::Binary),
            Datum::Date(date),
            Datum::Time(Time::from_micros(-3_600_000_001).0, 6),
            Datum::DateTime(time, 3),
            Datum::Bits { bits: 5, width: 3 },
            Datum::Json(b"\x05\x01\x00"),
        ];
        let mut bytes = Vec::new();
        values.iter().for_each(|value| append(*value, &mut bytes));
        let (mut rest, mut read) = (&*bytes, Vec::new());
        while let Some((value, behind)) = first_of(rest) {
            read.push(value);
            rest = behind;
        }
        assert!(rest.is_empty());
        assert_eq!(format!("{read:?}"), format!("{values:?}"));
    }
}
