//! Tables' locks: a definition does not change under those who use it, and those who use it hardly notice.
//!
//! Above: the engine keeps a [`TableLock`] with each open table. A statement that reads or writes rows enters before it
//! looks at the definition, and stays until its transaction ends; DDL and LOCK TABLES ask for more. Below: `queue`.
//!
//! ```text
//!   open:     stripe 0   stripe 1   stripe 2 ...     those who read and write rows, each in its stripe
//!             a  b       c                           the queue has neither a strong claim nor one who waits for it
//!
//!             | somebody wants a strong one        ^ the last strong one has gone
//!             v                                    |
//!   closed:   (empty)    (empty)    (empty)          the queue has everybody, and all go there
//! ```
//!
//! Reading and writing rows never conflict with each other, so who does that needs to meet nobody: it notes itself in one
//! of many lists, each with its own mutex on its own cache lines. Which one follows from the thread, not from the session: so a
//! thread that serves many sessions finds in its cache what it has just written. Whoever wants something with which that conflicts (a
//! *strong* mode) closes the stripes one by one and moves their people into the queue, where everything is decided. So the
//! detector sees who stands in the way of a DDL statement by name, which counters would not tell.
//!
//! | wanted \ held or waited for | read | write | upgradable | read only | no write | exclusive |
//! |---|---|---|---|---|---|---|
//! | read (SELECT) | | | | | | waits |
//! | write (DML) | | | | waits | waits | waits |
//! | upgradable (ALTER begins) | | | waits | | waits | waits |
//! | read only (LOCK TABLES READ) | | waits | | | | waits |
//! | no write (ALTER copies) | | waits | waits | | waits | waits |
//! | exclusive (DDL, LOCK TABLES WRITE) | waits | waits | waits | waits | waits | waits |
//!
//! # Invariants
//! 1. While a strong claim is in the queue, granted or waiting, every stripe is closed and empty. Both change under the
//!    queue's mutex, and a stripe under its own as well.
//! 2. Served in order: a statement that comes after a waiting DDL statement waits for it, so DDL is not starved; nor is
//!    DML, since each DDL statement waits behind those who came before.
//! 3. An owner's claim is in its stripe, in the queue, or in parts in both; its [`Hold`] says what it may rely on.
//!
//! # Sources
//! MySQL's metadata locks (sql/mdl.cc: `MDL_object_lock`), whose matrix this is, less the modes that we do not need
//! (shared, high priority and low priority ones; SHARED_NO_READ_WRITE is exclusive here), and with order instead of
//! priorities. The stripes are PostgreSQL's fast-path locks (src/backend/storage/lmgr/README).

use std::sync::Arc;

use crossbeam_utils::CachePadded;
use parking_lot::{Mutex, MutexGuard};

use super::owner::Owner;
use super::queue::{Claim, Queue};
use super::seat::{Ended, Site};
use super::wait::{WaitCounter, WaitFigures, WaitKind};
use super::{LockError, LockTable, OnConflict, Outcome};
use crate::ids::TableId;

/// What one does with a table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TableMode {
    /// Reads rows.
    Read = 0,
    /// Changes rows.
    Write = 1,
    /// Reads, and may want more later: one at a time.
    Upgradable = 2,
    /// Keeps others from changing rows.
    ReadOnly = 3,
    /// Keeps others from changing rows, and may want more later.
    NoWrite = 4,
    /// Keeps others out.
    Exclusive = 5,
}

impl TableMode {
    /// Every mode, in the order of their numbers.
    pub const ALL: [TableMode; 6] = [
        TableMode::Read,
        TableMode::Write,
        TableMode::Upgradable,
        TableMode::ReadOnly,
        TableMode::NoWrite,
        TableMode::Exclusive,
    ];

    /// The bits of the modes that conflict with each mode. Symmetric.
    const CONFLICTS: [u8; 6] = [0b10_0000, 0b11_1000, 0b11_0100, 0b10_0010, 0b11_0110, 0b11_1111];

    fn conflicts(self) -> u8 {
        Self::CONFLICTS[self as usize]
    }

    /// Whether those who read or write rows may have to wait for it, or it for them.
    fn is_strong(self) -> bool {
        self.conflicts() & 0b11 != 0
    }

    /// Whether it keeps away at least those whom the other keeps away.
    fn covers(self, other: Self) -> bool {
        other.conflicts() & !self.conflicts() == 0
    }
}

/// Modes of one owner at one table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TableClaim(u8);

impl TableClaim {
    /// One mode.
    pub fn of(mode: TableMode) -> Self {
        Self(1 << mode as u8)
    }

    /// The modes.
    pub fn modes(self) -> impl Iterator<Item = TableMode> {
        TableMode::ALL.into_iter().filter(move |&mode| self.0 & Self::of(mode).0 != 0)
    }

    fn is_strong(self) -> bool {
        self.modes().any(TableMode::is_strong)
    }
}

impl Claim for TableClaim {
    fn waits_for(self, other: Self) -> bool {
        self.modes().any(|mode| mode.conflicts() & other.0 != 0)
    }

    fn beyond(self, held: Self) -> Self {
        let missing = self.modes().filter(|&mode| !held.modes().any(|held| held.covers(mode)));
        Self(missing.map(|mode| Self::of(mode).0).sum())
    }

    fn joined(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn lasting(self) -> Self {
        self
    }

    fn is_nothing(self) -> bool {
        self.0 == 0
    }

    fn may_overtake(self, _: Self) -> bool {
        true
    }

    fn favoured(self) -> Self {
        self
    }
}

/// How many tables an owner remembers that it has given back.
const REMEMBERED: usize = 8;

/// What an owner knows of a table that it uses, or used lately: a session uses the same few all the time, and the count
/// of references to a table is on a line that all sessions would write.
pub struct Hold {
    table: Arc<TableLock>,
    /// Nothing, if it is only remembered.
    claim: TableClaim,
    /// In which stripe it is, if in any,
    stripe: usize,
    /// and where in there.
    place: usize,
    /// Whether it is known to be in the queue. If not, it may be there instead of in its stripe, which was closed.
    in_queue: bool,
    /// Whether it outlasts the transaction: LOCK TABLES.
    is_kept: bool,
}

impl Hold {
    /// What is known of a table among these.
    fn of<'h>(tables: &'h mut Vec<Hold>, table: &Arc<TableLock>) -> &'h mut Hold {
        let known = tables.iter().position(|hold| Arc::ptr_eq(&hold.table, table));
        let at = known.unwrap_or_else(|| {
            let (table, claim) = (Arc::clone(table), TableClaim::default());
            tables.push(Hold { table, claim, stripe: 0, place: 0, in_queue: false, is_kept: false });
            tables.len() - 1
        });
        &mut tables[at]
    }

    /// It is more now.
    fn add(&mut self, claim: TableClaim, in_queue: bool) {
        self.claim = self.claim.joined(claim);
        self.in_queue |= in_queue;
    }

    fn give_back(&mut self, owner: &Owner) {
        let claim = std::mem::take(&mut self.claim);
        let in_queue = std::mem::take(&mut self.in_queue);
        self.is_kept = false;
        if !claim.is_nothing() {
            self.table.give_back(owner, (self.stripe, self.place), in_queue);
        }
    }
}

impl Owner {
    /// It has more of a table now: in its queue.
    fn note(&self, table: &Arc<TableLock>, claim: TableClaim) {
        Hold::of(&mut self.tables.lock(), table).add(claim, true);
    }
}

#[derive(Default)]
struct Stripe {
    closed: bool,
    /// Those inside, each at a place of its own: whoever leaves need not be looked for among hundreds.
    inside: Vec<Option<(Arc<Owner>, TableClaim)>>,
    /// Places where nobody is.
    free: Vec<usize>,
}

impl Stripe {
    /// Those inside.
    fn owners(&self) -> impl Iterator<Item = &(Arc<Owner>, TableClaim)> {
        self.inside.iter().flatten()
    }

    /// What an owner has, if it is at this place.
    fn at(&mut self, place: usize, owner: &Owner) -> Option<&mut TableClaim> {
        let inside = self.inside.get_mut(place)?.as_mut();
        inside.filter(|(other, _)| other.is(owner)).map(|(_, claim)| claim)
    }

    /// One more is inside. Returns its place.
    fn enter(&mut self, owner: &Arc<Owner>, claim: TableClaim) -> usize {
        let place = self.free.pop().unwrap_or_else(|| {
            self.inside.push(None);
            self.inside.len() - 1
        });
        self.inside[place] = Some((Arc::clone(owner), claim));
        place
    }

    /// Nobody is inside any more; returns who was.
    fn empty(&mut self) -> impl Iterator<Item = (Arc<Owner>, TableClaim)> {
        self.free.clear();
        self.inside.drain(..).flatten()
    }
}

/// A table's queue.
#[derive(Default)]
pub(super) struct Inside {
    pub queue: Queue<TableClaim>,
    closed: bool,
}

/// One table's locks.
pub struct TableLock {
    id: TableId,
    stripes: Box<[CachePadded<Mutex<Stripe>>]>,
    inside: Mutex<Inside>,
    waits: WaitCounter,
}

impl TableLock {
    /// Nobody uses the table. As many stripes as cores.
    pub fn new(id: TableId, stripes: usize) -> Arc<Self> {
        assert!(stripes > 0, "a table is entered through stripes");
        Arc::new(Self {
            id,
            stripes: (0..stripes).map(|_| CachePadded::default()).collect(),
            inside: Mutex::default(),
            waits: WaitCounter::default(),
        })
    }

    /// Which table.
    pub fn id(&self) -> TableId {
        self.id
    }

    /// How often and how long somebody waited for it.
    pub fn wait_figures(&self) -> WaitFigures {
        self.waits.figures(WaitKind::Table)
    }

    /// Panics if the first invariant, or one of the queue's, does not hold.
    pub fn check(&self) {
        let inside = self.inside.lock();
        inside.queue.check();
        let (granted, waiting) = (inside.queue.granted().iter(), inside.queue.waiting().iter());
        let is_strong = granted.map(|granted| granted.claim).chain(waiting.map(|waiting| waiting.claim));
        let is_strong = is_strong.into_iter().any(TableClaim::is_strong);
        for stripe in &self.stripes {
            let stripe = stripe.lock();
            assert_eq!(stripe.closed, inside.closed, "1: a stripe goes its own way");
            assert!(
                !is_strong || stripe.closed && stripe.owners().next().is_none(),
                "1: a strong claim, and a stripe in use"
            );
        }
    }

    /// Looks at the queue.
    pub(super) fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock()
    }

    /// Those in the stripes, for reports.
    pub(super) fn in_stripes(&self) -> Vec<(Arc<Owner>, TableClaim)> {
        self.stripes.iter().flat_map(|stripe| stripe.lock().owners().cloned().collect::<Vec<_>>()).collect()
    }

    fn stripe(&self, number: usize) -> &Mutex<Stripe> {
        &self.stripes[number % self.stripes.len()]
    }

    /// Enters through the hold's stripe, unless that is closed. Says whether the owner was in there already.
    fn try_enter(&self, owner: &Arc<Owner>, claim: TableClaim, hold: &mut Hold) -> Option<bool> {
        let mut stripe = self.stripe(hold.stripe).lock();
        if stripe.closed {
            return None;
        }
        if let Some(held) = stripe.at(hold.place, owner) {
            *held = held.joined(claim);
            return Some(true);
        }
        hold.place = stripe.enter(owner, claim);
        Some(false)
    }

    /// Leaves a stripe; false if the owner is not at this place of it.
    fn leave(&self, owner: &Owner, (stripe, place): (usize, usize)) -> bool {
        let mut stripe = self.stripe(stripe).lock();
        let is_there = stripe.at(place, owner).is_some();
        if is_there {
            stripe.inside[place] = None;
            stripe.free.push(place);
        }
        is_there
    }

    /// Brings everybody into the queue. On entry: `inside` is this table's.
    fn close(&self, inside: &mut Inside) {
        if inside.closed {
            return;
        }
        inside.closed = true;
        for stripe in &self.stripes {
            let mut stripe = stripe.lock();
            stripe.closed = true;
            for (owner, claim) in stripe.empty() {
                inside.queue.grant(&owner, claim);
            }
        }
    }

    /// Opens the stripes if nothing strong is left. On entry: `inside` is this table's.
    fn open_if_weak(&self, inside: &mut Inside) {
        let is_strong = |claim: TableClaim| claim.is_strong();
        let queue = &inside.queue;
        if inside.closed
            && !queue.granted().iter().any(|granted| is_strong(granted.claim))
            && !queue.waiting().iter().any(|waiting| is_strong(waiting.claim))
        {
            inside.closed = false;
            for stripe in &self.stripes {
                stripe.lock().closed = false;
            }
        }
    }

    fn give_back(&self, owner: &Owner, at: (usize, usize), in_queue: bool) {
        if !self.leave(owner, at) || in_queue {
            // Not in the stripe: then it was closed, and the owner moved, all under the queue's mutex.
            let mut inside = self.inside.lock();
            inside.queue.release(owner);
            self.open_if_weak(&mut inside);
        }
    }
}

impl LockTable {
    /// Asks for a table. It stays the owner's until [`LockTable::release_table`] or [`LockTable::release_tables`].
    pub fn lock_table(
        &self,
        owner: &Arc<Owner>,
        table: &Arc<TableLock>,
        mode: TableMode,
        on_conflict: OnConflict,
    ) -> Result<Outcome, LockError> {
        let claim = TableClaim::of(mode);
        let mut tables = owner.tables.lock();
        let hold = Hold::of(&mut tables, table);
        let fresh = hold.claim.is_nothing();
        if fresh {
            hold.stripe = owner.stripe();
        } else if claim.beyond(hold.claim).is_nothing() {
            return Ok(Outcome::Granted { waited: false, fresh });
        }
        if !mode.is_strong()
            && mode != TableMode::Upgradable
            && let Some(was_inside) = table.try_enter(owner, claim, hold)
        {
            // One who was here before and is not in the stripe has been brought into the queue, and stays there.
            hold.add(claim, !fresh && !was_inside);
            return Ok(Outcome::Granted { waited: false, fresh });
        }
        drop(tables);
        let mut inside = table.inside.lock();
        if mode.is_strong() {
            table.close(&mut inside);
        }
        let missing = claim.beyond(inside.queue.held_by(owner).unwrap_or_default());
        if missing.is_nothing() || inside.queue.is_free(owner, missing) {
            inside.queue.grant(owner, missing);
            drop(inside);
            owner.note(table, claim);
            return Ok(Outcome::Granted { waited: false, fresh });
        }
        let limit = match on_conflict {
            // Tables are waited for by threads.
            OnConflict::Wait(limit) | OnConflict::Suspend(limit) => limit,
            OnConflict::Fail | OnConflict::Skip => {
                table.open_if_weak(&mut inside);
                return if on_conflict == OnConflict::Skip { Ok(Outcome::Skipped) } else { Err(LockError::WouldWait) };
            }
        };
        let ticket = self.waiters.ticket();
        if !owner.seat.begin(ticket, Site::Table(Arc::clone(table)), None) {
            table.open_if_weak(&mut inside);
            return Err(LockError::Killed);
        }
        inside.queue.wait(owner, missing, ticket);
        drop(inside);
        let ended = self.waiters.sleep(owner, limit, WaitKind::Table, &table.waits);
        if let Some(error) = LockError::of(ended) {
            let mut inside = table.inside.lock();
            inside.queue.withdraw(ticket);
            table.open_if_weak(&mut inside);
            return Err(error);
        }
        debug_assert_eq!(ended, Ended::Granted, "a table has no keys");
        owner.note(table, claim);
        Ok(Outcome::Granted { waited: true, fresh })
    }

    /// Gives back all that the owner has of a table, but for `mode`, if that is given: after a change of the definition,
    /// from exclusive to what the rest of the statement needs. On entry: `mode` is covered by what it has.
    pub fn release_table(&self, owner: &Arc<Owner>, table: &Arc<TableLock>, but_for: Option<TableMode>) {
        let mut tables = owner.tables.lock();
        let Some(hold) = tables.iter_mut().find(|hold| Arc::ptr_eq(&hold.table, table)) else { return };
        if hold.is_kept {
            return;
        }
        let Some(mode) = but_for else { return hold.give_back(owner) };
        let claim = TableClaim::of(mode);
        debug_assert!(claim.beyond(hold.claim).is_nothing(), "one keeps what one has");
        let mut inside = table.inside.lock();
        // Into the queue first, so that nobody comes in between.
        inside.queue.grant(owner, claim);
        table.leave(owner, (hold.stripe, hold.place));
        inside.queue.change(owner, |_| claim);
        table.open_if_weak(&mut inside);
        hold.claim = claim;
        hold.in_queue = true;
    }

    /// Gives back all the owner's tables but those that it keeps.
    pub fn release_tables(&self, owner: &Owner) {
        let mut tables = owner.tables.lock();
        tables.iter_mut().filter(|hold| !hold.is_kept).for_each(|hold| hold.give_back(owner));
        let mut forgotten = tables.len().saturating_sub(REMEMBERED);
        tables.retain(|hold| {
            let goes = forgotten > 0 && !hold.is_kept;
            forgotten -= usize::from(goes);
            !goes
        });
    }

    /// Whether the owner has a table that it gives back when its transaction ends.
    pub fn has_tables(&self, owner: &Owner) -> bool {
        owner.tables.lock().iter().any(|hold| !hold.is_kept && !hold.claim.is_nothing())
    }

    /// From here on the owner keeps all the tables that it has, as it has them, beyond the end of its transaction: until
    /// [`LockTable::release_kept_tables`]. What it asks of them later is given back with them.
    pub fn keep_tables(&self, owner: &Owner) {
        let mut tables = owner.tables.lock();
        tables.iter_mut().for_each(|hold| hold.is_kept = !hold.claim.is_nothing());
    }

    /// The tables that the owner keeps are as others again: they go with the transaction.
    pub fn release_kept_tables(&self, owner: &Owner) {
        let mut tables = owner.tables.lock();
        tables.iter_mut().for_each(|hold| hold.is_kept = false);
    }
}
