//! Queries: SELECT, VALUES, TABLE, and what joins them.

use super::*;
use crate::span::Span;

/// A query expression with what goes around its body.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub with: Option<&'a With<'a>>,
    pub body: QueryBody<'a>,
    pub order_by: List<'a, OrderItem<'a>>,
    pub limit: Option<Limit<'a>>,
    pub locking: List<'a, Locking<'a>>,
    pub into: Option<&'a SelectInto<'a>>,
    /// Without parentheses around it.
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum QueryBody<'a> {
    Select(&'a Select<'a>),
    /// `VALUES ROW(1, 2), ROW(3, 4)`.
    Values(List<'a, List<'a, Expression<'a>>>),
    /// `TABLE t`.
    Table(ObjectName<'a>),
    SetOperation(&'a SetOperation<'a>),
    Parenthesised(&'a Query<'a>),
}

#[derive(Clone, Copy, Debug)]
pub struct SetOperation<'a> {
    pub operator: SetOperator,
    pub all: bool,
    pub left: QueryBody<'a>,
    pub right: QueryBody<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOperator {
    Union,
    Except,
    /// Binds tighter than the others.
    Intersect,
}

#[derive(Clone, Copy, Debug)]
pub struct With<'a> {
    pub recursive: bool,
    pub tables: List<'a, CommonTable<'a>>,
}

/// `name [(columns)] AS (query)`.
#[derive(Clone, Copy, Debug)]
pub struct CommonTable<'a> {
    pub name: Identifier<'a>,
    pub columns: List<'a, Identifier<'a>>,
    pub query: &'a Query<'a>,
}

#[derive(Clone, Copy, Debug)]
pub struct Select<'a> {
    /// The text of `/*+ ... */`, with its marks.
    pub hints: Option<Text<'a>>,
    pub options: SelectOptions,
    pub items: List<'a, SelectItem<'a>>,
    /// Empty without FROM, and for FROM DUAL. Several are joined by commas.
    pub from: List<'a, TableReference<'a>>,
    pub condition: Option<Expression<'a>>,
    pub group_by: Option<GroupBy<'a>>,
    pub having: Option<Expression<'a>>,
    pub windows: List<'a, (Identifier<'a>, WindowSpecification<'a>)>,
    pub qualify: Option<Expression<'a>>,
    /// Whether FROM was there (with DUAL alone, `from` is empty).
    pub has_from: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelectOptions {
    pub distinct: bool,
    pub all: bool,
    pub high_priority: bool,
    pub straight_join: bool,
    pub sql_small_result: bool,
    pub sql_big_result: bool,
    pub sql_buffer_result: bool,
    pub sql_no_cache: bool,
    pub sql_calc_found_rows: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum SelectItem<'a> {
    /// `*`
    All,
    /// `[schema.]table.*`
    AllOf(ObjectName<'a>),
    Expression {
        expression: Expression<'a>,
        alias: Option<Text<'a>>,
        /// The source text, parentheses included: see [`SelectItem::name`].
        span: Span,
    },
}

#[derive(Clone, Copy, Debug)]
pub struct GroupBy<'a> {
    pub items: List<'a, OrderItem<'a>>,
    pub modifier: GroupModifier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupModifier {
    None,
    Rollup,
    Cube,
    /// `GROUPING SETS (..)`: each item is a row, perhaps an empty one.
    GroupingSets,
}

#[derive(Clone, Copy, Debug)]
pub struct OrderItem<'a> {
    pub expression: Expression<'a>,
    pub descending: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Limit<'a> {
    pub count: Expression<'a>,
    pub offset: Option<Expression<'a>>,
}

/// `FOR UPDATE OF t NOWAIT`, `LOCK IN SHARE MODE`.
#[derive(Clone, Copy, Debug)]
pub struct Locking<'a> {
    /// FOR UPDATE; else FOR SHARE.
    pub exclusive: bool,
    /// All tables when empty.
    pub tables: List<'a, ObjectName<'a>>,
    pub wait: LockWait,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

#[derive(Clone, Copy, Debug)]
pub enum SelectInto<'a> {
    Variables(List<'a, IntoVariable<'a>>),
    Outfile { path: Text<'a>, character_set: Option<CharacterSetName<'a>>, format: FileFormat<'a> },
    Dumpfile(Text<'a>),
}

#[derive(Clone, Copy, Debug)]
pub enum IntoVariable<'a> {
    /// `@x`.
    User(Text<'a>),
    /// A variable of a stored program.
    Local(Identifier<'a>),
}

/// FIELDS and LINES of LOAD DATA and INTO OUTFILE.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileFormat<'a> {
    pub fields_terminated: Option<Text<'a>>,
    pub fields_enclosed: Option<Text<'a>>,
    pub optionally_enclosed: bool,
    pub fields_escaped: Option<Text<'a>>,
    pub lines_terminated: Option<Text<'a>>,
    pub lines_starting: Option<Text<'a>>,
}
