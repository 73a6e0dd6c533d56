//! Memory for one row after the other: no allocation a row.

use super::Entry;
use crate::row::Value;

/// An entry's value as it was seen, if there was one.
#[derive(Default)]
pub struct Seen {
    /// Whether there was one.
    pub is_there: bool,
    /// It, header and all.
    pub value: Vec<u8>,
}

impl Seen {
    /// What was there.
    pub fn before(&self) -> Option<&[u8]> {
        self.is_there.then_some(&self.value)
    }
}

/// Memory that a session uses for one row after the other.
#[derive(Default)]
pub struct Scratch {
    /// For each index, the entry that the row has.
    pub old: Vec<Entry>,
    /// For each index, the entry that it is to have.
    pub new: Vec<Entry>,
    /// What is at the old one's key.
    pub seen_old: Vec<Seen>,
    /// What is at the new one's key.
    pub seen_new: Vec<Seen>,
    /// For a primary key.
    pub primary_key: Vec<u8>,
    /// For the row's columns.
    pub columns: ColumnMemory,
}

/// Memory for a row's columns, as they are read.
#[derive(Default)]
pub struct ColumnMemory {
    /// Of no row: for their room.
    pub values: Vec<Value<'static>>,
    /// For what has to be put together.
    pub buffers: [Vec<u8>; 2],
}

impl Scratch {
    /// Makes room for a table of so many indexes.
    pub fn make_room(&mut self, indexes: usize) {
        if self.new.len() < indexes {
            self.old.resize_with(indexes, Entry::default);
            self.new.resize_with(indexes, Entry::default);
            self.seen_old.resize_with(indexes, Seen::default);
            self.seen_new.resize_with(indexes, Seen::default);
        }
    }
}
