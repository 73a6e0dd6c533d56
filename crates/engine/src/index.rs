//! Indexes as a transaction sees them: a tree, a name, and the locks on its keys.

use std::collections::HashMap;
use std::sync::Arc;

use meseta_storage::Tree;
use parking_lot::RwLock;

use crate::error::EngineError;
use crate::ids::IndexId;
use crate::lock::IndexLocks;
use crate::row::Corrupt;

/// An index.
pub struct Index {
    /// Its entries.
    pub tree: Tree,
    /// Its locks, and its name.
    pub locks: Arc<IndexLocks>,
}

impl Index {
    /// Its name.
    pub fn id(&self) -> IndexId {
        self.locks.id()
    }

    /// An entry of it is damaged.
    pub fn damaged(&self, problem: Corrupt) -> EngineError {
        EngineError::Corrupt { index: self.id(), problem }
    }
}

/// All indexes that there are, for those who know only a name: who undoes and who purges.
#[derive(Default)]
pub struct Indexes {
    by_id: RwLock<HashMap<IndexId, Arc<Index>>>,
}

impl Indexes {
    /// Adds an index, or replaces it.
    pub fn add(&self, index: Arc<Index>) {
        self.by_id.write().insert(index.id(), index);
    }

    /// The index of this name; `None` if it was dropped.
    pub fn get(&self, id: IndexId) -> Option<Arc<Index>> {
        self.by_id.read().get(&id).cloned()
    }

    /// Takes an index away. What was not purged in it is not any more.
    pub fn remove(&self, id: IndexId) {
        self.by_id.write().remove(&id);
    }
}
