//! How an expression is computed: the tree that binding makes.

use meseta_types::{CastType, Charset, Collation, DataType, IntervalUnit, arithmetic};

use super::comparer::{Comparer, ComparisonOperator};
use super::function::Function;
use super::once::Once;
use super::value::Value;
use super::{BoundSubquery, Expr};

/// How an expression is computed.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// Always this value.
    Constant(Value),
    /// The value of a parameter, or of a literal that was lifted out of the plan. It may be of another type than the
    /// expression's: parameters are typed anew for each execution.
    Slot(u32),
    /// A column of the row, by its number there. Aggregates of a group are columns too.
    Column(u32),
    /// A column of a row of a query around this one: 0 is the next one out.
    Outer {
        /// How far out.
        level: u32,
        /// Its number there.
        column: u32,
    },
    /// `a + b - c`: arithmetic and bits, from left to right.
    Chain(Box<Chain>),
    /// `-a`, and how an error describes it.
    Negate(Box<Expr>, Box<str>),
    /// `~a`.
    BitNot(Box<Expr>),
    /// `a = b`.
    Compare(Box<Compare>),
    /// `(a, b) < (c, d)`: columns from left to right. (`=`, `<>` and `<=>` become AND and OR of columns.)
    RowCompare(Box<RowCompare>),
    /// `a AND b AND c`.
    And(Vec<Expr>),
    /// `a OR b OR c`.
    Or(Vec<Expr>),
    /// `a XOR b XOR c`.
    Xor(Vec<Expr>),
    /// `NOT a`.
    Not(Box<Expr>),
    /// `a IS [NOT] NULL`, `a IS [NOT] UNKNOWN`.
    IsNull {
        /// What is asked for.
        operand: Box<Expr>,
        /// NOT.
        negated: bool,
    },
    /// `a IS [NOT] TRUE`, `a IS [NOT] FALSE`.
    IsTruth {
        /// What is asked for.
        operand: Box<Expr>,
        /// TRUE or FALSE.
        truth: bool,
        /// NOT.
        negated: bool,
    },
    /// `a BETWEEN b AND c`.
    Between(Box<Between>),
    /// `a IN (b, c)`.
    In(Box<InList>),
    /// `a LIKE b`.
    Like(Box<Like>),
    /// `(a, b)`: no value, but an operand of those that take rows.
    Row(Vec<Expr>),
    /// `(SELECT ...)`: the value of its one row, or NULL. Of several columns: an operand of those that take rows.
    Subquery(BoundSubquery),
    /// `EXISTS (SELECT ...)`.
    Exists(BoundSubquery),
    /// `a IN (SELECT ...)`.
    InSubquery(Box<InSubquery>),
    /// `a > ANY (SELECT ...)`.
    Quantified(Box<Quantified>),
    /// CASE, both kinds; IF, IFNULL, NULLIF and COALESCE are functions.
    Case(Box<Case>),
    /// CAST, CONVERT.
    Cast(Box<Cast>),
    /// The number that a value of TEXT or BLOB begins with, as a double: nothing is warned of what is behind it.
    NumberOf(Box<Expr>),
    /// Text in the character set and with the collation of this expression (`collated`).
    Convert(Box<Expr>),
    /// What is the same for all rows.
    Once(Box<Once>),
    /// A function's call.
    Call(Box<Call>),
    /// `@name`, in lower case.
    UserVariable(Box<str>),
    /// `@name := value`.
    SetUserVariable(Box<str>, Box<Expr>),
    /// `@@name`.
    SystemVariable(Box<SystemVariable>),
}

/// Operators from left to right.
#[derive(Clone, Debug)]
pub struct Chain {
    /// The leftmost operand.
    pub first: Expr,
    /// How an error describes it.
    pub first_text: Box<str>,
    /// What is done to it, in order; at least one.
    pub steps: Vec<Step>,
}

/// An operator and its right operand.
#[derive(Clone, Debug)]
pub struct Step {
    /// The operator.
    pub operator: ChainOperator,
    /// Its right operand.
    pub right: Expr,
    /// How an error describes that.
    pub right_text: Box<str>,
    /// The type of the result.
    pub data_type: DataType,
}

/// An operator of a chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ChainOperator {
    /// Arithmetic.
    Arithmetic(arithmetic::Operator),
    /// Bits; of bytes if `bytes`.
    Bits(BitOperator, bool),
}

/// `& | ^ << >>`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The names say it.
pub enum BitOperator {
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

/// `left operator right`.
#[derive(Clone, Debug)]
pub struct Compare {
    /// Which.
    pub operator: ComparisonOperator,
    /// How.
    pub comparer: Comparer,
    /// Left operand.
    pub left: Expr,
    /// Right operand.
    pub right: Expr,
}

/// `(a, b) < (c, d)`.
#[derive(Clone, Debug)]
pub struct RowCompare {
    /// Which.
    pub operator: ComparisonOperator,
    /// Left, right, how.
    pub columns: Vec<(Expr, Expr, Comparer)>,
}

/// `operand BETWEEN low AND high`.
#[derive(Clone, Debug)]
pub struct Between {
    /// What is compared.
    pub operand: Expr,
    /// Not below this.
    pub low: Expr,
    /// Not above this.
    pub high: Expr,
    /// How it is compared with both.
    pub comparer: Comparer,
    /// NOT.
    pub negated: bool,
}

/// `operand IN (list)`.
#[derive(Clone, Debug)]
pub struct InList {
    /// What is looked for; perhaps a row.
    pub operand: Expr,
    /// Where.
    pub list: Vec<Expr>,
    /// How each is compared; of rows: element by element, column by column.
    pub comparers: Vec<Comparer>,
    /// The integers of the list in order, if it has nothing but constant integers and the operand is one, too.
    pub integers: Option<Box<[i64]>>,
    /// If it may be worth keeping when there are values for its literals: by which number it is kept.
    pub number: Option<u32>,
    /// NOT.
    pub negated: bool,
}

/// `operand LIKE pattern`.
#[derive(Clone, Debug)]
pub struct Like {
    /// The text.
    pub operand: Expr,
    /// The pattern.
    pub pattern: Expr,
    /// The character that takes the meaning from `%` and `_`; none under ESCAPE ''.
    pub escape: Option<u32>,
    /// How characters compare.
    pub collation: Collation,
    /// NOT.
    pub negated: bool,
}

/// `operand IN (query)`.
#[derive(Clone, Debug)]
pub struct InSubquery {
    /// What is looked for: a value, or a row of as many columns as the query's.
    pub operand: Expr,
    /// Where.
    pub query: BoundSubquery,
    /// How each column is compared.
    pub comparers: Vec<Comparer>,
    /// NOT.
    pub negated: bool,
    /// A comparison with one row: NULL if there is none, error 1242 if there are more.
    pub is_one_row: bool,
    /// Whether what is not known is false: it was EXISTS, or is a condition.
    pub unknown_is_false: bool,
    /// About how many rows the query reads.
    pub rows: f64,
    /// Whether a value can be looked for by itself, by an index.
    pub can_look_up: bool,
    /// How much is, before the query is run for all.
    pub look_ups: LookUps,
    /// Whether many values are to be looked for: then its rows are kept at once.
    pub is_asked_often: bool,
}

/// How much is looked up of a query, before it is run for all values: either.
#[derive(Clone, Copy, Default, Debug)]
pub struct LookUps {
    /// So many values.
    pub values: u32,
    /// So many rows that are read for them: one value may have far more than another.
    pub rows: u64,
}

impl InSubquery {
    /// `operand IN (query)`.
    pub fn new(operand: Expr, query: BoundSubquery, comparers: Vec<Comparer>) -> Self {
        Self {
            operand,
            query,
            comparers,
            negated: false,
            is_one_row: false,
            unknown_is_false: false,
            rows: 0.0,
            can_look_up: false,
            look_ups: LookUps::default(),
            is_asked_often: false,
        }
    }

    /// What is looked for: a value for each of the query's columns.
    pub fn operands(&self) -> &[Expr] {
        self.operand.as_row().unwrap_or(std::slice::from_ref(&self.operand))
    }

    /// Whether a row of the query may be NULL, and that tells anything of a value that is in none: there is one column, and what is
    /// not known is not false.
    pub fn may_find_null(&self) -> bool {
        !self.unknown_is_false && matches!(&*self.query.columns, [column] if column.nullable)
    }
}

/// `left operator ANY (query)`.
#[derive(Clone, Debug)]
pub struct Quantified {
    /// What is compared.
    pub left: Expr,
    /// Which comparison.
    pub operator: ComparisonOperator,
    /// How.
    pub comparer: Comparer,
    /// With each row of this.
    pub query: BoundSubquery,
    /// ALL; otherwise ANY.
    pub all: bool,
}

/// CASE.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is compared with each branch's condition.
    pub operand: Option<Expr>,
    /// Condition, its comparison with the operand, result.
    pub branches: Vec<(Expr, Comparer, Expr)>,
    /// ELSE.
    pub otherwise: Option<Expr>,
    /// By which number the keys of branches' values are kept, if they are: no other of the statement has it.
    pub number: Option<u32>,
}

/// CAST.
#[derive(Clone, Debug)]
pub struct Cast {
    /// What is cast.
    pub operand: Expr,
    /// To what.
    pub target: CastType,
    /// How an error describes the operand.
    pub text: Box<str>,
}

/// A call of a function.
#[derive(Clone, Debug)]
pub struct Call {
    /// Which.
    pub function: &'static Function,
    /// Its arguments.
    pub arguments: Vec<Expr>,
    /// What else was written, or found out when it was bound.
    pub extra: Extra,
}

/// What a call has besides arguments.
#[derive(Clone, Debug)]
pub enum Extra {
    /// Nothing.
    None,
    /// EXTRACT(unit FROM x) and the like.
    Unit(IntervalUnit),
    /// How arguments are compared.
    Comparer(Comparer),
    /// How each argument is compared with the first.
    Comparers(Box<[Comparer]>),
    /// TRIM's sides: leading, trailing.
    Sides(bool, bool),
    /// The unit of an interval that is subtracted rather than added.
    Interval(IntervalUnit, bool),
    /// A character set: CHAR(.. USING ..).
    Charset(Charset),
    /// WEIGHT_STRING(x AS CHAR(n)): whether BINARY, and n.
    Weight(bool, Option<u32>),
    /// A text: the kind of GET_FORMAT, the description of an expression for an error.
    Text(Box<str>),
    /// Paths into documents that do not change.
    Paths(Box<[meseta_types::json::Path]>),
    /// JSON_VALUE.
    JsonValue(Box<JsonValue>),
}

/// JSON_VALUE(document, path RETURNING type ON EMPTY ON ERROR).
#[derive(Clone, Debug)]
pub struct JsonValue {
    /// Where.
    pub path: meseta_types::json::Path,
    /// RETURNING.
    pub target: CastType,
    /// ON EMPTY.
    pub on_empty: JsonFallback,
    /// ON ERROR.
    pub on_error: JsonFallback,
}

/// What JSON_VALUE yields where it finds nothing.
#[derive(Clone, Debug)]
pub enum JsonFallback {
    /// NULL.
    Null,
    /// An error.
    Error,
    /// This.
    Default(Expr),
}

/// `@@scope.name`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemVariable {
    /// `Some(true)`: GLOBAL, `Some(false)`: SESSION.
    pub global: Option<bool>,
    /// In lower case, with the prefix and a dot in front if there is one.
    pub name: Box<str>,
}
