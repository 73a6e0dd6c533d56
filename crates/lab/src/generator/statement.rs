//! A statement of a workload: its text, and how it is executed, prepared or with its parameters pasted in.
//!
//! Invariants:
//! 1. Parameters are pasted where the prepared statement has its `?`: not within quotes, backticks or comments.
//! 2. A pasted value is read by the server as the bound one would be: strings are quoted and escaped.

use meseta_protocol::value::Value;

/// A parameter, as the protocol's client takes it: `?` have no name.
pub type Parameter<'a> = (&'a [u8], Value<'a>);

/// An integer parameter.
#[inline]
pub fn int(value: i64) -> Parameter<'static> {
    (b"", Value::Int(value))
}

/// A text parameter.
#[inline]
pub fn text(bytes: &[u8]) -> Parameter<'_> {
    (b"", Value::Bytes(bytes))
}

/// A number with a fraction.
#[inline]
pub fn double(value: f64) -> Parameter<'static> {
    (b"", Value::Double(value))
}

/// A statement of one client.
#[derive(Debug, Clone)]
pub struct Statement {
    pub(super) kind: usize,
    pub(super) text: Box<str>,
    /// Where its `?` are.
    marks: Box<[usize]>,
    /// Its number on the server, if it is prepared there.
    pub(super) id: Option<u32>,
    /// Whether the server has been told the parameters' types.
    pub(super) typed: bool,
}

impl Statement {
    /// A statement that is counted as `kind`.
    pub fn new(kind: usize, text: &str) -> Statement {
        Statement { kind, text: text.into(), marks: marks(text.as_bytes()).into(), id: None, typed: false }
    }

    /// Its text, with `?` for parameters.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// How many parameters it has.
    pub fn parameters(&self) -> usize {
        self.marks.len()
    }

    /// Appends its text with `values` pasted in.
    pub fn paste(&self, values: &[Parameter<'_>], to: &mut Vec<u8>) {
        let text = self.text.as_bytes();
        let mut from = 0;
        for (&mark, (_, value)) in self.marks.iter().zip(values) {
            to.extend_from_slice(&text[from..mark]);
            put_literal(value, to);
            from = mark + 1;
        }
        to.extend_from_slice(&text[from..]);
    }
}

/// Where the `?` of a text are.
fn marks(text: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'?' => found.push(at),
            b'\'' | b'"' | b'`' => {
                at += 1;
                while let Some(&inner) = text.get(at) {
                    match inner {
                        b'\\' if byte != b'`' => at += 1,
                        _ if inner == byte => break,
                        _ => (),
                    }
                    at += 1;
                }
            }
            b'#' => at += length_to(&text[at..], b"\n"),
            b'-' if text[at..].starts_with(b"-- ") => at += length_to(&text[at..], b"\n"),
            b'/' if text[at..].starts_with(b"/*") => at += length_to(&text[at..], b"*/"),
            _ => (),
        }
        at += 1;
    }
    found
}

fn length_to(text: &[u8], end: &[u8]) -> usize {
    text.windows(end.len()).position(|window| window == end).map_or(text.len(), |at| at + end.len() - 1)
}

/// Appends a value as a literal of SQL.
pub fn put_literal(value: &Value<'_>, to: &mut Vec<u8>) {
    use std::io::Write;
    // Writing to a vector does not fail.
    let _ = match value {
        Value::Null => to.write_all(b"NULL"),
        Value::Int(value) => write!(to, "{value}"),
        Value::UInt(value) => write!(to, "{value}"),
        Value::Float(value) => write!(to, "{value}"),
        Value::Double(value) => write!(to, "{value}"),
        Value::Bytes(bytes) => {
            to.push(b'\'');
            for &byte in *bytes {
                match byte {
                    b'\'' | b'\\' => to.extend_from_slice(&[b'\\', byte]),
                    0 => to.extend_from_slice(b"\\0"),
                    _ => to.push(byte),
                }
            }
            to.push(b'\'');
            Ok(())
        }
        Value::DateTime(d) => write!(
            to,
            "'{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:06}'",
            d.year, d.month, d.day, d.hour, d.minute, d.second, d.microsecond
        ),
        Value::Time(t) => write!(
            to,
            "'{}{}:{:02}:{:02}.{:06}'",
            if t.negative { "-" } else { "" },
            u64::from(t.days) * 24 + u64::from(t.hour),
            t.minute,
            t.second,
            t.microsecond
        ),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pasted(text_of: &str, values: &[Parameter<'_>]) -> String {
        let mut to = Vec::new();
        Statement::new(0, text_of).paste(values, &mut to);
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn values_go_where_the_marks_are() {
        assert_eq!(pasted("SELECT c FROM t WHERE id=?", &[int(5)]), "SELECT c FROM t WHERE id=5");
        assert_eq!(pasted("a ? b ?", &[int(-1), text(b"it's \\ \0")]), "a -1 b 'it\\'s \\\\ \\0'");
        assert_eq!(
            pasted("SELECT '?', \"\\\"?\", `?`, ? -- ?\n, ? /* ? */ # ?", &[int(1), int(2)]).matches('?').count(),
            6
        );
        assert_eq!(Statement::new(0, "'unclosed ?").parameters(), 0);
        assert_eq!(Statement::new(0, "/* unclosed ?").parameters(), 0);
    }

    proptest! {
        #[test]
        fn no_text_breaks_the_search_for_marks(text in "[?'\"`/*# a\\\\-]{0,40}") {
            let statement = Statement::new(0, &text);
            prop_assert!(statement.parameters() <= text.len());
            let mut to = Vec::new();
            statement.paste(&vec![int(1); statement.parameters()], &mut to);
            prop_assert_eq!(to.len(), text.len());
        }
    }
}
