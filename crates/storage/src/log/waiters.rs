//! Group commit: those who wait until the log has been written or synced up to a position.
//!
//! One sync answers everybody whose position it covers: sleeping threads are woken, callbacks are called. Nobody
//! holds a thread who has given a callback, and that is how a server replies to commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;
use parking_lot::{Condvar, Mutex};

use crate::error::Result;
use crate::ids::Lsn;
use crate::rank::{Rank, RankedMutex};

/// Called once when a position has been reached, or will never be.
pub type Callback = Box<dyn FnOnce(Result<()>) + Send>;

enum Waiter {
    Thread(Arc<Seat>),
    Callback(Callback),
}

/// Where one thread sleeps.
#[derive(Default)]
struct Seat {
    outcome: Mutex<Option<Result<()>>>,
    woken: Condvar,
}

/// A position that only grows, and those who wait for it.
pub struct Waiters {
    reached: CachePadded<AtomicU64>,
    queue: RankedMutex<Vec<(Lsn, Waiter)>>,
}

impl Waiters {
    /// Starts at a position.
    pub fn new(reached: Lsn) -> Self {
        Self {
            reached: CachePadded::new(AtomicU64::new(reached.0)),
            queue: RankedMutex::new(Rank::LogWaiters, Vec::new()),
        }
    }

    /// How far it is.
    pub fn reached(&self) -> Lsn {
        Lsn(self.reached.load(Ordering::Acquire))
    }

    /// Registers `callback` for `lsn`; calls it at once if that has been reached.
    pub fn call(&self, lsn: Lsn, callback: Callback) {
        let mut queue = self.queue.lock();
        if self.reached() >= lsn {
            drop(queue);
            callback(Ok(()));
        } else {
            queue.push((lsn, Waiter::Callback(callback)));
        }
    }

    /// Takes a place in the queue for `lsn`; `None` if that has been reached. The caller then makes sure that
    /// somebody works towards it, and sleeps in [`Place::wait`].
    pub fn enter(&self, lsn: Lsn) -> Option<Place> {
        let mut queue = self.queue.lock();
        if self.reached() >= lsn {
            return None;
        }
        let seat = Arc::new(Seat::default());
        queue.push((lsn, Waiter::Thread(Arc::clone(&seat))));
        Some(Place(seat))
    }

    /// The position has been reached: answers all who waited for it. Returns how many that were.
    pub fn advance(&self, lsn: Lsn) -> usize {
        let ready: Vec<_> = {
            let mut queue = self.queue.lock();
            // Under the queue's lock, so that whoever finds it not reached is in the queue before we look.
            self.reached.fetch_max(lsn.0, Ordering::AcqRel);
            queue.extract_if(.., |(wanted, _)| *wanted <= lsn).collect()
        };
        let count = ready.len();
        for (_, waiter) in ready {
            waiter.answer(Ok(()));
        }
        count
    }

    /// The position will not move any more: everybody gets the error.
    pub fn fail(&self, error: &crate::error::StorageError) {
        let all = std::mem::take(&mut *self.queue.lock());
        for (_, waiter) in all {
            waiter.answer(Err(error.clone()));
        }
    }

    /// Whether anybody waits.
    pub fn is_empty(&self) -> bool {
        self.queue.lock().is_empty()
    }
}

impl Waiter {
    fn answer(self, outcome: Result<()>) {
        match self {
            Waiter::Thread(seat) => {
                *seat.outcome.lock() = Some(outcome);
                seat.woken.notify_one();
            }
            Waiter::Callback(callback) => callback(outcome),
        }
    }
}

/// A thread's place in the queue.
pub struct Place(Arc<Seat>);

impl Place {
    /// Sleeps until the position has been reached, or will never be.
    pub fn wait(self) -> Result<()> {
        let mut outcome = self.0.outcome.lock();
        loop {
            if let Some(outcome) = outcome.take() {
                return outcome;
            }
            self.0.woken.wait(&mut outcome);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::health::Health;

    #[test]
    fn one_advance_answers_everybody_below_it() {
        let waiters = Waiters::new(Lsn(0));
        let (sender, answers) = std::sync::mpsc::channel();
        for lsn in [10, 20, 30] {
            let sender = sender.clone();
            waiters.call(Lsn(lsn), Box::new(move |outcome| sender.send((lsn, outcome.is_ok())).unwrap()));
        }
        assert_eq!(waiters.advance(Lsn(20)), 2);
        assert_eq!(answers.try_iter().collect::<Vec<_>>(), [(10, true), (20, true)]);
        waiters.fail(&Health::default().stop("test"));
        assert_eq!(answers.try_iter().collect::<Vec<_>>(), [(30, false)]);
        assert!(waiters.enter(Lsn(20)).is_none());
        let place = waiters.enter(Lsn(25)).unwrap();
        assert_eq!(waiters.advance(Lsn(25)), 1);
        place.wait().unwrap();
    }
}
