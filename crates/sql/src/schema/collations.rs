//! How text compares in the engine's indexes.

use meseta_engine::table::{CollationId, Collations};
use meseta_types::Collation;

/// MySQL's collations; the engine's numbers of them are MySQL's.
#[derive(Clone, Copy, Debug, Default)]
pub struct MysqlCollations;

impl Collations for MysqlCollations {
    fn append_weights(&self, collation: CollationId, prefix: Option<u32>, text: &[u8], out: &mut Vec<u8>) {
        let collation = Collation::from_id(collation.0).unwrap_or(Collation::Binary);
        collation.append_sort_key(text, prefix.map(|prefix| prefix as usize), out);
    }
}
