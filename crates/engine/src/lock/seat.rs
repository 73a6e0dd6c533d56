//! Where an owner waits: it sits here once at a time, and whoever is first ends its wait.
//!
//! Above: `owner` has one; `queue` ends waits by granting, `detector` by choosing a victim, a kill by killing, and the
//! owner itself when its time is over. Below: a mutex and a condition variable.
//!
//! ```text
//!   free --begin(ticket)--> waiting --end(ticket, how), time over, kill--> ended --sleep returns, leave--> free
//! ```
//! Who sleeps has a thread in here. Who waits without one has left a waker, which is called when the wait ends; it comes
//! back then, or when its time is over, and [leaves](Seat::leave).
//!
//! # Invariants
//! 1. A wait ends once. Who comes second is told so (`false`), and then has ended nothing.
//! 2. A ticket is never used again, so that nobody ends a later wait than the one that was meant.
//! 3. Nothing is locked under a seat's mutex but other seats, in the order of ids, and the last deadlock: by the detector.
//!    A waker is called under it: it queues whom it wakes, and comes back to no lock of the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;
use std::time::Instant;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::index::Place;
use super::table::TableLock;

/// One wait of one owner. Tickets are drawn in the order in which waits begin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(pub u64);

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// The claim is granted.
    Granted,
    /// The key is no longer in the index, and nothing is granted.
    KeyGone,
    /// It took too long.
    TimedOut,
    /// The owner was chosen to break a deadlock.
    Deadlock,
    /// Somebody killed it.
    Killed,
}

/// Where the queue is in which an owner stands.
#[derive(Clone)]
pub enum Site {
    /// At a key of an index.
    Row(Arc<Place>),
    /// At a table.
    Table(Arc<TableLock>),
    /// In a test's own queue.
    #[cfg(test)]
    Nowhere,
}

/// A wait under way.
pub struct Wait {
    /// Which one.
    pub ticket: Ticket,
    /// Where.
    pub site: Site,
    /// Since when.
    pub since: Instant,
    ended: Option<Ended>,
    /// Of one who waits without a thread.
    waker: Option<Waker>,
}

/// What a seat knows.
#[derive(Default)]
pub struct Seated {
    killed: bool,
    wait: Option<Wait>,
}

/// An owner's seat.
#[derive(Default)]
pub struct Seat {
    /// How many waits have begun.
    begun: AtomicU64,
    seated: Mutex<Seated>,
    woken: Condvar,
}

impl Seat {
    /// Sits down, to [sleep](Seat::sleep), or to be called by the waker; false, and nothing happens, if the owner has been
    /// killed.
    #[must_use]
    pub fn begin(&self, ticket: Ticket, site: Site, waker: Option<Waker>) -> bool {
        let mut seated = self.seated.lock();
        debug_assert!(seated.wait.is_none(), "an owner waits for one thing at a time");
        if seated.killed {
            return false;
        }
        self.begun.fetch_add(1, Ordering::Relaxed);
        seated.wait = Some(Wait { ticket, site, since: Instant::now(), ended: None, waker });
        true
    }

    /// How many waits have begun here.
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Sleeps until the wait has ended, or until `deadline`.
    pub fn sleep(&self, deadline: Option<Instant>) -> Ended {
        let mut seated = self.seated.lock();
        loop {
            let wait = seated.wait.as_mut().expect("the wait has begun, and only its owner forgets it");
            if let Some(ended) = wait.ended {
                seated.wait = None;
                return ended;
            }
            match deadline {
                None => self.woken.wait(&mut seated),
                Some(deadline) => {
                    let over = self.woken.wait_until(&mut seated, deadline).timed_out();
                    if over && let Some(wait) = seated.wait.as_mut() {
                        wait.ended.get_or_insert(Ended::TimedOut);
                    }
                }
            }
        }
    }

    /// Gets up from a wait without a thread, if it has ended; or in any case, where the owner itself ends it `otherwise`.
    pub fn leave(&self, otherwise: Option<Ended>) -> Option<Ended> {
        let mut seated = self.seated.lock();
        let ended = seated.wait.as_ref()?.ended.or(otherwise)?;
        seated.wait = None;
        Some(ended)
    }

    /// Ends the wait, if it is this one and has not ended.
    pub fn end(&self, ticket: Ticket, how: Ended) -> bool {
        self.look().end(ticket, how)
    }

    /// Looks at the seat and keeps its wait from ending meanwhile.
    pub fn look(&self) -> Look<'_> {
        Look { seated: self.seated.lock(), woken: &self.woken }
    }

    /// Ends the wait under way, if any, and refuses others until [`Seat::pardon`].
    pub fn kill(&self) {
        let mut look = self.look();
        look.seated.killed = true;
        if let Some(ticket) = look.waiting().map(|wait| wait.ticket) {
            look.end(ticket, Ended::Killed);
        }
    }

    /// Whether the owner was killed, and not pardoned.
    pub fn is_killed(&self) -> bool {
        self.seated.lock().killed
    }

    /// Forgets that the owner was killed.
    pub fn pardon(&self) {
        self.seated.lock().killed = false;
    }
}

/// A seat that is being looked at.
pub struct Look<'s> {
    seated: MutexGuard<'s, Seated>,
    woken: &'s Condvar,
}

impl Look<'_> {
    /// The wait under way, unless it has ended.
    pub fn waiting(&self) -> Option<&Wait> {
        self.seated.wait.as_ref().filter(|wait| wait.ended.is_none())
    }

    /// Ends the wait, if it is this one and has not ended.
    pub fn end(&mut self, ticket: Ticket, how: Ended) -> bool {
        match &mut self.seated.wait {
            Some(wait) if wait.ticket == ticket && wait.ended.is_none() => {
                wait.ended = Some(how);
                match wait.waker.take() {
                    Some(waker) => waker.wake(),
                    None => _ = self.woken.notify_one(),
                }
                true
            }
            _ => false,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::tests::Called;
    use super::*;

    #[test]
    fn a_wait_ends_once_and_for_the_first_reason() {
        let seat = Seat::default();
        assert!(seat.begin(Ticket(1), Site::Nowhere, None));
        assert!(!seat.end(Ticket(0), Ended::Granted), "another wait's ticket");
        assert!(seat.end(Ticket(1), Ended::Deadlock));
        assert!(!seat.end(Ticket(1), Ended::Granted));
        assert!(seat.look().waiting().is_none());
        assert_eq!(seat.sleep(None), Ended::Deadlock);
        assert!(!seat.end(Ticket(1), Ended::Granted));
    }

    #[test]
    fn time_ends_a_wait() {
        let seat = Seat::default();
        assert!(seat.begin(Ticket(1), Site::Nowhere, None));
        assert_eq!(seat.sleep(Some(Instant::now())), Ended::TimedOut);
    }

    #[test]
    fn who_waits_without_a_thread_is_called_once_and_leaves() {
        let called = Arc::new(Called::default());
        let seat = Seat::default();
        assert!(seat.begin(Ticket(1), Site::Nowhere, Some(Arc::clone(&called).into())));
        assert_eq!((seat.leave(None), called.0.load(Ordering::Relaxed)), (None, 0));
        assert!(seat.end(Ticket(1), Ended::Granted));
        assert!(!seat.end(Ticket(1), Ended::Deadlock));
        assert_eq!((seat.leave(Some(Ended::TimedOut)), called.0.load(Ordering::Relaxed)), (Some(Ended::Granted), 1));
        assert_eq!(seat.leave(Some(Ended::TimedOut)), None, "nobody is there");
        assert!(seat.begin(Ticket(2), Site::Nowhere, Some(Arc::clone(&called).into())));
        assert_eq!(seat.leave(Some(Ended::TimedOut)), Some(Ended::TimedOut));
        assert!(!seat.end(Ticket(2), Ended::Granted));
        assert_eq!((called.0.load(Ordering::Relaxed), Arc::strong_count(&called)), (1, 1));
    }

    #[test]
    fn who_was_killed_does_not_wait_until_pardoned() {
        let seat = Seat::default();
        assert!(seat.begin(Ticket(1), Site::Nowhere, None));
        seat.kill();
        assert_eq!(seat.sleep(None), Ended::Killed);
        assert!(!seat.begin(Ticket(2), Site::Nowhere, None));
        seat.pardon();
        assert!(seat.begin(Ticket(2), Site::Nowhere, None));
    }
}
