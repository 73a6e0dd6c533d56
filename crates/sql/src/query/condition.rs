//! The conditions of a join: what each names, and what follows from them.
//!
//! # Invariants
//! 1. Each is asked once, as soon as all that it names is there; what follows from others may be asked, or not.

use std::collections::HashSet;

use super::deduced::deduced;
use super::equal_columns;
use super::join::Planner;
use super::join_inputs::Input;
use crate::expression::Expr;

/// A condition, and the sources that it names.
pub struct Condition {
    /// The condition.
    pub expr: Expr,
    /// Their numbers.
    pub sources: HashSet<usize>,
    /// It is asked somewhere.
    pub is_placed: bool,
    /// It follows from equalities with other tables: it says something if a join begins with its own.
    pub is_of_first: bool,
}

impl Condition {
    /// Whether it is about one source alone.
    pub fn is_of_one(&self) -> bool {
        self.sources.len() == 1
    }

    /// Whether it is to be asked once these sources are there.
    pub fn is_asked(&self, there: &HashSet<usize>) -> bool {
        !self.is_placed && self.sources.is_subset(there) && (there.len() == 1 || !self.is_of_first)
    }
}

impl Planner<'_> {
    /// A condition, and what follows from it.
    pub(super) fn with_deduced(&self, expr: Expr) -> Vec<Condition> {
        let deduced = deduced(&expr, |slot| self.source_of(slot));
        deduced.into_iter().chain([expr]).map(|expr| self.condition(expr)).collect()
    }

    pub(super) fn condition(&self, expr: Expr) -> Condition {
        let sources = self.sources_named(&expr);
        Condition { expr, sources, is_placed: false, is_of_first: false }
    }

    /// The numbers of the sources that must be there before a condition is asked.
    pub(super) fn sources_named(&self, expr: &Expr) -> HashSet<usize> {
        let mut sources = HashSet::new();
        expr.columns_looked_at(&mut |slot| {
            sources.extend(self.source_of(slot));
        });
        if expr.is_of_each_row() {
            sources.extend(0..self.sources.len());
        }
        sources
    }

    /// What tables are equal to because others are: for those with which the join may begin.
    pub(super) fn add_what_follows(&self, inputs: &[Input], conditions: &mut Vec<Condition>) {
        let tables: HashSet<usize> = inputs.iter().filter_map(Input::as_source).collect();
        let known: Vec<&Expr> = conditions
            .iter()
            .filter(|condition| !condition.is_placed && condition.sources.is_subset(&tables))
            .map(|condition| &condition.expr)
            .collect();
        let follows = equal_columns::follows(&known).into_iter();
        let follows: Vec<Condition> =
            follows.map(|expr| Condition { is_of_first: true, ..self.condition(expr) }).collect();
        conditions.extend(follows);
    }
}

/// Takes the conditions of which everything is there.
pub fn place(conditions: &mut [Condition], there: &HashSet<usize>) -> Vec<Expr> {
    let mut placed = Vec::new();
    for condition in conditions.iter_mut() {
        if condition.is_asked(there) {
            condition.is_placed = true;
            placed.push(condition.expr.clone());
        }
    }
    placed
}
