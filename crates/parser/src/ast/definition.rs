//! Definitions other than tables: indexes, views, databases, tablespaces; DROP, RENAME, TRUNCATE.

use super::*;
use crate::span::Span;

/// `CREATE [UNIQUE | FULLTEXT | SPATIAL] INDEX`.
#[derive(Clone, Copy, Debug)]
pub struct CreateIndex<'a> {
    pub table: ObjectName<'a>,
    pub index: IndexDefinition<'a>,
    pub algorithm: Option<Text<'a>>,
    pub lock: Option<Text<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct DropIndex<'a> {
    pub name: Identifier<'a>,
    pub table: ObjectName<'a>,
    pub algorithm: Option<Text<'a>>,
    pub lock: Option<Text<'a>>,
}

/// CREATE VIEW, and ALTER VIEW with `alter`.
#[derive(Clone, Copy, Debug)]
pub struct CreateView<'a> {
    pub alter: bool,
    pub or_replace: bool,
    pub if_not_exists: bool,
    pub algorithm: Option<ViewAlgorithm>,
    pub definer: Option<AccountName<'a>>,
    /// `SQL SECURITY INVOKER`.
    pub invoker: Option<bool>,
    pub materialized: bool,
    pub name: ObjectName<'a>,
    pub columns: List<'a, Identifier<'a>>,
    pub query: &'a Query<'a>,
    /// The query's text, parentheses included.
    pub source: Span,
    pub check_option: Option<CheckOption>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewAlgorithm {
    Undefined,
    Merge,
    Temptable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOption {
    Cascaded,
    Local,
}

/// CREATE DATABASE, and ALTER DATABASE with `alter`.
#[derive(Clone, Copy, Debug)]
pub struct CreateDatabase<'a> {
    pub alter: bool,
    pub if_not_exists: bool,
    /// None in `ALTER DATABASE` of the current one.
    pub name: Option<Identifier<'a>>,
    pub options: List<'a, DatabaseOption<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum DatabaseOption<'a> {
    CharacterSet(CharacterSetName<'a>),
    Collate(CharacterSetName<'a>),
    Encryption(Text<'a>),
    /// `0`, `1`, `DEFAULT`.
    ReadOnly(Text<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropBehaviour {
    Restrict,
    Cascade,
}

#[derive(Clone, Copy, Debug)]
pub struct DropTables<'a> {
    pub temporary: bool,
    pub if_exists: bool,
    pub tables: List<'a, ObjectName<'a>>,
    pub behaviour: Option<DropBehaviour>,
}

#[derive(Clone, Copy, Debug)]
pub struct DropViews<'a> {
    pub if_exists: bool,
    pub views: List<'a, ObjectName<'a>>,
    pub behaviour: Option<DropBehaviour>,
}

/// CREATE, ALTER, DROP `[UNDO] TABLESPACE`, LOGFILE GROUP.
#[derive(Clone, Copy, Debug)]
pub struct Tablespace<'a> {
    pub action: TablespaceAction<'a>,
    pub undo: bool,
    /// `LOGFILE GROUP`, of NDB.
    pub logfile_group: bool,
    pub name: Identifier<'a>,
    pub options: List<'a, TablespaceOption<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum TablespaceAction<'a> {
    /// The file of ADD DATAFILE or ADD UNDOFILE.
    Create {
        datafile: Option<Text<'a>>,
        logfile_group: Option<Identifier<'a>>,
    },
    AddDatafile(Text<'a>),
    DropDatafile(Text<'a>),
    Rename(Identifier<'a>),
    SetActive(bool),
    /// Options only.
    Alter,
    Drop,
}

#[derive(Clone, Copy, Debug)]
pub enum TablespaceOption<'a> {
    FileBlockSize(Text<'a>),
    InitialSize(Text<'a>),
    AutoextendSize(Text<'a>),
    MaxSize(Text<'a>),
    ExtentSize(Text<'a>),
    UndoBufferSize(Text<'a>),
    RedoBufferSize(Text<'a>),
    Nodegroup(Text<'a>),
    Engine(Text<'a>),
    Wait(bool),
    Comment(Text<'a>),
    Encryption(Text<'a>),
    EngineAttribute(Text<'a>),
}
