//! From a query's tree to what is planned: what names mean, and what is asked of which rows.
//!
//! ```text
//!   FROM      sources, a tree of joins with their conditions        block: what names mean from here on
//!   WHERE     conjuncts
//!   GROUP BY, items, HAVING, ORDER BY    over slots and aggregates
//!                                                                    a SELECT is planned as soon as it is bound ([`super::planner`])
//! ```
//!
//! Here is what is around a SELECT: the whole query, WITH, UNION, VALUES and TABLE. `select` is the SELECT itself, `standing`
//! an expression at its place, `one_table` and `joined` what UPDATE and DELETE change.
//!
//! # Source
//! The manual, "SELECT Statement".

mod asked;
pub mod filter;
pub mod from;
mod full_group;
pub mod joined;
pub mod one_table;
mod recursive;
mod rollup;
pub mod scope;
mod select;
mod set_operation;
mod standing;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use meseta_engine::ids::TableId;
use meseta_errors::{
    ER_BAD_FIELD_ERROR, ER_NONUNIQ_TABLE, ER_TABLENAME_NOT_ALLOWED_HERE, ER_WARN_DEPRECATED_SYNTAX,
    ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
};
use meseta_parser::ast::{self, ExpressionKind, QueryBody};
use meseta_types::SqlError;

use self::scope::{Block, NamedSource, SourceColumn};
use crate::error::{Error, Result};
use crate::expression::{BindFacts, Expr, ExprKind, bind};
use crate::name::text_of;
use crate::query::plan::bound::BoundSelect;
use crate::query::plan::table::KnownTable;
use crate::query::plan::{Body, LimitPlan, OutputColumn, QueryPlan, SelectPlan, SetPlan, SortKey, Subquery};
use crate::query::planner::join::JoinPlanner;
use crate::query::planner::select::Planner;
use crate::query::planner::tables::Tables;

pub use standing::Place;
use standing::Standing;

/// A table of WITH.
#[derive(Clone)]
struct CommonTable<'a> {
    definition: &'a ast::CommonTable<'a>,
    /// How many blocks are around it.
    depth: usize,
    /// Of WITH RECURSIVE.
    is_recursive: bool,
    /// What it means inside of its own definition.
    recursion: Recursion,
}

/// What a table of WITH RECURSIVE means inside of its own definition.
#[derive(Clone)]
enum Recursion {
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
    common: Vec<CommonTable<'a>>,
    /// How many recursive tables have been met.
    workings: Rc<Cell<usize>>,
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
    derived_around: usize,
    /// How many subqueries are.
    subqueries_around: usize,
    /// A table that is changed is read, in a derived table.
    pub reads_changed: bool,
    /// Queries of which the WHERE of an UPDATE or DELETE of one table asks could be joined to that.
    pub could_join: bool,
    /// What has been met that is deprecated.
    pub deprecated: Vec<Deprecated>,
    /// So many constants are computed once.
    pub constants: u32,
    /// What the next SELECT is before it is planned is to be kept; of a set operation, its sides.
    wants_unplanned: bool,
    /// Nobody asks of the next SELECT how often a row comes.
    wants_set: bool,
    /// What has been kept.
    unplanned: Vec<BoundSelect>,
    /// Queries of IN that look at the row around them, by their numbers: they may be asked otherwise where what is not known is false.
    in_queries: Vec<(u32, BoundSelect)>,
    /// Queries of EXISTS that look at the row around them, by their numbers: they may be joined to that ([`crate::query::planner::semi_join`]).
    exists_queries: Vec<(u32, BoundSelect)>,
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
            could_join: false,
            deprecated: Vec::new(),
            constants: 0,
            wants_unplanned: false,
            wants_set: false,
            unplanned: Vec::new(),
            in_queries: Vec::new(),
            exists_queries: Vec::new(),
            wants_block: false,
            kept_block: None,
            workings: Rc::default(),
        }
    }

    /// Forgets what has been bound of a statement, which is bound anew.
    pub fn begin_again(&mut self) {
        self.blocks.clear();
        self.subqueries.clear();
        self.in_queries.clear();
        self.exists_queries.clear();
        self.common.clear();
        self.used.clear();
        self.changed.clear();
        self.deprecated.clear();
        self.tables.sizes().forget_all();
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

    /// What plans what has been bound.
    fn planner(&mut self) -> Planner<'_> {
        Planner {
            tables: &mut *self.tables,
            constants: &mut self.constants,
            is_derived: self.derived_around > 0,
            is_subquery: self.subqueries_around > 0,
        }
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
        let wants_set = std::mem::take(&mut self.wants_set);
        let limit = self.limit_of(query)?;
        self.wants_set = wants_set && limit.is_none();
        match query.body {
            QueryBody::Select(select) => {
                let (plan, columns) = self.select(select, query, limit.clone())?;
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
    fn limit_of(&mut self, query: &'a ast::Query<'a>) -> Result<Option<LimitPlan>> {
        let Some(limit) = &query.limit else { return Ok(None) };
        let count = self.expression(&limit.count, Place::plain("LIMIT"))?;
        let offset = limit.offset.as_ref().map(|offset| self.expression(offset, Place::plain("LIMIT"))).transpose()?;
        let counts_all = matches!(query.body, QueryBody::Select(select) if select.options.sql_calc_found_rows);
        Ok(Some(LimitPlan { count, offset, counts_all }))
    }

    fn body(&mut self, body: QueryBody<'a>) -> Result<QueryPlan> {
        crate::stack::check()?;
        let wants_set = std::mem::take(&mut self.wants_set);
        match body {
            QueryBody::Select(select) => {
                self.wants_set = wants_set;
                let (plan, columns) = self.select_alone(select)?;
                Ok(QueryPlan::new(Body::Select(Box::new(plan)), columns))
            }
            QueryBody::Parenthesised(query) => {
                self.wants_set = wants_set;
                self.query(query)
            }
            QueryBody::Values(rows) => self.values(rows),
            QueryBody::Table(name) => self.whole_table(&name),
            QueryBody::SetOperation(set) => {
                let wants_sets = !set.all || wants_set && set.operator == ast::SetOperator::Union;
                let mut side = |body| {
                    self.wants_set = wants_sets;
                    self.body(body)
                };
                let (left, right) = (side(set.left)?, side(set.right)?);
                if left.columns.len() != right.columns.len() {
                    return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
                }
                let columns = set_operation::columns(&left.columns, &right.columns, set.operator)?;
                let slots = set_operation::slots(&columns);
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
            let name = |at: usize| format!("column_{at}").into_bytes().into();
            let row = row.iter().enumerate().map(|(at, value)| OutputColumn::of(value, name(at)));
            let row: Vec<OutputColumn> = row.collect();
            columns = match number {
                0 => row,
                _ => set_operation::columns(&columns, &row, ast::SetOperator::Union)?,
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
        let slots = set_operation::slots(columns);
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
                    collated: column.collated,
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
        let mut planner = JoinPlanner::new(&mut sources, self.tables, &used);
        let planned = planner.plan(Some(joined.tree), Vec::new(), false)?;
        let names = self.block().names();
        let plan = SelectPlan {
            hashes: planned.hashes,
            names,
            sources,
            join: planned.join,
            constant: planned.constant,
            width,
            shown_rows: planned.rows,
            items,
            ..SelectPlan::nothing()
        };
        Ok(QueryPlan::new(Body::Select(Box::new(plan)), columns))
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

    fn block(&mut self) -> &mut Block {
        self.blocks.last_mut().expect("a SELECT has a block")
    }
}

/// A query under an ORDER BY or LIMIT around it.
fn wrap(plan: QueryPlan) -> Body {
    match plan.limit.is_some() || !plan.order.is_empty() {
        true => Body::Nested(Box::new(plan)),
        false => plan.body,
    }
}

/// `ORDER BY 2`: the number.
fn position_of(expression: &ast::Expression<'_>) -> Option<i128> {
    match expression.kind {
        ExpressionKind::Literal(ast::Literal::Integer(_)) => expression.as_integer(),
        _ => None,
    }
}

/// The item of a list of so many that a number means. Errors: 1054.
fn in_list(number: i128, len: usize, place: &'static str) -> Result<usize> {
    match usize::try_from(number) {
        Ok(number) if (1..=len).contains(&number) => Ok(number - 1),
        _ => Err(Error::new(ER_BAD_FIELD_ERROR, &[&number, &place])),
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
