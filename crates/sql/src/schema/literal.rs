//! Names and texts as SQL writes them.

/// Appends a name in backquotes.
pub fn append_quoted_name(name: &str, out: &mut String) {
    out.push('`');
    out.push_str(&name.replace('`', "``"));
    out.push('`');
}

/// A name in backquotes.
pub fn quoted_name(name: &str) -> String {
    let mut out = String::new();
    append_quoted_name(name, &mut out);
    out
}

/// How SHOW CREATE writes names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameStyle {
    /// `sql_quote_show_create`: all in quotes, and not only those that need them.
    pub quotes_all: bool,
    /// ANSI_QUOTES: double quotes.
    pub is_ansi: bool,
}

impl NameStyle {
    /// All in backquotes.
    pub const USUAL: NameStyle = NameStyle { quotes_all: true, is_ansi: false };

    /// A name.
    pub fn quoted(self, name: &str) -> String {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let needs_none = !name.is_empty()
            && name.bytes().all(is_plain)
            && meseta_parser::Keyword::find(name.as_bytes()) == meseta_parser::Keyword::None;
        match (self.quotes_all || !needs_none, self.is_ansi) {
            (false, _) => name.to_owned(),
            (true, false) => quoted_name(name),
            (true, true) => format!("\"{}\"", name.replace('"', "\"\"")),
        }
    }
}

/// Appends a text in quotes, as SHOW CREATE TABLE escapes it.
pub fn append_quoted(text: &str, out: &mut String) {
    out.push('\'');
    for character in text.chars() {
        match character {
            '\'' => out.push_str("''"),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push('\'');
}
