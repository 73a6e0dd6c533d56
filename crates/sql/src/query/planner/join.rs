//! In which order sources are read, by which index each, and where each condition is asked.
//!
//! ```text
//!   a JOIN b JOIN c, conditions        it begins with the source that has the fewest rows, or with another, if that costs clearly less
//!                                      in all; it goes on with what is joined to what is there, and adds the fewest rows ([`super::step`]);
//!                                      a condition is asked as soon as all that it names is there; a query that runs for each row, once
//!                                      nothing more is to be joined that leaves few of them
//!   a JOIN b, no index                 of the first two the smaller one is kept in memory, and so behind the other
//!   a LEFT JOIN b ON ..                b is behind what ON names of a ([`super::join_inputs`]); conditions of WHERE on b are asked after the
//!                                      join (those that leave out what it adds have made it an inner join before: [`super::outer`])
//! ```
//!
//! # Source
//! Greedy ordering by cost; Ramakrishnan and Gehrke, "Database Management Systems", chapter 15.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::condition::{Condition, Reason, place};
use super::estimate::{Choice, share_of};
use super::hash;
use super::join_inputs::{Input, Outer};
use super::order::WantedOrder;
use super::step::{LAST, Step, next_of, shown_by};
use super::tables::Tables;
use crate::error::Result;
use crate::expression::Expr;
use crate::query::plan::bound::name_columns;
use crate::query::plan::join_tree::Tree;
use crate::query::plan::{Access, HashPlan, Join, LimitPlan, Source, SourceKind};

/// A planned join.
pub struct Planned {
    /// How sources are joined.
    pub join: Option<Join>,
    /// About how many rows that has.
    pub rows: f64,
    /// Conditions that name no source.
    pub constant: Vec<Expr>,
    /// How the rows of each source are kept in memory, if they are.
    pub hashes: Vec<Option<HashPlan>>,
}

/// Plans the join of a SELECT.
pub struct JoinPlanner<'p> {
    /// Its sources.
    pub sources: &'p mut [Source],
    /// What is known of tables.
    pub tables: &'p mut dyn Tables,
    /// Slots that are named somewhere.
    pub used: &'p HashSet<u32>,
    /// Which is to be read before all others, if it may: [`JoinPlanner::expect_order`].
    pub first: Option<usize>,
    /// Of which few rows are joined, if it is read before all others: [`super::early_sort`].
    pub ordered: Option<usize>,
    /// Whose order is wanted, where costs say whether it is read first: [`JoinPlanner::expect_order`].
    pub wanted_order: Option<WantedOrder>,
    /// What is joined to one row of that table is one of the rows that are wanted: [`super::row_groups`].
    pub groups_by_row: bool,
    /// How many rows are wanted.
    pub limit: Option<&'p LimitPlan>,
    /// What there is to choose.
    pub choice: Choice,
    /// The sources that are shown, if it does not matter how often a row of them comes ([`super::first_match`]).
    pub shown_once: Option<&'p HashSet<usize>>,
    /// Which part of the rows of sources meets the conditions on them alone.
    pub(super) met: HashMap<usize, f64>,
}

/// What is joined so far.
#[derive(Default)]
struct SoFar {
    /// One behind the other.
    joined: Vec<Join>,
    /// About how many rows there are; `None` before there is anything.
    rows: Option<f64>,
    /// It does not matter what is read first.
    is_free: bool,
    /// The source that is there alone, if that may as well come second, and how many of its rows are wanted.
    alone: Option<(usize, f64)>,
    /// Conditions of which all is there, and which are asked later: queries that run for each row.
    held: Vec<Expr>,
}

/// A step that leaves so much less of the rows is made before queries are asked that run for each row.
const FEWER: f64 = 0.5;

/// Of two sources that no index joins the one that is smaller by this much is kept.
const SMALLER: f64 = 0.7;

impl<'p> JoinPlanner<'p> {
    /// One of all rows of some sources.
    pub fn new(sources: &'p mut [Source], tables: &'p mut dyn Tables, used: &'p HashSet<u32>) -> Self {
        let choice = Choice { block: tables.sizes().next_block(), is_contested: sources.len() > 1, wants_all: true };
        let (first, ordered, wanted_order, limit) = (None, None, None, None);
        let (groups_by_row, shown_once, met) = (false, None, HashMap::new());
        Self { sources, tables, used, first, ordered, wanted_order, groups_by_row, limit, choice, shown_once, met }
    }

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
            return Ok(Planned { join: None, rows: 1.0, constant: conditions, hashes: Vec::new() });
        };
        let (constant, conditions): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(is_known_before_rows);
        let mut conditions: Vec<Condition> = conditions.into_iter().flat_map(|expr| self.with_deduced(expr)).collect();
        let mut there = HashSet::new();
        let (join, rows) = self.tree(tree, &mut conditions, &mut there, keeps_order)?;
        let is_left = |condition: &Condition| !condition.is_placed && condition.reason == Reason::Given;
        let left = conditions.into_iter().filter(is_left).map(|condition| condition.expr).collect();
        let join = asked(join, left);
        let mut hashes = Vec::new();
        hashes.resize_with(self.sources.len(), || None);
        let first = join.first();
        for (number, source) in self.sources.iter_mut().enumerate().filter(|(number, _)| Some(*number) != first) {
            hashes[number] = hash::plan(source);
        }
        Ok(Planned { join: Some(join), rows, constant, hashes })
    }

    /// The source that has this slot.
    pub fn source_of(&self, slot: u32) -> Option<usize> {
        Source::position_of(self.sources, slot)
    }

    /// A tree of joins, and about how many rows it has for each row of what is there.
    fn tree(
        &mut self,
        tree: Tree,
        conditions: &mut Vec<Condition>,
        there: &mut HashSet<usize>,
        mut keeps_order: bool,
    ) -> Result<(Join, f64)> {
        let mut inputs = Vec::new();
        self.inputs_of(tree, &mut inputs, conditions, &mut keeps_order);
        if inputs.len() > 1 && there.is_empty() && !keeps_order {
            self.add_what_follows(&inputs, conditions);
        }
        // A query is asked when all else holds, and one that runs for each row at last.
        conditions.sort_by_key(|Condition { expr, .. }| (expr.has_correlated_subquery(), expr.has_subquery()));
        let is_first = |input: &Input| self.first.is_some_and(|first| input.is_source(first));
        let mut first = inputs.iter().position(is_first).filter(|_| !keeps_order && there.is_empty());
        if first.is_none() && !keeps_order {
            first = self.cheapest_start(&inputs, conditions, there);
        }
        let mut so_far = SoFar {
            rows: (!there.is_empty()).then_some(1.0),
            is_free: there.is_empty() && !keeps_order && self.first.is_none() && self.ordered.is_none(),
            ..SoFar::default()
        };
        while !inputs.is_empty() {
            let (at, step) = match first.take().or(keeps_order.then_some(0)) {
                Some(at) => (at, self.step(&inputs[at], conditions, there)),
                None => self.next(&inputs, conditions, there, so_far.rows),
            };
            if so_far.rows.is_none_or(|rows| step.cost >= LAST || step.joined_to(rows).1 >= rows * FEWER) {
                self.ask_what_is_held(&mut so_far);
            }
            match inputs.remove(at) {
                Input::Source(number) => self.join_source(number, step, conditions, there, &mut so_far),
                Input::Outer(outer) => self.join_outer(*outer, conditions, there, keeps_order, &mut so_far)?,
            }
        }
        self.ask_what_is_held(&mut so_far);
        Ok((inner(so_far.joined), so_far.rows.unwrap_or(1.0)))
    }

    /// Joins a source to what is there; or, if that is the smaller one of two which no index joins, that to the source.
    fn join_source(
        &mut self,
        number: usize,
        step: Step,
        conditions: &mut [Condition],
        there: &mut HashSet<usize>,
        so_far: &mut SoFar,
    ) {
        so_far.rows = match so_far.rows {
            None => Some(step.found * step.share),
            Some(rows) if step.cost < LAST => Some(step.joined_to(rows).1),
            rows => rows,
        };
        let rows = step.cost * step.share;
        let smaller = so_far.alone.take().filter(|&(alone, its_rows)| {
            // (A single row says at once which of the others are wanted.)
            its_rows > 1.0 && its_rows < rows * SMALLER && self.may_keep(alone, number, &step, conditions)
        });
        match smaller {
            Some((smaller, _)) => {
                there.clear();
                let step = self.step_to(number, conditions, there);
                self.read_next(number, step, conditions, there);
                there.insert(smaller);
                self.sources[smaller].conditions.extend(place(conditions, there));
                so_far.joined.insert(0, Join::Source(number));
            }
            None => {
                so_far.alone = (so_far.is_free && so_far.joined.is_empty()).then_some((number, rows));
                self.read_next(number, step, conditions, there);
                so_far.joined.push(Join::Source(number));
            }
        }
        // (What is locked is what all of its conditions want.)
        let source = &mut self.sources[number];
        if !source.is_locked() {
            so_far.held.extend(source.take_conditions(Expr::has_correlated_subquery));
        }
    }

    /// Makes an outer join of what is there.
    fn join_outer(
        &mut self,
        outer: Outer,
        conditions: &mut [Condition],
        there: &mut HashSet<usize>,
        keeps_order: bool,
        so_far: &mut SoFar,
    ) -> Result<()> {
        let Outer { right, mut on, shows, .. } = outer;
        let slots = right.numbers().into_iter().map(|number| {
            let source = &self.sources[number];
            source.first_slot..source.first_slot + source.width
        });
        let (slots, left) = (slots.collect(), Box::new(inner(std::mem::take(&mut so_far.joined))));
        let when = place(&mut on, there);
        let (right, rows_each) = self.tree(right, &mut on, there, keeps_order)?;
        let on = on.into_iter().filter(|condition| !condition.is_placed).map(|condition| condition.expr).collect();
        let join = Join::Left { left, right: Box::new(right), when, on, slots, shows };
        so_far.joined.push(asked(join, place(conditions, there)));
        so_far.rows = so_far.rows.map(|rows| shown_by(shows, rows, rows * rows_each));
        so_far.alone = None;
        Ok(())
    }

    /// Has conditions asked now that have been held back.
    fn ask_what_is_held(&mut self, so_far: &mut SoFar) {
        let held = std::mem::take(&mut so_far.held);
        match so_far.joined.last_mut() {
            Some(Join::Source(number)) => self.sources[*number].conditions.extend(held),
            Some(join) => *join = asked(std::mem::replace(join, Join::Inner(Vec::new())), held),
            None => debug_assert!(held.is_empty(), "they are of what is joined"),
        }
    }

    /// Which input is joined next, and how.
    fn next(
        &mut self,
        inputs: &[Input],
        conditions: &[Condition],
        there: &HashSet<usize>,
        rows: Option<f64>,
    ) -> (usize, Step) {
        let ready = (0..inputs.len()).filter(|&at| inputs[at].is_ready(there));
        let mut steps: Vec<(usize, Step)> = ready.map(|at| (at, self.step(&inputs[at], conditions, there))).collect();
        let best = next_of(steps.iter().map(|(_, step)| step), rows);
        steps.swap_remove(best)
    }

    /// Has a source read next, so, with the conditions of which all is there then.
    fn read_next(&mut self, number: usize, step: Step, conditions: &mut [Condition], there: &mut HashSet<usize>) {
        there.insert(number);
        let reads_all = step.access.as_ref().is_some_and(Access::is_whole);
        if let (SourceKind::Table(table), Some(access)) = (&mut self.sources[number].kind, step.access) {
            table.access = access;
        }
        let mut placed = place(conditions, there);
        if reads_all && self.choice.wants_all {
            // Of so many rows the values are not looked up one by one. (Those are left of which all that is asked before holds.)
            let mut rows = step.cost;
            for condition in &mut placed {
                condition.expect_rows(rows);
                rows *= share_of(condition);
            }
        }
        self.sources[number].conditions.extend(placed);
    }

    /// Whether the first source of a join may as well be kept in memory and found by the rows of the next one, for which this is the
    /// step: neither is found by an index for the rows of the other.
    fn may_keep(&self, first: usize, next: usize, step: &Step, conditions: &[Condition]) -> bool {
        let by_itself = |access: &Access| !access.is_point && !access.is_by_row();
        let is_kept_alone = match &self.sources[first].kind {
            SourceKind::Table(table) => table.locking.is_none() && by_itself(&table.access),
            SourceKind::Derived { is_lateral, .. } => !is_lateral,
            SourceKind::Virtual(_) | SourceKind::Working(_) => false,
        };
        let is_key = |condition: &Condition| {
            !condition.is_placed
                && condition.sources == HashSet::from([first, next])
                && hash::is_key(&condition.expr, &self.sources[first])
        };
        is_kept_alone && step.access.as_ref().is_some_and(by_itself) && conditions.iter().any(is_key)
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
            name_columns(condition, &mut named);
        });
        let is_named = |column: &u16| named.contains(&((source.first_slot + usize::from(*column)) as u32));
        table.columns_beside = Some((implied, table.columns.iter().copied().filter(is_named).collect()));
    }
}

/// Of numbered conditions, those that say something before the row with these slots is there: what a query says that looks at the row is
/// asked of the row only.
pub fn before_row<'e>(
    slots: &Range<u32>,
    conditions: impl Iterator<Item = (usize, &'e Expr)>,
) -> (Vec<usize>, Vec<&'e Expr>) {
    conditions.filter(|(_, condition)| condition.has_queries_known_without(slots)).unzip()
}

/// An access was chosen by conditions that have these numbers.
pub fn renumber(access: &mut Access, numbers: &[usize]) {
    let implied = std::mem::take(&mut access.implied);
    let placed = numbers.iter().enumerate().filter(|(at, _)| implied.has(*at));
    placed.for_each(|(_, &number)| access.implied.insert(number));
}

/// What is joined one behind the other.
pub fn inner(mut joins: Vec<Join>) -> Join {
    if joins.len() == 1 { joins.remove(0) } else { Join::Inner(joins) }
}

/// Whether a condition is the same for all rows of a run: it may look at the rows around the query. (What looks there and may fail is asked if
/// there is a row.)
fn is_known_before_rows(condition: &Expr) -> bool {
    let is_known = condition.is_known_without(&(0..u32::MAX)) && !condition.reads_user_variable();
    is_known && !condition.may_find_too_many_rows()
}

/// A join of whose rows something more is asked.
fn asked(input: Join, conditions: Vec<Expr>) -> Join {
    if conditions.is_empty() { input } else { Join::Filter { input: Box::new(input), conditions } }
}
