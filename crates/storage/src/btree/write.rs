//! Changing one entry: the road that every insert, update and removal takes.
//!
//! An attempt latches one leaf, looks, and either changes it in one mini-transaction or says what has to be done
//! first with no latch held: make room, write a long value to its pages, or find the pages of an old one. Then it
//! is tried again; what was prepared is used if it still suits.

use std::borrow::Cow;

use super::Tree;
use super::descend::Side;
use super::long_value::{Prepared, reference_at};
use crate::buffer::{Exclusive, Restart};
use crate::core::Stop;
use crate::error::Result;
use crate::ids::{Lsn, PageNo};
use crate::mtr::{Mtr, Slot};
use crate::page::PageKind;
use crate::page::bytes::PageRef;
use crate::page::node::{self, Node, Position};
use crate::page::overflow::Reference;
use crate::rank::Rank;
use crate::redo::Op;

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
    long: Option<&'a LongValue>,
}

/// A long value that was read before the latch was taken.
pub(super) struct LongValue {
    reference: Reference,
    pages: Vec<PageNo>,
    bytes: Vec<u8>,
}

/// The entry's value is long, and has to be read before the decision.
pub(super) struct NeedsLong(Reference);

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
        match (self.reference(), self.long) {
            (None, _) => self.node.append_value(self.position.index, out),
            (Some(reference), Some(long)) if long.reference == reference => out.extend_from_slice(&long.bytes),
            (Some(reference), _) => return Err(Decision::NeedsLong(NeedsLong(reference))),
        }
        Ok(true)
    }

    /// The reference to the value's pages, if it is there and long.
    fn reference(&self) -> Option<Reference> {
        let value = self.position.exact.then(|| self.node.value_at(self.position.index))?;
        value.overflow.then(|| reference_at(self.node, self.position.index))
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
    pub(super) fn write(&self, key: &[u8], note: &[u8], decide: Decide<'_, '_>) -> Result<Option<Lsn>> {
        self.check_key(key)?;
        let mut ahead = Ahead::default();
        let mut restarts = 0;
        loop {
            self.core.admit()?;
            match self.try_write(key, note, decide, &mut ahead) {
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
                    ahead.new = Some(self.write_pages(&value)?);
                }
                Ok(Outcome::NeedsLong(NeedsLong(reference))) => {
                    let mut bytes = Vec::new();
                    // Gone meanwhile? Then the next attempt meets another value.
                    ahead.old =
                        self.read_pages(reference, &mut bytes)?.map(|pages| LongValue { reference, pages, bytes });
                }
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Restart(restart)) => self.core.before_retry(restart, &mut restarts)?,
            }
        }
    }

    /// Latches the leaf that covers `key`. Waits for its holder, with no latch held, and goes on if the leaf still
    /// covers the key afterwards.
    fn latch_leaf(&self, key: &[u8]) -> Result<Exclusive<'_>, Stop> {
        let leaf = self.descend_to(key, 0, Side::At)?.node;
        let page = leaf.page_no();
        if let Ok(latched) = leaf.try_upgrade(Rank::TreePage) {
            return Ok(latched);
        }
        let latched = self.core.pool.exclusive(page, Rank::TreePage)?;
        if self.is_leaf_for(latched.view(), key) { Ok(latched) } else { Err(Restart::Changed.into()) }
    }

    fn is_leaf_for(&self, page: PageRef<'_>, key: &[u8]) -> bool {
        page.kind() == Some(PageKind::Node) && page.level() == 0 && page.tree() == self.id && Node(page).covers(key)
    }

    fn try_write<'s>(
        &'s self,
        key: &[u8],
        note: &[u8],
        decide: Decide<'_, '_>,
        ahead: &mut Ahead<'s>,
    ) -> Result<Outcome, Stop> {
        let leaf = self.latch_leaf(key)?;
        let node = Node(leaf.view());
        let current = Current { node, position: node.search(key), long: ahead.old.as_ref() };
        let change = match decide(&current) {
            Ok(change) => change,
            Err(Decision::NeedsLong(reference)) => return Ok(Outcome::NeedsLong(reference)),
            Err(Decision::Failed(error)) => return Err(error.into()),
        };
        let Position { index, exact } = current.position;
        // The pages of a long value that goes away are freed in the same step, so they have to be known.
        let old_reference = match change {
            Change::Put(_) | Change::Remove => current.reference(),
            Change::Keep | Change::Patch { .. } => None,
        };
        let old_pages = match (&old_reference, &ahead.old) {
            (None, _) => &[][..],
            (Some(reference), Some(long)) if long.reference == *reference => &long.pages,
            (Some(reference), _) => return Ok(Outcome::NeedsLong(NeedsLong(*reference))),
        };
        let capacity = node.capacity();
        match change {
            Change::Keep => Ok(Outcome::Kept),
            Change::Remove if !exact => Ok(Outcome::Kept),
            Change::Remove => {
                let maps = self.core.space.latch_maps(&self.core.pool, old_pages.iter().copied())?;
                let mut step = Writing::begin(self, leaf, maps, note);
                step.mtr.apply(step.leaf, Op::Remove { index: index as u16 });
                let underfull = Node(step.mtr.view(step.leaf)).used_len() < capacity / 4;
                Ok(step.commit(None, old_pages, underfull))
            }
            Change::Patch { offset, bytes } => {
                let maps = self.core.space.latch_maps(&self.core.pool, [])?;
                let mut step = Writing::begin(self, leaf, maps, note);
                step.mtr.apply(step.leaf, Op::Patch { index: index as u16, offset: offset as u16, bytes: &bytes });
                Ok(step.commit(None, &[], false))
            }
            Change::Put(value) => {
                self.check_value(&value)?;
                let long = key.len() + value.len() > node::inline_len_max(capacity);
                let reference = match (&ahead.new, long) {
                    (_, false) => None,
                    (Some(prepared), true) if prepared.holds(&value) => Some(prepared.reference.encode()),
                    (_, true) => return Ok(Outcome::NeedsPages(value.into_owned())),
                };
                let stored: &[u8] = reference.as_ref().map_or(&value, |reference| reference);
                let needed = if exact {
                    stored.len().saturating_sub(node.value_at(index).len)
                } else {
                    node.entry_len(key.len(), stored.len())
                };
                if needed > node.free_len() {
                    return Ok(Outcome::NeedsRoom(needed));
                }
                let new_pages = ahead.new.as_ref().filter(|_| long).map(Prepared::page_numbers).unwrap_or_default();
                let touched = new_pages.iter().chain(old_pages).copied();
                let maps = self.core.space.latch_maps(&self.core.pool, touched)?;
                let prefix_len = node.prefix_len();
                let mut step = Writing::begin(self, leaf, maps, note);
                let index = index as u16;
                let op = if exact {
                    Op::Replace { index, overflow: long, value: stored }
                } else {
                    Op::Insert { index, overflow: long, suffix: &key[prefix_len..], value: stored }
                };
                step.mtr.apply(step.leaf, op);
                let new = if long { ahead.new.take() } else { None };
                Ok(step.commit(new, old_pages, false))
            }
        }
    }
}

/// From the first change to the end of the mini-transaction.
struct Writing<'s> {
    tree: &'s Tree,
    mtr: Mtr<'s>,
    leaf: Slot,
    maps: crate::space::Maps<'s>,
}

impl<'s> Writing<'s> {
    fn begin(tree: &'s Tree, leaf: Exclusive<'s>, maps: crate::space::Maps<'s>, note: &[u8]) -> Self {
        let mut mtr = Mtr::begin(&tree.core.log);
        let leaf = mtr.add(leaf);
        if !note.is_empty() {
            mtr.note(note);
        }
        Self { tree, mtr, leaf, maps }
    }

    fn commit(mut self, new: Option<Prepared<'_>>, old_pages: &[PageNo], underfull: bool) -> Outcome {
        let space = &self.tree.core.space;
        if let Some(new) = new {
            space.publish(&mut self.mtr, &mut self.maps, new.pages);
        }
        space.unpublish(&mut self.mtr, &mut self.maps, old_pages);
        let end = self.mtr.commit();
        drop(self.maps);
        if !old_pages.is_empty() {
            space.forget(old_pages);
        }
        Outcome::Changed { end, underfull }
    }
}
