//! What SET PERSIST remembers for the next start: `mysqld-auto.cnf` in the data directory, in MySQL's format.
//!
//! ```text
//! {"Version": 2,
//!  "mysql_dynamic_variables": {"max_connections": {"Value": "500", "Metadata": {"Host": "localhost", "User": "root",
//!                                                                               "Timestamp": 1795316956663158}}},
//!  "mysql_static_variables":  {"back_log": {..}}}           what SET can only PERSIST_ONLY; times in microseconds
//! ```
//!
//! # Invariants
//! 1. A file is whole, and durable when the statement is answered: it is written beside, synced, and takes the other's name.
//! 2. What cannot be written is not remembered, and not set.
//! 3. Names that are not known here stay as they are: the file may come from another server, and go there again.
//!
//! # Source
//! The manual's "Persisted System Variables"; files that a server of 9.7 wrote.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use meseta_errors::ErrorCode;
use meseta_types::json::{Tree, append_quoted, parse};

use super::registry::Variable;
use crate::error::{Error, Result};
use crate::name::text_of;

/// The file's name in the data directory.
pub const FILE_NAME: &str = "mysqld-auto.cnf";

/// Where variables that SET can set are, and the others.
const GROUPS: [&str; 2] = ["mysql_dynamic_variables", "mysql_static_variables"];

/// A value that is remembered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PersistedValue {
    /// As SHOW VARIABLES prints it.
    pub value: String,
    /// Who set it.
    pub user: String,
    /// From where.
    pub host: String,
    /// When: microseconds since 1970.
    pub timestamp: u64,
    /// The part of the file in which it is.
    group: String,
}

/// All that is remembered, and where.
#[derive(Clone, Debug, Default)]
pub struct Persisted {
    /// Nothing: in memory only.
    file: Option<PathBuf>,
    values: BTreeMap<String, PersistedValue>,
}

impl Persisted {
    /// What a data directory has: nothing, if there is no file.
    ///
    /// # Errors
    /// A sentence: the file cannot be read, or is not what it should be.
    pub fn read(directory: &Path) -> std::result::Result<Persisted, String> {
        let file = directory.join(FILE_NAME);
        let say = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
        let values = match fs::read(&file) {
            Ok(text) => read_values(&text).map_err(|why| say(&why))?,
            // What is wrong with the directory, whoever opens it says.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => BTreeMap::new(),
            Err(error) => return Err(say(&error)),
        };
        Ok(Persisted { file: Some(file), values })
    }

    /// Nothing yet, to be kept in a data directory.
    pub fn nothing(directory: &Path) -> Persisted {
        Persisted { file: Some(directory.join(FILE_NAME)), values: BTreeMap::new() }
    }

    /// Names and values, in order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PersistedValue)> {
        self.values.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// With these values as well, durable.
    pub(super) fn with(&self, variables: Vec<(Variable, String)>, by: &str, timestamp: u64) -> Result<Persisted> {
        let (user, host) = by.rsplit_once('@').unwrap_or((by, ""));
        let mut changed = self.clone();
        for (variable, value) in variables {
            let definition = variable.definition();
            let group = GROUPS[usize::from(!definition.writable)].to_owned();
            let (user, host) = (user.to_owned(), host.to_owned());
            changed.values.insert(definition.name.to_owned(), PersistedValue { value, user, host, timestamp, group });
        }
        changed.write().map(|()| changed)
    }

    /// Without a name, or without any, durable. `None` if that name is not there.
    pub(super) fn without(&self, name: Option<&str>) -> Result<Option<Persisted>> {
        let mut changed = self.clone();
        match name {
            None => changed.values.clear(),
            Some(name) if changed.values.remove(&name.to_ascii_lowercase()).is_none() => return Ok(None),
            Some(_) => {}
        }
        changed.write().map(|()| Some(changed))
    }

    fn text(&self) -> Vec<u8> {
        let mut text = br#"{"Version": 2"#.to_vec();
        let mut groups: BTreeMap<&str, Vec<(&String, &PersistedValue)>> = BTreeMap::new();
        for (name, value) in &self.values {
            groups.entry(&value.group).or_default().push((name, value));
        }
        let append_key = |text: &mut Vec<u8>, key: &str| {
            append_quoted(key.as_bytes(), text);
            text.extend(b": ");
        };
        for (group, values) in groups {
            text.extend(b", ");
            append_key(&mut text, group);
            for (at, (name, value)) in values.into_iter().enumerate() {
                text.extend(if at == 0 { &b"{"[..] } else { b", " });
                append_key(&mut text, name);
                for (key, part) in [
                    (r#"{"Value": "#, &value.value),
                    (r#", "Metadata": {"Host": "#, &value.host),
                    (r#", "User": "#, &value.user),
                ] {
                    text.extend(key.as_bytes());
                    append_quoted(part.as_bytes(), &mut text);
                }
                text.extend(format!(r#", "Timestamp": {}}}}}"#, value.timestamp).as_bytes());
            }
            text.push(b'}');
        }
        text.extend(b"}\n");
        text
    }

    fn write(&self) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        let beside = file.with_extension("cnf.new");
        let written = File::create(&beside)
            .and_then(|mut new| new.write_all(&self.text()).and_then(|()| new.sync_all()))
            .and_then(|()| fs::rename(&beside, file))
            .and_then(|()| {
                File::open(file.parent().unwrap_or(Path::new("."))).and_then(|directory| directory.sync_all())
            });
        written.map_err(|error| {
            let number = error.raw_os_error().unwrap_or(0);
            let message = format!("Error writing file '{}' (OS errno {number} - {error})", file.display());
            Error { code: ErrorCode(3), message }
        })
    }
}

/// Reads a file's text.
fn read_values(text: &[u8]) -> std::result::Result<BTreeMap<String, PersistedValue>, String> {
    let wrong = || "not a file that SET PERSIST writes".to_owned();
    let tree = parse(text).map_err(|error| format!("no JSON: byte {}: {}", error.position, error.message))?;
    let Tree::Object(members) = tree else { return Err(wrong()) };
    let mut values = BTreeMap::new();
    let mut version = None;
    for (group, member) in members {
        match member {
            Tree::Signed(number) if *group == *b"Version" => version = Some(number),
            Tree::Object(variables) => {
                let group = text_of(&group);
                for (name, described) in variables {
                    let value =
                        read_value(&described, &group).ok_or_else(|| format!("{}: {}", text_of(&name), wrong()))?;
                    values.insert(text_of(&name).to_ascii_lowercase(), value);
                }
            }
            _ => return Err(format!("{}: {}", text_of(&group), wrong())),
        }
    }
    match version {
        Some(2) => Ok(values),
        Some(other) => Err(format!("its version is {other}; 2 is understood")),
        None => Err(wrong()),
    }
}

fn read_value(described: &Tree, group: &str) -> Option<PersistedValue> {
    let Tree::Object(parts) = described else { return None };
    let mut read = PersistedValue { group: group.to_owned(), ..PersistedValue::default() };
    let mut has_value = false;
    for (name, part) in parts {
        match (&name[..], part) {
            (b"Value", Tree::Text(value)) => (read.value, has_value) = (text_of(value), true),
            (b"Metadata", Tree::Object(facts)) => {
                for fact in facts {
                    match (&fact.0[..], &fact.1) {
                        (b"User", Tree::Text(user)) => read.user = text_of(user),
                        (b"Host", Tree::Text(host)) => read.host = text_of(host),
                        (b"Timestamp", Tree::Signed(micros)) => read.timestamp = (*micros).max(0) as u64,
                        _ => {}
                    }
                }
            }
            _ => return None,
        }
    }
    has_value.then_some(read)
}

/// Variables that can only be read and not be persisted either: what the server is, or where its files are.
const NEVER: &str = "admin_address admin_port auto_generate_certs basedir bind_address build_id \
    caching_sha2_password_auto_generate_rsa_keys caching_sha2_password_private_key_path \
    caching_sha2_password_public_key_path character_set_system character_sets_dir container_aware core_file \
    create_admin_listener_thread datadir ft_stopword_file gtid_executed gtid_owned have_compress have_dynamic_loading \
    have_geometry have_profiling have_query_cache have_rtree_keys have_statement_timeout have_symlink hostname init_file \
    innodb_buffer_pool_load_at_startup innodb_data_file_path innodb_data_home_dir innodb_dedicated_server \
    innodb_directories innodb_force_load_corrupted innodb_log_group_home_dir innodb_page_size innodb_read_only \
    innodb_temp_data_file_path innodb_temp_tablespaces_dir innodb_undo_directory innodb_version large_files_support \
    large_page_size lc_messages_dir license locked_in_memory log_bin log_bin_basename log_bin_index log_error \
    lower_case_file_system persist_only_admin_x509_subject persist_sensitive_variables_in_plaintext \
    persisted_globals_load pid_file plugin_dir port protocol_version relay_log relay_log_basename relay_log_index \
    replica_load_tmpdir secure_file_priv server_memory server_uuid sha256_password_auto_generate_rsa_keys \
    sha256_password_private_key_path sha256_password_public_key_path skip_external_locking skip_networking \
    slave_load_tmpdir socket system_time_zone tls_certificates_enforced_validation tmpdir version version_comment \
    version_compile_machine version_compile_os version_compile_zlib version_with_update";

/// Whether a variable that SET cannot set can be remembered for the next start.
pub(super) fn can_be_kept(name: &str) -> bool {
    !NEVER.split_ascii_whitespace().any(|never| never == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_mysql_wrote_is_read_and_written_again() {
        let text = br#"{"Version": 2, "mysql_static_variables": {"back_log": {"Value": "900", "Metadata": {"Host":
            "localhost", "User": "root", "Timestamp": 1795316956653399}}}, "mysql_dynamic_variables": {"init_connect":
            {"Value": "select \"a\\b\"", "Metadata": {"Host": "localhost", "User": "root", "Timestamp": 1795316956674221}}},
            "mysql_static_parse_early_variables": {"no_such_here": {"Value": "1000", "Metadata": {"Host": "localhost",
            "User": "root", "Timestamp": 1795316956672060}}}}"#;
        let read = Persisted { file: None, values: read_values(text).unwrap() };
        let values: Vec<_> = read.iter().map(|(name, value)| (name, &*value.value, value.timestamp % 1000)).collect();
        let wanted = [("back_log", "900", 399), ("init_connect", "select \"a\\b\"", 221), ("no_such_here", "1000", 60)];
        assert_eq!(values, wanted);
        assert_eq!(read_values(&read.text()).unwrap(), read.values);
        assert_eq!(read_values(br#"{"Version": 2}"#).unwrap().len(), 0);
    }

    #[test]
    fn a_file_that_is_damaged_is_told_from_one_that_is_not() {
        for (text, why) in [
            ("", "no JSON"),
            ("{\"Version\": 2", "no JSON: byte 13"),
            ("[]", "not a file"),
            ("{}", "not a file"),
            ("{\"Version\": 3}", "its version is 3"),
            ("{\"Version\": 2, \"x\": 1}", "x: not a file"),
            ("{\"Version\": 2, \"x\": {\"port\": 1}}", "port: not a file"),
            ("{\"Version\": 2, \"x\": {\"port\": {\"Value\": 1}}}", "port: not a file"),
        ] {
            let error = read_values(text.as_bytes()).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_change_is_on_disk_or_not_made() {
        let directory = tempfile::tempdir().unwrap();
        let nothing = Persisted::read(directory.path()).unwrap();
        let variable = Variable::find("max_connections").unwrap();
        let one = nothing.with(vec![(variable, "7".to_owned())], "root@localhost", 5).unwrap();
        let read = Persisted::read(directory.path()).unwrap();
        assert_eq!((read.values.len(), &read.values), (1, &one.values));
        assert!(one.without(Some("nothing")).unwrap().is_none());
        assert_eq!(one.without(Some("MAX_connections")).unwrap().unwrap().values.len(), 0);
        assert_eq!(Persisted::read(directory.path()).unwrap().values.len(), 0);
        let gone = Persisted::nothing(&directory.path().join("gone"));
        assert_eq!(gone.with(vec![(variable, "7".to_owned())], "root@localhost", 5).unwrap_err().code.0, 3);
    }

    #[test]
    fn every_name_that_is_never_kept_is_one_that_can_only_be_read() {
        for name in NEVER.split_ascii_whitespace() {
            let variable = Variable::find(name);
            assert!(variable.is_none_or(|variable| !variable.definition().writable), "{name}");
        }
    }
}
