//! Memory that outlives the process: a stretch of a file, mapped and shared with the operating system.
//!
//! What is stored there survives a crash of the process without a system call, as long as the machine runs; nobody
//! knows what of it survives a power loss. See `log::buffer`.
//!
//! # Safety invariants
//! 1. The mapping is readable and writable, aligned to a system page, and lives as long as the value.
//! 2. The file is not made shorter while it is mapped: the data directory belongs to this process.

use std::sync::atomic::AtomicU64;

/// A mapped stretch of a file, as words.
pub struct SharedMemory {
    base: *mut AtomicU64,
    words: usize,
}

// SAFETY: all access goes through atomics.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Maps the first `len` bytes of an open file, which has at least that many, reserved on the device.
    pub(super) fn map(file: impl std::os::fd::AsFd, len: usize) -> rustix::io::Result<Self> {
        use rustix::mm::{MapFlags, ProtFlags, mmap};
        // SAFETY: a fresh mapping at an address of the system's choice touches nothing that exists.
        let base =
            unsafe { mmap(std::ptr::null_mut(), len, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0) }?;
        Ok(Self { base: base.cast(), words: len / 8 })
    }

    /// The memory.
    #[inline(always)]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: safety invariant 1; any bytes are a valid word, and all access is atomic.
        unsafe { std::slice::from_raw_parts(self.base, self.words) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: made by `map`, and nobody can use it after its owner is gone. The file keeps what was stored.
        let _ = unsafe { rustix::mm::munmap(self.base.cast(), self.words * 8) };
    }
}
