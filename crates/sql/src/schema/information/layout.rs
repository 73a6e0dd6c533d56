//! The columns of information_schema's tables, as a MySQL 9.7 server has them: recorded in `layout.txt`.
//!
//! ```text
//!   TABLES                                    a table's name
//!     TABLE_SCHEMA varchar(64) utf8mb3_bin    a column: name, type, `null` if it may be, collation
//! ```
//!
//! ENUM and SET are texts in the recorded tables.

use meseta_types::{Collation, DataType, IntegerSize, TextSize};

use super::VirtualColumn;

static LAYOUT: &str = include_str!("layout.txt");

/// The columns of a table, by its name in capitals; none, if nobody recorded it.
pub fn columns(table: &str) -> Vec<VirtualColumn> {
    let mut lines = LAYOUT.lines().skip_while(|line| *line != table);
    lines.next();
    let words = lines.map_while(|line| line.strip_prefix("  ")?.split_once(' '));
    words.map(|(name, kind)| column(name, kind)).collect()
}

/// A column of this name: type, `null` if it may be, collation.
pub fn column(name: &'static str, kind: &'static str) -> VirtualColumn {
    let mut words = kind.split(' ');
    let kind = words.next().unwrap_or_default();
    let (mut nullable, mut collation) = (false, Collation::Utf8mb3GeneralCi);
    for word in words {
        match word {
            "null" => nullable = true,
            // Of names: case does not count.
            "utf8mb3_tolower_ci" => {}
            name => collation = Collation::parse(name).unwrap_or(collation),
        }
    }
    VirtualColumn { name, data_type: data_type(kind, collation), nullable }
}

fn data_type(kind: &str, collation: Collation) -> DataType {
    let (word, inside) = kind.split_once('(').unwrap_or((kind, ""));
    let length = inside.split([',', ')']).next().and_then(|digits| digits.parse().ok()).unwrap_or(0);
    let text = |size| DataType::Text { size, collation };
    let integer = |size| DataType::integer(size, kind.ends_with("_unsigned"));
    match word {
        "varchar" => DataType::varchar(length, collation),
        "varbinary" => DataType::varchar(length, Collation::Binary),
        // What is sent of an ENUM is of this type too.
        "char" | "enum" => DataType::Char { length, collation },
        "null" => DataType::Null,
        "text" => text(TextSize::Normal),
        "mediumtext" => text(TextSize::Medium),
        "longtext" | "json" => text(TextSize::Long),
        "tinyint" | "tinyint_unsigned" => integer(IntegerSize::Tiny),
        "smallint" | "smallint_unsigned" => integer(IntegerSize::Small),
        "int" | "int_unsigned" => integer(IntegerSize::Int),
        "bigint" | "bigint_unsigned" => integer(IntegerSize::Big),
        "datetime" => DataType::DateTime { decimals: length as u8 },
        "timestamp" => DataType::Timestamp { decimals: length as u8 },
        "float" | "double" | "decimal" => DataType::DOUBLE,
        _ => text(TextSize::Long),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        for table in LAYOUT.lines().filter(|line| !line.starts_with(' ')) {
            let columns = columns(table);
            assert!(!columns.is_empty(), "{table}");
            // InnoDB's own tables have names in small letters.
            let is_upper = columns.iter().all(|column| column.name == column.name.to_uppercase());
            assert!(is_upper || table.starts_with("INNODB_"), "{table}");
        }
        assert_eq!(columns("SCHEMATA").len(), 6);
        assert!(columns("NOSUCH").is_empty());
    }
}
