//! Huge pages: memory is in pages of two megabytes where the system has them, best before it is used.
//!
//! ```text
//!                                        used
//!   | 11111111 | 11111111 | 11111111 | 11100000 | 00000000 | 00000000 |    stretches of 2 MiB, and what was used of them
//!       huge       late       huge       late       ahead
//! ```
//!
//! Rows that are asked for are anywhere, and so a processor does not know the addresses' translations: it finds each in tables,
//! in a virtual machine in two sets of them. Huge pages spare most of that. Blocks are used in the order of their addresses, so it
//! is known which stretch comes next: some are made huge pages *ahead*, while nobody has anything there. Where memory is
//! used faster than that, a stretch is *late*: it is in small pages already, and is *collapsed* when all of it has been used.
//!
//! That copies it, and whoever touches it meanwhile waits, as do all who have the system provide memory there: a fraction of a
//! millisecond, but 17 where a virtual machine's host has to find that memory first. So there are pauses between (`Cleaner::run`),
//! after each if it was that long, and what is ahead comes first, for which nobody waits
//! (docs/decisions/2026-12-01-huge-pages-ahead.md).
//!
//! # When things fail
//! A system that knows no such request (Linux before 6.1) is asked once. A stretch that cannot be collapsed now, since there is
//! no huge page free or the device is reading into it, is tried again behind the others.
//!
//! # Sources
//! madvise(2), MADV_COLLAPSE; Documentation/admin-guide/mm/transhuge.rst.

use std::collections::VecDeque;
use std::io::ErrorKind;

use super::memory::{HUGE_LEN, Region};

/// One for so many in use is made ahead: the more memory was used, the faster, as a rule.
const AHEAD: usize = 8;
/// The most that are ahead.
const AHEAD_MOST: usize = 16;

/// What came of a stretch that was to be a huge page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Collapse {
    /// It is.
    Done,
    /// There is none that could be.
    NothingLeft,
    /// The system did not, after it may have looked long for a huge page: another would fare no better now.
    Failed,
}

/// Which stretches are huge pages.
#[derive(Default)]
pub(super) struct HugePages {
    /// The stretches before it were seen to, ahead or too late for that.
    ahead: usize,
    /// Of those, the ones that are not huge pages.
    late: VecDeque<usize>,
    is_refused: bool,
}

impl HugePages {
    /// Makes a huge page of a stretch of this memory, whose first `used` bytes have been used and no more than `limit` will be: of the next
    /// one ahead, or else of one that is late.
    pub fn collapse_one(&mut self, memory: &Region, used: usize, limit: usize) -> Collapse {
        if self.is_refused {
            return Collapse::NothingLeft;
        }
        let (whole, begun) = (used / HUGE_LEN, used.div_ceil(HUGE_LEN));
        self.late.extend(self.ahead..begun);
        self.ahead = self.ahead.max(begun);
        let wanted = begun + (begun / AHEAD).clamp(1, AHEAD_MOST);
        let stretch = if self.ahead < wanted.min(limit / HUGE_LEN) {
            self.ahead += 1;
            Some(self.ahead - 1)
        } else {
            let first = self.late.iter().position(|&stretch| stretch < whole);
            first.and_then(|place| self.late.remove(place))
        };
        let Some(stretch) = stretch else { return Collapse::NothingLeft };
        // (One of which there is nothing at all the system does not take for one.)
        match memory.touch(stretch * HUGE_LEN, 1).and_then(|()| memory.collapse(stretch * HUGE_LEN)) {
            Ok(()) => Collapse::Done,
            Err(error) => {
                self.is_refused = error.kind() == ErrorKind::InvalidInput;
                self.late.push_back(stretch);
                Collapse::Failed
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_made_a_huge_page_before_it_is_used() {
        let memory = Region::reserve_alone(3);
        let mut huge = HugePages::default();
        let mut outcome_for = |used| (huge.collapse_one(&memory, used, 3 * HUGE_LEN), memory.huge_bytes() / HUGE_LEN);
        let first = outcome_for(0);
        if first.0 == Collapse::Failed {
            eprintln!("huge pages are not tested");
            return;
        }
        let rest = [0, 1, HUGE_LEN, HUGE_LEN + 1, 3 * HUGE_LEN].map(outcome_for);
        assert_eq!((first, rest[0]), ((Collapse::Done, 1), (Collapse::NothingLeft, 1)), "one ahead");
        assert_eq!((rest[1], rest[2]), ((Collapse::Done, 2), (Collapse::NothingLeft, 2)));
        assert_eq!((rest[3], rest[4]), ((Collapse::Done, 3), (Collapse::NothingLeft, 3)), "there is no more memory");
    }

    #[test]
    fn stretches_that_are_late_are_collapsed_once_all_of_them_was_used_and_no_byte_changes() {
        const STEP: usize = 4 << 10;
        const LIMIT: usize = 4 * HUGE_LEN;
        let (memory, used) = (Region::reserve_alone(4), LIMIT - HUGE_LEN / 2);
        let mut huge = HugePages::default();
        for piece in 0..used / STEP {
            // SAFETY: inside the mapping, which this thread alone uses.
            unsafe { memory.at(piece * STEP + 7).write(piece as u8) };
        }
        if huge.collapse_one(&memory, used, LIMIT) == Collapse::Failed {
            // There are none: not known, or not free. The first was tried, and all wait.
            assert_eq!((huge.late.len(), memory.huge_bytes()), (4, 0));
            eprintln!("huge pages are not tested");
            return;
        }
        assert_eq!(memory.huge_bytes(), HUGE_LEN);
        huge.late.push_back(0); // as if it had failed
        for expected in [2, 3, 3] {
            assert_eq!(huge.collapse_one(&memory, used, LIMIT), Collapse::Done);
            assert_eq!(memory.huge_bytes(), expected * HUGE_LEN);
        }
        assert_eq!(huge.collapse_one(&memory, used, LIMIT), Collapse::NothingLeft, "half of the last is not used");
        assert_eq!(huge.collapse_one(&memory, LIMIT, LIMIT), Collapse::Done);
        assert_eq!(huge.collapse_one(&memory, LIMIT, LIMIT), Collapse::NothingLeft);
        assert_eq!(memory.huge_bytes(), LIMIT);
        for piece in 0..used / STEP {
            // SAFETY: as above.
            assert_eq!(unsafe { memory.at(piece * STEP + 7).read() }, piece as u8, "piece {piece}");
        }
    }
}
