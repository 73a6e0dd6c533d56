//! Joins without an index: one side's rows are kept in memory by the values that they are joined on.
//!
//! ```text
//!   a JOIN b ON a.x = b.y, no index on b.y       b's rows, read once:  key of y -> rows
//!                                                each row of a:        key of x -> candidates -> all conditions again
//! ```
//!
//! # Invariants
//! 1. Rows come as a nested loop would show them: for each row of what is before, in the order in which they were read.
//! 2. Candidates are all rows that match, and perhaps others: conditions are asked of each.
//!
//! # When things fail
//! If the rows take more memory than a statement may keep, the source is read again for each row, as without this.

use std::collections::HashMap;

use bumpalo::Bump;
use foldhash::quality::RandomState;
use meseta_types::comparison::ComparisonType;
use meseta_types::{Context, DataType, Datum};

use super::inside::Running;
use super::plan::{ConditionSet, Source, SourceKind};
use super::run::{MORE, Outer, Sink, holds};
use crate::error::Result;
use crate::expression::group::append_group_key;
use crate::expression::{Comparer, ComparisonOperator, Expr, ExprKind, copy_into};

/// How a source's rows are kept.
#[derive(Debug, Default)]
pub struct HashPlan {
    /// What they are found by; at least one.
    pub keys: Vec<HashKey>,
    /// All that must hold of a row. (The source itself asks what names nothing but it, before a row is kept.)
    pub conditions: Vec<Expr>,
}

/// An equality between a source and those before it.
#[derive(Debug)]
pub struct HashKey {
    /// The value of the row so far.
    pub probe: Expr,
    /// The value of the source's row.
    pub build: Expr,
    /// How they compare.
    pub comparer: Comparer,
}

/// Whether equal values of this comparison have equal keys.
fn has_keys(comparer: &Comparer) -> bool {
    use ComparisonType as T;
    matches!(comparer.kind, Some(T::Integer | T::Decimal | T::Double | T::Text | T::DateTime | T::Time))
}

/// What an expression looks at.
#[derive(PartialEq, Eq)]
enum Looks {
    AtNothing,
    AtSource,
    Before,
    AtBoth,
}

fn looks(expr: &Expr, source: &Source) -> Looks {
    let own = source.first_slot as u32..(source.first_slot + source.width) as u32;
    let (mut at_source, mut before) = (false, false);
    expr.columns(&mut |slot| if own.contains(&slot) { at_source = true } else { before = true });
    match (at_source, before) {
        (false, false) => Looks::AtNothing,
        (true, false) => Looks::AtSource,
        (false, true) => Looks::Before,
        (true, true) => Looks::AtBoth,
    }
}

/// How to keep the rows of a source that is read for each row of those before it; `None` if they are found better. If they
/// are kept, the plan has the source's conditions, and the source those that name nothing else.
pub fn plan(source: &mut Source) -> Option<HashPlan> {
    match &source.kind {
        SourceKind::Table(table) => {
            let access = &table.access;
            if access.is_by_row() || access.is_point || table.locking.is_some_and(|plan| plan.exclusive) {
                return None;
            }
        }
        SourceKind::Derived { is_lateral: true, .. } => return None,
        // Its rows are others in each round.
        SourceKind::Working(_) => return None,
        SourceKind::Derived { .. } | SourceKind::Virtual(_) => {}
    }
    let (mut keys, mut local) = (Vec::new(), Vec::new());
    for condition in source.conditions.iter().filter(|condition| condition.is_repeatable()) {
        if looks(condition, source) == Looks::AtSource {
            local.push(condition.clone());
        }
        let ExprKind::Compare(compare) = &condition.kind else { continue };
        if compare.operator != ComparisonOperator::Equal || !has_keys(&compare.comparer) {
            continue;
        }
        let sides = match (looks(&compare.left, source), looks(&compare.right, source)) {
            (Looks::Before, Looks::AtSource) => (&compare.left, &compare.right),
            (Looks::AtSource, Looks::Before) => (&compare.right, &compare.left),
            _ => continue,
        };
        keys.push(HashKey { probe: sides.0.clone(), build: sides.1.clone(), comparer: compare.comparer });
    }
    // Without a key a table is read again, and what is made up is kept by `materialized`.
    if keys.is_empty() {
        return None;
    }
    let conditions = std::mem::replace(&mut source.conditions, local);
    if let SourceKind::Table(table) = &mut source.kind {
        // (Numbers of the conditions that were.)
        table.access.implied = ConditionSet::default();
    }
    Some(HashPlan { keys, conditions })
}

/// A key under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keyed {
    /// It is there.
    Yes,
    /// A value is NULL: it is equal to nothing.
    Null,
    /// These values have no keys: they have to be compared.
    No,
}

/// Appends bytes that are equal for values that compare as equal.
pub fn append_comparison_key(value: Datum<'_>, comparer: &Comparer, context: &mut Context, out: &mut Vec<u8>) -> Keyed {
    use ComparisonType as T;
    let is_number =
        matches!(value, Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_) | Datum::Float(_) | Datum::Double(_));
    let key = match (comparer.kind, value) {
        (_, Datum::Null) => return Keyed::Null,
        (Some(T::Integer), Datum::Signed(_) | Datum::Unsigned(_)) => value,
        (Some(T::Text), Datum::Text(..)) => value,
        (Some(T::Decimal), Datum::Signed(_) | Datum::Unsigned(_) | Datum::Decimal(_)) => {
            match value.to_decimal(context) {
                Some(number) => Datum::Decimal(number),
                None => return Keyed::No,
            }
        }
        (Some(T::Double), _) if is_number => match value.to_double(context) {
            Some(number) => Datum::Double(number),
            None => return Keyed::No,
        },
        (Some(T::DateTime), Datum::DateTime(found, _)) => Datum::DateTime(found, 6),
        (Some(T::DateTime), Datum::Date(date)) => Datum::DateTime(date.midnight(), 6),
        (Some(T::Time), Datum::Time(..)) => value,
        _ => return Keyed::No,
    };
    append_group_key(key, comparer.collation, out);
    Keyed::Yes
}

/// A source's rows in memory.
pub struct Built<'a> {
    rows: Vec<&'a [Datum<'a>]>,
    by_key: HashMap<Vec<u8>, Vec<u32>, RandomState>,
    /// Whether each row that could match is in `by_key`.
    is_keyed: bool,
}

/// The values of keys as bytes.
fn key_of<'e>(
    values: impl Iterator<Item = (&'e Expr, &'e Comparer)>,
    row: &[Datum<'_>],
    outer: Outer<'_>,
    running: &mut Running<'_>,
    arena: &Bump,
    out: &mut Vec<u8>,
) -> Result<Keyed> {
    out.clear();
    for (value, comparer) in values {
        let value = value.evaluate(row, &mut running.env(arena, outer))?;
        match append_comparison_key(value, comparer, running.context, out) {
            Keyed::Yes => {}
            other => return Ok(other),
        }
    }
    Ok(Keyed::Yes)
}

/// The type of a source's column.
fn type_of(source: &Source, column: usize) -> Option<&DataType> {
    match &source.kind {
        SourceKind::Table(table) => table.table.columns.get(column).map(|column| &column.data_type),
        SourceKind::Derived { plan, .. } => plan.columns.get(column).map(|column| &column.data_type),
        SourceKind::Virtual(_) | SourceKind::Working(_) => None,
    }
}

/// Shows the rows of a source, of which conditions have not been asked.
pub type Read<'r> = dyn FnMut(&mut Running<'_>, &mut Sink<'_>) -> Result<()> + 'r;

impl<'a> Built<'a> {
    /// Reads all rows. `None` if they take too much memory.
    pub fn new(
        source: &'a Source,
        plan: &HashPlan,
        outer: Outer<'_>,
        running: &mut Running<'_>,
        arena: &'a Bump,
        read: &mut Read<'_>,
    ) -> Result<Option<Built<'a>>> {
        let mut built = Built { rows: Vec::new(), by_key: HashMap::default(), is_keyed: true };
        let (mut spare, mut key, mut bytes, mut is_too_much) = (Bump::new(), Vec::new(), 0, false);
        let before = arena.allocated_bytes();
        read(running, &mut |running, row| {
            spare.reset();
            let number = built.rows.len() as u32;
            if built.is_keyed {
                let values = plan.keys.iter().map(|key| (&key.build, &key.comparer));
                match key_of(values, row, outer, running, &spare, &mut key)? {
                    Keyed::Yes => {
                        bytes += 2 * key.len() + 48;
                        built.by_key.entry(key.clone()).or_default().push(number);
                    }
                    // It matches nothing.
                    Keyed::Null => return Ok(MORE),
                    Keyed::No => built.is_keyed = false,
                }
            }
            let own = &row[source.first_slot..source.first_slot + source.width];
            let copies =
                own.iter().enumerate().map(|(column, &value)| copy_into(value, type_of(source, column), arena));
            built.rows.push(arena.alloc_slice_copy(&copies.collect::<Vec<_>>()));
            is_too_much = arena.allocated_bytes() - before + bytes > running.inside.memory_limit;
            Ok(if is_too_much { super::run::ENOUGH } else { MORE })
        })?;
        Ok((!is_too_much).then_some(built))
    }

    /// Shows candidates for a row: the row, with the source's values.
    pub fn probe(
        &self,
        source: &Source,
        plan: &HashPlan,
        outer: Outer<'_>,
        row: &[Datum<'_>],
        running: &mut Running<'_>,
        sink: &mut Sink<'_>,
    ) -> Result<super::run::Flow> {
        let (mut arena, mut key) = (Bump::new(), Vec::new());
        let mut full = row.to_vec();
        let mut show = |candidate: &[Datum<'a>], running: &mut Running<'_>| -> Result<super::run::Flow> {
            arena.reset();
            full[source.first_slot..source.first_slot + source.width].copy_from_slice(candidate);
            if holds(&plan.conditions, &full, outer, running, &arena)? { sink(running, &full) } else { Ok(MORE) }
        };
        let spare = Bump::new();
        if self.is_keyed {
            let values = plan.keys.iter().map(|key| (&key.probe, &key.comparer));
            match key_of(values, row, outer, running, &spare, &mut key)? {
                Keyed::Null => return Ok(MORE),
                Keyed::Yes => {
                    for &number in self.by_key.get(&key).into_iter().flatten() {
                        running.inside.facts.check_killed()?;
                        if show(self.rows[number as usize], running)?.is_break() {
                            return Ok(super::run::ENOUGH);
                        }
                    }
                    return Ok(MORE);
                }
                Keyed::No => {}
            }
        }
        for candidate in &self.rows {
            running.inside.facts.check_killed()?;
            if show(candidate, running)?.is_break() {
                return Ok(super::run::ENOUGH);
            }
        }
        Ok(MORE)
    }
}
