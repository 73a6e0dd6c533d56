//! Names as they are compared, and as messages show them.

use meseta_parser::ast::ColumnName;

/// A name as text.
pub fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether two names of columns are one. (ASCII letters count once; MySQL's names do so for others, too.)
pub fn same_name(one: &[u8], other: &[u8]) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// A column's name with the table's and the database's that were written before it.
pub fn written(name: &ColumnName<'_>) -> String {
    let parts = [name.schema, name.table, Some(name.column)];
    let parts: Vec<_> = parts.iter().flatten().map(|part| String::from_utf8_lossy(part.text.0)).collect();
    parts.join(".")
}
