//! Accounts, roles and privileges.

use super::*;

/// CREATE USER, and ALTER USER with `alter`.
#[derive(Clone, Copy, Debug)]
pub struct CreateUser<'a> {
    pub alter: bool,
    /// IF NOT EXISTS; IF EXISTS of ALTER USER.
    pub if_exists: bool,
    pub users: List<'a, UserSpecification<'a>>,
    /// `DEFAULT ROLE ..`.
    pub default_role: Option<SetRole<'a>>,
    pub require: Option<Require<'a>>,
    pub options: List<'a, UserOption<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct UserSpecification<'a> {
    /// `USER()` is the current user.
    pub account: AccountName<'a>,
    /// First, second, third factor; with `INITIAL AUTHENTICATION` behind them.
    pub authentications: List<'a, Authentication<'a>>,
    /// `DISCARD OLD PASSWORD`.
    pub discard_old_password: bool,
}

/// `IDENTIFIED ..`, also `ADD | MODIFY | DROP 2 FACTOR ..`.
#[derive(Clone, Copy, Debug)]
pub struct Authentication<'a> {
    pub change: FactorChange,
    /// `2` of `2 FACTOR`.
    pub factor: Option<Text<'a>>,
    pub plugin: Option<Text<'a>>,
    pub secret: AuthenticationSecret<'a>,
    /// `REPLACE 'current'`.
    pub current: Option<Text<'a>>,
    pub retain_current: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorChange {
    Set,
    Add,
    Modify,
    Drop,
    /// `INITIAL AUTHENTICATION ..`.
    Initial,
    /// `n FACTOR INITIATE | FINISH REGISTRATION`, `UNREGISTER`.
    InitiateRegistration,
    FinishRegistration,
    Unregister,
}

#[derive(Clone, Copy, Debug)]
pub enum AuthenticationSecret<'a> {
    None,
    /// `BY 'password'`.
    Password(Text<'a>),
    /// `BY RANDOM PASSWORD`.
    Random,
    /// `AS 'hash'`.
    Hash(Text<'a>),
}

#[derive(Clone, Copy, Debug)]
pub enum Require<'a> {
    None,
    Ssl,
    X509,
    All(List<'a, TlsRequirement<'a>>),
}

#[derive(Clone, Copy, Debug)]
pub enum TlsRequirement<'a> {
    Cipher(Text<'a>),
    Issuer(Text<'a>),
    Subject(Text<'a>),
}

#[derive(Clone, Copy, Debug)]
pub enum UserOption<'a> {
    MaxQueriesPerHour(Text<'a>),
    MaxUpdatesPerHour(Text<'a>),
    MaxConnectionsPerHour(Text<'a>),
    MaxUserConnections(Text<'a>),
    PasswordExpire,
    PasswordExpireDefault,
    PasswordExpireNever,
    PasswordExpireDays(Text<'a>),
    /// None is DEFAULT, here and below.
    PasswordHistory(Option<Text<'a>>),
    PasswordReuseDays(Option<Text<'a>>),
    PasswordRequireCurrent(PasswordRequireCurrent),
    FailedLoginAttempts(Text<'a>),
    /// None is UNBOUNDED.
    PasswordLockDays(Option<Text<'a>>),
    AccountLock,
    AccountUnlock,
    Comment(Text<'a>),
    Attribute(Text<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PasswordRequireCurrent {
    Required,
    Optional,
    Default,
}

#[derive(Clone, Copy, Debug)]
pub struct DropAccounts<'a> {
    pub roles: bool,
    pub if_exists: bool,
    pub accounts: List<'a, AccountName<'a>>,
}

/// GRANT, and REVOKE with `revoke`.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    pub revoke: bool,
    /// REVOKE IF EXISTS.
    pub if_exists: bool,
    pub ignore_unknown_user: bool,
    pub subject: GrantSubject<'a>,
    /// To or from whom.
    pub accounts: List<'a, AccountName<'a>>,
    /// `WITH GRANT OPTION`, of roles `WITH ADMIN OPTION`.
    pub with_option: bool,
    /// `AS account`.
    pub as_account: Option<AccountName<'a>>,
    /// `WITH ROLE ..` behind AS.
    pub as_roles: Option<SetRole<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum GrantSubject<'a> {
    Privileges {
        privileges: List<'a, Privilege<'a>>,
        on: GrantLevel<'a>,
    },
    Roles(List<'a, AccountName<'a>>),
    /// `PROXY ON account`.
    Proxy(AccountName<'a>),
    /// `REVOKE ALL PRIVILEGES, GRANT OPTION FROM ..`.
    AllAndGrantOption,
}

#[derive(Clone, Copy, Debug)]
pub struct Privilege<'a> {
    /// The words with one blank between them, in upper case: `SELECT`, `CREATE TEMPORARY TABLES`, `ALL`; a dynamic
    /// privilege as written.
    pub name: Text<'a>,
    pub columns: List<'a, Identifier<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum GrantLevel<'a> {
    /// `*.*`
    Global,
    /// `*`
    CurrentSchema,
    /// `schema.*`
    Schema(Identifier<'a>),
    Table(ObjectName<'a>),
    Procedure(ObjectName<'a>),
    Function(ObjectName<'a>),
    Library(ObjectName<'a>),
}
