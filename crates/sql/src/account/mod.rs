//! Accounts, roles and privileges.
//!
//! ```text
//!   server: connect -> AccountStore::authenticate(user, host) -> Login: plugin, stored verifier, TLS, locks
//!   session: SessionAccount { who, active roles, Arc<Grants> }  --check-->  may it?
//!   statement: requirements_of(statement) -> Requirements  --SessionAccount::check-->  may it?
//!              execute(CREATE USER | GRANT | SHOW GRANTS ...) -> a new Accounts, stored, then published
//!
//!   Accounts (immutable, Arc)  =  name -> Account: options, privileges at each level, roles
//! ```
//!
//! # Invariants
//! 1. `Accounts` and `Grants` never change; a change publishes new ones. No statement takes a lock to check a privilege.
//! 2. A change is stored before it is published, and a statement changes all accounts it names or none.
//! 3. What a session may not see is in no answer: rows of information_schema and of SHOW are left out (`visible`).
//! 4. A password is never kept: what is kept is what the server's [`PasswordHasher`] made of it.
//!
//! # Source
//! The manual's "Access Control and Account Management"; what a server of 9.7 answered to `tests/recorded/accounts.txt`.

mod accounts;
mod attempts;
mod context;
mod grant;
mod grants;
mod host;
mod login;
mod privilege;
mod record;
mod requirement;
mod role;
mod show;
mod store;
mod tables;
mod usage;
mod user;
mod visible;

pub use accounts::{Account, AccountId, Accounts, Expiry, RequireCurrent, RoutineKind, TableGrants, TlsRequirement};
pub use attempts::FailedLogins;
pub use context::{
    AccountContext, AccountSettings, NoPlugins, Objects, Outcome, PasswordHasher, SessionAccount, commits_implicitly,
    execute, is_account_statement,
};
pub use grants::{Grants, Object};
pub use host::{HostPattern, matches_host};
pub use login::{Connection, Login, LoginRefusal};
pub use privilege::{DYNAMIC_PRIVILEGES, Privileges};
pub use requirement::{Requirement, Requirements, requirements_of};
pub use store::AccountStore;
pub use tables::{INFORMATION_TABLES, MYSQL_TABLES, mysql_table};
pub use usage::{Usage, Use};
