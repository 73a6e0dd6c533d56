//! Prepared statements, EXPLAIN, and tables' maintenance.

use super::*;

#[derive(Clone, Copy, Debug)]
pub enum PrepareSource<'a> {
    Text(Text<'a>),
    /// `@x`.
    Variable(Text<'a>),
}

/// EXPLAIN, DESCRIBE, DESC.
#[derive(Clone, Copy, Debug)]
pub struct Explain<'a> {
    pub analyze: bool,
    /// `FORMAT = name`.
    pub format: Option<Text<'a>>,
    /// `INTO @x`.
    pub into: Option<Text<'a>>,
    /// `FOR SCHEMA name`.
    pub schema: Option<Identifier<'a>>,
    pub target: ExplainTarget<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum ExplainTarget<'a> {
    /// `DESCRIBE t [column | 'pattern']`.
    Table {
        name: ObjectName<'a>,
        columns: Option<Text<'a>>,
    },
    Statement(&'a Statement<'a>),
    /// `FOR CONNECTION n`.
    Connection(Text<'a>),
}

/// ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE.
#[derive(Clone, Copy, Debug)]
pub struct Maintenance<'a> {
    pub kind: MaintenanceKind,
    /// `NO_WRITE_TO_BINLOG`, `LOCAL`.
    pub no_binlog: bool,
    pub tables: List<'a, ObjectName<'a>>,
    /// The words behind: `QUICK`, `EXTENDED`, `FOR UPGRADE` ...
    pub options: List<'a, Text<'a>>,
    pub histogram: Option<Histogram<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaintenanceKind {
    Analyze,
    Check,
    Checksum,
    Optimize,
    Repair,
}

/// `UPDATE HISTOGRAM ON a, b ..`, `DROP HISTOGRAM ON a`.
#[derive(Clone, Copy, Debug)]
pub struct Histogram<'a> {
    pub drop: bool,
    pub columns: List<'a, Identifier<'a>>,
    pub buckets: Option<Text<'a>>,
    /// `USING DATA 'json'`.
    pub data: Option<Text<'a>>,
    /// `AUTO UPDATE`, `MANUAL UPDATE`.
    pub auto_update: Option<bool>,
}
