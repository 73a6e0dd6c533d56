//! Binding: from what was parsed to what can be evaluated.
//!
//! | module | what it binds |
//! |---|---|
//! | `literal` | constants, parameters, variables |
//! | `operator` | arithmetic, conditions, comparisons, rows, LIKE, IN, CASE, CAST |
//! | `call` | functions and aggregates, their arguments |
//! | `parameter` | what parameters that are texts are beside something else |
//! | `describe` | expressions as errors print them |
//!
//! # Invariants
//! 1. Operands are folded before the operation that has them: a constant subtree is one constant in the plan.
//! 2. Texts that meet are in one character set: a conversion is put around those that are not.

pub(super) mod call;
mod describe;
mod literal;
mod operator;
mod parameter;

pub use literal::literal_value;
use meseta_errors::{ER_OPERAND_COLUMNS, ER_STACK_OVERRUN_NEED_MORE};
use meseta_parser::ast::{self, ExpressionKind as A};
use meseta_parser::{Lifted, SqlMode as ParserMode};
use meseta_types::text::{self, Charset};
use meseta_types::{Collated, Collation, DataType, Derivation, IntegerSize, SqlError, SqlMode};
pub use parameter::WholeTexts;

use super::kind::{Compare, ExprKind};
use super::typing::{self, collated_as, collated_of};
use super::value::Value;
use super::{Comparer, ComparisonOperator, Expr, MAX_DEPTH, Scope};
use crate::error::{Error, Result};

/// What binding has to know of the statement and its session.
#[derive(Clone, Copy, Debug)]
pub struct BindFacts<'f> {
    /// The statement's text, from which spans count.
    pub text: &'f [u8],
    /// How the text was read.
    pub parser_mode: ParserMode,
    /// How values behave.
    pub mode: SqlMode,
    /// `collation_connection`; its character set is that of literals.
    pub collation: Collation,
    /// Types of the parameters, slots 0 and on; `DataType::Null` where a type is not known. Parameters beyond are of
    /// unknown type.
    pub parameters: &'f [DataType],
    /// Which of them are texts of whole numbers.
    pub whole_texts: WholeTexts<'f>,
    /// Whether every parameter that is text is ASCII, this time and whenever the plan is used.
    pub parameters_are_ascii: bool,
    /// The literals that are to be slots, in the order of the text; empty if literals are to be constants.
    pub lifted: &'f [Lifted],
    /// The slot of the first lifted literal: the number of parameters, as a rule.
    pub first_lifted: u32,
    /// `div_precision_increment`.
    pub div_precision_increment: u8,
    /// ONLY_FULL_GROUP_BY.
    pub only_full_group_by: bool,
}

impl Default for BindFacts<'_> {
    fn default() -> Self {
        BindFacts {
            text: b"",
            parser_mode: ParserMode::default(),
            mode: SqlMode::DEFAULT,
            collation: Collation::Utf8mb4_0900AiCi,
            parameters: &[],
            whole_texts: WholeTexts::default(),
            parameters_are_ascii: false,
            lifted: &[],
            first_lifted: 0,
            div_precision_increment: 4,
            only_full_group_by: false,
        }
    }
}

/// Binds an expression. Errors: those of the scope; wrong numbers of arguments (1582), functions that there are not
/// (1305), collations that do not go together (1267), rows where values are wanted (1241), too deep (1436).
pub fn bind(expression: &ast::Expression<'_>, scope: &mut dyn Scope, facts: &BindFacts<'_>) -> Result<Expr> {
    Binder { scope, facts, depth: 0 }.scalar(expression)
}

pub(super) struct Binder<'b, 'f> {
    pub(super) scope: &'b mut dyn Scope,
    pub(super) facts: &'b BindFacts<'f>,
    depth: usize,
}

impl Expr {
    /// An expression of a type that is not text.
    pub fn new(kind: ExprKind, data_type: DataType, nullable: bool, connection: Collation) -> Expr {
        let collated = collated_of(&data_type, Derivation::Coercible, connection);
        Expr { kind, data_type, nullable, collated }
    }

    /// A slot of the row: a column, or what is computed of a group.
    pub fn slot(number: u32, data_type: DataType, nullable: bool) -> Expr {
        let collation = data_type.collation();
        let mut expr = Expr::new(ExprKind::Column(number), data_type, nullable, Collation::Utf8mb4_0900AiCi);
        if let Some(collation) = collation {
            (expr.collated.collation, expr.collated.derivation) = (collation, Derivation::Implicit);
        }
        expr
    }

    /// `left = right`.
    pub fn equal(left: Expr, right: Expr) -> Expr {
        let collation = left.data_type.collation().unwrap_or(Collation::Utf8mb4_0900AiCi);
        let comparer = Comparer::new(&left.data_type, &right.data_type, collation);
        Expr::equal_by(left, right, comparer)
    }

    /// The same, compared so.
    pub fn equal_by(left: Expr, right: Expr, comparer: Comparer) -> Expr {
        let kind = ExprKind::Compare(Box::new(Compare { operator: ComparisonOperator::Equal, comparer, left, right }));
        Expr::new(kind, DataType::integer(IntegerSize::Int, false), true, Collation::Utf8mb4_0900AiCi)
    }

    /// A constant.
    pub fn constant(value: Value, data_type: DataType, connection: Collation) -> Expr {
        let nullable = value.get().is_null();
        let mut expr = Expr::new(ExprKind::Constant(value), data_type, nullable, connection);
        if let ExprKind::Constant(Value::Text(text, _)) = &expr.kind {
            expr.collated.ascii = text.is_ascii();
        }
        expr
    }

    /// How many columns it has: a row's, or 1.
    pub(super) fn width(&self) -> usize {
        match &self.kind {
            ExprKind::Row(parts) => parts.len(),
            ExprKind::Subquery(query) => query.columns.len(),
            _ => 1,
        }
    }

    /// Error 1241 if it is a row.
    pub(super) fn check_scalar(self) -> Result<Expr> {
        match self.width() {
            1 => Ok(self),
            _ => Err(Error::new(ER_OPERAND_COLUMNS, &[&1])),
        }
    }
}

impl<'f> Binder<'_, 'f> {
    pub(super) fn new<'b>(scope: &'b mut dyn Scope, facts: &'b BindFacts<'f>) -> Binder<'b, 'f> {
        Binder { scope, facts, depth: 0 }
    }

    /// Binds what must be one value.
    pub(super) fn scalar(&mut self, expression: &ast::Expression<'_>) -> Result<Expr> {
        self.any(expression)?.check_scalar()
    }

    /// Binds what may be a row.
    pub(super) fn any(&mut self, expression: &ast::Expression<'_>) -> Result<Expr> {
        if self.depth >= MAX_DEPTH {
            return Err(Error::new(ER_STACK_OVERRUN_NEED_MORE, &[&0, &0, &0]));
        }
        self.depth += 1;
        let bound = self.one(expression);
        self.depth -= 1;
        Ok(bound?.fold(self.facts.mode))
    }

    fn one(&mut self, expression: &ast::Expression<'_>) -> Result<Expr> {
        match &expression.kind {
            A::Literal(literal) => self.literal(literal, expression.span),
            A::Parameter(number) => Ok(self.parameter(*number)),
            A::Column(name) => self.column(name),
            A::UserVariable(name) => Ok(self.user_variable(name)),
            A::SystemVariable(variable) => self.system_variable(variable),
            A::Assign { variable, value } => self.assignment(variable, value),
            A::Unary { operator, operand } => self.unary(*operator, operand),
            A::Binary { .. } => self.binary(expression),
            A::Is { operand, negated, test } => self.is(operand, *negated, *test),
            A::Between(between) => self.between(between),
            A::In { operand, negated, list } => self.in_list(operand, *negated, list),
            A::InQuery { operand, negated, query } => self.in_query(operand, *negated, query),
            A::Like(like) => self.like(like),
            A::Regexp { operand, negated, pattern } => {
                let found = self.internal_call("regexp_like", &[**operand, **pattern])?;
                Ok(if *negated { self.not(found) } else { found })
            }
            A::MemberOf { value, array } => self.internal_call("member of", &[**value, **array]),
            A::Quantified(quantified) => self.quantified(quantified),
            A::Row(items) => {
                let items = items.iter().map(|item| self.any(item)).collect::<Result<Vec<_>>>()?;
                let nullable = items.iter().any(|item| item.nullable);
                Ok(Expr::new(ExprKind::Row(items), DataType::Null, nullable, self.facts.collation))
            }
            A::Subquery(query) => self.subquery(query),
            A::Exists(query) => {
                let kind = self.scope.exists(query)?;
                Ok(Expr::new(kind, typing::BOOLEAN, false, self.facts.collation))
            }
            A::Case(case) => self.case(case),
            A::Cast(cast) => self.cast(cast),
            A::ConvertUsing { operand, character_set } => self.convert_using(operand, character_set),
            A::Collate { operand, collation } => self.collate(operand, collation),
            A::DateArithmetic(arithmetic) => self.date_arithmetic(arithmetic),
            A::Call(call) => self.call(call),
            A::Aggregate(aggregate) => self.scope.aggregate(aggregate),
            A::Window(window) => self.scope.window(window),
            A::Match(call) => self.scope.full_text(call),
            A::JsonPath { column, path, unquote } => self.json_path(column, path, *unquote),
            A::JsonValue(call) => self.json_value(call),
            A::DefaultOf(name) => self.scope.default_value(Some(name)),
            A::Default => self.scope.default_value(None),
            A::ValuesOf(name) => self.scope.inserted_value(name),
            A::Odbc { operand, .. } => self.any(operand),
        }
    }

    fn column(&mut self, name: &ast::ColumnName<'_>) -> Result<Expr> {
        let column = self.scope.column(name)?;
        let collated = collated_as(column.collated, &column.data_type, self.facts.collation);
        Ok(Expr { kind: column.kind, data_type: column.data_type, nullable: column.nullable, collated })
    }

    fn subquery(&mut self, query: &ast::Query<'_>) -> Result<Expr> {
        let query = self.scope.subquery(query)?;
        let (data_type, collated) =
            query.columns.first().map_or((DataType::Null, None), |column| (column.data_type.clone(), column.collated));
        let collated = collated_as(collated, &data_type, self.facts.collation);
        Ok(Expr { kind: ExprKind::Subquery(query), data_type, nullable: true, collated })
    }
}

/// The collation in which expressions meet. Errors: 1267, 1271.
pub(super) fn common_collation<'e>(
    exprs: impl ExactSizeIterator<Item = &'e Expr>,
    operation: &str,
    connection: Collation,
) -> Result<Collated> {
    let count = exprs.len();
    let mut result: Option<Collated> = None;
    for expr in exprs {
        result = Some(match result {
            None => expr.collated,
            Some(before) => text::aggregate(before, expr.collated, operation).map_err(|error| match count {
                0..=2 => Error::from(error),
                _ => Error::from(SqlError::new(1271, format!("Illegal mix of collations for operation '{operation}'"))),
            })?,
        });
    }
    let result = result.unwrap_or(typing::numeric_collated(connection));
    Ok(match result.derivation {
        Derivation::Numeric => Collated { collation: connection, derivation: Derivation::Coercible, ascii: true },
        _ => result,
    })
}

/// Puts a text into a character set, if it is of another one.
pub(super) fn convert_to(expr: &mut Expr, to: Collated, mode: SqlMode) {
    let (from, target) = (expr.collated.collation.charset(), to.collation.charset());
    let is_text = expr.data_type.collation().is_some() || matches!(expr.data_type, DataType::Json);
    if !is_text || from == target || target == Charset::Binary {
        return;
    }
    if from == Charset::Utf8mb3 && target == Charset::Utf8mb4 {
        return;
    }
    let inner = std::mem::replace(expr, Expr::constant(Value::NULL, DataType::Null, to.collation));
    let data_type = typing::string_type(typing::characters(&inner.data_type), to.collation);
    let nullable = inner.nullable || from == Charset::Binary;
    let collated = Collated { collation: to.collation, ..inner.collated };
    *expr = Expr { kind: ExprKind::Convert(Box::new(inner)), data_type, nullable, collated }.fold(mode);
}

/// Puts texts that meet into one character set, and says which collation is theirs. Errors: 1267, 1271.
pub(super) fn unify(exprs: &mut [&mut Expr], operation: &str, facts: &BindFacts<'_>) -> Result<Collated> {
    let found = common_collation(exprs.iter().map(|expr| &**expr), operation, facts.collation)?;
    for expr in exprs {
        convert_to(expr, found, facts.mode);
    }
    Ok(found)
}

/// The same for comparisons, for which two collations that conflict are an error.
pub(super) fn unify_compared(exprs: &mut [&mut Expr], operation: &str, facts: &BindFacts<'_>) -> Result<Collated> {
    let texts = |expr: &&mut Expr| expr.data_type.collation().is_some() || matches!(expr.data_type, DataType::Json);
    if exprs.iter().filter(|expr| texts(expr)).count() < 2 {
        return Ok(match exprs.iter().find(|expr| texts(expr)) {
            Some(expr) => expr.collated,
            None => typing::numeric_collated(facts.collation),
        });
    }
    let found = unify(exprs, operation, facts)?;
    if found.derivation == Derivation::None && exprs.iter().all(|expr| expr.collated.derivation != Derivation::None) {
        let name = |expr: &Expr| format!("({},IMPLICIT)", expr.collated.collation.name());
        let message = match exprs {
            [left, right] => {
                format!("Illegal mix of collations {} and {} for operation '{operation}'", name(left), name(right))
            }
            _ => format!("Illegal mix of collations for operation '{operation}'"),
        };
        return Err(SqlError::new(if exprs.len() == 2 { 1267 } else { 1271 }, message).into());
    }
    Ok(found)
}
