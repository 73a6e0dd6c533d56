//! The time, in milliseconds since some moment before the server started.
//!
//! Read once a command, so it is the kernel's coarse clock: some nanoseconds, no system call, a few milliseconds late.
//! Tests have a clock of their own that they set, and time-outs are then tested without waiting for them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use rustix::time::{ClockId, clock_gettime};

/// No time: later than any.
pub const NEVER: u64 = u64::MAX;

/// A source of milliseconds.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The system's.
    #[default]
    System,
    /// One that is set by hand.
    Manual(Arc<ManualClock>),
}

/// A clock that stands still until it is told to go on.
#[derive(Default)]
pub struct ManualClock {
    milliseconds: AtomicU64,
    listeners: Mutex<Vec<Box<dyn Fn() + Send>>>,
}

impl std::fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ManualClock").field("milliseconds", &self.milliseconds).finish_non_exhaustive()
    }
}

impl ManualClock {
    /// Goes on by so many milliseconds, and tells those who wait for a time.
    pub fn advance(&self, milliseconds: u64) {
        self.milliseconds.fetch_add(milliseconds, Ordering::SeqCst);
        self.listeners.lock().iter().for_each(|listener| listener());
    }
}

impl Clock {
    /// A clock that is set by hand, at one hour.
    pub fn manual() -> (Clock, Arc<ManualClock>) {
        let manual = Arc::new(ManualClock { milliseconds: AtomicU64::new(3_600_000), ..ManualClock::default() });
        (Clock::Manual(manual.clone()), manual)
    }

    /// The time now.
    #[inline]
    pub fn now(&self) -> u64 {
        match self {
            Clock::System => {
                let now = clock_gettime(ClockId::MonotonicCoarse);
                now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
            }
            Clock::Manual(manual) => manual.milliseconds.load(Ordering::SeqCst),
        }
    }

    /// Has `listener` called whenever the clock was set by hand.
    pub(crate) fn on_change(&self, listener: impl Fn() + Send + 'static) {
        if let Clock::Manual(manual) = self {
            manual.listeners.lock().push(Box::new(listener));
        }
    }
}
