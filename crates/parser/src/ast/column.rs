//! Columns, keys and constraints, as CREATE TABLE and ALTER TABLE write them.

use super::*;
use crate::span::Span;

#[derive(Clone, Copy, Debug)]
pub struct ColumnDefinition<'a> {
    pub name: Identifier<'a>,
    pub data_type: DataType<'a>,
    pub attributes: List<'a, ColumnAttribute<'a>>,
}

/// What may follow a column's type, in the order written.
#[derive(Clone, Copy, Debug)]
pub enum ColumnAttribute<'a> {
    Null,
    NotNull,
    Default(Expression<'a>),
    OnUpdate(Expression<'a>),
    AutoIncrement,
    /// `SERIAL DEFAULT VALUE`: NOT NULL AUTO_INCREMENT UNIQUE.
    Serial,
    PrimaryKey,
    Unique,
    Comment(Text<'a>),
    Collate(CharacterSetName<'a>),
    /// `COLUMN_FORMAT FIXED | DYNAMIC | DEFAULT`.
    ColumnFormat(Text<'a>),
    /// `STORAGE DISK | MEMORY | DEFAULT`.
    Storage(Text<'a>),
    EngineAttribute(Text<'a>),
    SecondaryEngineAttribute(Text<'a>),
    Generated {
        expression: Expression<'a>,
        source: Span,
        stored: bool,
    },
    Visible,
    Invisible,
    SpatialReference(Text<'a>),
    /// Inline REFERENCES.
    References(References<'a>),
    Check(Check<'a>),
    /// `NOT SECONDARY`.
    NotSecondary,
    /// `EXTERNAL_FORMAT 'x'`.
    ExternalFormat(Text<'a>),
    /// `MASKING POLICY name`.
    MaskingPolicy(Identifier<'a>),
}

#[derive(Clone, Copy, Debug)]
pub struct Check<'a> {
    /// `CONSTRAINT name`.
    pub name: Option<Identifier<'a>>,
    pub condition: Expression<'a>,
    /// The condition's text.
    pub source: Span,
    /// None when neither ENFORCED nor NOT ENFORCED was written.
    pub enforced: Option<bool>,
}

#[derive(Clone, Copy, Debug)]
pub struct References<'a> {
    pub table: ObjectName<'a>,
    pub columns: List<'a, Identifier<'a>>,
    pub match_kind: Option<ReferenceMatch>,
    pub on_delete: Option<ReferenceAction>,
    pub on_update: Option<ReferenceAction>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceMatch {
    Full,
    Partial,
    Simple,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceAction {
    Restrict,
    Cascade,
    SetNull,
    NoAction,
    SetDefault,
}

/// A key or constraint beside the columns.
#[derive(Clone, Copy, Debug)]
pub enum TableConstraint<'a> {
    Index(IndexDefinition<'a>),
    ForeignKey {
        constraint: Option<Identifier<'a>>,
        name: Option<Identifier<'a>>,
        columns: List<'a, KeyPart<'a>>,
        references: References<'a>,
    },
    Check(Check<'a>),
}

#[derive(Clone, Copy, Debug)]
pub struct IndexDefinition<'a> {
    pub kind: IndexKind,
    /// `CONSTRAINT name`, of primary and unique keys.
    pub constraint: Option<Identifier<'a>>,
    pub name: Option<Identifier<'a>>,
    pub parts: List<'a, KeyPart<'a>>,
    pub options: List<'a, IndexOption<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexKind {
    Plain,
    Unique,
    Primary,
    Fulltext,
    Spatial,
}

#[derive(Clone, Copy, Debug)]
pub enum KeyPart<'a> {
    Column { name: Identifier<'a>, length: Option<Text<'a>>, descending: bool },
    Expression { expression: Expression<'a>, source: Span, descending: bool },
}

#[derive(Clone, Copy, Debug)]
pub enum IndexOption<'a> {
    Using(IndexAlgorithm),
    KeyBlockSize(Text<'a>),
    Comment(Text<'a>),
    Parser(Identifier<'a>),
    Visible,
    Invisible,
    EngineAttribute(Text<'a>),
    SecondaryEngineAttribute(Text<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexAlgorithm {
    Btree,
    Hash,
    Rtree,
}
