//! Cursors: walking a range of keys, forward or backward, while other threads change the tree.
//!
//! A cursor holds no latch between calls. It copies a batch of entries out of one leaf (`page::node::copies`), checks that
//! the leaf did not change meanwhile, and hands them out from its own memory. For the next batch it goes on in the same
//! leaf if that is unchanged, and otherwise finds its place again by the last key. So it survives splits and merges, visits
//! keys in order, none twice, and every key that was there all the time.
//!
//! Batches begin small and grow: a look at one row copies a few entries, a scan some dozens at a time. While a batch is handed out,
//! what comes behind it is brought near, a little with each step (`page::node::ahead`). Crossing from leaf
//! to leaf repeatedly, the cursor has the following leaves read ahead. A cursor that is told where its range ends compares
//! each leaf with that once, and not each key, and copies nothing beyond.
//!
//! Who reads row after row need not step from entry to entry: what has been copied is there to be looked at as a whole
//! ([`Cursor::copied`]), and the cursor follows when that is done ([`Cursor::skip`]).

use std::cmp::Ordering;
use std::ops::Range;

use super::descend::{Path, Side};
use super::{Portion, Tree};
use crate::buffer::{Optimistic, Restart};
use crate::core::Stop;
use crate::error::Result;
use crate::ids::PageNo;
use crate::latch::Version;
use crate::page::node::{Ahead, EntryCopies, Node};
use crate::page::overflow::REFERENCE_LEN;
use crate::rank::Rank;

const FIRST_BATCH: usize = 8;
const BATCH_GROWTH: usize = 4;
const BATCH_MAX: usize = 32;
/// Leaves crossed before reading ahead, how many are read, and how often.
const READ_AHEAD_AFTER: u32 = 2;
const READ_AHEAD_LEAVES: usize = 32;
const READ_AHEAD_EVERY: u32 = 16;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Direction {
    Forward,
    Backward,
}

/// A batch's memory, handed from cursor to cursor of a thread: opening one allocates nothing.
#[derive(Default)]
struct Batch {
    entries: EntryCopies,
    key: Vec<u8>,
    last: Vec<u8>,
}

thread_local! {
    static SPARE: std::cell::Cell<Batch> = std::cell::Cell::default();
}

/// Where the leaf goes on behind the batch.
struct Resume {
    page: PageNo,
    version: Version,
    /// Forward: the next entry. Backward: one past the next entry.
    index: usize,
    /// Forward: one past the last entry of the range.
    end: usize,
}

/// What a batch left open.
enum Behind {
    /// More entries in the same leaf.
    Leaf(Resume),
    /// The neighbour beyond this fence.
    Fence(Vec<u8>),
    /// Nothing.
    End,
}

/// A place in a tree. Created by [`Tree::cursor`]; unset until one of the `seek` methods is called.
pub struct Cursor<'t> {
    tree: &'t Tree,
    direction: Direction,
    entries: EntryCopies,
    /// The current entry; beyond the last one when the cursor is on none.
    at: usize,
    /// Where its value is in what was copied; or, if it is a long one, what says where that is.
    value: Range<usize>,
    is_long: bool,
    /// Its key, if keys are asked for.
    key: Vec<u8>,
    has_keys: bool,
    /// Memory for the key of the entry that a step begins at.
    last: Vec<u8>,
    behind: Behind,
    /// What will be copied next.
    ahead: Ahead,
    /// The leaf behind this one on the way forward, if they have one parent.
    next_leaf: Option<PageNo>,
    batch: usize,
    first_batch: usize,
    /// Forward: the first key beyond the range.
    end: Option<Vec<u8>>,
    crossings: u32,
    long: Vec<u8>,
    /// Whether long values are read to their ends.
    has_rests: bool,
    /// The last entry before a step that failed: the next step tries again from there.
    failed_behind: Option<Vec<u8>>,
}

/// What a cursor has copied, from the entry that it is on: to be read while the cursor stays there.
#[derive(Clone, Copy)]
pub struct Copied<'c> {
    entries: &'c EntryCopies,
    at: usize,
    ahead: Ahead,
}

impl<'c> Copied<'c> {
    /// The value of the entry that so many steps lead to. `None` if it has not been copied, or is a long one: then the cursor
    /// has to go there.
    #[inline(always)]
    pub fn value(&self, steps: usize) -> Option<&'c [u8]> {
        let at = self.at + steps;
        if at >= self.entries.count() {
            return None;
        }
        let (value, is_long) = self.entries.value_at(at);
        (!is_long).then(|| self.entries.bytes(value))
    }

    /// The key of the entry that so many steps lead to. On entry: keys were put together where the cursor is
    /// ([`Cursor::gather_keys`]), and the entry has been copied.
    #[inline(always)]
    pub fn key(&self, steps: usize) -> &'c [u8] {
        self.entries.gathered_key(steps)
    }

    /// Asks for some of what will be copied next: to be called for each entry that is read.
    #[inline(always)]
    pub fn prefetch(&mut self) {
        self.ahead.step();
    }
}

/// The size of the batch behind one of this size.
fn grown(batch: usize) -> usize {
    (batch * BATCH_GROWTH).min(BATCH_MAX)
}

/// Where a batch begins.
#[derive(Clone, Copy)]
enum From<'k> {
    /// Forward: the first key not below this one.
    At(&'k [u8]),
    /// Forward: the first key above this one.
    Above(&'k [u8]),
    /// Backward: the last key below this one.
    Below(&'k [u8]),
    /// Backward: the last key of the tree.
    Last,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(tree: &'t Tree) -> Self {
        let Batch { mut entries, key, last } = SPARE.take();
        entries.clear();
        Self {
            tree,
            direction: Direction::Forward,
            entries,
            at: 0,
            value: 0..0,
            is_long: false,
            key,
            has_keys: true,
            last,
            behind: Behind::End,
            ahead: Ahead::default(),
            next_leaf: None,
            batch: FIRST_BATCH,
            first_batch: FIRST_BATCH,
            end: None,
            crossings: 0,
            long: Vec::new(),
            has_rests: true,
            failed_behind: None,
        }
    }

    /// For who looks at one entry only: no more than that is copied at first.
    pub fn for_one(mut self) -> Self {
        self.first_batch = 1;
        self
    }

    /// For who reads on in any case: as many as ever are copied at first.
    pub fn for_many(mut self) -> Self {
        self.first_batch = BATCH_MAX;
        self
    }

    /// For who looks at values alone: keys are not put together, and [`Cursor::key`] must not be called.
    pub fn leave_out_keys(&mut self) {
        self.has_keys = false;
    }

    /// For who looks at the front of values, as a rule: of a long one [`Cursor::value`] has what stands in the leaf, if anything does, and
    /// the rest is not read ([`Cursor::portion`]).
    pub fn leave_out_rests(&mut self) {
        self.has_rests = false;
    }

    /// How much there is of the value of the entry that it is on: its front, if a rest was left out.
    #[inline]
    pub fn portion(&self) -> Portion {
        let is_cut = !self.has_rests && self.is_on_entry() && !self.is_long && self.entries.value_at(self.at).1;
        if is_cut { Portion::Front } else { Portion::Whole }
    }

    /// Reads what was left out of the value; false if the entry was the last one, and has gone. It may be another value by then, or, if the
    /// entry has gone, the next one, of which something may be left out in turn.
    pub fn read_rest(&mut self) -> Result<bool> {
        (self.value, self.is_long) = self.entries.value_at(self.at);
        if self.is_long { self.read_long() } else { Ok(true) }
    }

    /// Whether there are keys.
    pub fn has_keys(&self) -> bool {
        self.has_keys
    }

    /// On the way forward there are no entries from this key on.
    pub fn before(mut self, end: Option<Vec<u8>>) -> Self {
        self.end = end;
        self
    }

    /// Goes to the first entry whose key is not below `key` (the lower bound). False if there is none.
    pub fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.start(From::At(key))
    }

    /// Goes to the first entry whose key is above `key` (the upper bound). False if there is none.
    pub fn seek_above(&mut self, key: &[u8]) -> Result<bool> {
        self.start(From::Above(key))
    }

    /// As [`Cursor::seek_above`], for who reads on from there, but anew: what comes is read ahead as on the way.
    pub fn go_on_above(&mut self, key: &[u8]) -> Result<bool> {
        let crosses = matches!(self.behind, Behind::Fence(_)) && self.at + 1 >= self.entries.count();
        let crossings = self.crossings + u32::from(crosses);
        self.prepare(Direction::Forward);
        self.crossings = crossings;
        self.fill(From::Above(key))
    }

    /// Goes to the last entry whose key is below `key`. False if there is none.
    pub fn seek_below(&mut self, key: &[u8]) -> Result<bool> {
        self.start(From::Below(key))
    }

    /// Goes to the first entry. False if the tree is empty.
    pub fn seek_first(&mut self) -> Result<bool> {
        self.seek(&[])
    }

    /// Goes to the last entry. False if the tree is empty.
    pub fn seek_last(&mut self) -> Result<bool> {
        self.start(From::Last)
    }

    /// Whether the cursor is on an entry.
    pub fn is_on_entry(&self) -> bool {
        self.at < self.entries.count()
    }

    /// The current entry's key. Panics when the cursor is on none, or has no keys.
    pub fn key(&self) -> &[u8] {
        assert!(self.has_keys && self.is_on_entry(), "there is an entry whose key was asked for");
        &self.key
    }

    /// Replaces `key` by the current entry's. Panics when the cursor is on none.
    pub fn copy_key(&self, key: &mut Vec<u8>) {
        self.entries.key_into(self.at, key);
    }

    /// The current entry's value. Panics when the cursor is on none.
    pub fn value(&self) -> &[u8] {
        assert!(self.is_on_entry(), "a cursor on no entry has no value");
        if self.is_long { &self.long } else { self.entries.bytes(self.value.clone()) }
    }

    /// What has been copied, from the current entry on in the direction of the last step.
    #[inline]
    pub fn copied(&self) -> Copied<'_> {
        Copied { entries: &self.entries, at: self.at, ahead: self.ahead }
    }

    /// Puts the keys of what has been copied together, from the current entry on, for who reads them there ([`Copied::key`]).
    #[inline]
    pub fn gather_keys(&mut self) {
        self.entries.gather_keys(self.at);
    }

    /// Goes on by so many entries, which have values in what was copied ([`Copied::value`]), and have been read there.
    pub fn skip(&mut self, steps: usize) {
        if steps > 0 {
            self.at += steps;
            assert!(self.is_on_entry(), "entries that were skipped have been copied");
            self.ahead.pass(steps);
            self.look();
        }
    }

    /// Goes to the next entry. False, and on no entry, behind the last one. After an error the cursor is on no entry,
    /// and stepping on tries again.
    #[inline]
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<bool> {
        self.step(Direction::Forward)
    }

    /// Goes to the previous entry. False, and on no entry, before the first one.
    #[inline]
    pub fn prev(&mut self) -> Result<bool> {
        self.step(Direction::Backward)
    }

    #[inline]
    fn step(&mut self, direction: Direction) -> Result<bool> {
        if direction == self.direction && self.at + 1 < self.entries.count() {
            self.at += 1;
            self.look();
            self.ahead.step();
            if !self.is_long {
                return Ok(true);
            }
            self.at -= 1;
        }
        self.step_beyond(direction)
    }

    /// A step that does not end on a short entry of the batch.
    fn step_beyond(&mut self, direction: Direction) -> Result<bool> {
        let goes_on = self.is_on_entry() && direction == self.direction;
        if self.is_on_entry() {
            self.entries.key_into(self.at, &mut self.last);
        } else {
            let Some(key) = self.failed_behind.take() else { return Ok(false) };
            self.last = key;
        }
        let last = std::mem::take(&mut self.last);
        let stepped = if goes_on {
            self.at += 1;
            if self.is_on_entry() { self.land() } else { self.refill(&last) }
        } else {
            self.start(match direction {
                Direction::Forward => From::Above(&last),
                Direction::Backward => From::Below(&last),
            })
        };
        if stepped.is_err() {
            self.entries.clear();
            self.at = 0;
            self.failed_behind = Some(last);
        } else {
            self.last = last;
        }
        stepped
    }

    /// Looks at the entry that the cursor has come to.
    #[inline]
    fn look(&mut self) {
        (self.value, self.is_long) = self.entries.value_at(self.at);
        if self.is_long && !self.has_rests && self.value.len() > REFERENCE_LEN {
            (self.value.end, self.is_long) = (self.value.end - REFERENCE_LEN, false);
        }
        if self.has_keys {
            self.entries.key_into(self.at, &mut self.key);
        }
    }

    /// Makes the entry that the cursor has come to ready to be read.
    fn land(&mut self) -> Result<bool> {
        self.look();
        if self.is_long { self.read_long() } else { Ok(true) }
    }

    #[cold]
    fn read_long(&mut self) -> Result<bool> {
        self.long.clear();
        self.long.extend_from_slice(self.entries.bytes(self.value.clone()));
        self.entries.key_into(self.at, &mut self.key);
        if self.tree.read_long(&self.key, &mut self.long)? {
            return Ok(true);
        }
        // Removed since the batch was copied: the one behind it.
        self.step(self.direction)
    }

    fn start(&mut self, from: From<'_>) -> Result<bool> {
        self.prepare(match from {
            From::At(_) | From::Above(_) => Direction::Forward,
            From::Below(_) | From::Last => Direction::Backward,
        });
        self.fill(from)
    }

    /// Forgets where it came from.
    fn prepare(&mut self, direction: Direction) {
        self.direction = direction;
        self.batch = self.first_batch;
        self.crossings = 0;
        self.failed_behind = None;
    }

    /// The batch is used up: the next one.
    fn refill(&mut self, last: &[u8]) -> Result<bool> {
        self.batch = grown(self.batch);
        match std::mem::replace(&mut self.behind, Behind::End) {
            Behind::End => {
                self.entries.clear();
                self.at = 0;
                Ok(false)
            }
            Behind::Fence(fence) => self.cross(&fence),
            Behind::Leaf(resume) => {
                if self.fill_from_same_leaf(&resume)? {
                    return self.land();
                }
                self.fill(match self.direction {
                    Direction::Forward => From::Above(last),
                    Direction::Backward => From::Below(last),
                })
            }
        }
    }

    /// Goes to the neighbouring leaf.
    fn cross(&mut self, fence: &[u8]) -> Result<bool> {
        self.crossings += 1;
        self.fill(match self.direction {
            Direction::Forward => From::At(fence),
            Direction::Backward => From::Below(fence),
        })
    }

    fn fill_from_same_leaf(&mut self, resume: &Resume) -> Result<bool> {
        let tree = self.tree;
        let leaf = tree.core.pool.optimistic(resume.page, Rank::TreePage)?;
        let &Resume { index, end, .. } = resume;
        Ok(leaf.version() == resume.version && self.copy(&leaf, |_| index, Some(end)).is_ok())
    }

    /// Copies the first batch from `from` on, passing over empty leaves.
    fn fill(&mut self, from: From<'_>) -> Result<bool> {
        let tree = self.tree;
        let read_ahead = self.crossings >= READ_AHEAD_AFTER && self.crossings % READ_AHEAD_EVERY == READ_AHEAD_AFTER;
        let mut siblings = Vec::new();
        tree.core.retry(|| {
            let path = match from {
                From::At(key) | From::Above(key) => tree.descend_beside(key, Side::At)?,
                From::Below(key) => tree.descend_beside(key, Side::Below)?,
                From::Last => tree.rightmost()?,
            };
            if let Some((parent, index)) = path.parent.as_ref().filter(|_| read_ahead) {
                siblings = self.following(parent, *index)?;
            }
            self.next_leaf = self.leaf_behind(&path)?;
            let find = |node: Node<'_>| match from {
                From::At(key) | From::Below(key) => node.search(key).index,
                From::Above(key) => {
                    let found = node.search(key);
                    found.index + usize::from(found.exact)
                }
                From::Last => node.count(),
            };
            self.copy(&path.node, find, None).map_err(Stop::from)
        })?;
        if !siblings.is_empty() {
            tree.core.pool.read_ahead(&siblings);
        }
        if self.is_on_entry() {
            return self.land();
        }
        match std::mem::replace(&mut self.behind, Behind::End) {
            Behind::Fence(fence) => self.cross(&fence),
            _ => Ok(false),
        }
    }

    /// The leaf that comes next on the way forward, if it is under the same parent.
    fn leaf_behind(&self, path: &Path<'_>) -> Result<Option<PageNo>, Restart> {
        match &path.parent {
            Some((parent, index)) if self.direction == Direction::Forward => parent.read(|page| {
                let (node, next) = (Node(page), index + 1);
                (next < node.count()).then(|| node.child(next))
            }),
            _ => Ok(None),
        }
    }

    /// The leaves that come next under the same parent.
    fn following(&self, parent: &Optimistic<'_>, index: usize) -> Result<Vec<PageNo>, Restart> {
        parent.read(|page| {
            let node = Node(page);
            let range = match self.direction {
                Direction::Forward => index + 1..(index + 1 + READ_AHEAD_LEAVES).min(node.count()),
                Direction::Backward => index.saturating_sub(READ_AHEAD_LEAVES)..index,
            };
            range.map(|i| node.child(i)).collect()
        })
    }

    /// Copies a batch out of a leaf, from the entry that `find` names, and notes what is behind it. Forward, the
    /// range ends in front of `known_end`, if that is known already.
    fn copy(
        &mut self,
        leaf: &Optimistic<'_>,
        find: impl FnOnce(Node<'_>) -> usize,
        known_end: Option<usize>,
    ) -> Result<(), Restart> {
        let Self { tree, entries, next_leaf, batch, direction, end: range_end, .. } = self;
        let (range_end, next_batch) = (range_end.as_deref(), grown(*batch));
        let (last, behind, ahead) = leaf.read(|page| {
            let node = Node(page);
            let count = node.count();
            match direction {
                Direction::Forward => {
                    let find_end = || range_end.map_or(count, |end| node.count_below(end));
                    let last = known_end.unwrap_or_else(find_end).min(count);
                    let from = find(node).min(last);
                    let end = (from + *batch).min(last);
                    entries.copy(node, from..end, false);
                    let is_beyond = |fence: &Vec<u8>| range_end.is_some_and(|end| end <= fence.as_slice());
                    let behind = match end.cmp(&last) {
                        Ordering::Less => Ok(end),
                        _ if last < count => Err(None),
                        _ => Err(node.upper_fence().filter(|fence| !is_beyond(fence))),
                    };
                    let ahead = match &behind {
                        Ok(_) => node.ahead(end..(end + next_batch).min(last), end - from),
                        Err(Some(_)) => next_leaf
                            .and_then(|next| tree.core.pool.prefetch_node(next))
                            .map(|page| node.ahead_in(page, next_batch, end - from)),
                        Err(None) => None,
                    };
                    (last, behind, ahead)
                }
                Direction::Backward => {
                    let from = find(node).min(count);
                    let end = from.saturating_sub(*batch);
                    entries.copy(node, end..from, true);
                    let fence = || Some(node.lower_fence()).filter(|fence| !fence.is_empty());
                    let ahead = node.ahead(end.saturating_sub(next_batch)..end, from - end);
                    (0, if end > 0 { Ok(end) } else { Err(fence()) }, ahead)
                }
            }
        })?;
        self.at = 0;
        self.ahead = ahead.unwrap_or_default();
        self.behind = match behind {
            Ok(index) => Behind::Leaf(Resume { page: leaf.page_no(), version: leaf.version(), index, end: last }),
            Err(Some(fence)) => Behind::Fence(fence),
            Err(None) => Behind::End,
        };
        Ok(())
    }
}

impl Drop for Cursor<'_> {
    fn drop(&mut self) {
        let Self { entries, key, last, .. } = self;
        SPARE.set(Batch { entries: std::mem::take(entries), key: std::mem::take(key), last: std::mem::take(last) });
    }
}
