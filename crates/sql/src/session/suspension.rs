//! Statements that wait for a row, or for the page that it is in, without their thread.
//!
//! ```text
//!   execute --> begins --> the row is locked, or on disk, and nothing was done yet --> suspended: the thread serves others
//!                                                                                       |  the waker is called
//!   execute, with the same text and values  <-------------------------------------------+
//!     resumed: it runs from its beginning, finds the lock held, or that the wait has failed; or finds the page
//! ```
//! With a thread for each that waits, a few hundred clients that meet at the same rows, or whose rows are on disk, would pay for two
//! switches of threads a wait, and for cold caches (docs/decisions/2026-11-25-suspended-statements.md, 2026-11-26-missing-pages.md).
//! So it is done where it is simple: a change or a read of one row that is named by its primary key, the first statement of its
//! text, without queries inside, of which nothing has been evaluated that could not be evaluated again (`query::selected`,
//! `QueryPlan::begins_with_a_row`). All others wait on their threads. (A locking read waits so for the lock, not for the page.)
//!
//! # Invariants
//! 1. A statement that is suspended has done nothing: no row is changed, nothing is answered. It keeps its tables.
//! 2. What is done once a statement (its time, its counts, its entries in logs) is done when it begins, and not when it is resumed.
//! 3. After a statement that was suspended comes the same one again, or [`Session::close`].

use std::task::Waker;
use std::time::Duration;

use super::Session;
use crate::error::{Error, Result};

/// How the process list has a change that waits for its row, in MySQL's words.
pub(super) const CHANGING: &str = "updating";
/// And a read, the one row of which MySQL reads when it plans.
pub(super) const READING: &str = "statistics";

/// How it is with a statement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Stage {
    /// It runs, or has ended.
    #[default]
    Usual,
    /// It waits without a thread, and this is its state.
    Suspended(&'static str),
    /// It was suspended, and runs again.
    Resumed,
}

impl Session {
    /// Lets statements wait for rows without their thread. After each call that executes, [`Session::is_suspended`] says whether
    /// one does. Once the waker has been called, or its time is over ([`Session::suspended_for`]), the same call is to be made
    /// again. One that comes earlier is suspended once more.
    pub fn suspend_with(&mut self, waker: Waker) {
        self.engine.set_waker(waker);
        self.may_suspend = true;
    }

    /// Whether the statement waits without a thread: it is not answered.
    pub fn is_suspended(&self) -> bool {
        self.suspended_state().is_some()
    }

    /// What the process list says of it, if it does.
    pub fn suspended_state(&self) -> Option<&'static str> {
        match self.suspension {
            Stage::Suspended(state) => Some(state),
            _ => None,
        }
    }

    /// For how long the statement will wait at most, if it is suspended and there is no reason to execute it again.
    pub fn suspended_for(&self) -> Option<Duration> {
        if self.is_suspended() { self.engine.suspended_for() } else { None }
    }

    /// Whether the statement that runs may be suspended if it has done nothing: somebody calls back, and it is alone in its text.
    pub(super) fn may_suspend(&self) -> bool {
        self.may_suspend && self.is_first && !self.more_follows
    }

    /// Whether what is done once a statement has been done.
    pub(super) fn is_resumed(&self) -> bool {
        self.suspension == Stage::Resumed
    }

    /// A statement begins, or one that was suspended goes on.
    pub(super) fn begin_or_resume(&mut self) {
        if self.is_suspended() {
            self.suspension = Stage::Resumed;
            crate::stack::begin();
        } else {
            self.suspension = Stage::Usual;
            self.begin_statement();
        }
    }

    /// The statement that runs is suspended.
    pub(super) fn suspend<T>(&mut self, state: &'static str) -> Result<T> {
        self.suspension = Stage::Suspended(state);
        Err(Error::suspended())
    }

    /// A statement has run; whether it is suspended. If not, it has ended.
    pub(super) fn suspends_or_ends<T>(&mut self, done: &Result<T>) -> bool {
        if matches!(done, Err(error) if error.is_suspended()) {
            return true;
        }
        if self.is_resumed() {
            // It may have come to its end, by an error, without a look at what it waited for.
            self.engine.give_up_wait();
        }
        self.suspension = Stage::Usual;
        false
    }
}
