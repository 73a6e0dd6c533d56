//! CREATE, ALTER, DROP and RENAME USER, CREATE and DROP ROLE, SET PASSWORD.

use std::collections::BTreeMap;

use meseta_errors::{
    ER_CANNOT_USER, ER_PASSWORD_FORMAT, ER_PASSWORD_NO_MATCH, ER_PLUGIN_IS_NOT_LOADED, ER_WRONG_STRING_LENGTH,
    ErrorCode,
};
use meseta_parser::ast::{
    self, Authentication, AuthenticationSecret, CreateUser, DropAccounts, FactorChange, SetPassword, Text, UserOption,
};
use meseta_types::json::{self, Element};

use super::accounts::{Account, AccountId, Accounts, Expiry, RequireCurrent, TlsRequirement};
use super::context::{AccountContext, Outcome};
use super::grants::Object;
use super::privilege::Privileges;
use super::role;
use crate::error::{Error, Result};

const USER_CHARACTERS: usize = 32;
const HOST_CHARACTERS: usize = 255;
/// The passwords of before that are kept at most, whatever PASSWORD HISTORY says.
const HISTORY_MAX: usize = 64;
const DOES_NOT_EXIST: &str = " (User account does not exist)";
const EXISTS: &str = " (User account already exists)";

/// 1396, of several accounts at once; nothing if there is none.
fn failed(operation: &str, ids: &[AccountId], reason: &str) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let list: Vec<_> = ids.iter().map(|id| format!("{}{reason}", id.in_quotes())).collect();
    Err(Error::new(ER_CANNOT_USER, &[&operation, &list.join(",")]))
}

/// 1525.
fn incorrect(what: &str, value: Text<'_>) -> Error {
    let value = String::from_utf8_lossy(value.0);
    Error { code: ErrorCode(1525), message: format!("Incorrect {what} value: '{value}'") }
}

/// 1470, of names that are too long.
fn check_length(id: &AccountId) -> Result<()> {
    for (text, limit, what) in [(&id.user, USER_CHARACTERS, "user name"), (&id.host, HOST_CHARACTERS, "host name")] {
        if text.chars().count() > limit {
            // The message shows the first seventy characters.
            let shown: String = text.chars().take(70).collect();
            return Err(Error::new(ER_WRONG_STRING_LENGTH, &[&shown, &what, &limit]));
        }
    }
    Ok(())
}

/// CREATE USER.
pub(super) fn create(create: &CreateUser<'_>, context: &mut AccountContext<'_>) -> Result<Outcome> {
    context.grants().check_one_of(&["CREATE USER"])?;
    let store = context.store;
    let mut generated = Vec::new();
    store.change(|accounts| {
        let mut existing = Vec::new();
        for specification in create.users.iter() {
            let id = context.id(&specification.account);
            check_length(&id)?;
            if accounts.get(&id).is_some() {
                existing.push(id);
            }
        }
        if !create.if_exists {
            failed("CREATE USER", &existing, EXISTS)?;
        }
        for specification in create.users.iter() {
            let id = context.id(&specification.account);
            if existing.contains(&id) {
                context.note(3163, &id, "already exists");
                continue;
            }
            let mut account = Account::user(id.clone());
            account.changed_at = context.settings.now;
            for authentication in specification.authentications.iter() {
                authenticate(&mut account, authentication, context, &mut generated)?;
            }
            // A plugin without a password does not expire an account that is new.
            account.expired = false;
            options(&mut account, create, context.settings.now)?;
            if let Some(roles) = &create.default_role {
                let granted = role::named(roles, context);
                role::check_exist(accounts, &granted)?;
                account.roles.extend(granted.iter().map(|role| (role.clone(), false)));
                account.default_roles = granted;
            }
            accounts.insert(account);
        }
        Ok(())
    })?;
    Ok(random_rows(generated))
}

/// The rows of statements that made passwords.
fn random_rows(generated: Vec<(AccountId, String)>) -> Outcome {
    if generated.is_empty() {
        return Outcome::Done;
    }
    let columns = ["user", "host", "generated password", "auth_factor"].map(str::to_owned).to_vec();
    let row = |(id, password): (AccountId, String)| vec![id.user, id.host, password, "1".to_owned()];
    Outcome::Rows { columns, rows: generated.into_iter().map(row).collect() }
}

/// ALTER USER.
pub(super) fn alter(create: &CreateUser<'_>, context: &mut AccountContext<'_>) -> Result<Outcome> {
    let grants = context.grants();
    // Everybody may change his own password.
    let only_password = create.require.is_none() && create.options.is_empty() && create.default_role.is_none();
    let own = create.users.iter().all(|user| context.id(&user.account) == context.session.account);
    if !(only_password && own) {
        grants.check_one_of(&["CREATE USER"])?;
    }
    let store = context.store;
    let mut generated = Vec::new();
    store.change(|accounts| {
        let ids: Vec<_> = create.users.iter().map(|user| context.id(&user.account)).collect();
        let absent: Vec<_> = ids.iter().filter(|id| accounts.get(id).is_none()).cloned().collect();
        for id in &ids {
            context.check_system_user(accounts, id)?;
        }
        if !create.if_exists {
            failed("ALTER USER", &absent, DOES_NOT_EXIST)?;
        }
        for (specification, id) in create.users.iter().zip(&ids) {
            let default_roles = match &create.default_role {
                Some(roles) if accounts.get(id).is_some() => Some(role::chosen(roles, accounts, id, context)?),
                _ => None,
            };
            let Some(account) = accounts.get_mut(id) else {
                context.note(3162, id, "does not exist");
                continue;
            };
            for authentication in specification.authentications.iter() {
                authenticate(account, authentication, context, &mut generated)?;
            }
            if specification.discard_old_password {
                account.stored_before.clear();
            }
            options(account, create, context.settings.now)?;
            if let Some(roles) = default_roles {
                account.default_roles = roles;
            }
        }
        Ok(())
    })?;
    let begins_anew = |option: &UserOption<'_>| {
        use UserOption as O;
        matches!(option, O::AccountUnlock | O::FailedLoginAttempts(_) | O::PasswordLockDays(_))
    };
    if create.options.iter().any(begins_anew) {
        create.users.iter().for_each(|user| store.logins().forget(&context.id(&user.account)));
    }
    Ok(random_rows(generated))
}

/// `IDENTIFIED ..`.
fn authenticate(
    account: &mut Account,
    authentication: &Authentication<'_>,
    context: &AccountContext<'_>,
    generated: &mut Vec<(AccountId, String)>,
) -> Result<()> {
    if authentication.change != FactorChange::Set || authentication.factor.is_some() {
        return Err(Error::not_yet("multi-factor authentication"));
    }
    if let Some(plugin) = authentication.plugin {
        let plugin = String::from_utf8_lossy(plugin.0).to_ascii_lowercase();
        if !context.hasher.knows(&plugin) {
            return Err(Error::new(ER_PLUGIN_IS_NOT_LOADED, &[&plugin]));
        }
        account.plugin = plugin;
    }
    let before = std::mem::take(&mut account.stored);
    if !matches!(authentication.secret, AuthenticationSecret::None) {
        check_current(account, &before, authentication.current, context)?;
    }
    match authentication.secret {
        // The password of another plugin is none of this one's.
        AuthenticationSecret::None => account.expired = true,
        AuthenticationSecret::Password(password) => {
            set_stored(account, before.clone(), password.0, context)?;
        }
        AuthenticationSecret::Random => {
            let password = context.hasher.random();
            set_stored(account, before.clone(), password.as_bytes(), context)?;
            generated.push((account.id.clone(), password));
        }
        AuthenticationSecret::Hash(stored) => {
            if !stored.is_empty() && !context.hasher.is_valid(&account.plugin, stored.0) {
                return Err(Error::new(ER_PASSWORD_FORMAT, &[]));
            }
            account.stored = stored.0.to_vec();
            account.expired = false;
            account.changed_at = context.settings.now;
        }
    }
    account.stored_before = if authentication.retain_current { before } else { Vec::new() };
    Ok(())
}

/// A new password, if its history lets it.
fn set_stored(account: &mut Account, before: Vec<u8>, password: &[u8], context: &AccountContext<'_>) -> Result<()> {
    let keep = (account.history.unwrap_or(context.settings.password_history) as usize).min(HISTORY_MAX);
    if !before.is_empty() {
        account.history_stored.insert(0, before);
    }
    account.history_stored.truncate(keep);
    let used = |stored: &Vec<u8>| context.hasher.matches(&account.plugin, stored, password);
    if !password.is_empty() && account.history_stored.iter().any(used) {
        let message = format!(
            "Cannot use these credentials for '{}@{}' because they contradict the password history policy",
            account.id.user, account.id.host
        );
        return Err(Error { code: ErrorCode(3638), message });
    }
    account.stored = context.hasher.hash(&account.plugin, password);
    account.expired = false;
    account.changed_at = context.settings.now;
    Ok(())
}

/// REPLACE 'current': the password of before, which who changes his own may have to give. Errors: 3891 to 3893.
fn check_current(
    account: &Account,
    stored: &[u8],
    current: Option<Text<'_>>,
    context: &AccountContext<'_>,
) -> Result<()> {
    let error = |number: u16, message: &str| Err(Error { code: ErrorCode(number), message: message.to_owned() });
    let is_own = account.id == context.session.account;
    match current {
        Some(_) if !is_own => error(3893, "Do not specify the current password while changing it for other users."),
        Some(current) if context.hasher.matches(&account.plugin, stored, current.0) => Ok(()),
        Some(_) => error(3891, "Incorrect current password. Specify the correct password which has to be replaced."),
        None => {
            let is_required = match account.require_current {
                RequireCurrent::Default => context.settings.require_current,
                RequireCurrent::Required => true,
                RequireCurrent::Optional => false,
            };
            // Who may change the passwords of others need not know his own.
            let grants = context.grants();
            let may = |privilege| grants.may(privilege, Object::Database("mysql"));
            match !is_own || !is_required || grants.may_dynamic("CREATE USER") || may(Privileges::UPDATE) {
                true => Ok(()),
                false => {
                    error(3892, "Current password needs to be specified in the REPLACE clause in order to change it.")
                }
            }
        }
    }
}

/// REQUIRE, limits, PASSWORD .., ACCOUNT .., COMMENT and ATTRIBUTE.
fn options(account: &mut Account, create: &CreateUser<'_>, _now: u64) -> Result<()> {
    let text = |text: Text<'_>| String::from_utf8_lossy(text.0).into_owned();
    match &create.require {
        None => {}
        Some(ast::Require::None) => account.tls = TlsRequirement::None,
        Some(ast::Require::Ssl) => account.tls = TlsRequirement::Ssl,
        Some(ast::Require::X509) => account.tls = TlsRequirement::X509,
        Some(ast::Require::All(all)) => {
            let [mut subject, mut issuer, mut cipher] = [const { String::new() }; 3];
            for requirement in all.iter() {
                match *requirement {
                    ast::TlsRequirement::Subject(value) => subject = text(value),
                    ast::TlsRequirement::Issuer(value) => issuer = text(value),
                    ast::TlsRequirement::Cipher(value) => cipher = text(value),
                }
            }
            account.tls = TlsRequirement::Certificate { subject, issuer, cipher };
        }
    }
    let number = |value: Text<'_>| -> Option<u32> { std::str::from_utf8(value.0).ok()?.parse().ok() };
    let limit = |value: Text<'_>| number(value).unwrap_or(u32::MAX);
    let within = |value: Text<'_>, what: &str, low: u32, high: u32| {
        number(value).filter(|number| (low..=high).contains(number)).ok_or_else(|| incorrect(what, value))
    };
    for option in create.options.iter() {
        match *option {
            UserOption::MaxQueriesPerHour(value) => account.limits[0] = limit(value),
            UserOption::MaxUpdatesPerHour(value) => account.limits[1] = limit(value),
            UserOption::MaxConnectionsPerHour(value) => account.limits[2] = limit(value),
            UserOption::MaxUserConnections(value) => account.limits[3] = limit(value),
            UserOption::PasswordExpire => account.expired = true,
            UserOption::PasswordExpireDefault => account.expiry = Expiry::Default,
            UserOption::PasswordExpireNever => account.expiry = Expiry::Never,
            UserOption::PasswordExpireDays(value) => {
                account.expiry = Expiry::Days(within(value, "DAY", 1, 65_535)? as u16);
            }
            UserOption::PasswordHistory(value) => {
                account.history = value.map(|value| within(value, "PASSWORD HISTORY", 0, 65_535)).transpose()?;
            }
            UserOption::PasswordReuseDays(value) => {
                account.reuse_days = value.map(|value| within(value, "DAY", 0, 65_535)).transpose()?;
            }
            UserOption::PasswordRequireCurrent(required) => {
                account.require_current = match required {
                    ast::PasswordRequireCurrent::Required => RequireCurrent::Required,
                    ast::PasswordRequireCurrent::Optional => RequireCurrent::Optional,
                    ast::PasswordRequireCurrent::Default => RequireCurrent::Default,
                }
            }
            UserOption::FailedLoginAttempts(value) => {
                account.failed_attempts = within(value, "FAILED_LOGIN_ATTEMPTS", 0, 32_767)? as u16;
            }
            UserOption::PasswordLockDays(None) => account.lock_days = -1,
            UserOption::PasswordLockDays(Some(value)) => {
                account.lock_days = within(value, "PASSWORD_LOCK_TIME", 0, 32_767)? as i32;
            }
            UserOption::AccountLock => account.locked = true,
            UserOption::AccountUnlock => account.locked = false,
            UserOption::Comment(comment) => {
                let document = json::Tree::Text(comment.0.into()).to_document()?;
                let mut shown = Vec::new();
                json::append_text(&document, &mut shown);
                account.attributes.insert("comment".to_owned(), String::from_utf8_lossy(&shown).into_owned());
            }
            UserOption::Attribute(value) => {
                for (name, value) in attributes(value.0)? {
                    match value.as_str() {
                        // As in a merge patch, null removes.
                        "null" => account.attributes.remove(&name),
                        _ => account.attributes.insert(name, value),
                    };
                }
            }
        }
    }
    Ok(())
}

/// The members of a JSON object, each value as its text. Error 3982 if it is none.
fn attributes(text: &[u8]) -> Result<BTreeMap<String, String>> {
    let wrong =
        || Error { code: ErrorCode(3982), message: "The user attribute must be a valid JSON object".to_owned() };
    let document = json::parse(text).map_err(|_| wrong())?.to_document().map_err(|_| wrong())?;
    let Element::Object(object) = Element::root(&document) else { return Err(wrong()) };
    let mut all = BTreeMap::new();
    for (name, value) in object.members() {
        let mut shown = Vec::new();
        json::append_text(&value.to_tree().to_document()?, &mut shown);
        all.insert(String::from_utf8_lossy(name).into_owned(), String::from_utf8_lossy(&shown).into_owned());
    }
    Ok(all)
}

/// CREATE ROLE.
pub(super) fn create_roles(
    if_not_exists: bool,
    roles: &[ast::AccountName<'_>],
    context: &mut AccountContext<'_>,
) -> Result<Outcome> {
    context.grants().check_one_of(&["CREATE USER", "CREATE ROLE"])?;
    let ids = context.ids(roles);
    let store = context.store;
    store.change(|accounts| {
        let existing: Vec<_> = ids.iter().filter(|id| accounts.get(id).is_some()).cloned().collect();
        for id in &ids {
            check_length(id)?;
        }
        if !if_not_exists {
            failed("CREATE ROLE", &existing, EXISTS)?;
        }
        for id in &ids {
            match existing.contains(id) {
                true => context.note(3163, id, "already exists"),
                false => accounts.insert(Account::role(id.clone())),
            }
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// DROP USER and DROP ROLE.
pub(super) fn drop(drop: &DropAccounts<'_>, context: &mut AccountContext<'_>) -> Result<()> {
    let (operation, needed): (_, &[&str]) = match drop.roles {
        true => ("DROP ROLE", &["CREATE USER", "DROP ROLE"]),
        false => ("DROP USER", &["CREATE USER"]),
    };
    context.grants().check_one_of(needed)?;
    let ids = context.ids(drop.accounts);
    let store = context.store;
    store.change(|accounts| {
        let absent: Vec<_> = ids.iter().filter(|id| accounts.get(id).is_none()).cloned().collect();
        for id in &ids {
            context.check_system_user(accounts, id)?;
        }
        if let Some(id) = ids.iter().find(|id| role::is_mandatory(id, context.settings)) {
            let message = format!(
                "The role {} is a mandatory role and can't be revoked or dropped. The restriction can \
                                   be lifted by excluding the role identifier from the global variable \
                                   mandatory_roles.",
                id.quoted()
            );
            return Err(Error { code: ErrorCode(3628), message });
        }
        if !drop.if_exists {
            failed(operation, &absent, DOES_NOT_EXIST)?;
        }
        for id in &ids {
            match absent.contains(id) {
                true => context.note(3162, id, "does not exist"),
                false => accounts.remove(id),
            }
        }
        Ok(())
    })
}

/// RENAME USER.
pub(super) fn rename(
    pairs: &[(ast::AccountName<'_>, ast::AccountName<'_>)],
    context: &mut AccountContext<'_>,
) -> Result<()> {
    context.grants().check_one_of(&["CREATE USER"])?;
    let store = context.store;
    store.change(|accounts| {
        let mut wrong = Vec::new();
        for (from, to) in pairs {
            let (from, to) = (context.id(from), context.id(to));
            check_length(&to)?;
            context.check_system_user(accounts, &from)?;
            match accounts.get(&from).is_none() || accounts.get(&to).is_some() {
                true => wrong.push(from),
                false => accounts.rename(&from, &to),
            }
        }
        failed("RENAME USER", &wrong, "")
    })
}

/// SET PASSWORD.
pub(super) fn set_password(set: &SetPassword<'_>, context: &mut AccountContext<'_>) -> Result<Outcome> {
    let id = set.account.as_ref().map_or_else(|| context.session.account.clone(), |name| context.id(name));
    if id != context.session.account {
        let grants = context.grants();
        if !grants.may(Privileges::UPDATE, Object::Database("mysql")) {
            return Err(grants.denied_database("mysql"));
        }
    }
    let store = context.store;
    let mut generated = Vec::new();
    store.change(|accounts: &mut Accounts| {
        context.check_system_user(accounts, &id)?;
        let account = accounts.get_mut(&id).ok_or_else(|| Error::new(ER_PASSWORD_NO_MATCH, &[]))?;
        let before = std::mem::take(&mut account.stored);
        check_current(account, &before, set.current, context)?;
        match set.password {
            Some(password) => set_stored(account, before.clone(), password.0, context)?,
            None => {
                let password = context.hasher.random();
                set_stored(account, before.clone(), password.as_bytes(), context)?;
                generated.push((id.clone(), password));
            }
        }
        account.stored_before = if set.retain_current { before } else { Vec::new() };
        Ok(())
    })?;
    Ok(random_rows(generated))
}
