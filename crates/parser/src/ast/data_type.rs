//! Types of columns.

use super::*;

/// A column's type, as written: `int(11) unsigned zerofill`.
#[derive(Clone, Copy, Debug)]
pub struct DataType<'a> {
    pub kind: TypeKind<'a>,
    /// In parentheses: width, length, precision.
    pub length: Option<Text<'a>>,
    /// The second number in parentheses.
    pub scale: Option<Text<'a>>,
    pub unsigned: bool,
    pub zerofill: bool,
    pub character_set: Option<CharacterSetName<'a>>,
    /// `BINARY` behind a character type: the character set's binary collation.
    pub binary: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum TypeKind<'a> {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    /// `BOOL`, `BOOLEAN`: TINYINT(1).
    Bool,
    /// `SERIAL`: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    Serial,
    Decimal,
    Float,
    /// `DOUBLE`, `DOUBLE PRECISION`.
    Double,
    /// DOUBLE, or FLOAT under REAL_AS_FLOAT.
    Real,
    Bit,
    Char,
    VarChar,
    /// `NCHAR`, `NATIONAL CHAR`.
    NationalChar,
    NationalVarChar,
    Binary,
    VarBinary,
    TinyText,
    Text,
    MediumText,
    LongText,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    Date,
    Time,
    Datetime,
    Timestamp,
    Year,
    Json,
    Vector,
    Enum(List<'a, Text<'a>>),
    Set(List<'a, Text<'a>>),
    Geometry(GeometryType),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeometryType {
    Geometry,
    Point,
    LineString,
    Polygon,
    MultiPoint,
    MultiLineString,
    MultiPolygon,
    GeometryCollection,
}
