//! Statements that are recognised, and kept as kind, names and text.

use super::*;
use crate::span::Span;

/// CREATE, ALTER and DROP of procedures, functions, triggers, events, libraries.
#[derive(Clone, Copy, Debug)]
pub struct StoredProgram<'a> {
    pub action: ProgramAction,
    pub kind: ProgramKind,
    /// IF EXISTS, IF NOT EXISTS.
    pub conditional: bool,
    pub definer: Option<AccountName<'a>>,
    pub name: ObjectName<'a>,
    /// A trigger's table.
    pub table: Option<ObjectName<'a>>,
    /// Between the name and the body: parameters, characteristics, schedule.
    pub header: Span,
    /// The body's text; empty without one.
    pub body: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramAction {
    Create,
    Alter,
    Drop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramKind {
    Procedure,
    Function,
    /// `CREATE FUNCTION .. SONAME`.
    LoadableFunction,
    Trigger,
    Event,
    Library,
}

/// A statement of administration or replication: what it is, and its text.
#[derive(Clone, Copy, Debug)]
pub struct Administration<'a> {
    pub kind: AdministrationKind,
    /// What it names, if it names one thing.
    pub name: Option<Text<'a>>,
    pub source: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdministrationKind {
    BinlogReplay,
    CacheIndex,
    ChangeReplicationSource,
    ChangeReplicationFilter,
    Clone,
    Diagnostics,
    Help,
    ImportTable,
    Install,
    Instance,
    LoadIndex,
    MaskingPolicy,
    PurgeLogs,
    Reset,
    ResetPersist { if_exists: bool },
    ResourceGroup,
    Restart,
    Server,
    Shutdown,
    Signal,
    SpatialReferenceSystem,
    StartReplica,
    StopReplica,
    GroupReplication,
    Uninstall,
}

#[derive(Clone, Copy, Debug)]
pub struct Flush<'a> {
    pub no_binlog: bool,
    pub what: FlushWhat<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum FlushWhat<'a> {
    Tables {
        tables: List<'a, ObjectName<'a>>,
        mode: FlushTablesMode,
    },
    /// `PRIVILEGES`, `STATUS`, `BINARY LOGS` ... with one blank between the words, in upper case.
    Options(List<'a, Text<'a>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushTablesMode {
    Close,
    WithReadLock,
    ForExport,
}

#[derive(Clone, Copy, Debug)]
pub struct Kill<'a> {
    /// `KILL QUERY`; else the connection.
    pub query: bool,
    pub id: Expression<'a>,
}
