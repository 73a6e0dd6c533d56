//! A SELECT: its sources, conditions, groups, items and order, from tree to plan.
//!
//! # Source
//! The manual, "SELECT Statement", "MySQL Handling of GROUP BY".

use std::cell::Cell;

use meseta_errors::{
    ER_AGGREGATE_ORDER_NON_AGG_QUERY, ER_BAD_TABLE_ERROR, ER_DUPLICATE_TABLE_LOCK, ER_NO_TABLES_USED,
    ER_UNRESOLVED_TABLE_LOCK, ER_WRONG_GROUP_FIELD,
};
use meseta_parser::ast::{self, ExpressionKind, SelectItem};

use super::full_group::{Checked, Likeness, Named};
use super::rollup;
use super::scope::Block;
use super::standing::{Alias, AliasOrder, Place};
use super::{Binder, Deprecated, in_list, position_of};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::expression::aggregate::AggregateCall;
use crate::name::text_of;
use crate::query::plan::bound::BoundSelect;
use crate::query::plan::{GroupPlan, LimitPlan, Origin, OutputColumn, SelectPlan, SortKey, Source, SourceKind};
use crate::query::planner::merge::merge;
use crate::query::planner::semi_join::join_queries;

impl<'a> Binder<'a, '_> {
    pub(super) fn select_alone(&mut self, select: &'a ast::Select<'a>) -> Result<(SelectPlan, Vec<OutputColumn>)> {
        self.select_with(select, &[], &[], None)
    }

    pub(super) fn select(
        &mut self,
        select: &'a ast::Select<'a>,
        query: &'a ast::Query<'a>,
        limit: Option<LimitPlan>,
    ) -> Result<(SelectPlan, Vec<OutputColumn>)> {
        self.select_with(select, query.order_by, query.locking, limit)
    }

    fn select_with(
        &mut self,
        select: &'a ast::Select<'a>,
        order_by: &'a [ast::OrderItem<'a>],
        locking: &'a [ast::Locking<'a>],
        limit: Option<LimitPlan>,
    ) -> Result<(SelectPlan, Vec<OutputColumn>)> {
        self.blocks.push(Block::default());
        let bound = self.select_inside(select, order_by, locking, limit);
        self.blocks.pop();
        bound
    }

    fn select_inside(
        &mut self,
        select: &'a ast::Select<'a>,
        order_by: &'a [ast::OrderItem<'a>],
        locking: &'a [ast::Locking<'a>],
        limit: Option<LimitPlan>,
    ) -> Result<(SelectPlan, Vec<OutputColumn>)> {
        if select.options.sql_calc_found_rows {
            self.deprecated.push(Deprecated::CalcFoundRows);
        }
        if select.options.sql_no_cache {
            self.deprecated.push(Deprecated::NoCache);
        }
        if !select.windows.is_empty() || select.qualify.is_some() {
            return Err(Error::not_yet("window functions"));
        }
        let wants_block = std::mem::take(&mut self.wants_block);
        let wants_unplanned = std::mem::take(&mut self.wants_unplanned);
        let is_set = std::mem::take(&mut self.wants_set);
        let mut sources = Vec::new();
        let joined = self.from(select.from, &mut sources, locking)?;
        let (tree, star) = match joined {
            Some(joined) => (Some(joined.tree), joined.columns),
            None => (None, Vec::new()),
        };
        self.check_locked(locking)?;
        let first_slot = self.block().width();
        let named_in_from = std::mem::take(&mut self.block().used);
        let conditions = match &select.condition {
            None => Vec::new(),
            Some(condition) => self.condition(condition, Place::plain("where clause"))?,
        };
        let named_in_where = std::mem::replace(&mut self.block().used, named_in_from);
        let mut aggregates = Vec::new();
        let mut named = Named::default();
        let (mut items, mut columns) = self.items(select, &star, &mut aggregates, first_slot, &mut named)?;
        let aliases: Vec<Alias> = columns.iter().map(|column| column.name.clone()).zip(items.iter().cloned()).collect();
        let (keys, rollup) = self.group_by(select, &items, &aliases, first_slot)?;
        let mut having = Vec::new();
        if let Some(condition) = &select.having {
            let place = Place {
                name: "having clause",
                aggregates: Some(&mut aggregates),
                first_slot,
                aliases: Some((&aliases, AliasOrder::AliasFirst)),
                keys: Some(&keys),
            };
            having = self.condition(condition, place)?;
        }
        let mut order = Vec::new();
        let before_order = aggregates.len();
        for item in order_by {
            let value = match position_of(&item.expression) {
                Some(number) => items[in_list(number, items.len(), "order clause")?].clone(),
                None => {
                    let place = Place {
                        name: "order clause",
                        aggregates: Some(&mut aggregates),
                        first_slot,
                        aliases: Some((&aliases, AliasOrder::AliasFirst)),
                        keys: None,
                    };
                    self.expression(&item.expression, place)?
                }
            };
            order.push(SortKey { value, descending: item.descending });
        }
        let is_grouped = select.group_by.is_some() || !aggregates.is_empty();
        let likeness = Likeness { facts: self.facts, used_literals: Cell::new(false) };
        if self.facts.only_full_group_by {
            let checked = Checked {
                likeness: &likeness,
                block: self.block(),
                sources: &sources,
                tree: tree.as_ref(),
                conditions: &conditions,
                keys: &keys,
                first_slot,
                has_keys: select.group_by.is_some(),
            };
            if is_grouped {
                if select.group_by.is_none() && before_order == 0 {
                    return Err(Error::new(ER_AGGREGATE_ORDER_NON_AGG_QUERY, &[&1]));
                }
                checked.check(&items, &named, &having, &order)?;
            }
            if select.options.distinct {
                checked.check_distinct(&items, &order)?;
            }
        }
        order.retain(|key| !key.value.is_constant());
        let mut width = first_slot + aggregates.len();
        let mut group = is_grouped.then_some(GroupPlan {
            keys,
            aggregates,
            first_slot,
            rollup: None,
            ends: Vec::new(),
            is_sorted: false,
        });
        if let Some(group) = &mut group {
            let mut over = rollup::OverGroups { items: &mut items, having: &mut having, order: &mut order };
            width = rollup::rewrite(group, rollup, width, &likeness, &mut over)?;
            if rollup {
                for (column, item) in columns.iter_mut().zip(&items) {
                    column.nullable = item.nullable;
                }
            }
        }
        self.depends_on_literals |= likeness.used_literals.get();
        // What was kept in between is told without the marks of what is computed.
        let is_kept = group.as_ref().is_some_and(|group| {
            let streams = group.aggregates.iter().any(|call| call.distinct || call.makes_list());
            !group.keys.is_empty()
                && !streams
                && (!rollup || !order.is_empty())
                && !self.is_indexed(&group.keys, &sources)
        });
        if is_kept || (select.options.distinct && group.is_none()) {
            let is_key =
                |item: &Expr| group.as_ref().is_some_and(|group| group.keys.iter().any(|key| likeness.same(key, item)));
            let kept = columns.into_iter().zip(&items).map(|(column, item)| column.kept(is_key(item)));
            columns = kept.collect();
        } else if let Some(group) = &group
            && let Some(rollup) = &group.rollup
        {
            // A key that may be NULL for all its values is computed.
            let keys = rollup.first_key..rollup.first_key + group.keys.len();
            for (column, item) in columns.iter_mut().zip(&items) {
                if item.as_column().is_some_and(|slot| keys.contains(&(slot as usize))) {
                    column.origin = None;
                }
            }
        }
        let shows_all = wants_block && group.is_none() && !select.options.distinct;
        if shows_all {
            let all = 0..first_slot as u32;
            self.block().used.extend(all);
            self.kept_block = Some(self.block().clone());
        }
        let named_beside_where = self.block().used.clone();
        self.block().used.extend(named_in_where);
        let is_outer: Vec<bool> = self.block().sources.iter().map(|source| source.is_outer).collect();
        let mut bound = BoundSelect {
            sources,
            names: self.block().names(),
            tree,
            keeps_order: select.options.straight_join,
            conditions,
            items,
            group,
            having,
            order,
            distinct: select.options.distinct,
            is_set,
            shows_all,
            limit,
            width,
            used: self.block().used.clone(),
            named_beside_where,
            block: 0,
        };
        let mut planned_before = join_queries(&mut bound, &mut self.exists_queries);
        if !wants_block {
            planned_before.extend(merge(&mut bound, &is_outer));
        }
        planned_before.into_iter().for_each(|block| self.tables.sizes().forget(block));
        let copy = if wants_unplanned { bound.copy() } else { None };
        let (plan, block) = self.planner().select(bound)?;
        self.unplanned.extend(copy.map(|copy| BoundSelect { block, ..copy }));
        self.wants_unplanned = wants_unplanned;
        Ok((plan, columns))
    }

    /// Whether rows come in the order of an index by the first key, and need not be kept to be grouped.
    fn is_indexed(&self, keys: &[Expr], sources: &[Source]) -> bool {
        let Some(slot) = keys.first().and_then(Expr::as_column) else { return false };
        let found = Source::position_of(sources, slot).map(|number| &sources[number]);
        let Some(Source { kind: SourceKind::Table(table), first_slot, .. }) = found else { return false };
        let is_first = |index: &crate::schema::Index| {
            index.parts.first().is_some_and(|part| usize::from(part.column) == slot as usize - first_slot)
        };
        table.table.indexes.iter().any(is_first)
    }

    /// Errors: 3568 (FOR UPDATE OF names a table that is not there), 3569 (one twice).
    fn check_locked(&mut self, locking: &[ast::Locking<'a>]) -> Result<()> {
        let mut met: Vec<&[u8]> = Vec::new();
        for table in locking.iter().flat_map(|clause| clause.tables.iter()) {
            let name = table.name.text.0;
            let shown = crate::schema::quoted_name(&text_of(name));
            if !self.block().sources.iter().any(|source| source.alias.as_bytes() == name) {
                return Err(Error::new(ER_UNRESOLVED_TABLE_LOCK, &[&shown]));
            }
            if met.contains(&name) {
                return Err(Error::new(ER_DUPLICATE_TABLE_LOCK, &[&shown]));
            }
            met.push(name);
        }
        Ok(())
    }

    fn items(
        &mut self,
        select: &'a ast::Select<'a>,
        star: &[(usize, usize)],
        aggregates: &mut Vec<AggregateCall>,
        first_slot: usize,
        named: &mut Named,
    ) -> Result<(Vec<Expr>, Vec<OutputColumn>)> {
        let (mut items, mut columns) = (Vec::new(), Vec::new());
        for item in select.items.iter() {
            match item {
                SelectItem::All => {
                    if self.block().sources.is_empty() {
                        return Err(Error::new(ER_NO_TABLES_USED, &[]));
                    }
                    self.star(None, star, &mut items, &mut columns)?;
                }
                SelectItem::AllOf(name) => self.star(Some(name), star, &mut items, &mut columns)?,
                SelectItem::Expression { expression, alias, .. } => {
                    let place = Place {
                        name: "field list",
                        aggregates: Some(aggregates),
                        first_slot,
                        aliases: None,
                        keys: None,
                    };
                    let begin = self.block().named_inside.len();
                    let value = self.expression(expression, place)?;
                    let inside = self.block().named_inside[begin..].to_vec();
                    if !inside.is_empty() {
                        named.by_item.push((items.len(), inside));
                    }
                    let own = value.as_column().filter(|_| alias.is_none()).and_then(|slot| self.own_name_of(slot));
                    let name = shown_of(own.as_deref().or(item.name(self.facts.text)).unwrap_or_default());
                    self.check_name(item);
                    let origin = value.as_column().and_then(|slot| self.origin_of(slot));
                    columns.push(OutputColumn { origin, ..OutputColumn::of(&value, name.into()) });
                    items.push(value);
                }
            }
        }
        Ok((items, columns))
    }

    /// The name of a column of information_schema, whose columns are called what they are called there.
    fn own_name_of(&mut self, slot: u32) -> Option<Vec<u8>> {
        let (source, column) = self.block().column_of(slot)?;
        let is_own = source.database.eq_ignore_ascii_case("information_schema");
        is_own.then(|| column.name.as_bytes().to_vec())
    }

    /// A name that has values of literals in it is for this statement alone.
    fn check_name(&mut self, item: &SelectItem<'a>) {
        let SelectItem::Expression { alias: None, span, .. } = item else { return };
        let is_inside = |lifted: &meseta_parser::Lifted| span.start <= lifted.span.start && lifted.span.end <= span.end;
        self.depends_on_literals |= self.facts.lifted.iter().any(is_inside);
    }

    fn origin_of(&mut self, slot: u32) -> Option<Origin> {
        self.block().column_of(slot)?.1.origin.clone()
    }

    /// `*`, `t.*`
    pub(super) fn star(
        &mut self,
        of: Option<&ast::ObjectName<'a>>,
        all: &[(usize, usize)],
        items: &mut Vec<Expr>,
        columns: &mut Vec<OutputColumn>,
    ) -> Result<()> {
        let block = self.block();
        let named;
        let chosen = match of {
            None => all,
            Some(name) => {
                let found = block.sources.iter().position(|source| {
                    *source.alias.as_bytes() == *name.name.text.0
                        && name.schema.is_none_or(|schema| *source.database.as_bytes() == *schema.text.0)
                });
                let Some(number) = found else {
                    return Err(Error::new(ER_BAD_TABLE_ERROR, &[&text_of(name.name.text.0)]));
                };
                let source = &block.sources[number];
                named = (0..source.columns.len())
                    .filter(|&at| !source.columns[at].is_hidden)
                    .map(|at| (number, at))
                    .collect::<Vec<_>>();
                &named
            }
        };
        for &(number, at) in chosen {
            let source = &block.sources[number];
            let column = &source.columns[at];
            let slot = (source.first_slot + at) as u32;
            let nullable = column.nullable || source.is_outer;
            let mut item = Expr::slot(slot, column.data_type.clone(), nullable);
            item.collated = column.collated.unwrap_or(item.collated);
            let (name, origin) = (column.name.as_bytes().into(), column.origin.clone());
            columns.push(OutputColumn { origin, ..OutputColumn::of(&item, name) });
            items.push(item);
            block.used.insert(slot);
        }
        Ok(())
    }

    fn group_by(
        &mut self,
        select: &'a ast::Select<'a>,
        items: &[Expr],
        aliases: &[Alias],
        first_slot: usize,
    ) -> Result<(Vec<Expr>, bool)> {
        let Some(group_by) = &select.group_by else { return Ok((Vec::new(), false)) };
        let rollup = match group_by.modifier {
            ast::GroupModifier::None => false,
            ast::GroupModifier::Rollup => true,
            _ => return Err(Error::not_yet("GROUPING SETS and CUBE")),
        };
        let mut keys = Vec::new();
        for item in group_by.items.iter() {
            let span = item.expression.span;
            let text = self.facts.text;
            let written = || text_of(text.get(span.start as usize..span.end as usize).unwrap_or_default());
            if matches!(item.expression.kind, ExpressionKind::Aggregate(_)) {
                return Err(Error::new(ER_WRONG_GROUP_FIELD, &[&written()]));
            }
            let key = match position_of(&item.expression) {
                Some(number) => items[in_list(number, items.len(), "group statement")?].clone(),
                None => {
                    let place = Place {
                        name: "group statement",
                        aggregates: None,
                        first_slot: 0,
                        aliases: Some((aliases, AliasOrder::ColumnFirst)),
                        keys: None,
                    };
                    self.expression(&item.expression, place)?
                }
            };
            let mut is_aggregate = false;
            key.columns(&mut |slot| is_aggregate |= slot as usize >= first_slot);
            if is_aggregate {
                return Err(Error::new(ER_WRONG_GROUP_FIELD, &[&written()]));
            }
            keys.push(key);
        }
        Ok((keys, rollup))
    }
}

/// So many bytes an item's name has at the most.
const NAME_MAX: usize = 256;

/// As much of an item's name as is shown.
fn shown_of(name: &[u8]) -> &[u8] {
    if name.len() <= NAME_MAX {
        return name;
    }
    // (A character that would be cut is left out.)
    let starts = |at: &usize| name[*at] & 0xc0 != 0x80;
    &name[..(0..=NAME_MAX).rev().find(starts).unwrap_or(NAME_MAX)]
}
