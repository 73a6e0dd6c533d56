//! What an access costs: about how many rows it reads.
//!
//! ```text
//!   a = ?                    rows by different values, as the index was sampled
//!   a > ?   a BETWEEN ..     as many as the range has now (`sizes`), or a share where its values come row by row
//! ```
//!
//! # Invariants
//! 1. How many rows a range has is asked for only where something else could be done: another index, the whole table, another table
//!    first.

use super::access::is_direct;
use super::sample;
use super::sizes::{FEW, RangeName, Sizes, TableName, is_known};
use super::tables::Tables;
use crate::expression::{ComparisonOperator, Expr};
use crate::query::plan::{Access, Body, ConditionSet, LimitPlan, Lookup, QueryPlan, Source, SourceKind, TableSource};
use crate::schema::TableStatistics;

/// So many rows has what nothing is known of.
pub const UNKNOWN: f64 = 1000.0;

/// So many values a query is planned for that tells what a column is equal to.
const VALUES: f64 = 10.0;

/// An entry whose row is fetched from elsewhere costs as much as so many rows that are read.
pub const FETCHED: f64 = 1.5;

/// A row that is read beside its neighbours costs this share of one that is fetched (measured: 60 ns and 450).
pub const BESIDE: f64 = 0.2;

/// To go through a leaf of wide rows costs as much as to fetch so many (measured: each of 16, 8, and 4 in a leaf .30, .46, and .53).
const LEAF: f64 = 4.0;

/// To find the next value of columns that are skipped, and what is asked for behind it, costs as much as so many rows (measured: 1.5 µs and
/// 30 ns).
const SKIP: f64 = 50.0;

/// Of how many values a column must have that are looked for one by one, for all to be taken as equally frequent.
const MANY_VALUES: f64 = 50.0;

/// This share of all rows lies between two values of which nothing is known,
pub const BETWEEN: f64 = 0.1111;
/// and this one satisfies a condition of another kind.
pub const OTHERS: f64 = 0.3333;

/// This part of all rows has a value in a column of which nothing is known.
const EQUAL: f64 = 0.1;

/// How many of the rows for which nothing is known satisfy a condition.
pub fn share_of(condition: &Expr) -> f64 {
    match condition.as_comparisons().next().map(|comparison| comparison.operator) {
        Some(ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual) => return EQUAL,
        Some(ComparisonOperator::NotEqual) => return 1.0 - EQUAL,
        _ => {}
    }
    if condition.as_is_null().is_some() {
        return EQUAL;
    }
    if condition.as_between().is_some() || condition.as_like().is_some() {
        return BETWEEN;
    }
    if let Some(list) = condition.as_in() {
        return (list.list.len() as f64 * EQUAL).min(0.5);
    }
    match (condition.as_or(), condition.as_conjuncts()) {
        (Some(operands), _) => 1.0 - operands.iter().map(|operand| 1.0 - share_of(operand)).product::<f64>(),
        (None, [_]) => OTHERS,
        (None, operands) => operands.iter().map(share_of).product(),
    }
}

/// The share of rows for which the conditions hold, about: those that are not said already.
pub fn share_beside<'e>(said: ConditionSet, conditions: impl Iterator<Item = (usize, &'e Expr)>) -> f64 {
    conditions.filter(|(number, _)| !said.has(*number)).map(|(_, condition)| share_of(condition)).product()
}

/// Of the conditions on a table those that hold for nearly all rows that an access finds: they are implied, or the beginnings of their
/// texts are looked for.
pub fn said_by<'e>(
    access: &Access,
    table: &TableSource,
    first_slot: usize,
    conditions: impl Iterator<Item = (usize, &'e Expr)>,
) -> ConditionSet {
    let definition = &table.table.engine().definition;
    let mut said = access.implied;
    conditions
        .filter(|(_, condition)| access.looks_for(condition, definition, first_slot))
        .for_each(|(number, _)| said.insert(number));
    said
}

/// About how many rows a query reads.
pub fn rows_read(plan: &QueryPlan, tables: &mut dyn Tables) -> f64 {
    let select = match &plan.body {
        Body::Select(select) => select,
        Body::Values(rows) => return rows.len() as f64,
        Body::SetOperation(set) => return set.sides.iter().map(|side| rows_read(side, tables)).sum(),
        Body::Nested(plan) => return rows_read(plan, tables),
        Body::Recursive(_) => return UNKNOWN,
    };
    let read = |source: &Source| {
        let SourceKind::Table(table) = &source.kind else { return UNKNOWN };
        let statistics = tables.statistics(&table.table);
        let mut sizes = Sizes::default();
        let choice = Choice { block: 0, is_contested: false, wants_all: true };
        Estimator::new(&statistics, &mut sizes, choice, source.first_slot).cost(table, &table.access).rows
    };
    select.sources.iter().map(read).product()
}

/// What an access costs.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// In rows that are read, one that is fetched behind its entry counted more.
    pub rows: f64,
    /// How many rows are found.
    pub found: f64,
    /// It is of the values at hand, and each row is fetched.
    is_scattered: bool,
}

impl Cost {
    /// That of so many rows, read one beside the other.
    pub fn of_rows(rows: f64) -> Self {
        Self { rows, found: rows, is_scattered: false }
    }

    /// Whether so much is better spent on reading `all` rows one beside the other, each of which costs this share of one that is fetched.
    pub fn is_worse_than_all(&self, all: f64, beside: f64) -> bool {
        self.is_scattered && self.rows > all * beside
    }
}

/// What there is to choose in a FROM.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Its number in the statement.
    pub block: u32,
    /// There is something else to choose from than an index and the whole table.
    pub is_contested: bool,
    /// All rows are read, not the first of them only.
    pub wants_all: bool,
}

/// Estimates the accesses of one table.
pub struct Estimator<'e> {
    /// What the table looks like.
    pub statistics: &'e TableStatistics,
    /// What there is to choose.
    pub choice: Choice,
    /// Which operand of an OR it is for, as [`RangeName`] has it.
    pub operand: usize,
    sizes: &'e mut Sizes,
    first_slot: usize,
}

impl<'e> Estimator<'e> {
    /// That of the table whose first slot this is.
    pub fn new(statistics: &'e TableStatistics, sizes: &'e mut Sizes, choice: Choice, first_slot: usize) -> Self {
        Self { statistics, choice, operand: 0, sizes, first_slot }
    }

    /// What it costs to read a row beside its neighbours, however wide it is: the share of what one costs that is fetched.
    pub fn beside(&self) -> f64 {
        self.statistics.rows_per_leaf().map_or(BESIDE, |rows| BESIDE.max(LEAF / rows))
    }

    fn table_name(&self) -> TableName {
        TableName { block: self.choice.block, first_slot: self.first_slot }
    }

    /// The share of the rows that an access finds for which the conditions on its table hold, about: those that it does not imply.
    /// (All conditions on this table alone, in the same order each time.)
    pub fn share_beside<'c>(
        &mut self,
        source: &TableSource,
        access: &Access,
        conditions: impl Iterator<Item = (usize, &'c Expr)> + Clone,
    ) -> f64 {
        let said = said_by(access, source, self.first_slot, conditions.clone());
        let is_asked = self.choice.is_contested
            && self.statistics.planned_rows() >= sample::FEWEST
            && conditions.clone().any(|(number, _)| !said.has(number));
        let all = conditions.clone().map(|(_, condition)| condition);
        let sample = if is_asked { self.sizes.sample(self.table_name(), &source.table, all) } else { None };
        match sample {
            Some(sample) => sample.share_beside(said, conditions, self.first_slot, &source.table),
            None => share_beside(said, conditions),
        }
    }

    /// Roughly what an access costs, if all of its rows are wanted.
    pub fn cost(&mut self, source: &TableSource, access: &Access) -> Cost {
        if !access.union.is_empty() {
            let operand = self.operand;
            let mut rows = 0.0;
            for (number, one) in access.union.iter().enumerate() {
                self.operand = number + 1;
                rows += self.cost(source, &one.access).rows;
            }
            self.operand = operand;
            return Cost::of_rows(rows);
        }
        if access.skips > 0 {
            if !self.statistics.is_sampled(access.index) {
                return Cost { rows: f64::INFINITY, found: self.statistics.planned_rows(), is_scattered: false };
            }
            let found = self.guess(source, access);
            let groups =
                self.statistics.planned_rows() / self.statistics.rows_per_key(access.index, access.skips).max(1.0);
            return Cost { rows: found + groups * SKIP, found, is_scattered: false };
        }
        let is_direct = is_direct(source, access.index);
        let may_read_all = !is_direct && self.choice.wants_all && source.locking.is_none();
        let guess = self.guess(source, access);
        let is_asked = (self.choice.is_contested || may_read_all) && self.is_of_values(access, guess);
        let (found, is_known) = match is_asked {
            true => {
                let (table, operand) = (self.table_name(), self.operand);
                let name = RangeName { table, operand, index: access.index, equal: access.equal.len() };
                self.sizes.rows(name, source, access, guess)
            }
            false => (guess, false),
        };
        // At one row an exact key is better than a stretch.
        let exactness = if access.is_point { 0.5 } else { 1.0 };
        let found = found.max(1.0);
        // To know the values that a query finds it has to run. That is not worth more than reading all rows; not locking them is.
        let run: f64 = access.lookups().filter_map(Lookup::query).map(|inside| inside.rows * BESIDE).sum();
        let run = if source.locking.is_some() { 0.0 } else { run.min(self.statistics.planned_rows()) };
        let rows = found * exactness * if is_direct { 1.0 } else { FETCHED } + run;
        Cost { rows, found, is_scattered: is_known && may_read_all }
    }

    /// Roughly what it costs to read an index in its order until there are enough rows for a LIMIT, if so many of the table's are shown
    /// and they lie anywhere.
    pub fn cost_of_first(&mut self, source: &TableSource, index: usize, shown: f64, limit: &LimitPlan) -> f64 {
        let wanted = self.sizes.wanted(self.choice.block, limit);
        let each = if is_direct(source, index) { 1.0 } else { FETCHED };
        wanted * self.statistics.planned_rows() / shown.max(1.0) * each
    }

    /// Whether it depends on the values that are looked for how many rows there are: they are known, and are ends of a range, or one of
    /// a few, or one of many of which some have far more rows than others.
    fn is_of_values(&self, access: &Access, guess: f64) -> bool {
        let all = self.statistics.planned_rows();
        let equal = access.equal.len();
        let is_range = access.low.is_some()
            || access.high.is_some()
            || access.any_of.iter().any(|stretch| stretch.low.is_some() || stretch.high.is_some());
        let is_even = |parts: usize| self.statistics.is_even(access.index, parts);
        let are_even = match &access.any_of[..] {
            [] => is_even(equal),
            any_of => any_of.iter().all(|stretch| is_even(equal + stretch.equal.len())),
        };
        all > FEW
            && !access.is_point
            && !access.is_whole()
            && (is_range || guess > all / MANY_VALUES || !are_even)
            && is_known(access)
            && !access.lookups().any(Lookup::runs_query)
    }

    /// The rows that are found, whatever the values.
    fn guess(&self, source: &TableSource, access: &Access) -> f64 {
        let definition = &source.table.engine().definition.indexes[access.index];
        let rows = |equal: usize, has_low: bool, has_high: bool| {
            let is_one = definition.unique && equal == definition.parts.len();
            let found = if is_one { 1.0 } else { self.statistics.rows_per_key(access.index, equal) };
            found.max(1.0)
                * match (has_low, has_high) {
                    (true, true) => 0.05,
                    (false, false) => 1.0,
                    _ => 0.3,
                }
        };
        let equal = access.equal.len();
        if access.any_of.is_empty() {
            return rows(equal, access.low.is_some(), access.high.is_some());
        }
        let each = access.any_of.iter().map(|stretch| {
            let one = rows(equal + stretch.equal.len(), stretch.low.is_some(), stretch.high.is_some()).max(1.0);
            if matches!(stretch.equal.first(), Some(Lookup::EachOf(_))) { one * VALUES } else { one }
        });
        each.sum::<f64>().min(rows(equal, false, false))
    }
}
