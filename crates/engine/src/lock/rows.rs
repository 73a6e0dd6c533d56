//! The lock table's rows: asking, waiting, giving back.
//!
//! Above: the engine, and `gaps`, `detector` and `report`, which look into the shards too. Below: `queue`, `waiters`.
//!
//! # Invariants
//! 1. A queue is in a shard exactly while it has an entry, but for moments under the shard's mutex.
//! 2. What an owner is granted is in its ledger before it goes on: it adds that itself, after it has been woken, too.
//! 3. Under a shard's mutex one takes: another shard's (in ascending order; `gaps`), spans', a ledger's, a seat's. Nothing waits
//!    for anything else under it, so all that does not wait may be called while a leaf is latched.

use std::sync::Arc;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::claim::{Mode, Reach, RowClaim};
use super::index::{IndexLocks, Key, Place, Spot};
use super::owner::Owner;
use super::queue::{Claim, Queue};
use super::row_wait::RowWait;
use super::seat::{Site, Ticket};
use super::{LockError, LockTable, OnConflict, Outcome};
use crate::known_hash::KnownMap;

/// What is asked for, at which key.
#[derive(Clone, Copy)]
pub struct Request<'r> {
    /// Of this index.
    pub index: &'r Arc<IndexLocks>,
    /// At this key, or at the end.
    pub key: Key<'r>,
    /// To share, or alone. An insert intention has no mode: it is taken as exclusive.
    pub mode: Mode,
    /// The row, the gap below it, both, or leave to insert.
    pub reach: Reach,
}

/// One key's queue.
pub(super) struct RowQueue {
    pub place: Arc<Place>,
    pub queue: Queue<RowClaim>,
    /// Whether somebody has held the gap or waited for it since this queue exists.
    has_gap: bool,
}

impl RowQueue {
    /// Gives `owner` a claim, and tells its index and its ledger. On entry: `owner` asks itself, or has an entry in a
    /// queue under a mutex that is held.
    pub fn grant(&mut self, owner: &Arc<Owner>, claim: RowClaim) {
        self.count_gap(claim);
        if self.queue.grant(owner, claim) {
            owner.rows.add(Arc::clone(&self.place));
        }
    }

    fn wait(&mut self, owner: &Arc<Owner>, claim: RowClaim, ticket: Ticket) {
        self.count_gap(claim);
        self.queue.wait(owner, claim, ticket);
    }

    /// The queue is in no shard any more.
    pub fn uncount(&self) {
        self.place.index.uncount(self.has_gap);
    }

    fn count_gap(&mut self, claim: RowClaim) {
        if claim.gap.is_some() && !self.has_gap {
            self.has_gap = true;
            self.place.index.count_gap();
        }
    }
}

/// The queues of some keys, by the keys' hashes.
#[derive(Default)]
pub(super) struct Shard {
    queues: KnownMap<u64, SmallVec<[Box<RowQueue>; 1]>>,
}

impl Shard {
    pub fn find(&mut self, spot: &Spot<'_>) -> Option<&mut RowQueue> {
        let alike = self.queues.get_mut(&spot.hash)?;
        alike.iter_mut().map(|row| &mut **row).find(|row| row.place.is(spot))
    }

    pub fn find_or_make(&mut self, spot: &Spot<'_>) -> &mut RowQueue {
        let alike = self.queues.entry(spot.hash).or_default();
        let at = alike.iter().position(|row| row.place.is(spot)).unwrap_or_else(|| {
            spot.index.count_entry();
            alike.push(Box::new(RowQueue { place: Place::new(spot), queue: Queue::default(), has_gap: false }));
            alike.len() - 1
        });
        &mut alike[at]
    }

    /// Takes a queue out. The caller [uncounts](RowQueue::uncount) it when whatever was in it is elsewhere.
    pub fn take(&mut self, spot: &Spot<'_>) -> Option<RowQueue> {
        let alike = self.queues.get_mut(&spot.hash)?;
        let at = alike.iter().position(|row| row.place.is(spot))?;
        let row = alike.swap_remove(at);
        if alike.is_empty() {
            self.queues.remove(&spot.hash);
        }
        Some(*row)
    }

    /// Drops a queue if nobody is in it any more.
    pub fn tidy(&mut self, spot: &Spot<'_>) {
        if self.find(spot).is_some_and(|row| row.queue.is_empty())
            && let Some(row) = self.take(spot)
        {
            row.uncount();
        }
    }

    /// Panics if the first invariant, or one of a queue's, does not hold.
    pub fn check(&self) {
        for row in self.rows() {
            assert!(!row.queue.is_empty(), "1: an empty queue stayed");
            row.queue.check();
            let gap = |claim: RowClaim| claim.gap.is_some();
            let any_gap = row.queue.granted().iter().any(|granted| gap(granted.claim))
                || row.queue.waiting().iter().any(|waiting| gap(waiting.claim));
            assert!(row.has_gap || !any_gap, "a gap was not counted");
            assert!(!row.place.index.is_quiet() && (!any_gap || !row.place.index.has_no_gaps()), "index: 1");
        }
    }

    pub fn rows(&self) -> impl Iterator<Item = &RowQueue> {
        self.queues.values().flatten().map(|row| &**row)
    }
}

impl LockTable {
    /// Asks for a lock. If that is granted, the caller looks at the leaf (once more): see [`IndexLocks`]. If it waited,
    /// the row may have changed; if a row is found to have an active writer, [`LockTable::wait_for_writer`] is next.
    ///
    /// On entry, if it may wait: nothing is latched.
    pub fn lock(
        &self,
        owner: &Arc<Owner>,
        request: &Request<'_>,
        on_conflict: OnConflict,
    ) -> Result<Outcome, LockError> {
        self.ask(owner, request, on_conflict, |_, _| ())
    }

    /// As [`LockTable::lock`], for a row whose header names `writer`, which was active when the caller looked and is not
    /// `owner`. Afterwards the caller looks at the row again in any case.
    ///
    /// The writer's implicit lock is made an explicit one, for which the owner then waits as for any other. What the
    /// owner was granted on this row by asking before looking is taken back: it overlooked the writer.
    ///
    /// `is_still_active` says whether what the header names has not ended; it runs under mutexes and may only look.
    pub fn wait_for_writer(
        &self,
        owner: &Arc<Owner>,
        request: &Request<'_>,
        writer: &Arc<Owner>,
        is_still_active: impl FnOnce() -> bool,
        on_conflict: OnConflict,
    ) -> Result<Outcome, LockError> {
        debug_assert!(!owner.is(writer), "nobody waits for itself");
        debug_assert!(request.key != Key::Supremum, "nobody writes the end of an index");
        self.ask(owner, request, on_conflict, |shard, spot| {
            let row = shard.find_or_make(spot);
            if row.queue.held_by(writer).is_none_or(|held| held.record != Some(Mode::Exclusive)) {
                // The ledger first: its answer says whether there is anything to grant. See there.
                if writer.rows.add_while(Arc::clone(&row.place), is_still_active) {
                    row.queue.grant(writer, RowClaim::writer());
                    // It may stand in this line itself, for what it has now.
                    row.queue.serve();
                } else {
                    return shard.tidy(spot);
                }
            }
            row.queue.change(owner, |held| RowClaim { record: None, ..held });
        })
    }

    /// Whether the request would have to wait. Nothing is locked: this is the question of a writer whose lock will be its
    /// id in the row's header, or of an inserter. On entry: the leaf is latched exclusively until the write is done.
    pub fn would_wait(&self, owner: &Owner, request: &Request<'_>) -> bool {
        let insertion = request.reach == Reach::InsertIntention;
        if if insertion { request.index.has_no_gaps() } else { request.index.is_quiet() } {
            return false;
        }
        let claim = RowClaim::new(request.mode, request.reach, request.key == Key::Supremum);
        if request.index.has_spans() {
            let standing = request.index.standing(owner, request.key, claim);
            if standing.is_blocked || standing.is_all {
                return standing.is_blocked;
            }
        }
        let spot = self.spot(request.index, request.key);
        let mut shard = self.shard(spot.hash).lock();
        shard.find(&spot).is_some_and(|row| {
            // (Where a span of its own gives it more, nobody has anything that is in the way.)
            let missing = claim.beyond(row.queue.held_by(owner).unwrap_or_default());
            !row.queue.is_free(owner, missing)
        })
    }

    /// Gives the lock on a row back before the owner ends, and keeps one on the gap. For a row that did not match
    /// (READ COMMITTED), and only if the lock was [fresh](Outcome::Granted).
    pub fn unlock(&self, owner: &Owner, index: &Arc<IndexLocks>, key: Key<'_>) {
        let spot = self.spot(index, key);
        let mut shard = self.shard(spot.hash).lock();
        let Some(row) = shard.find(&spot) else { return };
        row.queue.change(owner, |held| RowClaim { record: None, ..held });
        if row.queue.held_by(owner).is_none() {
            owner.rows.forget(|place| Arc::ptr_eq(place, &row.place));
        }
        shard.tidy(&spot);
    }

    /// Gives back all that the owner has on rows and gaps. On entry: it is not active any more, for all to see.
    ///
    /// A look or two if it has nothing. Tables are given back by [`LockTable::release_tables`].
    pub fn release_all(&self, owner: &Owner) {
        // Then nobody adds to its ledger any more because of them.
        self.release_spans(owner);
        loop {
            let places = owner.rows.take();
            if places.is_empty() {
                return;
            }
            for place in places {
                let spot = place.spot();
                let mut shard = self.shard(spot.hash).lock();
                if let Some(row) = shard.find(&spot)
                    && row.queue.release(owner)
                {
                    shard.tidy(&spot);
                }
            }
        }
    }

    /// `prepare` may change the queue before the owner asks.
    fn ask(
        &self,
        owner: &Arc<Owner>,
        request: &Request<'_>,
        on_conflict: OnConflict,
        prepare: impl FnOnce(&mut Shard, &Spot<'_>),
    ) -> Result<Outcome, LockError> {
        let spot = self.spot(request.index, request.key);
        let claim = RowClaim::new(request.mode, request.reach, request.key == Key::Supremum);
        let mut shard = self.shard(spot.hash).lock();
        prepare(&mut shard, &spot);
        let row = match shard.find(&spot) {
            Some(row) => row,
            None if claim.lasting().is_nothing() && !request.index.has_spans() => {
                return Ok(Outcome::Granted { waited: false, fresh: false });
            }
            None => shard.find_or_make(&spot),
        };
        let mut held = row.queue.held_by(owner).unwrap_or_default();
        request.index.locked();
        if request.index.has_spans() {
            let by_spans = match on_conflict {
                OnConflict::Wait(_) | OnConflict::Suspend(_) => request.index.settle(owner, claim, row),
                OnConflict::Fail | OnConflict::Skip => {
                    let standing = request.index.standing(owner, request.key, claim);
                    if standing.is_blocked {
                        shard.tidy(&spot);
                        return match on_conflict {
                            OnConflict::Fail => Err(LockError::WouldWait),
                            _ => Ok(Outcome::Skipped),
                        };
                    }
                    standing.held
                }
            };
            held = held.joined(by_spans);
        }
        let missing = claim.beyond(held);
        let fresh = missing.record.is_some() && held.record.is_none();
        if missing.is_nothing() {
            shard.tidy(&spot);
            return Ok(Outcome::Granted { waited: false, fresh });
        }
        // Who does not wait takes the gap beside one who is favoured, as anybody may in InnoDB.
        let in_question = match on_conflict {
            OnConflict::Fail | OnConflict::Skip => RowClaim { gap: None, ..missing },
            OnConflict::Wait(_) | OnConflict::Suspend(_) => missing,
        };
        if row.queue.is_free(owner, in_question) {
            row.grant(owner, missing);
            if missing.lasting().is_nothing() {
                shard.tidy(&spot);
            }
            return Ok(Outcome::Granted { waited: false, fresh });
        }
        let (limit, waker) = match on_conflict {
            OnConflict::Fail => return Err(LockError::WouldWait),
            OnConflict::Skip => return Ok(Outcome::Skipped),
            OnConflict::Wait(limit) => (limit, None),
            OnConflict::Suspend(limit) => (limit, owner.waker()),
        };
        let ticket = self.waiters.ticket();
        let wait = RowWait { ticket, place: Arc::clone(&row.place), missing, fresh, since: Instant::now(), limit };
        if !owner.seat.begin(ticket, Site::Row(Arc::clone(&wait.place)), waker.cloned()) {
            return Err(LockError::Killed);
        }
        row.wait(owner, missing, ticket);
        drop(shard);
        if waker.is_some() {
            return self.suspend(owner, wait);
        }
        let ended = self.waiters.sleep(owner, limit, wait.kind(), wait.counter());
        self.row_wait_is_over(owner, wait, ended)
    }

    pub(super) fn spot<'k>(&self, index: &'k Arc<IndexLocks>, key: Key<'k>) -> Spot<'k> {
        Spot::new(&self.hasher, index, key)
    }
}

impl OnConflict {
    /// The same, without the thread where it waits.
    pub fn suspending(self) -> Self {
        match self {
            Self::Wait(limit) => Self::Suspend(limit),
            other => other,
        }
    }

    /// Waits for so many seconds, as `innodb_lock_wait_timeout` says it.
    pub fn wait_seconds(seconds: u64) -> Self {
        Self::Wait(Duration::from_secs(seconds))
    }
}
