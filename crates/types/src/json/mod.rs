//! JSON documents in MySQL's binary form.
//!
//! ```text
//! document  = type, value
//! object    = count, size, key entries (offset, length), value entries (type, offset or inlined value), keys, values
//! array     = count, size, value entries, values
//! ```
//!
//! Offsets are from the beginning of the object or array; they have two bytes in the small forms and four in the large
//! ones. Keys are sorted by length, then by bytes. The choice is MySQL's own form, so that what JSON_STORAGE_SIZE and a
//! binary log say is true, and a member is found by binary search without reading the rest.
//!
//! # Invariants
//! 1. Any bytes can be read: what does not make sense reads as null, and nesting beyond [`MAX_DEPTH`] is not followed.
//! 2. A document made here has no key twice (the last one wins) and its keys in order.
//!
//! # Source
//! MySQL Internals Manual and the description of the format in the documentation of the server's sources
//! ("JSON binary storage format"): facts of the layout only.

mod binary;
mod change;
mod compare;
mod parse;
mod path;
mod print;

pub use binary::{Element, Kind, Tree};
pub use change::{Change, change};
pub use compare::compare;
pub use parse::{ParseError, parse};
pub use path::{Path, extract};
pub use print::{append_quoted, append_text, unquote};

use crate::cast::invalid_json_cast;
use crate::context::Context;
use crate::datum::{Datum, Numeric};
use crate::decimal::Decimal;
use crate::error::{SqlError, number};
use crate::text::Charset;

/// The deepest nesting.
pub const MAX_DEPTH: usize = 100;

/// Room for so many bytes a document has at first.
const USUAL_BYTES: usize = 128;

/// The document `null`.
pub const NULL: &[u8] = &[4, 0];

/// The number that a document counts as; a warning if it is none.
pub fn to_numeric(document: &[u8], context: &mut Context) -> Numeric {
    to_numeric_as(document, "DOUBLE", context)
}

/// The same where a number of this kind is wanted.
pub(crate) fn to_numeric_as(document: &[u8], kind: &str, context: &mut Context) -> Numeric {
    match Element::root(document) {
        Element::Signed(number) => Numeric::Signed(number),
        Element::Unsigned(number) => Numeric::Unsigned(number),
        Element::Double(number) => Numeric::Double(number),
        Element::Decimal(number) => Numeric::Decimal(number),
        Element::Bool(truth) => Numeric::Signed(truth.into()),
        Element::Text(text) => {
            let parsed = crate::double::parse_double(text);
            if parsed.len < text.len() || text.is_empty() {
                context.warnings.warn(invalid_json_cast(kind, context.row));
            }
            Numeric::Double(parsed.value)
        }
        _ => {
            context.warnings.warn(invalid_json_cast(kind, context.row));
            Numeric::Signed(0)
        }
    }
}

/// The tree of a document that holds one value: what CAST(value AS JSON) makes of a value that is no text.
///
/// Text must be parsed ([`parse()`]) or taken as a string ([`Tree::Text`]), which is up to the caller; here it is a
/// string.
pub fn from_datum(value: Datum<'_>) -> Tree<'_> {
    match value {
        Datum::Null => Tree::Null,
        Datum::Signed(number) => Tree::Signed(number),
        Datum::Unsigned(number) => Tree::Unsigned(number),
        Datum::Float(number) => Tree::Double(number.into()),
        Datum::Double(number) => Tree::Double(number),
        Datum::Decimal(number) => Tree::Decimal(number),
        Datum::Date(date) => Tree::Date(date),
        Datum::Time(time, _) => Tree::Time(time),
        Datum::DateTime(value, _) => Tree::DateTime(value),
        Datum::Bits { .. } => {
            let mut bytes = Vec::new();
            value.append_text(&mut bytes);
            Tree::Opaque(16, bytes.into())
        }
        Datum::Text(text, collation) => match collation.charset() {
            Charset::Binary => Tree::Opaque(15, text.into()),
            charset => Tree::Text(charset.converted(text, Charset::Utf8mb4)),
        },
        Datum::Member { members, .. } => {
            let mut text = Vec::new();
            value.append_text(&mut text);
            let converted = members.collation().charset().converted(&text, Charset::Utf8mb4);
            Tree::Text(converted.into_owned().into())
        }
        Datum::Json(document) => Element::root(document).to_tree(),
    }
}

impl Tree<'_> {
    /// The document in binary form; error 3157 if it is nested too deep.
    pub fn to_document(&self) -> Result<Vec<u8>, SqlError> {
        let mut out = Vec::with_capacity(USUAL_BYTES);
        if !binary::append(self, &mut out) {
            return Err(SqlError::new(number::JSON_DOCUMENT_TOO_DEEP, "The JSON document exceeds the maximum depth."));
        }
        Ok(out)
    }
}

impl From<Decimal> for Tree<'_> {
    fn from(number: Decimal) -> Self {
        Tree::Decimal(number)
    }
}
