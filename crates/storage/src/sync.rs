//! Atomics and waiting, from the standard library and parking_lot, or from loom when the latch and the log
//! buffer are model-checked (`--cfg loom`).

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Tells the processor that this thread polls.
pub fn spin_hint() {
    #[cfg(not(loom))]
    std::hint::spin_loop();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Lets another thread that is ready run first.
pub fn give_way() {
    #[cfg(not(loom))]
    std::thread::yield_now();
    #[cfg(loom)]
    loom::thread::yield_now();
}

/// Sleeps until [`unpark_all`] is called with the same address, unless `still` says that there is no reason to.
///
/// `still` runs under the parking lot's lock for this address, so a waker that changes the state first and calls
/// `unpark_all` afterwards cannot be missed.
pub fn park(address: usize, still: impl FnOnce() -> bool) {
    #[cfg(loom)]
    model::park(address, still);
    #[cfg(not(loom))]
    // SAFETY: the address is that of a latch or counter owned by this crate, so no foreign parker uses it as a
    // key; `still` neither panics nor parks; the other two callbacks do nothing.
    unsafe {
        parking_lot_core::park(address, still, || {}, |_, _| {}, parking_lot_core::DEFAULT_PARK_TOKEN, None);
    }
}

/// Wakes every thread that sleeps at `address`.
pub fn unpark_all(address: usize) {
    #[cfg(loom)]
    model::unpark_all(address);
    #[cfg(not(loom))]
    // SAFETY: as for `park`: the key is an address of this crate's.
    unsafe {
        parking_lot_core::unpark_all(address, parking_lot_core::DEFAULT_UNPARK_TOKEN);
    }
}

/// A parking lot for loom: as strict as the real one, so that a lost wake-up is a deadlock, which loom reports.
#[cfg(loom)]
mod model {
    use loom::sync::{Condvar, Mutex};

    #[derive(Default)]
    struct Lot {
        /// Who sleeps where: an address and a ticket each.
        asleep: Mutex<(Vec<(usize, u64)>, u64)>,
        woken: Condvar,
    }

    loom::lazy_static! {
        static ref LOT: Lot = Lot::default();
    }

    pub fn park(address: usize, still: impl FnOnce() -> bool) {
        let mut lot = LOT.asleep.lock().expect("nobody panics under this lock");
        if !still() {
            return;
        }
        let ticket = lot.1;
        lot.1 += 1;
        lot.0.push((address, ticket));
        while lot.0.contains(&(address, ticket)) {
            lot = LOT.woken.wait(lot).expect("nobody panics under this lock");
        }
    }

    pub fn unpark_all(address: usize) {
        let mut lot = LOT.asleep.lock().expect("nobody panics under this lock");
        lot.0.retain(|&(at, _)| at != address);
        LOT.woken.notify_all();
    }
}
