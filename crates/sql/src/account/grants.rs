//! What a session may: its account's privileges and those of its active roles, put together once.
//!
//! ```text
//! check(SELECT, Table("d", "t")):   global has it (one test of an integer)  |  a database's pattern  |  the table
//! ```
//!
//! # Invariants
//! 1. It never changes; who changes accounts publishes new ones, and a session takes them at its next statement.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use meseta_errors::{
    ER_COLUMNACCESS_DENIED_ERROR, ER_DBACCESS_DENIED_ERROR, ER_PROCACCESS_DENIED_ERROR,
    ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_TABLEACCESS_DENIED_ERROR,
};

use super::accounts::{Account, AccountId, Accounts, RoutineKind, TableGrants};
use super::host::wildcard;
use super::privilege::{DYNAMIC_PRIVILEGES, OF_SUPER, Privileges};
use super::store;
use crate::error::{Error, Result};

/// On what a privilege is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Object<'a> {
    /// The server: error 1227.
    Server,
    /// A database: error 1044.
    Database(&'a str),
    /// All of a table: error 1142.
    Table(&'a str, &'a str),
    /// A column of a table: error 1143, or 1142 where no column has the privilege.
    Column(&'a str, &'a str, &'a str),
    /// A routine: error 1370.
    Routine(RoutineKind, &'a str, &'a str),
}

/// What a session may.
#[derive(Clone, Debug, Default)]
pub struct Grants {
    /// As errors name who it is: the account's user, and the host it came from.
    pub user: String,
    /// The same, of errors about tables and columns.
    pub host: String,
    /// The account's host, which errors about databases and routines name.
    pub account_host: String,
    pub(super) global: Privileges,
    pub(super) dynamic: BTreeMap<String, bool>,
    /// Exact names first, patterns behind them, the more specific first.
    databases: Vec<(String, Privileges)>,
    tables: HashMap<String, HashMap<String, TableGrants>>,
    routines: BTreeMap<(RoutineKind, String, String), Privileges>,
}

impl Grants {
    /// Of an account with these roles active, logged in from `host`.
    pub fn new(accounts: &Accounts, account: &Account, roles: &BTreeSet<AccountId>, host: &str) -> Grants {
        let merged = merged(accounts, account, roles);
        let mut databases: Vec<_> = merged.databases.into_iter().collect();
        let rank = |name: &str| name.find(['%', '_']).unwrap_or(usize::MAX);
        databases.sort_by(|a, b| rank(&b.0).cmp(&rank(&a.0)).then_with(|| a.0.cmp(&b.0)));
        let mut tables: HashMap<String, HashMap<String, TableGrants>> = HashMap::new();
        for ((database, table), grants) in merged.tables {
            tables.entry(database).or_default().insert(table, grants);
        }
        Grants {
            user: account.id.user.clone(),
            host: host.to_owned(),
            account_host: account.id.host.clone(),
            global: merged.global,
            dynamic: merged.dynamic,
            databases,
            tables,
            routines: merged.routines,
        }
    }

    /// Of who may everything: of a server that checks nothing, or of the server itself.
    pub fn everything(account: &AccountId, host: &str) -> Grants {
        Grants {
            global: Privileges::EVERYTHING,
            dynamic: DYNAMIC_PRIVILEGES.iter().map(|name| ((*name).to_owned(), true)).collect(),
            ..Grants::none(account, host)
        }
    }

    /// Of who may nothing: an account that is gone.
    pub fn none(account: &AccountId, host: &str) -> Grants {
        Grants {
            user: account.user.clone(),
            host: host.to_owned(),
            account_host: account.host.clone(),
            ..Grants::default()
        }
    }

    /// Whether it has the privilege there.
    #[inline]
    pub fn may(&self, privileges: Privileges, object: Object<'_>) -> bool {
        self.global.has(privileges) || self.missing(privileges, object).is_empty()
    }

    /// An error with MySQL's number if it has not.
    #[inline]
    pub fn check(&self, privileges: Privileges, object: Object<'_>) -> Result<()> {
        if self.global.has(privileges) {
            return Ok(());
        }
        let missing = self.missing(privileges, object);
        if missing.is_empty() { Ok(()) } else { Err(self.denied(missing, object)) }
    }

    /// Whether it sees the database.
    pub fn sees_database(&self, database: &str) -> bool {
        if database == store::DATABASE {
            return false;
        }
        if ["information_schema", "performance_schema"].iter().any(|own| database.eq_ignore_ascii_case(own)) {
            return true;
        }
        self.uses_database(database) || self.global.has(Privileges::SHOW_DATABASES)
    }

    /// Whether it has anything at all in the database: then it may use it.
    pub fn uses_database(&self, database: &str) -> bool {
        !self.global.within(Privileges::OF_DATABASE).is_empty()
            || !self.of_database(database).is_empty()
            || self.tables.contains_key(database)
            || self.routines.keys().any(|(_, of, _)| of == database)
    }

    /// Error 1044 if it may not use the database.
    pub fn check_use(&self, database: &str) -> Result<()> {
        let is_own = ["information_schema", "performance_schema"].iter().any(|own| database.eq_ignore_ascii_case(own));
        match is_own || (self.uses_database(database) && database != store::DATABASE) {
            true => Ok(()),
            false => Err(self.denied_database(database)),
        }
    }

    /// Whether it has anything at all in the table: then it sees it.
    pub fn sees_table(&self, database: &str, table: &str) -> bool {
        let here = self.in_database(database).within(Privileges::OF_TABLE);
        !here.is_empty() || self.table(database, table).is_some()
    }

    /// Whether it has the privilege in the table or in at least one of its columns.
    pub fn may_in_some_column(&self, privilege: Privileges, database: &str, table: &str) -> bool {
        self.may(privilege, Object::Table(database, table))
            || self.table(database, table).is_some_and(|grants| grants.columns.values().any(|of| of.has(privilege)))
    }

    /// Whether anything was granted on the table itself, or on its columns.
    pub(super) fn has_entry(&self, database: &str, table: &str) -> bool {
        self.table(database, table).is_some()
    }

    /// What it has in some column of a table, be it not the same.
    pub(super) fn in_columns(&self, database: &str, table: &str) -> Privileges {
        let grants = self.table(database, table);
        grants.map_or(Privileges::NONE, |grants| grants.columns.values().fold(Privileges::NONE, |all, of| all.and(*of)))
    }

    /// Whether it has a global privilege, static or dynamic. SUPER stands for those of the dynamic ones that it was split
    /// into.
    pub fn may_dynamic(&self, name: &str) -> bool {
        match Privileges::parse(name) {
            Some(privilege) => self.global.has(privilege),
            None => self.dynamic.contains_key(name) || (self.global.has(Privileges::SUPER) && OF_SUPER.contains(&name)),
        }
    }

    /// Error 1227 unless it has one of these dynamic or static global privileges.
    pub fn check_one_of(&self, names: &[&str]) -> Result<()> {
        match names.iter().any(|name| self.may_dynamic(name)) {
            true => Ok(()),
            false => Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&names.join(", ")])),
        }
    }

    fn of_database(&self, database: &str) -> Privileges {
        let found = self.databases.iter().find(|(name, _)| name == database || wildcard(name, database, false));
        found.map_or(Privileges::NONE, |found| found.1)
    }

    /// What it has in all of a database.
    pub(super) fn in_database(&self, database: &str) -> Privileges {
        self.global.and(self.of_database(database))
    }

    fn table(&self, database: &str, table: &str) -> Option<&TableGrants> {
        self.tables.get(database)?.get(table)
    }

    /// What of these it has not.
    pub(super) fn missing(&self, privileges: Privileges, object: Object<'_>) -> Privileges {
        let mut missing = privileges.without(self.global);
        let (Object::Database(database)
        | Object::Table(database, _)
        | Object::Column(database, ..)
        | Object::Routine(_, database, _)) = object
        else {
            return missing;
        };
        missing = missing.without(self.of_database(database));
        match object {
            Object::Table(_, table) | Object::Column(_, table, _) => {
                if let Some(grants) = self.table(database, table) {
                    missing = missing.without(grants.table);
                    if let Object::Column(_, _, column) = object {
                        let lower = column.to_ascii_lowercase();
                        missing = missing.without(grants.columns.get(&lower).copied().unwrap_or_default());
                    }
                }
            }
            Object::Routine(kind, _, name) => {
                let key = (kind, database.to_owned(), name.to_ascii_lowercase());
                missing = missing.without(self.routines.get(&key).copied().unwrap_or_default());
            }
            Object::Server | Object::Database(_) => {}
        }
        missing
    }

    pub(super) fn denied_database(&self, database: &str) -> Error {
        Error::new(ER_DBACCESS_DENIED_ERROR, &[&self.user, &self.account_host, &database])
    }

    /// The error about what is missing.
    pub(super) fn denied(&self, missing: Privileges, object: Object<'_>) -> Error {
        let (user, host) = (&self.user, &self.host);
        match object {
            Object::Server => Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&missing.denied()]),
            Object::Database(database) => self.denied_database(database),
            Object::Column(database, table, column) if self.some_column(missing, database, table) => {
                Error::new(ER_COLUMNACCESS_DENIED_ERROR, &[&missing.denied(), user, host, &column, &table])
            }
            Object::Table(_, table) | Object::Column(_, table, _) => {
                Error::new(ER_TABLEACCESS_DENIED_ERROR, &[&missing.denied(), user, host, &table])
            }
            Object::Routine(_, database, name) => {
                let command = if missing.has(Privileges::EXECUTE) { "execute" } else { "alter routine" };
                Error::new(
                    ER_PROCACCESS_DENIED_ERROR,
                    &[&command, user, &self.account_host, &format_args!("{database}.{name}")],
                )
            }
        }
    }

    fn some_column(&self, privileges: Privileges, database: &str, table: &str) -> bool {
        let grants = self.table(database, table);
        grants.is_some_and(|grants| grants.columns.values().any(|of| !of.within(privileges).is_empty()))
    }
}

/// An account's privileges with those of roles, and of the roles' roles.
pub(super) fn merged(accounts: &Accounts, account: &Account, roles: &BTreeSet<AccountId>) -> Account {
    let mut all = account.clone();
    let (mut seen, mut left) = (BTreeSet::new(), roles.iter().collect::<Vec<_>>());
    while let Some(id) = left.pop() {
        let Some(role) = accounts.get(id).filter(|_| seen.insert(id)) else { continue };
        left.extend(role.roles.keys());
        all.global = all.global.and(role.global);
        for (name, option) in &role.dynamic {
            *all.dynamic.entry(name.clone()).or_default() |= option;
        }
        for (name, privileges) in &role.databases {
            let entry = all.databases.entry(name.clone()).or_default();
            *entry = entry.and(*privileges);
        }
        for (name, grants) in &role.tables {
            let entry = all.tables.entry(name.clone()).or_default();
            entry.table = entry.table.and(grants.table);
            for (column, privileges) in &grants.columns {
                let entry = entry.columns.entry(column.clone()).or_default();
                *entry = entry.and(*privileges);
            }
        }
        for (name, privileges) in &role.routines {
            let entry = all.routines.entry(name.clone()).or_default();
            *entry = entry.and(*privileges);
        }
    }
    all
}
