//! `meseta serve`: options read, the engine opened, connections served until it is told to stop.

mod answer;
mod backend;
mod connections;
mod cursor;
mod directory;
mod first_start;
mod help;
mod login;
mod variables;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use meseta_server::{Clock, Server, blocking, notify, options, signals};
use meseta_sql::session::Instance;
use meseta_storage::{StoreOptions, WaitHook};

pub use directory::STORE;

use crate::Failure;
use backend::SqlBackend;
use connections::ServerConnections;
use first_start::FirstStart;
use login::Plugins;

/// The least log that the store's log buffer can do with.
const LOG_BYTES_MIN: u64 = 64 << 20;

/// Serves until SIGTERM or SIGINT.
pub fn run(arguments: Vec<String>) -> Result<(), Failure> {
    if let Some(text) = help::asked(&arguments) {
        print!("{text}");
        return Ok(());
    }
    let started = Instant::now();
    let parsed = options::parse(arguments)?;
    meseta_server::log::to_stderr(parsed.options.log_error_verbosity);
    parsed.notes.iter().for_each(|note| tracing::info!("{note}"));
    let options = parsed.options;
    let wait_hook = WaitHook { before: blocking::HOOK.before, after: blocking::HOOK.after };
    let store_options = StoreOptions {
        memory_bytes: options.innodb_buffer_pool_size as usize,
        log_bytes: options.innodb_redo_log_capacity.max(LOG_BYTES_MIN),
        wait_hook,
        ..StoreOptions::default()
    };
    let store = directory::open(&options, store_options)?;
    let instance = Instance::open(store)?;
    variables::apply(&options, &instance)?;
    instance.set_password_hasher(Box::new(Plugins::new(Arc::clone(&instance.globals))));
    let first_start = FirstStart::read(|name| std::env::var(name).ok())?;
    first_start.apply(&instance)?;
    first_start.check(&instance, &options)?;
    let connections = Arc::new(ServerConnections::default());
    instance.set_server(Arc::clone(&connections) as _);
    let backend = SqlBackend::new(Arc::clone(&instance), Arc::clone(&connections));
    let server = Server::start(&options, Arc::new(backend), Clock::System)?;
    connections.set(server.handle());
    variables::apply_addresses(&server, &instance)?;
    signals::stop_on_signals(server.handle())?;
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
