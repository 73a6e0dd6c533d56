//! The undo trees: where records are kept, each transaction's together and in order.
//!
//! ```text
//!   key:    transaction u64 | number u64       big-endian, so that memcmp order is the order of time
//!   value:  a record; with number NAME, the name that an XA coordinator gave
//! ```
//!
//! A slot's tree grows at its right edge and is removed from its left edge. What a session writes lies together, and
//! sessions of different slots never meet.

use std::ops::Range;

use meseta_storage::{Change, Lsn, Tree};

use super::UndoError;
use super::record::{Fate, read_record};
use crate::ids::{SlotNo, TransactionId};
use crate::row::{Corrupt, NUMBER_MAX};

/// In the place of a number: the transaction's XA name. Above all numbers, so no record has it.
const NAME: u64 = NUMBER_MAX + 1;
const KEY_LEN: usize = 16;

/// All undo trees.
pub struct Slots {
    trees: Box<[Tree]>,
}

/// What a transaction left in its slot when the engine stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Remains {
    /// Where.
    pub slot: SlotNo,
    /// Whose.
    pub transaction: TransactionId,
    /// What became of it.
    pub fate: Fate,
    /// The highest number of its records.
    pub last: u64,
    /// Its XA name, if it has one.
    pub name: Option<Vec<u8>>,
}

fn key(transaction: TransactionId, number: u64) -> [u8; KEY_LEN] {
    let mut key = [0; KEY_LEN];
    key[..8].copy_from_slice(&transaction.0.to_be_bytes());
    key[8..].copy_from_slice(&number.to_be_bytes());
    key
}

/// The transaction and the number in a key, if it is one.
fn read_key(key: &[u8]) -> Option<(TransactionId, u64)> {
    let (transaction, number) = key.split_first_chunk()?;
    let number = u64::from_be_bytes(number.try_into().ok()?);
    Some((TransactionId(u64::from_be_bytes(*transaction)), number))
}

impl Slots {
    /// Slots in these trees, of which nobody else knows.
    pub fn new(trees: Vec<Tree>) -> Self {
        assert!(!trees.is_empty() && trees.len() <= usize::from(u16::MAX));
        Self { trees: trees.into() }
    }

    /// How many there are.
    pub fn count(&self) -> u16 {
        self.trees.len() as u16
    }

    fn tree(&self, slot: SlotNo) -> Result<&Tree, Corrupt> {
        self.trees.get(usize::from(slot.0)).ok_or(Corrupt::Slot)
    }

    fn tree_of(&self, slot: SlotNo, transaction: TransactionId, number: u64) -> Result<&Tree, UndoError> {
        self.tree(slot).map_err(|problem| UndoError::Corrupt { slot, transaction, number, problem })
    }

    /// Whether a record of so many bytes may be a record 0: it is patched, so it has to lie in its tree's node.
    pub fn may_be_first(&self, slot: SlotNo, len: usize) -> bool {
        self.tree(slot).is_ok_and(|tree| KEY_LEN + len <= tree.inline_len_max())
    }

    /// Writes a record. On entry: the number is the next one of this transaction.
    pub fn append(&self, slot: SlotNo, id: TransactionId, number: u64, record: &[u8]) -> Result<Lsn, UndoError> {
        debug_assert!(number <= NUMBER_MAX);
        Ok(self.tree_of(slot, id, number)?.insert(&key(id, number), record)?)
    }

    /// Copies a record to `out`. False if it is not there: its change was undone or purged.
    pub fn read(&self, slot: SlotNo, id: TransactionId, number: u64, out: &mut Vec<u8>) -> Result<bool, UndoError> {
        Ok(self.tree_of(slot, id, number)?.get_into(&key(id, number), out)?)
    }

    /// Shows records to `visit`, from that of this transaction with this number on, until it returns false: by age of the
    /// transactions, and in order. It is shown them where they are, so it must be quick, and not use the store.
    pub fn scan(
        &self,
        slot: SlotNo,
        (id, number): (TransactionId, u64),
        mut visit: impl FnMut(TransactionId, u64, &[u8]) -> bool,
    ) -> Result<(), UndoError> {
        self.tree_of(slot, id, number)?.scan(&key(id, number), |key, record| match read_key(key) {
            Some((id, number)) => visit(id, number, record),
            None => false,
        })?;
        Ok(())
    }

    /// Removes the records that `goes` says yes to, from the first to the last, of those from the range's start on and before
    /// its end.
    pub fn remove_range(
        &self,
        slot: SlotNo,
        range: Range<(TransactionId, u64)>,
        goes: impl Fn(TransactionId, u64) -> bool,
    ) -> Result<(), UndoError> {
        let ((id, start), (last, end)) = (range.start, range.end);
        let goes = |key: &[u8]| read_key(key).is_some_and(|(id, number)| goes(id, number));
        Ok(self.tree_of(slot, id, start)?.remove_range(&key(id, start), &key(last, end), goes)?)
    }

    /// Decides what becomes of a transaction that has a record 0. Whoever waits for the position waits for the decision to
    /// be durable.
    pub fn decide(&self, slot: SlotNo, id: TransactionId, fate: Fate) -> Result<Lsn, UndoError> {
        match self.tree_of(slot, id, 0)?.patch(&key(id, 0), 0, &[fate as u8])? {
            Some(end) => Ok(end),
            None => Err(UndoError::Corrupt { slot, transaction: id, number: 0, problem: Corrupt::Truncated }),
        }
    }

    /// Remembers the XA name of a transaction that is about to be prepared.
    pub fn name(&self, slot: SlotNo, id: TransactionId, name: &[u8]) -> Result<Lsn, UndoError> {
        Ok(self.tree_of(slot, id, 0)?.put(&key(id, NAME), name)?)
    }

    /// Forgets a transaction's XA name.
    pub fn forget_name(&self, slot: SlotNo, id: TransactionId) -> Result<(), UndoError> {
        self.tree_of(slot, id, 0)?.remove(&key(id, NAME))?;
        Ok(())
    }

    /// Removes a record, if it is there.
    pub fn remove(&self, slot: SlotNo, id: TransactionId, number: u64) -> Result<(), UndoError> {
        self.tree_of(slot, id, number)?.remove(&key(id, number))?;
        Ok(())
    }

    /// Empties record 0: it tells the fate.
    fn empty_first(&self, slot: SlotNo, id: TransactionId) -> Result<(), UndoError> {
        self.tree_of(slot, id, 0)?.update(&key(id, 0), &[Fate::Active as u8])?;
        Ok(())
    }

    /// Takes back a record whose change was not made, or was undone, while its transaction goes on.
    pub fn discard(&self, slot: SlotNo, id: TransactionId, number: u64) -> Result<(), UndoError> {
        if number == 0 { self.empty_first(slot, id) } else { self.remove(slot, id, number) }
    }

    /// Writes a record of a committed transaction anew: `make` is shown it, and appends what it is to be; it returns false
    /// if the record is to go. `None` if it is not there.
    pub fn edit(
        &self,
        slot: SlotNo,
        id: TransactionId,
        number: u64,
        make: impl Fn(&[u8], &mut Vec<u8>) -> Result<bool, Corrupt>,
    ) -> Result<Option<bool>, UndoError> {
        let mut made = None;
        self.tree_of(slot, id, number)?.modify(&key(id, number), &[], |record| {
            let Some(record) = record else { return Ok(Change::Keep) };
            let mut out = Vec::new();
            let outcome = make(record, &mut out);
            let change = match outcome {
                Ok(true) => Change::Put(out.into()),
                Ok(false) => Change::Remove,
                Err(_) => Change::Keep,
            };
            made = Some(outcome);
            Ok(change)
        })?;
        made.transpose().map_err(|problem| UndoError::Corrupt { slot, transaction: id, number, problem })
    }

    /// What transactions left in all slots, by slot and then by age. For the start, when nobody writes. It looks at a few
    /// entries of each transaction, not at all of its records.
    pub fn remains(&self) -> Result<Vec<Remains>, UndoError> {
        let mut remains = Vec::new();
        for slot in (0..self.count()).map(SlotNo) {
            let mut from = key(TransactionId(0), 0);
            while let Some(found) = self.remains_at(slot, &from)? {
                from = key(TransactionId(found.transaction.0 + 1), 0);
                remains.push(found);
            }
        }
        Ok(remains)
    }

    /// What the first transaction from this key on left.
    fn remains_at(&self, slot: SlotNo, from: &[u8]) -> Result<Option<Remains>, UndoError> {
        let tree = self.tree_of(slot, TransactionId(0), 0)?;
        let mut cursor = tree.cursor();
        if !cursor.seek(from)? {
            return Ok(None);
        }
        let corrupt = |transaction, number, problem| UndoError::Corrupt { slot, transaction, number, problem };
        let (id, first) = read_key(cursor.key()).ok_or_else(|| corrupt(TransactionId(0), 0, Corrupt::Truncated))?;
        let fate = match first {
            0 => read_record(cursor.value()).map_err(|problem| corrupt(id, 0, problem))?.0,
            _ => Fate::Committed,
        };
        let name = tree.get(&key(id, NAME), <[u8]>::to_vec)?;
        cursor.seek_below(&key(id, NAME))?;
        let last = match cursor.is_on_entry().then(|| read_key(cursor.key())).flatten() {
            Some((same, number)) if same == id => number,
            // Nothing but its name.
            _ => 0,
        };
        Ok(Some(Remains { slot, transaction: id, fate, last, name }))
    }
}
