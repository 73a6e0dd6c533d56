//! What a server is told when it starts: MySQL's option names, on the command line and in option files.
//!
//! ```text
//! arguments --line--> --defaults-file? --file--> [mysqld], [server], [meseta] --+
//!      |                                                                         v
//!      +------------------------------ later wins ----------------------> known, unused: what is it?
//!                                                                                |
//!                                ServerOptions  <--used--  handed on  --> ServerOptions::variables
//!                                notes          <--not needed here: a line in the log says why
//!                                error          <--refused, or misspelt (with the nearest name)
//! ```
//!
//! - [`line`](mod@line): arguments. [`file`](mod@file): option files. [`name`]: which option is meant. [`value`]: numbers
//!   with suffixes, switches, lists.
//! - [`known`]: options that are used here, or handed on to the language. [`unused`]: those that are accepted and not
//!   needed, and those that are refused.
//!
//! Option files are read only where `--defaults-file` (or `--defaults-extra-file`) names them: the files of another
//! server on the same machine (`/etc/my.cnf`) are not ours.
//!
//! Source: the manual's chapter "Specifying Program Options", and the lists of options of MySQL 5.5 to 9.7.

pub mod file;
pub mod known;
pub mod line;
pub mod name;
pub mod unused;
pub mod value;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use line::{Parsed, override_with, parse};

/// What is wrong with the options. The text is for who started the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OptionError(pub String);

/// How durable a commit is when it is acknowledged (`innodb_flush_log_at_trx_commit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushLog {
    /// 0: its log is written and flushed within a second.
    Lazily,
    /// 1: its log is flushed.
    AtCommit,
    /// 2: its log is written, and flushed within a second.
    WrittenAtCommit,
}

/// The options of a server, with MySQL's names and defaults. Sizes are in bytes, times in seconds.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// `bind_address`: addresses or names, separated by commas; `*` for all. Default here: `127.0.0.1`, since a server
    /// that was just unpacked should not be open to the network.
    pub bind_address: String,
    /// `port`; 0 lets the system choose.
    pub port: u16,
    /// `socket`: the Unix socket's path; none for none.
    pub socket: Option<PathBuf>,
    /// `skip_networking`: no TCP.
    pub skip_networking: bool,
    /// `skip_grant_tables`: accounts are not looked at; no TCP either.
    pub skip_grant_tables: bool,
    /// `init_file`: statements to be run at the start.
    pub init_file: Option<PathBuf>,
    /// `persisted_globals_load`: whether what SET PERSIST remembered is heeded.
    pub persisted_globals_load: bool,
    /// `back_log`: how many clients wait to be accepted; 0 for a number that suits.
    pub back_log: u32,
    /// `max_connections`: 1 to 100,000.
    pub max_connections: u32,
    /// `max_allowed_packet`: of packets that come.
    pub max_allowed_packet: u64,
    /// `connect_timeout`: until the session is open.
    pub connect_timeout: u32,
    /// `wait_timeout`: without a command.
    pub wait_timeout: u32,
    /// `interactive_timeout`: the same for clients that say they are interactive.
    pub interactive_timeout: u32,
    /// `net_read_timeout`: for the rest of a command.
    pub net_read_timeout: u32,
    /// `net_write_timeout`: for a client that does not read.
    pub net_write_timeout: u32,
    /// `local_infile`.
    pub local_infile: bool,
    /// `protocol_compression_algorithms`: of `zlib`, `zstd`, `uncompressed`.
    pub protocol_compression_algorithms: String,
    /// `ssl`: whether TLS is offered.
    pub ssl: bool,
    /// `ssl_ca`: who signs clients' certificates, in PEM. Without it clients are not asked for one.
    pub ssl_ca: Option<PathBuf>,
    /// `ssl_cert`: a certificate, with those that signed it, in PEM.
    pub ssl_cert: Option<PathBuf>,
    /// `ssl_key`: its private key.
    pub ssl_key: Option<PathBuf>,
    /// `tls_version`.
    pub tls_version: String,
    /// `require_secure_transport`: TLS or the Unix socket, nothing else.
    pub require_secure_transport: bool,
    /// `auto_generate_certs`.
    pub auto_generate_certs: bool,
    /// `caching_sha2_password_auto_generate_rsa_keys`.
    pub caching_sha2_password_auto_generate_rsa_keys: bool,
    /// `caching_sha2_password_private_key_path`.
    pub caching_sha2_password_private_key_path: PathBuf,
    /// `caching_sha2_password_public_key_path`.
    pub caching_sha2_password_public_key_path: PathBuf,
    /// `pid_file`.
    pub pid_file: Option<PathBuf>,
    /// `log_error_verbosity`: 1 to 3.
    pub log_error_verbosity: u32,
    /// `meseta_worker_threads` (of our own): how many statements run at a time; 0 for as many as cores.
    pub worker_threads: u32,
    /// `meseta_worker_affinity` (of our own): whether each of them stays on a processor, where there are as many of both.
    pub worker_affinity: bool,
    /// `meseta_shutdown_timeout` (of our own): how long statements may go on when the server stops.
    pub shutdown_timeout: u32,
    /// `datadir`.
    pub datadir: PathBuf,
    /// `innodb_buffer_pool_size`.
    pub innodb_buffer_pool_size: u64,
    /// `innodb_redo_log_capacity`; also from `innodb_log_file_size` times `innodb_log_files_in_group`. Used when the data
    /// directory is made. Default here: 1 GiB, since recovery is quick and a checkpoint that hurries is not.
    pub innodb_redo_log_capacity: u64,
    /// `innodb_flush_log_at_trx_commit`.
    pub innodb_flush_log_at_trx_commit: FlushLog,
    /// `innodb_lock_wait_timeout`.
    pub innodb_lock_wait_timeout: u32,
    /// `innodb_deadlock_detect`.
    pub innodb_deadlock_detect: bool,
    /// `innodb_print_all_deadlocks`.
    pub innodb_print_all_deadlocks: bool,
    /// `innodb_use_native_aio`: pages are read and written by asynchronous I/O where it is to be had, and not by threads.
    pub innodb_use_native_aio: bool,
    /// Global variables whose values the language looks at: names with `_`, in the order in which they were said. A later
    /// one of the same name wins.
    pub variables: Vec<(String, String)>,
    /// `innodb_log_file_size`, if it was said.
    pub innodb_log_file_size: Option<u64>,
    /// `innodb_log_files_in_group`, if it was said.
    pub innodb_log_files_in_group: Option<u64>,
}

impl Default for ServerOptions {
    fn default() -> ServerOptions {
        ServerOptions {
            bind_address: "127.0.0.1".to_owned(),
            port: 3306,
            socket: None,
            skip_networking: false,
            skip_grant_tables: false,
            init_file: None,
            persisted_globals_load: true,
            back_log: 0,
            max_connections: 151,
            max_allowed_packet: 64 << 20,
            connect_timeout: 10,
            wait_timeout: 28_800,
            interactive_timeout: 28_800,
            net_read_timeout: 30,
            net_write_timeout: 60,
            local_infile: false,
            protocol_compression_algorithms: "zlib,zstd,uncompressed".to_owned(),
            ssl: true,
            ssl_ca: None,
            ssl_cert: None,
            ssl_key: None,
            tls_version: "TLSv1.2,TLSv1.3".to_owned(),
            require_secure_transport: false,
            auto_generate_certs: true,
            caching_sha2_password_auto_generate_rsa_keys: true,
            caching_sha2_password_private_key_path: "private_key.pem".into(),
            caching_sha2_password_public_key_path: "public_key.pem".into(),
            pid_file: None,
            log_error_verbosity: 3,
            worker_threads: 0,
            worker_affinity: true,
            shutdown_timeout: 10,
            datadir: "data".into(),
            innodb_buffer_pool_size: 128 << 20,
            innodb_redo_log_capacity: 1 << 30,
            innodb_flush_log_at_trx_commit: FlushLog::AtCommit,
            innodb_lock_wait_timeout: 50,
            innodb_deadlock_detect: true,
            innodb_print_all_deadlocks: false,
            innodb_use_native_aio: true,
            variables: Vec::new(),
            innodb_log_file_size: None,
            innodb_log_files_in_group: None,
        }
    }
}

impl ServerOptions {
    /// A path as the options mean it: from the data directory, unless it begins at the root.
    pub fn in_datadir(&self, path: &Path) -> PathBuf {
        self.datadir.join(path)
    }

    /// How long statements may go on when the server stops.
    pub fn shutdown_grace(&self) -> Duration {
        Duration::from_secs(self.shutdown_timeout.into())
    }

    /// The last value that was said for a variable of the language.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variables.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}
