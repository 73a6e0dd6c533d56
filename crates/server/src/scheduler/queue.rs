//! A worker's run queue: tasks that are to have a turn, in the order in which they came, but that urgent ones go first.
//!
//! ```text
//!   urgent   | others wait for what it has begun: a transaction that has locks      of a round: all
//!   others   |                                                                      of a round: as many as it lacks to ROUND;
//!                                                                                   all, if there are no urgent ones
//! ```
//! So with more clients than the machine can serve at once fewer transactions are open at a time, each for a shorter time: fewer
//! meet at the same rows, and less of what they have begun has left the caches when they go on
//! (docs/decisions/2026-11-25-urgent-tasks.md).
//!
//! Its length is beside it, to be looked at without the lock: workers that have nothing to do look at the others' queues, and are
//! not to take their locks from those who work.
//!
//! # Invariants
//! 1. The length is what the queue has, or, where tasks have gone, had a moment ago. Who has pushed, and then looks at another
//!    word sequentially consistently, is seen in the length by who has written that word and then looks here, or sees what was
//!    written. (`worker`, invariant 1)
//! 2. The first of the others is not passed by more than 32 urgent ones.
//!
//! Source: the high-priority queue of Percona Server's thread pool, for connections with open transactions, is the same idea.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::task::Soon;
use super::worker::TaskRef;

/// So many turns a round has, if there are as many tasks, urgent or not: fewer would share a system call less well.
const ROUND: usize = 24;
/// So many urgent tasks have their turns before one that is not.
const PASSED: u32 = 32;

/// Tasks that are to have a turn.
pub(crate) struct RunQueue<S: 'static> {
    tasks: Mutex<Tasks<S>>,
    len: AtomicUsize,
}

struct Tasks<S: 'static> {
    urgent: VecDeque<TaskRef<S>>,
    others: VecDeque<TaskRef<S>>,
    /// How many urgent ones have passed the first of the others.
    passed: u32,
}

impl<S> Default for Tasks<S> {
    fn default() -> Tasks<S> {
        Tasks { urgent: VecDeque::new(), others: VecDeque::new(), passed: 0 }
    }
}

impl<S> Tasks<S> {
    fn len(&self) -> usize {
        self.urgent.len() + self.others.len()
    }

    fn push(&mut self, task: TaskRef<S>) {
        let queue = if task.state().is_urgent() { &mut self.urgent } else { &mut self.others };
        queue.push_back(task);
    }

    fn pop(&mut self) -> Option<TaskRef<S>> {
        let is_due = self.passed >= PASSED && !self.others.is_empty();
        if is_due || self.urgent.is_empty() {
            self.passed = 0;
            return self.others.pop_front();
        }
        self.passed += u32::from(!self.others.is_empty());
        self.urgent.pop_front()
    }
}

impl<S> RunQueue<S> {
    pub(crate) fn new() -> RunQueue<S> {
        RunQueue { tasks: Mutex::default(), len: AtomicUsize::new(0) }
    }

    /// How many there are: a load.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::SeqCst)
    }

    /// How many turns a round has that begins now.
    pub(crate) fn round(&self) -> usize {
        let all = self.len();
        if all <= ROUND {
            return all;
        }
        match self.tasks.lock().urgent.len() {
            0 => all,
            urgent => urgent.max(ROUND),
        }
    }

    /// Some have gone: nobody needs to hear of it at once.
    fn note_fewer(&self, tasks: &MutexGuard<'_, Tasks<S>>) {
        self.len.store(tasks.len(), Ordering::Relaxed);
    }

    /// Puts one behind those like it; returns how many there are then.
    pub(crate) fn push(&self, task: TaskRef<S>) -> usize {
        self.extend([task])
    }

    /// Puts some behind those like them; returns how many there are then.
    pub(crate) fn extend(&self, others: impl IntoIterator<Item = TaskRef<S>>) -> usize {
        let mut tasks = self.tasks.lock();
        others.into_iter().for_each(|task| tasks.push(task));
        self.len.store(tasks.len(), Ordering::SeqCst);
        tasks.len()
    }

    /// Takes the first, and has those behind it brought near.
    pub(crate) fn pop(&self) -> Option<TaskRef<S>> {
        let mut tasks = self.tasks.lock();
        let task = tasks.pop();
        for (behind, soon) in tasks.urgent.iter().chain(&tasks.others).zip([Soon::Next, Soon::AfterNext]) {
            behind.prefetch(soon);
        }
        self.note_fewer(&tasks);
        task
    }

    /// Takes the first half, if there are `least` or more and nobody else is at it.
    pub(crate) fn try_take_half(&self, least: usize) -> Vec<TaskRef<S>> {
        // Most are empty: that costs a load, of a line that stays where it is.
        if self.len() < least {
            return Vec::new();
        }
        let Some(mut tasks) = self.tasks.try_lock().filter(|tasks| tasks.len() >= least) else { return Vec::new() };
        let half = tasks.len().div_ceil(2);
        let urgent = half.min(tasks.urgent.len());
        let Tasks { urgent: first, others: second, .. } = &mut *tasks;
        let taken = first.drain(..urgent).chain(second.drain(..half - urgent)).collect();
        self.note_fewer(&tasks);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::super::unrun::Unrun;
    use super::*;

    fn task(number: usize) -> TaskRef<()> {
        Unrun::new(number).0
    }

    fn numbers(tasks: &[TaskRef<()>]) -> Vec<usize> {
        tasks.iter().map(|task| task.state().worker()).collect()
    }

    #[test]
    fn the_first_come_first_and_half_go_to_others() {
        let queue = RunQueue::new();
        assert!(queue.pop().is_none());
        assert_eq!((queue.push(task(0)), queue.extend((1..5).map(task)), queue.len()), (1, 5, 5));
        assert_eq!(numbers(&queue.try_take_half(1)), [0, 1, 2]);
        assert_eq!(queue.len(), 2);
        assert!(queue.try_take_half(3).is_empty());
        assert_eq!(numbers(&[queue.pop().unwrap()]), [3]);
        assert!(queue.try_take_half(2).is_empty());
        assert_eq!(numbers(&queue.try_take_half(1)), [4]);
        assert_eq!(queue.len(), 0);
    }

    fn urgent(number: usize) -> TaskRef<()> {
        let task = task(number);
        task.state().set_urgent(true);
        task
    }

    fn popped(queue: &RunQueue<()>, count: usize) -> Vec<usize> {
        let tasks: Vec<_> = (0..count).map_while(|_| queue.pop()).collect();
        numbers(&tasks)
    }

    #[test]
    fn urgent_ones_go_first_and_are_taken_first() {
        let queue = RunQueue::new();
        queue.extend([task(0), urgent(1), task(2), urgent(3), task(4)]);
        assert_eq!(popped(&queue, 3), [1, 3, 0]);
        queue.push(urgent(5));
        assert_eq!(numbers(&queue.try_take_half(1)), [5, 2]);
        assert_eq!((popped(&queue, 9), queue.len()), (vec![4], 0));
    }

    #[test]
    fn a_round_has_all_that_are_urgent_and_others_to_fill_it() {
        let queue = RunQueue::new();
        queue.extend((0..10).map(urgent).chain((0..10).map(task)));
        assert_eq!(queue.round(), 20);
        queue.extend((0..100).map(task));
        assert_eq!(queue.round(), ROUND);
        queue.extend((0..100).map(urgent));
        assert_eq!(queue.round(), 110);
        let calm = RunQueue::new();
        calm.extend((0..100).map(task));
        assert_eq!(calm.round(), 100);
    }

    #[test]
    fn nobody_waits_for_ever_behind_urgent_ones() {
        let queue = RunQueue::new();
        queue.extend([task(1000), task(1001)]);
        let mut gone = Vec::new();
        for number in 0..2 * PASSED as usize + 2 {
            queue.push(urgent(number));
            gone.extend(popped(&queue, 1));
        }
        let at = |number| gone.iter().position(|&gone| gone == number);
        assert_eq!((at(1000), at(1001)), (Some(PASSED as usize), Some(2 * PASSED as usize + 1)));
    }

    #[test]
    fn nothing_is_taken_while_another_is_at_it() {
        let queue = RunQueue::new();
        queue.push(task(0));
        let at_it = queue.tasks.lock();
        assert!(queue.try_take_half(1).is_empty());
        drop(at_it);
        assert_eq!(queue.try_take_half(1).len(), 1);
    }
}
