//! With which source a join begins: all ways to go on from each are looked at before one is chosen.
//!
//! ```text
//!   a JOIN b JOIN c     from a: a 1,000 rows, then b, then c: 5,200        from c: c 2,500 rows, then b: 7, then a: 2,530
//! ```

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::condition::Condition;
use super::join::JoinPlanner;
use super::join_inputs::Input;
use super::order::InOrder;
use super::step::{Step, cheapest, next_of};
use crate::expression::Expr;
use crate::query::plan::Source;

/// Steps that have been looked at while beginnings are compared: a step depends on those of what is there that a condition names with
/// its source.
struct KnownSteps {
    /// For each source, those that conditions name with it, a bit each.
    beside: Vec<u64>,
    /// By the source, and those of the others that are there.
    steps: HashMap<(usize, u64), Rc<Step>>,
}

impl KnownSteps {
    fn new(inputs: &[Input], conditions: &[Condition], sources: usize) -> Self {
        let mut beside = vec![0; sources];
        for condition in inputs.iter().flat_map(Input::conditions).chain(conditions) {
            let all = bits(&condition.sources);
            condition.sources.iter().for_each(|&source| beside[source] |= all);
        }
        Self { beside, steps: HashMap::new() }
    }

    /// Where an input's step is kept.
    fn place(&self, input: &Input, there: &HashSet<usize>) -> (usize, u64) {
        let number = input.number();
        (number, self.beside[number] & bits(there))
    }
}

/// A bit for each of some sources, which are no more than 64.
fn bits(sources: &HashSet<usize>) -> u64 {
    sources.iter().fold(0, |bits, source| bits | 1 << source)
}

/// From each of so many tables a join is tried at the most.
const STARTS: usize = 10;

/// By so much less a join must cost to begin with another table than that which has the fewest rows.
const BETTER_START: f64 = 0.75;

/// By so much less the first rows of a join must cost to begin with the table whose order is wanted: they may come late.
const SOONER: f64 = 0.5;

impl JoinPlanner<'_> {
    /// The input from which all of them are joined at the least cost, the cheapest next at each step, if that is clearly less than
    /// from the one that costs least itself: a table that is small may have many rows of another for each of its own.
    pub(super) fn cheapest_start(
        &mut self,
        inputs: &[Input],
        conditions: &[Condition],
        there: &HashSet<usize>,
    ) -> Option<usize> {
        let starts: Vec<(usize, usize)> =
            (0..inputs.len()).filter_map(|at| Some((at, inputs[at].as_source()?))).collect();
        if !(2..=STARTS).contains(&starts.len())
            || self.sources.iter().any(Source::is_lateral)
            || self.sources.len() > u64::BITS as usize
        {
            return None;
        }
        let mut known = KnownSteps::new(inputs, conditions, self.sources.len());
        let (mut firsts, mut totals) = (Vec::with_capacity(starts.len()), Vec::with_capacity(starts.len()));
        for &(start, number) in &starts {
            let first = self.step_to(number, conditions, there);
            firsts.push(first.cost);
            let is_ordered = self.ordered == Some(number) && there.is_empty();
            let joined = if is_ordered { 1.0 } else { first.found * first.share };
            let (behind, _) = self.total_behind(start, joined, inputs, conditions, there.clone(), &mut known);
            totals.push(first.cost * first.each + first.cost_of_queries(joined) + behind);
        }
        let (least, smallest) = (cheapest(totals.iter().copied()), cheapest(firsts.into_iter()));
        if there.is_empty()
            && let Some((start, cost)) = self.in_order(inputs, conditions, &mut known)
            && cost < totals[least] * SOONER
        {
            self.first = self.wanted_order.as_ref().map(|wanted| wanted.source);
            return Some(start);
        }
        (totals[least] < totals[smallest] * BETTER_START).then_some(starts[least].0)
    }

    /// Which of some inputs an index has in the order in which the first rows are wanted, and what it costs to begin with it: as many of
    /// its rows are read as it takes to join all that are wanted, each to so many.
    fn in_order(&mut self, inputs: &[Input], conditions: &[Condition], known: &mut KnownSteps) -> Option<(usize, f64)> {
        let (number, limit) = (self.wanted_order.as_ref()?.source, self.limit?);
        let start = inputs.iter().position(|input| input.is_source(number))?;
        let own = |condition: &&Condition| {
            condition.sources == HashSet::from([number]) && !condition.expr.has_correlated_subquery()
        };
        let own: Vec<&Expr> = conditions.iter().filter(own).map(|condition| &condition.expr).collect();
        let InOrder { found, each, share } = self.cost_in_order(&own)?;
        let (_, shown) = self.total_behind(start, found * share, inputs, conditions, HashSet::new(), known);
        let shown = if self.groups_by_row { shown.min(found * share) } else { shown };
        let wanted = self.tables.sizes().wanted(self.choice.block, limit);
        let read = if shown > wanted { found * wanted / shown } else { found };
        let (behind, _) = self.total_behind(start, read * share, inputs, conditions, HashSet::new(), known);
        Some((start, read * each + behind))
    }

    /// What it costs to join all other inputs to so many rows of this one, as [`Step::joined_to`] has it, and how many rows there are
    /// then.
    fn total_behind(
        &mut self,
        start: usize,
        mut rows: f64,
        inputs: &[Input],
        conditions: &[Condition],
        mut there: HashSet<usize>,
        known: &mut KnownSteps,
    ) -> (f64, f64) {
        let mut left: Vec<&Input> = inputs.iter().collect();
        there.extend(left.remove(start).sources());
        let mut total = 0.0;
        while !left.is_empty() {
            let step = |at: usize| {
                let place = known.place(left[at], &there);
                let step = known.steps.entry(place).or_insert_with(|| Rc::new(self.step(left[at], conditions, &there)));
                (at, Rc::clone(step))
            };
            let ready = (0..left.len()).filter(|&at| left[at].is_ready(&there));
            let steps: Vec<(usize, Rc<Step>)> = ready.map(step).collect();
            let (at, step) = &steps[next_of(steps.iter().map(|(_, step)| &**step), Some(rows))];
            let is_looked_for_once = self.shown_once.is_some_and(|shown| shown.is_subset(&there));
            let (cost, then) = if is_looked_for_once { step.first_to(rows) } else { step.joined_to(rows) };
            (total, rows) = (total + cost, then);
            there.extend(left.remove(*at).sources());
        }
        (total, rows)
    }
}
