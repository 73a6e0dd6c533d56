//! What a crash cut off: transactions that are to be undone, and whoever waits until they are.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::Remains;

/// How often those who wait look whether it is any use.
const CHECKED_EVERY: Duration = Duration::from_millis(100);

/// Transactions that a crash cut off, or whose session could not undo them, and that have not been undone.
#[derive(Default)]
pub struct CutOff {
    remains: Mutex<Vec<Remains>>,
    none_left: Condvar,
}

impl CutOff {
    /// One that is to be undone.
    pub fn add(&self, left: Remains) {
        self.remains.lock().push(left);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.remains.lock().len()
    }

    /// One of them. It stays until it is [`done`](CutOff::done).
    pub fn one(&self) -> Option<Remains> {
        self.remains.lock().last().cloned()
    }

    /// One is undone.
    pub fn done(&self, left: &Remains) {
        let mut remains = self.remains.lock();
        remains.retain(|other| other.transaction != left.transaction);
        if remains.is_empty() {
            self.none_left.notify_all();
        }
    }

    /// Waits until all are undone, or `check` fails.
    pub fn wait_until_none<E>(&self, check: impl Fn() -> Result<(), E>) -> Result<(), E> {
        let mut remains = self.remains.lock();
        while !remains.is_empty() {
            check()?;
            self.none_left.wait_for(&mut remains, CHECKED_EVERY);
        }
        Ok(())
    }
}
