//! A derived table that is read as a part of the query around it.
//!
//! ```text
//!   SELECT t.id, t.double FROM (SELECT id, 2 * n AS double FROM a WHERE n > 5) t WHERE t.id = 7 ORDER BY t.id LIMIT 3
//!   SELECT a.id, 2 * a.n  FROM a                                               WHERE n > 5 AND a.id = 7 ORDER BY a.id LIMIT 3
//!
//!   slots before    [ x: 0 1 2 ][ t: 3 4 ][ y: 5 6 ] aggregates: 7..
//!         after     [ x: 0 1 2 ][ a: 3 4 5 6 ][ y: 7 8 ] 9..        3 is a.id (3), 4 is 2 * a.n (2 * slot 4), 5 is 7, ...
//! ```
//! All has been bound by then: names meant the columns of the derived table. What is exchanged are slots, before the query around
//! it is planned. (The derived table has been planned by itself already, which is forgotten.)
//!
//! # Invariants
//! 1. Rows of the derived table are those of its tables that meet its conditions, one for one: no groups, DISTINCT, LIMIT, UNION.
//! 2. What it shows may be computed more than once, or not at all. Where an outer join may make it NULL, it shows columns alone.
//! 3. No query inside of an expression names rows that get other slots: those are not looked into.
//!
//! # Source
//! The manual, "Optimizing Derived Tables, View References, and Common Table Expressions with Merging or Materialization"; also for
//! what becomes of ORDER BY.

use std::collections::HashSet;

use meseta_types::DataType;

use super::join::Tree;
use super::plan::{GroupPlan, SortKey, Source, SourceName};
use super::scope::slot;
use crate::expression::{Expr, ExprKind};

/// A SELECT without groups before it is planned.
#[derive(Debug)]
pub struct Unplanned {
    sources: Vec<Source>,
    names: Vec<SourceName>,
    tree: Tree,
    conditions: Vec<Expr>,
    items: Vec<Expr>,
    order: Vec<SortKey>,
    width: usize,
    /// The number under which ranges of its tables are known once it is planned by itself.
    pub block: u32,
}

impl Unplanned {
    /// What could become a part of the query around it; `None` if it could not.
    pub fn new(
        sources: &[Source],
        names: Vec<SourceName>,
        tree: Option<&Tree>,
        conditions: &[Expr],
        items: &[Expr],
        order: &[SortKey],
    ) -> Option<Self> {
        let tree = tree?;
        let mut stays = true;
        tree.conditions(&mut |condition| stays = stays && !condition.has_correlated_subquery());
        stays &= !conditions.iter().any(Expr::has_correlated_subquery);
        stays &= items.iter().all(|item| item.is_repeatable());
        stays &= order.iter().all(|key| key.value.is_repeatable());
        if !stays {
            return None;
        }
        let sources = sources.iter().map(Source::unplanned_copy).collect::<Option<Vec<_>>>()?;
        let width = sources.iter().map(|source| source.first_slot + source.width).max().unwrap_or(0);
        let (tree, conditions, items, order) = (tree.clone(), conditions.to_vec(), items.to_vec(), order.to_vec());
        Some(Self { sources, names, tree, conditions, items, order, width, block: 0 })
    }

    /// Its sources, how they are joined, and its conditions; and what it shows.
    pub fn into_parts(self) -> (Vec<Source>, Tree, Vec<Expr>, Vec<Expr>, usize) {
        (self.sources, self.tree, self.conditions, self.items, self.width)
    }

    /// Of the query around it, the rows have their slots from `first_slot` on, and the sources their numbers from `first_source`.
    fn move_to(&mut self, first_slot: usize, first_source: usize) {
        self.sources.iter_mut().for_each(|source| source.first_slot += first_slot);
        self.tree.renumber(&mut |number| Tree::Source(number + first_source));
        let mut moved = |expr: &mut Expr| moved(expr, first_slot as u32);
        self.tree.conditions_mut(&mut moved);
        let keys = self.order.iter_mut().map(|key| &mut key.value);
        self.conditions.iter_mut().chain(&mut self.items).chain(keys).for_each(moved);
    }
}

/// An expression of a derived table, as one of the query around it: one query less is around.
fn moved(expr: &mut Expr, by: u32) {
    match &mut expr.kind {
        ExprKind::Column(column) => *column += by,
        ExprKind::Outer { level, .. } => *level -= 1,
        _ => {}
    }
    expr.operands_mut(&mut |operand| moved(operand, by));
}

/// A SELECT that has been bound, and is to be planned.
pub struct Bound<'b> {
    /// Its sources.
    pub sources: &'b mut Vec<Source>,
    /// What they are called.
    pub names: &'b mut Vec<SourceName>,
    /// Those of which an outer join may make all columns NULL.
    pub is_outer: Vec<bool>,
    /// How they are joined.
    pub tree: &'b mut Option<Tree>,
    /// WHERE.
    pub conditions: &'b mut Vec<Expr>,
    /// What is shown.
    pub items: &'b mut Vec<Expr>,
    /// GROUP BY and aggregates.
    pub group: &'b mut Option<GroupPlan>,
    /// HAVING.
    pub having: &'b mut Vec<Expr>,
    /// ORDER BY.
    pub order: &'b mut Vec<SortKey>,
    /// DISTINCT.
    pub distinct: bool,
    /// Slots that are named anywhere.
    pub used: &'b mut HashSet<u32>,
    /// Slots that something other than WHERE names.
    pub named_beside_where: &'b mut HashSet<u32>,
    /// Slots of a row, those of aggregates too.
    pub width: &'b mut usize,
}

/// Makes the derived tables that can be parts of a query parts of it. Returns under which numbers the ranges of their own plans
/// are known.
pub fn merge(bound: &mut Bound<'_>) -> Vec<u32> {
    let can = |(number, source): (usize, &Source)| {
        let is_outer = bound.is_outer.get(number).copied().unwrap_or(false);
        source
            .unplanned
            .as_ref()
            .is_some_and(|unplanned| !is_outer || unplanned.items.iter().all(|item| item.as_column().is_some()))
    };
    let merges: Vec<bool> = bound.sources.iter().enumerate().map(can).collect();
    if !merges.contains(&true) || bound.names_from_inside() {
        return Vec::new();
    }
    let is_alone = bound.sources.len() == 1;
    let mut blocks = Vec::new();
    // For each slot of before what it is now, and for each source.
    let (mut slots, mut numbers): (Vec<Expr>, Vec<Tree>) = (Vec::new(), Vec::new());
    let (mut sources, mut names, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut order, mut first_slot) = (Vec::new(), 0);
    for ((number, mut source), name) in
        std::mem::take(bound.sources).into_iter().enumerate().zip(std::mem::take(bound.names))
    {
        match source.unplanned.take().filter(|_| merges[number]) {
            None => {
                let width = source.width;
                slots.extend((0..width).map(|at| slot((first_slot + at) as u32, DataType::Null, true)));
                source.first_slot = first_slot;
                first_slot += width;
                numbers.push(Tree::Source(sources.len()));
                sources.push(source);
                names.push(name);
            }
            Some(mut unplanned) => {
                unplanned.move_to(first_slot, sources.len());
                first_slot += unplanned.width;
                slots.append(&mut unplanned.items);
                blocks.push(unplanned.block);
                if bound.is_outer.get(number).copied().unwrap_or(false) {
                    let conditions = unplanned.conditions;
                    numbers.push(Tree::Inner { inputs: vec![unplanned.tree], conditions, keeps_order: false });
                } else {
                    conditions.append(&mut unplanned.conditions);
                    numbers.push(unplanned.tree);
                }
                sources.append(&mut unplanned.sources);
                names.append(&mut unplanned.names);
                order = unplanned.order;
            }
        }
    }
    let shift = first_slot.wrapping_sub(slots.len());
    bound.exchange(&Exchange { slots, shift }, &mut numbers);
    let shifted = |slot: &mut usize| *slot = slot.wrapping_add(shift);
    shifted(bound.width);
    if let Some(group) = bound.group {
        shifted(&mut group.first_slot);
        if let Some(rollup) = &mut group.rollup {
            shifted(&mut rollup.first_key);
            rollup.groupings.iter_mut().for_each(|(_, slot)| shifted(slot));
        }
    }
    for condition in &conditions {
        name_columns(condition, bound.used);
    }
    bound.conditions.append(&mut conditions);
    if let Some(tree) = bound.tree {
        tree.conditions(&mut |condition| name_columns(condition, bound.used));
    }
    if is_alone && bound.group.is_none() && !bound.distinct && bound.order.is_empty() {
        for key in &order {
            name_columns(&key.value, bound.used);
            name_columns(&key.value, bound.named_beside_where);
        }
        *bound.order = order;
    }
    (*bound.sources, *bound.names) = (sources, names);
    blocks
}

/// Notes the columns that an expression names.
fn name_columns(expr: &Expr, named: &mut HashSet<u32>) {
    expr.columns(&mut |slot| named.extend([slot]));
}

impl Bound<'_> {
    /// Whether a query inside looks at the rows of this one: at slots that would be others.
    fn names_from_inside(&self) -> bool {
        let mut names = false;
        let mut look = |expr: &Expr| names = names || expr.has_correlated_subquery();
        self.conditions.iter().chain(&*self.items).chain(&*self.having).for_each(&mut look);
        self.order.iter().for_each(|key| look(&key.value));
        self.group.iter().flat_map(|group| group.expressions()).for_each(&mut look);
        if let Some(tree) = &self.tree {
            tree.conditions(&mut look);
        }
        names || self.sources.iter().any(Source::is_lateral)
    }

    /// Puts for each slot what it is now, and for each source in the tree what it has become.
    fn exchange(&mut self, exchange: &Exchange, numbers: &mut [Tree]) {
        let mut exchanged = |expr: &mut Expr| exchange.apply(expr);
        self.conditions.iter_mut().chain(&mut *self.items).chain(&mut *self.having).for_each(&mut exchanged);
        self.order.iter_mut().for_each(|key| exchanged(&mut key.value));
        self.group.iter_mut().flat_map(|group| group.expressions_mut()).for_each(&mut exchanged);
        if let Some(tree) = &mut self.tree {
            tree.conditions_mut(&mut exchanged);
            tree.renumber(&mut |number| std::mem::replace(&mut numbers[number], Tree::Source(0)));
        }
        for named in [&mut *self.used, &mut *self.named_beside_where] {
            for slot in std::mem::take(named) {
                match exchange.slots.get(slot as usize) {
                    Some(expr) => name_columns(expr, named),
                    None => named.extend([exchange.shifted(slot)]),
                }
            }
        }
    }
}

/// What slots are now.
struct Exchange {
    /// Those of sources: a column, or what a derived table computes.
    slots: Vec<Expr>,
    /// What is behind them has moved by so much, modulo 2^64.
    shift: usize,
}

impl Exchange {
    fn shifted(&self, slot: u32) -> u32 {
        (slot as usize).wrapping_add(self.shift) as u32
    }

    fn apply(&self, expr: &mut Expr) {
        let ExprKind::Column(column) = &mut expr.kind else {
            return expr.operands_mut(&mut |operand| self.apply(operand));
        };
        match self.slots.get(*column as usize) {
            None => *column = self.shifted(*column),
            // (That an outer join may make it NULL is known of the name, and not of the column.)
            Some(now) => match now.as_column() {
                Some(slot) => *column = slot,
                None => *expr = now.clone(),
            },
        }
    }
}
