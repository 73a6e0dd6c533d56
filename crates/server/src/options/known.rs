//! Options that are used here, and global variables that are handed on to the language.
//!
//! A row says the name, whether a value must follow, and what to do with it. Values beyond a bound are brought to it, with
//! a note, as MySQL does.

use super::value::{bounded, switch};
use super::{FlushLog, OptionError, ServerOptions};

/// Whether a value must be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// It must.
    Value,
    /// It may: nothing means on.
    Switch,
}

/// What is done with a value.
type Set = fn(&mut ServerOptions, &str, Option<&str>, &mut Vec<String>) -> Result<(), OptionError>;

/// An option that is used.
#[derive(Debug)]
pub struct Known {
    /// Its name, with `_`.
    pub name: &'static str,
    /// Whether a value must follow.
    pub takes: Takes,
    /// What is done with it.
    pub set: Set,
}

/// Rows for numbers, switches, texts and paths.
macro_rules! number {
    ($name:literal, $field:ident: $integer:ty, $low:expr, $high:expr) => {
        Known {
            name: $name,
            takes: Takes::Value,
            set: |options, name, value, notes| {
                options.$field = bounded(name, value.unwrap_or(""), $low, $high, notes)? as $integer;
                Ok(())
            },
        }
    };
}
macro_rules! on_off {
    ($name:literal, $field:ident) => {
        Known {
            name: $name,
            takes: Takes::Switch,
            set: |options, name, value, _| {
                options.$field = switch(name, value)?;
                Ok(())
            },
        }
    };
}
macro_rules! text {
    ($name:literal, $field:ident) => {
        Known {
            name: $name,
            takes: Takes::Value,
            set: |options, _, value, _| {
                options.$field = value.unwrap_or("").into();
                Ok(())
            },
        }
    };
}
macro_rules! path_or_none {
    ($name:literal, $field:ident) => {
        Known {
            name: $name,
            takes: Takes::Value,
            set: |options, _, value, _| {
                options.$field = value.filter(|path| !path.is_empty()).map(Into::into);
                Ok(())
            },
        }
    };
}
macro_rules! variable {
    ($takes:ident: $($name:literal)*) => {
        [$(Known {
            name: $name,
            takes: Takes::$takes,
            set: |options, name, value, _| {
                options.variables.push((name.to_owned(), value.unwrap_or("1").to_owned()));
                Ok(())
            },
        }),*]
    };
}

const DAYS_365: u64 = 31_536_000;

/// The options of connections, start and storage.
const USED: [Known; 45] = [
    text!("bind_address", bind_address),
    number!("port", port: u16, 0, 65_535),
    path_or_none!("socket", socket),
    on_off!("skip_networking", skip_networking),
    on_off!("skip_grant_tables", skip_grant_tables),
    path_or_none!("init_file", init_file),
    on_off!("persisted_globals_load", persisted_globals_load),
    number!("back_log", back_log: u32, 0, 65_535),
    number!("max_connections", max_connections: u32, 1, 100_000),
    number!("max_allowed_packet", max_allowed_packet: u64, 1024, 1 << 30),
    number!("connect_timeout", connect_timeout: u32, 2, DAYS_365),
    number!("wait_timeout", wait_timeout: u32, 1, DAYS_365),
    number!("interactive_timeout", interactive_timeout: u32, 1, DAYS_365),
    number!("net_read_timeout", net_read_timeout: u32, 1, DAYS_365),
    number!("net_write_timeout", net_write_timeout: u32, 1, DAYS_365),
    on_off!("local_infile", local_infile),
    text!("protocol_compression_algorithms", protocol_compression_algorithms),
    on_off!("ssl", ssl),
    path_or_none!("ssl_ca", ssl_ca),
    path_or_none!("ssl_cert", ssl_cert),
    path_or_none!("ssl_key", ssl_key),
    text!("tls_version", tls_version),
    on_off!("require_secure_transport", require_secure_transport),
    on_off!("auto_generate_certs", auto_generate_certs),
    on_off!("caching_sha2_password_auto_generate_rsa_keys", caching_sha2_password_auto_generate_rsa_keys),
    text!("caching_sha2_password_private_key_path", caching_sha2_password_private_key_path),
    text!("caching_sha2_password_public_key_path", caching_sha2_password_public_key_path),
    path_or_none!("pid_file", pid_file),
    number!("log_error_verbosity", log_error_verbosity: u32, 1, 3),
    number!("meseta_worker_threads", worker_threads: u32, 0, 1024),
    on_off!("meseta_worker_affinity", worker_affinity),
    number!("meseta_shutdown_timeout", shutdown_timeout: u32, 0, 3600),
    text!("datadir", datadir),
    number!("innodb_buffer_pool_size", innodb_buffer_pool_size: u64, 5 << 20, 1 << 46),
    number!("innodb_redo_log_capacity", innodb_redo_log_capacity: u64, 8 << 20, 1 << 37),
    Known { name: "innodb_log_file_size", takes: Takes::Value, set: set_log_file_size },
    Known { name: "innodb_log_files_in_group", takes: Takes::Value, set: set_log_files },
    Known { name: "innodb_flush_log_at_trx_commit", takes: Takes::Value, set: set_flush_log },
    number!("innodb_lock_wait_timeout", innodb_lock_wait_timeout: u32, 1, 1_073_741_824),
    on_off!("innodb_deadlock_detect", innodb_deadlock_detect),
    on_off!("innodb_print_all_deadlocks", innodb_print_all_deadlocks),
    on_off!("innodb_use_native_aio", innodb_use_native_aio),
    Known { name: "innodb_page_size", takes: Takes::Value, set: look_at_page_size },
    Known { name: "innodb_file_per_table", takes: Takes::Switch, set: look_at_switch },
    Known { name: "innodb_force_recovery", takes: Takes::Value, set: look_at_force_recovery },
];

/// Global variables that the language looks at: a value must follow.
const VARIABLES: [Known; 60] = variable!(Value:
    "auto_increment_increment" "auto_increment_offset" "block_encryption_mode" "character_set_client"
    "character_set_connection" "character_set_filesystem" "character_set_results" "character_set_server"
    "collation_connection" "collation_server" "completion_type" "cte_max_recursion_depth" "default_collation_for_utf8mb4"
    "default_password_lifetime" "default_storage_engine" "default_time_zone" "default_tmp_storage_engine"
    "default_week_format" "div_precision_increment" "eq_range_index_dive_limit" "general_log_file" "group_concat_max_len"
    "information_schema_stats_expiry" "init_connect" "innodb_autoinc_lock_mode"
    "innodb_stats_persistent_sample_pages" "join_buffer_size" "lc_messages" "lc_time_names" "lock_wait_timeout" "log_output"
    "long_query_time" "lower_case_table_names" "mandatory_roles" "max_digest_length" "max_error_count"
    "max_execution_time" "max_heap_table_size" "max_join_size" "max_points_in_geometry" "max_prepared_stmt_count"
    "max_sort_length" "max_sp_recursion_depth" "max_user_connections" "min_examined_row_limit" "optimizer_prune_level"
    "optimizer_search_depth" "optimizer_switch" "password_history" "password_reuse_interval" "regexp_stack_limit"
    "regexp_time_limit" "secure_file_priv" "server_id" "session_track_system_variables" "slow_query_log_file" "sort_buffer_size" "sql_mode"
    "tmp_table_size" "transaction_isolation");

/// The same: switches, and words that may be left out.
const SWITCHES: [Known; 33] = variable!(Switch:
    "activate_all_roles_on_login" "autocommit" "automatic_sp_privileges" "big_tables"
    "caching_sha2_password_digest_rounds" "check_proxy_users" "disconnect_on_expired_password" "end_markers_in_json"
    "event_scheduler" "explicit_defaults_for_timestamp" "foreign_key_checks" "general_log" "innodb_rollback_on_timeout"
    "innodb_stats_auto_recalc" "innodb_stats_persistent" "innodb_strict_mode" "innodb_table_locks" "low_priority_updates"
    "offline_mode" "old_alter_table" "partial_revokes" "password_require_current"
    "read_only" "session_track_schema" "session_track_state_change" "skip_show_database"
    "slow_query_log" "sql_generate_invisible_primary_key" "sql_require_primary_key" "super_read_only" "sysdate_is_now"
    "transaction_read_only" "unique_checks");

/// All of them.
pub static KNOWN: &[Known] = &all();

const fn all() -> [Known; USED.len() + VARIABLES.len() + SWITCHES.len()] {
    let mut all = [const { Known { name: "", takes: Takes::Switch, set: look_at_switch } };
        USED.len() + VARIABLES.len() + SWITCHES.len()];
    let mut at = 0;
    while at < all.len() {
        let known = if at < USED.len() {
            &USED[at]
        } else if at < USED.len() + VARIABLES.len() {
            &VARIABLES[at - USED.len()]
        } else {
            &SWITCHES[at - USED.len() - VARIABLES.len()]
        };
        all[at] = Known { name: known.name, takes: known.takes, set: known.set };
        at += 1;
    }
    all
}

/// Log files of old: so many of such a size are a capacity. (Said in any order: the number of files is taken as 2, their
/// default, until it is said.)
fn set_log_file_size(
    options: &mut ServerOptions,
    name: &str,
    value: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<(), OptionError> {
    let bytes = bounded(name, value.unwrap_or(""), 4 << 20, 1 << 36, notes)?;
    let files = options.innodb_log_files_in_group.unwrap_or(2);
    options.innodb_log_file_size = Some(bytes);
    options.innodb_redo_log_capacity = bytes * files;
    notes.push(format!("{name} is of old: it is taken as innodb_redo_log_capacity = {}", bytes * files));
    Ok(())
}

fn set_log_files(
    options: &mut ServerOptions,
    name: &str,
    value: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<(), OptionError> {
    let files = bounded(name, value.unwrap_or(""), 2, 100, notes)?;
    options.innodb_log_files_in_group = Some(files);
    options.innodb_redo_log_capacity = options.innodb_log_file_size.unwrap_or(48 << 20) * files;
    Ok(())
}

fn set_flush_log(
    options: &mut ServerOptions,
    name: &str,
    value: Option<&str>,
    _: &mut Vec<String>,
) -> Result<(), OptionError> {
    options.innodb_flush_log_at_trx_commit = match value.map(str::trim) {
        Some("0") => FlushLog::Lazily,
        Some("1") => FlushLog::AtCommit,
        Some("2") => FlushLog::WrittenAtCommit,
        other => return Err(OptionError(format!("{name}: {:?} is not 0, 1 or 2", other.unwrap_or("")))),
    };
    Ok(())
}

/// Pages have 16 KiB, and no other size.
fn look_at_page_size(
    _: &mut ServerOptions,
    name: &str,
    value: Option<&str>,
    _: &mut Vec<String>,
) -> Result<(), OptionError> {
    match super::value::number(name, value.unwrap_or(""))? {
        16_384 => Ok(()),
        other => Err(OptionError(format!("{name}: pages have 16384 bytes here, not {other}"))),
    }
}

fn look_at_switch(
    _: &mut ServerOptions,
    name: &str,
    value: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<(), OptionError> {
    switch(name, value)?;
    notes.push(format!("{name} is accepted and not needed: dropped tables give their space back either way"));
    Ok(())
}

/// Forcing is for a damaged tablespace of InnoDB; ours is looked at by `meseta check`.
fn look_at_force_recovery(
    _: &mut ServerOptions,
    name: &str,
    value: Option<&str>,
    _: &mut Vec<String>,
) -> Result<(), OptionError> {
    match super::value::number(name, value.unwrap_or(""))? {
        0 => Ok(()),
        _ => Err(OptionError(format!("{name}: recovery cannot be forced; `meseta check` says what is damaged"))),
    }
}
