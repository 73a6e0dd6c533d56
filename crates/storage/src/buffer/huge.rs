//! Huge pages: where all of a stretch of memory is in use, the system is asked to keep it in one page of its own.
//!
//! ```text
//!   a stretch, 2 MiB    used: 11111111...1   -> collapsed: one address translation for all of it
//!                       used: 11110000...0   -> as it is: one for each 4 KiB
//! ```
//!
//! Rows that are asked for are anywhere, and so a processor does not know the addresses' translations: it finds each in tables,
//! in a virtual machine in two sets of them. Huge pages spare most of that. But the system gives memory in pieces of a page of its
//! own: one huge page for the first of a stretch would take 2 MiB where a page was wanted. So only a stretch that was used as a
//! whole is collapsed. It stays so, since no memory is given back.
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

/// What came of a stretch that was to be collapsed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Collapse {
    /// It is.
    Done,
    /// There is none to be collapsed.
    NothingLeft,
    /// The system did not, after it may have looked long for a huge page: another would fare no better now.
    Failed,
}

/// Which stretches are collapsed.
#[derive(Default)]
pub(super) struct HugePages {
    /// So many, the first ones, have been tried.
    tried: usize,
    /// Of those, the ones that are not collapsed.
    failed: VecDeque<usize>,
    is_refused: bool,
}

impl HugePages {
    /// Collapses one of so many whole stretches, the first ones of this memory.
    pub fn collapse_one(&mut self, memory: &Region, whole: usize) -> Collapse {
        let stretch = if self.is_refused {
            None
        } else if self.tried < whole {
            self.tried += 1;
            Some(self.tried - 1)
        } else {
            self.failed.pop_front()
        };
        let Some(stretch) = stretch else { return Collapse::NothingLeft };
        match memory.collapse(stretch * HUGE_LEN) {
            Ok(()) => Collapse::Done,
            Err(error) => {
                self.is_refused = error.kind() == ErrorKind::InvalidInput;
                self.failed.push_back(stretch);
                Collapse::Failed
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_stretches_are_collapsed_once_and_no_byte_changes() {
        const STEP: usize = 4 << 10;
        let memory = Region::reserve_alone(4);
        let mut huge = HugePages::default();
        for piece in 0..4 * HUGE_LEN / STEP {
            // SAFETY: inside the mapping, which this thread alone uses.
            unsafe { memory.at(piece * STEP + 7).write(piece as u8) };
        }
        assert_eq!(huge.collapse_one(&memory, 0), Collapse::NothingLeft);
        if huge.collapse_one(&memory, 2) == Collapse::Failed {
            // There are none: not known, or not free.
            assert_eq!((huge.tried, huge.failed.len(), memory.huge_bytes()), (1, 1, 0));
            eprintln!("huge pages are not tested");
            return;
        }
        assert_eq!(memory.huge_bytes(), HUGE_LEN);
        huge.failed.push_back(0);
        assert_eq!(huge.collapse_one(&memory, 2), Collapse::Done, "one that was not tried before one that has failed");
        assert_eq!(memory.huge_bytes(), 2 * HUGE_LEN);
        assert_eq!(huge.collapse_one(&memory, 2), Collapse::Done, "again");
        assert_eq!(huge.collapse_one(&memory, 2), Collapse::NothingLeft);
        assert_eq!(memory.huge_bytes(), 2 * HUGE_LEN);
        for piece in 0..4 * HUGE_LEN / STEP {
            // SAFETY: as above.
            assert_eq!(unsafe { memory.at(piece * STEP + 7).read() }, piece as u8, "piece {piece}");
        }
    }
}
