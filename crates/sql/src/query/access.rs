//! Which index finds a table's rows, and between which keys.
//!
//! ```text
//!   conjuncts:  a = 1   b > ?   c LIKE 'x%'        index (a, b):  equal [1], low (?, excluded)
//!                  when it runs: values -> the column's type -> keys
//! ```
//!
//! # Invariants
//! 1. An access yields every row for which the conditions hold; others may come too: conditions are asked again.
//! 2. An index is used for a comparison only if its order is that of the comparison (`expression`, inspect). What a value
//!    is to the column is decided when it is known: a number between two integers, NULL, or nothing that an index finds.
//!
//! # Source
//! The manual, "Range Optimization".

use std::ops::Bound;

use bumpalo::Bump;
use meseta_engine::row::{KeyRange, Value};
use meseta_types::{Context, DataType, Datum, Stored};

use super::inside::Running;
use super::plan::{Access, Lookup, TableSource};
use super::table::KnownTable;
use crate::error::Result;
use crate::expression::{ComparisonOperator, Expr, ExprKind, Key, key_value};
use crate::schema::MysqlCollations;

/// Where the rows of an access are.
#[derive(Debug)]
pub enum Bounds {
    /// Nowhere: a comparison with NULL, or with what the column cannot hold.
    Empty,
    /// All parts of a unique index have a value: the row or entry with this key.
    Point(Vec<u8>),
    /// In a stretch of keys.
    Range(KeyRange),
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
#[inline]
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
    row: &'s [Datum<'s>],
    outer: &'s [&'s [Datum<'s>]],
    arena: &'s Bump,
    running: &'s mut Running<'r>,
}

impl<'s> Seeker<'s, '_> {
    fn data_type(&self, part: usize) -> &'s DataType {
        let engine_table = self.source.table.engine();
        let column = engine_table.definition.indexes[self.source.access.index].parts[part].column;
        &self.source.table.columns[usize::from(column)].data_type
    }

    fn seek(&mut self, lookup: &'s Lookup, part: usize) -> Result<Sought<'s>> {
        let Lookup::Value { value, comparer } = lookup else { return Ok(Sought::Exactly(Value::Null)) };
        let data_type = self.data_type(part);
        let mut env = self.running.env(self.arena, self.outer);
        let datum = value.evaluate(self.row, &mut env)?;
        let key = key_value(datum, data_type, comparer, &mut env);
        let stored = |datum| stored(datum, data_type, self.running.context, self.arena);
        Ok(match key {
            Key::Exact(datum) => Sought::Exactly(stored(datum)),
            Key::Between(datum) => Sought::Below(stored(datum)),
            Key::Null => Sought::Nothing,
            Key::Unusable => Sought::Anything,
        })
    }

    fn bounds(&mut self) -> Result<Vec<Bounds>> {
        let access = &self.source.access;
        let mut front = Vec::with_capacity(access.equal.len() + 1);
        for (part, lookup) in access.equal.iter().enumerate() {
            match self.seek(lookup, part)? {
                Sought::Exactly(value) => front.push(value),
                Sought::Below(_) | Sought::Nothing => return Ok(vec![Bounds::Empty]),
                Sought::Anything => return Ok(vec![self.stretch(&front, Bound::Unbounded, Bound::Unbounded)]),
            }
        }
        let behind = front.len();
        if !access.any_of.is_empty() {
            let mut all = Vec::with_capacity(access.any_of.len());
            for lookup in &access.any_of {
                match self.seek(lookup, behind)? {
                    Sought::Exactly(value) => {
                        front.push(value);
                        all.push(self.stretch(&front, Bound::Unbounded, Bound::Unbounded));
                        front.pop();
                    }
                    Sought::Below(_) | Sought::Nothing => {}
                    Sought::Anything => return Ok(vec![self.stretch(&front, Bound::Unbounded, Bound::Unbounded)]),
                }
            }
            return Ok(in_order(all));
        }
        let lower = match &access.low {
            // No comparison is true for NULL, which lies below all values.
            None if access.high.is_some() => Bound::Excluded(Value::Null),
            None => Bound::Unbounded,
            Some((lookup, is_included)) => match self.seek(lookup, behind)? {
                Sought::Exactly(value) if *is_included => Bound::Included(value),
                Sought::Exactly(value) => Bound::Excluded(value),
                Sought::Below(value) => Bound::Included(value),
                Sought::Nothing => return Ok(vec![Bounds::Empty]),
                Sought::Anything => Bound::Excluded(Value::Null),
            },
        };
        let upper = match &access.high {
            None => Bound::Unbounded,
            Some((lookup, is_included)) => match self.seek(lookup, behind)? {
                Sought::Exactly(value) if *is_included => Bound::Included(value),
                Sought::Exactly(value) | Sought::Below(value) => Bound::Excluded(value),
                Sought::Nothing => return Ok(vec![Bounds::Empty]),
                Sought::Anything => Bound::Unbounded,
            },
        };
        Ok(vec![self.stretch(&front, lower, upper)])
    }

    fn stretch(&self, front: &[Value<'_>], lower: Bound<Value<'_>>, upper: Bound<Value<'_>>) -> Bounds {
        let access = &self.source.access;
        let engine_table = self.source.table.engine();
        let layout = &engine_table.indexes[access.index].layout;
        let parts = engine_table.definition.indexes[access.index].parts.len();
        // A column that may not be NULL has no room for it: then it excludes nothing.
        let lower = match lower {
            Bound::Excluded(Value::Null) if !self.may_be_null(front.len()) => Bound::Unbounded,
            lower => lower,
        };
        if access.is_point && front.len() == parts && !front.contains(&Value::Null) {
            let mut key = Vec::new();
            // A value whose key is too long is in no row.
            let made = layout.beginning(front, &MysqlCollations, &mut key);
            return if made.is_ok() { Bounds::Point(key) } else { Bounds::Empty };
        }
        layout.range(front, lower, upper, &MysqlCollations).map_or(Bounds::Empty, Bounds::Range)
    }

    fn may_be_null(&self, part: usize) -> bool {
        let definition = &self.source.table.engine().definition;
        let part = definition.indexes[self.source.access.index].parts.get(part);
        part.is_some_and(|part| definition.columns[usize::from(part.column)].content.nullable)
    }
}

/// Where the rows of an access are, for the row so far: in one stretch, or in one for each of `any_of`.
pub fn bounds(
    source: &TableSource,
    row: &[Datum<'_>],
    outer: &[&[Datum<'_>]],
    running: &mut Running<'_>,
) -> Result<Vec<Bounds>> {
    let arena = Bump::new();
    Seeker { source, row, outer, arena: &arena, running }.bounds()
}

/// Stretches of an IN list in the order of their keys, each once.
fn in_order(mut all: Vec<Bounds>) -> Vec<Bounds> {
    fn key(bounds: &Bounds) -> &[u8] {
        match bounds {
            Bounds::Empty => &[],
            Bounds::Point(key) => key,
            Bounds::Range(range) => &range.from,
        }
    }
    all.sort_by(|one, other| key(one).cmp(key(other)));
    all.dedup_by(|one, other| key(one) == key(other));
    all
}

/// What a condition says of one column.
enum Said<'e> {
    Equal(Lookup),
    AnyOf(Vec<Lookup>),
    Low(&'e Expr, crate::expression::Comparer, bool),
    High(&'e Expr, crate::expression::Comparer, bool),
}

fn said_of<'e>(condition: &'e Expr, slot: u32, data_type: &DataType, out: &mut Vec<Said<'e>>) {
    use ComparisonOperator as Operator;
    if condition.as_is_null() == Some(slot) {
        out.push(Said::Equal(Lookup::Null));
    }
    if let Some(comparison) = condition.as_comparison()
        && comparison.column == slot
        && comparison.orders_like()
    {
        let (value, comparer) = (comparison.value, comparison.comparer);
        match comparison.operator {
            Operator::Equal => out.push(Said::Equal(Lookup::Value { value: value.clone(), comparer })),
            Operator::Less => out.push(Said::High(value, comparer, false)),
            Operator::LessOrEqual => out.push(Said::High(value, comparer, true)),
            Operator::Greater => out.push(Said::Low(value, comparer, false)),
            Operator::GreaterOrEqual => out.push(Said::Low(value, comparer, true)),
            _ => {}
        }
    }
    if let Some((column, between)) = condition.as_between()
        && column == slot
        && [&between.low, &between.high]
            .iter()
            .all(|side| crate::expression::orders_like(&between.comparer, data_type, &side.data_type))
    {
        out.push(Said::Low(&between.low, between.comparer, true));
        out.push(Said::High(&between.high, between.comparer, true));
    }
    if let ExprKind::Or(parts) = &condition.kind {
        // One column that is one of several values, however that was written.
        let mut values = Vec::new();
        let is_list = parts.iter().all(|part| {
            let mut said = Vec::new();
            said_of(part, slot, data_type, &mut said);
            match said.pop() {
                Some(Said::Equal(lookup)) if said.is_empty() => values.push(lookup),
                Some(Said::AnyOf(lookups)) if said.is_empty() => values.extend(lookups),
                _ => return false,
            }
            true
        });
        if is_list && !values.is_empty() {
            out.push(Said::AnyOf(values));
        }
    }
    if let Some((column, list)) = condition.as_in()
        && column == slot
        && list.list.len() == list.comparers.len()
        && list
            .list
            .iter()
            .zip(&list.comparers)
            .all(|(value, comparer)| crate::expression::orders_like(comparer, data_type, &value.data_type))
    {
        let lookups = list.list.iter().zip(&list.comparers);
        out.push(Said::AnyOf(
            lookups.map(|(value, &comparer)| Lookup::Value { value: value.clone(), comparer }).collect(),
        ));
    }
}

/// Indexes of which the conditions say something: EXPLAIN's possible keys.
pub fn possible(table: &KnownTable, first_slot: usize, conditions: &[&Expr]) -> Vec<usize> {
    let engine_table = table.engine();
    let is_possible = |index: &usize| {
        engine_table.indexes[*index].build.is_none() && for_index(table, *index, first_slot, conditions).is_some()
    };
    (0..engine_table.indexes.len()).filter(is_possible).collect()
}

/// Chooses how a table's rows are found by these conditions, which name nothing but it and what comes before. `columns` are
/// those that are asked for, if an index that has them all will do. Returns about how many rows it reads, too.
pub fn choose(
    table: &KnownTable,
    first_slot: usize,
    conditions: &[&Expr],
    rows: u64,
    columns: Option<&[u16]>,
) -> (Access, f64) {
    let engine_table = table.engine();
    let mut best = (Access::all(), rows.max(1) as f64);
    let covers = |index: usize| {
        columns.is_some_and(|columns| engine_table.indexes[index].layout.covers(columns.iter().copied()))
    };
    // Of several indexes that have everything, the one with the shortest entries.
    let width = |index: usize| -> u32 {
        let parts = &engine_table.definition.indexes[index].parts;
        parts.iter().map(|part| table.columns[usize::from(part.column)].data_type.row_bytes()).sum()
    };
    let is_whole = |index: &usize| *index > 0 && engine_table.indexes[*index].build.is_none() && covers(*index);
    if let Some(index) = (1..engine_table.indexes.len()).filter(is_whole).min_by_key(|&index| width(index)) {
        best = (Access { index, ..Access::all() }, best.1);
    }
    for (number, definition) in engine_table.definition.indexes.iter().enumerate() {
        if engine_table.indexes[number].build.is_some() {
            continue;
        }
        let Some(access) = for_index(table, number, first_slot, conditions) else { continue };
        let is_direct = number == 0 || covers(number);
        let cost = cost_of(&access, is_direct, definition.unique, definition.parts.len(), rows);
        if cost < best.1 {
            best = (access, cost);
        }
    }
    best
}

/// Roughly how many rows are read, one that is fetched behind its entry counted more.
fn cost_of(access: &Access, is_direct: bool, unique: bool, parts: usize, rows: u64) -> f64 {
    let rows = rows.max(1) as f64;
    let (matched, is_whole) = (access.equal.len(), access.equal.len() == parts);
    let mut found = if unique && is_whole { 1.0 } else { rows / 10_f64.powi(matched as i32).min(rows) };
    if !access.any_of.is_empty() {
        let each = if unique && matched + 1 == parts { 1.0 } else { found / 10.0 };
        found = (each * access.any_of.len() as f64).min(found);
    }
    found *= match (&access.low, &access.high) {
        (Some(_), Some(_)) => 0.05,
        (None, None) => 1.0,
        _ => 0.3,
    };
    // At one row an exact key is better than a stretch.
    let exactness = if access.is_point { 0.5 } else { 1.0 };
    found.max(1.0) * exactness * if is_direct { 1.0 } else { 1.5 }
}

/// What the conditions say of an index's columns, from the first on.
fn for_index(table: &KnownTable, number: usize, first_slot: usize, conditions: &[&Expr]) -> Option<Access> {
    let definition = &table.engine().definition.indexes[number];
    let mut access = Access { index: number, ..Access::all() };
    for part in &definition.parts {
        let data_type = &table.columns[usize::from(part.column)].data_type;
        let slot = (first_slot + usize::from(part.column)) as u32;
        let mut said = Vec::new();
        conditions.iter().for_each(|condition| said_of(condition, slot, data_type, &mut said));
        let mut equal = None;
        for said in said {
            match said {
                Said::Equal(lookup) => {
                    equal.get_or_insert(lookup);
                }
                Said::AnyOf(lookups) if access.any_of.is_empty() => access.any_of = lookups,
                Said::AnyOf(_) => {}
                Said::Low(value, comparer, is_included) => {
                    access.low.get_or_insert((Lookup::Value { value: value.clone(), comparer }, is_included));
                }
                Said::High(value, comparer, is_included) => {
                    access.high.get_or_insert((Lookup::Value { value: value.clone(), comparer }, is_included));
                }
            }
        }
        if equal.is_some() || !access.any_of.is_empty() {
            (access.low, access.high) = (None, None);
        }
        let Some(lookup) = equal else { break };
        access.any_of.clear();
        access.equal.push(lookup);
    }
    let parts = definition.parts.len();
    let is_whole = definition.parts.iter().all(|part| part.prefix.is_none());
    let decided = access.equal.len() + usize::from(!access.any_of.is_empty());
    access.is_point = decided == parts && parts > 0 && definition.unique && is_whole;
    let is_any = decided > 0 || access.low.is_some() || access.high.is_some();
    is_any.then_some(access)
}
