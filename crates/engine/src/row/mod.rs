//! Values as bytes: keys that order as values do, rows, version headers.
//!
//! ```text
//!                  Value, Column                   what a value is, and which ones a column takes
//!                 /             \
//!   KeyPart, KeyReader          RowLayout, RowRef   keys: in order, read from the front;  rows: any column at once
//!           |                     |
//!        KeyRange             RowReader             from where to where a scan goes;  the same columns of many rows
//!
//!   VersionHeader      who wrote an entry, and where it says what was there before
//! ```
//!
//! Nothing in here knows of transactions, pages or character sets. Text comes as bytes: as they are for a row, as the
//! weights of its collation for a key, cut where an index has only its beginning.
//!
//! # Invariants
//! 1. What was encoded comes back, and what cannot come back says so ([`KeyPart::is_reversible`]).
//! 2. Decoding never panics, whatever the bytes: what no encoder wrote is [`Corrupt`].
//! 3. Reading does not allocate; a key's strings may need a buffer, which is lent and used again.

mod error;
mod escape;
mod format;
mod header;
mod key;
mod range;
mod reader;
mod value;

pub use error::{Corrupt, KeyError, RowError, ValueError};
pub use format::{COLUMN_COUNT_MAX, ROW_LEN_MAX, RowLayout, RowRef, encode_row};
pub use header::{NUMBER_MAX, VERSION_HEADER_LEN, VersionHeader};
pub use key::{KeyPart, KeyReader, append_key, primary_key_in};
pub use range::{KeyRange, first_above};
pub use reader::RowReader;
pub use value::{Column, ColumnType, IntegerWidth, Value, recycle_values};
