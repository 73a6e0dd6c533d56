//! Constraints: KEY_COLUMN_USAGE, TABLE_CONSTRAINTS, REFERENTIAL_CONSTRAINTS, CHECK_CONSTRAINTS.

use super::tables::CATALOG;
use super::{Cell, Simple, View, Wanted};
use crate::schema::{ForeignKey, Table};

pub(super) static TABLES: &[Simple] = &[
    Simple { name: "KEY_COLUMN_USAGE", rows: usage },
    Simple { name: "TABLE_CONSTRAINTS", rows: constraints },
    Simple { name: "REFERENTIAL_CONSTRAINTS", rows: referential },
    Simple { name: "CHECK_CONSTRAINTS", rows: checks },
];

/// The name of a table's column.
fn column(table: &Table, at: u16) -> Cell {
    Cell::optional(table.columns.get(usize::from(at)).map(|column| column.name.clone()))
}

fn usage(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, _) in view.tables(|database, name| wanted.has(database, name)) {
        let beginning = |name: &str, at: u16, number: usize| {
            vec![
                Cell::text(CATALOG),
                Cell::text(&table.database),
                Cell::text(name),
                Cell::text(CATALOG),
                Cell::text(&table.database),
                Cell::text(&table.name),
                column(&table, at),
                Cell::Unsigned(number as u64 + 1),
            ]
        };
        for index in table.indexes.iter().filter(|index| index.unique) {
            for (number, part) in index.parts.iter().enumerate() {
                let mut row = beginning(&index.name, part.column, number);
                row.extend(std::iter::repeat_n(Cell::Null, 4));
                rows.push(row);
            }
        }
        for key in &table.foreign_keys {
            let (database, parent, columns) = key.references(view.schema);
            for (number, (&own, other)) in key.columns.iter().zip(columns).enumerate() {
                let mut row = beginning(&key.name, own, number);
                row.push(Cell::Unsigned(number as u64 + 1));
                row.extend([Cell::text(&database), Cell::text(&parent), Cell::text(other)]);
                rows.push(row);
            }
        }
    }
    rows
}

fn constraints(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, _) in view.tables(|database, name| wanted.has(database, name)) {
        let mut push = |name: &str, kind: &str, enforced: bool| {
            rows.push(vec![
                Cell::text(CATALOG),
                Cell::text(&table.database),
                Cell::text(name),
                Cell::text(&table.database),
                Cell::text(&table.name),
                Cell::text(kind),
                Cell::yes(enforced),
            ]);
        };
        for index in table.indexes.iter().filter(|index| index.unique) {
            push(&index.name, if index.is_primary() { "PRIMARY KEY" } else { "UNIQUE" }, true);
        }
        table.foreign_keys.iter().for_each(|key| push(&key.name, "FOREIGN KEY", true));
        table.checks.iter().for_each(|check| push(&check.name, "CHECK", check.enforced));
    }
    rows
}

/// The unique key of its parent that a foreign key refers to.
fn unique_key(key: &ForeignKey, view: &View<'_>) -> Option<String> {
    let parent = view.schema.table(key.parent?)?;
    let is_it = |index: &&meseta_engine::table::IndexDefinition| {
        index.unique && index.parts.iter().map(|part| part.column).eq(key.parent_numbers.iter().copied())
    };
    parent.definition.indexes.iter().find(is_it).map(|index| index.name.clone())
}

fn referential(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, _) in view.tables(|database, name| wanted.has(database, name)) {
        for key in &table.foreign_keys {
            let (database, parent, _) = key.references(view.schema);
            rows.push(vec![
                Cell::text(CATALOG),
                Cell::text(&table.database),
                Cell::text(&key.name),
                Cell::text(CATALOG),
                Cell::text(database),
                Cell::optional(unique_key(key, view)),
                Cell::text("NONE"),
                Cell::text(key.on_update.name()),
                Cell::text(key.on_delete.name()),
                Cell::text(&table.name),
                Cell::text(parent),
            ]);
        }
    }
    rows
}

fn checks(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, _) in view.tables(|database, _| wanted.database.is_none_or(|wanted| wanted == database)) {
        rows.extend(table.checks.iter().map(|check| {
            vec![
                Cell::text(CATALOG),
                Cell::text(&table.database),
                Cell::text(&check.name),
                Cell::text(&check.expression),
            ]
        }));
    }
    rows
}
