//! PARTITION BY, and definitions of partitions.

use super::*;

#[derive(Clone, Copy, Debug)]
pub struct Partitioning<'a> {
    pub scheme: PartitionScheme<'a>,
    /// `PARTITIONS n`.
    pub count: Option<Text<'a>>,
    pub subpartitioning: Option<(PartitionScheme<'a>, Option<Text<'a>>)>,
    pub partitions: List<'a, PartitionDefinition<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum PartitionScheme<'a> {
    Hash { linear: bool, expression: Expression<'a> },
    Key { linear: bool, algorithm: Option<Text<'a>>, columns: List<'a, Identifier<'a>> },
    Range(PartitionKey<'a>),
    List(PartitionKey<'a>),
}

#[derive(Clone, Copy, Debug)]
pub enum PartitionKey<'a> {
    Expression(Expression<'a>),
    /// `COLUMNS (a, b)`.
    Columns(List<'a, Identifier<'a>>),
}

#[derive(Clone, Copy, Debug)]
pub struct PartitionDefinition<'a> {
    pub name: Identifier<'a>,
    pub values: PartitionValues<'a>,
    pub options: List<'a, PartitionOption<'a>>,
    pub subpartitions: List<'a, Subpartition<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum PartitionValues<'a> {
    None,
    /// `VALUES LESS THAN (..)`; MAXVALUE alone is one bound.
    LessThan(List<'a, PartitionBound<'a>>),
    /// `VALUES IN (..)`: a row for each value.
    In(List<'a, List<'a, PartitionBound<'a>>>),
}

#[derive(Clone, Copy, Debug)]
pub enum PartitionBound<'a> {
    MaxValue,
    Value(Expression<'a>),
}

#[derive(Clone, Copy, Debug)]
pub struct Subpartition<'a> {
    pub name: Identifier<'a>,
    pub options: List<'a, PartitionOption<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum PartitionOption<'a> {
    Engine(Text<'a>),
    Comment(Text<'a>),
    DataDirectory(Text<'a>),
    IndexDirectory(Text<'a>),
    MaxRows(Text<'a>),
    MinRows(Text<'a>),
    Tablespace(Text<'a>),
    Nodegroup(Text<'a>),
}
