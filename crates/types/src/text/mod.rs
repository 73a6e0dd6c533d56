//! Text: character sets, and collations over them.
//!
//! | module | what it answers |
//! |---|---|
//! | [`charset`] | Is it well formed? How many characters? What is it in another character set? |
//! | [`collation`] | Names, numbers; which collation wins where two meet |
//! | `compare` | Order, equality, sort key |
//! | `search` | LIKE, LOCATE |
//! | `table` | The tables of weights and of upper and lower case |

pub mod charset;
pub mod collation;
mod compare;
mod search;
mod table;

pub use charset::{Charset, Converted};
pub use collation::{Collated, Collation, Derivation, Pad, aggregate};
pub use search::like_prefix;
