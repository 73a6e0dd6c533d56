//! How many tasks each worker has at most: fewer where the clients are.
//!
//! ```text
//!   processor 0                                     processor 1
//!   a client of this machine   | worker 0           worker 1
//!   ###########################|#############       ########################################
//!     all eight come in here      three of them       five
//! ```
//!
//! A task is best off at the worker of the processor where its packets come in ([`super::placement`]). But a client of this machine,
//! or the system for what comes from the network, takes a part of that processor. If few tasks are there, that worker's queue is short
//! and yet waits, while the others have nothing to do for a part of their time. (With many the others take turns from its queue.)
//!
//! So each worker's share is by what is left of its processor. What other processes and the system use of all processors together
//! is [counted](super::window), and taken to be where the packets come in. So shares follow soon when a client is put on another
//! processor, as the system does a few times a second.
//!
//! Only for a *crowd*, nearly all at one processor. Of clients with threads of their own some more are here or there by chance at any
//! time, and the system spreads those itself. One thread that has all connections it cannot spread.
//!
//! # Invariants
//! 1. A worker may have a quarter more than its share, and one more at least: what comes in evenly can stay where it comes in, and a
//!    single task always.
//! 2. A task is counted where it comes in at one worker at most, and at none when it is over.
//!
//! When it fails: where the system does not tell what others use, shares are equal.

use std::sync::atomic::{AtomicUsize, Ordering};

use crossbeam_utils::CachePadded;

use super::task::TaskState;

/// So many tasks a worker, on average, are few.
const FEW: usize = 16;
/// So many of those that come in anywhere, and one more, are a crowd where they do.
const CROWD: f64 = 0.75;
/// What is left of a processor at least, however much others use.
const LEAST: f64 = 0.05;

/// How many tasks each worker has at most, and by what.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    /// By worker: how many tasks come in on its processor. Changes when one does so elsewhere than before.
    come_in: Vec<CachePadded<AtomicUsize>>,
    /// By worker; changed by the monitor.
    most: Vec<AtomicUsize>,
    /// The worker that has room for the most; changed by the monitor.
    roomiest: AtomicUsize,
}

impl Balance {
    /// For so many workers.
    pub(crate) fn new(workers: usize) -> Balance {
        Balance {
            come_in: (0..workers).map(|_| CachePadded::default()).collect(),
            most: (0..workers).map(|_| AtomicUsize::new(usize::MAX)).collect(),
            roomiest: AtomicUsize::new(0),
        }
    }

    /// Whether a worker that has so many tasks may have one more.
    pub(crate) fn has_room(&self, worker: usize, tasks: usize) -> bool {
        tasks < self.most[worker].load(Ordering::Relaxed)
    }

    /// Who is to get a task of a worker that has so many, if those are too many: as of the last look, so it may have no room by now.
    pub(crate) fn gives_to(&self, worker: usize, tasks: usize) -> Option<usize> {
        let has_too_many = tasks > self.most[worker].load(Ordering::Relaxed);
        has_too_many.then(|| self.roomiest.load(Ordering::Relaxed))
    }

    /// A task comes in on the processor of this worker, or is over. For who has its turn.
    pub(crate) fn note<S>(&self, task: &TaskState<S>, worker: Option<usize>) {
        let before = task.comes_in_at(worker);
        if before == worker {
            return;
        }
        if let Some(before) = before {
            let counted = self.come_in[before].fetch_sub(1, Ordering::Relaxed);
            debug_assert!(counted > 0, "each task is counted once");
        }
        if let Some(worker) = worker {
            self.come_in[worker].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The monitor: the workers have so many tasks, and others use so many of their processors.
    pub(crate) fn update(&self, tasks: &[usize], others: f64) {
        let come_in: Vec<usize> = self.come_in.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let most = most_by_worker(tasks.iter().sum(), &come_in, others);
        let room = |&worker: &usize| most[worker] as isize - tasks[worker] as isize;
        Balance::set(&self.roomiest, (0..most.len()).max_by_key(room).unwrap_or(0));
        for (kept, most) in self.most.iter().zip(&most) {
            Balance::set(kept, *most);
        }
    }

    /// (Its line stays where it is if nothing changes, which is the rule.)
    fn set(kept: &AtomicUsize, value: usize) {
        if kept.load(Ordering::Relaxed) != value {
            kept.store(value, Ordering::Relaxed);
        }
    }
}

/// How many of so many tasks each worker has at most: a quarter more than its share, and one more at least.
fn most_by_worker(tasks: usize, come_in: &[usize], others: f64) -> Vec<usize> {
    let all = come_in.iter().sum::<usize>() as f64;
    let is_crowd = |&count: &usize| count as f64 >= CROWD * all + 1.0;
    let are_few = tasks <= FEW * come_in.len();
    let others = if are_few && come_in.iter().any(is_crowd) { others } else { 0.0 };
    let left: Vec<f64> = come_in.iter().map(|&count| (1.0 - others * count as f64 / all.max(1.0)).max(LEAST)).collect();
    let left_of_all: f64 = left.iter().sum();
    let share = |left_of_one: &f64| (tasks as f64 * left_of_one / left_of_all).round() as usize;
    let most = |share: usize| share + (share / 4).max(1);
    left.iter().map(|left| most(share(left))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use super::*;

    #[test]
    fn of_what_comes_in_evenly_each_has_a_quarter_more_than_its_share() {
        for others in [0.0, 0.7] {
            let most = |tasks| most_by_worker(tasks, &[3, 3], others);
            assert_eq!([0, 1, 2, 8, 64, 65].map(most), [1, 2, 2, 5, 40, 41].map(|most| vec![most; 2]));
            assert_eq!(most_by_worker(64, &[0; 16], others), [5; 16]);
            assert_eq!(most_by_worker(8, &[6, 2], others), [5, 5], "chance");
        }
    }

    #[test]
    fn where_a_crowd_comes_in_there_are_fewer() {
        let most = |tasks, others| most_by_worker(tasks, &[tasks, 0], others);
        assert_eq!([0.0, 0.1].map(|others| most(8, others)), [[5, 5], [5, 5]], "it needs next to nothing");
        assert_eq!(most(8, 0.65), [3, 7]);
        assert_eq!(most(8, 5.0), [1, 10], "more than that processor has");
        assert_eq!([1, 2, 4, 16].map(|tasks| most(tasks, 0.65)[0]), [2, 2, 2, 5]);
        assert_eq!(most(33, 0.65), [21, 21], "many");
        let mut come_in = [0; 16];
        come_in[3] = 64;
        let most = most_by_worker(64, &come_in, 1.0);
        assert_eq!((most[3], most[4]), (1, 5));
        come_in[7] = 32;
        assert_eq!(most_by_worker(96, &come_in, 3.0), [7; 16], "clients of two threads");
    }

    #[test]
    fn a_task_is_counted_where_it_comes_in_and_not_when_it_is_over() {
        let balance = Balance::new(2);
        let tasks = [(); 8].map(|()| TaskState::<()>::new(Weak::new(), 0));
        tasks.iter().for_each(|task| balance.note(task, Some(0)));
        balance.update(&[4, 4], 0.65);
        assert_eq!((balance.gives_to(0, 4), balance.gives_to(0, 3), balance.gives_to(1, 5)), (Some(1), None, None));
        assert!(balance.has_room(0, 2) && !balance.has_room(0, 3));
        // The client is on the other processor now.
        tasks.iter().for_each(|task| balance.note(task, Some(1)));
        balance.update(&[3, 5], 0.65);
        assert_eq!((balance.gives_to(1, 5), balance.gives_to(0, 5)), (Some(0), None));
        tasks.iter().for_each(|task| balance.note(task, None));
        balance.update(&[4, 4], 0.65);
        assert_eq!(balance.gives_to(0, 5), None);
        assert_eq!(balance.gives_to(0, 6), Some(1));
    }
}
