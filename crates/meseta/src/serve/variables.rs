//! Options as system variables: what was given at the start is what `SELECT @@x` says.

use meseta_server::Server;
use meseta_server::options::{FlushLog, OptionError, ServerOptions};
use meseta_sql::session::{Instance, VERSION, uuid, uuid_text};
use meseta_sql::variable::{Kind, Variable};
use meseta_types::Warnings;

use crate::Failure;

/// A number with a suffix, as options are given: `16M`.
fn number_of(value: &str) -> Option<String> {
    let value = value.trim();
    let (digits, shift) = match value.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&value[..value.len() - 1], 10),
        b'M' => (&value[..value.len() - 1], 20),
        b'G' => (&value[..value.len() - 1], 30),
        b'T' => (&value[..value.len() - 1], 40),
        _ => (value, 0),
    };
    let number: i128 = digits.parse().ok()?;
    Some((number << shift).to_string())
}

fn set(instance: &Instance, name: &str, value: &str) -> Result<(), Failure> {
    let of_option = match name {
        "default_time_zone" => "time_zone",
        name => name,
    };
    let Some(variable) = Variable::find(of_option) else { return Ok(()) };
    let value = match variable.definition().kind {
        Kind::Integer { .. } => number_of(value).unwrap_or_else(|| value.to_owned()),
        Kind::Enumeration(ref members) => {
            // By its number, as MySQL lets options be given.
            let by_number = value.parse::<usize>().ok().and_then(|at| members.get(at));
            by_number.map_or(value, |member| *member).to_owned()
        }
        _ => value.to_owned(),
    };
    let mut warnings = Warnings::new(8);
    instance
        .globals
        .set_at_start(of_option, &value, &mut warnings)
        .map_err(|error| OptionError(format!("{}: {}", name.replace('_', "-"), error.message)))?;
    for warning in warnings.kept() {
        tracing::warn!("{name}: {}", warning.condition.message);
    }
    Ok(())
}

fn path(path: &std::path::Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Sets the variables that options decide.
///
/// # Errors
/// A value that a variable cannot have.
pub fn apply(options: &ServerOptions, instance: &Instance) -> Result<(), Failure> {
    let on_off = |on: bool| if on { "ON" } else { "OFF" }.to_owned();
    let directory = std::fs::canonicalize(&options.datadir).unwrap_or_else(|_| options.datadir.clone());
    let optional =
        |given: &Option<std::path::PathBuf>, usual: &str| given.as_ref().map_or(usual.to_owned(), |given| path(given));
    let flush = match options.innodb_flush_log_at_trx_commit {
        FlushLog::Lazily => "0",
        FlushLog::AtCommit => "1",
        FlushLog::WrittenAtCommit => "2",
    };
    let program = std::env::current_exe().ok();
    let base = program.as_ref().and_then(|program| program.parent()).map(path).unwrap_or_default();
    let mut all: Vec<(&str, String)> = vec![
        ("version", VERSION.to_owned()),
        ("version_compile_machine", std::env::consts::ARCH.to_owned()),
        ("hostname", host_name()),
        ("basedir", format!("{base}/")),
        ("datadir", format!("{}/", path(&directory))),
        // As MySQL says it of a server without networking.
        ("port", if options.skip_networking { 0 } else { options.port }.to_string()),
        ("report_port", options.port.to_string()),
        ("bind_address", options.bind_address.clone()),
        ("socket", optional(&options.socket, "")),
        ("general_log_file", format!("{}/{}.log", path(&directory), host_name())),
        ("slow_query_log_file", format!("{}/{}-slow.log", path(&directory), host_name())),
        ("pid_file", optional(&options.pid_file, "")),
        ("server_uuid", server_uuid(&directory)),
        ("init_file", optional(&options.init_file, "\\N")),
        ("persisted_globals_load", on_off(options.persisted_globals_load)),
        ("skip_networking", on_off(options.skip_networking)),
        ("back_log", options.back_log.to_string()),
        ("max_connections", options.max_connections.to_string()),
        ("max_allowed_packet", options.max_allowed_packet.to_string()),
        ("connect_timeout", options.connect_timeout.to_string()),
        ("wait_timeout", options.wait_timeout.to_string()),
        ("interactive_timeout", options.interactive_timeout.to_string()),
        ("net_read_timeout", options.net_read_timeout.to_string()),
        ("net_write_timeout", options.net_write_timeout.to_string()),
        ("local_infile", on_off(options.local_infile)),
        ("protocol_compression_algorithms", options.protocol_compression_algorithms.clone()),
        ("ssl_ca", optional(&options.ssl_ca, "")),
        ("ssl_cert", optional(&options.ssl_cert, "server-cert.pem")),
        ("ssl_key", optional(&options.ssl_key, "server-key.pem")),
        ("tls_version", options.tls_version.clone()),
        ("require_secure_transport", on_off(options.require_secure_transport)),
        ("auto_generate_certs", on_off(options.auto_generate_certs)),
        ("log_error_verbosity", options.log_error_verbosity.to_string()),
        ("innodb_buffer_pool_size", options.innodb_buffer_pool_size.to_string()),
        ("innodb_redo_log_capacity", instance.engine.store().log_capacity().to_string()),
        ("innodb_flush_log_at_trx_commit", flush.to_owned()),
        ("innodb_lock_wait_timeout", options.innodb_lock_wait_timeout.to_string()),
        ("innodb_deadlock_detect", on_off(options.innodb_deadlock_detect)),
        ("innodb_print_all_deadlocks", on_off(options.innodb_print_all_deadlocks)),
        ("innodb_use_native_aio", on_off(instance.engine.store().is_asynchronous())),
    ];
    if options.back_log == 0 {
        all.retain(|(name, _)| *name != "back_log");
    }
    for (name, value) in &all {
        set(instance, name, value)?;
    }
    for (name, value) in &options.variables {
        set(instance, name, value)?;
    }
    Ok(())
}

/// Sets what the server knows once it listens: the port that the system chose.
///
/// # Errors
/// None that a port can be the reason of.
pub fn apply_addresses(server: &Server, instance: &Instance) -> Result<(), Failure> {
    if let Some(address) = server.addresses().first() {
        set(instance, "port", &address.port().to_string())?;
    }
    match server.socket_path() {
        Some(socket) => set(instance, "socket", &path(socket)),
        None => Ok(()),
    }
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "localhost".to_owned() } else { name.to_owned() }
}

/// The server's identifier: made at the first start and kept beside the data, as MySQL keeps it.
fn server_uuid(directory: &std::path::Path) -> String {
    let file = directory.join("auto.cnf");
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let found = kept.lines().find_map(|line| line.trim().strip_prefix("server-uuid="));
    if let Some(found) = found.filter(|found| found.len() == 36) {
        return found.to_owned();
    }
    let made = uuid_text(&uuid());
    // A directory that cannot be written to has a server with another identifier at the next start.
    if let Err(error) = std::fs::write(&file, format!("[auto]\nserver-uuid={made}\n")) {
        tracing::warn!("{}: {error}", file.display());
    }
    made
}
