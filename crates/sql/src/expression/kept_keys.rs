//! The keys of the rows of a query inside of an expression that refers to no row around it: `a IN (SELECT ..)`.
//!
//! ```text
//!   run once: the keys of all rows      for each row around it: is the key of a there?
//! ```
//!
//! # Invariants
//! 1. What is answered is what comparing with the rows one by one answers; where that is not known (`None`), they are to be compared.

use std::cell::Cell;

use meseta_types::{Context, Datum};

use super::Comparer;
use super::comparison_key::{Keyed, append_comparison_key};
use super::key_numbers::KeyNumbers;

/// Keys of rows.
#[derive(Default)]
pub struct KeptKeys {
    all: KeyNumbers,
    has_null: bool,
    has_rows: bool,
    /// Memory for a key that is asked for.
    spare: Cell<Vec<u8>>,
}

/// The key of a row that is compared so.
fn append_key(row: &[Datum<'_>], comparers: &[Comparer], context: &mut Context, key: &mut Vec<u8>) -> Keyed {
    key.clear();
    let mut all = Keyed::Yes;
    for (value, comparer) in row.iter().zip(comparers) {
        match append_comparison_key(*value, comparer, context, key) {
            Keyed::Yes => {}
            Keyed::Null if all == Keyed::No => {}
            other => all = other,
        }
    }
    all
}

impl KeptKeys {
    /// With one more row. False if it has no key: then they are of no use.
    pub fn add(&mut self, row: &[Datum<'_>], comparers: &[Comparer], context: &mut Context) -> bool {
        self.has_rows = true;
        let key = self.spare.get_mut();
        match append_key(row, comparers, context, key) {
            Keyed::Yes => drop(self.all.of(key)),
            Keyed::Null => self.has_null = true,
            Keyed::No => return false,
        }
        true
    }

    /// Memory that is taken.
    pub fn bytes(&self) -> usize {
        self.all.bytes()
    }

    /// Whether a row with these values is there: `Some(None)` if that is unknown, which may be false; `None` if they have to be compared.
    pub fn contain(
        &self,
        values: &[Datum<'_>],
        comparers: &[Comparer],
        unknown_is_false: bool,
        context: &mut Context,
    ) -> Option<Option<bool>> {
        // Nothing is compared with no rows, nor warned of.
        if !self.has_rows {
            return Some(Some(false));
        }
        let mut key = self.spare.take();
        let found = match append_key(values, comparers, context, &mut key) {
            Keyed::Yes if self.all.get(&key).is_some() => Some(Some(true)),
            Keyed::Yes if !self.has_null => Some(Some(false)),
            Keyed::Yes | Keyed::Null if unknown_is_false => Some(Some(false)),
            Keyed::Yes | Keyed::Null if values.len() == 1 => Some(None),
            // (With NULLs in several columns some column may still decide.)
            _ => None,
        };
        self.spare.set(key);
        found
    }
}
