//! SELECT ... INTO variables, INTO OUTFILE, INTO DUMPFILE.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;

use bumpalo::Bump;
use meseta_errors::{
    ER_FILE_EXISTS_ERROR, ER_SP_FETCH_NO_DATA, ER_SP_UNDECLARED_VAR, ER_TOO_MANY_ROWS,
    ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT,
};
use meseta_parser::ast::{self, IntoVariable, SelectInto};
use meseta_types::{Charset, Datum, SqlError};

use super::plan::Parameters;
use super::{Done, Session};
use crate::error::{Error, Result};
use crate::expression::{Host, Value};
use crate::name::text_of;
use crate::query::{Binder, ENOUGH, MORE, OutputColumn, QueryPlan, Subquery, run_query};
use crate::statement::manipulation::{Format, append_field};

/// Appends a row to a file's text.
type AppendRow<'a> = dyn FnMut(&[OutputColumn], &[Datum<'_>], &mut Vec<u8>) -> Result<()> + 'a;

impl Session {
    /// Executes a SELECT whose rows go elsewhere than to the client.
    pub(super) fn select_into(
        &mut self,
        query: &ast::Query<'_>,
        into: &SelectInto<'_>,
        text: &[u8],
        parameters: Parameters<'_>,
    ) -> Result<Done> {
        let facts = self.bind_facts(text, parameters);
        let mut tables = self.tables();
        let mut binder = Binder::new(facts, &mut tables);
        let plan = binder.query(query)?;
        let subqueries = std::mem::take(&mut binder.subqueries);
        drop(binder);
        let done = match into {
            SelectInto::Variables(variables) => {
                self.show_to_variables(variables, &plan, &subqueries, parameters.values)
            }
            SelectInto::Outfile { path, character_set, format } => {
                let character_set = match character_set {
                    Some(name) => Some(Charset::parse(&text_of(name.0))?),
                    None => None,
                };
                let format = Format::new(format)?;
                let path = text_of(path.0);
                self.show_to_file(&path, &plan, &subqueries, parameters.values, &mut |columns, row, out| {
                    out.extend(&format.line_start);
                    for (at, (column, &value)) in columns.iter().zip(row).enumerate() {
                        if at > 0 {
                            out.extend(&format.field_end);
                        }
                        append_value(column, value, character_set, &format, out);
                    }
                    out.extend(&format.line_end);
                    Ok(())
                })
            }
            SelectInto::Dumpfile(path) => {
                let path = text_of(path.0);
                let mut count = 0;
                self.show_to_file(&path, &plan, &subqueries, parameters.values, &mut |columns, row, out| {
                    count += 1;
                    if count > 1 {
                        return Err(Error::new(ER_TOO_MANY_ROWS, &[]));
                    }
                    for (column, &value) in columns.iter().zip(row) {
                        match value.is_null() {
                            true => out.push(0),
                            false => column.data_type.append_text(value, out),
                        }
                    }
                    Ok(())
                })
            }
        };
        self.end_statement(done)
    }

    fn show_to_variables(
        &mut self,
        variables: &[IntoVariable<'_>],
        plan: &QueryPlan,
        subqueries: &[Subquery],
        slots: &[Datum<'_>],
    ) -> Result<Done> {
        let mut names = Vec::new();
        for variable in variables {
            match variable {
                IntoVariable::User(name) => names.push(text_of(name.0).to_lowercase()),
                IntoVariable::Local(name) => {
                    return Err(Error::new(ER_SP_UNDECLARED_VAR, &[&text_of(name.text.0)]));
                }
            }
        }
        if names.len() != plan.columns.len() {
            return Err(Error::new(ER_WRONG_NUMBER_OF_COLUMNS_IN_SELECT, &[]));
        }
        let mut found: Option<Vec<Value>> = None;
        let mut is_more = false;
        let mut running = self.running(slots, subqueries);
        run_query(plan, &[], &mut running, &mut |_, row| {
            if found.is_some() {
                is_more = true;
                return Ok(ENOUGH);
            }
            found = Some(row.iter().map(|&value| Value::new(value)).collect());
            Ok(MORE)
        })?;
        drop(running);
        let affected = u64::from(found.is_some());
        match found {
            Some(values) => {
                for (name, value) in names.iter().zip(&values) {
                    self.facts.set_user_variable(name, value.get())?;
                }
            }
            None => {
                let error = Error::new(ER_SP_FETCH_NO_DATA, &[]);
                self.context.warnings.warn(SqlError::new(error.code.0, error.message));
            }
        }
        if is_more {
            return Err(Error::new(ER_TOO_MANY_ROWS, &[]));
        }
        Ok(Done { affected, ..Done::default() })
    }

    /// Writes rows into a new file. Errors: 1290, 1086; a file that was begun is removed again.
    fn show_to_file(
        &mut self,
        path: &str,
        plan: &QueryPlan,
        subqueries: &[Subquery],
        slots: &[Datum<'_>],
        append: &mut AppendRow<'_>,
    ) -> Result<Done> {
        self.check_file(path)?;
        let file = OpenOptions::new().write(true).create_new(true).mode(0o640).open(path);
        let file = file.map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::new(ER_FILE_EXISTS_ERROR, &[&path]),
            _ => not_written(path, &error),
        })?;
        let mut file = BufWriter::new(file);
        let (mut count, mut line) = (0, Vec::new());
        let mut running = self.running(slots, subqueries);
        let mut done = run_query(plan, &[], &mut running, &mut |_, row| {
            line.clear();
            append(&plan.columns, row, &mut line)?;
            count += 1;
            file.write_all(&line).map_err(|error| not_written(path, &error))?;
            Ok(MORE)
        });
        drop(running);
        if done.is_ok() {
            done = file.flush().map_err(|error| not_written(path, &error));
        }
        if let Err(error) = done {
            drop(file);
            // What is left of it is nobody's; if it cannot be removed, it stays.
            let _ = std::fs::remove_file(path);
            return Err(error);
        }
        Ok(Done { affected: count, ..Done::default() })
    }
}

fn append_value(
    column: &OutputColumn,
    value: Datum<'_>,
    character_set: Option<Charset>,
    format: &Format,
    out: &mut Vec<u8>,
) {
    if value.is_null() {
        return append_field(None, false, format, out);
    }
    let mut text = Vec::new();
    column.data_type.append_text(value, &mut text);
    if let (Some(to), Some(collation)) = (character_set, column.data_type.collation())
        && collation.charset() != Charset::Binary
    {
        let arena = Bump::new();
        let from = arena.alloc_slice_copy(&text);
        text.clear();
        collation.charset().convert(from, to, &mut text);
    }
    let is_text = column.data_type.is_string() || column.data_type.is_temporal();
    append_field(Some(&text), is_text, format, out);
}

fn not_written(path: &str, error: &std::io::Error) -> Error {
    let number = error.raw_os_error().unwrap_or(0);
    let text = error.to_string();
    let reason = text.split(" (os error").next().unwrap_or_default();
    let message = format!("Can't create/write to file '{path}' (OS errno {number} - {reason})");
    Error { code: meseta_errors::ErrorCode(1), message }
}
