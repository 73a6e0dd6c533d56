//! The order of an index, where it is one that rows are wanted in: then they need not be sorted, and the first of them are enough.
//!
//! ```text
//!   ORDER BY a, b         index (a, b), or (x, a, b) with x = 1, or (a) with b the primary key; forwards or backwards
//!   GROUP BY a, b         any order in which equal keys are one behind the other
//!   MIN(a), MAX(b)        the first or the last entry, of each column of an index that has it
//!   .. LIMIT n            an index that yields the order goes before one that finds fewer rows, if it says all that WHERE does,
//!                         or does not cost much more for all rows, or so many rows are shown that the first of them come soon; and
//!                         the table that has it goes before others of a join, if as many of its rows as it takes cost less to join
//! ```
//!
//! # Source
//! The manual, "ORDER BY Optimization", "GROUP BY Optimization", "LIMIT Query Optimization".

use std::collections::HashSet;

use meseta_engine::Direction;
use meseta_engine::table::TableDefinition;
use meseta_types::DataType;

use super::access;
use super::estimate::{BESIDE, Choice, Cost, Estimator, FETCHED, OTHERS};
use super::join::{JoinPlanner, before_row, renumber};
use super::step::LOOK_UP;
use crate::expression::Expr;
use crate::expression::aggregate::{AggregateCall, AggregateFunction};
use crate::query::plan::join_tree::Tree;
use crate::query::plan::usable::{Usable, UsableIndexes};
use crate::query::plan::{Access, GroupPlan, Join, LimitPlan, Lookup, SortKey, Source, SourceKind, TableSource};

/// So many times what all rows cost by the chosen access they may cost in order, where only the first of them are wanted.
const LIMITED: f64 = 2.0;

/// The table by whose columns rows are wanted in order.
#[derive(Debug)]
pub struct WantedOrder {
    /// Its number.
    pub source: usize,
    /// Its columns, by their numbers, and whether each is descending.
    columns: Vec<(usize, bool)>,
}

/// What it takes to read it by an index that has this order.
pub struct InOrder {
    /// Rows that are found if all are read,
    pub found: f64,
    /// what each of them costs,
    pub each: f64,
    /// and which part of them meets the conditions on this table.
    pub share: f64,
}

/// What is said of the tables of a join that is ordered by one of them.
struct SaidOf<'t> {
    /// Of this one alone.
    own: Vec<&'t Expr>,
    /// Nothing is said of another one alone.
    is_of_this_alone: bool,
}

impl JoinPlanner<'_> {
    /// If all that is wanted of one table is the least or the greatest of columns, and indexes have them in order behind those that are
    /// given, the first row that has a value tells each.
    pub fn use_ends(&mut self, join: &Option<Join>, group: &mut GroupPlan) {
        let Some(Join::Source(number)) = join else { return };
        let Source { kind: SourceKind::Table(table), first_slot, conditions, .. } = &mut self.sources[*number] else {
            return;
        };
        let ends = group.aggregates.iter().map(|call| end_of(call, table, *first_slot));
        let Some(ends) = ends.collect::<Option<Vec<_>>>().filter(|ends| !ends.is_empty()) else { return };
        // Several are looked for one by one if each is there at once, and no other row is shown in part. (Both of one column: `loose`.)
        let columns: HashSet<u16> = ends.iter().map(|(column, _)| *column).collect();
        let is_all = table.columns.iter().all(|column| columns.contains(column));
        if ends.len() > 1 && (columns.len() == 1 || !is_all || !conditions.is_empty() || table.locking.is_some()) {
            return;
        }
        group.ends = ends.into_iter().map(|(_, access)| access).collect();
        table.access = group.ends[0].clone();
    }

    /// Of a join of which the first rows are wanted in this order, notes the table that has it, if all that is said of single tables is
    /// said of this one: then few of its rows are joined. If an index has it, too, and says all of that, it is read first, and
    /// hardly more of it than is shown. If something is said of other tables as well, or by no index, it is read first if that costs
    /// less than to sort what is joined otherwise.
    pub fn expect_order(&mut self, tree: &Option<Tree>, conditions: &[Expr], order: &[SortKey]) {
        let Some((number, said)) = self.ordered_table(tree, conditions, order) else { return };
        let Some(columns) = of_source(order, &self.sources[number]) else { return };
        self.ordered = said.is_of_this_alone.then_some(number);
        let is_said = said.own.len();
        self.wanted_order = Some(WantedOrder { source: number, columns });
        if said.is_of_this_alone {
            let access = self.access_in_order(&said.own);
            if access.is_some_and(|(access, _)| access.implied.has_first(is_said)) {
                (self.first, self.wanted_order) = (Some(number), None);
            }
        }
    }

    /// How the table whose order is wanted is read in it under conditions on it alone.
    fn access_in_order(&mut self, own: &[&Expr]) -> Option<(Access, Cost)> {
        let WantedOrder { source, columns } = self.wanted_order.as_ref()?;
        let Source { kind: SourceKind::Table(table), first_slot, .. } = &self.sources[*source] else { return None };
        let statistics = self.tables.statistics(&table.table);
        let definition = &table.table.engine().definition;
        let direction = |index: usize, equal: usize| direction_of(definition, index, equal, columns);
        let mut estimator = Estimator::new(&statistics, self.tables.sizes(), self.choice, *first_slot);
        access::choose_ordered(table, *first_slot, own, &mut estimator, table.usable.for_order, direction)
    }

    /// What that costs, if an index has it so.
    pub(super) fn cost_in_order(&mut self, own: &[&Expr]) -> Option<InOrder> {
        let (access, Cost { found, .. }) = self.access_in_order(own)?;
        let source = &self.sources[self.wanted_order.as_ref()?.source];
        let SourceKind::Table(table) = &source.kind else { return None };
        let statistics = self.tables.statistics(&table.table);
        let mut estimator = Estimator::new(&statistics, self.tables.sizes(), self.choice, source.first_slot);
        let each = if access::is_direct(table, access.index) { BESIDE } else { FETCHED };
        let share = estimator.share_beside(table, &access, own.iter().copied().enumerate());
        Some(InOrder { found, each, share })
    }

    /// The table by whose first column rows are ordered, and what is said of tables. `None` if a query is asked.
    fn ordered_table<'t>(
        &self,
        tree: &'t Option<Tree>,
        conditions: &'t [Expr],
        order: &[SortKey],
    ) -> Option<(usize, SaidOf<'t>)> {
        let tree = tree.as_ref().filter(|tree| !matches!(tree, Tree::Source(_)))?;
        let number = self.source_of(order.first()?.value.as_column()?)?;
        let mut all: Vec<&Expr> = conditions.iter().collect();
        conditions_in(tree, &mut all);
        let mut said = SaidOf { own: Vec::new(), is_of_this_alone: true };
        for condition in all {
            let mut sources = HashSet::new();
            condition.columns(&mut |slot| sources.extend(self.source_of(slot)));
            if condition.has_subquery() {
                return None;
            }
            if sources == HashSet::from([number]) {
                said.own.push(condition);
            } else {
                said.is_of_this_alone &= sources.len() != 1;
            }
        }
        Some((number, said))
    }

    /// If the first rows of a table are wanted in any order, and they are found by what a query finds, which has to be run to its end for
    /// that: the rows are read as they come, and the query is asked of each, if that costs less.
    pub fn use_any_order(&mut self, join: &Option<Join>) {
        let (Some(Join::Source(0)), [source], Some(limit)) = (join, &mut *self.sources, self.limit) else { return };
        let slots = source.slots();
        let Source { kind: SourceKind::Table(table), first_slot, conditions, .. } = source else { return };
        let queries = || table.access.lookups().filter_map(Lookup::query);
        if queries().next().is_none() || !queries().all(|inside| inside.can_look_up) || table.locking.is_some() {
            return;
        }
        let statistics = self.tables.statistics(&table.table);
        // (What its query reads, of which a part is shown: what is looked up of it costs no more than to run it.)
        let values = queries().map(|inside| inside.rows).fold(f64::INFINITY, f64::min) * OTHERS;
        let plain = || conditions.iter().enumerate().filter(|(_, condition)| !condition.has_subquery());
        let (numbers, known) = before_row(&slots, plain());
        let choice = Choice { is_contested: true, ..self.choice };
        let mut estimator = Estimator::new(&statistics, self.tables.sizes(), choice, *first_slot);
        let (mut access, all) = access::choose(table, *first_slot, &known, &mut estimator);
        renumber(&mut access, &numbers);
        let chosen = estimator.cost(table, &table.access);
        let shown = values.min(all.found) * estimator.share_beside(table, &access, plain());
        let wanted = self.tables.sizes().wanted(self.choice.block, limit);
        let read = all.found * (wanted / shown.max(1.0)).min(1.0);
        if read * (all.rows / all.found + LOOK_UP) < chosen.rows {
            table.access = access;
        }
    }

    /// If the rows of one table are wanted in the order of an index, they are read in it, and need not be sorted: that of the
    /// access that was chosen; or another, where it costs no more. Where few rows are wanted (LIMIT), it may be one by which more
    /// rows would be read if all were: most of them are not. Of a join it is the table that is read first: the others are looked at
    /// for each of its rows.
    pub fn use_order(&mut self, join: &Option<Join>, order: &mut Vec<SortKey>, is_limited: bool) {
        self.use_order_of(join, order, is_limited, |usable| usable.for_order);
    }

    /// As [`JoinPlanner::use_order`], by the indexes that may be used for it.
    fn use_order_of(
        &mut self,
        join: &Option<Join>,
        order: &mut Vec<SortKey>,
        is_limited: bool,
        usable: impl Fn(&UsableIndexes) -> Usable,
    ) {
        let (Some(number), false) = (join.as_ref().and_then(Join::first), order.is_empty()) else { return };
        let Some(columns) = of_source(order, &self.sources[number]) else { return };
        // (What is joined to it leaves few of its rows out, if nothing is said of another table.)
        let is_alone = self.sources.len() == 1 || self.ordered == Some(number);
        let slots = self.sources[number].slots();
        let Source { kind: SourceKind::Table(table), first_slot, conditions, .. } = &mut self.sources[number] else {
            return;
        };
        let usable = usable(&table.usable);
        let definition = &table.table.engine().definition;
        let direction = |index: usize, equal: usize| direction_of(definition, index, equal, &columns);
        if table.access.union.is_empty()
            && (table.access.index == 0 || usable.has(table.access.index))
            && let Some(direction) = direction(table.access.index, table.access.equal.len())
        {
            table.access.direction = direction;
            order.clear();
            return;
        }
        let statistics = self.tables.statistics(&table.table);
        let (numbers, known) = before_row(&slots, conditions.iter().enumerate());
        let choice = Choice { is_contested: true, ..self.choice };
        let mut estimator = Estimator::new(&statistics, self.tables.sizes(), choice, *first_slot);
        let ordered = access::choose_ordered(table, *first_slot, &known, &mut estimator, usable, direction);
        let Some((mut ordered, Cost { rows: cost, .. })) = ordered else { return };
        renumber(&mut ordered, &numbers);
        let chosen = estimator.cost(table, &table.access);
        let mut comes_soon = |limit: &LimitPlan| {
            let shown = chosen.found * estimator.share_beside(table, &table.access, conditions.iter().enumerate());
            estimator.cost_of_first(table, ordered.index, shown, limit) <= chosen.rows
        };
        let is_cheap = match is_limited {
            _ if usable.is_forced || self.first == Some(number) => true,
            false => cost <= chosen.rows,
            true => {
                cost <= chosen.rows * LIMITED
                    || ordered.implied.has_first(conditions.len())
                    || is_alone && self.limit.is_some_and(&mut comes_soon)
            }
        };
        if is_cheap {
            table.access = ordered;
            order.clear();
        }
    }

    /// Of groups that are those of one table's rows ([`super::row_groups`]), of which the first are wanted: if that is read in this order, as
    /// [`JoinPlanner::use_order`] has it, or in any that may be, groups are made one after the other.
    pub fn use_order_of_rows(
        &mut self,
        join: &Option<Join>,
        group: &mut GroupPlan,
        order: &mut Vec<SortKey>,
        is_limited: bool,
    ) {
        if order.is_empty() {
            self.use_group_order(join, group, order, is_limited);
            group.is_sorted = true;
        } else {
            self.use_order_of(join, order, is_limited, |usable| usable.for_groups);
            group.is_sorted = order.is_empty();
        }
    }

    /// If rows come in the order of an index in which equal keys are one behind the other, or may as well, groups are made one after the
    /// other; in `order`, where that is one of keys. As [`JoinPlanner::use_order`].
    pub fn use_group_order(
        &mut self,
        join: &Option<Join>,
        group: &mut GroupPlan,
        order: &mut Vec<SortKey>,
        is_limited: bool,
    ) {
        if group.keys.iter().any(|key| key.as_column().is_none()) {
            return;
        }
        let is_same = |key: &Expr, other: &SortKey| key.as_column() == other.value.as_column();
        let is_by_keys = order.iter().all(|wanted| group.keys.iter().any(|key| is_same(key, wanted)));
        let mut wanted = if is_by_keys { order.clone() } else { Vec::new() };
        let descending = wanted.last().is_some_and(|key| key.descending);
        for key in &group.keys {
            if !wanted.iter().any(|other| is_same(key, other)) {
                wanted.push(SortKey { value: key.clone(), descending });
            }
        }
        self.use_order_of(join, &mut wanted, is_limited && is_by_keys, |usable| usable.for_groups);
        if wanted.is_empty() {
            group.is_sorted = true;
            if is_by_keys {
                order.clear();
            }
        }
    }
}

/// The column whose least or greatest value this is, and how the row is found that has it.
fn end_of(call: &AggregateCall, table: &TableSource, first_slot: usize) -> Option<(u16, Access)> {
    let is_last = match call.function {
        AggregateFunction::Min => false,
        AggregateFunction::Max => true,
        _ => return None,
    };
    let [argument] = &*call.arguments else { return None };
    let column = (argument.as_column()? as usize).checked_sub(first_slot)?;
    // MIN of a member of an ENUM is that of texts, and an index has numbers.
    let data_type = &table.table.columns.get(column)?.data_type;
    let definition = &table.table.engine().definition;
    let access = &table.access;
    if !access.is_one_stretch() || matches!(data_type, DataType::Enum(_) | DataType::Set(_) | DataType::Json) {
        return None;
    }
    let part_of = |index: usize, at: usize| {
        let part = definition.indexes[index].parts.get(at)?;
        (usize::from(part.column) == column && part.prefix.is_none()).then_some(part.descending)
    };
    let is_usable = |index: &usize| access::is_usable(&table.table, table.usable.for_rows, *index);
    let (index, is_descending) = match access.is_whole() {
        false => part_of(access.index, access.equal.len()).map(|descending| (access.index, descending)),
        true => (0..definition.indexes.len()).filter(is_usable).find_map(|index| Some((index, part_of(index, 0)?))),
    }?;
    let direction = if is_last != is_descending { Direction::Descending } else { Direction::Ascending };
    Some((column as u16, Access { index, direction, ..access.clone() }))
}

/// The columns that rows are ordered by, by their numbers in this source, and whether each is descending; `None` if they are ordered by
/// anything else.
fn of_source(order: &[SortKey], source: &Source) -> Option<Vec<(usize, bool)>> {
    let column = |key: &SortKey| {
        let column = (key.value.as_column()? as usize).checked_sub(source.first_slot)?;
        (column < source.width).then_some((column, key.descending))
    };
    order.iter().map(column).collect()
}

/// ON of the inner joins that a tree begins with.
fn conditions_in<'t>(tree: &'t Tree, out: &mut Vec<&'t Expr>) {
    match tree {
        Tree::Source(_) => {}
        Tree::Inner { inputs, conditions, .. } => {
            out.extend(conditions);
            inputs.iter().for_each(|input| conditions_in(input, out));
        }
        Tree::Left { left, .. } => conditions_in(left, out),
    }
}

/// Which way an index is to be read, so that its entries whose first `equal` columns have one value come in the order of these
/// columns (and whether each is descending); `None` if they do neither way.
fn direction_of(
    definition: &TableDefinition,
    index: usize,
    equal: usize,
    columns: &[(usize, bool)],
) -> Option<Direction> {
    let own = &definition.indexes[index].parts;
    let mut parts = own.iter().chain(access::parts_behind(definition, index)).skip(equal);
    let mut backwards = None;
    for &(column, descending) in columns {
        // A column that has one value only is in any order.
        if own[..equal].iter().any(|part| usize::from(part.column) == column) {
            continue;
        }
        let part = parts.next().filter(|part| usize::from(part.column) == column && part.prefix.is_none())?;
        let is_backwards = part.descending != descending;
        if *backwards.get_or_insert(is_backwards) != is_backwards {
            return None;
        }
    }
    Some(if backwards == Some(true) { Direction::Descending } else { Direction::Ascending })
}
