//! CREATE TABLE.

use super::*;

#[derive(Clone, Copy, Debug)]
pub struct CreateTable<'a> {
    pub temporary: bool,
    pub external: bool,
    pub if_not_exists: bool,
    pub name: ObjectName<'a>,
    pub source: CreateTableSource<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum CreateTableSource<'a> {
    /// `LIKE t`.
    Like(ObjectName<'a>),
    Definition {
        elements: List<'a, TableElement<'a>>,
        options: List<'a, TableOption<'a>>,
        partitioning: Option<&'a Partitioning<'a>>,
        /// `IGNORE` or `REPLACE` in front of the query.
        duplicates: LoadDuplicates,
        query: Option<&'a Query<'a>>,
        /// `START TRANSACTION` at the end.
        start_transaction: bool,
    },
}

#[derive(Clone, Copy, Debug)]
pub enum TableElement<'a> {
    Column(ColumnDefinition<'a>),
    Constraint(TableConstraint<'a>),
}

/// An option of a table. Numbers are kept as written.
#[derive(Clone, Copy, Debug)]
pub enum TableOption<'a> {
    Engine(Text<'a>),
    SecondaryEngine(Option<Text<'a>>),
    AutoIncrement(Text<'a>),
    AverageRowLength(Text<'a>),
    CharacterSet(CharacterSetName<'a>),
    Collate(CharacterSetName<'a>),
    Checksum(Text<'a>),
    Comment(Text<'a>),
    Compression(Text<'a>),
    Connection(Text<'a>),
    DataDirectory(Text<'a>),
    IndexDirectory(Text<'a>),
    DelayKeyWrite(Text<'a>),
    Encryption(Text<'a>),
    EngineAttribute(Text<'a>),
    SecondaryEngineAttribute(Text<'a>),
    InsertMethod(Text<'a>),
    KeyBlockSize(Text<'a>),
    MaxRows(Text<'a>),
    MinRows(Text<'a>),
    /// `0`, `1`, `DEFAULT`, as are the next ones of this shape.
    PackKeys(Text<'a>),
    Password(Text<'a>),
    RowFormat(Text<'a>),
    StatsAutoRecalc(Text<'a>),
    StatsPersistent(Text<'a>),
    StatsSamplePages(Text<'a>),
    TableChecksum(Text<'a>),
    Tablespace(Text<'a>),
    Storage(Text<'a>),
    AutoextendSize(Text<'a>),
    StartTransaction,
    Union(List<'a, ObjectName<'a>>),
    /// Options of external tables: the name and the source of the value.
    Other {
        name: Text<'a>,
        value: Text<'a>,
    },
}
