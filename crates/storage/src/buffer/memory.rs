//! Address space: one reserved stretch for the pages in memory, and arrays with one entry for each page of the database.
//!
//! Reserved memory costs nothing until it is touched. This is the only module that maps or advises memory.
//!
//! # Safety invariants
//! 1. A [`Region`] is mapped readable and writable for its whole life, and reads as zero until written.
//! 2. Memory is given back only of stretches of atomic words ([`ZeroedArray::release`]).

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// Bytes of a huge page.
pub const HUGE_LEN: usize = 2 << 20;

/// A reserved stretch of zeroed memory. One that has room for huge pages begins where one may.
pub struct Region {
    base: *mut u8,
    len: usize,
    /// All that is mapped: its beginning, and its length.
    mapping: (*mut u8, usize),
}

// SAFETY: a Region is an address range; who may touch its bytes, and when, is decided by the latches over it.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves `len` bytes. Errors: the system refuses that much address space.
    pub fn reserve(len: usize) -> std::io::Result<Self> {
        let mapped_len = if len < HUGE_LEN { len } else { len + HUGE_LEN };
        // SAFETY: a fresh anonymous mapping at an address of the system's choice touches nothing that exists.
        let mapped = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                mapped_len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }?
        .cast::<u8>();
        let skipped = if len < HUGE_LEN { 0 } else { mapped.align_offset(HUGE_LEN) };
        // SAFETY: `skipped` is less than HUGE_LEN, by which the mapping is longer than `len`.
        let base = unsafe { mapped.add(skipped) };
        Ok(Self { base, len, mapping: (mapped, mapped_len) })
    }

    /// The address of the byte at `offset`.
    #[inline(always)]
    pub fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset < self.len);
        // SAFETY: inside the mapping.
        unsafe { self.base.add(offset) }
    }

    /// Has the system provide the memory of a stretch now, in one call, and not piece by piece at the first accesses.
    ///
    /// Errors: it does not now (an old kernel, no memory); it will then.
    pub fn touch(&self, offset: usize, len: usize) -> std::io::Result<()> {
        assert!(offset + len <= self.len);
        // SAFETY: inside the mapping; populating changes no byte.
        Ok(unsafe { madvise(self.at(offset).cast(), len, Advice::LinuxPopulateWrite) }?)
    }

    /// Has the system keep the huge page's length at `offset` in one page of its own, all of it, whatever was touched. No byte
    /// changes, and others may read and write meanwhile: they wait.
    ///
    /// Errors: `InvalidInput`: the system knows no such request; others: it has no huge page free now.
    pub fn collapse(&self, offset: usize) -> std::io::Result<()> {
        assert!(offset.is_multiple_of(HUGE_LEN) && offset + HUGE_LEN <= self.len);
        // SAFETY: inside the mapping; the advice changes no byte.
        match unsafe { libc::madvise(self.at(offset).cast(), HUGE_LEN, libc::MADV_COLLAPSE) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    }

    /// Gives the memory of a stretch back to the system; it reads as zero afterwards.
    ///
    /// # Safety
    /// Safety invariant 2.
    unsafe fn release(&self, offset: usize, len: usize) {
        assert!(offset + len <= self.len);
        // SAFETY: inside the mapping, and unused by safety invariant 2.
        let released = unsafe { madvise(self.at(offset).cast(), len, Advice::LinuxDontNeed) };
        released.expect("the system takes back memory that it mapped");
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `reserve`, and nobody can use it after its owner is gone.
        let _ = unsafe { munmap(self.mapping.0.cast(), self.mapping.1) };
    }
}

/// A type of which all-zero bytes are a valid value that may be shared between threads.
///
/// # Safety
/// Exactly that.
pub unsafe trait Zeroed: Sync {}

// SAFETY: zero is a number.
unsafe impl Zeroed for AtomicU64 {}

// SAFETY: as above.
unsafe impl Zeroed for AtomicU32 {}

/// An array in reserved memory.
pub struct ZeroedArray<T: Zeroed> {
    region: Region,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Zeroed> ZeroedArray<T> {
    /// `len` zeroed entries.
    pub fn reserve(len: usize) -> std::io::Result<Self> {
        Ok(Self { region: Region::reserve((len * size_of::<T>()).max(1))?, len, of: PhantomData })
    }

    /// The entry at `index`.
    #[inline(always)]
    pub fn get(&self, index: usize) -> &T {
        assert!(index < self.len, "entry {index} of {}", self.len);
        // SAFETY: inside the mapping, which is aligned to the system's pages and zeroed, and T allows zeroes; T is
        // shared as `&T`, so it is changed only through its own synchronised interior.
        unsafe { &*self.region.at(index * size_of::<T>()).cast::<T>() }
    }

    /// Number of entries.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }
}

impl ZeroedArray<AtomicU64> {
    /// Sets the words of a range to zero and gives the system the memory of those that fill pages of its own.
    ///
    /// It is to every word as if somebody stored zero in it at some moment during the call. So it is safe whatever
    /// others do meanwhile; whether it is right is for the caller to know. Whoever finds such a zero (acquire) sees
    /// what this thread did before the call: it read a page that was mapped after this one's memory was taken away,
    /// and the system orders the two.
    pub fn release(&self, range: Range<usize>) {
        const WORD: usize = size_of::<AtomicU64>();
        assert!(range.start <= range.end && range.end <= self.len, "words {range:?} of {}", self.len);
        let words_a_page = rustix::param::page_size() / WORD;
        let whole = range.start.next_multiple_of(words_a_page)..range.end / words_a_page * words_a_page;
        let zero = |words: Range<usize>| words.for_each(|index| self.get(index).store(0, Ordering::Release));
        if whole.is_empty() {
            return zero(range);
        }
        zero(range.start..whole.start);
        // SAFETY: whole pages inside the mapping, full of atomic words. References to them exist, and others may load
        // and store meanwhile; but a word that may change under a shared reference may also become zero under it, and
        // zero is a number. An aligned word lies in one page, and the system takes a page from all cores before it
        // gives them another: each access meets the old page or the zeroed one, so none is torn and no
        // read-modify-write falls between the two.
        unsafe { self.region.release(whole.start * WORD, whole.len() * WORD) };
        zero(whole.end..range.end);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    impl Region {
        /// So many huge pages' length of memory that is shown by itself, and not joined with what lies beside.
        pub fn reserve_alone(huge_pages: usize) -> Region {
            let memory = Region::reserve(huge_pages * HUGE_LEN).unwrap();
            // It is advice on what does not happen here.
            // SAFETY: inside the mapping, of which no byte changes.
            unsafe { madvise(memory.base.cast(), memory.len, Advice::LinuxDontFork) }.unwrap();
            memory
        }

        /// Bytes of huge pages that the system has given for such memory.
        pub fn huge_bytes(&self) -> usize {
            let begin = format!("{:x}-", self.base as usize);
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let of_mapping = maps.lines().skip_while(|line| !line.starts_with(&begin));
            let line = of_mapping.take(40).find(|line| line.starts_with("AnonHugePages:"));
            line.unwrap().split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
        }
    }

    #[test]
    fn released_words_read_as_zero_and_their_neighbours_stay() {
        const LEN: usize = 8192;
        for range in [0..LEN, 3..5, 700..5000, 512..1024, 511..513, 100..100] {
            let words = ZeroedArray::<AtomicU64>::reserve(LEN).unwrap();
            (0..LEN).for_each(|index| words.get(index).store(index as u64 + 1, Ordering::Relaxed));
            words.release(range.clone());
            for index in 0..LEN {
                let expected = if range.contains(&index) { 0 } else { index as u64 + 1 };
                assert_eq!(words.get(index).load(Ordering::Relaxed), expected, "word {index} after {range:?}");
            }
        }
    }

    #[test]
    fn words_may_be_released_while_others_add_to_them() {
        let words = ZeroedArray::<AtomicU64>::reserve(4096).unwrap();
        std::thread::scope(|scope| {
            let add = || (0..200_000).for_each(|turn| _ = words.get(turn % 4096).fetch_add(1, Ordering::Relaxed));
            scope.spawn(add);
            scope.spawn(add);
            (0..200).for_each(|_| words.release(0..4096));
        });
        words.release(0..4096);
        assert!((0..4096).all(|index| words.get(index).load(Ordering::Relaxed) == 0));
    }
}
