//! The clock: which pages leave memory.
//!
//! ```text
//!   resident pages   | . . m . M d . m | ...     the hand goes round: a page that nobody has touched since the last time (m) leaves
//!                          ^hand                 if it is clean; if it is dirty (d) the cleaner hears of it; others are marked
//!
//!   cold, dirty:   noted --take_cold--> under way --let_leave--> written: the next to leave, if nobody touches them
//! ```
//!
//! # Invariants
//! 1. While a good part of memory is noted or under way the hand stands still: memory comes from what the cleaner has written.
//!    (Round and round among dirty pages it would find, and evict, none but those that have come a moment ago, and those who wait
//!    for them would read them again.)
//! 2. Dirty pages are written for memory only if the hand has met them.
//! 3. Who waits for memory without a thread does so only while pages are noted or under way; when some have been written, as many
//!    are called, and when none are noted or under way any more, or the engine has stopped, all. (`call_when_room`)

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Instant;

use smallvec::SmallVec;

use super::blocks::Block;
use super::{Frame, Pool};
use crate::ids::PageNo;
use crate::wait::WaitEvent;

/// How many candidates one call of the clock looks for.
const EVICT_BATCH: usize = 16;
/// How many cold dirty pages are remembered for the cleaner.
const COLD_MAX: usize = 4096;
/// The part of memory that is enough to be cold and dirty: see invariant 1.
const COLD_PART: usize = 4;

/// Dirty pages that the clock would have evicted.
#[derive(Default)]
pub(super) struct Cold {
    /// They are to be written.
    noted: Vec<PageNo>,
    /// So many are being written.
    under_way: usize,
    /// They have been written.
    written: VecDeque<PageNo>,
    /// Who waits for memory, and since when.
    waiting: VecDeque<(Waker, Instant)>,
}

impl Cold {
    fn note(&mut self, pages: &mut Vec<PageNo>) {
        if self.noted.len() < COLD_MAX {
            self.noted.append(pages);
        }
    }

    /// Invariant 1, of a memory of so many pages.
    fn is_enough(&self, limit: usize) -> bool {
        (self.noted.len() + self.under_way) * COLD_PART > limit
    }

    /// Whether some will be written.
    fn are_expected(&self) -> bool {
        self.noted.len() + self.under_way > 0
    }

    /// Some of those that have been written, the first ones.
    fn take_written(&mut self) -> SmallVec<[PageNo; EVICT_BATCH]> {
        let count = self.written.len().min(EVICT_BATCH);
        self.written.drain(..count).collect()
    }
}

/// What leaves memory, and what was met on the way.
#[derive(Default)]
struct Sweep {
    /// Held exclusively, on their way out.
    leaving: SmallVec<[PageNo; 2 * EVICT_BATCH]>,
    /// Marked, but dirty.
    cold: Vec<PageNo>,
}

impl Pool {
    /// Has a few pages leave memory: those that were written for that, or else those that the clock hand meets until it has been
    /// round. Dirty pages that it would have evicted are noted for the cleaner ([`Pool::take_cold`]). Returns how many left.
    pub(super) fn evict_some(&self) -> usize {
        let mut sweep = Sweep::default();
        let stands_still = self.evict_written(&mut sweep);
        if sweep.leaving.is_empty() && !stands_still {
            self.sweep(&mut sweep);
        }
        self.evict(&sweep.leaving);
        if stands_still || !sweep.cold.is_empty() {
            self.cold.lock().note(&mut sweep.cold);
            let relief = self.relief.lock().clone();
            if let Some(relief) = relief {
                relief.want();
            }
        }
        sweep.leaving.len()
    }

    /// Those that were written, unless somebody has touched them since. Returns whether the hand is to stand still.
    fn evict_written(&self, sweep: &mut Sweep) -> bool {
        loop {
            let (written, stands_still) = {
                let mut cold = self.cold.lock();
                (cold.take_written(), cold.is_enough(self.blocks.limit()))
            };
            for &page in &written {
                let frame = self.frame(page);
                if frame.latch.is_marked() && frame.is_clean() {
                    self.evict_if_free(page, sweep);
                }
            }
            if written.is_empty() || !sweep.leaving.is_empty() {
                return stands_still;
            }
        }
    }

    fn sweep(&self, sweep: &mut Sweep) {
        let words = self.file_pages().div_ceil(64).max(1);
        // Once round: who was marked on an earlier turn and not touched since leaves. A second turn, which may take
        // pages loaded a moment ago, only if there is nothing else to do: dirty pages are written first. (Otherwise
        // two pages that one operation needs could evict each other for ever.)
        for step in 0..2 * words {
            if step >= words && !(sweep.leaving.is_empty() && sweep.cold.is_empty()) {
                break;
            }
            let index = self.hand.fetch_add(1, Ordering::Relaxed) % words;
            self.sweep_word(index, sweep);
            if sweep.leaving.len() >= EVICT_BATCH || sweep.cold.len() >= 8 * EVICT_BATCH {
                break;
            }
        }
    }

    fn sweep_word(&self, index: usize, sweep: &mut Sweep) {
        let mut word = self.resident.get(index).load(Ordering::Acquire);
        while word != 0 {
            let page = PageNo((index * 64) as u32 + word.trailing_zeros());
            word &= word - 1;
            let frame = self.frame(page);
            if !frame.latch.is_marked() {
                frame.latch.mark();
            } else if !frame.is_clean() {
                sweep.cold.push(page);
            } else {
                self.evict_if_free(page, sweep);
            }
        }
    }

    /// A page that was marked and clean leaves, if it still is and nobody holds it.
    fn evict_if_free(&self, page: PageNo, sweep: &mut Sweep) {
        self.begin_moving();
        if self.try_evict(self.frame(page)) { sweep.leaving.push(page) } else { self.end_moving(1) }
    }

    fn try_evict(&self, frame: &Frame) -> bool {
        if !frame.latch.try_evict() {
            return false;
        }
        // Somebody may have changed it since it was looked at.
        let clean = frame.is_clean();
        if !clean {
            frame.latch.abort_evict();
        }
        clean
    }

    /// On entry: this thread holds these pages exclusively through `try_evict`, they are clean, and they count as moving.
    fn evict(&self, pages: &[PageNo]) {
        if pages.is_empty() {
            return;
        }
        let leave = |&page: &PageNo| {
            self.set_resident(page, false);
            let block = self.blocks.of(page);
            // From here on somebody else may read it into another block.
            self.frame(page).latch.finish_evict();
            block
        };
        let blocks: SmallVec<[Block; 2 * EVICT_BATCH]> = pages.iter().map(leave).collect();
        self.blocks.give_back(&blocks);
        self.evictions.fetch_add(pages.len() as u64, Ordering::Relaxed);
        self.end_moving(pages.len());
    }

    /// The dirty pages that the clock has met since the last call. They are under way until [`Pool::cold_is_written`].
    pub fn take_cold(&self) -> Vec<PageNo> {
        let mut cold = self.cold.lock();
        cold.under_way = cold.noted.len();
        std::mem::take(&mut cold.noted)
    }

    /// Some of those that were taken have been written: they are the next to leave. (That they were copied was no use of them.)
    pub fn let_leave(&self, written: &[PageNo]) {
        for &page in written {
            self.frame(page).latch.mark();
        }
        let mut cold = self.cold.lock();
        cold.written.extend(written);
        let count = cold.waiting.len().min(written.len());
        let called: Vec<_> = cold.waiting.drain(..count).collect();
        drop(cold);
        self.call(called);
    }

    /// All that were taken have been written, or looked at; or the engine has stopped, and those who wait are to hear of it.
    pub fn cold_is_written(&self) {
        let mut cold = self.cold.lock();
        cold.under_way = 0;
        let waits = cold.are_expected() && !self.health.is_stopped();
        let called = if waits { VecDeque::new() } else { std::mem::take(&mut cold.waiting) };
        drop(cold);
        self.call(called);
    }

    /// Has the waker called when there may be room for a page, for a caller that found none. False, if nobody will call: there is
    /// some already, or nobody knows when.
    pub(super) fn call_when_room(&self, waker: &Waker) -> bool {
        let mut cold = self.cold.lock();
        let waits = cold.are_expected() && cold.written.is_empty();
        if waits {
            cold.waiting.push_back((waker.clone(), Instant::now()));
        }
        waits
    }

    /// There may be room for those who waited for it.
    fn call(&self, waiting: impl IntoIterator<Item = (Waker, Instant)>) {
        for (waker, since) in waiting {
            self.waits.note(WaitEvent::FrameFree, since.elapsed());
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::callbacks::tests::Called;
    use super::*;
    use crate::health::Health;
    use crate::ids::Lsn;
    use crate::io::{BatchEngine, Disk, RealDisk};
    use crate::page::PAGE_SIZE;
    use crate::rank::Rank;
    use crate::wait::WaitEvents;

    const LIMIT: u32 = 64;

    /// A pool whose memory is full of pages that were made in it: as many as said are dirty, and those above them clean.
    fn full_pool(dirty: u32) -> (tempfile::TempDir, Pool) {
        let directory = tempfile::tempdir().unwrap();
        let disk = RealDisk::new(directory.path(), BatchEngine::ThreadPool).unwrap();
        let (file, pages) = (disk.create("data").unwrap(), 4 * LIMIT as usize);
        let (health, waits) = (Arc::new(Health::default()), Arc::new(WaitEvents::default()));
        let pool = Pool::new(file, pages, pages, LIMIT as usize, Arc::new(|| Lsn(1)), health, waits).unwrap();
        (0..LIMIT).for_each(|page| make(&pool, PageNo(page), page < dirty));
        (directory, pool)
    }

    fn make(pool: &Pool, page: PageNo, is_dirty: bool) {
        drop(pool.fresh(page, pool.take_permit().unwrap(), Rank::TreePage));
        if is_dirty {
            pool.frame(page).set_dirty(|| Lsn(1));
        }
    }

    fn are_resident(pool: &Pool, pages: std::ops::Range<u32>) -> bool {
        pages.map(PageNo).all(|page| pool.is_resident(page))
    }

    #[test]
    fn what_has_come_a_moment_ago_stays_while_most_of_memory_is_to_be_written() {
        let (_directory, pool) = full_pool(LIMIT - 16);
        while pool.evict_some() > 0 {}
        assert!(are_resident(&pool, 0..LIMIT - 16), "dirty ones stay");
        // Who is waited for by somebody who has no thread is looked at only after a while.
        make(&pool, PageNo(LIMIT), false);
        for _ in 0..100 {
            assert_eq!(pool.evict_some(), 0);
        }
        assert!(pool.is_resident(PageNo(LIMIT)));
    }

    #[test]
    fn who_waits_for_room_is_called_when_some_was_written_or_none_will_be() {
        let called: [Arc<Called>; 3] = Default::default();
        let wakers = called.clone().map(Waker::from);
        let times = || called.each_ref().map(|called| called.times());
        let (_directory, pool) = full_pool(LIMIT - 16);
        assert!(!pool.call_when_room(&wakers[0]), "nothing is known to be cold");
        while pool.evict_some() > 0 {}
        assert!(pool.call_when_room(&wakers[0]), "some are noted");
        let cold = pool.take_cold();
        assert!(wakers[1..].iter().all(|waker| pool.call_when_room(waker)), "some are under way");
        for &page in &cold[..1] {
            pool.frame(page).begin_flush().unwrap();
            pool.frame(page).end_flush();
        }
        pool.let_leave(&cold[..1]);
        assert_eq!(times(), [1, 0, 0]);
        assert!(!pool.call_when_room(&wakers[0]), "there is room");
        assert_eq!(pool.evict_some(), 1);
        pool.cold_is_written();
        assert_eq!(times(), [1, 1, 1]);
        assert!(!pool.call_when_room(&wakers[0]));
    }

    #[test]
    fn who_waits_for_room_is_called_when_the_engine_has_stopped() {
        let (called, (_directory, pool)) = (Arc::<Called>::default(), full_pool(LIMIT - 16));
        while pool.evict_some() > 0 {}
        assert!(pool.call_when_room(&Waker::from(Arc::clone(&called))), "some are noted");
        let _ = pool.health.stop("a write has failed".to_owned());
        pool.cold_is_written();
        assert_eq!(called.times(), 1);
    }

    #[test]
    fn what_was_written_leaves_before_others() {
        let (_directory, pool) = full_pool(LIMIT - 16);
        while pool.evict_some() > 0 {}
        (LIMIT..LIMIT + 16).for_each(|page| make(&pool, PageNo(page), false));
        let cold = pool.take_cold();
        assert!(cold.len() >= LIMIT as usize / COLD_PART);
        assert_eq!(pool.evict_some(), 0, "they are under way");
        let (touched, written) = cold[..20].split_first().unwrap();
        for &page in &cold[..20] {
            pool.frame(page).begin_flush().unwrap();
            pool.frame(page).end_flush();
        }
        pool.let_leave(&cold[..20]);
        drop(pool.shared(*touched, Rank::TreePage).unwrap());
        assert_eq!((pool.evict_some(), pool.evict_some()), (15, 4));
        assert!(pool.is_resident(*touched) && written.iter().all(|&page| !pool.is_resident(page)));
        assert!(are_resident(&pool, LIMIT..LIMIT + 16));
        // Then the clock goes on, and meets the others again.
        assert_eq!(pool.evict_some(), 0);
        assert!(pool.take_cold().is_empty());
        pool.cold_is_written();
        assert_eq!(pool.evict_some(), 0);
        assert_eq!(pool.take_cold().len(), LIMIT as usize - 16 - 20);
    }

    #[test]
    fn a_page_that_gets_the_block_of_another_is_zeroes_and_who_reads_the_other_sees_that_it_has_left() {
        let (_directory, pool) = full_pool(0);
        for page in (0..LIMIT).map(PageNo) {
            pool.exclusive(page, Rank::TreePage).unwrap().bytes_mut().write(100, b"theirs");
        }
        let readers: Vec<_> = (0..LIMIT).map(|page| pool.optimistic(PageNo(page), Rank::TreePage).unwrap()).collect();
        let left: usize = std::iter::from_fn(|| Some(pool.evict_some())).find(|&left| left > 0).unwrap();
        let new = pool.fresh(PageNo(LIMIT), pool.take_permit().unwrap(), Rank::TreePage);
        assert!((0..PAGE_SIZE).all(|offset| new.view().u8(offset) == 0));
        let seen = readers.iter().filter(|reader| reader.read(|page| page.u8(100)) == Ok(b't')).count();
        assert_eq!(seen, LIMIT as usize - left);
    }
}
