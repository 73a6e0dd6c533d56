//! `meseta serve`: options read, the engine opened, connections served until it is told to stop.

mod answer;
mod backend;

use std::sync::Arc;

use meseta_server::{Clock, Server, blocking, notify, options, signals};
use meseta_sql::session::Instance;
use meseta_storage::{Store, StoreOptions, WaitHook};

use crate::Failure;
use backend::SqlBackend;

/// Serves until SIGTERM or SIGINT.
pub fn run(arguments: Vec<String>) -> Result<(), Failure> {
    let parsed = options::parse(arguments)?;
    meseta_server::log::to_stderr(parsed.options.log_error_verbosity);
    parsed.notes.iter().for_each(|note| tracing::info!("{note}"));
    let options = parsed.options;
    std::fs::create_dir_all(&options.datadir)?;
    let wait_hook = WaitHook { before: blocking::HOOK.before, after: blocking::HOOK.after };
    let store_options =
        StoreOptions { memory_bytes: options.innodb_buffer_pool_size as usize, wait_hook, ..StoreOptions::default() };
    let store = Store::open(options.in_datadir("meseta".as_ref()), store_options)?;
    let instance = Instance::open(store)?;
    let server = Server::start(&options, Arc::new(SqlBackend::new(Arc::clone(&instance))), Clock::System)?;
    signals::stop_on_signals(server.handle())?;
    for address in server.addresses() {
        tracing::info!("listening on {address}: mariadb -h {} -P {} -u root", address.ip(), address.port());
    }
    notify::ready("ready for connections");
    server.wait();
    instance.engine.settle()?;
    let store = instance.engine.store().clone();
    drop(instance);
    store.close()?;
    Ok(())
}
