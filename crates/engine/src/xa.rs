//! XA: transactions that a coordinator decides, in two steps.
//!
//! ```text
//!   session:  XA PREPARE 'name'  --> its changes, its id and its locks leave the session
//!   engine:   prepared           --> XA COMMIT 'name' or XA ROLLBACK 'name', by any session, before or after a crash
//! ```
//!
//! # Invariants
//! 1. The name is in the log before the fate *prepared*, and both are durable before the prepare is acknowledged.
//! 2. After a crash the transaction holds the rows that it changed, by their headers. What it had only asked for (FOR
//!    SHARE, gaps) it holds until a crash, as in InnoDB.
//!
//! # When things fail
//! A prepare that fails leaves the transaction with its session. A decision that fails leaves it prepared.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use meseta_storage::Durability;
use parking_lot::Mutex;

use crate::core::Core;
use crate::error::{EngineError, Result};
use crate::ids::{SlotNo, TransactionId};
use crate::lock::Owner;
use crate::purge::Ended;
use crate::session::{Session, Writing};
use crate::undo::Fate;
use crate::undoing::undo_records;

/// A prepared transaction.
pub struct Prepared {
    pub slot: SlotNo,
    pub id: TransactionId,
    /// The highest number of its records.
    pub last: u64,
    /// Whose the locks are.
    pub owner: Arc<Owner>,
}

/// All of them, by their names.
#[derive(Default)]
pub struct PreparedTransactions {
    /// `None` while one is being prepared, or decided.
    by_name: Mutex<BTreeMap<Vec<u8>, Option<Prepared>>>,
}

impl PreparedTransactions {
    /// Takes a name for a transaction that is about to be prepared. Errors: `DuplicateXid`.
    fn reserve(&self, name: &[u8]) -> Result<()> {
        match self.by_name.lock().entry(name.to_vec()) {
            Entry::Occupied(_) => Err(EngineError::DuplicateXid),
            Entry::Vacant(vacant) => {
                vacant.insert(None);
                Ok(())
            }
        }
    }

    /// Adds one that is there after a start, or has just been prepared, or could not be decided.
    pub fn add(&self, name: &[u8], prepared: Prepared) {
        self.by_name.lock().insert(name.to_vec(), Some(prepared));
    }

    /// Their names: XA RECOVER.
    pub fn names(&self) -> Vec<Vec<u8>> {
        let by_name = self.by_name.lock();
        by_name.iter().filter(|(_, prepared)| prepared.is_some()).map(|(name, _)| name.clone()).collect()
    }

    /// Takes one to decide it; its name stays taken. Errors: `NoSuchXid`.
    fn take(&self, name: &[u8]) -> Result<Prepared> {
        self.by_name.lock().get_mut(name).and_then(Option::take).ok_or(EngineError::NoSuchXid)
    }

    /// Gives a name back.
    fn forget(&self, name: &[u8]) {
        self.by_name.lock().remove(name);
    }
}

impl Session {
    /// Prepares the transaction: what it changed is durable, stays locked, and is decided by whoever names it. The session
    /// is free for another transaction. False if it had changed nothing: then it has ended, and there is nothing to decide.
    ///
    /// Errors: `DuplicateXid`.
    pub fn prepare(&mut self, name: &[u8]) -> Result<bool> {
        let core = Arc::clone(&self.core);
        let Some(Writing { id, next, .. }) = self.writing.as_ref().filter(|writing| writing.next > 0) else {
            self.commit()?;
            return Ok(false);
        };
        let (id, last) = (*id, *next - 1);
        core.prepared.reserve(name)?;
        let prepared = core
            .undo
            .name(self.slot, id, name)
            .and_then(|_| core.undo.decide(self.slot, id, Fate::Prepared))
            .map_err(EngineError::from)
            .and_then(|end| Ok(core.store.commit(end, Durability::Flush)?));
        if let Err(error) = prepared {
            core.prepared.forget(name);
            return Err(error);
        }
        let owner = self.give_away();
        core.prepared.add(name, Prepared { slot: self.slot, id, last, owner });
        Ok(true)
    }
}

impl Core {
    /// Commits a prepared transaction. Errors: `NoSuchXid`.
    pub fn commit_prepared(&self, name: &[u8]) -> Result<()> {
        let prepared = self.prepared.take(name)?;
        let Prepared { slot, id, last, .. } = prepared;
        let end = match self.undo.decide(slot, id, Fate::Committed) {
            Ok(end) => end,
            Err(error) => {
                self.prepared.add(name, prepared);
                return Err(error.into());
            }
        };
        let time = self.time.commit(id);
        self.purge.add(slot, Ended { transaction: id, time, last });
        self.forget_prepared(name, &prepared);
        Ok(self.store.commit(end, Durability::Flush)?)
    }

    /// Rolls a prepared transaction back. Errors: `NoSuchXid`.
    pub fn roll_back_prepared(&self, name: &[u8]) -> Result<()> {
        let prepared = self.prepared.take(name)?;
        let Prepared { slot, id, last, .. } = prepared;
        // Once this is durable, a crash rolls it back too.
        let undone = self
            .undo
            .decide(slot, id, Fate::Active)
            .map_err(EngineError::from)
            .and_then(|end| Ok(self.store.commit(end, Durability::Flush)?))
            .and_then(|()| undo_records(self, slot, id, 0..last + 1, None));
        if let Err(error) = undone {
            self.prepared.add(name, prepared);
            return Err(error);
        }
        self.time.rolled_back(id);
        self.forget_prepared(name, &prepared);
        Ok(())
    }

    fn forget_prepared(&self, name: &[u8], prepared: &Prepared) {
        // If this fails, the next start sees a name without a fate to decide, and tries again.
        let _ = self.undo.forget_name(prepared.slot, prepared.id);
        self.prepared.forget(name);
        self.writers.remove(prepared.id);
        self.locks.release_all(&prepared.owner);
        self.locks.release_tables(&prepared.owner);
    }
}
