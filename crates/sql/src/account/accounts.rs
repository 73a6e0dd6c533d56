//! An account: a user or a role, what it may, and how it logs in.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::privilege::{DYNAMIC_PRIVILEGES, Privileges};

/// `user@host`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct AccountId {
    /// In its own case; empty for the anonymous user.
    pub user: String,
    /// A name, an address or a pattern, in lower case.
    pub host: String,
}

impl AccountId {
    /// Of a user and a host, which is brought to lower case.
    pub fn new(user: &str, host: &str) -> Self {
        Self { user: user.to_owned(), host: host.to_ascii_lowercase() }
    }

    /// As SHOW GRANTS and CURRENT_ROLE() quote it: `` `u`@`h` ``.
    pub fn quoted(&self) -> String {
        format!("{}@{}", quoted(&self.user), quoted(&self.host))
    }

    /// As the errors about operations quote it: `'u'@'h'`.
    pub(super) fn in_quotes(&self) -> String {
        format!("'{}'@'{}'", self.user, self.host)
    }
}

/// As `CURRENT_USER()` shows it: `u@h`.
impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.user, self.host)
    }
}

/// A name in backticks.
pub(super) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// When a password expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Expiry {
    /// As default_password_lifetime says.
    #[default]
    Default,
    /// Never.
    Never,
    /// After so many days.
    Days(u16),
}

/// Whether who changes his password must give the current one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RequireCurrent {
    /// As password_require_current says.
    #[default]
    Default,
    /// He must.
    Required,
    /// He need not.
    Optional,
}

/// What an account asks of TLS.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum TlsRequirement {
    /// Nothing.
    #[default]
    None,
    /// TLS.
    Ssl,
    /// A valid certificate of the client.
    X509,
    /// A valid certificate with these; empty ones are not asked for.
    Certificate {
        /// Its subject.
        subject: String,
        /// Who issued it.
        issuer: String,
        /// The cipher of the connection.
        cipher: String,
    },
}

/// What an account may in a table.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TableGrants {
    /// In all of it.
    pub table: Privileges,
    /// In single columns.
    pub columns: BTreeMap<String, Privileges>,
}

/// What kind of routine.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum RoutineKind {
    Function,
    Procedure,
}

/// A user or a role.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// Its name.
    pub id: AccountId,
    /// The authentication plugin's name.
    pub plugin: String,
    /// What the plugin stored of the password: `authentication_string`.
    pub stored: Vec<u8>,
    /// What it stored of the password before, while that is retained; empty if it is not.
    pub stored_before: Vec<u8>,
    /// Passwords of before, newest first, for PASSWORD HISTORY.
    pub history_stored: Vec<Vec<u8>>,
    /// ACCOUNT LOCK.
    pub locked: bool,
    /// PASSWORD EXPIRE: the password must be changed before anything else.
    pub expired: bool,
    /// When the password expires.
    pub expiry: Expiry,
    /// Seconds since 1970 at which the password was set.
    pub changed_at: u64,
    /// PASSWORD HISTORY; None is DEFAULT.
    pub history: Option<u32>,
    /// PASSWORD REUSE INTERVAL in days; None is DEFAULT.
    pub reuse_days: Option<u32>,
    /// PASSWORD REQUIRE CURRENT.
    pub require_current: RequireCurrent,
    /// Queries, updates, connections an hour; connections at a time. 0 is no limit.
    pub limits: [u32; 4],
    /// REQUIRE.
    pub tls: TlsRequirement,
    /// FAILED_LOGIN_ATTEMPTS; 0 is off.
    pub failed_attempts: u16,
    /// PASSWORD_LOCK_TIME in days; -1 is UNBOUNDED, 0 is off.
    pub lock_days: i32,
    /// COMMENT and ATTRIBUTE: names and values as JSON, names in order.
    pub attributes: BTreeMap<String, String>,
    /// `ON *.*`.
    pub global: Privileges,
    /// Dynamic privileges, and whether they can be granted on.
    pub dynamic: BTreeMap<String, bool>,
    /// `ON database.*`; the name may be a pattern.
    pub databases: BTreeMap<String, Privileges>,
    /// `ON database.table`.
    pub tables: BTreeMap<(String, String), TableGrants>,
    /// `ON PROCEDURE database.name`.
    pub routines: BTreeMap<(RoutineKind, String, String), Privileges>,
    /// Whom it may be, and whether that can be granted on.
    pub proxies: BTreeMap<AccountId, bool>,
    /// Roles it was granted, and whether it may grant them.
    pub roles: BTreeMap<AccountId, bool>,
    /// Those that are active from login.
    pub default_roles: BTreeSet<AccountId>,
}

/// The plugin of accounts for which none is named.
pub(super) const DEFAULT_PLUGIN: &str = "caching_sha2_password";

impl Account {
    /// A user without password and privileges.
    pub fn user(id: AccountId) -> Self {
        Self { id, plugin: DEFAULT_PLUGIN.to_owned(), ..Self::default() }
    }

    /// A role: an account that cannot log in.
    pub fn role(id: AccountId) -> Self {
        Self { locked: true, expired: true, ..Self::user(id) }
    }

    /// root@localhost of a first start: everything, and no password.
    pub fn root() -> Self {
        Self {
            global: Privileges::EVERYTHING,
            dynamic: DYNAMIC_PRIVILEGES.iter().map(|name| ((*name).to_owned(), true)).collect(),
            proxies: [(AccountId::default(), true)].into(),
            ..Self::user(AccountId::new("root", "localhost"))
        }
    }

    /// Whether it has a dynamic privilege itself, or SUPER, which stands for all but SYSTEM_USER.
    pub(super) fn has_dynamic(&self, name: &str) -> bool {
        self.dynamic.contains_key(name)
    }
}

/// All accounts, at one moment.
#[derive(Clone, Debug, Default)]
pub struct Accounts {
    pub(super) all: BTreeMap<AccountId, Arc<Account>>,
}

impl Accounts {
    /// The one of that name.
    pub fn get(&self, id: &AccountId) -> Option<&Arc<Account>> {
        self.all.get(id)
    }

    /// All, in the order of user and host.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Account>> {
        self.all.values()
    }

    /// To change one in a copy that is not published yet.
    pub(super) fn get_mut(&mut self, id: &AccountId) -> Option<&mut Account> {
        self.all.get_mut(id).map(Arc::make_mut)
    }

    pub(super) fn insert(&mut self, account: Account) {
        self.all.insert(account.id.clone(), Arc::new(account));
    }

    /// Removes one, and itself from others' roles and proxies.
    pub(super) fn remove(&mut self, id: &AccountId) {
        self.all.remove(id);
        self.forget(id, None);
    }

    /// Gives it another name, also where others name it.
    pub(super) fn rename(&mut self, from: &AccountId, to: &AccountId) {
        if let Some(account) = self.all.remove(from) {
            let mut account = Arc::unwrap_or_clone(account);
            account.id = to.clone();
            self.insert(account);
            self.forget(from, Some(to));
        }
    }

    fn forget(&mut self, id: &AccountId, instead: Option<&AccountId>) {
        for account in self.all.values_mut() {
            let named = account.roles.contains_key(id) || account.proxies.contains_key(id);
            if !named && !account.default_roles.contains(id) {
                continue;
            }
            let account = Arc::make_mut(account);
            let admin = account.roles.remove(id);
            let proxy = account.proxies.remove(id);
            let default = account.default_roles.remove(id);
            let Some(to) = instead else { continue };
            admin.map(|admin| account.roles.insert(to.clone(), admin));
            proxy.map(|option| account.proxies.insert(to.clone(), option));
            if default {
                account.default_roles.insert(to.clone());
            }
        }
    }

    /// Whether `role` has `member` among those granted to it, directly or through others, or is it.
    pub(super) fn reaches(&self, role: &AccountId, member: &AccountId) -> bool {
        let (mut seen, mut left) = (BTreeSet::new(), vec![role]);
        while let Some(next) = left.pop() {
            if next == member {
                return true;
            }
            if seen.insert(next) {
                left.extend(self.get(next).into_iter().flat_map(|account| account.roles.keys()));
            }
        }
        false
    }
}
