//! A SELECT as it is run: its join, the order that comes of it, and what is spared behind that.
//!
//! ```text
//!   BoundSelect --outer joins made inner, tables left out--> join --> order of rows, of groups --> columns spared, early sort --> SelectPlan
//! ```

use std::collections::HashSet;

use super::first_match::{first_matches, shown_once};
use super::join::{JoinPlanner, Planned};
use super::row_groups::{are_of_rows, is_order_of, table_of_keys};
use super::shown_rows::rows_of_groups;
use super::table_elimination::eliminate;
use super::tables::Tables;
use super::{outer, push};
use crate::error::Result;
use crate::expression::{Expr, ExprKind};
use crate::query::plan::bound::BoundSelect;
use crate::query::plan::{EarlySort, GroupPlan, Join, SelectPlan, SortKey, Source, SourceKind, is_ordered_by_items};

/// Plans the SELECTs of a statement.
pub struct Planner<'p> {
    /// What is known of tables.
    pub tables: &'p mut dyn Tables,
    /// So many constants are computed once.
    pub constants: &'p mut u32,
    /// Whether the SELECT is a derived table, inside of a subquery.
    pub is_derived: bool,
    /// Whether it is inside of an expression.
    pub is_subquery: bool,
}

/// What is wanted of a SELECT's rows, as far as it says how they are read.
struct Wants {
    /// The first of them: LIMIT.
    is_limited: bool,
    /// Each once: DISTINCT.
    shows_once: bool,
    /// The first rows in the order that is wanted are the first that are shown. (Of rows that are shown once, if what they are ordered by is.)
    shows_in_order: bool,
    /// The same ones each time: no condition has another value then.
    is_repeatable: bool,
    /// The first groups, which are those of the first rows of this table.
    groups_of: Option<usize>,
}

impl Wants {
    fn of(bound: &BoundSelect) -> Self {
        let (is_limited, shows_once) = (bound.limit.is_some(), bound.distinct);
        let is_shown = |key: &SortKey| {
            let column = key.value.as_column();
            column.is_some() && bound.items.iter().any(|item| item.as_column() == column)
        };
        let mut is_repeatable = true;
        let mut ask = |condition: &Expr| is_repeatable &= !condition.is_of_each_row();
        bound.conditions.iter().chain(&bound.having).for_each(&mut ask);
        bound.tree.iter().for_each(|tree| tree.conditions(&mut ask));
        let may_be_of_rows = |group: &&GroupPlan| is_limited && !shows_once && group.rollup.is_none();
        let groups_of = bound.group.as_ref().filter(may_be_of_rows);
        let groups_of = groups_of.and_then(|group| table_of_keys(&group.keys, &bound.sources));
        Self {
            is_limited,
            shows_once,
            shows_in_order: !shows_once || bound.order.iter().all(is_shown),
            is_repeatable,
            groups_of: groups_of.filter(|&table| is_order_of(&bound.sources[table], &bound.order)),
        }
    }
}

/// A join whose rows come in the order that is wanted, where that is what they cost least in.
struct JoinInOrder {
    planned: Planned,
    /// The number under which its ranges are known.
    block: u32,
    /// Whether its rows come in the order of ORDER BY, or of groups.
    is_ordered: bool,
    /// Whether equal rows still have to be told.
    distinct: bool,
}

impl Planner<'_> {
    /// Plans it. Returns, too, the number under which its ranges are known.
    pub fn select(&mut self, mut bound: BoundSelect) -> Result<(SelectPlan, u32)> {
        if let Some(tree) = &mut bound.tree {
            outer::simplify(tree, &bound.conditions, &bound.sources);
        }
        eliminate(&mut bound);
        let shown_once = shown_once(&bound);
        let mut wants = Wants::of(&bound);
        let JoinInOrder { planned, block, is_ordered, distinct } =
            self.join(&mut bound, &mut wants, shown_once.as_ref())?;
        let shown_rows = self.shown_rows(&bound, planned.rows, block);
        for source in &mut bound.sources {
            self.push_conditions(source)?;
        }
        let mut join = planned.join;
        let early_sort = early_sort(&mut bound, &mut join, &wants, distinct);
        if early_sort.is_none()
            && let Some(shown) = shown_once
        {
            join = join.map(|join| first_matches(join, &bound.sources, &shown));
        }
        let takes_all = !wants.is_limited && !self.is_subquery;
        bound.sources.iter_mut().for_each(|source| source.takes_all(takes_all));
        let runs_late = |item: &Expr| assigns(item) || wants.is_limited && item.as_column().is_none();
        let late_items = !wants.shows_once && !bound.order.is_empty() && bound.items.iter().any(runs_late);
        let mut plan = SelectPlan {
            is_ordered,
            early_sort,
            hashes: planned.hashes,
            names: bound.names,
            sources: bound.sources,
            join,
            constant: planned.constant,
            width: bound.width,
            shown_rows,
            group: bound.group,
            having: bound.having,
            distinct,
            is_ordered_by_items: distinct && is_ordered_by_items(&bound.order, &bound.items),
            late_items,
            order: bound.order,
            items: bound.items,
        };
        plan.compute_constants_once(self.constants);
        Ok((plan, block))
    }

    /// Plans the join. If its rows come in the order that is wanted, no order is wanted any more.
    fn join(
        &mut self,
        bound: &mut BoundSelect,
        wants: &mut Wants,
        shown_once: Option<&HashSet<usize>>,
    ) -> Result<JoinInOrder> {
        let (tree, conditions) = (bound.tree.take(), std::mem::take(&mut bound.conditions));
        let BoundSelect { sources, items, group, order, limit, .. } = bound;
        let mut planner = JoinPlanner::new(sources, self.tables, &bound.used);
        planner.shown_once = shown_once;
        planner.limit = limit.as_ref().filter(|limit| !limit.counts_all);
        if wants.is_limited && group.is_none() && wants.shows_in_order {
            planner.choice.wants_all = wants.shows_once && order.is_empty();
            planner.expect_order(&tree, &conditions, order);
        }
        if let (Some(_), Some(group)) = (wants.groups_of, &group) {
            let by_keys = || group.keys.iter().map(|key| SortKey { value: key.clone(), descending: false }).collect();
            let wanted = if order.is_empty() { by_keys() } else { order.clone() };
            (planner.groups_by_row, planner.choice.wants_all) = (true, false);
            planner.expect_order(&tree, &conditions, &wanted);
        }
        let block = planner.choice.block;
        let planned = planner.plan(tree, conditions, bound.keeps_order)?;
        wants.groups_of = wants.groups_of.zip(group.as_ref()).and_then(|(table, group)| {
            are_of_rows(table, &group.keys, &planned.join, planner.sources).then_some(table)
        });
        let is_sorted = !order.is_empty();
        match group {
            None if order.is_empty() && wants.is_limited && !wants.shows_once => planner.use_any_order(&planned.join),
            None if wants.shows_in_order => planner.use_order(&planned.join, order, wants.is_limited),
            Some(group) if group.keys.is_empty() => planner.use_ends(&planned.join, group),
            Some(group) if wants.groups_of.is_some() => {
                planner.use_order_of_rows(&planned.join, group, order, wants.is_limited);
            }
            Some(group) if group.rollup.is_none() => {
                planner.use_group_order(&planned.join, group, order, wants.is_limited && !wants.shows_once);
            }
            _ => {}
        }
        let is_ordered = is_sorted && order.is_empty() || group.as_ref().is_some_and(|group| group.is_sorted);
        let mut distinct = wants.shows_once;
        if group.is_some() || distinct {
            let shows_each_once = planner.use_loose_scan(&planned.join, group.as_mut(), items, is_ordered);
            distinct &= group.is_some() || !shows_each_once;
        }
        planner.spare_columns(&planned.join, std::mem::take(&mut bound.named_beside_where));
        Ok(JoinInOrder { planned, block, is_ordered, distinct })
    }

    /// About how many rows it shows, of so many that are joined.
    fn shown_rows(&mut self, bound: &BoundSelect, joined: f64, block: u32) -> f64 {
        let BoundSelect { sources, items, group, having, limit, .. } = bound;
        let distinct_items = bound.distinct.then_some(&**items);
        let shown = rows_of_groups(joined, group.as_ref(), distinct_items, having, sources, self.tables);
        match limit {
            Some(limit) if self.is_derived => shown.min(self.tables.sizes().wanted(block, limit)),
            _ => shown,
        }
    }

    /// Has a derived table's query ask what is asked of its rows.
    pub fn push_conditions(&mut self, source: &mut Source) -> Result<()> {
        let Some(selects) = push::pushed(source) else { return Ok(()) };
        let mut plans = Vec::new();
        for select in selects {
            self.tables.sizes().forget(select.block);
            plans.push(self.select(select)?.0);
        }
        if let SourceKind::Derived { plan, .. } = &mut source.kind {
            push::replace_selects(plan, &mut plans.into_iter());
        }
        Ok(())
    }
}

/// Sorts the table that a join begins with before others are joined to it, if it is its order that is wanted.
fn early_sort(bound: &mut BoundSelect, join: &mut Option<Join>, wants: &Wants, distinct: bool) -> Option<EarlySort> {
    let BoundSelect { sources, items, group, having, order, .. } = bound;
    let is_of_rows = |group: &GroupPlan| wants.groups_of.is_some() && !group.expressions().any(assigns);
    if distinct || !group.as_ref().is_none_or(is_of_rows) || items.iter().any(assigns) {
        return None;
    }
    let may_join_twice = wants.is_limited && wants.is_repeatable;
    if may_join_twice {
        EarlySort::ask_queries_behind(sources, join, order);
    }
    EarlySort::new(sources, join, order, may_join_twice, !having.is_empty())
}

/// Whether an expression sets variables.
fn assigns(expr: &Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::SetUserVariable(..));
    expr.operands(&mut |operand| found = found || assigns(operand));
    found
}
