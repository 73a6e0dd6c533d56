//! From a query's tree to its plan: what names mean, which rows are read where, in which order.
//!
//! ```text
//!   FROM      sources, a tree of joins with their conditions        block: what names mean from here on
//!   WHERE     conjuncts                                              (join: orders sources, puts each condition where
//!   GROUP BY, items, HAVING, ORDER BY    over slots and aggregates    it can be asked first, chooses accesses)
//! ```
//!
//! # Source
//! The manual, "SELECT Statement", "Problems with Column Aliases", "MySQL Handling of GROUP BY".

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use meseta_engine::ids::TableId;
use meseta_errors::{
    ER_AGGREGATE_ORDER_NON_AGG_QUERY, ER_BAD_FIELD_ERROR, ER_BAD_TABLE_ERROR, ER_DUPLICATE_TABLE_LOCK,
    ER_INVALID_GROUP_FUNC_USE, ER_MISPLACED_INTO, ER_NO_DEFAULT_FOR_FIELD, ER_NO_TABLES_USED, ER_NONUNIQ_TABLE,
    ER_TABLENAME_NOT_ALLOWED_HERE, ER_UNRESOLVED_TABLE_LOCK, ER_WRONG_GROUP_FIELD,
    ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
};
use meseta_errors::{ER_WARN_DEPRECATED_SYNTAX, ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT};
use meseta_parser::ast::{self, ExpressionKind, QueryBody, SelectItem};
use meseta_types::{DataType, SqlError};

use super::full_group::{Checked, Likeness, Named};
use super::join::Planner;
use super::plan::{
    Body, GroupPlan, LimitPlan, LockingPlan, Origin, OutputColumn, QueryPlan, SelectPlan, SetPlan, SortKey, Source,
    SourceKind, Subquery, is_ordered_by_items,
};
use super::rollup;
use super::scope::{Block, NamedSource, SourceColumn, resolve, same_name, shown, slot as slot_of};
use super::statistics::TableStatistics;
use super::table::KnownTable;
use crate::error::{Error, Result};
use crate::expression::aggregate::{AggregateCall, bind_aggregate};
use crate::expression::{BindFacts, BoundSubquery, Expr, ExprKind, ResolvedColumn, Scope, SystemVariable, Value, bind};
use crate::schema::ColumnDefault;
use crate::schema::information::VirtualTable;

/// A table that a name means.
pub enum FoundTable {
    /// A table with rows.
    Table(Arc<KnownTable>),
    /// One that is made up.
    Virtual(&'static dyn VirtualTable),
}

/// So many tables may be joined.
pub(super) const TABLES: usize = 61;

/// Where tables come from.
pub trait Tables {
    /// The table of this name. Errors: 1046 (no database), 1049, 1146.
    fn table(&mut self, database: Option<&str>, name: &str) -> Result<FoundTable>;

    /// Whether the session may use a table under this name: to change it, or to lock its rows as if it did. Errors: 1099,
    /// 1100, 1223 (LOCK TABLES), 1399, 1614 (XA), 1792.
    fn permit(&mut self, _table: &KnownTable, _alias: &str, _changes: bool) -> Result<()> {
        Ok(())
    }

    /// How rows are locked that a statement does not say to lock.
    fn default_locking(&self) -> Option<LockingPlan> {
        None
    }

    /// What a table looks like.
    fn statistics(&mut self, table: &KnownTable) -> Arc<TableStatistics>;

    /// The database of tables that are named without one.
    fn database(&self) -> Option<&str>;

    /// The type of a user variable, if it has a value.
    fn user_variable(&mut self, name: &str) -> Option<DataType>;

    /// The type of a system variable, and whether it is NULL. Errors: 1193, 1238.
    fn system_variable(&mut self, variable: &SystemVariable) -> Result<(DataType, bool)>;
}

/// A table of WITH.
#[derive(Clone)]
pub(super) struct CommonTable<'a> {
    pub(super) definition: &'a ast::CommonTable<'a>,
    /// How many blocks are around it.
    pub(super) depth: usize,
    /// Of WITH RECURSIVE.
    pub(super) is_recursive: bool,
    /// What it means inside of its own definition.
    pub(super) recursion: Recursion,
}

/// What a table of WITH RECURSIVE means inside of its own definition.
#[derive(Clone)]
pub(super) enum Recursion {
    /// What it means elsewhere.
    None,
    /// Nothing: where its first rows come from.
    Seeds,
    /// The rows that came last.
    Steps { working: usize, columns: Arc<[OutputColumn]>, reads: Rc<Cell<u32>> },
}

/// Binds a statement's queries.
pub struct Binder<'a, 't> {
    /// What expressions are bound with.
    pub facts: BindFacts<'a>,
    /// Where tables come from.
    pub tables: &'t mut dyn Tables,
    /// The blocks around what is being bound, the innermost last.
    pub blocks: Vec<Block>,
    /// Queries inside of the statement's expressions.
    pub subqueries: Vec<Subquery>,
    pub(super) common: Vec<CommonTable<'a>>,
    /// How many recursive tables have been met.
    pub(super) workings: Rc<Cell<usize>>,
    /// The outermost block of which a column has been named from inside, since this was last set.
    outermost_named: usize,
    /// Tables that the statement uses.
    pub used: Vec<Arc<KnownTable>>,
    /// In ON DUPLICATE KEY UPDATE: the first slot of the row that was to be inserted.
    pub inserted_from: Option<u32>,
    /// Values of literals have decided what the plan is.
    pub depends_on_literals: bool,
    /// Tables whose rows the statement changes, by what it calls them: its subqueries must not read them.
    pub changed: Vec<(TableId, String)>,
    /// How many derived tables are around what is being bound, inside of a subquery.
    pub(super) derived_around: usize,
    /// How many subqueries are.
    pub(super) subqueries_around: usize,
    /// A table that is changed is read, in a derived table.
    pub reads_changed: bool,
    /// What has been met that is deprecated.
    pub deprecated: Vec<Deprecated>,
    /// What names mean in the next SELECT is to be kept: ON DUPLICATE KEY UPDATE may name its columns.
    pub wants_block: bool,
    /// What has been kept.
    pub kept_block: Option<Block>,
}

/// What is accepted still, with a warning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum Deprecated {
    CalcFoundRows,
    FoundRows,
    NoCache,
    Assignment,
    Values,
    ValuesInDuplicate,
}

impl Deprecated {
    /// The warning.
    pub fn warning(self) -> SqlError {
        let gone = "is deprecated and will be removed in a future release.";
        let replaced = |text: String| SqlError::new(ER_WARN_DEPRECATED_SYNTAX.0, text);
        let alone = |what: &str| SqlError::new(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.0, format!("'{what}' {gone}"));
        match self {
            Self::CalcFoundRows => {
                replaced(format!("SQL_CALC_FOUND_ROWS {gone} Consider using two separate queries instead."))
            }
            Self::FoundRows => replaced(format!("FOUND_ROWS() {gone} Consider using COUNT(*) instead.")),
            Self::NoCache => alone("SQL_NO_CACHE"),
            Self::Assignment => replaced(format!(
                "Setting user variables within expressions {gone} Consider alternatives: 'SET variable=expression, \
                 ...', or 'SELECT expression(s) INTO variables(s)'."
            )),
            Self::Values => alone("VALUES function"),
            Self::ValuesInDuplicate => replaced(format!(
                "'VALUES function' {gone} Please use an alias (INSERT INTO ... VALUES (...) AS alias) and replace \
                 VALUES(col) in the ON DUPLICATE KEY UPDATE clause with alias.col instead"
            )),
        }
    }
}

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

impl<'a, 't> Binder<'a, 't> {
    /// A binder that has bound nothing.
    pub fn new(facts: BindFacts<'a>, tables: &'t mut dyn Tables) -> Self {
        Self {
            facts,
            tables,
            blocks: Vec::new(),
            subqueries: Vec::new(),
            common: Vec::new(),
            outermost_named: usize::MAX,
            used: Vec::new(),
            inserted_from: None,
            depends_on_literals: false,
            changed: Vec::new(),
            derived_around: 0,
            subqueries_around: 0,
            reads_changed: false,
            deprecated: Vec::new(),
            wants_block: false,
            kept_block: None,
            workings: Rc::default(),
        }
    }

    /// Forgets what has been bound of a statement, which is bound anew.
    pub fn begin_again(&mut self) {
        self.blocks.clear();
        self.subqueries.clear();
        self.common.clear();
        self.used.clear();
    }

    /// Binds an expression in the innermost block.
    pub fn expression(&mut self, expression: &'a ast::Expression<'a>, place: Place<'_>) -> Result<Expr> {
        let facts = self.facts;
        let bound = bind(expression, &mut Standing { binder: self, place }, &facts)?;
        self.note_deprecated(&bound);
        Ok(bound)
    }

    /// Binds a query.
    pub fn query(&mut self, query: &'a ast::Query<'a>) -> Result<QueryPlan> {
        crate::stack::check()?;
        let outside = self.common.len();
        if let Some(with) = query.with {
            self.with(with)?;
        }
        let plan = self.query_inside(query);
        self.common.truncate(outside);
        plan
    }

    /// Tables of WITH: names mean them from here on. Error 1066: two of one name.
    pub fn with(&mut self, with: &'a ast::With<'a>) -> Result<()> {
        let depth = self.blocks.len();
        for (at, definition) in with.tables.iter().enumerate() {
            if with.tables[..at].iter().any(|other| other.name.text.0 == definition.name.text.0) {
                return Err(Error::new(ER_NONUNIQ_TABLE, &[&text_of(definition.name.text.0)]));
            }
            let recursion = Recursion::None;
            self.common.push(CommonTable { definition, depth, is_recursive: with.recursive, recursion });
        }
        Ok(())
    }

    fn query_inside(&mut self, query: &'a ast::Query<'a>) -> Result<QueryPlan> {
        let limit = self.limit_of(query)?;
        match query.body {
            QueryBody::Select(select) => {
                let (plan, columns) = self.select(select, query, limit.is_some())?;
                Ok(QueryPlan { limit, ..QueryPlan::new(Body::Select(Box::new(plan)), columns) })
            }
            QueryBody::Parenthesised(inner) if query.order_by.is_empty() && limit.is_none() => self.query(inner),
            body => {
                let mut plan = self.body(body)?;
                let columns = plan.columns.clone();
                plan = QueryPlan::new(wrap(plan), columns);
                plan.order = self.order_of_columns(query, &plan.columns)?;
                plan.limit = limit;
                Ok(plan)
            }
        }
    }

    /// LIMIT of a query.
    pub(super) fn limit_of(&mut self, query: &'a ast::Query<'a>) -> Result<Option<LimitPlan>> {
        let Some(limit) = &query.limit else { return Ok(None) };
        let count = self.expression(&limit.count, Place::plain("LIMIT"))?;
        let offset = limit.offset.as_ref().map(|offset| self.expression(offset, Place::plain("LIMIT"))).transpose()?;
        let counts_all = matches!(query.body, QueryBody::Select(select) if select.options.sql_calc_found_rows);
        Ok(Some(LimitPlan { count, offset, counts_all }))
    }

    pub(super) fn body(&mut self, body: QueryBody<'a>) -> Result<QueryPlan> {
        crate::stack::check()?;
        match body {
            QueryBody::Select(select) => {
                let (plan, columns) = self.select_alone(select)?;
                Ok(QueryPlan::new(Body::Select(Box::new(plan)), columns))
            }
            QueryBody::Parenthesised(query) => self.query(query),
            QueryBody::Values(rows) => self.values(rows),
            QueryBody::Table(name) => self.whole_table(&name),
            QueryBody::SetOperation(set) => {
                let left = self.body(set.left)?;
                let right = self.body(set.right)?;
                if left.columns.len() != right.columns.len() {
                    return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
                }
                let columns = super::set_operation::columns(&left.columns, &right.columns, set.operator)?;
                let slots = super::set_operation::slots(&columns);
                let set = SetPlan { operator: set.operator, all: set.all, sides: [left, right], columns: slots };
                Ok(QueryPlan::new(Body::SetOperation(Box::new(set)), columns))
            }
        }
    }

    fn values(&mut self, rows: ast::List<'a, ast::List<'a, ast::Expression<'a>>>) -> Result<QueryPlan> {
        let mut bound: Vec<Vec<Expr>> = Vec::new();
        for row in rows.iter() {
            let row = row.iter().map(|value| self.expression(value, Place::plain("field list")));
            bound.push(row.collect::<Result<_>>()?);
        }
        let width = bound.first().map_or(0, Vec::len);
        if let Some(odd) = bound.iter().position(|row| row.len() != width) {
            return Err(Error::new(meseta_errors::ER_WRONG_VALUE_COUNT_ON_ROW, &[&(odd + 1)]));
        }
        let mut columns: Vec<OutputColumn> = Vec::new();
        for (number, row) in bound.iter().enumerate() {
            let row = row.iter().enumerate().map(|(at, value)| OutputColumn {
                name: format!("column_{at}").into_bytes().into(),
                origin: None,
                data_type: value.data_type.clone(),
                nullable: value.nullable,
            });
            let row: Vec<OutputColumn> = row.collect();
            columns = match number {
                0 => row,
                _ => super::set_operation::columns(&columns, &row, ast::SetOperator::Union)?,
            };
        }
        columns.iter_mut().for_each(|column| column.origin = None);
        for row in &mut bound {
            row.iter_mut().zip(&columns).for_each(|(value, column)| value.conform_to(&column.data_type));
        }
        Ok(QueryPlan::new(Body::Values(bound), columns))
    }

    /// ORDER BY of a set operation: over its columns. Errors: 1250 (a table's name), 1054.
    fn order_of_columns(&mut self, query: &'a ast::Query<'a>, columns: &[OutputColumn]) -> Result<Vec<SortKey>> {
        let slots = super::set_operation::slots(columns);
        let source = NamedSource {
            database: Box::from(""),
            alias: Box::from(""),
            first_slot: 0,
            columns: columns
                .iter()
                .map(|column| SourceColumn {
                    name: text_of(&column.name).into(),
                    data_type: column.data_type.clone(),
                    nullable: column.nullable,
                    origin: None,
                    is_hidden: false,
                })
                .collect(),
            is_outer: false,
            merged: Vec::new(),
        };
        let mut order = Vec::new();
        for item in query.order_by.iter() {
            if let ExpressionKind::Column(ast::ColumnName { table: Some(table), .. }) = item.expression.kind {
                let place = "global ORDER clause";
                return Err(Error::new(ER_TABLENAME_NOT_ALLOWED_HERE, &[&text_of(table.text.0), &place]));
            }
            let value = match position_of(&item.expression) {
                Some(number) => slots[in_list(number, columns.len(), "order clause")?].clone(),
                None => {
                    self.push_source(source.clone());
                    let bound = self.expression(&item.expression, Place::plain("order clause"));
                    self.blocks.pop();
                    bound?
                }
            };
            order.push(SortKey { value, descending: item.descending });
        }
        Ok(order)
    }

    /// `TABLE t`.
    fn whole_table(&mut self, name: &ast::ObjectName<'a>) -> Result<QueryPlan> {
        self.blocks.push(Block::default());
        let bound = self.whole_table_inside(name);
        self.blocks.pop();
        bound
    }

    fn whole_table_inside(&mut self, name: &ast::ObjectName<'a>) -> Result<QueryPlan> {
        let mut sources = Vec::new();
        let joined = self.table(name, None, &[], &mut sources, &[])?;
        let (mut items, mut columns) = (Vec::new(), Vec::new());
        self.star(None, &joined.columns, &mut items, &mut columns)?;
        let width = self.block().width();
        let used = self.block().used.clone();
        let mut planner = Planner { sources: &mut sources, tables: self.tables, used: &used };
        let planned = planner.plan(Some(joined.tree), Vec::new(), false)?;
        let names = self.block().names();
        let plan = SelectPlan {
            hashes: planned.hashes,
            names,
            sources,
            join: planned.join,
            constant: planned.constant,
            width,
            items,
            ..SelectPlan::nothing()
        };
        Ok(QueryPlan::new(Body::Select(Box::new(plan)), columns))
    }

    // ---- SELECT -----------------------------------------------------------------------------------------------------

    fn select_alone(&mut self, select: &'a ast::Select<'a>) -> Result<(SelectPlan, Vec<OutputColumn>)> {
        self.select_with(select, &[], &[], false)
    }

    fn select(
        &mut self,
        select: &'a ast::Select<'a>,
        query: &'a ast::Query<'a>,
        is_limited: bool,
    ) -> Result<(SelectPlan, Vec<OutputColumn>)> {
        self.select_with(select, query.order_by, query.locking, is_limited)
    }

    fn select_with(
        &mut self,
        select: &'a ast::Select<'a>,
        order_by: &'a [ast::OrderItem<'a>],
        locking: &'a [ast::Locking<'a>],
        is_limited: bool,
    ) -> Result<(SelectPlan, Vec<OutputColumn>)> {
        self.blocks.push(Block::default());
        let bound = self.select_inside(select, order_by, locking, is_limited);
        self.blocks.pop();
        bound
    }

    fn select_inside(
        &mut self,
        select: &'a ast::Select<'a>,
        order_by: &'a [ast::OrderItem<'a>],
        locking: &'a [ast::Locking<'a>],
        is_limited: bool,
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
            Some(condition) => self.expression(condition, Place::plain("where clause"))?.conjuncts(),
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
            having = self.expression(condition, place)?.conjuncts();
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
            takes_first: false,
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
        if wants_block && group.is_none() && !select.options.distinct {
            let all = 0..first_slot as u32;
            self.block().used.extend(all);
            self.kept_block = Some(self.block().clone());
        }
        let named_beside_where = self.block().used.clone();
        self.block().used.extend(named_in_where);
        let used = self.block().used.clone();
        let mut planner = Planner { sources: &mut sources, tables: self.tables, used: &used };
        let keeps_order = select.options.straight_join;
        let planned = planner.plan(tree, conditions, keeps_order)?;
        let is_sorted = !order.is_empty();
        match &mut group {
            None if !select.options.distinct => planner.use_order(&planned.join, &mut order, is_limited),
            Some(group) if group.keys.is_empty() => planner.use_end(&planned.join, group),
            _ => {}
        }
        planner.spare_columns(&planned.join, named_beside_where);
        let hashes = planned.hashes;
        let names = self.block().names();
        let plan = SelectPlan {
            is_ordered: is_sorted && order.is_empty(),
            hashes,
            names,
            sources,
            join: planned.join,
            constant: planned.constant,
            width,
            group,
            having,
            distinct: select.options.distinct,
            is_ordered_by_items: select.options.distinct && is_ordered_by_items(&order, &items),
            late_items: !select.options.distinct && !order.is_empty() && items.iter().any(assigns),
            order,
            items,
        };
        Ok((plan, columns))
    }

    /// Whether rows come in the order of an index by the first key, and need not be kept to be grouped.
    fn is_indexed(&self, keys: &[Expr], sources: &[Source]) -> bool {
        let Some(slot) = keys.first().and_then(Expr::as_column) else { return false };
        let slot = slot as usize;
        let found = sources.iter().rfind(|source| source.first_slot <= slot);
        let Some(Source { kind: SourceKind::Table(table), first_slot, .. }) = found else { return false };
        let is_first = |index: &crate::schema::Index| {
            index.parts.first().is_some_and(|part| usize::from(part.column) == slot - first_slot)
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

    fn block(&mut self) -> &mut Block {
        self.blocks.last_mut().expect("a SELECT has a block")
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
                    let name = own.as_deref().or(item.name(self.facts.text)).unwrap_or_default();
                    self.check_name(item);
                    columns.push(OutputColumn {
                        name: name.into(),
                        origin: value.as_column().and_then(|slot| self.origin_of(slot)),
                        data_type: value.data_type.clone(),
                        nullable: value.nullable,
                    });
                    items.push(value);
                }
            }
        }
        Ok((items, columns))
    }

    /// The name of a column of information_schema, whose columns are called what they are called there.
    fn own_name_of(&mut self, slot: u32) -> Option<Vec<u8>> {
        let slot = slot as usize;
        let source = self.block().sources.iter().rfind(|source| source.first_slot <= slot)?;
        let is_own = source.database.eq_ignore_ascii_case("information_schema");
        let column = source.columns.get(slot - source.first_slot).filter(|_| is_own)?;
        Some(column.name.as_bytes().to_vec())
    }

    /// A name that has values of literals in it is for this statement alone.
    fn check_name(&mut self, item: &SelectItem<'a>) {
        let SelectItem::Expression { alias: None, span, .. } = item else { return };
        let is_inside = |lifted: &meseta_parser::Lifted| span.start <= lifted.span.start && lifted.span.end <= span.end;
        self.depends_on_literals |= self.facts.lifted.iter().any(is_inside);
    }

    /// Notes what is deprecated in an expression.
    fn note_deprecated(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::SetUserVariable(..) => self.deprecated.push(Deprecated::Assignment),
            ExprKind::Call(call) if call.function.name == "found_rows" => self.deprecated.push(Deprecated::FoundRows),
            _ => {}
        }
        expr.operands(&mut |operand| self.note_deprecated(operand));
    }

    fn origin_of(&mut self, slot: u32) -> Option<Origin> {
        let slot = slot as usize;
        let source = self.block().sources.iter().rfind(|source| source.first_slot <= slot)?;
        source.columns.get(slot - source.first_slot)?.origin.clone()
    }

    /// `*`, `t.*`
    fn star(
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
            items.push(slot_of(slot, column.data_type.clone(), nullable));
            columns.push(OutputColumn {
                name: column.name.as_bytes().into(),
                origin: column.origin.clone(),
                data_type: column.data_type.clone(),
                nullable,
            });
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
            let written = || text_of(self.facts.text.get(span.start as usize..span.end as usize).unwrap_or_default());
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
                let text = text_of(self.facts.text.get(span.start as usize..span.end as usize).unwrap_or_default());
                return Err(Error::new(ER_WRONG_GROUP_FIELD, &[&text]));
            }
            keys.push(key);
        }
        Ok((keys, rollup))
    }
}

/// Whether an expression sets variables.
fn assigns(expr: &Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::SetUserVariable(..));
    expr.operands(&mut |operand| found = found || assigns(operand));
    found
}

/// A query under an ORDER BY or LIMIT around it.
fn wrap(plan: QueryPlan) -> Body {
    match plan.limit.is_some() || !plan.order.is_empty() {
        true => Body::Nested(Box::new(plan)),
        false => plan.body,
    }
}

/// Whether all its functions have the same value for all rows of a statement, and no variable is set.
fn is_volatile_free(expr: &Expr) -> bool {
    let mut stable = match &expr.kind {
        ExprKind::Call(call) => call.function.is_stable(),
        ExprKind::UserVariable(_) | ExprKind::SetUserVariable(..) => false,
        _ => true,
    };
    expr.operands(&mut |operand| stable = stable && is_volatile_free(operand));
    stable
}

/// `ORDER BY 2`: the number.
fn position_of(expression: &ast::Expression<'_>) -> Option<i128> {
    match expression.kind {
        ExpressionKind::Literal(ast::Literal::Integer(_)) => expression.as_integer(),
        _ => None,
    }
}

fn in_list(number: i128, len: usize, place: &'static str) -> Result<usize> {
    match usize::try_from(number) {
        Ok(number) if (1..=len).contains(&number) => Ok(number - 1),
        _ => Err(Error::new(ER_BAD_FIELD_ERROR, &[&number, &place])),
    }
}

/// A name as text.
pub fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Binds in the innermost block, at a place.
struct Standing<'s, 'a, 't, 'p> {
    binder: &'s mut Binder<'a, 't>,
    place: Place<'p>,
}

impl Standing<'_, '_, '_, '_> {
    fn alias(&self, name: &ast::ColumnName<'_>) -> Option<ResolvedColumn> {
        let (aliases, _) = self.place.aliases.as_ref()?;
        if name.table.is_some() {
            return None;
        }
        let (_, found) = aliases.iter().find(|(alias, _)| same_name(alias, name.column.text.0))?;
        Some(ResolvedColumn { kind: found.kind.clone(), data_type: found.data_type.clone(), nullable: found.nullable })
    }
}

impl Standing<'_, '_, '_, '_> {
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
                Err(Error::new(ER_BAD_FIELD_ERROR, &[&shown(name), &self.place.name]))
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
        let mut inside = Standing { binder: &mut *self.binder, place: Place::plain("field list") };
        let call = bind_aggregate(aggregate, &mut inside, &facts)?;
        if self.binder.is_of_block_around(&call.arguments) {
            return Err(Error::not_yet("an aggregate of the query around a subquery"));
        }
        let slot = (self.place.first_slot + aggregates.len()) as u32;
        let value = slot_of(slot, call.data_type.clone(), call.nullable);
        aggregates.push(call);
        Ok(value)
    }

    fn subquery(&mut self, query: &ast::Query<'_>) -> Result<BoundSubquery> {
        if let Some(block) = self.binder.blocks.last_mut() {
            block.may_aggregate = self.place.aggregates.is_some();
        }
        self.binder.subquery_of(query)
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
        let slot = slot as usize;
        let source = self.binder.blocks[at].sources.iter().rfind(|source| source.first_slot <= slot);
        let origin = source.and_then(|source| source.columns.get(slot - source.first_slot)?.origin.clone());
        let Some(origin) = origin.filter(|origin| !origin.table.is_empty()) else {
            return Err(Error::new(ER_NO_DEFAULT_FOR_FIELD, &[&shown(name)]));
        };
        let FoundTable::Table(table) = self.binder.tables.table(Some(&origin.database), &origin.table)? else {
            return Err(Error::new(ER_NO_DEFAULT_FOR_FIELD, &[&origin.name]));
        };
        let column = &table.columns[origin.column];
        let value = match &column.default {
            ColumnDefault::Literal(value) => {
                let context = meseta_types::Context::default();
                Value::new(super::access::loaded(value.as_value(), &column.data_type, &context))
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
            ExprKind::Column(slot) if slot < first => Ok(slot_of(slot + first, found.data_type, true)),
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
            deprecated: std::mem::take(&mut self.deprecated),
            wants_block: false,
            kept_block: None,
            workings: Rc::clone(&self.workings),
        };
        let depth = inner.blocks.len();
        let bound = inner.query(query);
        let named = inner.outermost_named;
        self.depends_on_literals = inner.depends_on_literals;
        self.reads_changed = inner.reads_changed;
        self.deprecated = inner.deprecated;
        self.changed = inner.changed;
        (self.blocks, self.subqueries, self.used) = (inner.blocks, inner.subqueries, inner.used);
        self.outermost_named = self.outermost_named.min(named);
        let plan = bound?;
        // What may have other rows each time is run for each row, as if it looked at it.
        let mut is_repeatable = true;
        plan.expressions(&mut |expr| is_repeatable = is_repeatable && is_volatile_free(expr));
        let is_correlated = named < depth || !is_repeatable;
        let columns = plan.columns.iter().map(|column| (column.data_type.clone(), column.nullable)).collect();
        self.subqueries.push(Subquery { plan, is_correlated });
        Ok(BoundSubquery { number: self.subqueries.len() as u32 - 1, is_correlated, columns })
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

/// Binds an expression that stands alone, outside of a query: SET, DO. Returns the queries inside of it, too.
pub fn bind_alone<'a>(
    expression: &'a ast::Expression<'a>,
    facts: BindFacts<'a>,
    tables: &mut dyn Tables,
    place: Place<'_>,
) -> Result<(Expr, Vec<Subquery>)> {
    let mut binder = Binder::new(facts, tables);
    binder.blocks.push(Block::default());
    let bound = binder.expression(expression, place)?;
    Ok((bound, binder.subqueries))
}
