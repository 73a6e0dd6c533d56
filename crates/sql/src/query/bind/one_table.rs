//! UPDATE and DELETE of one table: what names mean, and how its rows are found.

use std::sync::Arc;

use meseta_errors::ER_NON_UPDATABLE_TABLE;
use meseta_parser::ast::{self, LockWait};

use super::from::source_columns;
use super::scope::{Block, NamedSource};
use super::{Binder, Place};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::name::text_of;
use crate::query::plan::join_tree::Tree;
use crate::query::plan::selected_table::SelectedTable;
use crate::query::plan::table::KnownTable;
use crate::query::plan::usable::UsableIndexes;
use crate::query::plan::{LimitPlan, LockingPlan, SortKey, Source, SourceKind, TableSource};
use crate::query::planner::join::JoinPlanner;
use crate::query::planner::semi_join::would_join;
use crate::query::planner::tables::FoundTable;

/// A table as names see it, its columns in slots from `first_slot` on.
pub fn named_source(table: &KnownTable, alias: &str, first_slot: usize) -> NamedSource {
    NamedSource {
        database: table.database.as_str().into(),
        alias: alias.into(),
        first_slot,
        columns: source_columns(table, alias),
        is_outer: false,
        merged: Vec::new(),
    }
}

impl<'a> Binder<'a, '_> {
    /// Names mean this source from here on, and those of blocks around.
    pub fn push_source(&mut self, source: NamedSource) {
        self.blocks.push(Block { sources: vec![source], ..Block::default() });
    }

    /// Names mean this source as well.
    pub fn push_beside(&mut self, source: NamedSource) {
        if let Some(block) = self.blocks.last_mut() {
            block.sources.push(source);
        }
    }

    /// Binds the table of UPDATE or DELETE and its WHERE. What follows is bound with the table's names; in the end comes
    /// [`Binder::finish_one_table`].
    pub fn one_table(
        &mut self,
        table: &'a ast::Table<'a>,
        condition: Option<&'a ast::Expression<'a>>,
        what: &'static str,
    ) -> Result<SelectedTable> {
        let name = text_of(table.name.name.text.0);
        let database = table.name.schema.map(|schema| text_of(schema.text.0));
        if database.is_none() && self.common.iter().any(|common| common.definition.name.text.0 == name.as_bytes()) {
            return Err(Error::new(ER_NON_UPDATABLE_TABLE, &[&name, &what]));
        }
        let FoundTable::Table(known) = self.tables.table(database.as_deref(), &name)? else {
            return Err(Error::not_yet("changing a table that is made up"));
        };
        if !table.partitions.is_empty() {
            return Err(Error::not_yet("partitions"));
        }
        let alias = table.alias.map_or_else(|| name.clone(), |alias| text_of(alias.text.0));
        let usable = UsableIndexes::new(table.index_hints, &known, &alias)?;
        self.tables.permit(&known, &alias, true)?;
        self.push_source(named_source(&known, &alias, 0));
        self.changed.push((known.engine().id(), alias));
        let conditions = match condition {
            None => Vec::new(),
            Some(condition) => self.condition(condition, Place::plain("where clause"))?,
        };
        let locking = Some(LockingPlan { exclusive: true, wait: LockWait::Wait, takes_all: false, passes_by: false });
        let kind = SourceKind::Table(Box::new(TableSource::new(Arc::clone(&known), usable, locking)));
        let source = Source { kind, first_slot: 0, width: known.columns.len(), ..Source::nothing() };
        let (constant, is_ordered, is_limited) = (Vec::new(), false, false);
        Ok(SelectedTable { table: known, source, constant, conditions, is_ordered, is_limited })
    }

    /// ORDER BY over the table's columns.
    pub fn order_keys(&mut self, order_by: &'a [ast::OrderItem<'a>]) -> Result<Vec<SortKey>> {
        let key = |item: &'a ast::OrderItem<'a>| {
            let value = self.expression(&item.expression, Place::plain("order clause"))?;
            Ok(SortKey { value, descending: item.descending })
        };
        order_by.iter().map(key).collect()
    }

    /// Chooses how the rows are found, and whether in `order`: then that is empty afterwards. On entry: everything that names
    /// the table's columns has been bound.
    pub fn finish_one_table(
        &mut self,
        mut selected: SelectedTable,
        order: &mut Vec<SortKey>,
        limit: Option<&Expr>,
    ) -> Result<SelectedTable> {
        let used = self.blocks.pop().unwrap_or_default().used;
        let mut sources = [selected.source];
        let conditions = std::mem::take(&mut selected.conditions);
        self.could_join = would_join(&conditions, &self.exists_queries);
        let mut planner = JoinPlanner::new(&mut sources, self.tables, &used);
        let planned = planner.plan(Some(Tree::Source(0)), conditions, false)?;
        let is_sorted = !order.is_empty();
        let limit = limit.cloned().map(LimitPlan::first);
        planner.limit = limit.as_ref();
        planner.use_order(&planned.join, order, limit.is_some());
        let [mut source] = sources;
        source.compute_constants_once(&mut self.constants);
        source.takes_all(limit.is_none() || !order.is_empty());
        Ok(SelectedTable {
            source,
            constant: planned.constant,
            is_ordered: is_sorted && order.is_empty(),
            is_limited: limit.is_some(),
            ..SelectedTable { source: Source::nothing(), ..selected }
        })
    }
}
