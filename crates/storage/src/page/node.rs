//! A tree node: sorted entries of variable length behind a slot array.
//!
//! ```text
//!  24        26       28      30        32      34      36       38       40     48       112
//!  +--------+--------+-------+---------+-------+-------+--------+--------+------+--------+-------------------
//!  | slots  | heap   | gar-  | prefix  | lower | upper | capa-  | append | (0)  | 16     | slot | slot | ...
//!  | count  | start  | bage  | len     | len   | len   | city   | run    |      | hints  |
//!  +--------+--------+-------+---------+-------+-------+--------+--------+------+--------+-------------------
//!                               heap, growing down                                          capacity
//!   ------------------------+-------+-------+-------+ - - - +-------------+-------------+
//!        free               | entry | entry | entry |       | upper fence | lower fence |
//!   ------------------------+-------+-------+-------+ - - - +-------------+-------------+
//!
//!  slot:  suffix len u16 | entry offset u16 | head u32        entry:  value len and flag u16 | suffix | value
//! ```
//!
//! Keys compare as bytes. A node covers the keys from its lower fence (inclusive) to its upper fence (exclusive;
//! absent on the right edge of the tree). All these keys begin with the fences' common prefix, which is stored
//! only there; a slot's *head* is the first four bytes of the rest, as a number, so that most searches end in the
//! slot array. *Hints* are sixteen evenly spaced heads in one cache line: they narrow a search to a seventeenth.
//!
//! In an inner node the value is a child's page number and the key is the child's lower fence; the first entry's
//! key is the node's own lower fence, so every key has a child.
//!
//! # Invariants ([`check`] for what can be seen in one page)
//! 1. `SLOTS + 8 * count <= heap start`, and every entry lies in `heap start .. capacity - fences`.
//! 2. Keys ascend strictly, lie inside the fences, and each head agrees with its suffix.
//! 3. `garbage` is what a compaction would gain.
//! 4. An inner node has at least one entry, the first with the key of the lower fence.
//!
//! *Capacity* is where the heap ends: the page's size, or less in tests that want splits all the time.
//!
//! # Sources
//! Graefe, "Modern B-Tree Techniques" (2011), for fences and prefix truncation; Leis et al. for heads and hints.

mod ahead;
mod builder;
mod copies;

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use meseta_prefetch::LINE_LEN;
use smallvec::SmallVec;

use super::bytes::{PageBuffer, PageMut, PageRef};
use super::{HEADER_LEN, PAGE_SIZE, PageKind};
use crate::ids::{PageNo, TreeId};

pub use ahead::Ahead;
pub use builder::NodeBuilder;
pub use copies::EntryCopies;

const COUNT: usize = 24;
const HEAP_START: usize = 26;
const GARBAGE: usize = 28;
const PREFIX_LEN: usize = 30;
const LOWER_LEN: usize = 32;
const UPPER_LEN: usize = 34;
const CAPACITY: usize = 36;
const APPEND_RUN: usize = 38;
const HINTS: usize = 48;
const HINT_COUNT: usize = 16;
const SLOTS: usize = 112;
const SLOT_LEN: usize = 8;
/// Values are compared in words of so many bytes.
const WORD_LEN: usize = 8;
const VALUE_HEADER_LEN: usize = 2;
/// Cache lines that a search in a leaf is expected to look at some of.
const SEARCHED_LINES: usize = 10;

const _: () = assert!(COUNT == HEADER_LEN && HINTS + 4 * HINT_COUNT == SLOTS && SLOTS.is_multiple_of(SLOT_LEN));

/// In the upper fence's length: there is none, the node is the last of its level.
const NO_FENCE: u16 = u16::MAX;
/// In an entry's value length: the value lives in overflow pages, but for its head, and what is behind that says where.
const OVERFLOW_FLAG: u16 = 1 << 15;

/// Bytes of the longest key in a store whose nodes have this capacity: 3 KiB in a page of 16 KiB.
pub const fn key_len_max(capacity: usize) -> usize {
    let share = capacity / 16 * 3;
    // Three children fit beside two of the longest fences. So a full inner node and the child that it has no room for are
    // four at least, a split leaves two on either side, and a tree is never higher than one of two children a node.
    let for_three_children = (capacity - SLOTS - 3 * (SLOT_LEN + VALUE_HEADER_LEN + CHILD_LEN)) / 5;
    if share < for_three_children { share } else { for_three_children }
}

/// Key and value beyond this together: the value moves to overflow pages.
pub const fn inline_len_max(capacity: usize) -> usize {
    capacity / 4
}

/// The smallest capacity for which the promises below hold.
pub const CAPACITY_MIN: usize = 1280;

// Two of the largest entries fit beside two of the longest fences: so after a split there is room for any entry.
const fn largest_entry(capacity: usize) -> usize {
    let overflowing = key_len_max(capacity) + super::overflow::REFERENCE_LEN;
    let inline = inline_len_max(capacity);
    SLOT_LEN + VALUE_HEADER_LEN + if overflowing > inline { overflowing } else { inline }
}
const _: () = assert!(SLOTS + 2 * key_len_max(PAGE_SIZE) + 2 * largest_entry(PAGE_SIZE) <= PAGE_SIZE);
const _: () = assert!(SLOTS + 2 * key_len_max(CAPACITY_MIN) + 2 * largest_entry(CAPACITY_MIN) <= CAPACITY_MIN);

/// The first four bytes of a suffix as a number that orders as the bytes do.
#[inline(always)]
fn head_of(suffix: &[u8]) -> u32 {
    if let Some(first) = suffix.first_chunk::<4>() {
        return u32::from_be_bytes(*first);
    }
    let mut bytes = [0; 4];
    bytes[..suffix.len()].copy_from_slice(suffix);
    u32::from_be_bytes(bytes)
}

/// How many leading bytes two keys share.
pub fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(x, y)| x == y).count()
}

#[derive(Clone, Copy)]
struct Slot {
    head: u32,
    offset: usize,
    suffix_len: usize,
}

impl Slot {
    fn from_word(word: u64) -> Self {
        Self {
            head: (word >> 32) as u32,
            offset: usize::from((word >> 16) as u16),
            suffix_len: usize::from(word as u16),
        }
    }

    fn to_word(self) -> u64 {
        u64::from(self.head) << 32 | (self.offset as u64) << 16 | self.suffix_len as u64
    }
}

/// Where an entry's value is in its page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ValueAt {
    /// Byte offset in the page.
    pub offset: usize,
    /// Bytes.
    pub len: usize,
    /// The bytes are the value's head and an overflow reference, not the value itself.
    pub overflow: bool,
}

/// Where a search ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Position {
    /// The first entry with a key not below the one searched for.
    pub index: usize,
    /// Whether that entry has exactly this key.
    pub exact: bool,
}

/// Reads a node. All of it is safe on bytes that a writer is changing: answers may be wrong, never harmful.
#[derive(Clone, Copy)]
pub struct Node<'p>(pub PageRef<'p>);

impl<'p> Node<'p> {
    /// Number of entries.
    #[inline(always)]
    pub fn count(self) -> usize {
        // Clamped, so that a racing reader's loops stay inside the page.
        usize::from(self.0.u16(COUNT)).min((PAGE_SIZE - SLOTS) / SLOT_LEN)
    }

    /// Height above the leaves.
    #[inline(always)]
    pub fn level(self) -> u8 {
        self.0.level()
    }

    fn field(self, at: usize) -> usize {
        usize::from(self.0.u16(at))
    }

    /// Where the heap ends.
    pub fn capacity(self) -> usize {
        self.field(CAPACITY)
    }

    /// Bytes that all keys of this node begin with.
    #[inline(always)]
    pub fn prefix_len(self) -> usize {
        self.field(PREFIX_LEN)
    }

    /// How many insertions in a row came each behind the one before, or at the end of the node. A hint for where to split;
    /// may be stale.
    pub fn append_run(self) -> usize {
        self.field(APPEND_RUN)
    }

    /// Whether the entry in front of this place was the last one to be inserted: its bytes are the lowest of the heap. A hint
    /// too: a compaction forgets it.
    fn is_behind_youngest(self, index: usize) -> bool {
        index > 0 && self.slot(index - 1).offset == self.field(HEAP_START)
    }

    fn lower_at(self) -> (usize, usize) {
        let len = self.field(LOWER_LEN);
        (self.capacity().saturating_sub(len), len)
    }

    fn upper_at(self) -> Option<(usize, usize)> {
        let len = self.field(UPPER_LEN);
        (len != usize::from(NO_FENCE)).then(|| (self.lower_at().0.saturating_sub(len), len))
    }

    /// The smallest key the node may hold.
    pub fn lower_fence(self) -> Vec<u8> {
        let mut key = Vec::new();
        let (offset, len) = self.lower_at();
        self.0.append_to(offset, len, &mut key);
        key
    }

    /// The first key beyond the node; `None` at the right edge of the tree.
    pub fn upper_fence(self) -> Option<Vec<u8>> {
        let (offset, len) = self.upper_at()?;
        let mut key = Vec::new();
        self.0.append_to(offset, len, &mut key);
        Some(key)
    }

    /// Whether `key` belongs into this node.
    pub fn covers(self, key: &[u8]) -> bool {
        let (offset, len) = self.lower_at();
        self.0.compare(offset, len, key).is_le()
            && self.upper_at().is_none_or(|(offset, len)| self.0.compare(offset, len, key).is_gt())
    }

    /// How many of the entries have keys below `key`, which need not belong into this node.
    pub fn count_below(self, key: &[u8]) -> usize {
        let is_above = |(offset, len): (usize, usize)| self.0.compare(offset, len, key).is_gt();
        if is_above(self.lower_at()) {
            return 0;
        }
        if self.upper_at().is_some_and(|fence| !is_above(fence)) {
            return self.count();
        }
        self.search(key).index
    }

    #[inline(always)]
    fn slot(self, index: usize) -> Slot {
        Slot::from_word(self.0.u64(SLOTS + SLOT_LEN * index))
    }

    /// Narrows a search for `head` to a stretch of slots, by the hints.
    #[inline(always)]
    fn hinted(self, head: u32, count: usize) -> (usize, usize) {
        if count < 2 * HINT_COUNT {
            return (0, count);
        }
        // All at once, so that they are compared in vectors.
        let mut hints = [0; 4 * HINT_COUNT];
        self.0.copy_to(HINTS, &mut hints);
        let hints: [u32; HINT_COUNT] =
            std::array::from_fn(|hint| u32::from_le_bytes(hints[4 * hint..][..4].try_into().expect("four bytes")));
        let count_if =
            |is: fn(u32, u32) -> bool| hints.iter().map(|&hint| u32::from(is(hint, head))).sum::<u32>() as usize;
        let (below, not_above) = (count_if(|hint, head| hint < head), count_if(|hint, head| hint <= head));
        let distance = count / (HINT_COUNT + 1);
        let end = if not_above < HINT_COUNT { (not_above + 1) * distance } else { count };
        (below * distance, end)
    }

    /// Finds the first entry whose key is not below `key`. The key must lie inside the node's fences.
    #[inline]
    pub fn search(self, key: &[u8]) -> Position {
        let suffix = key.get(self.prefix_len()..).unwrap_or(&[]);
        let head = head_of(suffix);
        let count = self.count();
        let (mut low, mut high) = self.hinted(head, count);
        let mut exact = false;
        while low < high {
            let middle = low + (high - low) / 2;
            let slot = self.slot(middle);
            let order = if slot.head == head { self.compare_suffix(slot, suffix) } else { slot.head.cmp(&head) };
            match order {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => {
                    exact = true;
                    low = middle;
                    break;
                }
            }
        }
        Position { index: low.min(count), exact }
    }

    #[inline]
    fn compare_suffix(self, slot: Slot, suffix: &[u8]) -> Ordering {
        // Equal heads and nothing beyond them on either side: the lengths decide.
        if slot.suffix_len <= 4 && suffix.len() <= 4 {
            return slot.suffix_len.cmp(&suffix.len());
        }
        self.0.compare(slot.offset + VALUE_HEADER_LEN, slot.suffix_len, suffix)
    }

    /// The entry of an inner node whose child covers `key`.
    #[inline]
    pub fn child_index(self, key: &[u8]) -> usize {
        let position = self.search(key);
        if position.exact { position.index } else { position.index.saturating_sub(1) }
    }

    /// The entry of an inner node whose child covers the keys just below `key`.
    pub fn child_index_below(self, key: &[u8]) -> usize {
        self.search(key).index.saturating_sub(1)
    }

    /// An inner node's child.
    #[inline]
    pub fn child(self, index: usize) -> PageNo {
        let slot = self.slot(index);
        PageNo(self.0.u32(slot.offset + VALUE_HEADER_LEN + slot.suffix_len))
    }

    /// Where an entry's value is.
    #[inline]
    pub fn value_at(self, index: usize) -> ValueAt {
        let slot = self.slot(index);
        let word = self.0.u16(slot.offset);
        ValueAt {
            offset: slot.offset + VALUE_HEADER_LEN + slot.suffix_len,
            len: usize::from(word & !OVERFLOW_FLAG),
            overflow: word & OVERFLOW_FLAG != 0,
        }
    }

    /// Appends an entry's whole key to `out`.
    #[inline]
    pub fn append_key(self, index: usize, out: &mut Vec<u8>) {
        self.append_prefix(out);
        self.append_suffix(index, out);
    }

    /// Appends what an entry's key has beyond the node's prefix.
    #[inline]
    pub fn append_suffix(self, index: usize, out: &mut Vec<u8>) {
        let slot = self.slot(index);
        self.0.append_to(slot.offset + VALUE_HEADER_LEN, slot.suffix_len, out);
    }

    /// An entry's whole key.
    pub fn key(self, index: usize) -> Vec<u8> {
        let mut key = Vec::new();
        self.append_key(index, &mut key);
        key
    }

    /// Bytes that all keys of this node begin with.
    pub fn append_prefix(self, out: &mut Vec<u8>) {
        self.0.append_to(self.lower_at().0, self.prefix_len(), out);
    }

    /// Has what a search reads first brought near: header, hints, and as many slots as rows of some 200 bytes need.
    #[inline(always)]
    pub fn prefetch_search(self) {
        for line in 0..SEARCHED_LINES {
            self.0.prefetch(line * LINE_LEN);
        }
    }

    /// Has `len` bytes brought near: somebody will soon read them.
    #[inline(always)]
    fn prefetch(self, offset: usize, len: usize) {
        for line in (0..len).step_by(LINE_LEN) {
            self.0.prefetch(offset + line);
        }
    }

    /// The bytes of an entry, on average.
    fn mean_entry_len(self) -> usize {
        self.capacity().saturating_sub(self.field(HEAP_START)) / self.count().max(1)
    }

    /// Appends an entry's value (or its head and overflow reference) to `out`.
    #[inline]
    pub fn append_value(self, index: usize, out: &mut Vec<u8>) {
        let value = self.value_at(index);
        self.0.append_to(value.offset, value.len, out);
    }

    /// Where an entry's value differs from another one of the same length: stretches that are logged each by itself, so what
    /// a longer one would cost is spared only where it is more than another operation costs. At least one, which may be empty.
    pub fn changed_stretches(self, index: usize, new: &[u8]) -> SmallVec<[Range<usize>; 4]> {
        let value = self.value_at(index);
        debug_assert_eq!(value.len, new.len());
        let mut stretches: SmallVec<[Range<usize>; 4]> = SmallVec::new();
        for (word, bytes) in new.chunks(WORD_LEN).enumerate() {
            let start = word * WORD_LEN;
            let is_same = match bytes.first_chunk() {
                Some(bytes) => self.0.u64(value.offset + start) == u64::from_le_bytes(*bytes),
                None => self.0.compare(value.offset + start, bytes.len(), bytes).is_eq(),
            };
            if is_same {
                continue;
            }
            let end = start + bytes.len();
            match stretches.last_mut() {
                Some(last) if start <= last.end + WORD_LEN => last.end = end,
                _ => stretches.push(start..end),
            }
        }
        if stretches.is_empty() {
            stretches.push(0..0);
        }
        stretches
    }

    fn slots_end(self) -> usize {
        SLOTS + SLOT_LEN * self.count()
    }

    /// Bytes that an insertion may use, after a compaction if need be.
    pub fn free_len(self) -> usize {
        (self.field(HEAP_START) + self.field(GARBAGE)).saturating_sub(self.slots_end())
    }

    /// Bytes in use by entries and slots, without header and fences.
    pub fn used_len(self) -> usize {
        self.entries_end().saturating_sub(SLOTS).saturating_sub(self.free_len())
    }

    /// Where the fences begin and the entries end.
    fn entries_end(self) -> usize {
        self.upper_at().map_or(self.lower_at().0, |(offset, _)| offset)
    }

    /// Bytes that an entry takes, slot included, in this node.
    pub fn entry_len(self, key_len: usize, value_len: usize) -> usize {
        SLOT_LEN + VALUE_HEADER_LEN + key_len.saturating_sub(self.prefix_len()) + value_len
    }

    /// Bytes that the entry at `index` takes, slot included.
    fn entry_len_at(self, index: usize) -> usize {
        SLOT_LEN + VALUE_HEADER_LEN + self.slot(index).suffix_len + self.value_at(index).len
    }

    /// Bytes that the node's entries would take, slots included, if only `prefix_len` bytes were shared.
    pub fn used_len_with_prefix(self, prefix_len: usize) -> usize {
        self.used_len() + self.count() * self.prefix_len().saturating_sub(prefix_len)
    }
}

/// Bytes of a node that are not for entries, given its fences.
pub fn overhead_len(lower: &[u8], upper: Option<&[u8]>) -> usize {
    SLOTS + lower.len() + upper.map_or(0, <[u8]>::len)
}

/// Bytes of a child's number in an inner node.
pub const CHILD_LEN: usize = 4;

/// Where to split a full node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SplitPoint {
    /// Entries that stay.
    pub keep: usize,
    /// The first key that no longer belongs to the left node: the shortest that tells the two sides apart.
    pub separator: Vec<u8>,
}

/// Chooses where to split so that `key`, whose entry takes `needed` bytes, finds room, or the next split finds it: where keys
/// keep arriving one behind the other, so that ascending keys fill their pages, be it at the end or before others that were
/// there; and otherwise near the middle of the bytes, its own among them.
pub fn split_point(node: Node<'_>, key: &[u8], needed: usize) -> SplitPoint {
    const RUN: usize = 8;
    let count = node.count();
    assert!(count >= 2, "a node of {count} entries cannot be full");
    let leaf = node.level() == 0;
    let separator_at = |keep: usize| {
        let right = if keep < count { node.key(keep) } else { key.to_vec() };
        if leaf { shortest_separator(&node.key(keep - 1), &right) } else { right }
    };
    let position = node.search(key);
    let is_behind_run = node.append_run() >= RUN && node.is_behind_youngest(position.index);
    if leaf && position.index < count && is_behind_run && !position.exact {
        // What lies behind makes room, and the keys go on filling the page that they are in.
        let separator = shortest_separator(key, &node.key(position.index));
        if left_fits(node, position.index, &separator) && right_fits(node, position.index, &separator) {
            return SplitPoint { keep: position.index, separator };
        }
    }
    if position.index == count && (node.upper_at().is_none() || node.append_run() >= RUN) {
        let keep = if leaf { count } else { count - 1 };
        let separator = separator_at(keep);
        if left_fits(node, keep, &separator) {
            return SplitPoint { keep, separator };
        }
    }
    // Both sides must fit beside their new fences. One of the two cuts next to the middle always does: were both
    // too large, one entry would be larger than the page less two fences, against the assertion on
    // `largest_entry` above.
    let used = node.used_len() + needed;
    let mut left = 0;
    let mut cuts: Vec<(usize, usize)> = (1..count)
        .map(|keep| {
            left += node.entry_len_at(keep - 1);
            // Without it, keys that ascend in the middle of a tree of large keys would leave nodes of one entry behind.
            let is_left = position.index < keep || position.index == keep && key < separator_at(keep).as_slice();
            let with_key = if is_left { left + needed } else { left };
            ((2 * with_key).abs_diff(used), keep)
        })
        .collect();
    // Of two cuts that are as good, the one that leaves more on the left: the next key may be above this one.
    cuts.sort_unstable_by_key(|&(unevenness, keep)| (unevenness, Reverse(keep)));
    for (_, keep) in cuts {
        let separator = separator_at(keep);
        if left_fits(node, keep, &separator) && right_fits(node, keep, &separator) {
            return SplitPoint { keep, separator };
        }
    }
    unreachable!("no cut of a node of {count} entries leaves two that fit");
}

fn entries_len(node: Node<'_>, entries: Range<usize>) -> usize {
    entries.map(|index| node.entry_len_at(index)).sum()
}

/// Whether the first `keep` entries fit beside `separator` as the new upper fence.
pub fn left_fits(node: Node<'_>, keep: usize, separator: &[u8]) -> bool {
    let lower = node.lower_fence();
    let gain = keep * common_prefix_len(&lower, separator).saturating_sub(node.prefix_len());
    overhead_len(&lower, Some(separator)) + entries_len(node, 0..keep) - gain <= node.capacity()
}

fn right_fits(node: Node<'_>, keep: usize, separator: &[u8]) -> bool {
    let upper = node.upper_fence();
    overhead_len(separator, upper.as_deref()) + entries_len(node, keep..node.count()) <= node.capacity()
}

/// Whether all entries fit beside these fences, which the node's own lie between: less of the keys may be shared.
pub fn widened_fits(node: Node<'_>, lower: &[u8], upper: Option<&[u8]>) -> bool {
    let prefix_len = upper.map_or(0, |upper| common_prefix_len(lower, upper));
    overhead_len(lower, upper) + node.used_len_with_prefix(prefix_len) <= node.capacity()
}

/// The shortest key above `left` and not above `right`.
fn shortest_separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    debug_assert!(left < right);
    right[..common_prefix_len(left, right) + 1].to_vec()
}

/// Changes a node. Every method leaves the invariants as it found them.
pub struct NodeMut<'a, 'p>(pub &'a mut PageMut<'p>);

impl NodeMut<'_, '_> {
    fn node(&self) -> Node<'_> {
        Node(self.0.view())
    }

    fn set_field(&mut self, at: usize, value: usize) {
        self.0.set_u16(at, u16::try_from(value).expect("a page offset fits u16"));
    }

    fn set_slot(&mut self, index: usize, slot: Slot) {
        self.0.set_u64(SLOTS + SLOT_LEN * index, slot.to_word());
    }

    /// Inserts an entry before `index`.
    ///
    /// On entry: the suffix belongs there, and the entry fits (`free_len`).
    pub fn insert(&mut self, index: usize, suffix: &[u8], value: &[u8], overflow: bool) {
        let len = VALUE_HEADER_LEN + suffix.len() + value.len();
        assert!(SLOT_LEN + len <= self.node().free_len(), "no room for the entry");
        let follows = index == self.node().count() || self.node().is_behind_youngest(index);
        if self.node().field(HEAP_START) < self.node().slots_end() + SLOT_LEN + len {
            self.compact();
        }
        let count = self.node().count();
        assert!(index <= count, "insert at {index} of {count}");
        let run = if follows { (self.node().append_run() + 1).min(1000) } else { 0 };
        let offset = self.node().field(HEAP_START) - len;
        let flag = if overflow { OVERFLOW_FLAG } else { 0 };
        self.0.set_u16(offset, value.len() as u16 | flag);
        self.0.write(offset + VALUE_HEADER_LEN, suffix);
        self.0.write(offset + VALUE_HEADER_LEN + suffix.len(), value);
        let at = SLOTS + SLOT_LEN * index;
        self.0.shift(at, at + SLOT_LEN, SLOT_LEN * (count - index));
        self.set_slot(index, Slot { head: head_of(suffix), offset, suffix_len: suffix.len() });
        self.set_field(COUNT, count + 1);
        self.set_field(HEAP_START, offset);
        self.set_field(APPEND_RUN, run);
        self.refresh_hints(index);
    }

    /// Removes the entry at `index`.
    pub fn remove(&mut self, index: usize) {
        self.remove_range(index..index + 1);
    }

    /// Removes these entries.
    pub fn remove_range(&mut self, entries: Range<usize>) {
        let count = self.node().count();
        let Range { start, end } = entries;
        assert!(start < end && end <= count, "remove {start}..{end} of {count}");
        // The last first: what was appended in order leaves the heap from its lower end, and no garbage.
        entries.rev().for_each(|index| self.drop_from_heap(index));
        self.0.shift(SLOTS + SLOT_LEN * end, SLOTS + SLOT_LEN * start, SLOT_LEN * (count - end));
        self.set_field(COUNT, count - (end - start));
        self.refresh_hints(if end - start == 1 { start } else { 0 });
    }

    fn drop_from_heap(&mut self, index: usize) {
        let offset = self.node().slot(index).offset;
        let len = self.node().entry_len_at(index) - SLOT_LEN;
        if offset == self.node().field(HEAP_START) {
            self.set_field(HEAP_START, offset + len);
        } else {
            let garbage = self.node().field(GARBAGE) + len;
            self.set_field(GARBAGE, garbage);
        }
    }

    /// Gives the entry at `index` another value.
    ///
    /// On entry: the new value fits (`free_len` plus the old value's length).
    pub fn replace(&mut self, index: usize, value: &[u8], overflow: bool) {
        let old = self.node().value_at(index);
        if old.len == value.len() {
            let slot = self.node().slot(index);
            let flag = if overflow { OVERFLOW_FLAG } else { 0 };
            self.0.set_u16(slot.offset, value.len() as u16 | flag);
            self.0.write(old.offset, value);
            return;
        }
        let run = self.node().append_run();
        let slot = self.node().slot(index);
        let mut suffix = Vec::with_capacity(slot.suffix_len);
        self.node().0.append_to(slot.offset + VALUE_HEADER_LEN, slot.suffix_len, &mut suffix);
        self.remove(index);
        self.insert(index, &suffix, value, overflow);
        self.set_field(APPEND_RUN, run);
    }

    /// Overwrites a stretch of an entry's value.
    pub fn patch(&mut self, index: usize, offset: usize, bytes: &[u8]) {
        let value = self.node().value_at(index);
        assert!(offset <= value.len && bytes.len() <= value.len - offset, "patch outside the value");
        self.0.write(value.offset + offset, bytes);
    }

    /// Keeps the first `keep` entries and takes `upper` as the upper fence; the rest has moved to a new node.
    pub fn truncate(&mut self, keep: usize, upper: &[u8]) {
        let lower = self.node().lower_fence();
        self.rebuild(&lower, Some(upper), 0..keep);
    }

    /// Takes other fences, which the old ones lie between: those of the empty node beside it are its own now.
    ///
    /// On entry: it fits ([`widened_fits`]).
    pub fn widen(&mut self, lower: &[u8], upper: Option<&[u8]>) {
        let count = self.node().count();
        self.rebuild(lower, upper, 0..count);
    }

    /// Takes these fences. On entry: the entries lie between them, and fit beside them.
    fn rebuild(&mut self, lower: &[u8], upper: Option<&[u8]>, entries: Range<usize>) {
        let node = self.node();
        let run = node.append_run();
        let mut builder = NodeBuilder::new(node.level(), node.capacity(), lower, upper);
        builder.append_from(node, entries);
        let image = builder.finish();
        self.0.write(COUNT, &image.bytes()[COUNT..]);
        self.set_field(APPEND_RUN, run);
    }

    fn compact(&mut self) {
        let (lower, upper) = (self.node().lower_fence(), self.node().upper_fence());
        let count = self.node().count();
        self.rebuild(&lower, upper.as_deref(), 0..count);
    }

    /// Brings the hints up to date after a change at slot `from`, of one entry; after others, `from` is 0.
    fn refresh_hints(&mut self, from: usize) {
        let count = self.node().count();
        if count < 2 * HINT_COUNT {
            return;
        }
        let distance = count / (HINT_COUNT + 1);
        // One more or one less entry may move the distance, and then every hint; else only those behind `from`.
        let first = if count.is_multiple_of(HINT_COUNT + 1)
            || (count + 1).is_multiple_of(HINT_COUNT + 1)
            || count <= 2 * HINT_COUNT + 1
        {
            0
        } else {
            (from / distance).saturating_sub(1)
        };
        for hint in first.min(HINT_COUNT)..HINT_COUNT {
            let head = self.node().slot(distance * (hint + 1)).head;
            self.0.set_u32(HINTS + 4 * hint, head);
        }
    }
}

/// The two stretches of a node that carry information: header to slots, and heap to capacity.
pub fn occupied(node: Node<'_>) -> [(usize, usize); 2] {
    let start = node.field(HEAP_START);
    [(super::TREE, node.slots_end() - super::TREE), (start, node.capacity() - start)]
}

/// Checks that the node can be walked and changed without leaving its page (invariants 1 and 3), whatever its bytes
/// are. Cheap enough for every page that is read from disk.
pub fn check_layout(page: PageRef<'_>) -> Result<(), String> {
    let node = Node(page);
    let capacity = node.capacity();
    if !(CAPACITY_MIN..=PAGE_SIZE).contains(&capacity) {
        return Err(format!("node capacity {capacity} is outside {CAPACITY_MIN}..={PAGE_SIZE}"));
    }
    let count = usize::from(page.u16(COUNT));
    let heap_start = node.field(HEAP_START);
    let fences = node.field(LOWER_LEN) + node.upper_at().map_or(0, |(_, len)| len);
    let slots_end = SLOTS + SLOT_LEN * count;
    if fences > capacity - SLOTS || slots_end > heap_start || heap_start > capacity - fences {
        return Err(format!(
            "node layout: {count} slots end at {slots_end}, the heap is {heap_start}..{capacity} with {fences} bytes of fences"
        ));
    }
    let leaf = node.level() == 0;
    if !leaf && count == 0 {
        return Err("inner node without a child".into());
    }
    let (lower, upper) = (node.lower_fence(), node.upper_fence());
    let shared = upper.as_ref().map_or(0, |upper| common_prefix_len(&lower, upper));
    if node.prefix_len() != shared {
        return Err(format!("node prefix is {} bytes, its fences share {shared}", node.prefix_len()));
    }
    let end = capacity - fences;
    let mut used = 0;
    for index in 0..count {
        let slot = node.slot(index);
        let value = node.value_at(index);
        if slot.offset < heap_start || value.offset + value.len > end {
            return Err(format!(
                "slot {index}: offset {} with {} bytes of key and {} of value leaves the heap",
                slot.offset, slot.suffix_len, value.len
            ));
        }
        let expected = match (leaf, value.overflow) {
            (true, true) => value.len.max(super::overflow::REFERENCE_LEN),
            (true, false) => value.len,
            (false, _) => CHILD_LEN,
        };
        if value.len != expected || (!leaf && value.overflow) {
            return Err(format!("slot {index}: value of {} bytes, expected {expected}", value.len));
        }
        used += VALUE_HEADER_LEN + slot.suffix_len + value.len;
    }
    let garbage = node.field(GARBAGE);
    if used + garbage != end - heap_start {
        return Err(format!(
            "node heap: {used} bytes in entries and {garbage} of garbage, but {} in the heap",
            end - heap_start
        ));
    }
    Ok(())
}

/// Checks everything about a node that can be seen in its own page (invariants 1 to 4), whatever the bytes are.
pub fn check(page: PageRef<'_>) -> Result<(), String> {
    check_layout(page)?;
    let node = Node(page);
    let (count, shared) = (node.count(), node.prefix_len());
    let (lower, upper) = (node.lower_fence(), node.upper_fence());
    if upper.as_ref().is_some_and(|upper| *upper <= lower) {
        return Err("node fences do not ascend".into());
    }
    let leaf = node.level() == 0;
    let (mut previous, mut key) = (Vec::new(), Vec::new());
    for index in 0..count {
        let slot = node.slot(index);
        key.clear();
        node.append_key(index, &mut key);
        if head_of(&key[shared..]) != slot.head {
            return Err(format!("slot {index}: head {:#010x} does not agree with its key", slot.head));
        }
        if index > 0 && key <= previous {
            return Err(format!("slot {index}: keys do not ascend"));
        }
        if !node.covers(&key) {
            return Err(format!("slot {index}: key outside the fences"));
        }
        if !leaf && index == 0 && key != lower {
            return Err("inner node: the first key is not the lower fence".into());
        }
        std::mem::swap(&mut previous, &mut key);
    }
    if count >= 2 * HINT_COUNT {
        let distance = count / (HINT_COUNT + 1);
        for hint in 0..HINT_COUNT {
            if page.u32(HINTS + 4 * hint) != node.slot(distance * (hint + 1)).head {
                return Err(format!("hint {hint} does not agree with its slot"));
            }
        }
    }
    Ok(())
}

/// Formats `page` as an empty leaf without fences: a new tree's root.
pub fn empty_root(tree: TreeId, capacity: usize) -> Box<PageBuffer> {
    let mut image = NodeBuilder::new(0, capacity, &[], None).finish();
    PageMut::of(&mut image).set_header(tree.root(), tree, PageKind::Node, 0);
    image
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn checked(image: &PageBuffer) {
        check(PageRef::of(image)).expect("a sound node");
    }

    #[test]
    fn a_split_keeps_every_entry_and_tells_the_sides_apart() {
        let mut builder = NodeBuilder::new(0, PAGE_SIZE, &0u32.to_be_bytes(), None);
        for n in 0..100u32 {
            builder.push(&n.to_be_bytes(), &[n as u8; 50], false);
        }
        let mut image = builder.finish();
        checked(&image);
        let point = split_point(Node(PageRef::of(&image)), &50u32.to_be_bytes(), 20);
        assert!((40..60).contains(&point.keep), "{point:?}");
        assert_eq!(point.separator, (point.keep as u32).to_be_bytes());
        NodeMut(&mut PageMut::of(&mut image)).truncate(point.keep, &point.separator);
        checked(&image);
        let node = Node(PageRef::of(&image));
        assert_eq!(node.count(), point.keep);
        assert_eq!(node.prefix_len(), 3);
        assert!(node.covers(&0u32.to_be_bytes()) && !node.covers(&point.separator));
    }

    #[test]
    fn ascending_keys_split_at_the_end() {
        let mut builder = NodeBuilder::new(0, PAGE_SIZE, b"", None);
        for n in 0..10u32 {
            builder.push(&n.to_be_bytes(), b"v", false);
        }
        let image = builder.finish();
        assert_eq!(split_point(Node(PageRef::of(&image)), &10u32.to_be_bytes(), 20).keep, 10);
    }

    /// Three large keys between two fences that share no beginning: whoever has the fourth has two on either side. (Else
    /// keys that ascend there leave nodes of one child behind, and the tree grows a level for every few of them.)
    #[test]
    fn a_split_counts_the_key_for_which_it_is_made() {
        let key = |letter: u8| vec![letter; key_len_max(PAGE_SIZE)];
        for (level, value) in [(0, vec![7; 30]), (1, vec![0; CHILD_LEN])] {
            let mut builder = NodeBuilder::new(level, PAGE_SIZE, &key(b'a'), Some(&key(b'z')));
            for letter in [b'a', b'h', b'p'] {
                builder.push(&key(letter), &value, false);
            }
            let image = builder.finish();
            let node = Node(PageRef::of(&image));
            let needed = node.entry_len(key_len_max(PAGE_SIZE), value.len());
            assert!(node.free_len() < needed, "it is full");
            let keeps = [b"c", b"k", b"t"].map(|between| split_point(node, between, needed).keep);
            assert_eq!(keeps, [1, 2, 2], "level {level}");
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put(Vec<u8>, Vec<u8>),
        Remove(Vec<u8>),
        RemoveRange(Vec<u8>, Vec<u8>),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let key = prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(255), any::<u8>()], 0..12);
        let value = prop::collection::vec(any::<u8>(), 0..60);
        let step = prop_oneof![
            3 => (key.clone(), value).prop_map(|(k, v)| Step::Put(k, v)),
            1 => key.clone().prop_map(Step::Remove),
            1 => (key.clone(), key).prop_map(|(from, to)| Step::RemoveRange(from, to)),
        ];
        prop::collection::vec(step, 1..200)
    }

    proptest! {
        #[test]
        fn a_node_behaves_as_an_ordered_map(steps in steps()) {
            let mut image = NodeBuilder::new(0, 4096, b"", None).finish();
            let mut model = BTreeMap::new();
            for step in steps {
                let mut page = PageMut::of(&mut image);
                match step {
                    Step::Put(key, value) => {
                        let node = Node(page.view());
                        let position = node.search(&key);
                        prop_assert_eq!(position.exact, model.contains_key(&key));
                        if position.exact {
                            if node.free_len() + node.value_at(position.index).len >= value.len() {
                                NodeMut(&mut page).replace(position.index, &value, false);
                                model.insert(key, value);
                            }
                        } else if node.entry_len(key.len(), value.len()) <= node.free_len() {
                            NodeMut(&mut page).insert(position.index, &key, &value, false);
                            model.insert(key, value);
                        }
                    }
                    Step::Remove(key) => {
                        let position = Node(page.view()).search(&key);
                        prop_assert_eq!(position.exact, model.remove(&key).is_some());
                        if position.exact {
                            NodeMut(&mut page).remove(position.index);
                        }
                    }
                    Step::RemoveRange(from, to) => {
                        let node = Node(page.view());
                        let range = node.search(&from).index..node.search(&to).index;
                        if !range.is_empty() {
                            NodeMut(&mut page).remove_range(range);
                            model.retain(|key, _| *key < from || *key >= to);
                        }
                    }
                }
                if let Err(problem) = check(page.view()) {
                    return Err(TestCaseError::fail(problem));
                }
            }
            let node = Node(PageRef::of(&image));
            let found: Vec<_> = (0..node.count())
                .map(|i| {
                    let mut value = Vec::new();
                    node.append_value(i, &mut value);
                    (node.key(i), value)
                })
                .collect();
            prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
        }

        /// And they cost no more than the whole value would: what tells where a stretch is takes 13 bytes.
        #[test]
        fn changed_stretches_make_the_new_value(
            old in prop::collection::vec(0u8..3, 1..200),
            changes in prop::collection::vec((any::<prop::sample::Index>(), 0u8..3), 0..6),
        ) {
            let mut builder = NodeBuilder::new(0, PAGE_SIZE, b"", None);
            builder.push(b"key", &old, false);
            let mut image = builder.finish();
            let mut new = old.clone();
            for (at, byte) in changes {
                let at = at.index(new.len());
                new[at] = byte;
            }
            let stretches = Node(PageRef::of(&image)).changed_stretches(0, &new);
            let logged: usize = stretches.iter().map(|stretch| 13 + stretch.len()).sum();
            prop_assert!(!stretches.is_empty() && logged <= 13 + new.len());
            let mut page = PageMut::of(&mut image);
            for stretch in stretches {
                NodeMut(&mut page).patch(0, stretch.start, &new[stretch]);
            }
            let mut made = Vec::new();
            Node(page.view()).append_value(0, &mut made);
            prop_assert_eq!(made, new);
        }

        #[test]
        fn any_bytes_are_checked_without_harm(bytes in prop::collection::vec(any::<u8>(), 200), level in 0u8..2) {
            let mut image = PageBuffer::boxed();
            let mut page = PageMut::of(&mut image);
            page.write(COUNT, &bytes);
            page.set_header(PageNo(1), TreeId(1), PageKind::Node, level);
            let _ = check(page.view());
            let node = Node(page.view());
            let _ = node.search(&bytes[..7]);
            let _ = node.child(node.child_index(b"x"));
            let _ = node.key(node.count());
        }
    }
}
