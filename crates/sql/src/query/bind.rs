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

use std::sync::Arc;

use meseta_errors::{
    ER_BAD_FIELD_ERROR, ER_BAD_TABLE_ERROR, ER_DERIVED_MUST_HAVE_ALIAS, ER_DUPLICATE_TABLE_LOCK,
    ER_INVALID_GROUP_FUNC_USE, ER_NO_TABLES_USED, ER_NONUNIQ_TABLE, ER_TOO_MANY_TABLES, ER_UNRESOLVED_TABLE_LOCK,
    ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
};
use meseta_parser::ast::{self, ExpressionKind, QueryBody, SelectItem, TableReference};
use meseta_types::DataType;

use super::join::{Planner, Tree};
use super::plan::{
    Body, GroupPlan, LimitPlan, LockingPlan, Origin, OutputColumn, QueryPlan, SelectPlan, SetPlan, SortKey, Source,
    SourceKind, SourceName, Subquery, TableSource,
};
use super::scope::{Block, NamedSource, SourceColumn, equal, resolve, same_name, shown, slot as slot_of};
use super::table::KnownTable;
use crate::error::{Error, Result};
use crate::expression::aggregate::{AggregateCall, bind_aggregate};
use crate::expression::{BindFacts, BoundSubquery, Expr, ExprKind, ResolvedColumn, Scope, SystemVariable, bind};
use crate::schema::information::VirtualTable;

/// A table that a name means.
pub enum FoundTable {
    /// A table with rows.
    Table(Arc<KnownTable>),
    /// One that is made up.
    Virtual(&'static dyn VirtualTable),
}

/// So many tables may be joined.
const TABLES: usize = 61;

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

    /// About how many rows a table has.
    fn rows(&mut self, table: &KnownTable) -> u64;

    /// The database of tables that are named without one.
    fn database(&self) -> Option<&str>;

    /// The type of a user variable, if it has a value.
    fn user_variable(&mut self, name: &str) -> Option<DataType>;

    /// The type of a system variable, and whether it is NULL. Errors: 1193, 1238.
    fn system_variable(&mut self, variable: &SystemVariable) -> Result<(DataType, bool)>;
}

/// A table of WITH.
#[derive(Clone)]
struct CommonTable<'a> {
    definition: &'a ast::CommonTable<'a>,
    /// How many blocks are around it.
    depth: usize,
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
    common: Vec<CommonTable<'a>>,
    /// The outermost block of which a column has been named from inside, since this was last set.
    outermost_named: usize,
    /// Tables that the statement uses.
    pub used: Vec<Arc<KnownTable>>,
    /// In ON DUPLICATE KEY UPDATE: the first slot of the row that was to be inserted.
    pub inserted_from: Option<u32>,
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
        Place { name, aggregates: None, first_slot: 0, aliases: None }
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
        }
    }

    /// Binds an expression in the innermost block.
    pub fn expression(&mut self, expression: &'a ast::Expression<'a>, place: Place<'_>) -> Result<Expr> {
        let facts = self.facts;
        bind(expression, &mut Standing { binder: self, place }, &facts)
    }

    /// Binds a query.
    pub fn query(&mut self, query: &'a ast::Query<'a>) -> Result<QueryPlan> {
        crate::stack::check()?;
        let outside = self.common.len();
        if let Some(with) = query.with {
            if with.recursive {
                return Err(Error::not_yet("WITH RECURSIVE"));
            }
            let depth = self.blocks.len();
            self.common.extend(with.tables.iter().map(|definition| CommonTable { definition, depth }));
        }
        let plan = self.query_inside(query);
        self.common.truncate(outside);
        plan
    }

    fn query_inside(&mut self, query: &'a ast::Query<'a>) -> Result<QueryPlan> {
        let limit = match &query.limit {
            None => None,
            Some(limit) => Some(LimitPlan {
                count: self.expression(&limit.count, Place::plain("LIMIT"))?,
                offset: limit
                    .offset
                    .as_ref()
                    .map(|offset| self.expression(offset, Place::plain("LIMIT")))
                    .transpose()?,
            }),
        };
        match query.body {
            QueryBody::Select(select) => {
                let (plan, columns) = self.select(select, query, limit.is_some())?;
                Ok(QueryPlan { body: Body::Select(Box::new(plan)), columns, order: Vec::new(), limit })
            }
            QueryBody::Parenthesised(inner) if query.order_by.is_empty() && limit.is_none() => self.query(inner),
            body => {
                let mut plan = self.body(body)?;
                plan = QueryPlan { limit: None, order: Vec::new(), columns: plan.columns.clone(), body: wrap(plan) };
                plan.order = self.order_of_columns(query, &plan.columns)?;
                plan.limit = limit;
                Ok(plan)
            }
        }
    }

    fn body(&mut self, body: QueryBody<'a>) -> Result<QueryPlan> {
        crate::stack::check()?;
        match body {
            QueryBody::Select(select) => {
                let (plan, columns) = self.select_alone(select)?;
                Ok(QueryPlan { body: Body::Select(Box::new(plan)), columns, order: Vec::new(), limit: None })
            }
            QueryBody::Parenthesised(query) => self.query(query),
            QueryBody::Values(rows) => self.values(rows),
            QueryBody::Table(_) => Err(Error::not_yet("TABLE")),
            QueryBody::SetOperation(set) => {
                let left = self.body(set.left)?;
                let right = self.body(set.right)?;
                if left.columns.len() != right.columns.len() {
                    return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
                }
                let columns = super::set_operation::columns(&left.columns, &right.columns)?;
                let set = SetPlan {
                    operator: set.operator,
                    all: set.all,
                    sides: [left, right],
                    types: columns.iter().map(|column| column.data_type.clone()).collect(),
                };
                Ok(QueryPlan { body: Body::SetOperation(Box::new(set)), columns, order: Vec::new(), limit: None })
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
        let columns = (0..width)
            .map(|at| OutputColumn {
                name: format!("column_{at}").into_bytes().into(),
                origin: None,
                data_type: bound[0][at].data_type.clone(),
                nullable: true,
            })
            .collect();
        Ok(QueryPlan { body: Body::Values(bound), columns, order: Vec::new(), limit: None })
    }

    /// ORDER BY of a set operation: by its columns' names and numbers.
    fn order_of_columns(&mut self, query: &'a ast::Query<'a>, columns: &[OutputColumn]) -> Result<Vec<SortKey>> {
        let mut order = Vec::new();
        for item in query.order_by.iter() {
            let at = match position_of(&item.expression) {
                Some(number) => in_list(number, columns.len(), "order clause")?,
                None => match item.expression.kind {
                    ExpressionKind::Column(name) => columns
                        .iter()
                        .position(|column| same_name(&column.name, name.column.text.0))
                        .ok_or_else(|| Error::new(ER_BAD_FIELD_ERROR, &[&shown(name), &"order clause"]))?,
                    _ => return Err(Error::not_yet("an expression in ORDER BY of a set operation")),
                },
            };
            let value = slot_of(at as u32, columns[at].data_type.clone(), columns[at].nullable);
            order.push(SortKey { value, descending: item.descending });
        }
        Ok(order)
    }

    // ---- FROM -------------------------------------------------------------------------------------------------------

    fn from(
        &mut self,
        list: &'a [TableReference<'a>],
        sources: &mut Vec<Source>,
        locking: &[ast::Locking<'a>],
    ) -> Result<Option<Tree>> {
        let mut trees = Vec::new();
        for reference in list {
            trees.push(self.reference(reference, sources, locking)?);
        }
        Ok(match trees.len() {
            0 => None,
            1 => trees.pop(),
            _ => Some(Tree::Inner { inputs: trees, conditions: Vec::new(), keeps_order: false }),
        })
    }

    fn reference(
        &mut self,
        reference: &'a TableReference<'a>,
        sources: &mut Vec<Source>,
        locking: &[ast::Locking<'a>],
    ) -> Result<Tree> {
        if sources.len() >= TABLES {
            return Err(Error::new(ER_TOO_MANY_TABLES, &[&TABLES]));
        }
        match reference {
            TableReference::Table(table) => self.table(table, sources, locking),
            TableReference::Derived(derived) => self.derived(derived, sources),
            TableReference::Parenthesised(list) => {
                Ok(self.from(list, sources, locking)?.expect("the parser gives at least one"))
            }
            TableReference::Join(join) => self.join(join, sources, locking),
            TableReference::JsonTable(_) => Err(Error::not_yet("JSON_TABLE")),
        }
    }

    fn table(
        &mut self,
        table: &'a ast::Table<'a>,
        sources: &mut Vec<Source>,
        locking: &[ast::Locking<'a>],
    ) -> Result<Tree> {
        let name = text_of(table.name.name.text.0);
        let alias = table.alias.map_or_else(|| name.clone(), |alias| text_of(alias.text.0));
        if !table.partitions.is_empty() {
            return Err(Error::not_yet("partitions"));
        }
        if table.name.schema.is_none()
            && let Some(at) = self.common.iter().rposition(|common| common.definition.name.text.0 == name.as_bytes())
        {
            let (definition, depth) = (self.common[at].definition, self.common[at].depth);
            return self.common_table(definition, at, depth, alias, sources);
        }
        let database = table.name.schema.map(|schema| text_of(schema.text.0));
        match self.tables.table(database.as_deref(), &name)? {
            FoundTable::Table(found) => {
                let columns = found
                    .columns
                    .iter()
                    .enumerate()
                    .map(|(number, column)| SourceColumn {
                        name: column.name.as_str().into(),
                        data_type: column.data_type.clone(),
                        nullable: column.nullable,
                        origin: Some(Origin {
                            database: found.database.as_str().into(),
                            alias: alias.as_str().into(),
                            table: found.name.as_str().into(),
                            column: number,
                            name: column.name.as_str().into(),
                        }),
                        is_hidden: column.invisible,
                    })
                    .collect();
                let plan = self.locking_for(&alias, locking);
                self.tables.permit(&found, &alias, plan.is_some_and(|plan| plan.exclusive))?;
                self.used.push(Arc::clone(&found));
                let database = found.database.clone();
                let kind = SourceKind::Table(Box::new(TableSource {
                    table: found,
                    columns: Vec::new(),
                    access: super::plan::Access::all(),
                    locking: plan,
                }));
                self.add_source(database, alias, columns, kind, sources)
            }
            FoundTable::Virtual(found) => {
                let columns = found
                    .columns()
                    .into_iter()
                    .map(|column| SourceColumn {
                        name: column.name.into(),
                        data_type: column.data_type.clone(),
                        nullable: column.nullable,
                        origin: None,
                        is_hidden: false,
                    })
                    .collect();
                let database = database.or_else(|| self.tables.database().map(str::to_owned)).unwrap_or_default();
                self.add_source(database, alias, columns, SourceKind::Virtual(found), sources)
            }
        }
    }

    fn locking_for(&self, alias: &str, locking: &[ast::Locking<'a>]) -> Option<LockingPlan> {
        let found = locking.iter().find(|clause| {
            clause.tables.is_empty() || clause.tables.iter().any(|table| *table.name.text.0 == *alias.as_bytes())
        });
        let clause = found.map(|found| LockingPlan { exclusive: found.exclusive, wait: found.wait });
        clause.or_else(|| self.tables.default_locking())
    }

    /// Each table that FOR UPDATE OF names is there, once. Errors: 3568, 3569.
    fn check_locking(&mut self, locking: &[ast::Locking<'a>]) -> Result<()> {
        let mut named: Vec<&[u8]> = Vec::new();
        for table in locking.iter().flat_map(|clause| clause.tables.iter()) {
            let name = table.name.text.0;
            if !self.block().sources.iter().any(|source| *source.alias.as_bytes() == *name) {
                return Err(Error::new(ER_UNRESOLVED_TABLE_LOCK, &[&format!("`{}`", text_of(name))]));
            }
            if named.contains(&name) {
                return Err(Error::new(ER_DUPLICATE_TABLE_LOCK, &[&format!("`{}`", text_of(name))]));
            }
            named.push(name);
        }
        Ok(())
    }

    fn common_table(
        &mut self,
        definition: &'a ast::CommonTable<'a>,
        at: usize,
        depth: usize,
        alias: String,
        sources: &mut Vec<Source>,
    ) -> Result<Tree> {
        // It sees what was there when it was defined: the tables of WITH before it, and the blocks around.
        let inner_blocks = self.blocks.split_off(depth);
        let inner_common = self.common.split_off(at);
        let plan = self.query(definition.query);
        self.blocks.extend(inner_blocks);
        self.common.extend(inner_common);
        self.add_derived(plan?, definition.columns, alias, false, sources)
    }

    fn derived(&mut self, derived: &'a ast::Derived<'a>, sources: &mut Vec<Source>) -> Result<Tree> {
        let Some(alias) = derived.alias else { return Err(Error::new(ER_DERIVED_MUST_HAVE_ALIAS, &[])) };
        let plan = if derived.lateral {
            self.query(derived.query)?
        } else {
            // It does not see the tables beside it.
            let hidden = self.blocks.last_mut().map(|block| std::mem::take(&mut block.sources));
            let plan = self.query(derived.query);
            if let (Some(block), Some(hidden)) = (self.blocks.last_mut(), hidden) {
                block.sources = hidden;
            }
            plan?
        };
        self.add_derived(plan, derived.columns, text_of(alias.text.0), derived.lateral, sources)
    }

    fn add_derived(
        &mut self,
        plan: QueryPlan,
        names: ast::List<'a, ast::Identifier<'a>>,
        alias: String,
        is_lateral: bool,
        sources: &mut Vec<Source>,
    ) -> Result<Tree> {
        if !names.is_empty() && names.len() != plan.columns.len() {
            return Err(Error::new(meseta_errors::ER_VIEW_WRONG_LIST, &[]));
        }
        let columns = plan.columns.iter().enumerate().map(|(at, column)| SourceColumn {
            name: names.get(at).map_or_else(|| text_of(&column.name), |name| text_of(name.text.0)).into(),
            data_type: column.data_type.clone(),
            nullable: column.nullable,
            origin: None,
            is_hidden: false,
        });
        let columns = columns.collect();
        let kind = SourceKind::Derived { plan: Box::new(plan), is_lateral };
        self.add_source(String::new(), alias, columns, kind, sources)
    }

    fn add_source(
        &mut self,
        database: String,
        alias: String,
        columns: Vec<SourceColumn>,
        kind: SourceKind,
        sources: &mut Vec<Source>,
    ) -> Result<Tree> {
        let block = self.blocks.last_mut().expect("a SELECT has a block");
        if block.sources.iter().any(|source| *source.alias == *alias && *source.database == *database) {
            return Err(Error::new(ER_NONUNIQ_TABLE, &[&alias]));
        }
        let (first_slot, width) = (block.width(), columns.len());
        let source = NamedSource {
            database: database.into(),
            alias: alias.into(),
            first_slot,
            columns,
            is_outer: false,
            merged: Vec::new(),
        };
        block.sources.push(source);
        sources.push(Source { kind, first_slot, width, conditions: Vec::new() });
        Ok(Tree::Source(sources.len() - 1))
    }

    fn join(
        &mut self,
        join: &'a ast::Join<'a>,
        sources: &mut Vec<Source>,
        locking: &[ast::Locking<'a>],
    ) -> Result<Tree> {
        let begin = sources.len();
        let left = self.reference(&join.left, sources, locking)?;
        let middle = sources.len();
        let right = self.reference(&join.right, sources, locking)?;
        let end = sources.len();
        let mut conditions = Vec::new();
        if let ast::JoinCondition::On(condition) = &join.condition {
            conditions = self.expression(condition, Place::plain("on clause"))?.conjuncts();
        }
        let shared: Vec<Box<str>> = match &join.condition {
            ast::JoinCondition::Using(names) => names.iter().map(|name| text_of(name.text.0).into()).collect(),
            _ if join.natural => self.shared_names(begin..middle, middle..end),
            _ => Vec::new(),
        };
        for name in shared {
            conditions.push(self.merge_column(&name, begin..middle, middle..end)?);
        }
        let outer = match join.kind {
            ast::JoinKind::Inner | ast::JoinKind::Straight => None,
            ast::JoinKind::Left => Some(middle..end),
            ast::JoinKind::Right => Some(begin..middle),
        };
        let block = self.blocks.last_mut().expect("a SELECT has a block");
        if let Some(outer) = outer.clone() {
            block.sources[outer].iter_mut().for_each(|source| source.is_outer = true);
        }
        Ok(match join.kind {
            ast::JoinKind::Inner => Tree::Inner { inputs: vec![left, right], conditions, keeps_order: false },
            ast::JoinKind::Straight => Tree::Inner { inputs: vec![left, right], conditions, keeps_order: true },
            ast::JoinKind::Left => Tree::Left { left: Box::new(left), right: Box::new(right), on: conditions },
            ast::JoinKind::Right => Tree::Left { left: Box::new(right), right: Box::new(left), on: conditions },
        })
    }

    fn shared_names(&self, left: std::ops::Range<usize>, right: std::ops::Range<usize>) -> Vec<Box<str>> {
        let block = self.blocks.last().expect("a SELECT has a block");
        let names =
            |range: std::ops::Range<usize>| block.sources[range].iter().flat_map(|source| source.columns.iter());
        let has = |name: &str| names(right.clone()).any(|column| same_name(column.name.as_bytes(), name.as_bytes()));
        names(left).filter(|column| has(&column.name)).map(|column| column.name.clone()).collect()
    }

    /// Makes one of two columns of a name: `left.name = right.name`, and the bare name means the left one.
    fn merge_column(
        &mut self,
        name: &str,
        left: std::ops::Range<usize>,
        right: std::ops::Range<usize>,
    ) -> Result<Expr> {
        let block = self.blocks.last_mut().expect("a SELECT has a block");
        let find = |block: &Block, range: std::ops::Range<usize>| {
            range.into_iter().find_map(|source| {
                let columns = &block.sources[source].columns;
                let at = columns.iter().position(|column| same_name(column.name.as_bytes(), name.as_bytes()));
                at.filter(|at| !block.sources[source].merged.contains(at)).map(|at| (source, at))
            })
        };
        let unknown = || Error::new(ER_BAD_FIELD_ERROR, &[&name, &"from clause"]);
        let (left_source, left_at) = find(block, left).ok_or_else(unknown)?;
        let (right_source, right_at) = find(block, right).ok_or_else(unknown)?;
        block.sources[right_source].merged.push(right_at);
        let side = |block: &mut Block, source: usize, at: usize| {
            let found = &block.sources[source];
            let slot = (found.first_slot + at) as u32;
            let expr = slot_of(slot, found.columns[at].data_type.clone(), true);
            block.used.insert(slot);
            expr
        };
        let left = side(block, left_source, left_at);
        let right = side(block, right_source, right_at);
        Ok(equal(left, right))
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
        if !select.windows.is_empty() || select.qualify.is_some() {
            return Err(Error::not_yet("window functions"));
        }
        let mut sources = Vec::new();
        let tree = self.from(select.from, &mut sources, locking)?;
        self.check_locking(locking)?;
        let first_slot = self.block().width();
        let conditions = match &select.condition {
            None => Vec::new(),
            Some(condition) => self.expression(condition, Place::plain("where clause"))?.conjuncts(),
        };
        let mut aggregates = Vec::new();
        let (items, columns) = self.items(select, &mut aggregates, first_slot)?;
        let aliases: Vec<Alias> = columns.iter().map(|column| column.name.clone()).zip(items.iter().cloned()).collect();
        let (keys, rollup) = self.group_by(select, &items, &aliases)?;
        let mut having = Vec::new();
        if let Some(condition) = &select.having {
            let place = Place {
                name: "having clause",
                aggregates: Some(&mut aggregates),
                first_slot,
                aliases: Some((&aliases, AliasOrder::AliasFirst)),
            };
            having = self.expression(condition, place)?.conjuncts();
        }
        let mut order = Vec::new();
        for item in order_by {
            let value = match position_of(&item.expression) {
                Some(number) => items[in_list(number, items.len(), "order clause")?].clone(),
                None => {
                    let place = Place {
                        name: "order clause",
                        aggregates: Some(&mut aggregates),
                        first_slot,
                        aliases: Some((&aliases, AliasOrder::AliasFirst)),
                    };
                    self.expression(&item.expression, place)?
                }
            };
            if !value.is_constant() {
                order.push(SortKey { value, descending: item.descending });
            }
        }
        let width = first_slot + aggregates.len();
        let is_grouped = select.group_by.is_some() || !aggregates.is_empty();
        let mut group = is_grouped.then(|| GroupPlan {
            keys: keys.clone(),
            aggregates,
            first_slot,
            rollup,
            takes_first: false,
            is_sorted: false,
        });
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
        let hashes = planned.hashes;
        let names = self.block().sources.iter().map(|source| SourceName {
            alias: source.alias.clone(),
            columns: source.columns.iter().map(|column| column.name.clone()).collect(),
        });
        let names = names.collect();
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
            items,
            distinct: select.options.distinct,
            order,
        };
        Ok((plan, columns))
    }

    fn block(&mut self) -> &mut Block {
        self.blocks.last_mut().expect("a SELECT has a block")
    }

    fn items(
        &mut self,
        select: &'a ast::Select<'a>,
        aggregates: &mut Vec<AggregateCall>,
        first_slot: usize,
    ) -> Result<(Vec<Expr>, Vec<OutputColumn>)> {
        let (mut items, mut columns) = (Vec::new(), Vec::new());
        for item in select.items.iter() {
            match item {
                SelectItem::All => {
                    if self.block().sources.is_empty() {
                        return Err(Error::new(ER_NO_TABLES_USED, &[]));
                    }
                    self.star(None, &mut items, &mut columns)?;
                }
                SelectItem::AllOf(name) => self.star(Some(name), &mut items, &mut columns)?,
                SelectItem::Expression { expression, alias, .. } => {
                    let place = Place { name: "field list", aggregates: Some(aggregates), first_slot, aliases: None };
                    let value = self.expression(expression, place)?;
                    let own = value.as_column().filter(|_| alias.is_none()).and_then(|slot| self.own_name_of(slot));
                    let name = own.as_deref().or(item.name(self.facts.text)).unwrap_or_default();
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

    fn origin_of(&mut self, slot: u32) -> Option<Origin> {
        let slot = slot as usize;
        let source = self.block().sources.iter().rfind(|source| source.first_slot <= slot)?;
        source.columns.get(slot - source.first_slot)?.origin.clone()
    }

    /// `*`, `t.*`
    fn star(
        &mut self,
        of: Option<&ast::ObjectName<'a>>,
        items: &mut Vec<Expr>,
        columns: &mut Vec<OutputColumn>,
    ) -> Result<()> {
        let block = self.block();
        let mut is_found = of.is_none();
        let mut used = Vec::new();
        for source in &block.sources {
            if let Some(name) = of {
                let is_it = *source.alias.as_bytes() == *name.name.text.0
                    && name.schema.is_none_or(|schema| *source.database.as_bytes() == *schema.text.0);
                if !is_it {
                    continue;
                }
                is_found = true;
            }
            for (number, column) in source.columns.iter().enumerate() {
                if column.is_hidden || (of.is_none() && source.merged.contains(&number)) {
                    continue;
                }
                let slot = (source.first_slot + number) as u32;
                let nullable = column.nullable || source.is_outer;
                used.push(slot);
                items.push(slot_of(slot, column.data_type.clone(), nullable));
                columns.push(OutputColumn {
                    name: column.name.as_bytes().into(),
                    origin: column.origin.clone(),
                    data_type: column.data_type.clone(),
                    nullable,
                });
            }
        }
        block.used.extend(used);
        match (is_found, of) {
            (false, Some(name)) => Err(Error::new(ER_BAD_TABLE_ERROR, &[&text_of(name.name.text.0)])),
            _ => Ok(()),
        }
    }

    fn group_by(
        &mut self,
        select: &'a ast::Select<'a>,
        items: &[Expr],
        aliases: &[Alias],
    ) -> Result<(Vec<Expr>, bool)> {
        let Some(group_by) = &select.group_by else { return Ok((Vec::new(), false)) };
        let rollup = match group_by.modifier {
            ast::GroupModifier::None => false,
            ast::GroupModifier::Rollup => return Err(Error::not_yet("WITH ROLLUP")),
            _ => return Err(Error::not_yet("GROUPING SETS and CUBE")),
        };
        let mut keys = Vec::new();
        for item in group_by.items.iter() {
            keys.push(match position_of(&item.expression) {
                Some(number) => items[in_list(number, items.len(), "group statement")?].clone(),
                None => {
                    let place = Place {
                        name: "group statement",
                        aggregates: None,
                        first_slot: 0,
                        aliases: Some((aliases, AliasOrder::ColumnFirst)),
                    };
                    self.expression(&item.expression, place)?
                }
            });
        }
        Ok((keys, rollup))
    }
}

/// A set operation or VALUES under an ORDER BY or LIMIT of its own.
fn wrap(plan: QueryPlan) -> Body {
    plan.body
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

impl<'a> Scope for Standing<'_, 'a, '_, '_> {
    fn column(&mut self, name: &ast::ColumnName<'_>) -> Result<ResolvedColumn> {
        let order = self.place.aliases.as_ref().map(|(_, order)| *order);
        if order == Some(AliasOrder::AliasFirst)
            && let Some(found) = self.alias(name)
        {
            return Ok(found);
        }
        match resolve(&mut self.binder.blocks, name, self.place.name) {
            Ok((block, found)) => {
                self.binder.outermost_named = self.binder.outermost_named.min(block);
                Ok(found)
            }
            Err(error) if order == Some(AliasOrder::ColumnFirst) => self.alias(name).ok_or(error),
            Err(error) => Err(error),
        }
    }

    fn aggregate(&mut self, aggregate: &ast::Aggregate<'_>) -> Result<Expr> {
        let Some(aggregates) = self.place.aggregates.as_deref_mut() else {
            return Err(Error::new(ER_INVALID_GROUP_FUNC_USE, &[]));
        };
        let facts = self.binder.facts;
        let mut inside = Standing { binder: &mut *self.binder, place: Place::plain("field list") };
        let call = bind_aggregate(aggregate, &mut inside, &facts)?;
        let slot = (self.place.first_slot + aggregates.len()) as u32;
        let value = slot_of(slot, call.data_type.clone(), call.nullable);
        aggregates.push(call);
        Ok(value)
    }

    fn subquery(&mut self, query: &ast::Query<'_>) -> Result<BoundSubquery> {
        self.binder.subquery_of(query)
    }

    fn user_variable(&mut self, name: &str) -> Option<DataType> {
        self.binder.tables.user_variable(name)
    }

    fn system_variable(&mut self, variable: &SystemVariable) -> Result<(DataType, bool)> {
        self.binder.tables.system_variable(variable)
    }

    fn default_value(&mut self, _column: Option<&ast::ColumnName<'_>>) -> Result<Expr> {
        Err(Error::not_yet("DEFAULT here"))
    }

    fn inserted_value(&mut self, column: &ast::ColumnName<'_>) -> Result<Expr> {
        let Some(first) = self.binder.inserted_from else { return Err(Error::not_yet("VALUES() here")) };
        let (_, found) = resolve(&mut self.binder.blocks, column, self.place.name)?;
        match found.kind {
            ExprKind::Column(slot) if slot < first => Ok(slot_of(slot + first, found.data_type, true)),
            _ => Err(Error::not_yet("VALUES() here")),
        }
    }
}

impl Binder<'_, '_> {
    /// Binds a query inside of an expression.
    fn subquery_of(&mut self, query: &ast::Query<'_>) -> Result<BoundSubquery> {
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
        };
        let depth = inner.blocks.len();
        let bound = inner.query(query);
        let named = inner.outermost_named;
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
