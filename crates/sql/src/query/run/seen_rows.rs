//! The rows that a query inside of an expression had, by what it saw of the row around it.
//!
//! ```text
//!   SELECT .., (SELECT name FROM country WHERE code = c.country) FROM c      'DE' -> ('Germany'), 'FR' -> ('France'), ..
//! ```
//!
//! Rows around it often have the same values one after the other: so the row that it had last is at hand, and joins the others when there
//! is a new one.
//!
//! # Invariants
//! 1. What is found is what the query would have now: all that it looks at of rows around it is in the key, and rows that it reads are not
//!    changed by its own statement, but by foreign keys ([`meseta_engine::Session::rows_followed`]): then all are forgotten.
//! 2. Bytes are limited. If few of those that are asked for are found, none is kept any more.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use meseta_types::Datum;

use crate::expression::Value;

/// So many of the others may be asked for in vain, before one is found,
const CREDIT: u32 = 4096;
/// and so many more for each that is found (measured: to keep one costs a fifth of the least query).
const FOUND: u32 = 4;

/// The last row is no longer kept if it has been asked for in vain so often, one time after the other.
const OTHERS_AT_MOST: u32 = 64;

/// The rows of one query.
pub struct SeenRows {
    last: LastRow,
    /// The others.
    rows: HashMap<Box<[u8]>, Box<[Value]>, RandomState>,
    bytes: usize,
    /// How many of the others may be asked for in vain still.
    credit: u32,
    /// How many rows foreign keys had changed.
    followed: u64,
}

/// The row that it had last.
#[derive(Default)]
struct LastRow {
    seen: Vec<u8>,
    row: Option<Box<[Value]>>,
    /// So often it was asked for other values, since it was for the same ones.
    others: u32,
}

impl Default for SeenRows {
    fn default() -> Self {
        Self { last: LastRow::default(), rows: HashMap::default(), bytes: 0, credit: CREDIT, followed: 0 }
    }
}

impl SeenRows {
    /// The row that the query had when it saw the same, if it is kept; `followed` are the rows that foreign keys have changed by now.
    pub fn find(&mut self, seen: &[u8], followed: u64) -> Option<&[Value]> {
        if self.followed != followed {
            (self.last.row, self.followed) = (None, followed);
            self.forget_others();
        }
        if self.last.seen == seen
            && let Some(row) = &self.last.row
        {
            self.last.others = 0;
            return Some(row);
        }
        self.last.others = self.last.others.saturating_add(1);
        let found = self.rows.get(seen);
        self.credit = match found {
            Some(_) => (self.credit + FOUND).min(CREDIT),
            None => self.credit.saturating_sub(1),
        };
        found.map(|row| &**row)
    }

    /// Keeps a row that has not been found; of the others as many as take no more than so many bytes.
    pub fn keep(&mut self, seen: &[u8], row: &[Datum<'_>], limit: usize) {
        if self.credit == 0 {
            self.forget_others();
        } else if let Some(row) = self.last.row.take().filter(|_| self.bytes < limit) {
            self.bytes += bytes_of(&row) + self.last.seen.len() + size_of::<(Box<[u8]>, Box<[Value]>)>();
            self.rows.insert(self.last.seen.as_slice().into(), row);
        }
        if self.credit == 0 && self.last.others > OTHERS_AT_MOST {
            self.last.row = None;
            return;
        }
        self.last.seen.clear();
        self.last.seen.extend_from_slice(seen);
        self.last.row = Some(kept_row(row));
    }

    fn forget_others(&mut self) {
        (self.rows, self.bytes) = (HashMap::default(), 0);
    }
}

/// A row as it is kept.
pub fn kept_row(row: &[Datum<'_>]) -> Box<[Value]> {
    row.iter().map(|&value| Value::new(value)).collect()
}

/// The bytes that a kept row takes.
pub fn bytes_of(row: &[Value]) -> usize {
    row.iter().map(|value| value.bytes() + size_of::<Value>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(rows: &mut SeenRows, number: u32, limit: usize) -> bool {
        let seen = number.to_be_bytes();
        let is_found = rows.find(&seen, 0).is_some();
        if !is_found {
            rows.keep(&seen, &[Datum::Signed(number.into())], limit);
        }
        is_found
    }

    #[test]
    fn what_was_seen_is_found_until_foreign_keys_change_rows() {
        let mut rows = SeenRows::default();
        rows.keep(b"a", &[Datum::Signed(1)], 1000);
        rows.keep(b"b", &[Datum::Null], 1000);
        assert!(matches!(rows.find(b"a", 0), Some([value]) if matches!(value.get(), Datum::Signed(1))));
        assert!(rows.find(b"b", 0).is_some() && rows.find(b"c", 0).is_none());
        assert!(rows.find(b"a", 1).is_none() && rows.find(b"b", 1).is_none());
    }

    #[test]
    fn none_are_kept_if_few_are_found() {
        let mut rows = SeenRows::default();
        assert_eq!((0..20_000).filter(|&number| ask(&mut rows, number, usize::MAX)).count(), 0);
        assert!(rows.rows.is_empty() && rows.bytes == 0 && rows.last.row.is_none());
        // Those that come one after the other are: the last is kept.
        let mut rows = SeenRows::default();
        assert_eq!((0..60_000).filter(|&number| ask(&mut rows, number / 3, usize::MAX)).count(), 40_000);
        assert!(rows.rows.is_empty());
        let mut rows = SeenRows::default();
        assert_eq!((0..20_000).filter(|&number| ask(&mut rows, number % 1000, usize::MAX)).count(), 19_000);
    }

    #[test]
    fn bytes_are_limited() {
        let mut rows = SeenRows::default();
        assert!(!(0..2000).any(|number| ask(&mut rows, number, 10_000)));
        assert!(rows.bytes < 10_000 + 200 && rows.rows.len() > 10, "{} {}", rows.bytes, rows.rows.len());
        assert!(ask(&mut rows, 0, 10_000), "those that are there stay");
    }
}
