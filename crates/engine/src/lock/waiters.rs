//! Those who wait, anywhere: for the deadlock detector, which looks at them, and sleeps while there are none.
//!
//! Above: `rows` and `table` wait through it. Below: `owner`, `seat`.
//!
//! # Invariants
//! 1. Who waits is in the register, from before it falls asleep, or gives its thread to others, until after it is back.
//! 2. The bell is rung for the first to wait, and then no more until the detector has gone back to sleep: who waits for a
//!    moment wakes nobody. The detector says that it is idle, then looks at the number; a waiter counts itself, then looks
//!    whether the detector is idle (all of it sequentially consistent, so one of them sees the other); and it rings
//!    under the mutex that the detector holds from before it said so until it sleeps.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use meseta_storage::WaitHook;
use parking_lot::{Condvar, Mutex};

use super::owner::{Owner, OwnerId};
use super::seat::{Ended, Ticket};
use super::wait::{WaitCounter, WaitKind};

const STRIPES: usize = 16;

type Stripe = CachePadded<Mutex<HashMap<OwnerId, Arc<Owner>>>>;

/// The register of those who wait.
pub(super) struct Waiters {
    stripes: [Stripe; STRIPES],
    number: AtomicUsize,
    next_ticket: AtomicU64,
    /// Whether the detector's thread is to stop.
    bell: Mutex<bool>,
    rung: Condvar,
    /// Whether the detector's thread wants to hear the bell.
    is_idle: AtomicBool,
    counters: [WaitCounter; WaitKind::ALL.len()],
    timeouts: AtomicU64,
    /// Called around waits.
    pub hook: WaitHook,
}

impl Waiters {
    pub fn new() -> Self {
        Self {
            stripes: Default::default(),
            number: AtomicUsize::new(0),
            next_ticket: AtomicU64::new(1),
            bell: Mutex::new(false),
            rung: Condvar::new(),
            is_idle: AtomicBool::new(false),
            counters: Default::default(),
            timeouts: AtomicU64::new(0),
            hook: WaitHook::default(),
        }
    }

    /// A ticket for a wait that begins now. On entry: the queue's mutex is held, so tickets ascend in each queue.
    pub fn ticket(&self) -> Ticket {
        Ticket(self.next_ticket.fetch_add(1, Ordering::Relaxed))
    }

    /// How many wait.
    pub fn number(&self) -> usize {
        self.number.load(Ordering::SeqCst)
    }

    pub fn counters(&self) -> &[WaitCounter; WaitKind::ALL.len()] {
        &self.counters
    }

    pub fn timeouts(&self) -> u64 {
        self.timeouts.load(Ordering::Relaxed)
    }

    /// Sleeps through the wait that `owner` has begun. The time counts as `kind`, here and at `also`.
    pub fn sleep(&self, owner: &Arc<Owner>, limit: Duration, kind: WaitKind, also: &WaitCounter) -> Ended {
        let since = Instant::now();
        let _hooked = self.hook.enter();
        self.enter(owner);
        // A limit beyond the end of time is none.
        let ended = owner.seat.sleep(since.checked_add(limit));
        self.leave(owner, ended, since, kind, also);
        ended
    }

    /// `owner` waits from now on.
    pub fn enter(&self, owner: &Arc<Owner>) {
        self.stripe(owner).lock().insert(owner.id(), Arc::clone(owner));
        self.number.fetch_add(1, Ordering::SeqCst);
        if self.is_idle.load(Ordering::SeqCst) {
            let _bell = self.bell.lock();
            self.rung.notify_one();
        }
    }

    /// It waits no more, and has `since` then. The time counts as `kind`, here and at `also`.
    pub fn leave(&self, owner: &Owner, ended: Ended, since: Instant, kind: WaitKind, also: &WaitCounter) {
        self.number.fetch_sub(1, Ordering::SeqCst);
        self.stripe(owner).lock().remove(&owner.id());
        let time = since.elapsed();
        self.counters[kind as usize].add(time);
        also.add(time);
        if ended == Ended::TimedOut {
            self.timeouts.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn stripe(&self, owner: &Owner) -> &Stripe {
        &self.stripes[owner.id().0 as usize % STRIPES]
    }

    /// All who wait, more or less.
    pub fn owners(&self) -> Vec<Arc<Owner>> {
        self.stripes.iter().flat_map(|stripe| stripe.lock().values().cloned().collect::<Vec<_>>()).collect()
    }

    /// Sleeps while nobody waits, and then for `interval`; false when told to stop.
    pub fn listen(&self, interval: Duration) -> bool {
        let mut stop = self.bell.lock();
        self.is_idle.store(true, Ordering::SeqCst);
        while !*stop && self.number() == 0 {
            self.rung.wait(&mut stop);
        }
        self.is_idle.store(false, Ordering::SeqCst);
        let until = Instant::now() + interval;
        while !*stop && !self.rung.wait_until(&mut stop, until).timed_out() {}
        !*stop
    }

    /// Tells the detector's thread to stop, or that it may begin.
    pub fn set_stop(&self, stop: bool) {
        *self.bell.lock() = stop;
        self.rung.notify_one();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::super::seat::Site;
    use super::*;

    const LONG: Duration = Duration::from_secs(600);

    /// One wait after another, each of which only the listener ends: were a bell missed, both would sleep for `LONG`.
    #[test]
    fn no_bell_is_missed() {
        let waiters = Waiters::new();
        let owner = Owner::new(OwnerId(1), 0);
        let also = WaitCounter::default();
        let waited = 2_000;
        thread::scope(|scope| {
            scope.spawn(|| {
                while waiters.listen(Duration::ZERO) {
                    for owner in waiters.owners() {
                        let ticket = owner.seat.look().waiting().map(|wait| wait.ticket);
                        ticket.map(|ticket| owner.seat.end(ticket, Ended::Granted));
                    }
                }
            });
            let granted = (0..waited).filter(|_| {
                owner.seat.begin(waiters.ticket(), Site::Nowhere, None)
                    && waiters.sleep(&owner, LONG, WaitKind::Record, &also) == Ended::Granted
            });
            let granted = granted.count() as u64;
            waiters.set_stop(true);
            assert_eq!(granted, waited);
        });
        assert_eq!(waiters.counters()[WaitKind::Record as usize].figures(WaitKind::Record).count, waited);
        assert_eq!((waiters.number(), waiters.timeouts()), (0, 0));
    }
}
