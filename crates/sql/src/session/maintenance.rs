//! ANALYZE, CHECK, CHECKSUM, OPTIMIZE and REPAIR TABLE.
//!
//! | statement | what it does here |
//! |---|---|
//! | ANALYZE | forgets what is known of the table's size: the next plan looks again |
//! | CHECK | reads every row, and looks for its entry in every index (`engine::rows::check`) |
//! | CHECKSUM | adds up CRC-32s of the rows; the numbers are not MySQL's, whose rows look otherwise |
//! | OPTIMIZE | writes the rows anew |
//! | REPAIR | nothing: says so, as MySQL does of InnoDB |
//!
//! # Invariants
//! 1. A table that is not there is a line of the answer, and the others are looked at nevertheless.

use std::sync::Arc;

use crc_fast::CrcAlgorithm;
use meseta_engine::Direction;
use meseta_engine::row::{KeyRange, Value};
use meseta_engine::rows::RowCursor;
use meseta_errors::{ER_DBACCESS_DENIED_ERROR, ER_NO_SUCH_TABLE};
use meseta_parser::ast::{self, Maintenance, MaintenanceKind};
use meseta_types::SqlError;

use super::{Answer, Session};
use crate::error::{Error, Result};
use crate::name::text_of;
use crate::schema::information::{Cell, Rows, VirtualColumn, virtual_table};
use crate::statement::definition::rebuild_as_it_is;

/// A table of one of these statements: found, made up, or not there.
enum Named {
    Table(Arc<meseta_engine::table::Table>),
    Information,
    Missing(Error),
}

impl Session {
    /// Answers one of these statements.
    pub(super) fn maintain(&mut self, given: &Maintenance<'_>, more: bool, answer: &mut dyn Answer) -> Result<()> {
        if given.histogram.is_some() {
            return Err(Error::not_yet("histograms"));
        }
        if given.kind == MaintenanceKind::Checksum {
            let rows = self.checksums(given);
            let rows = self.end_statement(rows)?;
            return self.show_rows(&rows, more, answer);
        }
        self.end_transaction(true)?;
        let (word, mut rows) = match given.kind {
            MaintenanceKind::Analyze => ("analyze", Vec::new()),
            MaintenanceKind::Check => ("check", Vec::new()),
            MaintenanceKind::Optimize => ("optimize", Vec::new()),
            MaintenanceKind::Repair | MaintenanceKind::Checksum => ("repair", Vec::new()),
        };
        for name in given.tables.iter() {
            let (shown, table) = self.named(name)?;
            let mut line = |kind: &str, text: &str| {
                rows.push(vec![Cell::text(&shown), Cell::text(word), Cell::text(kind), Cell::text(text)]);
            };
            match table {
                Named::Missing(error) => {
                    line("Error", &error.message);
                    line("status", "Operation failed");
                }
                Named::Information if given.kind == MaintenanceKind::Check => line("status", "OK"),
                Named::Information => return Err(self.denied("information_schema")),
                Named::Table(table) => match given.kind {
                    MaintenanceKind::Analyze => {
                        self.instance.statistics.forget(table.id());
                        line("status", "OK");
                    }
                    MaintenanceKind::Check => {
                        let checked = self.engine.check_table(&table).map_err(Error::from_engine);
                        let report = self.end_statement(checked)?;
                        report.problems.iter().for_each(|problem| line("error", &problem.to_string()));
                        if report.problems.is_empty() { line("status", "OK") } else { line("error", "Corrupt") }
                    }
                    MaintenanceKind::Optimize => {
                        line("note", "Table does not support optimize, doing recreate + analyze instead");
                        let done = self.with_definitions(|context| rebuild_as_it_is(name, context));
                        self.instance.statistics.forget(table.id());
                        match done {
                            Ok(()) => line("status", "OK"),
                            Err(error) => {
                                line("Error", &error.message);
                                line("status", "Operation failed");
                            }
                        }
                    }
                    MaintenanceKind::Repair | MaintenanceKind::Checksum => {
                        line("note", "The storage engine for the table doesn't support repair");
                    }
                },
            }
        }
        let columns = vec![
            VirtualColumn::text("Table", 128).or_null(),
            VirtualColumn::text("Op", 10).or_null(),
            VirtualColumn::text("Msg_type", 10).or_null(),
            VirtualColumn::long_text("Msg_text").or_null(),
        ];
        self.remember_warnings();
        self.show_rows(&Rows::new(columns, rows), more, answer)
    }

    fn denied(&self, database: &str) -> Error {
        let (user, host) = self.facts.identity.account.rsplit_once('@').unwrap_or_default();
        Error::new(ER_DBACCESS_DENIED_ERROR, &[&user, &host, &database])
    }

    /// A table of the list, and its name as it is shown. Error: 1046.
    fn named(&mut self, name: &ast::ObjectName<'_>) -> Result<(String, Named)> {
        let table = text_of(name.name.text.0);
        let database = match name.schema {
            Some(schema) => text_of(schema.text.0),
            None => self.facts.database_name().ok_or_else(|| Error::new(meseta_errors::ER_NO_DB_ERROR, &[]))?,
        };
        if database.eq_ignore_ascii_case("information_schema")
            && let Some(known) = virtual_table(&table)
        {
            return Ok((format!("information_schema.{}", known.name()), Named::Information));
        }
        let found = match self.engine.schema().table_named(&database, &table) {
            Ok(found) => Named::Table(Arc::clone(found)),
            Err(_) => Named::Missing(Error::new(ER_NO_SUCH_TABLE, &[&database, &table])),
        };
        Ok((format!("{database}.{table}"), found))
    }

    fn checksums(&mut self, given: &Maintenance<'_>) -> Result<Rows> {
        let is_quick = given.options.iter().any(|word| word.eq_ignore_ascii_case(b"QUICK"));
        let mut rows = Vec::new();
        for name in given.tables.iter() {
            let (shown, table) = self.named(name)?;
            let checksum = match table {
                Named::Missing(error) => {
                    let condition = SqlError::new(error.code.0, error.message);
                    self.context.warnings.push(meseta_types::Level::Error, condition);
                    Cell::Null
                }
                Named::Information => Cell::Unsigned(0),
                Named::Table(_) if is_quick => Cell::Null,
                Named::Table(table) => Cell::Unsigned(self.checksum(&table)?.into()),
            };
            rows.push(vec![Cell::text(shown), checksum]);
        }
        self.remember_warnings();
        let columns = vec![VirtualColumn::text("Table", 128).or_null(), VirtualColumn::big("Checksum").or_null()];
        Ok(Rows::new(columns, rows))
    }

    /// A number that two tables with the same rows have in common, in whichever order they are.
    fn checksum(&mut self, table: &meseta_engine::table::Table) -> Result<u32> {
        let columns = 0..table.definition.columns.len() as u16;
        let mut cursor = RowCursor::consistent(table, 0, KeyRange::ALL, Direction::Ascending, columns);
        let mut sum = 0u32;
        let (mut buffers, mut row) = (Default::default(), Vec::new());
        while cursor.next(&mut self.engine).map_err(Error::from_engine)? {
            self.facts.interrupts.check()?;
            let mut values = Vec::new();
            cursor.read(&mut buffers, &mut values).map_err(Error::from_engine)?;
            // (Put together first: a checksum goes fast over many bytes at a time.)
            row.clear();
            for value in &values {
                match value {
                    Value::Null => row.push(0),
                    Value::Signed(number) => row.extend_from_slice(&number.to_le_bytes()),
                    Value::Unsigned(number) => row.extend_from_slice(&number.to_le_bytes()),
                    Value::Float(number) => row.extend_from_slice(&number.to_le_bytes()),
                    Value::Double(number) => row.extend_from_slice(&number.to_le_bytes()),
                    Value::Bytes(bytes) => {
                        row.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                        row.extend_from_slice(bytes);
                    }
                }
            }
            sum = sum.wrapping_add(crc_fast::checksum(CrcAlgorithm::Crc32IsoHdlc, &row) as u32);
        }
        Ok(sum)
    }
}
