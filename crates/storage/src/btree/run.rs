//! Runs of entries: what one leaf has of them is changed in one mini-transaction.
//!
//! For those who change many entries side by side: rows that are inserted in the order of their keys, undo records that go
//! when their transaction is purged. They save a descent, a latch and a log record an entry.
//!
//! # When things fail
//! A run is done leaf by leaf: what comes to an error, or to a crash, is done up to some entry.

use std::ops::Range;

use smallvec::SmallVec;

use super::Tree;
use super::write::Writing;
use crate::core::Stop;
use crate::error::Result;
use crate::page::node::{self, Node};
use crate::redo::Op;
use crate::space::Maps;

/// A key and its value.
type Entry<'e> = (&'e [u8], &'e [u8]);

/// Where a leaf has room for a new entry.
enum Room {
    /// Before the entry with this number.
    At(usize),
    /// There would be, if it had so many bytes more.
    Needs(usize),
    /// In another leaf.
    Elsewhere,
    /// Nowhere: the key is there, or the value has to go to pages of its own.
    None,
}

impl Room {
    fn of(leaf: Node<'_>, (key, value): Entry<'_>) -> Self {
        if !leaf.covers(key) {
            return Room::Elsewhere;
        }
        let position = leaf.search(key);
        let needed = leaf.entry_len(key.len(), value.len());
        if position.exact || key.len() + value.len() > node::inline_len_max(leaf.capacity()) {
            Room::None
        } else if needed > leaf.free_len() {
            Room::Needs(needed)
        } else {
            Room::At(position.index)
        }
    }
}

/// What was removed from one leaf.
struct Removed {
    next: Next,
    /// The leaf has no entries now.
    empty: bool,
}

/// Where a removal goes on.
enum Next {
    /// In the leaf that begins here.
    Leaf(Vec<u8>),
    /// At this key, whose value is long.
    Long(Vec<u8>),
    None,
}

impl Tree {
    /// Inserts entries in their order, and tells how many: up to the first whose key is there, or whose value is too long for
    /// a leaf, or that `may` forbids, which is asked under the latch of each leaf. Those of one leaf go in together if they
    /// follow each other.
    ///
    /// Errors: `KeyTooLong`, and nothing is inserted.
    pub fn insert_run(&self, entries: &[(&[u8], &[u8])], mut may: impl FnMut() -> bool) -> Result<usize> {
        entries.iter().try_for_each(|(key, _)| self.check_key(key))?;
        let mut inserted = 0;
        while let Some(&(key, _)) = entries.get(inserted) {
            self.core.admit()?;
            match self.core.retry(|| self.try_insert_run(&entries[inserted..], &mut may))? {
                (0, Room::None) => break,
                (0, Room::Needs(len)) => self.split(key, 0, len)?,
                (count, _) => inserted += count,
            }
        }
        Ok(inserted)
    }

    /// Inserts those in front, of which there is at least one, that the leaf of the first takes. Tells how many, and what
    /// room there was for the next.
    fn try_insert_run(&self, entries: &[Entry<'_>], may: &mut dyn FnMut() -> bool) -> Result<(usize, Room), Stop> {
        let leaf = self.latch_leaf(entries[0].0)?;
        let mut room = if may() { Room::of(Node(leaf.view()), entries[0]) } else { Room::None };
        if !matches!(room, Room::At(_)) {
            return Ok((0, room));
        }
        let mut step = Writing::begin(self, leaf, Maps::default(), &[]);
        let mut count = 0;
        while let Room::At(index) = room {
            let (key, value) = entries[count];
            let suffix = &key[Node(step.mtr.view(step.leaf)).prefix_len()..];
            step.mtr.apply(step.leaf, Op::Insert { index: index as u16, overflow: false, suffix, value });
            count += 1;
            let Some(&next) = entries.get(count) else { break };
            room = Room::of(Node(step.mtr.view(step.leaf)), next);
        }
        step.commit(None, &[]);
        Ok((count, room))
    }

    /// Removes the entries of the keys from `from` on and below `to` that `goes` says yes to: all of a leaf's in one step,
    /// from the first to the last. It is asked under the leaf's latch, so it must be quick, and not use the store.
    pub fn remove_range(&self, from: &[u8], to: &[u8], mut goes: impl FnMut(&[u8]) -> bool) -> Result<()> {
        self.check_key(from)?;
        self.check_key(to)?;
        let mut from = from.to_vec();
        while from.as_slice() < to {
            self.core.admit()?;
            let Removed { next, empty } = self.core.retry(|| self.try_remove_range(&from, to, &mut goes))?;
            if empty {
                // As in `write`. One that is not empty is left alone: what lies beside a run goes soon, too.
                let _ = self.merge(&from, 0);
            }
            match next {
                Next::Leaf(fence) => from = fence,
                Next::Long(key) => {
                    self.remove(&key)?;
                    from = key;
                }
                Next::None => return Ok(()),
            }
        }
        Ok(())
    }

    fn try_remove_range(&self, from: &[u8], to: &[u8], goes: &mut dyn FnMut(&[u8]) -> bool) -> Result<Removed, Stop> {
        let leaf = self.latch_leaf(from)?;
        let node = Node(leaf.view());
        let is_last = node.covers(to);
        let start = node.search(from).index;
        let end = if is_last { node.search(to).index } else { node.count() };
        let mut key = Vec::new();
        node.append_prefix(&mut key);
        let prefix_len = key.len();
        let mut runs: SmallVec<[Range<usize>; 4]> = SmallVec::new();
        let mut next = match is_last {
            true => Next::None,
            false => node.upper_fence().map_or(Next::None, Next::Leaf),
        };
        for index in start..end {
            key.truncate(prefix_len);
            node.append_suffix(index, &mut key);
            if !goes(&key) {
                continue;
            }
            if node.value_at(index).overflow {
                // The pages of a long value have to be known before they can go.
                next = Next::Long(key);
                break;
            }
            match runs.last_mut() {
                Some(run) if run.end == index => run.end += 1,
                _ => runs.push(index..index + 1),
            }
        }
        if runs.is_empty() {
            return Ok(Removed { next, empty: false });
        }
        let mut step = Writing::begin(self, leaf, Maps::default(), &[]);
        for run in runs.iter().rev() {
            step.mtr.apply(step.leaf, Op::RemoveRange { index: run.start as u16, count: run.len() as u16 });
        }
        let empty = Node(step.mtr.view(step.leaf)).count() == 0;
        step.commit(None, &[]);
        Ok(Removed { next, empty })
    }
}
