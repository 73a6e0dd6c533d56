//! The commit table: what became of each transaction, one word each, so that whoever asks needs one load.
//!
//! Above: `time` asks, and tells when transactions begin and end. Below: words in reserved memory (`sync::Words`), and
//! `stragglers` for the few that have outstayed the table.
//!
//! ```text
//!   ids:   0 .................. frozen ............ tabled_from ....................... next ....
//!          visible to everybody        the same, but         a word each:               not begun
//!                                      for stragglers         taken       0
//!                                                             active      01 | id
//!   words: cleared up to `cleared` <= tabled_from:            committing  all ones
//!          zero, for the id one lap later                     committed   00 | time
//!                                                             rolled back 10 | time
//!                                                             moved       all ones but the last
//! ```
//!
//! The word of an id is at its remainder by the table's length, shuffled within 512: neighbours in time, which run on
//! different cores, are not neighbours in memory.
//!
//! *Frozen* is an id that ended, at a time at or below the horizon: every snapshot in use or to come is at or above
//! that time. What it committed all of them see. What it rolled back none of them can meet: its time was taken when
//! nothing in any tree named it any more, and a snapshot at or above that time was taken by somebody who saw the clock
//! after that. So whoever meets the id of a transaction that rolled back has a snapshot below its time, it is not
//! frozen, and the word says "rolled back": not visible, look at what was there before.
//!
//! A *straggler* is a writer that stays active while many begin after it, or one that a restart found undecided. It
//! leaves the table for a list, so that it does not keep the memory of all that came after it.
//!
//! # Invariants
//! 1. All ids below `frozen` are frozen. All ids below `tabled_from` are frozen or in the list of stragglers. Both only
//!    grow. (`freeze` moves them over words that say so; next to an id without a final word it stops.)
//! 2. A word is used by one id at a time: an id is given only below `cleared + len` ([`CommitTable::has_room`], and the
//!    assertion in `begin`), and words below `cleared` are zero or belong to the ids one lap later. `cleared` does not
//!    pass `tabled_from`.
//! 3. A word goes from zero to active to committing to committed; or from active to rolled back; or from active to
//!    moved. It leaves active by exchange, with the id as part of what is expected: of two who want that, the owner who
//!    ends it and `freeze` that moves it, one wins, and neither can touch the word of a later lap.
//! 4. While a transaction is in the list, the list alone knows about it: it is in there before `tabled_from` passes it
//!    and, for whoever reads "moved", as soon as the list's mutex can be had.
//!
//! # Memory order
//! *Commit.* The exchange to committing comes before the clock's `fetch_add` (release), whose value a snapshot read
//! (acquire), perhaps through later additions, which continue its release sequence. So a snapshot at or above the time
//! finds committing or the time, never active. Below the time, every answer of active, committing (then wait) and the
//! time means the same: not visible.
//!
//! *A lap later.* A reader loads the word (acquire) and `tabled_from` after it. `freeze` stores `tabled_from` (release),
//! zeroes words, stores `cleared` (release); `begin` of the id one lap later has loaded `cleared` (acquire) before it
//! stores, and all stores to words are releases. So who read a word of a later life, or the zero between two lives,
//! finds the id below `tabled_from`, and does not believe the word. (That the zeroes which the system makes are ordered
//! like stores is argued at `ZeroedArray::release`.)
//!
//! `frozen` orders nothing: the bytes of a version were read under its page's latch.
//!
//! # When things fail
//! Under one snapshot held while as many transactions begin as the table has words, `has_room` says no and no writer
//! can begin; writers that stay active do not cause that. The memory is eight bytes for each transaction since the
//! oldest snapshot in use.
//!
//! # Source and tests
//! A transaction status log such as PostgreSQL's `pg_xact`, with times instead of two bits (its CSN patches; Diaconu et
//! al., "Hekaton", SIGMOD 2013, has the step "committing"). Model-checked in `tests/loom_time.rs`, run hard in
//! `tests/bank.rs`.

use crossbeam_utils::CachePadded;

use super::stragglers::Stragglers;
use crate::ids::{CommitTime, TransactionId};
use crate::sync::{AtomicU64, Ordering, Words};

/// Words that a page of the system's holds: within so many the table shuffles, and it is cleared by multiples.
const SHUFFLED: u64 = if cfg!(loom) { 1 } else { 512 };
/// In so many pieces the table is cleared, if it is not small.
const BLOCKS: u64 = 1 << 15;
/// How many ids one call of `freeze` looks at, at most: it is part of somebody's commit.
const FREEZE_STEP: u64 = 1 << 16;

pub(super) const ACTIVE: u64 = 1 << 62;
pub(super) const ROLLED_BACK: u64 = 1 << 63;
const COMMITTING: u64 = u64::MAX;
const MOVED: u64 = u64::MAX - 1;
/// The bits that say which of them it is, if it is neither committing nor moved.
const KIND: u64 = ACTIVE | ROLLED_BACK;

/// What became of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// It has not ended (it may be prepared).
    Active,
    /// It committed then.
    Committed(CommitTime),
    /// All that it did was undone; that was over then.
    RolledBack(CommitTime),
    /// It ended so long ago that everybody sees what is left of it.
    Frozen,
}

/// The state that a word tells, if it is neither committing nor moved.
pub(super) fn state_of_word(word: u64) -> State {
    let time = CommitTime(word & !KIND);
    match word & KIND {
        ROLLED_BACK => State::RolledBack(time),
        0 if word != 0 => State::Committed(time),
        _ => State::Active,
    }
}

/// The table.
pub struct CommitTable {
    words: Words,
    len: u64,
    /// The table is cleared so many words at once: taking memory back interrupts every core.
    block: u64,
    /// A writer is a straggler when so many have begun after it.
    straggles_after: u64,
    edges: CachePadded<Edges>,
    stragglers: Stragglers,
}

/// See the picture. All are read often, and written together once in a while.
struct Edges {
    frozen: AtomicU64,
    tabled_from: AtomicU64,
    cleared: AtomicU64,
}

impl CommitTable {
    /// A table of `len` words, a power of two, for the ids from `next` on. All ids before are frozen, but for `undecided`.
    ///
    /// Errors: the system refuses that much address space.
    pub fn open(
        next: TransactionId,
        undecided: &[TransactionId],
        len: u64,
        straggles_after: u64,
    ) -> std::io::Result<Self> {
        let block = (len / BLOCKS).max(SHUFFLED);
        assert!(next > TransactionId::NOBODY && len.is_power_of_two() && len >= block && straggles_after < len);
        let stragglers = Stragglers::recovered(next, undecided)?;
        let edges = Edges {
            frozen: AtomicU64::new(stragglers.first().unwrap_or(next).0),
            tabled_from: AtomicU64::new(next.0),
            cleared: AtomicU64::new(next.0 / block * block),
        };
        let words = Words::reserve(usize::try_from(len).expect("addresses have 64 bits"))?;
        Ok(Self { words, len, block, straggles_after, edges: CachePadded::new(edges), stragglers })
    }

    fn word(&self, id: TransactionId) -> &AtomicU64 {
        let place = id.0 & (self.len - 1);
        let place = match SHUFFLED {
            1 => place,
            _ => (place & !(SHUFFLED - 1)) | (place & 63) << 3 | (place >> 6 & 7),
        };
        self.words.get(place as usize)
    }

    /// Every id below has ended, and everybody sees what is left of it.
    #[inline]
    pub fn frozen(&self) -> TransactionId {
        TransactionId(self.edges.frozen.load(Ordering::Relaxed))
    }

    /// From here on ids have words.
    fn tabled_from(&self) -> TransactionId {
        TransactionId(self.edges.tabled_from.load(Ordering::Acquire))
    }

    /// Whether the transactions up to `margin` ids after `next` would have words of their own.
    pub fn has_room(&self, next: TransactionId, margin: u64) -> bool {
        next.0 + margin < self.edges.cleared.load(Ordering::Acquire) + self.len
    }

    /// The transaction, whose id has just been taken, is active.
    pub fn begin(&self, id: TransactionId) {
        let cleared = self.edges.cleared.load(Ordering::Acquire);
        assert!(id.0 < cleared + self.len, "{id:?} has no word yet: the table is cleared up to {cleared}");
        let word = self.word(id);
        debug_assert_eq!(word.load(Ordering::Relaxed), 0, "the word of {id:?} is in use");
        word.store(ACTIVE | id.0, Ordering::Release);
    }

    /// The transaction committed when `tick` says.
    pub fn commit(&self, id: TransactionId, tick: impl FnOnce() -> CommitTime) -> CommitTime {
        let word = self.word(id);
        if word.compare_exchange(ACTIVE | id.0, COMMITTING, Ordering::Release, Ordering::Relaxed).is_err() {
            return self.stragglers.end(id, 0, tick);
        }
        let time = tick();
        word.store(time.0, Ordering::Release);
        time
    }

    /// Everything that the transaction did has been undone: nothing in any tree names it. `tick` says when that is.
    pub fn rolled_back(&self, id: TransactionId, tick: impl FnOnce() -> CommitTime) -> CommitTime {
        let time = tick();
        let word = self.word(id);
        let end = ROLLED_BACK | time.0;
        if word.compare_exchange(ACTIVE | id.0, end, Ordering::Release, Ordering::Relaxed).is_err() {
            return self.stragglers.end(id, ROLLED_BACK, || time);
        }
        time
    }

    /// What became of a transaction; `None` while it is committing, which takes a few nanoseconds.
    #[inline]
    pub fn state(&self, id: TransactionId) -> Option<State> {
        if id < self.frozen() {
            return Some(State::Frozen);
        }
        let word = self.word(id).load(Ordering::Acquire);
        // Only now: if the word is another's by now, this says so.
        if id < self.tabled_from() || word == MOVED {
            return Some(self.stragglers.state(id));
        }
        (word != COMMITTING).then(|| state_of_word(word))
    }

    /// Moves the edges as far as the horizon allows, and gives memory behind them back.
    ///
    /// On entry: every snapshot in use or to come is at `horizon` or above; ids before `next` are given; nobody else is
    /// in here.
    pub fn freeze(&self, horizon: CommitTime, next: TransactionId) {
        let from = self.edges.tabled_from.load(Ordering::Relaxed);
        let end = next.0.min(from + FREEZE_STEP);
        let mut to = from;
        while to < end && self.may_leave(TransactionId(to), horizon, next) {
            to += 1;
        }
        self.edges.tabled_from.store(to, Ordering::Release);
        let frozen = self.stragglers.settle(horizon).map_or(to, |first| first.0.min(to));
        self.edges.frozen.store(frozen, Ordering::Release);
        self.clear(to / self.block * self.block);
    }

    /// Whether an id is frozen, or in the list of stragglers by now.
    fn may_leave(&self, id: TransactionId, horizon: CommitTime, next: TransactionId) -> bool {
        let word = self.word(id);
        let active = ACTIVE | id.0;
        match word.load(Ordering::Acquire) {
            COMMITTING => false,
            found if found == active => {
                let moves = || word.compare_exchange(active, MOVED, Ordering::AcqRel, Ordering::Relaxed).is_ok();
                next.0 - id.0 > self.straggles_after && self.stragglers.take_over(id, moves)
            }
            found => match state_of_word(found) {
                State::Committed(time) | State::RolledBack(time) => time <= horizon,
                // Taken, but its owner has not come to say so.
                State::Active | State::Frozen => false,
            },
        }
    }

    /// Zeroes the words of ids below `to` (whole blocks), for the ids one lap later.
    fn clear(&self, to: u64) {
        let mut from = self.edges.cleared.load(Ordering::Relaxed);
        while from < to {
            let place = from & (self.len - 1);
            let count = (to - from).min(self.len - place);
            self.words.release(place as usize..(place + count) as usize);
            from += count;
            self.edges.cleared.store(from, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const LEN: u64 = 4096;

    fn table(next: u64, undecided: &[u64]) -> CommitTable {
        let undecided: Vec<_> = undecided.iter().map(|&id| TransactionId(id)).collect();
        CommitTable::open(TransactionId(next), &undecided, LEN, 1000).unwrap()
    }

    #[test]
    fn each_id_of_a_lap_has_a_word_of_its_own() {
        let table = table(1, &[]);
        let words: std::collections::HashSet<_> =
            (LEN..2 * LEN).map(|id| &raw const *table.word(TransactionId(id))).collect();
        assert_eq!(words.len() as u64, LEN);
    }

    #[test]
    fn a_word_serves_many_laps() {
        let table = table(1, &[]);
        for id in 1..20 * LEN {
            let (id, time) = (TransactionId(id), CommitTime(id + 1));
            while !table.has_room(id, 0) {
                table.freeze(CommitTime(id.0), id);
            }
            assert_eq!(table.state(id), Some(State::Active));
            table.begin(id);
            assert_eq!(table.state(id), Some(State::Active));
            if id.0 % 3 == 0 {
                table.rolled_back(id, || time);
                assert_eq!(table.state(id), Some(State::RolledBack(time)));
            } else {
                table.commit(id, || time);
                assert_eq!(table.state(id), Some(State::Committed(time)));
            }
            assert_eq!(table.state(TransactionId(id.0.saturating_sub(LEN))), Some(State::Frozen));
        }
    }

    #[test]
    fn the_horizon_and_an_active_writer_keep_ids_from_freezing() {
        let table = table(1, &[]);
        for id in 1..=10 {
            table.begin(TransactionId(id));
        }
        for id in [1, 2, 3, 5] {
            table.commit(TransactionId(id), || CommitTime(10 + id));
        }
        table.freeze(CommitTime(12), TransactionId(11));
        assert_eq!(table.frozen(), TransactionId(3));
        table.freeze(CommitTime(20), TransactionId(11));
        assert_eq!(table.frozen(), TransactionId(4), "4 is active");
        assert_eq!(table.state(TransactionId(5)), Some(State::Committed(CommitTime(15))));
    }

    #[test]
    fn a_straggler_keeps_nothing_but_itself() {
        let table = table(1, &[]);
        let next = 20 * LEN;
        table.begin(TransactionId(1));
        for id in 2..next {
            if !table.has_room(TransactionId(id), 0) {
                table.freeze(CommitTime(id), TransactionId(id));
            }
            table.begin(TransactionId(id));
            table.commit(TransactionId(id), || CommitTime(id));
        }
        assert_eq!(table.frozen(), TransactionId(1));
        assert_eq!(table.state(TransactionId(1)), Some(State::Active));
        assert_eq!(table.state(TransactionId(2)), Some(State::Frozen));
        assert_eq!(
            table.state(TransactionId(1 + (1 << 16))),
            Some(State::Frozen),
            "counted with it, and not in the list"
        );
        let end = CommitTime(next);
        assert_eq!(table.commit(TransactionId(1), || end), end);
        assert_eq!(table.state(TransactionId(1)), Some(State::Committed(end)));
        table.freeze(end, TransactionId(next));
        assert_eq!(table.frozen(), TransactionId(next));
        assert_eq!(table.state(TransactionId(1)), Some(State::Frozen));
    }

    #[test]
    fn what_a_restart_found_undecided_is_active_until_it_ends() {
        let table = table(1_000_000, &[700_000, 5]);
        let at = |id| table.state(TransactionId(id)).unwrap();
        assert_eq!(table.frozen(), TransactionId(5));
        assert_eq!([at(4), at(5), at(6), at(700_000)], [State::Frozen, State::Active, State::Frozen, State::Active]);
        table.rolled_back(TransactionId(5), || CommitTime(2));
        table.commit(TransactionId(700_000), || CommitTime(3));
        assert_eq!([at(5), at(700_000)], [State::RolledBack(CommitTime(2)), State::Committed(CommitTime(3))]);
        table.freeze(CommitTime(2), TransactionId(1_000_000));
        assert_eq!(table.frozen(), TransactionId(700_000));
        table.freeze(CommitTime(3), TransactionId(1_000_000));
        assert_eq!(table.frozen(), TransactionId(1_000_000));
    }

    #[test]
    #[should_panic(expected = "has ended before, or never began")]
    fn nobody_ends_twice() {
        let table = table(1, &[]);
        table.begin(TransactionId(1));
        table.commit(TransactionId(1), || CommitTime(2));
        table.commit(TransactionId(1), || CommitTime(3));
    }

    #[test]
    #[should_panic(expected = "has no word yet")]
    fn an_id_whose_word_is_in_use_is_not_begun() {
        table(1, &[]).begin(TransactionId(LEN));
    }
}
