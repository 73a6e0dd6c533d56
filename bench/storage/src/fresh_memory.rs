//! Has the machine bring back memory that it is not using.
//!
//! A virtual machine may give memory that is free back to its host ("free page
//! reporting", after two seconds), and then the first touch of each page costs
//! what the host takes to find one: ten microseconds and more in place of half
//! of one. Whoever happens to need new memory in its cell would pay for that, as
//! much as the host likes to ask at that moment. So free memory is touched
//! shortly before.

use std::ptr;

/// As much as any engine takes in a few seconds of writing.
const BYTES: usize = 3 << 30;

/// Takes free memory, touches it, and gives it back to the kernel, which hands
/// out next what it got back last. Where the kernel can't do that (it is Linux
/// 5.14 that began to), nothing happens.
pub fn bring_back() {
    // SAFETY: the mapping is new, nobody else has its address, and it is
    // unmapped as a whole; touching it has no effect but on memory.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let start = libc::mmap(ptr::null_mut(), BYTES, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if start == libc::MAP_FAILED {
            return;
        }
        libc::madvise(start, BYTES, libc::MADV_POPULATE_WRITE);
        libc::munmap(start, BYTES);
    }
}
