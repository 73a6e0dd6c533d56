//! How text compares: the layer above knows, and hands in weights.

use super::definition::CollationId;

/// What the layer above knows of text. Must answer the same for as long as an index exists.
pub trait Collations: Send + Sync {
    /// Appends a text's weights: bytes that `memcmp` orders as the collation orders texts. With `prefix`, of so many
    /// characters at its beginning.
    fn append_weights(&self, collation: CollationId, prefix: Option<u32>, text: &[u8], out: &mut Vec<u8>);
}

/// No collation but the order of bytes, whatever the number: for tables without text.
#[derive(Clone, Copy, Debug, Default)]
pub struct BytesOnly;

impl Collations for BytesOnly {
    fn append_weights(&self, _: CollationId, prefix: Option<u32>, text: &[u8], out: &mut Vec<u8>) {
        let len = prefix.map_or(text.len(), |prefix| text.len().min(prefix as usize));
        out.extend_from_slice(&text[..len]);
    }
}
