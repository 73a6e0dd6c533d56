//! Making a node: entries are appended in ascending order to an image in private memory, which becomes a page when it is done.

use std::ops::Range;

use super::{
    CAPACITY, COUNT, HEAP_START, HINT_COUNT, HINTS, LOWER_LEN, NO_FENCE, Node, NodeMut, OVERFLOW_FLAG, PREFIX_LEN,
    SLOT_LEN, SLOTS, Slot, UPPER_LEN, VALUE_HEADER_LEN, common_prefix_len, head_of,
};
use crate::page::bytes::{PageBuffer, PageMut};
use crate::page::{KIND, LEVEL, PageKind};

/// Makes a node in private memory.
pub struct NodeBuilder {
    image: Box<PageBuffer>,
    prefix_len: usize,
    count: usize,
    heap: usize,
}

impl NodeBuilder {
    /// An empty node. Header fields beyond the level are the caller's to set when the image becomes a page.
    pub fn new(level: u8, capacity: usize, lower: &[u8], upper: Option<&[u8]>) -> Self {
        let mut image = PageBuffer::boxed();
        let mut page = PageMut::of(&mut image);
        let prefix_len = upper.map_or(0, |upper| common_prefix_len(lower, upper));
        let mut heap = capacity - lower.len();
        page.write(heap, lower);
        if let Some(upper) = upper {
            heap -= upper.len();
            page.write(heap, upper);
        }
        page.set_u8(LEVEL, level);
        page.set_u8(KIND, PageKind::Node as u8);
        page.set_u16(CAPACITY, capacity as u16);
        page.set_u16(PREFIX_LEN, prefix_len as u16);
        page.set_u16(LOWER_LEN, lower.len() as u16);
        page.set_u16(UPPER_LEN, upper.map_or(NO_FENCE, |upper| upper.len() as u16));
        Self { image, prefix_len, count: 0, heap }
    }

    /// Bytes still free.
    pub fn free_len(&self) -> usize {
        self.heap - (SLOTS + SLOT_LEN * self.count)
    }

    /// Number of entries so far.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether an entry fits.
    pub fn fits(&self, key_len: usize, value_len: usize) -> bool {
        SLOT_LEN + VALUE_HEADER_LEN + key_len.saturating_sub(self.prefix_len) + value_len <= self.free_len()
    }

    /// Appends an entry above all others. On entry: it fits.
    pub fn push(&mut self, key: &[u8], value: &[u8], overflow: bool) {
        let suffix = &key[self.prefix_len..];
        let len = VALUE_HEADER_LEN + suffix.len() + value.len();
        assert!(SLOT_LEN + len <= self.free_len(), "no room for the entry");
        self.heap -= len;
        let flag = if overflow { OVERFLOW_FLAG } else { 0 };
        let mut page = PageMut::of(&mut self.image);
        page.set_u16(self.heap, value.len() as u16 | flag);
        page.write(self.heap + VALUE_HEADER_LEN, suffix);
        page.write(self.heap + VALUE_HEADER_LEN + suffix.len(), value);
        let slot = Slot { head: head_of(suffix), offset: self.heap, suffix_len: suffix.len() };
        page.set_u64(SLOTS + SLOT_LEN * self.count, slot.to_word());
        self.count += 1;
    }

    /// Appends entries of another node. On entry: they fit, and belong behind those already here.
    pub fn append_from(&mut self, node: Node<'_>, entries: Range<usize>) {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for index in entries {
            key.clear();
            value.clear();
            node.append_key(index, &mut key);
            node.append_value(index, &mut value);
            self.push(&key, &value, node.value_at(index).overflow);
        }
    }

    /// The node's image.
    pub fn finish(mut self) -> Box<PageBuffer> {
        let mut page = PageMut::of(&mut self.image);
        page.set_u16(COUNT, self.count as u16);
        page.set_u16(HEAP_START, self.heap as u16);
        NodeMut(&mut page).refresh_hints(0);
        if self.count >= 2 * HINT_COUNT {
            let distance = self.count / (HINT_COUNT + 1);
            for hint in 0..HINT_COUNT {
                let head = Node(page.view()).slot(distance * (hint + 1)).head;
                page.set_u32(HINTS + 4 * hint, head);
            }
        }
        self.image
    }
}
