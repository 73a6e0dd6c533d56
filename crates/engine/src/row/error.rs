//! What can go wrong between values and bytes: the caller's value does not suit, or the bytes are damaged.
//!
//! The two never mix. A [`ValueError`] and what wraps it is for whoever handed in the value, and nothing was written.
//! [`Corrupt`] is for whoever has to say which page is damaged: storage's checksums have found the page whole, so
//! these bytes were written by a bug or read with the wrong table's columns.

use super::value::ColumnType;

/// A value that its column does not take.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ValueError {
    /// NULL for a column that is never NULL.
    #[error("NULL is not allowed")]
    Null,
    /// A value of another kind. Converting is the business of the layer above.
    #[error("{expected} cannot hold {found}")]
    WrongKind {
        /// What the column holds.
        expected: ColumnType,
        /// What came.
        found: &'static str,
    },
    /// An integer beyond the column's width.
    #[error("{number} is out of range for {expected}")]
    OutOfRange {
        /// The integer.
        number: i128,
        /// What the column holds.
        expected: ColumnType,
    },
    /// Not a number: MySQL has no such value, and it has no place in an order.
    #[error("a value that is not a number cannot be stored")]
    NotANumber,
    /// Too many bytes, or not exactly as many as there must be.
    #[error("{expected} cannot hold {len} bytes")]
    Length {
        /// Bytes that came.
        len: usize,
        /// What the column holds.
        expected: ColumnType,
    },
}

/// A key that could not be made; nothing was appended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum KeyError {
    /// A value does not suit its part.
    #[error("column {column} of a key: {error}")]
    Value {
        /// The column's position in its table.
        column: u16,
        /// Why it does not suit.
        error: ValueError,
    },
    /// The key would be longer than the limit that was handed in.
    #[error("a key is longer than the limit of {limit} bytes")]
    TooLong {
        /// Bytes allowed.
        limit: usize,
    },
}

/// A row that could not be made; nothing was appended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RowError {
    /// A value does not suit its column.
    #[error("column {column} of a row: {error}")]
    Value {
        /// The column's position in its table.
        column: usize,
        /// Why it does not suit.
        error: ValueError,
    },
    /// The row would be longer than [`ROW_LEN_MAX`](super::ROW_LEN_MAX).
    #[error("a row of {len} bytes is longer than the limit of {limit}")]
    TooLong {
        /// Bytes of the row.
        len: usize,
        /// Bytes allowed.
        limit: usize,
    },
}

/// Bytes that no encoder writes for these columns.
///
/// As large as a word: were it a byte, a result of something or this would share a byte with that, and be moved through
/// memory in odd pieces, for each row that is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[repr(u64)]
pub enum Corrupt {
    /// There are fewer bytes than there must be.
    #[error("the bytes end too early")]
    Truncated,
    /// There are more bytes than there should be.
    #[error("there are bytes behind the end")]
    Trailing,
    /// The byte that says whether a key's part is NULL says neither.
    #[error("a key's part is neither NULL nor not NULL")]
    NullTag,
    /// An escaped byte of a key is none that is ever escaped.
    #[error("a key has an escaped byte that needs no escape")]
    Escape,
    /// A floating-point number that is none, or in a key a zero with a sign.
    #[error("a floating-point number is none, or is not written this way")]
    Float,
    /// A value is longer than its column allows.
    #[error("a value is longer than its column allows")]
    TooLong,
    /// A row has more columns than its table, or fewer than the table ever had.
    #[error("a row has a number of columns that its table never had")]
    ColumnCount,
    /// A value of a row ends before it begins, or outside the row.
    #[error("a value ends before it begins, or outside its row")]
    Ends,
    /// A version header has flags that mean nothing.
    #[error("a version header has flags that mean nothing")]
    Flags,
    /// A version header names an undo slot that there is not.
    #[error("a version header names an undo slot that there is not")]
    Slot,
    /// A version header names an undo record that does not speak of its entry.
    #[error("a version header names an undo record that does not speak of its entry")]
    Record,
    /// A value before cannot be made from the one that came after it.
    #[error("what was there before cannot be made from what came after it")]
    Delta,
}
