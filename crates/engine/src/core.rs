//! What all sessions share.
//!
//! ```text
//!   Session ... Session                 each has its transaction, its snapshot line, its locks, its slot
//!        \       /
//!         Core:  time   undo   locks   writers   indexes   purge   root   store
//! ```
//!
//! There is no lock in here that every transaction takes: each part says what it shares and what that costs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use meseta_storage::Store;

use crate::catalog::{Catalog, SystemTables};
use crate::counter::Counter;
use crate::error::Result;
use crate::ids::{SlotNo, TransactionId};
use crate::index::Indexes;
use crate::lock::LockTable;
use crate::purge::Purge;
use crate::root::Root;
use crate::table::Collations;
use crate::time::Time;
use crate::undo::{CutOff, Slots};
use crate::writers::Writers;
use crate::xa::PreparedTransactions;

/// Ids are reserved in the root tree so many at a time: a crash skips at most that many.
const IDS_RESERVED: u64 = 1 << 20;

/// The root tree's names of counters.
pub const TRANSACTIONS: &[u8] = b"transactions";
const ROW_NUMBERS: &[u8] = b"row numbers";
const TABLE_NUMBERS: &[u8] = b"table numbers";
const INDEX_NUMBERS: &[u8] = b"index numbers";
/// Tables and indexes of users have numbers from here on; below are the system's own.
const FIRST_USER_NUMBER: u64 = 1000;

/// What a core is made of.
pub struct Parts {
    pub store: Store,
    pub root: Root,
    pub time: Arc<Time>,
    pub undo: Slots,
    pub locks: Arc<LockTable>,
    pub transactions: Counter,
    pub collations: Arc<dyn Collations>,
    pub system: SystemTables,
}

/// What all sessions share.
pub struct Core {
    pub store: Store,
    pub root: Root,
    pub time: Arc<Time>,
    pub undo: Slots,
    pub locks: Arc<LockTable>,
    pub writers: Writers,
    pub indexes: Indexes,
    pub purge: Purge,
    pub prepared: PreparedTransactions,
    /// What the layer above knows of text.
    pub collations: Arc<dyn Collations>,
    /// Hidden numbers of rows without a primary key.
    pub row_numbers: Counter,
    pub catalog: Catalog,
    /// Numbers of tables.
    pub table_numbers: Counter,
    /// Numbers of indexes.
    pub index_numbers: Counter,
    pub system: SystemTables,
    /// What a crash cut off and is not undone yet.
    pub cut_off: CutOff,
    transactions: Counter,
    next_slot: AtomicU64,
    next_owner: AtomicU64,
}

impl Core {
    /// What `parts` are made of has been opened.
    pub fn new(parts: Parts) -> Result<Self> {
        let Parts { store, root, time, undo, locks, transactions, collations, system } = parts;
        let slots = undo.count();
        let shards = (usize::from(slots) * 8).next_power_of_two();
        Ok(Self {
            row_numbers: Counter::open(&root, ROW_NUMBERS, 1)?,
            table_numbers: Counter::open(&root, TABLE_NUMBERS, FIRST_USER_NUMBER)?,
            index_numbers: Counter::open(&root, INDEX_NUMBERS, FIRST_USER_NUMBER)?,
            store,
            root,
            time,
            undo,
            locks,
            writers: Writers::new(shards),
            indexes: Indexes::default(),
            purge: Purge::new(slots),
            prepared: PreparedTransactions::default(),
            collations,
            catalog: Catalog::default(),
            system,
            cut_off: CutOff::default(),
            transactions,
            next_slot: AtomicU64::new(0),
            next_owner: AtomicU64::new(1),
        })
    }

    /// The slot of a new session: one after the other.
    pub fn next_slot(&self) -> SlotNo {
        let number = self.next_slot.fetch_add(1, Ordering::Relaxed);
        SlotNo((number % u64::from(self.undo.count())) as u16)
    }

    /// A number that no session had.
    pub fn next_owner(&self) -> u64 {
        self.next_owner.fetch_add(1, Ordering::Relaxed)
    }

    /// The next transaction's id, or one not far above.
    pub fn next_transaction(&self) -> u64 {
        self.transactions.next()
    }

    /// A new transaction's id, which no transaction had, not even before a crash.
    pub fn begin_writer(&self) -> Result<TransactionId> {
        let id = self.time.begin_writer()?;
        if let Err(error) = self.transactions.reserve(&self.root, id.0, IDS_RESERVED) {
            // It did nothing, so there is nothing to undo.
            self.time.rolled_back(id);
            return Err(error);
        }
        Ok(id)
    }
}
