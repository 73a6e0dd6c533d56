//! Accounts as tables: those of the database `mysql` that clients read, and the privileges of information_schema.
//!
//! ```text
//! mysql.user  db  tables_priv  columns_priv  procs_priv  proxies_priv  role_edges  default_roles  global_grants
//! information_schema.USER_PRIVILEGES  SCHEMA_PRIVILEGES  TABLE_PRIVILEGES  COLUMN_PRIVILEGES  USER_ATTRIBUTES
//!                    ENABLED_ROLES  APPLICABLE_ROLES
//! ```
//! They are made from [`Accounts`](super::Accounts) when they are read, and cannot be written: CREATE USER and its like do
//! that. Of the privileges of others, information_schema shows nothing to who may not read `mysql.user`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::accounts::{Account, AccountId, RequireCurrent, RoutineKind, TlsRequirement};
use super::context::SessionAccount;
use super::grants::Object;
use super::privilege::Privileges;
use crate::schema::information::{Cell, Simple, View, VirtualColumn as Column, VirtualTable, Wanted};

/// The tables of information_schema.
pub static INFORMATION_TABLES: &[Simple] = &[
    Simple { name: "USER_PRIVILEGES", rows: user_privileges },
    Simple { name: "SCHEMA_PRIVILEGES", rows: schema_privileges },
    Simple { name: "TABLE_PRIVILEGES", rows: table_privileges },
    Simple { name: "COLUMN_PRIVILEGES", rows: column_privileges },
    Simple { name: "USER_ATTRIBUTES", rows: user_attributes },
    Simple { name: "ENABLED_ROLES", rows: enabled_roles },
    Simple { name: "APPLICABLE_ROLES", rows: applicable_roles },
];

/// A table of the database `mysql`.
pub struct MysqlTable {
    name: &'static str,
    columns: fn() -> Vec<Column>,
    rows: fn(&View<'_>, Wanted<'_>) -> Vec<Vec<Cell>>,
}

impl VirtualTable for MysqlTable {
    fn name(&self) -> &'static str {
        self.name
    }

    fn schema(&self) -> &'static str {
        "mysql"
    }

    fn columns(&self) -> Vec<Column> {
        (self.columns)()
    }

    fn rows(&self, view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
        (self.rows)(view, wanted)
    }
}

/// All of them, by name.
pub static MYSQL_TABLES: &[MysqlTable] = &[
    MysqlTable { name: "columns_priv", columns: columns_priv_columns, rows: columns_priv },
    MysqlTable { name: "db", columns: db_columns, rows: db },
    MysqlTable { name: "default_roles", columns: default_roles_columns, rows: default_roles },
    MysqlTable { name: "global_grants", columns: global_grants_columns, rows: global_grants },
    MysqlTable { name: "procs_priv", columns: procs_priv_columns, rows: procs_priv },
    MysqlTable { name: "proxies_priv", columns: proxies_priv_columns, rows: proxies_priv },
    MysqlTable { name: "role_edges", columns: role_edges_columns, rows: role_edges },
    MysqlTable { name: "tables_priv", columns: tables_priv_columns, rows: tables_priv },
    MysqlTable { name: "user", columns: user_columns, rows: user },
];

/// The table of the database `mysql` of this name.
pub fn mysql_table(name: &str) -> Option<&'static dyn VirtualTable> {
    MYSQL_TABLES.iter().find(|table| table.name == name).map(|table| table as &dyn VirtualTable)
}

/// Whose session asks.
fn account_of<'v>(view: &View<'v>) -> Option<&'v SessionAccount> {
    view.session.map(|session| &session.account)
}

/// The accounts that a session sees in information_schema: all, or its own and its roles.
fn seen<'v>(view: &View<'v>) -> Vec<&'v Arc<Account>> {
    let Some(session) = account_of(view) else { return Vec::new() };
    let all = session.accounts();
    if session.grants().may(Privileges::SELECT, Object::Table("mysql", "user")) {
        return all.iter().collect();
    }
    let ids = [&session.account].into_iter().chain(&session.roles);
    ids.filter_map(|id| all.get(id)).collect()
}

fn all<'v>(view: &View<'v>) -> Vec<&'v Arc<Account>> {
    account_of(view).map_or_else(Vec::new, |session| session.accounts().iter().collect())
}

fn yes(is: bool) -> Cell {
    Cell::text(if is { "YES" } else { "NO" })
}

fn y(is: bool) -> Cell {
    Cell::text(if is { "Y" } else { "N" })
}

fn grantee(account: &Account) -> Cell {
    Cell::text(account.id.in_quotes())
}

/// The privileges of a level by name; `USAGE` if there is none.
fn names(of: Privileges) -> Vec<&'static str> {
    let names: Vec<_> = of.without(Privileges::GRANT).names().map(|(_, name)| name).collect();
    if names.is_empty() { vec!["USAGE"] } else { names }
}

fn texts(names: &[(&'static str, u32)]) -> Vec<Column> {
    names.iter().map(|(name, length)| Column::text(name, *length)).collect()
}

// ---- information_schema -------------------------------------------------------------------------------------------------

fn user_privileges(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in seen(view) {
        let row = |name: &str, option: bool| vec![grantee(account), Cell::text("def"), Cell::text(name), yes(option)];
        let option = account.global.has(Privileges::GRANT);
        rows.extend(names(account.global).into_iter().map(|name| row(name, option)));
        rows.extend(account.dynamic.iter().map(|(name, option)| row(name, *option)));
    }
    rows
}

fn schema_privileges(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in seen(view) {
        for (database, of) in &account.databases {
            let option = of.has(Privileges::GRANT);
            for name in names(*of) {
                let row = [Cell::text("def"), Cell::text(database), Cell::text(name), yes(option)];
                rows.push([grantee(account)].into_iter().chain(row).collect());
            }
        }
    }
    rows
}

fn table_privileges(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in seen(view) {
        for ((database, table), grants) in account.tables.iter().filter(|(_, grants)| !grants.table.is_empty()) {
            let option = grants.table.has(Privileges::GRANT);
            for name in names(grants.table) {
                let texts = ["def", database, table, name].map(Cell::text);
                rows.push([grantee(account)].into_iter().chain(texts).chain([yes(option)]).collect());
            }
        }
    }
    rows
}

fn column_privileges(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in seen(view) {
        for ((database, table), grants) in &account.tables {
            let option = grants.table.has(Privileges::GRANT);
            for (privilege, _) in Privileges::OF_COLUMN.names() {
                for (column, _) in grants.columns.iter().filter(|(_, of)| of.has(privilege)) {
                    for name in names(privilege) {
                        let texts = ["def", database, table, column, name].map(Cell::text);
                        rows.push([grantee(account)].into_iter().chain(texts).chain([yes(option)]).collect());
                    }
                }
            }
        }
    }
    rows
}

/// COMMENT and ATTRIBUTE as one JSON object.
fn attributes(account: &Account) -> Cell {
    if account.attributes.is_empty() {
        return Cell::Null;
    }
    let mut members: Vec<_> = account.attributes.iter().collect();
    members.sort_by_key(|(name, _)| (name.len(), *name));
    let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    Cell::text(format!("{{{}}}", members.join(", ")))
}

fn user_attributes(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let row =
        |account: &Arc<Account>| vec![Cell::text(&account.id.user), Cell::text(&account.id.host), attributes(account)];
    seen(view).into_iter().map(row).collect()
}

fn is_default(session: &SessionAccount, role: &AccountId) -> bool {
    session.accounts().get(&session.account).is_some_and(|account| account.default_roles.contains(role))
}

fn enabled_roles(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let Some(session) = account_of(view) else { return Vec::new() };
    let row = |role: &AccountId| {
        vec![Cell::text(&role.user), Cell::text(&role.host), yes(is_default(session, role)), yes(false)]
    };
    session.roles.iter().map(row).collect()
}

fn applicable_roles(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let Some(session) = account_of(view) else { return Vec::new() };
    let accounts = session.accounts();
    let (mut rows, mut seen, mut left) = (Vec::new(), BTreeSet::new(), vec![&session.account]);
    while let Some(id) = left.pop() {
        let Some(account) = accounts.get(id).filter(|_| seen.insert(id)) else { continue };
        for (role, admin) in &account.roles {
            let ids = [&session.account, id, role];
            let mut row: Vec<Cell> = ids.iter().flat_map(|id| [Cell::text(&id.user), Cell::text(&id.host)]).collect();
            row.extend([yes(*admin), yes(is_default(session, role)), yes(false)]);
            rows.push(row);
            left.push(role);
        }
    }
    rows
}

// ---- mysql --------------------------------------------------------------------------------------------------------------

/// The columns of privileges in `mysql.user` up to the options, and the static privilege of each.
const USER: &[(&str, Privileges)] = &[
    ("Select_priv", Privileges::SELECT),
    ("Insert_priv", Privileges::INSERT),
    ("Update_priv", Privileges::UPDATE),
    ("Delete_priv", Privileges::DELETE),
    ("Create_priv", Privileges::CREATE),
    ("Drop_priv", Privileges::DROP),
    ("Reload_priv", Privileges::RELOAD),
    ("Shutdown_priv", Privileges::SHUTDOWN),
    ("Process_priv", Privileges::PROCESS),
    ("File_priv", Privileges::FILE),
    ("Grant_priv", Privileges::GRANT),
    ("References_priv", Privileges::REFERENCES),
    ("Index_priv", Privileges::INDEX),
    ("Alter_priv", Privileges::ALTER),
    ("Show_db_priv", Privileges::SHOW_DATABASES),
    ("Super_priv", Privileges::SUPER),
    ("Create_tmp_table_priv", Privileges::CREATE_TEMPORARY_TABLES),
    ("Lock_tables_priv", Privileges::LOCK_TABLES),
    ("Execute_priv", Privileges::EXECUTE),
    ("Repl_slave_priv", Privileges::REPLICATION_SLAVE),
    ("Repl_client_priv", Privileges::REPLICATION_CLIENT),
    ("Create_view_priv", Privileges::CREATE_VIEW),
    ("Show_view_priv", Privileges::SHOW_VIEW),
    ("Create_routine_priv", Privileges::CREATE_ROUTINE),
    ("Alter_routine_priv", Privileges::ALTER_ROUTINE),
    ("Create_user_priv", Privileges::CREATE_USER),
    ("Event_priv", Privileges::EVENT),
    ("Trigger_priv", Privileges::TRIGGER),
    ("Create_tablespace_priv", Privileges::CREATE_TABLESPACE),
];

/// The same of `mysql.db`.
const DB: &[(&str, Privileges)] = &[
    ("Select_priv", Privileges::SELECT),
    ("Insert_priv", Privileges::INSERT),
    ("Update_priv", Privileges::UPDATE),
    ("Delete_priv", Privileges::DELETE),
    ("Create_priv", Privileges::CREATE),
    ("Drop_priv", Privileges::DROP),
    ("Grant_priv", Privileges::GRANT),
    ("References_priv", Privileges::REFERENCES),
    ("Index_priv", Privileges::INDEX),
    ("Alter_priv", Privileges::ALTER),
    ("Create_tmp_table_priv", Privileges::CREATE_TEMPORARY_TABLES),
    ("Lock_tables_priv", Privileges::LOCK_TABLES),
    ("Create_view_priv", Privileges::CREATE_VIEW),
    ("Show_view_priv", Privileges::SHOW_VIEW),
    ("Create_routine_priv", Privileges::CREATE_ROUTINE),
    ("Alter_routine_priv", Privileges::ALTER_ROUTINE),
    ("Execute_priv", Privileges::EXECUTE),
    ("Event_priv", Privileges::EVENT),
    ("Trigger_priv", Privileges::TRIGGER),
];

fn host_and_user(account: &Account) -> Vec<Cell> {
    vec![Cell::text(&account.id.host), Cell::text(&account.id.user)]
}

fn user_columns() -> Vec<Column> {
    let mut columns = texts(&[("Host", 255), ("User", 32)]);
    columns.extend(USER.iter().map(|(name, _)| Column::text(name, 1)));
    columns.push(Column::text("ssl_type", 9));
    columns.extend(["ssl_cipher", "x509_issuer", "x509_subject"].map(Column::long_text));
    columns.extend(["max_questions", "max_updates", "max_connections", "max_user_connections"].map(Column::int));
    columns.extend([
        Column::text("plugin", 64),
        Column::long_text("authentication_string").or_null(),
        Column::text("password_expired", 1),
        Column::datetime("password_last_changed").or_null(),
        Column::int("password_lifetime").or_null(),
        Column::text("account_locked", 1),
        Column::text("Create_role_priv", 1),
        Column::text("Drop_role_priv", 1),
        Column::int("Password_reuse_history").or_null(),
        Column::int("Password_reuse_time").or_null(),
        Column::text("Password_require_current", 1).or_null(),
        Column::long_text("User_attributes").or_null(),
    ]);
    columns
}

fn user(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    all(view).into_iter().map(|account| user_row(account, view)).collect()
}

fn user_row(account: &Account, view: &View<'_>) -> Vec<Cell> {
    use super::accounts::Expiry;
    let mut row = host_and_user(account);
    row.extend(USER.iter().map(|(_, privilege)| y(account.global.has(*privilege))));
    let [kind, cipher, issuer, subject] = match &account.tls {
        TlsRequirement::None => ["", "", "", ""],
        TlsRequirement::Ssl => ["ANY", "", "", ""],
        TlsRequirement::X509 => ["X509", "", "", ""],
        TlsRequirement::Certificate { subject, issuer, cipher } => ["SPECIFIED", cipher, issuer, subject],
    };
    row.extend([kind, cipher, issuer, subject].map(Cell::text));
    row.extend(account.limits.map(|limit| Cell::Unsigned(limit.into())));
    let number = |number: Option<u32>| number.map_or(Cell::Null, |number| Cell::Unsigned(number.into()));
    row.extend([
        Cell::text(&account.plugin),
        Cell::text(String::from_utf8_lossy(&account.stored)),
        y(account.expired),
        crate::schema::information::moment(account.changed_at, view.zone),
        match account.expiry {
            Expiry::Default => Cell::Null,
            Expiry::Never => Cell::Unsigned(0),
            Expiry::Days(days) => Cell::Unsigned(days.into()),
        },
        y(account.locked),
        y(account.global.has(Privileges::CREATE_ROLE)),
        y(account.global.has(Privileges::DROP_ROLE)),
        number(account.history),
        number(account.reuse_days),
        match account.require_current {
            RequireCurrent::Default => Cell::Null,
            RequireCurrent::Required => y(true),
            RequireCurrent::Optional => y(false),
        },
        match attributes(account) {
            Cell::Text(text) => Cell::text(format!("{{\"metadata\": {text}}}")),
            other => other,
        },
    ]);
    row
}

fn db_columns() -> Vec<Column> {
    let mut columns = texts(&[("Host", 255), ("Db", 64), ("User", 32)]);
    columns.extend(DB.iter().map(|(name, _)| Column::text(name, 1)));
    columns
}

fn db(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in all(view) {
        for (database, of) in &account.databases {
            let mut row = [&account.id.host, database, &account.id.user].map(Cell::text).to_vec();
            row.extend(DB.iter().map(|(_, privilege)| y(of.has(*privilege))));
            rows.push(row);
        }
    }
    rows
}

/// As the columns of type SET in `tables_priv` and its like show them: `Select,Create View`.
fn set(of: Privileges) -> Cell {
    let word = |name: &str| match name {
        "GRANT OPTION" => "Grant".to_owned(),
        "SHOW VIEW" => "Show view".to_owned(),
        name => {
            let capital = |word: &str| format!("{}{}", &word[..1], word[1..].to_ascii_lowercase());
            name.split(' ').map(capital).collect::<Vec<_>>().join(" ")
        }
    };
    Cell::text(of.names().map(|(_, name)| word(name)).collect::<Vec<_>>().join(","))
}

fn tables_priv_columns() -> Vec<Column> {
    let mut columns = texts(&[("Host", 255), ("Db", 64), ("User", 32), ("Table_name", 64), ("Grantor", 288)]);
    columns.push(Column::datetime("Timestamp").or_null());
    columns.extend(texts(&[("Table_priv", 128), ("Column_priv", 64)]));
    columns
}

fn tables_priv(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in all(view) {
        for ((database, table), grants) in &account.tables {
            let in_columns = grants.columns.values().fold(Privileges::NONE, |all, of| all.and(*of));
            let mut row = [account.id.host.as_str(), database, &account.id.user, table, ""].map(Cell::text).to_vec();
            row.extend([Cell::Null, set(grants.table), set(in_columns)]);
            rows.push(row);
        }
    }
    rows
}

fn columns_priv_columns() -> Vec<Column> {
    let mut columns = texts(&[("Host", 255), ("Db", 64), ("User", 32), ("Table_name", 64), ("Column_name", 64)]);
    columns.push(Column::datetime("Timestamp").or_null());
    columns.push(Column::text("Column_priv", 64));
    columns
}

fn columns_priv(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in all(view) {
        for ((database, table), grants) in &account.tables {
            for (column, of) in &grants.columns {
                let mut row = [&account.id.host, database, &account.id.user, table, column].map(Cell::text).to_vec();
                row.extend([Cell::Null, set(*of)]);
                rows.push(row);
            }
        }
    }
    rows
}

fn procs_priv_columns() -> Vec<Column> {
    let mut columns = texts(&[("Host", 255), ("Db", 64), ("User", 32), ("Routine_name", 64), ("Routine_type", 9)]);
    columns.extend(texts(&[("Grantor", 288), ("Proc_priv", 64)]));
    columns.push(Column::datetime("Timestamp").or_null());
    columns
}

fn procs_priv(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in all(view) {
        for ((kind, database, name), of) in &account.routines {
            let kind = if *kind == RoutineKind::Function { "FUNCTION" } else { "PROCEDURE" };
            let mut row =
                [account.id.host.as_str(), database, &account.id.user, name, kind, ""].map(Cell::text).to_vec();
            row.extend([set(*of), Cell::Null]);
            rows.push(row);
        }
    }
    rows
}

fn proxies_priv_columns() -> Vec<Column> {
    let mut columns = texts(&[("Host", 255), ("User", 32), ("Proxied_host", 255), ("Proxied_user", 32)]);
    columns.extend([Column::int("With_grant"), Column::text("Grantor", 288), Column::datetime("Timestamp").or_null()]);
    columns
}

fn proxies_priv(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in all(view) {
        for (proxied, option) in &account.proxies {
            let mut row = host_and_user(account);
            row.extend([Cell::text(&proxied.host), Cell::text(&proxied.user), Cell::Unsigned((*option).into())]);
            row.extend([Cell::text(""), Cell::Null]);
            rows.push(row);
        }
    }
    rows
}

fn role_edges_columns() -> Vec<Column> {
    texts(&[("FROM_HOST", 255), ("FROM_USER", 32), ("TO_HOST", 255), ("TO_USER", 32), ("WITH_ADMIN_OPTION", 1)])
}

fn role_edges(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in all(view) {
        for (role, admin) in &account.roles {
            let mut row = vec![Cell::text(&role.host), Cell::text(&role.user)];
            row.extend(host_and_user(account));
            row.push(y(*admin));
            rows.push(row);
        }
    }
    rows
}

fn default_roles_columns() -> Vec<Column> {
    texts(&[("HOST", 255), ("USER", 32), ("DEFAULT_ROLE_HOST", 255), ("DEFAULT_ROLE_USER", 32)])
}

fn default_roles(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in all(view) {
        for role in &account.default_roles {
            let mut row = host_and_user(account);
            row.extend([Cell::text(&role.host), Cell::text(&role.user)]);
            rows.push(row);
        }
    }
    rows
}

fn global_grants_columns() -> Vec<Column> {
    texts(&[("USER", 32), ("HOST", 255), ("PRIV", 32), ("WITH_GRANT_OPTION", 1)])
}

fn global_grants(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for account in all(view) {
        for (name, option) in &account.dynamic {
            rows.push(vec![Cell::text(&account.id.user), Cell::text(&account.id.host), Cell::text(name), y(*option)]);
        }
    }
    rows
}
