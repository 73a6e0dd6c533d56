//! Names: which ones may be given.

use meseta_errors::{
    ER_TOO_LONG_IDENT, ER_WRONG_COLUMN_NAME, ER_WRONG_DB_NAME, ER_WRONG_NAME_FOR_INDEX, ER_WRONG_TABLE_NAME,
};
use meseta_parser::ast;

use crate::error::{Error, Result};
use crate::name::text_of;

/// Characters of a name at most.
const CHARACTERS_MAX: usize = 64;

/// A name's text. The statement is UTF-8, or this makes it so.
pub fn text(name: ast::Text<'_>) -> String {
    text_of(&name)
}

fn checked_length(name: String) -> Result<String> {
    if name.chars().count() > CHARACTERS_MAX {
        return Err(Error::new(ER_TOO_LONG_IDENT, &[&name]));
    }
    Ok(name)
}

fn is_wrong(name: &str) -> bool {
    name.is_empty() || name.ends_with(' ')
}

/// The name of a new column.
pub fn column(name: ast::Identifier<'_>) -> Result<String> {
    let name = text(name.text);
    if is_wrong(&name) {
        return Err(Error::new(ER_WRONG_COLUMN_NAME, &[&name]));
    }
    checked_length(name)
}

/// The name of a new table.
pub fn table(name: ast::Identifier<'_>) -> Result<String> {
    let name = checked_length(text(name.text))?;
    if is_wrong(&name) {
        return Err(Error::new(ER_WRONG_TABLE_NAME, &[&name]));
    }
    Ok(name)
}

/// The name of a new database.
pub fn database(name: ast::Identifier<'_>) -> Result<String> {
    let name = checked_length(text(name.text))?;
    if is_wrong(&name) {
        return Err(Error::new(ER_WRONG_DB_NAME, &[&name]));
    }
    Ok(name)
}

/// The name of a new index: not `PRIMARY`.
pub fn index(name: ast::Identifier<'_>) -> Result<String> {
    let name = checked_length(text(name.text))?;
    if is_wrong(&name) || name.eq_ignore_ascii_case("PRIMARY") {
        return Err(Error::new(ER_WRONG_NAME_FOR_INDEX, &[&name]));
    }
    Ok(name)
}

/// The name of a new constraint.
pub fn constraint(name: ast::Identifier<'_>) -> Result<String> {
    checked_length(text(name.text))
}

/// A name that MySQL makes for a constraint without one: the table's name, a word, a number. `taken` are names that
/// are there.
pub fn numbered<'n>(table: &str, word: &str, taken: impl Iterator<Item = &'n str>) -> u64 {
    let beginning = format!("{table}_{word}_");
    taken.filter_map(|name| name.strip_prefix(&beginning)?.parse::<u64>().ok()).max().unwrap_or(0)
}
