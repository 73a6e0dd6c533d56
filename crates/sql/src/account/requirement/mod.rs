//! What a statement requires of who runs it, and whether he has it.
//!
//! ```text
//! requirements_of(statement, database) -> Requirements        once, with the plan
//!        statement: which kind of statement wants what         collect: tables and columns that it names
//! session.check(&requirements, objects)                        at every execution
//!        privileges in the server, or in the tables' databases, suffice: some tests of integers
//!        else requirement by requirement, the first that fails
//! ```
//!
//! # Invariants
//! 1. Requirements are of names, not of tables: they need no catalog, hold whatever comes and goes, and say no as early as
//!    MySQL does, before it is known whether a table is there.
//! 2. They are in the order in which MySQL denies: tables as they are written first or read, columns behind them.
//! 3. Whose column an unqualified name is decides the catalog, when somebody is checked who has privileges in columns.
//!    Where that leaves a doubt, the answer is no.
//!
//! # Source
//! The manual's "Access Control, Stage 2"; what a server of 9.7 answered to `tests/recorded/privileges.txt`.

mod change;
mod collect;
mod expression;
mod query;
mod statement;

use meseta_errors::{
    ER_ACCESS_DENIED_ERROR, ER_COLUMNACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR, ER_MUST_CHANGE_PASSWORD,
    ER_PROCACCESS_DENIED_ERROR, ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR, ErrorCode,
};
use meseta_parser::ast::Statement;

use super::accounts::RoutineKind;
use super::context::{Objects, SessionAccount};
use super::grants::{Grants, Object};
use super::privilege::Privileges;
use crate::error::{Error, Result};

pub use statement::requirements_of;

/// Where a table's privileges must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// In the table; columns do not count.
    Table,
    /// In the table, or each in some column: which columns are used is required beside it.
    SomeColumn,
    /// In the table, or in every column.
    EveryColumn,
    /// One of them is enough, or anything at all that was granted on the table itself; a table that is not there needs
    /// none: SHOW COLUMNS and its like.
    Seen,
    /// One of them is enough, in the table; with `columns` in a column too. The error shows these words.
    OneOf {
        /// Whether those of columns count.
        columns: bool,
        /// `SHOW`, `SELECT with locking clause`.
        shown: &'static str,
    },
}

/// One requirement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Requirement {
    /// One of these global privileges, static or dynamic: error 1227, which shows this text.
    OneOf {
        /// Their names.
        names: &'static [&'static str],
        /// `RELOAD or FLUSH_TABLES`.
        shown: &'static str,
    },
    /// FILE of LOAD DATA: error 1045.
    File,
    /// XA_RECOVER_ADMIN: error 1401.
    XaRecover,
    /// In a database: error 1044.
    Database {
        /// Its name.
        name: Box<str>,
        /// What.
        privileges: Privileges,
    },
    /// Anything at all in a database: error 1044.
    SeeDatabase {
        /// Its name.
        name: Box<str>,
        /// For SHOW CREATE DATABASE, whose error names the client's host.
        creates: bool,
    },
    /// Nobody may that in this database: error 1044.
    Never(Box<str>),
    /// In a table: error 1142.
    Table {
        /// Its place in [`Requirements::tables`].
        table: usize,
        /// What.
        privileges: Privileges,
        /// Where.
        extent: Extent,
        /// Whether the error names the database too, as that of REFERENCES does.
        is_qualified: bool,
    },
    /// In a column: error 1143.
    Column {
        /// As it was written.
        name: Box<str>,
        /// What.
        privilege: Privileges,
        /// The tables that it may be of, by level: those of its own query block first, then of the blocks around it.
        levels: Box<[Box<[usize]>]>,
        /// It may be the alias of an expression, or a derived table's, which nobody needs a privilege for: the catalog says
        /// whether it is a column.
        may_be_alias: bool,
    },
    /// In a routine: error 1370.
    Routine {
        /// Which kind.
        kind: RoutineKind,
        /// Its database.
        database: Box<str>,
        /// Its name.
        name: Box<str>,
        /// What.
        privileges: Privileges,
    },
}

/// What a statement requires.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Requirements {
    /// Global privileges that are enough for all of it. What they never are enough for has a privilege in it that nobody
    /// has.
    enough: Privileges,
    /// Whether they are enough in the databases of `tables`, too: all of it is about these.
    is_of_tables: bool,
    /// One by one.
    each: Box<[Requirement]>,
    /// Database and name of the tables that they are about.
    tables: Box<[(Box<str>, Box<str>)]>,
    /// Whether it may run before an expired password is changed.
    changes_password: bool,
}

impl Requirements {
    /// One by one, in the order in which they are checked.
    pub fn each(&self) -> &[Requirement] {
        &self.each
    }

    /// Database and name of the tables that they are about.
    pub fn tables(&self) -> &[(Box<str>, Box<str>)] {
        &self.tables
    }
}

impl SessionAccount {
    /// Whether the session may run a statement, without looking closer: some instructions if it may in the whole server, or in
    /// the databases of its tables. False says nothing yet. To be asked after [`SessionAccount::refresh`].
    #[inline]
    pub fn surely_may(&self, requirements: &Requirements) -> bool {
        let (grants, enough) = (&**self.grants(), requirements.enough);
        let in_databases = || {
            let mut databases = requirements.tables.iter().map(|(database, _)| database);
            requirements.is_of_tables && databases.all(|database| grants.in_database(database).has(enough))
        };
        !self.must_change_password && (grants.global.has(enough) || in_databases())
    }

    /// Whether the session may run a statement. To be asked after [`SessionAccount::refresh`].
    ///
    /// # Errors
    /// 1820 before an expired password is changed; 1044, 1045, 1142, 1143, 1227, 1370, 1401 of the first requirement that
    /// is not fulfilled.
    #[inline]
    pub fn check(&self, requirements: &Requirements, objects: &dyn Objects) -> Result<()> {
        if self.surely_may(requirements) {
            return Ok(());
        }
        self.check_each(requirements, objects)
    }

    fn check_each(&self, requirements: &Requirements, objects: &dyn Objects) -> Result<()> {
        if self.must_change_password && !requirements.changes_password {
            return Err(Error::new(ER_MUST_CHANGE_PASSWORD, &[]));
        }
        requirements.each.iter().try_for_each(|requirement| self.check_one(requirement, requirements, objects))
    }

    fn check_one(&self, requirement: &Requirement, all: &Requirements, objects: &dyn Objects) -> Result<()> {
        let grants = &**self.grants();
        match requirement {
            Requirement::OneOf { names, shown } => match names.iter().any(|name| grants.may_dynamic(name)) {
                true => Ok(()),
                false => Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[shown])),
            },
            Requirement::File if grants.may(Privileges::FILE, Object::Server) => Ok(()),
            Requirement::File => {
                let using = if self.using_password { "YES" } else { "NO" };
                Err(Error::new(ER_ACCESS_DENIED_ERROR, &[&grants.user, &grants.account_host, &using]))
            }
            Requirement::XaRecover if grants.may_dynamic("XA_RECOVER_ADMIN") => Ok(()),
            Requirement::XaRecover => {
                let message =
                    "XAER_RMERR: Fatal error occurred in the transaction branch - check your data for consistency";
                Err(Error { code: ErrorCode(1401), message: message.to_owned() })
            }
            Requirement::Database { name, privileges } => grants.check(*privileges, Object::Database(name)),
            Requirement::SeeDatabase { name, creates } => grants.check_use(name).map_err(|error| match creates {
                true => Error::new(ER_DBACCESS_DENIED_ERROR, &[&grants.user, &grants.host, name]),
                false => error,
            }),
            Requirement::Never(name) => Err(grants.denied_database(name)),
            Requirement::Table { table, privileges, extent, is_qualified } => {
                let (database, name) = &all.tables[*table];
                let Some(shown) = table_denied(grants, *privileges, *extent, database, name, objects) else {
                    return Ok(());
                };
                let named = if *is_qualified { format!("{database}.{name}") } else { name.to_string() };
                Err(Error::new(ER_TABLEACCESS_DENIED_ERROR, &[&shown, &grants.user, &grants.host, &named]))
            }
            Requirement::Column { name, privilege, levels, may_be_alias } => {
                match column_denied(grants, name, *privilege, levels, *may_be_alias, all, objects) {
                    None => Ok(()),
                    Some(table) => {
                        let shown = privilege.denied();
                        let arguments: [&dyn std::fmt::Display; 5] = [&shown, &grants.user, &grants.host, name, &table];
                        Err(Error::new(ER_COLUMNACCESS_DENIED_ERROR, &arguments))
                    }
                }
            }
            Requirement::Routine { kind, database, name, privileges } => {
                let object = Object::Routine(*kind, database, name);
                if grants.may(*privileges, object) {
                    return Ok(());
                }
                let command = if privileges.has(Privileges::EXECUTE) { "execute" } else { "alter routine" };
                let named = format!("{database}.{name}");
                Err(Error::new(ER_PROCACCESS_DENIED_ERROR, &[&command, &grants.user, &grants.account_host, &named]))
            }
        }
    }
}

/// The words of error 1142, if the table is denied.
fn table_denied(
    grants: &Grants,
    privileges: Privileges,
    extent: Extent,
    database: &str,
    table: &str,
    objects: &dyn Objects,
) -> Option<String> {
    let missing = grants.missing(privileges, Object::Table(database, table));
    if missing.is_empty() {
        return None;
    }
    match extent {
        Extent::Table => Some(missing.denied()),
        Extent::SomeColumn => {
            let missing = missing.without(grants.in_columns(database, table));
            (!missing.is_empty()).then(|| missing.denied())
        }
        Extent::EveryColumn => {
            let columns = objects.columns(database, table).unwrap_or_default();
            let may = |column: &String| grants.may(missing, Object::Column(database, table, column));
            (columns.is_empty() || !columns.iter().all(may)).then(|| missing.denied())
        }
        Extent::Seen => {
            let is_seen = missing != privileges || grants.has_entry(database, table);
            (!is_seen && objects.columns(database, table).is_some()).then(|| "SELECT".to_owned())
        }
        Extent::OneOf { columns, shown } => {
            let in_columns = if columns { grants.in_columns(database, table) } else { Privileges::NONE };
            let none = missing == privileges && in_columns.within(privileges).is_empty();
            none.then(|| shown.to_owned())
        }
    }
}

/// The table of error 1143, if the column is denied.
fn column_denied<'r>(
    grants: &Grants,
    column: &str,
    privilege: Privileges,
    levels: &[Box<[usize]>],
    may_be_alias: bool,
    all: &'r Requirements,
    objects: &dyn Objects,
) -> Option<&'r str> {
    let lower = column.to_ascii_lowercase();
    let is_alone = levels.iter().map(|level| level.len()).sum::<usize>() == 1 && !may_be_alias;
    for level in levels {
        let mut found = false;
        for &table in level {
            let (database, name) = &all.tables[table];
            let has = is_alone || objects.columns(database, name).is_some_and(|columns| columns.contains(&lower));
            if !has {
                continue;
            }
            found = true;
            if !grants.may(privilege, Object::Column(database, name, column)) {
                return Some(name);
            }
        }
        if found {
            return None;
        }
    }
    None
}

/// Whether a statement may run before an expired password is changed.
fn changes_password(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::SetPassword(_) => true,
        Statement::CreateUser(create) => create.alter,
        _ => false,
    }
}
