//! Atomics and waiting, from the standard library and parking_lot, or from loom when the latch and the log
//! buffer are model-checked (`--cfg loom`).

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

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

/// Who sleeps at an address after [`unpark_one`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// One was woken; others sleep on.
    Some,
    /// One was woken, the last.
    None,
    /// Nobody slept.
    NobodyWoken,
}

/// Sleeps until [`unpark_one`] is called with the same address and it is this thread's turn, unless `still` says that
/// there is no reason to. Returns whether it slept.
///
/// `still` runs under the parking lot's lock for this address, so a waker that changes the state first and calls
/// `unpark_one` afterwards cannot be missed.
pub fn park(address: usize, still: impl FnOnce() -> bool) -> bool {
    #[cfg(loom)]
    return model::park(address, still);
    #[cfg(not(loom))]
    // SAFETY: the address is that of a latch or counter owned by this crate, so no foreign parker uses it as a
    // key; `still` neither panics nor parks; the other two callbacks do nothing.
    unsafe {
        parking_lot_core::park(address, still, || {}, |_, _| {}, parking_lot_core::DEFAULT_PARK_TOKEN, None)
            .is_unparked()
    }
}

/// Wakes the thread that has slept longest at `address`, and tells `then` under the parking lot's lock who is left.
pub fn unpark_one(address: usize, then: impl FnOnce(Left)) {
    #[cfg(loom)]
    model::unpark_one(address, then);
    #[cfg(not(loom))]
    {
        let then = |result: parking_lot_core::UnparkResult| {
            then(match (result.unparked_threads, result.have_more_threads) {
                (0, _) => Left::NobodyWoken,
                (_, false) => Left::None,
                (_, true) => Left::Some,
            });
            parking_lot_core::DEFAULT_UNPARK_TOKEN
        };
        // SAFETY: as for `park`: the key is an address of this crate's; `then` neither panics nor parks.
        unsafe {
            parking_lot_core::unpark_one(address, then);
        }
    }
}

/// A parking lot for loom: as strict as the real one, so that a lost wake-up is a deadlock, which loom reports.
#[cfg(loom)]
mod model {
    use loom::sync::{Condvar, Mutex};

    use super::Left;

    #[derive(Default)]
    struct Lot {
        /// Who sleeps where: an address and a ticket each.
        asleep: Mutex<(Vec<(usize, u64)>, u64)>,
        woken: Condvar,
    }

    loom::lazy_static! {
        static ref LOT: Lot = Lot::default();
    }

    pub fn park(address: usize, still: impl FnOnce() -> bool) -> bool {
        let mut lot = LOT.asleep.lock().expect("nobody panics under this lock");
        if !still() {
            return false;
        }
        let ticket = lot.1;
        lot.1 += 1;
        lot.0.push((address, ticket));
        while lot.0.contains(&(address, ticket)) {
            lot = LOT.woken.wait(lot).expect("nobody panics under this lock");
        }
        true
    }

    pub fn unpark_one(address: usize, then: impl FnOnce(Left)) {
        let mut lot = LOT.asleep.lock().expect("nobody panics under this lock");
        let first = lot.0.iter().position(|&(at, _)| at == address);
        if let Some(first) = first {
            lot.0.remove(first);
        }
        then(match first {
            None => Left::NobodyWoken,
            Some(_) if lot.0.iter().any(|&(at, _)| at == address) => Left::Some,
            Some(_) => Left::None,
        });
        LOT.woken.notify_all();
    }
}
