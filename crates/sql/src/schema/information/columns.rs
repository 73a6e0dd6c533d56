//! COLUMNS and STATISTICS.

use meseta_types::{DataType, IntegerSize, Zone};

use super::tables::CATALOG;
use super::{Cell, Simple, View, Wanted};
use crate::schema::column::{Column, ColumnDefault};
use crate::schema::show_create::{column_type, default_value};
use crate::schema::{Index, Table, TableStatistics};

pub(super) static TABLES: &[Simple] =
    &[Simple { name: "COLUMNS", rows: columns }, Simple { name: "STATISTICS", rows: statistics }];

/// What MySQL lets everybody do with a column.
const PRIVILEGES: &str = "select,insert,update,references";

/// `PRI`, `UNI`, `MUL` or nothing.
pub(super) fn column_key(table: &Table, at: usize) -> &'static str {
    let has_null = |index: &Index| index.parts.iter().any(|part| table.columns[usize::from(part.column)].nullable);
    let is_in = |index: &Index| index.parts.iter().any(|part| usize::from(part.column) == at);
    let is_first = |index: &Index| index.parts.first().is_some_and(|part| usize::from(part.column) == at);
    // Without a primary key, the first unique key without NULLs is taken for one.
    let primary = match table.has_primary_key {
        true => table.indexes.first(),
        false => table.indexes.iter().find(|index| index.unique && !has_null(index) && whole(index)),
    };
    if primary.is_some_and(is_in) {
        "PRI"
    } else if table.indexes.iter().any(|index| index.unique && index.parts.len() == 1 && is_first(index)) {
        "UNI"
    } else if table.indexes.iter().any(is_first) {
        "MUL"
    } else {
        ""
    }
}

fn whole(index: &Index) -> bool {
    index.parts.iter().all(|part| part.prefix.is_none())
}

/// `auto_increment`, `DEFAULT_GENERATED on update CURRENT_TIMESTAMP`, `VIRTUAL GENERATED`, `INVISIBLE`.
pub(super) fn extra(column: &Column) -> String {
    let mut out: Vec<String> = Vec::new();
    if column.auto_increment {
        out.push("auto_increment".to_owned());
    }
    if matches!(column.default, ColumnDefault::Now | ColumnDefault::Expression(_)) {
        out.push("DEFAULT_GENERATED".to_owned());
    }
    if column.on_update_now {
        let decimals = match column.data_type.decimals() {
            Some(decimals @ 1..) => format!("({decimals})"),
            _ => String::new(),
        };
        out.push(format!("on update CURRENT_TIMESTAMP{decimals}"));
    }
    if let Some(generated) = &column.generated {
        out.push(if generated.stored { "STORED GENERATED" } else { "VIRTUAL GENERATED" }.to_owned());
    }
    if column.invisible {
        out.push("INVISIBLE".to_owned());
    }
    out.join(" ")
}

fn columns(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, _) in view.tables(|database, name| wanted.has(database, name)) {
        for (at, column) in table.columns.iter().enumerate() {
            rows.push(column_row(&table, at, column, view.zone));
        }
    }
    let made = super::virtual_tables().chain(crate::schema::performance::tables_of("performance_schema"));
    for table in made.filter(|table| wanted.has(table.schema(), table.name())) {
        let mut made = Table::new(table.schema(), table.name(), meseta_types::Collation::Utf8mb3GeneralCi);
        for heading in table.columns() {
            let mut column = Column::new(heading.name, heading.data_type);
            column.nullable = heading.nullable;
            made.columns.push(column);
        }
        let all = made.columns.iter().enumerate();
        rows.extend(all.map(|(at, column)| column_row(&made, at, column, view.zone)));
    }
    rows
}

fn column_row(table: &Table, at: usize, column: &Column, zone: &Zone) -> Vec<Cell> {
    let data_type = &column.data_type;
    let collation = data_type.collation().filter(|collation| collation.charset() != meseta_types::Charset::Binary);
    let characters = data_type.max_characters().map(|characters| {
        let each = data_type.collation().map_or(1, |collation| u64::from(collation.charset().max_len()));
        match data_type {
            // A TEXT's limit is one of bytes.
            DataType::Text { .. } => (characters / each, characters),
            _ => (characters, characters * each),
        }
    });
    let (precision, scale) = numeric(data_type);
    let number = |number: Option<u64>| number.map_or(Cell::Null, Cell::Unsigned);
    let datetime = match data_type {
        DataType::Time { decimals } | DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
            Some(u64::from(*decimals))
        }
        _ => None,
    };
    vec![
        Cell::text(CATALOG),
        Cell::text(&table.database),
        Cell::text(&table.name),
        Cell::text(&column.name),
        Cell::Unsigned(at as u64 + 1),
        Cell::optional(default_value(column, zone)),
        Cell::yes(column.nullable),
        Cell::text(data_type.name()),
        number(characters.map(|(characters, _)| characters)),
        number(characters.map(|(_, bytes)| bytes)),
        number(precision),
        number(scale),
        number(datetime),
        Cell::optional(collation.map(|collation| collation.charset().name())),
        Cell::optional(collation.map(|collation| collation.name())),
        Cell::text(column_type(data_type)),
        Cell::text(column_key(table, at)),
        Cell::text(extra(column)),
        Cell::text(PRIVILEGES),
        Cell::text(&column.comment),
        Cell::text(column.generated.as_ref().map_or("", |generated| &generated.expression)),
        Cell::Null,
    ]
}

/// NUMERIC_PRECISION and NUMERIC_SCALE.
fn numeric(data_type: &DataType) -> (Option<u64>, Option<u64>) {
    match data_type {
        DataType::Integer { size, .. } => {
            let digits = match size {
                IntegerSize::Tiny => 3,
                IntegerSize::Small => 5,
                IntegerSize::Medium => 7,
                IntegerSize::Int => 10,
                IntegerSize::Big if data_type.is_unsigned() => 20,
                IntegerSize::Big => 19,
            };
            (Some(digits), Some(0))
        }
        DataType::Decimal { precision, scale, .. } => (Some((*precision).into()), Some((*scale).into())),
        DataType::Float { digits, .. } => {
            (Some(digits.map_or(12, |(precision, _)| precision.into())), digits.map(|(_, scale)| scale.into()))
        }
        DataType::Double { digits, .. } => {
            (Some(digits.map_or(22, |(precision, _)| precision.into())), digits.map(|(_, scale)| scale.into()))
        }
        DataType::Bit { width } => (Some((*width).into()), None),
        _ => (None, None),
    }
}

fn statistics(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for (table, engine) in view.tables(|database, name| wanted.has(database, name)) {
        let known = view.statistics.now(&engine);
        for (at, index) in table.indexes.iter().enumerate() {
            for (part, cells) in index_cells(&table, &known, at).into_iter().enumerate() {
                let [column, collation, cardinality, prefix, nullable] = cells;
                rows.push(vec![
                    Cell::text(CATALOG),
                    Cell::text(&table.database),
                    Cell::text(&table.name),
                    Cell::Unsigned(u64::from(!index.unique)),
                    Cell::text(&table.database),
                    Cell::text(&index.name),
                    Cell::Unsigned(part as u64 + 1),
                    column,
                    collation,
                    cardinality,
                    prefix,
                    Cell::Null,
                    nullable,
                    Cell::text("BTREE"),
                    Cell::text(""),
                    Cell::text(&index.comment),
                    Cell::yes(!index.invisible),
                    Cell::Null,
                ]);
            }
        }
    }
    rows
}

/// For each part of an index: column, direction, different values, prefix, nullable.
pub(super) fn index_cells(table: &Table, statistics: &TableStatistics, at: usize) -> Vec<[Cell; 5]> {
    let index = &table.indexes[at];
    let sampled = statistics.indexes.get(index.position).and_then(Option::as_ref);
    let part = |(number, part): (usize, &crate::schema::IndexPart)| {
        let column = &table.columns[usize::from(part.column)];
        [
            Cell::text(&column.name),
            Cell::text(if part.descending { "D" } else { "A" }),
            Cell::Unsigned(sampled.and_then(|sampled| sampled.distinct.get(number)).copied().unwrap_or(0)),
            part.prefix.map_or(Cell::Null, |prefix| Cell::Unsigned(prefix.into())),
            Cell::text(if column.nullable { "YES" } else { "" }),
        ]
    };
    index.parts.iter().enumerate().map(part).collect()
}
