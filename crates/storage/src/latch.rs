//! The state word: who may read, change, load or evict a page, and whether it changed meanwhile.
//!
//! One 64-bit word a page. Above: `buffer` keeps an array of them beside the pages. Below: `sync`.
//!
//! ```text
//!   63      56 55       54     53                              0
//!  +----------+---------+-------+-------------------------------+
//!  |  state   | waiters | woken |            version            |
//!  +----------+---------+-------+-------------------------------+
//!
//!   0 evicted --begin_load--> loading --finish_load--> unlocked
//!   ^                            |                      |  ^
//!   +--------abort_load----------+              mark    v  | touched
//!   ^                                                  marked
//!   +--finish_evict-- exclusive <--try_evict-------------+
//!
//!   unlocked/marked <--> shared(1..=248)        unlocked/marked <--> exclusive
//! ```
//!
//! A word of zero means *evicted*, so that fresh zeroed memory is an array of evicted pages.
//!
//! # Invariants
//! 1. The version grows whenever an exclusive latch is given back and whenever a page is evicted, before anybody
//!    else can see the page; so whoever finds the version unchanged saw one consistent page.
//! 2. At most one thread is in exclusive or loading; no thread is while others are in shared.
//! 3. A thread that sleeps has set the waiters bit first, and the bit is still there when it falls asleep. It goes with
//!    the last sleeper.
//! 4. While somebody sleeps and nobody is on the way from sleep (woken), somebody holds the latch who wakes a sleeper
//!    when he leaves: whoever leaves exclusive, loading or the last shared wakes one, unless one is on the way; and who
//!    is woken wakes the next one if the latch is free, and else clears the bit. So sleepers leave one by one, as fast
//!    as the latch is free, and not all at once to find it held.
//!
//! # Memory order
//! A reader loads the word (acquire), reads the page with relaxed loads, fences (acquire), and loads the word
//! again. A writer sets exclusive (acquire), fences (release), stores to the page, and releases with a new
//! version (release). If the reader saw any of the writer's bytes, the two fences make it see the writer's state
//! word as well, and it restarts. This is the seqlock of Boehm, "Can seqlocks get along with programming
//! language memory models?" (MSPC 2012).
//!
//! # Source and tests
//! Leis et al., "Virtual-Memory Assisted Buffer Management" (SIGMOD 2023). We differ: sleepers instead of endless
//! spinning, a state of its own for pages being loaded, and evicted as zero. One sleeper on the way at a time is the
//! rule of Go's `sync.Mutex`. Model-checked in `tests/loom.rs`.

use crate::sync::{AtomicU64, Left, Ordering, fence, give_way, park, spin_hint, unpark_one};

const STATE_SHIFT: u32 = 56;
const WAITERS: u64 = 1 << 55;
const WOKEN: u64 = 1 << 54;
const VERSION: u64 = WOKEN - 1;

const EVICTED: u64 = 0;
const UNLOCKED: u64 = 1;
const MARKED: u64 = 2;
const SHARED_FIRST: u64 = 3;
const SHARED_LAST: u64 = 250;
const LOADING: u64 = 254;
const EXCLUSIVE: u64 = 255;

/// How often a waiter looks again before it gives way: some two microseconds. Latches are held for well under one, but
/// with more threads than cores the holder may not be running, and then polling only delays it.
const SPINS: u32 = if cfg!(loom) { 0 } else { 100 };

/// How often a waiter gives its core away before it sleeps: to give way costs one switch, to sleep and be woken two and
/// two system calls. But with a thousand threads each turn is one through all that are ready. (Sequential inserts of 8
/// and of 1024 threads on 2 cores, of what 2 do: 0.9 and 0.93 with 1, 0.96 and 0.72 with 4, 0.9 and 0.62 with 16.)
const YIELDS: u32 = if cfg!(loom) { 0 } else { 1 };

fn state_of(word: u64) -> u64 {
    word >> STATE_SHIFT
}

fn with_state(word: u64, state: u64) -> u64 {
    (word & !(0xFF << STATE_SHIFT)) | (state << STATE_SHIFT)
}

/// Whether somebody sleeps and nobody is on the way from there.
fn wakes(word: u64) -> bool {
    word & (WAITERS | WOKEN) == WAITERS
}

/// A page's version at the moment when an optimistic read began.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Version(u64);

/// Why a latch could not be had at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Blocked {
    /// The page is not in memory.
    Evicted,
    /// Another thread is reading it into memory.
    Loading,
    /// Another thread holds it.
    Held,
}

/// One page's state word.
#[repr(transparent)]
pub struct Latch(AtomicU64);

impl Latch {
    /// A latch in the evicted state.
    #[cfg(any(test, loom))]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    fn blocked(word: u64) -> Blocked {
        match state_of(word) {
            EVICTED => Blocked::Evicted,
            LOADING => Blocked::Loading,
            _ => Blocked::Held,
        }
    }

    /// Begins an optimistic read. A marked page counts as touched and loses its mark.
    pub fn optimistic(&self) -> Result<Version, Blocked> {
        let word = self.0.load(Ordering::Acquire);
        match state_of(word) {
            UNLOCKED | SHARED_FIRST..=SHARED_LAST => Ok(Version(word & VERSION)),
            MARKED => {
                // Touched: one write per turn of the eviction clock, not per read. Losing the race is harmless.
                let unmarked = with_state(word, UNLOCKED);
                let _ = self.0.compare_exchange(word, unmarked, Ordering::Relaxed, Ordering::Relaxed);
                Ok(Version(word & VERSION))
            }
            _ => Err(Self::blocked(word)),
        }
    }

    /// Whether everything read since `version` was taken is one consistent page.
    pub fn is_unchanged(&self, version: Version) -> bool {
        fence(Ordering::Acquire);
        let word = self.0.load(Ordering::Relaxed);
        word & VERSION == version.0 && (UNLOCKED..=SHARED_LAST).contains(&state_of(word))
    }

    /// Takes the exclusive latch if it is free and, with a version, only if the page is unchanged since.
    pub fn try_exclusive(&self, version: Option<Version>) -> Result<(), Blocked> {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            if !matches!(state_of(word), UNLOCKED | MARKED) {
                return Err(Self::blocked(word));
            }
            if version.is_some_and(|v| word & VERSION != v.0) {
                return Err(Blocked::Held);
            }
            let taken = with_state(word, EXCLUSIVE);
            match self.0.compare_exchange_weak(word, taken, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => {
                    fence(Ordering::Release);
                    return Ok(());
                }
                Err(now) => word = now,
            }
        }
    }

    /// Gives the exclusive latch back under a new version and wakes whoever sleeps.
    pub fn unlock_exclusive(&self) {
        self.leave(UNLOCKED, 1);
    }

    /// Takes one share of the latch if nobody holds it exclusively.
    pub fn try_shared(&self) -> Result<(), Blocked> {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let state = match state_of(word) {
                UNLOCKED | MARKED => SHARED_FIRST,
                shared @ SHARED_FIRST..SHARED_LAST => shared + 1,
                _ => return Err(Self::blocked(word)),
            };
            match self.0.compare_exchange_weak(word, with_state(word, state), Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                Err(now) => word = now,
            }
        }
    }

    /// Gives one share back.
    pub fn unlock_shared(&self) {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let state = state_of(word);
            debug_assert!((SHARED_FIRST..=SHARED_LAST).contains(&state), "unlock_shared in state {state}");
            // The last sharer wakes a sleeper; so does one that makes room below the limit of sharers.
            let after = if state == SHARED_FIRST { UNLOCKED } else { state - 1 };
            let wakes = wakes(word) && (state == SHARED_FIRST || state == SHARED_LAST);
            let new = with_state(word, after) | if wakes { WOKEN } else { 0 };
            match self.0.compare_exchange_weak(word, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => {
                    if wakes {
                        self.wake_one();
                    }
                    return;
                }
                Err(now) => word = now,
            }
        }
    }

    /// Evicted to loading. False when another thread was faster.
    pub fn try_begin_load(&self) -> bool {
        self.try_change(EVICTED, LOADING)
    }

    /// The page has been read and checked: open to all.
    pub fn finish_load(&self) {
        self.leave(UNLOCKED, 0);
    }

    /// Loading to exclusive without a moment in between: the page is new, and its content is about to be made.
    pub fn load_to_exclusive(&self) {
        let mut word = self.0.load(Ordering::Relaxed);
        while let Err(now) =
            self.0.compare_exchange_weak(word, with_state(word, EXCLUSIVE), Ordering::Acquire, Ordering::Relaxed)
        {
            word = now;
        }
        fence(Ordering::Release);
    }

    /// The read failed: the page stays out of memory.
    pub fn abort_load(&self) {
        self.leave(EVICTED, 0);
    }

    /// The clock's first touch: unlocked to marked. Returns false if the page is in any other state.
    pub fn mark(&self) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        state_of(word) == UNLOCKED
            && self.0.compare_exchange(word, with_state(word, MARKED), Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Whether the page is marked and nobody has touched it since.
    pub fn is_marked(&self) -> bool {
        state_of(self.0.load(Ordering::Relaxed)) == MARKED
    }

    /// The clock's second touch: marked to exclusive, on the way out of memory.
    pub fn try_evict(&self) -> bool {
        self.try_change(MARKED, EXCLUSIVE)
    }

    /// From one state to another in which the page's bytes are about to change: a writer's way in.
    fn try_change(&self, from: u64, to: u64) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        if state_of(word) != from {
            return false;
        }
        let changed = self.0.compare_exchange(word, with_state(word, to), Ordering::Acquire, Ordering::Relaxed).is_ok();
        // As for every writer: whoever sees a byte stored from here on sees the state word as well.
        fence(Ordering::Release);
        changed
    }

    /// The page has left memory: what it was in may go to another.
    pub fn finish_evict(&self) {
        self.leave(EVICTED, 1);
    }

    /// The eviction is off: nothing changed.
    pub fn abort_evict(&self) {
        self.leave(UNLOCKED, 0);
    }

    /// Whether the page is out of memory.
    pub fn is_evicted(&self) -> bool {
        state_of(self.0.load(Ordering::Relaxed)) == EVICTED
    }

    /// Whether somebody reads the page in just now.
    pub fn is_loading(&self) -> bool {
        state_of(self.0.load(Ordering::Relaxed)) == LOADING
    }

    /// From exclusive or loading to `state`, with the version moved on by `step`.
    fn leave(&self, state: u64, step: u64) {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            debug_assert!(state_of(word) >= LOADING, "leave in state {}", state_of(word));
            let bits = (word & (WAITERS | WOKEN)) | if wakes(word) { WOKEN } else { 0 };
            let new = (state << STATE_SHIFT) | bits | (word.wrapping_add(step) & VERSION);
            match self.0.compare_exchange_weak(word, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => {
                    if wakes(word) {
                        self.wake_one();
                    }
                    return;
                }
                Err(now) => word = now,
            }
        }
    }

    /// Wakes the sleeper that has slept longest. The caller has set [`WOKEN`], or was woken and passes it on.
    #[cold]
    fn wake_one(&self) {
        // Who is about to sleep looks at the bits under the same lock.
        unpark_one(self.address(), |left| {
            let gone = match left {
                Left::Some => 0,
                Left::None => WAITERS,
                Left::NobodyWoken => WAITERS | WOKEN,
            };
            if gone != 0 {
                self.0.fetch_and(!gone, Ordering::Relaxed);
            }
        });
    }

    /// The first thing that a woken thread does: lets the next one come if there is nothing to wait for, and else says
    /// that nobody is on the way, so that whoever holds the latch wakes somebody.
    fn arrive(&self) {
        let mut word = self.0.load(Ordering::Relaxed);
        loop {
            let passes_on = word & WAITERS != 0 && matches!(state_of(word), EVICTED | UNLOCKED | MARKED);
            if passes_on {
                return self.wake_one();
            }
            match self.0.compare_exchange_weak(word, word & !WOKEN, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => word = now,
            }
        }
    }

    /// Waits until the latch is worth another try: not exclusive, not loading, not shared to the limit, and (for
    /// whoever wants it exclusively) not shared at all. Returns at once when that is so already.
    pub fn wait(&self, for_exclusive: bool) {
        let busy = |word: u64| match state_of(word) {
            EVICTED | UNLOCKED | MARKED => false,
            LOADING | EXCLUSIVE | SHARED_LAST => true,
            _ => for_exclusive,
        };
        for _ in 0..SPINS {
            if !busy(self.0.load(Ordering::Relaxed)) {
                return;
            }
            spin_hint();
        }
        for _ in 0..YIELDS {
            give_way();
            if !busy(self.0.load(Ordering::Relaxed)) {
                return;
            }
        }
        loop {
            let word = self.0.load(Ordering::Relaxed);
            if !busy(word) {
                return;
            }
            if word & WAITERS == 0
                && self.0.compare_exchange_weak(word, word | WAITERS, Ordering::Relaxed, Ordering::Relaxed).is_err()
            {
                continue;
            }
            let slept = park(self.address(), || {
                let word = self.0.load(Ordering::Relaxed);
                word & WAITERS != 0 && busy(word)
            });
            if slept {
                self.arrive();
            }
        }
    }

    fn address(&self) -> usize {
        &raw const self.0 as usize
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn loaded() -> Latch {
        let latch = Latch::new();
        assert!(latch.try_begin_load());
        latch.finish_load();
        latch
    }

    #[test]
    fn a_fresh_latch_is_evicted_and_loads_once() {
        let latch = Latch::new();
        assert_eq!(latch.optimistic(), Err(Blocked::Evicted));
        assert!(latch.try_begin_load());
        assert!(!latch.try_begin_load());
        assert_eq!(latch.optimistic(), Err(Blocked::Loading));
        latch.finish_load();
        assert!(latch.optimistic().is_ok());
    }

    #[test]
    fn an_exclusive_visit_restarts_readers_and_a_shared_one_does_not() {
        let latch = loaded();
        let version = latch.optimistic().unwrap();
        latch.try_shared().unwrap();
        assert!(latch.is_unchanged(version));
        assert_eq!(latch.try_exclusive(None), Err(Blocked::Held));
        latch.unlock_shared();
        latch.try_exclusive(Some(version)).unwrap();
        assert!(!latch.is_unchanged(version));
        latch.unlock_exclusive();
        assert!(!latch.is_unchanged(version));
        assert!(latch.try_exclusive(Some(version)).is_err());
    }

    #[test]
    fn a_touch_saves_a_marked_page() {
        let latch = loaded();
        assert!(latch.mark());
        let version = latch.optimistic().unwrap();
        assert!(!latch.try_evict());
        assert!(latch.mark());
        assert!(latch.is_unchanged(version), "a mark changes nothing that was read");
        assert!(latch.try_evict());
        latch.finish_evict();
        assert!(!latch.is_unchanged(version));
        assert_eq!(latch.optimistic(), Err(Blocked::Evicted));
    }

    #[test]
    fn sleepers_wake() {
        let latch = loaded();
        let turns = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        while latch.try_exclusive(None).is_err() {
                            latch.wait(true);
                        }
                        // Not an atomic increment: the latch must make it one.
                        turns.store(turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                        latch.unlock_exclusive();
                    }
                });
            }
        });
        assert_eq!(turns.into_inner(), 80_000);
    }
}
