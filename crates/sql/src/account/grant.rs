//! GRANT and REVOKE.
//!
//! ```text
//! what was written -> Wanted: static privileges, those of columns, dynamic names
//!   -> is the level one for them (1144, 1221, 3619)?  may the session give them (1044, 1045, 1142, 1227)?
//!   -> is the object there (1146, 1054, 1305)?  is the account (1410)?  -> a change of each account
//! ```

use std::collections::BTreeMap;

use meseta_errors::{
    ER_ACCESS_DENIED_ERROR, ER_BAD_FIELD_ERROR, ER_CANT_CREATE_USER_WITH_GRANT, ER_ILLEGAL_GRANT_FOR_TABLE,
    ER_ILLEGAL_PRIVILEGE_LEVEL, ER_NO_DB_ERROR, ER_NO_SUCH_TABLE, ER_NONEXISTING_GRANT, ER_NONEXISTING_PROC_GRANT,
    ER_NONEXISTING_TABLE_GRANT, ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_WRONG_USAGE, ErrorCode,
};
use meseta_parser::ast::{Grant, GrantLevel, GrantSubject, ObjectName, Privilege};
use meseta_types::SqlError;

use super::accounts::{Account, AccountId, Accounts, RoutineKind};
use super::context::AccountContext;
use super::grants::{Grants, Object};
use super::privilege::{DYNAMIC_PRIVILEGES, Privileges};
use super::role;
use crate::error::{Error, Result};
use crate::name::text_of;

/// What is to be given or taken.
#[derive(Default)]
struct Wanted {
    /// At the whole level.
    all: Privileges,
    /// In columns, their names in lower case.
    columns: BTreeMap<String, Privileges>,
    /// In upper case.
    dynamic: Vec<String>,
    /// Whether a static privilege was named: USAGE is one.
    some_static: bool,
}

/// Where.
enum Level {
    Global,
    Database(String),
    Table(String, String),
    Routine(RoutineKind, String, String),
}

/// GRANT and REVOKE.
pub(super) fn grant(statement: &Grant<'_>, context: &mut AccountContext<'_>) -> Result<()> {
    let store = context.store;
    let ids = context.ids(statement.accounts);
    store.change(|accounts| match &statement.subject {
        GrantSubject::Roles(roles) => {
            let roles = context.ids(roles);
            if statement.ignore_unknown_user {
                let known: Vec<_> = known(accounts, &ids, context);
                return role::grant(accounts, statement.revoke, statement.with_option, &roles, &known, context);
            }
            role::grant(accounts, statement.revoke, statement.with_option, &roles, &ids, context)
        }
        GrantSubject::Proxy(proxied) => {
            let proxied = context.id(proxied);
            proxy(accounts, statement, &proxied, &ids, context)
        }
        GrantSubject::AllAndGrantOption => revoke_all(accounts, statement, &ids, context),
        GrantSubject::Privileges { privileges, on } => {
            let wanted = wanted(privileges, on, statement.revoke, context)?;
            let level = level(on, context)?;
            let ids = if statement.ignore_unknown_user { known(accounts, &ids, context) } else { ids.clone() };
            check_rights(&wanted, &level, context)?;
            check_object(&wanted, &level, statement.revoke, context)?;
            for id in &ids {
                let result = match accounts.get_mut(id) {
                    None if statement.revoke => Err(no_grant(id, &level)),
                    None => Err(Error::new(ER_CANT_CREATE_USER_WITH_GRANT, &[])),
                    Some(account) if statement.revoke => take(account, &wanted, &level),
                    Some(account) => {
                        give(account, &wanted, &level, statement.with_option);
                        Ok(())
                    }
                };
                match result {
                    Err(error) if statement.if_exists => {
                        context.warnings.warn(SqlError::new(error.code.0, error.message));
                    }
                    result => result?,
                }
            }
            Ok(())
        }
    })
}

/// Those accounts that are there; a warning for each that is not.
fn known(accounts: &Accounts, ids: &[AccountId], context: &mut AccountContext<'_>) -> Vec<AccountId> {
    let (there, absent): (Vec<_>, Vec<_>) = ids.iter().cloned().partition(|id| accounts.get(id).is_some());
    for id in absent {
        context.warnings.warn(SqlError::new(3162, format!("Authorization ID {} does not exist.", id.user)));
    }
    there
}

/// Which privileges, if the level is one for them.
fn wanted(
    privileges: &[Privilege<'_>],
    on: &GrantLevel<'_>,
    revoke: bool,
    context: &mut AccountContext<'_>,
) -> Result<Wanted> {
    let illegal = || Error::new(ER_ILLEGAL_GRANT_FOR_TABLE, &[]);
    let allowed = match on {
        GrantLevel::Global => Privileges::EVERYTHING,
        GrantLevel::CurrentSchema | GrantLevel::Schema(_) => Privileges::OF_DATABASE,
        GrantLevel::Table(_) => Privileges::OF_TABLE,
        GrantLevel::Procedure(_) | GrantLevel::Function(_) | GrantLevel::Library(_) => Privileges::OF_ROUTINE,
    };
    let mut wanted = Wanted::default();
    for privilege in privileges {
        let upper = text_of(privilege.name.0).to_ascii_uppercase();
        let Some(found) = Privileges::parse(&upper) else {
            let known = DYNAMIC_PRIVILEGES.contains(&upper.as_str());
            match on {
                GrantLevel::Global if known => wanted.dynamic.push(upper),
                GrantLevel::Global if revoke => {
                    let text = format!("Dynamic privilege '{upper}' is not registered with the server.");
                    context.warnings.warn(SqlError::new(3929, text));
                }
                GrantLevel::Global => {
                    let message = "You have an error in your SQL syntax; check the manual that corresponds to your \
                                   MySQL server version for the right syntax to use";
                    return Err(Error { code: ErrorCode(1149), message: message.to_owned() });
                }
                GrantLevel::Table(object) | GrantLevel::Procedure(object) | GrantLevel::Function(object) => {
                    return Err(Error::new(ER_ILLEGAL_PRIVILEGE_LEVEL, &[&text_of(object.name.text.0)]));
                }
                _ => return Err(Error::new(ER_ILLEGAL_PRIVILEGE_LEVEL, &[&upper])),
            }
            continue;
        };
        wanted.some_static = true;
        if found == Privileges::ALL {
            wanted.all = wanted.all.and(allowed.without(Privileges::GRANT));
            if matches!(on, GrantLevel::Global) {
                wanted.dynamic.extend(DYNAMIC_PRIVILEGES.iter().map(|name| (*name).to_owned()));
            }
            continue;
        }
        if found == Privileges::SUPER && !revoke {
            let text = "The SUPER privilege identifier is deprecated";
            context.warnings.warn(SqlError::new(1287, text));
        }
        if !allowed.has(found) {
            return Err(match on {
                GrantLevel::CurrentSchema | GrantLevel::Schema(_) => {
                    Error::new(ER_WRONG_USAGE, &[&"DB GRANT", &"GLOBAL PRIVILEGES"])
                }
                _ => illegal(),
            });
        }
        if privilege.columns.is_empty() {
            wanted.all = wanted.all.and(found);
        } else if !matches!(on, GrantLevel::Table(_)) || found.is_empty() || !Privileges::OF_COLUMN.has(found) {
            return Err(illegal());
        }
        for column in privilege.columns.iter() {
            let entry = wanted.columns.entry(text_of(column.text.0).to_ascii_lowercase()).or_default();
            *entry = entry.and(found);
        }
    }
    Ok(wanted)
}

fn level(on: &GrantLevel<'_>, context: &AccountContext<'_>) -> Result<Level> {
    let current = || context.database.map(str::to_owned).ok_or_else(|| Error::new(ER_NO_DB_ERROR, &[]));
    let pair = |object: &ObjectName<'_>| -> Result<(String, String)> {
        let database = object.schema.map_or_else(current, |schema| Ok(text_of(schema.text.0)))?;
        Ok((database, text_of(object.name.text.0)))
    };
    let level = match on {
        GrantLevel::Global => Level::Global,
        GrantLevel::CurrentSchema => Level::Database(current()?),
        GrantLevel::Schema(schema) => Level::Database(text_of(schema.text.0)),
        GrantLevel::Table(object) => {
            let (database, table) = pair(object)?;
            Level::Table(database, table)
        }
        GrantLevel::Procedure(object) => {
            let (database, routine) = pair(object)?;
            Level::Routine(RoutineKind::Procedure, database, routine.to_ascii_lowercase())
        }
        GrantLevel::Function(object) => {
            let (database, routine) = pair(object)?;
            Level::Routine(RoutineKind::Function, database, routine.to_ascii_lowercase())
        }
        GrantLevel::Library(_) => return Err(Error::not_yet("GRANT ON LIBRARY")),
    };
    if let Level::Database(database) | Level::Table(database, _) = &level
        && database.eq_ignore_ascii_case("information_schema")
    {
        return Err(context.grants().denied_database(database));
    }
    Ok(level)
}

/// Whether the session has what it wants to give or take, and may give it on.
fn check_rights(wanted: &Wanted, level: &Level, context: &AccountContext<'_>) -> Result<()> {
    let grants = context.grants();
    let asked = wanted.all.and(Privileges::GRANT);
    match level {
        Level::Global => {
            if wanted.some_static && !grants.may(asked, Object::Server) {
                let using = if context.session.using_password { "YES" } else { "NO" };
                return Err(Error::new(ER_ACCESS_DENIED_ERROR, &[&grants.user, &grants.account_host, &using]));
            }
            let may = |name: &String| {
                grants.dynamic.get(name).copied().unwrap_or(false)
                    || (grants.global.has(Privileges::SUPER.and(Privileges::GRANT)) && name != "SYSTEM_USER")
            };
            match wanted.dynamic.iter().all(may) {
                true => Ok(()),
                false => Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&"GRANT OPTION"])),
            }
        }
        Level::Database(database) => grants.check(asked, Object::Database(database)),
        Level::Table(database, table) => check_table_rights(wanted, database, table, &grants),
        Level::Routine(kind, database, routine) => grants.check(asked, Object::Routine(*kind, database, routine)),
    }
}

fn check_table_rights(wanted: &Wanted, database: &str, table: &str, grants: &Grants) -> Result<()> {
    let whole = Object::Table(database, table);
    let missing = grants.missing(wanted.all.and(Privileges::GRANT), whole);
    if !missing.is_empty() {
        let columns = wanted.columns.values().fold(Privileges::NONE, |all, of| all.and(*of));
        return Err(grants.denied(missing.and(grants.missing(columns, whole)), whole));
    }
    for (column, privileges) in &wanted.columns {
        grants.check(*privileges, Object::Column(database, table, column))?;
    }
    Ok(())
}

/// Whether what is granted on is there.
fn check_object(wanted: &Wanted, level: &Level, revoke: bool, context: &AccountContext<'_>) -> Result<()> {
    match level {
        _ if revoke => Ok(()),
        Level::Global | Level::Database(_) => Ok(()),
        Level::Table(database, table) => {
            let columns = context.objects.columns(database, table);
            match columns {
                // Who grants CREATE grants what is to come.
                None if wanted.all.has(Privileges::CREATE) => Ok(()),
                None => Err(Error::new(ER_NO_SUCH_TABLE, &[database, table])),
                Some(columns) => match wanted.columns.keys().find(|name| !columns.contains(name)) {
                    Some(column) => Err(Error::new(ER_BAD_FIELD_ERROR, &[column, table])),
                    None => Ok(()),
                },
            }
        }
        Level::Routine(kind, database, routine) => match context.objects.has_routine(*kind, database, routine) {
            true => Ok(()),
            false => {
                let kind = if *kind == RoutineKind::Procedure { "PROCEDURE" } else { "FUNCTION" };
                Err(Error { code: ErrorCode(1305), message: format!("{kind} {routine} does not exist") })
            }
        },
    }
}

fn no_grant(id: &AccountId, level: &Level) -> Error {
    match level {
        Level::Global | Level::Database(_) => Error::new(ER_NONEXISTING_GRANT, &[&id.user, &id.host]),
        Level::Table(_, table) => Error::new(ER_NONEXISTING_TABLE_GRANT, &[&id.user, &id.host, table]),
        Level::Routine(_, _, routine) => Error::new(ER_NONEXISTING_PROC_GRANT, &[&id.user, &id.host, routine]),
    }
}

fn give(account: &mut Account, wanted: &Wanted, level: &Level, option: bool) {
    let all = if option { wanted.all.and(Privileges::GRANT) } else { wanted.all };
    let add = |to: &mut Privileges, all: Privileges| *to = to.and(all);
    match level {
        Level::Global => {
            if wanted.some_static {
                add(&mut account.global, all);
            }
            for name in &wanted.dynamic {
                *account.dynamic.entry(name.clone()).or_default() |= option;
            }
        }
        Level::Database(database) => {
            if !all.is_empty() {
                add(account.databases.entry(database.clone()).or_default(), all);
            }
        }
        Level::Table(database, table) => {
            if all.is_empty() && wanted.columns.is_empty() {
                return;
            }
            let grants = account.tables.entry((database.clone(), table.clone())).or_default();
            add(&mut grants.table, all);
            for (column, privileges) in &wanted.columns {
                add(grants.columns.entry(column.clone()).or_default(), *privileges);
            }
        }
        Level::Routine(kind, database, routine) => {
            if !all.is_empty() {
                add(account.routines.entry((*kind, database.clone(), routine.clone())).or_default(), all);
            }
        }
    }
}

fn take(account: &mut Account, wanted: &Wanted, level: &Level) -> Result<()> {
    let id = account.id.clone();
    let absent = || no_grant(&id, level);
    match level {
        Level::Global => {
            account.global = account.global.without(wanted.all);
            for name in &wanted.dynamic {
                account.dynamic.remove(name);
            }
        }
        Level::Database(database) => {
            let privileges = account.databases.get_mut(database).ok_or_else(absent)?;
            *privileges = privileges.without(wanted.all);
            account.databases.retain(|_, privileges| !privileges.is_empty());
        }
        Level::Table(database, table) => {
            let key = (database.clone(), table.clone());
            let grants = account.tables.get_mut(&key).ok_or_else(absent)?;
            grants.table = grants.table.without(wanted.all);
            for (column, privileges) in &mut grants.columns {
                *privileges = privileges.without(wanted.all);
                if let Some(of_column) = wanted.columns.get(column) {
                    *privileges = privileges.without(*of_column);
                }
            }
            grants.columns.retain(|_, privileges| !privileges.is_empty());
            if grants.table.is_empty() && grants.columns.is_empty() {
                account.tables.remove(&key);
            }
        }
        Level::Routine(kind, database, routine) => {
            let key = (*kind, database.clone(), routine.clone());
            let privileges = account.routines.get_mut(&key).ok_or_else(absent)?;
            *privileges = privileges.without(wanted.all);
            if privileges.is_empty() {
                account.routines.remove(&key);
            }
        }
    }
    Ok(())
}

/// `REVOKE ALL PRIVILEGES, GRANT OPTION FROM ..`: all but roles.
fn revoke_all(
    accounts: &mut Accounts,
    statement: &Grant<'_>,
    ids: &[AccountId],
    context: &mut AccountContext<'_>,
) -> Result<()> {
    context.grants().check_one_of(&["CREATE USER"])?;
    let ids = if statement.ignore_unknown_user { known(accounts, ids, context) } else { ids.to_vec() };
    for id in &ids {
        context.check_system_user(accounts, id)?;
        let Some(account) = accounts.get_mut(id) else {
            let message = "Can't revoke all privileges for one or more of the requested users".to_owned();
            return Err(Error { code: ErrorCode(1269), message });
        };
        account.global = Privileges::NONE;
        account.dynamic.clear();
        account.databases.clear();
        account.tables.clear();
        account.routines.clear();
    }
    Ok(())
}

/// `GRANT PROXY ON account TO account`.
fn proxy(
    accounts: &mut Accounts,
    statement: &Grant<'_>,
    proxied: &AccountId,
    ids: &[AccountId],
    context: &AccountContext<'_>,
) -> Result<()> {
    let own = accounts.get(&context.session.account);
    let may = |account: &AccountId| own.is_some_and(|own| own.proxies.get(account).copied().unwrap_or(false));
    if !may(proxied) && !may(&AccountId::default()) {
        let grants = context.grants();
        let message = format!("Access denied for user '{}'@'{}'", grants.user, grants.host);
        return Err(Error { code: ErrorCode(1698), message });
    }
    for id in ids {
        let Some(account) = accounts.get_mut(id) else {
            return Err(match statement.revoke {
                true => no_grant(id, &Level::Global),
                false => Error::new(ER_CANT_CREATE_USER_WITH_GRANT, &[]),
            });
        };
        if statement.revoke {
            account.proxies.remove(proxied).ok_or_else(|| no_grant(id, &Level::Global))?;
        } else {
            *account.proxies.entry(proxied.clone()).or_default() |= statement.with_option;
            // MySQL gives the global GRANT OPTION along with it.
            if statement.with_option {
                account.global = account.global.and(Privileges::GRANT);
            }
        }
    }
    Ok(())
}
