//! Sources that are queries, or made up, and are wanted more than once: their rows are kept.
//!
//! ```text
//!   first time:   rows are made and shown as they come, if they will be the same next time
//!   second time:  rows are made, kept, put into a table by their key, and shown from there; and so ever after
//!   key:          columns of integers or text that conditions compare with values that are known before the row
//! ```
//!
//! # Invariants
//! 1. What is kept is of one run of the SELECT that has the source: rows of queries around it do not change meanwhile. (LATERAL
//!    is not kept.)
//! 2. By the key come all rows for which the conditions hold; others may come too: conditions are asked again.
//! 3. Rows that take more than the memory limit are not kept; they are made anew each time.
//! 4. Rows of a query that is not repeatable (RAND(), `@n := 0`) are made once, by the first who wants them, but for 3.

use std::collections::HashMap;
use std::rc::Rc;

use bumpalo::Bump;
use meseta_types::{Collation, DataType, Datum};

use super::inside::Running;
use super::{MORE, Outer, Sink};
use crate::error::Result;
use crate::expression::group::append_group_key;
use crate::expression::{Comparison, ComparisonOperator, Key, Value, key_value};
use crate::query::plan::Source;

/// Rows of the sources that have been run, by the sources' addresses in the plan.
#[derive(Default)]
pub struct Materialized(HashMap<usize, Held>);

#[derive(Clone)]
enum Held {
    /// It has been run once.
    Once,
    /// These are its rows.
    Rows(Rc<Rows>),
    /// They are too many.
    TooMany,
}

/// Rows that are kept.
struct Rows {
    width: usize,
    values: Vec<Value>,
    count: usize,
    /// The numbers of the rows with a key; `None` if there is nothing to have a key of.
    by_key: Option<HashMap<Box<[u8]>, Vec<usize>>>,
}

impl Rows {
    fn row(&self, number: usize) -> &[Value] {
        &self.values[number * self.width..(number + 1) * self.width]
    }
}

/// Makes a source's rows, each shown to a sink.
pub type Make<'m> = dyn FnMut(&mut Running<'_>, &mut Sink<'_>) -> Result<()> + 'm;

/// Shows the rows of a source that can match the row so far: `make` makes them, unless they are there.
pub fn show(
    source: &Source,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
    make: &mut Make<'_>,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let address = std::ptr::from_ref(source).addr();
    let rows = match running.materialized.0.get(&address) {
        None if source.is_repeatable() => {
            running.materialized.0.insert(address, Held::Once);
            return make(running, sink);
        }
        Some(Held::TooMany) => return make(running, sink),
        Some(Held::Rows(rows)) => Rc::clone(rows),
        None | Some(Held::Once) => {
            let kept = keep(source, running, make)?;
            let held = kept.clone().map_or(Held::TooMany, Held::Rows);
            running.materialized.0.insert(address, held);
            match kept {
                Some(rows) => rows,
                None => return make(running, sink),
            }
        }
    };
    let mut show_one = |running: &mut Running<'_>, number: usize| {
        let values: Vec<Datum<'_>> = rows.row(number).iter().map(Value::get).collect();
        running.inside.facts.check_killed()?;
        sink(running, &values)
    };
    match sought(source, &rows, outer, row, running)? {
        Sought::All => {
            for number in 0..rows.count {
                if show_one(running, number)?.is_break() {
                    break;
                }
            }
        }
        Sought::Key(key) => {
            let found = rows.by_key.as_ref().and_then(|rows| rows.get(&key[..]));
            for &number in found.into_iter().flatten() {
                if show_one(running, number)?.is_break() {
                    break;
                }
            }
        }
        Sought::Nothing => {}
    }
    Ok(())
}

/// The rows; `None` if they are too many.
fn keep(source: &Source, running: &mut Running<'_>, make: &mut Make<'_>) -> Result<Option<Rc<Rows>>> {
    let keys = equalities(source);
    let limit = running.inside.memory_limit;
    let (mut taken, mut is_over, mut has_keys) = (0_usize, false, !keys.is_empty());
    let mut rows = Rows { width: 0, values: Vec::new(), count: 0, by_key: None };
    let mut by_key: HashMap<Box<[u8]>, Vec<usize>> = HashMap::new();
    let mut key = Vec::new();
    make(running, &mut |_, row| {
        taken += row.iter().map(|_| size_of::<Value>()).sum::<usize>();
        rows.width = row.len();
        let first = rows.values.len();
        rows.values.extend(row.iter().map(|&value| Value::new(value)));
        taken += rows.values[first..].iter().map(Value::bytes).sum::<usize>();
        if has_keys {
            key.clear();
            match append_key(&keys, source.first_slot, row, &mut key) {
                Appended::Key => by_key.entry(key[..].into()).or_default().push(rows.count),
                // No comparison is true for it.
                Appended::Null => {}
                Appended::Other => has_keys = false,
            }
            taken += key.len() + 48;
        }
        rows.count += 1;
        is_over = taken > limit;
        Ok(if is_over { super::ENOUGH } else { MORE })
    })?;
    if is_over {
        return Ok(None);
    }
    rows.by_key = has_keys.then_some(by_key);
    Ok(Some(Rc::new(rows)))
}

/// Which rows are wanted.
enum Sought {
    All,
    Key(Vec<u8>),
    Nothing,
}

fn sought(
    source: &Source,
    rows: &Rows,
    outer: Outer<'_>,
    row: &[Datum<'_>],
    running: &mut Running<'_>,
) -> Result<Sought> {
    if rows.by_key.is_none() {
        return Ok(Sought::All);
    }
    let (arena, mut sought) = (Bump::new(), Vec::new());
    for equality in equalities(source) {
        let mut env = running.env(&arena, outer);
        let value = equality.value.evaluate(row, &mut env)?;
        match key_value(value, equality.column_type, &equality.comparer, &mut env) {
            Key::Exact(value) => match kind_of(equality.column_type, value) {
                Some(collation) => append_group_key(value, collation, &mut sought),
                None => return Ok(Sought::All),
            },
            Key::Between(_) | Key::Null => return Ok(Sought::Nothing),
            Key::Unusable => return Ok(Sought::All),
        }
    }
    Ok(Sought::Key(sought))
}

/// Conditions that say what a column of integers or text is equal to.
fn equalities(source: &Source) -> Vec<Comparison<'_>> {
    let slots = source.slots();
    let mut found: Vec<Comparison<'_>> = Vec::new();
    for condition in &source.conditions {
        let usable = condition.as_comparisons().find(|comparison| {
            comparison.operator == ComparisonOperator::Equal
                && slots.contains(&comparison.column)
                && kind_of_type(comparison.column_type).is_some()
                && comparison.is_found_by_index()
                && comparison.value.is_known_without(&slots)
        });
        found.extend(usable);
    }
    found
}

/// The collation of a type whose values have keys: of integers, and of text.
fn kind_of_type(data_type: &DataType) -> Option<Collation> {
    match data_type {
        DataType::Integer { .. } => Some(Collation::Binary),
        DataType::Char { collation, .. } | DataType::Varchar { collation, .. } | DataType::Text { collation, .. } => {
            Some(*collation)
        }
        _ => None,
    }
}

/// The same, if the value is one of those that such a column has.
fn kind_of(data_type: &DataType, value: Datum<'_>) -> Option<Collation> {
    let suits = match data_type {
        DataType::Integer { .. } => matches!(value, Datum::Signed(_) | Datum::Unsigned(_)),
        _ => matches!(value, Datum::Text(..)),
    };
    kind_of_type(data_type).filter(|_| suits)
}

/// What appending a row's key came to.
enum Appended {
    Key,
    /// A column is NULL.
    Null,
    /// A value is of another kind than its column.
    Other,
}

fn append_key(keys: &[Comparison<'_>], first_slot: usize, row: &[Datum<'_>], out: &mut Vec<u8>) -> Appended {
    for key in keys {
        let value = row[key.column as usize - first_slot];
        if value.is_null() {
            return Appended::Null;
        }
        let Some(collation) = kind_of(key.column_type, value) else { return Appended::Other };
        append_group_key(value, collation, out);
    }
    Appended::Key
}
