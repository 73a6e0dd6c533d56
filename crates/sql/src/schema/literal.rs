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
