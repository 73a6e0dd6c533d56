//! What a session may, and the statements about accounts.

use std::sync::Arc;

use meseta_engine::catalog::Schema;
use meseta_errors::{ER_DB_CREATE_EXISTS, ER_NO_SYSTEM_TABLE_ACCESS, ErrorCode};
use meseta_parser::ast::{self, ShowWhat, Statement};

use super::{Answer, Done, Identity, Instance, Session, Status};
use crate::account::{
    self, AccountContext, AccountId, AccountSettings, Grants, Objects, Outcome, Requirements, RoutineKind,
    SessionAccount, commits_implicitly, requirements_of,
};
use crate::error::{Error, Result};
use crate::name::text_of;
use crate::schema::TableCache;
use crate::schema::information::{Cell, Rows, VirtualColumn, system_table};
use crate::variable::{Globals, Variable};

/// `Access to system schema 'mysql' is rejected.`
const ER_NO_SYSTEM_SCHEMA_ACCESS: ErrorCode = ErrorCode(3552);

/// The account of a session whose connection did not log in by the server: of tests, and of what runs at the start.
pub(super) fn of_identity(instance: &Instance, identity: &Identity) -> SessionAccount {
    let part = |text: &str| text.rsplit_once('@').map(|(user, host)| (user.to_owned(), host.to_owned()));
    let (user, host) = part(&identity.account).unwrap_or_default();
    let id = AccountId::new(&user, &host);
    let from = part(&identity.user).map_or(host, |(_, host)| host);
    let settings = account_settings(&instance.globals, 0);
    SessionAccount::new(&instance.accounts, &id, &from, false, &settings)
        .unwrap_or_else(|| SessionAccount::nobody(&id, &from))
}

/// The system variables that account statements look at. `now` is in seconds since 1970.
pub fn account_settings(globals: &Globals, now: u64) -> AccountSettings {
    let value = |name: &str| Variable::find(name).map(|variable| globals.get(variable));
    let number = |name: &str| value(name).map_or(0, |value| value.as_u64());
    AccountSettings {
        print_hex: number("print_identified_with_as_hex") != 0,
        mandatory_roles: value("mandatory_roles").map_or_else(String::new, |value| value.as_text().to_owned()),
        all_roles_on_login: number("activate_all_roles_on_login") != 0,
        password_history: number("password_history").min(u32::MAX.into()) as u32,
        require_current: number("password_require_current") != 0,
        now,
    }
}

/// Tables by their names, for who has privileges in columns.
struct SchemaObjects<'s> {
    schema: Arc<Schema>,
    tables: &'s TableCache,
}

impl Objects for SchemaObjects<'_> {
    fn columns(&self, database: &str, table: &str) -> Option<Vec<String>> {
        if let Some(table) = system_table(database, table) {
            return Some(table.columns().iter().map(|column| column.name.to_ascii_lowercase()).collect());
        }
        let found = self.tables.get(self.schema.table_named(database, table).ok()?).ok()?;
        Some(found.columns.iter().map(|column| column.name.to_ascii_lowercase()).collect())
    }

    fn has_routine(&self, _: RoutineKind, _: &str, _: &str) -> bool {
        false
    }
}

impl Session {
    /// Whose session it is, and what he may.
    pub fn account(&self) -> &SessionAccount {
        &self.facts.account
    }

    /// Makes it the session of an account that logged in.
    pub fn set_account(&mut self, account: SessionAccount) {
        self.facts.identity.account = account.account.to_string();
        self.facts.account = account;
    }

    /// What account statements look at.
    fn account_settings(&self) -> AccountSettings {
        let mut settings = account_settings(&self.instance.globals, (self.facts.statement_time / 1_000_000) as u64);
        if let Some(variable) = Variable::find("print_identified_with_as_hex") {
            settings.print_hex = self.facts.variables.value(variable).as_u64() != 0;
        }
        settings
    }

    /// What a statement requires; the error if this session has it not.
    pub(super) fn authorise(&mut self, statement: &Statement<'_>) -> Result<Requirements> {
        let requirements = requirements_of(statement, self.facts.database.as_deref())?;
        self.check_requirements(&requirements)?;
        check_system(statement, self.facts.database.as_deref())?;
        Ok(requirements)
    }

    /// The error if this session has not what a statement requires. Some instructions, if it has it globally.
    #[inline]
    pub(super) fn check_requirements(&mut self, requirements: &Requirements) -> Result<()> {
        self.facts.account.refresh(&self.instance.accounts);
        match self.facts.account.surely_may(requirements) {
            true => Ok(()),
            false => self.check_closer(requirements),
        }
    }

    #[cold]
    fn check_closer(&mut self, requirements: &Requirements) -> Result<()> {
        let objects = SchemaObjects { schema: Arc::clone(self.engine.schema()), tables: &self.instance.tables };
        self.facts.account.check(requirements, &objects)
    }

    /// Error 1044 if it may not use a database.
    pub(super) fn check_use(&mut self, database: &str) -> Result<()> {
        self.facts.account.refresh(&self.instance.accounts);
        self.facts.account.grants().check_use(database)
    }

    /// Carries out a statement about accounts.
    pub(super) fn account_statement(
        &mut self,
        statement: &Statement<'_>,
        more: bool,
        answer: &mut dyn Answer,
    ) -> Result<()> {
        if commits_implicitly(statement) {
            self.end_transaction(true)?;
        }
        let settings = self.account_settings();
        let objects = SchemaObjects { schema: Arc::clone(self.engine.schema()), tables: &self.instance.tables };
        let mut context = AccountContext {
            store: &self.instance.accounts,
            session: &mut self.facts.account,
            database: self.facts.database.as_deref(),
            objects: &objects,
            hasher: self.instance.hasher(),
            settings: &settings,
            warnings: &mut self.context.warnings,
        };
        let outcome = account::execute(statement, &mut context)?;
        let session = &mut self.facts.account;
        if session.must_change_password {
            let own = session.accounts().get(&session.account);
            session.must_change_password = own.is_none_or(|own| own.expired);
        }
        match outcome {
            Outcome::Done => {
                self.facts.row_count = 0;
                self.remember_warnings();
                answer.done(&Done::default(), Status { more_results: more, ..self.status() })
            }
            Outcome::Rows { columns, rows } => {
                let column = |name: String| (name, VirtualColumn::text("", 1024));
                let columns = columns.into_iter().map(column).collect();
                let rows = rows.into_iter().map(|row| row.into_iter().map(Cell::Text).collect()).collect();
                self.show_rows(&Rows { columns, rows }, more, answer)
            }
        }
    }

    /// Leaves out of a SHOW what the session may not see.
    pub(super) fn keep_visible(&self, what: &ShowWhat<'_>, rows: &mut Rows) {
        let grants = self.facts.account.grants();
        let database_of = |schema: Option<ast::Identifier<'_>>| {
            schema.map(|schema| text_of(schema.text.0)).or_else(|| self.facts.database_name()).unwrap_or_default()
        };
        match what {
            ShowWhat::Databases => rows.rows.retain(|row| first(row).is_none_or(|name| grants.sees_database(name))),
            ShowWhat::Tables { schema, .. } | ShowWhat::TableStatus { schema } => {
                let database = database_of(*schema);
                rows.rows.retain(|row| first(row).is_none_or(|name| grants.sees_columns_of(&database, name)));
            }
            ShowWhat::Columns { table, .. } => {
                let database = database_of(table.schema);
                let name = text_of(table.name.text.0);
                keep_columns(grants, &database, &name, rows);
            }
            _ => {}
        }
    }
}

fn first(row: &[Cell]) -> Option<&str> {
    match row.first() {
        Some(Cell::Text(text)) => Some(text),
        _ => None,
    }
}

/// The columns in which the session has a privilege, and which.
fn keep_columns(grants: &Grants, database: &str, table: &str, rows: &mut Rows) {
    let words_at = rows.columns.iter().position(|(name, _)| name == "Privileges");
    rows.rows.retain_mut(|row| {
        let words = first(row).map_or_else(String::new, |column| grants.column_words(database, table, column));
        let is_seen = !words.is_empty();
        if let Some(cell) = words_at.and_then(|at| row.get_mut(at)) {
            *cell = Cell::Text(words);
        }
        is_seen
    });
}

/// What nobody may do with the database `mysql`, whose tables are made up. (Of information_schema it is the privileges that
/// nobody has.) Errors: 1007, 3552, 3554.
fn check_system(statement: &Statement<'_>, database: Option<&str>) -> Result<()> {
    let name_of = |name: &ast::ObjectName<'_>| {
        let of = name.schema.map(|schema| text_of(schema.text.0)).or_else(|| database.map(str::to_owned))?;
        (of == "mysql").then(|| text_of(name.name.text.0))
    };
    let mut written: Vec<&ast::ObjectName<'_>> = Vec::new();
    match statement {
        Statement::CreateDatabase(create) if create.name.is_some_and(|name| name.text.0 == b"mysql") => {
            return match (create.alter, create.if_not_exists) {
                (true, _) => Err(rejected()),
                (false, true) => Ok(()),
                (false, false) => Err(Error::new(ER_DB_CREATE_EXISTS, &[&"mysql"])),
            };
        }
        Statement::DropDatabase { name, .. } if name.text.0 == b"mysql" => return Err(rejected()),
        Statement::CreateTable(create) => written.push(&create.name),
        Statement::AlterTable(alter) => written.push(&alter.name),
        Statement::DropTables(drop) => written.extend(drop.tables),
        Statement::RenameTables(pairs) => written.extend(pairs.iter().flat_map(|(from, to)| [from, to])),
        Statement::Truncate(name) => written.push(name),
        Statement::CreateIndex(create) => written.push(&create.table),
        Statement::DropIndex(drop) => written.push(&drop.table),
        Statement::CreateView(create) => written.push(&create.name),
        Statement::Insert(insert) => written.push(&insert.table),
        Statement::Load(load) => written.push(&load.table),
        Statement::Update(update) => {
            for reference in update.tables {
                if let ast::TableReference::Table(table) = reference {
                    written.push(&table.name);
                }
            }
        }
        Statement::Delete(delete) => match &delete.target {
            ast::DeleteTarget::Single(table) => written.push(&table.name),
            ast::DeleteTarget::Several { tables, .. } => written.extend(*tables),
        },
        _ => {}
    }
    match written.into_iter().find_map(name_of) {
        None => Ok(()),
        Some(table) => Err(Error::new(ER_NO_SYSTEM_TABLE_ACCESS, &[&"system table", &"mysql", &table])),
    }
}

fn rejected() -> Error {
    Error { code: ER_NO_SYSTEM_SCHEMA_ACCESS, message: "Access to system schema 'mysql' is rejected.".to_owned() }
}
