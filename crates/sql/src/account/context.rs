//! Account statements: what they are lent, and where each is carried out.

use std::collections::BTreeSet;
use std::sync::Arc;

use meseta_errors::ER_OPTION_PREVENTS_STATEMENT;
use meseta_parser::ast::{self, ShowWhat, Statement};
use meseta_types::{SqlError, Warnings};

use super::accounts::{AccountId, Accounts, RoutineKind};
use super::grants::Grants;
use super::store::AccountStore;
use super::usage::Usage;
use super::{grant, role, show, user};
use crate::error::{Error, Result};

/// Makes what is stored of a password. The server implements it, which knows the plugins.
pub trait PasswordHasher: Send + Sync {
    /// Whether there is such a plugin.
    fn knows(&self, plugin: &str) -> bool;
    /// What the plugin stores of a new password, salted; of an empty one, nothing. It may be slow.
    fn hash(&self, plugin: &str, password: &[u8]) -> Vec<u8>;
    /// Whether a stored text is of the plugin's form: `IDENTIFIED WITH plugin AS 'text'`.
    fn is_valid(&self, plugin: &str, stored: &[u8]) -> bool;
    /// Whether it is the password of what is stored, for PASSWORD HISTORY and REPLACE.
    fn matches(&self, plugin: &str, stored: &[u8], password: &[u8]) -> bool;
    /// A new random password.
    fn random(&self) -> String;
}

/// Knows no plugin: where no passwords can be set.
pub struct NoPlugins;

impl PasswordHasher for NoPlugins {
    fn knows(&self, _: &str) -> bool {
        false
    }

    fn hash(&self, _: &str, _: &[u8]) -> Vec<u8> {
        Vec::new()
    }

    fn is_valid(&self, _: &str, _: &[u8]) -> bool {
        false
    }

    fn matches(&self, _: &str, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn random(&self) -> String {
        String::new()
    }
}

/// Which objects there are: GRANT on a table that is not there is an error.
pub trait Objects {
    /// The table's columns, in lower case; `None` if there is no such table.
    fn columns(&self, database: &str, table: &str) -> Option<Vec<String>>;
    /// Whether there is such a routine.
    fn has_routine(&self, kind: RoutineKind, database: &str, name: &str) -> bool;
}

/// The system variables that account statements look at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AccountSettings {
    /// print_identified_with_as_hex.
    pub print_hex: bool,
    /// mandatory_roles: names with commas.
    pub mandatory_roles: String,
    /// activate_all_roles_on_login.
    pub all_roles_on_login: bool,
    /// password_history.
    pub password_history: u32,
    /// password_require_current.
    pub require_current: bool,
    /// Seconds since 1970.
    pub now: u64,
}

/// Who a session is.
#[derive(Clone, Debug)]
pub struct SessionAccount {
    /// The account that was found at login: CURRENT_USER().
    pub account: AccountId,
    /// The host that it came from, as errors name it.
    pub host: String,
    /// Whether it logged in with a password, as error 1045 says.
    pub using_password: bool,
    /// Whether its password has expired: until it is changed, everything else is error 1820.
    pub must_change_password: bool,
    /// What its account uses in an hour, if that is limited.
    pub usage: Option<Arc<Usage>>,
    /// It may everything, whatever becomes of accounts.
    is_trusted: bool,
    pub(super) roles: BTreeSet<AccountId>,
    grants: Arc<Grants>,
    accounts: Arc<Accounts>,
    role_text: String,
    version: u64,
}

impl SessionAccount {
    /// A session of an account begins: its default roles are active, or all it has with
    /// `activate_all_roles_on_login`. `None` if there is no such account.
    pub fn new(
        store: &AccountStore,
        account: &AccountId,
        host: &str,
        using_password: bool,
        settings: &AccountSettings,
    ) -> Option<Self> {
        let accounts = store.accounts();
        let found = accounts.get(account)?;
        let roles = match settings.all_roles_on_login {
            true => role::all_roles(&accounts, found, settings),
            false => found.default_roles.clone(),
        };
        let mut session = Self::nobody(account, host);
        (session.using_password, session.roles) = (using_password, roles);
        session.refresh(store);
        Some(session)
    }

    /// A session of an account that is not there: it may nothing.
    pub fn nobody(account: &AccountId, host: &str) -> Self {
        Self {
            account: account.clone(),
            host: host.to_owned(),
            using_password: false,
            must_change_password: false,
            usage: None,
            is_trusted: false,
            roles: BTreeSet::new(),
            grants: Arc::new(Grants::none(account, host)),
            accounts: Arc::default(),
            role_text: "NONE".to_owned(),
            version: u64::MAX,
        }
    }

    /// A session that may everything: of the server itself (`init_file`), or of whoever comes with skip_grant_tables.
    pub fn trusted(account: &AccountId, host: &str) -> Self {
        let grants = Arc::new(Grants::everything(account, host));
        Self { is_trusted: true, grants, ..Self::nobody(account, host) }
    }

    /// What it may. After [`SessionAccount::refresh`], which a session does before each statement.
    pub fn grants(&self) -> &Arc<Grants> {
        &self.grants
    }

    /// Takes over changes of accounts since. One atomic load if there are none.
    #[inline]
    pub fn refresh(&mut self, store: &AccountStore) {
        if self.version != store.version() {
            self.reload(store);
        }
    }

    /// All accounts, as of the last [`SessionAccount::refresh`].
    pub fn accounts(&self) -> &Arc<Accounts> {
        &self.accounts
    }

    fn reload(&mut self, store: &AccountStore) {
        self.version = store.version();
        let accounts = store.accounts();
        // A user who is gone may nothing any more.
        self.grants = match accounts.get(&self.account) {
            _ if self.is_trusted => Arc::clone(&self.grants),
            None => Arc::new(Grants::none(&self.account, &self.host)),
            Some(account) => {
                let active = self.roles.iter().filter(|role| accounts.get(role).is_some()).cloned().collect();
                self.roles = active;
                store.grants_of(&accounts, self.version, account, &self.roles, &self.host)
            }
        };
        self.role_text = match self.roles.is_empty() {
            true => "NONE".to_owned(),
            false => self.roles.iter().map(AccountId::quoted).collect::<Vec<_>>().join(","),
        };
        self.accounts = accounts;
    }

    /// `CURRENT_ROLE()`.
    pub fn current_role(&self) -> &str {
        &self.role_text
    }

    /// Sets the active roles.
    pub(super) fn activate(&mut self, store: &AccountStore, roles: BTreeSet<AccountId>) {
        self.roles = roles;
        self.reload(store);
    }
}

/// What an account statement is lent.
pub struct AccountContext<'a> {
    /// All accounts.
    pub store: &'a AccountStore,
    /// Who runs the statement.
    pub session: &'a mut SessionAccount,
    /// The session's database, for `ON *` and `ON table`.
    pub database: Option<&'a str>,
    /// Which objects there are.
    pub objects: &'a dyn Objects,
    /// Makes stored passwords.
    pub hasher: &'a dyn PasswordHasher,
    /// System variables.
    pub settings: &'a AccountSettings,
    /// Where warnings go.
    pub warnings: &'a mut Warnings,
}

/// What an account statement came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// OK.
    Done,
    /// Rows of text.
    Rows {
        /// The columns' names.
        columns: Vec<String>,
        /// The rows.
        rows: Vec<Vec<String>>,
    },
}

/// Whether [`execute`] carries a statement out.
pub fn is_account_statement(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::CreateUser(_)
        | Statement::CreateRole { .. }
        | Statement::DropAccounts(_)
        | Statement::RenameUsers(_)
        | Statement::SetPassword(_)
        | Statement::Grant(_)
        | Statement::SetRole(_)
        | Statement::SetDefaultRole { .. } => true,
        Statement::Show(show) => {
            matches!(show.what, ShowWhat::Grants { .. } | ShowWhat::CreateUser(_) | ShowWhat::Privileges)
        }
        Statement::Flush(flush) => match flush.what {
            ast::FlushWhat::Options(what) => what.iter().all(|one| matches!(one.0, b"PRIVILEGES" | b"USER_RESOURCES")),
            ast::FlushWhat::Tables { .. } => false,
        },
        _ => false,
    }
}

/// Whether an account statement commits what was before.
pub fn commits_implicitly(statement: &Statement<'_>) -> bool {
    !matches!(statement, Statement::SetRole(_) | Statement::Show(_))
}

/// Carries out an account statement. Errors: MySQL's; 1235 for what is no account statement.
pub fn execute(statement: &Statement<'_>, context: &mut AccountContext<'_>) -> Result<Outcome> {
    context.session.refresh(context.store);
    let stays =
        matches!(statement, Statement::Flush(_) | Statement::Show(ast::Show { what: ShowWhat::Privileges, .. }));
    if context.store.skips_checks() && !stays {
        return Err(Error::new(ER_OPTION_PREVENTS_STATEMENT, &[&"--skip-grant-tables"]));
    }
    let done = match statement {
        Statement::CreateUser(create) if create.alter => user::alter(create, context),
        Statement::CreateUser(create) => user::create(create, context),
        Statement::CreateRole { if_not_exists, roles } => user::create_roles(*if_not_exists, roles, context),
        Statement::DropAccounts(drop) => return user::drop(drop, context).map(|()| refreshed(context)),
        Statement::RenameUsers(pairs) => {
            return user::rename(pairs, context).map(|()| refreshed(context));
        }
        Statement::SetPassword(set) => user::set_password(set, context),
        Statement::Grant(statement) => return grant::grant(statement, context).map(|()| refreshed(context)),
        Statement::SetRole(roles) => return role::set_role(roles, context).map(|()| Outcome::Done),
        Statement::SetDefaultRole { roles, accounts } => {
            return role::set_default(roles, accounts, context).map(|()| refreshed(context));
        }
        Statement::Show(shown) => match &shown.what {
            ShowWhat::Grants { account, using } => return show::grants(account.as_ref(), using, context),
            ShowWhat::CreateUser(account) => return show::create_user(account, context),
            ShowWhat::Privileges => return Ok(show::privileges()),
            _ => return Err(Error::not_yet("this SHOW statement")),
        },
        // Accounts are always as they are kept; what is counted of failed logins begins anew.
        Statement::Flush(ast::Flush { what: ast::FlushWhat::Options(options), .. }) => {
            if options.iter().any(|option| option.0 == b"PRIVILEGES") {
                context.store.flush_privileges();
            }
            context.store.forget_usage();
            return Ok(Outcome::Done);
        }
        _ => return Err(Error::not_yet("this statement among those of accounts")),
    }?;
    context.session.refresh(context.store);
    Ok(done)
}

fn refreshed(context: &mut AccountContext<'_>) -> Outcome {
    context.session.refresh(context.store);
    Outcome::Done
}

impl AccountContext<'_> {
    /// The name that was written: `CURRENT_USER` is the session's account.
    pub(super) fn id(&self, name: &ast::AccountName<'_>) -> AccountId {
        match name {
            ast::AccountName::CurrentUser => self.session.account.clone(),
            ast::AccountName::Named { user, host } => {
                let host = host.map_or("%".into(), |host| String::from_utf8_lossy(host.0));
                AccountId::new(&String::from_utf8_lossy(user.0), &host)
            }
        }
    }

    pub(super) fn ids(&self, names: &[ast::AccountName<'_>]) -> Vec<AccountId> {
        names.iter().map(|name| self.id(name)).collect()
    }

    pub(super) fn grants(&self) -> Arc<Grants> {
        Arc::clone(self.session.grants())
    }

    /// A note about an account that is, or is not, there.
    pub(super) fn note(&mut self, number: u16, id: &AccountId, what: &str) {
        let text = format!("Authorization ID {} {what}.", id.in_quotes());
        self.warnings.note(SqlError::new(number, text));
    }

    /// Error 1227 if `id` is an account of SYSTEM_USER and the session is none.
    pub(super) fn check_system_user(&self, accounts: &Accounts, id: &AccountId) -> Result<()> {
        match accounts.get(id) {
            Some(account) if account.has_dynamic("SYSTEM_USER") => self.grants().check_one_of(&["SYSTEM_USER"]),
            _ => Ok(()),
        }
    }
}
