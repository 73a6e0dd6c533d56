//! The stragglers: the few transactions that are older than the commit table and not frozen.
//!
//! Above: `commit_table` puts into this list who stays active while very many others begin, and asks for ids that it has
//! no words for any more. After a restart all that the log left undecided are in here: the prepared, which may stay for
//! weeks, and those whose changes are still being undone.
//!
//! Most that are asked for are not in here: with one straggler left, each row that was written after it began is asked
//! for. They find a zero in the *filter*, which counts the stragglers by the last sixteen bits of their ids, and do not
//! touch the mutex.
//!
//! # Invariants
//! 1. The filter counts at least the transactions in the list. It counts one more before anybody can read that the
//!    commit table has moved it, and one less only after it left.
//! 2. Who is asked for and not in the list is frozen: it was in it before the commit table stopped to answer for it, and
//!    leaves it when it is frozen.
//! 3. The time of one that commits is taken under the mutex. So if a snapshot is at or above it, whoever uses that
//!    snapshot gets the mutex after that, and finds the time. (One that was rolled back is not visible, ended or not.)
//! 4. There are at most two for each session, beside what a restart found. Of three, the first would have ended above
//!    the horizon before the second began, and so would, later still, most of the many that began between the second
//!    and the third; but the commit table does not pass who ended above the horizon.

use crate::ids::{CommitTime, TransactionId};
use crate::sync::{AtomicU64, Mutex, Ordering, Words};
use crate::time::commit_table::{ACTIVE, State, state_of_word};

const FILTER_LEN: usize = if cfg!(loom) { 2 } else { 1 << 16 };

/// The list.
pub struct Stragglers {
    filter: Words,
    /// Each with the word that the table would have. Ids ascend.
    list: Mutex<Vec<(TransactionId, u64)>>,
}

impl Stragglers {
    /// Those that a restart found undecided, all before `next`, in any order.
    ///
    /// Errors: the system refuses some address space.
    pub fn recovered(next: TransactionId, undecided: &[TransactionId]) -> std::io::Result<Self> {
        let mut list: Vec<_> = undecided.iter().map(|&id| (id, ACTIVE | id.0)).collect();
        list.sort_unstable();
        list.dedup();
        assert!(list.iter().all(|&(id, _)| TransactionId::NOBODY < id && id < next), "undecided, but never begun");
        let stragglers = Self { filter: Words::reserve(FILTER_LEN)?, list: Mutex::new(Vec::new()) };
        list.iter().for_each(|&(id, _)| _ = stragglers.count(id).fetch_add(1, Ordering::Relaxed));
        *stragglers.list.lock() = list;
        Ok(stragglers)
    }

    fn count(&self, id: TransactionId) -> &AtomicU64 {
        self.filter.get(id.0 as usize & (FILTER_LEN - 1))
    }

    /// The oldest.
    pub fn first(&self) -> Option<TransactionId> {
        self.list.lock().first().map(|&(id, _)| id)
    }

    /// What became of a transaction that the table does not answer for.
    pub fn state(&self, id: TransactionId) -> State {
        // Relaxed: the table's answer came first (acquire), so invariant 1 holds for what is found here.
        if self.count(id).load(Ordering::Relaxed) == 0 {
            return State::Frozen;
        }
        let list = self.list.lock();
        match list.binary_search_by_key(&id, |&(id, _)| id) {
            Ok(place) => state_of_word(list[place].1),
            Err(_) => State::Frozen,
        }
    }

    /// Takes a transaction over if `moves` succeeds in taking it from the table. It is younger than all in here.
    pub fn take_over(&self, id: TransactionId, moves: impl FnOnce() -> bool) -> bool {
        let mut list = self.list.lock();
        debug_assert!(list.last().is_none_or(|&(last, _)| last < id));
        self.count(id).fetch_add(1, Ordering::Relaxed);
        let moved = moves();
        if moved {
            list.push((id, ACTIVE | id.0));
        } else {
            self.count(id).fetch_sub(1, Ordering::Relaxed);
        }
        moved
    }

    /// A transaction ends when `tick` says; `mark` is what its word says besides.
    pub fn end(&self, id: TransactionId, mark: u64, tick: impl FnOnce() -> CommitTime) -> CommitTime {
        let mut list = self.list.lock();
        let place = list.binary_search_by_key(&id, |&(id, _)| id).ok();
        let place = place.filter(|&place| list[place].1 == ACTIVE | id.0);
        let Some(place) = place else { panic!("{id:?} has ended before, or never began") };
        let time = tick();
        list[place].1 = mark | time.0;
        time
    }

    /// Forgets those that ended at or below the horizon. Returns the oldest that is left.
    pub fn settle(&self, horizon: CommitTime) -> Option<TransactionId> {
        let mut list = self.list.lock();
        list.retain(|&(id, word)| {
            let settled = match state_of_word(word) {
                State::Committed(time) | State::RolledBack(time) => time <= horizon,
                State::Active | State::Frozen => false,
            };
            if settled {
                self.count(id).fetch_sub(1, Ordering::Relaxed);
            }
            !settled
        });
        list.first().map(|&(id, _)| id)
    }
}
