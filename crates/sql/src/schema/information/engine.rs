//! INNODB_*: what monitoring asks of tables and their indexes. Numbers of columns' types (MTYPE, PRTYPE) are InnoDB's for
//! the kinds of types, and no more exact than that.

use super::{Cell, Simple, View, Wanted, nothing};
use crate::schema::{ForeignKeyAction, Table};

pub(super) static TABLES: &[Simple] = &[
    Simple { name: "INNODB_TABLES", rows: tables },
    Simple { name: "INNODB_TABLESTATS", rows: statistics },
    Simple { name: "INNODB_INDEXES", rows: indexes },
    Simple { name: "INNODB_FIELDS", rows: fields },
    Simple { name: "INNODB_FOREIGN", rows: foreign },
    Simple { name: "INNODB_FOREIGN_COLS", rows: foreign_columns },
    Simple { name: "INNODB_CACHED_INDEXES", rows: nothing },
    Simple { name: "INNODB_FT_BEING_DELETED", rows: nothing },
    Simple { name: "INNODB_FT_CONFIG", rows: nothing },
    Simple { name: "INNODB_FT_DELETED", rows: nothing },
    Simple { name: "INNODB_FT_INDEX_CACHE", rows: nothing },
    Simple { name: "INNODB_FT_INDEX_TABLE", rows: nothing },
    Simple { name: "INNODB_TABLESPACES", rows: nothing },
    Simple { name: "INNODB_TABLESPACES_BRIEF", rows: nothing },
    Simple { name: "INNODB_TEMP_TABLE_INFO", rows: nothing },
    Simple { name: "INNODB_VIRTUAL", rows: nothing },
];

/// `database/table`, as InnoDB names tables.
fn name(table: &Table) -> String {
    format!("{}/{}", table.database, table.name)
}

fn tables(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let row = |table: &Table| {
        vec![
            Cell::Unsigned(table.id.0.into()),
            Cell::text(name(table)),
            Cell::Signed(33),
            // InnoDB counts its hidden columns, too.
            Cell::Signed(table.columns.len() as i64 + 3),
            Cell::Signed(table.id.0.into()),
            Cell::text("Dynamic"),
            Cell::Unsigned(0),
            Cell::text("Single"),
            Cell::Signed(0),
            Cell::Signed(0),
        ]
    };
    view.tables(|_, _| true).iter().map(|(table, _)| row(table)).collect()
}

fn statistics(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let all = view.tables(|_, _| true);
    let row = |(table, engine): &(std::sync::Arc<Table>, std::sync::Arc<meseta_engine::table::Table>)| {
        let next = if table.auto_increment().is_some() { engine.auto_increment.next() } else { 0 };
        vec![
            Cell::Unsigned(table.id.0.into()),
            Cell::text(name(table)),
            Cell::text("Initialized"),
            Cell::Unsigned(engine.estimate_rows().unwrap_or(0)),
            Cell::Unsigned(1),
            Cell::Unsigned(table.indexes.len() as u64),
            Cell::Unsigned(0),
            Cell::Unsigned(next),
            Cell::Signed(1),
        ]
    };
    all.iter().map(row).collect()
}

fn indexes(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, engine) in view.tables(|_, _| true) {
        for (at, index) in engine.definition.indexes.iter().enumerate() {
            let (name, kind) = match (at, table.has_primary_key) {
                (0, true) => ("PRIMARY", 3),
                (0, false) => ("GEN_CLUST_INDEX", 1),
                _ => (index.name.as_str(), if index.unique { 2 } else { 0 }),
            };
            rows.push(vec![
                Cell::Unsigned(index.id.0.into()),
                Cell::text(name),
                Cell::Unsigned(table.id.0.into()),
                Cell::Signed(kind),
                Cell::Signed(index.parts.len() as i64),
                Cell::Signed(i64::from(index.tree.0)),
                Cell::Signed(table.id.0.into()),
                Cell::Signed(50),
            ]);
        }
    }
    rows
}

fn fields(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, engine) in view.tables(|_, _| true) {
        for index in &engine.definition.indexes {
            for (at, part) in index.parts.iter().enumerate() {
                let Some(column) = table.columns.get(usize::from(part.column)) else { continue };
                rows.push(vec![
                    Cell::text(index.id.0.to_string()),
                    Cell::text(&column.name),
                    Cell::Unsigned(at as u64),
                ]);
            }
        }
    }
    rows
}

fn foreign(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, _) in view.tables(|_, _| true) {
        for key in &table.foreign_keys {
            let (database, parent, _) = key.references(view.schema);
            let deleted = match key.on_delete {
                ForeignKeyAction::Cascade => 1,
                ForeignKeyAction::SetNull => 2,
                ForeignKeyAction::NoAction => 16,
                _ => 0,
            };
            let updated = match key.on_update {
                ForeignKeyAction::Cascade => 4,
                ForeignKeyAction::SetNull => 8,
                ForeignKeyAction::NoAction => 32,
                _ => 0,
            };
            rows.push(vec![
                Cell::text(format!("{}/{}", table.database, key.name)),
                Cell::text(name(&table)),
                Cell::text(format!("{database}/{parent}")),
                Cell::Signed(key.columns.len() as i64),
                Cell::Unsigned(deleted + updated),
            ]);
        }
    }
    rows
}

fn foreign_columns(view: &View<'_>, _: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, _) in view.tables(|_, _| true) {
        for key in &table.foreign_keys {
            let (_, _, columns) = key.references(view.schema);
            for (at, (&own, other)) in key.columns.iter().zip(columns).enumerate() {
                rows.push(vec![
                    Cell::text(format!("{}/{}", table.database, key.name)),
                    Cell::optional(table.columns.get(usize::from(own)).map(|column| column.name.clone())),
                    Cell::text(other),
                    Cell::Unsigned(at as u64 + 1),
                ]);
            }
        }
    }
    rows
}
