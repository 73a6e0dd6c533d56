//! Prepared statements: those of the binary protocol, which the connection keeps by number, and those of PREPARE, by name. A
//! text that is read once for its parameters and columns, and run with values.
//!
//! A statement keeps the plan that it ran with: whoever runs it again for values of the same types looks for nothing.
//!
//! # Source
//! The manual, "Prepared Statements".

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use meseta_errors::{
    ER_MAX_PREPARED_STMT_COUNT_REACHED, ER_UNKNOWN_STMT_HANDLER, ER_UNSUPPORTED_PS, ER_WRONG_ARGUMENTS,
};
use meseta_parser::ast::{self, PrepareSource, Statement as S};
use meseta_parser::{Arena, Shape};
use meseta_types::{Collation, DataType, Datum};
use smallvec::SmallVec;

use super::logs::has_secret;
use super::plan::{Parameters, is_planned};
use super::plan_cache::{CachedPlan, PlanKey};
use super::{Answer, Counter, Logged, Session};
use crate::error::{Error, Result};
use crate::expression::Value;
use crate::name::text_of;
use crate::query::{Binder, OutputColumn};
use crate::variable::Variable;

/// How many prepared statements all sessions have.
#[derive(Default)]
pub struct PreparedCount(Arc<AtomicU64>);

impl PreparedCount {
    /// The count.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one more, until it is dropped. Error 1461 if there are as many as there may be.
    fn count(&self, limit: u64) -> Result<Counted> {
        let below_limit = |count: u64| (count < limit).then_some(count + 1);
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, below_limit) {
            Ok(_) => Ok(Counted(Arc::clone(&self.0))),
            Err(_) => Err(Error::new(ER_MAX_PREPARED_STMT_COUNT_REACHED, &[&limit])),
        }
    }
}

/// One of those that are counted.
struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A prepared statement. Whoever keeps it takes it out of its place while it runs.
pub struct PreparedStatement {
    text: Box<[u8]>,
    parameters: u32,
    is_planned: bool,
    /// Whether a password may be in it.
    has_secret: bool,
    kept: Option<KeptPlan>,
    _counted: Counted,
}

/// The plan that a statement ran with, and for what it is good.
struct KeptPlan {
    key: PlanKey,
    types: SmallVec<[DataType; 4]>,
    are_ascii: bool,
    environment: u64,
    /// `None` while it is used, or if there is none.
    plan: Option<Arc<CachedPlan>>,
}

impl PreparedStatement {
    /// It is about to be executed: what that begins with is brought near.
    pub fn prefetch(&self) {
        meseta_prefetch::value(self.text());
    }

    /// Its text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// How many `?` it has.
    pub fn parameters(&self) -> u32 {
        self.parameters
    }

    /// Whether a password may be in its text.
    pub(super) fn has_secret(&self) -> bool {
        self.has_secret
    }
}

/// Statements of PREPARE, by name. One that runs is taken out of its place meanwhile.
pub type NamedStatements = HashMap<Box<str>, Option<PreparedStatement>>;

/// The type of a variable that has this value.
pub fn type_of(value: Datum<'_>) -> DataType {
    match value {
        Datum::Null => DataType::Null,
        Datum::Signed(_) => DataType::BIGINT,
        Datum::Unsigned(_) => DataType::BIGINT_UNSIGNED,
        Datum::Float(_) | Datum::Double(_) => DataType::DOUBLE,
        Datum::Decimal(number) => DataType::decimal(65, number.scale().min(30)),
        Datum::Text(text, collation) => DataType::Varchar { length: text.len() as u32, collation },
        Datum::Date(_) => DataType::Date,
        Datum::Time(_, decimals) => DataType::Time { decimals },
        Datum::DateTime(_, decimals) => DataType::DateTime { decimals },
        Datum::Json(_) => DataType::Json,
        _ => DataType::Varchar { length: 255, collation: Collation::Utf8mb4_0900AiCi },
    }
}

/// The type as which a parameter of this type is planned: texts of like lengths share a plan.
fn parameter_type(data_type: DataType) -> DataType {
    match data_type {
        DataType::Varchar { length, collation } => {
            let length = if length <= 255 { 255 } else { length.next_power_of_two() };
            DataType::Varchar { length, collation }
        }
        other => other,
    }
}

/// There is no prepared statement of this name or number.
pub fn unknown_statement(name: impl Display, action: &str) -> Error {
    Error::new(ER_UNKNOWN_STMT_HANDLER, &[&name, &action])
}

impl Session {
    /// Prepares a statement; tells its columns too, if it has rows. Errors: 1461; those of reading it, and of binding it if it
    /// has rows.
    pub fn prepare(&mut self, text: &[u8]) -> Result<(PreparedStatement, Vec<OutputColumn>)> {
        let limit = Variable::find("max_prepared_stmt_count");
        let limit = limit.map_or(u64::MAX, |variable| self.instance.globals.get(variable).as_u64());
        let counted = self.instance.prepared.count(limit)?;
        let arena = Arena::new();
        let options = self.facts.variables.settings().parser_options(false);
        let parsed = meseta_parser::parse(&arena, text, 0, options)?;
        if matches!(parsed.statement, S::Prepare { .. } | S::Execute { .. } | S::Deallocate(_)) {
            return Err(Error::new(ER_UNSUPPORTED_PS, &[]));
        }
        self.renew_context(false);
        self.authorise(&parsed.statement)?;
        let columns = match parsed.statement {
            S::Query(query) => {
                let facts = self.bind_facts(text, Parameters::default());
                Binder::new(facts, &mut self.tables()).query(query)?.columns.to_vec()
            }
            _ => Vec::new(),
        };
        let is_planned = is_planned(&parsed.statement);
        let (parameters, has_secret) = (parsed.parameters, has_secret(&parsed.statement, text));
        let text = text.into();
        Ok((PreparedStatement { text, parameters, is_planned, has_secret, kept: None, _counted: counted }, columns))
    }

    /// Runs a prepared statement with these values, unless it is [suspended](Session::is_suspended). An error here means that the
    /// client cannot be answered.
    pub fn execute_prepared(
        &mut self,
        statement: &mut PreparedStatement,
        parameters: Parameters<'_>,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        self.is_first = true;
        self.begin_or_resume();
        if !self.is_resumed() {
            self.log_prepared(statement, Some(parameters.values));
        }
        self.more_follows = false;
        let rows_read = self.facts.shared.counters.get(Counter::InnodbRowsRead);
        let logged = Logged { start: 0, end: statement.text.len(), has_secret: statement.has_secret, rows_read };
        self.logged = Some(logged);
        let done = self.run_prepared(statement, parameters, "mysqld_stmt_execute", answer);
        if self.suspends_or_ends(&done) {
            return Ok(());
        }
        self.logged = Some(logged);
        self.end_count(&statement.text);
        done.or_else(|error| self.fail(&error, answer))
    }

    fn run_prepared(
        &mut self,
        statement: &mut PreparedStatement,
        parameters: Parameters<'_>,
        action: &str,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        if parameters.values.len() != statement.parameters as usize {
            return Err(Error::new(ER_WRONG_ARGUMENTS, &[&action]));
        }
        if !statement.is_planned || !self.rules().allow_kept_plans() {
            return self.prepared(&statement.text, None, &mut None, parameters, answer);
        }
        let kept = self.kept_plan(&statement.text, &mut statement.kept, parameters);
        self.prepared(&statement.text, Some(kept.key), &mut kept.plan, parameters, answer)
    }

    /// What is kept of the plan for parameters of these types; nothing but its key, if that was another.
    fn kept_plan<'k>(
        &mut self,
        text: &[u8],
        kept: &'k mut Option<KeptPlan>,
        parameters: Parameters<'_>,
    ) -> &'k mut KeptPlan {
        let (environment, are_ascii) = (self.plan_environment(), parameters.are_ascii());
        let is_for = |kept: &KeptPlan| {
            (kept.are_ascii, kept.environment) == (are_ascii, environment) && kept.types[..] == *parameters.types
        };
        kept.take_if(|kept| !is_for(kept));
        kept.get_or_insert_with(|| {
            // No statement's text has these bytes, so no shape is this one.
            let text = [text, format!("\0p{are_ascii}{:?}", parameters.types).as_bytes()].concat();
            let shape = Shape { text: &text, literals: &[], parameters: 0, end: None };
            let key = PlanKey(shape.hash(self.instance.plans.seed() ^ environment));
            KeptPlan { key, types: parameters.types.into(), are_ascii, environment, plan: None }
        })
    }

    // ---- PREPARE ----------------------------------------------------------------------------------------------------

    /// PREPARE. A statement that had the name goes, even if this one cannot be read.
    pub(super) fn prepare_named(&mut self, name: &ast::Identifier<'_>, source: &PrepareSource<'_>) -> Result<()> {
        let name: Box<str> = text_of(name.text.0).to_lowercase().into();
        self.named_statements.remove(&name);
        let text = match source {
            PrepareSource::Text(text) => text.0.to_vec(),
            PrepareSource::Variable(variable) => {
                let mut text = Vec::new();
                match self.facts.user_variables.get(text_of(variable.0).to_lowercase().as_str()).map(Value::get) {
                    // As MySQL has it: the word is read as a statement.
                    None | Some(Datum::Null) => text.extend_from_slice(b"NULL"),
                    Some(value) => value.append_text(&mut text),
                }
                text
            }
        };
        let (statement, _) = self.prepare(&text)?;
        self.named_statements.insert(name, Some(statement));
        Ok(())
    }

    /// EXECUTE.
    pub(super) fn execute_named(
        &mut self,
        name: &ast::Identifier<'_>,
        using: &[ast::Text<'_>],
        answer: &mut dyn Answer,
    ) -> Result<()> {
        let name = text_of(name.text.0);
        let place = name.to_lowercase();
        let values: Vec<Value> = using
            .iter()
            .map(|variable| self.facts.user_variables.get(text_of(variable.0).to_lowercase().as_str()).cloned())
            .map(|value| value.unwrap_or(Value::NULL))
            .collect();
        let values: Vec<Datum<'_>> = values.iter().map(Value::get).collect();
        let types: Vec<DataType> = values.iter().map(|&value| parameter_type(type_of(value))).collect();
        let Some(mut statement) = self.named_statements.get_mut(place.as_str()).and_then(Option::take) else {
            return Err(unknown_statement(&name, "EXECUTE"));
        };
        let parameters = Parameters { values: &values, types: &types };
        // It is counted as two, EXECUTE and this; and what it was given was read before it began.
        self.is_first = false;
        let done = self.run_prepared(&mut statement, parameters, "EXECUTE", answer);
        if let Some(place) = self.named_statements.get_mut(place.as_str()) {
            *place = Some(statement);
        }
        done
    }

    /// DEALLOCATE PREPARE.
    pub(super) fn forget_named(&mut self, name: &ast::Identifier<'_>) -> Result<()> {
        let name = text_of(name.text.0);
        match self.named_statements.remove(name.to_lowercase().as_str()) {
            Some(_) => Ok(()),
            None => Err(unknown_statement(&name, "DEALLOCATE PREPARE")),
        }
    }
}
