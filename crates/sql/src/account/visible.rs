//! What a session sees of information_schema and of SHOW: the rows about what it has some privilege in.
//!
//! Rows are made of everything, by those who know the catalog, and looked at here by the names of their columns: whoever
//! adds a table there need not think of accounts, as long as its columns are named as MySQL names them.

use super::grants::{Grants, Object};
use super::privilege::Privileges;
use crate::schema::information::Cell;

/// The columns that name what a row is about. In the tables of foreign keys it is the referring table's.
const DATABASE: &[&str] = &[
    "TABLE_SCHEMA",
    "SCHEMA_NAME",
    "CONSTRAINT_SCHEMA",
    "EVENT_OBJECT_SCHEMA",
    "ROUTINE_SCHEMA",
    "EVENT_SCHEMA",
    "SPECIFIC_SCHEMA",
];
const TABLE: &[&str] = &["TABLE_NAME", "EVENT_OBJECT_TABLE"];

/// The privileges of a column, as `COLUMNS.PRIVILEGES` and SHOW FULL COLUMNS list them.
const OF_COLUMN: &[(Privileges, &str)] = &[
    (Privileges::SELECT, "select"),
    (Privileges::INSERT, "insert"),
    (Privileges::UPDATE, "update"),
    (Privileges::REFERENCES, "references"),
];

impl Grants {
    /// Whether everything is seen: no row need be looked at, but for those about the accounts' own rows.
    fn sees_all_tables(&self) -> bool {
        !self.global.within(Privileges::OF_TABLE.without(Privileges::GRANT)).is_empty()
    }

    /// What it may in a column, in words: `select,insert`.
    pub fn column_words(&self, database: &str, table: &str, column: &str) -> String {
        if database.eq_ignore_ascii_case("information_schema") {
            return "select".to_owned();
        }
        let may = |privilege: Privileges| self.may(privilege, Object::Column(database, table, column));
        let words: Vec<_> = OF_COLUMN.iter().filter(|(privilege, _)| may(*privilege)).map(|(_, word)| *word).collect();
        words.join(",")
    }

    /// Keeps the rows of a table of information_schema that are seen. `names` are its columns' names.
    pub fn keep_visible(&self, names: &[&str], rows: &mut Vec<Vec<Cell>>) {
        let place =
            |of: &[&str]| names.iter().position(|name| of.iter().any(|wanted| wanted.eq_ignore_ascii_case(name)));
        let Some(database) = place(DATABASE) else { return };
        // The tables about privileges tell of accounts, and choose their rows themselves.
        if place(&["GRANTEE"]).is_some() {
            return;
        }
        let (table, column) = (place(TABLE), place(&["COLUMN_NAME"]));
        let privileges = column.and_then(|_| place(&["PRIVILEGES"]));
        rows.retain_mut(|row| {
            let name = |at: Option<usize>| match at.and_then(|at| row.get(at)) {
                Some(Cell::Text(text)) => Some(text.as_str()),
                _ => None,
            };
            let Some(of) = name(Some(database)) else { return true };
            let Some(table) = name(table) else { return self.sees_database(of) };
            let is_seen = self.sees_columns_of(of, table);
            let Some(column) = name(column).filter(|_| is_seen) else { return is_seen };
            let words = self.column_words(of, table, column);
            // A column without privileges is not shown, unless the whole table is: indexes and keys are.
            let is_seen = privileges.is_none() || !words.is_empty();
            if let Some(cell) = privileges.and_then(|at| row.get_mut(at)) {
                *cell = Cell::text(words);
            }
            is_seen
        });
    }

    /// Whether it sees the table, by its own privileges or those of a column.
    pub fn sees_columns_of(&self, database: &str, table: &str) -> bool {
        if database == super::store::DATABASE {
            return false;
        }
        let is_own = ["information_schema", "performance_schema"].iter().any(|own| database.eq_ignore_ascii_case(own));
        is_own || self.sees_all_tables() || self.sees_table(database, table)
    }
}
