//! What is joined, in whatever order: sources, and the right sides of outer joins.
//!
//! ```text
//!   a LEFT JOIN b ON b.id = a.b JOIN c ON c.a = a.id        a        LEFT b, behind a        c
//! ```
//!
//! # Invariants
//! 1. An outer join is made once all is there that its ON names of its left side: before or behind whatever else is joined to that. To a row
//!    it adds what ON finds, whatever else the row has, and conditions on that are asked behind it.
//! 2. In the order of the text each input is ready when its turn comes.
//!
//! # Source
//! `(a LEFT JOIN b) JOIN c = (a JOIN c) LEFT JOIN b`: Galindo-Legaria and Rosenthal, "Outerjoin Simplification and Reordering for Query
//! Optimization", ACM TODS 22 (1997).

use std::collections::HashSet;

use super::condition::Condition;
use super::join::JoinPlanner;
use crate::query::plan::join_tree::{Shows, Tree};

/// What is joined to what is there.
pub enum Input {
    /// A source's rows.
    Source(usize),
    /// The right side of an outer join.
    Outer(Box<Outer>),
}

/// The right side of an outer join.
pub struct Outer {
    /// What is joined.
    pub right: Tree,
    /// What its rows meet.
    pub on: Vec<Condition>,
    /// Which rows are wanted.
    pub shows: Shows,
    /// What must be there before.
    needs: HashSet<usize>,
}

impl Input {
    /// Whether it is this source.
    pub fn is_source(&self, number: usize) -> bool {
        matches!(self, Input::Source(own) if *own == number)
    }

    /// The number of the source, if it is one.
    pub fn as_source(&self) -> Option<usize> {
        match self {
            Input::Source(number) => Some(*number),
            Input::Outer(_) => None,
        }
    }

    /// The numbers of all sources in it.
    pub fn sources(&self) -> HashSet<usize> {
        match self {
            Input::Source(number) => HashSet::from([*number]),
            Input::Outer(outer) => outer.right.numbers(),
        }
    }

    /// The number of a source in it, which is in no other input.
    pub fn number(&self) -> usize {
        match self {
            Input::Source(number) => *number,
            Input::Outer(outer) => outer.right.first(),
        }
    }

    /// The conditions that are asked of it alone.
    pub fn conditions(&self) -> &[Condition] {
        match self {
            Input::Source(_) => &[],
            Input::Outer(outer) => &outer.on,
        }
    }

    /// Whether it may be joined to these sources.
    pub fn is_ready(&self, there: &HashSet<usize>) -> bool {
        match self {
            Input::Source(_) => true,
            Input::Outer(outer) => outer.needs.is_subset(there),
        }
    }
}

impl JoinPlanner<'_> {
    /// The inputs of a tree's joins in the order of the text; of inner ones also the conditions, and whether the order is to be kept.
    pub(super) fn inputs_of(
        &self,
        tree: Tree,
        inputs: &mut Vec<Input>,
        conditions: &mut Vec<Condition>,
        keeps_order: &mut bool,
    ) {
        match tree {
            Tree::Source(number) => inputs.push(Input::Source(number)),
            Tree::Inner { inputs: inside, conditions: on, keeps_order: straight } => {
                *keeps_order |= straight;
                conditions.extend(on.into_iter().flat_map(|expr| self.with_deduced(expr)));
                inside.into_iter().for_each(|input| self.inputs_of(input, inputs, conditions, keeps_order));
            }
            Tree::Left { left, right, on, shows } => {
                let on: Vec<Condition> = on.into_iter().map(|expr| self.condition(expr)).collect();
                let needs = self.named_of(&left.numbers(), &right, &on);
                self.inputs_of(*left, inputs, conditions, keeps_order);
                inputs.push(Input::Outer(Box::new(Outer { right: *right, on, shows, needs })));
            }
        }
    }

    /// Those sources of an outer join's left side that its right side needs: all, if it names none.
    fn named_of(&self, left: &HashSet<usize>, right: &Tree, on: &[Condition]) -> HashSet<usize> {
        let mut named: HashSet<usize> = on.iter().flat_map(|condition| &condition.sources).copied().collect();
        right.conditions(&mut |condition| named.extend(self.sources_named(condition)));
        let needs: HashSet<usize> = named.intersection(left).copied().collect();
        let is_lateral = right.numbers().into_iter().any(|number| self.sources[number].is_lateral());
        if needs.is_empty() || is_lateral { left.clone() } else { needs }
    }
}
