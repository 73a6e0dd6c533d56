//! Whether the engine may go on. After a failed write or sync nobody knows what the disk holds, so the first
//! such failure stops everything for good: later calls get [`ErrorKind::Stopped`] with the first reason, and
//! opening the store again recovers what was durable.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{ErrorKind, Result, StorageError};

/// One store's health; shared by all of its parts.
#[derive(Default)]
pub struct Health {
    stopped: AtomicBool,
    reason: OnceLock<String>,
}

impl Health {
    /// Fails once the engine has stopped. One load of a line that is written at most once.
    pub fn check(&self) -> Result<()> {
        if self.stopped.load(Ordering::Acquire) { Err(self.error()) } else { Ok(()) }
    }

    /// Whether the engine has stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Stops the engine; the first reason stays. Returns the error to hand to the caller.
    pub fn stop(&self, reason: impl Into<String>) -> StorageError {
        let _ = self.reason.set(reason.into());
        self.stopped.store(true, Ordering::Release);
        self.error()
    }

    fn error(&self) -> StorageError {
        let reason = self.reason.get().cloned().unwrap_or_default();
        ErrorKind::Stopped { reason }.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_stays() {
        let health = Health::default();
        assert!(health.check().is_ok());
        health.stop("sync failed");
        health.stop("write failed");
        let error = health.check().expect_err("stopped");
        assert!(error.to_string().contains("sync failed"), "{error}");
    }
}
