//! MySQL's data types, values, character sets and collations, and every conversion between them.
//!
//! ```text
//!             DataType           a column's or an expression's type, with all its attributes
//!            /        \
//!   storage form      Datum      bytes that order by memcmp  |  a value while it is computed with
//!            \        /
//!   assign, cast, compare, arithmetic       MySQL's rules, with its warnings and errors
//!        |
//!   decimal  double  integer  temporal  text  json  member
//! ```
//!
//! It knows no SQL text, no tables, no sockets. What it needs of a session is lent to it in a [`Context`].
//!
//! # Invariants
//! 1. No input makes it panic: bytes of a user or of a damaged page yield an error, a warning, or some value.
//! 2. What [`DataType`] stores compares as bytes just as the values compare. (Text: by its sort key.)
//!
//! # Source
//! MySQL Reference Manual 8.4 and 9.7, and experiments with a server: `tests/recorded`.

pub mod arithmetic;
mod assign;
mod cast;
pub mod comparison;
pub mod context;
pub mod datatype;
mod datum;
pub mod decimal;
pub mod double;
pub mod error;
pub mod integer;
pub mod json;
mod member;
pub mod temporal;
pub mod text;

pub use assign::assign;
pub use cast::{CastType, cast};
pub use comparison::compare;
pub use context::{Context, Level, SqlMode, Warning, Warnings};
pub use datatype::{DataType, IntegerSize, Number, Storage, Stored, TextSize};
pub use datum::{Datum, Numeric};
pub use decimal::{Decimal, Short};
pub use error::{Result, SqlError};
pub use member::Members;
pub use temporal::{Date, DateTime, Interval, IntervalUnit, Time, Zone};
pub use text::{Charset, Collated, Collation, Derivation};
