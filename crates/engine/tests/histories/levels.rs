//! What each isolation level promises here, which is what InnoDB's promise is: see `hermitage.rs`, and `known.rs`, which
//! tells its scripts again as histories.
//!
//! | | what a plain read sees | so there is no |
//! |---|---|---|
//! | READ UNCOMMITTED | what is there | G0: rows stay locked from their first write to the commit |
//! | READ COMMITTED | one moment for each statement | G1, nor a statement that sees half of a commit (View) |
//! | REPEATABLE READ | one moment for the transaction | the same; and of its View the whole transaction is part |
//! | SERIALIZABLE | the newest row, locked to share | cycle of any kind: two-phase locking |
//!
//! READ COMMITTED and REPEATABLE READ have the same list: they differ in how many views a transaction has, which the
//! history says. G-single and lost updates remain at REPEATABLE READ, for a write goes to the newest row, not to the one
//! that the snapshot shows, and nobody is told. Among transactions that only read there is no G-single: in `checker` that
//! is a View, and so are more (a long fork, a writer's own two reads).
//!
//! Who locks whatever it reads is serializable at REPEATABLE READ, gaps being locked; at READ COMMITTED too, as long as
//! all rows that it looks for are there, for of a row that is not there nothing is locked.

use meseta_engine::Isolation;

use crate::checker::Phenomenon::{self, *};

/// Never, whatever the level: a store that does this has lost track of its own writes.
const BASE: [Phenomenon; 4] = [G0, Internal, Replaced, Lost];
const SNAPSHOTS: [Phenomenon; 6] = [G1a, G1b, G1c, View, Stale, Incompatible];
const CYCLES: [Phenomenon; 3] = [LostUpdate, GSingle, G2Item];

/// What the level forbids. `locks_all`: each read locks what it reads, and what it does not find as well.
pub fn forbidden(level: Isolation, locks_all: bool) -> Vec<Phenomenon> {
    let (snapshots, cycles) = match level {
        Isolation::ReadUncommitted => (false, false),
        Isolation::ReadCommitted | Isolation::RepeatableRead => (true, locks_all),
        Isolation::Serializable => (true, true),
    };
    let mut all = BASE.to_vec();
    all.extend(SNAPSHOTS.iter().filter(|_| snapshots));
    all.extend(CYCLES.iter().filter(|_| cycles));
    all
}
