//! Loading sorted entries: leaf by leaf at the right edge, each a whole page in one step.
//!
//! Each leaf is built in private memory, filled, and linked by one mini-transaction, so that a crash leaves a sound
//! tree with the leaves loaded so far. That a leaf belongs at the end is seen under the latches of the last one and of its
//! parent, so others may insert meanwhile: then the leaf's entries go the common way.

use super::Tree;
use super::descend::Path;
use crate::buffer::Restart;
use crate::core::Stop;
use crate::error::{ErrorKind, Result, StorageError};
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
        let mut loader = self.loader()?;
        let put = |key: &[u8], value: &[u8]| self.insert(key, value).map(drop);
        let mut count = 0;
        for (key, value) in entries {
            let (key, value) = (key.as_ref(), value.as_ref());
            if !loader.is_above_all(key) {
                self.check_key(key)?;
                loader.finish(put)?;
                return Err(ErrorKind::NotSorted { entry: count }.into());
            }
            loader.add(key, value, put)?;
            count += 1;
        }
        loader.finish(put)?;
        Ok((count, self.core.log.reserved()))
    }

    /// Loads entries at the tree's end beside others who insert.
    pub fn loader(&self) -> Result<Loader> {
        let mut cursor = self.cursor();
        let last = cursor.seek_last()?.then(|| cursor.key().to_vec());
        Ok(Loader { tree: self.clone(), last, leaf: None })
    }

    /// Links a finished leaf behind the last one; whether that could be: others may have been there. Called with no latch
    /// held.
    fn append_leaf(&self, image: &mut PageBuffer, lower: &[u8]) -> Result<bool> {
        loop {
            self.core.admit()?;
            match self.core.retry(|| self.try_append_leaf(image, lower))? {
                Appended::Yes => return Ok(true),
                Appended::RootIsLeaf => self.grow(0)?,
                Appended::ParentNeedsRoom(len) => self.split(lower, 1, len)?,
                Appended::LeftIsInTheWay => return Ok(false),
            }
        }
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
                mtr.commit();
                return Ok(Appended::Yes);
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
        let count = left_node.count();
        if count > 0 && left_node.key(count - 1).as_slice() >= lower {
            return Ok(Appended::LeftIsInTheWay);
        }
        if left_node.lower_fence().as_slice() >= lower || !node::left_fits(left_node, count, lower) {
            return Ok(Appended::LeftIsInTheWay);
        }
        let suffix = lower[parent_node.prefix_len()..].to_vec();
        let keep = count as u16;
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
        mtr.commit();
        Ok(Appended::Yes)
    }
}

/// Gathers ascending entries into leaves, and links these behind the tree's last. Others may use the tree meanwhile: where
/// they have inserted something behind the entries of a leaf, these are put one by one. So are entries that do not belong
/// behind all others, and long ones.
///
/// What has been added is in the tree when [`Loader::finish`] has returned.
pub struct Loader {
    tree: Tree,
    /// The key above which entries may be appended: none if there is nothing in the tree.
    last: Option<Vec<u8>>,
    /// The leaf that is being filled, and its lower fence.
    leaf: Option<(NodeBuilder, Vec<u8>)>,
}

impl Loader {
    /// Whether a key is above all that were added, and all that the tree had in the beginning.
    pub fn is_above_all(&self, key: &[u8]) -> bool {
        self.last.as_deref().is_none_or(|last| last < key)
    }

    /// Adds an entry. What cannot be appended is put by `put`, a key and a value: what is before it in the order has been by
    /// then. Errors: those of a key, and of `put`.
    pub fn add<E: From<StorageError>>(
        &mut self,
        key: &[u8],
        value: &[u8],
        mut put: impl FnMut(&[u8], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.tree.check_key(key)?;
        let capacity = self.tree.core.node_capacity;
        let is_above_all = self.is_above_all(key);
        if is_above_all && key.len() + value.len() <= inline_len_max(capacity) {
            // Room for the upper fence that the leaf gets when the next one follows it, and for what will be inserted later.
            let room = key.len() + capacity / LEFT_FREE;
            if self.leaf.as_ref().is_some_and(|(builder, _)| !builder.fits(key.len(), value.len() + room)) {
                self.finish(put)?;
            }
            let last = &self.last;
            let (builder, _) = self.leaf.get_or_insert_with(|| {
                // The shortest key above everything before: what tells this leaf from its left neighbour.
                let shared = last.as_deref().map_or(0, |last| node::common_prefix_len(last, key));
                let lower = if last.is_some() { key[..shared + 1].to_vec() } else { Vec::new() };
                (NodeBuilder::new(0, capacity, &lower, None), lower)
            });
            builder.push(key, value, false);
        } else {
            // The common way, behind the leaf so far.
            self.finish(&mut put)?;
            put(key, value)?;
        }
        if is_above_all {
            let last = self.last.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
        }
        Ok(())
    }

    /// What has been added is in the tree. More may be added.
    pub fn finish<E: From<StorageError>>(
        &mut self,
        mut put: impl FnMut(&[u8], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((builder, lower)) = self.leaf.take() else { return Ok(()) };
        let mut image = builder.finish();
        if self.tree.append_leaf(&mut image, &lower)? {
            return Ok(());
        }
        let leaf = Node(PageRef::of(&image));
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for index in 0..leaf.count() {
            key.clear();
            value.clear();
            leaf.append_key(index, &mut key);
            leaf.append_value(index, &mut value);
            put(&key, &value)?;
        }
        Ok(())
    }
}

enum Appended {
    Yes,
    /// The root is the only leaf, and has entries.
    RootIsLeaf,
    ParentNeedsRoom(usize),
    /// The last leaf has no room for an upper fence, or begins behind the new entries, or has keys that are not below them.
    LeftIsInTheWay,
}
