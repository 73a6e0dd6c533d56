//! In which order sources are read, by which index each, and where each condition is asked.
//!
//! ```text
//!   a JOIN b JOIN c, conditions        at each step the source that is found by the fewest rows goes next;
//!                                      a condition is asked as soon as all that it names is there
//!   a LEFT JOIN b ON ..                b stays behind a; conditions of WHERE on b are asked after the join
//! ```
//!
//! # Source
//! Greedy ordering by cost; Ramakrishnan and Gehrke, "Database Management Systems", chapter 15.

use std::collections::HashSet;

use meseta_engine::Direction;
use meseta_engine::table::{PartDefinition, TableDefinition};
use meseta_types::DataType;

use super::access;
use super::bind::Tables;
use super::hash::{self, HashPlan};
use super::plan::{Access, GroupPlan, Join, SortKey, Source, SourceKind};
use crate::error::Result;
use crate::expression::Expr;
use crate::expression::aggregate::AggregateFunction;

/// How sources were joined in the text.
pub enum Tree {
    /// One source.
    Source(usize),
    /// Inner joins.
    Inner {
        /// What is joined.
        inputs: Vec<Tree>,
        /// ON.
        conditions: Vec<Expr>,
        /// STRAIGHT_JOIN.
        keeps_order: bool,
    },
    /// LEFT JOIN.
    Left {
        /// The left.
        left: Box<Tree>,
        /// The right.
        right: Box<Tree>,
        /// ON.
        on: Vec<Expr>,
    },
}

/// A planned join.
pub struct Planned {
    /// How sources are joined.
    pub join: Option<Join>,
    /// Conditions that name no source.
    pub constant: Vec<Expr>,
    /// How the rows of each source are kept in memory, if they are.
    pub hashes: Vec<Option<HashPlan>>,
}

/// Plans the join of a SELECT.
pub struct Planner<'p> {
    /// Its sources.
    pub sources: &'p mut [Source],
    /// What is known of tables.
    pub tables: &'p mut dyn Tables,
    /// Slots that are named somewhere.
    pub used: &'p HashSet<u32>,
    /// Which is to be read before all others, if it may: [`Planner::first_in_order`].
    pub first: Option<usize>,
}

/// A condition, and the sources that it names.
struct Condition {
    expr: Expr,
    sources: HashSet<usize>,
    is_placed: bool,
}

/// So many times what all rows cost by the chosen access they may cost in order, where only the first of them are wanted.
const LIMITED: f64 = 2.0;

/// Costs more than any table.
const LAST: f64 = f64::MAX / 4.0;

impl Planner<'_> {
    /// Plans a tree of joins under the conditions of WHERE.
    pub fn plan(&mut self, tree: Option<Tree>, conditions: Vec<Expr>, keeps_order: bool) -> Result<Planned> {
        for source in self.sources.iter_mut() {
            let first = source.first_slot;
            if let SourceKind::Table(table) = &mut source.kind {
                let columns = 0..table.table.columns.len() as u16;
                table.columns =
                    columns.filter(|&column| self.used.contains(&((first + usize::from(column)) as u32))).collect();
            }
        }
        let Some(tree) = tree else {
            return Ok(Planned { join: None, constant: conditions, hashes: Vec::new() });
        };
        let (constant, conditions): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(|condition| {
            let mut names_none = true;
            condition.columns(&mut |_| names_none = false);
            names_none && condition.is_constant()
        });
        let mut conditions: Vec<Condition> = conditions.into_iter().map(|expr| self.condition(expr)).collect();
        let mut there = HashSet::new();
        let join = filtered(self.tree(tree, &mut conditions, &mut there, keeps_order)?, conditions);
        let mut hashes = Vec::new();
        hashes.resize_with(self.sources.len(), || None);
        let first = first_of(&join);
        for (number, source) in self.sources.iter_mut().enumerate().filter(|(number, _)| Some(*number) != first) {
            hashes[number] = hash::plan(source);
        }
        Ok(Planned { join: Some(join), constant, hashes })
    }

    fn condition(&self, expr: Expr) -> Condition {
        let mut sources = HashSet::new();
        expr.columns(&mut |slot| {
            sources.extend(self.source_of(slot));
        });
        if expr.has_correlated_subquery() {
            // The query inside may name any of them.
            sources.extend(0..self.sources.len());
        }
        Condition { expr, sources, is_placed: false }
    }

    fn source_of(&self, slot: u32) -> Option<usize> {
        self.sources.iter().rposition(|source| source.first_slot <= slot as usize)
    }

    fn sources_in(tree: &Tree, out: &mut HashSet<usize>) {
        match tree {
            Tree::Source(number) => drop(out.insert(*number)),
            Tree::Inner { inputs, .. } => inputs.iter().for_each(|input| Self::sources_in(input, out)),
            Tree::Left { left, right, .. } => {
                Self::sources_in(left, out);
                Self::sources_in(right, out);
            }
        }
    }

    fn tree(
        &mut self,
        tree: Tree,
        conditions: &mut Vec<Condition>,
        there: &mut HashSet<usize>,
        keeps_order: bool,
    ) -> Result<Join> {
        match tree {
            Tree::Source(_) => self.inner(vec![tree], conditions, there, keeps_order),
            Tree::Inner { .. } => {
                let (mut inputs, mut keeps_order) = (Vec::new(), keeps_order);
                self.flatten(tree, &mut inputs, conditions, &mut keeps_order);
                self.inner(inputs, conditions, there, keeps_order)
            }
            Tree::Left { left, right, on } => {
                let mut of_left = HashSet::new();
                Self::sources_in(&left, &mut of_left);
                of_left.extend(there.iter().copied());
                // What WHERE says of the left side alone can be asked there.
                let mut left_conditions = Vec::new();
                conditions.retain_mut(|condition| {
                    let moves = !condition.is_placed && condition.sources.is_subset(&of_left);
                    if moves {
                        let sources = std::mem::take(&mut condition.sources);
                        left_conditions.push(Condition { expr: condition.expr.clone(), sources, is_placed: false });
                    }
                    !moves
                });
                let planned = self.tree(*left, &mut left_conditions, there, keeps_order)?;
                let left = filtered(planned, left_conditions);
                let mut slots = HashSet::new();
                Self::sources_in(&right, &mut slots);
                let width = |number: usize| {
                    let source = &self.sources[number];
                    let (first_slot, width) = (source.first_slot, source.width);
                    first_slot..first_slot + width
                };
                let slots = slots.into_iter().map(width).collect();
                let mut on: Vec<Condition> = on.into_iter().map(|expr| self.condition(expr)).collect();
                let right = self.tree(*right, &mut on, there, keeps_order)?;
                let on =
                    on.into_iter().filter(|condition| !condition.is_placed).map(|condition| condition.expr).collect();
                Ok(Join::Left { left: Box::new(left), right: Box::new(right), on, slots })
            }
        }
    }

    /// The inputs of nested inner joins, and their conditions.
    fn flatten(&self, tree: Tree, inputs: &mut Vec<Tree>, conditions: &mut Vec<Condition>, keeps_order: &mut bool) {
        match tree {
            Tree::Inner { inputs: inside, conditions: on, keeps_order: straight } => {
                *keeps_order |= straight;
                conditions.extend(on.into_iter().map(|expr| self.condition(expr)));
                inside.into_iter().for_each(|input| self.flatten(input, inputs, conditions, keeps_order));
            }
            other => inputs.push(other),
        }
    }

    fn inner(
        &mut self,
        mut inputs: Vec<Tree>,
        conditions: &mut Vec<Condition>,
        there: &mut HashSet<usize>,
        keeps_order: bool,
    ) -> Result<Join> {
        let mut joined = Vec::new();
        while !inputs.is_empty() {
            let costs: Vec<(f64, Option<Access>)> =
                inputs.iter().map(|input| self.cost(input, conditions, there)).collect();
            let is_first = |input: &Tree| matches!(input, Tree::Source(number) if self.first == Some(*number));
            let first = if there.is_empty() { inputs.iter().position(is_first) } else { None };
            let mut best = first.unwrap_or(0);
            if !keeps_order && first.is_none() {
                for at in 1..costs.len() {
                    if costs[at].0 < costs[best].0 {
                        best = at;
                    }
                }
            }
            let input = inputs.remove(best);
            let access = costs.into_iter().nth(best).and_then(|(_, access)| access);
            let next = match input {
                Tree::Source(number) => {
                    there.insert(number);
                    if let (SourceKind::Table(table), Some(access)) = (&mut self.sources[number].kind, access) {
                        table.access = access;
                    }
                    let placed = place(conditions, there);
                    self.sources[number].conditions.extend(placed);
                    Join::Source(number)
                }
                tree => {
                    let mut inside = HashSet::new();
                    Self::sources_in(&tree, &mut inside);
                    let planned = self.tree(tree, conditions, there, keeps_order)?;
                    there.extend(inside);
                    let placed = place(conditions, there);
                    if placed.is_empty() {
                        planned
                    } else {
                        Join::Filter { input: Box::new(planned), conditions: placed }
                    }
                }
            };
            joined.push(next);
        }
        Ok(if joined.len() == 1 { joined.remove(0) } else { Join::Inner(joined) })
    }

    /// About how many rows an input yields for each row of what is there, and how they are found.
    fn cost(&mut self, input: &Tree, conditions: &[Condition], there: &HashSet<usize>) -> (f64, Option<Access>) {
        let &Tree::Source(number) = input else { return (LAST, None) };
        let source = &self.sources[number];
        match &source.kind {
            SourceKind::Table(table) => {
                let mut with_it = there.clone();
                with_it.insert(number);
                // These are what the source will have.
                let placed = conditions
                    .iter()
                    .filter(|condition| !condition.is_placed && condition.sources.is_subset(&with_it))
                    .map(|condition| &condition.expr);
                let (numbers, usable) = usable((source.conditions.len()..).zip(placed));
                let statistics = self.tables.statistics(&table.table);
                // What locks rows locks them where they are.
                let columns = if table.locking.is_some() { None } else { Some(&*table.columns) };
                let (mut access, cost) = access::choose(&table.table, source.first_slot, &usable, &statistics, columns);
                renumber(&mut access, &numbers);
                (cost, Some(access))
            }
            SourceKind::Derived { is_lateral: true, .. } => (LAST, None),
            SourceKind::Working(_) => (10.0, None),
            SourceKind::Derived { .. } | SourceKind::Virtual(_) => (1000.0, None),
        }
    }

    /// Notes which columns of a table that is alone need not be read where the conditions that its access implies are not
    /// looked at; `named_beside` are the slots that something other than WHERE names. On entry: the access is chosen.
    pub fn spare_columns(&mut self, join: &Option<Join>, named_beside: HashSet<u32>) {
        let (Some(Join::Source(0)), [source]) = (join, &mut *self.sources) else { return };
        let SourceKind::Table(table) = &mut source.kind else { return };
        let implied = table.access.implied;
        let looked_at = || source.conditions.iter().enumerate().filter(|(number, _)| !implied.has(*number));
        if looked_at().any(|(_, condition)| condition.has_subquery()) {
            return;
        }
        let mut named = named_beside;
        looked_at().for_each(|(_, condition)| {
            condition.columns(&mut |slot| {
                named.insert(slot);
            });
        });
        let is_named = |column: &u16| named.contains(&((source.first_slot + usize::from(*column)) as u32));
        table.columns_beside = Some((implied, table.columns.iter().copied().filter(is_named).collect()));
    }

    /// If all that is wanted of one table is the least or the greatest of a column, and an index has the column in order
    /// behind those that are given, the first row that has a value tells it.
    pub fn use_end(&mut self, join: &Option<Join>, group: &mut GroupPlan) {
        let [call] = &*group.aggregates else { return };
        let is_last = match call.function {
            AggregateFunction::Min => false,
            AggregateFunction::Max => true,
            _ => return,
        };
        let (Some(Join::Source(number)), [argument]) = (join, &*call.arguments) else { return };
        let Source { kind: SourceKind::Table(table), first_slot, .. } = &mut self.sources[*number] else { return };
        let Some(column) = argument.as_column().and_then(|slot| (slot as usize).checked_sub(*first_slot)) else {
            return;
        };
        // MIN of a member of an ENUM is that of texts, and an index has numbers.
        let data_type = &table.table.columns[column].data_type;
        let definition = &table.table.engine().definition;
        let access = &table.access;
        if !access.any_of.is_empty() || matches!(data_type, DataType::Enum(_) | DataType::Set(_) | DataType::Json) {
            return;
        }
        let is_whole = access.equal.is_empty() && access.low.is_none() && access.high.is_none();
        let part_of = |index: usize, at: usize| {
            let part = definition.indexes[index].parts.get(at)?;
            (usize::from(part.column) == column && part.prefix.is_none()).then_some(part.descending)
        };
        let is_built = |index: &usize| table.table.engine().indexes[*index].build.is_none();
        let found = match is_whole {
            false => part_of(access.index, access.equal.len()).map(|descending| (access.index, descending)),
            true => (0..definition.indexes.len()).filter(is_built).find_map(|index| Some((index, part_of(index, 0)?))),
        };
        let Some((index, is_descending)) = found else { return };
        table.access.index = index;
        table.access.direction = if is_last != is_descending { Direction::Descending } else { Direction::Ascending };
        group.takes_first = true;
    }

    /// The table by whose columns rows are ordered, if the first of a join are wanted, an index has them in order, and all that is said
    /// of single tables is said of this one and of that index: then it is read first, and hardly more of it than is shown.
    pub fn first_in_order(&mut self, tree: &Option<Tree>, conditions: &[Expr], order: &[SortKey]) -> Option<usize> {
        let tree = tree.as_ref().filter(|tree| !matches!(tree, Tree::Source(_)))?;
        let columns: Vec<u32> = order.iter().map(|key| key.value.as_column()).collect::<Option<_>>()?;
        let number = self.source_of(*columns.first()?)?;
        if columns.iter().any(|&slot| self.source_of(slot) != Some(number)) {
            return None;
        }
        let mut all: Vec<&Expr> = conditions.iter().collect();
        conditions_in(tree, &mut all);
        let mut own = Vec::new();
        for condition in all {
            let mut sources = HashSet::new();
            condition.columns(&mut |slot| sources.extend(self.source_of(slot)));
            if condition.has_subquery() || sources.len() == 1 && !sources.contains(&number) {
                return None;
            }
            if sources.len() == 1 {
                own.push(condition);
            }
        }
        let Source { kind: SourceKind::Table(table), first_slot, .. } = &self.sources[number] else { return None };
        let columns = of_table(order, *first_slot)?;
        let statistics = self.tables.statistics(&table.table);
        let definition = &table.table.engine().definition;
        let direction = |index: usize, equal: usize| direction_of(definition, index, equal, &columns);
        let (access, _) = access::choose_ordered(&table.table, *first_slot, &own, &statistics, None, direction)?;
        access.implied.has_first(own.len()).then_some(number)
    }

    /// If the rows of one table are wanted in the order of an index, they are read in it, and need not be sorted: that of the
    /// access that was chosen; or another, where it costs no more. Where few rows are wanted (LIMIT), it may be one by which more
    /// rows would be read if all were: most of them are not. Of a join it is the table that is read first: the others are looked at
    /// for each of its rows.
    pub fn use_order(&mut self, join: &Option<Join>, order: &mut Vec<SortKey>, is_limited: bool) {
        let (Some(number), false) = (join.as_ref().and_then(first_of), order.is_empty()) else { return };
        let Source { kind: SourceKind::Table(table), first_slot, width, conditions, .. } = &mut self.sources[number]
        else {
            return;
        };
        let is_here = |key: &SortKey| {
            key.value.as_column().is_some_and(|slot| (*first_slot..*first_slot + *width).contains(&(slot as usize)))
        };
        let Some(columns) = of_table(order, *first_slot).filter(|_| order.iter().all(is_here)) else { return };
        let definition = &table.table.engine().definition;
        let direction = |index: usize, equal: usize| direction_of(definition, index, equal, &columns);
        if table.access.any_of.is_empty()
            && let Some(direction) = direction(table.access.index, table.access.equal.len())
        {
            table.access.direction = direction;
            order.clear();
            return;
        }
        let statistics = self.tables.statistics(&table.table);
        let read = if table.locking.is_some() { None } else { Some(&*table.columns) };
        let (numbers, usable) = usable(conditions.iter().enumerate());
        let ordered = access::choose_ordered(&table.table, *first_slot, &usable, &statistics, read, direction);
        let Some((mut ordered, cost)) = ordered else { return };
        renumber(&mut ordered, &numbers);
        let chosen = access::cost(&table.table, &table.access, &statistics, read);
        let is_cheap = match is_limited {
            false => cost <= chosen,
            true => cost <= chosen * LIMITED || ordered.implied.has_first(conditions.len()),
        };
        if is_cheap {
            table.access = ordered;
            order.clear();
        }
    }

    /// If rows come in the order of an index in which equal keys are one behind the other, or may as well, groups are made one after the
    /// other; in `order`, where that is one of keys. As [`Planner::use_order`].
    pub fn use_group_order(
        &mut self,
        join: &Option<Join>,
        group: &mut GroupPlan,
        order: &mut Vec<SortKey>,
        is_limited: bool,
    ) {
        let is_key = |key: &SortKey| key.value.as_column().is_some_and(|slot| has_slot(&group.keys, slot));
        let is_by_keys = order.iter().all(is_key);
        let mut wanted = if is_by_keys { order.clone() } else { Vec::new() };
        let descending = wanted.last().is_some_and(|key| key.descending);
        for key in &group.keys {
            let is_there = wanted.iter().any(|other| other.value.as_column() == key.as_column());
            if !is_there || key.as_column().is_none() {
                wanted.push(SortKey { value: key.clone(), descending });
            }
        }
        self.use_order(join, &mut wanted, is_limited && is_by_keys);
        if wanted.is_empty() {
            group.is_sorted = true;
            if is_by_keys {
                order.clear();
            }
        }
    }
}

fn has_slot(keys: &[Expr], slot: u32) -> bool {
    keys.iter().any(|key| key.as_column() == Some(slot))
}

/// The columns that rows are ordered by, and whether each is descending, if they are columns: numbers in the table whose slots begin
/// there.
fn of_table(order: &[SortKey], first_slot: usize) -> Option<Vec<(usize, bool)>> {
    let column = |key: &SortKey| Some(((key.value.as_column()? as usize).checked_sub(first_slot)?, key.descending));
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
    // Entries with the same values are in the order of the primary key, where that is in the key.
    let has_primary_key = index > 0 && definition.has_primary_key && !definition.indexes[index].unique;
    let behind: &[PartDefinition] = if has_primary_key { &definition.indexes[0].parts } else { &[] };
    let mut parts = own.iter().chain(behind).skip(equal);
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

/// Of numbered conditions, those that may choose an index: what a query says that looks at the row is asked of the row only.
fn usable<'e>(conditions: impl Iterator<Item = (usize, &'e Expr)>) -> (Vec<usize>, Vec<&'e Expr>) {
    conditions.filter(|(_, condition)| !condition.has_correlated_subquery()).unzip()
}

/// An access was chosen by conditions that have these numbers.
fn renumber(access: &mut Access, numbers: &[usize]) {
    let implied = std::mem::take(&mut access.implied);
    let placed = numbers.iter().enumerate().filter(|(at, _)| implied.has(*at));
    placed.for_each(|(_, &number)| access.implied.insert(number));
}

/// The source that is read first, and once.
pub fn first_of(join: &Join) -> Option<usize> {
    match join {
        Join::Source(number) => Some(*number),
        Join::Inner(joins) => joins.first().and_then(first_of),
        Join::Left { left, .. } => first_of(left),
        Join::Filter { input, .. } => first_of(input),
    }
}

/// Takes the conditions of which everything is there.
fn place(conditions: &mut [Condition], there: &HashSet<usize>) -> Vec<Expr> {
    let mut placed = Vec::new();
    for condition in conditions.iter_mut().filter(|condition| !condition.is_placed) {
        if condition.sources.is_subset(there) {
            condition.is_placed = true;
            placed.push(condition.expr.clone());
        }
    }
    placed
}

/// A join with the conditions that have not been placed in it.
fn filtered(join: Join, conditions: Vec<Condition>) -> Join {
    let left: Vec<Expr> =
        conditions.into_iter().filter(|condition| !condition.is_placed).map(|condition| condition.expr).collect();
    if left.is_empty() { join } else { Join::Filter { input: Box::new(join), conditions: left } }
}
