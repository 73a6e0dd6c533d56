//! Definitions: databases, tables and indexes come, change and go; and SHOW, which tells what they are.
//!
//! ```text
//!   create_table   column, data_type, default    a schema::Table made from the statement
//!   alter_table    index, foreign_key, check         |                                   rename, drop, database
//!                  options, expression_text          v
//!                                      engine: create_table, change_tables, create_index, rebuild_table
//! ```
//!
//! # Invariants
//! 1. A statement that fails has changed nothing.
//! 2. Errors are MySQL's, in MySQL's order as far as a client can tell: types first, then names, keys, references.
//!
//! # When things fail
//! What the engine refuses after everything was checked here is told as MySQL's nearest error (`failure`).
//!
//! Expressions (DEFAULT, CHECK, generated columns) are kept as text, the way SHOW CREATE TABLE prints them
//! (`expression_text`). Where rows have to be computed with them, [`RowExpressions`] is asked.

mod alter_action;
mod alter_table;
mod check;
mod column;
mod create_table;
mod data_type;
mod database;
mod default;
mod drop;
mod expression_text;
mod expressions;
mod failure;
mod foreign_key;
mod index;
mod name;
mod options;
mod rename;
mod rows;
mod way;

use std::sync::Arc;

use meseta_engine::Session;
use meseta_engine::catalog::Schema;
use meseta_engine::table::OwnedValue;
use meseta_errors::{ER_NO_DB_ERROR, ErrorCode};
use meseta_parser::ast;
use meseta_types::{Collation, Context, SqlError};

use crate::error::{Error, Result};
use crate::schema::information::Rows;
use crate::schema::{Database, NameStyle, StatisticsCache, Table, TableCache};

pub use create_table::create_table_of;
pub use expressions::{Expressions, bind_definition, default_constant};
pub use failure::{change_failure, engine_failure};

/// Computes expressions of a table's columns while its rows are written anew: the seam to `expression`.
pub trait RowExpressions {
    /// The value of an expression (`text`, as the catalog keeps it) for a row of `table`, fitted into the type of its
    /// column with this number, as it is stored.
    fn evaluate(
        &mut self,
        table: &Table,
        column: usize,
        text: &str,
        row: &[OwnedValue],
        context: &mut Context,
    ) -> Result<OwnedValue>;

    /// Whether a row satisfies a CHECK.
    fn holds(&mut self, table: &Table, text: &str, row: &[OwnedValue], context: &mut Context) -> Result<bool>;
}

/// What a definition works with.
pub struct DefinitionContext<'s> {
    /// The session's own engine session: no transaction is under way (the implicit commit is the caller's).
    pub engine: &'s mut Session,
    /// Tables as they have been read.
    pub tables: &'s TableCache,
    /// What they contain, about.
    pub statistics: &'s StatisticsCache,
    /// The current database.
    pub database: Option<&'s str>,
    /// User and host of the account, for error texts.
    pub account: (&'s str, &'s str),
    /// `character_set_server`'s collation: of databases that do not name one.
    pub server_collation: Collation,
    /// `collation_connection`: of literals.
    pub connection_collation: Collation,
    /// `foreign_key_checks`. The engine session has been told too.
    pub foreign_key_checks: bool,
    /// NO_ENGINE_SUBSTITUTION of `sql_mode`.
    pub no_engine_substitution: bool,
    /// REAL_AS_FLOAT of `sql_mode`.
    pub real_as_float: bool,
    /// How SHOW CREATE writes names.
    pub names: NameStyle,
    /// Seconds since 1970.
    pub now: u64,
    /// SQL mode, time zone, warnings.
    pub context: &'s mut Context,
    /// Computes expressions over rows; without it, what needs that is error 1235.
    pub expressions: Option<&'s mut dyn RowExpressions>,
}

/// What a definition came to.
#[derive(Debug)]
pub enum Outcome {
    /// Done; so many rows were written anew.
    Done {
        /// Rows copied.
        rows: u64,
    },
    /// The answer of a SHOW.
    Rows(Rows),
    /// A database has gone: if it was the current one, there is none now.
    DroppedDatabase {
        /// Its name.
        name: String,
        /// How many tables were in it.
        tables: u64,
    },
}

impl Outcome {
    const DONE: Outcome = Outcome::Done { rows: 0 };
}

impl DefinitionContext<'_> {
    /// What there is now.
    pub(crate) fn schema(&mut self) -> Arc<Schema> {
        Arc::clone(self.engine.schema())
    }

    fn warn(&mut self, code: ErrorCode, arguments: &[&dyn std::fmt::Display]) {
        self.context.warnings.warn(SqlError::new(code.0, code.message(arguments)));
    }

    fn note(&mut self, code: ErrorCode, arguments: &[&dyn std::fmt::Display]) {
        self.context.warnings.note(SqlError::new(code.0, code.message(arguments)));
    }

    /// An error as a note.
    fn note_error(&mut self, error: Error) {
        self.context.warnings.note(SqlError::new(error.code.0, error.message));
    }

    /// The database of a name that names none: the current one. Errors: 1046.
    pub(crate) fn current_database(&self) -> Result<String> {
        self.database.map(str::to_owned).ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]))
    }

    /// Database and name of an object.
    pub(crate) fn object(&self, name: &ast::ObjectName<'_>) -> Result<(String, String)> {
        let database = match name.schema {
            Some(schema) => name::text(schema.text),
            None => self.current_database()?,
        };
        Ok((database, name::text(name.name.text)))
    }

    /// The table of an engine's table.
    fn read(&self, table: &Arc<meseta_engine::table::Table>) -> Result<Arc<Table>> {
        self.tables.get(table).map_err(failure::damaged)
    }

    /// The table of this name, and the engine's. Errors: 1046, 1146.
    pub(crate) fn table(
        &mut self,
        name: &ast::ObjectName<'_>,
    ) -> Result<(Arc<Table>, Arc<meseta_engine::table::Table>)> {
        let (database, name) = self.object(name)?;
        let schema = self.schema();
        let found = schema.table_named(&database, &name).map_err(|_| failure::no_such_table(&database, &name))?;
        Ok((self.read(found)?, Arc::clone(found)))
    }

    /// What is known of a database.
    pub(crate) fn database_named(&mut self, name: &str) -> Option<Database> {
        let schema = self.schema();
        Database::read(&schema.databases.get(name)?.attributes).ok()
    }
}

/// What a client is told of a definition, beside that it is done.
pub fn told(statement: &ast::Statement<'_>, rows: u64, warnings: u64) -> String {
    use ast::AlterAction as A;
    let leaves_rows_alone =
        |action: &A<'_>| matches!(action, A::EnableKeys | A::DisableKeys | A::Rename(_) | A::Algorithm(_) | A::Lock(_));
    match statement {
        ast::Statement::AlterTable(alter) if alter.actions.iter().all(leaves_rows_alone) => String::new(),
        ast::Statement::AlterTable(_) | ast::Statement::CreateIndex(_) | ast::Statement::DropIndex(_) => {
            format!("Records: {rows}  Duplicates: 0  Warnings: {warnings}")
        }
        _ => String::new(),
    }
}

/// Writes a table's rows anew, as they are: OPTIMIZE TABLE. Errors: 1046, 1146, those of the engine.
pub fn rebuild_as_it_is(name: &ast::ObjectName<'_>, session: &mut DefinitionContext<'_>) -> Result<()> {
    session.rebuild_table(name)
}

/// Executes a definition, or a SHOW about one. `text` is the statement's text, which `statement` was parsed from.
///
/// # Errors
/// MySQL's; 1235 for what is not there yet.
pub fn execute(statement: &ast::Statement<'_>, text: &[u8], session: &mut DefinitionContext<'_>) -> Result<Outcome> {
    match statement {
        ast::Statement::CreateDatabase(create) => session.create_or_alter_database(create),
        ast::Statement::DropDatabase { if_exists, name } => session.drop_database(*if_exists, name),
        ast::Statement::CreateTable(create) => session.create_table(create, text, &[]),
        ast::Statement::AlterTable(alter) => session.alter_table(alter, text),
        ast::Statement::DropTables(drop) => session.drop_tables(drop),
        ast::Statement::RenameTables(pairs) => session.rename_tables(pairs),
        ast::Statement::Truncate(name) => session.truncate(name),
        ast::Statement::CreateIndex(create) => session.create_index(create, text),
        ast::Statement::DropIndex(drop) => session.drop_index(drop),
        ast::Statement::Show(show) => crate::schema::information::show(show, session).map(Outcome::Rows),
        ast::Statement::Explain(ast::Explain { target: ast::ExplainTarget::Table { name, columns }, .. }) => {
            let what = ast::ShowWhat::Columns { extended: false, full: false, table: *name };
            let filter = columns.map(ast::ShowFilter::Like);
            crate::schema::information::show(&ast::Show { what, filter }, session).map(Outcome::Rows)
        }
        ast::Statement::CreateView(_) | ast::Statement::DropViews(_) => Err(Error::not_yet("views")),
        ast::Statement::Tablespace(_) => Err(Error::not_yet("tablespaces")),
        _ => Err(Error::not_yet("this statement")),
    }
}
