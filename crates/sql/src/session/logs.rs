//! The general log and the slow log: files in MySQL's formats, for people and for programs that read those.
//!
//! ```text
//! general_log       2026-11-22T03:50:08.123456Z<tab>    8 Query<tab>select 1       each statement, as it begins
//! slow_query_log    # Time: 2026-11-22T03:50:08.123456Z                            each that took long_query_time, as it ends
//!                   # User@Host: root[root] @ localhost []  Id:     8
//!                   # Query_time: 10.000321  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 0
//!                   use shop;
//!                   SET timestamp=1795319408;
//!                   select sleep(10);
//! ```
//! Both are off unless somebody switches them on. While one is off it costs a statement a test of a flag that nobody writes.
//!
//! # Invariants
//! 1. No password is written: of statements about accounts, literals where passwords may be are `<secret>`; what cannot be
//!    read as a statement is not written.
//! 2. An entry is one write to a file that is open to append: entries of different sessions do not mix, and a file that was
//!    moved away gets entries until FLUSH LOGS or SIGHUP opens its name anew.
//!
//! # When things fail
//! A file that cannot be opened or written: its log is off, and whoever runs the server is told. Statements go on.
//!
//! # Source
//! The manual's "The General Query Log", "The Slow Query Log", "Passwords and Logging"; files that a server of 9.7 wrote.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use meseta_parser::ast::{AdministrationKind, Statement};
use meseta_types::{DataType, Datum, Zone};
use parking_lot::RwLock;

use crate::variable::{GlobalValues, Variable};

/// One of the two.
#[derive(Default)]
pub struct Log {
    is_on: AtomicBool,
    file: RwLock<Option<(PathBuf, File)>>,
}

/// Both.
#[derive(Default)]
pub struct Logs {
    /// Every statement.
    pub general: Log,
    /// Those that took long.
    pub slow: Log,
}

fn value(globals: &GlobalValues, name: &str) -> String {
    Variable::find(name).map_or_else(String::new, |variable| variable.definition().shown(globals.get(variable)))
}

impl Logs {
    /// Opens and closes files as the variables say.
    ///
    /// # Errors
    /// A sentence for whoever runs the server: a file cannot be opened. Its log is off.
    pub fn apply(&self, globals: &GlobalValues) -> Result<(), String> {
        let to_file = value(globals, "log_output").split(',').any(|output| output == "FILE");
        let of = |log: &Log, switch: &str, name: &str| {
            let path = PathBuf::from(value(globals, "datadir")).join(value(globals, name));
            let is_wanted = to_file && value(globals, switch) == "ON";
            log.open(is_wanted.then_some(path), globals).map_err(|error| format!("{switch} is off: {error}"))
        };
        let general = of(&self.general, "general_log", "general_log_file");
        of(&self.slow, "slow_query_log", "slow_query_log_file").and(general)
    }

    /// FLUSH LOGS: the files are opened anew, by their names.
    ///
    /// # Errors
    /// As [`Logs::apply`].
    pub fn reopen(&self, globals: &GlobalValues) -> Result<(), String> {
        for log in [&self.general, &self.slow] {
            *log.file.write() = None;
        }
        self.apply(globals)
    }
}

impl Log {
    /// Whether it is on.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    fn open(&self, path: Option<PathBuf>, globals: &GlobalValues) -> Result<(), String> {
        let mut file = self.file.write();
        let Some(path) = path else {
            self.is_on.store(false, Ordering::Relaxed);
            *file = None;
            return Ok(());
        };
        if file.as_ref().is_some_and(|(open, _)| *open == path) {
            return Ok(());
        }
        let opened = OpenOptions::new().append(true).create(true).open(&path).and_then(|mut opened| {
            let (program, comment) = (value(globals, "basedir"), value(globals, "version_comment"));
            let (version, port, socket) = (value(globals, "version"), value(globals, "port"), value(globals, "socket"));
            let head = format!(
                "{program}meseta, Version: {version} ({comment}). started with:\nTcp port: {port}  Unix socket: {socket}\n\
                 Time                 Id Command    Argument\n"
            );
            opened.write_all(head.as_bytes())?;
            Ok(opened)
        });
        self.is_on.store(opened.is_ok(), Ordering::Relaxed);
        match opened {
            Ok(opened) => *file = Some((path, opened)),
            Err(error) => {
                *file = None;
                return Err(format!("{}: {error}", path.display()));
            }
        }
        Ok(())
    }

    /// Writes an entry.
    ///
    /// # Errors
    /// A sentence for whoever runs the server, once: the log is off from then on.
    pub fn write(&self, entry: &[u8]) -> Result<(), String> {
        let written = match &*self.file.read() {
            Some((path, file)) => {
                let mut file: &File = file;
                file.write_all(entry).map_err(|error| format!("{} is written no more: {error}", path.display()))
            }
            None => Ok(()),
        };
        if written.is_err() && !self.is_on.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        written
    }
}

/// Whether a log may be at this path, in the data directory unless it begins at the root.
///
/// # Errors
/// There is no such folder, it is one, it is an option file's name, or it cannot be written.
pub fn check_path(directory: &Path, path: &str) -> io::Result<()> {
    if path.is_empty() || path.ends_with(".cnf") || path.ends_with(".ini") {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let path = directory.join(path);
    let was_there = path.exists();
    OpenOptions::new().append(true).create(true).open(&path)?;
    if was_there { Ok(()) } else { std::fs::remove_file(&path) }
}

/// `2026-11-22T03:50:08.123456Z` of microseconds since 1970.
fn append_time(micros: i64, to: &mut Vec<u8>) {
    let (seconds, fraction) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let time = Zone::UTC.read_timestamp(&(seconds.max(0) as u32).to_be_bytes());
    let mut text = Vec::new();
    DataType::DateTime { decimals: 0 }.append_text(Datum::DateTime(time, 0), &mut text);
    if let Some(blank) = text.iter_mut().find(|byte| **byte == b' ') {
        *blank = b'T';
    }
    to.extend(text);
    to.extend(format!(".{fraction:06}Z").as_bytes());
}

/// An entry of the general log.
pub(super) fn general_entry(micros: i64, connection: u64, command: &str, argument: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(64 + argument.len());
    append_time(micros, &mut entry);
    entry.extend(format!("\t{connection:>5} {command}\t").as_bytes());
    entry.extend_from_slice(argument);
    entry.push(b'\n');
    entry
}

/// What is told of a slow statement.
pub(super) struct Slow<'a> {
    /// When it began and ended: microseconds since 1970.
    pub(super) began: i64,
    pub(super) ended: i64,
    pub(super) connection: u64,
    /// `user@host`, as the client named itself, and the account's.
    pub(super) user: &'a str,
    pub(super) account: &'a str,
    pub(super) database: Option<&'a str>,
    pub(super) rows_sent: u64,
    pub(super) rows_examined: u64,
    pub(super) text: &'a [u8],
}

/// An entry of the slow log.
pub(super) fn slow_entry(slow: &Slow<'_>) -> Vec<u8> {
    let mut entry = b"# Time: ".to_vec();
    append_time(slow.ended, &mut entry);
    let (user, host) = slow.user.rsplit_once('@').unwrap_or((slow.user, ""));
    let account = slow.account.rsplit_once('@').map_or(slow.account, |(account, _)| account);
    // A host that is an address is told as one.
    let (host, address) = if host.parse::<std::net::IpAddr>().is_ok() { ("", host) } else { (host, "") };
    let seconds = slow.ended.saturating_sub(slow.began).max(0) as f64 / 1e6;
    let facts = format!(
        "\n# User@Host: {account}[{user}] @ {host} [{address}]  Id: {:>5}\n# Query_time: {seconds:.6}  Lock_time: 0.000000 \
         Rows_sent: {}  Rows_examined: {}\n",
        slow.connection, slow.rows_sent, slow.rows_examined
    );
    entry.extend(facts.as_bytes());
    if let Some(database) = slow.database {
        entry.extend(format!("use {database};\n").as_bytes());
    }
    entry.extend(format!("SET timestamp={};\n", slow.began.div_euclid(1_000_000)).as_bytes());
    entry.extend_from_slice(slow.text);
    entry.extend(b";\n");
    entry
}

/// Whether a statement may have a password in it.
pub(super) fn has_secret(statement: &Statement<'_>, text: &[u8]) -> bool {
    match statement {
        Statement::CreateUser(_) | Statement::SetPassword(_) => true,
        // A text in a text.
        Statement::Prepare { .. } | Statement::Set(_) => {
            let text = text.to_ascii_lowercase();
            [&b"identified"[..], b"password"].iter().any(|word| text.windows(word.len()).any(|at| at == *word))
        }
        Statement::Administration(given) => {
            matches!(given.kind, AdministrationKind::ChangeReplicationSource | AdministrationKind::Server)
                || matches!(given.kind, AdministrationKind::StartReplica | AdministrationKind::Clone)
        }
        _ => false,
    }
}

/// A part of a statement's text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part<'t> {
    /// In quotes, which are in it.
    Quoted(&'t [u8]),
    Word(&'t [u8]),
    /// Blanks, comments, signs.
    Other(&'t [u8]),
}

/// The parts of a text, one after the other; together they are the text.
fn parts(text: &[u8]) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = *rest.first()?;
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
        let length = match first {
            b'\'' | b'"' | b'`' => {
                let mut at = 1;
                while at < rest.len() && (rest[at] != first || rest.get(at + 1) == Some(&first)) {
                    let is_two = rest[at] == first || (rest[at] == b'\\' && first != b'`');
                    at += if is_two { 2 } else { 1 };
                }
                (at + 1).min(rest.len())
            }
            b'#' => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            b'-' if rest.starts_with(b"-- ") => rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with(b"/*") && !rest.starts_with(b"/*!") => {
                rest.windows(2).skip(2).position(|end| end == b"*/").map_or(rest.len(), |at| at + 4)
            }
            byte if is_word(&byte) => rest.iter().position(|byte| !is_word(byte)).unwrap_or(rest.len()),
            _ => 1,
        };
        let (part, more) = rest.split_at(length);
        rest = more;
        Some(match first {
            b'\'' | b'"' | b'`' => Part::Quoted(part),
            byte if is_word(&byte) => Part::Word(part),
            _ => Part::Other(part),
        })
    })
}

/// The text with `<secret>` for what may be a password: what is in quotes, or in hexadecimal, behind BY, AS, REPLACE,
/// PREPARE .. FROM, or `=`.
pub(super) fn without_secrets(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut is_next = false;
    for part in parts(text) {
        match part {
            Part::Quoted(quoted) if is_next && quoted[0] != b'`' => {
                out.extend(b"<secret>");
                is_next = false;
            }
            Part::Word(word) if is_next && word.len() > 2 && word[..2].eq_ignore_ascii_case(b"0x") => {
                out.extend(b"<secret>");
                is_next = false;
            }
            Part::Quoted(quoted) => {
                out.extend_from_slice(quoted);
                is_next = false;
            }
            Part::Word(word) => {
                out.extend_from_slice(word);
                const BEFORE: [&[u8]; 4] = [b"BY", b"AS", b"REPLACE", b"FROM"];
                is_next = BEFORE.iter().any(|before| before.eq_ignore_ascii_case(word));
            }
            Part::Other(other) => {
                out.extend_from_slice(other);
                is_next =
                    other == b"=" || (is_next && matches!(other[0], b' ' | b'\t' | b'\n' | b'\r' | b'/' | b'#' | b'-'));
            }
        }
    }
    out
}

/// A prepared statement's text with its values in place of the `?`.
pub(super) fn with_values(text: &[u8], values: &[Datum<'_>]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8 * values.len());
    let mut values = values.iter();
    for part in parts(text) {
        match part {
            Part::Other(b"?") => match values.next() {
                None => out.push(b'?'),
                Some(Datum::Null) => out.extend(b"NULL"),
                Some(
                    value @ (Datum::Signed(_)
                    | Datum::Unsigned(_)
                    | Datum::Float(_)
                    | Datum::Double(_)
                    | Datum::Decimal(_)),
                ) => {
                    value.append_text(&mut out);
                }
                Some(value) => {
                    let mut quoted = Vec::new();
                    value.append_text(&mut quoted);
                    out.push(b'\'');
                    for byte in quoted {
                        match byte {
                            b'\'' | b'\\' => out.extend([b'\\', byte]),
                            b'\n' => out.extend(b"\\n"),
                            0 => out.extend(b"\\0"),
                            byte => out.push(byte),
                        }
                    }
                    out.push(b'\'');
                }
            },
            Part::Other(part) | Part::Word(part) | Part::Quoted(part) => out.extend_from_slice(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use meseta_types::Collation;

    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (text, shown) in [
            ("ALTER USER u@'h' IDENTIFIED BY 'x''y'", "ALTER USER u@'h' IDENTIFIED BY <secret>"),
            ("create user 'u' identified with 'p' as 0x2A2b", "create user 'u' identified with 'p' as <secret>"),
            (
                "SET PASSWORD FOR 'u'@'h' = \"it's\" REPLACE 'old'",
                "SET PASSWORD FOR 'u'@'h' = <secret> REPLACE <secret>",
            ),
            (
                "create user a identified by/* x */'y', b identified\\nBY 'z' comment 'c'",
                "create user a identified by/* x */<secret>, b identified\\nBY <secret> comment 'c'",
            ),
            ("prepare s from 'alter user u identified by \\'x\\''", "prepare s from <secret>"),
            ("set @x = 'alter user u identified by 1'", "set @x = <secret>"),
            (
                "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = 'x', SOURCE_HOST='h'",
                "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD = <secret>, SOURCE_HOST=<secret>",
            ),
            ("create user u identified by 'never ends", "create user u identified by <secret>"),
        ] {
            let shown_here = String::from_utf8(without_secrets(text.replace("\\n", "\n").as_bytes())).unwrap();
            assert_eq!(shown_here, shown.replace("\\n", "\n"));
        }
    }

    #[test]
    fn values_stand_where_the_signs_were() {
        let text = |text| Datum::Text(text, Collation::Utf8mb4_0900AiCi);
        let values = [Datum::Signed(-5), Datum::Null, text(b"it's\n\\")];
        let shown = with_values(b"select ?, '?' /* ? */, `?`, ? -- ?\n, ?, ?", &values);
        assert_eq!(String::from_utf8(shown).unwrap(), "select -5, '?' /* ? */, `?`, NULL -- ?\n, 'it\\'s\\n\\\\', ?");
    }

    #[test]
    fn entries_are_mysqls() {
        let entry = general_entry(1_795_319_408_123_456, 8, "Query", b"select 1");
        assert_eq!(String::from_utf8(entry).unwrap(), "2026-11-22T03:50:08.123456Z\t    8 Query\tselect 1\n");
        let slow = Slow {
            began: 1_795_319_408_123_456,
            ended: 1_795_319_409_223_456,
            connection: 8,
            user: "app@10.0.0.1",
            account: "a@%",
            database: Some("shop"),
            rows_sent: 1,
            rows_examined: 2,
            text: b"select sleep(1)",
        };
        assert_eq!(
            String::from_utf8(slow_entry(&slow)).unwrap(),
            "# Time: 2026-11-22T03:50:09.223456Z\n# User@Host: a[app] @  [10.0.0.1]  Id:     8\n# Query_time: 1.100000  \
             Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 2\nuse shop;\nSET timestamp=1795319408;\nselect sleep(1);\n"
        );
    }
}
