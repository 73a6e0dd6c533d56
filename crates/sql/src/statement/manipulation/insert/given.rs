//! The values of VALUES: bound, row by row.
//!
//! ```text
//!   sources   | 7 | text | DEFAULT | a + 1 | 8 | text | ...        one for each column of each row
//!   texts     | first row's text | second row's | ...
//! ```
//!
//! A statement may have thousands of rows: what is text lies side by side, and no literal has memory of its own.

use meseta_types::{Collation, Datum};

use crate::expression::{Expr, Value};

#[derive(Debug)]
enum Source {
    Constant(Value),
    /// Where it is among the texts: a statement has less than 4 GiB.
    Text {
        at: u32,
        len: u32,
        collation: Collation,
    },
    Computed(Box<Expr>),
    Default,
}

/// A value in VALUES.
pub enum GivenValue<'v> {
    /// One that is known.
    Constant(Datum<'v>),
    /// What an expression yields.
    Computed(&'v Expr),
    /// DEFAULT, or nothing.
    Default,
}

/// Rows of values.
#[derive(Debug)]
pub struct GivenRows {
    /// Values a row.
    width: usize,
    rows: usize,
    sources: Vec<Source>,
    texts: Vec<u8>,
}

impl GivenRows {
    /// None yet; there are going to be so many, of so many values.
    pub fn new(rows: usize, width: usize) -> Self {
        Self { width, rows: 0, sources: Vec::with_capacity(rows * width), texts: Vec::new() }
    }

    /// The row's next value is known: that of a literal.
    pub fn push_literal(&mut self, value: Datum<'_>) {
        self.sources.push(match value {
            Datum::Text(text, collation) => {
                let at = self.texts.len() as u32;
                self.texts.extend_from_slice(text);
                Source::Text { at, len: text.len() as u32, collation }
            }
            value => Source::Constant(Value::new(value)),
        });
    }

    /// The row's next value is known.
    pub fn push_constant(&mut self, value: Value) {
        self.sources.push(Source::Constant(value));
    }

    /// The row's next value is computed.
    pub fn push_computed(&mut self, expression: Expr) {
        self.sources.push(Source::Computed(Box::new(expression)));
    }

    /// The row's next value is the column's default.
    pub fn push_default(&mut self) {
        self.sources.push(Source::Default);
    }

    /// The row is whole: what it lacks is the columns' defaults.
    pub fn end_row(&mut self) {
        self.rows += 1;
        self.sources.resize_with(self.rows * self.width, || Source::Default);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// A row's values.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = GivenValue<'_>> {
        self.sources[row * self.width..][..self.width].iter().map(|source| match source {
            Source::Constant(value) => GivenValue::Constant(value.get()),
            Source::Text { at, len, collation } => {
                GivenValue::Constant(Datum::Text(&self.texts[*at as usize..][..*len as usize], *collation))
            }
            Source::Computed(expression) => GivenValue::Computed(expression),
            Source::Default => GivenValue::Default,
        })
    }
}
