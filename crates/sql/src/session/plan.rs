//! The plan of a statement that reads or changes rows, and what it is found by.

use std::hash::{DefaultHasher, Hash, Hasher};

use meseta_parser::ast::Statement;
use meseta_types::{DataType, Datum};

use super::SessionTables;
use super::counters::{Counter, counter_of};
use super::tracking::access_of;
use crate::error::Result;
use crate::expression::BindFacts;
use crate::query::{Binder, QueryPlan, Subquery};
use crate::statement::manipulation::{DeletePlan, InsertPlan, UpdatePlan};
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
}

/// A statement's plan: what many executions, of many sessions, share.
#[derive(Debug)]
pub struct StatementPlan {
    /// What it does.
    pub body: PlanBody,
    /// Queries inside of its expressions.
    pub subqueries: Vec<Subquery>,
    /// It depends on variables whose types may change: it is for this execution alone.
    pub is_personal: bool,
    /// What it is counted as.
    pub counter: Option<Counter>,
    /// Whether it reads rows of tables, and has rows to show.
    pub access: (bool, bool),
}

/// Whether a statement has a plan.
pub fn is_planned(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_))
}

impl StatementPlan {
    /// Binds and plans a statement that [`is_planned`].
    pub fn new<'a>(
        statement: &'a Statement<'a>,
        facts: BindFacts<'a>,
        tables: &mut SessionTables<'_>,
    ) -> Result<StatementPlan> {
        let mut binder = Binder::new(facts, tables);
        let body = match statement {
            Statement::Query(query) => PlanBody::Query(binder.query(query)?),
            Statement::Insert(insert) => PlanBody::Insert(InsertPlan::new(insert, &mut binder)?),
            Statement::Update(update) => PlanBody::Update(UpdatePlan::new(update, &mut binder)?),
            Statement::Delete(delete) => PlanBody::Delete(DeletePlan::new(delete, &mut binder)?),
            _ => return Err(crate::Error::not_yet("this statement")),
        };
        let subqueries = std::mem::take(&mut binder.subqueries);
        let access = access_of(statement);
        let is_personal = tables.has_named_variables;
        Ok(StatementPlan { body, subqueries, is_personal, counter: counter_of(statement), access })
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
}

/// What plans depend on besides statement and schema: the session's variables and database. Its hash is made when either
/// has changed.
#[derive(Default)]
pub struct Environment {
    made_for: Option<(u64, Option<String>)>,
    hash: u64,
}

impl Environment {
    /// Its hash, now.
    pub fn hash(&mut self, variables: &SessionVariables, database: Option<&str>) -> u64 {
        let is_same = self
            .made_for
            .as_ref()
            .is_some_and(|(version, name)| *version == variables.version() && name.as_deref() == database);
        if !is_same {
            let mut hasher = DefaultHasher::new();
            variables.hash_values(&mut hasher);
            database.hash(&mut hasher);
            self.hash = hasher.finish();
            self.made_for = Some((variables.version(), database.map(str::to_owned)));
        }
        self.hash
    }
}
