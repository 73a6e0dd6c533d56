//! The engine's numbers, each a type of its own so that none is taken for another.

/// A transaction that has changed something, in the order of their first changes. 0 is nobody.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TransactionId(pub u64);

impl TransactionId {
    /// Wrote nothing, or what was there before all.
    pub const NOBODY: Self = Self(0);
}

/// When a transaction committed (or had been rolled back), on the engine's clock: one tick for each that ends. It means
/// nothing after a restart. 0 is before all.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CommitTime(pub u64);

/// A table, for as long as it exists; never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TableId(pub u32);

/// An index of a table, for as long as it exists; never used again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct IndexId(pub u32);

/// Which undo tree a session's transactions write to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SlotNo(pub u16);
