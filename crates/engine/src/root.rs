//! What the engine finds first: a few entries of the store's root tree.
//!
//! ```text
//!   "slot" u16       ->  tree u32     the undo trees
//!   "system" u16     ->  tree u32     the tables that say which tables there are
//!   "transactions", "row numbers", "auto_increment" u32 ...  ->  u64    counters: numbers below may have been given
//! ```
//!
//! # Invariants
//! 1. A tree that no entry names (and no index) belongs to nobody: its creation was cut off, and it is dropped at the
//!    start.

use meseta_storage::{Lsn, Tree, TreeId};

use crate::error::Result;
use crate::ids::SlotNo;

const SLOT: &[u8] = b"slot";
const SYSTEM: &[u8] = b"system";

/// The root tree, as the engine uses it.
pub struct Root {
    tree: Tree,
}

impl Root {
    /// Over the store's root tree.
    pub fn new(tree: Tree) -> Self {
        Self { tree }
    }

    /// The undo trees, in the order of their slots.
    pub fn slots(&self) -> Result<Vec<TreeId>> {
        self.trees(SLOT)
    }

    /// Names the tree of a slot.
    pub fn set_slot(&self, slot: SlotNo, tree: TreeId) -> Result<Lsn> {
        self.set_tree(SLOT, slot.0, tree)
    }

    /// The trees of the system's tables, in their order.
    pub fn system_trees(&self) -> Result<Vec<TreeId>> {
        self.trees(SYSTEM)
    }

    /// Names the tree of a table of the system.
    pub fn set_system_tree(&self, number: u16, tree: TreeId) -> Result<Lsn> {
        self.set_tree(SYSTEM, number, tree)
    }

    fn trees(&self, kind: &[u8]) -> Result<Vec<TreeId>> {
        let mut trees = Vec::new();
        self.tree.scan(kind, |key, value| {
            let is_one = key.len() == kind.len() + 2 && key.starts_with(kind);
            if let (true, Ok(id)) = (is_one, value.try_into()) {
                trees.push(TreeId(u32::from_le_bytes(id)));
            }
            is_one
        })?;
        Ok(trees)
    }

    fn set_tree(&self, kind: &[u8], number: u16, tree: TreeId) -> Result<Lsn> {
        let key = [kind, &number.to_be_bytes()].concat();
        Ok(self.tree.put(&key, &tree.0.to_le_bytes())?)
    }

    /// The number of this name, if there is one.
    pub fn number(&self, name: &[u8]) -> Result<Option<u64>> {
        let number = self.tree.get(name, |value| value.try_into().map(u64::from_le_bytes))?;
        Ok(number.and_then(|number| number.ok()))
    }

    /// Remembers a number by this name.
    pub fn set_number(&self, name: &[u8], number: u64) -> Result<Lsn> {
        Ok(self.tree.put(name, &number.to_le_bytes())?)
    }

    /// Forgets the number of this name.
    pub fn forget_number(&self, name: &[u8]) -> Result<()> {
        self.tree.remove(name)?;
        Ok(())
    }
}
