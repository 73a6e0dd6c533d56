//! How the sources of a SELECT are joined.

use super::ConditionSet;
use super::join_tree::Shows;
use crate::expression::{Comparer, Expr};

/// How sources are joined.
#[derive(Debug)]
pub enum Join {
    /// One source.
    Source(usize),
    /// One behind the other, each for every row of those before.
    Inner(Vec<Join>),
    /// For every row of the left, those of the right that match; or one of NULLs.
    Left {
        /// The left.
        left: Box<Join>,
        /// The right.
        right: Box<Join>,
        /// What must hold of the row of the left before anything can match it.
        when: Vec<Expr>,
        /// What matches: what could not be made an access or a condition of the right side's sources.
        on: Vec<Expr>,
        /// Slots of the right side: they are NULL if nothing matches.
        slots: Vec<std::ops::Range<usize>>,
        /// Which rows are wanted.
        shows: Shows,
    },
    /// What must hold of the rows of a join, because it could not be asked earlier.
    Filter {
        /// The join.
        input: Box<Join>,
        /// What must hold.
        conditions: Vec<Expr>,
    },
    /// The first row of a join, for each row of what is before it.
    First(Box<Join>),
}

impl Join {
    /// As [`super::SelectPlan::compute_constants_once`].
    pub fn compute_constants_once(&mut self, next: &mut u32) {
        match self {
            Join::Source(_) => {}
            Join::Inner(joins) => joins.iter_mut().for_each(|join| join.compute_constants_once(next)),
            Join::Left { left, right, when, on, .. } => {
                left.compute_constants_once(next);
                right.compute_constants_once(next);
                when.iter_mut().chain(on).for_each(|condition| condition.compute_constants_once(next));
            }
            Join::Filter { input, conditions } => {
                input.compute_constants_once(next);
                conditions.iter_mut().for_each(|condition| condition.compute_constants_once(next));
            }
            Join::First(input) => input.compute_constants_once(next),
        }
    }

    /// The source that it begins with, if it has one.
    pub fn first(&self) -> Option<usize> {
        match self {
            Join::Source(number) => Some(*number),
            Join::Inner(joins) => joins.first().and_then(Join::first),
            Join::Left { left, .. } => left.first(),
            Join::Filter { input, .. } | Join::First(input) => input.first(),
        }
    }

    /// The numbers of its sources, in the order in which they are read.
    pub fn numbers(&self) -> Vec<usize> {
        match self {
            Join::Source(number) => vec![*number],
            Join::Inner(joins) => joins.iter().flat_map(Join::numbers).collect(),
            Join::Left { left, right, .. } => [left, right].into_iter().flat_map(|join| join.numbers()).collect(),
            Join::Filter { input, .. } | Join::First(input) => input.numbers(),
        }
    }

    /// Calls with each condition of it that is not a source's.
    pub fn expressions<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        match self {
            Join::Source(_) => {}
            Join::Inner(joins) => joins.iter().for_each(|join| join.expressions(f)),
            Join::Left { left, right, when, on, .. } => {
                left.expressions(f);
                right.expressions(f);
                when.iter().chain(on).for_each(f);
            }
            Join::Filter { input, conditions } => {
                input.expressions(f);
                conditions.iter().for_each(f);
            }
            Join::First(input) => input.expressions(f),
        }
    }
}

/// How a source's rows are kept.
#[derive(Debug, Default)]
pub struct HashPlan {
    /// What they are found by; at least one.
    pub keys: Vec<HashKey>,
    /// All that must hold of a row. (The source itself asks what names nothing but it, before a row is kept.)
    pub conditions: Vec<Expr>,
    /// Those of them that hold of a row that is found by its key: they are keys, or have been asked before it was kept.
    pub implied: ConditionSet,
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
