//! SCHEMATA, TABLES, and what is always empty.

use meseta_types::Collation;

use super::{Cell, Simple, View, Wanted, moment, nothing};
use crate::schema::{Database, Table};

/// The name of the catalog that all databases are in.
pub(super) const CATALOG: &str = "def";
/// What the engine's pages are, for sizes.
const PAGE_BYTES: u64 = 16_384;

pub(super) static TABLES: &[Simple] = &[
    Simple { name: "SCHEMATA", rows: schemata },
    Simple { name: "TABLES", rows: tables },
    Simple { name: "VIEWS", rows: nothing },
    Simple { name: "ROUTINES", rows: nothing },
    Simple { name: "PARAMETERS", rows: nothing },
    Simple { name: "TRIGGERS", rows: nothing },
    Simple { name: "EVENTS", rows: nothing },
    Simple { name: "PARTITIONS", rows: partitions },
    Simple { name: "FILES", rows: nothing },
    Simple { name: "COLUMN_STATISTICS", rows: nothing },
    Simple { name: "LIBRARIES", rows: nothing },
    Simple { name: "ROUTINE_LIBRARIES", rows: nothing },
    Simple { name: "TABLESPACES_EXTENSIONS", rows: nothing },
    Simple { name: "VIEW_ROUTINE_USAGE", rows: nothing },
    Simple { name: "VIEW_TABLE_USAGE", rows: nothing },
    Simple { name: "JSON_DUALITY_VIEWS", rows: nothing },
    Simple { name: "JSON_DUALITY_VIEW_COLUMNS", rows: nothing },
    Simple { name: "JSON_DUALITY_VIEW_LINKS", rows: nothing },
    Simple { name: "JSON_DUALITY_VIEW_TABLES", rows: nothing },
    Simple { name: "ST_GEOMETRY_COLUMNS", rows: nothing },
];

fn schemata(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let own = [
        ("information_schema", Collation::Utf8mb3GeneralCi),
        ("mysql", Collation::Utf8mb4_0900AiCi),
        ("performance_schema", Collation::Utf8mb4_0900AiCi),
    ];
    let others = view.schema.databases.iter().map(|(name, database)| {
        let known = Database::read(&database.attributes);
        (name.as_str(), known.map_or(Collation::Utf8mb4_0900AiCi, |known| known.collation))
    });
    let mut all: Vec<(&str, Collation)> = own.into_iter().chain(others).collect();
    all.sort_unstable_by_key(|&(name, _)| name);
    all.retain(|(name, _)| wanted.database.is_none_or(|wanted| wanted == *name));
    all.into_iter()
        .map(|(name, collation)| {
            vec![
                Cell::text(CATALOG),
                Cell::text(name),
                Cell::text(collation.charset().name()),
                Cell::text(collation.name()),
                Cell::Null,
                Cell::text("NO"),
            ]
        })
        .collect()
}

fn tables(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, engine) in view.tables(|database, name| wanted.has(database, name)) {
        let mut row =
            vec![Cell::text(CATALOG), Cell::text(&table.database), Cell::text(&table.name), Cell::text("BASE TABLE")];
        row.extend(status(&table, &engine, view));
        rows.push(row);
    }
    let made = super::virtual_tables().chain(crate::schema::performance::tables_of("performance_schema"));
    rows.extend(made.filter(|table| wanted.has(table.schema(), table.name())).map(|table| {
        let is_view = table.schema() == "information_schema";
        let mut row = vec![
            Cell::text(CATALOG),
            Cell::text(table.schema()),
            Cell::text(table.name()),
            Cell::text(if is_view { "SYSTEM VIEW" } else { "BASE TABLE" }),
            if is_view { Cell::Null } else { Cell::text("PERFORMANCE_SCHEMA") },
            Cell::Unsigned(10),
            Cell::Null,
        ];
        row.extend(std::iter::repeat_n(Cell::Unsigned(0), 6));
        row.extend(std::iter::repeat_n(Cell::Null, 8));
        row
    }));
    rows
}

/// A table that is not in parts is one row without names of parts.
fn partitions(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, engine) in view.tables(|database, name| wanted.has(database, name)) {
        let mut row = [CATALOG, &table.database, &table.name].map(Cell::text).to_vec();
        row.extend(std::iter::repeat_n(Cell::Null, 10));
        // TABLE_ROWS to DATA_FREE, CREATE_TIME.
        let status = status(&table, &engine, view);
        row.extend(status[3..9].iter().cloned());
        row.push(status[10].clone());
        row.extend(std::iter::repeat_n(Cell::Null, 3));
        row.extend([Cell::text(""), Cell::text(""), Cell::Null]);
        rows.push(row);
    }
    rows
}

/// From ENGINE to the comment.
pub(super) fn status(table: &Table, engine: &meseta_engine::table::Table, view: &View<'_>) -> Vec<Cell> {
    let rows = engine.estimate_rows().unwrap_or(0);
    // Of what columns take at most, most take less; an estimate as good as any without reading.
    let row_bytes: u64 = table.columns.iter().map(|column| u64::from(column.data_type.row_bytes()).min(64)).sum();
    let pages = |bytes: u64| (bytes / PAGE_BYTES + 1) * PAGE_BYTES;
    let data = pages(rows * (row_bytes + 16));
    let secondary = table.indexes.len() - usize::from(table.has_primary_key);
    let index = if secondary == 0 { 0 } else { secondary as u64 * pages(rows * 24) };
    let options = &table.options;
    let format = match options.row_format.as_str() {
        "" => "Dynamic".to_owned(),
        given => format!("{}{}", &given[..1], given[1..].to_lowercase()),
    };
    vec![
        Cell::text("InnoDB"),
        Cell::Unsigned(10),
        Cell::text(format),
        Cell::Unsigned(rows),
        Cell::Unsigned(data.checked_div(rows).unwrap_or(0)),
        Cell::Unsigned(data),
        Cell::Unsigned(0),
        Cell::Unsigned(index),
        Cell::Unsigned(0),
        table.auto_increment().map_or(Cell::Null, |_| match engine.auto_increment.next() {
            0 | 1 => Cell::Null,
            next => Cell::Unsigned(next),
        }),
        moment(options.created, view.zone),
        Cell::Null,
        Cell::Null,
        Cell::text(options.collation.name()),
        Cell::Null,
        Cell::text(create_options(table)),
        Cell::text(&options.comment),
    ]
}

fn create_options(table: &Table) -> String {
    let options = &table.options;
    let mut out = Vec::new();
    let mut number = |name: &str, value: u64| {
        if value != 0 {
            out.push(format!("{name}={value}"));
        }
    };
    number("max_rows", options.max_rows);
    number("min_rows", options.min_rows);
    number("avg_row_length", options.average_row_length);
    number("stats_sample_pages", options.stats_sample_pages);
    number("checksum", options.checksum.into());
    number("delay_key_write", options.delay_key_write.into());
    if !options.row_format.is_empty() {
        out.push(format!("row_format={}", options.row_format));
    }
    if options.key_block_size != 0 {
        out.push(format!("KEY_BLOCK_SIZE={}", options.key_block_size));
    }
    let tristates = [
        ("pack_keys", options.pack_keys),
        ("stats_persistent", options.stats_persistent),
        ("stats_auto_recalc", options.stats_auto_recalc),
    ];
    for (name, value) in tristates {
        out.extend(value.map(|value| format!("{name}={}", u8::from(value))));
    }
    out.join(" ")
}
