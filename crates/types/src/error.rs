//! Errors and warnings of MySQL that values can cause: number, text.
//!
//! The one place with MySQL's numbers in this crate.
//!
//! # Source
//! MySQL Error Message Reference.

use std::fmt;

/// The numbers.
pub mod number {
    #![allow(missing_docs)] // The names are MySQL's.
    pub const UNKNOWN_CHARACTER_SET: u16 = 1115;
    pub const UNKNOWN: u16 = 1105;
    pub const COLUMN_CANNOT_BE_NULL: u16 = 1048;
    pub const CUT_BY_GROUP_CONCAT: u16 = 1260;
    pub const TOO_FEW_FIELDS: u16 = 1261;
    pub const TOO_MANY_FIELDS: u16 = 1262;
    pub const OUT_OF_RANGE: u16 = 1264;
    pub const DATA_TRUNCATED: u16 = 1265;
    pub const CANNOT_AGGREGATE_2_COLLATIONS: u16 = 1267;
    pub const CANNOT_AGGREGATE_3_COLLATIONS: u16 = 1270;
    pub const CANNOT_AGGREGATE_COLLATIONS: u16 = 1271;
    pub const UNKNOWN_COLLATION: u16 = 1273;
    pub const TRUNCATED_WRONG_VALUE: u16 = 1292;
    pub const UNKNOWN_TIME_ZONE: u16 = 1298;
    pub const INVALID_TIMESTAMP: u16 = 1299;
    pub const INVALID_CHARACTER_STRING: u16 = 1300;
    pub const NO_DEFAULT_FOR_FIELD: u16 = 1364;
    pub const DIVISION_BY_ZERO: u16 = 1365;
    pub const INCORRECT_VALUE: u16 = 1366;
    pub const DATA_TOO_LONG: u16 = 1406;
    pub const WRONG_VALUE_FOR_FUNCTION: u16 = 1411;
    pub const TOO_BIG_FOR_SET: u16 = 1439;
    pub const DATETIME_FUNCTION_OVERFLOW: u16 = 1441;
    pub const VALUE_OUT_OF_RANGE: u16 = 1690;
    pub const INVALID_ARGUMENT_FOR_LOGARITHM: u16 = 3020;
    pub const INVALID_JSON_TEXT: u16 = 3140;
    pub const INVALID_JSON_TEXT_IN_PARAMETER: u16 = 3141;
    pub const INVALID_JSON_BINARY: u16 = 3142;
    pub const INVALID_JSON_PATH: u16 = 3143;
    pub const INVALID_JSON_VALUE_FOR_CAST: u16 = 3156;
    pub const INVALID_JSON_CHARACTER_SET: u16 = 3144;
    pub const JSON_DOCUMENT_TOO_DEEP: u16 = 3157;
    pub const JSON_IN_BOOLEAN_CONTEXT: u16 = 3986;
    pub const CANNOT_CONVERT_STRING: u16 = 3988;
    pub const DEPRECATED_DELIMITER: u16 = 4095;
    pub const DEPRECATED_SUPERFLUOUS_DELIMITER: u16 = 4096;
}

/// An error of MySQL: the statement ends with it, unless whoever asked can make a warning of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SqlError {
    /// MySQL's number.
    pub number: u16,
    /// MySQL's text, filled in.
    pub message: String,
}

/// What an operation yields that can fail as one of MySQL does.
pub type Result<T> = std::result::Result<T, SqlError>;

impl SqlError {
    /// An error with this number and text.
    pub fn new(number: u16, message: impl Into<String>) -> Self {
        Self { number, message: message.into() }
    }

    /// 1264: out of range for a column.
    pub fn out_of_range(column: &str, row: u64) -> Self {
        Self::new(number::OUT_OF_RANGE, format!("Out of range value for column '{column}' at row {row}"))
    }

    /// 1265: part of it was lost.
    pub fn data_truncated(column: &str, row: u64) -> Self {
        Self::new(number::DATA_TRUNCATED, format!("Data truncated for column '{column}' at row {row}"))
    }

    /// 1406: too long for a column.
    pub fn data_too_long(column: &str, row: u64) -> Self {
        Self::new(number::DATA_TOO_LONG, format!("Data too long for column '{column}' at row {row}"))
    }

    /// 1366: not a value of the column's type. `kind` is MySQL's word for the type (`integer`, `string`, ...).
    pub fn incorrect_value(kind: &str, value: &[u8], column: &str, row: u64) -> Self {
        let value = printable(value);
        let message = format!("Incorrect {kind} value: '{value}' for column '{column}' at row {row}");
        Self::new(number::INCORRECT_VALUE, message)
    }

    /// 1292 in an assignment: not a date, a time, ... for the column.
    pub fn incorrect_temporal(kind: &str, value: &[u8], column: &str, row: u64) -> Self {
        Self { number: number::TRUNCATED_WRONG_VALUE, ..Self::incorrect_value(kind, value, column, row) }
    }

    /// 1292 in an expression: only the front of it is a value of the type. `kind` is `INTEGER`, `DOUBLE`, `DECIMAL`,
    /// `date`, `datetime`, `time`.
    pub fn truncated_incorrect(kind: &str, value: &[u8]) -> Self {
        let value = printable(value);
        Self::new(number::TRUNCATED_WRONG_VALUE, format!("Truncated incorrect {kind} value: '{value}'"))
    }

    /// 1292 where nothing of a temporal value could be used.
    pub fn incorrect(kind: &str, value: &[u8]) -> Self {
        let value = printable(value);
        Self::new(number::TRUNCATED_WRONG_VALUE, format!("Incorrect {kind} value: '{value}'"))
    }

    /// 1365.
    pub fn division_by_zero() -> Self {
        Self::new(number::DIVISION_BY_ZERO, "Division by 0")
    }

    /// 1690: the result of an expression has no place in its type (`BIGINT`, `BIGINT UNSIGNED`, `DOUBLE`, `DECIMAL`).
    pub fn value_out_of_range(type_name: &str, expression: &str) -> Self {
        Self::new(number::VALUE_OUT_OF_RANGE, format!("{type_name} value is out of range in '{expression}'"))
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.number, self.message)
    }
}

impl std::error::Error for SqlError {}

/// A value as error texts show it: bytes that are not characters as `\xHH`, at most 128 characters or so.
pub fn printable(value: &[u8]) -> String {
    let mut out = String::new();
    for chunk in value.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                ..' ' => out.push_str(&format!("\\x{:02X}", u32::from(character))),
                _ => out.push(character),
            }
            if out.len() >= 128 {
                return out;
            }
        }
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02X}"));
        }
    }
    out
}
