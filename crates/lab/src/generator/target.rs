//! Which server, and how it is reached: an address, an account, a database.
//!
//! When it fails: a name that does not resolve, or an account that is refused, is one line that says what to look at
//! ([`Target::explain`]).

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

use meseta_protocol::auth::Password;
use meseta_protocol::auth::client::ClientOptions;
use meseta_protocol::flags::Capabilities;
use rustls::ClientConfig;

use super::Failure;

/// A server and an account on it.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its name in reports.
    pub name: String,
    /// The host's name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Other hosts and ports of the same server: clients are spread over all.
    pub others: Vec<(String, u16)>,
    /// A Unix socket, which is used in place of host and port.
    pub socket: Option<PathBuf>,
    /// The account.
    pub user: String,
    /// Its password.
    pub password: String,
    /// The default database; empty for none.
    pub database: String,
    /// What TLS begins with, if there is to be TLS.
    pub tls: Option<Arc<ClientConfig>>,
    /// Whether packets are compressed.
    pub compressed: bool,
}

/// Where to connect, once the name is resolved.
#[derive(Debug, Clone)]
pub enum Address {
    /// TCP.
    Internet(SocketAddr),
    /// A socket of this machine.
    Unix(PathBuf),
}

impl Default for Target {
    fn default() -> Target {
        Target {
            name: String::new(),
            host: "localhost".to_owned(),
            port: 3306,
            others: Vec::new(),
            socket: None,
            user: "sbtest".to_owned(),
            password: String::new(),
            database: "sbtest".to_owned(),
            tls: None,
            compressed: false,
        }
    }
}

impl Target {
    /// Resolves the host's name.
    ///
    /// # Errors
    /// One line that says which name.
    pub fn resolve(&self) -> Result<Address, String> {
        if let Some(path) = &self.socket {
            return Ok(Address::Unix(path.clone()));
        }
        resolve(&self.host, self.port).map(Address::Internet)
    }

    /// Resolves all hosts' names.
    ///
    /// # Errors
    /// One line that says which name.
    pub fn resolve_all(&self) -> Result<Vec<Address>, String> {
        let mut addresses = vec![self.resolve()?];
        for (host, port) in &self.others {
            addresses.push(Address::Internet(resolve(host, *port)?));
        }
        Ok(addresses)
    }

    /// Where it is, for people.
    pub fn place(&self) -> String {
        match &self.socket {
            Some(path) => path.display().to_string(),
            None => format!("{}:{}", self.host, self.port),
        }
    }

    /// What the protocol's client is to ask for.
    pub fn client_options(&self) -> ClientOptions {
        let usual = ClientOptions::default();
        ClientOptions {
            user: self.user.clone().into_bytes(),
            password: Password::new(self.password.clone().into_bytes()),
            database: self.database.clone().into_bytes(),
            capabilities: usual.capabilities.set(Capabilities::COMPRESS, self.compressed),
            tls: self.tls.is_some(),
            secure: self.socket.is_some(),
            allow_public_key: true,
            ..usual
        }
    }

    /// What went wrong while connecting, and what to do, in one line.
    pub fn explain(&self, failure: &Failure) -> String {
        let place = self.place();
        match failure {
            Failure::Server { code: 1045, message, .. } => {
                format!("{place} refuses the account: {message}; see --mysql-user and --mysql-password")
            }
            Failure::Server { code: 1049, .. } => format!(
                "{place} has no database {:?}: CREATE DATABASE {}, or name another with --mysql-db",
                self.database, self.database
            ),
            Failure::Server { code: 1040, .. } => {
                format!("{place} has no connection left: raise max_connections there, or ask for fewer --threads")
            }
            Failure::Server { code: 1146, message, .. } => {
                format!("{message}: load the data first, with the same options and the command prepare")
            }
            // The server's disk, or a limit that it was given.
            Failure::Server { code: 1021 | 1114, message, .. } => {
                format!("{place}: {message}; make room on the server's disk, or load less")
            }
            Failure::Server { code: 1461, message, .. } => {
                format!("{message}: raise it, or use --db-ps-mode=disable")
            }
            Failure::Server { .. } | Failure::Unexpected(_) => format!("{place}: {failure}"),
            // (It says what to do itself.)
            Failure::Lost(why) if why.starts_with("the host ") => why.clone(),
            Failure::Lost(why) if why.starts_with("TLS: ") => {
                format!("{place}: {why}; see --mysql-ssl and --mysql-ssl-ca")
            }
            Failure::Lost(why) => {
                format!("{place} cannot be reached: {why}; is the server running, and is --mysql-port right?")
            }
        }
    }
}

/// IPv4 is preferred where there are both: servers that listen on one address listen there.
fn resolve(host: &str, port: u16) -> Result<SocketAddr, String> {
    let found: Vec<SocketAddr> = (host, port)
        .to_socket_addrs()
        .map_err(|error| format!("the host {host:?} is not known ({error}): see --mysql-host"))?
        .collect();
    found
        .iter()
        .find(|address| address.is_ipv4())
        .or(found.first())
        .copied()
        .ok_or_else(|| format!("the host {host:?} has no address"))
}
