//! Visiting a range in place: entries are shown where they are, without a copy.
//!
//! A leaf is latched shared once for all of its entries, so that the visitor gets real slices of the page. Writers of
//! that leaf wait meanwhile, so this is for visitors that are quick, do not wait, and do not use the store; others
//! take a [`super::Cursor`], which copies.

use super::Tree;
use super::long_value::stored_at;
use crate::buffer::Restart;
use crate::error::Result;
use crate::page::node::Node;
use crate::rank::Rank;

/// Where a visit of one leaf ended.
enum Left {
    /// The visitor has seen enough.
    Enough,
    /// The next leaf begins here.
    Fence(Vec<u8>),
    /// This was the last leaf.
    End,
    /// An entry with a long value, which is read with no latch held: its key, and what the leaf has of it.
    Long(Vec<u8>, Vec<u8>),
}

impl Tree {
    /// Shows entries in ascending order, from the first key not below `from` on, until `visit` returns false.
    ///
    /// Every key that was there all the time is shown, none twice; each leaf is seen at one moment.
    pub fn scan(&self, from: &[u8], mut visit: impl FnMut(&[u8], &[u8]) -> bool) -> Result<()> {
        self.check_key(from)?;
        let mut from = from.to_vec();
        // The entry with exactly the key `from` has been shown already.
        let mut beyond = false;
        let mut key = Vec::new();
        let mut long = Vec::new();
        loop {
            match self.core.retry(|| self.scan_leaf(&from, beyond, &mut key, &mut visit))? {
                Left::Enough | Left::End => return Ok(()),
                Left::Fence(fence) => (from, beyond) = (fence, false),
                Left::Long(at, stored) => {
                    long.clear();
                    long.extend_from_slice(&stored);
                    // (One that has been removed meanwhile is not shown.)
                    if self.read_long(&at, &mut long)? && !visit(&at, &long) {
                        return Ok(());
                    }
                    (from, beyond) = (at, true);
                }
            }
        }
    }

    fn scan_leaf(
        &self,
        from: &[u8],
        beyond: bool,
        key: &mut Vec<u8>,
        visit: &mut impl FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<Left, crate::core::Stop> {
        let leaf = self.descend(from)?;
        let version = leaf.version();
        let latched = self.core.pool.shared(leaf.page_no(), Rank::TreePage)?;
        // Nobody changes the page from here on; that nobody did since the descent makes it the right one.
        if !latched.is_at(version) {
            return Err(Restart::Changed.into());
        }
        let node = Node(latched.view());
        let position = node.search(from);
        key.clear();
        node.append_prefix(key);
        let prefix_len = key.len();
        for index in position.index + usize::from(beyond && position.exact)..node.count() {
            let value = node.value_at(index);
            key.truncate(prefix_len);
            node.append_suffix(index, key);
            if value.overflow {
                return Ok(Left::Long(key.clone(), stored_at(node, index)));
            }
            if !visit(key, &latched.bytes()[value.offset..value.offset + value.len]) {
                return Ok(Left::Enough);
            }
        }
        Ok(node.upper_fence().map_or(Left::End, Left::Fence))
    }
}
