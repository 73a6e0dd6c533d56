//! Where an expression stands, and what names mean there: columns of the blocks around it, names of the select list,
//! aggregates, queries inside of it.
//!
//! # Source
//! The manual, "Problems with Column Aliases".

use std::rc::Rc;

use meseta_errors::{ER_BAD_FIELD_ERROR, ER_INVALID_GROUP_FUNC_USE, ER_MISPLACED_INTO, ER_NO_DEFAULT_FOR_FIELD};
use meseta_parser::ast;
use meseta_types::DataType;

use super::scope::resolve;
use super::{Binder, Deprecated};
use crate::error::{Error, Result};
use crate::expression::aggregate::{AggregateCall, bind_aggregate};
use crate::expression::{BoundSubquery, Expr, ExprKind, InSubquery, ResolvedColumn, Scope, SystemVariable, Value};
use crate::name::{same_name, written};
use crate::query::plan::Subquery;
use crate::query::planner::tables::FoundTable;
use crate::query::run::bounds;
use crate::schema::ColumnDefault;

/// Where an expression stands: what may be in it.
pub struct Place<'p> {
    /// As messages call it.
    pub name: &'static str,
    /// Aggregates that have been met; `None` where none may stand.
    pub aggregates: Option<&'p mut Vec<AggregateCall>>,
    /// The first aggregate's slot.
    pub first_slot: usize,
    /// What the select list calls its expressions: looked at before columns, or after.
    pub aliases: Option<(&'p [Alias], AliasOrder)>,
    /// In HAVING: what rows are grouped by. Columns that are neither among these nor in the select list cannot be named.
    pub keys: Option<&'p [Expr]>,
}

/// What the select list calls an expression.
pub type Alias = (Box<[u8]>, Expr);

/// Whether a name means an alias or a column, if it may be either.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AliasOrder {
    /// ORDER BY, HAVING.
    AliasFirst,
    /// GROUP BY.
    ColumnFirst,
}

impl Place<'_> {
    /// A place without aggregates and aliases.
    pub fn plain(name: &'static str) -> Place<'static> {
        Place { name, aggregates: None, first_slot: 0, aliases: None, keys: None }
    }
}

/// Binds in the innermost block, at a place.
pub(super) struct Standing<'s, 'a, 't, 'p> {
    pub(super) binder: &'s mut Binder<'a, 't>,
    pub(super) place: Place<'p>,
}

impl Standing<'_, '_, '_, '_> {
    fn alias(&self, name: &ast::ColumnName<'_>) -> Option<ResolvedColumn> {
        let (aliases, _) = self.place.aliases.as_ref()?;
        if name.table.is_some() {
            return None;
        }
        let (_, found) = aliases.iter().find(|(alias, _)| same_name(alias, name.column.text.0))?;
        Some(ResolvedColumn {
            kind: found.kind.clone(),
            data_type: found.data_type.clone(),
            nullable: found.nullable,
            collated: Some(found.collated),
        })
    }

    /// In HAVING: whether a column is in the select list, or one that rows are grouped by.
    fn may_be_named(&self, found: &ResolvedColumn) -> bool {
        let (Some(keys), ExprKind::Column(slot)) = (self.place.keys, &found.kind) else { return true };
        let is_it = |expr: &Expr| expr.as_column() == Some(*slot);
        let aliases = self.place.aliases.map_or(&[][..], |(aliases, _)| aliases);
        keys.iter().any(is_it) || aliases.iter().any(|(_, expr)| is_it(expr))
    }
}

impl<'a> Scope for Standing<'_, 'a, '_, '_> {
    fn column(&mut self, name: &ast::ColumnName<'_>) -> Result<ResolvedColumn> {
        let order = self.place.aliases.as_ref().map(|(_, order)| *order);
        if order == Some(AliasOrder::AliasFirst)
            && let Some(found) = self.alias(name)
        {
            return Ok(found);
        }
        match resolve(&mut self.binder.blocks, name, self.place.name) {
            Ok((_, found)) if !self.may_be_named(&found) => {
                Err(Error::new(ER_BAD_FIELD_ERROR, &[&written(name), &self.place.name]))
            }
            Ok((block, found)) => {
                self.binder.outermost_named = self.binder.outermost_named.min(block);
                Ok(found)
            }
            Err(error) if order == Some(AliasOrder::ColumnFirst) => self.alias(name).ok_or(error),
            Err(error) => Err(error),
        }
    }

    fn column_text(&self, name: &ast::ColumnName<'_>) -> Option<String> {
        let blocks = self.binder.blocks.iter().rev();
        let mut found = blocks.filter_map(|block| block.find(name, self.place.name).ok().flatten());
        let (source, column) = found.next()?;
        let column = &source.columns.get(column)?.name;
        Some(match &*source.database {
            "" => format!("`{}`.`{column}`", source.alias),
            database => format!("`{database}`.`{}`.`{column}`", source.alias),
        })
    }

    fn aggregate(&mut self, aggregate: &ast::Aggregate<'_>) -> Result<Expr> {
        let Some(aggregates) = self.place.aggregates.as_deref_mut() else {
            return Err(Error::new(ER_INVALID_GROUP_FUNC_USE, &[]));
        };
        let facts = self.binder.facts;
        let named_before = self.binder.block().named_inside.len();
        let mut inside = Standing { binder: &mut *self.binder, place: Place::plain("field list") };
        let call = bind_aggregate(aggregate, &mut inside, &facts)?;
        // What a query inside of an aggregate names is not named of a group.
        self.binder.block().named_inside.truncate(named_before);
        if self.binder.is_of_block_around(&call.arguments) {
            return Err(Error::not_yet("an aggregate of the query around a subquery"));
        }
        let slot = (self.place.first_slot + aggregates.len()) as u32;
        let value = Expr::slot(slot, call.data_type.clone(), call.nullable);
        aggregates.push(call);
        Ok(value)
    }

    fn subquery(&mut self, query: &ast::Query<'_>) -> Result<BoundSubquery> {
        if let Some(block) = self.binder.blocks.last_mut() {
            block.may_aggregate = self.place.aggregates.is_some();
        }
        self.binder.subquery_of(query)
    }

    fn query_of_values(&mut self, query: &ast::Query<'_>) -> Result<BoundSubquery> {
        (self.binder.wants_unplanned, self.binder.wants_set) = (true, true);
        let bound = self.subquery(query);
        (self.binder.wants_unplanned, self.binder.wants_set) = (false, false);
        bound
    }

    fn in_query(&mut self, inside: InSubquery) -> Result<ExprKind> {
        self.binder.in_query(inside)
    }

    fn exists(&mut self, query: &ast::Query<'_>) -> Result<ExprKind> {
        let query = self.query_of_values(query)?;
        self.binder.exists(query)
    }

    fn user_variable(&mut self, name: &str) -> Option<DataType> {
        self.binder.tables.user_variable(name)
    }

    fn system_variable(&mut self, variable: &SystemVariable) -> Result<(DataType, bool)> {
        self.binder.tables.system_variable(variable)
    }

    fn default_value(&mut self, column: Option<&ast::ColumnName<'_>>) -> Result<Expr> {
        let Some(name) = column else { return Err(Error::not_yet("DEFAULT here")) };
        let (at, found) = resolve(&mut self.binder.blocks, name, self.place.name)?;
        let (ExprKind::Column(slot) | ExprKind::Outer { column: slot, .. }) = found.kind else {
            return Err(Error::not_yet("DEFAULT here"));
        };
        let origin = self.binder.blocks[at].column_of(slot).and_then(|(_, column)| column.origin.clone());
        let Some(origin) = origin.filter(|origin| !origin.table.is_empty()) else {
            return Err(Error::new(ER_NO_DEFAULT_FOR_FIELD, &[&written(name)]));
        };
        let FoundTable::Table(table) = self.binder.tables.table(Some(&origin.database), &origin.table)? else {
            return Err(Error::new(ER_NO_DEFAULT_FOR_FIELD, &[&origin.name]));
        };
        let column = &table.columns[origin.column];
        let value = match &column.default {
            ColumnDefault::Literal(value) => {
                let context = meseta_types::Context::default();
                Value::new(bounds::loaded(value.as_value(), &column.data_type, &context))
            }
            ColumnDefault::Null => Value::NULL,
            ColumnDefault::None if column.nullable => Value::NULL,
            ColumnDefault::None => return Err(Error::new(ER_NO_DEFAULT_FOR_FIELD, &[&origin.name])),
            ColumnDefault::Now | ColumnDefault::Expression(_) => {
                return Err(Error::not_yet("DEFAULT() of a column whose default is computed"));
            }
        };
        let collation = column.data_type.collation().unwrap_or(self.binder.facts.collation);
        Ok(Expr { nullable: column.nullable, ..Expr::constant(value, column.data_type.clone(), collation) })
    }

    fn inserted_value(&mut self, column: &ast::ColumnName<'_>) -> Result<Expr> {
        self.binder.deprecated.push(match self.binder.inserted_from {
            Some(_) => Deprecated::ValuesInDuplicate,
            None => Deprecated::Values,
        });
        // Of the table that gets rows, which is the first, whatever else has such a column.
        let is_beside = self.binder.inserted_from.is_some() && self.binder.blocks.len() == 1;
        let others = if is_beside { self.binder.block().sources.split_off(1) } else { Vec::new() };
        let found = resolve(&mut self.binder.blocks, column, self.place.name);
        self.binder.block().sources.extend(others);
        let (_, found) = found?;
        let Some(first) = self.binder.inserted_from else {
            let collation = found.data_type.collation().unwrap_or(self.binder.facts.collation);
            return Ok(Expr { nullable: true, ..Expr::constant(Value::NULL, found.data_type, collation) });
        };
        match found.kind {
            ExprKind::Column(slot) if slot < first => Ok(Expr::slot(slot + first, found.data_type, true)),
            _ => Err(Error::not_yet("VALUES() here")),
        }
    }
}

impl Binder<'_, '_> {
    /// Whether an aggregate of these belongs to a block around the innermost: they name its columns, none of the innermost,
    /// and it may have aggregates where the query stands. (The manual, "Aggregate Function Descriptions", of the standard's
    /// outer references.)
    fn is_of_block_around(&self, arguments: &[Expr]) -> bool {
        let (mut names_own, mut level) = (false, None);
        arguments.iter().for_each(|argument| named_levels(argument, &mut names_own, &mut level));
        let around = level.and_then(|level: u32| self.blocks.iter().rev().nth(level as usize + 1));
        !names_own && around.is_some_and(|block| block.may_aggregate)
    }

    /// Binds a query inside of an expression.
    fn subquery_of(&mut self, query: &ast::Query<'_>) -> Result<BoundSubquery> {
        if query.into.is_some() {
            return Err(Error::new(ER_MISPLACED_INTO, &[]));
        }
        let facts = self.facts;
        let mut inner = Binder {
            facts,
            tables: &mut *self.tables,
            blocks: std::mem::take(&mut self.blocks),
            subqueries: std::mem::take(&mut self.subqueries),
            common: self.common.clone(),
            outermost_named: usize::MAX,
            used: std::mem::take(&mut self.used),
            inserted_from: self.inserted_from,
            depends_on_literals: self.depends_on_literals,
            changed: std::mem::take(&mut self.changed),
            derived_around: self.derived_around,
            subqueries_around: self.subqueries_around + 1,
            reads_changed: self.reads_changed,
            could_join: false,
            deprecated: std::mem::take(&mut self.deprecated),
            constants: self.constants,
            wants_unplanned: std::mem::take(&mut self.wants_unplanned),
            wants_set: std::mem::take(&mut self.wants_set),
            unplanned: Vec::new(),
            in_queries: Vec::new(),
            exists_queries: Vec::new(),
            wants_block: false,
            kept_block: None,
            workings: Rc::clone(&self.workings),
        };
        let depth = inner.blocks.len();
        let named_before = inner.blocks.last().map_or(0, |block| block.named_inside.len());
        let bound = inner.query(query);
        let named = inner.outermost_named;
        self.unplanned = inner.unplanned;
        self.depends_on_literals = inner.depends_on_literals;
        self.reads_changed = inner.reads_changed;
        self.deprecated = inner.deprecated;
        self.constants = inner.constants;
        self.changed = inner.changed;
        (self.blocks, self.subqueries, self.used) = (inner.blocks, inner.subqueries, inner.used);
        self.outermost_named = self.outermost_named.min(named);
        let plan = bound?;
        // What may have other rows each time is run for each row, as if it looked at it.
        let is_repeatable = plan.is_repeatable();
        let is_correlated = named < depth || !is_repeatable;
        let has_one_row_at_most = plan.has_one_row_at_most();
        let columns = plan.columns.iter().map(|column| column.of_query()).collect();
        self.subqueries.push(Subquery { plan, is_correlated, by_value: None });
        let number = self.subqueries.len() as u32 - 1;
        let looks_at = self.blocks.last().map_or(&[][..], |block| &block.named_inside[named_before..]).into();
        let is_of_nearest_row = depth.checked_sub(1) == Some(named);
        Ok(BoundSubquery {
            number,
            is_correlated,
            looks_at,
            is_repeatable,
            is_of_nearest_row,
            has_one_row_at_most,
            columns,
        })
    }
}

/// Whether columns of the innermost block are named, and the innermost one around it of which some are.
fn named_levels(expr: &Expr, names_own: &mut bool, nearest: &mut Option<u32>) {
    match expr.kind {
        ExprKind::Column(_) => *names_own = true,
        ExprKind::Outer { level, .. } => *nearest = Some(nearest.map_or(level, |nearest| nearest.min(level))),
        _ => {}
    }
    expr.operands(&mut |operand| named_levels(operand, names_own, nearest));
}
