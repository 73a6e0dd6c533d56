//! Loading sorted entries: leaf by leaf at the right edge, each a whole page in one step.
//!
//! Each leaf is built in private memory, filled, and linked by one mini-transaction, so that a crash leaves a sound
//! tree with the leaves loaded so far.

use super::Tree;
use super::descend::Path;
use crate::buffer::Restart;
use crate::core::Stop;
use crate::error::{ErrorKind, Result};
use crate::ids::Lsn;
use crate::mtr::Mtr;
use crate::page::PageKind;
use crate::page::bytes::{PageBuffer, PageMut, PageRef};
use crate::page::node::{self, CHILD_LEN, Node, NodeBuilder, inline_len_max};
use crate::rank::Rank;
use crate::redo::Op;

/// The share of a leaf that loading leaves free, as InnoDB does: without it the first insert into any leaf would split it.
const LEFT_FREE: usize = 16;

impl Tree {
    /// Appends entries whose keys ascend and are above all keys of the tree. Nobody else may insert at the tree's end
    /// meanwhile. Returns the number of entries and the position behind the last change.
    ///
    /// Errors: `NotSorted`, and everything before that entry has been loaded; those of an insert.
    pub fn bulk_load<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &self,
        entries: impl IntoIterator<Item = (K, V)>,
    ) -> Result<(u64, Lsn)> {
        let capacity = self.core.node_capacity;
        let mut last = {
            let mut cursor = self.cursor();
            cursor.seek_last()?.then(|| cursor.key().to_vec())
        };
        let mut end = self.core.log.reserved();
        let mut count = 0;
        let mut leaf: Option<(NodeBuilder, Vec<u8>)> = None;
        for (key, value) in entries {
            let (key, value) = (key.as_ref(), value.as_ref());
            self.check_key(key)?;
            if last.as_deref().is_some_and(|last| last >= key) {
                if let Some((builder, lower)) = leaf.take() {
                    self.append_leaf(builder, &lower)?;
                }
                return Err(ErrorKind::NotSorted { entry: count }.into());
            }
            if key.len() + value.len() > inline_len_max(capacity) {
                // Long values go the common way, behind the leaf so far.
                if let Some((builder, lower)) = leaf.take() {
                    self.append_leaf(builder, &lower)?;
                }
                end = self.insert(key, value)?;
            } else {
                // Room for the upper fence that the leaf gets when the next one follows it, and for what will be
                // inserted later.
                let room = key.len() + capacity / LEFT_FREE;
                if leaf.as_ref().is_some_and(|(builder, _)| !builder.fits(key.len(), value.len() + room)) {
                    let (builder, lower) = leaf.take().expect("just looked");
                    end = self.append_leaf(builder, &lower)?;
                }
                let (builder, _) = leaf.get_or_insert_with(|| {
                    // The shortest key above everything before: what tells this leaf from its left neighbour.
                    let shared = last.as_deref().map_or(0, |last| node::common_prefix_len(last, key));
                    let lower = if last.is_some() { key[..shared + 1].to_vec() } else { Vec::new() };
                    (NodeBuilder::new(0, capacity, &lower, None), lower)
                });
                builder.push(key, value, false);
            }
            last.get_or_insert_default().clear();
            last.as_mut().expect("just set").extend_from_slice(key);
            count += 1;
        }
        if let Some((builder, lower)) = leaf {
            end = self.append_leaf(builder, &lower)?;
        }
        Ok((count, end))
    }

    /// Links a finished leaf behind the last one. Called with no latch held.
    fn append_leaf(&self, builder: NodeBuilder, lower: &[u8]) -> Result<Lsn> {
        let mut image = builder.finish();
        loop {
            self.core.admit()?;
            match self.core.retry(|| self.try_append_leaf(&mut image, lower))? {
                Appended::Yes(end) => return Ok(end),
                Appended::RootIsLeaf => self.grow(0)?,
                Appended::ParentNeedsRoom(len) => self.split(lower, 1, len)?,
                Appended::LeftIsInTheWay => return self.insert_leaf(&image),
            }
        }
    }

    /// Inserts the entries of a leaf one by one. Returns the position behind the last change.
    fn insert_leaf(&self, image: &PageBuffer) -> Result<Lsn> {
        let leaf = Node(PageRef::of(image));
        let mut end = self.core.log.reserved();
        let mut value = Vec::new();
        for index in 0..leaf.count() {
            value.clear();
            leaf.append_value(index, &mut value);
            end = self.insert(&leaf.key(index), &value)?;
        }
        Ok(end)
    }

    fn try_append_leaf(&self, image: &mut PageBuffer, lower: &[u8]) -> Result<Appended, Stop> {
        let core = &*self.core;
        let reserved = core.space.reserve(self.id)?;
        let new_page = reserved.page_no();
        let permit = core.pool.take_permit()?;
        let Path { parent, node: last } = self.rightmost()?;
        let Some((parent, index)) = parent else {
            let root = last.try_upgrade(Rank::TreePage)?;
            if root.view().level() > 0 {
                return Err(Restart::Changed.into());
            }
            if Node(root.view()).count() == 0 && lower.is_empty() {
                // The first leaf of an empty tree is its root.
                PageMut::of(image).set_header(self.id.root(), self.id, PageKind::Node, 0);
                let mut mtr = Mtr::begin(&core.log);
                let slot = mtr.add(root);
                mtr.apply_image(slot, image);
                return Ok(Appended::Yes(mtr.commit()));
            }
            return Ok(Appended::RootIsLeaf);
        };
        let parent = parent.try_upgrade(Rank::TreePage)?;
        let left = last.try_upgrade(Rank::TreePage)?;
        let parent_node = Node(parent.view());
        let needs = parent_node.entry_len(lower.len(), CHILD_LEN);
        if needs > parent_node.free_len() {
            return Ok(Appended::ParentNeedsRoom(needs));
        }
        let left_node = Node(left.view());
        if left_node.lower_fence().as_slice() >= lower || !node::left_fits(left_node, left_node.count(), lower) {
            return Ok(Appended::LeftIsInTheWay);
        }
        let suffix = lower[parent_node.prefix_len()..].to_vec();
        let keep = Node(left.view()).count() as u16;
        PageMut::of(image).set_header(new_page, self.id, PageKind::Node, 0);
        let fresh = core.pool.fresh(new_page, permit, Rank::TreePage);
        let mut maps = core.space.latch_maps(&core.pool, [new_page])?;
        let mut mtr = Mtr::begin(&core.log);
        let (parent, left, fresh) = (mtr.add(parent), mtr.add(left), mtr.add(fresh));
        mtr.apply_image(fresh, image);
        mtr.apply(left, Op::Truncate { keep, upper: lower });
        let value = new_page.0.to_le_bytes();
        mtr.apply(parent, Op::Insert { index: index as u16 + 1, overflow: false, suffix: &suffix, value: &value });
        core.space.publish(&mut mtr, &mut maps, vec![reserved]);
        Ok(Appended::Yes(mtr.commit()))
    }
}

enum Appended {
    Yes(Lsn),
    /// The root is the only leaf, and has entries.
    RootIsLeaf,
    ParentNeedsRoom(usize),
    /// The last leaf has no room for an upper fence, or is empty and begins behind the new entries.
    LeftIsInTheWay,
}
