//! A statement that waits for a page without its thread.
//!
//! ```text
//!   read(.., repeatable) --> Err(Suspended)     a page is missing: it is read in, the thread goes away
//!        ..                                     it has come: the session's waker is called
//!   read(.., repeatable) --> what it says       or the next page is missing
//! ```
//!
//! # Invariants
//! 1. A statement waits like that a few times at most: what it needs may have left memory before it comes back, and a page that
//!    cannot be read is told to whoever waits with a thread.

use std::task::Waker;
use std::time::Duration;

use crate::error::{EngineError, Result};
use crate::lock::Owner;

/// So often a statement waits without its thread.
const TIMES_MAX: u32 = 4;
/// It comes back by then at the latest, called or not.
const LIMIT: Duration = Duration::from_secs(60);

/// A session's waits for pages.
#[derive(Default, Debug)]
pub(crate) struct PageWait {
    /// How often its statement was suspended for a page, the last read of it among them; 0 if that had its pages.
    times: u32,
}

impl PageWait {
    /// Who is to be called when a page has come that is missing: nobody, if the statement is to wait with its thread.
    pub fn waker<'o>(&self, owner: &'o Owner, is_repeatable: bool) -> Option<&'o Waker> {
        owner.waker().filter(|_| is_repeatable && self.times < TIMES_MAX)
    }

    /// What became of a read.
    pub fn note<T>(&mut self, read: &Result<T>) {
        self.times = if matches!(read, Err(EngineError::Suspended)) { self.times + 1 } else { 0 };
    }

    /// For how long the statement will wait at most, if it is suspended.
    pub fn suspended_for(&self) -> Option<Duration> {
        (self.times > 0).then_some(LIMIT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::OwnerId;

    #[test]
    fn after_some_times_it_waits_with_its_thread() {
        let (owner, mut wait) = (Owner::new(OwnerId(1), 0), PageWait::default());
        assert!(wait.waker(&owner, true).is_none(), "nobody is there to be called");
        owner.set_waker(Waker::noop().clone());
        for _ in 0..TIMES_MAX {
            assert!(wait.waker(&owner, true).is_some() && wait.waker(&owner, false).is_none());
            wait.note::<bool>(&Err(EngineError::Suspended));
            assert!(wait.suspended_for().is_some());
        }
        assert!(wait.waker(&owner, true).is_none());
        wait.note(&Ok(true));
        assert!(wait.waker(&owner, true).is_some() && wait.suspended_for().is_none());
    }
}
