//! Values as bytes: keys that order as values do.
//!
//! ```text
//!                  Value, Column                   what a value is, and which ones a column takes
//!                 /
//!   KeyPart, KeyReader                              keys: in order, read from the front
//!           |
//!        KeyRange                                   from where to where a scan goes
//! ```
//!
//! Nothing in here knows of transactions, pages or character sets. Text comes as bytes: in a key as
//! the weights of its collation, cut where an index has only its beginning.
//!
//! # Invariants
//! 1. What was encoded comes back, and what cannot come back says so ([`KeyPart::is_reversible`]).
//! 2. Decoding never panics, whatever the bytes: what no encoder wrote is [`Corrupt`].
//! 3. Reading does not allocate; a key's strings may need a buffer, which is lent and used again.

mod error;
mod escape;
mod key;
mod range;
mod value;

pub use error::{Corrupt, KeyError, ValueError};
pub use key::{KeyPart, KeyReader, append_key, primary_key_in};
pub use range::{KeyRange, first_above};
pub use value::{Column, ColumnType, IntegerWidth, Value};
