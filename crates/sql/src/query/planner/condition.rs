//! The conditions of a join: what each names, and what follows from them.
//!
//! # Invariants
//! 1. Each is asked once, as soon as all that it names is there; what follows from others may be asked, or not.
//! 2. That two columns are equal because a third is equal to both is asked where nothing that was written joins the one to the other, or to
//!    what is there of their like: it finds rows, and leaves none out.

use std::collections::HashSet;

use super::deduced::deduced;
use super::equal_columns;
use super::join::JoinPlanner;
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
    /// Why it is there.
    pub reason: Reason,
    /// The number of the equal columns of which it says that two are, if there are more of them ([`equal_columns`]).
    pub class: Option<usize>,
}

/// Why a condition is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It was written, or follows for one of its tables.
    Given,
    /// It follows from equalities with other tables: it says something if a join begins with its own.
    First,
    /// It follows from two others that its columns are equal.
    Link,
}

impl Condition {
    /// Whether it is about one source alone.
    pub fn is_of_one(&self) -> bool {
        self.sources.len() == 1
    }

    /// Whether it may be asked once these sources are there.
    fn may_be_asked(&self, there: &HashSet<usize>) -> bool {
        let says_something = there.len() == 1 || self.reason != Reason::First;
        !self.is_placed && self.sources.is_subset(there) && says_something
    }
}

impl JoinPlanner<'_> {
    /// A condition, and what follows from it.
    pub(super) fn with_deduced(&self, expr: Expr) -> Vec<Condition> {
        let deduced = deduced(&expr, |slot| self.source_of(slot));
        deduced.into_iter().chain([expr]).map(|expr| self.condition(expr)).collect()
    }

    pub(super) fn condition(&self, expr: Expr) -> Condition {
        let sources = self.sources_named(&expr);
        Condition { expr, sources, is_placed: false, reason: Reason::Given, class: None }
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

    /// What tables are equal to because others are: values and their own columns for those with which the join may begin, and columns of
    /// each other.
    pub(super) fn add_what_follows(&self, inputs: &[Input], conditions: &mut Vec<Condition>) {
        let tables: HashSet<usize> = inputs.iter().filter_map(Input::as_source).collect();
        let is_known = |condition: &Condition| !condition.is_placed && condition.sources.is_subset(&tables);
        let known: Vec<usize> = (0..conditions.len()).filter(|&at| is_known(&conditions[at])).collect();
        let classes = equal_columns::Classes::new(known.iter().map(|&at| &conditions[at].expr).collect());
        let values = classes.values().map(|expr| self.following(expr, Reason::First, None));
        let mut follow: Vec<Condition> = values.collect();
        let within = classes.within_sources(|slot| self.source_of(slot)).into_iter();
        follow.extend(within.map(|expr| self.following(expr, Reason::First, None)));
        let linked = classes.of_more_than_two(|slot| self.source_of(slot));
        for (class, linked) in linked.into_iter().enumerate() {
            linked.given.into_iter().for_each(|at| conditions[known[at]].class = Some(class));
            follow.extend(linked.links.into_iter().map(|expr| self.following(expr, Reason::Link, Some(class))));
        }
        conditions.extend(follow);
    }

    fn following(&self, expr: Expr, reason: Reason, class: Option<usize>) -> Condition {
        Condition { reason, class, ..self.condition(expr) }
    }
}

/// Takes the conditions of which everything is there.
pub fn place(conditions: &mut [Condition], there: &HashSet<usize>) -> Vec<Expr> {
    let placed = asked(conditions, there, &HashSet::new());
    // (A link that is not asked now is between columns that are known to be equal.)
    let is_over = |condition: &Condition| condition.reason == Reason::Link && condition.sources.is_subset(there);
    conditions.iter_mut().filter(|condition| is_over(condition)).for_each(|condition| condition.is_placed = true);
    placed.iter().for_each(|&at| conditions[at].is_placed = true);
    placed.into_iter().map(|at| conditions[at].expr.clone()).collect()
}

/// The places of the conditions that are to be asked once these sources are there; all that is asked of those that were there `before` has
/// been asked.
pub fn asked(conditions: &[Condition], there: &HashSet<usize>, before: &HashSet<usize>) -> Vec<usize> {
    let is_new = |condition: &Condition| condition.may_be_asked(there) && !condition.sources.is_subset(before);
    // A link says nothing beside what was given of its class, or another link.
    let given = conditions.iter().filter(|condition| condition.class.is_some() && condition.reason == Reason::Given);
    let mut said: Vec<Option<usize>> = given.filter(|given| is_new(given)).map(|given| given.class).collect();
    let is_asked = |&at: &usize| {
        let Condition { reason, class, .. } = conditions[at];
        match reason {
            Reason::Given | Reason::First => conditions[at].may_be_asked(there),
            Reason::Link => {
                let says_more = !said.contains(&class) && is_new(&conditions[at]);
                said.extend(says_more.then_some(class));
                says_more
            }
        }
    };
    (0..conditions.len()).filter(is_asked).collect()
}
