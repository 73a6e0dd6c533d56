//! SCHEMATA, TABLES, and what is always empty.

use meseta_types::Collation;

use super::{Cell, Simple, View, VirtualColumn as Column, Wanted, moment, nothing};
use crate::schema::{Database, Table};

/// The name of the catalog that all databases are in.
pub(super) const CATALOG: &str = "def";
/// What the engine's pages are, for sizes.
const PAGE_BYTES: u64 = 16_384;

pub(super) static TABLES: &[Simple] = &[
    Simple { name: "SCHEMATA", columns: schemata_columns, rows: schemata },
    Simple { name: "TABLES", columns: tables_columns, rows: tables },
    Simple { name: "VIEWS", columns: views_columns, rows: nothing },
    Simple { name: "ROUTINES", columns: routines_columns, rows: nothing },
    Simple { name: "PARAMETERS", columns: parameters_columns, rows: nothing },
    Simple { name: "TRIGGERS", columns: triggers_columns, rows: nothing },
    Simple { name: "EVENTS", columns: events_columns, rows: nothing },
    Simple { name: "PARTITIONS", columns: partitions_columns, rows: nothing },
    Simple { name: "FILES", columns: files_columns, rows: nothing },
];

fn schemata_columns() -> Vec<Column> {
    vec![
        Column::text("CATALOG_NAME", 64),
        Column::text("SCHEMA_NAME", 64),
        Column::text("DEFAULT_CHARACTER_SET_NAME", 64),
        Column::text("DEFAULT_COLLATION_NAME", 64),
        Column::text("SQL_PATH", 0).or_null(),
        Column::text("DEFAULT_ENCRYPTION", 3),
    ]
}

fn schemata(view: &View<'_>, wanted: Wanted<'_>) -> Vec<Vec<Cell>> {
    let own =
        [("information_schema", Collation::Utf8mb3GeneralCi), ("performance_schema", Collation::Utf8mb4_0900AiCi)];
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

fn tables_columns() -> Vec<Column> {
    vec![
        Column::text("TABLE_CATALOG", 64),
        Column::text("TABLE_SCHEMA", 64),
        Column::text("TABLE_NAME", 64),
        Column::text("TABLE_TYPE", 11),
        Column::text("ENGINE", 64).or_null(),
        Column::int("VERSION").or_null(),
        Column::text("ROW_FORMAT", 10).or_null(),
        Column::big("TABLE_ROWS").or_null(),
        Column::big("AVG_ROW_LENGTH").or_null(),
        Column::big("DATA_LENGTH").or_null(),
        Column::big("MAX_DATA_LENGTH").or_null(),
        Column::big("INDEX_LENGTH").or_null(),
        Column::big("DATA_FREE").or_null(),
        Column::big("AUTO_INCREMENT").or_null(),
        Column::datetime("CREATE_TIME"),
        Column::datetime("UPDATE_TIME").or_null(),
        Column::datetime("CHECK_TIME").or_null(),
        Column::text("TABLE_COLLATION", 64).or_null(),
        Column::big("CHECKSUM").or_null(),
        Column::text("CREATE_OPTIONS", 256).or_null(),
        Column::long_text("TABLE_COMMENT").or_null(),
    ]
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

fn texts(names: &[&'static str]) -> Vec<Column> {
    names.iter().map(|name| Column::text(name, 64).or_null()).collect()
}

fn views_columns() -> Vec<Column> {
    texts(&[
        "TABLE_CATALOG",
        "TABLE_SCHEMA",
        "TABLE_NAME",
        "VIEW_DEFINITION",
        "CHECK_OPTION",
        "IS_UPDATABLE",
        "DEFINER",
        "SECURITY_TYPE",
        "CHARACTER_SET_CLIENT",
        "COLLATION_CONNECTION",
    ])
}

fn routines_columns() -> Vec<Column> {
    texts(&[
        "SPECIFIC_NAME",
        "ROUTINE_CATALOG",
        "ROUTINE_SCHEMA",
        "ROUTINE_NAME",
        "ROUTINE_TYPE",
        "DATA_TYPE",
        "CHARACTER_MAXIMUM_LENGTH",
        "CHARACTER_OCTET_LENGTH",
        "NUMERIC_PRECISION",
        "NUMERIC_SCALE",
        "DATETIME_PRECISION",
        "CHARACTER_SET_NAME",
        "COLLATION_NAME",
        "DTD_IDENTIFIER",
        "ROUTINE_BODY",
        "ROUTINE_DEFINITION",
        "EXTERNAL_NAME",
        "EXTERNAL_LANGUAGE",
        "PARAMETER_STYLE",
        "IS_DETERMINISTIC",
        "SQL_DATA_ACCESS",
        "SQL_PATH",
        "SECURITY_TYPE",
        "CREATED",
        "LAST_ALTERED",
        "SQL_MODE",
        "ROUTINE_COMMENT",
        "DEFINER",
        "CHARACTER_SET_CLIENT",
        "COLLATION_CONNECTION",
        "DATABASE_COLLATION",
    ])
}

fn parameters_columns() -> Vec<Column> {
    texts(&[
        "SPECIFIC_CATALOG",
        "SPECIFIC_SCHEMA",
        "SPECIFIC_NAME",
        "ORDINAL_POSITION",
        "PARAMETER_MODE",
        "PARAMETER_NAME",
        "DATA_TYPE",
        "CHARACTER_MAXIMUM_LENGTH",
        "CHARACTER_OCTET_LENGTH",
        "NUMERIC_PRECISION",
        "NUMERIC_SCALE",
        "DATETIME_PRECISION",
        "CHARACTER_SET_NAME",
        "COLLATION_NAME",
        "DTD_IDENTIFIER",
        "ROUTINE_TYPE",
    ])
}

fn triggers_columns() -> Vec<Column> {
    texts(&[
        "TRIGGER_CATALOG",
        "TRIGGER_SCHEMA",
        "TRIGGER_NAME",
        "EVENT_MANIPULATION",
        "EVENT_OBJECT_CATALOG",
        "EVENT_OBJECT_SCHEMA",
        "EVENT_OBJECT_TABLE",
        "ACTION_ORDER",
        "ACTION_CONDITION",
        "ACTION_STATEMENT",
        "ACTION_ORIENTATION",
        "ACTION_TIMING",
        "ACTION_REFERENCE_OLD_TABLE",
        "ACTION_REFERENCE_NEW_TABLE",
        "ACTION_REFERENCE_OLD_ROW",
        "ACTION_REFERENCE_NEW_ROW",
        "CREATED",
        "SQL_MODE",
        "DEFINER",
        "CHARACTER_SET_CLIENT",
        "COLLATION_CONNECTION",
        "DATABASE_COLLATION",
    ])
}

fn events_columns() -> Vec<Column> {
    texts(&[
        "EVENT_CATALOG",
        "EVENT_SCHEMA",
        "EVENT_NAME",
        "DEFINER",
        "TIME_ZONE",
        "EVENT_BODY",
        "EVENT_DEFINITION",
        "EVENT_TYPE",
        "EXECUTE_AT",
        "INTERVAL_VALUE",
        "INTERVAL_FIELD",
        "SQL_MODE",
        "STARTS",
        "ENDS",
        "STATUS",
        "ON_COMPLETION",
        "CREATED",
        "LAST_ALTERED",
        "LAST_EXECUTED",
        "EVENT_COMMENT",
        "ORIGINATOR",
        "CHARACTER_SET_CLIENT",
        "COLLATION_CONNECTION",
        "DATABASE_COLLATION",
    ])
}

fn partitions_columns() -> Vec<Column> {
    texts(&[
        "TABLE_CATALOG",
        "TABLE_SCHEMA",
        "TABLE_NAME",
        "PARTITION_NAME",
        "SUBPARTITION_NAME",
        "PARTITION_ORDINAL_POSITION",
        "SUBPARTITION_ORDINAL_POSITION",
        "PARTITION_METHOD",
        "SUBPARTITION_METHOD",
        "PARTITION_EXPRESSION",
        "SUBPARTITION_EXPRESSION",
        "PARTITION_DESCRIPTION",
        "TABLE_ROWS",
        "AVG_ROW_LENGTH",
        "DATA_LENGTH",
        "MAX_DATA_LENGTH",
        "INDEX_LENGTH",
        "DATA_FREE",
        "CREATE_TIME",
        "UPDATE_TIME",
        "CHECK_TIME",
        "CHECKSUM",
        "PARTITION_COMMENT",
        "NODEGROUP",
        "TABLESPACE_NAME",
    ])
}

fn files_columns() -> Vec<Column> {
    texts(&[
        "FILE_ID",
        "FILE_NAME",
        "FILE_TYPE",
        "TABLESPACE_NAME",
        "TABLE_CATALOG",
        "TABLE_SCHEMA",
        "TABLE_NAME",
        "LOGFILE_GROUP_NAME",
        "LOGFILE_GROUP_NUMBER",
        "ENGINE",
        "FULLTEXT_KEYS",
        "DELETED_ROWS",
        "UPDATE_COUNT",
        "FREE_EXTENTS",
        "TOTAL_EXTENTS",
        "EXTENT_SIZE",
        "INITIAL_SIZE",
        "MAXIMUM_SIZE",
        "AUTOEXTEND_SIZE",
        "CREATION_TIME",
        "LAST_UPDATE_TIME",
        "LAST_ACCESS_TIME",
        "RECOVER_TIME",
        "TRANSACTION_COUNTER",
        "VERSION",
        "ROW_FORMAT",
        "TABLE_ROWS",
        "AVG_ROW_LENGTH",
        "DATA_LENGTH",
        "MAX_DATA_LENGTH",
        "INDEX_LENGTH",
        "DATA_FREE",
        "CREATE_TIME",
        "UPDATE_TIME",
        "CHECK_TIME",
        "CHECKSUM",
        "STATUS",
        "EXTRA",
    ])
}
