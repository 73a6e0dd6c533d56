//! Joins whose rows are to be changed: UPDATE and DELETE of several tables.
//!
//! The rows of the tables that are changed are locked exclusively and kept in `Inside::found`, as the engine has them, while
//! the join shows its row; those of the others are locked shared.

use std::sync::Arc;

use meseta_parser::ast::{self, LockWait, TableReference};

use super::from::Joined;
use super::scope::{Block, resolve};
use super::{Binder, Place};
use crate::error::{Error, Result};
use crate::expression::{Expr, ExprKind};
use crate::name::written;
use crate::query::plan::bound::BoundSelect;
use crate::query::plan::table::KnownTable;
use crate::query::plan::{Body, LockingPlan, QueryPlan, Source, SourceKind};
use crate::query::planner::semi_join::join_queries;

/// A join under way.
pub struct JoinBegun {
    sources: Vec<Source>,
    joined: Option<Joined>,
    conditions: Vec<Expr>,
}

/// A join that is planned: shows all slots of its row.
#[derive(Debug)]
pub struct JoinPlan {
    /// The plan.
    pub plan: QueryPlan,
}

impl JoinBegun {
    /// The table of a source, if it is one.
    pub fn table(&self, source: usize) -> Option<Arc<KnownTable>> {
        match &self.sources.get(source)?.kind {
            SourceKind::Table(table) => Some(Arc::clone(&table.table)),
            _ => None,
        }
    }

    /// The first slot of a source.
    pub fn first_slot(&self, source: usize) -> usize {
        self.sources[source].first_slot
    }

    /// Binds WHERE.
    pub fn condition<'a>(
        &mut self,
        binder: &mut Binder<'a, '_>,
        condition: Option<&'a ast::Expression<'a>>,
    ) -> Result<()> {
        if let Some(condition) = condition {
            self.conditions = binder.condition(condition, Place::plain("where clause"))?;
        }
        Ok(())
    }
}

impl<'a> Binder<'a, '_> {
    /// Binds tables and how they are joined; what follows is bound with their names.
    pub fn begin_join(&mut self, tables: &'a [TableReference<'a>]) -> Result<JoinBegun> {
        self.blocks.push(Block::default());
        let mut sources = Vec::new();
        let joined = self.from(tables, &mut sources, &[])?;
        Ok(JoinBegun { sources, joined, conditions: Vec::new() })
    }

    /// The same for one table.
    pub fn begin_table(&mut self, table: &'a ast::Table<'a>) -> Result<JoinBegun> {
        if !table.partitions.is_empty() {
            return Err(Error::not_yet("partitions"));
        }
        self.blocks.push(Block::default());
        let mut sources = Vec::new();
        let joined = self.table(&table.name, table.alias, table.index_hints, &mut sources, &[])?;
        Ok(JoinBegun { sources, joined: Some(joined), conditions: Vec::new() })
    }

    /// The source and the column that a name on the left of an assignment means. Errors: 1054, 1052.
    pub fn column_of_source(&mut self, name: &ast::ColumnName<'_>) -> Result<(usize, usize)> {
        let (_, found) = resolve(&mut self.blocks, name, "field list")?;
        let ExprKind::Column(slot) = found.kind else {
            let text = written(name);
            return Err(Error::new(meseta_errors::ER_BAD_FIELD_ERROR, &[&text, &"field list"]));
        };
        let slot = slot as usize;
        let sources = &self.blocks.last().expect("the join has a block").sources;
        let source = sources.iter().rposition(|source| source.first_slot <= slot).unwrap_or_default();
        Ok((source, slot - sources[source].first_slot))
    }

    /// What a source is called.
    pub fn alias_of(&self, source: usize) -> String {
        let block = self.blocks.last().expect("the join has a block");
        block.sources.get(source).map_or_else(String::new, |source| source.alias.to_string())
    }

    /// The source of this name: an alias, or a table of a database that has none.
    pub fn source_named(&self, database: Option<&str>, name: &str) -> Option<usize> {
        let block = self.blocks.last().expect("the join has a block");
        block
            .sources
            .iter()
            .position(|source| *source.alias == *name && database.is_none_or(|database| *source.database == *database))
    }

    /// Plans the join. The rows of the sources in `changed` are kept in this order, to be deleted or updated.
    pub fn finish_join(&mut self, begun: JoinBegun, changed: &[usize], deletes: bool) -> Result<JoinPlan> {
        let JoinBegun { mut sources, joined, conditions } = begun;
        let block = self.blocks.pop().unwrap_or_default();
        for (number, source) in sources.iter_mut().enumerate() {
            source.keeps_row = changed.iter().position(|&other| other == number);
            if let SourceKind::Table(table) = &mut source.kind {
                let exclusive = source.keeps_row.is_some();
                let passes_by = exclusive && !deletes;
                table.locking = Some(LockingPlan { exclusive, wait: LockWait::Wait, takes_all: true, passes_by });
            }
        }
        let mut bound = BoundSelect {
            sources,
            names: block.names(),
            tree: joined.map(|joined| joined.tree),
            conditions,
            items: block.slots().collect(),
            width: block.width(),
            named_beside_where: block.used.clone(),
            used: block.used,
            ..BoundSelect::nothing()
        };
        let planned_before = join_queries(&mut bound, &mut self.exists_queries);
        planned_before.into_iter().for_each(|block| self.tables.sizes().forget(block));
        let (plan, _) = self.planner().select(bound)?;
        Ok(JoinPlan { plan: QueryPlan::new(Body::Select(Box::new(plan)), Vec::new()) })
    }
}
