//! A worker's run queue: tasks that are to have a turn, in the order in which they came.
//!
//! Its length is beside it, to be looked at without the lock: workers that have nothing to do look at all queues, again and
//! again, and are not to take their memory from those who work.
//!
//! # Invariants
//! 1. The length is what the queue has, or, where tasks have gone, had a moment ago. Who has pushed, and then looks at another
//!    word sequentially consistently, is seen in the length by who has written that word and then looks here, or sees what was
//!    written. (`worker`, invariant 1)

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, MutexGuard};

use super::task::Soon;
use super::worker::TaskRef;

/// Tasks that are to have a turn.
pub(crate) struct RunQueue<S: 'static> {
    tasks: Mutex<VecDeque<TaskRef<S>>>,
    len: AtomicUsize,
}

impl<S> RunQueue<S> {
    pub(crate) fn new() -> RunQueue<S> {
        RunQueue { tasks: Mutex::default(), len: AtomicUsize::new(0) }
    }

    /// How many there are: a load.
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::SeqCst)
    }

    /// Some have gone: nobody needs to hear of it at once.
    fn note_fewer(&self, tasks: &MutexGuard<'_, VecDeque<TaskRef<S>>>) {
        self.len.store(tasks.len(), Ordering::Relaxed);
    }

    /// Puts one at the end; returns how many there are then.
    pub(crate) fn push(&self, task: TaskRef<S>) -> usize {
        self.extend([task])
    }

    /// Puts some at the end; returns how many there are then.
    pub(crate) fn extend(&self, others: impl IntoIterator<Item = TaskRef<S>>) -> usize {
        let mut tasks = self.tasks.lock();
        tasks.extend(others);
        self.len.store(tasks.len(), Ordering::SeqCst);
        tasks.len()
    }

    /// Takes the first, and has those behind it brought near.
    pub(crate) fn pop(&self) -> Option<TaskRef<S>> {
        let mut tasks = self.tasks.lock();
        let task = tasks.pop_front();
        for (behind, soon) in tasks.iter().zip([Soon::Next, Soon::AfterNext]) {
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
        let taken = tasks.drain(..half).collect();
        self.note_fewer(&tasks);
        taken
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, BorrowedFd};
    use std::sync::{Arc, Weak};

    use super::super::task::{Events, Task, TaskState, Turn};
    use super::*;

    struct Numbered {
        state: TaskState<()>,
        input: std::io::Stdin,
    }

    impl Task<()> for Numbered {
        fn state(&self) -> &TaskState<()> {
            &self.state
        }

        fn descriptor(&self) -> BorrowedFd<'_> {
            self.input.as_fd()
        }

        fn turn(&self, _: Events, _: &mut ()) -> Turn {
            unreachable!("it has none here")
        }

        fn answer<'a>(&self, _: &'a mut ()) -> &'a mut Vec<u8> {
            unreachable!("it has no turn")
        }

        fn sent(&self, _: &[u8], _: std::io::Result<usize>) -> bool {
            unreachable!("it has no turn")
        }
    }

    fn task(number: usize) -> TaskRef<()> {
        Arc::new(Numbered { state: TaskState::new(Weak::new(), number), input: std::io::stdin() })
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
