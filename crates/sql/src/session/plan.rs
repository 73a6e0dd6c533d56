//! The plan of a statement that reads or changes rows, and what it is found by.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use meseta_parser::ast::{self, Statement};
use meseta_types::{DataType, Datum};

use super::SessionTables;
use super::counters::{Counter, counter_of};
use super::shape::{counters_of_query, counters_of_subqueries};
use super::tracking::access_of;
use crate::account::Requirements;
use crate::error::Result;
use crate::expression::BindFacts;
use crate::query::{Binder, Deprecated, QueryPlan, Sampled, Size, Subquery};
use crate::statement::manipulation::{DeletePlan, InsertPlan, SeveralPlan, UpdatePlan};
use crate::variable::SessionVariables;

/// What a statement does.
#[derive(Debug)]
pub enum PlanBody {
    /// SELECT and its like.
    Query(QueryPlan),
    /// INSERT, REPLACE.
    Insert(InsertPlan),
    /// UPDATE.
    Update(UpdatePlan),
    /// DELETE.
    Delete(DeletePlan),
    /// UPDATE or DELETE of several tables.
    Several(SeveralPlan),
}

impl PlanBody {
    /// Whether rows go.
    pub fn deletes(&self) -> bool {
        match self {
            PlanBody::Delete(_) => true,
            PlanBody::Several(several) => several.deletes(),
            _ => false,
        }
    }
}

fn plan_update<'a>(update: &'a ast::Update<'a>, binder: &mut Binder<'a, '_>) -> Result<PlanBody> {
    if let [ast::TableReference::Table(_)] = update.tables {
        let plan = UpdatePlan::new(update, binder)?;
        if !is_join(binder, update.order_by, update.limit.is_some()) {
            return Ok(PlanBody::Update(plan));
        }
        binder.begin_again();
    }
    SeveralPlan::update(update, binder).map(PlanBody::Several)
}

fn plan_delete<'a>(delete: &'a ast::Delete<'a>, binder: &mut Binder<'a, '_>) -> Result<PlanBody> {
    if let ast::DeleteTarget::Single(_) = delete.target {
        let plan = DeletePlan::new(delete, binder)?;
        if !is_join(binder, delete.order_by, delete.limit.is_some()) {
            return Ok(PlanBody::Delete(plan));
        }
        binder.begin_again();
    }
    SeveralPlan::delete(delete, binder).map(PlanBody::Several)
}

/// Whether a change of one table that has been bound is to be bound anew, as a join: it reads what it changes, and all is to be read
/// first; or queries of its WHERE can be joined to its rows.
fn is_join(binder: &Binder<'_, '_>, order_by: &[ast::OrderItem<'_>], has_limit: bool) -> bool {
    (binder.reads_changed || binder.could_join) && order_by.is_empty() && !has_limit
}

/// A statement's plan: what many executions, of many sessions, share.
#[derive(Debug)]
pub struct StatementPlan {
    /// What it does.
    pub body: PlanBody,
    /// Queries inside of its expressions.
    pub subqueries: Vec<Subquery>,
    /// What it requires of who runs it: looked at by every execution.
    pub requirements: Requirements,
    /// What in it is deprecated.
    pub deprecated: Vec<Deprecated>,
    /// It begins with a row ([`QueryPlan::begins_with_a_row`]), and has no queries inside.
    pub begins_with_a_row: bool,
    /// It depends on variables whose types may change: it is for this execution alone.
    pub is_personal: bool,
    /// What it is counted as.
    pub counter: Option<Counter>,
    /// How it reads and sorts, as that is counted.
    pub counts: Box<[(Counter, u64)]>,
    /// Whether it reads rows of tables, and has rows to show.
    pub access: (bool, bool),
    /// How many rows it takes ranges to have: looked at by every execution, whether it fits.
    pub sizes: Vec<Size>,
    /// Tables whose rows would have told what was guessed.
    pub unsampled: Vec<Sampled>,
    /// Which parameters it takes for texts of whole numbers ([`Parameters::whole_texts`])...
    pub whole_texts: u64,
    /// ... and of which it matters.
    pub asks_whole_texts: u64,
}

/// Whether a statement has a plan.
pub fn is_planned(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::Query(query) => query.into.is_none(),
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => true,
        _ => false,
    }
}

impl StatementPlan {
    /// Binds and plans a statement that [`is_planned`], whose requirements have been looked at.
    pub fn new<'a>(
        statement: &'a Statement<'a>,
        facts: BindFacts<'a>,
        tables: &mut SessionTables<'_>,
        requirements: Requirements,
    ) -> Result<StatementPlan> {
        let mut binder = Binder::new(facts, tables);
        let body = match statement {
            Statement::Query(query) => PlanBody::Query(binder.query(query)?),
            Statement::Insert(insert) => PlanBody::Insert(InsertPlan::new(insert, &mut binder)?),
            Statement::Update(update) => plan_update(update, &mut binder)?,
            Statement::Delete(delete) => plan_delete(delete, &mut binder)?,
            _ => return Err(crate::Error::not_yet("this statement")),
        };
        let subqueries = std::mem::take(&mut binder.subqueries);
        let is_personal = binder.depends_on_literals;
        let deprecated = std::mem::take(&mut binder.deprecated);
        let access = access_of(statement);
        let is_personal = is_personal || tables.has_named_variables;
        let counter = counter_of(statement);
        let counts = match &body {
            PlanBody::Query(query) => counters_of_query(query, &subqueries),
            _ => counters_of_subqueries(&subqueries),
        };
        let (sizes, unsampled) = std::mem::take(&mut tables.sizes).into_taken();
        let begins_with_a_row =
            subqueries.is_empty() && matches!(&body, PlanBody::Query(query) if query.begins_with_a_row());
        Ok(StatementPlan {
            body,
            subqueries,
            requirements,
            deprecated,
            begins_with_a_row,
            is_personal,
            counter,
            counts,
            access,
            sizes,
            unsampled,
            whole_texts: 0,
            asks_whole_texts: 0,
        })
    }

    /// Whether bad values are errors in it, where the SQL mode is strict.
    pub fn changes_data(&self) -> bool {
        !matches!(self.body, PlanBody::Query(_))
    }
}

/// Values of a statement's parameters.
#[derive(Clone, Copy, Default)]
pub struct Parameters<'p> {
    /// The values.
    pub values: &'p [Datum<'p>],
    /// As which types the statement is planned.
    pub types: &'p [DataType],
}

impl Parameters<'_> {
    /// Whether all texts among them are ASCII.
    pub fn are_ascii(&self) -> bool {
        self.values.iter().all(|value| match value {
            Datum::Text(text, _) => text.is_ascii(),
            _ => true,
        })
    }

    /// Which of the first 64 are texts of whole numbers that a BIGINT has room for: a bit for each.
    pub fn whole_texts(&self) -> u64 {
        let is_whole = |value: &Datum<'_>| {
            let Datum::Text(text, _) = value else { return false };
            let digits = text.strip_prefix(b"-").unwrap_or(text);
            (1..=18).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
        };
        let first = self.values.iter().take(64).enumerate();
        first.fold(0, |bits, (number, value)| bits | u64::from(is_whole(value)) << number)
    }
}

/// What plans depend on besides statement and schema: the session's variables and database. Its hash is made when either
/// has changed.
#[derive(Default)]
pub struct Environment {
    made_for: Option<(u64, Option<Arc<str>>)>,
    hash: u64,
}

impl Environment {
    /// Its hash, now.
    pub fn hash(&mut self, variables: &SessionVariables, database: Option<&Arc<str>>) -> u64 {
        let is_same = self.made_for.as_ref().is_some_and(|(version, name)| {
            *version == variables.version() && name.as_ref().map(Arc::as_ptr) == database.map(Arc::as_ptr)
        });
        if !is_same {
            let mut hasher = DefaultHasher::new();
            variables.hash_values(&mut hasher);
            database.hash(&mut hasher);
            self.hash = hasher.finish();
            self.made_for = Some((variables.version(), database.cloned()));
        }
        self.hash
    }
}
