//! EXPLAIN of statements.
//!
//! The plan is made as for execution, but that literals stay in it, so that it can say what is looked for.

use std::rc::Rc;
use std::time::{Duration, Instant};

use meseta_errors::{ER_NO_SUCH_THREAD, ER_UNKNOWN_EXPLAIN_FORMAT};
use meseta_parser::ast::{self, ExplainTarget};
use meseta_types::{Collation, DataType, Datum, SqlError};

use super::plan::{Parameters, PlanBody, StatementPlan, is_planned};
use super::{Answer, Session, Status};
use crate::account::Requirements;
use crate::error::{Error, Result};
use crate::expression::{BindFacts, Value};
use crate::name::text_of;
use crate::query::explain::{self, ExplainRow, Explained};
use crate::query::{MORE, Measure, Measures, OutputColumn, OutputColumns, run_query};
use crate::variable::Variable;

/// How an explanation is printed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Traditional,
    Tree,
    Json,
}

impl Format {
    fn of_name(name: &str) -> Option<Format> {
        match &*name.to_ascii_lowercase() {
            "traditional" => Some(Format::Traditional),
            "tree" => Some(Format::Tree),
            "json" => Some(Format::Json),
            _ => None,
        }
    }
}

/// Note 1003.
const NOTE: u16 = 1003;

fn text_column(name: &str, length: u32) -> OutputColumn {
    let data_type = DataType::Varchar { length, collation: Collation::Utf8mb4_0900AiCi };
    OutputColumn::new(name, data_type, true)
}

fn text_or_null(text: &Option<String>) -> Datum<'_> {
    text.as_deref().map_or(Datum::Null, Datum::text)
}

/// The columns of FORMAT=TRADITIONAL.
fn traditional_columns() -> Vec<OutputColumn> {
    let number = |name: &str, data_type: DataType| OutputColumn { data_type, ..text_column(name, 0) };
    vec![
        number("id", DataType::BIGINT_UNSIGNED),
        OutputColumn { nullable: false, ..text_column("select_type", 19) },
        text_column("table", 64),
        text_column("partitions", 16384),
        text_column("type", 10),
        text_column("possible_keys", 4096),
        text_column("key", 64),
        text_column("key_len", 393_216),
        text_column("ref", 1024),
        number("rows", DataType::BIGINT),
        number("filtered", DataType::DOUBLE),
        text_column("Extra", 255),
    ]
}

impl Session {
    fn explain_format(&self, written: Option<&str>) -> Result<Option<Format>> {
        match written {
            None => Ok(None),
            Some(name) => {
                let unknown = || Error::new(ER_UNKNOWN_EXPLAIN_FORMAT, &[&name]);
                Format::of_name(name).map(Some).ok_or_else(unknown)
            }
        }
    }

    /// `explain_format`.
    fn default_format(&self) -> Format {
        let variable = Variable::find("explain_format");
        let value = variable.map(|variable| self.facts.variables.value(variable));
        value.and_then(|value| Format::of_name(value.as_text())).unwrap_or(Format::Tree)
    }

    /// Explains a statement.
    pub(super) fn explain(
        &mut self,
        statement: &ast::Explain<'_>,
        text: &[u8],
        parameters: Parameters<'_>,
        more: bool,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        let written = statement.format.map(|name| text_of(name.0));
        let format = self.explain_format(written.as_deref())?;
        let inner = match statement.target {
            ExplainTarget::Statement(inner) => inner,
            ExplainTarget::Connection(number) => {
                return Err(match text_of(number.0).parse::<u64>() {
                    Ok(number) if number != self.facts.identity.connection => Error::new(ER_NO_SUCH_THREAD, &[&number]),
                    _ => Error::not_yet("EXPLAIN FOR CONNECTION"),
                });
            }
            ExplainTarget::Table { .. } => return Err(Error::not_yet("this EXPLAIN")),
        };
        if statement.schema.is_some() {
            return Err(Error::not_yet("EXPLAIN ... FOR SCHEMA"));
        }
        if !is_planned(inner) {
            return Err(Error::not_yet("EXPLAIN of this statement"));
        }
        let format = match (format, statement.analyze, statement.into.is_some()) {
            (Some(Format::Traditional), true, _) => {
                return Err(Error::not_yet("EXPLAIN ANALYZE with TRADITIONAL format"));
            }
            (Some(format), ..) => format,
            (None, true, false) if self.default_format() == Format::Traditional => Format::Tree,
            (None, ..) => self.default_format(),
        };
        if statement.into.is_some() && format != Format::Json {
            let name = if format == Format::Tree { "TREE" } else { "TRADITIONAL" };
            let code = meseta_errors::ErrorCode(6007);
            return Err(Error { code, message: format!("EXPLAIN INTO does not support FORMAT={name}.") });
        }
        let facts = BindFacts { lifted: &[], ..self.bind_facts(text, parameters) };
        let plan = self.plan(inner, facts, Requirements::default(), parameters.values)?;
        let explained = self.explain_plan(&plan, format, statement.analyze, parameters);
        let (rows, note) = self.end_statement(explained)?;
        if let Some(note) = note {
            self.context.warnings.note(SqlError::new(NOTE, note));
        }
        match (rows, statement.into) {
            (Printed::Text(json), Some(variable)) => {
                let value = Value::new(Datum::text(&json));
                self.facts.user_variables.insert(text_of(variable.0).to_lowercase().into(), value);
                self.remember_warnings();
                answer.done(&super::Done::default(), Status { more_results: more, ..self.status() })
            }
            (Printed::Text(text), None) => self.show_explained_text(&text, more, answer),
            (Printed::Rows(rows), _) => self.show_explained_rows(&rows, more, answer),
        }
    }

    fn explain_plan(
        &mut self,
        plan: &StatementPlan,
        format: Format,
        analyzes: bool,
        parameters: Parameters<'_>,
    ) -> Result<(Printed, Option<String>)> {
        let (what, query, kind) = match &plan.body {
            PlanBody::Query(query) => (Explained::Query(query), Some(query), "select"),
            PlanBody::Insert(insert) => {
                let (verb, kind) = if insert.replaces() { ("Replace", "replace") } else { ("Insert", "insert") };
                (Explained::Insert(verb, &insert.table().name, insert.query()), insert.query(), kind)
            }
            PlanBody::Update(update) => {
                (Explained::Change("UPDATE", update.selected(), update.is_sorted()), None, "update")
            }
            PlanBody::Delete(delete) => {
                (Explained::Change("DELETE", delete.selected(), delete.is_sorted()), None, "delete")
            }
            PlanBody::Several(several) => {
                let query = several.query();
                (Explained::Query(query), Some(query), if several.deletes() { "delete" } else { "update" })
            }
        };
        if analyzes && matches!(plan.body, PlanBody::Several(_)) {
            return Err(Error::not_yet("EXPLAIN ANALYZE of a statement that changes several tables"));
        }
        let note = query.map(explain::query_note);
        let mut running = self.running(parameters.values, &plan.subqueries);
        let measures = match what {
            Explained::Query(query) if analyzes => {
                let measures = Rc::new(Measures::default());
                running.inside.measures = Some(Rc::clone(&measures));
                let (begun, mut rows, mut first) = (Instant::now(), 0, None);
                run_query(query, &[], &mut running, &mut |_, _| {
                    rows += 1;
                    first.get_or_insert_with(|| begun.elapsed());
                    Ok(MORE)
                })?;
                running.inside.measures = None;
                let last: Duration = begun.elapsed();
                Some((measures, Measure { loops: 1, rows, first: first.unwrap_or(last), last }))
            }
            _ => None,
        };
        if format == Format::Traditional {
            return Ok((Printed::Rows(explain::traditional(what, &plan.subqueries, &mut running)?), note));
        }
        let found = measures.as_ref().map(|(measures, _)| &**measures);
        let mut tree = explain::tree(what, &plan.subqueries, &mut running, found)?;
        if let Some((_, whole)) = measures {
            tree.set_measure(whole);
        }
        let printed = match format {
            Format::Json => tree.json(note.as_deref().unwrap_or_default(), kind),
            _ => tree.text(),
        };
        // FORMAT=TREE has no note.
        Ok((Printed::Text(printed), note.filter(|_| format == Format::Json)))
    }

    fn show_explained_text(&mut self, text: &str, more: bool, answer: &mut dyn Answer) -> Result<()> {
        let column = OutputColumn { nullable: false, ..text_column("EXPLAIN", text.len().max(1) as u32) };
        let columns = OutputColumns::from(vec![column]);
        self.facts.row_count = -1;
        self.facts.found_rows = 1;
        self.remember_warnings();
        let status = Status { more_results: more, ..self.status() };
        answer.columns(&columns, status)?;
        answer.row(&columns, &[Datum::text(text)])?;
        answer.end(status)
    }

    fn show_explained_rows(&mut self, rows: &[ExplainRow], more: bool, answer: &mut dyn Answer) -> Result<()> {
        let columns = OutputColumns::from(traditional_columns());
        self.facts.row_count = -1;
        self.facts.found_rows = rows.len() as u64;
        self.remember_warnings();
        let status = Status { more_results: more, ..self.status() };
        answer.columns(&columns, status)?;
        for row in rows {
            let extra = row.extra.join("; ");
            let filtered = row.filtered.map_or(Datum::Null, |share| Datum::Double((share * 100.0).round() / 100.0));
            let values = [
                Datum::Unsigned(row.id),
                Datum::text(&row.select_type),
                text_or_null(&row.table),
                Datum::Null,
                row.access.map_or(Datum::Null, Datum::text),
                text_or_null(&row.possible_keys),
                text_or_null(&row.key),
                text_or_null(&row.key_len),
                text_or_null(&row.reference),
                row.rows.map_or(Datum::Null, |rows| Datum::Signed(rows as i64)),
                filtered,
                if extra.is_empty() { Datum::Null } else { Datum::text(&extra) },
            ];
            answer.row(&columns, &values)?;
        }
        answer.end(status)
    }
}

/// What an explanation is shown as.
enum Printed {
    Rows(Vec<ExplainRow>),
    Text(String),
}
