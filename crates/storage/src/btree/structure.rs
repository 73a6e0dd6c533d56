//! Splits and merges: how the tree grows and shrinks.
//!
//! Each step latches a parent and the one or two children concerned, all at once or not at all: the parent by
//! upgrading what the descent read, the children by trying. Nothing is waited for under a latch but the space map,
//! which is behind all tree pages in the latch order. So no cycle of waiting threads can form. (Of the four
//! conditions for a deadlock, *hold and wait* is the one denied.)
//!
//! ```text
//!   split            parent [.. a  c ..]              parent [.. a  b  c ..]
//!                            |                  =>             |  |
//!                        [a a a b b b]                    [a a a] [b b b]
//!
//!   grow             root [.. full ..]         =>     root [.]  (one level higher)
//!                                                          |
//!                                                     [.. full ..]   which is then split
//! ```
//!
//! Memory and pages for new nodes are taken before the first latch.

use super::Tree;
use super::descend::{Path, Side};
use crate::buffer::{Optimistic, Restart};
use crate::core::Stop;
use crate::error::Result;
use crate::ids::PageNo;
use crate::mtr::Mtr;
use crate::page::PageKind;
use crate::page::bytes::{PageBuffer, PageMut, PageRef};
use crate::page::node::{self, CHILD_LEN, Node, NodeBuilder, common_prefix_len, split_point};
use crate::rank::Rank;
use crate::redo::Op;

/// How a restructuring step ended.
enum Done {
    /// The node has been split, or there is room already, or no such node any more.
    Yes,
    /// The node is the root: the tree has to become higher first.
    IsRoot,
    /// The parent needs room first, so many bytes.
    ParentNeedsRoom(usize),
}

/// What a merge did.
enum Merged {
    /// Nothing: the neighbours are too full, or the node is not too empty any more.
    No,
    /// Two nodes became one; the parent may now be too empty.
    Yes,
    /// The parent has only this child: the parent is the one to merge.
    OnlyChild,
    /// The node is the root.
    Root,
}

/// How full a node is.
pub(super) struct Fill {
    count: usize,
    /// Bytes of its entries.
    len: usize,
    capacity: usize,
}

impl Fill {
    pub(super) fn of(node: Node<'_>) -> Self {
        Self { count: node.count(), len: node.used_len(), capacity: node.capacity() }
    }

    /// Whether a neighbour is worth looking at: one with as little in it would fit.
    fn is_sparse(&self) -> bool {
        self.len < self.capacity / 2
    }

    /// Whether two neighbours fit into one page. That leaves a fifth or so of it free, so that it is not split again at once.
    /// But an empty node is no use to anybody, and nothing will be removed from it that would bring it here again.
    fn fits_with(&self, other: &Self) -> bool {
        let is_one_empty = self.count == 0 || other.count == 0;
        let limit = if is_one_empty { self.capacity } else { self.capacity / 16 * 13 };
        self.len + other.len <= limit
    }

    /// Whether a node that was so full has become so sparse that its neighbours are worth looking at, again: with each
    /// sixteenth that is lost.
    pub(super) fn calls_for_merge(&self, before: &Self) -> bool {
        let sixteenth = self.capacity / 16;
        self.is_sparse() && (self.count == 0 || self.len / sixteenth < before.len / sixteenth)
    }
}

impl Tree {
    /// Makes room for `needed` bytes in the node of `level` that covers `key`. Called with no latch held.
    ///
    /// Errors: `DiskFull`; nothing has changed then, or a parent has been split, which is harmless.
    pub(super) fn split(&self, key: &[u8], level: u8, needed: usize) -> Result<()> {
        loop {
            self.core.admit()?;
            match self.core.retry(|| self.try_split(key, level, needed))? {
                Done::Yes => return Ok(()),
                Done::IsRoot => self.grow(level)?,
                Done::ParentNeedsRoom(len) => self.split(key, level + 1, len)?,
            }
        }
    }

    fn try_split(&self, key: &[u8], level: u8, needed: usize) -> Result<Done, Stop> {
        let core = &*self.core;
        let reserved = core.space.reserve(self.id)?;
        let new_page = reserved.page_no();
        let permit = core.pool.take_permit()?;
        // Merged away since its child asked for room: that child is to look for its new parent.
        let Some(Path { parent, node }) = self.descend_to(key, level, Side::At)? else { return Ok(Done::Yes) };
        let Some((parent, index)) = parent else {
            let fits = node.read(|page| Node(page).free_len() >= needed)?;
            return Ok(if fits { Done::Yes } else { Done::IsRoot });
        };
        // What takes time comes before the parent's latch: whoever is on the way to one of its other children needs it.
        let left = node.try_upgrade(Rank::TreePage)?;
        let node = Node(left.view());
        if node.free_len() >= needed {
            return Ok(Done::Yes);
        }
        let point = split_point(node, key, needed);
        let upper = node.upper_fence();
        let mut right = NodeBuilder::new(level, node.capacity(), &point.separator, upper.as_deref());
        right.append_from(node, point.keep..node.count());
        let mut right = right.finish();
        PageMut::of(&mut right).set_header(new_page, self.id, PageKind::Node, level);
        let fresh = core.pool.fresh(new_page, permit, Rank::TreePage);

        let parent = parent.try_upgrade(Rank::TreePage)?;
        let parent_node = Node(parent.view());
        let parent_needs = parent_node.entry_len(point.separator.len(), CHILD_LEN);
        if parent_needs > parent_node.free_len() {
            return Ok(Done::ParentNeedsRoom(parent_needs));
        }
        let suffix = point.separator[parent_node.prefix_len()..].to_vec();
        let mut maps = core.space.latch_maps(&core.pool, [new_page])?;
        let mut mtr = Mtr::begin(&core.log);
        let (parent, left, fresh) = (mtr.add(parent), mtr.add(left), mtr.add(fresh));
        mtr.apply_image(fresh, &right);
        mtr.apply(left, Op::Truncate { keep: point.keep as u16, upper: &point.separator });
        let value = new_page.0.to_le_bytes();
        mtr.apply(parent, Op::Insert { index: index as u16 + 1, overflow: false, suffix: &suffix, value: &value });
        core.space.publish(&mut mtr, &mut maps, vec![reserved]);
        mtr.commit();
        Ok(Done::Yes)
    }

    /// Makes the tree one level higher, unless its root's level is not `level` any more. Called with no latch held.
    pub(super) fn grow(&self, level: u8) -> Result<()> {
        let core = &*self.core;
        self.core.admit()?;
        self.core.retry(|| {
            let reserved = core.space.reserve(self.id)?;
            let new_page = reserved.page_no();
            let permit = core.pool.take_permit()?;
            let root = core.pool.exclusive(self.id.root(), Rank::TreePage)?;
            if root.view().level() != level {
                return Ok(());
            }
            let fresh = core.pool.fresh(new_page, permit, Rank::TreePage);
            let mut maps = core.space.latch_maps(&core.pool, [new_page])?;
            let (child_image, root_image) = self.grown(root.view(), new_page);
            let mut mtr = Mtr::begin(&core.log);
            let (root, child) = (mtr.add(root), mtr.add(fresh));
            mtr.apply_image(child, &child_image);
            mtr.apply_image(root, &root_image);
            core.space.publish(&mut mtr, &mut maps, vec![reserved]);
            mtr.commit();
            Ok(())
        })
    }

    /// The two pages that replace a full root: a child with its entries, and a root with that child.
    fn grown(&self, root: PageRef<'_>, child: PageNo) -> (Box<PageBuffer>, Box<PageBuffer>) {
        let node = Node(root);
        let level = node.level();
        let mut lower = NodeBuilder::new(level, node.capacity(), &[], None);
        lower.append_from(node, 0..node.count());
        let mut lower = lower.finish();
        PageMut::of(&mut lower).set_header(child, self.id, PageKind::Node, level);
        let mut upper = NodeBuilder::new(level + 1, node.capacity(), &[], None);
        upper.push(&[], &child.0.to_le_bytes(), false);
        let mut upper = upper.finish();
        PageMut::of(&mut upper).set_header(self.id.root(), self.id, PageKind::Node, level + 1);
        (lower, upper)
    }

    /// Joins the node of `level` that covers `key` with a neighbour if they fit into one page, and so on upwards.
    /// Called with no latch held.
    pub(super) fn merge(&self, key: &[u8], level: u8) -> Result<()> {
        let mut level = level;
        loop {
            self.core.admit()?;
            match self.core.retry(|| self.try_merge(key, level))? {
                Merged::No | Merged::Root => return Ok(()),
                Merged::Yes | Merged::OnlyChild => level += 1,
            }
        }
    }

    /// The root's level.
    pub fn height(&self) -> Result<u8> {
        self.core.retry(|| {
            let root = self.core.pool.optimistic(self.id.root(), Rank::TreePage)?;
            Ok(root.read(|page| page.level())?)
        })
    }

    fn try_merge(&self, key: &[u8], level: u8) -> Result<Merged, Stop> {
        let core = &*self.core;
        let Some(Path { parent, node }) = self.descend_to(key, level, Side::At)? else { return Ok(Merged::No) };
        let Some((parent, index)) = parent else { return self.try_shrink(node) };
        let here = node.read(|page| Fill::of(Node(page)))?;
        if !here.is_sparse() {
            return Ok(Merged::No);
        }
        // Most neighbours are too full. That is seen without a latch, which would send away who passes by.
        let (count, children) = parent.read(|page| {
            let parent = Node(page);
            let child = |at: usize| (at < parent.count()).then(|| (at, parent.child(at)));
            (parent.count(), [child(index + 1), index.checked_sub(1).and_then(child)])
        })?;
        if count == 1 {
            return Ok(Merged::OnlyChild);
        }
        let mut chosen = None;
        for (other_index, page) in children.into_iter().flatten() {
            let other = core.pool.optimistic(page, Rank::TreePage)?;
            parent.check()?;
            let fits = other.read(|page| here.fits_with(&Fill::of(Node(page))))?;
            if fits {
                chosen = Some((other_index, page));
                break;
            }
        }
        let Some((other_index, other_page)) = chosen else { return Ok(Merged::No) };
        let parent = parent.try_upgrade(Rank::TreePage)?;
        let node = node.try_upgrade(Rank::TreePage)?;
        let other = core.pool.try_exclusive(other_page, Rank::TreePage)?;
        let (left_index, left, right) =
            if other_index > index { (index, node, other) } else { (other_index, other, node) };
        let (left_node, right_node) = (Node(left.view()), Node(right.view()));
        let (lower, upper) = (left_node.lower_fence(), right_node.upper_fence());
        let upper = upper.as_deref();
        if !fit_together(left_node, right_node, &lower, upper) {
            return Ok(Merged::No);
        }
        // Beside an empty node the other stays as it is, and takes over its range: what it holds is not logged once more. So it
        // is with undo, all of whose nodes end empty beside one that is full.
        let is_left_empty = left_node.count() == 0;
        let image = (!is_left_empty && right_node.count() > 0)
            .then(|| self.joined(left_node, right_node, &lower, upper, left.page_no()));
        let (stays, goes) = if is_left_empty { (right, left) } else { (left, right) };
        let (stays_page, goes_page) = (stays.page_no(), goes.page_no());
        let mut maps = core.space.latch_maps(&core.pool, [goes_page])?;
        let mut mtr = Mtr::begin(&core.log);
        let (parent, stays, goes) = (mtr.add(parent), mtr.add(stays), mtr.add(goes));
        match &image {
            Some(image) => mtr.apply_image(stays, image),
            None => mtr.apply(stays, Op::Widen { lower: &lower, upper }),
        }
        mtr.apply(goes, Op::SetKind { kind: PageKind::Free });
        let index = left_index as u16;
        if is_left_empty {
            mtr.apply(parent, Op::Patch { index, offset: 0, bytes: &stays_page.0.to_le_bytes() });
        }
        mtr.apply(parent, Op::Remove { index: index + 1 });
        core.space.unpublish(&mut mtr, &mut maps, &[goes_page]);
        mtr.commit();
        drop(maps);
        core.space.forget(&[goes_page]);
        Ok(Merged::Yes)
    }

    /// Two neighbours as one page, which has this number. On entry: they fit together.
    fn joined(
        &self,
        left: Node<'_>,
        right: Node<'_>,
        lower: &[u8],
        upper: Option<&[u8]>,
        page_no: PageNo,
    ) -> Box<PageBuffer> {
        let mut builder = NodeBuilder::new(left.level(), left.capacity(), lower, upper);
        builder.append_from(left, 0..left.count());
        builder.append_from(right, 0..right.count());
        let mut image = builder.finish();
        PageMut::of(&mut image).set_header(page_no, self.id, PageKind::Node, left.level());
        image
    }

    /// A root with a single child takes the child's entries and is one level lower; but not if that is a leaf, for then the
    /// next entries would be copied down again. A tree that is filled at one end and emptied at the other, as undo is,
    /// would log each of its entries twice more.
    fn try_shrink(&self, root: Optimistic<'_>) -> Result<Merged, Stop> {
        let core = &*self.core;
        let single = root.read(|page| {
            let node = Node(page);
            (node.level() > 1 && node.count() == 1).then(|| node.child(0))
        })?;
        let Some(child_page) = single else { return Ok(Merged::Root) };
        let root = root.try_upgrade(Rank::TreePage)?;
        let child = core.pool.try_exclusive(child_page, Rank::TreePage)?;
        let mut maps = core.space.latch_maps(&core.pool, [child_page])?;
        let node = Node(child.view());
        let mut builder = NodeBuilder::new(node.level(), node.capacity(), &[], None);
        builder.append_from(node, 0..node.count());
        let level = node.level();
        let mut image = builder.finish();
        PageMut::of(&mut image).set_header(self.id.root(), self.id, PageKind::Node, level);
        let mut mtr = Mtr::begin(&core.log);
        let (root, child) = (mtr.add(root), mtr.add(child));
        mtr.apply_image(root, &image);
        mtr.apply(child, Op::SetKind { kind: PageKind::Free });
        core.space.unpublish(&mut mtr, &mut maps, &[child_page]);
        mtr.commit();
        drop(maps);
        core.space.forget(&[child_page]);
        // Perhaps the new root has a single child as well.
        Err(Restart::Changed.into())
    }
}

/// Whether two neighbours fit into a page with these fences. Their prefixes may be longer than that of both, so they may
/// not although they seemed to.
fn fit_together(left: Node<'_>, right: Node<'_>, lower: &[u8], upper: Option<&[u8]>) -> bool {
    let prefix_len = upper.map_or(0, |upper| common_prefix_len(lower, upper));
    let fill = |node: Node<'_>, overhead: usize| Fill {
        len: overhead + node.used_len_with_prefix(prefix_len),
        ..Fill::of(node)
    };
    fill(left, node::overhead_len(lower, upper)).fits_with(&fill(right, 0))
}

#[cfg(test)]
mod tests {
    use crate::store::Store;

    /// Between two steps of a split, a merge may take the level away at which the second is to be done.
    #[test]
    fn a_level_that_is_gone_needs_no_room() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(directory.path(), Default::default()).unwrap();
        let tree = store.create_tree().unwrap();
        assert_eq!(tree.height().unwrap(), 0);
        tree.split(b"key", 1, 100).unwrap();
        tree.merge(b"key", 1).unwrap();
        assert_eq!(tree.height().unwrap(), 0);
    }
}
