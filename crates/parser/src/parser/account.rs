//! Accounts, roles, privileges.

use super::{K, Parser, Result, T};
use crate::ast::*;

/// Privileges of one word.
const PRIVILEGES: &[K] = &[
    K::SELECT,
    K::INSERT,
    K::UPDATE,
    K::REFERENCES,
    K::DELETE,
    K::USAGE,
    K::INDEX,
    K::ALTER,
    K::CREATE,
    K::DROP,
    K::EXECUTE,
    K::RELOAD,
    K::SHUTDOWN,
    K::PROCESS,
    K::FILE,
    K::GRANT,
    K::SHOW,
    K::SUPER,
    K::LOCK,
    K::REPLICATION,
    K::EVENT,
    K::TRIGGER,
];

impl<'a> Parser<'a> {
    /// Behind `CREATE USER` or `ALTER USER`.
    pub(super) fn create_user(&mut self, alter: bool) -> Result<Statement<'a>> {
        let if_exists = if alter { self.if_exists()? } else { self.if_not_exists()? };
        let users = self.comma_list(|p| p.user_specification(alter))?;
        let mut default_role = None;
        if self.accept_words(&[K::DEFAULT, K::ROLE])? {
            default_role = Some(match self.token.keyword {
                K::ALL | K::NONE if alter => self.set_role()?,
                _ => SetRole::Roles(self.comma_list(Parser::role)?),
            });
        }
        let require = if self.accept(K::REQUIRE) { Some(self.require()?) } else { None };
        let mut options = self.new_list();
        if self.accept(K::WITH) {
            options.push(match self.resource_option()? {
                Some(option) => option,
                None => return self.fail(),
            });
            while let Some(option) = self.resource_option()? {
                options.push(option);
            }
        }
        while let Some(option) = self.password_option()? {
            options.push(option);
        }
        if self.at_any(&[K::COMMENT, K::ATTRIBUTE]) {
            let comment = self.at(K::COMMENT);
            self.advance();
            let text = self.string()?;
            options.push(if comment { UserOption::Comment(text) } else { UserOption::Attribute(text) });
        }
        let options = options.into_bump_slice();
        Ok(Statement::CreateUser(self.alloc(CreateUser { alter, if_exists, users, default_role, require, options })))
    }

    fn user_specification(&mut self, alter: bool) -> Result<UserSpecification<'a>> {
        let account = if alter && self.at(K::USER) && self.peek().kind == T::LeftParenthesis {
            self.advance();
            self.open()?;
            self.close()?;
            AccountName::CurrentUser
        } else {
            self.account()?
        };
        let mut authentications = self.new_list();
        let mut discard_old_password = false;
        if self.at(K::IDENTIFIED) {
            authentications.push(self.authentication(FactorChange::Set, None)?);
            while !alter && self.accept(K::AND) {
                authentications.push(self.authentication(FactorChange::Set, None)?);
            }
            if !alter && self.accept_words(&[K::INITIAL, K::AUTHENTICATION])? {
                authentications.push(self.authentication(FactorChange::Initial, None)?);
            }
        } else if alter && self.accept(K::DISCARD) {
            self.expect_words(&[K::OLD, K::PASSWORD])?;
            discard_old_password = true;
        } else if alter && self.at_any(&[K::ADD, K::MODIFY, K::DROP]) {
            while self.at_any(&[K::ADD, K::MODIFY, K::DROP]) {
                let change = match self.token.keyword {
                    K::ADD => FactorChange::Add,
                    K::MODIFY => FactorChange::Modify,
                    _ => FactorChange::Drop,
                };
                self.advance();
                let factor = Some(self.integer()?);
                self.expect(K::FACTOR)?;
                authentications.push(if change == FactorChange::Drop {
                    self.bare_authentication(change, factor)
                } else {
                    self.authentication(change, factor)?
                });
            }
        } else if alter && self.at_kind(T::Integer) {
            authentications.push(self.registration()?);
        }
        Ok(UserSpecification { account, authentications: authentications.into_bump_slice(), discard_old_password })
    }

    /// `2 FACTOR INITIATE REGISTRATION`, `FINISH REGISTRATION SET CHALLENGE_RESPONSE AS 'x'`, `UNREGISTER`.
    fn registration(&mut self) -> Result<Authentication<'a>> {
        let factor = Some(self.integer()?);
        self.expect(K::FACTOR)?;
        match self.expect_any(&[K::INITIATE, K::FINISH, K::UNREGISTER])? {
            K::INITIATE => {
                self.expect(K::REGISTRATION)?;
                Ok(self.bare_authentication(FactorChange::InitiateRegistration, factor))
            }
            K::FINISH => {
                self.expect_words(&[K::REGISTRATION, K::SET, K::CHALLENGE_RESPONSE, K::AS])?;
                let secret = AuthenticationSecret::Hash(self.string_or_digits()?);
                Ok(Authentication { secret, ..self.bare_authentication(FactorChange::FinishRegistration, factor) })
            }
            _ => Ok(self.bare_authentication(FactorChange::Unregister, factor)),
        }
    }

    fn bare_authentication(&self, change: FactorChange, factor: Option<Text<'a>>) -> Authentication<'a> {
        let secret = AuthenticationSecret::None;
        Authentication { change, factor, plugin: None, secret, current: None, retain_current: false }
    }

    /// `IDENTIFIED [WITH plugin] [BY 'x' | BY RANDOM PASSWORD | AS 'hash']`.
    fn authentication(&mut self, change: FactorChange, factor: Option<Text<'a>>) -> Result<Authentication<'a>> {
        let mut authentication = self.bare_authentication(change, factor);
        self.expect(K::IDENTIFIED)?;
        if self.accept(K::WITH) {
            authentication.plugin = Some(self.name_or_string()?);
        } else if !self.at(K::BY) {
            return self.fail();
        }
        if authentication.plugin.is_some() && self.accept(K::AS) {
            authentication.secret = AuthenticationSecret::Hash(self.string_or_digits()?);
        } else if self.accept(K::BY) {
            authentication.secret = if self.accept(K::RANDOM) {
                self.expect(K::PASSWORD)?;
                AuthenticationSecret::Random
            } else {
                AuthenticationSecret::Password(self.string_or_digits()?)
            };
            if self.accept(K::REPLACE) {
                authentication.current = Some(self.string()?);
            }
        }
        authentication.retain_current = self.accept_words(&[K::RETAIN, K::CURRENT, K::PASSWORD])?;
        Ok(authentication)
    }

    fn require(&mut self) -> Result<Require<'a>> {
        match self.token.keyword {
            K::NONE => {
                self.advance();
                Ok(Require::None)
            }
            K::SSL => {
                self.advance();
                Ok(Require::Ssl)
            }
            K::X509 => {
                self.advance();
                Ok(Require::X509)
            }
            _ => {
                let mut requirements = self.new_list();
                loop {
                    requirements.push(match self.expect_any(&[K::CIPHER, K::ISSUER, K::SUBJECT])? {
                        K::CIPHER => TlsRequirement::Cipher(self.string()?),
                        K::ISSUER => TlsRequirement::Issuer(self.string()?),
                        _ => TlsRequirement::Subject(self.string()?),
                    });
                    self.accept(K::AND);
                    if !self.at_any(&[K::CIPHER, K::ISSUER, K::SUBJECT]) {
                        break;
                    }
                }
                Ok(Require::All(requirements.into_bump_slice()))
            }
        }
    }

    fn resource_option(&mut self) -> Result<Option<UserOption<'a>>> {
        let keyword = self.token.keyword;
        match keyword {
            K::MAX_QUERIES_PER_HOUR
            | K::MAX_UPDATES_PER_HOUR
            | K::MAX_CONNECTIONS_PER_HOUR
            | K::MAX_USER_CONNECTIONS => self.advance(),
            _ => return Ok(None),
        }
        let count = self.unsigned()?;
        Ok(Some(match keyword {
            K::MAX_QUERIES_PER_HOUR => UserOption::MaxQueriesPerHour(count),
            K::MAX_UPDATES_PER_HOUR => UserOption::MaxUpdatesPerHour(count),
            K::MAX_CONNECTIONS_PER_HOUR => UserOption::MaxConnectionsPerHour(count),
            _ => UserOption::MaxUserConnections(count),
        }))
    }

    fn number_or_word(&mut self, word: K) -> Result<Option<Text<'a>>> {
        if self.accept(word) { Ok(None) } else { self.unsigned().map(Some) }
    }

    fn password_option(&mut self) -> Result<Option<UserOption<'a>>> {
        use UserOption as O;
        let option = match self.token.keyword {
            K::ACCOUNT => {
                self.advance();
                if self.expect_any(&[K::LOCK, K::UNLOCK])? == K::LOCK { O::AccountLock } else { O::AccountUnlock }
            }
            K::FAILED_LOGIN_ATTEMPTS => {
                self.advance();
                O::FailedLoginAttempts(self.unsigned()?)
            }
            K::PASSWORD_LOCK_TIME => {
                self.advance();
                O::PasswordLockDays(self.number_or_word(K::UNBOUNDED)?)
            }
            K::PASSWORD => {
                self.advance();
                match self.expect_any(&[K::EXPIRE, K::HISTORY, K::REUSE, K::REQUIRE])? {
                    K::EXPIRE => match self.token.keyword {
                        K::INTERVAL => {
                            self.advance();
                            let days = self.unsigned()?;
                            self.expect(K::DAY)?;
                            O::PasswordExpireDays(days)
                        }
                        K::NEVER => {
                            self.advance();
                            O::PasswordExpireNever
                        }
                        K::DEFAULT => {
                            self.advance();
                            O::PasswordExpireDefault
                        }
                        _ => O::PasswordExpire,
                    },
                    K::HISTORY => O::PasswordHistory(self.number_or_word(K::DEFAULT)?),
                    K::REUSE => {
                        self.expect(K::INTERVAL)?;
                        let days = self.number_or_word(K::DEFAULT)?;
                        if days.is_some() {
                            self.expect(K::DAY)?;
                        }
                        O::PasswordReuseDays(days)
                    }
                    _ => {
                        self.expect(K::CURRENT)?;
                        O::PasswordRequireCurrent(if self.accept(K::OPTIONAL) {
                            PasswordRequireCurrent::Optional
                        } else if self.accept(K::DEFAULT) {
                            PasswordRequireCurrent::Default
                        } else {
                            PasswordRequireCurrent::Required
                        })
                    }
                }
            }
            _ => return Ok(None),
        };
        Ok(Some(option))
    }

    pub(super) fn grant(&mut self) -> Result<Statement<'a>> {
        let revoke = self.at(K::REVOKE);
        self.advance();
        let if_exists = revoke && self.if_exists()?;
        let mut grant = Grant {
            revoke,
            if_exists,
            ignore_unknown_user: false,
            subject: GrantSubject::AllAndGrantOption,
            accounts: &[],
            with_option: false,
            as_account: None,
            as_roles: None,
        };
        let proxy = self.at(K::PROXY) && self.peek().keyword == K::ON;
        if proxy {
            self.advance();
            self.advance();
            grant.subject = GrantSubject::Proxy(self.account()?);
        } else {
            grant.subject = self.grant_subject(revoke)?;
        }
        self.expect(if revoke { K::FROM } else { K::TO })?;
        grant.accounts = self.comma_list(Parser::account)?;
        if revoke {
            grant.ignore_unknown_user = self.accept_words(&[K::IGNORE, K::UNKNOWN, K::USER])?;
            return Ok(Statement::Grant(self.alloc(grant)));
        }
        let is_roles = matches!(grant.subject, GrantSubject::Roles(_));
        if self.accept(K::WITH) {
            self.expect(if is_roles { K::ADMIN } else { K::GRANT })?;
            self.expect(K::OPTION)?;
            grant.with_option = true;
        }
        if !is_roles && !proxy && self.accept(K::AS) {
            grant.as_account = Some(self.account()?);
            if self.accept_words(&[K::WITH, K::ROLE])? {
                grant.as_roles = Some(self.set_role()?);
            }
        }
        Ok(Statement::Grant(self.alloc(grant)))
    }

    /// Privileges and what they are on, or roles.
    fn grant_subject(&mut self, revoke: bool) -> Result<GrantSubject<'a>> {
        if self.accept(K::ALL) {
            self.accept(K::PRIVILEGES);
            if revoke && self.accept_kind(T::Comma) {
                self.expect_words(&[K::GRANT, K::OPTION])?;
                return Ok(GrantSubject::AllAndGrantOption);
            }
            if revoke && self.at(K::FROM) {
                return Ok(GrantSubject::AllAndGrantOption);
            }
            let all = Privilege { name: Text(b"ALL"), columns: &[] };
            let privileges = self.arena.alloc_slice_copy(&[all]);
            return Ok(GrantSubject::Privileges { privileges, on: self.grant_level()? });
        }
        let mut privileges = self.new_list();
        let mut roles = self.new_list();
        loop {
            if self.at_any(PRIVILEGES) {
                let name = self.privilege_words()?;
                let columns = self.optional_identifiers()?;
                privileges.push(Privilege { name, columns });
            } else {
                // A role, or a dynamic privilege: ON tells.
                let account = self.account()?;
                let AccountName::Named { user, host } = account else { return self.fail() };
                roles.push(account);
                let columns = if host.is_none() { self.optional_identifiers()? } else { &[] };
                privileges.push(Privilege { name: user, columns });
            }
            if !self.accept_kind(T::Comma) {
                break;
            }
        }
        if self.at(K::ON) {
            if roles.iter().any(|role| matches!(role, AccountName::Named { host: Some(_), .. })) {
                return self.fail();
            }
            let privileges = privileges.into_bump_slice();
            return Ok(GrantSubject::Privileges { privileges, on: self.grant_level()? });
        }
        if roles.len() != privileges.len() || roles.is_empty() {
            return self.fail();
        }
        Ok(GrantSubject::Roles(roles.into_bump_slice()))
    }

    /// The words of a privilege, with one blank between them.
    fn privilege_words(&mut self) -> Result<Text<'a>> {
        let first = self.token.keyword;
        self.advance();
        let words: &[K] = match first {
            K::CREATE => match self.token.keyword {
                K::TEMPORARY => &[K::TEMPORARY, K::TABLES],
                K::VIEW => &[K::VIEW],
                K::ROUTINE => &[K::ROUTINE],
                K::USER => &[K::USER],
                K::TABLESPACE => &[K::TABLESPACE],
                K::ROLE => &[K::ROLE],
                _ => &[],
            },
            K::DROP if self.at(K::ROLE) => &[K::ROLE],
            K::ALTER if self.at(K::ROUTINE) => &[K::ROUTINE],
            K::GRANT => &[K::OPTION],
            K::SHOW if self.at(K::VIEW) => &[K::VIEW],
            K::SHOW => &[K::DATABASES],
            K::LOCK => &[K::TABLES],
            K::REPLICATION if self.at(K::CLIENT) => &[K::CLIENT],
            K::REPLICATION => &[K::SLAVE],
            _ => &[],
        };
        let mut name = self.new_list();
        name.extend_from_slice(first.text().as_bytes());
        for word in words {
            if !(*word == K::SLAVE && self.accept(K::REPLICA)) {
                self.expect(*word)?;
            }
            name.push(b' ');
            name.extend_from_slice(word.text().as_bytes());
        }
        Ok(Text(name.into_bump_slice()))
    }

    /// `ON [TABLE | PROCEDURE | FUNCTION | LIBRARY] level`.
    fn grant_level(&mut self) -> Result<GrantLevel<'a>> {
        self.expect(K::ON)?;
        let kind = match self.token.keyword {
            kind @ (K::TABLE | K::PROCEDURE | K::FUNCTION) => {
                self.advance();
                kind
            }
            K::LIBRARY if !matches!(self.peek().kind, T::Dot) && !matches!(self.peek().keyword, K::TO | K::FROM) => {
                self.advance();
                K::LIBRARY
            }
            _ => K::TABLE,
        };
        if self.accept_kind(T::Star) {
            if self.accept_kind(T::Dot) {
                self.expect_kind(T::Star)?;
                return Ok(GrantLevel::Global);
            }
            return Ok(GrantLevel::CurrentSchema);
        }
        let first = self.identifier()?;
        let mut name = ObjectName { schema: None, name: first };
        if self.accept_kind(T::Dot) {
            if self.accept_kind(T::Star) {
                return Ok(GrantLevel::Schema(first));
            }
            name = ObjectName { schema: Some(first), name: self.identifier()? };
        }
        Ok(match kind {
            K::PROCEDURE => GrantLevel::Procedure(name),
            K::FUNCTION => GrantLevel::Function(name),
            K::LIBRARY => GrantLevel::Library(name),
            _ => GrantLevel::Table(name),
        })
    }
}
