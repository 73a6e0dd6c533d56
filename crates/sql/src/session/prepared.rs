//! Prepared statements: those of the binary protocol, by number, and those of PREPARE, by name. A text that is read once for
//! its parameters and columns, and run with values.
//!
//! # Source
//! The manual, "Prepared Statements".

use std::collections::HashMap;

use meseta_engine::known_hash::KnownMap;
use meseta_errors::{ER_UNKNOWN_STMT_HANDLER, ER_UNSUPPORTED_PS, ER_WRONG_ARGUMENTS};
use meseta_parser::ast::{self, PrepareSource, Statement as S};
use meseta_parser::{Arena, Shape};
use meseta_types::{Collation, DataType, Datum};

use super::logs::has_secret;
use super::plan::{Parameters, is_planned};
use super::plan_cache::PlanKey;
use super::{Answer, Counter, Logged, Session};
use crate::error::{Error, Result};
use crate::expression::Value;
use crate::query::{Binder, OutputColumn, text_of};

/// A prepared statement.
#[derive(Debug)]
pub(super) struct Statement {
    text: Box<[u8]>,
    parameters: u32,
    is_planned: bool,
    /// Whether a password may be in it.
    has_secret: bool,
    /// What its plan was last found by, and for which types of parameters, ASCII or not, in which environment.
    key: Option<(PlanKey, Vec<DataType>, bool, u64)>,
}

/// A session's prepared statements. One that runs is taken out of its place meanwhile.
#[derive(Default)]
pub struct Statements {
    last: u32,
    numbered: KnownMap<u32, Option<Statement>>,
    named: HashMap<Box<str>, Option<Statement>>,
}

impl Statements {
    /// Forgets all: COM_RESET_CONNECTION.
    pub fn clear(&mut self) {
        *self = Self { last: self.last, ..Self::default() };
    }
}

/// What a client is told of a statement that was prepared.
#[derive(Clone, Debug)]
pub struct PreparedFacts {
    /// Its number.
    pub id: u32,
    /// How many `?` it has.
    pub parameters: u32,
    /// Its columns, if it has rows.
    pub columns: Vec<OutputColumn>,
}

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

fn unknown(name: &str, action: &str) -> Error {
    Error::new(ER_UNKNOWN_STMT_HANDLER, &[&name, &action])
}

impl Session {
    /// Prepares a statement: COM_STMT_PREPARE. Errors: those of reading it, and of binding it if it has rows.
    pub fn prepare(&mut self, text: &[u8]) -> Result<PreparedFacts> {
        let (statement, columns) = self.read_prepared(text)?;
        let id = self.statements.last.wrapping_add(1).max(1);
        self.statements.last = id;
        let parameters = statement.parameters;
        self.statements.numbered.insert(id, Some(statement));
        Ok(PreparedFacts { id, parameters, columns })
    }

    pub(super) fn read_prepared(&mut self, text: &[u8]) -> Result<(Statement, Vec<OutputColumn>)> {
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
        Ok((Statement { text: text.into(), parameters, is_planned, has_secret, key: None }, columns))
    }

    /// What logs need of a statement: its text, and whether a password may be in it.
    pub(super) fn logged_of_prepared(&self, id: u32) -> Option<(&[u8], bool)> {
        let statement = self.statements.numbered.get(&id)?.as_ref()?;
        Some((&statement.text, statement.has_secret))
    }

    /// The text of a statement, and how many `?` it has. Error 1243, for this command, if there is none of this number.
    pub fn prepared_text(&self, id: u32, command: &str) -> Result<(&[u8], u32)> {
        let found = self.statements.numbered.get(&id).and_then(Option::as_ref);
        let found = found.ok_or_else(|| unknown(&id.to_string(), command))?;
        Ok((&found.text, found.parameters))
    }

    /// Runs a prepared statement with these values. An error here means that the client cannot be answered.
    pub fn execute_prepared(&mut self, id: u32, parameters: Parameters<'_>, answer: &mut dyn Answer) -> Result<()> {
        self.begin_statement();
        self.log_prepared(id, Some(parameters.values));
        self.more_follows = false;
        let Some(mut statement) = self.statements.numbered.get_mut(&id).and_then(Option::take) else {
            let error = unknown(&id.to_string(), "mysqld_stmt_execute");
            return self.fail(&error, answer);
        };
        let rows_read = self.facts.shared.counters.get(Counter::InnodbRowsRead);
        let logged = Logged { start: 0, end: statement.text.len(), has_secret: statement.has_secret, rows_read };
        self.logged = Some(logged);
        let done = self.run_prepared(&mut statement, parameters, "mysqld_stmt_execute", answer);
        self.logged = Some(logged);
        self.end_count(&statement.text);
        if let Some(place) = self.statements.numbered.get_mut(&id) {
            *place = Some(statement);
        }
        done.or_else(|error| self.fail(&error, answer))
    }

    fn run_prepared(
        &mut self,
        statement: &mut Statement,
        parameters: Parameters<'_>,
        action: &str,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        if parameters.values.len() != statement.parameters as usize {
            return Err(Error::new(ER_WRONG_ARGUMENTS, &[&action]));
        }
        let key = statement.is_planned.then(|| self.key_of(statement, parameters));
        self.prepared(&statement.text, key, parameters, answer)
    }

    fn key_of(&mut self, statement: &mut Statement, parameters: Parameters<'_>) -> PlanKey {
        let environment = self.plan_environment();
        let is_ascii = parameters.are_ascii();
        if let Some((key, types, was_ascii, was_environment)) = &statement.key
            && (*was_ascii, *was_environment) == (is_ascii, environment)
            && types == parameters.types
        {
            return *key;
        }
        // No statement's text has these bytes, so no shape is this one.
        let text = [&statement.text, format!("\0p{is_ascii}{:?}", parameters.types).as_bytes()].concat();
        let shape = Shape { text: &text, literals: &[], parameters: 0, end: None };
        let key = PlanKey(shape.hash(self.instance.plans.seed() ^ environment));
        statement.key = Some((key, parameters.types.to_vec(), is_ascii, environment));
        key
    }

    /// Forgets a statement: COM_STMT_CLOSE.
    pub fn close_prepared(&mut self, id: u32) {
        self.statements.numbered.remove(&id);
    }

    // ---- PREPARE ----------------------------------------------------------------------------------------------------

    /// PREPARE. A statement that had the name goes, even if this one cannot be read.
    pub(super) fn prepare_named(&mut self, name: &ast::Identifier<'_>, source: &PrepareSource<'_>) -> Result<()> {
        let name: Box<str> = text_of(name.text.0).to_lowercase().into();
        self.statements.named.remove(&name);
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
        let (statement, _) = self.read_prepared(&text)?;
        self.statements.named.insert(name, Some(statement));
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
        let Some(mut statement) = self.statements.named.get_mut(place.as_str()).and_then(Option::take) else {
            return Err(unknown(&name, "EXECUTE"));
        };
        let parameters = Parameters { values: &values, types: &types };
        let done = self.run_prepared(&mut statement, parameters, "EXECUTE", answer);
        if let Some(place) = self.statements.named.get_mut(place.as_str()) {
            *place = Some(statement);
        }
        done
    }

    /// DEALLOCATE PREPARE.
    pub(super) fn forget_named(&mut self, name: &ast::Identifier<'_>) -> Result<()> {
        let name = text_of(name.text.0);
        match self.statements.named.remove(name.to_lowercase().as_str()) {
            Some(_) => Ok(()),
            None => Err(unknown(&name, "DEALLOCATE PREPARE")),
        }
    }
}
