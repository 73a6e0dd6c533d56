//! Tables: rows of typed values, with indexes that follow them.
//!
//! ```text
//!   definition   what a table is          collation    how its text compares: handed in
//!        \          /
//!        Table: an EntryLayout for each index, its tree and its locks
//! ```
//!
//! Above: `rows`, which reads and changes them; `ddl`, which makes them. Below: `row`, which knows values, keys and layouts.
//!
//! # Invariants
//! 1. Each row has one entry in each index. They are changed together: one undo record has them all.
//! 2. A [`Table`] does not change. A new definition is a new `Table`, with the same locks and counters; a session uses
//!    the one that was current when it entered the table, and DDL waits for it to leave.

mod collation;
mod definition;
mod entry;
mod scratch;
mod statistics;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use collation::{BytesOnly, Collations};
pub use definition::{
    CollationId, ColumnDefinition, DefinitionError, ForeignKeyDefinition, IndexDefinition, OwnedValue, PartDefinition,
    ReferentialAction, StoredColumn, TableDefinition,
};
pub(crate) use entry::InPlace;
pub use entry::{Entry, EntryError, EntryLayout, KEY_LEN_MAX, Payload};
pub(crate) use scratch::{ColumnMemory, Scratch, Seen};
pub use statistics::{IndexStatistics, SAMPLES};

use crate::counter::Counter;
use crate::ids::{CommitTime, TableId};
use crate::index::Index;
use crate::lock::TableLock;
use crate::row::{ColumnType, Value};

/// An index of a table.
#[derive(Clone)]
pub struct TableIndex {
    /// Its entries, and their locks.
    pub index: Arc<Index>,
    /// How they are made and read.
    pub layout: EntryLayout,
    /// While it is being built: writers keep it, readers do not use it.
    pub build: Option<Arc<Build>>,
    /// Snapshots older than this find less in it than there was.
    pub usable_from: CommitTime,
}

/// An index that is being built.
#[derive(Default)]
pub struct Build {
    failed: AtomicBool,
}

impl Build {
    /// Whether a duplicate was found.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// A duplicate was found: the build comes to nothing, and writers need not keep the index any more.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Release);
    }
}

/// A foreign key of another table that refers to this one, or of this one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Referrer {
    /// The table whose rows refer.
    pub table: TableId,
    /// The number of the key in that table's definition.
    pub key: usize,
}

/// A table, as those who use it see it.
#[derive(Clone)]
pub struct Table {
    /// What it is.
    pub definition: TableDefinition,
    /// Its indexes; the first one has the rows.
    pub indexes: Box<[TableIndex]>,
    /// Who refers to it.
    pub referrers: Box<[Referrer]>,
    /// Who uses it.
    pub lock: Arc<TableLock>,
    /// What the column that counts by itself comes to next.
    pub auto_increment: Arc<Counter>,
}

impl Table {
    /// Where the rows are.
    pub fn rows(&self) -> &TableIndex {
        &self.indexes[0]
    }

    /// The same table, with others who refer to it.
    pub(crate) fn with_referrers(&self, referrers: Box<[Referrer]>) -> Self {
        Self { referrers, ..self.clone() }
    }

    /// Which table.
    pub fn id(&self) -> TableId {
        self.definition.id
    }

    /// The number that a row gives the column that counts by itself; `None` if there is no such column, or it is none that
    /// the column counts on from.
    pub(crate) fn number_given(&self, values: &[Value<'_>]) -> Option<u64> {
        match values[usize::from(self.definition.auto_increment?)] {
            Value::Unsigned(number) => Some(number),
            Value::Signed(number) if number > 0 => Some(number as u64),
            _ => None,
        }
    }

    /// The highest number of the column that counts by itself; `None` if there is none, or it counts in no whole numbers.
    pub(crate) fn number_max(&self) -> Option<u64> {
        match self.definition.columns[usize::from(self.definition.auto_increment?)].content.column_type {
            ColumnType::Unsigned(width) => Some(width.unsigned_max()),
            ColumnType::Signed(width) => Some(width.signed_max() as u64),
            _ => None,
        }
    }

    /// The number of the index of this name. Names are compared without regard to ASCII case.
    pub fn index_named(&self, name: &str) -> Option<usize> {
        self.definition.indexes.iter().position(|index| index.name.eq_ignore_ascii_case(name))
    }
}
