//! Types: of columns and variables, and of CAST.

use super::{K, Parser, Result, T};
use crate::ast::*;

impl<'a> Parser<'a> {
    /// `(n)`, or nothing.
    fn length(&mut self) -> Result<Option<Text<'a>>> {
        if !self.accept_kind(T::LeftParenthesis) {
            return Ok(None);
        }
        let length = self.number_of_type()?;
        self.close()?;
        Ok(Some(length))
    }

    fn number_of_type(&mut self) -> Result<Text<'a>> {
        if self.at_kind(T::Decimal) {
            return self.rounded();
        }
        self.integer()
    }

    fn needed_length(&mut self) -> Result<Option<Text<'a>>> {
        if self.at_kind(T::LeftParenthesis) { self.length() } else { self.fail() }
    }

    /// `(n)`, `(n, m)`, or nothing.
    fn precision(&mut self, data_type: &mut DataType<'a>, scale_needed: bool) -> Result<()> {
        if !self.accept_kind(T::LeftParenthesis) {
            return Ok(());
        }
        data_type.length = Some(self.integer()?);
        if scale_needed || self.at_kind(T::Comma) {
            self.expect_kind(T::Comma)?;
            data_type.scale = Some(self.integer()?);
        }
        self.close()
    }

    fn geometry_type(keyword: K) -> Option<GeometryType> {
        Some(match keyword {
            K::GEOMETRY => GeometryType::Geometry,
            K::POINT => GeometryType::Point,
            K::LINESTRING => GeometryType::LineString,
            K::POLYGON => GeometryType::Polygon,
            K::MULTIPOINT => GeometryType::MultiPoint,
            K::MULTILINESTRING => GeometryType::MultiLineString,
            K::MULTIPOLYGON => GeometryType::MultiPolygon,
            K::GEOMETRYCOLLECTION | K::GEOMCOLLECTION => GeometryType::GeometryCollection,
            _ => return None,
        })
    }

    /// The type of a column, a parameter or a variable.
    pub(super) fn data_type(&mut self) -> Result<DataType<'a>> {
        use TypeKind as Kind;
        let keyword = self.token.keyword;
        let mut data_type = DataType {
            kind: Kind::Int,
            length: None,
            scale: None,
            unsigned: false,
            zerofill: false,
            character_set: None,
            binary: false,
        };
        let kind = match keyword {
            K::TINYINT | K::INT1 => Kind::TinyInt,
            K::SMALLINT | K::INT2 => Kind::SmallInt,
            K::MEDIUMINT | K::MIDDLEINT | K::INT3 => Kind::MediumInt,
            K::INT | K::INTEGER | K::INT4 => Kind::Int,
            K::BIGINT | K::INT8 => Kind::BigInt,
            K::BOOL | K::BOOLEAN => Kind::Bool,
            K::SERIAL => Kind::Serial,
            K::DECIMAL | K::DEC | K::NUMERIC | K::FIXED => Kind::Decimal,
            K::FLOAT | K::FLOAT4 => Kind::Float,
            K::DOUBLE | K::FLOAT8 => Kind::Double,
            K::REAL => Kind::Real,
            K::BIT => Kind::Bit,
            K::CHAR | K::CHARACTER => Kind::Char,
            K::VARCHAR | K::VARCHARACTER => Kind::VarChar,
            K::NCHAR => Kind::NationalChar,
            K::NVARCHAR => Kind::NationalVarChar,
            K::NATIONAL => Kind::NationalChar,
            K::BINARY => Kind::Binary,
            K::VARBINARY => Kind::VarBinary,
            K::TINYTEXT => Kind::TinyText,
            K::TEXT => Kind::Text,
            K::MEDIUMTEXT => Kind::MediumText,
            K::LONGTEXT => Kind::LongText,
            K::TINYBLOB => Kind::TinyBlob,
            K::BLOB => Kind::Blob,
            K::MEDIUMBLOB => Kind::MediumBlob,
            K::LONGBLOB => Kind::LongBlob,
            K::LONG => Kind::MediumText,
            K::DATE => Kind::Date,
            K::TIME => Kind::Time,
            K::DATETIME => Kind::Datetime,
            K::TIMESTAMP => Kind::Timestamp,
            K::YEAR => Kind::Year,
            K::JSON => Kind::Json,
            K::VECTOR => Kind::Vector,
            K::ENUM => Kind::Enum(&[]),
            K::SET => Kind::Set(&[]),
            _ => match Self::geometry_type(keyword) {
                Some(geometry) => Kind::Geometry(geometry),
                None => return self.fail(),
            },
        };
        self.advance();
        data_type.kind = kind;
        match kind {
            Kind::TinyInt | Kind::SmallInt | Kind::MediumInt | Kind::Int | Kind::BigInt => {
                data_type.length = self.length()?;
                self.number_attributes(&mut data_type);
            }
            Kind::Decimal => {
                self.precision(&mut data_type, false)?;
                self.number_attributes(&mut data_type);
            }
            Kind::Float => {
                self.precision(&mut data_type, false)?;
                self.number_attributes(&mut data_type);
            }
            Kind::Double | Kind::Real => {
                if keyword == K::DOUBLE {
                    self.accept(K::PRECISION);
                }
                self.precision(&mut data_type, true)?;
                self.number_attributes(&mut data_type);
            }
            Kind::Bit | Kind::Time | Kind::Datetime | Kind::Timestamp | Kind::Blob | Kind::Binary | Kind::Vector => {
                data_type.length = self.length()?;
            }
            Kind::VarBinary => data_type.length = self.needed_length()?,
            Kind::Year => {
                data_type.length = self.length()?;
                self.number_attributes(&mut data_type);
            }
            Kind::Text => {
                data_type.length = self.length()?;
                self.character_attributes(&mut data_type)?;
            }
            Kind::TinyText | Kind::LongText => self.character_attributes(&mut data_type)?,
            Kind::MediumText if keyword == K::LONG => self.long(&mut data_type)?,
            Kind::MediumText => self.character_attributes(&mut data_type)?,
            Kind::Char | Kind::NationalChar => self.character_type(keyword, &mut data_type)?,
            Kind::VarChar | Kind::NationalVarChar => {
                data_type.length = self.needed_length()?;
                self.text_attributes(&mut data_type)?;
            }
            Kind::Enum(_) | Kind::Set(_) => {
                let values = self.parenthesised_list(Parser::string_or_digits)?;
                data_type.kind = if keyword == K::ENUM { Kind::Enum(values) } else { Kind::Set(values) };
                self.character_attributes(&mut data_type)?;
            }
            _ => {}
        }
        Ok(data_type)
    }

    /// `LONG`, `LONG VARCHAR`, `LONG VARBINARY`.
    fn long(&mut self, data_type: &mut DataType<'a>) -> Result<()> {
        if self.accept(K::VARBINARY) {
            data_type.kind = TypeKind::MediumBlob;
            return Ok(());
        }
        if self.accept(K::CHAR) || self.accept(K::CHARACTER) {
            self.expect(K::VARYING)?;
        } else if !self.accept(K::VARCHAR) {
            self.accept(K::VARCHARACTER);
        }
        self.character_attributes(data_type)
    }

    /// `CHAR`, `CHARACTER VARYING`, `NATIONAL CHAR`, `NCHAR VARCHAR` and the rest of this family.
    fn character_type(&mut self, keyword: K, data_type: &mut DataType<'a>) -> Result<()> {
        let mut varying = false;
        if keyword == K::NATIONAL {
            varying = matches!(
                self.expect_any(&[K::CHAR, K::CHARACTER, K::VARCHAR, K::VARCHARACTER])?,
                K::VARCHAR | K::VARCHARACTER
            );
        } else if keyword == K::NCHAR {
            varying = self.accept(K::VARCHAR) || self.accept(K::VARCHARACTER);
        }
        varying = varying || self.accept(K::VARYING);
        if varying {
            let national = matches!(data_type.kind, TypeKind::NationalChar);
            data_type.kind = if national { TypeKind::NationalVarChar } else { TypeKind::VarChar };
            data_type.length = self.needed_length()?;
        } else {
            data_type.length = self.length()?;
        }
        self.text_attributes(data_type)
    }

    fn text_attributes(&mut self, data_type: &mut DataType<'a>) -> Result<()> {
        if matches!(data_type.kind, TypeKind::NationalChar | TypeKind::NationalVarChar) {
            data_type.binary = self.accept(K::BINARY);
            return Ok(());
        }
        self.character_attributes(data_type)
    }

    /// `UNSIGNED`, `SIGNED`, `ZEROFILL` in any order.
    fn number_attributes(&mut self, data_type: &mut DataType<'a>) {
        loop {
            match self.token.keyword {
                K::UNSIGNED => data_type.unsigned = true,
                K::ZEROFILL => data_type.zerofill = true,
                K::SIGNED => {}
                _ => return,
            }
            self.advance();
        }
    }

    /// `CHARACTER SET x`, `ASCII`, `UNICODE`, `BYTE`, with `BINARY` in front or behind.
    fn character_attributes(&mut self, data_type: &mut DataType<'a>) -> Result<()> {
        data_type.binary = self.accept(K::BINARY);
        match self.token.keyword {
            K::ASCII => data_type.character_set = Some(Text(b"latin1")),
            K::UNICODE => data_type.character_set = Some(Text(b"ucs2")),
            K::BYTE if !data_type.binary => data_type.character_set = Some(Text(b"binary")),
            _ => {
                if self.accept_character_set()? {
                    data_type.character_set = Some(self.character_set_name()?);
                    data_type.binary = data_type.binary || self.accept(K::BINARY);
                }
                return Ok(());
            }
        }
        self.advance();
        data_type.binary = data_type.binary || self.accept(K::BINARY);
        Ok(())
    }

    /// The target of CAST.
    pub(super) fn cast_type(&mut self) -> Result<CastType<'a>> {
        let keyword = self.token.keyword;
        if let Some(geometry) = Self::geometry_type(keyword)
            && geometry != GeometryType::Geometry
        {
            self.advance();
            return Ok(CastType::Geometry(geometry));
        }
        match keyword {
            K::NATIONAL => {
                self.advance();
                self.expect_any(&[K::CHAR, K::CHARACTER])?;
            }
            K::BINARY
            | K::NCHAR
            | K::CHAR
            | K::CHARACTER
            | K::SIGNED
            | K::UNSIGNED
            | K::DATE
            | K::YEAR
            | K::TIME
            | K::DATETIME
            | K::DECIMAL
            | K::DEC
            | K::NUMERIC
            | K::FIXED
            | K::JSON
            | K::REAL
            | K::DOUBLE
            | K::FLOAT
            | K::VECTOR => self.advance(),
            _ => return self.fail(),
        }
        Ok(match keyword {
            K::BINARY => CastType::Binary { length: self.length()? },
            K::NCHAR | K::NATIONAL => {
                CastType::Char { length: self.length()?, character_set: None, binary: false, national: true }
            }
            K::CHAR | K::CHARACTER => {
                let mut data_type = DataType {
                    kind: TypeKind::Char,
                    length: self.length()?,
                    scale: None,
                    unsigned: false,
                    zerofill: false,
                    character_set: None,
                    binary: false,
                };
                self.character_attributes(&mut data_type)?;
                let DataType { length, character_set, binary, .. } = data_type;
                CastType::Char { length, character_set, binary, national: false }
            }
            K::SIGNED | K::UNSIGNED => {
                if !self.accept(K::INT) {
                    self.accept(K::INTEGER);
                }
                if keyword == K::SIGNED { CastType::Signed } else { CastType::Unsigned }
            }
            K::DATE => CastType::Date,
            K::YEAR => CastType::Year,
            K::TIME => CastType::Time { precision: self.length()? },
            K::DATETIME => CastType::Datetime { precision: self.length()? },
            K::JSON => CastType::Json,
            K::REAL => CastType::Real,
            K::DOUBLE => {
                self.accept(K::PRECISION);
                CastType::Double
            }
            K::FLOAT => CastType::Float { precision: self.length()? },
            K::VECTOR => CastType::Vector { length: self.length()? },
            _ => {
                let (mut precision, mut scale) = (None, None);
                if self.accept_kind(T::LeftParenthesis) {
                    precision = Some(self.integer()?);
                    if self.accept_kind(T::Comma) {
                        scale = Some(self.integer()?);
                    }
                    self.close()?;
                }
                CastType::Decimal { precision, scale }
            }
        })
    }
}
