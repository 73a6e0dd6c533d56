//! `--init-file`: statements that are run at the start, before anybody can reach the server.
//!
//! ```text
//! ALTER USER root@localhost IDENTIFIED BY '..';      as the mysql client reads a file: statements end in a semicolon,
//! -- or whatever DELIMITER says                      comments are left out, a line DELIMITER x says what ends the next
//! ```
//!
//! # Invariants
//! 1. The first statement that fails ends the start, with the file's line: a server that was told to do something and did
//!    not does not serve. What was done before it stays.

use std::path::Path;
use std::sync::Arc;

use meseta_sql::session::Instance;

use super::trusted::Trusted;
use crate::Failure;

/// Runs a file's statements.
///
/// # Errors
/// The file cannot be read, or a statement fails: with the line on which it begins, and without its text, which may have a
/// password in it.
pub fn run(instance: &Arc<Instance>, path: &Path) -> Result<(), Failure> {
    let text = std::fs::read(path).map_err(|error| format!("init_file {}: {error}", path.display()))?;
    let mut session = Trusted::begin(instance)?;
    let mut count = 0;
    for (line, statement) in Statements::of(&text) {
        if let Err(error) = session.run(statement) {
            let state = error.code.info().sqlstate;
            let (code, message) = (error.code.0, &error.message);
            return Err(format!("init_file {}, line {line}: ERROR {code} ({state}): {message}", path.display()).into());
        }
        count += 1;
    }
    session.end();
    tracing::info!("init_file {}: {count} statements were run", path.display());
    Ok(())
}

/// The statements of a text, each with the line on which it begins.
struct Statements<'t> {
    text: &'t [u8],
    at: usize,
    delimiter: &'t [u8],
}

impl<'t> Statements<'t> {
    fn of(text: &'t [u8]) -> Self {
        Self { text, at: 0, delimiter: b";" }
    }

    fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// To the end of the line.
    fn skip_line(&mut self) {
        self.at += self.rest().iter().position(|byte| *byte == b'\n').unwrap_or(self.rest().len());
    }

    /// To behind these bytes, which follow what is skipped.
    fn skip_past(&mut self, end: &[u8]) {
        let found = self.rest().windows(end.len()).position(|window| window == end);
        self.at += found.map_or(self.rest().len(), |found| found + end.len());
    }

    /// Over a comment, if one is here. One with a version is part of a statement.
    fn skip_comment(&mut self) -> bool {
        let rest = self.rest();
        if rest.starts_with(b"#") || (rest.starts_with(b"--") && rest.get(2).is_none_or(u8::is_ascii_whitespace)) {
            self.skip_line();
        } else if rest.starts_with(b"/*") && !rest.starts_with(b"/*!") {
            self.at += 2;
            self.skip_past(b"*/");
        } else {
            return false;
        }
        true
    }

    /// Over a quoted text, to behind its end.
    fn skip_quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(&byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' if quote != b'`' => self.at = (self.at + 1).min(self.text.len()),
                _ if byte == quote => return,
                _ => {}
            }
        }
    }

    /// Takes a line `DELIMITER x`, if one is here.
    fn take_delimiter(&mut self) -> bool {
        const WORD: &[u8] = b"DELIMITER";
        let is_word = self.rest().get(..WORD.len()).is_some_and(|word| word.eq_ignore_ascii_case(WORD))
            && self.rest().get(WORD.len()).is_some_and(|next| matches!(next, b' ' | b'\t'));
        if is_word {
            let start = self.at + WORD.len();
            self.skip_line();
            let given = self.text[start..self.at].trim_ascii();
            if !given.is_empty() {
                self.delimiter = given;
            }
        }
        is_word
    }
}

impl<'t> Iterator for Statements<'t> {
    type Item = (usize, &'t [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.rest().first()? {
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ if self.rest().starts_with(self.delimiter) => self.at += self.delimiter.len(),
                _ if self.skip_comment() || self.take_delimiter() => {}
                _ => break,
            }
        }
        let start = self.at;
        let mut end = self.text.len();
        while let Some(&byte) = self.rest().first() {
            if self.rest().starts_with(self.delimiter) {
                end = self.at;
                self.at += self.delimiter.len();
                break;
            }
            match byte {
                b'\'' | b'"' | b'`' => self.skip_quoted(byte),
                _ if self.skip_comment() => {}
                _ => self.at += 1,
            }
        }
        let line = 1 + self.text[..start].iter().filter(|byte| **byte == b'\n').count();
        Some((line, self.text[start..end].trim_ascii_end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(usize, &str)> {
        Statements::of(text.as_bytes()).map(|(line, text)| (line, std::str::from_utf8(text).unwrap())).collect()
    }

    #[test]
    fn a_file_is_split_as_the_client_splits_it() {
        let text = "-- first\n\nSET @a = ';' ;; # two\nSELECT '\\';', \"x;\", `y;`, 1 /* ; */ -- ;\n , 2;\nDELIMITER //\n\
                    CREATE PROCEDURE p() BEGIN SELECT 1; END//\ndelimiter ;\n/*!80000 SET @b = 1 */; last";
        let wanted = [
            (3, "SET @a = ';'"),
            (4, "SELECT '\\';', \"x;\", `y;`, 1 /* ; */ -- ;\n , 2"),
            (7, "CREATE PROCEDURE p() BEGIN SELECT 1; END"),
            (9, "/*!80000 SET @b = 1 */"),
            (9, "last"),
        ];
        assert_eq!(split(text), wanted);
        for nothing in ["", "  \n", "# x", "-- x\n;", "/* never closed ;", "DELIMITER $$\n$$"] {
            assert_eq!(split(nothing), [], "{nothing}");
        }
        assert_eq!(split("'never closed ; \\"), [(1, "'never closed ; \\")]);
    }
}
