//! How sources are joined in the text of a FROM, before it is planned in which order they are read.
//!
//! ```text
//!   a JOIN b ON p LEFT JOIN (c JOIN d ON q) ON r        Left { Inner { a, b; p }, Inner { c, d; q }; r }
//! ```

use std::collections::HashSet;

use super::Source;
use crate::expression::Expr;

/// So many tables may be joined.
pub const TABLES: usize = 61;

/// How sources were joined in the text.
#[derive(Clone, Debug)]
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
        /// Which rows are wanted.
        shows: Shows,
    },
}

/// Which rows an outer join shows, and its likes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shows {
    /// Each row of the left with each of the right that matches it, or with NULLs.
    All,
    /// Rows of the left that nothing matches: an anti join.
    Unmatched,
    /// Rows of the left that something matches, once: a semi join.
    Matched,
}

impl Tree {
    /// The numbers of its sources.
    pub fn numbers(&self) -> HashSet<usize> {
        match self {
            Tree::Source(number) => HashSet::from([*number]),
            Tree::Inner { inputs, .. } => inputs.iter().flat_map(Tree::numbers).collect(),
            Tree::Left { left, right, .. } => left.numbers().into_iter().chain(right.numbers()).collect(),
        }
    }

    /// The number of the source that is first in the text, of inner joins.
    pub fn first(&self) -> usize {
        match self {
            Tree::Source(number) => *number,
            Tree::Inner { inputs, .. } => inputs[0].first(),
            Tree::Left { left, .. } => left.first(),
        }
    }

    /// The slots of its sources, which are some of these.
    pub fn slots(&self, sources: &[Source]) -> HashSet<u32> {
        self.numbers().into_iter().flat_map(|number| sources[number].slots()).collect()
    }

    /// Calls with each condition of ON.
    pub fn conditions<'t>(&'t self, f: &mut dyn FnMut(&'t Expr)) {
        match self {
            Tree::Source(_) => {}
            Tree::Inner { inputs, conditions, .. } => {
                inputs.iter().for_each(|input| input.conditions(f));
                conditions.iter().for_each(f);
            }
            Tree::Left { left, right, on, .. } => {
                left.conditions(f);
                right.conditions(f);
                on.iter().for_each(f);
            }
        }
    }

    /// The same, to change them.
    pub fn conditions_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match self {
            Tree::Source(_) => {}
            Tree::Inner { inputs, conditions, .. } => {
                inputs.iter_mut().for_each(|input| input.conditions_mut(f));
                conditions.iter_mut().for_each(f);
            }
            Tree::Left { left, right, on, .. } => {
                left.conditions_mut(f);
                right.conditions_mut(f);
                on.iter_mut().for_each(f);
            }
        }
    }

    /// Puts something else in the place of each source.
    pub fn renumber(&mut self, f: &mut dyn FnMut(usize) -> Tree) {
        match self {
            Tree::Source(number) => *self = f(*number),
            Tree::Inner { inputs, .. } => inputs.iter_mut().for_each(|input| input.renumber(f)),
            Tree::Left { left, right, .. } => {
                left.renumber(f);
                right.renumber(f);
            }
        }
    }
}
