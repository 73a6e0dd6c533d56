//! Huge pages: where neighbours are all resident, the system is asked to keep them in one page of its own.
//!
//! ```text
//!   a stretch, 128 pages    resident: 11111111...1   -> collapsed: one address translation for 2 MiB
//!                           resident: 11011111...1   -> as it was: one for each 4 KiB
//! ```
//!
//! Rows that are asked for are anywhere, and so a processor does not know the addresses' translations: it finds each in tables,
//! in a virtual machine in two sets of them. Huge pages spare most of that. But the system gives memory, and takes it back, in
//! pieces of a page of its own: one huge page for the first of 128 pages would make the memory limit soft. So only a stretch
//! that is in memory as a whole is collapsed, and it is split before one of its pages leaves. Where memory is nearly full
//! nothing is: pages are about to leave.
//!
//! # Invariants
//! 1. A stretch is collapsed only while all of its pages are resident.
//! 2. Of a stretch that is collapsed no memory is given back.
//! 3. Both hold since who collapses says so first and then looks whether all are resident, and who evicts says that a page is not
//!    and then looks whether its stretch is collapsed, all sequentially consistent: one of them sees the other. Then they exclude
//!    each other. (`changing`)
//!
//! # When things fail
//! A system that knows no such request (Linux before 6.1) is asked once. A stretch that cannot be collapsed now, since there is
//! no huge page free, ends the look, and is tried again on the next way round.
//!
//! # Sources
//! madvise(2), MADV_COLLAPSE and MADV_COLD; Documentation/admin-guide/mm/transhuge.rst.

use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::memory::{HUGE_LEN, Region, ZeroedArray};
use crate::ids::PageNo;
use crate::page::PAGE_SIZE;

/// Pages in a stretch.
pub(super) const STRETCH_PAGES: usize = HUGE_LEN / PAGE_SIZE;

/// What came of a stretch that was to be collapsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Collapse {
    /// It is.
    Done,
    /// It was before, or not all of its pages are resident.
    LeftAlone,
    /// The system did not, after it may have looked long for a huge page: another would fare no better now.
    Failed,
}

/// Which stretches are collapsed.
pub(super) struct HugePages {
    /// A bit for each stretch.
    collapsed: ZeroedArray<AtomicU64>,
    /// Held while a stretch is collapsed or split.
    changing: Mutex<()>,
    is_refused: AtomicBool,
}

impl HugePages {
    /// None yet, of memory for so many pages.
    pub fn new(max_pages: usize) -> std::io::Result<Self> {
        Ok(Self {
            collapsed: ZeroedArray::reserve(max_pages.div_ceil(STRETCH_PAGES * 64))?,
            changing: Mutex::new(()),
            is_refused: AtomicBool::new(false),
        })
    }

    fn word_and_bit(&self, stretch: usize) -> (&AtomicU64, u64) {
        (self.collapsed.get(stretch / 64), 1 << (stretch % 64))
    }

    /// Whether a stretch is collapsed, or is about to be.
    fn is_collapsed(&self, stretch: usize) -> bool {
        let (word, bit) = self.word_and_bit(stretch);
        word.load(Ordering::SeqCst) & bit != 0
    }

    /// Whether the system knows no huge pages.
    pub fn is_refused(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    /// Collapses a stretch unless it is, if `is_whole` says that all of its pages are resident.
    pub fn collapse(&self, memory: &Region, stretch: usize, is_whole: impl Fn() -> bool) -> Collapse {
        if self.is_collapsed(stretch) || !is_whole() {
            return Collapse::LeftAlone;
        }
        let _changing = self.changing.lock();
        let (word, bit) = self.word_and_bit(stretch);
        word.fetch_or(bit, Ordering::SeqCst);
        let outcome = match is_whole().then(|| memory.collapse(stretch * HUGE_LEN)) {
            None => Collapse::LeftAlone,
            Some(Ok(())) => return Collapse::Done,
            Some(Err(error)) => {
                self.is_refused.fetch_or(error.kind() == ErrorKind::InvalidInput, Ordering::Relaxed);
                Collapse::Failed
            }
        };
        word.fetch_and(!bit, Ordering::SeqCst);
        outcome
    }

    /// The memory of these pages, which are not resident any more, is about to be given back: splits their stretches.
    pub fn split(&self, memory: &Region, pages: &[PageNo]) {
        for page in pages {
            let stretch = page.index() / STRETCH_PAGES;
            if self.is_collapsed(stretch) {
                let _changing = self.changing.lock();
                memory.split(stretch * HUGE_LEN);
                let (word, bit) = self.word_and_bit(stretch);
                word.fetch_and(!bit, Ordering::SeqCst);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory::tests::Apart;
    use super::*;

    fn page(number: usize) -> PageNo {
        PageNo(number as u32)
    }

    #[test]
    fn a_whole_stretch_is_collapsed_and_split_before_a_page_leaves() {
        let memory = Region::reserve_alone(4, Apart::One);
        let huge = HugePages::new(4 * STRETCH_PAGES).unwrap();
        for number in 0..4 * STRETCH_PAGES {
            // SAFETY: inside the mapping, which this thread alone uses.
            unsafe { memory.at(number * PAGE_SIZE + 7).write(number as u8) };
        }
        assert_eq!(huge.collapse(&memory, 1, || false), Collapse::LeftAlone);
        assert!(!huge.is_collapsed(1));
        if huge.collapse(&memory, 1, || true) == Collapse::Failed {
            // There are none: not known, or not free.
            assert!(!huge.is_collapsed(1));
            eprintln!("huge pages are not tested");
            return;
        }
        assert!(huge.is_collapsed(1));
        assert_eq!(huge.collapse(&memory, 1, || true), Collapse::LeftAlone, "once is enough");
        assert_eq!(memory.huge_bytes(), HUGE_LEN);
        // Another's page leaves, then one of its own.
        huge.split(&memory, &[page(STRETCH_PAGES - 1), page(2 * STRETCH_PAGES)]);
        assert_eq!(memory.huge_bytes(), HUGE_LEN);
        let leaving = [page(STRETCH_PAGES + 3), page(2 * STRETCH_PAGES - 1)];
        huge.split(&memory, &leaving);
        assert!(!huge.is_collapsed(1));
        assert_eq!(memory.huge_bytes(), 0);
        // SAFETY: no reference covers the mapping.
        unsafe { memory.release_all(&leaving.map(|page| page.index() * PAGE_SIZE), PAGE_SIZE) };
        for number in 0..4 * STRETCH_PAGES {
            // SAFETY: as above.
            let byte = unsafe { memory.at(number * PAGE_SIZE + 7).read() };
            let expected = if leaving.contains(&page(number)) { 0 } else { number as u8 };
            assert_eq!(byte, expected, "page {number}");
        }
    }

    #[test]
    fn a_page_that_leaves_at_the_last_moment_keeps_its_stretch_as_it_is() {
        let memory = Region::reserve_alone(2, Apart::Other);
        let huge = HugePages::new(2 * STRETCH_PAGES).unwrap();
        let looks = std::cell::Cell::new(0);
        let leaves_before_second_look = || {
            looks.set(looks.get() + 1);
            looks.get() == 1
        };
        assert_eq!(huge.collapse(&memory, 0, leaves_before_second_look), Collapse::LeftAlone);
        assert_eq!((looks.get(), huge.is_collapsed(0), memory.huge_bytes()), (2, false, 0));
        assert!(!huge.is_refused());
    }

    #[test]
    fn what_has_left_has_no_memory_however_often_others_collapse() {
        const ROUNDS: usize = 300;
        let memory = Region::reserve(HUGE_LEN).unwrap();
        let huge = HugePages::new(STRETCH_PAGES).unwrap();
        let resident: Vec<AtomicBool> = (0..STRETCH_PAGES).map(|_| AtomicBool::new(true)).collect();
        // SAFETY: inside the mapping; only the thread that loads and evicts touches it.
        let load = |number: usize| unsafe { memory.at(number * PAGE_SIZE).write(1) };
        (0..STRETCH_PAGES).for_each(load);
        let (is_over, tries, collapsed) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let is_whole = || resident.iter().all(|page| page.load(Ordering::SeqCst));
                    let is_done = huge.collapse(&memory, 0, is_whole) == Collapse::Done;
                    collapsed.fetch_add(is_done.into(), Ordering::Relaxed);
                    tries.fetch_add(1, Ordering::Relaxed);
                }
            });
            for round in 0..ROUNDS {
                let number = round * 37 % STRETCH_PAGES;
                resident[number].store(false, Ordering::SeqCst);
                huge.split(&memory, &[page(number)]);
                // SAFETY: no reference covers the mapping.
                unsafe { memory.release(number * PAGE_SIZE, PAGE_SIZE) };
                assert!(!memory.has_memory(number * PAGE_SIZE, PAGE_SIZE), "round {round}");
                load(number);
                resident[number].store(true, Ordering::SeqCst);
                // Every other time another leaves at once; else once it has been tried to collapse the whole.
                let tried = tries.load(Ordering::Relaxed);
                while round % 2 == 0 && tries.load(Ordering::Relaxed) < tried + 2 {
                    std::thread::yield_now();
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
        eprintln!("collapsed {} times", collapsed.load(Ordering::Relaxed));
    }
}
