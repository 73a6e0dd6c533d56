//! The clock: which pages leave memory.
//!
//! ```text
//!   resident pages   | . . m . M d . m | ...     the hand goes round: a page that nobody has touched since the last time (m) leaves
//!                          ^hand                 if it is clean; if it is dirty (d) the cleaner hears of it; others are marked
//! ```

use std::sync::atomic::Ordering;

use smallvec::SmallVec;

use super::{Frame, Pool};
use crate::ids::PageNo;
use crate::page::PAGE_SIZE;

/// How many candidates one call of the clock looks for.
const EVICT_BATCH: usize = 16;
/// How many cold dirty pages are remembered for the cleaner.
const COLD_MAX: usize = 4096;

/// What the clock hand has met on its way.
#[derive(Default)]
struct Sweep {
    /// Held exclusively, on their way out.
    leaving: SmallVec<[PageNo; 2 * EVICT_BATCH]>,
    /// Marked, but dirty.
    cold: Vec<PageNo>,
}

impl Pool {
    /// Moves the clock hand until a few pages have left memory, or it has been round. Dirty pages that it would have
    /// evicted are noted for the cleaner ([`Pool::take_cold`]). Returns how many left.
    pub(super) fn evict_some(&self) -> usize {
        let words = self.file_pages().div_ceil(64).max(1);
        let mut sweep = Sweep::default();
        // Once round: who was marked on an earlier turn and not touched since leaves. A second turn, which may take
        // pages loaded a moment ago, only if there is nothing else to do: dirty pages are written first. (Otherwise
        // two pages that one operation needs could evict each other for ever.)
        for step in 0..2 * words {
            if step >= words && !(sweep.leaving.is_empty() && sweep.cold.is_empty()) {
                break;
            }
            let index = self.hand.fetch_add(1, Ordering::Relaxed) % words;
            self.sweep_word(index, &mut sweep);
            if sweep.leaving.len() >= EVICT_BATCH || sweep.cold.len() >= 8 * EVICT_BATCH {
                break;
            }
        }
        self.evict(&sweep.leaving);
        if !sweep.cold.is_empty() {
            {
                let mut known = self.cold.lock();
                if known.len() < COLD_MAX {
                    known.append(&mut sweep.cold);
                }
            }
            let relief = self.relief.lock().clone();
            if let Some(relief) = relief {
                relief.want();
            }
        }
        sweep.leaving.len()
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
                self.begin_moving();
                if self.try_evict(frame) { sweep.leaving.push(page) } else { self.end_moving(1) }
            }
        }
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
        let offsets: SmallVec<[usize; 2 * EVICT_BATCH]> = pages.iter().map(|page| page.index() * PAGE_SIZE).collect();
        pages.iter().for_each(|&page| self.set_resident(page, false));
        self.huge.split(&self.memory, pages);
        // SAFETY: the latches are exclusive, and optimistic readers that still look at these bytes see zeroes and then
        // a new version.
        unsafe { self.memory.release_all(&offsets, PAGE_SIZE) };
        for &page in pages {
            self.frame(page).latch.finish_evict();
            self.return_permit();
        }
        self.evictions.fetch_add(pages.len() as u64, Ordering::Relaxed);
        if !pages.is_empty() {
            self.end_moving(pages.len());
        }
    }

    /// The dirty pages that the clock has met since the last call.
    pub fn take_cold(&self) -> Vec<PageNo> {
        std::mem::take(&mut self.cold.lock())
    }
}
