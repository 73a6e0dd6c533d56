//! Types: from what was written to what is meant, with MySQL's limits.
//!
//! # Source
//! MySQL Reference Manual, "Data Types"; limits, warnings and their order by experiment.

use std::sync::Arc;

use meseta_errors::*;
use meseta_parser::ast::{self, TypeKind};
use meseta_types::{Charset, Collation, DataType, IntegerSize, Members, Number, TextSize};

use super::{DefinitionContext, name};
use crate::error::{Error, Result};

const ZEROFILL_WARNING: &str = "The ZEROFILL attribute is deprecated and will be removed in a future release. Use the LPAD \
                                function to zero-pad numbers, or store the formatted numbers in a CHAR column.";

/// A type, and whether its character set or collation was named.
pub struct Bound {
    pub data_type: DataType,
    pub explicit_collation: bool,
}

impl DefinitionContext<'_> {
    /// The character set of this name, with MySQL's warnings about old names. Errors: 1115.
    pub(super) fn character_set(&mut self, given: ast::Text<'_>) -> Result<Charset> {
        let given = name::text(given);
        let charset = Charset::parse(&given)?;
        if given.eq_ignore_ascii_case("utf8") {
            self.warn(ER_DEPRECATED_UTF8_ALIAS, &[]);
        } else if charset == Charset::Utf8mb3 {
            self.warn(ER_WARN_DEPRECATED_SYNTAX, &[&"utf8mb3", &"utf8mb4"]);
        }
        Ok(charset)
    }

    /// The collation of this name. Errors: 1273.
    pub(super) fn collation(&mut self, given: ast::Text<'_>) -> Result<Collation> {
        let collation = Collation::parse(&name::text(given))?;
        if collation.charset() == Charset::Utf8mb3 {
            self.warn(ER_WARN_DEPRECATED_UTF8MB3_COLLATION, &[&collation.name()]);
        }
        Ok(collation)
    }

    fn no_replacement(&mut self, message: &str) {
        let condition = meseta_types::SqlError::new(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.0, message);
        self.context.warnings.warn(condition);
    }

    /// The warnings that reading a type gives.
    pub(super) fn warn_of_type(&mut self, given: &ast::DataType<'_>) {
        let is_integer = matches!(
            given.kind,
            TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt
        );
        let is_approximate = matches!(given.kind, TypeKind::Float | TypeKind::Double | TypeKind::Real);
        if is_approximate && given.scale.is_some() {
            self.no_replacement(
                "Specifying number of digits for floating point data types is deprecated and will be removed in a future \
                 release.",
            );
        }
        if given.unsigned && (is_approximate || matches!(given.kind, TypeKind::Decimal)) {
            self.no_replacement(
                "UNSIGNED for decimal and floating point data types is deprecated and support for it will be removed in a \
                 future release.",
            );
        }
        if given.zerofill {
            self.no_replacement(ZEROFILL_WARNING);
        }
        if is_integer && given.length.is_some() {
            self.no_replacement("Integer display width is deprecated and will be removed in a future release.");
        }
        if matches!(given.kind, TypeKind::Year) && given.length.is_some_and(|length| number(length) == 4) {
            self.warn(ER_WARN_DEPRECATED_SYNTAX, &[&"YEAR(4)", &"YEAR"]);
        }
        if matches!(given.kind, TypeKind::NationalChar | TypeKind::NationalVarChar) {
            self.warn(ER_DEPRECATED_NATIONAL, &[]);
        }
        if given.binary {
            let instead = "a CHARACTER SET clause with _bin collation";
            self.warn(ER_WARN_DEPRECATED_SYNTAX, &[&"BINARY as attribute of a type", &instead]);
        }
    }

    /// The type that is meant. `collate` is the column's COLLATE, `table` the table's collation.
    pub(super) fn bind_type(
        &mut self,
        given: &ast::DataType<'_>,
        column: &str,
        collate: Option<Collation>,
        table: Collation,
    ) -> Result<Bound> {
        let numbers = Number { unsigned: given.unsigned, zerofill: given.zerofill };
        let plain = |data_type| Ok(Bound { data_type, explicit_collation: false });
        let integer = |size| {
            let display_width = match given.length.map(number) {
                Some(width @ 256..) => {
                    let _ = width;
                    return Err(Error::new(ER_TOO_BIG_DISPLAYWIDTH, &[&column, &255]));
                }
                Some(0) | None => None,
                Some(width) => Some(width as u8),
            };
            plain(DataType::Integer { size, number: numbers, display_width })
        };
        match given.kind {
            TypeKind::TinyInt => integer(IntegerSize::Tiny),
            TypeKind::SmallInt => integer(IntegerSize::Small),
            TypeKind::MediumInt => integer(IntegerSize::Medium),
            TypeKind::Int => integer(IntegerSize::Int),
            TypeKind::BigInt => integer(IntegerSize::Big),
            TypeKind::Bool => {
                plain(DataType::Integer { size: IntegerSize::Tiny, number: Number::default(), display_width: Some(1) })
            }
            TypeKind::Serial => plain(DataType::BIGINT_UNSIGNED),
            TypeKind::Decimal => {
                let scale = given.scale.map_or(0, number);
                let precision = match given.length.map_or(10, number) {
                    0 => 10,
                    precision => precision,
                };
                check_digits(column, precision, scale, 65, ER_TOO_BIG_PRECISION)?;
                plain(DataType::Decimal { precision: precision as u8, scale: scale as u8, number: numbers })
            }
            TypeKind::Float | TypeKind::Double | TypeKind::Real => {
                let is_float = match given.kind {
                    TypeKind::Float => true,
                    TypeKind::Real => self.real_as_float,
                    _ => false,
                };
                let digits = match (given.length.map(number), given.scale.map(number)) {
                    (Some(precision), Some(scale)) => {
                        check_digits(column, precision, scale, 255, ER_TOO_BIG_DISPLAYWIDTH)?;
                        Some((precision as u8, scale as u8))
                    }
                    (Some(bits), None) if bits > 53 => return Err(Error::new(ER_WRONG_FIELD_SPEC, &[&column])),
                    (Some(bits), None) if bits > 24 => {
                        return plain(DataType::Double { digits: None, number: numbers });
                    }
                    _ => None,
                };
                plain(match is_float {
                    true => DataType::Float { digits, number: numbers },
                    false => DataType::Double { digits, number: numbers },
                })
            }
            TypeKind::Bit => match given.length.map_or(1, number) {
                0 => Err(Error::new(ER_INVALID_FIELD_SIZE, &[&column])),
                65.. => Err(Error::new(ER_TOO_BIG_DISPLAYWIDTH, &[&column, &64])),
                width => plain(DataType::Bit { width: width as u8 }),
            },
            TypeKind::Year => match given.length.map_or(4, number) {
                4 => plain(DataType::Year),
                _ => Err(Error::new(ER_INVALID_YEAR_COLUMN_LENGTH, &[&"YEAR"])),
            },
            TypeKind::Date => plain(DataType::Date),
            TypeKind::Time | TypeKind::Datetime | TypeKind::Timestamp => {
                let decimals = given.length.map_or(0, number);
                if decimals > 6 {
                    return Err(Error::new(ER_TOO_BIG_PRECISION, &[&decimals, &column, &6]));
                }
                let decimals = decimals as u8;
                plain(match given.kind {
                    TypeKind::Time => DataType::Time { decimals },
                    TypeKind::Datetime => DataType::DateTime { decimals },
                    _ => DataType::Timestamp { decimals },
                })
            }
            TypeKind::Json => plain(DataType::Json),
            TypeKind::Vector => Err(Error::not_yet("VECTOR")),
            TypeKind::Geometry(_) => Err(Error::not_yet("spatial types")),
            _ => self.text_type(given, column, collate, table),
        }
    }

    fn text_type(
        &mut self,
        given: &ast::DataType<'_>,
        column: &str,
        collate: Option<Collation>,
        table: Collation,
    ) -> Result<Bound> {
        let is_bytes = matches!(
            given.kind,
            TypeKind::Binary
                | TypeKind::VarBinary
                | TypeKind::TinyBlob
                | TypeKind::Blob
                | TypeKind::MediumBlob
                | TypeKind::LongBlob
        );
        let is_national = matches!(given.kind, TypeKind::NationalChar | TypeKind::NationalVarChar);
        let (collation, explicit_collation) = if is_bytes {
            (Collation::Binary, false)
        } else {
            let charset = match given.character_set {
                Some(name) if !name.eq_ignore_ascii_case(b"DEFAULT") => Some(self.character_set(name)?),
                _ if is_national => Some(Charset::Utf8mb3),
                _ => None,
            };
            match (charset, collate) {
                (Some(charset), Some(collation)) if collation.charset() != charset => {
                    return Err(collation_mismatch(collation, charset));
                }
                (_, Some(collation)) => (collation, true),
                (charset, None) if given.binary => (charset.unwrap_or(table.charset()).binary_collation(), true),
                (Some(charset), None) => (charset.default_collation(), true),
                (None, None) => (table, false),
            }
        };
        let each = u64::from(collation.charset().max_len());
        let length = given.length.map(number);
        let text = |size| DataType::Text { size, collation };
        let members = |names: &[ast::Text<'_>]| self.members(names, collation, column, given);
        let data_type = match given.kind {
            TypeKind::Char | TypeKind::NationalChar | TypeKind::Binary => match length.unwrap_or(1) {
                256.. => return Err(Error::new(ER_TOO_BIG_FIELDLENGTH, &[&column, &255])),
                length => DataType::Char { length: length as u32, collation },
            },
            TypeKind::VarChar | TypeKind::NationalVarChar | TypeKind::VarBinary => {
                let (length, most) = (length.unwrap_or(0), 65_535 / each);
                if length > most {
                    if !self.context.mode.strict && length < u64::from(u32::MAX) {
                        // As MySQL does without strict mode: a text type that is long enough.
                        let becomes = text(TextSize::for_bytes(length * each));
                        let (from, to) = if is_bytes { ("VARBINARY", "BLOB") } else { ("VARCHAR", "TEXT") };
                        self.note(ER_AUTO_CONVERT, &[&column, &from, &to]);
                        return Ok(Bound { data_type: becomes, explicit_collation });
                    }
                    return Err(Error::new(ER_TOO_BIG_FIELDLENGTH, &[&column, &most]));
                }
                DataType::Varchar { length: length as u32, collation }
            }
            TypeKind::TinyText | TypeKind::TinyBlob => text(TextSize::Tiny),
            TypeKind::Text | TypeKind::Blob => match length {
                None | Some(0) => text(TextSize::Normal),
                Some(length) => {
                    let bytes = length.saturating_mul(each);
                    if bytes > u64::from(u32::MAX) {
                        let most = u32::MAX;
                        return Err(Error::new(ER_TOO_BIG_DISPLAYWIDTH, &[&column, &most]));
                    }
                    text(TextSize::for_bytes(bytes))
                }
            },
            TypeKind::MediumText | TypeKind::MediumBlob => text(TextSize::Medium),
            TypeKind::LongText | TypeKind::LongBlob => text(TextSize::Long),
            TypeKind::Enum(names) => DataType::Enum(members(names)?),
            TypeKind::Set(names) => DataType::Set(members(names)?),
            _ => return Err(Error::not_yet("this type")),
        };
        Ok(Bound { data_type, explicit_collation })
    }

    /// The members of an ENUM or SET. Errors: 1291, 1097, 1367.
    fn members(
        &self,
        names: &[ast::Text<'_>],
        collation: Collation,
        column: &str,
        given: &ast::DataType<'_>,
    ) -> Result<Arc<Members>> {
        let is_set = matches!(given.kind, TypeKind::Set(_));
        let from = self.connection_collation.charset();
        let mut converted = Vec::new();
        for name in names {
            let mut bytes = Vec::new();
            from.convert(name, collation.charset(), &mut bytes);
            if is_set && bytes.contains(&b',') {
                let name = String::from_utf8_lossy(name).into_owned();
                return Err(Error::new(ER_ILLEGAL_VALUE_FOR_TYPE, &[&"set", &name]));
            }
            converted.push(bytes);
        }
        if is_set && names.len() > 64 {
            return Err(Error::new(ER_TOO_BIG_SET, &[&column]));
        }
        if names.len() > 65_535 {
            return Err(Error::new(ER_TOO_BIG_ENUM, &[&column]));
        }
        let members = Members::new(converted.iter().map(Vec::as_slice), collation);
        let mut keys = std::collections::HashSet::new();
        for name in members.names() {
            let mut key = Vec::new();
            collation.append_sort_key(name, None, &mut key);
            if !keys.insert(key) {
                // MySQL names the first of the two.
                let first = members.find(name).map_or(name, |at| members.get(at));
                let first = String::from_utf8_lossy(first).into_owned();
                let kind = if is_set { "SET" } else { "ENUM" };
                return Err(Error::new(ER_DUPLICATED_VALUE_IN_TYPE, &[&column, &first, &kind]));
            }
        }
        Ok(Arc::new(members))
    }
}

/// 1253.
pub fn collation_mismatch(collation: Collation, charset: Charset) -> Error {
    Error::new(ER_COLLATION_CHARSET_MISMATCH, &[&collation.name(), &charset.name()])
}

/// The number of some digits; the largest there is, if it has no place.
pub fn number(digits: ast::Text<'_>) -> u64 {
    let text = std::str::from_utf8(&digits).unwrap_or_default();
    if let Some(hexadecimal) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return u64::from_str_radix(hexadecimal, 16).unwrap_or(u64::MAX);
    }
    let digits = text.split('.').next().unwrap_or_default();
    digits.parse().unwrap_or(if digits.is_empty() { 0 } else { u64::MAX })
}

fn check_digits(column: &str, precision: u64, scale: u64, most: u64, too_big: ErrorCode) -> Result<()> {
    if scale > 30 {
        return Err(Error::new(ER_TOO_BIG_SCALE, &[&scale, &column, &30]));
    }
    if precision > most {
        return Err(match too_big {
            ER_TOO_BIG_DISPLAYWIDTH => Error::new(too_big, &[&column, &most]),
            _ => Error::new(too_big, &[&precision, &column, &most]),
        });
    }
    if scale > precision {
        return Err(Error::new(ER_M_BIGGER_THAN_D, &[&column]));
    }
    Ok(())
}
