//! Transactions, table locks, XA.

use super::*;

#[derive(Clone, Copy, Debug)]
pub enum Transaction<'a> {
    /// `BEGIN`, `START TRANSACTION`.
    Start {
        consistent_snapshot: bool,
        read_only: Option<bool>,
    },
    /// None where nothing was written: `completion_type` decides.
    Commit {
        chain: Option<bool>,
        release: Option<bool>,
    },
    Rollback {
        chain: Option<bool>,
        release: Option<bool>,
    },
    Savepoint(Identifier<'a>),
    RollbackTo(Identifier<'a>),
    ReleaseSavepoint(Identifier<'a>),
}

#[derive(Clone, Copy, Debug)]
pub struct LockTable<'a> {
    pub table: ObjectName<'a>,
    pub alias: Option<Identifier<'a>>,
    pub mode: TableLockMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableLockMode {
    Read,
    ReadLocal,
    Write,
}

/// The parts of an XA transaction's name, decoded.
#[derive(Clone, Copy, Debug)]
pub struct XaIdentifier<'a> {
    pub global: Text<'a>,
    pub branch: Option<Text<'a>>,
    pub format: Option<Text<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum Xa<'a> {
    Start { id: XaIdentifier<'a>, join: bool, resume: bool },
    End { id: XaIdentifier<'a>, suspend: bool, migrate: bool },
    Prepare(XaIdentifier<'a>),
    Commit { id: XaIdentifier<'a>, one_phase: bool },
    Rollback(XaIdentifier<'a>),
    Recover { convert_id: bool },
}
