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

use meseta_types::DataType;

use crate::expression::{Expr, ExprKind};
use crate::query::plan::Source;
use crate::query::plan::bound::{BoundSelect, name_columns};
use crate::query::plan::join_tree::Tree;

/// Makes the derived tables that can be parts of a query parts of it; `is_outer` says which an outer join may make NULL. Returns under
/// which numbers the ranges of their own plans are known.
pub fn merge(query: &mut BoundSelect, is_outer: &[bool]) -> Vec<u32> {
    let is_outer = |number: usize| is_outer.get(number).copied().unwrap_or(false);
    let merges: Vec<bool> =
        query.sources.iter().enumerate().map(|(number, source)| can_merge(source, is_outer(number))).collect();
    if !merges.contains(&true) || names_from_inside(query) {
        return Vec::new();
    }
    let is_alone = query.sources.len() == 1;
    let mut blocks = Vec::new();
    // For each slot of before what it is now, and for each source.
    let (mut slots, mut numbers): (Vec<Expr>, Vec<Tree>) = (Vec::new(), Vec::new());
    let (mut sources, mut names, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
    let (mut order, mut first_slot) = (Vec::new(), 0);
    let before = std::mem::take(&mut query.sources).into_iter().zip(std::mem::take(&mut query.names));
    for (number, (mut source, name)) in before.enumerate() {
        let inner = if merges[number] { source.unplanned.pop() } else { None };
        match inner {
            Some(mut inner) => {
                move_to(&mut inner, first_slot, sources.len());
                first_slot += inner.width;
                slots.append(&mut inner.items);
                blocks.push(inner.block);
                let tree = inner.tree.unwrap_or(Tree::Source(0));
                if is_outer(number) {
                    let conditions = inner.conditions;
                    numbers.push(Tree::Inner { inputs: vec![tree], conditions, keeps_order: false });
                } else {
                    conditions.append(&mut inner.conditions);
                    numbers.push(tree);
                }
                sources.append(&mut inner.sources);
                names.append(&mut inner.names);
                order = inner.order;
            }
            None => {
                let width = source.width;
                slots.extend((0..width).map(|at| Expr::slot((first_slot + at) as u32, DataType::Null, true)));
                source.first_slot = first_slot;
                first_slot += width;
                numbers.push(Tree::Source(sources.len()));
                sources.push(source);
                names.push(name);
            }
        }
    }
    (query.sources, query.names) = (sources, names);
    let shift = first_slot.wrapping_sub(slots.len());
    exchange(query, &Exchange { slots, shift });
    if let Some(tree) = &mut query.tree {
        tree.renumber(&mut |number| std::mem::replace(&mut numbers[number], Tree::Source(0)));
    }
    conditions.iter().for_each(|condition| name_columns(condition, &mut query.used));
    query.conditions.append(&mut conditions);
    if let Some(tree) = &query.tree {
        tree.conditions(&mut |condition| name_columns(condition, &mut query.used));
    }
    if is_alone && query.group.is_none() && !query.distinct && query.order.is_empty() {
        for key in &order {
            name_columns(&key.value, &mut query.used);
            name_columns(&key.value, &mut query.named_beside_where);
        }
        query.order = order;
    }
    blocks
}

/// Whether a source is a derived table that can be a part of the query around it.
fn can_merge(source: &Source, is_outer: bool) -> bool {
    let [inner] = &source.unplanned[..] else { return false };
    let mut stays = inner.shows_rows_as_they_are();
    let shown = inner.items.iter().chain(inner.order.iter().map(|key| &key.value));
    stays &= shown.into_iter().all(Expr::is_repeatable);
    stays &= !is_outer || inner.items.iter().all(|item| item.as_column().is_some());
    inner.expressions(&mut |expr| stays = stays && !expr.has_correlated_subquery());
    stays
}

/// Whether a query inside looks at the rows of this one: at slots that would be others.
fn names_from_inside(query: &BoundSelect) -> bool {
    let mut names = query.sources.iter().any(Source::is_lateral);
    query.expressions(&mut |expr| names = names || expr.has_correlated_subquery());
    names
}

/// A query, as a part of the one around it: its slots begin with `first_slot`, the numbers of its sources with
/// `first_source`, and one query less is around it.
pub fn move_to(inner: &mut BoundSelect, first_slot: usize, first_source: usize) {
    let mut moved = |name: &mut Expr| match &mut name.kind {
        ExprKind::Column(column) => *column += first_slot as u32,
        // (Of the row around a query that is joined to that.)
        ExprKind::Outer { level: 0, column } => name.kind = ExprKind::Column(*column),
        ExprKind::Outer { level, .. } => *level -= 1,
        _ => {}
    };
    inner.sources.iter_mut().for_each(|source| source.first_slot += first_slot);
    if let Some(tree) = &mut inner.tree {
        tree.renumber(&mut |number| Tree::Source(number + first_source));
    }
    inner.expressions_mut(&mut |expr| expr.names_mut(&mut moved));
}

/// Puts for each slot of a query what it is now.
pub fn exchange(query: &mut BoundSelect, exchange: &Exchange) {
    query.expressions_mut(&mut |expr| expr.names_mut(&mut |name| exchange.apply(name)));
    for named in [&mut query.used, &mut query.named_beside_where] {
        for slot in std::mem::take(named) {
            match exchange.slots.get(slot as usize) {
                Some(expr) => name_columns(expr, named),
                None => named.extend([exchange.shifted(slot)]),
            }
        }
    }
    let shifted = |slot: &mut usize| *slot = slot.wrapping_add(exchange.shift);
    shifted(&mut query.width);
    if let Some(group) = &mut query.group {
        shifted(&mut group.first_slot);
        if let Some(rollup) = &mut group.rollup {
            shifted(&mut rollup.first_key);
            rollup.groupings.iter_mut().for_each(|(_, slot)| shifted(slot));
        }
    }
}

/// What slots are now.
pub struct Exchange {
    /// Those of sources: a column, or what a derived table computes.
    pub slots: Vec<Expr>,
    /// What is behind them has moved by so much, modulo 2^64.
    pub shift: usize,
}

impl Exchange {
    fn shifted(&self, slot: u32) -> u32 {
        (slot as usize).wrapping_add(self.shift) as u32
    }

    fn apply(&self, name: &mut Expr) {
        let ExprKind::Column(column) = &mut name.kind else { return };
        match self.slots.get(*column as usize) {
            None => *column = self.shifted(*column),
            // (That an outer join may make it NULL is known of the name, and not of the column.)
            Some(now) => match now.as_column() {
                Some(slot) => *column = slot,
                None => *name = now.clone(),
            },
        }
    }
}
