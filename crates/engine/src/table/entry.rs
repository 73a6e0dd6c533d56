//! A row's entry in one index: its key, its payload, and which columns can be read from it.
//!
//! ```text
//!   the rows themselves    key: primary key, or a hidden number     payload: the columns that the key cannot give back
//!
//!   secondary              key: parts | primary key                 payload: whole columns of which the key has weights
//!   secondary, unique,     key: parts                               payload: length u16 | primary key | the same
//!     and no part is NULL
//! ```
//!
//! A unique index has one entry for each combination of values, whichever row has it: so whether there is another such row
//! is seen under one leaf's latch, and its header says whether that row's transaction is still under way. NULLs repeat, so
//! entries with a NULL have the primary key in their key as others do; NULL's tag keeps the two kinds apart.
//!
//! # Invariants
//! 1. An entry's key and payload follow from its row's values alone.
//! 2. A key is not longer than [`KEY_LEN_MAX`]: whoever exceeds it gets an error, and nothing is changed.

use std::ops::Bound;

use bumpalo::Bump;
use meseta_storage::Portion;
use smallvec::SmallVec;

use super::collation::Collations;
use super::definition::{
    CollationId, INDEX_PARTS_MAX, IndexDefinition, OwnedValue, PartDefinition, StoredColumn, TableDefinition,
};
use crate::row::{
    Column, ColumnType, Corrupt, IntegerWidth, KeyError, KeyPart, KeyRange, KeyReader, RowError, RowLayout, RowReader,
    RowRef, Value, encode_row, primary_key_in,
};

/// Bytes of a key at most, the primary key in it included: InnoDB's limit for what an index's own columns have.
pub const KEY_LEN_MAX: usize = 3072;

/// The number of the hidden column that rows without a primary key have.
pub const ROW_NUMBER: u16 = u16::MAX;

/// A column that the stored row does not have.
const NOT_STORED: u16 = u16::MAX;

/// What a stored row has that is no column of the table any more.
const GONE: u16 = u16::MAX;

/// How the entries of one index are made and read.
#[derive(Clone, Debug)]
pub struct EntryLayout {
    /// The index's own columns; for the rows themselves, the primary key.
    pub parts: Box<[KeyPart]>,
    /// For each part, the beginning of the column that it has.
    prefixes: Box<[Option<u32>]>,
    /// For each part, how its column compares.
    collations: Box<[Option<CollationId>]>,
    /// Whether this is where the rows are.
    pub is_clustered: bool,
    /// Whether values do not repeat.
    pub is_unique: bool,
    /// What a stored row has, in its order: columns of the table, or [`GONE`].
    stored_row: Box<[u16]>,
    /// Its columns, without those that have gone.
    stored_columns: Box<[u16]>,
    /// For each column of the table, where it is in the stored row; [`NOT_STORED`] if it is not.
    stored_at: Box<[u16]>,
    stored: RowLayout,
    /// For each column of the table, whether an entry tells it.
    is_told: Box<[bool]>,
    /// The primary key's parts, behind one's own.
    primary_parts: Box<[KeyPart]>,
}

/// An entry of a row.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// Its key.
    pub key: Vec<u8>,
    /// What is behind the version header.
    pub payload: Vec<u8>,
}

/// What was read of an entry behind its version header.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'e> {
    /// The bytes.
    pub bytes: &'e [u8],
    /// Whether that is all.
    pub portion: Portion,
}

impl<'e> Payload<'e> {
    /// All of it.
    pub fn whole(bytes: &'e [u8]) -> Self {
        Self { bytes, portion: Portion::Whole }
    }
}

/// What can be wrong with a row's values.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EntryError {
    /// The key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The row.
    #[error(transparent)]
    Row(#[from] RowError),
}

fn key_part(table: &TableDefinition, part: &PartDefinition) -> KeyPart {
    let column = &table.columns[usize::from(part.column)];
    let mut made = KeyPart::new(part.column, column.content);
    if column.collation.is_some() {
        made = made.weights();
    } else if let Some(len) = part.prefix {
        made = made.prefix(len);
    }
    if part.descending { made.descending() } else { made }
}

fn parts_of(table: &TableDefinition, index: &IndexDefinition, is_clustered: bool) -> Box<[KeyPart]> {
    if is_clustered && !table.has_primary_key {
        return [KeyPart::new(ROW_NUMBER, Column::new(ColumnType::Unsigned(IntegerWidth::Eight)))].into();
    }
    index.parts.iter().map(|part| key_part(table, part)).collect()
}

impl EntryLayout {
    /// The layout of a table's index. On entry: the definition has been checked. Errors: a column's value for rows that
    /// are older than it does not suit it.
    pub fn new(table: &TableDefinition, position: usize) -> Result<Self, RowError> {
        let (index, is_clustered) = (&table.indexes[position], position == 0);
        let parts = parts_of(table, index, is_clustered);
        let primary_parts = if is_clustered { Box::default() } else { parts_of(table, &table.indexes[0], true) };
        let mut is_told = vec![false; table.columns.len()];
        for part in parts.iter().chain(&primary_parts).filter(|part| part.is_reversible()) {
            if let Some(is_told) = is_told.get_mut(usize::from(part.column())) {
                *is_told = true;
            }
        }
        let is_whole_part = |column: u16| index.parts.iter().any(|part| part.column == column && part.prefix.is_none());
        let is_stored = |column: u16| !is_told[usize::from(column)] && (is_clustered || is_whole_part(column));
        let (mut stored_row, mut contents, mut added) = (Vec::new(), Vec::new(), Vec::new());
        let mut stored_at = vec![NOT_STORED; table.columns.len()];
        for stored in table.stored_columns() {
            match stored {
                StoredColumn::Present(column) if is_stored(column) => {
                    let definition = &table.columns[usize::from(column)];
                    stored_at[usize::from(column)] = stored_row.len() as u16;
                    stored_row.push(column);
                    contents.push(definition.content);
                    added.extend(definition.added_with.as_ref().filter(|_| is_clustered).map(OwnedValue::as_value));
                }
                StoredColumn::Gone { content, was_added } if is_clustered => {
                    stored_row.push(GONE);
                    contents.push(content);
                    added.extend(was_added.then_some(Value::Null));
                }
                _ => {}
            }
        }
        let stored_columns: Box<[u16]> = stored_row.iter().copied().filter(|&column| column != GONE).collect();
        stored_columns.iter().for_each(|&column| is_told[usize::from(column)] = true);
        let gone = (0..).zip(&stored_row).filter(|(_, column)| **column == GONE).map(|(at, _)| at);
        let stored = RowLayout::new(&contents).without(gone).with_added(&added)?;
        let definitions = index.parts.iter().filter(|_| !is_clustered || table.has_primary_key);
        Ok(Self {
            prefixes: definitions.clone().map(|part| part.prefix).collect(),
            collations: definitions.map(|part| table.columns[usize::from(part.column)].collation).collect(),
            parts,
            is_clustered,
            is_unique: index.unique,
            stored,
            stored_row: stored_row.into(),
            stored_columns,
            stored_at: stored_at.into(),
            is_told: is_told.into(),
            primary_parts,
        })
    }

    /// The columns of which an entry is made, besides the primary key.
    pub fn columns(&self) -> Vec<u16> {
        let parts = self.parts.iter().map(KeyPart::column).filter(|&column| column != ROW_NUMBER);
        let mut columns: Vec<u16> = parts.chain(self.stored_columns.iter().copied()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Whether an entry tells all these columns.
    pub fn covers(&self, mut columns: impl Iterator<Item = u16>) -> bool {
        columns.all(|column| self.is_told[usize::from(column)])
    }

    /// Whether those of these columns that are behind the key are all in this front of a payload. Of the rows themselves: other entries
    /// may have the primary key in front of them.
    pub fn has_in_front(&self, columns: &[u16], front: &[u8]) -> bool {
        debug_assert!(self.is_clustered);
        let stored = columns.iter().filter(|column| self.is_stored(**column));
        self.stored.has_in_front(stored.map(|&column| self.stored_at[usize::from(column)]), front)
    }

    /// Whether a column is behind the key, and not in it.
    fn is_stored(&self, column: u16) -> bool {
        self.stored_at[usize::from(column)] != NOT_STORED
    }

    /// How these columns are read from one entry after the other; `None` if one of them is not told.
    pub(crate) fn in_place(&self, columns: &[u16]) -> Option<InPlace<'_>> {
        let (mut own, mut primary) = (PartSet::default(), PartSet::default());
        for &column in columns.iter().filter(|column| !self.is_stored(**column)) {
            let is_it = |part: &KeyPart| part.column() == column && part.is_reversible();
            if let Some(part) = self.parts.iter().position(is_it) {
                own.insert(part);
            } else {
                primary.insert(self.primary_parts.iter().position(is_it)?);
            }
        }
        let stored = columns.iter().filter(|column| self.is_stored(**column));
        let stored = stored.map(|&column| (column, self.stored_at[usize::from(column)]));
        let stored = RowReader::new(&self.stored, stored);
        // Behind the key of a unique index's entry lies what tells the row, and before that all parts are to be passed.
        let is_behind_primary = !self.is_clustered && self.is_unique && !stored.is_empty();
        let all_own = !primary.is_empty() || is_behind_primary;
        let own_len = if all_own { self.parts.len() } else { own.len() };
        Some(InPlace { own, own_len: own_len as u8, primary, stored, is_behind_primary })
    }

    /// What a part of the index has of a column's value.
    fn indexed<'v>(
        &self,
        at: usize,
        value: Value<'v>,
        collations: &dyn Collations,
        weights: &'v mut Vec<u8>,
    ) -> Value<'v> {
        let (prefix, collation) =
            (self.prefixes.get(at).copied().flatten(), self.collations.get(at).copied().flatten());
        match (value, collation, prefix) {
            (Value::Bytes(text), Some(collation), prefix) => {
                weights.clear();
                collations.append_weights(collation, prefix, text, weights);
                Value::Bytes(weights)
            }
            (Value::Bytes(bytes), None, Some(prefix)) => Value::Bytes(&bytes[..bytes.len().min(prefix as usize)]),
            (value, ..) => value,
        }
    }

    /// Where the entries are whose first columns have the values of `front`, and whose next column lies between two others.
    /// Values are those of whole columns; where the index has only the beginning of one, rows beyond the bounds may be there.
    pub fn range(
        &self,
        front: &[Value<'_>],
        lower: Bound<Value<'_>>,
        upper: Bound<Value<'_>>,
        collations: &dyn Collations,
    ) -> Result<KeyRange, KeyError> {
        let mut beginning = Vec::new();
        self.append_parts(front.iter().copied(), collations, &mut beginning)?;
        if front.len() == self.parts.len() {
            return Ok(KeyRange::beginning_with(beginning));
        }
        self.range_behind(&beginning, front.len(), lower, upper, collations)
    }

    /// Where the entries are whose keys begin with these bytes, those of the columns in front of the part with this number, and whose
    /// part lies between two values.
    pub fn range_behind(
        &self,
        beginning: &[u8],
        at: usize,
        lower: Bound<Value<'_>>,
        upper: Bound<Value<'_>>,
        collations: &dyn Collations,
    ) -> Result<KeyRange, KeyError> {
        let widened = |bound| match bound {
            Bound::Excluded(value) if self.prefixes.get(at).is_some_and(Option::is_some) => Bound::Included(value),
            bound => bound,
        };
        let mut weights = [Vec::new(), Vec::new()];
        let [lower_weights, upper_weights] = &mut weights;
        let lower = widened(lower).map(|value| self.indexed(at, value, collations, lower_weights));
        let upper = widened(upper).map(|value| self.indexed(at, value, collations, upper_weights));
        KeyRange::between(beginning, &self.parts[at], lower, upper)
    }

    /// Where the entries are that are the same as this in the index's first `parts` columns.
    pub fn range_of_same(&self, key: &[u8], parts: usize) -> Result<KeyRange, Corrupt> {
        let behind = primary_key_in(&self.parts[..parts], key)?;
        Ok(KeyRange::beginning_with(key[..key.len() - behind.len()].to_vec()))
    }

    /// Where the entries are whose first columns have the values of `front`, and whose next column, a text, has weights that begin
    /// with these. Where the index has only the beginning of that column, they are to be no more than the weights of it.
    pub fn texts_beginning_with(
        &self,
        front: &[Value<'_>],
        weights: &[u8],
        collations: &dyn Collations,
    ) -> Result<KeyRange, KeyError> {
        let mut beginning = Vec::new();
        self.append_parts(front.iter().copied(), collations, &mut beginning)?;
        self.parts[front.len()].append_beginning(weights, KEY_LEN_MAX, &mut beginning)?;
        Ok(KeyRange::beginning_with(beginning))
    }

    /// How much of a text the part with this number has, in characters; `None` for all of it.
    pub fn prefix_of(&self, part: usize) -> Option<u32> {
        self.prefixes[part]
    }

    /// Appends the first parts of a key, as many as there are values: of whole columns, of which the parts take what they
    /// have. Returns whether one of them is NULL.
    fn append_parts<'v>(
        &self,
        values: impl Iterator<Item = Value<'v>>,
        collations: &dyn Collations,
        out: &mut Vec<u8>,
    ) -> Result<bool, KeyError> {
        let mut has_null = false;
        let mut weights = Vec::new();
        for (at, (part, value)) in self.parts.iter().zip(values).enumerate() {
            has_null |= value == Value::Null;
            let value = self.indexed(at, value, collations, &mut weights);
            part.append(value, KEY_LEN_MAX, out)?;
        }
        Ok(has_null)
    }

    /// The key of the row itself: of its primary key, or of its hidden number. On entry: the layout is the clustered one.
    pub fn primary_key(
        &self,
        values: &[Value<'_>],
        row_number: u64,
        collations: &dyn Collations,
        out: &mut Vec<u8>,
    ) -> Result<(), KeyError> {
        debug_assert!(self.is_clustered);
        out.clear();
        let value_of = |part: &KeyPart| match part.column() {
            ROW_NUMBER => Value::Unsigned(row_number),
            column => values[usize::from(column)],
        };
        self.append_parts(self.parts.iter().map(value_of), collations, out).map(|_| ())
    }

    /// Makes a row's entry. On entry: `primary_key` is the row's, and is the key if this is where the rows are.
    pub fn entry(
        &self,
        values: &[Value<'_>],
        primary_key: &[u8],
        collations: &dyn Collations,
        out: &mut Entry,
    ) -> Result<(), EntryError> {
        out.key.clear();
        out.payload.clear();
        if self.is_clustered {
            out.key.extend_from_slice(primary_key);
        } else {
            let own = self.parts.iter().map(|part| values[usize::from(part.column())]);
            let has_null = self.append_parts(own, collations, &mut out.key)?;
            if self.is_unique && !has_null {
                let len = u16::try_from(primary_key.len()).expect("a key is not longer than KEY_LEN_MAX");
                out.payload.extend_from_slice(&len.to_le_bytes());
                out.payload.extend_from_slice(primary_key);
            } else {
                out.key.extend_from_slice(primary_key);
                if out.key.len() > KEY_LEN_MAX {
                    return Err(KeyError::TooLong { limit: KEY_LEN_MAX }.into());
                }
            }
        }
        let value_of = |&column: &u16| if column == GONE { Value::Null } else { values[usize::from(column)] };
        let stored: SmallVec<[Value<'_>; 8]> = self.stored_row.iter().map(value_of).collect();
        Ok(encode_row(&self.stored, &stored, &mut out.payload)?)
    }

    /// Whether two rows with the same primary key surely have the same entry, which need not be made then. Not of the rows themselves.
    pub fn makes_same(&self, one: &[Value<'_>], other: &[Value<'_>]) -> bool {
        // (The two zeros are equal, but not the same.)
        let is_same = |one, other| one == other && !matches!(one, Value::Float(0.0) | Value::Double(0.0));
        let mut columns = self.parts.iter().map(KeyPart::column).chain(self.stored_columns.iter().copied());
        columns.all(|column| is_same(one[usize::from(column)], other[usize::from(column)]))
    }

    /// The beginning of the keys of entries whose first parts have these values, which are whole columns.
    pub fn beginning(
        &self,
        values: &[Value<'_>],
        collations: &dyn Collations,
        out: &mut Vec<u8>,
    ) -> Result<(), KeyError> {
        out.clear();
        self.append_parts(values.iter().copied(), collations, out).map(|_| ())
    }

    /// Takes an entry apart.
    #[inline(always)]
    fn split<'e>(&self, key: &'e [u8], payload: &'e [u8]) -> Result<Split<'e>, Corrupt> {
        // Each part on its own: a result that is copied is read as a whole before its parts have arrived.
        let (own, primary_key, stored) = if self.is_clustered {
            (key, key, payload)
        } else {
            let Split { own, primary_key, stored } = self.split_secondary(key, payload)?;
            (own, primary_key, stored)
        };
        Ok(Split { own, primary_key, stored })
    }

    fn split_secondary<'e>(&self, key: &'e [u8], payload: &'e [u8]) -> Result<Split<'e>, Corrupt> {
        let behind = primary_key_in(&self.parts, key)?;
        let own = &key[..key.len() - behind.len()];
        if !behind.is_empty() || !self.is_unique {
            return Ok(Split { own, primary_key: behind, stored: payload });
        }
        let (primary_key, stored) = split_payload(payload)?;
        Ok(Split { own, primary_key, stored })
    }

    /// The key of the row that an entry belongs to.
    pub fn primary_key_of<'e>(&self, key: &'e [u8], payload: &'e [u8]) -> Result<&'e [u8], Corrupt> {
        Ok(self.split(key, payload)?.primary_key)
    }

    /// Whether a key has a NULL in the index's own parts, or the index is not unique: then it is this row's alone.
    pub fn is_rows_own(&self, key: &[u8]) -> Result<bool, Corrupt> {
        Ok(!self.is_clustered && !primary_key_in(&self.parts, key)?.is_empty())
    }

    /// Reads an entry: the value of each column that it tells, NULL for those that it does not. What has to be put together
    /// is kept in the buffers.
    pub fn read<'e>(
        &'e self,
        key: &'e [u8],
        payload: &'e [u8],
        buffers: &'e mut [Vec<u8>; 2],
        out: &mut Vec<Value<'e>>,
    ) -> Result<(), Corrupt> {
        out.clear();
        out.resize(self.is_told.len(), Value::Null);
        let split = self.split(key, payload)?;
        self.visit_key(&split, buffers, |_| true, |column, value| out[column] = value)?;
        self.visit_stored(Payload::whole(split.stored), &self.stored_columns, |column, value| out[column] = value)
            .map(drop)
    }

    /// As [`EntryLayout::read`], of these columns; others are NULL. Of the payload there is so much.
    pub fn read_columns<'e>(
        &'e self,
        columns: &[u16],
        key: &'e [u8],
        payload: Payload<'e>,
        buffers: &'e mut [Vec<u8>; 2],
        out: &mut Vec<Value<'e>>,
    ) -> Result<(), Corrupt> {
        out.clear();
        out.resize(self.is_told.len(), Value::Null);
        self.visit_columns(columns, key, payload, buffers, |column, value| out[column] = value)
    }

    /// Shows those of these columns that an entry tells: the column, and its value. Of the payload there is so much. What has to be put
    /// together is kept in the buffers. For row after row: the values go from the entry to where they are wanted.
    #[inline(always)]
    pub fn visit_columns<'e>(
        &'e self,
        columns: &[u16],
        key: &'e [u8],
        payload: Payload<'e>,
        buffers: &'e mut [Vec<u8>; 2],
        mut visit: impl FnMut(usize, Value<'e>),
    ) -> Result<(), Corrupt> {
        let split = self.split(key, payload.bytes)?;
        if self.visit_stored(Payload { bytes: split.stored, ..payload }, columns, &mut visit)? {
            return Ok(());
        }
        self.visit_key(&split, buffers, |column| columns.contains(&column), visit)
    }

    /// Shows those columns that the key gives back, of those that are wanted.
    fn visit_key<'e>(
        &'e self,
        split: &Split<'e>,
        [own_buffer, primary_buffer]: &'e mut [Vec<u8>; 2],
        is_wanted: impl Fn(u16) -> bool,
        mut visit: impl FnMut(usize, Value<'e>),
    ) -> Result<(), Corrupt> {
        let is_wanted =
            |part: &KeyPart| part.is_reversible() && part.column() != ROW_NUMBER && is_wanted(part.column());
        let mut visit_parts = |parts: &'e [KeyPart], mut reader: KeyReader<'e>| {
            for part in parts {
                if is_wanted(part) {
                    visit(usize::from(part.column()), reader.read(part)?);
                } else {
                    reader.skip(part)?;
                }
            }
            reader.finish()
        };
        visit_parts(&self.parts, KeyReader::new(split.own, own_buffer))?;
        if self.is_clustered {
            return Ok(());
        }
        visit_parts(&self.primary_parts, KeyReader::new(split.primary_key, primary_buffer))
    }

    /// Shows columns as they lie in an entry. The key is looked at only if [`InPlace::needs_key`]; what has to be put together of it is
    /// in the arena.
    #[inline(always)]
    pub(crate) fn visit_in_place<'e>(
        &'e self,
        how: &InPlace<'e>,
        key: &'e [u8],
        payload: &'e [u8],
        arena: &'e Bump,
        mut visit: impl FnMut(usize, Value<'e>),
    ) -> Result<(), Corrupt> {
        if how.needs_key() {
            return self.visit_with_key(how, key, payload, arena, &mut visit);
        }
        if how.stored.is_empty() { Ok(()) } else { how.stored.show(payload, visit) }
    }

    /// As [`EntryLayout::visit_in_place`], where the key is looked at. (By itself: beside it, what is read of most rows would not stay in
    /// registers.)
    #[inline(never)]
    fn visit_with_key<'e>(
        &'e self,
        how: &InPlace<'e>,
        key: &'e [u8],
        payload: &'e [u8],
        arena: &'e Bump,
        visit: &mut impl FnMut(usize, Value<'e>),
    ) -> Result<(), Corrupt> {
        let (mut stored, mut reader) = (payload, KeyReader::in_arena(key, arena));
        how.own.visit(&self.parts[..usize::from(how.own_len)], &mut reader, visit)?;
        if !how.primary.is_empty() || how.is_behind_primary {
            let mut primary_key = reader.rest();
            if primary_key.is_empty() && self.is_unique {
                (primary_key, stored) = split_payload(payload)?;
            }
            let parts = &self.primary_parts[..how.primary.len()];
            how.primary.visit(parts, &mut KeyReader::in_arena(primary_key, arena), visit)?;
        }
        if how.stored.is_empty() { Ok(()) } else { how.stored.show(stored, visit) }
    }

    /// Shows those of these columns that are stored behind the key: whether all are. `stored` is what is there; of the rows
    /// themselves, the payload, or its front.
    #[inline(always)]
    fn visit_stored<'e>(
        &'e self,
        stored: Payload<'e>,
        columns: &[u16],
        mut visit: impl FnMut(usize, Value<'e>),
    ) -> Result<bool, Corrupt> {
        let (stored, mut are_all) = (RowRef::read(&self.stored, stored.bytes, stored.portion)?, true);
        for &column in columns {
            let column = usize::from(column);
            let at = self.stored_at[column];
            if at == NOT_STORED {
                are_all = false;
            } else {
                visit(column, stored.value(usize::from(at))?);
            }
        }
        Ok(are_all)
    }
}

/// The primary key that the payload of a unique index's entry begins with, and what is stored behind it.
fn split_payload(payload: &[u8]) -> Result<(&[u8], &[u8]), Corrupt> {
    let (len, rest) = payload.split_first_chunk().ok_or(Corrupt::Truncated)?;
    rest.split_at_checked(usize::from(u16::from_le_bytes(*len))).ok_or(Corrupt::Truncated)
}

/// Which columns are read from an entry as they lie there, and where they lie: for one row after the other.
#[derive(Clone, Debug)]
pub(crate) struct InPlace<'t> {
    /// Those of the index's own parts that are read.
    own: PartSet,
    /// As many of them are read or passed.
    own_len: u8,
    /// Those of the primary key's parts behind them that are read.
    primary: PartSet,
    /// Those that are stored behind the key.
    stored: RowReader<'t>,
    /// Whether these lie behind the primary key, if that is not in the key.
    is_behind_primary: bool,
}

impl InPlace<'_> {
    /// Whether the key is looked at.
    #[inline(always)]
    pub fn needs_key(&self) -> bool {
        self.own_len > 0
    }

    /// How much there is of the payloads that come: fronts have in them what is read ([`EntryLayout::has_in_front`]).
    pub fn set_portion(&mut self, portion: Portion) {
        self.stored.set_portion(portion);
    }
}

/// Some of a key's parts, by their numbers: of no more than an index may have.
#[derive(Clone, Copy, Default, Debug)]
struct PartSet(u16);

const _: () = assert!(INDEX_PARTS_MAX <= u16::BITS as usize);

impl PartSet {
    fn insert(&mut self, part: usize) {
        self.0 |= 1 << part;
    }

    fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The number behind the last of them.
    fn len(self) -> usize {
        (u16::BITS - self.0.leading_zeros()) as usize
    }

    /// Shows those of these parts that are in the set, and passes the others.
    #[inline(always)]
    fn visit<'e>(
        self,
        parts: &[KeyPart],
        reader: &mut KeyReader<'e>,
        visit: &mut impl FnMut(usize, Value<'e>),
    ) -> Result<(), Corrupt> {
        for (number, part) in parts.iter().enumerate() {
            if self.0 >> number & 1 == 1 {
                visit(usize::from(part.column()), reader.read(part)?);
            } else {
                reader.skip(part)?;
            }
        }
        Ok(())
    }
}

/// An entry, taken apart.
struct Split<'e> {
    /// The index's own parts.
    own: &'e [u8],
    primary_key: &'e [u8],
    stored: &'e [u8],
}
