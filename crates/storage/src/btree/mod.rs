//! B+-trees: ordered maps from byte strings to byte strings, shared by many threads.
//!
//! Above: tables and indexes. Below: `mtr` for changes, `buffer` for pages, `space` for new ones.
//!
//! A tree is named by its root page, which never moves: a root that is full hands its entries to a new child. Nodes
//! know their fences (`page::node`), so no node links to its siblings and no split touches them.
//!
//! # How threads share a tree
//!
//! *Optimistic lock coupling*: on the way down nobody writes to shared memory. A step reads a child's number, takes
//! the child's version, and checks that the parent is unchanged, so that the link held when the child's version was
//! taken. A reader of a leaf checks once more after it has copied what it came for. A writer takes the exclusive
//! latch of the one leaf it changes. Splits and merges latch the two or three nodes they change.
//!
//! # Invariants
//! 1. The children of an inner node cover its range without gaps or overlaps; a child's lower fence is its key.
//! 2. A node that leaves the tree is marked free while latched: a thread that waited for it finds out.
//! 3. A thread waits for a tree latch only while it holds none; all further ones are tried. (`structure`)
//! 4. Every change is one mini-transaction: after a crash a split has happened or has not.
//!
//! # Sources
//! Leis et al., "Optimistic Lock Coupling" (2019); Graefe, "A Survey of B-Tree Locking Techniques" (2010). We
//! differ: a writer that had to wait for a leaf goes on if the fences still cover its key, instead of restarting.

mod bulk_load;
mod cursor;
mod descend;
mod estimate;
pub(crate) mod lifetime;
mod long_value;
mod run;
mod scan;
mod structure;
mod write;

use std::cell::Cell;
use std::sync::Arc;
use std::task::{Poll, Waker};

pub use bulk_load::Loader;
pub use cursor::{Copied, Cursor};
pub use write::Change;
use write::Sight;

use crate::buffer::{Optimistic, Restart};
use crate::core::{Core, Stop};
use crate::error::{ErrorKind, Result};
use crate::ids::{Lsn, TreeId};
use crate::page::{node, overflow};

/// Bytes of the largest memory that a thread keeps for a value.
const VALUE_BYTES: usize = 1 << 20;

thread_local! {
    /// Memory for a value that is looked at. Taken, not borrowed: who looks may read other trees.
    static VALUE: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Gives the thread its memory back.
fn keep_value(value: Vec<u8>) {
    if value.capacity() <= VALUE_BYTES {
        VALUE.set(value);
    }
}

/// How much of a value was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Portion {
    /// All of it.
    #[default]
    Whole,
    /// Its front: of a long value, what stands in the leaf.
    Front,
}

/// Copies what a leaf holds for a key to `out`: the value, or (`Some(true)`) the reference to a long one. `None` if there is no such
/// key.
#[inline]
fn copy_from(leaf: &Optimistic<'_>, key: &[u8], out: &mut Vec<u8>) -> Result<Option<bool>, Stop> {
    Ok(leaf.read(|page| {
        out.clear();
        let node = node::Node(page);
        let position = node.search(key);
        position.exact.then(|| {
            node.append_value(position.index, out);
            node.value_at(position.index).overflow
        })
    })?)
}

/// An open tree. Cheap to clone; all clones are the same tree.
#[derive(Clone)]
pub struct Tree {
    pub(crate) core: Arc<Core>,
    pub(crate) id: TreeId,
}

impl Tree {
    pub(crate) fn new(core: Arc<Core>, id: TreeId) -> Self {
        Self { core, id }
    }

    /// The tree's name.
    pub fn id(&self) -> TreeId {
        self.id
    }

    /// Bytes of the longest key.
    pub fn key_len_max(&self) -> usize {
        node::key_len_max(self.core.node_capacity)
    }

    /// Bytes of a key and its value together up to which the entry lies whole in its leaf, and so can be patched.
    pub fn inline_len_max(&self) -> usize {
        node::inline_len_max(self.core.node_capacity)
    }

    /// Finds a value and shows it to `look`. `None` if there is no such key.
    pub fn get<T>(&self, key: &[u8], look: impl FnOnce(&[u8]) -> T) -> Result<Option<T>> {
        let mut value = VALUE.take();
        let found = self.get_into(key, &mut value)?;
        let answer = found.then(|| look(&value));
        keep_value(value);
        Ok(answer)
    }

    /// Finds a value and copies it to `out`, replacing what was there. False if there is no such key.
    pub fn get_into(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        self.check_key(key)?;
        match self.copy_stored(key, out)? {
            Some(true) => self.read_long(key, out),
            found => Ok(found.is_some()),
        }
    }

    /// As [`Tree::get_into`], for who may find all that is wanted in the front of a long value: that is shown first, and if it
    /// `is_enough` the rest is not read. How much was read; `None` if there is no such key.
    pub fn get_front_into(
        &self,
        key: &[u8],
        out: &mut Vec<u8>,
        is_enough: impl FnMut(&[u8]) -> bool,
    ) -> Result<Option<Portion>> {
        self.check_key(key)?;
        let stored = self.copy_stored(key, out)?;
        self.complete(stored, key, out, is_enough)
    }

    /// Reads what the leaf has not, if that is wanted, and the leaf holds this for the key ([`copy_from`]).
    #[inline]
    fn complete(
        &self,
        stored: Option<bool>,
        key: &[u8],
        out: &mut Vec<u8>,
        mut is_enough: impl FnMut(&[u8]) -> bool,
    ) -> Result<Option<Portion>> {
        match stored {
            Some(true) => self.read_long_unless(&mut is_enough, key, out),
            found => Ok(found.map(|_| Portion::Whole)),
        }
    }

    /// As [`Tree::get_front_into`], without a wait for the way to the leaf: where a page of it is missing, that is read in, the waker is
    /// called when it has come, or cannot be read, and the answer is `Pending`. The page may be missing again by then. (Memory that is
    /// full is waited for, and so are the pages of a long value, and all of it by a thread that [`crate::WaitHook::keeps`] its place.)
    pub fn poll_get_front_into(
        &self,
        key: &[u8],
        out: &mut Vec<u8>,
        is_enough: impl FnMut(&[u8]) -> bool,
        waker: &Waker,
    ) -> Result<Poll<Option<Portion>>> {
        self.check_key(key)?;
        let stored =
            self.core.retry(|| match self.descend_resident(key).and_then(|leaf| copy_from(&leaf, key, out)) {
                Err(Stop::Restart(Restart::NotResident(page))) if self.core.pool.call_when_loaded(page, waker)? => {
                    Ok(Poll::Pending)
                }
                stored => stored.map(Poll::Ready),
            })?;
        match stored {
            Poll::Ready(stored) => self.complete(stored, key, out, is_enough).map(Poll::Ready),
            Poll::Pending => Ok(Poll::Pending),
        }
    }

    /// Copies what the leaf holds for a key to `out`: see [`copy_from`].
    fn copy_stored(&self, key: &[u8], out: &mut Vec<u8>) -> Result<Option<bool>> {
        self.core.retry(|| copy_from(&self.descend(key)?, key, out))
    }

    /// Whether the tree has this key.
    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        self.check_key(key)?;
        self.core.retry(|| Ok(self.descend(key)?.read(|page| node::Node(page).search(key).exact)?))
    }

    /// Inserts an entry. Errors: `KeyExists`.
    pub fn insert(&self, key: &[u8], value: &[u8]) -> Result<Lsn> {
        let inserted = self.write(key, &[], Sight::Entry, &mut |current| match current.exists() {
            true => Err(ErrorKind::KeyExists.into()),
            false => Ok(Change::Put(value.into())),
        })?;
        Ok(inserted.expect("an insert that changed nothing is an error"))
    }

    /// Inserts an entry, or gives an existing one this value.
    pub fn put(&self, key: &[u8], value: &[u8]) -> Result<Lsn> {
        let put = self.write(key, &[], Sight::Entry, &mut |_| Ok(Change::Put(value.into())))?;
        Ok(put.expect("a put always changes something"))
    }

    /// Gives an existing entry another value. `None` if there is no such key.
    pub fn update(&self, key: &[u8], value: &[u8]) -> Result<Option<Lsn>> {
        self.write(key, &[], Sight::Entry, &mut |current| {
            Ok(if current.exists() { Change::Put(value.into()) } else { Change::Keep })
        })
    }

    /// Removes an entry. `None` if there was no such key.
    pub fn remove(&self, key: &[u8]) -> Result<Option<Lsn>> {
        self.write(key, &[], Sight::Entry, &mut |current| {
            Ok(if current.exists() { Change::Remove } else { Change::Keep })
        })
    }

    /// Overwrites a stretch of an existing value in place. `None` if there is no such key.
    ///
    /// Errors: `ValueTooLong` if the stretch leaves the value, or the value is kept in overflow pages.
    pub fn patch(&self, key: &[u8], offset: usize, bytes: &[u8]) -> Result<Option<Lsn>> {
        self.write(key, &[], Sight::Entry, &mut |current| match current.inline_len() {
            None if !current.exists() => Ok(Change::Keep),
            Some(limit) if offset + bytes.len() <= limit => Ok(Change::Patch { offset, bytes: bytes.into() }),
            limit => Err(ErrorKind::ValueTooLong { len: offset + bytes.len(), limit: limit.unwrap_or(0) }.into()),
        })
    }

    /// Shows the entry's current value to `decide`, and does what it says, all under the leaf's latch. `note` goes
    /// into the log with the change (see `LogParticipant`); it is not logged if nothing is changed.
    ///
    /// `decide` may be called more than once, and must neither wait nor use the store. `None` if it kept the value.
    pub fn modify<'v>(
        &self,
        key: &[u8],
        note: &[u8],
        mut decide: impl FnMut(Option<&[u8]>) -> Result<Change<'v>>,
    ) -> Result<Option<Lsn>> {
        self.core.check_note(note)?;
        let mut value = VALUE.take();
        let written = self.write(key, note, Sight::Entry, &mut |current| {
            let known = current.value(&mut value)?;
            Ok(decide(known.then_some(&value))?)
        });
        keep_value(value);
        written
    }

    /// As [`Tree::modify`], and shows `decide` the key that follows this one as well; `None` if there is none. Nobody
    /// inserts between the two before the change is made.
    pub fn modify_beside<'v>(
        &self,
        key: &[u8],
        note: &[u8],
        mut decide: impl FnMut(Option<&[u8]>, Option<&[u8]>) -> Result<Change<'v>>,
    ) -> Result<Option<Lsn>> {
        self.core.check_note(note)?;
        let (mut value, mut successor) = (Vec::new(), Vec::new());
        self.write(key, note, Sight::Successor, &mut |current| {
            let known = current.value(&mut value)?;
            let followed = current.successor(&mut successor);
            Ok(decide(known.then_some(&value), followed.then_some(&successor))?)
        })
    }

    /// A cursor, not yet on any entry.
    pub fn cursor(&self) -> Cursor<'_> {
        Cursor::new(self)
    }

    fn check_key(&self, key: &[u8]) -> Result<()> {
        let limit = self.key_len_max();
        if key.len() > limit {
            return Err(ErrorKind::KeyTooLong { len: key.len(), limit }.into());
        }
        Ok(())
    }

    fn check_value(&self, value: &[u8]) -> Result<()> {
        let limit = overflow::VALUE_LEN_MAX;
        if value.len() > limit {
            return Err(ErrorKind::ValueTooLong { len: value.len(), limit }.into());
        }
        Ok(())
    }
}
