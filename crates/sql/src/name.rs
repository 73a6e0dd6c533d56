//! Names as they are compared, and as messages show them.

use meseta_parser::ast::ColumnName;

/// A name as text.
pub fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether two names of columns, indexes or constraints are one: case does not count, in no script, and accents do.
pub fn same_name(one: impl AsRef<[u8]>, other: impl AsRef<[u8]>) -> bool {
    let (one, other) = (one.as_ref(), other.as_ref());
    one.eq_ignore_ascii_case(other) || !one.is_ascii() && folded(one) == folded(other)
}

/// A name's characters in lower case, one for one: of the two that some become, the first.
fn folded(name: &[u8]) -> Vec<char> {
    text_of(name).chars().filter_map(|character| character.to_lowercase().next()).collect()
}

/// A column's name with the table's and the database's that were written before it.
pub fn written(name: &ColumnName<'_>) -> String {
    let parts = [name.schema, name.table, Some(name.column)];
    let parts: Vec<_> = parts.iter().flatten().map(|part| String::from_utf8_lossy(part.text.0)).collect();
    parts.join(".")
}
