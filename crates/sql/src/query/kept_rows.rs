//! The rows of a query inside of an expression that refers to no row around it: run once, asked for each row.
//!
//! ```text
//!   a IN (SELECT ..)        keys of all rows      is the key of a there?
//! ```
//!
//! # Invariants
//! 1. What is answered is what comparing with the rows one by one answers; where that is not known (`None`), they are to be compared.

use std::cell::{Cell, OnceCell};
use std::collections::HashSet;

use foldhash::quality::RandomState;
use meseta_types::{Context, Datum};

use super::hash::{Keyed, append_comparison_key};
use crate::expression::{Comparer, Value};

/// Its rows.
#[derive(Default)]
pub struct KeptRows {
    /// The rows.
    pub rows: Vec<Box<[Value]>>,
    /// Keys of rows, once somebody has asked for one. `None`: they have no keys.
    keys: OnceCell<Option<RowKeys>>,
    /// Memory for a key that is asked for.
    key: Cell<Vec<u8>>,
}

/// The keys of rows.
struct RowKeys {
    all: HashSet<Vec<u8>, RandomState>,
    /// Whether a row has a NULL.
    has_null: bool,
}

impl KeptRows {
    /// These rows.
    pub fn new(rows: Vec<Box<[Value]>>) -> Self {
        Self { rows, ..Self::default() }
    }

    /// Whether a row with these values is there: `Some(None)` if that is unknown, `None` if they have to be compared.
    pub fn contains(
        &self,
        values: &[Datum<'_>],
        comparers: &[Comparer],
        context: &mut Context,
    ) -> Option<Option<bool>> {
        let mut key = self.key.take();
        let found = self.contains_by(values, comparers, context, &mut key);
        self.key.set(key);
        found
    }

    /// As [`KeptRows::contains`], with memory for keys.
    fn contains_by(
        &self,
        values: &[Datum<'_>],
        comparers: &[Comparer],
        context: &mut Context,
        key: &mut Vec<u8>,
    ) -> Option<Option<bool>> {
        let keyed = |row: &[Datum<'_>], context: &mut Context, key: &mut Vec<u8>| {
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
        };
        let keys = self.keys.get_or_init(|| {
            let mut keys = RowKeys { all: HashSet::default(), has_null: false };
            for row in &self.rows {
                let row: Vec<Datum<'_>> = row.iter().map(Value::get).collect();
                match keyed(&row, context, key) {
                    Keyed::Yes => drop(keys.all.insert(key.clone())),
                    Keyed::Null => keys.has_null = true,
                    Keyed::No => return None,
                }
            }
            Some(keys)
        });
        let RowKeys { all, has_null } = keys.as_ref()?;
        // With NULLs in rows of several columns some column may still decide.
        if values.len() > 1 && *has_null {
            return None;
        }
        match keyed(values, context, key) {
            Keyed::Yes if all.contains(key) => Some(Some(true)),
            Keyed::Yes if *has_null => Some(None),
            Keyed::Yes => Some(Some(false)),
            Keyed::Null if self.rows.is_empty() => Some(Some(false)),
            Keyed::Null if values.len() == 1 => Some(None),
            _ => None,
        }
    }
}
