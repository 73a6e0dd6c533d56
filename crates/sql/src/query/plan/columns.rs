//! What a client is told of a result's columns: flags, lengths, decimals, collations.
//!
//! ```text
//!   a column of a table        its type's facts, and its keys'          PRI_KEY, NO_DEFAULT_VALUE ...; 0 decimals of text
//!   a value that is computed   numbers and dates are BINARY             31 decimals of text and floating point
//!   ... and kept in between    (GROUP BY, DISTINCT, UNION)              numbers are not
//! ```
//!
//! Source: what MySQL 9.7 announces (tests/suite).

use meseta_types::{Charset, Collation, DataType};

use super::{Origin, OutputColumn};
use crate::schema::{Column, ColumnDefault, Index, Table};

const NOT_NULL: u16 = 1;
const PRIMARY_KEY: u16 = 2;
const UNIQUE_KEY: u16 = 4;
const MULTIPLE_KEY: u16 = 8;
const ZEROFILL: u16 = 64;
const BINARY: u16 = 128;
const AUTO_INCREMENT: u16 = 512;
const TIMESTAMP: u16 = 1024;
/// NO_DEFAULT_VALUE.
pub const NO_DEFAULT: u16 = 4096;
const ON_UPDATE_NOW: u16 = 8192;
const PART_KEY: u16 = 16384;
/// Set by clients for themselves; servers do not send it.
const NUMBER: u16 = 32768;

/// What is told of a column of a table beside its type.
pub fn flags_in_table(table: &Table, number: usize, column: &Column) -> u16 {
    let mut flags = 0;
    // Without a primary key the first unique one stands for it that has no NULLs.
    let has_no_nulls = |index: &&Index| {
        index.unique && index.parts.iter().all(|part| !table.columns[usize::from(part.column)].nullable)
    };
    let primary = match table.has_primary_key {
        true => table.indexes.first(),
        false => table.indexes.iter().find(has_no_nulls),
    };
    for index in &table.indexes {
        let Some(at) = index.parts.iter().position(|part| usize::from(part.column) == number) else { continue };
        flags |= PART_KEY;
        if primary.is_some_and(|primary| std::ptr::eq(primary, index)) {
            flags |= PRIMARY_KEY;
        } else if at == 0 {
            flags |= if index.unique && index.parts.len() == 1 { UNIQUE_KEY } else { MULTIPLE_KEY };
        }
    }
    if column.auto_increment {
        flags |= AUTO_INCREMENT;
    }
    if column.on_update_now {
        flags |= ON_UPDATE_NOW;
    }
    let is_moment = matches!(column.data_type, DataType::Timestamp { .. });
    if is_moment && (column.on_update_now || column.default == ColumnDefault::Now) {
        flags |= TIMESTAMP;
    }
    if !column.nullable && !column.auto_increment && column.default == ColumnDefault::None {
        flags |= NO_DEFAULT;
    }
    flags
}

impl OutputColumn {
    /// Whether its value is a column's, and not made by an expression.
    fn is_named(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| !origin.name.is_empty())
    }

    /// Whether it is a column of a table.
    fn is_of_table(&self) -> bool {
        self.origin.as_ref().is_some_and(|origin| !origin.table.is_empty())
    }

    /// Its flags in the protocol.
    pub fn flags(&self) -> u16 {
        let mut flags = self.data_type.column_flags() & !NUMBER;
        let is_number = matches!(
            self.data_type,
            DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Float { .. } | DataType::Double { .. }
        );
        if is_number && self.origin.is_some() {
            flags &= !BINARY;
        }
        match &self.origin {
            Some(origin) => flags |= origin.flags,
            None if self.data_type == DataType::Json => flags = BINARY,
            None => {}
        }
        // Only columns have the zeros of a YEAR.
        if self.data_type == DataType::Year && self.origin.is_none() {
            flags = flags & !ZEROFILL | BINARY;
        }
        if !self.nullable {
            flags |= NOT_NULL;
        }
        flags
    }

    /// Its longest value in bytes, for a client who wants text in this character set.
    pub fn length(&self, client: Charset) -> u32 {
        match &self.data_type {
            DataType::Double { digits: None, .. } if !self.is_of_table() => 23,
            data_type if self.is_named() => data_type.column_length(client),
            DataType::Json => u32::MAX / 4 * 4,
            data_type => data_type.column_length(client),
        }
    }

    /// Its decimals.
    pub fn decimals(&self) -> u8 {
        match &self.data_type {
            data_type if !self.is_named() && (data_type.is_string() || *data_type == DataType::Json) => 31,
            data_type => data_type.column_decimals(),
        }
    }

    /// The number of its collation, for a client who wants text with this one.
    pub fn collation_number(&self, client: Collation) -> u16 {
        match &self.data_type {
            DataType::Json if !self.is_named() => client.id(),
            data_type => data_type.column_charset(client),
        }
    }

    /// The column as it is once it has been kept in between. What is grouped by is like a column then.
    pub fn kept(mut self, is_key: bool) -> Self {
        let origin = self.origin.get_or_insert_with(Origin::nowhere);
        if is_key && origin.name.is_empty() {
            origin.name = self.name.iter().map(|&byte| char::from(byte)).collect::<String>().into();
        }
        self
    }
}
