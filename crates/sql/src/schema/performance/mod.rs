//! performance_schema, and the tables of information_schema that tell of a server rather than of its tables.
//!
//! ```text
//! data/system_tables.tsv: which tables and columns MySQL has
//!      + ROWS: who makes the rows of those that have any here  -->  SystemTable: a VirtualTable
//! ```
//! A table of MySQL's that nothing here fills is empty: so it is with performance_schema=OFF in MySQL.
//!
//! # Invariants
//! 1. Columns are those of MySQL, in its order: rows are made by names of columns (`SystemTable::row`).

mod locks;
mod monitor;
mod server;
mod waits;

use std::sync::LazyLock;

use meseta_types::{Collation, DataType, IntegerSize, TextSize};

use super::information::{Cell, View, VirtualColumn, VirtualTable, Wanted};
use crate::session::SessionFacts;

pub use monitor::{engine_status, mutexes};

/// Makes the rows of a table.
type MakeRows = fn(&SystemTable, &SessionFacts, &View<'_>) -> Vec<Vec<Cell>>;

/// The tables that have rows.
static ROWS: &[(&str, MakeRows)] = &[
    ("processlist", server::processlist),
    ("threads", server::threads),
    ("global_status", server::global_status),
    ("session_status", server::session_status),
    ("global_variables", server::global_variables),
    ("session_variables", server::session_variables),
    ("persisted_variables", server::persisted_variables),
    ("user_variables_by_thread", server::user_variables),
    ("session_connect_attrs", server::connect_attributes),
    ("session_account_connect_attrs", server::own_connect_attributes),
    ("events_waits_summary_global_by_event_name", waits::by_event_name),
    ("data_locks", locks::data_locks),
    ("data_lock_waits", locks::data_lock_waits),
    ("innodb_trx", locks::transactions),
    ("innodb_buffer_pool_stats", monitor::buffer_pool),
];

static TABLES: LazyLock<Vec<SystemTable>> = LazyLock::new(|| {
    let lines = include_str!("../../../data/system_tables.tsv").lines();
    let mut tables: Vec<SystemTable> = Vec::new();
    for line in lines.filter(|line| !line.starts_with('#')) {
        let fields: Vec<&'static str> = line.split('\t').collect();
        let [name, column, kind, null] = fields[..] else { continue };
        let (schema, name) = name.split_once('.').unwrap_or(("performance_schema", name));
        if tables.last().is_none_or(|table| table.name != name) {
            let rows = ROWS.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, rows)| *rows);
            tables.push(SystemTable { schema, name, columns: Vec::new(), rows });
        }
        if let Some(table) = tables.last_mut() {
            let column = VirtualColumn { name: column, data_type: data_type(kind), nullable: null == "YES" };
            table.columns.push(column);
        }
    }
    tables
});

fn data_type(kind: &str) -> DataType {
    let length = || kind.split(['(', ')', ',']).nth(1).and_then(|length| length.parse().ok()).unwrap_or(0);
    let unsigned = kind.ends_with("unsigned");
    match kind.split(['(', ' ']).next().unwrap_or("") {
        "bigint" => DataType::integer(IntegerSize::Big, unsigned),
        "int" | "mediumint" => DataType::integer(IntegerSize::Int, unsigned),
        "smallint" => DataType::integer(IntegerSize::Small, unsigned),
        "tinyint" => DataType::integer(IntegerSize::Tiny, unsigned),
        "double" | "float" => DataType::DOUBLE,
        "timestamp" | "datetime" => DataType::DateTime { decimals: length().min(6) as u8 },
        "date" => DataType::Date,
        "longtext" | "json" | "mediumtext" | "text" | "longblob" => {
            DataType::Text { size: TextSize::Long, collation: Collation::Utf8mb4_0900AiCi }
        }
        _ => DataType::varchar(length(), Collation::Utf8mb4_0900AiCi),
    }
}

/// A table of MySQL's.
pub struct SystemTable {
    /// `performance_schema` or `information_schema`.
    schema: &'static str,
    name: &'static str,
    columns: Vec<VirtualColumn>,
    rows: Option<MakeRows>,
}

impl SystemTable {
    /// A row: these values by their columns' names, and nothing, zero or no text elsewhere.
    fn row(&self, values: &[(&str, Cell)]) -> Vec<Cell> {
        let value = |column: &VirtualColumn| {
            let given = values.iter().find(|(name, _)| name.eq_ignore_ascii_case(column.name));
            match given {
                Some((_, value)) => value.clone(),
                None if column.nullable => Cell::Null,
                None if column.data_type.collation().is_some() => Cell::text(""),
                None => Cell::Unsigned(0),
            }
        };
        self.columns.iter().map(value).collect()
    }
}

impl VirtualTable for SystemTable {
    fn name(&self) -> &'static str {
        self.name
    }

    fn schema(&self) -> &'static str {
        self.schema
    }

    fn columns(&self) -> Vec<VirtualColumn> {
        self.columns.clone()
    }

    fn rows(&self, view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
        match (self.rows, view.session) {
            (Some(rows), Some(session)) => rows(self, session, view),
            _ => Vec::new(),
        }
    }
}

/// All of them.
pub fn tables() -> &'static [SystemTable] {
    &TABLES
}

/// Those of one schema.
pub fn tables_of(schema: &str) -> impl Iterator<Item = &'static dyn VirtualTable> {
    TABLES.iter().filter(move |table| table.schema == schema).map(|table| table as &dyn VirtualTable)
}

/// The table of performance_schema with this name; case does not count.
pub fn table(name: &str) -> Option<&'static dyn VirtualTable> {
    named("performance_schema", name)
}

/// The table of this schema and name; case does not count.
pub fn named(schema: &str, name: &str) -> Option<&'static dyn VirtualTable> {
    let found = TABLES.iter().find(|table| table.schema == schema && table.name.eq_ignore_ascii_case(name));
    found.map(|table| table as &dyn VirtualTable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_with_rows_is_one_of_mysqls() {
        for (name, _) in ROWS {
            let found: Vec<_> = tables().iter().filter(|table| table.name.eq_ignore_ascii_case(name)).collect();
            assert!(!found.is_empty() && found.iter().all(|table| table.columns.len() > 1), "{name}");
        }
        assert!(tables().len() > 100);
        assert!(table("EVENTS_WAITS_SUMMARY_GLOBAL_BY_EVENT_NAME").is_some());
    }

    #[test]
    fn a_row_has_a_value_for_each_column() {
        let table = tables().iter().find(|table| table.name == "data_locks").unwrap();
        let row = table.row(&[("engine", Cell::text("INNODB"))]);
        assert_eq!((row.len(), &row[0], &row[2]), (table.columns.len(), &Cell::text("INNODB"), &Cell::Null));
    }
}
