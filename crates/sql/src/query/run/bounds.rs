//! Between which keys the rows of an access are, once the values are known that it looks for.
//!
//! ```text
//!   values -> the column's type -> keys -> stretches, in order, none in another
//! ```
//!
//! # Invariants
//! 1. What a value is to the column is decided here: a number between two integers, NULL, or nothing that an index finds. Then
//!    the stretch is wider, and no condition counts as implied.
//! 2. The stretches hold every row that the access is to yield.
//!
//! # Source
//! The manual, "Range Optimization".

use std::ops::Bound;

use bumpalo::Bump;
use meseta_engine::row::{KeyRange, Value};
use meseta_engine::{Direction, Isolation};
use meseta_types::{Context, DataType, DateTime, Datum, Stored};
use smallvec::SmallVec;

use super::inside::Running;
use super::spare::Memory;
use crate::error::Result;
use crate::expression::{InSubquery, Key, Like, copy_into, key_value};
use crate::query::plan::{Access, ConditionSet, Lookup, Stretch, TableSource};
use crate::schema::MysqlCollations;

/// From so many values on they may be too many to look for one by one:
const MANY_VALUES: usize = 1000;
/// if there are not so many rows for each.
const ROWS_PER_VALUE: usize = 8;

/// Where the rows of an access are.
#[derive(Debug)]
pub enum Bounds {
    /// Nowhere: a comparison with NULL, or with what the column cannot hold.
    Empty,
    /// All parts of a unique index have a value: the row or entry with this key.
    Point(Vec<u8>),
    /// In a stretch of keys.
    Range(KeyRange),
    /// Among all keys that are the same in the index's first columns, for each of the values that they have there.
    EachOf(Groups),
}

/// Keys that are the same in an index's first columns.
#[derive(Debug)]
pub struct Groups {
    /// In so many columns.
    pub columns: usize,
    /// Where the keys of one are that are wanted, if what they have in common is left out.
    within: KeyRange,
}

impl Groups {
    /// Where the keys are that are wanted of those in this range: all that have its beginning in common.
    pub fn wanted_in(&self, group: &KeyRange) -> KeyRange {
        let behind = |key: &[u8]| [&group.from, key].concat();
        let to = self.within.to.as_deref().map(behind).or_else(|| group.to.clone());
        KeyRange { from: behind(&self.within.from), to }
    }
}

/// Where the rows of an access are: mostly in one place.
pub type Stretches = SmallVec<[Bounds; 1]>;

fn one(bounds: Bounds) -> Stretches {
    Stretches::from_buf([bounds])
}

/// A column's value in the engine's form.
pub fn stored<'v>(datum: Datum<'v>, data_type: &DataType, context: &Context, arena: &'v Bump) -> Value<'v> {
    let mut scratch = Vec::new();
    match data_type.store(datum, &context.zone, &mut scratch) {
        Stored::Null => Value::Null,
        Stored::Signed(number) => Value::Signed(number),
        Stored::Unsigned(number) => Value::Unsigned(number),
        Stored::Float(number) => Value::Float(number),
        Stored::Double(number) => Value::Double(number),
        Stored::Bytes(bytes) => Value::Bytes(arena.alloc_slice_copy(bytes)),
    }
}

/// A column's value from the engine's form.
#[inline(never)]
pub fn loaded<'v>(value: Value<'v>, data_type: &'v DataType, context: &Context) -> Datum<'v> {
    let stored = match value {
        Value::Null => return Datum::Null,
        Value::Signed(number) => Stored::Signed(number),
        Value::Unsigned(number) => Stored::Unsigned(number),
        Value::Float(number) => Stored::Float(number),
        Value::Double(number) => Stored::Double(number),
        Value::Bytes(bytes) => Stored::Bytes(bytes),
    };
    data_type.load(stored, &context.zone)
}

/// As [`loaded`], for row after row: what most columns are is put in its place at once. (A value that is returned goes
/// through memory first, and is read before it has arrived there.)
#[inline(always)]
pub fn load_into<'v>(value: Value<'v>, data_type: &'v DataType, context: &Context, to: &mut Datum<'v>) {
    match (value, data_type) {
        (Value::Signed(number), DataType::Integer { .. }) => *to = Datum::Signed(number),
        (Value::Unsigned(number), DataType::Integer { .. }) => *to = Datum::Unsigned(number),
        (Value::Bytes(text), DataType::Char { collation, .. } | DataType::Varchar { collation, .. }) => {
            *to = Datum::Text(text, *collation);
        }
        (Value::Bytes(bytes), DataType::DateTime { decimals }) => {
            *to = Datum::DateTime(DateTime::unpack(bytes), *decimals);
        }
        (value, data_type) => *to = loaded(value, data_type, context),
    }
}

/// What an index is asked for in place of a value.
enum Sought<'v> {
    Exactly(Value<'v>),
    /// Between this value and the one below it.
    Below(Value<'v>),
    Nothing,
    Anything,
}

/// The values of one access, for the row so far.
struct Seeker<'s, 'r> {
    source: &'s TableSource,
    access: &'s Access,
    row: &'s [Datum<'s>],
    outer: &'s [&'s [Datum<'s>]],
    arena: &'s Bump,
    running: &'s mut Running<'r>,
    /// Memory for a point's key.
    key: &'s mut Vec<u8>,
    /// All bounds so far could be used.
    is_exact: bool,
}

impl<'s> Seeker<'s, '_> {
    fn data_type(&self, part: usize) -> &'s DataType {
        let engine_table = self.source.table.engine();
        let column = engine_table.definition.indexes[self.access.index].parts[part].column;
        &self.source.table.columns[usize::from(column)].data_type
    }

    fn seek(&mut self, lookup: &'s Lookup, part: usize) -> Result<Sought<'s>> {
        let (value, comparer) = match lookup {
            Lookup::Value { value, comparer } | Lookup::Same { value, comparer } => (value, comparer),
            Lookup::Null => return Ok(Sought::Exactly(Value::Null)),
            Lookup::Beginning(_) => unreachable!("it is a bound, and `between` knows it"),
            Lookup::EachOf(_) => unreachable!("it is the first of a stretch, and `each_of` knows it"),
        };
        let data_type = self.data_type(part);
        let mut env = self.running.env(self.arena, self.outer);
        let datum = value.evaluate(self.row, &mut env)?;
        let key = key_value(datum, data_type, comparer, &mut env);
        let stored = |datum| stored(datum, data_type, self.running.context, self.arena);
        Ok(match key {
            Key::Exact(datum) => Sought::Exactly(stored(datum)),
            Key::Between(datum) => Sought::Below(stored(datum)),
            Key::Null if matches!(lookup, Lookup::Same { .. }) => Sought::Exactly(Value::Null),
            Key::Null => Sought::Nothing,
            Key::Unusable => {
                self.is_exact = false;
                Sought::Anything
            }
        })
    }

    fn bounds(&mut self) -> Result<Stretches> {
        let access = self.access;
        let mut front: SmallVec<[Value<'s>; 4]> = SmallVec::new();
        for (part, lookup) in access.equal.iter().enumerate() {
            match self.seek(lookup, part)? {
                Sought::Exactly(value) => front.push(value),
                Sought::Below(_) | Sought::Nothing => return Ok(one(Bounds::Empty)),
                Sought::Anything => return Ok(one(self.stretch(&front, Bound::Unbounded, Bound::Unbounded))),
            }
        }
        if access.is_one_point() {
            return Ok(one(self.stretch(&front, Bound::Unbounded, Bound::Unbounded)));
        }
        if access.skips > 0 {
            return Ok(one(self.groups(access.skips)?));
        }
        if access.any_of.is_empty() {
            return Ok(one(self.between(&front, &access.low, &access.high)?));
        }
        let (mut all, kept) = (Vec::with_capacity(access.any_of.len()), front.len());
        for stretch in &access.any_of {
            front.truncate(kept);
            match stretch.equal.split_first() {
                Some((Lookup::EachOf(inside), behind)) => {
                    let Some(values) = self.each_of(inside, kept)? else {
                        all.push(self.stretch(&front, Bound::Unbounded, Bound::Unbounded));
                        continue;
                    };
                    for value in values {
                        front.truncate(kept);
                        front.push(value);
                        all.extend(self.one_of(&mut front, behind, stretch)?);
                    }
                }
                _ => all.extend(self.one_of(&mut front, &stretch.equal, stretch)?),
            }
        }
        let mut all = in_order(all);
        if access.direction == Direction::Descending {
            all.reverse();
        }
        Ok(all.into())
    }

    /// The keys of one of the stretches, behind those that are in front; `None` if there are none.
    fn one_of(
        &mut self,
        front: &mut SmallVec<[Value<'s>; 4]>,
        equal: &'s [Lookup],
        stretch: &'s Stretch,
    ) -> Result<Option<Bounds>> {
        for lookup in equal {
            match self.seek(lookup, front.len())? {
                Sought::Exactly(value) => front.push(value),
                Sought::Below(_) | Sought::Nothing => return Ok(None),
                Sought::Anything => return Ok(Some(self.stretch(front, Bound::Unbounded, Bound::Unbounded))),
            }
        }
        self.between(front, &stretch.low, &stretch.high).map(Some)
    }

    /// The values of a query for the column of a part; `None` if one of them says nothing of where it is, or if they are so many
    /// that one may as well look at all rows.
    fn each_of(&mut self, inside: &'s InSubquery, part: usize) -> Result<Option<Vec<Value<'s>>>> {
        let data_type = self.data_type(part);
        let (arena, comparer) = (self.arena, &inside.comparers[0]);
        let mut found: Vec<Datum<'s>> = Vec::new();
        let (mut is_over, mut many) = (false, MANY_VALUES);
        let table = self.source.table.engine();
        inside.query.run(self.row, &mut self.running.env(arena, self.outer), &mut |values, _| {
            if found.len() == many {
                many = usize::try_from(table.estimate_rows().unwrap_or(0)).unwrap_or(usize::MAX) / ROWS_PER_VALUE;
                is_over = found.len() >= many;
            }
            found.extend(values.first().map(|&value| copy_into(value, None, arena)));
            Ok(!is_over)
        })?;
        let mut sought = Vec::with_capacity(found.len());
        for datum in found {
            match key_value(datum, data_type, comparer, &mut self.running.env(arena, self.outer)) {
                Key::Exact(datum) => sought.push(stored(datum, data_type, self.running.context, arena)),
                Key::Between(_) | Key::Null => {}
                Key::Unusable => is_over = true,
            }
        }
        self.is_exact &= !is_over;
        Ok((!is_over).then_some(sought))
    }

    /// The keys that begin with some values, and whose next part lies between two.
    fn between(
        &mut self,
        front: &[Value<'s>],
        low: &'s Option<(Lookup, bool)>,
        high: &'s Option<(Lookup, bool)>,
    ) -> Result<Bounds> {
        if let Some((Lookup::Beginning(like), _)) = low {
            return self.beginning(front, like);
        }
        let ends = self.ends(front.len(), low, high)?;
        Ok(ends.map_or(Bounds::Empty, |[lower, upper]| self.stretch(front, lower, upper)))
    }

    /// The keys whose column of this part lies between two values, whatever the columns in front of it are.
    fn groups(&mut self, part: usize) -> Result<Bounds> {
        let access = self.access;
        let Some([lower, upper]) = self.ends(part, &access.low, &access.high)? else { return Ok(Bounds::Empty) };
        let layout = &self.source.table.engine().indexes[access.index].layout;
        let within = layout.range_behind(&[], part, lower, upper, &MysqlCollations);
        Ok(within.map_or(Bounds::Empty, |within| Bounds::EachOf(Groups { columns: part, within })))
    }

    /// Between which values a part lies; `None` if there are none.
    fn ends(
        &mut self,
        part: usize,
        low: &'s Option<(Lookup, bool)>,
        high: &'s Option<(Lookup, bool)>,
    ) -> Result<Option<[Bound<Value<'s>>; 2]>> {
        // No comparison is true for NULL, which lies below all values. (A column that may not be NULL has no room for it.)
        let above_null = if self.may_be_null(part) { Bound::Excluded(Value::Null) } else { Bound::Unbounded };
        let lower = match low {
            None if high.is_some() => above_null,
            None => Bound::Unbounded,
            Some((lookup, is_included)) => match self.seek(lookup, part)? {
                Sought::Exactly(value) if *is_included => Bound::Included(value),
                Sought::Exactly(value) => Bound::Excluded(value),
                Sought::Below(value) => Bound::Included(value),
                Sought::Nothing => return Ok(None),
                Sought::Anything => above_null,
            },
        };
        let upper = match high {
            None => Bound::Unbounded,
            Some((lookup, is_included)) => match self.seek(lookup, part)? {
                Sought::Exactly(value) if *is_included => Bound::Included(value),
                Sought::Exactly(value) | Sought::Below(value) => Bound::Excluded(value),
                Sought::Nothing => return Ok(None),
                Sought::Anything => Bound::Unbounded,
            },
        };
        Ok(Some([lower, upper]))
    }

    /// The keys that begin with some values, and whose next part begins as a pattern does.
    fn beginning(&mut self, front: &[Value<'s>], like: &'s Like) -> Result<Bounds> {
        let pattern = like.pattern.evaluate(self.row, &mut self.running.env(self.arena, self.outer))?;
        let Some(pattern) = pattern.to_text(self.arena) else { return Ok(Bounds::Empty) };
        let layout = &self.source.table.engine().indexes[self.access.index].layout;
        let weights = like.key_prefix(pattern, layout.prefix_of(front.len()));
        // What is longer than any key is in no row.
        let range = layout.texts_beginning_with(front, &weights, &MysqlCollations);
        Ok(range.map_or(Bounds::Empty, Bounds::Range))
    }

    fn stretch(&mut self, front: &[Value<'_>], lower: Bound<Value<'_>>, upper: Bound<Value<'_>>) -> Bounds {
        let access = self.access;
        let engine_table = self.source.table.engine();
        let layout = &engine_table.indexes[access.index].layout;
        let parts = engine_table.definition.indexes[access.index].parts.len();
        if access.is_point && front.len() == parts && !front.contains(&Value::Null) {
            let mut key = std::mem::take(self.key);
            // A value whose key is too long is in no row.
            let made = layout.beginning(front, &MysqlCollations, &mut key);
            return if made.is_ok() { Bounds::Point(key) } else { Bounds::Empty };
        }
        layout.range(front, lower, upper, &MysqlCollations).map_or(Bounds::Empty, Bounds::Range)
    }

    fn may_be_null(&self, part: usize) -> bool {
        let definition = &self.source.table.engine().definition;
        let part = definition.indexes[self.access.index].parts.get(part);
        part.is_some_and(|part| definition.columns[usize::from(part.column)].content.nullable)
    }
}

/// Where the rows of an access are (not of a union), for the row so far: in one stretch, or in those of `any_of`, in the order of
/// their keys, the last first if it goes backwards. And which of the source's conditions hold of all of them. The memory is that of the
/// row: what it has is overwritten.
pub fn bounds(
    source: &TableSource,
    access: &Access,
    row: &[Datum<'_>],
    outer: &[&[Datum<'_>]],
    running: &mut Running<'_>,
    spare: &mut Memory,
) -> Result<(Stretches, ConditionSet)> {
    let Memory { arena, key, .. } = spare;
    arena.reset();
    let mut seeker = Seeker { source, access, row, outer, arena, running, key, is_exact: true };
    let stretches = seeker.bounds()?;
    let is_exact = seeker.is_exact;
    // Who reads what is not committed may see a row without the entry that led to it.
    let is_of_one_version = access.index == 0 || running.inside.engine.isolation() > Isolation::ReadUncommitted;
    let implied = if is_exact && is_of_one_version { access.implied } else { ConditionSet::default() };
    Ok((stretches, implied))
}

/// Stretches in the order of their keys; those that overlap are one.
fn in_order(all: Vec<Bounds>) -> Vec<Bounds> {
    let is_points = all.iter().all(|bounds| matches!(bounds, Bounds::Point(_) | Bounds::Empty));
    if is_points {
        let point = |bounds| if let Bounds::Point(key) = bounds { Some(key) } else { None };
        let mut keys: Vec<Vec<u8>> = all.into_iter().filter_map(point).collect();
        keys.sort_unstable();
        keys.dedup();
        return keys.into_iter().map(Bounds::Point).collect();
    }
    let range = |bounds| match bounds {
        Bounds::Empty => None,
        Bounds::Point(key) => Some(KeyRange::beginning_with(key)),
        Bounds::Range(range) => (!range.is_empty()).then_some(range),
        Bounds::EachOf(_) => unreachable!("there are no stretches beside it"),
    };
    let mut ranges: Vec<KeyRange> = all.into_iter().filter_map(range).collect();
    ranges.sort_unstable_by(|one, other| one.from.cmp(&other.from));
    ranges.dedup_by(|next, one| {
        let overlaps = one.to.as_ref().is_none_or(|end| next.from < *end);
        if overlaps && one.to.is_some() && next.to.as_ref().is_none_or(|end| Some(end) > one.to.as_ref()) {
            one.to = next.to.take();
        }
        overlaps
    });
    ranges.into_iter().map(Bounds::Range).collect()
}
