//! A SELECT as it is run: its join, the order that comes of it, and what is spared behind that.
//!
//! ```text
//!   BoundSelect --outer joins made inner, tables left out--> join --> order of rows, of groups --> columns spared, early sort --> SelectPlan
//! ```

use super::first_match::{first_matches, shown_once};
use super::join::JoinPlanner;
use super::row_groups::{are_of_rows, is_order_of, table_of_keys};
use super::shown_rows::rows_of_groups;
use super::table_elimination::eliminate;
use super::tables::Tables;
use super::{outer, push};
use crate::error::Result;
use crate::expression::{Expr, ExprKind};
use crate::query::plan::bound::BoundSelect;
use crate::query::plan::{EarlySort, SelectPlan, SortKey, Source, SourceKind, is_ordered_by_items};

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

impl Planner<'_> {
    /// Plans it. Returns, too, the number under which its ranges are known.
    pub fn select(&mut self, mut bound: BoundSelect) -> Result<(SelectPlan, u32)> {
        if let Some(tree) = &mut bound.tree {
            outer::simplify(tree, &bound.conditions, &bound.sources);
        }
        eliminate(&mut bound);
        let shown_once = shown_once(&bound);
        let BoundSelect {
            mut sources,
            names,
            tree,
            keeps_order,
            conditions,
            items,
            mut group,
            having,
            mut order,
            limit,
            ..
        } = bound;
        let (shows_once, is_limited) = (bound.distinct, limit.is_some());
        let mut is_repeatable = conditions.iter().chain(&having).all(|condition| !condition.is_of_each_row());
        if let Some(tree) = &tree {
            tree.conditions(&mut |condition| is_repeatable &= !condition.is_of_each_row());
        }
        let mut planner = JoinPlanner::new(&mut sources, self.tables, &bound.used);
        planner.shown_once = shown_once.as_ref();
        // Of rows that are shown once the first are the first of all, if what they are ordered by is shown.
        let is_shown = |key: &SortKey| {
            let column = key.value.as_column();
            column.is_some() && items.iter().any(|item| item.as_column() == column)
        };
        let shows_in_order = !shows_once || order.iter().all(is_shown);
        planner.limit = limit.as_ref().filter(|limit| !limit.counts_all);
        if is_limited && group.is_none() && shows_in_order {
            planner.choice.wants_all = shows_once && order.is_empty();
            planner.expect_order(&tree, &conditions, &order);
        }
        // The first groups are those of the first rows of a table, if they are groups of its rows.
        let mut grouped = group
            .as_ref()
            .filter(|group| is_limited && !shows_once && group.rollup.is_none())
            .and_then(|group| table_of_keys(&group.keys, planner.sources))
            .filter(|&table| is_order_of(&planner.sources[table], &order));
        if let (Some(_), Some(group)) = (grouped, &group) {
            let by_keys = || group.keys.iter().map(|key| SortKey { value: key.clone(), descending: false }).collect();
            let wanted = if order.is_empty() { by_keys() } else { order.clone() };
            (planner.groups_by_row, planner.choice.wants_all) = (true, false);
            planner.expect_order(&tree, &conditions, &wanted);
        }
        let block = planner.choice.block;
        let mut planned = planner.plan(tree, conditions, keeps_order)?;
        grouped = grouped.zip(group.as_ref()).and_then(|(table, group)| {
            are_of_rows(table, &group.keys, &planned.join, planner.sources).then_some(table)
        });
        let is_sorted = !order.is_empty();
        match &mut group {
            None if order.is_empty() && is_limited && !shows_once => planner.use_any_order(&planned.join),
            None if shows_in_order => planner.use_order(&planned.join, &mut order, is_limited),
            Some(group) if group.keys.is_empty() => planner.use_ends(&planned.join, group),
            Some(group) if grouped.is_some() => {
                planner.use_order_of_rows(&planned.join, group, &mut order, is_limited && having.is_empty());
            }
            Some(group) if group.rollup.is_none() => {
                let is_limited = is_limited && having.is_empty() && !shows_once;
                planner.use_group_order(&planned.join, group, &mut order, is_limited);
            }
            _ => {}
        }
        let is_ordered = is_sorted && order.is_empty() || group.as_ref().is_some_and(|group| group.is_sorted);
        let mut distinct = shows_once;
        if group.is_some() || distinct {
            let shows_each_once = planner.use_loose_scan(&planned.join, group.as_mut(), &items, is_ordered);
            distinct &= group.is_some() || !shows_each_once;
        }
        planner.spare_columns(&planned.join, bound.named_beside_where);
        let distinct_items = shows_once.then_some(&*items);
        let mut shown_rows =
            rows_of_groups(planned.rows, group.as_ref(), distinct_items, &having, &sources, self.tables);
        if self.is_derived
            && let Some(limit) = &limit
        {
            shown_rows = shown_rows.min(self.tables.sizes().wanted(block, limit));
        }
        for source in &mut sources {
            self.push_conditions(source)?;
        }
        let may_group_early = group.as_ref().is_none_or(|group| grouped.is_some() && !group.expressions().any(assigns));
        let may_sort_early = may_group_early && !distinct && !items.iter().any(assigns);
        let may_join_twice = is_limited && is_repeatable;
        if may_sort_early && may_join_twice {
            EarlySort::ask_queries_behind(&mut sources, &mut planned.join, &order);
        }
        let early_sort = match may_sort_early {
            true => EarlySort::new(&sources, &planned.join, &order, may_join_twice, !having.is_empty()),
            false => None,
        };
        if early_sort.is_none()
            && let Some(shown) = shown_once
        {
            planned.join = planned.join.map(|join| first_matches(join, &sources, &shown));
        }
        let takes_all = !is_limited && !self.is_subquery;
        sources.iter_mut().for_each(|source| source.takes_all(takes_all));
        let runs_late = |item: &Expr| assigns(item) || is_limited && item.as_column().is_none();
        let mut plan = SelectPlan {
            is_ordered,
            early_sort,
            hashes: planned.hashes,
            names,
            sources,
            join: planned.join,
            constant: planned.constant,
            width: bound.width,
            shown_rows,
            group,
            having,
            distinct,
            is_ordered_by_items: distinct && is_ordered_by_items(&order, &items),
            late_items: !shows_once && !order.is_empty() && items.iter().any(runs_late),
            order,
            items,
        };
        plan.compute_constants_once(self.constants);
        Ok((plan, block))
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

/// Whether an expression sets variables.
fn assigns(expr: &Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::SetUserVariable(..));
    expr.operands(&mut |operand| found = found || assigns(operand));
    found
}
