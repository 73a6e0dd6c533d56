//! A watch: a worker has an eye on the epoll set of another, and polls it if that one is late.
//!
//! ```text
//!   worker 0, alone on its processor     worker 1, which shares one with the clients' thread
//!   a round of 80 turns                  in a round of 120 turns
//!   polls, looks at 1: its polls = 7
//!   a round of 80 turns                  in the same round; more clients ask, and wait for its end
//!   polls, looks at 1: 7 still
//!   polls the set of 1 for itself        in the same round
//! ```
//!
//! What others have queued can be [taken](super::worker), by who runs out of work. With a thousand clients nobody does, and what
//! comes in for a worker waits until its round is over, however far the others are. A client program with one thread takes half of
//! one processor, and the worker there went round its connections in twice the time of the other: the slowest hundredth of statements
//! were all on its side. So who has had a long round polls one other set besides its own, if that worker is in a turn and nobody has
//! polled its set since the last look: it is behind by a round. Workers that keep up find each other's sets polled, and pay a look at
//! two words.
//!
//! # Invariants
//! 1. A set is polled for another only while its worker is in a turn: one that sleeps, or is about to, polls for itself.
//!
//! Figures: docs/decisions/2026-11-22-worker-affinity.md, the tail with many clients.

use super::Core;
use super::worker::Worker;

/// A round of so many turns is long: what comes in meanwhile waits for long.
pub(crate) const LONG_ROUND: usize = 64;

/// Which worker one has looked at, and how often the set of that one had been polled.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    worker: usize,
    polls: u64,
}

impl Watch {
    /// Looks at the watched worker, and turns to the next; returns it if it is late. `own`: who looks.
    pub(crate) fn late<'a, S>(&mut self, core: &'a Core<S>, own: usize) -> Option<&'a Worker<S>> {
        let watched = &*core.workers[self.worker];
        let is_late = watched.index != own && watched.claim() != 0 && watched.polls() == self.polls;
        let next = (self.worker + 1) % core.workers.len();
        let next = if next == own { (next + 1) % core.workers.len() } else { next };
        *self = Watch { worker: next, polls: core.workers[next].polls() };
        is_late.then_some(watched)
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::RunQueue;
    use super::*;

    /// Which workers are found late at so many looks.
    fn found(watch: &mut Watch, core: &Core<()>, own: usize, looks: usize) -> Vec<Option<usize>> {
        (0..looks).map(|_| watch.late(core, own).map(|worker| worker.index)).collect()
    }

    #[test]
    fn each_of_the_others_is_looked_at_in_its_turn() {
        let core = Core::without_threads(4);
        core.workers.iter().for_each(|worker| _ = worker.begin_turn());
        let mut watch = Watch::default();
        assert_eq!(found(&mut watch, &core, 1, 6), [Some(0), Some(2), Some(3), Some(0), Some(2), Some(3)]);
    }
    #[test]
    fn who_has_polled_or_has_no_turn_is_not_late() {
        let core = Core::without_threads(3);
        let mut watch = Watch::default();
        core.workers[2].begin_turn();
        assert_eq!(found(&mut watch, &core, 0, 4), [None, None, Some(2), None]);
        // Seen last when it had not been polled.
        core.workers[2].take_events(&core, &mut Vec::with_capacity(1), &RunQueue::new(), false);
        assert_eq!(found(&mut watch, &core, 0, 3), [None, None, Some(2)]);
    }
}
