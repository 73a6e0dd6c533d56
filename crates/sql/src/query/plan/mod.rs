//! What a query is, once its names are bound and its accesses are chosen: shared by all executions, never changed.
//!
//! ```text
//!   QueryPlan: Body   select | set operation | VALUES      + ORDER BY, LIMIT, columns
//!
//!   SelectPlan:  join: Inner [ Source 0, Source 1, Left { Source 2 } ]     rows: one slot for each column of each source
//!                  |  conditions: evaluated as soon as what they name is there
//!                group?  ->  having  ->  items  ->  distinct?  ->  order  ->  limit
//! ```
//!
//! # Rows
//! A SELECT works on one row of slots: those of its sources, one source behind the other, and behind them the values of
//! its aggregates. Expressions name slots by their numbers. Slots of columns that nobody asks for stay NULL.

pub mod bound;
pub mod columns;
pub mod join_tree;
pub mod table;
pub mod usable;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use meseta_engine::Direction;
use meseta_engine::table::TableDefinition;
use meseta_types::{Charset, Collated, DataType};

use self::bound::BoundSelect;
use self::join_tree::Shows;
use self::table::KnownTable;
use self::usable::UsableIndexes;
pub use crate::expression::SortKey;
use crate::expression::aggregate::AggregateCall;
use crate::expression::{Comparer, ComparisonOperator, Expr, InSubquery, Like, QueryColumn};
use crate::query::bind::scope::{Block, slot};
use crate::query::run::early_sort::EarlySort;
use crate::query::run::hash::HashPlan;
use crate::schema::information::VirtualTable;

/// The columns of a result, with what a client is told of them: a plan that runs often says the same each time.
#[derive(Clone, Debug, Default)]
pub struct OutputColumns {
    columns: Vec<OutputColumn>,
    /// As it was told first: for clients who want texts in this character set.
    told: OnceLock<(Option<Charset>, Box<[u8]>)>,
}

impl OutputColumns {
    /// What clients are told who want texts in this character set: made by `encode`, unless it is known.
    pub fn told(
        &self,
        results: Option<Charset>,
        encode: impl Fn(&[OutputColumn], Option<Charset>) -> Vec<u8>,
    ) -> Cow<'_, [u8]> {
        let (known, told) = self.told.get_or_init(|| (results, encode(&self.columns, results).into()));
        if *known == results { Cow::Borrowed(told) } else { Cow::Owned(encode(&self.columns, results)) }
    }
}

impl From<Vec<OutputColumn>> for OutputColumns {
    fn from(columns: Vec<OutputColumn>) -> Self {
        Self { columns, told: OnceLock::new() }
    }
}

impl Deref for OutputColumns {
    type Target = [OutputColumn];

    fn deref(&self) -> &[OutputColumn] {
        &self.columns
    }
}

/// A column of a result, as a client is told of it.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    /// The alias, the column's name, or the source text.
    pub name: Box<[u8]>,
    /// The database, table's alias, table and column that it comes from; empty for what is computed.
    pub origin: Option<Origin>,
    /// Its type.
    pub data_type: DataType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How firmly it holds its collation, if not as a column of a table does: what a literal yields gives way.
    pub collated: Option<Collated>,
}

impl OutputColumn {
    /// One that is made for the occasion.
    pub fn new(name: &str, data_type: DataType, nullable: bool) -> Self {
        Self { name: name.as_bytes().into(), origin: None, data_type, nullable, collated: None }
    }

    /// An expression's, under this name.
    pub fn of(value: &Expr, name: Box<[u8]>) -> Self {
        let (data_type, nullable) = (value.data_type.clone(), value.nullable);
        Self { name, origin: None, data_type, nullable, collated: Some(value.collated) }
    }

    /// As a column of a query inside of an expression.
    pub fn of_query(&self) -> QueryColumn {
        QueryColumn { data_type: self.data_type.clone(), nullable: self.nullable, collated: self.collated }
    }
}

/// Where a column of a result comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The database.
    pub database: Box<str>,
    /// The table's alias.
    pub alias: Box<str>,
    /// The table.
    pub table: Box<str>,
    /// The column's number in the table.
    pub column: usize,
    /// The column's name in the table.
    pub name: Box<str>,
    /// What a client is told of it beside its type: keys, defaults.
    pub flags: u16,
}

impl Origin {
    /// That of a value which was computed and kept.
    pub fn nowhere() -> Self {
        let nothing = || Box::from("");
        Self { database: nothing(), alias: nothing(), table: nothing(), column: 0, name: nothing(), flags: 0 }
    }
}

/// A query.
#[derive(Debug)]
pub struct QueryPlan {
    /// What makes its rows.
    pub body: Body,
    /// Its columns.
    pub columns: OutputColumns,
    /// Of a set operation, by its columns; a SELECT sorts itself.
    pub order: Vec<SortKey>,
    /// How many rows, and how many are passed over before.
    pub limit: Option<LimitPlan>,
}

impl QueryPlan {
    /// One with these columns, all of its rows as they come.
    pub fn new(body: Body, columns: impl Into<OutputColumns>) -> Self {
        Self { body, columns: columns.into(), order: Vec::new(), limit: None }
    }

    /// Has a SELECT show all slots of its sources behind its columns. False if it is another query.
    pub fn show_slots(&mut self, block: &Block) -> bool {
        let Body::Select(select) = &mut self.body else { return false };
        for source in &block.sources {
            for (at, column) in source.columns.iter().enumerate() {
                let number = (source.first_slot + at) as u32;
                select.items.push(slot(number, column.data_type.clone(), true));
            }
        }
        true
    }

    /// Whether it begins by looking for a row of its only table by the primary key, before anything is evaluated that could not be
    /// evaluated again.
    pub fn begins_with_a_row(&self) -> bool {
        let Body::Select(select) = &self.body else { return false };
        let [Source { kind: SourceKind::Table(table), .. }] = &select.sources[..] else { return false };
        table.access.is_point
            && table.access.index == 0
            && select.constant.is_empty()
            && !table.access.lookups().any(Lookup::runs_query)
    }

    /// Whether it has the same rows when it is run again for the same row around it: no RAND(), and no variable is set or read.
    pub fn is_repeatable(&self) -> bool {
        let mut is_repeatable = true;
        self.expressions(&mut |expr| is_repeatable &= expr.is_volatile_free() && !expr.is_of_each_row());
        is_repeatable
    }

    /// Calls with each expression of it, but for those of queries inside of expressions.
    pub fn expressions<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        self.order.iter().for_each(|key| f(&key.value));
        match &self.body {
            Body::Select(select) => select.expressions(f),
            Body::Values(rows) => rows.iter().flatten().for_each(f),
            Body::SetOperation(set) => set.sides.iter().for_each(|side| side.expressions(f)),
            Body::Nested(query) => query.expressions(f),
            Body::Recursive(recursive) => {
                recursive.seeds.iter().chain(&recursive.steps).for_each(|part| part.expressions(f));
            }
        }
    }
}

impl SelectPlan {
    /// One of nothing.
    pub fn nothing() -> Self {
        Self {
            sources: Vec::new(),
            hashes: Vec::new(),
            names: Vec::new(),
            is_ordered: false,
            join: None,
            constant: Vec::new(),
            width: 0,
            shown_rows: 1.0,
            group: None,
            having: Vec::new(),
            items: Vec::new(),
            distinct: false,
            order: Vec::new(),
            is_ordered_by_items: false,
            late_items: false,
            early_sort: None,
        }
    }

    /// Has what is the same for all rows computed once, in what is asked and shown of each row. `next` is a number that the statement
    /// has not used for this.
    pub fn compute_constants_once(&mut self, next: &mut u32) {
        self.sources.iter_mut().for_each(|source| source.compute_constants_once(next));
        self.join.iter_mut().for_each(|join| join.compute_constants_once(next));
        let kept = self.hashes.iter_mut().flatten().flat_map(|hash| &mut hash.conditions);
        let of_groups = self.group.iter_mut().flat_map(GroupPlan::expressions_mut);
        let keys = self.order.iter_mut().map(|key| &mut key.value);
        let shown = self.items.iter_mut().chain(&mut self.having).chain(keys);
        kept.chain(of_groups).chain(shown).for_each(|expression| expression.compute_constants_once(next));
    }

    /// Calls with each expression of it, those of derived tables too.
    fn expressions<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        for source in &self.sources {
            source.conditions.iter().for_each(&mut *f);
            if let SourceKind::Derived { plan, .. } = &source.kind {
                plan.expressions(f);
            }
        }
        self.hashes.iter().flatten().flat_map(|hash| &hash.conditions).for_each(&mut *f);
        self.join.iter().for_each(|join| join.expressions(f));
        self.constant.iter().chain(&self.having).chain(&self.items).for_each(&mut *f);
        self.order.iter().for_each(|key| f(&key.value));
        self.group.iter().flat_map(GroupPlan::expressions).for_each(f);
    }
}

impl Join {
    fn compute_constants_once(&mut self, next: &mut u32) {
        match self {
            Join::Source(_) => {}
            Join::Inner(joins) => joins.iter_mut().for_each(|join| join.compute_constants_once(next)),
            Join::Left { left, right, when, on, .. } => {
                left.compute_constants_once(next);
                right.compute_constants_once(next);
                when.iter_mut().chain(on).for_each(|condition| condition.compute_constants_once(next));
            }
            Join::Filter { input, conditions } => {
                input.compute_constants_once(next);
                conditions.iter_mut().for_each(|condition| condition.compute_constants_once(next));
            }
            Join::First(input) => input.compute_constants_once(next),
        }
    }

    /// The numbers of its sources, in the order in which they are read.
    pub fn numbers(&self) -> Vec<usize> {
        match self {
            Join::Source(number) => vec![*number],
            Join::Inner(joins) => joins.iter().flat_map(Join::numbers).collect(),
            Join::Left { left, right, .. } => [left, right].into_iter().flat_map(|join| join.numbers()).collect(),
            Join::Filter { input, .. } | Join::First(input) => input.numbers(),
        }
    }

    /// Calls with each condition of it that is not a source's.
    pub fn expressions<'p>(&'p self, f: &mut dyn FnMut(&'p Expr)) {
        match self {
            Join::Source(_) => {}
            Join::Inner(joins) => joins.iter().for_each(|join| join.expressions(f)),
            Join::Left { left, right, when, on, .. } => {
                left.expressions(f);
                right.expressions(f);
                when.iter().chain(on).for_each(f);
            }
            Join::Filter { input, conditions } => {
                input.expressions(f);
                conditions.iter().for_each(f);
            }
            Join::First(input) => input.expressions(f),
        }
    }
}

/// What makes a query's rows.
#[derive(Debug)]
pub enum Body {
    /// SELECT.
    Select(Box<SelectPlan>),
    /// `VALUES ROW(..), ..`.
    Values(Vec<Vec<Expr>>),
    /// UNION and its like.
    SetOperation(Box<SetPlan>),
    /// One in parentheses, with ORDER BY or LIMIT of its own.
    Nested(Box<QueryPlan>),
    /// A table of WITH RECURSIVE that reads itself.
    Recursive(Box<RecursivePlan>),
}

/// UNION, INTERSECT, EXCEPT.
#[derive(Debug)]
pub struct SetPlan {
    /// Which.
    pub operator: meseta_parser::ast::SetOperator,
    /// Whether rows that are there twice stay twice.
    pub all: bool,
    /// Both sides, with as many columns.
    pub sides: [QueryPlan; 2],
    /// The columns in which they meet: slots of a row, in their types.
    pub columns: Vec<Expr>,
}

/// The recursive part of WITH RECURSIVE.
#[derive(Debug)]
pub struct RecursivePlan {
    /// Its name.
    pub name: Box<str>,
    /// The rows to begin with.
    pub seeds: Vec<QueryPlan>,
    /// What is made of the rows that came last.
    pub steps: Vec<QueryPlan>,
    /// By which number the steps read those rows.
    pub working: usize,
    /// Whether rows that are there already count again.
    pub all: bool,
    /// The columns: slots of a row, in the types of the rows to begin with.
    pub columns: Vec<Expr>,
    /// LIMIT: with so many rows it ends.
    pub limit: Option<LimitPlan>,
}

/// LIMIT.
#[derive(Clone, Debug)]
pub struct LimitPlan {
    /// So many rows at the most.
    pub count: Expr,
    /// So many are passed over.
    pub offset: Option<Expr>,
    /// SQL_CALC_FOUND_ROWS: the rows behind are made too, and counted.
    pub counts_all: bool,
}

impl LimitPlan {
    /// The first so many.
    pub fn first(count: Expr) -> Self {
        Self { count, offset: None, counts_all: false }
    }
}

/// SELECT.
#[derive(Debug)]
pub struct SelectPlan {
    /// Its tables.
    pub sources: Vec<Source>,
    /// How the rows of each are kept in memory, if they are.
    pub hashes: Vec<Option<HashPlan>>,
    /// What each is called: for EXPLAIN.
    pub names: Vec<SourceName>,
    /// Whether the source that is read first is read in the order of ORDER BY, or of groups.
    pub is_ordered: bool,
    /// How they are joined; `None` without FROM.
    pub join: Option<Join>,
    /// Conditions that name no source.
    pub constant: Vec<Expr>,
    /// Slots of a row.
    pub width: usize,
    /// About how many rows it shows.
    pub shown_rows: f64,
    /// GROUP BY and aggregates.
    pub group: Option<GroupPlan>,
    /// HAVING.
    pub having: Vec<Expr>,
    /// What is shown of a row.
    pub items: Vec<Expr>,
    /// Whether equal rows are shown once.
    pub distinct: bool,
    /// Whether they are, and equal rows are neighbours once they are in order.
    pub is_ordered_by_items: bool,
    /// ORDER BY, over a row's slots; empty if the join yields rows in this order.
    pub order: Vec<SortKey>,
    /// Whether items are computed once rows are in order: they count rows in variables, or are made of something and few are wanted.
    pub late_items: bool,
    /// If the first rows are wanted, and their order is one of the first table's.
    pub early_sort: Option<EarlySort>,
}

/// Whether rows that show the same are neighbours once they are in order: they show columns, and are ordered by those columns
/// and by nothing else.
pub fn is_ordered_by_items(order: &[SortKey], items: &[Expr]) -> bool {
    let slots = |exprs: &mut dyn Iterator<Item = &Expr>| -> Option<HashSet<u32>> {
        // (Of documents some are equal that are not the same in order.)
        exprs.map(|expr| expr.as_column().filter(|_| expr.data_type != DataType::Json)).collect()
    };
    let shown = slots(&mut items.iter());
    shown.is_some() && shown == slots(&mut order.iter().map(|key| &key.value))
}

/// What a source is called.
#[derive(Clone, Debug, Default)]
pub struct SourceName {
    /// Its alias, or its name.
    pub alias: Box<str>,
    /// Its columns.
    pub columns: Vec<Box<str>>,
}

/// A query inside an expression. A statement has one list of them, in which expressions name them by their numbers.
#[derive(Debug)]
pub struct Subquery {
    /// What it runs.
    pub plan: QueryPlan,
    /// Whether it refers to rows around it. If not, it is run once.
    pub is_correlated: bool,
    /// The same, of the rows alone that have the value which is looked for beside the row around it: by an index.
    pub by_value: Option<QueryPlan>,
}

/// GROUP BY.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// By what; empty for one group of all rows.
    pub keys: Vec<Expr>,
    /// What is computed of each group. The value of the i-th is in slot `first_slot + i`.
    pub aggregates: Vec<AggregateCall>,
    /// The slot of the first aggregate.
    pub first_slot: usize,
    /// WITH ROLLUP.
    pub rollup: Option<RollupPlan>,
    /// If each aggregate is MIN or MAX of a column that an index has in order: how the rows are found of which the first that has a value
    /// tells it, for each of them. The table's own access is the first of these.
    pub ends: Vec<Access>,
    /// Whether rows come with equal keys one behind the other.
    pub is_sorted: bool,
}

impl GroupPlan {
    /// All that is computed of each row.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        self.keys.iter().chain(self.aggregates.iter().flat_map(AggregateCall::expressions))
    }

    /// The same, to change it.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        self.keys.iter_mut().chain(self.aggregates.iter_mut().flat_map(AggregateCall::expressions_mut))
    }
}

/// WITH ROLLUP: the groups of the first keys alone, too. Expressions over groups see keys in slots of their own, NULL in the
/// rows of all their values.
#[derive(Clone, Debug)]
pub struct RollupPlan {
    /// The slot of the first key's value.
    pub first_key: usize,
    /// GROUPING(..): the numbers of the keys asked for, and the slot of the answer.
    pub groupings: Vec<(Vec<usize>, usize)>,
}

/// How sources are joined.
#[derive(Debug)]
pub enum Join {
    /// One source.
    Source(usize),
    /// One behind the other, each for every row of those before.
    Inner(Vec<Join>),
    /// For every row of the left, those of the right that match; or one of NULLs.
    Left {
        /// The left.
        left: Box<Join>,
        /// The right.
        right: Box<Join>,
        /// What must hold of the row of the left before anything can match it.
        when: Vec<Expr>,
        /// What matches: what could not be made an access or a condition of the right side's sources.
        on: Vec<Expr>,
        /// Slots of the right side: they are NULL if nothing matches.
        slots: Vec<std::ops::Range<usize>>,
        /// Which rows are wanted.
        shows: Shows,
    },
    /// What must hold of the rows of a join, because it could not be asked earlier.
    Filter {
        /// The join.
        input: Box<Join>,
        /// What must hold.
        conditions: Vec<Expr>,
    },
    /// The first row of a join, for each row of what is before it.
    First(Box<Join>),
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

    /// As [`SelectPlan::compute_constants_once`].
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

/// A value that is looked for in an index.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// Rows whose column compares as equal, or as less or greater where it is a bound.
    Value {
        /// The value: of the row so far, or constant.
        value: Expr,
        /// How the column is compared with it.
        comparer: Comparer,
    },
    /// The same, where NULL is equal to NULL.
    Same {
        /// The value.
        value: Expr,
        /// How the column is compared with it.
        comparer: Comparer,
    },
    /// Rows whose column is NULL.
    Null,
    /// Rows whose column begins as a pattern does, before its first wildcard. It is both bounds of a stretch.
    Beginning(Box<Like>),
    /// Rows whose column is equal to one of the values of a query. It is the first of a stretch's.
    EachOf(Box<InSubquery>),
}

impl Lookup {
    /// The value; none of NULL.
    pub fn value(&self) -> Option<&Expr> {
        match self {
            Lookup::Value { value, .. } | Lookup::Same { value, .. } => Some(value),
            Lookup::Beginning(like) => Some(&like.pattern),
            Lookup::Null | Lookup::EachOf(_) => None,
        }
    }

    /// The query whose values are looked for.
    pub fn query(&self) -> Option<&InSubquery> {
        if let Lookup::EachOf(inside) = self { Some(inside) } else { None }
    }

    /// Whether it depends on the rows of sources before.
    pub fn is_by_row(&self) -> bool {
        self.value().is_some_and(Expr::looks_at_columns)
    }

    /// Whether a query has to run before it is known.
    pub fn runs_query(&self) -> bool {
        matches!(self, Lookup::EachOf(_)) || self.value().is_some_and(Expr::has_subquery)
    }
}

/// A part of an index: what its columns behind those of [`Access::equal`] are.
#[derive(Clone, Debug, Default)]
pub struct Stretch {
    /// Values of the columns that come next.
    pub equal: Vec<Lookup>,
    /// From where on, in the column behind those: the value, and whether it is included.
    pub low: Option<(Lookup, bool)>,
    /// To where.
    pub high: Option<(Lookup, bool)>,
}

/// Some of a source's conditions, by their numbers. Those behind the first 64 are in no set.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ConditionSet(u64);

impl ConditionSet {
    /// With one more.
    pub fn insert(&mut self, number: usize) {
        self.0 |= u32::try_from(number).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or(0);
    }

    /// Whether it is in the set.
    pub fn has(self, number: usize) -> bool {
        number < 64 && self.0 >> number & 1 == 1
    }

    /// Whether the first so many are all in the set.
    pub fn has_first(self, count: usize) -> bool {
        self.0.trailing_ones() as usize >= count
    }
}

/// Of all entries that are the same in an index's first columns the first is read, the way that the index is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LooseScan {
    /// So many columns.
    pub parts: usize,
    /// The last is as well.
    pub shows_both_ends: bool,
    /// What is asked of the column behind those is what the bounds say: where they turn out to be wider, all entries are read.
    pub trusts_bounds: bool,
    /// That column, if the first entry in which it is not NULL is to be read too: those with NULL come first, as entries of their own.
    pub passes_null: Option<u16>,
}

/// One of the operands of an OR, each of which has its rows found by an index.
#[derive(Clone, Debug)]
pub struct UnionOperand {
    /// The operand. A row of which one before it is true has been found by that.
    pub condition: Expr,
    /// How the rows are found of which it is true.
    pub access: Access,
}

/// How a table's rows are found.
#[derive(Clone, Debug)]
pub struct Access {
    /// The number of the index; 0 has the rows.
    pub index: usize,
    /// Values of its first columns.
    pub equal: Vec<Lookup>,
    /// The columns behind them are one of these: IN, OR. Then there are no bounds.
    pub any_of: Vec<Stretch>,
    /// So many columns may have any value: of the entries with each of their values those within the bounds are read. Then nothing else is
    /// said of the index's columns.
    pub skips: usize,
    /// From where on, in the column behind those: the value, and whether it is included.
    pub low: Option<(Lookup, bool)>,
    /// To where.
    pub high: Option<(Lookup, bool)>,
    /// OR of several indexes: the rows that each finds. Then there is nothing else.
    pub union: Vec<UnionOperand>,
    /// Which way.
    pub direction: Direction,
    /// Of rows that are the same in the index's first columns not all are read.
    pub loose: Option<LooseScan>,
    /// `equal`, with each of `any_of`, names every column of a unique index: at most one row each.
    pub is_point: bool,
    /// Of the source's conditions, those that say no more than `equal`, `any_of`, `low` and `high`.
    pub implied: ConditionSet,
}

impl Access {
    /// Whether one row at most is read, or entry of a unique index: that whose key `equal` is.
    pub fn is_one_point(&self) -> bool {
        self.is_point && self.any_of.is_empty()
    }

    /// Whether what a condition asks is looked for: by the beginnings of texts, it may be, so that it is asked still, though few rows that
    /// are found do not meet it.
    pub fn looks_for(&self, condition: &Expr, table: &TableDefinition, first_slot: usize) -> bool {
        let parts = &table.indexes[self.index].parts;
        let is_part = |slot: u32| {
            parts.iter().take(self.equal.len()).any(|part| first_slot + usize::from(part.column) == slot as usize)
        };
        condition.as_comparisons().any(|found| found.operator == ComparisonOperator::Equal && is_part(found.column))
    }

    /// All values that are looked for, bounds too.
    pub fn lookups(&self) -> impl Iterator<Item = &Lookup> {
        self.steps().flat_map(|(access, _)| {
            let stretches = access.any_of.iter().flat_map(|stretch| {
                stretch.equal.iter().chain(stretch.low.iter().chain(&stretch.high).map(|(lookup, _)| lookup))
            });
            access.equal.iter().chain(stretches).chain(access.low.iter().chain(&access.high).map(|(lookup, _)| lookup))
        })
    }

    /// Whether what is looked for depends on the rows of sources before.
    pub fn is_by_row(&self) -> bool {
        self.lookups().any(Lookup::is_by_row)
    }

    /// Whether rows of sources before tell where it begins, or ends, and nothing else of them: it finds a good part of all rows for each.
    pub fn is_open_by_row(&self) -> bool {
        let by_row = |bound: &Option<(Lookup, bool)>| bound.as_ref().is_some_and(|(lookup, _)| lookup.is_by_row());
        let has_other = self.low.is_some() && self.high.is_some() || self.equal.iter().any(Lookup::is_by_row);
        (by_row(&self.low) || by_row(&self.high)) && !has_other
    }

    /// Those by which rows are found, one after the other: itself, or those of a union; and the operands up to each.
    pub fn steps(&self) -> impl Iterator<Item = (&Access, &[UnionOperand])> {
        let own: Option<(&Access, &[UnionOperand])> = self.union.is_empty().then_some((self, &[]));
        let operands = self.union.iter().enumerate();
        own.into_iter().chain(operands.map(|(number, operand)| (&operand.access, &self.union[..=number])))
    }

    /// Whether it finds rows in one stretch of one index: they come in its order.
    pub fn is_one_stretch(&self) -> bool {
        self.any_of.is_empty() && self.union.is_empty() && self.skips == 0
    }

    /// Whether it finds all rows.
    pub fn is_whole(&self) -> bool {
        self.is_one_stretch() && self.equal.is_empty() && self.low.is_none() && self.high.is_none()
    }

    /// All rows, as they are.
    pub fn all() -> Self {
        Self {
            index: 0,
            equal: Vec::new(),
            any_of: Vec::new(),
            low: None,
            high: None,
            union: Vec::new(),
            direction: Direction::Ascending,
            loose: None,
            skips: 0,
            is_point: false,
            implied: ConditionSet::default(),
        }
    }
}
