//! Address space: one reserved stretch for all pages of the database, and arrays with one entry a page.
//!
//! Reserved memory costs nothing until it is touched, and touched memory is given back page by page. This is the
//! only module that maps or advises memory.
//!
//! # Safety invariants
//! 1. A [`Region`] is mapped readable and writable for its whole life, and reads as zero until written.
//! 2. [`Region::release`] is called only for stretches that no reference covers and nobody is about to write
//!    (the page's latch is exclusive).

use std::marker::PhantomData;

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

/// A reserved stretch of zeroed memory.
pub struct Region {
    base: *mut u8,
    len: usize,
}

// SAFETY: a Region is an address range; who may touch its bytes, and when, is decided by the latches over it.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Reserves `len` bytes. Errors: the system refuses that much address space.
    pub fn reserve(len: usize) -> std::io::Result<Self> {
        // SAFETY: a fresh anonymous mapping at an address of the system's choice touches nothing that exists.
        let base = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }?;
        Ok(Self { base: base.cast(), len })
    }

    /// The address of the byte at `offset`.
    #[inline(always)]
    pub fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset < self.len);
        // SAFETY: inside the mapping.
        unsafe { self.base.add(offset) }
    }

    /// Has the system provide the memory of a stretch now, in one call, and not piece by piece at the first accesses. What
    /// it does not provide now (an old kernel) it will then.
    pub fn touch(&self, offset: usize, len: usize) {
        assert!(offset + len <= self.len);
        // SAFETY: inside the mapping; populating changes no byte.
        let _ = unsafe { madvise(self.at(offset).cast(), len, Advice::LinuxPopulateWrite) };
    }

    /// Gives the memory of a stretch back to the system; it reads as zero afterwards.
    ///
    /// # Safety
    /// Safety invariant 2.
    pub unsafe fn release(&self, offset: usize, len: usize) {
        assert!(offset + len <= self.len);
        // SAFETY: inside the mapping, and unused by safety invariant 2.
        let released = unsafe { madvise(self.at(offset).cast(), len, Advice::LinuxDontNeed) };
        released.expect("the system takes back memory that it mapped");
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `reserve`, and nobody can use it after its owner is gone.
        let _ = unsafe { munmap(self.base.cast(), self.len) };
    }
}

/// A type of which all-zero bytes are a valid value that may be shared between threads.
///
/// # Safety
/// Exactly that.
pub unsafe trait Zeroed: Sync {}

// SAFETY: zero is a number.
unsafe impl Zeroed for std::sync::atomic::AtomicU64 {}

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
