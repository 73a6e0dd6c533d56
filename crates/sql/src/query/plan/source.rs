//! Where rows come from: a table, or something like one.

use std::sync::Arc;

use meseta_types::DataType;

use super::bound::BoundSelect;
use super::table::KnownTable;
use super::usable::UsableIndexes;
use super::{Access, Body, ConditionSet, QueryPlan};
use crate::expression::Expr;
use crate::schema::information::VirtualTable;

/// What a source is called.
#[derive(Clone, Debug, Default)]
pub struct SourceName {
    /// Its alias, or its name.
    pub alias: Box<str>,
    /// Its columns.
    pub columns: Vec<Box<str>>,
}

/// One table, or something like one.
#[derive(Debug)]
pub struct Source {
    /// What it is.
    pub kind: SourceKind,
    /// Its first slot.
    pub first_slot: usize,
    /// How many slots it has: one for each column.
    pub width: usize,
    /// What must hold of a row so far.
    pub conditions: Vec<Expr>,
    /// If its rows are to be changed: where the row at hand is kept, as the engine has it.
    pub keeps_row: Option<usize>,
    /// Of a derived table: its SELECTs, until the query around it is planned, which may change them.
    pub unplanned: Vec<BoundSelect>,
}

impl Source {
    /// One without rows.
    pub fn nothing() -> Self {
        let plan = QueryPlan::new(Body::Values(Vec::new()), Vec::new());
        let kind = SourceKind::derived(plan, false);
        Self { kind, first_slot: 0, width: 0, conditions: Vec::new(), keeps_row: None, unplanned: Vec::new() }
    }

    /// The number of the source that has a slot: none, if that is an aggregate's.
    pub fn position_of(sources: &[Self], slot: u32) -> Option<usize> {
        sources.iter().position(|source| source.slots().contains(&slot))
    }

    /// The slots that its columns have in a row.
    pub fn slots(&self) -> std::ops::Range<u32> {
        self.first_slot as u32..(self.first_slot + self.width) as u32
    }

    /// The type of a column; `None` of what is made up.
    pub fn type_of(&self, column: usize) -> Option<&DataType> {
        match &self.kind {
            SourceKind::Table(table) => table.table.columns.get(column).map(|column| &column.data_type),
            SourceKind::Derived { plan, .. } => plan.columns.get(column).map(|column| &column.data_type),
            SourceKind::Virtual(_) | SourceKind::Working(_) => None,
        }
    }

    /// Those of its columns that are read.
    pub fn columns_read(&self) -> Vec<usize> {
        match &self.kind {
            SourceKind::Table(table) => table.columns.iter().map(|&column| usize::from(column)).collect(),
            _ => (0..self.width).collect(),
        }
    }

    /// A copy of a table that has not been planned yet; `None` of anything else.
    pub fn unplanned_copy(&self) -> Option<Self> {
        let SourceKind::Table(table) = &self.kind else { return None };
        let TableSource { table, usable, locking, .. } = &**table;
        let kind = SourceKind::Table(Box::new(TableSource::new(Arc::clone(table), *usable, *locking)));
        Some(Self { kind, first_slot: self.first_slot, width: self.width, ..Self::nothing() })
    }

    /// Takes conditions away, to be asked elsewhere: such as its access does not imply. (None of a union's, which knows them by their
    /// numbers.)
    pub fn take_conditions(&mut self, is_taken: impl Fn(&Expr) -> bool) -> Vec<Expr> {
        if !self.conditions.iter().any(&is_taken) {
            return Vec::new();
        }
        let mut implied = ConditionSet::default();
        if let SourceKind::Table(table) = &mut self.kind {
            if !table.access.union.is_empty() {
                return Vec::new();
            }
            implied = std::mem::take(&mut table.access.implied);
        }
        let (mut own, mut taken, mut own_implied) = (Vec::new(), Vec::new(), ConditionSet::default());
        for (number, condition) in std::mem::take(&mut self.conditions).into_iter().enumerate() {
            if implied.has(number) {
                own_implied.insert(own.len());
            } else if is_taken(&condition) {
                taken.push(condition);
                continue;
            }
            own.push(condition);
        }
        self.conditions = own;
        if let SourceKind::Table(table) = &mut self.kind {
            debug_assert!(taken.is_empty() || table.columns_beside.is_none(), "it is of the conditions as they were");
            table.access.implied = own_implied;
        }
        taken
    }

    /// Says of a table that is locked whether all rows are taken that are found.
    pub fn takes_all(&mut self, takes_all: bool) {
        if let Some(locking) = self.locking_mut() {
            locking.takes_all = takes_all;
        }
    }

    /// How it is locked, if it is a table that is.
    pub fn locking_mut(&mut self) -> Option<&mut LockingPlan> {
        match &mut self.kind {
            SourceKind::Table(table) => table.locking.as_mut(),
            _ => None,
        }
    }

    /// Whether its rows are locked as they are read.
    pub fn is_locked(&self) -> bool {
        matches!(&self.kind, SourceKind::Table(table) if table.locking.is_some())
    }

    /// Whether it has the same rows when it is read again.
    pub fn is_repeatable(&self) -> bool {
        !matches!(self.kind, SourceKind::Derived { is_repeatable: false, .. })
    }

    /// Whether it refers to sources before it.
    pub fn is_lateral(&self) -> bool {
        matches!(self.kind, SourceKind::Derived { is_lateral: true, .. })
    }

    /// As [`super::SelectPlan::compute_constants_once`].
    pub fn compute_constants_once(&mut self, next: &mut u32) {
        self.conditions.iter_mut().for_each(|condition| condition.compute_constants_once(next));
    }
}

/// Where rows come from.
pub enum SourceKind {
    /// A table's.
    Table(Box<TableSource>),
    /// A query's: a derived table, a view.
    Derived {
        /// The query.
        plan: Box<QueryPlan>,
        /// Whether it refers to sources before it (LATERAL).
        is_lateral: bool,
        /// [`QueryPlan::is_repeatable`]: conditions that it is given later are repeatable.
        is_repeatable: bool,
    },
    /// Made up: information_schema.
    Virtual(&'static dyn VirtualTable),
    /// The rows that came last, of the recursive table with this number.
    Working(usize),
}

impl SourceKind {
    /// A query's rows.
    pub fn derived(plan: QueryPlan, is_lateral: bool) -> Self {
        let is_repeatable = plan.is_repeatable();
        SourceKind::Derived { plan: Box::new(plan), is_lateral, is_repeatable }
    }
}

impl std::fmt::Debug for SourceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SourceKind::Table(table) => table.fmt(f),
            SourceKind::Derived { plan, .. } => plan.fmt(f),
            SourceKind::Virtual(table) => f.write_str(table.name()),
            SourceKind::Working(number) => write!(f, "working {number}"),
        }
    }
}

/// How a table is read.
#[derive(Debug)]
pub struct TableSource {
    /// The table.
    pub table: Arc<KnownTable>,
    /// Its columns that are asked for, ascending.
    pub columns: Vec<u16>,
    /// Those of them that are still asked for where these conditions are known to hold.
    pub columns_beside: Option<(ConditionSet, Vec<u16>)>,
    /// The indexes that may be used for it.
    pub usable: UsableIndexes,
    /// How its rows are found.
    pub access: Access,
    /// Whether they are locked.
    pub locking: Option<LockingPlan>,
}

impl TableSource {
    /// One that is yet to be planned.
    pub fn new(table: Arc<KnownTable>, usable: UsableIndexes, locking: Option<LockingPlan>) -> Self {
        Self { table, columns: Vec::new(), columns_beside: None, usable, access: Access::all(), locking }
    }

    /// The columns that are asked for where these conditions are known to hold.
    pub fn columns_where(&self, known: ConditionSet) -> &[u16] {
        match &self.columns_beside {
            Some((conditions, columns)) if *conditions == known => columns,
            _ => &self.columns,
        }
    }
}

/// FOR UPDATE, FOR SHARE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockingPlan {
    /// FOR UPDATE, and every statement that changes rows.
    pub exclusive: bool,
    /// NOWAIT, SKIP LOCKED.
    pub wait: meseta_parser::ast::LockWait,
    /// Whether all rows are taken that are found, so that none is locked too many if some are locked together.
    pub takes_all: bool,
    /// Whether READ COMMITTED passes by what others have locked where it is not wanted as it was committed last: UPDATE.
    pub passes_by: bool,
}
