//! Logging in: which account a connection is of, and whether the account lets it in.
//!
//! ```text
//! authenticate(user, host) -> Login { plugin, stored }  --the server proves the password-->  check -> a session
//! ```

use std::net::IpAddr;
use std::sync::Arc;

use super::accounts::{Account, Expiry, TlsRequirement};
use super::host::{HostPattern, matches_host};
use super::store::AccountStore;

/// What the server knows of a connection's TLS.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Connection<'a> {
    /// Whether it is encrypted.
    pub tls: bool,
    /// The client's certificate, if it sent one that is valid: subject and issuer.
    pub certificate: Option<(&'a str, &'a str)>,
    /// The cipher's name.
    pub cipher: &'a str,
}

/// An account that a connection may be of, once the password is proved.
#[derive(Clone, Debug)]
pub struct Login {
    /// The account.
    pub account: Arc<Account>,
}

/// Why a connection is refused though its password is right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoginRefusal {
    /// Error 3118.
    Locked,
    /// Error 1045: not encrypted, or not with the certificate that the account requires.
    Tls,
}

impl AccountStore {
    /// The account for a user who comes from a host: `host` as it was resolved, `localhost` for a socket file. The most
    /// specific host decides, and only then the user: it may be the anonymous one.
    pub fn authenticate(&self, user: &str, host: &str, address: Option<IpAddr>) -> Option<Login> {
        let accounts = self.accounts();
        let fits = |account: &&Arc<Account>| {
            (account.id.user.is_empty() || account.id.user == user) && matches_host(&account.id.host, host, address)
        };
        let rank = |account: &&Arc<Account>| (HostPattern::of(&account.id.host), !account.id.user.is_empty());
        let account = Arc::clone(accounts.iter().filter(fits).max_by_key(rank)?);
        Some(Login { account })
    }
}

impl Login {
    /// Whether the account lets the connection in.
    pub fn check(&self, connection: Connection<'_>) -> Result<(), LoginRefusal> {
        if self.account.locked {
            return Err(LoginRefusal::Locked);
        }
        let fits = match &self.account.tls {
            TlsRequirement::None => true,
            TlsRequirement::Ssl => connection.tls,
            TlsRequirement::X509 => connection.tls && connection.certificate.is_some(),
            TlsRequirement::Certificate { subject, issuer, cipher } => {
                let (of_subject, of_issuer) = connection.certificate.unwrap_or_default();
                let with_certificate = connection.certificate.is_some() || (subject.is_empty() && issuer.is_empty());
                connection.tls
                    && with_certificate
                    && (subject.is_empty() || subject == of_subject)
                    && (issuer.is_empty() || issuer == of_issuer)
                    && (cipher.is_empty() || cipher == connection.cipher)
            }
        };
        if fits { Ok(()) } else { Err(LoginRefusal::Tls) }
    }

    /// Whether the password has expired: then the session may do nothing but set it (error 1820). `now` in seconds since
    /// 1970, `default_lifetime` in days: default_password_lifetime, 0 for never.
    pub fn is_expired(&self, now: u64, default_lifetime: u16) -> bool {
        let days = match self.account.expiry {
            _ if self.account.expired => return true,
            Expiry::Never => return false,
            Expiry::Default if default_lifetime == 0 => return false,
            Expiry::Default => default_lifetime,
            Expiry::Days(days) => days,
        };
        now.saturating_sub(self.account.changed_at) / 86_400 >= u64::from(days)
    }
}
