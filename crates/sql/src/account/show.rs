//! SHOW GRANTS, SHOW CREATE USER, SHOW PRIVILEGES: texts as MySQL's, to the byte.

use std::collections::BTreeSet;

use meseta_errors::ER_NONEXISTING_GRANT;
use meseta_parser::ast::AccountName;

use super::accounts::{Account, AccountId, Expiry, RequireCurrent, RoutineKind, TableGrants, TlsRequirement, quoted};
use super::context::{AccountContext, Outcome};
use super::grants::{Object, merged};
use super::privilege::{DYNAMIC_PRIVILEGES, Privileges, SHOWN};
use super::role;
use crate::error::{Error, Result};
use meseta_parser::ast::SetRole;

fn rows(title: String, rows: Vec<String>) -> Outcome {
    Outcome::Rows { columns: vec![title], rows: rows.into_iter().map(|row| vec![row]).collect() }
}

/// SHOW GRANTS [FOR account [USING role, ..]].
pub(super) fn grants(
    account: Option<&AccountName<'_>>,
    using: &[AccountName<'_>],
    context: &mut AccountContext<'_>,
) -> Result<Outcome> {
    let id = account.map_or_else(|| context.session.account.clone(), |name| context.id(name));
    let own = id == context.session.account;
    if !own {
        context.grants().check(Privileges::SELECT, Object::Table("mysql", "user"))?;
    }
    let accounts = context.store.accounts();
    let Some(found) = accounts.get(&id) else {
        return Err(Error::new(ER_NONEXISTING_GRANT, &[&id.user, &id.host]));
    };
    let roles: BTreeSet<AccountId> = match (own, using) {
        // FOR an account, roles count if USING names them; without, those that are active.
        (_, [_, ..]) => {
            let ids = context.ids(using);
            for name in using {
                role::chosen(&SetRole::Roles(std::slice::from_ref(name)), &accounts, &id, context)?;
            }
            ids.into_iter().collect()
        }
        (true, []) if account.is_none() || matches!(account, Some(AccountName::CurrentUser)) => {
            context.session.roles.clone()
        }
        _ => BTreeSet::new(),
    };
    let account = merged(&accounts, found, &roles);
    Ok(rows(format!("Grants for {id}"), grant_texts(&account)))
}

fn option(of: Privileges) -> &'static str {
    if of.has(Privileges::GRANT) { " WITH GRANT OPTION" } else { "" }
}

/// The privileges of a level in words; `ALL PRIVILEGES` where it has all.
fn words(of: Privileges, all: Privileges) -> String {
    let without_option = of.without(Privileges::GRANT);
    if without_option.is_empty() {
        return "USAGE".to_owned();
    }
    if without_option == all.without(Privileges::GRANT) {
        return "ALL PRIVILEGES".to_owned();
    }
    without_option.names().map(|(_, name)| name).collect::<Vec<_>>().join(", ")
}

/// As `words`, with the columns of each.
fn table_words(grants: &TableGrants) -> String {
    if grants.columns.is_empty() {
        return words(grants.table, Privileges::OF_TABLE);
    }
    let of_columns = grants.columns.values().fold(Privileges::NONE, |all, of| all.and(*of));
    let mut parts = Vec::new();
    for (privilege, name) in grants.table.and(of_columns).without(Privileges::GRANT).names() {
        if grants.table.has(privilege) {
            parts.push(name.to_owned());
        }
        let columns = grants.columns.iter().filter(|(_, of)| of.has(privilege));
        let columns: Vec<_> = columns.map(|(column, _)| quoted(column)).collect();
        if !columns.is_empty() {
            parts.push(format!("{name} ({})", columns.join(", ")));
        }
    }
    parts.join(", ")
}

fn grant_texts(account: &Account) -> Vec<String> {
    let to = account.id.quoted();
    // Global privileges are always listed one by one.
    let global = words(account.global, Privileges::NONE);
    let mut texts = vec![format!("GRANT {global} ON *.* TO {to}{}", option(account.global))];
    for grantable in [false, true] {
        let names = account.dynamic.iter().filter(|(_, option)| **option == grantable).map(|(name, _)| name.as_str());
        let names = names.collect::<Vec<_>>().join(",");
        let option = if grantable { " WITH GRANT OPTION" } else { "" };
        if !names.is_empty() {
            texts.push(format!("GRANT {names} ON *.* TO {to}{option}"));
        }
    }
    for (database, of) in &account.databases {
        let words = words(*of, Privileges::OF_DATABASE);
        texts.push(format!("GRANT {words} ON {}.* TO {to}{}", quoted(database), option(*of)));
    }
    for ((database, table), grants) in &account.tables {
        let (words, name) = (table_words(grants), format!("{}.{}", quoted(database), quoted(table)));
        texts.push(format!("GRANT {words} ON {name} TO {to}{}", option(grants.table)));
    }
    for ((kind, database, routine), of) in account.routines.iter().rev() {
        let kind = if *kind == RoutineKind::Procedure { "PROCEDURE" } else { "FUNCTION" };
        let words = words(*of, Privileges::NONE);
        let name = format!("{}.{}", quoted(database), quoted(routine));
        texts.push(format!("GRANT {words} ON {kind} {name} TO {to}{}", option(*of)));
    }
    for (proxied, grantable) in &account.proxies {
        let option = if *grantable { " WITH GRANT OPTION" } else { "" };
        texts.push(format!("GRANT PROXY ON {} TO {to}{option}", proxied.quoted()));
    }
    for admin in [false, true] {
        let roles = account.roles.iter().filter(|(_, option)| **option == admin).map(|(role, _)| role.quoted());
        let roles = roles.collect::<Vec<_>>().join(",");
        let option = if admin { " WITH ADMIN OPTION" } else { "" };
        if !roles.is_empty() {
            texts.push(format!("GRANT {roles} TO {to}{option}"));
        }
    }
    texts
}

/// SHOW CREATE USER.
pub(super) fn create_user(name: &AccountName<'_>, context: &mut AccountContext<'_>) -> Result<Outcome> {
    let id = context.id(name);
    let grants = context.grants();
    let may = grants.may(Privileges::SELECT, Object::Table("mysql", "user"));
    if id != context.session.account && !may {
        return Err(grants.denied_database("mysql"));
    }
    let accounts = context.store.accounts();
    let Some(account) = accounts.get(&id) else {
        let operation = format!("{} (User account does not exist)", id.in_quotes());
        return Err(Error::new(meseta_errors::ER_CANNOT_USER, &[&"SHOW CREATE USER", &operation]));
    };
    let text = create_text(account, may, context.settings.print_hex);
    Ok(rows(format!("CREATE USER for {id}"), vec![text]))
}

/// Quotes a text as a literal.
fn literal(text: &[u8]) -> String {
    let mut out = String::from("'");
    for character in String::from_utf8_lossy(text).chars() {
        match character {
            '\'' => out.push_str("\\'"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\0' => out.push_str("\\0"),
            '\u{1a}' => out.push_str("\\Z"),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

fn create_text(account: &Account, may: bool, hex: bool) -> String {
    let mut text = format!("CREATE USER {} IDENTIFIED WITH '{}'", account.id.quoted(), account.plugin);
    if !account.stored.is_empty() {
        text.push_str(" AS ");
        if !may {
            text.push_str("<secret>");
        } else if hex {
            text.push_str("0x");
            account.stored.iter().for_each(|byte| text.push_str(&format!("{byte:02X}")));
        } else {
            text.push_str(&literal(&account.stored));
        }
    }
    if !account.default_roles.is_empty() {
        let roles: Vec<_> = account.default_roles.iter().map(AccountId::quoted).collect();
        text.push_str(&format!(" DEFAULT ROLE {}", roles.join(",")));
    }
    match &account.tls {
        TlsRequirement::None => text.push_str(" REQUIRE NONE"),
        TlsRequirement::Ssl => text.push_str(" REQUIRE SSL"),
        TlsRequirement::X509 => text.push_str(" REQUIRE X509"),
        TlsRequirement::Certificate { subject, issuer, cipher } => {
            text.push_str(" REQUIRE");
            for (word, value) in [("SUBJECT", subject), ("ISSUER", issuer), ("CIPHER", cipher)] {
                if !value.is_empty() {
                    text.push_str(&format!(" {word} {}", literal(value.as_bytes())));
                }
            }
        }
    }
    let words = ["MAX_QUERIES_PER_HOUR", "MAX_UPDATES_PER_HOUR", "MAX_CONNECTIONS_PER_HOUR", "MAX_USER_CONNECTIONS"];
    let limits: Vec<_> = words.iter().zip(account.limits).filter(|(_, limit)| *limit != 0).collect();
    if !limits.is_empty() {
        text.push_str(" WITH");
        limits.iter().for_each(|(word, limit)| text.push_str(&format!(" {word} {limit}")));
    }
    text.push_str(" PASSWORD EXPIRE");
    match account.expiry {
        _ if account.expired => {}
        Expiry::Default => text.push_str(" DEFAULT"),
        Expiry::Never => text.push_str(" NEVER"),
        Expiry::Days(days) => text.push_str(&format!(" INTERVAL {days} DAY")),
    }
    text.push_str(if account.locked { " ACCOUNT LOCK" } else { " ACCOUNT UNLOCK" });
    let number = |number: Option<u32>| number.map_or("DEFAULT".to_owned(), |number| number.to_string());
    text.push_str(&format!(" PASSWORD HISTORY {} PASSWORD REUSE INTERVAL ", number(account.history)));
    text.push_str(&account.reuse_days.map_or("DEFAULT".to_owned(), |days| format!("{days} DAY")));
    text.push_str(match account.require_current {
        RequireCurrent::Default => " PASSWORD REQUIRE CURRENT DEFAULT",
        RequireCurrent::Required => " PASSWORD REQUIRE CURRENT",
        RequireCurrent::Optional => " PASSWORD REQUIRE CURRENT OPTIONAL",
    });
    if account.failed_attempts != 0 {
        text.push_str(&format!(" FAILED_LOGIN_ATTEMPTS {}", account.failed_attempts));
    }
    match account.lock_days {
        0 => {}
        -1 => text.push_str(" PASSWORD_LOCK_TIME UNBOUNDED"),
        days => text.push_str(&format!(" PASSWORD_LOCK_TIME {days}")),
    }
    if !account.attributes.is_empty() {
        // Keys of a JSON object are in the order of their lengths.
        let mut members: Vec<_> = account.attributes.iter().collect();
        members.sort_by_key(|(name, _)| (name.len(), *name));
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
        text.push_str(&format!(" ATTRIBUTE {}", literal(format!("{{{}}}", members.join(", ")).as_bytes())));
    }
    text
}

/// SHOW PRIVILEGES.
pub(super) fn privileges() -> Outcome {
    let columns = ["Privilege", "Context", "Comment"].map(str::to_owned).to_vec();
    let fixed = SHOWN.iter().map(|(name, of, comment)| [*name, *of, *comment]);
    let dynamic = DYNAMIC_PRIVILEGES.iter().map(|name| [*name, "Server Admin", ""]);
    let rows = fixed.chain(dynamic).map(|row| row.map(str::to_owned).to_vec()).collect();
    Outcome::Rows { columns, rows }
}
