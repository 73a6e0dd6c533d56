//! information_schema: tables whose rows are made from the catalog; and SHOW, which tells the same in other forms.
//!
//! ```text
//!   VirtualTable { name, columns, rows(View) -> Vec<Vec<Cell>> }      query scans it as a table
//!   show(statement, context) -> Rows                                   SHOW reads the schema itself
//! ```
//!
//! # Invariants
//! 1. Rows are as of one schema: the [`View`]'s.
//! 2. A table whose attributes are damaged is left out, rather than that nothing is shown.

mod columns;
mod constraints;
mod engine;
mod extensions;
mod fixed;
mod layout;
mod show;
mod tables;

use std::sync::Arc;

use meseta_engine::catalog::Schema;
use meseta_types::{Collation, DataType, DateTime, Datum, IntegerSize, TextSize, Zone};

pub use show::show;

use super::{StatisticsCache, Table, TableCache};
use crate::account;
use crate::session::SessionFacts;

/// A value of such a table.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// No value.
    Null,
    /// An integer.
    Signed(i64),
    /// An integer that is never negative.
    Unsigned(u64),
    /// Text.
    Text(String),
    /// A point in time.
    DateTime(DateTime),
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    /// A text, or NULL.
    pub fn optional(text: Option<impl Into<String>>) -> Self {
        text.map_or(Cell::Null, Cell::text)
    }

    /// `YES` or `NO`.
    pub fn yes(is: bool) -> Self {
        Cell::text(if is { "YES" } else { "NO" })
    }

    /// A value to compute with.
    pub fn datum(&self) -> Datum<'_> {
        match self {
            Cell::Null => Datum::Null,
            Cell::Signed(number) => Datum::Signed(*number),
            Cell::Unsigned(number) => Datum::Unsigned(*number),
            Cell::Text(text) => Datum::Text(text.as_bytes(), Collation::Utf8mb3GeneralCi),
            Cell::DateTime(value) => Datum::DateTime(*value, 0),
        }
    }
}

/// A column of such a table.
#[derive(Clone, Debug)]
pub struct VirtualColumn {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
}

impl VirtualColumn {
    /// Text of so many characters.
    pub fn text(name: &'static str, characters: u32) -> Self {
        Self { name, data_type: DataType::varchar(characters, Collation::Utf8mb3GeneralCi), nullable: false }
    }

    /// Text of any length.
    pub fn long_text(name: &'static str) -> Self {
        let data_type = DataType::Text { size: TextSize::Long, collation: Collation::Utf8mb3Bin };
        Self { name, data_type, nullable: false }
    }

    /// INT UNSIGNED.
    pub fn int(name: &'static str) -> Self {
        Self { name, data_type: DataType::integer(IntegerSize::Int, true), nullable: false }
    }

    /// BIGINT UNSIGNED.
    pub fn big(name: &'static str) -> Self {
        Self { name, data_type: DataType::BIGINT_UNSIGNED, nullable: false }
    }

    /// DATETIME.
    pub fn datetime(name: &'static str) -> Self {
        Self { name, data_type: DataType::DateTime { decimals: 0 }, nullable: false }
    }

    /// The same, or NULL.
    pub fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }
}

/// An answer: columns and rows.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// What the columns are. Their names can depend on the question: `Tables_in_test`.
    pub columns: Vec<(String, VirtualColumn)>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

impl Rows {
    /// Rows of columns that are named as they are.
    pub fn new(columns: Vec<VirtualColumn>, rows: Vec<Vec<Cell>>) -> Self {
        Self { columns: columns.into_iter().map(|column| (column.name.to_owned(), column)).collect(), rows }
    }
}

/// What rows are made from.
pub struct View<'v> {
    /// All that there is.
    pub schema: &'v Schema,
    /// Tables as they have been read.
    pub tables: &'v TableCache,
    /// What they contain, about.
    pub statistics: &'v StatisticsCache,
    /// The zone in which times are shown.
    pub zone: &'v Zone,
    /// Who asks, for tables that tell of the server and of accounts. What he may not see of the others is left out by
    /// whoever shows the rows.
    pub session: Option<&'v SessionFacts>,
}

impl View<'_> {
    /// All tables, by database and name; those alone of which `wanted` says so.
    pub fn tables(&self, wanted: impl Fn(&str, &str) -> bool) -> Vec<(Arc<Table>, Arc<meseta_engine::table::Table>)> {
        let mut found = Vec::new();
        for (name, database) in &self.schema.databases {
            for (table, &id) in database.tables.iter().filter(|(table, _)| wanted(name, table)) {
                let _ = table;
                if let Some(of) = self.schema.table(id)
                    && let Ok(read) = self.tables.get(of)
                {
                    found.push((read, Arc::clone(of)));
                }
            }
        }
        found
    }
}

/// Which tables a query asks for, if its WHERE says so: the others need not be looked at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'w> {
    /// TABLE_SCHEMA = ...
    pub database: Option<&'w str>,
    /// TABLE_NAME = ...
    pub table: Option<&'w str>,
}

impl Wanted<'_> {
    fn has(&self, database: &str, table: &str) -> bool {
        self.database.is_none_or(|wanted| wanted == database) && self.table.is_none_or(|wanted| wanted == table)
    }
}

/// A table of information_schema.
pub trait VirtualTable: Sync {
    /// Its name, in capitals; those of performance_schema are not.
    fn name(&self) -> &'static str;

    /// Its database.
    fn schema(&self) -> &'static str {
        "information_schema"
    }

    /// Its columns.
    fn columns(&self) -> Vec<VirtualColumn>;

    /// Its rows. At least those that are wanted: who asks still checks.
    fn rows(&self, view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>>;
}

/// A table made by a function, with the columns that `layout` knows.
pub struct Simple {
    /// Its name.
    pub name: &'static str,
    /// Makes its rows.
    pub rows: fn(&View<'_>, Wanted<'_>) -> Vec<Vec<Cell>>,
}

impl VirtualTable for Simple {
    fn name(&self) -> &'static str {
        self.name
    }

    fn columns(&self) -> Vec<VirtualColumn> {
        layout::columns(self.name)
    }

    fn rows(&self, view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
        (self.rows)(view, wanted)
    }
}

/// No rows: of what is not there yet.
fn nothing(_: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    Vec::new()
}

/// All tables of information_schema.
pub fn virtual_tables() -> impl Iterator<Item = &'static dyn VirtualTable> {
    [
        tables::TABLES,
        columns::TABLES,
        constraints::TABLES,
        engine::TABLES,
        extensions::TABLES,
        fixed::TABLES,
        account::INFORMATION_TABLES,
    ]
    .into_iter()
    .flatten()
    .map(|table| table as &dyn VirtualTable)
    .chain(super::performance::tables_of("information_schema"))
}

/// The table of this name; case does not count.
pub fn virtual_table(name: &str) -> Option<&'static dyn VirtualTable> {
    virtual_tables().find(|table| table.name().eq_ignore_ascii_case(name))
}

/// A table of one of the databases that are made up: mysql, or one of those whose names' case does not count.
pub fn system_table(database: &str, name: &str) -> Option<&'static dyn VirtualTable> {
    match database {
        "mysql" => account::mysql_table(name),
        database if database.eq_ignore_ascii_case("information_schema") => virtual_table(name),
        database if database.eq_ignore_ascii_case("performance_schema") => crate::schema::performance::table(name),
        _ => None,
    }
}

/// Whether a database is made up.
pub fn is_system_database(name: &str) -> bool {
    name == "mysql" || ["information_schema", "performance_schema"].iter().any(|own| name.eq_ignore_ascii_case(own))
}

/// A moment, given in seconds since 1970, in a zone.
pub(crate) fn moment(seconds: u64, zone: &Zone) -> Cell {
    if seconds == 0 {
        return Cell::Null;
    }
    let seconds = u32::try_from(seconds).unwrap_or(u32::MAX);
    Cell::DateTime(zone.read_timestamp(&seconds.to_be_bytes()))
}
