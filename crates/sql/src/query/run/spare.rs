//! Memory that a source uses for one row after the other; the thread keeps it for the next source, of whatever session.
//!
//! ```text
//!   Spare::take() <-- the thread's stack      (or anew)
//!   drop          --> the thread's stack      (unless it has grown large, or there are many)
//! ```
//!
//! So a statement that reads a row allocates nothing for it, and an idle session holds no such memory.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

use bumpalo::Bump;
use meseta_engine::row::Value;
use meseta_types::Datum;

use super::last_point::LastPoint;

/// Memory larger than this goes back to the system: bytes.
const KEPT_BYTES: usize = 64 << 10;
/// So many a thread keeps.
const KEPT: usize = 16;

const LENT: &str = "memory is there until it is given back";

thread_local! {
    #[expect(clippy::vec_box, reason = "it is lent and given back for each source of each statement, and is large")]
    static STACK: RefCell<Vec<Box<Memory>>> = const { RefCell::new(Vec::new()) };
}

/// What a source needs for a row. What is in it is of no use to whoever takes it next.
#[derive(Default)]
pub struct Memory {
    /// A row: with the columns of all sources, NULL where none has been read.
    pub row: Vec<Datum<'static>>,
    /// What is shown of a row.
    pub items: Vec<Datum<'static>>,
    /// What it is ordered by.
    pub keys: Vec<Datum<'static>>,
    /// A row's columns as the engine has them.
    pub values: Vec<Value<'static>>,
    /// What had to be put together of an entry's keys.
    pub buffers: [Vec<u8>; 2],
    /// An entry's key.
    pub key: Vec<u8>,
    /// What is behind it.
    pub payload: Vec<u8>,
    /// What was found last by the whole key of a unique index.
    pub last: LastPoint,
    /// What expressions make of a row.
    pub arena: Bump,
    /// What is kept of all rows.
    pub kept: Bump,
}

impl Memory {
    fn bytes(&self) -> usize {
        let values = self.row.capacity() + self.items.capacity() + self.keys.capacity();
        let buffers: usize = self.buffers.iter().map(Vec::capacity).sum();
        values * size_of::<Datum<'_>>()
            + self.values.capacity() * size_of::<Value<'_>>()
            + buffers
            + self.key.capacity()
            + self.payload.capacity()
            + self.last.capacity()
            + self.arena.allocated_bytes()
            + self.kept.allocated_bytes()
    }
}

/// [`Memory`], lent by the thread.
///
/// It is `Some` until it is dropped.
pub struct Spare(Option<Box<Memory>>);

impl Spare {
    /// Memory of the thread's, or new.
    pub fn take() -> Self {
        Self(Some(STACK.with_borrow_mut(Vec::pop).unwrap_or_default()))
    }
}

impl Deref for Spare {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        self.0.as_deref().expect(LENT)
    }
}

impl DerefMut for Spare {
    fn deref_mut(&mut self) -> &mut Memory {
        self.0.as_deref_mut().expect(LENT)
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        let Some(mut memory) = self.0.take() else { return };
        memory.arena.reset();
        memory.kept.reset();
        memory.last.clear();
        if memory.bytes() > KEPT_BYTES {
            return;
        }
        // A thread that ends has no stack any more: then it goes.
        let _ = STACK.try_with(|stack| {
            let mut stack = stack.borrow_mut();
            if stack.len() < KEPT {
                stack.push(memory);
            }
        });
    }
}

/// The memory of a vector, for values with another lifetime.
pub fn recycle<'a, 'b>(mut values: Vec<Datum<'a>>) -> Vec<Datum<'b>> {
    values.clear();
    values.into_iter().map(|_| Datum::Null).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> usize {
        STACK.with_borrow(Vec::len)
    }

    #[test]
    fn memory_comes_back_unless_it_is_large_or_there_is_much() {
        let mut one = Spare::take();
        one.payload.extend_from_slice(b"abc");
        let (address, other) = (one.payload.as_ptr(), Spare::take());
        drop(other);
        drop(one);
        assert_eq!(kept(), 2);
        let again = Spare::take();
        assert_eq!((again.payload.as_ptr(), kept()), (address, 1));
        let mut large = Spare::take();
        large.payload.reserve(KEPT_BYTES + 1);
        drop(large);
        assert_eq!(kept(), 0);
        drop((0..2 * KEPT).map(|_| Spare::take()).collect::<Vec<_>>());
        assert_eq!(kept(), KEPT);
    }
}
