//! The values of VALUES: bound, row by row.
//!
//! ```text
//!   ends      | 3 | 3 | 6 | ...                                    (1, 'a', DEFAULT), (), (2, 'b', a + 1), ...
//!   sources   | 1 | text | DEFAULT | 2 | text | a + 1 | ...
//!   texts     | a | b | ...
//! ```
//!
//! A statement may have thousands of rows: what is text lies side by side, and no literal has memory of its own. Nor has `()`,
//! however many columns there are: all of this is no more than some times the statement.

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
    /// DEFAULT.
    Default,
}

/// Rows of values.
#[derive(Debug)]
pub struct GivenRows {
    /// Where each row's values end.
    ends: Vec<u32>,
    sources: Vec<Source>,
    texts: Vec<u8>,
}

impl GivenRows {
    /// None yet; there are going to be so many, and so many values in all, with texts of so many bytes at most.
    pub fn new(rows: usize, values: usize, texts: usize) -> Self {
        Self { ends: Vec::with_capacity(rows), sources: Vec::with_capacity(values), texts: Vec::with_capacity(texts) }
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

    /// The row is whole.
    pub fn end_row(&mut self) {
        self.ends.push(self.sources.len() as u32);
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// A row's values: one for each column, or none.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = GivenValue<'_>> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.sources[start as usize..self.ends[row] as usize].iter().map(|source| match source {
            Source::Constant(value) => GivenValue::Constant(value.get()),
            Source::Text { at, len, collation } => {
                GivenValue::Constant(Datum::Text(&self.texts[*at as usize..][..*len as usize], *collation))
            }
            Source::Computed(expression) => GivenValue::Computed(expression),
            Source::Default => GivenValue::Default,
        })
    }
}
