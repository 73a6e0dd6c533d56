//! That somebody wants a statement, or its connection, to stop.
//!
//! ```text
//! KILL QUERY n, KILL n, the client went away, the server stops
//!        |  raise
//!        v
//!   reason (one byte)  <-- a statement looks at it, every few hundred rows
//!        |
//!        v
//!   those who watch: for as long as the session is there (lock waits), and while a statement waits. They wake it, and
//!   then it looks
//! ```
//!
//! Invariants:
//! 1. A stronger reason replaces a weaker one, and never the other way round: query < client gone < connection < shutdown.
//! 2. `Query` is forgotten when the next command begins; the others stay.
//! 3. A reason that is raised while a watch is there wakes it, after the reason can be seen.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

/// Why to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// `KILL QUERY`: this statement. Error 1317.
    Query = 1,
    /// Nobody is there to hear the answer.
    ClientGone = 2,
    /// `KILL`: the whole connection. Error 1317, and it is closed.
    Connection = 3,
    /// The server stops. Error 1053, and the connection is closed.
    Shutdown = 4,
}

type Wake = Arc<dyn Fn() + Send + Sync>;

/// A connection's kill flags.
#[derive(Default)]
pub struct Interrupt {
    reason: AtomicU8,
    wake: Mutex<Option<Wake>>,
    /// As long as the session is there.
    always: OnceLock<Wake>,
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Interrupt").field(&self.reason()).finish()
    }
}

impl Interrupt {
    /// Why to stop, if there is a reason. One load.
    #[inline]
    pub fn reason(&self) -> Option<Reason> {
        match self.reason.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Reason::Query),
            2 => Some(Reason::ClientGone),
            3 => Some(Reason::Connection),
            _ => Some(Reason::Shutdown),
        }
    }

    /// Until the watch is dropped, `wake` is called when a reason is raised (from any thread, briefly: it is to make a
    /// wait end, not to do the work). It is called at once if there is one already.
    pub fn watch(&self, wake: Wake) -> Watch<'_> {
        *self.wake.lock() = Some(wake.clone());
        if self.reason().is_some() {
            wake();
        }
        Watch(self)
    }

    /// From now on `wake` is called whenever a reason is raised, as [`Interrupt::watch`] has it. Of two such calls the
    /// second does nothing.
    pub fn watch_always(&self, wake: Wake) {
        let _ = self.always.set(wake);
    }

    pub(crate) fn raise(&self, reason: Reason) {
        self.reason.fetch_max(reason as u8, Ordering::AcqRel);
        if let Some(wake) = self.always.get() {
            wake();
        }
        let wake = self.wake.lock().clone();
        if let Some(wake) = wake {
            wake();
        }
    }

    /// The next command begins.
    #[inline]
    pub(crate) fn begin_command(&self) {
        if self.reason.load(Ordering::Relaxed) == Reason::Query as u8 {
            let query = Reason::Query as u8;
            let _ = self.reason.compare_exchange(query, 0, Ordering::AcqRel, Ordering::Relaxed);
        }
    }
}

/// While it is there, a reason wakes somebody.
#[derive(Debug)]
pub struct Watch<'a>(&'a Interrupt);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        *self.0.wake.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn who_watches_always_is_woken_each_time() {
        let interrupt = Interrupt::default();
        let woken = Arc::new(AtomicU32::new(0));
        let count = woken.clone();
        interrupt.watch_always(Arc::new(move || {
            count.fetch_add(1, Ordering::SeqCst);
        }));
        interrupt.raise(Reason::Query);
        interrupt.begin_command();
        interrupt.raise(Reason::Query);
        assert_eq!(woken.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn reasons_grow_and_wake() {
        let interrupt = Interrupt::default();
        assert_eq!(interrupt.reason(), None);
        interrupt.raise(Reason::Query);
        let woken = Arc::new(AtomicU32::new(0));
        let count = woken.clone();
        let watch = interrupt.watch(Arc::new(move || {
            count.fetch_add(1, Ordering::SeqCst);
        }));
        assert_eq!(woken.load(Ordering::SeqCst), 1);
        interrupt.raise(Reason::Connection);
        interrupt.raise(Reason::Query);
        assert_eq!((woken.load(Ordering::SeqCst), interrupt.reason()), (3, Some(Reason::Connection)));
        drop(watch);
        interrupt.begin_command();
        interrupt.raise(Reason::Shutdown);
        assert_eq!((woken.load(Ordering::SeqCst), interrupt.reason()), (3, Some(Reason::Shutdown)));
        let other = Interrupt::default();
        other.raise(Reason::Query);
        other.begin_command();
        assert_eq!(other.reason(), None);
    }
}
