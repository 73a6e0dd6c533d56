//! Expressions: operators, from the loosest to the tightest.
//!
//! ```text
//!   expression     OR ||  <  XOR  <  AND &&  <  NOT                      (to the left; NOT in front)
//!   boolean        = <=> <> < <= > >=  IS [NOT] NULL,  IS [NOT] TRUE     (to the left; IS TRUE ends it)
//!   predicate      [NOT] IN, BETWEEN, LIKE, REGEXP, MEMBER OF, SOUNDS LIKE  (one of them)
//!   bits           |  <  &  <  << >>  <  + -  <  * / % DIV MOD  <  ^     (to the left)
//!   simple         - + ~ ! BINARY  <  || as concatenation  <  COLLATE
//!   primary        literals, names, variables, calls, parentheses
//! ```
//!
//! 1. A chain of operators of any length is a loop; only what nests deepens the stack.
//! 2. What was read inside a parenthesis before it was known to be an operand comes back as `seed`: then the first
//!    `simple` returns it, and the levels above go on from there.
//!
//! Source: the manual's "Operator Precedence", and pairs of operators tried on the server (`tests/grouping.rs`).

use super::{K, Parser, Result, T};
use crate::ast::*;
use crate::span::Span;

/// How tight each level of `bits` is.
const BIT_OR: u8 = 1;
const BIT_AND: u8 = 2;
const SHIFT: u8 = 3;
const ADD: u8 = 4;
const MULTIPLY: u8 = 5;
const POWER: u8 = 6;

/// What a parenthesis held.
pub(super) enum Group<'a> {
    Query(&'a Query<'a>),
    Expression(Expression<'a>),
}

impl<'a> Parser<'a> {
    /// Where the next operand begins.
    fn operand_start(&self) -> u32 {
        self.seed.as_ref().map_or(self.token.start, |seed| seed.1)
    }

    fn node(&self, kind: ExpressionKind<'a>, start: u32) -> Expression<'a> {
        Expression { kind, span: self.span_from(start) }
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: Expression<'a>,
        right: Expression<'a>,
        start: u32,
    ) -> Expression<'a> {
        let kind = ExpressionKind::Binary { operator, left: self.alloc(left), right: self.alloc(right) };
        self.node(kind, start)
    }

    /// An expression.
    pub(super) fn expression(&mut self) -> Result<Expression<'a>> {
        self.enter()?;
        if self.seed.is_none() && matches!(self.token.kind, T::Integer | T::Decimal | T::Float | T::String) {
            let start = self.token.start;
            let kind = self.literal()?;
            let literal = self.node(kind, start);
            // A literal alone, as most of what lists have: no operator needs to be looked for.
            if matches!(self.token.kind, T::Comma | T::RightParenthesis) {
                self.leave();
                return Ok(literal);
            }
            self.seed = Some((literal, start));
        }
        let expression = self.logical(0)?;
        self.leave();
        Ok(expression)
    }

    fn logical_operator(&self) -> Option<(BinaryOperator, u8)> {
        Some(match (self.token.kind, self.token.keyword) {
            (T::Word, K::OR) => (BinaryOperator::Or, 1),
            (T::PipePipe, _) if !self.options.sql_mode.pipes_as_concat => (BinaryOperator::Or, 1),
            (T::Word, K::XOR) => (BinaryOperator::Xor, 2),
            (T::Word, K::AND) | (T::AmpersandAmpersand, _) => (BinaryOperator::And, 3),
            _ => return None,
        })
    }

    fn logical(&mut self, loosest: u8) -> Result<Expression<'a>> {
        let start = self.operand_start();
        let mut left = if self.at(K::NOT) && self.seed.is_none() && !self.options.sql_mode.high_not_precedence {
            self.advance();
            self.enter()?;
            let operand = self.logical(4)?;
            self.leave();
            self.unary(UnaryOperator::Not, operand, start)
        } else {
            self.boolean()?
        };
        while let Some((operator, tightness)) = self.logical_operator() {
            if tightness < loosest {
                break;
            }
            self.advance();
            let right = self.logical(tightness + 1)?;
            left = self.binary(operator, left, right, start);
        }
        Ok(left)
    }

    fn unary(&self, operator: UnaryOperator, operand: Expression<'a>, start: u32) -> Expression<'a> {
        self.node(ExpressionKind::Unary { operator, operand: self.alloc(operand) }, start)
    }

    pub(super) fn comparison_operator(&self) -> Option<BinaryOperator> {
        Some(match self.token.kind {
            T::Equal => BinaryOperator::Equal,
            T::NullSafeEqual => BinaryOperator::NullSafeEqual,
            T::NotEqual => BinaryOperator::NotEqual,
            T::Less => BinaryOperator::Less,
            T::LessOrEqual => BinaryOperator::LessOrEqual,
            T::Greater => BinaryOperator::Greater,
            T::GreaterOrEqual => BinaryOperator::GreaterOrEqual,
            _ => return None,
        })
    }

    fn boolean(&mut self) -> Result<Expression<'a>> {
        let start = self.operand_start();
        let mut left = self.predicate()?;
        loop {
            if let Some(operator) = self.comparison_operator() {
                self.advance();
                let quantified = self.at_any(&[K::ALL, K::ANY, K::SOME]) && self.peek().kind == T::LeftParenthesis;
                if quantified && operator != BinaryOperator::NullSafeEqual {
                    let all = self.at(K::ALL);
                    self.advance();
                    let query = self.subquery()?;
                    let quantified = self.alloc(Quantified { left, operator, all, query });
                    left = self.node(ExpressionKind::Quantified(quantified), start);
                } else {
                    let right = self.predicate()?;
                    left = self.binary(operator, left, right, start);
                }
            } else if self.accept(K::IS) {
                let negated = self.accept(K::NOT);
                let test = match self.token.keyword {
                    K::NULL => IsTest::Null,
                    K::TRUE => IsTest::True,
                    K::FALSE => IsTest::False,
                    K::UNKNOWN => IsTest::Unknown,
                    _ => return self.fail(),
                };
                self.advance();
                left = self.node(ExpressionKind::Is { operand: self.alloc(left), negated, test }, start);
                if test != IsTest::Null {
                    return Ok(left);
                }
            } else {
                return Ok(left);
            }
        }
    }

    fn predicate(&mut self) -> Result<Expression<'a>> {
        let start = self.operand_start();
        let operand = self.bits(0)?;
        if self.token.kind != T::Word {
            return Ok(operand);
        }
        let negated = self.at(K::NOT);
        if negated && !matches!(self.peek().keyword, K::IN | K::BETWEEN | K::LIKE | K::REGEXP | K::RLIKE) {
            return Ok(operand);
        }
        if negated {
            self.advance();
        }
        let kind = match self.token.keyword {
            K::IN => {
                self.advance();
                self.in_list(operand, negated)?
            }
            K::BETWEEN => {
                self.advance();
                let low = self.bits(0)?;
                self.expect(K::AND)?;
                self.enter()?;
                let high = self.predicate()?;
                self.leave();
                ExpressionKind::Between(self.alloc(Between { operand, negated, low, high }))
            }
            K::LIKE => {
                self.advance();
                let pattern = self.simple()?;
                let escape = if self.accept(K::ESCAPE) { Some(self.simple()?) } else { None };
                ExpressionKind::Like(self.alloc(Like { operand, negated, pattern, escape }))
            }
            K::REGEXP | K::RLIKE => {
                self.advance();
                let pattern = self.bits(0)?;
                ExpressionKind::Regexp { operand: self.alloc(operand), negated, pattern: self.alloc(pattern) }
            }
            K::MEMBER => {
                self.advance();
                self.accept(K::OF);
                self.open()?;
                let array = self.simple()?;
                self.close()?;
                ExpressionKind::MemberOf { value: self.alloc(operand), array: self.alloc(array) }
            }
            K::SOUNDS => {
                self.advance();
                self.expect(K::LIKE)?;
                let right = self.bits(0)?;
                return Ok(self.binary(BinaryOperator::SoundsLike, operand, right, start));
            }
            _ => return Ok(operand),
        };
        Ok(self.node(kind, start))
    }

    /// Behind IN.
    fn in_list(&mut self, operand: Expression<'a>, negated: bool) -> Result<ExpressionKind<'a>> {
        let operand = self.alloc(operand);
        let start = self.token.start;
        if self.at_kind(T::LeftParenthesis) && self.peek_is_query_or_group() {
            let list = match self.group()? {
                Group::Query(query) => return Ok(ExpressionKind::InQuery { operand, negated, query }),
                Group::Expression(Expression { kind: ExpressionKind::Row(list), span }) if span.start == start => list,
                Group::Expression(expression) => self.arena.alloc_slice_copy(&[expression]),
            };
            return Ok(ExpressionKind::In { operand, negated, list: self.alloc(list) });
        }
        let list = self.parenthesised_list(Parser::expression)?;
        Ok(ExpressionKind::In { operand, negated, list: self.alloc(list) })
    }

    fn peek_is_query_or_group(&self) -> bool {
        let next = self.peek();
        next.kind == T::LeftParenthesis
            || matches!(next.keyword, K::SELECT | K::WITH | K::TABLE | K::VALUES) && next.kind == T::Word
    }

    fn bit_operator(&self) -> Option<(BinaryOperator, u8)> {
        Some(match (self.token.kind, self.token.keyword) {
            (T::Plus, _) => (BinaryOperator::Add, ADD),
            (T::Minus, _) => (BinaryOperator::Subtract, ADD),
            (T::Star, _) => (BinaryOperator::Multiply, MULTIPLY),
            (T::Slash, _) => (BinaryOperator::Divide, MULTIPLY),
            (T::Percent, _) | (T::Word, K::MOD) => (BinaryOperator::Modulo, MULTIPLY),
            (T::Word, K::DIV) => (BinaryOperator::IntegerDivide, MULTIPLY),
            (T::Pipe, _) => (BinaryOperator::BitOr, BIT_OR),
            (T::Ampersand, _) => (BinaryOperator::BitAnd, BIT_AND),
            (T::ShiftLeft, _) => (BinaryOperator::ShiftLeft, SHIFT),
            (T::ShiftRight, _) => (BinaryOperator::ShiftRight, SHIFT),
            (T::Caret, _) => (BinaryOperator::BitXor, POWER),
            _ => return None,
        })
    }

    /// Arithmetic and bits.
    pub(super) fn bits(&mut self, loosest: u8) -> Result<Expression<'a>> {
        let start = self.operand_start();
        let mut left = self.simple()?;
        while let Some((operator, tightness)) = self.bit_operator() {
            if tightness < loosest {
                break;
            }
            self.advance();
            if tightness == ADD
                && self.at(K::INTERVAL)
                && self.seed.is_none()
                && let Some((amount, unit)) = self.interval_or_function()?
            {
                let subtract = operator == BinaryOperator::Subtract;
                let node = self.alloc(DateArithmetic { date: left, subtract, amount, unit });
                left = self.node(ExpressionKind::DateArithmetic(node), start);
                continue;
            }
            let right = self.bits(tightness + 1)?;
            left = self.binary(operator, left, right, start);
        }
        Ok(left)
    }

    /// At INTERVAL: the amount and unit; or None, with the call of the function of that name as seed.
    pub(super) fn interval_or_function(&mut self) -> Result<Option<(Expression<'a>, IntervalUnit)>> {
        let start = self.token.start;
        self.advance();
        if self.at_kind(T::LeftParenthesis) {
            let inside = self.token.start;
            let group = self.group()?;
            let operand = match group {
                Group::Query(query) => self.node(ExpressionKind::Subquery(query), inside),
                Group::Expression(expression) => expression,
            };
            if let (ExpressionKind::Row(arguments), None) = (operand.kind, self.interval_unit()) {
                let name = Identifier { text: Text(b"INTERVAL"), span: Span::new(start, start + 8) };
                let call = Call { name: ObjectName { schema: None, name }, arguments, extra: CallExtra::None };
                let call = self.node(ExpressionKind::Call(self.alloc(call)), start);
                self.seed = Some((call, start));
                return Ok(None);
            }
            self.seed = Some((operand, inside));
        }
        let amount = self.expression()?;
        let unit = self.expect_interval_unit()?;
        Ok(Some((amount, unit)))
    }

    /// The unit that the current token names.
    pub(super) fn interval_unit(&self) -> Option<IntervalUnit> {
        Some(match self.token.keyword {
            K::MICROSECOND => IntervalUnit::Microsecond,
            K::SECOND | K::SQL_TSI_SECOND => IntervalUnit::Second,
            K::MINUTE | K::SQL_TSI_MINUTE => IntervalUnit::Minute,
            K::HOUR | K::SQL_TSI_HOUR => IntervalUnit::Hour,
            K::DAY | K::SQL_TSI_DAY => IntervalUnit::Day,
            K::WEEK | K::SQL_TSI_WEEK => IntervalUnit::Week,
            K::MONTH | K::SQL_TSI_MONTH => IntervalUnit::Month,
            K::QUARTER | K::SQL_TSI_QUARTER => IntervalUnit::Quarter,
            K::YEAR | K::SQL_TSI_YEAR => IntervalUnit::Year,
            K::SECOND_MICROSECOND => IntervalUnit::SecondMicrosecond,
            K::MINUTE_MICROSECOND => IntervalUnit::MinuteMicrosecond,
            K::MINUTE_SECOND => IntervalUnit::MinuteSecond,
            K::HOUR_MICROSECOND => IntervalUnit::HourMicrosecond,
            K::HOUR_SECOND => IntervalUnit::HourSecond,
            K::HOUR_MINUTE => IntervalUnit::HourMinute,
            K::DAY_MICROSECOND => IntervalUnit::DayMicrosecond,
            K::DAY_SECOND => IntervalUnit::DaySecond,
            K::DAY_MINUTE => IntervalUnit::DayMinute,
            K::DAY_HOUR => IntervalUnit::DayHour,
            K::YEAR_MONTH => IntervalUnit::YearMonth,
            _ => return None,
        })
    }

    pub(super) fn expect_interval_unit(&mut self) -> Result<IntervalUnit> {
        match self.interval_unit() {
            Some(unit) => {
                self.advance();
                Ok(unit)
            }
            None => self.fail(),
        }
    }

    /// Signs in front, COLLATE and (in its mode) `||` behind.
    pub(super) fn simple(&mut self) -> Result<Expression<'a>> {
        let start = self.operand_start();
        let mut left = self.signed()?;
        while self.at_kind(T::PipePipe) && self.options.sql_mode.pipes_as_concat {
            self.advance();
            let right = self.signed()?;
            left = self.binary(BinaryOperator::Concat, left, right, start);
        }
        Ok(left)
    }

    fn signed(&mut self) -> Result<Expression<'a>> {
        let start = self.operand_start();
        let operator = match (self.token.kind, self.token.keyword) {
            _ if self.seed.is_some() => None,
            (T::Minus, _) => Some(UnaryOperator::Minus),
            (T::Plus, _) => Some(UnaryOperator::Plus),
            (T::Tilde, _) => Some(UnaryOperator::BitNot),
            (T::Exclamation, _) => Some(UnaryOperator::Exclamation),
            (T::Word, K::NOT) if self.options.sql_mode.high_not_precedence => Some(UnaryOperator::Not),
            (T::Word, K::BINARY) => Some(UnaryOperator::Binary),
            _ => None,
        };
        if let Some(operator) = operator {
            self.advance();
            self.enter()?;
            let operand = self.signed()?;
            self.leave();
            return Ok(self.unary(operator, operand, start));
        }
        let mut operand = match self.seed.take() {
            Some((seed, _)) => seed,
            None => self.primary()?,
        };
        while self.accept(K::COLLATE) {
            let collation = self.character_set_name()?;
            let (collation, inner) = (self.alloc(collation), self.alloc(operand));
            operand = self.node(ExpressionKind::Collate { operand: inner, collation }, start);
        }
        Ok(operand)
    }

    fn primary(&mut self) -> Result<Expression<'a>> {
        let start = self.token.start;
        let kind = match self.token.kind {
            T::Word => return self.word_primary(start),
            T::QuotedIdentifier => self.name_primary()?,
            T::Integer
            | T::Decimal
            | T::Float
            | T::String
            | T::NationalString
            | T::HexString
            | T::HexNumber
            | T::BitString
            | T::BitNumber
            | T::Introducer => self.literal()?,
            T::LeftParenthesis => {
                return Ok(match self.group()? {
                    Group::Query(query) => self.node(ExpressionKind::Subquery(query), start),
                    Group::Expression(expression) => expression,
                });
            }
            T::AtName => {
                let name = self.at_name()?;
                if self.accept_kind(T::Assign) {
                    let value = self.expression()?;
                    ExpressionKind::Assign { variable: self.alloc(name), value: self.alloc(value) }
                } else {
                    ExpressionKind::UserVariable(name)
                }
            }
            T::AtAt => {
                let variable = self.system_variable()?;
                ExpressionKind::SystemVariable(self.alloc(variable))
            }
            T::Parameter if !self.in_program && self.options.parameters => {
                self.advance();
                self.parameters += 1;
                ExpressionKind::Parameter(self.parameters - 1)
            }
            T::LeftBrace => {
                self.advance();
                self.odbc()?
            }
            _ => return self.fail(),
        };
        Ok(self.node(kind, start))
    }

    /// Behind `{`.
    fn odbc(&mut self) -> Result<ExpressionKind<'a>> {
        let name = self.identifier()?;
        let temporal = match name.text.0 {
            b"d" | b"D" => Some(TemporalKind::Date),
            b"t" | b"T" => Some(TemporalKind::Time),
            b"ts" | b"TS" | b"Ts" | b"tS" => Some(TemporalKind::Timestamp),
            _ => None,
        };
        let operand = self.expression()?;
        self.expect_kind(T::RightBrace)?;
        if let (Some(kind), ExpressionKind::Literal(Literal::String(StringLiteral { value, .. }))) =
            (temporal, operand.kind)
        {
            return Ok(self.literal_kind(Literal::Temporal { kind, value: *value }));
        }
        Ok(ExpressionKind::Odbc { name: self.alloc(name), operand: self.alloc(operand) })
    }

    /// A name: of a column, or of a function that is called.
    pub(super) fn name_primary(&mut self) -> Result<ExpressionKind<'a>> {
        let first = self.identifier()?;
        if self.at_kind(T::LeftParenthesis) {
            let name = ObjectName { schema: None, name: first };
            return self.call_behind(name);
        }
        let name = self.column_behind(first)?;
        match (name.schema, name.table) {
            (None, Some(schema)) if self.at_kind(T::LeftParenthesis) => {
                return self.call_behind(ObjectName { schema: Some(schema), name: name.column });
            }
            _ => {}
        }
        let name = self.alloc(name);
        if self.at_kind(T::Arrow) || self.at_kind(T::DoubleArrow) {
            let unquote = self.at_kind(T::DoubleArrow);
            self.advance();
            let path = self.string()?;
            return Ok(ExpressionKind::JsonPath { column: name, path: self.alloc(path), unquote });
        }
        Ok(ExpressionKind::Column(name))
    }

    /// Whether a query begins at the current token, parentheses aside.
    pub(super) fn at_query(&self) -> bool {
        match self.token.keyword {
            K::SELECT | K::WITH | K::TABLE => self.token.kind == T::Word,
            K::VALUES => self.peek().keyword == K::ROW,
            _ => false,
        }
    }

    /// `(query)`, with any number of parentheses.
    pub(super) fn subquery(&mut self) -> Result<&'a Query<'a>> {
        if !self.at_kind(T::LeftParenthesis) {
            return self.fail();
        }
        self.enter()?;
        self.advance();
        let query = self.query()?;
        self.close()?;
        self.leave();
        Ok(query)
    }

    /// Whether a query in parentheses goes on behind them.
    pub(super) fn at_query_tail(&self) -> bool {
        self.at_any(&[K::UNION, K::EXCEPT, K::INTERSECT, K::ORDER, K::LIMIT, K::FOR, K::LOCK, K::INTO])
            && self.token.kind == T::Word
    }

    /// At `(`: a query, an expression or a row, up to its `)`.
    pub(super) fn group(&mut self) -> Result<Group<'a>> {
        self.enter()?;
        let start = self.token.start;
        self.open()?;
        let group = self.group_inside(start)?;
        self.leave();
        Ok(group)
    }

    fn group_inside(&mut self, start: u32) -> Result<Group<'a>> {
        let inside = self.token.start;
        if self.at_query() {
            let query = self.query()?;
            self.close()?;
            return Ok(Group::Query(query));
        }
        let first = if self.at_kind(T::LeftParenthesis) {
            let seed = match self.group()? {
                Group::Query(query) if self.at_kind(T::RightParenthesis) => {
                    self.advance();
                    return Ok(Group::Query(query));
                }
                Group::Query(query) if self.at_query_tail() => {
                    let query = self.query_behind(None, QueryBody::Parenthesised(query), inside)?;
                    self.close()?;
                    return Ok(Group::Query(query));
                }
                Group::Query(query) => self.node(ExpressionKind::Subquery(query), inside),
                Group::Expression(expression) => expression,
            };
            if self.at_kind(T::RightParenthesis) {
                self.advance();
                return Ok(Group::Expression(seed));
            }
            self.seed = Some((seed, inside));
            self.logical(0)?
        } else {
            self.expression()?
        };
        if self.accept_kind(T::RightParenthesis) {
            return Ok(Group::Expression(first));
        }
        let mut items = self.new_list();
        items.push(first);
        while self.accept_kind(T::Comma) {
            items.push(self.expression()?);
        }
        self.close()?;
        let row = ExpressionKind::Row(items.into_bump_slice());
        Ok(Group::Expression(self.node(row, start)))
    }

    pub(super) fn order_items(&mut self) -> Result<List<'a, OrderItem<'a>>> {
        self.comma_list(|p| {
            let expression = p.expression()?;
            let descending = p.accept(K::DESC);
            if !descending {
                p.accept(K::ASC);
            }
            Ok(OrderItem { expression, descending })
        })
    }

    /// `ORDER BY ..`, or nothing.
    pub(super) fn order_by(&mut self) -> Result<List<'a, OrderItem<'a>>> {
        if self.accept_words(&[K::ORDER, K::BY])? { self.order_items() } else { Ok(&[]) }
    }

    /// `WHERE ..`, or nothing.
    pub(super) fn where_clause(&mut self) -> Result<Option<Expression<'a>>> {
        if self.accept(K::WHERE) { self.expression().map(Some) } else { Ok(None) }
    }

    /// An expression, and the span of its source with parentheses.
    pub(super) fn expression_with_source(&mut self) -> Result<(Expression<'a>, Span)> {
        let start = self.token.start;
        let expression = self.expression()?;
        Ok((expression, self.span_from(start)))
    }

    /// An expression, or DEFAULT.
    pub(super) fn expression_or_default(&mut self) -> Result<Expression<'a>> {
        if self.at(K::DEFAULT) && self.peek().kind != T::LeftParenthesis {
            let start = self.token.start;
            self.advance();
            return Ok(self.node(ExpressionKind::Default, start));
        }
        self.expression()
    }
}
