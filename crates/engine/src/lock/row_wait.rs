//! One owner's wait for a row: asleep on its thread, or *suspended*, without one.
//!
//! Above: the engine, whose statements are suspended where they have done nothing yet, so that they can be executed again.
//! Below: `rows` (the queues), `waiters` (who waits), `seat` (how a wait ends).
//!
//! ```text
//!   lock(.., Suspend) --> Err(Suspended)        the owner stands in line, its thread goes away
//!        ..                                     granted, chosen by the detector, killed: the owner's waker is called
//!   resume                                      Waits(for so long) | Over(as if it had slept): then what was asked for
//! ```                                           is asked for again, and found held
//!
//! # Invariants
//! 1. An owner that is suspended is in the register of those who wait, as one that sleeps: deadlocks are found alike.
//! 2. Nobody's thread watches its time: whoever suspends comes back when that is over, if nothing has called it before.
//! 3. Before an owner waits again, or ends, a wait of which nobody wants to hear any more is given up: [`LockTable::give_up`].

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::claim::RowClaim;
use super::index::Place;
use super::owner::Owner;
use super::seat::{Ended, Ticket};
use super::wait::{WaitCounter, WaitKind};
use super::{LockError, LockTable, Outcome};

/// A wait for a row under way.
pub(super) struct RowWait {
    pub ticket: Ticket,
    pub place: Arc<Place>,
    /// What the owner gets if it is granted.
    pub missing: RowClaim,
    /// See [`Outcome::Granted`].
    pub fresh: bool,
    pub since: Instant,
    pub limit: Duration,
}

impl RowWait {
    /// As what it counts.
    pub fn kind(&self) -> WaitKind {
        match self.missing {
            RowClaim { insertion: Some(_), .. } => WaitKind::InsertIntention,
            RowClaim { gap: Some(_), .. } => WaitKind::NextKey,
            _ => WaitKind::Record,
        }
    }

    /// Where it counts, beside all.
    pub fn counter(&self) -> &WaitCounter {
        self.place.index.waits(self.kind())
    }

    /// How much of its time is left.
    fn left(&self) -> Duration {
        self.limit.saturating_sub(self.since.elapsed())
    }
}

/// How it is with an owner that may be suspended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Suspension {
    /// It is not.
    None,
    /// It still waits, and for so long at most.
    Waits(Duration),
    /// Its wait is over, and came to this.
    Over(Result<Outcome, LockError>),
}

impl LockTable {
    /// The wait goes on without a thread. On entry: the owner stands in line, and its seat has its waker.
    pub(super) fn suspend(&self, owner: &Arc<Owner>, wait: RowWait) -> Result<Outcome, LockError> {
        *owner.suspended.lock() = Some(Box::new(wait));
        self.waiters.enter(owner);
        Err(LockError::Suspended)
    }

    /// For how long the owner will wait at most, if it is suspended and its wait has not ended.
    pub fn suspended_for(&self, owner: &Owner) -> Option<Duration> {
        let left = owner.suspended.lock().as_ref()?.left();
        owner.seat.look().waiting().filter(|_| !left.is_zero()).map(|_| left)
    }

    /// Comes back to a wait without a thread. If that is over, the owner has what it waited for, or the error.
    pub fn resume(&self, owner: &Arc<Owner>) -> Suspension {
        let Some(left) = owner.suspended.lock().as_ref().map(|wait| wait.left()) else { return Suspension::None };
        let Some(ended) = owner.seat.leave(left.is_zero().then_some(Ended::TimedOut)) else {
            return Suspension::Waits(left);
        };
        let wait = owner.suspended.lock().take().expect("only the owner's thread takes it");
        Suspension::Over(self.left_seat(owner, *wait, ended))
    }

    /// Gives up a wait without a thread, if there is one: the statement is not executed again. What it was granted alone goes
    /// back.
    pub fn give_up(&self, owner: &Arc<Owner>) {
        let Some(wait) = owner.suspended.lock().take() else { return };
        let Some(ended) = owner.seat.leave(Some(Ended::Killed)) else { return };
        let place = Arc::clone(&wait.place);
        if let Ok(Outcome::Granted { fresh: true, .. }) = self.left_seat(owner, *wait, ended) {
            self.unlock(owner, &place.index, place.spot().key);
        }
    }

    fn left_seat(&self, owner: &Arc<Owner>, wait: RowWait, ended: Ended) -> Result<Outcome, LockError> {
        self.waiters.leave(owner, ended, wait.since, wait.kind(), wait.counter());
        self.row_wait_is_over(owner, wait, ended)
    }

    /// A wait has ended, and the owner knows how.
    pub(super) fn row_wait_is_over(
        &self,
        owner: &Arc<Owner>,
        wait: RowWait,
        ended: Ended,
    ) -> Result<Outcome, LockError> {
        let RowWait { ticket, place, fresh, .. } = wait;
        match ended {
            Ended::Granted => {
                // By the owner, not by whoever served it: that one may come too late. Twice does no harm, nor does an entry for
                // an insertion of which nothing remained.
                owner.rows.add(Arc::clone(&place));
                place.index.locked();
            }
            Ended::KeyGone => return Ok(Outcome::KeyGone),
            Ended::TimedOut | Ended::Deadlock | Ended::Killed => {
                let spot = place.spot();
                let mut shard = self.shard(spot.hash).lock();
                if let Some(row) = shard.find(&spot) {
                    row.queue.withdraw(ticket);
                    shard.tidy(&spot);
                }
            }
        }
        LockError::of(ended).map_or(Ok(Outcome::Granted { waited: true, fresh }), Err)
    }
}
