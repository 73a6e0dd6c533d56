//! LOAD DATA: rows from a text.
//!
//! ```text
//!   file --Reader--> fields of a line --> columns and @variables --> SET --> the row, as INSERT would have it
//! ```
//!
//! # Invariants
//! 1. One line is in memory, however large the file is.
//!
//! # Source
//! The manual, "LOAD DATA Statement"; the order and the texts of warnings by experiment (tests/suite).

use bumpalo::Bump;
use meseta_errors::{
    ER_BAD_FIELD_ERROR, ER_INVALID_CHARACTER_STRING, ER_WARN_NULL_TO_NOTNULL, ER_WARN_TOO_FEW_RECORDS,
    ER_WARN_TOO_MANY_RECORDS,
};
use meseta_parser::ast::{self, ExpressionKind, LoadColumn, LoadDuplicates};
use meseta_types::{Charset, Collation, Datum, SqlError, assign};

use super::fields::{Ended, Format, PieceSource, Reader};
use super::insert::{Filling, InsertPlan, Inserting, NewRows, column_named};
use super::row::{Given, default_of, implicit_default, refuse_generated};
use super::{Changes, Strictness};
use crate::error::{Error, Result};
use crate::expression::Expr;
use crate::name::text_of;
use crate::query::{Binder, Place, Running, enter_table};

/// Where a field goes.
#[derive(Clone, Debug)]
enum Goal {
    Column(usize),
    /// `@name`.
    Variable(Box<str>),
}

/// LOAD DATA, bound.
#[derive(Debug)]
pub struct LoadPlan {
    insert: InsertPlan,
    goals: Vec<Goal>,
    /// SET: column and value (`None` for DEFAULT).
    assignments: Vec<(usize, Option<Expr>)>,
    format: Format,
    character_set: Charset,
    ignored_lines: u64,
    ignores: bool,
}

/// The lines that are left of a file.
struct Lines<'p, 's> {
    load: &'p LoadPlan,
    reader: Reader<'s>,
    have_ended: bool,
}

impl<'p> NewRows<'p> for Lines<'p, '_> {
    fn count(&self) -> Option<usize> {
        None
    }

    fn insert_next<'v, 'r: 'v>(
        &mut self,
        _: usize,
        plan: &'v InsertPlan,
        inserting: &mut Inserting<'_, 'v>,
        running: &mut Running<'r>,
        arena: &'v Bump,
    ) -> Result<bool>
    where
        'p: 'v,
    {
        let Self { load, reader, have_ended } = self;
        if *have_ended || !reader.begin_line()? {
            return Ok(false);
        }
        let row = arena.alloc_slice_fill_copy(plan.table().columns.len(), Datum::Null);
        let Some(ended) = load.line(reader, row, running, arena)? else { return Ok(false) };
        load.set(row, running, arena)?;
        load.refuse_nulls(row, running)?;
        let given = arena.alloc_slice_fill_iter(plan.columns().iter().map(|&column| Given::Ready(row[column])));
        plan.one_row(given, &[], inserting, running, arena)?;
        match ended {
            Ended::Field => {
                // (What is warned of the row itself comes first.)
                plan.insert_gathered(inserting, running, arena)?;
                let error = Error::new(ER_WARN_TOO_MANY_RECORDS, &[&inserting.found()]);
                running.context.complain(SqlError::new(error.code.0, error.message))?;
                *have_ended = !reader.skip_line()?;
            }
            Ended::Line => {}
            Ended::File => *have_ended = true,
        }
        Ok(true)
    }
}

impl LoadPlan {
    /// Binds the statement. Errors: those of names; 1115; 1083.
    pub fn new<'a>(load: &'a ast::Load<'a>, character_set: Charset, binder: &mut Binder<'a, '_>) -> Result<Self> {
        if load.xml {
            return Err(Error::not_yet("LOAD XML"));
        }
        if !load.partitions.is_empty() {
            return Err(Error::not_yet("partitions"));
        }
        let character_set = match &load.character_set {
            Some(name) => Charset::parse(&text_of(name.0))?,
            None => character_set,
        };
        let format = Format::new(&load.format)?;
        let ignores =
            load.duplicates == LoadDuplicates::Ignore || (load.local && load.duplicates == LoadDuplicates::Error);
        let replaces = load.duplicates == LoadDuplicates::Replace;
        let table = super::insert::table_named(&load.table, binder)?;
        binder.tables.permit(&table, &table.name, true)?;
        let mut goals = Vec::new();
        for column in load.columns.iter() {
            goals.push(match column {
                LoadColumn::Variable(name) => Goal::Variable(text_of(name.0).to_lowercase().into()),
                LoadColumn::Column(name) => Goal::Column(column_named(&table, name)?),
            });
        }
        if goals.is_empty() {
            let shown = (0..table.columns.len()).filter(|&number| !table.columns[number].invisible);
            goals = shown.map(Goal::Column).collect();
        }
        let mut insert = InsertPlan::of_rows(&table, replaces, ignores, binder)?;
        let mut assignments = Vec::new();
        for assignment in load.assignments.iter() {
            let number = column_named(&table, &assignment.column)?;
            if table.columns[number].generated.is_some() {
                return Err(refuse_generated(&table, number));
            }
            let value = match assignment.value.kind {
                ExpressionKind::Default => None,
                _ => {
                    let value = binder.expression(&assignment.value, Place::plain("field list"))?;
                    Some(value.for_column(&table.columns[number].data_type))
                }
            };
            assignments.push((number, value));
        }
        let mut columns: Vec<usize> = Vec::new();
        let named = goals.iter().filter_map(|goal| match goal {
            Goal::Column(number) => Some(*number),
            Goal::Variable(_) => None,
        });
        for number in named.chain(assignments.iter().map(|(number, _)| *number)) {
            if !columns.contains(&number) {
                columns.push(number);
            }
        }
        insert.set_columns(columns);
        let ignored_lines = match &load.ignored_lines {
            None => 0,
            Some(digits) => text_of(digits.0)
                .parse()
                .map_err(|_| Error::new(ER_BAD_FIELD_ERROR, &[&text_of(digits.0), &"IGNORE"]))?,
        };
        Ok(Self { insert, goals, assignments, format, character_set, ignored_lines, ignores })
    }

    /// Reads the file and inserts its rows.
    pub fn run(&self, source: &mut dyn PieceSource, running: &mut Running<'_>) -> Result<Changes> {
        let strictness = Strictness::new(self.ignores, running);
        let done = self.run_inside(source, running);
        strictness.end(running, done)
    }

    fn run_inside(&self, source: &mut dyn PieceSource, running: &mut Running<'_>) -> Result<Changes> {
        let handle = enter_table(self.insert.table(), meseta_engine::lock::TableMode::Write, running)?;
        let mut reader = Reader::new(source, &self.format);
        for _ in 0..self.ignored_lines {
            if !reader.skip_line()? {
                return Ok(Changes::default());
            }
        }
        let mut filling = Filling::new(&self.insert, &handle, None, running);
        filling.insert(Lines { load: self, reader, have_ended: false }, running)?;
        filling.end(running)
    }

    /// Reads a line's fields into columns and variables, and tells what ended the last. `None`: there was no line.
    fn line<'v>(
        &'v self,
        reader: &mut Reader<'_>,
        row: &mut [Datum<'v>],
        running: &mut Running<'_>,
        arena: &'v Bump,
    ) -> Result<Option<Ended>> {
        let table = self.insert.table();
        let number = running.context.row;
        let mut ended = Ended::Field;
        for (at, goal) in self.goals.iter().enumerate() {
            if ended != Ended::Field {
                // The line has ended too early.
                let error = Error::new(ER_WARN_TOO_FEW_RECORDS, &[&number]);
                match goal {
                    Goal::Column(column) => {
                        row[*column] = implicit_default(&table.columns[*column].data_type);
                        running.context.complain(SqlError::new(error.code.0, error.message))?;
                    }
                    Goal::Variable(name) => running.inside.facts.set_user_variable(name, Datum::Null)?,
                }
                continue;
            }
            let read = reader.read()?;
            if read.is_nothing && at == 0 {
                return Ok(None);
            }
            ended = read.ended;
            let value = match read.is_null {
                true => Datum::Null,
                false => {
                    if let Err(error) = self.character_set.check(&reader.field) {
                        let valid = &reader.field[..self.character_set.valid_len(&reader.field)];
                        let arguments: [&dyn std::fmt::Display; 2] =
                            [&self.character_set.name(), &String::from_utf8_lossy(valid)];
                        let _ = error;
                        return Err(Error::new(ER_INVALID_CHARACTER_STRING, &arguments));
                    }
                    Datum::Text(arena.alloc_slice_copy(&reader.field), self.collation())
                }
            };
            match goal {
                Goal::Variable(name) => running.inside.facts.set_user_variable(name, value)?,
                Goal::Column(column) => {
                    let definition = &table.columns[*column];
                    if definition.generated.is_some() {
                        continue;
                    }
                    row[*column] = assign(value, &definition.data_type, &definition.name, running.context, arena)?;
                }
            }
        }
        Ok(Some(ended))
    }

    fn collation(&self) -> Collation {
        self.character_set.default_collation()
    }

    fn set<'v, 'r: 'v>(&'v self, row: &mut [Datum<'v>], running: &mut Running<'r>, arena: &'v Bump) -> Result<()> {
        let table = self.insert.table();
        for (column, value) in &self.assignments {
            let so_far: &'v [Datum<'v>] = arena.alloc_slice_copy(row);
            let value = match value {
                Some(value) => value.evaluate(so_far, &mut running.env(arena, &[]))?,
                None => default_of(table, self.insert.rules(), *column, so_far, running, arena)?,
            };
            let definition = &table.columns[*column];
            row[*column] = assign(value, &definition.data_type, &definition.name, running.context, arena)?;
        }
        Ok(())
    }

    /// NULL in a column that takes none: a warning, and what stands for nothing in its type. Error 1263 in strict mode.
    fn refuse_nulls<'v>(&'v self, row: &mut [Datum<'v>], running: &mut Running<'_>) -> Result<()> {
        let table = self.insert.table();
        for &column in self.insert.columns() {
            let definition = &table.columns[column];
            if !row[column].is_null() || definition.nullable || definition.auto_increment {
                continue;
            }
            let error = Error::new(ER_WARN_NULL_TO_NOTNULL, &[&definition.name, &running.context.row]);
            running.context.complain(SqlError::new(error.code.0, error.message))?;
            row[column] = implicit_default(&table.columns[column].data_type);
        }
        Ok(())
    }
}
