//! Changing one entry: the road that every insert, update and removal takes.
//!
//! An attempt latches one leaf, looks, and either changes it in one mini-transaction or says what has to be done
//! first with no latch held: make room, write a long value to its pages, or find the pages of an old one. Then it
//! is tried again; what was prepared is used if it still suits.
//!
//! A decision may want to see the key that follows. If that lies in another leaf, the leaf is found first, with no latch
//! held, and latched (shared, without waiting) beside the one to be changed: nobody inserts in between.

use std::borrow::Cow;

use smallvec::SmallVec;

use super::Tree;
use super::long_value::{LongValue, Prepared, stored_at};
use super::structure::Fill;
use crate::buffer::{Exclusive, Optimistic, Restart, Shared};
use crate::core::Stop;
use crate::error::Result;
use crate::ids::{Lsn, PageNo};
use crate::mtr::{Mtr, Slot};
use crate::page::PageKind;
use crate::page::bytes::PageRef;
use crate::page::node::{self, Node, Position};
use crate::rank::Rank;
use crate::redo::Op;
use crate::space::Maps;

/// What to do with an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Change<'v> {
    /// Leave it as it is (or absent).
    Keep,
    /// Give it this value, inserting it if need be.
    Put(Cow<'v, [u8]>),
    /// Remove it; nothing happens if it is absent.
    Remove,
    /// Overwrite a stretch of its value, which must be inline and long enough.
    Patch {
        /// Where in the value.
        offset: usize,
        /// The new bytes.
        bytes: Cow<'v, [u8]>,
    },
}

/// An entry as a decision finds it, under its leaf's latch.
pub(super) struct Current<'a> {
    node: Node<'a>,
    position: Position,
    /// A long value that was read before the latch was taken.
    long: Option<&'a LongValue>,
    /// The leaf in which the next key is, if it was asked for and is in another one.
    next: Option<Node<'a>>,
}

/// The entry's value is long, and has to be read before the decision: what the leaf has of it.
pub(super) struct NeedsLong(Vec<u8>);

impl Current<'_> {
    /// Whether the key is there.
    pub fn exists(&self) -> bool {
        self.position.exact
    }

    /// Bytes of the value, if it is there and inline.
    pub fn inline_len(&self) -> Option<usize> {
        let value = self.position.exact.then(|| self.node.value_at(self.position.index))?;
        (!value.overflow).then_some(value.len)
    }

    /// Copies the value to `out`; false if the key is not there.
    pub fn value(&self, out: &mut Vec<u8>) -> Result<bool, Decision> {
        out.clear();
        if !self.position.exact {
            return Ok(false);
        }
        match (self.stored_long(), self.long) {
            (None, _) => self.node.append_value(self.position.index, out),
            (Some(stored), Some(long)) if long.stored == stored => out.extend_from_slice(&long.bytes),
            (Some(stored), _) => return Err(Decision::NeedsLong(NeedsLong(stored))),
        }
        Ok(true)
    }

    /// Copies the key that follows to `out`; false if this is the last one. On entry: it was asked for.
    pub fn successor(&self, out: &mut Vec<u8>) -> bool {
        out.clear();
        let index = self.position.index + usize::from(self.position.exact);
        match self.next {
            _ if index < self.node.count() => self.node.append_key(index, out),
            Some(next) => next.append_key(0, out),
            None => return false,
        }
        true
    }

    /// What the leaf has of the value, if it is there and long.
    fn stored_long(&self) -> Option<Vec<u8>> {
        let value = self.position.exact.then(|| self.node.value_at(self.position.index))?;
        value.overflow.then(|| stored_at(self.node, self.position.index))
    }

    /// Whether the value is there, as long as this in the leaf, and whole or not as that is.
    fn is_stored_as(&self, stored: &[u8], is_long: bool) -> bool {
        let value = self.position.exact.then(|| self.node.value_at(self.position.index));
        value.is_some_and(|value| value.len == stored.len() && value.overflow == is_long)
    }
}

/// Why there is no decision (yet).
pub(super) enum Decision {
    NeedsLong(NeedsLong),
    Failed(crate::error::StorageError),
}

impl From<crate::error::StorageError> for Decision {
    fn from(error: crate::error::StorageError) -> Self {
        Decision::Failed(error)
    }
}

impl From<crate::error::ErrorKind> for Decision {
    fn from(kind: crate::error::ErrorKind) -> Self {
        Decision::Failed(kind.into())
    }
}

/// Decides what to do with an entry.
type Decide<'d, 'v> = &'d mut dyn FnMut(&Current<'_>) -> Result<Change<'v>, Decision>;

/// What a decision is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sight {
    /// The entry.
    Entry,
    /// The entry, and the key that follows.
    Successor,
}

/// The leaves behind one that has no next key itself: empty ones, and the one that has it.
type Following<'p> = SmallVec<[Optimistic<'p>; 1]>;

/// How an attempt ended.
enum Outcome {
    Kept,
    Changed {
        end: Lsn,
        underfull: bool,
    },
    /// The leaf needs so many more bytes.
    NeedsRoom(usize),
    /// The new value is long and has to be written first.
    NeedsPages(Vec<u8>),
    /// The old value is long and has to be read first.
    NeedsLong(NeedsLong),
}

/// What was done ahead, with no latch held.
#[derive(Default)]
struct Ahead<'s> {
    new: Option<Prepared<'s>>,
    old: Option<LongValue>,
}

impl Tree {
    /// Changes the entry with this key as `decide` says. `None` if it was left alone.
    pub(super) fn write(&self, key: &[u8], note: &[u8], sight: Sight, decide: Decide<'_, '_>) -> Result<Option<Lsn>> {
        self.check_key(key)?;
        let mut ahead = Ahead::default();
        let mut restarts = 0;
        loop {
            self.core.admit()?;
            match self.try_write(key, note, sight, decide, &mut ahead) {
                Ok(Outcome::Kept) => return Ok(None),
                Ok(Outcome::Changed { end, underfull }) => {
                    if underfull {
                        // The change is made, whatever becomes of this: a node too empty is only a waste.
                        let _ = self.merge(key, 0);
                    }
                    return Ok(Some(end));
                }
                Ok(Outcome::NeedsRoom(len)) => self.split(key, 0, len)?,
                Ok(Outcome::NeedsPages(value)) => {
                    ahead.new = None;
                    ahead.new = Some(self.write_pages(key, &value)?);
                }
                Ok(Outcome::NeedsLong(NeedsLong(stored))) => {
                    let mut bytes = Vec::new();
                    // Gone meanwhile? Then the next attempt meets another value.
                    ahead.old = self.read_pages(&stored, &mut bytes)?.map(|pages| LongValue { stored, pages, bytes });
                }
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Restart(restart)) => self.core.before_retry(restart, &mut restarts)?,
            }
        }
    }

    /// Latches the leaf that covers `key`. Waits for its holder, with no latch held, and goes on if the leaf still
    /// covers the key afterwards.
    pub(super) fn latch_leaf(&self, key: &[u8]) -> Result<Exclusive<'_>, Stop> {
        let leaf = self.descend(key)?;
        let page = leaf.page_no();
        if let Ok(latched) = leaf.try_upgrade(Rank::TreePage) {
            return Ok(latched);
        }
        let latched = self.core.pool.exclusive(page, Rank::TreePage)?;
        if self.is_leaf_for(latched.view(), key) { Ok(latched) } else { Err(Restart::Changed.into()) }
    }

    /// The leaves from the one behind the leaf of `key` to the one that has the next key; none if the leaf has it, or if
    /// there is no next key.
    fn following(&self, key: &[u8]) -> Result<Following<'_>, Stop> {
        let mut following = Following::new();
        let leaf = self.descend(key)?;
        let mut fence = leaf.read(|page| {
            let node = Node(page);
            if is_last(node, node.search(key)) { node.upper_fence() } else { None }
        })?;
        while let Some(at) = fence {
            let next = self.descend(&at)?;
            fence = next.read(|page| if Node(page).count() == 0 { Node(page).upper_fence() } else { None })?;
            following.push(next);
        }
        Ok(following)
    }

    /// Latches these leaves, if they still are what follows `leaf`, which is latched; never waits.
    fn latch_following(&self, leaf: Node<'_>, following: &[Optimistic<'_>]) -> Result<SmallVec<[Shared<'_>; 1]>, Stop> {
        let mut latched = SmallVec::new();
        let mut fence = leaf.upper_fence();
        for next in following {
            let shared = self.core.pool.try_shared(next.page_no(), Rank::TreePage).ok_or(Restart::Changed)?;
            let node = Node(shared.view());
            if !shared.is_at(next.version()) || fence != Some(node.lower_fence()) {
                return Err(Restart::Changed.into());
            }
            fence = if node.count() == 0 { node.upper_fence() } else { None };
            latched.push(shared);
        }
        // Something follows that was not there, or had a key, when it was looked for.
        if fence.is_some() { Err(Restart::Changed.into()) } else { Ok(latched) }
    }

    fn is_leaf_for(&self, page: PageRef<'_>, key: &[u8]) -> bool {
        page.kind() == Some(PageKind::Node) && page.level() == 0 && page.tree() == self.id && Node(page).covers(key)
    }

    fn try_write<'s>(
        &'s self,
        key: &[u8],
        note: &[u8],
        sight: Sight,
        decide: Decide<'_, '_>,
        ahead: &mut Ahead<'s>,
    ) -> Result<Outcome, Stop> {
        let following = match sight {
            Sight::Entry => Following::new(),
            Sight::Successor => self.following(key)?,
        };
        let leaf = self.latch_leaf(key)?;
        let node = Node(leaf.view());
        let position = node.search(key);
        let following = match sight {
            Sight::Successor if is_last(node, position) => self.latch_following(node, &following)?,
            _ => SmallVec::new(),
        };
        let next = following.last().map(|latched| Node(latched.view())).filter(|next| next.count() > 0);
        let current = Current { node, position, long: ahead.old.as_ref(), next };
        let change = match decide(&current) {
            Ok(change) => change,
            Err(Decision::NeedsLong(reference)) => return Ok(Outcome::NeedsLong(reference)),
            Err(Decision::Failed(error)) => return Err(error.into()),
        };
        let Position { index, exact } = current.position;
        // The pages of a long value that goes away are freed in the same step, so they have to be known.
        let old_stored = match change {
            Change::Put(_) | Change::Remove => current.stored_long(),
            Change::Keep | Change::Patch { .. } => None,
        };
        let old = match (old_stored, &ahead.old) {
            (None, _) => None,
            (Some(stored), Some(long)) if long.stored == stored => Some(long),
            (Some(stored), _) => return Ok(Outcome::NeedsLong(NeedsLong(stored))),
        };
        let mut old_pages = old.map_or(&[][..], |long| &long.pages);
        let capacity = node.capacity();
        match change {
            Change::Keep => Ok(Outcome::Kept),
            Change::Remove if !exact => Ok(Outcome::Kept),
            Change::Remove => {
                let fill = Fill::of(node);
                let maps = self.core.space.latch_maps(&self.core.pool, old_pages.iter().copied())?;
                let mut step = Writing::begin(self, leaf, maps, note);
                step.mtr.apply(step.leaf, Op::Remove { index: index as u16 });
                let underfull = Fill::of(Node(step.mtr.view(step.leaf))).calls_for_merge(&fill);
                Ok(Outcome::Changed { end: step.commit(None, old_pages), underfull })
            }
            Change::Patch { offset, bytes } => {
                let mut step = Writing::begin(self, leaf, Maps::default(), note);
                step.mtr.apply(step.leaf, Op::Patch { index: index as u16, offset: offset as u16, bytes: &bytes });
                Ok(Outcome::Changed { end: step.commit(None, &[]), underfull: false })
            }
            Change::Put(value) => {
                self.check_value(&value)?;
                let long = key.len() + value.len() > node::inline_len_max(capacity);
                let kept = old.filter(|_| long).and_then(|old| old.with_same_pages(&value, key.len(), capacity));
                let new = ahead.new.as_ref().filter(|_| long && kept.is_none());
                if kept.is_some() {
                    old_pages = &[];
                }
                let stored = match kept.or_else(|| new?.stored(&value)) {
                    Some(stored) => Cow::Owned(stored),
                    None if long => return Ok(Outcome::NeedsPages(value.into_owned())),
                    None => Cow::Borrowed(&*value),
                };
                let stored: &[u8] = &stored;
                let needed = if exact {
                    stored.len().saturating_sub(node.value_at(index).len)
                } else {
                    node.entry_len(key.len(), stored.len())
                };
                if needed > node.free_len() {
                    return Ok(Outcome::NeedsRoom(needed));
                }
                let new_pages = new.map(Prepared::page_numbers).unwrap_or_default();
                let touched = new_pages.iter().chain(old_pages).copied();
                let maps = self.core.space.latch_maps(&self.core.pool, touched)?;
                let prefix_len = node.prefix_len();
                let changed = current.is_stored_as(stored, long).then(|| node.changed_stretches(index, stored));
                let mut step = Writing::begin(self, leaf, maps, note);
                let index = index as u16;
                if let Some(stretches) = changed {
                    for stretch in stretches {
                        let offset = stretch.start as u16;
                        step.mtr.apply(step.leaf, Op::Patch { index, offset, bytes: &stored[stretch] });
                    }
                } else if exact {
                    step.mtr.apply(step.leaf, Op::Replace { index, overflow: long, value: stored });
                } else {
                    let suffix = &key[prefix_len..];
                    step.mtr.apply(step.leaf, Op::Insert { index, overflow: long, suffix, value: stored });
                }
                let new = if new_pages.is_empty() { None } else { ahead.new.take() };
                Ok(Outcome::Changed { end: step.commit(new, old_pages), underfull: false })
            }
        }
    }
}

/// Whether no key of this leaf follows the position.
fn is_last(leaf: Node<'_>, position: Position) -> bool {
    position.index + usize::from(position.exact) >= leaf.count()
}

/// From the first change to the end of the mini-transaction.
pub(super) struct Writing<'s> {
    tree: &'s Tree,
    pub mtr: Mtr<'s>,
    pub leaf: Slot,
    maps: Maps<'s>,
}

impl<'s> Writing<'s> {
    pub fn begin(tree: &'s Tree, leaf: Exclusive<'s>, maps: Maps<'s>, note: &[u8]) -> Self {
        let mut mtr = Mtr::begin(&tree.core.log);
        let leaf = mtr.add(leaf);
        if !note.is_empty() {
            mtr.note(note);
        }
        Self { tree, mtr, leaf, maps }
    }

    /// Returns the position behind the change.
    pub fn commit(mut self, new: Option<Prepared<'_>>, old_pages: &[PageNo]) -> Lsn {
        let space = &self.tree.core.space;
        if let Some(new) = new {
            space.publish(&mut self.mtr, &mut self.maps, new.pages);
        }
        // Mostly none goes.
        if old_pages.is_empty() {
            return self.mtr.commit();
        }
        space.unpublish(&mut self.mtr, &mut self.maps, old_pages);
        let end = self.mtr.commit();
        drop(self.maps);
        space.forget(old_pages);
        end
    }
}
