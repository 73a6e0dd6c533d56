//! Which index finds a table's rows, and what is looked for in it.
//!
//! ```text
//!   conjuncts:  a = 1   b > ?                      index (a, b):  equal [1], low (?, excluded)
//!               a = 1   b IN (2, 3) OR b > ?                      equal [1], any of: [2], [3], low (?, excluded)
//!               (a, b) IN ((1, 2), (3, 4))                        any of: [1, 2], [3, 4]
//!               a IN (SELECT ..)                                  any of: the query's values, when it runs
//!               c LIKE 'x%'                      index (c):       low and high: what begins with x
//!               a = 1 OR c = 2        indexes (a), (c):           union: what each finds
//!               b > ?                 index (a, b):               skips a, low (?, excluded): for each of its values
//! ```
//! When it runs, `bounds` makes keys of that.
//!
//! # Invariants
//! 1. An access yields every row for which the conditions hold; others may come too: conditions are asked again, but for
//!    those that its bounds say already ([`Access::implied`]), if all bounds could be used as they are.
//! 2. Where OR is of several indexes, a row is shown by the first of the operands that are true of it, and by no other.
//!
//! # Source
//! The manual, "Range Optimization".

use meseta_engine::Direction;
use meseta_engine::table::{PartDefinition, TableDefinition};
use meseta_types::{Collation, DataType};

use super::estimate::{Cost, Estimator};
use super::facts::{Alternative, Fact, Facts, OneOf, Said};
use crate::expression::Expr;
use crate::query::plan::table::KnownTable;
use crate::query::plan::usable::Usable;
use crate::query::plan::{Access, ConditionSet, Lookup, Stretch, TableSource, UnionOperand};

/// Whether an index may be used, by its number.
pub fn is_usable(table: &KnownTable, usable: Usable, index: usize) -> bool {
    usable.has(index) && table.engine().indexes[index].build.is_none()
}

/// Indexes of which the conditions say something: EXPLAIN's possible keys.
pub fn possible(source: &TableSource, first_slot: usize, conditions: &[&Expr]) -> Vec<usize> {
    let table = &source.table;
    let mut all = vec![Facts::new(table, first_slot, conditions)];
    // What an operand of OR says may be looked for by itself.
    for operand in conditions.iter().filter_map(|condition| condition.as_or()).flatten() {
        let conjuncts: Vec<&Expr> = operand.as_conjuncts().iter().collect();
        all.push(Facts::new(table, first_slot, &conjuncts));
    }
    let is_possible = |index: &usize| {
        is_usable(table, source.usable.for_rows, *index)
            && (all.iter().any(|facts| for_index(table, *index, first_slot, facts).is_some())
                || skipping(source, *index, first_slot, &all[0]).is_some())
    };
    (0..table.engine().indexes.len()).filter(is_possible).collect()
}

/// Whether an index has all that is asked for, and no row need be fetched behind its entries.
pub fn covers(source: &TableSource, index: usize) -> bool {
    // What locks rows locks them where they are.
    source.locking.is_none() && source.table.engine().indexes[index].layout.covers(source.columns.iter().copied())
}

/// Whether rows that an index finds are read beside each other, none of them fetched from elsewhere.
pub fn is_direct(source: &TableSource, index: usize) -> bool {
    index == 0 || covers(source, index)
}

/// What the keys of an index have behind its own columns: entries with the same values are in the order of the primary key, where that is
/// in the key.
pub fn parts_behind(definition: &TableDefinition, index: usize) -> &[PartDefinition] {
    let has_primary_key = index > 0 && definition.has_primary_key && !definition.indexes[index].unique;
    if has_primary_key { &definition.indexes[0].parts } else { &[] }
}

/// Of the indexes that have all columns that are asked for, the one with the shortest entries.
fn covering(source: &TableSource) -> Option<usize> {
    let table = &source.table;
    let engine_table = table.engine();
    let width = |index: &usize| -> u32 {
        let parts = &engine_table.definition.indexes[*index].parts;
        parts.iter().map(|part| table.columns[usize::from(part.column)].data_type.row_bytes()).sum()
    };
    let has_all = |index: &usize| is_usable(table, source.usable.for_rows, *index) && covers(source, *index);
    (1..engine_table.indexes.len()).filter(has_all).min_by_key(width)
}

/// By so much an index must be better than those before it: two samples of the same values are not equal.
const CLEARLY: f64 = 0.8;

/// More than what any index costs: FORCE INDEX.
const TOO_MUCH: f64 = f64::MAX / 8.0;

/// Which part of a table's rows meets these conditions, about.
pub fn met(source: &TableSource, first_slot: usize, conditions: &[&Expr], estimator: &mut Estimator<'_>) -> f64 {
    let (access, Cost { found, .. }) = choose(source, first_slot, conditions, estimator);
    let share = (found / estimator.statistics.planned_rows()).min(1.0);
    share * estimator.share_beside(source, &access, conditions.iter().copied().enumerate())
}

/// Chooses how a table's rows are found by these conditions, which name nothing but it and what comes before. Returns what it
/// costs, too. (The access's implied conditions are numbers of these.)
pub fn choose(
    source: &TableSource,
    first_slot: usize,
    conditions: &[&Expr],
    estimator: &mut Estimator<'_>,
) -> (Access, Cost) {
    let mut best = choose_one(source, first_slot, conditions, estimator);
    // OR that one index finds the rows of needs no others.
    if !best.0.any_of.is_empty() {
        return best;
    }
    for number in 0..conditions.len() {
        if let Some(union) = union_of(source, first_slot, conditions, number, estimator, best.1.rows * CLEARLY) {
            best = union;
        }
    }
    best
}

/// As [`choose`], of the whole table and the indexes one by one.
fn choose_one(
    source: &TableSource,
    first_slot: usize,
    conditions: &[&Expr],
    estimator: &mut Estimator<'_>,
) -> (Access, Cost) {
    let table = &source.table;
    let facts = Facts::new(table, first_slot, conditions);
    let all = estimator.statistics.planned_rows();
    let mut best = (Access::all(), Cost::of_rows(all));
    if let Some(index) = covering(source) {
        best.0.index = index;
    }
    if facts.all.is_empty() && facts.one_of.is_empty() {
        return best;
    }
    let is_forced = source.usable.for_rows.is_forced;
    if is_forced {
        best.1.rows = TOO_MUCH;
    }
    let usable = (0..table.engine().indexes.len()).filter(|index| is_usable(table, source.usable.for_rows, *index));
    let access_by =
        |index| for_index(table, index, first_slot, &facts).or_else(|| skipping(source, index, first_slot, &facts));
    let found: Vec<Access> = usable.filter_map(access_by).collect();
    let is_contested = estimator.choice.is_contested;
    estimator.choice.is_contested |= found.len() > 1;
    for access in found {
        let cost = estimator.cost(source, &access);
        if cost.rows < best.1.rows * CLEARLY && (is_forced || !cost.is_worse_than_all(all, estimator.beside())) {
            best = (access, cost);
        }
    }
    estimator.choice.is_contested = is_contested;
    best
}

/// The rows of each operand of an OR, the condition with this number, by an index of its own; `None` if it is not an OR, if one of
/// its operands is found by no index, or if all together cost as much as this.
fn union_of(
    source: &TableSource,
    first_slot: usize,
    conditions: &[&Expr],
    number: usize,
    estimator: &mut Estimator<'_>,
    limit: f64,
) -> Option<(Access, Cost)> {
    let either = conditions[number];
    // Whether an operand is true of a row is asked once more where another has found it.
    let operands = either.as_or().filter(|_| either.is_volatile_free())?;
    let (mut union, mut cost) = (Vec::with_capacity(operands.len()), 0.0);
    for (at, operand) in operands.iter().enumerate() {
        let others = conditions.iter().enumerate().filter(|(other, _)| *other != number).map(|(_, other)| *other);
        let own: Vec<&Expr> = operand.as_conjuncts().iter().chain(others).collect();
        estimator.operand = at + 1;
        let (access, of_operand) = choose_one(source, first_slot, &own, estimator);
        estimator.operand = 0;
        cost += of_operand.rows;
        if access.is_whole() || access.skips > 0 || cost >= limit {
            return None;
        }
        // (Its conditions have other numbers.)
        let access = Access { implied: ConditionSet::default(), ..access };
        union.push(UnionOperand { condition: operand.clone(), access });
    }
    Some((Access { union, ..Access::all() }, Cost::of_rows(cost)))
}

/// As [`choose`], of those indexes alone that yield rows in order: `direction` says which way, by the index and by how many of its columns
/// have one value.
pub fn choose_ordered(
    source: &TableSource,
    first_slot: usize,
    conditions: &[&Expr],
    estimator: &mut Estimator<'_>,
    usable: Usable,
    direction: impl Fn(usize, usize) -> Option<Direction>,
) -> Option<(Access, Cost)> {
    let table = &source.table;
    let facts = Facts::new(table, first_slot, conditions);
    let indexes = (0..table.engine().indexes.len()).filter(|index| is_usable(table, usable, *index));
    let ordered = indexes.filter_map(|index| {
        let for_rows = source.usable.for_rows.has(index).then(|| for_index(table, index, first_slot, &facts)).flatten();
        let access = for_rows.unwrap_or(Access { index, ..Access::all() });
        let access = Access { direction: direction(index, access.equal.len())?, ..access };
        let cost = estimator.cost(source, &access);
        Some((access, cost))
    });
    ordered.min_by(|(_, one), (_, other)| one.rows.total_cmp(&other.rows))
}

/// What facts say of an index's columns, from one on; and the facts that say it, those of `equal` first.
fn stretch_of<'f, 'e>(facts: &[&'f [Fact<'e>]], slots: &[u32]) -> (Stretch, Vec<&'f Fact<'e>>) {
    let lookup = |value: &Expr, comparer| Lookup::Value { value: value.clone(), comparer };
    let (mut stretch, mut used) = (Stretch::default(), Vec::new());
    for slot in slots {
        let (mut equal, mut bounds) = (None, [None, None]);
        for fact in facts.iter().copied().flatten().filter(|fact| fact.column == *slot) {
            match fact.said {
                Said::IsNull => equal = equal.or(Some((Lookup::Null, fact))),
                Said::Equal(value, comparer) => equal = equal.or_else(|| Some((lookup(value, comparer), fact))),
                Said::Same(value, comparer) => {
                    equal = equal.or_else(|| Some((Lookup::Same { value: value.clone(), comparer }, fact)));
                }
                Said::EqualToOneOf(inside) => {
                    equal = equal.or_else(|| Some((Lookup::EachOf(Box::new(inside.clone())), fact)));
                }
                Said::Begins(like) => {
                    let beginning = || (Lookup::Beginning(Box::new(like.clone())), true);
                    bounds = [Some((beginning(), fact)), Some((beginning(), fact))];
                }
                Said::Low(value, comparer, is_included) => {
                    bounds[0].get_or_insert_with(|| ((lookup(value, comparer), is_included), fact));
                }
                Said::High(value, comparer, is_included) => {
                    bounds[1].get_or_insert_with(|| ((lookup(value, comparer), is_included), fact));
                }
            }
        }
        match equal {
            Some((lookup, fact)) => {
                stretch.equal.push(lookup);
                used.push(fact);
            }
            None => {
                used.extend(bounds.iter().flatten().map(|(_, fact)| *fact));
                let [low, high] = bounds.map(|bound| bound.map(|(bound, _)| bound));
                (stretch.low, stretch.high) = (low, high);
                break;
            }
        }
    }
    (stretch, used)
}

/// Whether these facts are all among those that are used.
fn are_used<'f, 'e: 'f>(mut facts: impl Iterator<Item = &'f Fact<'e>>, used: &[&Fact<'_>]) -> bool {
    facts.all(|fact| used.iter().any(|used| std::ptr::eq(*used, fact)))
}

/// Of the conditions that facts are of, those of which all facts are used.
fn implied(facts: &[Fact<'_>], used: &[&Fact<'_>]) -> ConditionSet {
    let mut set = ConditionSet::default();
    for Fact { condition, .. } in used {
        if are_used(facts.iter().filter(|fact| fact.condition == *condition), used) {
            set.insert(*condition);
        }
    }
    set
}

/// What the conditions say of an index's columns, from the first on.
fn for_index(table: &KnownTable, number: usize, first_slot: usize, facts: &Facts<'_>) -> Option<Access> {
    let definition = &table.engine().definition.indexes[number];
    let slots: Vec<u32> = definition.parts.iter().map(|part| (first_slot + usize::from(part.column)) as u32).collect();
    let (Stretch { equal, low, high }, mut used) = stretch_of(&[&facts.all], &slots);
    let mut access = Access { index: number, equal, low, high, ..Access::all() };
    let equal = access.equal.len();
    // How many columns are looked at, and which of OR and IN the stretches say completely.
    let has_bounds = access.low.is_some() || access.high.is_some();
    let (mut looked_at, mut told) = (equal + usize::from(has_bounds), None);
    let behind = &slots[equal..];
    // Each must say something that is not said of all anyway.
    let has_own =
        |alternative: &Alternative<'_>| alternative.facts.iter().any(|fact| behind.first() == Some(&fact.column));
    // What is known without a query is better known so.
    let runs_query =
        |alternative: &Alternative<'_>| alternative.facts.iter().any(|fact| matches!(fact.said, Said::EqualToOneOf(_)));
    let may_be = |one_of: &&OneOf<'_>| {
        one_of.alternatives.iter().all(|alternative| has_own(alternative) && !(has_bounds && runs_query(alternative)))
    };
    if let Some(one_of) = facts.one_of.iter().find(may_be) {
        (access.low, access.high) = (None, None);
        used.truncate(equal);
        told = Some(one_of.condition);
        for Alternative { facts: own, is_told } in &one_of.alternatives {
            let (stretch, used) = stretch_of(&[own, &facts.all], behind);
            if !is_told || !are_used(own.iter(), &used) {
                told = None;
            }
            let has_bounds = stretch.low.is_some() || stretch.high.is_some();
            looked_at = looked_at.max(equal + stretch.equal.len() + usize::from(has_bounds));
            access.any_of.push(stretch);
        }
    }
    // Of other types a value may be made to fit: a BINARY is filled up, a TIMESTAMP is put within its bounds. A part of a text does
    // not tell two texts apart.
    let is_exact = |part: &PartDefinition| match table.columns[usize::from(part.column)].data_type {
        DataType::Integer { .. } | DataType::Decimal { .. } | DataType::Date | DataType::DateTime { .. } => true,
        DataType::Bit { .. } | DataType::Enum(_) | DataType::Set(_) => true,
        DataType::Char { collation, .. } => collation != Collation::Binary && part.prefix.is_none(),
        DataType::Varchar { .. } => part.prefix.is_none(),
        _ => false,
    };
    if definition.parts.iter().take(looked_at).all(is_exact) {
        access.implied = implied(&facts.all, &used);
        told.into_iter().for_each(|condition| access.implied.insert(condition));
    }
    let parts = definition.parts.len();
    let is_whole = definition.parts.iter().all(|part| part.prefix.is_none());
    let is_decided = match &access.any_of[..] {
        [] => equal == parts,
        any_of => any_of.iter().all(|stretch| equal + stretch.equal.len() == parts),
    };
    access.is_point = is_decided && parts > 0 && definition.unique && is_whole;
    let is_any = equal > 0 || !access.any_of.is_empty() || access.low.is_some() || access.high.is_some();
    is_any.then_some(access)
}

/// What the conditions say of a column of an index of which they say nothing in front: where the index has all that is asked for, that is
/// read of the entries with each value of the columns in front.
fn skipping(source: &TableSource, number: usize, first_slot: usize, facts: &Facts<'_>) -> Option<Access> {
    if !is_direct(source, number) || source.locking.is_some() {
        return None;
    }
    let parts = &source.table.engine().definition.indexes[number].parts;
    let mut behind = parts.iter().enumerate().skip(1).filter(|(_, part)| part.prefix.is_none());
    behind.find_map(|(skips, part)| {
        let slot = (first_slot + usize::from(part.column)) as u32;
        let (Stretch { mut equal, low, high }, used) = stretch_of(&[&facts.all], &[slot]);
        let (low, high) = match equal.pop() {
            Some(value @ Lookup::Value { .. }) => (Some((value.clone(), true)), Some((value, true))),
            Some(_) => return None,
            None => (low, high),
        };
        let is_value =
            |bound: &(Lookup, bool)| matches!(&bound.0, Lookup::Value { value, .. } if !value.looks_at_columns());
        let are_values = low.iter().chain(&high).all(is_value) && (low.is_some() || high.is_some());
        let implied = implied(&facts.all, &used);
        are_values.then(|| Access { index: number, skips, low, high, implied, ..Access::all() })
    })
}
