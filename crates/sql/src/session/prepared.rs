//! Prepared statements of the binary protocol: a text that is read once for its parameters and columns, and run with values.

use std::collections::HashMap;

use meseta_errors::{ER_UNKNOWN_STMT_HANDLER, ER_WRONG_ARGUMENTS};
use meseta_parser::{Arena, ast};
use meseta_types::{Collation, DataType, Datum};

use super::{Answer, Session};
use crate::error::{Error, Result};
use crate::expression::Value;
use crate::query::{OutputColumn, bind_query};

/// A prepared statement.
#[derive(Clone, Debug)]
struct Statement {
    text: Box<[u8]>,
    parameters: u32,
}

/// A session's prepared statements by their numbers.
#[derive(Default)]
pub struct Statements {
    last: u32,
    all: HashMap<u32, Statement>,
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

/// The type of a parameter that has this value.
pub fn type_of(value: &Value) -> DataType {
    match value.get() {
        Datum::Null => DataType::Null,
        Datum::Signed(_) => DataType::BIGINT,
        Datum::Unsigned(_) => DataType::BIGINT_UNSIGNED,
        Datum::Float(_) | Datum::Double(_) => DataType::DOUBLE,
        Datum::Text(text, collation) => DataType::Varchar { length: text.len() as u32, collation },
        Datum::Date(_) => DataType::Date,
        Datum::Time(_, decimals) => DataType::Time { decimals },
        Datum::DateTime(_, decimals) => DataType::DateTime { decimals },
        _ => DataType::Varchar { length: 255, collation: Collation::Utf8mb4_0900AiCi },
    }
}

impl Session {
    /// Prepares a statement: COM_STMT_PREPARE. Errors: those of reading it, and of binding it if it has rows.
    pub fn prepare(&mut self, text: &[u8]) -> Result<PreparedFacts> {
        let arena = Arena::new();
        let options = self.facts.variables.settings().parser_options(false);
        let parsed = meseta_parser::parse(&arena, text, 0, options)?;
        self.renew_context(false);
        self.slots = Vec::new();
        self.authorise(&parsed.statement)?;
        let columns = match parsed.statement {
            ast::Statement::Query(query) => {
                let facts = self.bind_facts(text);
                let mut tables = self.tables();
                bind_query(query, facts, &mut tables)?.0.columns
            }
            _ => Vec::new(),
        };
        let parameters = parsed.parameters;
        let id = self.statements.last.wrapping_add(1).max(1);
        self.statements.last = id;
        self.statements.all.insert(id, Statement { text: text.into(), parameters });
        Ok(PreparedFacts { id, parameters, columns })
    }

    /// How many `?` a statement has. Error 1243 if there is none of this number.
    pub fn parameters_of(&self, id: u32) -> Result<u32> {
        let found = self.statements.all.get(&id);
        found
            .map(|statement| statement.parameters)
            .ok_or_else(|| Error::new(ER_UNKNOWN_STMT_HANDLER, &[&0, &id, &"mysqld_stmt_execute"]))
    }

    /// Runs a prepared statement with these values. An error here means that the client cannot be answered.
    pub fn execute_prepared(&mut self, id: u32, values: Vec<Value>, answer: &mut dyn Answer) -> Result<()> {
        let statement = self.statements.all.get(&id).cloned();
        let Some(statement) = statement else {
            let error = Error::new(ER_UNKNOWN_STMT_HANDLER, &[&0, &id, &"mysqld_stmt_execute"]);
            return self.fail(&error, answer);
        };
        if values.len() != statement.parameters as usize {
            return self.fail(&Error::new(ER_WRONG_ARGUMENTS, &[&"mysqld_stmt_execute"]), answer);
        }
        self.slots = values;
        let done = self.execute(&statement.text, false, answer);
        self.slots = Vec::new();
        done
    }

    /// Forgets a statement: COM_STMT_CLOSE.
    pub fn close_prepared(&mut self, id: u32) {
        self.statements.all.remove(&id);
    }
}
