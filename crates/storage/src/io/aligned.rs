//! An owned stretch of memory that direct I/O accepts.
//!
//! Callers: `log` for its blocks, `doublewrite`, `control`, `recovery`, and every test that moves bytes. The
//! buffer pool does not use it: its frames come from one large mapping.
//!
//! # Invariants
//! 1. The address is a multiple of [`IO_ALIGN`], and so is the length. (`new`)
//! 2. The memory is allocated, and initialised (zeros at first), from `new` to `drop`.
//! 3. Only this value owns the memory: nothing else frees it, and the borrow checker guards every access but
//!    the one that [`AlignedBuffer::io_memory`] lends out, whose caller gives a promise instead.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;
use std::slice;

use super::{IO_ALIGN, IoMemory};

/// Bytes at an address, and of a length, that direct I/O accepts; zero at first.
pub struct AlignedBuffer {
    start: NonNull<u8>,
    len: usize,
}

impl AlignedBuffer {
    /// Allocates `len` zero bytes, rounded up to a multiple of [`IO_ALIGN`].
    pub fn new(len: usize) -> Self {
        let len = len.next_multiple_of(IO_ALIGN);
        let layout = layout(len);
        // SAFETY: `layout` never has size zero.
        let start = unsafe { alloc_zeroed(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, len }
    }

    /// Names the bytes of `range` for a request. Panics when `range` reaches past the end.
    ///
    /// # Safety
    /// As for [`IoMemory::new`]: until the request's completion has been called, this buffer must not be
    /// dropped, and the bytes of `range` must not be touched (a write's bytes may be read).
    pub unsafe fn io_memory(&mut self, range: Range<usize>) -> IoMemory {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of a buffer of {} bytes", self.len);
        // The pointer comes from the allocation and not from a slice of it, so that borrowing another part of
        // this buffer later does not invalidate it.
        // SAFETY: `range.start` is at most `len`, so the sum stays in the allocation (invariant 2).
        let pointer = unsafe { self.start.as_ptr().add(range.start) };
        // SAFETY: the caller has made the same promise.
        unsafe { IoMemory::new(pointer, range.len()) }
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: invariant 2; `&self` keeps writers away (invariant 3).
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: invariant 2; `&mut self` keeps everybody else away (invariant 3).
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        // SAFETY: `new` allocated this with the same layout, and only `drop` frees it (invariant 3).
        unsafe { dealloc(self.start.as_ptr(), layout(self.len)) }
    }
}

// SAFETY: the buffer owns its memory (invariant 3) and is tied to no thread, like a `Box<[u8]>`.
unsafe impl Send for AlignedBuffer {}

// SAFETY: through `&AlignedBuffer` the bytes can only be read.
unsafe impl Sync for AlignedBuffer {}

/// How `len` bytes are allocated. An empty buffer still takes one block: an allocation may not be empty.
fn layout(len: usize) -> Layout {
    Layout::from_size_align(len.max(IO_ALIGN), IO_ALIGN).expect("a buffer smaller than half the address space")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_aligned_rounded_up_and_zero() {
        for (asked, given) in [(0, 0), (1, 4096), (4095, 4096), (4096, 4096), (4097, 8192), (1 << 20, 1 << 20)] {
            let buffer = AlignedBuffer::new(asked);
            assert_eq!(buffer.len(), given, "asked for {asked}");
            assert_eq!(buffer.as_ptr() as usize % IO_ALIGN, 0);
            assert!(buffer.iter().all(|&byte| byte == 0));
        }
    }

    #[test]
    fn io_memory_names_the_bytes_of_the_range() {
        let mut buffer = AlignedBuffer::new(3 * IO_ALIGN);
        // SAFETY: the buffer outlives this test's only use of the memory, and nobody else touches it meanwhile.
        let memory = unsafe { buffer.io_memory(IO_ALIGN..2 * IO_ALIGN) };
        assert_eq!(memory.len(), IO_ALIGN);
        // SAFETY: as above, and called once.
        unsafe { memory.as_mut_slice() }.fill(7);
        assert!(buffer[..IO_ALIGN].iter().all(|&byte| byte == 0));
        assert!(buffer[IO_ALIGN..2 * IO_ALIGN].iter().all(|&byte| byte == 7));
        assert!(buffer[2 * IO_ALIGN..].iter().all(|&byte| byte == 0));
    }

    #[test]
    #[should_panic(expected = "of a buffer of 4096 bytes")]
    fn io_memory_stays_inside_the_buffer() {
        let mut buffer = AlignedBuffer::new(IO_ALIGN);
        // SAFETY: the call panics before it makes anything.
        let _ = unsafe { buffer.io_memory(0..2 * IO_ALIGN) };
    }

    #[test]
    fn a_filled_buffer_can_move_to_another_thread() {
        let mut buffer = AlignedBuffer::new(IO_ALIGN);
        buffer[17] = 1;
        assert_eq!(std::thread::spawn(move || buffer[17]).join().expect("no panic"), 1);
    }
}
