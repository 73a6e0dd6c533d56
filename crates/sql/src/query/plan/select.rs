//! A SELECT: its sources, how they are joined, and what becomes of the rows.

use std::collections::HashSet;

use meseta_types::DataType;

use super::{Access, HashPlan, Join, Source, SourceKind, SourceName};
use crate::expression::aggregate::AggregateCall;
use crate::expression::{Expr, SortKey};

/// SELECT.
#[derive(Debug)]
pub struct SelectPlan {
    /// Its tables.
    pub sources: Vec<Source>,
    /// How the rows of each are kept in memory, if they are.
    pub hashes: Vec<Option<HashPlan>>,
    /// What each is called: for EXPLAIN.
    pub names: Vec<SourceName>,
    /// Whether the source that is read first is read in the order of ORDER BY, or of groups.
    pub is_ordered: bool,
    /// How they are joined; `None` without FROM.
    pub join: Option<Join>,
    /// Conditions that name no source.
    pub constant: Vec<Expr>,
    /// Slots of a row.
    pub width: usize,
    /// About how many rows it shows.
    pub shown_rows: f64,
    /// GROUP BY and aggregates.
    pub group: Option<GroupPlan>,
    /// HAVING.
    pub having: Vec<Expr>,
    /// What is shown of a row.
    pub items: Vec<Expr>,
    /// Whether equal rows are shown once.
    pub distinct: bool,
    /// Whether they are, and equal rows are neighbours once they are in order.
    pub is_ordered_by_items: bool,
    /// ORDER BY, over a row's slots; empty if the join yields rows in this order.
    pub order: Vec<SortKey>,
    /// Whether items are computed once rows are in order: they count rows in variables, or are made of something and few are wanted.
    pub late_items: bool,
    /// If the first rows are wanted, and their order is one of the first table's.
    pub early_sort: Option<EarlySort>,
}

impl SelectPlan {
    /// One of nothing.
    pub fn nothing() -> Self {
        Self {
            sources: Vec::new(),
            hashes: Vec::new(),
            names: Vec::new(),
            is_ordered: false,
            join: None,
            constant: Vec::new(),
            width: 0,
            shown_rows: 1.0,
            group: None,
            having: Vec::new(),
            items: Vec::new(),
            distinct: false,
            order: Vec::new(),
            is_ordered_by_items: false,
            late_items: false,
            early_sort: None,
        }
    }

    /// Has what is the same for all rows computed once, in what is asked and shown of each row. `next` is a number that the statement
    /// has not used for this.
    pub fn compute_constants_once(&mut self, next: &mut u32) {
        self.sources.iter_mut().for_each(|source| source.compute_constants_once(next));
        self.join.iter_mut().for_each(|join| join.compute_constants_once(next));
        let kept = self.hashes.iter_mut().flatten().flat_map(|hash| &mut hash.conditions);
        let of_groups = self.group.iter_mut().flat_map(GroupPlan::expressions_mut);
        let keys = self.order.iter_mut().map(|key| &mut key.value);
        let shown = self.items.iter_mut().chain(&mut self.having).chain(keys);
        kept.chain(of_groups).chain(shown).for_each(|expression| expression.compute_constants_once(next));
    }

    /// Calls with each expression of it, those of derived tables too.
    pub fn expressions<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        for source in &self.sources {
            source.conditions.iter().for_each(&mut *f);
            if let SourceKind::Derived { plan, .. } = &source.kind {
                plan.expressions(f);
            }
        }
        self.hashes.iter().flatten().flat_map(|hash| &hash.conditions).for_each(&mut *f);
        self.join.iter().for_each(|join| join.expressions(f));
        self.constant.iter().chain(&self.having).chain(&self.items).for_each(&mut *f);
        self.order.iter().for_each(|key| f(&key.value));
        self.group.iter().flat_map(GroupPlan::expressions).for_each(f);
    }
}

/// Whether rows that show the same are neighbours once they are in order: they show columns, and are ordered by those columns
/// and by nothing else.
pub fn is_ordered_by_items(order: &[SortKey], items: &[Expr]) -> bool {
    let slots = |exprs: &mut dyn Iterator<Item = &Expr>| -> Option<HashSet<u32>> {
        // (Of documents some are equal that are not the same in order.)
        exprs.map(|expr| expr.as_column().filter(|_| expr.data_type != DataType::Json)).collect()
    };
    let shown = slots(&mut items.iter());
    shown.is_some() && shown == slots(&mut order.iter().map(|key| &key.value))
}

/// GROUP BY.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// By what; empty for one group of all rows.
    pub keys: Vec<Expr>,
    /// What is computed of each group. The value of the i-th is in slot `first_slot + i`.
    pub aggregates: Vec<AggregateCall>,
    /// The slot of the first aggregate.
    pub first_slot: usize,
    /// WITH ROLLUP.
    pub rollup: Option<RollupPlan>,
    /// If each aggregate is MIN or MAX of a column that an index has in order: how the rows are found of which the first that has a value
    /// tells it, for each of them. The table's own access is the first of these.
    pub ends: Vec<Access>,
    /// Whether rows come with equal keys one behind the other.
    pub is_sorted: bool,
}

impl GroupPlan {
    /// All that is computed of each row.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.keys.iter().chain(self.aggregates.iter().flat_map(AggregateCall::expressions))
    }

    /// The same, to change it.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.keys.iter_mut().chain(self.aggregates.iter_mut().flat_map(AggregateCall::expressions_mut))
    }
}

/// WITH ROLLUP: the groups of the first keys alone, too. Expressions over groups see keys in slots of their own, NULL in the
/// rows of all their values.
#[derive(Clone, Debug)]
pub struct RollupPlan {
    /// The slot of the first key's value.
    pub first_key: usize,
    /// GROUPING(..): the numbers of the keys asked for, and the slot of the answer.
    pub groupings: Vec<(Vec<usize>, usize)>,
}

/// Where not each of its rows is shown, so many times those that are wanted are joined, and no fewer than [`ROWS_MIN`].
const ROWS: u64 = 4;
/// See [`ROWS`].
const ROWS_MIN: u64 = 256;

/// What is sorted early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EarlySort {
    /// The source that the join begins with.
    pub source: usize,
    /// Whether each of its rows is shown, once or more: what is joined to it leaves none out.
    pub shows_each: bool,
}

impl EarlySort {
    /// How many of the source's rows are joined first, if so many are wanted: `None` if none are, `Some(None)` if all are.
    pub fn rows(self, wanted: Option<u64>) -> Option<Option<u64>> {
        match (wanted, self.shows_each) {
            (_, true) => Some(wanted),
            (Some(wanted), false) => Some(Some(wanted.saturating_mul(ROWS).max(ROWS_MIN))),
            (None, false) => None,
        }
    }
}
