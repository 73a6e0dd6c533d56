//! `meseta serve`: options read, the engine opened, connections served until it is told to stop.

mod answer;
mod backend;
mod connections;
mod cursor;
mod directory;
mod first_start;
mod help;
mod init_file;
mod login;
mod persisted;
mod statements;
mod trusted;
mod variables;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use meseta_server::{Clock, Server, blocking, notify, options, signals};
use meseta_sql::session::Instance;
use meseta_storage::io::BatchEngine;
use meseta_storage::{StoreOptions, WaitHook};

pub use directory::STORE;

use crate::Failure;
use backend::SqlBackend;
use connections::ServerConnections;
use first_start::FirstStart;
use login::Plugins;

/// The least log that the store's log buffer can do with.
const LOG_BYTES_MIN: u64 = 64 << 20;

/// The Unix socket in the data directory, where there is no networking and no socket was named.
const SOCKET: &str = "meseta.sock";

/// Serves until SIGTERM or SIGINT.
pub fn run(arguments: Vec<String>) -> Result<(), Failure> {
    if let Some(text) = help::asked(&arguments) {
        print!("{text}");
        return Ok(());
    }
    let started = Instant::now();
    let mut parsed = options::parse(arguments)?;
    let persisted = persisted::heed(&mut parsed)?;
    meseta_server::log::to_stderr(parsed.options.log_error_verbosity);
    parsed.notes.iter().for_each(|note| tracing::info!("{note}"));
    let mut options = parsed.options;
    if options.skip_grant_tables {
        options.skip_networking = true;
    }
    if options.skip_networking && options.socket.is_none() {
        // Somebody is to come in, and this is where.
        options.socket = Some(options.in_datadir(SOCKET.as_ref()));
    }
    let blocking::WaitHook { before, before_brief, after, keeps, bell } = blocking::HOOK;
    let wait_hook = WaitHook { before, before_brief, after, keeps, bell };
    let store_options = StoreOptions {
        memory_bytes: options.innodb_buffer_pool_size as usize,
        log_bytes: options.innodb_redo_log_capacity.max(LOG_BYTES_MIN),
        batch_engine: if options.innodb_use_native_aio { BatchEngine::Auto } else { BatchEngine::ThreadPool },
        wait_hook,
        ..StoreOptions::default()
    };
    let store = directory::open(&options, store_options)?;
    if options.innodb_use_native_aio && !store.is_asynchronous() {
        tracing::info!(
            "pages are read and written by threads: the system, or the file system of the data directory, has no asynchronous I/O"
        );
    }
    let instance = Instance::open(store)?;
    variables::apply(&options, &instance)?;
    instance.globals.keep_persisted(persisted);
    instance.set_password_hasher(Box::new(Plugins::new(Arc::clone(&instance.globals))));
    if options.skip_grant_tables {
        tracing::warn!(
            "skip_grant_tables: whoever comes by the socket may do everything, without a password; nobody can come by TCP"
        );
        instance.accounts.skip_checks();
    } else {
        let first_start = FirstStart::read(|name| std::env::var(name).ok())?;
        first_start.apply(&instance)?;
        first_start.check(&instance, &options)?;
    }
    if let Some(path) = &options.init_file {
        init_file::run(&instance, path)?;
    }
    let connections = Arc::new(ServerConnections::default());
    instance.set_server(Arc::clone(&connections) as _);
    let backend = SqlBackend::new(Arc::clone(&instance), Arc::clone(&connections));
    let server = Server::start(&options, Arc::new(backend), Clock::System)?;
    connections.set(server.handle());
    variables::apply_addresses(&server, &instance)?;
    // Where files cannot be opened is told, and the server goes on without them.
    instance.globals_changed();
    let logs = Arc::downgrade(&instance);
    let flush_logs = move || {
        if let Some(instance) = logs.upgrade() {
            instance.reopen_logs();
            tracing::info!("the logs were opened anew");
        }
    };
    signals::heed(server.handle(), flush_logs)?;
    announce(&server, started);
    notify::ready("ready for connections");
    server.wait();
    instance.engine.settle()?;
    let store = instance.engine.store().clone();
    drop(instance);
    store.close()?;
    tracing::info!("stopped; everything is on disk");
    Ok(())
}

/// Says where the server listens, and how to connect.
fn announce(server: &Server, started: Instant) {
    for address in server.addresses() {
        let host = reachable(address);
        tracing::info!("listening on {address}: mariadb -h {host} -P {} -u root", address.port());
    }
    if let Some(path) = server.socket_path() {
        tracing::info!("listening on {}: mariadb -S {} -u root", path.display(), path.display());
    }
    tracing::info!("ready after {:.2} s; Ctrl-C or SIGTERM stops the server", started.elapsed().as_secs_f64());
}

/// Where a client on this machine finds a server that listens there.
fn reachable(address: &SocketAddr) -> IpAddr {
    match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(_) => IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1]),
    }
}
