//! Types as text.

use std::fmt;

use super::{DataType, IntegerSize, Number, TextSize};
use crate::text::Collation;

impl fmt::Display for DataType {
    /// As `information_schema.columns.COLUMN_TYPE` has it: `int unsigned`, `varchar(20)`, `enum('a','b')`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_bytes = self.collation() == Some(Collation::Binary);
        match self {
            DataType::Null => f.write_str("null"),
            DataType::Integer { size, number, display_width } => {
                f.write_str(self.name())?;
                // Widths went out of use, but for the boolean and for zeros in front.
                match display_width {
                    _ if number.zerofill => write!(f, "({})", self.shown_width())?,
                    Some(1) if *size == IntegerSize::Tiny && !number.unsigned => f.write_str("(1)")?,
                    _ => {}
                }
                number.fmt(f)
            }
            DataType::Decimal { precision, scale, number } => {
                write!(f, "decimal({precision},{scale})")?;
                number.fmt(f)
            }
            DataType::Float { digits, number } | DataType::Double { digits, number } => {
                f.write_str(self.name())?;
                if let Some((precision, scale)) = digits {
                    write!(f, "({precision},{scale})")?;
                }
                number.fmt(f)
            }
            DataType::Bit { width } => write!(f, "bit({width})"),
            DataType::Year | DataType::Date | DataType::Json | DataType::Text { .. } => f.write_str(self.name()),
            DataType::Time { decimals } | DataType::DateTime { decimals } | DataType::Timestamp { decimals } => {
                f.write_str(self.name())?;
                if *decimals > 0 { write!(f, "({decimals})") } else { Ok(()) }
            }
            DataType::Char { length, .. } => write!(f, "{}({length})", if is_bytes { "binary" } else { "char" }),
            DataType::Varchar { length, .. } => {
                write!(f, "{}({length})", if is_bytes { "varbinary" } else { "varchar" })
            }
            DataType::Enum(members) | DataType::Set(members) => {
                write!(f, "{}({members})", self.name())
            }
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.unsigned || self.zerofill {
            f.write_str(" unsigned")?;
        }
        if self.zerofill {
            f.write_str(" zerofill")?;
        }
        Ok(())
    }
}

impl DataType {
    /// As `information_schema.columns.DATA_TYPE` has it: `int`, `varchar`.
    pub fn name(&self) -> &'static str {
        let is_bytes = self.collation() == Some(Collation::Binary);
        match self {
            DataType::Null => "null",
            DataType::Integer { size, .. } => match size {
                IntegerSize::Tiny => "tinyint",
                IntegerSize::Small => "smallint",
                IntegerSize::Medium => "mediumint",
                IntegerSize::Int => "int",
                IntegerSize::Big => "bigint",
            },
            DataType::Decimal { .. } => "decimal",
            DataType::Float { .. } => "float",
            DataType::Double { .. } => "double",
            DataType::Bit { .. } => "bit",
            DataType::Year => "year",
            DataType::Date => "date",
            DataType::Time { .. } => "time",
            DataType::DateTime { .. } => "datetime",
            DataType::Timestamp { .. } => "timestamp",
            DataType::Char { .. } if is_bytes => "binary",
            DataType::Char { .. } => "char",
            DataType::Varchar { .. } if is_bytes => "varbinary",
            DataType::Varchar { .. } => "varchar",
            DataType::Text { size, .. } => match (size, is_bytes) {
                (TextSize::Tiny, false) => "tinytext",
                (TextSize::Normal, false) => "text",
                (TextSize::Medium, false) => "mediumtext",
                (TextSize::Long, false) => "longtext",
                (TextSize::Tiny, true) => "tinyblob",
                (TextSize::Normal, true) => "blob",
                (TextSize::Medium, true) => "mediumblob",
                (TextSize::Long, true) => "longblob",
            },
            DataType::Enum(_) => "enum",
            DataType::Set(_) => "set",
            DataType::Json => "json",
        }
    }

    /// The type as SHOW CREATE TABLE writes it in a table with this collation: character set and collation are named
    /// where they are not the table's.
    pub fn declaration(&self, table: Collation) -> String {
        let mut text = self.to_string();
        if let Some(collation) = self.collation().filter(|own| *own != table && *own != Collation::Binary) {
            if collation.charset() != table.charset() || !collation.is_default() {
                text += " CHARACTER SET ";
                text += collation.charset().name();
            }
            text += " COLLATE ";
            text += collation.name();
        }
        text
    }

    /// The width that ZEROFILL fills, and that a client hears of.
    pub fn shown_width(&self) -> u8 {
        let DataType::Integer { size, number, display_width } = self else { return 0 };
        let unsigned = number.unsigned || number.zerofill;
        display_width.unwrap_or(match (size, unsigned) {
            (IntegerSize::Tiny, false) => 4,
            (IntegerSize::Tiny, true) => 3,
            (IntegerSize::Small, false) => 6,
            (IntegerSize::Small, true) => 5,
            (IntegerSize::Medium, false) => 9,
            (IntegerSize::Medium, true) => 8,
            (IntegerSize::Int, false) => 11,
            (IntegerSize::Int, true) => 10,
            (IntegerSize::Big, _) => 20,
        })
    }
}
