//! Atomics, mutexes and words in reserved memory; loom's where ids and snapshots are model-checked (`--cfg loom`).

#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(loom)]
pub use model::{Mutex, Words};
#[cfg(not(loom))]
pub use parking_lot::Mutex;
#[cfg(not(loom))]
pub use std::sync::atomic::{AtomicU64, Ordering, fence};

/// Words that are zero until somebody stores to them, and cost nothing until then.
#[cfg(not(loom))]
pub type Words = meseta_storage::buffer::memory::ZeroedArray<AtomicU64>;

/// How often a waiter looks again before it gives its core away. What it waits for takes a few nanoseconds; but with
/// more threads than cores whoever has to do it may not be running, and then polling only delays it.
const SPINS: u32 = if cfg!(loom) { 0 } else { 64 };

/// One who waits for something that is about to happen.
#[derive(Default)]
pub struct Waiter {
    looked: u32,
}

impl Waiter {
    /// Before looking again: an instant, or the core for whoever needs it.
    pub fn wait(&mut self) {
        if self.looked < SPINS {
            self.looked += 1;
            std::hint::spin_loop();
            return;
        }
        #[cfg(not(loom))]
        std::thread::yield_now();
        #[cfg(loom)]
        loom::thread::yield_now();
    }
}

/// Stand-ins of the same shape that the model checker sees into.
#[cfg(loom)]
mod model {
    use std::ops::Range;

    use loom::sync::MutexGuard;

    use super::{AtomicU64, Ordering};

    /// Given back is what was set to zero, after all that the thread did before.
    pub struct Words(Box<[AtomicU64]>);

    impl Words {
        pub fn reserve(len: usize) -> std::io::Result<Self> {
            Ok(Self((0..len).map(|_| AtomicU64::new(0)).collect()))
        }

        pub fn get(&self, index: usize) -> &AtomicU64 {
            &self.0[index]
        }

        pub fn len(&self) -> usize {
            self.0.len()
        }

        pub fn release(&self, range: Range<usize>) {
            self.0[range].iter().for_each(|word| word.store(0, Ordering::Release));
        }
    }

    pub struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("nobody panics under this lock")
        }
    }
}
