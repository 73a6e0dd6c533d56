//! The memory that pages are in: one stretch as long as the memory limit, in blocks of a page each.
//!
//! ```text
//!   page number --> | 2 | - | - | .. | 0 | .. | 3 |                    in which block each page is
//!
//!   | page 7 | free | page 0 | page 9 | free |  never used ...  |
//!                                            ^used          ^limit
//! ```
//!
//! Whoever makes a page resident takes a block first, and who has it leave gives its block back: the system hears nothing of it. So
//! memory comes from the system once, in the order of its addresses, and in huge pages (`huge`).
//!
//! # Invariants
//! 1. A block belongs to one page, or to one permit, or is free. So there are never more of them than the limit says.
//! 2. Blocks from `used` on were never used: they are zeroes, and but for huge pages that were made ahead the system has provided no memory for them.
//! 3. In which block a page is, is written by the thread that has begun to load it, so while its latch is loading. Who holds the latch, or
//!    has taken a version from it that is unchanged afterwards, has found the right one. (For a page that never was in memory it is the first
//!    one: there some page is, and the version is another.)
//! 4. A block is given back only when the latch of its page says that it is evicted: whoever reads that page's bytes in it, and meets
//!    another's, finds the version changed (`latch`, memory order: between the two lies this lock).
//!
//! # Why not in the page's frame
//! Nothing of a page can be asked for before its block's number has come. A frame is six times as long as such a number, so it is in the
//! processor's caches less often; and it is waited for at the same time as the page.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use super::huge::{Collapse, HugePages};
use super::memory::{Region, ZeroedArray};
use crate::ids::PageNo;
use crate::page::PAGE_SIZE;
use crate::page::bytes::READ_SLACK;

/// The memory of one page, by its place among all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Block(u32);

impl Block {
    #[inline(always)]
    fn offset(self) -> usize {
        self.0 as usize * PAGE_SIZE
    }
}

/// The memory of all pages.
pub(super) struct Blocks {
    memory: Region,
    limit: usize,
    block_of: ZeroedArray<AtomicU32>,
    free: CachePadded<Mutex<Free>>,
    huge: Mutex<HugePages>,
}

/// Which blocks may be taken.
#[derive(Default)]
struct Free {
    /// So many, the first ones, have been used.
    used: u32,
    /// Of those, the ones that were given back. The last is taken first: it may still be near.
    back: Vec<Block>,
}

impl Blocks {
    /// So many, all of them free, for pages with numbers below `max_pages`; no more than there may be pages.
    ///
    /// # Errors
    /// The system refuses that much address space.
    pub fn reserve(limit: usize, max_pages: usize) -> std::io::Result<Self> {
        let limit = limit.min(max_pages).min(u32::MAX as usize);
        Ok(Self {
            memory: Region::reserve(limit * PAGE_SIZE + READ_SLACK)?,
            limit,
            block_of: ZeroedArray::reserve(max_pages)?,
            free: CachePadded::default(),
            huge: Mutex::default(),
        })
    }

    /// Where a block's bytes are: [`PAGE_SIZE`] of them, and [`READ_SLACK`] behind that may be read.
    #[inline(always)]
    pub fn address(&self, block: Block) -> *mut u8 {
        self.memory.at(block.offset())
    }

    /// The block that a page is in, if it is in memory (invariant 3).
    #[inline(always)]
    pub fn of(&self, page: PageNo) -> Block {
        Block(self.block_of.get(page.index()).load(Ordering::Relaxed))
    }

    /// Notes which block a page is to be in.
    ///
    /// On entry: this thread has begun to load the page.
    pub fn put(&self, page: PageNo, block: Block) {
        self.block_of.get(page.index()).store(block.0, Ordering::Relaxed);
    }

    /// How many there are.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How many are not free.
    pub fn taken(&self) -> usize {
        let free = self.free.lock();
        free.used as usize - free.back.len()
    }

    /// Takes a free block.
    pub fn take(&self) -> Option<Block> {
        let block = {
            let mut free = self.free.lock();
            if let Some(block) = free.back.pop() {
                return Some(block);
            }
            if free.used as usize == self.limit {
                return None;
            }
            free.used += 1;
            Block(free.used - 1)
        };
        let _ = self.memory.touch(block.offset(), PAGE_SIZE); // what is not provided now will be when it is used
        Some(block)
    }

    /// Gives blocks back that were taken.
    pub fn give_back(&self, blocks: &[Block]) {
        self.free.lock().back.extend_from_slice(blocks);
    }

    /// Has the system keep some of the memory in huge pages of its own, more at each call.
    pub fn use_huge_pages(&self) {
        /// No further one is begun after so long: who needs memory may have to wait until it is there.
        const LONG: Duration = Duration::from_millis(2);
        let used = Block(self.free.lock().used).offset();
        let mut huge = self.huge.lock();
        let begun = Instant::now();
        loop {
            let outcome = huge.collapse_one(&self.memory, used, self.limit * PAGE_SIZE);
            if outcome != Collapse::Done || begun.elapsed() >= LONG {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_taken_by_one_until_it_is_given_back() {
        let blocks = Blocks::reserve(3, 9).unwrap();
        let taken: Vec<_> = std::iter::from_fn(|| blocks.take()).collect();
        assert_eq!(taken, [Block(0), Block(1), Block(2)]);
        assert_eq!(blocks.taken(), 3);
        blocks.give_back(&taken[1..2]);
        assert_eq!(blocks.taken(), 2);
        assert_eq!((blocks.take(), blocks.take()), (Some(Block(1)), None));
    }

    #[test]
    fn there_are_no_more_blocks_than_pages() {
        let blocks = Blocks::reserve(usize::MAX, 2).unwrap();
        assert_eq!((blocks.limit(), std::iter::from_fn(|| blocks.take()).count()), (2, 2));
    }

    #[test]
    fn blocks_lie_one_behind_the_other_and_the_last_has_room_behind_it() {
        let blocks = Blocks::reserve(2, 9).unwrap();
        let (first, last) = (blocks.take().unwrap(), blocks.take().unwrap());
        assert_eq!(blocks.address(last) as usize - blocks.address(first) as usize, PAGE_SIZE);
        // SAFETY: the block is taken, and by its description so many bytes behind it may be read.
        assert_eq!(unsafe { blocks.address(last).add(PAGE_SIZE + READ_SLACK - 1).read() }, 0);
    }
}
