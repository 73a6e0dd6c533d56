//! A set of a page's sectors: those in which it differs from its copy on disk.
//!
//! ```text
//!   page:   | 0 | 1 | 2 | ... | 31 |      bit `n` stands for bytes `n * 512 .. (n + 1) * 512`
//! ```
//!
//! # Who keeps it
//! [`PageMut`](super::bytes::PageMut), the only way to change a page, notes each byte's sector with the guard through which it
//! came; the guard hands the set to the page's frame with the latch; the cleaner takes it with the copy that goes to disk.
//! So no caller has to remember, and none can forget. A set may hold more than what has changed, never less.

use super::PAGE_SIZE;

/// Bytes in a sector: what a device writes whole or not at all (docs/media.md).
pub const SECTOR_LEN: usize = 512;

const _: () = assert!(PAGE_SIZE == SECTOR_LEN * u32::BITS as usize, "one bit a sector");

/// Some of a page's sectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sectors(u32);

impl Sectors {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// The set that a word stands for: any word does.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The set as a word.
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether the page's first sector is among them.
    pub fn has_first(self) -> bool {
        self.0 & 1 != 0
    }

    /// Adds those that hold the `len` bytes at `offset`. On entry: all of them are in the page.
    #[inline(always)]
    pub fn add_stretch(&mut self, offset: usize, len: usize) {
        debug_assert!(offset + len <= PAGE_SIZE);
        if len > 0 {
            let (first, last) = (offset / SECTOR_LEN, (offset + len - 1) / SECTOR_LEN);
            self.0 |= (u32::MAX << first) & (u32::MAX >> (u32::BITS as usize - 1 - last));
        }
    }

    /// Adds those of another set.
    #[inline(always)]
    pub fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Bytes in all of them.
    pub fn byte_len(self) -> usize {
        self.0.count_ones() as usize * SECTOR_LEN
    }

    /// The bytes that they are in the page: stretches that do not touch, in order.
    pub fn stretches(self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let mut at = 0;
        std::iter::from_fn(move || {
            let left = self.0.checked_shr(at).filter(|&left| left != 0)?;
            let first = at + left.trailing_zeros();
            let end = first + (self.0 >> first).trailing_ones();
            at = end;
            Some(first as usize * SECTOR_LEN..end as usize * SECTOR_LEN)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(stretches: &[(usize, usize)]) -> Sectors {
        let mut sectors = Sectors::NONE;
        stretches.iter().for_each(|&(offset, len)| sectors.add_stretch(offset, len));
        sectors
    }

    #[test]
    fn a_stretch_adds_the_sectors_that_it_touches() {
        assert_eq!(of(&[(100, 0), (PAGE_SIZE, 0)]), Sectors::NONE);
        assert_eq!(of(&[(0, PAGE_SIZE)]).bits(), u32::MAX);
        assert_eq!(of(&[(511, 1)]).bits(), 0b1);
        assert_eq!(of(&[(511, 2)]).bits(), 0b11);
        assert_eq!(of(&[(512, 512)]).bits(), 0b10);
        assert_eq!(of(&[(PAGE_SIZE - 1, 1)]).bits(), 1 << 31);
    }

    proptest! {
        #[test]
        fn its_stretches_are_the_set(bits: u32) {
            let sectors = Sectors::from_bits(bits);
            let stretches: Vec<_> = sectors.stretches().collect();
            prop_assert!(stretches.is_sorted_by(|one, next| one.end < next.start));
            prop_assert_eq!(stretches.iter().map(|stretch| stretch.len()).sum::<usize>(), sectors.byte_len());
            prop_assert_eq!(of(&stretches.into_iter().map(|stretch| (stretch.start, stretch.len())).collect::<Vec<_>>()), sectors);
        }
    }
}
