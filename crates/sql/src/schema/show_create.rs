//! SHOW CREATE TABLE and SHOW CREATE DATABASE, byte by byte as MySQL 9.7 writes them.

use std::fmt::Write as _;

use meseta_engine::catalog::Schema;
use meseta_types::{Collation, DataType, Datum, Zone};

use super::column::{Column, ColumnDefault, stored_to_datum};
use super::database::Database;
use super::literal::{append_quoted, append_quoted_name, quoted_name};
use super::table::{ForeignKey, ForeignKeyAction, Index, Table};

/// The statement that would create a table. `schema` says what foreign keys refer to now; `auto_increment` is the number
/// that the column that counts comes to next; `zone` is that in which a TIMESTAMP's default is shown.
pub fn show_create_table(table: &Table, schema: &Schema, auto_increment: u64, zone: &Zone) -> String {
    let mut out = format!("CREATE TABLE {} (\n", quoted_name(&table.name));
    let mut lines: Vec<String> = Vec::new();
    lines.extend(table.columns.iter().map(|column| column_line(column, table.options.collation, zone)));
    lines.extend(table.indexes.iter().map(|index| index_line(index, table)));
    let mut keys: Vec<&ForeignKey> = table.foreign_keys.iter().collect();
    keys.sort_by_key(|key| key.name.to_lowercase());
    lines.extend(keys.into_iter().map(|key| foreign_key_line(key, table, schema)));
    let mut checks: Vec<_> = table.checks.iter().collect();
    checks.sort_by_key(|check| check.name.to_lowercase());
    for check in checks {
        let enforced = if check.enforced { "" } else { " /*!80016 NOT ENFORCED */" };
        lines.push(format!("  CONSTRAINT {} CHECK ({}){enforced}", quoted_name(&check.name), check.expression));
    }
    out += &lines.join(",\n");
    out += "\n) ENGINE=InnoDB";
    if table.auto_increment().is_some() && auto_increment > 1 {
        let _ = write!(out, " AUTO_INCREMENT={auto_increment}");
    }
    append_options(table, &mut out);
    out
}

fn append_options(table: &Table, out: &mut String) {
    let options = &table.options;
    let collation = options.collation;
    let _ = write!(out, " DEFAULT CHARSET={}", collation.charset().name());
    if !collation.is_default() || collation == Collation::Utf8mb4_0900AiCi {
        let _ = write!(out, " COLLATE={}", collation.name());
    }
    let mut number = |name: &str, value: Option<u64>| {
        if let Some(value) = value {
            let _ = write!(out, " {name}={value}");
        }
    };
    let some = |value: u64| (value != 0).then_some(value);
    number("MIN_ROWS", some(options.min_rows));
    number("MAX_ROWS", some(options.max_rows));
    number("AVG_ROW_LENGTH", some(options.average_row_length));
    number("PACK_KEYS", options.pack_keys.map(u64::from));
    number("STATS_PERSISTENT", options.stats_persistent.map(u64::from));
    number("STATS_AUTO_RECALC", options.stats_auto_recalc.map(u64::from));
    number("STATS_SAMPLE_PAGES", some(options.stats_sample_pages));
    number("CHECKSUM", some(options.checksum.into()));
    number("DELAY_KEY_WRITE", some(options.delay_key_write.into()));
    if !options.row_format.is_empty() {
        let _ = write!(out, " ROW_FORMAT={}", options.row_format);
    }
    if options.key_block_size != 0 {
        let _ = write!(out, " KEY_BLOCK_SIZE={}", options.key_block_size);
    }
    let texts =
        [("COMPRESSION", &options.compression), ("COMMENT", &options.comment), ("CONNECTION", &options.connection)];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        let _ = write!(out, " {name}=");
        append_quoted(text, out);
    }
}

fn column_line(column: &Column, table: Collation, zone: &Zone) -> String {
    let mut out = String::from("  ");
    append_quoted_name(&column.name, &mut out);
    let _ = write!(out, " {}", column_type(&column.data_type));
    let is_bytes = column.data_type.is_string() && column.data_type.collation() == Some(Collation::Binary);
    if let Some(own) = column.data_type.collation().filter(|_| !is_bytes) {
        if column.explicit_collation || own != table {
            let _ = write!(out, " CHARACTER SET {} COLLATE {}", own.charset().name(), own.name());
        } else if !own.is_default() {
            let _ = write!(out, " COLLATE {}", own.name());
        }
    }
    if let Some(generated) = &column.generated {
        let kind = if generated.stored { "STORED" } else { "VIRTUAL" };
        let _ = write!(out, " GENERATED ALWAYS AS ({}) {kind}", generated.expression);
    }
    if !column.nullable {
        out += " NOT NULL";
    } else if matches!(column.data_type, DataType::Timestamp { .. }) {
        out += " NULL";
    }
    if !column.storage_medium.is_empty() {
        let _ = write!(out, " /*!50606 STORAGE {} */", column.storage_medium);
    }
    if !column.column_format.is_empty() {
        let _ = write!(out, " /*!50606 COLUMN_FORMAT {} */", column.column_format);
    }
    if let Some(default) = default_text(column, zone) {
        out += " DEFAULT ";
        out += &default;
    }
    if column.on_update_now {
        let _ = write!(out, " ON UPDATE {}", now_text(&column.data_type));
    }
    if column.auto_increment {
        out += " AUTO_INCREMENT";
    }
    if column.invisible {
        out += " /*!80023 INVISIBLE */";
    }
    if !column.comment.is_empty() {
        out += " COMMENT ";
        append_quoted(&column.comment, &mut out);
    }
    out
}

/// A type as MySQL prints it: members of ENUM and SET are escaped as other texts are.
pub(super) fn column_type(data_type: &DataType) -> String {
    let (DataType::Enum(members) | DataType::Set(members)) = data_type else { return data_type.to_string() };
    let mut out = format!("{}(", data_type.name());
    for (at, name) in members.names().enumerate() {
        if at > 0 {
            out.push(',');
        }
        append_quoted(&to_utf8(name, members.collation()), &mut out);
    }
    out.push(')');
    out
}

fn to_utf8(text: &[u8], collation: Collation) -> String {
    let mut out = Vec::new();
    collation.charset().convert(text, meseta_types::Charset::Utf8mb4, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn now_text(data_type: &DataType) -> String {
    match data_type.decimals() {
        Some(decimals @ 1..) => format!("CURRENT_TIMESTAMP({decimals})"),
        _ => "CURRENT_TIMESTAMP".to_owned(),
    }
}

/// What is behind DEFAULT, if anything.
fn default_text(column: &Column, zone: &Zone) -> Option<String> {
    if column.generated.is_some() || column.auto_increment {
        return None;
    }
    match &column.default {
        ColumnDefault::None => None,
        ColumnDefault::Null if matches!(column.data_type, DataType::Text { .. }) => None,
        ColumnDefault::Null => Some("NULL".to_owned()),
        ColumnDefault::Now => Some(now_text(&column.data_type)),
        ColumnDefault::Expression(text) => Some(format!("({text})")),
        ColumnDefault::Literal(value) => {
            let datum = stored_to_datum(&column.data_type, value.as_value(), zone);
            Some(match datum {
                Datum::Bits { bits, .. } => format!("b'{bits:b}'"),
                Datum::Text(bytes, Collation::Binary) if std::str::from_utf8(bytes).is_err() => hexadecimal(bytes),
                datum => {
                    let mut out = String::new();
                    append_quoted(&text_of(&column.data_type, datum), &mut out);
                    out
                }
            })
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!("0x{digits}")
}

/// A value as a client would read it, in UTF-8.
pub(crate) fn text_of(data_type: &DataType, datum: Datum<'_>) -> String {
    let mut bytes = Vec::new();
    data_type.append_text(datum, &mut bytes);
    match data_type.collation() {
        Some(collation) if collation != Collation::Binary => to_utf8(&bytes, collation),
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

/// The default of a column as information_schema has it: no quotes.
pub(crate) fn default_value(column: &Column, zone: &Zone) -> Option<String> {
    match &column.default {
        _ if column.generated.is_some() || column.auto_increment => None,
        ColumnDefault::None | ColumnDefault::Null => None,
        ColumnDefault::Now => Some(now_text(&column.data_type)),
        ColumnDefault::Expression(text) => Some(text.clone()),
        ColumnDefault::Literal(value) => {
            let datum = stored_to_datum(&column.data_type, value.as_value(), zone);
            Some(match datum {
                Datum::Bits { bits, .. } => format!("b'{bits:b}'"),
                Datum::Text(bytes, Collation::Binary) => hexadecimal(bytes),
                datum => text_of(&column.data_type, datum),
            })
        }
    }
}

fn index_line(index: &Index, table: &Table) -> String {
    let mut out = String::from("  ");
    if index.is_primary() {
        out += "PRIMARY KEY ";
    } else {
        out += if index.unique { "UNIQUE KEY " } else { "KEY " };
        append_quoted_name(&index.name, &mut out);
        out.push(' ');
    }
    out.push('(');
    for (at, part) in index.parts.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        if let Some(column) = table.columns.get(usize::from(part.column)) {
            append_quoted_name(&column.name, &mut out);
        }
        if let Some(prefix) = part.prefix {
            let _ = write!(out, "({prefix})");
        }
        if part.descending {
            out += " DESC";
        }
    }
    out.push(')');
    if index.using_btree {
        out += " USING BTREE";
    }
    if index.key_block_size != 0 && index.key_block_size != table.options.key_block_size {
        let _ = write!(out, " KEY_BLOCK_SIZE={}", index.key_block_size);
    }
    if !index.comment.is_empty() {
        out += " COMMENT ";
        append_quoted(&index.comment, &mut out);
    }
    if index.invisible {
        out += " /*!80000 INVISIBLE */";
    }
    out
}

/// A foreign key as SHOW CREATE TABLE and errors print it.
pub(crate) fn foreign_key_line(key: &ForeignKey, table: &Table, schema: &Schema) -> String {
    let (database, parent, parent_columns) = key.references(schema);
    let own = key.columns.iter().filter_map(|&column| table.columns.get(usize::from(column)));
    let own: Vec<String> = own.map(|column| quoted_name(&column.name)).collect();
    let others: Vec<String> = parent_columns.iter().map(|name| quoted_name(name)).collect();
    let qualifier = if database == table.database { String::new() } else { format!("{}.", quoted_name(&database)) };
    let mut out = format!(
        "  CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {qualifier}{} ({})",
        quoted_name(&key.name),
        own.join(", "),
        quoted_name(&parent),
        others.join(", ")
    );
    for (event, action) in [("DELETE", key.on_delete), ("UPDATE", key.on_update)] {
        if action != ForeignKeyAction::NoAction {
            let _ = write!(out, " ON {event} {}", action.name());
        }
    }
    out
}

/// The statement that would create a database.
pub fn show_create_database(name: &str, database: Database, if_not_exists: bool) -> String {
    let collation = database.collation;
    let condition = if if_not_exists { "/*!32312 IF NOT EXISTS*/ " } else { "" };
    let collate = if !collation.is_default() || collation == Collation::Utf8mb4_0900AiCi {
        format!(" COLLATE {}", collation.name())
    } else {
        String::new()
    };
    let read_only = if database.read_only { " /* READ ONLY=1 */" } else { "" };
    format!(
        "CREATE DATABASE {condition}{} /*!40100 DEFAULT CHARACTER SET {}{collate} */ /*!80016 DEFAULT ENCRYPTION='N' */{read_only}",
        quoted_name(name),
        collation.charset().name(),
    )
}
