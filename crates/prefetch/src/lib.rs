//! Has the processor bring memory near that will soon be used, without waiting for it.
//!
//! ```text
//!   turn of A                     turn of B                     turn of C
//!   prefetch B ... run A          prefetch C ... run B          ...
//!            \___ B's lines come ___^
//! ```
//!
//! A server of a thousand sessions finds hardly anything of the next one in the processor's caches: each line that its turn
//! touches first is a look into memory, of a hundred nanoseconds, and they come one after the other where one names the
//! next. What is known early is asked for early, and all of it at once.
//!
//! # Invariants
//! 1. A prefetch is a hint: it changes nothing that can be seen but the time, and may name any address, mapped or not.
//!
//! Nothing happens where there is no such instruction, and under Miri.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// Bytes that come at once.
pub const LINE_LEN: usize = 64;
/// Bytes that [`beginning`] asks for, at most.
pub const BEGINNING_LEN: usize = 2 * LINE_LEN;

/// Asks for the line of an address, which need not be one.
#[inline(always)]
pub fn line(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: invariant 1: the instruction faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: as above.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(readonly, nostack, preserves_flags));
    }
    #[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
    let _ = address;
}

/// Asks for `len` bytes from an address on, which need not be one.
#[inline(always)]
pub fn bytes(address: *const u8, len: usize) {
    for at in (0..len).step_by(LINE_LEN) {
        line(address.wrapping_add(at));
    }
}

/// Asks for all of a value, but not for what it refers to.
#[inline(always)]
pub fn value<T: ?Sized>(value: &T) {
    bytes(std::ptr::from_ref(value).cast(), size_of_val(value));
}

/// Asks for the first lines of a list: few values are all there.
#[inline(always)]
pub fn beginning<T>(values: &[T]) {
    bytes(values.as_ptr().cast(), size_of_val(values).min(BEGINNING_LEN));
}

/// Where a value is, or was: to be asked for without whatever lock keeps the value, and never to be looked at.
#[derive(Debug, Default)]
pub struct Whereabouts {
    address: AtomicPtr<u8>,
    len: AtomicUsize,
}

impl Whereabouts {
    /// It is here now.
    pub fn note<T: ?Sized>(&self, value: &T) {
        self.address.store(std::ptr::from_ref(value).cast::<u8>().cast_mut(), Ordering::Relaxed);
        self.len.store(size_of_val(value), Ordering::Relaxed);
    }

    /// Asks for it.
    #[inline]
    pub fn prefetch(&self) {
        bytes(self.address.load(Ordering::Relaxed), self.len.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_gone_may_be_asked_for() {
        let place = Whereabouts::default();
        place.prefetch();
        place.note(&*vec![1_u64; 1 << 16]);
        place.prefetch();
    }

    #[test]
    fn any_address_will_do() {
        bytes(std::ptr::null(), 1000);
        bytes(usize::MAX as *const u8, 1000);
        value("text");
        value::<[u64]>(&[]);
        beginning::<u64>(&[]);
        beginning(&[1_u64; 100]);
    }
}
