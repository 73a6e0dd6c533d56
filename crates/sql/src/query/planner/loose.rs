//! Loose index scan: of entries that are the same in an index's first columns only the first is read, or the first and the last.
//!
//! ```text
//!   SELECT DISTINCT a FROM t            index (a, ..):   1 1 1 1 1 2 2 2 2 3 3 3
//!                                                        ^         ^       ^
//!   SELECT a, MIN(b), MAX(b)            index (a, b):    ^       ^ ^     ^ ^   ^
//!     FROM t GROUP BY a
//!   SELECT COUNT(DISTINCT a) FROM t     as DISTINCT
//!   SELECT MIN(a), MAX(a) FROM t        index (a):      ^                     ^        of those within the bounds
//!     WHERE a > 1
//! ```
//! What groups, or keeps equal rows apart, does what it does with all rows: those that are left out would change nothing.
//!
//! # Invariants
//! 1. All that a query names of the table is the same in all entries of a group, but for the column of MIN and MAX; and that is
//!    named by nothing else but what the access's bounds say.
//!
//! # Source
//! The manual, "GROUP BY Optimization", Loose Index Scan.

use std::collections::HashSet;

use meseta_engine::Direction;
use meseta_engine::table::PartDefinition;
use meseta_types::DataType;

use super::access::{covers, is_usable, parts_behind};
use super::estimate::{Choice, Estimator};
use super::join::JoinPlanner;
use crate::expression::Expr;
use crate::expression::aggregate::AggregateFunction;
use crate::query::plan::{GroupPlan, Join, LooseScan, Source, SourceKind, Stretch, TableSource};

/// So many entries a group must have: to go from one to the next of them costs so much less than to look for the next group.
const ENTRIES: f64 = 20.0;

/// What is wanted of each group.
struct Wanted {
    /// The columns that are the same in all of it.
    columns: HashSet<u16>,
    /// The column whose least or greatest value is wanted.
    end: Option<u16>,
    /// MIN is.
    least: bool,
    /// MAX is.
    greatest: bool,
}

impl Wanted {
    /// `None` if all rows of a group count.
    fn new(group: Option<&GroupPlan>, items: &[Expr], source: &Source) -> Option<Self> {
        let column = |expr: &Expr| {
            let column = (expr.as_column()? as usize).checked_sub(source.first_slot)?;
            u16::try_from(column).ok().filter(|_| column < source.width)
        };
        let mut wanted = Wanted { columns: HashSet::new(), end: None, least: false, greatest: false };
        let Some(group) = group else {
            wanted.columns = items.iter().map(column).collect::<Option<_>>()?;
            return Some(wanted);
        };
        if group.rollup.is_some() || !group.ends.is_empty() {
            return None;
        }
        wanted.columns = group.keys.iter().map(column).collect::<Option<_>>()?;
        for call in &group.aggregates {
            let arguments = call.arguments.iter().map(column).collect::<Option<Vec<_>>>()?;
            match (call.function, &arguments[..]) {
                (AggregateFunction::Min | AggregateFunction::Max, &[argument]) => {
                    if *wanted.end.get_or_insert(argument) != argument {
                        return None;
                    }
                    wanted.least |= call.function == AggregateFunction::Min;
                    wanted.greatest |= call.function == AggregateFunction::Max;
                }
                _ if call.distinct => wanted.columns.extend(arguments),
                _ => return None,
            }
        }
        wanted.end = wanted.end.filter(|end| !wanted.columns.contains(end));
        Some(wanted)
    }

    /// How an index is read for it, if it can be; `equal` of its columns have one value.
    fn by(&self, table: &TableSource, index: usize, equal: usize) -> Option<LooseScan> {
        let definition = &table.table.engine().definition;
        let parts = &definition.indexes[index].parts;
        let (given, behind) = parts.split_at(equal);
        let is_given = |column: u16| given.iter().any(|part| part.column == column);
        let own = self.columns.iter().filter(|column| !is_given(**column)).count();
        let (front, rest) = behind.split_at_checked(own)?;
        let is_whole = front.iter().chain(given).all(|part| part.prefix.is_none());
        if !is_whole || !front.iter().all(|part| self.columns.contains(&part.column)) {
            return None;
        }
        let mut scan = LooseScan { parts: equal + own, ..LooseScan::default() };
        let is_same = |column: u16| parts[..scan.parts].iter().any(|part| part.column == column);
        let end = self.end.filter(|end| !is_same(*end));
        if let Some(end) = end {
            let mut rest = rest.iter().chain(parts_behind(definition, index));
            let part = rest.next().filter(|part| part.column == end && part.prefix.is_none())?;
            let column = &table.table.columns[usize::from(end)];
            // MIN of a member of an ENUM is that of texts.
            if matches!(column.data_type, DataType::Enum(_) | DataType::Set(_) | DataType::Json) {
                return None;
            }
            let is_backwards = part.descending != (table.access.direction == Direction::Descending);
            // MIN passes over NULL, which is below all values: no end is behind it.
            scan.passes_null = Some(end).filter(|_| self.least && column.nullable);
            if is_backwards && scan.passes_null.is_some() {
                return None;
            }
            scan.shows_both_ends = if is_backwards { self.least } else { self.greatest };
        }
        let is_named = |column: &u16| is_same(*column) || end == Some(*column);
        (covers(table, index) && table.columns.iter().all(is_named)).then_some(scan)
    }
}

impl JoinPlanner<'_> {
    /// If of each group of rows of one table hardly any is wanted, and an index has them one behind the other, they alone are read.
    /// True if each row that is shown is then another. On entry: the access is chosen, in the order that is wanted if
    /// `is_ordered`.
    pub fn use_loose_scan(
        &mut self,
        join: &Option<Join>,
        group: Option<&mut GroupPlan>,
        items: &[Expr],
        is_ordered: bool,
    ) -> bool {
        let (Some(Join::Source(0)), [source]) = (join, &mut *self.sources) else { return false };
        let Some(wanted) = Wanted::new(group.as_deref(), items, source) else { return false };
        let Source { kind: SourceKind::Table(table), first_slot, conditions, .. } = source else { return false };
        if !table.access.union.is_empty() || table.access.skips > 0 {
            return false;
        }
        let end = wanted.end.map(|end| (*first_slot + usize::from(end)) as u32);
        let names_end = |condition: &Expr| {
            let mut names_end = false;
            condition.columns(&mut |slot| names_end |= end == Some(slot));
            names_end
        };
        let mut trusts_bounds = false;
        for (number, condition) in conditions.iter().enumerate() {
            match (condition.is_repeatable(), names_end(condition)) {
                (true, false) => {}
                (true, true) if table.access.implied.has(number) => trusts_bounds = true,
                _ => return false,
            }
        }
        let statistics = self.tables.statistics(&table.table);
        let chosen = table.access.index;
        // Values that are looked for may have more rows than others.
        let choice = Choice { is_contested: true, ..self.choice };
        let any_of = &table.access.any_of;
        let are_values =
            |stretch: &Stretch| stretch.equal.len() == 1 && stretch.low.is_none() && stretch.high.is_none();
        let each = (!any_of.is_empty() && any_of.iter().all(are_values)).then(|| {
            let mut estimator = Estimator::new(&statistics, self.tables.sizes(), choice, *first_slot);
            estimator.cost(table, &table.access).found / any_of.len() as f64
        });
        let rows_per_stretch = |index: usize, scan: &LooseScan| {
            let is_group = index == chosen && scan.parts == table.access.equal.len() + 1;
            each.filter(|_| is_group).unwrap_or(0.0)
        };
        let pays = |index: usize, scan: &LooseScan| {
            statistics.rows_per_key(index, scan.parts).max(rows_per_stretch(index, scan)) >= ENTRIES
        };
        let scan = |index: usize| {
            let scan = wanted.by(table, index, table.access.equal.len())?;
            pays(index, &scan).then_some((index, LooseScan { trusts_bounds, ..scan }))
        };
        let is_usable = |index: &usize| is_usable(&table.table, table.usable.for_groups, *index);
        let found = match table.access.is_whole() && !is_ordered {
            false => Some(chosen).filter(is_usable).and_then(scan),
            true => (0..table.table.engine().indexes.len()).filter(is_usable).find_map(scan),
        };
        let Some((index, scan)) = found else { return false };
        table.access.index = index;
        table.access.loose = Some(scan);
        if let Some(group) = group {
            // Where there are no others in front of them, equal keys are one behind the other.
            let parts = &table.table.engine().definition.indexes[index].parts[..scan.parts];
            let slot_of = |column: u16| (*first_slot + usize::from(column)) as u32;
            let is_key =
                |part: &PartDefinition| group.keys.iter().any(|key| key.as_column() == Some(slot_of(part.column)));
            let behind = parts[table.access.equal.len()..].iter().skip_while(|part| is_key(part));
            group.is_sorted |= !group.keys.is_empty() && !behind.into_iter().any(is_key);
        }
        !scan.shows_both_ends
    }
}
