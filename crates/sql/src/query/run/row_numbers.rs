//! Numbers for rows, in the order in which they were met; rows that are equal have one: DISTINCT, UNION, recursive tables.

use meseta_types::{Collation, Datum};

use crate::expression::Expr;
use crate::expression::group::append_row_key;
use crate::expression::key_numbers::KeyNumbers;

/// The numbers of rows.
pub struct RowNumbers {
    collations: Vec<Collation>,
    numbers: KeyNumbers,
    key: Vec<u8>,
}

/// The collations in which values are equal.
pub fn collations_of<'e>(expressions: impl Iterator<Item = &'e Expr>) -> Vec<Collation> {
    expressions.map(|expr| expr.data_type.collation().unwrap_or(expr.collated.collation)).collect()
}

impl RowNumbers {
    /// None yet, of rows of these values.
    pub fn new(items: &[Expr]) -> Self {
        Self { collations: collations_of(items.iter()), numbers: KeyNumbers::default(), key: Vec::new() }
    }

    /// A row's number, and whether it is new.
    pub fn of(&mut self, row: &[Datum<'_>]) -> (usize, bool) {
        self.set_key(row);
        self.numbers.of(&self.key)
    }

    /// A row's number, if it has been met.
    pub fn get(&mut self, row: &[Datum<'_>]) -> Option<usize> {
        self.set_key(row);
        self.numbers.get(&self.key)
    }

    /// The key of the row that was asked for last.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Whether this row has not been met yet.
    pub fn is_new(&mut self, row: &[Datum<'_>]) -> bool {
        self.of(row).1
    }

    /// Memory that is taken.
    pub fn bytes(&self) -> usize {
        self.numbers.bytes()
    }

    fn set_key(&mut self, row: &[Datum<'_>]) {
        self.key.clear();
        append_row_key(row, &self.collations, &mut self.key);
    }
}
