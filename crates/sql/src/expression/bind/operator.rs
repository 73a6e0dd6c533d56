//! Operators: arithmetic, conditions, comparisons, rows, LIKE, IN, CASE, CAST.

use meseta_errors::{ER_COLLATION_CHARSET_MISMATCH, ER_OPERAND_COLUMNS, ER_WRONG_ARGUMENTS};
use meseta_parser::ast::{self, BinaryOperator as B, ExpressionKind as A, UnaryOperator};
use meseta_types::arithmetic::Operator;
use meseta_types::comparison::{ComparisonKind, ComparisonType, as_length};
use meseta_types::{CastType, Charset, Collated, Collation, Context, DataType, Datum, Derivation, IntervalUnit};

use super::describe::describe;
use super::parameter::{exact_beside, parameter_of, point_beside_dates};
use super::{BindFacts, Binder, convert_to, unify, unify_compared};
use crate::error::{Error, Result};
use crate::expression::comparer::{Comparer, ComparisonOperator, kind_of};
use crate::expression::evaluate::is_bytes;
use crate::expression::function::is_condition;
use crate::expression::kind::*;
use crate::expression::typing::{self, BOOLEAN, exact_digits, is_integral};
use crate::expression::value::Value;
use crate::expression::{BoundSubquery, Expr, QueryColumn, merge_types};

/// Operators that a chain can have.
fn chain_operator(operator: B) -> Option<ChainOperator> {
    Some(match operator {
        B::Add => ChainOperator::Arithmetic(Operator::Add),
        B::Subtract => ChainOperator::Arithmetic(Operator::Subtract),
        B::Multiply => ChainOperator::Arithmetic(Operator::Multiply),
        B::Divide => ChainOperator::Arithmetic(Operator::Divide),
        B::IntegerDivide => ChainOperator::Arithmetic(Operator::IntegerDivide),
        B::Modulo => ChainOperator::Arithmetic(Operator::Modulo),
        B::BitOr => ChainOperator::Bits(BitOperator::Or, false),
        B::BitAnd => ChainOperator::Bits(BitOperator::And, false),
        B::BitXor => ChainOperator::Bits(BitOperator::Xor, false),
        B::ShiftLeft => ChainOperator::Bits(BitOperator::ShiftLeft, false),
        B::ShiftRight => ChainOperator::Bits(BitOperator::ShiftRight, false),
        _ => return None,
    })
}

fn comparison_operator(operator: B) -> Option<ComparisonOperator> {
    Some(match operator {
        B::Equal => ComparisonOperator::Equal,
        B::NullSafeEqual => ComparisonOperator::NullSafeEqual,
        B::NotEqual => ComparisonOperator::NotEqual,
        B::Less => ComparisonOperator::Less,
        B::LessOrEqual => ComparisonOperator::LessOrEqual,
        B::Greater => ComparisonOperator::Greater,
        B::GreaterOrEqual => ComparisonOperator::GreaterOrEqual,
        _ => return None,
    })
}

/// A hexadecimal literal where a number is wanted.
pub(super) fn numeric_operand(mut expr: Expr) -> Expr {
    if let ExprKind::Constant(Value::Hexadecimal(bytes)) = &expr.kind {
        let number = bytes.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        expr.data_type = typing::unsigned(20);
        expr.kind = ExprKind::Constant(Value::Plain(Datum::Unsigned(number)));
    }
    expr
}

impl Expr {
    /// Where a double is wanted: of a column of TEXT or BLOB the number that it begins with, and no warning of the rest, as a VARCHAR has.
    pub(in crate::expression) fn double_operand(self) -> Expr {
        if !self.is_long_text() {
            return self;
        }
        let (nullable, collation) = (self.nullable, self.collated.collation);
        Expr::new(ExprKind::NumberOf(Box::new(self)), DataType::DOUBLE, nullable, collation)
    }

    /// Whether it is a column of TEXT or BLOB.
    pub(in crate::expression) fn is_long_text(&self) -> bool {
        let is_column = matches!(self.kind, ExprKind::Column(_) | ExprKind::Outer { .. });
        is_column && matches!(self.data_type, DataType::Text { .. })
    }

    /// As what a column of this type is to get: a hexadecimal literal is a number for numbers.
    pub(crate) fn for_column(self, column: &DataType) -> Expr {
        match column {
            DataType::Integer { .. }
            | DataType::Decimal { .. }
            | DataType::Float { .. }
            | DataType::Double { .. }
            | DataType::Year => numeric_operand(self),
            _ => self,
        }
    }
}

/// The type of arithmetic's result.
pub(crate) fn arithmetic_type(
    operator: Operator,
    left: &DataType,
    right: &DataType,
    increment: u8,
    signed: bool,
) -> DataType {
    let (Some((left_whole, left_scale, left_unsigned)), Some((right_whole, right_scale, right_unsigned))) =
        (exact_digits(left), exact_digits(right))
    else {
        return match operator {
            Operator::IntegerDivide => typing::integer(21),
            Operator::Divide => typing::double_quotient(left, right, increment.into()),
            _ => typing::double_of_both(left, right),
        };
    };
    let is_unsigned = match operator {
        Operator::Modulo => left_unsigned,
        Operator::Subtract if signed => false,
        _ => left_unsigned || right_unsigned,
    };
    let whole_numbers = is_integral(left) && is_integral(right);
    let bigint = |digits: u32| {
        let digits = digits.min(65);
        if is_unsigned { typing::unsigned(digits as u8) } else { typing::integer(digits as u8 + 1) }
    };
    let both = left_unsigned && right_unsigned;
    match operator {
        Operator::IntegerDivide => bigint(left_whole + right_scale),
        Operator::Divide => {
            typing::decimal(left_whole + right_scale, (left_scale + u32::from(increment)).min(30), is_unsigned)
        }
        Operator::Add | Operator::Subtract if whole_numbers => bigint(left_whole.max(right_whole) + 1),
        Operator::Multiply if whole_numbers => bigint(left_whole + right_whole),
        Operator::Modulo if whole_numbers => bigint(left_whole.max(right_whole)),
        Operator::Add | Operator::Subtract => {
            typing::decimal(left_whole.max(right_whole) + 1, left_scale.max(right_scale), both)
        }
        Operator::Multiply => typing::decimal(left_whole + right_whole, left_scale + right_scale, both),
        Operator::Modulo => typing::decimal(left_whole.max(right_whole), left_scale.max(right_scale), left_unsigned),
    }
}

impl Binder<'_, '_> {
    pub(super) fn boolean(&self, kind: ExprKind, nullable: bool) -> Expr {
        Expr::new(kind, BOOLEAN, nullable, self.facts.collation)
    }

    pub(super) fn not(&self, operand: Expr) -> Expr {
        let nullable = operand.nullable;
        match operand.kind {
            ExprKind::Like(mut like) => {
                like.negated = !like.negated;
                self.boolean(ExprKind::Like(like), nullable)
            }
            ExprKind::In(mut list) => {
                list.negated = !list.negated;
                self.boolean(ExprKind::In(list), nullable)
            }
            ExprKind::IsNull { operand, negated } => {
                self.boolean(ExprKind::IsNull { operand, negated: !negated }, false)
            }
            ExprKind::Compare(mut compare) if compare.operator.negated().is_some() => {
                compare.operator = compare.operator.negated().unwrap_or(compare.operator);
                self.boolean(ExprKind::Compare(compare), nullable)
            }
            kind => {
                let operand = Expr { kind, ..operand };
                self.boolean(ExprKind::Not(Box::new(operand)), nullable)
            }
        }
    }

    pub(super) fn unary(&mut self, operator: UnaryOperator, operand: &ast::Expression<'_>) -> Result<Expr> {
        let text = describe(operand, self.facts.text, &*self.scope);
        let operand = self.scalar(operand)?;
        let nullable = operand.nullable;
        let connection = self.facts.collation;
        Ok(match operator {
            UnaryOperator::Plus => operand,
            UnaryOperator::Not | UnaryOperator::Exclamation => self.not(numeric_operand(operand)),
            UnaryOperator::BitNot => {
                let data_type = if is_bytes(&operand) { operand.data_type.clone() } else { typing::unsigned(21) };
                let operand = if is_bytes(&operand) { operand } else { numeric_operand(operand) };
                Expr::new(ExprKind::BitNot(Box::new(operand)), data_type, nullable, connection)
            }
            UnaryOperator::Binary => self.cast_to(operand, CastType::Binary(None), text),
            UnaryOperator::Minus => {
                let mut operand = numeric_operand(operand);
                // No BIGINT can be as small.
                if let Some(Datum::Unsigned(number)) =
                    operand.as_constant().filter(|value| matches!(value, Datum::Unsigned(number) if *number > 1 << 63))
                {
                    operand.kind = ExprKind::Constant(Value::Plain(Datum::Decimal(number.into())));
                    operand.data_type = DataType::decimal(20, 0);
                }
                let data_type = match exact_digits(&operand.data_type) {
                    _ if operand.data_type == DataType::Null => DataType::DOUBLE,
                    None => typing::double_like(&operand.data_type, 0),
                    Some((whole, _, _)) if is_integral(&operand.data_type) => {
                        typing::integer((whole + 1).min(65) as u8)
                    }
                    Some((whole, scale, _)) => typing::decimal(whole, scale, false),
                };
                Expr::new(ExprKind::Negate(Box::new(operand.double_operand()), text), data_type, nullable, connection)
            }
        })
    }

    /// Binary operators; those that group to the left in a loop.
    pub(super) fn binary(&mut self, expression: &ast::Expression<'_>) -> Result<Expr> {
        let A::Binary { operator, left, right } = &expression.kind else { return Err(Error::not_yet("this operator")) };
        if chain_operator(*operator).is_some() {
            return self.chain(expression);
        }
        match operator {
            B::And | B::Or | B::Xor => self.connective(*operator, expression),
            B::Concat => self.concatenation(expression),
            B::SoundsLike => {
                let left = self.internal_call("soundex", &[**left])?;
                let right = self.internal_call("soundex", &[**right])?;
                self.compare(ComparisonOperator::Equal, left, right)
            }
            _ => {
                // `a = b = c` groups to the left, too.
                let mut steps = Vec::new();
                let mut at = expression;
                while let A::Binary { operator, left, right } = &at.kind {
                    let Some(comparison) = comparison_operator(*operator) else { break };
                    steps.push((comparison, *right));
                    at = left;
                }
                if steps.len() > 100 {
                    return Err(Error::new(meseta_errors::ER_STACK_OVERRUN_NEED_MORE, &[&0, &0, &0]));
                }
                let mut bound = self.any(at)?;
                for (operator, right) in steps.into_iter().rev() {
                    let right = self.any(right)?;
                    bound = self.compare(operator, bound, right)?.fold(self.facts.mode);
                }
                Ok(bound)
            }
        }
    }

    fn chain(&mut self, expression: &ast::Expression<'_>) -> Result<Expr> {
        let mut steps = Vec::new();
        let mut at = expression;
        while let A::Binary { operator, left, right } = &at.kind {
            let Some(operator) = chain_operator(*operator) else { break };
            steps.push((operator, *right));
            at = left;
        }
        let first_text = describe(at, self.facts.text, &*self.scope);
        let first = self.scalar(at)?;
        let mut data_type = first.data_type.clone();
        let mut nullable = first.nullable;
        let mut all_bytes = is_bytes(&first);
        let mut chain = Chain { first, first_text, steps: Vec::with_capacity(steps.len()) };
        for (operator, right) in steps.into_iter().rev() {
            let right_text = describe(right, self.facts.text, &*self.scope);
            let right = self.scalar(right)?;
            nullable |= right.nullable;
            let (operator, right) = match operator {
                ChainOperator::Bits(operator, _) => {
                    let shift = matches!(operator, BitOperator::ShiftLeft | BitOperator::ShiftRight);
                    let bytes = all_bytes && (shift || is_bytes(&right));
                    all_bytes = bytes;
                    if !bytes {
                        data_type = typing::unsigned(21);
                    }
                    (ChainOperator::Bits(operator, bytes), if bytes && !shift { right } else { numeric_operand(right) })
                }
                ChainOperator::Arithmetic(arithmetic) => {
                    all_bytes = false;
                    let right = exact_beside(&data_type, numeric_operand(right), self.facts);
                    if chain.steps.is_empty() {
                        chain.first = exact_beside(&right.data_type, chain.first, self.facts);
                        data_type = match chain.first.kind {
                            ExprKind::Constant(Value::Hexadecimal(_)) => typing::unsigned(20),
                            _ => chain.first.data_type.clone(),
                        };
                    }
                    data_type = arithmetic_type(
                        arithmetic,
                        &data_type,
                        &right.data_type,
                        self.facts.div_precision_increment,
                        self.facts.mode.no_unsigned_subtraction,
                    );
                    let divides = matches!(arithmetic, Operator::Divide | Operator::IntegerDivide | Operator::Modulo);
                    nullable |= divides;
                    match data_type {
                        DataType::Double { .. } => (operator, right.double_operand()),
                        _ => (operator, right),
                    }
                }
            };
            if chain.steps.is_empty() && !matches!(operator, ChainOperator::Bits(_, true)) {
                chain.first = numeric_operand(chain.first);
                if matches!(data_type, DataType::Double { .. }) {
                    chain.first = chain.first.double_operand();
                }
            }
            chain.steps.push(Step { operator, right, right_text, data_type: data_type.clone() });
        }
        Ok(Expr::new(ExprKind::Chain(Box::new(chain)), data_type, nullable, self.facts.collation))
    }

    fn connective(&mut self, wanted: B, expression: &ast::Expression<'_>) -> Result<Expr> {
        let mut operands = Vec::new();
        let mut at = expression;
        while let A::Binary { operator, left, right } = &at.kind {
            if *operator != wanted {
                break;
            }
            operands.push(*right);
            at = left;
        }
        operands.push(at);
        let mut parts = Vec::with_capacity(operands.len());
        let mut nullable = false;
        for operand in operands.into_iter().rev() {
            let part = numeric_operand(self.scalar(operand)?);
            nullable |= part.nullable;
            match (wanted, part.kind) {
                (B::And, ExprKind::And(inner)) | (B::Or, ExprKind::Or(inner)) => parts.extend(inner),
                (_, kind) => parts.push(Expr { kind, ..part }),
            }
        }
        let kind = match wanted {
            B::And => ExprKind::And(parts),
            B::Or => ExprKind::Or(parts),
            _ => ExprKind::Xor(parts),
        };
        Ok(self.boolean(kind, nullable))
    }

    fn concatenation(&mut self, expression: &ast::Expression<'_>) -> Result<Expr> {
        let mut operands = Vec::new();
        let mut at = expression;
        while let A::Binary { operator: B::Concat, left, right } = &at.kind {
            operands.push(**right);
            at = left;
        }
        operands.push(*at);
        operands.reverse();
        self.internal_call("concat", &operands)
    }

    /// A comparison of two bound operands, perhaps rows. Errors: 1241, 1267.
    pub(super) fn compare(&mut self, operator: ComparisonOperator, left: Expr, right: Expr) -> Result<Expr> {
        let width = left.width();
        if width != right.width() {
            return Err(Error::new(ER_OPERAND_COLUMNS, &[&width]));
        }
        if width == 1 {
            return self.compare_values(operator, left, right);
        }
        if !matches!((&left.kind, &right.kind), (ExprKind::Row(_), ExprKind::Row(_))) {
            return self.compare_with_query(operator, left, right);
        }
        let (ExprKind::Row(left), ExprKind::Row(right)) = (left.kind, right.kind) else {
            return Err(Error::new(ER_OPERAND_COLUMNS, &[&width]));
        };
        let pairs = left.into_iter().zip(right);
        match operator {
            ComparisonOperator::Equal | ComparisonOperator::NullSafeEqual | ComparisonOperator::NotEqual => {
                let parts = pairs
                    .map(|(left, right)| Ok(self.compare(operator, left, right)?.fold(self.facts.mode)))
                    .collect::<Result<Vec<_>>>()?;
                let nullable = parts.iter().any(|part| part.nullable);
                let kind =
                    if operator == ComparisonOperator::NotEqual { ExprKind::Or(parts) } else { ExprKind::And(parts) };
                Ok(self.boolean(kind, nullable))
            }
            _ => {
                let mut columns = Vec::with_capacity(width);
                let mut nullable = false;
                for (left, right) in pairs {
                    let (left, right) = (left.check_scalar()?, right.check_scalar()?);
                    nullable |= left.nullable || right.nullable;
                    columns.push(self.pair(left, right, operator.symbol())?);
                }
                Ok(self.boolean(ExprKind::RowCompare(Box::new(RowCompare { operator, columns })), nullable))
            }
        }
    }

    /// `(a, b) = (SELECT c, d ..)`: the query has one row at the most.
    fn compare_with_query(&mut self, operator: ComparisonOperator, left: Expr, right: Expr) -> Result<Expr> {
        let not_yet = || Error::not_yet("comparing a row with a subquery of several columns by this operator");
        let negated = match operator {
            ComparisonOperator::Equal => false,
            ComparisonOperator::NotEqual => true,
            _ => return Err(not_yet()),
        };
        let (mut operand, query) = match (left.kind, right.kind) {
            (kind @ ExprKind::Row(_), ExprKind::Subquery(query)) => (Expr { kind, ..left }, query),
            (ExprKind::Subquery(query), kind @ ExprKind::Row(_)) => (Expr { kind, ..right }, query),
            _ => return Err(not_yet()),
        };
        let comparers = self.query_comparers(&mut operand, &query)?;
        let inside = InSubquery { negated, is_one_row: true, ..InSubquery::new(operand, query, comparers) };
        Ok(self.boolean(ExprKind::InSubquery(Box::new(inside)), true))
    }

    /// What something is compared with, as [`point_beside_dates`] has it.
    fn beside_dates(&self, dates: &Expr, given: Expr) -> Expr {
        point_beside_dates(dates, given, self.facts).fold(self.facts.mode)
    }

    /// Two operands made comparable, and how they compare.
    fn pair(&mut self, mut left: Expr, mut right: Expr, operation: &str) -> Result<(Expr, Expr, Comparer)> {
        if right.data_type.is_numeric() {
            left = numeric_operand(left);
        }
        if left.data_type.is_numeric() {
            right = numeric_operand(right);
        }
        // A condition beside a document is one that is true or false.
        if matches!(right.data_type, DataType::Json) && is_condition(&left) {
            left = self.cast_to(left, CastType::Json, "".into()).fold(self.facts.mode);
        } else if matches!(left.data_type, DataType::Json) && is_condition(&right) {
            right = self.cast_to(right, CastType::Json, "".into()).fold(self.facts.mode);
        }
        let mut comparer = self.comparer(&mut left, &mut right, operation)?;
        comparer.refuses =
            [&left, &right].iter().any(|given| is_given_text(given) && parameter_of(given, self.facts).is_none());
        if comparer.kind == Some(ComparisonType::Double) {
            (left, right) = (left.double_operand(), right.double_operand());
        }
        Ok((left, right, comparer))
    }

    pub(super) fn comparer(&mut self, left: &mut Expr, right: &mut Expr, operation: &str) -> Result<Comparer> {
        let collated = unify_compared(&mut [&mut *left, &mut *right], operation, self.facts)?;
        Ok(comparer_of(left, right, collated.collation))
    }

    fn compare_values(&mut self, operator: ComparisonOperator, left: Expr, right: Expr) -> Result<Expr> {
        let nullable = operator != ComparisonOperator::NullSafeEqual && (left.nullable || right.nullable);
        // (A text that is no date would be NULL, and NULL is something that this operator finds.)
        let stays = |given: &Expr| operator == ComparisonOperator::NullSafeEqual && given.data_type.is_string();
        let right = if stays(&right) { right } else { self.beside_dates(&left, right) };
        let left = if stays(&left) { left } else { self.beside_dates(&right, left) };
        let (left, right, comparer) = self.pair(left, right, operator.symbol())?;
        let compare = Compare { operator, comparer, left, right };
        Ok(self.boolean(ExprKind::Compare(Box::new(compare)), nullable))
    }

    pub(super) fn is(&mut self, operand: &ast::Expression<'_>, negated: bool, test: ast::IsTest) -> Result<Expr> {
        let operand = Box::new(numeric_operand(self.scalar(operand)?));
        let kind = match test {
            ast::IsTest::Null | ast::IsTest::Unknown => ExprKind::IsNull { operand, negated },
            ast::IsTest::True => ExprKind::IsTruth { operand, truth: true, negated },
            ast::IsTest::False => ExprKind::IsTruth { operand, truth: false, negated },
        };
        Ok(self.boolean(kind, false))
    }

    pub(super) fn between(&mut self, between: &ast::Between<'_>) -> Result<Expr> {
        let mut operand = self.any(&between.operand)?;
        let mut low = self.any(&between.low)?;
        let mut high = self.any(&between.high)?;
        if operand.width() != 1 || low.width() != 1 || high.width() != 1 {
            return Err(Error::new(ER_OPERAND_COLUMNS, &[&operand.width()]));
        }
        let nullable = operand.nullable || low.nullable || high.nullable;
        low = self.beside_dates(&operand, low);
        high = self.beside_dates(&operand, high);
        if [&operand, &low, &high].iter().any(|part| part.data_type.is_numeric()) {
            operand = numeric_operand(operand);
            low = numeric_operand(low);
            high = numeric_operand(high);
        }
        let collated = unify_compared(&mut [&mut operand, &mut low, &mut high], "between", self.facts)?;
        let one = comparer_of(&operand, &low, collated.collation);
        let other = comparer_of(&operand, &high, collated.collation);
        let negated = between.negated;
        let kind = between_kind([&operand, &low, &high]).filter(|_| one.kind.is_some() && other.kind.is_some());
        if let Some(kind) = kind.filter(|_| one.kind != Some(ComparisonType::Year)) {
            if kind == ComparisonType::Double {
                (operand, low, high) = (operand.double_operand(), low.double_operand(), high.double_operand());
            }
            let between = Between { operand, low, high, comparer: Comparer { kind: Some(kind), ..one }, negated };
            return Ok(self.boolean(ExprKind::Between(Box::new(between)), nullable));
        }
        if one.kind == other.kind {
            let between = Between { operand, low, high, comparer: one, negated };
            return Ok(self.boolean(ExprKind::Between(Box::new(between)), nullable));
        }
        // The three are compared as one type: what both bounds agree on, or else numbers.
        let comparer = Comparer::open(collated.collation);
        let between = Between { operand, low, high, comparer, negated };
        Ok(self.boolean(ExprKind::Between(Box::new(between)), nullable))
    }

    pub(super) fn in_list(
        &mut self,
        operand: &ast::Expression<'_>,
        negated: bool,
        list: &[ast::Expression<'_>],
    ) -> Result<Expr> {
        let mut operand = self.any(operand)?;
        let mut elements = list.iter().map(|element| self.any(element)).collect::<Result<Vec<_>>>()?;
        let width = operand.width();
        let mut nullable = operand.nullable;
        for element in &elements {
            if element.width() != width {
                return Err(Error::new(ER_OPERAND_COLUMNS, &[&width]));
            }
            nullable |= element.nullable;
        }
        let mut comparers = Vec::with_capacity(elements.len() * width);
        let mut integers = None;
        if width == 1 {
            elements = elements.into_iter().map(|element| self.beside_dates(&operand, element)).collect();
            if operand.data_type.is_numeric() {
                elements = elements.into_iter().map(numeric_operand).collect();
            } else if elements.iter().all(|element| element.data_type.is_numeric()) {
                operand = numeric_operand(operand);
            }
            let mut all: Vec<&mut Expr> = std::iter::once(&mut operand).chain(&mut elements).collect();
            let collated = unify_compared(&mut all, "IN", self.facts)?;
            let is_alone = elements.len() == 1;
            let comparer = |element| match comparer_of(&operand, element, collated.collation) {
                comparer if is_alone => comparer,
                comparer => beside_others(comparer, &operand, element),
            };
            comparers.extend(elements.iter().map(comparer));
            if comparers.iter().all(|comparer| comparer.kind == Some(ComparisonType::Double)) {
                operand = operand.double_operand();
                elements = elements.into_iter().map(Expr::double_operand).collect();
            }
            integers = sorted_integers(&operand, &elements);
        } else {
            let ExprKind::Row(parts) = &mut operand.kind else {
                return Err(Error::not_yet("a subquery of several columns in front of IN"));
            };
            for element in &mut elements {
                let ExprKind::Row(others) = &mut element.kind else {
                    return Err(Error::not_yet("a subquery of several columns in a list of rows"));
                };
                for (part, other) in parts.iter_mut().zip(others) {
                    if part.width() != 1 || other.width() != 1 {
                        return Err(Error::not_yet("rows within rows"));
                    }
                    *other = self.beside_dates(part, other.clone());
                    comparers.push(self.comparer(part, other, "IN")?);
                }
            }
        }
        let list = InList { operand, list: elements, comparers, integers, number: None, negated };
        Ok(self.boolean(ExprKind::In(Box::new(list)), nullable))
    }

    fn query_comparers(&mut self, operand: &mut Expr, query: &BoundSubquery) -> Result<Vec<Comparer>> {
        if operand.width() != query.columns.len() {
            return Err(Error::new(ER_OPERAND_COLUMNS, &[&operand.width()]));
        }
        let connection = self.facts.collation;
        let column = |number: usize, operand: &Expr| {
            let QueryColumn { data_type, nullable, collated } = query.columns[number].clone();
            // (Its rows are not converted: of another character set the operand is.)
            let charset = operand.collated.collation.charset();
            let collated = collated.filter(|collated| collated.collation.charset() == charset);
            let collated = typing::collated_as(collated, &data_type, connection);
            Expr { kind: ExprKind::Column(number as u32), data_type, nullable, collated }
        };
        let one = |this: &mut Self, operand: &mut Expr, number: usize| -> Result<Comparer> {
            let mut other = column(number, operand);
            let comparer = this.comparer(operand, &mut other, "in")?;
            if matches!(other.kind, ExprKind::Convert(_)) {
                return Err(Error::not_yet("a subquery whose column is of another character set"));
            }
            Ok(comparer)
        };
        if let ExprKind::Row(parts) = &mut operand.kind {
            return parts.iter_mut().enumerate().map(|(number, part)| one(self, part, number)).collect();
        }
        if operand.width() > 1 {
            return Err(Error::not_yet("a subquery of several columns as an operand"));
        }
        Ok(vec![one(self, operand, 0)?])
    }

    pub(super) fn in_query(
        &mut self,
        operand: &ast::Expression<'_>,
        negated: bool,
        query: &ast::Query<'_>,
    ) -> Result<Expr> {
        let mut operand = self.any(operand)?;
        let query = self.scope.query_of_values(query)?;
        let comparers = self.query_comparers(&mut operand, &query)?;
        let nullable = operand.nullable || query.columns.iter().any(|column| column.nullable);
        let inside = InSubquery { negated, ..InSubquery::new(operand, query, comparers) };
        let kind = self.scope.in_query(inside)?;
        Ok(self.boolean(kind, nullable))
    }

    pub(super) fn quantified(&mut self, quantified: &ast::Quantified<'_>) -> Result<Expr> {
        let mut left = self.any(&quantified.left)?;
        let query = self.scope.subquery(quantified.query)?;
        let comparers = self.query_comparers(&mut left, &query)?;
        let Some(operator) = comparison_operator(quantified.operator) else {
            return Err(Error::not_yet("this operator with ANY or ALL"));
        };
        let nullable = left.nullable || query.columns.iter().any(|column| column.nullable);
        // `= ANY` and `<> ALL` are IN and NOT IN, rows included.
        let all = quantified.all;
        match (operator, all) {
            (ComparisonOperator::Equal, false) | (ComparisonOperator::NotEqual, true) => {
                let inside = InSubquery { negated: all, ..InSubquery::new(left, query, comparers) };
                Ok(self.boolean(ExprKind::InSubquery(Box::new(inside)), nullable))
            }
            _ => {
                let left = left.check_scalar()?;
                let comparer = comparers.first().copied().unwrap_or(Comparer::open(self.facts.collation));
                let inside = Quantified { left, operator, comparer, query, all };
                Ok(self.boolean(ExprKind::Quantified(Box::new(inside)), nullable))
            }
        }
    }

    pub(super) fn like(&mut self, like: &ast::Like<'_>) -> Result<Expr> {
        let mut operand = self.scalar(&like.operand)?;
        let mut pattern = self.scalar(&like.pattern)?;
        let nullable = operand.nullable || pattern.nullable;
        let collated = unify_compared(&mut [&mut operand, &mut pattern], "like", self.facts)?;
        let collation = match collated.derivation {
            Derivation::Numeric | Derivation::Ignorable => self.facts.collation,
            _ => collated.collation,
        };
        let escape = match &like.escape {
            None if self.facts.parser_mode.no_backslash_escapes => None,
            None => Some(u32::from(b'\\')),
            Some(escape) => {
                let escape = self.scalar(escape)?;
                let wrong = || Error::new(ER_WRONG_ARGUMENTS, &[&"ESCAPE"]);
                match escape.as_constant() {
                    Some(Datum::Null) => Some(u32::from(b'\\')),
                    Some(Datum::Text(text, collation)) => match collation.charset().char_count(text) {
                        0 => None,
                        1 => collation.charset().decode(text).0,
                        _ => return Err(wrong()),
                    },
                    Some(value) => {
                        let mut text = Vec::new();
                        value.append_text(&mut text);
                        if text.len() != 1 {
                            return Err(wrong());
                        }
                        Some(text[0].into())
                    }
                    None => return Err(wrong()),
                }
            }
        };
        let like = Like { operand, pattern, escape, collation, negated: like.negated };
        Ok(self.boolean(ExprKind::Like(Box::new(like)), nullable))
    }

    pub(super) fn case(&mut self, case: &ast::Case<'_>) -> Result<Expr> {
        let mut operand = case.operand.as_ref().map(|operand| self.scalar(operand)).transpose()?;
        let otherwise = case.otherwise.as_ref().map(|otherwise| self.scalar(otherwise)).transpose()?;
        let mut branches = Vec::with_capacity(case.branches.len());
        for (condition, result) in case.branches {
            let mut condition = self.scalar(condition)?;
            let result = self.scalar(result)?;
            let comparer = match &mut operand {
                Some(operand) => {
                    if operand.data_type.is_numeric() {
                        condition = numeric_operand(condition);
                    }
                    let comparer = self.comparer(operand, &mut condition, "case")?;
                    let mut comparer = beside_others(comparer, operand, &condition);
                    let numbers = operand.data_type.is_numeric() || condition.data_type.is_numeric();
                    if comparer.kind == Some(ComparisonType::Json) && numbers {
                        comparer.kind = Some(ComparisonType::Double);
                    }
                    comparer
                }
                None => {
                    condition = numeric_operand(condition).double_operand();
                    Comparer::open(self.facts.collation)
                }
            };
            branches.push((condition, comparer, result));
        }
        let mut case = Case { operand, branches, otherwise, number: None };
        let mut results: Vec<&mut Expr> = case.branches.iter_mut().map(|(_, _, result)| result).collect();
        results.extend(case.otherwise.as_mut());
        let (data_type, collated) = result_of(&mut results, "case", self.facts)?;
        let nullable = case.otherwise.as_ref().is_none_or(|otherwise| otherwise.nullable)
            || case.branches.iter().any(|(_, _, result)| result.nullable);
        Ok(Expr { kind: ExprKind::Case(Box::new(case)), data_type, nullable, collated })
    }

    pub(super) fn cast(&mut self, cast: &ast::Cast<'_>) -> Result<Expr> {
        if cast.array {
            return Err(Error::not_yet("CAST to an ARRAY"));
        }
        if cast.time_zone.is_some() {
            return Err(Error::not_yet("CAST AT TIME ZONE"));
        }
        let text = describe(&cast.operand, self.facts.text, &*self.scope);
        let operand = self.scalar(&cast.operand)?;
        let target = super::call::cast_type(&cast.target, self.facts)?;
        let numeric = matches!(
            target,
            CastType::Signed | CastType::Unsigned | CastType::Decimal(..) | CastType::Double | CastType::Float
        );
        let operand = if numeric { numeric_operand(operand) } else { operand };
        let cast = self.cast_to(operand, target, text);
        Ok(cast)
    }

    /// A cast of a bound operand.
    pub(super) fn cast_to(&self, operand: Expr, target: CastType, text: Box<str>) -> Expr {
        cast_of(operand, target, text, self.facts.collation)
    }

    pub(super) fn convert_using(&mut self, operand: &ast::Expression<'_>, name: &[u8]) -> Result<Expr> {
        let operand = self.scalar(operand)?;
        let name = String::from_utf8_lossy(name);
        let charset = if name.eq_ignore_ascii_case("default") { Charset::Utf8mb4 } else { Charset::parse(&name)? };
        let collation =
            if charset == self.facts.collation.charset() { self.facts.collation } else { charset.default_collation() };
        let nullable = operand.nullable || operand.collated.collation.charset() == Charset::Binary;
        let characters = typing::characters(&operand.data_type);
        let characters = match (operand.collated.collation.charset(), charset) {
            (from, Charset::Binary) if operand.data_type.collation().is_some() => {
                characters.saturating_mul(from.max_len().into())
            }
            _ => characters,
        };
        let data_type = typing::string_type(characters, collation);
        let collated = Collated { collation, derivation: Derivation::Implicit, ascii: operand.collated.ascii };
        Ok(Expr { kind: ExprKind::Convert(Box::new(operand)), data_type, nullable, collated })
    }

    pub(super) fn collate(&mut self, operand: &ast::Expression<'_>, name: &[u8]) -> Result<Expr> {
        let mut operand = self.scalar(operand)?;
        let collation = Collation::parse(&String::from_utf8_lossy(name))?;
        let is_text = operand.data_type.collation().is_some();
        if !is_text {
            let target = Collated { collation, derivation: Derivation::Explicit, ascii: true };
            if matches!(operand.data_type, DataType::Json) {
                convert_to(&mut operand, target, self.facts.mode);
            }
        } else if operand.collated.collation.charset() != collation.charset() {
            let own = operand.collated.collation.charset().name();
            return Err(Error::new(ER_COLLATION_CHARSET_MISMATCH, &[&collation.name(), &own]));
        }
        let data_type = match &operand.data_type {
            DataType::Char { length, .. } => DataType::Char { length: *length, collation },
            DataType::Text { size, .. } => DataType::Text { size: *size, collation },
            other => typing::string_type(typing::characters(other), collation),
        };
        let collated = Collated { collation, derivation: Derivation::Explicit, ascii: operand.collated.ascii };
        let nullable = operand.nullable;
        Ok(Expr { kind: ExprKind::Convert(Box::new(operand)), data_type, nullable, collated })
    }

    pub(super) fn date_arithmetic(&mut self, arithmetic: &ast::DateArithmetic<'_>) -> Result<Expr> {
        let date = self.scalar(&arithmetic.date)?;
        let amount = self.scalar(&arithmetic.amount)?;
        let unit = interval_unit(arithmetic.unit);
        self.build("date_add", vec![date, amount], Extra::Interval(unit, arithmetic.subtract))
    }
}

/// The common type of the results of branches, which are put into one character set.
pub(super) fn result_of(
    results: &mut [&mut Expr],
    operation: &str,
    facts: &BindFacts<'_>,
) -> Result<(DataType, Collated)> {
    let has_text = results
        .iter()
        .any(|result| result.data_type.collation().is_some() || matches!(result.data_type, DataType::Json));
    let mixed = |results: &[&mut Expr]| {
        let numeric = results.iter().any(|result| result.data_type.is_numeric());
        let temporal = results.iter().any(|result| result.data_type.is_temporal());
        numeric && temporal
    };
    let collated = if has_text || mixed(results) {
        let all_json = results.iter().all(|result| matches!(result.data_type, DataType::Json | DataType::Null));
        if all_json {
            typing::collated_of(&DataType::Json, Derivation::Implicit, facts.collation)
        } else {
            unify(results, operation, facts)?
        }
    } else {
        typing::numeric_collated(facts.collation)
    };
    let mut data_type = DataType::Null;
    for result in results.iter() {
        data_type = merge_types(&data_type, &result.data_type, collated.collation);
    }
    if data_type.is_string() {
        results.iter_mut().for_each(|result| as_shown(result, collated.collation));
    }
    if matches!(data_type, DataType::Enum(_) | DataType::Set(_)) && results.len() > 1 {
        data_type = typing::string_type(typing::characters(&data_type), collated.collation);
    }
    Ok((data_type, collated))
}

/// Makes a text of a number that is shown otherwise than it would be by itself.
fn as_shown(expr: &mut Expr, collation: Collation) {
    if expr.data_type.is_shown_apart() {
        let number = std::mem::replace(expr, Expr::constant(Value::NULL, DataType::Null, collation));
        let data_type = typing::string_type(typing::characters(&number.data_type), collation);
        let (nullable, collated) = (number.nullable, number.collated);
        *expr = Expr { kind: ExprKind::Convert(Box::new(number)), data_type, nullable, collated };
    }
}

/// How two operands compare; what is not known of a parameter is found out when it has a value.
pub(super) fn comparer_of(left: &Expr, right: &Expr, collation: Collation) -> Comparer {
    let open = |expr: &Expr| matches!(expr.kind, ExprKind::UserVariable(_));
    let mut comparer = Comparer::new(&left.data_type, &right.data_type, collation);
    if let Some(kind) = kind_beside(left, right).or_else(|| kind_beside(right, left)) {
        comparer.kind = Some(kind);
    }
    if is_exact_column(left) && is_given_text(right) || is_exact_column(right) && is_given_text(left) {
        comparer.kind = Some(ComparisonType::Given);
    }
    if open(left) || open(right) {
        comparer.kind = None;
    }
    comparer
}

/// As what a column of years, or a time, compares with something, if that depends on what the other is beside its type: a column takes what
/// was given for what it has itself, and otherwise a time is a text beside a text.
fn kind_beside(expr: &Expr, other: &Expr) -> Option<ComparisonType> {
    use ComparisonKind as Kind;
    let is_taken = is_column(expr) && is_given(other);
    match (&expr.data_type, kind_of(&other.data_type)?) {
        (DataType::Year, Kind::Integer | Kind::Decimal | Kind::Double | Kind::Text | Kind::DateTime) if is_taken => {
            Some(ComparisonType::Year)
        }
        (DataType::Year, Kind::DateTime) if is_column(expr) => Some(ComparisonType::YearBesideDate),
        (DataType::Time { .. }, Kind::DateTime) if is_taken => Some(ComparisonType::Time),
        (DataType::Time { .. }, Kind::Text) if !is_taken => Some(ComparisonType::Text),
        _ => None,
    }
}

/// How two operands compare, one of which is compared with others, too (CASE, or IN with a list): numbers beside years stand for
/// themselves, and texts beside times for times.
fn beside_others(comparer: Comparer, left: &Expr, right: &Expr) -> Comparer {
    let is_time = [left, right].iter().any(|operand| matches!(operand.data_type, DataType::Time { .. }));
    match comparer.kind {
        Some(kind) if is_time || kind == ComparisonType::Year => {
            Comparer::new(&left.data_type, &right.data_type, comparer.collation)
        }
        _ => comparer,
    }
}

/// A cast of a bound operand, in a session with this collation.
pub(super) fn cast_of(operand: Expr, target: CastType, text: Box<str>, connection: Collation) -> Expr {
    let length = typing::characters(&operand.data_type);
    let mut nullable = operand.nullable;
    let data_type = match target {
        CastType::Signed => typing::integer(21),
        CastType::Unsigned => typing::unsigned(21),
        CastType::Float => DataType::Float { digits: None, number: Default::default() },
        CastType::Double => DataType::DOUBLE,
        CastType::Decimal(precision, scale) => DataType::decimal(precision, scale),
        CastType::Char(characters, collation) => {
            nullable |= operand.collated.collation.charset() == Charset::Binary;
            typing::string_type(characters.map_or(length, u64::from), collation)
        }
        CastType::Binary(bytes) => {
            let each = operand.data_type.collation().map_or(1, |collation| collation.charset().max_len());
            let length = bytes.map_or(length.saturating_mul(each.into()), u64::from);
            typing::string_type(length, Collation::Binary)
        }
        CastType::Date => DataType::Date,
        CastType::Time(decimals) => DataType::Time { decimals },
        CastType::DateTime(decimals) => DataType::DateTime { decimals },
        CastType::Year => DataType::Year,
        CastType::Json => DataType::Json,
    };
    nullable |=
        matches!(target, CastType::Date | CastType::Time(_) | CastType::DateTime(_) | CastType::Year | CastType::Json);
    let derivation = match target {
        CastType::Binary(_) | CastType::Char(..) | CastType::Json => Derivation::Implicit,
        _ => Derivation::Coercible,
    };
    let mut collated = typing::collated_of(&data_type, derivation, connection);
    if matches!(target, CastType::Char(..)) {
        collated.ascii = operand.collated.ascii;
    }
    let cast = Cast { operand, target, text };
    Expr { kind: ExprKind::Cast(Box::new(cast)), data_type, nullable, collated }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column(_) | ExprKind::Outer { .. })
}

/// Whether it is a column of integers or exact numbers.
fn is_exact_column(expr: &Expr) -> bool {
    matches!(expr.data_type, DataType::Integer { .. } | DataType::Decimal { .. }) && is_column(expr)
}

/// Whether it is a literal or a parameter.
fn is_given(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Constant(_) | ExprKind::Slot(_))
}

/// Whether it is a text that was given: beside a date it must be one.
pub(in crate::expression) fn is_given_text(expr: &Expr) -> bool {
    expr.data_type.is_string() && is_given(expr)
}

/// As what the three operands of BETWEEN are compared: what all of them can be. `None` if it depends on the values.
fn between_kind(operands: [&Expr; 3]) -> Option<ComparisonType> {
    let mut kinds = [ComparisonKind::Text; 3];
    for (kind, operand) in kinds.iter_mut().zip(operands) {
        *kind = kind_of(&operand.data_type)?;
    }
    let is = |wanted: ComparisonKind| kinds.contains(&wanted);
    let may_be_exact = |bound: &Expr| is_given_text(bound) || exact_digits(&bound.data_type).is_some();
    let has_text = is(ComparisonKind::Text);
    if has_text && is_exact_column(operands[0]) && may_be_exact(operands[1]) && may_be_exact(operands[2]) {
        return Some(ComparisonType::Given);
    }
    let is_number = |kind: &ComparisonKind| {
        matches!(kind, ComparisonKind::Integer | ComparisonKind::Decimal | ComparisonKind::Double)
    };
    // (A column of times takes bounds for times, if they are.)
    let is_length = |bound: &Expr| match bound.as_constant() {
        Some(value) => as_length(value, &mut Context::default()).is_some(),
        None => is_given(bound),
    };
    let takes_bounds = || is_column(operands[0]) && operands[1..].iter().all(|bound| is_length(bound));
    match kinds.iter().filter(|kind| is_number(kind)).count() {
        0..=2 if kinds[0] == ComparisonKind::Time && !is(ComparisonKind::Json) && takes_bounds() => {
            Some(ComparisonType::Time)
        }
        0 if is(ComparisonKind::Time) && has_text && !is(ComparisonKind::DateTime) && !is(ComparisonKind::Json) => {
            Some(ComparisonType::Text)
        }
        0 if is(ComparisonKind::DateTime) && !is(ComparisonKind::Json) => Some(ComparisonType::DateTime),
        0 => None,
        3 if is(ComparisonKind::Double) => Some(ComparisonType::Double),
        3 if is(ComparisonKind::Decimal) => Some(ComparisonType::Decimal),
        3 => Some(ComparisonType::Integer),
        // A column of dates has numbers made into dates.
        _ if kinds[0] == ComparisonKind::DateTime => None,
        _ => Some(ComparisonType::Double),
    }
}

/// The integers of a list that has nothing else, in order.
fn sorted_integers(operand: &Expr, list: &[Expr]) -> Option<Box<[i64]>> {
    if !matches!(operand.data_type, DataType::Integer { .. }) || list.len() < 4 {
        return None;
    }
    let mut integers = list
        .iter()
        .map(|element| match element.as_constant() {
            Some(Datum::Signed(number)) => Some(number),
            _ => None,
        })
        .collect::<Option<Vec<i64>>>()?;
    integers.sort_unstable();
    integers.dedup();
    Some(integers.into())
}

pub(super) fn interval_unit(unit: ast::IntervalUnit) -> IntervalUnit {
    use ast::IntervalUnit as U;
    match unit {
        U::Microsecond => IntervalUnit::Microsecond,
        U::Second => IntervalUnit::Second,
        U::Minute => IntervalUnit::Minute,
        U::Hour => IntervalUnit::Hour,
        U::Day => IntervalUnit::Day,
        U::Week => IntervalUnit::Week,
        U::Month => IntervalUnit::Month,
        U::Quarter => IntervalUnit::Quarter,
        U::Year => IntervalUnit::Year,
        U::SecondMicrosecond => IntervalUnit::SecondMicrosecond,
        U::MinuteMicrosecond => IntervalUnit::MinuteMicrosecond,
        U::MinuteSecond => IntervalUnit::MinuteSecond,
        U::HourMicrosecond => IntervalUnit::HourMicrosecond,
        U::HourSecond => IntervalUnit::HourSecond,
        U::HourMinute => IntervalUnit::HourMinute,
        U::DayMicrosecond => IntervalUnit::DayMicrosecond,
        U::DaySecond => IntervalUnit::DaySecond,
        U::DayMinute => IntervalUnit::DayMinute,
        U::DayHour => IntervalUnit::DayHour,
        U::YearMonth => IntervalUnit::YearMonth,
    }
}
