//! Option files, as MySQL reads them.
//!
//! ```text
//! # a comment            ; another
//! [mysqld]
//! port = 3307
//! skip-name-resolve      # no value; comments may follow
//! socket = "/run/a b.sock"
//! datadir = C:\\data     \n \t \b \r \\ \s(a space)
//! !include /etc/other.cnf
//! !includedir /etc/conf.d          (files that end in .cnf, by name)
//! ```
//!
//! Groups that are not ours (`[client]`, `[mysqldump]`) are read over.
//!
//! Source: the manual, "Using Option Files".

use std::fs;
use std::path::{Path, PathBuf};

use super::OptionError;

/// How deep files may include files.
const DEPTH: usize = 10;

/// An option in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOption {
    /// Its name, as written.
    pub name: String,
    /// Its value, if there was a `=`.
    pub value: Option<String>,
    /// Where it is: `file:line`.
    pub place: String,
}

/// The options of our groups in a file and those that it includes, in order. `suffix` is of `--defaults-group-suffix`:
/// `[mysqld_a]` counts as well as `[mysqld]`.
///
/// # Errors
/// A file that cannot be read, or a line that is nothing.
pub fn read(path: &Path, suffix: &str) -> Result<Vec<FileOption>, OptionError> {
    let mut options = Vec::new();
    read_into(path, suffix, DEPTH, &mut options)?;
    Ok(options)
}

fn read_into(path: &Path, suffix: &str, depth: usize, options: &mut Vec<FileOption>) -> Result<(), OptionError> {
    let fail = |why: &dyn std::fmt::Display| OptionError(format!("{}: {why}", path.display()));
    if depth == 0 {
        return Err(fail(&"files include each other too deeply"));
    }
    let bytes = fs::read(path).map_err(|error| fail(&error))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut ours = false;
    let mut in_group = false;
    for (number, line) in text.lines().enumerate() {
        let place = format!("{}:{}", path.display(), number + 1);
        let fail = |why: &str| OptionError(format!("{place}: {why}"));
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(directive) = line.strip_prefix('!') {
            match directive.split_once(char::is_whitespace) {
                Some(("include", file)) => read_into(&beside(path, file), suffix, depth - 1, options)?,
                Some(("includedir", directory)) => {
                    for file in files_in(&beside(path, directory)).map_err(|error| fail(&error.to_string()))? {
                        read_into(&file, suffix, depth - 1, options)?;
                    }
                }
                _ => return Err(fail("!include FILE or !includedir DIRECTORY, nothing else begins with !")),
            }
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some((group, _)) = rest.split_once(']') else { return Err(fail("a group has no ]")) };
            in_group = true;
            ours = is_ours(group.trim(), suffix);
            continue;
        }
        if !in_group {
            return Err(fail("an option before the first [group]"));
        }
        if !ours {
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name, Some(unquote(value))),
            None => (line.split('#').next().unwrap_or(line), None),
        };
        options.push(FileOption { name: name.trim().to_owned(), value, place });
    }
    Ok(())
}

fn beside(path: &Path, other: &str) -> PathBuf {
    path.parent().unwrap_or(Path::new("")).join(other.trim())
}

fn files_in(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "cnf") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn is_ours(group: &str, suffix: &str) -> bool {
    let bare = if suffix.is_empty() { group } else { group.strip_suffix(suffix).unwrap_or(group) };
    // MySQL reads the group of its own version as well: mysqld-8.4.
    ["mysqld", "server", "meseta", "mysqld-8.4", "mysqld-9.7"].contains(&bare)
}

/// A value without its quotes, escapes and comment.
fn unquote(value: &str) -> String {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(rest) = value.strip_prefix(quote)
            && let Some(end) = closing(rest, quote)
        {
            return unescape(&rest[..end]);
        }
    }
    let mut end = value.len();
    // A # begins a comment, unless it is escaped.
    let mut escaped = false;
    for (at, character) in value.char_indices() {
        if character == '#' && !escaped {
            end = at;
            break;
        }
        escaped = character == '\\' && !escaped;
    }
    unescape(value[..end].trim_end())
}

fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        if character == quote && !escaped {
            return Some(at);
        }
        escaped = character == '\\' && !escaped;
    }
    None
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some(other @ ('"' | '\'' | '\\' | '#')) => out.push(other),
            // No escape: both stay.
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_mysql_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.cnf");
        let more = directory.path().join("conf.d");
        fs::create_dir(&more).unwrap();
        fs::write(more.join("b.cnf"), "[server]\nb=2\n").unwrap();
        fs::write(more.join("a.cnf"), "[mysqld-9.7]\na=1\n").unwrap();
        fs::write(more.join("c.txt"), "not read").unwrap();
        fs::write(
            &file,
            "# comment\n[client]\nport=1\n[mysqld]\nport = 3307 # here\nskip-name-resolve # there\n\
             socket=\"/run/a #b.sock\"\npath='it''s'\nescaped=a\\tb\\\\c\\sd\\#e\nempty=\n!includedir conf.d\n\
             [mysqldump]\nquick\n[mysqld_x]\nx=1\n[ server ]\nlast=1\n",
        )
        .unwrap();
        let read = |suffix| {
            super::read(&file, suffix)
                .unwrap()
                .into_iter()
                .map(|option| format!("{}={}", option.name, option.value.as_deref().unwrap_or("-")))
                .collect::<Vec<_>>()
        };
        let all = [
            "port=3307",
            "skip-name-resolve=-",
            "socket=/run/a #b.sock",
            "path=it",
            "escaped=a\tb\\c d#e",
            "empty=",
            "a=1",
            "b=2",
            "last=1",
        ];
        assert_eq!(read(""), all);
        assert!(read("_x").contains(&"x=1".to_owned()));
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("my.cnf");
        for (text, words) in [
            ("port=1\n", "before the first"),
            ("[mysqld\n", "no ]"),
            ("[mysqld]\n!includes x\n", "!include"),
            ("!include my.cnf\n", "too deeply"),
        ] {
            fs::write(&file, text).unwrap();
            let OptionError(error) = read(&file, "").unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        assert!(read(Path::new("/does/not/exist"), "").is_err());
    }
}
