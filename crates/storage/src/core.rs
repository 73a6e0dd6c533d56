//! The parts of an open store that trees work with.

use std::sync::Arc;

use crate::buffer::{Pool, Restart};
use crate::cleaner::Cleaner;
use crate::error::{ErrorKind, Result, StorageError};
use crate::health::Health;
use crate::log::Log;
use crate::mtr;
use crate::space::Space;
use crate::wait::WaitEvents;

/// After so many restarts a page that is missing once more means that memory is too small.
const RESTARTS_MAX: u32 = 100_000;

/// What trees work with.
pub struct Core {
    /// Pages in memory.
    pub pool: Arc<Pool>,
    /// The log.
    pub log: Arc<Log>,
    /// The allocator.
    pub space: Space,
    /// The one who writes pages back.
    pub cleaner: Arc<Cleaner>,
    /// Whether the engine may go on.
    pub health: Arc<Health>,
    /// Where threads wait.
    pub waits: Arc<WaitEvents>,
    /// Bytes of a node that its heap may use.
    pub node_capacity: usize,
}

/// Why an attempt ended without an answer.
#[derive(Debug)]
pub enum Stop {
    /// It has to begin again.
    Restart(Restart),
    /// It failed.
    Failed(StorageError),
}

impl From<Restart> for Stop {
    fn from(restart: Restart) -> Self {
        Stop::Restart(restart)
    }
}

impl From<StorageError> for Stop {
    fn from(error: StorageError) -> Self {
        Stop::Failed(error)
    }
}

impl From<crate::error::ErrorKind> for Stop {
    fn from(kind: crate::error::ErrorKind) -> Self {
        Stop::Failed(kind.into())
    }
}

impl Core {
    /// Waits until a writer may begin. Called with no latch held.
    pub fn admit(&self) -> Result<()> {
        self.health.check()?;
        mtr::admit(&self.log, || self.cleaner.relieve_log())
    }

    /// A note travels in one record with the change that it belongs to.
    pub fn check_note(&self, note: &[u8]) -> Result<()> {
        // Half for the note, half for the change.
        let limit = self.log.body_len_max() / 2;
        if note.len() > limit {
            return Err(ErrorKind::ValueTooLong { len: note.len(), limit }.into());
        }
        Ok(())
    }

    /// Runs `attempt` until it ends with an answer or an error. It must hold no latch when it returns.
    #[inline]
    pub fn retry<T>(&self, mut attempt: impl FnMut() -> Result<T, Stop>) -> Result<T> {
        let mut restarts = 0;
        loop {
            match attempt() {
                Ok(answer) => return Ok(answer),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Restart(restart)) => self.before_retry(restart, &mut restarts)?,
            }
        }
    }

    /// What to do between two attempts.
    #[cold]
    pub fn before_retry(&self, restart: Restart, restarts: &mut u32) -> Result<()> {
        *restarts += 1;
        match restart {
            // Pages that one operation needs evict each other: everything else in memory is latched.
            Restart::NotResident(_) if *restarts > RESTARTS_MAX => Err(self.pool.exhausted()),
            Restart::NotResident(page) => self.pool.ensure_resident(page),
            // Whoever holds the page may not be running: with more threads than cores, polling delays it.
            Restart::Changed if *restarts > 8 => {
                std::thread::yield_now();
                Ok(())
            }
            Restart::Changed => Ok(()),
        }
    }
}
