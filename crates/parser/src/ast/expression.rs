//! Expressions.

use super::*;
use crate::span::Span;

/// An expression and where it was read from (parentheses around it excluded).
#[derive(Clone, Copy, Debug)]
pub struct Expression<'a> {
    pub kind: ExpressionKind<'a>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum ExpressionKind<'a> {
    Literal(&'a Literal<'a>),
    /// `?`, counted from 0 in the order of the text.
    Parameter(u32),
    Column(&'a ColumnName<'a>),
    /// `@x`.
    UserVariable(Text<'a>),
    /// `@@global.x`.
    SystemVariable(&'a SystemVariable<'a>),
    /// `@x := value`.
    Assign {
        variable: &'a Text<'a>,
        value: &'a Expression<'a>,
    },
    Unary {
        operator: UnaryOperator,
        operand: &'a Expression<'a>,
    },
    Binary {
        operator: BinaryOperator,
        left: &'a Expression<'a>,
        right: &'a Expression<'a>,
    },
    Is {
        operand: &'a Expression<'a>,
        negated: bool,
        test: IsTest,
    },
    Between(&'a Between<'a>),
    In {
        operand: &'a Expression<'a>,
        negated: bool,
        list: &'a List<'a, Expression<'a>>,
    },
    InQuery {
        operand: &'a Expression<'a>,
        negated: bool,
        query: &'a Query<'a>,
    },
    Like(&'a Like<'a>),
    Regexp {
        operand: &'a Expression<'a>,
        negated: bool,
        pattern: &'a Expression<'a>,
    },
    /// `value MEMBER OF (array)`.
    MemberOf {
        value: &'a Expression<'a>,
        array: &'a Expression<'a>,
    },
    /// `left >= ANY (query)`.
    Quantified(&'a Quantified<'a>),
    /// `(a, b)`, `ROW(a, b)`.
    Row(List<'a, Expression<'a>>),
    /// `(SELECT ...)` where a value stands.
    Subquery(&'a Query<'a>),
    Exists(&'a Query<'a>),
    Case(&'a Case<'a>),
    /// `CAST(x AS type)`, `CONVERT(x, type)`.
    Cast(&'a Cast<'a>),
    /// `CONVERT(x USING charset)`.
    ConvertUsing {
        operand: &'a Expression<'a>,
        character_set: &'a CharacterSetName<'a>,
    },
    Collate {
        operand: &'a Expression<'a>,
        collation: &'a Text<'a>,
    },
    /// `x + INTERVAL n unit` in all its spellings.
    DateArithmetic(&'a DateArithmetic<'a>),
    Call(&'a Call<'a>),
    Aggregate(&'a Aggregate<'a>),
    /// `f(...) OVER ...`, where `f` is a window function or an aggregate.
    Window(&'a WindowCall<'a>),
    Match(&'a Match<'a>),
    /// `column -> '$.path'`, or `->>` with `unquote`.
    JsonPath {
        column: &'a ColumnName<'a>,
        path: &'a Text<'a>,
        unquote: bool,
    },
    JsonValue(&'a JsonValue<'a>),
    /// `DEFAULT(column)`.
    DefaultOf(&'a ColumnName<'a>),
    /// `DEFAULT` where a value is assigned.
    Default,
    /// `VALUES(column)` in ON DUPLICATE KEY UPDATE.
    ValuesOf(&'a ColumnName<'a>),
    /// `{name expression}` of ODBC, where it is not a temporal literal.
    Odbc {
        name: &'a Identifier<'a>,
        operand: &'a Expression<'a>,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOperator {
    /// `NOT x`.
    Not,
    /// `!x`.
    Exclamation,
    Plus,
    Minus,
    /// `~x`.
    BitNot,
    /// `BINARY x`.
    Binary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOperator {
    Or,
    Xor,
    And,
    Equal,
    NullSafeEqual,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    SoundsLike,
    BitOr,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    /// `DIV`.
    IntegerDivide,
    /// `%`, `MOD`.
    Modulo,
    BitXor,
    /// `||` under PIPES_AS_CONCAT.
    Concat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsTest {
    Null,
    True,
    False,
    Unknown,
}

#[derive(Clone, Copy, Debug)]
pub struct Between<'a> {
    pub operand: Expression<'a>,
    pub negated: bool,
    pub low: Expression<'a>,
    pub high: Expression<'a>,
}

#[derive(Clone, Copy, Debug)]
pub struct Like<'a> {
    pub operand: Expression<'a>,
    pub negated: bool,
    pub pattern: Expression<'a>,
    pub escape: Option<Expression<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Quantified<'a> {
    pub left: Expression<'a>,
    /// One of the comparisons, `<=>` excepted.
    pub operator: BinaryOperator,
    /// `ALL`; else `ANY` or `SOME`.
    pub all: bool,
    pub query: &'a Query<'a>,
}

#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    pub operand: Option<Expression<'a>>,
    /// Condition and result.
    pub branches: List<'a, (Expression<'a>, Expression<'a>)>,
    pub otherwise: Option<Expression<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub struct Cast<'a> {
    pub operand: Expression<'a>,
    pub target: CastType<'a>,
    /// `CAST(x AS type ARRAY)`, in functional indexes.
    pub array: bool,
    /// `CAST(x AT TIME ZONE '+00:00' AS DATETIME)`.
    pub time_zone: Option<Text<'a>>,
}

#[derive(Clone, Copy, Debug)]
pub enum CastType<'a> {
    Binary {
        length: Option<Text<'a>>,
    },
    Char {
        length: Option<Text<'a>>,
        character_set: Option<CharacterSetName<'a>>,
        binary: bool,
        national: bool,
    },
    Signed,
    Unsigned,
    Date,
    Year,
    Time {
        precision: Option<Text<'a>>,
    },
    Datetime {
        precision: Option<Text<'a>>,
    },
    Decimal {
        precision: Option<Text<'a>>,
        scale: Option<Text<'a>>,
    },
    Json,
    Real,
    Double,
    Float {
        precision: Option<Text<'a>>,
    },
    Vector {
        length: Option<Text<'a>>,
    },
    /// `POINT`, `GEOMETRYCOLLECTION` ...
    Geometry(GeometryType),
}

/// `date + INTERVAL amount unit`.
#[derive(Clone, Copy, Debug)]
pub struct DateArithmetic<'a> {
    pub date: Expression<'a>,
    pub subtract: bool,
    pub amount: Expression<'a>,
    pub unit: IntervalUnit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

/// `@@[scope.]name`.
#[derive(Clone, Copy, Debug)]
pub struct SystemVariable<'a> {
    /// None is "the session's, or the global one where there is no other".
    pub scope: Option<VariableScope>,
    /// In front of the dot: a key cache or a component.
    pub prefix: Option<Identifier<'a>>,
    pub name: Identifier<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VariableScope {
    Global,
    /// `SESSION`, `LOCAL`.
    Session,
    Persist,
    PersistOnly,
}

impl Expression<'_> {
    /// The value of an integer literal with any number of signs in front, where it fits: `-9223372036854775808` is
    /// itself here.
    pub fn as_integer(&self) -> Option<i128> {
        let mut negative = false;
        let mut expression = self;
        loop {
            match expression.kind {
                ExpressionKind::Unary { operator: UnaryOperator::Minus, operand } => {
                    negative = !negative;
                    expression = operand;
                }
                ExpressionKind::Unary { operator: UnaryOperator::Plus, operand } => expression = operand,
                ExpressionKind::Literal(Literal::Integer(digits)) => {
                    let value: i128 = std::str::from_utf8(digits.0).ok()?.parse().ok()?;
                    return Some(if negative { -value } else { value });
                }
                _ => return None,
            }
        }
    }
}
