//! A step of a join: which input goes next.
//!
//! ```text
//!   rows there   1,000                 customer by its key     1 each, a tenth is wanted     rank -0.9     next
//!                                      nation by its key       1 each                              0
//!                                      item by order           4 each                              0.75
//!                                      region                  5, nothing joins it                        last
//! ```
//!
//! # Source
//! Rank, the rows that a step adds by what it costs: Ibaraki and Kameda, "On the Optimal Nesting Order for Computing N-Relational
//! Joins", ACM TODS 9 (1984).

use std::collections::HashSet;

use super::access;
use super::condition::{Condition, Reason, asked};
use super::estimate::{BESIDE, Cost, Estimator, OTHERS, UNKNOWN, said_by, share_beside};
use super::hash;
use super::join::{JoinPlanner, before_row, renumber};
use super::join_inputs::Input;
use super::shown_rows::{WORKING, shown_rows};
use crate::expression::Expr;
use crate::query::plan::join_tree::{Shows, Tree};
use crate::query::plan::{Access, ConditionSet, Source, SourceKind, TableSource};

/// Costs more than any table.
pub const LAST: f64 = f64::MAX / 4.0;

/// To look for where rows begin costs as much as to fetch so many (measured: 0.7 µs and 0.45); a single one is found sooner.
pub const LOOK_UP: f64 = 1.5;

/// To run a query for a row costs at least as much as to read so many that are fetched.
const QUERY: f64 = 2.0;

/// What it takes to join an input to what is there, for each row of that.
pub struct Step {
    /// About how many rows are read, one that is fetched behind its entry counted more,
    pub cost: f64,
    /// and found.
    pub found: f64,
    /// How they are found, if it is a table.
    pub access: Option<Access>,
    /// Which part of them meets the conditions on it alone,
    pub share: f64,
    /// and which part of those what else is asked of it and of what is there, beside what finds it.
    pub meets: f64,
    /// What each costs by one that is looked up.
    pub each: f64,
    /// So many queries run for each row that is left.
    pub queries: usize,
    /// Whether an equality tells which of its rows belong to one of those that are there: not each is compared with each.
    pub has_key: bool,
    /// Whether a condition names it and something that is there.
    pub is_joined: bool,
    /// Which rows it shows if it is the right side of an outer join; `None` of an inner one.
    pub shows: Option<Shows>,
}

impl Step {
    /// That of what is no table.
    pub fn of(cost: f64) -> Self {
        Self {
            cost,
            found: cost,
            access: None,
            share: 1.0,
            meets: 1.0,
            each: 1.0,
            queries: 0,
            has_key: true,
            is_joined: false,
            shows: None,
        }
    }

    /// What it costs to join it to so many rows, looked up, those that lie beside each other counted less; and how many rows there are
    /// then.
    pub fn joined_to(&self, rows: f64) -> (f64, f64) {
        self.matched_to(rows, false)
    }

    /// The same, if the first row that matches each is enough.
    pub fn first_to(&self, rows: f64) -> (f64, f64) {
        self.matched_to(rows, true)
    }

    fn matched_to(&self, rows: f64, is_first_enough: bool) -> (f64, f64) {
        let depends = self.access.as_ref().is_some_and(|access| access.is_point || access.is_by_row());
        let is_point = self.access.as_ref().is_some_and(|access| access.is_point);
        let &Self { cost, found, share, meets, each, has_key, .. } = self;
        let matches = found * share * meets;
        let part = if is_first_enough { matches.max(1.0).recip() } else { 1.0 };
        let looked_up = if is_point { cost } else { LOOK_UP + cost * part * each };
        // What does not depend on the rows before is read once, and kept (`hash`).
        let (cost, then) = match (depends, has_key) {
            (true, _) => (rows * looked_up, rows * matches * part),
            (false, true) if is_first_enough => (cost * each + rows, rows),
            (false, true) => (cost * each + rows, rows.max(found * share)),
            (false, false) => (rows * cost * part * each, rows * matches * part),
        };
        let left = self.shows.map_or(then, |shows| shown_by(shows, rows, then));
        (cost + self.cost_of_queries(then), left)
    }

    /// What it costs to run its queries for so many rows.
    pub fn cost_of_queries(&self, rows: f64) -> f64 {
        rows * self.queries as f64 * QUERY
    }

    /// Of what may be joined to so many rows, what has the lowest goes next: something that is joined, or a single row, before what
    /// is not; and then what adds the fewest rows for its cost.
    fn rank(&self, rows: f64) -> (u8, f64) {
        if self.cost >= LAST {
            return (2, 0.0);
        }
        if !self.is_joined && self.cost > 1.0 {
            return (1, self.cost);
        }
        let (cost, then) = self.joined_to(rows);
        (0, (then - rows) / cost.max(f64::MIN_POSITIVE))
    }
}

/// How many rows an outer join shows of so many, if an inner one would show so many.
pub fn shown_by(shows: Shows, rows: f64, joined: f64) -> f64 {
    match shows {
        Shows::All => joined.max(rows),
        Shows::Unmatched => rows * OTHERS,
        Shows::Matched => joined.min(rows * OTHERS),
    }
}

/// Which of these goes next, if there are so many rows; none yet, if there is nothing.
pub fn next_of<'s>(steps: impl Iterator<Item = &'s Step>, rows: Option<f64>) -> usize {
    match rows {
        None => cheapest(steps.map(|step| step.cost)),
        Some(rows) => {
            let ranks = steps.map(|step| step.rank(rows)).enumerate();
            let least = ranks.min_by(|(_, one), (_, other)| one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)));
            least.map_or(0, |(at, _)| at)
        }
    }
}

/// The place of the least of some costs.
pub fn cheapest(costs: impl Iterator<Item = f64>) -> usize {
    let least = |best: (usize, f64), (at, cost)| if cost < best.1 { (at, cost) } else { best };
    costs.enumerate().fold((0, f64::INFINITY), least).0
}

/// What is asked of a source, and of it and of what is there, once it is there.
struct Asked<'c> {
    /// With the numbers that the source has them by.
    all: Vec<(usize, &'c Condition)>,
    /// What it is equal to because others are: asked by the equality with those.
    of_first: Vec<&'c Expr>,
}

impl<'c> Asked<'c> {
    fn new(number: usize, source: &Source, conditions: &'c [Condition], there: &HashSet<usize>) -> Self {
        let mut with_it = there.clone();
        with_it.insert(number);
        // All of these it will have, with these numbers; what is about the sources before it says nothing of its rows.
        let will_have = asked(conditions, &with_it, there).into_iter().map(|at| &conditions[at]);
        let will_have = (source.conditions.len()..).zip(will_have);
        let is_about_it = |condition: &Condition| there.is_empty() || !condition.sources.is_subset(there);
        let is_of_it =
            |condition: &&Condition| condition.reason == Reason::First && condition.sources.contains(&number);
        Self {
            all: will_have.filter(|(_, condition)| is_about_it(condition)).collect(),
            of_first: conditions.iter().filter(is_of_it).map(|condition| &condition.expr).collect(),
        }
    }

    /// Those that count where it is reckoned what part of the rows is left. (What a query says that runs for each row costs more than it
    /// leaves out.)
    fn counted(&self, is_of_one: bool) -> impl Iterator<Item = (usize, &'c Expr)> + Clone {
        let counts = move |at: usize, condition: &Condition| {
            // (What is equal to one of several that are equal is equal to the others.)
            let is_told = || self.all[..at].iter().any(|(_, before)| before.class == condition.class);
            condition.is_of_one() == is_of_one
                && !condition.expr.has_correlated_subquery()
                && (condition.class.is_none() || !is_told())
        };
        let all = self.all.iter().enumerate().filter(move |(at, (_, condition))| counts(*at, condition));
        all.map(|(_, (number, condition))| (*number, &condition.expr))
    }

    fn queries(&self) -> usize {
        self.all.iter().filter(|(_, condition)| condition.expr.has_correlated_subquery()).count()
    }

    /// Those that are about it and something that is there.
    fn joining(&self) -> impl Iterator<Item = &'c Expr> {
        self.all.iter().filter(|(_, condition)| !condition.is_of_one()).map(|(_, condition)| &condition.expr)
    }
}

impl JoinPlanner<'_> {
    /// What it takes to join an input to each row of what is there.
    pub(super) fn step(&mut self, input: &Input, conditions: &[Condition], there: &HashSet<usize>) -> Step {
        match input {
            Input::Source(number) => self.step_to(*number, conditions, there),
            Input::Outer(outer) => {
                let step = match outer.right {
                    Tree::Source(number) => self.step_to(number, &outer.on, there),
                    Tree::Inner { .. } | Tree::Left { .. } => Step::of(1.0),
                };
                Step { shows: Some(outer.shows), is_joined: true, ..step }
            }
        }
    }

    /// What it takes to find the rows of a source for each row of what is there.
    pub(super) fn step_to(&mut self, number: usize, conditions: &[Condition], there: &HashSet<usize>) -> Step {
        let source = &self.sources[number];
        let asked = Asked::new(number, source, conditions, there);
        let is_joined = there.is_empty() || asked.joining().next().is_some();
        match &source.kind {
            SourceKind::Table(_) => Step { is_joined, ..self.step_to_table(number, &asked) },
            SourceKind::Derived { is_lateral: true, .. } => Step::of(LAST),
            SourceKind::Working(_) => Step { is_joined, ..Step::of(WORKING) },
            SourceKind::Derived { plan, .. } => {
                let has_key = asked.joining().any(|condition| hash::is_key(condition, source));
                let share = share_beside(ConditionSet::default(), asked.counted(true));
                let meets = share_beside(ConditionSet::default(), asked.counted(false));
                let queries = asked.queries();
                Step { share, meets, each: BESIDE, queries, has_key, is_joined, ..Step::of(shown_rows(plan)) }
            }
            SourceKind::Virtual(_) => Step { is_joined, ..Step::of(UNKNOWN) },
        }
    }

    fn step_to_table(&mut self, number: usize, asked: &Asked<'_>) -> Step {
        let source = &self.sources[number];
        let SourceKind::Table(table) = &source.kind else { return Step::of(LAST) };
        let (mut numbers, mut usable) =
            before_row(&source.slots(), asked.all.iter().map(|(number, condition)| (*number, &condition.expr)));
        let statistics = self.tables.statistics(&table.table);
        let mut estimator = Estimator::new(&statistics, self.tables.sizes(), self.choice, source.first_slot);
        let (mut access, mut costs) = access::choose(table, source.first_slot, &usable, &mut estimator);
        // What it is equal to is looked up by the rows before, and known now.
        if access.is_by_row() && !asked.of_first.is_empty() {
            let known: Vec<&Expr> = asked.of_first.iter().chain(&usable).copied().collect();
            let (same, counted) = access::choose(table, source.first_slot, &known, &mut estimator);
            if (same.index, same.equal.len()) == (access.index, access.equal.len()) {
                costs = counted;
            }
        }
        // (Rows that are to be changed are not kept in memory: [`hash::plan`].)
        let is_kept = table.locking.is_none_or(|plan| !plan.exclusive);
        let has_key = is_kept && asked.joining().any(|condition| hash::is_key(condition, source));
        // A third of the table for each of the rows before is more than those that have the same key, in memory.
        if has_key && access.is_open_by_row() {
            let own = asked.all.iter().filter(|(_, condition)| condition.is_of_one());
            (numbers, usable) = before_row(&source.slots(), own.map(|(number, condition)| (*number, &condition.expr)));
            (access, costs) = access::choose(table, source.first_slot, &usable, &mut estimator);
        }
        renumber(&mut access, &numbers);
        let Cost { rows: mut cost, mut found, .. } = costs;
        let met = |estimator: &mut Estimator<'_>| {
            *self.met.entry(number).or_insert_with(|| {
                let own: Vec<&Expr> = asked.counted(true).map(|(_, condition)| condition).collect();
                access::met(table, source.first_slot, &own, estimator)
            })
        };
        let share = share_of_own(table, &access, asked, &mut estimator, met);
        // How many entries lie behind those that are skipped no index tells.
        if access.skips > 0 {
            let all = estimator.share_beside(table, &Access::all(), asked.counted(true));
            let told = statistics.planned_rows() * all / share;
            (cost, found) = (cost - found + told, told);
        }
        let said = said_by(&access, table, source.first_slot, asked.counted(false));
        let meets = share_beside(said, asked.counted(false));
        let each = if access::is_direct(table, access.index) { BESIDE } else { 1.0 };
        let queries = asked.queries();
        let access = Some(access);
        Step { cost, found, access, share, meets, each, queries, has_key, is_joined: true, shows: None }
    }
}

/// Which part of the rows that an access finds meets the conditions on its table alone; `met` tells what part of all its rows does.
fn share_of_own(
    table: &TableSource,
    access: &Access,
    asked: &Asked<'_>,
    estimator: &mut Estimator<'_>,
    met: impl FnOnce(&mut Estimator<'_>) -> f64,
) -> f64 {
    let says_own = asked.counted(true).any(|(number, _)| access.implied.has(number));
    match (access.is_by_row(), says_own) {
        // What an index says of how many rows meet the conditions is better than a guess.
        (true, false) => met(estimator),
        // The row with this key: it may be there for few of the rows before.
        (true, true) if access.is_point => {
            let by_row = access.equal.iter().take_while(|lookup| lookup.is_by_row()).count();
            (estimator.statistics.rows_per_key(access.index, by_row) * met(estimator)).min(1.0)
        }
        _ => estimator.share_beside(table, access, asked.counted(true)),
    }
}
