//! Saying that a thread is about to wait.
//!
//! ```text
//! statement runs on thread A, which has worker 1 (an epoll set, a run queue)
//!   blocking::enter()  -->  A gives worker 1 to a spare thread B; B serves the other connections
//!   A waits: a row lock, a page, a socket
//!   drop(guard)        -->  A goes on with its statement, without a worker, and joins the spares after it
//! ```
//!
//! The layers below (engine, storage) know nothing of this crate. They are handed [`HOOK`], a few plain functions, and
//! call them around what waits. On a thread that has no worker (of the log, of a test) they do nothing.
//!
//! A thread that comes back from a wait does not ask for a worker before it goes on: it may hold row locks that
//! others wait for, and the sooner its statement ends the better. So for the rest of that statement one thread more
//! than there are workers may run; the kernel shares the cores out among them.
//!
//! **A task alone.** A wait that is known to be short (one sync of the log, one read of a page) costs less than two threads
//! that wake each other for it. Where a worker has run nothing but one task for some turns ([`is_alone`]), that task waits with
//! the worker in hand ([`keep`], [`before_brief_wait`]): it keeps nobody waiting but one who comes just then, and him for no longer
//! than that. The worker hears of it (`has_kept`): where it runs is then the device's affair.
//!
//! **A turn that takes long** says so ([`takes_long`]): others' answers and commits may wait for the end of the round that it is
//! in.
//!
//! Invariants:
//! 1. Calls nest; only the outermost gives the worker away, and only if the thread still has it.
//! 2. Nothing here fails or panics.

use std::cell::{Cell, RefCell};
use std::os::fd::RawFd;
use std::sync::Arc;

use crate::scheduler::Holding;

thread_local! {
    /// The worker that this thread has, if it has one.
    static HOLDING: RefCell<Option<Arc<dyn Holding>>> = const { RefCell::new(None) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
    static ALONE: Cell<bool> = const { Cell::new(false) };
    /// Whether it has waited with the worker in hand.
    static KEPT: Cell<bool> = const { Cell::new(false) };
}

/// What a lower layer is handed, to call around whatever waits.
#[derive(Debug, Clone, Copy)]
pub struct WaitHook {
    /// Before the wait.
    pub before: fn(),
    /// Before one that is known to be short.
    pub before_brief: fn(),
    /// After it.
    pub after: fn(),
    /// Whether this thread makes short waits itself: nobody is served by another way to wait.
    pub keeps: fn() -> bool,
    /// An eventfd that wakes the worker that this thread has: its round is over then, or soon.
    pub bell: fn() -> Option<RawFd>,
}

/// The hook of this crate's scheduler.
pub const HOOK: WaitHook =
    WaitHook { before: before_wait, before_brief: before_brief_wait, after: after_wait, keeps: is_alone, bell };

/// Between this and its drop the thread counts as waiting.
#[derive(Debug)]
#[must_use = "the wait ends when the guard is dropped"]
pub struct Blocking(std::marker::PhantomData<*const ()>);

/// Says that this thread is about to wait.
pub fn enter() -> Blocking {
    before_wait();
    Blocking(std::marker::PhantomData)
}

impl Drop for Blocking {
    fn drop(&mut self) {
        after_wait();
    }
}

/// As [`enter`], for callers that cannot keep a guard.
pub fn before_wait() {
    let depth = DEPTH.get();
    DEPTH.set(depth + 1);
    if depth == 0
        && let Some(holding) = HOLDING.take()
    {
        holding.hand_over();
    }
}

/// As [`before_wait`], where the wait is known to be short: one that is alone keeps its worker.
pub fn before_brief_wait() {
    if is_alone() { note_kept() } else { before_wait() }
}

/// The wait is over.
pub fn after_wait() {
    DEPTH.set(DEPTH.get().saturating_sub(1));
}

/// This turn takes longer than most: what is to be done when the round is over is done now. Not to be called for each row.
pub fn takes_long() {
    let holding = HOLDING.with_borrow(Option::clone);
    if let Some(holding) = holding {
        holding.end_round();
    }
}

/// Whether the worker that this thread has has run nothing for a while but the task whose turn this is.
pub fn is_alone() -> bool {
    ALONE.get()
}

/// What wakes the worker that this thread has.
fn bell() -> Option<RawFd> {
    HOLDING.with_borrow(|holding| holding.as_ref().map(|holding| holding.bell()))
}

/// Between this and its drop the thread waits without giving its worker away. For short waits of one that is alone.
pub fn keep() -> Blocking {
    note_kept();
    Blocking(std::marker::PhantomData)
}

fn note_kept() {
    KEPT.set(true);
    DEPTH.set(DEPTH.get() + 1);
}

/// Whether this thread has said that it waits.
pub fn is_waiting() -> bool {
    DEPTH.get() > 0
}

/// Remembers which worker this thread has, and whether for a task that is alone.
pub(crate) fn hold(holding: Arc<dyn Holding>, alone: bool) {
    HOLDING.set(Some(holding));
    ALONE.set(alone);
    KEPT.set(false);
}

/// Whether this thread has waited with the worker in hand since it was last told to [`hold`] one.
pub(crate) fn has_kept() -> bool {
    KEPT.get()
}

/// Forgets it; whether there was one that the thread had not given away.
pub(crate) fn release() -> bool {
    // A statement that panicked within a wait has left nothing behind: guards are dropped as it unwinds. A lower
    // layer without guards may not have been so careful.
    DEPTH.set(0);
    ALONE.set(false);
    HOLDING.take().is_some()
}
