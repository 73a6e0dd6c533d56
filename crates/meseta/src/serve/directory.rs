//! The data directory: made, looked at, opened; and what is said if it is not ours, or somebody else has it.

use std::path::Path;

use meseta_server::options::ServerOptions;
use meseta_storage::{Store, StoreOptions};

use crate::Failure;

/// Where the store is, in the data directory: what else is there (certificates, sockets) is beside it.
pub const STORE: &str = "meseta";

/// Opens the store in a data directory, and makes both if they are not there.
///
/// # Errors
/// A sentence that names the directory.
pub fn open(options: &ServerOptions, store_options: StoreOptions) -> Result<Store, Failure> {
    let directory = options.datadir.as_path();
    let say = |error: &dyn std::fmt::Display| format!("the data directory {}: {error}", directory.display());
    if let Some(file) = another_servers_file(directory) {
        return Err(say(&format!(
            "{file} is MySQL's or MariaDB's. Their files are not read here: name another directory, and bring the data \
             over with a dump (docs/serve.md)"
        ))
        .into());
    }
    std::fs::create_dir_all(directory).map_err(|error| say(&error))?;
    let store = options.in_datadir(STORE.as_ref());
    Ok(Store::open(store, store_options).map_err(|error| say(&error))?)
}

/// A file that says whose directory it is.
fn another_servers_file(directory: &Path) -> Option<&'static str> {
    if directory.join(STORE).exists() {
        return None;
    }
    ["ibdata1", "mysql.ibd", "aria_log_control", "auto.cnf"].into_iter().find(|name| directory.join(name).exists())
}
