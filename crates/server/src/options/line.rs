//! The command line: `--name=value`, `--name value`, `--name`; and what files say before it.
//!
//! ```text
//! --defaults-file=F        read F (first of all arguments)       --no-defaults       read none
//! --defaults-extra-file=F  the same here                         --defaults-group-suffix=S
//! ```
//!
//! Invariants:
//! 1. What is said later wins; the command line comes after the files.

use std::path::Path;

use super::known::Takes;
use super::name::{Found, Meaning, find};
use super::unused::Treatment;
use super::{OptionError, ServerOptions, file};

/// What options came to.
#[derive(Debug, Clone, Default)]
pub struct Parsed {
    /// The options.
    pub options: ServerOptions,
    /// A line for the log for each that was accepted and not needed, or adjusted.
    pub notes: Vec<String>,
}

/// Reads arguments (without the program's name), and the files that they name.
///
/// # Errors
/// A sentence that says what is wrong and where.
pub fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Parsed, OptionError> {
    let mut parsed = Parsed::default();
    let mut rest: Vec<String> = Vec::new();
    let (mut files, mut suffix) = (Vec::new(), String::new());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let (name, value) = split(&argument);
        let name = name.replace('_', "-");
        let mut value = || {
            let value = value.map(str::to_owned).or_else(|| arguments.next());
            value.ok_or_else(|| OptionError(format!("--{name} needs a value")))
        };
        match name.as_str() {
            "defaults-file" | "defaults-extra-file" => files.push(value()?),
            "defaults-group-suffix" => suffix = value()?,
            "no-defaults" => files.clear(),
            _ => rest.push(argument),
        }
    }
    for path in files {
        for option in file::read(Path::new(&path), &suffix)? {
            let at = |error: OptionError| OptionError(format!("{}: {}", option.place, error.0));
            if let Some(found) = find(&option.name).map_err(at)? {
                apply(&mut parsed, &found, option.value.as_deref()).map_err(at)?;
            }
        }
    }
    let mut rest = rest.into_iter();
    while let Some(argument) = rest.next() {
        let (name, value) = split(&argument);
        if !argument.starts_with("--") {
            let short = match argument.as_str() {
                "-P" => "port",
                "-h" => "datadir",
                "-u" => "user",
                _ => return Err(OptionError(format!("{argument}: options begin with --"))),
            };
            let Some(found) = find(short)? else { continue };
            let value = rest.next();
            apply(&mut parsed, &found, value.as_deref())?;
            continue;
        }
        let Some(found) = find(name)? else { continue };
        let mut value = value.map(str::to_owned);
        if value.is_none()
            && !found.off
            && matches!(found.meaning, Meaning::Known(known) if known.takes == Takes::Value)
        {
            value = rest.next();
        }
        apply(&mut parsed, &found, value.as_deref())?;
    }
    Ok(parsed)
}

/// Takes a value that SET PERSIST remembered, which wins over all that was said: names with `_`, as variables are called.
///
/// # Errors
/// A value that the option cannot have.
pub fn override_with(parsed: &mut Parsed, name: &str, value: &str) -> Result<(), OptionError> {
    match super::known::KNOWN.iter().find(|known| known.name == name) {
        Some(known) => (known.set)(&mut parsed.options, known.name, Some(value), &mut parsed.notes),
        None => {
            parsed.options.variables.push((name.to_owned(), value.to_owned()));
            Ok(())
        }
    }
}

/// `--name=value` in its parts.
fn split(argument: &str) -> (&str, Option<&str>) {
    let bare = argument.strip_prefix("--").unwrap_or(argument);
    match bare.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (bare, None),
    }
}

/// Does what an option says.
fn apply(parsed: &mut Parsed, found: &Found, value: Option<&str>) -> Result<(), OptionError> {
    match found.meaning {
        Meaning::Known(known) => {
            let off = found.off.then_some("0");
            // --skip-x=0 is x.
            let value = match (found.off, value) {
                (true, Some("0" | "OFF" | "off")) => Some("1"),
                (true, _) => off,
                (false, value) => value,
            };
            if value.is_none() && known.takes == Takes::Value {
                return Err(OptionError(format!("--{} needs a value", known.name.replace('_', "-"))));
            }
            (known.set)(&mut parsed.options, known.name, value, &mut parsed.notes)
        }
        Meaning::Unused(family) => match family.treatment {
            Treatment::Ignored => {
                parsed.notes.push(format!("{} is accepted and not needed: {}", found.name, family.reason));
                Ok(())
            }
            // Switching off what is not there is no wish that could be missed.
            Treatment::Refused if found.off || matches!(value, Some("0" | "OFF" | "off" | "FALSE")) => Ok(()),
            Treatment::Refused => Err(OptionError(format!("--{}: {}", found.name.replace('_', "-"), family.reason))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::FlushLog;
    use super::*;

    fn from(line: &str) -> Result<Parsed, OptionError> {
        parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn the_command_line_is_mysqls() {
        let parsed = from(
            "--port=3307 --datadir /d --max_connections=20000 --skip-ssl --innodb-flush-log-at-trx-commit=2 \
             --innodb_buffer_pool_size=4G --sql-mode= --character-set-server=latin1 --local-infile -P 3308",
        )
        .unwrap();
        let options = &parsed.options;
        assert_eq!((options.port, options.max_connections, options.ssl), (3308, 20_000, false));
        assert_eq!(options.datadir, Path::new("/d"));
        assert_eq!(options.innodb_flush_log_at_trx_commit, FlushLog::WrittenAtCommit);
        assert_eq!((options.innodb_buffer_pool_size, options.local_infile), (4 << 30, true));
        assert_eq!(
            (options.variable("sql_mode"), options.variable("character_set_server")),
            (Some(""), Some("latin1"))
        );
        assert!(parsed.notes.is_empty(), "{:?}", parsed.notes);
    }

    #[test]
    fn an_old_configuration_starts_with_a_line_for_each() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("my.cnf");
        let file = "[mysqld]\ninnodb_buffer_pool_instances=8\ninnodb_thread_concurrency = 16\nquery_cache_size=64M\n\
                    innodb_additional_mem_pool_size=20M\ntable_open_cache=4096\nkey_buffer_size=16M\nuser=mysql\n\
                    innodb_log_file_size=512M\ninnodb_log_files_in_group=3\nmax_connections=500\nskip-external-locking\n";
        std::fs::write(&path, file).unwrap();
        let parsed = from(&format!("--defaults-file={} --max-connections=7", path.display())).unwrap();
        assert_eq!(parsed.notes.len(), 9, "{:#?}", parsed.notes);
        assert_eq!(parsed.options.max_connections, 7);
        assert_eq!(parsed.options.innodb_redo_log_capacity, 3 * (512 << 20));
        std::fs::write(&path, "[mysqld]\n\nmax_conections=500\n").unwrap();
        let OptionError(error) = from(&format!("--defaults-file {}", path.display())).unwrap_err();
        assert!(error.contains("my.cnf:3") && error.contains("max-connections"), "{error}");
    }

    #[test]
    fn what_would_mislead_is_refused() {
        for wrong in ["--daemonize", "--port", "--port=x", "--nonsense", "--innodb_page_size=4k", "stray", "-x"] {
            assert!(from(wrong).is_err(), "{wrong}");
        }
        for right in
            ["--skip-daemonize", "--daemonize=0", "--innodb_page_size=16k", "--loose-nonsense=3", "--skip-ssl=0"]
        {
            assert!(from(right).is_ok(), "{right}");
        }
        assert!(from("--skip-ssl=0").unwrap().options.ssl);
    }
}
