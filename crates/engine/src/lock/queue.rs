//! Those who hold and those who wait, at one key or at one table: first come, first served.
//!
//! Above: `rows` keeps one for each key that somebody cares about, `table` one for each table, each under a mutex of
//! its own making. What conflicts with what is the [`Claim`]'s business.
//!
//! # Invariants
//! 1. An owner is at most once among the granted, and at most once among the waiting.
//! 2. Whoever waits, waits for somebody: for a granted claim of another owner, or for one who waits ahead.
//!    [`Queue::serve`] makes it so again after anything was taken away.
//! 3. Nobody is overtaken but by one whom it waits for anyhow: who holds S and wants X goes before those who wait for
//!    that S. Behind them it would wait for ever.
//!
//! # Failing
//! A wait that ends otherwise (time, deadlock, kill) is ended at its owner's seat, by whoever is first there. The queue
//! hears of it when the owner takes its waiting claim back, or when it is served and found to be gone.

use std::sync::Arc;

use smallvec::SmallVec;

use super::owner::Owner;
use super::seat::{Ended, Ticket};

/// What can be held and waited for. The default is no claim at all.
pub trait Claim: Copy + Default + std::fmt::Debug {
    /// Whether this one, wanted, has to wait for that one, which is held, or wanted by one who came before.
    fn waits_for(self, other: Self) -> bool;
    /// What of this is not covered by what is held.
    fn beyond(self, held: Self) -> Self;
    /// Both.
    fn joined(self, other: Self) -> Self;
    /// What remains of it once it is granted.
    fn lasting(self) -> Self;
    /// Whether it is no claim at all.
    fn is_nothing(self) -> bool;
    /// Whether it may go before those who wait for its owner anyhow, who holds that.
    fn may_overtake(self, held: Self) -> bool;
    /// The same after a deadlock was broken for it.
    fn favoured(self) -> Self;
}

/// A claim that is held.
pub struct Granted<C> {
    /// By whom.
    pub owner: Arc<Owner>,
    /// Which.
    pub claim: C,
}

/// A claim that is waited for.
pub struct Waiting<C> {
    /// By whom.
    pub owner: Arc<Owner>,
    /// Which; what the owner holds already is not part of it.
    pub claim: C,
    /// Which of its owner's waits this is.
    pub ticket: Ticket,
}

/// One of those for whom somebody has to wait.
pub struct Blocker<'q, C> {
    /// Who it is.
    pub owner: &'q Arc<Owner>,
    /// Its claim.
    pub claim: C,
    /// Whether it waits itself, ahead in the same queue.
    pub waits: bool,
}

/// Holders and waiters.
pub struct Queue<C> {
    granted: SmallVec<[Granted<C>; 1]>,
    waiting: Vec<Waiting<C>>,
}

impl<C> Default for Queue<C> {
    fn default() -> Self {
        Self { granted: SmallVec::new(), waiting: Vec::new() }
    }
}

impl<C: Claim> Queue<C> {
    /// Whether nobody holds and nobody waits.
    pub fn is_empty(&self) -> bool {
        self.granted.is_empty() && self.waiting.is_empty()
    }

    /// What is held, oldest first.
    pub fn granted(&self) -> &[Granted<C>] {
        &self.granted
    }

    /// What is waited for, first come first.
    pub fn waiting(&self) -> &[Waiting<C>] {
        &self.waiting
    }

    /// What `owner` holds here.
    pub fn held_by(&self, owner: &Owner) -> Option<C> {
        self.granted.iter().find(|granted| granted.owner.is(owner)).map(|granted| granted.claim)
    }

    /// Those for whom `owner` has to wait if it wants `claim` and `ahead` of the waiting came before it.
    pub fn blockers<'q>(
        &'q self,
        owner: &'q Owner,
        claim: C,
        ahead: usize,
    ) -> impl Iterator<Item = Blocker<'q, C>> + 'q {
        let overtaking = self.held_by(owner).filter(|&held| claim.may_overtake(held));
        let granted =
            self.granted.iter().filter(move |granted| !granted.owner.is(owner) && claim.waits_for(granted.claim));
        let waiting = self.waiting[..ahead].iter().filter(move |waiting| {
            !waiting.owner.is(owner)
                && claim.waits_for(waiting.claim)
                && !overtaking.is_some_and(|held| waiting.claim.waits_for(held))
        });
        granted
            .map(|granted| Blocker { owner: &granted.owner, claim: granted.claim, waits: false })
            .chain(waiting.map(|waiting| Blocker { owner: &waiting.owner, claim: waiting.claim, waits: true }))
    }

    /// Whether `owner` would get `claim` at once.
    pub fn is_free(&self, owner: &Owner, claim: C) -> bool {
        self.blockers(owner, claim, self.waiting.len()).next().is_none()
    }

    /// Gives `owner` the claim beside what it holds. True if it held nothing here and does now.
    pub fn grant(&mut self, owner: &Arc<Owner>, claim: C) -> bool {
        let claim = claim.lasting();
        if claim.is_nothing() {
            return false;
        }
        if let Some(granted) = self.granted.iter_mut().find(|granted| granted.owner.is(owner)) {
            granted.claim = granted.claim.joined(claim);
            return false;
        }
        self.granted.push(Granted { owner: Arc::clone(owner), claim });
        true
    }

    /// Puts `owner` at the end of the queue.
    pub fn wait(&mut self, owner: &Arc<Owner>, claim: C, ticket: Ticket) {
        debug_assert!(!self.waiting.iter().any(|waiting| waiting.owner.is(owner)), "an owner waits once");
        self.waiting.push(Waiting { owner: Arc::clone(owner), claim, ticket });
    }

    /// A deadlock has been broken for this waiter, if it still waits.
    pub fn favour(&mut self, ticket: Ticket) {
        if let Some(waiting) = self.waiting.iter_mut().find(|waiting| waiting.ticket == ticket) {
            waiting.claim = waiting.claim.favoured();
        }
    }

    /// Takes a waiter out whose wait has ended, and serves those behind it.
    pub fn withdraw(&mut self, ticket: Ticket) {
        if let Some(at) = self.waiting.iter().position(|waiting| waiting.ticket == ticket) {
            self.waiting.remove(at);
            self.serve();
        }
    }

    /// Takes away all that `owner` holds, and serves those who waited for it. False if it held nothing.
    pub fn release(&mut self, owner: &Owner) -> bool {
        self.change(owner, |_| C::default())
    }

    /// Changes what `owner` holds to something weaker, or to nothing, and serves those who waited for it. False if it
    /// held nothing.
    pub fn change(&mut self, owner: &Owner, weaker: impl FnOnce(C) -> C) -> bool {
        let Some(at) = self.granted.iter().position(|granted| granted.owner.is(owner)) else {
            return false;
        };
        let claim = weaker(self.granted[at].claim);
        if claim.is_nothing() {
            self.granted.remove(at);
        } else {
            self.granted[at].claim = claim;
        }
        self.serve();
        true
    }

    /// Grants, in order, what nobody stands in the way of any more. One pass is enough: who waits, waits for those who hold
    /// and those ahead, and a grant frees nobody.
    pub fn serve(&mut self) {
        let mut at = 0;
        while at < self.waiting.len() {
            let waiting = &self.waiting[at];
            if self.blockers(&waiting.owner, waiting.claim, at).next().is_some() {
                at += 1;
                continue;
            }
            let Waiting { owner, claim, ticket } = self.waiting.remove(at);
            // The owner finds its claim granted: it can look only after the mutex over this queue is free again.
            if owner.seat.end(ticket, Ended::Granted) {
                self.grant(&owner, claim);
            }
        }
    }

    /// Panics if an invariant does not hold. On entry: nobody is in the middle of a change.
    pub fn check(&self) {
        let is_once = |owner: &Arc<Owner>, all: &mut dyn Iterator<Item = &Arc<Owner>>| {
            assert_eq!(all.filter(|other| other.is(owner)).count(), 1, "1: {owner:?} is there more than once");
        };
        for Granted { owner, .. } in &self.granted {
            is_once(owner, &mut self.granted.iter().map(|granted| &granted.owner));
        }
        for (at, Waiting { owner, claim, ticket }) in self.waiting.iter().enumerate() {
            is_once(owner, &mut self.waiting.iter().map(|waiting| &waiting.owner));
            let is_blocked = self.blockers(owner, *claim, at).next().is_some();
            assert!(is_blocked, "2: {owner:?} waits for nobody, with {ticket:?} for {claim:?}");
            assert!(self.waiting[..at].iter().all(|ahead| ahead.ticket < *ticket), "3: {ticket:?} is out of order");
        }
    }

    /// Ends the queue: the waits of all who wait here end with `ended`, and those who hold are returned.
    pub fn dissolve(self, ended: Ended) -> SmallVec<[Granted<C>; 1]> {
        for waiting in self.waiting {
            waiting.owner.seat.end(waiting.ticket, ended);
        }
        self.granted
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::claim::{Mode, Reach, RowClaim};
    use super::super::owner::OwnerId;
    use super::super::seat::Site;
    use super::*;

    fn owner(id: u64) -> Arc<Owner> {
        Owner::new(OwnerId(id), 0)
    }

    fn record(mode: Mode) -> RowClaim {
        RowClaim::new(mode, Reach::Record, false)
    }

    /// As the lock table asks: granted at once or in the queue.
    fn ask(queue: &mut Queue<RowClaim>, owner: &Arc<Owner>, claim: RowClaim) -> bool {
        let missing = claim.beyond(queue.held_by(owner).unwrap_or_default());
        if queue.is_free(owner, missing) {
            queue.grant(owner, missing);
            return true;
        }
        let ticket = Ticket(owner.id().0);
        assert!(owner.seat.begin(ticket, Site::Nowhere, None), "nobody was killed");
        queue.wait(owner, missing, ticket);
        false
    }

    fn waiting(queue: &Queue<RowClaim>) -> Vec<u64> {
        queue.waiting().iter().map(|waiting| waiting.owner.id().0).collect()
    }

    #[test]
    fn first_come_first_served() {
        let mut queue = Queue::default();
        let owners: Vec<_> = (1..=5).map(owner).collect();
        let modes = [Mode::Shared, Mode::Exclusive, Mode::Shared, Mode::Shared, Mode::Exclusive];
        let granted: Vec<_> =
            owners.iter().zip(modes).map(|(owner, mode)| ask(&mut queue, owner, record(mode))).collect();
        assert_eq!(granted, [true, false, false, false, false], "a reader does not go before a writer who waits");
        queue.release(&owners[0]);
        assert_eq!(waiting(&queue), [3, 4, 5]);
        queue.release(&owners[1]);
        assert_eq!(waiting(&queue), [5], "readers who stand together are served together");
        queue.release(&owners[2]);
        assert_eq!(waiting(&queue), [5]);
        queue.release(&owners[3]);
        assert_eq!(waiting(&queue), [0; 0]);
        queue.release(&owners[4]);
        assert!(queue.is_empty());
    }

    #[test]
    fn an_upgrade_goes_before_those_who_wait_for_it_anyhow() {
        let mut queue = Queue::default();
        let [first, second, third] = [owner(1), owner(2), owner(3)];
        assert!(ask(&mut queue, &first, record(Mode::Shared)));
        assert!(ask(&mut queue, &third, record(Mode::Shared)));
        assert!(!ask(&mut queue, &second, record(Mode::Exclusive)));
        assert!(!ask(&mut queue, &first, record(Mode::Exclusive)), "the other reader is in its way");
        queue.release(&third);
        assert_eq!(waiting(&queue), [2]);
        assert_eq!(queue.held_by(&first), Some(record(Mode::Exclusive)));
    }

    #[test]
    fn a_gap_is_had_beside_all_and_keeps_insertions_out() {
        let mut queue = Queue::default();
        let [first, second, third] = [owner(1), owner(2), owner(3)];
        assert!(ask(&mut queue, &first, RowClaim::new(Mode::Exclusive, Reach::NextKey, false)));
        assert!(ask(&mut queue, &second, RowClaim::gap(Mode::Exclusive)));
        let insertion = RowClaim::new(Mode::Exclusive, Reach::InsertIntention, false);
        assert!(!ask(&mut queue, &first, insertion), "one's own gap does not open another's");
        assert!(!ask(&mut queue, &third, insertion));
        queue.release(&second);
        assert_eq!(waiting(&queue), [3]);
        queue.release(&first);
        assert!(queue.is_empty(), "nothing remains of an insert intention");
    }

    #[test]
    fn an_insertion_waits_for_one_who_waits_for_the_gap() {
        let mut queue = Queue::default();
        let [first, second] = [owner(1), owner(2)];
        assert!(ask(&mut queue, &first, record(Mode::Exclusive)));
        assert!(!ask(&mut queue, &second, RowClaim::new(Mode::Shared, Reach::NextKey, false)));
        assert!(!ask(&mut queue, &first, RowClaim::new(Mode::Exclusive, Reach::InsertIntention, false)));
    }

    #[test]
    fn one_who_is_gone_is_passed_over() {
        let mut queue = Queue::default();
        let [first, second, third] = [owner(1), owner(2), owner(3)];
        ask(&mut queue, &first, record(Mode::Exclusive));
        ask(&mut queue, &second, record(Mode::Exclusive));
        ask(&mut queue, &third, record(Mode::Exclusive));
        assert!(second.seat.end(Ticket(2), Ended::TimedOut));
        queue.release(&first);
        assert!(queue.held_by(&second).is_none());
        assert!(queue.held_by(&third).is_some());
    }
}
