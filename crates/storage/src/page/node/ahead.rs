//! What a cursor will copy next, asked for while it hands out what it has copied.
//!
//! ```text
//!   the node's heap    ...| entry 9 | entry 8 | entry 7 | entry 6 | entry 5 |...
//!                         \_____ behind the batch _____/ \_ the batch: one is shown _/
//!                          a few lines with each step
//! ```
//!
//! Asked for all at once, 7 KiB are more lines than a processor can wait for: it would stand still as if it copied them.
//!
//! # Invariants
//! 1. Only prefetches are made of it, which may name any address: it is as good as ever when the node has changed.

use std::ops::Range;

use meseta_prefetch::LINE_LEN;

use super::Node;

/// A stretch of a node that will soon be copied.
#[derive(Clone, Copy, Default)]
pub struct Ahead {
    /// The address of the next line.
    next: usize,
    lines: u32,
    lines_a_step: u32,
}

impl Ahead {
    /// Of so many bytes from an address on, all in so many steps.
    fn new(address: *const u8, len: usize, steps: usize) -> Self {
        let lines = len.div_ceil(LINE_LEN);
        Self { next: address.addr(), lines: lines as u32, lines_a_step: lines.div_ceil(steps.max(1)) as u32 }
    }

    /// Asks for the lines of one step.
    #[inline(always)]
    pub fn step(&mut self) {
        if self.lines > 0 {
            let lines = self.lines_a_step.min(self.lines);
            self.lines -= lines;
            for _ in 0..lines {
                meseta_prefetch::line(std::ptr::without_provenance(self.next));
                self.next += LINE_LEN;
            }
        }
    }

    /// So many steps have been made with a copy of this.
    pub fn pass(&mut self, steps: usize) {
        let lines = self.lines.min(self.lines_a_step * steps as u32);
        self.lines -= lines;
        self.next += lines as usize * LINE_LEN;
    }
}

impl Node<'_> {
    /// Where some entries lie, if about beside each other: to be asked for in so many steps.
    pub fn ahead(self, entries: Range<usize>, steps: usize) -> Option<Ahead> {
        if entries.is_empty() {
            return None;
        }
        let (one, other) = (self.slot(entries.start).offset, self.slot(entries.end - 1).offset);
        let entry_len = self.mean_entry_len();
        let len = one.abs_diff(other) + entry_len;
        (len <= 2 * entry_len * entries.len()).then(|| Ahead::new(self.0.address(one.min(other)), len, steps))
    }

    /// Where the first entries of another node lie, whose page is at an address, if it is as full as this one and its entries
    /// came in the order of their keys.
    pub fn ahead_in(self, page: *const u8, entries: usize, steps: usize) -> Ahead {
        let end = self.capacity();
        let len = (entries * self.mean_entry_len()).min(end);
        Ahead::new(page.wrapping_add(end - len), len, steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PAGE_SIZE;
    use crate::page::bytes::{PageBuffer, PageMut, PageRef};
    use crate::page::node::{NodeBuilder, NodeMut};

    const ENTRIES: usize = 80;

    fn key(number: usize) -> [u8; 2] {
        (number as u16).to_be_bytes()
    }

    fn in_order() -> Box<PageBuffer> {
        let mut builder = NodeBuilder::new(0, PAGE_SIZE, b"", None);
        (0..ENTRIES).for_each(|number| builder.push(&key(number), &[1; 150], false));
        builder.finish()
    }

    /// All that is asked for, once there have been so many steps.
    fn asked(mut ahead: Ahead, steps: usize) -> Range<usize> {
        let first = ahead.next;
        (0..steps).for_each(|_| ahead.step());
        assert_eq!(ahead.lines, 0, "all lines in {steps} steps");
        first..ahead.next
    }

    /// Whether all bytes of some entries are among those that were asked for, and few others.
    fn assert_are_asked(node: Node<'_>, entries: Range<usize>, asked: &Range<usize>) {
        for index in entries.clone() {
            let at = node.0.address(node.slot(index).offset).addr();
            assert!(asked.contains(&at) && asked.contains(&(at + 150)), "entry {index}");
        }
        assert!(asked.len() < 160 * entries.len() + LINE_LEN, "{} bytes", asked.len());
    }

    #[test]
    fn entries_beside_each_other_are_asked_for_in_so_many_steps() {
        let image = in_order();
        let node = Node(PageRef::of(&image));
        for (entries, steps) in [(8..40, 8), (40..80, 32), (79..80, 1), (0..80, 100)] {
            let ahead = node.ahead(entries.clone(), steps).expect("they lie beside each other");
            assert_are_asked(node, entries, &asked(ahead, steps));
        }
        assert!(node.ahead(80..80, 8).is_none());
    }

    #[test]
    fn what_was_asked_for_with_a_copy_is_passed() {
        let image = in_order();
        let node = Node(PageRef::of(&image));
        for steps in [0, 1, 7, 40] {
            let mut ahead = node.ahead(8..40, 8).expect("they lie beside each other");
            let mut copy = ahead;
            (0..steps).for_each(|_| copy.step());
            ahead.pass(steps);
            assert_eq!((ahead.next, ahead.lines), (copy.next, copy.lines), "{steps} steps");
        }
    }

    #[test]
    fn entries_here_and_there_are_not_asked_for() {
        let mut image = NodeBuilder::new(0, PAGE_SIZE, b"", None).finish();
        // Every fourth first.
        for number in (0..4).flat_map(|first| (first..ENTRIES).step_by(4)) {
            let at = Node(PageRef::of(&image)).search(&key(number)).index;
            NodeMut(&mut PageMut::of(&mut image)).insert(at, &key(number), &[1; 150], false);
        }
        assert!(Node(PageRef::of(&image)).ahead(8..11, 8).is_none());
    }

    #[test]
    fn the_first_entries_of_a_leaf_like_this_one_are_asked_for() {
        let (image, next) = (in_order(), in_order());
        let next = Node(PageRef::of(&next));
        let ahead = Node(PageRef::of(&image)).ahead_in(next.0.address(0), 32, 20);
        assert_are_asked(next, 0..32, &asked(ahead, 20));
    }
}
