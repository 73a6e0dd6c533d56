//! How much of the thread's stack a statement has used.
//!
//! The parser bounds how deep a statement nests, but what comes of it is a product: chains of UNION inside of derived tables
//! inside of chains. So whoever walks queries asks here before the next level, as MySQL does.
//!
//! # Invariants
//! 1. A statement runs on one thread from its beginning to its end, on a stack of 2 MiB or more.

use std::cell::Cell;

use meseta_errors::ER_STACK_OVERRUN_NEED_MORE;

use crate::error::{Error, Result};

/// Bytes that a statement may use: what is left of 2 MiB is for what does not ask.
const BYTES: usize = 1200 << 10;

thread_local! {
    /// An address on the stack where the statement began.
    static BASE: Cell<usize> = const { Cell::new(0) };
}

#[inline(never)]
fn here() -> usize {
    let local = 0u8;
    std::hint::black_box(&raw const local).addr()
}

/// A statement begins here.
pub fn begin() {
    BASE.set(here());
}

/// Error 1436 if a statement has gone so deep that it must not go deeper.
#[inline]
pub fn check() -> Result<()> {
    let used = BASE.get().saturating_sub(here());
    if used < BYTES || BASE.get() == 0 {
        return Ok(());
    }
    Err(Error::new(ER_STACK_OVERRUN_NEED_MORE, &[&used, &(2 << 20), &((2 << 20) - BYTES)]))
}
