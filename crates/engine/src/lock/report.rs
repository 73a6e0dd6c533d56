//! Locks as people see them: all that are held, and the last deadlock, as values and as text.
//!
//! Above: `performance_schema.data_locks` and SHOW ENGINE INNODB STATUS, some day. The words are InnoDB's.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::LockTable;
use super::claim::{Mode, Reach, RowClaim};
use super::index::Place;
use super::owner::{Owner, OwnerId};
use super::table::{TableClaim, TableLock, TableMode};
use crate::ids::{IndexId, TableId, TransactionId};

/// What a lock is on, and which it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Locked {
    /// A key of an index.
    Row {
        /// The table.
        table: TableId,
        /// The index.
        index: IndexId,
        /// The key as the tree compares it; none for the end of the index.
        key: Option<Box<[u8]>>,
        /// Shared or exclusive.
        mode: Mode,
        /// How far it reaches.
        reach: Reach,
    },
    /// Keys of an index that were locked together.
    Span {
        /// The table.
        table: TableId,
        /// The index.
        index: IndexId,
        /// With gaps, what they are above; without, the first of them, as the tree compares it.
        first: Box<[u8]>,
        /// The last of them.
        last: Box<[u8]>,
        /// Whether the gaps below them are locked, and all that is between.
        gaps: bool,
        /// Shared or exclusive.
        mode: Mode,
        /// How many there were.
        keys: u64,
    },
    /// A table.
    Table {
        /// The table.
        table: TableId,
        /// The modes.
        modes: Vec<TableMode>,
    },
}

impl Locked {
    /// How many rows that is.
    pub fn rows(&self) -> u64 {
        match self {
            Self::Row { .. } => 1,
            Self::Span { keys, .. } => *keys,
            Self::Table { .. } => 0,
        }
    }
}

/// A lock of somebody's, held or waited for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockDescription {
    /// Whose.
    pub owner: OwnerId,
    /// The id of its transaction, if that has changed anything.
    pub transaction: Option<TransactionId>,
    /// What it is.
    pub locked: Locked,
    /// Whether it is waited for.
    pub waits: bool,
}

impl LockDescription {
    pub(super) fn row(owner: &Owner, place: &Place, claim: RowClaim, waits: bool) -> Self {
        let (mode, reach) = claim.as_asked();
        let (table, index) = (place.index.table(), place.index.id());
        Self::new(owner, Locked::Row { table, index, key: place.key.as_deref().map(Into::into), mode, reach }, waits)
    }

    pub(super) fn table(owner: &Owner, table: &TableLock, claim: TableClaim, waits: bool) -> Self {
        Self::new(owner, Locked::Table { table: table.id(), modes: claim.modes().collect() }, waits)
    }

    fn write_record_locks(
        &self,
        f: &mut fmt::Formatter<'_>,
        table: TableId,
        index: IndexId,
        mode: Mode,
    ) -> fmt::Result {
        write!(f, "RECORD LOCKS index {} of table {} trx id ", index.0, table.0)?;
        write_id(f, self.transaction)?;
        f.write_str(if mode == Mode::Shared { " lock mode S" } else { " lock_mode X" })
    }

    pub(super) fn new(owner: &Owner, locked: Locked, waits: bool) -> Self {
        Self { owner: owner.id(), transaction: owner.transaction(), locked, waits }
    }
}

impl fmt::Display for LockDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.locked {
            Locked::Row { table, index, mode, reach, key } => {
                self.write_record_locks(f, *table, *index, *mode)?;
                f.write_str(match (reach, key) {
                    (Reach::Record, _) => " locks rec but not gap",
                    (Reach::Gap, Some(_)) => " locks gap before rec",
                    (Reach::Gap, None) | (Reach::NextKey, _) => "",
                    (Reach::InsertIntention, Some(_)) => " locks gap before rec insert intention",
                    (Reach::InsertIntention, None) => " insert intention",
                })?;
            }
            Locked::Span { table, index, mode, gaps, keys, .. } => {
                self.write_record_locks(f, *table, *index, *mode)?;
                f.write_str(if *gaps { "" } else { " locks rec but not gap" })?;
                write!(f, ", {keys} records")?;
            }
            Locked::Table { table, modes } => {
                write!(f, "TABLE LOCK table {} modes {modes:?}", table.0)?;
            }
        }
        f.write_str(if self.waits { " waiting" } else { "" })?;
        let mut write_key = |what, key: &[u8]| {
            f.write_str(what)?;
            key.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
        };
        match &self.locked {
            Locked::Row { key: Some(key), .. } => write_key("\nRecord lock, key ", key),
            Locked::Row { key: None, .. } => f.write_str("\nRecord lock, key supremum"),
            Locked::Span { first, last, gaps, .. } => {
                write_key(if *gaps { "\nRecord locks, keys above " } else { "\nRecord locks, keys from " }, first)?;
                write_key(" through ", last)
            }
            Locked::Table { .. } => Ok(()),
        }
    }
}

fn write_id(f: &mut fmt::Formatter<'_>, id: Option<TransactionId>) -> fmt::Result {
    match id {
        Some(id) => write!(f, "{}", id.0),
        None => f.write_str("none"),
    }
}

/// One of those who waited for each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Party {
    /// Who it was.
    pub owner: OwnerId,
    /// The id of its transaction, if that had changed anything.
    pub transaction: Option<TransactionId>,
    /// How much would have been lost with it.
    pub weight: u64,
    /// How long it had waited.
    pub waited: Duration,
    /// What the party before it waited for: a lock that it held, or waited for ahead of that one.
    pub in_the_way: LockDescription,
    /// What it waited for.
    pub wanted: LockDescription,
}

/// A deadlock that was broken. Each party waited for the next, the last for the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deadlock {
    /// When it was found.
    pub at: SystemTime,
    /// Those who waited for each other.
    pub parties: Vec<Party>,
    /// Which of them was told to give up.
    pub victim: usize,
}

impl Deadlock {
    /// Who was told to give up.
    pub fn victim(&self) -> &Party {
        &self.parties[self.victim]
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = "-".repeat(24);
        writeln!(f, "{line}\nLATEST DETECTED DEADLOCK\n{line}")?;
        for (at, party) in self.parties.iter().enumerate() {
            let number = at + 1;
            write!(f, "*** ({number}) TRANSACTION:\nTRANSACTION ")?;
            write_id(f, party.transaction)?;
            write!(f, ", owner {}, {} rows changed", party.owner.0, party.weight)?;
            writeln!(f, ", LOCK WAIT {:.3} sec", party.waited.as_secs_f64())?;
            let verb = if party.in_the_way.waits { "WAITS AHEAD FOR" } else { "HOLDS" };
            writeln!(f, "\n*** ({number}) {verb} THE LOCK(S):\n{}", party.in_the_way)?;
            writeln!(f, "\n*** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:\n{}\n", party.wanted)?;
        }
        writeln!(f, "*** WE ROLL BACK TRANSACTION ({})", self.victim + 1)
    }
}

impl LockTable {
    /// Every lock on rows and gaps, held or waited for: one shard after the other, so not all of one moment.
    pub fn row_locks(&self) -> Vec<LockDescription> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock();
            for row in shard.rows() {
                for granted in row.queue.granted() {
                    all.push(LockDescription::row(&granted.owner, &row.place, granted.claim, false));
                }
                for waiting in row.queue.waiting() {
                    all.push(LockDescription::row(&waiting.owner, &row.place, waiting.claim, true));
                }
            }
        }
        all
    }
}

impl TableLock {
    /// Every lock on this table, held or waited for. Who is on its way into the queue may be seen twice or not at all.
    pub fn locks(self: &Arc<Self>) -> Vec<LockDescription> {
        let of = |(owner, claim): (Arc<Owner>, TableClaim)| LockDescription::table(&owner, self, claim, false);
        let mut all: Vec<_> = self.in_stripes().into_iter().map(of).collect();
        let inside = self.inside();
        for granted in inside.queue.granted() {
            all.push(LockDescription::table(&granted.owner, self, granted.claim, false));
        }
        for waiting in inside.queue.waiting() {
            all.push(LockDescription::table(&waiting.owner, self, waiting.claim, true));
        }
        all
    }
}
