//! The bytes of a page, as two views: [`PageRef`] reads them, perhaps while a writer changes them, and
//! [`PageMut`] changes them under the exclusive latch. No other code touches page memory while it is shared.
//!
//! # Why no slices
//! An optimistic reader reads bytes that a writer may be changing; a `&[u8]` over them would be undefined
//! behaviour. `PageRef` therefore hands out values, never references: whole words, copies, and comparisons. What
//! it returns may be nonsense until the reader has checked the page's version; every method ends, stays in
//! bounds, and has no side effects whatever the bytes are.
//!
//! # How the racing loads are made
//! Rust has no unordered unaligned load that may race. On x86-64 and AArch64 a load is one `mov`/`ldr` written
//! in inline assembly: the compiler can neither repeat nor tear it, and the hardware gives each byte some value that was
//! stored. Elsewhere, and under `--cfg meseta_racy_atomics` (ThreadSanitizer, Miri), reads and writes are relaxed
//! atomic bytes: slower, and data-race free by the letter.
//!
//! # Safety invariants
//! 1. A view's pointer is valid for [`PAGE_SIZE`] bytes plus [`READ_SLACK`] readable ones for the view's lifetime.
//! 2. While a `PageMut` exists, its thread holds the page exclusively (or owns the memory).
//! 3. Whoever uses what a `PageRef` over shared memory returned checks the version first, or holds a latch.

use std::cmp::Ordering;
use std::marker::PhantomData;

use super::PAGE_SIZE;
use super::sectors::Sectors;

/// Readable bytes that must follow a page, so that a word load at any offset inside the page stays in memory.
pub const READ_SLACK: usize = 8;

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(meseta_racy_atomics), not(miri)))]
mod racy {
    use std::arch::asm;

    macro_rules! load {
        ($name:ident, $type:ty, $x86:literal, $arm:literal) => {
            /// # Safety
            /// `from` is readable for the type's size.
            #[inline(always)]
            pub unsafe fn $name(from: *const u8) -> $type {
                #[cfg(target_arch = "x86_64")]
                {
                    let value: u64;
                    // SAFETY: one load from readable memory; nothing is written.
                    unsafe { asm!($x86, out(reg) value, in(reg) from, options(pure, readonly, nostack, preserves_flags)) };
                    value as $type
                }
                #[cfg(target_arch = "aarch64")]
                {
                    let value: u64;
                    // SAFETY: one load from readable memory; nothing is written.
                    unsafe { asm!($arm, out(reg) value, in(reg) from, options(pure, readonly, nostack, preserves_flags)) };
                    value as $type
                }
            }
        };
    }
    load!(load_u8, u8, "movzx {0:e}, byte ptr [{1}]", "ldrb {0:w}, [{1}]");
    load!(load_u16, u16, "movzx {0:e}, word ptr [{1}]", "ldrh {0:w}, [{1}]");
    load!(load_u32, u32, "mov {0:e}, dword ptr [{1}]", "ldr {0:w}, [{1}]");
    load!(load_u64, u64, "mov {0}, qword ptr [{1}]", "ldr {0}, [{1}]");

    /// # Safety
    /// `from` is readable and `to` writable for `len` bytes; `to` is private and does not overlap `from`.
    #[inline(always)]
    pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: every access below is inside the `len` bytes named by the caller.
        unsafe {
            if len >= 8 {
                let mut at = 0;
                // Four at a time: of a row's bytes a loop over each sixteen would execute three times as many instructions.
                #[cfg(target_arch = "x86_64")]
                while at + 64 <= len {
                    use std::arch::x86_64::{__m128i, _mm_storeu_si128};
                    let (one, two, three, four): (__m128i, __m128i, __m128i, __m128i);
                    asm!(
                        "movdqu {0}, xmmword ptr [{4}]",
                        "movdqu {1}, xmmword ptr [{4} + 16]",
                        "movdqu {2}, xmmword ptr [{4} + 32]",
                        "movdqu {3}, xmmword ptr [{4} + 48]",
                        out(xmm_reg) one,
                        out(xmm_reg) two,
                        out(xmm_reg) three,
                        out(xmm_reg) four,
                        in(reg) from.add(at),
                        options(pure, readonly, nostack, preserves_flags)
                    );
                    for (index, value) in [one, two, three, four].into_iter().enumerate() {
                        _mm_storeu_si128(to.add(at + 16 * index).cast(), value);
                    }
                    at += 64;
                }
                #[cfg(target_arch = "x86_64")]
                while at + 16 <= len {
                    let value: std::arch::x86_64::__m128i;
                    asm!(
                        "movdqu {0}, xmmword ptr [{1}]",
                        out(xmm_reg) value,
                        in(reg) from.add(at),
                        options(pure, readonly, nostack, preserves_flags)
                    );
                    std::arch::x86_64::_mm_storeu_si128(to.add(at).cast(), value);
                    at += 16;
                }
                while at + 8 <= len {
                    to.add(at).cast::<u64>().write_unaligned(load_u64(from.add(at)));
                    at += 8;
                }
                // The last word overlaps the one before it: shorter than a loop over bytes.
                to.add(len - 8).cast::<u64>().write_unaligned(load_u64(from.add(len - 8)));
            } else {
                for at in 0..len {
                    to.add(at).write(load_u8(from.add(at)));
                }
            }
        }
    }

    /// # Safety
    /// `to` is writable for `from.len()` bytes and held exclusively.
    #[inline(always)]
    pub unsafe fn store(to: *mut u8, from: &[u8]) {
        // SAFETY: the caller's promise; `from` is a Rust slice and so does not overlap memory held exclusively.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
    }

    /// # Safety
    /// Both stretches are inside memory held exclusively.
    #[inline(always)]
    pub unsafe fn shift(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: the caller's promise; the stretches may overlap.
        unsafe { std::ptr::copy(from, to, len) };
    }
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(meseta_racy_atomics), not(miri))))]
mod racy {
    use std::sync::atomic::{AtomicU8, Ordering};

    macro_rules! load {
        ($name:ident, $type:ty) => {
            /// # Safety
            /// `from` is readable for the type's size.
            #[inline(always)]
            pub unsafe fn $name(from: *const u8) -> $type {
                let mut bytes = [0; size_of::<$type>()];
                // SAFETY: the caller's promise; `bytes` is a local.
                unsafe { copy(from, bytes.as_mut_ptr(), bytes.len()) };
                <$type>::from_le_bytes(bytes)
            }
        };
    }
    load!(load_u8, u8);
    load!(load_u16, u16);
    load!(load_u32, u32);
    load!(load_u64, u64);

    /// # Safety
    /// `from` is readable and `to` writable for `len` bytes; `to` is private.
    pub unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
        for at in 0..len {
            // SAFETY: inside the stretches that the caller named; a byte is always aligned.
            unsafe { to.add(at).write(AtomicU8::from_ptr(from.add(at).cast_mut()).load(Ordering::Relaxed)) };
        }
    }

    /// # Safety
    /// `to` is writable for `from.len()` bytes and held exclusively.
    pub unsafe fn store(to: *mut u8, from: &[u8]) {
        for (at, &byte) in from.iter().enumerate() {
            // SAFETY: inside the stretch that the caller named; a byte is always aligned.
            unsafe { AtomicU8::from_ptr(to.add(at)).store(byte, Ordering::Relaxed) };
        }
    }

    /// # Safety
    /// Both stretches are inside memory held exclusively.
    pub unsafe fn shift(from: *const u8, to: *mut u8, len: usize) {
        let mut private = vec![0; len];
        // SAFETY: the caller's promise; `private` is `len` bytes long.
        unsafe {
            copy(from, private.as_mut_ptr(), len);
            store(to, &private);
        }
    }
}

/// Reads a page's bytes. Offsets outside the page are brought inside: a racing reader may ask for anything.
#[derive(Clone, Copy)]
pub struct PageRef<'p> {
    base: *const u8,
    page: PhantomData<&'p [u8]>,
}

impl<'p> PageRef<'p> {
    /// # Safety
    /// Safety invariants 1 and 3.
    pub unsafe fn new(base: *const u8) -> Self {
        Self { base, page: PhantomData }
    }

    /// A view of a private copy of a page.
    pub fn of(buffer: &'p PageBuffer) -> Self {
        Self { base: buffer.bytes.as_ptr().cast(), page: PhantomData }
    }

    /// The address of the byte at `offset`.
    #[inline(always)]
    pub fn address(self, offset: usize) -> *const u8 {
        // SAFETY: the masked offset is below PAGE_SIZE, inside the page by safety invariant 1.
        unsafe { self.base.add(offset & (PAGE_SIZE - 1)) }
    }

    /// The byte at `offset`.
    #[inline(always)]
    pub fn u8(self, offset: usize) -> u8 {
        // SAFETY: one byte inside the page.
        unsafe { racy::load_u8(self.address(offset)) }
    }

    /// The little-endian 16-bit word at `offset`.
    #[inline(always)]
    pub fn u16(self, offset: usize) -> u16 {
        // SAFETY: inside the page and its slack.
        u16::from_le(unsafe { racy::load_u16(self.address(offset)) })
    }

    /// The little-endian 32-bit word at `offset`.
    #[inline(always)]
    pub fn u32(self, offset: usize) -> u32 {
        // SAFETY: inside the page and its slack.
        u32::from_le(unsafe { racy::load_u32(self.address(offset)) })
    }

    /// The little-endian 64-bit word at `offset`.
    #[inline(always)]
    pub fn u64(self, offset: usize) -> u64 {
        // SAFETY: inside the page and its slack.
        u64::from_le(unsafe { racy::load_u64(self.address(offset)) })
    }

    /// Copies bytes from `offset` into `out`. Bytes beyond the page's end are left as they were.
    #[inline]
    pub fn copy_to(self, offset: usize, out: &mut [u8]) {
        let offset = offset & (PAGE_SIZE - 1);
        let len = out.len().min(PAGE_SIZE - offset);
        // SAFETY: `offset + len <= PAGE_SIZE`, and `out` is private memory at least `len` long.
        unsafe { racy::copy(self.address(offset), out.as_mut_ptr(), len) };
    }

    /// Appends `len` bytes from `offset` to `out`; fewer if the page ends first.
    #[inline]
    pub fn append_to(self, offset: usize, len: usize, out: &mut Vec<u8>) {
        let offset = offset & (PAGE_SIZE - 1);
        let len = len.min(PAGE_SIZE - offset);
        out.reserve(len);
        // SAFETY: `offset + len <= PAGE_SIZE`; `reserve` made room for `len` bytes past the vector's length, and
        // the copy has initialised them before the length covers them.
        unsafe {
            racy::copy(self.address(offset), out.as_mut_ptr().add(out.len()), len);
            out.set_len(out.len() + len);
        }
    }

    /// Asks for the cache line at `offset`.
    #[inline(always)]
    pub fn prefetch(self, offset: usize) {
        meseta_prefetch::line(self.address(offset));
    }

    /// Compares the `len` bytes at `offset` with `key`, byte by byte, shorter first.
    #[inline]
    pub fn compare(self, offset: usize, len: usize, key: &[u8]) -> Ordering {
        let offset = offset & (PAGE_SIZE - 1);
        let len = len.min(PAGE_SIZE - offset);
        let common = len.min(key.len());
        let mut at = 0;
        while at + 8 <= common {
            let ours = self.u64(offset + at).swap_bytes();
            let theirs = u64::from_be_bytes(key[at..at + 8].try_into().expect("eight bytes"));
            if ours != theirs {
                return ours.cmp(&theirs);
            }
            at += 8;
        }
        while at < common {
            let order = self.u8(offset + at).cmp(&key[at]);
            if order.is_ne() {
                return order;
            }
            at += 1;
        }
        len.cmp(&key.len())
    }

    /// A private copy of the whole page.
    pub fn to_buffer(self) -> Box<PageBuffer> {
        let mut buffer = PageBuffer::boxed();
        self.copy_to(0, buffer.bytes_mut());
        buffer
    }
}

/// Changes a page's bytes, and notes in which sectors. Offsets are checked: a bad one is a bug here, not bad luck.
pub struct PageMut<'p> {
    base: *mut u8,
    changed: &'p mut Sectors,
    page: PhantomData<&'p mut [u8]>,
}

impl<'p> PageMut<'p> {
    /// A page whose changed sectors are added to `changed`.
    ///
    /// # Safety
    /// Safety invariants 1 and 2.
    pub unsafe fn new(base: *mut u8, changed: &'p mut Sectors) -> Self {
        Self { base, changed, page: PhantomData }
    }

    /// A view of a private copy of a page.
    pub fn of(buffer: &'p mut PageBuffer) -> Self {
        Self { base: buffer.bytes.as_mut_ptr().cast(), changed: &mut buffer.changed, page: PhantomData }
    }

    /// The same page, for reading.
    #[inline(always)]
    pub fn view(&self) -> PageRef<'_> {
        PageRef { base: self.base, page: PhantomData }
    }

    /// Stores bytes at `offset`.
    #[inline]
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset <= PAGE_SIZE && bytes.len() <= PAGE_SIZE - offset, "write outside the page");
        self.changed.add_stretch(offset, bytes.len());
        // SAFETY: checked to be inside the page, which this thread holds exclusively (safety invariant 2).
        unsafe { racy::store(self.base.add(offset), bytes) };
    }

    /// Stores a byte.
    #[inline]
    pub fn set_u8(&mut self, offset: usize, value: u8) {
        self.write(offset, &[value]);
    }

    /// Stores a little-endian 16-bit word.
    #[inline]
    pub fn set_u16(&mut self, offset: usize, value: u16) {
        self.write(offset, &value.to_le_bytes());
    }

    /// Stores a little-endian 32-bit word.
    #[inline]
    pub fn set_u32(&mut self, offset: usize, value: u32) {
        self.write(offset, &value.to_le_bytes());
    }

    /// Stores a little-endian 64-bit word.
    #[inline]
    pub fn set_u64(&mut self, offset: usize, value: u64) {
        self.write(offset, &value.to_le_bytes());
    }

    /// Moves `len` bytes from `from` to `to` inside the page; the stretches may overlap.
    #[inline]
    pub fn shift(&mut self, from: usize, to: usize, len: usize) {
        assert!(from.max(to) <= PAGE_SIZE && len <= PAGE_SIZE - from.max(to), "shift outside the page");
        self.changed.add_stretch(to, len);
        // SAFETY: both stretches were checked to be inside the page held exclusively.
        unsafe { racy::shift(self.base.add(from), self.base.add(to), len) };
    }
}

/// A page's worth of private memory, with the slack that word loads need, aligned for direct I/O.
#[repr(C, align(4096))]
pub struct PageBuffer {
    bytes: [u8; PAGE_SIZE],
    slack: [u8; READ_SLACK],
    /// Where it was changed as a page is: nobody asks, but `PageMut` needs a place to say so.
    changed: Sectors,
}

impl PageBuffer {
    /// Zeroes, on the heap.
    pub fn boxed() -> Box<PageBuffer> {
        // SAFETY: all-zero bytes are a valid PageBuffer.
        unsafe { Box::new_zeroed().assume_init() }
    }

    /// The page's bytes.
    pub fn bytes(&self) -> &[u8; PAGE_SIZE] {
        &self.bytes
    }

    /// The page's bytes, to change.
    pub fn bytes_mut(&mut self) -> &mut [u8; PAGE_SIZE] {
        &mut self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_copies_come_back_at_any_offset() {
        let mut buffer = PageBuffer::boxed();
        let mut page = PageMut::of(&mut buffer);
        for offset in [0, 1, 7, 100, PAGE_SIZE - 8] {
            page.set_u64(offset, 0x0102_0304_0506_0708);
            let view = page.view();
            assert_eq!(view.u64(offset), 0x0102_0304_0506_0708);
            assert_eq!(view.u32(offset), 0x0506_0708);
            assert_eq!(view.u16(offset), 0x0708);
            assert_eq!(view.u8(offset), 0x08);
        }
        for len in 0..40 {
            let bytes: Vec<u8> = (0..len).collect();
            page.write(33, &bytes);
            let mut out = vec![0xFF];
            page.view().append_to(33, bytes.len(), &mut out);
            assert_eq!(out[1..], bytes);
        }
    }

    #[test]
    fn compare_orders_as_slices_do() {
        let mut buffer = PageBuffer::boxed();
        let words: [&[u8]; 7] = [b"", b"a", b"abcdefgh", b"abcdefghi", b"abcdefgi", b"abcdefghijklmnopq", b"\xFF\xFF"];
        for a in words {
            PageMut::of(&mut buffer).write(5, a);
            for b in words {
                assert_eq!(PageRef::of(&buffer).compare(5, a.len(), b), a.cmp(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_reader_may_ask_for_anything() {
        let buffer = PageBuffer::boxed();
        let view = PageRef::of(&buffer);
        let mut out = Vec::new();
        view.append_to(PAGE_SIZE - 3, 60_000, &mut out);
        assert_eq!(out.len(), 3);
        view.append_to(usize::MAX, 60_000, &mut out);
        assert_eq!(out.len(), 4);
        assert_eq!(view.u64(PAGE_SIZE - 1), 0);
        assert_eq!(view.u64(usize::MAX), 0);
    }
}
