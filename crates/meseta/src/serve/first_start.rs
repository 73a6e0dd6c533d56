//! Root's password, before anybody can reach the server.
//!
//! ```text
//! MYSQL_ROOT_PASSWORD or MYSQL_ROOT_PASSWORD_FILE   root has no password yet -> he gets this one, for localhost and for
//!                                                   MYSQL_ROOT_HOST (`%` if that is not said)
//! MYSQL_DATABASE, MYSQL_USER, MYSQL_PASSWORD        with it: a database, and an account that may all in it
//! listening beyond loopback, and still no password  -> an error that says what to do
//! ```
//! The variables are those of MySQL's container image, so that what starts a container of that starts one of this.
//!
//! # Invariants
//! 1. A server that others can reach has no root without a password, unless MYSQL_ALLOW_EMPTY_PASSWORD says so.
//! 2. A password that is set is never changed by a variable: only that of a root who has none.

use std::net::{IpAddr, ToSocketAddrs};

use meseta_server::options::ServerOptions;
use meseta_sql::account::AccountId;
use meseta_sql::session::Instance;

use super::trusted::Trusted;
use crate::Failure;

/// What the environment says.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FirstStart {
    /// MYSQL_ROOT_PASSWORD, or what is in the file of MYSQL_ROOT_PASSWORD_FILE.
    pub root_password: Option<String>,
    /// MYSQL_ROOT_HOST.
    pub root_host: Option<String>,
    /// MYSQL_ALLOW_EMPTY_PASSWORD.
    pub may_be_empty: bool,
    /// MYSQL_DATABASE.
    pub database: Option<String>,
    /// MYSQL_USER.
    pub user: Option<String>,
    /// MYSQL_PASSWORD, or what is in the file of MYSQL_PASSWORD_FILE.
    pub password: Option<String>,
}

impl FirstStart {
    /// Reads the environment; `variable` gives the value of one. Errors: a file that cannot be read.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Failure> {
        let some = |name: &str| variable(name).filter(|value| !value.is_empty());
        let secret = |name: &str| -> Result<Option<String>, Failure> {
            let Some(path) = some(&format!("{name}_FILE")) else { return Ok(some(name)) };
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{name}_FILE: {path}: {error}"))?;
            Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()).filter(|text| !text.is_empty()))
        };
        Ok(Self {
            root_password: secret("MYSQL_ROOT_PASSWORD")?,
            root_host: some("MYSQL_ROOT_HOST"),
            may_be_empty: some("MYSQL_ALLOW_EMPTY_PASSWORD").is_some(),
            database: some("MYSQL_DATABASE"),
            user: some("MYSQL_USER"),
            password: secret("MYSQL_PASSWORD")?,
        })
    }

    /// Sets root's password, if he has none and one was given; with it the database and the account.
    pub fn apply(&self, instance: &std::sync::Arc<Instance>) -> Result<(), Failure> {
        let Some(password) = self.root_password.as_deref().filter(|_| !root_has_password(instance)) else {
            return Ok(());
        };
        let mut statements = vec![format!("ALTER USER root@localhost IDENTIFIED BY {}", literal(password))];
        let host = self.root_host.as_deref().unwrap_or("%");
        if host != "localhost" {
            let root = format!("root@{}", literal(host));
            statements.push(format!("CREATE USER IF NOT EXISTS {root} IDENTIFIED BY {}", literal(password)));
            statements.push(format!("GRANT ALL ON *.* TO {root} WITH GRANT OPTION"));
        }
        if let Some(database) = &self.database {
            statements.push(format!("CREATE DATABASE IF NOT EXISTS {}", identifier(database)));
        }
        if let (Some(user), Some(password)) = (&self.user, &self.password) {
            let user = format!("{}@'%'", literal(user));
            statements.push(format!("CREATE USER IF NOT EXISTS {user} IDENTIFIED BY {}", literal(password)));
            if let Some(database) = &self.database {
                let pattern = identifier(&database.replace('_', "\\_"));
                statements.push(format!("GRANT ALL ON {pattern}.* TO {user}"));
            }
        }
        let mut session = Trusted::begin(instance)?;
        for statement in &statements {
            // Without the statement: it has a password in it.
            session
                .run(statement.as_bytes())
                .map_err(|error| format!("what the environment asks for failed: {error}"))?;
        }
        tracing::info!("root's password was set as the environment says");
        Ok(())
    }

    /// Whether the server may listen where it is told to. The error says what to do.
    pub fn check(&self, instance: &Instance, options: &ServerOptions) -> Result<(), Failure> {
        if !reaches_beyond_loopback(options) || root_has_password(instance) {
            return Ok(());
        }
        if self.may_be_empty {
            tracing::warn!("root has no password, and the server listens beyond this machine");
            return Ok(());
        }
        Err(format!(
            "root@localhost has no password, so the server does not listen on {}: start it without --bind-address and run \
             ALTER USER root@localhost IDENTIFIED BY '..', or start it with MYSQL_ROOT_PASSWORD in its environment",
            options.bind_address
        )
        .into())
    }
}

fn root_has_password(instance: &Instance) -> bool {
    let accounts = instance.accounts.accounts();
    // A root that was dropped needs none.
    accounts.get(&AccountId::new("root", "localhost")).is_none_or(|root| root.locked || !root.stored.is_empty())
}

/// Whether somebody on another machine can reach the server by TCP.
fn reaches_beyond_loopback(options: &ServerOptions) -> bool {
    let is_loopback = |name: &str| match name.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) if name.eq_ignore_ascii_case("localhost") => true,
        Err(_) => (name, 0)
            .to_socket_addrs()
            .is_ok_and(|addresses| addresses.map(|address| address.ip()).all(|address| address.is_loopback())),
    };
    !options.skip_networking && !options.bind_address.split(',').map(str::trim).all(is_loopback)
}

/// A text as a literal.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// A name in its quotes.
fn identifier(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_addresses_others_can_reach() {
        for (address, reaches) in [
            ("127.0.0.1", false),
            ("::1,127.0.0.2", false),
            ("localhost", false),
            ("*", true),
            ("0.0.0.0", true),
            ("::", true),
            ("127.0.0.1, 10.0.0.1", true),
        ] {
            let options = ServerOptions { bind_address: address.to_owned(), ..ServerOptions::default() };
            assert_eq!(reaches_beyond_loopback(&options), reaches, "{address}");
            assert!(!reaches_beyond_loopback(&ServerOptions { skip_networking: true, ..options }));
        }
    }

    #[test]
    fn what_the_environment_says_is_read_as_the_container_image_reads_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "se'cret\n").unwrap();
        let variable = |name: &str| match name {
            "MYSQL_ROOT_PASSWORD_FILE" => Some(file.path().display().to_string()),
            "MYSQL_ROOT_PASSWORD" => Some("not this one".to_owned()),
            "MYSQL_DATABASE" => Some("d".to_owned()),
            "MYSQL_USER" => Some(String::new()),
            _ => None,
        };
        let read = FirstStart::read(variable).unwrap();
        assert_eq!(read.root_password.as_deref(), Some("se'cret"));
        assert_eq!((read.database.as_deref(), read.user, read.may_be_empty), (Some("d"), None, false));
        assert_eq!(literal("a'b\\"), "'a''b\\\\'");
        assert!(
            FirstStart::read(|name| (name == "MYSQL_PASSWORD_FILE").then(|| "/nowhere/at/all".to_owned())).is_err()
        );
    }
}
