//! SET ROLE, SET DEFAULT ROLE, mandatory roles; GRANT and REVOKE of roles.

use std::collections::BTreeSet;

use meseta_errors::{ER_ROLE_NOT_GRANTED, ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_UNKNOWN_AUTHID, ErrorCode};
use meseta_parser::ast::{AccountName, SetRole};

use super::accounts::{Account, AccountId, Accounts};
use super::context::{AccountContext, AccountSettings};
use super::grants::Object;
use super::privilege::Privileges;
use crate::error::{Error, Result};

/// The roles of `mandatory_roles`: `role, 'role'@'host', ..`.
fn mandatory(settings: &AccountSettings) -> impl Iterator<Item = AccountId> + '_ {
    let names = settings.mandatory_roles.split(',').map(str::trim).filter(|name| !name.is_empty());
    names.map(|name| {
        let bare = |text: &str| text.trim_matches(['\'', '"', '`']).to_owned();
        let (user, host) = name.split_once('@').unwrap_or((name, "%"));
        AccountId::new(&bare(user), &bare(host))
    })
}

pub(super) fn is_mandatory(id: &AccountId, settings: &AccountSettings) -> bool {
    mandatory(settings).any(|role| role == *id)
}

/// All roles that an account can make active: granted and mandatory ones.
pub(super) fn all_roles(accounts: &Accounts, account: &Account, settings: &AccountSettings) -> BTreeSet<AccountId> {
    let mandatory = mandatory(settings).filter(|role| accounts.get(role).is_some());
    account.roles.keys().cloned().chain(mandatory).collect()
}

/// The roles that a statement names.
pub(super) fn named(roles: &SetRole<'_>, context: &AccountContext<'_>) -> BTreeSet<AccountId> {
    match roles {
        SetRole::Roles(names) | SetRole::AllExcept(names) => context.ids(names).into_iter().collect(),
        _ => BTreeSet::new(),
    }
}

/// 3523 if one is not there.
pub(super) fn check_exist(accounts: &Accounts, roles: &BTreeSet<AccountId>) -> Result<()> {
    match roles.iter().find(|role| accounts.get(role).is_none()) {
        None => Ok(()),
        Some(role) => Err(unknown(role)),
    }
}

fn unknown(id: &AccountId) -> Error {
    Error::new(ER_UNKNOWN_AUTHID, &[&id.user, &id.host])
}

fn not_granted(role: &AccountId, to: &AccountId) -> Error {
    Error::new(ER_ROLE_NOT_GRANTED, &[&role.user, &role.host, &to.user, &to.host])
}

/// The roles that `roles` chooses among those of an account. Errors: 3530.
pub(super) fn chosen(
    roles: &SetRole<'_>,
    accounts: &Accounts,
    id: &AccountId,
    context: &AccountContext<'_>,
) -> Result<BTreeSet<AccountId>> {
    let named = named(roles, context);
    let Some(account) = accounts.get(id) else {
        return match named.first() {
            Some(role) => Err(not_granted(role, id)),
            None => Err(unknown(id)),
        };
    };
    let all = all_roles(accounts, account, context.settings);
    match roles {
        SetRole::None => Ok(BTreeSet::new()),
        SetRole::Default => Ok(account.default_roles.clone()),
        SetRole::All => Ok(all),
        SetRole::AllExcept(_) => Ok(all.difference(&named).cloned().collect()),
        SetRole::Roles(_) => match named.iter().find(|role| !all.contains(role)) {
            None => Ok(named),
            Some(role) => Err(not_granted(role, id)),
        },
    }
}

/// SET ROLE.
pub(super) fn set_role(roles: &SetRole<'_>, context: &mut AccountContext<'_>) -> Result<()> {
    let accounts = context.store.accounts();
    let id = context.session.account.clone();
    let active = chosen(roles, &accounts, &id, context)?;
    context.session.activate(context.store, active);
    Ok(())
}

/// SET DEFAULT ROLE .. TO ..
pub(super) fn set_default(
    roles: &SetRole<'_>,
    accounts_named: &[AccountName<'_>],
    context: &mut AccountContext<'_>,
) -> Result<()> {
    let ids = context.ids(accounts_named);
    let accounts = context.store.accounts();
    ids.iter().try_for_each(|id| context.check_system_user(&accounts, id))?;
    if ids.iter().any(|id| *id != context.session.account) {
        let grants = context.grants();
        if !grants.may(Privileges::UPDATE, Object::Table("mysql", "default_roles")) {
            grants.check_one_of(&["CREATE USER"])?;
        }
    }
    let store = context.store;
    store.change(|accounts| {
        for id in &ids {
            let chosen = chosen(roles, accounts, id, context)?;
            if let Some(account) = accounts.get_mut(id) {
                account.default_roles = chosen;
            }
        }
        Ok(())
    })
}

/// Whether a session may grant these roles on: SUPER, ROLE_ADMIN, or the admin option of each.
fn check_admin(accounts: &Accounts, roles: &[AccountId], context: &AccountContext<'_>) -> Result<()> {
    let own = accounts.get(&context.session.account);
    let admin = |role: &AccountId| own.is_some_and(|own| own.roles.get(role).copied().unwrap_or(false));
    if context.grants().may_dynamic("ROLE_ADMIN") || roles.iter().all(admin) {
        return Ok(());
    }
    Err(Error::new(ER_SPECIFIC_ACCESS_DENIED_ERROR, &[&"WITH ADMIN, ROLE_ADMIN, SUPER"]))
}

/// `GRANT role TO account` and `REVOKE role FROM account`.
pub(super) fn grant(
    accounts: &mut Accounts,
    revoke: bool,
    admin: bool,
    roles: &[AccountId],
    to: &[AccountId],
    context: &mut AccountContext<'_>,
) -> Result<()> {
    check_admin(accounts, roles, context)?;
    let all = to.iter().chain(roles).cloned().collect::<Vec<_>>();
    if let Some(absent) = all.iter().find(|id| accounts.get(id).is_none()) {
        return Err(unknown(absent));
    }
    for id in to {
        for role in roles {
            if !revoke && accounts.reaches(role, id) {
                let message = format!(
                    "User account {} is directly or indirectly granted to the role {}. The GRANT would create a loop",
                    id.quoted(),
                    role.quoted()
                );
                return Err(Error { code: ErrorCode(4027), message });
            }
            let Some(account) = accounts.get_mut(id) else { continue };
            if revoke {
                account.roles.remove(role);
                account.default_roles.remove(role);
            } else {
                *account.roles.entry(role.clone()).or_default() |= admin;
            }
        }
    }
    Ok(())
}
