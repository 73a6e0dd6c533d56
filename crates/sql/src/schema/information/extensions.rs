//! ..._EXTENSIONS: attributes that only engines know; here there are none.

use super::tables::CATALOG;
use super::{Cell, Simple, View, Wanted};

pub(super) static TABLES: &[Simple] = &[
    Simple { name: "TABLES_EXTENSIONS", rows: tables },
    Simple { name: "COLUMNS_EXTENSIONS", rows: columns },
    Simple { name: "SCHEMATA_EXTENSIONS", rows: schemata },
    Simple { name: "TABLE_CONSTRAINTS_EXTENSIONS", rows: constraints },
];

fn tables(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let all = view.tables(|database, name| wanted.has(database, name));
    let row = |table: &crate::schema::Table| {
        vec![Cell::text(CATALOG), Cell::text(&table.database), Cell::text(&table.name), Cell::Null, Cell::Null]
    };
    all.iter().map(|(table, _)| row(table)).collect()
}

fn columns(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, _) in view.tables(|database, name| wanted.has(database, name)) {
        rows.extend(table.columns.iter().map(|column| {
            let names = [CATALOG, &table.database, &table.name, &column.name].map(Cell::text);
            names.into_iter().chain([Cell::Null, Cell::Null]).collect::<Vec<_>>()
        }));
    }
    rows
}

fn schemata(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let row = |(name, database): (&String, &meseta_engine::catalog::Database)| {
        let known = crate::schema::Database::read(&database.attributes);
        let options = if known.is_ok_and(|known| known.read_only) { "READ ONLY=1" } else { "" };
        vec![Cell::text(CATALOG), Cell::text(name), Cell::text(options)]
    };
    view.schema.databases.iter().map(row).collect()
}

fn constraints(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, _) in view.tables(|database, _| wanted.database.is_none_or(|wanted| wanted == database)) {
        rows.extend(table.indexes.iter().map(|index| {
            let names = [CATALOG, &table.database, &index.name, &table.name].map(Cell::text);
            names.into_iter().chain([Cell::Null, Cell::Null]).collect::<Vec<_>>()
        }));
    }
    rows
}
