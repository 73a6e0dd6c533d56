//! Functions: called by name, with grammar of their own, over groups and over windows.

use super::*;

/// `name(arguments)`, a built-in, loadable or stored function.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    pub name: ObjectName<'a>,
    pub arguments: List<'a, Expression<'a>>,
    /// What the grammar of this function allows besides arguments.
    pub extra: CallExtra<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum CallExtra<'a> {
    None,
    /// `CURRENT_TIMESTAMP`, `CURRENT_USER` and their like, without parentheses.
    NoParentheses,
    /// `EXTRACT(unit FROM x)`, `TIMESTAMPADD(unit, ..)`, `TIMESTAMPDIFF(unit, ..)`.
    Unit(IntervalUnit),
    /// `GET_FORMAT(DATE, ..)`.
    FormatOf(TemporalFormat),
    /// `TRIM(LEADING x FROM y)`: arguments are `y, x` or `y`.
    Trim(TrimSide),
    /// `CHAR(.. USING charset)`.
    Using(CharacterSetName<'a>),
    /// `WEIGHT_STRING(x AS CHAR(n))`.
    WeightString {
        binary: bool,
        length: Text<'a>,
    },
    /// `f(x AS a, y b)`: the aliases of a loadable function's arguments, as many as arguments.
    Aliases(List<'a, Option<Text<'a>>>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemporalFormat {
    Date,
    Time,
    Datetime,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimSide {
    Both,
    Leading,
    Trailing,
}

/// An aggregate function.
#[derive(Clone, Copy, Debug)]
pub struct Aggregate<'a> {
    pub function: AggregateFunction,
    pub distinct: bool,
    /// Empty for `COUNT(*)`.
    pub arguments: List<'a, Expression<'a>>,
    /// GROUP_CONCAT's.
    pub order_by: List<'a, OrderItem<'a>>,
    /// GROUP_CONCAT's.
    pub separator: Option<Text<'a>>,
    /// `ABSENT ON NULL` of the JSON aggregates.
    pub absent_on_null: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AggregateFunction {
    Count,
    Sum,
    Avg,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
    Std,
    Variance,
    StddevSamp,
    VarSamp,
    GroupConcat,
    JsonArrayagg,
    JsonObjectagg,
    StCollect,
}

/// `function OVER window`.
#[derive(Clone, Copy, Debug)]
pub struct WindowCall<'a> {
    pub function: WindowFunction<'a>,
    pub over: Over<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum WindowFunction<'a> {
    Aggregate(&'a Aggregate<'a>),
    Named {
        function: NamedWindowFunction,
        arguments: List<'a, Expression<'a>>,
        /// `FROM LAST` of NTH_VALUE.
        from_last: bool,
        ignore_nulls: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedWindowFunction {
    RowNumber,
    Rank,
    DenseRank,
    CumeDist,
    PercentRank,
    Ntile,
    Lead,
    Lag,
    FirstValue,
    LastValue,
    NthValue,
}

#[derive(Clone, Copy, Debug)]
pub enum Over<'a> {
    Name(Identifier<'a>),
    Specification(&'a WindowSpecification<'a>),
}

/// `([base] PARTITION BY .. ORDER BY .. frame)`.
#[derive(Clone, Copy, Debug)]
pub struct WindowSpecification<'a> {
    pub base: Option<Identifier<'a>>,
    pub partition_by: List<'a, OrderItem<'a>>,
    pub order_by: List<'a, OrderItem<'a>>,
    pub frame: Option<Frame<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    pub unit: FrameUnit,
    pub start: FrameBound<'a>,
    /// None is the current row.
    pub end: Option<FrameBound<'a>>,
    pub exclude: Option<FrameExclusion>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameUnit {
    Rows,
    Range,
    Groups,
}

#[derive(Clone, Copy, Debug)]
pub enum FrameBound<'a> {
    UnboundedPreceding,
    UnboundedFollowing,
    CurrentRow,
    Preceding { amount: Expression<'a>, unit: Option<IntervalUnit> },
    Following { amount: Expression<'a>, unit: Option<IntervalUnit> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameExclusion {
    CurrentRow,
    Group,
    Ties,
    NoOthers,
}

/// `MATCH (columns) AGAINST (text modifier)`.
#[derive(Clone, Copy, Debug)]
pub struct Match<'a> {
    pub columns: List<'a, ColumnName<'a>>,
    pub against: Expression<'a>,
    pub mode: MatchMode,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchMode {
    NaturalLanguage,
    NaturalLanguageWithQueryExpansion,
    Boolean,
}

/// `JSON_VALUE(document, path RETURNING type .. ON EMPTY .. ON ERROR)`.
#[derive(Clone, Copy, Debug)]
pub struct JsonValue<'a> {
    pub document: Expression<'a>,
    pub path: Text<'a>,
    pub returning: Option<CastType<'a>>,
    pub on_empty: Option<JsonFallback<'a>>,
    pub on_error: Option<JsonFallback<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum JsonFallback<'a> {
    Error,
    Null,
    Default(Expression<'a>),
}
