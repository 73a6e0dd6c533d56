//! Who writes: from the id in a row's header to the owner to wait for.

use std::sync::Arc;

use crossbeam_utils::CachePadded;
use parking_lot::Mutex;

use crate::ids::TransactionId;
use crate::known_hash::KnownMap;
use crate::lock::Owner;

type Shard = Mutex<KnownMap<TransactionId, Arc<Owner>>>;

/// Transactions that have changed something and not ended.
///
/// In shards: two transactions meet here only if their ids do. Ids are given one after the other, so neighbours in time are
/// in different shards.
pub struct Writers {
    shards: Box<[CachePadded<Shard>]>,
}

impl Writers {
    /// Nobody, in a power of two of shards.
    pub fn new(shards: usize) -> Self {
        assert!(shards.is_power_of_two());
        Self { shards: (0..shards).map(|_| CachePadded::default()).collect() }
    }

    fn shard(&self, id: TransactionId) -> &Shard {
        &self.shards[id.0 as usize & (self.shards.len() - 1)]
    }

    /// A transaction is about to change something.
    pub fn add(&self, id: TransactionId, owner: Arc<Owner>) {
        self.shard(id).lock().insert(id, owner);
    }

    /// A transaction has ended.
    pub fn remove(&self, id: TransactionId) {
        self.shard(id).lock().remove(&id);
    }

    /// Whose locks a writer's are; `None` if it has ended.
    pub fn owner(&self, id: TransactionId) -> Option<Arc<Owner>> {
        self.shard(id).lock().get(&id).cloned()
    }
}
