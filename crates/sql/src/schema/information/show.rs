//! SHOW about databases, tables, columns and indexes.

use std::sync::Arc;

use meseta_engine::catalog::Schema;
use meseta_errors::{ER_BAD_DB_ERROR, ER_WRONG_OBJECT};
use meseta_parser::ast::{self, ShowFilter, ShowWhat};
use meseta_types::{Collation, Zone};

use super::columns::{column_key, extra, index_cells};
use super::{Cell, Rows, View, VirtualColumn as Column, Wanted, layout};
use crate::error::{Error, Result};
use crate::schema::show_create::{column_type, default_value};
use crate::schema::{Database, Table, show_create_database, show_create_table};
use crate::statement::definition::DefinitionContext;

/// Answers a SHOW. LIKE is answered here, WHERE by the session.
///
/// # Errors
/// MySQL's: 1046, 1049, 1146; 1235 for forms that are not about definitions.
pub fn show(show: &ast::Show<'_>, session: &mut DefinitionContext<'_>) -> Result<Rows> {
    let mut rows = answer(&show.what, session)?;
    match show.filter {
        None => {}
        Some(ShowFilter::Like(pattern)) => filter(&mut rows, &pattern),
        // The session's business: it has expressions.
        Some(ShowFilter::Where(_)) => {}
    }
    if let (Some(ShowFilter::Like(pattern)), ShowWhat::Tables { .. } | ShowWhat::Databases) = (show.filter, &show.what)
        && let Some((name, _)) = rows.columns.first_mut()
    {
        *name = format!("{name} ({})", String::from_utf8_lossy(&pattern));
    }
    Ok(rows)
}

/// Keeps the rows whose first value is like a pattern.
fn filter(rows: &mut Rows, pattern: &[u8]) {
    rows.rows.retain(|row| match row.first() {
        Some(Cell::Text(text)) => Collation::Utf8mb3GeneralCi.like(text.as_bytes(), pattern, Some(u32::from(b'\\'))),
        _ => false,
    });
}

/// The database that a SHOW is about. Errors: 1046, 1049.
fn database(schema: Option<ast::Identifier<'_>>, session: &mut DefinitionContext<'_>) -> Result<String> {
    let name = match schema {
        Some(name) => String::from_utf8_lossy(&name.text).into_owned(),
        None => session.current_database()?,
    };
    let is_system = super::is_system_database(&name);
    if !is_system && !session.schema().databases.contains_key(&name) {
        return Err(Error::new(ER_BAD_DB_ERROR, &[&name]));
    }
    Ok(if is_system { name.to_lowercase() } else { name })
}

fn heading(name: impl Into<String>, column: Column) -> (String, Column) {
    (name.into(), column)
}

/// What SHOW looks at.
fn view_of<'v>(schema: &'v Schema, session: &'v DefinitionContext<'_>) -> View<'v> {
    let DefinitionContext { tables, statistics, context, .. } = session;
    View { schema, tables, statistics, zone: &context.zone, session: None }
}

fn rows_of(table: &str, session: &mut DefinitionContext<'_>) -> Vec<Vec<Cell>> {
    let schema = session.schema();
    let view = view_of(&schema, session);
    super::virtual_table(table).map_or_else(Vec::new, |table| table.rows(&view, Wanted::default()))
}

/// Columns by their names and types, as MySQL 9.7 announces them. Types are written as in `layout.txt`.
fn headings(columns: &[(&'static str, &'static str)]) -> Vec<(String, Column)> {
    columns.iter().map(|(name, kind)| heading(*name, layout::column(name, kind))).collect()
}

fn answer(what: &ShowWhat<'_>, session: &mut DefinitionContext<'_>) -> Result<Rows> {
    match what {
        ShowWhat::Databases => {
            let rows = rows_of("SCHEMATA", session).into_iter().map(|mut row| vec![row.swap_remove(1)]).collect();
            Ok(Rows { columns: vec![heading("Database", Column::text("Database", 64))], rows })
        }
        ShowWhat::Tables { full, schema, .. } => tables(*full, *schema, session),
        ShowWhat::TableStatus { schema } => table_status(*schema, session),
        ShowWhat::Columns { full, table, .. } => columns(*full, table, session),
        ShowWhat::Indexes { table, .. } => indexes(table, session),
        ShowWhat::CreateTable(name) => create_table(name, session),
        ShowWhat::CreateView(name) => {
            let table = shown_table(name, session)?;
            Err(Error::new(ER_WRONG_OBJECT, &[&table.database, &table.name, &"VIEW"]))
        }
        ShowWhat::CreateDatabase { if_not_exists, name } => {
            let name = String::from_utf8_lossy(&name.text).into_owned();
            let known = session.database_named(&name);
            let known = match known {
                None if name == "mysql" => Some(Database::new(Collation::Utf8mb4_0900AiCi)),
                None if super::is_system_database(&name) => Some(Database::new(Collation::Utf8mb3GeneralCi)),
                known => known,
            };
            let known = known.ok_or_else(|| Error::new(ER_BAD_DB_ERROR, &[&name]))?;
            let text = show_create_database(&name, known, *if_not_exists, session.names);
            let columns = vec![
                heading("Database", Column::text("Database", 64)),
                heading("Create Database", Column::text("Create Database", 1024)),
            ];
            Ok(Rows { columns, rows: vec![vec![Cell::text(name), Cell::text(text)]] })
        }
        ShowWhat::Engines => {
            let columns = headings(&[
                ("Engine", "varchar(64)"),
                ("Support", "varchar(8)"),
                ("Comment", "varchar(80)"),
                ("Transactions", "varchar(3) null"),
                ("XA", "varchar(3) null"),
                ("Savepoints", "varchar(3) null"),
            ]);
            Ok(Rows { columns, rows: rows_of("ENGINES", session) })
        }
        ShowWhat::CharacterSet => {
            let rows = rows_of("CHARACTER_SETS", session).into_iter().map(|mut row| {
                row.swap(1, 2);
                row
            });
            let columns = headings(&[
                ("Charset", "varchar(64)"),
                ("Description", "varchar(2048)"),
                ("Default collation", "varchar(64)"),
                ("Maxlen", "int_unsigned"),
            ]);
            Ok(Rows { columns, rows: rows.collect() })
        }
        ShowWhat::Collation => {
            let columns = headings(&[
                ("Collation", "varchar(64)"),
                ("Charset", "varchar(64)"),
                ("Id", "bigint_unsigned"),
                ("Default", "varchar(3)"),
                ("Compiled", "varchar(3)"),
                ("Sortlen", "int_unsigned"),
                ("Pad_attribute", "enum(9)"),
            ]);
            Ok(Rows { columns, rows: rows_of("COLLATIONS", session) })
        }
        ShowWhat::Plugins => {
            let rows = rows_of("PLUGINS", session)
                .into_iter()
                .map(|row| [0, 2, 3, 5, 9].into_iter().filter_map(|at| row.get(at).cloned()).collect());
            let columns = headings(&[
                ("Name", "varchar(64)"),
                ("Status", "varchar(10)"),
                ("Type", "varchar(80)"),
                ("Library", "varchar(64) null"),
                ("License", "varchar(80) null"),
            ]);
            Ok(Rows { columns, rows: rows.collect() })
        }
        ShowWhat::Triggers { schema, .. } => {
            database(*schema, session)?;
            let columns = headings(&[
                ("Trigger", "varchar(64)"),
                ("Event", "enum(6)"),
                ("Table", "varchar(64)"),
                ("Statement", "longtext"),
                ("Timing", "enum(6)"),
                ("Created", "timestamp(2)"),
                ("sql_mode", "enum(546)"),
                ("Definer", "varchar(288)"),
                ("character_set_client", "varchar(64)"),
                ("collation_connection", "varchar(64)"),
                ("Database Collation", "varchar(64)"),
            ]);
            Ok(Rows { columns, rows: Vec::new() })
        }
        ShowWhat::Events { schema } => {
            database(*schema, session)?;
            let columns = headings(&[
                ("Db", "varchar(64)"),
                ("Name", "varchar(64)"),
                ("Definer", "varchar(288)"),
                ("Time zone", "varchar(64)"),
                ("Type", "varchar(9)"),
                ("Execute at", "datetime null"),
                ("Interval value", "varchar(256) null"),
                ("Interval field", "enum(18) null"),
                ("Starts", "datetime null"),
                ("Ends", "datetime null"),
                ("Status", "varchar(21)"),
                ("Originator", "int_unsigned"),
                ("character_set_client", "varchar(64)"),
                ("collation_connection", "varchar(64)"),
                ("Database Collation", "varchar(64)"),
            ]);
            Ok(Rows { columns, rows: Vec::new() })
        }
        ShowWhat::ProcedureStatus | ShowWhat::FunctionStatus => {
            let columns = headings(&[
                ("Db", "varchar(64)"),
                ("Name", "varchar(64)"),
                ("Type", "enum(9)"),
                ("Language", "varchar(64)"),
                ("Definer", "varchar(288)"),
                ("Modified", "timestamp"),
                ("Created", "timestamp"),
                ("Security_type", "enum(7)"),
                ("Comment", "text"),
                ("character_set_client", "varchar(64)"),
                ("collation_connection", "varchar(64)"),
                ("Database Collation", "varchar(64)"),
            ]);
            Ok(Rows { columns, rows: Vec::new() })
        }
        ShowWhat::OpenTables { .. } => Ok(Rows {
            columns: headings(&[
                ("Database", "varchar(64)"),
                ("Table", "varchar(64)"),
                ("In_use", "bigint"),
                ("Name_locked", "bigint"),
            ]),
            rows: Vec::new(),
        }),
        _ => Err(Error::not_yet("this SHOW")),
    }
}

fn tables(full: bool, schema: Option<ast::Identifier<'_>>, session: &mut DefinitionContext<'_>) -> Result<Rows> {
    let database = database(schema, session)?;
    let mut columns = vec![heading(format!("Tables_in_{database}"), Column::text("Tables", 64))];
    if full {
        columns.push(heading("Table_type", layout::column("Table_type", "enum(11)")));
    }
    let row = |name: &str, kind: &str| match full {
        true => vec![Cell::text(name), Cell::text(kind)],
        false => vec![Cell::text(name)],
    };
    let rows = match session.schema().databases.get(&database) {
        Some(known) => known.tables.keys().map(|name| row(name, "BASE TABLE")).collect(),
        None if database == "mysql" => {
            let names = crate::account::MYSQL_TABLES.iter().map(super::VirtualTable::name);
            names.map(|name| row(name, "BASE TABLE")).collect()
        }
        None => {
            let is_information = database == "information_schema";
            let mut names: Vec<_> = match is_information {
                true => super::virtual_tables().map(|table| table.name()).collect(),
                false => crate::schema::performance::tables_of(&database).map(|table| table.name()).collect(),
            };
            names.sort_unstable();
            let kind = if is_information { "SYSTEM VIEW" } else { "BASE TABLE" };
            names.into_iter().map(|name| row(name, kind)).collect()
        }
    };
    Ok(Rows { columns, rows })
}

fn table_status(schema: Option<ast::Identifier<'_>>, session: &mut DefinitionContext<'_>) -> Result<Rows> {
    let database = database(schema, session)?;
    let names = [
        "Name",
        "Engine",
        "Version",
        "Row_format",
        "Rows",
        "Avg_row_length",
        "Data_length",
        "Max_data_length",
        "Index_length",
        "Data_free",
        "Auto_increment",
        "Create_time",
        "Update_time",
        "Check_time",
        "Collation",
        "Checksum",
        "Create_options",
        "Comment",
    ];
    let schema = session.schema();
    let view = view_of(&schema, session);
    let known = super::virtual_table("TABLES").map_or_else(Vec::new, |table| table.columns());
    // From TABLE_NAME on, without TABLE_TYPE.
    let columns = names.iter().zip([2].into_iter().chain(4..)).map(|(name, at)| {
        let column = known.get(at).cloned().unwrap_or_else(|| Column::text(name, 64));
        heading(*name, column)
    });
    let rows = view.tables(|name, _| name == database).into_iter().map(|(table, engine)| {
        let mut row = vec![Cell::text(&table.name)];
        row.extend(super::tables::status(&table, &engine, &view));
        row
    });
    Ok(Rows { columns: columns.collect(), rows: rows.collect() })
}

/// A table that a SHOW is about: the catalog's, or one of information_schema.
fn shown_table(name: &ast::ObjectName<'_>, session: &mut DefinitionContext<'_>) -> Result<Arc<Table>> {
    let (database, table) = session.object(name)?;
    if let Some(known) = super::system_table(&database, &table) {
        let mut made = Table::new(known.schema(), known.name(), Collation::Utf8mb3GeneralCi);
        for column in known.columns() {
            let mut own = crate::schema::Column::new(column.name, column.data_type);
            own.nullable = column.nullable;
            made.columns.push(own);
        }
        return Ok(Arc::new(made));
    }
    if !session.schema().databases.contains_key(&database) {
        return Err(Error::new(ER_BAD_DB_ERROR, &[&database]));
    }
    Ok(session.table(name)?.0)
}

fn columns(full: bool, name: &ast::ObjectName<'_>, session: &mut DefinitionContext<'_>) -> Result<Rows> {
    let table = shown_table(name, session)?;
    let zone: &Zone = &session.context.zone;
    let mut columns = headings(&[
        ("Field", "varchar(64) null"),
        ("Type", "mediumtext utf8mb3_bin"),
        ("Collation", "varchar(64) null"),
        ("Null", "varchar(3)"),
        ("Key", "enum(3)"),
        ("Default", "text null utf8mb3_bin"),
        ("Extra", "varchar(256) null"),
        ("Privileges", "varchar(154) null"),
        ("Comment", "text utf8mb3_bin"),
    ]);
    if !full {
        columns.retain(|(name, _)| !["Collation", "Privileges", "Comment"].contains(&name.as_str()));
    }
    let rows = table.columns.iter().enumerate().map(|(at, column)| {
        let mut row = vec![Cell::text(&column.name), Cell::text(column_type(&column.data_type))];
        if full {
            let collation = column.data_type.collation().filter(|collation| *collation != Collation::Binary);
            row.push(Cell::optional(collation.map(|collation| collation.name())));
        }
        row.extend([
            Cell::yes(column.nullable),
            Cell::text(column_key(&table, at)),
            Cell::optional(default_value(column, zone)),
            Cell::text(extra(column)),
        ]);
        if full {
            row.extend([Cell::text("select,insert,update,references"), Cell::text(&column.comment)]);
        }
        row
    });
    Ok(Rows { columns, rows: rows.collect() })
}

fn indexes(name: &ast::ObjectName<'_>, session: &mut DefinitionContext<'_>) -> Result<Rows> {
    let columns = headings(&[
        ("Table", "varchar(64)"),
        ("Non_unique", "int"),
        ("Key_name", "varchar(64) null"),
        ("Seq_in_index", "int_unsigned"),
        ("Column_name", "varchar(64) null"),
        ("Collation", "varchar(1) null"),
        ("Cardinality", "bigint null"),
        ("Sub_part", "bigint null"),
        ("Packed", "null"),
        ("Null", "varchar(3)"),
        ("Index_type", "varchar(11)"),
        ("Comment", "varchar(8)"),
        ("Index_comment", "varchar(2048)"),
        ("Visible", "varchar(3)"),
        ("Expression", "longtext null utf8mb3_bin"),
    ]);
    let table = shown_table(name, session)?;
    let schema = session.schema();
    let Some(engine) = schema.table(table.id) else { return Ok(Rows { columns, rows: Vec::new() }) };
    let known = session.statistics.now(engine);
    let mut rows = Vec::new();
    for (at, index) in table.indexes.iter().enumerate() {
        for (part, cells) in index_cells(&table, &known, at).into_iter().enumerate() {
            let [column, collation, cardinality, prefix, nullable] = cells;
            rows.push(vec![
                Cell::text(&table.name),
                Cell::Unsigned(u64::from(!index.unique)),
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
    Ok(Rows { columns, rows })
}

fn create_table(name: &ast::ObjectName<'_>, session: &mut DefinitionContext<'_>) -> Result<Rows> {
    let table = shown_table(name, session)?;
    let schema = session.schema();
    let next = schema.table(table.id).map_or(0, |engine| engine.auto_increment.next());
    let text = show_create_table(&table, &schema, next, &session.context.zone, session.names);
    let columns =
        vec![heading("Table", Column::text("Table", 64)), heading("Create Table", Column::text("Create Table", 1024))];
    Ok(Rows { columns, rows: vec![vec![Cell::text(&table.name), Cell::text(text)]] })
}
